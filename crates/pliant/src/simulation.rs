//! The public face: a model in motion.

#[cfg(feature = "continuum")]
mod breaking;
mod checkpoint;
mod environment;
mod run;

#[cfg(feature = "continuum")]
pub use breaking::{Breaking, BreakingParts};

use checkpoint::Before;

use crate::control::{AdaptiveWorkspace, Conditions, located, project, retry};
use crate::{Error, Integrator, Options, damping_ratio};
use pliant_dense::{Vec3, rotation};
use pliant_kkt::Scheme;
use pliant_model::{
    ComponentId, ElementIndex, Energies, JointHandle, Model, NodeId, Pose, Problem, RowGroup, State,
};
use pliant_stepper::contact::step;
use pliant_stepper::guards::has_restitution;
use pliant_stepper::method::{
    Examination, Method, Methods, capabilities, effective_masses, examine, stability, try_rows,
};
use pliant_stepper::motion::Motion;
use pliant_stepper::observe::{
    self, Axes, LedgerMemory, On, RowGap, Step, Trace, Wrench, energy, stored_energies,
};
use pliant_stepper::options::Weights;
use pliant_stepper::report::{Counters, StepReport};
use pliant_stepper::sleep;
use pliant_stepper::system::{System, TreatmentChoice};
use std::sync::Arc;
use std::time::Instant;

/// A model in motion.
#[derive(Debug)]
pub struct Simulation {
    /// How steps are taken; may be changed between steps.
    pub options: Options,
    /// The present motion; during a step, its end.
    pub(crate) motion: Motion,
    /// The motion at the start of the present step; empty before the first one.
    pub(crate) start: Motion,
    /// The moment before the present step, to which one that fails goes back.
    before: Before,
    pub(crate) system: System,
    /// Findings of the present step.
    pub(crate) trace: Trace,
    pub(crate) scheme: Scheme,
    /// The methods with their scratch; `None` while one of them takes a step.
    pub(crate) methods: Option<Box<Methods>>,
    pub(crate) adaptive: AdaptiveWorkspace,
}

impl Simulation {
    /// Plans the system of a model and puts it into its initial state, with default [`Options`].
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined, [`Error::Plan`] if the system is too large.
    pub fn new(model: impl Into<Arc<Model>>) -> Result<Self, Error> {
        Self::with_options(model, Options::default())
    }

    /// A simulation of a model with given options.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new), and those of
    /// [`resolve_damping_ratios`](crate::resolve_damping_ratios) where a compliance has such a ratio.
    pub fn with_options(model: impl Into<Arc<Model>>, options: Options) -> Result<Self, Error> {
        let mut model = model.into();
        damping_ratio::resolve(&mut model)?;
        Self::as_it_is(model, options)
    }

    /// Makes a simulation whose damping ratios are not resolved, and damp nothing.
    pub(crate) fn as_it_is(model: Arc<Model>, options: Options) -> Result<Self, Error> {
        let mut system = System::new(Problem::new(model), options.clone())?;
        let motion = system.initial_motion()?;
        let mut simulation = Self {
            options,
            start: Motion::default(),
            before: Before::default(),
            motion,
            system,
            trace: Trace::default(),
            scheme: Scheme::implicit_euler(1.0),
            methods: None,
            adaptive: AdaptiveWorkspace::default(),
        };
        let motion = &mut simulation.motion;
        simulation.system.find_undetermined_rows(&motion.state);
        simulation.system.plan_row_motion(0.0);
        motion.hold_present_velocities(&simulation.system.model);
        simulation.start_ledger();
        Ok(simulation)
    }

    /// The model with the present values of its parameters.
    pub fn problem(&self) -> &Problem {
        &self.system.model
    }

    /// The model: the structure, which never changes.
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
        observe::pose(&self.system.model, &self.motion.state, node, element)
    }

    /// Velocity of the centre of mass (m/s) and angular velocity (rad/s) of one body, both in world
    /// axes.
    pub fn world_velocity(&self, node: NodeId, element: usize) -> Option<([f64; 3], [f64; 3])> {
        let pose = self.pose(node, element)?;
        let v = self.velocities(node).as_chunks::<6>().0.get(element)?;
        let angular = rotation::rotate(pose.rotation, Vec3::new(v[3], v[4], v[5]));
        Some(([v[0], v[1], v[2]], angular.into()))
    }

    /// Multipliers of the last step [N, N m]: the average force over it, along each row's
    /// coordinate.
    pub fn multipliers(&self) -> &[f64] {
        &self.motion.multipliers
    }

    /// Multipliers of one compliant force field or hard constraint; empty for other components.
    pub fn reaction(&self, component: ComponentId) -> &[f64] {
        observe::reaction(&self.system, &self.motion, component)
    }

    /// Forces that held the fixed coordinates of one element of an independent node over the last
    /// step (N; bodies: force in world axes, then torque in body axes, N m); zero for coordinates
    /// that are free, empty if there is no such element.
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
        self.system.counters()
    }

    /// The linear system as last filled, also by a step that failed, for inspection.
    pub fn system(&self) -> &pliant_solvers::KktSystem {
        let present = self.system.assembler.system();
        self.before.failed.as_deref().unwrap_or(present)
    }

    /// Takes one step of length `h` (s). Steps may differ in length. After the first, a step
    /// allocates nothing and repeats no symbolic work, unless coordinates were fixed or freed or
    /// the contacts changed. Where contacts or Newton's method do not converge, or a part of the
    /// step takes more work than it may ([`WorkLimits`](crate::WorkLimits)), it may be taken in
    /// halves ([`ContactOptions::halvings`](crate::contact::ContactOptions::halvings),
    /// [`NewtonOptions::halvings`](crate::integrator::NewtonOptions::halvings)); the report says
    /// so.
    ///
    /// # Errors
    /// [`Error::NotConverged`] or [`Error::Incompatible`] (unless
    /// [`Options::accept_failed_steps`]), [`Error::TooMuchWork`], [`Error::NotPositiveDefinite`],
    /// [`Error::NotFinite`], [`Error::Gyroscopic`], [`Error::Unsupported`] for what the integrator
    /// does not take, [`Error::Model`] where a mapping is not defined, [`Error::OutOfRange`]. The
    /// state is then as before the step.
    pub fn step(&mut self, h: f64) -> Result<StepReport, Error> {
        match self.locates_impacts() {
            true => located::step(self, h, &mut |_, _| Ok::<(), Error>(())),
            false => retry::step(self, h),
        }
    }

    /// Whether steps are taken in parts that end at impacts.
    pub(crate) fn locates_impacts(&self) -> bool {
        let model = &self.system.model;
        let bounces = || {
            model
                .row_groups()
                .iter()
                .any(|group| has_restitution(model, group))
        };
        self.options.contacts.locate_impacts && (self.system.contacts.is_some() || bounces())
    }

    /// A step without halves. The motion is as before if it fails.
    pub(crate) fn step_at_once(&mut self, h: f64, conditions: Conditions) -> Result<StepReport, Error> {
        let weights = conditions.weights.unwrap_or_else(|| self.options.weights());
        let stages = &mut self.trace.stages;
        stages.or_halves = conditions.or_halves && !self.options.accept_failed_steps;
        stages.or_parts = conditions.or_parts && !self.options.accept_failed_steps;
        stages.impacts.clear();
        let started = self.start_step(h, weights, conditions.keep_treatments);
        let fits = started.and_then(|()| self.check_capabilities());
        let result = fits.and_then(|()| retry::with_missed_contacts(self, h));
        if result.is_err() {
            self.fail()?;
        }
        result
    }

    /// Goes back from a step that failed to the moment before it: what comes next is to the bit
    /// what would come after a restored checkpoint.
    fn fail(&mut self) -> Result<(), Error> {
        // The problem that failed is to be looked at, and going back forgets it. A step that was
        // refused has solved none.
        if let (true, Some(contacts)) = (self.before.begun, &mut self.system.contacts) {
            contacts.observed.failed = None;
            contacts.keep_failed();
        }
        self.go_back()
    }

    /// Checks the options, gives them to the system, chooses treatments, and keeps the motion that
    /// the step starts from.
    fn start_step(&mut self, h: f64, weights: Weights, keep_treatments: bool) -> Result<(), Error> {
        self.record_before(h, keep_treatments);
        self.options
            .write_scheme(&self.system.model, h, weights, &mut self.scheme)?;
        self.scheme.velocity_rows |= self.system.guards.in_impact;
        self.system.configure(&self.options)?;
        if !keep_treatments {
            self.choose_treatments(h)?;
        }
        project::start(&mut self.system, &mut self.motion, &mut self.trace)?;
        self.start.clone_from(&self.motion);
        self.before.begun = true;
        Ok(())
    }

    /// One try of a step by the method of the options, from the motion at its start.
    pub(crate) fn try_at_once(&mut self, h: f64) -> Result<StepReport, Error> {
        let mut methods = self.methods.take().unwrap_or_default();
        let taken = self.take_step(methods.chosen(&self.options.integrator), h);
        self.methods = Some(methods);
        taken
    }

    fn take_step(&mut self, method: &mut dyn Method, h: f64) -> Result<StepReport, Error> {
        self.open_account();
        // What the step wakes is awake at its start, and stays so.
        let woken = sleep::wake_disturbed(&mut self.system, &mut self.motion, h);
        self.start.sleep.clone_from(&self.motion.sleep);
        self.start.contacts.clone_from(&self.motion.contacts);
        woken?;
        let (start, end) = (&self.start, &mut self.motion);
        method.step(&mut self.system, start, h, end, &mut self.trace)?;
        step::look_for_crossed(&mut self.system, start, end, h)?;
        self.trace.solver = self.system.solver_name();
        self.finish_step(h)
    }

    /// The report of a step that a method has taken; if it stands, its end is the present motion.
    fn finish_step(&mut self, h: f64) -> Result<StepReport, Error> {
        self.scheme = self.trace.scheme.clone();
        let clock = Instant::now();
        let mut report = self.report(h)?;
        self.commit(&report);
        self.fall_asleep(h, &mut report)?;
        self.motion.ledger = LedgerMemory::of_step(&report, self.motion.ledger.overlap);
        report.timings = self.trace.timings;
        report.timings.update += clock.elapsed();
        report.counters = self.system.counters();
        Ok(report)
    }

    /// Takes one step of length `h` (s) by a method from outside this crate, as
    /// [`step`](Self::step) does by those of [`Integrator`](crate::Integrator); without halving.
    ///
    /// # Errors
    /// Those of the method; [`Error::Unsupported`] for what it does not take;
    /// [`Error::NotConverged`] and its like. The state is then as before the step.
    pub fn step_with(&mut self, method: &mut dyn Method, h: f64) -> Result<StepReport, Error> {
        (self.trace.stages.or_halves, self.trace.stages.or_parts) = (false, false);
        let started = self.start_step(h, self.options.weights(), false);
        let (system, name) = (&self.system, method.name());
        let fits =
            started.and_then(|()| capabilities::check(system, &self.options, method.capabilities(), name));
        let result = fits.and_then(|()| self.take_step(method, h));
        if result.is_err() {
            self.fail()?;
        }
        result
    }

    /// Opens the account of the present step at the energies of its start.
    fn open_account(&mut self) {
        self.trace.clear();
        self.trace.scheme = self.scheme.clone();
        let account = &mut self.trace.account;
        account.open(&mut self.system, &self.motion, &self.scheme, self.trace.projected);
    }

    /// Chooses the treatments for steps of length `h`, if there is something to choose and nothing
    /// suitable was chosen.
    pub(crate) fn choose_treatments(&mut self, h: f64) -> Result<(), Error> {
        match self.system.choose_treatments(&mut self.motion, h)? {
            Some(before) => self.plan_anew(&before),
            None => Ok(()),
        }
    }

    /// Plans the system again after its rows have changed.
    pub(crate) fn plan_anew(&mut self, before: &[RowGroup]) -> Result<(), Error> {
        self.wake_all();
        self.system.plan_anew(&mut self.motion, before)
    }

    /// Takes the energies of the present state, but for compliant contacts, as those that the next
    /// step starts from.
    pub(crate) fn start_ledger(&mut self) {
        let room = &mut self.trace.account.room;
        let energies = stored_energies(&mut self.system, &self.motion, &self.scheme, room);
        self.motion.ledger = LedgerMemory::of_state(energies);
    }

    /// The present step, as observers see it.
    pub(crate) fn observed(&self) -> Step<'_> {
        Step {
            system: &self.system,
            start: start_of_last_step(&self.start, &self.motion),
            end: &self.motion,
            scheme: &self.scheme,
        }
    }

    /// Energies of the present state (J), with those of compliant contacts after the last step: rows
    /// that are driven store their deformation from where they are driven, those of bounded force what
    /// their bounds leave. [`Problem::energies`](pliant_model::Problem::energies) knows of neither.
    pub fn present_energies(&self) -> Energies {
        let step = Step {
            system: &self.system,
            start: start_of_last_step(&self.start, &self.motion),
            end: &self.motion,
            scheme: &self.scheme,
        };
        energy::energies(step, false, &mut Vec::new())
    }

    /// Energies at the end of the present step, with those of compliant contacts.
    pub(crate) fn energies(&mut self, by_multipliers: bool) -> Energies {
        let step = Step {
            system: &self.system,
            start: start_of_last_step(&self.start, &self.motion),
            end: &self.motion,
            scheme: &self.scheme,
        };
        energy::energies(step, by_multipliers, &mut self.trace.account.room.first)
    }

    /// Whether the method of the options takes this model and these options: what a step would
    /// refuse, before it begins.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::Memory`] or [`Error::FrictionCoupling`], which names what
    /// does not fit.
    pub fn check_method(&self) -> Result<(), Error> {
        self.check_capabilities()?;
        step::check_crossings(&self.system, &self.options.contacts)?;
        step::check_coupling(&self.system, &self.options.contacts)
    }

    /// Whether a method that takes forces explicitly is stable in steps of length `h` (s) from the
    /// present state. Others are always good. The first [`step`](Self::step) of a motion asks this.
    ///
    /// # Errors
    /// [`Error::Unstable`], which names the fastest mode; as [`step`](Self::step) for options that
    /// are not possible.
    pub fn check_stability(&mut self, h: f64) -> Result<(), Error> {
        if self.options.integrator.stability_limit().is_none() {
            return Ok(());
        }
        let started = self.start_step(h, self.options.weights(), false);
        let integrator = self.options.integrator.clone();
        let stable = started.and_then(|()| {
            self.check_capabilities()?;
            stability::check(&mut self.system, &self.start, &integrator, h)
        });
        self.go_back()?;
        stable
    }

    fn check_capabilities(&self) -> Result<(), Error> {
        let method = &self.options.integrator;
        capabilities::check(&self.system, &self.options, method.capabilities(), method.name())
    }

    /// Asks all that the step of length `h` (s) asks before it has contacts: options, method,
    /// mappings, spinning bodies, and the equations of the rows, which it solves. No step is taken.
    /// The linear equations are those of the theta method; what only they complain of, another
    /// integrator may get over, and is returned, but for rows that contradict each other where
    /// SDIRK2 is to project on them.
    ///
    /// # Errors
    /// As [`step`](Self::step), but for what contacts and the end of the step are refused for.
    pub fn check_step(&mut self, h: f64) -> Result<Option<Error>, Error> {
        let started = self.start_step(h, self.options.weights(), false);
        let asked = started.and_then(|()| self.check_method());
        let (linear, projects) = match self.options.integrator {
            Integrator::Theta => (true, true),
            Integrator::Sdirk2 => (false, true),
            _ => (false, false),
        };
        let found = asked.and_then(|()| {
            self.open_account();
            let (start, end) = (&self.start, &mut self.motion);
            match try_rows(&mut self.system, start, h, end, &mut self.trace) {
                Ok(()) => Ok(None),
                Err(error @ Error::Incompatible { .. }) if projects => Err(error),
                Err(error) if !linear => Ok(Some(error)),
                Err(error) => Err(error),
            }
        });
        self.go_back()?;
        found
    }

    /// Examines the present moment: hard rows that follow from others, or contradict them, and
    /// directions in which nothing has mass and no hard row holds what moves. `h` is the length of
    /// the step (s) that would come, by which treatments are chosen. No step is taken. Cost: an
    /// evaluation and a factor.
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined, those of the options, and those of the
    /// linear solver.
    pub fn examine(&mut self, h: f64) -> Result<Examination, Error> {
        let started = self.start_step(h, self.options.weights(), false);
        let found = started.and_then(|()| examine(&mut self.system, &self.motion));
        self.go_back()?;
        found
    }

    /// The effective mass of each coordinate of a node (kg, kg m^2) at the present moment: the force
    /// on it over the acceleration that it gets by that force alone, while hard rows of two sides
    /// hold and springs are let go; `1/(J A J^T)` with the inverse `A` of the masses under hard rows.
    /// Infinite where it cannot move. Cost: an evaluation, a factor, and a solve for each.
    ///
    /// ```
    /// use pliant::prelude::*;
    /// // A rod of 3 kg and 2 m on a hinge at its end: about the pivot its inertia is 3 * 2^2/3.
    /// let mut model = Model::new();
    /// let rod = model.add_rigid_bodies("rod", &[Pose::at([1.0, 0.0, 0.0])])?;
    /// let mass = RigidMass::principal(3.0, [0.01, 1.0, 1.0]);
    /// model.add_mass("mass", rod, Mass::Rigid(vec![mass]))?;
    /// let hinge = model.add_joint("hinge", &Joint::hinge(Side::World, Side::Body(rod, 0)))?;
    /// let mut simulation = Simulation::new(model)?;
    /// let inertia = simulation.effective_masses(hinge.coordinates[0])?[0];
    /// assert!((inertia - 4.0).abs() < 1e-9);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined, and those of the linear solver.
    pub fn effective_masses(&mut self, node: NodeId) -> Result<Vec<f64>, Error> {
        effective_masses(&mut self.system, &self.motion, node)
    }

    /// The hard rows that are off by more than `least` (m, rad) at the present state: constraints
    /// that are violated, limits and ropes that are beyond.
    pub fn row_gaps(&self, least: f64) -> impl Iterator<Item = RowGap> + '_ {
        observe::row_gaps(&self.system, &self.motion.state, least)
    }

    /// The unit of a row of [`row_gaps`](Self::row_gaps): `m`, or `rad` if it moves nothing but
    /// rotations.
    pub fn row_unit(&self, row: usize) -> &'static str {
        observe::unit(&self.system.model, self.system.assembler.system(), row, false)
    }

    /// The report of the present step, which may stand.
    pub(crate) fn report(&mut self, h: f64) -> Result<StepReport, Error> {
        let before = self.motion.time;
        self.trace.h = h;
        let step = Step {
            system: &self.system,
            start: &self.start,
            end: &self.motion,
            scheme: &self.scheme,
        };
        let mut report = observe::report(step, &mut self.trace);
        report.time = before + h;
        observe::check(step, &self.trace, &report)?;
        if !self.options.accept_failed_steps {
            step::check(&self.system, &self.motion, &report)?;
        }
        Ok(report)
    }

    /// Takes what a step that stands has found.
    pub(crate) fn commit(&mut self, report: &StepReport) {
        self.motion.fresh = false;
        step::stand(&mut self.system, &mut self.motion, self.trace.h);
        self.system.lag_multipliers(&mut self.motion);
        self.motion.dissipated = report.dissipated;
        self.motion.ledger = LedgerMemory::of_step(report, self.motion.ledger.overlap);
        self.motion.time = report.time;
        self.system.set_steps(self.system.counters().steps + 1);
    }

    /// How the force fields that were added as [`Treatment::Auto`](pliant_model::Treatment::Auto)
    /// are treated, as of the last step; empty before the first.
    pub fn treatments(&self) -> &[TreatmentChoice] {
        &self.motion.treatments.choices
    }

    /// Potential energy of one component as of the last step (J): of a mass in gravity, of what a
    /// force field stores; zero for constraints. Together with
    /// [`ContactsReport::stored`](crate::contact::ContactsReport::stored) they make the potential
    /// energy of the report.
    pub fn potential(&self, component: ComponentId) -> f64 {
        energy::potential(self.observed(), component)
    }

    /// The force of a component on the coordinates of its node: the multipliers of the last step
    /// for constraints and compliances, the law at the present state for stiffnesses, without
    /// damping in proportion to the model's stiffnesses (N, N m; on bodies, force in world axes and
    /// torque in body axes). Empty for masses.
    pub fn force(&self, component: ComponentId) -> Vec<f64> {
        observe::force_of(&self.system, &self.motion, component)
    }

    /// Wrench of a joint on one of its sides: force (N) and torque (N m) about the origin of its
    /// frame on that side, of all its parts: held coordinates, springs, dampers, motors, friction,
    /// limits. Average over the last step for rows, at the directions of the present state.
    pub fn joint_wrench(&self, joint: &JointHandle, on: On, axes: Axes) -> Wrench {
        let parts: Vec<ComponentId> = joint.rows.iter().chain(&joint.attached).copied().collect();
        self.wrench_of(joint, &parts, on, axes)
    }

    /// The wrench of some parts of a joint.
    pub fn wrench_of(&self, joint: &JointHandle, parts: &[ComponentId], on: On, axes: Axes) -> Wrench {
        observe::wrench_of(&self.system, &self.motion, joint, parts, on, axes)
    }
}

/// The motion at the start of the last step, the present one before the first.
fn start_of_last_step<'a>(start: &'a Motion, present: &'a Motion) -> &'a Motion {
    if start.state.positions.is_empty() {
        present
    } else {
        start
    }
}

impl Simulation {
    /// Takes elements of mapped nodes out of the model from now on
    /// ([`Problem::remove_elements`](pliant_model::Problem::remove_elements)): elements of solids,
    /// sheets and nets, as
    /// [`Breaking::indices`](crate::Breaking::indices) lists them. The motion goes on as that of a model
    /// without them from the same positions and velocities: nodes keep their masses, so that
    /// momentum stays as it is, and one that has lost its last element is a free particle. What the
    /// elements stored is gone, and `removed` of the next ledger has it. Patterns and plans are
    /// made anew. Checkpoints hold what is removed.
    ///
    /// All elements that go at one moment belong in one call: a second call before the next step
    /// measures what stiff compliances stored by their positions, no longer by their multipliers.
    ///
    /// # Errors
    /// [`Error::Model`] for elements that cannot be taken out, and as [`Simulation::new`]; then
    /// nothing changes.
    pub fn remove_elements(&mut self, elements: &[ElementIndex]) -> Result<(), Error> {
        let mut all = self.motion.controls.removed.clone();
        all.extend(elements);
        all.sort_unstable();
        all.dedup();
        if all == self.motion.controls.removed {
            return Ok(());
        }
        let before = self.checkpoint();
        let taken = self.take_out(all);
        if taken.is_err() && self.removed_elements() != before.controls.removed {
            self.go_to(&before)?;
        }
        taken
    }

    fn take_out(&mut self, all: Vec<ElementIndex>) -> Result<(), Error> {
        let fields = (0..self.model().force_fields().len()).map(ComponentId::ForceField);
        let fields: Vec<ComponentId> = fields.filter(|field| !self.is_released(*field)).collect();
        let stored = |simulation: &Self| -> Vec<f64> {
            fields.iter().map(|field| simulation.potential(*field)).collect()
        };
        let before = stored(self);
        if !self.system.remove(&mut self.motion, &all)? {
            return Ok(());
        }
        self.still_start();
        let removed: f64 = stored(self)
            .iter()
            .zip(&before)
            .map(|(after, before)| after - before)
            .sum();
        self.motion.controls.removed = all;
        self.plan_without()?;
        self.motion.ledger.removed += removed;
        // Forces jump: what methods and the choice of steps remember is of other forces.
        self.motion.integrator.forget();
        (self.motion.adaptive.next, self.motion.adaptive.error) = (None, None);
        Ok(())
    }

    /// The elements that are out of the model, in order.
    pub fn removed_elements(&self) -> &[ElementIndex] {
        self.system.model.removed_elements()
    }

    /// Takes exactly these elements out of the model.
    pub(crate) fn impose_removed(&mut self, list: &[ElementIndex]) -> Result<(), Error> {
        if self.system.remove(&mut self.motion, list)? {
            self.motion.controls.removed.clear();
            self.motion.controls.removed.extend_from_slice(list);
            self.plan_without()?;
        }
        Ok(())
    }

    fn plan_without(&mut self) -> Result<(), Error> {
        let rows = self.system.model.row_groups().to_vec();
        self.plan_anew(&rows)?;
        step::find_held(&mut self.system);
        Ok(())
    }

    /// Elements that are gone had no velocities at the start of the last step either: energies of
    /// rows take the mean of both ends.
    fn still_start(&mut self) {
        let model = &self.system.model;
        for (node, entry) in model.nodes().iter().enumerate() {
            let size = entry.space.velocity_size();
            for element in 0..entry.count {
                let first = entry.first_velocity + element * size;
                let of_start = self.start.state.velocities.get_mut(first..first + size);
                if let (true, Some(v)) = (model.is_gone(ElementIndex { node, element }), of_start) {
                    v.fill(0.0);
                }
            }
        }
    }
}
