//! Signs of life during a run, on standard error.

use crate::complain;
use crate::run::lines;
use crate::table::number;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pliant_run::Progress;
use pliant_sweep::execute::{Ending, Event, FailureKind};
use pliant_sweep::manifest::Manifest;
use std::collections::BTreeSet;
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
        /// The steps that had been taken when it began.
        from: Option<usize>,
    },
    Sparse {
        next: Instant,
        started: Instant,
        /// The steps that had been taken when it began.
        from: Option<usize>,
    },
    /// Lines of JSON on standard output.
    Lines {
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
                from: None,
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
            from: None,
        }
    }

    /// Lines of JSON on standard output.
    pub(crate) fn lines() -> Self {
        let started = Instant::now();
        Self::Lines {
            next: started,
            started,
        }
    }

    pub(crate) fn step(&mut self, progress: &Progress<'_>) {
        let now = Instant::now();
        if let Self::Live { from, .. } | Self::Sparse { from, .. } = self {
            from.get_or_insert(progress.step.saturating_sub(1));
        }
        match self {
            Self::Live {
                bar,
                next,
                started,
                from,
            } if now >= *next => {
                bar.set_position(progress.step as u64);
                bar.set_message(message(progress, now - *started, *from));
                *next = now + LIVE;
            }
            Self::Lines { next, started } if now >= *next => {
                crate::print(&lines::progress(progress, (now - *started).as_secs_f64()));
                *next = now + LIVE;
            }
            Self::Sparse { next, started, from } if now >= *next => {
                let message = message(progress, now - *started, *from);
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

/// How far a run is, after `elapsed`, that began behind `from` steps.
fn message(progress: &Progress<'_>, elapsed: Duration, from: Option<usize>) -> String {
    let report = progress.report;
    let taken = progress.step - from.unwrap_or(0).min(progress.step);
    let each = elapsed.as_secs_f64() / taken.max(1) as f64;
    let left = each * progress.steps.saturating_sub(progress.step) as f64;
    format!(
        "t = {} s, energy {} J, residual {:.0e}, {} left",
        number(report.time),
        number(report.energies.total()),
        report.residual.relative,
        about(left),
    )
}

/// A time that is left, for people.
fn about(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// The most jobs that a line names.
const NAMED: usize = 16;

/// Signs of life of a sweep: a live line on a terminal, a line now and then elsewhere, or silence.
#[derive(Debug)]
pub(crate) struct JobWatch {
    /// Names of all jobs.
    ids: Vec<String>,
    bar: Option<ProgressBar>,
    quiet: bool,
    next: Instant,
    done: usize,
    failed: usize,
    running: BTreeSet<usize>,
}

impl JobWatch {
    /// Begins with as many jobs that are done.
    pub(crate) fn new(quiet: bool, manifest: &Manifest, done: usize) -> Self {
        let live = !quiet && std::io::stderr().is_terminal();
        let bar = live.then(|| {
            let length = Some(manifest.jobs.len() as u64);
            let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr_with_hz(10));
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self {
            ids: manifest.jobs.iter().map(|job| job.id.clone()).collect(),
            bar,
            quiet,
            next: Instant::now() + SPARSE,
            done,
            failed: 0,
            running: BTreeSet::new(),
        }
    }

    pub(crate) fn see(&mut self, event: &Event) {
        match event {
            Event::Started(index) => {
                self.running.insert(*index);
            }
            Event::Waiting(index) => {
                let id = self.id(*index).to_owned();
                self.say(&format!(
                    "job {id} is still being run by an earlier sweep: waiting for its end"
                ));
            }
            Event::Complete(index, ending) => {
                self.running.remove(index);
                self.done += 1;
                if let Ending::Failed(why) = ending {
                    self.count_failed(*index, why);
                }
            }
            Event::Failed(index, failure) => {
                self.running.remove(index);
                if failure.kind != FailureKind::Interrupted {
                    self.done += 1;
                    self.count_failed(*index, &failure.message);
                }
            }
            Event::Idle => {}
        }
        self.show();
    }

    /// Counts a job that failed. The first is told as it happens: what is wrong with it may be
    /// wrong with all.
    fn count_failed(&mut self, index: usize, why: &str) {
        self.failed += 1;
        if self.failed == 1 {
            let id = self.id(index);
            self.say(&format!("job {id} failed: {why}"));
        }
    }

    fn id(&self, index: usize) -> &str {
        self.ids.get(index).map_or("", String::as_str)
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None if !self.quiet => complain(text),
            None => {}
        }
    }

    fn show(&mut self) {
        let shown = self.running.iter().take(NAMED).map(|index| self.id(*index));
        let mut running = shown.collect::<Vec<_>>().join(" ");
        if self.running.len() > NAMED {
            running.push_str(&format!(" and {} more", self.running.len() - NAMED));
        }
        let message = format!("{} failed, running {running}", self.failed);
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
            bar.set_message(message);
        } else if !self.quiet && Instant::now() >= self.next {
            complain(&format!("job {}/{}, {message}", self.done, self.ids.len()));
            self.next = Instant::now() + SPARSE;
        }
    }

    /// Clears the live line.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::about;

    #[test]
    fn times_that_are_left_are_short() {
        let cases = [
            (0.4, "0 s"),
            (89.0, "89 s"),
            (90.0, "2 min"),
            (5399.0, "90 min"),
            (9000.0, "2.5 h"),
        ];
        for (seconds, text) in cases {
            assert_eq!(about(seconds), text);
        }
    }
}
