//! Messages where a name of a quantity is wrong.

use super::{PROBES, try_runner};
use crate::drawn::assert_drawn;

/// Change, message, what the carets are under, help.
const MISTAKES: [(&str, &str, &str, &str, &str); 30] = [
    (
        "Position(\"arm\")",
        "Position(\"arn\")",
        "unknown node `arn`",
        "\"arn\"",
        "did you mean `arm`?",
    ),
    (
        "Position(\"arm\")",
        "Position(\"arm\", 1)",
        "there is no element 1: `arm` has 1",
        "\"arm\"",
        "",
    ),
    (
        "Position(\"arm\")",
        "Position(\"arm\", -1)",
        "is -1, but must be from 0",
        "\"arm\"",
        "",
    ),
    (
        "Position(\"arm\")",
        "Position(\"arm\", 0.5)",
        "is 0.5, not a whole number",
        "\"arm\"",
        "",
    ),
    (
        "Position(\"arm\")",
        "Position(0)",
        "expected a name in quotes",
        "0",
        "",
    ),
    (
        "Position(\"arm\")",
        "Position(\"arm\", 0, 0)",
        "expected a name in quotes",
        "(\"arm\", 0, 0)",
        "",
    ),
    (
        "Position(\"arm\")",
        "Positon(\"arm\")",
        "unknown kind `Positon` in `record`",
        "Positon",
        "did you mean `Position`?",
    ),
    (
        "Orientation(\"arm\", 0)",
        "Orientation(\"bobs\", 0)",
        "`bobs` has points of space, and only bodies turn",
        "\"bobs\"",
        "",
    ),
    (
        "AngularVelocity(\"arm\")",
        "AngularVelocity(\"dial\")",
        "`dial` has scalars, and only bodies turn",
        "\"dial\"",
        "",
    ),
    (
        "Joint(\"hinge\")",
        "Joint(\"hing\")",
        "unknown joint `hing`",
        "\"hing\"",
        "did you mean `hinge`?",
    ),
    (
        "Force(\"rope\")",
        "Force(\"rop\")",
        "`rop` is no constraint, force field or joint",
        "\"rop\"",
        "did you mean `rope`?",
    ),
    (
        "Force(\"rope\")",
        "Force(\"arm.mass\")",
        "`arm.mass` is a mass",
        "\"arm.mass\"",
        "",
    ),
    (
        "Force(\"rope\")",
        "Force(\"rope\", 7)",
        "there is no element 7: `rope` has 1",
        "\"rope\"",
        "",
    ),
    (
        "Energy(total)",
        "Energy(totl)",
        "unknown kind `totl` in `Energy`",
        "totl",
        "did you mean `total`?",
    ),
    (
        "value: 3)",
        "value: \"3 * arn.x\")",
        "there is nothing called `arn`",
        "arn",
        "did you mean `arm`?",
    ),
    (
        "value: 3)",
        "value: \"hinge.angel\")",
        "`hinge` has no quantity `angel`",
        "angel",
        "did you mean `angle`?",
    ),
    (
        "value: 3)",
        "value: \"1 + hinge\")",
        "`hinge` is no number: say which of its quantities",
        "hinge",
        "quantities of `hinge`: `angle`, `angle_rate`, `force_x`, `force_y`, `force_z`, `torque_x`, `torque_y`, `torque_z`",
    ),
    (
        "value: 3)",
        "value: \"bobs.x\")",
        "`bobs` has 2 elements: say which",
        "bobs",
        "`bobs[0].x`",
    ),
    (
        "value: 3)",
        "value: \"bobs[2].x\")",
        "there is no element 2: `bobs` has 2",
        "2",
        "",
    ),
    (
        "value: 3)",
        "value: \"rope.tension\")",
        "`rope` has no quantity `tension`",
        "tension",
        "quantities of `rope`: `force`, `potential`",
    ),
    (
        "value: 3)",
        "value: \"foot.forces\")",
        "`foot` has no quantity `forces`",
        "forces",
        "did you mean `force_x`?",
    ),
    (
        "value: 3)",
        "value: \"energy.all\")",
        "`energy` has no quantity `all`",
        "all",
        "quantities of `energy`: `kinetic`, `potential`, `total`",
    ),
    (
        "value: 3)",
        "value: \"$sare\")",
        "unknown parameter `$sare`",
        "$sare",
        "did you mean `share`?",
    ),
    (
        "value: 3)",
        "value: \"arm.x > 2\")",
        "this is a condition, and a number is needed",
        "arm.x > 2",
        "`if(condition, 1, 0)` makes a number of it",
    ),
    (
        "value: 3)",
        "value: \"1 + three\")",
        "`three` is made of itself",
        "three",
        "",
    ),
    (
        "value: 3)",
        "value: \"1 + four\"), Expression(name: \"four\", value: \"2 * three\")",
        "`three` is made of itself",
        "three",
        "",
    ),
    (
        "name: \"three\"",
        "name: \"mix\"",
        "the name `mix` is used twice in `record`",
        "\"mix\"",
        "",
    ),
    (
        "name: \"three\"",
        "name: \"arm\"",
        "the name `arm` is used twice: expressions could not tell",
        "\"arm\"",
        "",
    ),
    (
        "(\"bobs\", \"ground\")",
        "(\"bobs\", \"gruond\")",
        "unknown collider `gruond`",
        "\"gruond\"",
        "did you mean `ground`?",
    ),
    (
        "probe_every: 3",
        "probe_every: 0",
        "`probe_every` is 0, but must be from 1",
        "0",
        "",
    ),
];

#[test]
fn mistakes_are_drawn_with_a_suggestion() {
    for (from, to, message, under, help) in MISTAKES {
        assert_eq!(PROBES.matches(from).count(), 1, "{from}");
        let error = try_runner(&PROBES.replace(from, to)).err();
        let error = error.unwrap_or_else(|| panic!("{to} is taken"));
        let found = assert_drawn(&error, message, under);
        assert_eq!(found.help.as_deref().unwrap_or_default(), help, "{to}: {error}");
    }
}

#[test]
fn too_much_is_refused_before_the_run() {
    let many = PROBES.replace(
        "Scalars(name: \"dial\", values: [1], velocities: [2], mass: 1),",
        "Scalars(name: \"dial\", values: [1], velocities: [2], mass: 1), Particles(name: \"dust\", line: (from: (9, 9, 9), to: (10, 9, 9), count: 5000), mass: 1),",
    );
    let text = many.replace("Position(\"arm\")", "Position(\"dust\")");
    let error = try_runner(&text).unwrap_err().to_string();
    assert!(
        error.contains("more than 1000") && error.contains("Position(\"chain\", 3)"),
        "{error}"
    );
    let long = PROBES.replace(
        "duration: 0.1, step: 0.01, probe_every: 3",
        "duration: 1000, step: 1e-4, probe_every: 1",
    );
    let error = try_runner(&long).unwrap_err().to_string();
    assert!(
        error.contains("lines of probes") && error.contains("a larger `probe_every`"),
        "{error}"
    );
    let none = "(run: (duration: 1, probe_every: 2), nodes: [])";
    let error = try_runner(none).unwrap_err().to_string();
    assert!(error.contains("`record` has none"), "{error}");
    // A chain of expressions that use each other is no deep recursion.
    let chain: String = (0..900)
        .map(|k| format!("Expression(name: \"e{k}\", value: \"1 + e{}\"), ", k + 1))
        .collect();
    let text = PROBES.replace(
        "value: 3)",
        &format!("value: 3), {chain} Expression(name: \"e900\", value: 1)"),
    );
    let error = try_runner(&text).unwrap_err().to_string();
    assert!(error.contains("expressions that use each other"), "{error}");
}
