//! The normal along which two convex parts are farthest apart, or least deep in each other.
//!
//! `s(n) = min n.b - max n.a` over the points of both cores. Its greatest value over unit normals
//! is the distance of the cores where they are apart and minus the depth where they are not, so
//! every candidate is measured by the same exact formula, and a normal that is not quite the best
//! gives a gap that is too small, never too great. Faces come before crossed edges, and both before
//! nearest points, unless the later is better by more than rounding, or, where the parts touch, by
//! more than 1e-5 of their size: a box at rest on a box, a little in it, keeps the normal of the
//! face. Where an edge touches an edge, and no face a face, the normal is between those of the
//! faces ([`super::corner`]).

use pliant_dense::Vec3;

use super::closest::{of_segments, on_segment, over_polygon, perpendicular};
use super::corner::corner_on_corner;
use super::part::Part;
use super::polish::polish;

/// Where a normal comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// A face of the first part.
    FaceA(usize),
    /// A face of the second part.
    FaceB(usize),
    /// A cap of the first part, a cylinder.
    CapA,
    /// A cap of the second part, a cylinder.
    CapB,
    /// Edges, corners, curved sides.
    Between,
}

/// A normal from the first part to the second, with the separation of the cores along it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) normal: Vec3,
    pub(crate) separation: f64,
    pub(crate) source: Source,
    /// Whether a normal that a neighbour of a triangle forbids is less than half as deep, so that
    /// the neighbour knows better.
    pub(crate) doubtful: bool,
}

/// Separation, as a share of the size of the parts, within which they touch.
pub(crate) const TOUCH: f64 = 1e-5;

/// Above this product of edges the distance is left to the iterative algorithm, which does not look
/// at all pairs.
const MOST_PAIRS: usize = 2000;
/// Above this product of edge directions so is the depth.
const MOST_DIRECTIONS: usize = 400;

/// The best normal; none if the second part lies wholly behind a triangle that has matter behind
/// it, or the nearest point of a triangle belongs to one of its neighbours.
pub(crate) fn find(a: &Part<'_>, b: &Part<'_>) -> Option<Axis> {
    let size = a.extent() + b.extent();
    // The error by rounding of a separation, for parts of this size at this place.
    let noise = 1e-14 * (size + a.points[0].amax() + b.points[0].amax());
    let round = a.radius + b.radius > 0.0;
    let mut best = Best {
        axis: None,
        barred: f64::NEG_INFINITY,
        touch: if round { 0.0 } else { TOUCH * size },
        slack: if round { 10.0 * noise } else { 1e-10 * size },
    };
    faces(a, b, &mut best);
    let general = a.cylinder.is_some() || b.cylinder.is_some() || many(a, b);
    if general {
        curved(a, b, &mut best);
    } else {
        crossed(a, b, &mut best);
    }
    // A normal that a neighbour forbids still keeps the parts from being in each other.
    if general
        && best.barred > noise
        && best
            .axis
            .is_none_or(|axis| best.barred > axis.separation + best.slack)
    {
        return None;
    }
    let apart = best.barred > noise || best.axis.is_none_or(|axis| axis.separation > noise);
    let apart = apart || thin_behind(a, b) || thin_behind(b, a) || in_one_plane(a, b, noise, &best);
    if apart && !general && !settled(a, b, best.axis.as_ref()) {
        nearest(a, b, noise, &mut best)?;
    }
    if let Some(axis) = best.axis
        && axis.separation <= noise
        && (behind(a, b, &axis)
            || behind(
                b,
                a,
                &Axis {
                    normal: -axis.normal,
                    ..axis
                },
            ))
    {
        return None;
    }
    let axis = best.axis.unwrap_or_else(|| arbitrary(a, b));
    let axis = corner_on_corner(a, b, axis, best.touch).unwrap_or(axis);
    let doubtful = axis.separation < -best.slack && best.barred > axis.separation / 2.0;
    Some(Axis { doubtful, ..axis })
}

/// Whether the plane of a face of which `takes` is true keeps two parts apart: to within the first
/// slack (m) now, and to within the second after `b` has moved by `drift` against `a`. A box that
/// slides over tiles does not meet the side of the next tile, however near it is.
pub(crate) fn stay_apart(
    a: &Part<'_>,
    b: &Part<'_>,
    drift: Vec3,
    [now, then]: [f64; 2],
    takes: impl Fn(Vec3) -> bool,
) -> bool {
    let apart = |n: Vec3| {
        let separation = -b.reach(-n) - a.reach(n) - a.radius - b.radius;
        separation >= -now && separation + n.dot(&drift) >= -then && takes(n)
    };
    let faces = |part: &Part<'_>| part.normals.len();
    (0..faces(a)).any(|k| front(a, k) && a.normals[k] != Vec3::zeros() && apart(a.normals[k]))
        || (0..faces(b)).any(|k| front(b, k) && b.normals[k] != Vec3::zeros() && apart(-b.normals[k]))
}

fn many(a: &Part<'_>, b: &Part<'_>) -> bool {
    a.shape.edges.len() * b.shape.edges.len() > MOST_PAIRS
        || a.shape.directions.len() * b.shape.directions.len() > MOST_DIRECTIONS
}

struct Best {
    axis: Option<Axis>,
    /// The difference (m) that does not count as better.
    slack: f64,
    /// The slack (m) where parts touch: bodies at rest overlap by what the solver leaves or the
    /// user allows, and a face is to stay a face.
    touch: f64,
    /// The greatest separation along normals that neighbours of a triangle forbid.
    barred: f64,
}

impl Best {
    fn offer_if(&mut self, permitted: bool, normal: Vec3, separation: f64, source: Source) {
        if permitted {
            self.offer(normal, separation, source);
        } else {
            self.barred = self.barred.max(separation);
        }
    }

    /// Takes a candidate that is better than rounding explains, and by a hundredth of the depth
    /// where there is one.
    fn offer(&mut self, normal: Vec3, separation: f64, source: Source) {
        let take = self.axis.is_none_or(|axis| {
            let same = std::mem::discriminant(&axis.source) == std::mem::discriminant(&source);
            let margin = if same {
                0.0
            } else {
                let touching = axis.separation.abs() <= self.touch && separation <= self.touch;
                let slack = if touching { self.touch } else { self.slack };
                slack + 0.01 * (-axis.separation).max(0.0)
            };
            separation > axis.separation + margin
        });
        if take && separation.is_finite() {
            self.axis = Some(Axis {
                normal,
                separation,
                source,
                doubtful: false,
            });
        }
    }
}

fn faces(a: &Part<'_>, b: &Part<'_>, best: &mut Best) {
    for (k, n) in a.normals.iter().enumerate() {
        if *n != Vec3::zeros() && front(a, k) {
            let offset = n.dot(&a.points[a.shape.faces[k][0] as usize]);
            best.offer_if(b.permits_face(-n), *n, -b.reach(-n) - offset, Source::FaceA(k));
        }
    }
    for (k, n) in b.normals.iter().enumerate() {
        if *n != Vec3::zeros() && front(b, k) {
            let offset = n.dot(&b.points[b.shape.faces[k][0] as usize]);
            best.offer_if(a.permits_face(-n), -n, -a.reach(-n) - offset, Source::FaceB(k));
        }
    }
}

/// Whether a face of a triangle of a mesh has no matter on its side.
fn front(part: &Part<'_>, face: usize) -> bool {
    face == 0 || part.of.is_none_or(|(surface, _)| surface.two_sided())
}

/// Whether a part is a triangle with matter behind it and the other a point or a segment, which no
/// other axis may keep apart.
fn thin_behind(part: &Part<'_>, other: &Part<'_>) -> bool {
    part.of.is_some_and(|(surface, _)| !surface.two_sided())
        && other.normals.is_empty()
        && other.cylinder.is_none()
}

/// Whether parts without a volume may lie in one plane: its normal is the only one that crossed
/// edges and faces give, along which they are not apart however far they are within it.
fn in_one_plane(a: &Part<'_>, b: &Part<'_>, noise: f64, best: &Best) -> bool {
    let is_flat = |part: &Part<'_>| part.cylinder.is_none() && part.normals.len() <= 2;
    // Two lines have no face that an edge goes through.
    let lines = a.normals.is_empty() && b.normals.is_empty();
    let touch = best.axis.is_some_and(|axis| axis.separation >= -noise);
    is_flat(a) && is_flat(b) && (lines || touch)
}

/// Whether `b` lies wholly behind the face of a triangle `a` with matter behind it.
fn behind(a: &Part<'_>, b: &Part<'_>, axis: &Axis) -> bool {
    a.of.is_some_and(|(surface, _)| !surface.two_sided())
        && b.reach(axis.normal) < a.reach(axis.normal) - b.extent() * 1e-9
        && b.reach(axis.normal) + b.radius < a.reach(axis.normal)
}

fn crossed(a: &Part<'_>, b: &Part<'_>, best: &mut Best) {
    for da in &a.shape.directions {
        let d = along(a, *da);
        for db in &b.shape.directions {
            let e = along(b, *db);
            let cross = d.cross(&e);
            let square = cross.norm_squared();
            if square <= 1e-12 * d.norm_squared() * e.norm_squared() {
                continue;
            }
            let n = cross / square.sqrt();
            for n in [n, -n] {
                let separation = -b.reach(-n) - a.reach(n);
                let promising = best.axis.is_none_or(|axis| separation > axis.separation);
                if promising {
                    best.offer_if(a.permits(n) && b.permits(-n), n, separation, Source::Between);
                }
            }
        }
    }
}

fn along(part: &Part<'_>, edge: [u32; 2]) -> Vec3 {
    part.points[edge[1] as usize] - part.points[edge[0] as usize]
}

/// Whether a corner over a face makes the normal of the face the exact one.
fn settled(a: &Part<'_>, b: &Part<'_>, axis: Option<&Axis>) -> bool {
    let over = |face: usize, part: &Part<'_>, other: &Part<'_>| {
        let n = part.normals[face];
        let corner = other.points[other.farthest(-n)];
        over_polygon(corner, &part.shape.faces[face], part.points, n)
    };
    match axis.map(|axis| axis.source) {
        Some(Source::FaceA(face)) => over(face, a, b),
        Some(Source::FaceB(face)) => over(face, b, a),
        _ => false,
    }
}

/// The normal between nearest points of parts that are apart; none if that of a triangle belongs to
/// a neighbour.
fn nearest(a: &Part<'_>, b: &Part<'_>, noise: f64, best: &mut Best) -> Option<()> {
    let mut pair = (f64::INFINITY, Vec3::zeros(), Vec3::zeros(), true);
    let mut offer = |pa: Vec3, pb: Vec3, front: bool| {
        let square = (pb - pa).norm_squared();
        if square < pair.0 {
            pair = (square, pa, pb, front);
        }
    };
    for (k, face) in a.shape.faces.iter().take(a.normals.len()).enumerate() {
        for p in b.points {
            if let Some(q) = over(a, k, face, *p) {
                offer(q, *p, front(a, k));
            }
        }
    }
    for (k, face) in b.shape.faces.iter().take(b.normals.len()).enumerate() {
        for p in a.points {
            if let Some(q) = over(b, k, face, *p) {
                offer(*p, q, front(b, k));
            }
        }
    }
    let ends = |part: &Part<'_>, e: &[u32; 2]| e.map(|i| part.points[i as usize]);
    for e in &a.shape.edges {
        for f in &b.shape.edges {
            let (p, q) = (ends(a, e), ends(b, f));
            let (s, t) = of_segments(p, q);
            offer(p[0] + (p[1] - p[0]) * s, q[0] + (q[1] - q[0]) * t, true);
        }
    }
    if b.shape.edges.is_empty() {
        for e in &a.shape.edges {
            let p = ends(a, e);
            offer(
                p[0] + (p[1] - p[0]) * on_segment(b.points[0], p),
                b.points[0],
                true,
            );
        }
    }
    if a.shape.edges.is_empty() {
        for e in &b.shape.edges {
            let p = ends(b, e);
            offer(
                a.points[0],
                p[0] + (p[1] - p[0]) * on_segment(a.points[0], p),
                true,
            );
        }
    }
    if a.shape.edges.is_empty() && b.shape.edges.is_empty() {
        offer(a.points[0], b.points[0], true);
    }
    let distance = pair.0.sqrt();
    // Over the back of a face with matter behind it: as deep as the face says.
    if distance > noise && pair.3 {
        let normal = (pair.2 - pair.1) / distance;
        if !(a.permits(normal) && b.permits(-normal)) {
            return None;
        }
        best.offer(normal, distance, Source::Between);
    }
    Some(())
}

/// The foot of a corner over a face, if it is in front of it.
fn over(part: &Part<'_>, k: usize, face: &[u32], p: Vec3) -> Option<Vec3> {
    let n = part.normals[k];
    let height = n.dot(&(p - part.points[face[0] as usize]));
    (height >= 0.0 && n != Vec3::zeros() && over_polygon(p, face, part.points, n)).then(|| p - n * height)
}

/// Cylinders and hulls of many faces: directions that closed forms give, then those of the
/// iterative algorithm.
fn curved(a: &Part<'_>, b: &Part<'_>, best: &mut Best) {
    let measure = |n: Vec3, source: Source, best: &mut Best| {
        let separation = -b.reach(-n) - a.reach(n);
        best.offer_if(a.permits(n) && b.permits(-n), n, separation, source);
    };
    for (part, other, cap, sign) in [(a, b, Source::CapA, 1.0), (b, a, Source::CapB, -1.0)] {
        let Some(cylinder) = &part.cylinder else { continue };
        measure(cylinder.axis, cap, best);
        measure(-cylinder.axis, cap, best);
        let lines = other.shape.directions.iter().map(|d| along(other, *d));
        for line in lines.chain(other.cylinder.map(|cylinder| cylinder.axis)) {
            let cross = cylinder.axis.cross(&line);
            if cross.norm_squared() > 1e-12 * line.norm_squared() {
                measure(cross.normalize(), Source::Between, best);
                measure(-cross.normalize(), Source::Between, best);
            }
        }
        // From the nearest point of the cylinder to a corner, or across to a parallel axis.
        for p in other.points {
            let from = p - part.points[0];
            let height = from.dot(&cylinder.axis);
            let across = from - cylinder.axis * height;
            let inside = if across.norm() > cylinder.radius {
                across.normalize() * cylinder.radius
            } else {
                across
            };
            let foot = inside + cylinder.axis * height.clamp(-cylinder.half, cylinder.half);
            for d in [from - foot, across] {
                if d.norm() > 1e-14 * (cylinder.radius + cylinder.half) {
                    measure(d.normalize() * sign, Source::Between, best);
                }
            }
        }
    }
    let middle = (a.centre() + b.centre()) / 2.0;
    if let Some(n) = crate::parry::normal(|d| a.support(d), |d| b.support(d), middle) {
        measure(n, Source::Between, best);
        measure(polish(a, b, n), Source::Between, best);
    }
}

/// Cores that meet in every direction (two centres in one place, segments in one line): across what
/// there is, else up.
fn arbitrary(a: &Part<'_>, b: &Part<'_>) -> Axis {
    let edge = [a, b]
        .into_iter()
        .find_map(|part| part.shape.edges.first().map(|e| along(part, *e)));
    let n = edge.map_or(Vec3::z(), perpendicular);
    Axis {
        normal: n,
        separation: -b.reach(-n) - a.reach(n),
        source: Source::Between,
        doubtful: false,
    }
}
