//! The recording of a run, in a file that only grows.

use super::{CheckpointError, open_and_read, remove};
use pliant::archive::{self, ArchiveError};
use pliant_output::ExportError;
use pliant_output::recording::{ContactLine, Frame, Recording, Sample};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// The kind and version of each part in bytes.
const KIND: &str = "part of a log";
const VERSION: u32 = 1;

/// How much of the log belongs to a checkpoint.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct LogEnd {
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
    probes: &'a [Vec<f64>],
}

/// A part of the log that was read.
#[derive(Deserialize)]
struct ReadPart {
    frames: Vec<Frame>,
    samples: Vec<Sample>,
    joints: Vec<Vec<f64>>,
    contacts: Vec<ContactLine>,
    #[serde(default)]
    probes: Vec<Vec<f64>>,
}

/// The log of a run.
#[derive(Debug)]
pub(super) struct RunLog {
    path: PathBuf,
    /// The file, from the first part on.
    file: Option<File>,
    /// The whole parts in it.
    end: LogEnd,
    /// Frames, samples, lines of joints, of contacts and of probes that are in them.
    logged: [usize; 5],
}

impl RunLog {
    /// A log that will replace that of an earlier run.
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            end: LogEnd::default(),
            logged: [0; 5],
        }
    }

    /// Whether nothing was written yet.
    pub(super) fn is_new(&self) -> bool {
        self.file.is_none()
    }

    /// The whole parts so far.
    pub(super) fn end(&self) -> LogEnd {
        self.end
    }

    /// Appends what was recorded since the last part, and syncs it.
    pub(super) fn append(&mut self, recording: &Recording) -> Result<(), CheckpointError> {
        let [frames, samples, joints, contacts, probes] = self.logged;
        let part = Part {
            frames: &recording.frames[frames..],
            samples: &recording.samples[samples..],
            joints: &recording.joints.lines[joints..],
            contacts: &recording.contacts.lines[contacts..],
            probes: &recording.probes.lines[probes..],
        };
        let bytes = archive::to_bytes(KIND, VERSION, &part).map_err(|source| self.damaged(source))?;
        if self.is_new() {
            remove(&self.path)?;
        }
        self.append_bytes(&bytes)
            .map_err(|source| ExportError::io(&self.path, source))?;
        self.end.bytes += bytes.len() as u64;
        self.end.parts += 1;
        self.logged = lengths(recording);
        Ok(())
    }

    fn append_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(File::create_new(&self.path)?),
        };
        // A part that was not written whole, as on a full disk, is written over.
        file.set_len(self.end.bytes)?;
        file.seek(SeekFrom::Start(self.end.bytes))?;
        file.write_all(bytes)?;
        file.sync_data()
    }

    /// Takes what the log holds up to an end in place of what was recorded, and goes on from there.
    pub(super) fn read(&mut self, end: LogEnd, recording: &mut Recording) -> Result<(), CheckpointError> {
        let missing = |found: usize| ArchiveError::Length {
            kind: "log of a run",
            expected: end.bytes,
            found: found as u64,
        };
        let Some((file, bytes)) = open_and_read(&self.path, OpenOptions::new().write(true))? else {
            return Err(CheckpointError::Read {
                path: self.path.clone(),
                source: io::Error::new(io::ErrorKind::NotFound, "it is missing"),
            });
        };
        let length = usize::try_from(end.bytes).unwrap_or(usize::MAX);
        let Some(mut rest) = bytes.get(..length) else {
            return Err(self.damaged(missing(bytes.len())));
        };
        recording.frames.clear();
        recording.samples.clear();
        recording.joints.lines.clear();
        recording.contacts.lines.clear();
        recording.probes.lines.clear();
        for _ in 0..end.parts {
            let first = archive::split_first::<ReadPart>(KIND, VERSION, rest);
            let (part, behind) = first.map_err(|source| self.damaged(source))?;
            recording.frames.extend(part.frames);
            recording.samples.extend(part.samples);
            recording.joints.lines.extend(part.joints);
            recording.contacts.lines.extend(part.contacts);
            recording.probes.lines.extend(part.probes);
            rest = behind;
        }
        if !rest.is_empty() {
            return Err(self.damaged(missing(length - rest.len())));
        }
        self.file = Some(file);
        self.end = end;
        self.logged = lengths(recording);
        Ok(())
    }

    fn damaged(&self, source: ArchiveError) -> CheckpointError {
        CheckpointError::Damaged {
            path: self.path.clone(),
            source,
        }
    }
}

/// Lengths of what a recording grows by.
fn lengths(recording: &Recording) -> [usize; 5] {
    [
        recording.frames.len(),
        recording.samples.len(),
        recording.joints.lines.len(),
        recording.contacts.lines.len(),
        recording.probes.lines.len(),
    ]
}
