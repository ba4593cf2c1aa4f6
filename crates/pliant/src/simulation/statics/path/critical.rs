//! Critical points: where the inertia of the tangent changes.

use super::super::super::Simulation;
use super::{Direction, Kept, Stride, Tracer, Work};
use crate::Error;
use crate::statics::{CriticalKind, CriticalPoint};

/// Halvings of the step: to rounding.
const HALVINGS: usize = 40;
/// Those after which slopes are still read: nearer, they are rounding.
const CLEAR: usize = 12;

/// A step in which the number of negative modes changed.
pub(crate) struct Change<'a> {
    pub(crate) base: &'a Kept,
    pub(crate) direction: &'a Direction,
    pub(crate) next: &'a Direction,
    pub(crate) stride: Stride,
    pub(crate) negative: (usize, usize),
}

impl Simulation {
    /// The critical points within a step, by halving it: between `low`, with the modes of its start, and `high`, with others. Several in one step are
    /// found one after the other. Without locating, one in the middle.
    pub(crate) fn find_critical(
        &mut self,
        work: &mut Work,
        tracer: &mut Tracer,
        change: &Change<'_>,
        after: usize,
        locate: bool,
    ) -> Result<Vec<CriticalPoint>, Error> {
        let (mut before, last) = change.negative;
        let end = work.factor;
        let kind = |a: f64, b: f64| {
            if a * b < 0.0 {
                CriticalKind::Limit
            } else {
                CriticalKind::Bifurcation
            }
        };
        let mut out = Vec::new();
        let mut low = (0.0, change.base.factor, change.direction.load);
        while locate && before != last {
            let mut slopes = (low.2, change.next.load);
            let mut high = (1.0, end, change.next.load);
            let mut behind = last;
            for halving in 0..HALVINGS {
                let share = 0.5 * (low.0 + high.0);
                let Some((negative, load, slope)) = self.look(work, tracer, change, share)? else {
                    break;
                };
                if negative == before {
                    low = (share, load, slope);
                } else {
                    high = (share, load, slope);
                    behind = negative;
                }
                if halving < CLEAR {
                    slopes = (low.2, high.2);
                }
            }
            out.push(CriticalPoint {
                kind: kind(slopes.0, slopes.1),
                load: 0.5 * (low.1 + high.1),
                after,
                negative_modes: (before, behind),
            });
            (before, low) = (behind, high);
        }
        if !locate {
            out.push(CriticalPoint {
                kind: kind(change.direction.load, change.next.load),
                load: 0.5 * (low.1 + end),
                after,
                negative_modes: change.negative,
            });
        }
        Ok(out)
    }

    /// Negative modes, load factor and its rate along the path after a share of the step.
    fn look(
        &mut self,
        work: &mut Work,
        tracer: &mut Tracer,
        change: &Change<'_>,
        share: f64,
    ) -> Result<Option<(usize, f64, f64)>, Error> {
        let stride = Stride {
            length: share * change.stride.length,
            load: change
                .stride
                .load
                .map(|load| change.base.factor + share * (load - change.base.factor)),
        };
        let from = (change.base, change.direction);
        if self.stride(work, tracer, from, stride)?.is_none() {
            return Ok(None);
        }
        let (negative, load) = (work.kind.negative, work.factor);
        let mut direction = change.direction.clone();
        self.find_direction(work, tracer, &mut direction)?;
        Ok(Some((negative, load, direction.load)))
    }
}
