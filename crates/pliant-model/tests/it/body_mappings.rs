//! Mappings of rigid bodies: every derivative against finite differences and against formulas on hyper-dual numbers.

use pliant_dense::rotation;
use pliant_model::dual::{Dual, DualNum, conjugate, displace, multiply, rotate};
use pliant_model::{
    BeamSegment, BeamStrain, Coordinate, Dependency, End, Evaluation, FramePair, Gear, Influence, JointAxis,
    JointCoordinates, JointFrame, Mapping, Model, ModelError, Pose, RelativePose, RelativeRotation,
    RigidFrames, Rope, RopePath, Skinning, Space, Winch, check,
};
use std::f64::consts::{FRAC_PI_2, PI};

/// Central differences of step 1e-5: truncation about 1e-10 times third derivatives, roundoff about 1e-11.
const TOLERANCE: f64 = 1e-6;
/// Against hyper-dual numbers: rounding, times the condition of the formula.
const EXACT: f64 = 1e-9;
const RIGID: Space = Space::Rigid3;

/// Deterministic numbers between -1 and 1.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut s = seed.wrapping_mul(0xD129_0DDB_53C4_3E49) | 1;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..8).for_each(|_| {
        next();
    });
    (0..count).map(|_| next()).collect()
}

fn pose(n: &[f64]) -> Pose {
    Pose::turned([n[0], n[1], n[2]], [n[3] + 0.01, n[4], n[5]], 3.1 * n[6])
}

fn poses(seed: u64, count: usize) -> Vec<Pose> {
    numbers(seed, 7 * count).chunks_exact(7).map(pose).collect()
}

fn flat(poses: &[Pose]) -> Vec<f64> {
    let numbers = |p: &Pose| {
        let ([x, y, z], [a, b, c, d]) = (p.position, p.rotation);
        [x, y, z, a, b, c, d]
    };
    poses.iter().flat_map(numbers).collect()
}

/// Pose `b`, given in the axes of `a`, in the world.
fn after(a: &Pose, b: &Pose) -> Pose {
    JointFrame::on(0, 0, *b).at(a)
}

fn inverse(a: &Pose) -> Pose {
    let q = rotation::conjugate(a.rotation);
    Pose {
        position: (-rotation::rotate(q, a.position.into())).into(),
        rotation: q,
    }
}

/// Where body b stands if `a` is at `at` and frame b has the pose `relative` in frame a.
fn placed(at: &Pose, a: &Pose, relative: &Pose, b: &Pose) -> Pose {
    after(&after(&after(at, a), relative), &inverse(b))
}

fn checked<M: Mapping + Clone + 'static>(mapping: &M, parents: &[(Space, usize)], x: &[f64], seed: u64) {
    let found = check::mapping(mapping, parents, x, seed).unwrap();
    assert!(found.worst() < TOLERANCE, "{mapping:?}\n{x:?}\n{found:?}");
}

fn exact<M: Mapping + Clone + 'static>(
    mapping: &M,
    parents: &[(Space, usize)],
    x: &[f64],
    seed: u64,
    formula: impl Fn(&[Dual]) -> Vec<Dual>,
) {
    let found = check::mapping_exactly(mapping, parents, x, seed, formula).unwrap();
    assert!(found.worst() < EXACT, "{mapping:?}\n{x:?}\n{found:?}");
}

/// Value, `J`, bias and `G` of the only element of a mapping of bodies whose last value was `last`, against a formula: the largest
/// relative difference.
fn difference_after<M: Mapping + Clone + 'static>(
    mapping: &M,
    bodies: &[Pose],
    last: &[f64],
    formula: impl Fn(&[Dual]) -> Vec<Dual>,
) -> f64 {
    let mut model = Model::new();
    let parent = model.add_rigid_bodies("bodies", bodies).unwrap();
    let child = model.add_mapped("child", &[parent], mapping.clone()).unwrap();
    let mut state = model.initial_state().unwrap();
    let range = model.node(child).position_range();
    state.positions[range.clone()].copy_from_slice(last);
    let velocity = numbers(6, 6 * bodies.len());
    state.velocities[model.node(parent).velocity_range()].copy_from_slice(&velocity);
    let mut evaluation = Evaluation::new(&model);
    evaluation.propagate(&model, &mut state).unwrap();
    evaluation.evaluate(&model, &state).unwrap();
    let bias = evaluation.bias()[model.node(child).velocity_range()].to_vec();
    let mut expected_bias = vec![0.0; bias.len()];
    let x = flat(bodies);
    let at = |i: usize, j: usize| {
        let mut out = vec![Dual::from(0.0); x.len()];
        for (b, out) in out.chunks_exact_mut(7).enumerate() {
            let local = |k: usize| k.checked_sub(6 * b).filter(|k| *k < 6);
            displace(RIGID, &x[7 * b..7 * b + 7], local(i), local(j), out);
        }
        formula(&out)
    };
    let force = numbers(5, last.len());
    let mut total = vec![0.0; model.velocity_count()];
    total[model.node(child).velocity_range()].copy_from_slice(&force);
    let index = child.index();
    let list = evaluation.dependencies(index, 0).to_vec();
    let map: Vec<usize> = list
        .iter()
        .flat_map(|d| 6 * d.element..6 * d.element + 6)
        .collect();
    let j = evaluation.jacobian(index).unwrap().block(0).to_vec();
    let g = evaluation
        .geometric_stiffness(&model, &state, index, &total)
        .unwrap()
        .block(0)
        .to_vec();
    let mut worst = 0.0f64;
    let mut compare = |a: f64, b: f64| {
        let d = (a - b).abs() / (1.0 + b.abs());
        worst = worst.max(if d.is_nan() { f64::INFINITY } else { d });
    };
    for (a, i) in map.iter().enumerate() {
        for (b, k) in map.iter().enumerate() {
            let d = at(*i, *k);
            let h: f64 = d.iter().zip(&force).map(|(d, f)| d.eps1eps2 * f).sum();
            compare(g[a * map.len() + b], h);
            for (row, d) in d.iter().enumerate() {
                compare(j[row * map.len() + a], d.eps1);
                compare(state.positions[range.start + row], d.re);
                expected_bias[row] += velocity[*i] * d.eps1eps2 * velocity[*k];
            }
        }
    }
    for (a, b) in bias.iter().zip(&expected_bias) {
        compare(*a, *b);
    }
    worst
}

// Formulas on hyper-dual numbers, written apart from the library's.

fn sub(a: &[Dual], b: &[Dual]) -> [Dual; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: &[Dual], b: &[Dual]) -> Dual {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Position and quaternion of a frame, its body at `x`.
fn frame_at(x: &[Dual], frame: &JointFrame, first: &[usize]) -> ([Dual; 3], [Dual; 4]) {
    let (o, q) = (
        frame.pose.position.map(Dual::from),
        frame.pose.rotation.map(Dual::from),
    );
    let Some(at) = frame.on else { return (o, q) };
    let body = &x[first[at.parent] + 7 * at.element..][..7];
    let turned = rotate(&body[3..], &o);
    (
        [body[0] + turned[0], body[1] + turned[1], body[2] + turned[2]],
        multiply(&body[3..], &q),
    )
}

/// `t` and the quaternion of `C`.
fn motion(x: &[Dual], a: &JointFrame, b: &JointFrame, first: &[usize]) -> ([Dual; 3], [Dual; 4]) {
    let ((pa, qa), (pb, qb)) = (frame_at(x, a, first), frame_at(x, b, first));
    let back = conjugate(&qa);
    (rotate(&back, &sub(&pb, &pa)), multiply(&back, &qb))
}

/// `atan2` by whichever quotient is below one: the derivatives of the library's lose digits where `x` is nearly zero.
fn angle(y: Dual, x: Dual) -> Dual {
    if x.re.abs() < y.re.abs() {
        Dual::from(FRAC_PI_2.copysign(y.re)) - (x / y).atan()
    } else if x.re > 0.0 {
        (y / x).atan()
    } else {
        (y / x).atan() + if y.re < 0.0 { -PI } else { PI }
    }
}

/// The rotation vector, also at the identity, on the branch nearest to `last`.
fn log(q: &[Dual], last: &[f64; 3]) -> [Dual; 3] {
    let sign = if q[0].re < 0.0 { -1.0 } else { 1.0 };
    let q = [q[0] * sign, q[1] * sign, q[2] * sign, q[3] * sign];
    let s2 = dot(&q[1..], &q[1..]);
    let scale = if s2.re < 1e-2 {
        // 2 asin(s)/s
        let mut term = 1.0;
        let mut power = Dual::from(1.0);
        let mut sum = Dual::from(0.0);
        for n in 0..10 {
            let m = n as f64;
            sum += power * (2.0 * term / (2.0 * m + 1.0));
            term *= (2.0 * m + 1.0) / (2.0 * m + 2.0);
            power *= s2;
        }
        sum
    } else {
        angle(s2.sqrt(), q[0]) * 2.0 / s2.sqrt()
    };
    let r = [q[1] * scale, q[2] * scale, q[3] * scale];
    let distance = |r: &[Dual; 3]| -> f64 { r.iter().zip(last).map(|(a, b)| (a.re - b).powi(2)).sum() };
    if s2.re < 1e-2 {
        return r;
    }
    let norm = dot(&r, &r).sqrt();
    let other = r.map(|a| a - a * (2.0 * PI) / norm);
    if distance(&other) < distance(&r) - 1e-9 {
        other
    } else {
        r
    }
}

fn nearest(angle: Dual, last: f64) -> Dual {
    angle + ((last - angle.re) / (2.0 * PI)).round() * 2.0 * PI
}

/// Column `j` of the matrix of a quaternion.
fn column(q: &[Dual], j: usize) -> [Dual; 3] {
    rotate(q, &[0, 1, 2].map(|k| Dual::from(f64::from(u8::from(k == j)))))
}

fn cross(a: usize, b: usize) -> [f64; 3] {
    let e = |k: usize| pliant_dense::Vec3::from_fn(|i, _| f64::from(u8::from(i == k)));
    e(a).cross(&e(b)).into()
}

fn axis_value(axis: JointAxis, t: &[Dual; 3], q: &[Dual; 4], r: &[Dual; 3], last: f64) -> Dual {
    let along = |v: [f64; 3], b: [Dual; 3]| dot(&v.map(Dual::from), &b);
    match axis {
        JointAxis::Translation(i) => t[i],
        JointAxis::Rotation(i) => r[i],
        JointAxis::Misalignment(i, j) => column(q, j)[i],
        JointAxis::Twist(i) => {
            let sign = if q[0].re < 0.0 { -1.0 } else { 1.0 };
            nearest(angle(q[i + 1] * sign, q[0] * sign) * 2.0, last)
        }
        JointAxis::HeadingInA { about, of } => {
            let b = column(q, of);
            nearest(angle(along(cross(about, of), b), b[of]), last)
        }
        JointAxis::HeadingInB { about, of } => {
            // A as seen from B turns the other way.
            let a = column(&conjugate(q), of);
            nearest(-angle(along(cross(about, of), a), a[of]), last)
        }
    }
}

const AXES: [JointAxis; 13] = [
    JointAxis::Translation(0),
    JointAxis::Translation(1),
    JointAxis::Translation(2),
    JointAxis::Rotation(0),
    JointAxis::Rotation(1),
    JointAxis::Rotation(2),
    JointAxis::Misalignment(0, 1),
    JointAxis::Misalignment(2, 2),
    JointAxis::Twist(0),
    JointAxis::Twist(2),
    JointAxis::HeadingInA { about: 0, of: 2 },
    JointAxis::HeadingInB { about: 1, of: 0 },
    JointAxis::HeadingInB { about: 0, of: 2 },
];

fn joint_formula(joint: &FramePair, first: &[usize], last: &[f64]) -> impl Fn(&[Dual]) -> Vec<Dual> + use<> {
    let (joint, first, last) = (joint.clone(), first.to_vec(), last.to_vec());
    move |x| {
        let (t, q) = motion(x, &joint.a, &joint.b, &first);
        let mut known = [0.0; 3];
        for (axis, last) in joint.axes.iter().zip(&last) {
            if let JointAxis::Rotation(i) = axis {
                known[*i] = *last;
            }
        }
        let r = log(&q, &known);
        let last = last.iter().copied().chain(std::iter::repeat(0.0));
        joint
            .axes
            .iter()
            .zip(last)
            .map(|(axis, last)| axis_value(*axis, &t, &q, &r, last))
            .collect()
    }
}

/// Whether the angles of this relative rotation are well away from where they have no value, so that their condition stays below
/// about a thousand.
fn tame(q: &rotation::Quaternion) -> bool {
    let c = rotation::matrix(*q);
    let pair = |a: f64, b: f64| a * a + b * b > 0.03;
    pair(q[0], q[1])
        && pair(q[0], q[3])
        && pair(c[(1, 2)], c[(2, 2)])
        && pair(c[(0, 2)], c[(0, 0)])
        && pair(c[(2, 1)], c[(2, 2)])
}

fn relative(a: &Pose, b: &Pose) -> Pose {
    after(&inverse(a), b)
}

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

/// Joints in awkward positions: relative poses with the branch of the rotation vector that its last value asks for.
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
            // Rotation vectors are followed with all three coordinates: one may be the same both ways round.
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

/// Far from the origin positions carry roundings of 1e5 times 1e-16, and arms of 1e5 m make second derivatives of that size: the
/// differences are relative to those, the finite ones divided by their step.
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

fn refused<M: Mapping + Clone + 'static>(mapping: &M, parents: &[(Space, usize)]) -> ModelError {
    let error = mapping.check("child", parents).unwrap_err();
    assert!(error.to_string().contains("`child`"), "{error}");
    error
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
    let bent = JointFrame::world(Pose {
        position: [0.0; 3],
        rotation: [1.0, 1.0, 0.0, 0.0],
    });
    assert!(matches!(
        refused(&of(frame(1), bent), &two),
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

/// The matrix `V` of the exponential of a twist, columns, by its power series or closed form; `r` not longer than a full turn.
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
    let bent = BeamSegment::at_rest(pair.0, pair.1, &bodies[0], &bodies[1]);
    let straight = BeamSegment::straight(pair.0, pair.1, 0.5);
    let strains = |bodies: &[Pose]| {
        let mut model = Model::new();
        let parent = model.add_rigid_bodies("bodies", bodies).unwrap();
        let child = model
            .add_mapped("strains", &[parent], BeamStrain::new(&[bent, straight]))
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
    let bent = Pose {
        position: [0.0; 3],
        rotation: [0.0; 4],
    };
    let bent = RelativePose::twist(&[good]).with_rest_poses(&[bent]);
    assert!(matches!(refused(&bent, &two), ModelError::OutOfRange { .. }));
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
    let bent = Pose {
        position: [0.0; 3],
        rotation: [1.0, 1.0, 1.0, 1.0],
    };
    let bent = BeamSegment::at_rest(good.0, good.1, &Pose::at([1.0; 3]), &bent);
    assert!(matches!(
        refused(&BeamStrain::new(&[bent]), &two),
        ModelError::NotFinite { .. }
    ));
    let point = BeamSegment::at_rest(good.0, good.1, &Pose::default(), &Pose::default());
    assert!(matches!(
        refused(&BeamStrain::new(&[point]), &two),
        ModelError::OutOfRange { .. }
    ));
}

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
        // J by dual numbers: the displacement of the child's seven numbers, its rotation in the child's axes.
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
    // A tackle: over the fixed point, twice through point 1, once more over the fixed one; two drums, one of them used twice.
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
