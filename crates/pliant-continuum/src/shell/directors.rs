//! Directors of a shell at rest: at each node the mean normals of what is smooth around it.

use crate::sheet::mesh::quadrangle::{CORNERS, tangents};
use crate::{ContinuumError, SheetMesh, SymmetryPlane};
use pliant_dense::Vec3;

/// Angles (rad) between normals that are nearer to the limit than this are above it: rounding does
/// not choose between the edges of a regular tube.
const MARGIN: f64 = 1e-6;

/// Which of the planes of symmetry across each axis a node is on.
pub(super) type OnPlanes = [Option<usize>; 3];

/// The planes of symmetry that each node of a mesh, whose quadrangles are checked, is on.
pub(super) fn on_planes(mesh: &SheetMesh, planes: &[SymmetryPlane]) -> Result<Vec<OnPlanes>, ContinuumError> {
    let mut out = vec![[None; 3]; mesh.nodes.len()];
    for (k, plane) in planes.iter().enumerate() {
        let mut on = vec![false; mesh.nodes.len()];
        for node in plane.nodes(&mesh.nodes)? {
            on[node] = true;
            out[node][plane.axis].get_or_insert(k);
        }
        if mesh.quadrangles.iter().any(|q| q.iter().all(|k| on[*k])) {
            return Err(plane.error("the shell lies in it"));
        }
    }
    Ok(out)
}

/// A node, or its image: one bit for each axis along which it is mirrored.
type Image = (usize, usize);

/// A quadrangle, or its image behind planes of symmetry, as a node at one of its corners sees it.
struct Corner {
    /// The corners that it runs to from the node, and comes from.
    next: Image,
    previous: Image,
    /// Its normal at the node, as long as twice the area (m^2) of the corner.
    normal: Vec3,
}

impl Corner {
    /// Corner `k` of a quadrangle whose corners are at `x`, mirrored along the axes `image`.
    fn new(nodes: &[usize; 4], x: &[Vec3; 4], k: usize, image: usize, on: &[OnPlanes]) -> Self {
        let [one, two] = tangents(x, CORNERS[k]);
        let mut normal = one.cross(&two);
        for axis in (0..3).filter(|axis| image >> axis & 1 == 1) {
            // The product of mirrored tangents is the mirrored product, turned round.
            normal[axis] = -normal[axis];
            normal = -normal;
        }
        let node = nodes[k];
        let mirrored = |other: usize| {
            let shared = |axis: &usize| on[node][*axis].is_some() && on[node][*axis] == on[other][*axis];
            // What is on the plane as well is its own image.
            let kept: usize = (0..3).filter(shared).map(|axis| 1 << axis).sum();
            (other, image & !kept)
        };
        Self {
            next: mirrored(nodes[(k + 1) % 4]),
            previous: mirrored(nodes[(k + 3) % 4]),
            normal,
        }
    }

    /// Whether the two go round the same way (1) or not (-1), if they share an edge at the node:
    /// along it, two that go round the same way run in opposite directions.
    fn way(&self, other: &Self) -> Option<f64> {
        let same = [self.next == other.previous, self.previous == other.next];
        let opposite = [self.next == other.next, self.previous == other.previous];
        match (same, opposite) {
            // They share both edges: one lies on the other there.
            ([true, true], _) | (_, [true, true]) => Some(self.normal.dot(&other.normal).signum()),
            ([false, false], [false, false]) => None,
            ([false, false], _) => Some(-1.0),
            _ => Some(1.0),
        }
    }

    /// Whether the surface is smooth from this one to another that goes round that way.
    fn goes_on(&self, other: &Self, way: f64, fold: f64) -> bool {
        let along = way * self.normal.dot(&other.normal);
        self.normal.cross(&other.normal).norm().atan2(along) < fold - MARGIN
    }
}

/// The mean normal of all corners around a node that are reached from the one, over edges that are
/// no folds, and are turned against it by less than a fold themselves. Its own edges decide about
/// those that it shares an edge with.
fn director(around: &[Corner], own: usize, fold: f64) -> Vec3 {
    let mut met = vec![false; around.len()];
    met[own] = true;
    let mut reached = vec![(own, 1.0)];
    let mut at = 0;
    while let Some((from, turned)) = reached.get(at).copied() {
        for (k, other) in around.iter().enumerate().filter(|(k, _)| *k != from) {
            let Some(way) = around[from].way(other).filter(|_| !met[k]) else {
                continue;
            };
            let smooth = around[from].goes_on(other, way, fold);
            met[k] = smooth || from == own;
            if smooth {
                reached.push((k, turned * way));
            }
        }
        at += 1;
    }
    let mut sum = around[own].normal;
    for (k, way) in &reached[1..] {
        if around[own].goes_on(&around[*k], *way, fold) {
            sum += *way * around[*k].normal;
        }
    }
    sum.normalize()
}

/// The directors of all quadrangles at their corners, whose places are given: behind planes of
/// symmetry the mirror image goes on.
pub(super) fn directors<'a>(
    mesh: &SheetMesh,
    places: impl Iterator<Item = &'a [Vec3; 4]>,
    on: &[OnPlanes],
    fold: f64,
) -> Vec<[Vec3; 4]> {
    let mut around: Vec<Vec<Corner>> = Vec::new();
    around.resize_with(mesh.nodes.len(), Vec::new);
    let mut own = Vec::with_capacity(mesh.quadrangles.len());
    for (nodes, x) in mesh.quadrangles.iter().zip(places) {
        own.push(nodes.map(|node| around[node].len()));
        for (k, node) in nodes.iter().enumerate() {
            let axes = on[*node].map(|plane| plane.is_some());
            let seen = |image: &usize| (0..3).all(|axis| axes[axis] || image >> axis & 1 == 0);
            let images = (0..8).filter(seen);
            around[*node].extend(images.map(|image| Corner::new(nodes, x, k, image, on)));
        }
    }
    let of = |(nodes, own): (&[usize; 4], &[usize; 4])| {
        std::array::from_fn(|k| director(&around[nodes[k]], own[k], fold))
    };
    mesh.quadrangles.iter().zip(&own).map(of).collect()
}
