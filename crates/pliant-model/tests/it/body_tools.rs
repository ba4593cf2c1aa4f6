//! Tools of the tests of body mappings: states, formulas on hyper-dual numbers.

use pliant_dense::rotation;
use pliant_model::dual::{Dual, DualNum, conjugate, displace, multiply, rotate};
use pliant_model::{
    Evaluation, FramePair, JointAxis, JointFrame, Mapping, Model, ModelError, Pose, Problem, Space, check,
};
use std::f64::consts::{FRAC_PI_2, PI};

/// Central differences of step 1e-5: truncation about 1e-10 times third derivatives, roundoff about
/// 1e-11.
pub(crate) const TOLERANCE: f64 = 1e-6;
/// Against hyper-dual numbers: rounding, times the condition of the formula.
pub(crate) const EXACT: f64 = 1e-9;
pub(crate) const RIGID: Space = Space::Rigid3;

/// Deterministic numbers between -1 and 1.
pub(crate) fn numbers(seed: u64, count: usize) -> Vec<f64> {
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

pub(crate) fn pose(n: &[f64]) -> Pose {
    Pose::turned([n[0], n[1], n[2]], [n[3] + 0.01, n[4], n[5]], 3.1 * n[6])
}

pub(crate) fn poses(seed: u64, count: usize) -> Vec<Pose> {
    numbers(seed, 7 * count).chunks_exact(7).map(pose).collect()
}

pub(crate) fn flat(poses: &[Pose]) -> Vec<f64> {
    let numbers = |p: &Pose| {
        let ([x, y, z], [a, b, c, d]) = (p.position, p.rotation);
        [x, y, z, a, b, c, d]
    };
    poses.iter().flat_map(numbers).collect()
}

/// Pose `b`, given in the axes of `a`, in the world.
pub(crate) fn after(a: &Pose, b: &Pose) -> Pose {
    JointFrame::on(0, 0, *b).at(a)
}

pub(crate) fn inverse(a: &Pose) -> Pose {
    let q = rotation::conjugate(a.rotation);
    Pose {
        position: (-rotation::rotate(q, a.position.into())).into(),
        rotation: q,
    }
}

/// Where body b stands if `a` is at `at` and frame b has the pose `relative` in frame a.
pub(crate) fn placed(at: &Pose, a: &Pose, relative: &Pose, b: &Pose) -> Pose {
    after(&after(&after(at, a), relative), &inverse(b))
}

pub(crate) fn checked<M: Mapping + Clone + 'static>(
    mapping: &M,
    parents: &[(Space, usize)],
    x: &[f64],
    seed: u64,
) {
    let found = check::mapping(mapping, parents, x, seed).unwrap();
    assert!(found.worst() < TOLERANCE, "{mapping:?}\n{x:?}\n{found:?}");
}

pub(crate) fn exact<M: Mapping + Clone + 'static>(
    mapping: &M,
    parents: &[(Space, usize)],
    x: &[f64],
    seed: u64,
    formula: impl Fn(&[Dual]) -> Vec<Dual>,
) {
    let found = check::mapping_exactly(mapping, parents, x, seed, formula).unwrap();
    assert!(found.worst() < EXACT, "{mapping:?}\n{x:?}\n{found:?}");
}

/// Value, `J`, bias and `G` of the only element of a mapping of bodies whose last value was `last`,
/// against a formula: the largest relative difference.
pub(crate) fn difference_after<M: Mapping + Clone + 'static>(
    mapping: &M,
    bodies: &[Pose],
    last: &[f64],
    formula: impl Fn(&[Dual]) -> Vec<Dual>,
) -> f64 {
    let mut model = Model::new();
    let parent = model.add_rigid_bodies("bodies", bodies).unwrap();
    let child = model.add_mapped("child", &[parent], mapping.clone()).unwrap();
    let model = Problem::new(model);
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

pub(crate) fn sub(a: &[Dual], b: &[Dual]) -> [Dual; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn dot(a: &[Dual], b: &[Dual]) -> Dual {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Position and quaternion of a frame, its body at `x`.
pub(crate) fn frame_at(x: &[Dual], frame: &JointFrame, first: &[usize]) -> ([Dual; 3], [Dual; 4]) {
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
pub(crate) fn motion(x: &[Dual], a: &JointFrame, b: &JointFrame, first: &[usize]) -> ([Dual; 3], [Dual; 4]) {
    let ((pa, qa), (pb, qb)) = (frame_at(x, a, first), frame_at(x, b, first));
    let back = conjugate(&qa);
    (rotate(&back, &sub(&pb, &pa)), multiply(&back, &qb))
}

/// `atan2` by whichever quotient is below one: the derivatives of the library's lose digits where
/// `x` is nearly zero.
pub(crate) fn angle(y: Dual, x: Dual) -> Dual {
    if x.re.abs() < y.re.abs() {
        Dual::from(FRAC_PI_2.copysign(y.re)) - (x / y).atan()
    } else if x.re > 0.0 {
        (y / x).atan()
    } else {
        (y / x).atan() + if y.re < 0.0 { -PI } else { PI }
    }
}

/// The rotation vector, also at the identity, on the branch nearest to `last`.
pub(crate) fn log(q: &[Dual], last: &[f64; 3]) -> [Dual; 3] {
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

pub(crate) fn nearest(angle: Dual, last: f64) -> Dual {
    angle + ((last - angle.re) / (2.0 * PI)).round() * 2.0 * PI
}

/// Column `j` of the matrix of a quaternion.
pub(crate) fn column(q: &[Dual], j: usize) -> [Dual; 3] {
    rotate(q, &[0, 1, 2].map(|k| Dual::from(f64::from(u8::from(k == j)))))
}

pub(crate) fn cross(a: usize, b: usize) -> [f64; 3] {
    let e = |k: usize| pliant_dense::Vec3::from_fn(|i, _| f64::from(u8::from(i == k)));
    e(a).cross(&e(b)).into()
}

pub(crate) fn axis_value(axis: JointAxis, t: &[Dual; 3], q: &[Dual; 4], r: &[Dual; 3], last: f64) -> Dual {
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
        JointAxis::Elevation { of, against } => {
            // Along the third axis of A, turned about the first by the angle that `of` stands at
            // there.
            let b = column(q, of);
            let between = 3 - of - against;
            let level = (b[of] * b[of] + b[between] * b[between]).sqrt();
            let e = cross(between, of);
            angle(b[against] * e[against], level)
        }
    }
}

pub(crate) const AXES: [JointAxis; 15] = [
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
    JointAxis::Elevation { of: 2, against: 0 },
    JointAxis::Elevation { of: 0, against: 1 },
];

pub(crate) fn joint_formula(
    joint: &FramePair,
    first: &[usize],
    last: &[f64],
) -> impl Fn(&[Dual]) -> Vec<Dual> + use<> {
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

/// Whether the angles of this relative rotation are well away from where they have no value, so
/// that their condition stays below about a thousand.
pub(crate) fn tame(q: &rotation::Quaternion) -> bool {
    let c = rotation::matrix(*q);
    let pair = |a: f64, b: f64| a * a + b * b > 0.03;
    pair(q[0], q[1])
        && pair(q[0], q[3])
        && pair(c[(1, 2)], c[(2, 2)])
        && pair(c[(0, 2)], c[(0, 0)])
        && pair(c[(2, 1)], c[(2, 2)])
}

pub(crate) fn relative(a: &Pose, b: &Pose) -> Pose {
    after(&inverse(a), b)
}

pub(crate) fn refused<M: Mapping + Clone + 'static>(mapping: &M, parents: &[(Space, usize)]) -> ModelError {
    let error = mapping.check("child", parents).unwrap_err();
    assert!(error.to_string().contains("`child`"), "{error}");
    error
}
