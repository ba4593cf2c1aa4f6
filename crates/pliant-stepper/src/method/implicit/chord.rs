//! Equations of a step along the chord between both ends, of
//! [`EnergyMomentum`](super::EnergyMomentum).

use super::Iteration;
use crate::Error;
use crate::system::{System, gather};
use pliant_dense::{Vec3, vec3};
use pliant_model::{At, ChordWork, ComponentId, Evaluation, Level, Model, RowGroup, RowLaw, Space, State};

/// The start of a step along a chord, and scratch for the forces along it.
#[derive(Debug, Default)]
pub(super) struct Chord {
    /// The Jacobians of the start, with the number of plans of the system that they are for.
    evaluation: Option<(usize, Evaluation)>,
    state: State,
    /// Forces on all nodes of the start and of the end, which stand for their mean (N, N m).
    forces: [Vec<f64>; 2],
    /// The displacement with rotation vectors in place of Cayley's (m, rad).
    pub(super) moved: Vec<f64>,
    /// Velocities in the middle, of all nodes (m/s, rad/s).
    velocity: Vec<f64>,
    /// Mean forces of nonlinear laws that are rows (N, N m).
    law_force: Vec<f64>,
    room: Vec<f64>,
    /// The work of what has no potential, at the last iterate.
    work: ChordWork,
}

impl Chord {
    /// Takes the start of a step.
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined.
    pub(super) fn begin(&mut self, system: &System, start: &State) -> Result<(), Error> {
        let plans = system.counters().plans;
        let own = self.evaluation.take().filter(|(of, _)| *of == plans);
        let (_, mut evaluation) = own.unwrap_or_else(|| (plans, system.new_evaluation()));
        self.state.clone_from(start);
        evaluation.propagate(&system.model, &mut self.state)?;
        self.evaluation = Some((plans, evaluation));
        let all = system.model.velocity_count();
        let [first, last] = &mut self.forces;
        for (list, size) in [
            (first, all),
            (last, all),
            (&mut self.velocity, all),
            (&mut self.law_force, system.model.row_count()),
            (&mut self.room, system.model.chord_room()),
        ] {
            list.clear();
            list.resize(size, 0.0);
        }
        Ok(())
    }

    /// The work of what has no potential (J), by the forces of the last iterate.
    pub(super) fn work(&self) -> ChordWork {
        self.work
    }
}

/// Writes a displacement with Cayley's vectors `c` of bodies as one with rotation vectors:
/// `r = 2 atan(|c|/2) c/|c|`.
pub(super) fn write_rotations(model: &Model, displacement: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(displacement);
    for_each_body(model, |at| {
        let half = 0.5 * vec3(out, at).norm();
        // The next term, half^2/3, is below rounding.
        let share = if half < 1e-8 { 1.0 } else { half.atan() / half };
        out[at..at + 3].iter_mut().for_each(|r| *r *= share);
    });
}

/// Calls with the first angular coordinate of every independent body.
fn for_each_body(model: &Model, mut visit: impl FnMut(usize)) {
    for node in model.nodes() {
        if let (Some(first), Space::Rigid3) = (node.first_dof(), node.space) {
            (0..node.count).for_each(|e| visit(first + 6 * e + 3));
        }
    }
}

/// The residual of the equations along the chord.
pub(super) fn find_residual(iteration: &mut Iteration<'_>) -> Result<(), Error> {
    iteration
        .system
        .evaluate_forces(iteration.end, iteration.work.equations.elapsed)?;
    find_forces(iteration);
    find_deficits(iteration);
    iteration.turn_into_impulses();
    Ok(())
}

/// Writes `f - M a + J^T lambda` along the chord to the independent coordinates of the residual.
fn find_forces(iteration: &mut Iteration<'_>) {
    let gain = iteration.work.relation.acceleration_gain;
    let s = &mut *iteration.work;
    let chord = &mut s.equations.chord;
    let model = &iteration.system.model;
    let [first, last] = &mut chord.forces;
    for list in [&mut *first, &mut *last] {
        match &iteration.end.controls.external[..] {
            [] => list.fill(0.0),
            external => list.copy_from_slice(external),
        }
    }
    let states = [&chord.state, &iteration.end.state];
    let h = s.equations.elapsed;
    chord.work = model.add_chord_forces(states, h, &mut chord.room, [&mut *first, &mut *last]);
    // Accelerations, and velocities in the middle, of what has a mass.
    for node in model.nodes() {
        let Some(dof) = node.first_dof() else { continue };
        for (k, i) in node.velocity_range().enumerate() {
            let v = s.iterate.velocity[dof + k];
            s.nodal.acceleration[i] = s.relation.acceleration[dof + k] + gain * v;
            chord.velocity[i] = 0.5 * (s.equations.velocity[dof + k] + v);
        }
    }
    let evaluation = &iteration.system.evaluation;
    evaluation.push_forward_to_masses(model, &mut s.nodal.acceleration);
    evaluation.push_forward_to_masses(model, &mut chord.velocity);
    s.nodal.force.fill(0.0);
    for attachment in model.masses() {
        let node = model.node(attachment.node);
        let (range, mass) = (node.velocity_range(), &attachment.component);
        let force = &mut s.nodal.force[range.clone()];
        if node.space == Space::Rigid3 {
            mass.add_gyroscopic(&chord.velocity[range.clone()], force);
        }
        mass.add_product(node.space, -1.0, &s.nodal.acceleration[range], force);
    }
    for group in model.row_groups() {
        let at = model.node(group.node).first_velocity;
        for k in 0..group.size * group.count {
            s.nodal.force[at + k] += gain * s.iterate.mu[group.first_row + k];
        }
    }
    for list in [&mut *first, &mut *last] {
        list.iter_mut().zip(&s.nodal.force).for_each(|(f, g)| *f += g);
    }
    let Some((_, start)) = &chord.evaluation else {
        return;
    };
    start.pull_back_chords(evaluation, model, states, [&mut *first, &mut *last]);
    gather(model, first, &mut s.residual.primal);
    // The mean torque in space, in the axes in which I (w+ - w)/h + w' x I w' is the change of
    // the momentum.
    for node in model.nodes() {
        let (Some(dof), Space::Rigid3) = (node.first_dof(), node.space) else {
            continue;
        };
        for e in 0..node.count {
            let (from, to) = (node.first_velocity + 6 * e + 3, dof + 6 * e + 3);
            let (start, end) = (vec3(first, from), vec3(last, from));
            let turn: Vec3 = vec3(&s.displacement, to);
            let torque = 0.5 * (start + end) + 0.25 * turn.cross(&(end - start));
            s.residual.primal[to..to + 3].copy_from_slice(torque.as_slice());
        }
    }
}

/// Finds the residual of every row along the chord: hard ones at the end, all others with the
/// mean force of their law and their damping at the rate of the chord.
fn find_deficits(iteration: &mut Iteration<'_>) {
    for index in 0..iteration.system.model.row_groups().len() {
        let group = iteration.system.model.row_groups()[index];
        let node = iteration.system.model.node(group.node);
        let (at, rows) = (node.first_position, group.size * group.count);
        match group.component {
            ComponentId::ForceField(i) => find_deficits_of_law(iteration, &group, i),
            ComponentId::Constraint(i) => {
                let level = iteration.system.model.constraints()[i].component.level;
                debug_assert!(matches!(level, Level::Position | Level::CurvedPosition));
                for k in 0..rows {
                    let target = iteration.system.row_target(group.first_row + k);
                    let gap = iteration.end.state.positions[at + k] - target;
                    iteration.work.residual.deficit[group.first_row + k] = gap;
                }
            }
            ComponentId::Mass(_) => {}
        }
    }
}

/// The deficits of a force field that is treated as a compliance.
fn find_deficits_of_law(iteration: &mut Iteration<'_>, group: &RowGroup, i: usize) {
    let node = iteration.system.model.node(group.node);
    let (at, n) = (node.first_position, group.size * group.count);
    let law = &iteration.system.model.force_fields()[i].component.law;
    let viscous = iteration.system.model.row_law(group) == RowLaw::Viscous;
    let nonlinear = !viscous && !law.is_linear();
    let gain = iteration.work.relation.acceleration_gain;
    let motion = |row: usize| iteration.system.row_motion.get(row).copied().unwrap_or_default();
    let s = &mut *iteration.work;
    let chord = &mut s.equations.chord;
    // Positions and rates against the motion of the rows: both ends, then the rate.
    let (start, room) = chord.room.split_at_mut(n);
    let (end, room) = room.split_at_mut(n);
    let (rate, room) = room.split_at_mut(n);
    for k in 0..n {
        let m = motion(group.first_row + k);
        let (x, to) = (
            chord.state.positions[at + k],
            iteration.end.state.positions[at + k],
        );
        (start[k], end[k]) = (x - m.start.0, to - m.end.0);
        rate[k] = match viscous {
            true => gain * (to - x) - 0.5 * (m.start.1 + m.end.1),
            false => gain * (end[k] - start[k]),
        };
    }
    let inputs = iteration.system.model.inputs(i);
    let [from, to] = [&*start, &*end].map(|x| At::new(node.space, x).with_inputs(inputs));
    let force = &mut chord.law_force[group.first_row..][..n];
    if nonlinear {
        force.fill(0.0);
        law.add_chord_force([from, to], room, force);
    }
    let evaluation = &iteration.system.evaluation;
    let damping = evaluation.row_damping(i);
    let mut dissipates = viscous;
    let mut work = 0.0;
    for k in 0..n {
        let row = group.first_row + k;
        let lambda = gain * s.iterate.mu[row];
        let (g, first) = evaluation.group_of(i, group.size, k);
        let width = evaluation.compliance(i).width(g);
        let c = &evaluation.compliance(i).block(g)[(k - first) * width..][..width];
        let hard = evaluation.is_hard(group, k);
        let d = iteration.system.model.relaxation_time(i, k);
        dissipates |= d > 0.0 || damping.is_some();
        work += (end[k] - start[k]) * lambda;
        // C times the force less that of the law without damping, and less D times the rate.
        let strain: f64 = (c.iter().enumerate())
            .map(|(l, c)| {
                let mut force = gain * s.iterate.mu[group.first_row + first + l];
                if nonlinear {
                    force -= chord.law_force[group.first_row + first + l];
                }
                if let Some(damping) = damping {
                    let own = &damping.block(g)[l * width..][..width];
                    let rates = &rate[first..first + width];
                    force += own.iter().zip(rates).map(|(b, u)| b * u).sum::<f64>();
                }
                c * force
            })
            .sum();
        s.residual.deficit[row] = match (viscous, hard) {
            (true, true) => rate[k],
            (true, false) => strain + rate[k],
            (false, true) => end[k] + d * rate[k],
            (false, false) if nonlinear => strain + d * rate[k],
            (false, false) => strain + 0.5 * (start[k] + end[k]) + d * rate[k],
        };
    }
    if dissipates {
        let stored = if viscous {
            0.0
        } else {
            law.energy(to) - law.energy(from)
        };
        let hard = !viscous && (0..n).all(|k| evaluation.is_hard(group, k));
        if !hard {
            chord.work.damping += work + stored;
        }
    }
}
