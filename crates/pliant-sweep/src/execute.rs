//! The execution of jobs: each as a process of its own by [`Executor`], or by whatever command
//! [`run_job`] is given.

use crate::SweepError;
use crate::manifest::{Job, Manifest};
use crate::result::{Found, look, whole};
use pliant_output::ExportError;
use pliant_output::directory::lock;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// Between two looks at whether to stop, and at a directory that another process has.
const LOOK: Duration = Duration::from_millis(50);

/// The sentence about jobs that a sweep which stops has interrupted.
const INTERRUPTED: &str = "interrupted: the same sweep goes on with it";

/// Bytes of what a job complains of that are kept.
const MOST_WORDS: u64 = 64 << 10;

/// The most jobs at the same time.
pub const MOST_WORKERS: usize = 256;

/// The kind of a [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The scene with these parameters is none.
    Refused,
    /// Its files, or its directory, cannot be written.
    Unwritten,
    /// A signal ended its process.
    Killed,
    /// Its process ended by itself, in a way that runs do not.
    Crashed,
    /// The sweep was asked to stop.
    Interrupted,
    /// Its process cannot be started.
    NotStarted,
    /// Its inputs changed while the sweep ran.
    Changed,
}

impl FailureKind {
    /// The word that the table has.
    pub fn word(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Unwritten => "unwritten",
            Self::Killed => "killed",
            Self::Crashed => "crashed",
            Self::Interrupted => "interrupted",
            Self::NotStarted => "not_started",
            Self::Changed => "changed",
        }
    }

    /// The kind of a word that the table has.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [
            Self::Refused,
            Self::Unwritten,
            Self::Killed,
            Self::Crashed,
            Self::Interrupted,
            Self::NotStarted,
            Self::Changed,
        ];
        all.into_iter().find(|kind| kind.word() == word)
    }
}

/// Why a job has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// A sentence.
    pub message: String,
}

impl Failure {
    /// A failure with its sentence.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message }
    }
}

/// How a run with a result ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The run went through.
    Through,
    /// The run failed by itself, as it would again: why.
    Failed(String),
}

impl Ending {
    /// The ending that a complete result tells of.
    pub fn of(result: &Value) -> Self {
        match result["status"].as_str() {
            Some("ok") => Self::Through,
            _ => Self::Failed(result["error"].as_str().unwrap_or_default().to_owned()),
        }
    }
}

/// A change in the state of a job, by its place in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The job begins.
    Started(usize),
    /// Its directory is still written to by another process, whose end is waited for.
    Waiting(usize),
    /// A result of it is there.
    Complete(usize, Ending),
    /// No result of it is there, and why.
    Failed(usize, Failure),
    /// Time passed, and nothing changed.
    Idle,
}

/// How jobs are run.
#[derive(Clone, Copy, Debug)]
pub struct Executor<'a> {
    /// The directory of the manifest.
    pub directory: &'a Path,
    /// The program that runs jobs of [`PROGRAM`](crate::manifest::PROGRAM).
    pub program: &'a Path,
    /// Jobs at the same time, from one to [`MOST_WORKERS`].
    pub workers: usize,
    /// Whether no job is begun after the first that fails.
    pub fail_fast: bool,
}

impl Executor<'_> {
    /// Runs jobs of a manifest by their places, until `stop` is set: then the jobs that run end
    /// after their present step and leave checkpoints, and no other begins. Returns why those that
    /// were begun and have no result have none. Fewer jobs run at the same time where the system
    /// has no more threads.
    ///
    /// # Errors
    /// [`SweepError::Thread`] if the system has no thread at all.
    pub fn run(
        &self,
        manifest: &Manifest,
        jobs: &[usize],
        stop: &AtomicBool,
        mut watch: impl FnMut(&Event),
    ) -> Result<BTreeMap<usize, Failure>, SweepError> {
        let shared = Shared {
            executor: *self,
            manifest,
            jobs,
            next: AtomicUsize::new(0),
            stop,
            full: AtomicBool::new(false),
            inputs: Mutex::new(BTreeMap::new()),
        };
        let mut failures = BTreeMap::new();
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for worker in 0..self.workers.clamp(1, MOST_WORKERS).min(jobs.len()) {
                let (shared, sender) = (&shared, sender.clone());
                match Builder::new().spawn_scoped(scope, move || shared.work(&sender)) {
                    Ok(_) => {}
                    Err(source) if worker == 0 => return Err(SweepError::Thread { source }),
                    // Those that there are do all jobs.
                    Err(_) => break,
                }
            }
            drop(sender);
            loop {
                match receiver.recv_timeout(LOOK) {
                    Ok(event) => {
                        watch(&event);
                        if let Event::Failed(index, failure) = event {
                            failures.insert(index, failure);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => watch(&Event::Idle),
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                if stop.load(Ordering::Relaxed) {
                    // The jobs watch their standard input.
                    shared.inputs().clear();
                }
            }
        })?;
        Ok(failures)
    }
}

/// How the command of a job ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandEnd {
    /// The exit code of the program; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The end of the process in words, such as `exit status: 2`.
    pub status: String,
    /// The text that it complained with.
    pub words: String,
}

impl CommandEnd {
    /// The failure that an end other than a result is.
    fn failure(&self, stop: &AtomicBool) -> Failure {
        let line = first_line(&self.words);
        let status = &self.status;
        match self.code {
            Some(2) => Failure::new(FailureKind::Refused, line),
            Some(5) => Failure::new(FailureKind::Unwritten, line),
            Some(130) => Failure::new(FailureKind::Interrupted, INTERRUPTED),
            Some(_) => Failure::new(FailureKind::Crashed, format!("{status}: {line}")),
            None if is_stopped_soon(stop) => Failure::new(FailureKind::Interrupted, INTERRUPTED),
            None => Failure::new(FailureKind::Killed, format!("ended by a {status}")),
        }
    }
}

/// Whether the sweep is to stop, after a moment: a signal to all processes of a group may end one
/// of them, which does not answer it yet, ahead of the answer of this one.
fn is_stopped_soon(stop: &AtomicBool) -> bool {
    if !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
    stop.load(Ordering::Relaxed)
}

/// Runs a job of the sweep in `directory` by a command, unless its result is there. Returns how its
/// run ended, if it has a result. While another process has the directory of the job its end is
/// waited for, once `waits` was called, or until `stop` is set.
///
/// # Errors
/// [`Failure`] if the job has no result, with why; that of `command` among them.
pub fn run_job(
    directory: &Path,
    job: &Job,
    stop: &AtomicBool,
    waits: impl FnOnce(),
    command: impl FnOnce() -> Result<CommandEnd, Failure>,
) -> Result<Ending, Failure> {
    wait_for_directory(&directory.join(&job.directory), stop, waits)?;
    // Whoever had the directory may have been at this very job.
    if let Found::Complete(result) = look(directory, job) {
        return Ok(Ending::of(&result));
    }
    let end = command()?;
    let Some(code @ (0 | 3 | 4)) = end.code else {
        return Err(end.failure(stop));
    };
    match look(directory, job) {
        Found::Complete(result) => Ok(Ending::of(&result)),
        // Runs that fail by themselves say so by their code, also if they cannot write it down.
        Found::Missing(_) if code != 0 && whole(directory, &job.directory, &job.result).is_err() => {
            Err(Failure::new(FailureKind::Unwritten, first_line(&end.words)))
        }
        Found::Missing(why) => Err(Failure::new(FailureKind::Changed, why)),
    }
}

/// Waits until no other process writes into the directory of a job: one that an earlier sweep left,
/// which ends after its present step.
fn wait_for_directory(directory: &Path, stop: &AtomicBool, waits: impl FnOnce()) -> Result<(), Failure> {
    let mut waits = Some(waits);
    loop {
        match lock(directory) {
            Ok(_) => return Ok(()),
            Err(ExportError::Busy { .. }) if stop.load(Ordering::Relaxed) => {
                return Err(Failure::new(
                    FailureKind::Interrupted,
                    "interrupted before it began",
                ));
            }
            Err(ExportError::Busy { .. }) => {
                if let Some(waits) = waits.take() {
                    waits();
                }
                std::thread::sleep(LOOK);
            }
            Err(error) => return Err(Failure::new(FailureKind::Unwritten, error.to_string())),
        }
    }
}

/// The values that the workers share.
struct Shared<'a> {
    executor: Executor<'a>,
    manifest: &'a Manifest,
    jobs: &'a [usize],
    next: AtomicUsize,
    stop: &'a AtomicBool,
    /// Whether no other job is to begin.
    full: AtomicBool,
    /// Standard inputs of the jobs that run: one that ends when its other end is dropped, by this
    /// process or by the end of this process.
    inputs: Mutex<BTreeMap<usize, ChildStdin>>,
}

impl Shared<'_> {
    fn inputs(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, ChildStdin>> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs jobs until none is left.
    fn work(&self, sender: &Sender<Event>) {
        while !self.is_stopped() && !self.full.load(Ordering::Relaxed) {
            let Some(index) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let Some(job) = self.manifest.jobs.get(*index) else {
                continue;
            };
            // Nobody listens to a sweep that is over.
            let _ = sender.send(Event::Started(*index));
            let event = match self.run(*index, job, sender) {
                Ok(ending) => Event::Complete(*index, ending),
                Err(failure) => Event::Failed(*index, failure),
            };
            let failed = !matches!(event, Event::Complete(_, Ending::Through));
            if failed && self.executor.fail_fast {
                self.full.store(true, Ordering::Relaxed);
            }
            let _ = sender.send(event);
        }
    }

    /// Runs a job. Returns how its run ended, if it has a result.
    fn run(&self, index: usize, job: &Job, sender: &Sender<Event>) -> Result<Ending, Failure> {
        let waits = || {
            let _ = sender.send(Event::Waiting(index));
        };
        run_job(self.executor.directory, job, self.stop, waits, || {
            self.spawn_and_wait(index, job).map_err(|error| {
                let program = self.executor.program.display();
                Failure::new(FailureKind::NotStarted, format!("cannot run {program}: {error}"))
            })
        })
    }

    fn spawn_and_wait(&self, index: usize, job: &Job) -> std::io::Result<CommandEnd> {
        let mut command = Command::new(self.executor.program);
        command.args(&job.arguments).arg("--stop-at-eof");
        // Jobs side by side have the cores already.
        if self.executor.workers > 1 && !job.arguments.iter().any(|word| word.starts_with("--threads")) {
            command.arg("--threads=1");
        }
        let mut child = command
            .current_dir(self.executor.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(input) = child.stdin.take() {
            let mut inputs = self.inputs();
            // From here on whoever stops the sweep finds it.
            if !self.is_stopped() {
                inputs.insert(index, input);
            }
        }
        let words = complaints(&mut child);
        let status = child.wait();
        self.inputs().remove(&index);
        let status = status?;
        Ok(CommandEnd {
            code: status.code(),
            status: status.to_string(),
            words,
        })
    }
}

/// All that a process complains of until it ends, or as much as anybody reads.
fn complaints(child: &mut Child) -> String {
    let mut words = Vec::new();
    if let Some(mut errors) = child.stderr.take() {
        let _ = errors.by_ref().take(MOST_WORDS).read_to_end(&mut words);
        let _ = std::io::copy(&mut errors, &mut std::io::sink());
    }
    String::from_utf8_lossy(&words).into_owned()
}

/// The first line of what a process complained of, without what differs from run to run.
fn first_line(words: &str) -> String {
    let line = words.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    without_thread_number(line.strip_prefix("error: ").unwrap_or(line))
}

/// A line without the number of the thread in `thread 'main' (123) panicked at`.
fn without_thread_number(line: &str) -> String {
    let parts = line
        .starts_with("thread '")
        .then(|| line.split_once("' ("))
        .flatten()
        .and_then(|(head, tail)| Some((head, tail.split_once(") panicked")?)));
    match parts {
        Some((head, (number, tail))) if number.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{head}' panicked{tail}")
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_told_without_the_number_of_the_thread() {
        for (line, told) in [
            (
                "thread 'main' (4711) panicked at src/a.rs:1:2:",
                "thread 'main' panicked at src/a.rs:1:2:",
            ),
            (
                "thread 'main' panicked at src/a.rs:1:2:",
                "thread 'main' panicked at src/a.rs:1:2:",
            ),
            ("error: the mass (5) is", "the mass (5) is"),
            ("\n\nnotes' (7) panicked", "notes' (7) panicked"),
            ("thread 'a' (b) panicked", "thread 'a' (b) panicked"),
            ("", ""),
        ] {
            assert_eq!(first_line(line), told);
        }
    }

    /// Runs a shell script as the one job of a sweep; returns its failure and what was told.
    #[cfg(unix)]
    fn failure_of(script: &str) -> (Failure, Vec<Event>) {
        let dir = tempfile::tempdir().unwrap();
        let job = Job {
            arguments: vec!["-c".into(), script.into()],
            directory: "jobs/1".into(),
            result: "jobs/1/result.json".into(),
            ..Job::default()
        };
        let manifest = Manifest {
            jobs: vec![job],
            ..Manifest::default()
        };
        let executor = Executor {
            directory: dir.path(),
            program: Path::new("/bin/sh"),
            workers: 1,
            fail_fast: false,
        };
        let mut events = Vec::new();
        let stop = AtomicBool::new(false);
        let failures = executor.run(&manifest, &[0], &stop, |event| events.push(event.clone()));
        (failures.unwrap()[&0].clone(), events)
    }

    /// A program that ends as a run does which failed, and whose files could not be written.
    #[cfg(unix)]
    #[test]
    fn failed_runs_without_files_are_unwritten() {
        let (failure, _) = failure_of("echo 'error: cannot write result.json: full' >&2; exit 3");
        assert_eq!(failure.kind, FailureKind::Unwritten, "{}", failure.message);
        assert_eq!(failure.message, "cannot write result.json: full");
    }

    /// Time is told while a long job runs, for those that show it.
    #[cfg(unix)]
    #[test]
    fn time_is_told_while_a_job_runs() {
        // Several times as long as the executor listens.
        let (failure, events) = failure_of("sleep 0.5; echo 'error: no memory' >&2; exit 7");
        assert_eq!(failure.kind, FailureKind::Crashed, "{}", failure.message);
        assert_eq!(failure.message, "exit status: 7: no memory");
        assert_eq!(events[0], Event::Started(0));
        assert!(
            events[1..events.len() - 1]
                .iter()
                .all(|event| *event == Event::Idle),
            "{events:?}"
        );
        assert!(events.len() > 2, "{events:?}");
        assert_eq!(events.last(), Some(&Event::Failed(0, failure)));
    }
}
