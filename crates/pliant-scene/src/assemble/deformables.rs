//! Common parts of solids and sheets: nodes that do not move, their place in the scene, their
//! surface, and complaints.

use super::selections::{self, Candidates};
use super::{Builder, Result, Skin, frames, mesh_files, meshes, nodes};
use crate::picture::{DrawnFace, PointRef};
use crate::quantity::{Length, Velocity};
use crate::schema::{ActionSpec, CellsSpec, Elements, Rotation, SolidFile, SymmetrySpec, Triple};
use crate::source::Where;
use crate::{Amount, Units};
use pliant::continuum::{Mesh, SheetParts, SolidParts, SymmetryPlane};
use pliant::dense::Vec3;
use pliant::dense::rotation::{self, Quaternion};
use pliant::model::{ElementIndex, NodeId, Space};
use pliant_mesh_io::Mesh as FileMesh;
use std::collections::BTreeMap;

/// Which nodes of a mesh do not move, in the user's words; `key` is that of the boxes.
pub(super) struct Held<'a> {
    pub(super) name: &'a str,
    pub(super) key: &'static str,
    pub(super) fix: &'a Elements,
    pub(super) boxes: &'a [(Triple<Length>, Triple<Length>)],
    pub(super) groups: &'a [String],
}

/// The place of a mesh in the scene, and its velocity.
pub(super) struct Placement {
    origin: [f64; 3],
    turn: Quaternion,
    velocity: [f64; 3],
}

impl Placement {
    /// A vector in the axes of the shape, in those of the scene.
    pub(super) fn turned(&self, vector: [f64; 3]) -> [f64; 3] {
        rotation::rotate(self.turn, Vec3::from(vector)).into()
    }

    /// A point in the axes of the shape, in the scene.
    pub(super) fn put(&self, point: [f64; 3]) -> [f64; 3] {
        let arm = self.turned(point);
        [0, 1, 2].map(|k| self.origin[k] + arm[k])
    }

    /// The point in the axes of the shape that is put here.
    pub(super) fn taken_back(&self, point: [f64; 3]) -> [f64; 3] {
        let [w, x, y, z] = self.turn;
        let arm = [0, 1, 2].map(|k| point[k] - self.origin[k]);
        rotation::rotate([w, -x, -y, -z], Vec3::from(arm)).into()
    }

    /// Velocity of all nodes (m/s).
    pub(super) fn velocity(&self) -> [f64; 3] {
        self.velocity
    }
}

/// The place that `position`, `rotation` and `velocity` say: the origin, not turned, at rest by
/// default.
pub(super) fn placement(
    builder: &Builder<'_>,
    name: &str,
    position: Option<&Triple<impl Units>>,
    turn: Option<&Rotation>,
    velocity: Option<&Triple<Velocity>>,
) -> Result<Placement> {
    let (mut origin, mut turn) = (
        builder.triple_or_zero(position, Where::Field(name, "position"))?,
        nodes::orientation(builder, name, turn)?,
    );
    let mut velocity = builder.triple_or_zero(velocity, Where::Field(name, "velocity"))?;
    if let Some(frame) = builder.frame(name) {
        origin = frames::put(&frame, origin);
        turn = rotation::multiply(frame.rotation, turn);
        velocity = frames::turn(&frame, velocity);
    }
    Ok(Placement {
        origin,
        turn,
        velocity,
    })
}

/// Planes of symmetry of a part at its place: across axes of the scene, and the part does not
/// move through them.
pub(super) fn symmetry(
    builder: &Builder<'_>,
    name: &str,
    planes: &[SymmetrySpec],
    place: &Placement,
) -> Result<Vec<SymmetryPlane>> {
    let at = Where::Field(name, "symmetry");
    let wrong = |message: String| builder.wrong(&[at, Where::Name(name)], message, None);
    let mut out = Vec::new();
    for spec in planes {
        let mut point = [0.0; 3];
        point[spec.axis.index()] = builder.number(&spec.at, at)?;
        let mut normal = [0.0; 3];
        normal[spec.axis.index()] = 1.0;
        let normal = place.turned(normal);
        // Turned by whole quarters, to rounding.
        let Some(axis) = normal.iter().position(|n| n.abs() > 1.0 - 1e-12) else {
            return wrong(format!(
                "`{name}` is turned so that its plane of symmetry is across no axis of the scene"
            ));
        };
        if place.velocity[axis] != 0.0 {
            return wrong(format!("`{name}` has a velocity through its plane of symmetry"));
        }
        let at = place.put(point)[axis];
        out.push(SymmetryPlane { axis, at });
    }
    Ok(out)
}

/// Moves the nodes of a mesh to their place, and adds them as points.
pub(super) fn add_placed(
    builder: &mut Builder<'_>,
    name: &str,
    place: &Placement,
    nodes: &mut [[f64; 3]],
) -> Result<NodeId> {
    for x in nodes.iter_mut() {
        *x = place.put(*x);
    }
    nodes::add_points(builder, name, nodes, &vec![place.velocity; nodes.len()])
}

/// The node of points that a part is put on, as `on` says; `given` are keys of the part, and
/// whether they are there, that are about points of its own.
pub(super) fn points_of(
    builder: &mut Builder<'_>,
    name: &str,
    on: &str,
    count: usize,
    given: &[(&'static str, bool)],
) -> Result<NodeId> {
    let at = Where::Field(name, "on");
    if let Some((key, _)) = given.iter().find(|(_, there)| *there) {
        let message = format!("`{name}` is on points that are there, so it has no `{key}`");
        let help = match *key {
            "density" => Some("points have masses of their own; leave `density` out"),
            key if key.starts_with("fix") => Some("`fixed` of the scene holds them"),
            _ => None,
        };
        let places = [Where::Field(name, key), at, Where::Name(name)];
        return builder.wrong(&places, message, help.map(str::to_owned));
    }
    let node = builder.node(on, name, "on")?;
    let entry = builder.model.node(node);
    let (space, found) = (entry.space, entry.count);
    if space != Space::Real(3) {
        let message = format!("`{on}` has {space}, not points of space");
        return builder.wrong(&[at, Where::Name(name)], message, None);
    }
    if found != count {
        let message = format!("`{on}` has {found} points, and the shape of `{name}` has {count}");
        return builder.wrong(&[at, Where::Name(name)], message, None);
    }
    if !builder.picture.nodes.contains(&node) {
        builder.picture.show(node);
    }
    Ok(node)
}

/// The density of a part that makes points of its own, as it is given.
pub(super) fn density_of<'a>(
    builder: &Builder<'_>,
    name: &str,
    density: Option<&'a Amount>,
) -> Result<&'a Amount> {
    let Some(density) = density else {
        let message = format!("`{name}` has no `density`");
        let help = "only a part `on` points that are there has none".to_owned();
        return builder.wrong(&[Where::Name(name)], message, Some(help));
    };
    Ok(density)
}

/// Points, and the corners of cells between them.
type GivenCells = (Vec<[f64; 3]>, Vec<Vec<usize>>);

/// Points and cells that stand in the scene; cells have one of these counts of corners.
pub(super) fn cells_of(
    builder: &Builder<'_>,
    name: &str,
    spec: &CellsSpec,
    counts: &[usize],
) -> Result<GivenCells> {
    let points = spec.points.iter();
    let points = points.map(|x| builder.triple(x, Where::Field(name, "points")));
    let points = points.collect::<Result<Vec<_>>>()?;
    let at = Where::Field(name, "cells");
    let mut cells = Vec::with_capacity(spec.cells.len());
    for cell in &spec.cells {
        if !counts.contains(&cell.len()) {
            let known: Vec<String> = counts.iter().map(usize::to_string).collect();
            let message = format!(
                "a cell of `{name}` has {} points where {} make one",
                cell.len(),
                known.join(" or ")
            );
            return builder.wrong(&[at, Where::Name(name)], message, None);
        }
        let corners = cell.iter().map(|n| builder.element(n, name, points.len(), at));
        cells.push(corners.collect::<Result<Vec<_>>>()?);
    }
    Ok((points, cells))
}

/// The cells of a mesh file that a shape takes, times its scale.
pub(super) fn file_mesh(builder: &Builder<'_>, name: &str, shape: &SolidFile) -> Result<FileMesh> {
    let mut file = mesh_files::mesh(builder, name, "file", &shape.file)?;
    if !shape.groups.is_empty() {
        let groups = shape
            .groups
            .iter()
            .map(|g| meshes::mesh_group(builder, name, "groups", &file, g));
        file = file.selection(&groups.collect::<Result<Vec<_>>>()?);
    }
    let scale = builder.positive(&shape.scale, Where::Field(name, "scale"))?;
    for x in file.vertices.as_flattened_mut() {
        *x *= scale;
    }
    Ok(file)
}

/// Draws triangles of points, and keeps them with their edges as what may touch.
pub(super) fn cover(builder: &mut Builder<'_>, node: NodeId, triangles: Vec<[usize; 3]>) {
    let sides = triangles
        .iter()
        .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]);
    let mut edges: Vec<[usize; 2]> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    let at = |v: usize| PointRef::Node(node, v);
    builder
        .picture
        .triangles
        .extend(triangles.iter().map(|t| t.map(at)));
    builder.skins.insert(node, Skin { edges, triangles });
}

/// Whether elements of a part may go: by a rule of the scene, or by an event.
pub(super) fn may_break(builder: &Builder<'_>, name: &str) -> bool {
    let of_rules = builder.scene.breaking.iter().map(|rule| &rule.of);
    let actions = builder.scene.events.iter().flat_map(|event| &event.actions);
    let of_events = actions.filter_map(|action| match action {
        ActionSpec::Remove(spec) => Some(&spec.of),
        _ => None,
    });
    of_rules.chain(of_events).any(|of| of == name)
}

/// Says of which elements the triangles of a sheet are that were drawn last.
pub(super) fn faces_of_sheet(builder: &mut Builder<'_>, parts: &SheetParts) {
    let (triangles, quadrangles) = (parts.cells.triangles.len(), parts.cells.quadrangles.len());
    let count = triangles.saturating_add(quadrangles.saturating_mul(2));
    let first = builder.picture.triangles.len().saturating_sub(count);
    let node = parts.strains.index();
    let points = parts.element_points();
    let halves = (triangles..points.len()).flat_map(|element| [element, element]);
    let elements = (0..triangles).chain(halves);
    let faces = (first..).zip(elements).map(|(triangle, element)| DrawnFace {
        triangle,
        of: ElementIndex {
            node,
            element: points[element].start,
        },
        beyond: None,
    });
    builder.picture.faces.extend(faces);
}

/// Draws the faces of a solid whose elements may go: those inside, too, which are not there yet.
pub(super) fn faces_of_solid(builder: &mut Builder<'_>, node: NodeId, mesh: &Mesh, parts: &[SolidParts]) {
    let mut places = BTreeMap::new();
    for part in parts {
        for (element, points) in part.recovery.elements().iter().zip(part.element_points()) {
            let at = ElementIndex {
                node: part.gradients.index(),
                element: points.start,
            };
            places.insert(&element.nodes, at);
        }
    }
    let surface = mesh.surface().len();
    let kept = builder.picture.triangles.len().saturating_sub(surface);
    builder.picture.triangles.truncate(kept);
    let place = |element: usize| places.get(&mesh.elements[element].nodes).copied();
    for (triangles, [of, beyond]) in mesh.faces() {
        for corners in triangles {
            if let Some(of) = of.and_then(place) {
                builder.picture.faces.push(DrawnFace {
                    triangle: builder.picture.triangles.len(),
                    of,
                    beyond: beyond.and_then(place),
                });
            }
            let corners = corners.map(|v| PointRef::Node(node, v));
            builder.picture.triangles.push(corners);
        }
    }
}

/// Nodes by number, by place and by group.
pub(super) fn held_nodes(
    builder: &Builder<'_>,
    held: &Held<'_>,
    nodes: &[[f64; 3]],
    file: Option<&FileMesh>,
    places: Option<&[Option<usize>]>,
) -> Result<Vec<usize>> {
    let Held { name, key, .. } = *held;
    let at = Where::Field(name, "fix");
    let mut fixed = selections::among(builder, held.fix, &Candidates::points(name, nodes, at))?;
    for (least, largest) in held.boxes {
        let at = Where::Field(name, key);
        let (least, largest) = (builder.triple(least, at)?, builder.triple(largest, at)?);
        let inside = |x: &[f64; 3]| (0..3).all(|k| least[k] <= x[k] && x[k] <= largest[k]);
        let before = fixed.len();
        let found = nodes.iter().enumerate().filter(|(_, x)| inside(x));
        fixed.extend(found.map(|(k, _)| k));
        if fixed.len() == before {
            let message = format!("no node of `{name}` lies in one of its `{key}`");
            let help = "the corners are in the axes of the shape, the least one first".to_owned();
            return builder.wrong(&[at, Where::Name(name)], message, Some(help));
        }
    }
    let empty = FileMesh::default();
    for vertex in meshes::group_vertices(builder, name, file.unwrap_or(&empty), held.groups)? {
        fixed.extend(places.map_or(Some(vertex), |places| places.get(vertex).copied().flatten()));
    }
    fixed.sort_unstable();
    fixed.dedup();
    Ok(fixed)
}
