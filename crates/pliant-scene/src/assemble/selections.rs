//! Elements of nodes, by number, by rules over their places at the start, and by names of groups.

use super::values::{describe, owner};
use super::{Builder, Result, Skin, frames};
use crate::Quantity;
use crate::quantity::{Length, Pure};
use crate::schema::{Elements, Selection, Triple};
use crate::source::Where;
use pliant::dense::Vec3;
use pliant::model::{Dependency, NodeId, Subset};
use pliant_expression::suggest;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Selections in selections, and groups that are made of others.
const DEEPEST: usize = 64;
/// Tests of elements for each element that a scene may have.
const TESTS_PER_ELEMENT: usize = 1000;
/// Tests that a selection counts for at least.
const LEAST_TESTS: usize = 100;
/// Share of the largest coordinate by which places may be outside, for rounding.
const SLACK: f64 = 1e-9;

/// The groups of a scene, and what selections of mesh groups need.
#[derive(Default)]
pub(super) struct Groups {
    /// Node and elements of each group that is made.
    made: BTreeMap<String, (NodeId, Vec<usize>)>,
    /// How many nodes of the model were looked at for groups of them.
    seen: usize,
    /// Names of the groups of each node that are to be made.
    waiting: BTreeMap<String, Vec<String>>,
    /// Points of the groups of mesh files.
    pub(super) of_meshes: BTreeMap<NodeId, Vec<(String, Vec<usize>)>>,
    /// Elements that were tested.
    tests: Cell<usize>,
}

impl Groups {
    /// The node and the elements that a group stands for.
    pub(super) fn get(&self, name: &str) -> Option<&(NodeId, Vec<usize>)> {
        self.made.get(name)
    }

    /// The node that a node of a group is part of.
    pub(super) fn base(&self, name: &str) -> Option<NodeId> {
        self.made.get(name).map(|(node, _)| *node)
    }
}

/// The elements that selections choose among.
pub(super) struct Candidates<'a> {
    /// Name of their node.
    pub(super) name: &'a str,
    pub(super) count: usize,
    /// Their places; none of what has no place in space.
    pub(super) places: Option<&'a [[f64; 3]]>,
    /// Triangles between points, and whether they are the surface of a solid.
    skin: Option<(&'a Skin, bool)>,
    groups: &'a [(String, Vec<usize>)],
    /// Whether places are in the axes of the world, not of a shape.
    in_world: bool,
    /// Whether these are cells, not elements of a node.
    cells: bool,
    /// The value that is complained of.
    pub(super) at: Where<'a>,
}

impl<'a> Candidates<'a> {
    /// Points at these places in the axes of a shape, of a part that is not made yet.
    pub(super) fn points(name: &'a str, places: &'a [[f64; 3]], at: Where<'a>) -> Self {
        Self {
            name,
            count: places.len(),
            places: Some(places),
            skin: None,
            groups: &[],
            in_world: false,
            cells: false,
            at,
        }
    }

    /// Cells with these centres in the axes of a shape, and the groups of its mesh.
    pub(super) fn cells(
        name: &'a str,
        centres: &'a [[f64; 3]],
        groups: &'a [(String, Vec<usize>)],
        at: Where<'a>,
    ) -> Self {
        Self {
            groups,
            cells: true,
            ..Self::points(name, centres, at)
        }
    }

    /// Takes the places for those in the axes of the world.
    pub(super) fn in_world(self) -> Self {
        Self {
            in_world: true,
            ..self
        }
    }
}

/// Elements of a node, in the order of a list or else rising.
pub(super) fn of_node(
    builder: &mut Builder<'_>,
    elements: &Elements,
    node: NodeId,
    at: Where<'_>,
) -> Result<Vec<usize>> {
    let (name, space) = (
        builder.model.node(node).name.clone(),
        builder.model.node(node).space,
    );
    let size = space.position_size();
    let mut places = None;
    if builder.model.node(node).is_placed() {
        let all = builder.initial_positions(node)?.chunks_exact(size);
        places = Some(all.map(|x| [x[0], x[1], x[2]]).collect::<Vec<_>>());
    }
    let skin = builder.skins.get(&node);
    let of = Candidates {
        name: &name,
        count: builder.model.node(node).count,
        places: places.as_deref(),
        skin: skin.map(|skin| (skin, builder.solids.contains_key(&node))),
        groups: builder.groups.of_meshes.get(&node).map_or(&[], Vec::as_slice),
        in_world: true,
        cells: false,
        at,
    };
    among(builder, elements, &of)
}

/// Elements among those that there are, in the order of a list or else rising.
pub(super) fn among(builder: &Builder<'_>, elements: &Elements, of: &Candidates<'_>) -> Result<Vec<usize>> {
    if let Elements::List(list) = elements {
        let element = |number: &Quantity<Pure>| builder.element(number, of.name, of.count, of.at);
        return list.iter().map(element).collect();
    }
    let distances = distances(builder, elements, of, 0)?;
    let chosen = distances.iter().enumerate().filter(|(_, d)| **d == 0.0);
    let chosen: Vec<usize> = chosen.map(|(element, _)| element).collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let what = describe(of.at);
    let message = format!(
        "{what} selects none of the {} elements of `{}`",
        of.count, of.name
    );
    let nearest = distances.iter().enumerate().filter(|(_, d)| d.is_finite());
    let nearest = nearest.min_by(|a, b| a.1.total_cmp(b.1));
    let help = nearest.and_then(|(element, distance)| {
        let [x, y, z] = of.places?.get(element)?.map(short);
        let axes = if of.in_world {
            ""
        } else {
            " in the axes of the shape"
        };
        Some(format!(
            "the nearest is element {element} at ({x}, {y}, {z}){axes}, {} m away",
            short(*distance)
        ))
    });
    builder.wrong(&[of.at, owner(of.at)], message, help)
}

/// A number in four digits.
fn short(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// How far each element is from being selected (m): zero if it is, infinite where there is no
/// distance.
fn distances(
    builder: &Builder<'_>,
    elements: &Elements,
    of: &Candidates<'_>,
    depth: usize,
) -> Result<Vec<f64>> {
    if depth == DEEPEST {
        let message = format!(
            "{} is made of itself, or of more than {DEEPEST} others",
            describe(of.at)
        );
        return builder.wrong(&[of.at, owner(of.at)], message, None);
    }
    count_tests(builder, of)?;
    let depth = depth.saturating_add(1);
    match elements {
        Elements::List(list) => {
            let mut distances = vec![f64::INFINITY; of.count];
            for number in list {
                let element = builder.element(number, of.name, of.count, of.at)?;
                distances[element] = 0.0;
            }
            Ok(distances)
        }
        Elements::Group(name) if of.cells => {
            let message = format!(
                "`{name}` is a group of elements of a node, and {} selects cells",
                describe(of.at)
            );
            let help =
                "select cells by number, by place, or by a group of the mesh file: `MeshGroup(\"..\")`";
            let places = [Where::Literal(of.name, name), of.at, owner(of.at)];
            builder.wrong(&places, message, Some(help.to_owned()))
        }
        Elements::Group(name) => {
            let Some(spec) = builder.scene.groups.get(name) else {
                let known = builder.scene.groups.keys().map(String::as_str);
                let help = suggest::hint(name, "groups", known).or_else(|| {
                    Some("`groups: {\"name\": (node: .., select: ..)}` names elements of a node".to_owned())
                });
                let places = [Where::Literal(of.name, name), of.at, owner(of.at)];
                return builder.wrong(&places, format!("unknown group `{name}`"), help);
            };
            if spec.node != of.name {
                let message = format!("`{name}` is a group of `{}`, not of `{}`", spec.node, of.name);
                return builder.wrong(&[of.at, owner(of.at)], message, None);
            }
            distances(builder, &spec.select, of, depth)
        }
        Elements::Select(selection) => match (builder.frame(&selection.file), of.places) {
            // In the axes of the file that says it.
            (Some(frame), Some(places)) if of.in_world => {
                let places: Vec<_> = places.iter().map(|x| frames::local(&frame, *x)).collect();
                let of = Candidates {
                    places: Some(&places),
                    in_world: false,
                    ..*of
                };
                selected(builder, &selection.value, &of, depth)
            }
            _ => selected(builder, &selection.value, of, depth),
        },
    }
}

/// Counts elements that are tested, before they are.
fn count_tests(builder: &Builder<'_>, of: &Candidates<'_>) -> Result<()> {
    let tests = &builder.groups.tests;
    tests.set(tests.get().saturating_add(of.count).saturating_add(LEAST_TESTS));
    let most = builder.limits.elements.saturating_mul(TESTS_PER_ELEMENT);
    if tests.get() <= most {
        return Ok(());
    }
    let message = format!(
        "with {}, selections test more than {most} elements",
        describe(of.at)
    );
    let help = "`--max-elements` raises the limit".to_owned();
    builder.wrong(&[of.at, owner(of.at)], message, Some(help))
}

fn selected(
    builder: &Builder<'_>,
    selection: &Selection,
    of: &Candidates<'_>,
    depth: usize,
) -> Result<Vec<f64>> {
    let triple = |place: &Triple<Length>| builder.triple(place, of.at);
    match selection {
        Selection::All => Ok(vec![0.0; of.count]),
        Selection::Box(least, largest) => {
            let (least, largest) = (triple(least)?, triple(largest)?);
            if (0..3).any(|k| least[k] > largest[k]) {
                let message = format!("a box of {} has no inside", describe(of.at));
                let help = "the least corner is first".to_owned();
                return builder.wrong(&[of.at, owner(of.at)], message, Some(help));
            }
            by_place(builder, of, |x| {
                let out = [0, 1, 2].map(|k| (least[k] - x[k]).max(x[k] - largest[k]).max(0.0));
                Vec3::from(out).norm()
            })
        }
        Selection::Sphere(ball) => {
            let (centre, radius) = (triple(&ball.centre)?, builder.positive(&ball.radius, of.at)?);
            by_place(builder, of, |x| between(x, centre) - radius)
        }
        Selection::Plane(plane) => {
            let (point, normal) = (triple(&plane.point)?, builder.triple(&plane.normal, of.at)?);
            // Scaled first: the square of a large or small normal leaves the range of numbers.
            let size = normal.iter().fold(0.0f64, |m, c| m.max(c.abs()));
            if size == 0.0 {
                let message = format!("a plane of {} has a normal of length zero", describe(of.at));
                return builder.wrong(&[of.at, owner(of.at)], message, None);
            }
            let normal = Vec3::from(normal.map(|c| c / size)).normalize();
            let within = match &plane.within {
                Some(number) => Some(super::components::not_negative(builder, number, of.at)?),
                None => None,
            };
            by_place(builder, of, |x| {
                let height = (Vec3::from(x) - Vec3::from(point)).dot(&normal);
                within.map_or(0.0 - height, |within| height.abs() - within)
            })
        }
        Selection::Nearest(place) => {
            let place = triple(place)?;
            let all = by_place(builder, of, |x| between(x, place))?;
            let nearest = all.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
            Ok(members(of, nearest.map(|(element, _)| element)))
        }
        Selection::Range(range) => {
            let last = of.count.saturating_sub(1);
            let from = builder.element(&range.from, of.name, of.count, of.at)?;
            let to = match &range.to {
                Some(to) => builder.element(to, of.name, of.count, of.at)?,
                None => last,
            };
            let by = builder.count(&range.by, 1, of.at)?;
            if from > to {
                let message = format!("a range of {} goes from {from} to {to}", describe(of.at));
                return builder.wrong(&[of.at, owner(of.at)], message, None);
            }
            Ok(members(of, (from..=to).step_by(by)))
        }
        Selection::Surface | Selection::Rim if of.cells => {
            let message = format!(
                "{} selects cells, and `Surface` and `Rim` are of points",
                describe(of.at)
            );
            builder.wrong(&[of.at, owner(of.at)], message, None)
        }
        Selection::Surface | Selection::Rim => Ok(members(of, of_skin(builder, selection, of)?)),
        Selection::MeshGroup(name) => {
            let Some((_, points)) = of.groups.iter().find(|(own, _)| own == name) else {
                let known = of.groups.iter().map(|(own, _)| own.as_str());
                let help = suggest::hint(name, "its groups", known);
                let places = [Where::Literal(of.name, name), of.at, owner(of.at)];
                let message = format!("the mesh of `{}` has no group `{name}`", of.name);
                return builder.wrong(&places, message, help);
            };
            Ok(members(of, points.iter().copied()))
        }
        Selection::And(parts) => combined(builder, parts, of, depth, f64::max),
        Selection::Or(parts) => combined(builder, parts, of, depth, f64::min),
        Selection::Not(part) => {
            let all = distances(builder, part, of, depth)?;
            let outside = |d: &f64| if *d == 0.0 { f64::INFINITY } else { 0.0 };
            Ok(all.iter().map(outside).collect())
        }
    }
}

/// Distances of all selections together.
fn combined(
    builder: &Builder<'_>,
    parts: &[Elements],
    of: &Candidates<'_>,
    depth: usize,
    both: fn(f64, f64) -> f64,
) -> Result<Vec<f64>> {
    let Some((first, rest)) = parts.split_first() else {
        let message = format!("{} has a list of no selections", describe(of.at));
        return builder.wrong(&[of.at, owner(of.at)], message, None);
    };
    let mut all = distances(builder, first, of, depth)?;
    for part in rest {
        let more = distances(builder, part, of, depth)?;
        for (d, other) in all.iter_mut().zip(more) {
            *d = both(*d, other);
        }
    }
    Ok(all)
}

fn between(a: [f64; 3], b: [f64; 3]) -> f64 {
    (Vec3::from(a) - Vec3::from(b)).norm()
}

/// Distances that are zero for these elements alone.
fn members(of: &Candidates<'_>, elements: impl IntoIterator<Item = usize>) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; of.count];
    for element in elements {
        if let Some(distance) = distances.get_mut(element) {
            *distance = 0.0;
        }
    }
    distances
}

/// Distances by the places of elements; what is outside by rounding is inside.
fn by_place(
    builder: &Builder<'_>,
    of: &Candidates<'_>,
    distance: impl Fn([f64; 3]) -> f64,
) -> Result<Vec<f64>> {
    let Some(places) = of.places else {
        let message = format!("elements of `{}` have no place in space", of.name);
        let help = "`Range(..)` and lists select by number".to_owned();
        return builder.wrong(&[of.at, owner(of.at)], message, Some(help));
    };
    let largest = places.as_flattened().iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let slack = SLACK * largest;
    let all = places.iter().map(|x| distance(*x));
    Ok(all.map(|d| if d <= slack { 0.0 } else { d }).collect())
}

/// The points of the surface of a solid, or of the open edges of triangles.
fn of_skin(builder: &Builder<'_>, selection: &Selection, of: &Candidates<'_>) -> Result<Vec<usize>> {
    match (selection, of.skin) {
        (Selection::Surface, Some((skin, true))) => Ok(skin.triangles.as_flattened().to_vec()),
        (Selection::Rim, Some((skin, false))) if !skin.triangles.is_empty() => Ok(rim(&skin.triangles)),
        (Selection::Surface, _) => {
            let message = format!("`{}` is no solid, so it has no `Surface`", of.name);
            let help = "the points of open edges of triangles are its `Rim`".to_owned();
            builder.wrong(&[of.at, owner(of.at)], message, Some(help))
        }
        _ => {
            let message = format!("`{}` is no mesh of triangles, so it has no `Rim`", of.name);
            let help = "the points of the surface of a solid are its `Surface`".to_owned();
            builder.wrong(&[of.at, owner(of.at)], message, Some(help))
        }
    }
}

/// Corners of edges that only one triangle has.
fn rim(triangles: &[[usize; 3]]) -> Vec<usize> {
    let mut is_open: BTreeMap<[usize; 2], bool> = BTreeMap::new();
    for [a, b, c] in triangles {
        for [a, b] in [[*a, *b], [*b, *c], [*c, *a]] {
            let edge = is_open.entry([a.min(b), a.max(b)]);
            edge.and_modify(|open| *open = false).or_insert(true);
        }
    }
    let open = is_open.iter().filter(|(_, open)| **open);
    open.flat_map(|(edge, _)| *edge).collect()
}

/// Makes the groups of nodes that were made since the last call, each a node of its own.
pub(super) fn name_groups(builder: &mut Builder<'_>) -> Result<()> {
    let scene = builder.scene;
    if scene.groups.is_empty() {
        return Ok(());
    }
    if builder.groups.seen == 0 {
        for (name, spec) in &scene.groups {
            let of_node = builder.groups.waiting.entry(spec.node.clone()).or_default();
            of_node.push(name.clone());
        }
    }
    while builder.groups.seen < builder.model.nodes().len() {
        let node = builder.model.nodes()[builder.groups.seen].name.clone();
        builder.groups.seen = builder.groups.seen.saturating_add(1);
        let Some(id) = builder.model.node_named(&node) else {
            continue;
        };
        for name in &builder.groups.waiting.remove(&node).unwrap_or_default() {
            let elements = of_node(builder, &scene.groups[name].select, id, Where::Key(name))?;
            builder.grow(name, elements.len())?;
            let space = builder.model.node(id).space;
            let parts: Vec<_> = elements.iter().map(|e| Dependency::new(0, *e)).collect();
            let made = builder
                .model
                .add_mapped(name, &[id], Subset::of_parents(space, &parts));
            made.map_err(|e| builder.model_error(e))?;
            builder.groups.made.insert(name.clone(), (id, elements));
        }
    }
    Ok(())
}

/// Checks that every group is of a node that there is.
pub(super) fn check_groups(builder: &Builder<'_>) -> Result<()> {
    for (name, spec) in &builder.scene.groups {
        if builder.groups.get(name).is_none() {
            let known = builder.model.nodes().iter().map(|n| n.name.as_str());
            let help = suggest::hint(&spec.node, "nodes", known);
            let places = [Where::Literal(name, &spec.node), Where::Key(name)];
            return builder.wrong(&places, format!("unknown node `{}`", spec.node), help);
        }
    }
    Ok(())
}

/// Whether a name is one of those that a pattern means, in which `*` is any text.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return name.ends_with(part);
        }
        match name.split_once(part) {
            Some((_, behind)) => name = behind,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, name) in [
            ("left_*", "left_tip"),
            ("*", ""),
            ("*tip", "left_tip"),
            ("l*_*p", "left_tip"),
            ("a*a*", "aa"),
            ("a", "a"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("left_*", "right_tip"),
            ("a*a", "a"),
            ("*b*", "aa"),
            ("a", "ab"),
            ("", "a"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn the_rim_of_a_square_of_two_triangles_is_all_its_corners() {
        assert_eq!(rim(&[[0, 1, 2], [0, 2, 3]]).len(), 8);
        // A fan about a corner that is inside.
        let fan = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
        assert!(!rim(&fan).contains(&4));
    }
}
