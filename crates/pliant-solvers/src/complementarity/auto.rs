//! The solver that chooses.

use super::report::Tracker;
use super::{
    AcceleratedGradient, Admm, AdmmOptions, BlockPivoting, BlockPivotingOptions, CentralPath,
    ContactFunction, Form, GaussSeidel, GaussSeidelOptions, InteriorPoint, InteriorPointOptions, Lemke,
    LemkeOptions, Limits, Method, Newton, NewtonOptions, NonlinearCg, Outcome, Problem, ProblemError, Report,
    ShiftStep, Solver, Stage, Stages,
};
use crate::Elimination;

/// Options of [`Auto`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoOptions {
    /// Tolerance and history for every stage; `max_iterations` is that of the last, iterative, resort.
    pub limits: Limits,
    /// Rows up to which a dense factorisation is thought cheap.
    pub dense_rows: usize,
    /// Iterations times rows, of all methods together, after which no other method is begun: the outcome is then that of the best one. A count and no time, so that answers do not depend on
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
            dense_rows: 600,
            work: WORK,
        }
    }
}

/// What all methods in turn take for some 1,300 rows.
const WORK: usize = 4_000_000;

/// From where interior points end, Newton takes a dozen factorisations: where they are dense, up to this many times the rows that are few.
const ENDED: usize = 4;

/// Factorisations of the central path; heaps of hundreds of contacts took 400 to 1900.
const PATH: usize = 3000;

/// Blocks that a few sweeps are likely to settle without a start.
const SWEPT: usize = 4;

/// Rows up to which Newton's dense factorisations cost less than interior points.
const SMALL: usize = 60;

/// Rounds of block pivoting: where it succeeds it takes a dozen.
const PIVOTINGS: usize = 100;

/// Rows up to which Lemke's tableau of the pyramids is worth its pivots as a start.
const PIVOTS: usize = 200;

/// What is tried.
#[derive(Clone, Copy, Debug)]
enum Try {
    Pivoting,
    /// As long as no rows are redundant.
    RegularPivoting,
    Lemke,
    GaussSeidel,
    Newton,
    Interior(ShiftStep),
    /// Newton with many sweeps where its line search fails.
    Sweeping,
    Path,
    NonlinearCg,
    Admm,
    Moreau,
    Gradient,
}

/// From where.
#[derive(Clone, Copy, Debug)]
enum From {
    /// The best impulse so far.
    Best,
    /// No impulse: the best one may be in a corner out of which Newton does not find.
    Rest,
    /// Lemke's solution with friction as a pyramid, which pivoting finds whatever the contacts do.
    Pyramid,
}

/// Tries solvers in turn, each from the best impulse so far, until the residual that is asked for holds.
///
/// - Without friction and with few rows: block pivoting, then Lemke; then as with friction. Without a start and with more than 60 rows block pivoting ends before Lemke as soon as rows of its set are redundant,
///   as of things that lie on each other (of such sets there are many), and goes on after it.
/// - Else: Gauss-Seidel (8 sweeps, if there is a start or there are at most four contacts: interior points gain nothing from them
///   otherwise), Newton (up to 60 rows), interior points, Newton, [alternating](ShiftStep::Alternating) interior points, Newton, the [central path](CentralPath) around its turning points, Newton, interior points with the shift
///   [lagged](ShiftStep::Lagged), Newton, the same with half of the new shift, Newton with many sweeps, from Lemke's pyramids (up to 200 rows) with both functions, a tenth and three
///   tenths of the new shift, Newton with both functions from rest (if few rows), conjugate
///   gradients over Gauss-Seidel, alternating directions, accelerated gradients. With a [`Cone::Pyramid`](super::Cone::Pyramid): Lemke (if few
///   rows), alternating directions, accelerated gradients. With a [`Cone::Rolling`](super::Cone::Rolling) Newton comes before interior points whatever the size.
///
/// None of them is begun once [`work`](AutoOptions::work) has been done.
///
/// [`Report::stages`] lists what was tried, [`Report::method`] is the one whose answer it is, [`Report::iterations`] sums over the
/// stages. If none converges, the answer is the best one, and the outcome a ray if one was found, else that of the best stage.
#[derive(Clone, Debug, Default)]
pub struct Auto {
    /// May be changed at any time.
    pub options: AutoOptions,
    tracker: Tracker,
    gauss_seidel: GaussSeidel,
    interior: InteriorPoint,
    path: CentralPath,
    newton: Newton,
    cg: NonlinearCg,
    admm: Admm,
    gradient: AcceleratedGradient,
    pivoting: BlockPivoting,
    lemke: Lemke,
    trial: Vec<f64>,
    pyramid: Vec<f64>,
}

impl Auto {
    /// A solver with given options.
    pub fn new(options: AutoOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Orders of elimination of the solvers that factor sparse systems.
    pub(crate) fn orders(&self) -> [Option<Elimination>; 3] {
        // The path solves the systems of Newton's method.
        let newton = self.newton.order().or_else(|| self.path.order());
        [self.interior.order(), self.admm.order(), newton]
    }

    /// Orders for the next pattern, where they fit.
    pub(crate) fn impose(&mut self, [interior, admm, newton]: [Option<Elimination>; 3]) {
        self.interior.impose(interior);
        self.admm.impose(admm);
        self.path.impose(newton.clone());
        self.newton.impose(newton);
    }

    fn configure(&mut self) {
        let limits = self.options.limits;
        let at_most = |max_iterations, patience| Limits {
            max_iterations,
            patience,
            ..limits
        };
        self.gauss_seidel.options = GaussSeidelOptions {
            limits: at_most(8, 8),
            ..GaussSeidelOptions::default()
        };
        self.cg.limits = at_most(500, 200);
        self.admm.options = AdmmOptions {
            limits: at_most(2000, 500),
            ..AdmmOptions::default()
        };
        self.path.limits = at_most(PATH, PATH);
        self.gradient.limits = at_most(limits.max_iterations, limits.max_iterations);
        self.pivoting.options = BlockPivotingOptions {
            limits: at_most(PIVOTINGS, PIVOTINGS),
            ..BlockPivotingOptions::default()
        };
        self.lemke.options = LemkeOptions {
            limits: at_most(10_000, 500),
            ..LemkeOptions::default()
        };
    }
}

impl Solver for Auto {
    fn method(&self) -> Method {
        Method::Auto
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        self.configure();
        let limits = self.options.limits;
        let started = self.tracker.start(problem, r, limits)?;
        let mut report = self
            .tracker
            .finish(problem, r, Method::Auto, Outcome::MaxIterations, 0);
        if started.is_some() {
            return Ok(report);
        }
        let few = problem.size() <= self.options.dense_rows;
        // So are Newton's factors.
        let sparse = matches!(problem.delassus().form(), Form::Saddle { .. } | Form::Sparse(_));
        let near = sparse || problem.size() <= ENDED * self.options.dense_rows;
        let rows = !problem.has_friction();
        // Those that know friction as a circle only step aside.
        let round = problem.first_pyramid().is_none();
        let curved = round && !rows;
        let slips = round && !problem.is_convex();
        let rolls = problem.first_rolling().is_some();
        let warm = r.iter().any(|r| *r != 0.0);
        let sweeps = problem.blocks() <= SWEPT || rolls || warm;
        let small = problem.size() <= SMALL;
        let known = small || warm;
        let pivots = problem.size() <= PIVOTS;
        let lagged = |share| Try::Interior(ShiftStep::Lagged { share });
        let stages: [_; Stages::MOST] = [
            (rows && few && !known, Try::RegularPivoting, From::Best),
            (rows && few && known, Try::Pivoting, From::Best),
            ((rows || !round) && few, Try::Lemke, From::Best),
            (rows && few && !known, Try::Pivoting, From::Best),
            (round && sweeps, Try::GaussSeidel, From::Best),
            (curved && (small || rolls && near), Try::Newton, From::Best),
            (round, Try::Interior(ShiftStep::Newton), From::Best),
            (round && near, Try::Newton, From::Best),
            (slips, Try::Interior(ShiftStep::Alternating), From::Rest),
            (slips && near, Try::Newton, From::Best),
            (slips && near, Try::Path, From::Rest),
            (slips && near, Try::Newton, From::Best),
            (slips, lagged(1.0), From::Rest),
            (slips && near, Try::Newton, From::Best),
            (slips && few, lagged(0.5), From::Rest),
            (slips && few, Try::Sweeping, From::Best),
            (slips && pivots, Try::Newton, From::Pyramid),
            (slips && pivots, Try::Moreau, From::Pyramid),
            (slips && few, lagged(0.1), From::Rest),
            (slips && few, lagged(0.3), From::Rest),
            (slips && few, Try::Newton, From::Rest),
            (slips && few, Try::Moreau, From::Best),
            (slips && few, Try::Moreau, From::Rest),
            (slips && few, Try::Sweeping, From::Rest),
            (round && few, Try::NonlinearCg, From::Best),
            (true, Try::Admm, From::Best),
            (few || rows || !round, Try::Gradient, From::Best),
        ];
        let mut newton_last = false;
        let mut tried = Stages::default();
        let mut iterations = 0;
        let mut ray = false;
        let mut pyramid = false;
        for (_, which, from) in stages.into_iter().filter(|s| s.0) {
            if !tried.is_empty() && iterations * problem.size() >= self.options.work {
                break;
            }
            let newton = matches!((which, from), (Try::Newton, From::Best));
            if newton && newton_last {
                continue;
            }
            newton_last = newton;
            self.trial.clear();
            match from {
                From::Best => self.trial.extend_from_slice(r),
                From::Rest => self.trial.resize(r.len(), 0.0),
                From::Pyramid => {
                    if !pyramid {
                        self.pyramid.clear();
                        self.pyramid.resize(r.len(), 0.0);
                        iterations += self.lemke.solve(problem, &mut self.pyramid)?.iterations;
                        pyramid = true;
                    }
                    self.trial.extend_from_slice(&self.pyramid);
                }
            }
            if let Try::Interior(shift) = which {
                let (max_iterations, patience) = match shift {
                    ShiftStep::Newton | ShiftStep::Alternating => (100, 30),
                    _ => (300, 100),
                };
                self.interior.options = InteriorPointOptions {
                    limits: Limits {
                        max_iterations,
                        patience,
                        ..limits
                    },
                    shift,
                };
            }
            let plain = NewtonOptions {
                limits: Limits {
                    max_iterations: 150,
                    patience: 100,
                    ..limits
                },
                ..NewtonOptions::default()
            };
            self.newton.options = match which {
                Try::Sweeping => NewtonOptions { sweeps: 50, ..plain },
                Try::Moreau => NewtonOptions {
                    contact: ContactFunction::JeanMoreau,
                    ..plain
                },
                _ => plain,
            };
            self.pivoting.options.redundant = !matches!(which, Try::RegularPivoting);
            let solver: &mut dyn Solver = match which {
                Try::Pivoting | Try::RegularPivoting => &mut self.pivoting,
                Try::Lemke => &mut self.lemke,
                Try::GaussSeidel => &mut self.gauss_seidel,
                Try::Newton | Try::Moreau | Try::Sweeping => &mut self.newton,
                Try::Interior(_) => &mut self.interior,
                Try::Path => &mut self.path,
                Try::NonlinearCg => &mut self.cg,
                Try::Admm => &mut self.admm,
                Try::Gradient => &mut self.gradient,
            };
            let found = solver.solve(problem, &mut self.trial)?;
            let measure = found.residual.measure();
            tried.push(Stage {
                method: found.method,
                outcome: found.outcome,
                iterations: found.iterations,
                measure,
            });
            iterations += found.iterations;
            ray |= found.outcome == Outcome::Ray;
            if measure <= report.residual.measure() {
                r.copy_from_slice(&self.trial);
                report = found;
            }
            if report.outcome == Outcome::Converged {
                break;
            }
        }
        report.iterations = iterations;
        report.stages = tried;
        if ray && report.outcome != Outcome::Converged {
            report.outcome = Outcome::Ray;
        }
        Ok(report)
    }
}
