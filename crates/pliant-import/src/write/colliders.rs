//! Colliders, their materials and the pairs of them that do not meet.

use super::{Surroundings, Writer, flexes, place, rotation, unused};
use crate::numbers::{number, text, tuple, vector};
use crate::robot::{Apart, Collider, Material, Robot, Shape};
use pliant_dense::Vec3;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

/// The most groups of colliders of a scene, beside its own `default`.
const MOST_GROUPS: usize = 31;
/// The most pairs of colliders that do not meet.
const MOST_PAIRS: usize = 1_000_000;
/// The most surfaces that are compared in pairs.
const MOST_SURFACES: usize = 1000;

impl Writer<'_> {
    /// Materials and colliders; pairs that do not meet go to their own list.
    pub(super) fn colliders(&mut self, around: Surroundings) -> (Vec<String>, Vec<String>) {
        let robot = self.robot;
        let mut names: Vec<Vec<String>> = Vec::new();
        let mut taken = HashSet::from(["ground".to_owned()]);
        taken.extend(self.flexes.iter().map(|flex| flex.node.clone()));
        let mut counts = HashMap::new();
        for link in &robot.links {
            names.push(
                link.colliders
                    .iter()
                    .map(|c| unused(&mut taken, &mut counts, &c.name))
                    .collect(),
            );
        }
        let kinds = Kinds::of(self);
        let mut out = Vec::new();
        if let Some(up) = around.ground {
            out.push(format!("Fixed(name: \"ground\", shape: Plane{}),", tuple(&up)));
        }
        for (index, link) in robot.links.iter().enumerate() {
            for (which, (collider, name)) in link.colliders.iter().zip(&names[index]).enumerate() {
                let (owner, frame) = self.in_body(Some(index), &collider.frame);
                let mut entry = match owner {
                    Some(owner) => {
                        format!(
                            "Body(name: {}, body: ({}, 0)",
                            text(name),
                            text(&self.links[owner])
                        )
                    }
                    None => format!("Fixed(name: {}", text(name)),
                };
                let normal = match collider.shape {
                    Shape::Plane => vector(frame.vector(Vec3::z())),
                    _ => String::new(),
                };
                let _ = write!(
                    entry,
                    ", shape: {}{normal}{}",
                    shape(&collider.shape),
                    place("position", frame.position)
                );
                if normal.is_empty() {
                    entry += &rotation(frame.rotation);
                }
                if let Some(material) = collider.material {
                    let _ = write!(entry, ", material: \"surface {}\"", material + 1);
                }
                entry += &kinds.groups(collider, (index, which), around);
                entry.push_str("),");
                out.push(entry);
            }
        }
        self.flex_colliders(&kinds, around, &names, &mut out);
        // Links of a robot that do not meet each other need no list.
        if around.self_collision {
            self.ignore(&names);
        }
        let materials = robot.materials.iter().enumerate().map(|(index, material)| {
            let name = format!("name: \"surface {}\"", index + 1);
            format!("({name}, {}),", coefficients(material))
        });
        (materials.collect(), out)
    }

    /// Colliders of deformables, which do not meet the bodies that carry some of their vertices.
    fn flex_colliders(
        &mut self,
        kinds: &Kinds,
        around: Surroundings,
        names: &[Vec<String>],
        out: &mut Vec<String>,
    ) {
        let robot = self.robot;
        for (flex, written) in robot.extras.flexes.iter().zip(&self.flexes) {
            let Some(surface) = flex.surface else {
                continue;
            };
            let mut entry = flexes::collider(written, flex, surface.radius, surface.itself);
            let name = text(&written.node);
            let _ = write!(entry, ", material: \"surface {}\"", surface.material + 1);
            entry += &kinds.groups_of((surface.bits.0, surface.bits.1, None), around);
            entry.push_str("),");
            out.push(entry);
            let carried =
                |link: &usize| self.layout.owner[*link].is_some_and(|o| written.bodies.contains(&o));
            let links = (0..robot.links.len()).filter(carried);
            let ignored = links.flat_map(|link| &names[link]);
            self.ignored
                .extend(ignored.map(|other| format!("({}, {name}),", text(other))));
        }
    }

    /// Coefficients of materials together that are not by the rule.
    pub(super) fn material_pairs(&mut self) -> Vec<String> {
        let robot = self.robot;
        let pairs = robot.material_pairs.iter();
        let entry = |[a, b]: [usize; 2], material: &Material| {
            let between = format!("between: (\"surface {}\", \"surface {}\")", a + 1, b + 1);
            format!("({between}, {}),", coefficients(material))
        };
        let mut out: Vec<String> = pairs.clone().map(|(between, m)| entry(*between, m)).collect();
        let materials = &robot.materials;
        let alike = materials
            .windows(2)
            .all(|two| two[0].directions == two[1].directions);
        if robot.friction_rule.is_none() || alike {
            return out;
        }
        if materials.len() > MOST_SURFACES {
            let message = format!(
                "of more than {MOST_SURFACES} surfaces, those whose `condim` differs have the friction that each has by itself"
            );
            self.tree.remark_all(message);
            return out;
        }
        // The rule takes the greater of what each surface has by itself. Where one of two asks for
        // more directions than the other, the numbers of this one come into effect as well.
        let given: HashSet<[usize; 2]> = pairs.map(|([a, b], _)| [*a.min(b), *a.max(b)]).collect();
        for (j, b) in materials.iter().enumerate() {
            for (i, a) in materials[..j].iter().enumerate() {
                let both = a.greater(b);
                let (first, second) = (a.effective(), b.effective());
                let by_rule = [0, 1, 2].map(|k| first[k].max(second[k]));
                if both.effective() == by_rule || given.contains(&[i, j]) {
                    continue;
                }
                out.push(entry([i, j], &both));
            }
        }
        out
    }

    /// Links whose bodies a joint joins, and colliders of which meet all the same; remarks on pairs
    /// within one body.
    pub(super) fn find_meeting(&mut self) {
        let robot = self.robot;
        for pair in &robot.pairs {
            let [a, b] = pair.colliders.map(|(link, _)| self.layout.owner[link]);
            if a == b {
                let message = "a pair of geoms of one body has no effect";
                self.tree.remark(pair.spot, message);
            }
            let parent = |link: usize| robot.links[link].parent.and_then(|p| self.layout.owner[p]);
            if let (Some(a), Some(b)) = (a, b) {
                if parent(b) == Some(a) {
                    self.meeting.insert(b, a);
                } else if parent(a) == Some(b) {
                    self.meeting.insert(a, b);
                }
            }
        }
    }

    /// Pairs of colliders on links that do not meet, and on different bodies.
    fn ignore(&mut self, names: &[Vec<String>]) {
        let robot = self.robot;
        let mut bodies: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (link, owner) in self.layout.owner.iter().enumerate() {
            bodies.entry(*owner).or_default().push(link);
        }
        let mut seen = HashSet::new();
        let met = met(robot);
        // What a joint joins meets but for all others of both bodies.
        let joined = self.meeting.iter().map(|(a, b)| Apart {
            links: (*a, *b),
            whole_bodies: true,
        });
        let joined: Vec<Apart> = joined.collect();
        for apart in robot.apart.iter().chain(&joined) {
            let (firsts, seconds) = (
                self.parts(&bodies, apart, apart.links.0),
                self.parts(&bodies, apart, apart.links.1),
            );
            for (first, second) in firsts.iter().flat_map(|a| seconds.iter().map(move |b| (*a, *b))) {
                if self.layout.owner[first] == self.layout.owner[second] {
                    continue;
                }
                let colliders = names[first].iter().enumerate();
                let pairs = colliders.flat_map(|a| names[second].iter().enumerate().map(move |b| (a, b)));
                for ((i, one), (k, other)) in pairs {
                    let pair = ((first, i), (second, k));
                    if met.contains(&(pair.0.min(pair.1), pair.0.max(pair.1))) {
                        continue;
                    }
                    if seen.len() >= MOST_PAIRS {
                        let message = format!(
                            "only the first {MOST_PAIRS} pairs of colliders that do not meet are taken"
                        );
                        self.tree.remark_all(message);
                        return;
                    }
                    if seen.insert((one, other)) {
                        self.ignored.push(format!("({}, {}),", text(one), text(other)));
                    }
                }
            }
        }
    }

    /// The links of a side of a pair that does not collide.
    fn parts(&self, bodies: &HashMap<Option<usize>, Vec<usize>>, apart: &Apart, link: usize) -> Vec<usize> {
        if !apart.whole_bodies {
            return vec![link];
        }
        let owner = self.layout.owner[link];
        if owner.is_none() && !self.robot.base_is_robot {
            return Vec::new();
        }
        bodies.get(&owner).cloned().unwrap_or_default()
    }
}

/// Pairs of colliders that meet all the same, the lower place first.
fn met(robot: &Robot) -> BTreeSet<(Place, Place)> {
    let pairs = robot.pairs.iter().map(|pair| pair.colliders);
    pairs.map(|[a, b]| (a.min(b), a.max(b))).collect()
}

/// Coefficients of friction as keys.
fn coefficients(material: &Material) -> String {
    let [friction, torsional, rolling] = material.effective();
    let mut out = format!("friction: {}", number(friction));
    for (key, x) in [("torsional_friction", torsional), ("rolling_friction", rolling)] {
        if x > 0.0 {
            let _ = write!(out, ", {key}: {}", number(x));
        }
    }
    out
}

/// Whether MJCF lets colliders of these types and affinities meet.
fn meet(a: (u32, u32), b: (u32, u32)) -> bool {
    a.0 & b.1 != 0 || b.0 & a.1 != 0
}

/// A collider: its link, and its number there.
type Place = (usize, usize);
/// Bits of colliders, and the number of what they meet all the same; none if it is nothing more.
type Kind = (u32, u32, Option<usize>);

/// Kinds of colliders, of which each is a group of the scene.
struct Kinds {
    /// The different ones; empty if all colliders meet.
    list: Vec<Kind>,
    /// Numbers of colliders that meet others than their bits say.
    paired: HashMap<Place, usize>,
    /// Such numbers that meet.
    linked: BTreeSet<(usize, usize)>,
}

impl Kinds {
    fn of(writer: &mut Writer<'_>) -> Self {
        let robot = writer.robot;
        let mut kinds = Self::with_pairs(robot);
        let mut list = kinds.different(robot);
        // Before kinds are compared in pairs, of which there could be many.
        if list.len() > MOST_GROUPS && !kinds.paired.is_empty() {
            for pair in &robot.pairs {
                let message = format!(
                    "more than {MOST_GROUPS} kinds of contype, conaffinity and pairs: pairs that contype and conaffinity keep apart are not taken"
                );
                writer.tree.remark(pair.spot, message);
            }
            kinds.paired.clear();
            list = kinds.different(robot);
        }
        if list.len() > MOST_GROUPS {
            let message =
                format!("more than {MOST_GROUPS} kinds of contype and conaffinity: all of them collide");
            writer.tree.remark_all(message);
            return kinds;
        }
        if !list.iter().all(|a| list.iter().all(|b| kinds.meet(*a, *b))) {
            kinds.list = list;
        }
        kinds
    }

    /// Pairs that bits keep apart, without a list of kinds.
    fn with_pairs(robot: &Robot) -> Self {
        let bits = |(link, number): Place| robot.links[link].colliders[number].bits;
        let mut partners: BTreeMap<Place, BTreeSet<Place>> = BTreeMap::new();
        for [a, b] in robot.pairs.iter().map(|pair| pair.colliders) {
            if !meet(bits(a), bits(b)) {
                partners.entry(a).or_default().insert(b);
                partners.entry(b).or_default().insert(a);
            }
        }
        // Those with the same partners are alike.
        let mut numbers: HashMap<&BTreeSet<Place>, usize> = HashMap::new();
        let mut paired = HashMap::new();
        for (place, set) in &partners {
            let next = numbers.len();
            paired.insert(*place, *numbers.entry(set).or_insert(next));
        }
        let mut linked = BTreeSet::new();
        for (place, set) in &partners {
            linked.extend(set.iter().map(|other| (paired[place], paired[other])));
        }
        Self {
            list: Vec::new(),
            paired,
            linked,
        }
    }

    fn kind(&self, collider: &Collider, place: Place) -> Kind {
        (collider.bits.0, collider.bits.1, self.paired.get(&place).copied())
    }

    fn different(&self, robot: &Robot) -> Vec<Kind> {
        let mut kinds = BTreeSet::new();
        for (index, link) in robot.links.iter().enumerate() {
            let colliders = link.colliders.iter().enumerate();
            kinds.extend(colliders.map(|(which, collider)| self.kind(collider, (index, which))));
        }
        let surfaces = robot.extras.flexes.iter().filter_map(|flex| flex.surface);
        kinds.extend(surfaces.map(|surface| (surface.bits.0, surface.bits.1, None)));
        kinds.into_iter().collect()
    }

    fn meet(&self, a: Kind, b: Kind) -> bool {
        let linked = |a: Option<usize>, b: Option<usize>| Some((a?, b?));
        meet((a.0, a.1), (b.0, b.1)) || linked(a.2, b.2).is_some_and(|pair| self.linked.contains(&pair))
    }

    /// Groups of a collider, with a comma ahead.
    fn groups(&self, collider: &Collider, place: Place, around: Surroundings) -> String {
        self.groups_of(self.kind(collider, place), around)
    }

    /// Groups of colliders of a kind, with a comma ahead.
    fn groups_of(&self, kind: Kind, around: Surroundings) -> String {
        if !around.self_collision {
            return ", groups: [\"robot\"], collides_with: [\"default\"]".to_owned();
        }
        let Some(own) = self.list.iter().position(|k| *k == kind) else {
            return String::new();
        };
        let mut with: Vec<String> = (0..self.list.len())
            .filter(|other| self.meet(kind, self.list[*other]))
            .map(|other| text(&format!("kind {}", other + 1)))
            .collect();
        if around.ground.is_some() {
            with.push(text("default"));
        }
        format!(
            ", groups: [\"kind {}\"], collides_with: [{}]",
            own + 1,
            with.join(", ")
        )
    }
}

fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Plane => "Plane".to_owned(),
        Shape::Box(edges) => format!("Box{}", tuple(edges)),
        Shape::Sphere(radius) => format!("Sphere({})", number(*radius)),
        Shape::Cylinder { radius, length } => {
            format!(
                "Cylinder(radius: {}, length: {})",
                number(*radius),
                number(*length)
            )
        }
        Shape::Capsule { radius, length } => {
            format!(
                "Capsule(radius: {}, length: {})",
                number(*radius),
                number(*length)
            )
        }
        Shape::Hull { file, scale } if *scale == 1.0 => format!("Hull(file: {})", text(file)),
        Shape::Hull { file, scale } => format!("Hull(file: {}, scale: {})", text(file), number(*scale)),
    }
}
