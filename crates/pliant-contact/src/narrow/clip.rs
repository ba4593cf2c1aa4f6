//! The points at which two parts touch along a normal.

use pliant_dense::Vec3;

use super::axis::{Axis, Source, TOUCH};
use super::closest::of_segments;
use super::part::Part;
use super::rim::{Circle, Rim, side_line, within};
use super::{Scratch, Touch};

/// A corner of a polygon that is clipped: its place, and what made it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    pub(crate) place: Vec3,
    pub(crate) id: u64,
    /// Whether the way to the next corner is an arc of a rim, not a straight edge.
    pub(crate) arc: bool,
}

impl Corner {
    pub(super) fn new(place: Vec3, id: u64) -> Self {
        Self {
            place,
            id,
            arc: false,
        }
    }
}

pub(super) const CUT: u64 = 1 << 63;
pub(super) const ENTERS: u64 = 1 << 62;
const FLIPPED: u64 = 1 << 61;
const CROSSED: u64 = 1 << 60;

/// Sine of the angle below which edges count as parallel, or as lying in the plane of contact.
pub(super) const LEVEL: f64 = 0.05;

/// Adds the points of contact along an axis that are nearer than `limit`.
pub(crate) fn manifold(
    a: &Part<'_>,
    b: &Part<'_>,
    axis: &Axis,
    limit: f64,
    scratch: &mut Scratch,
    out: &mut Vec<Touch>,
) {
    let (n, pair) = (axis.normal, PartPair { a, b });
    let any = match axis.source {
        Source::FaceA(_) | Source::CapA => against_face(a, b, n, axis.source, pair, limit, scratch, out),
        Source::FaceB(_) | Source::CapB => against_face(b, a, -n, axis.source, pair, limit, scratch, out),
        Source::Between => false,
    };
    // A triangle of a mesh that the other part is not over leaves it to its neighbours.
    let of_mesh = a.of.is_some() || b.of.is_some();
    if !any && (axis.source == Source::Between || !of_mesh) {
        between(a, b, axis, limit, out);
    }
}

/// Two parts in the order of their contact.
#[derive(Clone, Copy)]
struct PartPair<'a> {
    a: &'a Part<'a>,
    b: &'a Part<'a>,
}

/// The part of the facing polygon of `other` that lies over a face of `part` with outward normal
/// `n`; whether there is any.
fn against_face(
    part: &Part<'_>,
    other: &Part<'_>,
    n: Vec3,
    source: Source,
    pair: PartPair<'_>,
    limit: f64,
    scratch: &mut Scratch,
    out: &mut Vec<Touch>,
) -> bool {
    let Scratch {
        polygon,
        clipped,
        face,
    } = scratch;
    let PartPair { a, b } = pair;
    let circle = facing(other, -n, polygon);
    let slack = 1e-9 * (part.extent() + other.extent());
    let origin = match (source, &part.cylinder) {
        (Source::FaceA(k) | Source::FaceB(k), _) => {
            let place = |i: &u32| part.points[*i as usize];
            face.clear();
            face.extend(part.shape.faces[k].iter().map(|i| Corner::new(place(i), 0)));
            for k in 0..face.len() {
                let (start, end) = (face[k].place, face[(k + 1) % face.len()].place);
                let inward = n.cross(&(end - start));
                let length = inward.norm();
                if length > 0.0 {
                    let plane = CutPlane {
                        origin: start,
                        inward: inward / length,
                    };
                    clip(polygon, clipped, plane, circle.as_ref(), slack, k as u64);
                    std::mem::swap(polygon, clipped);
                }
            }
            face[0].place
        }
        (_, Some(cylinder)) => {
            let cap = Rim {
                cylinder,
                centre: part.points[0],
            };
            within(&cap, n, polygon, circle.as_ref(), slack, face, clipped);
            std::mem::swap(polygon, clipped);
            cap.circle(n).middle
        }
        _ => return false,
    };
    let flipped = matches!(source, Source::FaceB(_) | Source::CapB);
    for corner in polygon.iter() {
        let height = n.dot(&(corner.place - origin));
        let foot = corner.place - n * height;
        let touch = if flipped {
            Touch::new(a, b, corner.place, foot, -n, corner.id | FLIPPED)
        } else {
            Touch::new(a, b, foot, corner.place, n, corner.id)
        };
        if touch.gap <= limit {
            out.push(touch);
        }
    }
    !polygon.is_empty()
}

/// A plane through `origin` (m) with the unit vector `inward` to the side that is kept.
#[derive(Clone, Copy)]
struct CutPlane {
    origin: Vec3,
    inward: Vec3,
}

/// Cuts a polygon (or a segment, or a point) with a half space (Sutherland and Hodgman 1974), whose
/// edges may be arcs of a circle.
fn clip(
    from: &[Corner],
    to: &mut Vec<Corner>,
    CutPlane { origin, inward }: CutPlane,
    circle: Option<&Circle>,
    slack: f64,
    side: u64,
) {
    to.clear();
    let height = |p: Vec3| inward.dot(&(p - origin));
    let closed = from.len() > 2;
    for (k, corner) in from.iter().enumerate() {
        let here = height(corner.place);
        if k > 0 || closed {
            let last = &from[(k + from.len() - 1) % from.len()];
            let before = height(last.place);
            let (mut inside, ends) = (before >= -slack, here >= -slack);
            let cut = |place: Vec3, inside: bool, arc: bool| Corner {
                place,
                id: CUT
                    | if inside { 0 } else { ENTERS }
                    | side << 32
                    | (if inside { last.id } else { corner.id } & 0xffff_ffff),
                arc: arc && !inside,
            };
            let arc = circle.filter(|_| last.arc);
            let crossings = arc.map(|c| c.crossings(last.place, corner.place, origin, inward));
            match crossings {
                // An arc may leave and come back between two corners.
                Some(list) if (list.iter().flatten().count() % 2 == 1) == (inside != ends) => {
                    for place in list.into_iter().flatten() {
                        to.push(cut(place, inside, true));
                        inside = !inside;
                    }
                }
                _ if inside != ends => {
                    let t = (before / (before - here)).clamp(0.0, 1.0);
                    to.push(cut(
                        last.place + (corner.place - last.place) * t,
                        inside,
                        arc.is_some(),
                    ));
                }
                _ => {}
            }
        }
        if here >= -slack {
            to.push(*corner);
        }
    }
}

/// The face, segment or point of a part that faces a direction; the circle of the cap, if it is
/// one.
fn facing(part: &Part<'_>, direction: Vec3, out: &mut Vec<Corner>) -> Option<Circle> {
    out.clear();
    if let Some(cylinder) = &part.cylinder {
        let centre = part.points[0];
        if direction.dot(&cylinder.axis).abs() > 0.7 {
            let rim = Rim { cylinder, centre };
            rim.corners(direction, out);
            return Some(rim.circle(direction));
        }
        let line = side_line(cylinder, centre, direction);
        out.extend(line.iter().zip(0..).map(|(p, id)| Corner::new(*p, id)));
        return None;
    }
    let corner = |i: u32| Corner::new(part.points[i as usize], u64::from(i));
    let nearest = part.farthest(direction) as u32;
    let mut best: Option<(f64, usize)> = None;
    for (k, (face, n)) in part.shape.faces.iter().zip(part.normals).enumerate() {
        let value = n.dot(&direction);
        if face.contains(&nearest) && best.is_none_or(|b| value > b.0) {
            best = Some((value, k));
        }
    }
    match best {
        Some((_, k)) => out.extend(part.shape.faces[k].iter().map(|&i| corner(i))),
        None => out.extend((0..part.points.len() as u32).map(corner)),
    }
    None
}

/// All points of a part that can lie lowest: its corners, or of a cylinder both rims.
pub(crate) fn lowest(part: &Part<'_>, direction: Vec3, out: &mut Vec<Corner>) {
    out.clear();
    let Some(cylinder) = &part.cylinder else {
        out.extend(part.points.iter().zip(0..).map(|(p, id)| Corner::new(*p, id)));
        return;
    };
    let across = direction - cylinder.axis * direction.dot(&cylinder.axis);
    if across.norm() > 0.3 {
        // It lies more than it stands: the lowest point of each rim.
        out.extend(
            side_line(cylinder, part.points[0], across)
                .iter()
                .zip([8, 24])
                .map(|(p, id)| Corner::new(*p, id)),
        );
        return;
    }
    for cap in [-1.0, 1.0] {
        let first = out.len();
        let centre = part.points[0];
        Rim { cylinder, centre }.corners(across + cylinder.axis * (cap * 1e-3), out);
        for corner in &mut out[first..] {
            corner.id |= if cap > 0.0 { 16 } else { 0 };
        }
    }
}

/// Nearest points of the edges and corners that face each other; of parallel edges, the two ends of
/// where they run side by side.
fn between(a: &Part<'_>, b: &Part<'_>, axis: &Axis, limit: f64, out: &mut Vec<Touch>) {
    let n = axis.normal;
    let mut best: Option<(f64, bool, Pairs, u64)> = None;
    let size = a.extent() + b.extent();
    let (slack, touch) = (1e-9 * size, TOUCH * size);
    // Those that make the separation what it is are that far apart, along the normal.
    let wrong = |(x, y): &(Vec3, Vec3)| (y - x - n * axis.separation).norm();
    let mut both = false;
    outlines(a, n, |p, i| {
        outlines(b, -n, |q, j| {
            let (pairs, twin) = pair(p, q);
            let [first, second] = [wrong(&pairs[0]), wrong(&pairs[1])];
            // Edges that touch at both ends come before those that cross more exactly: the sides of
            // faces that open slowly do.
            let whole = twin && first.max(second) <= touch;
            let distance = if whole {
                first.max(second)
            } else {
                first.min(second)
            };
            let better = best.is_none_or(|(d, was_twin, ..)| {
                distance < d - slack || (distance < d + slack && twin && !was_twin)
            });
            if (whole && !both) || (whole == both && better) {
                both = whole;
                best = Some((distance, twin, pairs, CROSSED | u64::from(i) << 28 | u64::from(j)));
            }
        });
    });
    let Some((_, twin, pairs, id)) = best else { return };
    for (k, (pa, pb)) in pairs.into_iter().enumerate().take(if twin { 2 } else { 1 }) {
        // Edges that are not quite parallel: moved half way to each other, so that the points lie
        // on one normal and forces at them have no torque.
        let along = n.dot(&(pb - pa));
        let aside = (pb - pa) - n * if twin { along } else { axis.separation };
        let touch = Touch::new(a, b, pa + aside / 2.0, pb - aside / 2.0, n, id | (k as u64) << 59);
        if touch.gap <= limit {
            out.push(touch);
        }
    }
}

/// A point of each of two segments, twice.
type Pairs = [(Vec3, Vec3); 2];

/// Nearest points of two segments: two pairs if they run side by side.
fn pair(p: [Vec3; 2], q: [Vec3; 2]) -> (Pairs, bool) {
    let (d, e) = (p[1] - p[0], q[1] - q[0]);
    let (dd, ee) = (d.norm_squared(), e.norm_squared());
    if dd > 0.0 && ee > 0.0 && d.cross(&e).norm_squared() < LEVEL * LEVEL * dd * ee {
        let [s0, s1] = q.map(|x| (x - p[0]).dot(&d) / dd);
        let (low, high) = (s0.min(s1).clamp(0.0, 1.0), s0.max(s1).clamp(0.0, 1.0));
        if high - low > 1e-6 {
            let at = |s: f64| {
                let x = p[0] + d * s;
                (x, q[0] + e * ((x - q[0]).dot(&e) / ee).clamp(0.0, 1.0))
            };
            return ([at(low), at(high)], true);
        }
    }
    let (s, t) = of_segments(p, q);
    let points = (p[0] + d * s, q[0] + e * t);
    ([points, points], false)
}

/// The edges that lie in the plane of contact, nearly; without any, the farthest point.
fn outlines(part: &Part<'_>, n: Vec3, mut visit: impl FnMut([Vec3; 2], u32)) {
    if let Some(cylinder) = &part.cylinder {
        if n.dot(&cylinder.axis).abs() < LEVEL {
            visit(side_line(cylinder, part.points[0], n), 0);
        } else {
            visit([part.support(n); 2], 1);
        }
        return;
    }
    let farthest = part.farthest(n);
    let top = part.points[farthest].dot(&n);
    let slack = 1e-7 * part.extent();
    let mut any = false;
    for (k, e) in part.shape.edges.iter().enumerate() {
        let ends = e.map(|i| part.points[i as usize]);
        let [x, y] = ends.map(|p| top - p.dot(&n));
        if x.min(y) <= slack && x.max(y) <= LEVEL * (ends[1] - ends[0]).norm() {
            visit(ends, k as u32 + 1);
            any = true;
        }
    }
    if !any {
        visit([part.points[farthest]; 2], 1 << 27 | farthest as u32);
    }
}
