//! Biot's strain and its derivatives.

use super::measures::PAIRS;
use super::{CorotationalStrain, OfGradient, Polar, strain_numbers, stress_matrix, write_matrix};
use pliant_dense::{Mat3, Vec3, skew};

const DEGENERATE: &str = "two of its principal stretches add up to zero, so that it has no rotation";

/// The vector `a` with `[a] = m - m^T`.
fn axial(m: &Mat3) -> Vec3 {
    Vec3::new(
        m[(2, 1)] - m[(1, 2)],
        m[(0, 2)] - m[(2, 0)],
        m[(1, 0)] - m[(0, 1)],
    )
}

/// `y` with `d(S : U) = R (S + [y]) : dF`: what the turning of `R` contributes where `S` and `U` do not commute.
fn turning(p: &Polar, s: &Mat3) -> Vec3 {
    p.turn * axial(&(p.u * s))
}

impl OfGradient for CorotationalStrain {
    const SIZE: usize = 6;

    fn value(f: &Mat3, out: &mut [f64]) -> Result<(), &'static str> {
        let p = Polar::of(f).ok_or(DEGENERATE)?;
        // U - I = R^T (F - R): small strains keep their digits.
        let e = p.r.transpose() * (f - p.r);
        out.copy_from_slice(&strain_numbers(&(0.5 * (e + e.transpose()))));
        Ok(())
    }

    fn jacobian(f: &Mat3, out: &mut [f64]) -> Result<(), &'static str> {
        let p = Polar::of(f).ok_or(DEGENERATE)?;
        for (k, [i, j]) in PAIRS.into_iter().enumerate() {
            let mut s = Mat3::zeros();
            s[(i, j)] = 1.0;
            s[(j, i)] = 1.0;
            write_matrix(&(p.r * (s + skew(turning(&p, &s)))), &mut out[9 * k..]);
        }
        Ok(())
    }

    fn hessian(f: &Mat3, force: &[f64], out: &mut [f64]) {
        // Where it has none the Jacobian said so before.
        let Some(p) = Polar::of(f) else { return };
        let s = stress_matrix(force);
        let y = turning(&p, &s);
        let stress = s + skew(y);
        for k in 0..3 {
            for l in 0..3 {
                // dF = e_k e_l^T, seen in the rotated axes.
                let mut h = Mat3::zeros();
                h.set_column(l, &p.r.row(k).transpose());
                let w = p.turn * axial(&h);
                let du = h - skew(w) * p.u;
                let du = 0.5 * (du + du.transpose());
                let dy = p.turn * (axial(&(du * s)) - (y * du.trace() - du * y));
                let column = p.r * (skew(w) * stress + skew(dy));
                for i in 0..3 {
                    for j in 0..3 {
                        out[(3 * i + j) * 9 + 3 * k + l] = column[(i, j)];
                    }
                }
            }
        }
        // Second derivatives commute; rounding does not.
        for a in 0..9 {
            for b in 0..a {
                let mean = 0.5 * (out[9 * a + b] + out[9 * b + a]);
                out[9 * a + b] = mean;
                out[9 * b + a] = mean;
            }
        }
    }
}
