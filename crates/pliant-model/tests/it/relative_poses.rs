//! Relative poses and beam strains.

use crate::body_tools::*;
use pliant_dense::rotation;
use pliant_model::dual::{Dual, DualNum, conjugate, multiply, rotate};
use pliant_model::{
    BeamSegment, BeamStrain, JointFrame, Model, ModelError, Pose, RelativePose, RelativeRotation,
};
use std::f64::consts::PI;

/// The matrix `V` of the exponential of a twist, columns, by its power series or closed form; `r`
/// not longer than a full turn.
fn solve_v(r: &[Dual; 3], t: &[Dual; 3]) -> [Dual; 3] {
    let s = dot(r, r);
    let one = Dual::from(1.0);
    let (a, b) = if s.re < 0.5 {
        let (mut a, mut b) = (Dual::from(0.0), Dual::from(0.0));
        for n in (0..12).rev() {
            // (1 - cos)/x^2 and (x - sin)/x^3 by Horner's rule.
            let m = 2.0 * f64::from(n);
            a = (one - a * s) / ((m + 1.0) * (m + 2.0));
            b = (one - b * s) / ((m + 2.0) * (m + 3.0));
        }
        (a, b)
    } else {
        let x = s.sqrt();
        ((one - x.cos()) / s, (x - x.sin()) / (s * x))
    };
    let entry = |i: usize, j: usize| {
        let skew = match (j + 3 - i) % 3 {
            0 => Dual::from(0.0),
            1 => -r[3 - i - j],
            _ => r[3 - i - j],
        };
        let eye = f64::from(u8::from(i == j));
        a * skew + b * (r[i] * r[j] - s * eye) + eye
    };
    // Cramer's rule.
    let column = |j: usize| [entry(0, j), entry(1, j), entry(2, j)];
    let det = |a: &[Dual; 3], b: &[Dual; 3], c: &[Dual; 3]| {
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    let (x, y, z) = (column(0), column(1), column(2));
    let all = det(&x, &y, &z);
    [det(t, &y, &z) / all, det(&x, t, &z) / all, det(&x, &y, t) / all]
}

/// Quaternion product with the inverse of a constant pose before it.
fn from_rest(t: &[Dual; 3], q: &[Dual; 4], rest: &Pose) -> ([Dual; 3], [Dual; 4]) {
    let back = rotation::conjugate(rest.rotation).map(Dual::from);
    let d = sub(t, &rest.position.map(Dual::from));
    (rotate(&back, &d), multiply(&back, q))
}

fn split_formula(a: JointFrame, b: JointFrame, rest: Pose, last: [f64; 3]) -> impl Fn(&[Dual]) -> Vec<Dual> {
    move |x| {
        let (t, q) = motion(x, &a, &b, &[0, 14]);
        let (_, q) = from_rest(&t, &q, &rest);
        let linear = sub(&t, &rest.position.map(Dual::from));
        [linear, log(&q, &last)].concat()
    }
}

fn twist_formula(a: JointFrame, b: JointFrame, rest: Pose, last: [f64; 3]) -> impl Fn(&[Dual]) -> Vec<Dual> {
    move |x| {
        let (t, q) = motion(x, &a, &b, &[0, 14]);
        let (t, q) = from_rest(&t, &q, &rest);
        let r = log(&q, &last);
        [solve_v(&r, &t), r].concat()
    }
}

/// Rest strains are those of `segment`; `last` is a rotation vector.
fn beam_formula(segment: BeamSegment, last: [f64; 3]) -> impl Fn(&[Dual]) -> Vec<Dual> {
    move |x| {
        let (t, q) = motion(x, &segment.a, &segment.b, &[0, 14]);
        let r = log(&q, &last);
        // Half the rotation: (1 + w, v) of that of the two quaternions whose vector points along r.
        let along = dot(&q[1..], &r).re;
        let flip = (if along == 0.0 { q[0].re } else { along }).signum();
        let half = [q[0] * flip + 1.0, q[1] * flip, q[2] * flip, q[3] * flip];
        let norm = (half[0] * half[0] + dot(&half[1..], &half[1..])).sqrt();
        let half = half.map(|a| a / norm);
        let stretch = rotate(&conjugate(&half), &t);
        let over = 1.0 / segment.length;
        let all = stretch.iter().chain(&r);
        let rest = segment.rest_stretch.into_iter().chain(segment.rest_curvature);
        all.zip(rest).map(|(x, rest)| *x * over - rest).collect()
    }
}

fn segment(a: JointFrame, b: JointFrame, n: &[f64]) -> BeamSegment {
    BeamSegment {
        length: 0.7,
        rest_stretch: [0.9, n[0], n[1]],
        rest_curvature: [n[2], n[3], n[4]],
        ..BeamSegment::straight(a, b, 1.0)
    }
}

#[test]
fn relative_poses_and_beams_at_random_states() {
    let mut tested = 0;
    for seed in 1..40 {
        let (bodies, frames) = (poses(seed, 3), poses(seed + 1000, 3));
        let [a, b] = [JointFrame::on(0, 1, frames[0]), JointFrame::on(1, 0, frames[1])];
        let x = flat(&bodies);
        let parents = [(RIGID, 2), (RIGID, 1)];
        let n = numbers(seed + 50, 5);
        for (a, b) in [
            (a, b),
            (JointFrame::world(frames[0]), b),
            (a, JointFrame::world(frames[1])),
            (JointFrame::on(0, 0, frames[1]), a),
        ] {
            tested += 1;
            let rest = frames[2];
            let split = RelativePose::split(&[(a, b)]).with_rest_poses(&[rest]);
            checked(&split, &parents, &x, seed);
            exact(&split, &parents, &x, seed, split_formula(a, b, rest, [0.0; 3]));
            let twist = RelativePose::twist(&[(a, b)]).with_rest_poses(&[rest]);
            checked(&twist, &parents, &x, seed);
            exact(&twist, &parents, &x, seed, twist_formula(a, b, rest, [0.0; 3]));
            let segment = segment(a, b, &n);
            let beam = BeamStrain::new(&[segment]);
            checked(&beam, &parents, &x, seed);
            // The curvature zero of a new state is the rotation at rest.
            let last = segment.rest_curvature.map(|k| k * segment.length);
            exact(&beam, &parents, &x, seed, beam_formula(segment, last));
        }
        // Relative rotations and several elements at once.
        let pairs = [(a, b), (b, JointFrame::world(frames[2]))];
        checked(&RelativePose::twist(&pairs), &parents, &x, seed);
        checked(&RelativePose::split(&pairs), &parents, &x, seed);
    }
    assert!(tested > 100);
}

#[test]
fn relative_poses_and_beams_at_awkward_states() {
    let at = pose(&numbers(3, 7));
    let frames = poses(77, 2);
    let pair = (JointFrame::on(0, 0, frames[0]), JointFrame::on(0, 1, frames[1]));
    let rest = pose(&numbers(6, 7));
    for axis in [[0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.6, 0.48, -0.64]] {
        let axis = pliant_dense::Vec3::from(axis);
        for angle in [
            0.0,
            1e-9,
            1e-5,
            1e-3,
            0.1,
            0.5,
            1.0,
            3.0,
            PI - 1e-3,
            PI - 1e-9,
            PI,
            PI + 1e-9,
            PI + 1e-3,
            4.5,
            5.5,
        ] {
            for position in [[0.0; 3], [1e-12, 0.0, 0.0], [0.3, -2.0, 1.0]] {
                let moved = Pose {
                    position,
                    rotation: rotation::exp(axis * angle),
                };
                let last = axis * (angle - 0.1);
                let last3 = [last.x, last.y, last.z];
                let from = |rest: &Pose| [at, placed(&at, &frames[0], &after(rest, &moved), &frames[1])];
                let state: Vec<f64> = [0.0; 3].into_iter().chain(last3).collect();
                let split = RelativePose::split(&[pair]).with_rest_poses(&[rest]);
                let found = difference_after(
                    &split,
                    &from(&rest),
                    &state,
                    split_formula(pair.0, pair.1, rest, last3),
                );
                assert!(found < EXACT, "split {angle} {position:?} {found:e}");
                checked(&split, &[(RIGID, 2)], &flat(&from(&rest)), 8);
                let twist = RelativePose::twist(&[pair]).with_rest_poses(&[rest]);
                let found = difference_after(
                    &twist,
                    &from(&rest),
                    &state,
                    twist_formula(pair.0, pair.1, rest, last3),
                );
                assert!(found < EXACT, "twist {angle} {position:?} {found:e}");
                checked(&twist, &[(RIGID, 2)], &flat(&from(&rest)), 8);
                let segment = segment(pair.0, pair.1, &[0.1, 0.2, 0.3, -0.4, 0.5]);
                let bodies = from(&Pose::default());
                let strain: Vec<f64> = (0..6)
                    .map(|k| {
                        if k < 3 {
                            0.0
                        } else {
                            last3[k - 3] / segment.length - segment.rest_curvature[k - 3]
                        }
                    })
                    .collect();
                let beam = BeamStrain::new(&[segment]);
                let found = difference_after(&beam, &bodies, &strain, beam_formula(segment, last3));
                assert!(found < EXACT, "beam {angle} {position:?} {found:e}");
                checked(&beam, &[(RIGID, 2)], &flat(&bodies), 8);
                let rotation = RelativeRotation::new(&[(0, 1)]).with_rest_rotations(&[rest.rotation]);
                let bodies = [at, after(&at, &after(&rest, &moved))];
                let plain = [0, 1].map(|k| JointFrame::on(0, k, Pose::default()));
                let formula = split_formula(plain[0], plain[1], rest, last3);
                let found = difference_after(&rotation, &bodies, &last3, |x| formula(x)[3..].to_vec());
                assert!(found < EXACT, "rotation {angle} {found:e}");
                checked(&rotation, &[(RIGID, 2)], &flat(&bodies), 8);
            }
        }
    }
}

#[test]
fn the_exponential_of_a_twist_is_the_pose() {
    let (at, moved) = (pose(&numbers(31, 7)), pose(&numbers(32, 7)));
    let frames = [0, 1].map(|k| JointFrame::on(0, k, Pose::default()));
    let mut model = Model::new();
    let bodies = model
        .add_rigid_bodies("bodies", &[at, after(&at, &moved)])
        .unwrap();
    let twist = RelativePose::twist(&[(frames[0], frames[1])]);
    let child = model.add_mapped("twist", &[bodies], twist).unwrap();
    let state = model.initial_state().unwrap();
    let x = model.positions(&state, child);
    // A thousand and twenty-four small screws, squared up; each wrong by the square of its size.
    let small = |k: usize| x[k] / f64::from(1 << 20);
    let mut motion = Pose {
        position: [small(0), small(1), small(2)],
        rotation: rotation::exp([small(3), small(4), small(5)].into()),
    };
    for _ in 0..20 {
        motion = after(&motion, &motion);
    }
    for k in 0..3 {
        assert!((motion.position[k] - moved.position[k]).abs() < 1e-5);
    }
    let apart = rotation::multiply(rotation::conjugate(motion.rotation), moved.rotation);
    assert!(rotation::log(apart).norm() < 1e-9);
}

#[test]
fn strains_do_not_see_a_rigid_motion() {
    let (bodies, frames) = (poses(41, 2), poses(42, 2));
    let pair = (JointFrame::on(0, 0, frames[0]), JointFrame::on(0, 1, frames[1]));
    let curved = BeamSegment::at_rest(pair.0, pair.1, &bodies[0], &bodies[1]);
    let straight = BeamSegment::straight(pair.0, pair.1, 0.5);
    let strains = |bodies: &[Pose]| {
        let mut model = Model::new();
        let parent = model.add_rigid_bodies("bodies", bodies).unwrap();
        let child = model
            .add_mapped("strains", &[parent], BeamStrain::new(&[curved, straight]))
            .unwrap();
        let state = model.initial_state().unwrap();
        model.positions(&state, child).to_vec()
    };
    let before = strains(&bodies);
    assert!(before[..6].iter().all(|x| x.abs() < 1e-14), "{before:?}");
    let motion = pose(&numbers(43, 7));
    let moved = [after(&motion, &bodies[0]), after(&motion, &bodies[1])];
    for (a, b) in before.iter().zip(strains(&moved)) {
        assert!((a - b).abs() < 1e-13, "{a} {b}");
    }
}

#[test]
fn poses_and_beams_that_make_no_sense() {
    let two = [(RIGID, 2)];
    let frame = |k: usize| JointFrame::on(0, k, Pose::default());
    let good = (frame(0), frame(1));
    let same = RelativePose::split(&[(frame(1), frame(1))]);
    assert!(matches!(refused(&same, &two), ModelError::Degenerate { .. }));
    let few = RelativePose::twist(&[good; 3]).with_rest_poses(&[Pose::default(); 2]);
    assert!(matches!(refused(&few, &two), ModelError::Size { .. }));
    let not_a_unit = Pose {
        position: [0.0; 3],
        rotation: [0.0; 4],
    };
    let twist = RelativePose::twist(&[good]).with_rest_poses(&[not_a_unit]);
    assert!(matches!(refused(&twist, &two), ModelError::OutOfRange { .. }));
    for length in [0.0, -1.0, f64::INFINITY] {
        let beam = BeamStrain::new(&[BeamSegment::straight(good.0, good.1, length)]);
        assert!(matches!(refused(&beam, &two), ModelError::OutOfRange { .. }));
    }
    let mut lost = BeamSegment::straight(good.0, good.1, 1.0);
    lost.rest_curvature[1] = f64::NAN;
    assert!(matches!(
        refused(&BeamStrain::new(&[lost]), &two),
        ModelError::NotFinite { .. }
    ));
    let not_a_unit = Pose {
        position: [0.0; 3],
        rotation: [1.0, 1.0, 1.0, 1.0],
    };
    let segment = BeamSegment::at_rest(good.0, good.1, &Pose::at([1.0; 3]), &not_a_unit);
    assert!(matches!(
        refused(&BeamStrain::new(&[segment]), &two),
        ModelError::NotFinite { .. }
    ));
    let point = BeamSegment::at_rest(good.0, good.1, &Pose::default(), &Pose::default());
    assert!(matches!(
        refused(&BeamStrain::new(&[point]), &two),
        ModelError::OutOfRange { .. }
    ));
}
