//! The stepper: model, state, time.

mod accelerations;
mod adaptive;
mod advance;
mod anderson;
mod balance;
mod checkpoint;
pub(crate) mod contact;
mod contacts;
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
pub(crate) mod treatment;

pub use adaptive::Drive;
pub use implicit::IntegratorMemory;
pub use ledger::LedgerMemory;
pub use read::{Axes, On, Wrench};
pub use treatment::TreatmentChoice;

use crate::contact::step;
use crate::motion::Motion;
use crate::report::{Counters, StepReport};
use crate::system::System;
use crate::{Error, Integrator, Ledger, Options};
use pliant_dense::{Vec3, rotation};
use pliant_kkt::Scheme;
use pliant_model::{ComponentId, Energies, Model, ModelError, NodeId, Pose, Space, State};
use pliant_solvers::DirectOptions;

/// A model in motion.
#[derive(Debug)]
pub struct Simulation {
    /// How steps are taken; may be changed between steps.
    pub options: Options,
    /// The present motion; during a step, its end.
    motion: Motion,
    /// The motion at the start of the present step.
    start: Motion,
    system: System,
    /// The energy account of the present step.
    account: Account,
    scheme: Scheme,
    methods: Methods,
    /// Treatments are not looked at again for now.
    keep_treatments: bool,
    adaptive: adaptive::Work,
    gates: adaptive::Gates,
}

/// The energy account of the present step.
#[derive(Debug, Default)]
struct Account {
    /// Energies of its start, and the entries so far.
    start_energies: Energies,
    ledger: Ledger,
    parts: parts::Parts,
    /// Energy that position corrections lifted (J).
    corrected: f64,
    /// Energy that force fields with a memory dissipated in it (J), and their scratch.
    forgotten: f64,
    internal_before: Vec<f64>,
    /// The energies of the start are without those of compliant contacts.
    stored_is_missing: bool,
}

/// Scratch of the methods other than the linear step.
#[derive(Debug, Default)]
struct Methods {
    implicit: implicit::Scratch,
    stages: explicit::Stages,
    composed: rattle::Composed,
}

impl Simulation {
    /// Plans the system of a model and puts it into its initial state, with default [`Options`].
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined, [`Error::Plan`] if the system is too large.
    pub fn new(model: Model) -> Result<Self, Error> {
        Self::with_options(model, Options::default())
    }

    /// The same with given options.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_options(model: Model, options: Options) -> Result<Self, Error> {
        let mut system = System::new(model)?;
        let motion = system.initial_motion()?;
        let mut simulation = Self {
            options,
            start: motion.clone(),
            motion,
            system,
            account: Account::default(),
            scheme: Scheme::implicit_euler(1.0),
            methods: Methods::default(),
            keep_treatments: false,
            adaptive: adaptive::Work::default(),
            gates: adaptive::Gates::default(),
        };
        simulation.account.stored_is_missing = true;
        simulation.find_lawless_rows();
        simulation.plan_motion();
        simulation.hold_present_velocities();
        simulation.write_books();
        Ok(simulation)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.system.model
    }

    /// Time (s).
    pub fn time(&self) -> f64 {
        self.motion.time
    }

    /// Positions and velocities of all nodes.
    pub fn state(&self) -> &State {
        &self.motion.state
    }

    /// Positions of a node.
    pub fn positions(&self, node: NodeId) -> &[f64] {
        self.system.model.positions(&self.motion.state, node)
    }

    /// Velocities of a node (bodies: linear in world axes, angular in body axes).
    pub fn velocities(&self, node: NodeId) -> &[f64] {
        self.system.model.velocities(&self.motion.state, node)
    }

    /// Pose of one body; `None` if the node does not hold bodies or has no such element.
    pub fn pose(&self, node: NodeId, element: usize) -> Option<Pose> {
        let bodies = self.system.model.node(node).space == Space::Rigid3;
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
        &self.motion.multipliers
    }

    /// Multipliers of one compliant force field or hard constraint; empty for other components.
    pub fn reaction(&self, component: ComponentId) -> &[f64] {
        let group = self
            .system
            .model
            .row_groups()
            .iter()
            .find(|g| g.component == component);
        group.map_or(&[], |g| {
            &self.motion.multipliers[g.first_row..g.first_row + g.size * g.count]
        })
    }

    /// Forces that held the fixed coordinates of one element of an independent node over the last step (N; bodies: force in
    /// world axes, then torque in body axes, N m); zero for coordinates that are free, empty if there is no such element.
    pub fn support_force(&self, node: NodeId, element: usize) -> &[f64] {
        let entry = self.system.model.node(node);
        let size = entry.space.velocity_size();
        let first = entry.first_dof().filter(|_| element < entry.count);
        first.map_or(&[], |first| {
            &self.motion.supports[first + element * size..][..size]
        })
    }

    /// Work so far.
    pub fn counters(&self) -> Counters {
        Counters {
            solver: self.system.solver.counters(),
            ..self.system.counters
        }
    }

    /// The linear system as last filled, for inspection.
    pub fn system(&self) -> &pliant_solvers::KktSystem {
        self.system.assembler.system()
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
        if self.system.model.internal_count() > 0 {
            self.advance_memory(0.0);
            self.write_books();
        }
        Ok(())
    }

    /// The same with internal variables as they are.
    fn take_state(&mut self, state: &State) -> Result<(), Error> {
        let mut new = state.clone();
        self.system.model.normalize(&mut new)?;
        let found = self.system.evaluation.propagate(&self.system.model, &mut new);
        let found = found.and_then(|()| self.system.evaluation.evaluate(&self.system.model, &new));
        if let Err(e) = found {
            self.system
                .evaluation
                .propagate(&self.system.model, &mut self.motion.state)?;
            return Err(e.into());
        }
        self.motion.state = new;
        self.motion.multipliers.fill(0.0);
        self.motion.lagged.fill(0.0);
        self.motion.supports.fill(0.0);
        self.motion.fresh = true;
        self.motion.integrator.forget();
        self.adaptive.memory = crate::AdaptiveMemory::default();
        self.wake_all();
        step::forget(&mut self.system, &mut self.motion);
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
        let first = self.system.model.dofs_of(node, element, coordinates.len())?;
        let entry = self.system.model.node(node);
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
            self.system.assembler.fixed_mut()[first + k] = true;
            self.motion.controls.held[first + k] = velocity[k];
        }
        Ok(())
    }

    /// Sets the force from outside on one element of any node, mapped ones too, until it is set again (N; bodies: force in world
    /// axes, then torque in *body* axes, N m). It has no potential: its work is not part of the energies.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element, a number is missing or not finite.
    pub fn set_force(&mut self, node: NodeId, element: usize, force: &[f64]) -> Result<(), Error> {
        let entry = self.system.model.node(node);
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
        let place = &mut self.motion.controls.external[entry.first_velocity + element * size..][..size];
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
        let first = self.system.model.dofs_of(node, element, coordinates.len())?;
        self.wake_elements(node, element..element + 1);
        self.wake_coupled(first..first + coordinates.len());
        for k in (0..coordinates.len()).filter(|k| coordinates[*k]) {
            self.system.assembler.fixed_mut()[first + k] = false;
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
        if let Some(contacts) = &mut self.system.contacts {
            contacts.observed.failed = None;
        }
        self.step_or_halves(h, halvings)
    }

    fn step_at_once(&mut self, h: f64) -> Result<StepReport, Error> {
        self.options
            .write_scheme(&self.system.model, h, &mut self.scheme)?;
        self.system.solver.options = self.options.bounds;
        self.system.solver.options.direct = self.options.solver;
        self.system.corrector.options = self.options.solver;
        self.share_filling()?;
        self.choose_treatments(h)?;
        self.start.clone_from(&self.motion);
        self.refuse_what_does_not_fit()?;
        let result = self.take_again_with_missed(h);
        if result.is_err() {
            self.put_back()?;
            step::undo(&mut self.system, &mut self.motion)?;
        }
        result
    }

    /// Tries a step, and again as long as things go through each other whose contacts the search missed.
    fn take_again_with_missed(&mut self, h: f64) -> Result<StepReport, Error> {
        step::begin(&mut self.system);
        loop {
            let result = self.try_at_once(h);
            let missed = matches!(result, Err(Error::ContactsMissed { .. }));
            if !(missed && step::take_missed(&mut self.system)) {
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
        self.motion.clone_from(&self.start);
        self.system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state)?;
        self.fill_motion(self.motion.time, self.motion.time);
        Ok(())
    }

    /// Lets the assembler, and with it the evaluation, have as many threads as the solver; more than the solver takes are its error.
    fn share_filling(&mut self) -> Result<(), Error> {
        let threads = self.options.solver.threads;
        if threads <= DirectOptions::MOST_THREADS {
            self.system.assembler.share(threads)?;
            self.system.evaluation.share(self.system.assembler.threads());
        }
        Ok(())
    }
}
