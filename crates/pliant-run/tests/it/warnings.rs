//! Warnings of starts and runs, refusals ahead of the first step, and what is tied to something.

use crate::scenes::path;
use pliant_run::{Outcome, Runner};
use pliant_scene::{Format, SceneError, SceneFile, Settings};

fn checked(text: &str) -> Result<Runner, SceneError> {
    let scene = SceneFile::from_text("a.ron".as_ref(), text, Format::Ron)?;
    let mut runner = Runner::new(scene.build(&Settings::default())?)?;
    runner.check().map(|()| runner)
}

/// The warnings of the start, whether or not the first step can be taken.
fn warned_at_start(text: &str) -> Vec<String> {
    let scene = SceneFile::from_text("a.ron".as_ref(), text, Format::Ron).unwrap();
    let runner = Runner::new(scene.build(&Settings::default()).unwrap()).unwrap();
    runner.warnings().iter().map(ToString::to_string).collect()
}

/// The warnings of `check`, as they are drawn.
fn warned(text: &str) -> Vec<String> {
    let runner = checked(text).unwrap_or_else(|e| panic!("{e}"));
    runner.warnings().iter().map(ToString::to_string).collect()
}

fn ran(text: &str) -> Outcome {
    let scene = SceneFile::from_text("a.ron".as_ref(), text, Format::Ron).unwrap();
    Runner::new(scene.build(&Settings::default()).unwrap())
        .unwrap()
        .run(|_| {})
}

/// The text above the carets of a drawn complaint.
fn pointed_at(drawn: &str) -> &str {
    let lines: Vec<&str> = drawn.lines().collect();
    let marks = |l: &str| l.trim_start().trim_start_matches(['|', ' ']).starts_with('^');
    let carets = lines.iter().position(|l| marks(l)).unwrap();
    let start = lines[carets].find('^').unwrap();
    &lines[carets - 1][start..start + lines[carets].matches('^').count()]
}

#[test]
fn scenes_of_the_repository_have_no_warnings() {
    let mut count = 0;
    for entry in std::fs::read_dir(path("pendulum").parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "ron") {
            continue;
        }
        let built = SceneFile::load(&path)
            .unwrap()
            .build(&Settings::default())
            .unwrap();
        let mut runner = Runner::new(built).unwrap();
        runner.check().unwrap_or_else(|e| panic!("{e}"));
        let list: Vec<_> = runner.warnings().iter().map(ToString::to_string).collect();
        assert!(list.is_empty(), "{list:?}");
        count += 1;
    }
    assert!(count >= 48, "{count}");
}

/// Two bodies hang on springs without a load and without gravity: rounding strains the springs by
/// 1e-16, and what comes of 1e-65 J is neither an error nor worth a warning.
#[test]
fn rest_without_gravity_is_rest() {
    let turned = "rotation: Axis(around: (0, 1, 0), degrees: 90)";
    let text = format!(
        "(run: (duration: 0.1, step: 0.01),
        nodes: [
            Bodies(name: \"trunk\", bodies: [(position: (0, 0, 0.781), mass: 5, shape: Box(0.9, 0.1, 0.1), {turned})]),
            Bodies(name: \"thigh\", bodies: [(position: (-0.469, 0, 0.649), mass: 1.3, shape: Box(0.1, 0.1, 0.27))]),
            Bodies(name: \"foot\", bodies: [(position: (-0.4865, 0, 0.417), mass: 0.7, shape: Box(0.1, 0.1, 0.1), {turned})]),
        ],
        joints: [
            (name: \"hip\", kind: Hinge, a: Body(\"trunk\", 0), b: Body(\"thigh\", 0), at: (-0.469, 0, 0.781),
                axis: (0, 1, 0), springs: [(compliance: 0.01)]),
            (name: \"knee\", kind: Hinge, a: Body(\"thigh\", 0), b: Body(\"foot\", 0), at: (-0.469, 0, 0.517),
                axis: (0, 1, 0), springs: [(compliance: 0.01)]),
        ])"
    );
    let outcome = ran(&text);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert!(
        outcome.summary.warnings.is_empty(),
        "{:?}",
        outcome.summary.warnings
    );
}

const LIMIT: &str = "(run: (duration: 0.1, step: 0.01),
    nodes: [Bodies(name: \"bd\", bodies: [(position: (1, 0, 0), shape: Sphere(0.1), mass: 1)])],
    joints: [(name: \"j\", kind: Slider, b: Body(\"bd\", 0), limits: [(lower: 0.5)])])";

#[test]
fn a_start_outside_a_limit() {
    let list = warned(LIMIT);
    assert_eq!(list.len(), 1, "{list:?}");
    assert!(list[0].starts_with("warning: `j.lower limit 0`, element 0 starts 0.5 m outside its limit"));
    assert_eq!(pointed_at(&list[0]), "[(lower: 0.5)]");
    assert!(warned(&LIMIT.replace("lower: 0.5", "lower: -0.5")).is_empty());
    // Of what turns it is an angle.
    let hinge = LIMIT
        .replace("Slider", "Hinge")
        .replace("lower: 0.5", "upper: -0.01");
    let list = warned(&hinge);
    assert!(
        list[0].starts_with("warning: `j.upper limit 0`, element 0 starts 0.01 rad outside its limit"),
        "{list:?}"
    );
}

/// An energy without a value at the start is one of a force field that the user can name.
#[test]
fn an_endless_energy_at_the_start_is_that_of_its_force_field() {
    let text = "(run: (duration: 0.1, step: 0.01), nodes: [
        Particles(name: \"p\", positions: [(1e10, 0, 0)], mass: 1),
        Mapped(name: \"r\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 0.75)),
    ], force_fields: [(name: \"soft\", on: \"r\", law: Stiffness(1)),
        (name: \"r\", on: \"r\", law: Stiffness(1e300))])";
    let error = checked(text).unwrap_err().to_string();
    assert!(
        error.starts_with("error: the energy of the force field `r` is inf at the start"),
        "{error}"
    );
    assert_eq!(pointed_at(&error), "Stiffness(1e300)");
    assert!(error.contains("= help: give it a smaller stiffness"), "{error}");
}

#[test]
fn a_rope_that_starts_too_short_and_a_rod_that_starts_off() {
    let text = "(run: (duration: 0.1, step: 0.01), nodes: [
        Particles(name: \"p\", positions: [(1, 0, 0)], mass: 1),
        Mapped(name: \"r\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 0.75)),
    ], constraints: [(name: \"rope\", on: \"r\", bounds: (upper: 0))])";
    let list = warned(text);
    assert!(list[0].starts_with("warning: `rope`, element 0 starts 0.25 m outside its limit"));
    assert_eq!(pointed_at(&list[0]), "(upper: 0)");
    let list = warned(&text.replace(", bounds: (upper: 0)", ""));
    assert!(list[0].starts_with("warning: `rope`, element 0 starts 0.25 m from where it is held"));
    // Slack ropes are what ropes are for.
    assert!(warned(&text.replace("0.75", "1.5")).is_empty());
}

/// A body that a hinge holds, and `fixed` at rest, was given a spin across the hinge: the step from
/// one to the other made energy.
#[test]
fn a_velocity_of_what_is_fixed_from_the_start() {
    let text = "(run: (duration: 0.1, step: 0.01),
        nodes: [Bodies(name: \"b\", bodies: [(mass: 2, shape: Box((0.2, 0.3, 0.4)), angular_velocity: (0, 2, 0))])],
        joints: [(name: \"j\", kind: Hinge, at: (0, 0, 0.4), axis: (1, 0, 0), b: Body(\"b\", 0))],
        fixed: [(node: \"b\", axes: [\"rx\", \"ry\", \"rz\"])])";
    let list = warned(text);
    assert_eq!(list.len(), 1, "{list:?}");
    assert!(
        list[0].starts_with("warning: `b`, element 0 is fixed from the start: its velocity does not count"),
        "{list:?}"
    );
    assert_eq!(pointed_at(&list[0]), "\"b\"");
    let outcome = ran(text);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(outcome.summary.energy_start.kinetic, 0.0);
    assert!(warned(&text.replace("(0, 2, 0)", "(0, 0, 0)")).is_empty());
    assert!(warned(&text.replace("\"rz\"]", "\"rz\"], from: 0.05")).is_empty());
}

#[test]
fn shapes_that_start_in_each_other() {
    let text = "(gravity: (0, 0, -9.81), run: (duration: 0.1, step: 0.01),
        nodes: [Bodies(name: \"a\", bodies: [(position: (0, 0, 0.2), shape: Sphere(0.5), mass: 1)])],
        colliders: [Fixed(name: \"ground\", shape: Plane(0, 0, 1)), Bodies(node: \"a\")])";
    let list = warned(text);
    assert!(
        list[0].starts_with("warning: `ground` and `a` start 0.3 m deep in each other"),
        "{list:?}"
    );
    assert_eq!(pointed_at(&list[0]), "\"a\"");
    assert!(warned(&text.replace("0.2)", "0.497)")).is_empty());
    // A body alone at the origin: rounding is no depth.
    let alone = text
        .replace("0.2)", "0)")
        .replace("Plane(0, 0, 1)", "Plane(0, 0, 1), position: (0, 0, -0.499999)");
    assert!(warned(&alone).is_empty());
    assert_eq!(
        ran(text).summary.warnings[0],
        "`ground` and `a` start 0.3 m deep in each other"
    );
}

#[test]
fn contradictions_name_both_constraints() {
    let text = "(run: (duration: 0.1), nodes: [
        Particles(name: \"bob\", positions: [(1, 0, 0)], mass: 1),
        Mapped(name: \"rod\", parents: [\"bob\"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
        Mapped(name: \"rod2\", parents: [\"bob\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 2)),
    ], constraints: [(name: \"hard\", on: \"rod\"), (name: \"other\", on: \"rod2\")])";
    let error = checked(text).unwrap_err().to_string();
    let said = "error: `hard`, element 0 contradicts `other`, element 0 at t = 0 s: they are 1 m apart";
    assert!(error.starts_with(said), "{error}");
    assert_eq!(pointed_at(&error), "\"hard\"");
    assert_eq!(ran(text).summary.error.unwrap(), &said["error: ".len()..]);
}

/// Refusals of the first step, and where they are said.
#[test]
fn check_refuses_what_the_first_step_would() {
    let pendulum = "(run: (duration: 0.1, step: 0.01), nodes: [
        Particles(name: \"p\", positions: [(1, 0, 0)], mass: 1),
        Mapped(name: \"d\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
    ], constraints: [(name: \"rod\", on: \"d\", level: Baumgarte(rate: 100))])";
    assert!(checked(pendulum).is_ok());
    for (from, to, said, at) in [
        (
            "rate: 100",
            "rate: 250",
            "Baumgarte rate of `rod` is 2.5, but must be below 2",
            "250",
        ),
        (
            "step: 0.01",
            "step: 0.01, integrator: Theta, adaptive_step: (first: 0.001)",
            "to hold `rod`, element 0",
            "(first: 0.001)",
        ),
        (
            "step: 0.01",
            "step: 0.01, integrator: Rattle",
            "not held at the level of positions",
            "Rattle",
        ),
    ] {
        let text = pendulum.replace(from, to);
        let error = checked(&text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert_eq!(pointed_at(&error), at, "{error}");
        assert!(ran_or_refused(&text), "{text}");
    }
}

/// A coupling of friction that does not go with a material is refused ahead of the contact that has
/// it, and only where such a contact can be.
#[test]
fn a_coupling_of_friction_is_refused_before_things_meet() {
    let falling = "(gravity: (0, 0, -9.81), run: (duration: 0.02, step: 0.01, friction_coupling: Lagged),
        nodes: [Bodies(name: \"b\", bodies: [(position: (0, 0, 9), shape: Sphere(0.1), mass: 1)])],
        materials: [(name: \"m\", friction: 0.5, rolling_friction: 0.01), (name: \"n\", friction: 0.5)],
        colliders: [Bodies(node: \"b\", material: \"m\"), Fixed(name: \"g\", shape: Plane(0, 0, 1), material: \"m\")])";
    for law in ["rolling_friction: 0.01", "torsional_friction: 0.01"] {
        let text = falling.replace("rolling_friction: 0.01", law);
        let error = checked(&text).unwrap_err().to_string();
        assert!(
            error.contains("of the contact of `b` and `g`; `Exact` does"),
            "{error}"
        );
        assert_eq!(pointed_at(&error), "Lagged", "{error}");
        assert!(checked(&text.replace("Lagged", "Exact")).is_ok());
        let others = text.replace("material: \"m\"", "material: \"n\"");
        assert!(checked(&others).is_ok());
    }
}

/// Whether a run refuses a scene or ends in its first step.
fn ran_or_refused(text: &str) -> bool {
    let scene = SceneFile::from_text("a.ron".as_ref(), text, Format::Ron).unwrap();
    match Runner::new(scene.build(&Settings::default()).unwrap()) {
        Err(_) => true,
        Ok(mut runner) => runner.step().is_err(),
    }
}

#[test]
fn units_that_are_hardly_meant() {
    let text = "(gravity: (0, 0, -9.81), run: (duration: 0.01, step: 0.01), nodes: [
        Bodies(name: \"b\", bodies: [(shape: Box(0.1, 0.05, 0.02), mass: 0.78), (position: (1, 0, 0), shape: Box(0.1, 0.05, 0.02), mass: 1)]),
        Solid(name: \"s\", shape: Box(size: (0.5, 0.1, 0.1), cells: (2, 1, 1)), position: (0, 5, 0),
            material: Corotational(young: 2e11, poisson: 0.3), density: 7800),
    ])";
    assert!(warned(text).is_empty());
    for (from, to, said, at) in [
        ("-9.81", "-9810", "gravity is 9810 m/s^2", "(0, 0, -9810)"),
        (
            "(1, 0, 0)",
            "(1000, 0, 0)",
            "the scene is 1000 m wide, in a gravity of 9.81 m/s^2",
            "(0, 0, -9.81)",
        ),
        (
            "mass: 0.78",
            "mass: 780",
            "a body of `b` has 7.8e6 kg/m^3 in its shape",
            "780",
        ),
        (
            "density: 7800",
            "density: 7.8e-9",
            "the density of `s` is 7.8e-9 kg/m^3",
            "7.8e-9",
        ),
        (
            "density: 7800",
            "density: 1",
            "the density of `s` is 1e0 kg/m^3",
            "1",
        ),
        (
            "mass: 0.78",
            "mass: 2e6",
            "a body of `b` has 2.0e10 kg/m^3 in its shape",
            "2e6",
        ),
        (
            "Box(0.1, 0.05, 0.02), mass: 0.78",
            "Box(100, 50, 20), mass: 7.8e8",
            "a body of `b` weighs 7.8e8 kg",
            "7.8e8",
        ),
        (
            "(0, 5, 0),\n            material: Corotational(young: 2e11, poisson: 0.3), density: 7800",
            "(0, 2000, 0),\n            material: Corotational(young: 210000, poisson: 0.3), density: 1500",
            "Young's modulus of `s` is 210000 Pa, softer than rubber, in a scene 2000 m wide",
            "210000",
        ),
        (
            "young: 2e11",
            "young: 200000",
            "Young's modulus of `s` is 200000 Pa, softer than rubber",
            "200000",
        ),
    ] {
        let list = warned_at_start(&text.replace(from, to));
        assert_eq!(list.len(), 1, "{list:?}");
        assert!(list[0].contains(said) && list[0].contains("help"), "{list:?}");
        assert_eq!(pointed_at(&list[0]), at);
    }
}

/// A mass on a stiff spring that is stretched in its only step: without stiffness in the system it
/// is flung.
#[test]
fn energy_that_nothing_brought_in_is_told() {
    let text = "(run: (duration: 0.5, step: 0.039, integrator: SymplecticEuler, accuracy: Measured), nodes: [
        Particles(name: \"p\", positions: [(1.1, 0, 0)], mass: 1),
        Mapped(name: \"d\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 1)),
    ], force_fields: [(name: \"spring\", on: \"d\", law: Stiffness(2500))])";
    let told = |text: &str| ran(text).summary.warnings;
    let list = told(text);
    assert!(list[0].starts_with("the energy grew by "), "{list:?}");
    assert!(
        list[0].ends_with("take a smaller step, or `integrator: Sdirk2`"),
        "{list:?}"
    );
    let refused = ran(&text.replace(", accuracy: Measured", ""))
        .error
        .unwrap()
        .to_string();
    assert!(refused.contains("came from nowhere since the start"), "{refused}");
    assert!(refused.contains("`integrator: Sdirk2`"), "{refused}");
    // One sentence says it, with one number and one advice.
    let list = told(&text.replace(", accuracy: Measured", ""));
    assert!(list.is_empty(), "{list:?}");
    let trapezoidal = text.replace("SymplecticEuler", "ForwardEuler, alpha: 0.5, beta: 0.5");
    let trapezoidal = trapezoidal
        .replace("ForwardEuler", "Theta")
        .replace("0.039", "0.2");
    for one in told(&trapezoidal) {
        assert!(!one.contains("alpha"), "{one}");
    }
    assert!(told(&text.replace("step: 0.039", "step: 0.001")).is_empty());
    assert!(told(&text.replace("SymplecticEuler", "Theta")).is_empty());
    let winch = "(gravity: (0, 0, -9.81), run: (duration: 0.5), nodes: [
        Particles(name: \"w\", positions: [(0, 0, 0)], mass: 10),
        Mapped(name: \"l\", parents: [\"w\"], mapping: Distance(pairs: [(0, (0, 0, 3))], rest: 3))],
        force_fields: [(name: \"winch\", on: \"l\", law: Compliance(1e-6), motion: \"-0.3 * $t\", bounds: (upper: 0))])";
    assert!(told(winch).is_empty(), "{:?}", told(winch));
    let start = told(LIMIT);
    assert!(
        start[1].ends_with("start the scene where its rows hold"),
        "{start:?}"
    );
}

/// Losses of the method, beside what was there to lose: a pendulum that swings back has moved all
/// of its energy of position, whatever is left of that at the end.
#[test]
fn what_moved_is_the_deepest_fall() {
    let text = "(gravity: (0, 0, -9.81), run: (duration: 2.37, step: 0.01), nodes: [
        Particles(name: \"p\", positions: [(1, 0, 0)], mass: 1),
        Mapped(name: \"d\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
    ], constraints: [(name: \"rod\", on: \"d\")])";
    let summary = ran(text).summary;
    // The fall is the length of its rod, 1 m; pictures of the lowest point miss it by the square of
    // half the way of a step, 4.4 m/s times 5 ms.
    assert!(
        (summary.turned_over - 9.81).abs() < 9.81 * 0.5 * 0.023f64.powi(2),
        "{}",
        summary.turned_over
    );
    assert!(summary.ledger["numerical"].abs() < 1e-3 * summary.turned_over);
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
}

/// Losses of the method that are as large as friction.
#[test]
fn energy_that_the_method_lost_is_told() {
    let pendulum = "(gravity: (0, 0, -9.81), run: (duration: 20, step: 2), nodes: [
        Particles(name: \"p\", positions: [(1, 0, 0)], mass: 1),
        Mapped(name: \"d\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
    ], constraints: [(name: \"rod\", on: \"d\")])";
    let spinning = "(run: (duration: 1, step: 0.01), nodes: [Bodies(name: \"top\", bodies: [(mass: 2,
        shape: Box(0.2, 0.3, 0.1), angular_velocity: (200, 200, 10))])])";
    let theta = spinning.replace("step: 0.01", "step: 0.01, integrator: Theta");
    for (text, advice) in [
        (pendulum, "take a smaller step, or `integrator: EnergyMomentum`"),
        (spinning, "take a smaller step, or `integrator: EnergyMomentum`"),
        (&theta, "or `integrator: Sdirk2`"),
    ] {
        let summary = ran(text).summary;
        let list = &summary.warnings;
        assert!(
            list.len() == 1 && list[0].starts_with("the method lost "),
            "{list:?}"
        );
        assert!(
            list[0].contains("% of the ") && list[0].contains(advice),
            "{list:?}"
        );
        assert!(summary.ledger["numerical"] < -0.1 * summary.turned_over);
    }
    for (text, from, to) in [(pendulum, "step: 2", "step: 0.01"), (spinning, "0.01", "0.001")] {
        let list = ran(&text.replace(from, to)).summary.warnings;
        assert!(list.is_empty(), "{list:?}");
    }
}

/// An iteration that does not contract says why, and not that a number is none.
#[test]
fn a_body_that_turns_too_far_in_a_step_is_told() {
    let text = "(run: (duration: 2, step: 1, integrator: Theta, gyroscopic: LinearlyImplicit),
        nodes: [Bodies(name: \"top\", bodies: [(mass: 2, shape: Box(0.2, 0.3, 0.1), angular_velocity: (2000, 2000, 10))])])";
    let error = ran(text).error.unwrap().to_string();
    assert!(error.contains("turns too far in one step"), "{error}");
}

/// A box that bounces: at ends of steps its bounces make energy, where steps are parted they do not.
#[test]
fn bounces_that_make_energy_are_told() {
    let text = "(gravity: (0, 0, -9.81), run: (duration: 1, step: 0.01),
        nodes: [Bodies(name: \"box\", bodies: [(position: (0, 0, 0.15), velocity: (2, 0, 0), shape: Box(0.2, 0.2, 0.1), mass: 2)])],
        materials: [(name: \"wood\", friction: 0.5, restitution: 0.5)],
        colliders: [Fixed(name: \"floor\", shape: Plane(0, 0, 1), material: \"wood\"), Bodies(node: \"box\", material: \"wood\")])";
    let list = ran(text).summary.warnings;
    assert!(
        list.len() == 1 && list[0].starts_with("the method made "),
        "{list:?}"
    );
    assert!(list[0].contains("`locate_impacts: true`"), "{list:?}");
    for (from, to) in [
        ("step: 0.01", "step: 0.01, locate_impacts: true"),
        ("restitution: 0.5", "restitution: 0"),
        ("step: 0.01", "step: 0.001"),
    ] {
        let list = ran(&text.replace(from, to)).summary.warnings;
        assert!(list.is_empty(), "{from} -> {to}: {list:?}");
    }
}

/// Rows that change in a run take velocities then, which are none of its start.
#[test]
fn rows_that_change_later_are_no_contradiction_of_the_start() {
    let text = std::fs::read_to_string(path("trebuchet")).unwrap();
    let list = ran(&text.replacen("run: (", "run: (integrator: Theta, ", 1))
        .summary
        .warnings;
    assert!(
        list.iter().all(|w| !w.contains("velocities of the start")),
        "{list:?}"
    );
}

/// A cube whose upper side is driven to its lower one and a tenth of its height beyond: laws of
/// strains in axes that turn along have forces there all the same. All of its elements are inside
/// out then, for a height below zero is one of `det F`.
#[test]
fn elements_that_turn_inside_out_are_told() {
    let text = "(run: (duration: 1.1, step: 0.05, record_every: 1, accuracy: Measured), nodes: [
        Solid(name: \"cube\", shape: Box(size: (1, 1, 1), cells: (1, 1, 1)),
            material: StVenantKirchhoff(young: 1e4, poisson: 0), density: 100)],
        groups: {\"foot\": (node: \"cube\", select: Plane(normal: (0, 0, -1))),
            \"top\": (node: \"cube\", select: Plane(point: (0, 0, 1), normal: (0, 0, 1)))},
        fixed: [(node: \"foot\"), (node: \"top\", axes: [x, y, z], velocity: [0, 0, -1])])";
    for law in ["StVenantKirchhoff", "Corotational"] {
        let list = ran(&text.replace("StVenantKirchhoff", law)).summary.warnings;
        let told = list
            .iter()
            .find(|w| w.contains("inside out in `cube` (det F <= 0)"));
        let told = told.unwrap_or_else(|| panic!("{law}: {list:?}"));
        assert!(told.contains("first element 0 at t = 1"), "{told}");
        let less = text
            .replace("StVenantKirchhoff", law)
            .replace("duration: 1.1", "duration: 0.9");
        let list = ran(&less).summary.warnings;
        assert!(list.iter().all(|w| !w.contains("inside out")), "{list:?}");
    }
}

/// A pendulum that goes by twice its length in a step leaves its rod far behind.
#[test]
fn rows_that_are_far_off_are_told() {
    let text = "(run: (duration: 0.1, step: 0.1, integrator: Theta), nodes: [
        Particles(name: \"p\", positions: [(1, 0, 0)], velocities: [(0, 20, 0)], mass: 1),
        Mapped(name: \"d\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
    ], constraints: [(name: \"rod\", on: \"d\")])";
    let list = ran(text).summary.warnings;
    let off = list.iter().find(|w| w.starts_with("`rod`, element 0 was off by"));
    assert!(
        off.is_some_and(|w| w.contains(" m at t = 0.1 s: take a smaller step")),
        "{list:?}"
    );
    let slow = ran(&text.replace("step: 0.1", "step: 0.001")).summary.warnings;
    assert!(slow.is_empty(), "{slow:?}");
}

/// A ball on a surface that gives way by ten times the thickness of the cloth beside it.
#[test]
fn deep_overlap_in_a_run_is_told() {
    let text = "(gravity: (0, 0, -10), run: (duration: 0.4, step: 0.01), nodes: [
        Bodies(name: \"ball\", bodies: [(position: (0, 0, 0.2), shape: Sphere(0.1), mass: 1)]),
        Particles(name: \"grain\", positions: [(1, 0, 1)], mass: 1),
    ], materials: [(name: \"mud\", compliance: 0.01)],
    colliders: [
        Fixed(name: \"ground\", shape: Plane(0, 0, 1), material: \"mud\"),
        Bodies(node: \"ball\", material: \"mud\"),
        Points(node: \"grain\", radius: 0.001),
    ])";
    let list = ran(text).summary.warnings;
    let deep = list.iter().find(|w| w.contains("deep in each other"));
    assert!(
        deep.is_some_and(|w| w.contains("thinnest is 0.002 m thick")),
        "{list:?}"
    );
    let firm = ran(&text.replace("compliance: 0.01", "compliance: 1e-7"))
        .summary
        .warnings;
    assert!(firm.is_empty(), "{firm:?}");
}

const TIED: &str = "(gravity: (0, 0, -9.81), run: (duration: 0.2, step: 0.01), nodes: [
    Bodies(name: \"box\", bodies: [(position: (0, 0, 1), shape: Box(0.4, 0.4, 0.4), mass: 2)]),
    Mapped(name: \"hook\", parents: [\"box\"], mapping: RigidPoints(points: [(0, (0, 0, 0.15))])),
    Cable(name: \"rope\", from: (0, 0, 2.15), links: 10, link_mass: 0.02, end: Attached(\"hook\", 0)),
], colliders: [Bodies(node: \"box\"), Cable(node: \"rope\", radius: 0.01)])";

/// A rope that is tied to a point inside of a box does not collide with it there, whether one link
/// begins inside or three do.
#[test]
fn a_rope_does_not_collide_with_what_it_is_tied_to() {
    let deeper = TIED
        .replace("(0, 0, 0.15)", "(0, 0, -0.15)")
        .replace("2.15", "1.85")
        .replace("links: 10", "links: 20");
    for text in [TIED, &deeper] {
        assert!(warned(text).is_empty(), "{:?}", warned(text));
        let outcome = ran(text);
        assert!(outcome.error.is_none() && outcome.summary.warnings.is_empty());
        let contacts = outcome.summary.contacts.unwrap();
        assert_eq!((contacts.most_active, contacts.unsolved), (0, 0));
        assert_eq!(contacts.overlap.worst, 0.0);
    }
    // A rope that is tied to something else still meets it, and so do links that begin outside.
    let another = deeper.replace("Attached(\"hook\", 0)", "Fixed, to: (0, 0, -0.15)");
    let list = warned_at_start(&another);
    assert!(list.iter().any(|w| w.contains("deep in each other")), "{list:?}");
    let slack = deeper
        .replace("(0, 0, 1.85)", "(0.5, 0, 0.3)")
        .replace("duration: 0.2", "duration: 1");
    let contacts = ran(&slack).summary.contacts.unwrap();
    assert!(contacts.most_active > 0);
}

/// A corner of a cloth, tied by a constraint on a difference.
#[test]
fn a_cloth_does_not_collide_with_what_holds_its_corner() {
    let text = "(run: (duration: 0.05, step: 0.01), nodes: [
        Bodies(name: \"box\", bodies: [(position: (0, 0, 0), shape: Box(0.04, 0.04, 0.04), mass: 2)]),
        Mapped(name: \"hook\", parents: [\"box\"], mapping: RigidPoints(points: [(0, (0, 0, 0))])),
        ElasticSheet(name: \"cloth\", shape: Rectangle(size: (1, 1), cells: (4, 4)), material: Isotropic(young: 1e5, poisson: 0.3),
            thickness: 0.002, density: 500),
        Mapped(name: \"gap\", parents: [\"cloth\", \"hook\"], mapping: Difference(pairs: [((\"cloth\", 0), (\"hook\", 0))])),
    ], constraints: [(name: \"tie\", on: \"gap\")],
    colliders: [Bodies(node: \"box\"), Cloth(node: \"cloth\", radius: 0.005)])";
    assert!(warned(text).is_empty(), "{:?}", warned(text));
    let contacts = ran(text).summary.contacts.unwrap();
    assert_eq!(contacts.most_active, 0);
    let loose = text.replace("constraints: [(name: \"tie\", on: \"gap\")],", "");
    assert!(!warned(&loose).is_empty());
}
