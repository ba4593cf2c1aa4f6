//! The directory of a run's results: it belongs to one run at a time, and holds the files of one.
//!
//! A run [takes](ResultDirectory::take) its directory by a lock before its first step. Ahead of its
//! first file it [clears](ResultDirectory::clear) those of an earlier run, and after its last one
//! it [closes](ResultDirectory::close) the set with `manifest.json`, which lists all of them. Files
//! that no run of Pliant wrote are left alone, and nothing is written through links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ExportError;
use super::atomic::{Written, name_of_partial, write_atomically};
use super::vtk::{FRAMES, is_frame};

/// Name of the manifest.
pub const MANIFEST: &str = "manifest.json";

/// Names of all results beside the frames.
pub const RESULTS: [&str; 17] = [
    TIMED,
    "energy.csv",
    "joints.csv",
    "probes.csv",
    "contacts.csv",
    "path.csv",
    "energy.svg",
    "play.html",
    "particles.pvd",
    "bodies.pvd",
    "solids.pvd",
    "sheets.pvd",
    "rods.pvd",
    "trajectory.csv",
    "joints.parquet",
    "probes.parquet",
    "trajectory.parquet",
];

/// The file of a checkpoint that has the motion.
pub const CHECKPOINT: &str = "checkpoint.pliant";

/// The file of a checkpoint that has what was recorded.
pub const CHECKPOINT_LOG: &str = "checkpoint.log";

/// The numbers of a run.
pub const RESULT: &str = "result.json";

/// The result that holds seconds of the computer, so that its bytes differ from run to run.
const TIMED: &str = RESULT;

/// The file that is locked. It is empty and stays: removing it would let two runs lock two files of
/// this name.
const LOCK: &str = ".pliant.lock";

/// Most bytes of a manifest: two million frames.
const LARGEST: u64 = 256 << 20;

/// Name and version of the manifest's structure.
const FORMAT: &str = "pliant-manifest-1";

/// A list of the files of one run, as it stands in `manifest.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name and version of this structure.
    pub format: String,
    /// Version of Pliant.
    pub pliant: String,
    /// The scene file as the user named it.
    pub scene: String,
    /// `ok` or `failed`, as in `result.json`; `writing` while the files are being written.
    pub status: String,
    /// All files, in order of writing.
    pub files: Vec<ManifestEntry>,
    /// Names of files that the run was to write and did not. Empty if the set is complete.
    pub unwritten: Vec<String>,
}

/// A file of a [`Manifest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// Path from the directory, with forward slashes.
    pub name: String,
    /// Size; `None` of `result.json` and of checkpoints, which have the seconds of the run in them:
    /// manifests of equal results are equal.
    pub bytes: Option<u64>,
    /// CRC-32 of zip and gzip, in eight hexadecimal digits; `None` where the size is.
    pub crc32: Option<String>,
}

/// The run that a manifest speaks of.
#[derive(Clone, Copy, Debug)]
pub struct RunInfo<'a> {
    /// Version of Pliant.
    pub pliant: &'a str,
    /// The scene file as the user named it.
    pub scene: &'a str,
    /// `ok` or `failed`.
    pub status: &'a str,
}

impl Manifest {
    fn new(run: RunInfo<'_>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            pliant: run.pliant.to_owned(),
            scene: run.scene.to_owned(),
            status: run.status.to_owned(),
            ..Self::default()
        }
    }

    /// Reads the manifest of a directory; `None` if it has none.
    ///
    /// # Errors
    /// [`ExportError::NoManifest`] if the file of that name is something else, [`ExportError::Io`]
    /// if it cannot be read.
    pub fn read(directory: &Path) -> Result<Option<Self>, ExportError> {
        let path = directory.join(MANIFEST);
        let Some(kind) = kind_of(&path)? else {
            return Ok(None);
        };
        let stranger = || ExportError::NoManifest { path: path.clone() };
        if !kind.is_file() {
            return Err(stranger());
        }
        let failed = |source| ExportError::io(&path, source);
        let file = File::open(&path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() > LARGEST {
            return Err(stranger());
        }
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes).map_err(failed)?;
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|_| stranger())?;
        if manifest.format == FORMAT {
            Ok(Some(manifest))
        } else {
            Err(stranger())
        }
    }

    fn write(&self, directory: &Path) -> Result<Written, ExportError> {
        write_atomically(&directory.join(MANIFEST), |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })
    }
}

/// Takes the lock of a directory (created if missing), which is had until the file is dropped.
///
/// # Errors
/// [`ExportError::Busy`] if another run has it; [`ExportError::Link`] if it or its lock is a
/// symbolic link; [`ExportError::Io`] if it cannot be made or locked.
pub fn lock(path: &Path) -> Result<File, ExportError> {
    refuse_link(path)?;
    fs::create_dir_all(path).map_err(|source| ExportError::io(path, source))?;
    let name = path.join(LOCK);
    refuse_link(&name)?;
    let lock = open_lock(&name).map_err(|source| ExportError::io(&name, source))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(ExportError::Busy {
            path: path.to_path_buf(),
        }),
        Err(TryLockError::Error(source)) => Err(ExportError::io(&name, source)),
    }
}

/// A directory that no other run writes into while this value lives, or until its process ends.
#[derive(Debug)]
pub struct ResultDirectory {
    path: PathBuf,
    lock: File,
}

impl ResultDirectory {
    /// Takes a directory (created if missing). Nothing in it changes but for the lock.
    ///
    /// # Errors
    /// [`ExportError::Busy`] if another run has it; [`ExportError::Link`] if it, its `frames` or
    /// its lock is a symbolic link; [`ExportError::NoManifest`] if it holds a `manifest.json` of
    /// another program; [`ExportError::Io`] if it cannot be made or locked.
    pub fn take(path: &Path) -> Result<Self, ExportError> {
        let lock = lock(path)?;
        refuse_link(&path.join(FRAMES))?;
        Manifest::read(path)?;
        Ok(Self {
            path: path.to_path_buf(),
            lock,
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the results of an earlier run, ahead of the files `names` of a new one.
    ///
    /// These are the files that its manifest lists, as far as they have names of results, and those
    /// that the new ones replace. Where there is no manifest, or that of a run which was stopped
    /// while it wrote, all files with names of frames are removed too. Temporary files of results
    /// go in any case, and so do checkpoints but the files `kept` of the run's own. From now on
    /// until [`close`](Self::close) the manifest has the status `writing`.
    ///
    /// # Errors
    /// The errors of [`take`](Self::take), for the directory may have changed since;
    /// [`ExportError::Io`] if a file cannot be removed.
    pub fn clear(&mut self, run: RunInfo<'_>, names: &[&str], kept: &[Written]) -> Result<(), ExportError> {
        if !self.holds() {
            *self = Self::take(&self.path)?;
        }
        refuse_link(&self.path.join(FRAMES))?;
        let earlier = Manifest::read(&self.path)?;
        let of_one_run = earlier.as_ref().is_some_and(|m| m.unwritten.is_empty());
        let earlier = earlier.unwrap_or_default();
        let listed = earlier.files.into_iter().map(|file| file.name);
        let new = names.iter().map(|name| (*name).to_owned());
        let mut stale: BTreeSet<String> = listed.chain(earlier.unwritten).chain(new).collect();
        for name in [CHECKPOINT, CHECKPOINT_LOG] {
            stale.remove(name);
            if kept.is_empty() {
                remove(&self.path.join(name))?;
            }
        }
        let mut manifest = Manifest::new(RunInfo {
            status: "writing",
            ..run
        });
        manifest.unwritten = stale.iter().cloned().collect();
        if of_one_run {
            // A complete set stays if there is no room for as much as this manifest.
            manifest.write(&self.path)?;
            return self.remove_stale(&stale, true);
        }
        // What is left of an incomplete set may have filled the disk.
        self.remove_stale(&stale, false)?;
        manifest.write(&self.path).map(drop)
    }

    /// Removes the checkpoint of a run that is complete.
    ///
    /// # Errors
    /// [`ExportError::Io`].
    pub fn remove_checkpoint(&self) -> Result<(), ExportError> {
        // Without the log the other file would be none.
        remove(&self.path.join(CHECKPOINT))?;
        remove(&self.path.join(CHECKPOINT_LOG))
    }

    /// Removes temporary files of results, and results that are stale: of the frames these are all
    /// if no manifest of a complete set knows them.
    fn remove_stale(&self, stale: &BTreeSet<String>, are_listed: bool) -> Result<(), ExportError> {
        for name in names_in(&self.path)? {
            let ours = |n: &str| n == MANIFEST || n == CHECKPOINT || RESULTS.contains(&n);
            let leftover = name_of_partial(&name).is_some_and(ours);
            if leftover || (RESULTS.contains(&name.as_str()) && stale.contains(&name)) {
                remove(&self.path.join(&name))?;
            }
        }
        let frames = self.path.join(FRAMES);
        if !kind_of(&frames)?.is_some_and(|kind| kind.is_dir()) {
            return Ok(());
        }
        for name in names_in(&frames)? {
            let is_stale = || !are_listed || stale.contains(&format!("{FRAMES}/{name}"));
            if name_of_partial(&name).is_some_and(is_frame) || (is_frame(&name) && is_stale()) {
                remove(&frames.join(&name))?;
            }
        }
        // It is not empty if somebody else has files in it.
        let _ = fs::remove_dir(&frames);
        Ok(())
    }

    /// Writes the manifest of a set of files: those that were written, and those of `names` that
    /// were not.
    ///
    /// # Errors
    /// [`ExportError::Io`].
    pub fn close(&self, run: RunInfo<'_>, names: &[&str], files: &[Written]) -> Result<(), ExportError> {
        let mut manifest = Manifest::new(run);
        manifest.files = files.iter().map(|file| self.entry(file)).collect();
        let written: BTreeSet<&str> = manifest.files.iter().map(|file| file.name.as_str()).collect();
        let missing = names.iter().filter(|name| !written.contains(**name));
        manifest.unwritten = missing.map(|name| (*name).to_owned()).collect();
        manifest.write(&self.path)?;
        Ok(())
    }

    /// Writes the files of a run that was made in another directory, as they were there, in place
    /// of those of an earlier run; by name, with forward slashes. The manifest, if it is among
    /// them, is the last; without it, they are a checkpoint, and no result changes.
    ///
    /// # Errors
    /// [`ExportError::Io`] for a name that no file of a run has, before anything is written, and
    /// for a file that cannot be written; [`ExportError::NoManifest`] if the manifest is none; the
    /// errors of [`take`](Self::take).
    pub fn receive(&mut self, files: &BTreeMap<String, Vec<u8>>) -> Result<(), ExportError> {
        if let Some(name) = files.keys().find(|name| !is_of_a_run(name)) {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "no file of a run has this name");
            return Err(ExportError::io(&self.path.join(name), source));
        }
        if let Some(bytes) = files.get(MANIFEST) {
            let stranger = |_| ExportError::NoManifest {
                path: self.path.join(MANIFEST),
            };
            let manifest: Manifest = serde_json::from_slice(bytes).map_err(stranger)?;
            let run = RunInfo {
                pliant: &manifest.pliant,
                scene: &manifest.scene,
                status: &manifest.status,
            };
            let names: Vec<&str> = manifest.files.iter().map(|file| file.name.as_str()).collect();
            self.clear(run, &names, &[])?;
        }
        // The checkpoint names bytes of its log: neither may stand beside another's.
        if files.contains_key(CHECKPOINT) {
            remove(&self.path.join(CHECKPOINT))?;
        }
        let order = |name: &str| [CHECKPOINT, MANIFEST].iter().position(|last| *last == name);
        let mut names: Vec<&String> = files.keys().collect();
        names.sort_by_key(|name| order(name).map_or(0, |place| place + 1));
        for name in names {
            let path = self.path.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|source| ExportError::io(parent, source))?;
            }
            write_atomically(&path, |out| out.write_all(&files[name]))?;
        }
        Ok(())
    }

    fn entry(&self, file: &Written) -> ManifestEntry {
        let name = file.path.strip_prefix(&self.path).unwrap_or(&file.path);
        let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        let name = parts.join("/");
        let is_timed = [TIMED, CHECKPOINT, CHECKPOINT_LOG].contains(&name.as_str());
        ManifestEntry {
            name,
            bytes: (!is_timed).then_some(file.bytes),
            crc32: (!is_timed).then(|| format!("{:08x}", file.crc32)),
        }
    }

    /// Whether the lock that is held is still that of the directory: somebody may have removed or
    /// moved it. Systems other than Unix keep what is open.
    fn holds(&self) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let held = self.lock.metadata();
            let there = fs::symlink_metadata(self.path.join(LOCK));
            matches!((held, there), (Ok(a), Ok(b)) if (a.dev(), a.ino()) == (b.dev(), b.ino()))
        }
        #[cfg(not(unix))]
        {
            self.lock.metadata().is_ok()
        }
    }
}

/// Whether a file of a run has this name, from its directory and with forward slashes.
fn is_of_a_run(name: &str) -> bool {
    let frame = name.split_once('/').filter(|(folder, _)| *folder == FRAMES);
    [MANIFEST, CHECKPOINT, CHECKPOINT_LOG].contains(&name)
        || RESULTS.contains(&name)
        || frame.is_some_and(|(_, frame)| is_frame(frame))
}

/// Opens the lock, which is never written to. Creating and opening are apart: what opens what is
/// there and else creates it would create the target of a link.
fn open_lock(path: &Path) -> io::Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !fs::symlink_metadata(path)?.is_file() {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "the lock is not a file",
                ));
            }
            File::options().write(true).open(path)
        }
        result => result,
    }
}

/// The kind of what is at a path, not of what a link there leads to; `None` if there is nothing.
fn kind_of(path: &Path) -> Result<Option<fs::FileType>, ExportError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ExportError::io(path, source)),
    }
}

/// Refuses a symbolic link, wherever it leads.
pub(crate) fn refuse_link(path: &Path) -> Result<(), ExportError> {
    match fs::read_link(path) {
        Ok(target) => Err(ExportError::Link {
            path: path.to_path_buf(),
            target,
        }),
        Err(_) => Ok(()),
    }
}

/// Names in a directory, without those that are not Unicode: none of ours is.
fn names_in(directory: &Path) -> Result<Vec<String>, ExportError> {
    let fail = |source| ExportError::io(directory, source);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(fail)? {
        names.extend(entry.map_err(fail)?.file_name().into_string());
    }
    Ok(names)
}

/// Removes a file or a link, and leaves a directory alone.
fn remove(path: &Path) -> Result<(), ExportError> {
    match kind_of(path)? {
        Some(kind) if !kind.is_dir() => fs::remove_file(path).map_err(|source| ExportError::io(path, source)),
        _ => Ok(()),
    }
}
