//! Areas that points of meshes stand for, over which contacts have a pressure.

use crate::Placement;
use crate::narrow::closest::on_triangle;
use crate::shape::mesh::Mesh;
use pliant_dense::{Vec3, rotation};
use std::sync::Arc;

/// The triangles of a collider, with the area that each of its points stands for.
#[derive(Clone, Debug)]
pub struct ContactArea {
    pub(crate) mesh: Arc<Mesh>,
    pub(crate) placement: Placement,
    pub(crate) areas: Vec<f64>,
}

impl ContactArea {
    /// The way the collider is placed.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// A third of the areas of the triangles at each point (m^2), where the model begins; by the
    /// numbers of the points of its mesh, or of its node. Zero for points in no triangle.
    pub fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// The corners of the triangle that is nearest to a point of a rigid mesh, with the weights of
    /// the nearest place on it, which sum to one; the point is in the axes of the body from its
    /// centre of mass, or of the world if the collider stands. None for points of a node. Cost: a
    /// pass over the triangles.
    pub fn nearest(&self, point: [f64; 3]) -> Option<[(usize, f64); 3]> {
        let pose = match &self.placement {
            Placement::Fixed(pose) | Placement::Body { pose, .. } => pose,
            Placement::Points(_) => return None,
        };
        let away = Vec3::from(point) - Vec3::from(pose.position);
        let local: Vec3 = rotation::rotate(rotation::conjugate(pose.rotation), away);
        let mut best: Option<(f64, [(usize, f64); 3])> = None;
        for triangle in &self.mesh.triangles {
            let corners = triangle.map(|p| self.mesh.points[p as usize]);
            let w = on_triangle(local, corners);
            let place = corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2];
            let distance = (place - local).norm_squared();
            if best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, [0, 1, 2].map(|k| (triangle[k] as usize, w[k]))));
            }
        }
        best.map(|(_, found)| found)
    }
}
