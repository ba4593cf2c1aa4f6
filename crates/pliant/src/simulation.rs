//! The stepper: model, state, time.

mod accelerations;
mod adaptive;
mod advance;
mod anderson;
mod balance;
mod checkpoint;
pub(crate) mod contact;
mod correct;
mod drive;
mod explicit;
mod halve;
mod implicit;
mod ledger;
mod multipliers;
mod parts;
mod rattle;
mod read;
mod refuse;
pub(crate) mod sleep;
mod statics;
mod stored;
mod treatment;

pub use adaptive::Drive;
pub use implicit::IntegratorMemory;
pub use ledger::LedgerMemory;
pub use read::{Axes, On, Wrench};
pub use treatment::TreatmentChoice;

use crate::report::{Counters, StepReport};
use crate::{Error, Integrator, Ledger, Options};
use pliant_dense::{Vec3, rotation};
use pliant_kkt::{Assembler, RowMotion, Scheme};
use pliant_model::{
    ComponentId, Energies, Evaluation, Model, ModelError, NodeId, Pose, Problem, Space, State,
};
use pliant_solvers::{BoxSolver, DirectOptions, DirectSolver, Solution};
use std::sync::Arc;

/// A model in motion.
#[derive(Debug)]
pub struct Simulation {
    model: Problem,
    /// How steps are taken; may be changed between steps.
    pub options: Options,
    time: f64,
    state: State,
    previous: State,
    multipliers: Vec<f64>,
    new_multipliers: Vec<f64>,
    lagged: Vec<f64>,
    lag_for_step: Vec<f64>,
    /// Forces from outside the model, on all nodes.
    external: Vec<f64>,
    impulse: Vec<f64>,
    support: Vec<f64>,
    support_now: Vec<f64>,
    displacement: Vec<f64>,
    /// Velocities that fixed coordinates have at the end of the next step.
    held: Vec<f64>,
    fixed_change: Vec<f64>,
    /// No step has been taken from this state: multipliers are not known.
    fresh: bool,
    dissipated: f64,
    books: LedgerMemory,
    /// Of the present step: energies of its start, what is entered so far, and what position corrections lifted (J).
    start_energies: Energies,
    ledger: Ledger,
    parts: parts::Parts,
    corrected: f64,
    /// What force fields with a memory dissipated in it (J), and scratch of theirs.
    forgotten: f64,
    internal_before: Vec<f64>,
    /// The energies of the start are without those of compliant contacts.
    stored_is_missing: bool,
    counters: Counters,
    evaluation: Evaluation,
    assembler: Assembler,
    solver: BoxSolver,
    /// Of position corrections, which have other rows.
    corrector: DirectSolver,
    solution: Solution,
    correction: Solution,
    /// Of each row, its force by its law.
    law_force: Vec<f64>,
    soft: Vec<bool>,
    /// Rows whose law gives no force.
    lawless: Vec<bool>,
    /// The rows of each force field that has any.
    group_of_field: Vec<Option<usize>>,
    scheme: Scheme,
    /// What each row is held at over the present step; empty if none is driven.
    motion: Vec<RowMotion>,
    /// Scratch: coordinates of one node, twice.
    shifted: Vec<f64>,
    mass_scratch: Vec<f64>,
    /// Scratch of the linearly implicit gyroscopic torque.
    right_hand_side: Vec<f64>,
    previous_change: Vec<f64>,
    change: Solution,
    contacts: Option<Box<contact::Contacts>>,
    sleep: sleep::Sleep,
    /// What the integrator remembers, and scratch of those that are not the linear step.
    memory: IntegratorMemory,
    implicit: implicit::Scratch,
    stages: explicit::Stages,
    composed: rattle::Composed,
    /// What the treatments of automatic force fields were chosen for.
    chosen_for: Option<f64>,
    choices: Vec<TreatmentChoice>,
    /// They are not looked at again for now.
    keep_treatments: bool,
    adaptive: adaptive::Work,
    gates: adaptive::Gates,
}

impl Simulation {
    /// Plans the system of a model and puts it into its initial state, with default [`Options`].
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined, [`Error::Plan`] if the system is too large.
    pub fn new(model: impl Into<Arc<Model>>) -> Result<Self, Error> {
        Self::with_options(model, Options::default())
    }

    /// The same with given options.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_options(model: impl Into<Arc<Model>>, options: Options) -> Result<Self, Error> {
        let model = Problem::new(model);
        let mut evaluation = Evaluation::new(&model);
        let mut state = model.initial_state()?;
        evaluation.propagate(&model, &mut state)?;
        evaluation.evaluate(&model, &state)?;
        let assembler = Assembler::new(&model, &evaluation)?;
        let rows = model.row_count();
        let mut simulation = Self {
            previous: state.clone(),
            state,
            options,
            time: 0.0,
            multipliers: vec![0.0; rows],
            new_multipliers: vec![0.0; rows],
            lagged: vec![0.0; rows],
            lag_for_step: vec![0.0; rows],
            external: vec![0.0; model.velocity_count()],
            impulse: vec![0.0; model.dof_count()],
            support: vec![0.0; model.dof_count()],
            support_now: vec![0.0; model.dof_count()],
            displacement: vec![0.0; model.dof_count()],
            held: vec![0.0; model.dof_count()],
            fixed_change: vec![0.0; model.dof_count()],
            fresh: true,
            dissipated: 0.0,
            books: LedgerMemory::default(),
            start_energies: Energies::default(),
            ledger: Ledger::default(),
            parts: parts::Parts::default(),
            corrected: 0.0,
            forgotten: 0.0,
            internal_before: Vec::new(),
            stored_is_missing: true,
            counters: Counters {
                plans: 1,
                ..Counters::default()
            },
            evaluation,
            assembler,
            solver: BoxSolver::default(),
            corrector: DirectSolver::default(),
            solution: Solution::default(),
            correction: Solution::default(),
            law_force: vec![0.0; rows],
            soft: vec![true; rows],
            lawless: Vec::new(),
            group_of_field: treatment::group_of_field(&model),
            scheme: Scheme::implicit_euler(1.0),
            motion: Vec::new(),
            shifted: Vec::new(),
            mass_scratch: Vec::new(),
            right_hand_side: Vec::new(),
            previous_change: Vec::new(),
            change: Solution::default(),
            contacts: None,
            sleep: sleep::Sleep::default(),
            memory: IntegratorMemory::default(),
            implicit: implicit::Scratch::default(),
            stages: explicit::Stages::default(),
            composed: rattle::Composed::default(),
            chosen_for: None,
            choices: Vec::new(),
            keep_treatments: false,
            adaptive: adaptive::Work::default(),
            gates: adaptive::Gates::default(),
            model,
        };
        let nodes = simulation.model.nodes().iter();
        let largest = nodes.map(|n| n.position_range().len().max(n.velocity_range().len()));
        let largest = largest.max().unwrap_or(0);
        simulation.shifted.resize(2 * largest, 0.0);
        simulation.mass_scratch.resize(2 * largest, 0.0);
        simulation.find_lawless_rows();
        simulation.plan_motion();
        simulation.hold_present_velocities();
        simulation.write_books();
        Ok(simulation)
    }

    /// The model: the structure, which never changes.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model with the present values of its parameters.
    pub fn problem(&self) -> &Problem {
        &self.model
    }

    /// Time (s).
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Positions and velocities of all nodes.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Positions of a node.
    pub fn positions(&self, node: NodeId) -> &[f64] {
        self.model.positions(&self.state, node)
    }

    /// Velocities of a node (bodies: linear in world axes, angular in body axes).
    pub fn velocities(&self, node: NodeId) -> &[f64] {
        self.model.velocities(&self.state, node)
    }

    /// Pose of one body; `None` if the node does not hold bodies or has no such element.
    pub fn pose(&self, node: NodeId, element: usize) -> Option<Pose> {
        let bodies = self.model.node(node).space == Space::Rigid3;
        let x = self
            .positions(node)
            .as_chunks::<7>()
            .0
            .get(element)
            .filter(|_| bodies)?;
        Some(Pose {
            position: [x[0], x[1], x[2]],
            rotation: [x[3], x[4], x[5], x[6]],
        })
    }

    /// Velocity of the centre of mass (m/s) and angular velocity (rad/s) of one body, both in world axes.
    pub fn world_velocity(&self, node: NodeId, element: usize) -> Option<([f64; 3], [f64; 3])> {
        let pose = self.pose(node, element)?;
        let v = self.velocities(node).as_chunks::<6>().0.get(element)?;
        let angular = rotation::rotate(pose.rotation, Vec3::new(v[3], v[4], v[5]));
        Some(([v[0], v[1], v[2]], angular.into()))
    }

    /// Multipliers of the last step [N, N m]: the average force over it, along each row's coordinate.
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// Multipliers of one compliant force field or hard constraint; empty for other components.
    pub fn reaction(&self, component: ComponentId) -> &[f64] {
        let group = self.model.row_groups().iter().find(|g| g.component == component);
        group.map_or(&[], |g| {
            &self.multipliers[g.first_row..g.first_row + g.size * g.count]
        })
    }

    /// Forces that held the fixed coordinates of one element of an independent node over the last step (N; bodies: force in
    /// world axes, then torque in body axes, N m); zero for coordinates that are free, empty if there is no such element.
    pub fn support_force(&self, node: NodeId, element: usize) -> &[f64] {
        let entry = self.model.node(node);
        let size = entry.space.velocity_size();
        let first = entry.first_dof().filter(|_| element < entry.count);
        first.map_or(&[], |first| &self.support[first + element * size..][..size])
    }

    /// Work so far.
    pub fn counters(&self) -> Counters {
        Counters {
            solver: self.solver.counters(),
            ..self.counters
        }
    }

    /// The linear system as last filled, for inspection.
    pub fn system(&self) -> &pliant_solvers::KktSystem {
        self.assembler.system()
    }

    /// Replaces positions and velocities of the independent coordinates; mapped ones are recomputed, quaternions normalised,
    /// memory of past forces is cleared. Fixed coordinates keep the velocity that the state gives them. Materials with a past go at once from the one that the state
    /// brings to its positions; [`Model::begin_memory`](pliant_model::Model::begin_memory) makes a state without one.
    ///
    /// # Errors
    /// [`Error::Model`] if the state does not fit the model, is not finite, or a mapping is not defined there; then nothing
    /// changes.
    pub fn set_state(&mut self, state: &State) -> Result<(), Error> {
        self.take_state(state)?;
        if self.model.internal_count() > 0 {
            self.advance_memory(0.0);
            self.write_books();
        }
        Ok(())
    }

    /// The same with internal variables as they are.
    fn take_state(&mut self, state: &State) -> Result<(), Error> {
        let mut new = state.clone();
        self.model.normalize(&mut new)?;
        let found = self.evaluation.propagate(&self.model, &mut new);
        let found = found.and_then(|()| self.evaluation.evaluate(&self.model, &new));
        if let Err(e) = found {
            self.evaluation.propagate(&self.model, &mut self.state)?;
            return Err(e.into());
        }
        self.state = new;
        self.multipliers.fill(0.0);
        self.lagged.fill(0.0);
        self.support.fill(0.0);
        self.fresh = true;
        self.memory.forget();
        self.adaptive.memory = crate::AdaptiveMemory::default();
        self.wake_all();
        if let Some(c) = &mut self.contacts {
            c.forget();
        }
        self.hold_present_velocities();
        self.write_books();
        Ok(())
    }

    /// Fixes chosen velocity coordinates of one element and gives them a velocity (bodies: angular in body axes), reached at the
    /// end of the next step.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element or a velocity is not finite.
    pub fn hold(
        &mut self,
        node: NodeId,
        element: usize,
        coordinates: &[bool],
        velocity: &[f64],
    ) -> Result<(), Error> {
        let first = self.model.dofs_of(node, element, coordinates.len())?;
        let entry = self.model.node(node);
        let name = || entry.name.clone();
        if velocity.len() != coordinates.len() {
            let (expected, found) = (coordinates.len(), velocity.len());
            return Err(ModelError::Size {
                name: name(),
                what: "velocities",
                expected,
                found,
            }
            .into());
        }
        if let Some(value) = velocity.iter().find(|v| !v.is_finite()) {
            return Err(ModelError::NotFinite {
                name: name(),
                what: "a velocity",
                value: *value,
            }
            .into());
        }
        self.wake_elements(node, element..element + 1);
        self.wake_coupled(first..first + coordinates.len());
        for k in (0..coordinates.len()).filter(|k| coordinates[*k]) {
            self.assembler.fixed_mut()[first + k] = true;
            self.held[first + k] = velocity[k];
        }
        Ok(())
    }

    /// Sets the force from outside on one element of any node, mapped ones too, until it is set again (N; bodies: force in world
    /// axes, then torque in *body* axes, N m). It has no potential: its work is not part of the energies.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element, a number is missing or not finite.
    pub fn set_force(&mut self, node: NodeId, element: usize, force: &[f64]) -> Result<(), Error> {
        let entry = self.model.node(node);
        let name = || entry.name.clone();
        let size = entry.space.velocity_size();
        if element >= entry.count {
            return Err(ModelError::Element {
                name: name(),
                element,
                count: entry.count,
            }
            .into());
        }
        if force.len() != size {
            let (what, found) = ("force coordinates", force.len());
            return Err(ModelError::Size {
                name: name(),
                what,
                expected: size,
                found,
            }
            .into());
        }
        if let Some(value) = force.iter().find(|f| !f.is_finite()) {
            return Err(ModelError::NotFinite {
                name: name(),
                what: "a force",
                value: *value,
            }
            .into());
        }
        let place = &mut self.external[entry.first_velocity + element * size..][..size];
        if place != force {
            place.copy_from_slice(force);
            self.wake_elements(node, element..element + 1);
        }
        Ok(())
    }

    /// Frees chosen velocity coordinates of one element; they keep their velocity.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element.
    pub fn release(&mut self, node: NodeId, element: usize, coordinates: &[bool]) -> Result<(), Error> {
        let first = self.model.dofs_of(node, element, coordinates.len())?;
        self.wake_elements(node, element..element + 1);
        self.wake_coupled(first..first + coordinates.len());
        for k in (0..coordinates.len()).filter(|k| coordinates[*k]) {
            self.assembler.fixed_mut()[first + k] = false;
        }
        Ok(())
    }

    /// Takes one step of length `h` (s). Steps may differ in length. After the first, a step allocates nothing and repeats no
    /// symbolic work, unless coordinates were fixed or freed. Where contacts or Newton's method do not converge, it may be taken in halves
    /// ([`ContactOptions::halvings`](crate::contact::ContactOptions::halvings),
    /// [`NewtonOptions::halvings`](crate::integrator::NewtonOptions::halvings)); the report says so.
    ///
    /// # Errors
    /// [`Error::NotConverged`] or [`Error::Incompatible`] (unless [`Options::accept_failed_steps`]),
    /// [`Error::NotPositiveDefinite`], [`Error::NotFinite`], [`Error::Gyroscopic`], [`Error::Unsupported`] for what the integrator does not
    /// take, [`Error::Model`] where a mapping is not
    /// defined, [`Error::OutOfRange`]. The state is then as before the step.
    pub fn step(&mut self, h: f64) -> Result<StepReport, Error> {
        let halvings = match self.options.integrator {
            Integrator::Linear => self.options.contacts.halvings,
            _ => self.options.newton.halvings,
        };
        if let Some(contacts) = &mut self.contacts {
            contacts.failed = None;
        }
        self.step_or_halves(h, halvings)
    }

    fn step_at_once(&mut self, h: f64) -> Result<StepReport, Error> {
        self.options.write_scheme(&self.model, h, &mut self.scheme)?;
        self.solver.options = self.options.bounds;
        self.solver.options.direct = self.options.solver;
        self.corrector.options = self.options.solver;
        self.share_filling()?;
        self.choose_treatments(h)?;
        self.previous.clone_from(&self.state);
        self.refuse_what_does_not_fit()?;
        let result = self.take_again_with_unforeseen(h);
        if result.is_err() {
            self.undo_contacts()?;
            self.put_back()?;
        }
        result
    }

    /// Tries a step, and again as long as things go through each other that nobody foresaw.
    fn take_again_with_unforeseen(&mut self, h: f64) -> Result<StepReport, Error> {
        if let Some(c) = &mut self.contacts {
            c.foresee_nothing();
        }
        loop {
            let result = self.try_at_once(h);
            let unforeseen = matches!(result, Err(Error::ContactsNotForeseen { .. }));
            let contacts = self.contacts.as_mut().filter(|_| unforeseen);
            if !contacts.is_some_and(|c| c.take_unforeseen()) {
                return result;
            }
            self.put_back()?;
        }
    }

    fn try_at_once(&mut self, h: f64) -> Result<StepReport, Error> {
        self.open_ledger();
        match self.options.integrator {
            Integrator::Linear => self.advance(h),
            Integrator::Nonlinear | Integrator::Implicit(_) => self.advance_implicitly(h),
            Integrator::Rattle | Integrator::Rattle4 | Integrator::Rattle6 => self.advance_by_rattle(h),
            Integrator::SymplecticEuler | Integrator::RungeKutta4 => self.advance_explicitly(h),
        }
    }

    /// The state of before the step.
    fn put_back(&mut self) -> Result<(), Error> {
        self.state.clone_from(&self.previous);
        self.evaluation.propagate(&self.model, &mut self.state)?;
        self.fill_motion(self.time, self.time);
        Ok(())
    }

    /// Lets the assembler, and with it the evaluation, have as many threads as the solver; more than the solver takes are its error.
    fn share_filling(&mut self) -> Result<(), Error> {
        let threads = self.options.solver.threads;
        if threads <= DirectOptions::MOST_THREADS {
            self.assembler.share(threads)?;
            self.evaluation.share(self.assembler.threads());
        }
        Ok(())
    }
}
