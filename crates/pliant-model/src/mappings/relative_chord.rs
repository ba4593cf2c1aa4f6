//! Forces between two bodies along a finite displacement, from a function of the motion of one
//! against the other.

use super::frames::JointFrame;
use super::rigid_points::body_rotation;
use crate::{Dependency, Parents};
use pliant_dense::rotation::{conjugate, matrix, multiply};
use pliant_dense::{Mat3, Vec3, vec3};

/// Roundings of the products of forces and coordinates that a work may miss.
const ROUNDINGS: f64 = 64.0;

/// A mapping whose elements depend on the motion of a frame B against a frame A alone, each fixed
/// in a body or in the world ([`Mapping::relative_motion`](crate::Mapping::relative_motion)).
pub trait RelativeMotion {
    /// The frames A and B of an element.
    fn frames(&self, element: usize) -> [JointFrame; 2];

    /// The gradient of `force . x` of the coordinates `x` of an element over `tau` and `u`, the
    /// displacements `t + tau` of `t = R_A^T (p_B - p_A)` and `C exp(u)` of `C = R_A^T R_B`; `None`
    /// where the mapping has no derivative.
    fn gradient(&self, element: usize, parents: &Parents<'_>, force: &[f64]) -> Option<[[f64; 3]; 2]>;
}

/// The force on a body over a displacement: in space, and torques in the axes of the body at both
/// ends.
pub(crate) struct ChordWrench {
    pub(crate) on: Dependency,
    pub(crate) force: Vec3,
    pub(crate) torques: [Vec3; 2],
}

/// A frame at both ends of a displacement.
struct MovingFrame {
    /// The body's axes.
    body: [Mat3; 2],
    /// The frame's axes.
    axes: [Mat3; 2],
    /// The mean of the origin, and of that from the centre of the body.
    origin: [Vec3; 2],
    arm: Vec3,
    /// Cayley's vector of the rotation, in space.
    turn: Vec3,
}

impl MovingFrame {
    fn new(frame: &JointFrame, ends: [&Parents<'_>; 2]) -> Self {
        let offset = Vec3::from(frame.pose.position);
        let own = matrix(frame.pose.rotation);
        let Some(at) = frame.on else {
            return Self {
                body: [Mat3::identity(); 2],
                axes: [own; 2],
                origin: [offset; 2],
                arm: Vec3::zeros(),
                turn: Vec3::zeros(),
            };
        };
        let positions = ends.map(|p| p.position(at));
        let turns = positions.map(body_rotation);
        let body = turns.map(matrix);
        let [w, x, y, z] = multiply(conjugate(turns[0]), turns[1]);
        let arms = body.map(|r| r * offset);
        Self {
            axes: body.map(|r| r * own),
            origin: [0, 1].map(|k| vec3(positions[k], 0) + arms[k]),
            arm: 0.5 * (arms[0] + arms[1]),
            turn: body[0] * (Vec3::new(x, y, z) * (2.0 / w)),
            body,
        }
    }
}

/// Calls `add` with the forces of an element on the bodies of its frames over a displacement
/// between two positions of the parents, where the element has the coordinates `x` and the `force`
/// acts on it. With the Cayley vectors `alpha` and `beta` of the frames in space, `t` and `C` move
/// by the chords
///
/// ```math
/// dt = R_A'^T (dp_B - dp_A) + R_A'^T (d' x alpha),   c = R_B^T g,   g = (beta - alpha - alpha x beta/2)/(1 + alpha . beta/4)
/// ```
///
/// with the means `R_A'` and `d'` of the axes of A and of `p_B - p_A`. Over them the force has the
/// mean gradient of both ends, and along them what that misses of its work on the displacement of
/// `x` beyond rounding. The work on the bodies is then that on `x`, and there is neither a force on
/// both together nor a moment about the mean of positions. False where a gradient does not exist.
pub(crate) fn add_forces(
    mapping: &dyn RelativeMotion,
    element: usize,
    ends: [&Parents<'_>; 2],
    x: [&[f64]; 2],
    force: &[f64],
    mut add: impl FnMut(ChordWrench),
) -> bool {
    let frames = mapping.frames(element);
    let [Some(start), Some(end)] = ends.map(|p| mapping.gradient(element, p, force)) else {
        return false;
    };
    let [a, b] = [&frames[0], &frames[1]].map(|f| MovingFrame::new(f, ends));
    let apart = [0, 1].map(|k| b.origin[k] - a.origin[k]);
    let spread = 1.0 + 0.25 * a.turn.dot(&b.turn);
    let turned = (b.turn - a.turn - 0.5 * a.turn.cross(&b.turn)) / spread;
    let chords = [
        a.axes[1].transpose() * apart[1] - a.axes[0].transpose() * apart[0],
        b.axes[0].transpose() * turned,
    ];
    let mut mean = [0, 1].map(|k| 0.5 * (Vec3::from(start[k]) + Vec3::from(end[k])));
    // Coordinates are rounded as the places and angles that they are made of.
    let size = a.origin[1].norm() + b.origin[1].norm() + a.arm.norm() + b.arm.norm();
    let mut noise = size * mean[0].norm() + mean[1].norm();
    let mut missed = 0.0;
    for (f, (x, to)) in force.iter().zip(x[0].iter().zip(x[1])) {
        missed += f * (to - x);
        noise += f.abs() * (x.abs() + to.abs());
    }
    let mut square = 0.0;
    for k in 0..2 {
        missed -= mean[k].dot(&chords[k]);
        if mean[k] != Vec3::zeros() {
            square += chords[k].norm_squared();
        }
    }
    if missed.abs() > ROUNDINGS * f64::EPSILON * noise && square > 0.0 {
        for (mean, chord) in mean.iter_mut().zip(&chords) {
            if *mean != Vec3::zeros() {
                *mean += chord * (missed / square);
            }
        }
    }
    let force: Vec3 = 0.5 * (a.axes[0] + a.axes[1]) * mean[0];
    let torque = b.axes[0] * mean[1];
    let pair = (torque + 0.5 * a.turn.cross(&torque)) / spread;
    let between = 0.5 * (apart[0] + apart[1]);
    let on_a = force.cross(&(between + a.arm)) - pair;
    let on_b = b.arm.cross(&force) + pair;
    for (frame, moving, force, torque) in [(&frames[0], &a, -force, on_a), (&frames[1], &b, force, on_b)] {
        if let Some(on) = frame.on {
            let torques = moving.body.map(|r| r.transpose() * torque);
            add(ChordWrench { on, force, torques });
        }
    }
    true
}
