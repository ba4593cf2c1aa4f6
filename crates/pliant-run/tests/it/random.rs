//! Random scenes, and all promises of the README on each of them at once.
//!
//! A scene is refused with an error, or its steps are taken: what a step reports is true, a step
//! that fails changes nothing, and a checkpoint goes on to the bit, as do two threads.
//! `cargo xtask fuzz scenes --seeds 0..1000` tries many.

mod draw;
mod generate;

use generate::{Drawn, generate};
use pliant::solvers::Status;
use pliant::{Checkpoint, Integrator, Simulation, StepReport};
use pliant_run::Runner;
use pliant_scene::{Format, RunPlan, SceneFile, Settings};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Length of the steps after a failed one, as a share of it.
const AFTER_FAILURE: f64 = 0.25;
/// Steps that are taken after a failed one.
const STEPS_AFTER_FAILURE: usize = 4;

/// How a scene ended that kept all promises.
#[derive(Debug, Default)]
struct Ending {
    /// The first line of the error with which it was refused.
    refusal: Option<String>,
    /// Kind and sentence of the error that ended its steps.
    failure: Option<[String; 2]>,
    steps: usize,
    /// The most that its energy grew without drive beyond what is entered for a cause that can
    /// bring some in, as a share of the energies that there are.
    growth: f64,
    /// The most that friction, impacts and damping brought in during a step, in the same unit.
    brought_in: [f64; 3],
}

/// A run step by step: bits of its states and reports, and how it ended.
#[derive(Debug, Default, PartialEq)]
struct Course {
    bits: Vec<u64>,
    error: Option<[String; 2]>,
    end: Checkpoint,
}

fn start(scene: &SceneFile, threads: usize) -> Result<(Runner, RunPlan), String> {
    let built = scene.build(&Settings::default()).and_then(|mut built| {
        built.options.tuning.solver.threads = threads;
        let plan = built.plan;
        Ok((Runner::new(built)?, plan))
    });
    built.map_err(|error| error.to_string())
}

/// A step of a length, or one that chooses its length.
fn step(simulation: &mut Simulation, plan: &RunPlan) -> Result<StepReport, [String; 2]> {
    let taken = match &plan.adaptive {
        Some(how) => {
            let end = simulation.time() + plan.step;
            simulation.step_adaptively(how, end).map(|report| report.step)
        }
        None => simulation.step(plan.step),
    };
    taken.map_err(|error| [error.kind().to_owned(), error.to_string()])
}

fn bits_of(simulation: &Simulation, report: &StepReport) -> Vec<u64> {
    let state = simulation.state();
    let ledger = report.ledger.entries().map(|(_, value)| value);
    let numbers = [report.time, report.violation, report.residual.relative];
    let all = state.positions.iter().chain(&state.velocities);
    all.chain(simulation.multipliers())
        .chain(&ledger)
        .chain(&numbers)
        .map(|x| x.to_bits())
        .collect()
}

/// Takes steps to the first error.
fn go_on(simulation: &mut Simulation, plan: &RunPlan, steps: usize) -> Course {
    let mut course = Course::default();
    for _ in 0..steps {
        match step(simulation, plan) {
            Ok(report) => course.bits.extend(bits_of(simulation, &report)),
            Err(error) => {
                course.error = Some(error);
                break;
            }
        }
    }
    course.end = simulation.checkpoint();
    course
}

/// Whether what a step reports of itself is true.
fn check_report(simulation: &Simulation, report: &StepReport) -> Result<(), String> {
    let at = report.time;
    let options = &simulation.options;
    // A stage of SDIRK2 ends by the error that it leaves in the velocities, no equation missed by
    // more than 1e-5 of its terms.
    let allowed = match options.integrator {
        Integrator::Sdirk2 => 1e-5,
        _ => options.tuning.solver.tolerance,
    };
    if report.status != Status::Converged || report.residual.relative > allowed {
        return Err(format!(
            "t = {at}: {:?} with {:e}",
            report.status, report.residual.relative
        ));
    }
    if report.contacts.residual > options.contacts.accuracy {
        return Err(format!("t = {at}: contacts miss {:e}", report.contacts.residual));
    }
    let state = simulation.state();
    let entries = report.ledger.entries().map(|(_, value)| value);
    let numbers = [
        report.violation,
        report.residual.relative,
        report.dissipated,
        report.energies.kinetic,
        report.energies.potential,
    ];
    let all = state.positions.iter().chain(&state.velocities).chain(&entries);
    match all.chain(&numbers).find(|x| !x.is_finite()) {
        Some(x) => Err(format!("t = {at}: a number is {x}")),
        None => Ok(()),
    }
}

/// The energy of a run so far, and what moved it.
#[derive(Debug, Default)]
struct Energy {
    /// Total energy and the potential one at the start; not yet that of compliant contacts, which
    /// the first step knows.
    first: Option<[f64; 2]>,
    last: f64,
    /// The largest kinetic energy, or change of the potential one.
    scale: f64,
    /// Sum of what corrections have brought in, which may.
    allowed: f64,
}

impl Energy {
    /// Enters a step; an error if its ledger does not lead from one energy to the other, or has a
    /// drive in it that is not there.
    fn enter(&mut self, report: &StepReport, driven: bool, ending: &mut Ending) -> Result<(), String> {
        let (at, ledger) = (report.time, &report.ledger);
        let total = report.energies.kinetic + report.energies.potential;
        let is_first = self.first.is_none();
        let start = [
            total - ledger.kinetic - ledger.potential,
            report.energies.potential - ledger.potential,
        ];
        let [first, potential] = *self.first.get_or_insert_with(|| {
            (self.last, self.scale) = (start[0], start[0] - start[1]);
            start
        });
        let moved = (report.energies.potential - potential).abs();
        self.scale = self.scale.max(report.energies.kinetic).max(moved);
        let rounding = 1e-9 * (self.scale + potential.abs() + report.energies.potential.abs()) + 1e-12;
        let missing = total - self.last - ledger.kinetic - ledger.potential;
        if missing.abs() > rounding {
            return Err(format!(
                "t = {at}: energies differ by {missing:e} J beyond the ledger"
            ));
        }
        self.last = total;
        if driven {
            return Ok(());
        }
        let drive = ledger.forces + ledger.motion + ledger.motors + ledger.inputs;
        // A body that is held although it moves at the start is stopped in the first step.
        if drive > rounding && !is_first {
            return Err(format!("t = {at}: a drive that is not there: {ledger:?}"));
        }
        self.allowed += ledger.corrections.max(0.0);
        let share = |x: f64| x / (self.scale + rounding);
        let causes = [ledger.friction, ledger.impacts, ledger.damping];
        for (most, cause) in ending.brought_in.iter_mut().zip(causes) {
            *most = most.max(share(cause));
        }
        let growth = total - first - self.allowed;
        ending.growth = ending.growth.max(share(growth));
        Ok(())
    }
}

/// Tries a scene; an error is a promise that was broken.
fn judge(drawn: &Drawn, steps: usize) -> Result<Ending, String> {
    let mut ending = Ending::default();
    let text = drawn.scene.to_string();
    let scene = SceneFile::from_text("random.json".as_ref(), &text, Format::Json)
        .map_err(|error| format!("the scene is not well formed: {error}"))?;
    let (mut runner, plan) = match start(&scene, 1) {
        Ok(started) => started,
        Err(refusal) => {
            if !refusal.starts_with("error: ") {
                return Err(format!("refused without an error: {refusal}"));
            }
            ending.refusal = refusal.lines().next().map(str::to_owned);
            return Ok(ending);
        }
    };
    let simulation = runner.simulation_mut();
    let mut energy = Energy::default();
    let mut checkpoints = vec![(0, simulation.checkpoint())];
    let mut course = Course::default();
    for k in 1..=steps {
        match step(simulation, &plan) {
            Ok(report) => {
                check_report(simulation, &report)?;
                energy.enter(&report, drawn.driven, &mut ending)?;
                course.bits.extend(bits_of(simulation, &report));
                checkpoints.push((course.bits.len(), simulation.checkpoint()));
                ending.steps = k;
            }
            Err(error) => {
                course.error = Some(error);
                break;
            }
        }
    }
    ending.failure.clone_from(&course.error);
    course.end = simulation.checkpoint();
    let other = || start(&scene, 1).map(|(runner, _)| runner);
    if let (Some(error), Some((_, before))) = (&course.error, checkpoints.last()) {
        if course.end != *before {
            return Err(format!("a failed step changed the state: {}", error[1]));
        }
        let shorter = RunPlan {
            step: AFTER_FAILURE * plan.step,
            adaptive: None,
            ..plan
        };
        let after = go_on(simulation, &shorter, STEPS_AFTER_FAILURE);
        let mut other = other()?;
        let other = other.simulation_mut();
        other.restore(before).map_err(|e| format!("not restored: {e}"))?;
        if go_on(other, &shorter, STEPS_AFTER_FAILURE) != after {
            return Err(format!("a step after a failed one differs: {}", error[1]));
        }
    }
    let taken = checkpoints.len() - 1;
    for k in [0, taken / 3, 2 * taken / 3, taken] {
        let (mark, checkpoint) = &checkpoints[k];
        let mut other = other()?;
        let other = other.simulation_mut();
        other
            .restore(checkpoint)
            .map_err(|e| format!("not restored: {e}"))?;
        if other.checkpoint() != *checkpoint {
            return Err(format!("checkpoint {k} is not what was restored from it"));
        }
        let left = if course.error.is_some() {
            taken - k + 1
        } else {
            steps - k
        };
        let again = go_on(other, &plan, left);
        if again.bits != course.bits[*mark..] || again.error != course.error || again.end != course.end {
            return Err(format!(
                "the replay from checkpoint {k} of {taken} differs: {:?}",
                again.error
            ));
        }
    }
    let (mut other, _) = start(&scene, 2)?;
    if go_on(other.simulation_mut(), &plan, steps) != course {
        return Err("two threads differ from one".to_owned());
    }
    Ok(ending)
}

/// Tries a scene; a panic is a broken promise, too.
fn judge_seed(seed: u64, wild: bool, steps: usize) -> Result<Ending, String> {
    let judged = catch_unwind(AssertUnwindSafe(|| judge(&generate(seed, wild), steps)));
    judged.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", text.unwrap_or("without words")))
    })
}

/// A few seeds of both sorts, or many, with a table of what became of them:
/// `cargo xtask fuzz scenes` sets the variables.
#[test]
fn random_scenes_keep_every_promise() {
    let number = |name: &str, default: u64| {
        let text = std::env::var(name);
        text.map_or(default, |text| text.parse().expect("a number"))
    };
    let (first, end) = (number("PLIANT_FIRST_SEED", 0), number("PLIANT_END_SEED", 12));
    let steps = number("PLIANT_STEPS", 12) as usize;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-scenes");
    std::fs::create_dir_all(&folder).unwrap();
    println!("scenes that fail are in {}", folder.display());
    let (mut broken, mut taken) = (0, 0);
    let sorts = std::env::var("PLIANT_SORTS").unwrap_or_else(|_| "plain wild".to_owned());
    for sort in sorts.split(' ') {
        let wild = sort == "wild";
        let mut kinds = BTreeMap::<String, Vec<u64>>::new();
        for seed in first..end {
            // It stays where its run is endless, fails or breaks a promise.
            let file = folder.join(format!("{sort}-{seed}.json"));
            std::fs::write(&file, generate(seed, wild).scene.to_string()).unwrap();
            let clock = std::time::Instant::now();
            let judged = judge_seed(seed, wild, steps);
            let seconds = clock.elapsed().as_secs_f64();
            if seconds > 10.0 {
                println!("{sort} {seed}: {seconds:.0} s");
            }
            let kind = match judged {
                Err(promise) => {
                    println!("{sort} {seed}: BROKEN: {promise}");
                    broken += 1;
                    "broken".to_owned()
                }
                Ok(ending) => {
                    taken += ending.steps;
                    let Ending {
                        growth, brought_in, ..
                    } = ending;
                    if growth > 1e-6 || brought_in.iter().any(|x| *x > 1e-6) {
                        let [friction, impacts, damping] = brought_in;
                        println!(
                            "{sort} {seed}: energy grows by {growth:.1e}; brought in by friction {friction:.1e}, \
                             impacts {impacts:.1e}, damping {damping:.1e}"
                        );
                    }
                    match (ending.refusal, ending.failure) {
                        (Some(text), _) => {
                            println!("{sort} {seed}: refused: {text}");
                            "refused".to_owned()
                        }
                        (None, Some([kind, text])) => {
                            println!("{sort} {seed}: after {} steps: {text}", ending.steps);
                            kind
                        }
                        (None, None) => {
                            std::fs::remove_file(&file).unwrap();
                            "ok".to_owned()
                        }
                    }
                }
            };
            kinds.entry(kind).or_default().push(seed);
        }
        for (kind, seeds) in kinds {
            let some = &seeds[..seeds.len().min(20)];
            println!("{sort}: {:5} {kind}: {some:?}", seeds.len());
        }
    }
    assert_eq!(broken, 0, "promises were broken");
    assert!(taken > 0, "no scene was run");
}

/// Seeds whose steps once ended with an error, and how many they take to the place where they did.
const KEPT: [(u64, bool, usize); 19] = [
    // A linear system with contacts is solved by more refinements than two.
    (168, false, 60),
    (36, false, 54),
    // A correction of velocities that is itself rounding misses more than 1e-9 of its terms.
    (112, true, 16),
    // An impact at a limit between jointed bodies is seen.
    (42, false, 60),
    // A motor that lags at its bound comes back by its force.
    (48, false, 60),
    // An impact of a contact on jointed bodies is seen.
    (177, false, 52),
    (194, false, 40),
    // The signs of pivots of a definite matrix depend on rows that are nearly redundant.
    (49, true, 60),
    (145, false, 60),
    // Refinement leaves a solve beyond the tolerance, and a factor that chooses its pivots does
    // not.
    (169, false, 60),
    (14, true, 60),
    // Poisson's law without restitution is that of Newton.
    (17, false, 60),
    // Rows of bounded force beside contacts are solved to a share of their own free velocities.
    (567, false, 60),
    // A step in which a body turns too far for its gyroscopic torque, by halves.
    (122, true, 60),
    // What linear solves leave beside nearly redundant rows ends the iteration for the gyroscopic
    // torque.
    (702, false, 60),
    // A step whose correction of positions does not converge, by halves.
    (46, true, 58),
    // Friction jams a body that a joint guides, so that no restitution has a solution.
    (644, false, 50),
    // A body that is fixed and was given a spin.
    (926, false, 10),
    // A soft box that sinks to its middle keeps the points that overlap.
    (39, true, 40),
];

/// Kept seeds are run, and where nothing drives them their energy grows by no more than a share of
/// 1e-3 of what there is.
#[test]
fn kept_seeds_are_run() {
    let run = |seed: u64, wild: bool, steps: usize| {
        let drawn = generate(seed, wild);
        let text = drawn.scene.to_string();
        let scene = SceneFile::from_text("random.json".as_ref(), &text, Format::Json).unwrap();
        let (mut runner, plan) = start(&scene, 1)?;
        let simulation = runner.simulation_mut();
        let (mut energy, mut ending) = (Energy::default(), Ending::default());
        for _ in 0..steps {
            let report = step(simulation, &plan).map_err(|[_, text]| text)?;
            check_report(simulation, &report)?;
            energy.enter(&report, drawn.driven, &mut ending)?;
        }
        match ending.growth <= 1e-3 {
            true => Ok(()),
            false => Err(format!("{ending:?}")),
        }
    };
    let failed: Vec<_> = KEPT
        .iter()
        .filter_map(|(seed, wild, steps)| Some((seed, wild, run(*seed, *wild, *steps).err()?)))
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// A step by a coupling of friction other than Coulomb's law makes energy, and the error says
/// that this law makes less.
#[test]
fn a_coupling_that_makes_energy_is_named() {
    let ending = judge_seed(1595, false, 60).unwrap();
    let [kind, text] = ending.failure.unwrap();
    assert_eq!(kind, "NotCertified");
    assert!(
        text.contains("`friction_coupling: Exact` makes less (tried)"),
        "{text}"
    );
}

/// Iterations that run out of work where rows lock say that these do.
#[test]
fn a_lock_is_named_where_work_runs_out() {
    let ending = judge_seed(166, true, 60).unwrap();
    let [kind, text] = ending.failure.unwrap();
    assert_eq!(kind, "Locked", "{text}");
}

/// A straight cable between two fixed points locks, also where rounding leaves its rows a
/// contradiction of 2e-12 m.
#[test]
fn a_lock_is_named_where_rounding_contradicts() {
    let ending = judge_seed(52, true, 2).unwrap();
    let [kind, text] = ending.failure.unwrap();
    assert_eq!(kind, "Locked", "{text}");
}

/// A step that fails between its stages leaves no work of contacts behind: the replay from a
/// checkpoint is the same to the bit.
#[test]
fn a_failed_stage_leaves_nothing_behind() {
    judge_seed(81, false, 60).unwrap();
}

/// A step whose contacts come from a checkpoint looks for missed ones as the step did that had
/// found them at the end of the one before: the replay is the same to the bit.
#[test]
fn contacts_of_a_checkpoint_are_those_of_the_last_search() {
    judge_seed(905, false, 60).unwrap();
}

#[test]
fn a_seed_is_always_the_same_scene() {
    for wild in [false, true] {
        let text = generate(7, wild).scene.to_string();
        assert_eq!(text, generate(7, wild).scene.to_string());
        assert_ne!(text, generate(8, wild).scene.to_string());
    }
}
