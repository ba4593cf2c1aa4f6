//! Every formula of a row against the same law in another form, or against its closed form.

use crate::scenes::truss;
use crate::tools::{WEIGHTS, definite, numbers, order, product, run, solve, weighted, worst};
use pliant::prelude::*;

/// Two particles on springs to the world whose six coordinates are all coupled, with a damping
/// matrix and a relaxation time.
fn coupled(treatment: Treatment, relaxation: f64) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.3, -9.81, 0.1]).unwrap();
    let x = numbers(1, 6);
    let v = numbers(2, 6);
    let p = model.add_independent("p", Space::Real(3), &x, &v).unwrap();
    model.add_mass("m", p, Mass::PerElement(vec![1.0, 0.6])).unwrap();
    let law = FullCompliance::from_stiffness(&definite(3, 6, 20.0))
        .with_damping(&definite(4, 6, 0.1))
        .with_relaxation_time(relaxation)
        .over_elements(2);
    model.add_force_field("springs", p, law, treatment).unwrap();
    model
}

/// `R = Y^-1 C`, `b = h Y^-1 (phi + (C D + d + alpha h) u)` with
/// `Y = h alpha C D + h alpha (h beta + d)`, all dense.
#[test]
fn rows_with_a_damping_matrix_are_the_formula() {
    let h = 0.02;
    for (alpha, beta) in WEIGHTS {
        for d in [0.0, 0.03] {
            let mut s =
                Simulation::with_options(coupled(Treatment::Compliance, d), weighted(alpha, beta)).unwrap();
            let (x, v) = (s.state().positions.clone(), s.state().velocities.clone());
            s.step(h).unwrap();
            let identity: Vec<f64> = (0..36).map(|k| f64::from(u8::from(k / 6 == k % 6))).collect();
            let c = solve(6, &definite(3, 6, 20.0), &identity);
            let cd = product(6, &c, &definite(4, 6, 0.1));
            let gain = h * alpha * (h * beta + d);
            let y: Vec<f64> = (0..36).map(|k| h * alpha * cd[k] + gain * identity[k]).collect();
            let r = solve(6, &y, &c);
            let rest = |i: usize| -> f64 { (0..6).map(|j| cd[i * 6 + j] * v[j]).sum() };
            let inner: Vec<f64> = (0..6)
                .map(|i| h * (x[i] + (d + alpha * h) * v[i] + rest(i)))
                .collect();
            let b = solve(6, &y, &inner);
            let system = s.system();
            for i in 0..6 {
                // Two inversions of matrices of condition 10.
                assert!((system.b[i] - b[i]).abs() < 1e-12 * (1.0 + b[i].abs()), "b {i}");
                for j in 0..=i {
                    let found = system.r.get(i, j);
                    assert!((found - r[i * 6 + j]).abs() < 1e-13 * r[0], "r {i} {j}");
                }
            }
        }
    }
}

#[test]
fn a_damping_matrix_in_rows_is_the_one_in_the_response_matrix() {
    for (alpha, beta) in WEIGHTS {
        for d in [0.0, 0.03] {
            let (x, _) = run(coupled(Treatment::Stiffness, d), weighted(alpha, beta), 0.02, 50);
            let (y, _) = run(coupled(Treatment::Compliance, d), weighted(alpha, beta), 0.02, 50);
            let found = worst(&x, &y);
            assert!(found < 1e-10, "({alpha}, {beta}), d = {d}: {found:e}");
        }
    }
}

/// Two particles with a dashpot between them and one to the world, on linear mappings.
fn dashpots(treatment: Treatment) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let p = model
        .add_independent("p", Space::Real(3), &numbers(5, 6), &numbers(6, 6))
        .unwrap();
    model.add_mass("m", p, Mass::PerElement(vec![1.0, 0.6])).unwrap();
    let pairs = [
        (End::element(0, 1), End::element(0, 0)),
        (End::element(0, 0), End::Point([0.0; 3])),
    ];
    let gaps = model.add_mapped("gaps", &[p], Difference::new(&pairs)).unwrap();
    model
        .add_force_field("dashpots", gaps, Damping::new(3.0), treatment)
        .unwrap();
    model
}

#[test]
fn a_viscous_row_is_a_dashpot() {
    for (alpha, beta) in WEIGHTS {
        let (x, _) = run(dashpots(Treatment::Stiffness), weighted(alpha, beta), 0.02, 50);
        let (y, _) = run(dashpots(Treatment::Compliance), weighted(alpha, beta), 0.02, 50);
        let found = worst(&x, &y);
        assert!(found < 1e-12, "({alpha}, {beta}): {found:e}");
    }
}

/// Nonlinear laws enter a step by their tangent, whatever the treatment.
#[test]
fn a_nonlinear_spring_is_the_same_step_in_both_treatments() {
    let laws = [
        Spring::saturating(50.0, 3.0),
        Spring::saturating(50.0, 3.0).with_damping(0.7),
        Spring::stiffening(20.0, 100.0).with_damping(0.2),
        Spring::table(&[(-1.0, -2.0), (0.0, 0.0), (0.5, 2.0), (2.0, 3.0)]),
    ];
    for law in laws {
        for (alpha, beta) in WEIGHTS {
            let build = |treatment| {
                let mut model = Model::new();
                let x = model
                    .add_independent("x", Space::Real(1), &[0.4, -0.1], &[0.3, 2.0])
                    .unwrap();
                model.add_mass("m", x, Mass::Uniform(0.8)).unwrap();
                model
                    .add_force_field("spring", x, law.clone(), treatment)
                    .unwrap();
                model
            };
            let (x, _) = run(build(Treatment::Stiffness), weighted(alpha, beta), 0.05, 1);
            let (y, _) = run(build(Treatment::Compliance), weighted(alpha, beta), 0.05, 1);
            assert!(worst(&x, &y) < 1e-13, "{law:?} at ({alpha}, {beta})");
            let (x, _) = run(build(Treatment::Stiffness), weighted(alpha, beta), 0.05, 40);
            let (y, _) = run(build(Treatment::Compliance), weighted(alpha, beta), 0.05, 40);
            assert!(worst(&x, &y) < 1e-11, "{law:?} at ({alpha}, {beta})");
        }
    }
}

/// `a M` is a dashpot of `a m` on each mass, `b K` one of `b k` beside each spring.
#[test]
fn proportional_damping_is_explicit_dashpots() {
    let (a, b) = (0.7, 0.02);
    let build = |proportional: bool, treatment| {
        let mut model = Model::new();
        let p = model
            .add_independent("p", Space::Real(3), &numbers(7, 6), &numbers(8, 6))
            .unwrap();
        model.add_mass("m", p, Mass::Uniform(0.6)).unwrap();
        let k = definite(9, 6, 20.0);
        let law = FullCompliance::from_stiffness(&k).over_elements(2);
        if proportional {
            let rayleigh = Rayleigh {
                mass: a,
                stiffness: b,
            };
            model.set_rayleigh(rayleigh).unwrap();
            model.add_force_field("springs", p, law, treatment).unwrap();
        } else {
            let bk: Vec<f64> = k.iter().map(|k| b * k).collect();
            model
                .add_force_field("springs", p, law.with_damping(&bk), treatment)
                .unwrap();
            model
                .add_force_field("air", p, Damping::new(a * 0.6), Treatment::Stiffness)
                .unwrap();
        }
        model
    };
    for (alpha, beta) in WEIGHTS {
        for treatment in [Treatment::Stiffness, Treatment::Compliance] {
            let (x, _) = run(build(true, treatment), weighted(alpha, beta), 0.02, 50);
            let (y, _) = run(build(false, treatment), weighted(alpha, beta), 0.02, 50);
            let found = worst(&x, &y);
            assert!(found < 1e-11, "{treatment:?} ({alpha}, {beta}): {found:e}");
        }
    }
}

/// On nonlinear mappings the damping in proportion to the stiffness is the relaxation time of the
/// springs, geometric stiffness included, in both treatments.
#[test]
fn proportional_damping_is_a_relaxation_time() {
    let b = 0.02;
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        for (alpha, beta) in WEIGHTS {
            let mut model = truss(400.0, 0.0, treatment);
            let rayleigh = Rayleigh {
                mass: 0.0,
                stiffness: b,
            };
            model.set_rayleigh(rayleigh).unwrap();
            let (x, _) = run(model, weighted(alpha, beta), 0.01, 50);
            let (y, _) = run(truss(400.0, b, treatment), weighted(alpha, beta), 0.01, 50);
            let found = worst(&x, &y);
            assert!(found < 1e-10, "{treatment:?} ({alpha}, {beta}): {found:e}");
        }
    }
}

fn driven_mass(motion: PrescribedMotion, level: Option<Level>, compliance: f64) -> (Model, ComponentId) {
    let mut model = Model::new();
    let x = model.add_scalars("x", &[0.0]).unwrap();
    model.add_mass("m", x, Mass::Uniform(2.0)).unwrap();
    let id = match level {
        Some(level) => model.add_constraint("row", x, level).unwrap(),
        None => model
            .add_force_field(
                "row",
                x,
                UniformCompliance::new(compliance),
                Treatment::Compliance,
            )
            .unwrap(),
    };
    model.set_motion(id, Some(motion)).unwrap();
    (model, id)
}

#[test]
fn hard_driven_rows_are_where_they_are_driven() {
    let (amplitude, frequency, phase) = (0.3, 2.0, 0.4);
    let at = |t: f64| amplitude * (frequency * t + phase).sin();
    let rate = |t: f64| amplitude * frequency * (frequency * t + phase).cos();
    for (alpha, beta) in WEIGHTS {
        let options = || Options {
            ..weighted(alpha, beta)
        };
        let motion = || PrescribedMotion::sine(amplitude, frequency, phase);
        for level in [Some(Level::Position), Some(Level::CurvedPosition), None] {
            let (model, _) = driven_mass(motion(), level, 0.0);
            let mut s = Simulation::with_options(model, options()).unwrap();
            for _ in 0..100 {
                let report = s.step(0.02).unwrap();
                let (x, t) = (s.state().positions[0], s.time());
                // At beta = 1/2 the velocity alternates and carries a rounding of each step along.
                assert!((x - at(t)).abs() < 1e-13, "{level:?} ({alpha}, {beta}) t = {t}");
                assert!(report.violation < 1e-13);
            }
        }
        let level = Level::Velocity { curvature: 0.0 };
        let (model, _) = driven_mass(motion(), Some(level), 0.0);
        let mut s = Simulation::with_options(model, options()).unwrap();
        for _ in 0..100 {
            let before = s.state().velocities[0];
            s.step(0.02).unwrap();
            let v = s.state().velocities[0];
            assert!((v - rate(s.time())).abs() < 1e-14);
            // The force is what the change of velocity takes.
            assert!((s.multipliers()[0] - 2.0 * (v - before) / 0.02).abs() < 1e-11);
        }
    }
}

/// A row that starts on a target that moves evenly stays on it at every level: nothing is violated,
/// so nothing has to decay.
#[test]
fn an_even_motion_is_followed_exactly() {
    let levels = [
        Level::Position,
        Level::CurvedPosition,
        Level::Velocity { curvature: 0.5 },
        Level::Baumgarte { rate: 20.0 },
    ];
    for level in levels {
        let (mut model, id) = driven_mass(PrescribedMotion::constant(&[0.0]), Some(level), 0.0);
        model
            .set_motion(id, Some(PrescribedMotion::ramp(0.0, 0.7)))
            .unwrap();
        let mut s = crate::tools::theta(model).unwrap();
        for _ in 0..50 {
            s.step(0.02).unwrap();
            let gap = s.state().positions[0] - 0.7 * s.time();
            assert!(gap.abs() < 1e-13, "{level:?}: {gap:e}");
        }
    }
    // Off the target the violation decays by 1 - rate h.
    let (mut model, id) = driven_mass(
        PrescribedMotion::constant(&[0.0]),
        Some(Level::Baumgarte { rate: 20.0 }),
        0.0,
    );
    model
        .set_motion(id, Some(PrescribedMotion::ramp(-0.1, 0.7)))
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    for k in 1..20 {
        s.step(0.02).unwrap();
        let gap = s.state().positions[0] - (0.7 * s.time() - 0.1);
        assert!((gap - 0.1 * 0.6f64.powi(k)).abs() < 1e-14, "{gap}");
    }
}

/// `m x'' = -k (x - a sin w t) - c (x' - a w cos w t)`: amplitude and phase of the forced
/// vibration, which the start is on.
#[test]
fn a_driven_spring_has_the_amplitude_and_phase_of_the_closed_form() {
    let (m, k, a, w) = (1.5, 60.0, 0.2, 5.0);
    for (c, dashpot) in [(0.0, false), (2.4, false), (2.4, true)] {
        // x = Im(z e^{i w t}), z = a (k + i w c)/(k - m w^2 + i w c).
        let (re, im) = (k - m * w * w, w * c);
        let size = re * re + im * im;
        let z = [a * (k * re + im * im) / size, a * (im * re - k * im) / size];
        let exact = |t: f64| z[0] * (w * t).sin() + z[1] * (w * t).cos();
        let error = |weight: f64, h: f64| {
            let mut model = Model::new();
            let x = model
                .add_independent("x", Space::Real(1), &[z[1]], &[w * z[0]])
                .unwrap();
            model.add_mass("m", x, Mass::Uniform(m)).unwrap();
            let law = FullCompliance::from_stiffness(&[k]);
            let law = if dashpot {
                law.with_damping(&[c])
            } else {
                law.with_relaxation_time(c / k)
            };
            let id = model
                .add_force_field("spring", x, law, Treatment::Compliance)
                .unwrap();
            model
                .set_motion(id, Some(PrescribedMotion::sine(a, w, 0.0)))
                .unwrap();
            let mut s = Simulation::with_options(model, weighted(weight, weight)).unwrap();
            let mut worst = 0.0f64;
            for _ in 0..(3.0 / h).round() as usize {
                s.step(h).unwrap();
                worst = worst.max((s.state().positions[0] - exact(s.time())).abs());
            }
            worst
        };
        for (weight, expected) in [(1.0, 1.0), (0.5, 2.0)] {
            let errors = [error(weight, 0.002), error(weight, 0.001)];
            let found = order(errors);
            assert!(
                (found - expected).abs() < 0.1,
                "c = {c}, dashpot {dashpot}, weight {weight}: order {found}, {errors:?}"
            );
        }
        assert!(error(0.5, 0.001) < 1e-4 * a);
    }
}

/// Only motion against the motion that drives a spring is damped.
#[test]
fn what_goes_along_dissipates_nothing() {
    let run = |v: f64, treatment_law: u8| {
        let mut model = Model::new();
        let x = model.add_independent("x", Space::Real(1), &[0.0], &[v]).unwrap();
        model.add_mass("m", x, Mass::Uniform(1.5)).unwrap();
        let id = match treatment_law {
            0 => model.add_force_field("b", x, Damping::new(0.6), Treatment::Compliance),
            1 => {
                let law = UniformCompliance::from_stiffness(20.0).with_relaxation_time(0.03);
                model.add_force_field("b", x, law, Treatment::Compliance)
            }
            _ => {
                let law = Spring::linear(20.0).with_damping(0.6);
                model.add_force_field("b", x, law, Treatment::Compliance)
            }
        };
        let id = id.unwrap();
        model
            .set_motion(id, Some(PrescribedMotion::ramp(0.0, 0.8)))
            .unwrap();
        let mut s = Simulation::with_options(model, Options::trapezoidal()).unwrap();
        let mut last = None;
        for _ in 0..100 {
            last = Some(s.step(0.01).unwrap());
        }
        let report = last.unwrap();
        let v = s.state().velocities[0] - 0.8;
        // Energy as seen by who goes along: the trapezoid loses exactly what damping takes.
        (report.dissipated, report.energies.potential + 0.75 * v * v)
    };
    for law in 0..3 {
        assert!(run(0.8, law).0.abs() < 1e-15);
        let (dissipated, left) = run(0.0, law);
        assert!(dissipated > 0.1 && (dissipated + left - 0.75 * 0.64).abs() < 1e-12);
    }
}

/// A compliance that is hard along one direction only has no force as a law; its rows must not ask
/// for it.
#[test]
fn a_singular_compliance_holds_on_a_nonlinear_mapping() {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let p = model
        .add_particles("p", &[[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
        .unwrap();
    model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
    let ends = [
        (End::element(0, 0), End::Point([0.0; 3])),
        (End::element(0, 1), End::element(0, 0)),
    ];
    let lengths = Distance::new(&ends).with_rest_lengths(&[1.0]);
    let lengths = model.add_mapped("lengths", &[p], lengths).unwrap();
    // Soft in the sum of the lengths, hard in their difference.
    let law = FullCompliance::from_compliance(&[0.01, 0.01, 0.01, 0.01]).over_elements(2);
    model
        .add_force_field("springs", lengths, law, Treatment::Compliance)
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    for _ in 0..200 {
        s.step(0.002).unwrap();
        let x = s.positions(lengths);
        // Linearised over a step: h^2 v^2/2 per unit of length, with v below 10.
        assert!((x[0] - x[1]).abs() < 1e-3, "{x:?}");
    }
}

/// A hard driven row of bounded force is not the business of stabilisation, and so holds its
/// position itself.
#[test]
fn a_bounded_position_motor_holds_its_position_beside_stabilisation() {
    for stabilise in [false, true] {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let cart = model.add_rigid_bodies("cart", &[Pose::default()]).unwrap();
        model
            .add_mass("m", cart, Mass::Rigid(vec![RigidMass::sphere(2.0, 0.3)]))
            .unwrap();
        let motion = PrescribedMotion::sine(0.4, 3.0, 0.0);
        let joint =
            Joint::slider(Side::World, Side::Body(cart, 0)).with_position_motor(0, motion, 0.0, 0.0, 1000.0);
        let slider = model.add_joint("slider", &joint).unwrap();
        let options = Options {
            post_stabilisation: stabilise.then(Stabilisation::default),
            ..Options::theta()
        };
        let mut s = Simulation::with_options(model, options).unwrap();
        for _ in 0..200 {
            s.step(0.01).unwrap();
            let gap = s.positions(slider.coordinates[0])[0] - 0.4 * (3.0 * s.time()).sin();
            assert!(
                gap.abs() < 1e-12,
                "stabilised {stabilise}, t = {}: {gap:e}",
                s.time()
            );
        }
    }
}

/// Newton's law of impact between two free particles: the relative velocity turns round, `e` times
/// as large, and the momentum stays.
#[test]
fn an_impact_row_is_newtons_law() {
    let (masses, e) = ([1.0, 3.0], 0.7);
    let before = [3.0, 1.0, 0.0, -1.0, 0.5, 2.0];
    for (alpha, beta) in WEIGHTS {
        let mut model = Model::new();
        let p = model
            .add_independent("p", Space::Real(3), &numbers(7, 6), &before)
            .unwrap();
        model.add_mass("m", p, Mass::PerElement(masses.to_vec())).unwrap();
        let pair = (End::element(0, 1), End::element(0, 0));
        let gap = model.add_mapped("gap", &[p], Difference::new(&[pair])).unwrap();
        model
            .add_constraint("impact", gap, Level::Restitution { coefficient: e })
            .unwrap();
        let options = Options {
            ..weighted(alpha, beta)
        };
        let mut s = Simulation::with_options(model, options).unwrap();
        s.step(0.01).unwrap();
        let after = &s.state().velocities;
        for k in 0..3 {
            let (u, w) = (before[k], before[3 + k]);
            let mean = (masses[0] * u + masses[1] * w) / (masses[0] + masses[1]);
            // Each keeps its distance from the common velocity, turned round.
            let expected = [mean - e * (u - mean), mean - e * (w - mean)];
            assert!((after[k] - expected[0]).abs() < 1e-14, " {alpha} {beta}");
            assert!((after[3 + k] - expected[1]).abs() < 1e-14, " {alpha} {beta}");
        }
    }
}

/// A ball on a racket that moves at `s`: `v+ = s - e (v - s)`.
#[test]
fn an_impact_row_turns_the_velocity_round_in_the_frame_of_its_motion() {
    let (v, s, e) = (-2.0, 1.5, 0.6);
    let mut model = Model::new();
    let p = model.add_independent("p", Space::Real(1), &[0.0], &[v]).unwrap();
    model.add_mass("m", p, Mass::Uniform(0.2)).unwrap();
    let racket = model
        .add_constraint("racket", p, Level::Restitution { coefficient: e })
        .unwrap();
    model
        .set_motion(racket, Some(PrescribedMotion::ramp(0.0, s)))
        .unwrap();
    let options = Options::theta();
    let mut simulation = Simulation::with_options(model, options).unwrap();
    simulation.step(0.01).unwrap();
    assert!((simulation.state().velocities[0] - (s - e * (v - s))).abs() < 1e-14);
}
