//! Times whole steps of scenes of many contacts, and says how right they are.
//!
//! `cargo xtask bench contact-scenes [--peers] [--mujoco=PYTHON] [--quick] [--split] [--exact]
//! [--lagged] [--convex] [--fallback=OPERATIONS] [--sdirk2] [--steps=N] [--profile [--accuracy=X]
//! [--threads=N]] [--precision] [--growth] [scene ...]`: of the couplings of friction those that
//! are named, else all for what falls and Coulomb's law for what stands; the first `N` steps of
//! each scene, else all.

use super::{Ended, contact_growth, contact_precision, contact_profile};
use pliant::contact::FrictionCoupling;
use pliant::prelude::*;
use pliant_benches::heaps::{Heap, Judge, moment, speed};
use pliant_benches::peers::{Engine, mujoco};
use pliant_benches::timing::clock;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

pub(super) const H: f64 = 1.0 / 60.0;

pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) make: fn() -> Heap,
    /// Steps of 1/60 s.
    pub(super) steps: usize,
    /// Whether statics says that nothing moves.
    stands: bool,
    /// Whether it is one of the short run.
    pub(super) quick: bool,
}

const fn scene(name: &'static str, make: fn() -> Heap, steps: usize, stands: bool, quick: bool) -> Scene {
    Scene {
        name,
        make,
        steps,
        stands,
        quick,
    }
}

pub(super) const SCENES: [Scene; 13] = [
    scene("pyramid10", || Heap::pyramid(4), 120, true, true),
    scene("pyramid55", || Heap::pyramid(10), 120, true, true),
    scene("pyramid210", || Heap::pyramid(20), 60, true, false),
    scene("pyramid528", || Heap::pyramid(32), 60, true, false),
    scene("pyramid1035", || Heap::pyramid(45), 30, true, false),
    scene("balls150", || Heap::balls(150), 120, false, false),
    scene("balls200", || Heap::balls(200), 120, false, true),
    scene("balls2000", || Heap::balls(2000), 120, false, false),
    scene("cards15", || Heap::cards(3), 120, true, true),
    scene("tower10", || Heap::tower(10, 1.0), 120, true, false),
    scene("tower10-heavy", || Heap::tower(10, 1000.0), 120, true, false),
    scene("tower30", || Heap::tower(30, 1.0), 120, true, false),
    scene("tower30-heavy", || Heap::tower(30, 1000.0), 120, true, false),
];

/// Figures of a run.
#[derive(Default)]
struct Row {
    program: String,
    time: Duration,
    slowest: Duration,
    steps: usize,
    /// Per step: iterations, islands, contacts.
    counts: Option<[f64; 3]>,
    overlap: f64,
    moved: f64,
    speed: f64,
    /// Largest rise of the energy in a step as a share of the energy at the start.
    rise: f64,
    residual: Option<f64>,
    /// De Saxcé's residual of every step.
    de_saxce: Vec<f64>,
    /// Largest overlap after any step.
    deepest: f64,
    note: String,
}

impl Row {
    fn print(&self, scene: &Scene) {
        let steps = self.steps.max(1) as f64;
        let time = 1e3 * self.time.as_secs_f64() / steps;
        let counts = self.counts.map_or_else(
            || "| | |".to_owned(),
            |c| {
                let [iterations, islands, contacts] = c.map(|c| c / steps);
                format!("{iterations:.1} | {islands:.1} | {contacts:.0} |")
            },
        );
        let moved = if scene.stands {
            format!("{:.1e}", self.moved)
        } else {
            String::new()
        };
        let mut de_saxce = self.de_saxce.clone();
        de_saxce.sort_by(f64::total_cmp);
        let middle = de_saxce
            .get(de_saxce.len() / 2)
            .map_or_else(String::new, |r| format!("{r:.1e}"));
        let residual = self.residual.map_or_else(String::new, |r| format!("{r:.1e}"));
        println!(
            "| {} | {} | {time:.2} | {:.1} | {counts} {:.1e} | {:.1e} | {moved} | {:.1e} | {:.1e} | {residual} | {middle} | {}",
            scene.name,
            self.program,
            1e3 * self.slowest.as_secs_f64(),
            self.overlap,
            self.deepest,
            self.speed,
            self.rise,
            self.note
        );
    }
}

/// Runs something step by step, with the judge outside of what is timed.
fn simulate(
    scene: &Scene,
    program: &str,
    mut step: impl FnMut(&mut Row) -> Result<pliant_benches::heaps::Moment, Error>,
) -> Result<Row, Error> {
    let heap = (scene.make)();
    let mut judge = Judge::new(&heap)?;
    let mut row = Row {
        program: program.to_owned(),
        ..Row::default()
    };
    let mut before: Option<(f64, f64)> = None;
    for _ in 0..scene.steps {
        let taken = row.time;
        let now = match step(&mut row) {
            Ok(now) => now,
            Err(error) => {
                row.note = format!("stopped: {error}");
                break;
            }
        };
        row.slowest = row.slowest.max(row.time - taken);
        row.steps += 1;
        let energy = heap.energy(&now);
        if let Some((first, last)) = before {
            row.rise = row.rise.max((energy - last) / first.abs());
        }
        before = Some((before.map_or(energy, |b| b.0), energy));
        row.moved = heap.moved(&now);
        row.speed = speed(&now);
        let overlap = judge.overlap(&now)?;
        row.deepest = row.deepest.max(overlap);
        // Of the falling ones what is left at the end.
        row.overlap = if scene.stands { row.deepest } else { overlap };
    }
    Ok(row)
}

/// A run by a coupling of friction; by `Lagged` where that takes more than so many operations of
/// contacts in a step, if there is a bound.
fn ours(
    scene: &Scene,
    coupling: FrictionCoupling,
    bound: Option<u64>,
    split: bool,
    integrator: &Integrator,
) -> Result<Row, Error> {
    let mut options = Options {
        integrator: integrator.clone(),
        ..Options::theta()
    };
    options.contacts.friction_coupling = coupling;
    if let Some(operations) = bound {
        options.contacts.friction_fallback = Some(FrictionCoupling::Lagged);
        options.tuning.work.contact_operations = operations;
    }
    let mut fallbacks = 0;
    let (mut s, node) = (scene.make)().simulation(options)?;
    let mut parts = [Duration::ZERO; 5];
    let name = match coupling {
        FrictionCoupling::Exact if bound.is_some() => "pliant, or lagged",
        FrictionCoupling::Exact => "pliant",
        FrictionCoupling::Lagged => "pliant, lagged",
        FrictionCoupling::Convex => "pliant, convex",
    };
    let row = simulate(scene, name, |row| {
        let (time, report) = clock(|| s.step(H));
        row.time += Duration::from_secs_f64(time);
        let report = report?;
        let c = report.contacts;
        fallbacks += c.solve.fallbacks;
        let counts = row.counts.get_or_insert([0.0; 3]);
        counts[0] += c.solve.iterations as f64;
        counts[1] += c.solve.islands as f64;
        counts[2] += c.count as f64;
        row.residual = Some(row.residual.unwrap_or(0.0).max(c.residual));
        row.de_saxce.push(c.de_saxce);
        let t = report.timings;
        for (sum, t) in parts
            .iter_mut()
            .zip([t.fill, t.factor, t.solve, t.contacts, t.update])
        {
            *sum += t;
        }
        Ok(moment(&s, node))
    })?;
    row.print(scene);
    if bound.is_some() {
        println!("  by the lagged coupling: {fallbacks} steps");
    }
    if split {
        let names = ["fill", "factor", "solve", "contacts", "update"];
        let share = |(name, t): (&str, &Duration)| {
            format!("{name} {:.2} ms", 1e3 * t.as_secs_f64() / row.steps.max(1) as f64)
        };
        let parts: Vec<String> = names.into_iter().zip(&parts).map(share).collect();
        println!("  of a step: {}", parts.join(", "));
    }
    Ok(row)
}

#[cfg(feature = "peers")]
fn peers(scene: &Scene) -> Result<(), Error> {
    use pliant_benches::heaps::peer::{Peer, Setting};
    let setting = |name, steps, iterations, stiffer| Setting {
        name,
        steps,
        iterations,
        stiffer,
    };
    for setting in [
        setting("rapier, default", 1, 4, None),
        setting("rapier, 50 iterations", 1, 50, Some(10.0)),
        setting("rapier, 10 steps of 20", 10, 20, Some(50.0)),
        setting("rapier, 50 steps of 50", 50, 50, Some(500.0)),
    ] {
        let heap = (scene.make)();
        // The finest takes minutes for the largest.
        if setting.steps * setting.iterations * heap.bodies.len() > 1_000_000 {
            continue;
        }
        let mut peer = Peer::new(&heap, setting, H);
        let row = simulate(scene, setting.name, |row| {
            row.time += Duration::from_secs_f64(clock(|| peer.advance()).0);
            Ok(peer.moment())
        })?;
        row.print(scene);
    }
    Ok(())
}

#[cfg(not(feature = "peers"))]
fn peers(_: &Scene) -> Result<(), Error> {
    Ok(())
}

/// The scene in MuJoCo, by a Python that has it.
fn in_mujoco(scene: &Scene, python: &Path) -> Result<(), Box<dyn std::error::Error>> {
    for (name, steps, stiff) in [
        ("mujoco, default", 1, false),
        ("mujoco, 10 steps, stiff", 10, true),
    ] {
        let setting = mujoco::Setting {
            options: if stiff { &[("cone", "elliptic")] } else { &[] },
            stiff,
            ..mujoco::Setting::default()
        };
        let model = mujoco::heap(&(scene.make)(), H / steps as f64, &setting);
        let mut peer = mujoco::MuJoCo::start(python, &model)?;
        let mut failure = None;
        let row = simulate(scene, name, |row| {
            match peer.advance(steps, f64::INFINITY) {
                Ok(advance) => row.time += Duration::from_secs_f64(advance.seconds),
                Err(error) => failure = Some(error),
            }
            Ok(peer.frame().bodies)
        })?;
        if let Some(error) = failure {
            return Err(error.into());
        }
        row.print(scene);
    }
    Ok(())
}

pub(super) fn run(arguments: &[String]) -> Ended {
    let (flags, names): (Vec<_>, Vec<_>) = arguments.iter().partition(|w| w.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|f| *f == flag);
    let most = match flags.iter().find_map(|f| f.strip_prefix("--steps=")) {
        Some(count) => count.parse()?,
        None => usize::MAX,
    };
    let integrator = match has("--sdirk2") {
        true => Integrator::Sdirk2,
        false => Integrator::Theta,
    };
    let bound = match flags.iter().find_map(|f| f.strip_prefix("--fallback=")) {
        Some(operations) => Some(operations.parse::<f64>()? as u64),
        None => None,
    };
    if has("--growth") {
        return contact_growth::run(&integrator);
    }
    if has("--precision") {
        return contact_precision::run(&names, most, &integrator);
    }
    if has("--profile") {
        let accuracy = match flags.iter().find_map(|f| f.strip_prefix("--accuracy=")) {
            Some(number) => Some(number.parse()?),
            None => None,
        };
        let threads = match flags.iter().find_map(|f| f.strip_prefix("--threads=")) {
            Some(number) => number.parse()?,
            None => 1,
        };
        return contact_profile::run(&names, most, &integrator, accuracy, threads);
    }
    for name in &names {
        if SCENES.iter().all(|s| s.name != name.as_str()) {
            let known = SCENES.map(|s| s.name).join(", ");
            return Err(format!("there is no scene {name}; there are {known}").into());
        }
    }
    println!(
        "| scene | program | ms per 1/60 s | slowest | iterations | islands | contacts | overlap m | deepest m | moved m | speed m/s | rise of energy | residual | De Saxce, median |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for mut scene in SCENES {
        scene.steps = scene.steps.min(most);
        let chosen = if names.is_empty() {
            scene.quick || !has("--quick")
        } else {
            names.iter().any(|n| n.as_str() == scene.name)
        };
        if chosen {
            let couplings = [
                (FrictionCoupling::Exact, has("--exact")),
                (FrictionCoupling::Lagged, has("--lagged")),
                (FrictionCoupling::Convex, has("--convex")),
            ];
            let named = couplings.iter().any(|c| c.1);
            for (coupling, asked) in couplings {
                let default = coupling == FrictionCoupling::Exact || !scene.stands;
                let chosen = if named { asked } else { default };
                if chosen {
                    ours(&scene, coupling, bound, has("--split"), &integrator)?;
                }
            }
            peers(&scene)?;
            if let Some(python) = flags.iter().find_map(|f| f.strip_prefix("--mujoco=")) {
                in_mujoco(&scene, Path::new(python))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
