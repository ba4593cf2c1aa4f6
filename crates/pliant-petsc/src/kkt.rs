//! The solver that a step and a search for rest call.

use crate::Error;
use crate::ffi::{Gather, Library, Pivots, Reduction, Solver, Vector};
use crate::session::Share;
use crate::spread::SpreadSystem;
use pliant_krylov::{NearNullSpace, ProvidedSolver, Provider, Purpose};
use pliant_solvers::{
    BoundsReport, Kind, KktMemory, KktResidual, KktSolver, KktSystem, ResidualWorkspace, Solution,
    SolveError, SolveReport, Status,
};
use std::sync::Arc;

/// PETSc over the processes of the [`Session`](crate::Session) that has begun, as a solver that a
/// simulation takes in the place of its own ones.
pub const PROVIDER: Provider = Provider {
    name: NAME,
    make: || Box::new(PetscSolver::default()),
};

const NAME: &str = "PETSc over MPI";

/// Unknowns from which systems without rows are solved by conjugate gradients. Below, a factor of a
/// solid is as fast on two processes; it was measured on cantilevers of hexahedra, and is to be
/// revisited for more processes.
pub const MULTIGRID_FROM: usize = 30_000;

/// Share of its right-hand side that one pass of conjugate gradients leaves. The true residual is
/// measured after each.
const PASS: f64 = 1e-6;
/// Passes, or refinements of a factor, at most.
const MOST_PASSES: usize = 12;
/// Iterations of one pass at most.
const MOST_ITERATIONS: usize = 2000;
/// A pass that leaves more than this share of the residual is the last.
const PAYS: f64 = 0.5;
/// Largest pivot of a hard row, as a share of what it would be alone, that counts as zero. Our own
/// factor begins to doubt rows at 1e-10; what lies between is its to decide.
const ZERO_PIVOT: f64 = 1e-9;
/// Largest pivot of a variable or a compliant row, likewise: they may be small for good reasons.
/// Further apart, rows would be too small beside variables for pivots, and wait for the end.
const ZERO_VARIABLE: f64 = 1e-11;

/// Solves a [`KktSystem`] of bilateral rows over the processes of a [`Session`](crate::Session);
/// see the head of the crate. All processes must call the same methods with the same systems; that
/// right-hand sides are the same is compared, and an error where they are not.
///
/// **Residual.** Every answer is brought to all processes and measured by [`KktSystem::residual`]
/// there; passes of refinement go on until that is within the tolerance or no longer halved.
///
/// **Redundant rows.** Before MUMPS the matrix is scaled by powers of two so that one size of
/// pivots means a row that depends on others, to 1e-9, and a variable without resistance, to 1e-11.
/// Systems with such pivots are [handed back](ProvidedSolver::hands_back): near the configuration in
/// which rows depend on each other they must be truncated as one likes it, or they pin a motion that
/// is free. Solved all the same, multipliers of redundant rows are one choice among many, not that
/// of minimum norm; rows that contradict each other leave a residual, and do not converge.
///
/// **Cost** per solve and process: that of the method over the number of processes, one product
/// with the whole matrix for the residual, and `8 (n + m)` bytes received.
#[derive(Debug)]
pub struct PetscSolver {
    /// Unknowns from which systems without rows are solved by conjugate gradients.
    pub multigrid_from: usize,
    tolerance: f64,
    purpose: Purpose,
    motions: NearNullSpace,
    motions_fit: bool,
    plan: Option<Plan>,
    /// Whether the plan has the values of the last system.
    is_ready: bool,
    residual: ResidualWorkspace,
    correction: Solution,
    /// The answer before the last pass.
    before: Solution,
    /// The scales of all unknowns.
    scales: Vec<f64>,
}

/// All that is made for one shape of systems. Objects of PETSc are destroyed in this order.
#[derive(Debug)]
struct Plan {
    solver: Solver,
    gather: Gather,
    right: Vector,
    answer: Vector,
    /// The scales of the unknowns of this process, if the solver is a factor.
    scales: Option<Vector>,
    spread: SpreadSystem,
    /// Pivots, if the solver is a factor.
    pivots: Option<Pivots>,
    library: Arc<Library>,
}

/// A vector of a solve.
#[derive(Clone, Copy, Debug)]
enum Rescaled {
    Right,
    Answer,
}

impl Plan {
    /// Multiplies a vector by the scales of the matrix, if it has any.
    fn rescale(&mut self, which: Rescaled) -> Result<(), Error> {
        let vector = match which {
            Rescaled::Right => &mut self.right,
            Rescaled::Answer => &mut self.answer,
        };
        let Some(scales) = &mut self.scales else {
            return Ok(());
        };
        scales.with(|s| vector.with(|v| v.iter_mut().zip(&*s).for_each(|(v, s)| *v *= s)))?
    }
}

impl Default for PetscSolver {
    fn default() -> Self {
        Self {
            multigrid_from: MULTIGRID_FROM,
            tolerance: 1e-9,
            purpose: Purpose::default(),
            motions: NearNullSpace::default(),
            motions_fit: false,
            plan: None,
            is_ready: false,
            residual: ResidualWorkspace::default(),
            correction: Solution::default(),
            before: Solution::default(),
            scales: Vec::new(),
        }
    }
}

fn in_words(error: Error) -> SolveError {
    SolveError::Provided {
        solver: NAME,
        message: error.to_string(),
    }
}

impl PetscSolver {
    /// Work and memory of this process for the last system.
    pub fn share(&self) -> Option<Share> {
        self.plan.as_ref().map(|plan| plan.spread.share())
    }

    /// Whether a system is solved by conjugate gradients.
    fn iterates(&self, system: &KktSystem) -> bool {
        system.m() == 0 && system.n() >= self.multigrid_from && self.purpose != Purpose::Kind
    }

    fn make_plan(&self, system: &KktSystem) -> Result<Plan, Error> {
        let library = Library::present().ok_or(Error::OtherThread)?;
        let mut spread = SpreadSystem::new(&library, system)?;
        let iterates = self.iterates(system);
        let solver = match iterates {
            true => {
                if self.motions_fit {
                    let vectors = spread_motions(&self.motions, system, &spread)?;
                    spread.matrix.set_near_null_space(&vectors)?;
                }
                Solver::multigrid(&spread.matrix)?
            }
            false => {
                let mut factor = Solver::factor(&spread.matrix)?;
                factor.set_zero_pivot(ZERO_PIVOT)?;
                factor
            }
        };
        let scales = (!iterates).then(|| spread.matrix.vector()).transpose()?;
        let (right, answer) = (spread.matrix.vector()?, spread.matrix.vector()?);
        Ok(Plan {
            solver,
            gather: Gather::new(&answer)?,
            right,
            answer,
            scales,
            spread,
            pivots: None,
            library,
        })
    }

    /// The system's values in the plan of its shape.
    fn refill(&mut self, system: &KktSystem) -> Result<(), Error> {
        let iterates = self.iterates(system);
        let fits = |plan: &Plan| plan.spread.fits(system) && plan.pivots.is_none() == iterates;
        let mut plan = match self.plan.take().filter(fits) {
            Some(plan) => plan,
            None => self.make_plan(system)?,
        };
        require_same(&plan.library, "matrices", matrix_values(system))?;
        plan.spread.fill(system)?;
        if let Some(scales) = &mut plan.scales {
            find_scales(system, &mut self.scales);
            let own = plan.spread.own();
            scales.with(|s| s.copy_from_slice(&self.scales[own]))?;
            plan.spread.matrix.scale(scales)?;
        }
        plan.solver.prepare(&plan.spread.matrix)?;
        plan.pivots = match iterates {
            true => None,
            false => Some(plan.solver.pivots()?),
        };
        self.plan = Some(plan);
        Ok(())
    }

    /// Adds to the solution what the residual asks for. Returns iterations, and whether the method
    /// came to its end.
    fn correct(&mut self, solution: &mut Solution) -> Result<(usize, bool), Error> {
        let Some(plan) = &mut self.plan else {
            return Err(Error::Ended);
        };
        let (own, n) = (plan.spread.own(), solution.x.len());
        // `K z = (c, b)` with `r = (c, b) - K z`: rows have `b + J x + R mu`.
        let (primal, row) = (self.residual.primal(), self.residual.row());
        plan.right.with(|right| {
            for (r, i) in right.iter_mut().zip(own) {
                *r = if i < n { primal[i] } else { row[i - n] };
            }
        })?;
        plan.rescale(Rescaled::Right)?;
        let (iterations, ended) = plan
            .solver
            .solve(PASS, MOST_ITERATIONS, &plan.right, &mut plan.answer)?;
        plan.rescale(Rescaled::Answer)?;
        let Solution { x, mu } = &mut self.correction;
        plan.gather.with(&plan.answer, |all| {
            x.clear();
            x.extend_from_slice(&all[..n]);
            mu.clear();
            mu.extend_from_slice(&all[n..]);
        })?;
        let finite = x.iter().chain(&*mu).all(|v| v.is_finite());
        if !(ended && finite) {
            return Ok((iterations, false));
        }
        for (z, d) in solution.x.iter_mut().zip(x).chain(solution.mu.iter_mut().zip(mu)) {
            *z += *d;
        }
        Ok((iterations, true))
    }

    fn solve_by_passes(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, Error> {
        if let Some(plan) = &self.plan {
            let right = system.c.iter().chain(&system.b).copied();
            require_same(&plan.library, "right-hand sides", right)?;
        }
        solution.x.clear();
        solution.x.resize(system.n(), 0.0);
        solution.mu.clear();
        solution.mu.resize(system.m(), 0.0);
        let mut residual = system.residual(solution, &mut self.residual);
        let (mut iterations, mut passes, mut status) = (0, 0, Status::Stagnated);
        // The answer zero is right only where nothing is asked for.
        let is_zero = |list: &[f64]| list.iter().all(|r| *r == 0.0);
        let nothing = is_zero(self.residual.primal()) && is_zero(self.residual.row());
        if nothing {
            residual = KktResidual::default();
            status = Status::Converged;
        }
        while status != Status::Converged && passes < MOST_PASSES {
            self.before.clone_from(solution);
            let residual_before = residual;
            let (more, went_on) = self.correct(solution)?;
            iterations += more;
            passes += 1;
            if !went_on {
                status = Status::Breakdown;
                break;
            }
            residual = system.residual(solution, &mut self.residual);
            // A NaN neither pays nor is better.
            let pays = residual.relative <= PAYS * residual_before.relative;
            let is_better = residual.relative <= residual_before.relative;
            if residual.relative <= self.tolerance {
                status = Status::Converged;
            } else if passes > 1 && !pays {
                if !is_better {
                    std::mem::swap(solution, &mut self.before);
                    residual = residual_before;
                }
                break;
            }
        }
        let zero = self
            .plan
            .as_ref()
            .and_then(|plan| plan.pivots)
            .map_or(0, |p| p.zero);
        Ok(SolveReport {
            status,
            residual,
            iterations: if self.iterates(system) { iterations } else { 0 },
            refinements: passes.saturating_sub(1),
            redundant_rows: zero.min(system.m()),
            inertia: self.inertia(system),
            bounds: BoundsReport {
                natural: residual.row,
                ..BoundsReport::default()
            },
        })
    }

    fn inertia(&self, system: &KktSystem) -> (usize, usize) {
        let pivots = self.plan.as_ref().and_then(|plan| plan.pivots);
        pivots.map_or((0, 0), |Pivots { negative, zero }| {
            (
                (system.n() + system.m()).saturating_sub(negative + zero),
                negative,
            )
        })
    }
}

impl KktSolver for PetscSolver {
    fn name(&self) -> &'static str {
        match self.plan.as_ref().map(|plan| plan.pivots.is_some()) {
            Some(true) => "L D L^T of MUMPS over MPI",
            Some(false) => "conjugate gradients with GAMG over MPI",
            None => NAME,
        }
    }

    /// Plans anew for another shape or method, takes the values, and factors or makes the levels.
    /// Collective.
    ///
    /// # Errors
    /// [`SolveError::Bounded`], [`SolveError::Provided`] with the words of [`Error`];
    /// [`SolveError::NotPositiveDefinite`] where a factor has more negative pivots than rows and a
    /// minimum is asked for. It names the variable of the least `W_ii`, since the place of
    /// such a pivot is not known.
    fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.is_ready = false;
        system.check()?;
        system.check_bilateral()?;
        self.refill(system).map_err(in_words)?;
        if let Some(plan) = &self.plan
            && plan.solver.has_failed().map_err(in_words)?
        {
            let message = "there is no factor: MUMPS or GAMG gave up on the matrix".to_owned();
            return Err(SolveError::Provided {
                solver: NAME,
                message,
            });
        }
        if let (Purpose::Minimum, Some(kind)) = (self.purpose, self.kind(system))
            && kind.unheld() > 0
            && !self.hands_back()
        {
            let least = (0..system.n())
                .filter(|i| !system.fixed[*i])
                .min_by(|a, b| system.w_diagonal(*a).total_cmp(&system.w_diagonal(*b)));
            let dof = least.unwrap_or(0);
            return Err(SolveError::NotPositiveDefinite {
                dof,
                diagonal: system.w_diagonal(dof),
            });
        }
        self.is_ready = true;
        Ok(())
    }

    /// Collective.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`], [`SolveError::NotFinite`], [`SolveError::Provided`] with the
    /// words of [`Error`].
    fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        let fits = self.plan.as_ref().is_some_and(|plan| plan.spread.fits(system));
        if !(fits && self.is_ready) {
            return Err(SolveError::NotPrepared);
        }
        system.check_right_hand_sides()?;
        self.solve_by_passes(system, solution).map_err(in_words)
    }

    /// One solve hands nothing to the next.
    fn impose(&mut self, _: &KktMemory) {}
}

impl ProvidedSolver for PetscSolver {
    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    /// Taken when the next plan is made: as the motions of the configuration at that time.
    fn set_near_null_space(&mut self, motions: &NearNullSpace) {
        self.motions.clone_from(motions);
        self.motions_fit = true;
    }

    fn set_purpose(&mut self, purpose: Purpose) {
        self.purpose = purpose;
    }

    /// Whether the factor has a zero pivot.
    fn hands_back(&self) -> bool {
        let pivots = self.plan.as_ref().and_then(|plan| plan.pivots);
        pivots.is_some_and(|pivots| pivots.zero > 0)
    }

    /// By the signs of the pivots: of `n + m` ones, `m` less the redundant rows are negative at a
    /// minimum. Where there are zero pivots and negative ones beyond that, which of the zero ones
    /// belong to rows is not known; they are counted as rows, and directions without resistance as
    /// negative ones.
    fn kind(&self, system: &KktSystem) -> Option<Kind> {
        let Pivots { negative, zero } = self.plan.as_ref()?.pivots?;
        Some(match system.m() {
            0 => Kind {
                negative,
                zero,
                redundant: 0,
            },
            m => Kind {
                negative: (negative + zero).saturating_sub(m),
                zero: 0,
                redundant: zero,
            },
        })
    }
}

/// Powers of two that make the diagonal of `W` about `ZERO_PIVOT/ZERO_VARIABLE`, that of
/// `J diag(W)^-1 J^T` of hard rows about 1, and of compliant ones, with `R`, as large as of `W`.
fn find_scales(system: &KktSystem, out: &mut Vec<f64>) {
    const LARGER: f64 = ZERO_PIVOT / ZERO_VARIABLE;
    let nearest = |size: f64| match size > 0.0 && size.is_finite() {
        true => (-0.5 * size.log2()).round().exp2(),
        false => 1.0,
    };
    let w = |i: usize| system.w_diagonal(i).abs();
    out.clear();
    out.extend((0..system.n()).map(|i| nearest(w(i) / LARGER)));
    for row in 0..system.m() {
        let terms = system
            .j
            .row_entries(row)
            .filter(|(i, _)| !system.fixed[*i] && w(*i) > 0.0);
        let alone: f64 = terms.map(|(i, a)| a * a / w(i)).sum();
        let slots = system.r.pattern().row_slots(row);
        let columns = system.r.pattern().row(row).iter().map(|k| *k as usize);
        let compliance: f64 = slots
            .zip(columns)
            .filter(|(_, k)| *k == row)
            .map(|(slot, _)| system.r.values()[slot].abs())
            .sum();
        out.push(match compliance > 0.0 {
            true => nearest((alone + compliance) / LARGER),
            false => nearest(alone),
        });
    }
}

/// The numbers of all matrices.
fn matrix_values(system: &KktSystem) -> impl Iterator<Item = f64> {
    let parts = [system.w.values(), system.j.values(), system.r.values()];
    parts.into_iter().flatten().copied()
}

/// Compares a checksum of numbers that all processes must have. Collective.
fn require_same(
    library: &Library,
    what: &'static str,
    values: impl Iterator<Item = f64>,
) -> Result<(), Error> {
    // FNV-1a over whole numbers of 64 bits; of the sum as many bits as a number of double precision
    // holds exactly.
    let sum = values.fold(0xcbf2_9ce4_8422_2325u64, |sum, v| {
        (sum ^ v.to_bits())
            .wrapping_mul(0x0000_0100_0000_01b3)
            .rotate_left(23)
    });
    let own = [(sum >> 11) as f64];
    let (mut least, mut largest) = ([0.0], [0.0]);
    library.reduce(Reduction::Least, &own, &mut least)?;
    library.reduce(Reduction::Largest, &own, &mut largest)?;
    match least == largest {
        true => Ok(()),
        false => Err(Error::Differ { what }),
    }
}

/// The motions as vectors over the processes, orthonormal; those that depend on others are left
/// out.
fn spread_motions(
    motions: &NearNullSpace,
    system: &KktSystem,
    spread: &SpreadSystem,
) -> Result<Vec<Vector>, Error> {
    let (n, count) = (motions.order(), motions.count());
    if n != system.n() {
        return Ok(Vec::new());
    }
    let mut kept: Vec<Vec<f64>> = Vec::new();
    for c in 0..count {
        let mut column: Vec<f64> = (0..n).map(|i| motions.row(i)[c]).collect();
        let length = norm(&column);
        // Twice is enough (Kahan): what rounding left of the first time, the second takes.
        for _ in 0..2 {
            for other in &kept {
                let part: f64 = column.iter().zip(other).map(|(a, b)| a * b).sum();
                column.iter_mut().zip(other).for_each(|(a, b)| *a -= part * b);
            }
        }
        let left = norm(&column);
        if left > 1e-8 * length {
            column.iter_mut().for_each(|a| *a /= left);
            kept.push(column);
        }
    }
    let own = spread.own();
    let spread_one = |column: Vec<f64>| {
        let mut vector = spread.matrix.vector()?;
        vector.with(|values| values.copy_from_slice(&column[own.clone()]))?;
        Ok(vector)
    };
    kept.into_iter().map(spread_one).collect()
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|a| a * a).sum::<f64>().sqrt()
}
