//! Contacts that have points but no names yet.

use pliant_dense::Vec3;

use super::pieces::Pieces;
use crate::memory::Unnamed;
use crate::narrow::Touch;
use crate::narrow::closest::on_triangle;
use crate::shape::mesh::Mesh;
use crate::{Carrier, ColliderId, Placement, Remembered};

/// A pair of pieces that may meet.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) i: usize,
    pub(super) j: usize,
    /// The margins of both (m).
    pub(super) margin: f64,
    /// How far ahead to look (s).
    pub(super) horizon: f64,
}

impl Pair {
    /// Two pieces, with the margins of both.
    pub(super) fn of(pieces: &Pieces, i: usize, j: usize, horizon: f64) -> Self {
        Self {
            i,
            j,
            margin: pieces.placed[i].margin + pieces.placed[j].margin,
            horizon,
        }
    }
}

/// A contact before it has a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) colliders: [ColliderId; 2],
    pub(super) pieces: [u32; 2],
    feature: [u64; 2],
    pub(super) carried_by: [Carrier; 2],
    pub(super) touch: Touch,
    pub(super) swept: bool,
    /// The area that it stands for as a column of a foundation (m^2); zero for others.
    pub(super) area: f64,
    /// When it was found.
    pub(super) order: usize,
    pub(super) horizon: f64,
}

impl Found {
    /// The memory of it.
    pub(super) fn remembered(&self, unnamed: &Unnamed, serial: u64, age: u32) -> Remembered {
        Remembered {
            colliders: self.colliders.map(|c| c.0),
            serial,
            age,
            feature: unnamed.feature,
            places: unnamed.next,
        }
    }

    pub(super) fn unnamed(&self, pieces: &Pieces) -> Unnamed {
        let [i, j] = self.pieces.map(|k| k as usize);
        let points = [self.touch.a, self.touch.b];
        let place = |side: usize, ahead: f64| match &self.carried_by[side] {
            Carrier::Fixed => points[side].into(),
            Carrier::Body { local, .. } => *local,
            carrier @ Carrier::Points { .. } => {
                let k = self.pieces[side] as usize;
                (points[side] + pieces.velocity(k, carrier, points[side]) * ahead).into()
            }
        };
        let [a, b] = [&pieces.placed[i], &pieces.placed[j]];
        let size = [a, b]
            .into_iter()
            .filter(|p| p.extent > 0.0)
            .map(|p| p.extent)
            .fold(f64::INFINITY, f64::min);
        Unnamed {
            feature: self.feature,
            next: [place(0, self.horizon), place(1, self.horizon)],
            now: [place(0, 0.0), place(1, 0.0)],
            reach: 0.02 * size + self.horizon * (a.motion.velocity - b.motion.velocity).norm(),
        }
    }
}

/// Points of a node with weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    pub(super) count: usize,
    pub(super) points: [u32; 3],
    pub(super) weights: [f64; 3],
}

impl Weights {
    /// Weights at the place of an element that is nearest to a point.
    pub(super) fn at(point: Vec3, mesh: &Mesh, element: usize, corners: &[Vec3; 3]) -> Self {
        let names = mesh.corners(element);
        let all = match names.len() {
            1 => [1.0, 0.0, 0.0],
            2 => {
                let t = crate::narrow::closest::on_segment(point, [corners[0], corners[1]]);
                [1.0 - t, t, 0.0]
            }
            _ => on_triangle(point, *corners),
        };
        let mut kept = Self {
            count: 0,
            points: [0; 3],
            weights: [0.0; 3],
        };
        for (k, &name) in names.iter().enumerate() {
            // Rounding leaves weights of corners that take no part.
            if all[k] > 1e-12 {
                kept.points[kept.count] = name;
                kept.weights[kept.count] = all[k];
                kept.count += 1;
            }
        }
        let sum: f64 = kept.weights.iter().sum();
        kept.weights.iter_mut().for_each(|w| *w /= sum);
        kept
    }

    /// A number for the corner, edge or face where it is.
    pub(super) fn code(&self) -> u64 {
        let mut points = self.points;
        points[..self.count].sort_unstable();
        let part = |k: usize| {
            if k < self.count {
                u64::from(points[k]) + 1
            } else {
                0
            }
        };
        part(0) | part(1) << 21 | part(2) << 42
    }
}

fn carrier(places: &Placement, pieces: &Pieces, k: usize, point: Vec3, weights: Option<Weights>) -> Carrier {
    match (places, weights) {
        (Placement::Body { node, element, .. }, _) => {
            let motion = &pieces.placed[k].motion;
            let local = motion.rotation.tr_mul(&(point - motion.centre));
            Carrier::Body {
                node: *node,
                element: *element,
                local: local.into(),
            }
        }
        (Placement::Points(node), Some(w)) => Carrier::Points {
            node: *node,
            count: w.count,
            elements: w.points.map(|p| p as usize),
            weights: w.weights,
        },
        _ => Carrier::Fixed,
    }
}

/// Whether the gap is at most the margin and what can be closed: the velocity of the points along
/// the normal, and what their turning can add at second order.
pub(super) fn near_enough(
    pieces: &Pieces,
    places: &[Placement; 2],
    pair: Pair,
    touch: &Touch,
    weights: [Option<Weights>; 2],
) -> bool {
    let velocity = |side: usize, k: usize, point: Vec3| {
        let carrier = carrier(&places[side], pieces, k, point, weights[side]);
        pieces.velocity(k, &carrier, point)
    };
    let closing = -touch
        .normal
        .dot(&(velocity(1, pair.j, touch.b) - velocity(0, pair.i, touch.a)));
    let bend = |k: usize| {
        let placed = &pieces.placed[k];
        let angle = placed.motion.spin.norm() * pair.horizon;
        placed.reach * angle * (angle / 2.0).min(2.0)
    };
    touch.gap <= pair.margin + pair.horizon * closing.max(0.0) + bend(pair.i) + bend(pair.j)
}

pub(super) fn push(
    pieces: &Pieces,
    colliders: &[crate::Collider],
    pair: Pair,
    touch: Touch,
    feature: [u64; 2],
    weights: [Option<Weights>; 2],
    swept: bool,
    found: &mut Vec<Found>,
) {
    let [i, j] = [pair.i, pair.j].map(|k| &pieces.list[k]);
    let parts = u64::from(i.part) << 48 ^ u64::from(j.part) << 40;
    found.push(Found {
        colliders: [i.collider, j.collider],
        pieces: [pair.i as u32, pair.j as u32],
        feature: [feature[0] ^ parts, feature[1]],
        carried_by: [
            carrier(
                &colliders[i.collider.index()].placement,
                pieces,
                pair.i,
                touch.a,
                weights[0],
            ),
            carrier(
                &colliders[j.collider.index()].placement,
                pieces,
                pair.j,
                touch.b,
                weights[1],
            ),
        ],
        touch,
        swept,
        area: 0.0,
        order: found.len(),
        horizon: pair.horizon,
    });
}
