//! The points at which two parts touch along a normal.

use pliant_dense::Vec3;

use super::axis::{Axis, Source, TOUCH};
use super::closest::of_segments;
use super::part::{Drum, Part};
use super::{Scratch, Touch};

/// A corner of a polygon that is clipped: its place, and what made it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    pub(crate) place: Vec3,
    pub(crate) id: u64,
}

const CUT: u64 = 1 << 63;
const ENTERS: u64 = 1 << 62;
const FLIPPED: u64 = 1 << 61;
const CROSSED: u64 = 1 << 60;

/// Sine of the angle below which edges count as parallel, or as lying in the plane of contact.
pub(super) const LEVEL: f64 = 0.05;

/// Corners of the polygon that stands for the rim of a cylinder.
const RIM: usize = 8;

/// Adds the points of contact along an axis that are nearer than `limit`.
pub(crate) fn manifold(
    a: &Part<'_>,
    b: &Part<'_>,
    axis: &Axis,
    limit: f64,
    scratch: &mut Scratch,
    out: &mut Vec<Touch>,
) {
    let n = axis.normal;
    let any = match axis.source {
        Source::FaceA(_) | Source::CapA => against_face(a, b, n, axis.source, (a, b), limit, scratch, out),
        Source::FaceB(_) | Source::CapB => against_face(b, a, -n, axis.source, (a, b), limit, scratch, out),
        Source::Between => false,
    };
    // A triangle of a mesh that the other part is not over leaves it to its neighbours.
    let of_mesh = a.of.is_some() || b.of.is_some();
    if !any && (axis.source == Source::Between || !of_mesh) {
        between(a, b, axis, limit, out);
    }
}

/// The part of the facing polygon of `other` that lies over a face of `part` with outward normal `n`; whether there is any.
fn against_face(
    part: &Part<'_>,
    other: &Part<'_>,
    n: Vec3,
    source: Source,
    (a, b): (&Part<'_>, &Part<'_>),
    limit: f64,
    scratch: &mut Scratch,
    out: &mut Vec<Touch>,
) -> bool {
    let Scratch {
        polygon,
        clipped,
        face,
    } = scratch;
    face.clear();
    match (source, &part.drum) {
        (Source::FaceA(k) | Source::FaceB(k), _) => {
            face.extend(part.shape.faces[k].iter().map(|&i| Corner {
                place: part.points[i as usize],
                id: 0,
            }));
        }
        (_, Some(drum)) => rim(drum, part.points[0], n, true, face),
        _ => return false,
    }
    facing(other, -n, polygon);
    let slack = 1e-9 * (part.extent() + other.extent());
    for k in 0..face.len() {
        let (start, end) = (face[k].place, face[(k + 1) % face.len()].place);
        let inward = n.cross(&(end - start));
        let length = inward.norm();
        if length > 0.0 {
            clip(polygon, clipped, start, inward / length, slack, k as u64);
            std::mem::swap(polygon, clipped);
        }
    }
    let flipped = matches!(source, Source::FaceB(_) | Source::CapB);
    for corner in polygon.iter() {
        let height = n.dot(&(corner.place - face[0].place));
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

/// Cuts a polygon (or a segment, or a point) with a half space (Sutherland and Hodgman 1974).
fn clip(from: &[Corner], to: &mut Vec<Corner>, origin: Vec3, inward: Vec3, slack: f64, side: u64) {
    to.clear();
    let height = |c: &Corner| inward.dot(&(c.place - origin));
    let closed = from.len() > 2;
    for (k, corner) in from.iter().enumerate() {
        let here = height(corner);
        if k > 0 || closed {
            let last = &from[(k + from.len() - 1) % from.len()];
            let before = height(last);
            if (before < -slack) != (here < -slack) {
                let t = (before / (before - here)).clamp(0.0, 1.0);
                let enters = if before < here { ENTERS } else { 0 };
                let id = CUT
                    | enters
                    | side << 32
                    | (if before < here { corner.id } else { last.id } & 0xffff_ffff);
                to.push(Corner {
                    place: last.place + (corner.place - last.place) * t,
                    id,
                });
            }
        }
        if here >= -slack {
            to.push(*corner);
        }
    }
}

/// The face, segment or point of a part that faces a direction.
fn facing(part: &Part<'_>, direction: Vec3, out: &mut Vec<Corner>) {
    out.clear();
    if let Some(drum) = &part.drum {
        if direction.dot(&drum.axis).abs() > 0.7 {
            rim(drum, part.points[0], direction, false, out);
        } else {
            let line = side_line(drum, part.points[0], direction);
            out.extend(line.iter().zip(0..).map(|(p, id)| Corner { place: *p, id }));
        }
        return;
    }
    let corner = |i: u32| Corner {
        place: part.points[i as usize],
        id: u64::from(i),
    };
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
}

/// The line on the side of a cylinder that faces a direction.
fn side_line(drum: &Drum, centre: Vec3, direction: Vec3) -> [Vec3; 2] {
    let middle = centre + drum.rim(direction) * drum.radius;
    [middle - drum.axis * drum.half, middle + drum.axis * drum.half]
}

/// Points of the rim of the cap that faces a direction, in order: some fixed in the body, so that a cylinder that stands touches at
/// points that stay, and the outermost one, so that one that leans touches where it should.
pub(super) fn rim(drum: &Drum, centre: Vec3, direction: Vec3, wide: bool, out: &mut Vec<Corner>) {
    let sign = if direction.dot(&drum.axis) < 0.0 {
        -1.0
    } else {
        1.0
    };
    let middle = centre + drum.axis * (drum.half * sign);
    let across = direction - drum.axis * direction.dot(&drum.axis);
    let step = std::f64::consts::TAU / RIM as f64;
    let lowest = (across.norm() > 1e-9 && !wide).then(|| {
        let angle = across.dot(&drum.other).atan2(across.dot(&drum.side));
        if angle < 0.0 {
            angle + std::f64::consts::TAU
        } else {
            angle
        }
    });
    // As a face to clip by, the polygon is drawn about the circle in the order that its normal asks for.
    let scale = if wide {
        drum.radius / (step / 2.0).cos()
    } else {
        drum.radius
    };
    let place = |angle: f64| middle + (drum.side * angle.cos() + drum.other * angle.sin()) * scale;
    for k in 0..RIM {
        let angle = k as f64 * step;
        let near =
            |low: f64| (low - angle).abs() < 1e-3 || (low - angle - std::f64::consts::TAU).abs() < 1e-3;
        match lowest {
            Some(low) if near(low) => out.push(Corner {
                place: place(low),
                id: k as u64,
            }),
            _ => out.push(Corner {
                place: place(angle),
                id: k as u64,
            }),
        }
        if let Some(low) = lowest
            && low > angle + 1e-3
            && low < angle + step - 1e-3
        {
            out.push(Corner {
                place: place(low),
                id: RIM as u64,
            });
        }
    }
    if sign < 0.0 {
        out.reverse();
    }
}

/// All points of a part that can lie lowest: its corners, or of a cylinder both rims.
pub(crate) fn lowest(part: &Part<'_>, direction: Vec3, out: &mut Vec<Corner>) {
    out.clear();
    let Some(drum) = &part.drum else {
        out.extend(
            part.points
                .iter()
                .zip(0..)
                .map(|(p, id)| Corner { place: *p, id }),
        );
        return;
    };
    let across = direction - drum.axis * direction.dot(&drum.axis);
    if across.norm() > 0.3 {
        // It lies more than it stands: the lowest point of each rim.
        out.extend(
            side_line(drum, part.points[0], across)
                .iter()
                .zip([8, 24])
                .map(|(p, id)| Corner { place: *p, id }),
        );
        return;
    }
    for cap in [-1.0, 1.0] {
        let first = out.len();
        rim(
            drum,
            part.points[0],
            across + drum.axis * (cap * 1e-3),
            false,
            out,
        );
        for corner in &mut out[first..] {
            corner.id |= if cap > 0.0 { 16 } else { 0 };
        }
    }
}

/// Nearest points of the edges and corners that face each other; of parallel edges, the two ends of where they run side by side.
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
            // Edges that touch at both ends come before those that cross more exactly: the sides of faces that open slowly do.
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
        // Edges that are not quite parallel: moved half way to each other, so that the points lie on one normal and forces at them
        // have no torque.
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
    if let Some(drum) = &part.drum {
        if n.dot(&drum.axis).abs() < LEVEL {
            visit(side_line(drum, part.points[0], n), 0);
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
