//! The `units` of a file: the same scene in other units is the same to rounding.

use crate::{build, built, drawn};
use pliant::Simulation;
use pliant_scene::{BuiltScene, Format, SceneFile, Settings};

/// The scene of the shipped slider-crank in millimetres, grams and milliseconds.
const SLIDER_CRANK: &str = r#"(
    units: (length: "mm", mass: "g", time: "ms"),
    parameters: {"crank": 200, "rod": "0.6 m", "speed": 0.01},
    gravity: (0, -9.81e-3, 0),
    run: (duration: 3000, step: 2),
    nodes: [
        Bodies(name: "crank", bodies: [(position: ("$crank / 2", 0, 0), shape: Box("$crank", 40, 20), mass: 1000)]),
        Bodies(name: "rod", bodies: [(position: ("200 mm + $rod / 2", 0, 0), shape: Box("$rod", 30, "2 cm"), mass: "0.5 kg")]),
        Bodies(name: "piston", bodies: [(position: ("200 mm + $rod", 0, 0), shape: Box(100, 100, 100), mass: 2e3)]),
    ],
    joints: [
        (name: "shaft", kind: Hinge, b: Body("crank", 0), motors: [Velocity(speed: "$speed * tanh(0.002 * $t)")]),
        (name: "crank pin", kind: Hinge, a: Body("crank", 0), b: Body("rod", 0), at: ("$crank", 0, 0)),
        (name: "wrist pin", kind: Hinge, a: Body("rod", 0), b: Body("piston", 0), at: ("200 mm + $rod", 0, 0)),
        (name: "cylinder", kind: Slider, b: Body("piston", 0), at: ("200 mm + $rod", 0, 0), axis: (1, 0, 0)),
    ],
)"#;

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * size, "{a} {b} of {size}");
    }
}

/// The state after some steps.
fn run(scene: BuiltScene, steps: usize) -> (Vec<f64>, Vec<f64>) {
    let step = scene.plan.step;
    let mut simulation = Simulation::with_options(scene.model, scene.options).unwrap();
    for _ in 0..steps {
        simulation.step(step).unwrap();
    }
    let state = simulation.state();
    (state.positions.clone(), state.velocities.clone())
}

#[test]
fn a_shipped_scene_in_millimetres_grams_and_milliseconds_is_the_same() {
    let path = std::path::Path::new("../../scenes/slider_crank.ron");
    let shipped = SceneFile::load(path)
        .unwrap()
        .build(&Settings::default())
        .unwrap();
    let other = built(SLIDER_CRANK);
    assert_near(
        &[other.plan.duration, other.plan.step],
        &[shipped.plan.duration, shipped.plan.step],
        1e-15,
    );
    let masses = |scene: &BuiltScene| {
        let all = scene.model.masses().iter();
        let of = |mass: &pliant::model::RigidMass| {
            let inertia = mass.inertia_matrix();
            [mass.mass, inertia[(0, 0)], inertia[(1, 1)], inertia[(2, 2)]]
        };
        all.flat_map(|m| of(m.component.rigid(0).unwrap()))
            .collect::<Vec<_>>()
    };
    for (a, b) in masses(&other).iter().zip(masses(&shipped)) {
        assert!((a / b - 1.0).abs() < 1e-14, "{a} {b}");
    }
    let ((x, v), (y, w)) = (run(other, 200), run(shipped, 200));
    // Rounding of the start grows with the motion.
    assert_near(&x, &y, 1e-12);
    assert_near(&v, &w, 1e-12);
}

const SPRINGS: &str = r#"(UNITS
    gravity: (0, 0, GRAVITY),
    run: (duration: "1 s", step: "5 ms"),
    nodes: [
        Particles(name: "p", positions: [(LENGTH, 0, 0), (0, "2 * $l", 0)], mass: MASS),
        Mapped(name: "d", parents: ["p"], mapping: Distance(pairs: [(0, 1)])),
        Solid(name: "s", shape: Box(size: (LENGTH, LENGTH, LENGTH), cells: (1, 1, 1)), position: (0, 0, FAR),
            material: Corotational(young: "YOUNG * (1 + $x / LENGTH)", poisson: 0.3), density: DENSITY),
    ],
    parameters: {"l": LENGTH},
    force_fields: [
        (name: "k", on: "d", law: Stiffness(STIFFNESS), motion: "0.1 * LENGTH * sin(RATE * $t)", bounds: (lower: "-9 * FORCE")),
        (name: "c", on: "p", law: Damping(linear: DAMPING)),
        (name: "f", on: "p", law: Force(["FORCE * sin(RATE * $t)", FORCE, 0])),
        (name: "g", on: "d", law: Spring(curve: Table([(0, 0), (LENGTH, FORCE)]), rest: LENGTH)),
    ],
)"#;

fn springs(values: [&str; 11]) -> String {
    let names = [
        "UNITS",
        "GRAVITY",
        "LENGTH",
        "MASS",
        "FAR",
        "YOUNG",
        "DENSITY",
        "STIFFNESS",
        "DAMPING",
        "FORCE",
        "RATE",
    ];
    let pairs = names.into_iter().zip(values);
    pairs.fold(SPRINGS.to_owned(), |text, (name, value)| {
        text.replace(name, value)
    })
}

#[test]
fn springs_forces_and_moduli_are_in_the_units_of_the_file() {
    let si = springs([
        "", "-9.81", "0.2", "0.3", "2", "1e5", "1000", "50", "0.4", "1.5", "3",
    ]);
    let reference = run(built(&si), 100);
    for other in [
        // g mm/ms^2 = N, N/mm = 1e3 N/m, MPa.
        springs([
            "units: (length: \"mm\", mass: \"g\", time: \"ms\"),",
            "-9.81e-3",
            "200",
            "300",
            "2000",
            "0.1",
            "1e-3",
            "0.05",
            "0.4",
            "1.5",
            "3e-3",
        ]),
        // Forces in N: masses in t, rates in 1/s, N s/mm.
        springs([
            "units: (length: \"mm\", force: \"N\"),",
            "-9810",
            "200",
            "3e-4",
            "2000",
            "0.1",
            "1e-9",
            "0.05",
            "4e-4",
            "1.5",
            "3",
        ]),
        springs([
            "units: (length: \"cm\", mass: \"kg\", time: \"s\", force: \"kg cm/s^2\"),",
            "-981",
            "20",
            "0.3",
            "200",
            "1e3",
            "1e-3",
            "50",
            "0.4",
            "150",
            "3",
        ]),
    ] {
        let found = run(built(&other), 100);
        assert_near(&found.0, &reference.0, 1e-12);
        assert_near(&found.1, &reference.1, 1e-12);
    }
}

/// Files have units of their own: what a scene says of an instance is in those of the scene.
#[test]
fn an_included_file_has_units_of_its_own() {
    let folder = std::env::temp_dir().join(format!("pliant-file-units-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let part = |units: &str| {
        format!(
            "({units} parameters: {{\"l\": 10}}, nodes: [Particles(name: \"p\", positions: [(\"$l\", 2, \"3 m\")], mass: 1)])"
        )
    };
    std::fs::write(folder.join("mm.ron"), part("units: (length: \"mm\"),")).unwrap();
    std::fs::write(folder.join("si.ron"), part("")).unwrap();
    let scene = "(units: (length: \"cm\"), run: (duration: 1), include: [(file: \"mm.ron\", name: \"a\", position: (100, 0, 0)), \
                 (file: \"si.ron\", name: \"b\", parameters: {\"l\": 7}), (file: \"mm.ron\", name: \"c\", parameters: {\"l\": \"7 m\"})], \
                 nodes: [Particles(name: \"own\", positions: [(1, 2, 3)], mass: 1)])";
    let built = SceneFile::from_text(&folder.join("a.ron"), scene, Format::Ron)
        .and_then(|file| file.build(&Settings::default()))
        .unwrap_or_else(|error| panic!("{error}"));
    assert_near(&crate::positions(&built, "a.p"), &[1.01, 0.002, 3.0], 1e-15);
    assert_near(&crate::positions(&built, "b.p"), &[7.0, 2.0, 3.0], 1e-15);
    assert_near(&crate::positions(&built, "c.p"), &[7.0, 0.002, 3.0], 1e-15);
    assert_near(&crate::positions(&built, "own"), &[0.01, 0.02, 0.03], 1e-15);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_units_do_not_say_is_asked_for() {
    for (text, part) in [
        (
            "(units: (length: \"mm\"), run: (duration: 1), nodes: [Scalars(name: \"s\", values: [5], mass: 1)])",
            "may be of several dimensions",
        ),
        (
            "(units: (length: \"kg\"), run: (duration: 1), nodes: [])",
            "\"kg\" is the unit of a mass (kg), and needed is a length (m)",
        ),
        (
            "(units: (time: \"blink\"), run: (duration: 1), nodes: [])",
            "\"blink\" is no unit",
        ),
        (
            "(units: (mass: \"kg\", force: \"kN\"), run: (duration: 1), nodes: [])",
            "leave `mass` or `force` out",
        ),
    ] {
        let text = drawn(&build(text).map(|_| ()).unwrap_err());
        assert!(text.contains(part), "{text}");
    }
    // Zero is nothing of anything; a unit says what it is.
    built(
        "(units: (length: \"mm\"), run: (duration: 1), nodes: [Scalars(name: \"s\", values: [0, \"5 mm\"], mass: \"1 kg\")])",
    );
}
