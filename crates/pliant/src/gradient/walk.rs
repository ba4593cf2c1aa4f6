//! The way back along a trajectory: moments that are recorded, and the adjoint of each part of a
//! step.

use super::closing::{ClosingGap, ImpactTimes, closing_contact};
use super::schedule::split;
use super::trajectory::{NodeGradient, Objective, Trajectory, TrajectoryGradient};
use super::{
    GradientError, SolveReport, StateVector, StepBefore, StepDerivative, StepWeights, TakenContact,
    TakenStep, TrajectoryError, check_unmoved, check_whole, each_part, stages_of, step_before, step_stages,
    step_weights,
};
use crate::control::located::{PartEnd, TakenPart};
use crate::{Checkpoint, Simulation};
use pliant_model::{Parameters, Problem, State};
use pliant_stepper::IntegratorMemory;

/// One moment of a run, as far as a derivative needs it.
#[derive(Debug, Default)]
pub(super) struct Moment {
    state: State,
    multipliers: Vec<f64>,
    external: Vec<f64>,
    fixed: Vec<bool>,
    parameters: Parameters,
    /// Contacts of the step that ended here.
    contacts: Vec<TakenContact>,
    /// Contacts near it, of smoothed laws.
    near: Vec<TakenContact>,
    time: f64,
    /// The memory of the step before it: its length, velocities and displacement.
    before: Option<f64>,
    memory: [Vec<f64>; 2],
    /// Weights of the end of the step that ended here.
    weights: StepWeights,
    /// The stages of that step, if it is one of SDIRK2, and what the step behind it remembers of it.
    stages: IntegratorMemory,
    remembered: IntegratorMemory,
}

impl Moment {
    fn record(&mut self, simulation: &Simulation) {
        let motion = &simulation.motion;
        self.state.clone_from(&motion.state);
        self.multipliers.clone_from(&motion.multipliers);
        self.external.clone_from(&motion.controls.external);
        self.fixed.clone_from(&simulation.system.assembler.system().fixed);
        self.parameters.clone_from(simulation.problem().parameters());
        self.time = motion.time;
        self.weights = step_weights(&simulation.options);
        self.stages.forget();
        if step_stages(simulation).is_some() {
            self.stages.clone_from(&motion.integrator);
        }
    }

    /// Takes the start of the step that has just been taken as this moment: with velocities that
    /// hard rows allow, and the memory that the step had.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] if the state was set since the moment was recorded, which is not
    /// the first.
    fn take_start(&mut self, simulation: &Simulation, is_first: bool) -> Result<(), GradientError> {
        let start = &simulation.start;
        if !is_first {
            check_unmoved(&self.state, &start.state, self.time)?;
        }
        self.state.clone_from(&start.state);
        self.remembered.forget();
        if !simulation.start.fresh && step_stages(simulation).is_some() {
            self.remembered.clone_from(&simulation.start.integrator);
        }
        let before = step_before(simulation);
        self.before = before.map(|before| before.h);
        if let Some(before) = before {
            let lists = [before.velocities, before.displacement];
            for (kept, list) in self.memory.iter_mut().zip(lists) {
                kept.clear();
                kept.extend_from_slice(list);
            }
        }
        Ok(())
    }
}

/// A part of a step that was recorded.
#[derive(Clone, Copy, Debug)]
struct RecordedPart {
    step: usize,
    taken: TakenPart,
}

/// A moment of a run, which is made if it is not there.
fn moment(run: &mut Vec<Moment>, at: usize) -> &mut Moment {
    while run.len() <= at {
        run.push(Moment::default());
    }
    &mut run[at]
}

/// Adds a gradient of a part to that of its step, which has none yet or one of the same length.
fn add_to(sum: &mut Vec<f64>, part: &[f64]) {
    sum.resize(part.len(), 0.0);
    sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
}

/// The backward walk.
pub(super) struct Walk<'a, 'b> {
    simulation: &'a mut Simulation,
    trajectory: &'a mut Trajectory<'b>,
    derivative: StepDerivative,
    /// The problem with the parameters of the present step of the way back.
    problem: Problem,
    objective: &'a mut dyn Objective,
    /// The gradient at the moment that was reached, by its state, and by its memory of the step
    /// before, with room for the next one.
    gradient: StateVector,
    by_memory: [StateVector; 2],
    by: NodeGradient,
    own: StateVector,
    out: TrajectoryGradient,
    /// The moments of a run, and the parts between them.
    run: Vec<Moment>,
    parts: Vec<RecordedPart>,
    times: ImpactTimes,
    by_part: Vec<f64>,
    kept: usize,
}

impl<'a, 'b> Walk<'a, 'b> {
    /// A walk that begins where the simulation is.
    ///
    /// # Errors
    /// Those of [`Simulation::step_derivative`].
    pub(super) fn new(
        simulation: &'a mut Simulation,
        trajectory: &'a mut Trajectory<'b>,
        objective: &'a mut dyn Objective,
    ) -> Result<Self, TrajectoryError> {
        let derivative = simulation.step_derivative()?;
        let (n, all) = (
            simulation.model().dof_count(),
            simulation.model().velocity_count(),
        );
        let parameters = trajectory.family.as_ref().map_or(0, |f| f.len());
        let mut out = TrajectoryGradient {
            start: StateVector::zeros(n),
            parameters: vec![0.0; parameters],
            ..TrajectoryGradient::default()
        };
        if !trajectory.forces_on.is_empty() {
            out.forces = vec![Vec::new(); trajectory.steps];
        }
        out.elements = vec![Vec::new(); trajectory.each_element.len()];
        if trajectory.inputs {
            out.inputs = vec![Vec::new(); trajectory.steps];
        }
        Ok(Self {
            problem: simulation.problem().clone(),
            simulation,
            trajectory,
            derivative,
            objective,
            gradient: StateVector::zeros(n),
            by_memory: [StateVector::zeros(n), StateVector::default()],
            by: NodeGradient {
                x: vec![0.0; all],
                v: vec![0.0; all],
            },
            own: StateVector::zeros(n),
            out,
            run: Vec::new(),
            parts: Vec::new(),
            times: ImpactTimes::default(),
            by_part: Vec::new(),
            kept: 0,
        })
    }

    /// Walks from the end to the start; the simulation goes to the end.
    ///
    /// # Errors
    /// Those of [`Trajectory::gradient`].
    pub(super) fn take(mut self) -> Result<TrajectoryGradient, TrajectoryError> {
        let (steps, slots) = (self.trajectory.steps, self.trajectory.slots);
        let end = self.back(0, steps, slots, true)?;
        self.by_start();
        let mut out = self.out;
        out.start = self.gradient;
        if let Some(end) = end {
            self.simulation.restore(&end)?;
        }
        Ok(out)
    }
}

impl Walk<'_, '_> {
    /// Walks back from `to` to `from`, where the simulation is, with so many moments to keep. On
    /// the first way along, the values of the objective are added. Returns the motion at `to` if it
    /// is the end of the trajectory.
    fn back(
        &mut self,
        from: usize,
        to: usize,
        slots: usize,
        first: bool,
    ) -> Result<Option<Checkpoint>, TrajectoryError> {
        if to - from <= self.trajectory.run.max(1) || slots == 0 {
            return self.record_run(from, to, first);
        }
        let ahead = from
            + split((to - from).div_ceil(self.trajectory.run.max(1)).max(2), slots)
                * self.trajectory.run.max(1);
        let ahead = ahead.clamp(from + 1, to - 1);
        let here = self.simulation.checkpoint();
        self.kept += 1;
        self.note_kept();
        for step in from..ahead {
            if first {
                self.add_value(step)?;
            }
            self.step(step)?;
        }
        let end = self.back(ahead, to, slots - 1, first)?;
        self.simulation.restore(&here)?;
        self.kept -= 1;
        self.back(from, ahead, slots, false)?;
        Ok(end)
    }

    /// Takes the steps of one run, records their ends, and takes their adjoints from the last to
    /// the first. Without slots a run is as long as it has to be.
    fn record_run(
        &mut self,
        from: usize,
        to: usize,
        first: bool,
    ) -> Result<Option<Checkpoint>, TrajectoryError> {
        self.parts.clear();
        // On the way back an objective sees the simulation at its moment.
        let mut gradients = Vec::with_capacity(to - from + 1);
        for step in from..=to {
            // The moment `to` was seen by the run behind, unless it is the end.
            if step < to || to == self.trajectory.steps {
                let value = self.own_gradient(step)?;
                if first {
                    self.out.value += value;
                }
                gradients.push(self.own.clone());
            }
            let now = self.parts.len();
            moment(&mut self.run, now).record(self.simulation);
            if step < to {
                self.record_step(step)?;
            }
        }
        self.note_kept();
        let is_end = to == self.trajectory.steps;
        let end = (is_end && first).then(|| self.simulation.checkpoint());
        if is_end && let Some(own) = gradients.pop() {
            self.gradient = own;
        }
        for at in (0..self.parts.len()).rev() {
            self.adjoint_part(at)?;
            let begins_step = at == 0 || self.parts[at - 1].step < self.parts[at].step;
            if begins_step && let Some(own) = gradients.pop() {
                let pairs = self.gradient.x.iter_mut().zip(&own.x);
                pairs.for_each(|(g, o)| *g += o);
                let pairs = self.gradient.v.iter_mut().zip(&own.v);
                pairs.for_each(|(g, o)| *g += o);
            }
        }
        Ok(end)
    }

    /// Takes a step, and records the end of each of its parts.
    fn record_step(&mut self, step: usize) -> Result<(), TrajectoryError> {
        self.control(step)?;
        let Self {
            simulation,
            trajectory,
            run,
            parts,
            ..
        } = self;
        each_part(simulation, trajectory.h, &mut |simulation, part| {
            let at = parts.len();
            moment(run, at + 1);
            check_whole(simulation, run[at].time)?;
            let Moment { contacts, near, .. } = &mut run[at + 1];
            match trajectory.smoothing {
                Some(_) => simulation.contacts_nearby(contacts, near)?,
                None => simulation.last_contacts(contacts)?,
            }
            if let Some(RecordedPart { taken, .. }) = parts.last()
                && let PartEnd::BeforeImpact(kind) = taken.end
            {
                // It closes there for whatever start: its time moves.
                let time = run[at].time;
                let contacts = &mut run[at + 1].contacts;
                let closing = closing_contact(contacts, kind, time)?;
                contacts[closing].at_change = false;
            }
            // The step begins at velocities that hard rows allow, if these are the first ones.
            run[at].take_start(simulation, step == 0 && at == 0)?;
            // What acts is set before a step: the start of the next would have it too late.
            run[at + 1].record(simulation);
            parts.push(RecordedPart { step, taken: part });
            Ok(())
        })?;
        self.out.report.steps_taken += 1;
        Ok(())
    }

    fn note_kept(&mut self) {
        let report = &mut self.out.report;
        report.moments_kept = report.moments_kept.max(self.kept + self.run.len());
    }

    /// Adds the value of a moment that is passed for the first time.
    fn add_value(&mut self, step: usize) -> Result<(), TrajectoryError> {
        self.by.x.fill(0.0);
        self.by.v.fill(0.0);
        self.out.value += self.objective.at(step, self.simulation, &mut self.by)?;
        Ok(())
    }

    /// The gradient of the share of the present moment by its state, and its value.
    fn own_gradient(&mut self, step: usize) -> Result<f64, TrajectoryError> {
        self.by.x.fill(0.0);
        self.by.v.fill(0.0);
        let value = self.objective.at(step, self.simulation, &mut self.by)?;
        let by = [&self.by.x[..], &self.by.v[..]];
        let (problem, state) = (self.simulation.problem(), self.simulation.state());
        self.derivative.carry(problem, state, by, &mut self.own)?;
        if let Some(family) = &mut self.trajectory.family {
            for k in 0..family.len() {
                let by = family.at_state(problem, k, state, by)?;
                if by != 0.0 && self.trajectory.each_element.iter().any(|(p, _)| *p == k) {
                    let what = format!("parameter {k} of each element");
                    let why = "the objective depends on it by itself, of which element is not known";
                    return Err(GradientError::NotBuilt { what, why }.into());
                }
                self.out.parameters[k] += by;
            }
        }
        Ok(value)
    }

    fn control(&mut self, step: usize) -> Result<(), TrajectoryError> {
        match &mut self.trajectory.control {
            Some(control) => control(step, self.simulation),
            None => Ok(()),
        }
    }

    fn step(&mut self, step: usize) -> Result<(), TrajectoryError> {
        self.control(step)?;
        self.simulation.step(self.trajectory.h)?;
        self.out.report.steps_taken += 1;
        Ok(())
    }

    /// Takes the gradient from the end of a part of a step to its start.
    fn adjoint_part(&mut self, at: usize) -> Result<(), TrajectoryError> {
        let RecordedPart { step, taken } = self.parts[at];
        let (start, end) = (&self.run[at], &self.run[at + 1]);
        self.problem.set_parameters(&end.parameters);
        let derived = TakenStep {
            h: taken.h,
            time: start.time,
            start: &start.state,
            end: &end.state,
            multipliers: &end.multipliers,
            external: &end.external,
            fixed: &end.fixed,
            contacts: &end.contacts,
            before: start.before.map(|h| StepBefore {
                h,
                velocities: &start.memory[0],
                displacement: &start.memory[1],
            }),
            weights: end.weights,
            stages: stages_of(&self.problem, &end.stages, Some(&start.remembered)),
        };
        match self.trajectory.smoothing {
            Some(energy) => {
                self.derivative
                    .place_smoothed(&self.problem, &derived, &end.near, energy)?;
                let ends = self
                    .derivative
                    .end()?
                    .velocities
                    .iter()
                    .zip(&end.state.velocities);
                let away = &mut self.out.report.smoothed_away;
                ends.for_each(|(smoothed, v)| *away = away.max((smoothed - v).abs()));
            }
            None => self.derivative.place(&self.problem, &derived)?,
        }
        self.out.report.active += self.derivative.active_set();
        let before = at.checked_sub(1).map(|i| self.parts[i]);
        let is_located = |part: RecordedPart| part.step == step && part.taken.end != PartEnd::Half;
        let is_rest = taken.end == PartEnd::Whole && before.is_some_and(is_located);
        if is_rest || matches!(taken.end, PartEnd::BeforeImpact(_)) {
            self.derivative.by_length(&mut self.times.lengthened)?;
            let (gradient, parameters) = (&mut self.gradient, &mut self.out.parameters);
            self.times
                .end_part(is_rest, self.run[at + 1].time, gradient, parameters)?;
        }
        let mut before_step = std::mem::take(&mut self.own);
        let [by_memory, by_earlier] = &mut self.by_memory;
        let (ends, starts) = ([&self.gradient, &*by_memory], [&mut before_step, by_earlier]);
        let found = self.derivative.adjoint_after(ends, starts)?;
        self.by_memory.swap(0, 1);
        self.note(found);
        let mut closing = match before.map(|part| part.taken.end) {
            Some(PartEnd::BeforeImpact(kind)) => {
                let contacts = &self.run[at + 1].contacts;
                let index = closing_contact(contacts, kind, self.run[at].time)?;
                Some((index, ClosingGap::of(&contacts[index])))
            }
            _ => None,
        };
        if let Some(family) = &mut self.trajectory.family {
            for k in 0..family.len() {
                let wanted = self.trajectory.each_element.iter().enumerate();
                let mut whole = None;
                for (index, (_, node)) in wanted.filter(|(_, (parameter, _))| *parameter == k) {
                    let by = self.derivative.by_element(family, k, *node, &mut self.by_part)?;
                    add_to(&mut self.out.elements[index], &self.by_part);
                    whole = Some(by);
                }
                self.out.parameters[k] += match whole {
                    Some(by) => by,
                    None => self.derivative.by_parameter(family, k)?,
                };
                if let Some((index, gap)) = &mut closing {
                    gap.by_parameter.push(self.derivative.gap_by_parameter(*index));
                }
            }
        }
        self.times.closing = closing.map(|(_, gap)| gap);
        if self.trajectory.inputs {
            self.derivative.by_input(&mut self.by_part)?;
            add_to(&mut self.out.inputs[step], &self.by_part);
        }
        if !self.trajectory.forces_on.is_empty() {
            self.derivative.by_force(&mut self.by_part)?;
            let wanted = self.trajectory.forces_on.iter();
            let of_nodes =
                wanted.flat_map(|node| self.by_part[self.problem.node(*node).velocity_range()].to_vec());
            let of_nodes: Vec<f64> = of_nodes.collect();
            add_to(&mut self.out.forces[step], &of_nodes);
        }
        self.own = std::mem::replace(&mut self.gradient, before_step);
        Ok(())
    }

    fn note(&mut self, found: SolveReport) {
        let report = &mut self.out.report;
        report.products += found.products;
        report.change = report.change.max(found.change);
    }

    /// Adds what the parameters do through the initial state.
    fn by_start(&mut self) {
        if let Some(family) = &self.trajectory.family {
            for (k, by) in self.out.parameters.iter_mut().enumerate() {
                let [x, v] = family.start(k);
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                *by += dot(&self.gradient.x, x) + dot(&self.gradient.v, v);
            }
        }
    }
}
