//! Defects of models and states, in the user's names.

use crate::{Degenerate, Field, MeshError, Space};
use pliant_expression::ExpressionError;

/// A defect of a model or of a state, naming its part by the user's name for it.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Two nodes, or two components, have the same name.
    #[error("the name `{name}` is used twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A number is NaN or infinite.
    #[error("{field} of `{name}` is {value}, not a finite number{}", Entry(*.index))]
    NotFinite {
        /// Name of the node or component.
        name: String,
        /// The argument that holds it.
        field: Field,
        /// Its place in a list of more than one number.
        index: Option<usize>,
        /// Its value.
        value: f64,
    },
    /// A number must be positive, or not negative.
    #[error("{field} of `{name}` is {value}, but must be {bound}{}", Entry(*.index))]
    OutOfRange {
        /// Name of the node or component.
        name: String,
        /// The argument that holds it.
        field: Field,
        /// Its place in a list of more than one number.
        index: Option<usize>,
        /// Its value.
        value: f64,
        /// The requirement.
        bound: &'static str,
    },
    /// A quaternion of length zero.
    #[error(
        "the orientation of `{name}`, element {element}, is not a rotation: its quaternion has length zero"
    )]
    ZeroQuaternion {
        /// Name of the node.
        name: String,
        /// Element of the node.
        element: usize,
    },
    /// An inertia that is not symmetric positive definite, or violates the triangle inequality.
    #[error("the inertia of `{name}`, element {element}, is not that of a body: {reason}")]
    Inertia {
        /// Name of the mass.
        name: String,
        /// Element.
        element: usize,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// A matrix that is not symmetric positive semidefinite.
    #[error("{field} of `{name}` is not symmetric positive semidefinite: {reason}")]
    Matrix {
        /// Name of the component.
        name: String,
        /// The argument that holds it.
        field: Field,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// A mesh that no mass can be made of.
    #[error("{what} {element} of a mesh {reason}")]
    Shape {
        /// The defective part: a vertex, a triangle.
        what: &'static str,
        /// Its number.
        element: usize,
        /// Why, as a clause.
        reason: &'static str,
    },
    /// A list has the wrong length.
    #[error("`{name}` needs {expected} {what}, found {found}")]
    Size {
        /// Name of the node or component.
        name: String,
        /// The argument that is the list.
        field: Field,
        /// The items that were counted.
        what: &'static str,
        /// Wanted.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// An element outside a node.
    #[error("`{name}` refers to element {element} of a node that has {count}")]
    Element {
        /// Name of the node or component.
        name: String,
        /// The index asked for.
        element: usize,
        /// Elements of the node.
        count: usize,
    },
    /// A mapping refers to a parent that it was not given.
    #[error("`{name}` refers to parent {parent}, but has {count}")]
    Parent {
        /// Name of the mapped node.
        name: String,
        /// The index asked for.
        parent: usize,
        /// Parents given.
        count: usize,
    },
    /// A node of the wrong space.
    #[error("`{name}` needs a node of {expected}, found {found}")]
    Space {
        /// Name of the component.
        name: String,
        /// Wanted.
        expected: &'static str,
        /// Given.
        found: Space,
    },
    /// A node id of another model.
    #[error("`{name}` refers to node {node}, which this model does not have")]
    UnknownNode {
        /// Name of the component.
        name: String,
        /// The id.
        node: usize,
    },
    /// Only independent nodes have state and can be fixed.
    #[error("`{name}` is computed from other nodes, so it cannot be {action}")]
    NotIndependent {
        /// Name of the mapped node.
        name: String,
        /// The request.
        action: &'static str,
    },
    /// A hard (zero-compliance) force field treated as a stiffness.
    #[error(
        "`{name}`, element {element}, has compliance zero: its stiffness is infinite; treat it as a compliance"
    )]
    NotInvertible {
        /// Name of the force field.
        name: String,
        /// Element.
        element: usize,
    },
    /// A force field that has no compliance form.
    #[error(
        "`{name}` has no compliance (its stiffness is not invertible, or depends on its past); treat it as a stiffness"
    )]
    NoCompliance {
        /// Name of the force field.
        name: String,
    },
    /// A mapping that is not defined where the system is.
    #[error("`{name}`, element {}, is not defined here: {}{detail}", .cause.element, .cause.reason)]
    Degenerate {
        /// Name of the mapped node.
        name: String,
        /// The error of the mapping.
        cause: Degenerate,
        /// The place and the function that fail there, if the mapping knows more
        /// ([`Mapping::explain`](crate::Mapping::explain)); may be empty.
        detail: String,
    },
    /// An error of another process that has some of the elements of the model.
    #[error("another process says: {message}")]
    OtherProcess {
        /// Its error.
        message: String,
    },
    /// An expression that is wrong, or has no value or no derivative where it was asked for one.
    #[error("the expression \"{text}\" is wrong at byte {}: {cause}", .cause.range.start)]
    Expression {
        /// The expression.
        text: String,
        /// Why, and the bytes that it is about.
        cause: ExpressionError,
    },
    /// A free coordinate that a joint does not have.
    #[error("`{name}` is a {kind}, which leaves {count} coordinates free: there is no coordinate {axis}")]
    FreeAxis {
        /// Name of the joint.
        name: String,
        /// The kind of joint.
        kind: &'static str,
        /// The coordinate asked for.
        axis: usize,
        /// Free coordinates.
        count: usize,
    },
    /// A motion that is not a function of time.
    #[error("a motion is not one: {reason}")]
    PrescribedMotion {
        /// Why, as a clause.
        reason: &'static str,
    },
    /// Bounds of a force that no force fits.
    #[error("`{name}` is to have forces between {lower} and {upper}, which no force is")]
    Bounds {
        /// Name of the component.
        name: String,
        /// Smallest force.
        lower: f64,
        /// Largest force.
        upper: f64,
    },
    /// Something that only rows have was asked of a component that has none.
    #[error("`{name}` is not a constraint or a compliance, so it cannot be {action}")]
    NotRows {
        /// Name of the component.
        name: String,
        /// The request.
        action: &'static str,
    },
    /// Friction in proportion to a reaction that rows cannot have.
    #[error("`{name}` cannot have friction in proportion to a reaction: {reason}")]
    Friction {
        /// Name of the component or joint.
        name: String,
        /// Why, as a clause.
        reason: &'static str,
    },
    /// A restitution of rows that cannot bounce.
    #[error("`{name}` cannot have a restitution: {reason}")]
    Restitution {
        /// Name of the constraint or joint.
        name: String,
        /// Why, as a clause.
        reason: &'static str,
    },
    /// A damping ratio of something that cannot move.
    #[error(
        "coordinate {row} of {count} of `{name}` is held by hard rows or fixed coordinates, so that a damping ratio of it has no meaning"
    )]
    Immovable {
        /// Name of the compliance.
        name: String,
        /// Its coordinate.
        row: usize,
        /// How many it has.
        count: usize,
    },
    /// Damping ratios of a model that several share, which cannot be changed.
    #[error(
        "`{name}` has a damping ratio in a model that is shared; resolve its damping ratios before it is"
    )]
    SharedRatios {
        /// Name of the compliance.
        name: String,
    },
    /// Elements that cannot be taken out of a model.
    #[error("elements of `{name}` cannot be removed: {reason}")]
    Removal {
        /// Name of the node or component.
        name: String,
        /// Why, as a clause.
        reason: &'static str,
    },
    /// A mesh that a mapping cannot be made of.
    #[error("`{name}` cannot be made of its mesh: {cause}")]
    Mesh {
        /// Name of the mapped node.
        name: String,
        /// The defect of the mesh.
        cause: MeshError,
    },
    /// A state that does not belong to the model.
    #[error("the state has {found} {what}, the model needs {expected}")]
    State {
        /// Positions, velocities or internal variables.
        what: &'static str,
        /// Wanted.
        expected: usize,
        /// Given.
        found: usize,
    },
}

/// The sentence: a `main` that returns the error prints it.
impl std::fmt::Debug for ModelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl ModelError {
    /// Adds the place in a list of `count` numbers at which the error is; a list of one number has
    /// no places.
    #[must_use]
    pub fn at(mut self, place: usize, count: usize) -> Self {
        if let (Self::NotFinite { index, .. } | Self::OutOfRange { index, .. }, true) = (&mut self, count > 1)
        {
            *index = Some(place);
        }
        self
    }
}

/// A place of a list, at the end of a sentence.
struct Entry(Option<usize>);

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(index) => write!(f, " (entry {index})"),
            None => Ok(()),
        }
    }
}
