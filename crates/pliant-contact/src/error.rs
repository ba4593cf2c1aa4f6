//! Defects of shapes, colliders and states.

/// A defect of a shape, a collider or a state, in the user's names.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContactError {
    /// A number is NaN or infinite.
    #[error("{what} is {value}, not a finite number")]
    NotFinite {
        /// Which number of which shape.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number outside its range.
    #[error("{what} is {value}, but must be {bound}")]
    OutOfRange {
        /// Which number of which shape or material.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The requirement.
        bound: &'static str,
    },
    /// A list with too few entries.
    #[error("{shape} needs at least {needed} {what}, found {found}")]
    TooFew {
        /// The shape.
        shape: &'static str,
        /// The items that were counted.
        what: &'static str,
        /// Least number.
        needed: usize,
        /// Given.
        found: usize,
    },
    /// A list of the wrong length.
    #[error("{shape} needs {expected} {what}, found {found}")]
    Size {
        /// The shape.
        shape: &'static str,
        /// The items that were counted.
        what: &'static str,
        /// Wanted.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// A list that is too long.
    #[error("{shape} has more than {most} {what}")]
    TooMany {
        /// The shape.
        shape: &'static str,
        /// The items that were counted.
        what: &'static str,
        /// Largest number.
        most: usize,
    },
    /// A distance field without a surface, or one that cannot be resolved.
    #[error("a distance field {reason}")]
    Field {
        /// Why, as the end of a sentence.
        reason: &'static str,
    },
    /// An index of a mesh points past its points.
    #[error("{what} {entry} of {shape} names point {point}, but there are {count}")]
    Index {
        /// The shape.
        shape: &'static str,
        /// Triangle, segment or point.
        what: &'static str,
        /// Index of the entry.
        entry: usize,
        /// The index.
        point: usize,
        /// Points there are.
        count: usize,
    },
    /// A mesh without extent, or with a triangle without area.
    #[error("{what} {entry} of {shape} is degenerate: {reason}")]
    Degenerate {
        /// The shape.
        shape: &'static str,
        /// Triangle, segment, hull.
        what: &'static str,
        /// Index of the entry.
        entry: usize,
        /// Why, as a clause.
        reason: &'static str,
    },
    /// An edge with more than two triangles, or two triangles that disagree about outside.
    #[error("the edge between points {from} and {to} of {shape} {reason}")]
    Edge {
        /// The shape.
        shape: &'static str,
        /// A point.
        from: usize,
        /// The other point.
        to: usize,
        /// Why, as a clause.
        reason: &'static str,
    },
    /// A quaternion of length zero.
    #[error("the orientation of `{name}` is not a rotation: its quaternion has length zero")]
    ZeroQuaternion {
        /// Name of the collider, or of the shape.
        name: String,
    },
    /// Two surfaces that are to be kept apart, and have no thickness.
    #[error(
        "neither `{a}` nor `{b}` has a radius, by which `intersection_free` keeps surfaces apart; give one of them a radius"
    )]
    NoThickness {
        /// A collider.
        a: String,
        /// Another one, or the same.
        b: String,
    },
    /// Two surfaces that are to be kept apart pass through each other.
    #[error(
        "the surfaces of `{a}` and `{b}` pass through each other, which `intersection_free` rules out; begin with them apart"
    )]
    Pierced {
        /// A collider.
        a: String,
        /// Another one, or the same.
        b: String,
    },
    /// Two colliders of one name.
    #[error("the name `{name}` is used twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A collider on a node of the wrong space.
    #[error("collider `{name}` needs a node of {expected}, found `{node}` of {found}")]
    Space {
        /// Name of the collider.
        name: String,
        /// Wanted.
        expected: &'static str,
        /// Name of the node.
        node: String,
        /// Given.
        found: String,
    },
    /// A node or an element that the model does not have.
    #[error("collider `{name}` refers to {what} {index}, but there are {count}")]
    Missing {
        /// Name of the collider.
        name: String,
        /// Node, element, material.
        what: &'static str,
        /// The index.
        index: usize,
        /// Number of entries.
        count: usize,
    },
    /// A shape where it cannot be.
    #[error("collider `{name}`: {reason}")]
    Placement {
        /// Name of the collider.
        name: String,
        /// Reason, as a clause.
        reason: &'static str,
    },
    /// A state with a NaN, or of another length.
    #[error("the {what} of collider `{name}` are not finite numbers")]
    State {
        /// Name of the collider.
        name: String,
        /// Positions or velocities.
        what: &'static str,
    },
    /// A search took more tests than it may.
    #[error(
        "the search for contacts took more than {limit} tests of pairs; it came to `{}` and `{}`",
        .between[0], .between[1]
    )]
    TooManyTests {
        /// Names of the pair of colliders that it came to.
        between: [String; 2],
        /// Tests until then.
        count: u64,
        /// Tests that a search may take.
        limit: u64,
    },
    /// Two colliders may meet whose materials have an elastic foundation, and of which none has
    /// columns, or nothing to press them on.
    #[error(
        "`foundation` of the materials of `{}` and `{}` needs a mesh of triangles on one side, and on the other a half space, convex shapes, a distance field or a mesh with an inside: {reason}",
        .between[0], .between[1]
    )]
    Foundation {
        /// Names of the two colliders; the same for contact of one with itself.
        between: [String; 2],
        /// Reason, as a clause.
        reason: &'static str,
    },
    /// An elastic foundation of two meshes whose points are too far apart for one of them to be in
    /// every patch that carries.
    #[error(
        "the elastic foundation between `{}` and `{}` has points {spacing:.2e} m apart, and the narrower one is {width:.2e} m wide: \
         they would pass into each other where no point is; make the triangles of one of them smaller, half that width at most",
        .between[0], .between[1]
    )]
    CoarseFoundation {
        /// Names of the two colliders.
        between: [String; 2],
        /// The distance of the points of the finer mesh (m).
        spacing: f64,
        /// The middle one of the extents of the narrower mesh (m).
        width: f64,
    },
    /// The identities restored belong to another world.
    #[error("the contact memory names collider {collider}, but there are {count}")]
    Memory {
        /// The index.
        collider: usize,
        /// Colliders there are.
        count: usize,
    },
    /// The identities restored are not those of any contact.
    #[error(
        "the contact memory of colliders {} and {} has a place that is not finite, or a number that was never given",
        .colliders[0], .colliders[1]
    )]
    Remembered {
        /// The two colliders.
        colliders: [u32; 2],
    },
}

/// The sentence: a `main` that returns the error prints it.
impl std::fmt::Debug for ContactError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// A finite number, or an error naming it.
pub(crate) fn finite(what: &'static str, value: f64) -> Result<f64, ContactError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(ContactError::NotFinite { what, value })
    }
}

/// Lengths whose squares, products and quotients are numbers (m).
const LENGTHS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// A finite positive number, or an error naming it.
pub(crate) fn above_zero(what: &'static str, value: f64) -> Result<f64, ContactError> {
    if finite(what, value)? > 0.0 {
        return Ok(value);
    }
    let bound = "positive";
    Err(ContactError::OutOfRange { what, value, bound })
}

/// A length between 1e-100 and 1e100 m, or an error naming it.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, ContactError> {
    if LENGTHS.contains(&above_zero(what, value)?) {
        return Ok(value);
    }
    let bound = "between 1e-100 and 1e100";
    Err(ContactError::OutOfRange { what, value, bound })
}

/// A finite number that is not negative, or an error naming it.
pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<f64, ContactError> {
    if finite(what, value)? >= 0.0 {
        Ok(value)
    } else {
        Err(ContactError::OutOfRange {
            what,
            value,
            bound: "zero or more",
        })
    }
}
