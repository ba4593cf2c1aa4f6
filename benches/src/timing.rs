//! Time that a computation takes on a machine that does other things too.

use std::time::Instant;

/// Seconds that something takes on this thread: the time that passes, less that in which the thread
/// was ready and had no processor (which Linux tells; elsewhere it counts).
pub fn clock<T>(what: impl FnOnce() -> T) -> (f64, T) {
    let outer = Instant::now();
    let before = waited();
    let inner = Instant::now();
    let out = what();
    let passed = inner.elapsed().as_secs_f64();
    let waited = waited() - before;
    // What was waited between the two readings is in the outer time: the difference is never too
    // small.
    (passed.min(outer.elapsed().as_secs_f64() - waited), out)
}

/// Seconds that this thread has waited for a processor, zero where the system does not say.
fn waited() -> f64 {
    // Time on a processor, time waiting for one (both in ns), number of turns.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().nth(1).and_then(|w| w.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) * 1e-9
}
