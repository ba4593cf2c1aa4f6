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
