//! Dynamics along joint coordinates without a step: mass matrices, inverse dynamics, mobilities.

use crate::everything::plant;
use crate::tools::solve;
use pliant::prelude::*;

const G: f64 = 9.81;
/// Two rods: lengths, masses.
const L: [f64; 2] = [0.7, 0.5];
const M: [f64; 2] = [2.0, 1.2];
/// Entries of the systems are of order 1 and their solutions are refined to rounding.
const ROUNDING: f64 = 1e-11;

/// A double pendulum in the plane x y at angles to the x axis, turning at rates.
fn double_pendulum(
    angles: [f64; 2],
    rates: [f64; 2],
    attach: impl Fn(Joint, usize) -> Joint,
) -> (Simulation, NodeId, [NodeId; 2]) {
    let (s, rods, handles) = jointed(angles, rates, attach);
    (s, rods, handles.map(|handle| handle.coordinates[0]))
}

/// A double pendulum as above, with the handles of its joints.
fn jointed(
    angles: [f64; 2],
    rates: [f64; 2],
    attach: impl Fn(Joint, usize) -> Joint,
) -> (Simulation, NodeId, [JointHandle; 2]) {
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    let along = |k: usize| [angles[k].cos(), angles[k].sin()];
    let elbow = along(0).map(|x| L[0] * x);
    let centres = [
        along(0).map(|x| 0.5 * L[0] * x),
        [0, 1].map(|k| elbow[k] + 0.5 * L[1] * along(1)[k]),
    ];
    let pose = |k: usize| Pose::turned([centres[k][0], centres[k][1], 0.0], [0.0, 0.0, 1.0], angles[k]);
    let rods = m.add_rigid_bodies("rods", &[pose(0), pose(1)]).unwrap();
    let mass =
        |k: usize| RigidMass::principal(M[k], [0.01, M[k] * L[k] * L[k] / 12.0, M[k] * L[k] * L[k] / 12.0]);
    m.add_mass("m", rods, Mass::Rigid(vec![mass(0), mass(1)]))
        .unwrap();
    let turning = |k: usize, from: [f64; 2]| {
        let arm = [centres[k][0] - from[0], centres[k][1] - from[1]];
        [-rates[k] * arm[1], rates[k] * arm[0]]
    };
    let first = turning(0, [0.0; 2]);
    let of_elbow = first.map(|v| 2.0 * v);
    let second = turning(1, elbow);
    let velocities = [first, [of_elbow[0] + second[0], of_elbow[1] + second[1]]];
    for (k, v) in velocities.iter().enumerate() {
        m.set_body_velocity(rods, k, [v[0], v[1], 0.0], [0.0, 0.0, rates[k]])
            .unwrap();
    }
    let joint = attach(Joint::hinge(Side::World, Side::Body(rods, 0)), 0);
    let shoulder = m.add_joint("shoulder", &joint).unwrap();
    let joint =
        Joint::hinge(Side::Body(rods, 0), Side::Body(rods, 1)).at(Pose::at([elbow[0], elbow[1], 0.0]));
    let elbow = m.add_joint("elbow", &attach(joint, 1)).unwrap();
    (Simulation::new(m).unwrap(), rods, [shoulder, elbow])
}

/// Lagrange's equations of the double pendulum: the mass matrix over the joint angles, and the
/// torques that hold their rates.
fn lagrange(angles: [f64; 2], rates: [f64; 2]) -> ([f64; 4], [f64; 2]) {
    let [a, b] = angles;
    let first = M[0] * L[0] * L[0] / 3.0 + M[1] * L[0] * L[0];
    let coupling = 0.5 * M[1] * L[0] * L[1];
    let second = M[1] * L[1] * L[1] / 3.0;
    let mixed = coupling * (a - b).cos();
    // Over the angles to the x axis, then over the angle of the first and that between both.
    let hold = [
        coupling * (a - b).sin() * rates[1] * rates[1] + (0.5 * M[0] + M[1]) * G * L[0] * a.cos(),
        -coupling * (a - b).sin() * rates[0] * rates[0] + 0.5 * M[1] * G * L[1] * b.cos(),
    ];
    let mass = [
        first + 2.0 * mixed + second,
        mixed + second,
        mixed + second,
        second,
    ];
    (mass, [hold[0] + hold[1], hold[1]])
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!(
            (f - e).abs() <= tolerance * (1.0 + e.abs()),
            "{found:?} {expected:?}"
        );
    }
}

#[test]
fn a_double_pendulum_has_the_dynamics_of_lagrange() {
    for (angles, rates) in [
        ([0.3, -0.5], [0.0, 0.0]),
        ([-1.2, 0.8], [2.0, -3.0]),
        ([2.0, 2.5], [-1.0, 4.0]),
    ] {
        let (mut s, _, coordinates) = double_pendulum(angles, rates, |joint, _| joint);
        let found = s.coordinate_dynamics(&coordinates, &[]).unwrap();
        let (mass, hold) = lagrange(angles, rates);
        close(&found.mass_matrix().unwrap(), &mass, ROUNDING);
        close(
            &found.accelerations,
            &solve(2, &mass, &hold.map(|x| -x)),
            ROUNDING,
        );
        // Inverse dynamics.
        let wanted = [1.5, -2.5];
        let expected = [0, 1].map(|k| hold[k] + mass[2 * k] * wanted[0] + mass[2 * k + 1] * wanted[1]);
        close(&found.forces_for(&wanted).unwrap(), &expected, ROUNDING);
        // Forces that are set act already.
        for (node, force) in coordinates.iter().zip(expected) {
            s.set_force(*node, 0, &[force]).unwrap();
        }
        let found = s.coordinate_dynamics(&coordinates, &[]).unwrap();
        close(&found.accelerations, &wanted, ROUNDING);
        close(&found.forces_for(&wanted).unwrap(), &[0.0; 2], 1e-10);
    }
}

/// The angle of the second alone, with the first free to move: the Schur complement.
#[test]
fn coordinates_that_are_not_named_are_free() {
    let (angles, rates) = ([0.4, 1.1], [1.0, 2.0]);
    let (mut s, _, [_, elbow]) = double_pendulum(angles, rates, |joint, _| joint);
    let ([a, b, _, d], _) = lagrange(angles, rates);
    let found = s.coordinate_dynamics(&[elbow], &[]).unwrap();
    close(&found.mass_matrix().unwrap(), &[d - b * b / a], ROUNDING);
}

#[test]
fn a_tool_shows_the_inertia_of_operational_space() {
    let (angles, rates) = ([0.4, 1.5], [0.0, 0.0]);
    let (mut s, _, _) = double_pendulum(angles, rates, |joint, _| joint);
    // The velocity of the tip in the degrees of freedom of the second rod, and in joint rates.
    let arm = [0.5 * L[1] * angles[1].cos(), 0.5 * L[1] * angles[1].sin()];
    let mut jacobian = vec![0.0; 2 * 12];
    (jacobian[6], jacobian[11]) = (1.0, -arm[1]);
    (jacobian[12 + 7], jacobian[12 + 11]) = (1.0, arm[0]);
    let found = s.mobility(&[], 2, &jacobian).unwrap();
    let tip = [
        L[0] * angles[0].cos() + 2.0 * arm[0],
        L[0] * angles[0].sin() + 2.0 * arm[1],
    ];
    let joint_jacobian = [-tip[1], -2.0 * arm[1], tip[0], 2.0 * arm[0]];
    let (mass, _) = lagrange(angles, rates);
    let transposed = [
        joint_jacobian[0],
        joint_jacobian[2],
        joint_jacobian[1],
        joint_jacobian[3],
    ];
    let x = solve(2, &mass, &transposed);
    let mut expected = [0.0; 4];
    for i in 0..2 {
        for j in 0..2 {
            expected[2 * i + j] = (0..2).map(|k| joint_jacobian[2 * i + k] * x[2 * k + j]).sum();
        }
    }
    close(&found, &expected, ROUNDING);
}

#[test]
fn limits_friction_and_motors_take_no_part() {
    let (angles, rates) = ([0.4, -0.2], [1.0, -0.5]);
    let (mut bare, _, coordinates) = double_pendulum(angles, rates, |joint, _| joint);
    let expected = bare.coordinate_dynamics(&coordinates, &[]).unwrap();
    let attach = |joint: Joint, k: usize| match k {
        0 => joint.with_friction(0, 5.0).with_limits(0, 0.0, 1.0),
        _ => joint
            .with_position_motor(0, PrescribedMotion::sine(0.5, 2.0, 0.0), 1e-4, 0.01, 1e4)
            .with_velocity_motor(0, PrescribedMotion::ramp(0.0, 9.0), f64::INFINITY),
    };
    let (mut s, _, handles) = jointed(angles, rates, attach);
    let coordinates = [0, 1].map(|k| handles[k].coordinates[0]);
    assert_eq!(handles.each_ref().map(|handle| handle.motors.len()), [0, 2]);
    let found = s.coordinate_dynamics(&coordinates, &handles[1].motors).unwrap();
    close(&found.accelerations, &expected.accelerations, ROUNDING);
    close(&found.mobility, &expected.mobility, ROUNDING);
    // Also where their coordinates are not asked for.
    let ([a, b, _, d], _) = lagrange(angles, rates);
    let found = s
        .coordinate_dynamics(&coordinates[..1], &handles[1].motors)
        .unwrap();
    close(&found.mass_matrix().unwrap(), &[a - b * b / d], ROUNDING);
    // Springs and dampers do: M q'' = -hold - d q' - (q - rest) / c; angles of joints begin at
    // zero.
    let attach = |joint: Joint, _| joint.with_damper(0, 0.3).with_spring(0, 0.05, 0.0, 0.4);
    let (mut s, _, handles) = jointed(angles, rates, attach);
    let coordinates = [0, 1].map(|k| handles[k].coordinates[0]);
    let found = s.coordinate_dynamics(&coordinates, &[]).unwrap();
    let (mass, hold) = lagrange(angles, rates);
    let pulled = [
        -hold[0] - 0.3 * rates[0] + 0.4 / 0.05,
        -hold[1] - 0.3 * (rates[1] - rates[0]) + 0.4 / 0.05,
    ];
    close(&found.accelerations, &solve(2, &mass, &pulled), ROUNDING);
}

/// A bead that slides along a rod that turns: its travel is a coordinate whose acceleration has a
/// part of the velocities, `r'' = r w^2`, `(I + m r^2) w' = -2 m r r' w`.
#[test]
fn a_bead_on_a_turning_rod_is_flung_out() {
    let (m, r, out, w) = (0.7, 0.4, 0.9, 3.0);
    let mut model = Model::new();
    let bodies = model
        .add_rigid_bodies("bodies", &[Pose::default(), Pose::at([r, 0.0, 0.0])])
        .unwrap();
    let rod = RigidMass::principal(2.0, [0.01, 0.5, 0.5]);
    let bead = RigidMass::sphere(m, 0.1);
    model.add_mass("m", bodies, Mass::Rigid(vec![rod, bead])).unwrap();
    model
        .set_body_velocity(bodies, 0, [0.0; 3], [0.0, 0.0, w])
        .unwrap();
    model
        .set_body_velocity(bodies, 1, [out, r * w, 0.0], [0.0, 0.0, w])
        .unwrap();
    let pivot = Joint::hinge(Side::World, Side::Body(bodies, 0));
    let pivot = model.add_joint("pivot", &pivot).unwrap();
    let along = Pose::turned([r, 0.0, 0.0], [0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    let slider = Joint::slider(Side::Body(bodies, 0), Side::Body(bodies, 1)).at(along);
    let slider = model.add_joint("slider", &slider).unwrap();
    let coordinates = [pivot.coordinates[0], slider.coordinates[0]];
    let mut s = Simulation::new(model).unwrap();
    let found = s.coordinate_dynamics(&coordinates, &[]).unwrap();
    let inertia = 0.5 + 0.4 * m * 0.1 * 0.1 + m * r * r;
    close(&found.mass_matrix().unwrap(), &[inertia, 0.0, 0.0, m], ROUNDING);
    let expected = [-2.0 * m * r * out * w / inertia, r * w * w];
    close(&found.accelerations, &expected, ROUNDING);
}

/// A parallelogram of two cranks and a coupler, held by nine rows too many.
#[test]
fn a_closed_loop_has_the_dynamics_of_its_one_freedom() {
    let (r, crank, coupler, angle, rate) = (0.5_f64, 0.8, 1.5, 0.6_f64, 3.0);
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    let end = [r * angle.cos(), r * angle.sin()];
    let poses: Vec<Pose> = [0.0, 1.0]
        .iter()
        .map(|x| Pose::turned([x + 0.5 * end[0], 0.5 * end[1], 0.0], [0.0, 0.0, 1.0], angle))
        .chain([Pose::at([0.5 + end[0], end[1], 0.0])])
        .collect();
    let bodies = m.add_rigid_bodies("bodies", &poses).unwrap();
    let rod = |mass: f64, length: f64| {
        let about = mass * length * length / 12.0;
        RigidMass::principal(mass, [0.01, about, about])
    };
    let masses = vec![rod(crank, r), rod(crank, r), rod(coupler, 1.0)];
    m.add_mass("m", bodies, Mass::Rigid(masses)).unwrap();
    let swing = [-rate * end[1], rate * end[0]];
    for k in 0..2 {
        m.set_body_velocity(bodies, k, [0.5 * swing[0], 0.5 * swing[1], 0.0], [0.0, 0.0, rate])
            .unwrap();
    }
    m.set_body_velocity(bodies, 2, [swing[0], swing[1], 0.0], [0.0; 3])
        .unwrap();
    let mut coordinates = Vec::new();
    for (k, x) in [0.0, 1.0].into_iter().enumerate() {
        let foot = Joint::hinge(Side::World, Side::Body(bodies, k)).at(Pose::at([x, 0.0, 0.0]));
        coordinates.push(m.add_joint(&format!("foot {k}"), &foot).unwrap().coordinates[0]);
        let top = Joint::hinge(Side::Body(bodies, k), Side::Body(bodies, 2));
        let top = top.at(Pose::at([x + end[0], end[1], 0.0]));
        m.add_joint(&format!("top {k}"), &top).unwrap();
    }
    let mut s = Simulation::new(m).unwrap();
    let found = s.coordinate_dynamics(&coordinates[..1], &[]).unwrap();
    let inertia = 2.0 * crank * r * r / 3.0 + coupler * r * r;
    let weight = (crank + coupler) * G * r * angle.cos();
    close(&found.mass_matrix().unwrap(), &[inertia], ROUNDING);
    // Centrifugal forces do no work, since the inertia does not change.
    close(&found.accelerations, &[-weight / inertia], ROUNDING);
    // Both cranks turn alike: the second is not a coordinate of its own.
    let both = s.coordinate_dynamics(&coordinates, &[]).unwrap();
    assert_eq!(both.mass_matrix(), Err(1));
    assert_eq!(both.forces_for(&[0.0, 0.0]), Err(1));
}

#[test]
fn steps_have_the_same_bits_whether_it_is_asked_or_not() {
    let run = |asks: bool, options: &Options| {
        let mut s = Simulation::with_options(plant(), options.clone()).unwrap();
        let named = ["shoulder.angle", "elbow.first_angle", "elbow.second_angle"];
        let coordinates = named.map(|name| s.model().node_named(name).unwrap());
        for _ in 0..10 {
            s.step(0.01).unwrap();
            if asks {
                s.coordinate_dynamics(&coordinates, &[]).unwrap();
                let n = s.model().dof_count();
                s.mobility(&[], 1, &vec![1.0; n]).unwrap();
            }
        }
        s.state().clone()
    };
    for options in [Options::default(), Options::theta()] {
        let (asked, not) = (run(true, &options), run(false, &options));
        assert_eq!(asked.positions, not.positions);
        assert_eq!(asked.velocities, not.velocities);
    }
}

#[test]
fn what_is_no_coordinate_is_refused() {
    let (mut s, rods, _) = double_pendulum([0.0, 0.0], [0.0, 0.0], |joint, _| joint);
    let error = s.coordinate_dynamics(&[rods], &[]).unwrap_err().to_string();
    assert!(
        error.contains("scalars of a node that is a coordinate is 12, but must be one"),
        "{error}"
    );
    let error = s.mobility(&[], 1, &[0.0; 3]).unwrap_err().to_string();
    assert!(error.contains("entries of a Jacobian is 3"), "{error}");
    let error = s.mobility(&[], 1, &[f64::NAN; 12]).unwrap_err().to_string();
    assert!(error.contains("must be finite"), "{error}");
    assert!(
        s.coordinate_dynamics(&[], &[])
            .unwrap()
            .mass_matrix()
            .unwrap()
            .is_empty()
    );
}
