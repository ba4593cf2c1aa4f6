//! From pairs of pieces to contact points.

use pliant_dense::{Vec3, rotation};

use super::World;
use super::cast::{self, Course};
use super::pieces::{Form, Pieces};
use crate::memory::Nameless;
use crate::narrow::axis::stay_apart;
use crate::narrow::closest::on_triangle;
use crate::narrow::{Part, Touch, collide, plane, reduce::reduce};
use crate::shape::mesh::{Element, Mesh, Sides};
use crate::{Carrier, ColliderId, Place};

/// A contact before it has a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) colliders: [ColliderId; 2],
    pieces: [u32; 2],
    feature: [u64; 2],
    pub(super) carriers: [Carrier; 2],
    pub(super) touch: Touch,
    pub(super) swept: bool,
    /// When it was found.
    pub(super) order: usize,
    horizon: f64,
}

impl Found {
    pub(super) fn nameless(&self, pieces: &Pieces) -> Nameless {
        let [i, j] = self.pieces.map(|k| k as usize);
        let points = [self.touch.a, self.touch.b];
        let place = |side: usize, ahead: f64| match &self.carriers[side] {
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
        Nameless {
            feature: self.feature,
            next: [place(0, self.horizon), place(1, self.horizon)],
            now: [place(0, 0.0), place(1, 0.0)],
            reach: 0.02 * size + self.horizon * (a.motion.velocity - b.motion.velocity).norm(),
        }
    }
}

/// Whether a pair of pieces is near enough, and which way round.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) i: usize,
    pub(super) j: usize,
    pub(super) margin: f64,
    pub(super) horizon: f64,
}

impl World {
    /// The contacts of all pairs, in `work.found`.
    pub(super) fn narrow(&mut self, horizon: f64) {
        self.work.found.clear();
        for n in 0..self.work.pairs.len() {
            let (i, j) = self.work.pairs[n];
            let (i, j) = (i as usize, j as usize);
            let pair = Pair {
                i,
                j,
                margin: self.pieces.placed[i].margin + self.pieces.placed[j].margin,
                horizon,
            };
            let [a, b] = [i, j].map(|k| &self.pieces.list[k].form);
            match (a, b) {
                (Form::HalfSpace(_), Form::HalfSpace(_)) => {}
                (Form::HalfSpace(_), Form::Convex { .. }) => self.plane_convex(pair, false),
                (Form::Convex { .. }, Form::HalfSpace(_)) => self.plane_convex(pair, true),
                (Form::HalfSpace(_), Form::Sheet(_)) => self.plane_sheet(pair, false),
                (Form::Sheet(_), Form::HalfSpace(_)) => self.plane_sheet(pair, true),
                (Form::Convex { .. }, Form::Convex { .. }) => self.convex_convex(pair),
                (Form::Convex { .. }, Form::Sheet(_)) => self.convex_sheet(pair, false),
                (Form::Sheet(_), Form::Convex { .. }) => self.convex_sheet(pair, true),
                (Form::Sheet(_), Form::Sheet(_)) => self.sheet_sheet(pair),
            }
        }
    }

    /// The greatest distance that two pieces can close within the horizon.
    fn closing(&self, pair: Pair) -> f64 {
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
        let work = &mut self.work;
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
        let (normal, offset) = self.pieces.placed[half_space].plane;
        let Some(surface) = self.pieces.surface(sheet) else {
            return;
        };
        let radius = surface.mesh.radius;
        let mut found = std::mem::take(&mut self.work.found);
        for element in 0..surface.mesh.element_count() {
            for &p in surface.mesh.owned_points(element) {
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
                    }
                } else {
                    Touch {
                        a: on_plane,
                        b: on_sheet,
                        normal,
                        gap,
                        feature: 0,
                    }
                };
                let one = Weights {
                    count: 1,
                    points: [p, 0, 0],
                    weights: [1.0, 0.0, 0.0],
                };
                let weights = if flipped {
                    [Some(one), None]
                } else {
                    [None, Some(one)]
                };
                self.push(pair, touch, [u64::from(p), 0], weights, &mut found);
            }
        }
        self.work.found = found;
    }

    fn convex_convex(&mut self, pair: Pair) {
        let (Some(a), Some(b)) = (self.pieces.part(pair.i), self.pieces.part(pair.j)) else {
            return;
        };
        let closing = self.closing(pair);
        let work = &mut self.work;
        work.touches.clear();
        let (i, j) = (pair.i, pair.j);
        if closing > 0.5 * self.pieces.thin(i).min(self.pieces.thin(j)) {
            let course = [
                Course::Rigid(&self.pieces.placed[i]),
                Course::Rigid(&self.pieces.placed[j]),
            ];
            let cast = cast::first(
                &a,
                &b,
                course,
                pair,
                &mut work.moved,
                &mut work.scratch,
                &mut work.touches,
            );
            match cast {
                cast::Cast::Touching => {}
                cast::Cast::Free => return,
                cast::Cast::At(_) => {
                    if !passes(&self.pieces, pair, [&a, &b], &work.touches) {
                        reduce(&mut work.touches, 0, self.pieces.smaller(pair.i, pair.j));
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

    fn convex_sheet(&mut self, pair: Pair, flipped: bool) {
        let (solid, sheet) = if flipped {
            (pair.j, pair.i)
        } else {
            (pair.i, pair.j)
        };
        let (Some(part), Some(surface)) = (self.pieces.part(solid), self.pieces.surface(sheet)) else {
            return;
        };
        let (boxes, tree) = self.pieces.elements(sheet);
        let soft = self.pieces.is_soft(sheet);
        let rigid_closing = self.closing(pair);
        let work = &mut self.work;
        work.near.clear();
        let near = &mut work.near;
        tree.query(
            boxes,
            &self.pieces.placed[solid].swept,
            &mut work.stack,
            |element| near.push(element as u32),
        );
        near.sort_unstable();
        work.touches.clear();
        work.swept.clear();
        let mut found = std::mem::take(&mut work.found);
        for n in 0..work.near.len() {
            let element = work.near[n] as usize;
            let corners = surface.mesh.corners(element);
            let mut points = [Vec3::zeros(); 3];
            let mut velocities = [Vec3::zeros(); 3];
            for (k, &p) in corners.iter().enumerate() {
                points[k] = surface.point(p);
                if soft {
                    velocities[k] = self.pieces.soft_velocity(sheet, p);
                }
            }
            let normals = match surface.mesh.element(element) {
                Element::Triangle(t) => [surface.normals[t], -surface.normals[t]],
                _ => [Vec3::zeros(); 2],
            };
            let primitive = self.pieces.primitive(surface.mesh.element(element));
            let piece = Part {
                shape: primitive,
                points: &points[..corners.len()],
                normals: &normals[..primitive.faces.len()],
                radius: surface.mesh.radius,
                drum: None,
                of: Some((&surface, element)),
            };
            let closing = if soft {
                let motion = &self.pieces.placed[solid].motion;
                let against = |v: &Vec3| (v - motion.velocity).norm();
                let fastest = velocities[..corners.len()]
                    .iter()
                    .map(against)
                    .fold(0.0, f64::max);
                pair.horizon * (fastest + motion.spin.norm() * self.pieces.placed[solid].reach)
            } else {
                rigid_closing
            };
            let start = work.touches.len();
            let thin = self.pieces.thin(solid).min(self.pieces.thin(sheet));
            if closing > 0.5 * thin {
                let course_sheet = if soft {
                    Course::Points(&velocities[..corners.len()])
                } else {
                    Course::Rigid(&self.pieces.placed[sheet])
                };
                let course_solid = Course::Rigid(&self.pieces.placed[solid]);
                let (a, b, courses) = if flipped {
                    (&piece, &part, [course_sheet, course_solid])
                } else {
                    (&part, &piece, [course_solid, course_sheet])
                };
                let cast = cast::first(
                    a,
                    b,
                    courses,
                    pair,
                    &mut work.moved,
                    &mut work.scratch,
                    &mut work.touches,
                );
                match cast {
                    cast::Cast::Touching => {}
                    cast::Cast::Free => continue,
                    cast::Cast::At(time) => {
                        // The neighbours of the element have a say in the normal, as they stand to it now.
                        let back = -self.pieces.placed[sheet].motion.spin * time;
                        let turn = rotation::matrix(rotation::exp(back)) * if flipped { 1.0 } else { -1.0 };
                        let touches = work.touches[start..].iter();
                        let passing = !soft && passes(&self.pieces, pair, [a, b], touches.as_slice());
                        let permitted =
                            touches.filter(|t| !passing && surface.permits_from(element, turn * t.normal));
                        work.swept
                            .extend(permitted.map(|t| (time, *t, [element as u64, t.feature])));
                        work.touches.truncate(start);
                        continue;
                    }
                }
            }
            let (a, b) = if flipped { (&piece, &part) } else { (&part, &piece) };
            collide(a, b, pair.margin + closing, &mut work.scratch, &mut work.touches);
            if !soft && passes(&self.pieces, pair, [a, b], &work.touches[start..]) {
                work.touches.truncate(start);
            }
            if soft {
                for k in start..work.touches.len() {
                    let touch = work.touches[k];
                    let core = if flipped {
                        touch.a - touch.normal * surface.mesh.radius
                    } else {
                        touch.b + touch.normal * surface.mesh.radius
                    };
                    let weights = Weights::at(core, surface.mesh, element, &points);
                    let feature = [weights.code(), touch.feature & 0xffff];
                    let repeated = found
                        .iter()
                        .rev()
                        .take_while(|f| f.pieces == [pair.i as u32, pair.j as u32])
                        .any(|f| {
                            (f.touch.a - touch.a).norm()
                                <= 1e-9 * surface.mesh.radius.max(self.pieces.placed[solid].extent)
                                && f.touch.normal.dot(&touch.normal) > 0.9
                        });
                    if !repeated {
                        let weights = Some(weights);
                        let sides = if flipped { [weights, None] } else { [None, weights] };
                        push(
                            &self.pieces,
                            &self.colliders,
                            pair,
                            touch,
                            feature,
                            sides,
                            false,
                            &mut found,
                        );
                    }
                }
                work.touches.truncate(start);
            } else {
                for touch in &mut work.touches[start..] {
                    // The element too: two triangles beside each other have corners of the same number.
                    touch.feature ^= (element as u64) << 32;
                }
            }
        }
        self.work.found = found;
        if !soft {
            if surface_solid(&self.pieces, sheet) {
                drop_far_sides(&mut self.work.touches);
            }
            self.keep_clusters(pair);
        }
        self.keep_earliest(pair, soft.then_some((sheet, flipped)));
    }

    /// Keeps those of the touches of one pair that can close, at most four of each normal.
    fn keep_clusters(&mut self, pair: Pair) {
        std::mem::swap(&mut self.work.touches, &mut self.work.rest);
        while let Some(first) = self.work.rest.first().copied() {
            let alike = |t: &Touch| t.normal.dot(&first.normal) > 0.999;
            self.work.touches.clear();
            self.work
                .touches
                .extend(self.work.rest.iter().filter(|t| alike(t)));
            self.work.rest.retain(|t| !alike(t));
            self.keep(pair, 0, [None, None]);
        }
    }

    /// Keeps those of the touches that can close within the horizon, reduced to four.
    fn keep(&mut self, pair: Pair, element: u64, weights: [Option<Weights>; 2]) {
        let mut found = std::mem::take(&mut self.work.found);
        let pieces = &self.pieces;
        let places = [pair.i, pair.j].map(|k| self.colliders[pieces.list[k].collider.index()].place);
        self.work
            .touches
            .retain(|t| near_enough(pieces, &places, pair, t, weights));
        reduce(&mut self.work.touches, 0, pieces.smaller(pair.i, pair.j));
        for k in 0..self.work.touches.len() {
            let touch = self.work.touches[k];
            push(
                pieces,
                &self.colliders,
                pair,
                touch,
                [element, touch.feature],
                weights,
                false,
                &mut found,
            );
        }
        self.work.found = found;
    }

    fn keep_swept(&mut self, pair: Pair) {
        let mut found = std::mem::take(&mut self.work.found);
        for touch in &self.work.touches {
            let feature = [0, touch.feature];
            push(
                &self.pieces,
                &self.colliders,
                pair,
                *touch,
                feature,
                [None, None],
                true,
                &mut found,
            );
        }
        self.work.found = found;
    }

    /// Of the impacts with the elements of a sheet those that come first.
    fn keep_earliest(&mut self, pair: Pair, soft: Option<(usize, bool)>) {
        let first = self.work.swept.iter().map(|s| s.0).fold(f64::INFINITY, f64::min);
        let last = first * (1.0 + 1e-6) + 1e-9 * pair.horizon;
        let mut found = std::mem::take(&mut self.work.found);
        self.work.touches.clear();
        for (_, touch, feature) in self.work.swept.iter().filter(|s| s.0 <= last) {
            if self
                .work
                .touches
                .iter()
                .any(|t| (t.a - touch.a).norm() < 1e-9 && t.normal.dot(&touch.normal) > 0.99)
            {
                continue;
            }
            self.work.touches.push(*touch);
            let mut sides = [None, None];
            if let Some((sheet, flipped)) = soft
                && let Some(surface) = self.pieces.surface(sheet)
            {
                let element = feature[0] as usize;
                let mut points = [Vec3::zeros(); 3];
                for (k, &p) in surface.mesh.corners(element).iter().enumerate() {
                    points[k] = surface.point(p);
                }
                let point = if flipped { touch.a } else { touch.b };
                sides[usize::from(!flipped)] = Some(Weights::at(point, surface.mesh, element, &points));
            }
            push(
                &self.pieces,
                &self.colliders,
                pair,
                *touch,
                *feature,
                sides,
                true,
                &mut found,
            );
        }
        self.work.found = found;
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
        let places = [pair.i, pair.j].map(|k| self.colliders[self.pieces.list[k].collider.index()].place);
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

/// Whether rigid parts that are apart by more than their margin slide past each other along a face.
fn passes(pieces: &Pieces, pair: Pair, [a, b]: [&Part<'_>; 2], touches: &[Touch]) -> bool {
    if touches.iter().any(|t| t.gap <= pair.margin) {
        return false;
    }
    let [p, q] = [pair.i, pair.j].map(|k| &pieces.placed[k]);
    let drift = (q.motion.velocity - p.motion.velocity) * pair.horizon;
    let turning = pair.horizon * (p.motion.spin.norm() * p.reach + q.motion.spin.norm() * q.reach);
    stay_apart(a, b, drift, pair.margin - turning)
}

fn surface_solid(pieces: &Pieces, sheet: usize) -> bool {
    pieces
        .surface(sheet)
        .is_some_and(|surface| surface.mesh.sides == Sides::Solid)
}

/// Inside a thin solid, triangles of both sides see something that is deep behind them: the nearer side decides.
fn drop_far_sides(touches: &mut Vec<Touch>) {
    let Some(shallow) = touches
        .iter()
        .filter(|t| t.gap < 0.0)
        .copied()
        .reduce(|x, y| if y.gap > x.gap { y } else { x })
    else {
        return;
    };
    touches.retain(|t| t.gap >= 0.0 || t.normal.dot(&shallow.normal) > -0.5);
}

/// Points of a node with weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    pub(super) count: usize,
    pub(super) points: [u32; 3],
    pub(super) weights: [f64; 3],
}

impl Weights {
    /// Those at the place of an element that is nearest to a point.
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
    fn code(&self) -> u64 {
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

fn carrier(places: &Place, pieces: &Pieces, k: usize, point: Vec3, weights: Option<Weights>) -> Carrier {
    match (places, weights) {
        (Place::Body { node, element, .. }, _) => {
            let motion = &pieces.placed[k].motion;
            let local = motion.rotation.tr_mul(&(point - motion.centre));
            Carrier::Body {
                node: *node,
                element: *element,
                local: local.into(),
            }
        }
        (Place::Points(node), Some(w)) => Carrier::Points {
            node: *node,
            count: w.count,
            elements: w.points.map(|p| p as usize),
            weights: w.weights,
        },
        _ => Carrier::Fixed,
    }
}

/// Whether the gap is at most the margin and what can be closed: the velocity of the points along the normal, and what their
/// turning can add at second order.
fn near_enough(
    pieces: &Pieces,
    places: &[Place; 2],
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

fn push(
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
        carriers: [
            carrier(
                &colliders[i.collider.index()].place,
                pieces,
                pair.i,
                touch.a,
                weights[0],
            ),
            carrier(
                &colliders[j.collider.index()].place,
                pieces,
                pair.j,
                touch.b,
                weights[1],
            ),
        ],
        touch,
        swept,
        order: found.len(),
        horizon: pair.horizon,
    });
}
