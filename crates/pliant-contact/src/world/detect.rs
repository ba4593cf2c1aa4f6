//! From pairs of pieces to contact points.

use super::cast::{self, Course};
use super::found::{Found, Pair, Weights, near_enough, push};
use super::foundation::{convex_patch, has_columns, push_point, sheet_patch};
use super::pieces::{Form, Pieces};
use super::sheets::sheet_sheet;
use super::workspace::Narrow;
use super::{World, fields};
use crate::ContactError;
use crate::narrow::axis::{TOUCH, stay_apart};
use crate::narrow::{Part, Touch, collide, plane, reduce::reduce};
use pliant_dense::Vec3;

/// Cosine of the angle to a face beyond which a normal is that of the face.
const ALONG: f64 = 0.999;

impl World {
    /// The contacts of all pairs, in `work.found`.
    pub(super) fn narrow(&mut self, horizon: f64) -> Result<(), ContactError> {
        self.work.found.clear();
        for n in 0..self.work.broad.pairs.len() {
            let (i, j) = self.work.broad.pairs[n];
            let (i, j) = (i as usize, j as usize);
            let pair = Pair::of(&self.pieces, i, j, horizon);
            let [a, b] = [i, j].map(|k| &self.pieces.list[k].form);
            match (a, b) {
                (Form::HalfSpace(_), Form::HalfSpace(_)) => {}
                (Form::HalfSpace(_), Form::Convex { .. }) => self.plane_convex(pair, false),
                (Form::Convex { .. }, Form::HalfSpace(_)) => self.plane_convex(pair, true),
                (Form::HalfSpace(_), Form::Sheet(_)) => self.plane_sheet(pair, false),
                (Form::Sheet(_), Form::HalfSpace(_)) => self.plane_sheet(pair, true),
                (Form::Convex { .. }, Form::Convex { .. }) => self.convex_convex(pair),
                (Form::Convex { .. }, Form::Sheet(_)) if has_columns(self, pair) => {
                    convex_patch(self, pair, false);
                }
                (Form::Sheet(_), Form::Convex { .. }) if has_columns(self, pair) => {
                    convex_patch(self, pair, true);
                }
                (Form::Convex { .. }, Form::Sheet(_)) => self.convex_sheet(pair, false),
                (Form::Sheet(_), Form::Convex { .. }) => self.convex_sheet(pair, true),
                (Form::Sheet(_), Form::Sheet(_)) if has_columns(self, pair) => sheet_patch(self, pair),
                (Form::Sheet(_), Form::Sheet(_)) => sheet_sheet(self, pair),
                (Form::Field(_), _) | (_, Form::Field(_)) => fields::collide(self, pair),
            }
            if !self.work.tests.add(1) {
                let pair = [i, j].map(|k| self.pieces.list[k].collider);
                return Err(self.too_many_tests(pair));
            }
        }
        Ok(())
    }

    /// The greatest distance that two pieces can close within the horizon.
    pub(super) fn closing(&self, pair: Pair) -> f64 {
        let (p, q) = (&self.pieces.placed[pair.i], &self.pieces.placed[pair.j]);
        let (a, b) = (&p.motion, &q.motion);
        pair.horizon * ((a.velocity - b.velocity).norm() + a.spin.norm() * p.reach + b.spin.norm() * q.reach)
    }

    fn plane_convex(&mut self, pair: Pair, flipped: bool) {
        let (half_space, solid) = if flipped {
            (pair.j, pair.i)
        } else {
            (pair.i, pair.j)
        };
        let Some(part) = self.pieces.part(solid) else {
            return;
        };
        let limit = pair.margin + self.closing(pair);
        let work = &mut self.work.narrow;
        work.touches.clear();
        plane::collide(
            self.pieces.placed[half_space].plane,
            &part,
            flipped,
            limit,
            &mut work.corners,
            &mut work.touches,
        );
        self.keep(pair, 0, [None, None]);
    }

    fn plane_sheet(&mut self, pair: Pair, flipped: bool) {
        let (half_space, sheet) = if flipped {
            (pair.j, pair.i)
        } else {
            (pair.i, pair.j)
        };
        let plane::HalfSpace { normal, offset } = self.pieces.placed[half_space].plane;
        let Some(surface) = self.pieces.surface(sheet) else {
            return;
        };
        let radius = surface.mesh.radius;
        if !self.work.tests.add(surface.points.len()) {
            return;
        }
        let columns = has_columns(self, pair);
        let mut found = std::mem::take(&mut self.work.found);
        for element in 0..surface.mesh.element_count() {
            for &p in surface.mesh.owned_points(element) {
                if self.tied.ignores(&self.pieces, sheet, half_space, &[p]) {
                    continue;
                }
                let core = surface.point(p);
                let gap = normal.dot(&core) - offset - radius;
                let on_sheet = core - normal * radius;
                let on_plane = on_sheet - normal * gap;
                let touch = if flipped {
                    Touch {
                        a: on_sheet,
                        b: on_plane,
                        normal: -normal,
                        gap,
                        feature: 0,
                        doubtful: false,
                    }
                } else {
                    Touch {
                        a: on_plane,
                        b: on_sheet,
                        normal,
                        gap,
                        feature: 0,
                        doubtful: false,
                    }
                };
                push_point(self, pair, touch, p, [flipped, columns], &mut found);
            }
        }
        self.work.found = found;
    }

    fn convex_convex(&mut self, pair: Pair) {
        let (Some(a), Some(b)) = (self.pieces.part(pair.i), self.pieces.part(pair.j)) else {
            return;
        };
        let closing = self.closing(pair);
        let work = &mut self.work.narrow;
        work.touches.clear();
        let (i, j) = (pair.i, pair.j);
        if closing > 0.5 * self.pieces.thin(i).min(self.pieces.thin(j)) {
            let course = [
                Course::Rigid(&self.pieces.placed[i]),
                Course::Rigid(&self.pieces.placed[j]),
            ];
            let cast = cast::first(&a, &b, course, pair, work);
            match cast {
                cast::Cast::Touching => {}
                cast::Cast::Free => return,
                cast::Cast::At(_) => {
                    if !passes(&self.pieces, pair, [&a, &b], &work.touches) {
                        reduce(&mut work.touches, 0, self.pieces.smaller(pair.i, pair.j), false);
                        self.keep_swept(pair);
                    }
                    return;
                }
            }
        }
        collide(
            &a,
            &b,
            pair.margin + closing,
            &mut work.scratch,
            &mut work.touches,
        );
        if !passes(&self.pieces, pair, [&a, &b], &work.touches) {
            self.keep(pair, 0, [None, None]);
        }
    }

    /// Keeps those of the touches of one pair that can close, at most four of each normal.
    pub(super) fn keep_clusters(&mut self, pair: Pair) {
        let Narrow { touches, rest, .. } = &mut self.work.narrow;
        std::mem::swap(touches, rest);
        while let Some(first) = self.work.narrow.rest.first().copied() {
            let Narrow { touches, rest, .. } = &mut self.work.narrow;
            let alike = |t: &Touch| t.normal.dot(&first.normal) > 0.999;
            touches.clear();
            touches.extend(rest.iter().filter(|t| alike(t)));
            rest.retain(|t| !alike(t));
            self.keep(pair, 0, [None, None]);
        }
    }

    /// Keeps those of the touches that can close within the horizon, reduced to four, and of
    /// compliant pairs all that overlap.
    fn keep(&mut self, pair: Pair, element: u64, weights: [Option<Weights>; 2]) {
        let colliders = [pair.i, pair.j].map(|k| self.pieces.list[k].collider);
        let store = self.pair_material(colliders[0], colliders[1]).compliance > 0.0;
        let (pieces, touches) = (&self.pieces, &mut self.work.narrow.touches);
        let places = [pair.i, pair.j].map(|k| self.colliders[pieces.list[k].collider.index()].placement);
        touches.retain(|t| near_enough(pieces, &places, pair, t, weights));
        reduce(touches, 0, pieces.smaller(pair.i, pair.j), store);
        for touch in touches {
            push(
                pieces,
                &self.colliders,
                pair,
                *touch,
                [element, touch.feature],
                weights,
                false,
                &mut self.work.found,
            );
        }
    }

    pub(super) fn keep_swept(&mut self, pair: Pair) {
        for touch in &self.work.narrow.touches {
            let feature = [0, touch.feature];
            push(
                &self.pieces,
                &self.colliders,
                pair,
                *touch,
                feature,
                [None, None],
                true,
                &mut self.work.found,
            );
        }
    }

    /// Adds a contact between soft points if it can close within the horizon.
    pub(super) fn push(
        &self,
        pair: Pair,
        touch: Touch,
        feature: [u64; 2],
        weights: [Option<Weights>; 2],
        found: &mut Vec<Found>,
    ) {
        let places = [pair.i, pair.j].map(|k| self.colliders[self.pieces.list[k].collider.index()].placement);
        if near_enough(&self.pieces, &places, pair, &touch, weights) {
            push(
                &self.pieces,
                &self.colliders,
                pair,
                touch,
                feature,
                weights,
                false,
                found,
            );
        }
    }
}

/// Whether rigid parts slide past each other along a face. Parts that are nearer than their margin
/// do where none of their touches is one of that face, and all close by the motion of the start: an
/// edge that runs to the side of the next tile. Edges that lie on each other bear.
///
/// A body that is supported does not fall: the velocities of the start, without what gravity alone
/// would add to them, may keep parts apart, too. What falls past an edge after all is found behind
/// the step.
pub(super) fn passes(pieces: &Pieces, pair: Pair, [a, b]: [&Part<'_>; 2], touches: &[Touch]) -> bool {
    let [p, q] = [pair.i, pair.j].map(|k| &pieces.placed[k]);
    let near = touches.iter().any(|t| t.gap <= pair.margin);
    let drift = (q.motion.velocity - p.motion.velocity) * pair.horizon;
    let falls = [p, q].map(|one| if one.motion.falls { 1.0 } else { 0.0 });
    let start = drift - pieces.fall * ((falls[1] - falls[0]) * pair.horizon);
    let turning = pair.horizon * (p.motion.spin.norm() * p.reach + q.motion.spin.norm() * q.reach);
    let then = pair.margin - turning;
    if !near {
        let way = |drift| stay_apart(a, b, drift, [then; 2], |_| true);
        return way(drift) || start != drift && way(start);
    }
    let touch = pair.margin.min(TOUCH * p.extent.min(q.extent));
    if touches.iter().any(|t| t.normal.dot(&start) >= -touch) {
        return false;
    }
    let is_beside = |n: Vec3| touches.iter().all(|t| t.normal.dot(&n).abs() < ALONG);
    stay_apart(a, b, start, [touch, then], is_beside)
}
