//! The solver of the rows of contacts, together with the system that they stand on.

use crate::Options;
use crate::options::LinearSolver;
use crate::system::iterations::{FINER, Motions, krylov_options};
use crate::system::rigid_nodes::Configuration;
use pliant_krylov::IterativeSolver;
use pliant_solvers::complementarity::{
    CondensedIslands, Cone, ConeProfile, ConicSolver, Determinacy, IslandMemory, IslandReport, IslandSolver,
    Problem, ProblemError,
};
use pliant_solvers::{DirectOptions, KktSystem, Solution, SolverCounters};
use pliant_sparse::Threads;

/// Solves contacts and rows of bounded force with the system of their model: with a factor of each
/// island, or with the Krylov method that the options name.
#[derive(Debug, Default)]
pub(crate) struct ConeSolver {
    by_factors: IslandSolver,
    /// Made when it is first asked for.
    by_iterations: Option<Box<ByIterations>>,
    /// Whether the options name a Krylov method.
    iterates: bool,
}

#[derive(Debug, Default)]
struct ByIterations {
    cones: CondensedIslands,
    linear: IterativeSolver,
    motions: Motions,
}

impl ConeSolver {
    /// Chooses between factors and iterations by the options: memories belong to the one that is
    /// chosen.
    pub(crate) fn choose(&mut self, options: &Options) {
        self.iterates = matches!(options.linear, LinearSolver::Krylov { .. });
        if self.iterates {
            self.by_iterations.get_or_insert_default();
        }
    }

    /// Takes the options of the linear solver, and the tolerances of a factor.
    pub(crate) fn configure(&mut self, options: &Options, direct: DirectOptions, threads: &Threads) {
        self.choose(options);
        if let Some(krylov) = krylov_options(options.linear, FINER * direct.tolerance) {
            let by = self.by_iterations.get_or_insert_default();
            by.linear.options = krylov;
            by.linear.share(threads);
        }
        let islands = self.islands_mut();
        islands.only = options.contacts.solver;
        islands.bounds = options.tuning.bounds;
        islands.bounds.direct = direct;
    }

    /// The solver of the islands: of the whole system by factors, of the condensed one by
    /// iterations.
    pub(crate) fn islands(&self) -> &IslandSolver {
        match &self.by_iterations {
            Some(by) if self.iterates => &by.cones.islands,
            _ => &self.by_factors,
        }
    }

    /// As [`islands`](Self::islands), to set its options.
    pub(crate) fn islands_mut(&mut self) -> &mut IslandSolver {
        match &mut self.by_iterations {
            Some(by) if self.iterates => &mut by.cones.islands,
            _ => &mut self.by_factors,
        }
    }

    /// The part that iterates, if the options name a Krylov method.
    fn iterating(&self) -> Option<&ByIterations> {
        self.by_iterations.as_deref().filter(|_| self.iterates)
    }

    /// As [`IslandSolver::prepare`], of a model in a configuration.
    ///
    /// # Errors
    /// Those of [`IslandSolver::prepare`], [`CondensedIslands::prepare`].
    pub(crate) fn prepare(
        &mut self,
        system: &KktSystem,
        cones: &[Option<Cone>],
        at: Configuration<'_>,
    ) -> Result<(), ProblemError> {
        match &mut self.by_iterations {
            Some(by) if self.iterates => {
                by.motions.tell(&mut by.linear, at)?;
                by.cones.prepare(&mut by.linear, system, cones)
            }
            _ => self.by_factors.prepare(system, cones),
        }
    }

    /// As [`IslandSolver::solve`].
    ///
    /// # Errors
    /// Those of [`IslandSolver::solve`], [`CondensedIslands::solve`].
    pub(crate) fn solve(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<IslandReport, ProblemError> {
        match &mut self.by_iterations {
            Some(by) if self.iterates => by.cones.solve(&mut by.linear, system, solution),
            _ => self.by_factors.solve(system, solution),
        }
    }

    /// As [`IslandSolver::set_cones`].
    ///
    /// # Errors
    /// Those of [`IslandSolver::set_cones`].
    pub(crate) fn set_cones(&mut self, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
        match &mut self.by_iterations {
            Some(by) if self.iterates => by.cones.set_cones(cones),
            _ => self.by_factors.set_cones(cones),
        }
    }

    /// As [`IslandSolver::free_velocities`].
    pub(crate) fn free_velocities(&self) -> &[f64] {
        match self.iterating() {
            Some(by) => by.cones.free_velocities(),
            None => self.by_factors.free_velocities(),
        }
    }

    /// As [`IslandSolver::diagonal_block`].
    pub(crate) fn diagonal_block(&self, row: usize) -> Option<&[f64]> {
        match self.iterating() {
            Some(by) => by.cones.diagonal_block(row),
            None => self.by_factors.diagonal_block(row),
        }
    }

    /// As [`IslandSolver::response`].
    pub(crate) fn response(&self, row: usize, r: &[f64]) -> Vec<(usize, f64)> {
        match self.iterating() {
            Some(by) => by.cones.response(row, r),
            None => self.by_factors.response(row, r),
        }
    }

    /// As [`IslandSolver::begin`].
    pub(crate) fn begin(&mut self) {
        self.islands_mut().begin();
    }

    /// As [`IslandSolver::record`].
    pub(crate) fn record(&self, out: &mut IslandMemory) {
        self.islands().record(out);
    }

    /// As [`IslandSolver::impose`].
    pub(crate) fn impose(&mut self, memory: &IslandMemory) {
        self.islands_mut().impose(memory);
    }

    /// As [`IslandSolver::work`].
    pub(crate) fn work(&self) -> u64 {
        self.islands().work()
    }

    /// As [`IslandSolver::busiest`].
    pub(crate) fn busiest(&self) -> &[u32] {
        match self.iterating() {
            Some(by) => by.cones.busiest(),
            None => self.by_factors.busiest(),
        }
    }

    /// Work of linear systems so far.
    pub(crate) fn counters(&self) -> SolverCounters {
        let mut out = self.by_factors.counters();
        if let Some(by) = &self.by_iterations {
            out.add(&by.cones.counters());
        }
        out
    }

    /// Time of all parts with cones so far.
    pub(crate) fn profile(&self) -> ConeProfile {
        let mut out = self.by_factors.profile();
        if let Some(by) = &self.by_iterations {
            out += by.cones.islands.profile();
        }
        out
    }

    /// As [`IslandSolver::determinacy`].
    pub(crate) fn determinacy(&self) -> Determinacy {
        self.islands().determinacy()
    }

    /// As [`IslandSolver::worst_problem`].
    pub(crate) fn worst_problem(&self) -> Option<&Problem> {
        self.islands().worst_problem()
    }

    /// As [`IslandSolver::take_worst`].
    pub(crate) fn take_worst(&mut self) -> Option<Box<ConicSolver>> {
        self.islands_mut().take_worst()
    }
}
