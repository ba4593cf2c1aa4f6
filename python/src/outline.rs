//! Names and sizes of a scene.

use pliant::Continuation;
use pliant::model::{ComponentId, JointHandle, JointKind, NodeId, Space};
use pliant_scene::{BuiltScene, StaticsPlan};

/// Names and sizes of a scene.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) title: String,
    pub(crate) parameters: Vec<(String, f64)>,
    pub(crate) nodes: Vec<String>,
    pub(crate) bodies: Vec<String>,
    pub(crate) masses: Vec<String>,
    pub(crate) forces: Vec<String>,
    pub(crate) constraints: Vec<String>,
    pub(crate) joints: Vec<(String, JointKind, JointHandle)>,
    pub(crate) colliders: Vec<String>,
    /// Kind and number of the elements of every node.
    sizes: Vec<(Space, usize)>,
    pub(crate) dofs: usize,
    pub(crate) duration: f64,
    pub(crate) step: f64,
    /// Whether `run` finds equilibria.
    pub(crate) is_static: bool,
    /// Path that a scene of statics asks for.
    pub(crate) path: Option<Continuation>,
    pub(crate) meshes: u32,
}

impl Outline {
    pub(crate) fn of(scene: &BuiltScene) -> Self {
        let model = &scene.model;
        let names = |count: usize, id: fn(usize) -> ComponentId| {
            (0..count)
                .map(|k| model.component_name(id(k)).to_owned())
                .collect()
        };
        let nodes = model.nodes().iter();
        let bodies = nodes.clone().filter(|n| n.space == Space::Rigid3);
        let colliders = scene.world.as_ref().map_or(&[][..], |world| world.colliders());
        Self {
            title: scene.title.clone(),
            parameters: scene.parameters.iter().map(|(n, v)| (n.clone(), *v)).collect(),
            nodes: nodes.map(|n| n.name.clone()).collect(),
            bodies: bodies.map(|n| n.name.clone()).collect(),
            masses: names(model.masses().len(), ComponentId::Mass),
            forces: names(model.force_fields().len(), ComponentId::ForceField),
            constraints: names(model.constraints().len(), ComponentId::Constraint),
            joints: scene.joints.clone(),
            colliders: colliders.iter().map(|c| c.name.clone()).collect(),
            sizes: model.nodes().iter().map(|n| (n.space, n.count)).collect(),
            dofs: model.dof_count(),
            duration: scene.plan.duration,
            step: scene.plan.step,
            is_static: scene.statics.is_some(),
            path: match &scene.statics {
                Some(StaticsPlan::Path(how)) => Some(how.clone()),
                _ => None,
            },
            meshes: scene.file_checksum(),
        }
    }

    /// Free coordinates of all joints, one after the other.
    pub(crate) fn coordinates(&self) -> impl Iterator<Item = NodeId> {
        let handles = self.joints.iter().map(|(_, _, handle)| handle);
        handles.flat_map(|handle| handle.coordinates.iter().copied())
    }

    /// Motors of all joints.
    pub(crate) fn motors(&self) -> impl Iterator<Item = ComponentId> {
        let handles = self.joints.iter().map(|(_, _, handle)| handle);
        handles.flat_map(|handle| handle.motors.iter().copied())
    }

    /// Their names: that of the joint and that of the coordinate.
    pub(crate) fn coordinate_names(&self) -> Vec<String> {
        let of_one = |(name, kind, handle): &(String, JointKind, JointHandle)| {
            let axes = kind.free_axes().iter().take(handle.coordinates.len());
            axes.map(|(_, axis)| format!("{name}.{axis}")).collect::<Vec<_>>()
        };
        self.joints.iter().flat_map(of_one).collect()
    }

    /// Whether the nodes, components and joints are those of another scene, by name and size.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let joints = self.joints.iter().map(|(name, kind, _)| (name, kind.name()));
        let others = other.joints.iter().map(|(name, kind, _)| (name, kind.name()));
        self.sizes == other.sizes
            && self.nodes == other.nodes
            && self.components().eq(other.components())
            && self.colliders == other.colliders
            && joints.eq(others)
    }

    /// Names of masses, force fields and constraints.
    pub(crate) fn components(&self) -> impl Iterator<Item = &str> + Clone {
        let all = [&self.masses, &self.forces, &self.constraints];
        all.into_iter().flatten().map(String::as_str)
    }
}
