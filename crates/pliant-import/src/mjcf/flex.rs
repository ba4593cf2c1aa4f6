//! Deformables: what `flex` and `flexcomp` have in common, and `flex` itself.

use super::Reader;
use super::keys::Coordinate;
use super::particles;
use super::settings::{truth, word};
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::layout::starts;
use crate::robot::{EdgeRows, Edges, Elasticity, Flex, FlexSurface, Particle, Robot, Tie, Vertex};
use crate::xml::Attribute;
use pliant_dense::Vec3;
use std::collections::{HashMap, HashSet};

type Result<T> = std::result::Result<T, ImportError>;

/// Attributes that are of pictures.
pub(super) const PICTURES: [&str; 6] = [
    "material",
    "rgba",
    "group",
    "flatskin",
    "texcoord",
    "elemtexcoord",
];
/// Elements inside of both.
pub(super) const INSIDE: [&str; 3] = ["edge", "elasticity", "contact"];
/// MuJoCo's default time constant and damping ratio of rows, and the impedance where they begin to
/// give way.
const ROW: ([f64; 2], [f64; 2]) = ([0.02, 1.0], [0.9, 0.95]);

/// The radius of cells by default (m).
const RADIUS: f64 = 0.005;

/// Numbers that are whole and not negative, if the attribute is there.
pub(super) fn counts(reader: &Reader<'_>, of: usize, key: &str) -> Result<Option<Vec<usize>>> {
    let Some(list) = reader.tree.list(of, key)? else {
        return Ok(None);
    };
    let whole = |x: &f64| (x.fract() == 0.0 && *x >= 0.0 && *x <= 1e9).then_some(*x as usize);
    match list.iter().map(whole).collect() {
        Some(list) => Ok(Some(list)),
        None => {
            let message = format!("`{key}` has a number that is no count");
            wrong(reader, of, key, message)
        }
    }
}

/// An error at an attribute, or at its element without it.
pub(super) fn wrong<T>(reader: &Reader<'_>, of: usize, key: &str, message: String) -> Result<T> {
    let spot = reader.tree.attribute(of, key).map_or(reader.spot(of), |a| a.spot);
    reader.tree.wrong(spot, message, None)
}

/// The number of cells that a dimension makes.
pub(super) fn dimension(reader: &Reader<'_>, of: usize) -> Result<usize> {
    match reader.tree.number(of, "dim")?.unwrap_or(2.0) {
        1.0 => Ok(1),
        2.0 => Ok(2),
        3.0 => Ok(3),
        other => wrong(
            reader,
            of,
            "dim",
            format!("`dim` is {other}, and may be 1, 2 or 3"),
        ),
    }
}

/// Numbers of vertices in cells of so many corners, all of them there and different in each.
pub(super) fn cells(
    reader: &Reader<'_>,
    of: usize,
    corners: usize,
    vertices: usize,
) -> Result<Vec<Vec<usize>>> {
    let bad = |message: String| wrong(reader, of, "element", message);
    reader.tree.needed(of, "element")?;
    let list = counts(reader, of, "element")?.unwrap_or_default();
    if list.is_empty() || list.len() % corners != 0 {
        return bad(format!(
            "`element` has {} numbers, which make no cells of {corners}",
            list.len()
        ));
    }
    if let Some(vertex) = list.iter().find(|vertex| **vertex >= vertices) {
        return bad(format!(
            "`element` has {vertex}, and there are {vertices} vertices"
        ));
    }
    let list: Vec<Vec<usize>> = list.chunks_exact(corners).map(<[usize]>::to_vec).collect();
    for (number, cell) in list.iter().enumerate() {
        if cell.iter().collect::<HashSet<_>>().len() < cell.len() {
            return bad(format!("the cell {number} has a vertex twice"));
        }
    }
    Ok(list)
}

/// Parts inside of a deformable of this dimension.
pub(super) struct Inside {
    pub(super) elasticity: Elasticity,
    pub(super) edges: Edges,
    pub(super) surface: Option<FlexSurface>,
}

/// Reads what is inside of a deformable; rows on its edges are those of `flexcomp`.
pub(super) fn read_inside(reader: &mut Reader<'_>, of: usize, dimension: usize) -> Result<Inside> {
    let elasticity = read_elasticity(reader, of, dimension)?;
    let edges = read_edges(reader, of, dimension)?;
    if edges.rows.is_some() && elasticity.young > 0.0 && (elasticity.stretch || !elasticity.bend) {
        let message = "rows on edges and elasticity (`young`) do not go together".to_owned();
        return reader.tree.wrong(reader.spot(of), message, None);
    }
    Ok(Inside {
        elasticity,
        edges,
        surface: read_surface(reader, of, dimension)?,
    })
}

fn read_elasticity(reader: &mut Reader<'_>, flex: usize, dimension: usize) -> Result<Elasticity> {
    let Some(of) = reader.tree.child(flex, "elasticity") else {
        return Ok(Elasticity::default());
    };
    let known = ["young", "poisson", "damping", "thickness", "elastic2d"];
    let of_lines = ["section", "shear", "sectionsize"];
    let known = [&known[..], &of_lines[..if dimension == 1 { 2 } else { 0 }]].concat();
    reader.tree.expect(of, &known, &[]);
    let boxed = word(reader.tree, of, "section", &["circle", "box"])? == Some(1);
    let tree = &*reader.tree;
    let number = |key: &str| tree.not_negative(of, key).map(Option::unwrap_or_default);
    let (young, poisson, damping) = (number("young")?, number("poisson")?, number("damping")?);
    if poisson >= 0.5 {
        let message = format!("`poisson` is {poisson}, and must be below 1/2");
        return wrong(reader, of, "poisson", message);
    }
    let words = ["none", "bend", "stretch", "both"];
    let plane = word(tree, of, "elastic2d", &words)?.unwrap_or_default();
    let thickness = tree.number(of, "thickness")?.unwrap_or(-1.0);
    if plane > 0 && dimension != 2 {
        let message = "`elastic2d` is for a deformable of dimension 2".to_owned();
        return wrong(reader, of, "elastic2d", message);
    }
    if plane > 0 && thickness <= 0.0 {
        let message = "elasticity of a sheet needs a `thickness` above zero".to_owned();
        return wrong(reader, of, "thickness", message);
    }
    let radius = tree.number(flex, "radius")?.unwrap_or(RADIUS);
    if young > 0.0 && dimension == 1 {
        // Each cell has a twist of its own, a coordinate of the file.
        reader.order.push(Coordinate::Unknown);
        let message = match boxed {
            true => "lines with a section that is no circle do not resist bending and twist",
            false => "the twist of lines is not taken",
        };
        reader.tree.remark(reader.tree.elements[of].spot, message);
    }
    if young > 0.0 && dimension == 2 && plane == 0 {
        let message = "`young` of a sheet has no effect without `elastic2d`";
        reader.tree.remark(reader.tree.elements[of].spot, message);
    }
    let acts = match dimension {
        1 => !boxed,
        2 => plane > 0,
        _ => true,
    };
    Ok(Elasticity {
        young: if acts { young } else { 0.0 },
        poisson,
        damping,
        thickness: if dimension == 1 { radius } else { thickness },
        stretch: plane >= 2,
        bend: plane % 2 == 1,
    })
}

fn read_edges(reader: &mut Reader<'_>, flex: usize, dimension: usize) -> Result<Edges> {
    let Some(of) = reader.tree.child(flex, "edge") else {
        return Ok(Edges::default());
    };
    let own = reader.tree.elements[flex].tag == "flexcomp";
    let known = ["stiffness", "damping", "equality", "solref", "solimp"];
    reader.tree.expect(of, &known[..if own { 5 } else { 2 }], &[]);
    let tree = &*reader.tree;
    let stiffness = tree.not_negative(of, "stiffness")?.unwrap_or_default();
    let damping = tree.not_negative(of, "damping")?.unwrap_or_default();
    if stiffness > 0.0 && dimension > 1 {
        let message = "`stiffness` of edges is for a deformable of dimension 1".to_owned();
        return wrong(reader, of, "stiffness", message);
    }
    let words = ["false", "true", "strain", "vert"];
    let rows = match own
        .then(|| word(tree, of, "equality", &words))
        .transpose()?
        .flatten()
    {
        None | Some(0) => None,
        Some(1) => Some(read_rows(reader, of)?),
        Some(_) => {
            let message = "rows on strains or on vertices are not taken: edges are free";
            reader.tree.remark(reader.tree.elements[of].spot, message);
            None
        }
    };
    Ok(Edges {
        stiffness,
        damping,
        rows,
    })
}

/// How rows on lengths give way: MuJoCo wants the acceleration `-b v - k d x` of a row that is off
/// by `x`, by `solref`, and gives it the part `d` of the force that takes, by `solimp`; at rest the
/// force is `k d^2/(1 - d)` times `x` over the inverse mass.
fn read_rows(reader: &Reader<'_>, of: usize) -> Result<EdgeRows> {
    let given = |key: &str, default: [f64; 2]| -> Result<[f64; 2]> {
        let list = reader.tree.list(of, key)?.unwrap_or_default();
        let entry = |i: usize| list.get(i).copied().unwrap_or(default[i]);
        Ok([entry(0), entry(1)])
    };
    let [time, ratio] = given("solref", ROW.0)?;
    let [least, most] = given("solimp", ROW.1)?.map(|d| d.clamp(1e-4, 0.9999));
    let (stiffness, damping) = if time > 0.0 && ratio > 0.0 {
        let time = time.max(2.0 * reader.settings.step);
        let stiffness = 1.0 / (most * time * ratio).powi(2);
        (stiffness, 2.0 / (most * time))
    } else if time < 0.0 && ratio <= 0.0 {
        (-time / (most * most), -ratio / most)
    } else {
        let message = format!("`solref` is {time} {ratio}: both are positive, or none is");
        return wrong(reader, of, "solref", message);
    };
    // The weight is that of MuJoCo's own estimate of the inverse mass.
    Ok(EdgeRows {
        compliance: (1.0 - least) / (least * least * stiffness),
        damping: damping / (least * stiffness),
    })
}

fn read_surface(reader: &mut Reader<'_>, flex: usize, dimension: usize) -> Result<Option<FlexSurface>> {
    let radius = reader.tree.not_negative(flex, "radius")?.unwrap_or(RADIUS);
    if radius == 0.0 && dimension < 3 {
        let message = "`radius` must be above zero but for tetrahedra".to_owned();
        return wrong(reader, flex, "radius", message);
    }
    let of = reader.tree.child(flex, "contact");
    let (mut bits, mut itself) = ((1, 1), true);
    if let Some(of) = of {
        let known = [
            "contype",
            "conaffinity",
            "condim",
            "friction",
            "selfcollide",
            "internal",
            "passive",
        ];
        reader.tree.expect(of, &known, &[]);
        bits = reader.bits(of)?;
        let words = ["none", "narrow", "bvh", "sap", "auto"];
        itself = word(reader.tree, of, "selfcollide", &words)? != Some(0);
        for (key, what) in [
            ("internal", "contacts within cells are not taken"),
            (
                "passive",
                "passive contacts are not taken: its contacts are those of others",
            ),
        ] {
            if truth(reader.tree, of, key)? == Some(true) {
                reader.tree.remark(reader.spot(of), what);
            }
        }
    }
    if !reader.settings.contacts || bits == (0, 0) {
        return Ok(None);
    }
    if radius == 0.0 {
        let message = "tetrahedra without `radius` collide with one of 1 mm";
        reader.tree.remark(reader.spot(flex), message);
    }
    let material = reader.material(of.unwrap_or(flex))?;
    Ok(Some(FlexSurface {
        radius: if radius > 0.0 { radius } else { 1e-3 },
        material,
        bits,
        // Both are its own.
        itself: itself && bits.0 & bits.1 != 0,
    }))
}

/// Reads `flex` elements and rows on edges, and sets where deformables are at rest.
pub(super) fn read_flexes(reader: &mut Reader<'_>, root: usize) -> Result<()> {
    for section in reader.tree.all(root, "deformable") {
        reader.tree.expect(section, &[], &["flex"]);
        for of in reader.tree.all(section, "flex") {
            read_flex(reader, of)?;
        }
    }
    read_rows_of_flexes(reader, root)?;
    let places = starts(&reader.links);
    let in_world = |link: Option<usize>, place: Vec3| link.map_or(place, |l| places[l].point(place));
    for flex in &mut reader.flexes {
        let rest = flex.vertices.iter().map(|vertex| match *vertex {
            Vertex::Particle(number) => {
                let particle = &reader.particles.list[number];
                in_world(particle.parent, particle.place)
            }
            Vertex::On(link, place) => in_world(link, place),
        });
        flex.rest = rest.collect();
    }
    Ok(())
}

fn read_flex(reader: &mut Reader<'_>, of: usize) -> Result<()> {
    let spot = reader.spot(of);
    if reader.tree.attribute(of, "node").is_some() {
        let message = "a flex whose vertices follow nodes is not taken";
        reader.tree.remark(spot, message);
        return Ok(());
    }
    let known = ["name", "dim", "radius", "body", "vertex", "element"];
    reader.tree.expect(of, &[&known[..], &PICTURES].concat(), &INSIDE);
    let dim = dimension(reader, of)?;
    let bodies = reader.tree.needed(of, "body")?.clone();
    let names: Vec<&str> = bodies.value.split_whitespace().collect();
    let given = reader.tree.list(of, "vertex")?;
    let count = given.as_ref().map_or(names.len(), |list| list.len() / 3);
    if given.as_ref().is_some_and(|list| list.len() % 3 != 0) {
        return wrong(
            reader,
            of,
            "vertex",
            "`vertex` has no three numbers for each vertex".to_owned(),
        );
    }
    if names.len() == 1 && given.is_some() {
        let message = "a flex on one body is rigid, and does not collide";
        reader.tree.remark(spot, message);
        return Ok(());
    }
    if names.len() != count || count <= dim {
        let message = format!(
            "`body` has {} names where there are {count} vertices",
            names.len()
        );
        return reader.tree.wrong(bodies.spot, message, None);
    }
    let places = given.unwrap_or_else(|| vec![0.0; 3 * count]);
    let list = cells(reader, of, dim + 1, count)?;
    let mut vertices = Vec::with_capacity(count);
    for (name, place) in names.iter().zip(places.as_chunks::<3>().0) {
        let name = Attribute {
            value: (*name).to_owned(),
            ..bodies.clone()
        };
        vertices.push(vertex(reader, &name, Vec3::from(*place))?);
    }
    let inside = read_inside(reader, of, dim)?;
    let name = reader.tree.value(of, "name").unwrap_or("flex").to_owned();
    let own: Vec<usize> = particle_numbers(&vertices).collect();
    let shared = own.iter().any(|number| reader.particles.used.contains(number));
    if shared || own.iter().collect::<HashSet<_>>().len() < own.len() {
        let message = "a flex whose vertices share a body of three slides, with each other or another flex, is not taken";
        reader.tree.remark(spot, message);
        return Ok(());
    }
    let flex = Flex {
        name,
        vertices,
        rest: Vec::new(),
        cells: list,
        elasticity: inside.elasticity,
        edges: inside.edges,
        surface: inside.surface,
        flat: None,
        spot,
    };
    add_flex(reader, flex);
    Ok(())
}

fn particle_numbers(vertices: &[Vertex]) -> impl Iterator<Item = usize> {
    vertices.iter().filter_map(|vertex| match vertex {
        Vertex::Particle(number) => Some(*number),
        Vertex::On(..) => None,
    })
}

/// A vertex on the body of a name.
fn vertex(reader: &Reader<'_>, name: &Attribute, place: Vec3) -> Result<Vertex> {
    match reader.particles.names.get(&name.value) {
        // A particle does not turn against its parent.
        Some(number) if place == Vec3::zeros() => Ok(Vertex::Particle(*number)),
        Some(_) => {
            let message = format!(
                "a vertex is not in the middle of `{}`, which only slides",
                name.value
            );
            reader.tree.wrong(name.spot, message, None)
        }
        None => Ok(Vertex::On(reader.body(name)?, place)),
    }
}

/// Adds a deformable without vertices that no cell has; a remark if none of it moves.
pub(super) fn add_flex(reader: &mut Reader<'_>, mut flex: Flex) {
    if particle_numbers(&flex.vertices).next().is_none() {
        let first = |vertex: &Vertex| match vertex {
            Vertex::On(link, _) => *link,
            Vertex::Particle(_) => None,
        };
        let one = flex.vertices.first().and_then(first);
        if flex.vertices.iter().all(|vertex| first(vertex) == one) {
            let message = "a flex on one body is rigid, and does not collide";
            reader.tree.remark(flex.spot, message);
            return;
        }
    }
    let mut number = HashMap::new();
    let mut kept = Vec::new();
    for vertex in flex.cells.iter_mut().flatten() {
        *vertex = *number.entry(*vertex).or_insert_with(|| {
            kept.push(*vertex);
            kept.len() - 1
        });
    }
    // In their own order.
    let mut order = kept.clone();
    order.sort_unstable();
    let place: HashMap<usize, usize> = order.iter().enumerate().map(|(new, old)| (*old, new)).collect();
    for vertex in flex.cells.iter_mut().flatten() {
        *vertex = place[&kept[*vertex]];
    }
    flex.vertices = order.iter().map(|old| flex.vertices[*old]).collect();
    reader.particles.used.extend(particle_numbers(&flex.vertices));
    reader.flexes.push(flex);
}

/// Rows on the edges of deformables in `equality`.
fn read_rows_of_flexes(reader: &mut Reader<'_>, root: usize) -> Result<()> {
    let numbers = reader.flexes.iter().enumerate();
    let numbers: HashMap<String, usize> = numbers.map(|(number, f)| (f.name.clone(), number)).collect();
    let mut all: Option<HashSet<String>> = None;
    for section in reader.tree.all(root, "equality") {
        for of in reader.tree.all(section, "flex") {
            let known = ["name", "class", "active", "flex", "solref", "solimp"];
            reader.tree.expect(of, &known, &[]);
            let wanted = reader.tree.needed(of, "flex")?.clone();
            if truth(reader.tree, of, "active")? == Some(false) {
                continue;
            }
            let rows = read_rows(reader, of)?;
            match numbers.get(&wanted.value) {
                Some(number) => reader.flexes[*number].edges.rows = Some(rows),
                None if all
                    .get_or_insert_with(|| names(reader, root))
                    .contains(&wanted.value) =>
                {
                    let message = "rows of a flex that is not taken are not taken";
                    reader.tree.remark(reader.spot(of), message);
                }
                None => {
                    let known = reader.flexes.iter().map(|flex| flex.name.as_str());
                    let help = pliant_scene::hint(&wanted.value, "flexes", known);
                    let message = format!("there is no flex `{}`", wanted.value);
                    return reader.tree.wrong(wanted.spot, message, help);
                }
            }
        }
    }
    Ok(())
}

/// Names of all deformables of the file, also of those that are not taken.
fn names(reader: &Reader<'_>, root: usize) -> HashSet<String> {
    let mut open = [
        reader.tree.all(root, "deformable"),
        reader.tree.all(root, "worldbody"),
    ]
    .concat();
    let mut out = HashSet::new();
    while let Some(of) = open.pop() {
        let element = &reader.tree.elements[of];
        if ["flex", "flexcomp"].contains(&element.tag.as_str()) {
            out.extend(reader.tree.value(of, "name").map(str::to_owned));
        }
        open.extend(&element.children);
    }
    out
}

/// Whether a name is that of a vertex of a deformable.
pub(super) fn is_vertex(reader: &Reader<'_>, name: &Attribute) -> bool {
    let particles: &particles::Particles = &reader.particles;
    particles.names.contains_key(&name.value)
}

/// Reads a `connect` of which one side at least is a particle; `zero` are the places of links at
/// the coordinates of the file.
pub(super) fn read_tie(
    reader: &mut Reader<'_>,
    of: usize,
    names: [Option<&Attribute>; 2],
    zero: &[Frame],
    robot: &mut Robot,
) -> Result<()> {
    /// Points (m) that are as near as this are one.
    const SAME: f64 = 1e-9;
    let spot = reader.spot(of);
    if reader.tree.elements[of].tag != "connect" {
        let message = "a vertex of a flex that is welded to something is not taken";
        reader.tree.remark(spot, message);
        return Ok(());
    }
    let frame = |link: Option<usize>| link.map_or(Frame::IDENTITY, |l| zero[l]);
    let particle = |number: usize| {
        let Particle { parent, place, .. } = robot.extras.particles[number];
        (parent, frame(parent).point(place))
    };
    let anchor: Vec3 = reader.tree.numbers::<3>(of, "anchor")?.unwrap_or_default().into();
    // Where the point is in the world, and its place on each side.
    let (mut at, mut sides) = (Vec3::zeros(), Vec::new());
    for (index, name) in names.into_iter().enumerate() {
        let known = name.and_then(|name| reader.particles.names.get(&name.value));
        let link = match (known, name) {
            (None, Some(name)) => reader.body(name)?,
            _ => None,
        };
        if index == 0 {
            at = match known {
                Some(number) => {
                    let (parent, centre) = particle(*number);
                    centre + frame(parent).vector(anchor)
                }
                None => frame(link).point(anchor),
            };
        }
        sides.push(match known {
            Some(number) if (particle(*number).1 - at).norm() > SAME => {
                let message = "a row that holds a point beside a vertex of a flex is not taken";
                reader.tree.remark(spot, message);
                return Ok(());
            }
            Some(number) => Vertex::Particle(*number),
            None => Vertex::On(link, frame(link).inverse().point(at)),
        });
    }
    let ([Vertex::Particle(particle), to] | [to, Vertex::Particle(particle)]) = sides[..] else {
        return Ok(());
    };
    let [first, second] = names.map(|name| name.map_or("world", |name| name.value.as_str()));
    let name = match reader.tree.value(of, "name") {
        Some(name) => name.to_owned(),
        None => format!("{first}-{second}"),
    };
    robot.extras.ties.push(Tie {
        name,
        particle,
        to,
        spot,
    });
    Ok(())
}

/// Refuses more points than a scene could have with the cells between them.
pub(super) fn check_count(reader: &Reader<'_>, of: usize, count: usize) -> Result<()> {
    /// Points of a shape that is made.
    const MOST: usize = 200_000;
    if count <= MOST {
        return Ok(());
    }
    wrong(
        reader,
        of,
        "count",
        format!("`count` makes more than {MOST} points"),
    )
}
