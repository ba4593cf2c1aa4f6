//! Checkpoints of runs: everything that a run needs to go on as if it had never stopped.
//!
//! A checkpoint is two files among the results. `checkpoint.log` grows by the pictures and lines of
//! tables since the checkpoint before; `checkpoint.pliant` has the motion, the sums so far, and how
//! much of the log belongs to it. The log is synced first, and the other file is replaced as a
//! whole: at every moment, also of a kill or a power cut, the two together are a checkpoint.

use super::Runner;
use super::holds::Phase;
use super::summary::Summary;
use crate::scene::BuiltScene;
use pliant::archive::{self, ArchiveError};
use pliant::{Checkpoint, Ledger};
use pliant_output::ExportError;
use pliant_output::atomic::{Written, write_atomically};
use pliant_output::directory::{CHECKPOINT, CHECKPOINT_LOG, ResultDirectory};
use pliant_output::recording::{ContactLine, Frame, Recording, Sample};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The versions of the structures of both files.
const STATE_VERSION: u32 = 1;
const PART_VERSION: u32 = 1;

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
    /// A file of it is no checkpoint, or was cut or changed.
    #[error("{}: {source}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why it was not read.
        source: ArchiveError,
    },
    /// A file of it cannot be read or written.
    #[error(transparent)]
    File(#[from] ExportError),
    /// The motion does not fit the scene.
    #[error("the checkpoint does not fit the scene: {0}")]
    Simulation(#[from] pliant::Error),
    /// Equilibria are found anew.
    #[error("a scene of statics has no checkpoints: its equilibria are found anew")]
    Statics,
}

/// The run that a checkpoint is of. What it does not name follows from it: a step has the same bits
/// on any number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    pliant: String,
    /// CRC-32 of the text of the scene file.
    text: u32,
    /// CRC-32 of the first state, in which the meshes are that the scene reads.
    start: u32,
    parameters: BTreeMap<String, f64>,
    step: f64,
    duration: f64,
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
    contacts_left_out: usize,
    log: LogEnd,
}

/// How much of the log belongs to a checkpoint.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct LogEnd {
    bytes: u64,
    parts: usize,
}

/// A part of the log: what was recorded between two checkpoints.
#[derive(Serialize)]
struct Part<'a> {
    frames: &'a [Frame],
    samples: &'a [Sample],
    joints: &'a [Vec<f64>],
    contacts: &'a [ContactLine],
}

/// A part of the log that was read.
#[derive(Deserialize)]
struct ReadPart {
    frames: Vec<Frame>,
    samples: Vec<Sample>,
    joints: Vec<Vec<f64>>,
    contacts: Vec<ContactLine>,
}

/// The checkpoints of a run.
#[derive(Debug)]
pub(super) struct Checkpoints {
    directory: PathBuf,
    every: Option<Every>,
    /// The log, from the first checkpoint on.
    log: Option<File>,
    end: LogEnd,
    /// Frames, samples, lines of joints and of contacts that are in the log.
    logged: [usize; 4],
    /// When the last one was written, and after how many steps.
    last: (Instant, usize),
    /// Whether the files are there and a checkpoint of this run.
    stands: bool,
    /// The first checkpoint that could not be written.
    failed: Option<CheckpointError>,
}

impl Identity {
    pub(super) fn new(scene: &BuiltScene, text: &str, simulation: &pliant::Simulation) -> Self {
        let state = simulation.state();
        let mut start = crc32fast::Hasher::new();
        for numbers in [&state.positions, &state.velocities, &state.internal] {
            numbers.iter().for_each(|x| start.update(&x.to_le_bytes()));
        }
        Self {
            pliant: env!("CARGO_PKG_VERSION").to_owned(),
            text: crc32fast::hash(text.as_bytes()),
            start: start.finalize(),
            parameters: scene.parameters.clone(),
            step: scene.plan.step,
            duration: scene.plan.duration,
        }
    }

    /// The first difference in the user's words.
    fn difference(&self, here: &Self) -> Option<String> {
        let both =
            |what: &str, there: String, here: String| format!("{what} is {there} there and {here} here");
        let values = |identity: &Self| {
            let own = [
                ("the step (s)", identity.step),
                ("the duration (s)", identity.duration),
            ];
            let own = own.map(|(name, value)| (name.to_owned(), value));
            let named = identity.parameters.iter();
            let named = named.map(|(name, value)| (format!("parameter `{name}`"), *value));
            named.chain(own).collect::<Vec<_>>()
        };
        if self.pliant != here.pliant {
            return Some(both("Pliant's version", self.pliant.clone(), here.pliant.clone()));
        }
        if self.text != here.text {
            return Some("the scene file has changed since".to_owned());
        }
        let mut pairs = values(self).into_iter().zip(values(here));
        if let Some(((name, there), (_, here))) = pairs.find(|(a, b)| a.1.to_bits() != b.1.to_bits()) {
            return Some(both(&name, there.to_string(), here.to_string()));
        }
        (self.start != here.start).then(|| "a file that the scene reads has changed since".to_owned())
    }
}

impl Checkpoints {
    fn new(directory: &ResultDirectory, every: Option<Every>) -> Self {
        Self {
            directory: directory.path().to_owned(),
            every,
            log: None,
            end: LogEnd::default(),
            logged: [0; 4],
            last: (Instant::now(), 0),
            stands: false,
            failed: None,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Appends what was recorded since the last checkpoint to the log, and syncs it.
    fn append(&mut self, recording: &Recording) -> Result<(), CheckpointError> {
        let path = self.path(CHECKPOINT_LOG);
        let [frames, samples, joints, contacts] = self.logged;
        let part = Part {
            frames: &recording.frames[frames..],
            samples: &recording.samples[samples..],
            joints: &recording.joints.lines[joints..],
            contacts: &recording.contacts.lines[contacts..],
        };
        let bytes = archive::to_bytes("part of a run", PART_VERSION, &part);
        let bytes = bytes.map_err(|source| CheckpointError::Damaged {
            path: path.clone(),
            source,
        })?;
        if self.log.is_none() {
            // The state names bytes of the log before: without a log it is none.
            remove(&self.path(CHECKPOINT))?;
            remove(&path)?;
        }
        self.append_bytes(&path, &bytes)
            .map_err(|source| ExportError::io(&path, source))?;
        self.end.bytes += bytes.len() as u64;
        self.end.parts += 1;
        self.logged = lengths(recording);
        Ok(())
    }

    fn append_bytes(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let log = match &mut self.log {
            Some(log) => log,
            None => self.log.insert(File::create_new(path)?),
        };
        // A part that was not written whole, as on a full disk, is written over.
        log.set_len(self.end.bytes)?;
        log.seek(SeekFrom::Start(self.end.bytes))?;
        log.write_all(bytes)?;
        log.sync_data()
    }
}

/// Lengths of what a recording grows by.
fn lengths(recording: &Recording) -> [usize; 4] {
    [
        recording.frames.len(),
        recording.samples.len(),
        recording.joints.lines.len(),
        recording.contacts.lines.len(),
    ]
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
        if self.scene.statics.is_some() {
            return Err(CheckpointError::Statics);
        }
        let mut checkpoints = Checkpoints::new(directory, every);
        let path = checkpoints.path(CHECKPOINT);
        let bytes = match read(&path)? {
            Some((_, bytes)) => bytes,
            None => {
                let directory = checkpoints.directory;
                return Err(CheckpointError::None { directory });
            }
        };
        let state: RunState = archive::from_bytes("run", STATE_VERSION, &bytes)
            .map_err(|source| CheckpointError::Damaged { path, source })?;
        if let Some(difference) = state.identity.difference(&self.identity) {
            let directory = checkpoints.directory;
            return Err(CheckpointError::Other {
                directory,
                difference,
            });
        }
        self.read_log(&mut checkpoints, state.log)?;
        self.simulation.restore(&state.motion)?;
        self.schedule.set_phases(&state.schedule);
        self.pictures = state.pictures;
        self.ledger = state.ledger;
        self.recording.contacts.left_out = state.contacts_left_out;
        self.summary.go_on(state.summary);
        checkpoints.last.1 = self.summary.steps;
        self.checkpoints = Some(checkpoints);
        Ok(self)
    }

    /// Takes the pictures and lines of a log in place of those that there are.
    fn read_log(&mut self, checkpoints: &mut Checkpoints, end: LogEnd) -> Result<(), CheckpointError> {
        let path = checkpoints.path(CHECKPOINT_LOG);
        let damaged = |source| CheckpointError::Damaged {
            path: path.clone(),
            source,
        };
        let missing = |found| ArchiveError::Length {
            kind: "log of a run",
            expected: end.bytes,
            found,
        };
        let (log, bytes) = read(&path)?.ok_or_else(|| damaged(missing(0)))?;
        let length = usize::try_from(end.bytes).unwrap_or(usize::MAX);
        let whole = bytes.get(..length);
        let mut rest = whole.ok_or_else(|| damaged(missing(bytes.len() as u64)))?;
        let recording = &mut self.recording;
        recording.frames.clear();
        recording.samples.clear();
        recording.joints.lines.clear();
        for _ in 0..end.parts {
            let (part, behind) =
                archive::split_first::<ReadPart>("part of a run", PART_VERSION, rest).map_err(damaged)?;
            recording.frames.extend(part.frames);
            recording.samples.extend(part.samples);
            recording.joints.lines.extend(part.joints);
            recording.contacts.lines.extend(part.contacts);
            rest = behind;
        }
        if !rest.is_empty() {
            return Err(damaged(missing((bytes.len() - rest.len()) as u64)));
        }
        checkpoints.log = Some(log);
        checkpoints.end = end;
        checkpoints.logged = lengths(recording);
        checkpoints.stands = true;
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
        checkpoints.append(&self.recording)?;
        self.summary.count_work(&self.simulation, self.started.elapsed());
        let state = RunState {
            identity: self.identity.clone(),
            motion: self.simulation.checkpoint(),
            schedule: self.schedule.phases(),
            pictures: self.pictures,
            ledger: self.ledger,
            summary: self.summary.clone(),
            contacts_left_out: self.recording.contacts.left_out,
            log: checkpoints.end,
        };
        let path = checkpoints.path(CHECKPOINT);
        let bytes =
            archive::to_bytes("run", STATE_VERSION, &state).map_err(|source| CheckpointError::Damaged {
                path: path.clone(),
                source,
            })?;
        write_atomically(&path, |out| out.write_all(&bytes))?;
        checkpoints.stands = true;
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

/// The file at a path, opened for reading and writing, and its bytes; `None` if there is none.
fn read(path: &Path) -> Result<Option<(File, Vec<u8>)>, ExportError> {
    let failed = |source| ExportError::io(path, source);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(metadata) if !metadata.is_file() => {
            let text = "it is no file: links are not followed";
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, text)));
        }
        Ok(_) => {}
    }
    let mut file = File::options()
        .read(true)
        .write(true)
        .open(path)
        .map_err(failed)?;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes).map_err(failed)?;
    Ok(Some((file, bytes)))
}
