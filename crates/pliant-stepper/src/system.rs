//! The system of a step: evaluation, assembly, factors, contact rows, and their scratch.

pub(crate) mod automatic;
pub mod coordinates;
mod corrections;
mod dynamics;
pub(crate) mod friction;
pub(crate) mod iterations;
pub(crate) mod linear;
pub(crate) mod one_sided;
pub mod rigid_nodes;
mod rows;
pub(crate) mod treatments;

pub use dynamics::gather;
pub(crate) use dynamics::gather_forces;
pub use treatments::TreatmentChoice;

use crate::contact::{Contacts, step};
use crate::guards::Guards;
use crate::motion::{Controls, MemoryChanges, Motion, SolverMemory};
use crate::report::Counters;
use crate::sleep::{self, Sleep};
use crate::system::treatments::group_of_field;
use crate::{Error, Options, WorkPart};
use corrections::Corrections;
use friction::Frictions;
use linear::StepSolver;
use one_sided::LoweredRows;
use pliant_kkt::{Assembler, RowMotion};
use pliant_model::{ComponentId, Evaluation, Model, Problem, State};
use pliant_solvers::complementarity::ConeProfile;
use pliant_solvers::{DirectOptions, Solution};

/// The only owner of evaluation, assembler, contact rows and factors. Nothing here decides the
/// motion but through its arguments: what a step remembers is in [`Motion`].
#[derive(Debug)]
pub struct System {
    /// The model with the parameters of the present simulation.
    pub model: Problem,
    /// The options of the present step.
    pub(crate) options: Options,
    /// Forces, Jacobians and stiffnesses at the state of the last evaluation.
    pub evaluation: Evaluation,
    /// The KKT system, planned once and filled in every step.
    pub assembler: Assembler,
    pub(crate) solver: StepSolver,
    /// The solvers of position corrections.
    pub(crate) corrections: Corrections,
    pub(crate) solution: Solution,
    /// The change of velocity and the impulses of all rows.
    pub(crate) change: Solution,
    pub(crate) rows: RowForces,
    /// The motion that each row is held at over the present step; empty if none is driven.
    pub(crate) row_motion: Vec<RowMotion>,
    pub(crate) scratch: Scratch,
    /// The contacts, if the simulation has a source of them.
    pub contacts: Option<Box<Contacts>>,
    pub(crate) sleep: Sleep,
    /// Contacts and rows that are left out of the present step, which ends where one closes.
    pub guards: Guards,
    pub(crate) counters: Counters,
}

/// Forces of the rows by their laws, and the rows that the present step takes otherwise.
#[derive(Debug, Default)]
pub(crate) struct RowForces {
    /// Limits and ropes that it takes by their velocity.
    pub(crate) lowered: LoweredRows,
    /// Of each row, its force by its law.
    pub(crate) law_force: Vec<f64>,
    /// Rows whose compliance is so large that their force is that of their law.
    pub(crate) soft: Vec<bool>,
    /// Rows whose law gives no force.
    pub(crate) undetermined: Vec<bool>,
    /// Friction by the force of others.
    pub(crate) frictions: Frictions,
    /// The rows of each force field that has any.
    pub(crate) group_of_field: Vec<Option<usize>>,
}

/// Buffers without meaning between two calls.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Gyroscopic impulses on the independent coordinates (N s, N m s).
    pub impulse: Vec<f64>,
    pub(crate) displacement: Vec<f64>,
    /// The solution of a position correction.
    pub(crate) correction: Solution,
    /// Changes of velocity that held coordinates make over the step.
    pub(crate) fixed_change: Vec<f64>,
    /// Right-hand side of the linearly implicit gyroscopic torque, and its last iterate.
    pub(crate) right_hand_side: Vec<f64>,
    pub(crate) previous_change: Vec<f64>,
    /// Positions and velocities of one node whose rows are driven.
    pub(crate) shifted: Vec<f64>,
    /// Forces of all nodes, forces and given accelerations of the independent coordinates.
    pub(crate) node_force: Vec<f64>,
    pub(crate) primal: Vec<f64>,
    pub(crate) rate: Vec<f64>,
    /// Factorisations before the present step.
    factored_before: usize,
    /// Internal variables of force fields with a memory before the step.
    pub(crate) internal_before: Vec<f64>,
}

impl System {
    /// Plans the system of a model at its initial state.
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined, [`Error::Plan`] if the system is too large.
    pub fn new(model: Problem, options: Options) -> Result<Self, Error> {
        let mut evaluation = Evaluation::new(&model);
        let mut state = model.initial_state()?;
        evaluation.propagate(&model, &mut state)?;
        evaluation.evaluate(&model, &state)?;
        let assembler = Assembler::new(&model, &evaluation)?;
        let (rows, dofs) = (model.row_count(), model.dof_count());
        Ok(Self {
            options,
            evaluation,
            assembler,
            solver: StepSolver::default(),
            corrections: Corrections::default(),
            solution: Solution::default(),
            change: Solution::default(),
            rows: RowForces {
                lowered: LoweredRows::default(),
                law_force: vec![0.0; rows],
                soft: vec![true; rows],
                undetermined: Vec::new(),
                frictions: Frictions::default(),
                group_of_field: group_of_field(&model),
            },
            row_motion: Vec::new(),
            scratch: Scratch {
                impulse: vec![0.0; dofs],
                displacement: vec![0.0; dofs],
                fixed_change: vec![0.0; dofs],
                ..Scratch::default()
            },
            contacts: None,
            sleep: Sleep::default(),
            guards: Guards::default(),
            counters: Counters {
                plans: 1,
                ..Counters::default()
            },
            model,
        })
    }

    /// The motion of the model at its initial state, at time zero.
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined.
    pub fn initial_motion(&mut self) -> Result<Motion, Error> {
        let model = &self.model;
        let mut state = model.initial_state()?;
        self.evaluation.propagate(model, &mut state)?;
        let (rows, dofs) = (model.row_count(), model.dof_count());
        Ok(Motion {
            state,
            multipliers: vec![0.0; rows],
            lagged: vec![0.0; rows],
            fresh: true,
            supports: vec![0.0; dofs],
            controls: Controls {
                fixed: self.assembler.system().fixed.clone(),
                held: vec![0.0; dofs],
                external: Vec::new(),
                inputs: model.parameters().inputs().to_vec(),
                released: Vec::new(),
                removed: Vec::new(),
            },
            ..Motion::default()
        })
    }

    /// Takes the options of the coming step.
    ///
    /// # Errors
    /// [`Error::Plan`] where the threads to fill the system cannot be had.
    pub fn configure(&mut self, options: &Options) -> Result<(), Error> {
        let threads = options.tuning.solver.threads;
        if threads <= DirectOptions::MOST_THREADS {
            self.assembler.share(threads)?;
            self.evaluation.share(self.assembler.threads());
            self.solver.share(self.assembler.threads());
        }
        self.solver.configure(options);
        self.corrections.configure(options, self.assembler.threads());
        self.scratch.factored_before = self.factorisations();
        if let Some(contacts) = &mut self.contacts {
            contacts
                .detection
                .set_most_tests(options.tuning.work.contact_tests);
        }
        if self.options != *options {
            self.options.clone_from(options);
        }
        Ok(())
    }

    fn factorisations(&self) -> usize {
        self.solver.counters().numeric + self.corrections.direct.counters().numeric
    }

    /// Whether the factorisations of the step, of which the last were for one of its parts, are no
    /// more than it may take.
    ///
    /// # Errors
    /// [`Error::TooMuchWork`].
    pub(crate) fn check_factorisations(&self, part: WorkPart, time: f64) -> Result<(), Error> {
        let count = self.factorisations() - self.scratch.factored_before;
        let limit = self.options.tuning.work.factorisations;
        if count <= limit {
            return Ok(());
        }
        Err(Error::TooMuchWork {
            part,
            what: "the step".to_owned(),
            time,
            count: count as u64,
            limit: limit as u64,
        })
    }

    /// The work done so far.
    pub fn counters(&self) -> Counters {
        let mut solver = self.solver.counters();
        if let Some(contacts) = &self.contacts {
            solver.add(&contacts.counters());
        }
        Counters {
            solver,
            ..self.counters
        }
    }

    /// Time of contacts so far: of steps, and of corrections of overlap, limits and ropes.
    pub fn contact_profiles(&self) -> [ConeProfile; 2] {
        let of_steps = self.contacts.as_ref().map(|contacts| contacts.profile());
        [of_steps.unwrap_or_default(), self.corrections.behind.profile()]
    }

    /// Sets the number of steps taken.
    pub fn set_steps(&mut self, steps: usize) {
        self.counters.steps = steps;
    }

    /// The name of the linear solver of the step.
    pub fn solver_name(&mut self) -> &'static str {
        let contacts = step::listed(self);
        let in_contact = contacts.is_some();
        match contacts.and_then(Contacts::linear_name) {
            Some(name) => name,
            None => self.solver.name(self.assembler.system(), in_contact),
        }
    }

    /// Writes the memory of all solvers into buffers that are there.
    pub fn record_solvers(&self, out: &mut SolverMemory) {
        self.solver.record(out);
        self.corrections.direct.record(&mut out.correction_elimination);
        step::record_solvers(self, out);
    }

    /// Writes what has changed of the memory of all solvers since it was last written to the same
    /// place.
    pub fn record_changes(&self, out: &mut SolverMemory, since: &mut MemoryChanges) {
        let now = MemoryChanges([
            self.solver.memory_changes(),
            self.corrections.direct.memory_changes(),
        ]);
        if *since != now || !self.solver.is_still() {
            *since = now;
            self.solver.record(out);
            self.corrections.direct.record(&mut out.correction_elimination);
        }
        self.solver.record_choice(out);
        step::record_solvers(self, out);
    }

    /// Gives all solvers a memory in place of their own, unless they have the same.
    pub fn restore_solvers(&mut self, memory: &SolverMemory) {
        // Choices go with any plan.
        self.solver.impose_choice(memory);
        step::impose_choices(self, memory);
        let mut own = SolverMemory::default();
        self.record_solvers(&mut own);
        if own != *memory {
            self.solver.impose(memory);
            self.corrections
                .direct
                .forget(memory.correction_elimination.clone());
            step::restore_solvers(self, memory);
        }
    }

    /// The value at which a row is held at the end of the present step (m, rad): zero where nothing
    /// drives it.
    pub fn row_target(&self, row: usize) -> f64 {
        self.row_motion.get(row).map_or(0.0, |m| m.end.0)
    }

    /// Writes into a motion what only the system knows of it: fixed coordinates, inputs, the active
    /// set.
    pub fn record(&self, motion: &mut Motion) {
        let Motion { controls, solver, .. } = motion;
        controls.fixed.clone_from(&self.assembler.system().fixed);
        controls.inputs.clear();
        controls
            .inputs
            .extend_from_slice(self.model.parameters().inputs());
        solver.active_set.clear();
        solver.active_set.extend_from_slice(self.solver.active_set());
    }

    /// Goes on from a motion that was recorded: imposes its fixed coordinates, inputs and active
    /// set, and pushes its state down the mappings. With `same_sleepers` the islands that sleep are
    /// those of the present.
    ///
    /// # Errors
    /// [`Error::Model`] for the motion of another model.
    pub fn recall(&mut self, motion: &mut Motion, same_sleepers: bool) -> Result<(), Error> {
        let controls = &motion.controls;
        if self.assembler.system().fixed != controls.fixed {
            self.assembler.fixed_mut().copy_from_slice(&controls.fixed);
        }
        let mut inputs = controls.inputs.iter();
        for i in 0..self.model.force_fields().len() {
            for k in 0..self.model.inputs(i).len() {
                let value = inputs.next().copied().unwrap_or(0.0);
                if self.model.inputs(i)[k] != value {
                    self.model.set_input(ComponentId::ForceField(i), k, value)?;
                }
            }
        }
        self.solver.impose_active_set(&motion.solver.active_set);
        if !same_sleepers {
            sleep::recall(self, &motion.sleep);
        }
        self.propagate(&mut motion.state)?;
        self.set_row_motion(motion.time, motion.time);
        Ok(())
    }

    /// Another evaluation of the model, on the threads of the last step.
    pub(crate) fn new_evaluation(&self) -> Evaluation {
        self.evaluation.another(&self.model)
    }

    /// Evaluates forces, Jacobians and stiffnesses of a motion, with the forces from outside; force
    /// fields with a memory remember the state of `elapsed` seconds ago.
    ///
    /// # Errors
    /// [`Error::Model`] if a stiffness became infinite.
    pub(crate) fn evaluate(&mut self, motion: &Motion, elapsed: f64) -> Result<(), Error> {
        self.evaluation
            .evaluate_after(&self.model, &motion.state, elapsed)?;
        self.evaluation.add_force(&motion.controls.external);
        Ok(())
    }

    /// As [`evaluate`](Self::evaluate), with the accelerations at constant velocity that forces
    /// need, and no others.
    pub(crate) fn evaluate_forces(&mut self, motion: &Motion, elapsed: f64) -> Result<(), Error> {
        self.evaluation
            .evaluate_forces_after(&self.model, &motion.state, elapsed)?;
        self.evaluation.add_force(&motion.controls.external);
        Ok(())
    }

    /// Pushes positions and velocities of the independent coordinates down the graph of mappings.
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined.
    pub fn propagate(&mut self, state: &mut State) -> Result<(), Error> {
        self.evaluation.propagate(&self.model, state)?;
        Ok(())
    }

    /// As [`propagate`](Self::propagate), for the nodes alone on which something acts, or which
    /// such nodes hang on: all that the equations of a step need. Sites, free coordinates of joints
    /// and whatever else is only looked at stay behind until
    /// [`propagate_idle`](Self::propagate_idle).
    ///
    /// # Errors
    /// As [`propagate`](Self::propagate).
    pub(crate) fn propagate_acting(&mut self, motion: &mut Motion) -> Result<(), Error> {
        let every = self.idle_forces(motion);
        let assembler = &self.assembler;
        self.evaluation
            .propagate_among(&self.model, &mut motion.state, |n| every || assembler.acts_on(n))?;
        Ok(())
    }

    /// Places the nodes that [`propagate_acting`](Self::propagate_acting) left behind.
    ///
    /// # Errors
    /// As [`propagate`](Self::propagate).
    pub(crate) fn propagate_idle(&mut self, motion: &mut Motion) -> Result<(), Error> {
        if self.idle_forces(motion) {
            return Ok(());
        }
        let assembler = &self.assembler;
        self.evaluation
            .propagate_among(&self.model, &mut motion.state, |n| !assembler.acts_on(n))?;
        Ok(())
    }

    /// Whether a force from outside acts on a node on which nothing else acts.
    fn idle_forces(&self, motion: &Motion) -> bool {
        let forces = &motion.controls;
        let mut idle = self
            .model
            .nodes()
            .iter()
            .enumerate()
            .filter(|(n, _)| !self.assembler.acts_on(*n));
        idle.any(|(_, node)| {
            forces
                .external_on(node.velocity_range())
                .iter()
                .any(|f| *f != 0.0)
        })
    }

    /// Moves what force fields with a memory remember on to the present positions, `elapsed`
    /// seconds after what they remember. Returns the energy that they dissipated (J).
    pub fn advance_memory(&mut self, state: &mut State, elapsed: f64) -> f64 {
        self.model
            .advance_memory(state, elapsed, &mut self.scratch.internal_before)
    }

    /// The energy that they brought in when they were moved on last, to this state (J).
    pub(crate) fn brought_by_memory(&self, state: &State, elapsed: f64) -> f64 {
        self.model
            .brought_by_memory(state, elapsed, &self.scratch.internal_before)
    }

    /// Whether the present step has contacts.
    pub(crate) fn in_contact(&self) -> bool {
        crate::contact::step::listed(self).is_some()
    }

    /// Lets everything take part in the next step.
    pub fn open_guards(&mut self) {
        self.guards.open(self.contacts.as_deref_mut());
    }

    /// Finds the change of velocity that fixed coordinates make over the step.
    pub(crate) fn find_fixed_change(&mut self, motion: &Motion) {
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, v) in motion.state.velocities[node.velocity_range()].iter().enumerate() {
                let fixed = self.assembler.system().fixed[first + k];
                self.scratch.fixed_change[first + k] = if fixed {
                    motion.controls.held[first + k] - v
                } else {
                    0.0
                };
            }
        }
    }

    /// Largest velocity of a coordinate that is not fixed.
    pub fn largest_free_velocity(&self, state: &State) -> f64 {
        let mut largest = 0.0f64;
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, v) in state.velocities[node.velocity_range()].iter().enumerate() {
                if !self.assembler.system().fixed[first + k] {
                    largest = largest.max(v.abs());
                }
            }
        }
        largest
    }
}

impl Motion {
    /// Fixed coordinates are to keep the velocities of the present state.
    pub fn hold_present_velocities(&mut self, model: &Model) {
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let v = &self.state.velocities[node.velocity_range()];
            self.controls.held[first..first + v.len()].copy_from_slice(v);
        }
    }
}
