//! The residual of the equations of rest ([`measure`](super::measure): how large it is).

use super::newton::Tangent;
use super::workspace::{Setting, Unknowns, Workspace};
use crate::Error;
use pliant_model::{ComponentId, RowGroup, RowLaw, Treatment};
use pliant_stepper::system::{System, gather};

/// A gap of this share of the length of the model is rounding.
const TOUCHING: f64 = 1e-12;
const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// How rows of bounded force and contacts come to their sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SideRule {
    /// Anew: at a bound, the multiplier becomes it.
    Take,
    /// Sides stay as they are.
    Keep,
    /// Multipliers are no unknowns, but the forces of the laws at the positions.
    ByLaw,
}

/// Finds `F_1`, `F_2` and the sizes of the terms of `F_1` at the present positions, which must be
/// propagated.
pub(crate) fn find_residual(at: &mut Setting<'_>, work: &mut Workspace, rule: SideRule) -> Result<(), Error> {
    let (system, state) = (&mut *at.system, &at.motion.state);
    system
        .evaluation
        .evaluate_after(&system.model, state, work.elapsed)?;
    let external = work.loads.of_forces(work.unknowns.factor);
    let set_forces = &mut work.residual.of_nodes;
    if !at.motion.controls.external.is_empty() {
        for (f, set) in set_forces.iter_mut().zip(&at.motion.controls.external) {
            *f = external * set;
        }
        system.evaluation.add_force(set_forces);
    }
    for i in work.loads.fields() {
        system
            .evaluation
            .scale_field(&system.model, state, *i, work.unknowns.factor);
    }
    if system.contacts.is_some() && rule != SideRule::Keep {
        work.contacts.find(system, state, &[], &at.options.contacts)?;
        let length = work.metric.length;
        let per_length = length / work.largest_force();
        work.contacts.take_sides(per_length, TOUCHING * length);
    }
    work.residual.deficit.truncate(work.unknowns.lambda.len());
    for index in 0..at.system.model.row_groups().len() {
        let group = at.system.model.row_groups()[index];
        find_deficits(at, work, &group, rule);
        if let Some(bounds) = at.system.model.bounds(&group)
            && rule == SideRule::Take
        {
            take_sides(at, work, &group, bounds);
        }
    }
    find_terms(at, work, external);
    let (system, residual) = (&*at.system, &mut work.residual);
    residual.of_nodes.copy_from_slice(system.evaluation.force());
    for group in system.model.row_groups() {
        let first = system.model.node(group.node).first_velocity;
        for k in 0..group.size * group.count {
            residual.of_nodes[first + k] += work.unknowns.lambda[group.first_row + k];
        }
    }
    system.evaluation.pull_back(&system.model, &mut residual.of_nodes);
    gather(&system.model, &residual.of_nodes, &mut residual.force);
    work.contacts.add_forces(&mut residual.force, &mut residual.terms);
    work.contacts.deficits(&mut residual.deficit);
    Ok(())
}

/// Value at which a row is held.
fn target(system: &System, work: &Workspace, row: usize) -> f64 {
    let target = system.row_target(row);
    if work.loads.drives(row) {
        work.unknowns.factor * target
    } else {
        target
    }
}

/// `F_2` of the rows of a group.
fn find_deficits(at: &mut Setting<'_>, work: &mut Workspace, group: &RowGroup, rule: SideRule) {
    let (system, state) = (&mut *at.system, &at.motion.state);
    let rows = group.first_row..group.first_row + group.size * group.count;
    if let ComponentId::ForceField(i) = group.component
        && system.model.motion(group).is_some()
        && !system.model.force_fields()[i].component.law.is_linear()
    {
        let targets = rows.clone().map(|r| (target(system, work, r), 0.0));
        let targets: Vec<_> = targets.collect();
        system
            .evaluation
            .shift_compliance(&system.model, state, i, targets.into_iter());
    }
    let system = &*system;
    let first_position = system.model.node(group.node).first_position;
    for row in rows {
        let k = row - group.first_row;
        let target = target(system, work, row);
        let gap = state.positions[first_position + k] - target;
        let Unknowns { lambda, sides, .. } = &mut work.unknowns;
        work.residual.deficit[row] = match group.component {
            ComponentId::ForceField(_) if system.model.row_law(group) == RowLaw::Viscous => {
                lambda[row] = 0.0;
                0.0
            }
            ComponentId::ForceField(i) if !system.evaluation.is_hard(group, k) => {
                let compliance = system.evaluation.compliance(i);
                let (g, first) = system.evaluation.group_of(i, group.size, k);
                let n = compliance.width(g);
                let phi = system.evaluation.deformation(i)[k] - target;
                if rule == SideRule::ByLaw {
                    let (lower, upper) = system.model.bounds(group).unwrap_or(FREE);
                    let own = compliance.block(g)[(k - first) * (n + 1)];
                    let force = -phi / own;
                    lambda[row] = force.max(lower).min(upper);
                    sides[row] = if force < lower {
                        -1
                    } else {
                        i8::from(force > upper)
                    };
                    0.0
                } else {
                    let c = &compliance.block(g)[(k - first) * n..][..n];
                    let lambda = &lambda[group.first_row + first..];
                    let strain: f64 = c.iter().zip(lambda).map(|(c, l)| c * l).sum();
                    strain + phi
                }
            }
            _ => gap,
        };
        if rule == SideRule::Keep && sides[row] != 0 {
            work.residual.deficit[row] = 0.0;
        }
    }
}

/// Rows of bounded force: by `lambda - w/s` against the bounds, with a compliance `s` that is their
/// own at least.
fn take_sides(at: &mut Setting<'_>, work: &mut Workspace, group: &RowGroup, bounds: (f64, f64)) {
    let (lower, upper) = bounds;
    let length = work.metric.length;
    let per_length = length / work.largest_force();
    let evaluation = &at.system.evaluation;
    let own = |k: usize| match group.component {
        ComponentId::ForceField(i) => {
            let (g, first) = evaluation.group_of(i, group.size, k);
            let c = evaluation.compliance(i);
            c.block(g)[(k - first) * (c.width(g) + 1)]
        }
        _ => 0.0,
    };
    let rows = group.first_row..group.first_row + group.size * group.count;
    let Unknowns { lambda, sides, .. } = &mut work.unknowns;
    for row in rows.clone() {
        let s = own(row - group.first_row) + per_length;
        // A row that just touches acts, up to rounding, until it turns out to pull.
        let w = work.residual.deficit[row];
        let w = if w.abs() <= TOUCHING * length { 0.0 } else { w };
        let wanted = lambda[row] - w / s;
        sides[row] = if wanted < lower {
            -1
        } else {
            i8::from(wanted > upper)
        };
        lambda[row] = match sides[row] {
            -1 => lower,
            1 => upper,
            _ => continue,
        };
    }
    // Where a compliance couples them, those that act feel the others.
    find_deficits(at, work, group, SideRule::Take);
    for row in rows.filter(|r| work.unknowns.sides[*r] != 0) {
        work.residual.deficit[row] = 0.0;
    }
}

/// Sizes of the terms of `F_1`: forces of each component, loads and rows, carried down with the
/// sizes of the Jacobians.
fn find_terms(at: &mut Setting<'_>, work: &mut Workspace, external: f64) {
    let (system, motion) = (&*at.system, &*at.motion);
    let residual = &mut work.residual;
    let terms = &mut residual.of_nodes;
    terms.fill(0.0);
    for (t, f) in terms.iter_mut().zip(&motion.controls.external) {
        *t = (external * f).abs();
    }
    // What is left of all forces without the fields' is gravity: its own terms are those, and no
    // less than the sum.
    for attachment in system.model.masses() {
        let range = system.model.node(attachment.node).velocity_range();
        let force = system.evaluation.force();
        for (t, f) in terms[range.clone()].iter_mut().zip(&force[range]) {
            *t += f.abs();
        }
    }
    for (i, attachment) in system.model.force_fields().iter().enumerate() {
        if system.model.treatment(i) == Treatment::Compliance {
            continue;
        }
        let range = system.model.node(attachment.node).velocity_range();
        let scale = if work.loads.fields().contains(&i) {
            work.unknowns.factor
        } else {
            1.0
        };
        let force = &mut residual.field_force;
        force.clear();
        force.resize(range.len(), 0.0);
        system
            .model
            .add_field_force(&motion.state, i, work.elapsed, force);
        for (t, f) in terms[range].iter_mut().zip(force) {
            *t += (scale * *f).abs();
        }
    }
    for group in system.model.row_groups() {
        let first = system.model.node(group.node).first_velocity;
        for k in 0..group.size * group.count {
            terms[first + k] += work.unknowns.lambda[group.first_row + k].abs();
        }
    }
    system.evaluation.pull_back_sizes(&system.model, terms);
    gather(&system.model, terms, &mut residual.terms);
}

/// Derivatives of the residual by the load factor.
#[derive(Debug, Default)]
pub(crate) struct LoadRate {
    pub(crate) force: Vec<f64>,
    pub(crate) deficit: Vec<f64>,
}

/// `d F_1/dp` and `d F_2/dp` at the present positions, whose residual must be known: what the loads
/// that are scaled are at factor 1.
pub(crate) fn find_load_rate(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    rate: &mut LoadRate,
) -> Result<(), Error> {
    let factor = work.unknowns.factor;
    rate.force.clone_from(&work.residual.force);
    // Linear in the factor: a difference is exact but for rounding.
    work.set_load_factor(factor + 1.0, &mut at.system.model)?;
    let there = find_residual(at, work, SideRule::Keep);
    for (f, there) in rate.force.iter_mut().zip(&work.residual.force) {
        *f = there - *f;
    }
    work.set_load_factor(factor, &mut at.system.model)?;
    let here = there.and_then(|()| find_residual(at, work, SideRule::Keep));
    rate.deficit.clear();
    for row in 0..work.unknowns.lambda.len() {
        let target = at.system.row_target(row);
        let acts = work.loads.drives(row) && work.unknowns.sides[row] == 0;
        rate.deficit.push(if acts { -target } else { 0.0 });
    }
    rate.deficit.resize(work.residual.deficit.len(), 0.0);
    here
}

/// Fills the tangent at the present positions, whose residual must be known; rows at a bound and
/// dashpots are taken out.
pub(crate) fn fill_tangent(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    tangent: Tangent,
) -> Result<(), Error> {
    let (system, state) = (&mut *at.system, &at.motion.state);
    let unknowns = &work.unknowns;
    system
        .assembler
        .fill_rest(&system.model, &mut system.evaluation, state, &unknowns.lambda);
    for (row, side) in unknowns.sides.iter().enumerate() {
        if *side != 0 {
            system.assembler.deactivate_row(row);
        }
    }
    if tangent == Tangent::Whole {
        work.contacts.fill(system, state)?;
    }
    Ok(())
}
