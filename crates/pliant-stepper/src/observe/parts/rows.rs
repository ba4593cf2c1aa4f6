//! The share of rows in the numerical part of a step.

use super::Change;
use crate::NumericalParts;
use crate::observe::Step;
use crate::observe::energy::is_stiff;
use crate::observe::ledger::entry_of;
use crate::observe::report::is_at_bound;
use pliant_model::{ComponentId, RowGroup, RowLaw};

/// Elastic forces of a group of rows, by coordinate, less their damping.
struct Elastic<'a> {
    step: Step<'a>,
    field: usize,
    group: &'a RowGroup,
    /// Weight of the end of the step in the velocities of the damping.
    alpha: f64,
    change: Change<'a>,
}

/// Work, on the change of velocity, of the rows that the ledger enters at the mean velocity, and
/// the parts of the others.
pub(super) fn parts_of_rows(step: Step<'_>, h: f64, change: Change<'_>) -> (f64, NumericalParts) {
    let (mut entered, mut found) = (0.0, NumericalParts::default());
    for group in step.system.model.row_groups() {
        let first = step.system.model.node(group.node).first_velocity;
        let driven = step.system.model.motion(group).is_some();
        let is_entered = entry_of(&step.system.model, group, driven).is_some();
        for k in 0..group.size * group.count {
            let impulse = h * step.end.multipliers[group.first_row + k];
            match group.component {
                ComponentId::ForceField(i) if !step.system.evaluation.is_hard(group, k) => {
                    if step.system.model.row_law(group) != RowLaw::Viscous {
                        add_spring(step, h, (i, group, k), change, &mut found);
                    }
                }
                _ if is_entered => entered += impulse * change.by[first + k],
                _ => found.rows += impulse * change.moving(first + k),
            }
        }
    }
    (entered, found)
}

/// Adds what coordinate `k` of a compliant row has: with the elastic forces `e_0`, `e` of the start
/// and of the step and the way `y` along it, `(1/2 - alpha) y (e_0 - e)/alpha` where the law at its
/// coordinate is what it stores, `e y + (e C e - e_0 C e_0)/2` where its force is.
fn add_spring(
    step: Step<'_>,
    h: f64,
    (field, group, k): (usize, &RowGroup, usize),
    change: Change<'_>,
    found: &mut NumericalParts,
) {
    let row = group.first_row + k;
    let first = step.system.model.node(group.node).first_velocity;
    let alpha = step.scheme.alpha_of(group.component);
    let elastic = Elastic {
        step,
        field,
        group,
        alpha,
        change,
    };
    let motion = step.system.row_motion.get(row).copied().unwrap_or_default();
    let way = h * change.moving(first + k) - (motion.end.0 - motion.start.0);
    let (g, start) = step.system.evaluation.group_of(field, group.size, k);
    let width = step.system.evaluation.compliance(field).width(g);
    let compliance = &step.system.evaluation.compliance(field).block(g)[(k - start) * width..][..width];
    let alone = || (0..width).all(|c| c == k - start || compliance[c] == 0.0);
    let by_law = elastic.by_law(k);
    if by_law.is_finite() && (!is_stiff(step.system, group) || step.system.rows.soft[row] && alone()) {
        found.stiffness += (0.5 - alpha) / alpha * way * (by_law - elastic.of_step(k));
        return;
    }
    let strain = |force: &dyn Fn(usize) -> f64| -> f64 {
        let terms = compliance.iter().enumerate().filter(|(_, c)| **c != 0.0);
        terms.map(|(c, compliance)| compliance * force(start + c)).sum()
    };
    let (end, before) = (|c| elastic.of_step(c), |c| elastic.at_start(c));
    found.rows += end(k) * way + 0.5 * (end(k) * strain(&end) - before(k) * strain(&before));
}

impl Elastic<'_> {
    /// By the law at the start.
    fn by_law(&self, k: usize) -> f64 {
        let s = self.step;
        let force = s.system.rows.law_force[self.group.first_row + k];
        let force = self.without_damping(k, force, 0.0);
        let bounds = s.system.model.bounds(self.group);
        bounds.map_or(force, |(lower, upper)| force.max(lower).min(upper))
    }

    /// Of the step.
    fn of_step(&self, k: usize) -> f64 {
        self.without_damping(k, self.step.end.multipliers[self.group.first_row + k], self.alpha)
    }

    /// The force that the energy of the start was made of: of the last step, or by the law where
    /// there was none.
    fn at_start(&self, k: usize) -> f64 {
        let s = self.step;
        let by_law = self.by_law(k);
        if by_law.is_finite() && (s.end.fresh || s.end.ledger.energies.is_none()) {
            return by_law;
        }
        self.without_damping(k, s.start.multipliers[self.group.first_row + k], 0.0)
    }

    /// A force less its damping at a velocity between the start and the end of the step.
    fn without_damping(&self, k: usize, force: f64, weight: f64) -> f64 {
        let s = self.step;
        if !s.system.evaluation.is_damped(self.field) {
            return force;
        }
        let bounds = s.system.model.bounds(self.group);
        if bounds.is_some_and(|bounds| is_at_bound(force, bounds)) {
            return force;
        }
        let velocities = s.system.model.node(self.group.node).first_velocity;
        let (g, first) = s.system.evaluation.group_of(self.field, self.group.size, k);
        let damping = s.system.evaluation.damping(self.field);
        let width = damping.width(g);
        let row = &damping.block(g)[(k - first) * width..][..width];
        let rate = |c: usize| {
            let motion = s
                .system
                .row_motion
                .get(self.group.first_row + c)
                .copied()
                .unwrap_or_default();
            let rate = weight * motion.end.1 + (1.0 - weight) * motion.start.1;
            s.end.state.velocities[velocities + c] + weight * self.change.by[velocities + c] - rate
        };
        let terms = row.iter().enumerate().filter(|(_, b)| **b != 0.0);
        force + terms.map(|(c, b)| b * rate(first + c)).sum::<f64>()
    }
}
