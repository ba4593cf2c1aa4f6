//! The backward differentiation formula of order 3.

use super::{Finished, ImplicitMethod, Past, Relation, Start};
use pliant_dense::{Vec3, rotation, vec3};
use std::f64::consts::TAU;

/// The backward differentiation formula of order 3 for steps of any length: with the times
/// `s_0 = h`, `s_1 = h + h_1`, `s_2 = h + h_1 + h_2` from the last three states to the end of the
/// step
///
/// ```math
/// a = sum_j (v+ - c_j v_j)/s_j,   c_j = prod_(m != j) s_m/(s_m - s_j),   d' = v+ + [h^2/(4 h_1) v_1 x v]_rotations
/// ```
///
/// and the same for the rates `d'` of positions, in coordinates about the start of the step, in
/// which a body turns by `J_r^-1(d) omega`, not by `omega`: the bracket is their difference to
/// third order. The first step is one of the trapezoidal rule from the accelerations of the start,
/// the second one of BDF2, and so is a step more than 2.25 times as long as the shorter of the last
/// two: steps that grow by 1.534 each are the limit of stability (Calvo, Grande and Grigorieff
/// 1990). Stable for all
/// `h omega` at angles below 86 degrees from decay (Hairer and Wanner 1996), so that undamped
/// vibrations with `h omega` below 1.94 grow, by about `(h omega)^4/4` per step while that is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bdf3;

/// The largest ratio of a step to the shorter of the last two that is taken with order 3.
const GROWTH: f64 = 2.25;

/// Times from the known states to the end of a step (s), the last known state first.
#[derive(Clone, Copy, Debug)]
struct Times {
    times: [f64; 3],
    count: usize,
}

impl Times {
    fn new(past: &Past<'_>) -> Self {
        let h = past.h;
        let (last, earlier) = (past.previous.unwrap_or(0.0), past.before.unwrap_or(0.0));
        let count = match (past.previous, past.before) {
            (None, _) => 1,
            (Some(last), Some(earlier)) if h <= GROWTH * last.min(earlier) => 3,
            _ => 2,
        };
        Self {
            times: [h, h + last, h + last + earlier],
            count,
        }
    }

    fn known(&self) -> &[f64] {
        &self.times[..self.count]
    }

    /// Weight of the end in its derivative (1/s).
    fn end(&self) -> f64 {
        self.known().iter().map(|s| s.recip()).sum()
    }

    /// Weight of the known state `j` in the derivative at the end (1/s); zero if it is not used.
    fn weight(&self, j: usize) -> f64 {
        if j >= self.count {
            return 0.0;
        }
        let own = self.times[j];
        let others = self.known().iter().enumerate().filter(|(m, _)| *m != j);
        let product: f64 = others.map(|(_, s)| s / (s - own)).product();
        -product / own
    }
}

/// The rotation vector of the rotation of `turn` that is nearest to another one: vectors that differ
/// by whole turns are one rotation, but not one displacement.
fn nearest_turn(turn: Vec3, near: Vec3) -> Vec3 {
    let angle = turn.norm();
    let axis = match angle > 0.0 {
        true => turn / angle,
        false => near.try_normalize(0.0).unwrap_or_default(),
    };
    turn + axis * TAU * ((near.dot(&axis) - angle) / TAU).round()
}

impl ImplicitMethod for Bdf3 {
    fn name(&self) -> &'static str {
        "BDF3"
    }

    fn order(&self) -> usize {
        3
    }

    fn largest_growth(&self) -> f64 {
        GROWTH
    }

    /// Velocities of the last two states before the present one, then their displacements from it.
    /// Before the first step: the accelerations.
    fn memory(&self) -> usize {
        4
    }

    fn needs_acceleration(&self) -> bool {
        true
    }

    fn start(&self, state: &Start<'_>, memory: &mut [f64]) {
        memory.fill(0.0);
        memory[..state.acceleration.len()].copy_from_slice(state.acceleration);
    }

    fn relate(&self, past: &Past<'_>, relation: &mut Relation) {
        let (n, h) = (past.velocity.len(), past.h);
        if past.previous.is_none() {
            relation.acceleration_gain = 2.0 / h;
            relation.displacement_gain = 0.5 * h;
            for (i, v) in past.velocity.iter().enumerate() {
                relation.acceleration[i] = -2.0 / h * v - past.memory[i];
                relation.displacement[i] = 0.5 * h * v;
            }
            return;
        }
        let times = Times::new(past);
        let (end, weights) = (times.end(), [0, 1, 2].map(|j| times.weight(j)));
        relation.acceleration_gain = end;
        relation.displacement_gain = end.recip();
        let [last, earlier, to_last, to_earlier] = [0, 1, 2, 3].map(|k| &past.memory[k * n..(k + 1) * n]);
        for i in 0..n {
            relation.acceleration[i] =
                weights[0] * past.velocity[i] + weights[1] * last[i] + weights[2] * earlier[i];
            relation.displacement[i] = -(weights[1] * to_last[i] + weights[2] * to_earlier[i]) / end;
        }
        let Some(previous) = past.previous.filter(|_| times.count == 3) else {
            return;
        };
        let share = h * h / (4.0 * previous) / end;
        for &at in past.rotations {
            let turned = vec3(last, at).cross(&vec3(past.velocity, at)) * share;
            for (k, part) in turned.iter().enumerate() {
                relation.displacement[at + k] += part;
            }
        }
    }

    fn finish(&self, step: &Finished<'_>, memory: &mut [f64]) {
        let n = step.velocity.len();
        let (velocities, displacements) = memory.split_at_mut(2 * n);
        let (last, earlier) = velocities.split_at_mut(n);
        earlier.copy_from_slice(last);
        last.copy_from_slice(step.old_velocity);
        let (to_last, to_earlier) = displacements.split_at_mut(n);
        for i in 0..n {
            to_earlier[i] = to_last[i] - step.displacement[i];
        }
        // Rotations are taken one after the other: back over this step, then over the one before.
        for &at in step.rotations {
            let (d, last) = (vec3(step.displacement, at), vec3(to_last, at));
            let turn = rotation::log(rotation::multiply(rotation::exp(-d), rotation::exp(last)));
            to_earlier[at..at + 3].copy_from_slice(nearest_turn(turn, last - d).as_slice());
        }
        for (to, d) in to_last.iter_mut().zip(step.displacement) {
            *to = -d;
        }
    }
}
