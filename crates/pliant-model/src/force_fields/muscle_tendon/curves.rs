//! The choice of the curves.

use super::{millard, thelen};

/// Whose curves: forces as shares of the largest isometric force, lengths of the fibre as shares of
/// its optimal length. Each curve gives its value and its slope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curves {
    Thelen,
    Millard,
}

impl Curves {
    pub(super) fn active(self, n: f64) -> (f64, f64) {
        match self {
            Self::Thelen => thelen::active(n),
            Self::Millard => millard::active(n),
        }
    }

    /// The integral of the active curve from its start.
    pub(super) fn active_energy(self, n: f64) -> f64 {
        match self {
            Self::Thelen => thelen::active_energy(n),
            Self::Millard => millard::active_energy(n),
        }
    }

    pub(super) fn passive(self, n: f64) -> (f64, f64) {
        match self {
            Self::Thelen => thelen::passive(n),
            Self::Millard => millard::passive(n),
        }
    }

    /// The integral of the passive curve from optimal length.
    pub(super) fn passive_energy(self, n: f64) -> f64 {
        match self {
            Self::Thelen => thelen::passive_energy(n),
            Self::Millard => millard::passive_energy(n),
        }
    }

    /// Over the strain of the tendon as a share of that at the largest isometric force.
    pub(super) fn tendon(self, x: f64) -> (f64, f64) {
        match self {
            Self::Thelen => thelen::tendon(x),
            Self::Millard => millard::tendon(x),
        }
    }

    /// The integral of that.
    pub(super) fn tendon_energy(self, x: f64) -> f64 {
        match self {
            Self::Thelen => thelen::tendon_energy(x),
            Self::Millard => millard::tendon_energy(x),
        }
    }

    /// Over the velocity as a share of the largest speed of shortening, positive when it lengthens.
    pub(super) fn velocity(self, u: f64, activation: f64) -> (f64, f64) {
        match self {
            Self::Thelen => thelen::velocity(u, activation),
            Self::Millard => millard::velocity(u),
        }
    }

    /// The shortest fibre.
    pub(super) fn shortest(self) -> f64 {
        match self {
            Self::Thelen => 0.01,
            Self::Millard => millard::SHORTEST,
        }
    }
}
