//! SIGINT and SIGTERM, which end a run after the current step.

use crate::{INTERRUPTED, complain};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Signals that come within this time are one: `timeout` and schedulers of clusters signal a
/// process and its group, which it is in.
const TOGETHER: Duration = Duration::from_secs(1);

/// Sets a flag when standard input ends: the program at its other end has ended, whatever way.
pub(crate) fn watch_input(flag: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        flag.store(true, Ordering::Relaxed);
    });
}

/// The answer to the first signal during a run.
pub(crate) const RUN: &str = "ending after this step; another signal ends it at once, without results";
/// The answer to the first signal during a sweep.
pub(crate) const SWEEP: &str = "ending after the present steps of the jobs that run; another signal ends the sweep at once, without a table";

/// Returns a flag that becomes true at the first signal, which is given this answer unless `quiet`.
/// One that comes later than a second after it ends the process at once, without results.
pub(crate) fn requested(quiet: bool, answer: &'static str) -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let own = Arc::clone(&flag);
    let mut first = None;
    let handler = move || {
        if !own.swap(true, Ordering::Relaxed) && !quiet {
            complain(answer);
        }
        let now = Instant::now();
        if now.duration_since(*first.get_or_insert(now)) > TOGETHER {
            std::process::exit(INTERRUPTED.into());
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        complain(&format!("warning: signals end the run without results: {error}"));
    }
    flag
}
