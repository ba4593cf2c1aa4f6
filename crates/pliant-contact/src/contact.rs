//! Contact points, as they are handed on.

use pliant_model::NodeId;

use crate::{ColliderId, Material};

/// The identity of a contact from step to step: no two contacts ever have the same, and it is never
/// used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContactKey {
    /// The collider with the lower number.
    pub a: ColliderId,
    /// The other one.
    pub b: ColliderId,
    /// A number that is given once.
    pub serial: u64,
}

/// The carrier of a point of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Carrier {
    /// Nothing.
    Fixed,
    /// A rigid body.
    Body {
        /// The node.
        node: NodeId,
        /// Element of the node.
        element: usize,
        /// The point of contact from the centre of mass, in body axes (m).
        local: [f64; 3],
    },
    /// Points of space, of which the point of contact (less the radius) is a mean.
    Points {
        /// The node.
        node: NodeId,
        /// How many of the following count.
        count: usize,
        /// Elements of the node.
        elements: [usize; 3],
        /// Their weights, which sum up to one.
        weights: [f64; 3],
    },
}

/// One side of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSide {
    /// Which collider.
    pub collider: ColliderId,
    /// Its carrier.
    pub carrier: Carrier,
    /// The point on its surface (world, m). Both points of a contact lie on one line along the
    /// normal, so that opposite forces at them have no torque; where edges are not quite parallel,
    /// or for a swept contact, a point may lie beside its surface.
    pub point: [f64; 3],
}

/// A pair of points that touch, or may touch soon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Its name from step to step.
    pub key: ContactKey,
    /// The collider with the lower number.
    pub a: ContactSide,
    /// The other one; the same for self-contact.
    pub b: ContactSide,
    /// Unit vector from `a` to `b` (world).
    pub normal: [f64; 3],
    /// Distance along the normal (m), negative where they overlap: `normal . (b.point - a.point)`.
    pub gap: f64,
    /// The material of the pair of surfaces.
    pub material: Material,
    /// The first direction of friction (world), of any length, if the material has one.
    pub direction: Option<[f64; 3]>,
    /// How many updates it has lasted; zero if it is new.
    pub age: u32,
    /// Whether the normal and the lever arms are those of the first impact within the horizon,
    /// along the present velocities, and not those of the present place. The gap is what the
    /// points, with the velocities they have then, close until then.
    pub swept: bool,
}

impl Contact {
    /// Whether the update made it.
    pub fn is_new(&self) -> bool {
        self.age == 0
    }
}
