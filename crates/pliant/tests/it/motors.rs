//! Motors, dry friction and limits on joints, and the wrenches that joints carry.

use crate::tools::{numbers, worst};
use pliant::dense::{Vec3, rotation};
use pliant::prelude::*;
use std::f64::consts::FRAC_PI_2;

const G: f64 = 9.81;

/// A homogeneous rod of 2 kg and 1 m, hinged at its end at the origin about z, at an angle to the
/// horizontal.
fn rod(angle: f64, gravity: f64, attach: impl Fn(Joint) -> Joint) -> (Model, NodeId, JointHandle) {
    let mut m = Model::new();
    m.set_gravity([0.0, -gravity, 0.0]).unwrap();
    let pose = Pose::turned(
        [0.5 * angle.cos(), 0.5 * angle.sin(), 0.0],
        [0.0, 0.0, 1.0],
        angle,
    );
    let rod = m.add_rigid_bodies("rod", &[pose]).unwrap();
    let mass = RigidMass::principal(2.0, [0.01, 2.0 / 12.0, 2.0 / 12.0]);
    m.add_mass("m", rod, Mass::Rigid(vec![mass])).unwrap();
    let joint = attach(Joint::hinge(Side::World, Side::Body(rod, 0)));
    let hinge = m.add_joint("hinge", &joint).unwrap();
    (m, rod, hinge)
}

/// Moment of inertia about the hinge.
const ABOUT_HINGE: f64 = 2.0 / 3.0;

/// A cart of 2 kg on a slider along z.
fn cart(gravity: f64, attach: impl Fn(Joint) -> Joint) -> (Model, NodeId, JointHandle) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -gravity]).unwrap();
    let cart = m.add_rigid_bodies("cart", &[Pose::default()]).unwrap();
    m.add_mass("m", cart, Mass::Rigid(vec![RigidMass::sphere(2.0, 0.3)]))
        .unwrap();
    let joint = attach(Joint::slider(Side::World, Side::Body(cart, 0)));
    let slider = m.add_joint("slider", &joint).unwrap();
    (m, cart, slider)
}

#[test]
fn dry_friction_sticks_below_its_bound() {
    // Gravity pulls with m g l/2 cos(angle) = 9.81 at the horizontal.
    let (m, rod, hinge) = rod(0.0, G, |j| j.with_friction(0, 9.82));
    let mut s = crate::tools::theta(m).unwrap();
    for _ in 0..200 {
        s.step(0.01).unwrap();
        assert!(s.velocities(rod).iter().all(|v| v.abs() < 1e-13));
    }
    assert!(s.positions(hinge.coordinates[0])[0].abs() < 1e-12);
    // It carries what gravity asks for.
    assert!((s.reaction(hinge.attached[0])[0] - 9.81).abs() < 1e-9);
    let (m, _, hinge) = self::rod(0.0, G, |j| j.with_friction(0, 9.80));
    let mut s = crate::tools::theta(m).unwrap();
    s.step(0.01).unwrap();
    // The first step from rest: I dw/h = -9.81 + 9.80, with the geometric stiffness of what holds
    // it.
    let slip = s.velocities(hinge.coordinates[0])[0] / 0.01;
    assert!((slip * ABOUT_HINGE + 0.01).abs() < 1e-4, "{slip}");
    assert!((s.reaction(hinge.attached[0])[0] - 9.80).abs() < 1e-12);
}

/// A pendulum with friction in its hinge comes to rest within the angles that friction holds,
/// exactly, and stays there.
#[test]
fn a_pendulum_with_dry_friction_stops() {
    let bound = 3.0;
    let (m, rod, hinge) = rod(0.3, G, |j| j.with_friction(0, bound));
    let mut s = crate::tools::theta(m).unwrap();
    let mut energy = f64::INFINITY;
    let mut stopped = None;
    for _ in 0..2000 {
        let report = s.step(0.005).unwrap();
        // Friction takes energy, and implicit Euler does too.
        assert!(report.energies.total() < energy + 1e-9, "{}", s.time());
        energy = report.energies.total();
        let angle = s.positions(hinge.coordinates[0])[0];
        let still = s.velocities(rod).iter().all(|v| v.abs() < 1e-12);
        // Not at a turning point: where friction holds.
        let torque = G * (0.3 + angle).cos();
        if still && torque.abs() <= bound {
            let first = *stopped.get_or_insert(angle);
            assert!((angle - first).abs() < 1e-11);
            assert!((s.reaction(hinge.attached[0])[0] - torque).abs() < 1e-6);
        } else {
            assert!(stopped.is_none(), "it moved again at {}", s.time());
        }
    }
    assert!(stopped.is_some());
}

/// Without gravity friction decelerates evenly: `I w' = -F`, down to zero and no further.
#[test]
fn friction_decelerates_evenly() {
    let (mut m, cart, slider) = cart(0.0, |j| j.with_friction(0, 3.0));
    m.set_body_velocity(cart, 0, [0.0, 0.0, 1.0], [0.0; 3]).unwrap();
    let mut s = crate::tools::theta(m).unwrap();
    for k in 1..=100 {
        s.step(0.01).unwrap();
        let expected = (1.0 - 1.5 * 0.01 * f64::from(k)).max(0.0);
        let v = s.velocities(slider.coordinates[0])[0];
        assert!((v - expected).abs() < 1e-13, "{v} {expected}");
    }
}

#[test]
fn a_velocity_motor_saturates() {
    let (m, _, slider) = cart(0.0, |j| {
        j.with_velocity_motor(0, PrescribedMotion::ramp(0.0, 0.8), 4.0)
    });
    let mut s = crate::tools::theta(m).unwrap();
    for k in 1..=100 {
        let report = s.step(0.01).unwrap();
        // F/m = 2 until it has the speed.
        let expected = (2.0 * 0.01 * f64::from(k)).min(0.8);
        let v = s.velocities(slider.coordinates[0])[0];
        assert!((v - expected).abs() < 1e-13, "{v} {expected}");
        let force = s.reaction(slider.attached[0])[0];
        let asked = if k <= 40 { 4.0 } else { 0.0 };
        assert!((force - asked).abs() < 1e-10, "{k}: {force}");
        let at_bound = usize::from(k < 40);
        assert!(k == 40 || report.bounds.rows_at_bounds == at_bound, "{k}");
    }
}

/// A position motor lifts what it can lift; what it cannot falls at `(m g - F)/m`.
#[test]
fn a_position_motor_has_a_largest_force() {
    for compliance in [0.0, 1e-4] {
        let motion = || PrescribedMotion::function(|t| t * t * 0.5);
        // m (g + 1) = 21.62 is enough.
        let (m, _, slider) = cart(G, |j| j.with_position_motor(0, motion(), compliance, 0.0, 25.0));
        let mut s = crate::tools::theta(m).unwrap();
        for _ in 0..100 {
            s.step(0.01).unwrap();
        }
        let x = s.positions(slider.coordinates[0])[0];
        let sag = compliance * 2.0 * (G + 1.0);
        assert!(
            (x - (0.5 * s.time().powi(2) - sag)).abs() < 2e-3 * f64::from(u8::from(compliance > 0.0)) + 1e-12
        );
        let (m, _, slider) = cart(G, |j| j.with_position_motor(0, motion(), compliance, 0.0, 15.0));
        let mut s = crate::tools::theta(m).unwrap();
        let fall = (2.0 * G - 15.0) / 2.0;
        for k in 1..=100 {
            s.step(0.01).unwrap();
            // The compliance gives way before it reaches its bound: a step or two.
            let v = s.velocities(slider.coordinates[0])[0];
            let slack = if compliance > 0.0 { 0.1 } else { 1e-11 };
            assert!((v + fall * 0.01 * f64::from(k)).abs() < slack, "{v}");
            if k > 10 {
                assert!((s.reaction(slider.attached[0])[0] - 15.0).abs() < 1e-10);
            }
        }
    }
}

/// The geometric stiffness is made of the force that the motor has.
#[test]
fn a_saturated_soft_motor_stiffens_by_no_more_than_its_force() {
    let (m, _, hinge) = rod(0.0, G, |j| {
        j.with_position_motor(0, PrescribedMotion::constant(&[1.0]), 1e-3, 0.0, 2.0)
    });
    let mut s = crate::tools::theta(m).unwrap();
    let row = {
        let groups = s.problem().row_groups();
        groups
            .iter()
            .find(|g| g.component == hinge.attached[0])
            .unwrap()
            .first_row
    };
    for _ in 0..50 {
        s.step(0.01).unwrap();
        assert!((s.multipliers()[row] - 2.0).abs() < 1e-12);
        let lagged = s.checkpoint().lagged[row];
        assert!((lagged - 2.0).abs() < 1e-12, "{lagged}");
    }
}

#[test]
fn a_falling_hinge_stops_at_its_limit() {
    let limit = -0.7;
    let (m, rod, hinge) = rod(0.0, G, |j| j.with_limits(0, limit, 1.0));
    let mut s = crate::tools::theta(m).unwrap();
    let mut energy = f64::INFINITY;
    for _ in 0..200 {
        let report = s.step(0.005).unwrap();
        assert!(report.energies.total() < energy + 1e-9);
        energy = report.energies.total();
        assert!(s.positions(hinge.coordinates[0])[0] > limit - 1e-10);
    }
    assert!((s.positions(hinge.coordinates[0])[0] - limit).abs() < 1e-10);
    assert!(s.velocities(rod).iter().all(|v| v.abs() < 1e-10));
    let torque = G * limit.cos();
    assert!((s.reaction(hinge.attached[0])[0] - torque).abs() < 1e-7 * torque);
    assert_eq!(s.reaction(hinge.attached[1])[0], 0.0);
}

/// Friction in every hinge of a chain thrown about: no step creates energy.
#[test]
fn friction_never_creates_energy() {
    for seed in 1..6 {
        let random = numbers(seed, 40);
        let mut m = Model::new();
        let poses: Vec<_> = (0..4).map(|k| Pose::at([0.5 + f64::from(k), 0.0, 0.0])).collect();
        let bars = m.add_rigid_bodies("bars", &poses).unwrap();
        m.add_mass(
            "m",
            bars,
            Mass::Rigid(vec![RigidMass::cuboid(1.0, [1.0, 0.1, 0.2])]),
        )
        .unwrap();
        let mut handles = Vec::new();
        // Thrown at random: the first step makes velocities that the hinges allow.
        let spin = Vec3::new(3.0 * random[0], 3.0 * random[1], 3.0 * random[2]);
        for k in 0..4 {
            let v = spin.cross(&Vec3::new(0.5 + k as f64, 0.0, 0.0));
            let own = Vec3::new(random[24 + 3 * k], random[25 + 3 * k], random[26 + 3 * k]);
            m.set_body_velocity(bars, k, v.into(), (spin + 4.0 * own).into())
                .unwrap();
        }
        for k in 0..4 {
            let a = if k == 0 {
                Side::World
            } else {
                Side::Body(bars, k - 1)
            };
            let axis = [random[3 + 3 * k], random[4 + 3 * k], random[5 + 3 * k]];
            let at = Pose::turned([k as f64, 0.0, 0.0], axis, FRAC_PI_2);
            let joint = Joint::new(
                if k == 0 { JointKind::Ball } else { JointKind::Hinge },
                a,
                Side::Body(bars, k),
            );
            let joint = if k == 0 {
                joint
            } else {
                joint.with_friction(0, 0.3 + 0.3 * random[20 + k].abs())
            };
            handles.push(m.add_joint(&format!("joint {k}"), &joint.at(at)).unwrap());
        }
        let mut s = crate::tools::theta(m).unwrap();
        let start = s.step(0.005).unwrap().energies.total();
        let mut energy = start;
        for _ in 0..400 {
            let now = s.step(0.005).unwrap().energies.total();
            for handle in &handles[1..] {
                // The force that acted over the step against the velocity that it led to, on the
                // linearised coordinate.
                let force = s.reaction(handle.attached[0])[0];
                let rate = s.velocities(handle.coordinates[0])[0];
                assert!(force * rate < 1e-2, "{force} {rate}");
            }
            assert!(
                now < energy + 1e-9 * start,
                "{seed} t = {}: {energy} to {now}",
                s.time()
            );
            energy = now;
        }
        assert!(energy < 0.97 * start);
    }
}

/// A beam built into a wall by a fixed joint, and one held by a hinge with a locked motor: all axes
/// on both sides.
#[test]
fn wrenches_are_those_of_statics() {
    for hinged in [false, true] {
        for two_bodies in [false, true] {
            let mut m = Model::new();
            m.set_gravity([0.4, -G, 0.2]).unwrap();
            let wall = m
                .add_rigid_bodies("wall", &[Pose::turned([-1.0, 0.3, 0.0], [1.0, 1.0, 0.0], 0.9)])
                .unwrap();
            m.add_mass("wall mass", wall, Mass::Rigid(vec![RigidMass::sphere(1.0, 0.2)]))
                .unwrap();
            m.fix(wall, 0, &[true; 6]).unwrap();
            let body_pose = Pose::turned([0.7, 0.2, -0.3], [0.0, 1.0, 2.0], 0.6);
            let beam = m.add_rigid_bodies("beam", &[body_pose]).unwrap();
            m.add_mass(
                "m",
                beam,
                Mass::Rigid(vec![RigidMass::cuboid(3.0, [1.0, 0.3, 0.2])]),
            )
            .unwrap();
            let at = Pose::turned([0.1, -0.1, 0.2], [2.0, -1.0, 0.5], 1.1);
            let a = if two_bodies {
                Side::Body(wall, 0)
            } else {
                Side::World
            };
            let joint = if hinged {
                Joint::hinge(a, Side::Body(beam, 0)).with_position_motor(
                    0,
                    PrescribedMotion::constant(&[0.0]),
                    0.0,
                    0.0,
                    f64::INFINITY,
                )
            } else {
                Joint::fixed(a, Side::Body(beam, 0))
            };
            let joint = m.add_joint("joint", &joint.at(at)).unwrap();
            let mut s = crate::tools::theta(m).unwrap();
            let extra = [1.0, -2.0, 0.5, 0.3, 0.1, -0.2];
            s.set_force(beam, 0, &extra).unwrap();
            for _ in 0..3 {
                s.step(0.001).unwrap();
            }
            // World axes: the joint holds weight and force; torques about the joint's origin.
            let q = body_pose.rotation;
            let load = 3.0 * Vec3::new(0.4, -G, 0.2) + Vec3::new(1.0, -2.0, 0.5);
            let arm = Vec3::from(body_pose.position) - Vec3::from(at.position);
            let moment = arm.cross(&load) + rotation::rotate(q, Vec3::new(0.3, 0.1, -0.2));
            let wall_q = if two_bodies {
                s.pose(wall, 0).unwrap().rotation
            } else {
                rotation::IDENTITY
            };
            for (axes, turn) in [
                (Axes::World, rotation::IDENTITY),
                (Axes::BodyA, wall_q),
                (Axes::BodyB, q),
                (Axes::FrameA, at.rotation),
                (Axes::FrameB, at.rotation),
            ] {
                for (on, sign) in [(On::B, -1.0), (On::A, 1.0)] {
                    let found = s.joint_wrench(&joint, on, axes);
                    let into = |v: Vec3| -> [f64; 3] {
                        rotation::rotate(rotation::conjugate(turn), sign * v).into()
                    };
                    // Roundings of the coordinates over h^2 on hard rows.
                    assert!(
                        worst(&into(load), &found.force) < 1e-7,
                        "{axes:?} {on:?}: {found:?}"
                    );
                    assert!(
                        worst(&into(moment), &found.torque) < 1e-7,
                        "{axes:?} {on:?}: {found:?}"
                    );
                }
            }
            // Without the motor a hinge carries no torque about its axis.
            if hinged {
                let rows = [joint.rows.unwrap()];
                let found = s.wrench_of(&joint, &rows, On::B, Axes::FrameB);
                assert!(found.torque[2].abs() < 1e-7);
            }
        }
    }
}
