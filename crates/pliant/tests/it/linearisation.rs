//! Linear steps report the part of the nonlinear equations that they miss.

use crate::tools::{Floor, order};
use pliant::contact::*;
use pliant::prelude::*;

const MASS: f64 = 0.8;
const GRAVITY: f64 = 9.81;
const LENGTH: f64 = 0.6;

/// The rod of a pendulum.
#[derive(Clone, Copy, Debug)]
enum RodLaw {
    Hard,
    /// A row with a compliance (m/N).
    Compliant(f64),
    /// A stiffness (N/m).
    Stiff(f64),
}

/// A pendulum of one point on a rod, released flat.
fn pendulum(law: RodLaw) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -GRAVITY]).unwrap();
    let bob = model
        .add_independent("bob", Space::Real(3), &[LENGTH, 0.0, 0.0], &[0.0; 3])
        .unwrap();
    model.add_mass("bob", bob, Mass::Uniform(MASS)).unwrap();
    let rod = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[LENGTH]);
    let rod = model.add_mapped("rod", &[bob], rod).unwrap();
    let (compliance, treatment) = match law {
        RodLaw::Hard => {
            model.add_constraint("hard", rod, Level::Position).unwrap();
            return model;
        }
        RodLaw::Compliant(c) => (c, Treatment::Compliance),
        RodLaw::Stiff(k) => (1.0 / k, Treatment::Stiffness),
    };
    let spring = UniformCompliance::new(compliance);
    model.add_force_field("spring", rod, spring, treatment).unwrap();
    model
}

fn every_step() -> Options {
    let mut options = Options::theta();
    options.tuning.linearisation_samples = 1;
    options
}

fn share(s: &mut Simulation, h: f64) -> f64 {
    s.step(h).unwrap().solve.linearisation.unwrap().share
}

/// Velocity and position of the bob.
fn at(s: &Simulation) -> ([f64; 3], [f64; 3]) {
    let state = s.state();
    let of = |list: &[f64]| [list[0], list[1], list[2]];
    (of(&state.positions), of(&state.velocities))
}

/// `p = m (v+ - v) - h m g - h lambda n+` and `w = (r+ - L + C lambda)/h` of the positions,
/// velocities and the multiplier of the step, in the metric of its matrix `W`, and of
/// `n W^-1 n + C/h^2`.
#[test]
fn a_pendulum_misses_as_computed_by_hand() {
    misses_as_computed_by_hand(RodLaw::Hard, 0.0);
    misses_as_computed_by_hand(RodLaw::Compliant(1e-3), 1e-3);
}

fn misses_as_computed_by_hand(law: RodLaw, compliance: f64) {
    let (h, mut s) = (
        0.01,
        Simulation::with_options(pendulum(law), every_step()).unwrap(),
    );
    for step in 0..60 {
        let (from, before) = at(&s);
        let found = share(&mut s, h);
        let (x, v) = at(&s);
        let lambda = s.multipliers()[0];
        let r = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let n = x.map(|x| x / r);
        let w = |i: usize, k: usize| s.system().w.get(i.max(k), i.min(k));
        let weight = [0.0, 0.0, -GRAVITY];
        let p: [f64; 3] =
            std::array::from_fn(|i| MASS * (v[i] - before[i] - h * weight[i]) - h * lambda * n[i]);
        let length = from.iter().map(|x| x * x).sum::<f64>().sqrt();
        let response: f64 =
            (0..3).map(|i| (from[i] / length).powi(2) / w(i, i)).sum::<f64>() + compliance / (h * h);
        let gap = (r - LENGTH + compliance * lambda) / h;
        let missed = (0..3).map(|i| p[i] * p[i] / w(i, i)).sum::<f64>() + gap * gap / response;
        let energy = |v: [f64; 3]| {
            let twice: f64 = (0..9).map(|k| v[k / 3] * w(k / 3, k % 3) * v[k % 3]).sum();
            twice.max(MASS * v.iter().map(|v| v * v).sum::<f64>())
        };
        let wanted = (missed / (energy(before) + energy(v))).sqrt();
        // The solver's residual, and the rounding that is taken off: 1e-12 of the terms.
        assert!((found - wanted).abs() < 1e-9, "{law:?} {step} {found} {wanted}");
        // It falls from rest, and turns at most by `h |v|/L`.
        assert!(
            step == 0 || (1e-6..0.1).contains(&found),
            "{law:?} {step} {found}"
        );
    }
}

/// A displacement `h v` leaves a hard rod by `(h v)^2/(2 L)`, which is a velocity of first order in
/// the step; the force of a spring is missed by that times its stiffness, an impulse of third
/// order.
#[test]
fn the_miss_is_of_the_order_of_the_remainder() {
    for (law, wanted) in [(RodLaw::Hard, 1.0), (RodLaw::Stiff(400.0), 3.0)] {
        let miss = |n: usize| {
            let mut s = Simulation::with_options(pendulum(law), every_step()).unwrap();
            let h = 0.3 / n as f64;
            (0..n).map(|_| share(&mut s, h)).last().unwrap()
        };
        let errors = [miss(200), miss(400)];
        // Terms of the next order: `h |v|/L = 0.01`, and `h omega = 0.03` in its square.
        assert!((order(errors) - wanted).abs() < 0.05, "{law:?} {errors:?}");
    }
}

/// Two masses on springs and a damper.
fn springs() -> Model {
    let mut model = Model::new();
    let node = model
        .add_independent("x", Space::Real(1), &[0.4, -0.1], &[0.2, 0.3])
        .unwrap();
    model.add_mass("mass", node, Mass::Uniform(0.7)).unwrap();
    model
        .add_force_field(
            "spring",
            node,
            UniformCompliance::new(1.0 / 900.0),
            Treatment::Stiffness,
        )
        .unwrap();
    model
        .add_force_field("damper", node, Damping::new(0.3), Treatment::Stiffness)
        .unwrap();
    model
}

/// Two masses, one of which is held and moves, on a spring that is a row, is driven, and has a
/// stop.
fn driven() -> Model {
    let mut model = Model::new();
    let node = model
        .add_independent("x", Space::Real(1), &[0.4, -0.1], &[0.2, 0.3])
        .unwrap();
    model.add_mass("mass", node, Mass::Uniform(0.7)).unwrap();
    model.fix(node, 1, &[true]).unwrap();
    let pair = [(End::element(0, 0), End::element(0, 1))];
    let gap = Difference::new(&pair).in_dimension(1);
    let gap = model.add_mapped("gap", &[node], gap).unwrap();
    let spring = UniformCompliance::new(1e-3).with_relaxation_time(0.02);
    let spring = model
        .add_force_field("spring", gap, spring, Treatment::Compliance)
        .unwrap();
    model
        .set_motion(spring, Some(PrescribedMotion::ramp(0.5, -1.2)))
        .unwrap();
    let stop = model.add_constraint("stop", gap, Level::Position).unwrap();
    model.set_bounds(stop, 0.0, f64::INFINITY).unwrap();
    model
}

/// A particle that falls on the ground and slides until friction stops it.
fn sliding(options: Options) -> Simulation {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -GRAVITY]).unwrap();
    let p = model
        .add_independent("p", Space::Real(3), &[0.0, 0.0, 0.02], &[0.4, 0.1, 0.0])
        .unwrap();
    model.add_mass("mass", p, Mass::Uniform(MASS)).unwrap();
    let mut s = Simulation::with_options(model, options).unwrap();
    let law = ContactLaw {
        friction: 0.2,
        ..ContactLaw::default()
    };
    s.set_contacts(Floor(p, law)).unwrap();
    s
}

/// Where the equations are linear nothing is missed: springs, dampers, rows, coordinates that are
/// held, driven rows, stops, and contacts, whose impulses are as large as all others.
#[test]
fn linear_equations_are_not_missed() {
    for weight in [1.0, 0.5] {
        let options = || Options {
            alpha: weight,
            beta: weight,
            ..every_step()
        };
        let on_springs = || Simulation::with_options(springs(), options()).unwrap();
        let on_a_drive = || {
            let mut s = Simulation::with_options(driven(), options()).unwrap();
            let x = s.model().node_named("x").unwrap();
            s.hold(x, 1, &[true], &[-0.25]).unwrap();
            s
        };
        let simulations = [on_springs(), on_a_drive(), sliding(options())];
        for (k, mut s) in simulations.into_iter().enumerate() {
            let mut touched = false;
            for step in 0..60 {
                let report = s.step(0.01).unwrap();
                let found = report.solve.linearisation.unwrap().share;
                // Rounding of the terms, beside a motion that friction has all but stopped.
                assert!(found < 1e-9, "{k} {weight} {step} {found}");
                // The stop acts where its multiplier is not at its bound.
                touched |= report.contacts.active > 0 || k == 1 && report.bounds.rows_at_bounds == 0;
            }
            assert!(touched == (k > 0), "{k}");
        }
    }
}

#[test]
fn other_methods_are_not_measured() {
    let options = Options {
        integrator: Integrator::Nonlinear,
        ..every_step()
    };
    let mut s = Simulation::with_options(springs(), options).unwrap();
    assert_eq!(s.step(0.01).unwrap().solve.linearisation, None);
}

/// With weights below 1 the forces of the start count too: without them the change of force over a
/// step would be missed, which is of first order.
#[test]
fn the_forces_of_the_start_count_at_smaller_weights() {
    let miss = |n: usize| {
        let options = Options {
            alpha: 0.5,
            beta: 0.5,
            ..every_step()
        };
        let mut s = Simulation::with_options(pendulum(RodLaw::Stiff(400.0)), options).unwrap();
        let h = 0.3 / n as f64;
        (0..n).map(|_| share(&mut s, h)).last().unwrap()
    };
    let errors = [miss(200), miss(400)];
    // The remainder alone, of third order with terms of the next.
    assert!(order(errors) > 1.8 && errors[0] < 1e-3, "{errors:?}");
}

/// One step in sixteen is measured, the same ones after a checkpoint, and the motion does not know.
#[test]
fn samples_do_not_change_the_motion() {
    let run = |samples: u32| {
        let mut options = Options::theta();
        options.tuning.linearisation_samples = samples;
        let mut s = Simulation::with_options(pendulum(RodLaw::Hard), options).unwrap();
        let measured: Vec<usize> = (0..48)
            .filter(|_| s.step(0.01).unwrap().solve.linearisation.is_some())
            .collect();
        (measured, s)
    };
    let (by_default, a) = run(Tuning::default().linearisation_samples);
    assert_eq!(by_default, [0, 16, 32]);
    let (all, b) = run(1);
    assert_eq!(all.len(), 48);
    let (none, c) = run(0);
    assert!(none.is_empty());
    assert_eq!((a.checkpoint(), b.checkpoint()), (c.checkpoint(), c.checkpoint()));
    let mut again = crate::tools::theta(pendulum(RodLaw::Hard)).unwrap();
    again.restore(&c.checkpoint()).unwrap();
    assert!(again.step(0.01).unwrap().solve.linearisation.is_some());
    // The first from a state that was set.
    assert!(again.step(0.01).unwrap().solve.linearisation.is_none());
    let state = again.state().clone();
    again.set_state(&state).unwrap();
    assert!(again.step(0.01).unwrap().solve.linearisation.is_some());
}
