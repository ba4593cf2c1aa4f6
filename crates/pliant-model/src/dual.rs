//! Hyper-dual numbers: exact first and second derivatives of a formula that is written once.
//!
//! A [`Dual`] carries a value, two first derivatives and their mixed second one (Fike and Alonso
//! 2011). Closures on them give user components their derivatives, and [`check`](crate::check) an
//! independent answer for those of the library.

use crate::validate::check_bound;
use crate::{Field, ModelError, Space};
pub use num_dual::DualNum;
use pliant_dense::rotation;

/// A number with its derivatives along two directions: `re`, `eps1`, `eps2` and the mixed second
/// one, `eps1eps2`.
pub type Dual = num_dual::HyperDual<f64>;

/// Writes the positions `x (+) (eps1 e_i + eps2 e_j)` of one element of `space`: velocity
/// coordinate `i` is moved by `eps1`, `j` by `eps2`. `None` moves nothing.
///
/// # Panics
/// If the slices are shorter than the space's position size.
pub fn displace(space: Space, x: &[f64], i: Option<usize>, j: Option<usize>, out: &mut [Dual]) {
    let step = |k: usize| {
        let one = |c: Option<usize>| f64::from(u8::from(c == Some(k)));
        Dual::new(0.0, one(i), one(j), 0.0)
    };
    if space != Space::Rigid3 {
        for (k, (o, x)) in out.iter_mut().zip(x).enumerate().take(space.position_size()) {
            *o = step(k) + *x;
        }
        return;
    }
    for k in 0..3 {
        out[k] = step(k) + x[k];
    }
    // exp(r) of a nilpotent r: the series ends with the mixed term.
    let r = [step(3), step(4), step(5)];
    let square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    let small = [
        Dual::from(1.0) - square * 0.125,
        r[0] * 0.5,
        r[1] * 0.5,
        r[2] * 0.5,
    ];
    let q = rotation::normalize([x[3], x[4], x[5], x[6]]).unwrap_or(rotation::IDENTITY);
    out[3..7].copy_from_slice(&multiply(&q.map(Dual::from), &small));
}

/// Most position numbers that a formula of [`Potential`](crate::Potential) or
/// [`Formula`](crate::Formula) may take at once.
pub const LIMIT: usize = 48;

/// Positions of several elements, one after the other, with velocity coordinate `i` of them all
/// moved by `eps1` and `j` by `eps2`. Returns how many numbers it wrote.
pub(crate) fn gather<'a>(
    elements: impl Iterator<Item = (Space, &'a [f64])>,
    i: Option<usize>,
    j: Option<usize>,
    out: &mut [Dual; LIMIT],
) -> usize {
    let (mut p, mut v) = (0, 0);
    for (space, x) in elements {
        let size = space.velocity_size();
        let local = |c: Option<usize>| c.and_then(|c| c.checked_sub(v)).filter(|c| *c < size);
        displace(space, x, local(i), local(j), &mut out[p..p + x.len()]);
        p += x.len();
        v += size;
    }
    p
}

/// Checks that so many position numbers are not too many.
pub(crate) fn check_limit(name: &str, field: Field, numbers: usize) -> Result<(), ModelError> {
    check_bound(name, field, numbers as f64, "48 or fewer", numbers <= LIMIT)
}

/// The product `a b` of quaternions `(w, x, y, z)`.
pub fn multiply(a: &[Dual], b: &[Dual]) -> [Dual; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3],
        a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1],
    ]
}

/// The inverse of a unit quaternion.
pub fn conjugate(q: &[Dual]) -> [Dual; 4] {
    [q[0], -q[1], -q[2], -q[3]]
}

/// The vector `v` turned by a unit quaternion.
pub fn rotate(q: &[Dual], v: &[Dual]) -> [Dual; 3] {
    let pure = [Dual::from(0.0), v[0], v[1], v[2]];
    let turned = multiply(&multiply(q, &pure), &conjugate(q));
    [turned[1], turned[2], turned[3]]
}

/// The rotation vector of a unit quaternion, of angle at most pi; not at the identity, where the
/// formula is `0/0`.
pub fn log(q: &[Dual]) -> [Dual; 3] {
    let sign = if q[0].re < 0.0 { -1.0 } else { 1.0 };
    let [w, x, y, z] = [q[0] * sign, q[1] * sign, q[2] * sign, q[3] * sign];
    let sine = (x * x + y * y + z * z).sqrt();
    // The quotient below one: `atan2` loses half its digits in the derivatives where `w` is nearly
    // zero.
    let half = if w.re < sine.re {
        -(w / sine).atan() + std::f64::consts::FRAC_PI_2
    } else {
        (sine / w).atan()
    };
    let scale = half * 2.0 / sine;
    [x * scale, y * scale, z * scale]
}
