//! `flexcomp`: deformables of a shape, whose vertices are particles.

use super::flex::{INSIDE, PICTURES, add_flex, cells, check_count, counts, dimension, read_inside, wrong};
use super::grids::{self, Cells, Grid, Rounding};
use super::keys::Coordinate;
use super::settings::{PLACE, truth, word};
use super::{Reader, particles};
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::robot::{Flex, Particle, Vertex};
use pliant_dense::Vec3;

type Result<T> = std::result::Result<T, ImportError>;

const KINDS: [&str; 10] = [
    "grid",
    "box",
    "cylinder",
    "ellipsoid",
    "square",
    "disc",
    "circle",
    "mesh",
    "gmsh",
    "direct",
];
const FREEDOMS: [&str; 5] = ["full", "2d", "radial", "trilinear", "quadratic"];
const KNOWN: [&str; 15] = [
    "name",
    "type",
    "dof",
    "dim",
    "count",
    "spacing",
    "scale",
    "mass",
    "inertiabox",
    "file",
    "rigid",
    "point",
    "element",
    "radius",
    "origin",
];

/// Reads a deformable inside of a link, of the world if none.
pub(super) fn read_flexcomp(
    reader: &mut Reader<'_>,
    of: usize,
    outer: &Frame,
    parent: Option<usize>,
) -> Result<()> {
    let known = [&KNOWN[..], &PICTURES, &PLACE, &["cellcount"]].concat();
    reader.tree.expect(of, &known, &[&INSIDE[..], &["pin"]].concat());
    let spot = reader.spot(of);
    let name = reader.tree.needed(of, "name")?.value.clone();
    let kind = KINDS[word(reader.tree, of, "type", &KINDS)?.unwrap_or_default()];
    let freedom = FREEDOMS[word(reader.tree, of, "dof", &FREEDOMS)?.unwrap_or_default()];
    let Some((mut shape, grid)) = shape(reader, of, kind)? else {
        return Ok(());
    };
    let corners = shape.cells.first().map_or(0, Vec::len);
    if corners < 2 {
        return wrong(reader, of, "count", format!("`{name}` has no cells"));
    }
    let frame = outer.then(&reader.settings.frame(reader.tree, of)?);
    for point in &mut shape.points {
        *point = frame.point(*point);
    }
    let rigid = truth(reader.tree, of, "rigid")? == Some(true);
    let mut pinned = vec![rigid; shape.points.len()];
    read_pins(
        reader,
        of,
        grid.filter(|_| kind == "grid"),
        corners - 1,
        &mut pinned,
    )?;
    if freedom == "radial" {
        pinned[0] = true;
    }
    let used = used(&shape);
    let count = used.iter().filter(|used| **used).count();
    let free = (0..pinned.len()).filter(|i| used[*i] && !pinned[*i]).count();
    if !matches!(freedom, "full" | "2d") {
        reader.order.push(match freedom {
            "radial" => Coordinate::Other(free),
            // Nodes of a grid around it, of which those in empty cells are held.
            _ => Coordinate::Unknown,
        });
        let message = format!("a deformable of the freedom `{freedom}` is not taken: it is not there");
        reader.tree.remark(spot, message);
        return Ok(());
    }
    let inside = read_inside(reader, of, corners - 1)?;
    let positive = |key: &str, default: f64| -> Result<f64> {
        match reader.tree.number(of, key)?.unwrap_or(default) {
            x if x > 0.0 => Ok(x),
            x => wrong(reader, of, key, format!("`{key}` is {x}, and must be above zero")),
        }
    };
    let mass = positive("mass", 1.0)? / count as f64;
    // A cube of edges of twice this size.
    let moment = mass * 2.0 * positive("inertiabox", 0.005)?.powi(2) / 3.0;
    // Slides are along the axes of the frame that the parent has around it.
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| outer.vector(axis));
    let axes = &axes[..if freedom == "2d" { 2 } else { 3 }];
    let mut vertices = Vec::with_capacity(shape.points.len());
    let mut number = 0;
    for ((place, pinned), used) in shape.points.iter().zip(&pinned).zip(&used) {
        vertices.push(match *pinned || !used {
            true => Vertex::On(parent, *place),
            false => {
                let place = *place;
                let particle = Particle { parent, place, mass };
                let name = format!("{name}_{number}");
                Vertex::Particle(particles::add_particle(reader, of, name, particle, axes, moment)?)
            }
        });
        number += usize::from(*used);
    }
    let flat = (freedom == "2d").then(|| (parent, outer.vector(Vec3::z())));
    let flex = Flex {
        name,
        vertices,
        rest: Vec::new(),
        cells: shape.cells,
        elasticity: inside.elasticity,
        edges: inside.edges,
        surface: inside.surface,
        flat,
        spot,
    };
    add_flex(reader, flex);
    Ok(())
}

/// By point: whether a cell has it.
fn used(shape: &Cells) -> Vec<bool> {
    let mut used = vec![false; shape.points.len()];
    for point in shape.cells.iter().flatten() {
        used[*point] = true;
    }
    used
}

/// Points and cells of a shape in its own frame, and the grid of those that are made; none if it is
/// not taken.
fn shape(reader: &mut Reader<'_>, of: usize, kind: &str) -> Result<Option<(Cells, Option<Grid>)>> {
    let dim = dimension(reader, of)?;
    let scale: Vec3 = reader.tree.numbers::<3>(of, "scale")?.unwrap_or([1.0; 3]).into();
    if scale.min() <= 0.0 {
        return wrong(
            reader,
            of,
            "scale",
            "`scale` has a number that is not above zero".to_owned(),
        );
    }
    let scaled = |mut cells: Cells| {
        for point in &mut cells.points {
            point.component_mul_assign(&scale);
        }
        (cells, None)
    };
    match kind {
        "direct" => Ok(Some(scaled(direct(reader, of, dim)?))),
        "mesh" | "gmsh" => Ok(file(reader, of, kind, dim)?.map(scaled)),
        _ => {
            let grid = grid(reader, of, kind, dim)?;
            let made = match (kind, dim) {
                ("circle", 1) => grids::circle(&grid),
                ("grid", 1) => grids::line(&grid),
                ("square" | "disc", _) | ("grid" | "circle", 2) => grids::plane(&grid, kind == "disc"),
                ("grid" | "circle", _) => grids::block(&grid),
                ("cylinder", _) => grids::hollow(&grid, Rounding::Cylinder, dim == 3),
                ("ellipsoid", _) => grids::hollow(&grid, Rounding::Ellipsoid, dim == 3),
                _ => grids::hollow(&grid, Rounding::Box, dim == 3),
            };
            Ok(Some((made, Some(grid))))
        }
    }
}

/// Counts and spacings of a shape that is made.
fn grid(reader: &Reader<'_>, of: usize, kind: &str, dim: usize) -> Result<Grid> {
    let list = counts(reader, of, "count")?.unwrap_or_else(|| vec![10; 3]);
    let Ok(count) = <[usize; 3]>::try_from(list.as_slice()) else {
        return wrong(
            reader,
            of,
            "count",
            format!("`count` has {} numbers where 3 are expected", list.len()),
        );
    };
    let hollow = matches!(kind, "box" | "cylinder" | "ellipsoid");
    if dim == 1 && (hollow || matches!(kind, "square" | "disc")) {
        return wrong(reader, of, "dim", format!("a `{kind}` is not of dimension 1"));
    }
    let plane = matches!(kind, "square" | "disc") || (!hollow && dim == 2);
    let least = if hollow { [2; 3] } else { [1; 3] };
    if count.iter().zip(least).any(|(n, least)| *n < least) || (kind == "circle" && dim == 1 && count[0] < 4)
    {
        return wrong(
            reader,
            of,
            "count",
            format!("`count` is too small for a `{kind}`"),
        );
    }
    if plane && count[2] != 1 {
        let message = format!("`count` has {} along z, and a plane has 1", count[2]);
        return wrong(reader, of, "count", message);
    }
    let points = match (dim, plane) {
        (1, _) => count[0],
        (_, true) => count[0].saturating_mul(count[1]),
        _ => count
            .iter()
            .fold(1, |product: usize, n| product.saturating_mul(*n)),
    };
    check_count(reader, of, points)?;
    let spacing = reader.tree.numbers::<3>(of, "spacing")?.unwrap_or([0.02; 3]);
    let radius = reader.tree.number(of, "radius")?.unwrap_or(0.005);
    if spacing.iter().any(|s| *s < 2.0 * radius || *s <= 0.0) {
        let message = format!("`spacing` is below twice the `radius`, {}", 2.0 * radius);
        return wrong(reader, of, "spacing", message);
    }
    Ok(Grid { count, spacing })
}

/// Points and cells that the file says.
fn direct(reader: &Reader<'_>, of: usize, dim: usize) -> Result<Cells> {
    reader.tree.needed(of, "point")?;
    let list = reader.tree.list(of, "point")?.unwrap_or_default();
    if list.is_empty() || list.len() % 3 != 0 {
        return wrong(
            reader,
            of,
            "point",
            "`point` has no three numbers for each point".to_owned(),
        );
    }
    let points: Vec<Vec3> = list.as_chunks::<3>().0.iter().map(|p| Vec3::from(*p)).collect();
    let cells = cells(reader, of, dim + 1, points.len())?;
    Ok(Cells { points, cells })
}

/// Points and cells of a mesh file; none if it cannot be read.
fn file(reader: &mut Reader<'_>, of: usize, kind: &str, dim: usize) -> Result<Option<Cells>> {
    let name = reader.tree.needed(of, "file")?.clone();
    let path = reader.mesh_path(&name.value);
    let Some((_, mesh)) = reader.meshes.read(reader.tree, name.spot, &path) else {
        let message = "a deformable without its mesh is not there";
        reader.tree.remark(reader.spot(of), message);
        return Ok(None);
    };
    let points: Vec<Vec3> = mesh.vertices.iter().map(|p| Vec3::from(*p)).collect();
    let numbers = |cell: &[u32]| cell.iter().map(|v| *v as usize).collect::<Vec<_>>();
    let triangles = || mesh.triangles.iter().map(|t| numbers(t)).collect::<Vec<_>>();
    let cells = if kind == "gmsh" {
        match (mesh.tetrahedra.is_empty(), mesh.triangles.is_empty()) {
            (false, _) => mesh.tetrahedra.iter().map(|t| numbers(t)).collect(),
            (true, false) => triangles(),
            (true, true) => mesh.edges.iter().map(|e| numbers(e)).collect(),
        }
    } else {
        match dim {
            3 => return filled(reader, of, points, &triangles()).map(Some),
            2 => triangles(),
            _ => mesh.edges.iter().map(|e| numbers(e)).collect(),
        }
    };
    Ok(Some(Cells { points, cells }))
}

/// Tetrahedra between the triangles of a surface and a point inside, which comes first.
fn filled(reader: &Reader<'_>, of: usize, mut points: Vec<Vec3>, triangles: &[Vec<usize>]) -> Result<Cells> {
    reader.tree.needed(of, "origin")?;
    let origin: Vec3 = reader.tree.numbers::<3>(of, "origin")?.unwrap_or_default().into();
    let outwards = |t: &&Vec<usize>| {
        let [a, b, c] = [0, 1, 2].map(|k| points[t[k]] - origin);
        a.cross(&b).dot(&c) > 1e-15
    };
    let cells = triangles.iter().filter(outwards);
    let cells = cells.map(|t| [0].into_iter().chain(t.iter().map(|v| v + 1)).collect());
    let cells = cells.collect();
    points.insert(0, origin);
    Ok(Cells { points, cells })
}

/// Marks the points that are held in the parent.
fn read_pins(
    reader: &mut Reader<'_>,
    of: usize,
    grid: Option<Grid>,
    dim: usize,
    pinned: &mut [bool],
) -> Result<()> {
    for pin in reader.tree.all(of, "pin") {
        reader
            .tree
            .expect(pin, &["id", "range", "grid", "gridrange"], &[]);
        let there = |key: &str, number: usize| {
            if number < pinned.len() {
                return Ok(number);
            }
            wrong(
                reader,
                pin,
                key,
                format!("`{key}` has {number}, and there are {} points", pinned.len()),
            )
        };
        let mut found = Vec::new();
        for number in counts(reader, pin, "id")?.unwrap_or_default() {
            found.push(there("id", number)?);
        }
        let ranges = counts(reader, pin, "range")?.unwrap_or_default();
        if ranges.len() % 2 != 0 {
            return wrong(
                reader,
                pin,
                "range",
                "`range` has no two numbers for each range".to_owned(),
            );
        }
        for pair in ranges.as_chunks::<2>().0 {
            found.extend(there("range", pair[0])?..=there("range", pair[1])?);
        }
        for (key, size) in [("grid", dim), ("gridrange", 2 * dim)] {
            let list = counts(reader, pin, key)?.unwrap_or_default();
            let Some(grid) = grid.filter(|_| dim > 1) else {
                if list.is_empty() {
                    continue;
                }
                return wrong(
                    reader,
                    pin,
                    key,
                    format!("`{key}` is for grids of two or three dimensions"),
                );
            };
            if list.len() % size != 0 {
                return wrong(
                    reader,
                    pin,
                    key,
                    format!("`{key}` has no {size} numbers for each"),
                );
            }
            for corner in list.chunks_exact(size) {
                if corner.iter().enumerate().any(|(k, n)| *n >= grid.count[k % dim]) {
                    return wrong(
                        reader,
                        pin,
                        key,
                        format!("`{key}` has a place outside of the grid"),
                    );
                }
                found.extend(inside(&grid, &corner[..dim], &corner[size - dim..]));
            }
        }
        for point in found {
            pinned[point] = true;
        }
    }
    Ok(())
}

/// Points of a grid from one place to another.
fn inside(grid: &Grid, from: &[usize], to: &[usize]) -> Vec<usize> {
    let at = |list: &[usize], k: usize| list.get(k).copied().unwrap_or_default();
    let mut out = Vec::new();
    for x in at(from, 0)..=at(to, 0) {
        for y in at(from, 1)..=at(to, 1) {
            match from.len() {
                2 => out.push(grid.in_plane(x, y)),
                _ => out.extend((at(from, 2)..=at(to, 2)).map(|z| grid.in_space(x, y, z))),
            }
        }
    }
    out
}
