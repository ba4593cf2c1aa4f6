//! The Jacobian of the rows of a contact, and its derivatives by what it hangs on.

use crate::taken::ContactPlace;
use pliant_dense::{Mat3, Vec3, rotation, skew};
use pliant_kkt::Support;
use pliant_model::{Model, Space, State};
use std::ops::Range;

/// The Jacobian of the rows of a contact, or a derivative of it, over the velocities of all nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactJacobian<'a> {
    pub(super) columns: &'a [Column],
}

/// A column that is not zero: its velocity coordinate, and the entries of the rows.
pub(super) type Column = (usize, [f64; 3]);

impl ContactJacobian<'_> {
    pub(super) fn times(&self, v: &[f64]) -> [f64; 3] {
        let mut out = [0.0; 3];
        for (at, column) in self.columns {
            (0..3).for_each(|i| out[i] += column[i] * v[*at]);
        }
        out
    }

    pub(super) fn add_transposed(&self, r: [f64; 3], out: &mut [f64]) {
        for (at, column) in self.columns {
            out[*at] += (0..3).map(|i| column[i] * r[i]).sum::<f64>();
        }
    }
}

/// An orthonormal frame whose first axis is a unit normal.
pub(super) fn frame(normal: Vec3) -> [Vec3; 3] {
    let least = normal.iamin();
    let along = Vec3::from_fn(|i, _| if i == least { 1.0 } else { 0.0 });
    let first = (along - normal * normal.dot(&along)).normalize();
    [normal, first, normal.cross(&first)]
}

/// The kinematics of a contact at the start of a step: the axes of its rows, and the bodies there.
pub(super) struct ContactKinematics<'a> {
    pub(super) model: &'a Model,
    pub(super) start: &'a State,
    pub(super) axes: [Vec3; 3],
    pub(super) count: usize,
}

impl ContactKinematics<'_> {
    /// The Jacobian: `axis_i . sum_s weight (v + (R w_body) x arm)`.
    pub(super) fn rows(&self, supports: &[Support], out: &mut Vec<Column>) -> Range<usize> {
        let first = out.len();
        for s in supports {
            self.add(out, s, self.axes, s.weight, Vec3::from(s.arm));
        }
        first..out.len()
    }

    /// The derivative of the Jacobian by an independent coordinate, with which axes, weights and arms
    /// change by these numbers and bodies turn; by a parameter, with which no body turns, without one.
    pub(super) fn derivative(
        &self,
        supports: &[Support],
        by: &ContactPlace,
        dof: Option<usize>,
        out: &mut Vec<Column>,
    ) -> Range<usize> {
        let change = Vec3::from(by.normal);
        // The tangents turn with the normal, and not about it.
        let turned = self.axes.map(|a| -self.axes[0] * a.dot(&change));
        let turned = [change, turned[1], turned[2]];
        let first = out.len();
        for (s, d) in supports.iter().zip(&by.supports) {
            let (weight, arm) = (s.weight, Vec3::from(s.arm));
            self.add(out, s, turned, weight, arm);
            self.add(out, s, self.axes, d.weight, arm);
            // Along the arm alone: the translation is in the others.
            self.add_turn(out, s, self.axes, weight, Vec3::from(d.arm), Mat3::identity());
            let node = self.model.node(s.node);
            if let (Some(dofs), Space::Rigid3, Some(dof)) = (node.first_dof(), node.space, dof) {
                let own = dofs + 6 * s.element + 3;
                if (own..own + 3).contains(&dof) {
                    // d(R w) = R (e x w).
                    let axis = Vec3::from_fn(|i, _| if i == dof - own { 1.0 } else { 0.0 });
                    self.add_turn(out, s, self.axes, weight, arm, skew(axis));
                }
            }
        }
        first..out.len()
    }

    /// Adds the columns of a support with this weight and arm.
    fn add(&self, out: &mut Vec<Column>, s: &Support, axes: [Vec3; 3], weight: f64, arm: Vec3) {
        let node = self.model.node(s.node);
        let size = node.space.velocity_size();
        let at = node.first_velocity + size * s.element;
        for k in 0..3 {
            let column = std::array::from_fn(|i| if i < self.count { weight * axes[i][k] } else { 0.0 });
            out.push((at + k, column));
        }
        self.add_turn(out, s, axes, weight, arm, Mat3::identity());
    }

    /// Adds the columns of the angular velocity of a body, in its axes, after a turn of these.
    fn add_turn(
        &self,
        out: &mut Vec<Column>,
        s: &Support,
        axes: [Vec3; 3],
        weight: f64,
        arm: Vec3,
        turn: Mat3,
    ) {
        let node = self.model.node(s.node);
        if node.space != Space::Rigid3 {
            return;
        }
        let x = &self.start.positions[node.first_position + 7 * s.element..][..7];
        let back = (rotation::matrix([x[3], x[4], x[5], x[6]]) * turn).transpose();
        let rows: [Vec3; 3] = std::array::from_fn(|i| back * arm.cross(&axes[i]) * weight);
        let at = node.first_velocity + 6 * s.element + 3;
        for k in 0..3 {
            let column = std::array::from_fn(|i| if i < self.count { rows[i][k] } else { 0.0 });
            out.push((at + k, column));
        }
    }
}
