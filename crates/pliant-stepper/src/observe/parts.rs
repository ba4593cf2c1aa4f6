//! Parts of the numerical part of a linear step.
//!
//! With `u = v + beta dv`, by which positions move, and the equation that was solved, `M dv = p`,
//! the mean velocity is `u + (1/2 - beta) dv`. An impulse of `p` that the ledger enters at the mean
//! velocity is accounted for; all others (`q`) work on the way `h u`, which is what changes what
//! they store, and on `(1/2 - beta) dv`, which is the part of inertia:
//!
//! ```math
//! dT = sum_entered p . (v + dv/2) + sum_others q . u + (1/2 - beta) dv . sum_others q
//! ```

mod rows;

use super::ledger::{Account, power_without_potential};
use super::{Room, Step};
use crate::method::gyroscopic;
use crate::motion::Motion;
use crate::system::System;
use crate::{Gyroscopic, NumericalParts};
use pliant_kkt::Scheme;
use pliant_model::{ComponentId, Evaluation, Treatment};

/// The change of the velocities of all nodes in a linear step, by the Jacobians of the start.
#[derive(Clone, Copy)]
struct Change<'a> {
    /// Velocities at the start, `v`.
    before: &'a [f64],
    /// Their change `dv`.
    by: &'a [f64],
    beta: f64,
}

impl Change<'_> {
    /// The velocity `u = v + beta dv` by which a position moves.
    fn moving(&self, k: usize) -> f64 {
        self.before[k] + self.beta * self.by[k]
    }
}

/// Takes a linear step apart, before it moves anything: `end` has its multipliers and forces of
/// supports, and the state of the start. The geometric stiffness is that which was filled. `room`
/// is for numbers of all nodes, `spin` for impulses of gyroscopic torques.
pub(crate) fn find_parts(
    system: &mut System,
    start: &Motion,
    end: &Motion,
    scheme: &Scheme,
    [room, spin]: [&mut Vec<f64>; 2],
    account: &mut Account,
) {
    system.find_law_forces(&end.state, |m| m.start);
    let step = Step {
        system,
        start,
        end,
        scheme,
    };
    let h = scheme.h;
    push_change(step, room);
    let change = Change {
        before: &end.state.velocities,
        by: room,
        beta: scheme.beta,
    };
    let (on_change, rows) = rows::parts_of_rows(step, h, change);
    let entered = on_change + entered_on_change(step, h, change, &mut account.room);
    let stiffness = stiffness_part(step, h, change) + rows.stiffness;
    let spin = spin_work(step, h, change, spin);
    let inertia = inertia_part(step, h, entered, change, account) + spin;
    for (u, v) in room.iter_mut().zip(&end.state.velocities) {
        *u = v + scheme.beta * *u;
    }
    let System {
        model,
        evaluation,
        assembler,
        ..
    } = system;
    let geometry = assembler.geometry_work(model, evaluation, scheme, &end.state, room);
    account.parts = Some(NumericalParts {
        inertia,
        geometry,
        stiffness,
        ..rows
    });
}

/// `dv` of all nodes.
fn push_change(step: Step<'_>, by: &mut Vec<f64>) {
    by.resize(step.system.model.velocity_count(), 0.0);
    for node in step.system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let range = node.velocity_range();
        let change = &step.system.solution.x[first..first + range.len()];
        by[range].copy_from_slice(change);
    }
    step.system.evaluation.push_forward(&step.system.model, by);
}

/// Work, on the change of velocity, of impulses that are neither of rows nor stored: from outside,
/// without a potential, of supports and contacts.
fn entered_on_change(step: Step<'_>, h: f64, change: Change<'_>, room: &mut Room) -> f64 {
    let change = change.by;
    let outside = step.end.controls.external.iter().zip(change);
    let mut sum = h * outside.map(|(f, dv)| f * dv).sum::<f64>();
    sum += h * power_without_potential(&step.system.model, &step.end.state, room, |k| change[k]);
    let supports = step.end.supports.iter().zip(&step.system.solution.x);
    sum += h * supports.map(|(f, dv)| f * dv).sum::<f64>();
    sum + step
        .system
        .contacts
        .as_ref()
        .map_or(0.0, |c| c.observed.work.on_change)
}

/// `(1/2 - beta) dv . q` and the work of inertial forces; with mapped masses
/// [`close_inertia`](Self::close_inertia) has the rest.
fn inertia_part(step: Step<'_>, h: f64, entered: f64, change: Change<'_>, account: &mut Account) -> f64 {
    let (mut square, mut mapped) = (0.0, 0.0);
    for attachment in step.system.model.masses() {
        let node = step.system.model.node(attachment.node);
        let range = node.velocity_range();
        let (v, p) = super::room(&mut account.room.first, 2 * range.len()).split_at_mut(range.len());
        let by = &change.by[range.clone()];
        p.fill(0.0);
        attachment.component.add_product(node.space, 1.0, by, p);
        square += p.iter().zip(by).map(|(p, dv)| p * dv).sum::<f64>();
        if node.first_dof().is_none() {
            let ends = step.end.state.velocities[range].iter().zip(by);
            v.iter_mut()
                .zip(ends)
                .for_each(|(v, (start, dv))| *v = start + dv);
            p.fill(0.0);
            attachment.component.add_product(node.space, 1.0, v, p);
            mapped += 0.5 * p.iter().zip(&*v).map(|(p, v)| p * v).sum::<f64>();
        }
    }
    account.mapped = mapped;
    let inertial = step.system.evaluation.inertial_force().iter().enumerate();
    let work = h * inertial.map(|(k, f)| f * change.moving(k)).sum::<f64>();
    (0.5 - step.scheme.beta) * (square - entered) + work
}

/// Work of the gyroscopic impulses on the way.
fn spin_work(step: Step<'_>, h: f64, change: Change<'_>, impulse: &mut Vec<f64>) -> f64 {
    impulse.clone_from(&step.system.scratch.impulse);
    if step.system.options.gyroscopic == Gyroscopic::LinearlyImplicit {
        let (gain, by) = (h * step.scheme.alpha, &step.system.solution.x);
        gyroscopic::add_linearised(&step.system.model, &step.end.state, gain, by, impulse);
    }
    let mut sum = 0.0;
    for node in step.system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let own = impulse[first..].iter().zip(node.velocity_range());
        sum += own.map(|(p, k)| p * change.moving(k)).sum::<f64>();
    }
    sum
}

/// `(1/2 - alpha) |dx|_K^2` of all that is treated as a stiffness, and what contacts have of it.
fn stiffness_part(step: Step<'_>, h: f64, change: Change<'_>) -> f64 {
    let mut sum = step
        .system
        .contacts
        .as_ref()
        .map_or(0.0, |c| c.observed.work.stiffness);
    let mut shared = 0.0;
    for (i, field) in step.system.model.force_fields().iter().enumerate() {
        let gain = 0.5 - step.scheme.alpha_of(ComponentId::ForceField(i));
        let component = &field.component;
        if step.system.model.treatment(i) != Treatment::Stiffness
            || !component.law.has_potential()
            || gain == 0.0
        {
            continue;
        }
        let node = step.system.model.node(field.node);
        let size = node.space.velocity_size();
        let start = node.first_velocity;
        let evaluation = &step.system.evaluation;
        let groups = evaluation.groups(i);
        let mut room = [0.0; Evaluation::MOST_MADE];
        let mut form = 0.0;
        for g in 0..if groups.is_empty() {
            node.count
        } else {
            groups.len()
        } {
            let alone = [g];
            let list = groups.get(g).map_or(&alone[..], Vec::as_slice);
            let at = |k: usize| change.moving(start + list[k / size] * size + k % size);
            let width = (list.len() * size).max(1);
            let block = evaluation.stiffness_block(&step.system.model, i, g, &mut room);
            for (r, row) in block.chunks_exact(width).enumerate() {
                form += at(r) * row.iter().enumerate().map(|(c, k)| k * at(c)).sum::<f64>();
            }
        }
        match step.system.model.element_share(field.node.index()) {
            Some(_) => shared += gain * h * h * form,
            None => sum += gain * h * h * form,
        }
    }
    match step.system.model.processes() {
        Some(_) => sum + step.system.model.sum_over_processes(shared),
        None => sum,
    }
}
