//! Solids of finite elements: SOFA's force fields on tetrahedra and hexahedra, and the chains of
//! mappings of its Flexible plugin.

use super::graph::{kind, spot};
use super::masses::Masses;
use super::states::Kind;
use super::topology::{Source, Topology};
use super::{Input, Result};
use crate::numbers::{number, text};
use crate::write::{place, rotation};
use pliant_dense::Vec3;
use std::fmt::Write as _;
use std::rc::Rc;

/// Force fields of finite elements.
const FIELDS: &[&str] = &[
    "TetrahedronFEMForceField",
    "TetrahedralCorotationalFEMForceField",
    "FastTetrahedralCorotationalForceField",
    "HexahedronFEMForceField",
    "HexahedralFEMForceField",
    "HookeForceField",
];

/// Mappings of Flexible from points to strains.
const STRAINS: &[&str] = &[
    "CorotationalStrainMapping",
    "GreenStrainMapping",
    "CauchyStrainMapping",
    "LinearMapping",
    "MLSMapping",
];

/// A solid of a scene.
pub(super) struct Solid {
    pub(super) entry: String,
    /// Whether the entry says what is held.
    pub(super) holds: bool,
}

/// A law of elasticity.
struct Law {
    material: &'static str,
    young: f64,
    poisson: f64,
    compliance: bool,
    relaxation_time: f64,
    /// The node whose mesh it is on.
    node: usize,
    tetrahedra: bool,
    component: usize,
}

/// Writer of solids.
pub(super) struct Solids<'r, 'a>(pub(super) &'r mut Input<'a>);

impl Solids<'_, '_> {
    /// The solid of a state of points, if finite elements act on it and a scene can say their mesh.
    pub(super) fn solid(
        &mut self,
        state: usize,
        masses: Option<&Masses>,
        velocities: &[Vec3],
        boxes: &[(Vec3, Vec3)],
        held: &[usize],
    ) -> Result<Option<Solid>> {
        let Some(law) = self.law_of_solid(state)? else {
            return Ok(None);
        };
        let Kind::Points {
            topology, placement, ..
        } = self.0.states[state].kind.clone()
        else {
            return Ok(None);
        };
        let lost = |reader: &mut Self, why: &str| {
            let message = format!("`{}` is not taken: {why}", kind(reader.0.tree, law.component));
            reader.0.tree.remark(spot(reader.0.tree, law.component), message);
            Ok(None)
        };
        let (Some(own), Some(mesh)) = (topology, self.0.topology_above(law.node)?.map(|(_, m)| m)) else {
            return lost(self, "its points are not those of a mesh");
        };
        let Some(placement) = placement else {
            return lost(self, "its points are not those of its mesh");
        };
        let Some((shape, origin)) = self.shape(&own, placement.uniform()) else {
            return lost(
                self,
                "a scene has solids of boxes and of mesh files in one scale alone",
            );
        };
        let Some(density) = self.density(state, masses, &mesh) else {
            return lost(self, "its mesh has no volume, or it has no mass");
        };
        let frame = placement.frame;
        let at = frame.point(origin * placement.uniform().unwrap_or(1.0));
        let mut entry = format!(
            "Solid(\n    name: {}, shape: {shape}",
            text(&self.0.states[state].name)
        );
        if law.tetrahedra && matches!(own.source, Source::Grid { .. }) {
            entry.push_str(", elements: Tetrahedra");
        }
        let _ = write!(entry, "{}{}", place("position", at), rotation(frame.rotation));
        if let Some(v) = velocities.first().filter(|v| **v != Vec3::zeros()) {
            let _ = write!(entry, ", velocity: {}", super::parts::point(*v));
        }
        let moduli = format!("young: {}, poisson: {}", number(law.young), number(law.poisson));
        let _ = write!(
            entry,
            ",\n    material: {}({moduli}), density: {}",
            law.material,
            number(density)
        );
        if law.compliance {
            entry.push_str(", treatment: Compliance");
        }
        if law.relaxation_time > 0.0 {
            let _ = write!(entry, ", relaxation_time: {}", number(law.relaxation_time));
        }
        let holds = frame.is_upright() && !boxes.is_empty() && !held.is_empty();
        if holds {
            let inner = |p: Vec3| super::parts::point(p - at);
            let list: Vec<String> = boxes
                .iter()
                .map(|(a, b)| format!("({}, {})", inner(*a), inner(*b)))
                .collect();
            let _ = write!(entry, ",\n    fix_boxes: [{}]", list.join(", "));
        }
        entry.push_str(",\n),");
        Ok(Some(Solid { entry, holds }))
    }

    /// The shape of a mesh, and where its origin is in the points of the file.
    fn shape(&mut self, mesh: &Topology, scale: Option<f64>) -> Option<(String, Vec3)> {
        let scale = scale?;
        match &mesh.source {
            Source::Grid { least, size, cells } => {
                let size = size * scale;
                let cells: Vec<String> = cells.iter().map(usize::to_string).collect();
                let shape = format!(
                    "Box(size: {}, cells: ({}))",
                    super::parts::point(size),
                    cells.join(", ")
                );
                Some((shape, *least))
            }
            Source::File(path) => {
                let file = text(&self.0.meshes.path_from_scene(path));
                let scale = match scale {
                    1.0 => String::new(),
                    scale => format!(", scale: {}", number(scale)),
                };
                Some((format!("File(file: {file}{scale})"), Vec3::zeros()))
            }
            Source::Listed => None,
        }
    }

    /// The density that gives a solid its mass.
    fn density(&mut self, state: usize, masses: Option<&Masses>, mesh: &Rc<Topology>) -> Option<f64> {
        let density = match masses? {
            Masses::Density(density) => *density,
            Masses::Each(list) => {
                // The mesh may lie elsewhere than the points, but is of the same form.
                let Kind::Points { positions, .. } = &self.0.states[state].kind else {
                    return None;
                };
                let mut mesh = (**mesh).clone();
                if !mesh.hexahedra.is_empty() {
                    mesh.tetrahedra.clear();
                }
                mesh.points.clone_from(positions);
                let volume = mesh.volume();
                let at = self.0.states[state].spot;
                self.0.tree.remark(
                    at,
                    "the mass of a solid is that of SOFA, but spread by volume and not by vertices",
                );
                list.iter().sum::<f64>() / volume
            }
        };
        (density.is_finite() && density > 0.0).then_some(density)
    }

    /// The law of elasticity on a state: in its node, or in one below that has no other one.
    fn law_of_solid(&mut self, state: usize) -> Result<Option<Law>> {
        let top = self.0.states[state].node;
        let mut found = None;
        for node in 0..self.0.graph.nodes.len() {
            let below = self.0.graph.upwards(node).any(|n| n == top);
            if !below || !self.is_of(node, top) {
                continue;
            }
            for component in self.0.components(node, FIELDS) {
                if found.is_some() {
                    let message = "a second law of elasticity on the same points is not taken";
                    self.0.tree.remark(spot(self.0.tree, component), message);
                    self.0.taken.insert(component);
                    continue;
                }
                found = Some(self.elasticity(component, node)?);
            }
        }
        Ok(found)
    }

    /// Whether everything between a node and one above it is strains of the points there.
    fn is_of(&self, node: usize, top: usize) -> bool {
        self.0.graph.upwards(node).take_while(|n| *n != top).all(|n| {
            self.0.state_element(n).is_none()
                || self
                    .0
                    .mapping_of(n)
                    .is_some_and(|m| STRAINS.contains(&kind(self.0.tree, m).as_str()))
        })
    }

    fn elasticity(&mut self, component: usize, node: usize) -> Result<Law> {
        let name = kind(self.0.tree, component);
        self.0.take(
            component,
            &[
                "youngModulus",
                "poissonRatio",
                "method",
                "isCompliance",
                "rayleighStiffness",
                "viscosity",
                "assemble",
                "updateStiffnessMatrix",
                "computeGlobalMatrix",
                "assembling",
            ],
        );
        let flexible = name == "HookeForceField";
        for key in ["youngModulus", "poissonRatio"] {
            let list = self.0.tree.list(component, key)?.unwrap_or_default();
            if list.iter().any(|x| *x != list[0]) {
                let message = format!("`{key}` of a solid is the first of its numbers");
                self.0.tree.remark(spot(self.0.tree, component), message);
            }
        }
        let young = self
            .0
            .tree
            .list(component, "youngModulus")?
            .and_then(|l| l.first().copied());
        let poisson = self
            .0
            .tree
            .list(component, "poissonRatio")?
            .and_then(|l| l.first().copied());
        let strain = match flexible {
            true => self.0.mapping_of(node),
            false => Some(component),
        };
        let method = strain
            .and_then(|s| self.0.tree.value(s, "method"))
            .unwrap_or_default()
            .to_owned();
        let strain_kind = strain.map(|s| kind(self.0.tree, s)).unwrap_or_default();
        let material = match (strain_kind.as_str(), method.as_str()) {
            ("GreenStrainMapping", _) => "StVenantKirchhoff",
            ("CauchyStrainMapping", _) | (_, "small") => "Linear",
            _ => "Corotational",
        };
        if self
            .0
            .tree
            .list(component, "viscosity")?
            .is_some_and(|l| l.iter().any(|v| *v != 0.0))
        {
            let at = self
                .0
                .tree
                .attribute(component, "viscosity")
                .map_or(spot(self.0.tree, component), |a| a.spot);
            self.0.tree.remark(at, "`viscosity` of strains is not taken: damping of solids here is the stiffness times a time (relaxation_time)");
        }
        let tetrahedra = name.contains("Tetra") || flexible && self.has_tetrahedra(node)?;
        Ok(Law {
            material,
            young: young.unwrap_or(5000.0),
            poisson: poisson.unwrap_or(if flexible { 0.0 } else { 0.45 }),
            compliance: self.0.truth(component, "isCompliance", false) && material != "Linear",
            relaxation_time: self
                .0
                .tree
                .not_negative(component, "rayleighStiffness")?
                .unwrap_or(0.0),
            node,
            tetrahedra,
            component,
        })
    }

    fn has_tetrahedra(&mut self, node: usize) -> Result<bool> {
        let above = self.0.topology_above(node)?;
        Ok(above.is_some_and(|(component, mesh)| {
            let of_tetrahedra = kind(self.0.tree, component).starts_with("Tetra");
            of_tetrahedra || mesh.hexahedra.is_empty() && !mesh.tetrahedra.is_empty()
        }))
    }
}
