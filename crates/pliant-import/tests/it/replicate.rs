//! Parts of MJCF that are there several times; places and motion are compared with MuJoCo in
//! `reference.rs` and `tendons.rs`.

use crate::{import_mjcf, imported, remarked, runner};
use pliant_import::{Imported, Options};

fn import(parts: &str) -> Imported {
    import_mjcf(parts).unwrap_or_else(|e| panic!("{e}"))
}

/// A `replicate` of a body with a joint, beside another body, with what comes behind.
fn replicate(attributes: &str, behind: &str) -> String {
    let body = "<body name=\"b\" pos=\"1 0 0\"><joint name=\"j\" axis=\"0 1 0\"/><geom name=\"g\" size=\"0.1\"/></body>";
    let other = "<body name=\"o\" pos=\"0 0 3\"><joint name=\"oj\"/><geom name=\"og\" size=\"0.1\"/></body>";
    format!("<worldbody><replicate {attributes}>{body}</replicate>{other}</worldbody>{behind}")
}

/// As MuJoCo 4.0 names them: one digit up to 9 copies, two up to 99.
#[test]
fn names_have_as_many_digits_as_the_count() {
    for (count, names) in [
        (1, vec!["b0"]),
        (9, vec!["b0", "b8"]),
        (10, vec!["b00", "b09"]),
        (12, vec!["b00", "b11"]),
    ] {
        let made = import(&replicate(&format!("count=\"{count}\" offset=\"0 1 0\""), ""));
        for name in names {
            assert!(
                made.scene.contains(&format!("Bodies(name: \"{name}\"")),
                "{name}\n{}",
                made.scene
            );
        }
        assert_eq!(
            made.scene.matches("Bodies(name: \"b").count(),
            count,
            "{}",
            made.scene
        );
    }
}

/// Actuators in the order of MuJoCo, which is that of controls of keyframes: what is copied comes
/// last.
#[test]
fn what_refers_to_copies_is_copied() {
    let made = imported("spokes.xml", &Options::default());
    for expected in [
        "\"push\": 0.5,",
        "\"only\": 0.1,",
        "\"pull_0_0\": 0.2,",
        "\"pull_2_1\": 0.7,",
        "(name: \"pull+2-1\", on: \"sum+2-1\", law: Force([\"0.3 * $pull_2_1\"])),",
    ] {
        assert!(made.scene.contains(expected), "{expected}\n{}", made.scene);
    }
    runner(&made.scene);
    let behind = "<contact><exclude body1=\"b\" body2=\"o\"/><pair geom1=\"g\" geom2=\"g\"/></contact><equality><connect body1=\"b\" body2=\"world\" anchor=\"0 0 0\"/></equality>";
    let made = import(&replicate("count=\"2\" sep=\"-\" offset=\"0 1 0\"", behind));
    for expected in [
        "(\"g-0\", \"og\"),",
        "(\"g-1\", \"og\"),",
        "name: \"b-0-world\"",
        "name: \"b-1-world\"",
    ] {
        assert!(made.scene.contains(expected), "{expected}\n{}", made.scene);
    }
    assert!(
        remarked(&made, "a pair of geoms of one body has no effect"),
        "{:?}",
        made.remarks
    );
}

/// Geoms of one body, without names, and settings that stand behind the bodies.
#[test]
fn shapes_are_copied_within_a_body() {
    let made = import(
        "<worldbody><body name=\"b\"><freejoint/><replicate count=\"3\" offset=\"2 0 0\" euler=\"0 0 1.5707963267948966\"><geom size=\"0.1\" mass=\"1\"/></replicate></body></worldbody><compiler angle=\"radian\"/>",
    );
    // At the origin, at (2, 0), and at (2, 2), for the second step is turned.
    assert!(
        made.scene
            .contains("position: (1.33333333333333, 0.66666666666667, 0), mass: 3"),
        "{}",
        made.scene
    );
}

#[test]
fn what_is_not_taken_of_copies_is_told() {
    for (parts, expected) in [
        (
            replicate("count=\"0\"", "<actuator><motor joint=\"j\"/></actuator>"),
            "a count of zero is left out, with all that is inside and what refers to it",
        ),
        (
            replicate("count=\"2\" offset=\"0 1 0\" pos=\"1 0 0\"", ""),
            "`pos` of `replicate` is not taken (m.xml:2)",
        ),
        (
            "<worldbody><body><geom size=\"1\"/><replicate count=\"2\"><inertial pos=\"0 0 0\" mass=\"1\"/></replicate></body></worldbody>".to_owned(),
            "`inertial` in `replicate` is not taken (m.xml:2)",
        ),
    ] {
        let made = import(&parts);
        assert!(remarked(&made, expected), "{expected}: {:?}", made.remarks);
    }
}

#[test]
fn broken_copies_are_errors_with_a_caret() {
    let inside = |parts: &str| {
        format!(
            "<worldbody><body><geom size=\"1\"/><replicate count=\"2\">{parts}</replicate></body></worldbody>"
        )
    };
    for (parts, expected) in [
        (replicate("offset=\"1 0 0\"", ""), "`replicate` has no `count`"),
        (replicate("count=\"two\"", ""), "`count` has `two` where a number"),
        (
            replicate("count=\"2.5\"", ""),
            "`count` is 2.5, and no number of copies",
        ),
        (
            replicate("count=\"-1\"", ""),
            "`count` is -1, and no number of copies",
        ),
        (replicate("count=\"1e300\"", ""), "more than 1000000 elements"),
        (replicate("count=\"400000\"", ""), "more than 1000000 elements"),
        (
            replicate("count=\"3\" offset=\"1e308 0 0\"", ""),
            "where a number is expected",
        ),
        (
            replicate("count=\"2\" euler=\"1 2\"", ""),
            "`euler` has 2 numbers where 3",
        ),
        (
            replicate("count=\"2\" childclass=\"none\"", ""),
            "there is no class `none`",
        ),
        (
            replicate(
                "count=\"2\"",
                "<tendon><fixed><joint joint=\"j\" coef=\"1\"/><joint joint=\"oj\" coef=\"1\"/></fixed></tendon>",
            ),
            "there is no joint `j`",
        ),
        (
            replicate(
                "count=\"2\"",
                "<equality><weld body1=\"b\" body2=\"o\"/></equality>",
            ),
            "there is no body `b`",
        ),
        (inside("<joint/>"), "joints only inside of its bodies"),
        (
            inside("<frame><freejoint/></frame>"),
            "joints only inside of its bodies",
        ),
        (
            replicate("count=\"2\"", "<worldbody><body name=\"b1\"/></worldbody>"),
            "the body `b1` is there twice",
        ),
    ] {
        let shown = import_mjcf(&parts).map(|made| made.scene).unwrap_err();
        assert!(
            shown.contains(expected) && shown.contains("m.xml:2:") && shown.contains('^'),
            "{expected}:\n{shown}"
        );
    }
}

/// Copies within copies within copies: their number is bounded before they are made.
#[test]
fn copies_of_copies_are_bounded() {
    let open = "<replicate count=\"100\" offset=\"0 0 1\">".repeat(8);
    let close = "</replicate>".repeat(8);
    let shown = import_mjcf(&format!("<worldbody>{open}<geom size=\"1\"/>{close}</worldbody>"));
    let shown = shown.map(|made| made.scene).unwrap_err();
    assert!(shown.contains("more than 1000000 elements"), "{shown}");
}

/// Every `replicate` looks at all that may refer to it: how often together is bounded as well.
#[test]
fn looks_for_references_are_bounded() {
    let copies = "<replicate count=\"1\"><geom size=\"1\"/></replicate>".repeat(4000);
    let excluded = "<exclude body1=\"world\" body2=\"world\"/>".repeat(3000);
    let shown = import_mjcf(&format!(
        "<worldbody>{copies}</worldbody><contact>{excluded}</contact>"
    ));
    let shown = shown.map(|made| made.scene).unwrap_err();
    assert!(
        shown.contains("too many `replicate` beside so many rows, tendons and actuators"),
        "{shown}"
    );
}
