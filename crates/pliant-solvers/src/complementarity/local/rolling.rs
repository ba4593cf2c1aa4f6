//! A contact with resistance to spin and rolling, alone.

use super::spatial;
use crate::complementarity::Cone;
use crate::complementarity::cone::ROWS;
use crate::complementarity::jacobian::solve_in_place;
use crate::complementarity::newton::{ContactFunction, contact};

/// Rounds of relaxation and Newton's steps.
const ROUNDS: usize = 40;
/// Newton's steps of a round, halvings of each, and relaxations.
const STEPS: usize = 12;
const HALVINGS: usize = 8;
const RELAXATIONS: usize = 4;
/// A residual at rounding, as a share of the velocities that enter.
const ROUNDING: f64 = 1e-14;

struct Block<'a> {
    cone: Cone,
    mu: f64,
    s: f64,
    a: &'a [f64],
    b: &'a [f64],
}

impl Block<'_> {
    fn velocity(&self, r: &[f64; ROWS]) -> [f64; ROWS] {
        std::array::from_fn(|i| {
            let line = &self.a[ROWS * i..][..ROWS];
            self.b[i] + line.iter().zip(r).map(|(a, r)| a * r).sum::<f64>()
        })
    }

    fn merit(&self, r: &[f64; ROWS]) -> f64 {
        let law = contact(
            ContactFunction::AlartCurnier,
            &self.cone,
            self.s,
            r,
            &self.velocity(r),
        );
        law.value.iter().fold(0.0, |a, v| a + v * v)
    }

    /// The contact without torques exactly, then the torques by steps along their velocities.
    fn relax(&self, r: &mut [f64; ROWS]) {
        let (mut a, mut b) = ([0.0; 9], [0.0; 3]);
        for i in 0..3 {
            let line = &self.a[ROWS * i..][..ROWS];
            a[3 * i..3 * i + 3].copy_from_slice(&line[..3]);
            b[i] = self.b[i] + (3..ROWS).map(|k| line[k] * r[k]).sum::<f64>();
        }
        if let Some(point) = spatial(self.mu, &a, &b) {
            r[..3].copy_from_slice(&point);
        }
        let u = self.velocity(r);
        for (mu, rows) in self.cone.discs().into_iter().skip(1) {
            let scale: f64 = rows.clone().map(|i| self.a[(ROWS + 1) * i]).sum();
            if scale > 0.0 {
                rows.clone().for_each(|i| r[i] -= u[i] / scale);
            }
            let size = crate::complementarity::cone::length(&r[rows.clone()]);
            let radius = mu * r[0];
            if size > radius {
                r[rows].iter_mut().for_each(|x| *x *= radius / size);
            }
        }
    }

    /// A step of Newton's method with line search; false if none helps.
    fn newton(&self, r: &mut [f64; ROWS], merit: &mut f64) -> bool {
        let u = self.velocity(r);
        let law = contact(ContactFunction::AlartCurnier, &self.cone, self.s, r, &u);
        let mut jacobian = law.by_r;
        for i in 0..ROWS {
            for l in 0..ROWS {
                let g = law.by_u[ROWS * i + l];
                if g != 0.0 {
                    for k in 0..ROWS {
                        jacobian[ROWS * i + k] += g * self.a[ROWS * l + k];
                    }
                }
            }
        }
        let mut step = law.value.map(|v| -v);
        if !solve_in_place(&mut jacobian, &mut [0; ROWS], &mut step) {
            return false;
        }
        let mut share = 1.0;
        for _ in 0..HALVINGS {
            let trial = std::array::from_fn(|i| r[i] + share * step[i]);
            let there = self.merit(&trial);
            if there < *merit {
                (*r, *merit) = (trial, there);
                return true;
            }
            share *= 0.5;
        }
        false
    }
}

/// Newton's method on the equations of Alart and Curnier from `start`, with relaxations where it
/// stalls; `None` if the residual does not come down to rounding.
pub(super) fn rolling(cone: &Cone, a: &[f64], b: &[f64], start: &[f64]) -> Option<[f64; ROWS]> {
    let Cone::Rolling { mu, .. } = *cone else {
        return None;
    };
    if b[0] >= 0.0 {
        return Some([0.0; ROWS]);
    }
    if a[0] <= 0.0 {
        return None;
    }
    let s = (0..ROWS).map(|i| a[(ROWS + 1) * i].abs()).sum::<f64>() / ROWS as f64;
    let block = Block {
        cone: *cone,
        mu,
        s,
        a: &a[..ROWS * ROWS],
        b: &b[..ROWS],
    };
    let mut r: [f64; ROWS] = std::array::from_fn(|i| start[i]);
    cone.project(&mut r);
    let mut best = (f64::INFINITY, r);
    for _ in 0..ROUNDS {
        let mut merit = block.merit(&r);
        for _ in 0..STEPS {
            let size = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let done = ROUNDING * (size(b) + s * size(&r));
            if merit <= done * done || !block.newton(&mut r, &mut merit) {
                if merit < best.0 {
                    best = (merit, r);
                }
                // What rounding leaves of it.
                let near = 100.0 * done;
                if best.0 <= near * near {
                    let mut out = best.1;
                    cone.project(&mut out);
                    return out.iter().all(|x| x.is_finite()).then_some(out);
                }
                break;
            }
        }
        for _ in 0..RELAXATIONS {
            block.relax(&mut r);
        }
    }
    None
}
