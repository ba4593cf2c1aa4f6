//! Parts made of meshes: nets, and particles at the vertices.

use super::mesh_files::mesh;
use super::selections::{self, Candidates};
use super::{Builder, Result, Skin, components, frames, nodes, parts};
use crate::picture::PointRef;
use crate::schema::{Elements, MeshPart, Net, Triple};
use crate::source::Where;
use crate::{Amount, OneOrMany, Units, quantity};
use pliant::continuum::MassMatrix;
use pliant::model::{End, Mass, ModelError, NodeId};
use pliant_expression::suggest;
use pliant_mesh_io::{Mesh, MeshGroup};

/// The mass of a mesh.
struct MeshMass<'a> {
    mass: Option<&'a OneOrMany<quantity::Mass>>,
    density: Option<&'a Amount>,
    matrix: MassMatrix,
}

pub(super) fn add_net(builder: &mut Builder<'_>, spec: &Net) -> Result<()> {
    let name = spec.name.as_str();
    let mesh = mesh(builder, name, "mesh", &spec.mesh)?;
    if !(mesh.tetrahedra.is_empty() && mesh.volumes.is_empty()) {
        let message = format!("{} holds a solid", spec.mesh);
        let help =
            "a `Net` takes meshes of lines, triangles and polygons; a `Solid` takes volumes".to_owned();
        let places = [Where::Field(name, "mesh"), Where::Name(name)];
        return builder.wrong(&places, message, Some(help));
    }
    let points = vertices(builder, name, &mesh, &spec.scale, spec.position.as_ref())?;
    let node = nodes::add_points(builder, name, &points, &[])?;
    let mass = MeshMass {
        mass: spec.mass.as_ref(),
        density: spec.density.as_deref(),
        matrix: spec.mass_matrix,
    };
    mesh_mass(builder, name, node, &mesh, &points, &mass)?;
    let edges = mesh.unique_edges();
    remember(builder, node, &mesh);
    let pairs: Vec<_> = edges
        .iter()
        .map(|[a, b]| (End::element(0, *a as usize), End::element(0, *b as usize)))
        .collect();
    parts::lengths(
        builder,
        name,
        node,
        &pairs,
        &spec.compliance,
        &spec.relaxation_time,
    )?;
    let mut fixed = fixed_vertices(builder, name, &points, &spec.fix)?;
    fixed.extend(group_vertices(builder, name, &mesh, &spec.fix_groups)?);
    if !fixed.is_empty() {
        components::fix_always(builder, node, fixed);
    }
    Ok(())
}

pub(super) fn add_mesh(builder: &mut Builder<'_>, spec: &MeshPart) -> Result<()> {
    let name = spec.name.as_str();
    let mesh = mesh(builder, name, "mesh", &spec.mesh)?;
    let points = vertices(builder, name, &mesh, &spec.scale, spec.position.as_ref())?;
    let node = nodes::add_points(builder, name, &points, &[])?;
    let mass = MeshMass {
        mass: spec.mass.as_ref(),
        density: spec.density.as_deref(),
        matrix: spec.mass_matrix,
    };
    mesh_mass(builder, name, node, &mesh, &points, &mass)?;
    remember(builder, node, &mesh);
    let at = |v: u32| PointRef::Node(node, v as usize);
    builder
        .picture
        .triangles
        .extend(mesh.triangles.iter().map(|t| t.map(at)));
    for [a, b] in mesh.unique_edges() {
        builder.picture.line(at(a), at(b));
    }
    let mut fixed = fixed_vertices(builder, name, &points, &spec.fix)?;
    fixed.extend(group_vertices(builder, name, &mesh, &spec.fix_groups)?);
    if !fixed.is_empty() {
        components::fix_always(builder, node, fixed);
    }
    Ok(())
}

/// Keeps what of a mesh may touch.
fn remember(builder: &mut Builder<'_>, node: NodeId, mesh: &Mesh) {
    let edges = mesh.unique_edges();
    let skin = Skin {
        edges: edges.iter().map(|e| e.map(|v| v as usize)).collect(),
        triangles: mesh.triangles.iter().map(|t| t.map(|v| v as usize)).collect(),
    };
    builder.skins.insert(node, skin);
    remember_groups(builder, node, mesh, None);
}

/// Keeps the points of the groups of a mesh file, whose vertices are the points of these numbers.
pub(super) fn remember_groups(
    builder: &mut Builder<'_>,
    node: NodeId,
    mesh: &Mesh,
    places: Option<&[Option<usize>]>,
) {
    let point = |v: u32| places.map_or(Some(v as usize), |p| p.get(v as usize).copied().flatten());
    let points = |group| mesh.group_vertices(group).into_iter().filter_map(point).collect();
    let groups = mesh
        .groups
        .iter()
        .map(|group| (group.name.clone(), points(group)));
    builder.groups.of_meshes.insert(node, groups.collect());
}

/// Vertices at their places in the scene.
fn vertices(
    builder: &Builder<'_>,
    name: &str,
    mesh: &Mesh,
    scale: &Amount,
    position: Option<&Triple<impl Units>>,
) -> Result<Vec<[f64; 3]>> {
    let scale = builder.positive(scale, Where::Field(name, "scale"))?;
    let origin = match position {
        Some(position) => builder.triple(position, Where::Field(name, "position"))?,
        None => [0.0; 3],
    };
    let place = |v: &[f64; 3]| [0, 1, 2].map(|k| origin[k] + scale * v[k]);
    let points = mesh.vertices.iter().map(place);
    Ok(match builder.frame(name) {
        Some(frame) => points.map(|x| frames::put(&frame, x)).collect(),
        None => points.collect(),
    })
}

/// The mass of the vertices, as `name.mass`.
fn mesh_mass(
    builder: &mut Builder<'_>,
    name: &str,
    node: NodeId,
    mesh: &Mesh,
    points: &[[f64; 3]],
    spec: &MeshMass<'_>,
) -> Result<()> {
    let field = |key| Where::Field(name, key);
    let mass = match (spec.mass, spec.density) {
        (Some(_), None) if spec.matrix == MassMatrix::Consistent => {
            let message = format!("`{name}` has a mass for each vertex, which couples nothing");
            let help = "a consistent matrix is made of a `density`".to_owned();
            return builder.wrong(&[field("mass_matrix"), Where::Name(name)], message, Some(help));
        }
        (Some(OneOrMany::One(number)), None) => Mass::Uniform(builder.number(number, field("mass"))?),
        (Some(OneOrMany::Many(list)), None) => Mass::PerElement(builder.numbers(list, field("mass"))?),
        (None, Some(density)) => {
            let density = builder.positive(density, field("density"))?;
            mass_of_cells(mesh, points, density, spec.matrix).or_else(|error| {
                let places = [field("density"), Where::Name(name)];
                builder.wrong(&places, format!("`{name}`: {error}"), None)
            })?
        }
        _ => {
            let message = format!("`{name}` needs exactly one of `mass` and `density`");
            return builder.wrong(&[field("density"), Where::Name(name)], message, None);
        }
    };
    nodes::add_mass(builder, &format!("{name}.mass"), node, mass)
}

/// The vertices that the key `fix` selects.
fn fixed_vertices(
    builder: &Builder<'_>,
    name: &str,
    points: &[[f64; 3]],
    fix: &Elements,
) -> Result<Vec<usize>> {
    let of = Candidates::points(name, points, Where::Field(name, "fix")).in_world();
    selections::among(builder, fix, &of)
}

/// The vertices of groups of a mesh, by the key `fix_groups`.
pub(super) fn group_vertices(
    builder: &Builder<'_>,
    name: &str,
    mesh: &Mesh,
    groups: &[String],
) -> Result<Vec<usize>> {
    let mut out = Vec::new();
    for group in groups {
        let found = mesh_group(builder, name, "fix_groups", mesh, group)?;
        out.extend(mesh.group_vertices(found).iter().map(|v| *v as usize));
    }
    Ok(out)
}

/// A group of a mesh that the user names at that key.
pub(super) fn mesh_group<'m>(
    builder: &Builder<'_>,
    name: &str,
    key: &str,
    mesh: &'m Mesh,
    group: &str,
) -> Result<&'m MeshGroup> {
    if let Some(found) = mesh.group(group) {
        return Ok(found);
    }
    let known = mesh.groups.iter().map(|g| g.name.as_str());
    let help = suggest::hint(group, "its groups", known);
    let places = [Where::Literal(name, group), Where::Field(name, key)];
    builder.wrong(&places, format!("the mesh has no group `{group}`"), help)
}

/// The mass of the cells of the highest dimension that the mesh has.
fn mass_of_cells(
    mesh: &Mesh,
    points: &[[f64; 3]],
    density: f64,
    matrix: MassMatrix,
) -> std::result::Result<Mass, String> {
    fn indices<const N: usize>(cells: &[[u32; N]]) -> Vec<[usize; N]> {
        cells.iter().map(|cell| cell.map(|v| v as usize)).collect()
    }
    let consistent = matrix == MassMatrix::Consistent;
    if !mesh.volumes.is_empty() {
        let mut solid = mesh.solid(1.0);
        solid.nodes = points.to_vec();
        let mass = if consistent {
            solid.consistent_mass(density)
        } else {
            solid.lumped_mass(density)
        };
        return mass.map_err(|e| e.to_string());
    }
    let text = |mass: std::result::Result<Mass, ModelError>| mass.map_err(|e| e.to_string());
    if !mesh.tetrahedra.is_empty() {
        let cells = indices(&mesh.tetrahedra);
        return text(if consistent {
            Mass::consistent_tetrahedra(points, &cells, density)
        } else {
            Mass::lumped_tetrahedra(points, &cells, density)
        });
    }
    if !mesh.triangles.is_empty() {
        let cells = indices(&mesh.triangles);
        return text(if consistent {
            Mass::consistent_triangles(points, &cells, density)
        } else {
            Mass::lumped_triangles(points, &cells, density)
        });
    }
    let cells = indices(&mesh.unique_edges());
    text(if consistent {
        Mass::consistent_segments(points, &cells, density)
    } else {
        Mass::lumped_segments(points, &cells, density)
    })
}
