//! Central differences along the velocity coordinates of nodes.

use pliant::model::Space;

/// Elements of one node at a place, which are moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) space: Space,
    pub(super) x: &'a [f64],
    /// Length of a step for coordinates of size 1 or less (m, rad).
    pub(super) difference: f64,
}

impl Place<'_> {
    /// Numbers of a velocity of one element.
    pub(super) fn size(&self) -> usize {
        self.space.velocity_size()
    }

    /// Number of elements.
    pub(super) fn count(&self) -> usize {
        self.x.len() / self.space.position_size()
    }

    /// The length of a step of a velocity coordinate: in proportion to large positions, which
    /// have no digits for shorter ones.
    pub(super) fn step(&self, k: usize) -> f64 {
        let (element, c) = (k / self.size(), k % self.size());
        let position = match self.space {
            Space::Rigid3 if c >= 3 => 0.0,
            space => self.x[element * space.position_size() + c],
        };
        self.difference * position.abs().max(1.0)
    }

    /// The place with these velocity coordinates moved by so many of their steps.
    pub(super) fn moved(&self, along: impl Iterator<Item = usize>, steps: f64) -> Vec<f64> {
        let mut displacement = vec![0.0; self.count() * self.size()];
        along.for_each(|k| displacement[k] = steps * self.step(k));
        let mut x = self.x.to_vec();
        self.space.retract(&mut x, &displacement);
        x
    }

    /// The place moved along a displacement of all velocity coordinates.
    pub(super) fn displaced(&self, displacement: &[f64]) -> Vec<f64> {
        let mut x = self.x.to_vec();
        self.space.retract(&mut x, displacement);
        x
    }

    /// The coordinates that are moved together: all alike ones of elements that do not act on
    /// each other, else one at a time.
    pub(super) fn together(&self, coupled: bool) -> Vec<Vec<usize>> {
        let (count, size) = (self.count(), self.size());
        match coupled {
            true => (0..count * size).map(|k| vec![k]).collect(),
            false => (0..size)
                .map(|c| (0..count).map(|e| e * size + c).collect())
                .collect(),
        }
    }
}

/// Slope by four values at -2, -1, 1 and 2 steps: the error goes with the fourth power of the step.
pub(super) fn slope([a, b, c, d]: [f64; 4]) -> f64 {
    (8.0 * (c - b) - (d - a)) / 12.0
}

/// The places of these values, in steps.
pub(super) const FOUR: [f64; 4] = [-2.0, -1.0, 1.0, 2.0];

/// How much longer the steps of second differences are than those of first ones, for their rounding
/// goes with the square of the step.
pub(super) const SECOND: f64 = 10.0;
