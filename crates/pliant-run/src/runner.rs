//! Runs a scene and keeps what files and tables are made of.
//!
//! ```
//! use pliant_run::Runner;
//! use pliant_scene::{Format, SceneFile, Settings};
//!
//! let text = r#"(
//!     gravity: (0, -9.81, 0),
//!     run: (duration: 0.1),
//!     nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
//! )"#;
//! let scene = SceneFile::from_text("stone.ron".as_ref(), text, Format::Ron)?;
//! let outcome = Runner::new(scene.build(&Settings::default())?)?.run(|_| {});
//! assert!(outcome.error.is_none());
//! assert!((outcome.summary.time - 0.1).abs() < 1e-12);
//! # Ok::<(), pliant_scene::SceneError>(())
//! ```

mod actuators;
mod adaptive;
mod checkpoint;
mod contacts;
mod control;
mod controllers;
mod drives;
mod events;
mod fields;
mod files;
mod holds;
mod inputs;
mod inspect;
mod inverted;
mod joints;
mod moved;
mod probes;
mod review;
mod rows;
mod samples;
mod sensors;
pub(crate) mod state;
mod statics;
mod steps;
mod summary;
mod tensors;
mod variables;
mod verdicts;

pub use adaptive::AdaptiveRun;
pub use checkpoint::{CheckpointError, Every, SavedMoment};
pub use contacts::ContactSummary;
pub use drives::Target;
pub use events::{EventSummary, RemovalSummary, Saying, StopSummary};
pub use files::{ResultDirectory, WriteError, write_into, write_result_into, write_results};
pub use inputs::Inputs;
pub use inspect::Inspection;
pub use joints::{JointCoordinate, JointState};
pub use probes::ProbeSummary;
pub use rows::Rows;
pub use statics::{CriticalState, StaticsSummary};
pub use summary::{
    CertificateSummary, Energy, EnergyShare, LinearisationSummary, NodeState, Residuals, Seconds, Sizes,
    StepError, Summary, TreatmentState, WorkCounters,
};
pub use tensors::{Tensor, TensorError, TensorField, TensorPlace};
pub use verdicts::is_unsolved;

use checkpoint::{Checkpoints, Identity};
use control::Control;
use drives::{Drive, Drives};
use events::Watchers;
use fields::Fields;
use holds::Schedule;
use joints::Joints;
use pliant::model::{ComponentId, Energies};
use pliant::solvers::KktSystem;
use pliant::{Checkpoint, Ledger, Simulation, StepReport, WorkPart};
use pliant_lab::exchange::Statement;
use pliant_output::atomic::Written;
use pliant_output::player::{PlayerError, player_html};
use pliant_output::raster::{Camera, RasterError, draw};
use pliant_output::recording::{Recording, Sample};
use pliant_scene::{
    BuiltScene, InputCourse, Places, RunPlan, SceneError, StateFile, StateFileError, Warning,
};
use probes::{Moment, Probes};
use samples::sample;
use std::ops::ControlFlow;
use std::time::Instant;
use steps::Course;
use variables::Variables;
use verdicts::is_of_a_solve;

/// The progress of a run, told to a callback after each step.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Steps taken; where they choose their length, of the scene's length.
    pub step: usize,
    /// Steps taken, of whatever length.
    pub taken: usize,
    /// Steps to take.
    pub steps: usize,
    /// The step's own report.
    pub report: &'a StepReport,
}

/// A scene in motion.
///
/// Steps have the scene's length; if the duration is no multiple of it, the last step is shorter. A
/// timed hold starts and ends at the first beginning of a step that is not before its time; where
/// several fall on one, ends come first. Steps that choose their length end at the times of
/// pictures and of holds, and the run ends where everything is at rest, if the scene asks for that.
/// A step of another length is not one of the plan: from then on the run ends at its duration,
/// whatever the number of steps.
#[derive(Debug)]
pub struct Runner {
    simulation: Simulation,
    scene: Parts,
    schedule: Schedule,
    drives: Drives,
    course: Course,
    /// The moment before a step that changes inputs or holds.
    before: Checkpoint,
    recording: Recording,
    /// Whether the recording is filled.
    records: bool,
    /// Quantities that are measured.
    probes: Probes,
    events: Watchers,
    variables: Variables,
    control: Control,
    /// Sum of the ledgers of all steps so far.
    ledger: Ledger,
    summary: Summary,
    /// Warnings of the start, with their places in the scene.
    warnings: Vec<Warning>,
    watch: review::Watch,
    started: Instant,
    /// The scene and settings, for checkpoints.
    identity: Identity,
    checkpoints: Option<Checkpoints>,
    /// Whether the outcome has the last state.
    saves_state: bool,
}

/// The parts of a scene that the runner keeps; the simulation has the model.
#[derive(Debug)]
struct Parts {
    plan: pliant_scene::RunPlan,
    statics: Option<pliant_scene::StaticsPlan>,
    picture: pliant_scene::Picture,
    joints: Joints,
    inputs: Vec<InputCourse>,
    fields: Fields,
    up: [f64; 3],
    places: Places,
}

/// The results of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Pictures and the energy table, up to the last good step; empty if the run kept none.
    pub recording: Recording,
    /// Numbers of the whole run.
    pub summary: Summary,
    /// Why it ended early, if it did.
    pub error: Option<pliant::Error>,
    /// The linear system of the solve that failed, if that is why.
    pub failed_solve: Option<Box<KktSystem>>,
    /// The problem of the contacts that failed, if that is why.
    pub failed_contacts: Option<Box<Statement>>,
    /// The files of the checkpoint from which the run can go on, if there is one.
    pub checkpoint: Vec<Written>,
    /// Why a checkpoint could not be written.
    pub checkpoint_error: Option<CheckpointError>,
    /// The last state, of a run [with it](Runner::with_state).
    pub state: Option<Result<StateFile, StateFileError>>,
    /// Which way is up in pictures.
    pub up: [f64; 3],
    /// Whether tables are written as Parquet files beside those of comma-separated values; without
    /// the feature `parquet` there are none.
    pub parquet: bool,
}

impl Runner {
    /// Puts a scene into its initial state.
    ///
    /// # Errors
    /// [`SceneError::Model`] or [`SceneError::Simulation`] if the initial state or an option is not
    /// possible.
    pub fn new(mut scene: BuiltScene) -> Result<Self, SceneError> {
        let started = Instant::now();
        let up = scene.up();
        let names = contacts::names(scene.world.as_ref());
        let colliding = contacts::nodes(scene.world.as_ref());
        let mut shapes = scene.world.clone();
        let mut simulation = state::simulation(&mut scene, None)?;
        review::check_energies(&scene, &simulation)?;
        let taken = match &scene.statics {
            Some(plan) => simulation.check_static(&plan.loads(), plan.method()),
            None => simulation
                .check_method()
                .and_then(|()| match &scene.plan.adaptive {
                    Some(_) => Ok(()),
                    None => simulation.check_stability(scene.plan.step.min(scene.plan.duration)),
                }),
        };
        let identity = Identity::new(&scene);
        taken.map_err(|e| scene.places.error(e))?;
        if let (None, Some(how)) = (&scene.statics, &scene.plan.adaptive) {
            let taken = simulation.check_adaptive(how);
            taken.map_err(|e| scene.places.error(e))?;
        }
        let mut schedule = Schedule::new(std::mem::take(&mut scene.holds));
        schedule
            .apply(&mut simulation, scene.plan.step)
            .map_err(|e| scene.places.error(e))?;
        let warnings = review::of_start(&scene, &simulation, shapes.as_mut())?;
        let watch = review::Watch::new(&simulation, shapes.as_ref(), !warnings.is_empty());
        let model = simulation.model();
        let mut recording = scene.picture.recording(model, &scene.title);
        recording.contacts.names = names;
        let joints = Joints::new(std::mem::take(&mut scene.joints));
        recording.joints.columns = joints.columns();
        recording.joints.lines.push(joints.line(&simulation));
        let energies = simulation.present_energies();
        let pressures = contacts::Pressures::new(&simulation, shapes.as_ref());
        let pressures = pressures.map_err(|e| scene.places.error(e))?;
        let fields = Fields::new(std::mem::take(&mut scene.deformables), colliding, pressures);
        fields.describe(&simulation, &scene.picture, &mut recording);
        let start = Moment {
            simulation: &simulation,
            joints: &joints,
            fields: &fields,
            energies,
        };
        let varying = std::mem::take(&mut scene.varying);
        let variables = Variables::new(&scene.observables.variables, varying);
        let probes = Probes::new(std::mem::take(&mut scene.observables), start);
        recording.probes = probes.table();
        if !probes.is_empty() {
            recording.probes.lines.push(probes.line());
        }
        let sample = Sample {
            kinetic: energies.kinetic,
            potential: energies.potential,
            ..Sample::default()
        };
        recording.samples.push(sample);
        recording.marks = joints.marks(&scene.picture);
        let mut summary = Summary::start(&scene, &simulation, energies);
        summary.warnings = warnings.iter().map(|w| w.0.message.clone()).collect();
        let coupling = simulation.options.contacts.friction_coupling;
        summary.contacts = (!recording.contacts.names.is_empty()).then(|| ContactSummary::new(coupling));
        let control = Control::new(&mut scene);
        let parts = Parts {
            plan: scene.plan,
            statics: scene.statics,
            picture: scene.picture,
            joints,
            inputs: scene.inputs,
            fields,
            up,
            places: scene.places,
        };
        recording.frames.push(parts.frame(&simulation, sample));
        let events = Watchers::new(std::mem::take(&mut scene.events));
        let mut runner = Self {
            simulation,
            scene: parts,
            schedule,
            drives: Drives::default(),
            course: Course::default(),
            before: Checkpoint::default(),
            recording,
            records: true,
            probes,
            events,
            variables,
            control,
            ledger: Ledger::default(),
            summary,
            warnings,
            watch,
            started,
            identity,
            checkpoints: None,
            saves_state: false,
        };
        let begun = runner.begin_control().and_then(|()| events::pass(&mut runner));
        begun.map_err(|e| runner.scene.places.error(e))?;
        Ok(runner)
    }

    /// Asks what the first step asks before it has contacts, and takes no step: `pliant check`.
    /// A complaint that another integrator than the theta method may get over joins the
    /// [`warnings`](Self::warnings).
    ///
    /// # Errors
    /// [`SceneError::Simulation`] for what that step would be refused for, with its place.
    pub fn check(&mut self) -> Result<(), SceneError> {
        inspect::check(self)
    }

    /// Finds all that a run would refuse before its first step ends, by taking that step (of motion;
    /// equilibria are not sought), and what it would take although it is hardly meant. The latter
    /// joins the [`warnings`](Self::warnings): directions without mass, velocities that contradict
    /// hard constraints, hard constraints that contradict each other. The runner is to be dropped
    /// then.
    pub fn inspect(&mut self) -> Inspection {
        inspect::inspect(self)
    }

    /// Keeps no pictures and no lines of tables, so that memory does not grow with the duration.
    /// The numbers of the summary are the same.
    pub fn without_recording(mut self) -> Self {
        self.records = false;
        self.identity.records = false;
        self.recording.frames = Vec::new();
        self.recording.samples = Vec::new();
        self.recording.joints.lines = Vec::new();
        self.recording.probes.lines = Vec::new();
        self
    }

    /// Keeps the angular velocities of all bodies with the pictures, for `trajectory.csv`.
    pub fn with_trajectory(mut self) -> Self {
        self.identity.trajectory = true;
        self.scene.fields.keep_trajectory();
        if let Some(frame) = self.recording.frames.last_mut() {
            *frame = self.scene.frame(&self.simulation, frame.sample);
        }
        self
    }

    /// Takes room for the lines of the energy table, and looks whether there is room for the
    /// pictures: a run does not end half-way for want of it.
    ///
    /// # Errors
    /// [`SceneError::Setting`] if the system does not grant it.
    pub fn with_room(mut self) -> Result<Self, SceneError> {
        let plan = &self.scene.plan;
        let bodies = match self.identity.trajectory {
            true => self.scene.picture.bodies.len(),
            false => 0,
        };
        let picture = self.scene.picture.frame_numbers(self.simulation.model());
        let picture = picture.saturating_add(bodies.saturating_mul(3));
        let pictures = plan.steps.checked_div(plan.record_every).unwrap_or(plan.steps);
        let pictures = self.scene.statics.as_ref().map_or(pictures, |_| 0);
        let numbers = picture.saturating_mul(pictures.saturating_add(2));
        let lines = self.recording.samples.try_reserve_exact(plan.steps);
        let granted = lines.and_then(|()| Vec::<f64>::new().try_reserve_exact(numbers));
        let bytes = numbers.saturating_mul(size_of::<f64>());
        let bytes = bytes.saturating_add(plan.steps.saturating_mul(size_of::<Sample>()));
        match granted {
            Ok(()) => Ok(self),
            Err(_) => Err(SceneError::Setting {
                message: format!(
                    "the energy table of {} steps and their pictures take {:.1} GB, which the system does not grant",
                    plan.steps,
                    1e-9 * bytes as f64
                ),
                help: Some("`--no-files` keeps none of them; a longer `step` makes fewer".to_owned()),
            }),
        }
    }

    /// Warnings of the start, of numbers that are hardly meant. Those of the run join them in
    /// [`Summary::warnings`].
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Steps to take; where they choose their length, of the scene's length.
    pub fn steps_planned(&self) -> usize {
        self.scene.plan.steps
    }

    /// Returns the length of the run and of its steps, as the scene and its settings say.
    pub fn plan(&self) -> &RunPlan {
        &self.scene.plan
    }

    /// Says whether the scene is one of equilibria, which
    /// [`find_equilibria`](Self::find_equilibria) finds, instead of motion.
    pub fn is_static(&self) -> bool {
        self.scene.statics.is_some()
    }

    /// Drives the rows of a hard constraint or a compliance, such as a motor, from the present time
    /// on, in place of the motion that the scene gives them: from where that is now in a straight
    /// line to the target, then on at its velocities. Checkpoints of the run hold it.
    ///
    /// # Errors
    /// [`pliant::Error::Model`] if the component has no rows, or there is another number of them;
    /// [`pliant::Error::OutOfRange`] for a time in which nothing can go there.
    pub fn drive(&mut self, component: ComponentId, to: Target<'_>) -> Result<(), pliant::Error> {
        self.drives.set(&mut self.simulation, component, to)
    }

    /// Asks whether a component can be [driven](Self::drive) so, and changes nothing.
    ///
    /// # Errors
    /// [`pliant::Error::Model`] and [`pliant::Error::OutOfRange`] where `drive` has them.
    pub fn check_drive(&self, component: ComponentId, to: Target<'_>) -> Result<(), pliant::Error> {
        Drive::new(&self.simulation, component, to).map(|_| ())
    }

    /// Gives a component that was [driven](Self::drive) the motion of the scene again.
    ///
    /// # Errors
    /// [`pliant::Error::Model`] if the component has no rows.
    pub fn end_drive(&mut self, component: ComponentId) -> Result<(), pliant::Error> {
        self.drives.end(&mut self.simulation, component)
    }

    /// Finds the equilibria of a scene of statics; does nothing for others, and where they are
    /// found.
    ///
    /// # Errors
    /// The errors of [`Simulation::find_equilibrium`] and [`Simulation::follow`] where there is
    /// none. A path that is stuck leaves the state of its last point, and the next search begins
    /// there.
    pub fn find_equilibria(&mut self) -> Result<(), pliant::Error> {
        if self.is_done() {
            return Ok(());
        }
        let plan = self.scene.statics.clone();
        plan.and_then(|plan| self.find_statics(&plan)).map_or(Ok(()), Err)
    }

    /// Returns the sum of the ledgers of all steps so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The simulation, to change its options or state between steps.
    pub fn simulation_mut(&mut self) -> &mut Simulation {
        &mut self.simulation
    }

    /// Steps taken so far.
    pub fn steps_taken(&self) -> usize {
        self.summary.steps
    }

    /// Pictures and lines of tables so far; neither if the run keeps
    /// [none](Self::without_recording).
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Whether pictures and lines of tables are kept.
    pub fn is_recording(&self) -> bool {
        self.records
    }

    /// Takes over the pictures and lines that another run of this scene has kept, and goes on
    /// keeping them.
    pub fn go_on_recording(&mut self, recording: Recording) {
        self.records = true;
        self.identity.records = true;
        self.recording = recording;
    }

    /// Forgets the pictures and lines after the present time, which a course of the motion left
    /// that is no more. Those of statics have no time.
    fn forget_later_pictures(&mut self) {
        if self.is_static() {
            return;
        }
        let now = self.simulation.time();
        let kept = &mut self.recording;
        kept.frames.retain(|frame| frame.time <= now);
        kept.samples.retain(|sample| sample.time <= now);
        kept.contacts.lines.retain(|line| line.time <= now);
        for table in [&mut kept.joints, &mut kept.probes] {
            table.lines.retain(|line| line.first().is_none_or(|t| *t <= now));
        }
    }

    /// Returns the page of the player with the pictures so far and one of the present moment; with
    /// that one alone if the run keeps [none](Self::without_recording).
    ///
    /// # Errors
    /// [`PlayerError`] names the first number that cannot be drawn.
    pub fn player(&mut self) -> Result<String, PlayerError> {
        let kept = self.recording.frames.len();
        let now = self.simulation.time();
        let shown = self.recording.frames.last();
        if shown.is_none_or(|frame| !self.is_static() && frame.time != now) {
            let energies = self.simulation.present_energies();
            let frame = self.scene.frame(
                &self.simulation,
                Sample {
                    time: now,
                    kinetic: energies.kinetic,
                    potential: energies.potential,
                    dissipated: shown.map_or(0.0, |frame| frame.sample.dissipated),
                    ..Sample::default()
                },
            );
            self.recording.frames.push(frame);
        }
        let page = player_html(&self.recording, self.scene.up);
        self.recording.frames.truncate(kept);
        page
    }

    /// Returns the camera that sees all of the present moment in a picture of this width over
    /// height, from where the [player](Self::player) first sees it.
    pub fn camera(&self, aspect: f64) -> Camera {
        Camera::fitted(
            &self.recording,
            &self.scene.places(&self.simulation),
            self.scene.up,
            aspect,
        )
    }

    /// Draws the present moment as pixels: red, green and blue of each, row by row from the upper
    /// left, of a picture of this width and height.
    ///
    /// # Errors
    /// [`RasterError`] for sizes and cameras that make no picture.
    pub fn pixels(&self, camera: &Camera, size: [usize; 2]) -> Result<Vec<u8>, RasterError> {
        draw(
            &self.recording,
            &self.scene.places(&self.simulation),
            camera,
            size,
        )
    }

    /// Direction that is up in pictures, against gravity.
    pub fn up(&self) -> [f64; 3] {
        self.scene.up
    }

    fn record(&mut self, report: &StepReport, picture: bool, at_event: bool) {
        self.ledger += report.ledger;
        let sample = sample(report, &self.ledger);
        self.summary.add(self.simulation.problem(), report);
        self.summary.name_unsolved(&self.simulation, &report.contacts);
        self.watch.add(&self.simulation, report);
        if self.records {
            self.recording.samples.push(sample);
        }
        self.record_probes(report.energies, at_event);
        if picture || at_event {
            self.record_picture(sample);
            self.record_contacts(report.time);
        }
    }

    /// Reads the probes after a step or at rest, and keeps a line of them if one is due.
    fn record_probes(&mut self, energies: Energies, at_event: bool) {
        self.probes.add(Moment {
            simulation: &self.simulation,
            joints: &self.scene.joints,
            fields: &self.scene.fields,
            energies,
        });
        let is_due = at_event || self.is_static() || self.probes.is_due(self.summary.steps);
        if self.records && is_due && !self.probes.is_empty() {
            self.recording.probes.lines.push(self.probes.line());
        }
    }

    /// Keeps the picture of the state, and the line of the joints.
    fn record_picture(&mut self, sample: Sample) {
        self.look_for_inverted();
        // Where processes share elements out, all of them bring together what a picture shows.
        if self.records || self.simulation.model().shared_elements().is_some() {
            let frame = self.scene.frame(&self.simulation, sample);
            self.recording.frames.extend(self.records.then_some(frame));
        }
        if self.records && !self.scene.joints.is_empty() {
            let line = self.scene.joints.line(&self.simulation);
            self.recording.joints.lines.push(line);
        }
    }

    /// Takes all steps that are left, and calls `watch` after each. Finds the equilibria of a scene
    /// of statics.
    pub fn run(self, mut watch: impl FnMut(Progress<'_>)) -> Outcome {
        self.run_while(|progress| {
            watch(progress);
            ControlFlow::Continue(())
        })
    }

    /// Takes steps as [`run`](Self::run) does until `watch` breaks off: the run is then
    /// `interrupted`, its results are those up to that step, and it leaves a checkpoint where it
    /// [keeps any](Self::keep_checkpoints). Statics is not broken off.
    pub fn run_while(mut self, mut watch: impl FnMut(Progress<'_>) -> ControlFlow<()>) -> Outcome {
        if self.is_static() {
            let error = self.find_equilibria().err();
            return self.finish(error);
        }
        let mut error = None;
        while !self.is_done() {
            match self.step() {
                Ok(report) => {
                    let (plan, taken) = (&self.scene.plan, self.summary.steps);
                    let progress = Progress {
                        step: match plan.adaptive {
                            Some(_) => plan.steps.min((report.time / plan.step) as usize),
                            None => taken,
                        },
                        taken,
                        steps: plan.steps,
                        report: &report,
                    };
                    let interrupted = watch(progress).is_break();
                    if self.is_done() {
                        break;
                    }
                    self.write_due_checkpoint(interrupted);
                    if interrupted {
                        self.summary.status = "interrupted";
                        break;
                    }
                }
                Err(e) => {
                    error = Some(e);
                    break;
                }
            }
        }
        self.finish(error)
    }

    /// Returns the summary of the steps so far; `error` is why the run ends here, if it does.
    pub fn summary(&self, error: Option<&pliant::Error>) -> Summary {
        let mut summary = self.summary.clone();
        summary.ledger = self.ledger.entries().into_iter().collect();
        summary.numerical = self.ledger.parts.entries().into_iter().collect();
        summary.joints = self.scene.joints.states(&self.simulation);
        summary.probes = self.probes.summaries();
        summary.events = self.events.summaries();
        summary.removed = self.events.removals();
        summary.said = self.events.said();
        summary.stopped_by = self.events.stopped();
        let (simulation, fields) = (&self.simulation, &self.scene.fields);
        summary.finish(simulation, fields.deformables(), error, self.started.elapsed());
        summary.finish_contacts(simulation, fields.colliding(), &self.recording.contacts);
        self.watch.judge(&self.simulation, &mut summary, error);
        summary.warnings.extend(self.probes.warnings());
        summary
    }

    /// Completes the summary, after [`run`](Self::run) or after steps of one's own.
    pub fn finish(mut self, error: Option<pliant::Error>) -> Outcome {
        // A run that failed between two pictures shows where it stopped.
        if let (Some(sample), Some(frame)) = (self.recording.samples.last(), self.recording.frames.last())
            && frame.time < sample.time
        {
            self.record_picture(*sample);
        }
        if let Some(last) = self.recording.probes.lines.last() {
            let line = self.probes.line();
            if !self.is_static() && last.first() < line.first() {
                self.recording.probes.lines.push(line);
            }
        }
        self.summary = self.summary(error.as_ref());
        let (checkpoint, checkpoint_error) = self.end_checkpoints();
        let failed = error.as_ref().is_some_and(is_of_a_solve);
        let of_contacts = matches!(
            error,
            Some(
                pliant::Error::ContactsNotConverged { .. }
                    | pliant::Error::TooMuchWork {
                        part: WorkPart::Contacts,
                        ..
                    }
            )
        );
        let problem = self.simulation.contact_problem().filter(|_| of_contacts);
        Outcome {
            state: self.saves_state.then(|| self.state_file()),
            recording: self.recording,
            summary: self.summary,
            failed_contacts: problem.and_then(|p| Statement::of(p).ok()).map(Box::new),
            failed_solve: failed.then(|| Box::new(self.simulation.system().clone())),
            error,
            checkpoint,
            checkpoint_error,
            up: self.scene.up,
            parquet: false,
        }
    }
}
