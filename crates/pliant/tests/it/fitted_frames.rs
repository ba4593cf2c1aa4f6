//! Joints, masses and contacts on frames that follow points.

use crate::tools::{order, worst};
use pliant::collision::{Collider, Placement, Shape, World};
use pliant::continuum::{Mesh, Solid};
use pliant::prelude::*;

/// Half the diagonals of an octahedron, and the mass of a corner.
const HALF: [f64; 3] = [0.2, 0.15, 0.1];
const CORNER: f64 = 0.4;
/// Where it starts, where its hinge is, and a rigid mass that is fixed to it.
const START: [f64; 3] = [0.3, 0.1, 0.0];
const RIDER: [f64; 3] = [0.05, -0.04, 0.02];

fn corners() -> Vec<[f64; 3]> {
    (0..6)
        .map(|k| {
            let mut x = START;
            x[k / 2] += if k % 2 == 0 { HALF[k / 2] } else { -HALF[k / 2] };
            x
        })
        .collect()
}

/// An octahedron of six particles on twelve hard edges: as rigid as a body (Cauchy).
fn octahedron(model: &mut Model) -> NodeId {
    let corners = corners();
    let points = model.add_particles("corners", &corners).unwrap();
    model.add_mass("mass", points, Mass::Uniform(CORNER)).unwrap();
    let edges: Vec<_> = (0..6)
        .flat_map(|a| (a + 1..6).map(move |b| (a, b)))
        .filter(|(a, b)| a / 2 != b / 2)
        .collect();
    let lengths: Vec<f64> = edges
        .iter()
        .map(|(a, _)| a)
        .zip(edges.iter().map(|(_, b)| b))
        .map(|(a, b)| {
            (0..3)
                .map(|i| (corners[*a][i] - corners[*b][i]).powi(2))
                .sum::<f64>()
                .sqrt()
        })
        .collect();
    let edges = Distance::between(&edges).with_rest_lengths(&lengths);
    let edges = model.add_mapped("edges", &[points], edges).unwrap();
    model
        .add_constraint("edges are hard", edges, Level::Position)
        .unwrap();
    let rest: Vec<RestPoint> = corners
        .iter()
        .enumerate()
        .map(|(k, x)| (Dependency::new(0, k), *x, 1.0))
        .collect();
    let frame = FittedFrames::new(&[FittedFrame::rigid(&rest, Pose::at(START))]);
    model.add_mapped("frame", &[points], frame).unwrap()
}

/// The body of the same mass and inertia.
fn body(model: &mut Model) -> NodeId {
    let body = model.add_rigid_bodies("frame", &[Pose::at(START)]).unwrap();
    let square = HALF.map(|h| 2.0 * CORNER * h * h);
    let moments = [
        square[1] + square[2],
        square[0] + square[2],
        square[0] + square[1],
    ];
    let mass = RigidMass::principal(6.0 * CORNER, moments);
    model.add_mass("mass", body, Mass::Rigid(vec![mass])).unwrap();
    body
}

/// Where the frame is after a swing on a ball joint, with a rigid mass on it and a spring.
fn swing(add: fn(&mut Model) -> NodeId, h: f64) -> Vec<f64> {
    let mut model = Model::new();
    model.set_gravity([0.0, -3.0, -9.81]).unwrap();
    let frame = add(&mut model);
    let rider = model
        .add_mapped("rider", &[frame], RigidFrames::new(&[(0, Pose::at(RIDER))]))
        .unwrap();
    let mass = RigidMass::principal(0.5, [2e-3, 4e-3, 3e-3]);
    model
        .add_mass("of the rider", rider, Mass::Rigid(vec![mass]))
        .unwrap();
    let joint = Joint::ball(Side::World, Side::Body(frame, 0)).at(Pose::default());
    model.add_joint("joint", &joint).unwrap();
    let eye = RigidPoints::new(&[(0, [0.1, 0.2, 0.0])]);
    let eye = model.add_mapped("eye", &[frame], eye).unwrap();
    let line = Distance::to_points(&[(0, [0.5, 0.5, 0.5])]).with_rest_lengths(&[0.2]);
    let line = model.add_mapped("line", &[eye], line).unwrap();
    let spring = UniformCompliance::from_stiffness(20.0);
    model
        .add_force_field("spring", line, spring, Treatment::Stiffness)
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    for _ in 0..(0.6 / h).round() as usize {
        simulation.step(h).unwrap();
    }
    simulation.positions(frame).to_vec()
}

/// A rigid net with a frame on it is a rigid body: to the order of the method, which is two, at
/// whatever is attached to the frame. The mass of the rider goes through the accelerations that the
/// mapping has of the velocities alone.
#[test]
fn a_rigid_net_with_a_frame_is_a_body() {
    let exact = swing(body, 0.6 / 4096.0);
    let errors = [128.0, 256.0].map(|n| {
        let mut x = swing(octahedron, 0.6 / n);
        // The quaternion of the other sign is the same rotation.
        if x[3] * exact[3] < 0.0 {
            x[3..].iter_mut().for_each(|q| *q = -*q);
        }
        worst(&x, &exact)
    });
    println!("{errors:?}, order {}", order(errors));
    // It turns by a radian and moves by its size: a step of 2 ms leaves 1e-4 of that.
    assert!(
        errors[1] < 1e-4 && (1.7..2.4).contains(&order(errors)),
        "{errors:?}"
    );
}

const LENGTH: f64 = 1.0;
const SIDE: f64 = 0.1;

/// A cantilever with a flange at its end, a frame or a welded plate, and a hinged pendulum on it
/// that hangs to one side: how far the flange goes down, and how it turns.
fn flange(welded: bool) -> [f64; 3] {
    let mesh = Mesh::hexahedral_box([LENGTH, SIDE, SIDE], [10, 2, 2])
        .unwrap()
        .into_quadratic();
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let solid = Solid::corotational(1e8, 0.3).with_density(10.0);
    let parts = solid.add_to(&mut model, "beam", &mesh).unwrap();
    let on = |at: f64| -> Vec<usize> {
        let nodes = mesh.nodes.iter().enumerate();
        nodes
            .filter(|(_, x)| (x[0] - at).abs() < 1e-9)
            .map(|(k, _)| k)
            .collect()
    };
    for k in on(0.0) {
        model.fix(parts.nodes, k, &[true; 3]).unwrap();
    }
    let end = on(LENGTH);
    let centre = [LENGTH, 0.5 * SIDE, 0.5 * SIDE];
    let flange = if welded {
        let plate = model.add_rigid_bodies("plate", &[Pose::at(centre)]).unwrap();
        let mass = RigidMass::cuboid(1e-3, [SIDE; 3]);
        model
            .add_mass("of the plate", plate, Mass::Rigid(vec![mass]))
            .unwrap();
        let local = |k: &usize| (0, [0, 1, 2].map(|i| mesh.nodes[*k][i] - centre[i]));
        let seats = RigidPoints::new(&end.iter().map(local).collect::<Vec<_>>());
        let seats = model.add_mapped("seats", &[plate], seats).unwrap();
        let pairs: Vec<_> = end
            .iter()
            .enumerate()
            .map(|(k, n)| (End::element(0, *n), End::element(1, k)))
            .collect();
        let gaps = Difference::new(&pairs);
        let gaps = model.add_mapped("gaps", &[parts.nodes, seats], gaps).unwrap();
        model.add_constraint("weld", gaps, Level::Position).unwrap();
        plate
    } else {
        let rest: Vec<RestPoint> = end
            .iter()
            .map(|k| (Dependency::new(0, *k), mesh.nodes[*k], 1.0))
            .collect();
        let frames = FittedFrames::new(&[FittedFrame::rigid(&rest, Pose::at(centre))]);
        model.add_mapped("flange", &[parts.nodes], frames).unwrap()
    };
    // A weight of 6 kg on an arm across that hangs down from the hinge about x, and a weld at the
    // side: force, bending and torsion.
    let arm = model
        .add_rigid_bodies("arm", &[Pose::at([LENGTH, 0.5 * SIDE, 0.35])])
        .unwrap();
    let mass = RigidMass::cuboid(6.0, [0.1, 0.1, 0.6]);
    model
        .add_mass("of the arm", arm, Mass::Rigid(vec![mass]))
        .unwrap();
    let joint = Joint::fixed(Side::Body(flange, 0), Side::Body(arm, 0)).at(Pose::at(centre));
    model.add_joint("weld of the arm", &joint).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    let x = simulation.positions(flange);
    [x[0] - centre[0], x[1] - centre[1], 2.0 * x[4].atan2(x[3])]
}

/// The forces that a frame hands to the face of a beam are linear over it, those of a plate what
/// keeps it plane: the same resultant and moment, so that the beams differ within a depth of the end
/// (St Venant). In bending, whose moment vanishes there, that is a thousandth of the sag; the torsion
/// of that depth, a tenth of the beam, is softer by the share of warping that a plate holds back, a
/// tenth of it.
#[test]
fn a_flange_on_a_frame_is_a_welded_plate() {
    let [frame, plate] = [false, true].map(flange);
    println!("{frame:?} {plate:?}");
    // A cantilever under a load and a torque at its end: P L^3/(3 E I), and L T/(G J) with
    // J = 0.1406 a^4 of a square.
    let load = 6.0 * 9.81;
    let sag = load * LENGTH.powi(3) / (3.0 * 1e8 * SIDE.powi(4) / 12.0);
    let twist = load * 0.3 * LENGTH / (1e8 / 2.6 * 0.1406 * SIDE.powi(4));
    println!("{sag} {twist}");
    for (k, share) in [(1, 1e-3), (2, 0.02)] {
        assert!((frame[k] / plate[k] - 1.0).abs() < share, "{frame:?} {plate:?}");
    }
    // Shear and the clamp, which holds the contraction, beside bending; the clamp of torsion.
    assert!((-frame[1] / sag - 1.0).abs() < 0.03, "{frame:?} {sag}");
    assert!((frame[2] / twist - 1.0).abs() < 0.05, "{frame:?} {twist}");
}

/// A soft block stands on a rigid foot, a collider on a frame that follows its lower face: the floor
/// carries the weight, and the force on the frame is that on the block.
#[test]
fn a_block_stands_on_its_foot() {
    let mesh = Mesh::hexahedral_box([0.2; 3], [2; 3]).unwrap();
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let solid = Solid::corotational(1e5, 0.3)
        .with_density(1000.0)
        .with_relaxation_time(0.02);
    let parts = solid.add_to(&mut model, "block", &mesh).unwrap();
    let rest: Vec<RestPoint> = mesh
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, x)| x[2] < 1e-9)
        .map(|(k, x)| (Dependency::new(0, k), *x, 1.0))
        .collect();
    let frames = FittedFrames::new(&[FittedFrame::rigid(&rest, Pose::at([0.1, 0.1, 0.0]))]);
    let foot = model.add_mapped("foot", &[parts.nodes], frames).unwrap();
    let mut world = World::new();
    let ground = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let place = Placement::Fixed(Pose::at([0.0, 0.0, -0.02]));
    world.add(Collider::new("ground", ground, place)).unwrap();
    let place = Placement::Body {
        node: foot,
        element: 0,
        pose: Pose::at([0.0, 0.0, -0.01]),
    };
    let shape = Shape::cuboid([0.15, 0.15, 0.01]).unwrap();
    world.add(Collider::new("foot", shape, place)).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    simulation.set_contacts(world).unwrap();
    for _ in 0..150 {
        simulation.step(0.01).unwrap();
    }
    let (force, moment) = simulation.contact_force(foot, 0);
    println!("{force:?} {moment:?}");
    let weight = 8.0 * 9.81;
    // Vibrations are left, damped for 75 times as long as they take; contacts are solved to 1e-8.
    assert!((force[2] / weight - 1.0).abs() < 1e-6, "{force:?}");
    assert!(force[0].abs() + force[1].abs() < 1e-6 * weight);
}
