//! Rows of bounded force: motors, dry friction, limits, ropes, saturated springs and dashpots.

use super::{expect, run, scalar, simulate};
use pliant::prelude::*;

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
        let mut s = simulate(cart(v, attach), Options::theta());
        run(&mut s, 0.01, 100)
    };
    let motor = with(0.0, &|j| {
        j.with_velocity_motor(0, PrescribedMotion::ramp(0.0, 0.8), 4.0)
    });
    expect(&motor, &[("motors", 0.64)], 1e-12);
    let friction = with(1.0, &|j| j.with_friction(0, 3.0));
    expect(&friction, &[("friction", -1.0)], 1e-12);
    let limit = with(1.0, &|j| j.with_limits(0, -1.0, 0.205));
    // The limit stops it where it is: half of it in a step that ends there, the rest in the next.
    expect(&limit, &[("impacts", -1.0)], 1e-12);
}

/// A motor that holds a position with a largest force: while it pulls with this force, `F dx` goes
/// into the cart.
#[test]
fn a_motor_at_its_largest_force() {
    let position = |j: Joint| j.with_position_motor(0, PrescribedMotion::constant(&[10.0]), 1e-3, 0.0, 4.0);
    let mut s = simulate(cart(0.0, position), Options::trapezoidal());
    let motor = s.model().component_named("slider.motor 0").unwrap();
    let mut l = Ledger::default();
    (0..50).for_each(|_| l += s.step(0.01).unwrap().ledger);
    let z = s.state().positions[2];
    assert!((l.kinetic - 4.0 * z).abs() < 1e-12);
    // A spring of a largest force F that is far out of its reach stores F (|phi| - F C/2); nobody
    // moves its end.
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

/// A damped spring at the bound of its force is one of constant force: what it stores and the
/// motion have all of the energy.
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
