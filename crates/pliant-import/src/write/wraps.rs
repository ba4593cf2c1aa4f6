//! Surfaces that lines wrap around, as obstacles of ropes.

use super::lines::Course;
use super::{Writer, place, rotation};
use crate::geometry::Frame;
use crate::numbers::{number, text, tuple, vector};
use crate::robot::{Line, Wrap, WrapSurface};
use pliant_dense::Vec3;

/// The most obstacles between two points of a rope of a scene, and of a whole rope.
const MOST_BETWEEN: usize = 6;
const MOST: usize = 1000;

/// Distance of an end of a rope from the half plane behind a cylinder with a side, in radii, below
/// which scenes refuse it.
const BEHIND: f64 = 0.05;

/// The share of its size by which a point must be outside of a surface.
const OUTSIDE: f64 = 1.0 + 1e-9;

/// Distance of a line from the middle of a surface, in its radii, below which it passes through that.
const MIDDLE: f64 = 1e-9;

/// A surface between point `after` of a rope and the next.
pub(super) struct Obstacle {
    after: usize,
    /// The body that it is fixed in, by its link, the world if none, and its frame there.
    pub(super) owner: Option<usize>,
    frame: Frame,
    surface: WrapSurface,
    /// Where along the straight line it is at the start, from 0 to 1.
    share: f64,
}

impl Obstacle {
    /// The obstacle as scenes have it, with bodies by these names.
    pub(super) fn text(&self, links: &[String]) -> String {
        let surface = match self.surface {
            WrapSurface::Sphere(radius) => format!("Sphere({})", number(radius)),
            WrapSurface::Cylinder { radius, over } => {
                let side = over.map_or(String::new(), |over| format!(", side: Over({})", vector(over)));
                format!("Cylinder(radius: {}{side})", number(radius))
            }
            WrapSurface::Ellipsoid(axes) => format!("Ellipsoid({})", tuple(axes.as_slice())),
        };
        let mut frame = match self.owner {
            Some(owner) => format!("body: ({}, 0)", text(&links[owner])),
            None => String::new(),
        };
        frame += &place("position", self.frame.position);
        frame += &rotation(self.frame.rotation);
        let after = match self.after {
            0 => String::new(),
            after => format!("after: {after}, "),
        };
        format!(
            "({after}surface: {surface}, frame: ({}))",
            frame.trim_start_matches(", ")
        )
    }
}

/// The obstacles of the rope of a line, in their order along it.
pub(super) fn obstacles(writer: &mut Writer<'_>, line: &Line, course: &Course) -> Vec<Obstacle> {
    let mut out = Vec::new();
    for wrap in &line.wraps {
        of_wrap(writer, wrap, line, course, &mut out);
    }
    // The sort is stable: what is at one place stays in the order of the file.
    out.sort_by(|a, b| a.after.cmp(&b.after).then(a.share.total_cmp(&b.share)));
    let mut counts = vec![0; course.len()];
    for obstacle in &out {
        counts[obstacle.after] += 1;
    }
    let most = counts.into_iter().max().unwrap_or_default();
    if most > MOST_BETWEEN || out.len() > MOST {
        let message = format!(
            "the path wraps around none of its surfaces: a rope has at most {MOST_BETWEEN} of them between two points, and {MOST} in all"
        );
        writer.tree.remark(line.spot, message);
        return Vec::new();
    }
    if most > 1 {
        let message = "surfaces between the same two points of a path are met in the order in which they are along the line between them at the start";
        writer.tree.remark(line.spot, message);
    }
    out
}

/// The obstacles that one surface is, one for each straight part that it may meet.
fn of_wrap(writer: &mut Writer<'_>, wrap: &Wrap, line: &Line, course: &Course, out: &mut Vec<Obstacle>) {
    let (owner, frame) = writer.in_body(wrap.link, &wrap.frame);
    let start = |link: Option<usize>| link.map_or(Frame::IDENTITY, |link| writer.layout.start[link]);
    let into = start(wrap.link).then(&wrap.frame).inverse();
    let points: Vec<Vec3> = line
        .points
        .iter()
        .map(|(link, place)| into.point(start(*link).point(*place)))
        .collect();
    let (mut count, mut within, mut behind, mut through) = (0, false, false, false);
    for after in wrap.stretches.clone() {
        let ends = [after, after + 1];
        let inside = ends.map(|k| size(wrap.surface, points[k]) <= OUTSIDE);
        let apart = ends.map(|k| course[k].0 != owner);
        if inside[0] || inside[1] {
            // OpenSim has a line from within go straight. What cannot move there stays within.
            within |= (inside[0] && apart[0]) || (inside[1] && apart[1]);
            continue;
        }
        if ends.iter().any(|k| is_behind(wrap.surface, points[*k])) {
            behind = true;
            continue;
        }
        let [p, q] = ends.map(|k| points[k]);
        if apart == [false; 2] && !meets(wrap.surface, p, q) {
            continue;
        }
        if is_through(wrap.surface, p, q) {
            through = true;
            continue;
        }
        count += 1;
        out.push(Obstacle {
            after,
            owner,
            frame,
            surface: wrap.surface,
            share: share(wrap.surface, p, q),
        });
    }
    let name = &wrap.name;
    if within {
        let message = format!(
            "the path has a point within `{name}` at the start: it does not wrap around it next to this point"
        );
        writer.tree.remark(wrap.spot, message);
    }
    if through {
        let message = format!(
            "the path goes straight through the middle of `{name}` at the start, where ways on all sides are as short: it does not wrap around it there"
        );
        writer.tree.remark(wrap.spot, message);
    }
    if behind {
        let message = format!(
            "the path has a point opposite to the `quadrant` of `{name}` at the start, where its way around is not unique: it does not wrap around it next to this point"
        );
        writer.tree.remark(wrap.spot, message);
    }
    if count > 1 {
        let message = format!(
            "the path may wrap around `{name}` between several pairs of its points at once: OpenSim takes one pair at a time"
        );
        writer.tree.remark(wrap.spot, message);
    }
    if count == 0 && !within && !behind {
        let message = format!(
            "`{name}` is left out of a path that does not come to touch it: between points that move with it, or from a point within it"
        );
        writer.tree.remark(wrap.spot, message);
    }
}

/// A point in coordinates in which the surface is a circle or a sphere about the origin, of radius
/// one.
fn scaled(surface: WrapSurface, x: Vec3) -> Vec3 {
    match surface {
        WrapSurface::Sphere(radius) => x / radius,
        WrapSurface::Cylinder { radius, .. } => Vec3::new(x.x, x.y, 0.0) / radius,
        WrapSurface::Ellipsoid(axes) => x.component_div(&axes),
    }
}

fn size(surface: WrapSurface, x: Vec3) -> f64 {
    scaled(surface, x).norm()
}

/// The place on the line between two points, from 0 to 1, that is next to the middle.
fn share(surface: WrapSurface, p: Vec3, q: Vec3) -> f64 {
    let [p, q] = [p, q].map(|x| scaled(surface, x));
    let d = q - p;
    let share = (-p.dot(&d) / d.norm_squared()).clamp(0.0, 1.0);
    if share.is_finite() { share } else { 0.0 }
}

/// Whether a line between points that do not move against the surface wraps around it.
fn meets(surface: WrapSurface, p: Vec3, q: Vec3) -> bool {
    let next = p + (q - p) * share(surface, p, q);
    let crosses_back = match surface {
        WrapSurface::Cylinder { over: Some(over), .. } => {
            let side = |x: Vec3| over.x * x.y - over.y * x.x;
            side(p) * side(q) < 0.0 && over.dot(&next) < 0.0
        }
        _ => false,
    };
    crosses_back || size(surface, next) < 1.0
}

/// Whether a line between points passes the middle of a surface without a side, so that no way around
/// it is the shortest one.
fn is_through(surface: WrapSurface, p: Vec3, q: Vec3) -> bool {
    let has_side = matches!(surface, WrapSurface::Cylinder { over: Some(_), .. });
    let next = p + (q - p) * share(surface, p, q);
    !has_side && size(surface, next) < MIDDLE
}

/// Whether a point is at the half plane that a line over a side of a cylinder must not cross.
fn is_behind(surface: WrapSurface, x: Vec3) -> bool {
    match surface {
        WrapSurface::Cylinder {
            radius,
            over: Some(over),
        } => over.dot(&x) <= 0.0 && (over.x * x.y - over.y * x.x).abs() <= BEHIND * radius,
        _ => false,
    }
}
