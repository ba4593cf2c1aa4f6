//! The comparison with other programs: its measures, its runs, its arguments, its reports.

use pliant::prelude::*;
use pliant_benches::chain::{Chain, Pose};
use pliant_benches::heaps::moment;
use pliant_benches::nets::Net;
use pliant_benches::peers::*;
use std::path::Path;

fn case(subject: Subject, step: f64, steps: usize, every: usize) -> Case {
    Case {
        subject,
        step,
        steps,
        every,
    }
}

fn swing(links: usize, last_mass: f64) -> Subject {
    Subject::Chain {
        links,
        last_mass,
        pose: Pose::Swing,
    }
}

fn judge(case: &Case) -> Judge {
    Judge::new(case, Material::StVenantKirchhoff).unwrap()
}

fn still(bodies: impl Iterator<Item = [f64; 3]>) -> Frame {
    Frame {
        bodies: bodies
            .map(|x| (x, [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]))
            .collect(),
        ..Frame::default()
    }
}

/// Round-off of sums of a few numbers near 1.
const ROUNDING: f64 = 1e-14;

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().zip(wanted) {
        let both_unknown = a.is_nan() && b.is_nan();
        assert!(both_unknown || (a - b).abs() < ROUNDING, "{found:?} {wanted:?}");
    }
}

#[test]
fn a_chain_is_judged_by_the_points_of_its_joints() {
    let case = case(swing(3, 2.0), 0.5, 1, 1);
    let mut judge = judge(&case);
    // The second link is 3 mm too far along x: off from both of its neighbours; 20 mm lower all.
    let places = [0.05, 0.153, 0.25].map(|x| [x, 0.0, -0.02]);
    judge.observe(0.5, &still(places.into_iter()));
    let reach = (0.3f64 * 0.3 + 0.02 * 0.02).sqrt() / 0.3;
    // Weights of 1, 1 and 2 kg sink by 0.02 m, of the 0.05 + 0.15 + 2 x 0.25 to straight down.
    let energy = -4.0 * 0.02 / 0.7;
    close(&judge.measures(), &[0.02, 0.02, reach, 0.0, energy, f64::NAN]);
}

#[test]
fn the_energy_of_a_chain_is_that_of_the_library() {
    let mut chain = Chain::new(10, 1000.0, Pose::Swing).simulation().unwrap();
    let energy = |s: &Simulation| s.problem().energies(s.state()).total();
    let first = energy(&chain.simulation);
    for _ in 0..40 {
        chain.simulation.step(0.01).unwrap();
    }
    let judge = judge(&case(swing(10, 1000.0), 0.01, 1, 1));
    let frame = Frame {
        bodies: moment(&chain.simulation, chain.bodies),
        ..Frame::default()
    };
    let change = energy(&chain.simulation) - first;
    // Sums of ten terms of up to 10 kJ.
    assert!((judge.energy(&frame) - change).abs() < 1e-9, "{change}");
    // They move: kinetic energy is in it.
    assert!(change < -1.0);
}

#[test]
fn cubes_are_judged_by_what_they_stand_on_and_by_every_way_they_go() {
    for (boxes, pairs) in [(Boxes::Tower(4, 1.0), 4), (Boxes::Pyramid(4), 4 + 2 * 6)] {
        let mut supports = boxes.supports();
        supports.dedup();
        assert_eq!(supports.len(), pairs);
        let case = case(Subject::Boxes(boxes), 0.01, 1, 1);
        let places: Vec<[f64; 3]> = boxes.heap().bodies.iter().map(|b| b.at).collect();
        let mut judge = judge(&case);
        judge.observe(0.0, &still(places.iter().copied()));
        close(&judge.measures(), &[0.0; 5]);
        // The top one into what is below it, then high above, then aside.
        let top = places.len() - 1;
        for (shift, wanted) in [
            ([0.0, 0.0, -0.01], [0.01, 0.01, 0.0, 0.0, 0.01]),
            ([0.0, 0.0, 0.5], [0.01, 0.0, 0.0, 0.0, 0.5]),
            ([0.03, 0.04, 0.0], [0.01, 0.0, 0.05, 0.0, 0.5]),
        ] {
            let mut moved = places.clone();
            (0..3).for_each(|k| moved[top][k] += shift[k]);
            judge.observe(0.0, &still(moved.into_iter()));
            close(&judge.measures(), &wanted);
        }
    }
}

#[test]
fn every_cube_of_a_pyramid_stands_where_its_supports_say() {
    let boxes = Boxes::Pyramid(5);
    let bodies = boxes.heap().bodies;
    for (k, below) in boxes.supports() {
        let Some(below) = below else {
            assert!((bodies[k].at[2] - 0.1).abs() < ROUNDING);
            continue;
        };
        assert!((bodies[k].at[2] - bodies[below].at[2] - 0.2).abs() < ROUNDING);
        assert!(((bodies[k].at[0] - bodies[below].at[0]).abs() - 0.105).abs() < ROUNDING);
    }
}

#[test]
fn a_stretched_net_has_its_strain_and_its_energy() {
    let net = Net::new(5);
    let case = case(Subject::Net(5), 0.5, 2, 1);
    let mut judge = judge(&case);
    let points = |factor: f64, height: f64| Frame {
        points: (net.knots.iter())
            .map(|x| ([factor * x[0], factor * x[1], height], [0.0; 3]))
            .collect(),
        ..Frame::default()
    };
    judge.observe(0.5, &points(1.02, -0.1));
    judge.observe(1.0, &points(1.01, -0.2));
    let found = judge.measures();
    // 40 sides of 0.05 m and 32 diagonals.
    let squares = 40.0 * 0.0025 + 32.0 * 0.005;
    let energy = |e: f64, z: f64| (0.5 * 1e4 * squares * e * e + 0.025 * 9.81 * z) / net.reference_energy();
    let wanted = [
        0.02,
        energy(0.02, -0.1),
        energy(0.01, -0.2),
        -0.1,
        f64::NAN,
        -0.2,
        f64::NAN,
    ];
    for (a, b) in found.iter().zip(&wanted) {
        // Differences of lengths near 0.05 m lose three digits.
        assert!(
            a.is_nan() && b.is_nan() || (a - b).abs() < 1e-10 * b.abs().max(1.0),
            "{found:?}"
        );
    }
}

/// Stands still, and ends as it is told.
struct Fake {
    frame: Frame,
    taken: usize,
    trouble: fn(usize) -> Option<&'static str>,
}

impl Engine for Fake {
    fn advance(&mut self, steps: usize, budget: f64) -> Result<Advance, String> {
        let mut out = Advance::default();
        while out.steps < steps && out.seconds < budget {
            self.taken += 1;
            match (self.trouble)(self.taken) {
                Some("nan") => self.frame.bodies[0].0[0] = f64::NAN,
                Some("far") => self.frame.bodies[0].0[2] = 1e13,
                Some(other) => return Err(other.to_owned()),
                None => {}
            }
            out.steps += 1;
            out.seconds += 0.25;
        }
        Ok(out)
    }

    fn frame(&self) -> Frame {
        self.frame.clone()
    }
}

fn fake(trouble: fn(usize) -> Option<&'static str>) -> Contender {
    Contender {
        program: Program::Rapier,
        setting: "fake",
        material: Material::StVenantKirchhoff,
        start: Box::new(move || {
            let frame = still([[0.05, 0.0, 0.0], [0.15, 0.0, 0.0]].into_iter());
            Ok(Box::new(Fake {
                frame,
                taken: 0,
                trouble,
            }))
        }),
    }
}

#[test]
fn runs_end_by_their_steps_their_budget_or_their_trouble() {
    let case = case(swing(2, 1.0), 0.01, 50, 10);
    let row = run(&case, &fake(|_| None), 1e3);
    assert_eq!((row.steps, &row.outcome), (50, &Outcome::Finished));
    // The first step is timed apart.
    assert_eq!(
        (row.first, row.seconds, row.per_step()),
        (0.25, 49.0 * 0.25, 0.25)
    );
    assert_eq!(row.to_string(), "");
    let row = run(&case, &fake(|_| None), 4.0);
    assert_eq!((row.steps, &row.outcome), (16, &Outcome::Capped));
    // The error of the tip is that of a time; it is not known, since 0.5 s were not reached.
    assert!(row.is_told() && row.error().is_nan());
    assert_eq!(row.to_string(), "cap, 16 steps");
    // A budget that ends with the last step is enough.
    assert_eq!(run(&case, &fake(|_| None), 12.5).outcome, Outcome::Finished);
    let row = run(&case, &fake(|k| (k == 25).then_some("nan")), 1e3);
    assert_eq!((row.steps, &row.outcome), (30, &Outcome::Diverged));
    let row = run(&case, &fake(|k| (k == 5).then_some("far")), 1e3);
    assert_eq!((row.steps, &row.outcome), (10, &Outcome::Diverged));
    let row = run(&case, &fake(|k| (k == 12).then_some("no answer")), 1e3);
    assert_eq!(row.to_string(), "stops at 0.100 s: no answer");
    let none = Contender {
        start: Box::new(|| Err("not here".to_owned())),
        ..fake(|_| None)
    };
    let row = run(&case, &none, 1e3);
    assert_eq!(row.to_string(), "not run: not here");
    assert!(row.per_step().is_nan() && row.measures.iter().all(|x| x.is_nan()));
}

#[test]
fn pliant_meets_the_reference_of_the_swinging_chain() {
    let case = Case::all(Scene::Chain, true)[0];
    let none = Err("no Python".to_owned());
    for contender in contenders(Program::Pliant, &case, &none) {
        let row = run(&case, &contender, 1e3);
        assert_eq!(row.outcome, Outcome::Finished);
        // docs/lab/peers.md has 1.4 mm for SDIRK2, and 0.13 and 0.137 m for implicit Euler.
        let most = if row.setting.starts_with("SDIRK2") {
            2e-3
        } else {
            0.14
        };
        assert!(row.error() < most && row.error() > 1e-3, "{row:?}");
        // Never above the start, to rounding.
        assert!(row.measures[3] < 1e-12, "{row:?}");
    }
    let row = run(&case, &contenders(Program::MuJoCo, &case, &none)[0], 1e3);
    assert_eq!(row.to_string(), "not run: no Python");
}

#[test]
fn a_python_that_is_not_there_is_named() {
    let case = Case::all(Scene::Boxes, true)[0];
    let python = Ok(Environment::given("no-such-python".into()));
    let row = run(&case, &contenders(Program::MuJoCo, &case, &python)[0], 1.0);
    assert!(row.to_string().starts_with("not run: no-such-python: "), "{row}");
}

#[test]
fn arguments_are_taken_or_named() {
    let parse = |text: &str| {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Arguments::parse(&words)
    };
    let all = parse("").unwrap();
    assert_eq!((all.scenes.len(), all.programs.len(), all.quick), (4, 3, false));
    let some =
        parse("--scene B,D --only mujoco --cap 2.5 --python python3 --json out --quick --write").unwrap();
    assert_eq!(some.scenes, [Scene::Boxes, Scene::Beam]);
    assert_eq!(some.programs, [Program::MuJoCo]);
    assert_eq!(some.cap, 2.5);
    assert_eq!(some.python.as_deref(), Some(Path::new("python3")));
    assert!(some.quick && some.write && some.json.is_some());
    for (text, says) in [
        ("--scenes A", "unknown argument `--scenes`"),
        ("quick", "unknown argument `quick`"),
        ("--scene", "--scene needs a value"),
        ("--scene A,E", "--scene: `E` is not one of A, B, C, D"),
        ("--scene a", "--scene: `a` is not"),
        ("--only bullet", "--only: `bullet` is not one of"),
        ("--cap", "--cap needs a value"),
        ("--cap 0", "--cap: `0` is not a positive number"),
        ("--cap inf", "--cap: `inf` is not a positive number"),
        ("--cap fast", "--cap: `fast` is not a positive number"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with(says), "{text}: {error}");
    }
}

#[test]
fn reports_have_a_line_per_row_and_a_point_per_finished_run() {
    let case = case(swing(2, 1.0), 0.01, 50, 10);
    let rows = [
        run(&case, &fake(|_| None), 1e3),
        run(&case, &fake(|k| (k == 25).then_some("nan")), 1e3),
    ];
    let text = table(Scene::Chain, &rows);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    let bars = |line: &str| line.matches('|').count();
    assert!(lines.iter().all(|line| bars(line) == bars(lines[0])), "{text}");
    assert!(
        lines[2].starts_with("| 2 links 1:1 | 10 | Rapier | fake | 4.00 | "),
        "{text}"
    );
    assert!(lines[3].ends_with("| diverges by 0.300 s |"), "{text}");
    assert_eq!(table(Scene::Beam, &rows).lines().count(), 2);
    // Two links have no reference of the tip: no panel, but a legend and a title.
    let drawn = picture(Scene::Chain, &rows);
    assert!(drawn.starts_with("<svg") && drawn.contains("Rapier: fake"));
    let values = json(&rows);
    assert_eq!(values["rows"][1]["note"], "diverges by 0.300 s");
    assert_eq!(values["rows"][0]["seconds_per_step"], 0.25);
    assert!(values["rows"][0]["measures"][5]["value"].is_null());
    let document = "a\n<!-- bench peers A: begin -->\nold\n<!-- bench peers A: end -->\nb\n";
    let new = replace(document, Scene::Chain, "new\n").unwrap();
    assert_eq!(new, document.replace("old", "new"));
    let error = replace(document, Scene::Net, "").unwrap_err();
    assert!(error.to_string().contains("bench peers C: begin"));
}
