//! Paths over contacts by steps of the load: with friction an equilibrium depends on the way of the
//! loads.

use super::super::equilibrium::{go_back, settle};
use super::super::workspace::{Setting, Workspace};
use super::{LONGEST, Next, SHORTEST, growth, stuck};
use crate::Error;
use crate::statics::{Continuation, StaticMethod};

/// Iterations of one increment at most.
const ITERATIONS: usize = 300;

/// Increments of the load from the first point on, each with the way slipped in it against
/// friction.
#[derive(Debug)]
pub(crate) struct Increments {
    /// Change of the load factor in the next one.
    length: f64,
}

impl Increments {
    pub(crate) fn begin(how: &Continuation) -> Self {
        Self {
            length: how.step.abs().min(how.largest_step),
        }
    }

    /// Goes to the next point. An increment that does not come to rest, or only further away than a
    /// step may go, is taken in halves: what snaps through does not pass.
    pub(crate) fn next(
        &mut self,
        at: &mut Setting<'_>,
        work: &mut Workspace,
        how: &Continuation,
    ) -> Result<Next, Error> {
        let ahead = (how.end - how.start).signum();
        loop {
            let base = work.iterate(at);
            let (kind, before) = (work.linear.kind, work.progress.report.iterations);
            let next = base.unknowns.factor + self.length * ahead;
            let last = (next - how.end) * ahead >= 0.0;
            work.unknowns.factor = if last { how.end } else { next };
            work.contacts.begin_increment();
            work.progress.best = f64::INFINITY;
            work.progress.most = before + ITERATIONS;
            let found = match settle(at, work, StaticMethod::Newton) {
                Ok(()) => {
                    let to = &at.motion.state.positions;
                    work.metric.distance(&at.system.model, to, &base.state) <= LONGEST
                }
                Err(Error::NoEquilibrium { .. }) => false,
                Err(e) => return Err(e),
            };
            if found {
                let iterations = work.progress.report.iterations - before;
                self.length = (self.length * growth(how, iterations)).min(how.largest_step);
                return Ok(Next::Point { iterations, last });
            }
            go_back(at, work, &base)?;
            work.linear.kind = kind;
            self.length *= 0.5;
            if self.length < SHORTEST * how.step.abs() {
                return Ok(Next::Stuck(stuck(at, work, how)?));
            }
        }
    }
}
