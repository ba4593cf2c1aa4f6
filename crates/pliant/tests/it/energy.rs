//! Balances: energy, momentum, the work of damping.

use crate::scenes::truss;
use pliant::prelude::*;

#[test]
fn the_trapezoid_loses_exactly_what_damping_takes() {
    // Linear system: the trapezoidal rule conserves its energy but for the damping work h v^T B v
    // at the mean velocity.
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        let mut model = Model::new();
        let x = model.add_scalars("x", &[0.3, -0.1]).unwrap();
        model.add_mass("m", x, Mass::PerElement(vec![1.0, 2.0])).unwrap();
        let pairs = [
            (End::element(0, 0), End::Point([0.0; 3])),
            (End::element(0, 1), End::element(0, 0)),
        ];
        let d = model
            .add_mapped("d", &[x], Difference::new(&pairs).in_dimension(1))
            .unwrap();
        let law = DiagonalCompliance::new(&[0.01, 0.02]).with_relaxation_time(0.03);
        model.add_force_field("springs", d, law, treatment).unwrap();
        model
            .add_force_field("air", x, Damping::new(0.4), Treatment::Stiffness)
            .unwrap();
        let mut s = Simulation::with_options(model, Options::trapezoidal()).unwrap();
        let start = s.problem().energies(s.state()).total();
        for _ in 0..200 {
            let report = s.step(0.01).unwrap();
            let balance = start - report.energies.total() - report.dissipated;
            assert!(
                balance.abs() < 1e-12 * start,
                "{treatment:?}: {balance:e} of {start}"
            );
        }
    }
}

#[test]
fn implicit_euler_never_gains() {
    let mut s = crate::tools::theta(truss(1e4, 0.0, Treatment::Compliance)).unwrap();
    let mut before = f64::INFINITY;
    for _ in 0..300 {
        let energy = s.step(0.01).unwrap().energies.total();
        assert!(energy <= before + 1e-9);
        before = energy;
    }
}

#[test]
fn a_free_pair_keeps_its_momentum() {
    let mut model = Model::new();
    let v = [0.1, 0.5, 0.0, -0.3, -0.2, 0.4];
    let p = model
        .add_independent("p", Space::Real(3), &[0.0, 0.0, 0.0, 1.0, 0.3, 0.0], &v)
        .unwrap();
    model.add_mass("m", p, Mass::PerElement(vec![1.0, 3.0])).unwrap();
    let d = model
        .add_mapped("d", &[p], Distance::between(&[(0, 1)]).with_rest_lengths(&[0.9]))
        .unwrap();
    model
        .add_force_field("k", d, UniformCompliance::new(1e-3), Treatment::Compliance)
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    let start = s.model().momentum(s.state());
    for (found, expected) in start.linear.iter().zip([-0.8, -0.1, 1.2]) {
        assert!((found - expected).abs() < 1e-15);
    }
    for _ in 0..100 {
        let now = s.step(0.01).unwrap().momentum;
        for k in 0..3 {
            assert!((now.linear[k] - start.linear[k]).abs() < 1e-13);
        }
    }
}

#[test]
fn a_spinning_body_stays_a_rotation() {
    let mut model = Model::new();
    let b = model.add_rigid_bodies("b", &[Pose::default()]).unwrap();
    model.set_body_velocity(b, 0, [0.0; 3], [30.0, 1.0, 0.5]).unwrap();
    model
        .add_mass("m", b, Mass::Rigid(vec![RigidMass::cuboid(1.0, [0.3, 0.2, 0.1])]))
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    for _ in 0..1000 {
        s.step(0.01).unwrap();
    }
    let q = &s.positions(b)[3..];
    assert!((q.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-14);
}

/// A weight on a spring from a fixed particle: at rest the support carries both weights.
#[test]
fn supports_carry_what_hangs_on_them() {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let p = model.add_particles("p", &[[0.0; 3], [0.0, -1.0, 0.0]]).unwrap();
    model.add_mass("m", p, Mass::PerElement(vec![0.5, 2.0])).unwrap();
    model.fix(p, 0, &[true; 3]).unwrap();
    let d = Distance::between(&[(0, 1)]).with_rest_lengths(&[1.0]);
    let d = model.add_mapped("d", &[p], d).unwrap();
    model
        .add_force_field("k", d, UniformCompliance::new(1e-3), Treatment::Compliance)
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    // The first step: the spring is slack at its start, and stretches by h v+ at its end.
    s.step(0.01).unwrap();
    let spring = s.reaction(s.model().component_named("k").unwrap())[0];
    assert!((s.support_force(p, 0)[1] - 0.5 * 9.81 + spring).abs() < 1e-12);
    s.settle(Settle {
        tolerance: 1e-14,
        ..Settle::default()
    })
    .unwrap();
    assert!((s.support_force(p, 0)[1] - 2.5 * 9.81).abs() < 1e-9);
    assert_eq!(s.support_force(p, 1), &[0.0; 3]);
    assert!(s.support_force(p, 2).is_empty() && s.support_force(d, 0).is_empty());
}

/// A force from outside on a point of a body: Newton and Euler.
#[test]
fn forces_from_outside_act_on_mapped_nodes() {
    let mut model = Model::new();
    let b = model.add_rigid_bodies("b", &[Pose::default()]).unwrap();
    model
        .add_mass(
            "m",
            b,
            Mass::Rigid(vec![RigidMass::principal(2.0, [1.0, 1.0, 0.5])]),
        )
        .unwrap();
    let point = model
        .add_mapped("point", &[b], RigidPoints::new(&[(0, [0.5, 0.0, 0.0])]))
        .unwrap();
    let mut s = Simulation::with_options(
        model,
        Options {
            geometry: GeometricTerms::NONE,
            ..Options::theta()
        },
    )
    .unwrap();
    s.set_force(point, 0, &[0.0, 3.0, 0.0]).unwrap();
    s.step(1e-3).unwrap();
    let (linear, angular) = s.world_velocity(b, 0).unwrap();
    // dv = h f/m, dw = h (r x f)/I.
    assert!((linear[1] - 1.5e-3).abs() < 1e-15 && (angular[2] - 3e-3).abs() < 1e-15);
    s.set_force(point, 0, &[0.0; 3]).unwrap();
    s.step(1e-3).unwrap();
    assert!((s.world_velocity(b, 0).unwrap().0[1] - 1.5e-3).abs() < 1e-15);
    assert!(s.set_force(point, 1, &[0.0; 3]).is_err() && s.set_force(b, 0, &[0.0; 3]).is_err());
    assert!(s.set_force(point, 0, &[f64::NAN; 3]).is_err());
}
