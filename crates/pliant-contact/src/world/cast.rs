//! Where two parts meet first along their velocities, by conservative advancement.
//!
//! From a distance `d` along the normal `n` two parts need at least `d / c` to meet, where `c`
//! bounds the speed at which their points can close along `n`: translations along it, and `|w| r`
//! for each that turns. So time advances by `d / c` as often as it takes (Mirtich 1996). For
//! translations it is exact wherever the normal stays. The same holds of parts that are in each
//! other, with their depth along the normal along which it is least: they are followed to where
//! they are too deep.

use pliant_dense::{Vec3, rotation};

use super::found::Pair;
use super::pieces::Placed;
use super::workspace::Narrow;
use crate::narrow::{Cylinder, Part, axis, collide};
use crate::shape::polytope::triangle_normal;

/// Advances before a near miss counts as an impact.
const MOST_ADVANCES: usize = 100;

/// Share of the depth that parts may have by which they may get deeper where they have it already.
const GROWN: f64 = 0.1;

/// Share of that depth within which it is reached.
const REACHED: f64 = 0.01;

/// How a part moves.
#[derive(Clone, Copy)]
pub(super) enum Course<'a> {
    Rigid(&'a Placed),
    /// Each corner with its own velocity.
    Points(&'a [Vec3]),
}

/// The outcome of a cast of two parts along their motion.
pub(super) enum Cast {
    /// Parts that are near already.
    Touching,
    /// Parts that do not meet within the horizon.
    Free,
    /// Parts that meet at this time (s); the touches are those of then, with the present gap.
    At(f64),
}

/// Room for the corners of a part that has moved.
#[derive(Clone, Debug, Default)]
pub(super) struct Moved {
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl Moved {
    /// The part at another time.
    fn part<'a>(&'a mut self, part: &Part<'a>, course: Course<'_>, time: f64, whole: bool) -> Part<'a> {
        self.points.clear();
        self.normals.clear();
        let mut cylinder = part.cylinder;
        match course {
            Course::Rigid(placed) => {
                let m = &placed.motion;
                let turn = rotation::matrix(rotation::exp(m.spin * time));
                let place = m.centre + m.velocity * time;
                self.points
                    .extend(part.points.iter().map(|p| place + turn * (p - m.centre)));
                self.normals.extend(part.normals.iter().map(|n| turn * n));
                cylinder = cylinder.map(|d| Cylinder {
                    axis: turn * d.axis,
                    side: turn * d.side,
                    other: turn * d.other,
                    ..d
                });
            }
            Course::Points(velocities) => {
                self.points
                    .extend(part.points.iter().zip(velocities).map(|(p, v)| p + v * time));
                if let [a, b, c] = self.points[..] {
                    let n = triangle_normal([a, b, c]);
                    self.normals.extend([n, -n]);
                }
            }
        }
        // Its neighbours have not moved with it, so they have no say; but a triangle with matter
        // behind it has one side.
        let one_sided = part.of.is_some_and(|(surface, _)| !surface.two_sided());
        let normals = if one_sided && !whole {
            &self.normals[..1]
        } else {
            &self.normals[..]
        };
        Part {
            points: &self.points,
            normals,
            cylinder,
            of: None,
            ..*part
        }
    }
}

impl Course<'_> {
    /// The velocity of a place that is `point` at a time, and what it was carried by until then.
    fn velocity(&self, part: &Part<'_>, point: Vec3, time: f64) -> Vec3 {
        match self {
            Course::Rigid(placed) => {
                let m = &placed.motion;
                m.velocity + m.spin.cross(&(point - m.centre - m.velocity * time))
            }
            Course::Points(velocities) => {
                let corner = |k: usize| part.points[k] + velocities[k] * time;
                let weights = match velocities.len() {
                    1 => [1.0, 0.0, 0.0],
                    2 => {
                        let t = crate::narrow::closest::on_segment(point, [corner(0), corner(1)]);
                        [1.0 - t, t, 0.0]
                    }
                    _ => crate::narrow::closest::on_triangle(point, [corner(0), corner(1), corner(2)]),
                };
                velocities.iter().zip(weights).map(|(v, w)| v * w).sum()
            }
        }
    }

    /// The point of now that has the lever arm of a point then: translated back, not turned back.
    fn back(&self, part: &Part<'_>, point: Vec3, time: f64) -> Vec3 {
        match self {
            Course::Rigid(placed) => point - placed.motion.velocity * time,
            Course::Points(_) => point - self.velocity(part, point, time) * time,
        }
    }

    /// Where a point of the core that is `point` at a time is at the start; and the place at the
    /// start by whose lever arm the angular velocity takes it, within the horizon, by as much as the
    /// part's turn does: that of half way. Its error is of third order in the angle.
    fn material(&self, part: &Part<'_>, point: Vec3, [time, horizon]: [f64; 2]) -> [Vec3; 2] {
        match self {
            Course::Rigid(placed) => {
                let m = &placed.motion;
                let turn = |angle: f64| rotation::matrix(rotation::exp(m.spin * angle));
                let arm = turn(-time) * (point - m.centre - m.velocity * time);
                [m.centre + arm, m.centre + turn(0.5 * horizon) * arm]
            }
            Course::Points(_) => [point - self.velocity(part, point, time) * time; 2],
        }
    }

    /// The greatest speed along a direction, and what turning can add.
    fn speed(&self, direction: Vec3) -> f64 {
        match self {
            Course::Rigid(placed) => {
                placed.motion.velocity.dot(&direction) + placed.motion.spin.norm() * placed.reach
            }
            Course::Points(velocities) => velocities
                .iter()
                .map(|v| v.dot(&direction))
                .fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// Follows two parts to their first impact within the horizon and adds its points to the touches.
pub(super) fn first(
    a: &Part<'_>,
    b: &Part<'_>,
    courses: [Course<'_>; 2],
    pair: Pair,
    narrow: &mut Narrow,
) -> Cast {
    let Narrow {
        moved,
        scratch,
        touches: out,
        ..
    } = narrow;
    let size = a.extent().min(b.extent()).max(a.radius.max(b.radius));
    let near = (0.5 * pair.margin).max(1e-6 * size);
    let [moved_a, moved_b] = moved;
    let mut time = 0.0;
    let mut advances = 0;
    loop {
        let (p, q) = (
            moved_a.part(a, courses[0], time, true),
            moved_b.part(b, courses[1], time, true),
        );
        let Some(axis) = axis::find(&p, &q) else {
            return Cast::Free;
        };
        let distance = axis.separation - a.radius - b.radius;
        if distance <= near {
            if advances == 0 {
                return Cast::Touching;
            }
            break;
        }
        let closing = courses[0].speed(axis.normal) + courses[1].speed(-axis.normal);
        if closing <= 0.0 {
            return Cast::Free;
        }
        time += (distance - near / 2.0) / closing;
        if time > pair.horizon {
            return Cast::Free;
        }
        advances += 1;
        if advances == MOST_ADVANCES {
            break;
        }
    }
    let start = out.len();
    {
        let (p, q) = (
            moved_a.part(a, courses[0], time, false),
            moved_b.part(b, courses[1], time, false),
        );
        collide(&p, &q, pair.margin + 2.0 * near, scratch, out);
    }
    for touch in &mut out[start..] {
        let [u, v] = [
            courses[0].velocity(a, touch.a, time),
            courses[1].velocity(b, touch.b, time),
        ];
        touch.a = courses[0].back(a, touch.a, time);
        touch.b = courses[1].back(b, touch.b, time);
        touch.gap -= time * touch.normal.dot(&(v - u));
    }
    // Away already, or behind a face without another side.
    out.retain({
        let mut k = 0;
        move |t| {
            k += 1;
            k <= start || t.gap.is_finite()
        }
    });
    if out.len() > start {
        Cast::At(time)
    } else {
        Cast::Free
    }
}

/// Follows two parts that move to where they are deeper in each other than `allowed` (m), or by a
/// tenth of it deeper than at the start if they are that deep there, and adds the points that are in
/// each other then to the touches. Those have the normal of then, the gap of the start, and points
/// with lever arms of half way, so that the velocities take the gap to that of the end but for terms
/// of third order. The time when the depth is reached, if it is within the horizon.
pub(super) fn too_deep(
    a: &Part<'_>,
    b: &Part<'_>,
    courses: [Course<'_>; 2],
    pair: Pair,
    allowed: f64,
    narrow: &mut Narrow,
) -> Option<f64> {
    let Narrow {
        moved: [moved_a, moved_b],
        scratch,
        touches: out,
        ..
    } = narrow;
    let (mut time, mut least) = (0.0, f64::NEG_INFINITY);
    for advance in 0..=MOST_ADVANCES {
        let (p, q) = (
            moved_a.part(a, courses[0], time, true),
            moved_b.part(b, courses[1], time, true),
        );
        let axis = axis::find(&p, &q)?;
        let separation = axis.separation - a.radius - b.radius;
        if advance == 0 {
            least = (-allowed).min(separation - GROWN * allowed);
        }
        let left = separation - least;
        if left <= REACHED * allowed || advance == MOST_ADVANCES {
            break;
        }
        let closing = courses[0].speed(axis.normal) + courses[1].speed(-axis.normal);
        if closing <= 0.0 {
            return None;
        }
        time += left / closing;
        if time > pair.horizon {
            return None;
        }
    }
    let start = out.len();
    let (p, q) = (
        moved_a.part(a, courses[0], time, false),
        moved_b.part(b, courses[1], time, false),
    );
    collide(&p, &q, 0.0, scratch, out);
    let times = [time, pair.horizon];
    for touch in &mut out[start..] {
        let n = touch.normal;
        let [u, x] = courses[0].material(a, touch.a - n * a.radius, times);
        let [v, y] = courses[1].material(b, touch.b + n * b.radius, times);
        touch.gap = (n.dot(&(v - u)) - a.radius - b.radius).max(0.0);
        touch.a = x + n * a.radius;
        touch.b = y - n * b.radius;
    }
    (out.len() > start).then_some(time)
}
