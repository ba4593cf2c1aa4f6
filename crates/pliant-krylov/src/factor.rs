//! An exact factor as an operator.

use crate::precondition::copy_masked;
use crate::{Preconditioner, power_of_two_below};
use pliant_solvers::SolveError;
use pliant_sparse::{CsrMatrix, Factor, Graph, PatternBuilder, PivotRule, Symbolic};
use std::cell::RefCell;

/// `A^-1` for a symmetric sparse `A` by `L D L^T` in a minimum-degree order, scaled symmetrically
/// by powers of two.
///
/// For the `W^-1` of a [`SchurOperator`](crate::SchurOperator), and for matrices that come with a
/// preconditioner. Variables with a pivot below `threshold` of their diagonal are dropped: they
/// come out as zero. Without pivoting for stability: `A` should be definite or quasi-definite.
///
/// Cost: the factorisation's flops per `update`, `4 nnz(L)` per application.
#[derive(Debug)]
pub struct SymmetricFactor {
    matrix: Option<CsrMatrix>,
    permuted: CsrMatrix,
    /// Slot in `permuted` of every slot of `matrix`.
    slots: Vec<u32>,
    /// The k-th variable to be eliminated.
    order: Vec<usize>,
    position: Vec<usize>,
    scale: Vec<f64>,
    symbolic: Symbolic,
    work: RefCell<(Factor, Vec<f64>)>,
    threshold: f64,
    inertia: (usize, usize),
    dropped: Vec<usize>,
}

impl SymmetricFactor {
    /// Analyses and factors the lower triangle of `A`; `fixed`, empty if nothing is, as in
    /// [`SymmetricOperator`](crate::SymmetricOperator).
    ///
    /// # Errors
    /// [`SolveError::Parameter`] if the threshold is not in [0, 1), [`SolveError::NotFinite`],
    /// [`SolveError::Size`], or what the sparse kernels say.
    pub fn new(a: &CsrMatrix, fixed: &[bool], threshold: f64) -> Result<Self, SolveError> {
        if !(0.0..1.0).contains(&threshold) {
            return Err(SolveError::Parameter {
                what: "pivot threshold",
                value: threshold,
            });
        }
        let mut matrix = None;
        copy_masked(a, fixed, &mut matrix)?;
        let pattern = a.pattern();
        let n = pattern.rows();
        let mut graph = Graph::new(n);
        for i in 0..n {
            pattern.row(i).iter().for_each(|k| graph.connect(i, *k as usize));
        }
        let order = graph.minimum_degree()?;
        let mut position = vec![0; n];
        for (k, i) in order.iter().enumerate() {
            position[*i] = k;
        }
        let mut builder = PatternBuilder::new(n, n);
        for i in 0..n {
            for k in pattern.row(i) {
                let (a, b) = (position[i], position[*k as usize]);
                builder.insert(a.max(b), a.min(b));
            }
        }
        let permuted = builder.finish()?.into_matrix();
        let mut slots = Vec::with_capacity(pattern.len());
        for i in 0..n {
            for k in pattern.row(i) {
                let (a, b) = (position[i], position[*k as usize]);
                let slot = permuted.pattern().slot(a.max(b), a.min(b));
                slots.push(slot.ok_or(SolveError::NotPrepared)? as u32);
            }
        }
        let symbolic = Symbolic::new(permuted.pattern())?;
        let work = RefCell::new((symbolic.allocate(), vec![0.0; n]));
        let mut out = Self {
            matrix,
            permuted,
            slots,
            order,
            position,
            scale: vec![1.0; n],
            symbolic,
            work,
            threshold,
            inertia: (0, 0),
            dropped: Vec::new(),
        };
        out.factor()?;
        Ok(out)
    }

    /// Factors new values; analyses anew, and allocates, only for another pattern.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn update(&mut self, a: &CsrMatrix, fixed: &[bool]) -> Result<(), SolveError> {
        if self.matrix.as_ref().is_none_or(|m| m.pattern() != a.pattern()) {
            *self = Self::new(a, fixed, self.threshold)?;
            return Ok(());
        }
        copy_masked(a, fixed, &mut self.matrix)?;
        self.factor()
    }

    /// Numbers of positive and negative pivots, fixed variables among the former and dropped ones
    /// in neither.
    pub fn inertia(&self) -> (usize, usize) {
        self.inertia
    }

    /// The variables that were dropped.
    pub fn dropped(&self) -> &[usize] {
        &self.dropped
    }

    /// A variable with a pivot that is negative or was dropped.
    pub(crate) fn first_odd(&self) -> Option<usize> {
        let work = self.work.borrow();
        let odd = |k: &usize| work.0.is_dropped(*k) || work.0.pivots()[*k] < 0.0;
        (0..self.order.len()).find(odd).map(|k| self.order[k])
    }

    fn factor(&mut self) -> Result<(), SolveError> {
        let Some(matrix) = &self.matrix else {
            return Err(SolveError::NotPrepared);
        };
        for (scale, i) in self.scale.iter_mut().zip(&self.order) {
            let diagonal = matrix.values()[matrix.pattern().row_slots(*i).end - 1].abs();
            *scale = if diagonal > 0.0 {
                power_of_two_below(1.0 / diagonal.sqrt())
            } else {
                1.0
            };
        }
        let values = self.permuted.values_mut();
        for i in 0..self.order.len() {
            let si = self.scale[self.position[i]];
            for (slot, k) in matrix.pattern().row_slots(i).zip(matrix.pattern().row(i)) {
                let sk = self.scale[self.position[*k as usize]];
                values[self.slots[slot] as usize] = si * matrix.values()[slot] * sk;
            }
        }
        let factor = &mut self.work.get_mut().0;
        let rule = PivotRule::Drop {
            threshold: self.threshold,
        };
        let report = factor.factor(&self.symbolic, &self.permuted, rule)?;
        self.inertia = (report.positive, report.negative);
        self.dropped.clear();
        let dropped = (0..self.order.len()).filter(|k| factor.is_dropped(*k));
        self.dropped.extend(dropped.map(|k| self.order[k]));
        Ok(())
    }
}

impl Preconditioner for SymmetricFactor {
    fn size(&self) -> usize {
        self.order.len()
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        let mut work = self.work.borrow_mut();
        let (factor, rhs) = &mut *work;
        for ((y, i), s) in rhs.iter_mut().zip(&self.order).zip(&self.scale) {
            *y = s * r[*i];
        }
        factor.solve_in_place(&self.symbolic, rhs);
        for ((y, i), s) in rhs.iter().zip(&self.order).zip(&self.scale) {
            z[*i] = s * y;
        }
        for i in &self.dropped {
            z[*i] = 0.0;
        }
    }
}
