//! Bodies that follow points: frames on whatever deforms.

use super::frames::{check_pose, unit_or_nan};
use super::{check_dependency, points};
use crate::validate::{check_all_finite, check_bound, check_least, check_space};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Pose, Space};
use pliant_dense::eigen::symmetric_eigen;
use pliant_dense::polar::Polar;
use pliant_dense::rotation::{Quaternion, matrix, multiply, quaternion};
use pliant_dense::{Mat3, Vec3, skew, vec3};

/// The part of one point in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FramePoint {
    /// The point.
    pub on: Dependency,
    /// Its weight `w` (none) in the origin, of any sign; the weights of a frame add up to one.
    pub weight: f64,
    /// Its vector `g` (1/m) in the deformation gradient; those of a frame add up to zero.
    pub gradient: [f64; 3],
}

/// A frame that follows points.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedFrame {
    /// The points, each once.
    pub points: Vec<FramePoint>,
    /// The frame against the fitted one: its origin (m) and axes there.
    pub pose: Pose,
}

/// A point to fit: where it is at rest (m), and how much it counts (none).
pub type RestPoint = (Dependency, [f64; 3], f64);

impl FittedFrame {
    /// The frame that moves as the rigid motion nearest to that of the points, in the sense of
    /// least squares (Kabsch 1976); `pose` is where it is at rest (m). The points may lie in a
    /// plane, not on a line. Weights are positive.
    pub fn rigid(points: &[RestPoint], pose: Pose) -> Self {
        let centre = Centre::of(points);
        let arm = |x: &[f64; 3]| centre.arm(x);
        let size: f64 = points.iter().map(|(_, x, m)| m * arm(x).norm_squared()).sum();
        let point = |(on, x, m): &RestPoint| FramePoint {
            on: *on,
            weight: m / centre.total,
            gradient: (arm(x) * (positive_or_nan(*m) / size)).into(),
        };
        let pose = unit_or_nan(&pose);
        let position = arm(&pose.position);
        Self {
            points: points.iter().map(point).collect(),
            pose: Pose {
                position: position.into(),
                ..pose
            },
        }
    }

    /// The frame that moves as the affine motion nearest to that of the points does at its origin
    /// (moving least squares), and turns as the rotation of its gradient; `pose` is where it is at
    /// rest (m). Exact where the points deform affinely. They may not lie in a plane.
    pub fn affine(points: &[RestPoint], pose: Pose) -> Self {
        let centre = Centre::of(points);
        let arm = |x: &[f64; 3]| centre.arm(x);
        let moment = points.iter().fold(Mat3::zeros(), |sum, (_, x, m)| {
            sum + arm(x) * arm(x).transpose() * *m
        });
        // Points in a plane have no gradient across it, which the check finds.
        let spread = semi_axes(&moment);
        let flat = spread[0] <= LEAST_SPREAD * spread[1];
        let inverse = moment.try_inverse().filter(|_| !flat);
        let inverse = inverse.unwrap_or_else(|| Mat3::repeat(f64::NAN));
        let at = arm(&pose.position);
        let point = |(on, x, m): &RestPoint| {
            let gradient = inverse * arm(x) * positive_or_nan(*m);
            FramePoint {
                on: *on,
                weight: m / centre.total + gradient.dot(&at),
                gradient: gradient.into(),
            }
        };
        let pose = unit_or_nan(&pose);
        Self {
            points: points.iter().map(point).collect(),
            pose: Pose {
                position: [0.0; 3],
                ..pose
            },
        }
    }
}

/// Least second moment of points that span space, as a share of the largest: a slab a thousandth as
/// thick as it is wide.
const LEAST_SPREAD: f64 = 1e-6;

/// The least and the largest eigenvalue of a matrix of second moments; not numbers where it is none.
fn semi_axes(moment: &Mat3) -> [f64; 2] {
    let (mut d, mut v) = ([0.0; 9], [0.0; 9]);
    d.copy_from_slice(moment.as_slice());
    if !symmetric_eigen(3, &mut d, &mut v) {
        return [f64::NAN; 2];
    }
    let values = [d[0], d[4], d[8]];
    [
        values.into_iter().fold(f64::INFINITY, f64::min),
        values.into_iter().fold(0.0, f64::max),
    ]
}

/// The weight, not a number unless it is positive: for constructors, whose results are checked later.
fn positive_or_nan(weight: f64) -> f64 {
    if weight > 0.0 { weight } else { f64::NAN }
}

/// The mean of points, and the sum of their weights. Arms from it are differences of places, so that
/// they add up to zero to rounding of their own size, however far away the points are.
struct Centre {
    /// One of the points (m), and the mean as seen from it (m).
    first: Vec3,
    mean: Vec3,
    total: f64,
}

impl Centre {
    fn of(points: &[RestPoint]) -> Self {
        let total: f64 = points.iter().map(|(_, _, m)| m).sum();
        let first = points
            .first()
            .map_or_else(Vec3::zeros, |(_, x, _)| Vec3::from(*x));
        let arms = points
            .iter()
            .map(|(_, x, m)| (Vec3::from(*x) - first) * (m / total));
        let mean = arms.sum();
        Self { first, mean, total }
    }

    /// The way from the mean to a place (m).
    fn arm(&self, place: &[f64; 3]) -> Vec3 {
        Vec3::from(*place) - self.first - self.mean
    }
}

/// Frames that follow points, each a body of its own to what is attached to it: they turn as the
/// points do on the whole, whatever else these do.
///
/// **Equation.** With `F = sum x_a g_a^T` (none) over the points `a` of a frame and its polar
/// decomposition `F = R U`: `p_c = sum w_a x_a + R r` (m), and the axes of the child are `R R_off`,
/// for the offset `(r, R_off)`. With `T = (tr(U) I - U)^-1` the angular velocity of `R` in its own
/// axes is `w = sum W_a R^T v_a`, `W_a = T [g_a]`: the rows of `J` are `w_a I - R [r] W_a R^T` and
/// `R_off^T W_a R^T`. `dw/dt` has `-T (2 tr(L) w - 2 L w + w x U w)` of the velocities alone, with
/// `L = sum R^T v_a g_a^T`. Of a child force `(f, tau)`, torque in the child's axes, with
/// `p = R^T f`, `m = R_off tau + r x p` and `s = T m`, `G_ab` is the symmetric part of
///
/// ```math
/// R (A_a W_b + [g_a] T (s g_b^T - (g_b . s) I)) R^T,   A_a = [g_a x s] - [g_a] T ([U s] + [r] [p])
/// ```
///
/// A force on the frame goes to the points as `w_a f + R (s x g_a)`, which has its resultant and
/// its moment. Not defined where two principal stretches of `F` add up to zero: points on a line,
/// or reflected in a plane.
///
/// **Parents.** Points of space.
///
/// **Use.** Joints, rigid bodies, rods, springs and contacts on solids, sheets and nets: a flange
/// glued to a soft beam, a floating frame, a marker. `g_a` are the gradients of shape functions, or
/// those of a fit ([`FittedFrame::rigid`], [`FittedFrame::affine`]). `G` is a dense block over all
/// points of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedFrames {
    frames: Vec<FittedFrame>,
}

impl FittedFrames {
    /// One frame for each of these.
    pub fn new(frames: &[FittedFrame]) -> Self {
        Self {
            frames: frames.to_vec(),
        }
    }
}

/// A frame where its points are.
struct Placed {
    polar: Polar,
    /// The weighted mean of its points (m).
    mean: Vec3,
    /// The offset `r` (m).
    arm: Vec3,
    /// `R_off`.
    turn: Mat3,
}

impl FittedFrame {
    fn place(&self, element: usize, parents: &Parents<'_>) -> Result<Placed, Degenerate> {
        let (mut f, mut mean) = (Mat3::zeros(), Vec3::zeros());
        // Against one of the points, so that rounding does not grow with the distance from the
        // origin.
        let first = vec3(parents.position(self.points[0].on), 0);
        for point in &self.points {
            let x = vec3(parents.position(point.on), 0) - first;
            f += x * Vec3::from(point.gradient).transpose();
            mean += x * point.weight;
        }
        let polar = Polar::of(&f).ok_or(Degenerate {
            element,
            reason: "the points that it follows lie on a line or are reflected, so that no rotation fits them best",
        })?;
        Ok(Placed {
            polar,
            mean: first + mean,
            arm: self.pose.position.into(),
            turn: matrix(self.pose.rotation),
        })
    }
}

impl Placed {
    /// `W_a` of a vector `g_a`.
    fn turning(&self, gradient: [f64; 3]) -> Mat3 {
        self.polar.turn * skew(gradient.into())
    }
}

/// The one of the two quaternions of a rotation that is nearer to the numbers `last`.
fn nearest(q: Quaternion, last: &[f64]) -> Quaternion {
    let product: f64 = q.iter().zip(last).map(|(a, b)| a * b).sum();
    if product < 0.0 { q.map(|a| -a) } else { q }
}

fn write_block(m: &Mat3, row: usize, column: usize, width: usize, block: &mut [f64]) {
    for i in 0..3 {
        for j in 0..3 {
            block[(row + i) * width + column + j] = m[(i, j)];
        }
    }
}

impl Mapping for FittedFrames {
    fn child(&self) -> (Space, usize) {
        (Space::Rigid3, self.frames.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for (element, frame) in self.frames.iter().enumerate() {
            let degenerate = |reason| Err(points::degenerate(name, element, reason));
            let at_frame = |error: ModelError| error.at(element, self.frames.len());
            let count = frame.points.len();
            check_least(name, Field::Points, "points of a frame at least", 3, count).map_err(at_frame)?;
            for (k, point) in frame.points.iter().enumerate() {
                let found = check_dependency(name, point.on, parents)?;
                check_space(name, "points of space", found, found == Space::Real(3))?;
                if frame.points[..k].iter().any(|other| other.on == point.on) {
                    return degenerate("it follows one point twice");
                }
            }
            if frame
                .points
                .iter()
                .flat_map(|p| &p.gradient)
                .any(|g| !g.is_finite())
            {
                return degenerate(
                    "its points have no extent in some direction, or a weight that is not a positive number",
                );
            }
            let weights = frame.points.iter().map(|p| &p.weight);
            check_all_finite(name, Field::Weights, weights).map_err(at_frame)?;
            check_pose(name, Field::Frames, &frame.pose).map_err(at_frame)?;
            // Rounding of sums of as many numbers.
            let rounding = 1e-12 * count as f64;
            let sum: f64 = frame.points.iter().map(|p| p.weight).sum();
            let size: f64 = frame.points.iter().map(|p| p.weight.abs()).sum();
            let fits = (sum - 1.0).abs() <= rounding * size;
            check_bound(name, Field::PointWeightSum, sum, "one", fits).map_err(at_frame)?;
            let gradients = || frame.points.iter().map(|p| Vec3::from(p.gradient));
            let size: f64 = gradients().map(|g| g.norm()).sum();
            if gradients().sum::<Vec3>().norm() > rounding * size {
                return degenerate("the gradients of its points do not add up to zero");
            }
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend(self.frames[element].points.iter().map(|p| p.on));
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        let all = child.as_chunks_mut::<7>().0.iter_mut().zip(&self.frames);
        for (element, (x, frame)) in all.enumerate() {
            let placed = frame.place(element, &parents)?;
            let r = placed.polar.r;
            let q = nearest(multiply(quaternion(&r), frame.pose.rotation), &x[3..]);
            x[..3].copy_from_slice((placed.mean + r * placed.arm).as_slice());
            x[3..].copy_from_slice(&q);
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, frame) in self.frames.iter().enumerate() {
            let placed = frame.place(e, &parents)?;
            let r = placed.polar.r;
            let (arm, back) = (r * skew(placed.arm), placed.turn.transpose());
            let width = out.width(e);
            let block = out.block_mut(e);
            for (k, point) in frame.points.iter().enumerate() {
                let turning = placed.turning(point.gradient) * r.transpose();
                let linear = Mat3::identity() * point.weight - arm * turning;
                write_block(&linear, 0, 3 * k, width, block);
                write_block(&(back * turning), 3, 3 * k, width, block);
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        let all = child.as_chunks_mut::<6>().0.iter_mut().zip(&self.frames);
        for (e, (x, frame)) in all.enumerate() {
            let Ok(placed) = frame.place(e, &parents) else {
                continue;
            };
            let Polar { r, u, turn } = placed.polar;
            let (mut spin, mut rates) = (Vec3::zeros(), Mat3::zeros());
            for point in &frame.points {
                let v = r.transpose() * vec3(parents.velocity(point.on), 0);
                let gradient = Vec3::from(point.gradient);
                spin += gradient.cross(&v);
                rates += v * gradient.transpose();
            }
            let w = turn * spin;
            let change = 2.0 * rates.trace() * w - 2.0 * rates * w + w.cross(&(u * w));
            let angular = -(turn * change);
            let linear = r * (w.cross(&w.cross(&placed.arm)) + angular.cross(&placed.arm));
            let angular = placed.turn.transpose() * angular;
            for k in 0..3 {
                x[k] += linear[k];
                x[3 + k] += angular[k];
            }
        }
        true
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, frame) in self.frames.iter().enumerate() {
            let Ok(placed) = frame.place(e, &parents) else {
                continue;
            };
            let Polar { r, u, turn } = placed.polar;
            let p = r.transpose() * vec3(force, 6 * e);
            let s = turn * (placed.turn * vec3(force, 6 * e + 3) + placed.arm.cross(&p));
            let pulled = turn * (skew(u * s) + skew(placed.arm) * skew(p));
            let width = out.width(e);
            let block = out.block_mut(e);
            for (a, on_a) in frame.points.iter().enumerate() {
                let g = Vec3::from(on_a.gradient);
                let carried = (skew(g.cross(&s)) - skew(g) * pulled) * turn;
                let lever = skew(g) * turn;
                for (b, on_b) in frame.points.iter().enumerate() {
                    let h = Vec3::from(on_b.gradient);
                    let stretched = s * h.transpose() - Mat3::identity() * h.dot(&s);
                    let half = 0.5 * r * (carried * skew(h) + lever * stretched) * r.transpose();
                    for i in 0..3 {
                        for j in 0..3 {
                            block[(3 * a + i) * width + 3 * b + j] += half[(i, j)];
                            block[(3 * b + j) * width + 3 * a + i] += half[(i, j)];
                        }
                    }
                }
            }
        }
    }
}
