//! The execution of jobs, each as a process of its own.

use crate::manifest::{Job, Manifest};
use crate::result::{Found, look};
use pliant_output::ExportError;
use pliant_output::directory::lock;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Between two looks at whether to stop, and at a directory that another process has.
const LOOK: Duration = Duration::from_millis(50);

/// Bytes of what a job complains of that are kept.
const MOST_WORDS: u64 = 64 << 10;

/// Why a job has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind, as the table has it: `refused` (the scene, with these parameters), `unwritten`
    /// (its files), `killed` (by a signal), `crashed`, `interrupted`, `not_started`, `changed` (its
    /// inputs, while the sweep ran).
    pub kind: &'static str,
    /// A sentence.
    pub message: String,
}

impl Failure {
    fn new(kind: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message }
    }
}

/// A change in the state of a job, by its place in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The job begins.
    Started(usize),
    /// Its directory is still written to by another process, whose end is waited for.
    Waiting(usize),
    /// A result of it is there; whether of a run that went through.
    Complete(usize, bool),
    /// No result of it is there, and why.
    Failed(usize, Failure),
}

/// How jobs are run.
#[derive(Clone, Copy, Debug)]
pub struct Executor<'a> {
    /// The directory of the manifest.
    pub directory: &'a Path,
    /// The program that runs jobs of [`PROGRAM`](crate::manifest::PROGRAM).
    pub program: &'a Path,
    /// Jobs at the same time, at least one.
    pub workers: usize,
    /// Whether no job is begun after the first that fails.
    pub fail_fast: bool,
}

impl Executor<'_> {
    /// Runs jobs of a manifest by their places, until `stop` is set: then the jobs that run end
    /// after their present step and leave checkpoints, and no other begins. Returns why those that
    /// were begun and have no result have none.
    pub fn run(
        &self,
        manifest: &Manifest,
        jobs: &[usize],
        stop: &AtomicBool,
        mut watch: impl FnMut(&Event),
    ) -> BTreeMap<usize, Failure> {
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
            for _ in 0..self.workers.clamp(1, jobs.len().max(1)) {
                let (shared, sender) = (&shared, sender.clone());
                scope.spawn(move || shared.work(&sender));
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
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if stop.load(Ordering::Relaxed) {
                    // The jobs watch their standard input.
                    shared.inputs().clear();
                }
            }
        });
        failures
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
                Ok(went_through) => Event::Complete(*index, went_through),
                Err(failure) => Event::Failed(*index, failure),
            };
            let failed = !matches!(event, Event::Complete(_, true));
            if failed && self.executor.fail_fast {
                self.full.store(true, Ordering::Relaxed);
            }
            let _ = sender.send(event);
        }
    }

    /// Runs a job. Returns whether its run went through, if it has a result.
    fn run(&self, index: usize, job: &Job, sender: &Sender<Event>) -> Result<bool, Failure> {
        self.wait_for_directory(index, job, sender)?;
        // Whoever had the directory may have been at this very job.
        if let Found::Complete(result) = look(self.executor.directory, job) {
            return Ok(result["status"] == "ok");
        }
        let (status, words) = self.spawn_and_wait(index, job).map_err(|error| {
            let program = self.executor.program.display();
            Failure::new("not_started", format!("cannot run {program}: {error}"))
        })?;
        match status.code() {
            Some(0 | 3 | 4) => match look(self.executor.directory, job) {
                Found::Complete(result) => Ok(result["status"] == "ok"),
                Found::Missing(why) => Err(Failure::new("changed", why)),
            },
            code => Err(failure_of(code, status, &words)),
        }
    }

    /// Waits until no other process writes into the directory of a job: one that an earlier sweep
    /// left, which ends after its present step.
    fn wait_for_directory(&self, index: usize, job: &Job, sender: &Sender<Event>) -> Result<(), Failure> {
        let mut told = false;
        loop {
            match lock(&self.executor.directory.join(&job.directory)) {
                Ok(_) => return Ok(()),
                Err(ExportError::Busy { .. }) if self.is_stopped() => {
                    return Err(Failure::new("interrupted", "interrupted before it began"));
                }
                Err(ExportError::Busy { .. }) => {
                    if !std::mem::replace(&mut told, true) {
                        let _ = sender.send(Event::Waiting(index));
                    }
                    std::thread::sleep(LOOK);
                }
                Err(error) => return Err(Failure::new("unwritten", error.to_string())),
            }
        }
    }

    fn spawn_and_wait(&self, index: usize, job: &Job) -> std::io::Result<(ExitStatus, String)> {
        let mut child = Command::new(self.executor.program)
            .args(&job.arguments)
            .arg("--stop-at-eof")
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
        Ok((status?, words))
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

/// The failure that an end other than a result is.
fn failure_of(code: Option<i32>, status: ExitStatus, words: &str) -> Failure {
    let line = words.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let line = line.strip_prefix("error: ").unwrap_or(line);
    match code {
        Some(2) => Failure::new("refused", line),
        Some(5) => Failure::new("unwritten", line),
        Some(130) => Failure::new("interrupted", "interrupted: the same sweep goes on with it"),
        Some(_) => Failure::new("crashed", format!("{status}: {line}")),
        None => Failure::new("killed", format!("ended by a {status}")),
    }
}
