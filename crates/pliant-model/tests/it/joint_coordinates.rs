//! Joint coordinates.

use crate::body_tools::*;
use pliant_dense::rotation;
use pliant_model::{
    Evaluation, FramePair, JointAxis, JointCoordinates, JointFrame, JointKind, Model, ModelError, Pose,
    Space, check,
};
use std::f64::consts::{FRAC_PI_2, PI};

#[test]
fn joint_coordinates_at_random_states() {
    let mut tested = 0;
    for seed in 1..60 {
        let (bodies, frames) = (poses(seed, 3), poses(seed + 1000, 2));
        let [a, b] = [JointFrame::on(0, 1, frames[0]), JointFrame::on(1, 0, frames[1])];
        let x = flat(&bodies);
        let parents = [(RIGID, 2), (RIGID, 1)];
        let first = [0, 14];
        for (a, b) in [
            (a, b),
            (JointFrame::world(frames[0]), b),
            (a, JointFrame::world(frames[1])),
            (JointFrame::on(0, 0, frames[1]), a),
        ] {
            let world = |f: &JointFrame| {
                f.on.map_or(f.pose, |at| f.at(&bodies[2 * at.parent + at.element]))
            };
            let c = relative(&world(&a), &world(&b)).rotation;
            if !tame(&c) {
                continue;
            }
            tested += 1;
            let joint = FramePair {
                a,
                b,
                axes: AXES.to_vec(),
            };
            let mapping = JointCoordinates::new(std::slice::from_ref(&joint));
            checked(&mapping, &parents, &x, seed);
            exact(&mapping, &parents, &x, seed, joint_formula(&joint, &first, &[]));
            for axis in AXES {
                let mapping = JointCoordinates::of_pairs(&[(a, b)], &[axis]);
                checked(&mapping, &parents, &x, seed);
            }
        }
    }
    assert!(tested > 100, "{tested}");
}

/// Joints in awkward positions: relative poses with the branch of the rotation vector that its last
/// value asks for.
#[test]
fn joint_coordinates_at_awkward_states() {
    let at = pose(&numbers(3, 7));
    let frames = poses(77, 2);
    let quarter = rotation::multiply(
        rotation::exp([FRAC_PI_2, 0.0, 0.0].into()),
        rotation::exp([0.0, FRAC_PI_2, 0.0].into()),
    );
    let mut rotations = vec![rotation::IDENTITY, quarter];
    for axis in [[0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.6, 0.48, -0.64]] {
        for angle in [
            1e-9,
            1e-3,
            3.0,
            PI - 1e-3,
            PI - 1e-9,
            PI,
            PI + 1e-9,
            PI + 1e-3,
            4.5,
            5.5,
        ] {
            rotations.push(rotation::exp(pliant_dense::Vec3::from(axis) * angle));
        }
    }
    for q in rotations {
        for position in [[0.0; 3], [1e-12, 0.0, 0.0], [0.3, -2.0, 1.0]] {
            let relative = Pose {
                position,
                rotation: q,
            };
            let body = placed(&at, &frames[0], &relative, &frames[1]);
            let pair = (JointFrame::on(0, 0, frames[0]), JointFrame::on(0, 1, frames[1]));
            // Rotation vectors are followed with all three coordinates: one may be the same both
            // ways round.
            let three = [0, 1, 2].map(JointAxis::Rotation);
            let lists = AXES.iter().map(|axis| vec![*axis]).chain([three.to_vec()]);
            for axes in lists {
                let joint = FramePair {
                    a: pair.0,
                    b: pair.1,
                    axes: axes.clone(),
                };
                let smooth = match axes[0] {
                    JointAxis::Rotation(_) => axes.len() == 3 || rotation::log(q).norm() < 3.1,
                    JointAxis::Translation(_) | JointAxis::Misalignment(..) => true,
                    _ => tame(&q),
                };
                if !smooth {
                    continue;
                }
                let mapping = JointCoordinates::new(std::slice::from_ref(&joint));
                let x = flat(&[at, body]);
                checked(&mapping, &[(RIGID, 2)], &x, 7);
                // At the half turn itself rounding decides which way round a new state is read.
                if (rotation::log(q).norm() - PI).abs() > 1e-12 {
                    exact(&mapping, &[(RIGID, 2)], &x, 9, joint_formula(&joint, &[0], &[]));
                }
            }
        }
    }
}

#[test]
fn rotation_vectors_go_on_past_a_half_turn() {
    let at = pose(&numbers(4, 7));
    let frames = poses(78, 2);
    let pair = (JointFrame::on(0, 0, frames[0]), JointFrame::on(0, 1, frames[1]));
    let axes = [0, 1, 2].map(JointAxis::Rotation);
    let mapping = JointCoordinates::of_pairs(&[pair], &axes);
    let joint = FramePair {
        a: pair.0,
        b: pair.1,
        axes: axes.to_vec(),
    };
    let axis = pliant_dense::Vec3::new(0.6, 0.48, -0.64);
    for angle in [3.0, PI - 1e-3, PI - 1e-9, PI, PI + 1e-9, PI + 1e-3, 4.0, 5.0, 6.0] {
        let r = axis * angle;
        let relative = Pose {
            position: [0.1, 0.2, 0.3],
            rotation: rotation::exp(r),
        };
        let bodies = [at, placed(&at, &frames[0], &relative, &frames[1])];
        let last = axis * (angle - 0.1);
        let formula = joint_formula(&joint, &[0], last.as_slice());
        let found = difference_after(&mapping, &bodies, last.as_slice(), formula);
        assert!(found < EXACT, "{angle}: {found}");
    }
    // At a full turn there is none.
    let relative = Pose {
        position: [0.0; 3],
        rotation: rotation::exp(axis * (2.0 * PI - 1e-4)),
    };
    let mut model = Model::new();
    let parent = model
        .add_rigid_bodies("bodies", &[at, placed(&at, &frames[0], &relative, &frames[1])])
        .unwrap();
    let child = model.add_mapped("child", &[parent], mapping).unwrap();
    let mut state = model.initial_state().unwrap();
    let range = model.node(child).position_range();
    state.positions[range].copy_from_slice((axis * 6.0).as_slice());
    assert!(matches!(
        model.propagate(&mut state),
        Err(ModelError::Degenerate { .. })
    ));
}

/// Far from the origin positions carry roundings of 1e5 times 1e-16, and arms of 1e5 m make second
/// derivatives of that size: the differences are relative to those, the finite ones divided by
/// their step.
#[test]
fn joint_coordinates_far_away() {
    let mut bodies = poses(12, 2);
    let mut frames = poses(13, 2);
    for body in &mut bodies {
        body.position = body.position.map(|x| x + 1e5);
    }
    let parents = [(RIGID, 2)];
    let joint = |frames: &[Pose]| FramePair {
        a: JointFrame::on(0, 0, frames[0]),
        b: JointFrame::on(0, 1, frames[1]),
        axes: AXES.to_vec(),
    };
    let near = joint(&frames);
    let found = check::mapping_exactly(
        &JointCoordinates::new(std::slice::from_ref(&near)),
        &parents,
        &flat(&bodies),
        1,
        joint_formula(&near, &[0], &[]),
    )
    .unwrap();
    assert!(found.worst() < 1e-9, "{found:?}");
    frames[1].position = [1e5, -1e5, 0.0];
    let far = joint(&frames);
    let found = check::mapping_exactly(
        &JointCoordinates::new(std::slice::from_ref(&far)),
        &parents,
        &flat(&bodies),
        1,
        joint_formula(&far, &[0], &[]),
    )
    .unwrap();
    // Entries of size 1 beside entries of size 1e5.
    assert!(found.worst() < 1e-9, "{found:?}");
    let found = check::mapping(&JointCoordinates::new(&[far]), &parents, &flat(&bodies), 1).unwrap();
    assert!(found.worst() < 1e-2, "{found:?}");
}

#[test]
fn angles_count_full_turns() {
    let frames = poses(21, 2);
    let at = pose(&numbers(9, 7));
    let pair = (JointFrame::on(0, 0, frames[0]), JointFrame::on(0, 1, frames[1]));
    let axes = [
        JointAxis::Twist(0),
        JointAxis::HeadingInA { about: 0, of: 2 },
        JointAxis::HeadingInB { about: 0, of: 1 },
    ];
    let mut model = Model::new();
    let body = placed(&at, &frames[0], &Pose::default(), &frames[1]);
    let bodies = model.add_rigid_bodies("bodies", &[at, body]).unwrap();
    let child = model
        .add_mapped("hinge", &[bodies], JointCoordinates::of_pairs(&[pair], &axes))
        .unwrap();
    let mut state = model.initial_state().unwrap();
    let mut evaluation = Evaluation::new(&model);
    for k in 1..=500 {
        let turned = Pose::turned([0.0; 3], [1.0, 0.0, 0.0], f64::from(k) * 0.02 * PI);
        let body = placed(&at, &frames[0], &turned, &frames[1]);
        // A displacement, as a stepper makes it.
        let range = model.node(bodies).position_range();
        let mut step = [0.0; 12];
        RIGID.local(&state.positions[range.clone()], &flat(&[at, body]), &mut step);
        assert!(step.iter().all(|d| d.abs() < 0.3));
        RIGID.retract(&mut state.positions[range], &step);
        evaluation.propagate(&model, &mut state).unwrap();
    }
    for angle in model.positions(&state, child) {
        assert!((angle - 10.0 * PI).abs() < 1e-9, "{angle}");
    }
}

#[test]
fn a_universal_joint_tells_its_two_angles() {
    let axes = [
        JointAxis::HeadingInA { about: 0, of: 1 },
        JointAxis::HeadingInB { about: 1, of: 0 },
        JointAxis::Misalignment(0, 1),
    ];
    let mapping = JointCoordinates::of_pairs(
        &[(
            JointFrame::world(Pose::default()),
            JointFrame::on(0, 0, Pose::default()),
        )],
        &axes,
    );
    let turn = |k: usize, angle: f64| {
        rotation::exp(pliant_dense::Vec3::from_fn(
            |i, _| if i == k { angle } else { 0.0 },
        ))
    };
    let q = rotation::multiply(turn(0, 0.7), turn(1, -1.2));
    let mut model = Model::new();
    let body = Pose {
        position: [0.0; 3],
        rotation: q,
    };
    let body = model.add_rigid_bodies("body", &[body]).unwrap();
    let child = model.add_mapped("joint", &[body], mapping).unwrap();
    let state = model.initial_state().unwrap();
    for (x, y) in model.positions(&state, child).iter().zip([0.7, -1.2, 0.0]) {
        assert!((x - y).abs() < 1e-14, "{x} {y}");
    }
}

/// Euler angles of a rotation that is made of them, over several turns of the outer ones.
#[test]
fn gimbals_tell_their_three_angles() {
    let turn = |k: usize, angle: f64| {
        rotation::exp(pliant_dense::Vec3::from_fn(
            |i, _| if i == k { angle } else { 0.0 },
        ))
    };
    for (kind, [i, j, k]) in [
        (JointKind::GimbalXyz, [0, 1, 2]),
        (JointKind::GimbalXzy, [0, 2, 1]),
    ] {
        let axes: Vec<_> = kind.free_axes().iter().map(|(axis, _)| *axis).collect();
        let pair = (
            JointFrame::world(Pose::default()),
            JointFrame::on(0, 0, Pose::default()),
        );
        let mut model = Model::new();
        let body = model.add_rigid_bodies("body", &[Pose::default()]).unwrap();
        let child = model
            .add_mapped("joint", &[body], JointCoordinates::of_pairs(&[pair], &axes))
            .unwrap();
        let mut state = model.initial_state().unwrap();
        let mut evaluation = Evaluation::new(&model);
        for step in 0..=100 {
            let t = f64::from(step) * 0.1;
            let angles = [t, 1.4 * (0.7 * t).sin(), -1.3 * t];
            let turns = [turn(i, angles[0]), turn(j, angles[1]), turn(k, angles[2])];
            let q = rotation::multiply(rotation::multiply(turns[0], turns[1]), turns[2]);
            state.positions[model.node(body).position_range()][3..].copy_from_slice(&q);
            evaluation.propagate(&model, &mut state).unwrap();
            for (x, y) in model.positions(&state, child).iter().zip(angles) {
                // Close to the quarter turn rounding of the quaternion grows by 1/cos 1.4 = 6.
                assert!((x - y).abs() < 1e-13, "{kind:?} {t}: {x} {y}");
            }
        }
    }
}

#[test]
fn joints_that_make_no_sense() {
    let two = [(RIGID, 2)];
    let frame = |k: usize| JointFrame::on(0, k, Pose::default());
    let world = JointFrame::world(Pose::default());
    let slide = [JointAxis::Translation(0)];
    let of = |a, b| JointCoordinates::of_pairs(&[(a, b)], &slide);
    assert!(matches!(
        refused(&of(frame(0), frame(2)), &two),
        ModelError::Element { .. }
    ));
    assert!(matches!(
        refused(&of(frame(0), JointFrame::on(1, 0, Pose::default())), &two),
        ModelError::Parent { .. }
    ));
    assert!(matches!(
        refused(&of(frame(0), frame(1)), &[(Space::Real(3), 2)]),
        ModelError::Space { .. }
    ));
    assert!(matches!(
        refused(&of(frame(1), frame(1)), &two),
        ModelError::Degenerate { .. }
    ));
    assert!(matches!(
        refused(&of(world, world), &two),
        ModelError::Degenerate { .. }
    ));
    let not_a_unit = JointFrame::world(Pose {
        position: [0.0; 3],
        rotation: [1.0, 1.0, 0.0, 0.0],
    });
    assert!(matches!(
        refused(&of(frame(1), not_a_unit), &two),
        ModelError::OutOfRange { .. }
    ));
    let lost = JointFrame::on(0, 0, Pose::at([0.0, f64::NAN, 0.0]));
    assert!(matches!(
        refused(&of(lost, frame(1)), &two),
        ModelError::NotFinite { .. }
    ));
    for axis in [
        JointAxis::Translation(3),
        JointAxis::Rotation(9),
        JointAxis::Misalignment(0, 3),
        JointAxis::Twist(usize::MAX),
        JointAxis::HeadingInA { about: 1, of: 1 },
        JointAxis::HeadingInB { about: 4, of: 1 },
        JointAxis::Elevation { of: 2, against: 2 },
        JointAxis::Elevation { of: 2, against: 3 },
    ] {
        let mapping = JointCoordinates::of_pairs(&[(frame(0), frame(1))], &[axis]);
        assert!(matches!(refused(&mapping, &two), ModelError::OutOfRange { .. }));
    }
    assert!(matches!(
        refused(&JointCoordinates::of_pairs(&[(frame(0), frame(1))], &[]), &two),
        ModelError::Size { .. }
    ));
    let uneven = [slide.to_vec(), AXES.to_vec()].map(|axes| FramePair {
        a: frame(0),
        b: frame(1),
        axes,
    });
    assert!(matches!(
        refused(&JointCoordinates::new(&uneven), &two),
        ModelError::Size { .. }
    ));
}

#[test]
fn angles_that_have_no_value_say_so() {
    let pair = (
        JointFrame::world(Pose::default()),
        JointFrame::on(0, 0, Pose::default()),
    );
    let cases = [
        (JointAxis::Twist(0), [0.0, 1.0, 0.0], PI),
        (
            JointAxis::HeadingInA { about: 0, of: 1 },
            [0.0, 0.0, 1.0],
            FRAC_PI_2,
        ),
        (
            JointAxis::HeadingInB { about: 0, of: 1 },
            [0.0, 0.0, 1.0],
            FRAC_PI_2,
        ),
        (
            JointAxis::Elevation { of: 2, against: 0 },
            [0.0, 1.0, 0.0],
            FRAC_PI_2,
        ),
    ];
    for (axis, about, angle) in cases {
        let mapping = JointCoordinates::of_pairs(&[pair], &[axis]);
        let at = Pose::turned([0.0; 3], about, angle);
        let found = check::mapping(&mapping, &[(RIGID, 1)], &flat(&[at]), 1);
        assert!(
            matches!(found, Err(ModelError::Degenerate { .. })),
            "{axis:?} {found:?}"
        );
    }
}
