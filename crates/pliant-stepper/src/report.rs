//! Report of a step.

use crate::Ledger;
use crate::certificate::Certificate;
use crate::contact::ContactsReport;
use pliant_model::{Energies, Momentum};
use pliant_solvers::{BoundsReport, KktResidual, SolverCounters, Status, Variable};
use std::ops::AddAssign;
use std::time::Duration;

/// Work done since the simulation was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Steps taken.
    pub steps: usize,
    /// Plans of the assembly: one per simulation.
    pub plans: usize,
    /// Work of the linear solver, and of the linear solvers of the islands of contacts.
    pub solver: SolverCounters,
}

/// Where the time of a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Forces, Jacobians and assembly.
    pub fill: Duration,
    /// Ordering (first step) and numeric factorisation.
    pub factor: Duration,
    /// Solve and refinement.
    pub solve: Duration,
    /// Stabilisation of positions.
    pub stabilise: Duration,
    /// Finding contacts, before the step and after it, those that nobody foresaw among them, and
    /// taking overlap back.
    pub contacts: Duration,
    /// Update, mapping of positions, energies.
    pub update: Duration,
    /// Attempts at the step that do not stand, since it was taken again with contacts that had been
    /// missed or in halves, and whatever lies between the phases.
    pub rejected: Duration,
}

impl Timings {
    /// The sum.
    pub fn total(&self) -> Duration {
        self.fill + self.factor + self.solve + self.stabilise + self.contacts + self.update + self.rejected
    }
}

impl AddAssign for Timings {
    fn add_assign(&mut self, other: Self) {
        self.fill += other.fill;
        self.factor += other.factor;
        self.solve += other.solve;
        self.stabilise += other.stabilise;
        self.contacts += other.contacts;
        self.update += other.update;
        self.rejected += other.rejected;
    }
}

/// Iterations of Newton's method, where it solved the step ([`Integrator`](crate::Integrator)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewtonReport {
    /// Linear systems solved.
    pub iterations: usize,
    /// Halvings of Newton's steps by the line search.
    pub halvings: usize,
    /// Halvings of the time step.
    pub step_halvings: usize,
}

impl AddAssign for NewtonReport {
    fn add_assign(&mut self, other: Self) {
        self.iterations += other.iterations;
        self.halvings += other.halvings;
        self.step_halvings += other.step_halvings;
    }
}

/// The part of the nonlinear equations of the same weights that the end of a linear step misses,
/// which Newton's method would solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linearisation {
    /// Size of the velocities that the missing parts ask for, equation by equation, as a share of
    /// the velocities at both ends: the root of the ratio of their energies in the metric of the
    /// step.
    pub share: f64,
    /// The equation with the largest part of it, if any is missed.
    pub equation: Option<Variable>,
}

impl Linearisation {
    /// The larger of two, of which either may not have been measured.
    pub fn larger(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) if b.share <= a.share => Some(a),
            (a, b) => b.or(a),
        }
    }
}

/// The solver of a step's equations, its work, and changes that it made to the tangent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepSolveReport {
    /// The linear solver that took the step.
    pub solver: &'static str,
    /// Iterations of an iterative solver; zero for factors.
    pub iterations: usize,
    /// Steps of iterative refinement.
    pub refinements: usize,
    /// Redundant hard rows: pivots that were dropped.
    pub redundant_rows: usize,
    /// Positive and negative pivots.
    pub inertia: (usize, usize),
    /// Newton's method; all zero for the theta method.
    pub newton: NewtonReport,
    /// Iterations of the position corrections, before and after.
    pub corrections: (usize, usize),
    /// Linear solves of the step: more than one where a multiplier changed so much that the
    /// geometric stiffness was made anew.
    pub geometry_passes: usize,
    /// Stages that SDIRK2 took the step in: two, or one across an impact and where two have no
    /// solution, which is of order 1; zero for other methods.
    pub stages: usize,
    /// The largest estimated error that the iteration of such a stage left in the velocities, as a
    /// share of the largest; zero where the residual alone ended it, and for other methods.
    pub velocity_error: f64,
    /// Whether the geometric stiffness had to be replaced by its absolute value to keep `W`
    /// positive definite; in an iteration, or the diagonal shifted, which changes its steps and not
    /// the solution.
    pub geometry_clamped: bool,
    /// Elements (points of solids) whose tangent was indefinite and taken with its positive part,
    /// as their material was asked to: at the start of a linear step, at the end of one by Newton's
    /// method.
    pub projected_tangents: usize,
    /// The part of the nonlinear equations that a linear step misses, where it was measured
    /// ([`Tuning::linearisation_samples`](crate::Tuning::linearisation_samples)).
    pub linearisation: Option<Linearisation>,
    /// Kinetic energy that hard rows took before the first step of a motion, from velocities of its
    /// start that contradict them (J). Zero where rows change within a motion: what they take then
    /// is in `impacts` of the [`Ledger`] alone.
    pub projected: f64,
}

impl StepSolveReport {
    /// Takes in the report of the part of the step before this one.
    fn take_in(&mut self, earlier: &Self) {
        self.refinements += earlier.refinements;
        self.newton += earlier.newton;
        self.corrections.0 += earlier.corrections.0;
        self.corrections.1 += earlier.corrections.1;
        self.geometry_passes += earlier.geometry_passes;
        self.stages = self.stages.min(earlier.stages);
        self.velocity_error = self.velocity_error.max(earlier.velocity_error);
        self.geometry_clamped |= earlier.geometry_clamped;
        self.projected_tangents = self.projected_tangents.max(earlier.projected_tangents);
        self.linearisation = Linearisation::larger(self.linearisation, earlier.linearisation);
        self.projected += earlier.projected;
    }
}

/// The report of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// Time at the end of the step (s).
    pub time: f64,
    /// Length of the step (s).
    pub h: f64,
    /// How the linear solve ended.
    pub status: Status,
    /// Misses of the end of the step, part by part.
    pub certificate: Certificate,
    /// Residual of the KKT system: primal and row in units of velocity, relative as backward error.
    /// The relative one is that of the system as solved: where redundant rows contradicted each
    /// other, of the compromise. Of nonlinear equations it is what they miss themselves, as a share
    /// of the size of their terms.
    pub residual: KktResidual,
    /// Largest violation of a hard constraint at the end of the step [m, rad].
    pub violation: f64,
    /// The solver of the equations and its work.
    pub solve: StepSolveReport,
    /// Rows of bounded force: natural-map residual as a velocity, how many are at a bound, changes
    /// of the set.
    pub bounds: BoundsReport,
    /// Contacts: residual, how many carry a force, overlap, work.
    pub contacts: ContactsReport,
    /// Energies at the end of the step; the potential one has that of compliant contacts
    /// ([`ContactsReport::stored`]), which [`Problem::energies`](pliant_model::Problem::energies)
    /// does not know.
    pub energies: Energies,
    /// Energy taken out by damping forces since the start (J). The rest of the balance is in the
    /// ledger.
    pub dissipated: f64,
    /// Energy balance of the step, by cause.
    pub ledger: Ledger,
    /// Momentum at the end of the step.
    pub momentum: Momentum,
    /// Work so far.
    pub counters: Counters,
    /// Time spent.
    pub timings: Timings,
}

impl StepReport {
    /// Takes in the report of the part of the step before this one: sums of the work, the worse
    /// residual; the end is that of this part.
    pub fn take_in(&mut self, earlier: &Self) {
        self.h += earlier.h;
        if earlier.residual.relative > self.residual.relative {
            (self.residual, self.status) = (earlier.residual, earlier.status);
        }
        self.solve.take_in(&earlier.solve);
        self.contacts.take_in(&earlier.contacts);
        self.ledger += earlier.ledger;
        self.certificate.take_in(&earlier.certificate, &self.ledger);
        self.timings += earlier.timings;
    }
}

impl StepReport {
    /// Adds the report of islands that took the same step by themselves, before these: sums of the
    /// work, the worse residual. `energies` and `momentum` are those of all at the end.
    pub fn add_islands(&mut self, others: &Self, energies: Energies, momentum: Momentum) {
        let (h, rows) = (self.h, self.certificate.rows);
        self.take_in(others);
        self.contacts.add_islands(&others.contacts);
        (self.h, self.certificate.rows) = (h, rows);
        (self.energies, self.momentum) = (energies, momentum);
    }
}

/// Result of a search for an equilibrium.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EquilibriumReport {
    /// The linear solver of the last tangent; empty after dynamic relaxation, which has none.
    pub solver: &'static str,
    /// Iterations of Newton's method, steps of the flow and of relaxation.
    pub iterations: usize,
    /// How many of them were steps of the pseudo-static flow.
    pub flow_steps: usize,
    /// Tangents factored.
    pub factorisations: usize,
    /// Largest force that is missing, as a share of the size of the terms of its equation; of rows,
    /// deformations.
    pub residual: f64,
    /// Largest violation of a hard row that acts [m, rad], gap of a contact that is active or
    /// overlap of one that does not.
    pub violation: f64,
    /// Negative eigenvalues of the tangent on the constraints: 0 where the equilibrium is stable,
    /// else it is a saddle. `None` if the tangent was not factored, in dynamic relaxation, where
    /// contacts are active (how curved surfaces roll on each other is not in the tangent), and
    /// where [`projected_tangents`](Self::projected_tangents) is not zero.
    pub negative_modes: Option<usize>,
    /// Directions in which nothing resists and nothing pushes: mechanisms, free rigid motion.
    pub free_modes: usize,
    /// Hard rows that depend on others.
    pub redundant_rows: usize,
    /// Contacts that carry a force.
    pub contacts: usize,
    /// Elements whose tangent is indefinite there and was taken with its positive part, as their
    /// material was asked to. The equilibrium is none the less one.
    pub projected_tangents: usize,
}

impl EquilibriumReport {
    /// Whether every small displacement is resisted, but for those in which nothing resists.
    pub fn is_stable(&self) -> bool {
        self.negative_modes == Some(0)
    }
}

/// Parameter that a path is followed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "control")
)]
pub enum Control {
    /// The load factor: stops at limit points. With contacts each step is an increment, with
    /// friction against the way slipped in it, and critical points are not looked for.
    Load,
    /// The arc length in displacements and load together (pseudo-arclength, Keller 1977; Riks
    /// 1979): passes limit points of the load and turning points of the displacements. Both are
    /// weighted so that they are equal where the path begins. Contacts without friction only.
    #[default]
    ArcLength,
}
