//! The ledger of a step: every entry against its closed form.

mod bounds;
mod contacts;
mod parts;

use pliant::prelude::*;

const G: f64 = 9.81;

/// One coordinate of 2 kg at a place with a velocity.
fn scalar(x: f64, v: f64) -> (Model, NodeId) {
    let mut m = Model::new();
    let x = m.add_independent("x", Space::Real(1), &[x], &[v]).unwrap();
    m.add_mass("m", x, Mass::Uniform(2.0)).unwrap();
    (m, x)
}

fn simulate(model: Model, options: Options) -> Simulation {
    Simulation::with_options(model, options).unwrap()
}

/// Takes steps; each closes, and all together are the change of the energies that there were at
/// first.
fn run(s: &mut Simulation, h: f64, steps: usize) -> Ledger {
    let mut sum = Ledger::default();
    let start = s.problem().energies(s.state());
    let mut end = start;
    for _ in 0..steps {
        let report = s.step(h).unwrap();
        let one = report.ledger;
        let size = one.kinetic.abs() + one.potential.abs() + report.energies.total().abs();
        let left = one.kinetic + one.potential - one.brought_in() - one.numerical;
        // Rounding of eleven sums.
        assert!(left.abs() <= 1e-14 * size);
        sum += one;
        end = report.energies;
    }
    // Rounding of the sums of all steps.
    let size = 1e-14 * steps as f64 * (start.total().abs() + end.total().abs() + sum.kinetic.abs());
    assert!((sum.kinetic - (end.kinetic - start.kinetic)).abs() <= size);
    assert!((sum.potential - (end.potential - start.potential)).abs() <= size);
    sum
}

/// Entries of a ledger beside energies, by name.
fn entries(l: &Ledger) -> [(&'static str, f64); 9] {
    [
        ("forces", l.forces),
        ("motion", l.motion),
        ("motors", l.motors),
        ("inputs", l.inputs),
        ("damping", l.damping),
        ("friction", l.friction),
        ("impacts", l.impacts),
        ("corrections", l.corrections),
        ("numerical", l.numerical),
    ]
}

/// The entries named have these values (to rounding of `size`), the others none.
#[track_caller]
fn expect(l: &Ledger, expected: &[(&str, f64)], size: f64) {
    for (name, found) in entries(l) {
        let value = expected.iter().find(|e| e.0 == name).map_or(0.0, |e| e.1);
        assert!(
            (found - value).abs() <= size,
            "{name}: {found:e}, not {value:e}: {l:?}"
        );
    }
}

/// Free fall and an oscillator by implicit Euler: `-m dv^2/2 - k dx^2/2` in every step, and nothing
/// by the trapezoidal rule.
#[test]
fn the_scheme_damps_what_it_damps() {
    let build = || {
        let (mut m, x) = scalar(0.3, -0.5);
        m.add_force_field("k", x, UniformCompliance::new(0.02), Treatment::Stiffness)
            .unwrap();
        m
    };
    let mut s = simulate(build(), Options::theta());
    for _ in 0..50 {
        let (x, v) = (s.state().positions[0], s.state().velocities[0]);
        let l = s.step(0.05).unwrap().ledger;
        let (dx, dv) = (s.state().positions[0] - x, s.state().velocities[0] - v);
        expect(&l, &[("numerical", -dv * dv - 25.0 * dx * dx)], 1e-14);
    }
    let l = run(&mut simulate(build(), Options::trapezoidal()), 0.05, 50);
    expect(&l, &[], 1e-12);

    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -G]).unwrap();
    let p = m.add_particles("p", &[[0.0; 3]]).unwrap();
    m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
    let l = run(&mut simulate(m, Options::theta()), 0.1, 10);
    expect(&l, &[("numerical", -10.0 * (0.1 * G).powi(2))], 1e-12);
}

/// A damped oscillator by the trapezoidal rule: all that is lost is `b v^2 h` at the mean velocity.
#[test]
fn damping_takes_the_rest() {
    let (mut m, x) = scalar(0.3, 0.0);
    m.add_force_field("k", x, UniformCompliance::new(0.02), Treatment::Stiffness)
        .unwrap();
    m.add_force_field("b", x, Damping::new(1.5), Treatment::Stiffness)
        .unwrap();
    let mut s = simulate(m, Options::trapezoidal());
    for _ in 0..50 {
        let v = s.state().velocities[0];
        let l = s.step(0.05).unwrap().ledger;
        let mean = 0.5 * (s.state().velocities[0] + v);
        expect(&l, &[("damping", -1.5 * 0.05 * mean * mean)], 1e-14);
    }
}

/// In every method the numerical part of a damped oscillator under a force from outside vanishes
/// with the step, and the named parts are those of the motion: `F dx` to the order of the method.
#[test]
fn every_integrator_keeps_a_ledger() {
    for (integrator, weight) in [
        (Integrator::Theta, 0.7),
        (Integrator::Nonlinear, 1.0),
        (Integrator::Nonlinear, 0.5),
        (Integrator::generalised_alpha(0.7), 1.0),
        (Integrator::bdf2(), 1.0),
        (Integrator::EnergyMomentum, 1.0),
        (Integrator::Rattle, 1.0),
        (Integrator::Rattle4, 1.0),
        (Integrator::SymplecticEuler, 1.0),
        (Integrator::RungeKutta4, 1.0),
    ] {
        let taken = |h: f64| {
            let (mut m, x) = scalar(0.3, 0.0);
            m.add_force_field("k", x, UniformCompliance::new(0.02), Treatment::Stiffness)
                .unwrap();
            m.add_force_field("b", x, Damping::new(1.5), Treatment::Stiffness)
                .unwrap();
            let options = Options {
                integrator: integrator.clone(),
                alpha: weight,
                beta: weight,
                ..Options::theta()
            };
            let mut s = simulate(m, options);
            s.set_force(x, 0, &[4.0]).unwrap();
            let l = run(&mut s, h, (1.0 / h).round() as usize);
            (l, s.state().positions[0])
        };
        let ((coarse, _), (fine, x)) = (taken(2e-3), taken(1e-3));
        let name = integrator.name();
        // The work of a smooth force by the mean velocity: its way but for h.
        assert!((fine.forces - 4.0 * (x - 0.3)).abs() < 1e-2, "{name} {fine:?}");
        assert!(
            fine.damping < -0.5 && (fine.damping - coarse.damping).abs() < 1e-2,
            "{name}"
        );
        let (a, b) = (coarse.numerical.abs(), fine.numerical.abs());
        assert!(b < 0.6 * a || b < 1e-9, "{name}: {a:e} {b:e}");
    }
}

/// Quadratic drag is not linear in the velocity: `m (v - v+) = h (c v^2 + 2 c v (v+ - v)/2)` by the
/// theta method, the mean of both ends by the nonlinear one; the work is that of this force, which
/// is all that is lost.
#[test]
fn drag_that_is_not_linear() {
    for integrator in [Integrator::Theta, Integrator::Nonlinear] {
        let (mut m, x) = scalar(0.0, 3.0);
        m.add_force_field("drag", x, Drag::new(0.1, 0.7), Treatment::Stiffness)
            .unwrap();
        let options = Options {
            integrator,
            ..Options::trapezoidal()
        };
        let mut s = simulate(m, options);
        let report = s.step(0.1).unwrap();
        let v = s.state().velocities[0];
        expect(&report.ledger, &[("damping", v * v - 9.0)], 1e-9);
        assert!((report.dissipated - (9.0 - v * v)).abs() < 1e-9);
    }
}

/// A force from outside, and one without a potential: `F dx`.
#[test]
fn forces_from_outside() {
    let (m, x) = scalar(0.0, 1.0);
    let mut s = simulate(m, Options::trapezoidal());
    s.set_force(x, 0, &[3.0]).unwrap();
    let l = run(&mut s, 0.1, 10);
    expect(&l, &[("forces", 3.0 * s.state().positions[0])], 1e-13);

    let mut m = Model::new();
    let b = m.add_rigid_bodies("b", &[Pose::default()]).unwrap();
    m.add_mass("m", b, Mass::Rigid(vec![RigidMass::sphere(2.0, 0.3)]))
        .unwrap();
    m.add_force_field(
        "thrust",
        b,
        BodyForce::new([0.0; 3], [4.0, 0.0, 0.0]),
        Treatment::Stiffness,
    )
    .unwrap();
    let mut s = simulate(m, Options::trapezoidal());
    let l = run(&mut s, 0.1, 10);
    // x = F t^2/(2 m) = 1 m.
    expect(&l, &[("forces", 4.0)], 1e-13);
}

/// Prescribed motion: an end that is held at a velocity, a driven spring, a driven hard row. By the
/// trapezoidal rule the work is the change of the energies.
#[test]
fn prescribed_motion() {
    let ends = || {
        let mut m = Model::new();
        let x = m.add_scalars("x", &[0.0, 0.0]).unwrap();
        m.add_mass("m", x, Mass::Uniform(2.0)).unwrap();
        let pair = [(End::element(0, 1), End::element(0, 0))];
        let d = m
            .add_mapped("d", &[x], Difference::new(&pair).in_dimension(1))
            .unwrap();
        (m, x, d)
    };
    let mut moved = Vec::new();
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        let (mut m, x, d) = ends();
        m.add_force_field("k", d, UniformCompliance::new(0.01), treatment)
            .unwrap();
        m.fix(x, 0, &[true]).unwrap();
        let mut s = simulate(m, Options::trapezoidal());
        s.hold(x, 0, &[true], &[0.5]).unwrap();
        let l = run(&mut s, 0.01, 30);
        expect(&l, &[("motion", l.kinetic + l.potential)], 1e-12);
        assert!(l.motion > 0.1);
        moved.push(l.motion);
    }
    assert!((moved[0] - moved[1]).abs() < 1e-12);

    // The same spring, driven from where it begins.
    let (mut m, x, d) = ends();
    let k = m
        .add_force_field("k", d, UniformCompliance::new(0.01), Treatment::Compliance)
        .unwrap();
    m.set_motion(k, Some(PrescribedMotion::ramp(0.0, -0.5))).unwrap();
    m.fix(x, 1, &[true]).unwrap();
    let mut s = simulate(m, Options::trapezoidal());
    let mut sum = Ledger::default();
    for _ in 0..30 {
        sum += s.step(0.01).unwrap().ledger;
    }
    expect(&sum, &[("motion", sum.kinetic + sum.potential)], 1e-12);

    // A hard row lifts a weight with 0.2 m/s after a jump: m v^2/2 (twice the work of the mean
    // velocity) and m g x.
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -G]).unwrap();
    let p = m.add_particles("p", &[[0.0; 3]]).unwrap();
    m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
    let height = m
        .add_mapped(
            "z",
            &[p],
            Difference::new(&[(End::element(0, 0), End::Point([0.0; 3]))]),
        )
        .unwrap();
    let row = m
        .add_constraint("lift", height, Level::Velocity { curvature: 0.0 })
        .unwrap();
    m.set_motion(
        row,
        Some(PrescribedMotion::each(&[
            PrescribedMotion::constant(&[0.0]),
            PrescribedMotion::constant(&[0.0]),
            PrescribedMotion::ramp(0.0, 0.2),
        ])),
    )
    .unwrap();
    let mut s = simulate(m, Options::trapezoidal());
    let l = run(&mut s, 0.1, 10);
    let z = s.state().positions[2];
    expect(&l, &[("motion", 0.5 * 2.0 * 0.04 + 2.0 * G * z)], 1e-12);
}

/// An input that changes what is stored is entered where it does.
#[test]
fn inputs_bring_in_energy() {
    let (mut m, x) = scalar(0.4, 0.0);
    let force = m
        .add_force_field("F", x, ConstantForce::new(&[1.0]), Treatment::Stiffness)
        .unwrap();
    let mut s = simulate(m, Options::trapezoidal());
    s.step(0.1).unwrap();
    let x = s.state().positions[0];
    s.set_input(force, 0, 3.0).unwrap();
    let l = s.step(0.1).unwrap().ledger;
    // The energy -F x changed by -2 x.
    expect(&l, &[("inputs", -2.0 * x)], 1e-14);
    assert_eq!(s.step(0.1).unwrap().ledger.inputs, 0.0);
}

/// A correction of positions lifts a weight that hangs too low by 0.1 m.
#[test]
fn corrections_of_positions() {
    for before in [true, false] {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -G]).unwrap();
        let p = m.add_particles("p", &[[0.0, 0.0, -1.1]]).unwrap();
        m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
        let d = m
            .add_mapped(
                "d",
                &[p],
                Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]),
            )
            .unwrap();
        m.add_constraint("rod", d, Level::Position).unwrap();
        let how = Some(Stabilisation::default());
        let options = Options {
            pre_stabilisation: how.filter(|_| before),
            post_stabilisation: how.filter(|_| !before),
            ..Options::theta()
        };
        let mut s = simulate(m, options);
        let l = run(&mut s, 0.01, 1);
        expect(&l, &[("corrections", 2.0 * G * 0.1)], 1e-12);
    }
}

/// A free body that tumbles keeps its momentum about any point; and the linear one.
#[test]
fn momentum_about_any_point() {
    for integrator in [Integrator::Theta, Integrator::Rattle] {
        let mut m = Model::new();
        let b = m.add_rigid_bodies("b", &[Pose::at([1.0, 2.0, 3.0])]).unwrap();
        m.add_mass("m", b, Mass::Rigid(vec![RigidMass::cuboid(2.0, [0.3, 0.2, 0.1])]))
            .unwrap();
        m.set_body_velocity(b, 0, [0.3, -0.2, 0.1], [3.0, 1.0, -2.0])
            .unwrap();
        let options = Options {
            gyroscopic: match integrator.capabilities().linearisation {
                true => Gyroscopic::Momentum,
                false => Gyroscopic::default(),
            },
            integrator,
            ..Options::theta()
        };
        let mut s = simulate(m, options);
        let start = s.model().momentum(s.state());
        let point = [0.7, -1.0, 2.0];
        // About the point: the spin, and the arm of the centre times the momentum.
        let turned = |m: Momentum, p: [f64; 3]| {
            let arm = [1.0 - p[0], 2.0 - p[1], 3.0 - p[2]];
            let spin = m.about([1.0, 2.0, 3.0]);
            let l = m.linear;
            [0, 1, 2].map(|k| {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                spin[k] + arm[i] * l[j] - arm[j] * l[i]
            })
        };
        assert_eq!(start.about([0.0; 3]), start.angular);
        let about = start.about(point);
        for k in 0..3 {
            assert!((about[k] - turned(start, point)[k]).abs() < 1e-14);
        }
        for _ in 0..200 {
            let now = s.step(0.01).unwrap().momentum;
            let found = now.about(point);
            for k in 0..3 {
                assert!((now.linear[k] - start.linear[k]).abs() < 1e-12);
                assert!((found[k] - about[k]).abs() < 1e-12, "{:?} {:?}", found, about);
            }
        }
    }
}
