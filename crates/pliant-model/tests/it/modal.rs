//! Points and frames of flexible bodies.

use crate::body_tools::*;
use pliant_model::dual::{Dual, multiply, rotate};
use pliant_model::{
    FrameShape, Mapping, ModalFrame, ModalFrames, ModalPoint, ModalPoints, ModelError, Pose, Space,
};

const MODES: usize = 3;
const PARENTS: [(Space, usize); 2] = [(RIGID, 2), (Space::Real(1), MODES)];

fn triple(n: &[f64]) -> [f64; 3] {
    [n[0], n[1], n[2]]
}

/// Two bodies and the amplitudes, which are as large as the bodies.
fn setting(seed: u64) -> Vec<f64> {
    let mut x = flat(&poses(seed, 2));
    x.extend(numbers(seed + 900, MODES));
    x
}

/// A sum of shapes on hyper-dual numbers.
fn sum(x: &[Dual], local: [f64; 3], shapes: &[(usize, [f64; 3])]) -> [Dual; 3] {
    let mut out = local.map(Dual::from);
    for (k, shape) in shapes {
        for i in 0..3 {
            out[i] += x[14 + k] * shape[i];
        }
    }
    out
}

#[test]
fn points_of_flexible_bodies() {
    for seed in 1..40 {
        let n = numbers(seed + 300, 30);
        let point = |body: usize, first: usize, modes: &[usize]| ModalPoint {
            body,
            local: triple(&n[first..]),
            shapes: modes
                .iter()
                .map(|k| (*k, triple(&n[first + 3 * k + 3..])))
                .collect(),
        };
        let points = vec![point(1, 0, &[0, 1, 2]), point(0, 12, &[2, 0]), point(1, 18, &[])];
        let mapping = ModalPoints::new(&points);
        let x = setting(seed);
        checked(&mapping, &PARENTS, &x, seed);
        exact(&mapping, &PARENTS, &x, seed, |x| {
            let place = |point: &ModalPoint| {
                let body = &x[7 * point.body..][..7];
                let arm = rotate(&body[3..], &sum(x, point.local, &point.shapes));
                [0, 1, 2].map(|k| body[k] + arm[k])
            };
            points.iter().flat_map(place).collect()
        });
    }
}

#[test]
fn frames_of_flexible_bodies() {
    for seed in 1..40 {
        let (n, offsets) = (numbers(seed + 600, 30), poses(seed + 700, 2));
        let shape = |mode: usize, first: usize| FrameShape {
            mode,
            displacement: triple(&n[first..]),
            rotation: triple(&n[first + 3..]),
        };
        let frames = vec![
            ModalFrame {
                body: 0,
                pose: offsets[0],
                shapes: vec![shape(0, 0), shape(1, 6), shape(2, 12)],
            },
            ModalFrame {
                body: 1,
                pose: offsets[1],
                shapes: vec![shape(2, 18)],
            },
        ];
        let x = setting(seed);
        checked(&ModalFrames::new(&frames), &PARENTS, &x, seed);
        // Origins and the directions of the axes, by points that ride on the frames, against the
        // formula: this tells a wrong rotation, which the checker cannot.
        let state = positions(&ModalFrames::new(&frames), &x);
        let x: Vec<Dual> = x.iter().map(|x| Dual::from(*x)).collect();
        for (frame, found) in frames.iter().zip(state.chunks_exact(7)) {
            let body = &x[7 * frame.body..][..7];
            let shapes = |of: fn(&FrameShape) -> [f64; 3]| -> Vec<(usize, [f64; 3])> {
                frame.shapes.iter().map(|s| (s.mode, of(s))).collect()
            };
            let arm = sum(&x, frame.pose.position, &shapes(|s| s.displacement));
            let arm = rotate(&body[3..], &arm);
            let c = sum(&x, [0.0; 3], &shapes(|s| s.rotation));
            let size = (c.iter().map(|c| c.re * c.re).sum::<f64>()).sqrt();
            // By the angle and the axis.
            let half = (size / 2.0).atan();
            let own = [0, 1, 2].map(|k| c[k] * (half.sin() / size));
            let own = [Dual::from(half.cos()), own[0], own[1], own[2]];
            let q = multiply(&multiply(&body[3..], &own), &frame.pose.rotation.map(Dual::from));
            for k in 0..3 {
                assert!((found[k] - body[k].re - arm[k].re).abs() < 1e-14);
            }
            for k in 0..4 {
                assert!((found[3 + k] - q[k].re).abs() < 1e-14);
            }
        }
    }
}

/// Positions of a mapped node.
fn positions<M: Mapping + Clone + 'static>(mapping: &M, x: &[f64]) -> Vec<f64> {
    let mut model = pliant_model::Model::new();
    let bodies = model
        .add_independent("bodies", RIGID, &x[..14], &[0.0; 12])
        .unwrap();
    let modes = model.add_scalars("modes", &x[14..]).unwrap();
    let child = model
        .add_mapped("child", &[bodies, modes], mapping.clone())
        .unwrap();
    let state = model.initial_state().unwrap();
    model.positions(&state, child).to_vec()
}

#[test]
fn what_is_no_flexible_body_is_refused() {
    let point = |body: usize, shapes: &[(usize, [f64; 3])]| {
        ModalPoints::new(&[ModalPoint {
            body,
            local: [1.0, 0.0, 0.0],
            shapes: shapes.to_vec(),
        }])
    };
    let one = [1.0; 3];
    let error = refused(&point(2, &[]), &PARENTS);
    assert!(matches!(error, ModelError::Element { .. }), "{error}");
    let error = refused(&point(0, &[(3, one)]), &PARENTS);
    assert!(matches!(error, ModelError::Element { .. }), "{error}");
    let error = refused(&point(0, &[(1, one), (1, one)]), &PARENTS);
    assert!(matches!(error, ModelError::Degenerate { .. }), "{error}");
    let error = refused(&point(0, &[(0, [f64::NAN, 0.0, 0.0])]), &PARENTS);
    assert!(matches!(error, ModelError::NotFinite { .. }), "{error}");
    let error = refused(&point(0, &[(0, one)]), &[(RIGID, 1), (Space::Real(2), 3)]);
    assert!(matches!(error, ModelError::Space { .. }), "{error}");
    let error = refused(
        &point(0, &[(0, one)]),
        &[(Space::Real(3), 1), (Space::Real(1), 3)],
    );
    assert!(matches!(error, ModelError::Space { .. }), "{error}");
    let error = refused(&point(0, &[(0, one)]), &[(RIGID, 1)]);
    assert!(matches!(error, ModelError::Parent { .. }), "{error}");
    let frame = |pose: Pose, rotation: [f64; 3]| {
        ModalFrames::new(&[ModalFrame {
            body: 0,
            pose,
            shapes: vec![FrameShape {
                mode: 0,
                displacement: one,
                rotation,
            }],
        }])
    };
    let error = refused(&frame(Pose::default(), [f64::INFINITY; 3]), &PARENTS);
    assert!(matches!(error, ModelError::NotFinite { .. }), "{error}");
    let long = Pose {
        position: [0.0; 3],
        rotation: [2.0, 0.0, 0.0, 0.0],
    };
    let error = refused(&frame(long, one), &PARENTS);
    assert!(matches!(error, ModelError::OutOfRange { .. }), "{error}");
}
