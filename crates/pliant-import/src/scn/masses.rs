//! Nodes with coordinates of their own: particles and bodies, their masses, what is held.

use super::graph::{kind, spot};
use super::parts::{brackets, counts, each, point};
use super::solids::Solids;
use super::states::{Kind, repeated};
use super::topology::Topology;
use super::{Input, Result, is_integrator};
use crate::geometry::Frame;
use crate::numbers::{number, text, tidy, tuple};
use crate::write::{place, rotation};
use pliant_dense::{Mat3, Vec3};
use std::fmt::Write as _;
use std::rc::Rc;

const MASSES: &[&str] = &[
    "UniformMass",
    "DiagonalMass",
    "MeshMatrixMass",
    "RigidMass",
    "UniformLumpedMass",
];

/// The masses of particles.
pub(super) enum Masses {
    /// The mass of each particle (kg).
    Each(Vec<f64>),
    /// The density of the cells of the mesh whose corners the particles are (kg/m^3).
    Density(f64),
}

/// Coordinates of a state that are held.
#[derive(Default)]
struct Held {
    /// Elements that are held altogether.
    elements: Vec<usize>,
    /// Boxes that they are in, where that is how the file says all of them.
    boxes: Vec<(Vec3, Vec3)>,
    /// Elements held along some axes.
    partly: Vec<(Vec<usize>, Vec<&'static str>)>,
}

/// Writer of nodes with coordinates of their own.
pub(super) struct OwnCoordinates<'r, 'a>(pub(super) &'r mut Input<'a>);

impl OwnCoordinates<'_, '_> {
    /// Writes all states with coordinates of their own.
    pub(super) fn own_coordinates(&mut self) -> Result<()> {
        let nodes = 0..self.0.graph.nodes.len();
        let any_solver = nodes.clone().any(|n| self.has_solver(n));
        if !any_solver {
            self.0
                .tree
                .remark_all("no node has a solver, so that nothing moves in SOFA: here it does");
        }
        for state in 0..self.0.states.len() {
            if !self.0.is_independent(state) {
                continue;
            }
            let moves = !any_solver
                || self
                    .0
                    .graph
                    .upwards(self.0.states[state].node)
                    .any(|n| self.has_solver(n));
            let mut held = self.held(state)?;
            if !moves {
                let at = self.0.states[state].spot;
                self.0.tree.remark(
                    at,
                    "no solver is above this state, so that it does not move in SOFA: it is held",
                );
                held = Held {
                    elements: (0..self.0.count(state)).collect(),
                    ..Held::default()
                };
            }
            self.0.states[state].written = true;
            self.0.still.extend(held.elements.iter().map(|e| (state, *e)));
            match self.0.states[state].kind.clone() {
                Kind::Points {
                    positions,
                    velocities,
                    topology,
                    ..
                } => self.write_points(state, &positions, &velocities, topology, held)?,
                Kind::Bodies { frames, velocities } => {
                    self.write_bodies(state, &frames, &velocities, held)?;
                }
                Kind::Scalars { values, velocities } => {
                    self.write_scalars(state, &values, &velocities, held)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn has_solver(&self, node: usize) -> bool {
        let all = self.0.graph.nodes[node].components.iter();
        all.copied().any(|c| is_integrator(&kind(self.0.tree, c)))
    }

    /// Damping in proportion to masses and stiffnesses, if all solvers have the same.
    pub(super) fn rayleigh(&mut self) -> Result<String> {
        let mut all = Vec::new();
        for node in 0..self.0.graph.nodes.len() {
            for component in self.0.graph.nodes[node].components.clone() {
                if is_integrator(&kind(self.0.tree, component)) {
                    let mass = self
                        .0
                        .tree
                        .not_negative(component, "rayleighMass")?
                        .unwrap_or(0.0);
                    let stiffness = self
                        .0
                        .tree
                        .not_negative(component, "rayleighStiffness")?
                        .unwrap_or(0.0);
                    all.push((component, (mass, stiffness)));
                }
            }
        }
        let Some((first, common)) = all.first().copied() else {
            return Ok(String::new());
        };
        if all.iter().any(|(_, other)| *other != common) {
            let message = "solvers with different Rayleigh damping: it is not taken";
            self.0.tree.remark(spot(self.0.tree, first), message);
            return Ok(String::new());
        }
        match common {
            (0.0, 0.0) => Ok(String::new()),
            (mass, stiffness) => Ok(format!(
                "\n    rayleigh: (mass: {}, stiffness: {}),\n",
                number(mass),
                number(stiffness)
            )),
        }
    }

    /// Coordinates that are held by the components of the node of a state.
    fn held(&mut self, state: usize) -> Result<Held> {
        const KINDS: &[&str] = &[
            "FixedConstraint",
            "FixedProjectiveConstraint",
            "BoxConstraint",
            "PartialFixedConstraint",
            "PartialFixedProjectiveConstraint",
        ];
        let node = self.0.states[state].node;
        let count = self.0.count(state);
        let mut out = Held::default();
        let mut by_number = false;
        for component in self.0.components(node, KINDS) {
            self.0.take(
                component,
                &[
                    "indices",
                    "fixAll",
                    "box",
                    "fixedDirections",
                    "activate_projectVelocity",
                ],
            );
            let name = kind(self.0.tree, component);
            let roi = match name.as_str() {
                "BoxConstraint" => Some(component),
                _ => self.roi_of(component),
            };
            if self.0.truth(component, "fixAll", false) {
                by_number = true;
                out.elements.extend(0..count);
                continue;
            }
            let indices = match (name.as_str(), roi) {
                ("BoxConstraint", _) => self
                    .0
                    .inside_boxes(component)?
                    .into_iter()
                    .map(|(i, _)| i)
                    .collect(),
                _ => self
                    .0
                    .indices(component, "indices", count)?
                    .unwrap_or_else(|| vec![0]),
            };
            self.0.below(component, "indices", &indices, count)?;
            if indices.is_empty() {
                let at = spot(self.0.tree, component);
                self.0.tree.remark(at, format!("`{name}` holds nothing"));
            }
            if name.starts_with("Partial") {
                let six = self
                    .0
                    .tree
                    .list(component, "fixedDirections")?
                    .unwrap_or_default();
                let axes = ["x", "y", "z", "rx", "ry", "rz"];
                let axes = axes
                    .into_iter()
                    .zip(&six)
                    .filter(|(_, on)| **on != 0.0)
                    .map(|(a, _)| a);
                out.partly.push((indices, axes.collect()));
                continue;
            }
            match roi {
                Some(roi) => out.boxes.extend(self.0.boxes(roi)?),
                None => by_number = true,
            }
            out.elements.extend(indices);
        }
        out.elements.sort_unstable();
        out.elements.dedup();
        if by_number {
            out.boxes.clear();
        }
        Ok(out)
    }

    /// The component with boxes that the indices of another one are from.
    fn roi_of(&self, component: usize) -> Option<usize> {
        let link = self.0.tree.value(component, "indices")?;
        let (path, _) = super::graph::split_data(link.trim().strip_prefix('@').map(|_| link.trim())?);
        match self.0.graph.target(self.0.tree, component, path)? {
            super::graph::Target::Component(target) if kind(self.0.tree, target) == "BoxROI" => Some(target),
            _ => None,
        }
    }

    fn write_held(&mut self, state: usize, held: &Held) {
        let name = text(&self.0.states[state].name);
        let count = self.0.count(state);
        if held.elements.len() == count {
            self.0.parts.fixed.push(format!("(node: {name}),"));
        } else if !held.elements.is_empty() {
            let entry = format!("(node: {name}, elements: {}),", counts(&held.elements));
            self.0.parts.fixed.push(entry);
        }
        for (elements, axes) in &held.partly {
            let which = match elements.len() == count {
                true => String::new(),
                false => format!(", elements: {}", counts(elements)),
            };
            if !axes.is_empty() {
                let entry = format!("(node: {name}{which}, axes: [{}]),", axes.join(", "));
                self.0.parts.fixed.push(entry);
            }
        }
    }

    fn write_points(
        &mut self,
        state: usize,
        positions: &[Vec3],
        velocities: &[Vec3],
        topology: Option<Rc<Topology>>,
        held: Held,
    ) -> Result<()> {
        if positions.is_empty() {
            self.0
                .tree
                .remark(self.0.states[state].spot, "a state without points is not taken");
            self.0.states[state].kind = Kind::Missing;
            return Ok(());
        }
        let masses = self.masses_of_points(state, positions, topology.as_deref())?;
        if let Some(solid) =
            Solids(self.0).solid(state, masses.as_ref(), velocities, &held.boxes, &held.elements)?
        {
            self.0.parts.nodes.push(solid.entry);
            if !solid.holds {
                self.write_held(state, &held);
            }
            return match &masses {
                Some(Masses::Each(list)) => self.mass_damping(state, list),
                _ => self.mass_damping(state, &vec![f64::NAN; positions.len()]),
            };
        }
        let masses = match masses {
            Some(Masses::Each(list)) => list,
            Some(Masses::Density(density)) => lumped(topology.as_deref(), density, positions.len()),
            None => {
                self.tell_massless(state, held.elements.len() == positions.len());
                vec![1.0; positions.len()]
            }
        };
        let masses = self.above_zero(state, masses);
        let mut entry = format!("Particles(name: {}, ", text(&self.0.states[state].name));
        match line(positions) {
            Some((a, b)) => {
                let n = positions.len();
                let _ = write!(entry, "line: (from: {}, to: {}, count: {n})", point(a), point(b));
            }
            None => {
                let list: Vec<String> = positions.iter().map(|p| point(*p)).collect();
                let _ = write!(entry, "positions: {}", brackets(&list));
            }
        }
        if velocities.iter().any(|v| *v != Vec3::zeros()) {
            let same = velocities.iter().all(|v| *v == velocities[0]);
            let list = if same { &velocities[..1] } else { velocities };
            let list: Vec<String> = list.iter().map(|v| point(*v)).collect();
            let _ = write!(entry, ", velocities: {}", brackets(&list));
        }
        let _ = write!(entry, ", mass: {}),", each(&masses));
        self.0.parts.nodes.push(entry);
        self.write_held(state, &held);
        self.mass_damping(state, &masses)
    }

    fn tell_massless(&mut self, state: usize, held: bool) {
        if !held {
            let at = self.0.states[state].spot;
            self.0
                .tree
                .remark(at, "a state without a mass: each element has 1 kg");
        }
    }

    /// Masses that are zero, as a scene has none, are told.
    fn above_zero(&mut self, state: usize, masses: Vec<f64>) -> Vec<f64> {
        let largest = masses.iter().fold(0.0f64, |m, x| m.max(*x));
        if masses.iter().all(|m| *m > 0.0) {
            return masses;
        }
        let least = if largest > 0.0 { 1e-6 * largest } else { 1.0 };
        let message = format!("masses that are not above zero are {} kg", number(least));
        self.0.tree.remark(self.0.states[state].spot, message);
        masses
            .into_iter()
            .map(|m| if m > 0.0 { m } else { least })
            .collect()
    }

    /// The masses of particles, by a component of their node or of a copy of them.
    fn masses_of_points(
        &mut self,
        state: usize,
        positions: &[Vec3],
        topology: Option<&Topology>,
    ) -> Result<Option<Masses>> {
        let sources = self.mass_components(state, positions.len());
        let Some(component) = sources.first().copied() else {
            return Ok(None);
        };
        self.0.take(
            component,
            &[
                "mass",
                "totalMass",
                "totalmass",
                "vertexMass",
                "massDensity",
                "rayleighMass",
                "lumping",
                "computeMassOnRest",
            ],
        );
        self.point_masses(component, positions.len(), topology)
    }

    /// The components with the mass of a state: of its node, or of a copy of it.
    fn mass_components(&self, state: usize, count: usize) -> Vec<usize> {
        let own = self.0.components(self.0.states[state].node, MASSES);
        if !own.is_empty() {
            return own;
        }
        let whole: Vec<(usize, usize)> = (0..count).map(|i| (state, i)).collect();
        let copies = self
            .0
            .states
            .iter()
            .filter(|s| matches!(&s.kind, Kind::Subset(list) if *list == whole));
        copies.flat_map(|s| self.0.components(s.node, MASSES)).collect()
    }

    /// The masses that a component gives to so many points.
    pub(super) fn point_masses(
        &mut self,
        component: usize,
        count: usize,
        topology: Option<&Topology>,
    ) -> Result<Option<Masses>> {
        let total = match self.0.tree.number(component, "totalMass")? {
            Some(total) => Some(total),
            None => self.0.tree.number(component, "totalmass")?,
        };
        let total = total.filter(|t| *t > 0.0);
        let listed = match self.0.numbers(component, "mass")? {
            Some(list) => Some(list),
            None => self.0.numbers(component, "vertexMass")?,
        };
        let listed = listed.filter(|l| !l.is_empty());
        if kind(self.0.tree, component) == "UniformMass" {
            let one = match total {
                Some(total) => total / count as f64,
                // What is negative counts as if it were not there.
                None => listed.map_or(1.0, |l| l[0]),
            };
            let one = if one < 0.0 { 1.0 } else { one };
            return Ok(Some(Masses::Each(vec![one; count])));
        }
        if let Some(list) = listed {
            return Ok(Some(Masses::Each(repeated(&list, count, 1.0))));
        }
        let density = self
            .0
            .numbers(component, "massDensity")?
            .and_then(|l| l.first().copied())
            .unwrap_or(1.0);
        Ok(Some(match total {
            None => Masses::Density(density),
            Some(total) => {
                let each = lumped(topology, 1.0, count);
                let sum: f64 = each.iter().sum();
                Masses::Each(each.iter().map(|m| m * total / sum).collect())
            }
        }))
    }

    /// `rayleighMass` of a mass is a damper on each of its points.
    fn mass_damping(&mut self, state: usize, masses: &[f64]) -> Result<()> {
        for component in self.mass_components(state, masses.len()).into_iter().take(1) {
            let rate = self
                .0
                .tree
                .not_negative(component, "rayleighMass")?
                .unwrap_or(0.0);
            if rate == 0.0 {
                continue;
            }
            if masses.iter().any(|m| *m != masses[0]) {
                let message = "`rayleighMass` of masses that differ, or of a density, is not taken";
                self.0.tree.remark(spot(self.0.tree, component), message);
                continue;
            }
            let on = self.0.states[state].name.clone();
            let name = self.0.unused(&format!("{on}/rayleighMass"));
            let law = format!("Damping(linear: {})", number(rate * masses[0]));
            self.0
                .parts
                .forces
                .push(format!("(name: {}, on: {}, law: {law}),", text(&name), text(&on)));
        }
        Ok(())
    }

    fn write_scalars(&mut self, state: usize, values: &[f64], velocities: &[f64], held: Held) -> Result<()> {
        if values.is_empty() {
            self.0.states[state].kind = Kind::Missing;
            return Ok(());
        }
        let node = self.0.states[state].node;
        let component = self.0.components(node, MASSES).first().copied();
        let masses = match component {
            Some(component) => {
                self.0.take(component, &["mass", "totalMass", "totalmass"]);
                match self.point_masses(component, values.len(), None)? {
                    Some(Masses::Each(list)) => list,
                    _ => vec![1.0; values.len()],
                }
            }
            None => {
                self.tell_massless(state, held.elements.len() == values.len());
                vec![1.0; values.len()]
            }
        };
        let masses = self.above_zero(state, masses);
        let name = text(&self.0.states[state].name);
        let mut entry = format!("Scalars(name: {name}, values: {}", super::parts::numbers(values));
        if velocities.iter().any(|v| *v != 0.0) {
            let _ = write!(entry, ", velocities: {}", super::parts::numbers(velocities));
        }
        let _ = write!(entry, ", mass: {}),", each(&masses));
        self.0.parts.nodes.push(entry);
        self.write_held(state, &held);
        Ok(())
    }

    fn write_bodies(
        &mut self,
        state: usize,
        frames: &[Frame],
        velocities: &[[f64; 6]],
        held: Held,
    ) -> Result<()> {
        if frames.is_empty() {
            self.0.states[state].kind = Kind::Missing;
            return Ok(());
        }
        let node = self.0.states[state].node;
        let component = self.0.components(node, MASSES).first().copied();
        let inertias = match component {
            Some(component) => self.inertias(component, frames.len())?,
            None => {
                self.tell_massless(state, held.elements.len() == frames.len());
                vec![(1.0, Mat3::identity()); frames.len()]
            }
        };
        let bodies = frames.iter().zip(velocities).zip(inertias);
        let bodies = bodies.map(|((frame, velocity), (mass, inertia))| body(frame, velocity, mass, inertia));
        let bodies: Vec<String> = bodies.collect();
        let name = text(&self.0.states[state].name);
        let entry = match &bodies[..] {
            [one] => format!("Bodies(name: {name}, bodies: [{one}]),"),
            several => {
                let lines: Vec<String> = several.iter().map(|b| format!("    {b},\n")).collect();
                format!("Bodies(name: {name}, bodies: [\n{}]),", lines.concat())
            }
        };
        self.0.parts.nodes.push(entry);
        self.write_held(state, &held);
        Ok(())
    }

    /// Masses and tensors of bodies.
    fn inertias(&mut self, component: usize, count: usize) -> Result<Vec<(f64, Mat3)>> {
        self.0.take(
            component,
            &[
                "mass",
                "inertia",
                "inertia_forces",
                "totalMass",
                "totalmass",
                "vertexMass",
            ],
        );
        let mass = match self.0.numbers(component, "mass")? {
            Some(list) => list,
            None => self.0.numbers(component, "vertexMass")?.unwrap_or_default(),
        };
        if kind(self.0.tree, component) == "RigidMass" {
            let inertia = self.0.points(component, "inertia")?.unwrap_or_default();
            let mass = repeated(&mass, count, 1.0);
            let inertia = repeated(&inertia, count, Vec3::repeat(1.0));
            return self.sensible(
                component,
                mass.into_iter().zip(inertia.iter().map(Mat3::from_diagonal)),
            );
        }
        let total = match self.0.tree.number(component, "totalMass")? {
            Some(total) => Some(total),
            None => self.0.tree.number(component, "totalmass")?,
        };
        // A mass, a volume, and a tensor per mass, which by default is that of one kg m^2 per kg.
        let per_mass = match mass.get(2..11) {
            Some(nine) => Mat3::from_row_slice(nine),
            None => Mat3::identity(),
        };
        let one = match total.filter(|t| *t > 0.0) {
            Some(total) => total / count as f64,
            None => mass.first().copied().filter(|m| *m >= 0.0).unwrap_or(1.0),
        };
        self.sensible(component, vec![(one, per_mass * one); count].into_iter())
    }

    /// Masses and moments that are above zero; others are an error.
    fn sensible(&self, component: usize, all: impl Iterator<Item = (f64, Mat3)>) -> Result<Vec<(f64, Mat3)>> {
        let all: Vec<(f64, Mat3)> = all.collect();
        let fine = |(mass, inertia): &(f64, Mat3)| *mass > 0.0 && (0..3).all(|i| inertia[(i, i)] > 0.0);
        if all.iter().all(fine) {
            return Ok(all);
        }
        let message = "masses and moments of inertia of bodies must be above zero".to_owned();
        self.0.tree.wrong(spot(self.0.tree, component), message, None)
    }
}

/// A body of a scene.
fn body(frame: &Frame, velocity: &[f64; 6], mass: f64, inertia: Mat3) -> String {
    let mut out = format!(
        "{}{}",
        place("position", frame.position),
        rotation(frame.rotation)
    );
    let all = tidy([
        inertia[(0, 0)],
        inertia[(1, 1)],
        inertia[(2, 2)],
        inertia[(0, 1)],
        inertia[(0, 2)],
        inertia[(1, 2)],
    ]);
    let _ = write!(out, ", mass: {}, inertia: {}", number(mass), tuple(&all[..3]));
    if all[3..] != [0.0; 3] {
        let _ = write!(out, ", products: {}", tuple(&all[3..]));
    }
    for (key, part) in [("velocity", &velocity[..3]), ("angular_velocity", &velocity[3..])] {
        if part.iter().any(|v| *v != 0.0) {
            let _ = write!(out, ", {key}: {}", tuple(part));
        }
    }
    format!("({})", out.trim_start_matches(", "))
}

/// The ends of a line that has three points or more, evenly.
fn line(points: &[Vec3]) -> Option<(Vec3, Vec3)> {
    let [first, .., last] = points else {
        return None;
    };
    let count = points.len();
    let along = last - first;
    // Rounding of evenly spaced points.
    let close = 1e-14 * (along.norm() + first.norm());
    let even = |(i, p): (usize, &Vec3)| (first + along * (i as f64 / (count - 1) as f64) - p).norm() <= close;
    (count > 2 && along.norm() > 0.0 && points.iter().enumerate().all(even)).then_some((*first, *last))
}

/// Masses of points by the cells of a mesh, equal parts at their corners.
fn lumped(topology: Option<&Topology>, density: f64, count: usize) -> Vec<f64> {
    let mut out = vec![0.0; count];
    let Some(mesh) = topology else {
        return vec![density; count];
    };
    let at = |i: usize| mesh.points.get(i).copied().unwrap_or_default();
    let mut add = |corners: &[usize], whole: f64| {
        for corner in corners {
            if let Some(mass) = out.get_mut(*corner) {
                *mass += density * whole / corners.len() as f64;
            }
        }
    };
    let mut part = mesh.clone();
    if !mesh.hexahedra.is_empty() || !mesh.tetrahedra.is_empty() {
        for cell in &mesh.hexahedra {
            part.hexahedra = vec![*cell];
            part.tetrahedra.clear();
            add(cell, part.volume());
        }
        for [a, b, c, d] in &mesh.tetrahedra {
            let volume = (at(*b) - at(*a))
                .cross(&(at(*c) - at(*a)))
                .dot(&(at(*d) - at(*a)))
                .abs()
                / 6.0;
            add(&[*a, *b, *c, *d], volume);
        }
        return out;
    }
    let triangles = mesh.all_triangles();
    for [a, b, c] in &triangles {
        add(
            &[*a, *b, *c],
            (at(*b) - at(*a)).cross(&(at(*c) - at(*a))).norm() / 2.0,
        );
    }
    if triangles.is_empty() {
        for [a, b] in &mesh.edges {
            add(&[*a, *b], (at(*b) - at(*a)).norm());
        }
    }
    out
}
