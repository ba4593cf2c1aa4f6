//! Colliders: a shape, where it is, and with what it collides.

use pliant_model::{Model, NodeId, Pose, Space};

use crate::shape::{Kind, check_pose};
use crate::{ContactError, Shape};

/// Index in [`World::colliders`](crate::World::colliders).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColliderId(pub(crate) u32);

impl ColliderId {
    /// Index in [`World::colliders`](crate::World::colliders).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index in [`World::materials`](crate::World::materials).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MaterialId(pub(crate) u32);

impl MaterialId {
    /// Index in [`World::materials`](crate::World::materials); 0 is the default material.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The way a shape is placed, and so moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Placement {
    /// Placement by this pose in the world, which does not change.
    Fixed(Pose),
    /// An element of a node of rigid bodies; the pose is in the axes of the body, from its centre
    /// of mass.
    Body {
        /// The node.
        node: NodeId,
        /// Element of the node.
        element: usize,
        /// The shape in the axes of the body.
        pose: Pose,
    },
    /// The points of a node of points of space; only for soft shapes.
    Points(NodeId),
}

impl Placement {
    /// Fixed, with the axes of the shape those of the world.
    pub fn at_origin() -> Self {
        Self::Fixed(Pose::default())
    }

    /// On an element of a node of rigid bodies, with the axes of the shape those of the body.
    pub fn on_body(node: NodeId, element: usize) -> Self {
        let pose = Pose::default();
        Self::Body { node, element, pose }
    }
}

/// The state of rest of a collider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// A collider that moves, or may.
    #[default]
    Moves,
    /// A collider that is held where it is, and was before.
    Stands,
    /// A collider that came to rest, and is left alone until something wakes it.
    Sleeps,
}

impl Rest {
    /// Combines two: a pair moves if one of them does, and sleeps if otherwise one of them does.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Moves, _) | (_, Self::Moves) => Self::Moves,
            (Self::Sleeps, _) | (_, Self::Sleeps) => Self::Sleeps,
            _ => Self::Stands,
        }
    }
}

/// Which colliders meet: two do if each is in a group that the other looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollisionGroups {
    /// The groups it is in, a bit each.
    pub membership: u32,
    /// The groups it collides with.
    pub filter: u32,
}

impl Default for CollisionGroups {
    /// In all, with all.
    fn default() -> Self {
        Self {
            membership: u32::MAX,
            filter: u32::MAX,
        }
    }
}

impl CollisionGroups {
    /// In the groups of the bits of `membership`, colliding with those of `filter`.
    pub fn new(membership: u32, filter: u32) -> Self {
        Self { membership, filter }
    }

    /// Whether two meet.
    pub fn meet(self, other: Self) -> bool {
        self.membership & other.filter != 0 && other.membership & self.filter != 0
    }
}

/// A shape at a place.
#[derive(Clone, Debug)]
pub struct Collider {
    /// The user's name.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
    /// Its placement, by which it moves.
    pub placement: Placement,
    /// With what it collides.
    pub groups: CollisionGroups,
    /// Its surface.
    pub material: MaterialId,
    /// Distance (m) at which it takes notice of others, whatever the velocities; those of a pair
    /// are added.
    pub margin: f64,
    /// For a soft shape that collides with itself: points this many edges apart, or fewer, are
    /// neighbours and do not. At least 1; for a cable at least its diameter in segments, plus one.
    pub self_contact: Option<usize>,
}

impl Collider {
    /// Default groups and material, a margin of 0.1 mm, no contact with itself.
    pub fn new(name: &str, shape: Shape, placement: Placement) -> Self {
        Self {
            name: name.into(),
            shape,
            placement,
            groups: CollisionGroups::default(),
            material: MaterialId::default(),
            margin: 1e-4,
            self_contact: None,
        }
    }

    /// Of this material.
    #[must_use]
    pub fn with_material(mut self, material: MaterialId) -> Self {
        self.material = material;
        self
    }

    /// In these groups.
    #[must_use]
    pub fn with_groups(mut self, groups: CollisionGroups) -> Self {
        self.groups = groups;
        self
    }

    /// With this margin (m).
    #[must_use]
    pub fn with_margin(mut self, margin: f64) -> Self {
        self.margin = margin;
        self
    }

    /// Colliding with itself, but for points this many edges apart or fewer.
    #[must_use]
    pub fn with_self_contact(mut self, neighbours: usize) -> Self {
        self.self_contact = Some(neighbours);
        self
    }

    /// Checks its numbers and its placement, apart from the model.
    pub(crate) fn checked(mut self) -> Result<Self, ContactError> {
        crate::error::not_negative("the margin of a collider", self.margin)?;
        let wrong = |reason| {
            Err(ContactError::Placement {
                name: self.name.clone(),
                reason,
            })
        };
        let soft = matches!(self.shape.kind, Kind::Soft(_));
        if soft != matches!(self.placement, Placement::Points(_)) {
            return wrong("soft shapes are on points of a node, all others on a body or fixed");
        }
        if self.self_contact.is_some() && !soft {
            return wrong("only a soft shape collides with itself");
        }
        if self.self_contact == Some(0) {
            return wrong("points that share an edge cannot collide: self-contact needs at least 1");
        }
        match &mut self.placement {
            Placement::Fixed(pose) | Placement::Body { pose, .. } => *pose = check_pose(&self.name, *pose)?,
            Placement::Points(_) => {}
        }
        Ok(self)
    }

    /// Whether the model has the place.
    pub(crate) fn check_in(&self, model: &Model) -> Result<(), ContactError> {
        let (node, expected, space, element) = match (&self.placement, &self.shape.kind) {
            (Placement::Body { node, element, .. }, _) => (*node, "rigid bodies", Space::Rigid3, *element),
            (Placement::Points(node), Kind::Soft(mesh)) => {
                (*node, "points of space", Space::Real(3), mesh.point_count - 1)
            }
            _ => return Ok(()),
        };
        let missing = |what, index, count| ContactError::Missing {
            name: self.name.clone(),
            what,
            index,
            count,
        };
        let Some(found) = model.nodes().get(node.index()) else {
            return Err(missing("node", node.index(), model.nodes().len()));
        };
        if found.space != space {
            return Err(ContactError::Space {
                name: self.name.clone(),
                expected,
                node: found.name.clone(),
                found: found.space.to_string(),
            });
        }
        if element >= found.count {
            return Err(missing("element", element, found.count));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_are_the_long_ones() -> Result<(), Box<dyn std::error::Error>> {
        let node = Model::new().add_rigid_bodies("bodies", &[Pose::default(); 2])?;
        let pose = Pose::default();
        let long = Placement::Body {
            node,
            element: 1,
            pose,
        };
        assert_eq!(Placement::on_body(node, 1), long);
        assert_eq!(Placement::at_origin(), Placement::Fixed(pose));
        let [arm, part] = [CollisionGroups::new(1, 2), CollisionGroups::new(2, 3)];
        assert_eq!((arm.membership, arm.filter), (1, 2));
        assert!(arm.meet(part) && part.meet(part) && !arm.meet(arm));
        Ok(())
    }
}
