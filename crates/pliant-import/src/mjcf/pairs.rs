//! Pairs of geoms that meet whatever else the file says of them.

use super::Reader;
use super::geoms::directions;
use crate::error::ImportError;
use crate::robot::{Material, Pair, Robot};
use crate::xml::{Attribute, Spot, Tree};
use std::collections::{HashMap, HashSet};

type Result<T> = std::result::Result<T, ImportError>;

/// A collider: its link, and its number there.
type Place = (usize, usize);

/// Geoms that pairs name.
#[derive(Default)]
pub(super) struct Geoms {
    paired: HashSet<String>,
    /// Where they are; none of those that have no collider.
    places: HashMap<String, Option<Place>>,
}

impl Geoms {
    /// Takes the names of geoms of pairs, before bodies are read.
    pub(super) fn of_pairs(tree: &Tree, root: usize) -> Self {
        let sections = tree.all(root, "contact");
        let pairs = sections.iter().flat_map(|section| tree.all(*section, "pair"));
        let names = pairs.flat_map(|pair| ["geom1", "geom2"].map(|key| tree.value(pair, key)));
        Self {
            paired: names.flatten().map(str::to_owned).collect(),
            places: HashMap::new(),
        }
    }

    /// Whether some pair names a geom.
    pub(super) fn is_paired(&self, name: Option<&str>) -> bool {
        name.is_some_and(|name| self.paired.contains(name))
    }
}

/// Keeps where a geom is that a pair names.
pub(super) fn place_geom(reader: &mut Reader<'_>, of: usize, place: Option<Place>) {
    let Some(name) = reader.tree.attribute(of, "name") else {
        return;
    };
    let known = &mut reader.geoms;
    if known.paired.contains(&name.value) {
        known.places.insert(name.value.clone(), place);
    }
}

/// The collider of the geom that an attribute names, if it has one.
fn collider(reader: &Reader<'_>, root: usize, name: &Attribute) -> Result<Option<Place>> {
    if let Some(place) = reader.geoms.places.get(&name.value) {
        return Ok(*place);
    }
    let mut names = Vec::new();
    let mut open = reader.tree.all(root, "worldbody");
    while let Some(of) = open.pop() {
        let element = &reader.tree.elements[of];
        if element.tag == "geom" {
            names.extend(reader.tree.value(of, "name"));
        }
        open.extend(&element.children);
    }
    names.sort_unstable();
    let help = pliant_scene::hint(&name.value, "geoms", names);
    reader
        .tree
        .wrong(name.spot, format!("there is no geom `{}`", name.value), help)
}

pub(super) fn read_pairs(reader: &mut Reader<'_>, root: usize, robot: &mut Robot) -> Result<()> {
    // Materials of colliders that have one of their own.
    let mut own: HashMap<Place, usize> = HashMap::new();
    let mut seen = HashSet::new();
    for section in reader.tree.all(root, "contact") {
        for of in reader.tree.all(section, "pair") {
            let known = ["name", "class", "geom1", "geom2", "condim", "friction"];
            reader.tree.expect(of, &known, &[]);
            let spot = reader.spot(of);
            let mut colliders = [None; 2];
            for (place, key) in colliders.iter_mut().zip(["geom1", "geom2"]) {
                let name = reader.tree.needed(of, key)?.clone();
                *place = collider(reader, root, &name)?;
            }
            let material = surface(reader, of, spot)?;
            let [Some(a), Some(b)] = colliders else {
                let message = "a pair with a geom that does not collide is not taken";
                reader.tree.remark(spot, message);
                continue;
            };
            if !seen.insert((a.min(b), a.max(b))) {
                let message = "of pairs of the same geoms the first is taken";
                reader.tree.remark(spot, message);
                continue;
            }
            robot.pairs.push(Pair {
                colliders: [a, b],
                spot,
            });
            if !is_usual(robot, [a, b], &material) {
                let surfaces = [a, b].map(|place| own_material(robot, &mut own, place));
                robot.material_pairs.push((surfaces, material));
            }
        }
    }
    Ok(())
}

/// Coefficients of two surfaces together, by the numbers of a pair or their defaults.
fn surface(reader: &mut Reader<'_>, of: usize, spot: Spot) -> Result<Material> {
    let mut list = [1.0, 1.0, 0.005, 0.0001, 0.0001];
    let given = reader.tree.list(of, "friction")?.unwrap_or_default();
    let wrong = |message: String| {
        let spot = reader.tree.needed(of, "friction")?.spot;
        reader.tree.wrong(spot, message, None)
    };
    if let Some(x) = given.iter().find(|x| **x < 0.0) {
        return wrong(format!("`friction` is {x}, which is below zero"));
    }
    if given.len() > list.len() {
        return wrong(format!(
            "`friction` has {} numbers where 5 are expected at most",
            given.len()
        ));
    }
    list[..given.len()].copy_from_slice(&given);
    let directions = directions(reader.tree, of)?;
    let [along, across, torsional, rolling, other] = list;
    let differ = (directions >= 3.0 && along != across) || (directions >= 6.0 && rolling != other);
    if differ {
        let message = "a pair whose coefficients differ between directions has the first of them in all (MuJoCo has 1 in the second if one is given)";
        reader.tree.remark(spot, message);
    }
    Ok(Material {
        friction: along,
        torsional,
        rolling,
        directions,
    })
}

fn material_of(robot: &mut Robot, (link, number): Place) -> Option<&mut Option<usize>> {
    let collider = robot.links.get_mut(link)?.colliders.get_mut(number)?;
    Some(&mut collider.material)
}

/// Whether two surfaces have these numbers by the rule of the model, which is the greater one.
fn is_usual(robot: &mut Robot, places: [Place; 2], pair: &Material) -> bool {
    let [Some(a), Some(b)] = places.map(|place| {
        let index = (*material_of(robot, place)?)?;
        robot.materials.get(index).cloned()
    }) else {
        return false;
    };
    a.greater(&b).effective() == pair.effective()
}

/// The number of a material that one collider alone has, a copy of what it had.
fn own_material(robot: &mut Robot, own: &mut HashMap<Place, usize>, place: Place) -> usize {
    if let Some(number) = own.get(&place) {
        return *number;
    }
    let number = robot.materials.len();
    let before = material_of(robot, place).and_then(|material| material.replace(number));
    let copy = before.and_then(|index| robot.materials.get(index).cloned());
    robot.materials.push(copy.unwrap_or(Material {
        friction: 1.0,
        torsional: 0.0,
        rolling: 0.0,
        directions: 3.0,
    }));
    own.insert(place, number);
    number
}
