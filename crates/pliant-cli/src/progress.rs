//! Signs of life during a run, on standard error.

use crate::complain;
use crate::table::number;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pliant_scene::runner::Progress;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A live line on a terminal, a line now and then elsewhere, or silence.
#[derive(Debug)]
pub(crate) enum Watch {
    Silent,
    Live {
        bar: ProgressBar,
        next: Instant,
        started: Instant,
    },
    Sparse {
        next: Instant,
        started: Instant,
    },
}

/// Between two lines where there is no terminal.
const SPARSE: Duration = Duration::from_secs(10);
/// Between two pictures of the live line.
const LIVE: Duration = Duration::from_millis(100);

impl Watch {
    pub(crate) fn new(quiet: bool, steps: usize) -> Self {
        let started = Instant::now();
        if quiet {
            return Self::Silent;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Sparse {
                next: started + SPARSE,
                started,
            };
        }
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        Self::Live {
            bar,
            next: started,
            started,
        }
    }

    pub(crate) fn step(&mut self, progress: &Progress<'_>) {
        let now = Instant::now();
        match self {
            Self::Live { bar, next, started } if now >= *next => {
                bar.set_position(progress.step as u64);
                bar.set_message(message(progress, now - *started));
                *next = now + LIVE;
            }
            Self::Sparse { next, started } if now >= *next => {
                let message = message(progress, now - *started);
                let (step, steps, taken) = (progress.step, progress.steps, progress.taken);
                complain(&if taken == step {
                    format!("step {step}/{steps} {message}")
                } else {
                    // Of their own length: how many there will be is not known.
                    format!("step {taken}, {} % {message}", 100 * step / steps)
                });
                *next = now + SPARSE;
            }
            _ => {}
        }
    }

    /// Clears the live line.
    pub(crate) fn end(&self) {
        if let Self::Live { bar, .. } = self {
            bar.finish_and_clear();
        }
    }
}

fn message(progress: &Progress<'_>, elapsed: Duration) -> String {
    let report = progress.report;
    let rate = progress.taken as f64 / elapsed.as_secs_f64().max(1e-9);
    format!(
        "t = {} s, energy {} J, residual {:.0e}, {} steps/s",
        number(report.time),
        number(report.energies.total()),
        report.residual.relative,
        number(rate.round()),
    )
}
