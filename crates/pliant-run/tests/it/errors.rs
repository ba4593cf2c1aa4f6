//! Messages that a user reads after a mistake.

use pliant_run::Runner;
use pliant_scene::{Format, SceneError, SceneFile, Settings};

const BASE: &str = r#"(
    parameters: {"length": 1.0, "links": 4},
    gravity: (0, -9.81, 0),
    run: (duration: 1.0),
    nodes: [
        Particles(name: "bob", positions: [(1, 0, 0)], mass: 1.0),
        Mapped(name: "rod", parents: ["bob"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: "$length")),
        Bodies(name: "box", bodies: [(rotation: Quaternion(1, 0, 0, 0), shape: Box(1, 1, 1), mass: 2)]),
        Cable(
            name: "cable", from: (0, 0, 0), to: (1, 0, 0),
            links: "$links", link_mass: 0.1, compliance: 0.5,
        ),
    ],
    constraints: [(name: "hard", on: "rod")],
    fixed: [(node: "box", axes: [x])],
)"#;

fn build(text: &str, path: &str, format: Format) -> Result<(), SceneError> {
    SceneFile::from_text(path.as_ref(), text, format)?
        .build(&Settings::default())
        .map(drop)
}

/// Message for the base scene with one change.
fn shown(from: &str, to: &str) -> String {
    assert!(BASE.contains(from), "{from}");
    build(&BASE.replacen(from, to, 1), "bow.ron", Format::Ron)
        .unwrap_err()
        .to_string()
}

#[test]
fn the_base_is_good() {
    build(BASE, "bow.ron", Format::Ron).unwrap();
}

#[test]
fn unknown_keys_are_drawn_with_a_suggestion() {
    let expected = "\
error: unknown key `complience` in `Cable`
  --> bow.ron:11:46
   |
11 |             links: \"$links\", link_mass: 0.1, complience: 0.5,
   |                                              ^^^^^^^^^^
   = help: did you mean `compliance`?";
    assert_eq!(shown("compliance", "complience"), expected);
}

/// Change, message, what the carets are under, help.
const CASES: [(&str, &str, &str, &str, &str); 29] = [
    (
        "axes: [x]",
        "axes: (x, y)",
        "expected a list [a, b, ..]; found values in round brackets, (a, b, ..)",
        "(x, y)",
        "",
    ),
    (
        "Particles(",
        "Particle(",
        "unknown kind `Particle` in `nodes`",
        "Particle",
        "did you mean `Particles`?",
    ),
    (
        "duration: 1.0",
        "step: 1.0",
        "missing key `duration` in `run`",
        "(step: 1.0)",
        "",
    ),
    (
        "mass: 1.0",
        "mass: NaN",
        "`mass` of `bob` is NaN, not a finite number",
        "NaN",
        "",
    ),
    (
        "mass: 1.0",
        "mass: 1e999",
        "`mass` of `bob` is inf, not a finite number",
        "1e999",
        "",
    ),
    ("mass: 1.0", "mass: -1.0", "must be positive", "-1.0", ""),
    (
        "mass: 1.0",
        "mass: [1, 2]",
        "needs 1 masses, found 2",
        "[1, 2]",
        "",
    ),
    (
        "positions: [(1, 0, 0)], mass: 1.0",
        "positions: [(1, 0, 0), (2, 0, 0)], mass: [1, -2]",
        "the mass of `bob.mass` is -2, but must be positive (entry 1)",
        "-2",
        "",
    ),
    ("mass: 1.0", "mass: true", "found the boolean `true`", "true", ""),
    ("mass: 1.0", "mass: heavy", "found a bare word", "heavy", ""),
    (
        "mass: 1.0",
        "mass: 1.0, mass: 2.0",
        "the key `mass` is given twice",
        "mass",
        "",
    ),
    (
        "rest: \"$length\"",
        "rest: -1",
        "a rest length of `rod` is -1",
        "-1",
        "",
    ),
    (
        "$length",
        "2 * $lenght",
        "unknown parameter `$lenght`",
        "$lenght",
        "did you mean `length`?",
    ),
    (
        "$length",
        "1 / ($links - 4)",
        "division by zero",
        "($links - 4)",
        "",
    ),
    (
        "$length",
        "(-1) ^ 0.5",
        "NaN, not a finite number",
        "(-1) ^ 0.5",
        "",
    ),
    (
        "$links",
        "$links / 3",
        "`links` of `cable` is 1.33333",
        "\"$links / 3\"",
        "",
    ),
    ("$links", "1e9", "must be from 1 to 1000000", "\"1e9\"", ""),
    ("$links", "0", "must be from 1 to 1000000", "\"0\"", ""),
    (
        "on: \"rod\"",
        "on: \"rdo\"",
        "unknown node `rdo`",
        "\"rdo\"",
        "did you mean `rod`?",
    ),
    (
        "parents: [\"bob\"]",
        "parents: [\"bbo\"]",
        "unknown node `bbo`",
        "\"bbo\"",
        "did you mean `bob`?",
    ),
    (
        "[(0, (0, 0, 0))]",
        "[(7, (0, 0, 0))]",
        "refers to element 7 of a node that has 1",
        "\"rod\"",
        "",
    ),
    (
        "[(0, (0, 0, 0))]",
        "[(0, (\"box\", 0))]",
        "`box` is no parent of `rod`",
        "\"box\"",
        "did you mean `bob`?",
    ),
    (
        "Quaternion(1, 0, 0, 0)",
        "Quaternion(0, 0, 0, 0)",
        "its quaternion has length zero",
        "Quaternion(0, 0, 0, 0)",
        "",
    ),
    (
        "compliance: 0.5",
        "compliance: -0.5",
        "`compliance` of `cable` is -0.5",
        "-0.5",
        "",
    ),
    (
        "axes: [x]",
        "axes: [w]",
        "unknown kind `w` in `axes`",
        "w",
        "known kinds: `x`",
    ),
    (
        "node: \"box\"",
        "node: \"rod\"",
        "computed from other nodes",
        "\"rod\"",
        "fix a node that it is computed from",
    ),
    (
        "axes: [x])]",
        "axes: [x], velocity: [1, 2])]",
        "the velocity of `box` has 2 numbers, needed are 6",
        "[1, 2]",
        "",
    ),
    (
        "axes: [x])]",
        "elements: [7])]",
        "there is no element 7 to fix: `box` has 1",
        "[7]",
        "",
    ),
    (
        "axes: [x])]",
        "from: 2, until: 1)]",
        "`box` is fixed from 2 s until 1 s: no such time",
        "1",
        "",
    ),
];

#[test]
fn mistakes_are_named_and_pointed_at() {
    for (from, to, message, under, help) in CASES {
        let text = shown(from, to);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("error: ") && lines[0].contains(message),
            "{text}"
        );
        // The last one: expressions may hold a caret too.
        let source = lines
            .iter()
            .rposition(|l| l.contains('^'))
            .unwrap_or_else(|| panic!("{text}"))
            - 1;
        let marks = lines[source + 1];
        let start = marks.find('^').unwrap();
        let marked = &lines[source][start..start + marks.matches('^').count()];
        assert_eq!(marked, under, "{text}");
        assert!(
            help.is_empty() || text.contains(&format!("= help: {help}")),
            "{text}"
        );
    }
}

#[test]
fn json_has_the_same_words_and_the_same_errors() {
    let text = r#"{
  "gravity": [0, -9.81, 0],
  "run": {"duration": 0.1, "integrator": "Theta", "geometric_stiffness": "None"},
  "nodes": [
    {"Particles": {"name": "bob", "positions": [[1, 0, 0]], "mass": "2 * 3"}},
    {"Mapped": {"name": "rod", "parents": ["bob"], "mapping": {"Distance": {"pairs": [[0, [0, 0, 0]]]}}}}
  ],
  "force_fields": [{"name": "spring", "on": "rod", "law": {"Compliance": 0.1}}],
  "constraints": [{"name": "hard", "on": "rod", "level": {"Velocity": {"curvature": 0.5}}}]
}"#;
    build(text, "a.json", Format::Json).unwrap();
    let cases = [
        (
            "\"mass\"",
            "\"masss\"",
            "unknown key `masss`",
            "5:",
            "did you mean `mass`?",
        ),
        ("\"2 * 3\"", "\"2 * $x\"", "unknown parameter `$x`", "5:", ""),
        ("\"2 * 3\"", "-2", "the mass of `bob.mass` is -2", "5:", ""),
        (
            "\"duration\": 0.1",
            "\"step\": 0.1",
            "missing key `duration`",
            "3:",
            "",
        ),
        (
            "Distance",
            "Distnce",
            "unknown kind `Distnce`",
            "6:",
            "did you mean `Distance`?",
        ),
        ("\"run\": {", "\"run\": [", "", "3:", ""),
        ("0.1}}", "0.1", "", "", ""),
    ];
    for (from, to, message, line, help) in cases {
        let error = build(&text.replacen(from, to, 1), "a.json", Format::Json)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(message) && error.contains(&format!("a.json:{line}")),
            "{error}"
        );
        assert!(error.contains(help), "{error}");
    }
}

#[test]
fn missing_files_are_named() {
    let error = SceneFile::load("nothing/here.ron".as_ref()).unwrap_err();
    assert!(error.to_string().contains("nothing/here.ron"));
    let error = SceneFile::load("scene.txt".as_ref()).unwrap_err();
    assert!(matches!(error, SceneError::Extension { .. }));
    let net = "(run: (duration: 1), nodes: [\n  Net(name: \"net\", mesh: \"no.obj\", mass: 1),\n])";
    let error = build(net, "dir/a.ron", Format::Ron).unwrap_err();
    assert!(matches!(error, SceneError::Mesh { .. }));
    let text = error.to_string();
    assert!(
        text.contains("no.obj") && text.contains("dir/a.ron:2:26") && text.contains("^^^^^^^^"),
        "{text}"
    );
}

#[test]
fn a_net_of_tetrahedra_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n\
                $Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n";
    std::fs::write(dir.path().join("a.msh"), mesh).unwrap();
    let scene = dir.path().join("a.ron");
    let text = "(run: (duration: 1), nodes: [Net(name: \"net\", mesh: \"a.msh\", mass: 1)])";
    std::fs::write(&scene, text).unwrap();
    let error = SceneFile::load(&scene)
        .unwrap()
        .build(&Settings::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("a.msh holds a solid") && error.contains("`Solid` takes volumes"),
        "{error}"
    );
}

#[test]
fn values_beside_the_file_are_checked() {
    let scene = SceneFile::from_text("a.ron".as_ref(), BASE, Format::Ron).unwrap();
    let parameter = |name: &str, value: &str| Settings {
        parameters: vec![(name.into(), pliant_scene::Number::Expression(value.into()))],
        ..Settings::default()
    };
    let shown = |settings: &Settings| scene.build(settings).unwrap_err().to_string();
    assert!(shown(&parameter("lenght", "1")).contains("did you mean `length`?"));
    assert!(shown(&parameter("length", "1 +")).contains("ends too early"));
    assert!(
        shown(&Settings {
            step: Some(f64::NAN),
            ..Settings::default()
        })
        .contains("the step is NaN")
    );
    assert!(
        shown(&Settings {
            duration: Some(1e30),
            ..Settings::default()
        })
        .contains("more than 1e7")
    );
    assert_eq!(
        scene.build(&parameter("length", "sqrt(4)")).unwrap().parameters["length"],
        2.0
    );
}

#[test]
fn numbers_are_read_to_the_last_bit() {
    for x in [
        "0.1",
        "0.12345678901234567",
        "1e-8",
        "123456789012345680",
        "-2.2250738585072014e-308",
    ] {
        let ron = format!("(parameters: {{\"x\": {x}}}, run: (duration: 1), nodes: [])");
        let json = format!("{{\"parameters\": {{\"x\": {x}}}, \"run\": {{\"duration\": 1}}, \"nodes\": []}}");
        for (text, format) in [(ron, Format::Ron), (json, Format::Json)] {
            let scene = SceneFile::from_text("a".as_ref(), &text, format).unwrap();
            let built = scene.build(&Settings::default()).unwrap();
            assert_eq!(
                built.parameters["x"].to_bits(),
                x.parse::<f64>().unwrap().to_bits(),
                "{x}"
            );
        }
    }
}

/// A model that the method or the linear solver does not take is refused before the first step,
/// with the key that chose it.
#[test]
fn methods_refuse_a_scene_before_the_first_step() {
    for (words, message, under) in [
        (
            "integrator: RungeKutta4",
            "error: the Runge-Kutta method does not take the hard rows of `hard`; SDIRK2, the default, does",
            "^^^^^^^^^^^",
        ),
        (
            "integrator: EnergyMomentum), rayleigh: (mass: 0, stiffness: 0.01",
            "error: the energy-momentum method does not take damping in proportion to the stiffness (an \
             indefinite one would gain energy); SDIRK2, the default, does",
            "^^^^^^^^^^^^^^",
        ),
        (
            "alpha: 0.5",
            "error: SDIRK2 does not take the weights `alpha` and `beta`; the theta method does",
            "^^^",
        ),
        (
            "geometric_stiffness: None, integrator: Sdirk2",
            "leave `geometric_stiffness` out, or take `integrator: Theta`",
            "^^^^",
        ),
        (
            "linear: Krylov(preconditioner: IncompleteCholesky)",
            "with an incomplete Cholesky factor does not solve the hard rows of `hard`",
            "^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        ),
    ] {
        let text = BASE.replace("duration: 1.0", &format!("duration: 1.0, {words}"));
        let file = SceneFile::from_text("bow.ron".as_ref(), &text, Format::Ron).unwrap();
        let built = file.build(&Settings::default()).unwrap();
        let error = Runner::new(built).err().unwrap().to_string();
        assert!(error.contains(message), "{error}");
        let carets = error.split(' ').find(|word| word.starts_with('^')).unwrap();
        assert_eq!(carets.trim_end(), under, "{error}");
    }
}
