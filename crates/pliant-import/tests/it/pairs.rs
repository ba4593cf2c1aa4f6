//! Pairs of geoms of MJCF, against MuJoCo where they rest and a closed form where they slide.

use crate::reference::at_rest;
use crate::{import_mjcf, remarked, runner};
use pliant_import::Imported;

/// Bodies, line 2 of a file.
const BODIES: &str = "<worldbody><geom name=\"floor\" type=\"plane\" size=\"5 5 1\"/><body name=\"a\" pos=\"0 0 0.1\"><freejoint/><geom name=\"a\" type=\"box\" size=\"0.2 0.2 0.1\"/><geom name=\"knob\" size=\"0.1\" pos=\"0 0 0.2\"/></body><body name=\"b\" pos=\"2 0 0.1\"><freejoint/><geom name=\"b\" type=\"box\" size=\"0.2 0.2 0.1\"/><geom name=\"round\" type=\"ellipsoid\" size=\"0.1 0.1 0.2\"/></body></worldbody>";

fn try_import(parts: &str) -> Result<Imported, String> {
    import_mjcf(&format!("{BODIES}\n{parts}"))
}

fn pair(attributes: &str) -> Imported {
    let made = try_import(&format!("<contact><pair {attributes}/></contact>"));
    made.unwrap_or_else(|e| panic!("{e}"))
}

/// A box and a shelf that meet nothing else, a lid on the chest that it hangs on, and boxes that
/// are excluded from each other but for one shape each.
#[test]
fn pairs_meet_whatever_keeps_them_apart() {
    at_rest("pairs.xml");
}

/// Two boxes on ground under a gravity that is not square to it: the one with the pair slides by
/// `(g_x - mu g_z) t^2/2`, the other one stays.
#[test]
fn pairs_have_friction_of_their_own() {
    let parts = "<option gravity=\"3 0 -9.81\"/><contact><pair geom1=\"b\" geom2=\"floor\" friction=\"0.2 0.2\"/></contact>";
    let made = try_import(parts).unwrap();
    assert!(
        made.scene
            .contains("(between: (\"surface 2\", \"surface 3\"), friction: 0.2)"),
        "{}",
        made.scene
    );
    let mut runner = runner(&made.scene.replace("duration: 2", "duration: 0.5"));
    while !runner.is_done() {
        runner.step().unwrap();
    }
    let simulation = runner.simulation();
    let x = |node: &str| simulation.positions(simulation.model().node_named(node).unwrap())[0];
    // Of a constant acceleration the step has no error; contacts have 1e-8 of velocity.
    assert!((x("a")).abs() < 1e-6, "{}", x("a"));
    let way = 0.5 * (3.0 - 0.2 * 9.81) * 0.25;
    assert!((x("b") - 2.0 - way).abs() < 1e-6, "{} {way}", x("b"));
}

#[test]
fn coefficients_are_those_of_the_pair() {
    let with = |numbers: &str| pair(&format!("geom1=\"a\" geom2=\"b\" {numbers}"));
    let first = |made: &Imported| {
        let entry = made.scene.lines().find(|line| line.contains("between:"));
        entry.map(|line| line.trim().to_owned())
    };
    // What a pair has by default, geoms have as well: no more is said.
    assert_eq!(first(&with("")), None);
    assert!(!remarked(&with(""), "differ"), "{:?}", with("").remarks);
    for (numbers, expected, differ) in [
        ("condim=\"1\"", "friction: 0)", false),
        ("friction=\"0.3 0.3\"", "friction: 0.3)", false),
        ("friction=\"0.3\"", "friction: 0.3)", true),
        (
            "condim=\"4\" friction=\"0.3 0.3 0.01\"",
            "friction: 0.3, torsional_friction: 0.01)",
            false,
        ),
        (
            "condim=\"6\" friction=\"1 1 0.01 0.002 0.002\"",
            "friction: 1, torsional_friction: 0.01, rolling_friction: 0.002)",
            false,
        ),
        ("friction=\"0.3 0.3 0.01 0.002 0.004\"", "friction: 0.3)", false),
    ] {
        let made = with(numbers);
        let found = first(&made).unwrap();
        assert!(found.ends_with(&format!("{expected},")), "{numbers}: {found}");
        let told = remarked(&made, "coefficients differ between directions has the first");
        assert_eq!(told, differ, "{numbers}: {:?}", made.remarks);
        runner(&made.scene);
    }
}

#[test]
fn pairs_without_effect_are_told() {
    for (attributes, expected) in [
        (
            "geom1=\"a\" geom2=\"knob\"",
            "a pair of geoms of one body has no effect (m.xml:3)",
        ),
        (
            "geom1=\"a\" geom2=\"a\"",
            "a pair of geoms of one body has no effect (m.xml:3)",
        ),
        (
            "geom1=\"a\" geom2=\"round\"",
            "a pair with a geom that does not collide is not taken (m.xml:3)",
        ),
        (
            "geom1=\"a\" geom2=\"b\" margin=\"1\"",
            "`margin` of `pair` is not taken (m.xml:3)",
        ),
        (
            "geom1=\"a\" geom2=\"b\"/><pair geom1=\"b\" geom2=\"a\"",
            "of pairs of the same geoms the first is taken (m.xml:3)",
        ),
    ] {
        let made = pair(attributes);
        assert!(remarked(&made, expected), "{expected}: {:?}", made.remarks);
        runner(&made.scene);
    }
}

/// More pairs than groups: those that bits keep apart do not meet, and that is told.
#[test]
fn many_pairs_are_told() {
    let (mut bodies, mut pairs) = (String::new(), String::new());
    for i in 0..20 {
        let geom = |name: &str| {
            format!(
                "<body><freejoint/><geom name=\"{name}{i}\" size=\"0.1\" contype=\"0\" conaffinity=\"0\"/></body>"
            )
        };
        bodies += &(geom("p") + &geom("q"));
        pairs += &format!("<pair geom1=\"p{i}\" geom2=\"q{i}\"/>");
    }
    let made = try_import(&format!(
        "<worldbody>{bodies}</worldbody><contact>{pairs}</contact>"
    ))
    .unwrap();
    assert!(
        remarked(
            &made,
            "pairs that contype and conaffinity keep apart are not taken"
        ),
        "{:?}",
        made.remarks
    );
    let ghost = made
        .scene
        .lines()
        .find(|line| line.contains("name: \"p0\""))
        .unwrap();
    assert!(ghost.contains("collides_with: []"), "{ghost}");
    runner(&made.scene);
}

#[test]
fn broken_pairs_are_errors_with_a_caret() {
    let pair = |attributes: &str| format!("<contact><pair {attributes}/></contact>");
    let both = |attributes: &str| pair(&format!("geom1=\"a\" geom2=\"b\" {attributes}"));
    for (parts, expected) in [
        (pair("geom1=\"a\""), "`pair` has no `geom2`"),
        (pair("geom1=\"a\" geom2=\"knop\""), "did you mean `knob`?"),
        (both("friction=\"-1\""), "`friction` is -1, which is below zero"),
        (
            both("friction=\"1 1 1 1 1 1\""),
            "6 numbers where 5 are expected at most",
        ),
        (both("friction=\"x\""), "`friction` has `x` where a number"),
        (both("condim=\"2\""), "`condim` is 2, and may be 1, 3, 4 or 6"),
        (
            both("") + "<worldbody><geom name=\"a\" size=\"1\"/></worldbody>",
            "the geom `a` is there twice",
        ),
    ] {
        let shown = try_import(&parts).map(|made| made.scene).unwrap_err();
        assert!(
            shown.contains(expected) && shown.contains("m.xml:3:") && shown.contains('^'),
            "{expected}:\n{shown}"
        );
    }
}
