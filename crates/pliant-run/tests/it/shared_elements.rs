//! Scenes whose elements processes share out, against the same scenes on one.

use pliant::model::{Processes, check};
use pliant_run::{Outcome, Runner};
use pliant_scene::{Format, SceneFile, Settings};
use std::path::Path;
use std::sync::Arc;

/// Steps of a scene of motion that are taken.
const STEPS: f64 = 6.0;

/// A scene of the repository, or the text of one.
fn load(name: &str) -> SceneFile {
    if name.starts_with('(') {
        return SceneFile::from_text("text.ron".as_ref(), name, Format::Ron).unwrap();
    }
    SceneFile::load(&Path::new("../../scenes").join(name)).unwrap()
}

/// The time of a few steps; none of a scene of statics, which is found whole.
fn settings_of(name: &str) -> Settings {
    let scene = load(name).build(&Settings::default()).unwrap();
    let few = (STEPS * scene.plan.step).min(scene.plan.duration);
    Settings {
        duration: scene.statics.is_none().then_some(few),
        ..Settings::default()
    }
}

/// Runs a scene over so many processes, which are threads; what each comes to, and the elements of
/// each and of all.
fn run_over(name: &str, processes: usize) -> Vec<([usize; 2], Outcome)> {
    let settings = settings_of(name);
    let run = |(rank, own): (usize, Arc<dyn Processes>)| {
        let mut scene = load(name).build(&settings).unwrap();
        scene.share_out(own).unwrap();
        let shared = scene.model.shared_elements().unwrap();
        let runner = Runner::new(scene).unwrap();
        // Only the first one keeps pictures, as in a run of the program.
        let runner = if rank == 0 {
            runner
        } else {
            runner.without_recording()
        };
        (shared, runner.run(|_| {}))
    };
    std::thread::scope(|scope| {
        let members = check::processes(processes).into_iter().enumerate();
        let run = &run;
        let threads: Vec<_> = members.map(|own| scope.spawn(move || run(own))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

/// The largest difference of numbers, and the largest size of them.
fn off<'a>(a: impl IntoIterator<Item = &'a f64>, b: impl IntoIterator<Item = &'a f64>) -> [f64; 2] {
    let (mut most, mut size) = (0.0, 0.0);
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    loop {
        match (a.next(), b.next()) {
            (Some(a), Some(b)) => (most, size) = (f64::max(most, (a - b).abs()), f64::max(size, b.abs())),
            (None, None) => return [most, size],
            _ => panic!("other numbers of numbers"),
        }
    }
}

fn compare(name: &str) {
    let runner = Runner::new(load(name).build(&settings_of(name)).unwrap()).unwrap();
    let alone = runner.run(|_| {});
    assert!(alone.error.is_none(), "{name}: {:?}", alone.error);
    for processes in [2, 3] {
        let ends = run_over(name, processes);
        let [own, all] = ends.iter().fold([0, 0], |[own, _], (e, _)| [own + e[0], e[1]]);
        assert_eq!(own, all, "{name}");
        for (_, end) in &ends {
            assert!(end.error.is_none(), "{name}: {:?}", end.error);
            assert_eq!(
                (end.summary.steps, end.summary.status),
                (alone.summary.steps, alone.summary.status)
            );
            for (node, state) in &alone.summary.state {
                let found = &end.summary.state[node];
                let [most, size] = off(found.positions.numbers(), state.positions.numbers());
                // Sums in another order round otherwise; strains are rounded beside one.
                assert!(
                    most <= 1e-9 * size + 1e-12,
                    "{name}, `{node}`: {most:e} of {size:e}"
                );
            }
        }
        let frames = |outcome: &Outcome| outcome.recording.frames.len();
        assert_eq!(
            (frames(&ends[0].1), frames(&ends[1].1)),
            (frames(&alone), 0),
            "{name}"
        );
        for (found, shown) in ends[0].1.recording.frames.iter().zip(&alone.recording.frames) {
            assert_eq!(found.regions.len(), shown.regions.len());
            for (found, shown) in found.regions.iter().zip(&shown.regions) {
                let lists = found.cell_values.iter().zip(&shown.cell_values);
                for (found, shown) in lists.chain(found.point_values.iter().zip(&shown.point_values)) {
                    let [found, shown] =
                        [found, shown].map(|l| l.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
                    let [most, size] = off(&found, &shown);
                    // Pictures have single precision; stresses at rest are the rounding of strains
                    // times moduli of up to a million pascals.
                    assert!(
                        most <= 1e-5 * size + 1e-8,
                        "{name}: a field is off by {most} of {size}"
                    );
                }
            }
        }
    }
}

#[test]
fn solids_and_sheets_move_as_on_one_process() {
    for name in [
        "solid_beam.ron",
        "curtain.ron",
        "soft_bunny.ron",
        "trampoline.ron",
        "muscle_arm.ron",
        "gripper_soft.ron",
    ] {
        compare(name);
    }
}

#[test]
fn solids_in_contact_move_as_on_one_process() {
    for name in ["soft_balls.ron", "bunny_on_cushion.ron", "bowl.ron"] {
        compare(name);
    }
}

#[test]
fn a_path_of_equilibria_is_that_of_one_process() {
    compare("cook.ron");
}

/// Probes read stresses of all elements on every process, and what they read one by one stays whole.
#[test]
fn what_is_measured_is_that_of_one_process() {
    let strings = |name: &str, from: usize| {
        let pair = |i: usize| format!("({}, {})", 2 * i + from, 2 * i + from + 30);
        let pairs: Vec<String> = (0..16).map(pair).collect();
        format!(
            "Mapped(name: \"{name}\", parents: [\"beam\"], mapping: Distance(pairs: [{}]))",
            pairs.join(", ")
        )
    };
    let spring = |name: &str| {
        format!(
            "(name: \"{name} pull\", on: \"{name}\", law: Spring(curve: Linear(100), damping: 1), treatment: Stiffness)"
        )
    };
    let text = format!(
        "(gravity: (0, 0, -9.81), run: (duration: 0.06, step: 0.01), nodes: [
            Solid(name: \"beam\", shape: Box(size: (1, 0.2, 0.2), cells: (8, 2, 2)), density: 1000,
                material: Corotational(young: 1e6, poisson: 0.3), fix_boxes: [((-0.01, -1, -1), (1e-6, 1, 1))]),
            {}, {}],
        force_fields: [{}, {}],
        record: [Stress(\"beam\"), Stress(\"beam\", 70), Strain(\"beam\", 3), Energy(potential),
            Position(\"beam\", 80), Force((\"read pull\", 15))])",
        strings("free", 0),
        strings("read", 1),
        spring("free"),
        spring("read")
    );
    let text = &text;
    let settings = Settings::default();
    let alone = Runner::new(load(text).build(&settings).unwrap())
        .unwrap()
        .run(|_| {});
    for ([_, shared], end) in run_over(text, 3) {
        assert!(end.error.is_none(), "{:?}", end.error);
        // Gradients and strains at the points of 32 hexahedra, and the strings that nobody reads.
        assert_eq!(shared, 2 * 8 * 32 + 16);
        for (name, probe) in &alone.summary.probes {
            let found = &end.summary.probes[name];
            // Stresses at rest are the rounding of strains times moduli.
            let near = |a: Option<f64>, b: Option<f64>| {
                a.zip(b)
                    .is_some_and(|(a, b)| (a - b).abs() <= 1e-9 * b.abs() + 1e-7)
            };
            assert!(
                near(found.last, probe.last) && near(found.max, probe.max),
                "{name}: {found:?} {probe:?}"
            );
        }
    }
}
