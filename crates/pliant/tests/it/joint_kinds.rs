//! Motions of joints against closed forms.

use pliant::dense::Vec3;
use pliant::prelude::*;

fn rod(model: &mut Model, pose: Pose, length: f64) -> NodeId {
    let body = model.add_rigid_bodies("rod", &[pose]).unwrap();
    let along = length * length / 12.0;
    let mass = RigidMass::principal(1.0, [1e-3, along, along]);
    model.add_mass("mass", body, Mass::Rigid(vec![mass])).unwrap();
    body
}

/// Archimedes' trammel: the ends of a rod slide in two slots that cross. Its middle goes round the
/// crossing at half its length, and it turns as fast the other way, so that it swings as a rod that
/// is hung up at its end.
#[test]
fn a_trammel_swings_as_a_rod_hung_up_at_its_end() {
    let (length, angle) = (0.8, 0.9f64);
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    // From the end in the level slot to that in the upright one.
    let ends = [
        [length * angle.sin(), 0.0, 0.0],
        [0.0, -length * angle.cos(), 0.0],
    ];
    let middle = [0, 1, 2].map(|k| 0.5 * (ends[0][k] + ends[1][k]));
    let turn = (ends[1][1] - ends[0][1]).atan2(ends[1][0] - ends[0][0]);
    let body = rod(&mut model, Pose::turned(middle, [0.0, 0.0, 1.0], turn), length);
    let level = Joint::slotted_hinge(Side::World, Side::Body(body, 0)).at(Pose::at(ends[0]));
    let level = model.add_joint("level", &level).unwrap();
    let upright = Pose::turned(ends[1], [0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2);
    let upright = Joint::slotted_hinge(Side::World, Side::Body(body, 0)).at(upright);
    let upright = model.add_joint("upright", &upright).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let mut passed = Vec::new();
    let (h, mut last) = (2e-3, 1.0);
    for step in 1..2000 {
        simulation.step(h).unwrap();
        let x = simulation.positions(body)[0];
        if last > 0.0 && x <= 0.0 || last < 0.0 && x >= 0.0 {
            passed.push((f64::from(step) - x / (x - last)) * h);
        }
        last = x;
        // Both pins stay in their slots: the travels are the legs of a triangle.
        let travel = |joint: &JointHandle| simulation.positions(joint.coordinates[0])[0];
        let (x, y) = (ends[0][0] + travel(&level), ends[1][1] + travel(&upright));
        assert!((x.hypot(y) - length).abs() < 1e-6);
    }
    // A pendulum of inertia m l^2/3 and weight at l/2, by the arithmetic-geometric mean.
    let frequency = (1.5 * 9.81 / length).sqrt();
    let (mut a, mut b) = (1.0, (0.5 * angle).cos());
    for _ in 0..8 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    let period = std::f64::consts::TAU / (frequency * a);
    let found = passed[2] - passed[0];
    println!("{found} {period}");
    // Second order: the square of a step over the time of a radian is 1e-4.
    assert!((found / period - 1.0).abs() < 1e-4, "{found} {period}");
}

/// A body that slides without turning falls along the plane as a point does, however it is pushed
/// off its centre.
#[test]
fn a_planar_translation_does_not_turn() {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let body = rod(&mut model, Pose::at([0.2, 0.1, 0.0]), 1.0);
    let slope = 0.5;
    let pose = Pose::turned([0.5, 0.0, 0.3], [1.0, 0.0, 0.0], slope);
    let joint = Joint::planar_translation(Side::World, Side::Body(body, 0)).at(pose);
    let joint = model.add_joint("joint", &joint).unwrap();
    let eye = RigidPoints::new(&[(0, [0.4, 0.0, 0.0])]);
    let eye = model.add_mapped("eye", &[body], eye).unwrap();
    let push = ConstantForce::new(&[2.0, 0.0, 0.0]);
    model
        .add_force_field("push", eye, push, Treatment::Stiffness)
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    for _ in 0..50 {
        simulation.step(0.01).unwrap();
    }
    let travel = |k: usize| simulation.positions(joint.coordinates[k])[0];
    // Constant forces are exact in a method of second order.
    assert!((travel(0) - 0.5 * 2.0 * 0.25).abs() < 1e-10, "{}", travel(0));
    let down = -0.5 * 9.81 * f64::sin(slope) * 0.25;
    assert!((travel(1) - down).abs() < 1e-10, "{} {down}", travel(1));
    assert!((simulation.positions(body)[3] - 1.0).abs() < 1e-12);
}

/// A body on a fixed axis: free flight of its centre of mass, energy, and the axes that stay
/// perpendicular while it tumbles.
#[test]
fn a_fixed_axis_moves_everywhere() {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let body = model.add_rigid_bodies("body", &[Pose::default()]).unwrap();
    let mass = RigidMass::principal(2.0, [0.02, 0.03, 0.04]);
    model.add_mass("mass", body, Mass::Rigid(vec![mass])).unwrap();
    // Turns about x of the world and y of the body.
    model
        .set_body_velocity(body, 0, [1.0, -0.5, 2.0], [2.0, 3.0, 0.0])
        .unwrap();
    let joint = Joint::fixed_axis(Side::World, Side::Body(body, 0)).at(Pose::default());
    let joint = model.add_joint("joint", &joint).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let energy = |s: &Simulation| {
        let v = s.velocities(body);
        let z = s.positions(body)[2];
        0.5 * (2.0 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
            + 0.02 * v[3] * v[3]
            + 0.03 * v[4] * v[4]
            + 0.04 * v[5] * v[5])
            + 2.0 * 9.81 * z
    };
    let start = energy(&simulation);
    for _ in 0..200 {
        simulation.step(2.5e-3).unwrap();
    }
    let x = simulation.positions(body);
    let expected = [0.5, -0.25, 1.0 - 0.5 * 9.81 * 0.25];
    for k in 0..3 {
        assert!((x[k] - expected[k]).abs() < 1e-9, "{x:?}");
        let coordinate = simulation.positions(joint.coordinates[k])[0];
        assert!((coordinate - x[k]).abs() < 1e-12);
    }
    let held = simulation.positions(joint.held.unwrap())[0];
    assert!(held.abs() < 1e-6, "{held}");
    // The torque turns it about z too, so that the axes do not just keep their rates.
    assert!(simulation.velocities(body)[5].abs() > 0.1);
    let lost = energy(&simulation) - start;
    assert!(lost.abs() < 1e-4 * start, "{lost}");
    let angles = [3, 4].map(|k| simulation.positions(joint.coordinates[k])[0]);
    assert!(angles[0].abs() > 0.3 && angles[1].abs() > 0.3, "{angles:?}");
}

/// Six motors between a body and another that moves place it there, and give back what they take.
#[test]
fn a_free_joint_has_motors_for_all_six() {
    let mut model = Model::new();
    let bodies = [Pose::at([0.0; 3]), Pose::at([1.0, 0.0, 0.0])];
    let bodies = model.add_rigid_bodies("bodies", &bodies).unwrap();
    model
        .add_mass(
            "mass",
            bodies,
            Mass::Rigid(vec![RigidMass::cuboid(1.0, [0.2, 0.3, 0.4])]),
        )
        .unwrap();
    model
        .set_body_velocity(bodies, 0, [0.3, 0.2, 0.1], [0.5, 1.0, -0.4])
        .unwrap();
    let targets = [0.3, -0.2, 0.1, 0.4, -0.3, 0.2];
    let mut joint = Joint::free(Side::Body(bodies, 0), Side::Body(bodies, 1)).at(Pose::at([1.0, 0.0, 0.0]));
    for (k, target) in targets.iter().enumerate() {
        let motion = PrescribedMotion::ramp(0.0, *target);
        joint = joint.with_position_motor(k, motion, 0.0, 0.0, f64::INFINITY);
    }
    let joint = model.add_joint("joint", &joint).unwrap();
    assert!(joint.held.is_none() && joint.rows.is_none());
    let mut simulation = Simulation::new(model).unwrap();
    for _ in 0..100 {
        simulation.step(0.01).unwrap();
    }
    for (node, target) in joint.coordinates.iter().zip(targets) {
        let x = simulation.positions(*node)[0];
        assert!((x - target).abs() < 1e-8, "{x} {target}");
    }
    // No momentum but that of the start comes out of it: 1 kg at that velocity.
    let v = simulation.velocities(bodies);
    let sum = Vec3::new(v[0] + v[6], v[1] + v[7], v[2] + v[8]);
    assert!((sum - Vec3::new(0.3, 0.2, 0.1)).norm() < 1e-9, "{sum}");
    let mut model = Model::new();
    let body = model.add_rigid_bodies("body", &[Pose::default()]).unwrap();
    let soft = Joint::free(Side::World, Side::Body(body, 0)).with_compliance(&[0.1], 0.0);
    assert!(matches!(
        model.add_joint("soft", &soft),
        Err(ModelError::Size { .. })
    ));
}

/// Two axes that keep an angle of `pi/2 - s`: of a ball, whose moments are all `I`, the kinetic energy
/// is `I (p^2 + q^2 + 2 p q sin s)/2` for the rates `p`, `q`, so that a torque about the first axis
/// accelerates both angles evenly: by `T/(I cos^2 s)` and `-T sin s/(I cos^2 s)`.
#[test]
fn a_skewed_universal_joint_accelerates_both_angles() {
    let (skew, inertia, torque) = (0.5f64, 0.2, 0.3);
    let mut model = Model::new();
    let at = Pose::turned([0.3, -0.2, 0.1], [1.0, 0.5, -0.3], 0.8);
    let body = model.add_rigid_bodies("ball", &[at]).unwrap();
    let mass = RigidMass::principal(2.0, [inertia; 3]);
    model.add_mass("mass", body, Mass::Rigid(vec![mass])).unwrap();
    let joint = Joint::skewed_universal(Side::World, Side::Body(body, 0), skew).at(at);
    let joint = model.add_joint("joint", &joint).unwrap();
    let push = ConstantForce::new(&[torque]);
    model
        .add_force_field("push", joint.coordinates[0], push, Treatment::Stiffness)
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let rates = [1.0, -skew.sin()].map(|k| k * torque / (inertia * skew.cos().powi(2)));
    let error = |simulation: &Simulation, t: f64| {
        let off = |k: usize| simulation.positions(joint.coordinates[k])[0] - 0.5 * rates[k] * t * t;
        off(0).abs().max(off(1).abs())
    };
    for step in 1..=2000 {
        simulation.step(1e-3).unwrap();
        let held = simulation.positions(joint.held.unwrap());
        assert!(held.iter().all(|phi| phi.abs() < 1e-6), "{step} {held:?}");
    }
    // Both have turned by more than a radian; what is left is the square of a step in radians, 4e-3 at
    // the last rate, over four radians.
    let angles = [0, 1].map(|k| simulation.positions(joint.coordinates[k])[0]);
    assert!(angles[0] > 3.5 && angles[1] < -1.5, "{angles:?}");
    assert!(
        error(&simulation, 2.0) < 1e-4,
        "{angles:?} {}",
        error(&simulation, 2.0)
    );
    // The axes keep their angle in the frames of the bodies as well: x of A against y of B, turned.
    let [w, x, y, z] = [3, 4, 5, 6].map(|k| simulation.positions(body)[k]);
    let turned = |v: Vec3| pliant::dense::rotation::rotate([w, x, y, z], v);
    let first = pliant::dense::rotation::rotate(at.rotation, Vec3::x());
    let second = turned(Vec3::new(skew.sin(), skew.cos(), 0.0));
    assert!((first.dot(&second) - skew.sin()).abs() < 1e-6);
}

/// On a sphere the joint is a ball joint at its centre, with a frame on an arm.
#[test]
fn an_ellipsoid_with_equal_axes_is_a_ball_joint() {
    let radius = 0.4;
    let run = |on_sphere: bool| {
        let mut model = Model::new();
        model.set_gravity([1.0, -9.81, 2.0]).unwrap();
        let body = model
            .add_rigid_bodies("body", &[Pose::at([0.05, 0.0, 0.5])])
            .unwrap();
        let mass = RigidMass::principal(2.0, [0.02, 0.03, 0.04]);
        model.add_mass("mass", body, Mass::Rigid(vec![mass])).unwrap();
        let side = Side::Body(body, 0);
        let joint = match on_sphere {
            true => Joint::ellipsoid(Side::World, side, [radius; 3]).at(Pose::at([0.0, 0.0, radius])),
            false => Joint::gimbal(Side::World, side),
        };
        let joint = model.add_joint("joint", &joint).unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        let mut out = Vec::new();
        for _ in 0..300 {
            simulation.step(1e-3).unwrap();
            out.extend_from_slice(simulation.positions(body));
            out.extend(joint.coordinates.iter().map(|n| simulation.positions(*n)[0]));
        }
        out
    };
    let (sphere, ball) = (run(true), run(false));
    let off = sphere
        .iter()
        .zip(&ball)
        .fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
    // The rows differ, so that the errors of the steps do: some 1e-6 of each.
    assert!(off < 1e-5, "{off}");
    // It has swung about all three axes.
    assert!(ball[ball.len() - 3..].iter().all(|angle| angle.abs() > 0.02));
}

/// About the end of a semi-axis `c` an ellipsoid has the radii of curvature `a^2/c` and `b^2/c`. A body
/// that hangs there inside turns by `c/a^2` per way, so that it swings with
/// `w^2 = m g (c/a^2)/(m + I c^2/a^4)`; heights are those of its centre of mass on the surface.
#[test]
fn a_body_swings_on_an_ellipsoid() {
    let (a, b, c) = (0.5f64, 0.3, 0.4);
    let (mass, inertia, g) = (2.0, [0.03, 0.05, 0.02], 9.81);
    for (k, axis, moment) in [(0, a, inertia[1]), (1, b, inertia[0])] {
        let mut model = Model::new();
        // z of the joint is down, so that its pole is the lowest place.
        model.set_gravity([0.0, 0.0, g]).unwrap();
        let body = model.add_rigid_bodies("body", &[Pose::default()]).unwrap();
        let rigid = RigidMass::principal(mass, inertia);
        model.add_mass("mass", body, Mass::Rigid(vec![rigid])).unwrap();
        let (v, curvature) = (1e-4, c / (axis * axis));
        let mut velocity = [0.0; 3];
        velocity[k] = v;
        // The normal leans with the way: x turns it about y, y about -x.
        let turning = [[0.0, v * curvature, 0.0], [-v * curvature, 0.0, 0.0]][k];
        model.set_body_velocity(body, 0, velocity, turning).unwrap();
        let joint = Joint::ellipsoid(Side::World, Side::Body(body, 0), [a, b, c]);
        let joint = model.add_joint("joint", &joint).unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        let w = (mass * g * curvature / (mass + moment * curvature * curvature)).sqrt();
        let mut most = 0.0f64;
        for step in 1..=1000 {
            simulation.step(1e-3).unwrap();
            let x = simulation.positions(body)[k];
            most = most.max((x - v / w * (w * f64::from(step) * 1e-3).sin()).abs());
        }
        // The square of the step in radians is 1e-4, over six radians.
        assert!(most < 3e-4 * v / w, "{k}: {most} of {}", v / w);
        // The angle of the normal about x is minus the longitude, about y the latitude.
        let angle = simulation.positions(joint.coordinates[1 - k])[0];
        let expected = [1.0, -1.0][k] * curvature * simulation.positions(body)[k];
        assert!(
            (angle - expected).abs() < 1e-6 * (v / w) * curvature + 1e-10,
            "{angle} {expected}"
        );
    }
}
