//! Solvers from outside the library.

use crate::NearNullSpace;
use pliant_solvers::{Kind, KktSolver, KktSystem};

/// A solver of whole systems that a program brings along, such as one over several processes. A
/// step and a search for rest call it in the place of their own ones.
///
/// Its answers are judged like those of every [`KktSolver`], by [`KktSystem::residual`] against the
/// matrices as given, and the same calls give the same bits.
pub trait ProvidedSolver: KktSolver + Sync {
    /// Largest relative residual (componentwise backward error) that counts as converged.
    fn set_tolerance(&mut self, tolerance: f64);

    /// Tells the motions that cost next to no energy, from the next
    /// [`prepare`](KktSolver::prepare) on.
    fn set_near_null_space(&mut self, motions: &NearNullSpace);

    /// Says what the coming systems are solved for.
    fn set_purpose(&mut self, purpose: Purpose);

    /// Whether the library's own factor is to solve the system that was prepared: because rows
    /// depend on each other, or nearly so, and their multipliers and what is truncated are to be
    /// those that it takes.
    fn hands_back(&self) -> bool {
        false
    }

    /// The kind of the system that was prepared, if the method counts eigenvalues.
    fn kind(&self, system: &KktSystem) -> Option<Kind>;
}

/// The caller's interest in an indefinite system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Steps: an indefinite `W` is refused where the method sees it, with
    /// [`SolveError::NotPositiveDefinite`](pliant_solvers::SolveError::NotPositiveDefinite).
    #[default]
    Minimum,
    /// Newton's method for rest: any solution counts, and so does its kind if the method tells it.
    Stationary,
    /// Newton's method for rest where the number of negative eigenvalues must be known: only a
    /// method that counts them will do.
    Kind,
}

/// Where a [`ProvidedSolver`] comes from.
#[derive(Clone, Copy)]
pub struct Provider {
    /// The name of the method, for errors. Providers of one name are the same.
    pub name: &'static str,
    /// Makes a solver without a plan.
    pub make: fn() -> Box<dyn ProvidedSolver>,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Provider").field(&self.name).finish()
    }
}

impl PartialEq for Provider {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Provider {}
