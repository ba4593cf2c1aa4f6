//! Frames that follow points, against rigid and affine motions, and the best rotation by its
//! definition.

use crate::body_tools::*;
use pliant_dense::{Mat3, Vec3, rotation, vec3};
use pliant_model::{
    Dependency, Evaluation, FittedFrame, FittedFrames, FramePoint, Model, ModelError, Pose, RestPoint, Space,
    check,
};

const POINTS: Space = Space::Real(3);

fn on(element: usize) -> Dependency {
    Dependency::new(0, element)
}

/// Points of a parent at rest, with weights between 0.5 and 1.5.
fn cloud(seed: u64, count: usize) -> Vec<RestPoint> {
    let n = numbers(seed, 4 * count);
    let point = |(k, n): (usize, &[f64])| (on(k), [n[0], n[1], n[2]], 1.0 + 0.5 * n[3]);
    n.chunks_exact(4).enumerate().map(point).collect()
}

fn moved(rest: &[RestPoint], motion: impl Fn(Vec3) -> Vec3) -> Vec<f64> {
    rest.iter()
        .flat_map(|(_, x, _)| <[f64; 3]>::from(motion((*x).into())))
        .collect()
}

fn fits(rest: &[RestPoint], pose: Pose) -> [FittedFrame; 2] {
    [FittedFrame::rigid(rest, pose), FittedFrame::affine(rest, pose)]
}

/// The seven numbers of the only frame at these positions of the points.
fn placed(frame: &FittedFrame, x: &[f64]) -> Result<Vec<f64>, ModelError> {
    let places: Vec<[f64; 3]> = x.as_chunks().0.to_vec();
    let mut model = Model::new();
    let parent = model.add_particles("points", &places)?;
    let child = model.add_mapped("frame", &[parent], FittedFrames::new(std::slice::from_ref(frame)))?;
    let state = model.initial_state()?;
    Ok(model.positions(&state, child).to_vec())
}

/// The largest difference of position and axes.
fn difference(found: &[f64], position: Vec3, axes: &Mat3) -> f64 {
    let turn = rotation::matrix([found[3], found[4], found[5], found[6]]);
    (vec3(found, 0) - position).amax().max((turn - axes).amax())
}

#[test]
fn derivatives_by_differences() {
    for seed in 1..40 {
        let rest = cloud(seed, 6);
        let pose = poses(seed + 70, 1)[0];
        let other = cloud(seed + 9, 4);
        let n = numbers(seed + 300, 3 * 10);
        // Two parents: the second frame follows points of both.
        let both: Vec<RestPoint> = other
            .iter()
            .enumerate()
            .map(|(k, (_, x, m))| (Dependency::new(k % 2, k), *x, *m))
            .collect();
        for (a, b) in fits(&rest, pose).iter().zip(&fits(&both, pose)) {
            let mapping = FittedFrames::new(&[a.clone(), b.clone()]);
            // The deformation is a tenth of the size of the cloud, about a turn of some size.
            let turn = poses(seed + 40, 1)[0];
            let mut x = moved(&rest, |x| rotation::rotate(turn.rotation, x));
            x.extend(moved(&other, |x| rotation::rotate(turn.rotation, x)));
            x.iter_mut().zip(&n).for_each(|(x, n)| *x += 0.1 * n);
            checked(&mapping, &[(POINTS, 6), (POINTS, 4)], &x, seed);
        }
    }
}

#[test]
fn rigid_motions_are_followed_whatever_the_points() {
    for seed in 1..40 {
        let flat: Vec<RestPoint> = cloud(seed, 5)
            .into_iter()
            .map(|(on, [x, y, _], m)| (on, [x, y, 0.3 * x - 0.2 * y], m))
            .collect();
        let (pose, motion) = (poses(seed + 70, 1)[0], poses(seed + 1, 1)[0]);
        let expected = after(&motion, &pose);
        // Far from the origin, where coordinates have a rounding of 1e-13.
        let shift = Vec3::new(1e3, -2e3, 5e2);
        for frame in [
            FittedFrame::rigid(&flat, pose),
            FittedFrame::rigid(&cloud(seed, 3), pose),
            FittedFrame::rigid(&cloud(seed, 7), pose),
            FittedFrame::affine(&cloud(seed, 7), pose),
        ] {
            let rest = match frame.points.len() {
                5 => flat.clone(),
                count => cloud(seed, count),
            };
            let at = |x: Vec3| rotation::rotate(motion.rotation, x) + Vec3::from(motion.position) + shift;
            let found = placed(&frame, &moved(&rest, at)).unwrap();
            let axes = rotation::matrix(expected.rotation);
            let error = difference(&found, Vec3::from(expected.position) + shift, &axes);
            // Rounding of the coordinates over the extent of three points, which may be a tenth.
            assert!(error < 1e-10, "{seed}: {error}");
        }
    }
}

/// A cloud of millimetres, kilometres away from the origin, and a beam a hundred times as long as
/// thick: the fit is of differences of places, and as good as these.
#[test]
fn small_frames_far_away_and_slender_ones_are_fitted() {
    for (size, shift) in [
        ([0.1; 3], [1e4, -2e4, 3e3]),
        ([1e-3; 3], [1e3, 0.0, 0.0]),
        ([1.3, 0.01, 0.01], [0.0; 3]),
        ([1.3, 0.004, 0.002], [5.0, 1.0, 0.0]),
    ] {
        let shift = Vec3::from(shift);
        let place = |x: [f64; 3]| Vec3::from([0, 1, 2].map(|i| size[i] * x[i])) + shift;
        let rest: Vec<RestPoint> = cloud(5, 8)
            .into_iter()
            .map(|(on, x, m)| (on, place(x).into(), m))
            .collect();
        let turn = poses(9, 1)[0].rotation;
        for frame in fits(&rest, Pose::at(shift.into())) {
            let x = moved(&rest, |x| rotation::rotate(turn, x - shift) + shift);
            let found = placed(&frame, &x).unwrap();
            let axes = rotation::matrix([found[3], found[4], found[5], found[6]]);
            // Rounding of the places, over the smallest size.
            let least = size.iter().fold(f64::INFINITY, |a: f64, s| a.min(*s));
            let rounding = 1e-14 * (shift.norm() + 1.0) / least;
            let error = (axes - rotation::matrix(turn)).amax();
            assert!(error < rounding, "{size:?}: {error}, {rounding}");
        }
    }
}

#[test]
fn affine_motions_are_followed_by_the_affine_fit() {
    for seed in 1..40 {
        let rest = cloud(seed, 8);
        let pose = poses(seed + 70, 1)[0];
        let n = numbers(seed + 3, 12);
        let turn = rotation::matrix(poses(seed + 4, 1)[0].rotation);
        let stretch = Mat3::identity() + 0.4 * Mat3::from_row_slice(&n[..9]);
        let (f, t) = (turn * stretch, vec3(&n, 9));
        let found = placed(&FittedFrame::affine(&rest, pose), &moved(&rest, |x| f * x + t)).unwrap();
        // Of F = R U the stretch R^T F is symmetric and positive definite, by its minors.
        let axes = rotation::matrix([found[3], found[4], found[5], found[6]]);
        let u = (axes * rotation::matrix(pose.rotation).transpose()).transpose() * f;
        let minor = u[(0, 0)] * u[(1, 1)] - u[(0, 1)] * u[(1, 0)];
        assert!(
            u[(0, 0)] > 0.0 && minor > 0.0 && u.determinant() > 0.0,
            "{seed}: {u}"
        );
        let error = (u - u.transpose()).amax();
        let expected = f * Vec3::from(pose.position) + t;
        let error = error.max((vec3(&found, 0) - expected).amax());
        // Rounding, times the condition of the second moments of eight points (a hundred).
        assert!(error < 1e-11, "{seed}: {error}");
    }
}

#[test]
fn the_rigid_fit_has_the_least_squares() {
    for seed in 1..30 {
        let rest = cloud(seed, 6);
        let n = numbers(seed + 9, 18);
        let turn = poses(seed + 2, 1)[0].rotation;
        let mut x = moved(&rest, |x| rotation::rotate(turn, x));
        x.iter_mut().zip(&n).for_each(|(x, n)| *x += 0.3 * n);
        let total: f64 = rest.iter().map(|r| r.2).sum();
        let centre = rest
            .iter()
            .fold(Vec3::zeros(), |c, (_, x, m)| c + Vec3::from(*x) * (m / total));
        let found = placed(&FittedFrame::rigid(&rest, Pose::at(centre.into())), &x).unwrap();
        let misfit = |p: Vec3, q: [f64; 4]| -> f64 {
            let of = |(k, (_, r, m)): (usize, &RestPoint)| {
                m * (vec3(&x, 3 * k) - p - rotation::rotate(q, Vec3::from(*r) - centre)).norm_squared()
            };
            rest.iter().enumerate().map(of).sum()
        };
        let q = [found[3], found[4], found[5], found[6]];
        let least = misfit(vec3(&found, 0), q);
        for other in poses(seed + 80, 20) {
            // All rotations, near and far, and shifts.
            for size in [1e-3, 0.1, 1.0] {
                let r = Vec3::new(other.rotation[1], other.rotation[2], other.rotation[3]) * (3.0 * size);
                let shift = vec3(&found, 0) + Vec3::from(other.position) * (size * 1e-3);
                assert!(
                    misfit(shift, rotation::multiply(q, rotation::exp(r))) > least,
                    "{seed}"
                );
            }
        }
    }
}

#[test]
fn forces_keep_their_resultant_and_their_moment() {
    for seed in 1..30 {
        let rest = cloud(seed, 6);
        let n = numbers(seed + 9, 24);
        let x: Vec<f64> = moved(&rest, |x| x)
            .iter()
            .zip(&n)
            .map(|(x, n)| x + 0.2 * n)
            .collect();
        for frame in fits(&rest, poses(seed, 1)[0]) {
            let places: Vec<[f64; 3]> = x.as_chunks().0.to_vec();
            let mut model = Model::new();
            let parent = model.add_particles("points", &places).unwrap();
            let child = model
                .add_mapped("frame", &[parent], FittedFrames::new(&[frame]))
                .unwrap();
            let mut state = model.initial_state().unwrap();
            let mut evaluation = Evaluation::new(&model);
            evaluation.propagate(&model, &mut state).unwrap();
            let mut f = vec![0.0; model.velocity_count()];
            let wrench = model.node(child).velocity_range();
            f[wrench].copy_from_slice(&n[18..]);
            evaluation.pull_back(&model, &mut f);
            let at = model.positions(&state, child);
            let turn = rotation::matrix([at[3], at[4], at[5], at[6]]);
            let (mut force, mut moment) = (Vec3::zeros(), Vec3::zeros());
            let range = model.node(parent).velocity_range();
            for (k, g) in f[range].chunks_exact(3).enumerate() {
                force += vec3(g, 0);
                moment += (vec3(&x, 3 * k) - vec3(at, 0)).cross(&vec3(g, 0));
            }
            assert!((force - vec3(&n, 18)).amax() < 1e-13);
            // Rounding, times the condition of the fit.
            assert!((moment - turn * vec3(&n, 21)).amax() < 1e-12, "{seed}");
        }
    }
}

#[test]
fn quaternions_do_not_jump() {
    let rest = cloud(3, 5);
    let mut model = Model::new();
    let places: Vec<[f64; 3]> = rest.iter().map(|r| r.1).collect();
    let parent = model.add_particles("points", &places).unwrap();
    let frame = FittedFrame::rigid(&rest, Pose::default());
    let child = model
        .add_mapped("frame", &[parent], FittedFrames::new(&[frame]))
        .unwrap();
    let mut state = model.initial_state().unwrap();
    let mut last = model.positions(&state, child).to_vec();
    let start = last.clone();
    // A full turn takes the quaternion to its opposite.
    for k in 1..=100 {
        let q = rotation::exp(Vec3::new(0.6, 0.0, 0.8) * (f64::from(k) * 2.0 * std::f64::consts::PI / 100.0));
        let x = moved(&rest, |x| rotation::rotate(q, x));
        let range = model.node(parent).position_range();
        state.positions[range].copy_from_slice(&x);
        model.propagate(&mut state).unwrap();
        let at = model.positions(&state, child);
        let jump = at[3..]
            .iter()
            .zip(&last[3..])
            .fold(0.0f64, |w, (a, b)| w.max((a - b).abs()));
        assert!(jump < 0.04, "{k}: {jump}");
        last = at.to_vec();
    }
    for (a, b) in last[3..].iter().zip(&start[3..]) {
        assert!((a + b).abs() < 1e-13);
    }
}

#[test]
fn frames_that_cannot_be_fitted_are_named() {
    let frame = |rest: &[RestPoint]| FittedFrame::rigid(rest, Pose::default());
    let of = |frame: FittedFrame| refused(&FittedFrames::new(&[frame]), &[(POINTS, 8)]);
    let rest = cloud(1, 4);
    assert!(matches!(
        of(frame(&rest[..2])),
        ModelError::Size { .. } | ModelError::OutOfRange { .. }
    ));
    let twice = [rest[0], rest[1], rest[0], rest[2]];
    assert!(
        of(frame(&twice)).to_string().contains("twice"),
        "{}",
        of(frame(&twice))
    );
    let mut bad = rest.clone();
    bad[2].2 = -1.0;
    assert!(matches!(of(frame(&bad)), ModelError::Degenerate { .. }));
    bad[2].2 = f64::NAN;
    assert!(matches!(of(frame(&bad)), ModelError::Degenerate { .. }));
    // One place for all points has no extent.
    let heap: Vec<RestPoint> = rest.iter().map(|(on, _, m)| (*on, [1.0; 3], *m)).collect();
    assert!(matches!(of(frame(&heap)), ModelError::Degenerate { .. }));
    let plane: Vec<RestPoint> = rest
        .iter()
        .map(|(on, [x, y, _], m)| (*on, [*x, *y, 2.0], *m))
        .collect();
    let affine = of(FittedFrame::affine(&plane, Pose::default()));
    assert!(affine.to_string().contains("extent"), "{affine}");
    let mut far = rest.clone();
    far[0].0 = on(8);
    assert!(matches!(of(frame(&far)), ModelError::Element { .. }));
    let own = |weight: f64, gradient: [f64; 3]| {
        let mut own = frame(&rest);
        own.points[1] = FramePoint {
            on: on(1),
            weight,
            gradient,
        };
        of(own)
    };
    assert!(matches!(
        own(7.0, frame(&rest).points[1].gradient),
        ModelError::OutOfRange { .. }
    ));
    let weight = frame(&rest).points[1].weight;
    assert!(own(weight, [9.0; 3]).to_string().contains("add up to zero"));
    assert!(matches!(
        refused(&FittedFrames::new(&[frame(&rest)]), &[(RIGID, 8)]),
        ModelError::Space { .. }
    ));
    // Where they are now on a line, or mirrored in a plane.
    let line = placed(&frame(&rest), &moved(&rest, |x| Vec3::new(x.x, 2.0 * x.x, 0.0)));
    assert!(line.unwrap_err().to_string().contains("line"));
    let regular: Vec<RestPoint> = (0..6)
        .map(|k| {
            let mut x = [0.0; 3];
            x[k % 3] = if k < 3 { 1.0 } else { -1.0 };
            (on(k), x, 1.0)
        })
        .collect();
    let mirrored = placed(&frame(&regular), &moved(&regular, |x| Vec3::new(-x.x, x.y, x.z)));
    assert!(mirrored.unwrap_err().to_string().contains("reflected"));
    assert!(
        check::mapping(
            &FittedFrames::new(&[frame(&regular)]),
            &[(POINTS, 6)],
            &moved(&regular, |x| x),
            1
        )
        .unwrap()
        .worst()
            < TOLERANCE
    );
}
