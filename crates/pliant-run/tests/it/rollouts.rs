//! Rollouts of scenes: the gradient of an orientation against differences, and refusals.

use pliant_run::rollout::{Quantity, Rollout, RolloutError};
use pliant_scene::{Format, SceneFile, Settings};

/// A body that tumbles on a spring: the middle axis of inertia, gyroscopic torques, gravity.
const TUMBLING: &str = r#"(
    parameters: {"spin": 5, "stiffness": 30, "height": 0.3},
    gravity: (0, -9.81, 0),
    run: (duration: 0.4, step: 0.01, integrator: Nonlinear),
    nodes: [
        Bodies(name: "body", bodies: [(
            position: (0, 0, 0), rotation: Axis(around: (1, 2, 3), degrees: 70), shape: Box(0.1, 0.2, "$height"), mass: 2,
            angular_velocity: (0.3, "$spin", -0.2))]),
        Mapped(name: "hook", parents: ["body"], mapping: RigidPoints(points: [(0, (0.05, 0.1, 0.1))])),
        Mapped(name: "rod", parents: ["hook"], mapping: Distance(pairs: [(0, (0, 0.6, 0))], rest: 0.4)),
    ],
    force_fields: [(name: "spring", on: "rod", law: Stiffness("$stiffness"))],
)"#;

const NAMES: [&str; 3] = ["spin", "stiffness", "height"];
const AT: [f64; 3] = [5.0, 30.0, 0.3];

fn rollout(text: &str, outputs: &[(&str, Quantity)], steps: Option<usize>) -> Result<Rollout, RolloutError> {
    let file = SceneFile::from_text("test.ron".as_ref(), text, Format::Ron)?;
    let build = move |values: &[f64]| {
        let named = NAMES.iter().zip(values);
        let parameters = named.map(|(name, v)| ((*name).to_owned(), (*v).into())).collect();
        file.build(&Settings {
            parameters,
            ..Settings::default()
        })
    };
    Rollout::new(Box::new(build), &AT, outputs, steps)
}

/// The gradient by the four numbers of a quaternion, and by both kinds of velocity, is that of
/// central differences of fourth order.
#[test]
fn gradients_of_an_orientation_are_those_of_differences() {
    let outputs = [
        ("body", Quantity::Positions),
        ("hook", Quantity::Positions),
        ("body", Quantity::Velocities),
    ];
    let rollout = rollout(TUMBLING, &outputs, None).unwrap();
    assert_eq!((rollout.steps(), rollout.columns()), (40, 7 + 3 + 6));
    let length = 41 * rollout.columns();
    let weights: Vec<f64> = (0..length).map(|i| (1.7 * i as f64).sin()).collect();
    let value = |values: &[f64]| -> f64 {
        let moments = rollout.run(values).unwrap();
        moments.iter().zip(&weights).map(|(x, w)| x * w).sum()
    };
    let found = rollout.gradient(&AT, &weights).unwrap();
    assert_eq!(found.values, rollout.run(&AT).unwrap());
    for (k, name) in NAMES.iter().enumerate() {
        let step = 1e-3 * AT[k];
        let at = |times: f64| {
            let mut values = AT;
            values[k] += times * step;
            value(&values)
        };
        let differences = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
        let off = (found.parameters[k] - differences).abs() * AT[k];
        // Differences divide the rounding of the steps, 1e-12 of the sum of all terms, by a step of
        // a thousandth.
        assert!(
            off < 1e-8 * length as f64,
            "{name}: {} {differences}",
            found.parameters[k]
        );
        assert!(
            (differences * AT[k]).abs() > 0.1,
            "{name} changes nothing: {differences}"
        );
    }
}

#[test]
fn scenes_that_do_not_move_by_themselves_are_refused() {
    let body = [("body", Quantity::Positions)];
    for (from, to, says) in [
        (
            "integrator: Nonlinear",
            "integrator: Theta",
            "other integrator than Nonlinear",
        ),
        (
            "step: 0.01, integrator: Nonlinear",
            "step: 0.01, integrator: Nonlinear, alpha: 0.5",
            "weights",
        ),
        (
            "run: (",
            "events: [(name: \"end\", when: \"time > 0.2\", do: [Log(\"half\")])], run: (",
            "events",
        ),
    ] {
        let text = TUMBLING.replacen(from, to, 1);
        assert_ne!(text, TUMBLING);
        let said = rollout(&text, &body, None).unwrap_err().to_string();
        assert!(said.contains(says), "{said}");
    }
    let said = rollout(TUMBLING, &[("boody", Quantity::Positions)], None)
        .unwrap_err()
        .to_string();
    assert!(said.contains("`boody`") && said.contains("`hook`"), "{said}");
}

#[test]
fn values_and_gradients_of_other_lengths_are_refused() {
    let rollout = rollout(TUMBLING, &[("body", Quantity::Positions)], Some(2)).unwrap();
    for refused in [
        rollout.run(&AT[..2]).map(drop),
        rollout.gradient(&AT, &[1.0; 20]).map(drop),
        rollout.gradient(&AT[..1], &[1.0; 21]).map(drop),
    ] {
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("numbers are needed"), "{said}");
    }
    assert_eq!(rollout.gradient(&AT, &[0.0; 21]).unwrap().parameters, [0.0; 3]);
}
