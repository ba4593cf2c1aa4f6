//! Formulas as mappings and as potentials, against closed forms and the components that are the
//! same by hand.

use super::probes::{columns, files, measured, resumes, runner};
use pliant_scene::{Format, SceneError, SceneFile, Settings};
use std::collections::BTreeMap;

fn built(text: &str) -> Result<(), SceneError> {
    let scene = SceneFile::from_text("formulas.ron".as_ref(), text, Format::Ron)?;
    let built = scene.build(&Settings::default())?;
    pliant_run::Runner::new(built).map(drop)
}

/// The period of a pendulum of frequency `w` at small amplitude, let go at `angle`:
/// arithmetic-geometric mean.
fn period(w: f64, angle: f64) -> f64 {
    let (mut a, mut b) = (1.0, (0.5 * angle).cos());
    for _ in 0..10 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    std::f64::consts::TAU / (w * a)
}

/// A pendulum in its angle: the place of the mass is a formula, and its inertia and weight follow.
#[test]
fn a_pendulum_swings_by_its_angle_alone() {
    let text = r#"(gravity: (0, -9.81, 0), run: (duration: 3.2, step: 0.002), parameters: {"l": 0.8},
        nodes: [
            Scalars(name: "angle", values: [1.2], mass: 0.1),
            Mapped(name: "bob", parents: ["angle"], mapping: Formula(points: [("$l * sin(angle)", "-$l * cos(angle)", 0)])),
        ],
        masses: [(name: "bob", on: "bob", mass: 0.5)],
        record: [Position("angle"), Position("bob"), Energy(total)])"#;
    let (_, table) = measured(text);
    let (times, angle) = (&table["time_s"], &table["angle.value"]);
    let zeros: Vec<f64> = (1..times.len())
        .filter(|k| angle[k - 1] * angle[*k] < 0.0)
        .map(|k| times[k] - 0.002 * angle[k] / (angle[k] - angle[k - 1]))
        .collect();
    let inertia = 0.1 + 0.5 * 0.8 * 0.8;
    let expected = period(f64::sqrt(0.5 * 9.81 * 0.8 / inertia), 1.2);
    let found = zeros[2] - zeros[0];
    // SDIRK2 is of second order, as is the line between two steps.
    assert!((found - expected).abs() < 2e-5 * expected, "{found} {expected}");
    for (k, angle) in angle.iter().enumerate() {
        let (x, y) = (table["bob.x_m"][k], table["bob.y_m"][k]);
        assert!((x - 0.8 * angle.sin()).abs() < 1e-12 && (y + 0.8 * angle.cos()).abs() < 1e-12);
    }
}

fn double_well(step: &str, integrator: &str) -> BTreeMap<String, Vec<f64>> {
    let text = format!(
        r#"(run: (duration: 3, step: {step}, {integrator}),
        nodes: [Scalars(name: "q", values: ["sqrt(2)"], mass: 1)],
        potentials: [(name: "well", energy: "0.25 * (q^2 - 1)^2")],
        record: [Position("q"), Velocity("q"), Force("well"), Energy(total), Expression(name: "v", value: "well.potential")])"#
    );
    measured(&text).1
}

/// The way from a double well that comes to rest on its hill: `q = sqrt(2) / cosh(t)`.
#[test]
fn a_double_well_has_its_separatrix() {
    let worst = |step: &str| {
        let table = double_well(step, "");
        let wrong = table["time_s"].iter().zip(&table["q.value"]);
        let wrong = wrong.map(|(t, q)| (q - 2f64.sqrt() / t.cosh()).abs());
        let values = table["q.value"].iter().zip(&table["v"]);
        for (q, v) in values {
            assert!((v - 0.25 * (q * q - 1.0).powi(2)).abs() < 1e-15);
        }
        wrong.fold(0.0, f64::max)
    };
    let (coarse, fine) = (worst("0.02"), worst("0.01"));
    // The method is of second order.
    let order = (coarse / fine).log2();
    assert!(
        fine < 3e-4 && (order - 2.0).abs() < 0.1,
        "{coarse} {fine} {order}"
    );
}

/// The coordinates of a potential are linear, so that methods that keep energy take it.
#[test]
fn potentials_keep_energy_with_the_method_that_does() {
    let table = double_well("0.05", "integrator: EnergyMomentum");
    let energy = &table["energy.total_J"];
    for e in energy {
        // Of Newton's method and rounding.
        assert!((e - energy[0]).abs() < 1e-10, "{e} {}", energy[0]);
    }
}

/// Two particles with a spring, and a rod to the second of them.
fn spring(parts: &str, step: &str) -> BTreeMap<String, Vec<f64>> {
    let text = format!(
        r#"(gravity: (0, -9.81, 0), run: (duration: 1, {step}), parameters: {{"k": 40, "l": 0.7}},
        {parts}
        fixed: [(node: "a")],
        record: [Position("b"), Velocity("c"), Energy(total)])"#
    );
    measured(&text).1
}

const POINTS: &str = r#"
        Particles(name: "a", positions: [(0, 0, 0)], mass: 1),
        Particles(name: "b", positions: [(1, 0.2, -0.1)], mass: 2),
        Particles(name: "c", positions: [(1, -0.8, 0.3)], velocities: [(1, 0, 0.5)], mass: 0.5),"#;

/// The same spring and the same rod by hand and by formulas move alike. (SDIRK2 integrates the
/// deformation of a spring on a mapped number beside the positions, and evaluates a potential where
/// they are: there the spring is one on a formula.)
#[test]
fn formulas_move_as_the_components_that_they_are() {
    let of = |from: &str, to: &str| {
        format!("sqrt(({from}.x - {to}.x)^2 + ({from}.y - {to}.y)^2 + ({from}.z - {to}.z)^2)")
    };
    for step in [
        "step: 0.01",
        "step: 0.002, integrator: Theta",
        "step: 0.01, integrator: GeneralisedAlpha()",
        "step: 0.01, integrator: Rattle",
    ] {
        let by_hand = spring(
            &format!(
                r#"nodes: [{POINTS}
                    Mapped(name: "length", parents: ["a", "b"], mapping: Distance(pairs: [(0, ("b", 0))], rest: "$l")),
                    Mapped(name: "rod", parents: ["b", "c"], mapping: Distance(pairs: [(0, ("c", 0))])),
                ],
                force_fields: [(name: "spring", on: "length", law: Stiffness("$k"), treatment: Stiffness)],
                constraints: [(name: "rod", on: "rod")],"#
            ),
            step,
        );
        let (ab, bc) = (of("a", "b"), of("b", "c"));
        let (law, length) = match step {
            "step: 0.01" => (
                r#"force_fields: [(name: "spring", on: "length", law: Stiffness("$k"), treatment: Stiffness)]"#.to_owned(),
                format!(r#"Mapped(name: "length", parents: ["a", "b"], mapping: Formula(values: ["{ab} - $l"])),"#),
            ),
            _ => (
                format!(r#"potentials: [(name: "spring", energy: "0.5 * $k * ({ab} - $l)^2")]"#),
                String::new(),
            ),
        };
        let by_formula = spring(
            &format!(
                r#"nodes: [{POINTS} {length}
                    Mapped(name: "rod", parents: ["b", "c"], mapping: Formula(values: ["{bc} - sqrt(1.16)"])),
                ], {law},
                constraints: [(name: "rod", on: "rod")],"#
            ),
            step,
        );
        let mut largest: f64 = 0.0;
        for (name, column) in &by_hand {
            for (a, b) in column.iter().zip(&by_formula[name]) {
                largest = largest.max((a - b).abs() / (1.0 + a.abs()));
            }
        }
        // Rounding, and what Newton's method leaves.
        assert!(largest < 1e-9, "{step}: {largest}");
    }
}

/// Springs on mapped numbers, weights of points, and limits of formulas, at rest.
#[test]
fn what_sits_on_formulas_is_in_balance() {
    // A bead on the parabola y = x^2/2, held by a spring of 30 N/m to x = 1: x m g = 30 (1 - x).
    let text = r#"(gravity: (0, -10, 0), run: (duration: 1, statics: ()),
        nodes: [
            Scalars(name: "x", values: [0.8], mass: 1e-3),
            Mapped(name: "bead", parents: ["x"], mapping: Formula(points: [("x", "0.5 * x^2", 0)])),
            Mapped(name: "off", parents: ["x"], mapping: Formula(values: ["x - 1"])),
        ],
        masses: [(name: "bead", on: "bead", mass: 2)],
        force_fields: [(name: "spring", on: "off", law: Compliance("1/30"))],
        record: [Position("x"), Force("spring")])"#;
    let (_, table) = measured(text);
    let x = table["x.value"].last().unwrap();
    assert!((x - 0.6).abs() < 1e-9, "{x}");
    let force = table
        .iter()
        .find(|(name, _)| name.starts_with("spring.force"))
        .unwrap()
        .1;
    assert!((force.last().unwrap() - 12.0).abs() < 1e-7, "{force:?}");
}

#[test]
fn runs_with_formulas_are_resumed_to_the_bit() {
    let text = r#"(gravity: (0, -9.81, 0), run: (duration: 0.5, step: 0.01),
        nodes: [
            Bodies(name: "arm", bodies: [(position: (0.5, 0, 0), shape: Box(1, 0.1, 0.1), mass: 2)]),
            Particles(name: "p", positions: [(1, 1, 0), (1.5, 1, 0)], mass: 1),
            Mapped(name: "bend", parents: ["hinge.angle", "p"], mapping: Formula(values: ["hinge.angle - 0.3 * p[1].x * p[0].y", "sin(p[0].x)"])),
        ],
        joints: [(name: "hinge", kind: Hinge, b: Body("arm", 0))],
        force_fields: [(name: "soft", on: "bend", law: Stiffness(10))],
        potentials: [(name: "pull", energy: "3 * hypot(p[0].x - p[1].x, p[0].y - p[1].y) + 2 * cos(hinge.angle) + 0.1 * arm.y")],
        record: [Position("p"), Joint("hinge")])"#;
    resumes(text, &[7, 30]);
}

/// Where a motion leads out of what a formula is defined on, the run ends with the formula and the
/// place, and no number of the results is none.
#[test]
fn a_motion_out_of_the_domain_is_an_error_that_names_it() {
    for (run, energy, words) in [
        ("step: 0.01", "log(q)", "\"log(q)\" at q = "),
        ("step: 0.01, integrator: Theta", "log(q)", "\"log(q)\" at q = "),
        (
            "step: 0.01, integrator: Rattle",
            "2 * sqrt(q - 0.5)",
            "\"2 * sqrt(q - 0.5)\" at q = ",
        ),
    ] {
        let text = format!(
            r#"(run: (duration: 2, {run}),
            nodes: [Scalars(name: "q", values: [1], velocities: [-3], mass: 1)],
            potentials: [(name: "well", energy: "{energy}")], record: [Position("q"), Energy(total)])"#
        );
        let outcome = runner(&text).run(|_| {});
        let error = outcome
            .error
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(
            error.contains("`well`") && error.contains(words),
            "{run}: {error}"
        );
        let table = columns(&files(&outcome)["probes.csv"]);
        assert!(
            table.values().flatten().all(|x| x.is_finite()),
            "{run}: {table:?}"
        );
    }
}

#[test]
fn wrong_formulas_point_at_the_place() {
    let scene = |formula: &str, energy: &str| {
        format!(
            r#"(run: (duration: 1), nodes: [
                Particles(name: "p", positions: [(1, 2, 3), (4, 5, 6)], mass: 1),
                Bodies(name: "body", bodies: [(shape: Sphere(0.1), mass: 1)]),
                Scalars(name: "q", values: [0.5], mass: 1),
                Mapped(name: "m", parents: ["p", "q"], mapping: Formula({formula})),
            ], potentials: [(name: "v", energy: "{energy}")])"#
        )
    };
    built(&scene(r#"values: ["p[1].x * q"]"#, "q^2 + body.x")).unwrap();
    for (formula, energy, message, at) in [
        (r#"values: ["p.x"]"#, "q", "`p` has 2 elements: say which", "p"),
        (r#"values: ["p[2].x"]"#, "q", "no element 2: `p` has 2", "2"),
        (r#"values: ["p[0].w"]"#, "q", "`p` has no coordinate `w`", "w"),
        (r#"values: ["p[0]"]"#, "q", "`p` is no number", "p[0]"),
        (r#"values: ["body.x"]"#, "q", "`body` is no parent of `m`", "body"),
        (
            r#"values: ["p[0].x * nobody.y"]"#,
            "q",
            "there is no node `nobody`",
            "nobody",
        ),
        (r#"values: ["2 +"]"#, "q", "ends too early", ""),
        (r#"values: ["$t * q"]"#, "q", "unknown parameter `$t`", "$t"),
        (r#"values: ["7"]"#, "q", "depends on no coordinate", "[\"7\"]"),
        ("values: []", "q", "has no expressions", "[]"),
        ("", "q", "exactly one of `values` and `points`", "\"m\""),
        (
            r#"values: ["q"], points: [("q", 0, 0)]"#,
            "q",
            "exactly one of",
            "\"m\"",
        ),
        (
            r#"values: ["sqrt(q - 1)"]"#,
            "q",
            "\"sqrt(q - 1)\" at q = 0.5: the value",
            "[\"sqrt(q - 1)\"]",
        ),
        (
            r#"values: ["abs(q - 0.5)"]"#,
            "q",
            "`abs` has no derivative at zero",
            "[\"abs(q - 0.5)\"]",
        ),
        (
            r#"values: ["q"]"#,
            "if(q < 0.5, q, 2 * q)",
            "`if` switches here",
            "\"if(q < 0.5, q, 2 * q)\"",
        ),
        (
            r#"values: ["q"]"#,
            "3 + pi",
            "depends on no coordinate",
            "\"3 + pi\"",
        ),
        (
            r#"values: ["q"]"#,
            "q * body.qx",
            "cannot take the rotation of the body `body`",
            "qx",
        ),
        (
            r#"values: ["q"]"#,
            "q.rate^2",
            "`q` has no coordinate `rate`",
            "rate",
        ),
        (
            r#"values: ["q"]"#,
            "q > 1",
            "this is a condition, and a number is needed",
            "q > 1",
        ),
        (r#"values: ["q"]"#, "3 m", "is a length (m), and needed is", "3 m"),
    ] {
        let text = scene(formula, energy);
        let error = built(&text).unwrap_err();
        let diagnostic = error.diagnostic().unwrap();
        assert!(
            diagnostic.message.contains(message),
            "{formula} {energy}: {}",
            diagnostic.message
        );
        let place = diagnostic.place.as_ref().unwrap();
        let line = text.lines().nth(place.line - 1).unwrap();
        let marked: String = line.chars().skip(place.column - 1).collect();
        assert!(marked.starts_with(at), "{formula} {energy}: {marked}");
    }
}
