//! Stresses, strains and section forces of a running scene: in pictures, and as numbers.

use super::Parts;
use super::contacts::Pressures;
use pliant::Simulation;
use pliant::continuum::{
    NodalRecovery, RodForces, SheetCells, SheetFields, SolidFields, SolidParts, pressure, von_mises,
};
use pliant::model::{ElementIndex, NodeId};
use pliant_output::recording::{Frame, Recording, RegionFrame, Sample};
use pliant_scene::{Deformable, DeformableParts, FieldNumber, Picture};

/// The solids, sheets and rods of a scene.
#[derive(Debug)]
pub(super) struct Fields {
    deformables: Vec<Deformable>,
    /// Nodes that collide.
    colliding: Vec<NodeId>,
    pressures: Pressures,
    /// Whether pictures have the angular velocities of bodies.
    trajectory: bool,
}

impl Fields {
    pub(super) fn new(deformables: Vec<Deformable>, colliding: Vec<NodeId>, pressures: Pressures) -> Self {
        Self {
            deformables,
            colliding,
            pressures,
            trajectory: false,
        }
    }

    /// Keeps the angular velocities of bodies in pictures from now on.
    pub(super) fn keep_trajectory(&mut self) {
        self.trajectory = true;
    }

    /// Nodes that collide.
    pub(super) fn colliding(&self) -> &[NodeId] {
        &self.colliding
    }

    pub(super) fn deformables(&self) -> &[Deformable] {
        &self.deformables
    }

    /// Describes the regions in a recording without frames.
    pub(super) fn describe(&self, simulation: &Simulation, picture: &Picture, recording: &mut Recording) {
        let regions = self.deformables.iter();
        recording.regions = regions.map(|d| d.region(simulation.model(), picture)).collect();
    }

    /// Puts the present stresses, contact forces and pressures into a picture.
    pub(super) fn add_to(&self, picture: &Picture, simulation: &Simulation, frame: &mut Frame) {
        self.pressures.add_to(picture, simulation, frame);
        if self.trajectory {
            frame.angular_velocities = angular_velocities(simulation, picture);
        }
        let model = simulation.model();
        if !self.colliding.is_empty() {
            frame.contact_forces = vec![[0.0; 3]; frame.points.len()];
            frame.body_contact_forces = vec![[0.0; 3]; frame.poses.len()];
        }
        for node in &self.colliding {
            let forces = simulation.contact_forces(*node);
            if let Some(first) = picture.first_point(model, *node) {
                frame.contact_forces[first..first + forces.len()].copy_from_slice(&forces);
            }
            let bodies = picture
                .bodies
                .iter()
                .map(|(on, element, _)| Some((*on, *element)));
            let bodies = bodies.chain(picture.colliders.iter().map(|c| c.carrier));
            for (sum, carrier) in frame.body_contact_forces.iter_mut().zip(bodies) {
                if let Some((on, element)) = carrier
                    && on == *node
                {
                    *sum = forces[element];
                }
            }
        }
        frame.regions.clear();
        for deformable in &self.deformables {
            let mut region = region_frame(simulation, deformable);
            let node = deformable.points();
            if picture.first_point(model, node).is_none() {
                region.points = simulation.positions(node).as_chunks::<3>().0.to_vec();
            }
            frame.regions.push(region);
        }
    }
}

impl Parts {
    /// The places of everything at present.
    pub(super) fn places(&self, simulation: &Simulation) -> Frame {
        self.picture
            .frame(simulation.problem(), simulation.state(), Sample::default())
    }

    /// The picture of the present state, with stresses and contacts.
    pub(super) fn frame(&self, simulation: &Simulation, sample: Sample) -> Frame {
        let (problem, state) = (simulation.problem(), simulation.state());
        let mut frame = self.picture.frame(problem, state, sample);
        self.fields.add_to(&self.picture, simulation, &mut frame);
        frame
    }
}

/// Angular velocities of the bodies of a picture, in world axes (rad/s).
fn angular_velocities(simulation: &Simulation, picture: &Picture) -> Vec<[f64; 3]> {
    let of = |node: NodeId, element: usize| simulation.world_velocity(node, element).unwrap_or_default().1;
    let bodies = picture.bodies.iter();
    bodies.map(|(node, element, _)| of(*node, *element)).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "single precision is enough for pictures"
)]
fn singles<const N: usize>(values: &[[f64; N]]) -> Vec<f32> {
    values.as_flattened().iter().map(|x| *x as f32).collect()
}

fn one(values: impl Iterator<Item = f64>) -> Vec<[f64; 1]> {
    values.map(|x| [x]).collect()
}

fn region_frame(simulation: &Simulation, deformable: &Deformable) -> RegionFrame {
    match &deformable.parts {
        DeformableParts::Solid(parts) => {
            let solid = SolidPoints::new(simulation, parts);
            let list = |stress: Vec<[f64; 6]>, strain: Vec<[f64; 6]>, plastic: Vec<[f64; 1]>| {
                let equivalents = one(stress.iter().map(von_mises));
                let pressures = one(stress.iter().map(pressure));
                let mut all = vec![singles(&stress), singles(&equivalents), singles(&pressures)];
                all.push(singles(&strain));
                all.extend(solid.yields().then(|| singles(&plastic)));
                all
            };
            let means = list(
                solid.means(&solid.stress),
                solid.means(&solid.strain),
                solid.means(&solid.plastic),
            );
            let nodes = solid.at_nodes();
            RegionFrame {
                points: Vec::new(),
                removed: removed(
                    simulation,
                    parts.iter().flat_map(|part| {
                        let node = part.gradients;
                        part.element_points()
                            .into_iter()
                            .map(move |points| (node, points.start))
                    }),
                ),
                point_values: list(nodes.stress, nodes.strain, one(nodes.plastic.into_iter())),
                cell_values: means,
            }
        }
        DeformableParts::Sheet(parts) => {
            let fields = simulation.sheet_fields(parts);
            let count = simulation.model().node(parts.nodes).count;
            let firsts = parts
                .element_points()
                .into_iter()
                .map(|points| (parts.strains, points.start));
            sheet_frame(
                &fields,
                Surface {
                    cells: &parts.cells,
                    areas: &parts.areas,
                    points: count,
                },
                parts.curvatures.is_some(),
                removed(simulation, firsts),
            )
        }
        DeformableParts::Shell(parts, _) => {
            let fields = simulation.shell_fields(parts);
            let count = simulation.model().node(parts.frames).count;
            let surface = Surface {
                cells: &parts.cells,
                areas: &parts.areas,
                points: count,
            };
            sheet_frame(&fields, surface, true, Vec::new())
        }
        DeformableParts::Rod(parts, _) => {
            let sections: Vec<[f64; 6]> = simulation
                .rod_forces(parts)
                .iter()
                .map(RodForces::numbers)
                .collect();
            let half = |first: usize| {
                let triples = sections.iter().map(|s| [s[first], s[first + 1], s[first + 2]]);
                singles(&triples.collect::<Vec<_>>())
            };
            RegionFrame {
                points: Vec::new(),
                removed: Vec::new(),
                point_values: Vec::new(),
                cell_values: vec![half(0), half(3)],
            }
        }
    }
}

/// The places of elements, by the node and the first of their points, that are gone.
fn removed(simulation: &Simulation, elements: impl Iterator<Item = (NodeId, usize)>) -> Vec<u32> {
    let problem = simulation.problem();
    let is_gone = |(_, (node, element)): &(u32, (NodeId, usize))| {
        let (node, element) = (node.index(), *element);
        problem.is_gone(ElementIndex { node, element })
    };
    (0..)
        .zip(elements)
        .filter(is_gone)
        .map(|(place, _)| place)
        .collect()
}

/// The elements of a sheet or a shell.
#[derive(Clone, Copy)]
struct Surface<'a> {
    cells: &'a SheetCells,
    /// Areas (m^2): of triangles, then of the four points of each quadrangle.
    areas: &'a [f64],
    /// Points of the mesh.
    points: usize,
}

/// The frame of a sheet or a shell, without the elements that are gone.
fn sheet_frame(fields: &SheetFields, surface: Surface<'_>, moments: bool, removed: Vec<u32>) -> RegionFrame {
    let equivalents: Vec<f64> = fields.von_mises().collect();
    let at_points = sheet_points(surface, &equivalents, &removed);
    let mut cell_values = vec![
        singles(&fields.stress),
        singles(&one(equivalents.into_iter())),
        singles(&fields.strain),
    ];
    cell_values.extend(moments.then(|| singles(&fields.moment)));
    RegionFrame {
        points: Vec::new(),
        removed,
        point_values: vec![singles(&one(at_points.into_iter()))],
        cell_values,
    }
}

/// Means at the points of a sheet of a number of its elements that are there, by their areas.
fn sheet_points(surface: Surface<'_>, values: &[f64], removed: &[u32]) -> Vec<f64> {
    let Surface { cells, areas, points } = surface;
    let (mut sums, mut weights) = (vec![0.0; points], vec![0.0; points]);
    let triangles = cells.triangles.iter().map(|t| &t[..]);
    let elements = triangles.chain(cells.quadrangles.iter().map(|q| &q[..]));
    let mut areas = areas.iter();
    for ((place, element), value) in (0..).zip(elements).zip(values) {
        let points = if element.len() == 4 { 4 } else { 1 };
        let area: f64 = areas.by_ref().take(points).sum();
        if removed.binary_search(&place).is_ok() {
            continue;
        }
        for node in element {
            sums[*node] += area * value;
            weights[*node] += area;
        }
    }
    let mean = |(sum, weight): (f64, f64)| if weight > 0.0 { sum / weight } else { 0.0 };
    sums.into_iter().zip(weights).map(mean).collect()
}

/// The fields of a solid at its nodes.
#[derive(Debug)]
pub(super) struct SolidNodes {
    pub(super) stress: Vec<[f64; 6]>,
    pub(super) strain: Vec<[f64; 6]>,
    plastic: Vec<f64>,
}

/// The fields of the parts of a solid at their quadrature points.
pub(super) struct SolidPoints<'a> {
    parts: &'a [SolidParts],
    /// Volumes (m^3) of the points, zero of those that are gone.
    volumes: Vec<Vec<f64>>,
    pub(super) stress: Vec<Vec<[f64; 6]>>,
    pub(super) strain: Vec<Vec<[f64; 6]>>,
    /// Empty if no part yields.
    plastic: Vec<Vec<[f64; 1]>>,
}

impl<'a> SolidPoints<'a> {
    pub(super) fn new(simulation: &Simulation, parts: &'a [SolidParts]) -> Self {
        let mut out = Self {
            parts,
            volumes: Vec::with_capacity(parts.len()),
            stress: Vec::with_capacity(parts.len()),
            strain: Vec::with_capacity(parts.len()),
            plastic: Vec::new(),
        };
        for part in parts {
            let SolidFields {
                stress,
                strain,
                plastic_strain,
            } = simulation.solid_fields(part);
            let node = part.gradients.index();
            let of_point = |(element, volume): (usize, &f64)| match simulation
                .problem()
                .is_gone(ElementIndex { node, element })
            {
                true => 0.0,
                false => *volume,
            };
            out.volumes
                .push(part.volumes.iter().enumerate().map(of_point).collect());
            if out.yields() {
                // A part that does not yield has no plastic strain.
                out.plastic.push(match part.yields {
                    true => one(plastic_strain.into_iter()),
                    false => vec![[0.0]; stress.len()],
                });
            }
            out.stress.push(stress);
            out.strain.push(strain);
        }
        out
    }

    fn yields(&self) -> bool {
        self.parts.iter().any(|part| part.yields)
    }

    /// Means over the elements, those of the parts one after the other.
    pub(super) fn means<const N: usize>(&self, values: &[Vec<[f64; N]>]) -> Vec<[f64; N]> {
        let parts = self.parts.iter().zip(values).zip(&self.volumes);
        parts
            .flat_map(|((part, values), volumes)| part.recovery.means(values, volumes))
            .collect()
    }

    fn nodes<const N: usize>(&self, values: &[Vec<[f64; N]>]) -> Vec<[f64; N]> {
        let parts = self.parts.iter().zip(values).zip(&self.volumes);
        let parts: Vec<_> = parts
            .map(|((part, values), volumes)| (&part.recovery, &values[..], &volumes[..]))
            .collect();
        NodalRecovery::nodes_of(&parts)
    }

    pub(super) fn at_nodes(&self) -> SolidNodes {
        let plastic = match self.yields() {
            true => self.nodes(&self.plastic),
            false => Vec::new(),
        };
        SolidNodes {
            stress: self.nodes(&self.stress),
            strain: self.nodes(&self.strain),
            // A fit through points, none of which is below zero, may be below at a corner.
            plastic: plastic.into_iter().map(|[p]| p.max(0.0)).collect(),
        }
    }
}

/// The fields of one deformable at one moment, for probes.
#[derive(Debug)]
pub(super) enum Read {
    Solid(Box<ReadSolid>),
    Sheet(SheetFields),
    Rod(Vec<RodForces>),
}

#[derive(Debug)]
pub(super) struct ReadSolid {
    nodes: SolidNodes,
}

impl Read {
    /// Reads the fields of a deformable.
    pub(super) fn new(simulation: &Simulation, deformable: &Deformable) -> Self {
        match &deformable.parts {
            DeformableParts::Solid(parts) => {
                let nodes = SolidPoints::new(simulation, parts).at_nodes();
                Self::Solid(Box::new(ReadSolid { nodes }))
            }
            DeformableParts::Sheet(parts) => Self::Sheet(simulation.sheet_fields(parts)),
            DeformableParts::Shell(parts, _) => Self::Sheet(simulation.shell_fields(parts)),
            DeformableParts::Rod(parts, _) => Self::Rod(simulation.rod_forces(parts)),
        }
    }

    /// A number at a point of a solid, of an element of a sheet, of a segment of a rod; not a
    /// number where there is no such one.
    pub(super) fn number(&self, number: FieldNumber, element: usize) -> f64 {
        let found = match self {
            Self::Solid(solid) => solid.number(number, element),
            Self::Sheet(fields) => of_sheet(fields, number, element),
            Self::Rod(sections) => match number {
                FieldNumber::Section(k) => sections.get(element).map(|s| s.numbers()[k]),
                _ => None,
            },
        };
        found.unwrap_or(f64::NAN)
    }
}

impl ReadSolid {
    fn number(&self, number: FieldNumber, point: usize) -> Option<f64> {
        let SolidNodes {
            stress,
            strain,
            plastic,
        } = &self.nodes;
        match number {
            FieldNumber::LargestVonMises => Some(largest(stress.iter().map(von_mises))),
            FieldNumber::VonMises => stress.get(point).map(von_mises),
            FieldNumber::Pressure => stress.get(point).map(pressure),
            FieldNumber::Stress(k) => stress.get(point).map(|s| s[k]),
            FieldNumber::Strain(k) => strain.get(point).map(|s| s[k]),
            FieldNumber::PlasticStrain => plastic.get(point).copied(),
            FieldNumber::Moment(_) | FieldNumber::Section(_) => None,
        }
    }
}

fn of_sheet(fields: &SheetFields, number: FieldNumber, element: usize) -> Option<f64> {
    match number {
        FieldNumber::LargestVonMises => Some(largest(fields.von_mises())),
        FieldNumber::VonMises => fields.von_mises().nth(element),
        FieldNumber::Stress(k) => fields.stress.get(element).map(|s| s[k]),
        FieldNumber::Strain(k) => fields.strain.get(element).map(|s| s[k]),
        FieldNumber::Moment(k) => fields.moment.get(element).map(|m| m[k]),
        FieldNumber::Pressure | FieldNumber::PlasticStrain | FieldNumber::Section(_) => None,
    }
}

/// The largest number; not a number if any is not one.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |a, b| if b.is_nan() || b > a { b } else { a })
}
