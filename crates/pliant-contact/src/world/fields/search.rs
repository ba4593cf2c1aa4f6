//! Where the surface of a distance field is near to points, curves and faces, in the axes of the
//! field.

use pliant_dense::{Mat3, Vec3};

use crate::bvh::Aabb;
use crate::narrow::closest::{on_segment, perpendicular};
use crate::shape::distance_field::{DistanceField, Foot, Goal};

/// Places of one point or line that are looked at.
const MOST_FEET: usize = 16;
/// Slope of a surface against a face from which its samples are not on their way to the lowest.
const SLOPE: f64 = 0.05;
/// Share of the slope of a field below which a curve does not rise or fall.
const LEVEL: f64 = 1e-9;
/// Places of a curve that are looked at.
const MOST_STEPS: usize = 4096;

/// A place on the surface of a field, and what is near it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub(super) on_field: Vec3,
    pub(super) on_other: Vec3,
    /// Outwards from the field.
    pub(super) normal: Vec3,
    pub(super) gap: f64,
    /// Corner, edge or face of the other that is near, and of faces the sample.
    pub(super) feature: u64,
    /// Element of a sheet.
    pub(super) element: u32,
}

/// Buffers; their contents mean nothing between calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    stack: Vec<u32>,
    samples: Vec<(f64, u32)>,
    places: Vec<f64>,
    /// Near a face, or near another field.
    level: Vec<Near>,
    rest: Vec<Near>,
    pub(super) out: Vec<Near>,
}

/// A face of what may touch a field.
pub(super) struct Face<'a> {
    /// Unit, outwards.
    pub(super) normal: Vec3,
    pub(super) offset: f64,
    pub(super) radius: f64,
    /// A box about it.
    pub(super) bounds: Aabb,
    /// Whether a point of its plane is on it.
    pub(super) over: &'a dyn Fn(Vec3) -> bool,
    /// Whether all that is behind it is matter, however deep.
    pub(super) solid: bool,
}

/// The search for places of one field.
pub(super) struct Search<'a> {
    pub(super) field: &'a DistanceField,
    /// Largest gap (m).
    pub(super) limit: f64,
    /// Which element of a sheet is looked at.
    pub(super) element: u32,
    pub(super) room: &'a mut Room,
}

impl Search<'_> {
    /// How far a sample may be from what its surroundings touch.
    fn reach(&self, radius: f64) -> f64 {
        radius + self.limit + self.field.grid.coarse()
    }

    /// Whether something in a box may be near.
    pub(super) fn may_reach(&self, bounds: &Aabb, radius: f64) -> bool {
        bounds.grown(self.reach(radius)).meets(&self.field.bounds)
    }

    /// A ball about a point: all places of the surface that are nearest among those around, or the
    /// nearest one if the point is inside; those along whose normals the ball may be pushed.
    pub(super) fn point(&mut self, p: Vec3, radius: f64, feature: u64, permits: &dyn Fn(Vec3) -> bool) {
        let here = Aabb { low: p, high: p };
        if !self.may_reach(&here, radius) {
            return;
        }
        let (field, reach) = (self.field, self.reach(radius));
        let square = reach * reach;
        let distance = |x: Vec3| (x - p).norm();
        let samples = &mut self.room.samples;
        samples.clear();
        field.tree.query_by(
            &field.boxes,
            |b| b.square_from(p) <= square,
            &mut self.room.stack,
            |k| samples.push((distance(field.samples[k]), k as u32)),
        );
        samples.retain(|s| field.is_least(s.1, 0.0, |k| distance(field.samples[k as usize])));
        if samples.is_empty() {
            let inside = field.grid.at(p).is_some_and(|jet| jet.value < 0.0);
            let nearest = field.nearest_sample(p, &mut self.room.stack);
            samples.extend(nearest.filter(|_| inside).map(|k| (0.0, k)));
        }
        samples.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        samples.truncate(MOST_FEET);
        for n in 0..self.room.samples.len() {
            let sample = self.room.samples[n].1;
            let Some(foot) = field.descend(sample, &Goal::Point(p)) else {
                continue;
            };
            let distance = (p - foot.place).dot(&foot.normal);
            if n > 0 && !(foot.lowest && distance > 0.0) {
                continue;
            }
            let rank = if n == 0 { 0 } else { u64::from(sample) + 1 };
            if permits(-foot.normal) {
                self.touch(p, radius, &foot, (feature << 32) | rank);
            }
            if distance <= 0.0 {
                break;
            }
        }
    }

    /// Adds a place whose foot is known.
    fn touch(&mut self, p: Vec3, radius: f64, foot: &Foot, feature: u64) {
        let (way, normal) = (p - foot.place, foot.normal);
        let distance = way.dot(&normal);
        let gap = distance - radius;
        let beside = (way - normal * distance).norm();
        // Beside a place that is not the nearest one its plane says nothing.
        if gap > self.limit || !foot.lowest && beside > self.field.grid.coarse() {
            return;
        }
        let on_other = p - normal * radius;
        self.room.out.push(Near {
            on_field: on_other - normal * gap,
            on_other,
            normal,
            gap,
            feature,
            element: self.element,
        });
    }

    /// A ball about the place of a curve that is least in the field, for each such place.
    pub(super) fn curve(
        &mut self,
        curve: &dyn Fn(f64) -> (Vec3, Vec3),
        range: [f64; 2],
        radius: f64,
        feature: u64,
        permits: &dyn Fn(Vec3) -> bool,
    ) {
        let mut places = std::mem::take(&mut self.room.places);
        places.clear();
        least(self.field, self.limit + radius, curve, range, &mut places);
        for &t in &places {
            let p = curve(t).0;
            let sample = self.field.nearest_sample(p, &mut self.room.stack);
            let foot = sample.and_then(|s| self.field.descend(s, &Goal::Point(p)));
            if let Some(foot) = foot.filter(|f| permits(-f.normal)) {
                self.touch(p, radius, &foot, feature << 32);
            }
        }
        self.room.places = places;
    }

    /// An edge without its ends.
    pub(super) fn edge(
        &mut self,
        [a, b]: [Vec3; 2],
        radius: f64,
        feature: u64,
        permits: &dyn Fn(Vec3) -> bool,
    ) {
        if !self.may_reach(&Aabb::of([a, b]), radius) {
            return;
        }
        if radius > 0.0 {
            self.round([a, b], radius, feature, permits);
        }
        let grid = &self.field.grid;
        if let Some([from, to]) = within([a, b], grid.origin, grid.far()) {
            let line = |t: f64| (a + (b - a) * t, b - a);
            self.curve(&line, [from, to], radius, feature, permits);
        }
    }

    /// All within a radius of a segment, beside it, where the segment is outside.
    pub(super) fn round(
        &mut self,
        [a, b]: [Vec3; 2],
        radius: f64,
        feature: u64,
        permits: &dyn Fn(Vec3) -> bool,
    ) {
        let (field, reach) = (self.field, self.reach(radius));
        let about = Aabb::of([a, b]).grown(reach);
        let Some(along) = (b - a).try_normalize(0.0) else {
            return;
        };
        let on = |x: Vec3| a + (b - a) * on_segment(x, [a, b]);
        let distance = |x: Vec3| (x - on(x)).norm();
        let samples = &mut self.room.samples;
        samples.clear();
        field.tree.query(&field.boxes, &about, &mut self.room.stack, |k| {
            samples.push((distance(field.samples[k]), k as u32));
        });
        let of = |k: u32| distance(field.samples[k as usize]);
        samples.retain(|s| s.0 <= reach && field.is_least(s.1, 0.0, of));
        samples.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        samples.truncate(MOST_FEET);
        for n in 0..self.room.samples.len() {
            let sample = self.room.samples[n].1;
            let Some(foot) = field.descend(sample, &Goal::Line(a, along)) else {
                continue;
            };
            let t = on_segment(foot.place, [a, b]);
            let p = a + (b - a) * t;
            let outside = (p - foot.place).dot(&foot.normal) > 0.0;
            if foot.lowest && outside && t > 0.0 && t < 1.0 && permits(-foot.normal) {
                self.touch(p, radius, &foot, (feature << 32) | (u64::from(sample) + 1));
            }
        }
    }

    /// A face without its rim: the places of the surface that are lowest over it.
    pub(super) fn face(&mut self, face: &Face<'_>, feature: u64) {
        if !self.may_reach(&face.bounds, face.radius) {
            return;
        }
        let (field, m, reach) = (self.field, face.normal, self.reach(face.radius));
        let height = |x: Vec3| m.dot(&x) - face.offset;
        let about = face.bounds.grown(reach);
        let near = |b: &Aabb| {
            let half = (b.high - b.low) / 2.0;
            height((b.low + b.high) / 2.0) - m.abs().dot(&half) <= reach && b.meets(&about)
        };
        let samples = &mut self.room.samples;
        samples.clear();
        let stack = &mut self.room.stack;
        field
            .tree
            .query_by(&field.boxes, near, stack, |k| samples.push((0.0, k as u32)));
        samples.sort_unstable_by_key(|s| s.1);
        let level = &mut self.room.level;
        level.clear();
        for &(_, sample) in samples.iter() {
            if !field.is_least(sample, SLOPE, |k| height(field.samples[k as usize])) {
                continue;
            }
            let Some(foot) = field.descend(sample, &Goal::Plane(m)) else {
                continue;
            };
            let high = height(foot.place);
            let below = foot.place - m * high;
            let gap = high - face.radius;
            if foot.normal.dot(&m) > -0.9 || gap > self.limit || !(face.over)(below) {
                continue;
            }
            // In overlap, the way out of the field at the face must be this one.
            let deep = |place| {
                let jet = field.grid.at(place)?;
                Some(jet.value <= 0.5 * high * jet.normal()?.1)
            };
            if high < 0.0 && !face.solid && deep(below) != Some(true) {
                continue;
            }
            let on_other = below + m * face.radius;
            level.push(Near {
                on_field: on_other + m * gap,
                on_other,
                normal: -m,
                gap,
                feature: (feature << 32) | (u64::from(sample) + 1),
                element: self.element,
            });
        }
        extremes(level, &mut self.room.out);
    }

    /// Another field, whose axes are the columns of a rotation about a place: samples of each on
    /// the other.
    pub(super) fn field(&mut self, other: &DistanceField, place: Vec3, turn: Mat3) {
        self.room.level.clear();
        self.samples_on(other, place, turn, 0);
        let count = self.room.level.len();
        let back = -turn.tr_mul(&place);
        let mut swapped = Search {
            field: other,
            limit: self.limit,
            element: self.element,
            room: &mut *self.room,
        };
        swapped.samples_on(self.field, back, turn.transpose(), 1);
        for near in &mut self.room.level[count..] {
            let (on_field, on_other) = (near.on_other, near.on_field);
            near.on_field = place + turn * on_field;
            near.on_other = place + turn * on_other;
            near.normal = -(turn * near.normal);
        }
        let Room { level, rest, out, .. } = &mut *self.room;
        std::mem::swap(level, rest);
        while let Some(first) = rest.first().copied() {
            let alike = |t: &Near| t.normal.dot(&first.normal) > 0.999;
            level.clear();
            level.extend(rest.iter().filter(|t| alike(t)));
            rest.retain(|t| !alike(t));
            extremes(level, out);
        }
    }

    /// Adds the samples of another field that are deepest in this one to those that are level.
    fn samples_on(&mut self, other: &DistanceField, place: Vec3, turn: Mat3, feature: u64) {
        // How far a sample may be from the lowest place around it.
        let (field, bound) = (self.field, self.limit + other.grid.coarse());
        let corner = |k: usize| {
            let b = &field.bounds;
            let side = |axis: usize| {
                if k >> axis & 1 == 1 {
                    b.high[axis]
                } else {
                    b.low[axis]
                }
            };
            turn.tr_mul(&(Vec3::new(side(0), side(1), side(2)) - place))
        };
        let about = Aabb::of((0..8).map(corner)).grown(bound);
        let value = |x: Vec3| {
            let jet = field.grid.at(place + turn * x)?;
            Some(jet.value / jet.slope.norm().max(1e-3)).filter(|value| *value <= bound)
        };
        let near = |b: &Aabb| {
            if b.low == b.high || !b.meets(&about) {
                return b.meets(&about);
            }
            let (middle, half) = ((b.low + b.high) / 2.0, (b.high - b.low).norm() / 2.0);
            let jet = field.grid.at(place + turn * middle);
            jet.is_none_or(|jet| jet.value <= field.steepest * (half + bound))
        };
        let Room { samples, stack, .. } = &mut *self.room;
        samples.clear();
        other.tree.query_by(&other.boxes, near, stack, |k| {
            samples.extend(value(other.samples[k]).map(|v| (v, k as u32)));
        });
        samples.sort_unstable_by_key(|s| s.1);
        let goal = Goal::Field(field, -turn.tr_mul(&place), turn.transpose());
        for n in 0..self.room.samples.len() {
            let samples = &self.room.samples;
            let sample = samples[n].1;
            // Those that are not in the list are farther away.
            let of = |k: u32| {
                let found = samples.binary_search_by_key(&k, |s| s.1);
                found.map_or(f64::INFINITY, |at| samples[at].0)
            };
            if !other.is_least(sample, SLOPE, of) {
                continue;
            }
            let Some(lowest) = other.descend(sample, &goal) else {
                continue;
            };
            let p = place + turn * lowest.place;
            let nearest = field.nearest_sample(p, &mut self.room.stack);
            let Some(foot) = nearest.and_then(|s| field.descend(s, &Goal::Point(p))) else {
                continue;
            };
            let against = (turn * lowest.normal).dot(&foot.normal);
            let before = self.room.out.len();
            if against < -0.5 {
                self.touch(p, 0.0, &foot, (feature << 32) | (u64::from(sample) + 1));
            }
            self.room.level.extend(self.room.out.drain(before..));
        }
    }
}

/// The part of a segment within a box, as parameters.
fn within([a, b]: [Vec3; 2], low: Vec3, high: Vec3) -> Option<[f64; 2]> {
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for k in 0..3 {
        let d = b[k] - a[k];
        if d == 0.0 {
            if a[k] < low[k] || a[k] > high[k] {
                return None;
            }
            continue;
        }
        let (s, t) = ((low[k] - a[k]) / d, (high[k] - a[k]) / d);
        from = from.max(s.min(t));
        to = to.min(s.max(t));
    }
    (from < to).then_some([from, to])
}

/// The parameters at which a field is least along a curve, as far as it is less than a limit there:
/// by steps of half a cell, longer ones where the field is large, and bisection of its slope.
fn least(
    field: &DistanceField,
    limit: f64,
    curve: &dyn Fn(f64) -> (Vec3, Vec3),
    [from, to]: [f64; 2],
    out: &mut Vec<f64>,
) {
    // Value and rate by the parameter, and the slope, length of a cell by the parameter.
    let at = |t: f64| {
        let (place, rate) = curve(t);
        let jet = field.grid.at(place)?;
        let (_, slope) = jet.normal()?;
        Some((jet.value, jet.slope.dot(&rate), slope, rate.norm()))
    };
    let (fine, coarse) = (field.grid.fine(), field.grid.coarse());
    let mut falling = None;
    let mut t = from;
    for _ in 0..MOST_STEPS {
        let mut step = 0.5 * fine / curve(t).1.norm().max(1e-100);
        match at(t) {
            None => falling = None,
            Some((value, rate, slope, speed)) => {
                let tolerance = LEVEL * slope * speed;
                if rate > tolerance
                    && let Some(before) = falling.take()
                {
                    out.push(bisect(before, t, |t| at(t).map(|x| x.1)));
                } else if rate < -tolerance {
                    falling = Some(t);
                }
                let far = 0.5 * (value / slope.max(1.0) - limit - coarse) / speed;
                if far > step {
                    (step, falling) = (far, None);
                }
            }
        }
        if t >= to || step.is_nan() {
            break;
        }
        t = (t + step).min(to);
    }
}

/// Where a rate that is negative at one end and positive at the other changes its sign.
fn bisect(mut low: f64, mut high: f64, rate: impl Fn(f64) -> Option<f64>) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if rate(middle).is_some_and(|r| r < 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Takes over the deepest of places that have one normal, and those that are farthest in eight
/// directions across it.
fn extremes(level: &[Near], out: &mut Vec<Near>) {
    let Some(first) = level.first() else { return };
    let u = perpendicular(first.normal);
    let v = first.normal.cross(&u);
    let mut kept = [usize::MAX; 9];
    for (n, keep) in kept.iter_mut().enumerate() {
        let measure = |near: &Near| {
            if n == 8 {
                return -near.gap;
            }
            let (sin, cos) = (std::f64::consts::FRAC_PI_4 * n as f64).sin_cos();
            (u * cos + v * sin).dot(&near.on_field)
        };
        let mut best = f64::NEG_INFINITY;
        for (k, near) in level.iter().enumerate() {
            let value = measure(near);
            if value > best + 1e-9 * value.abs() {
                (best, *keep) = (value, k);
            }
        }
    }
    for n in 0..kept.len() {
        if kept[n] < level.len() && !kept[..n].contains(&kept[n]) {
            out.push(level[kept[n]]);
        }
    }
}
