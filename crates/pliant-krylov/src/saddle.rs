//! A multilevel preconditioner of KKT matrices.

use crate::blocks::BlockJacobi;
use crate::constraint::SchurMatrix;
use crate::factor::SymmetricFactor;
use crate::multigrid::{BY_PATTERN, ScaledModes};
use crate::primal::{Levels, Primal, PrimalMatrix};
use crate::{MultigridReport, NearNullSpace, Preconditioner, Scratch, SmoothedAggregation};
use pliant_solvers::{Equilibrated, SolveError};
use pliant_sparse::Threads;

/// `diag(V, S)` for MINRES: a cycle of smoothed aggregation for `W`, and for the Schur complement
/// `J W^-1 J^T + R` the sum of what suits masses and of what suits stiffness,
///
/// ```math
/// S^-1 = (J (w D)^-1 J^T + R)^-1 + s (diag(J D^-1 J^T) + s diag(R))^-1
/// ```
///
/// with the diagonal blocks `D` of `W`, the share `w` of the mass in each of them and the largest
/// share `s = 1 - w` of the stiffness in the blocks of a row. Stiffness annihilates the rigid
/// motions `B` of what is free, so that what is left of them tells `w_i = |(W B)_i| / |D_i B_i|`.
/// On `W = M` the first part is the inverse and the second vanishes; on stiffness alone the first
/// vanishes and the second is a mass matrix of pressures, to which the Schur complement of finite
/// elements that are stable for incompressible solids is spectrally equivalent; between them the
/// sum is within a factor of about two at every wave length (as Cahouet and Chabard 1988 argue for
/// implicit steps of Stokes' equations).
///
/// The matrix of the first part is factored for few rows, and is itself left to aggregation for
/// many. It is not used where the shares of all blocks are below [`NO_MASS`].
#[derive(Debug)]
pub(crate) struct Saddle {
    pub(crate) levels: Levels,
    d: BlockJacobi,
    /// Share of the mass in every block.
    weights: Vec<f64>,
    mass: SchurMatrix,
    inverse: Inverse,
    uses_mass: bool,
    /// `1 / (diag(J D^-1 J^T) + diag(R))`.
    stiff: Vec<f64>,
    /// Near null space of the rows: a constant multiplier in the units given.
    constant: NearNullSpace,
    singles: Vec<usize>,
    products: Vec<f64>,
    scratch: Scratch,
}

#[derive(Debug)]
enum Inverse {
    Factor(Box<SymmetricFactor>),
    Levels(Box<SmoothedAggregation>),
    /// None is needed so far.
    None,
}

/// Rows up to which the first part of the Schur complement is factored.
const FACTORED: usize = 8000;
/// Share below which a pivot of the factor means that its row is redundant.
const REDUNDANT: f64 = 1e-10;
/// Least share of the mass: rounding in the products of the stiffness with rigid motions.
const LEAST_SHARE: f64 = 1e-10;
/// Share of the mass of which the inverse of the first part is nothing beside the second.
const NO_MASS: f64 = 1e-6;

impl Saddle {
    pub(crate) fn new(scaled: &Equilibrated, modes: Option<&NearNullSpace>) -> Result<Self, SolveError> {
        let system = &scaled.system;
        let blocks = system.primal_blocks();
        let mut out = Self {
            levels: Levels::new(matrix(scaled, modes))?,
            d: BlockJacobi::default(),
            weights: vec![1.0; blocks.len() - 1],
            mass: SchurMatrix::new(system, blocks.to_vec())?,
            inverse: Inverse::None,
            uses_mass: false,
            stiff: vec![0.0; system.m()],
            constant: NearNullSpace::components(&(0..=system.m()).collect::<Vec<_>>()),
            singles: (0..=system.m()).collect(),
            products: Vec::new(),
            scratch: Scratch::default(),
        };
        out.fill(scaled, modes)?;
        Ok(out)
    }

    pub(crate) fn update(
        &mut self,
        scaled: &Equilibrated,
        modes: Option<&NearNullSpace>,
    ) -> Result<(), SolveError> {
        self.levels.update(matrix(scaled, modes))?;
        self.fill(scaled, modes)
    }

    /// Lets threads share the work of the coming updates.
    pub(crate) fn share(&mut self, threads: &Threads) {
        self.levels.share(threads);
        if let Inverse::Levels(levels) = &mut self.inverse {
            levels.share(threads);
        }
    }

    fn fill(&mut self, scaled: &Equilibrated, modes: Option<&NearNullSpace>) -> Result<(), SolveError> {
        let system = &scaled.system;
        if system.m() == 0 {
            return Ok(());
        }
        self.d.update(&system.w, &system.fixed, system.primal_blocks())?;
        self.mass.fill(system, &self.d, &[])?;
        self.weigh(scaled, modes);
        for (i, stiff) in self.stiff.iter_mut().enumerate() {
            let own = self.mass.matrix.pattern().row_slots(i).end - 1;
            let diagonal = self.mass.matrix.values()[own];
            let entries = system.j.pattern().row(i).iter();
            let shares = entries.map(|k| 1.0 - self.weights[self.mass.block_of(*k as usize)]);
            let share = shares.fold(LEAST_SHARE, f64::max);
            let compliance = system.r_diagonal(i);
            let size = diagonal - compliance + share * compliance;
            *stiff = if size > 0.0 { share / size } else { 1.0 };
        }
        self.uses_mass = self.weights.iter().any(|w| *w > NO_MASS);
        if !self.uses_mass {
            return Ok(());
        }
        self.mass.fill(system, &self.d, &self.weights)?;
        let (m, matrix) = (system.m(), &self.mass.matrix);
        match &mut self.inverse {
            Inverse::Factor(factor) => factor.update(matrix, &[]),
            Inverse::Levels(levels) => {
                let modes = ScaledModes {
                    modes: &self.constant,
                    scale: &scaled.row,
                };
                levels.update_scaled(matrix, &[], modes)
            }
            Inverse::None if m <= FACTORED => {
                self.inverse = Inverse::Factor(Box::new(SymmetricFactor::new(matrix, &[], REDUNDANT)?));
                Ok(())
            }
            Inverse::None => {
                let options = BY_PATTERN;
                let modes = ScaledModes {
                    modes: &self.constant,
                    scale: &scaled.row,
                };
                let levels = SmoothedAggregation::scaled(matrix, &[], &self.singles, modes, options)?;
                self.inverse = Inverse::Levels(Box::new(levels));
                Ok(())
            }
        }
    }

    /// The share of the mass in every block.
    fn weigh(&mut self, scaled: &Equilibrated, modes: Option<&NearNullSpace>) {
        let system = &scaled.system;
        let modes = modes.or(self.levels.components());
        let Some(modes) = modes else { return };
        let (n, count) = (system.n(), modes.count());
        // W B, and the part of it within the blocks.
        self.products.clear();
        self.products.resize(2 * n * count, 0.0);
        let (all, within) = self.products.split_at_mut(n * count);
        let blocks = system.primal_blocks();
        for block in blocks.windows(2) {
            for i in block[0]..block[1] {
                for (k, w) in system.w.row_entries(i) {
                    let (si, sk) = (scaled.primal[i], scaled.primal[k]);
                    for c in 0..count {
                        let (bi, bk) = (modes.row(i)[c] / si, modes.row(k)[c] / sk);
                        all[i * count + c] += w * bk;
                        if k != i {
                            all[k * count + c] += w * bi;
                        }
                        if k >= block[0] {
                            within[i * count + c] += w * bk;
                            if k != i {
                                within[k * count + c] += w * bi;
                            }
                        }
                    }
                }
            }
        }
        let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        for (weight, block) in self.weights.iter_mut().zip(blocks.windows(2)) {
            let own = block[0] * count..block[1] * count;
            let (left, whole) = (square(&all[own.clone()]), square(&within[own]));
            let share = if whole > 0.0 { (left / whole).sqrt() } else { 1.0 };
            *weight = share.clamp(LEAST_SHARE, 1.0);
        }
    }

    pub(crate) fn report(&self) -> Option<MultigridReport> {
        self.levels.levels()
    }
}

fn matrix<'a>(scaled: &'a Equilibrated, modes: Option<&'a NearNullSpace>) -> PrimalMatrix<'a> {
    PrimalMatrix {
        w: &scaled.system.w,
        fixed: &scaled.system.fixed,
        blocks: scaled.system.primal_blocks(),
        scale: &scaled.primal,
        modes,
    }
}

impl Preconditioner for Saddle {
    fn size(&self) -> usize {
        self.levels.operator().size() + self.stiff.len()
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        let n = self.levels.operator().size();
        let (r1, r2) = r.split_at(n);
        let (z1, z2) = z.split_at_mut(n);
        self.levels.preconditioner().apply(r1, z1);
        for ((z, r), s) in z2.iter_mut().zip(r2).zip(&self.stiff) {
            *z = s * r;
        }
        if !self.uses_mass {
            return;
        }
        self.scratch.with(r2.len(), |first| {
            match &self.inverse {
                Inverse::Factor(factor) => {
                    factor.apply(r2, first);
                    let matrix = &self.mass.matrix;
                    for i in factor.dropped() {
                        let diagonal = matrix.values()[matrix.pattern().row_slots(*i).end - 1];
                        first[*i] = if diagonal > 0.0 { r2[*i] / diagonal } else { r2[*i] };
                    }
                }
                Inverse::Levels(levels) => levels.apply(r2, first),
                Inverse::None => {}
            }
            crate::axpy(1.0, first, z2);
        });
    }
}
