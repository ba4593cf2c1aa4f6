//! Defects of meshes and materials, in the user's terms.

use crate::Defect;
use pliant_model::{Field, ModelError};

/// A defect of a mesh, a material or the model that they go into.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContinuumError {
    /// A number is NaN or infinite.
    #[error("{field} is {value}, not a finite number")]
    NotFinite {
        /// The argument that holds it.
        field: Field,
        /// Its value.
        value: f64,
    },
    /// A number outside its range.
    #[error("{field} is {value}, but must be {bound}")]
    OutOfRange {
        /// The argument that holds it.
        field: Field,
        /// Its value.
        value: f64,
        /// The requirement.
        bound: &'static str,
    },
    /// A mesh that no solid can be made of: its first defect, and how many there are.
    #[error("{defect} ({count} such defects in the mesh)")]
    Mesh {
        /// The first defect.
        defect: Defect,
        /// Defects in all.
        count: usize,
    },
    /// A mesh without volume elements, or a sheet without triangles and quadrangles.
    #[error("the mesh has no elements")]
    Empty,
    /// A triangle that no sheet can have.
    #[error("triangle {triangle} of the sheet: {reason}")]
    Triangle {
        /// Which triangle.
        triangle: usize,
        /// The defect.
        reason: &'static str,
    },
    /// A quadrangle that no sheet can have.
    #[error("quadrangle {quadrangle} of the sheet: {reason}")]
    Quadrangle {
        /// Which quadrangle.
        quadrangle: usize,
        /// The defect.
        reason: &'static str,
    },
    /// A clamped node that does not exist.
    #[error("node {node} is clamped, but the sheet has {count} nodes")]
    ClampedNode {
        /// Which node.
        node: usize,
        /// Nodes in all.
        count: usize,
    },
    /// A plane that a mesh cannot be mirrored at.
    #[error("the plane of symmetry {axis} = {at} m: {reason}")]
    Symmetry {
        /// The axis that it is across.
        axis: &'static str,
        /// Where on the axis (m).
        at: f64,
        /// The defect.
        reason: &'static str,
    },
    /// A curve that no rod can follow.
    #[error("point {point} of the curve: {reason}")]
    Curve {
        /// Which point.
        point: usize,
        /// The defect there.
        reason: &'static str,
    },
    /// Axes of a material that span no plane.
    #[error("the axes of the material, ({}, {}, {}) and ({}, {}, {}), are no two directions", first[0], first[1], first[2], second[0], second[1], second[2])]
    Axes {
        /// The first (none).
        first: [f64; 3],
        /// The second (none).
        second: [f64; 3],
    },
    /// An element of a mesh of several materials that has none, or two.
    #[error("element {element} {reason}")]
    Regions {
        /// Which element.
        element: usize,
        /// The materials that it has, in words.
        reason: String,
    },
    /// An error of a material that varies, at a place.
    #[error("{error}, at ({}, {}, {}) m", place[0], place[1], place[2])]
    Point {
        /// The place (m) at rest.
        place: [f64; 3],
        /// The error there.
        error: Box<ContinuumError>,
    },
    /// An error of one of several materials.
    #[error("`{name}`: {error}")]
    Region {
        /// Its name.
        name: String,
        /// The error.
        error: Box<ContinuumError>,
    },
    /// An error of one of the muscles of a solid.
    #[error("`{name}`: {error}")]
    Muscle {
        /// Its name.
        name: String,
        /// The error.
        error: Box<ContinuumError>,
    },
    /// A choice that does not go with another.
    #[error("{field} cannot be had with {with}: {reason}")]
    Conflict {
        /// The option that was asked for.
        field: Field,
        /// The option that it does not go with.
        with: &'static str,
        /// Why, as a clause.
        reason: &'static str,
    },
    /// The error of the model.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// The sentence: a `main` that returns the error prints it.
impl std::fmt::Debug for ContinuumError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
