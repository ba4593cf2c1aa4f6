//! The linear systems of a search for rest.

use pliant_krylov::{
    IterativeMethod, IterativeOptions, IterativePreconditioner, IterativeSolver, NearNullSpace, Prediction,
    ProvidedSolver, Provider, Purpose,
};
use pliant_solvers::eigen::pseudo_random;
use pliant_solvers::{Kind, KktSolver, KktSystem, Solution, SolveError, StationarySolver, Status, Variable};
use pliant_stepper::system::rigid_nodes::Configuration;
use pliant_stepper::{KrylovMethod, LinearSolver, Preconditioner};

/// Unknowns and rows below which a factor costs next to nothing.
const LEAST: usize = 5_000;
/// Relative residual of a solve by iterations. Newton's method mends what it leaves.
const TOLERANCE: f64 = 1e-10;

/// Solves with tangents that may be indefinite: by a factor that counts negative and zero
/// eigenvalues, or by a Krylov method, which counts none.
///
/// Conjugate gradients meet a direction of negative curvature if the tangent has one and the
/// right-hand side a part in it, however small. A tangent at rest is solved for a right-hand side
/// with a part in everything, so that it is a minimum as far as they know.
#[derive(Debug, Default)]
pub(crate) struct RestSolver {
    /// The solver that is asked for; none where eigenvalues must be counted.
    wanted: Option<LinearSolver>,
    stationary: StationarySolver,
    iterative: IterativeSolver,
    /// The solver from outside, once one was asked for.
    provided: Option<(Provider, Box<dyn ProvidedSolver>)>,
    motions: NearNullSpace,
    /// Whether the motions have the reference places of the model.
    has_reference: bool,
    /// The tangent with the right-hand sides of a solve, for iterations.
    tangent: KktSystem,
    active: Active,
    /// Whether iterations failed in this search where they are not asked for.
    barred: bool,
    kind: Option<Kind>,
}

/// The solver of the tangent at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Active {
    #[default]
    Factor,
    Iterations,
    Provided,
}

/// The ways in which a tangent may be solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// By a factor, which counts eigenvalues.
    Factor,
    /// By iterations, if the options say so.
    Either,
}

impl RestSolver {
    /// A solver whose factors are shared by so many threads.
    pub(crate) fn with_threads(threads: usize) -> Self {
        Self {
            stationary: StationarySolver::with_threads(threads),
            ..Self::default()
        }
    }

    /// Lets the coming tangents be solved by iterations, if the solver says so.
    pub(crate) fn may_iterate(&mut self, wanted: LinearSolver) {
        self.wanted = Some(wanted);
    }

    /// Takes the tangent of a model in a configuration.
    ///
    /// # Errors
    /// Those of [`StationarySolver::prepare`], and of a Krylov method that is asked for.
    pub(crate) fn prepare(
        &mut self,
        system: &KktSystem,
        at: Configuration<'_>,
        by: By,
    ) -> Result<(), SolveError> {
        (self.active, self.kind) = (Active::Factor, None);
        if let Some(LinearSolver::Provided(provider)) = self.wanted {
            self.motions.set_rigid_nodes(at.rigid_nodes())?;
            return self.prepare_provided(provider, system, by);
        }
        if by == By::Either
            && let Some((options, is_asked_for)) = self.options(system)
        {
            self.iterative.options = options;
            self.tangent.clone_from(system);
            if !self.has_reference {
                at.tell_reference(&mut self.motions)?;
                self.has_reference = true;
            }
            self.motions.set_rigid_nodes(at.rigid_nodes())?;
            self.iterative.set_near_null_space(&self.motions);
            match self.iterative.prepare(&self.tangent) {
                Ok(()) => {
                    self.active = Active::Iterations;
                    return Ok(());
                }
                Err(error) if is_asked_for => return Err(error),
                Err(_) => self.barred = true,
            }
        }
        self.factor(system)
    }

    /// The iterations by which a tangent is solved, if it is, and whether the user asks for them.
    fn options(&self, system: &KktSystem) -> Option<(IterativeOptions, bool)> {
        let size = system.n() + system.m();
        let (method, preconditioner, is_asked_for) = match self.wanted {
            Some(LinearSolver::Krylov {
                method,
                preconditioner,
            }) => (method, preconditioner, true),
            Some(LinearSolver::Auto) if size >= LEAST && !self.barred => {
                if system.check_bilateral().is_err() || !Prediction::is_compliant(system) {
                    return None;
                }
                (KrylovMethod::Cg, Preconditioner::Multilevel, false)
            }
            _ => return None,
        };
        let options = IterativeOptions {
            method: IterativeMethod::from(method),
            preconditioner: IterativePreconditioner::from(preconditioner),
            tolerance: TOLERANCE,
            max_iterations: if is_asked_for { 10_000 } else { 500 },
        };
        Some((options, is_asked_for))
    }

    /// Hands the tangent to the solver of a provider.
    fn prepare_provided(&mut self, provider: Provider, system: &KktSystem, by: By) -> Result<(), SolveError> {
        let kept = self.provided.take_if(|(of, _)| *of == provider);
        let (_, solver) = self
            .provided
            .insert(kept.unwrap_or_else(|| (provider, (provider.make)())));
        solver.set_tolerance(TOLERANCE);
        solver.set_purpose(match by {
            By::Factor => Purpose::Kind,
            By::Either => Purpose::Stationary,
        });
        solver.set_near_null_space(&self.motions);
        solver.prepare(system)?;
        if solver.hands_back() {
            return self.factor(system);
        }
        self.kind = solver.kind(system);
        self.tangent.clone_from(system);
        self.active = Active::Provided;
        Ok(())
    }

    fn factor(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.active = Active::Factor;
        self.kind = Some(self.stationary.prepare(system)?);
        Ok(())
    }

    /// The name of the solver of the tangent at hand, for reports.
    pub(crate) fn name(&self) -> &'static str {
        match (self.active, &self.provided) {
            (Active::Provided, Some((_, solver))) => solver.name(),
            (Active::Iterations, _) => self.iterative.name(),
            _ => "sparse L D L^T",
        }
    }

    /// The kind of the tangent, if it is counted by now.
    pub(crate) fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// An unknown without a pivot, if the tangent has a factor and is singular.
    pub(crate) fn unpivoted(&self, system: &KktSystem) -> Option<Variable> {
        match self.active {
            Active::Factor => self.kind.and_then(|_| self.stationary.unpivoted(system)),
            Active::Iterations | Active::Provided => None,
        }
    }

    /// Solves for `c` and `b` and returns the relative residual. Where iterations that nobody asked
    /// for fail, the tangent gets a factor, and has a kind from there.
    ///
    /// # Errors
    /// Those of the solvers; [`SolveError::NotPrepared`] without a matching `prepare`.
    pub(crate) fn solve(
        &mut self,
        system: &KktSystem,
        c: &[f64],
        b: &[f64],
        solution: &mut Solution,
    ) -> Result<f64, SolveError> {
        if self.active == Active::Factor {
            return self.stationary.solve(system, c, b, solution);
        }
        self.tangent.c.copy_from_slice(&c[..system.n()]);
        self.tangent.b.copy_from_slice(&b[..system.m()]);
        for (c, fixed) in self.tangent.c.iter_mut().zip(&system.fixed) {
            if *fixed {
                *c = 0.0;
            }
        }
        solution.x.clear();
        solution.mu.clear();
        let report = match (self.active, &mut self.provided) {
            (Active::Provided, Some((_, solver))) => {
                let report = solver.solve(&self.tangent, solution)?;
                if self.kind.is_some() {
                    // A factor is judged by who asked, also where it has no pivot for everything.
                    return Ok(report.residual.relative);
                }
                report
            }
            _ => self.iterative.solve(&self.tangent, solution)?,
        };
        // What stagnates near rounding is as good as what a factor finds.
        let good = report.status == Status::Converged || report.residual.relative <= TOLERANCE.sqrt();
        let is_asked_for = matches!(
            self.wanted,
            Some(LinearSolver::Krylov { .. } | LinearSolver::Provided(_))
        );
        if good || is_asked_for {
            return Ok(if good {
                report.residual.relative
            } else {
                f64::INFINITY
            });
        }
        self.barred = true;
        self.factor(system)?;
        self.stationary.solve(system, c, b, solution)
    }

    /// Looks for negative curvature of a tangent that has no kind, and counts it by a factor where
    /// there is some and nobody asked for iterations.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve).
    pub(crate) fn look_for_negative_modes(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        if self.active == Active::Factor || self.kind.is_some() {
            return Ok(());
        }
        let mut seed = 1u64;
        let anything: Vec<f64> = (0..system.n())
            .map(|i| system.w_diagonal(i).abs() * pseudo_random(&mut seed))
            .collect();
        let nothing = vec![0.0; system.m()];
        let missed = self.solve(system, &anything, &nothing, &mut Solution::default())?;
        if missed.is_infinite() {
            return match (self.active, self.wanted) {
                (Active::Provided, Some(LinearSolver::Provided(provider))) => {
                    self.prepare_provided(provider, system, By::Factor)
                }
                (Active::Iterations, _) => self.factor(system),
                _ => Ok(()),
            };
        }
        Ok(())
    }
}
