//! SDIRK2 on stiff springs, at limits and across impacts.

use super::models::*;
use crate::tools::order;
use pliant::prelude::*;

fn stages() -> Options {
    with(Integrator::Sdirk2)
}

/// A particle of 1 kg on a spring of 1 m, at rest at the horizontal.
fn spring(stiffness: f64, treatment: Treatment) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -G, 0.0]).unwrap();
    let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
    model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let length = model.add_mapped("length", &[bob], length).unwrap();
    let law = UniformCompliance::new(stiffness.recip());
    model.add_force_field("spring", length, law, treatment).unwrap();
    model
}

/// Order 2 from soft to stiff, `h omega` from 0.1 to 10 at the step of 0.01 s, the same for both
/// treatments; against the classical Runge-Kutta method, and for the stiffest spring the hard rod,
/// which is `C` times the tension of 30 N away.
#[test]
fn stiff_springs_have_order_two() {
    for stiffness in [1e2, 1e4, 1e6, 1e10] {
        let exact = if stiffness == 1e10 {
            PENDULUM_AT_1
        } else {
            let rate = |s: &[f64; 4]| {
                let l = s[0].hypot(s[1]);
                let force = -stiffness * (l - 1.0) / l;
                [s[2], s[3], force * s[0], force * s[1] - G]
            };
            let end = runge_kutta([1.0, 0.0, 0.0, 0.0], 1.0, rate);
            [end[0], end[1]]
        };
        for treatment in [Treatment::Compliance, Treatment::Stiffness] {
            let error = |h: f64| {
                let s = taken(spring(stiffness, treatment), stages(), h, 1.0);
                distance(&s.state().positions[..2], &exact)
            };
            let errors = [error(0.01), error(0.005), error(0.0025)];
            let found = order([errors[0], errors[2]]) / 2.0;
            // What the fast vibration leaves at h omega near 1 is no power of the step.
            assert!(
                (found - 2.0).abs() < 0.25 && errors[0] < 2e-3,
                "{stiffness:e} {treatment:?}: {errors:?}, order {found}"
            );
        }
    }
}

/// Masses of 1 kg above each other, a tenth of a metre apart, on springs of 100,000 N/m; the lowest
/// hangs on a rope from 10 m above its start that is taut `slack` metres below it.
fn column(masses: usize, slack: f64) -> Model {
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    let places: Vec<_> = (0..masses).map(|i| [0.0, 0.1 * i as f64, 0.0]).collect();
    let p = m.add_particles("p", &places).unwrap();
    m.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
    if masses > 1 {
        let pairs: Vec<_> = (1..masses).map(|i| (i - 1, i)).collect();
        let between = Distance::between(&pairs).with_rest_lengths(&vec![0.1; masses - 1]);
        let lengths = m.add_mapped("lengths", &[p], between).unwrap();
        let law = UniformCompliance::new(1e-5);
        m.add_force_field("springs", lengths, law, Treatment::Compliance)
            .unwrap();
    }
    let length = Distance::to_points(&[(0, [0.0, 10.0, 0.0])]).with_rest_lengths(&[10.0 + slack]);
    let length = m.add_mapped("length", &[p], length).unwrap();
    let rope = m.add_constraint("rope", length, Level::Position).unwrap();
    m.set_bounds(rope, f64::NEG_INFINITY, 0.0).unwrap();
    m
}

/// A weight that falls into a rope stays there: the rope has no restitution, and takes the energy
/// of the fall, `m g` times its slack.
#[test]
fn a_rope_does_not_throw_back() {
    for h in [
        0.01_f64, 0.005, 0.002, 0.001, 0.0013, 0.003, 0.0037, 0.007, 0.0125,
    ] {
        let mut s = Simulation::with_options(column(1, 0.5), stages()).unwrap();
        let mut ledger = Ledger::default();
        for _ in 0..(1.0 / h).ceil() as usize {
            let report = s.step(h).unwrap();
            ledger += report.ledger;
            // The fall takes 0.32 s.
            if s.time() > 0.34 {
                assert!(
                    report.energies.kinetic < 1e-18,
                    "{h}: {:e}",
                    report.energies.kinetic
                );
            }
        }
        // Positions to the tolerance of the stages.
        let y = s.state().positions[1];
        assert!((y + 0.5).abs() < 1e-7, "{h}: {y}");
        let tension = s.multipliers()[0];
        assert!((tension + G).abs() < 1e-6, "{h}: {tension}");
        let lost = -(ledger.impacts + ledger.numerical);
        assert!((lost - 0.5 * G).abs() < 1e-6, "{h}: {ledger:?}");
    }
}

/// Stiff springs across an impact: no step gains energy (an impulse that the second stage took for
/// a force would bring in up to 28 J at these steps), but for what a rope brings in that lets go
/// between the two stages of a step, of third order in it.
#[test]
fn no_step_gains_energy_across_impacts() {
    for h in [0.01_f64, 0.006, 0.005, 0.003, 0.0023, 0.002, 0.001, 0.0005] {
        let mut s = Simulation::with_options(column(5, 0.3), stages()).unwrap();
        let mut energy = s.problem().energies(s.state()).total();
        let mut steps = Vec::new();
        for _ in 0..(0.6 / h).round() as usize {
            let now = s.step(h).unwrap().energies.total();
            steps.push((now - energy, s.multipliers()[4] != 0.0));
            energy = now;
        }
        for (step, next) in steps.iter().zip(&steps[1..]) {
            let lets_go = step.1 && !next.1;
            // Of 15 J; the tolerance of stages, 1e-7 of their terms. Springs ring at 620 rad/s at
            // most: a third of (w h)^3 mJ where the rope lets go.
            let most = if lets_go { 6e4 * h.powi(3) } else { 1e-5 };
            assert!(step.0 < most, "{h}: {:e}", step.0);
        }
    }
}

/// A rope that starts half a metre too short gives no energy: it is recovered at the speed of the
/// overlap of contacts, whatever the step.
#[test]
fn a_short_rope_gives_no_energy() {
    for h in [0.01_f64, 0.001] {
        let mut m = column(1, -0.5);
        m.set_gravity([0.0; 3]).unwrap();
        let mut s = Simulation::with_options(m, stages()).unwrap();
        for k in 1..=(0.1 / h).round() as usize {
            let report = s.step(h).unwrap();
            assert!(report.energies.kinetic < 1e-20, "{:e}", report.energies.kinetic);
            // One metre per second.
            let y = s.state().positions[1];
            assert!((y - h * k as f64).abs() < 1e-9, "{y}");
        }
    }
}

/// The work of a dashpot is that of the stages, `c h (b_1 v_1^2 + b_2 v_2^2)` with the velocities
/// of the method for `v' = -c v`: no more than there was to take, however stiff it is. (The mean of
/// both ends would say 25 times the energy at `c h = 100`.)
#[test]
fn dampers_take_no_more_than_there_is() {
    for z in [0.1, 1.0, 100.0] {
        let mut m = Model::new();
        let p = m
            .add_independent("p", Space::Real(3), &[0.0; 3], &[2.0, 0.0, 0.0])
            .unwrap();
        m.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
        m.add_force_field("oil", p, Damping::new(z / 0.01), Treatment::Stiffness)
            .unwrap();
        let mut options = stages();
        options.tuning.newton.stage_halvings = 0;
        options.accuracy = Some(Accuracy::Measured);
        let mut s = Simulation::with_options(m, options).unwrap();
        let ledger = s.step(0.01).unwrap().ledger;
        let g = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
        let first = 2.0 / (1.0 + g * z);
        let second = (2.0 + (1.0 - g) / g * (first - 2.0)) / (1.0 + g * z);
        let taken = z * ((1.0 - g) * first * first + g * second * second);
        // The tolerance of the stages.
        assert!((ledger.damping + taken).abs() < 1e-6, "{z}: {ledger:?} {taken}");
        assert!(-ledger.damping < 2.0);
    }
}

/// A servo of 4 N at most follows a target of 1 m/s with 2 kg from rest: behind and before it the
/// force is at its bound, and the lag goes to and fro between parabolas, `y'' = -+2 m/s^2` from
/// `y = 0`, `y' = -1 m/s`, with the period 2 s. What it has lagged comes back by a velocity that
/// the force makes, and is not lifted.
#[test]
fn a_servo_at_its_bound_comes_back_by_its_force() {
    // Crossings fall anywhere in their steps.
    let errors = [0.0103, 0.0051].map(|h| {
        let mut m = Model::new();
        let p = m.add_independent("p", Space::Real(1), &[0.0], &[0.0]).unwrap();
        m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
        let travel = m
            .add_mapped("travel", &[p], Identity::new(Space::Real(1), 1))
            .unwrap();
        let servo = m.add_constraint("servo", travel, Level::Position).unwrap();
        m.set_bounds(servo, -4.0, 4.0).unwrap();
        m.set_motion(servo, Some(PrescribedMotion::ramp(0.0, 1.0)))
            .unwrap();
        let mut s = Simulation::with_options(m, stages()).unwrap();
        let (mut worst, mut numerical) = (0.0f64, 0.0f64);
        while s.time() < 4.0 - 0.5 * h {
            let report = s.step(h).unwrap();
            let phase = s.time() % 2.0;
            let lag = match phase < 1.0 {
                true => phase * (phase - 1.0),
                false => (phase - 1.0) * (2.0 - phase),
            };
            worst = worst.max((s.state().positions[0] - s.time() - lag).abs());
            numerical = numerical.max(report.ledger.numerical.abs());
        }
        // Of 9 J that it has at most: the equations of a slider are linear but at the bounds.
        assert!(numerical < 1e-9, "{h}: {numerical:e}");
        worst
    });
    // The force turns at the end of the step that crosses, up to `h` late, and the lag grows by
    // that at each of three crossings: order 1.
    assert!(errors[0] < 0.1 && errors[1] < 0.6 * errors[0], "{errors:?}");
}

/// A gram on a rope, with a kilogram below it on a hard rod: where the rope is taut it stops both.
/// By the gram alone its impulse would change the velocity a thousand times as much, and the impact
/// would be a small part of that. It is seen; nothing is thrown back, and the rope takes `m g`
/// times its slack.
#[test]
fn a_rope_stops_what_hangs_on_a_light_knot() {
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    let places = [[0.0, 0.0, 0.0], [0.0, -1.0, 0.0]];
    let p = m.add_particles("p", &places).unwrap();
    m.add_mass("m", p, Mass::PerElement(vec![1e-3, 1.0])).unwrap();
    let rod = Distance::between(&[(0, 1)]).with_rest_lengths(&[1.0]);
    let rod = m.add_mapped("rod length", &[p], rod).unwrap();
    m.add_constraint("rod", rod, Level::Position).unwrap();
    let length = Distance::to_points(&[(0, [0.0, 10.0, 0.0])]).with_rest_lengths(&[10.5]);
    let length = m.add_mapped("length", &[p], length).unwrap();
    let rope = m.add_constraint("rope", length, Level::Position).unwrap();
    m.set_bounds(rope, f64::NEG_INFINITY, 0.0).unwrap();
    let mut s = Simulation::with_options(m, stages()).unwrap();
    let (mut single, mut ledger) = (0, Ledger::default());
    for _ in 0..100 {
        let report = s.step(0.01).unwrap();
        single += usize::from(report.solve.stages == 1);
        ledger += report.ledger;
        // The fall takes 0.32 s. Positions to the tolerance of the stages, which is a velocity over
        // the step.
        let kinetic = report.energies.kinetic;
        assert!(s.time() < 0.34 || kinetic < 1e-12, "{}: {kinetic:e}", s.time());
    }
    assert_eq!(single, 1);
    let lost = -(ledger.impacts + ledger.numerical);
    assert!((lost - 0.5 * 1.001 * G).abs() < 1e-6, "{ledger:?}");
}
