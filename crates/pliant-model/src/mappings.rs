//! The mappings that come with the library.

mod addition;
mod affine;
mod area;
mod barycentric;
mod beam_strain;
mod centre_of_mass;
mod curve;
mod dihedral_angle;
mod distance;
mod dot_product;
mod expressions;
mod fitted_frames;
mod formula;
mod frames;
mod gear;
mod joint_axis;
mod joint_coordinates;
mod linear;
mod mesh;
mod modal_frames;
mod modal_points;
mod normalization;
mod points;
mod projection;
mod quadratic;
mod quadratic_bending;
pub(crate) mod relative_chord;
mod relative_motion;
mod relative_pose;
mod relative_rotation;
mod rigid_frames;
mod rigid_points;
mod rope;
mod segment_angle;
mod skinning;
mod smooth_distance;
mod volume;
mod weighted;
mod wrapped_rope;

pub use addition::Addition;
pub use affine::{Affine, AffineEntry};
pub use area::Area;
pub use barycentric::Barycentric;
pub use beam_strain::{BeamSegment, BeamStrain};
pub use centre_of_mass::CentreOfMass;
pub use curve::Curve;
pub use dihedral_angle::DihedralAngle;
pub use distance::Distance;
pub use dot_product::DotProduct;
pub use expressions::{ExpressionCoordinates, ExpressionElement, Expressions};
pub use fitted_frames::{FittedFrame, FittedFrames, FramePoint, RestPoint};
pub use formula::Formula;
pub use frames::JointFrame;
pub use gear::{Coordinate, Gear, Winch};
pub use joint_axis::JointAxis;
pub use joint_coordinates::{FramePair, JointCoordinates};
pub use linear::{Difference, Identity, Subset};
pub use mesh::{Cell, MeshError, Outside};
pub use modal_frames::{FrameShape, ModalFrame, ModalFrames};
pub use modal_points::{ModalPoint, ModalPoints};
pub use normalization::Normalization;
pub use projection::{Mask, Projection};
pub use quadratic::{Pairing, Quadratic};
pub use quadratic_bending::quadratic_bending;
pub use relative_chord::RelativeMotion;
pub use relative_pose::RelativePose;
pub use relative_rotation::RelativeRotation;
pub use rigid_frames::RigidFrames;
pub use rigid_points::RigidPoints;
pub use rope::{Rope, RopePath};
pub use segment_angle::{CurvatureBinormal, SegmentAngle};
pub use skinning::{Influence, Skinning};
pub use smooth_distance::{SafeDistance, SquareDistance};
pub use volume::Volume;
pub use wrapped_rope::{Obstacle, WrapSide, WrapSurface, WrappedPath, WrappedRope};

pub(crate) use frames::{check_pose, relative_pose};

use crate::validate::check_least;
use crate::{Dependency, Field, Kept, ModelError, Parents, Space};

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

    /// The end with the number that its element has among those that are left.
    fn restrict(self, kept: Kept<'_>) -> Self {
        match self {
            Self::Element(at) => Self::Element(kept.renumber(at)),
            Self::Point(_) => self,
        }
    }

    /// The coordinates of this end, in a space of `dimension` coordinates.
    #[inline]
    fn coordinates(&self, parents: &Parents<'_>, dimension: usize) -> [f64; 3] {
        let from = match self {
            Self::Point(p) => p,
            Self::Element(at) => parents.position(*at),
        };
        leading(from, dimension)
    }

    #[inline]
    fn velocity(&self, parents: &Parents<'_>, dimension: usize) -> [f64; 3] {
        match self {
            Self::Point(_) => [0.0; 3],
            Self::Element(at) => leading(parents.velocity(*at), dimension),
        }
    }

    fn dependency(&self) -> Option<Dependency> {
        match self {
            Self::Element(at) => Some(*at),
            Self::Point(_) => None,
        }
    }
}

/// The first coordinates, `dimension` of them, and zeros. Of three, which are most, the copy needs
/// no call.
#[inline]
fn leading(from: &[f64], dimension: usize) -> [f64; 3] {
    if let (3, [x, y, z, ..]) = (dimension, from) {
        return [*x, *y, *z];
    }
    let mut out = [0.0; 3];
    out[..dimension].copy_from_slice(&from[..dimension]);
    out
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

/// Checks the index of a coordinate of an element that has so many.
fn check_coordinate(name: &str, index: usize, size: usize) -> Result<(), ModelError> {
    let least = index.saturating_add(1);
    check_least(name, Field::Coordinate, "coordinates at least", least, size)
}

/// Checks one end: an element of the real space of this dimension, or a finite point.
fn check_end(name: &str, end: &End, dimension: usize, parents: &[(Space, usize)]) -> Result<(), ModelError> {
    match end {
        End::Element(at) => points::check_real(name, *at, dimension, parents),
        End::Point(p) => points::check_finite(name, Field::FixedPoint, p),
    }
}

/// Checks the two ends of every pair: elements of real spaces of one dimension, not twice the same
/// one.
fn check_pairs(
    name: &str,
    pairs: &[(End, End)],
    dimension: usize,
    parents: &[(Space, usize)],
) -> Result<(), ModelError> {
    for (element, (a, b)) in pairs.iter().enumerate() {
        check_end(name, a, dimension, parents)?;
        check_end(name, b, dimension, parents)?;
        if a.dependency() == b.dependency() {
            return Err(points::degenerate(name, element, "its two ends are the same"));
        }
    }
    Ok(())
}
