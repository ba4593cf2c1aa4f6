//! Parameters that are derived from others.

use crate::{build, build_with, drawn, set};
use pliant_scene::SceneError;

fn scene(parameters: &str, rest: &str) -> String {
    format!(
        "(parameters: {{{parameters}}}, run: (duration: 1), nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1)]{rest})"
    )
}

#[test]
fn parameters_are_derived_in_any_order() {
    let text = scene(
        r#""a": "2 * $b", "b": "$c + 1", "c": 3, "d": "if($a > 7, $b, 1/0)""#,
        "",
    );
    let built = build(&text).unwrap();
    let value = |name: &str| built.parameters[name];
    assert_eq!(
        [value("a"), value("b"), value("c"), value("d")],
        [8.0, 4.0, 3.0, 4.0]
    );
    // Those that are given beside the file are what the others are derived from, and may be
    // derived.
    let built = build_with(&text, &set(&[("c", "4"), ("d", "$a^2")])).unwrap();
    assert_eq!((built.parameters["a"], built.parameters["d"]), (10.0, 100.0));
    let chain: Vec<String> = (0..20_000)
        .map(|k| format!("\"p{k}\": \"$p{} + 1\"", k + 1))
        .collect();
    let built = build(&scene(&format!("{}, \"p20000\": 1", chain.join(", ")), "")).unwrap();
    assert_eq!(built.parameters["p0"], 20_001.0);
}

#[test]
fn circles_are_named_in_full() {
    let error = build(&scene(
        r#""a": "2 * $b", "b": "$c + 1", "c": "$d - $b", "d": 1"#,
        "",
    ))
    .unwrap_err();
    let expected = r#"error: parameters are derived from each other in a circle: `b` -> `c` -> `b`
1 | (parameters: {"a": "2 * $b", "b": "$c + 1", "c": "$d - $b", "d": 1}, run: (duration: 1), nodes: [Par...
  |                                    ^^"#;
    assert_eq!(drawn(&error), expected);
    let text = scene(r#""a": 1, "b": "$a""#, "");
    let error = build_with(&text, &set(&[("a", "$b + 1")])).unwrap_err();
    assert!(drawn(&error).contains("circle: `a` -> `b` -> `a`"), "{error}");
    assert!(drawn(&error).lines().last().unwrap().ends_with(" ^^"), "{error}");
    let error = build_with(&text, &set(&[("a", "$a + 1")])).unwrap_err();
    assert!(matches!(error, SceneError::Setting { .. }), "{error}");
    assert!(error.to_string().contains("circle: `a` -> `a`"), "{error}");
}

#[test]
fn wrong_names_in_parameters_are_found() {
    let error = build(&scene(r#""length": 1, "b": "2 * $lenght""#, "")).unwrap_err();
    assert!(
        drawn(&error).ends_with("= help: did you mean `length`?"),
        "{error}"
    );
    assert!(drawn(&error).contains("unknown parameter `$lenght`"), "{error}");
}

const DRIVEN: &str = r#",
    force_fields: [(name: "push", on: "p", law: Force(["$twice + $t", 0, 0]))],
    events: [(name: "later", when: "$t > 0.5", do: [Set("k", 5)])]"#;

#[test]
fn parameters_follow_those_that_change() {
    let built = build(&scene(r#""k": 1, "twice": "2 * $k""#, DRIVEN)).unwrap();
    let input = &built.inputs[0];
    assert_eq!(input.program.value(0.25), Ok(2.25));
    let after = input.varying.as_ref().unwrap().fixing(1, &[5.0]);
    assert_eq!(after.value(0.25), Ok(10.25));
    // What does not change cannot follow them.
    let text = scene(r#""k": 1, "twice": "2 * $k""#, DRIVEN).replace("mass: 1", "mass: \"$twice\"");
    let error = build(&text).unwrap_err().to_string();
    assert!(
        error.contains("`$twice` follows `k` and changes while the scene runs, and `mass` of `p` does not"),
        "{error}"
    );
    // One of two leads.
    let text = scene(r#""k": 1, "twice": "2 * $k""#, DRIVEN)
        .replace("Set(\"k\", 5)", "Set(\"k\", 5), Set(\"twice\", 1)");
    let error = build(&text).unwrap_err().to_string();
    assert!(
        error.contains("`twice` is set while the scene runs, and is derived from `k`"),
        "{error}"
    );
}
