//! Mappings on bodies: frames, skins, ropes, gears.

use crate::body_tools::*;
use pliant_dense::rotation;
use pliant_model::dual::{Dual, DualNum, displace, multiply};
use pliant_model::{
    Coordinate, Dependency, End, Evaluation, Gear, Influence, JointFrame, Model, ModelError, Pose,
    RigidFrames, Rope, RopePath, Skinning, Space, Winch, check,
};

#[test]
fn frames_that_ride_on_bodies() {
    for seed in 1..60 {
        let (bodies, offsets) = (poses(seed, 3), poses(seed + 500, 3));
        let frames = [
            (Dependency::new(0, 1), offsets[0]),
            (Dependency::new(1, 0), offsets[1]),
            (Dependency::new(0, 1), offsets[2]),
        ];
        let parents = [(RIGID, 2), (RIGID, 1)];
        checked(&RigidFrames::of_parents(&frames), &parents, &flat(&bodies), seed);
        // J by dual numbers: the displacement of the child's seven numbers, its rotation in the
        // child's axes.
        let mut model = Model::new();
        let parent = model.add_rigid_bodies("bodies", &bodies[..1]).unwrap();
        let mapping = RigidFrames::new(&[(0, offsets[0])]);
        let child = model.add_mapped("frame", &[parent], mapping).unwrap();
        let mut state = model.initial_state().unwrap();
        let mut evaluation = Evaluation::new(&model);
        evaluation.propagate(&model, &mut state).unwrap();
        let j = evaluation.jacobian(child.index()).unwrap().block(0).to_vec();
        let frame = JointFrame::on(0, 0, offsets[0]);
        let (x, at) = (flat(&bodies[..1]), frame.at(&bodies[0]));
        let mut moved = [Dual::from(0.0); 7];
        for k in 0..6 {
            displace(RIGID, &x, Some(k), None, &mut moved);
            let (p, q) = frame_at(&moved, &frame, &[0]);
            let turn = multiply(&rotation::conjugate(at.rotation).map(Dual::from), &q);
            for i in 0..3 {
                assert!((j[i * 6 + k] - p[i].eps1).abs() < 1e-14);
                assert!((j[(3 + i) * 6 + k] - 2.0 * turn[1 + i].eps1).abs() < 1e-14);
                assert!((model.positions(&state, child)[i] - at.position[i]).abs() < 1e-15);
            }
        }
    }
    let frames = |pose: Pose| RigidFrames::new(&[(0, pose)]);
    let one = [(RIGID, 1)];
    assert!(matches!(
        refused(&RigidFrames::new(&[(1, Pose::default())]), &one),
        ModelError::Element { .. }
    ));
    assert!(matches!(
        refused(&frames(Pose::default()), &[(Space::Real(3), 1)]),
        ModelError::Space { .. }
    ));
    assert!(matches!(
        refused(&frames(Pose::at([f64::NAN; 3])), &one),
        ModelError::NotFinite { .. }
    ));
    let long = Pose {
        position: [0.0; 3],
        rotation: [2.0, 0.0, 0.0, 0.0],
    };
    assert!(matches!(
        refused(&frames(long), &one),
        ModelError::OutOfRange { .. }
    ));
}

#[test]
fn points_carried_by_several_bodies() {
    let on = [
        Dependency::new(0, 0),
        Dependency::new(1, 0),
        Dependency::new(0, 1),
    ];
    for seed in 1..40 {
        let (bodies, n) = (poses(seed, 3), numbers(seed + 7, 20));
        let point = |list: &[usize]| -> Vec<Influence> {
            list.iter()
                .map(|k| Influence {
                    on: on[*k],
                    weight: n[*k].abs(),
                    local: [n[3 + k], n[6 + k], 2.0 * n[9 + k]],
                })
                .collect()
        };
        let points = [point(&[0, 1, 2]), point(&[2]), point(&[1, 0])];
        let mapping = Skinning::new(&points);
        let parents = [(RIGID, 2), (RIGID, 1)];
        let x = flat(&bodies);
        checked(&mapping, &parents, &x, seed);
        let formula = |x: &[Dual]| -> Vec<Dual> {
            let mut out = Vec::new();
            for list in &points {
                let sum: f64 = list.iter().map(|i| i.weight).sum();
                let mut at = [Dual::from(0.0); 3];
                for i in list {
                    let (p, _) = frame_at(
                        x,
                        &JointFrame {
                            on: Some(i.on),
                            pose: Pose::at(i.local),
                        },
                        &[0, 14],
                    );
                    for k in 0..3 {
                        at[k] += p[k] * (i.weight / sum);
                    }
                }
                out.extend(at);
            }
            out
        };
        exact(&mapping, &parents, &x, seed, formula);
    }
    // At rest the points are where they were given.
    let rest = poses(5, 2);
    let bodies = [0, 1].map(|k| (Dependency::new(0, k), rest[k]));
    let points = [[1.0, 2.0, 3.0], [-1.0, 0.0, 1e5]];
    let weights = [vec![(0, 3.0), (1, 1.0)], vec![(1, 0.2)]];
    let mut model = Model::new();
    let parent = model.add_rigid_bodies("bodies", &rest).unwrap();
    let skin = Skinning::at_rest(&points, &bodies, &weights);
    let child = model.add_mapped("skin", &[parent], skin).unwrap();
    let state = model.initial_state().unwrap();
    for (a, b) in model.positions(&state, child).iter().zip(points.as_flattened()) {
        assert!((a - b).abs() < 1e-15 * (10.0 + 2e5), "{a} {b}");
    }
    let of =
        |weights: &[Vec<(usize, f64)>]| refused(&Skinning::at_rest(&points, &bodies, weights), &[(RIGID, 2)]);
    assert!(matches!(
        of(&[vec![(2, 1.0)], vec![(0, 1.0)]]),
        ModelError::Parent { .. }
    ));
    assert!(matches!(of(&[vec![(0, 1.0)]]), ModelError::OutOfRange { .. }));
    assert!(matches!(
        of(&[vec![(0, -1.0)], vec![(0, 1.0)]]),
        ModelError::OutOfRange { .. }
    ));
    assert!(matches!(
        of(&[vec![(0, f64::NAN)], vec![(0, 1.0)]]),
        ModelError::NotFinite { .. }
    ));
    assert!(matches!(
        of(&[vec![(0, 0.0)], vec![(0, 1.0)]]),
        ModelError::OutOfRange { .. }
    ));
    assert!(matches!(
        of(&[vec![(0, 1.0), (0, 2.0)], vec![(0, 1.0)]]),
        ModelError::Degenerate { .. }
    ));
}

/// `sum |p - q|` of the points at these places of `x`, or fixed.
fn rope_length(x: &[Dual], points: &[Result<usize, [f64; 3]>]) -> Dual {
    let at = |p: &Result<usize, [f64; 3]>| match p {
        Ok(k) => [x[*k], x[k + 1], x[k + 2]],
        Err(p) => p.map(Dual::from),
    };
    let mut sum = Dual::from(0.0);
    for pair in points.windows(2) {
        let d = sub(&at(&pair[1]), &at(&pair[0]));
        sum += dot(&d, &d).sqrt();
    }
    sum
}

#[test]
fn ropes() {
    let parents = [
        (Space::Real(3), 3),
        (Space::Real(1), 2),
        (Space::Real(3), 1),
        (Space::Real(2), 1),
    ];
    let fixed = [0.1, 4.0, 0.3];
    let drum = |parent, element, index| Coordinate::new(parent, element, index);
    // A tackle: over the fixed point, twice through point 1, once more over the fixed one; two
    // drums, one of them used twice.
    let tackle = RopePath::through(
        &[
            End::element(0, 0),
            End::element(0, 1),
            End::Point(fixed),
            End::element(0, 1),
            End::element(2, 0),
            End::Point(fixed),
        ],
        2.0,
    )
    .with_drum(drum(1, 1, 0), 0.3)
    .with_drum(drum(3, 0, 1), -0.7)
    .with_drum(drum(1, 1, 0), 0.1);
    let plain = RopePath::through(&[End::element(0, 2), End::element(0, 0)], 0.0);
    // A drum whose angle is a coordinate of a point, for want of a better place.
    let mixed =
        RopePath::through(&[End::Point([9.0; 3]), End::element(0, 2)], 0.0).with_drum(drum(0, 2, 1), 2.0);
    let rope = Rope::new(&[tackle.clone(), plain, mixed]);
    let formula = |x: &[Dual]| {
        let (f, p) = (Err(fixed), Ok::<usize, [f64; 3]>);
        vec![
            rope_length(x, &[p(0), p(3), f, p(3), p(11), f]) - 2.0 + x[10] * 0.4 - x[15] * 0.7,
            rope_length(x, &[p(6), p(0)]),
            rope_length(x, &[Err([9.0; 3]), p(6)]) + x[7] * 2.0,
        ]
    };
    for seed in 1..80 {
        let mut x = numbers(seed, 16);
        x[0] += 3.0;
        x[6] -= 3.0;
        x[11] += 6.0;
        checked(&rope, &parents, &x, seed);
        exact(&rope, &parents, &x, seed, formula);
        // Far away, where positions carry roundings of 1e5 times 1e-16 against lengths of one.
        for k in [0, 3, 6, 11] {
            x[k] += 1e5;
        }
        exact(&rope, &parents, &x, seed, formula);
    }
    let mut x = numbers(3, 16);
    x.copy_within(0..3, 3);
    let found = check::mapping(&rope, &parents, &x, 1);
    assert!(matches!(found, Err(ModelError::Degenerate { .. })), "{found:?}");

    let of = |path: RopePath| refused(&Rope::new(&[path]), &parents);
    let ends = |points: &[End]| RopePath::through(points, 1.0);
    assert!(matches!(of(ends(&[End::element(0, 0)])), ModelError::Size { .. }));
    assert!(matches!(
        of(ends(&[End::element(0, 0); 2])),
        ModelError::Degenerate { .. }
    ));
    assert!(matches!(
        of(ends(&[End::Point([0.0; 3]), End::Point([1.0; 3])])),
        ModelError::Degenerate { .. }
    ));
    assert!(matches!(
        of(ends(&[End::element(0, 0), End::element(0, 7)])),
        ModelError::Element { .. }
    ));
    assert!(matches!(
        of(ends(&[End::element(0, 0), End::element(7, 0)])),
        ModelError::Parent { .. }
    ));
    assert!(matches!(
        of(ends(&[End::element(0, 0), End::element(1, 0)])),
        ModelError::Space { .. }
    ));
    assert!(matches!(
        of(ends(&[End::element(0, 0), End::Point([f64::NAN; 3])])),
        ModelError::NotFinite { .. }
    ));
    assert!(matches!(
        of(tackle.clone().with_drum(drum(1, 0, 1), 1.0)),
        ModelError::Size { .. }
    ));
    assert!(matches!(
        of(tackle.clone().with_drum(drum(1, 0, 0), f64::NAN)),
        ModelError::NotFinite { .. }
    ));
    let with = |rest_length| RopePath {
        rest_length,
        ..tackle.clone()
    };
    assert!(matches!(of(with(-1.0)), ModelError::OutOfRange { .. }));
    assert!(matches!(of(with(f64::INFINITY)), ModelError::NotFinite { .. }));
}

#[test]
fn gears_and_winches() {
    let parents = [(Space::Real(1), 2), (Space::Real(4), 2)];
    let c = Coordinate::new;
    let gear = Gear::new(&[
        (c(0, 0, 0), c(1, 1, 3), 2.5),
        // A screw: both coordinates of one joint.
        (c(1, 0, 2), c(1, 0, 1), -0.1),
    ])
    .with_offset(0.25);
    let winch =
        Winch::new(&[(c(1, 1, 0), c(0, 1, 0), 0.4), (c(0, 0, 0), c(0, 1, 0), -1.0)]).with_offset(-0.5);
    for seed in 1..20 {
        let x = numbers(seed, 10);
        checked(&gear, &parents, &x, seed);
        exact(&gear, &parents, &x, seed, |x| {
            vec![x[0] + x[9] * 2.5 - 0.25, x[4] - x[3] * 0.1 - 0.25]
        });
        checked(&winch, &parents, &x, seed);
        exact(&winch, &parents, &x, seed, |x| {
            vec![x[6] * 0.4 - x[1] + 0.5, -x[0] - x[1] + 0.5]
        });
    }
    let of = |a, b, ratio| {
        let _ = refused(&Winch::new(&[(a, b, ratio)]), &parents);
        refused(&Gear::new(&[(a, b, ratio)]), &parents)
    };
    assert!(matches!(
        of(c(0, 0, 0), c(0, 0, 0), 1.0),
        ModelError::Degenerate { .. }
    ));
    assert!(matches!(of(c(0, 0, 0), c(1, 0, 4), 1.0), ModelError::Size { .. }));
    assert!(matches!(
        of(c(0, 0, usize::MAX), c(1, 0, 0), 1.0),
        ModelError::Size { .. }
    ));
    assert!(matches!(
        of(c(0, 2, 0), c(1, 0, 0), 1.0),
        ModelError::Element { .. }
    ));
    assert!(matches!(
        of(c(2, 0, 0), c(1, 0, 0), 1.0),
        ModelError::Parent { .. }
    ));
    assert!(matches!(
        of(c(0, 0, 0), c(1, 0, 0), f64::NAN),
        ModelError::NotFinite { .. }
    ));
    let found = refused(&Gear::new(&[(c(0, 0, 0), c(0, 1, 0), 1.0)]), &[(RIGID, 2)]);
    assert!(matches!(found, ModelError::Space { .. }));
}
