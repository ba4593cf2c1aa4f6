//! Gradients of trajectories on which the parameters of the model change: against differences of
//! whole trajectories under the same control.

use super::options;
use pliant::gradient::*;
use pliant::prelude::*;

const STEPS: usize = 24;
const H: f64 = 0.01;

/// A bead on a muscle of maximal force `p[0]`, a spring of stiffness `p[1]` and a brace of stiffness
/// `p[2]`, of mass `p[3]`, whose height is held by a compliance of `p[4]` with a
/// relaxation time of `p[5]`.
fn model(p: &[f64]) -> Result<Model, ModelError> {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let bead = model.add_particles("bead", &[[0.27, 0.01, 0.02]])?;
    model.set_velocity(bead, 0, &[true, false, false], &[-0.3, 0.0, 0.0])?;
    model.add_mass("mass", bead, Mass::Uniform(p[3]))?;
    let to = |place: [f64; 3], rest: f64| Distance::to_points(&[(0, place)]).with_rest_lengths(&[rest]);
    let length = model.add_mapped("length", &[bead], to([0.0; 3], 0.0))?;
    let muscle = AxialMuscle::new(p[0], 0.28, 10.0)
        .with_activations(&[0.5])
        .with_damping(2.0);
    model.add_force_field("muscle", length, muscle, Treatment::Stiffness)?;
    let spring = Spring::linear(p[1]).with_rest(0.25);
    model.add_force_field("spring", length, spring, Treatment::Stiffness)?;
    let span = model.add_mapped("span", &[bead], to([0.3, 0.2, 0.1], 0.15))?;
    model.add_force_field("brace", span, Spring::linear(p[2]), Treatment::Stiffness)?;
    let height = model.add_mapped("height", &[bead], Projection::new(&[(0, [0.0, 0.0, 1.0])]))?;
    let shelf = DiagonalCompliance::new(&[p[4]]).with_relaxation_time(p[5]);
    model.add_force_field("shelf", height, shelf, Treatment::Compliance)?;
    Ok(model)
}

/// Changes what it can between two steps, and puts all but the brace back to where the model has
/// it.
fn control(step: usize, s: &mut Simulation) -> Result<(), TrajectoryError> {
    let of = |name| s.model().component_named(name).unwrap();
    let (muscle, shelf, brace) = (of("muscle"), of("shelf"), of("brace"));
    match step {
        4 => {
            s.set_input(muscle, 0, 0.9)?;
            // It is the rate of a motion that counts with the relaxation time.
            let rises = PrescribedMotion::table(&[(0.0, 0.0), (1.0, 0.5)])?;
            s.set_motion(shelf, Some(rises))?;
        }
        9 => s.release_components(&[brace])?,
        14 => {
            s.set_input(muscle, 0, 0.5)?;
            s.set_motion(shelf, None)?;
        }
        _ => {}
    }
    Ok(())
}

fn run(p: &[f64]) -> f64 {
    let mut s = Simulation::with_options(model(p).unwrap(), options()).unwrap();
    for step in 0..STEPS {
        control(step, &mut s).unwrap();
        s.step(H).unwrap();
    }
    value(&s)
}

fn value(s: &Simulation) -> f64 {
    let [x, y, z] = *s.positions(s.model().node_named("bead").unwrap()) else {
        unreachable!()
    };
    x + 2.0 * y * y + 3.0 * z
}

/// The models around a model have its inputs, motions and releases at every step, also once these
/// are again as they were at the start.
#[test]
fn parameters_of_a_model_that_a_control_changes() {
    let p = [20.0, 60.0, 40.0, 0.5, 1e-2, 0.02];
    let make = |p: &[f64]| Ok(Problem::new(model(p)?));
    let mut family = Family::new(&make, &p, &p).unwrap();
    let mut objective = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < STEPS {
            return 0.0;
        }
        let x = s.positions(s.model().node_named("bead").unwrap());
        by.x[..3].copy_from_slice(&[1.0, 4.0 * x[1], 3.0]);
        value(s)
    };
    let start = || Simulation::with_options(model(&p).unwrap(), options()).unwrap();
    let mut trajectory = Trajectory::new(STEPS, H);
    trajectory.family = Some(&mut family);
    trajectory.control = Some(Box::new(control));
    let backwards = trajectory.gradient(&mut start(), &mut objective).unwrap();
    assert_eq!(backwards.value, run(&p));
    let size: f64 = backwards
        .parameters
        .iter()
        .zip(&p)
        .map(|(g, p)| (g * p).abs())
        .sum();
    for k in 0..p.len() {
        let found = backwards.parameters[k] * p[k];
        let mut shares = [0.0; 6];
        shares[k] = p[k];
        let still = StateVector::zeros(3);
        let forwards = trajectory.tangent(&mut start(), &mut objective, &still, &shares);
        let forwards = forwards.unwrap().derivative;
        assert!((forwards - found).abs() < 1e-12 * size, "{k}: {forwards} {found}");
        let at = |t: f64| {
            let mut moved = p;
            moved[k] += t * p[k];
            run(&moved)
        };
        // Fourth order, of 1e-3 of the parameter.
        let t = 1e-3;
        let expected = ((at(t) - at(-t)) * 8.0 - (at(2.0 * t) - at(-2.0 * t))) / (12.0 * t);
        assert!(
            (found - expected).abs() < 1e-9 * size,
            "{k}: {found}, {expected} by differences"
        );
        assert!(expected.abs() > 1e-4 * size, "{k} counts: {expected}");
    }
}
