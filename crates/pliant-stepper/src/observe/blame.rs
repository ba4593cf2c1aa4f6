//! Blame for equations that cannot be solved, in the user's words: rows that contradict each other,
//! the equation that is missed most.

use crate::Error;
use pliant_kkt::Scheme;
use pliant_model::{ComponentId, Level, Problem, RowLaw, Space};
use pliant_solvers::{KktSystem, Solution, Variable};
use std::collections::BTreeSet;

/// Rows that miss less than this share of what the worst one misses have no part in it.
const PART: f64 = 1e-6;

/// A row that contradicts others, as a solver has found it in a system that it then solved by the
/// best compromise.
#[derive(Clone, Copy)]
pub(crate) struct Clash<'a> {
    pub(crate) kkt: &'a KktSystem,
    pub(crate) solution: &'a Solution,
    pub(crate) row: usize,
    /// By how much the compromise misses the row, in the units of its right-hand side.
    pub(crate) violation: f64,
}

/// The residuals of the rows as a measure.
#[derive(Clone, Copy)]
pub(crate) enum Residuals<'a> {
    /// Velocities, by a scheme.
    Velocities(&'a Scheme),
    /// Displacements.
    Displacements,
    /// Accelerations, over a time (s).
    Accelerations(f64),
}

impl Clash<'_> {
    /// The error that names the rows that contradict each other, and how far they are apart: their
    /// residuals `r` in the compromise exert no force, `J^T r = 0`, so that `r / max |r|` is the
    /// combination of rows whose right-hand sides do not fit, `r . r / max |r|` by how much.
    pub(crate) fn error(self, model: &Problem, time: f64, residuals: Residuals<'_>) -> Error {
        let missed = self.missed();
        let others = self.others(&missed);
        let known = (missed[self.row].abs() - self.violation).abs() <= 0.5 * self.violation;
        let (factor, rate) = factor(model, self.row, residuals);
        let violation = match residuals {
            Residuals::Accelerations(h) => h * self.violation,
            _ => self.violation,
        };
        let squares = others.iter().chain([&self.row]).map(|r| missed[*r] * missed[*r]);
        let apart = match known && !others.is_empty() {
            true => squares.sum::<f64>() / missed[self.row].abs(),
            false => self.violation,
        };
        let others = if known { &others[..] } else { &[] };
        // Of two rows either may be the one that elimination came to last.
        let (first, others) = match others {
            [other] if *other < self.row => (*other, &[self.row][..]),
            _ => (self.row, others),
        };
        Error::Incompatible {
            constraint: model.describe_row(first),
            others: named(model, first, others),
            time,
            violation,
            apart: factor * apart,
            unit: unit(model, self.kkt, self.row, rate),
        }
    }

    /// By how much each hard row is missed that is not at a bound of its force.
    fn missed(&self) -> Vec<f64> {
        let (kkt, x) = (self.kkt, &self.solution.x);
        let of = |row: usize| {
            let (lower, upper) = kkt.bounds[row];
            let mu = self.solution.mu.get(row).copied().unwrap_or(0.0);
            let holds = row == self.row || kkt.r_diagonal(row) == 0.0 && mu > lower && mu < upper;
            if !holds {
                return 0.0;
            }
            let free = kkt.j.row_entries(row).filter(|(k, _)| !kkt.fixed[*k]);
            free.map(|(k, j)| j * x.get(k).copied().unwrap_or(0.0))
                .sum::<f64>()
                + kkt.b[row]
        };
        (0..kkt.m()).map(of).collect()
    }

    /// The other rows that have a part in it: those that are reached from the row over coordinates
    /// that they share, the one that is missed most first.
    fn others(&self, missed: &[f64]) -> Vec<usize> {
        let least = PART * missed[self.row].abs();
        let mut left: Vec<usize> = (0..missed.len())
            .filter(|r| *r != self.row && missed[*r].abs() > least)
            .collect();
        let dofs = |row: usize| {
            let free = self.kkt.j.row_entries(row);
            free.filter(|(k, j)| *j != 0.0 && !self.kkt.fixed[*k])
                .map(|e| e.0)
        };
        let mut reached: BTreeSet<usize> = dofs(self.row).collect();
        let mut found = Vec::new();
        loop {
            let (near, far): (Vec<_>, Vec<_>) =
                left.iter().partition(|r| dofs(**r).any(|k| reached.contains(&k)));
            if near.is_empty() {
                break;
            }
            near.iter().for_each(|r| reached.extend(dofs(*r)));
            found.extend(near);
            left = far;
        }
        found.sort_by(|a, b| missed[*b].abs().total_cmp(&missed[*a].abs()).then(a.cmp(b)));
        found
    }
}

/// The rows beside the worst one in words: one of another component if there is one, and how many
/// components there are more.
fn named(model: &Problem, row: usize, others: &[usize]) -> String {
    let own = component(model, row);
    let strange = others.iter().find(|r| component(model, **r) != own);
    match strange.or(others.first()) {
        Some(first) => with_more(model, *first, others, &[own]),
        None => "other hard constraints".to_owned(),
    }
}

/// A row in words, and how many components more have rows among these.
pub(crate) fn with_others(model: &Problem, row: usize, rows: &[usize]) -> String {
    with_more(model, row, rows, &[])
}

/// A row in words, and how many components more than its own and those that are `named` have rows
/// among these.
fn with_more(model: &Problem, row: usize, rows: &[usize], named: &[Option<&str>]) -> String {
    let own = component(model, row);
    let more: BTreeSet<_> = rows.iter().map(|r| component(model, *r)).collect();
    let described = model.describe_row(row);
    match more.iter().filter(|c| **c != own && !named.contains(c)).count() {
        0 => described,
        1 => format!("{described} (with 1 more component)"),
        n => format!("{described} (with {n} more components)"),
    }
}

/// The name of the component of a row.
fn component(model: &Problem, row: usize) -> Option<&str> {
    let mut groups = model.row_groups().iter().rev();
    groups
        .find(|g| g.first_row <= row && g.count > 0)
        .map(|g| model.component_name(g.component))
}

/// The factor from the residual of a row to what its components are apart, and whether that is a
/// rate.
fn factor(model: &Problem, row: usize, residuals: Residuals<'_>) -> (f64, bool) {
    let scheme = match residuals {
        Residuals::Displacements => return (1.0, false),
        Residuals::Accelerations(h) => return (h, true),
        Residuals::Velocities(scheme) => scheme,
    };
    let mut groups = model.row_groups().iter().rev();
    let Some(group) = groups.find(|g| g.first_row <= row && g.count > 0) else {
        return (1.0, true);
    };
    let step = scheme.h * scheme.beta;
    match group.component {
        ComponentId::Constraint(i) => match model.constraints()[i].component.level {
            Level::Position | Level::CurvedPosition if !scheme.velocity_rows => (step, false),
            Level::Baumgarte { rate } if rate > 0.0 => (rate.recip(), false),
            _ => (1.0, true),
        },
        ComponentId::ForceField(i) if model.row_law(group) != RowLaw::Viscous && !scheme.velocity_rows => {
            (step + model.relaxation_time(i, row - group.first_row), false)
        }
        _ => (1.0, true),
    }
}

/// The unit of a row: that of an angle if it moves nothing but rotations.
pub fn unit(model: &Problem, kkt: &KktSystem, row: usize, rate: bool) -> &'static str {
    let is_turn = |dof: usize| {
        model.nodes().iter().any(|n| {
            let first = n.first_dof().filter(|_| n.space == Space::Rigid3);
            first.is_some_and(|f| dof >= f && dof - f < 6 * n.count && (dof - f) % 6 >= 3)
        })
    };
    let mut moved = kkt.j.row_entries(row).filter(|e| e.1 != 0.0).peekable();
    match (moved.peek().is_some() && moved.all(|e| is_turn(e.0)), rate) {
        (true, false) => "rad",
        (true, true) => "rad/s",
        (false, false) => "m",
        (false, true) => "m/s",
    }
}

/// The equation of a solved system that is missed by the largest share of the size of its terms.
pub(crate) fn worst_equation(kkt: &KktSystem, solution: &Solution) -> Option<Variable> {
    let (n, m) = (kkt.n(), kkt.m());
    if solution.x.len() != n || solution.mu.len() != m {
        return None;
    }
    let mut missed: Vec<(f64, f64)> = kkt.c.iter().map(|c| (-c, c.abs())).collect();
    let mut add = |i: usize, term: f64| {
        missed[i].0 += term;
        missed[i].1 += term.abs();
    };
    for i in 0..n {
        for (k, w) in kkt.w.row_entries(i) {
            add(i, w * solution.x[k]);
            if k != i {
                add(k, w * solution.x[i]);
            }
        }
    }
    let mut rows = Vec::with_capacity(m);
    for row in 0..m {
        let r = kkt.r_diagonal(row) * solution.mu[row];
        let mut own = (kkt.b[row] + r, kkt.b[row].abs() + r.abs());
        for (k, j) in kkt.j.row_entries(row) {
            add(k, -j * solution.mu[row]);
            let term = if kkt.fixed[k] { 0.0 } else { j * solution.x[k] };
            own = (own.0 + term, own.1 + term.abs());
        }
        rows.push(own);
    }
    let dofs = (0..n)
        .filter(|i| !kkt.fixed[*i])
        .map(|i| (Variable::Dof(i), missed[i]));
    // Rows of bounded force miss what their bound leaves.
    let bilateral = |row: &usize| kkt.bounds[*row] == (f64::NEG_INFINITY, f64::INFINITY);
    let rows = (0..m).filter(bilateral).map(|i| (Variable::Row(i), rows[i]));
    let share = |(missed, terms): (f64, f64)| missed.abs() / terms.max(f64::MIN_POSITIVE);
    let shares = dofs.chain(rows).map(|(v, of)| (v, share(of)));
    shares.max_by(|a, b| a.1.total_cmp(&b.1)).map(|e| e.0)
}

/// A variable in words.
pub(crate) fn in_words(model: &Problem, variable: Option<Variable>) -> String {
    match variable {
        Some(Variable::Dof(dof)) => model.describe_dof(dof),
        Some(Variable::Row(row)) if row < model.row_count() => model.describe_row(row),
        _ => "a contact".to_owned(),
    }
}
