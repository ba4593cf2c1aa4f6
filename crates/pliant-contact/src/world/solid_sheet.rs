//! Convex pieces against the elements of meshes, cloths and cables.

use pliant_dense::{Vec3, rotation};

use super::World;
use super::cast::{self, Course};
use super::detect::passes;
use super::found::{Pair, Weights, push};
use super::pieces::Pieces;
use super::workspace::Narrow;
use crate::narrow::{Part, Touch, collide};
use crate::shape::mesh::{Element, Sides};
use crate::surface::Surface;

/// An element of a sheet where it is now.
pub(super) struct ElementAt {
    count: usize,
    points: [Vec3; 3],
    /// Of the corners of a soft sheet; zero for a rigid one.
    velocities: [Vec3; 3],
    normals: [Vec3; 2],
}

impl ElementAt {
    pub(super) fn new(pieces: &Pieces, surface: &Surface<'_>, sheet: usize, element: usize) -> Self {
        let corners = surface.mesh.corners(element);
        let soft = pieces.is_soft(sheet);
        let (mut points, mut velocities) = ([Vec3::zeros(); 3], [Vec3::zeros(); 3]);
        for (k, &p) in corners.iter().enumerate() {
            points[k] = surface.point(p);
            if soft {
                velocities[k] = pieces.soft_velocity(sheet, p);
            }
        }
        let normals = match surface.mesh.element(element) {
            Element::Triangle(t) => [surface.normals[t], -surface.normals[t]],
            _ => [Vec3::zeros(); 2],
        };
        Self {
            count: corners.len(),
            points,
            velocities,
            normals,
        }
    }

    /// The element as a convex part.
    pub(super) fn part<'a>(
        &'a self,
        pieces: &'a Pieces,
        surface: &'a Surface<'a>,
        element: usize,
    ) -> Part<'a> {
        let shape = pieces.primitive(surface.mesh.element(element));
        Part {
            shape,
            points: &self.points[..self.count],
            normals: &self.normals[..shape.faces.len()],
            radius: surface.mesh.radius,
            cylinder: None,
            of: Some((surface, element)),
        }
    }

    fn velocities(&self) -> &[Vec3] {
        &self.velocities[..self.count]
    }

    /// How the element moves.
    pub(super) fn course<'a>(&'a self, pieces: &'a Pieces, sheet: usize) -> Course<'a> {
        if pieces.is_soft(sheet) {
            Course::Points(self.velocities())
        } else {
            Course::Rigid(&pieces.placed[sheet])
        }
    }

    /// The weights of the corners at the place of the element that is nearest to a point.
    pub(super) fn weights(&self, point: Vec3, surface: &Surface<'_>, element: usize) -> Weights {
        Weights::at(point, surface.mesh, element, &self.points)
    }
}

impl World {
    /// A convex piece against all elements of a sheet that are near it.
    pub(super) fn convex_sheet(&mut self, pair: Pair, flipped: bool) {
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
        let work = &mut self.work.narrow;
        work.near.clear();
        let near = &mut work.near;
        tree.query(
            boxes,
            &self.pieces.placed[solid].swept,
            &mut self.work.stack,
            |element| near.push(element as u32),
        );
        near.sort_unstable();
        if !self.work.tests.add(near.len()) {
            return;
        }
        work.touches.clear();
        work.swept.clear();
        work.soft.clear();
        for n in 0..work.near.len() {
            let element = work.near[n] as usize;
            if (self.tied).ignores(&self.pieces, sheet, solid, surface.mesh.corners(element)) {
                continue;
            }
            let at = ElementAt::new(&self.pieces, &surface, sheet, element);
            let piece = at.part(&self.pieces, &surface, element);
            let closing = if soft {
                let motion = &self.pieces.placed[solid].motion;
                let against = |v: &Vec3| (v - motion.velocity).norm();
                let fastest = at.velocities().iter().map(against).fold(0.0, f64::max);
                pair.horizon * (fastest + motion.spin.norm() * self.pieces.placed[solid].reach)
            } else {
                rigid_closing
            };
            let start = work.touches.len();
            let thin = self.pieces.thin(solid).min(self.pieces.thin(sheet));
            if closing > 0.5 * thin {
                let course_sheet = at.course(&self.pieces, sheet);
                let course_solid = Course::Rigid(&self.pieces.placed[solid]);
                let (a, b, courses) = if flipped {
                    (&piece, &part, [course_sheet, course_solid])
                } else {
                    (&part, &piece, [course_solid, course_sheet])
                };
                let cast = cast::first(a, b, courses, pair, work);
                match cast {
                    cast::Cast::Touching => {}
                    cast::Cast::Free => continue,
                    cast::Cast::At(time) => {
                        // The neighbours of the element have a say in the normal, as they stand to
                        // it then: those of a rigid sheet as now, turned.
                        let back = -self.pieces.placed[sheet].motion.spin * time;
                        let turn = rotation::matrix(rotation::exp(back)) * if flipped { 1.0 } else { -1.0 };
                        let ahead = self.pieces.surface_ahead(sheet, time).filter(|_| soft);
                        let then = ahead.unwrap_or(surface);
                        let touches = work.touches[start..].iter();
                        let passing = !soft && passes(&self.pieces, pair, [a, b], touches.as_slice());
                        let permitted =
                            touches.filter(|t| !passing && then.permits_from(element, turn * t.normal));
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
                    let core = core(&touch, flipped, surface.mesh.radius);
                    let weights = at.weights(core, &surface, element);
                    let order = work.soft.len();
                    work.soft.push((weights.code(), order, touch, weights));
                }
                work.touches.truncate(start);
            } else {
                for touch in &mut work.touches[start..] {
                    // The element too: two triangles beside each other have corners of the same
                    // number.
                    touch.feature ^= (element as u64) << 32;
                }
            }
        }
        if soft {
            self.keep_soft(pair, flipped);
        } else {
            drop_doubtful(&mut work.touches, &mut work.rest, pair.margin);
            if surface_solid(&self.pieces, sheet) {
                drop_far_sides(&mut work.touches);
            }
            self.keep_clusters(pair);
        }
        self.keep_earliest(pair, soft.then_some((sheet, flipped)));
    }

    /// Keeps those of the touches with elements of a soft sheet that can close, and of those that
    /// elements share, one.
    fn keep_soft(&mut self, pair: Pair, flipped: bool) {
        let mut found = std::mem::take(&mut self.work.found);
        self.work.narrow.soft.sort_unstable_by_key(|s| (s.0, s.1));
        let soft = &self.work.narrow.soft;
        let near = 1e-9 * self.pieces.smaller(pair.i, pair.j);
        for (k, (code, _, touch, weights)) in soft.iter().enumerate() {
            let same = soft[..k].iter().rev().take_while(|s| s.0 == *code);
            let mut same =
                same.filter(|s| (s.2.a - touch.a).norm() <= near && s.2.normal.dot(&touch.normal) > 0.9);
            if same.next().is_none() {
                let sides = if flipped {
                    [Some(*weights), None]
                } else {
                    [None, Some(*weights)]
                };
                self.push(pair, *touch, [*code, touch.feature & 0xffff], sides, &mut found);
            }
        }
        self.work.found = found;
    }

    /// Of the impacts with the elements of a sheet those that come first.
    fn keep_earliest(&mut self, pair: Pair, soft: Option<(usize, bool)>) {
        let Narrow { swept, touches, .. } = &mut self.work.narrow;
        let first = swept.iter().map(|s| s.0).fold(f64::INFINITY, f64::min);
        let last = first * (1.0 + 1e-6) + 1e-9 * pair.horizon;
        touches.clear();
        for (_, touch, feature) in swept.iter().filter(|s| s.0 <= last) {
            if touches
                .iter()
                .any(|t| (t.a - touch.a).norm() < 1e-9 && t.normal.dot(&touch.normal) > 0.99)
            {
                continue;
            }
            touches.push(*touch);
            let mut sides = [None, None];
            if let Some((sheet, flipped)) = soft
                && let Some(surface) = self.pieces.surface(sheet)
            {
                let element = feature[0] as usize;
                let at = ElementAt::new(&self.pieces, &surface, sheet, element);
                let core = core(touch, flipped, surface.mesh.radius);
                sides[usize::from(!flipped)] = Some(at.weights(core, &surface, element));
            }
            push(
                &self.pieces,
                &self.colliders,
                pair,
                *touch,
                *feature,
                sides,
                true,
                &mut self.work.found,
            );
        }
    }
}

/// The place on the middle surface of a sheet where it is touched; `flipped` if it is the first
/// side.
pub(super) fn core(touch: &Touch, flipped: bool, radius: f64) -> Vec3 {
    if flipped {
        touch.a - touch.normal * radius
    } else {
        touch.b + touch.normal * radius
    }
}

fn surface_solid(pieces: &Pieces, sheet: usize) -> bool {
    pieces
        .surface(sheet)
        .is_some_and(|surface| surface.mesh.sides == Sides::Solid)
}

/// Over an edge or a corner of a solid a triangle may know only a way out that is far deeper than
/// that of its neighbours: then they decide, unless it is the same way.
fn drop_doubtful(touches: &mut Vec<Touch>, sure: &mut Vec<Touch>, margin: f64) {
    sure.clear();
    sure.extend(touches.iter().filter(|t| !t.doubtful && t.gap <= margin));
    if !sure.is_empty() {
        touches.retain(|t| !t.doubtful || sure.iter().any(|s| s.normal.dot(&t.normal) > 0.9));
    }
    sure.clear();
}

/// Inside a thin solid, triangles of both sides see something that is deep behind them: the nearer
/// side decides.
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
