//! SIGINT and SIGTERM, which end a run after the current step.

use crate::{INTERRUPTED, complain};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Signals that come within this time are one: `timeout` and schedulers of clusters signal a
/// process and its group, which it is in.
const TOGETHER: Duration = Duration::from_secs(1);

/// Returns a flag that becomes true at the first signal, which is answered unless `quiet`. One that
/// comes later than a second after it ends the process at once, without results.
pub(crate) fn requested(quiet: bool) -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let own = Arc::clone(&flag);
    let mut first = None;
    let handler = move || {
        if !own.swap(true, Ordering::Relaxed) && !quiet {
            complain("ending after this step; another signal ends it at once, without results");
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
