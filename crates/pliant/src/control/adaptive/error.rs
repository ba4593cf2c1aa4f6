//! Difference between the step at once and its two halves.

use super::{Adaptive, JumpReport};
use pliant_model::{Model, Node, Space, State};
use pliant_stepper::contact::Sleeping;
use pliant_stepper::observe::{Jump, Jumps};
use std::ops::Range;

/// Either way of a step has its own change of velocity by impulses that differ.
const WAYS: f64 = 2.0;

/// How far a trial is from its tolerance.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// The largest error as a share of what is allowed; infinite where one is not a number.
    pub(crate) share: f64,
    /// The largest error, and the coordinate that has the largest part of it.
    pub(crate) worst: f64,
    pub(crate) dof: usize,
    /// Whether a jump may have reached that coordinate.
    pub(crate) by_jump: bool,
    /// Largest error of a position, of a velocity, of those that smooth motion may have.
    pub(crate) position: f64,
    pub(crate) velocity: f64,
    /// The others, which a jump may have.
    pub(crate) left_out: Option<JumpReport>,
}

/// The velocity coordinates of a node, in parts that have one size: an element, of a body its place
/// and its turn.
fn parts(node: &Node) -> impl Iterator<Item = Range<usize>> {
    let size = if node.space == Space::Rigid3 {
        3
    } else {
        node.space.velocity_size()
    };
    (0..node.velocity_range().len())
        .step_by(size.max(1))
        .map(move |i| i..i + size)
}

fn norm(v: impl IntoIterator<Item = f64>) -> f64 {
    v.into_iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Error of a part, and the error that it may have.
#[derive(Clone, Copy, Debug)]
struct PartError {
    /// The error, or what a jump in the step may add to it if that is more.
    size: f64,
    /// That it may have in smooth motion.
    smooth: f64,
    /// Beyond that by a jump.
    by_jump: f64,
}

impl Measured {
    /// Takes in the error of a part; `of` are its coordinates, the first of which is `dof`. Returns
    /// whether it is more than smooth motion may have.
    fn add(&mut self, error: PartError, of: &[f64], dof: usize) -> bool {
        let PartError {
            size,
            smooth,
            by_jump,
        } = error;
        let share = match by_jump {
            f64::INFINITY if size.is_finite() => 0.0,
            _ => size / (smooth + by_jump),
        };
        let share = if share.is_nan() { f64::INFINITY } else { share };
        if share > self.share {
            let worst = (0..of.len()).max_by(|a, b| of[*a].abs().total_cmp(&of[*b].abs()));
            (self.share, self.worst, self.dof) = (share, size, dof + worst.unwrap_or(0));
            self.by_jump = by_jump > 0.0;
        }
        size > smooth
    }

    /// Takes in the error of a position (m, rad).
    fn add_position(&mut self, error: PartError, of: &[f64], dof: usize) {
        let largest = match self.add(error, of, dof) {
            true => &mut self.left_out.get_or_insert_default().position,
            false => &mut self.position,
        };
        *largest = largest.max(error.size);
    }

    /// Takes in the error of a velocity (m/s, rad/s).
    fn add_velocity(&mut self, error: PartError, of: &[f64], dof: usize) {
        let largest = match self.add(error, of, dof) {
            true => &mut self.left_out.get_or_insert_default().velocity,
            false => &mut self.velocity,
        };
        *largest = largest.max(error.size);
    }
}

/// A step of a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Its length (s).
    pub(super) h: f64,
    /// The most that corrections of overlap displaced (m).
    pub(super) recovery: f64,
    /// Whether its impacts are those of an event that was located at its start.
    pub(super) is_located: bool,
}

/// Errors of positions and velocities that a jump may add in a step: how much it is known to, and
/// how much it may.
#[derive(Clone, Copy, Debug, Default)]
struct JumpError {
    position: (f64, f64),
    velocity: (f64, f64),
}

impl JumpError {
    /// Errors by a jump in a step, whose halves change the velocity of the part by no more than
    /// `change` (m/s, rad/s) each.
    ///
    /// An impact at an unknown time in a half displaces by half of the step times the jump at most,
    /// whether both ways of the step see the same or not. A force that jumps at an unknown time in
    /// it leaves the velocity unknown by as much as it changes that.
    fn of(jump: Jump, how: &Adaptive, step: Step, change: f64) -> Self {
        let Step {
            h,
            recovery,
            is_located,
        } = step;
        let Jump {
            speed,
            own,
            is_impact,
            is_touched,
        } = jump;
        if !is_touched {
            return Self::default();
        }
        let most = how.position * how.jump_kink;
        let recovered = recovery.min(most);
        if is_impact {
            let displaced = if is_located {
                0.0
            } else {
                0.5 * h * speed.min(change)
            };
            Self {
                position: (displaced, (h * speed).min(most) + recovered),
                velocity: (0.0, WAYS * speed),
            }
        } else {
            Self {
                position: (0.0, recovered),
                velocity: (own.min(change), (WAYS * speed).min(how.velocity * how.jump_kink)),
            }
        }
    }
}

/// Differences of the coordinates of one node, twice.
#[derive(Debug, Default)]
pub(super) struct Differences {
    error: Vec<f64>,
    change: Vec<f64>,
}

/// States of a trial: its start, its end taken at once, its middle and its end in halves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends<'a> {
    pub(super) start: &'a State,
    pub(super) coarse: &'a State,
    pub(super) middle: &'a State,
    pub(super) fine: &'a State,
}

impl Differences {
    /// Measures a trial with these jumps.
    pub(super) fn measure(
        &mut self,
        model: &Model,
        ends: Ends<'_>,
        jumps: &Jumps,
        how: &Adaptive,
        step: Step,
    ) -> Measured {
        let mut out = Measured::default();
        let Ends {
            start,
            coarse,
            middle,
            fine,
        } = ends;
        let Self { error, change } = self;
        let position = how.position * step.h.max(how.position_kink);
        let velocity = how.velocity * step.h.max(how.velocity_kink);
        let difference =
            |a: &State, b: &State, part: Range<usize>| norm(part.map(|k| a.velocities[k] - b.velocities[k]));
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let (x, v) = (node.position_range(), node.velocity_range());
            error.clear();
            error.resize(v.len(), 0.0);
            change.clear();
            change.resize(v.len(), 0.0);
            let end = &fine.positions[x.clone()];
            node.space.local(end, &coarse.positions[x.clone()], error);
            node.space.local(&start.positions[x], end, change);
            for part in parts(node) {
                let dof = first + part.start;
                let all = v.start + part.start..v.start + part.end;
                let halves = difference(middle, start, all.clone());
                let halves = halves.max(difference(fine, middle, all.clone()));
                let by_jump = JumpError::of(jumps.at(dof..first + part.end), how, step, halves);
                let displaced = PartError {
                    size: larger(norm(error[part.clone()].iter().copied()), by_jump.position.0),
                    smooth: position + how.relative * norm(change[part.clone()].iter().copied()),
                    by_jump: by_jump.position.1,
                };
                out.add_position(displaced, &error[part.clone()], dof);
                let moved = PartError {
                    size: larger(difference(coarse, fine, all.clone()), by_jump.velocity.0),
                    smooth: velocity + how.relative * difference(fine, start, all.clone()),
                    by_jump: by_jump.velocity.1,
                };
                let of = &mut error[part];
                for (e, k) in of.iter_mut().zip(all) {
                    *e = coarse.velocities[k] - fine.velocities[k];
                }
                out.add_velocity(moved, of, dof);
            }
        }
        out
    }
}

/// The larger of two, not a number where the first is none.
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Whether nothing is faster than the limits of rest.
pub(super) fn is_slow(model: &Model, state: &State, rest: Sleeping) -> bool {
    let mut nodes = model.nodes().iter().filter(|n| n.first_dof().is_some());
    nodes.all(|node| {
        let v = &state.velocities[node.velocity_range()];
        parts(node).enumerate().all(|(i, part)| {
            let turns = node.space == Space::Rigid3 && i % 2 == 1;
            let limit = if turns { rest.spin } else { rest.speed };
            norm(v[part].iter().copied()) <= limit
        })
    })
}
