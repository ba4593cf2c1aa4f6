//! Corners and triangles, and segments, that move along straight lines: whether they come together.

use super::closest::{of_segments, on_triangle};
use pliant_dense::Vec3;

/// Share of the distance that one advance may use up: the rest keeps rounding from jumping across.
const ADVANCE: f64 = 0.9;
/// Share of the thickness, or of the distance at the start if that is less, from which a pair
/// counts as together.
const TOGETHER: f64 = 0.1;
/// Advances after which a pair counts as together, which is on the safe side.
const MOST_ADVANCES: usize = 10_000;

/// The four points of a pair at one time.
pub(crate) type Four = [Vec3; 4];

/// A pair of spots of two surfaces, by its four points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Couple {
    /// A corner, then the corners of a triangle.
    CornerTriangle,
    /// The ends of one segment, then those of another.
    Segments,
}

impl Couple {
    /// The distance of the pair (m).
    fn distance(self, at: &Four) -> f64 {
        let [a, b, c, d] = *at;
        match self {
            Self::CornerTriangle => {
                let w = on_triangle(a, [b, c, d]);
                (b * w[0] + c * w[1] + d * w[2] - a).norm()
            }
            Self::Segments => {
                let (s, t) = of_segments([a, b], [c, d]);
                (c + (d - c) * t - a - (b - a) * s).norm()
            }
        }
    }

    /// A bound of the way by which the pair comes nearer in all (m): the longest way of a point of
    /// either, from the mean of all four.
    fn longest_way(self, ways: &Four) -> f64 {
        let mean = ways.iter().sum::<Vec3>() / 4.0;
        let longest = |ways: &[Vec3]| ways.iter().map(|w| (w - mean).norm()).fold(0.0, f64::max);
        let first = match self {
            Self::CornerTriangle => 1,
            Self::Segments => 2,
        };
        longest(&ways[..first]) + longest(&ways[first..])
    }

    /// The time, of 1, at which points that move along straight lines first are no farther from
    /// each other than a tenth of `thickness` (m), or of their distance at the start if that is
    /// less; none if they never are. With neither a thickness nor a distance it is the start.
    ///
    /// **Method.** Conservative advancement: what a pair can come nearer by is at most the sum of
    /// the longest ways of both, so that nine tenths of its distance over that sum is a time in
    /// which it cannot meet (Mirtich 1996; in this form Li et al., Codimensional incremental
    /// potential contact, 2021). Cost: a distance per advance.
    pub(crate) fn first_meeting(self, start: &Four, end: &Four, thickness: f64) -> Option<f64> {
        let ways: Four = std::array::from_fn(|k| end[k] - start[k]);
        let way = self.longest_way(&ways);
        if way == 0.0 {
            return None;
        }
        let mut distance = self.distance(start);
        let together = TOGETHER * distance.min(thickness);
        let mut time = 0.0;
        for _ in 0..MOST_ADVANCES {
            let advance = ADVANCE * (distance - 0.5 * together) / way;
            time += advance;
            if time >= 1.0 {
                return None;
            }
            distance = self.distance(&at(start, end, time));
            if distance <= together {
                return Some(time);
            }
        }
        Some(time)
    }
}

/// The points at a time of 1.
pub(crate) fn at(start: &Four, end: &Four, time: f64) -> Four {
    std::array::from_fn(|k| start[k] + (end[k] - start[k]) * time)
}

/// Whether a segment passes through a triangle: strictly, between points that both have.
pub(crate) fn pierces([a, b]: [Vec3; 2], [p, q, r]: [Vec3; 3]) -> bool {
    let volume = |x: Vec3, y: Vec3, z: Vec3, w: Vec3| (y - x).cross(&(z - x)).dot(&(w - x));
    let opposite = |x: f64, y: f64| x * y < 0.0;
    let [u, v, w] = [volume(a, b, p, q), volume(a, b, q, r), volume(a, b, r, p)];
    opposite(volume(p, q, r, a), volume(p, q, r, b)) && u * v > 0.0 && v * w > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle(z: f64) -> [Vec3; 3] {
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|[x, y]| Vec3::new(x, y, z))
    }

    fn corner_and(corner: Vec3, [b, c, d]: [Vec3; 3]) -> Four {
        [corner, b, c, d]
    }

    /// A corner that falls from 1 m through a triangle that rises by 1 m: a tenth of 1 cm is left
    /// when both have gone 0.4995 m of their ways of 2 and 1 m.
    #[test]
    fn a_corner_meets_a_triangle_when_the_ways_say() {
        let start = corner_and(Vec3::new(0.2, 0.3, 1.0), triangle(0.0));
        let end = corner_and(Vec3::new(0.2, 0.3, -1.0), triangle(1.0));
        let time = Couple::CornerTriangle.first_meeting(&start, &end, 0.01).unwrap();
        let exact = (1.0 - 0.001) / 3.0;
        // No earlier than where a tenth of the thickness is left, and before they meet.
        assert!((exact..1.0 / 3.0).contains(&time), "{time} {exact}");
        // Beside the triangle it passes.
        let beside = |z: f64| Vec3::new(-0.2, 0.3, z);
        let start = corner_and(beside(1.0), triangle(0.0));
        let end = corner_and(beside(-1.0), triangle(1.0));
        assert_eq!(Couple::CornerTriangle.first_meeting(&start, &end, 0.01), None);
    }

    /// Segments that cross at right angles, in the middle of both.
    #[test]
    fn segments_meet_where_they_cross() {
        let (along, across) = (Vec3::x(), Vec3::y());
        let at = |z: f64| [-along + Vec3::z() * z, along + Vec3::z() * z, -across, across];
        let time = Couple::Segments.first_meeting(&at(1.0), &at(-1.0), 0.02).unwrap();
        assert!((0.499..0.5).contains(&time), "{time}");
        assert_eq!(Couple::Segments.first_meeting(&at(1.0), &at(0.01), 0.02), None);
        assert_eq!(Couple::Segments.first_meeting(&at(1.0), &at(1.0), 0.02), None);
    }

    /// Random ways, against the zeros of the volume of the four points between ten thousand
    /// moments: what has no distance there was seen to come together before.
    #[test]
    fn nothing_passes_unseen() {
        let mut seed = 7u64;
        let mut random = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let (mut crossed, mut missed) = (0, 0);
        for case in 0..400 {
            let mut points = || -> Four { std::array::from_fn(|_| Vec3::new(random(), random(), random())) };
            let (start, end) = (points(), points());
            let couple = [Couple::CornerTriangle, Couple::Segments][case % 2];
            let volume = |t: f64| {
                let [a, b, c, d] = at(&start, &end, t);
                (b - a).cross(&(c - a)).dot(&(d - a))
            };
            let moments = 10_000;
            let met = (0..moments).find_map(|k| {
                let [mut low, mut high] = [k, k + 1].map(|k| f64::from(k) / f64::from(moments));
                if volume(low) * volume(high) > 0.0 {
                    return None;
                }
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    match volume(low) * volume(middle) > 0.0 {
                        true => low = middle,
                        false => high = middle,
                    }
                }
                (couple.distance(&at(&start, &end, low)) < 1e-9).then_some(low)
            });
            match (met, couple.first_meeting(&start, &end, 1e-3)) {
                (Some(exact), time) => {
                    crossed += 1;
                    assert!(time.is_some_and(|t| t <= exact), "{case}: {time:?} {exact}");
                }
                (None, Some(_)) => missed += 1,
                (None, None) => {}
            }
        }
        // What passes by a tenth of a millimetre may count as meeting.
        assert!(crossed > 30 && missed < 3, "{crossed} {missed}");
    }

    #[test]
    fn segments_pierce_what_they_pass_through() {
        let through = |x: f64| [Vec3::new(x, 0.2, 1.0), Vec3::new(x, 0.2, -1.0)];
        assert!(pierces(through(0.3), triangle(0.0)));
        assert!(!pierces(through(0.9), triangle(0.0)) && !pierces(through(0.3), triangle(2.0)));
    }
}
