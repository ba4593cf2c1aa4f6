//! Rollouts of scenes: the gradient of an orientation against differences, and refusals.

use pliant_run::rollout::{Build, Quantity, Rollout, RolloutError};
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
    Rollout::new(builder(text)?, &AT, outputs, steps)
}

/// A rollout of all steps of a scene at other values of the parameters.
fn rollout_at(text: &str, at: &[f64], outputs: &[(&str, Quantity)]) -> Result<Rollout, RolloutError> {
    Rollout::new(builder(text)?, at, outputs, None)
}

/// A function that builds a scene for values of the parameters [`NAMES`].
fn builder(text: &str) -> Result<Box<Build>, RolloutError> {
    let file = SceneFile::from_text("test.ron".as_ref(), text, Format::Ron)?;
    let build = move |values: &[f64]| {
        let named = NAMES.iter().zip(values);
        let parameters = named.map(|(name, v)| ((*name).to_owned(), (*v).into())).collect();
        file.build(&Settings {
            parameters,
            ..Settings::default()
        })
    };
    Ok(Box::new(build))
}

/// The gradient by the four numbers of a quaternion, and by both kinds of velocity, is that of
/// central differences of fourth order.
#[test]
fn gradients_of_an_orientation_are_those_of_differences() {
    against_differences(TUMBLING);
    against_differences(&TUMBLING.replace("Nonlinear", "Bdf2"));
    against_differences(&TUMBLING.replace("Nonlinear", "Sdirk2"));
    against_differences(&TUMBLING.replace("Nonlinear", "Nonlinear, alpha: 0.5, beta: 0.5"));
}

fn against_differences(text: &str) {
    let outputs = [
        ("body", Quantity::Positions),
        ("hook", Quantity::Positions),
        ("body", Quantity::Velocities),
    ];
    let rollout = rollout(text, &outputs, None).unwrap();
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

/// The default method on a double pendulum whose second rod is a spring, whose steps are halved where they
/// make energy: differences so near that they are so in the same way.
#[test]
fn the_default_method_halves_and_has_gradients() {
    let text = r#"(
        parameters: {"spin": 0.6, "stiffness": 80, "height": 0.4},
        gravity: (0, -9.81, 0),
        run: (duration: 0.6, step: 0.01),
        nodes: [
            Particles(name: "bobs", positions: [("$spin", 0, 0), ("$spin", 0.45, 0.1)], velocities: [(0, 0, 0.7), (0, 0, 0)], mass: 0.5),
            Mapped(name: "rod", parents: ["bobs"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: "$spin")),
            Mapped(name: "thread", parents: ["bobs"], mapping: Distance(pairs: [(0, 1)], rest: "$height")),
        ],
        force_fields: [(name: "spring", on: "thread", law: Stiffness("$stiffness"))],
        constraints: [(name: "rod is hard", on: "rod")],
    )"#;
    let at = [0.6, 80.0, 0.4];
    let rollout = rollout_at(text, &at, &[("bobs", Quantity::Positions)]).unwrap();
    let weights: Vec<f64> = (0..61 * 6).map(|i| (1.7 * i as f64).sin()).collect();
    let value = |values: &[f64]| -> f64 {
        let moments = rollout.run(values).unwrap();
        moments.iter().zip(&weights).map(|(x, w)| x * w).sum()
    };
    let found = rollout.gradient(&at, &weights).unwrap();
    for k in 0..3 {
        let step = 1e-5 * at[k];
        let moved = |times: f64| {
            let mut values = at;
            values[k] += times * step;
            value(&values)
        };
        let differences = (8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0))) / (12.0 * step);
        let off = (found.parameters[k] - differences).abs() * at[k];
        // Roundings of 366 numbers over a step of 1e-5.
        assert!(off < 1e-7, "{k}: {} {differences}", found.parameters[k]);
    }
}

/// A ball that is thrown onto a slope: by friction, by the radius of the ball, which its mass, its
/// inertia and its collider have, and by the slope.
#[test]
fn gradients_by_materials_and_shapes_are_those_of_differences() {
    materials_and_shapes("Nonlinear");
    materials_and_shapes("Nonlinear, alpha: 0.6, beta: 0.6");
}

fn materials_and_shapes(integrator: &str) {
    let text = r#"(
        parameters: {"spin": 0.25, "stiffness": 0.05, "height": 0.2},
        gravity: (0, 0, -10),
        run: (duration: 0.4, step: 0.01, integrator: Nonlinear, overlap: Rows(rate: 20, speed: 10)),
        nodes: [Bodies(name: "ball", bodies: [
            (position: (0, 0, 0.1), velocity: (1, 0.1, 0), angular_velocity: (0, 0, 2), density: 500, shape: Sphere("$stiffness"))])],
        materials: [(name: "rubber", friction: "$spin")],
        colliders: [
            Fixed(name: "ground", shape: Plane("$height", 0, 1), material: "rubber"),
            Bodies(node: "ball", material: "rubber"),
        ],
    )"#;
    let text = text.replace("Nonlinear", integrator);
    let at = [0.25, 0.05, 0.2];
    let outputs = [("ball", Quantity::Positions), ("ball", Quantity::Velocities)];
    let rollout = rollout_at(&text, &at, &outputs).unwrap();
    let weights: Vec<f64> = (0..41 * 13).map(|i| (1.7 * i as f64).sin()).collect();
    let value = |values: &[f64]| -> f64 {
        let moments = rollout.run(values).unwrap();
        moments.iter().zip(&weights).map(|(x, w)| x * w).sum()
    };
    let found = rollout.gradient(&at, &weights).unwrap();
    for k in 0..3 {
        // Within which it lands in the same step.
        let step = 1e-4 * at[k];
        let moved = |times: f64| {
            let mut values = at;
            values[k] += times * step;
            value(&values)
        };
        let differences = (8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0))) / (12.0 * step);
        let off = (found.parameters[k] / differences - 1.0).abs();
        // Contacts are solved to 1e-9 or better, which the step divides.
        assert!(off < 1e-4, "{k}: {} {differences}", found.parameters[k]);
    }
    let active = found.report.active;
    assert!(active.slipping > 3 && active.sticking > 0, "{active:?}");
}

/// The gradient by the modulus of a solid at each quadrature point adds up to that by the modulus; a
/// parameter that moves more is refused.
#[test]
fn gradients_by_elements_add_up() {
    let text = r#"(
        parameters: {"spin": 2e5, "stiffness": 900, "height": 0.1},
        gravity: (0, 0, -10),
        run: (duration: 0.1, step: 0.01, integrator: Nonlinear),
        nodes: [Solid(name: "beam", shape: Box(size: (0.4, 0.1, 0.1), cells: (4, 1, 1)),
            material: Corotational(young: "$spin", poisson: 0.3), density: "$stiffness",
            fix_boxes: [((-0.01, -1, -1), (0.01, 1, 1))])],
    )"#;
    let at = [2e5, 900.0, 0.1];
    let rollout = rollout_at(text, &at, &[("beam", Quantity::Positions)]).unwrap();
    let weights: Vec<f64> = (0..11 * rollout.columns())
        .map(|i| (1.7 * i as f64).sin())
        .collect();
    let whole = rollout.gradient(&at, &weights).unwrap().parameters[0];
    let element = |parameter, node| rollout.element_gradient(&at, &weights, parameter, node);
    // The law of a corotational solid is one of its strains.
    let each = element(0, "beam.strains").unwrap();
    let sum: f64 = each.iter().sum();
    assert!(each.len() > 10 && each.iter().all(|by| *by != 0.0));
    assert!((sum / whole - 1.0).abs() < 1e-9, "{sum} {whole}");
    for (parameter, node, says) in [
        (0, "beam.gradients", "what acts on `beam.strains`"),
        (1, "beam.strains", "what acts on `beam`"),
        (0, "beam.strain", "the nodes are `beam`"),
    ] {
        let said = element(parameter, node).unwrap_err().to_string();
        assert!(said.contains(says), "{said}");
    }
}

/// Two fingers that close on a ball, without friction, and come to rest: velocities are rounding
/// then, and the contacts are no worse solved for that. The place of the ball is that of statics.
#[test]
fn gradients_of_a_grasp_that_comes_to_rest() {
    let text = r#"(
        parameters: {"spin": 0.6, "stiffness": 0.8, "height": 0.5},
        run: (duration: 1.5, step: 0.01, integrator: Nonlinear, overlap: Rows(rate: 50, speed: 1)),
        nodes: [
            Bodies(name: "fingers", bodies: [
                (position: (-0.07, 0, 0.05), shape: Capsule(radius: 0.01, length: 0.1), mass: 0.05),
                (position: (0.07, 0, 0.05), shape: Capsule(radius: 0.01, length: 0.1), mass: 0.05),
            ]),
            Bodies(name: "ball", bodies: [(position: (0, 0, 0.07), shape: Sphere(0.03), mass: 0.1)]),
        ],
        joints: [
            (name: "left", kind: Hinge, b: Body("fingers", 0), at: (-0.07, 0, 0), axis: (0, 1, 0),
                springs: [(compliance: "1 / $stiffness", rest: "$spin")], dampers: [(damping: 0.01)]),
            (name: "right", kind: Hinge, b: Body("fingers", 1), at: (0.07, 0, 0), axis: (0, -1, 0),
                springs: [(compliance: "1 / $height", rest: 0.6)], dampers: [(damping: 0.01)]),
            (name: "table", kind: Slider, b: Body("ball", 0), at: (0, 0, 0.07), axis: (1, 0, 0), dampers: [(damping: 4)]),
        ],
        materials: [(name: "smooth", friction: 0)],
        colliders: [Bodies(node: "fingers", material: "smooth"), Bodies(node: "ball", material: "smooth")],
    )"#;
    let at = [0.6, 0.8, 0.5];
    let rollout = rollout_at(text, &at, &[("ball", Quantity::Positions)]).unwrap();
    let mut by = vec![0.0; 151 * 7];
    by[150 * 7] = 1.0;
    let found = rollout.gradient(&at, &by).unwrap();
    // Fingers are lines through their hinges that touch the ball at 0.04 m from its centre: each has
    // an angle by the place of the ball, its force has the arm of the touching point, and along the
    // table both forces are the same.
    let pull = |x: f64, [rest, stiffness]: [f64; 2]| {
        let (near, high, reach) = (0.07 + x, 0.07, 0.04f64);
        let distance = near.hypot(high);
        let angle = (near / high).atan() - (reach / distance).asin();
        let arm = (distance * distance - reach * reach).sqrt();
        stiffness * (rest - angle) / arm * angle.cos()
    };
    let place = |p: [f64; 3]| {
        let missing = |x: f64| pull(x, [p[0], p[1]]) - pull(-x, [0.6, p[2]]);
        let (mut low, mut high) = (-0.02, 0.02);
        for _ in 0..60 {
            let x = 0.5 * (low + high);
            match missing(x) > 0.0 {
                true => low = x,
                false => high = x,
            }
        }
        0.5 * (low + high)
    };
    let end = found.values[150 * 7];
    assert!((end - place(at)).abs() < 1e-8, "{end} {}", place(at));
    for k in 0..3 {
        let step = 1e-3 * at[k];
        let moved = |times: f64| {
            let mut p = at;
            p[k] += times * step;
            place(p)
        };
        let expected = (8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0))) / (12.0 * step);
        // What is left of the motion after 1.5 s, as a share.
        let off = (found.parameters[k] / expected - 1.0).abs();
        assert!(off < 1e-6, "{k}: {} {expected}", found.parameters[k]);
    }
}

/// Of the square of where a thrown stone with drag is, whose recurrence has a closed form:
/// `x_n = v h (r + r^2 + ... + r^n)`, `r = 1/(1 + h c/m)`.
#[test]
fn products_with_the_hessian_of_a_closed_form() {
    let text = r#"(
        parameters: {"spin": 3, "stiffness": 0.8, "height": 2},
        run: (duration: 0.5, step: 0.01, integrator: Nonlinear),
        nodes: [Particles(name: "stone", positions: [(0, 0, 0)], velocities: [("$spin", 0, 0)], mass: "$height")],
        force_fields: [(name: "drag", on: "stone", law: Damping(linear: "$stiffness"))],
    )"#;
    let rollout = rollout(text, &[("stone", Quantity::Positions)], None).unwrap();
    let (at, h, n) = ([3.0, 0.8, 2.0], 0.01, 50);
    let last = 3 * n as usize;
    let found = |direction: &[f64]| {
        let by = |moments: &[f64]| {
            let mut by = vec![0.0; moments.len()];
            by[last] = 2.0 * moments[last];
            Ok::<_, RolloutError>(by)
        };
        rollout.hessian_product(&at, direction, by).unwrap()
    };
    // The gradient of x^2 in closed form, whose differences are the products.
    let gradient = |p: [f64; 3]| {
        let [v, c, m] = p;
        let r = 1.0 / (1.0 + h * c / m);
        let sum: f64 = (1..=n).map(|k| r.powi(k)).sum();
        let by_r: f64 = (1..=n).map(|k| f64::from(k) * r.powi(k - 1)).sum();
        let [by_c, by_m] = [-r * r * h / m, r * r * h * c / (m * m)].map(|d| v * h * by_r * d);
        [h * sum, by_c, by_m].map(|d| 2.0 * v * h * sum * d)
    };
    for direction in [[1.0, 0.0, 0.0], [0.3, -1.0, 0.7]] {
        let t = 1e-3;
        let moved = |times: f64| gradient(std::array::from_fn(|k| at[k] + times * t * direction[k]));
        let (one, back, two, far) = (moved(1.0), moved(-1.0), moved(2.0), moved(-2.0));
        let found = found(&direction);
        assert!(found.spread < 1e-5, "{}", found.spread);
        for k in 0..3 {
            let expected = (8.0 * (one[k] - back[k]) - (two[k] - far[k])) / (12.0 * t);
            // Gradients are good to 1e-11, which a thousandth divides.
            let off = (found.product[k] - expected).abs();
            assert!(off < 1e-7, "{k}: {} {expected}", found.product[k]);
        }
    }
    assert_eq!(found(&[0.0; 3]).product, [0.0; 3]);
}

/// Symmetric, `a . (H b) = b . (H a)`, of a body that tumbles.
#[test]
fn products_with_the_hessian_are_symmetric() {
    let rollout = rollout(TUMBLING, &[("body", Quantity::Positions)], None).unwrap();
    let length = 41 * rollout.columns();
    let weights: Vec<f64> = (0..length).map(|i| (0.7 * i as f64).cos()).collect();
    // Of the sum of w sin(x).
    let product = |direction: &[f64]| {
        let by = |moments: &[f64]| {
            let terms = moments.iter().zip(&weights).map(|(x, w)| w * x.cos());
            Ok::<_, RolloutError>(terms.collect())
        };
        rollout.hessian_product(&AT, direction, by).unwrap().product
    };
    let (a, b) = ([0.1, 2.0, -0.01], [0.4, -1.0, 0.02]);
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let (one, other) = (dot(&a, &product(&b)), dot(&b, &product(&a)));
    assert!((one - other).abs() < 1e-6 * one.abs(), "{one} {other}");
}

#[test]
fn scenes_that_do_not_move_by_themselves_are_refused() {
    let body = [("body", Quantity::Positions)];
    for (from, to, says) in [
        (
            "integrator: Nonlinear",
            "integrator: Theta",
            "other integrator than Sdirk2, Nonlinear and Bdf2",
        ),
        (
            "law: Stiffness(\"$stiffness\")",
            "law: Stiffness(\"$stiffness\"), alpha: 0.5",
            "weights of single components",
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

/// The length of the steps and their number are those of the rollout.
#[test]
fn parameters_of_the_run_are_refused() {
    let body = [("body", Quantity::Positions)];
    for (from, to) in [
        ("step: 0.01", r#"step: "0.01 * $height / 0.3""#),
        ("duration: 0.4", r#"duration: "$height + 0.1""#),
        (
            "integrator: Nonlinear",
            r#"integrator: Nonlinear, contact_accuracy: "1e-9 * $height""#,
        ),
    ] {
        let rollout = rollout(&TUMBLING.replacen(from, to, 1), &body, None).unwrap();
        let by = vec![0.0; (rollout.steps() + 1) * rollout.columns()];
        let gradient = rollout.gradient(&AT, &by).map(drop).unwrap_err().to_string();
        assert!(gradient.contains("`run`"), "{gradient}");
    }
    let rollout = rollout(
        &TUMBLING.replacen("step: 0.01", r#"step: "0.01 * $height / 0.3""#, 1),
        &body,
        None,
    );
    let said = rollout.unwrap().run(&[5.0, 30.0, 0.6]).unwrap_err().to_string();
    assert!(said.contains("length of steps"), "{said}");
}

#[test]
fn values_and_gradients_of_other_lengths_are_refused() {
    let rollout = rollout(TUMBLING, &[("body", Quantity::Positions)], Some(2)).unwrap();
    for refused in [
        rollout.run(&AT[..2]).map(drop),
        rollout.gradient(&AT, &[1.0; 20]).map(drop),
        rollout.gradient(&AT[..1], &[1.0; 21]).map(drop),
        rollout
            .hessian_product(&AT, &[1.0], |by| Ok::<_, RolloutError>(by.to_vec()))
            .map(drop),
    ] {
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("numbers are needed"), "{said}");
    }
    assert_eq!(rollout.gradient(&AT, &[0.0; 21]).unwrap().parameters, [0.0; 3]);
}

/// A ball that comes to another one in time, or does not: the way of the other by the speed is that of
/// both going on together, or has the derivative zero; smoothed it is felt before they touch, and
/// tends to that of the steps as the barrier gets low.
#[test]
fn smoothed_gradients_feel_what_is_not_touched() {
    let text = r#"(
        parameters: {"spin": 0.4},
        run: (duration: 1, step: 0.01, integrator: Nonlinear),
        materials: [(name: "soft", restitution: 0, friction: 0)],
        nodes: [Bodies(name: "balls", bodies: [
            (position: (0, 0, 0), shape: Sphere(0.1), mass: 1, velocity: ("$spin", 0, 0)),
            (position: (0.7, 0, 0), shape: Sphere(0.1), mass: 1),
        ])],
        colliders: [Bodies(node: "balls", material: "soft", margin: 1)],
    )"#;
    let rollout = |speed: f64| {
        let file = SceneFile::from_text("test.ron".as_ref(), text, Format::Ron).unwrap();
        let build = move |values: &[f64]| {
            file.build(&Settings {
                parameters: vec![("spin".to_owned(), values[0].into())],
                ..Settings::default()
            })
        };
        let outputs = [("balls", Quantity::Positions)];
        Rollout::new(Box::new(build), &[speed], &outputs, None).unwrap()
    };
    let mut by = vec![0.0; 101 * 14];
    by[100 * 14 + 7] = 1.0;
    let gradient = |rollout: &Rollout, speed| rollout.gradient(&[speed], &by).unwrap().parameters[0];
    for (speed, own) in [(0.4, 0.0), (0.8, 0.5)] {
        let hard = rollout(speed);
        assert!((gradient(&hard, speed) - own).abs() < 0.01, "{speed}");
        let [high, low] = [1e-3, 1e-7].map(|energy| {
            let smoothed = rollout(speed).with_smoothing(energy).unwrap();
            assert_eq!(smoothed.run(&[speed]).unwrap(), hard.run(&[speed]).unwrap());
            gradient(&smoothed, speed)
        });
        assert!((low - gradient(&hard, speed)).abs() < 1e-3, "{speed}: {low}");
        assert!((0.001..0.6).contains(&high), "{speed}: {high}");
    }
    let said = rollout(0.4).with_smoothing(-1.0).unwrap_err().to_string();
    assert!(said.contains("above zero (J), not -1"), "{said}");
}
