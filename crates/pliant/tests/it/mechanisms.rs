//! Coordinates of joints that are set: positions and velocities of bodies against closed forms and
//! against products of rotations, loops, Jacobians against differences.

use crate::four_bars::row_of_loops;
use pliant::Mechanism;
use pliant::prelude::*;

/// Joints are at their coordinates to 1e-13, and lengths are of order 1.
const ROUNDING: f64 = 1e-12;

/// Products `a b` of 3 x 3 matrices, rows first.
fn product(a: [[f64; 3]; 3], b: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|k| (0..3).map(|j| a[i][j] * b[j][k]).sum()))
}

fn times(a: [[f64; 3]; 3], x: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|j| a[i][j] * x[j]).sum())
}

/// A turn about an axis of the frame.
fn turn(axis: usize, angle: f64) -> [[f64; 3]; 3] {
    let (s, c) = angle.sin_cos();
    match axis {
        0 => [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]],
        1 => [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]],
        _ => [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]],
    }
}

/// The rotation that takes z to an axis of the frame, for the pose of a hinge.
fn towards(axis: usize) -> Pose {
    use std::f64::consts::FRAC_PI_2;
    match axis {
        0 => Pose::turned([0.0; 3], [0.0, 1.0, 0.0], FRAC_PI_2),
        1 => Pose::turned([0.0; 3], [1.0, 0.0, 0.0], -FRAC_PI_2),
        _ => Pose::default(),
    }
}

/// An arm of links of 1 m along x, each with its centre in the middle, on hinges about these axes;
/// on the world, or on a base that hangs on nothing.
fn arm(axes: &[usize], floats: bool) -> (Simulation, NodeId, Vec<JointHandle>) {
    let mut model = Model::new();
    let poses: Vec<Pose> = (0..=axes.len())
        .map(|k| Pose::at([k as f64 - 0.5, 0.0, 0.0]))
        .collect();
    let links = model.add_rigid_bodies("links", &poses).unwrap();
    let mass = RigidMass::cuboid(1.0, [1.0, 0.2, 0.1]);
    model
        .add_mass("mass", links, Mass::Rigid(vec![mass; poses.len()]))
        .unwrap();
    let mut joints = Vec::new();
    if !floats {
        let held = Joint::fixed(Side::World, Side::Body(links, 0));
        joints.push(model.add_joint("foot", &held).unwrap());
    }
    for (k, axis) in axes.iter().enumerate() {
        let at = Pose {
            position: [k as f64, 0.0, 0.0],
            ..towards(*axis)
        };
        let hinge = Joint::hinge(Side::Body(links, k), Side::Body(links, k + 1)).at(at);
        joints.push(model.add_joint(&format!("joint {k}"), &hinge).unwrap());
    }
    (Simulation::new(model).unwrap(), links, joints)
}

/// Place and rotation of a link of the arm by products of rotations.
fn link(axes: &[usize], angles: &[f64], link: usize) -> ([f64; 3], [[f64; 3]; 3]) {
    let (mut at, mut rotation) = ([0.0; 3], turn(0, 0.0));
    for k in 0..link {
        rotation = product(rotation, turn(axes[k], angles[k]));
        let way = times(rotation, [if k + 1 == link { 0.5 } else { 1.0 }, 0.0, 0.0]);
        at = std::array::from_fn(|i| at[i] + way[i]);
    }
    (at, rotation)
}

#[test]
fn an_arm_is_where_products_of_rotations_have_it() {
    let axes = [2, 1, 0, 1, 2, 0];
    let (mut s, links, joints) = arm(&axes, false);
    let mechanism = Mechanism::new(&s, &joints);
    assert_eq!(mechanism.coordinates().len(), 6);
    // More than a turn, too: angles count turns.
    for angles in [
        [0.3, -1.2, 2.0, 0.7, -3.0, 0.1],
        [-7.0, 0.4, 9.0, -0.3, 0.2, 4.0],
        [0.0; 6],
    ] {
        mechanism.set_positions(&mut s, &angles).unwrap();
        for (q, angle) in mechanism.positions(&s).iter().zip(angles) {
            assert!((q - angle).abs() < 1e-12 * (1.0 + angle.abs()), "{q} {angle}");
        }
        for k in 1..=6 {
            let (at, rotation) = link(&axes, &angles, k);
            let pose = s.pose(links, k).unwrap();
            for (x, y) in pose.position.iter().zip(at) {
                assert!((x - y).abs() < 6.0 * ROUNDING, "link {k}: {x} {y}");
            }
            let found = pliant::dense::rotation::matrix(pose.rotation);
            for i in 0..3 {
                for j in 0..3 {
                    assert!((found[(i, j)] - rotation[i][j]).abs() < 6.0 * ROUNDING);
                }
            }
        }
        // The foot has not moved to the bit.
        assert_eq!(s.pose(links, 0).unwrap(), Pose::at([-0.5, 0.0, 0.0]));
    }
}

#[test]
fn velocities_and_jacobians_are_differences_of_positions() {
    let axes = [2, 1, 0, 1];
    let angles = [0.3, -0.8, 0.5, 1.1];
    let rates = [0.7, -0.4, 1.3, 0.2];
    for floats in [false, true] {
        let (mut s, links, joints) = arm(&axes, floats);
        let mechanism = Mechanism::new(&s, &joints);
        mechanism.set_positions(&mut s, &angles).unwrap();
        mechanism.set_velocities(&mut s, &rates).unwrap();
        for (x, y) in mechanism.velocities(&s).iter().zip(rates) {
            assert!((x - y).abs() < ROUNDING);
        }
        let (velocity, angular) = s.world_velocity(links, 4).unwrap();
        let jacobian = mechanism
            .jacobian(&mut s, mechanism.coordinates(), (links, 4), [0.0; 3])
            .unwrap();
        for (row, wanted) in jacobian.iter().zip(velocity.iter().chain(&angular)) {
            let sum: f64 = row.iter().zip(rates).map(|(j, r)| j * r).sum();
            assert!((sum - wanted).abs() < 10.0 * ROUNDING, "{sum} {wanted}");
        }
        // Central differences of the end of the last link: h^2 and rounding over h.
        let h = 1e-5;
        let end = [0.5, 0.1, -0.2];
        let jacobian = mechanism
            .jacobian(&mut s, mechanism.coordinates(), (links, 4), end)
            .unwrap();
        for column in 0..4 {
            let at = |d: f64, s: &mut Simulation| {
                let mut q = angles;
                q[column] += d;
                mechanism.set_positions(s, &q).unwrap();
                let pose = s.pose(links, 4).unwrap();
                let arm = pliant::dense::rotation::rotate(pose.rotation, end.into());
                [0, 1, 2].map(|i| pose.position[i] + arm[i])
            };
            let (up, down) = (at(h, &mut s), at(-h, &mut s));
            for i in 0..3 {
                let slope = (up[i] - down[i]) / (2.0 * h);
                assert!(
                    (slope - jacobian[i][column]).abs() < 1e-9,
                    "{slope} {}",
                    jacobian[i][column]
                );
            }
        }
        // A base that hangs on nothing stays where it is.
        assert_eq!(s.pose(links, 0).unwrap(), Pose::at([-0.5, 0.0, 0.0]));
    }
}

#[test]
fn velocities_stay_with_the_coordinates_that_are_moved() {
    let (mut s, links, joints) = arm(&[2, 1], false);
    let mechanism = Mechanism::new(&s, &joints);
    mechanism.set_velocities(&mut s, &[1.0, -2.0]).unwrap();
    mechanism.set_positions(&mut s, &[0.4, 0.9]).unwrap();
    for (x, y) in mechanism.velocities(&s).iter().zip([1.0, -2.0]) {
        assert!((x - y).abs() < ROUNDING);
    }
    // Only one of them, by its node: the other stays.
    let elbow = mechanism.coordinates()[1];
    mechanism.set_some_positions(&mut s, &[(elbow, -0.2)]).unwrap();
    mechanism.set_some_velocities(&mut s, &[(elbow, 3.0)]).unwrap();
    for (x, y) in mechanism.positions(&s).iter().zip([0.4, -0.2]) {
        assert!((x - y).abs() < ROUNDING);
    }
    for (x, y) in mechanism.velocities(&s).iter().zip([1.0, 3.0]) {
        assert!((x - y).abs() < ROUNDING);
    }
    // The rows agree: a step does not jump.
    let before = s.world_velocity(links, 2).unwrap().0;
    let report = s.step(1e-6).unwrap();
    assert!(report.violation < 1e-11);
    let after = s.world_velocity(links, 2).unwrap().0;
    for (a, b) in before.iter().zip(after) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
}

#[test]
fn joints_of_every_kind_take_their_coordinates() {
    type Make = fn(Side, Side) -> Joint;
    let kinds: [(&str, Make, &[f64]); 8] = [
        ("hinge", Joint::hinge, &[2.5]),
        ("slider", Joint::slider, &[-3.0]),
        ("cylindrical", Joint::cylindrical, &[0.7, 4.0]),
        ("universal", Joint::universal, &[0.9, -0.6]),
        ("planar", Joint::planar, &[0.4, -1.2, 2.2]),
        (
            "gimbal",
            |a, b| Joint::new(JointKind::GimbalXyz, a, b),
            &[0.5, -0.7, 1.9],
        ),
        (
            "free",
            |a, b| Joint::new(JointKind::Free, a, b),
            &[1.0, 2.0, 3.0, 0.4, -0.3, 0.8],
        ),
        (
            "ball",
            |a, b| Joint::ball(a, b).with_coordinates(),
            &[0.4, -1.1, 0.6],
        ),
    ];
    for (name, make, values) in kinds {
        for back in [false, true] {
            let mut model = Model::new();
            let pair = model
                .add_rigid_bodies("pair", &[Pose::default(), Pose::at([1.0, 0.3, 0.0])])
                .unwrap();
            let mass = RigidMass::cuboid(1.0, [0.3, 0.2, 0.1]);
            model.add_mass("mass", pair, Mass::Rigid(vec![mass; 2])).unwrap();
            let joint = match back {
                false => make(Side::Body(pair, 0), Side::Body(pair, 1)),
                // The body of the first side hangs on the world's.
                true => make(Side::Body(pair, 1), Side::World),
            };
            let at = Pose::turned([0.4, 0.1, 0.2], [0.3, 0.5, -0.2], 0.8);
            let handle = model.add_joint("joint", &joint.at(at)).unwrap();
            let mut s = Simulation::new(model).unwrap();
            let mechanism = Mechanism::new(&s, std::slice::from_ref(&handle));
            let count = mechanism.coordinates().len();
            assert_eq!(count, values.len(), "{name}");
            mechanism.set_positions(&mut s, values).unwrap();
            for (x, y) in mechanism.positions(&s).iter().zip(values) {
                assert!((x - y).abs() < 4.0 * ROUNDING, "{name}: {x} {y}");
            }
            // What is held is held.
            if let Some(held) = handle.held {
                assert!(s.positions(held).iter().all(|x| x.abs() < ROUNDING), "{name}");
            }
            assert_eq!(s.pose(pair, 0).unwrap(), Pose::default(), "{name}");
            let rates: Vec<f64> = (0..count).map(|k| 0.3 + 0.2 * k as f64).collect();
            mechanism.set_velocities(&mut s, &rates).unwrap();
            for (x, y) in mechanism.velocities(&s).iter().zip(&rates) {
                assert!((x - y).abs() < 4.0 * ROUNDING, "{name}: {x} {y}");
            }
            if let Some(held) = handle.held {
                assert!(s.velocities(held).iter().all(|x| x.abs() < ROUNDING), "{name}");
            }
        }
    }
}

/// A four-bar of unequal lengths: crank 0.5, coupler 1.3, rocker 1, feet 1.2 apart. Closed form of the
/// rocker: the circles about the end of the crank and the second foot meet.
#[test]
fn a_loop_follows_its_crank() {
    let (crank, coupler, rocker, base) = (0.5f64, 1.3f64, 1.0f64, 1.2f64);
    let ends = |angle: f64| {
        let a = [crank * angle.cos(), crank * angle.sin()];
        let d = [base - a[0], -a[1]];
        let distance = d[0].hypot(d[1]);
        let along = (coupler.powi(2) - rocker.powi(2) + distance.powi(2)) / (2.0 * distance);
        let across = (coupler.powi(2) - along.powi(2)).sqrt();
        let e = [d[0] / distance, d[1] / distance];
        // The upper of the two points.
        (
            a,
            [
                a[0] + along * e[0] - across * e[1],
                a[1] + along * e[1] + across * e[0],
            ],
        )
    };
    let mut model = Model::new();
    let (a, b) = ends(1.0);
    let middle = |p: [f64; 2], q: [f64; 2]| {
        let angle = (q[1] - p[1]).atan2(q[0] - p[0]);
        let at = [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0.0];
        Pose::turned(at, [0.0, 0.0, 1.0], angle)
    };
    let poses = [middle([0.0; 2], a), middle(a, b), middle([base, 0.0], b)];
    let bars = model.add_rigid_bodies("bars", &poses).unwrap();
    let mass = |l: f64| RigidMass::cuboid(l, [l, 0.05, 0.05]);
    let masses = vec![mass(crank), mass(coupler), mass(rocker)];
    model.add_mass("mass", bars, Mass::Rigid(masses)).unwrap();
    let at = |p: [f64; 2]| Pose::at([p[0], p[1], 0.0]);
    let joints = [
        Joint::hinge(Side::World, Side::Body(bars, 0)).at(at([0.0; 2])),
        Joint::hinge(Side::Body(bars, 0), Side::Body(bars, 1)).at(at(a)),
        Joint::hinge(Side::Body(bars, 1), Side::Body(bars, 2)).at(at(b)),
        Joint::hinge(Side::World, Side::Body(bars, 2)).at(at([base, 0.0])),
    ];
    let names = ["crank", "left", "right", "rocker"];
    let joints: Vec<JointHandle> = names
        .iter()
        .zip(&joints)
        .map(|(name, joint)| model.add_joint(name, joint).unwrap())
        .collect();
    let mut s = Simulation::new(model).unwrap();
    let mechanism = Mechanism::new(&s, &joints);
    let first = mechanism.coordinates()[0];
    for angle in [1.4, 2.5, 0.6] {
        // Coordinates count from where the joints were made.
        mechanism
            .set_some_positions(&mut s, &[(first, angle - 1.0)])
            .unwrap();
        let (a, b) = ends(angle);
        for (k, wanted) in [middle([0.0; 2], a), middle(a, b), middle([base, 0.0], b)]
            .iter()
            .enumerate()
        {
            let found = s.pose(bars, k).unwrap();
            for i in 0..3 {
                let miss = (found.position[i] - wanted.position[i]).abs();
                assert!(miss < 1e-9, "bar {k} at {angle}: {miss:e}");
            }
        }
    }
    // All four of a consistent position are taken, and the velocity of the crank turns the rocker by
    // the ratio of differences.
    let q = mechanism.positions(&s);
    mechanism.set_positions(&mut s, &q).unwrap();
    mechanism.set_some_velocities(&mut s, &[(first, 2.0)]).unwrap();
    let rocker_angle = |angle: f64| {
        let (_, b) = ends(angle);
        b[1].atan2(b[0] - base)
    };
    let h = 1e-5;
    let ratio = (rocker_angle(0.6 + h) - rocker_angle(0.6 - h)) / (2.0 * h);
    let rate = mechanism.velocities(&s)[3];
    assert!((rate - 2.0 * ratio).abs() < 1e-8, "{rate} {}", 2.0 * ratio);
    let by_crank = mechanism.jacobian(&mut s, &[first], (bars, 2), [0.0; 3]).unwrap();
    assert!((by_crank[5][0] - ratio).abs() < 1e-8);
    // What does not close is named, and nothing changes.
    let before = s.checkpoint();
    let mut torn = q.clone();
    torn[3] += 0.3;
    let error = mechanism.set_positions(&mut s, &torn).unwrap_err();
    assert!(
        matches!(&error, Error::Unreachable { what, .. } if what.contains(".angle")),
        "{error}"
    );
    let rates = [1.0; 4];
    let error = mechanism.set_velocities(&mut s, &rates).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(before == s.checkpoint());
}

#[test]
fn loops_with_redundant_rows_go_on() {
    let model = row_of_loops(3);
    let mut s = Simulation::new(model).unwrap();
    let model = s.model();
    let names = ["foot 0", "foot 1", "foot 2", "foot 3"];
    let handles: Vec<NodeId> = names
        .iter()
        .map(|name| model.node_named(&format!("{name}.angle")).unwrap())
        .collect();
    // Handles of joints are lost here; parallelograms turn as one, whichever is asked.
    let joints: Vec<JointHandle> = (0..4)
        .map(|k| JointHandle {
            rows: model.component_named(&format!("foot {k}.force")),
            held: model.node_named(&format!("foot {k}.held")),
            coordinates: vec![handles[k]],
            attached: Vec::new(),
            motors: Vec::new(),
            frames: [
                (None, Pose::at([k as f64, 0.0, 0.0])),
                (
                    Some((model.node_named("uprights").unwrap(), k)),
                    Pose::at([0.0, -0.5, 0.0]),
                ),
            ],
        })
        .collect();
    let mechanism = Mechanism::new(&s, &joints);
    mechanism
        .set_some_positions(&mut s, &[(handles[0], 0.8)])
        .unwrap();
    for node in handles {
        assert!((s.positions(node)[0] - 0.8).abs() < 1e-9);
    }
}

#[test]
fn points_and_balls_go_along() {
    let mut model = Model::new();
    let poses = [Pose::at([0.5, 0.0, 0.0]), Pose::at([1.5, 0.0, 0.0])];
    let links = model.add_rigid_bodies("links", &poses).unwrap();
    let mass = RigidMass::cuboid(1.0, [1.0, 0.1, 0.1]);
    model.add_mass("mass", links, Mass::Rigid(vec![mass; 2])).unwrap();
    let bead = model.add_particles("bead", &[[2.0, 0.5, 0.0]]).unwrap();
    model.add_mass("bead mass", bead, Mass::Uniform(0.1)).unwrap();
    let shoulder = model
        .add_joint("shoulder", &Joint::hinge(Side::World, Side::Body(links, 0)))
        .unwrap();
    let ball = Joint::ball(Side::Body(links, 0), Side::Body(links, 1)).at(Pose::at([1.0, 0.0, 0.0]));
    let ball = model.add_joint("ball", &ball).unwrap();
    // The bead is tied to the end of the second link.
    let end = model
        .add_mapped("end", &[links], RigidPoints::new(&[(1, [0.5, 0.5, 0.0])]))
        .unwrap();
    let tie = model
        .add_mapped(
            "tie",
            &[end, bead],
            Difference::new(&[(End::element(0, 0), End::element(1, 0))]),
        )
        .unwrap();
    model.add_constraint("tied", tie, Level::Position).unwrap();
    let mut s = Simulation::new(model).unwrap();
    let mechanism = Mechanism::new(&s, &[shoulder, ball]);
    mechanism
        .set_positions(&mut s, &[std::f64::consts::FRAC_PI_2])
        .unwrap();
    let at = s.pose(links, 1).unwrap();
    for (x, y) in at.position.iter().zip([0.0, 1.5, 0.0]) {
        assert!((x - y).abs() < ROUNDING);
    }
    for (x, y) in s.positions(bead).iter().zip([-0.5, 2.0, 0.0]) {
        assert!((x - y).abs() < ROUNDING);
    }
    mechanism.set_velocities(&mut s, &[2.0]).unwrap();
    for (x, y) in s.velocities(bead).iter().zip([-4.0, -1.0, 0.0]) {
        assert!((x - y).abs() < 10.0 * ROUNDING);
    }
}

/// A link hangs on another by a ball, which has no coordinates: it goes along as if it was welded to
/// it, with the velocity that it has against it, whichever side of the hinge the world is.
#[test]
fn a_hinge_carries_what_hangs_on_it_from_either_side() {
    for back in [false, true] {
        let mut model = Model::new();
        let poses = [Pose::at([0.5, 0.0, 0.0]), Pose::at([1.5, 0.0, 0.0])];
        let links = model.add_rigid_bodies("links", &poses).unwrap();
        let mass = RigidMass::cuboid(1.0, [1.0, 0.1, 0.1]);
        model.add_mass("mass", links, Mass::Rigid(vec![mass; 2])).unwrap();
        // The second link turns about the ball with 3 rad/s.
        model
            .set_body_velocity(links, 1, [0.0, 1.5, 0.0], [0.0, 0.0, 3.0])
            .unwrap();
        let shoulder = match back {
            false => Joint::hinge(Side::World, Side::Body(links, 0)),
            true => Joint::hinge(Side::Body(links, 0), Side::World),
        };
        let shoulder = model.add_joint("shoulder", &shoulder).unwrap();
        let ball = Joint::ball(Side::Body(links, 0), Side::Body(links, 1)).at(Pose::at([1.0, 0.0, 0.0]));
        let ball = model.add_joint("ball", &ball).unwrap();
        let mut s = Simulation::new(model).unwrap();
        let mechanism = Mechanism::new(&s, &[shoulder, ball]);
        let angle = 0.7f64;
        let value = if back { -angle } else { angle };
        mechanism.set_positions(&mut s, &[value]).unwrap();
        let wanted = Pose::turned(
            [1.5 * angle.cos(), 1.5 * angle.sin(), 0.0],
            [0.0, 0.0, 1.0],
            angle,
        );
        let found = s.pose(links, 1).unwrap();
        let numbers = |pose: &Pose| pose.position.into_iter().chain(pose.rotation);
        for (x, y) in numbers(&found).zip(numbers(&wanted)) {
            assert!((x - y).abs() < 10.0 * ROUNDING, "back {back}: {found:?}");
        }
        let (velocity, spin) = s.world_velocity(links, 1).unwrap();
        let along = [-1.5 * angle.sin(), 1.5 * angle.cos(), 0.0, 0.0, 0.0, 3.0];
        for (x, y) in velocity.iter().chain(&spin).zip(along) {
            assert!(
                (x - y).abs() < 10.0 * ROUNDING,
                "back {back}: {velocity:?} {spin:?}"
            );
        }
    }
}

#[test]
fn wrong_values_are_refused() {
    let (mut s, links, joints) = arm(&[2, 1], false);
    let mechanism = Mechanism::new(&s, &joints);
    let before = s.checkpoint();
    let own = mechanism.coordinates()[0];
    let texts = [
        mechanism.set_positions(&mut s, &[1.0]).unwrap_err().to_string(),
        mechanism
            .set_positions(&mut s, &[1.0, f64::NAN])
            .unwrap_err()
            .to_string(),
        mechanism
            .set_some_velocities(&mut s, &[(links, 1.0)])
            .unwrap_err()
            .to_string(),
        mechanism
            .jacobian(&mut s, &[own], (links, 7), [0.0; 3])
            .unwrap_err()
            .to_string(),
    ];
    let wanted = [
        "the number of values of joint coordinates is 1",
        "a joint coordinate is NaN",
        "the number of a node that is to be a joint coordinate",
        "the element of a Jacobian is 7",
    ];
    for (text, wanted) in texts.iter().zip(wanted) {
        assert!(text.contains(wanted), "{text}");
    }
    assert!(before == s.checkpoint());
}
