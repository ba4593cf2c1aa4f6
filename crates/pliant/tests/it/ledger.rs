//! The ledger of a step: every entry against its closed form.

mod contacts;

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

/// Takes steps; each closes, and all together are the change of the energies that there were at first.
fn run(s: &mut Simulation, h: f64, steps: usize) -> Ledger {
    let mut sum = Ledger::default();
    let start = s.model().energies(s.state());
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

/// What a ledger has beside energies, by name.
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

/// Free fall and an oscillator by implicit Euler: `-m dv^2/2 - k dx^2/2` in every step, and nothing by the trapezoidal rule.
#[test]
fn the_scheme_damps_what_it_damps() {
    let build = || {
        let (mut m, x) = scalar(0.3, -0.5);
        m.add_force_field("k", x, UniformCompliance::new(0.02), Treatment::Stiffness)
            .unwrap();
        m
    };
    let mut s = simulate(build(), Options::default());
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
    let l = run(&mut simulate(m, Options::default()), 0.1, 10);
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

/// Quadratic drag is not linear in the velocity: `m (v - v+) = h (c v^2 + 2 c v (v+ - v)/2)` by the linear step, the mean of both ends by the nonlinear one; the work is that of
/// this force, which is all that is lost.
#[test]
fn drag_that_is_not_linear() {
    for integrator in [Integrator::Linear, Integrator::Nonlinear] {
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

/// What is prescribed: an end that is held at a velocity, a driven spring, a driven hard row. By the trapezoidal rule the work is the change of the energies.
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
    m.set_motion(k, Some(Motion::ramp(0.0, -0.5))).unwrap();
    m.fix(x, 1, &[true]).unwrap();
    let mut s = simulate(m, Options::trapezoidal());
    let mut sum = Ledger::default();
    for _ in 0..30 {
        sum += s.step(0.01).unwrap().ledger;
    }
    expect(&sum, &[("motion", sum.kinetic + sum.potential)], 1e-12);

    // A hard row lifts a weight with 0.2 m/s after a jump: m v^2/2 (twice the work of the mean velocity) and m g x.
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
        Some(Motion::each(&[
            Motion::constant(&[0.0]),
            Motion::constant(&[0.0]),
            Motion::ramp(0.0, 0.2),
        ])),
    )
    .unwrap();
    let mut s = simulate(m, Options::trapezoidal());
    let l = run(&mut s, 0.1, 10);
    let z = s.state().positions[2];
    expect(&l, &[("motion", 0.5 * 2.0 * 0.04 + 2.0 * G * z)], 1e-12);
}

/// A cart of 2 kg on a slider along z.
fn cart(v: f64, attach: impl Fn(Joint) -> Joint) -> Model {
    let mut m = Model::new();
    let cart = m.add_rigid_bodies("cart", &[Pose::default()]).unwrap();
    m.add_mass("m", cart, Mass::Rigid(vec![RigidMass::sphere(2.0, 0.3)]))
        .unwrap();
    m.set_body_velocity(cart, 0, [0.0, 0.0, v], [0.0; 3]).unwrap();
    let joint = attach(Joint::slider(Side::World, Side::Body(cart, 0)));
    m.add_joint("slider", &joint).unwrap();
    m
}

/// A motor, dry friction and a limit of a joint: each is `m v^2/2`.
#[test]
fn parts_of_joints() {
    let with = |v, attach: &dyn Fn(Joint) -> Joint| {
        let mut s = simulate(cart(v, attach), Options::default());
        run(&mut s, 0.01, 100)
    };
    let motor = with(0.0, &|j| j.with_velocity_motor(0, Motion::ramp(0.0, 0.8), 4.0));
    expect(&motor, &[("motors", 0.64)], 1e-12);
    let friction = with(1.0, &|j| j.with_friction(0, 3.0));
    expect(&friction, &[("friction", -1.0)], 1e-12);
    let limit = with(1.0, &|j| j.with_limits(0, -1.0, 0.205));
    // The limit stops it where it is: half of it in a step that ends there, the rest in the next.
    expect(&limit, &[("impacts", -1.0)], 1e-12);
}

/// A motor that holds a position with a largest force: while it pulls with this force, `F dx` goes into the cart.
#[test]
fn a_motor_at_its_largest_force() {
    let position = |j: Joint| j.with_position_motor(0, Motion::constant(&[10.0]), 1e-3, 0.0, 4.0);
    let mut s = simulate(cart(0.0, position), Options::trapezoidal());
    let motor = s.model().component_named("slider.motor 0").unwrap();
    let mut l = Ledger::default();
    (0..50).for_each(|_| l += s.step(0.01).unwrap().ledger);
    let z = s.state().positions[2];
    assert!((l.kinetic - 4.0 * z).abs() < 1e-12);
    // A spring of a largest force F that is far out of its reach stores F (|phi| - F C/2); nobody moves its end.
    assert!((s.potential(motor) - 4.0 * (10.0 - z - 0.002)).abs() < 1e-12);
    expect(&l, &[], 1e-10);
}

/// A dashpot of bounded force takes `F dx` while it slips, and `b v^2 h` after.
#[test]
fn a_dashpot_of_bounded_force() {
    let (mut m, x) = scalar(0.0, 3.0);
    let b = m
        .add_force_field("b", x, Damping::new(4.0), Treatment::Compliance)
        .unwrap();
    m.set_bounds(b, -5.0, 5.0).unwrap();
    let mut s = simulate(m, Options::trapezoidal());
    let l = run(&mut s, 0.01, 50);
    assert!((s.state().velocities[0] - 1.75).abs() < 1e-12);
    expect(&l, &[("damping", -5.0 * s.state().positions[0])], 1e-12);
    let l = run(&mut s, 0.01, 200);
    expect(&l, &[("damping", l.kinetic)], 1e-12);
    assert!(s.state().velocities[0] < 0.2);
}

/// A damped spring at the bound of its force is one of constant force: what it stores and the motion have all of the energy.
#[test]
fn a_damped_spring_at_its_bound() {
    let (mut m, x) = scalar(1.0, 0.5);
    let law = UniformCompliance::new(0.01).with_relaxation_time(0.05);
    let k = m.add_force_field("k", x, law, Treatment::Compliance).unwrap();
    m.set_bounds(k, -3.0, 3.0).unwrap();
    let mut s = simulate(m, Options::trapezoidal());
    let mut l = Ledger::default();
    (0..30).for_each(|_| l += s.step(0.01).unwrap().ledger);
    expect(&l, &[], 1e-12);
    // v = v0 - F t/m.
    assert!((s.state().velocities[0] - 0.05).abs() < 1e-12);
}

/// A rope of bounded force stores nothing while it is slack.
#[test]
fn a_slack_rope_stores_nothing() {
    for compliance in [1e-2, 1e-9] {
        let mut m = Model::new();
        let p = m
            .add_independent("p", Space::Real(3), &[0.5, 0.0, 0.0], &[2.0, 0.0, 0.0])
            .unwrap();
        m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
        let d = m
            .add_mapped(
                "d",
                &[p],
                Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]),
            )
            .unwrap();
        let rope = m
            .add_force_field(
                "rope",
                d,
                UniformCompliance::new(compliance),
                Treatment::Compliance,
            )
            .unwrap();
        m.set_bounds(rope, f64::NEG_INFINITY, 0.0).unwrap();
        let mut s = simulate(m, Options::trapezoidal());
        for _ in 0..20 {
            let report = s.step(0.01).unwrap();
            assert_eq!(report.energies.potential, 0.0);
            assert_eq!(report.ledger.numerical, 0.0);
        }
    }
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
            ..Options::default()
        };
        let mut s = simulate(m, options);
        let l = run(&mut s, 0.01, 1);
        expect(&l, &[("corrections", 2.0 * G * 0.1)], 1e-12);
    }
}

/// A free body that tumbles keeps its momentum about any point; and the linear one.
#[test]
fn momentum_about_any_point() {
    for integrator in [Integrator::Linear, Integrator::Rattle] {
        let mut m = Model::new();
        let b = m.add_rigid_bodies("b", &[Pose::at([1.0, 2.0, 3.0])]).unwrap();
        m.add_mass("m", b, Mass::Rigid(vec![RigidMass::cuboid(2.0, [0.3, 0.2, 0.1])]))
            .unwrap();
        m.set_body_velocity(b, 0, [0.3, -0.2, 0.1], [3.0, 1.0, -2.0])
            .unwrap();
        let options = Options {
            integrator,
            gyroscopic: Gyroscopic::Momentum,
            ..Options::default()
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
