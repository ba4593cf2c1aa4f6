//! The contacts of a step in numbers, one by one and all together.

use super::{Contact, ContactKey, FrictionCoupling};
use pliant_solvers::complementarity::Method;

/// The contacts of a step in numbers. Of a step that was taken in parts, sums are of all parts,
/// residuals the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactsReport {
    /// Possible contacts.
    pub count: usize,
    /// Contacts with an impulse.
    pub active: usize,
    /// Active ones that slip.
    pub slipping: usize,
    /// Contacts that the search missed, and with which the step was taken again: a held body does
    /// not fall freely, and one that is hit stops.
    pub missed: usize,
    /// Residual of the law that was solved
    /// ([`friction_coupling`](ContactSolveReport::friction_coupling)), relative;
    /// [`ContactOptions::accuracy`](super::ContactOptions::accuracy) bounds it.
    pub residual: f64,
    /// De Saxcé's residual, that of Coulomb's law, relative; the same as
    /// [`residual`](Self::residual) with [`FrictionCoupling::Exact`].
    pub de_saxce: f64,
    /// [`residual`](Self::residual) in m/s.
    pub velocity_residual: f64,
    /// Largest overlap at the end of the step (m).
    pub overlap: f64,
    /// Work of all contact impulses over the step, `sum r . (u+ + u)/2` (J): negative where
    /// friction and impacts take energy.
    pub work: f64,
    /// Energy in compliant contacts at the end of the step, `sum phi^2/(2 C)` of those in overlap
    /// (J), part of the potential energy of the [`StepReport`](crate::StepReport). Without contacts
    /// between sleepers.
    pub stored: f64,
    /// Share of the coefficients of restitution that was used: below one where different ones at
    /// once would have made energy, or where friction jams what a joint guides, so that contacts
    /// have no solution with all of it.
    pub restitution: f64,
    /// The solver of their law and its work.
    pub solve: ContactSolveReport,
    /// Corrections of positions because of overlap, and of limits and ropes, also without contacts.
    pub corrections: OverlapReport,
    /// Elements that sleep.
    pub sleep: SleepReport,
}

impl ContactsReport {
    /// Takes in the report of the part of the step before this one.
    pub(crate) fn take_in(&mut self, earlier: &Self) {
        if earlier.residual > self.residual {
            (self.residual, self.velocity_residual) = (earlier.residual, earlier.velocity_residual);
        }
        self.de_saxce = self.de_saxce.max(earlier.de_saxce);
        self.missed += earlier.missed;
        self.work += earlier.work;
        self.restitution = self.restitution.min(earlier.restitution);
        self.solve.take_in(&earlier.solve);
        self.corrections.take_in(&earlier.corrections);
        self.sleep.stilled += earlier.sleep.stilled;
    }
}

impl ContactsReport {
    /// Adds the contacts at the end of a step of islands that were taken by themselves; sums of the
    /// work and the worse residual are as of [`take_in`](Self::take_in).
    pub(crate) fn add_islands(&mut self, others: &Self) {
        self.count += others.count;
        self.active += others.active;
        self.slipping += others.slipping;
        self.stored += others.stored;
        self.overlap = self.overlap.max(others.overlap);
        self.solve.islands += others.solve.islands;
        self.solve.settled += others.solve.settled;
    }
}

/// The solver of the contacts of a step and its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContactSolveReport {
    /// The law that was solved.
    pub friction_coupling: FrictionCoupling,
    /// The method that found the answer, of the island that took most iterations.
    pub method: Option<Method>,
    /// Iterations, of all methods that were tried.
    pub iterations: usize,
    /// Operations of these methods, with those of the corrections of overlap, by count
    /// ([`WorkLimits::contact_operations`](crate::WorkLimits::contact_operations)).
    pub operations: u64,
    /// Groups of elements that contacts and constraints connect.
    pub islands: usize,
    /// Islands for which the forces of the last step were the answer.
    pub settled: usize,
    /// Impacts that were taken one by one ([`Impacts::InSequence`](super::Impacts::InSequence)).
    pub impacts: usize,
    /// Impacts that ended parts of the step
    /// ([`ContactOptions::locate_impacts`](super::ContactOptions::locate_impacts)).
    pub located: usize,
    /// Rests of such steps that were taken as others are, with the impacts in them: behind sixteen
    /// located ones, or where a part had no solution.
    pub passed: usize,
    /// Steps that were taken in halves
    /// ([`ContactOptions::halvings`](super::ContactOptions::halvings)).
    pub halvings: usize,
    /// Steps that took the law in place of the one that they have no solution with
    /// ([`ContactOptions::friction_fallback`](super::ContactOptions::friction_fallback)).
    pub fallbacks: usize,
}

impl ContactSolveReport {
    fn take_in(&mut self, earlier: &Self) {
        self.iterations += earlier.iterations;
        self.operations += earlier.operations;
        self.impacts += earlier.impacts;
        self.located += earlier.located;
        self.passed += earlier.passed;
        self.halvings += earlier.halvings;
        self.fallbacks += earlier.fallbacks;
        if earlier.fallbacks > 0 {
            self.friction_coupling = earlier.friction_coupling;
        }
    }
}

/// Corrections of positions that take back overlap, and what limits and ropes are beyond, and their
/// energy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OverlapReport {
    /// Corrections.
    pub count: usize,
    /// Potential energy that they brought in (J), mostly by lifting.
    pub lifted: f64,
    /// The part of it that was taken from the kinetic energy of the lifted bodies (J). The rest
    /// comes out of the energy that the step lost otherwise; of overlap that the state was set with
    /// it is new.
    pub paid: f64,
    /// The most that a correction would have brought in beyond what motion can give and the step
    /// lost (J): it went less far instead, and some overlap stays.
    pub held_back: f64,
    /// The contact that lifted most, by its sides
    /// (`Simulation::contact_side`).
    pub lifted_by: Option<[u32; 2]>,
    /// Corrections without a solution, because hard rows do not let the bodies apart, or one that
    /// was not found: they move nothing, and the overlap stays.
    pub unsolved: usize,
    /// The contact that missed most in one of these, by its sides.
    pub unsolved_by: Option<[u32; 2]>,
}

impl OverlapReport {
    fn take_in(&mut self, earlier: &Self) {
        self.count += earlier.count;
        if earlier.lifted > self.lifted {
            self.lifted_by = earlier.lifted_by;
        }
        self.lifted += earlier.lifted;
        self.paid += earlier.paid;
        self.held_back = self.held_back.max(earlier.held_back);
        self.unsolved += earlier.unsolved;
        self.unsolved_by = self.unsolved_by.or(earlier.unsolved_by);
    }
}

/// Elements that sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SleepReport {
    /// Elements that sleep at the end of the step.
    pub asleep: usize,
    /// Kinetic energy that those lost which fell asleep at its end (J).
    pub stilled: f64,
}

/// The branch of its law that a contact is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactState {
    /// No impulse.
    Open,
    /// An impulse, and no slip.
    Sticking,
    /// An impulse on the cone, and slip.
    Slipping,
}

/// One contact of the last step, or of an equilibrium: with forces for impulses, and the way
/// slipped while the load changed for the velocity, as of a step of 1 s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactReading {
    /// The contact with its gap at the start of the step, and its law. With SDIRK2 its point and
    /// normal are those expected at the end of the step where they turn.
    pub contact: Contact,
    /// Impulse over the step on the second side, world axes (N s); the first has its opposite.
    pub impulse: [f64; 3],
    /// Angular impulse of its resistance to spin and rolling on the second side (N m s).
    pub torque_impulse: [f64; 3],
    /// Velocity of the second point against the first at the end of the step, world axes (m/s).
    pub velocity: [f64; 3],
    /// The branch of its law.
    pub state: ContactState,
}

/// A contact has begun or ended to carry an impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactEvent {
    /// In this step, not in the one before.
    Begun(ContactKey),
    /// In the step before, not in this one.
    Ended(ContactKey),
}
