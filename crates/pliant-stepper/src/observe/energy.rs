//! Energies of a motion: what the components store.

use super::{Step, room};
use crate::system::System;
use pliant_model::{At, ComponentId, Energies, Model, RowGroup, RowLaw};

/// Energies at the end of a step, with those of compliant contacts there. With `by_multipliers`,
/// the multipliers of the step measure the energy of stiff rows (`rows_energy`). `shifted` has
/// room for the coordinates of any node.
pub fn energies(step: Step<'_>, by_multipliers: bool, shifted: &mut Vec<f64>) -> Energies {
    let groups = step.system.model.row_groups();
    let lambda = by_multipliers.then_some(&step.end.multipliers[..]);
    let special = |i: usize| {
        let group = step.system.rows.group_of_field[i].map(|g| &groups[g]);
        group.is_some_and(|g| stores_specially(step, g, by_multipliers))
    };
    let mut out = step.system.model.energies_without(&step.end.state, special);
    for group in groups {
        if stores_specially(step, group, by_multipliers) {
            out.potential += rows_energy(step, group, lambda, shifted);
        }
    }
    out.potential += step
        .system
        .contacts
        .as_ref()
        .map_or(0.0, |c| c.observed.report().stored);
    out
}

/// Potential energy of one component as of the last step (J): of a mass in gravity, of what a force
/// field stores; zero for constraints. Together with
/// [`ContactsReport::stored`](crate::contact::ContactsReport::stored) they make the potential
/// energy of the report.
pub fn potential(step: Step<'_>, component: ComponentId) -> f64 {
    if let ComponentId::ForceField(i) = component
        && let Some(group) = step.system.rows.group_of_field.get(i).copied().flatten()
    {
        let group = &step.system.model.row_groups()[group];
        let known = !step.end.fresh;
        if stores_specially(step, group, known) {
            return rows_energy(
                step,
                group,
                known.then_some(&step.end.multipliers),
                &mut Vec::new(),
            );
        }
    }
    step.system.model.potential(&step.end.state, component)
}

/// Whether rows store something else than their law at their coordinates.
fn stores_specially(step: Step<'_>, group: &RowGroup, by_multipliers: bool) -> bool {
    let ComponentId::ForceField(_) = group.component else {
        return false;
    };
    let bounded = step.system.model.bounds(group).is_some() && is_elastic(&step.system.model, group);
    by_multipliers && is_stiff(step.system, group) || step.system.model.motion(group).is_some() || bounded
}

/// Whether rows have the law of a linear spring.
fn is_elastic(model: &Model, group: &RowGroup) -> bool {
    let ComponentId::ForceField(i) = group.component else {
        return false;
    };
    let law = &model.force_fields()[i].component.law;
    law.is_linear() && law.row_law() == RowLaw::Elastic
}

pub(crate) fn is_stiff(system: &System, group: &RowGroup) -> bool {
    let mut rows = group.first_row..group.first_row + group.size * group.count;
    is_elastic(&system.model, group) && rows.any(|r| !system.rows.soft[r])
}

/// Energy stored by rows of a force field (J). A stiff compliant row of a linear law stores
/// `lambda^T C lambda / 2`, with the multiplier less its damping: its deformation, of which that
/// would be the quotient with its compliance, is mostly curvature and rounding. Driven springs
/// store their deformation from where they are driven. A linear spring of bounded force stores
/// `C F^2/2 - F (phi + C F)` where `F` is its force at the bound: nothing, if it is slack. (Bounded
/// rows of other laws, or coupled ones, store what their law says without bounds.)
fn rows_energy(step: Step<'_>, group: &RowGroup, lambda: Option<&[f64]>, shifted: &mut Vec<f64>) -> f64 {
    let ComponentId::ForceField(i) = group.component else {
        return 0.0;
    };
    let coordinates = group.size * group.count;
    let x = step.system.model.positions(&step.end.state, group.node);
    let target = |k: usize| {
        step.system
            .row_motion
            .get(group.first_row + k)
            .map_or(0.0, |m| m.end.0)
    };
    let lambda = lambda.filter(|_| is_stiff(step.system, group));
    let bounds = step
        .system
        .model
        .bounds(group)
        .filter(|_| is_elastic(&step.system.model, group));
    // The compliance of a coordinate, and whether it is coupled to no other.
    let own = |k: usize| {
        let (g, first) = step.system.evaluation.group_of(i, group.size, k);
        let width = step.system.evaluation.compliance(i).width(g);
        let row = &step.system.evaluation.compliance(i).block(g)[(k - first) * width..][..width];
        (
            row[k - first],
            (0..width).all(|c| c == k - first || row[c] == 0.0),
        )
    };
    if lambda.is_none() && (bounds.is_none() || !(0..coordinates).all(|k| own(k).1)) {
        let shifted = room(shifted, x.len());
        for (k, (s, x)) in shifted.iter_mut().zip(x).enumerate() {
            *s = x - target(k);
        }
        let space = step.system.model.node(group.node).space;
        let at = At::new(space, shifted).with_inputs(step.system.model.inputs(i));
        return step.system.model.force_fields()[i].component.law.energy(at);
    }
    let lambda = lambda.map(|l| &l[group.first_row..group.first_row + coordinates]);
    let alpha = step.scheme.alpha_of(group.component);
    let velocities = step.system.model.node(group.node).velocity_range();
    let mean = |k: usize| {
        let at = velocities.start + k;
        let rate = step.system.row_motion.get(group.first_row + k);
        let rate = rate.map_or(0.0, |m| alpha * m.end.1 + (1.0 - alpha) * m.start.1);
        alpha * step.end.state.velocities[at] + (1.0 - alpha) * step.start.state.velocities[at] - rate
    };
    // What of the force is not damping, coordinate `c` of block `g`.
    let elastic = |lambda: &[f64], g: usize, first: usize, c: usize| {
        let damping = step.system.evaluation.damping(i);
        let width = damping.width(g);
        let row = damping.block(g)[c * width..][..width].iter().enumerate();
        lambda[first + c] + row.map(|(k, b)| b * mean(first + k)).sum::<f64>()
    };
    let mut out = 0.0;
    for k in 0..coordinates {
        let (c, alone) = own(k);
        let alone = alone && c > 0.0;
        let phi = x[k] - target(k);
        let bound = bounds.filter(|_| alone);
        let bound = bound.map(|(lower, upper)| (-phi / c).max(lower).min(upper));
        out += match (bound, lambda) {
            (Some(force), _) if force != -phi / c => 0.5 * c * force * force - force * (phi + c * force),
            // Beside stiff ones, but not coupled to them.
            (_, Some(_)) if alone && step.system.rows.soft[group.first_row + k] => 0.5 * phi * phi / c,
            (_, Some(lambda)) => {
                let (g, first) = step.system.evaluation.group_of(i, group.size, k);
                let width = step.system.evaluation.compliance(i).width(g);
                let row = &step.system.evaluation.compliance(i).block(g)[(k - first) * width..][..width];
                let strain: f64 = (0..width).map(|c| row[c] * elastic(lambda, g, first, c)).sum();
                0.5 * elastic(lambda, g, first, k - first) * strain
            }
            (_, None) if alone => 0.5 * phi * phi / c,
            // Hard.
            (_, None) => 0.0,
        };
    }
    out
}
