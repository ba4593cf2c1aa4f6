//! The solver that chooses.

mod stages;

use super::report::Tracker;
use super::{
    Admm, AdmmOptions, BlockPivoting, BlockPivotingOptions, CentralPath, GaussSeidel, GaussSeidelOptions,
    InteriorPoint, Lemke, LemkeOptions, Limits, Method, NewtonOptions, Outcome, Problem, ProblemError,
    ProximalNewton, Report, Solver, Stage, StageProfile, Stages,
};
use crate::direct::Laps;
use crate::order::OrderMemory;
pub(super) use stages::STAGES;
use stages::{Attempt, Rule, Traits};
use std::time::Duration;

/// Options of [`Auto`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoOptions {
    /// Tolerance and history for every stage; `max_iterations` is that of the last, iterative,
    /// resort, `patience` has no effect.
    pub limits: Limits,
    /// Largest [`Residual::measure`](super::Residual::measure) that is good enough where the quick
    /// methods do not reach the tolerance: proximal points, the central path and alternating
    /// directions begin above it only, and stop there. No less than the tolerance counts.
    pub accuracy: f64,
    /// Rows up to which a dense factorisation is thought cheap.
    pub dense_rows: usize,
    /// Iterations times rows, of all methods together, after which no other method is begun: the
    /// outcome is then that of the best one. A count and no time, so that answers do not depend on
    /// the machine.
    pub work: usize,
}

impl Default for AutoOptions {
    fn default() -> Self {
        Self {
            limits: Limits {
                max_iterations: 5000,
                ..Limits::default()
            },
            accuracy: 0.0,
            dense_rows: 600,
            work: WORK,
        }
    }
}

impl AutoOptions {
    /// The largest residual that counts as converged.
    pub fn enough(&self) -> f64 {
        self.accuracy.max(self.limits.tolerance)
    }
}

/// Work of all methods in turn for some 1,300 rows.
const WORK: usize = 4_000_000;

/// Tries solvers in turn, each from the best impulse so far, until the residual that is asked for
/// holds.
///
/// - Without friction and with few rows: block pivoting, then Lemke; then as with friction. Without
///   a start and with more than 60 rows block pivoting ends as soon as rows of its set are
///   redundant, as of bodies that lie on each other (of such sets there are many).
/// - Else: Gauss-Seidel (8 sweeps, if there is a start or there are at most four contacts: interior
///   points gain nothing from them otherwise), Newton (up to 60 rows; of more rows, if there is a
///   start that has come to a residual of 1e-2, and no more rows than freedom), interior points,
///   [proximal points](ProximalNewton), the [central path](CentralPath) around its turning points,
///   alternating directions. With a
///   [`Cone::Pyramid`](super::Cone::Pyramid): Lemke (if few rows), alternating directions. With a
///   [`Cone::Rolling`](super::Cone::Rolling) Newton comes before interior points whatever the size.
///
/// None of them is begun once [`work`](AutoOptions::work) has been done. The last three end at the
/// [`accuracy`](AutoOptions::accuracy), the others at the tolerance, which costs them little.
///
/// [`Report::stages`] lists what was tried, [`Report::method`] is the one whose answer it is,
/// [`Report::iterations`] sums over the stages. If none converges, the answer is the best one, and
/// the outcome a ray if one was found, else that of the best stage.
#[derive(Clone, Debug, Default)]
pub struct Auto {
    /// May be changed at any time.
    pub options: AutoOptions,
    tracker: Tracker,
    gauss_seidel: GaussSeidel,
    interior: InteriorPoint,
    path: CentralPath,
    proximal: ProximalNewton,
    admm: Admm,
    pivoting: BlockPivoting,
    lemke: Lemke,
    trial: Vec<f64>,
    profile: [StageProfile; Stages::MOST],
}

/// Orders of elimination of the solvers of [`Auto`] that factor sparse systems.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct AutoOrders {
    interior: OrderMemory,
    admm: OrderMemory,
    newton: OrderMemory,
    path: OrderMemory,
}

impl AutoOrders {
    /// Makes them those of a new solver.
    pub(crate) fn clear(&mut self) {
        self.each().into_iter().for_each(OrderMemory::clear);
    }

    fn each(&mut self) -> [&mut OrderMemory; 4] {
        let Self {
            interior,
            admm,
            newton,
            path,
        } = self;
        [interior, admm, newton, path]
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Auto {
    /// A solver with given options.
    pub fn new(options: AutoOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Writes the orders of elimination of the solvers that factor sparse systems.
    pub(crate) fn record(&self, out: &mut AutoOrders) {
        self.interior.record(&mut out.interior);
        self.admm.record(&mut out.admm);
        self.proximal.record(&mut out.newton);
        self.path.record(&mut out.path);
    }

    /// Forgets all factors, and takes orders for the next pattern, where they fit. Solves are then
    /// those of a new solver, bit for bit.
    pub(crate) fn forget(&mut self, orders: AutoOrders) {
        self.interior.forget(orders.interior.into_order());
        self.admm.forget(orders.admm.into_order());
        self.proximal.forget(orders.newton.into_order());
        self.path.forget(orders.path.into_order());
    }

    /// Names of problems of the corpus (`pliant-lab/tests/corpus`) and of scenes (`scenes`) of
    /// which a solve ends with a stage, for each stage: without them it would not be there.
    pub fn needed_by() -> impl Iterator<Item = &'static [&'static str]> {
        STAGES.iter().map(|rule| rule.needed_by)
    }

    /// The time of each stage since it was taken last.
    pub(super) fn take_profile(&mut self) -> [StageProfile; Stages::MOST] {
        std::mem::take(&mut self.profile)
    }

    /// The solver of a stage, with the limits of the stage and the operations that are left.
    fn solver(&mut self, rule: &Rule, work: u64) -> &mut dyn Solver {
        let own = self.options.limits;
        let limits = Limits {
            tolerance: match rule.is_last_resort() {
                true => self.options.enough(),
                false => own.tolerance,
            },
            work,
            max_iterations: rule.most.iterations.unwrap_or(own.max_iterations),
            patience: rule.most.patience,
            ..own
        };
        match rule.attempt {
            Attempt::BlockPivoting { redundant } => {
                self.pivoting.options = BlockPivotingOptions {
                    limits,
                    redundant,
                    ..BlockPivotingOptions::default()
                };
                &mut self.pivoting
            }
            Attempt::Lemke => {
                self.lemke.options = LemkeOptions {
                    limits,
                    ..LemkeOptions::default()
                };
                &mut self.lemke
            }
            Attempt::GaussSeidel => {
                self.gauss_seidel.options = GaussSeidelOptions {
                    limits,
                    ..GaussSeidelOptions::default()
                };
                &mut self.gauss_seidel
            }
            Attempt::Newton { .. } => {
                let newton = self.proximal.newton();
                newton.options = NewtonOptions {
                    limits,
                    ..NewtonOptions::default()
                };
                newton
            }
            Attempt::ProximalNewton => {
                self.proximal.limits = limits;
                &mut self.proximal
            }
            Attempt::InteriorPoint => {
                self.interior.limits = limits;
                &mut self.interior
            }
            Attempt::CentralPath => {
                self.path.limits = limits;
                &mut self.path
            }
            Attempt::Admm => {
                self.admm.options = AdmmOptions {
                    limits,
                    ..AdmmOptions::default()
                };
                &mut self.admm
            }
        }
    }
}

impl Solver for Auto {
    fn method(&self) -> Method {
        Method::Auto
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        let limits = self.options.limits;
        let enough = self.options.enough();
        let started = self.tracker.start(problem, r, limits)?;
        let spent = started.filter(|end| *end == Outcome::TooMuchWork);
        let end = spent.unwrap_or(Outcome::MaxIterations);
        let mut report = self.tracker.finish(problem, r, Method::Auto, end, 0);
        if started.is_some() {
            return Ok(report);
        }
        let traits = Traits::new(problem, r, self.options.dense_rows);
        let mut tried = Stages::default();
        let (mut iterations, mut work) = (0, report.work);
        let mut ray = false;
        let mut trial = std::mem::take(&mut self.trial);
        for (place, rule) in STAGES.iter().enumerate() {
            if !(rule.applies)(&traits.from(report.residual.measure())) {
                continue;
            }
            if rule.is_last_resort() && report.residual.measure() <= enough {
                break;
            }
            if !tried.is_empty() && iterations * problem.size() >= self.options.work {
                break;
            }
            let left = limits.work.saturating_sub(work);
            if left == 0 {
                break;
            }
            trial.clear();
            trial.extend_from_slice(r);
            let mut laps = Laps::start();
            let found = self.solver(rule, left).solve(problem, &mut trial)?;
            let mut time = Duration::ZERO;
            laps.add_to(&mut time);
            self.profile[place].add(found.method, found.outcome, found.iterations, time);
            work = work.saturating_add(found.work);
            let measure = found.residual.measure();
            tried.push(Stage {
                place,
                method: found.method,
                outcome: found.outcome,
                iterations: found.iterations,
                measure,
            });
            iterations += found.iterations;
            ray |= found.outcome == Outcome::Ray;
            let stands = found.outcome == Outcome::Converged || !rule.is_trial();
            if stands && measure <= report.residual.measure() {
                r.copy_from_slice(&trial);
                report = found;
            }
            if report.outcome == Outcome::Converged {
                break;
            }
        }
        self.trial = trial;
        if report.residual.measure() <= enough {
            report.outcome = Outcome::Converged;
        }
        report.iterations = iterations;
        report.work = work;
        report.stages = tried;
        if work > limits.work && report.outcome != Outcome::Converged {
            report.outcome = Outcome::TooMuchWork;
            return Ok(report);
        }
        if ray && report.outcome != Outcome::Converged {
            report.outcome = Outcome::Ray;
        }
        Ok(report)
    }
}
