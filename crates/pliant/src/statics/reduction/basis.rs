//! Modes that are orthogonal to each other and to rigid motions, of the span of some displacements.

use super::{WHAT, no};
use crate::Error;
use pliant_dense::eigen::symmetric_eigen;
use pliant_solvers::KktSystem;
use pliant_sparse::CsrMatrix;

/// The least size of what a displacement is beside rigid motions, as a share of its own, by the
/// square root of the mass. Of rigid motions it is rounding of solves, 1e-12 or so.
const INDEPENDENT: f64 = 1e-9;
/// The least eigenvalue of the products of displacements of size 1 that are independent; of
/// dependent ones it is 1e-15 or so.
const LEAST: f64 = 1e-12;

/// Displacements of the independent coordinates, the multipliers of the rows that go with them, and
/// the motions of the interfaces.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub(super) x: Vec<f64>,
    pub(super) l: Vec<f64>,
    pub(super) b: Vec<f64>,
}

impl Column {
    fn zeros(like: &Self) -> Self {
        Self {
            x: vec![0.0; like.x.len()],
            l: vec![0.0; like.l.len()],
            b: vec![0.0; like.b.len()],
        }
    }

    fn add(&mut self, s: f64, other: &Self) {
        for (own, other) in [
            (&mut self.x, &other.x),
            (&mut self.l, &other.l),
            (&mut self.b, &other.b),
        ] {
            own.iter_mut().zip(other).for_each(|(a, b)| *a += s * b);
        }
    }

    fn scale(&mut self, s: f64) {
        for list in [&mut self.x, &mut self.l, &mut self.b] {
            list.iter_mut().for_each(|a| *a *= s);
        }
    }
}

/// A mode with `x^T M x` and `x^T (K x - J^T l)`.
pub(super) struct FoundMode {
    pub(super) column: Column,
    pub(super) mass: f64,
    pub(super) stiffness: f64,
}

/// The inner product, summed in order.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn mass_product(mass: &CsrMatrix, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    mass.symmetric_add_product(1.0, x, &mut out);
    out
}

/// The matrices, and the rigid motions, which are orthonormal by the mass.
pub(super) struct Basis<'a> {
    stiffness: &'a KktSystem,
    mass: &'a CsrMatrix,
    rigid: Vec<Column>,
}

impl<'a> Basis<'a> {
    pub(super) fn new(stiffness: &'a KktSystem, mass: &'a CsrMatrix, rigid: Vec<Column>) -> Self {
        let mut out = Self {
            stiffness,
            mass,
            rigid: Vec::new(),
        };
        for mut column in rigid {
            let before = out.size(&column);
            out.take_out_rigid(&mut column);
            let size = out.size(&column);
            // Points on a line do not turn about it: that motion is none.
            if size > INDEPENDENT * before {
                column.scale(1.0 / size);
                out.rigid.push(column);
            }
        }
        out
    }

    /// `sqrt(x^T M x)`.
    fn size(&self, column: &Column) -> f64 {
        dot(&column.x, &mass_product(self.mass, &column.x))
            .max(0.0)
            .sqrt()
    }

    /// Twice, so that what is left is orthogonal to rounding of itself.
    fn take_out_rigid(&self, column: &mut Column) {
        for _ in 0..2 {
            for rigid in &self.rigid {
                let share = dot(&rigid.x, &mass_product(self.mass, &column.x));
                column.add(-share, rigid);
            }
        }
    }

    fn stiffness_product(&self, column: &Column) -> Vec<f64> {
        let mut out = mass_product(&self.stiffness.w, &column.x);
        self.stiffness.j.add_transpose_product(-1.0, &column.l, &mut out);
        out
    }

    /// Products of all columns with each other by mass and stiffness, rows first.
    fn products(&self, columns: &[Column]) -> [Vec<f64>; 2] {
        let d = columns.len();
        let (mut masses, mut stiffnesses) = (vec![0.0; d * d], vec![0.0; d * d]);
        for (j, column) in columns.iter().enumerate() {
            let (m, k) = (mass_product(self.mass, &column.x), self.stiffness_product(column));
            for (i, other) in columns.iter().enumerate() {
                masses[i * d + j] = dot(&other.x, &m);
                stiffnesses[i * d + j] = dot(&other.x, &k);
            }
        }
        for matrix in [&mut masses, &mut stiffnesses] {
            for i in 0..d {
                for j in 0..i {
                    let mean = 0.5 * (matrix[i * d + j] + matrix[j * d + i]);
                    (matrix[i * d + j], matrix[j * d + i]) = (mean, mean);
                }
            }
        }
        [masses, stiffnesses]
    }

    /// The modes in the span of the columns without rigid motions, the lowest first, and the
    /// largest product of two of them as a share of their own.
    pub(super) fn modes(&self, mut columns: Vec<Column>) -> Result<(Vec<FoundMode>, f64), Error> {
        let sizes: Vec<f64> = columns.iter().map(|c| self.size(c)).collect();
        columns.iter_mut().for_each(|c| self.take_out_rigid(c));
        let r = columns.len().saturating_sub(self.rigid.len());
        let mut kept = Vec::new();
        for (mut column, before) in columns.into_iter().zip(sizes) {
            let size = self.size(&column);
            if size > INDEPENDENT * before {
                column.scale(1.0 / size);
                kept.push(column);
            }
        }
        let d = kept.len();
        let [mut masses, stiffnesses] = self.products(&kept);
        let mut vectors = vec![0.0; d * d];
        let failed = || Error::NoModes {
            what: WHAT,
            why: "its mass matrix is not finite".to_owned(),
        };
        if d > 0 && !symmetric_eigen(d, &mut masses, &mut vectors) {
            return Err(failed());
        }
        // The largest first, so that the order does not depend on that of rounding errors.
        let mut order: Vec<usize> = (0..d).collect();
        let r = r.min(d);
        order.sort_by(|a, b| masses[b * d + b].total_cmp(&masses[a * d + a]));
        // Rigid motions were in the span, and as many combinations are nothing now.
        order.truncate(r);
        if order.last().is_some_and(|k| masses[k * d + k] < LEAST) {
            return no("motions of its interfaces and its fixed modes depend on each other".to_owned());
        }
        // Combinations that are orthonormal by the mass, one per column.
        let mut white = vec![0.0; d * r];
        for (k, from) in order.iter().enumerate() {
            for i in 0..d {
                white[i * r + k] = vectors[i * d + from] / masses[from * d + from].sqrt();
            }
        }
        let mut reduced = congruence(&stiffnesses, &white, d, r);
        let mut turned = vec![0.0; r * r];
        if r > 0 && !symmetric_eigen(r, &mut reduced, &mut turned) {
            return Err(failed());
        }
        let mut order: Vec<usize> = (0..r).collect();
        order.sort_by(|a, b| reduced[a * r + a].total_cmp(&reduced[b * r + b]));
        let mut modes = Vec::new();
        for from in order {
            let mut column = Column::zeros(&kept[0]);
            for (i, own) in kept.iter().enumerate() {
                let weight = (0..r).map(|k| white[i * r + k] * turned[k * r + from]).sum();
                column.add(weight, own);
            }
            self.take_out_rigid(&mut column);
            modes.push(column);
        }
        let [masses, stiffnesses] = self.products(&modes);
        let mut worst = 0.0f64;
        for i in 0..r {
            for j in 0..i {
                for matrix in [&masses, &stiffnesses] {
                    let own = (matrix[i * r + i] * matrix[j * r + j]).sqrt();
                    let share = matrix[i * r + j].abs() / own;
                    // `max` would hide a NaN.
                    if !worst.is_nan() && (share.is_nan() || share > worst) {
                        worst = share;
                    }
                }
            }
        }
        let modes = modes.into_iter().enumerate().map(|(i, column)| FoundMode {
            column,
            mass: masses[i * r + i],
            stiffness: stiffnesses[i * r + i],
        });
        let modes: Vec<FoundMode> = modes.collect();
        if modes.iter().any(|m| m.stiffness.is_nan() || m.stiffness <= 0.0) {
            return no("one of its modes has no stiffness".to_owned());
        }
        Ok((modes, worst))
    }
}

/// `T^T A T` of a square matrix of size `d` and `r` columns.
fn congruence(a: &[f64], t: &[f64], d: usize, r: usize) -> Vec<f64> {
    let mut half = vec![0.0; d * r];
    for i in 0..d {
        for k in 0..d {
            (0..r).for_each(|j| half[i * r + j] += a[i * d + k] * t[k * r + j]);
        }
    }
    let mut out = vec![0.0; r * r];
    for k in 0..d {
        for i in 0..r {
            (0..r).for_each(|j| out[i * r + j] += t[k * r + i] * half[k * r + j]);
        }
    }
    out
}
