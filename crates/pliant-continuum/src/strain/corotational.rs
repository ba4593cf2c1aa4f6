//! Biot's strain and its derivatives.

use super::measures::PAIRS;
use super::{CorotationalStrain, OfGradient, Polar, matrix, strain_numbers, stress_matrix, write_matrix};
use pliant_dense::{Mat3, Vec3, skew};

const DEGENERATE: &str = "two of its principal stretches add up to zero, so that it has no rotation";
const AXES: fn() -> [Mat3; 3] = || [Vec3::x(), Vec3::y(), Vec3::z()].map(skew);

/// The vector `a` with `[a] = m - m^T`.
fn axial(m: &Mat3) -> Vec3 {
    Vec3::new(
        m[(2, 1)] - m[(1, 2)],
        m[(0, 2)] - m[(2, 0)],
        m[(1, 0)] - m[(0, 1)],
    )
}

/// The decomposition, by the strains where they are known.
fn polar(f: &Mat3, strains: &[f64]) -> Option<Polar> {
    let Some(e) = strains.first_chunk::<6>() else {
        return Polar::of(f);
    };
    let mut halved = *e;
    halved[3..].iter_mut().for_each(|shear| *shear *= 0.5);
    Polar::of_stretch(f, &(Mat3::identity() + stress_matrix(&halved))).or_else(|| Polar::of(f))
}

/// How the rotation turns: `w = sum_m e_m (V_m : dF)` with `dR = R [w]`.
fn turns(p: &Polar) -> [Mat3; 3] {
    let e = AXES().map(|axis| p.r * axis);
    std::array::from_fn(|m| e[0] * p.turn[(m, 0)] + e[1] * p.turn[(m, 1)] + e[2] * p.turn[(m, 2)])
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

    /// `d(S : U) = R (S + [y]) : dF` with `y = T axl(U S)`, for each `S` that picks a number.
    fn jacobian(f: &Mat3, known: &[f64], out: &mut [f64]) -> Result<(), &'static str> {
        let p = polar(f, known).ok_or(DEGENERATE)?;
        let turns = turns(&p);
        for (k, [i, j]) in PAIRS.into_iter().enumerate() {
            let mut s = Mat3::zeros();
            s[(i, j)] = 1.0;
            s[(j, i)] = 1.0;
            let a = axial(&(p.u * s));
            let row = p.r * s + turns[0] * a[0] + turns[1] * a[1] + turns[2] * a[2];
            write_matrix(&row, &mut out[9 * k..]);
        }
        Ok(())
    }

    /// `dP` of `P = R (S + [y])`, with `w` from `dR = R [w]`: `R [w] (S + [y]) + R [dy]`,
    /// `dy = T (axl(dU S) - (tr(dU) y - dU y))`, `dU = sym(R^T dF - [w] U)`. With `V_m` of
    /// [`turns`] that is `sum_m (V_m (x) P_m + P_m (x) V_m)/2`, where
    /// `P_m = R ([e_m] (S + [y]) + Q_m) - sum_n c_mn V_n`, `Q_m = sym([e_m] S + e_m y^T) - y_m I`,
    /// `c_mn = sym([e_n] : Q_m U)`.
    fn hessian(f: &Mat3, known: &[f64], force: &[f64], out: &mut [f64]) {
        // Where it has none the Jacobian said so before.
        let Some(p) = polar(f, known) else { return };
        let s = stress_matrix(force);
        let y = p.turn * axial(&(p.u * s));
        let stress = s + skew(y);
        let turns = turns(&p);
        let axes = AXES();
        let q: [Mat3; 3] = std::array::from_fn(|m| {
            let mut half = axes[m] * s;
            half.set_row(m, &(half.row(m) + y.transpose()));
            0.5 * (half + half.transpose()) - Mat3::identity() * y[m]
        });
        let c = q.map(|q| axial(&(q * p.u)));
        let (mut v, mut w) = ([[0.0; 9]; 3], [[0.0; 9]; 3]);
        for m in 0..3 {
            let own = p.r * (axes[m] * stress + q[m]);
            let shared = |n: usize| turns[n] * (0.5 * (c[m][n] + c[n][m]));
            write_matrix(&turns[m], &mut v[m]);
            write_matrix(&(0.5 * (own - shared(0) - shared(1) - shared(2))), &mut w[m]);
        }
        // The upper triangle is the lower one: symmetric to the bit.
        for a in 0..9 {
            for b in 0..=a {
                let mut sum = 0.0;
                for m in 0..3 {
                    sum += v[m][a] * w[m][b] + w[m][a] * v[m][b];
                }
                out[9 * a + b] = sum;
                out[9 * b + a] = sum;
            }
        }
    }

    /// From `0 = F'' = R'' U + 2 R' U' + R U''` with `R' = R [w]`:
    /// `U'' = -([w]^2 + [w']) U - 2 [w] U'`, `w'` such that it is symmetric.
    fn acceleration(f: &Mat3, known: &[f64], rate: &[f64], out: &mut [f64]) {
        let Some(p) = polar(f, known) else { return };
        let h = p.r.transpose() * matrix(rate);
        let w = skew(p.turn * axial(&h));
        let du = h - w * p.u;
        let rest = w * w * p.u + w * (du + du.transpose());
        let dw = skew(p.turn * axial(&-rest));
        let second = strain_numbers(&(-dw * p.u - rest));
        out.iter_mut().zip(second).for_each(|(o, s)| *o += s);
    }
}
