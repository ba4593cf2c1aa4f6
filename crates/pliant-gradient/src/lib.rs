//! Derivatives of steps and of rest, by the implicit function theorem.
//!
//! A step solves `R(z; x, v, p) = 0` for its end. Its derivative does not differentiate the
//! iterations that led there: it solves `R_z dz = -R_x dx - R_v dv - R_p dp` with the exact matrix
//! at the converged end, and the adjoint the transposed system, once for any number of inputs.
//!
//! [`StepDerivative`] has tangent and adjoint of one step, [`RestDerivative`] those of rest,
//! [`Family`] the dependence of a model on parameters. Trajectories are in the facade `pliant`,
//! which takes the steps. The crate takes no step and finds no equilibrium.

mod acceleration;
mod contact_family;
mod contact_way;
mod contacts;
mod deformed;
mod differences;
mod equations;
mod error;
mod family;
mod geometry;
mod implicit;
mod kinematics;
mod law;
mod laws;
mod linearised;
mod rest;
mod row_law;
mod solve;
mod staged;
mod step;
mod symmetric;
mod taken;
mod vibration;

pub use contact_family::{FamilyContacts, Member};
pub use contact_way::ContactWay;
pub use error::GradientError;
pub use family::{Family, MakeModel};
pub use rest::{RestDerivative, RestState};
pub use solve::SolveReport;
pub use step::StepDerivative;
pub use taken::{
    ActiveSet, ContactBranch, ContactIdentity, ContactMove, ContactNumbers, ContactPlace, ContactSample,
    PlacedContact, StageContact, StepBefore, StepWeights, TakenContact, TakenStages, TakenStep,
};
pub use vibration::{CriticalLoad, VibrationMode};

/// A direction in the space of states, or a gradient over it: one number for each independent
/// coordinate, of displacements (of bodies: translation in world axes, rotation in body axes) and
/// of velocities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateVector {
    /// Of displacements, n.
    pub x: Vec<f64>,
    /// Of velocities, n.
    pub v: Vec<f64>,
}

impl StateVector {
    /// The zero vector of `n` independent coordinates.
    pub fn zeros(n: usize) -> Self {
        Self {
            x: vec![0.0; n],
            v: vec![0.0; n],
        }
    }

    /// `self . other`.
    pub fn dot(&self, other: &Self) -> f64 {
        let of = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        of(&self.x, &other.x) + of(&self.v, &other.v)
    }

    /// Makes it the same as another one, in the room that it has.
    fn copy(&mut self, from: &Self) {
        self.x.clone_from(&from.x);
        self.v.clone_from(&from.v);
    }

    /// Makes it the zero vector of `n` independent coordinates.
    fn clear(&mut self, n: usize) {
        for list in [&mut self.x, &mut self.v] {
            list.clear();
            list.resize(n, 0.0);
        }
    }

    fn check(&self, n: usize) -> Result<(), GradientError> {
        check_length("displacements of a state vector", n, self.x.len())?;
        check_length("velocities of a state vector", n, self.v.len())
    }
}

/// Refuses a vector without its length.
///
/// # Errors
/// [`GradientError::Length`].
pub fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), GradientError> {
    match expected == found {
        true => Ok(()),
        false => Err(GradientError::Length {
            what,
            expected,
            found,
        }),
    }
}

/// Refuses an index of nothing.
///
/// # Errors
/// [`GradientError::Index`].
pub fn check_index(what: &'static str, index: usize, count: usize) -> Result<(), GradientError> {
    match index < count {
        true => Ok(()),
        false => Err(GradientError::Index { what, index, count }),
    }
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
