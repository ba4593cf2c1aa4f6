//! Elastic shells on frames.

use super::deformables::Held;
use super::ends::ParentList;
use super::{Builder, Result, components, deformables, mapped, meshes, sheets};
use crate::deformable::DeformableParts;
use crate::schema::ElasticShell;
use crate::source::Where;
use pliant::continuum::Shell;
use pliant::model::{NodeId, RigidPoints};

pub(super) fn add(builder: &mut Builder<'_>, spec: &ElasticShell) -> Result<()> {
    let name = spec.name.as_str();
    let (mut mesh, file) = sheets::sheet_mesh(builder, name, &spec.shape, true)?;
    let held = Held {
        name,
        key: "fix_boxes",
        fix: &spec.fix,
        boxes: &spec.fix_boxes,
        groups: &spec.fix_groups,
    };
    let fixed = deformables::held_nodes(builder, &held, &mesh.nodes, file.as_ref(), None)?;
    // Bodies, the points that are drawn, and four points of strains of each quadrangle.
    let (bodies, strains) = (mesh.nodes.len(), mesh.quadrangles.len().saturating_mul(4));
    builder.grow(name, bodies.saturating_add(strains))?;
    let place = deformables::placement(
        builder,
        name,
        spec.position.as_ref(),
        spec.rotation.as_ref(),
        spec.velocity.as_ref(),
    )?;
    let mut shell = shell_of(builder, spec)?;
    if let Some(warp) = &spec.warp {
        let warp = builder.triple(warp, Where::Field(name, "warp"))?;
        shell = shell.with_warp(place.turned(warp));
    }
    shell = shell.with_symmetry(&deformables::symmetry(builder, name, &spec.symmetry, &place)?);
    for x in &mut mesh.nodes {
        *x = place.put(*x);
    }
    let parts = shell.add_to(&mut builder.model, name, &mesh);
    let parts = parts.map_err(|e| builder.continuum_error(name, "shape", e))?;
    let frames = parts.frames;
    for body in 0..bodies {
        let moving = builder
            .model
            .set_body_velocity(frames, body, place.velocity(), [0.0; 3]);
        moving.map_err(|e| builder.model_error(e))?;
    }
    let points = centres(builder, name, frames, bodies)?;
    builder.picture.show(points);
    if let Some(file) = &file {
        meshes::remember_groups(builder, frames, file, None);
        meshes::remember_groups(builder, points, file, None);
    }
    builder.deform(name, DeformableParts::Shell(Box::new(parts), points));
    deformables::cover(builder, points, mesh.cover());
    if !fixed.is_empty() {
        components::fix_always(builder, frames, fixed);
    }
    Ok(())
}

/// The points at the centres of the bodies, between which the surface is drawn.
fn centres(builder: &mut Builder<'_>, name: &str, frames: NodeId, count: usize) -> Result<NodeId> {
    let user = format!("{name}.points");
    let list = ParentList {
        user: &user,
        names: &[],
        nodes: vec![frames],
    };
    let all: Vec<_> = (0..count).map(|i| (i, [0.0; 3])).collect();
    mapped::add_mapped(builder, &list, count, RigidPoints::new(&all))
}

fn shell_of(builder: &Builder<'_>, spec: &ElasticShell) -> Result<Shell> {
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    let mut shell = Shell::isotropic(
        builder.number(&spec.young, field("young"))?,
        builder.number(&spec.poisson, field("poisson"))?,
        builder.number(&spec.thickness, field("thickness"))?,
    )
    .with_density(builder.number(&spec.density, field("density"))?)
    .with_relaxation_time(components::not_negative(
        builder,
        &spec.relaxation_time,
        field("relaxation_time"),
    )?);
    if let Some(angle) = &spec.fold {
        shell = shell.with_fold(builder.number(angle, field("fold"))?);
    }
    if let Some(factor) = &spec.drill_factor {
        shell = shell.with_drill_factor(builder.number(factor, field("drill_factor"))?);
    }
    Ok(match spec.treatment {
        None => shell,
        Some(given) => shell.with_treatment(given),
    })
}
