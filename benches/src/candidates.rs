//! Direct solvers behind one interface, so that one loop times them on the same matrix in turns.

#[cfg(feature = "peers")]
mod peers;

use crate::families::{assembled, assembled_rhs, update_assembled};
use crate::timing::clock;
use pliant::solvers::{DirectSolver, KktSystem, Solution};
use pliant::sparse::CsrMatrix;

/// Residual from which a peer's answer is refined, and how often at most: what the project's solver
/// does with its own measure.
#[cfg(feature = "peers")]
const REFINED: (f64, usize) = (1e-14, 2);

/// Input of a solver: the system, and its whole matrix for solvers that want one matrix.
#[derive(Debug)]
pub struct Task {
    /// The system as stated.
    pub system: KktSystem,
    /// Its [`assembled`] matrix, kept up to date.
    pub matrix: CsrMatrix,
    /// `[c; b]`.
    pub rhs: Vec<f64>,
    values: [Vec<f64>; 3],
}

impl Task {
    /// From a system.
    ///
    /// # Errors
    /// If the matrix is too large for 32-bit indices.
    pub fn new(system: KktSystem) -> Result<Self, String> {
        let matrix = assembled(&system).map_err(|e| e.to_string())?;
        let rhs = assembled_rhs(&system);
        let values = [&system.w, &system.j, &system.r].map(|a| a.values().to_vec());
        Ok(Self {
            system,
            matrix,
            rhs,
            values,
        })
    }

    /// Other values in the same pattern, no two rounds alike, so that no solver gains by noticing
    /// that nothing changed.
    pub fn stir(&mut self, round: usize) {
        // `W` and `R` grow alike, which changes every pivot and keeps the condition.
        let factor = 1.0 + (round % 1000) as f64 / 1024.0;
        let parts = [&mut self.system.w, &mut self.system.j, &mut self.system.r];
        for ((part, original), factor) in parts.into_iter().zip(&self.values).zip([factor, 1.0, factor]) {
            for (value, original) in part.values_mut().iter_mut().zip(original) {
                *value = factor * original;
            }
        }
        update_assembled(&self.system, &mut self.matrix);
    }

    /// `|rhs - K z| / |rhs|` in the largest component; leaves `rhs - K z` in `r`.
    pub fn residual(&self, z: &[f64], r: &mut Vec<f64>) -> f64 {
        r.clone_from(&self.rhs);
        self.matrix.symmetric_add_product(-1.0, z, r);
        // NaN must not vanish in a maximum.
        let largest = |x: &[f64]| {
            x.iter()
                .fold(0.0f64, |a, x| if x.is_nan() { f64::NAN } else { a.max(x.abs()) })
        };
        largest(r) / largest(&self.rhs)
    }
}

/// A solver that was analysed for a pattern.
pub trait Candidate {
    /// Short, for the head of a column.
    fn name(&self) -> &'static str;

    /// Takes over the values and factors them.
    ///
    /// # Errors
    /// The error of the solver.
    fn factor(&mut self, task: &Task) -> Result<(), String>;

    /// Solves for the task's right-hand side.
    ///
    /// # Errors
    /// The error of the solver.
    fn solve(&mut self, task: &Task, z: &mut Vec<f64>) -> Result<(), String>;

    /// Entries of the factor.
    fn entries(&self) -> usize;
}

/// The project's solver, at its defaults.
#[derive(Debug, Default)]
struct Ours {
    name: &'static str,
    solver: DirectSolver,
    solution: Solution,
}

impl Candidate for Ours {
    fn name(&self) -> &'static str {
        self.name
    }

    fn factor(&mut self, task: &Task) -> Result<(), String> {
        self.solver.prepare(&task.system).map_err(|e| e.to_string())
    }

    fn solve(&mut self, task: &Task, z: &mut Vec<f64>) -> Result<(), String> {
        let report = self.solver.solve(&task.system, &mut self.solution);
        report.map_err(|e| e.to_string())?;
        z.clear();
        z.extend_from_slice(&self.solution.x);
        z.extend_from_slice(&self.solution.mu);
        Ok(())
    }

    fn entries(&self) -> usize {
        self.solver.counters().factor_entries
    }
}

/// A candidate with the time that its analysis took (for some, with a first factorisation), s.
pub type Analysed = (Box<dyn Candidate>, f64);

/// The project's solver with default options on some threads.
///
/// # Errors
/// The error of its first factorisation.
pub fn ours(task: &Task, threads: usize) -> Result<Analysed, String> {
    let mut out = Ours {
        name: if threads == 1 { "Pliant" } else { "threads" },
        ..Ours::default()
    };
    out.solver.options.threads = threads;
    let (first, done) = clock(|| out.factor(task));
    done?;
    let (again, done) = clock(|| out.factor(task));
    done?;
    Ok((Box::new(out), (first - again).max(0.0)))
}

/// Every peer that is compiled in, analysed; those whose factorisation would take more than `flops`
/// operations are left out.
///
/// # Errors
/// The error of a peer.
#[cfg(feature = "peers")]
pub fn peers(task: &Task, flops: f64) -> Result<Vec<Analysed>, String> {
    peers::all(task, flops)
}

/// Seconds that nested dissection of the graph of single entries takes.
///
/// # Errors
/// The error of the ordering.
#[cfg(feature = "peers")]
pub fn entrywise_dissection(task: &Task) -> Result<f64, String> {
    let (time, done) = clock(|| peers::dissection(&task.matrix, None));
    done.map(|_| time)
}
