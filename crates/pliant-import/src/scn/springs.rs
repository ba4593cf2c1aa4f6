//! Springs between points: lists of springs, and springs along the edges of meshes.

use super::Result;
use super::forces::Forces;
use super::graph::{kind, spot};
use super::states::{End, Kind};
use super::topology::Topology;
use std::collections::HashSet;

/// Springs along lengths.
#[derive(Default)]
pub(super) struct Springs {
    pub(super) pairs: Vec<(End, End)>,
    pub(super) rest: Vec<f64>,
    /// Stiffness (N/m) and damping (N s/m).
    pub(super) laws: Vec<(f64, f64)>,
    pub(super) tension_only: bool,
}

impl Forces<'_, '_> {
    /// Springs one by one: two indices, stiffness, damping, length at rest.
    pub(super) fn springs(&mut self, component: usize, own: Option<usize>) -> Result<()> {
        self.0.take(
            component,
            &["spring", "object1", "object2", "stiffness", "damping"],
        );
        let side = |reader: &mut Self, key: &str| -> Result<Option<usize>> {
            match reader.0.tree.value(component, key).is_some() {
                true => Ok(reader.0.inputs(component, key)?.first().copied().flatten()),
                false => Ok(own),
            }
        };
        let (first, second) = (side(self, "object1")?, side(self, "object2")?);
        let fine = |s: Option<usize>| s.filter(|s| self.0.is_points(*s));
        let (Some(first), Some(second)) = (fine(first), fine(second)) else {
            let name = kind(self.0.tree, component);
            let missing = [first, second]
                .iter()
                .flatten()
                .any(|s| matches!(self.0.states[*s].kind, Kind::Missing));
            if !missing {
                let message = format!("`{name}` is not taken: its springs are not between points");
                self.0.tree.remark(spot(self.0.tree, component), message);
            }
            return Ok(());
        };
        let list = self.0.numbers(component, "spring")?.unwrap_or_default();
        self.0.check_groups(component, "spring", list.len(), 5)?;
        let mut springs = Springs::default();
        for five in list.chunks_exact(5) {
            let ends = self.0.whole(component, "spring", &five[..2])?;
            self.0
                .below(component, "spring", &ends[..1], self.0.count(first))?;
            self.0
                .below(component, "spring", &ends[1..], self.0.count(second))?;
            springs
                .pairs
                .push((End::Element(first, ends[0]), End::Element(second, ends[1])));
            springs.laws.push((five[2], five[3]));
            springs.rest.push(five[4]);
        }
        self.check_springs(component, &springs)?;
        if springs.pairs.is_empty() {
            return Ok(());
        }
        self.put_springs(component, first, springs)
    }

    fn check_springs(&self, component: usize, springs: &Springs) -> Result<()> {
        let fine = |(k, d): &(f64, f64)| *k >= 0.0 && *d >= 0.0;
        if springs.laws.iter().all(fine) && springs.rest.iter().all(|l| *l >= 0.0) {
            return Ok(());
        }
        let message = "stiffness, damping and length at rest of springs must not be below zero".to_owned();
        self.0.tree.wrong(spot(self.0.tree, component), message, None)
    }

    /// Springs between all corners of the cells of the mesh of a node. Their stiffness is that of
    /// the file over the length at rest: a force per strain.
    pub(super) fn springs_of_mesh(&mut self, component: usize, state: usize) -> Result<()> {
        const KINDS: [&str; 5] = ["lines", "triangles", "quads", "tetrahedra", "cubes"];
        self.0.take(
            component,
            &[
                "linesStiffness",
                "linesDamping",
                "trianglesStiffness",
                "trianglesDamping",
                "quadsStiffness",
                "quadsDamping",
                "tetrahedraStiffness",
                "tetrahedraDamping",
                "cubesStiffness",
                "cubesDamping",
                "noCompression",
                "stiffness",
                "damping",
            ],
        );
        let node = self.0.graph.node_of(component);
        let Some((_, mesh)) = self.0.topology_above(node)?.filter(|_| self.0.is_points(state)) else {
            let message = "`MeshSpringForceField` has no mesh: it is not taken";
            self.0.tree.remark(spot(self.0.tree, component), message);
            return Ok(());
        };
        let cells = cells_of(&mesh);
        let mut springs = Springs {
            tension_only: self.0.truth(component, "noCompression", false),
            ..Springs::default()
        };
        let mut known = HashSet::new();
        for (name, cells) in KINDS.iter().zip(&cells) {
            let of = |what: &str| {
                let own = self.0.tree.not_negative(component, &format!("{name}{what}"))?;
                Ok(own.unwrap_or(0.0))
            };
            let (stiffness, damping) = (of("Stiffness")?, of("Damping")?);
            if stiffness == 0.0 && damping == 0.0 {
                continue;
            }
            for cell in cells {
                for (i, a) in cell.iter().enumerate() {
                    for b in &cell[i + 1..] {
                        if !known.insert((*a.min(b), *a.max(b))) {
                            continue;
                        }
                        self.0.below(component, "name", &[*a, *b], self.0.count(state))?;
                        let length = (self.0.start_point(state, *b) - self.0.start_point(state, *a)).norm();
                        if length > 0.0 {
                            springs
                                .pairs
                                .push((End::Element(state, *a), End::Element(state, *b)));
                            springs.rest.push(length);
                            // Rounding of lengths makes no laws of their own.
                            springs
                                .laws
                                .push((round(stiffness / length), round(damping / length)));
                        }
                    }
                }
            }
        }
        if springs.pairs.is_empty() {
            return Ok(());
        }
        self.put_springs(component, state, springs)
    }
}

/// Edges, triangles, quadrangles, tetrahedra and hexahedra.
fn cells_of(mesh: &Topology) -> [Vec<Vec<usize>>; 5] {
    [
        mesh.all_edges().iter().map(|c| c.to_vec()).collect(),
        mesh.triangles.iter().map(|c| c.to_vec()).collect(),
        mesh.quads.iter().map(|c| c.to_vec()).collect(),
        mesh.tetrahedra.iter().map(|c| c.to_vec()).collect(),
        mesh.hexahedra.iter().map(|c| c.to_vec()).collect(),
    ]
}

/// A number to twelve digits.
fn round(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}
