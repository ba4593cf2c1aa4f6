//! The solver of the rows of contacts, together with the system that they stand on.

use crate::Options;
use crate::options::LinearSolver;
use crate::system::automatic::{Automatic, AutomaticMemory, Choice};
use crate::system::iterations::{FINER, Motions, krylov_options};
use crate::system::rigid_nodes::Configuration;
use pliant_krylov::IterativeSolver;
use pliant_solvers::complementarity::{
    AutoOptions, BilateralWork, CondensedIslands, Cone, ConeProfile, ConicSolver, Determinacy, IslandMemory,
    IslandReport, IslandSolver, Problem, ProblemError,
};
use pliant_solvers::{DirectOptions, DirectSolver, KktSystem, Solution, SolverCounters, Status};
use pliant_sparse::Threads;

/// Unknowns of a model from which contacts may be condensed.
const LEAST: usize = 1_000;
/// Rows of contacts up to which these are condensed where the options leave the choice: what is left
/// of the system is dense.
const MOST_ROWS: usize = 1_200;
/// Predicted work of the factor of the model, in nanoseconds of a common processor, below which
/// islands cost next to nothing, and from which on they take several times as much.
const LITTLE: f64 = 2e6;
const LARGE: f64 = 3e7;
/// Work of the responses of contacts, in such factors, up to which they are condensed: cubes of
/// hexahedra that lie on a face, whose work is 20 to 30 factors, take as long either way at 7,000
/// unknowns, in 0.7 of the time at 15,000.
const MUCH: f64 = 8.0;
const MUCH_OF_LARGE: f64 = 30.0;

/// Solves with the system of the model beside those for the responses of contacts.
const SOLVES: usize = 3;

/// Solves contacts and rows of bounded force with the system of their model, in one of three ways:
///
/// - *by islands*: a factor and an operator for each part that nothing connects with others. For
///   many bodies and for sheets, where a contact is felt by few unknowns and there are as many
///   contacts as bodies;
/// - *condensed by a factor* of the system of the model, whose pattern knows no contacts: its order
///   of elimination is found once, and each contact costs substitutions. For solids, whose unknowns
///   all feel every contact;
/// - *condensed by iterations*, where the options name a Krylov method, or leave the choice and
///   iterations cost less than the factor.
///
/// Between the first two the sizes decide, from the pattern alone, and between the others what the
/// last solves took, which is in checkpoints: the same step has the same bits. Models with rows of
/// their own, whose order of elimination may depend on what was solved before, go by islands.
#[derive(Debug, Default)]
pub struct ConeSolver {
    islands: IslandSolver,
    /// Made when it is first asked for.
    condensed: Option<Box<Condensed>>,
    wanted: LinearSolver,
    way: Way,
    automatic: Automatic,
    threads: Threads,
}

/// The way in which the present system is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Way {
    #[default]
    Islands,
    Factor,
    Iterations,
}

#[derive(Debug, Default)]
struct Condensed {
    cones: CondensedIslands,
    factor: DirectSolver,
    iterations: IterativeSolver,
    motions: Motions,
}

/// The system of a model with rows of contacts, and what to prepare it needs to know of it.
#[derive(Clone, Copy, Debug)]
pub struct ContactSystem<'a> {
    /// The system of the model alone.
    pub base: &'a KktSystem,
    /// With the rows of contacts behind its own.
    pub whole: &'a KktSystem,
    /// One law, or none, for each row block of the whole.
    pub cones: &'a [Option<Cone>],
    /// The configuration of the model.
    pub at: Configuration<'a>,
}

/// Iterations of each solve.
fn each(work: BilateralWork) -> usize {
    work.iterations.div_ceil(work.solves.max(1))
}

impl ConeSolver {
    /// Takes the options of the linear solver, the tolerances of a factor, and the options of the
    /// cones.
    pub fn configure(
        &mut self,
        options: &Options,
        direct: DirectOptions,
        cones: AutoOptions,
        threads: &Threads,
    ) {
        self.wanted = options.linear;
        self.threads.clone_from(threads);
        let mut bounds = options.tuning.bounds;
        bounds.direct = direct;
        let set = |islands: &mut IslandSolver| {
            islands.options = cones;
            islands.only = options.contacts.solver;
            islands.bounds = bounds;
        };
        set(&mut self.islands);
        let krylov = krylov_options(options.linear, FINER * direct.tolerance);
        if krylov.is_some() {
            self.condensed.get_or_insert_default();
        }
        if let Some(condensed) = &mut self.condensed {
            set(&mut condensed.cones.islands);
            condensed.factor.options = direct;
            condensed.iterations.share(threads);
            condensed.iterations.options = krylov.unwrap_or_default();
        }
    }

    /// Lets contacts miss their laws by so much of the largest velocity without impulses where only
    /// costly methods would bring them closer.
    pub fn set_accuracy(&mut self, accuracy: f64) {
        self.islands.options.accuracy = accuracy;
        if let Some(condensed) = &mut self.condensed {
            condensed.cones.islands.options.accuracy = accuracy;
        }
    }

    /// The way in which a system is to be solved.
    fn choose(&mut self, base: &KktSystem, cones: &[Option<Cone>], rows: usize) -> Way {
        if matches!(self.wanted, LinearSolver::Krylov { .. }) {
            return Way::Iterations;
        }
        let has_rows = base.m() > 0 || cones.iter().any(Option::is_none);
        if has_rows || base.n() < LEAST || rows > MOST_ROWS {
            return Way::Islands;
        }
        // Where no order of elimination is found, the factor tells why.
        let Ok(prediction) = self.automatic.predict(base) else {
            return Way::Islands;
        };
        let factor = prediction.factor();
        let much = if factor > LARGE { MUCH_OF_LARGE } else { MUCH };
        if factor <= LITTLE || rows as f64 * prediction.substitution() > much * factor {
            return Way::Islands;
        }
        if self.wanted != LinearSolver::Auto {
            return Way::Factor;
        }
        match self.automatic.choose_for(base, (rows + SOLVES) as u32) {
            Ok(Choice::Iterations(_)) => Way::Iterations,
            _ => Way::Factor,
        }
    }

    /// Takes the values of a system, in the way that suits it.
    ///
    /// # Errors
    /// Errors of the solver of the way ([`IslandSolver::prepare`], [`CondensedIslands::prepare`]).
    pub fn prepare(&mut self, system: ContactSystem<'_>) -> Result<(), ProblemError> {
        let ContactSystem {
            base,
            whole,
            cones,
            at,
        } = system;
        self.way = self.choose(base, cones, whole.m());
        if self.way == Way::Islands {
            return self.islands.prepare(whole, cones);
        }
        let (islands, threads) = (&self.islands, &self.threads);
        let condensed = self.condensed.get_or_insert_with(|| {
            let mut made = Box::<Condensed>::default();
            made.cones.islands = IslandSolver::new(islands.options, islands.bounds);
            made.cones.islands.only = islands.only;
            made.factor.options = islands.bounds.direct;
            made.iterations.share(threads);
            made
        });
        if self.way == Way::Factor {
            return condensed.cones.prepare(&mut condensed.factor, whole, cones);
        }
        let chosen = self.wanted == LinearSolver::Auto;
        if chosen {
            let tolerance = FINER * self.islands.bounds.direct.tolerance;
            let solves = (whole.m() + SOLVES) as u32;
            self.automatic
                .configure(&mut condensed.iterations, tolerance, solves);
        }
        condensed.motions.tell(&mut condensed.iterations, at)?;
        let prepared = condensed.cones.prepare(&mut condensed.iterations, whole, cones);
        let work = condensed.cones.bilateral_work();
        if !chosen || prepared.is_ok() && work.unconverged == 0 {
            return prepared;
        }
        // Where there is no preconditioner, a factor tells why, or does without.
        self.automatic.give_up(each(work), prepared.is_err());
        self.way = Way::Factor;
        condensed.cones.prepare(&mut condensed.factor, whole, cones)
    }

    /// The name of the linear solver of the present system, where that is chosen here.
    pub(crate) fn linear_name(&self) -> Option<&'static str> {
        let chosen = self.way == Way::Iterations && self.wanted == LinearSolver::Auto;
        self.automatic.name().filter(|_| chosen)
    }

    /// The condensed part, if the present system is solved so.
    fn condensed(&self) -> Option<&Condensed> {
        self.condensed.as_deref().filter(|_| self.way != Way::Islands)
    }

    /// The condensed part, if the present system is solved so, to be changed.
    fn condensed_mut(&mut self) -> Option<&mut Condensed> {
        self.condensed.as_deref_mut().filter(|_| self.way != Way::Islands)
    }

    /// The solver of the islands of the present system, or of what is left of it.
    pub(crate) fn islands(&self) -> &IslandSolver {
        self.condensed().map_or(&self.islands, |c| &c.cones.islands)
    }

    /// Solves the prepared system from the multipliers in the solution, if there are as many as rows.
    ///
    /// # Errors
    /// Errors of the solver of the way ([`IslandSolver::solve`], [`CondensedIslands::solve`]).
    pub fn solve(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<IslandReport, ProblemError> {
        let (way, chosen) = (self.way, self.wanted == LinearSolver::Auto);
        let Some(c) = self.condensed.as_deref_mut().filter(|_| way != Way::Islands) else {
            return self.islands.solve(system, solution);
        };
        if way == Way::Factor {
            return c.cones.solve(&mut c.factor, system, solution);
        }
        let start = chosen.then(|| solution.mu.clone());
        let found = c.cones.solve(&mut c.iterations, system, solution)?;
        let Some(start) = start else {
            return Ok(found);
        };
        let work = c.cones.bilateral_work();
        if found.linear.status == Status::Converged {
            self.automatic.note(each(work));
            return Ok(found);
        }
        self.automatic.give_up(each(work), false);
        self.way = Way::Factor;
        c.cones.prepare_again(&mut c.factor, system)?;
        solution.mu = start;
        c.cones.solve(&mut c.factor, system, solution)
    }

    /// Replaces the laws of the prepared system by others of as many rows each.
    ///
    /// # Errors
    /// Errors of the solver of the way ([`IslandSolver::set_cones`]).
    pub(crate) fn set_cones(&mut self, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
        match self.condensed_mut() {
            Some(c) => c.cones.set_cones(cones),
            None => self.islands.set_cones(cones),
        }
    }

    /// Velocities of all rows without impulses on those with laws, as of the last solve.
    pub fn free_velocities(&self) -> &[f64] {
        match self.condensed() {
            Some(c) => c.cones.free_velocities(),
            None => self.islands.free_velocities(),
        }
    }

    /// The diagonal block of the operator at the cone that begins at a row, row by row, if one does.
    pub(crate) fn diagonal_block(&self, row: usize) -> Option<&[f64]> {
        match self.condensed() {
            Some(c) => c.cones.diagonal_block(row),
            None => self.islands.diagonal_block(row),
        }
    }

    /// Velocities that impulses on the cone at a row make in all rows with cones, with these rows.
    pub(crate) fn response(&self, row: usize, r: &[f64]) -> Vec<(usize, f64)> {
        match self.condensed() {
            Some(c) => c.cones.response(row, r),
            None => self.islands.response(row, r),
        }
    }

    /// Begins the solves of another step, whose operations count from zero.
    pub(crate) fn begin(&mut self) {
        self.islands.begin();
        if let Some(condensed) = &mut self.condensed {
            condensed.cones.islands.begin();
        }
    }

    /// Writes all that one solve hands to the next: condensed systems hand on what iterations took.
    pub(crate) fn record(&self, islands: &mut IslandMemory, choice: &mut AutomaticMemory) {
        self.islands.record(islands);
        choice.clone_from(self.automatic.memory());
    }

    /// Gives the solver of islands a memory in the place of its own ([`IslandSolver::impose`]).
    pub(crate) fn impose(&mut self, memory: &IslandMemory) {
        self.islands.impose(memory);
    }

    /// Forgets all that was seen of the model: another plan of it follows.
    pub(crate) fn forget_choices(&mut self) {
        self.automatic.forget();
    }

    /// Goes on with the automatic choices of a memory.
    pub(crate) fn impose_choice(&mut self, memory: &AutomaticMemory) {
        self.automatic.impose(memory);
    }

    /// Operations since the solves of a step [began](Self::begin).
    pub(crate) fn work(&self) -> u64 {
        self.islands().work()
    }

    /// Row blocks of the part that took most operations in the last solve.
    pub(crate) fn busiest(&self) -> &[u32] {
        match self.condensed() {
            Some(c) => c.cones.busiest(),
            None => self.islands.busiest(),
        }
    }

    /// Work of linear systems so far.
    pub(crate) fn counters(&self) -> SolverCounters {
        let mut out = self.islands.counters();
        if let Some(condensed) = &self.condensed {
            out.add(&condensed.cones.counters());
        }
        out
    }

    /// Time of all parts with cones so far.
    pub(crate) fn profile(&self) -> ConeProfile {
        let mut out = self.islands.profile();
        if let Some(condensed) = &self.condensed {
            out += condensed.cones.islands.profile();
        }
        out
    }

    /// Whether the impulses of the last solve are the only ones with its velocities, part by part.
    pub(crate) fn determinacy(&self) -> Determinacy {
        self.islands().determinacy()
    }

    /// The problem of the part whose residual was the largest in the last solve.
    pub(crate) fn worst_problem(&self) -> Option<&Problem> {
        self.islands().worst_problem()
    }

    /// Hands out the solver of the part whose residual was the largest in the last solve.
    pub(crate) fn take_worst(&mut self) -> Option<Box<ConicSolver>> {
        match self.condensed_mut() {
            Some(c) => c.cones.islands.take_worst(),
            None => self.islands.take_worst(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::automatic::tests::cube;
    use pliant_solvers::SolveError;
    use pliant_solvers::complementarity::Outcome;
    use pliant_sparse::PatternBuilder;

    /// A system with a contact of one row that pushes its first unknown.
    fn with_contact(base: &KktSystem) -> KktSystem {
        let n = base.n();
        let [mut j, mut r] = [(1, n), (1, 1)].map(|(a, b)| PatternBuilder::new(a, b));
        j.insert(0, 0);
        r.insert(0, 0);
        let [j, r] = [j, r].map(|b| b.finish().unwrap());
        let blocks = base.primal_blocks().to_vec();
        let mut out = KktSystem::new(base.w.pattern().clone(), j, r, blocks, vec![0, 1]).unwrap();
        out.w.values_mut().copy_from_slice(base.w.values());
        out.j.values_mut()[0] = 1.0;
        out.c.copy_from_slice(&base.c);
        out.b[0] = -10.0;
        out
    }

    /// Prepares and solves the Laplacian of a cube with so much added to its diagonal.
    fn solve(added: f64) -> (ConeSolver, Result<f64, ProblemError>) {
        let base = cube(30, added);
        let whole = with_contact(&base);
        let model = pliant_model::Problem::new(pliant_model::Model::new());
        let state = model.initial_state().unwrap();
        let mut solver = ConeSolver::default();
        let options = Options::default();
        let direct = options.last_solver();
        solver.configure(&options, direct, AutoOptions::default(), &Threads::one());
        let cones = [Some(Cone::NonNegative)];
        let prepared = solver.prepare(ContactSystem {
            base: &base,
            whole: &whole,
            cones: &cones,
            at: Configuration {
                model: &model,
                state: &state,
            },
        });
        let mut solution = Solution::default();
        let solved = prepared.and_then(|()| solver.solve(&whole, &mut solution));
        let found = solved.map(|report| {
            assert_eq!(report.outcome, Outcome::Converged);
            solution.x[0]
        });
        (solver, found)
    }

    /// Iterations are chosen for a system of this size, and know no motions of a model without nodes: a
    /// factor takes their place, and the contact holds its unknown at 10.
    #[test]
    fn iterations_that_cannot_begin_leave_the_contact_to_a_factor() {
        let (solver, found) = solve(1.0);
        assert_eq!((solver.way, solver.linear_name()), (Way::Factor, None));
        assert!(found.is_ok_and(|x| (x - 10.0).abs() < 1e-8));
        assert_ne!(*solver.automatic.memory(), AutomaticMemory::default());
    }

    /// The least eigenvalue of the Laplacian of 30 points a side is 6 (1 - cos(pi/31)) = 0.031.
    #[test]
    fn an_indefinite_system_ends_as_with_a_factor() {
        let (solver, found) = solve(-0.2);
        let indefinite = ProblemError::Bilateral(SolveError::NotPositiveDefinite {
            dof: 0,
            diagonal: 0.0,
        });
        let error = found.map_err(|e| std::mem::discriminant(&e));
        assert_eq!(error, Err(std::mem::discriminant(&indefinite)));
        assert_eq!(solver.way, Way::Factor);
    }
}
