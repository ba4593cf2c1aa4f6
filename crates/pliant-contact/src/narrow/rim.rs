//! The rims of a cylinder: circles, of which some points touch.

use pliant_dense::Vec3;
use std::f64::consts::TAU;

use super::clip::{CUT, Corner, ENTERS};
use super::part::Cylinder;

/// Points of a rim that are fixed in the body.
const POINTS: usize = 8;

/// Of points of the rim of a face by which something is clipped.
const OWN: u64 = 1 << 58;

/// Halvings of an arc in search of a crossing.
const HALVINGS: usize = 60;

/// A cylinder in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rim<'a> {
    pub(super) cylinder: &'a Cylinder,
    pub(super) centre: Vec3,
}

/// The edge of a cap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circle {
    pub(super) middle: Vec3,
    side: Vec3,
    other: Vec3,
    radius: f64,
}

/// The line on the side of a cylinder that faces a direction.
pub(super) fn side_line(cylinder: &Cylinder, centre: Vec3, direction: Vec3) -> [Vec3; 2] {
    let middle = centre + cylinder.rim(direction) * cylinder.radius;
    [
        middle - cylinder.axis * cylinder.half,
        middle + cylinder.axis * cylinder.half,
    ]
}

impl Circle {
    fn at(&self, angle: f64) -> Vec3 {
        self.middle + (self.side * angle.cos() + self.other * angle.sin()) * self.radius
    }

    /// Angle of a point on it, and the signed angle from there to another point, the shorter way:
    /// no arc is longer than an eighth of the circle.
    fn arc(&self, from: Vec3, to: Vec3) -> (f64, f64) {
        let angle = |p: Vec3| {
            let r = p - self.middle;
            r.dot(&self.other).atan2(r.dot(&self.side))
        };
        let (start, end) = (angle(from), angle(to));
        let way = end - start;
        (start, way - TAU * (way / TAU).round())
    }

    /// Where the arc between two of its points goes through a plane, in order: at most two points.
    pub(super) fn crossings(&self, from: Vec3, to: Vec3, origin: Vec3, normal: Vec3) -> [Option<Vec3>; 2] {
        let (start, way) = self.arc(from, to);
        // The height over the plane is `level + top cos(angle - at)`.
        let level = normal.dot(&(self.middle - origin));
        let (x, y) = (normal.dot(&self.side), normal.dot(&self.other));
        let (at, top) = (y.atan2(x), self.radius * x.hypot(y));
        if level.abs() >= top {
            return [None; 2];
        }
        let half = (-level / top).acos();
        let share = |angle: f64| {
            let turn = angle - start;
            (turn - TAU * (turn / TAU).round()) / way
        };
        let mut found = [at - half, at + half].map(|angle| (share(angle), angle));
        if found[1].0 < found[0].0 {
            found.swap(0, 1);
        }
        found.map(|(share, angle)| (share > 0.0 && share < 1.0).then(|| self.at(angle)))
    }
}

impl Rim<'_> {
    /// The edge of the cap that faces a direction.
    pub(super) fn circle(&self, direction: Vec3) -> Circle {
        let cylinder = self.cylinder;
        let sign = if direction.dot(&cylinder.axis) < 0.0 {
            -1.0
        } else {
            1.0
        };
        Circle {
            middle: self.centre + cylinder.axis * (cylinder.half * sign),
            side: cylinder.side,
            other: cylinder.other,
            radius: cylinder.radius,
        }
    }

    /// Points of that circle, in order about the direction: some fixed in the body, so that a
    /// cylinder that stands touches at points that stay, and the outermost one, so that one that
    /// leans touches where it should.
    pub(super) fn corners(&self, direction: Vec3, out: &mut Vec<Corner>) {
        let (cylinder, circle) = (self.cylinder, self.circle(direction));
        let across = direction - cylinder.axis * direction.dot(&cylinder.axis);
        let step = TAU / POINTS as f64;
        let lowest = (across.norm() > 1e-9).then(|| {
            let angle = across.dot(&cylinder.other).atan2(across.dot(&cylinder.side));
            if angle < 0.0 { angle + TAU } else { angle }
        });
        let mut push = |angle: f64, id: usize| {
            out.push(Corner {
                place: circle.at(angle),
                id: id as u64,
                arc: true,
            });
        };
        for k in 0..POINTS {
            let angle = k as f64 * step;
            let near = |low: f64| (low - angle).abs() < 1e-3 || (low - angle - TAU).abs() < 1e-3;
            push(lowest.filter(|low| near(*low)).unwrap_or(angle), k);
            if let Some(low) = lowest
                && low > angle + 1e-3
                && low < angle + step - 1e-3
            {
                push(low, POINTS);
            }
        }
        if direction.dot(&cylinder.axis) < 0.0 {
            out.reverse();
        }
    }
}

/// The part of a polygon (or a segment, or a point) that lies over the cap with the outward normal
/// `n`, as the points that span it: its corners over the cap, where its edges go over the rim, and
/// points of the polygon over those of the rim.
pub(super) fn within(
    cap: &Rim<'_>,
    n: Vec3,
    polygon: &[Corner],
    arcs: Option<&Circle>,
    slack: f64,
    own: &mut Vec<Corner>,
    to: &mut Vec<Corner>,
) {
    to.clear();
    let Circle { middle, radius, .. } = cap.circle(n);
    let flat = |p: Vec3| {
        let r = p - middle;
        r - n * n.dot(&r)
    };
    // Positive inside.
    let depth = |p: Vec3| radius - flat(p).norm();
    let closed = polygon.len() > 2;
    for (k, corner) in polygon.iter().enumerate() {
        if k > 0 || closed {
            let last = &polygon[(k + polygon.len() - 1) % polygon.len()];
            over_rim(
                last,
                corner,
                RimLimit { radius, slack },
                arcs,
                &flat,
                &depth,
                |place, enters| {
                    let of = if enters { corner.id | ENTERS } else { last.id };
                    to.push(Corner::new(place, CUT | of));
                },
            );
        }
        if depth(corner.place) >= -slack {
            to.push(Corner::new(corner.place, corner.id));
        }
    }
    if !closed {
        return;
    }
    let from = |c: &Corner| c.place - polygon[0].place;
    let sides = polygon.windows(2).map(|w| from(&w[0]).cross(&from(&w[1])));
    let normal = sides.sum::<Vec3>();
    let slope = normal.dot(&n);
    if slope.abs() <= 1e-6 * normal.norm() {
        return;
    }
    let tilt = (normal - n * slope) / slope;
    own.clear();
    cap.corners(n + tilt, own);
    for corner in own.iter() {
        let over = |k: usize| {
            let (p, q) = (polygon[k].place, polygon[(k + 1) % polygon.len()].place);
            (q - p).cross(&(corner.place - p)).dot(&n) * slope.signum() >= 0.0
        };
        if (0..polygon.len()).all(over) {
            let height = normal.dot(&(polygon[0].place - corner.place)) / slope;
            to.push(Corner::new(corner.place + n * height, OWN | corner.id));
        }
    }
}

/// The radius of a rim (m), and the depth (m) by which a corner may lie outside and still count as
/// inside.
#[derive(Clone, Copy)]
struct RimLimit {
    radius: f64,
    slack: f64,
}

/// Where the way from one corner to the next goes over the rim, and whether inwards.
fn over_rim(
    last: &Corner,
    corner: &Corner,
    RimLimit { radius, slack }: RimLimit,
    arcs: Option<&Circle>,
    flat: &dyn Fn(Vec3) -> Vec3,
    depth: &dyn Fn(Vec3) -> f64,
    mut visit: impl FnMut(Vec3, bool),
) {
    let (before, here) = (depth(last.place), depth(corner.place));
    let (inside, ends) = (before >= -slack, here >= -slack);
    if let Some(circle) = arcs.filter(|_| last.arc) {
        // Between circles there is no closed form that is worth it. An arc may come in and leave
        // again between two corners, or the other way round.
        let (start, way) = circle.arc(last.place, corner.place);
        let at = |share: f64| circle.at(start + share * way);
        let is_inside = |share: f64| depth(at(share)) >= 0.0;
        let crossing = |mut low: f64, mut high: f64, inside: bool| {
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                if is_inside(middle) == inside {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            at(low)
        };
        if inside != ends {
            visit(crossing(0.0, 1.0, inside), ends);
            return;
        }
        let sign = if inside { -1.0 } else { 1.0 };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let [x, y] = [(2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0];
            if sign * depth(at(x)) < sign * depth(at(y)) {
                low = x;
            } else {
                high = y;
            }
        }
        if is_inside(low) != inside {
            visit(crossing(0.0, low, inside), !inside);
            visit(crossing(low, 1.0, !inside), inside);
        }
        return;
    }
    // |p + t d|^2 = r^2.
    let (p, d) = (flat(last.place), flat(corner.place) - flat(last.place));
    let (square, half) = (d.norm_squared(), p.dot(&d));
    let root = half * half - square * (p.norm_squared() - radius * radius);
    if root <= 0.0 || square == 0.0 || inside && ends {
        return;
    }
    for (sign, enters) in [(-1.0, true), (1.0, false)] {
        let t = (-half + sign * root.sqrt()) / square;
        let wanted = if enters { !inside } else { !ends };
        if wanted && t > 0.0 && t < 1.0 {
            visit(last.place + (corner.place - last.place) * t, enters);
        }
    }
}
