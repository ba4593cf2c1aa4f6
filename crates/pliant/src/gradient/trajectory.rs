//! The gradient of a function of a trajectory, backwards and forwards.

use super::schedule::split;
use super::{
    ActiveSet, Family, GradientError, SolveReport, StateVector, StepBefore, StepDerivative, TakenContact,
    TakenStep, TrajectoryError, check_index, check_length, check_whole, step_before,
};
use crate::{Checkpoint, Simulation};
use pliant_model::{NodeId, Parameters, Problem, State};

/// The gradient of a function of one moment by positions and velocities of all nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeGradient {
    /// By displacements of all nodes, in the order of [`State::velocities`] (of bodies: translation
    /// in world axes, rotation in body axes).
    pub x: Vec<f64>,
    /// By velocities of all nodes that are independent or mapped linearly, likewise.
    pub v: Vec<f64>,
}

/// A function of a trajectory that is a sum over its moments.
pub trait Objective {
    /// The share of the moment after `step` steps (0 is the start), where the simulation is; adds
    /// its gradient to `by`, which is zero on entry.
    ///
    /// # Errors
    /// Whatever keeps it from having a value.
    fn at(
        &mut self,
        step: usize,
        simulation: &Simulation,
        by: &mut NodeGradient,
    ) -> Result<f64, TrajectoryError>;
}

impl<F: FnMut(usize, &Simulation, &mut NodeGradient) -> f64> Objective for F {
    fn at(
        &mut self,
        step: usize,
        simulation: &Simulation,
        by: &mut NodeGradient,
    ) -> Result<f64, TrajectoryError> {
        Ok(self(step, simulation, by))
    }
}

/// Imposes forces and inputs on a simulation before each step, and leaves its state. Called again, in
/// the same way, for steps that are taken again.
pub type Control<'a> = dyn FnMut(usize, &mut Simulation) -> Result<(), TrajectoryError> + 'a;

/// A trajectory of steps of one length, and how its gradient is found.
///
/// **Use.** Fill in what is wanted, and call [`gradient`](Self::gradient) on a simulation at its
/// start.
pub struct Trajectory<'a> {
    /// Number of steps.
    pub steps: usize,
    /// Length of each (s).
    pub h: f64,
    /// Called before each step.
    pub control: Option<Box<Control<'a>>>,
    /// The models that the gradient by parameters compares.
    pub family: Option<&'a mut Family>,
    /// Nodes the gradient by whose forces from outside is wanted, step by step.
    pub forces_on: Vec<NodeId>,
    /// Whether the gradient by the inputs of force fields is wanted, step by step.
    pub inputs: bool,
    /// Moments that are kept at the same time, apart from those of one run of
    /// [`run`](Self::run) steps; more of them save steps that are taken again.
    pub slots: usize,
    /// Steps whose ends are recorded one by one: the shorter ranges are not split any more.
    pub run: usize,
}

impl std::fmt::Debug for Trajectory<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trajectory")
            .field("steps", &self.steps)
            .field("h", &self.h)
            .finish_non_exhaustive()
    }
}

/// A value and its gradient.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrajectoryGradient {
    /// The value of the objective.
    pub value: f64,
    /// By positions and velocities of the independent coordinates at the start; what BDF2 remembers
    /// of steps before it is held.
    pub start: StateVector,
    /// By the parameters of the family, the initial state of its models included.
    pub parameters: Vec<f64>,
    /// Of each step, by the forces from outside on the velocity coordinates of the wanted nodes,
    /// one node after the other.
    pub forces: Vec<Vec<f64>>,
    /// Of each step, by the inputs of all force fields, in the order of
    /// [`Parameters::inputs`](pliant_model::Parameters::inputs), if they are wanted.
    pub inputs: Vec<Vec<f64>>,
    /// How it was found.
    pub report: TrajectoryReport,
}

/// The work of a gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrajectoryReport {
    /// Steps that were taken, those taken again included.
    pub steps_taken: usize,
    /// Moments that were kept at the same time, at most.
    pub moments_kept: usize,
    /// Products with exact matrices.
    pub products: usize,
    /// The worst of the last changes of the linear equations.
    pub change: f64,
    /// The branches that the derivative is on, over all steps.
    pub active: ActiveSet,
}

/// The end of a trajectory and how it moves along a direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrajectoryTangent {
    /// The value of the objective.
    pub value: f64,
    /// Its derivative along the direction.
    pub derivative: f64,
    /// How positions and velocities of the independent coordinates at the end move.
    pub end: StateVector,
}

/// One moment of a run, as far as a derivative needs it.
#[derive(Debug, Default)]
struct Moment {
    state: State,
    multipliers: Vec<f64>,
    external: Vec<f64>,
    fixed: Vec<bool>,
    parameters: Parameters,
    /// Contacts of the step that ended here.
    contacts: Vec<TakenContact>,
    time: f64,
    /// The memory of the step before it: its length, velocities and displacement.
    before: Option<f64>,
    memory: [Vec<f64>; 2],
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

/// Refuses a step that does not start where the one before ended: a control has set the state.
fn check_unmoved(end: &State, start: &State, time: f64) -> Result<(), GradientError> {
    match end.positions == start.positions && end.velocities == start.velocities {
        true => Ok(()),
        false => Err(GradientError::NotBuilt {
            what: format!("the step from t = {time} s"),
            why: "it does not start where the one before ended: controls set forces and inputs, not the state",
        }),
    }
}

/// The backward walk.
struct Walk<'a, 'b> {
    simulation: &'a mut Simulation,
    trajectory: &'a mut Trajectory<'b>,
    derivative: StepDerivative,
    /// The problem with the parameters of the present step of the way back.
    problem: Problem,
    objective: &'a mut dyn Objective,
    /// The gradient at the moment that was reached, by its state, and by its memory of the step
    /// before.
    gradient: StateVector,
    by_memory: StateVector,
    by_earlier: StateVector,
    by: NodeGradient,
    own: StateVector,
    out: TrajectoryGradient,
    run: Vec<Moment>,
    kept: usize,
}

impl<'b> Trajectory<'b> {
    /// Plans a number of steps of a length, without control, family or further gradients.
    pub fn new(steps: usize, h: f64) -> Self {
        Self {
            steps,
            h,
            control: None,
            family: None,
            forces_on: Vec::new(),
            inputs: false,
            slots: 20,
            run: 50,
        }
    }

    /// The value of an objective and its gradient, by the adjoint of every step; the simulation
    /// goes to the end of the trajectory. Memory: `slots` checkpoints and `run` moments, whatever
    /// the number of steps, which are taken once to find the value and again, some of them several
    /// times, on the way back (binomial checkpointing; with `steps <= run` once).
    ///
    /// An objective depends on parameters through positions and velocities of nodes, mapped ones
    /// included; what else it does with them is not in the gradient.
    ///
    /// # Errors
    /// Those of [`Simulation::step`], and [`TrajectoryError::Gradient`] for what has no derivative;
    /// the simulation is then where it had come to.
    pub fn gradient(
        &mut self,
        simulation: &mut Simulation,
        objective: &mut dyn Objective,
    ) -> Result<TrajectoryGradient, TrajectoryError> {
        let nodes = simulation.model().nodes().len();
        for node in &self.forces_on {
            check_index("node of `forces_on`", node.index(), nodes)?;
        }
        let derivative = simulation.step_derivative()?;
        let (n, all) = (
            simulation.model().dof_count(),
            simulation.model().velocity_count(),
        );
        let parameters = self.family.as_ref().map_or(0, |f| f.len());
        let steps = self.steps;
        let mut walk = Walk {
            problem: simulation.problem().clone(),
            simulation,
            trajectory: self,
            derivative,
            objective,
            gradient: StateVector::zeros(n),
            by_memory: StateVector::zeros(n),
            by_earlier: StateVector::default(),
            by: NodeGradient {
                x: vec![0.0; all],
                v: vec![0.0; all],
            },
            own: StateVector::zeros(n),
            out: TrajectoryGradient {
                start: StateVector::zeros(n),
                parameters: vec![0.0; parameters],
                ..TrajectoryGradient::default()
            },
            run: Vec::new(),
            kept: 0,
        };
        if !walk.trajectory.forces_on.is_empty() {
            walk.out.forces = vec![Vec::new(); steps];
        }
        if walk.trajectory.inputs {
            walk.out.inputs = vec![Vec::new(); steps];
        }
        let end = walk.back(0, steps, walk.trajectory.slots, true)?;
        walk.by_start();
        let mut out = walk.out;
        out.start = walk.gradient;
        if let Some(end) = end {
            simulation.restore(&end)?;
        }
        Ok(out)
    }

    /// The derivative of an objective along a direction of the state at the start and of the
    /// parameters, by the tangent of every step: one pass, without memory.
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient), and [`GradientError::Length`]
    /// where the direction is not as long as the coordinates or the parameters of the family (none
    /// without one).
    pub fn tangent(
        &mut self,
        simulation: &mut Simulation,
        objective: &mut dyn Objective,
        direction: &StateVector,
        parameters: &[f64],
    ) -> Result<TrajectoryTangent, TrajectoryError> {
        let dofs = simulation.model().dof_count();
        check_length("displacements of a direction", dofs, direction.x.len())?;
        check_length("velocities of a direction", dofs, direction.v.len())?;
        let family_size = self.family.as_ref().map_or(0, |family| family.len());
        check_length("parameters of a direction", family_size, parameters.len())?;
        let mut derivative = simulation.step_derivative()?;
        let all = simulation.model().velocity_count();
        let mut out = TrajectoryTangent {
            end: direction.clone(),
            ..TrajectoryTangent::default()
        };
        if let Some(family) = &self.family {
            for (k, share) in parameters.iter().enumerate() {
                let [x, v] = family.start(k);
                out.end.x.iter_mut().zip(x).for_each(|(o, x)| *o += share * x);
                out.end.v.iter_mut().zip(v).for_each(|(o, v)| *o += share * v);
            }
        }
        let mut by = NodeGradient::default();
        let mut contacts = Vec::new();
        let (mut own, mut next) = (StateVector::default(), StateVector::default());
        let mut end = State::default();
        let (mut memory, mut next_memory) = (StateVector::zeros(dofs), StateVector::default());
        let [mut dr, mut ds, mut sum_r, mut sum_s] = [(); 4].map(|()| Vec::new());
        for step in 0..=self.steps {
            for list in [&mut by.x, &mut by.v] {
                list.clear();
                list.resize(all, 0.0);
            }
            out.value += objective.at(step, simulation, &mut by)?;
            derivative.carry(simulation.problem(), simulation.state(), [&by.x, &by.v], &mut own)?;
            out.derivative += own.dot(&out.end);
            if let Some(family) = &mut self.family {
                let (problem, state) = (simulation.problem(), simulation.state());
                for (k, share) in parameters.iter().enumerate().filter(|(_, s)| **s != 0.0) {
                    out.derivative += share * family.at_state(problem, k, state, [&by.x, &by.v])?;
                }
            }
            if step == self.steps {
                break;
            }
            if let Some(control) = &mut self.control {
                control(step, simulation)?;
            }
            let time = simulation.time();
            simulation.step(self.h)?;
            check_whole(simulation, time)?;
            if step > 0 {
                check_unmoved(&end, &simulation.start.state, time)?;
            }
            end.clone_from(simulation.state());
            simulation.last_contacts(&mut contacts)?;
            if let Some(step) = simulation.last_step(&contacts) {
                derivative.place(simulation.problem(), &step)?;
            }
            sum_r.clear();
            sum_s.clear();
            if let Some(family) = &mut self.family {
                for (k, share) in parameters.iter().enumerate().filter(|(_, s)| **s != 0.0) {
                    derivative.equations_by(family, k, [&mut dr, &mut ds])?;
                    sum_r.resize(dr.len(), 0.0);
                    sum_s.resize(ds.len(), 0.0);
                    sum_r.iter_mut().zip(&dr).for_each(|(s, d)| *s += share * d);
                    sum_s.iter_mut().zip(&ds).for_each(|(s, d)| *s += share * d);
                }
            }
            let equations = (!sum_r.is_empty()).then_some([&sum_r[..], &sum_s[..]]);
            let ends = [&mut next, &mut next_memory];
            derivative.tangent_after([&out.end, &memory], equations, ends)?;
            std::mem::swap(&mut out.end, &mut next);
            std::mem::swap(&mut memory, &mut next_memory);
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
        while self.run.len() < to - from + 1 {
            self.run.push(Moment::default());
        }
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
            self.run[step - from].record(self.simulation);
            if step < to {
                self.step(step)?;
                // The step begins at velocities that hard rows allow, if these are the first ones.
                let (now, next) = (step - from, step - from + 1);
                check_whole(self.simulation, self.run[now].time)?;
                self.simulation.last_contacts(&mut self.run[next].contacts)?;
                self.run[now].take_start(self.simulation, step == 0)?;
                // What acts is set before a step: the start of the next would have it too late.
                self.run[next].record(self.simulation);
            }
        }
        self.note_kept();
        let is_end = to == self.trajectory.steps;
        let end = (is_end && first).then(|| self.simulation.checkpoint());
        if is_end && let Some(own) = gradients.pop() {
            self.gradient = own;
        }
        for step in (from..to).rev() {
            self.adjoint_step(step, step - from)?;
            if let Some(own) = gradients.pop() {
                let pairs = self.gradient.x.iter_mut().zip(&own.x);
                pairs.for_each(|(g, o)| *g += o);
                let pairs = self.gradient.v.iter_mut().zip(&own.v);
                pairs.for_each(|(g, o)| *g += o);
            }
        }
        Ok(end)
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
                self.out.parameters[k] += family.at_state(problem, k, state, by)?;
            }
        }
        Ok(value)
    }

    fn step(&mut self, step: usize) -> Result<(), TrajectoryError> {
        if let Some(control) = &mut self.trajectory.control {
            control(step, self.simulation)?;
        }
        self.simulation.step(self.trajectory.h)?;
        self.out.report.steps_taken += 1;
        Ok(())
    }

    /// Takes the gradient from the end of a step to its start.
    fn adjoint_step(&mut self, step: usize, at: usize) -> Result<(), TrajectoryError> {
        let (start, end) = (&self.run[at], &self.run[at + 1]);
        self.problem.set_parameters(&end.parameters);
        let taken = TakenStep {
            h: self.trajectory.h,
            time: end.time - self.trajectory.h,
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
        };
        self.derivative.place(&self.problem, &taken)?;
        self.out.report.active += self.derivative.active_set();
        let mut before = std::mem::take(&mut self.own);
        let ends = [&self.gradient, &self.by_memory];
        let starts = [&mut before, &mut self.by_earlier];
        let found = self.derivative.adjoint_after(ends, starts)?;
        std::mem::swap(&mut self.by_memory, &mut self.by_earlier);
        self.note(found);
        if let Some(family) = &mut self.trajectory.family {
            for k in 0..family.len() {
                self.out.parameters[k] += self.derivative.by_parameter(family, k)?;
            }
        }
        if self.trajectory.inputs {
            self.derivative.by_input(&mut self.out.inputs[step])?;
        }
        if !self.trajectory.forces_on.is_empty() {
            let mut by_force = std::mem::take(&mut self.by.x);
            self.derivative.by_force(&mut by_force)?;
            let wanted = self.trajectory.forces_on.iter();
            let of_nodes =
                wanted.flat_map(|node| by_force[self.problem.node(*node).velocity_range()].to_vec());
            self.out.forces[step] = of_nodes.collect();
            self.by.x = by_force;
        }
        self.own = std::mem::replace(&mut self.gradient, before);
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
