//! Springs, rods and sheets that relax: linear laws of any coordinates with a past.

use super::PronySeries;
use super::prony::Branch;
use crate::ContinuumError;
use crate::checks::{check_number, check_range};
use pliant_dense::eigen::symmetric_eigen;
use pliant_model::validate::{check_finite, check_positive, check_size, check_space};
use pliant_model::{At, Blocks, Field, ForceField, Memory, ModelError, NotInvertible, Past, Space};

/// Linear viscoelasticity of any coordinates: a stiffness that falls off by a Prony series, the
/// same for all of them.
///
/// **Equation.** `f = -w K (x - sum_i g_i (x - a_i))`, `da_i/dt = dx/dt - a_i/tau_i` on each
/// element, with the symmetric stiffness `K` of fast motion (N/m, N m/rad, Pa), the weight `w` of
/// the element, the shares `g_i` of a [`PronySeries`], whose shares of shear and bulk must be
/// equal, and `a_i` the part of the coordinates that is in the spring of branch `i`. Over a step
/// the coordinates go straight, for which the recurrence is exact:
/// `a_i+ = exp(-h/tau) a_i + (1 - exp(-h/tau)) tau/h (x+ - x)`. Energy
/// `w/2 (g_oo x . K x + sum g_i a_i . K a_i)`, `g_oo = 1 - sum g_i`. Remembered are `x`, then the
/// `a_i`.
///
/// **Use.** Springs of rubber, tendons, cables of polymer, sheets of plastic: relaxation, creep,
/// damping that depends on the frequency. On any mapped node of real coordinates: a
/// [`Distance`](pliant_model::Distance), the strains of a [`Rod`](crate::Rod) or a
/// [`Sheet`](crate::Sheet), whose `with_viscoelasticity` puts it there. Statics has the share
/// `g_oo` that never relaxes. As a stiffness; not in explicit methods and RATTLE.
#[derive(Clone, Debug, PartialEq)]
pub struct Relaxing {
    size: usize,
    stiffness: Vec<f64>,
    weights: Vec<f64>,
    series: PronySeries,
}

impl Relaxing {
    /// Coordinates of an element at most.
    pub const MOST: usize = 6;

    /// Springs of these stiffnesses (N/m, N m/rad), positive, the same for all coordinates of an
    /// element: one for each element.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn springs(size: usize, stiffnesses: &[f64], series: PronySeries) -> Result<Self, ContinuumError> {
        Self::diagonal(&vec![1.0; size], stiffnesses, series)
    }

    /// A stiffness (N/m, N m/rad, Pa) for each coordinate of an element, none below zero, times the
    /// weight (positive) of each element.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn diagonal(
        stiffnesses: &[f64],
        weights: &[f64],
        series: PronySeries,
    ) -> Result<Self, ContinuumError> {
        let size = stiffnesses.len();
        let mut matrix = vec![0.0; size * size];
        for (k, stiffness) in stiffnesses.iter().enumerate() {
            matrix[k * size + k] = *stiffness;
        }
        Self::new(&matrix, weights, series)
    }

    /// A symmetric matrix over the coordinates of an element (N/m, N m/rad, Pa), rows first, which
    /// is not to store energy below zero, times the weight (positive) of each element. What is
    /// wrong with a number is said where it goes into a model.
    ///
    /// # Errors
    /// [`ContinuumError::OutOfRange`] of a matrix that is not one of 1 to [`MOST`](Self::MOST)
    /// rows.
    pub fn new(stiffness: &[f64], weights: &[f64], series: PronySeries) -> Result<Self, ContinuumError> {
        let size = stiffness.len().isqrt();
        let (entries, bound) = (stiffness.len(), "a square of 1 to 6 rows");
        let holds = (1..=Self::MOST).contains(&size) && size * size == entries;
        check_number(Field::NumberOfStiffnessEntries, entries as f64, holds, bound)?;
        Ok(Self {
            size,
            stiffness: stiffness.to_vec(),
            weights: weights.to_vec(),
            series,
        })
    }

    /// How it relaxes.
    pub fn series(&self) -> &PronySeries {
        &self.series
    }

    /// Symmetric, and of no energy below zero, both to rounding.
    fn check_stiffness(&self, name: &str) -> Result<(), ModelError> {
        let n = self.size;
        for value in &self.stiffness {
            check_finite(name, Field::Stiffness, *value)?;
        }
        let largest = self.stiffness.iter().fold(0.0, |a: f64, k| a.max(k.abs()));
        let skew = |k: usize| (self.stiffness[k] - self.stiffness[k % n * n + k / n]).abs();
        let worst = (0..n * n).map(skew).fold(0.0, f64::max);
        let field = Field::StiffnessSkew;
        check_range(name, field, worst, worst <= 1e-12 * largest, "zero")?;
        let (mut matrix, mut vectors) = (self.stiffness.clone(), vec![0.0; n * n]);
        symmetric_eigen(n, &mut matrix, &mut vectors);
        let least = (0..n).map(|k| matrix[k * n + k]).fold(f64::INFINITY, f64::min);
        let field = Field::LeastStiffness;
        check_range(name, field, least, least >= -1e-12 * largest, "zero or more")
    }

    fn left(&self) -> f64 {
        self.series.long_time()[0]
    }

    /// Internal variables of an element: its coordinates, and those of the springs of the branches.
    fn variables(&self) -> usize {
        self.size * (1 + self.series.terms().len())
    }

    fn of_element<'a>(&self, internal: &'a [f64], e: usize) -> &'a [f64] {
        &internal[e * self.variables()..][..self.variables()]
    }

    /// `a . K b`.
    fn product(&self, a: &[f64], b: &[f64]) -> f64 {
        let rows = self.stiffness.chunks_exact(self.size);
        let of = |(a, row): (&f64, &[f64])| a * row.iter().zip(b).map(|(k, b)| k * b).sum::<f64>();
        a.iter().zip(rows).map(of).sum()
    }

    /// Subtracts `w K x`.
    fn subtract(&self, weight: f64, x: &[f64], f: &mut [f64]) {
        for (f, row) in f.iter_mut().zip(self.stiffness.chunks_exact(self.size)) {
            *f -= weight * row.iter().zip(x).map(|(k, x)| k * x).sum::<f64>();
        }
    }

    fn write(&self, share: f64, out: &mut Blocks) {
        for (e, weight) in self.weights.iter().enumerate() {
            for (o, k) in out.block_mut(e).iter_mut().zip(&self.stiffness) {
                *o += weight * share * k;
            }
        }
    }

    /// The deformation of the spring of branch `i` after a time, at coordinates `x`.
    fn moved(&self, i: usize, x: &[f64], past: &[f64], elapsed: f64) -> [f64; Self::MOST] {
        let n = self.size;
        let branch = Branch::after(self.series.terms()[i].time, elapsed);
        let mut out = [0.0; Self::MOST];
        for k in 0..n {
            out[k] = branch.decay * past[(i + 1) * n + k] + branch.grown * (x[k] - past[k]);
        }
        out
    }

    fn elements<'a>(&'a self, x: &'a [f64]) -> impl Iterator<Item = (usize, (&'a [f64], f64))> {
        x.chunks_exact(self.size)
            .zip(self.weights.iter().copied())
            .enumerate()
    }
}

impl ForceField for Relaxing {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        let expected = "real coordinates, as many of an element as the stiffness has rows";
        check_space(name, expected, space, space == Space::Real(self.size))?;
        let what = "weights or springs, one for each element";
        check_size(name, Field::ElementWeights, what, count, self.weights.len())?;
        for weight in &self.weights {
            check_positive(name, Field::ElementWeights, *weight)?;
        }
        self.check_stiffness(name)?;
        for term in self.series.terms() {
            let field = Field::BulkShares;
            let bound = "that of shear: springs, rods and sheets relax by one share";
            check_range(name, field, term.bulk, term.bulk == term.shear, bound)?;
        }
        self.series.check(name)
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        let of = |(_, (x, weight)): (usize, (&[f64], f64))| 0.5 * weight * self.left() * self.product(x, x);
        self.elements(x).map(of).sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, f: &mut [f64]) {
        for (f, (_, (x, weight))) in f.chunks_exact_mut(self.size).zip(self.elements(x)) {
            self.subtract(weight * self.left(), x, f);
        }
    }

    fn stiffness(&self, _at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        self.write(self.left(), out);
        Ok(())
    }

    fn is_damped(&self) -> bool {
        false
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }
}

impl Memory for Relaxing {
    fn size(&self, count: usize) -> usize {
        count * self.variables()
    }

    fn begin(&self, _space: Space, x: &[f64], internal: &mut [f64]) {
        let elements = internal.chunks_exact_mut(self.variables());
        for (x, element) in x.chunks_exact(self.size).zip(elements) {
            element.fill(0.0);
            element[..self.size].copy_from_slice(x);
        }
    }

    fn energy(&self, at: At<'_>, internal: &[f64]) -> f64 {
        let mut out = ForceField::energy(self, at);
        for (e, (x, weight)) in self.elements(at.x) {
            let past = self.of_element(internal, e);
            for (i, term) in self.series.terms().iter().enumerate() {
                let a = self.moved(i, x, past, 0.0);
                out += 0.5 * weight * term.shear * self.product(&a[..self.size], &a[..self.size]);
            }
        }
        out
    }

    fn add_force(&self, At { x, .. }: At<'_>, past: Past<'_>, f: &mut [f64]) {
        for (f, (e, (x, weight))) in f.chunks_exact_mut(self.size).zip(self.elements(x)) {
            let old = self.of_element(past.internal, e);
            self.subtract(weight * self.left(), x, f);
            for (i, term) in self.series.terms().iter().enumerate() {
                let a = self.moved(i, x, old, past.elapsed);
                self.subtract(weight * term.shear, &a, f);
            }
        }
    }

    fn stiffness(&self, _at: At<'_>, past: Past<'_>, out: &mut Blocks) {
        self.write(self.series.shares_after(past.elapsed)[0], out);
    }

    fn advance(&self, At { x, .. }: At<'_>, past: Past<'_>, new: &mut [f64]) -> f64 {
        let n = self.size;
        let mut dissipated = 0.0;
        for (new, (e, (x, weight))) in new.chunks_exact_mut(self.variables()).zip(self.elements(x)) {
            let old = self.of_element(past.internal, e);
            let mut change = [0.0; Self::MOST];
            (0..n).for_each(|k| change[k] = x[k] - old[k]);
            let change = &change[..n];
            for (i, term) in self.series.terms().iter().enumerate() {
                let before = &old[(i + 1) * n..][..n];
                let products = [
                    self.product(before, before),
                    self.product(change, before),
                    self.product(change, change),
                ];
                let branch = Branch::after(term.time, past.elapsed);
                dissipated += weight * term.shear * branch.dissipated(products);
                let a = self.moved(i, x, old, past.elapsed);
                new[(i + 1) * n..][..n].copy_from_slice(&a[..n]);
            }
            new[..n].copy_from_slice(x);
        }
        dissipated
    }
}
