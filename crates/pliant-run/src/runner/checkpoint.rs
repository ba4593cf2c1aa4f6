//! Checkpoints of runs: everything that a run needs to go on as if it had never stopped.
//!
//! A checkpoint is two files among the results. `checkpoint.log` grows by the pictures and lines of
//! tables since the checkpoint before; `checkpoint.pliant` has the motion, the sums so far, and how
//! much of the log belongs to it. The log is synced first, and the other file is replaced as a
//! whole: at every moment, also of a kill or a power cut, the two together are a checkpoint.

mod identity;
mod log;

pub(super) use identity::Identity;

use super::Runner;
use super::actuators::ActuatorState;
use super::controllers::ControllerState;
use super::drives::Drive;
use super::events::EventsState;
use super::holds::Phase;
use super::probes::ProbeState;
use super::review::Watch;
use super::sensors::SensorState;
use super::steps::Course;
use super::summary::Summary;
use super::variables::VariablesState;
use log::{LogEnd, RunLog};
use pliant::archive::{self, ArchiveError};
use pliant::{Checkpoint, Ledger};
use pliant_output::ExportError;
use pliant_output::atomic::{Written, write_atomically};
use pliant_output::directory::{CHECKPOINT, CHECKPOINT_LOG, ResultDirectory};
use pliant_scene::{StateFile, StateFileError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The kind of `checkpoint.pliant`, and the version of its structure.
const KIND: &str = "checkpoint of a run";
/// The kind of checkpoints as bytes, which have no log.
const BYTES_KIND: &str = "checkpoint of a run in memory";
const VERSION: u32 = 2;

/// How often a run writes a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// After the first step that ends so much time of the clock on the wall after the last
    /// checkpoint.
    Time(Duration),
    /// After so many steps.
    Steps(NonZeroUsize),
}

/// Why a run has no checkpoint, or does not go on from one.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// There is none.
    #[error(
        "there is no checkpoint in {}: a run leaves one there when it is interrupted, and while it runs with `--checkpoint-every`",
        .directory.display()
    )]
    None {
        /// The directory of the results.
        directory: PathBuf,
    },
    /// The checkpoint is of another scene, of other settings or of another program.
    #[error("the checkpoint in {} is of another run: {difference}", .directory.display())]
    Other {
        /// The directory of the results.
        directory: PathBuf,
        /// The first difference, with both values.
        difference: String,
    },
    /// Bytes are of another scene, of other settings or of another program.
    #[error("the checkpoint is of another run: {difference}")]
    OtherBytes {
        /// The first difference, with both values.
        difference: String,
    },
    /// Bytes are no checkpoint, or were cut or changed.
    #[error(transparent)]
    Bytes(#[from] ArchiveError),
    /// A file of it is no checkpoint, or was cut or changed.
    #[error("{}: {source}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why it was not read.
        source: ArchiveError,
    },
    /// A file of it cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file of it cannot be written.
    #[error(transparent)]
    File(#[from] ExportError),
    /// The motion does not fit the scene.
    #[error("the checkpoint does not fit the scene: {0}")]
    Simulation(#[from] pliant::Error),
    /// Equilibria are found anew.
    #[error("a scene of statics has no checkpoints: its equilibria are found anew")]
    Statics,
}

/// The content of `checkpoint.pliant`.
#[derive(Serialize, Deserialize)]
struct RunState {
    identity: Identity,
    motion: Checkpoint,
    schedule: Vec<Phase>,
    pictures: usize,
    ledger: Ledger,
    summary: Summary,
    watch: Watch,
    contacts_left_out: usize,
    log: LogEnd,
    #[serde(default)]
    drives: Vec<Drive>,
    #[serde(default)]
    off_plan: bool,
    #[serde(default)]
    probes: ProbeState,
    #[serde(default)]
    events: EventsState,
    #[serde(default)]
    variables: VariablesState,
    #[serde(default)]
    controllers: Vec<ControllerState>,
    #[serde(default)]
    sensors: Vec<SensorState>,
    #[serde(default)]
    actuators: Vec<ActuatorState>,
}

/// A moment of a run, of a checkpoint, without pictures and lines of tables.
pub struct SavedMoment(Box<RunState>);

impl fmt::Debug for SavedMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.0.motion.time;
        f.debug_struct("SavedMoment").field("time", &time).finish()
    }
}

impl SavedMoment {
    /// Time (s).
    pub fn time(&self) -> f64 {
        self.0.motion.time
    }

    /// Steps up to it.
    pub fn steps(&self) -> usize {
        self.0.summary.steps
    }

    /// Returns it as bytes, for other processes of the run.
    ///
    /// # Errors
    /// [`CheckpointError::Bytes`] if they cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(archive::to_bytes(BYTES_KIND, VERSION, &*self.0)?)
    }

    /// The moment that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`CheckpointError::Bytes`] if they are something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        Ok(Self(Box::new(archive::from_bytes(BYTES_KIND, VERSION, bytes)?)))
    }
}

/// The checkpoints of a run.
#[derive(Debug)]
pub(super) struct Checkpoints {
    directory: PathBuf,
    every: Option<Every>,
    log: RunLog,
    /// When the last one was written, and after how many steps.
    last: (Instant, usize),
    /// Whether the files are there and a checkpoint of this run.
    stands: bool,
    /// The first checkpoint that could not be written.
    failed: Option<CheckpointError>,
}

impl Checkpoints {
    fn new(directory: &ResultDirectory, every: Option<Every>) -> Self {
        Self {
            directory: directory.path().to_owned(),
            every,
            log: RunLog::new(directory.path().join(CHECKPOINT_LOG)),
            last: (Instant::now(), 0),
            stands: false,
            failed: None,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

impl Runner {
    /// Writes checkpoints into the directory of the results: one at once and then as often as
    /// `every` says, or none but when the run is interrupted. They replace those of an earlier run.
    ///
    /// # Errors
    /// [`CheckpointError::Statics`] with `every`, [`CheckpointError::File`] if the first one cannot
    /// be written.
    pub fn keep_checkpoints(
        mut self,
        directory: &ResultDirectory,
        every: Option<Every>,
    ) -> Result<Self, CheckpointError> {
        if self.scene.statics.is_some() {
            return match every {
                Some(_) => Err(CheckpointError::Statics),
                None => Ok(self),
            };
        }
        self.checkpoints = Some(Checkpoints::new(directory, every));
        if every.is_some() {
            self.write_checkpoint()?;
        }
        Ok(self)
    }

    /// Goes on from the checkpoint in a directory, and writes further ones as
    /// [`keep_checkpoints`](Self::keep_checkpoints) does. The results are, to the bit, those of a
    /// run that was never stopped, but for the seconds and the counts of work.
    ///
    /// # Errors
    /// [`CheckpointError`] if there is none, if it is of another run, or damaged.
    pub fn resume(
        mut self,
        directory: &ResultDirectory,
        every: Option<Every>,
    ) -> Result<Self, CheckpointError> {
        let moment = self.read_checkpoint(directory, every)?;
        self.go_to(moment)?;
        Ok(self)
    }

    /// Reads the checkpoint in a directory, with the pictures and lines of tables that it has, and is
    /// going to write further ones there, as [`resume`](Self::resume) does. The run goes on from the
    /// moment that is returned when it [goes there](Self::go_to): over several processes all of them
    /// together.
    ///
    /// # Errors
    /// The errors of [`resume`](Self::resume); then nothing changes.
    pub fn read_checkpoint(
        &mut self,
        directory: &ResultDirectory,
        every: Option<Every>,
    ) -> Result<SavedMoment, CheckpointError> {
        if self.scene.statics.is_some() {
            return Err(CheckpointError::Statics);
        }
        let mut checkpoints = Checkpoints::new(directory, every);
        let path = checkpoints.path(CHECKPOINT);
        let Some((_, bytes)) = open_and_read(&path, &mut OpenOptions::new())? else {
            let directory = checkpoints.directory;
            return Err(CheckpointError::None { directory });
        };
        let state: RunState = archive::from_bytes(KIND, VERSION, &bytes)
            .map_err(|source| CheckpointError::Damaged { path, source })?;
        if let Some(difference) = state.identity.difference(&self.identity) {
            let directory = checkpoints.directory;
            return Err(CheckpointError::Other {
                directory,
                difference,
            });
        }
        let mut recording = self.recording.clone();
        checkpoints.log.read(state.log, &mut recording)?;
        self.recording = recording;
        checkpoints.stands = true;
        self.checkpoints = Some(checkpoints);
        Ok(SavedMoment(Box::new(state)))
    }

    /// Goes to a moment of a run of the same scene.
    ///
    /// # Errors
    /// [`CheckpointError::Simulation`] if it does not fit; then nothing changes.
    pub fn go_to(&mut self, moment: SavedMoment) -> Result<(), CheckpointError> {
        self.go_on(*moment.0)?;
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.last.1 = self.summary.steps;
        }
        Ok(())
    }

    /// Writes a checkpoint now, if the run keeps any.
    ///
    /// # Errors
    /// [`CheckpointError::File`] with the file that cannot be written; the checkpoint before
    /// stands.
    pub fn write_checkpoint(&mut self) -> Result<(), CheckpointError> {
        let Some(checkpoints) = &mut self.checkpoints else {
            return Ok(());
        };
        checkpoints.last = (Instant::now(), self.summary.steps);
        if checkpoints.log.is_new() {
            // That of an earlier run names bytes of the log that is replaced.
            remove(&checkpoints.path(CHECKPOINT))?;
        }
        checkpoints.log.append(&self.recording)?;
        let log = checkpoints.log.end();
        let path = checkpoints.path(CHECKPOINT);
        let state = self.state(log);
        let bytes = archive::to_bytes(KIND, VERSION, &state).map_err(|source| CheckpointError::Damaged {
            path: path.clone(),
            source,
        })?;
        write_atomically(&path, |out| out.write_all(&bytes))?;
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.stands = true;
        }
        Ok(())
    }

    /// Returns the present moment as bytes: the motion, what is held and pushed, the phases of
    /// timed holds, and the sums so far, but no pictures and no lines of tables.
    ///
    /// # Errors
    /// [`CheckpointError::Bytes`] if they cannot be written.
    pub fn checkpoint_bytes(&mut self) -> Result<Vec<u8>, CheckpointError> {
        let state = self.state(LogEnd::default());
        Ok(archive::to_bytes(BYTES_KIND, VERSION, &state)?)
    }

    /// Goes to the moment of [`checkpoint_bytes`](Self::checkpoint_bytes) of a run of the same
    /// scene with the same settings. Steps from there on are, to the bit, those that came after it.
    ///
    /// # Errors
    /// [`CheckpointError::Bytes`], [`CheckpointError::OtherBytes`] or
    /// [`CheckpointError::Simulation`]; then nothing changes.
    pub fn restore_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let mut state: RunState = archive::from_bytes(BYTES_KIND, VERSION, bytes)?;
        // Bytes have no pictures, whether those runs keep any or not.
        state.identity.records = self.identity.records;
        if let Some(difference) = state.identity.difference(&self.identity) {
            return Err(CheckpointError::OtherBytes { difference });
        }
        self.go_on(state)?;
        self.forget_later_pictures();
        Ok(())
    }

    /// Returns the present state as a file from which other scenes start.
    ///
    /// # Errors
    /// [`StateFileError`] if a mapping is not defined there without the turns that it has made, and
    /// where elements are out of the model, which such a file does not hold.
    pub fn state_file(&self) -> Result<StateFile, StateFileError> {
        let simulation = &self.simulation;
        if let Some(at) = simulation.removed_elements().first() {
            return Err(StateFileError::removed(&simulation.model().nodes()[at.node].name));
        }
        StateFile::of(
            simulation.model(),
            simulation.state(),
            &self.summary.title,
            simulation.time(),
        )
    }

    /// Leaves its last state in [`Outcome::state`](super::Outcome::state).
    pub fn with_state(mut self) -> Self {
        self.saves_state = true;
        self
    }

    /// The present moment.
    fn state(&mut self, log: LogEnd) -> RunState {
        self.summary.count_work(&self.simulation, self.started.elapsed());
        RunState {
            identity: self.identity.clone(),
            motion: self.simulation.wide_checkpoint(),
            schedule: self.schedule.phases(),
            pictures: self.course.pictures,
            ledger: self.ledger,
            summary: self.summary.clone(),
            watch: self.watch.clone(),
            contacts_left_out: self.recording.contacts.left_out,
            log,
            drives: self.drives.list(),
            off_plan: self.is_off_plan(),
            probes: self.probes.state(),
            events: self.events.state(),
            variables: self.variables.state(),
            controllers: self.control.controllers.state(),
            sensors: self.control.sensors.state(),
            actuators: self.control.actuators.state(),
        }
    }

    /// Goes to a moment of this run; nothing changes if the motion does not fit.
    fn go_on(&mut self, state: RunState) -> Result<(), CheckpointError> {
        let drives = self.drives.list();
        let variables = self.variables.state();
        if drives == state.drives && variables == state.variables {
            self.simulation.restore(&state.motion)?;
        } else {
            let before = self.simulation.checkpoint();
            let (simulation, inputs) = (&mut self.simulation, &mut self.scene.inputs);
            let varied = self.variables.go_to(simulation, inputs, state.variables);
            let driven = varied.and_then(|()| self.drives.go_to(simulation, &state.drives));
            if let Err(error) = driven.and_then(|()| simulation.restore(&state.motion)) {
                self.variables.go_to(simulation, inputs, variables)?;
                self.drives.go_to(simulation, &drives)?;
                simulation.restore(&before)?;
                return Err(error.into());
            }
        }
        self.control.controllers.go_to(state.controllers);
        self.control.sensors.go_to(state.sensors);
        self.control.actuators.go_to(state.actuators);
        self.probes.set_variables(self.variables.values());
        self.schedule.set_phases(&state.schedule);
        self.course = Course {
            pictures: state.pictures,
            off_plan: state.off_plan,
            time: self.simulation.time(),
        };
        self.ledger = state.ledger;
        self.recording.contacts.left_out = state.contacts_left_out;
        self.summary.go_on(state.summary);
        self.watch = state.watch;
        self.probes.go_to(state.probes);
        self.events.go_to(state.events);
        Ok(())
    }

    /// Writes a checkpoint if one is due. One that cannot be written ends no run: the error is kept
    /// for its end.
    pub(super) fn write_due_checkpoint(&mut self, interrupted: bool) {
        let Some(checkpoints) = &self.checkpoints else {
            return;
        };
        let (time, steps) = checkpoints.last;
        let due = match checkpoints.every {
            Some(Every::Time(every)) => time.elapsed() >= every,
            Some(Every::Steps(every)) => self.summary.steps - steps >= every.get(),
            None => false,
        };
        if (due || interrupted)
            && let Err(error) = self.write_checkpoint()
            && let Some(checkpoints) = &mut self.checkpoints
        {
            checkpoints.failed.get_or_insert(error);
        }
    }

    /// Ends the checkpoints: their files, if they are there, and why one was not written.
    pub(super) fn end_checkpoints(&mut self) -> (Vec<Written>, Option<CheckpointError>) {
        let Some(checkpoints) = self.checkpoints.take() else {
            return (Vec::new(), None);
        };
        let file = |name: &str| Written {
            path: checkpoints.path(name),
            bytes: 0,
            crc32: 0,
        };
        let files = match checkpoints.stands {
            true => vec![file(CHECKPOINT), file(CHECKPOINT_LOG)],
            false => Vec::new(),
        };
        (files, checkpoints.failed)
    }
}

/// Removes the file or link at a path, if there is one.
fn remove(path: &Path) -> Result<(), ExportError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ExportError::io(path, error)),
        _ => Ok(()),
    }
}

/// The file at a path, opened for reading, and its bytes; `None` if there is none.
fn open_and_read(path: &Path, options: &mut OpenOptions) -> Result<Option<(File, Vec<u8>)>, CheckpointError> {
    let failed = |source| CheckpointError::Read {
        path: path.to_owned(),
        source,
    };
    let kind = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata.map_err(failed)?.file_type(),
    };
    if !kind.is_file() {
        let text = match kind.is_symlink() {
            true => "it is a link, and links are not followed",
            false => "it is not a regular file",
        };
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, text)));
    }
    let mut file = options.read(true).open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let size = file.metadata().map_err(failed)?.len();
    let room = bytes.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX));
    room.map_err(|error| failed(error.into()))?;
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some((file, bytes)))
}
