//! SIGINT and SIGTERM, which end a run after the current step.

use crate::{INTERRUPTED, complain};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns a flag that becomes true at the first signal. A second one ends the process at once,
/// without results.
pub(crate) fn requested() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let own = Arc::clone(&flag);
    let handler = move || {
        if own.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        complain(&format!("warning: signals end the run without results: {error}"));
    }
    flag
}
