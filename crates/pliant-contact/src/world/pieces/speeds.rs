//! Bounds of how fast pieces are and of how far they turn, beside their thickness: by these it is
//! told which of them can get into each other unseen.

use pliant_dense::vec3;
use pliant_model::{Model, NodeId};

use super::{Piece, Pieces};
use crate::shape::mesh::Mesh;
use crate::{Collider, Placement};

/// Bounds of the velocities of all points of a piece (m/s).
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct Speeds {
    /// Bound of the velocities themselves.
    pub(in crate::world) own: f64,
    /// Bound of their differences to the velocities with which the piece was placed.
    pub(in crate::world) off: f64,
}

impl Speeds {
    /// Bounds of a piece whose velocities are not known.
    const UNKNOWN: Self = Self {
        own: f64::INFINITY,
        off: f64::INFINITY,
    };
    /// Bounds of a piece at rest.
    pub(in crate::world) const NONE: Self = Self { own: 0.0, off: 0.0 };

    /// The larger bound of each sort; not a number if one of them is none.
    pub(in crate::world) fn max(self, other: Self) -> Self {
        let larger = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
        Self {
            own: larger(self.own, other.own),
            off: larger(self.off, other.off),
        }
    }
}

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
    pub(in crate::world) fn turned(&self, k: usize, horizon: f64) -> f64 {
        let placed = &self.placed[k];
        let angle = placed.motion.spin.norm() * horizon;
        placed.reach * angle * (angle / 2.0).min(2.0)
    }

    /// Finds how fast the points of each piece are; all are unknown if one is.
    pub(in crate::world) fn speeds(
        &self,
        colliders: &[Collider],
        model: &Model,
        velocities: &[f64],
        out: &mut Vec<Speeds>,
    ) {
        out.clear();
        out.resize(self.list.len(), Speeds::UNKNOWN);
        if !self.built || !self.find_speeds(colliders, model, velocities, out) {
            out.fill(Speeds::UNKNOWN);
        }
    }

    /// The speeds of all pieces; false if there is a piece without.
    fn find_speeds(
        &self,
        colliders: &[Collider],
        model: &Model,
        velocities: &[f64],
        out: &mut [Speeds],
    ) -> bool {
        for (k, piece) in self.list.iter().enumerate() {
            if colliders[piece.collider.index()].check_in(model).is_err() {
                return false;
            }
            let of = |node: NodeId| velocities.get(model.node(node).velocity_range());
            out[k] = match colliders[piece.collider.index()].placement {
                Placement::Fixed(_) => Speeds::NONE,
                Placement::Body { node, element, .. } => {
                    let m = &self.placed[k].motion;
                    let Some(v) = of(node).and_then(|v| v.get(6 * element..6 * element + 6)) else {
                        return false;
                    };
                    let (spin, reach) = (m.rotation * vec3(v, 3), self.placed[k].reach);
                    Speeds {
                        own: vec3(v, 0).norm() + spin.norm() * reach,
                        off: (vec3(v, 0) - m.velocity).norm() + (spin - m.spin).norm() * reach,
                    }
                }
                Placement::Points(node) => {
                    let Some(v) = of(node) else { return false };
                    let mesh = piece.mesh();
                    let elements = (0..mesh.map_or(0, Mesh::element_count)).flat_map(|e| {
                        let corners = mesh.map_or(&[][..], |mesh| mesh.corners(e));
                        corners.iter().copied()
                    });
                    let of_point = |p: u32| {
                        let v = vec3(v, 3 * p as usize);
                        Speeds {
                            own: v.norm(),
                            off: (v - self.soft_velocity(k, p)).norm(),
                        }
                    };
                    elements.map(of_point).fold(Speeds::NONE, Speeds::max)
                }
            };
        }
        // What is not a number is for the search to refuse.
        out.iter().all(|s| s.own.is_finite() && s.off.is_finite())
    }
}
