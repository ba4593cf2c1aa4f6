//! Parts of the numerical part.

use super::{G, scalar, simulate};
use crate::scenes::machine;
use pliant::continuum::*;
use pliant::prelude::*;
use pliant::{NumericalParts, StepReport};

/// The parts named have these values (to `size`), the others none.
#[track_caller]
pub(super) fn expect_parts(p: &NumericalParts, expected: &[(&str, f64)], size: f64) {
    for (name, found) in p.entries() {
        let value = expected.iter().find(|e| e.0 == name).map_or(0.0, |e| e.1);
        assert!(
            (found - value).abs() <= size,
            "{name}: {found:e}, not {value:e}: {p:?}"
        );
    }
}

/// By default it is not taken apart.
pub(super) fn apart() -> Options {
    Options {
        numerical_parts: true,
        ..Options::theta()
    }
}

/// Takes steps; in each the parts are the numerical part, to rounding of the sums. Returns the sum
/// of all.
#[track_caller]
fn add_up(s: &mut Simulation, h: f64, steps: usize) -> Ledger {
    let mut sum = Ledger::default();
    for _ in 0..steps {
        let StepReport { ledger, energies, .. } = s.step(h).unwrap();
        let parts = ledger.parts.entries().map(|e| e.1);
        let size = energies.total().abs() + parts.iter().map(|p| p.abs()).sum::<f64>();
        assert!((parts.iter().sum::<f64>() - ledger.numerical).abs() <= 1e-15 * size);
        sum += ledger;
    }
    sum
}

/// A weight on a hard rod of 1 m that is let go level with the pivot.
fn pendulum(geometry: GeometricStiffness, weights: (f64, f64)) -> Simulation {
    pendulum_from([1.0, 0.0, 0.0], geometry, weights)
}

fn pendulum_from(place: [f64; 3], geometry: GeometricStiffness, weights: (f64, f64)) -> Simulation {
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    let p = m.add_particles("p", &[place]).unwrap();
    m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
    let rod = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let d = m.add_mapped("d", &[p], rod).unwrap();
    m.add_constraint("rod", d, Level::Position).unwrap();
    let options = Options {
        geometry: GeometricTerms {
            forces: geometry,
            multipliers: geometry,
        },
        alpha: weights.0,
        beta: weights.1,
        ..apart()
    };
    simulate(m, options)
}

/// Level with its pivot the weight falls 1 m: shares of this energy are shares of what there is.
const ENERGY: f64 = 2.0 * G;

/// Free fall by implicit Euler has `-m dv^2/2` of inertia; a force from outside is entered whole,
/// and so are supports and forces without a potential.
#[test]
fn what_falls_and_what_is_pushed() {
    let falling = |gravity: f64| {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -gravity]).unwrap();
        let p = m.add_rigid_bodies("p", &[Pose::default()]).unwrap();
        let sphere = RigidMass::sphere(2.0, 0.1);
        m.add_mass("m", p, Mass::Rigid(vec![sphere])).unwrap();
        m.set_body_velocity(p, 0, [1.0, 2.0, 3.0], [0.0; 3]).unwrap();
        (m, p)
    };
    let h = 0.1;
    for (alpha, beta) in [(1.0, 1.0), (0.8, 0.6), (0.5, 0.5)] {
        for (gravity, force) in [(G, 0.0), (0.0, 7.0), (G, 7.0)] {
            for outside in [true, false] {
                let (mut m, p) = falling(gravity);
                if !outside {
                    let thrust = BodyForce::new([0.0; 3], [0.0, 0.0, force]);
                    m.add_force_field("thrust", p, thrust, Treatment::Stiffness)
                        .unwrap();
                }
                let options = Options {
                    alpha,
                    beta,
                    ..apart()
                };
                let mut s = simulate(m, options);
                if outside {
                    s.set_force(p, 0, &[0.0, 0.0, force, 0.0, 0.0, 0.0]).unwrap();
                }
                let parts = s.step(h).unwrap().ledger.parts;
                let dv = h * (0.5 * force - gravity);
                let inertia = (0.5 - beta) * (2.0 * dv * dv - h * force * dv);
                expect_parts(&parts, &[("inertia", inertia)], 1e-14);
            }
        }
    }
    // What is held at another velocity is given it.
    let (mut m, p) = falling(0.0);
    let up = [false, false, true, false, false, false];
    m.fix(p, 0, &up).unwrap();
    let mut s = simulate(m, apart());
    s.hold(p, 0, &up, &[0.0, 0.0, -1.0, 0.0, 0.0, 0.0]).unwrap();
    let ledger = s.step(h).unwrap().ledger;
    assert!((ledger.motion + 8.0).abs() < 1e-13);
    expect_parts(&ledger.parts, &[], 1e-14);
}

/// By weights `alpha`, `beta` an oscillator has `(1/2 - beta) dv (m dv - F h)` of inertia and
/// `(1/2 - alpha) k (dx - dg)^2` of its spring, a stiffness or a soft compliance, damped, driven or
/// pushed from outside.
#[test]
fn an_oscillator() {
    for (alpha, beta) in [(1.0, 1.0), (0.8, 0.6), (0.5, 0.5)] {
        for (treatment, motion, uneven) in [
            (Treatment::Stiffness, None, false),
            (Treatment::Compliance, None, false),
            (
                Treatment::Compliance,
                Some(PrescribedMotion::ramp(0.1, 0.7)),
                false,
            ),
            (
                Treatment::Compliance,
                Some(PrescribedMotion::sine(0.2, 0.8, 0.3)),
                true,
            ),
        ] {
            let (mut m, x) = scalar(0.3, -0.5);
            let law = UniformCompliance::new(0.02).with_relaxation_time(0.01);
            let spring = m.add_force_field("k", x, law, treatment).unwrap();
            if let Some(motion) = motion.clone() {
                m.set_motion(spring, Some(motion)).unwrap();
            }
            let place = |t: f64| motion.as_ref().map_or(0.0, |m| m.at(0, t).0);
            m.add_force_field("b", x, Damping::new(1.5), treatment).unwrap();
            let options = Options {
                alpha,
                beta,
                ..apart()
            };
            let mut s = simulate(m, options);
            s.set_force(x, 0, &[4.0]).unwrap();
            for _ in 0..50 {
                let (x, v) = (s.state().positions[0], s.state().velocities[0]);
                let l = s.step(0.05).unwrap().ledger;
                let (dx, dv) = (s.state().positions[0] - x, s.state().velocities[0] - v);
                let inertia = (0.5 - beta) * dv * (2.0 * dv - 4.0 * 0.05);
                let stretch = dx - (place(s.time()) - place(s.time() - 0.05));
                let stiffness = (0.5 - alpha) * 50.0 * stretch * stretch;
                let mut parts = l.parts;
                if uneven {
                    // Damping is entered by the rate of the motion, not by its way.
                    parts.rest = 0.0;
                }
                expect_parts(&parts, &[("inertia", inertia), ("stiffness", stiffness)], 1e-13);
            }
        }
    }
}

/// A motor of bounded force, at its bound and when it has its speed, is entered whole: inertia has
/// `(1/2 - beta) dv . (m dv - r)`, and there is nothing else.
#[test]
fn a_motor() {
    for beta in [1.0, 0.6] {
        let (mut m, x) = scalar(0.0, -0.5);
        let motor = m
            .add_constraint("motor", x, Level::Velocity { curvature: 0.0 })
            .unwrap();
        m.set_motion(motor, Some(PrescribedMotion::ramp(0.0, 2.0)))
            .unwrap();
        m.set_bounds(motor, -30.0, 30.0).unwrap();
        let options = Options { beta, ..apart() };
        let mut s = simulate(m, options);
        s.set_force(x, 0, &[3.0]).unwrap();
        for _ in 0..20 {
            let v = s.state().velocities[0];
            let ledger = s.step(0.01).unwrap().ledger;
            let dv = s.state().velocities[0] - v;
            let impulse = 0.01 * (3.0 + s.multipliers()[0]);
            let inertia = (0.5 - beta) * dv * (2.0 * dv - impulse);
            expect_parts(&ledger.parts, &[("inertia", inertia)], 1e-14);
            assert!(ledger.motors.abs() > 1e-3);
        }
        assert_eq!(s.state().velocities[0], 2.0);
    }
}

/// A stiff compliance stores what its force says: by implicit Euler it loses `-C dF^2/2`, which is
/// of its rows.
#[test]
fn a_stiff_compliance() {
    for relaxation in [0.0, 0.02] {
        let (mut m, x) = scalar(1e-3, -0.5);
        let law = UniformCompliance::new(1e-5).with_relaxation_time(relaxation);
        m.add_force_field("k", x, law, Treatment::Compliance).unwrap();
        let mut s = simulate(m, apart());
        for _ in 0..20 {
            let (x, v) = (s.state().positions[0], s.state().velocities[0]);
            let l = s.step(0.05).unwrap().ledger;
            let (dx, dv) = (s.state().positions[0] - x, s.state().velocities[0] - v);
            // dF = dx/C.
            let expected = [("inertia", -dv * dv), ("rows", -0.5e5 * dx * dx)];
            expect_parts(&l.parts, &expected, 1e-13);
        }
    }
}

/// Each step of a weight on a hard rod, with the tension `F` in it of the last step, its length `l`
/// and the velocity `u` by which it moves: `(1/2 - beta) m dv^2` of inertia, the work `-F_+ h u_n`
/// on the rod's drift, and `-s alpha h^2 F/l u_t^2` of the geometric stiffness, where `s` is all,
/// or from `S = alpha beta h^2 |F|/(m l)` on `1 - 1/S`, and in a clamped step `|F|` takes the place
/// of `s F`; nothing else.
#[test]
fn a_pendulum() {
    use GeometricStiffness as Mode;
    let modes = [
        Mode::None,
        Mode::Full,
        Mode::PositivePart,
        Mode::WhereNeeded,
        Mode::JustEnough,
    ];
    for mode in modes {
        let mut seen = [0; 4];
        let cases = [(1.0, 1.0), (0.8, 0.6), (0.5, 0.5)].into_iter().flat_map(|w| {
            let starts = [[1.0, 0.0, 0.0], [0.28, 0.96, 0.0]];
            starts.map(|x| [0.01, 0.25, 0.5].map(|h| (w, x, h)))
        });
        for ((alpha, beta), place, h) in cases.flatten() {
            let mut s = pendulum_from(place, mode, (alpha, beta));
            s.options.tuning.geometry_passes = 1;
            for _ in 0..6 {
                let start = s.state().clone();
                let tension = -s.multipliers()[0];
                let report = s.step(h).unwrap();
                let (x, v) = (&start.positions[..3], &start.velocities[..3]);
                let now = &s.state().velocities;
                let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
                let u = [0, 1, 2].map(|k| beta * now[k] + (1.0 - beta) * v[k]);
                let along = (0..3).map(|k| x[k] / length * u[k]).sum::<f64>();
                let across = u.iter().map(|u| u * u).sum::<f64>() - along * along;
                let change = (0..3).map(|k| (now[k] - v[k]).powi(2)).sum::<f64>();
                let number = alpha * beta * h * h * tension.abs() / (2.0 * length);
                let taken = match mode {
                    Mode::None => 0.0,
                    _ if report.solve.geometry_clamped => tension.abs(),
                    Mode::PositivePart => tension.max(0.0),
                    Mode::WhereNeeded | Mode::JustEnough if number <= 1.0 => 0.0,
                    Mode::JustEnough => tension * (1.0 - 1.0 / number),
                    _ => tension,
                };
                seen[0] += usize::from(taken > 0.0 && taken < tension);
                seen[1] += usize::from(taken == tension && tension > 0.0);
                seen[2] += usize::from(taken == 0.0 && tension > 0.0);
                seen[3] += usize::from(report.solve.geometry_clamped);
                let expected = [
                    ("inertia", (0.5 - beta) * 2.0 * change),
                    ("rows", h * s.multipliers()[0] * along),
                    ("geometry", -taken * alpha * h * h / length * across),
                ];
                // Of the energies, which are large where the weight is thrown.
                let largest = start
                    .velocities
                    .iter()
                    .chain(now)
                    .fold(0.0f64, |a, v| a.max(v.abs()));
                let size = 1e-12 * (ENERGY + largest * largest + change);
                expect_parts(&report.ledger.parts, &expected, size);
            }
        }
        let expected = match mode {
            Mode::None => [false, false, true, false],
            Mode::Full => [false, true, false, true],
            Mode::PositivePart => [false, true, false, false],
            Mode::WhereNeeded => [false, true, true, true],
            _ => [true, false, true, true],
        };
        assert_eq!(seen.map(|n| n > 0), expected, "{mode:?} {seen:?}");
    }
}

/// On a stiff cable the rows have the work `-F_+ h u_n` of its force and what it stores,
/// `C (F_+^2 - F^2)/2`, with the force of the last step for `F`, at first that of its law.
#[test]
fn a_stiff_cable() {
    let compliance = 1e-6;
    for (alpha, beta) in [(1.0, 1.0), (0.8, 0.6)] {
        let mut m = Model::new();
        m.set_gravity([0.0, -G, 0.0]).unwrap();
        let p = m.add_particles("p", &[[1.00001, 0.0, 0.0]]).unwrap();
        m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
        let cable = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
        let d = m.add_mapped("d", &[p], cable).unwrap();
        let law = UniformCompliance::new(compliance);
        m.add_force_field("cable", d, law, Treatment::Compliance).unwrap();
        let options = Options {
            alpha,
            beta,
            tuning: Tuning {
                geometry_passes: 1,
                ..Tuning::default()
            },
            ..apart()
        };
        let mut s = simulate(m, options);
        for step in 0..50 {
            let start = s.state().clone();
            let before = if step == 0 {
                -1e-5 / compliance
            } else {
                s.multipliers()[0]
            };
            // The geometric stiffness of the first step has no force yet.
            let lagged = if step == 0 { 0.0 } else { before };
            let parts = s.step(0.01).unwrap().ledger.parts;
            let (x, v, now) = (&start.positions, &start.velocities, &s.state().velocities);
            let length = x[..3].iter().map(|x| x * x).sum::<f64>().sqrt();
            let u = [0, 1, 2].map(|k| beta * now[k] + (1.0 - beta) * v[k]);
            let along = (0..3).map(|k| x[k] / length * u[k]).sum::<f64>();
            let across = u.iter().map(|u| u * u).sum::<f64>() - along * along;
            let change = (0..3).map(|k| (now[k] - v[k]).powi(2)).sum::<f64>();
            let force = s.multipliers()[0];
            let stored = 0.5 * compliance * (force * force - before * before);
            let expected = [
                ("inertia", (0.5 - beta) * 2.0 * change),
                ("rows", 0.01 * force * along + stored),
                ("geometry", alpha * 1e-4 * lagged / length * across),
            ];
            expect_parts(&parts, &expected, 1e-12 * ENERGY);
        }
    }
}

/// A spring beyond the bound of its force stores the work of the bound: it is linear there and has
/// no part.
#[test]
fn a_spring_beyond_its_bound() {
    let (mut m, x) = scalar(0.3, -0.5);
    let spring = m
        .add_force_field("k", x, UniformCompliance::new(0.02), Treatment::Compliance)
        .unwrap();
    m.set_bounds(spring, -2.0, 2.0).unwrap();
    let mut s = simulate(m, apart());
    for _ in 0..5 {
        let v = s.state().velocities[0];
        let parts = s.step(0.05).unwrap().ledger.parts;
        let dv = s.state().velocities[0] - v;
        assert!((dv + 0.05).abs() < 1e-14);
        expect_parts(&parts, &[("inertia", -dv * dv)], 1e-14);
    }
}

/// In 2 s at h = 0.01 s a weight on a hard rod gains 1.3 % by implicit Euler, with geometric
/// stiffness it loses 32 %: the difference is the part of the geometry. By the trapezoidal rule it
/// is what rows bring in by curvature.
#[test]
fn what_geometric_stiffness_costs_a_pendulum() {
    let of = |mode, weights| add_up(&mut pendulum(mode, weights), 0.01, 200);
    let (without, with) = (
        of(GeometricStiffness::None, (1.0, 1.0)),
        of(GeometricStiffness::Full, (1.0, 1.0)),
    );
    assert!((without.numerical / ENERGY - 0.013).abs() < 2e-3, "{without:?}");
    assert!((with.numerical / ENERGY + 0.323).abs() < 2e-3, "{with:?}");
    assert_eq!(without.parts.geometry, 0.0);
    for (name, l) in [("without", &without), ("with", &with)] {
        let share = |joules: f64| format!("{:.1} %", 100.0 * joules / ENERGY);
        let parts = l
            .parts
            .entries()
            .map(|(part, joules)| format!("{part} {}", share(joules)));
        println!(
            "{name} geometric stiffness {}: {}",
            share(l.numerical),
            parts.join(", ")
        );
    }
    let difference = with.numerical - without.numerical;
    assert!((with.parts.geometry / difference - 1.0).abs() < 0.02, "{with:?}");
    let enough = of(GeometricStiffness::JustEnough, (1.0, 1.0));
    assert_eq!(enough.parts, without.parts);

    let with = of(GeometricStiffness::Full, (0.5, 0.5));
    let parts = with.parts;
    assert_eq!(parts.inertia, 0.0);
    assert!(
        parts.geometry < -4.0 && (parts.geometry + parts.rows).abs() < 2e-3,
        "{with:?}"
    );
    assert!((with.numerical / ENERGY).abs() < 1e-4);
}

/// Springs on lengths and strains are not linear along the way: the rest is half of what their
/// geometric stiffness would take, `|dx|_G^2/2`, and of third order else.
#[test]
fn curvature_is_half_of_the_geometry() {
    let string = |_| {
        let mut m = Model::new();
        let places = [[0.0; 3], [1.2, 0.1, 0.0], [2.4, 0.0, 0.3], [3.6, 0.0, 0.0]];
        let p = m.add_particles("p", &places).unwrap();
        m.add_mass("m", p, Mass::Uniform(0.5)).unwrap();
        let ends: Vec<_> = (0..3)
            .map(|k| (End::element(0, k), End::element(0, k + 1)))
            .collect();
        let d = Distance::new(&ends).with_rest_lengths(&[1.0]);
        let d = m.add_mapped("d", &[p], d).unwrap();
        m.add_force_field("k", d, UniformCompliance::new(0.02), Treatment::Stiffness)
            .unwrap();
        m
    };
    let solid = |kind: usize| {
        let mut m = Model::new();
        let mesh = Mesh::hexahedral_box([1.0, 0.5, 0.5], [2, 1, 1]).unwrap();
        let mesh = if kind == 1 { mesh.into_tetrahedra() } else { mesh };
        let material = match kind {
            2 => Solid::hyperelastic(StrainEnergy::stable_neo_hookean(1e4, 0.3)),
            _ => Solid::st_venant_kirchhoff(1e4, 0.3),
        };
        material.add_to(&mut m, "solid", &mesh).unwrap();
        m
    };
    let models: [&dyn Fn(usize) -> Model; 2] = [&string, &solid];
    for (which, kinds) in [(0, 0..1), (1, 0..3)] {
        for kind in kinds {
            let left = |h: f64| {
                let options = Options {
                    tuning: Tuning {
                        geometry_passes: 1,
                        ..Tuning::default()
                    },
                    ..apart()
                };
                let mut s = simulate(models[which](kind), options);
                let mut state = s.state().clone();
                // The nodes come first.
                let size = 3 * s.model().nodes()[0].count;
                for (k, x) in state.positions[..size].iter_mut().enumerate() {
                    // Stretched and sheared, and moving across.
                    *x *= [1.2, 1.1, 0.9][k % 3];
                    *x += 0.02 * (k as f64).sin();
                }
                for (k, v) in state.velocities[..size].iter_mut().enumerate() {
                    *v = (2.0 + k as f64).cos();
                }
                s.set_state(&state).unwrap();
                let parts = s.step(h).unwrap().ledger.parts;
                (parts.geometry, parts.rest + 0.5 * parts.geometry)
            };
            let ((_, coarse), (geometry, fine)) = (left(1e-4), left(5e-5));
            let what = format!("{which} {kind}: {geometry:e} {coarse:e} {fine:e}");
            if kind == 2 {
                // A law on gradients themselves has no geometry.
                assert_eq!(geometry, 0.0, "{what}");
                continue;
            }
            assert!(
                geometry.abs() > 1e-9 && fine.abs() < 0.02 * geometry.abs(),
                "{what}"
            );
            // Third order.
            assert!((coarse / fine - 8.0).abs() < 0.8, "{what}");
        }
    }
}

/// A body that turns freely has no forces: all loss is of inertia, with whatever gyroscopic torque,
/// and of masses on bodies.
#[test]
fn what_turns() {
    for gyroscopic in [
        Gyroscopic::None,
        Gyroscopic::Explicit,
        Gyroscopic::LinearlyImplicit,
        Gyroscopic::BodyPredictor,
        Gyroscopic::Momentum,
    ] {
        for (mapped, beta) in [(false, 1.0), (true, 1.0), (true, 0.6)] {
            let mut m = Model::new();
            let b = m.add_rigid_bodies("b", &[Pose::default()]).unwrap();
            m.add_mass("m", b, Mass::Rigid(vec![RigidMass::cuboid(2.0, [0.3, 0.2, 0.1])]))
                .unwrap();
            m.set_body_velocity(b, 0, [0.3, -0.2, 0.1], [3.0, 1.0, -2.0])
                .unwrap();
            if mapped {
                let frame = RigidFrames::new(&[(0, Pose::at([0.1, 0.2, 0.0]))]);
                let hand = m.add_mapped("hand", &[b], frame).unwrap();
                m.add_mass(
                    "hand",
                    hand,
                    Mass::Rigid(vec![RigidMass::cuboid(0.3, [0.1, 0.2, 0.3])]),
                )
                .unwrap();
                let point = RigidPoints::new(&[(0, [0.0, 0.2, 0.3])]);
                let point = m.add_mapped("point", &[b], point).unwrap();
                m.add_mass("point", point, Mass::Uniform(0.2)).unwrap();
            }
            let options = Options {
                gyroscopic,
                beta,
                ..apart()
            };
            let mut s = simulate(m, options);
            let l = add_up(&mut s, 0.01, 20);
            expect_parts(&l.parts, &[("inertia", l.kinetic)], 1e-14);
            assert!(gyroscopic == Gyroscopic::None && !mapped || l.kinetic.abs() > 1e-6);
        }
    }
}

/// The parts are the numerical part in a machine of everything, and go on bit for bit after it was
/// restored; without geometric stiffness it has no part. What other methods leave is not divided.
#[test]
fn a_machine() {
    let mut sums = Vec::new();
    for geometry in [GeometricTerms::NONE, GeometricTerms::default()] {
        for weight in [1.0, 0.5] {
            let options = || Options {
                geometry,
                alpha: weight,
                beta: weight,
                ..apart()
            };
            let mut s = simulate(machine(), options());
            let sum = add_up(&mut s, 0.01, 30);
            assert!(sum.parts.undivided == 0.0 && sum.parts.entries().iter().all(|e| e.1.is_finite()));
            assert_eq!(sum.parts.geometry != 0.0, geometry != GeometricTerms::NONE);
            let mut other = simulate(machine(), options());
            other.restore(&s.checkpoint()).unwrap();
            assert_eq!(other.step(0.01).unwrap().ledger, s.step(0.01).unwrap().ledger);
            sums.push(sum);
        }
    }
    let enough = GeometricTerms {
        forces: GeometricStiffness::JustEnough,
        multipliers: GeometricStiffness::JustEnough,
    };
    let options = Options {
        geometry: enough,
        ..apart()
    };
    let some = add_up(&mut simulate(machine(), options), 0.01, 30);
    assert!(some.parts.geometry.abs() < sums[2].parts.geometry.abs());
    for integrator in [Integrator::Nonlinear, Integrator::Rattle4] {
        let options = Options {
            integrator,
            ..apart()
        };
        let mut s = pendulum(GeometricStiffness::Full, (1.0, 1.0));
        s.options = options;
        let l = add_up(&mut s, 0.01, 10);
        expect_parts(&l.parts, &[("undivided", l.numerical)], 1e-15);
        assert!(l.numerical != 0.0);
    }
}

#[test]
fn what_nobody_asks_for_is_not_taken_apart() {
    let mut s = pendulum(GeometricStiffness::Full, (1.0, 1.0));
    s.options.numerical_parts = false;
    let ledger = s.step(0.01).unwrap().ledger;
    assert!(ledger.numerical < 0.0);
    expect_parts(&ledger.parts, &[("undivided", ledger.numerical)], 0.0);
}
