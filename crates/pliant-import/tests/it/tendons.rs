//! Sites and tendons of MJCF, against numbers of MuJoCo (`reference.json`, made by
//! `reference/generate.py`); their motion is compared in `reference.rs`.

use crate::reference::{at_rest, list, options, reference, rows};
use crate::{import_mjcf, imported, remarked, runner};
use pliant::Simulation;
use pliant::dense::rotation::matrix;
use pliant_import::Imported;

/// Places of sites and lengths of tendons: rounding of some dozen operations, and the 15 digits
/// that scenes have.
const START: f64 = 1e-12;
/// Bodies and what is fixed in the world for tendons, line 2 of a file.
const BODIES: &str = "<worldbody><site name=\"hook\" pos=\"0 0 2\"/><body name=\"a\"><joint name=\"j\" axis=\"0 1 0\"/><geom name=\"g\" size=\"0.1\" pos=\"0.5 0 0\"/><site name=\"s\" pos=\"1 0 0\"/><site name=\"same\" pos=\"1 0 0\"/></body><body name=\"b\" pos=\"1 0 0\"><freejoint/><geom name=\"h\" size=\"0.1\"/><site name=\"t\" pos=\"0 0 -0.5\"/><site name=\"touching\"/></body></worldbody>";

fn try_import(parts: &str) -> Result<Imported, String> {
    import_mjcf(&format!("{BODIES}\n{parts}"))
}

fn import(parts: &str) -> Imported {
    try_import(parts).unwrap_or_else(|e| panic!("{e}"))
}

/// A spatial tendon through sites and pulleys with attributes.
fn spatial(attributes: &str, path: &str) -> String {
    let parts: String = path
        .split(' ')
        .map(|part| match part.strip_prefix('/') {
            Some(divisor) => format!("<pulley divisor=\"{divisor}\"/>"),
            None => format!("<site site=\"{part}\"/>"),
        })
        .collect();
    format!("<tendon><spatial name=\"rope\" {attributes}>{parts}</spatial></tendon>")
}

fn positions<'a>(simulation: &'a Simulation, node: &str) -> &'a [f64] {
    simulation.positions(simulation.model().node_named(node).unwrap())
}

#[test]
fn sites_and_lengths_are_those_of_the_reference() {
    let mut count = (0, 0);
    for case in reference()["cases"].as_array().unwrap() {
        let made = imported(case["file"].as_str().unwrap(), &options(case));
        let runner = runner(&made.scene);
        let simulation = runner.simulation();
        for (name, expected) in case["tendons"].as_object().unwrap() {
            let found = positions(simulation, name)[0];
            let expected = expected.as_f64().unwrap();
            assert!((found - expected).abs() < START, "{name}: {found} {expected}");
            count.0 += 1;
        }
        for (name, expected) in case["sites"].as_object().unwrap() {
            // The site of the ball has the name of its body.
            let name = if name == "ball" { "ball 2" } else { name };
            let found = positions(simulation, name);
            let expected: [f64; 12] = list(expected);
            for (found, expected) in found.iter().zip(&expected[..3]) {
                assert!((found - expected).abs() < START, "{name}: {found} {expected}");
            }
            let axes = rows(&serde_json::json!(expected[3..]));
            let off = matrix([found[3], found[4], found[5], found[6]]) - axes;
            assert!(off.norm() < START, "{name}: {off}");
            count.1 += 1;
        }
    }
    assert!(count.0 >= 12 && count.1 >= 13, "{count:?} are compared");
}

/// A leash from above and a string stop what falls, two slides carry each other by the lower limit
/// of a sum, a sum with dry friction holds what is lighter, a length follows another one along a
/// parabola, and one is held.
#[test]
fn limits_and_friction_hold_where_the_reference_rests() {
    let runner = at_rest("leashes.xml");
    let simulation = runner.simulation();
    for (name, limit) in [("leash", 1.0), ("string", 0.3), ("between", -0.15)] {
        let found = positions(simulation, name)[0];
        assert!((found - limit).abs() < 1e-9, "{name}: {found}");
    }
}

#[test]
fn ropes_have_what_acts_on_them() {
    let made = import(&spatial(
        "stiffness=\"8\" springlength=\"0 1.5\" range=\"0.5 3\" frictionloss=\"2\" armature=\"0.1\" damping=\"3\"",
        "hook s /4 s t /2 s same",
    ));
    for expected in [
        // The last branch stays in one body, where its length is zero.
        "Mapped(name: \"rope\", parents: [\"rope.branches\"], mapping: Affine(dimension: 1, offset: [0], entries: [(to: (0, 0), from: 0, value: 1), (to: (0, 0), from: 1, value: 0.25)])),",
        "(name: \"rope.spring\", on: \"rope\", law: Spring(curve: TensionOnly(8), rest: 1.5)),",
        "(name: \"rope.damper\", on: \"rope\", law: Damping(linear: 3)),",
        "(name: \"rope.armature\", on: \"rope\", mass: 0.1),",
        "(name: \"rope.friction\", on: \"rope\", level: Velocity(), bounds: (lower: -2, upper: 2)),",
        "(name: \"rope.lower limit\", on: \"rope\", motion: 0.5, bounds: (lower: 0)),",
        "(name: \"rope.upper limit\", on: \"rope\", motion: 3, bounds: (upper: 0)),",
    ] {
        assert!(made.scene.contains(expected), "{expected}\n{}", made.scene);
    }
    assert!(!made.scene.contains("short spring"), "{}", made.scene);
    runner(&made.scene);
    // A length that is always above a limit has none there, nor one whose range has nothing inside.
    let made = import(&spatial("range=\"-1 3\"", "hook s"));
    assert!(!made.scene.contains("lower limit") && made.scene.contains("upper limit"));
    let made = import(&spatial("range=\"0 0\"", "hook s"));
    assert!(!made.scene.contains("limit"), "{}", made.scene);
    let made = import(&spatial("range=\"0 1\" limited=\"false\"", "hook s"));
    assert!(!made.scene.contains("limit"), "{}", made.scene);
}

#[test]
fn lengths_follow_lengths() {
    let tendons = "<tendon><spatial name=\"rope\"><site site=\"hook\"/><site site=\"s\"/></spatial><fixed name=\"sum\"><joint joint=\"j\" coef=\"2\"/></fixed></tendon>";
    let rows = "<equality><tendon name=\"row\" tendon1=\"sum\" tendon2=\"rope\" polycoef=\"0.5 -3\"/><tendon tendon1=\"rope\" polycoef=\"0.25\"/><tendon tendon1=\"rope\" tendon2=\"sum\" active=\"false\"/></equality>";
    let made = import(&format!("{tendons}{rows}"));
    // The rope is sqrt(5) m long in the file: sum - 0 = 0.5 - 3 (rope - sqrt(5)).
    let root = 5.0f64.sqrt();
    for expected in [
        format!(
            "Mapped(name: \"row\", parents: [\"sum\", \"rope\"], mapping: Affine(dimension: 1, offset: [{}], entries: [(to: (0, 0), from: (\"sum\", 0), value: 1), (to: (0, 0), from: (\"rope\", 0), value: 3)])),",
            -3.0 * root - 0.5
        ),
        "(name: \"row.force\", on: \"row\"),".to_owned(),
        format!(
            "(name: \"rope length.force\", on: \"rope\", motion: {}),",
            root + 0.25
        ),
    ] {
        assert!(made.scene.contains(&expected), "{expected}\n{}", made.scene);
    }
    assert!(remarked(&made, "a constraint that is not active is not taken"));
    assert_eq!(made.scene.matches(".force\"").count(), 2, "{}", made.scene);
    runner(&made.scene);
}

#[test]
fn what_has_no_length_to_act_on_is_told() {
    let wrap = "<tendon>\n<spatial name=\"rope\"><site site=\"hook\"/>\n<geom geom=\"g\"/><site site=\"t\"/></spatial></tendon><actuator>\n<motor tendon=\"rope\"/></actuator><equality>\n<tendon tendon1=\"rope\"/></equality>";
    let made = import(wrap);
    assert!(remarked(
        &made,
        "a row of a tendon that is not taken is not taken (m.xml:7)"
    ));
    assert!(
        remarked(&made, "wraps around a geom is not taken (m.xml:5)"),
        "{:?}",
        made.remarks
    );
    assert!(remarked(
        &made,
        "an actuator of this tendon is not taken (m.xml:6)"
    ));
    for (path, expected) in [
        ("s same", "stays in one body has no effect"),
        ("hook s touching t", "two sites in a row at one place"),
    ] {
        let made = import(&spatial("stiffness=\"1\"", path));
        assert!(remarked(&made, expected), "{:?}", made.remarks);
        assert!(!made.scene.contains("rope"), "{}", made.scene);
    }
    let row = "<equality>\n<tendon tendon1=\"rope\"/></equality>";
    let made = import(&(spatial("", "s same") + row));
    assert!(remarked(
        &made,
        "a row of a tendon that is left out is left out as well (m.xml:4)"
    ));
    let made = import("<worldbody>\n<site/></worldbody>");
    assert!(
        remarked(&made, "sites without a name are pictures only (m.xml:4)"),
        "{:?}",
        made.remarks
    );
    assert!(remarked(
        &made,
        "a site that stands in the world is no node (m.xml:2)"
    ));
}

#[test]
fn broken_tendons_are_errors_with_a_caret() {
    let on_rope = |actuator: &str| format!("{}<actuator>{actuator}</actuator>", spatial("", "hook s"));
    let row = |row: &str| format!("{}<equality><tendon {row}/></equality>", spatial("", "hook s"));
    for (parts, expected) in [
        (spatial("", "hook sa"), "there is no site `sa`"),
        (spatial("", "hook tuoching"), "did you mean `touching`?"),
        (spatial("", "hook"), "a tendon needs two sites or more"),
        (spatial("", "hook s /2"), "a tendon needs two sites or more"),
        (spatial("", "hook s /2 t"), "a tendon needs two sites or more"),
        (spatial("", "hook /2 hook s"), "a tendon needs two sites or more"),
        (spatial("", "hook s s t"), "the site `s` comes twice in a row"),
        (
            spatial("", "hook s /0 s t"),
            "`divisor` is 0, and must be above zero",
        ),
        (
            spatial("", "hook s /-1 s t"),
            "`divisor` is -1, and must be above zero",
        ),
        (spatial("", "hook s /x s t"), "`divisor` has `x` where a number"),
        (
            "<tendon><spatial/></tendon>".to_owned(),
            "a tendon needs two sites or more",
        ),
        (
            "<tendon><spatial><site/></spatial></tendon>".to_owned(),
            "`site` has no `site`",
        ),
        (
            "<tendon><spatial><pulley/></spatial></tendon>".to_owned(),
            "`pulley` has no `divisor`",
        ),
        ("<tendon><fixed/></tendon>".to_owned(), "a tendon has no `joint`"),
        (
            spatial("range=\"2 1\" limited=\"true\"", "hook s"),
            "nothing is between them",
        ),
        (spatial("range=\"-2 -1\"", "hook s"), "a length is above zero"),
        (
            spatial("limited=\"true\" range=\"0 0\"", "hook s"),
            "a length is above zero",
        ),
        (
            spatial("stiffness=\"-1\"", "hook s"),
            "`stiffness` is -1, which is below zero",
        ),
        (
            spatial("armature=\"-1\"", "hook s"),
            "`armature` is -1, which is below zero",
        ),
        (
            spatial("frictionloss=\"-1\"", "hook s"),
            "`frictionloss` is -1, which is below zero",
        ),
        (
            spatial("springlength=\"2 1\"", "hook s"),
            "nothing is between them",
        ),
        (
            spatial("springlength=\"1 2 3\"", "hook s"),
            "3 numbers where 1 or 2 are expected",
        ),
        (
            spatial("", "hook s") + &spatial("", "hook t"),
            "the tendon `rope` is there twice",
        ),
        (on_rope("<motor tendon=\"rop\"/>"), "did you mean `rope`?"),
        (row("tendon1=\"rop\""), "did you mean `rope`?"),
        (row("tendon2=\"rope\""), "`tendon` has no `tendon1`"),
        (
            row("tendon1=\"rope\" tendon2=\"none\""),
            "there is no tendon `none`",
        ),
        (
            row("tendon1=\"rope\" tendon2=\"rope\""),
            "the tendon `rope` cannot follow itself",
        ),
        (
            row("tendon1=\"rope\" polycoef=\"1 2 3 4 5 6\""),
            "6 numbers where 5 are expected at most",
        ),
        (row("tendon1=\"rope\" active=\"yes\""), "`active` cannot be `yes`"),
        (
            "<worldbody><site name=\"s\"/></worldbody>".to_owned(),
            "the site `s` is there twice",
        ),
    ] {
        let shown = try_import(&parts).map(|made| made.scene).unwrap_err();
        assert!(
            shown.contains(expected) && shown.contains("m.xml:3:") && shown.contains('^'),
            "{expected}:\n{shown}"
        );
    }
}
