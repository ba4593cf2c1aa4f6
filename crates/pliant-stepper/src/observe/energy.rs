//! Energies of a motion: what the components store.

use super::{Step, room};
use crate::motion::Motion;
use crate::system::System;
use pliant_model::{At, ComponentId, Energies, Model, PrescribedMotion, RowGroup, RowLaw};

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
    let own = |k: usize| own_compliance(step.system, i, group.size, k);
    let Some(lambda) = lambda.map(|l| &l[group.first_row..group.first_row + coordinates]) else {
        return energy_by_law(step.system, group, x, target, shifted);
    };
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
        out += match bound {
            Some(force) if force != -phi / c => beyond_bound(c, force, phi),
            // Beside stiff ones, but not coupled to them.
            _ if alone && step.system.rows.soft[group.first_row + k] => 0.5 * phi * phi / c,
            _ => {
                let (g, first) = step.system.evaluation.group_of(i, group.size, k);
                let width = step.system.evaluation.compliance(i).width(g);
                let row = &step.system.evaluation.compliance(i).block(g)[(k - first) * width..][..width];
                let strain: f64 = (0..width).map(|c| row[c] * elastic(lambda, g, first, c)).sum();
                0.5 * elastic(lambda, g, first, k - first) * strain
            }
        };
    }
    out
}

/// The energy of a linear spring of compliance `c` and coordinate `phi` whose force is at its bound.
fn beyond_bound(c: f64, force: f64, phi: f64) -> f64 {
    0.5 * c * force * force - force * (phi + c * force)
}

/// The compliance of coordinate `k` of a force field, and whether it is coupled to no other.
fn own_compliance(system: &System, field: usize, size: usize, k: usize) -> (f64, bool) {
    let (g, first) = system.evaluation.group_of(field, size, k);
    let compliance = system.evaluation.compliance(field);
    let width = compliance.width(g);
    let row = &compliance.block(g)[(k - first) * width..][..width];
    (
        row[k - first],
        (0..width).all(|c| c == k - first || row[c] == 0.0),
    )
}

/// Energy that rows of a force field store by their law at the coordinates `x` of their node, which
/// are driven to these targets (J).
pub(super) fn energy_by_law(
    system: &System,
    group: &RowGroup,
    x: &[f64],
    target: impl Fn(usize) -> f64,
    shifted: &mut Vec<f64>,
) -> f64 {
    let ComponentId::ForceField(i) = group.component else {
        return 0.0;
    };
    let own = |k: usize| own_compliance(system, i, group.size, k);
    let coordinates = 0..group.size * group.count;
    let bounds = system
        .model
        .bounds(group)
        .filter(|_| is_elastic(&system.model, group));
    let bounds = bounds.filter(|_| coordinates.clone().all(|k| own(k).1));
    let Some((lower, upper)) = bounds else {
        let shifted = room(shifted, x.len());
        for (k, (s, x)) in shifted.iter_mut().zip(x).enumerate() {
            *s = x - target(k);
        }
        let space = system.model.node(group.node).space;
        let at = At::new(space, shifted).with_inputs(system.model.inputs(i));
        return system.model.force_fields()[i].component.law.energy(at);
    };
    let one = |k: usize| {
        let (c, phi) = (own(k).0, x[k] - target(k));
        // Hard ones store nothing.
        if c <= 0.0 {
            return 0.0;
        }
        match (-phi / c).max(lower).min(upper) {
            force if force != -phi / c => beyond_bound(c, force, phi),
            _ => 0.5 * phi * phi / c,
        }
    };
    coordinates.map(one).sum()
}

/// The change of the energy that a driven compliance stores at a motion, by its law, if its targets
/// become others (J): `before` are those that it has had.
pub fn change_by_targets(
    system: &System,
    motion: &Motion,
    component: ComponentId,
    before: Option<&PrescribedMotion>,
    after: Option<&PrescribedMotion>,
) -> f64 {
    let groups = system.model.row_groups().iter();
    let mut own = groups.filter(|group| group.component == component);
    own.next().map_or(0.0, |group| {
        let x = system.model.positions(&motion.state, group.node);
        let [before, after] = [before, after].map(|to| {
            let target = |k: usize| to.map_or(0.0, |to| to.at(k, motion.time).0);
            energy_by_law(system, group, x, target, &mut Vec::new())
        });
        after - before
    })
}
