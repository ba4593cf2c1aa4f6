//! Values of attributes, which may be links to those of other components.

use super::graph::{Target, kind, split_data, spot};
use super::states::Kind;
use super::topology::{is_loader, is_topology};
use super::{Input, Result};
use crate::xml::Attribute;
use pliant_dense::Vec3;

/// The longest chain of links.
const LONGEST_CHAIN: usize = 32;

impl Input<'_> {
    /// The attribute of that name that a component has itself.
    fn attribute(&self, of: usize, name: &str) -> Option<Attribute> {
        self.tree.attribute(of, name).cloned()
    }

    /// Numbers of an attribute, or of what it links to; none if it is not there. A link that leads
    /// nowhere, or to what is not taken, is a remark, and no number.
    pub(super) fn numbers(&mut self, of: usize, name: &str) -> Result<Option<Vec<f64>>> {
        self.numbers_along(of, name, 0)
    }

    fn numbers_along(&mut self, of: usize, name: &str, chain: usize) -> Result<Option<Vec<f64>>> {
        let Some(attribute) = self.attribute(of, name) else {
            return Ok(None);
        };
        let value = attribute.value.trim();
        if !value.starts_with('@') {
            return self.tree.parse(&spread(&attribute), false).map(Some);
        }
        let (path, data) = split_data(value);
        let data = data.unwrap_or(name);
        let found = match self.graph.target(self.tree, of, path) {
            Some(Target::Component(target)) if chain < LONGEST_CHAIN => {
                self.output(target, data, chain + 1)?
            }
            Some(Target::Node(node)) => match self.state_element(node) {
                Some(target) if chain < LONGEST_CHAIN => self.output(target, data, chain + 1)?,
                _ => None,
            },
            _ => None,
        };
        if found.is_none() {
            let message = format!("the link `{value}` leads to nothing that is taken");
            self.tree.remark(attribute.spot, message);
        }
        Ok(found)
    }

    /// The `MechanicalObject` of a node.
    pub(super) fn state_element(&self, node: usize) -> Option<usize> {
        let all = self.graph.nodes[node].components.iter();
        all.copied().find(|c| kind(self.tree, *c) == "MechanicalObject")
    }

    /// Numbers that a component has as data of that name.
    fn output(&mut self, target: usize, data: &str, chain: usize) -> Result<Option<Vec<f64>>> {
        let name = kind(self.tree, target);
        if is_loader(&name) || is_topology(&name) {
            let Some(mesh) = self.topology(target)? else {
                return Ok(None);
            };
            let flat = |list: Vec<usize>| Some(list.into_iter().map(|i| i as f64).collect());
            return Ok(match data {
                "position" | "points" | "rest_position" => Some(flat_points(&mesh.points)),
                "edges" => flat(mesh.all_edges().concat()),
                "triangles" => flat(mesh.all_triangles().concat()),
                "quads" => flat(mesh.quads.concat()),
                "tetrahedra" | "tetras" => flat(mesh.tetrahedra.concat()),
                "hexahedra" | "hexas" => flat(mesh.hexahedra.concat()),
                _ => None,
            });
        }
        match name.as_str() {
            "BoxROI" | "BoxConstraint" => {
                let inside = self.inside_boxes(target)?;
                Ok(match data {
                    "indices" => Some(inside.iter().map(|(i, _)| *i as f64).collect()),
                    "pointsInROI" => Some(flat_points(&inside.iter().map(|(_, p)| *p).collect::<Vec<_>>())),
                    _ => None,
                })
            }
            "MechanicalObject" if matches!(data, "position" | "rest_position") => {
                match self.state_of_element(target)? {
                    Some(state) => Ok(match &self.states[state].kind {
                        Kind::Points { positions, .. } => Some(flat_points(positions)),
                        _ => return self.numbers_along(target, data, chain),
                    }),
                    None => self.numbers_along(target, data, chain),
                }
            }
            _ => self.numbers_along(target, data, chain),
        }
    }

    /// The text of a data that a link leads to.
    pub(super) fn linked_text(&self, from: usize, link: &str, data: &str) -> Option<String> {
        let (path, named) = split_data(link);
        match self.graph.target(self.tree, from, path)? {
            Target::Component(target) => {
                let value = self.tree.value(target, named.unwrap_or(data))?;
                (!value.starts_with('@')).then(|| value.to_owned())
            }
            Target::Node(_) => None,
        }
    }

    /// Points of an attribute.
    pub(super) fn points(&mut self, of: usize, name: &str) -> Result<Option<Vec<Vec3>>> {
        let Some(list) = self.numbers(of, name)? else {
            return Ok(None);
        };
        self.check_groups(of, name, list.len(), 3)?;
        Ok(Some(list.chunks_exact(3).map(Vec3::from_column_slice).collect()))
    }

    /// An error if numbers are not so many each.
    pub(super) fn check_groups(&self, of: usize, name: &str, count: usize, each: usize) -> Result<()> {
        if count.is_multiple_of(each) {
            return Ok(());
        }
        let at = self
            .tree
            .attribute(of, name)
            .map_or(spot(self.tree, of), |a| a.spot);
        let message = format!("`{name}` has {count} numbers, which are not {each} each");
        self.tree.wrong(at, message, None)
    }

    /// Whole numbers from zero on.
    pub(super) fn whole(&self, of: usize, name: &str, list: &[f64]) -> Result<Vec<usize>> {
        let fine = |x: f64| x >= 0.0 && x.fract() == 0.0 && x < 1e9;
        match list.iter().find(|x| !fine(**x)) {
            None => Ok(list.iter().map(|x| *x as usize).collect()),
            Some(x) => {
                let at = self
                    .tree
                    .attribute(of, name)
                    .map_or(spot(self.tree, of), |a| a.spot);
                self.tree
                    .wrong(at, format!("`{name}` has `{x}` where an index is expected"), None)
            }
        }
    }

    /// Indices of an attribute, all below a count.
    pub(super) fn indices(&mut self, of: usize, name: &str, count: usize) -> Result<Option<Vec<usize>>> {
        let Some(list) = self.numbers(of, name)? else {
            return Ok(None);
        };
        let list = self.whole(of, name, &list)?;
        self.below(of, name, &list, count)?;
        Ok(Some(list))
    }

    /// An error if an index is beyond what there is.
    pub(super) fn below(&self, of: usize, name: &str, list: &[usize], count: usize) -> Result<()> {
        match list.iter().find(|i| **i >= count) {
            None => Ok(()),
            Some(i) => {
                let at = self
                    .tree
                    .attribute(of, name)
                    .map_or(spot(self.tree, of), |a| a.spot);
                let there = match count {
                    0 => "there are none".to_owned(),
                    1 => "there is one, 0".to_owned(),
                    n => format!("there are {n}, from 0 to {}", n - 1),
                };
                self.tree
                    .wrong(at, format!("`{name}` has the index {i}, but {there}"), None)
            }
        }
    }

    /// A truth value.
    pub(super) fn truth(&self, of: usize, name: &str, default: bool) -> bool {
        self.tree.value(of, name).map_or(default, super::graph::is_true)
    }

    /// Indices and places of the points of a state within the boxes of a component.
    pub(super) fn inside_boxes(&mut self, roi: usize) -> Result<Vec<(usize, Vec3)>> {
        let boxes = self.boxes(roi)?;
        let points = match self.points(roi, "position")? {
            Some(points) => points,
            None => {
                let node = self.graph.node_of(roi);
                match self.state_above(node)? {
                    Some(state) => self.start_points(state),
                    None => Vec::new(),
                }
            }
        };
        let inside = |p: &Vec3| {
            boxes
                .iter()
                .any(|(least, most)| (0..3).all(|i| least[i] <= p[i] && p[i] <= most[i]))
        };
        Ok(points
            .into_iter()
            .enumerate()
            .filter(|(_, p)| inside(p))
            .collect())
    }

    /// The boxes of a component, from corner to corner.
    pub(super) fn boxes(&mut self, roi: usize) -> Result<Vec<(Vec3, Vec3)>> {
        let list = self.numbers(roi, "box")?.unwrap_or_default();
        self.check_groups(roi, "box", list.len(), 6)?;
        let corner = |c: &[f64]| Vec3::from_column_slice(c);
        Ok(list
            .chunks_exact(6)
            .map(|b| (corner(&b[..3]), corner(&b[3..])))
            .map(|(a, b)| (a.inf(&b), a.sup(&b)))
            .collect())
    }
}

/// The numbers of points one after the other.
fn flat_points(points: &[Vec3]) -> Vec<f64> {
    points.iter().flat_map(|p| [p.x, p.y, p.z]).collect()
}

/// An attribute with the brackets of matrices taken out, and ranges of indices such as `0-9` spread
/// out, as newer versions write them.
fn spread(attribute: &Attribute) -> Attribute {
    const MOST: usize = 1_000_000;
    if attribute.value.contains('[') {
        // Matrices are written `[1 0 0,0 1 0,0 0 1]`.
        return Attribute {
            value: attribute.value.replace(['[', ']', ','], " "),
            ..attribute.clone()
        };
    }
    if (attribute.name != "indices" && attribute.name != "points") || !attribute.value.contains('-') {
        return attribute.clone();
    }
    let mut left = MOST;
    let mut range = |word: &str| -> Option<String> {
        let (first, last) = word.split_once('-')?;
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        left = left.checked_sub(last.checked_sub(first)?)?;
        let all: Vec<String> = (first..=last).map(|i| i.to_string()).collect();
        Some(all.join(" "))
    };
    let words = attribute.value.split_whitespace();
    let words: Vec<String> = words.map(|w| range(w).unwrap_or_else(|| w.to_owned())).collect();
    Attribute {
        value: words.join(" "),
        ..attribute.clone()
    }
}
