//! Solids of finite elements.

use super::deformables::{Held, Placement};
use super::solid_materials::{self, Cells};
use super::{Builder, Result, components, deformables, meshes, nodes, reduced};
use crate::Amount;
use crate::deformable::DeformableParts;
use crate::schema::{CellsSpec, PronyTermSpec, Solid as Spec, SolidElements, SolidShape};
use crate::source::Where;
use pliant::continuum::{Element, ElementKind, Mesh, PronySeries, PronyTerm};
use pliant_mesh_io::Mesh as FileMesh;

/// A mesh at each of some places, one after the other: with the velocities of its nodes, and those
/// that do not move.
fn at_places(mesh: &Mesh, fixed: &[usize], places: &[Placement]) -> (Mesh, Vec<[f64; 3]>, Vec<usize>) {
    let mut all = Mesh::default();
    let (mut velocities, mut held) = (Vec::new(), Vec::new());
    for place in places {
        let first = all.nodes.len();
        all.nodes.extend(mesh.nodes.iter().map(|x| place.put(*x)));
        all.elements.extend(mesh.elements.iter().map(|element| {
            let nodes: Vec<usize> = element.nodes.iter().map(|n| first.saturating_add(*n)).collect();
            Element::new(element.kind, &nodes)
        }));
        velocities.resize(all.nodes.len(), place.velocity());
        held.extend(fixed.iter().map(|n| first.saturating_add(*n)));
    }
    (all, velocities, held)
}

pub(super) fn add(builder: &mut Builder<'_>, spec: &Spec) -> Result<()> {
    let name = spec.name.as_str();
    reduced::check_keys(builder, spec)?;
    let repeats = repeats(builder, spec)?;
    let (mesh, file) = solid_mesh(builder, spec, repeats.unwrap_or(1))?;
    let (mut mesh, repaired) = if spec.repair {
        let (mesh, repair) = mesh.repaired();
        (mesh, Some(repair.node_map))
    } else {
        (mesh, None)
    };
    mesh.check()
        .map_err(|e| builder.continuum_error(name, "shape", e))?;
    let cells = Cells::of(&mesh, file.as_ref(), spec.elements);
    mesh = match spec.elements {
        SolidElements::AsMade => mesh,
        SolidElements::Tetrahedra => mesh.into_tetrahedra(),
        SolidElements::Quadratic => mesh.into_quadratic(),
        SolidElements::QuadraticTetrahedra => mesh.into_tetrahedra().into_quadratic(),
    };
    let held = Held {
        name,
        key: "fix_boxes",
        fix: &spec.fix,
        boxes: &spec.fix_boxes,
        groups: &spec.fix_groups,
    };
    let fixed = deformables::held_nodes(builder, &held, &mesh.nodes, file.as_ref(), repaired.as_deref())?;
    let materials = solid_materials::read(builder, spec, &cells)?;
    let gradients = pliant::continuum::DeformationGradient::new(&mesh)
        .map_err(|e| builder.continuum_error(name, "shape", e))?;
    let places = placements(
        builder,
        spec,
        repeats,
        [mesh.nodes.len(), gradients.point_count()],
    )?;
    if let Some(reduced) = &spec.reduced {
        let interfaces = reduced::interfaces(builder, name, reduced, &mesh.nodes)?;
        let (mesh, ..) = at_places(&mesh, &fixed, &places);
        return reduced::add(builder, spec, reduced, &materials, &mesh, interfaces, &places);
    }
    let (mesh, velocities, fixed) = at_places(&mesh, &fixed, &places);
    let node = match &spec.on {
        Some(on) => deformables::points_of(builder, name, on, mesh.nodes.len(), &of_own_points(spec))?,
        None => nodes::add_points(builder, name, &mesh.nodes, &velocities)?,
    };
    if let (Some(file), 1) = (&file, places.len()) {
        meshes::remember_groups(builder, node, file, repaired.as_deref());
    }
    let parts = materials.add(builder, spec, node, &mesh, &places)?;
    // Of one place: those of a mirrored solid that is repeated are refused.
    for plane in deformables::symmetry(builder, name, &spec.symmetry, &places[0])? {
        let held = plane.hold(&mut builder.model, node, &mesh.nodes);
        held.map_err(|e| builder.continuum_error(name, "symmetry", e))?;
    }

    deformables::cover(builder, node, mesh.surface());
    let mut elements = Vec::new();
    if deformables::may_break(builder, name) {
        deformables::faces_of_solid(builder, node, &mesh, &parts);
        elements = cells.elements_of_parts(&mesh, &parts);
    }
    builder.deform(name, DeformableParts::Solid(parts));
    if let Some(solid) = builder.deformables.last_mut() {
        solid.cells = elements;
    }
    builder.solids.insert(node, mesh.elements);
    if !fixed.is_empty() {
        components::fix_always(builder, node, fixed);
    }
    Ok(())
}

/// Keys about points that a solid makes, and whether they are given.
fn of_own_points(spec: &Spec) -> [(&'static str, bool); 7] {
    let of_materials = spec.materials.iter().any(|part| part.density.is_some());
    [
        ("density", spec.density.is_some() || of_materials),
        ("velocity", spec.velocity.is_some()),
        ("repeat", spec.repeat.is_some()),
        ("symmetry", !spec.symmetry.is_empty()),
        ("fix", !spec.fix.is_empty()),
        ("fix_boxes", !spec.fix_boxes.is_empty()),
        ("fix_groups", !spec.fix_groups.is_empty()),
    ]
}

/// How often a solid is repeated, if it is.
fn repeats(builder: &Builder<'_>, spec: &Spec) -> Result<Option<usize>> {
    let Some(count) = &spec.repeat else {
        return Ok(None);
    };
    let name = spec.name.as_str();
    let at = Where::Field(name, "repeat");
    if !spec.symmetry.is_empty() {
        let message = format!("`{name}` is repeated, so it has no planes of symmetry");
        return builder.wrong(&[at, Where::Name(name)], message, None);
    }
    builder.count(count, 1, at).map(Some)
}

/// Elements of a solid: its nodes, and twice its quadrature points.
fn elements(nodes: usize, points: usize) -> usize {
    nodes.saturating_add(points.saturating_mul(2))
}

/// Checks the size of solids ahead of their mesh: hexahedra and nodes of one solid, which the
/// counts at a key make. Nodes in the middles of edges come on top.
fn check_cells(
    builder: &Builder<'_>,
    spec: &Spec,
    key: &'static str,
    [cells, nodes, repeats]: [usize; 3],
) -> Result<()> {
    /// Tetrahedra that a hexahedron is cut into.
    const CUT: usize = 6;
    let (kind, each) = match spec.elements {
        SolidElements::AsMade => (ElementKind::Hex8, 1),
        SolidElements::Quadratic => (ElementKind::Hex20, 1),
        SolidElements::Tetrahedra => (ElementKind::Tet4, CUT),
        SolidElements::QuadraticTetrahedra => (ElementKind::Tet10, CUT),
    };
    let points = kind.quadrature(kind.stiffness_degree()).points.len();
    let one = elements(nodes, points.saturating_mul(each).saturating_mul(cells));
    let name = spec.name.as_str();
    builder.check_size(Where::Field(name, key), one)?;
    builder.check_size(Where::Field(name, "repeat"), one.saturating_mul(repeats))
}

/// The places of a solid, one or as many as it is repeated, whose quadrature points are counted.
fn placements(
    builder: &mut Builder<'_>,
    spec: &Spec,
    repeats: Option<usize>,
    [nodes, points]: [usize; 2],
) -> Result<Vec<Placement>> {
    let name = spec.name.as_str();
    if let Some(count) = repeats {
        let all = count.saturating_mul(elements(nodes, points));
        builder.check_size(Where::Field(name, "repeat"), all)?;
    }
    let indices: Vec<Option<usize>> = match repeats {
        None => vec![None],
        Some(count) => (0..count).map(Some).collect(),
    };
    // The nodes are counted where they are added.
    builder.grow(name, indices.len().saturating_mul(elements(0, points)))?;
    let mut places = Vec::with_capacity(indices.len());
    for index in indices {
        builder.index = index;
        let place = deformables::placement(
            builder,
            name,
            spec.position.as_ref(),
            spec.rotation.as_ref(),
            spec.velocity.as_ref(),
        );
        builder.index = None;
        places.push(place?);
    }
    Ok(places)
}

/// The mesh in the axes of the shape, and the file that it came from.
fn solid_mesh(builder: &Builder<'_>, spec: &Spec, repeats: usize) -> Result<(Mesh, Option<FileMesh>)> {
    let name = spec.name.as_str();
    let field = |key| Where::Field(name, key);
    let cells = |number, key| builder.count(number, 1, field(key));
    let length = |number, key| builder.positive(number, field(key));
    // Cells along each axis, with or without a node more than cells.
    let product = |counts: [usize; 3]| counts.into_iter().fold(1, usize::saturating_mul);
    let grid = |counts: [usize; 3]| product(counts.map(|n| n.saturating_add(1)));
    let check = |key, cells, nodes| check_cells(builder, spec, key, [cells, nodes, repeats]);
    let made = match &spec.shape {
        SolidShape::Box(b) => {
            let [nx, ny, nz] = &b.cells;
            let counts = [cells(nx, "cells")?, cells(ny, "cells")?, cells(nz, "cells")?];
            check("cells", product(counts), grid(counts))?;
            Mesh::hexahedral_box(builder.triple(&b.size, field("size"))?, counts)
        }
        SolidShape::Ball(b) => {
            let (core, layers) = (cells(&b.cells, "cells")?, cells(&b.layers, "layers")?);
            check("cells", product([core; 3]), grid([core; 3]))?;
            // Six sides of the cube.
            let shell = product([core, core, layers]).saturating_mul(6);
            check("layers", shell, shell)?;
            Mesh::ball(length(&b.radius, "radius")?, core, layers)
        }
        SolidShape::Cylinder(c) => {
            let (core, layers) = (cells(&c.cells, "cells")?, cells(&c.layers, "layers")?);
            let slices = cells(&c.slices, "slices")?;
            let square = [core, core, 1];
            check("cells", product(square), grid(square))?;
            // Four sides of the square.
            let ring = product([core, layers, 4]);
            check("layers", ring, ring)?;
            let section = product(square).saturating_add(ring);
            let all = section.saturating_mul(slices);
            check("slices", all, all)?;
            let (radius, height) = (length(&c.radius, "radius")?, length(&c.length, "length")?);
            Mesh::cylinder(radius, height, core, layers, slices)
        }
        SolidShape::Tube(t) => {
            let (around, layers) = (cells(&t.around, "around")?, cells(&t.layers, "layers")?);
            let slices = cells(&t.slices, "slices")?;
            check("around", around, around)?;
            let ring = product([around, layers, 1]);
            check("layers", ring, ring)?;
            let all = product([around, layers, slices]);
            check("slices", all, all)?;
            Mesh::tube(
                [
                    length(&t.inner_radius, "inner_radius")?,
                    length(&t.outer_radius, "outer_radius")?,
                ],
                length(&t.length, "length")?,
                around,
                layers,
                slices,
            )
        }
        SolidShape::File(f) => {
            let file = deformables::file_mesh(builder, name, f)?;
            // One quadrature point at least of each.
            let points = file.tetrahedra.len().saturating_add(file.volumes.len());
            let all = elements(file.vertices.len(), points).saturating_mul(repeats);
            builder.check_size(field("file"), all)?;
            return Ok((file.solid(1.0), Some(file)));
        }
        SolidShape::Cells(c) => return Ok((given_mesh(builder, name, c)?, None)),
    };
    let mesh = made.map_err(|e| builder.continuum_error(name, "shape", e))?;
    Ok((mesh, None))
}

/// A mesh that stands in the scene.
fn given_mesh(builder: &Builder<'_>, name: &str, spec: &CellsSpec) -> Result<Mesh> {
    let all = elements(spec.points.len(), spec.cells.len());
    builder.check_size(Where::Field(name, "cells"), all)?;
    // No two kinds have as many nodes.
    let mut counts = ElementKind::ALL.map(ElementKind::node_count);
    counts.sort_unstable();
    let (nodes, cells) = deformables::cells_of(builder, name, spec, &counts)?;
    let element = |corners: Vec<usize>| {
        let kind = ElementKind::ALL.iter().find(|k| k.node_count() == corners.len());
        kind.map(|kind| Element::new(*kind, &corners))
    };
    let elements = cells.into_iter().filter_map(element).collect();
    Ok(Mesh { nodes, elements })
}

/// The relaxation that a spec asks for, if any.
pub(super) fn prony(
    builder: &Builder<'_>,
    name: &str,
    terms: &[PronyTermSpec],
) -> Result<Option<PronySeries>> {
    let at = Where::Field(name, "viscoelastic");
    if terms.is_empty() {
        return Ok(None);
    }
    let share = |given: Option<&Amount>| match given {
        Some(share) => components::not_negative(builder, share, at),
        None => Ok(0.0),
    };
    let term = |t: &PronyTermSpec| {
        let time = builder.positive(&t.time, at)?;
        if t.share.is_some() && (t.shear.is_some() || t.bulk.is_some()) {
            let message =
                format!("a term of `{name}` has a `share` of all moduli, so it has no `shear` and `bulk`");
            return builder.wrong(&[at, Where::Name(name)], message, None);
        }
        if t.share.is_some() {
            return Ok(PronyTerm::new(time, share(t.share.as_deref())?));
        }
        let (shear, bulk) = (share(t.shear.as_deref())?, share(t.bulk.as_deref())?);
        Ok(PronyTerm { time, shear, bulk })
    };
    let terms = terms.iter().map(term).collect::<Result<Vec<_>>>()?;
    let series = PronySeries::new(&terms).map_err(|e| builder.continuum_error(name, "viscoelastic", e))?;
    Ok(Some(series))
}
