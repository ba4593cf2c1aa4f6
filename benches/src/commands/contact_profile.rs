//! Where the time of contacts goes: `cargo xtask bench contact-scenes --profile [--sdirk2]
//! [--steps=N] [--accuracy=X] [--threads=N] [scene ...]`, with `X` for the accuracy of contacts.
//!
//! The program prints two tables per scene: the phases of a step (mean, median, 99th percentile and
//! worst time, share of the whole), and the stages in which the solver of contacts tries its
//! methods. A scene is the name of one of `contact-scenes`, or a scene file.

use super::Ended;
use super::contact_scenes::{H, SCENES, Scene};
use pliant::prelude::*;
use pliant::solvers::complementarity::ConeProfile;
use pliant_benches::timing::clock;
use pliant_run::Runner;
use pliant_scene::{SceneFile, Settings};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// A scene of which the steps are taken one by one.
pub(super) enum Stepper {
    Made(Box<Simulation>),
    Read(Box<Runner>),
}

impl Stepper {
    pub(super) fn simulation(&self) -> &Simulation {
        match self {
            Self::Made(simulation) => simulation,
            Self::Read(runner) => runner.simulation(),
        }
    }

    /// Lets so many threads share the work; no bit depends on their number.
    fn share(&mut self, threads: usize) {
        let simulation = match self {
            Self::Made(simulation) => simulation,
            Self::Read(runner) => runner.simulation_mut(),
        };
        simulation.options.tuning.solver.threads = threads;
    }

    /// A step; nothing behind the last one.
    pub(super) fn step(&mut self) -> Option<Result<StepReport, pliant::Error>> {
        match self {
            Self::Made(simulation) => Some(simulation.step(H)),
            Self::Read(runner) if runner.is_done() => None,
            Self::Read(runner) => Some(runner.step()),
        }
    }
}

/// Times of all steps by phase, and counts.
#[derive(Default)]
struct Profile {
    /// Seconds of each step, by phase.
    phases: Vec<(&'static str, Vec<f64>)>,
    steps: usize,
    contacts: usize,
    active: usize,
    iterations: usize,
    halvings: usize,
}

impl Profile {
    fn add(&mut self, phase: &'static str, time: f64) {
        let known = self.phases.iter().position(|p| p.0 == phase);
        let at = known.unwrap_or(self.phases.len());
        if known.is_none() {
            self.phases.push((phase, Vec::new()));
        }
        self.phases[at].1.push(time);
    }

    /// Takes in a step of so many seconds, before and after which the cones had these profiles.
    fn take(&mut self, time: f64, report: &StepReport, before: [ConeProfile; 2], after: [ConeProfile; 2]) {
        let since = |of: fn(&ConeProfile) -> f64| {
            let [a, b] = [0, 1].map(|k| of(&after[k]) - of(&before[k]));
            [a, b]
        };
        let stages = |p: &ConeProfile| p.stages.iter().map(|s| s.time.as_secs_f64()).sum::<f64>();
        let [all, of_overlap] = since(|p| p.total().as_secs_f64());
        let t = report.timings;
        let [contacts, fill, factor, solve, stabilise, update, rejected] = [
            t.contacts,
            t.fill,
            t.factor,
            t.solve,
            t.stabilise,
            t.update,
            t.rejected,
        ]
        .map(|t| t.as_secs_f64());
        self.add("step", time);
        self.add("search for contacts", contacts - of_overlap);
        self.add("overlap: cones", of_overlap);
        self.add("assembly", fill);
        self.add("cones: partition", since(|p| p.parting.as_secs_f64())[0]);
        self.add("cones: copies", since(|p| p.copies.as_secs_f64())[0]);
        self.add("cones: factor of the rest", since(|p| p.factor.as_secs_f64())[0]);
        self.add("cones: Delassus operator", since(|p| p.operator.as_secs_f64())[0]);
        self.add("cones: solves of the rest", since(|p| p.linear.as_secs_f64())[0]);
        self.add("cones: stages", since(stages)[0]);
        self.add(
            "rows of contacts, other solves, rejected attempts",
            factor + solve + rejected - all,
        );
        self.add("corrections of rows", stabilise);
        self.add("update, report", update);
        self.steps += 1;
        self.contacts += report.contacts.count;
        self.active += report.contacts.active;
        self.iterations += report.contacts.solve.iterations;
        self.halvings += report.contacts.solve.halvings + report.solve.newton.step_halvings;
    }

    fn print(&mut self, name: &str, cones: [ConeProfile; 2]) {
        let each = |count: usize| count as f64 / self.steps.max(1) as f64;
        let [of_steps, _] = cones;
        println!(
            "\n`{name}`: {} steps, {:.0} contacts and {:.0} with a force per step, {:.1} iterations, {} halvings; of {} problems {} began at their answer\n",
            self.steps,
            each(self.contacts),
            each(self.active),
            each(self.iterations),
            self.halvings,
            of_steps.problems,
            of_steps.settled,
        );
        println!("| phase | mean ms | median | p99 | worst | share % |");
        println!("|---|---|---|---|---|---|");
        let whole: f64 = self.phases.first().map_or(0.0, |p| p.1.iter().sum());
        for (phase, times) in &mut self.phases {
            times.sort_by(f64::total_cmp);
            let sum: f64 = times.iter().sum();
            let at = |share: f64| 1e3 * times[((times.len() - 1) as f64 * share) as usize];
            println!(
                "| {phase} | {:.3} | {:.3} | {:.3} | {:.3} | {:.1} |",
                1e3 * sum / times.len() as f64,
                at(0.5),
                at(0.99),
                at(1.0),
                100.0 * sum / whole
            );
        }
        println!("\n| stage | begun | answers | iterations | ms per step | share % |");
        println!("|---|---|---|---|---|---|");
        for (place, stage) in of_steps.stages.iter().enumerate().filter(|s| s.1.begun > 0) {
            let time = stage.time.as_secs_f64();
            println!(
                "| {place} {} | {} | {} | {} | {:.3} | {:.1} |",
                stage.method.map_or_else(String::new, |m| format!("{m:?}")),
                stage.begun,
                stage.answers,
                stage.iterations,
                1e3 * time / self.steps.max(1) as f64,
                100.0 * time / whole,
            );
        }
    }
}

/// The names that were given, or those of the short run.
pub(super) fn names_or_quick(names: &[&String]) -> Vec<String> {
    let quick = SCENES.iter().filter(|s| s.quick).map(|s| s.name.to_owned());
    match names {
        [] => quick.collect(),
        names => names.iter().map(|n| (*n).clone()).collect(),
    }
}

/// The scene of a name or a file.
pub(super) fn find(
    name: &str,
    integrator: &Integrator,
    accuracy: Option<f64>,
) -> Result<(Stepper, usize), Box<dyn Error>> {
    if let Some(Scene { make, steps, .. }) = SCENES.into_iter().find(|s| s.name == name) {
        let mut options = Options {
            integrator: integrator.clone(),
            ..Options::theta()
        };
        if let Some(accuracy) = accuracy {
            options.contacts.accuracy = accuracy;
        }
        let (simulation, _) = make().simulation(options)?;
        return Ok((Stepper::Made(Box::new(simulation)), steps));
    }
    let mut built = SceneFile::load(Path::new(name))?.build(&Settings::default())?;
    built.options.integrator = integrator.clone();
    if let Some(accuracy) = accuracy {
        built.options.contacts.accuracy = accuracy;
    }
    let runner = Runner::new(built)?.without_recording();
    Ok((Stepper::Read(Box::new(runner)), usize::MAX))
}

pub(super) fn run(
    names: &[&String],
    most: usize,
    integrator: &Integrator,
    accuracy: Option<f64>,
    threads: usize,
) -> Ended {
    for name in names_or_quick(names) {
        let (mut scene, steps) = find(&name, integrator, accuracy)?;
        scene.share(threads);
        let mut profile = Profile::default();
        let start = scene.simulation().contact_profiles();
        let mut before = start;
        for _ in 0..steps.min(most) {
            let (time, step) = clock(|| scene.step());
            let Some(step) = step else { break };
            let after = scene.simulation().contact_profiles();
            match step {
                Ok(report) => profile.take(time, &report, before, after),
                Err(error) => {
                    println!("\nstopped after {} steps: {error}", profile.steps);
                    break;
                }
            }
            before = after;
        }
        profile.print(&name, before);
    }
    Ok(ExitCode::SUCCESS)
}
