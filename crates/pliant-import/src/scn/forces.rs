//! Forces, masses on mapped states, springs to places, and ties.

use super::graph::{kind, spot};
use super::joints::Joints;
use super::laws::Laws;
use super::laws::{Holding, Law, Spring};
use super::masses::Masses;
use super::masses::OwnCoordinates;
use super::nodes::Nodes;
use super::parts::{counts, each};
use super::springs::Springs;
use super::states::{Coordinate, End, Kind, Row};
use super::{Input, Result};
use crate::numbers::{number, text, tuple};
use pliant_dense::Vec3;
use std::collections::BTreeMap;

const FIELDS: &[&str] = &[
    "ConstantForceField",
    "PlaneForceField",
    "RestShapeSpringsForceField",
    "MeshSpringForceField",
    "SpringForceField",
    "StiffSpringForceField",
    "UniformMass",
    "DiagonalMass",
    "AttachConstraint",
    "BilateralInteractionConstraint",
    "TrianglePressureForceField",
];

/// Writer of forces, springs and ties.
pub(super) struct Forces<'r, 'a>(pub(super) &'r mut Input<'a>);

impl Forces<'_, '_> {
    /// Components that act on the state of a node beside the laws of the Compliant plugin.
    pub(super) fn forces(&mut self, node: usize) -> Result<()> {
        for component in self.0.components(node, FIELDS) {
            if self.0.taken.contains(&component) {
                continue;
            }
            let name = kind(self.0.tree, component);
            let state = self.0.state_above(node)?;
            let known = state.filter(|s| !matches!(self.0.states[*s].kind, Kind::Missing));
            match (name.as_str(), known) {
                ("AttachConstraint" | "BilateralInteractionConstraint", _) => self.tie(component)?,
                ("SpringForceField" | "StiffSpringForceField", _) => self.springs(component, state)?,
                // What the state maps has been told.
                (_, None) => _ = self.0.taken.insert(component),
                ("ConstantForceField", Some(state)) => self.constant_force(component, state)?,
                ("TrianglePressureForceField", Some(state)) => self.pressure(component, state)?,
                ("PlaneForceField", Some(state)) => self.plane(component, state)?,
                ("RestShapeSpringsForceField", Some(state)) => self.springs_to_rest(component, state)?,
                ("MeshSpringForceField", Some(state)) => self.springs_of_mesh(component, state)?,
                (_, Some(state)) => self.mass_of_mapped(component, state)?,
            }
        }
        Ok(())
    }

    /// The name of a component, behind that of its node in the scene.
    pub(super) fn name_on(&mut self, on: &str, component: usize) -> String {
        let own = self.0.tree.value(component, "name").map(str::to_owned);
        let own = own.unwrap_or_else(|| kind(self.0.tree, component));
        self.0.unused(&format!("{on}/{own}"))
    }

    /// A mass on a mapped state of points.
    fn mass_of_mapped(&mut self, component: usize, state: usize) -> Result<()> {
        if self.0.is_independent(state) || !self.0.is_points(state) || self.0.count(state) == 0 {
            return Ok(());
        }
        self.0
            .take(component, &["mass", "totalMass", "totalmass", "vertexMass"]);
        let count = self.0.count(state);
        let masses = OwnCoordinates(self.0).point_masses(component, count, None)?;
        let Some(Masses::Each(list)) = masses else {
            self.0.tree.remark(
                spot(self.0.tree, component),
                "a density on mapped points is not taken",
            );
            return Ok(());
        };
        if list.iter().any(|m| *m <= 0.0) {
            return Ok(());
        }
        let on = Nodes(self.0).node(state);
        let name = self.name_on(&on, component);
        let entry = format!(
            "(name: {}, on: {}, mass: {}),",
            text(&name),
            text(&on),
            each(&list)
        );
        self.0.parts.masses.push(entry);
        Ok(())
    }

    /// A force on all elements of a state, or on some.
    fn constant_force(&mut self, component: usize, state: usize) -> Result<()> {
        self.0.take(
            component,
            &[
                "points",
                "indices",
                "forces",
                "force",
                "totalForce",
                "indexFromEnd",
            ],
        );
        let count = self.0.count(state);
        let width = match self.0.states[state].kind {
            Kind::Bodies { .. } | Kind::Frames(_) => 6,
            _ if self.0.is_points(state) => 3,
            Kind::Joint { .. } => 6,
            _ => 1,
        };
        let key = if self.0.tree.attribute(component, "indices").is_some() {
            "indices"
        } else {
            "points"
        };
        let given = self.0.indices(component, key, count)?.filter(|l| !l.is_empty());
        let mut elements = given.unwrap_or_else(|| (0..count).collect());
        if self.0.truth(component, "indexFromEnd", false) {
            elements.iter_mut().for_each(|e| *e = count - 1 - *e);
        }
        let mut forces: Vec<Vec<f64>> = Vec::new();
        for key in ["forces", "force", "totalForce"] {
            let list = self.0.numbers(component, key)?.unwrap_or_default();
            self.0.check_groups(component, key, list.len(), width)?;
            if forces.is_empty() {
                let share = if key == "totalForce" {
                    elements.len() as f64
                } else {
                    1.0
                };
                forces = list
                    .chunks_exact(width)
                    .map(|f| f.iter().map(|x| x / share).collect())
                    .collect();
            }
        }
        let Some(last) = forces.last().cloned() else {
            return Ok(());
        };
        let forces = elements.iter().enumerate().map(|(i, element)| {
            let force = forces.get(i).unwrap_or(&last);
            (*element, force.clone())
        });
        self.push_forces(component, state, forces);
        Ok(())
    }

    /// Forces on elements; those that are the same make one entry.
    fn push_forces(
        &mut self,
        component: usize,
        state: usize,
        forces: impl Iterator<Item = (usize, Vec<f64>)>,
    ) {
        let mut groups: Vec<(Vec<f64>, Vec<usize>)> = Vec::new();
        for (element, force) in forces.filter(|(_, f)| f.iter().any(|x| *x != 0.0)) {
            match groups.iter_mut().find(|(f, _)| *f == force) {
                Some((_, list)) => list.push(element),
                None => groups.push((force, vec![element])),
            }
        }
        for (force, elements) in groups {
            self.push_force(component, state, &force, &elements);
        }
    }

    /// A pressure along a direction on triangles in a plane, or of a list: constant forces, as SOFA
    /// has them by default.
    fn pressure(&mut self, component: usize, state: usize) -> Result<()> {
        self.0.take(
            component,
            &[
                "pressure",
                "normal",
                "dmin",
                "dmax",
                "triangleList",
                "useConstantForce",
            ],
        );
        let pressure = super::topology::triple(self.0.tree, component, "pressure")?.unwrap_or_default();
        let normal = super::topology::triple(self.0.tree, component, "normal")?.unwrap_or_default();
        let least = self.0.tree.number(component, "dmin")?.unwrap_or(0.0);
        let most = self.0.tree.number(component, "dmax")?.unwrap_or(0.0);
        let node = self.0.graph.node_of(component);
        let mesh = self.0.topology_above(node)?.map(|(_, mesh)| mesh);
        let Some(mesh) =
            mesh.filter(|_| self.0.is_points(state) && self.0.truth(component, "useConstantForce", true))
        else {
            let message = "`TrianglePressureForceField` is taken as constant forces on a mesh alone";
            self.0.tree.remark(spot(self.0.tree, component), message);
            return Ok(());
        };
        let triangles = mesh.all_triangles();
        self.0
            .below(component, "name", &triangles.concat(), self.0.count(state))?;
        let listed = self
            .0
            .indices(component, "triangleList", triangles.len())?
            .unwrap_or_default();
        let mut forces: BTreeMap<usize, Vec3> = BTreeMap::new();
        for (index, triangle) in triangles.iter().enumerate() {
            let [a, b, c] = triangle.map(|i| self.0.start_point(state, i));
            let inside = [a, b, c]
                .iter()
                .all(|p| (least..most).contains(&normal.dot(p)) && normal.dot(p) > least);
            if (least < most && inside) || listed.contains(&index) {
                let area = (b - a).cross(&(c - a)).norm() / 2.0;
                for corner in triangle {
                    *forces.entry(*corner).or_default() += pressure * (area / 3.0);
                }
            }
        }
        if forces.is_empty() {
            let message = "`TrianglePressureForceField` acts on no triangle";
            self.0.tree.remark(spot(self.0.tree, component), message);
        }
        let rounded = |f: Vec3| crate::numbers::tidy([f.x, f.y, f.z]).to_vec();
        self.push_forces(component, state, forces.into_iter().map(|(i, f)| (i, rounded(f))));
        Ok(())
    }

    fn push_force(&mut self, component: usize, state: usize, force: &[f64], elements: &[usize]) {
        if let Kind::Coordinates { joint, rows } = &self.0.states[state].kind {
            let (joint, rows) = (*joint, rows.clone());
            for row in elements.iter().filter_map(|e| rows.get(*e)) {
                let force = force[0] * row.sign;
                Joints(self.0).force_on_joint(joint, &Coordinate { sign: 1.0, ..*row }, force);
            }
            return;
        }
        if matches!(
            self.0.states[state].kind,
            Kind::Joint { .. } | Kind::Lengths { negative: true, .. }
        ) {
            let message = "a force along these coordinates is not taken";
            self.0.tree.remark(spot(self.0.tree, component), message);
            return;
        }
        let mut on = Nodes(self.0).node(state);
        if elements.len() != self.0.count(state) {
            let part = self.0.unused(&format!("{on}/loaded"));
            let mapping = format!("Subset(elements: {})", counts(elements));
            let entry = format!(
                "Mapped(name: {}, parents: [{}], mapping: {mapping}),",
                text(&part),
                text(&on)
            );
            self.0.parts.nodes.push(entry);
            on = part;
        }
        let laws = match force {
            [one] => vec![format!("Force([{}])", number(*one))],
            [_, _, _] => vec![format!("Force({})", vector(force))],
            six => {
                let (linear, angular) = six.split_at(3);
                let law = |kind: &str, v: &[f64]| {
                    v.iter()
                        .any(|x| *x != 0.0)
                        .then(|| format!("{kind}({})", vector(v)))
                };
                [law("Force", linear), law("Torque", angular)]
                    .into_iter()
                    .flatten()
                    .collect()
            }
        };
        for law in laws {
            let name = self.name_on(&on, component);
            self.0
                .parts
                .forces
                .push(format!("(name: {}, on: {}, law: {law}),", text(&name), text(&on)));
        }
    }

    /// A plane that pushes points out with a stiffness.
    fn plane(&mut self, component: usize, state: usize) -> Result<()> {
        self.0.take(
            component,
            &["normal", "d", "stiffness", "damping", "bilateral", "maxForce"],
        );
        let normal = super::topology::triple(self.0.tree, component, "normal")?.unwrap_or(Vec3::y());
        if !self.0.is_points(state) || normal == Vec3::zeros() {
            let message = "`PlaneForceField` is taken on points, with a normal that is not zero, alone";
            self.0.tree.remark(spot(self.0.tree, component), message);
            return Ok(());
        }
        let d = self.0.tree.number(component, "d")?.unwrap_or(0.0);
        let stiffness = self.0.tree.not_negative(component, "stiffness")?.unwrap_or(500.0);
        if self.0.tree.number(component, "damping")?.unwrap_or(5.0) != 0.0 {
            let message =
                "`damping` of `PlaneForceField`, which grows with the depth (5 by default), is not taken";
            self.0.tree.remark(spot(self.0.tree, component), message);
        }
        if self.0.tree.number(component, "maxForce")?.unwrap_or(0.0) != 0.0 {
            self.0.tree.remark(
                spot(self.0.tree, component),
                "`maxForce` of `PlaneForceField` is not taken",
            );
        }
        if stiffness == 0.0 {
            return Ok(());
        }
        // A normal of another length than one counts as it is, in SOFA too.
        let row = |element| Row {
            state,
            element,
            direction: normal,
            offset: -d,
        };
        let rows = (0..self.0.count(state)).map(row).collect();
        let curve = if self.0.truth(component, "bilateral", false) {
            "Linear"
        } else {
            "CompressionOnly"
        };
        let label = format!("{}/above plane", self.0.states[state].name);
        let above = self.made(&label, Kind::Projections(rows), state);
        let law = Law::Curve(format!("{curve}({})", number(stiffness)));
        let label = self
            .0
            .tree
            .value(component, "name")
            .unwrap_or("PlaneForceField")
            .to_owned();
        let at = spot(self.0.tree, component);
        Laws(self.0).put(above, &label, &law, at)
    }

    /// Springs that draw points and bodies to where they are at rest.
    fn springs_to_rest(&mut self, component: usize, state: usize) -> Result<()> {
        self.0.take(
            component,
            &[
                "points",
                "indices",
                "stiffness",
                "angularStiffness",
                "external_rest_shape",
                "external_points",
                "recompute_indices",
            ],
        );
        if self
            .0
            .tree
            .value(component, "external_rest_shape")
            .is_some_and(|v| !v.trim().is_empty())
        {
            let message =
                "`external_rest_shape` of `RestShapeSpringsForceField` is not taken, nor its springs";
            self.0.tree.remark(spot(self.0.tree, component), message);
            return Ok(());
        }
        let count = self.0.count(state);
        let key = if self.0.tree.attribute(component, "indices").is_some() {
            "indices"
        } else {
            "points"
        };
        let given = self.0.indices(component, key, count)?.filter(|l| !l.is_empty());
        let elements = given.unwrap_or_else(|| (0..count).collect());
        let kept = self.stiffnesses(component, elements)?;
        if kept.is_empty() {
            return Ok(());
        }
        if let Kind::Bodies { frames, .. } = self.0.states[state].kind.clone() {
            let angular = self.0.numbers(component, "angularStiffness")?.unwrap_or_default();
            for (element, k) in kept {
                let about = angular.first().copied().unwrap_or(k);
                Joints(self.0).bushing(component, state, element, &frames[element], k, about);
            }
            return Ok(());
        }
        if !self.0.is_points(state) {
            self.0.tree.remark(
                spot(self.0.tree, component),
                "`RestShapeSpringsForceField` is taken on points and bodies alone",
            );
            return Ok(());
        }
        let pair =
            |(e, _): &(usize, f64)| (End::Element(state, *e), End::Fixed(self.0.start_point(state, *e)));
        let pairs = kept.iter().map(pair).collect();
        let label = format!("{}/from rest", self.0.states[state].name);
        let from_rest = self.made(&label, Kind::Differences(pairs), state);
        let first = kept[0].1;
        let compliances = match kept.iter().all(|(_, k)| *k == first) {
            true => vec![1.0 / first],
            false => kept.iter().flat_map(|(_, k)| [1.0 / k; 3]).collect(),
        };
        let law = Law::Spring(
            Spring {
                compliances,
                stiffness: true,
            },
            Holding::default(),
        );
        let label = self
            .0
            .tree
            .value(component, "name")
            .unwrap_or("RestShapeSpringsForceField")
            .to_owned();
        let at = spot(self.0.tree, component);
        Laws(self.0).put(from_rest, &label, &law, at)
    }

    /// Elements with their stiffnesses: one for each, or the first for all. Those without are told.
    fn stiffnesses(&mut self, component: usize, elements: Vec<usize>) -> Result<Vec<(usize, f64)>> {
        let given = self
            .0
            .numbers(component, "stiffness")?
            .unwrap_or_else(|| vec![100.0]);
        let stiffness = match given.len() == elements.len() {
            true => given,
            false => vec![given.first().copied().unwrap_or(0.0); elements.len()],
        };
        if stiffness.iter().any(|k| *k <= 0.0) {
            let message = "springs of `RestShapeSpringsForceField` without stiffness are not taken";
            self.0.tree.remark(spot(self.0.tree, component), message);
        }
        let pairs = elements.into_iter().zip(stiffness);
        Ok(pairs.filter(|(_, k)| *k > 0.0).collect())
    }

    /// Points of two states that are one.
    fn tie(&mut self, component: usize) -> Result<()> {
        self.0.take(
            component,
            &[
                "object1",
                "object2",
                "indices1",
                "indices2",
                "first_point",
                "second_point",
                "twoWay",
                "constraintFactor",
                "positionFactor",
                "velocityFactor",
                "responseFactor",
            ],
        );
        let ends = [
            ("object1", "indices1", "first_point"),
            ("object2", "indices2", "second_point"),
        ];
        let mut sides = Vec::new();
        for (object, indices, point) in ends {
            let states = self.0.inputs(component, object)?;
            let Some(state) = states.first().copied().flatten().filter(|s| self.0.is_points(*s)) else {
                let name = kind(self.0.tree, component);
                let message = format!("`{name}` is not taken: it ties points alone");
                self.0.tree.remark(spot(self.0.tree, component), message);
                return Ok(());
            };
            let count = self.0.count(state);
            let key = if self.0.tree.attribute(component, indices).is_some() {
                indices
            } else {
                point
            };
            let list = self.0.indices(component, key, count)?.unwrap_or_default();
            sides.push((state, list));
        }
        let [(first, a), (second, b)] = &sides[..] else {
            return Ok(());
        };
        let ends = a
            .iter()
            .zip(b)
            .map(|(i, j)| (End::Element(*second, *j), End::Element(*first, *i)));
        let pairs: Vec<(End, End)> = ends.collect();
        if pairs.is_empty() {
            return Ok(());
        }
        let label = format!("{}/tie", self.0.states[*second].name);
        let gap = self.made(&label, Kind::Differences(pairs), *second);
        let law = Law::Spring(
            Spring {
                compliances: vec![0.0],
                stiffness: false,
            },
            Holding::default(),
        );
        let label = self.0.tree.value(component, "name").unwrap_or("hard").to_owned();
        let at = spot(self.0.tree, component);
        Laws(self.0).put(gap, &label, &law, at)
    }

    /// A state that the file does not have, but a component implies.
    pub(super) fn made(&mut self, label: &str, kind: Kind, like: usize) -> usize {
        let name = self.0.unused(label);
        let super::State { node, spot, .. } = self.0.states[like];
        self.0.states.push(super::State {
            name,
            node,
            kind,
            spot,
            written: false,
        });
        self.0.states.len() - 1
    }

    /// Writes the springs of one component, as lengths with a stiffness, named as it behind the
    /// state `like`.
    pub(super) fn put_springs(&mut self, component: usize, like: usize, springs: Springs) -> Result<()> {
        let own = self.0.tree.value(component, "name").unwrap_or("springs");
        let label = format!("{}/{own}", self.0.states[like].name);
        // Those of one stiffness and damping are one node.
        let mut groups: Vec<((f64, f64), Vec<usize>)> = Vec::new();
        for (i, law) in springs.laws.iter().enumerate() {
            match groups.iter_mut().find(|(known, _)| known == law) {
                Some((_, list)) => list.push(i),
                None => groups.push((*law, vec![i])),
            }
        }
        let one = groups.iter().all(|((_, damping), _)| *damping == groups[0].0.1);
        if one && groups.len() > 1 && groups.iter().all(|((k, _), _)| *k > 0.0) {
            let all = (0..springs.laws.len()).collect();
            groups = vec![(groups[0].0, all)];
        }
        for ((_, damping), list) in groups {
            let kind = Kind::Lengths {
                pairs: list.iter().map(|i| springs.pairs[*i]).collect(),
                rest: list.iter().map(|i| springs.rest[*i]).collect(),
                negative: false,
            };
            let lengths = self.made(&format!("{label} lengths"), kind, like);
            let at = spot(self.0.tree, component);
            let compliances: Vec<f64> = list.iter().map(|i| 1.0 / springs.laws[*i].0).collect();
            let same = compliances.iter().all(|c| *c == compliances[0]);
            let compliances = if same { vec![compliances[0]] } else { compliances };
            if compliances.iter().all(|c| c.is_finite()) {
                let spring = Spring {
                    compliances,
                    stiffness: true,
                };
                let law = match springs.tension_only && same {
                    true => Law::Curve(format!("TensionOnly({})", number(springs.laws[list[0]].0))),
                    false => Law::Spring(spring, Holding::default()),
                };
                Laws(self.0).put(lengths, "stiffness", &law, at)?;
            }
            if damping > 0.0 {
                Laws(self.0).put(lengths, "damping", &Law::Damper(vec![damping]), at)?;
            }
        }
        Ok(())
    }
}

/// Three numbers of a force, in square brackets.
fn vector(v: &[f64]) -> String {
    let inside = tuple(v);
    format!("[{}]", inside.trim_start_matches('(').trim_end_matches(')'))
}
