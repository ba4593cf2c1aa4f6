//! The largest eigenvalue of a preconditioned matrix, estimated.

use crate::{axpy, dot, xpby};

/// Steps of the estimate.
const STEPS: usize = 8;

/// The tridiagonal matrix of Lanczos' method, as it grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    diagonal: [f64; STEPS],
    below: [f64; STEPS],
    steps: usize,
}

/// Lower estimate of the largest eigenvalue of `D^-1 A`: that of the tridiagonal matrix of eight
/// steps of conjugate gradients from a right-hand side that looks random and is always the same
/// (Lanczos). Within some percent for finite elements and springs. `None` if `A` shows a direction
/// without energy at once.
pub(super) fn largest_eigenvalue(
    product: impl Fn(&[f64], &mut [f64]),
    inverse: impl Fn(&[f64], &mut [f64]),
    [r, z, p, ap]: [&mut [f64]; 4],
) -> Option<f64> {
    for (i, v) in r.iter_mut().enumerate() {
        let mixed = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        *v = (mixed >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    }
    let mut t = Estimate {
        diagonal: [0.0; STEPS],
        below: [0.0; STEPS],
        steps: 0,
    };
    inverse(r, z);
    p.copy_from_slice(z);
    let mut rz = dot(r, z);
    let (mut old_alpha, mut beta) = (1.0, 0.0);
    while t.steps < STEPS {
        product(p, ap);
        let alpha = rz / dot(p, ap);
        if !(alpha > 0.0 && alpha.is_finite()) {
            break;
        }
        t.diagonal[t.steps] = 1.0 / alpha + beta / old_alpha;
        axpy(-alpha, ap, r);
        inverse(r, z);
        let new = dot(r, z);
        beta = new / rz;
        t.below[t.steps] = beta.max(0.0).sqrt() / alpha;
        t.steps += 1;
        if !(new > 0.0 && beta.is_finite()) {
            break;
        }
        old_alpha = alpha;
        rz = new;
        xpby(z, beta, p);
    }
    t.largest()
}

impl Estimate {
    /// By bisection on the signs of the pivots of `T - s I` (Sturm).
    fn largest(&self) -> Option<f64> {
        let below = |k: usize| if k == 0 { 0.0 } else { self.below[k - 1] };
        let after = |k: usize| if k + 1 < self.steps { self.below[k] } else { 0.0 };
        let bound = (0..self.steps).map(|k| self.diagonal[k] + below(k) + after(k));
        let mut high = bound.fold(0.0, f64::max);
        let mut low = self.diagonal[..self.steps]
            .iter()
            .fold(0.0, |a: f64, b| a.max(*b));
        if self.steps == 0 || !high.is_finite() {
            return None;
        }
        while high - low > 1e-3 * high {
            let middle = 0.5 * (low + high);
            let mut pivot = 1.0;
            let exceeded = (0..self.steps).any(|k| {
                pivot = self.diagonal[k] - middle - if k > 0 { below(k) * below(k) / pivot } else { 0.0 };
                pivot >= 0.0
            });
            if exceeded {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(high)
    }
}
