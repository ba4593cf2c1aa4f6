//! Convex parts and elements of sheets against the surface of a field.

use std::f64::consts::TAU;

use pliant_dense::Vec3;

use super::Lens;
use super::search::{Face, Search};
use crate::bvh::Aabb;
use crate::narrow::closest::{on_triangle, over_polygon};
use crate::narrow::{Cylinder, Part};
use crate::shape::mesh::Spot;
use crate::shape::polytope::triangle_normal;
use crate::surface::Surface;

/// Sine of the angle by which others of its corners may come before a corner or an edge of a convex
/// part that pushes: a box that lies down meets the ground with its far corners, too.
const BEFORE: f64 = 0.2;
/// Sine of that angle for the neighbours on a sheet, whose flat inside must not be felt.
const LEVEL: f64 = 1e-3;

// What of a convex part or an element is near.
const CORNER: u64 = 0;
const EDGE: u64 = 1 << 12;
const FACE: u64 = 2 << 12;
const RIM: u64 = 3 << 12;

impl Search<'_> {
    /// A convex part in the axes of the field.
    pub(super) fn part(&mut self, part: &Part<'_>) {
        if let Some(cylinder) = &part.cylinder {
            self.cylinder(part.points[0], cylinder);
            return;
        }
        let points = part.points;
        if !self.may_reach(&Aabb::of(points.iter().copied()), part.radius) {
            return;
        }
        let name = |kind: u64, k: usize| kind | k as u64 & 0xfff;
        let leads = |k: usize, normal: Vec3| {
            let before = |p: &Vec3| (p - points[k]).dot(&normal) > BEFORE * (p - points[k]).norm();
            part.radius > 0.0 || !points.iter().any(before)
        };
        for (k, p) in points.iter().enumerate() {
            self.point(*p, part.radius, name(CORNER, k), &|n| leads(k, n));
        }
        for (k, e) in part.shape.edges.iter().enumerate() {
            let ends = e.map(|i| points[i as usize]);
            let permits = |n: Vec3| e.iter().any(|i| leads(*i as usize, n));
            self.edge(ends, part.radius, name(EDGE, k), &permits);
        }
        for (k, (face, normal)) in part.shape.faces.iter().zip(part.normals).enumerate() {
            let corners = face.iter().map(|i| points[*i as usize]);
            let offset = normal.dot(&points[face[0] as usize]);
            let over = |x: Vec3| over_polygon(x, face, points, *normal);
            let face = Face {
                normal: *normal,
                offset,
                radius: 0.0,
                bounds: Aabb::of(corners),
                over: &over,
                solid: false,
            };
            self.face(&face, name(FACE, k));
        }
    }

    /// A cylinder: its rims, its caps, and its side where that is outside.
    fn cylinder(&mut self, centre: Vec3, c: &Cylinder) {
        let any = |_: Vec3| true;
        let half = c.axis * c.half;
        let here = Aabb::of([centre - half, centre + half]);
        if !self.may_reach(&here, c.radius) {
            return;
        }
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            let end = centre + half * sign;
            let quarters = [c.side, -c.side, c.other, -c.other];
            let before = |n: Vec3| n.dot(&c.axis) * sign >= -BEFORE;
            for (q, d) in (0..).zip(quarters) {
                self.point(end + d * c.radius, 0.0, CORNER | (4 * k + q), &|n| {
                    before(n) && n.dot(&d) > -BEFORE
                });
            }
            let circle = |t: f64| {
                let (sin, cos) = t.sin_cos();
                let place = end + (c.side * cos + c.other * sin) * c.radius;
                (place, (c.other * cos - c.side * sin) * c.radius)
            };
            // A little more than once around, from where nothing is symmetric.
            self.curve(&circle, [0.123, 0.123 + 1.1 * TAU], 0.0, RIM | k, &before);
            let over = |x: Vec3| (x - end).norm() < c.radius;
            let face = Face {
                normal: c.axis * sign,
                offset: sign * c.axis.dot(&end),
                radius: 0.0,
                bounds: Aabb { low: end, high: end }.grown(c.radius),
                over: &over,
                solid: false,
            };
            self.face(&face, FACE | k);
        }
        self.round([centre - half, centre + half], c.radius, EDGE, &any);
    }

    /// An element of a sheet: the corners and edges that it owns, and its face.
    pub(super) fn element(&mut self, surface: &Surface<'_>, element: usize, lens: &Lens, is_face: bool) {
        let radius = surface.mesh.radius;
        let at = |p: u32| lens.point(surface.point(p));
        let permits = |spot: Spot, n: Vec3| surface.permits_within(spot, lens.back(n), LEVEL);
        let all = surface.mesh.corners(element);
        let bounds = Aabb::of(all.iter().map(|p| at(*p)));
        if !self.may_reach(&bounds, radius) {
            return;
        }
        for &p in surface.mesh.owned_points(element) {
            self.point(at(p), radius, CORNER | u64::from(p) & 0xfff, &|n| {
                permits(Spot::Point(p), n)
            });
        }
        for &e in surface.mesh.owned_edges(element) {
            let ends = surface.mesh.edges[e as usize].map(at);
            self.edge(ends, radius, EDGE | u64::from(e) & 0xfff, &|n| {
                permits(Spot::Edge(e), n)
            });
        }
        if !is_face {
            return;
        }
        let corners = [all[0], all[1], all[2]].map(at);
        let normal = triangle_normal(corners);
        if normal == Vec3::zeros() {
            return;
        }
        let over = |x: Vec3| on_triangle(x, corners).iter().all(|w| *w > 1e-9);
        let sides: &[f64] = if surface.two_sided() { &[1.0, -1.0] } else { &[1.0] };
        for sign in sides {
            let face = Face {
                normal: normal * *sign,
                offset: sign * normal.dot(&corners[0]),
                radius,
                bounds,
                over: &over,
                solid: false,
            };
            self.face(&face, FACE);
        }
    }
}
