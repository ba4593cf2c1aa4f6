//! Points of soft shapes that are tied to something.

use super::found::Weights;
use super::pieces::Pieces;
use crate::ColliderId;

/// Points of soft colliders, with the colliders that the elements about them do not meet.
#[derive(Clone, Debug, Default)]
pub(super) struct TiedPoints {
    /// The soft collider, the other one, the point; sorted.
    list: Vec<(ColliderId, ColliderId, usize)>,
}

impl TiedPoints {
    pub(super) fn add(&mut self, soft: ColliderId, point: usize, other: ColliderId) {
        let entry = (soft, other, point);
        if let Err(k) = self.list.binary_search(&entry) {
            self.list.insert(k, entry);
        }
    }

    /// Whether an element of the sheet `soft` with these points ignores the piece `other`.
    pub(super) fn ignores(&self, pieces: &Pieces, soft: usize, other: usize, points: &[u32]) -> bool {
        if self.list.is_empty() {
            return false;
        }
        let [soft, other] = [soft, other].map(|k| pieces.list[k].collider);
        let is_tied = |p: &u32| self.list.binary_search(&(soft, other, *p as usize)).is_ok();
        points.iter().any(is_tied)
    }

    /// Whether places on two sheets ignore each other.
    pub(super) fn ignore_each_other(&self, pieces: &Pieces, sheets: [usize; 2], at: &[Weights; 2]) -> bool {
        let [a, b] = sheets;
        let points = |k: usize| &at[k].points[..at[k].count];
        self.ignores(pieces, a, b, points(0)) || self.ignores(pieces, b, a, points(1))
    }
}
