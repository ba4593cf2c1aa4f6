//! The stages of [`Auto`](super::Auto) as a table: method, limits, when it applies, and the
//! problems that need it.

use crate::complementarity::{Form, Problem};
use Attempt::{Admm, BlockPivoting, CentralPath, GaussSeidel, InteriorPoint, Lemke, Newton, ProximalNewton};

/// A method with its options.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attempt {
    /// Block pivoting, which ends where rows of its set are redundant unless these are wanted: of
    /// such sets there may be many.
    BlockPivoting {
        redundant: bool,
    },
    Lemke,
    GaussSeidel,
    /// Newton's method, as a `trial` from an answer to nearly the same problem: where it ends
    /// without an answer, the next method begins where it began, since interior points do not get
    /// as far from where it gave up.
    Newton {
        trial: bool,
    },
    ProximalNewton,
    InteriorPoint,
    CentralPath,
    Admm,
}

/// Limits of one stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    /// None: those of the options.
    pub(super) iterations: Option<usize>,
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
    /// At most [`SWEPT`] blocks.
    swept: bool,
    /// There is a start.
    warm: bool,
    /// There are no more rows than the system has freedom, as far as that is known: with more,
    /// contacts that stick are redundant.
    loose: bool,
    /// Its residual is at most [`CLOSE`], or that of the best answer so far.
    close: bool,
}

/// From where interior points end, Newton takes a dozen factorisations: where they are dense, up to
/// this many times the rows that are few.
const ENDED: usize = 4;
/// Factorisations of the central path; heaps of hundreds of contacts took 400 to 1900.
const PATH: usize = 3000;
/// Blocks that a few sweeps are likely to settle without a start.
const SWEPT: usize = 4;
/// Residual from which Newton's method takes a few factorisations, where interior points take a
/// dozen.
const CLOSE: f64 = 1e-2;
/// Rows up to which Newton's dense factorisations cost less than interior points.
const SMALL: usize = 60;

impl Traits {
    pub(super) fn new(problem: &Problem, start: &[f64], dense_rows: usize) -> Self {
        let size = problem.size();
        let sparse = matches!(problem.delassus().form(), Form::Saddle { .. } | Form::Sparse(_));
        let rows = !problem.has_friction();
        let loose = match problem.delassus().form() {
            Form::Saddle { system, .. } => size <= system.fixed.iter().filter(|f| !**f).count(),
            _ => true,
        };
        Self {
            rows,
            round: problem.first_pyramid().is_none(),
            slips: problem.first_pyramid().is_none() && !problem.is_convex(),
            rolls: problem.first_rolling().is_some(),
            few: size <= dense_rows,
            near: sparse || size <= ENDED * dense_rows,
            small: size <= SMALL,
            swept: problem.blocks() <= SWEPT,
            warm: start.iter().any(|r| *r != 0.0),
            loose,
            close: false,
        }
    }

    /// Traits with the residual of the best answer so far.
    pub(super) fn from(&self, residual: f64) -> Self {
        Self {
            close: residual <= CLOSE,
            ..*self
        }
    }
}

/// One stage.
#[derive(Clone, Copy, Debug)]
pub(in crate::complementarity) struct Rule {
    pub(super) attempt: Attempt,
    pub(super) most: Most,
    pub(super) applies: fn(&Traits) -> bool,
    /// Problems of the corpus, and scenes, of which a solve ends with this stage.
    pub(super) needed_by: &'static [&'static str],
}

impl Rule {
    /// Whether what it comes to counts only if it is an answer.
    pub(super) fn is_trial(&self) -> bool {
        matches!(self.attempt, Newton { trial: true })
    }

    /// Whether its method costs so much that it is for what no other one brings to the accuracy.
    pub(super) fn is_last_resort(&self) -> bool {
        matches!(self.attempt, ProximalNewton | CentralPath | Admm)
    }
}

const fn most(iterations: usize, patience: usize) -> Most {
    Most {
        iterations: Some(iterations),
        patience,
    }
}

const INTERIOR: Most = most(100, 30);
const PROXIMAL: Most = most(60, 20);
/// Newton's method from an answer to nearly the same problem: mostly two factorisations.
const QUICK: Most = most(8, 3);
const NEWTON: Most = most(150, 100);
/// Rounds of block pivoting: where it succeeds it takes a dozen.
const PIVOTING: Most = most(100, 100);
const LAST: Most = Most {
    iterations: None,
    patience: 500,
};

const fn rule(
    attempt: Attempt,
    most: Most,
    applies: fn(&Traits) -> bool,
    needed_by: &'static [&'static str],
) -> Rule {
    Rule {
        attempt,
        most,
        applies,
        needed_by,
    }
}

/// The stages in the order in which they are tried.
#[rustfmt::skip]
pub(in crate::complementarity) const STAGES: &[Rule] = &[
    rule(BlockPivoting { redundant: false }, PIVOTING, |t| t.rows && t.few && !(t.small || t.warm), &["bowl"]),
    rule(BlockPivoting { redundant: true }, PIVOTING, |t| t.rows && t.few && (t.small || t.warm), &["murty-10", "stack-of-three"]),
    rule(Lemke, most(10_000, 500), |t| (t.rows || !t.round) && t.few, &["lcp-skew", "random-lcp-deficient"]),
    // Without a start and with many contacts interior points gain nothing from sweeps.
    rule(GaussSeidel, most(8, 8), |t| t.round && (t.swept || t.rolls || t.warm), &["contact-slips", "random-rolling"]),
    rule(Newton { trial: false }, NEWTON, |t| t.round && !t.rows && (t.small || t.rolls && t.near), &["capstan-16-slips", "cards"]),
    rule(Newton { trial: true }, QUICK, |t| t.round && !t.rows && t.warm && t.close && t.loose && t.near && !(t.small || t.rolls), &["everyday/cloth_on_cloth"]),
    rule(InteriorPoint, INTERIOR, |t| t.round, &["wall-4", "tower-50"]),
    rule(ProximalNewton, PROXIMAL, |t| t.round && t.near, &["heap-4-42"]),
    rule(CentralPath, most(PATH, PATH), |t| t.slips && t.near, &["heap-1-82", "heap-10-66"]),
    rule(Admm, LAST, |_| true, &["wall-square-friction"]),
];
