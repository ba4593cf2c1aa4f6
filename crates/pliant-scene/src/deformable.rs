//! Solids, sheets, shells and rods of a scene, whose stresses can be read.

use crate::picture::Picture;
use pliant::continuum::{ElementKind, RodParts, SheetCells, SheetParts, ShellParts, SolidParts};
use pliant::model::{ComponentId, Model, NodeId, NodeKind, Treatment};
use pliant_output::recording::{CellKind, FieldSpec, Region, RegionCell, RegionKind};

/// A solid, a sheet, a shell or an elastic rod.
#[derive(Clone, Debug)]
pub struct Deformable {
    /// The user's name.
    pub name: String,
    /// Its nodes and components.
    pub parts: DeformableParts,
    /// The elements that each cell of the shape of a solid is, in the order of the shape, by their
    /// numbers over all parts, one after the other; only of solids whose elements may go.
    pub cells: Vec<Vec<usize>>,
}

/// Nodes and components that the model made of it.
#[derive(Clone, Debug)]
pub enum DeformableParts {
    /// A solid: a part of each of its materials, one or more, on the same points.
    Solid(Vec<SolidParts>),
    /// A sheet.
    Sheet(Box<SheetParts>),
    /// A shell on frames, and the points at the centres of its bodies.
    Shell(Box<ShellParts>, NodeId),
    /// A rod, and the points at the centres of its bodies.
    Rod(Box<RodParts>, NodeId),
}

/// A number of the stress or strain of a [`Deformable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldNumber {
    /// The largest equivalent stress of von Mises: of a solid at its points, of a sheet of its
    /// elements (Pa).
    LargestVonMises,
    /// Equivalent stress (Pa).
    VonMises,
    /// Pressure of a solid (Pa).
    Pressure,
    /// A component of the stress (Pa), by its place.
    Stress(usize),
    /// A component of the strain (none), by its place.
    Strain(usize),
    /// Plastic strain that has passed (none).
    PlasticStrain,
    /// A component of the bending moment of a shell (N m per m), by its place.
    Moment(usize),
    /// A force (N) or moment (N m) of the section of a rod, by its place in
    /// [`RodForces::numbers`](pliant::continuum::RodForces::numbers).
    Section(usize),
}

const TENSOR: [&str; 6] = ["xx", "yy", "zz", "xy", "yz", "zx"];
const SHEET: [&str; 3] = ["warp", "weft", "shear"];

const fn field(name: &'static str, unit: &'static str, components: usize) -> FieldSpec {
    FieldSpec {
        name,
        unit,
        components,
    }
}

/// Fields of solids, at points and of cells; the last one only of those that yield.
const OF_SOLIDS: [FieldSpec; 5] = [
    field("stress", "Pa", 6),
    field("von_mises", "Pa", 1),
    field("pressure", "Pa", 1),
    field("strain", "", 6),
    field("plastic_strain", "", 1),
];

/// Fields of the cells of sheets; the last one only of shells.
const OF_SHEETS: [FieldSpec; 4] = [
    field("stress", "Pa", 3),
    field("von_mises", "Pa", 1),
    field("strain", "", 3),
    field("bending_moment", "N m/m", 3),
];

const OF_RODS: [FieldSpec; 2] = [field("section_force", "N", 3), field("section_moment", "N m", 3)];

impl Deformable {
    /// The node of its points.
    pub fn points(&self) -> NodeId {
        match &self.parts {
            DeformableParts::Solid(parts) => parts[0].nodes,
            DeformableParts::Sheet(parts) => parts.nodes,
            DeformableParts::Shell(_, centres) | DeformableParts::Rod(_, centres) => *centres,
        }
    }

    /// The nodes that have the deformations of a solid or a sheet, at its points of integration, at
    /// its edges, of its patches and of the modes of its elements; none of a rod, whose strains are few.
    pub fn deformations(&self, model: &Model) -> Vec<NodeId> {
        match &self.parts {
            DeformableParts::Solid(parts) => {
                let of_part = |part: &SolidParts| {
                    let mut own = vec![part.gradients];
                    own.extend([part.strains, part.modes].into_iter().flatten());
                    // Changes of volume hang on strains, or on ratios of volumes, as they are or as
                    // logarithms.
                    let mut next = part.dilatations;
                    while let Some(node) = next.filter(|node| *node != part.gradients) {
                        own.push(node);
                        next = match &model.node(node).kind {
                            NodeKind::Mapped { parents, .. } => parents.first().copied(),
                            _ => None,
                        };
                    }
                    own
                };
                parts.iter().flat_map(of_part).collect()
            }
            DeformableParts::Sheet(parts) => {
                let bending = [parts.bends, parts.curvatures];
                bending.into_iter().flatten().chain([parts.strains]).collect()
            }
            DeformableParts::Shell(parts, _) => vec![parts.strains],
            DeformableParts::Rod(..) => Vec::new(),
        }
    }

    /// The word for it in messages.
    pub fn what(&self) -> &'static str {
        match &self.parts {
            DeformableParts::Solid(_) => "solid",
            DeformableParts::Sheet(_) => "sheet",
            DeformableParts::Shell(..) => "shell",
            DeformableParts::Rod(..) => "rod",
        }
    }

    /// How many points a solid, elements a sheet, segments a rod has.
    pub fn count(&self, model: &Model) -> usize {
        match &self.parts {
            DeformableParts::Solid(parts) => model.node(parts[0].nodes).count,
            DeformableParts::Sheet(parts) => {
                let cells = &parts.cells;
                cells.triangles.len().saturating_add(cells.quadrangles.len())
            }
            DeformableParts::Shell(parts, _) => parts.cells.quadrangles.len(),
            DeformableParts::Rod(parts, _) => parts.lengths.len(),
        }
    }

    /// The cells of a sheet or a shell.
    fn sheet_cells(&self) -> Option<&SheetCells> {
        match &self.parts {
            DeformableParts::Sheet(parts) => Some(&parts.cells),
            DeformableParts::Shell(parts, _) => Some(&parts.cells),
            DeformableParts::Solid(_) | DeformableParts::Rod(..) => None,
        }
    }

    /// Whether its elements have bending moments.
    fn has_moments(&self) -> bool {
        match &self.parts {
            DeformableParts::Sheet(parts) => parts.curvatures.is_some(),
            DeformableParts::Shell(..) => true,
            DeformableParts::Solid(_) | DeformableParts::Rod(..) => false,
        }
    }

    /// Whether its stresses are means of a step, for some of them are forces of rows.
    pub fn has_rows(&self, model: &Model) -> bool {
        let is_row = |component: ComponentId| match component {
            ComponentId::ForceField(i) => model.initial_parameters().treatment(i) == Treatment::Compliance,
            _ => false,
        };
        match &self.parts {
            DeformableParts::Solid(parts) => parts
                .iter()
                .any(|part| is_row(part.material) || part.volume.is_some()),
            DeformableParts::Sheet(parts) => is_row(parts.membrane),
            DeformableParts::Shell(parts, _) => is_row(parts.elasticity),
            DeformableParts::Rod(parts, _) => is_row(parts.elasticity),
        }
    }

    /// Names, units and numbers of its stress, at one place.
    pub fn stresses(&self) -> Vec<(String, &'static str, FieldNumber)> {
        let tensor = |k: usize, axis: &&str| (format!("stress_{axis}"), "Pa", FieldNumber::Stress(k));
        let equivalent = ("von_mises".to_owned(), "Pa", FieldNumber::VonMises);
        match &self.parts {
            DeformableParts::Solid(_) => {
                let mut all: Vec<_> = TENSOR
                    .iter()
                    .enumerate()
                    .map(|(k, axis)| tensor(k, axis))
                    .collect();
                all.push(equivalent);
                all.push(("pressure".to_owned(), "Pa", FieldNumber::Pressure));
                all
            }
            DeformableParts::Sheet(_) | DeformableParts::Shell(..) => {
                let mut all: Vec<_> = SHEET
                    .iter()
                    .enumerate()
                    .map(|(k, axis)| tensor(k, axis))
                    .collect();
                all.push(equivalent);
                let moments = ["warp", "weft", "twist"].iter().enumerate();
                let moments =
                    moments.map(|(k, axis)| (format!("moment_{axis}"), "Nm/m", FieldNumber::Moment(k)));
                all.extend(moments.filter(|_| self.has_moments()));
                all
            }
            DeformableParts::Rod(..) => Vec::new(),
        }
    }

    /// Names, units and numbers of its strain, at one place.
    pub fn strains(&self) -> Vec<(String, &'static str, FieldNumber)> {
        let axes = match &self.parts {
            DeformableParts::Solid(_) => &TENSOR[..],
            DeformableParts::Sheet(_) | DeformableParts::Shell(..) => &SHEET[..],
            DeformableParts::Rod(..) => &[],
        };
        let strain = |(k, axis): (usize, &&str)| (format!("strain_{axis}"), "", FieldNumber::Strain(k));
        let mut all: Vec<_> = axes.iter().enumerate().map(strain).collect();
        if let DeformableParts::Solid(parts) = &self.parts
            && parts.iter().any(|part| part.yields)
        {
            all.push(("plastic_strain".to_owned(), "", FieldNumber::PlasticStrain));
        }
        all
    }

    /// Names, units and numbers of the forces of a section; none but of rods.
    pub fn sections(&self) -> Vec<(String, &'static str, FieldNumber)> {
        const NAMES: [(&str, &str); 6] = [
            ("axial", "N"),
            ("shear_1", "N"),
            ("shear_2", "N"),
            ("torque", "Nm"),
            ("moment_1", "Nm"),
            ("moment_2", "Nm"),
        ];
        let is_rod = matches!(self.parts, DeformableParts::Rod(..));
        let names = NAMES.iter().enumerate().filter(|_| is_rod);
        names
            .map(|(k, (name, unit))| ((*name).to_owned(), *unit, FieldNumber::Section(k)))
            .collect()
    }

    /// The point, element or segment that is nearest to a place (m), by positions of its points.
    pub fn nearest(&self, place: [f64; 3], points: &[[f64; 3]]) -> usize {
        let centre = |nodes: &[usize]| -> [f64; 3] {
            let sum = |k: usize| nodes.iter().map(|n| points[*n][k]).sum::<f64>();
            std::array::from_fn(|k| sum(k) / nodes.len() as f64)
        };
        let places: Vec<[f64; 3]> = match &self.parts {
            DeformableParts::Solid(_) => points.to_vec(),
            DeformableParts::Sheet(_) | DeformableParts::Shell(..) => {
                let cells = self.sheet_cells().cloned().unwrap_or_default();
                let triangles = cells.triangles.iter().map(|t| centre(t));
                triangles
                    .chain(cells.quadrangles.iter().map(|q| centre(q)))
                    .collect()
            }
            DeformableParts::Rod(parts, _) => {
                let next = |k: usize| k.saturating_add(1).checked_rem(points.len()).unwrap_or(0);
                (0..parts.lengths.len()).map(|k| centre(&[k, next(k)])).collect()
            }
        };
        let distance = |x: &[f64; 3]| (0..3).map(|k| (x[k] - place[k]).powi(2)).sum::<f64>();
        let distances = places.iter().map(distance).enumerate();
        distances.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(k, _)| k)
    }

    /// Its cells and fields in recordings of a picture.
    pub fn region(&self, model: &Model, picture: &Picture) -> Region {
        let fields = |all: &[FieldSpec], last: bool| {
            let count = if last {
                all.len()
            } else {
                all.len().saturating_sub(1)
            };
            all[..count].to_vec()
        };
        let (kind, cells, point_fields, cell_fields) = match &self.parts {
            DeformableParts::Solid(parts) => {
                let cells = parts.iter().flat_map(|part| part.recovery.elements());
                let cells = cells.map(|e| cell(cell_kind(e.kind), &e.nodes)).collect();
                let fields = fields(&OF_SOLIDS, parts.iter().any(|part| part.yields));
                (RegionKind::Solid, cells, fields.clone(), fields)
            }
            DeformableParts::Sheet(_) | DeformableParts::Shell(..) => {
                let cells = self.sheet_cells().cloned().unwrap_or_default();
                let triangles = cells.triangles.iter();
                let triangles = triangles.map(|t| cell(CellKind::Triangle, t));
                let quadrangles = cells.quadrangles.iter();
                let cells = triangles.chain(quadrangles.map(|q| cell(CellKind::Quadrangle, q)));
                let of_cells = fields(&OF_SHEETS, self.has_moments());
                (RegionKind::Sheet, cells.collect(), vec![OF_SHEETS[1]], of_cells)
            }
            DeformableParts::Rod(parts, centres) => {
                let count = model.node(*centres).count;
                let next = |k: usize| k.saturating_add(1).checked_rem(count).unwrap_or(0);
                let segments = 0..parts.lengths.len();
                let cells = segments.map(|k| cell(CellKind::Line, &[k, next(k)]));
                (RegionKind::Rod, cells.collect(), Vec::new(), OF_RODS.to_vec())
            }
        };
        Region {
            name: self.name.clone(),
            kind,
            first_point: picture.first_point(model, self.points()),
            point_count: model.node(self.points()).count,
            cells,
            point_fields,
            cell_fields,
        }
    }
}

/// A cell; no picture has more points than its numbers hold.
fn cell(kind: CellKind, nodes: &[usize]) -> RegionCell {
    let number = |node: &usize| u32::try_from(*node).unwrap_or(u32::MAX);
    RegionCell {
        kind,
        nodes: nodes.iter().map(number).collect(),
    }
}

fn cell_kind(kind: ElementKind) -> CellKind {
    match kind {
        ElementKind::Tet4 => CellKind::Tetrahedron4,
        ElementKind::Tet10 => CellKind::Tetrahedron10,
        ElementKind::Pyramid5 => CellKind::Pyramid5,
        ElementKind::Pyramid13 => CellKind::Pyramid13,
        ElementKind::Prism6 => CellKind::Prism6,
        ElementKind::Prism15 => CellKind::Prism15,
        ElementKind::Hex8 => CellKind::Hexahedron8,
        ElementKind::Hex20 => CellKind::Hexahedron20,
        ElementKind::Hex27 => CellKind::Hexahedron27,
    }
}
