//! Dry friction in proportion to the force of other rows of the same step.
//!
//! Rows with friction are rows of bounded force whose bounds are those of the law,
//! `sum_i (mu_i/l_i)^2 <= b^2` with `b = c |R|` (N s), the impulse `R` of the rows that press and the
//! coefficient `c` ([`ReactionFriction`]). A solver knows bounds `-b l_i d_i <= mu_i <= b l_i d_i` of
//! each row alone, with
//!
//! ```math
//! d_i = |p_i|/|p|,    p_i = mu_i/l_i - e l_i w_i
//! ```
//!
//! and the velocities `w_i`. Multipliers with these bounds that they make themselves hold the law,
//! for any `e > 0`: where a row slides `p_i = -(b d_i + e l_i |w_i|) sign(w_i)`, hence
//! `d_i (|p| - b) = e l_i |w_i|`, so that `d` is the direction of the slip; where none does
//! `|p| = |mu/l| <= b`. The bounds are found by repetition: those of one solve make the next. Where
//! that goes on for long (friction of which the force that presses depends) they are extrapolated.

use super::System;
use crate::contact::step;
use pliant_model::{ComponentId, Problem, RowGroup};
use pliant_solvers::{KktSystem, SolveReport, Status};

/// Repetitions of a solve at most.
const MOST: usize = 60;

/// The share of the tolerance of bounded forces to which bounds agree with what they follow.
const SHARE: f64 = 0.1;

/// Repetitions that leave more than this share of a difference are extrapolated.
const SLOW: f64 = 0.5;

/// Factors by which a difference is extrapolated at most, and at least.
const FACTORS: (f64, f64) = (0.05, 20.0);

/// Friction in proportion to reactions, by what it was in the last solve.
#[derive(Debug, Default)]
pub(crate) struct Frictions {
    list: Vec<Friction>,
    /// The impulses that the step begins with, by row.
    impulses: Vec<f64>,
    /// The factor of the last extrapolation, and the sum of the squares of the differences before.
    factor: f64,
    before: f64,
}

/// Friction of one component.
#[derive(Debug)]
struct Friction {
    /// The component, and the one that presses.
    component: ComponentId,
    reaction: ComponentId,
    /// Its rows, and those that press.
    rows: Vec<usize>,
    pressing: Vec<usize>,
    levers: Vec<f64>,
    coefficient: f64,
    /// The bound `b` of the last solve (N s), and by how much it missed the one that it followed.
    bound: f64,
    missed: f64,
    /// By how much that of the solve before missed it.
    last: f64,
    /// The shares `d` of its rows.
    shares: Vec<f64>,
    /// Whether its surfaces do not slide, `|p| < b`.
    sticks: bool,
}

/// The rows of a component.
fn rows_of(model: &Problem, component: ComponentId) -> Option<&RowGroup> {
    model.row_groups().iter().find(|g| g.component == component)
}

impl Frictions {
    /// Whether a row with such friction sticks, as of the last look at it; none of others.
    pub(crate) fn sticks(&self, row: usize) -> Option<bool> {
        let own = self.list.iter().find(|f| f.rows.contains(&row));
        own.map(|f| f.sticks)
    }
}

/// Lists the friction of the rows of a model, unless the list is that of them already.
fn list_friction(list: &mut Vec<Friction>, model: &Problem) {
    let with_friction = || {
        let all = model.row_groups().iter();
        all.filter_map(|group| Some((group, model.friction(group.component)?)))
    };
    let known = list.iter().map(|f| (f.component, f.rows[0]));
    let now = with_friction().map(|(group, _)| (group.component, group.first_row));
    let presses = |f: &Friction| {
        let first = rows_of(model, f.reaction).map(|group| group.first_row);
        let places = f.pressing.first().copied();
        let law = model
            .friction(f.component)
            .and_then(|law| law.pressing.first().copied());
        places == first.zip(law).map(|(first, law)| first + law)
    };
    if known.eq(now) && list.iter().all(presses) {
        return;
    }
    list.clear();
    for (group, law) in with_friction() {
        let count = group.size * group.count;
        // Of what was released nothing presses.
        let pressing = rows_of(model, law.reaction).map_or_else(Vec::new, |reaction| {
            law.pressing.iter().map(|k| reaction.first_row + k).collect()
        });
        list.push(Friction {
            component: group.component,
            reaction: law.reaction,
            rows: (group.first_row..group.first_row + count).collect(),
            pressing,
            levers: law.levers.clone(),
            coefficient: law.coefficient,
            bound: 0.0,
            missed: 0.0,
            last: 0.0,
            shares: vec![0.0; count],
            sticks: false,
        });
    }
}

impl Friction {
    /// `|R|` (N s) of impulses.
    fn pressure(&self, mu: &[f64]) -> f64 {
        let squares = self.pressing.iter().map(|row| mu[*row]);
        squares.fold(0.0f64, f64::hypot)
    }

    /// Finds the shares of the rows in the bound, from their impulses and velocities. Rows that
    /// neither bear nor slide share it evenly.
    fn find_shares(&mut self, kkt: &KktSystem, mu: &[f64], w: impl Fn(usize) -> f64) {
        let rows = self.rows.iter().zip(&self.levers);
        let response = rows.map(|(row, l)| l * l * scale(kkt, *row)).fold(0.0, f64::max);
        let mut size = 0.0f64;
        for ((row, l), share) in self.rows.iter().zip(&self.levers).zip(&mut self.shares) {
            let slip = if response > 0.0 {
                l * w(*row) / response
            } else {
                0.0
            };
            *share = (mu[*row] / l - slip).abs();
            size = size.hypot(*share);
        }
        self.sticks = size < self.bound;
        let even = (self.shares.len() as f64).sqrt().recip();
        for share in &mut self.shares {
            *share = if size > 0.0 { *share / size } else { even };
        }
        // Of one row to the bit.
        if let [share] = &mut self.shares[..] {
            *share = 1.0;
        }
    }

    /// Writes its bounds.
    fn write(&self, bounds: &mut [(f64, f64)]) {
        for ((row, l), share) in self.rows.iter().zip(&self.levers).zip(&self.shares) {
            let bound = self.bound * l * share;
            bounds[*row] = (-bound, bound);
        }
    }
}

/// The velocity that a unit impulse of a row alone gives it.
fn scale(kkt: &KktSystem, row: usize) -> f64 {
    kkt.row_scale(row) + kkt.r_diagonal(row)
}

/// `J x + R mu + b` of a row that is not coupled with others by `R`, and the sum of the sizes of
/// its terms.
fn velocity(kkt: &KktSystem, row: usize, x: &[f64], mu: &[f64]) -> (f64, f64) {
    let own = kkt.r_diagonal(row) * mu[row];
    let terms = kkt.j.row_entries(row).map(|(k, j)| j * x[k]);
    let all = terms.chain([own, kkt.b[row]]);
    all.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()))
}

/// The friction of the present step begins with these impulses of all rows (N s, N m s), in the
/// filled system.
pub(crate) fn begin(system: &mut System, impulses: impl Fn(usize) -> f64) {
    let System {
        model,
        assembler,
        rows,
        ..
    } = system;
    let Frictions {
        list, impulses: mu, ..
    } = &mut rows.frictions;
    list_friction(list, model);
    if list.is_empty() {
        return;
    }
    mu.clear();
    mu.extend((0..model.row_count()).map(impulses));
    for friction in list {
        friction.bound = friction.coefficient * friction.pressure(mu);
        friction.find_shares(assembler.system(), mu, |_| 0.0);
        friction.write(assembler.row_bounds_mut());
    }
}

/// Takes the bounds that impulses and velocities of all rows make, for a look at how far these are
/// from their laws.
pub(crate) fn follow(system: &mut System, mu: &[f64], velocities: &[f64]) {
    let System { assembler, rows, .. } = system;
    for friction in &mut rows.frictions.list {
        friction.bound = friction.coefficient * friction.pressure(mu);
        friction.find_shares(assembler.system(), mu, |row| velocities[row]);
        friction.write(assembler.row_bounds_mut());
    }
}

/// Looks at the solution of a solve with the bounds of friction as they are, after `pass` others:
/// whether it is to be solved again, with the bounds that it makes, which the system then has. If
/// they do not come to agree, the solve is [`Status::Unsettled`].
pub(crate) fn asks_again(system: &mut System, report: &mut SolveReport, pass: usize) -> bool {
    if system.rows.frictions.list.is_empty() {
        return false;
    }
    let (row, residual) = compare(system);
    report.bounds.natural = report.bounds.natural.max(residual);
    let Some(row) = row.filter(|_| report.status == Status::Converged) else {
        return false;
    };
    if pass == MOST {
        report.status = Status::Unsettled { row, residual };
        return false;
    }
    go_on(system, pass);
    true
}

/// The row that misses its law most, with the bounds that the solution makes, if one does by more
/// than it may; and the largest residual of their natural maps (m/s, rad/s).
fn compare(system: &mut System) -> (Option<usize>, f64) {
    let contacts = step::listed(system);
    let beside = contacts.map_or(0.0, |c| c.reached(&system.options) * c.largest_free_velocity());
    let tolerance = SHARE * system.options.tuning.bounds.tolerance;
    let System {
        assembler,
        rows,
        solution,
        ..
    } = system;
    let (kkt, mu) = (assembler.system(), &solution.mu);
    let velocity = |row: usize| velocity(kkt, row, &solution.x, mu);
    let (mut worst, mut row, mut residual) = (1.0, None, 0.0f64);
    for friction in &mut rows.frictions.list {
        let target = friction.coefficient * friction.pressure(mu);
        friction.missed = target - friction.bound;
        friction.find_shares(kkt, mu, |row| velocity(row).0);
        // What solves leave in the force that presses.
        let left = |row: &usize| {
            let allowed = tolerance * velocity(*row).1 + beside;
            Some(allowed / scale(kkt, *row))
                .filter(|left| left.is_finite())
                .unwrap_or(0.0)
        };
        let left =
            target * tolerance + friction.coefficient * friction.pressing.iter().map(left).sum::<f64>();
        for ((own, l), share) in friction.rows.iter().zip(&friction.levers).zip(&friction.shares) {
            let (s, (w, size), bound) = (scale(kkt, *own), velocity(*own), target * l * share);
            if s == 0.0 {
                continue;
            }
            let missed = s * (mu[*own] - (mu[*own] - w / s).max(-bound).min(bound)).abs();
            residual = residual.max(missed);
            let share = missed / (tolerance * size + s * l * left + beside);
            if share > worst || share.is_nan() && missed > 0.0 {
                (worst, row) = (share, Some(*own));
            }
        }
    }
    (row, residual)
}

/// Takes the bounds of the next solve.
fn go_on(system: &mut System, pass: usize) {
    let System { assembler, rows, .. } = system;
    let Frictions {
        list, factor, before, ..
    } = &mut rows.frictions;
    let (mut now, mut along, mut square) = (0.0, 0.0, 0.0);
    for friction in &*list {
        let change = friction.missed - friction.last;
        now += friction.missed * friction.missed;
        along += friction.last * change;
        square += change * change;
    }
    // Irons and Tuck (1969): the secant of the differences along the last change.
    let is_slow = pass > 0 && now > SLOW * SLOW * *before && square > 0.0;
    let extrapolated = -*factor * along / square;
    *factor = match is_slow && extrapolated > 0.0 {
        true => extrapolated.clamp(FACTORS.0, FACTORS.1),
        false => 1.0,
    };
    *before = now;
    for friction in list {
        friction.bound = (friction.bound + *factor * friction.missed).max(0.0);
        friction.last = friction.missed;
        friction.write(assembler.row_bounds_mut());
    }
}
