//! The manifest of a sweep: its jobs, each of which stands alone.

use crate::SweepError;
use crate::quantities::flaw_of;
use pliant_mesh_io::read_file;
use pliant_output::ExportError;
use pliant_output::atomic::write_atomically;
use pliant_output::directory::lock;
use pliant_output::sealed::crc32;
use pliant_scene::{Diagnostic, SourceSpan};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Component, Path};

/// Name of the file.
pub const MANIFEST: &str = "manifest.json";

/// Name and version of the structure.
pub const FORMAT: &str = "pliant-sweep-1";

/// The program whose jobs are run from here.
pub const PROGRAM: &str = "pliant";

/// The largest manifest, in bytes.
const LARGEST: u64 = 1 << 30;

/// A sweep. All paths are from the directory of the manifest, with forward slashes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name and version of this structure.
    pub format: String,
    /// Version of Pliant that made it.
    pub pliant: String,
    /// The scene file, for people to read: what is run are the arguments of the jobs.
    pub scene: String,
    /// The scene file and the meshes that it reads, as they were.
    pub inputs: Vec<Input>,
    /// Parameters that differ from the scene's, in the order of the table.
    pub parameters: Vec<String>,
    /// Paths of quantities that were asked for, in the order of the table.
    pub quantities: Vec<String>,
    /// The jobs, in the order of the table.
    pub jobs: Vec<Job>,
}

/// A file that the jobs read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Where it is.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// CRC-32 of zip and gzip, in eight hexadecimal digits.
    pub crc32: String,
}

/// One command, run in the directory of the manifest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Its name, in the table too.
    pub id: String,
    /// Values of the parameters that differ from the scene's.
    pub parameters: BTreeMap<String, f64>,
    /// The program.
    pub program: String,
    /// Its arguments, as they are passed: no shell reads them.
    pub arguments: Vec<String>,
    /// Directory of its results. No other job writes there.
    pub directory: String,
    /// The file with its result, a JSON document.
    pub result: String,
    /// Values that the result must hold to be this job's, by path. A result that holds others is
    /// of another scene, of other parameters or of another version.
    pub expect: BTreeMap<String, Value>,
}

/// Takes the directory of a sweep (created if missing) until the returned file is dropped: no other
/// sweep and no run writes into it.
///
/// # Errors
/// [`SweepError::Write`].
pub fn take(directory: &Path) -> Result<File, SweepError> {
    Ok(lock(directory)?)
}

impl Manifest {
    /// Reads and checks a manifest.
    ///
    /// # Errors
    /// [`SweepError::Read`]; [`SweepError::Place`] for what is no manifest of this version, with a
    /// caret where it is no JSON of this structure.
    pub fn load(path: &Path) -> Result<Self, SweepError> {
        let file = path.display().to_string();
        let bytes = read_file(path, LARGEST).map_err(|source| SweepError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::from_text(&file, &String::from_utf8_lossy(&bytes))
    }

    /// Reads and checks a manifest from a text; `file` is its name in messages.
    ///
    /// # Errors
    /// [`SweepError::Place`].
    pub fn from_text(file: &str, text: &str) -> Result<Self, SweepError> {
        let wrong = |message: String, place| {
            let (file, help) = (file.to_owned(), None);
            SweepError::Place(Box::new(Diagnostic {
                message,
                file,
                place,
                help,
                notes: Vec::new(),
            }))
        };
        let manifest: Self = serde_json::from_str(text).map_err(|error| {
            let line = error.line().max(1);
            let place = SourceSpan {
                line,
                column: error.column().max(1),
                width: 1,
                text: text.lines().nth(line - 1).unwrap_or("").to_owned(),
            };
            // The place is drawn.
            let said = error.to_string();
            let said = said
                .rsplit_once(" at line ")
                .map_or(said.as_str(), |(said, _)| said);
            wrong(format!("this is no manifest of a sweep: {said}"), Some(place))
        })?;
        match manifest.flaw() {
            None => Ok(manifest),
            Some(flaw) => Err(wrong(flaw, None)),
        }
    }

    /// A sentence about the first flaw, if there is one.
    fn flaw(&self) -> Option<String> {
        if self.format != FORMAT {
            return Some(format!(
                "the format is `{}`, this program reads `{FORMAT}`",
                self.format
            ));
        }
        if let Some(flaw) = self.quantities.iter().find_map(|path| flaw_of(path)) {
            return Some(flaw);
        }
        let all: BTreeSet<&Path> = self.jobs.iter().map(|job| Path::new(&job.directory)).collect();
        let is_within_another = |directory: &str| {
            // The last of them is the directory of the manifest.
            let above = Path::new(directory).ancestors().skip(1);
            let mut above = above.filter(|place| !place.as_os_str().is_empty());
            above.any(|place| all.contains(place))
        };
        let (mut ids, mut directories) = (BTreeSet::new(), BTreeSet::new());
        self.jobs.iter().find_map(|job| {
            let of = |flaw: &str| Some(format!("job `{}` {flaw}", job.id.escape_debug()));
            if !ids.insert(&job.id) {
                return of("is there twice");
            }
            if !is_inside(&job.directory) || !directories.insert(Path::new(&job.directory)) {
                return of("must have a directory of its own below that of the manifest");
            }
            if is_within_another(&job.directory) {
                return of("must have a directory that is not inside another job's");
            }
            if Path::new(&job.result).parent() != Some(Path::new(&job.directory)) {
                return of("must have its result in its directory");
            }
            if self
                .parameters
                .iter()
                .any(|name| !job.parameters.contains_key(name))
            {
                return of("lacks a value of a parameter of the sweep");
            }
            None
        })
    }

    /// The manifest as a text that can be read again.
    ///
    /// # Errors
    /// [`SweepError::Setting`] for what would not be read again.
    pub fn to_text(&self) -> Result<String, SweepError> {
        if let Some(flaw) = self.flaw() {
            return Err(SweepError::setting(flaw, None));
        }
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| SweepError::setting(format!("this is no manifest: {error}"), None))?;
        if text.len() as u64 >= LARGEST {
            let message = format!(
                "the manifest of {} jobs is larger than {LARGEST} bytes",
                self.jobs.len()
            );
            let help = "make several sweeps of it, each with its own `--out`".to_owned();
            return Err(SweepError::setting(message, Some(help)));
        }
        Ok(text + "\n")
    }

    /// Writes it into a directory, unless it is there already.
    ///
    /// # Errors
    /// [`SweepError::Setting`] for what would not be read again; [`SweepError::Write`], also where
    /// `manifest.json` is that of another program or of a run.
    pub fn write(&self, directory: &Path) -> Result<(), SweepError> {
        let path = directory.join(MANIFEST);
        let text = self.to_text()?;
        if std::fs::symlink_metadata(&path).is_ok() {
            let there = read_file(&path, LARGEST).map_err(|error| ExportError::io(&path, error))?;
            if there == text.as_bytes() {
                return Ok(());
            }
            if !is_ours(&there) {
                return Err(ExportError::NoManifest { path }.into());
            }
        }
        write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
        Ok(())
    }

    /// The first of the inputs that is not as it was, in a sentence.
    pub fn changed_input(&self, directory: &Path) -> Option<String> {
        self.inputs.iter().find_map(|input| {
            let most = input.bytes;
            let is_same = match read_file(&directory.join(&input.path), most) {
                Ok(bytes) => {
                    bytes.len() as u64 == input.bytes && format!("{:08x}", crc32(&bytes)) == input.crc32
                }
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => false,
                Err(error) => return Some(format!("cannot read {}: {error}", input.path)),
            };
            (!is_same).then(|| format!("{} has changed since the manifest was written", input.path))
        })
    }
}

/// Whether bytes are the manifest of a sweep.
fn is_ours(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|value| value["format"] == FORMAT)
}

/// Whether a path leads below where it begins, whatever is there.
fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn job(id: &str) -> Job {
        Job {
            id: id.to_owned(),
            parameters: BTreeMap::from([("k".to_owned(), 0.1)]),
            program: PROGRAM.to_owned(),
            arguments: vec!["run".to_owned()],
            directory: format!("jobs/{id}"),
            result: format!("jobs/{id}/result.json"),
            expect: BTreeMap::from([("parameters.k".to_owned(), 0.1.into())]),
        }
    }

    fn manifest() -> Manifest {
        Manifest {
            format: FORMAT.to_owned(),
            parameters: vec!["k".to_owned()],
            jobs: vec![job("0001"), job("0002")],
            ..Manifest::default()
        }
    }

    proptest! {
        /// Any values of parameters come back to the bit.
        #[test]
        fn manifests_come_back(values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 1..5)) {
            let mut written = manifest();
            written.jobs = values.iter().enumerate().map(|(k, value)| {
                let mut job = job(&format!("{k:04}"));
                job.parameters.insert("k".to_owned(), *value);
                job.expect.insert("parameters.k".to_owned(), (*value).into());
                job
            }).collect();
            let text = written.to_text().unwrap();
            let read = Manifest::from_text("manifest.json", &text).unwrap();
            prop_assert_eq!(&read, &written);
            for (job, value) in read.jobs.iter().zip(&values) {
                prop_assert_eq!(job.parameters["k"].to_bits(), value.to_bits());
            }
            prop_assert_eq!(read.to_text().unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_manifest_is_told() {
        let read = |text: &str| Manifest::from_text("m.json", text).unwrap_err().to_string();
        let text = manifest().to_text().unwrap();
        assert!(read("").contains("no manifest of a sweep: EOF"), "{}", read(""));
        let cut = read(&text[..text.len() / 2]);
        assert!(cut.contains("EOF") && cut.contains('^'), "{cut}");
        let typo = read(&text.replacen("\"program\"", "\"programm\"", 1));
        assert!(
            typo.contains("unknown field `programm`") && typo.contains("^"),
            "{typo}"
        );
        let word = read(&text.replacen("0.1", "\"much\"", 1));
        assert!(
            word.contains("expected f64") && word.contains("m.json:"),
            "{word}"
        );
        for (from, to, message) in [
            (FORMAT, "pliant-sweep-9", "the format is `pliant-sweep-9`"),
            ("\"0002\"", "\"0001\"", "job `0001` is there twice"),
            ("\"jobs/0002\"", "\"jobs/0001\"", "directory of its own"),
            ("\"jobs/0002\"", "\"jobs//0001\"", "directory of its own"),
            ("\"jobs/0002\"", "\"jobs/0001/a/b\"", "not inside another job's"),
            ("\"jobs/0002\"", "\"../0002\"", "below that of the manifest"),
            ("\"jobs/0002\"", "\"/tmp\"", "below that of the manifest"),
            ("\"jobs/0002\"", "\"\"", "below that of the manifest"),
            (
                "jobs/0002/result.json",
                "jobs/0001/result.json",
                "its result in its directory",
            ),
            ("\"k\": 0.1", "\"l\": 0.1", "lacks a value of a parameter"),
        ] {
            let shown = read(&text.replacen(from, to, 1));
            assert!(shown.contains(message), "{shown}");
        }
    }

    /// A manifest that would not be read again is not written, and the file that is there stays.
    #[test]
    fn manifests_with_flaws_are_not_written() {
        let dir = tempfile::tempdir().unwrap();
        manifest().write(dir.path()).unwrap();
        let path = dir.path().join(MANIFEST);
        let first = std::fs::read(&path).unwrap();
        let mut twice = manifest();
        twice.jobs[1].id = "0001".to_owned();
        let error = twice.write(dir.path()).unwrap_err().to_string();
        assert!(error.contains("job `0001` is there twice"), "{error}");
        let mut times = manifest();
        times.quantities = vec!["seconds.total".to_owned()];
        let error = times.write(dir.path()).unwrap_err().to_string();
        assert!(
            error.contains("`seconds.total` differs from run to run"),
            "{error}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), first);
    }

    #[test]
    fn manifests_of_others_are_left_and_inputs_that_changed_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(MANIFEST);
        manifest().write(dir.path()).unwrap();
        let first = std::fs::read(&path).unwrap();
        Manifest {
            scene: "other".into(),
            ..manifest()
        }
        .write(dir.path())
        .unwrap();
        assert_ne!(std::fs::read(&path).unwrap(), first);
        for text in ["", "notes", "{\"format\": \"pliant-manifest-1\"}", "[]"] {
            std::fs::write(&path, text).unwrap();
            let error = manifest().write(dir.path()).unwrap_err().to_string();
            assert!(
                error.contains("was not written by this version of Pliant"),
                "{error}"
            );
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        std::fs::write(dir.path().join("a.ron"), "123456789").unwrap();
        // The check value of CRC-32.
        let input = Input {
            path: "a.ron".into(),
            bytes: 9,
            crc32: "cbf43926".into(),
        };
        let mut with = Manifest {
            inputs: vec![input],
            ..manifest()
        };
        assert_eq!(with.changed_input(dir.path()), None);
        for text in ["123456780", "12345678", "1234567890"] {
            std::fs::write(dir.path().join("a.ron"), text).unwrap();
            let told = with.changed_input(dir.path()).unwrap();
            assert!(told.contains("a.ron has changed since"), "{told}");
        }
        with.inputs[0].path = "none.ron".into();
        assert!(
            with.changed_input(dir.path())
                .unwrap()
                .contains("cannot read none.ron")
        );
    }
}
