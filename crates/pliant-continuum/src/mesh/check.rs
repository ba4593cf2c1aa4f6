//! Defects of meshes, and their repair.

use super::{Element, Mesh};
use crate::{ContinuumError, ElementKind, ShapeValues};
use pliant_dense::Vec3;
use std::collections::BTreeMap;

/// Jacobian determinant relative to the cube of the longest edge, below which an element counts as
/// flat: far above the rounding of a determinant, far below any shape that can be computed with.
const FLAT: f64 = 1e-12;

/// Something wrong with a mesh; elements and nodes are counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Defect {
    /// A coordinate is NaN or infinite.
    #[error("node {node} has a coordinate that is not a finite number")]
    NotFinite {
        /// The node.
        node: usize,
    },
    /// The wrong number of nodes.
    #[error("element {element} is a {}, but has {found} nodes", .kind.name())]
    NodeCount {
        /// The element.
        element: usize,
        /// Its kind.
        kind: ElementKind,
        /// Nodes given.
        found: usize,
    },
    /// A node that does not exist.
    #[error("element {element} refers to node {node}, but there are {count}")]
    UnknownNode {
        /// The element.
        element: usize,
        /// The node asked for.
        node: usize,
        /// Nodes of the mesh.
        count: usize,
    },
    /// A node twice in an element.
    #[error("element {element} has node {node} twice")]
    RepeatedNode {
        /// The element.
        element: usize,
        /// The node.
        node: usize,
    },
    /// No volume, or so little that rounding decides its sign.
    #[error("element {element} is flat: its volume is zero")]
    Flat {
        /// The element.
        element: usize,
    },
    /// An element with its nodes in the order of the mirror image; a repair puts them right.
    #[error("element {element} is inside out: its nodes are in the order of its mirror image")]
    InsideOut {
        /// The element.
        element: usize,
    },
    /// The volume changes its sign inside.
    #[error("element {element} is folded: the Jacobian determinant changes its sign inside")]
    Folded {
        /// The element.
        element: usize,
    },
    /// Two elements of the same nodes.
    #[error("element {element} has the nodes of element {same}")]
    Duplicate {
        /// The element.
        element: usize,
        /// The earlier one.
        same: usize,
    },
    /// A face with more than two elements.
    #[error("element {element} is the third on one face")]
    CrowdedFace {
        /// The element.
        element: usize,
    },
    /// A node of no element: it would have no mass; a repair leaves it out.
    #[error("node {node} belongs to no element")]
    UnusedNode {
        /// The node.
        node: usize,
    },
    /// A node of the surface in the middle of an edge that does not have it.
    #[error("node {node} hangs: it lies on an edge of element {element}, which does not have it")]
    HangingNode {
        /// The node.
        node: usize,
        /// The element.
        element: usize,
    },
}

/// The changes of a repair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// Elements whose nodes were put in the order of the mirror image.
    pub turned: Vec<usize>,
    /// Nodes left out, in the old numbers.
    pub removed_nodes: Vec<usize>,
    /// The new number of each old node.
    pub node_map: Vec<Option<usize>>,
}

impl Mesh {
    /// All defects, by elements and then by nodes. Where lists or numbers are broken,
    /// only that is reported.
    pub fn defects(&self) -> Vec<Defect> {
        let mut out = self.broken();
        if !out.is_empty() {
            return out;
        }
        let shapes = ElementKind::ALL.map(|kind| {
            let (functions, rule) = (kind.shape_functions(), kind.quadrature(kind.stiffness_degree()));
            rule.points.iter().map(|p| functions.at(*p)).collect::<Vec<_>>()
        });
        let mut seen: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let mut faces: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for (index, element) in self.elements.iter().enumerate() {
            let mut list = element.nodes.clone();
            list.sort_unstable();
            if let Some(same) = seen.get(&list) {
                let same = *same;
                out.push(Defect::Duplicate { element: index, same });
                continue;
            }
            seen.insert(list, index);
            let kind = ElementKind::ALL.iter().position(|k| *k == element.kind);
            out.extend(kind.and_then(|k| self.shape_defect(index, element, &shapes[k])));
            let mut crowded = false;
            for face in element.kind.faces() {
                let mut key: Vec<usize> = face.iter().map(|k| element.nodes[*k]).collect();
                key.sort_unstable();
                let count = faces.entry(key).or_default();
                *count += 1;
                crowded |= *count > 2;
            }
            if crowded {
                out.push(Defect::CrowdedFace { element: index });
            }
        }
        let mut used = vec![false; self.nodes.len()];
        self.elements
            .iter()
            .flat_map(|e| &e.nodes)
            .for_each(|n| used[*n] = true);
        let unused = used.iter().enumerate().filter(|(_, used)| !**used);
        out.extend(unused.map(|(node, _)| Defect::UnusedNode { node }));
        out.extend(self.hanging());
        out
    }

    /// Fails with the first defect if the mesh is not sound.
    ///
    /// # Errors
    /// [`ContinuumError::Mesh`], [`ContinuumError::Empty`].
    pub fn check(&self) -> Result<(), ContinuumError> {
        let defects = self.defects();
        if let Some(defect) = defects.first() {
            return Err(ContinuumError::Mesh {
                defect: *defect,
                count: defects.len(),
            });
        }
        if self.elements.is_empty() {
            return Err(ContinuumError::Empty);
        }
        Ok(())
    }

    /// A copy with elements that are inside out put right and nodes of no element left out;
    /// all other defects stay for [`check`](Self::check).
    pub fn repaired(&self) -> (Self, Repair) {
        let mut mesh = self.clone();
        let mut report = Repair::default();
        let mut unused = Vec::new();
        for defect in self.defects() {
            match defect {
                Defect::InsideOut { element } => {
                    let old = &self.elements[element];
                    let order = old.kind.mirrored();
                    mesh.elements[element].nodes = order.iter().map(|k| old.nodes[*k]).collect();
                    report.turned.push(element);
                }
                Defect::UnusedNode { node } => unused.push(node),
                _ => {}
            }
        }
        let mut next = 0;
        report.node_map = (0..self.nodes.len())
            .map(|node| {
                if unused.binary_search(&node).is_ok() {
                    return None;
                }
                next += 1;
                Some(next - 1)
            })
            .collect();
        mesh.nodes = self.nodes.clone();
        if !unused.is_empty() {
            let kept = self.nodes.iter().zip(&report.node_map);
            mesh.nodes = kept.filter(|(_, to)| to.is_some()).map(|(x, _)| *x).collect();
            for node in mesh.elements.iter_mut().flat_map(|e| &mut e.nodes) {
                *node = report.node_map[*node].unwrap_or(*node);
            }
        }
        report.removed_nodes = unused;
        (mesh, report)
    }

    /// Lists and numbers that nothing can be computed from.
    pub(super) fn broken(&self) -> Vec<Defect> {
        let mut out = Vec::new();
        let count = self.nodes.len();
        for (node, x) in self.nodes.iter().enumerate() {
            if x.iter().any(|x| !x.is_finite()) {
                out.push(Defect::NotFinite { node });
            }
        }
        for (index, Element { kind, nodes }) in self.elements.iter().enumerate() {
            if nodes.len() != kind.node_count() {
                out.push(Defect::NodeCount {
                    element: index,
                    kind: *kind,
                    found: nodes.len(),
                });
            }
            for (k, node) in nodes.iter().enumerate() {
                let (element, node) = (index, *node);
                if node >= count {
                    out.push(Defect::UnknownNode { element, node, count });
                } else if nodes[..k].contains(&node) {
                    out.push(Defect::RepeatedNode { element, node });
                }
            }
        }
        out
    }

    /// Whether the volume of an element is zero, negative, or of both signs.
    fn shape_defect(&self, index: usize, element: &Element, shapes: &[ShapeValues]) -> Option<Defect> {
        let at = |node: usize| Vec3::from(self.nodes[element.nodes[node]]);
        let edge = |[a, b]: &[usize; 2]| (at(*a) - at(*b)).norm();
        let longest = element.kind.edges().iter().map(edge).fold(0.0, f64::max);
        let volumes = shapes
            .iter()
            .map(|shape| self.jacobian(element, &shape.gradients).determinant());
        let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        for volume in volumes {
            (least, largest) = (least.min(volume), largest.max(volume));
        }
        let flat = FLAT * longest.powi(3);
        let element = index;
        if least > flat {
            None
        } else if largest < -flat {
            Some(Defect::InsideOut { element })
        } else if largest > flat && least < -flat {
            Some(Defect::Folded { element })
        } else {
            Some(Defect::Flat { element })
        }
    }

    /// Nodes in the middle of edges of the surface that do not have them: what is left of a
    /// refinement that stopped halfway.
    fn hanging(&self) -> Vec<Defect> {
        let surface = self.boundary_faces();
        let mut on_surface: Vec<usize> = surface.iter().flat_map(|f| f.nodes.clone()).collect();
        on_surface.sort_unstable();
        on_surface.dedup();
        // Nodes by their first coordinate, so that each edge looks only at those beside it.
        let mut order = on_surface;
        order.sort_by(|a, b| self.nodes[*a][0].total_cmp(&self.nodes[*b][0]));
        let mut edges = BTreeMap::new();
        for face in &surface {
            let n = face.corners;
            for k in 0..n {
                let (a, b) = (face.nodes[k], face.nodes[(k + 1) % n]);
                edges.entry((a.min(b), a.max(b))).or_insert(face);
            }
        }
        let mut out = Vec::new();
        for ((a, b), face) in edges {
            let (p, q) = (Vec3::from(self.nodes[a]), Vec3::from(self.nodes[b]));
            let length = (q - p).norm();
            let near = 1e-9 * length;
            let first = order.partition_point(|n| self.nodes[*n][0] < p.x.min(q.x) - near);
            let beside = order[first..]
                .iter()
                .take_while(|n| self.nodes[**n][0] <= p.x.max(q.x) + near);
            for node in beside {
                if self.elements[face.element].nodes.contains(node) {
                    continue;
                }
                let r = Vec3::from(self.nodes[*node]) - p;
                let along = r.dot(&(q - p)) / length;
                let off = (r - (q - p) * (along / length)).norm();
                if off < near && along > near && along < length - near {
                    let (node, element) = (*node, face.element);
                    out.push(Defect::HangingNode { node, element });
                }
            }
        }
        out
    }
}
