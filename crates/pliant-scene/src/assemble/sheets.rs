//! Elastic sheets.

use super::deformables::Held;
use super::{Builder, Result, components, deformables, meshes, solids};
use crate::deformable::DeformableParts;
use crate::schema::{
    BendingSpec, CellsSpec, ElasticSheet as Spec, Elements, SheetElements, SheetMaterial, SheetShape,
};
use crate::source::Where;
use pliant::continuum::{Bending, Sheet, SheetMesh};
use pliant_mesh_io::Mesh as FileMesh;

pub(super) fn add(builder: &mut Builder<'_>, spec: &Spec) -> Result<()> {
    let name = spec.name.as_str();
    let uncut = matches!(spec.elements, SheetElements::Quadrangles);
    let (mut mesh, file) = sheet_mesh(builder, name, &spec.shape, uncut)?;
    let held = |key, fix, boxes, groups| Held {
        name,
        key,
        fix,
        boxes,
        groups,
    };
    let fixed = held("fix_boxes", &spec.fix, &spec.fix_boxes, &spec.fix_groups);
    let fixed = deformables::held_nodes(builder, &fixed, &mesh.nodes, file.as_ref(), None)?;
    let none = Elements::default();
    let clamped = held("clamp_boxes", &none, &spec.clamp_boxes, &[]);
    let clamped = deformables::held_nodes(builder, &clamped, &mesh.nodes, file.as_ref(), None)?;
    // The nodes are counted where they are added.
    let cells = [mesh.triangles.len(), mesh.quadrangles.len()];
    builder.grow(name, elements(0, cells))?;

    let place = deformables::placement(
        builder,
        name,
        spec.position.as_ref(),
        spec.rotation.as_ref(),
        spec.velocity.as_ref(),
    )?;
    let mut sheet = sheet_of(builder, spec)?.with_clamped(&clamped);
    if let Some(warp) = &spec.warp {
        let warp = builder.triple(warp, Where::Field(name, "warp"))?;
        sheet = sheet.with_warp(place.turned(warp));
    }
    sheet = sheet.with_symmetry(&deformables::symmetry(builder, name, &spec.symmetry, &place)?);
    let node = match &spec.on {
        Some(on) => deformables::points_of(builder, name, on, mesh.nodes.len(), &of_own_points(spec))?,
        None => deformables::add_placed(builder, name, &place, &mut mesh.nodes)?,
    };
    if let Some(file) = &file {
        meshes::remember_groups(builder, node, file, None);
    }
    let parts = sheet.add_on(&mut builder.model, name, node, &mesh);
    let parts = parts.map_err(|e| builder.continuum_error(name, "shape", e))?;
    deformables::cover(builder, node, mesh.cover());
    if deformables::may_break(builder, name) {
        deformables::faces_of_sheet(builder, &parts);
    }
    builder.deform(name, DeformableParts::Sheet(Box::new(parts)));
    let mut still = [fixed, clamped].concat();
    still.sort_unstable();
    still.dedup();
    if !still.is_empty() {
        components::fix_always(builder, node, still);
    }
    Ok(())
}

/// Keys about points that a sheet makes, and whether they are given.
fn of_own_points(spec: &Spec) -> [(&'static str, bool); 7] {
    [
        ("density", spec.density.is_some()),
        ("velocity", spec.velocity.is_some()),
        ("symmetry", !spec.symmetry.is_empty()),
        ("clamp_boxes", !spec.clamp_boxes.is_empty()),
        ("fix", !spec.fix.is_empty()),
        ("fix_boxes", !spec.fix_boxes.is_empty()),
        ("fix_groups", !spec.fix_groups.is_empty()),
    ]
}

/// The mesh in the axes of the shape, and the file that it came from.
pub(super) fn sheet_mesh(
    builder: &Builder<'_>,
    name: &str,
    shape: &SheetShape,
    uncut: bool,
) -> Result<(SheetMesh, Option<FileMesh>)> {
    let field = |key| Where::Field(name, key);
    match shape {
        SheetShape::Rectangle(r) => {
            let length = |number| builder.positive(number, field("size"));
            let cells = |number| builder.count(number, 1, field("cells"));
            let size = [length(&r.size.0)?, length(&r.size.1)?];
            let cells = [cells(&r.cells.0)?, cells(&r.cells.1)?];
            let count = cells[0].saturating_mul(cells[1]);
            let nodes = cells.map(|n| n.saturating_add(1));
            let made = if uncut {
                [0, count]
            } else {
                [count.saturating_mul(2), 0]
            };
            let all = elements(nodes[0].saturating_mul(nodes[1]), made);
            builder.check_size(field("cells"), all)?;
            let mesh = if uncut {
                SheetMesh::quadrangles(size, cells)
            } else {
                SheetMesh::rectangle(size, cells, !r.one_way)
            };
            Ok((mesh, None))
        }
        SheetShape::File(f) => {
            let file = deformables::file_mesh(builder, name, f)?;
            builder.check_size(field("file"), elements(file.vertices.len(), [0; 2]))?;
            let (triangles, quadrangles) = if uncut {
                file.faces()
            } else {
                (file.triangles.clone(), Vec::new())
            };
            let mesh = SheetMesh {
                nodes: file.vertices.clone(),
                triangles: triangles.iter().map(|t| t.map(|v| v as usize)).collect(),
                quadrangles: quadrangles.iter().map(|q| q.map(|v| v as usize)).collect(),
            };
            Ok((mesh, Some(file)))
        }
        SheetShape::Cells(c) => Ok((given_mesh(builder, name, c, uncut)?, None)),
    }
}

/// A mesh that stands in the scene; quadrangles are cut unless they are wanted whole.
fn given_mesh(builder: &Builder<'_>, name: &str, spec: &CellsSpec, uncut: bool) -> Result<SheetMesh> {
    let all = elements(spec.points.len(), [spec.cells.len(), 0]);
    builder.check_size(Where::Field(name, "cells"), all)?;
    let (nodes, cells) = deformables::cells_of(builder, name, spec, &[3, 4])?;
    let (mut triangles, mut quadrangles) = (Vec::new(), Vec::new());
    for cell in cells {
        match cell[..] {
            [a, b, c, d] if uncut => quadrangles.push([a, b, c, d]),
            [a, b, c, d] => triangles.extend([[a, b, c], [a, c, d]]),
            [a, b, c] => triangles.push([a, b, c]),
            _ => {}
        }
    }
    Ok(SheetMesh {
        nodes,
        triangles,
        quadrangles,
    })
}

/// Elements of a sheet of so many nodes, triangles and quadrangles: nodes, triangles twice, and
/// edges twice, half as many more than triangles; four strains of a quadrangle.
fn elements(nodes: usize, [triangles, quadrangles]: [usize; 2]) -> usize {
    nodes
        .saturating_add(triangles.saturating_mul(5))
        .saturating_add(quadrangles.saturating_mul(4))
}

fn sheet_of(builder: &Builder<'_>, spec: &Spec) -> Result<Sheet> {
    let name = spec.name.as_str();
    let number = |value, key| builder.number(value, Where::Field(name, key));
    let thickness = number(&spec.thickness, "thickness")?;
    let sheet = match &spec.material {
        SheetMaterial::Isotropic(m) => {
            let young = builder.positive(&m.young, Where::Field(name, "young"))?;
            Sheet::isotropic(young, number(&m.poisson, "poisson")?, thickness)
        }
        SheetMaterial::Woven(m) => {
            let at = Where::Field(name, "material");
            let compliances = [
                components::not_negative(builder, &m.warp, at)?,
                components::not_negative(builder, &m.weft, at)?,
                components::not_negative(builder, &m.shear, at)?,
            ];
            Sheet::orthotropic(compliances, number(&m.poisson, "poisson")?, thickness)
        }
    };
    let bending = match &spec.bending {
        BendingSpec::None => Bending::None,
        BendingSpec::Hinges(d) => Bending::Hinges(number(d, "bending")?),
        BendingSpec::Quadratic(d) => Bending::Quadratic(number(d, "bending")?),
        BendingSpec::Shell => Bending::Shell,
    };
    let sheet = match &spec.on {
        Some(_) => sheet.without_mass(),
        None => {
            let density = deformables::density_of(builder, name, spec.density.as_deref())?;
            sheet.with_density(number(density, "density")?)
        }
    };
    let sheet = sheet
        .with_bending(bending)
        .with_stretch(number(&spec.stretch, "stretch")?)
        .with_relaxation_time(components::not_negative(
            builder,
            &spec.relaxation_time,
            Where::Field(name, "relaxation_time"),
        )?);
    let sheet = match solids::prony(builder, name, &spec.viscoelastic)? {
        Some(series) => sheet.with_viscoelasticity(series),
        None => sheet,
    };
    Ok(match spec.treatment {
        None => sheet,
        Some(given) => sheet.with_treatment(given),
    })
}
