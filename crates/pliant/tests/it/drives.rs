//! The work and the force of what drives rows: targets that move, and targets that jump.

use pliant::contact::Overlap;
use pliant::prelude::*;

const MASS: f64 = 2.0;
const COMPLIANCE: f64 = 1e-2;

/// A coordinate of [`MASS`] at rest at zero.
fn scalar(velocity: f64) -> (Model, NodeId) {
    let mut model = Model::new();
    let x = model
        .add_independent("x", Space::Real(1), &[0.0], &[velocity])
        .unwrap();
    model.add_mass("m", x, Mass::Uniform(MASS)).unwrap();
    (model, x)
}

/// That coordinate on a driven spring of [`COMPLIANCE`].
fn on_driven_spring(motion: PrescribedMotion, velocity: f64) -> (Model, NodeId, ComponentId) {
    let (mut model, x) = scalar(velocity);
    let law = UniformCompliance::new(COMPLIANCE);
    let motor = model
        .add_force_field("motor", x, law, Treatment::Compliance)
        .unwrap();
    model.set_motion(motor, Some(motion)).unwrap();
    (model, x, motor)
}

fn by(integrator: Integrator) -> Options {
    Options {
        integrator,
        ..Options::default()
    }
}

/// From 0 to `to` at a time (s).
fn jump_at(time: f64, to: f64) -> PrescribedMotion {
    PrescribedMotion::function(move |t| if t.re < time { t * 0.0 } else { t * 0.0 + to })
}

/// All methods whose drives of compliances are entered by forces and ways.
fn methods() -> Vec<Options> {
    let mut list: Vec<Options> = [
        Integrator::Sdirk2,
        Integrator::Theta,
        Integrator::Nonlinear,
        Integrator::bdf2(),
        Integrator::bdf3(),
        Integrator::generalised_alpha(0.7),
        Integrator::newmark(0.25, 0.5),
        Integrator::Rattle,
        Integrator::SymplecticEuler,
        Integrator::RungeKutta2,
        Integrator::RungeKutta4,
    ]
    .into_iter()
    .map(by)
    .collect();
    list.push(Options::trapezoidal());
    list
}

/// A target that jumps from where everything is at rest by `d` puts `d^2/(2 C)` into the spring
/// (50 J), whichever the method, and wherever in a step it jumps; the step in which it does is not
/// refused, and no other brings in anything. Stages of explicit methods move the mass in the rest of
/// a step, so that theirs jumps at its end.
#[test]
fn a_target_that_jumps_brings_in_what_the_spring_stores() {
    for options in methods() {
        let of_stages = [Integrator::RungeKutta2, Integrator::RungeKutta4].contains(&options.integrator);
        let times = [0.05, 0.05 + 1e-12, 0.052];
        for time in &times[..if of_stages { 1 } else { 3 }] {
            let (model, _, _) = on_driven_spring(jump_at(*time, 1.0), 0.0);
            let mut s = Simulation::with_options(model, options.clone()).unwrap();
            let mut brought = Vec::new();
            for _ in 0..8 {
                let report = s.step(0.01).unwrap();
                brought.push(report.ledger.motion);
                assert_eq!(report.ledger.inputs, 0.0);
            }
            let name = options.integrator.name();
            let expected = 0.5 / COMPLIANCE;
            let sum: f64 = brought.iter().sum();
            assert!(
                (sum - expected).abs() < 1e-12 * expected,
                "{name} {time}: {brought:?}"
            );
            let steps = brought.iter().filter(|work| **work != 0.0).count();
            assert_eq!(steps, 1, "{name} {time}: {brought:?}");
        }
    }
}

/// By the default the energy is that of the spring and of the mass before and after, also where the
/// mass moves: the target jumps by `j` where the mass is at `x`, and brings in
/// `((x - j)^2 - x^2)/(2 C)`.
#[test]
fn a_target_jumps_where_the_mass_is() {
    let (h, jump) = (1e-3, 0.3);
    let (model, x, _) = on_driven_spring(jump_at(0.0505, jump), 1.5);
    let mut s = Simulation::new(model).unwrap();
    for step in 0..100 {
        let report = s.step(h).unwrap();
        let x = s.positions(x)[0];
        let expected = match step == 50 {
            true => ((x - jump).powi(2) - x * x) / (2.0 * COMPLIANCE),
            false => 0.0,
        };
        let found = report.ledger.motion;
        assert!((found - expected).abs() < 1e-12, "{step}: {found} {expected}");
        assert!(
            report.ledger.numerical.abs() < 1e-4,
            "{step}: {:?}",
            report.ledger
        );
    }
}

/// A motor of bounded force `F` stores `F d - C F^2/2` where its target jumps by more than `C F`.
#[test]
fn a_jump_beyond_the_bound_of_a_force() {
    let bound = 20.0;
    for options in [Options::default(), by(Integrator::bdf2()), Options::theta()] {
        let (mut model, _, motor) = on_driven_spring(jump_at(0.05, 1.0), 0.0);
        model.set_bounds(motor, -bound, bound).unwrap();
        let mut s = Simulation::with_options(model, options.clone()).unwrap();
        let sum: f64 = (0..6).map(|_| s.step(0.01).unwrap().ledger.motors).sum();
        let expected = bound - 0.5 * COMPLIANCE * bound * bound;
        let name = options.integrator.name();
        assert!(
            (sum - expected).abs() < 1e-12 * expected,
            "{name}: {sum} {expected}"
        );
    }
}

/// A motion that is set brings in what the spring stores more by it, at once, as an input does, and
/// the account of the energy goes on.
#[test]
fn a_motion_that_is_set_is_an_input() {
    let (model, x, motor) = on_driven_spring(PrescribedMotion::constant(&[0.1]), 0.0);
    let mut s = Simulation::new(model).unwrap();
    let before = (0..20).map(|_| s.step(1e-3).unwrap()).last().unwrap();
    let x = s.positions(x)[0];
    s.set_motion(motor, Some(PrescribedMotion::constant(&[0.7])))
        .unwrap();
    let report = s.step(1e-3).unwrap();
    let expected = ((x - 0.7f64).powi(2) - (x - 0.1).powi(2)) / (2.0 * COMPLIANCE);
    assert!(
        (report.ledger.inputs - expected).abs() < 1e-12,
        "{:?}",
        report.ledger
    );
    assert!(report.ledger.numerical.abs() < 1e-3 * expected);
    let change = report.energies.total() - before.energies.total();
    assert!((change - expected - report.ledger.numerical).abs() < 1e-12);
    let budget = report.certificate.energy.since_start;
    assert!((budget.worked - expected).abs() < 1e-12);
    // That of the start, not of the moment at which the motion was set.
    assert!((budget.potential - 0.01 / (2.0 * COMPLIANCE)).abs() < 1e-14);
}

/// The work `int k (u - x) u' dt` of the drive of `x'' + w^2 (x - u) = 0` with `u = A sin(W t)` has
/// the order of the method: 2, and 4 of the classical Runge-Kutta method. From
/// `x = B (sin(W t) - (W/w) sin(w t))` with `B = A w^2/(w^2 - W^2)`, which starts at rest, the work is
/// the energy that there is at the end.
#[test]
fn the_work_of_a_driven_oscillator_has_the_order_of_the_method() {
    let (amplitude, drive, end): (f64, f64, f64) = (0.3, 3.0, 1.3);
    let stiffness = COMPLIANCE.recip();
    let own = (stiffness / MASS).sqrt();
    let size = amplitude * own * own / (own * own - drive * drive);
    let (x, v) = (
        size * ((drive * end).sin() - drive / own * (own * end).sin()),
        size * drive * ((drive * end).cos() - (own * end).cos()),
    );
    let stretch = x - amplitude * (drive * end).sin();
    let exact = 0.5 * MASS * v * v + 0.5 * stiffness * stretch * stretch;
    let second = [
        Integrator::Sdirk2,
        Integrator::bdf2(),
        Integrator::generalised_alpha(0.7),
        Integrator::newmark(0.25, 0.5),
        Integrator::Rattle,
        Integrator::RungeKutta2,
    ];
    let mut cases: Vec<(Options, i32)> = second.into_iter().map(|i| (by(i), 2)).collect();
    cases.push((by(Integrator::RungeKutta4), 4));
    cases.push((Options::trapezoidal(), 2));
    for (options, order) in cases {
        let name = options.integrator.name();
        let error = |steps: usize| {
            let motion = PrescribedMotion::sine(amplitude, drive, 0.0);
            let (model, node, _) = on_driven_spring(motion, 0.0);
            let mut s = Simulation::with_options(model, options.clone()).unwrap();
            let h = end / steps as f64;
            let work: f64 = (0..steps).map(|_| s.step(h).unwrap().ledger.motion).sum();
            [(work - exact).abs(), (s.positions(node)[0] - x).abs()]
        };
        let (coarse, fine) = (error(200), error(400));
        for (what, k) in [("work", 0), ("position", 1)] {
            let ratio = coarse[k] / fine[k];
            let least = 0.8 * f64::from(1 << order);
            assert!(ratio > least, "{name}, {what}: {:e} {:e}", coarse[k], fine[k]);
        }
        assert!(fine[0] < 1e-2 * exact, "{name}: {:e} of {exact}", fine[0]);
    }
}

/// The work of a hard drive is what the mass has in kinetic energy more, to second order.
#[test]
fn the_work_of_a_hard_drive_has_the_order_of_the_method() {
    let (amplitude, drive, end): (f64, f64, f64) = (0.3, 3.0, 1.3);
    let exact = 0.5 * MASS * (amplitude * drive).powi(2) * ((drive * end).cos().powi(2) - 1.0);
    for integrator in [Integrator::Sdirk2, Integrator::bdf2(), Integrator::bdf3()] {
        let name = integrator.name();
        let error = |steps: usize| {
            let (mut model, x) = scalar(amplitude * drive);
            let motor = model.add_constraint("motor", x, Level::Position).unwrap();
            let motion = PrescribedMotion::sine(amplitude, drive, 0.0);
            model.set_motion(motor, Some(motion)).unwrap();
            let mut s = Simulation::with_options(model, by(integrator.clone())).unwrap();
            let h = end / steps as f64;
            let work: f64 = (0..steps).map(|_| s.step(h).unwrap().ledger.motion).sum();
            (work - exact).abs()
        };
        let (coarse, fine) = (error(200), error(400));
        assert!(
            coarse > 3.2 * fine && fine < 1e-3 * exact.abs(),
            "{name}: {coarse:e} {fine:e}"
        );
    }
}

/// A drive that is hard takes the mass to its velocity `v` at once, from rest, and brings in
/// `M v^2/2` (25 J for 50 kg, of which the default lost as much once more).
#[test]
fn a_hard_drive_from_rest_brings_in_the_kinetic_energy() {
    for level in [Level::Position, Level::Velocity { curvature: 0.0 }] {
        for rate in [1.0, -0.4] {
            let (mut model, x) = scalar(0.0);
            let motor = model.add_constraint("motor", x, level).unwrap();
            model
                .set_motion(motor, Some(PrescribedMotion::ramp(0.0, rate)))
                .unwrap();
            let mut s = Simulation::new(model).unwrap();
            let mut sum = Ledger::default();
            for _ in 0..20 {
                sum += s.step(0.01).unwrap().ledger;
            }
            let expected = 0.5 * MASS * rate * rate;
            assert!((s.velocities(x)[0] - rate).abs() < 1e-12);
            assert!((sum.motion - expected).abs() < 1e-12, "{level:?}: {sum:?}");
            assert!(sum.numerical.abs() < 1e-12, "{level:?}: {sum:?}");
        }
    }
}

/// In steps of one stage the force of a hard drive is `M (a + g)` of the step,
/// `M ((g'(t+) - g'(t))/h + g)`, its work the change of the energies, and the force of a rod what turns
/// the velocity of its bob, `M v^2/l`. Each step has one stage because a coordinate beside comes back
/// from beyond its limit by a velocity.
#[test]
fn one_stage_has_the_whole_force_of_hard_rows() {
    let (gravity, amplitude, drive): (f64, f64, f64) = (9.81, 0.05, 6.0);
    let (h, speed): (f64, f64) = (0.01, 0.8);
    let (mut model, table) = scalar(amplitude * drive);
    let weight = ConstantForce::new(&[-MASS * gravity]);
    model
        .add_force_field("weight", table, weight, Treatment::Stiffness)
        .unwrap();
    let motor = model.add_constraint("motor", table, Level::Position).unwrap();
    let motion = PrescribedMotion::sine(amplitude, drive, 0.0);
    model.set_motion(motor, Some(motion)).unwrap();
    let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
    model.add_mass("bob's", bob, Mass::Uniform(MASS)).unwrap();
    let all = [true; 3];
    model.set_velocity(bob, 0, &all, &[0.0, speed, 0.0]).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let length = model.add_mapped("length", &[bob], length).unwrap();
    let rod = model.add_constraint("rod", length, Level::Position).unwrap();
    let stone = model
        .add_independent("stone", Space::Real(1), &[-1.0], &[0.1])
        .unwrap();
    model.add_mass("stone's", stone, Mass::Uniform(MASS)).unwrap();
    let limit = model.add_constraint("limit", stone, Level::Position).unwrap();
    model.set_bounds(limit, 0.0, f64::INFINITY).unwrap();
    let mut options = Options::default();
    options.contacts.overlap = Overlap::Rows {
        rate: 1.0,
        speed: 0.1,
    };
    let mut s = Simulation::with_options(model, options).unwrap();
    let pace = |s: &Simulation| s.velocities(bob).iter().map(|v| v * v).sum::<f64>().sqrt();
    for step in 0..50 {
        let before = pace(&s);
        let report = s.step(h).unwrap();
        assert_eq!(report.solve.stages, 1, "{step}");
        let [from, to] = [step, step + 1].map(|n| f64::from(n) * h * drive);
        let rates = [from, to].map(|phase| amplitude * drive * phase.cos());
        let expected = MASS * ((rates[1] - rates[0]) / h + gravity);
        let found = s.force(motor)[0];
        assert!((found - expected).abs() < 1e-9, "{step}: {found} {expected}");
        let lifted = MASS * gravity * amplitude * (to.sin() - from.sin());
        let change = 0.5 * MASS * (rates[1].powi(2) - rates[0].powi(2)) + lifted;
        let work = report.ledger.motion;
        // The weight goes by the mean velocity: off by the third order of the step.
        let left = MASS * gravity * amplitude * (h * drive).powi(3) / 12.0;
        assert!((work - change).abs() < left, "{step}: {work} {change}");
        // To the second order in the angle of a step, each of which takes as much of the speed.
        let pull = -s.force(rod)[0];
        let turned = MASS * before * pace(&s);
        assert!(
            (pull / turned - 1.0).abs() < 2.0 * (speed * h).powi(2),
            "{step}: {pull} {turned}"
        );
    }
}
