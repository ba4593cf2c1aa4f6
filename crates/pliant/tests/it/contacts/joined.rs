//! Colliders of bodies that joints, motors and fixed coordinates hold.

use crate::worlds::{ground, rough};
use pliant::collision::*;
use pliant::prelude::*;

/// Boxes of 1 kg and 1 m on the ground, in these places, held by joints that are made of their
/// node.
fn boxes(places: &[[f64; 3]], joints: impl FnOnce(NodeId) -> Vec<Joint>) -> (Simulation, NodeId) {
    boxes_by(Integrator::default(), places, joints)
}

/// Boxes of [`boxes`] in a simulation by another method.
fn boxes_by(
    integrator: Integrator,
    places: &[[f64; 3]],
    joints: impl FnOnce(NodeId) -> Vec<Joint>,
) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let poses: Vec<Pose> = places.iter().map(|place| Pose::at(*place)).collect();
    let node = m.add_rigid_bodies("boxes", &poses).unwrap();
    let mass = RigidMass::cuboid(1.0, [1.0; 3]);
    m.add_mass("mass", node, Mass::Rigid(vec![mass; places.len()]))
        .unwrap();
    for (k, joint) in joints(node).iter().enumerate() {
        m.add_joint(&format!("joint {k}"), joint).unwrap();
    }
    let mut world = World::new();
    let material = world.add_material(rough(0.5)).unwrap();
    ground(&mut world, material);
    for element in 0..places.len() {
        let place = Placement::Body {
            node,
            element,
            pose: Pose::default(),
        };
        let collider = Collider::new(&format!("box {element}"), Shape::cuboid([0.5; 3]).unwrap(), place);
        world.add(collider.with_material(material)).unwrap();
    }
    let options = Options {
        integrator,
        ..Options::default()
    };
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(world).unwrap();
    (s, node)
}

/// Two boxes that overlap by 10 cm on a hinge between them fall beside each other, and only where
/// they are asked to do their colliders meet.
#[test]
fn bodies_of_a_joint_meet_where_asked() {
    let places = [[0.0, 0.0, 1.0], [0.9, 0.0, 1.0]];
    for collides in [false, true] {
        let (mut s, _) = boxes(&places, |node| {
            let hinge = Joint::hinge(Side::Body(node, 0), Side::Body(node, 1)).at(Pose::at([0.45, 0.0, 1.0]));
            vec![if collides { hinge.colliding() } else { hinge }]
        });
        let report = s.step(0.01).unwrap();
        assert_eq!(report.contacts.count > 0, collides, "{report:?}");
        assert_eq!(report.contacts.overlap > 0.05, collides, "{report:?}");
    }
}

/// A box that is welded to the world, 1.5 cm deep in the ground, stands there: nothing that
/// contacts could do would move it, and steps in halves ended in an error. With a hinge to the
/// world it falls on the ground.
#[test]
fn what_is_welded_to_the_world_does_not_meet_the_ground() {
    let place = [0.3, 0.2, 0.485];
    let (mut s, node) = boxes(&[place], |node| {
        vec![Joint::fixed(Side::World, Side::Body(node, 0))]
    });
    for h in [1.0 / 60.0, 1.0 / 240.0, 1e-5] {
        let report = s.step(h).unwrap();
        assert_eq!(report.contacts.count, 0);
        let x = &s.positions(node)[..3];
        assert!(x.iter().zip(&place).all(|(a, b)| (a - b).abs() < 1e-14), "{x:?}");
    }
    let at = Pose::turned([-1.0, 0.2, 0.6], [1.0, 0.0, 0.0], std::f64::consts::FRAC_PI_2);
    let (mut s, _) = boxes(&[[0.3, 0.2, 0.6]], |node| {
        vec![Joint::hinge(Side::World, Side::Body(node, 0)).at(at)]
    });
    let active: usize = (0..60).map(|_| s.step(1.0 / 60.0).unwrap().contacts.active).sum();
    assert!(active > 0);
}

/// A box that is bolted to the world at three points, below the ground, at it or above, stands
/// there as one that is welded does, and another one falls on it and stays. It is of no consequence
/// for the contact with that box, which moves; once a bolt may slip, the ground counts again.
#[test]
fn what_is_bolted_to_the_world_does_not_meet_the_ground() {
    for z in [0.49, 0.5, 0.5001] {
        let places = [[0.0, 0.0, z], [0.1, 0.0, z + 1.2]];
        let bolts = [[0.3, 0.0, 0.1], [-0.3, 0.1, 0.1], [0.0, -0.4, 0.2]];
        let (mut s, node) = boxes(&places, |node| {
            let bolt = |at| Joint::ball(Side::World, Side::Body(node, 0)).at(Pose::at(at));
            bolts.map(bolt).to_vec()
        });
        let mut touched = 0;
        for _ in 0..100 {
            let report = s.step(0.01).unwrap();
            touched = touched.max(report.contacts.active);
            assert!(report.contacts.count <= 4, "{report:?}");
        }
        assert_eq!(touched, 4);
        let x = s.positions(node);
        // Bolts hold to rounding, the contact of the other box to 1e-8 of velocities of 0.1 m/s.
        assert!((x[2] - z).abs() < 1e-13 && (x[9] - z - 1.0).abs() < 1e-9, "{x:?}");
        let bolt = s.model().component_named("joint 0.force").unwrap();
        s.set_bounds(bolt, -1e6, 1e6).unwrap();
        s.step(0.01).unwrap();
        assert_eq!(s.step(1e-3).unwrap().contacts.count, 8, "{z}");
    }
}

/// Boxes that are fixed to each other and at last to the world do not meet the ground either, also
/// not the one at the end; where the first joint may slip, all of them do.
#[test]
fn what_is_held_by_what_is_held_does_not_meet_the_ground() {
    let places = [[0.0, 0.0, 1.5], [0.0, 0.0, 0.4999], [3.0, 0.0, 0.4999]];
    let (mut s, _) = boxes(&places, |node| {
        let side = |k| Side::Body(node, k);
        vec![
            Joint::fixed(side(1), side(2)),
            Joint::fixed(Side::World, side(0)),
            Joint::fixed(side(0), side(1)),
        ]
    });
    for _ in 0..10 {
        assert_eq!(s.step(0.01).unwrap().contacts.count, 0);
    }
    let weld = s.model().component_named("joint 1.force").unwrap();
    s.set_bounds(weld, -1e6, 1e6).unwrap();
    s.step(0.01).unwrap();
    assert_eq!(s.step(1e-3).unwrap().contacts.count, 8);
}

/// A box that a motor without a bound drives into the ground: the contact and the motor are named,
/// and the failed step changes nothing. With a bound of 25 N it presses with its weight and that.
#[test]
fn a_motor_without_a_bound_drives_no_box_through_the_ground() {
    for integrator in [Integrator::Sdirk2, Integrator::Theta] {
        for force in [f64::INFINITY, 25.0] {
            let motor = |node| {
                let slider = Joint::slider(Side::World, Side::Body(node, 0)).at(Pose::at([0.0, 0.0, 1.0]));
                let down = PrescribedMotion::ramp(0.0, -2.0);
                vec![slider.with_position_motor(0, down, 0.0, 0.0, force)]
            };
            let (mut s, node) = boxes_by(integrator.clone(), &[[0.0, 0.0, 1.0]], motor);
            let mut before = s.checkpoint();
            let stopped = (0..100).find_map(|_| {
                before = s.checkpoint();
                s.step(0.01).err()
            });
            if force.is_finite() {
                assert!(stopped.is_none(), "{integrator:?}: {stopped:?}");
                let ([x, y, z], _) = s.contact_force(node, 0);
                // Contacts are solved to 1e-8 of the velocity that 35 N give to 1 kg in 10 ms.
                assert!(x.abs() < 1e-7 && y.abs() < 1e-7, "{x} {y}");
                assert!((z - 25.0 - 9.81).abs() < 1e-6, "{integrator:?}: {z}");
                continue;
            }
            let Some(
                ref error @ Error::DrivenContact {
                    ref contact,
                    ref rows,
                    time,
                    speed,
                },
            ) = stopped
            else {
                panic!("{integrator:?}: {stopped:?}");
            };
            assert!(
                contact.contains("`box 0`") && contact.contains("`ground`"),
                "{contact}"
            );
            assert!(rows.starts_with("`joint 0.motor 0`"), "{rows}");
            // It falls from 0.5 m at 2 m/s.
            assert!(
                (time - 0.25).abs() <= 0.01 + 1e-12 && (speed - 2.0).abs() < 1e-6,
                "{error}"
            );
            assert!(error.to_string().contains("bound the force"), "{error}");
            assert_eq!(s.checkpoint(), before);
        }
    }
}

/// A box that is held at a velocity in all of its coordinates goes through the ground, as it is
/// held, and carries another one on its way there.
#[test]
fn what_is_held_at_a_velocity_does_not_meet_the_ground() {
    let (mut s, node) = boxes(&[[0.0, 0.0, 0.7], [0.0, 0.0, 1.7]], |_| Vec::new());
    s.hold(node, 0, &[true; 6], &[0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
        .unwrap();
    for _ in 0..50 {
        let report = s.step(0.01).unwrap();
        assert!(report.contacts.count <= 4, "{report:?}");
    }
    let x = s.positions(node);
    // The velocity of the hold is reached within the first step, which goes less far by up to h v.
    assert!(
        (x[2] - 0.2).abs() < 0.01 && (x[9] - x[2] - 1.0).abs() < 0.01,
        "{x:?}"
    );
    let (force, _) = s.contact_force(node, 1);
    assert!((force[2] - 9.81).abs() < 1e-6, "{force:?}");
    // Free again, what was below the ground comes out of it.
    s.release(node, 0, &[true; 6]).unwrap();
    let most = (0..50).map(|_| s.step(0.01).unwrap().contacts.count).max();
    assert_eq!(most, Some(8));
}
