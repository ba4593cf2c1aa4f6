//! How steps are taken.

use crate::certificate::{Accuracy, Tolerances};
use crate::contact::{ContactOptions, FrictionCoupling, Impacts, Overlap, Restitution, Sleeping};
use crate::integrator::{Integrator, NewtonOptions};
use crate::{Error, WorkLimits};
use pliant_kkt::{GeometricTerms, Metric, Scheme};
use pliant_krylov::Provider;
use pliant_model::{ComponentId, Level, Problem};
use pliant_solvers::{BoxOptions, DirectOptions};
use std::sync::Arc;

/// The treatment of the torque `-w x I w` of spinning bodies. (That of rigid masses on mapped
/// frames is always explicit.)
///
/// **Equation.** `I dw/dt = -w x I w + tau` in body axes; before the linear system the spin `w`
/// (rad/s) becomes `w*`, over the step `h` (s).
///
/// **Use.** `BodyPredictor` unless a free body must keep its angular momentum to rounding
/// (`Momentum`); the others are to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "gyroscopic")
)]
pub enum Gyroscopic {
    /// Left out, `w* = w`: bodies keep their body-axes angular velocity. Wrong for spinning bodies;
    /// for comparison only.
    None,
    /// At the start of the step: `I (w* - w) = -h w x I w`.
    Explicit,
    /// At the start of the step, with the linearised change over the step in the system: for the
    /// change `dw` of the step `I dw = -h w x I w - h alpha (w x I dw + dw x I w) + h tau`.
    /// Unsymmetric, solved by iterating on the symmetric part. An error where `h` times the spin is
    /// too large for that to converge.
    LinearlyImplicit,
    /// Ahead of the linear system, so that a free body keeps its angular momentum in space to
    /// rounding: `exp(h u) I w* = I w` with `u = beta w* + (1 - beta) w`.
    Momentum,
    /// Implicit in body axes, `I (w* - w) + h w* x I w* = 0`, one 3 x 3 Newton iteration per body
    /// ahead of the linear system. Stable for fast spin.
    #[default]
    BodyPredictor,
}

/// A correction of positions onto the hard constraints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stabilisation {
    /// Metric of the displacement that is minimised.
    pub metric: Metric,
    /// Gauss-Newton iterations at most; each assembles and factors again.
    pub iterations: usize,
    /// Stop when no hard constraint is violated by more [m, rad].
    pub tolerance: f64,
}

impl Default for Stabilisation {
    fn default() -> Self {
        Self {
            metric: Metric::Mass,
            iterations: 20,
            tolerance: 1e-12,
        }
    }
}

/// The linear solver of a step. All are judged by the
/// same residual ([`StepReport::residual`](crate::StepReport::residual)), and one that misses the
/// tolerance is an error like any other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "linear")
)]
#[non_exhaustive]
pub enum LinearSolver {
    /// By counted work, never by time: a factor, or conjugate gradients where there are thousands
    /// of unknowns, every row is compliant or there is none, and their iterations cost less, also
    /// for the responses of few contacts. The report names the method.
    #[default]
    Auto,
    /// A sparse factor `L D L^T` of the whole matrix, with iterative refinement: takes everything,
    /// redundant rows included.
    Direct,
    /// A Krylov method with a preconditioner. Rows of contacts and of bounded force cost a solve
    /// each.
    Krylov {
        /// The method.
        #[cfg_attr(feature = "serde", serde(default))]
        method: KrylovMethod,
        /// The preconditioner.
        #[cfg_attr(feature = "serde", serde(default))]
        preconditioner: Preconditioner,
    },
    /// Dense Cholesky factors of `W` and of the Schur complement: for systems of some hundred
    /// unknowns, and to compare with.
    DenseCholesky,
    /// A solver that the program brings along: for bilateral rows. Systems with contacts and with
    /// rows of bounded force are solved as by [`Direct`](Self::Direct), which the report names.
    /// Scene files cannot name it.
    #[cfg_attr(feature = "serde", serde(skip))]
    Provided(Provider),
}

impl LinearSolver {
    /// A Krylov method with a preconditioner.
    pub fn krylov(method: KrylovMethod, preconditioner: Preconditioner) -> Self {
        Self::Krylov {
            method,
            preconditioner,
        }
    }

    /// Its name, for errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "the automatic choice",
            Self::Direct => "the direct solver",
            Self::Krylov { method, .. } => method.name(),
            Self::DenseCholesky => "the dense Cholesky factor",
            Self::Provided(provider) => provider.name,
        }
    }

    /// Whether it solves with contacts and rows of bounded force.
    pub(crate) fn takes_everything(self) -> bool {
        matches!(self, Self::Auto | Self::Direct | Self::Provided(_))
    }
}

/// A Krylov method for the linear systems of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "method")
)]
#[non_exhaustive]
pub enum KrylovMethod {
    /// Conjugate gradients: on `W + J^T R^-1 J` where every row is compliant or there is none, else
    /// projected to the rows. For `W` that is positive definite on the null space of the hard rows.
    #[default]
    Cg,
    /// MINRES on the whole matrix.
    Minres,
    /// GMRES on the whole matrix.
    Gmres,
}

impl KrylovMethod {
    fn name(self) -> &'static str {
        match self {
            Self::Cg => "the conjugate gradient method",
            Self::Minres => "MINRES",
            Self::Gmres => "GMRES",
        }
    }
}

/// The preconditioner of an iterative linear solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "preconditioner")
)]
#[non_exhaustive]
pub enum Preconditioner {
    /// The diagonal of `W`.
    Diagonal,
    /// The diagonal blocks of `W`, with the Schur complement of the rows that they give.
    #[default]
    Blocks,
    /// An incomplete Cholesky factor of `W + J^T R^-1 J`: for conjugate gradients without hard rows
    /// only.
    IncompleteCholesky,
    /// Smoothed aggregation with the motions as a rigid body, whose iterations hardly depend on the
    /// number of unknowns: for conjugate gradients and MINRES, which takes their place where there
    /// are hard rows; for `W` that is positive definite.
    Multilevel,
}

/// How rows of bounded force are solved, beside the direct solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "bounded_rows")
)]
#[non_exhaustive]
pub enum BoundedRows {
    /// By an active set, whose answer is that of a linear system.
    #[default]
    ActiveSet,
    /// By projected Gauss-Seidel sweeps over the condensed rows.
    GaussSeidel,
}

/// A millionth of a step.
const MOST_HALVINGS: usize = 20;

/// How steps are taken. The default is [`Integrator::Sdirk2`], of second order from soft to hard,
/// which hardly damps; [`theta`](Self::theta) takes one linear system per step, damps, and is a
/// quarter to a sixth as dear. Options that the chosen method would pass over are an error of its
/// first step.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The method.
    pub integrator: Integrator,
    /// Weight of the end of the step in forces, in `(0, 1]`, for [`Integrator::Theta`] and
    /// [`Integrator::Nonlinear`].
    pub alpha: f64,
    /// Weight of the end of the step in velocities, likewise.
    pub beta: f64,
    /// Components with an alpha of their own.
    pub own_alpha: Vec<(ComponentId, f64)>,
    /// Geometric stiffness.
    pub geometry: GeometricTerms,
    /// Spinning bodies.
    pub gyroscopic: Gyroscopic,
    /// Correct positions before each step.
    pub pre_stabilisation: Option<Stabilisation>,
    /// Correct positions after each step.
    pub post_stabilisation: Option<Stabilisation>,
    /// The linear solver.
    pub linear: LinearSolver,
    /// How rows of bounded force are solved.
    pub bounded_rows: BoundedRows,
    /// Contacts.
    pub contacts: ContactOptions,
    /// Whether a step stands that is solved but makes energy; `None` leaves it to the method. Steps
    /// of SDIRK2 are certified with [`Tolerances::default`], those of other methods, and with
    /// couplings of friction that open and close contacts in every step, with
    /// [`Tolerances::SINCE_START`]. Linear steps, which are solved once and not iterated, are
    /// measured.
    pub accuracy: Option<Accuracy>,
    /// Take a step even if it did not converge or constraints contradict; the report says so.
    pub accept_failed_steps: bool,
    /// Take the numerical part of the ledger of linear steps apart
    /// ([`Ledger::parts`](crate::Ledger::parts)), which makes a step about a tenth longer, of a net
    /// of compliant threads three quarters (`docs/lab/integrators.md`); without, the default, all of it
    /// is `undivided`. Runs of scenes do.
    pub numerical_parts: bool,
    /// Tolerances and limits of the solvers.
    pub tuning: Tuning,
}

/// Tolerances and limits of the solvers of a step. The defaults are meant for all models; the keys
/// of a scene file are in the appendix of the reference of scenes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// How nonlinear equations are solved, if the method has any.
    pub newton: NewtonOptions,
    /// Linear solves per step at most. The geometric stiffness of hard rows is made of the
    /// multipliers of the last step; where one changes by more than half of the largest, the step
    /// is solved again with the new ones. 1 never does.
    pub geometry_passes: usize,
    /// Where the geometric stiffness makes `W` indefinite on the constraints (compression beyond
    /// what the mass carries in a step), replace it by its absolute value for that step, and say so
    /// in the report. Otherwise that is an error.
    pub clamp_geometry: bool,
    /// Tolerances of the linear solver; of iterative ones, the tolerance alone counts.
    pub solver: DirectOptions,
    /// Tolerances and limits of the active set, where rows have bounded forces. (Its linear
    /// tolerances are those above.)
    pub bounds: BoxOptions,
    /// Counts of work beyond which a step is halved, or an error.
    pub work: WorkLimits,
    /// One linear step in so many is measured: what its end misses of the nonlinear equations is in
    /// [`StepSolveReport::linearisation`](crate::StepSolveReport::linearisation). A measure costs
    /// about half a step; 0 for none.
    pub linearisation_samples: u32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            newton: NewtonOptions::default(),
            geometry_passes: 2,
            clamp_geometry: true,
            solver: DirectOptions::default(),
            bounds: BoxOptions::default(),
            work: WorkLimits::default(),
            linearisation_samples: 16,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            integrator: Integrator::default(),
            alpha: 1.0,
            beta: 1.0,
            own_alpha: Vec::new(),
            geometry: GeometricTerms::default(),
            gyroscopic: Gyroscopic::default(),
            pre_stabilisation: None,
            post_stabilisation: None,
            linear: LinearSolver::default(),
            bounded_rows: BoundedRows::default(),
            contacts: ContactOptions::default(),
            accuracy: None,
            accept_failed_steps: false,
            numerical_parts: false,
            tuning: Tuning::default(),
        }
    }
}

/// Weights of the end of a step in its forces and in its displacements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    pub(crate) alpha: f64,
    /// Of the velocity of the end in the displacement (none).
    pub beta: f64,
}

impl Weights {
    /// Both at the end of the step.
    pub const END: Self = Self {
        alpha: 1.0,
        beta: 1.0,
    };
}

impl Options {
    /// The linearly implicit theta method: one linear system per step, of first order. With the
    /// weights 1 that it begins with it is implicit Euler with full geometric stiffness: nothing
    /// taut blows up, and motion is damped.
    pub fn theta() -> Self {
        Self {
            integrator: Integrator::Theta,
            ..Self::default()
        }
    }

    /// The linear trapezoidal rule, the theta method with weights 1/2: second order where the model
    /// is linear, no damping of its own.
    pub fn trapezoidal() -> Self {
        Self {
            alpha: 0.5,
            beta: 0.5,
            ..Self::theta()
        }
    }

    /// The share of a step after which inputs that are set once per step
    /// (`Simulation::set_input`) best have their value: 1 where the equations are those of its end,
    /// 1/2 for methods between both ends, 0 for those of its start.
    pub fn when_inputs_act(&self) -> f64 {
        self.when_inputs_act_with(self.weights())
    }

    /// [`when_inputs_act`](Self::when_inputs_act) with other weights.
    pub fn when_inputs_act_with(&self, weights: Weights) -> f64 {
        match &self.integrator {
            Integrator::Theta | Integrator::Nonlinear => weights.alpha,
            Integrator::Implicit(method) => method.weight(),
            Integrator::Sdirk2
            | Integrator::EnergyMomentum
            | Integrator::Rattle
            | Integrator::Rattle4
            | Integrator::Rattle6
            | Integrator::RungeKutta2
            | Integrator::RungeKutta4 => 0.5,
            Integrator::SymplecticEuler | Integrator::ForwardEuler => 0.0,
        }
    }

    /// The order of the method for smooth motion: errors at the end of a run fall with this power
    /// of the step. Of the theta method it is one with any weights, for hard rows and spinning
    /// bodies; without these it has order 2 at (1/2, 1/2).
    pub fn order(&self) -> usize {
        self.order_with(self.weights())
    }

    /// [`order`](Self::order) with other weights.
    pub fn order_with(&self, weights: Weights) -> usize {
        match &self.integrator {
            Integrator::Theta | Integrator::SymplecticEuler | Integrator::ForwardEuler => 1,
            Integrator::Nonlinear if weights.alpha == 0.5 && weights.beta == 0.5 => 2,
            Integrator::Nonlinear => 1,
            Integrator::Implicit(method) => method.order().max(1),
            Integrator::Sdirk2
            | Integrator::EnergyMomentum
            | Integrator::Rattle
            | Integrator::RungeKutta2 => 2,
            Integrator::Rattle6 => 6,
            Integrator::Rattle4 | Integrator::RungeKutta4 => 4,
        }
    }

    /// Tolerances of the energy of a step; `None` if it is measured only.
    pub fn tolerances(&self) -> Option<Tolerances> {
        match (self.accuracy, &self.integrator) {
            (Some(Accuracy::Certified(tolerances)), _) => Some(tolerances),
            (Some(Accuracy::Measured), _) | (None, Integrator::Theta) => None,
            (None, Integrator::Sdirk2) if self.contacts.friction_coupling == FrictionCoupling::Exact => {
                Some(Tolerances::default())
            }
            (None, _) => Some(Tolerances::SINCE_START),
        }
    }

    /// Largest relative residual of the equations that Newton's method solves.
    pub(crate) fn newton_tolerance(&self) -> f64 {
        let newton = &self.tuning.newton;
        match self.integrator {
            Integrator::Sdirk2 => newton.stage_tolerance,
            _ => newton.tolerance,
        }
    }

    /// Options of the direct solver for the systems of a step. A step that is solved once has no
    /// next iterate to mend what refinement leaves.
    pub(crate) fn step_solver(&self) -> DirectOptions {
        match self.integrator {
            Integrator::Theta => self.last_solver(),
            _ => self.tuning.solver,
        }
    }

    /// Options of the direct solver for systems whose solution is the last word.
    pub(crate) fn last_solver(&self) -> DirectOptions {
        DirectOptions {
            chooses_pivots: true,
            ..self.tuning.solver
        }
    }

    /// The weights of the options.
    pub fn weights(&self) -> Weights {
        Weights {
            alpha: self.alpha,
            beta: self.beta,
        }
    }

    /// The scheme of a step of length `h` with given weights, checked.
    pub fn write_scheme(
        &self,
        model: &Problem,
        h: f64,
        weights: Weights,
        scheme: &mut Scheme,
    ) -> Result<(), Error> {
        if !(h.is_finite() && h > 0.0) {
            return Err(Error::OutOfRange {
                what: "the time step",
                value: h,
                bound: "positive and finite",
            });
        }
        let both = [("alpha", weights.alpha), ("beta", weights.beta)];
        let own = self
            .own_alpha
            .iter()
            .map(|(_, a)| ("the alpha of a component", *a));
        for (what, value) in both.into_iter().chain(own) {
            if !(value > 0.0 && value <= 1.0) {
                return Err(Error::OutOfRange {
                    what,
                    value,
                    bound: "in (0, 1]",
                });
            }
        }
        for (component, alpha) in &self.own_alpha {
            if !matches!(component, ComponentId::ForceField(i) if *i < model.force_fields().len()) {
                let bound = "given to a force field of the model";
                return Err(Error::OutOfRange {
                    what: "the alpha of a component",
                    value: *alpha,
                    bound,
                });
            }
        }
        let DirectOptions {
            tolerance,
            rank_threshold,
            incompatibility,
            ..
        } = self.tuning.solver;
        if !(rank_threshold > 0.0 && rank_threshold < 1.0) {
            let bound = "between 0 and 1";
            return Err(Error::OutOfRange {
                what: "the rank threshold",
                value: rank_threshold,
                bound,
            });
        }
        for (what, value) in [
            ("the tolerance", tolerance),
            ("the incompatibility tolerance", incompatibility),
            ("the tolerance of bounded forces", self.tuning.bounds.tolerance),
            ("the accuracy of contacts", self.contacts.accuracy),
            ("the tolerance of Newton's method", self.tuning.newton.tolerance),
            ("the tolerance of a stage", self.tuning.newton.stage_tolerance),
            (
                "the share of velocities of a stage",
                self.tuning.newton.stage_share,
            ),
            ("the loss of energy of a step", self.tuning.newton.energy_loss),
        ] {
            if value.is_nan() {
                return Err(Error::OutOfRange {
                    what,
                    value,
                    bound: "a number",
                });
            }
        }
        if let Some(Accuracy::Certified(Tolerances {
            gain,
            passive_gain,
            since_start,
        })) = self.accuracy
            && let Some(value) = [gain, passive_gain, since_start]
                .into_iter()
                .find(|v| v.is_nan() || *v <= 0.0)
        {
            let what = "a tolerance of the energy of a step";
            let bound = "positive";
            return Err(Error::OutOfRange { what, value, bound });
        }
        let newton = &self.tuning.newton;
        for halvings in [self.contacts.halvings, newton.halvings, newton.stage_halvings] {
            if halvings > MOST_HALVINGS {
                return Err(Error::OutOfRange {
                    what: "the number of halvings of a step",
                    value: halvings as f64,
                    bound: "at most 20",
                });
            }
        }
        let [coupling, _] = self.contacts.couplings();
        if coupling != FrictionCoupling::Exact {
            let what = match (self.contacts.impacts, self.contacts.restitution) {
                (Impacts::InSequence, _) => Some("impacts in sequence"),
                (_, Restitution::Poisson) => Some("Poisson's law of impact"),
                _ => None,
            };
            if let Some(what) = what {
                let what = what.to_owned();
                return Err(Error::FrictionCoupling { coupling, what });
            }
        }
        let of_overlap = match self.contacts.overlap {
            Overlap::Keep => [0.0; 2],
            Overlap::Correct { allowed, speed } => [allowed, speed],
            Overlap::Rows { rate, speed } => [rate, speed],
        };
        if let Some(value) = of_overlap.into_iter().find(|v| v.is_nan() || *v < 0.0) {
            let what = "a number of the treatment of overlap";
            let bound = "not negative";
            return Err(Error::OutOfRange { what, value, bound });
        }
        if let Some(Sleeping { speed, spin, time }) = self.contacts.sleeping
            && let Some(value) = [speed, spin, time]
                .into_iter()
                .find(|v| !(*v >= 0.0 && v.is_finite()))
        {
            let what = "a threshold of sleep";
            let bound = "finite and not negative";
            return Err(Error::OutOfRange { what, value, bound });
        }
        for constraint in model.constraints() {
            if let Level::Baumgarte { rate } = constraint.component.level
                && rate * h >= 2.0
            {
                return Err(Error::Baumgarte {
                    constraint: constraint.name.clone(),
                    product: rate * h,
                });
            }
        }
        scheme.h = h;
        scheme.alpha = weights.alpha;
        scheme.beta = weights.beta;
        if *scheme.own_alpha != *self.own_alpha {
            scheme.own_alpha = Arc::from(&self.own_alpha[..]);
        }
        scheme.geometry = self.geometry;
        scheme.velocity_rows = self.pre_stabilisation.is_some() || self.post_stabilisation.is_some();
        Ok(())
    }
}
