//! The surface of a mesh.

use super::Mesh;
use std::collections::BTreeMap;

/// The triangles of a face, and the elements at both of its sides.
pub type FaceTriangles = (Vec<[usize; 3]>, [Option<usize>; 2]);

/// A face of the surface.
pub(super) struct Face {
    pub(super) element: usize,
    /// Corners, which come first in [`nodes`](Self::nodes).
    pub(super) corners: usize,
    /// Corners going round to the left when seen from outside, then the middles of the edges that
    /// leave them.
    pub(super) nodes: Vec<usize>,
}

impl Mesh {
    /// Faces that belong to one element only, in the order of the elements.
    pub(super) fn boundary_faces(&self) -> Vec<Face> {
        self.faces_of(|count| count == 1)
    }

    /// Faces that belong to so many elements, once for each of them, in the order of the elements.
    fn faces_of(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<Face> {
        let mut count: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let key = |corners: &[usize]| {
            let mut key = corners.to_vec();
            key.sort_unstable();
            key
        };
        let corners = |e: usize| {
            let element = &self.elements[e];
            let faces = element.kind.faces().iter();
            faces.map(move |face| face.iter().map(|k| element.nodes[*k]).collect::<Vec<_>>())
        };
        for e in 0..self.elements.len() {
            for face in corners(e) {
                *count.entry(key(&face)).or_default() += 1;
            }
        }
        let mut out = Vec::new();
        for (e, element) in self.elements.iter().enumerate() {
            for (local, mut nodes) in element.kind.faces().iter().zip(corners(e)) {
                if !count.get(&key(&nodes)).is_some_and(|count| is_wanted(*count)) {
                    continue;
                }
                let n = nodes.len();
                if element.kind.is_quadratic() {
                    for k in 0..n {
                        let (a, b) = (local[k], local[(k + 1) % n]);
                        let is_it = |e: &[usize; 2]| *e == [a, b] || *e == [b, a];
                        if let Some(edge) = element.kind.edges().iter().position(is_it) {
                            nodes.push(element.nodes[element.kind.corner_count() + edge]);
                        }
                    }
                }
                out.push(Face {
                    element: e,
                    corners: n,
                    nodes,
                });
            }
        }
        out
    }

    /// Triangles of the surface, by nodes of the mesh, going round to the left when seen from
    /// outside; each face of a quadratic element gives those between its corners and the middles of
    /// its edges.
    pub fn surface(&self) -> Vec<[usize; 3]> {
        if !self.broken().is_empty() {
            return Vec::new();
        }
        let faces = self.boundary_faces();
        faces.iter().flat_map(Face::triangles).collect()
    }

    /// All faces, those inside once: the triangles that [`surface`](Self::surface) would have of
    /// them, seen from outside of the first of their elements, and both elements. Empty as the
    /// surface is where the mesh is broken.
    pub fn faces(&self) -> Vec<FaceTriangles> {
        if !self.broken().is_empty() {
            return Vec::new();
        }
        let mut out: Vec<FaceTriangles> = Vec::new();
        let mut known: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for face in self.faces_of(|_| true) {
            let mut key = face.nodes[..face.corners].to_vec();
            key.sort_unstable();
            match known.get(&key).copied() {
                Some(place) => {
                    let (_, sides): &mut FaceTriangles = &mut out[place];
                    sides[1] = Some(face.element);
                }
                None => {
                    known.insert(key, out.len());
                    out.push((face.triangles(), [Some(face.element), None]));
                }
            }
        }
        out
    }
}

impl Face {
    /// Its triangles.
    fn triangles(&self) -> Vec<[usize; 3]> {
        let (n, f) = (self.corners, &self.nodes);
        if f.len() == 2 * n {
            let middle = |k: usize| f[n + k % n];
            let at_corners = (0..n).map(|k| [middle(k + n - 1), f[k], middle(k)]);
            let inside = (1..n - 1).map(|k| [middle(0), middle(k), middle(k + 1)]);
            return at_corners.chain(inside).collect();
        }
        (1..n - 1).map(|k| [f[0], f[k], f[k + 1]]).collect()
    }
}
