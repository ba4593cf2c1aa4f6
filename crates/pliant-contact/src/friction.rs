//! How friction depends on the direction of the slip.

use crate::ContactError;
use crate::error::not_negative;

/// The bound of the friction `r_t` of a contact with the coefficient `mu` and the normal force
/// `r_n`. Of all that is within the bound, friction is what takes most from the slip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FrictionModel {
    /// The circle `|r_t| <= mu r_n`: the same in all directions.
    #[default]
    Cone,
    /// A regular polygon in place of the circle, as linear programs have it. Friction is then in
    /// the direction of a corner and not against the slip, as a rule, and too small or too large by
    /// up to `cos(pi/directions)`: for four directions 0.707, or 1.414.
    Pyramid {
        /// Number of corners, at least three.
        directions: usize,
        /// Around the circle, with the middle of a side along the first direction, instead of
        /// within it, with a corner there.
        outer: bool,
    },
    /// The ellipse `(r_1/mu)^2 + (r_2/across)^2 <= r_n^2` along and across the first direction.
    Ellipse {
        /// Coefficient of friction across (none).
        across: f64,
    },
}

/// A direction on a surface: that of its grain. What counts is its part along the surfaces that
/// touch; where it has none, any direction is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    /// In the world, of any length but zero.
    World([f64; 3]),
    /// In the axes of the body that carries the surface, or in those of the pose of a collider that
    /// stands. Soft surfaces have no axes but the world's.
    Body([f64; 3]),
}

impl FrictionModel {
    /// Friction across, if it is `friction` along.
    pub(crate) fn across(&self, friction: f64) -> f64 {
        match self {
            Self::Ellipse { across } => *across,
            _ => friction,
        }
    }

    /// Rank of a model: a pair of materials takes the model of the greater rank.
    pub(crate) fn rank(&self) -> usize {
        match self {
            Self::Cone => 0,
            Self::Pyramid { .. } => 1,
            Self::Ellipse { .. } => 2,
        }
    }

    /// Whether the numbers are in range, with `friction` along the first direction.
    ///
    /// # Errors
    /// [`ContactError::OutOfRange`] for fewer than three directions, or an ellipse of which one
    /// half axis only is zero.
    pub fn check(&self, friction: f64) -> Result<(), ContactError> {
        match *self {
            Self::Cone => Ok(()),
            Self::Pyramid { directions, .. } if directions >= 3 => Ok(()),
            Self::Pyramid { directions, .. } => Err(ContactError::OutOfRange {
                what: "the number of directions of a friction pyramid",
                value: directions as f64,
                bound: "at least three",
            }),
            Self::Ellipse { across } => {
                let what = "the friction across";
                if (not_negative(what, across)? == 0.0) == (friction == 0.0) {
                    return Ok(());
                }
                let bound = "positive, as the friction along is, or both zero";
                Err(ContactError::OutOfRange {
                    what,
                    value: across,
                    bound,
                })
            }
        }
    }
}

impl Direction {
    pub(crate) fn check(&self) -> Result<(), ContactError> {
        let (Self::World(d) | Self::Body(d)) = self;
        let length = d.iter().map(|x| x * x).sum::<f64>();
        if length > 0.0 && length.is_finite() {
            return Ok(());
        }
        Err(ContactError::OutOfRange {
            what: "the length of a direction of friction, squared,",
            value: length,
            bound: "positive and finite",
        })
    }
}
