//! A mesh where it is now: normals, and which normals may leave it where.
//!
//! A contact with one triangle of a mesh may have a normal that its neighbours forbid: a box that
//! slides over flat ground would trip over the edges inside it. A normal may leave a face along the
//! normal of the face only, an edge only between the normals of its faces, a corner only where no
//! edge rises in front of it (the Voronoi regions of the surface). Then contacts with flat or
//! concave edges and corners vanish, for the faces beside them have the same contact with the right
//! normal.

use pliant_dense::Vec3;

use crate::shape::mesh::{Element, Mesh, Sides, Spot};
use crate::shape::polytope::triangle_normal;

/// Sine of the angle by which a normal may leave the region of an edge or a corner.
const ANGLE: f64 = 1e-6;

/// A mesh with the places of its points in the world, and the unit normals of its triangles (zero
/// for one without area); or where these will be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface<'a> {
    pub(crate) mesh: &'a Mesh,
    pub(crate) points: &'a [Vec3],
    pub(crate) normals: &'a [Vec3],
    /// The velocity of each point, for how long (s); none if it is at its places.
    pub(crate) ahead: Option<(&'a [Vec3], f64)>,
}

impl Surface<'_> {
    pub(crate) fn two_sided(&self) -> bool {
        self.mesh.sides == Sides::Two
    }

    pub(crate) fn point(&self, k: u32) -> Vec3 {
        let way = self.ahead.map_or_else(Vec3::zeros, |(v, t)| v[k as usize] * t);
        self.points[k as usize] + way
    }

    fn normal(&self, face: usize) -> Vec3 {
        match self.ahead {
            None => self.normals[face],
            Some(_) => triangle_normal(self.mesh.triangles[face].map(|p| self.point(p))),
        }
    }

    /// The ends of an edge.
    pub(crate) fn edge(&self, k: u32) -> [Vec3; 2] {
        self.mesh.edges[k as usize].map(|p| self.point(p))
    }

    /// Whether an element may push along an outward normal, from the corners that are farthest in
    /// its direction.
    pub(crate) fn permits_from(&self, element: usize, normal: Vec3) -> bool {
        let corners = self.mesh.corners(element);
        let heights = |p: &u32| self.point(*p).dot(&normal);
        let (low, high) = corners
            .iter()
            .map(heights)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| {
                (l.min(x), h.max(x))
            });
        let size = corners
            .iter()
            .map(|p| (self.point(*p) - self.point(corners[0])).norm())
            .fold(high - low, f64::max);
        let mut top = [0; 3];
        let mut count = 0;
        for p in corners.iter().filter(|p| heights(p) >= high - ANGLE * size) {
            top[count] = *p;
            count += 1;
        }
        let spot = match (self.mesh.element(element), count) {
            (Element::Triangle(t), 3) => Some(Spot::Face(t as u32)),
            (_, 2) => self.mesh.edge_between(top[0], top[1]).map(Spot::Edge),
            _ => Some(Spot::Point(top[0])),
        };
        spot.is_none_or(|spot| self.permits(spot, normal))
    }

    /// Whether a unit normal may leave the mesh at a spot.
    pub(crate) fn permits(&self, spot: Spot, normal: Vec3) -> bool {
        self.permits_within(spot, normal, ANGLE)
    }

    /// Tells as [`permits`](Self::permits), where what is beside an edge or a corner may come
    /// before it by an angle of this sine.
    pub(crate) fn permits_within(&self, spot: Spot, normal: Vec3, angle: f64) -> bool {
        match spot {
            Spot::Face(f) => self.two_sided() || self.normal(f as usize).dot(&normal) >= 0.0,
            Spot::Edge(e) => {
                let [a, b] = self.edge(e);
                let mut outward = Vec3::zeros();
                for &f in self.mesh.faces_of_edge(e) {
                    let n = self.normal(f as usize);
                    outward += n;
                    // Across the edge, into the face.
                    let opposite = self.mesh.triangles[f as usize].into_iter();
                    let inward = opposite
                        .map(|p| self.point(p) - a)
                        .map(|r| r - (b - a) * along(r, b - a));
                    let inward = inward.fold(Vec3::zeros(), |x, y| if y.norm() > x.norm() { y } else { x });
                    if n != Vec3::zeros() && inward.dot(&normal) > angle * inward.norm() {
                        return false;
                    }
                }
                self.two_sided() || outward.dot(&normal) >= -ANGLE
            }
            Spot::Point(p) => {
                let here = self.point(p);
                let mut outward = Vec3::zeros();
                for &e in self.mesh.edges_of_point(p) {
                    let [a, b] = self.mesh.edges[e as usize];
                    let leaving = self.point(if a == p { b } else { a }) - here;
                    if leaving.dot(&normal) > angle * leaving.norm() {
                        return false;
                    }
                    outward += self
                        .mesh
                        .faces_of_edge(e)
                        .iter()
                        .map(|f| self.normal(*f as usize))
                        .sum::<Vec3>();
                }
                self.two_sided() || outward.dot(&normal) >= -ANGLE
            }
        }
    }
}

fn along(r: Vec3, d: Vec3) -> f64 {
    let square = d.norm_squared();
    if square > 0.0 { r.dot(&d) / square } else { 0.0 }
}
