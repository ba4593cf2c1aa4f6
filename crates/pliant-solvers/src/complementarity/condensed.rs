//! Systems with cones whose bilateral part is solved by any linear solver.

mod bilateral;
mod operator;

use super::conic::layout::Layout;
use super::islands::alike;
use super::residual::larger;
use super::saddle::Rest;
use super::{Cone, IslandMemory, IslandReport, IslandSolver, Outcome, ProblemError};
use crate::bounds::BoundState;
use crate::{
    KktResidual, KktShape, KktSolver, KktSystem, Solution, SolveError, SolveReport, SolverCounters, Status,
    Variable,
};
pub use bilateral::BilateralWork;
use bilateral::{Bilateral, in_whole, of_rows};
use operator::{Couplings, Operator};

/// Solves of the condensed system at most, until its velocities are those of the whole.
const ROUNDS: usize = 10;

/// Share of the residual that is good enough by which velocities of the condensed system may differ
/// from those of the whole where no answer was found.
const AGREES: f64 = 0.1;

/// Responses that share a solve, where the linear solver takes several at once.
const TOGETHER: usize = 8;

/// Rows with cones or bounds at most: their operator is kept by entries, a gigabyte of these many.
const MOST_ROWS: usize = 4000;

/// Solves what an [`IslandSolver`] solves, without a factor of the bilateral part: a [`KktSolver`]
/// that the caller brings along, such as conjugate gradients, solves for that.
///
/// With `K` the system of the bilateral rows and `V` what an impulse on each other row, one with a
/// cone or with bounds, does in it, the response `A = V^T K^-1 V + R` takes one solve for each of
/// these rows, once per [`prepare`](Self::prepare). Rows that no entry of the matrices connects do
/// not couple. Of `A = L L^T` (with pivoting, up to redundant rows) is made the condensed system
///
/// ```math
/// x - L^T r = 0,   u = L x + u_0,   a law between r and u,      u_0 = V^T K^-1 rhs + b
/// ```
///
/// which an [`IslandSolver`] solves. What `A` misses, by the tolerance of the linear solver and by
/// what was dropped of it, is no error of the answer: the bilateral part is solved for with the
/// impulses, `u_0` is moved by what the velocities of the whole differ from those of the condensed
/// system, and that is solved again until they agree. The residual that is reported is that of the
/// velocities of the whole, and the linear one is measured against the matrices as given.
///
/// Cost: a solve of the bilateral part per row with a cone or with bounds, two or three per answer;
/// the factor of `A`. Memory: `8 k^2` numbers for `k` such rows, which may be 4,000.
///
/// ```
/// use pliant_solvers::complementarity::{Cone, CondensedIslands, Outcome};
/// use pliant_solvers::{DenseCholesky, KktSystem, Solution};
/// // A unit mass falls with 1 m/s onto a floor, x >= 0.
/// let mut system = KktSystem::dense(&[1.0], &[1.0], &[0.0])?;
/// system.c[0] = -1.0;
/// let (mut solver, mut linear) = (CondensedIslands::default(), DenseCholesky::default());
/// solver.prepare(&mut linear, &system, &[Some(Cone::NonNegative)])?;
/// let mut solution = Solution::default();
/// let report = solver.solve(&mut linear, &system, &mut solution)?;
/// assert_eq!(report.outcome, Outcome::Converged);
/// assert!(solution.x[0].abs() < 1e-12 && (solution.mu[0] - 1.0).abs() < 1e-9);
/// # Ok::<(), pliant_solvers::complementarity::ProblemError>(())
/// ```
#[derive(Debug, Default)]
pub struct CondensedIslands {
    /// The solver of the condensed system, with the options of the cones; the tolerance of its
    /// [linear systems](crate::DirectOptions::tolerance) is also that of the bilateral part.
    pub islands: IslandSolver,
    /// Whether rows with bounds are solved by the methods of cones also where none is beside them,
    /// instead of by a [`BoxSolver`](crate::BoxSolver).
    pub bounds_are_cones: bool,
    shape: KktShape,
    layout: Layout,
    /// The system of the bilateral rows.
    rest: Rest,
    couplings: Couplings,
    operator: Operator,
    reduced: Reduced,
    bilateral: Bilateral,
    many: Many,
    found: Found,
    counters: SolverCounters,
    work: BilateralWork,
    ready: bool,
}

/// The condensed system.
#[derive(Debug, Default)]
struct Reduced {
    system: KktSystem,
    /// The law of each block of its rows, and the block of the whole.
    cones: Vec<Option<Cone>>,
    blocks: Vec<u32>,
    solution: Solution,
}

/// Velocities and work of the last solve.
#[derive(Debug, Default)]
struct Found {
    /// Velocities of the rows with cones or bounds; after a comparison the share of them that the
    /// condensed system does not have.
    u: Vec<f64>,
    /// Velocities of all rows of the whole without impulses on those.
    free: Vec<f64>,
    busiest: Vec<u32>,
}

/// Right-hand sides and solutions of several solves at once.
#[derive(Debug, Default)]
struct Many {
    rhs: Vec<f64>,
    solutions: Vec<f64>,
}

/// The largest difference of the velocities of the condensed system from those of the whole.
#[derive(Clone, Copy, Debug, Default)]
struct Difference {
    /// Difference of a row (m/s).
    velocity: f64,
    /// Difference of a row over the largest velocity, without impulses, of the rows that couple with
    /// it.
    share: f64,
}

impl CondensedIslands {
    /// Lists the rows with cones and bounds, takes the values of the matrices, and solves for the
    /// response to each of these rows. One entry of `cones` per row block. `linear` has no other
    /// calls between this one and the last [`solve`](Self::solve). What was solved before leaves no
    /// trace but in `linear`.
    ///
    /// # Errors
    /// [`ProblemError::Size`] if there are not as many cones as row blocks or one does not have the
    /// rows of its block, [`SolveError::Unsupported`] for more than 4,000 rows with cones or bounds,
    /// and those of the linear solver.
    pub fn prepare(
        &mut self,
        linear: &mut dyn KktSolver,
        system: &KktSystem,
        cones: &[Option<Cone>],
    ) -> Result<(), ProblemError> {
        self.ready = false;
        self.work = BilateralWork::default();
        system.check()?;
        let blocks = system.row_blocks();
        if cones.len() + 1 != blocks.len() {
            return Err(ProblemError::Size {
                what: "cones, one per row block,",
                expected: blocks.len() - 1,
                found: cones.len(),
            });
        }
        if !(self.shape.fits(system) && self.layout.fits(system, cones)) {
            self.plan(system, cones)?;
        }
        self.rest.take_values(system);
        let before = linear.counters();
        linear
            .prepare(&self.rest.system)
            .map_err(|e| in_whole(e, &self.rest.kept))?;
        self.find_responses(linear, system)?;
        self.counters.add_since(&before, &linear.counters());
        self.operator.factor_into(&mut self.reduced.system);
        self.take_laws(system, cones);
        self.islands.impose(&IslandMemory::default());
        let prepared = self.islands.prepare(&self.reduced.system, &self.reduced.cones);
        prepared.map_err(|e| of_rows(e, &self.layout.rows))?;
        self.ready = true;
        Ok(())
    }

    /// Prepares the system that was prepared last once more, with another linear solver.
    ///
    /// # Errors
    /// Fails as [`prepare`](Self::prepare) does.
    pub fn prepare_again(
        &mut self,
        linear: &mut dyn KktSolver,
        system: &KktSystem,
    ) -> Result<(), ProblemError> {
        let laws = std::mem::take(&mut self.layout.laws);
        // A plan that does not fit is made anew; it compares with the laws, which are these.
        self.layout.laws.clone_from(&laws);
        self.prepare(linear, system, &laws)
    }

    /// Lists the rows with cones and bounds of another shape.
    fn plan(&mut self, system: &KktSystem, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
        // Of no shape, should it fail.
        self.shape = KktShape::default();
        self.layout.refill(system, cones)?;
        let rows = &self.layout.rows;
        if rows.len() > MOST_ROWS {
            let what = "more than 4,000 rows of contacts and bounded forces are not solved by iterations";
            return Err(SolveError::Unsupported { what }.into());
        }
        let out: Vec<bool> = self
            .layout
            .states
            .iter()
            .map(|s| *s == BoundState::Both)
            .collect();
        self.rest.refill(system, &out)?;
        self.couplings.find(system, rows, &self.rest.kept);
        let groups = self.couplings.groups(system, &self.rest.system, rows);
        self.operator
            .plan(&groups, &self.layout.boundaries, &mut self.reduced.system)?;
        let block_of = |row: usize| blocks_before(system, row) as u32;
        self.reduced.blocks.clear();
        let firsts = self
            .layout
            .boundaries
            .iter()
            .take(self.layout.boundaries.len() - 1);
        self.reduced
            .blocks
            .extend(firsts.map(|first| block_of(rows[*first])));
        self.shape.take(system);
        Ok(())
    }

    /// Solves for the response to an impulse on each row.
    fn find_responses(&mut self, linear: &mut dyn KktSolver, system: &KktSystem) -> Result<(), ProblemError> {
        let rest = &mut self.rest.system;
        let rows = &self.layout.rows;
        rest.bounds.fill((f64::NEG_INFINITY, f64::INFINITY));
        let (n, size) = (rest.n(), rest.n() + rest.m());
        let mut first = 0;
        while first < rows.len() {
            let some = first..rows.len().min(first + TOGETHER);
            first = some.end;
            let many = &mut self.many;
            many.rhs.clear();
            for k in some.clone() {
                rest.c.fill(0.0);
                rest.b.fill(0.0);
                self.couplings.add_impulse(system, rows, k, 1.0, rest);
                many.rhs.extend_from_slice(&rest.c);
                many.rhs.extend_from_slice(&rest.b);
            }
            let at_once = linear.apply_many(&many.rhs, &mut many.solutions);
            for (place, k) in some.enumerate() {
                let step = &mut self.bilateral.step;
                Bilateral::set_to_zero(step, rest);
                let range = place * size..(place + 1) * size;
                if at_once {
                    let found = &many.solutions[range];
                    step.x.copy_from_slice(&found[..n]);
                    step.mu.copy_from_slice(&found[n..]);
                } else {
                    let (c, b) = many.rhs[range].split_at(n);
                    // A row that moves nothing has the response of its compliance alone.
                    if c.iter().chain(b).any(|v| *v != 0.0) {
                        rest.c.copy_from_slice(c);
                        rest.b.copy_from_slice(b);
                        match linear.solve(rest, step) {
                            Ok(found) => self.work.note(&found),
                            Err(e) => return Err(in_whole(e, &self.rest.kept)),
                        }
                    }
                }
                let column = self.operator.column(k);
                self.couplings.velocities(system, rows, step, column);
                self.couplings.add_own(system, k, column);
            }
        }
        if let Some(k) = self.operator.first_not_finite() {
            let variable = Variable::Row(self.layout.rows[k]);
            return Err(SolveError::NotFinite { variable }.into());
        }
        Ok(())
    }

    /// Takes laws and bounds into the condensed system.
    fn take_laws(&mut self, system: &KktSystem, cones: &[Option<Cone>]) {
        self.layout.laws.clear();
        self.layout.laws.extend_from_slice(cones);
        for (k, row) in self.layout.rows.iter().enumerate() {
            self.reduced.system.bounds[k] = system.bounds[*row];
            self.reduced.system.b_rounding[k] = system.b_rounding[*row];
            // The islands guess by these which rows are far from their bounds.
            self.reduced.system.b[k] = system.b[*row];
        }
        self.list_cones();
    }

    /// The laws of the blocks of the condensed system.
    fn list_cones(&mut self) {
        let firsts = &self.layout.boundaries;
        let bounds = &self.reduced.system.bounds;
        let law = |(block, first): (&u32, &usize)| {
            let (lower, upper) = bounds[*first];
            let of_bounds = || self.bounds_are_cones.then_some(Cone::Box { lower, upper });
            self.layout.laws[*block as usize].or_else(of_bounds)
        };
        self.reduced.cones.clear();
        self.reduced
            .cones
            .extend(self.reduced.blocks.iter().zip(firsts).map(law));
    }

    /// Replaces the laws by others of as many rows each, between solves.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching [`prepare`](Self::prepare), and those of
    /// [`IslandSolver::set_cones`].
    pub fn set_cones(&mut self, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
        if !self.ready || !alike(&self.layout.laws, cones) {
            return Err(SolveError::NotPrepared.into());
        }
        self.layout.laws.copy_from_slice(cones);
        self.list_cones();
        self.islands.set_cones(&self.reduced.cones)
    }

    /// Solves from the multipliers in the solution, if there are as many as rows.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching [`prepare`](Self::prepare), and what the two
    /// solvers refuse.
    pub fn solve(
        &mut self,
        linear: &mut dyn KktSolver,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<IslandReport, ProblemError> {
        system.check_right_hand_sides()?;
        if !self.ready || self.shape.n() != system.n() || self.shape.m() != system.m() {
            return Err(SolveError::NotPrepared.into());
        }
        let before = linear.counters();
        let found = self.solve_rounds(linear, system, solution);
        self.counters.add_since(&before, &linear.counters());
        let found = found?;
        solution.x.clone_from(&self.bilateral.answer.x);
        solution.mu.clear();
        solution.mu.resize(system.m(), 0.0);
        for (k, row) in self.layout.rows.iter().enumerate() {
            solution.mu[*row] = self.reduced.solution.mu[k];
        }
        for (k, row) in self.rest.kept.iter().enumerate() {
            solution.mu[*row] = self.bilateral.answer.mu[k];
        }
        Ok(found)
    }

    fn solve_rounds(
        &mut self,
        linear: &mut dyn KktSolver,
        system: &KktSystem,
        solution: &Solution,
    ) -> Result<IslandReport, ProblemError> {
        let size = self.layout.rows.len();
        let tolerance = self.islands.bounds.direct.tolerance;
        self.bilateral.applied.clear();
        self.bilateral.applied.resize(size, 0.0);
        self.reduced.solution.mu.clear();
        let starts = |row: &usize| solution.mu.get(*row).copied().filter(|r| r.is_finite());
        let fits = solution.mu.len() == system.m();
        let starts = self
            .layout
            .rows
            .iter()
            .map(|row| starts(row).filter(|_| fits).unwrap_or(0.0));
        self.reduced.solution.mu.extend(starts);

        self.take_right_hand_sides(system);
        Bilateral::set_to_zero(&mut self.bilateral.answer, &self.rest.system);
        let solved = self.bilateral.add(linear, &self.rest.system);
        let mut last = solved.map_err(|e| in_whole(e, &self.rest.kept))?;
        let mut iterations = last.iterations;
        self.work.note(&last);
        self.find_velocities(system);
        self.reduced.system.b.copy_from_slice(&self.found.u);
        self.found.free.clear();
        self.found.free.resize(system.m(), 0.0);
        for (row, u) in self.layout.rows.iter().zip(&self.found.u) {
            self.found.free[*row] = *u;
        }

        let enough = self.islands.options.enough();
        let mut report: Option<IslandReport> = None;
        let mut round = 0;
        let (found, residual, difference) = loop {
            let found = self
                .islands
                .solve(&self.reduced.system, &mut self.reduced.solution)
                .map_err(|e| of_rows(e, &self.layout.rows))?;
            let found = match report {
                Some(before) => found.after(&before),
                None => found,
            };
            report = Some(found);
            if let Some(found) = self.apply(linear, system)? {
                iterations += found.iterations;
                self.work.note(&found);
                // Increments do not contradict hard rows, which the first solve may have told.
                if !matches!(last.status, Status::Incompatible { .. }) {
                    last = found;
                }
            }
            self.take_right_hand_sides(system);
            let impulses = self.reduced.solution.mu.iter().enumerate();
            for (k, r) in impulses.filter(|(_, r)| **r != 0.0) {
                let rows = &self.layout.rows;
                self.couplings
                    .add_impulse(system, rows, k, *r, &mut self.rest.system);
            }
            let rest = &mut self.rest.system;
            let refined = self.bilateral.refine(linear, rest, tolerance, &mut iterations);
            let residual = refined.map_err(|e| in_whole(e, &self.rest.kept))?;
            self.find_velocities(system);
            let difference = self.differ();
            round += 1;
            let agrees = match found.outcome {
                Outcome::Converged => found.residual.measure() + difference.share <= enough,
                _ => difference.share <= AGREES * enough,
            };
            if agrees || round == ROUNDS || found.outcome == Outcome::TooMuchWork {
                break (found, residual, difference);
            }
            // The velocities without impulses for which the whole has these with them.
            self.move_free_velocities();
        };
        let linear = self.linear_report(last, residual, iterations, tolerance);
        Ok(self.judge(found, linear, difference))
    }

    /// Right-hand sides of the bilateral part without impulses on the other rows.
    fn take_right_hand_sides(&mut self, system: &KktSystem) {
        let rest = &mut self.rest.system;
        rest.c.copy_from_slice(&system.c);
        for (b, row) in rest.b.iter_mut().zip(&self.rest.kept) {
            *b = system.b[*row];
        }
    }

    /// Adds the response to the change of impulses to the answer of the bilateral part.
    fn apply(
        &mut self,
        linear: &mut dyn KktSolver,
        system: &KktSystem,
    ) -> Result<Option<SolveReport>, ProblemError> {
        let rest = &mut self.rest.system;
        rest.c.fill(0.0);
        rest.b.fill(0.0);
        let mut acts = false;
        for (k, (r, applied)) in self
            .reduced
            .solution
            .mu
            .iter()
            .zip(&mut self.bilateral.applied)
            .enumerate()
        {
            let change = r - *applied;
            if change != 0.0 {
                acts |= self
                    .couplings
                    .add_impulse(system, &self.layout.rows, k, change, rest);
                *applied = *r;
            }
        }
        if !acts {
            return Ok(None);
        }
        let added = self.bilateral.add(linear, rest);
        added.map(Some).map_err(|e| in_whole(e, &self.rest.kept))
    }

    /// Velocities of the rows by the answer of the bilateral part, with the impulses in it.
    fn find_velocities(&mut self, system: &KktSystem) {
        let rows = &self.layout.rows;
        self.found.u.clear();
        self.found.u.resize(rows.len(), 0.0);
        let Bilateral { answer, applied, .. } = &self.bilateral;
        self.couplings.velocities(system, rows, answer, &mut self.found.u);
        self.couplings.add_own_times(system, applied, &mut self.found.u);
        for (u, row) in self.found.u.iter_mut().zip(rows) {
            *u += system.b[*row];
        }
    }

    /// Compares the velocities of the condensed system with those of the whole, which are left less
    /// by these.
    fn differ(&mut self) -> Difference {
        let mut out = Difference::default();
        let condensed = &self.reduced.system;
        let idle = self.islands.idle_rows();
        for group in self.operator.groups() {
            let (mut largest, mut fastest, mut missed) = (0.0f64, 0.0f64, 0.0f64);
            for k in group {
                let terms = condensed.j.row_entries(*k);
                let own = terms.fold(condensed.b[*k], |sum, (i, l)| {
                    sum + l * self.reduced.solution.x[i]
                });
                fastest = larger(fastest, self.found.u[*k].abs());
                self.found.u[*k] -= own;
                // Rows far from their bounds say nothing of the others.
                if idle.binary_search(&(*k as u32)).is_err() {
                    largest = larger(largest, condensed.b[*k].abs());
                }
                missed = larger(missed, self.found.u[*k].abs());
            }
            let scale = if largest > 0.0 { largest } else { fastest };
            let share = if missed == 0.0 { 0.0 } else { missed / scale };
            out.velocity = larger(out.velocity, missed);
            out.share = larger(out.share, share);
        }
        out
    }

    /// Adds the difference that was found to the velocities without impulses.
    fn move_free_velocities(&mut self) {
        for (b, u) in self.reduced.system.b.iter_mut().zip(&self.found.u) {
            *b += u;
        }
    }

    /// The report of the bilateral part, by its last solve and the residual of its answer.
    fn linear_report(
        &self,
        last: SolveReport,
        residual: KktResidual,
        iterations: usize,
        tolerance: f64,
    ) -> SolveReport {
        let kept = &self.rest.kept;
        let status = match last.status {
            Status::Incompatible { row, violation } => Status::Incompatible {
                row: kept[row],
                violation,
            },
            _ if residual.relative <= tolerance => Status::Converged,
            Status::Converged => Status::Stagnated,
            other => other,
        };
        SolveReport {
            status,
            residual,
            iterations,
            ..last
        }
    }

    /// The report of the whole.
    fn judge(&mut self, found: IslandReport, linear: SolveReport, difference: Difference) -> IslandReport {
        let blocks = &self.reduced.blocks;
        self.found.busiest.clear();
        let busiest = self.islands.busiest().iter();
        self.found.busiest.extend(busiest.map(|k| blocks[*k as usize]));
        let mut residual = found.residual;
        residual.natural += difference.velocity;
        residual.relative += difference.share;
        let holds = residual.measure() <= self.islands.options.enough();
        let worst = blocks.get(found.worst).map_or(0, |block| *block as usize);
        // Rows of bounded force without cones beside them, which have no other word.
        let status = match found.linear.status {
            _ if linear.status != Status::Converged => linear.status,
            Status::Unsettled { row, residual } => Status::Unsettled {
                row: self.layout.rows[row],
                residual,
            },
            Status::Incompatible { row, violation } => Status::Incompatible {
                row: self.layout.rows[row],
                violation,
            },
            other => other,
        };
        let outcome = match (status, found.outcome) {
            (Status::Converged, Outcome::Converged) if holds => Outcome::Converged,
            (_, Outcome::Converged) => Outcome::Stagnated,
            (_, other) => other,
        };
        IslandReport {
            outcome,
            linear: SolveReport {
                status,
                bounds: found.linear.bounds,
                ..linear
            },
            residual,
            exact: found.exact + difference.share,
            worst,
            ..found
        }
    }

    /// Diagonal block of the operator at the cone that starts at this row of the whole, row by row;
    /// `None` if none does ([`IslandSolver::diagonal_block`]).
    pub fn diagonal_block(&self, row: usize) -> Option<&[f64]> {
        let own = self.layout.rows.binary_search(&row).ok()?;
        self.islands.diagonal_block(own)
    }

    /// Velocities that impulses on one cone make in all rows with cones, `(row, velocity)`, with the
    /// rows of the whole ([`IslandSolver::response`]).
    pub fn response(&self, row: usize, r: &[f64]) -> Vec<(usize, f64)> {
        let Ok(own) = self.layout.rows.binary_search(&row) else {
            return Vec::new();
        };
        let mut out = self.islands.response(own, r);
        out.iter_mut().for_each(|(row, _)| *row = self.layout.rows[*row]);
        out
    }

    /// Velocities `J x + R mu + b` of all rows of the whole with cones or bounds, without impulses on
    /// such rows, as of the last [`solve`](Self::solve); zero for other rows.
    pub fn free_velocities(&self) -> &[f64] {
        &self.found.free
    }

    /// Rows with cones or bounds of the whole, and their velocities, as of the last
    /// [`solve`](Self::solve).
    pub fn velocities(&self) -> impl Iterator<Item = (usize, f64)> {
        let condensed = &self.reduced.system;
        self.layout.rows.iter().enumerate().map(|(k, row)| {
            let terms = condensed.j.row_entries(k);
            // What the condensed system misses is left of the comparison.
            let own = terms.fold(condensed.b[k] + self.found.u[k], |sum, (i, l)| {
                sum + l * self.reduced.solution.x[i]
            });
            (*row, own)
        })
    }

    /// Row blocks of the part with cones that took most operations in the last
    /// [`solve`](Self::solve).
    pub fn busiest(&self) -> &[u32] {
        &self.found.busiest
    }

    /// Work of the linear solver since the last [`prepare`](Self::prepare), with that.
    pub fn bilateral_work(&self) -> BilateralWork {
        self.work
    }

    /// Work of the linear solver for it so far.
    pub fn counters(&self) -> SolverCounters {
        self.counters
    }
}

/// The row block that a row is in.
fn blocks_before(system: &KktSystem, row: usize) -> usize {
    system.row_blocks().partition_point(|first| *first <= row) - 1
}
