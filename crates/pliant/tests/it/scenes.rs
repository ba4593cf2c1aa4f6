//! Models that several tests use.

use pliant::prelude::*;

/// A truss of five particles in the plane z = 0 on nonlinear springs, one particle fixed, with a
/// dashpot.
pub(crate) fn truss(stiffness: f64, relaxation: f64, treatment: Treatment) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let places = [
        [0.0, 0.0, 0.0],
        [1.0, 0.1, 0.0],
        [0.4, -0.9, 0.1],
        [1.3, -1.0, 0.0],
        [0.7, -1.8, -0.1],
    ];
    let p = model.add_particles("p", &places).unwrap();
    model
        .add_mass("m", p, Mass::PerElement(vec![1.0, 2.0, 0.5, 1.5, 1.0]))
        .unwrap();
    model.fix(p, 0, &[true; 3]).unwrap();
    let pairs = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)];
    let rests = [1.0, 0.9, 1.2, 1.1, 0.95, 1.0, 1.1];
    let lengths = model
        .add_mapped(
            "lengths",
            &[p],
            Distance::between(&pairs).with_rest_lengths(&rests),
        )
        .unwrap();
    let law = UniformCompliance::from_stiffness(stiffness).with_relaxation_time(relaxation);
    model.add_force_field("springs", lengths, law, treatment).unwrap();
    model
        .add_force_field("air", p, Damping::new(0.1), Treatment::Stiffness)
        .unwrap();
    model
}

/// Two bodies on a hinge-like pair of ball joints (one redundant row), an angular spring, a
/// particle on a hard rod, and a moving fixed particle that pulls on a spring.
pub(crate) fn machine() -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 1.0]).unwrap();
    let poses = [
        Pose::turned([0.5, 0.0, 0.0], [1.0, 2.0, 0.5], 0.2),
        Pose::at([1.5, 0.1, 0.0]),
    ];
    let bodies = model.add_rigid_bodies("bodies", &poses).unwrap();
    model
        .set_body_velocity(bodies, 0, [0.1, 0.0, 0.2], [1.0, -2.0, 3.0])
        .unwrap();
    let boxes = vec![
        RigidMass::cuboid(2.0, [1.0, 0.2, 0.3]),
        RigidMass::cuboid(1.0, [0.9, 0.3, 0.1]),
    ];
    model.add_mass("boxes", bodies, Mass::Rigid(boxes)).unwrap();
    let locals = [
        (0, [-0.5, 0.0, 0.0]),
        (0, [0.5, 0.0, 0.0]),
        (1, [-0.5, 0.0, 0.0]),
        (1, [0.5, 0.1, 0.0]),
    ];
    let points = model
        .add_mapped("points", &[bodies], RigidPoints::new(&locals))
        .unwrap();
    let pairs = [
        (End::element(0, 0), End::Point([0.0; 3])),
        (End::element(0, 2), End::element(0, 1)),
    ];
    let joints = model
        .add_mapped("joints", &[points], Difference::new(&pairs))
        .unwrap();
    model
        .add_constraint("ball joints", joints, Level::Position)
        .unwrap();
    let bend = model
        .add_mapped("bend", &[bodies], RelativeRotation::new(&[(0, 1)]))
        .unwrap();
    let law = UniformCompliance::new(0.05).with_relaxation_time(0.02);
    model
        .add_force_field("angular spring", bend, law, Treatment::Compliance)
        .unwrap();
    let driver = model
        .add_independent("driver", Space::Real(3), &[2.0, 1.0, 0.0], &[0.3, 0.0, -0.2])
        .unwrap();
    model.add_mass("driver mass", driver, Mass::Uniform(1.0)).unwrap();
    model.fix(driver, 0, &[true; 3]).unwrap();
    let bob = model.add_particles("bob", &[[2.5, 0.5, 0.3]]).unwrap();
    model.add_mass("bob mass", bob, Mass::Uniform(0.7)).unwrap();
    let all = [points, driver, bob];
    let rod = [(End::element(2, 0), End::element(0, 3))];
    let rod = model
        .add_mapped("rod", &all, Distance::new(&rod).with_rest_lengths(&[0.8]))
        .unwrap();
    model.add_constraint("rod", rod, Level::CurvedPosition).unwrap();
    let line = [(End::element(2, 0), End::element(1, 0))];
    let line = model
        .add_mapped("line", &all, Distance::new(&line).with_rest_lengths(&[0.5]))
        .unwrap();
    let law = UniformCompliance::from_stiffness(100.0).with_relaxation_time(0.01);
    model
        .add_force_field("spring", line, law, Treatment::Stiffness)
        .unwrap();
    model
        .add_force_field(
            "drag",
            bodies,
            Damping::new(0.2).with_angular(0.05),
            Treatment::Stiffness,
        )
        .unwrap();
    model
}
