//! Attachment through the graph against the same one by a hard constraint.

use crate::tools::{order, worst};
use pliant::dense::{Mat3, Vec3, rotation};
use pliant::prelude::*;

fn end(model: Model, h: f64, time: f64) -> Vec<f64> {
    let options = Options {
        // Only the equations themselves: both ways are first order.
        geometry: GeometricTerms::default(),
        ..Options::theta()
    };
    let mut s = Simulation::with_options(model, options).unwrap();
    for _ in 0..(time / h).round() as usize {
        s.step(h).unwrap();
    }
    let node = s.model().node_named("watched").unwrap();
    s.positions(node).to_vec()
}

/// Points of a point: a second particle in the same place, on a spring to the world.
#[test]
fn a_point_on_a_point() {
    let build = |eliminated: bool| {
        let mut m = Model::new();
        m.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let x = [0.3, 0.2, -0.1];
        let p = m
            .add_independent("watched", Space::Real(3), &x, &[1.0, 0.0, 0.5])
            .unwrap();
        m.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
        let q = if eliminated {
            m.add_mapped("q", &[p], Identity::new(Space::Real(3), 1)).unwrap()
        } else {
            let q = m
                .add_independent("q", Space::Real(3), &x, &[1.0, 0.0, 0.5])
                .unwrap();
            let pair = [(End::element(1, 0), End::element(0, 0))];
            let gap = m.add_mapped("gap", &[p, q], Difference::new(&pair)).unwrap();
            m.add_constraint("tie", gap, Level::Position).unwrap();
            q
        };
        m.add_mass("n", q, Mass::Uniform(0.7)).unwrap();
        let line = Distance::to_points(&[(0, [0.0, 1.0, 0.0])]).with_rest_lengths(&[0.5]);
        let line = m.add_mapped("line", &[q], line).unwrap();
        m.add_force_field(
            "spring",
            line,
            UniformCompliance::from_stiffness(50.0),
            Treatment::Stiffness,
        )
        .unwrap();
        m
    };
    // A linear tie is the same step, to rounding.
    assert!(worst(&end(build(true), 0.01, 1.0), &end(build(false), 0.01, 1.0)) < 1e-11);
}

/// A point mass inside of a tetrahedron of particles.
#[test]
fn a_point_in_a_tetrahedron() {
    let build = |eliminated: bool| {
        let mut m = Model::new();
        m.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.0, 1.0, 0.0], [0.1, 0.0, 1.0]];
        let corners_id = m.add_particles("watched", &corners).unwrap();
        m.add_mass("m", corners_id, Mass::PerElement(vec![1.0, 0.5, 0.7, 0.9]))
            .unwrap();
        let edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let rests = [1.0, 1.0, 1.0, 1.4, 1.3, 1.4];
        let edges = Distance::between(&edges).with_rest_lengths(&rests);
        let edges = m.add_mapped("edges", &[corners_id], edges).unwrap();
        m.add_force_field(
            "edges",
            edges,
            UniformCompliance::from_stiffness(80.0),
            Treatment::Stiffness,
        )
        .unwrap();
        let weights = [0.1, 0.2, 0.3, 0.4];
        let group: Vec<_> = (0..4).map(|k| (Dependency::new(0, k), weights[k])).collect();
        let place = m
            .add_mapped("place", &[corners_id], Barycentric::new(&[group]))
            .unwrap();
        let rider = if eliminated {
            place
        } else {
            let x: Vec<f64> = (0..3)
                .map(|k| (0..4).map(|c| weights[c] * corners[c][k]).sum())
                .collect();
            let rider = m.add_particles("rider", &[[x[0], x[1], x[2]]]).unwrap();
            let pair = [(End::element(1, 0), End::element(0, 0))];
            let gap = m
                .add_mapped("gap", &[place, rider], Difference::new(&pair))
                .unwrap();
            m.add_constraint("tie", gap, Level::Position).unwrap();
            rider
        };
        m.add_mass("n", rider, Mass::Uniform(2.0)).unwrap();
        m
    };
    assert!(worst(&end(build(true), 0.01, 0.5), &end(build(false), 0.01, 0.5)) < 1e-11);
}

fn spinning_body(m: &mut Model) -> NodeId {
    let pose = Pose::turned([0.2, 0.1, -0.3], [1.0, 2.0, 0.5], 0.7);
    let body = m.add_rigid_bodies("watched", &[pose]).unwrap();
    let mass = RigidMass::cuboid(1.5, [0.8, 0.4, 0.2]);
    m.add_mass("m", body, Mass::Rigid(vec![mass])).unwrap();
    m.set_body_velocity(body, 0, [0.3, 0.0, -0.2], [1.0, -2.0, 1.5])
        .unwrap();
    body
}

/// A point mass on a free spinning body.
fn point_on_body(eliminated: bool) -> Model {
    let mut m = Model::new();
    let body = spinning_body(&mut m);
    let points = RigidPoints::new(&[(0, [0.5, 0.1, 0.2])]);
    let point = m.add_mapped("point", &[body], points).unwrap();
    let rider = if eliminated {
        point
    } else {
        let state = m.initial_state().unwrap();
        let (x, v) = (
            m.positions(&state, point).to_vec(),
            m.velocities(&state, point).to_vec(),
        );
        let rider = m.add_independent("rider", Space::Real(3), &x, &v).unwrap();
        let pair = [(End::element(1, 0), End::element(0, 0))];
        let gap = m
            .add_mapped("gap", &[point, rider], Difference::new(&pair))
            .unwrap();
        m.add_constraint("tie", gap, Level::CurvedPosition).unwrap();
        rider
    };
    m.add_mass("n", rider, Mass::Uniform(0.8)).unwrap();
    m
}

const FRAME: Pose = Pose {
    position: [0.4, -0.2, 0.1],
    rotation: [0.8, 0.0, 0.6, 0.0],
};

/// A second body with a mass of its own, fixed to a free spinning one.
fn frame_on_body(eliminated: bool) -> Model {
    let mut m = Model::new();
    let body = spinning_body(&mut m);
    let frame = m
        .add_mapped("frame", &[body], RigidFrames::new(&[(0, FRAME)]))
        .unwrap();
    let rider = if eliminated {
        frame
    } else {
        let state = m.initial_state().unwrap();
        let x = m.positions(&state, frame);
        let pose = Pose {
            position: [x[0], x[1], x[2]],
            rotation: [x[3], x[4], x[5], x[6]],
        };
        let v = m.velocities(&state, frame).to_vec();
        let spin = rotation::rotate(pose.rotation, Vec3::new(v[3], v[4], v[5]));
        let rider = m.add_rigid_bodies("rider", &[pose]).unwrap();
        m.set_body_velocity(rider, 0, [v[0], v[1], v[2]], spin.into())
            .unwrap();
        let joint = Joint::fixed(Side::Body(body, 0), Side::Body(rider, 0));
        m.add_joint("weld", &joint.at(pose).with_level(Level::CurvedPosition))
            .unwrap();
        rider
    };
    m.add_mass(
        "n",
        rider,
        Mass::Rigid(vec![RigidMass::cuboid(0.9, [0.1, 0.5, 0.3])]),
    )
    .unwrap();
    m
}

/// One body with the mass and the inertia of the two about their common centre of mass, seen at the
/// first body's frame.
fn combined() -> Model {
    let (a, b) = (
        RigidMass::cuboid(1.5, [0.8, 0.4, 0.2]),
        RigidMass::cuboid(0.9, [0.1, 0.5, 0.3]),
    );
    let (ra, rb) = (Vec3::zeros(), Vec3::from(FRAME.position));
    let mass = a.mass + b.mass;
    let centre = (a.mass * ra + b.mass * rb) / mass;
    let steiner = |m: f64, r: Vec3| m * (Mat3::identity() * r.norm_squared() - r * r.transpose());
    let turn = rotation::matrix(FRAME.rotation);
    let inertia = a.inertia_matrix()
        + steiner(a.mass, ra - centre)
        + turn * b.inertia_matrix() * turn.transpose()
        + steiner(b.mass, rb - centre);
    let rows = [0, 1, 2].map(|i| [0, 1, 2].map(|j| 0.5 * (inertia[(i, j)] + inertia[(j, i)])));
    let mut only_motion = Model::new();
    let first = spinning_body(&mut only_motion);
    let state = only_motion.initial_state().unwrap();
    let (x, v) = (
        only_motion.positions(&state, first),
        only_motion.velocities(&state, first),
    );
    let q = [x[3], x[4], x[5], x[6]];
    let spin = rotation::rotate(q, Vec3::new(v[3], v[4], v[5]));
    let arm = rotation::rotate(q, centre);
    let mut m = Model::new();
    let pose = Pose {
        position: (Vec3::new(x[0], x[1], x[2]) + arm).into(),
        rotation: q,
    };
    let body = m.add_rigid_bodies("whole", &[pose]).unwrap();
    m.add_mass("m", body, Mass::Rigid(vec![RigidMass { mass, inertia: rows }]))
        .unwrap();
    let linear = Vec3::new(v[0], v[1], v[2]) + spin.cross(&arm);
    m.set_body_velocity(body, 0, linear.into(), spin.into()).unwrap();
    let seen = RigidFrames::new(&[(0, Pose::at((-centre).into()))]);
    m.add_mapped("watched", &[body], seen).unwrap();
    m
}

/// Both ways are the same motion in the limit: what sets them apart halves with the step.
#[test]
fn what_is_carried_by_a_body_moves_as_if_it_were_held() {
    for build in [point_on_body, frame_on_body] {
        let apart = |h: f64| worst(&end(build(true), h, 0.5), &end(build(false), h, 0.5));
        let found = [apart(0.0005), apart(0.00025)];
        assert!((order(found) - 1.0).abs() < 0.2 && found[1] < 5e-3, "{found:?}");
    }
}

#[test]
fn a_body_with_a_body_on_it_is_one_body() {
    // Of the single body the reference: a hundredth of the step, which leaves a hundredth of the
    // error.
    let exact = end(combined(), 1e-5, 0.5);
    for eliminated in [true, false] {
        let error = |h: f64| worst(&exact, &end(frame_on_body(eliminated), h, 0.5));
        let found = [error(0.002), error(0.001)];
        assert!(
            (order(found) - 1.0).abs() < 0.15 && found[1] < 1e-2,
            "eliminated {eliminated}: {found:?}"
        );
    }
    // At the same instant both have the same energy and momentum: kinematics and inertia agree to
    // rounding.
    let of = |m: Model| {
        let m = Problem::new(m);
        let state = m.initial_state().unwrap();
        let p = m.momentum(&state);
        (m.energies(&state).kinetic, [p.linear, p.angular].concat())
    };
    let (whole, parts) = (of(combined()), of(frame_on_body(true)));
    assert!((whole.0 - parts.0).abs() < 1e-13 * whole.0);
    assert!(worst(&whole.1, &parts.1) < 1e-14);
}

/// Free flight keeps momentum: linear exactly where ties are rows, and everything in the limit
/// where masses are mapped.
#[test]
fn attachments_keep_momentum() {
    for build in [point_on_body, frame_on_body] {
        let lost = |eliminated: bool, h: f64| {
            let mut s = crate::tools::theta(build(eliminated)).unwrap();
            let before = s.model().momentum(s.state());
            let mut after = before;
            for _ in 0..(0.5 / h).round() as usize {
                after = s.step(h).unwrap().momentum;
            }
            (
                worst(&before.linear, &after.linear),
                worst(&before.angular, &after.angular),
            )
        };
        let rows = [lost(false, 0.001), lost(false, 0.0005)];
        assert!(rows[1].0 < 1e-12, "{rows:?}");
        assert!(order([rows[0].1, rows[1].1]) > 0.8, "{rows:?}");
        let mapped = [lost(true, 0.001), lost(true, 0.0005)];
        assert!(mapped[1].0 < 5e-3 && mapped[1].1 < 5e-3, "{mapped:?}");
        assert!(order([mapped[0].0, mapped[1].0]) > 0.8, "{mapped:?}");
        assert!(order([mapped[0].1, mapped[1].1]) > 0.8, "{mapped:?}");
    }
}
