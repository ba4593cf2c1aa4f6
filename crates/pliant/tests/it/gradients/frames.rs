//! Derivatives of steps with frames that follow points.

use super::options;
use super::stages::two_stages;
use super::steps::check;
use pliant::prelude::*;

/// A soft octahedron with a frame on a ball joint, a body on a hinge of the frame, and a mass that
/// is fixed to the frame or not.
fn soft_net(fit: fn(&[RestPoint], Pose) -> FittedFrame, rider: bool) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.5, -1.0, -9.81]).unwrap();
    let corners: Vec<[f64; 3]> = (0..6)
        .map(|k| {
            let mut x = [0.3, 0.1, 0.0];
            x[k / 2] += [0.2, 0.15, 0.12][k / 2] * if k % 2 == 0 { 1.0 } else { -0.9 };
            x
        })
        .collect();
    let points = model.add_particles("corners", &corners).unwrap();
    model.add_mass("mass", points, Mass::Uniform(0.2)).unwrap();
    for k in 0..6 {
        let k_ = k as f64;
        let v = [0.3 * (k_ - 2.0), 0.5 - 0.2 * k_, (0.7 * k_).sin()];
        model.set_velocity(points, k, &[true; 3], &v).unwrap();
    }
    let edges: Vec<_> = (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b))).collect();
    let edges = Distance::between(&edges).with_rest_lengths(&[0.25]);
    let edges = model.add_mapped("edges", &[points], edges).unwrap();
    let spring = Spring::linear(200.0).with_damping(0.2);
    model
        .add_force_field("springs", edges, spring, Treatment::Stiffness)
        .unwrap();
    let rest: Vec<RestPoint> = corners
        .iter()
        .enumerate()
        .map(|(k, x)| (Dependency::new(0, k), *x, 1.0 + 0.1 * k as f64))
        .collect();
    let pose = Pose::turned([0.35, 0.12, 0.05], [1.0, 2.0, 0.5], 0.7);
    let frames = FittedFrames::new(&[fit(&rest, pose)]);
    let frame = model.add_mapped("frame", &[points], frames).unwrap();
    if rider {
        let mass = RigidMass::principal(0.3, [1e-3, 3e-3, 2e-3]);
        model
            .add_mass("of the frame", frame, Mass::Rigid(vec![mass]))
            .unwrap();
    }
    let joint = Joint::ball(Side::World, Side::Body(frame, 0)).at(Pose::at([0.2, 0.0, 0.1]));
    model.add_joint("ball", &joint).unwrap();
    let arm = model
        .add_rigid_bodies("arm", &[Pose::at([0.6, 0.1, 0.1])])
        .unwrap();
    let mass = RigidMass::cuboid(0.4, [0.3, 0.05, 0.08]);
    model
        .add_mass("of the arm", arm, Mass::Rigid(vec![mass]))
        .unwrap();
    let hinge = Joint::hinge(Side::Body(frame, 0), Side::Body(arm, 0)).at(Pose::at([0.45, 0.1, 0.1]));
    model.add_joint("hinge", &hinge).unwrap();
    model
}

/// Tangent and adjoint, against each other and differences.
#[test]
fn joints_on_frames() {
    for fit in [FittedFrame::rigid, FittedFrame::affine] {
        check("frames", soft_net(fit, false), options(), 0.01, 1e-7);
        check("frames in stages", soft_net(fit, false), two_stages(), 0.01, 1e-7);
    }
}

/// A mass on a frame: its acceleration is nonlinear in the velocities of the points.
#[test]
fn masses_on_frames() {
    for fit in [FittedFrame::rigid, FittedFrame::affine] {
        check("mass", soft_net(fit, true), options(), 0.01, 1e-7);
    }
}
