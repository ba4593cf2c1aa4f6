//! How deep points are in a mesh that has an inside.

use pliant_dense::Vec3;

use crate::bvh::{Aabb, Bvh};
use crate::narrow::closest::on_triangle;
use crate::shape::mesh::Spot;
use crate::surface::Surface;
use crate::world::found::Weights;
use crate::world::sheets::spot;

/// Share of the size of a triangle at which a point lies on it: the way there has no direction.
const ON: f64 = 1e-12;

/// A mesh that has an inside, where it is now.
#[derive(Clone, Copy)]
pub(super) struct Inside<'a> {
    pub(super) surface: Surface<'a>,
    pub(super) boxes: &'a [Aabb],
    pub(super) tree: &'a Bvh,
    /// 1 if its triangles have matter behind them, -1 if before them.
    pub(super) outward: f64,
}

/// The place of a surface that is nearest to a point.
#[derive(Clone, Copy)]
pub(super) struct Foot {
    pub(super) place: Vec3,
    pub(super) weights: Weights,
    /// Unit, outwards: the direction in which the distance grows.
    pub(super) normal: Vec3,
    /// Distance of the point (m), negative inside.
    pub(super) distance: f64,
}

impl Inside<'_> {
    /// The nearest place to a point. None where that is on a rim, beyond which there is no inside
    /// or outside, and on triangles without area.
    ///
    /// The sign is that of the pseudonormal at the nearest place: the normal of a face, the sum of
    /// those at an edge, that of those at a corner by their angles (Bærentzen and Aanæs 2005).
    pub(super) fn foot(&self, point: Vec3, stack: &mut Vec<u32>) -> Option<Foot> {
        let square = |k: usize| {
            let corners = self.corners(k);
            let w = on_triangle(point, corners);
            let place = corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2];
            (place - point).norm_squared()
        };
        let triangle = self.tree.lowest_nearest(self.boxes, point, stack, square)?;
        let corners = self.corners(triangle);
        let weights = Weights::at(point, self.surface.mesh, triangle, &corners);
        let place: Vec3 = (0..weights.count)
            .map(|k| self.surface.point(weights.points[k]) * weights.weights[k])
            .sum();
        let way = point - place;
        let spot = match weights.count {
            3 => Spot::Face(triangle as u32),
            _ => spot(&self.surface, &weights),
        };
        let pseudo = self.pseudonormal(spot)?.try_normalize(0.0)?;
        let size = (corners[1] - corners[0])
            .amax()
            .max((corners[2] - corners[0]).amax());
        let (length, side) = (way.norm(), way.dot(&pseudo));
        // On a face the way there is along its normal, to rounding.
        let on_face = matches!(spot, Spot::Face(_)) || length <= ON * size;
        let (normal, distance) = match on_face {
            true => (pseudo, side),
            false => (way / length.copysign(side), length.copysign(side)),
        };
        Some(Foot {
            place,
            weights,
            normal,
            distance,
        })
    }

    fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.surface.mesh.triangles[triangle].map(|p| self.surface.point(p))
    }

    /// A direction outwards at a spot; none on a rim.
    fn pseudonormal(&self, spot: Spot) -> Option<Vec3> {
        let (mesh, normals) = (self.surface.mesh, self.surface.normals);
        let sum = match spot {
            Spot::Face(f) => normals[f as usize],
            Spot::Edge(e) => match mesh.faces_of_edge(e) {
                [f, g] => normals[*f as usize] + normals[*g as usize],
                _ => return None,
            },
            Spot::Point(p) => {
                let mut sum = Vec3::zeros();
                // Each face at the point comes with two of its edges.
                for &e in mesh.edges_of_point(p) {
                    let [f, g] = mesh.faces_of_edge(e) else {
                        return None;
                    };
                    sum +=
                        normals[*f as usize] * self.angle(*f, p) + normals[*g as usize] * self.angle(*g, p);
                }
                sum
            }
        };
        Some(sum * self.outward)
    }

    /// The angle of a triangle at one of its corners (rad).
    fn angle(&self, triangle: u32, at: u32) -> f64 {
        let mut ways = self.surface.mesh.triangles[triangle as usize]
            .into_iter()
            .filter(|p| *p != at)
            .map(|p| self.surface.point(p) - self.surface.point(at));
        match (ways.next(), ways.next()) {
            (Some(u), Some(v)) => u.angle(&v),
            _ => 0.0,
        }
    }
}
