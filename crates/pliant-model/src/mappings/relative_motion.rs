//! The motion of one frame against another with its first two derivatives, and which branch of an
//! angle is meant.

use super::frames::JointFrame;
use super::rigid_points::body_rotation;
use crate::{Blocks, Parents};
use pliant_dense::rotation::{
    Quaternion, conjugate, inverse_right_jacobian, inverse_right_jacobian_derivative, log, matrix, multiply,
    other_way,
};
use pliant_dense::{Mat3, Vec3, skew, vec3};

/// Gradient and Hessian of a function of the motion of frame B against frame A, in the
/// displacements `t <- t + tau` and `c <- c exp(u)`. No function here is of second order in `t`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slopes {
    /// Gradient over `tau`.
    pub(super) tau: Vec3,
    /// Gradient over `u`.
    pub(super) u: Vec3,
    /// Mixed second derivatives, rows `tau`, columns `u`.
    pub(super) mixed: Mat3,
    /// Hessian over `u`.
    pub(super) uu: Mat3,
}

impl Slopes {
    /// The gradients over `tau` and `u`.
    pub(super) fn gradient(&self) -> [[f64; 3]; 2] {
        [self.tau.into(), self.u.into()]
    }

    pub(super) fn zero() -> Self {
        Self {
            tau: Vec3::zeros(),
            u: Vec3::zeros(),
            mixed: Mat3::zeros(),
            uu: Mat3::zeros(),
        }
    }
}

/// First and second derivatives over time of `tau` and `u`, at constant velocities of the bodies.
pub(super) struct Rates {
    pub(super) tau: Vec3,
    pub(super) u: Vec3,
    pub(super) tau2: Vec3,
    pub(super) u2: Vec3,
}

impl Rates {
    /// First and second derivative of the rotation vector.
    pub(super) fn of_log(&self, r: Vec3) -> (Vec3, Vec3) {
        let inverse = inverse_right_jacobian(r);
        let rate = inverse * self.u;
        (
            rate,
            inverse_right_jacobian_derivative(r, self.u) * rate + inverse * self.u2,
        )
    }
}

/// The numbers `v . H_i v` of three Hessians.
pub(super) fn curvatures(v: Vec3, hessian: impl Fn(Vec3) -> Mat3) -> Vec3 {
    Vec3::from_fn(|i, _| {
        let unit = Vec3::from_fn(|j, _| f64::from(u8::from(i == j)));
        v.dot(&(hessian(unit) * v))
    })
}

/// Where frame B is, seen from frame A, and how that moves with the two bodies.
pub(super) struct Relative {
    /// `t = R_A^T (p_B - p_A)`.
    pub(super) t: Vec3,
    /// Quaternion of `C = R_A^T R_B`.
    pub(super) c: Quaternion,
    moves: [bool; 2],
    /// Of body a, to world axes.
    ra: Mat3,
    /// Axes of body b in body a.
    b: Mat3,
    /// Axes of the frames in their bodies.
    ea: Mat3,
    eb: Mat3,
    /// Origin of B in the axes of body a, from its centre.
    s: Vec3,
    /// Origin of B in the axes of body b.
    ob: Vec3,
}

impl Relative {
    pub(super) fn new(a: &JointFrame, b: &JointFrame, parents: &Parents<'_>) -> Self {
        let place = |frame: &JointFrame| match frame.on {
            Some(at) => {
                let x = parents.position(at);
                (vec3(x, 0), body_rotation(x))
            }
            None => (Vec3::zeros(), pliant_dense::rotation::IDENTITY),
        };
        let ((pa, qa), (pb, qb)) = (place(a), place(b));
        let between = multiply(conjugate(qa), qb);
        let (ra, between_matrix) = (matrix(qa), matrix(between));
        let (ea, eb) = (matrix(a.pose.rotation), matrix(b.pose.rotation));
        let ob = Vec3::from(b.pose.position);
        let s = ra.transpose() * (pb - pa) + between_matrix * ob;
        Self {
            t: ea.transpose() * (s - Vec3::from(a.pose.position)),
            c: multiply(multiply(conjugate(a.pose.rotation), between), b.pose.rotation),
            moves: [a.on.is_some(), b.on.is_some()],
            ra,
            b: between_matrix,
            ea,
            eb,
            s,
            ob,
        }
    }

    /// Writes the row of `J` of a function with gradient `(tau, u)` over the bodies that move.
    pub(super) fn write_row(&self, tau: Vec3, u: Vec3, row: &mut [f64]) {
        let mut parts = [[Vec3::zeros(); 2]; 2];
        // Most coordinates depend on one of the two.
        if u != Vec3::zeros() {
            let w = self.eb * u;
            parts = [[Vec3::zeros(), -(self.b * w)], [Vec3::zeros(), w]];
        }
        if tau != Vec3::zeros() {
            let g = self.ea * tau;
            let (force, gb) = (self.ra * g, self.b.transpose() * g);
            let [a, b] = &mut parts;
            (a[0], b[0]) = (-force, force);
            a[1] += g.cross(&self.s);
            b[1] += self.ob.cross(&gb);
        }
        let moving = parts.iter().zip(self.moves).filter(|(_, moves)| *moves);
        for ((part, _), out) in moving.zip(row.as_chunks_mut::<6>().0) {
            out[..3].copy_from_slice(part[0].as_slice());
            out[3..].copy_from_slice(part[1].as_slice());
        }
    }

    /// How the frames move when the bodies keep their velocities.
    pub(super) fn rates(&self, a: &JointFrame, b: &JointFrame, parents: &Parents<'_>) -> Rates {
        let velocity = |frame: &JointFrame| match frame.on {
            Some(at) => {
                let v = parents.velocity(at);
                (vec3(v, 0), vec3(v, 3))
            }
            None => (Vec3::zeros(), Vec3::zeros()),
        };
        let ((va, wa), (vb, wb)) = (velocity(a), velocity(b));
        // How the origin of B moves in the axes of body a, but for the turning of those axes.
        let added = self.ra.transpose() * (vb - va) + self.b * wb.cross(&self.ob);
        let turning = wb.cross(&wb.cross(&self.ob));
        let (back, carried) = (self.ea.transpose(), self.b.transpose() * wa);
        Rates {
            tau: back * (added - wa.cross(&self.s)),
            u: self.eb.transpose() * (wb - carried),
            tau2: back * (wa.cross(&wa.cross(&self.s)) - 2.0 * wa.cross(&added) + self.b * turning),
            u2: self.eb.transpose() * wb.cross(&carried),
        }
    }

    /// Adds the Hessian of a function over the displacements of the bodies that move: with `tau`
    /// and `u` of second order in them, `J^T H J` and what the gradient makes of the second-order
    /// terms.
    pub(super) fn add_hessian(&self, f: &Slopes, block: &mut [f64], width: usize) {
        let (g, w) = (self.ea * f.tau, self.eb * f.u);
        let gb = self.b.transpose() * g;
        // Derivatives of tau and u over (p_a, r_a, p_b, r_b), in the axes of body a and body b.
        let arm = -self.b * skew(self.ob);
        let tau = [-self.ra.transpose(), skew(self.s), self.ra.transpose(), arm];
        let u = [None, Some(-self.b.transpose()), None, Some(Mat3::identity())];
        let mixed = self.ea * f.mixed * self.eb.transpose();
        let uu = self.eb * f.uu * self.eb.transpose();
        let mut second = [[None; 4]; 4];
        // exp(-r_a) s: s turns against body a, and with it what body b adds to it.
        second[1][1] =
            Some(0.5 * (g * self.s.transpose() + self.s * g.transpose()) - g.dot(&self.s) * Mat3::identity());
        let turn = skew(g) * self.ra.transpose();
        second[0][1] = Some(-turn.transpose());
        second[1][2] = Some(turn);
        // exp(-a) exp(b) = exp(b - a - a x b/2 + ...).
        second[1][3] = Some(skew(g) * arm + 0.5 * self.b * skew(w));
        second[3][3] = Some(
            0.5 * (gb * self.ob.transpose() + self.ob * gb.transpose()) - gb.dot(&self.ob) * Mat3::identity(),
        );
        let start = [
            0,
            3,
            6 * usize::from(self.moves[0]),
            6 * usize::from(self.moves[0]) + 3,
        ];
        for x in 0..4 {
            for y in x..4 {
                if !(self.moves[x / 2] && self.moves[y / 2]) {
                    continue;
                }
                let mut h = second[x][y].unwrap_or_else(Mat3::zeros);
                if let Some(uy) = u[y] {
                    h += tau[x].transpose() * (mixed * uy);
                }
                if let Some(ux) = u[x] {
                    h += (mixed * ux).transpose() * tau[y];
                    if let Some(uy) = u[y] {
                        h += ux.transpose() * (uu * uy);
                    }
                }
                for i in 0..3 {
                    for j in 0..3 {
                        block[(start[x] + i) * width + start[y] + j] += h[(i, j)];
                        if x != y {
                            block[(start[y] + j) * width + start[x] + i] += h[(i, j)];
                        }
                    }
                }
            }
        }
    }
}

/// The error of a mapping for a rotation vector that it cannot follow.
pub(super) const FULL_TURN: &str = "its rotation is within a thousandth of a radian of a full turn, where the rotation vector has no direction";

/// The rotation vector of `c` nearest to `last`, of the two below a full turn; `weight` picks the
/// coordinates of `last` that are known.
pub(super) fn nearest_log(c: Quaternion, last: Vec3, weight: Vec3) -> Result<Vec3, &'static str> {
    const TURN: f64 = 2.0 * std::f64::consts::PI;
    let r = log(c);
    let distance = |a: Vec3| (a - last).component_mul(&weight).norm();
    // A vector that is not finite is near to nothing: all comparisons fail, and the shorter way is
    // taken.
    match other_way(r) {
        // Equally near (a new state at a half turn): the shorter one.
        Some(other) if distance(other) < distance(r) - 1e-12 => {
            if other.norm() > TURN - 1e-3 {
                Err(FULL_TURN)
            } else {
                Ok(other)
            }
        }
        None if last.component_mul(&weight).norm() > 0.5 * TURN => Err(FULL_TURN),
        _ => Ok(r),
    }
}

/// Adds to an angle the multiple of a full turn that brings it nearest to `last`; none if two are
/// equally near.
pub(super) fn nearest_turn(angle: f64, last: f64) -> f64 {
    const TURN: f64 = 2.0 * std::f64::consts::PI;
    let turns = (last - angle) / TURN;
    if turns.is_finite() {
        angle + TURN * (turns.abs() - 0.5 - 1e-9).ceil().max(0.0).copysign(turns)
    } else {
        angle
    }
}

/// Three coordinates of the positions of the child, zero where they are not known.
pub(super) fn last3(child: &[f64], start: usize) -> Vec3 {
    child
        .get(start..start + 3)
        .map_or_else(Vec3::zeros, |x| vec3(x, 0))
}

/// One row of a block, to be written.
pub(super) fn row_mut(out: &mut Blocks, element: usize, row: usize) -> &mut [f64] {
    let width = out.width(element);
    &mut out.block_mut(element)[row * width..][..width]
}
