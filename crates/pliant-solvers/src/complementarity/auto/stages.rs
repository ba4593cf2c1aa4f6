//! The stages of [`Auto`](super::Auto) as a table: method, start, limits, when it applies, and the
//! problem that needs it.

use crate::complementarity::{ContactFunction, Form, Problem, ShiftStep};
use Attempt::{
    AcceleratedGradient, Admm, BlockPivoting, CentralPath, GaussSeidel, InteriorPoint, Lemke, NonlinearCg,
};
use Start::{Best, Pyramid, Rest};

/// A method with its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Attempt {
    /// Block pivoting, which ends where rows of its set are redundant unless these are wanted: of
    /// such sets there may be many.
    BlockPivoting {
        redundant: bool,
    },
    Lemke,
    GaussSeidel,
    /// Nonsmooth Newton with so many sweeps where its line search fails.
    Newton {
        contact: ContactFunction,
        sweeps: usize,
    },
    InteriorPoint(ShiftStep),
    CentralPath,
    NonlinearCg,
    Admm,
    AcceleratedGradient,
}

/// The impulse from which a stage starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The best impulse so far.
    Best,
    /// No impulse: the best one may be in a corner out of which Newton does not find.
    Rest,
    /// Lemke's solution with friction as a pyramid, which pivoting finds whatever the contacts do.
    Pyramid,
}

/// Limits of one stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    pub(super) iterations: usize,
    pub(super) patience: usize,
}

/// The properties of a problem by which stages are chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traits {
    /// Every law is one of single rows: no friction.
    rows: bool,
    /// Friction is bounded by circles, if at all: no pyramid.
    round: bool,
    /// Some shift of De Saxcé is unknown: the problem is no convex program.
    slips: bool,
    /// A contact resists rolling.
    rolls: bool,
    /// At most [`AutoOptions::dense_rows`](super::AutoOptions::dense_rows) rows.
    few: bool,
    /// Newton's factors are sparse, or dense of not too many rows.
    near: bool,
    /// At most [`SMALL`] rows.
    small: bool,
    /// At most [`PIVOTS`] rows.
    pivots: bool,
    /// At most [`SWEPT`] blocks.
    swept: bool,
    /// There is a start.
    warm: bool,
}

/// From where interior points end, Newton takes a dozen factorisations: where they are dense, up to
/// this many times the rows that are few.
const ENDED: usize = 4;
/// Factorisations of the central path; heaps of hundreds of contacts took 400 to 1900.
const PATH: usize = 3000;
/// Blocks that a few sweeps are likely to settle without a start.
const SWEPT: usize = 4;
/// Rows up to which Newton's dense factorisations cost less than interior points.
const SMALL: usize = 60;
/// Rows up to which Lemke's tableau of the pyramids is worth its pivots as a start.
const PIVOTS: usize = 200;

impl Traits {
    pub(super) fn new(problem: &Problem, start: &[f64], dense_rows: usize) -> Self {
        let size = problem.size();
        let sparse = matches!(problem.delassus().form(), Form::Saddle { .. } | Form::Sparse(_));
        let rows = !problem.has_friction();
        Self {
            rows,
            round: problem.first_pyramid().is_none(),
            slips: problem.first_pyramid().is_none() && !problem.is_convex(),
            rolls: problem.first_rolling().is_some(),
            few: size <= dense_rows,
            near: sparse || size <= ENDED * dense_rows,
            small: size <= SMALL,
            pivots: size <= PIVOTS,
            swept: problem.blocks() <= SWEPT,
            warm: start.iter().any(|r| *r != 0.0),
        }
    }
}

/// One stage.
#[derive(Clone, Copy, Debug)]
pub(in crate::complementarity) struct Rule {
    pub(super) attempt: Attempt,
    pub(super) start: Start,
    /// None: the limits of the options.
    pub(super) most: Option<Most>,
    pub(super) applies: fn(&Traits) -> bool,
}

const fn most(iterations: usize, patience: usize) -> Option<Most> {
    Some(Most { iterations, patience })
}

const NEWTON: Attempt = Attempt::Newton {
    contact: ContactFunction::AlartCurnier,
    sweeps: 5,
};
const SWEEPING: Attempt = Attempt::Newton {
    contact: ContactFunction::AlartCurnier,
    sweeps: 50,
};
const MOREAU: Attempt = Attempt::Newton {
    contact: ContactFunction::JeanMoreau,
    sweeps: 5,
};
/// Interior points whose shift is predicted, and those with a shift of the iterate before.
const INTERIOR: Option<Most> = most(100, 30);
const LAGGED: Option<Most> = most(300, 100);
const NEWTONS: Option<Most> = most(150, 100);
/// Rounds of block pivoting: where it succeeds it takes a dozen.
const PIVOTINGS: Option<Most> = most(100, 100);
/// Pivots of Lemke's method, for a stage and for a start.
pub(super) const LEMKE: Option<Most> = most(10_000, 500);

const fn lagged(share: f64) -> Attempt {
    Attempt::InteriorPoint(ShiftStep::Lagged { share })
}

const fn rule(attempt: Attempt, start: Start, most: Option<Most>, applies: fn(&Traits) -> bool) -> Rule {
    Rule {
        attempt,
        start,
        most,
        applies,
    }
}

/// The stages in the order in which they are tried; one that is the same as the one before, both
/// from the best, is passed over. Beside each stands the problem of the corpus (or the test) that
/// no other stage before it solves.
#[rustfmt::skip]
pub(in crate::complementarity) const STAGES: &[Rule] = &[
    // `many_redundant_rows_are_lemkes`: of sets with redundant rows there are many.
    rule(BlockPivoting { redundant: false }, Best, PIVOTINGS, |t| t.rows && t.few && !(t.small || t.warm)),
    // murty-10, stack-of-three.
    rule(BlockPivoting { redundant: true }, Best, PIVOTINGS, |t| t.rows && t.few && (t.small || t.warm)),
    // lcp-skew, random-lcp-deficient.
    rule(Lemke, Best, LEMKE, |t| (t.rows || !t.round) && t.few),
    rule(BlockPivoting { redundant: true }, Best, PIVOTINGS, |t| t.rows && t.few && !(t.small || t.warm)),
    // contact-slips, random-rolling; without a start and with many contacts interior points gain
    // nothing from sweeps.
    rule(GaussSeidel, Best, most(8, 8), |t| t.round && (t.swept || t.rolls || t.warm)),
    // capstan-16-slips, cards.
    rule(NEWTON, Best, NEWTONS, |t| t.round && !t.rows && (t.small || t.rolls && t.near)),
    // wall-8, tower-50.
    rule(InteriorPoint(ShiftStep::Newton), Best, INTERIOR, |t| t.round),
    // heap-4-42.
    rule(NEWTON, Best, NEWTONS, |t| t.round && t.near),
    // heap-0-46, heap-4-39, with the stage that follows.
    rule(InteriorPoint(ShiftStep::Alternating), Rest, INTERIOR, |t| t.slips),
    rule(NEWTON, Best, NEWTONS, |t| t.slips && t.near),
    // heap-1-82, heap-10-66.
    rule(CentralPath, Rest, most(PATH, PATH), |t| t.slips && t.near),
    rule(NEWTON, Best, NEWTONS, |t| t.slips && t.near),
    rule(lagged(1.0), Rest, LAGGED, |t| t.slips),
    rule(NEWTON, Best, NEWTONS, |t| t.slips && t.near),
    rule(lagged(0.5), Rest, LAGGED, |t| t.slips && t.few),
    rule(SWEEPING, Best, NEWTONS, |t| t.slips && t.few),
    rule(NEWTON, Pyramid, NEWTONS, |t| t.slips && t.pivots),
    rule(MOREAU, Pyramid, NEWTONS, |t| t.slips && t.pivots),
    rule(lagged(0.1), Rest, LAGGED, |t| t.slips && t.few),
    rule(lagged(0.3), Rest, LAGGED, |t| t.slips && t.few),
    rule(NEWTON, Rest, NEWTONS, |t| t.slips && t.few),
    rule(MOREAU, Best, NEWTONS, |t| t.slips && t.few),
    rule(MOREAU, Rest, NEWTONS, |t| t.slips && t.few),
    rule(SWEEPING, Rest, NEWTONS, |t| t.slips && t.few),
    rule(NonlinearCg, Best, most(500, 200), |t| t.round && t.few),
    rule(Admm, Best, most(2000, 500), |_| true),
    rule(AcceleratedGradient, Best, None, |t| t.few || t.rows || !t.round),
];
