//! Rows of bounded force that nothing brings to their bounds, as limits of joints far away from
//! where these are.

use super::Cone;
use crate::KktSystem;

/// Rows that the parts leave out, without force. They are guessed from the velocities of rows
/// before the solve, and every solve examines them at its end.
#[derive(Debug, Default)]
pub(super) struct IdleRows {
    /// Whether each block of rows is one that its part leaves out if it has cones.
    pub(super) expected: Vec<bool>,
    /// Rows that are in no part, ascending.
    pub(super) rows: Vec<u32>,
    /// Whether the guesses are to be made anew.
    pub(super) is_due: bool,
}

/// The velocity at which a row without force leaves its bound, if the force has this sign or none.
fn opening(bounds: (f64, f64), velocity: f64) -> Option<f64> {
    match bounds {
        (0.0, f64::INFINITY) => Some(velocity),
        (f64::NEG_INFINITY, 0.0) => Some(-velocity),
        _ => None,
    }
}

/// The largest change of a variable that its right-hand side makes where nothing holds it.
fn largest_change(system: &KktSystem) -> f64 {
    let free = (0..system.n()).filter(|k| !system.fixed[*k]);
    let changes = free.map(|k| (system.c[k] / system.w_diagonal(k)).abs());
    changes.filter(|change| change.is_finite()).fold(0.0, f64::max)
}

/// The largest velocity `b` along a normal; none without cones.
fn approach(system: &KktSystem, cones: &[Option<Cone>]) -> Option<f64> {
    let blocks = system.row_blocks().iter().zip(cones);
    let normals = blocks.filter_map(|(first, cone)| cone.map(|_| system.b[*first].abs()));
    normals.reduce(f64::max)
}

impl IdleRows {
    /// Guesses that rows of one sign are idle whose `b` opens faster than that of any contact
    /// closes or opens, and than the largest change of a variable without impulses: limits open
    /// with their distance over the length of the step, which is mostly far more. Cost: a pass over
    /// the variables and rows.
    pub(super) fn guess(&mut self, system: &KktSystem, cones: &[Option<Cone>]) {
        let change = largest_change(system);
        let approach = approach(system, cones);
        let is_idle = |rows: &[usize], cone: &Option<Cone>| match (rows, cone, approach) {
            ([first, end], None, Some(approach)) if first + 1 == *end => {
                let entries = system.j.row_entries(*first);
                let most = approach + change * entries.map(|(_, a)| a.abs()).sum::<f64>();
                opening(system.bounds[*first], system.b[*first]).is_some_and(|u| u > most)
            }
            _ => false,
        };
        self.is_due = false;
        self.expected.clear();
        let blocks = system.row_blocks().windows(2).zip(cones);
        self.expected
            .extend(blocks.map(|(rows, cone)| is_idle(rows, cone)));
    }

    /// Takes back the guesses that velocities of the rows contradict; whether there are any.
    pub(super) fn wake(&mut self, system: &KktSystem, velocity: impl Fn(usize) -> f64) -> bool {
        let mut wakes = false;
        for row in self.rows.iter().map(|row| *row as usize) {
            let stays = opening(system.bounds[row], velocity(row)).is_some_and(|u| u >= 0.0);
            if !stays {
                let block = system.row_blocks().partition_point(|first| *first <= row) - 1;
                self.expected[block] = false;
                wakes = true;
            }
        }
        wakes
    }
}
