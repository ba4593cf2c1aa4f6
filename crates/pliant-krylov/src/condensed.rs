//! Compliant rows condensed into `W`.

use crate::blocks::BlockJacobi;
use crate::operator::{add_free_product, add_free_transpose_product};
use crate::{Preconditioner, Scratch};
use pliant_solvers::{KktSystem, SolveError};
use pliant_sparse::{CsrMatrix, PatternBuilder};

/// `W + J^T R^-1 J` for a system all of whose rows are compliant: its stiffness form.
///
/// ```math
/// (W + J^T R^-1 J) x = c - J^T R^-1 b,   mu = -R^-1 (b + J x)
/// ```
///
/// for the right-hand sides of `W x - J^T mu = c`, `-J x - R mu = b`. Cost per update: `k^2 r` for
/// every block of `r` rows on `k` variables.
#[derive(Debug)]
pub(crate) struct Condensed {
    /// Lower triangle.
    pub(crate) matrix: CsrMatrix,
    compliance: BlockJacobi,
    /// Slots in `matrix`: of the entries of `W`; then, for every row block, of the pairs of its
    /// variables.
    w_slots: Vec<u32>,
    pair_slots: Vec<u32>,
    /// The variables of every row block, ascending, and where they start.
    variables: Vec<u32>,
    starts: Vec<usize>,
    /// Columns of `J_b` and of `R_b^-1 J_b`, one variable after the other.
    local: [Vec<f64>; 2],
    scratch: Scratch,
}

impl Condensed {
    pub(crate) fn new(system: &KktSystem) -> Result<Self, SolveError> {
        let n = system.n();
        let mut builder = PatternBuilder::new(n, n);
        for i in 0..n {
            for k in system.w.pattern().row(i) {
                builder.insert(i, *k as usize);
            }
        }
        let (mut variables, mut starts) = (Vec::new(), vec![0]);
        for block in system.row_blocks().windows(2) {
            let mut own: Vec<u32> = Vec::new();
            for i in block[0]..block[1] {
                own.extend_from_slice(system.j.pattern().row(i));
            }
            own.sort_unstable();
            own.dedup();
            for (at, i) in own.iter().enumerate() {
                own[..=at]
                    .iter()
                    .for_each(|k| builder.insert(*i as usize, *k as usize));
            }
            variables.extend(own);
            starts.push(variables.len());
        }
        let matrix = builder.finish()?.into_matrix();
        let slot = |i: u32, k: u32| {
            let slot = matrix.pattern().slot(i as usize, k as usize);
            slot.map(|s| s as u32).ok_or(SolveError::NotPrepared)
        };
        let mut w_slots = Vec::with_capacity(system.w.pattern().len());
        for i in 0..n {
            for k in system.w.pattern().row(i) {
                w_slots.push(slot(i as u32, *k)?);
            }
        }
        let mut pair_slots = Vec::new();
        for own in starts.windows(2).map(|w| &variables[w[0]..w[1]]) {
            for (at, i) in own.iter().enumerate() {
                for k in &own[..=at] {
                    pair_slots.push(slot(*i, *k)?);
                }
            }
        }
        let mut out = Self {
            matrix,
            compliance: BlockJacobi::default(),
            w_slots,
            pair_slots,
            variables,
            starts,
            local: Default::default(),
            scratch: Scratch::default(),
        };
        out.update(system)?;
        Ok(out)
    }

    /// Takes new values on the same pattern.
    pub(crate) fn update(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        if let Some(row) = (0..system.m()).find(|i| system.r_diagonal(*i) == 0.0) {
            return Err(SolveError::HardRow { row });
        }
        let indefinite = |e| match e {
            // Compliances below zero were refused when the system was equilibrated.
            SolveError::NotPositiveDefinite { dof: row, .. } => SolveError::HardRow { row },
            other => other,
        };
        self.compliance
            .update(&system.r, &[], system.row_blocks())
            .map_err(indefinite)?;
        self.matrix.clear();
        let values = self.matrix.values_mut();
        for (slot, value) in self.w_slots.iter().zip(system.w.values()) {
            values[*slot as usize] += value;
        }
        let [columns, solved] = &mut self.local;
        let mut at = 0;
        for (block, range) in system.row_blocks().windows(2).enumerate() {
            let own = &self.variables[self.starts[block]..self.starts[block + 1]];
            let height = range[1] - range[0];
            columns.clear();
            columns.resize(own.len() * height, 0.0);
            for i in range[0]..range[1] {
                for (k, value) in system.j.row_entries(i) {
                    let place = own.partition_point(|v| (*v as usize) < k);
                    columns[place * height + i - range[0]] = value;
                }
            }
            solved.clear();
            solved.extend_from_slice(columns);
            for column in solved.chunks_exact_mut(height) {
                self.compliance.solve_block(block, column);
            }
            for (i, a) in columns.chunks_exact(height).enumerate() {
                for b in solved.chunks_exact(height).take(i + 1) {
                    let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    values[self.pair_slots[at] as usize] += product;
                    at += 1;
                }
            }
        }
        Ok(())
    }

    /// `c -= J^T R^-1 b`.
    pub(crate) fn reduce(&self, system: &KktSystem, b: &[f64], c: &mut [f64]) {
        self.scratch.with(b.len(), |mu| {
            self.compliance.apply(b, mu);
            add_free_transpose_product(system, -1.0, mu, c);
        });
    }

    /// `mu = -R^-1 (b + J x)`; `b` is overwritten.
    pub(crate) fn expand(&self, system: &KktSystem, x: &[f64], b: &mut [f64], mu: &mut [f64]) {
        add_free_product(system, 1.0, x, b);
        b.iter_mut().for_each(|v| *v = -*v);
        self.compliance.apply(b, mu);
    }
}
