//! Points of the surface of a field that are nearest to something.

use pliant_dense::{Mat3, Vec3};

use super::DistanceField;

/// Steps of Newton's method.
const MOST_STEPS: usize = 24;

/// Slope of what is minimised along the surface, as a share of its whole slope, at which a point of
/// the surface counts as lowest.
const FLAT: f64 = 1e-7;

/// A point of the surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foot {
    pub(crate) place: Vec3,
    /// Unit, outwards.
    pub(crate) normal: Vec3,
    /// Whether it is lowest among those around it.
    pub(crate) lowest: bool,
}

/// A function of space that is to be least on the surface.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal<'a> {
    /// Half the square of the distance from a point.
    Point(Vec3),
    /// Half the square of the distance from a line through a point along a unit vector.
    Line(Vec3, Vec3),
    /// The height over a plane with this unit normal.
    Plane(Vec3),
    /// The values of another field, whose axes are the columns of a rotation, about a place.
    Field(&'a DistanceField, Vec3, Mat3),
}

impl Goal<'_> {
    /// Gradient, second derivatives, and the least curvature that is not rounding; none if there
    /// are none.
    fn slope(&self, x: Vec3, spacing: f64) -> Option<(Vec3, Mat3, f64)> {
        Some(match self {
            Self::Point(c) => (x - c, Mat3::identity(), 1e-2),
            Self::Line(p, d) => {
                let across = Mat3::identity() - d * d.transpose();
                (across * (x - p), across, 1e-2)
            }
            Self::Plane(n) => (*n, Mat3::zeros(), 1e-6 / spacing),
            Self::Field(field, place, turn) => {
                let jet = field.grid.at(turn.tr_mul(&(x - place)))?;
                let (_, length) = jet.normal()?;
                let bend = turn * jet.bend * turn.transpose();
                (turn * jet.slope, bend, 1e-6 * length / spacing)
            }
        })
    }
}

impl DistanceField {
    /// The point of the surface where a function is least, from a sample on: by Newton's method for
    /// `G + lambda g = 0`, `phi = 0` in the plane across the gradient `g` of the field, with the
    /// gradient `G` of the function. Where it would go farther than two cells it stays on the way.
    pub(crate) fn descend(&self, sample: u32, goal: &Goal<'_>) -> Option<Foot> {
        let (start, fine, coarse) = (
            self.samples[sample as usize],
            self.grid.fine(),
            self.grid.coarse(),
        );
        let mut x = start;
        let mut foot = None;
        for _ in 0..MOST_STEPS {
            let jet = self.grid.at(x)?;
            let (n, length) = jet.normal()?;
            let (slope, bend, least) = goal.slope(x, fine)?;
            let flat = slope - n * n.dot(&slope);
            let off = jet.value / length;
            foot = Some(Foot {
                place: x - n * off,
                normal: n,
                lowest: flat.norm() <= FLAT * slope.norm(),
            });
            let matrix = bend - jet.bend * (n.dot(&slope) / length);
            let along = downhill(&matrix, flat, n, least);
            let size = along.norm();
            let step = along * (fine / size.max(fine)) - n * off.clamp(-coarse, coarse);
            let next = x + step;
            let way = (next - start).norm();
            if way.is_nan() || way > 2.0 * coarse {
                break;
            }
            x = next;
            if step.norm() <= 1e-13 * (fine + x.amax()) {
                break;
            }
        }
        foot
    }

    /// The sample that is nearest to a point.
    pub(crate) fn nearest_sample(&self, point: Vec3, stack: &mut Vec<u32>) -> Option<u32> {
        let square = |k: usize| (self.samples[k] - point).norm_squared();
        let nearest = self.tree.nearest(&self.boxes, point, stack, square);
        nearest.map(|k| k as u32)
    }

    /// Whether no sample beside one has a smaller value, by more than a share of the way there.
    pub(crate) fn is_least(&self, sample: u32, share: f64, value: impl Fn(u32) -> f64) -> bool {
        let here = self.samples[sample as usize];
        let own = value(sample);
        self.neighbours.of(sample as usize).iter().all(|&k| {
            let there = self.samples[k as usize];
            let drop = own - value(k);
            drop <= share * (there - here).norm() && (share > 0.0 || drop < 0.0 || k > sample)
        })
    }
}

/// The step of Newton's method across a normal, along directions that are curved by enough, and
/// down where they are curved the other way.
fn downhill(matrix: &Mat3, slope: Vec3, n: Vec3, least: f64) -> Vec3 {
    let u = crate::narrow::closest::perpendicular(n);
    let v = n.cross(&u);
    let (a, b, c) = (u.dot(&(matrix * u)), u.dot(&(matrix * v)), v.dot(&(matrix * v)));
    // Directions of principal curvature.
    let angle = 0.5 * (2.0 * b).atan2(a - c);
    let (sin, cos) = angle.sin_cos();
    let mut step = Vec3::zeros();
    for d in [u * cos + v * sin, v * cos - u * sin] {
        let curvature = d.dot(&(matrix * d)).abs();
        if curvature > least {
            step -= d * (slope.dot(&d) / curvature);
        }
    }
    if step.iter().all(|x| x.is_finite()) {
        step
    } else {
        Vec3::zeros()
    }
}
