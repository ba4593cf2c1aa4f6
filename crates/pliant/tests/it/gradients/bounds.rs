//! Derivatives by the bound of a force at which a row is.

use super::options;
use pliant::gradient::*;
use pliant::prelude::*;

/// A bead of a mass on a spring, and a brake on it that holds it as long as its force is between two
/// bounds: `p` is the mass, the stiffness, the bounds, and the velocity at the start.
pub(super) fn braked(p: &[f64]) -> Model {
    let mut model = Model::new();
    let bead = model.add_scalars("bead", &[1.0]).unwrap();
    model.add_mass("mass", bead, Mass::Uniform(p[0])).unwrap();
    model
        .add_force_field("spring", bead, Spring::linear(p[1]), Treatment::Stiffness)
        .unwrap();
    let brake = model
        .add_constraint("brake", bead, Level::Velocity { curvature: 0.0 })
        .unwrap();
    model.set_bounds(brake, p[2], p[3]).unwrap();
    model.set_velocity(bead, 0, &[true], &[p[4]]).unwrap();
    model
}

pub(super) const AT: [f64; 5] = [2.0, 30.0, -4.0, 9.0, 0.5];
const H: f64 = 0.01;

/// The place after so many steps, as the recurrence of implicit Euler has it: the force that stops the
/// bead in the step, or the bound next to it. Also the numbers of steps at each bound, and without one.
fn recurrence(p: &[f64], steps: usize) -> (f64, [usize; 3]) {
    let [m, k, lower, upper, v] = p[..5] else {
        unreachable!()
    };
    let (mut x, mut v, mut at) = (1.0, v, [0; 3]);
    for _ in 0..steps {
        // m (v+ - v)/h = -k (x + h v+) + force.
        let stops = k * x - m * v / H;
        let force = stops.clamp(lower, upper);
        at[match force {
            f if f == lower => 0,
            f if f == upper => 1,
            _ => 2,
        }] += 1;
        v = if force == stops {
            0.0
        } else {
            (m * v - H * k * x + H * force) / (m + H * H * k)
        };
        x += H * v;
    }
    (x, at)
}

/// A bead that swings, slower at each turn, until the brake holds it: its place by the bounds, and by
/// everything else, is that of the recurrence.
#[test]
fn a_brake_by_the_most_it_can() {
    let steps = 300;
    let (end, at) = recurrence(&AT, steps);
    assert!(at.iter().all(|n| *n > 10), "{at:?}");
    let make = |p: &[f64]| Ok(Problem::new(braked(p)));
    let mut family = Family::new(&make, &AT, &AT).unwrap();
    let mut objective = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < steps {
            return 0.0;
        }
        by.x[0] = 1.0;
        s.state().positions[0]
    };
    let mut trajectory = Trajectory::new(steps, H);
    trajectory.family = Some(&mut family);
    let start = || Simulation::with_options(braked(&AT), options()).unwrap();
    let found = trajectory.gradient(&mut start(), &mut objective).unwrap();
    assert!((found.value - end).abs() < 1e-9, "{} {end}", found.value);
    assert_eq!(found.report.active.rows_at_bounds, at[0] + at[1]);
    for k in 0..AT.len() {
        let along: Vec<f64> = (0..AT.len()).map(|i| f64::from(i == k)).collect();
        let forwards = trajectory
            .tangent(&mut start(), &mut objective, &StateVector::zeros(1), &along)
            .unwrap();
        // On one branch the recurrence is a polynomial of the bounds of first order.
        let step = 1e-5 * AT[k];
        let ends = [-1.0, 1.0].map(|side| {
            let mut moved = AT;
            moved[k] += side * step;
            let (end, other) = recurrence(&moved, steps);
            assert_eq!(other, at, "{k}");
            end
        });
        let expected = (ends[1] - ends[0]) / (2.0 * step);
        let by = found.parameters[k];
        assert!(expected.abs() > 1e-4, "{k}: {expected}");
        assert!(
            (by - expected).abs() < 1e-6 * expected.abs(),
            "{k}: {by} {expected}"
        );
        assert!((by - forwards.derivative).abs() < 1e-10 * by.abs(), "{k}: {by}");
    }
}

/// A spring under a load that a soft motor holds with all it has: place and force by the bound and by
/// the stiffness.
#[test]
fn rest_at_a_bound() {
    let (at, load) = ([30.0, -4.0, 9.0], 10.0);
    let make = |p: &[f64]| {
        let mut model = Model::new();
        let bead = model.add_scalars("bead", &[1.0]).unwrap();
        model.add_mass("mass", bead, Mass::Uniform(1.0)).unwrap();
        model
            .add_force_field("spring", bead, Spring::linear(p[0]), Treatment::Stiffness)
            .unwrap();
        let law = UniformCompliance::new(1e-3);
        let motor = model
            .add_force_field("motor", bead, law, Treatment::Compliance)
            .unwrap();
        model.set_bounds(motor, p[1], p[2]).unwrap();
        model
    };
    let mut simulation = Simulation::new(make(&at)).unwrap();
    let bead = simulation.model().node_named("bead").unwrap();
    simulation.set_force(bead, 0, &[load]).unwrap();
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    // load - k x + lower = 0.
    let x = (load + at[1]) / at[0];
    assert!((simulation.positions(bead)[0] - x).abs() < 1e-9);
    let make_problem = |p: &[f64]| Ok(Problem::new(make(p)));
    let mut family = Family::new(&make_problem, &at, &at).unwrap();
    let mut rest = RestDerivative::new(simulation.problem()).unwrap();
    rest.place(simulation.problem(), &simulation.rest_state())
        .unwrap();
    let expected = [[-x / at[0], 0.0], [1.0 / at[0], 1.0], [0.0, 0.0]];
    let (mut dr, mut ds) = (Vec::new(), Vec::new());
    let (mut by_x, mut by_force) = (Vec::new(), Vec::new());
    for (k, expected) in expected.into_iter().enumerate() {
        rest.equations_by(&mut family, k, [&mut dr, &mut ds]).unwrap();
        rest.tangent([&dr, &ds], [&mut by_x, &mut by_force]).unwrap();
        for (found, expected) in [by_x[0], by_force[0]].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{k}: {found} {expected}");
        }
        for (weights, expected) in [([1.0, 0.0], expected[0]), ([0.0, 1.0], expected[1])] {
            rest.adjoint([&weights[..1], &weights[1..]]).unwrap();
            let found = rest.by_parameter(&mut family, k).unwrap();
            assert!((found - expected).abs() < 1e-9, "{k}: {found} {expected}");
        }
    }
}

/// Bounds without play that move apart have no derivative; together they have one.
#[test]
fn bounds_without_play() {
    for (apart, fine) in [(0.0, true), (1.0, false)] {
        let make = |p: &[f64]| {
            let upper = p[0] + apart * (p[0] - 3.0);
            Ok(Problem::new(braked(&[
                2.0,
                30.0,
                p[0].min(upper),
                upper.max(p[0]),
                0.5,
            ])))
        };
        let mut family = Family::new(&make, &[3.0], &[3.0]).unwrap();
        let mut s = Simulation::with_options(braked(&[2.0, 30.0, 3.0, 3.0, 0.5]), options()).unwrap();
        let mut objective = |_: usize, s: &Simulation, by: &mut NodeGradient| {
            by.x[0] = 1.0;
            s.state().positions[0]
        };
        let mut trajectory = Trajectory::new(1, H);
        trajectory.family = Some(&mut family);
        match trajectory.gradient(&mut s, &mut objective) {
            // h^2 F/(m + h^2 k).
            Ok(found) => {
                let expected = H * H / (2.0 + H * H * 30.0);
                assert!(fine && (found.parameters[0] / expected - 1.0).abs() < 1e-9);
            }
            Err(e) => assert!(!fine && e.to_string().contains("`brake`"), "{e}"),
        }
    }
}

/// A winch whose rope is as strong as it can be: how much it winds in changes nothing, and does where it
/// is not at its bound.
#[test]
fn inputs_of_a_row_at_its_bound() {
    for (most, held) in [(2.0, true), (1e3, false)] {
        let mut model = Model::new();
        let bead = model.add_scalars("bead", &[1.0]).unwrap();
        model.add_mass("mass", bead, Mass::Uniform(2.0)).unwrap();
        let law = Spring::linear(40.0).with_rest(0.5);
        let winch = model
            .add_force_field("winch", bead, law, Treatment::Compliance)
            .unwrap();
        model.set_bounds(winch, -most, most).unwrap();
        let mut s = Simulation::with_options(model, options()).unwrap();
        s.step(H).unwrap();
        let mut derivative = s.step_derivative().unwrap();
        derivative.place(s.problem(), &s.last_step(&[]).unwrap()).unwrap();
        let (mut out, mut by) = (StateVector::default(), Vec::new());
        let by_velocity = StateVector {
            x: vec![0.0],
            v: vec![1.0],
        };
        derivative.adjoint(&by_velocity, &mut out).unwrap();
        derivative.by_input(&mut by).unwrap();
        // Free, v+ = -h k (x - l)/(m + h^2 k).
        let expected = if held {
            0.0
        } else {
            H * 40.0 / (2.0 + H * H * 40.0)
        };
        assert!((by[0] - expected).abs() < 1e-9, "{most}: {by:?} {expected}");
        assert_eq!(derivative.active_set().rows_at_bounds, usize::from(held));
    }
}
