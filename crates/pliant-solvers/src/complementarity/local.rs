//! One block alone, exactly.

mod rolling;

use super::Cone;
use super::cone::{ROWS, length};

/// Solves `u = A r + b` with the law of one block for `r`, where `A` (row by row) is the diagonal
/// block and `b` the velocity that the others leave. False if the block alone has no solution that
/// could be found: then `r` stays.
///
/// Scalar rows and contacts in the plane in closed form. In space: with the slip
/// `u_t = -lambda r_t`, `lambda >= 0`, and the Schur complement `S = A_tt - A_tn A_nt / A_nn`,
///
/// ```math
/// r_t(lambda) = -(S + lambda I)^-1 (b_t - A_tn b_n / A_nn),   r_n = -(b_n + A_nt r_t) / A_nn
/// ```
///
/// and `|r_t| = mu r_n` is one scalar equation for `lambda`; it sticks if `|r_t(0)| <= mu r_n(0)`.
/// For `b_n < 0` and a positive definite `A` the root exists: `|r_t| - mu r_n` is positive at zero
/// and `mu b_n / A_nn` at infinity. Newton's method within a bracket. (Bonnefon and Daviet 2011
/// solve the same law as a quartic; this needs no choice among its roots.) For `b_n >= 0` it opens,
/// `r = 0`, although other solutions may exist beside that if `A_nt` is large. For a
/// [`Cone::Pyramid`] and a [`Cone::Shifted`] it finds none. For a [`Cone::Rolling`] it is Newton's
/// method from `r`, to rounding.
///
/// # Panics
/// If `a`, `b` or `r` are shorter than the block.
pub fn solve_block(cone: &Cone, a: &[f64], b: &[f64], r: &mut [f64]) -> bool {
    let found = match *cone {
        Cone::Coulomb { mu } => spatial(mu, a, b).map(|x| r[..3].copy_from_slice(&x)),
        Cone::Rolling { .. } => rolling::rolling(cone, a, b, r).map(|x| r[..ROWS].copy_from_slice(&x)),
        Cone::PlanarCoulomb { mu } => planar(mu, a, b).map(|x| r[..2].copy_from_slice(&x)),
        _ => cone
            .bounds()
            .and_then(|bounds| scalar(bounds, a[0], b[0], r[0]))
            .map(|x| r[0] = x),
    };
    found.is_some()
}

fn scalar((lower, upper): (f64, f64), a: f64, b: f64, r: f64) -> Option<f64> {
    let x = if a > 0.0 {
        -b / a
    } else if a == 0.0 && b > 0.0 {
        f64::NEG_INFINITY
    } else if a == 0.0 && b < 0.0 {
        f64::INFINITY
    } else {
        r
    };
    let x = x.max(lower).min(upper);
    x.is_finite().then_some(x)
}

fn planar(mu: f64, a: &[f64], b: &[f64]) -> Option<[f64; 2]> {
    if b[0] >= 0.0 {
        return Some([0.0; 2]);
    }
    if a[0] <= 0.0 {
        return None;
    }
    let normal = -b[0] / a[0];
    let s = a[3] - a[2] * a[1] / a[0];
    let c = b[1] + a[2] * normal;
    let singular = s <= 1e-14 * (a[3].abs() + a[0]);
    let push = if singular { 0.0 } else { -c / s };
    let sticking = !singular || c.abs() <= 1e-13 * (b[0].abs() + b[1].abs());
    let n = normal - a[1] * push / a[0];
    if sticking && push.abs() <= mu * n {
        return Some([n, push]);
    }
    let towards = if c > 0.0 { 1.0 } else { -1.0 };
    slip(mu, a[0], a[1] * towards, b[0]).map(|n| [n, -mu * n * towards])
}

/// `r_n` of a contact that slips, with `A_nt . d` for the direction of slip `d`.
fn slip(mu: f64, ann: f64, along: f64, bn: f64) -> Option<f64> {
    let n = -bn / (ann - mu * along);
    (ann > mu * along && n.is_finite()).then_some(n)
}

/// The contact in the eigenvectors of `S`.
struct Spatial {
    mu: f64,
    ann: f64,
    bn: f64,
    /// `A_nt`.
    along: [f64; 2],
    /// `b_t - A_tn b_n / A_nn`.
    c: [f64; 2],
    /// Eigenvalues of `S`.
    e: [f64; 2],
}

impl Spatial {
    fn tangent(&self, lambda: f64) -> [f64; 2] {
        std::array::from_fn(|k| {
            if self.c[k] == 0.0 {
                0.0
            } else {
                -self.c[k] / (self.e[k] + lambda)
            }
        })
    }

    fn normal(&self, t: [f64; 2]) -> f64 {
        -(self.bn + self.along[0] * t[0] + self.along[1] * t[1]) / self.ann
    }

    /// `|r_t| - mu r_n` and its derivative.
    fn gap(&self, lambda: f64) -> (f64, f64) {
        let t = self.tangent(lambda);
        let size = length(&t);
        let mut slope = 0.0;
        for k in (0..2).filter(|k| t[*k] != 0.0) {
            let rate = -t[k] / (self.e[k] + lambda);
            let direction = if size > 0.0 { t[k] / size } else { 0.0 };
            slope += rate * (direction + self.mu * self.along[k] / self.ann);
        }
        (size - self.mu * self.normal(t), slope)
    }

    /// The root of the gap.
    fn root(&self, mut low: f64, mut high: f64) -> f64 {
        let mut x = if low > 0.0 { low } else { 0.0 };
        for _ in 0..200 {
            let (gap, slope) = self.gap(x);
            if gap == 0.0 {
                return x;
            }
            if gap < 0.0 {
                high = x;
            } else {
                low = x;
            }
            if high - low <= 2.0 * f64::EPSILON * high {
                break;
            }
            let newton = x - gap / slope;
            let middle = if low > 0.0 {
                low.sqrt() * high.sqrt()
            } else {
                1e-3 * high
            };
            let next = if newton > low && newton < high {
                newton
            } else {
                middle
            };
            if (next - x).abs() <= f64::EPSILON * x {
                return next;
            }
            x = next;
        }
        x
    }
}

fn spatial(mu: f64, a: &[f64], b: &[f64]) -> Option<[f64; 3]> {
    let (ann, bn) = (a[0], b[0]);
    if bn >= 0.0 {
        return Some([0.0; 3]);
    }
    if ann <= 0.0 {
        return None;
    }
    let normal = -bn / ann;
    if mu == 0.0 {
        return normal.is_finite().then_some([normal, 0.0, 0.0]);
    }
    let s11 = a[4] - a[3] * a[1] / ann;
    let s22 = a[8] - a[6] * a[2] / ann;
    let s12 = 0.5 * (a[5] + a[7] - (a[3] * a[2] + a[6] * a[1]) / ann);
    let (mean, half) = (0.5 * (s11 + s22), 0.5 * (s11 - s22));
    let radius = length(&[half, s12]);
    let (sine, cosine) = (0.5 * s12.atan2(half)).sin_cos();
    let turn = |x: f64, y: f64| [cosine * x + sine * y, cosine * y - sine * x];
    let mut contact = Spatial {
        mu,
        ann,
        bn,
        along: turn(a[1], a[2]),
        c: turn(b[1] + a[3] * normal, b[2] + a[6] * normal),
        e: [(mean + radius).max(0.0), (mean - radius).max(0.0)],
    };
    let rounding = b.iter().take(3).fold(0.0, |m: f64, x| m.max(x.abs()));
    let small = 1e-14 * (ann + a[4].abs() + a[8].abs());
    let mut singular = false;
    for k in 0..2 {
        if contact.e[k] <= small {
            contact.e[k] = 0.0;
            if contact.c[k].abs() <= 1e-13 * rounding {
                contact.c[k] = 0.0;
            }
            singular |= contact.c[k] != 0.0;
        }
    }
    let sticking = contact.tangent(0.0);
    let back = |t: [f64; 2]| (cosine * t[0] - sine * t[1], sine * t[0] + cosine * t[1]);
    if !singular {
        let n = contact.normal(sticking);
        if length(&sticking) <= mu * n {
            let (x, y) = back(sticking);
            return Some([n, x, y]);
        }
    }
    // From here on the gap is negative: |r_t| <= |c|/lambda.
    let pull = length(&contact.c);
    let coupling = length(&contact.along);
    // A contact that only just closes has its root beyond all numbers, or another one in front of
    // it.
    let high = (2.0 * pull * (ann + mu * coupling) / (-mu * bn)).min(1e150 * (ann + a[4] + a[8]));
    let low = if singular { 1e-12 * high } else { 0.0 };
    let mut direction = [contact.c[0] / pull, contact.c[1] / pull];
    let mut n = None;
    if high.is_finite() && high > f64::MIN_POSITIVE {
        if contact.gap(low).0 > 0.0 {
            let t = contact.tangent(contact.root(low, high));
            let size = length(&t);
            direction = [-t[0] / size, -t[1] / size];
            n = Some(contact.normal(t)).filter(|n| *n >= 0.0);
        } else {
            return None;
        }
    }
    let slope = contact.along[0] * direction[0] + contact.along[1] * direction[1];
    // The closed form along the direction found is the exact one; near the singular case the root's
    // own is the better one.
    if n.is_none() || ann - mu * slope > 1e-3 * ann {
        n = slip(mu, ann, slope, bn);
    }
    let n = n?;
    let (x, y) = back(direction);
    let out = [n, -mu * n * x, -mu * n * y];
    out.iter().all(|x| x.is_finite()).then_some(out)
}
