//! The linear solver that a step takes where none is asked for, by counted work.

use pliant_krylov::{
    IterativeMethod, IterativeOptions, IterativePreconditioner, IterativeSolver, Prediction,
};
use pliant_solvers::{KktSystem, SolveError};

/// Unknowns and rows below which a factor costs next to nothing.
const LEAST: usize = 2_000;

/// Multiple of the work of the next best method beyond which iterations are given up.
const PATIENCE: f64 = 2.0;

/// By how much iterations that are not taken are expected to be fewer with every factor that is
/// made in their place: stiffness, loads and steps change.
const HOPE: f64 = 0.98;

/// Matrices that get a factor after one on which iterations failed.
const BARRED: u32 = 8;

/// Iterations at most, whatever a factor would cost.
const MOST_ITERATIONS: usize = 10_000;

/// A preconditioner of conjugate gradients, with its cost.
struct Candidate {
    preconditioner: IterativePreconditioner,
    name: &'static str,
    /// Iterations of an easy solve, which are expected before the first.
    easy: f64,
    /// Work to make it and of an iteration with it, in those of the incomplete Cholesky factor.
    preparation: f64,
    iteration: f64,
}

impl Candidate {
    /// Iterations that an incomplete Cholesky factor is expected to take where a cycle of all levels
    /// takes so many: cubes of 10,000 to 40,000 unknowns take 60 to 150 for 15 to 24, soft ones in
    /// short steps 5 to 30 for 4 to 12. (Beams take 200 to 350 for 15 to 18, which one try tells.)
    fn by_incomplete_factor(cycles: f64) -> f64 {
        cycles * cycles / 3.0
    }

    /// Work of so many solves by so many iterations each.
    fn work(&self, prediction: &Prediction, solves: f64, iterations: f64) -> f64 {
        self.preparation * prediction.preparation()
            + solves * iterations * self.iteration * prediction.iteration
    }
}

const INCOMPLETE: usize = 0;
const LEVELS: usize = 1;
const CANDIDATES: [Candidate; 2] = [
    Candidate {
        preconditioner: IterativePreconditioner::IncompleteCholesky,
        name: "conjugate gradients, incomplete Cholesky",
        easy: 20.0,
        preparation: 1.0,
        iteration: 1.0,
    },
    Candidate {
        preconditioner: IterativePreconditioner::Multilevel,
        name: "conjugate gradients, smoothed aggregation",
        easy: 10.0,
        preparation: 8.0,
        iteration: 3.0,
    },
];

/// All that one choice hands to the next.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AutomaticMemory {
    /// Iterations that a solve by each preconditioner is expected to take; empty before the first
    /// choice.
    iterations: Vec<f64>,
    /// How many iterations an incomplete Cholesky factor may take is to be told by the first solve
    /// by levels.
    awaited: bool,
    /// Solves with the last matrices.
    solves: u32,
    /// Matrices that get a factor before iterations, which failed, are tried again.
    barred: u32,
}

/// The method that was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Choice {
    #[default]
    Factor,
    Iterations(usize),
}

/// Chooses between a factor and conjugate gradients for every matrix.
///
/// The work of the factor and of an iteration are counted from the patterns
/// ([`Prediction`]); how many iterations a solve takes is that of the last solves with the same
/// preconditioner. No clock is read, so that the same steps give the same bits. Systems with hard
/// or bounded rows, and small ones, have a factor.
#[derive(Debug, Default)]
pub(crate) struct Automatic {
    /// Counts for a pattern of these sizes.
    prediction: Option<(Shape, Prediction)>,
    memory: AutomaticMemory,
    choice: Choice,
    /// Work of the best of the methods that were not chosen, at the last choice.
    next_best: f64,
}

/// Sizes by which a pattern is known, within one plan of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    unknowns: usize,
    rows: usize,
    /// Entries of `W`, and of `J`.
    entries: [usize; 2],
}

impl Shape {
    fn of(system: &KktSystem) -> Self {
        Self {
            unknowns: system.n(),
            rows: system.m(),
            entries: [&system.w, &system.j].map(|a| a.pattern().len()),
        }
    }
}

impl Automatic {
    pub(crate) fn choice(&self) -> Choice {
        self.choice
    }

    /// The name of the method that was chosen, if it is not the factor.
    pub(crate) fn name(&self) -> Option<&'static str> {
        match self.choice {
            Choice::Factor => None,
            Choice::Iterations(k) => Some(CANDIDATES[k].name),
        }
    }

    pub(crate) fn memory(&self) -> &AutomaticMemory {
        &self.memory
    }

    pub(crate) fn impose(&mut self, memory: &AutomaticMemory) {
        if self.memory != *memory {
            self.memory.clone_from(memory);
        }
    }

    /// Forgets the pattern, and all that was seen of it.
    pub(crate) fn forget(&mut self) {
        self.prediction = None;
        self.memory = AutomaticMemory::default();
    }

    /// Chooses for new matrices, which are to be solved with as often as the last ones were.
    ///
    /// # Errors
    /// Those of [`Prediction::of`].
    pub(super) fn choose(&mut self, system: &KktSystem, bounded: bool) -> Result<Choice, SolveError> {
        let solves = std::mem::take(&mut self.memory.solves).max(1);
        if bounded {
            self.choice = Choice::Factor;
            return Ok(self.choice);
        }
        self.choose_for(system, solves)
    }

    /// Counts for the pattern of a system.
    ///
    /// # Errors
    /// Those of [`Prediction::of`].
    pub(crate) fn predict(&mut self, system: &KktSystem) -> Result<Prediction, SolveError> {
        let shape = Shape::of(system);
        Ok(match self.prediction {
            Some((of, prediction)) if of == shape => prediction,
            _ => self.prediction.insert((shape, Prediction::of(system, 1.0)?)).1,
        })
    }

    /// Chooses for new matrices, which are to be solved with so often.
    ///
    /// # Errors
    /// Those of [`Prediction::of`].
    pub(crate) fn choose_for(&mut self, system: &KktSystem, solves: u32) -> Result<Choice, SolveError> {
        self.choice = Choice::Factor;
        let solves = f64::from(solves);
        let shape = Shape::of(system);
        if shape.unknowns + shape.rows < LEAST || !Prediction::is_compliant(system) {
            return Ok(self.choice);
        }
        let prediction = self.predict(system)?;
        let memory = &mut self.memory;
        if memory.barred > 0 {
            memory.barred -= 1;
            return Ok(self.choice);
        }
        let by_factor = prediction.factor() + solves * prediction.substitution();
        if memory.iterations.is_empty() {
            memory.iterations.extend(CANDIDATES.iter().map(|c| c.easy));
            // The dearer method comes first where it pays: its iterations depend little on the
            // system, and tell those of the other.
            let levels = &CANDIDATES[LEVELS];
            memory.awaited = levels.work(&prediction, solves, levels.easy) < by_factor;
        }
        let mut least = by_factor;
        self.next_best = f64::INFINITY;
        for (k, (iterations, candidate)) in memory.iterations.iter().zip(&CANDIDATES).enumerate() {
            if k == INCOMPLETE && memory.awaited {
                continue;
            }
            let work = candidate.work(&prediction, solves, *iterations);
            if work < least {
                self.next_best = least;
                least = work;
                self.choice = Choice::Iterations(k);
            } else {
                self.next_best = self.next_best.min(work);
            }
        }
        for (k, (expected, candidate)) in memory.iterations.iter_mut().zip(&CANDIDATES).enumerate() {
            if self.choice != Choice::Iterations(k) {
                *expected = (HOPE * *expected).max(candidate.easy);
            }
        }
        Ok(self.choice)
    }

    /// Sets the options of the iterations that were chosen, so many solves of which may take what
    /// the next best method would.
    pub(crate) fn configure(&self, solver: &mut IterativeSolver, tolerance: f64, solves: u32) {
        let (Choice::Iterations(k), Some((_, prediction))) = (self.choice, &self.prediction) else {
            return;
        };
        let each = CANDIDATES[k].iteration * prediction.iteration;
        let most = PATIENCE * self.next_best / (each * f64::from(solves));
        solver.options = IterativeOptions {
            method: IterativeMethod::Cg,
            preconditioner: CANDIDATES[k].preconditioner,
            tolerance,
            max_iterations: (most as usize).clamp(1, MOST_ITERATIONS),
        };
    }

    /// Notes a solve by the method that was chosen.
    pub(crate) fn note(&mut self, iterations: usize) {
        self.memory.solves = self.memory.solves.saturating_add(1);
        if let Choice::Iterations(k) = self.choice
            && let Some(expected) = self.memory.iterations.get_mut(k)
        {
            *expected = (iterations as f64).max(1.0);
        }
        self.tell_incomplete_factor(iterations as f64);
    }

    /// Expects of an incomplete Cholesky factor what a solve by levels tells.
    fn tell_incomplete_factor(&mut self, cycles: f64) {
        let told = self.memory.awaited && self.choice == Choice::Iterations(LEVELS);
        if let Some(expected) = self.memory.iterations.get_mut(INCOMPLETE).filter(|_| told) {
            *expected = Candidate::by_incomplete_factor(cycles).max(1.0);
            self.memory.awaited = false;
        }
    }

    /// Notes that the iterations that were chosen have led nowhere after so many: a factor is to
    /// take their place for this matrix, and where they broke down for some after it.
    pub(crate) fn give_up(&mut self, iterations: usize, broke_down: bool) {
        if let Choice::Iterations(k) = self.choice
            && let Some(expected) = self.memory.iterations.get_mut(k)
        {
            *expected = PATIENCE * (iterations as f64).max(*expected);
        }
        self.tell_incomplete_factor(iterations as f64);
        if broke_down {
            self.memory.barred = BARRED;
        }
        self.choice = Choice::Factor;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use pliant_sparse::PatternBuilder;

    /// The Laplacian of a cube of `side^3` points with so much added to its diagonal.
    pub(crate) fn cube(side: usize, added: f64) -> KktSystem {
        let at = |i: usize, j: usize, k: usize| (i * side + j) * side + k;
        let n = side.pow(3);
        let mut pattern = PatternBuilder::new(n, n);
        let mut entries = Vec::new();
        for (i, j, k) in (0..n).map(|p| (p / side / side, p / side % side, p % side)) {
            let p = at(i, j, k);
            entries.push((p, p, 6.0 + added));
            let before = [(i > 0, side * side), (j > 0, side), (k > 0, 1)];
            for (_, step) in before.into_iter().filter(|(there, _)| *there) {
                entries.push((p, p - step, -1.0));
            }
        }
        entries.iter().for_each(|(i, j, _)| pattern.insert(*i, *j));
        let none = |rows: usize, columns: usize| PatternBuilder::new(rows, columns).finish().unwrap();
        let blocks = (0..=n).collect();
        let pattern = pattern.finish().unwrap();
        let mut out = KktSystem::new(pattern, none(0, n), none(0, 0), blocks, vec![0]).unwrap();
        for (i, j, value) in entries {
            let slot = out.w.pattern().slot(i, j).unwrap();
            out.w.values_mut()[slot] = value;
        }
        out.c.fill(1.0);
        out
    }

    #[test]
    fn small_and_bounded_systems_have_a_factor() {
        let mut automatic = Automatic::default();
        assert_eq!(automatic.choose(&cube(10, 1.0), false), Ok(Choice::Factor));
        let large = cube(24, 1.0);
        assert_eq!(automatic.choose(&large, true), Ok(Choice::Factor));
        assert_eq!(automatic.choose(&large, false), Ok(Choice::Iterations(LEVELS)));
    }

    #[test]
    fn levels_tell_whether_an_incomplete_factor_pays() {
        let large = cube(24, 1.0);
        let after = |cycles: usize| {
            let mut automatic = Automatic::default();
            automatic.choose(&large, false).unwrap();
            automatic.note(cycles);
            automatic.choose(&large, false)
        };
        // 12 iterations that cost a third each, and 208.
        assert_eq!(after(6), Ok(Choice::Iterations(INCOMPLETE)));
        assert_eq!(after(25), Ok(Choice::Iterations(LEVELS)));
    }

    #[test]
    fn iterations_that_cost_more_than_a_factor_are_left_until_they_may_pay() {
        let mut automatic = Automatic::default();
        let large = cube(24, 1.0);
        automatic.choose(&large, false).unwrap();
        automatic.note(1000);
        let tries = (1..).find(|_| automatic.choose(&large, false) != Ok(Choice::Factor));
        // Fewer by a fiftieth each time, from 1,000 to the tens that a factor is worth.
        assert!(tries.is_some_and(|n| (50..400).contains(&n)), "{tries:?}");
    }

    #[test]
    fn another_choice_goes_on_from_a_memory() {
        let large = cube(24, 1.0);
        let mut first = Automatic::default();
        first.choose(&large, false).unwrap();
        first.note(100_000);
        let mut other = Automatic::default();
        other.impose(first.memory());
        for iterations in [100_000, 0, 0] {
            let both = [&mut first, &mut other].map(|a| {
                let found = a.choose(&large, false);
                a.note(iterations);
                found
            });
            assert_eq!(both[0], both[1]);
            // One that began anew would take levels.
            assert_ne!(both[0], Ok(Choice::Iterations(LEVELS)));
        }
    }

    #[test]
    fn iterations_that_break_down_are_barred() {
        let mut automatic = Automatic::default();
        let large = cube(24, 1.0);
        automatic.choose(&large, false).unwrap();
        automatic.give_up(3, true);
        assert_eq!(automatic.choice(), Choice::Factor);
        for _ in 0..BARRED {
            assert_eq!(automatic.choose(&large, false), Ok(Choice::Factor));
        }
    }

    /// A method that takes too long says nothing of the others.
    #[test]
    fn iterations_that_take_too_long_leave_the_others() {
        let mut automatic = Automatic::default();
        let large = cube(24, 1.0);
        automatic.choose(&large, false).unwrap();
        automatic.note(6);
        assert_eq!(
            automatic.choose(&large, false),
            Ok(Choice::Iterations(INCOMPLETE))
        );
        let mut solver = IterativeSolver::default();
        automatic.configure(&mut solver, 1e-9, 1);
        // No more than twice the work of levels.
        let most = solver.options.max_iterations;
        assert!((12..200).contains(&most), "{most}");
        automatic.give_up(most, false);
        assert_eq!(automatic.choice(), Choice::Factor);
        assert_eq!(automatic.choose(&large, false), Ok(Choice::Iterations(LEVELS)));
    }

    /// The solver of a step finds out by a factor that a matrix is indefinite.
    #[test]
    fn an_indefinite_matrix_ends_as_with_a_factor() {
        use crate::Options;
        use crate::system::linear::StepSolver;
        use crate::system::rigid_nodes::Configuration;
        let mut solver = StepSolver::default();
        solver.configure(&Options::default());
        let mut solution = pliant_solvers::Solution::default();
        // The least eigenvalue of the Laplacian of 24 points a side is 6 (1 - cos(pi/25)) = 0.047.
        let system = cube(24, -0.2);
        solution.x.resize(system.n(), 0.0);
        let model = pliant_model::Problem::new(pliant_model::Model::new());
        let state = model.initial_state().unwrap();
        let at = Configuration {
            model: &model,
            state: &state,
        };
        let found = solver
            .prepare(&system, at)
            .and_then(|()| solver.solve(&system, &mut solution).map(drop));
        assert!(
            matches!(found, Err(SolveError::NotPositiveDefinite { .. })),
            "{found:?}"
        );
    }
}
