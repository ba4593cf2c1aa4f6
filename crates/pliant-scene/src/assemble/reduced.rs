//! Solids that are reduced to a few modes in a floating frame.

use super::deformables::Placement;
use super::selections::{self, Candidates};
use super::solid_materials::Materials;
use super::{Builder, Result, components, deformables};
use crate::schema::{ReducedSpec, Solid as Spec};
use crate::source::Where;
use pliant::continuum::Mesh;
use pliant::model::{Model, NodeId, Pose};
use pliant::{Error, FixedModes, Interface, Reduction, Simulation};

/// Refuses what a floating body cannot have.
pub(super) fn check_keys(builder: &Builder<'_>, spec: &Spec) -> Result<()> {
    if spec.reduced.is_none() {
        return Ok(());
    }
    let name = spec.name.as_str();
    let given = [
        ("on", spec.on.is_some(), None),
        ("repeat", spec.repeat.is_some(), Some("write it once for each")),
        ("symmetry", !spec.symmetry.is_empty(), None),
        ("muscles", !spec.muscles.is_empty(), None),
        ("enhanced_strains", spec.enhanced_strains.is_some(), None),
        ("fix", !spec.fix.is_empty(), Some(HELD)),
        ("fix_boxes", !spec.fix_boxes.is_empty(), Some(HELD)),
        ("fix_groups", !spec.fix_groups.is_empty(), Some(HELD)),
    ];
    let Some((key, _, help)) = given.into_iter().find(|(_, there, _)| *there) else {
        return Ok(());
    };
    let message = format!("`{name}` is `reduced` to modes in a floating frame, so it has no `{key}`");
    builder.wrong(
        &[Where::Field(name, key), Where::Name(name)],
        message,
        help.map(str::to_owned),
    )
}

const HELD: &str = "a joint `Fixed` to an interface holds it";

/// The nodes of each interface, by the places of nodes in the axes of the shape.
pub(super) fn interfaces(
    builder: &Builder<'_>,
    name: &str,
    spec: &ReducedSpec,
    nodes: &[[f64; 3]],
) -> Result<Vec<Vec<usize>>> {
    let of = Candidates::points(name, nodes, Where::Field(name, "interfaces"));
    let lists = spec.interfaces.iter();
    lists
        .map(|elements| selections::among(builder, elements, &of))
        .collect()
}

/// Adds the reduced body: its points as the node of the solid.
pub(super) fn add(
    builder: &mut Builder<'_>,
    spec: &Spec,
    reduced: &ReducedSpec,
    materials: &Materials<'_>,
    mesh: &Mesh,
    interfaces: Vec<Vec<usize>>,
    places: &[Placement],
) -> Result<()> {
    let name = spec.name.as_str();
    let count = builder.count(&reduced.modes, 0, Where::Field(name, "modes"))?;
    let damping = components::not_negative(builder, &reduced.damping, Where::Field(name, "damping"))?;
    let spin = builder.vector_or_zero(
        reduced.angular_velocity.as_ref(),
        Where::Field(name, "angular_velocity"),
    )?;
    // The full model is one of its own, of which only the modes are kept.
    let scene = std::mem::replace(&mut builder.model, Model::new());
    let made = full_model(builder, spec, materials, mesh, places);
    let full = std::mem::replace(&mut builder.model, scene);
    let node = made?;
    let interfaces = interfaces
        .into_iter()
        .map(|elements| Interface { node, elements });
    let how = Reduction::new(interfaces.collect(), FixedModes::Count(count));
    let found = Simulation::new(full).and_then(|mut simulation| simulation.reduce(&how));
    let body = match found {
        Ok(body) => body,
        Err(Error::Model(error)) => return Err(builder.model_error(error)),
        Err(error) => {
            let why = match &error {
                Error::NoModes { why, .. } => why.clone(),
                error => error.to_string(),
            };
            let message = format!("`{name}` cannot be reduced: {why}");
            let places = [
                Where::Field(name, "interfaces"),
                Where::Field(name, "reduced"),
                Where::Name(name),
            ];
            return builder.wrong(&places, message, None);
        }
    };
    // The frame, the interfaces, the modes, and the points of their inertia.
    let modes = body.modes().len();
    let all = modes
        .saturating_mul(4)
        .saturating_add(5)
        .saturating_add(body.interfaces().len());
    builder.grow(name, all.saturating_add(mesh.nodes.len()))?;
    let model = &mut builder.model;
    let parts = body.add_to(model, name, Pose::default(), damping);
    let added = parts.and_then(|parts| {
        let points = body.add_node(model, name, &parts, node)?;
        model.set_body_velocity(parts.frame, 0, places[0].velocity(), spin)?;
        Ok(points)
    });
    let points = added.map_err(|e| builder.model_error(e))?;
    builder.picture.show(points);
    deformables::cover(builder, points, mesh.surface());
    builder.solids.insert(points, mesh.elements.clone());
    Ok(())
}

/// The nodes of the mesh and the solid on them, in the model of the builder.
fn full_model(
    builder: &mut Builder<'_>,
    spec: &Spec,
    materials: &Materials<'_>,
    mesh: &Mesh,
    places: &[Placement],
) -> Result<NodeId> {
    let node = builder.model.add_particles(&spec.name, &mesh.nodes);
    let node = node.map_err(|e| builder.model_error(e))?;
    materials.add(builder, spec, node, mesh, places)?;
    Ok(node)
}
