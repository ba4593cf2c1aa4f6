//! The mappings that come with the library.

mod affine;
mod distance;
mod formula;
mod linear;
mod relative_rotation;
mod rigid_points;

pub use affine::{Affine, AffineEntry};
pub use distance::Distance;
pub use formula::Formula;
pub use linear::{Difference, Identity, Subset};
pub use relative_rotation::RelativeRotation;
pub use rigid_points::RigidPoints;

use crate::{Degenerate, Dependency, ModelError, Parents, Space};

/// One end of a difference or of a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// An element of a parent.
    Element(Dependency),
    /// A point that does not move (m).
    Point([f64; 3]),
}

impl End {
    /// Element `element` of parent `parent`.
    pub const fn element(parent: usize, element: usize) -> Self {
        Self::Element(Dependency::new(parent, element))
    }

    /// The coordinates of this end, in a space of `dimension` coordinates.
    #[inline]
    fn coordinates(&self, parents: &Parents<'_>, dimension: usize) -> [f64; 3] {
        match self {
            Self::Point(p) => *p,
            Self::Element(at) => {
                let mut out = [0.0; 3];
                out[..dimension].copy_from_slice(&parents.position(*at)[..dimension]);
                out
            }
        }
    }

    #[inline]
    fn velocity(&self, parents: &Parents<'_>, dimension: usize) -> [f64; 3] {
        let mut out = [0.0; 3];
        if let Self::Element(at) = self {
            out[..dimension].copy_from_slice(&parents.velocity(*at)[..dimension]);
        }
        out
    }

    fn dependency(&self) -> Option<Dependency> {
        match self {
            Self::Element(at) => Some(*at),
            Self::Point(_) => None,
        }
    }
}

/// Checks that a dependency exists.
pub(crate) fn check_dependency(
    name: &str,
    at: Dependency,
    parents: &[(Space, usize)],
) -> Result<Space, ModelError> {
    let (space, count) = parents
        .get(at.parent)
        .copied()
        .ok_or_else(|| ModelError::Parent {
            name: name.into(),
            parent: at.parent,
            count: parents.len(),
        })?;
    if at.element < count {
        Ok(space)
    } else {
        Err(ModelError::Element {
            name: name.into(),
            element: at.element,
            count,
        })
    }
}

/// Checks the two ends of every pair: elements of real spaces of one dimension, not twice the same one.
fn check_pairs(
    name: &str,
    pairs: &[(End, End)],
    dimension: usize,
    parents: &[(Space, usize)],
) -> Result<(), ModelError> {
    for (a, b) in pairs {
        for end in [a, b] {
            match end {
                End::Element(at) => {
                    let space = check_dependency(name, *at, parents)?;
                    if space != Space::real(dimension).unwrap_or(Space::Real(3)) {
                        let expected = ["scalars", "points of the plane", "points of space"][dimension - 1];
                        return Err(ModelError::Space {
                            name: name.into(),
                            expected,
                            found: space,
                        });
                    }
                }
                End::Point(p) => {
                    if let Some(value) = p.iter().find(|x| !x.is_finite()) {
                        return Err(ModelError::NotFinite {
                            name: name.into(),
                            what: "a fixed point",
                            value: *value,
                        });
                    }
                }
            }
        }
        if a.dependency() == b.dependency() {
            let element = a.dependency().map_or(0, |at| at.element);
            let cause = Degenerate {
                element,
                reason: "its two ends are the same",
            };
            return Err(ModelError::Degenerate {
                name: name.into(),
                cause,
            });
        }
    }
    Ok(())
}
