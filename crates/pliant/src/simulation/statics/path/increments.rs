//! Paths over contacts by steps of the load: with friction an equilibrium depends on the way of the loads.

use super::super::super::Simulation;
use super::{LONGEST, SHORTEST, Work};
use crate::Error;
use crate::statics::{Continuation, Path, PathEnd, PathPoint, StaticMethod};

/// Iterations of one increment at most.
const ITERATIONS: usize = 300;

impl Simulation {
    /// Increments of the load from the first point on, each with the way slipped in it against friction. One that does not come to rest, or only further away than a step may go, is taken in
    /// halves: what snaps through does not pass.
    pub(crate) fn step_loads(
        &mut self,
        work: &mut Work,
        how: &Continuation,
        path: &mut Path,
        mut going: bool,
        each: &mut dyn FnMut(&Self, &PathPoint) -> bool,
    ) -> Result<(), Error> {
        let ahead = (how.end - how.start).signum();
        let mut length = how.step.abs().min(how.largest_step);
        while going && path.points.len() < how.max_points {
            let base = work.keep(&self.motion.state);
            let (kind, before) = (work.kind, work.report.iterations);
            let next = base.factor + length * ahead;
            let ends = (next - how.end) * ahead >= 0.0;
            work.factor = if ends { how.end } else { next };
            work.touching.begin_increment();
            work.best = f64::INFINITY;
            work.most = before + ITERATIONS;
            let found = match self.settle_statically(work, StaticMethod::Newton) {
                Ok(()) => self.distance(work, &base.state.positions) <= LONGEST,
                Err(Error::NoEquilibrium { .. }) => false,
                Err(e) => return Err(e),
            };
            if !found {
                self.go_back(work, &base)?;
                work.kind = kind;
                length *= 0.5;
                if length < SHORTEST * how.step.abs() {
                    let stuck = Error::StuckPath {
                        load: base.factor,
                        free: self.free_coordinate(work)?,
                        control: how.control,
                    };
                    path.end = PathEnd::Stuck(Box::new(stuck));
                    return Ok(());
                }
                continue;
            }
            let iterations = work.report.iterations - before;
            going = self.reach(work, path, iterations, each)?;
            if ends {
                path.end = PathEnd::Reached;
                return Ok(());
            }
            let faster = (how.wanted_iterations.max(1) as f64 / iterations.max(1) as f64).sqrt();
            length = (length * faster.clamp(0.5, 2.0)).min(how.largest_step);
        }
        if !going {
            path.end = PathEnd::Stopped;
        }
        Ok(())
    }

    /// The largest difference of a coordinate of an independent node, places in lengths of the model.
    fn distance(&self, work: &Work, from: &[f64]) -> f64 {
        let mut largest = 0.0f64;
        for node in self
            .system
            .model
            .nodes()
            .iter()
            .filter(|n| n.first_dof().is_some())
        {
            let size = node.space.position_size();
            let places = if node.space.is_spatial() { size.min(3) } else { 0 };
            let range = node.position_range();
            let pairs = self.motion.state.positions[range.clone()]
                .iter()
                .zip(&from[range]);
            for (k, (a, b)) in pairs.enumerate() {
                let unit = if k % size < places { work.length } else { 1.0 };
                largest = largest.max((a - b).abs() / unit);
            }
        }
        largest
    }
}
