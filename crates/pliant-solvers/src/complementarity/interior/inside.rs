//! Impulses and velocities inside their cones.

use super::BACK;
use super::scaling::{Metric, Scaling, least, step};
use crate::complementarity::Problem;
use crate::complementarity::cone::{ROWS, length};
use std::ops::Range;

/// Share of the block's scale below which `E` is not allowed to fall.
const FLOOR: f64 = 1e-11;
/// Distance from the boundary of a cone, as a share, that rounding still leaves.
pub(super) const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Stands for infinity in `E`: the impulse does not move.
const WALL: f64 = 1e10;

/// One block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inner {
    /// A contact without friction: its normal velocity. A bounded row: the multipliers of its lower
    /// and upper bound.
    pub(super) v: [f64; 2],
    /// Number added to `E` so that it stays regular.
    pub(super) floor: f64,
    /// Second-order correction.
    pub(super) correction: [f64; 2],
    pub(super) dv: [f64; 2],
    /// Its discs in the list of all: the first one, and how many.
    first: usize,
    count: usize,
}

impl Inner {
    pub(super) fn discs(&self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

/// One disc of a contact: the impulses `(r_n, r_i)` in its cone, and a velocity of its own in the
/// dual. Discs of one contact share the normal impulse, and their normal velocities add up to that
/// of the contact, so that each has a scaling of its own although their common cone has none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Disc {
    /// Coefficient, above zero.
    pub(super) mu: f64,
    /// The normal row, and the first of its own and their number.
    pub(super) normal: usize,
    start: usize,
    size: usize,
    pub(super) v: [f64; 3],
    pub(super) scaling: Scaling,
    /// Second-order correction.
    pub(super) correction: [f64; 3],
    pub(super) dv: [f64; 3],
    /// Velocity that complementarity wants.
    pub(super) g: [f64; 3],
    /// Of several discs of a contact: its part of `E` in the normal row, and what its own rows push
    /// there.
    pub(super) e: f64,
    pub(super) lean: f64,
    /// Rounding does not let it come nearer to the boundary.
    at_boundary: bool,
}

impl Disc {
    /// Its own rows.
    pub(super) fn rows(&self) -> Range<usize> {
        self.start..self.start + self.size
    }

    /// Its part of an impulse, in coordinates in which cone and dual cone are the same:
    /// `(mu r_n, r_i)`.
    pub(super) fn impulse(&self, r: &[f64]) -> [f64; 3] {
        let mut out = [self.mu * r[self.normal], 0.0, 0.0];
        out[1..=self.size].copy_from_slice(&r[self.rows()]);
        out
    }

    /// A velocity in those coordinates: `(v_n/mu, v_i)`.
    pub(super) fn velocity(&self, v: &[f64; 3]) -> [f64; 3] {
        [1.0 / self.mu * v[0], v[1], v[2]]
    }
}

/// A block of `E` and of `T`, whose rows are of that many numbers.
struct Block<'a> {
    e: &'a mut [f64],
    turn: &'a mut [f64],
    size: usize,
}

impl Block<'_> {
    /// One disc: `T` has the eigenvectors of its scaling.
    fn single(&mut self, disc: &Disc) {
        let (d, (vectors, values)) = (self.size, disc.scaling.square());
        for i in 0..d {
            self.e[i] = values[i];
            self.turn[i * d..(i + 1) * d].copy_from_slice(&vectors[i][..d]);
            self.turn[i * d] /= disc.mu;
        }
    }

    /// One of several: their squares add up to an arrow, because they share the normal; `T`
    /// eliminates their own rows.
    fn several(&mut self, disc: &mut Disc) {
        let (d, arrow) = (self.size, disc.scaling.arrow());
        disc.e = disc.mu * disc.mu * arrow.left;
        disc.lean = disc.mu * arrow.lean;
        self.e[0] += disc.e;
        let at = disc.start - disc.normal;
        let [c, s] = arrow.way;
        let ways = [[c, s], [-s, c]];
        for (i, (way, e)) in ways
            .iter()
            .zip([arrow.along, arrow.across])
            .enumerate()
            .take(disc.size)
        {
            self.e[at + i] = e;
            self.turn[(at + i) * d + at..][..disc.size].copy_from_slice(&way[..disc.size]);
            self.turn[at + i] = -disc.lean * ways[0][i];
        }
    }
}

/// Impulses inside their cones, and velocities inside the dual ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Iterate {
    pub(super) r: Vec<f64>,
    pub(super) blocks: Vec<Inner>,
    pub(super) discs: Vec<Disc>,
}

impl Iterate {
    /// Velocity of a contact in the dual of its cone.
    pub(super) fn velocity(&self, problem: &Problem, k: usize) -> [f64; ROWS] {
        let (inner, first) = (&self.blocks[k], problem.rows(k).start);
        let mut out = [0.0; ROWS];
        out[0] = inner.v[0];
        for disc in &self.discs[inner.discs()] {
            out[0] += disc.v[0];
            for (i, v) in disc.rows().zip(&disc.v[1..]) {
                out[i - first] = *v;
            }
        }
        out
    }

    /// Puts the given impulses and velocities inside.
    pub(super) fn begin(&mut self, problem: &Problem, r: &[f64]) {
        self.r.clear();
        self.r.extend_from_slice(r);
        let v = problem.b().iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let v = if v > 0.0 { v } else { 1.0 };
        self.blocks.clear();
        self.blocks.resize(problem.blocks(), Inner::default());
        self.discs.clear();
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = problem.rows(k);
            let size = v / problem.scale(k);
            let inner = &mut self.blocks[k];
            let Some((lower, upper)) = cone.bounds() else {
                inner.first = self.discs.len();
                let all = cone.discs().iter().fold(0.0f64, |a, (mu, _)| a.hypot(*mu));
                for (mu, own) in cone.discs() {
                    let own = rows.start + own.start..rows.start + own.end;
                    if mu == 0.0 {
                        self.r[own].fill(0.0);
                        continue;
                    }
                    let disc = Disc {
                        mu,
                        normal: rows.start,
                        start: own.start,
                        size: own.len(),
                        v: [v, 0.0, 0.0],
                        ..Disc::default()
                    };
                    let (low, size) = (least(&disc.impulse(&self.r)), size * (mu / all));
                    if low < size {
                        self.r[rows.start] += (size - low) / mu;
                    }
                    self.discs.push(disc);
                }
                inner.count = self.discs.len() - inner.first;
                if inner.count == 0 {
                    self.r[rows.start] = size;
                    inner.v = [v, 0.0];
                }
                continue;
            };
            let r = &mut self.r[rows.start];
            let room = (upper - lower).min(2.0 * size);
            if room == 0.0 {
                *r = lower;
            } else {
                *r = r.max(lower + 0.5 * room).min(upper - 0.5 * room);
                for (bound, v0) in [lower, upper].into_iter().zip(&mut inner.v) {
                    *v0 = if bound.is_finite() { v } else { 0.0 };
                }
            }
        }
    }

    /// Scales all blocks and fills `T` and `E`; returns the mean of complementarity. (Contacts that
    /// rounding keeps off the boundary do not count: their impulse is large, and the smallest ones
    /// still have digits to gain.)
    pub(super) fn scale(&mut self, problem: &Problem, metric: &mut Metric) -> f64 {
        let (mut gap, mut count) = (0.0, 0usize);
        metric.turn.fill(0.0);
        metric.e.fill(0.0);
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = problem.rows(k);
            let (d, first) = (rows.len(), rows.start);
            let scale = problem.scale(k);
            let inner = &mut self.blocks[k];
            let mut block = Block {
                e: &mut metric.e[rows],
                turn: &mut metric.turn[problem.square(k)],
                size: d,
            };
            for i in 0..d {
                block.turn[i * d + i] = 1.0;
            }
            inner.floor = FLOOR * scale;
            let r = self.r[first];
            match cone.bounds() {
                None if inner.count == 0 => {
                    gap += r * inner.v[0];
                    count += 1;
                    block.e.fill(WALL * scale);
                    block.e[0] = inner.v[0] / r;
                }
                None => {
                    let several = cone.friction().is_none();
                    if several {
                        block.e[1..].fill(WALL * scale);
                    }
                    let mut sum = 1.0;
                    for disc in &mut self.discs[inner.discs()] {
                        let (x, y) = (disc.impulse(&self.r), disc.velocity(&disc.v));
                        disc.scaling = Scaling::new(&x, &y);
                        if !disc.at_boundary {
                            gap += x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
                            count += 1;
                        }
                        if several {
                            block.several(disc);
                            sum += disc.mu * disc.mu;
                        } else {
                            block.single(disc);
                            sum += 1.0 / (disc.mu * disc.mu);
                        }
                    }
                    inner.floor *= sum;
                }
                Some((lower, upper)) => {
                    if lower == upper {
                        block.e[0] = WALL * scale;
                    }
                    for (room, v) in [r - lower, upper - r].into_iter().zip(inner.v) {
                        if room.is_finite() && room > 0.0 {
                            gap += room * v;
                            count += 1;
                            block.e[0] += v / room;
                        }
                    }
                }
            }
            block.e.iter_mut().for_each(|e| *e += inner.floor);
        }
        gap / count.max(1) as f64
    }

    /// Where a step has come so close to the boundary of a cone that rounding decides on which side
    /// it is: a few roundings inside.
    fn keep_inside(&mut self) {
        for disc in &mut self.discs {
            let limit = |t: f64| (1.0 + ROUNDING) * t;
            let least = [
                limit(length(&self.r[disc.rows()])) / disc.mu,
                limit(length(&disc.v[1..])) * disc.mu,
            ];
            let r = &mut self.r[disc.normal];
            disc.at_boundary = *r < least[0] || disc.v[0] < least[1];
            *r = r.max(least[0]);
            disc.v[0] = disc.v[0].max(least[1]);
        }
    }

    /// Largest step along a direction, at most 1, that stays inside.
    pub(super) fn largest_step(&self, problem: &Problem, dr: &[f64]) -> f64 {
        let mut out = 1.0 / BACK;
        for disc in &self.discs {
            let impulses = (disc.impulse(&self.r), disc.impulse(dr));
            let velocities = (disc.velocity(&disc.v), disc.velocity(&disc.dv));
            for (x, dx) in [impulses, velocities] {
                out = out.min(step(&x, &dx));
            }
        }
        for (k, cone) in problem.cones().iter().enumerate() {
            let inner = &self.blocks[k];
            let row = problem.rows(k).start;
            let (r, dr) = (self.r[row], dr[row]);
            let mut scalar = |x: f64, dx: f64| {
                if dx < 0.0 {
                    out = out.min(-x / dx);
                }
            };
            match cone.bounds() {
                None if inner.count == 0 => {
                    scalar(r, dr);
                    scalar(inner.v[0], inner.dv[0]);
                }
                Some((lower, upper)) if lower < upper => {
                    for (l, (bound, sign)) in [(lower, 1.0), (upper, -1.0)].into_iter().enumerate() {
                        if bound.is_finite() {
                            scalar(sign * (r - bound), sign * dr);
                            scalar(inner.v[l], inner.dv[l]);
                        }
                    }
                }
                _ => {}
            }
        }
        out
    }

    /// A step along a direction.
    pub(super) fn advance(&mut self, share: f64, dr: &[f64]) {
        for (r, d) in self.r.iter_mut().zip(dr) {
            *r += share * d;
        }
        for inner in &mut self.blocks {
            for l in 0..2 {
                inner.v[l] += share * inner.dv[l];
            }
        }
        for disc in &mut self.discs {
            for l in 0..3 {
                disc.v[l] += share * disc.dv[l];
            }
        }
        self.keep_inside();
    }
}
