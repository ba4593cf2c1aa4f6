//! Critical points: where the inertia of the tangent changes.

use super::super::workspace::{Setting, Workspace};
use super::arc::{Direction, Origin, Stride, Tracer};
use crate::Error;
use crate::statics::{CriticalKind, CriticalPoint};

/// Halvings of the step: to rounding.
const HALVINGS: usize = 40;
/// Critical points within a step at most: by rounding the signs of pivots may change to and fro.
const MOST: usize = 100;
/// Halvings up to which slopes are read: nearer to the point, they are rounding.
const CLEAR: usize = 12;

/// A step in which the number of negative modes changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    pub(crate) from: Origin<'a>,
    pub(crate) next: &'a Direction,
    pub(crate) stride: Stride,
    pub(crate) negative: (usize, usize),
    /// The point of the path that it starts at.
    pub(crate) after: usize,
}

/// A place within the step.
#[derive(Clone, Copy, Debug)]
struct Sample {
    share: f64,
    load: f64,
    /// The rate of the load along the path.
    slope: f64,
}

fn kind(before: f64, behind: f64) -> CriticalKind {
    if before * behind < 0.0 {
        CriticalKind::Limit
    } else {
        CriticalKind::Bifurcation
    }
}

/// The critical points within a step, by halving it: between `low`, with the modes of its start,
/// and `high`, with others. Several in one step are found one after the other. Without locating,
/// one in the middle.
pub(crate) fn find_critical(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    tracer: &mut Tracer,
    change: &Change<'_>,
    locate: bool,
) -> Result<Vec<CriticalPoint>, Error> {
    let (mut before, last) = change.negative;
    let end = work.unknowns.factor;
    let after = change.after;
    let Origin { base, direction } = change.from;
    let mut out = Vec::new();
    // The last place that was reached: at first the next point of the path.
    let mut place = (at.motion.state.clone(), work.unknowns.lambda.clone());
    let mut low = Sample {
        share: 0.0,
        load: base.unknowns.factor,
        slope: direction.load,
    };
    while locate && before != last && out.len() < MOST {
        let mut slopes = (low.slope, change.next.load);
        let mut high = Sample {
            share: 1.0,
            load: end,
            slope: change.next.load,
        };
        let mut behind = last;
        for halving in 0..HALVINGS {
            let share = 0.5 * (low.share + high.share);
            let Some(sample) = look(at, work, tracer, change, share)? else {
                break;
            };
            place.0.clone_from(&at.motion.state);
            place.1.clone_from(&work.unknowns.lambda);
            if work.linear.kind.negative == before {
                low = sample;
            } else {
                high = sample;
                behind = work.linear.kind.negative;
            }
            if halving < CLEAR {
                slopes = (low.slope, high.slope);
            }
        }
        out.push(CriticalPoint {
            kind: kind(slopes.0, slopes.1),
            load: 0.5 * (low.load + high.load),
            after,
            negative_modes: (before, behind),
            bracket: high.share - low.share,
            state: place.0.clone(),
            multipliers: place.1.clone(),
        });
        (before, low) = (behind, high);
    }
    // Those that are not located one by one are one, which has the modes of all.
    if before != last {
        out.push(CriticalPoint {
            kind: kind(low.slope, change.next.load),
            load: 0.5 * (low.load + end),
            after,
            negative_modes: (before, last),
            bracket: 1.0 - low.share,
            state: place.0,
            multipliers: place.1,
        });
    }
    Ok(out)
}

/// Goes a share of the step. The inertia of the tangent is then that of there.
fn look(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    tracer: &mut Tracer,
    change: &Change<'_>,
    share: f64,
) -> Result<Option<Sample>, Error> {
    let Origin { base, direction } = change.from;
    let factor = base.unknowns.factor;
    let end = change.stride.load;
    let stride = Stride {
        length: share * change.stride.length,
        load: end.map(|load| factor + share * (load - factor)),
    };
    if tracer.stride(at, work, change.from, stride)?.is_none() {
        return Ok(None);
    }
    let load = work.unknowns.factor;
    let mut direction = direction.clone();
    tracer.find_direction(at, work, &mut direction)?;
    Ok(Some(Sample {
        share,
        load,
        slope: direction.load,
    }))
}
