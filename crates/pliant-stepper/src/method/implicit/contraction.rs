//! The error that Newton's method leaves in the velocities, from how its steps shrink.
//!
//! A residual that is small beside the terms of stiff equations may still be large for the soft
//! motion in them. A step of the iteration is a velocity whatever the stiffness: with the ratio
//! `q` of the last two the iterate is off by about `q/(1 - q)` times the last one (Hairer and
//! Wanner, Solving Ordinary Differential Equations II, IV.8).

use pliant_model::{Model, Space};
use pliant_solvers::KktSystem;

/// Ratio of two steps above which they tell nothing of the error.
const SLOW: f64 = 0.5;

/// Share of the error of a step that iterations may add to it.
const FRACTION: f64 = 0.01;

/// The steps of an iteration as velocities of points (m/s): the largest of all coordinates, those
/// of rotations times the radius of gyration of their body.
#[derive(Debug, Default)]
pub(super) struct Contraction {
    /// Radius of gyration (m) for coordinates that are rotations, else 1.
    lever: Vec<f64>,
    first: Option<f64>,
    last: f64,
    /// Estimated error of the iterate; infinite where it is not known.
    error: f64,
}

impl Contraction {
    /// Begins an iteration whose matrices are filled. Cost: one pass over the coordinates.
    pub(super) fn begin(&mut self, model: &Model, system: &KktSystem) {
        (self.first, self.last, self.error) = (None, f64::INFINITY, f64::INFINITY);
        self.lever.clear();
        self.lever.resize(system.n(), 1.0);
        let inertia = |i: usize| system.w_diagonal(i).abs();
        for node in model.nodes().iter().filter(|n| n.space == Space::Rigid3) {
            let Some(first) = node.first_dof() else { continue };
            for body in (first..first + node.velocity_range().len()).step_by(6) {
                let mass = inertia(body) + inertia(body + 1) + inertia(body + 2);
                for i in body + 3..body + 6 {
                    let lever = (3.0 * inertia(i) / mass).sqrt();
                    self.lever[i] = if lever.is_finite() { lever } else { 1.0 };
                }
            }
        }
    }

    /// Takes the next step, which the iteration is about to go.
    pub(super) fn take(&mut self, step: &[f64]) {
        let size = self.size(step);
        let ratio = size / self.last;
        self.first.get_or_insert(size);
        self.error = match ratio < SLOW {
            true if self.last.is_finite() => ratio / (1.0 - ratio) * size,
            _ => f64::INFINITY,
        };
        self.last = size;
    }

    /// Forgets the error: the iteration did not go the whole of the step.
    pub(super) fn forget(&mut self) {
        self.error = f64::INFINITY;
    }

    /// Whether the iterate is off by no more than a share of its velocities, from `start` to `end`,
    /// and by no more than a hundredth of the error of the step, whose order is 3/2 times that of
    /// the first step from an expected iterate.
    pub(super) fn is_close(&self, share: f64, start: &[f64], end: &[f64]) -> bool {
        let Some(first) = self.first else { return false };
        let velocity = self.size(start).max(self.size(end));
        let of_step = FRACTION * first * (first / velocity).sqrt();
        self.error <= of_step.min(share * velocity)
    }

    /// Whether the last step is no more than a share of the velocities, from `start` to `end`, of
    /// an iterate that it could not better. Then that is the error, and `left` says so.
    pub(super) fn ends_within(&mut self, share: f64, start: &[f64], end: &[f64]) -> bool {
        let velocity = self.size(start).max(self.size(end));
        let ends = self.last <= share * velocity;
        if ends {
            self.error = self.last;
        }
        ends
    }

    /// The estimated error of the iterate as a share of its velocities, where it is known.
    pub(super) fn left(&self, start: &[f64], end: &[f64]) -> Option<f64> {
        let share = self.error / self.size(start).max(self.size(end));
        share.is_finite().then_some(share)
    }

    fn size(&self, velocity: &[f64]) -> f64 {
        let points = velocity.iter().zip(&self.lever).map(|(v, l)| (v * l).abs());
        // A NaN must not hide behind `max`.
        points.fold(0.0, |a, v| if v > a || v.is_nan() { v } else { a })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps that shrink to a tenth leave a ninth of the last one, in the units of the levers; of
    /// one step, or of steps that hardly shrink, nothing is known.
    #[test]
    fn the_error_is_that_of_the_steps_to_come() {
        let mut c = Contraction {
            lever: vec![1.0, 0.5],
            first: None,
            last: f64::INFINITY,
            error: f64::INFINITY,
        };
        let velocity = [10.0, 0.0];
        let close = |c: &Contraction, share| c.is_close(share, &velocity, &[0.0; 2]);
        c.take(&[0.1, 2.0]);
        assert!(!close(&c, 1.0));
        c.take(&[0.1, 0.02]);
        assert!((c.error - 0.1 / 9.0).abs() < 1e-15, "{}", c.error);
        // A hundredth of 1 m/s times the root of a tenth is less.
        assert!(!close(&c, 1.0));
        c.take(&[0.01, 0.0]);
        assert!((c.error - 0.01 / 9.0).abs() < 1e-15, "{}", c.error);
        assert!(close(&c, 1.2e-4) && !close(&c, 1e-4));
        let left = |c: &Contraction| c.left(&velocity, &[0.0; 2]);
        assert!((left(&c).unwrap() - 0.001 / 9.0).abs() < 1e-15);
        c.forget();
        assert!(!close(&c, 1.0) && left(&c).is_none());
        c.take(&[0.006, 0.0]);
        assert!(!close(&c, 1.0) && c.error == f64::INFINITY);
        c.take(&[1e-5, 0.0]);
        c.forget();
        // A millionth of 10 m/s, of a step that was not taken.
        assert!(!c.ends_within(0.9e-6, &velocity, &[0.0; 2]) && left(&c).is_none());
        assert!(c.ends_within(1.1e-6, &velocity, &[0.0; 2]));
        assert!((left(&c).unwrap() - 1e-6).abs() < 1e-15);
        c.take(&[f64::NAN, 0.0]);
        assert!(!close(&c, 1.0) && !c.ends_within(1.0, &velocity, &[0.0; 2]));
    }
}
