//! The shortest way from one point to another around an ellipsoid, in its own axes.
//!
//! In coordinates divided by the semi-axes, `x = a u`, the surface is the unit sphere, and a line
//! meets it where it meets the surface. A rope from `p` leaves to the surface along the circle of
//! points `u` with `u . p/a = 1`, which an angle counts, follows a geodesic, and goes on straight
//! where `u . q/a = 1`. With the angle on the unit sphere as parameter a geodesic is
//! `u'' = -g + (g . u') u'` with `g = (u/a^2)/(u . u/a^2)`. Neighbours of it are apart by `y` with
//! `d^2 y/ds^2 = -K y` over the length `s`, with the curvature `K = 1/(abc u . u/a^2)^2`. The
//! method to find the angle, and the use of these fields for it, are those of Scholz, Sherman,
//! Stavness, Delp and Kecskemethy, A fast multi-obstacle muscle wrapping method using natural
//! geodesic variations, Multibody System Dynamics 36 (2016).

use super::surface::{Around, straight};
use pliant_dense::{Mat3, Vec3};
use std::f64::consts::{PI, TAU};

const INSIDE: &str = "an end of a stretch of the rope is not outside of an ellipsoid that it goes around";
const NOT_FOUND: &str = "the shortest way around an ellipsoid between two points of the rope was not found";
const ALIKE: &str = "two ways around an ellipsoid are as short, so that the rope could be on either: put a point of the rope on one";

/// Rows of the extrapolation of a step: by 2, 4, .. parts.
const ROWS: usize = 6;
/// The most that the last row may change, of numbers of size one.
const ERROR: f64 = 2e-15;
/// The longest part of a geodesic that is taken in one step, as an angle on the unit sphere.
const LONGEST: f64 = 0.4;
/// Steps of one geodesic after which it is given up.
const MOST_STEPS: usize = 2000;
/// Steps of Newton's method likewise.
const MOST_CORRECTIONS: usize = 40;
/// Corrections of angles (rad) that are small enough if no further ones make them smaller.
const ACCURACY: f64 = 1e-11;
/// Relative difference of lengths of which rounding decides.
const SAME: f64 = 1e-13;
/// Halvings of the angle between two rough geodesics that pass an end on different sides.
const BISECTIONS: usize = 6;
/// Most ways that are looked at.
const MOST_WAYS: usize = 16;

/// An ellipsoid in units of its largest semi-axis.
struct Ellipsoid {
    axes: Vec3,
    squares: Vec3,
    product: f64,
}

/// A point of a geodesic: on the unit sphere, its direction there, the length up to here, and two
/// fields `y` with their slopes: those that start as (1, 0) and (0, 1).
type Point = [f64; 11];

/// A way between both ends.
struct Way {
    end: Point,
    /// Point of contact, tangent, normal and the direction across, where it begins and ends.
    first: Corner,
    last: Corner,
    /// Lengths of the straight parts.
    free: [f64; 2],
    /// Distance across at the second end by a unit turn at the first one.
    spread: f64,
    length: f64,
}

#[derive(Clone, Copy)]
struct Corner {
    place: Vec3,
    along: Vec3,
    normal: Vec3,
    across: Vec3,
}

/// The shortest way, with its derivatives. What is not found from one end may be from the other.
pub(super) fn around(semi_axes: [f64; 3], p: Vec3, q: Vec3) -> Result<Around, &'static str> {
    match from_first(semi_axes, p, q) {
        Err(NOT_FOUND) => from_first(semi_axes, q, p).map(|way| {
            let ([u, w], [qq, qp, pp], [t, s]) = (way.slopes, way.second, way.free);
            Around {
                slopes: [w, u],
                second: [pp, qp.transpose(), qq],
                free: [s, t],
                ..way
            }
        }),
        found => found,
    }
}

/// Finds it by ways that are counted at the first end.
fn from_first(semi_axes: [f64; 3], p: Vec3, q: Vec3) -> Result<Around, &'static str> {
    let axes = Vec3::from(semi_axes);
    let [a, b] = [p, q].map(|x| x.component_div(&axes));
    let outside = |x: Vec3| x.norm() > 1.0 && x.norm() < f64::MAX;
    if !outside(a) || !outside(b) {
        return Err(INSIDE);
    }
    let d = b - a;
    let share = -a.dot(&d) / d.norm_squared();
    if !(share > 0.0 && share < 1.0 && (a + d * share).norm() < 1.0) {
        return straight(p, q);
    }
    let unit = axes.amax();
    let surface = Ellipsoid::new(axes / unit);
    let Some(way) = surface.shortest(Start::new(a, b), b)? else {
        return straight(p, q);
    };
    let (first, last) = (way.first, way.last);
    let [_, _, _, _, _, _, _, c, c_slope, e, e_slope] = way.end;
    let [t_p, t_q] = way.free;
    // Slopes of the fields that are zero at one end, with a unit slope there, at the other one.
    let (slope_q, slope_p) = (c_slope * t_p + e_slope, c_slope * t_q + c);
    // The Wronskian of both fields, on which the symmetry of the second derivative rests.
    debug_assert!((c * e_slope - c_slope * e - 1.0).abs() < 1e-9);
    let own = |at: &Corner, t: f64, slope: f64| -> Mat3 {
        let across = at.across * at.across.transpose();
        (at.normal * at.normal.transpose() / t + across * (slope / way.spread)) / unit
    };
    Ok(Around {
        length: way.length * unit,
        wrapped: true,
        slopes: [-first.along, (q / unit - last.place).normalize()],
        second: [
            own(&first, t_p, slope_p),
            first.across * last.across.transpose() * (-1.0 / (way.spread * unit)),
            own(&last, t_q, slope_q),
        ],
        free: way.free.map(|t| t * unit),
    })
}

/// The circle on the unit sphere on which ropes from an end come to touch it.
struct Start {
    end: Vec3,
    centre: Vec3,
    /// The radius, towards the other end and across.
    radii: [Vec3; 2],
}

impl Start {
    fn new(p: Vec3, q: Vec3) -> Self {
        let distance = p.norm();
        let e = p / distance;
        // Any direction across will do if both ends are opposite to each other.
        let towards = |v: Vec3| v - e * e.dot(&v);
        let f = towards(q);
        let f = if f.norm() > 1e-8 * q.norm() {
            f
        } else {
            towards(Vec3::ith(e.iamin(), 1.0))
        };
        let f = towards(f.normalize()).normalize();
        let radius = ((1.0 - 1.0 / distance) * (1.0 + 1.0 / distance)).sqrt();
        Self {
            end: p,
            centre: e / distance,
            radii: [f * radius, e.cross(&f) * radius],
        }
    }

    /// The point at an angle, and its derivative over the angle.
    fn at(&self, angle: f64) -> (Vec3, Vec3) {
        let (sine, cosine) = angle.sin_cos();
        let [f, h] = self.radii;
        (self.centre + f * cosine + h * sine, h * cosine - f * sine)
    }

    /// The start of the geodesic there.
    fn point(&self, angle: f64) -> Point {
        let u = self.at(angle).0;
        let w = (u - self.end).normalize();
        [u.x, u.y, u.z, w.x, w.y, w.z, 0.0, 1.0, 0.0, 0.0, 1.0]
    }
}

fn vectors(x: &[f64]) -> (Vec3, Vec3) {
    (Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5]))
}

impl Ellipsoid {
    fn new(axes: Vec3) -> Self {
        Self {
            axes,
            squares: axes.component_mul(&axes),
            product: axes.x * axes.y * axes.z,
        }
    }

    /// `u''`, and `u . u/a^2`.
    fn turning(&self, u: Vec3, w: Vec3) -> (Vec3, f64) {
        let g = u.component_div(&self.squares);
        let weight = u.dot(&g);
        let g = g / weight;
        (w * g.dot(&w) - g, weight)
    }

    fn slopes(&self, x: &Point) -> Point {
        let (u, w) = vectors(x);
        let (turning, weight) = self.turning(u, w);
        let speed = w.component_mul(&self.axes).norm();
        let root = self.product * weight;
        let pull = -speed / (root * root);
        [
            w.x,
            w.y,
            w.z,
            turning.x,
            turning.y,
            turning.z,
            speed,
            speed * x[8],
            pull * x[7],
            speed * x[10],
            pull * x[9],
        ]
    }

    /// The increments of a step of this angle, by extrapolation of the midpoint rule over its even powers,
    /// and how much the last row changed.
    fn step(&self, x: &Point, h: f64) -> (Point, f64) {
        let first = self.slopes(x);
        let mut table = [[0.0; 11]; ROWS];
        let mut change = 0.0;
        for row in 0..ROWS {
            let parts = 2 * (row + 1);
            let part = h / parts as f64;
            // Increments, for fewer roundings.
            let mut before = [0.0; 11];
            let mut here = first.map(|slope| slope * part);
            for _ in 1..parts {
                let mut at = *x;
                for (a, d) in at.iter_mut().zip(here) {
                    *a += d;
                }
                let slopes = self.slopes(&at);
                for ((b, n), slope) in before.iter_mut().zip(&mut here).zip(slopes) {
                    let next = *b + 2.0 * part * slope;
                    *b = std::mem::replace(n, next);
                }
            }
            let mut current = here;
            for column in 0..row {
                // Of `row + 1` parts to `row - column` of them, squared.
                let ratio = (row + 1) as f64 / (row - column) as f64;
                let factor = 1.0 / (ratio * ratio - 1.0);
                let (mut next, mut last) = (current, 0.0f64);
                for ((n, c), t) in next.iter_mut().zip(current).zip(&mut table[column]) {
                    let add = (c - *t) * factor;
                    *n += add;
                    *t = c;
                    last = last.max(add.abs());
                }
                current = next;
                change = last;
            }
            table[row] = current;
        }
        (table[ROWS - 1], change)
    }

    /// The geodesic from a point by an angle; none if it takes too many steps, or if neighbours
    /// from an end that is `free` before it meet it on the way.
    fn follow(&self, start: Point, angle: f64, free: f64) -> Option<Point> {
        let (mut x, mut done, mut h) = (start, 0.0, LONGEST);
        for _ in 0..MOST_STEPS {
            let left = angle - done;
            if left <= 0.0 {
                return Some(x);
            }
            let own = h.min(left);
            let (add, change) = self.step(&x, own);
            if change > ERROR {
                h = 0.5 * own;
                continue;
            }
            for (x, d) in x.iter_mut().zip(add) {
                *x += d;
            }
            let (u, w) = vectors(&x);
            let u = u.normalize();
            let w = (w - u * u.dot(&w)).normalize();
            (x[0], x[1], x[2]) = (u.x, u.y, u.z);
            (x[3], x[4], x[5]) = (w.x, w.y, w.z);
            if x[7] * free + x[9] <= 0.0 {
                return None;
            }
            done = if own < left { done + own } else { angle };
            if change < 0.01 * ERROR {
                h = LONGEST.min(1.5 * h);
            }
        }
        None
    }

    fn corner(&self, x: &Point) -> Corner {
        let (u, w) = vectors(x);
        let along = w.component_mul(&self.axes).normalize();
        let normal = u.component_div(&self.axes).normalize();
        Corner {
            place: u.component_mul(&self.axes),
            along,
            normal,
            across: along.cross(&normal),
        }
    }

    /// The way that Newton's method finds from an angle on the circle and one along the geodesic.
    fn improved(&self, start: &Start, q: Vec3, mut angle: f64, mut turn: f64) -> Option<Way> {
        let (target, from) = (q.component_mul(&self.axes), start.end.component_mul(&self.axes));
        let mut last = f64::INFINITY;
        for _ in 0..MOST_CORRECTIONS {
            let begin = start.point(angle);
            let first = self.corner(&begin);
            let t_p = (first.place - from).norm();
            let end = self.follow(begin, turn, t_p)?;
            let at = self.corner(&end);
            let ahead = target - at.place;
            let t_q = ahead.norm();
            let [_, _, _, _, _, _, s, c, c_slope, e, e_slope] = end;
            let (y, slope) = (c * t_p + e, c_slope * t_p + e_slope);
            let spread = y + t_q * slope;
            if spread <= 0.0 || ahead.dot(&at.along) <= 0.0 {
                return None;
            }
            // The end is missed across by a turn of the first straight part; the second one begins
            // where the tangent is level with the end.
            let moved = start.at(angle).1.component_mul(&self.axes).dot(&first.across);
            let (u, w) = vectors(&end);
            let corrections = [
                ahead.dot(&at.across) / spread * t_p / moved,
                (1.0 - q.dot(&u)) / q.dot(&w),
            ];
            let size = corrections[0].abs().max(corrections[1].abs());
            if !size.is_finite() {
                return None;
            }
            if size <= f64::EPSILON || (size < ACCURACY && size >= 0.5 * last) {
                return Some(Way {
                    end,
                    first,
                    last: at,
                    free: [t_p, t_q],
                    spread,
                    length: t_p + s + t_q,
                });
            }
            last = size;
            angle += corrections[0].clamp(-0.3, 0.3);
            turn = (turn + corrections[1].clamp(-0.5, 0.5)).max(0.0);
        }
        None
    }

    /// Roughly, where the geodesic from an angle on the circle first comes to where it may leave to
    /// the end `q`, or passes it: on which side of `q`, by which angle, and after which length.
    fn rough(&self, start: &Start, q: Vec3, angle: f64, h: f64) -> Option<(f64, f64)> {
        let x = start.point(angle);
        let (mut u, mut w) = vectors(&x);
        let slopes = |u: Vec3, w: Vec3| (w, self.turning(u, w).0);
        let mut turn = 0.0;
        let mut level = q.dot(&u) - 1.0;
        let mut rise = q.dot(&w);
        while turn < TAU {
            let (a, b) = slopes(u, w);
            let (c, d) = slopes(u + a * (0.5 * h), w + b * (0.5 * h));
            let (e, f) = slopes(u + c * (0.5 * h), w + d * (0.5 * h));
            let (i, j) = slopes(u + e * h, w + f * h);
            let next_u = (u + (a + (c + e) * 2.0 + i) * (h / 6.0)).normalize();
            let next_w = w + (b + (d + f) * 2.0 + j) * (h / 6.0);
            let next_w = (next_w - next_u * next_u.dot(&next_w)).normalize();
            let (next_level, next_rise) = (q.dot(&next_u) - 1.0, q.dot(&next_w));
            let share = if next_level >= 0.0 {
                level / (level - next_level)
            } else if rise > 0.0 && next_rise <= 0.0 {
                rise / (rise - next_rise)
            } else {
                (u, w, level, rise) = (next_u, next_w, next_level, next_rise);
                turn += h;
                continue;
            };
            let (u, w) = (u + (next_u - u) * share, w + (next_w - w) * share);
            return Some((q.dot(&u.cross(&w)), turn + share * h));
        }
        None
    }

    /// The shortest of the ways, none if the rope is straight.
    fn shortest(&self, start: Start, q: Vec3) -> Result<Option<Way>, &'static str> {
        // Flat and long ellipsoids have more ways, which are closer to each other.
        let slender = 1.0 / self.axes.amin().sqrt();
        let (count, h) = ((16.0 * slender).min(160.0), 0.2 / slender.min(10.0));
        let found = self.search(&start, q, count as usize, h)?;
        let found = match found {
            Some(way) => Some(way),
            None => self.search(&start, q, 4 * count as usize, 0.5 * h)?,
        };
        match found {
            None => Err(NOT_FOUND),
            // A rope that hardly touches is straight to rounding.
            Some(way) if way.end[6] <= 0.0 => Ok(None),
            Some(way) => Ok(Some(way)),
        }
    }

    /// The shortest of the ways that lie between so many angles on the circle, by rough geodesics of
    /// this step.
    fn search(&self, start: &Start, q: Vec3, count: usize, h: f64) -> Result<Option<Way>, &'static str> {
        let angle = |k: f64| (k + 0.5) * TAU / count as f64 - PI;
        let mut best: Option<Way> = None;
        let mut alike = false;
        let mut ways = 0;
        let mut before = self.rough(start, q, angle(-1.0), h);
        for k in 0..count {
            let here = self.rough(start, q, angle(k as f64), h);
            let bracket = before.zip(here);
            before = here;
            let Some((low, high)) = bracket else { continue };
            if (low.0 < 0.0) == (high.0 < 0.0) {
                continue;
            }
            ways += 1;
            if ways > MOST_WAYS {
                return Err(NOT_FOUND);
            }
            let (mut from, mut to) = (angle(k as f64 - 1.0), angle(k as f64));
            let (mut guess, mut turn) = (0.5 * (from + to), high.1);
            for _ in 0..BISECTIONS {
                let Some((side, at)) = self.rough(start, q, guess, h) else {
                    break;
                };
                turn = at;
                if (side < 0.0) == (low.0 < 0.0) {
                    from = guess;
                } else {
                    to = guess;
                }
                guess = 0.5 * (from + to);
            }
            let Some(way) = self.improved(start, q, guess, turn) else {
                continue;
            };
            let other = best.as_ref().map_or(f64::INFINITY, |best| best.length);
            let near = (way.length - other).abs() <= SAME * way.length;
            let distinct = near && best.as_ref().is_some_and(|best| apart(best, &way));
            if way.length < other {
                alike = distinct || (near && alike);
                best = Some(way);
            } else {
                alike |= distinct;
            }
        }
        match alike {
            true => Err(ALIKE),
            false => Ok(best),
        }
    }
}

/// Whether two ways are not the same one.
fn apart(a: &Way, b: &Way) -> bool {
    (a.first.place - b.first.place).norm() > 1e-6
}
