//! How far pieces can get into each other at other velocities than those that they were placed
//! with.

use pliant_dense::vec3;
use pliant_model::{Model, NodeId};

use super::{Piece, Pieces};
use crate::shape::mesh::Mesh;
use crate::{Collider, Placement};

impl Pieces {
    /// Half the thickness of the thinner of two pieces (m): infinite if one is a half space, none
    /// for two sheets without any.
    pub(in crate::world) fn thickness(&self, i: usize, j: usize) -> f64 {
        if self.list[i].is_half_space() || self.list[j].is_half_space() {
            return f64::INFINITY;
        }
        let thin = self.list[i].thin.min(self.list[j].thin);
        if thin.is_finite() { thin } else { 0.0 }
    }

    /// Half the least thickness of two pieces that may meet, or less (m).
    pub(in crate::world) fn thinnest(&self) -> f64 {
        let is_sheet = |piece: &&Piece| !piece.is_half_space() && piece.thin.is_infinite();
        let sheets = self.list.iter().filter(is_sheet).count();
        if sheets > 1 { 0.0 } else { self.least_thin() }
    }

    /// Half the least thickness of any piece that has one (m).
    pub(in crate::world) fn least_thin(&self) -> f64 {
        self.list.iter().map(|p| p.thin).fold(f64::INFINITY, f64::min)
    }

    /// The most by which a point of a piece leaves the straight way that its velocity begins, as
    /// its body turns (m).
    pub(in crate::world) fn most_turned(&self, horizon: f64) -> f64 {
        let turned = self.placed.iter().map(|placed| {
            let angle = placed.motion.spin.norm() * horizon;
            placed.reach * angle * (angle / 2.0).min(2.0)
        });
        turned.fold(0.0, f64::max)
    }

    /// The greatest difference of the velocity of any point of each piece to that with which it was
    /// placed (m/s); whether it was placed.
    pub(in crate::world) fn deviations(
        &self,
        colliders: &[Collider],
        model: &Model,
        velocities: &[f64],
        out: &mut Vec<f64>,
    ) -> bool {
        out.clear();
        out.resize(self.list.len(), 0.0);
        if !self.built {
            return false;
        }
        for (k, piece) in self.list.iter().enumerate() {
            if colliders[piece.collider.index()].check_in(model).is_err() {
                return false;
            }
            let of = |node: NodeId| velocities.get(model.node(node).velocity_range());
            out[k] = match colliders[piece.collider.index()].placement {
                Placement::Fixed(_) => 0.0,
                Placement::Body { node, element, .. } => {
                    let m = &self.placed[k].motion;
                    let Some(v) = of(node).and_then(|v| v.get(6 * element..6 * element + 6)) else {
                        return false;
                    };
                    let spin = m.rotation * vec3(v, 3) - m.spin;
                    (vec3(v, 0) - m.velocity).norm() + spin.norm() * self.placed[k].reach
                }
                Placement::Points(node) => {
                    let Some(v) = of(node) else { return false };
                    let mesh = piece.mesh();
                    let elements = (0..mesh.map_or(0, Mesh::element_count)).flat_map(|e| {
                        let corners = mesh.map_or(&[][..], |mesh| mesh.corners(e));
                        corners.iter().copied()
                    });
                    let other = |p: u32| (vec3(v, 3 * p as usize) - self.soft_velocity(k, p)).norm();
                    let larger = |a: f64, d: f64| if d > a || d.is_nan() { d } else { a };
                    elements.map(other).fold(0.0, larger)
                }
            };
        }
        // What is not a number is for the search to refuse.
        out.iter().all(|d| d.is_finite())
    }
}
