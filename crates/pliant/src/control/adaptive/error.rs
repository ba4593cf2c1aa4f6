//! Difference between the step at once and its two halves.

use super::Adaptive;
use pliant_model::{Model, Node, Space, State};
use pliant_stepper::contact::Sleeping;
use std::ops::Range;

/// How far a trial is from its tolerance.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// The largest error as a share of what is allowed; infinite where one is not a number.
    pub(crate) share: f64,
    /// The largest error, and the coordinate that has the largest part of it.
    pub(crate) worst: f64,
    pub(crate) dof: usize,
    /// Largest error of a position, of a velocity.
    pub(crate) position: f64,
    pub(crate) velocity: f64,
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

impl Measured {
    /// Takes in the error of a part, against the change of that part in the step.
    fn add(&mut self, error: &[f64], change: &[f64], allowed: f64, relative: f64, first_dof: usize) -> f64 {
        let size = norm(error.iter().copied());
        let share = size / (allowed + relative * norm(change.iter().copied()));
        let share = if share.is_nan() { f64::INFINITY } else { share };
        if share > self.share {
            let part = (0..error.len()).max_by(|a, b| error[*a].abs().total_cmp(&error[*b].abs()));
            (self.share, self.worst, self.dof) = (share, size, first_dof + part.unwrap_or(0));
        }
        size
    }
}

/// Differences of the coordinates of one node, twice.
#[derive(Debug, Default)]
pub(super) struct Differences {
    error: Vec<f64>,
    change: Vec<f64>,
}

/// States of a trial: its start, its end taken at once, and its end in halves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends<'a> {
    pub(super) start: &'a State,
    pub(super) coarse: &'a State,
    pub(super) fine: &'a State,
}

impl Differences {
    /// Measures a trial of length `h`.
    pub(super) fn measure(&mut self, model: &Model, ends: Ends<'_>, how: &Adaptive, h: f64) -> Measured {
        let mut out = Measured::default();
        let Ends { start, coarse, fine } = ends;
        let Self { error, change } = self;
        let position = how.position * h.max(how.position_kink);
        let velocity = how.velocity * h.max(how.velocity_kink);
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
                let (e, c) = (&error[part.clone()], &change[part.clone()]);
                let size = out.add(e, c, position, how.relative, first + part.start);
                out.position = out.position.max(size);
            }
            for (i, k) in v.enumerate() {
                error[i] = coarse.velocities[k] - fine.velocities[k];
                change[i] = fine.velocities[k] - start.velocities[k];
            }
            for part in parts(node) {
                let (e, c) = (&error[part.clone()], &change[part.clone()]);
                let size = out.add(e, c, velocity, how.relative, first + part.start);
                out.velocity = out.velocity.max(size);
            }
        }
        out
    }
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
