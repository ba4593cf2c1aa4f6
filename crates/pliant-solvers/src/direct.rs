//! The sparse direct solver: one `L D L^T` of the whole quasi-definite KKT matrix.

mod plan;

use crate::redundant::NullSpace;
use crate::residual::{ResidualScratch, evaluate, roundoff};
use crate::{KktResidual, KktSystem, Solution, SolveError, SolveReport, Status, Variable};
use plan::{ABSENT, Plan};
use pliant_sparse::{PivotRule, SparseError};

/// Tolerances of the [`DirectSolver`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectOptions {
    /// Largest relative residual (componentwise backward error) that counts as converged.
    pub tolerance: f64,
    /// Steps of iterative refinement at most; more would revive the drift modes of nearly redundant rows.
    pub max_refinements: usize,
    /// A hard row is redundant if its pivot is below this share of its Delassus diagonal `(J diag(W)^-1 J^T)_ii`.
    pub rank_threshold: f64,
    /// Redundant rows contradict each other if their violation is above this share of `|J| |x| + |b|`.
    pub incompatibility: f64,
    /// ... and above this, in the units of `b`: what the caller knows to be rounding of its data.
    pub rounding: f64,
}

impl Default for DirectOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            max_refinements: 2,
            rank_threshold: 1e-10,
            incompatibility: 1e-6,
            rounding: 0.0,
        }
    }
}

/// Work done since the solver was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SolverCounters {
    /// Orderings and symbolic factorisations: one per pattern.
    pub symbolic: usize,
    /// Numeric factorisations: one per `prepare`.
    pub numeric: usize,
    /// Triangular solves.
    pub solves: usize,
    /// Stored entries of `L`, with the diagonal.
    pub factor_entries: usize,
    /// Stored entries of the lower triangle of the permuted KKT matrix.
    pub matrix_entries: usize,
}

/// Factors `[W -J^T; -J -R]` once per `prepare` and solves with iterative refinement.
///
/// Method: the unknowns are ordered on the block graph so that every hard row follows a variable it acts on;
/// the matrix is scaled symmetrically by powers of two (no rounding) so that one absolute pivot threshold means
/// `1e-15 W_ii` for a variable, `1e-15` for a compliant row and [`rank_threshold`](DirectOptions::rank_threshold) for a
/// hard one. The signs of the pivots are counted: if they are not n positive ones, `W` is not positive definite on the null
/// space of `J`, which is an error. (`W` itself may be indefinite: geometric stiffness under load.) Hard rows below the
/// threshold are redundant: they are dropped, the null
/// space of the rest gives the minimum-norm multiplier, and the part of `b` along it decides whether the rows contradict.
/// (equations.md B.6 reaches the same limits by regularisation; see docs/decisions.)
///
/// Cost: `O(nnz(L))` memory, the factorisation's flops per `prepare`, `4 nnz(L) + 8 nnz(K)` per solve and refinement, plus
/// one solve per redundant row.
#[derive(Debug, Default)]
pub struct DirectSolver {
    /// Tolerances; may be changed at any time.
    pub options: DirectOptions,
    counters: SolverCounters,
    plan: Option<Plan>,
    /// Row blocks to defer in the next analysis.
    defer: Vec<bool>,
    inertia: (usize, usize),
    null_space: NullSpace,
    residual: ResidualScratch,
    rhs: Vec<f64>,
    b: Vec<f64>,
    best: Solution,
}

impl DirectSolver {
    /// A solver with given tolerances.
    pub fn new(options: DirectOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Work done so far.
    pub fn counters(&self) -> SolverCounters {
        self.counters
    }

    /// Forgets the plan, so that the next `prepare` analyses again, deferring the given row blocks: with
    /// [`deferred_blocks`](Self::deferred_blocks) of another solver it repeats that solver's decisions.
    pub fn forget(&mut self, deferred: &[usize]) {
        self.plan = None;
        self.defer.clear();
        self.defer
            .resize(deferred.iter().max().map_or(0, |k| k + 1), false);
        deferred.iter().for_each(|k| self.defer[*k] = true);
    }

    /// Row blocks that the last plan eliminates after everything else.
    pub fn deferred_blocks(&self) -> Vec<usize> {
        let deferred = self.plan.as_ref().map_or(&[][..], |p| &p.deferred);
        (0..deferred.len()).filter(|k| deferred[*k]).collect()
    }

    /// Analyses the pattern if it changed, then factors the values. Allocates only when the pattern or the number of
    /// redundant rows changed.
    ///
    /// # Errors
    /// [`SolveError::NotPositiveDefinite`], [`SolveError::NegativeCompliance`], [`SolveError::NotFinite`], or what the sparse
    /// kernels say.
    pub fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        if system.fixed.len() != system.n() {
            return Err(SolveError::Size {
                what: "fixed mask",
                expected: system.n(),
                found: system.fixed.len(),
            });
        }
        if !self.plan.as_ref().is_some_and(|p| p.fits(system)) {
            let mut defer = std::mem::take(&mut self.defer);
            defer.resize(system.row_blocks().len() - 1, false);
            self.analyse(system, &defer)?;
        }
        let mut rounds = 0;
        // A vanishing pivot of a row that follows its owner may only mean an unlucky owner: defer it and look again.
        while self.factor(system)? > 0 {
            let Some(mut deferred) = self.newly_dropped(system) else {
                break;
            };
            rounds += 1;
            match rounds {
                ..=3 => {}
                4 => deferred.fill(true),
                _ => break,
            }
            self.analyse(system, &deferred)?;
        }
        self.find_null_space(system)
    }

    /// The deferred row blocks and those that were dropped just now; `None` if all of the latter were deferred already.
    fn newly_dropped(&self, system: &KktSystem) -> Option<Vec<bool>> {
        let plan = self.plan.as_ref()?;
        let mut deferred = plan.deferred.clone();
        let block_of = |row: usize| system.row_blocks().partition_point(|first| *first <= row) - 1;
        for k in (0..plan.order.len()).filter(|k| plan.factor.is_dropped(*k)) {
            if let Variable::Row(row) = plan.variable(k, system.n()) {
                deferred[block_of(row)] = true;
            }
        }
        (deferred != plan.deferred).then_some(deferred)
    }

    fn analyse(&mut self, system: &KktSystem, deferred: &[bool]) -> Result<(), SolveError> {
        let plan = Plan::new(system, deferred)?;
        self.counters.symbolic += 1;
        self.counters.factor_entries = plan.symbolic.factor_entries();
        self.counters.matrix_entries = plan.matrix.pattern().len();
        self.plan = Some(plan);
        Ok(())
    }

    /// Scales, fills and factors; returns the number of dropped rows.
    fn factor(&mut self, system: &KktSystem) -> Result<usize, SolveError> {
        let plan = self.plan.as_mut().ok_or(SolveError::NotPrepared)?;
        plan.rescale(system, &self.options)?;
        plan.fill(system);
        self.counters.numeric += 1;
        let n = system.n();
        let report = plan
            .factor
            .factor(&plan.symbolic, &plan.matrix, PivotRule::Drop { threshold: 1.0 });
        let report = report.map_err(|e| match e {
            SparseError::Pivot { index } => SolveError::NotFinite {
                variable: plan.variable(index, n),
            },
            other => other.into(),
        })?;
        self.inertia = (report.positive, report.negative);
        let free = system.fixed.iter().filter(|f| !**f).count();
        if report.positive != free {
            // By Sylvester's law W is not positive definite on the null space of J, wherever the odd signs came up.
            let odd = |k: &usize| {
                plan.order[*k] < n && (plan.factor.is_dropped(*k) || plan.factor.pivots()[*k] < 0.0)
            };
            let dof = (0..plan.order.len()).find(odd).map_or(0, |k| plan.order[k]);
            return Err(SolveError::NotPositiveDefinite {
                dof,
                diagonal: system.w_diagonal(dof),
            });
        }
        Ok(report.dropped)
    }

    /// For each dropped row d: `n` with `n_d = 1` and `J^T n = 0`, from one solve with the rows that are left.
    fn find_null_space(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        let (n, m) = (system.n(), system.m());
        self.null_space.reset(m);
        let plan = self.plan.as_mut().ok_or(SolveError::NotPrepared)?;
        for k in 0..plan.order.len() {
            let Variable::Row(d) = plan.variable(k, n) else {
                continue;
            };
            if !plan.factor.is_dropped(k) {
                continue;
            }
            self.rhs.clear();
            self.rhs.resize(plan.order.len(), 0.0);
            for (slot, i) in system.j.pattern().row_slots(d).zip(system.j.pattern().row(d)) {
                let position = plan.position[*i as usize];
                if position != ABSENT {
                    self.rhs[position as usize] = system.j.values()[slot] * plan.scale[position as usize];
                }
            }
            plan.factor.solve_in_place(&plan.symbolic, &mut self.rhs);
            self.counters.solves += 1;
            let mut column = vec![0.0; m];
            for (i, c) in column.iter_mut().enumerate() {
                let position = plan.position[n + i] as usize;
                *c = self.rhs[position] * plan.scale[position];
            }
            column[d] = 1.0;
            self.null_space.push(column);
        }
        Ok(())
    }

    /// Solves for the right-hand sides `system.c` and `system.b`.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching `prepare`; [`SolveError::NotFinite`] if a right-hand side or the
    /// answer is not finite. A large residual is a [`Status`], not an error.
    pub fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        let (n, m) = (system.n(), system.m());
        let plan = self
            .plan
            .as_mut()
            .filter(|p| p.position.len() == n + m)
            .ok_or(SolveError::NotPrepared)?;
        for (i, value) in system.c.iter().enumerate() {
            if !value.is_finite() && !system.fixed[i] {
                return Err(SolveError::NotFinite {
                    variable: Variable::Dof(i),
                });
            }
        }
        if let Some(i) = system.b.iter().position(|b| !b.is_finite()) {
            return Err(SolveError::NotFinite {
                variable: Variable::Row(i),
            });
        }
        self.b.clear();
        self.b.extend_from_slice(&system.b);
        self.null_space.remove(&mut self.b);

        // From zero: the first correction is the solution, later ones refine it. The best one is kept.
        solution.x.clear();
        solution.x.resize(n, 0.0);
        solution.mu.clear();
        solution.mu.resize(m, 0.0);
        self.residual.start(&system.c, &self.b);
        let mut measure = KktResidual::default();
        let mut best = f64::INFINITY;
        let mut refinements = 0;
        for pass in 0..=self.options.max_refinements {
            self.rhs.clear();
            self.rhs.extend(plan.order.iter().zip(&plan.scale).map(|(v, s)| {
                s * if *v < n {
                    self.residual.primal[*v]
                } else {
                    self.residual.row[*v - n]
                }
            }));
            plan.factor.solve_in_place(&plan.symbolic, &mut self.rhs);
            self.counters.solves += 1;
            for ((v, s), y) in plan.order.iter().zip(&plan.scale).zip(&self.rhs) {
                if *v < n {
                    solution.x[*v] += s * y;
                } else {
                    solution.mu[*v - n] += s * y;
                }
            }
            self.null_space.remove(&mut solution.mu);
            measure = evaluate(system, solution, &self.b, &mut self.residual);
            refinements = pass;
            if measure.relative >= best {
                std::mem::swap(solution, &mut self.best);
                measure = evaluate(system, solution, &self.b, &mut self.residual);
                break;
            }
            best = measure.relative;
            // A few dozen roundings: refining further would not change the first 13 digits of the answer's residual.
            if best < 1e-14 || pass == self.options.max_refinements {
                break;
            }
            self.best.clone_from(solution);
        }
        if !measure.is_finite() {
            let bad = |v: &[f64]| v.iter().position(|x| !x.is_finite());
            let variable = bad(&solution.x)
                .map(Variable::Dof)
                .or_else(|| bad(&solution.mu).map(Variable::Row));
            return Err(SolveError::NotFinite {
                variable: variable.unwrap_or(Variable::Dof(0)),
            });
        }
        let converged = measure.relative <= self.options.tolerance;
        let mut status = if converged {
            Status::Converged
        } else {
            Status::Stagnated
        };
        if !self.null_space.is_empty() {
            measure = evaluate(system, solution, &system.b, &mut self.residual);
            if let Some((row, violation)) = self.contradiction(system, solution) {
                status = Status::Incompatible { row, violation };
            }
        }
        Ok(SolveReport {
            status,
            residual: measure,
            refinements,
            redundant_rows: m - self.inertia.1,
            inertia: self.inertia,
        })
    }

    /// The hard row that the answer violates most, if by more than its share allows.
    fn contradiction(&self, system: &KktSystem, solution: &Solution) -> Option<(usize, f64)> {
        let scale = |i: usize| {
            let j = system.j.pattern();
            let terms = j.row_slots(i).zip(j.row(i));
            system.b[i].abs()
                + terms
                    .map(|(slot, k)| (system.j.values()[slot] * solution.x[*k as usize]).abs())
                    .sum::<f64>()
        };
        let rows = (0..system.m()).map(|i| (i, self.residual.row[i].abs()));
        let worst = rows.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let row = system.j.pattern().row_slots(worst.0);
        let size = row.fold(0.0f64, |a, k| a.max(system.j.values()[k].abs()));
        // Below the roundoff of the largest unknowns there is nothing to contradict.
        let noise = self
            .options
            .rounding
            .max(roundoff(system) * size * self.residual.velocity_scale);
        (worst.1 > self.options.incompatibility * scale(worst.0) + noise).then_some(worst)
    }
}
