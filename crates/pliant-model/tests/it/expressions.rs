//! Mappings and potentials from expressions: against finite differences, against components that
//! are written by hand, and bad ones.

use crate::force_fields::{bodies, random};
use pliant_model::{
    Coordinate, Dependency, Distance, Evaluation, Expression, ExpressionCoordinates, ExpressionElement,
    Expressions, Level, Mapping, Model, Problem, Space, Treatment, UniformCompliance, check,
};

fn parse(text: &str, names: &[&str]) -> Expression {
    Expression::parse(text, names).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Names `x0, x1, ..` of coordinates (parent, element, index).
fn element(texts: &[&str], coordinates: &[[usize; 3]]) -> ExpressionElement {
    let names: Vec<String> = (0..coordinates.len()).map(|k| format!("x{k}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    ExpressionElement {
        expressions: texts.iter().map(|text| parse(text, &names)).collect(),
        coordinates: coordinates
            .iter()
            .map(|[p, e, i]| Coordinate::new(*p, *e, *i))
            .collect(),
    }
}

const PAIR: [[usize; 3]; 6] = [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 1, 0], [1, 1, 1], [1, 1, 2]];
const LENGTH: &str = "sqrt((x0 - x3)^2 + (x1 - x4)^2 + (x2 - x5)^2)";

#[test]
fn derivatives_of_mappings() {
    for seed in 0..10 {
        let two = [(Space::Real(3), 2), (Space::Real(3), 3)];
        let mapping = Expressions::new(vec![
            element(&[LENGTH, "x0 * x4 * exp(x5) - x1"], &PAIR),
            element(&["sin(x0)", "x1^3 * x0"], &[[1, 2, 1], [0, 1, 2]]),
        ]);
        let found = check::mapping(&mapping, &two, &random(seed, 15), seed).unwrap();
        assert!(found.worst() < 1e-6, "{found:?}");
        // The height of a point of a body, and the square of that of another one, by quaternions.
        let turned = "x1 + 2 * (x2 * x3 + x4 * x5) * 0.3";
        let of_body = element(
            &[turned, "x0 * x2"],
            &[[0, 0, 0], [0, 0, 2], [0, 0, 3], [0, 0, 4], [0, 1, 5], [0, 1, 6]],
        );
        let found = check::mapping(
            &Expressions::new(vec![of_body]),
            &[(Space::Rigid3, 2)],
            &bodies(seed, 2),
            seed,
        );
        let found = found.unwrap();
        assert!(found.worst() < 1e-6, "{found:?}");
    }
}

#[test]
fn the_same_as_a_distance() {
    for seed in 0..5 {
        let parents = [(Space::Real(3), 2), (Space::Real(3), 2)];
        let x = random(seed, 12);
        let exact = |x: &[pliant_model::dual::Dual]| {
            use pliant_model::dual::DualNum;
            let square = |k: usize| (x[k] - x[9 + k]).powi(2);
            vec![(square(0) + square(1) + square(2)).sqrt()]
        };
        let expression = Expressions::new(vec![element(&[LENGTH], &PAIR)]);
        let found = check::mapping_exactly(&expression, &parents, &x, seed, exact).unwrap();
        assert!(found.worst() < 1e-12, "{found:?}");
        let hand = Distance::new(&[(pliant_model::End::element(0, 0), pliant_model::End::element(1, 1))]);
        let found = check::mapping_exactly(&hand, &parents, &x, seed, exact).unwrap();
        assert!(found.worst() < 1e-12, "{found:?}");
    }
}

/// Two particles with a spring between them, by an expression and by hand.
fn springs(seed: u64) -> [Model; 2] {
    let x = random(seed, 6);
    [true, false].map(|by_expression| {
        let mut model = Model::new();
        let [a, b] = [("a", 0), ("b", 3)]
            .map(|(name, k)| model.add_particles(name, &[[x[k], x[k + 1], x[k + 2]]]).unwrap());
        if by_expression {
            let energy = element(&[&format!("0.5 * 40 * ({LENGTH} - 0.7)^2")], &PAIR);
            let coordinates: Vec<Coordinate> = energy
                .coordinates
                .iter()
                .map(|c| Coordinate {
                    on: Dependency::new(c.on.parent, 0),
                    ..*c
                })
                .collect();
            model
                .add_potential("spring", &[a, b], &energy.expressions[0], &coordinates)
                .unwrap();
        } else {
            let pair = [(pliant_model::End::element(0, 0), pliant_model::End::element(1, 0))];
            let length = Distance::new(&pair).with_rest_lengths(&[0.7]);
            let length = model.add_mapped("length", &[a, b], length).unwrap();
            let law = UniformCompliance::from_stiffness(40.0);
            model
                .add_force_field("spring", length, law, Treatment::Stiffness)
                .unwrap();
        }
        model
    })
}

#[test]
fn potentials_have_the_forces_of_springs() {
    for seed in 0..5 {
        let [found, expected] = springs(seed).map(|model| {
            let problem = Problem::new(model);
            let mut state = problem.initial_state().unwrap();
            let mut evaluation = Evaluation::new(&problem);
            evaluation.propagate(&problem, &mut state).unwrap();
            evaluation.evaluate(&problem, &state).unwrap();
            let mut force = evaluation.force().to_vec();
            evaluation.pull_back(&problem, &mut force);
            let energy = problem.energies(&state).potential;
            (force[..6].to_vec(), energy)
        });
        assert!(
            (found.1 - expected.1).abs() < 1e-12 * expected.1,
            "{found:?} {expected:?}"
        );
        for (f, e) in found.0.iter().zip(&expected.0) {
            assert!((f - e).abs() < 1e-11, "{found:?} {expected:?}");
        }
    }
}

#[test]
fn potentials_pass_the_checks_of_force_fields() {
    use pliant_model::dual::{Dual, DualNum};
    // A double well that is coupled to a pendulum, through the law that `add_potential` makes.
    let mut model = Model::new();
    let q = model.add_scalars("q", &[0.4, -1.3]).unwrap();
    let energy = parse(
        "0.25 * (u^2 - 1)^2 + 2 * (1 - cos(v)) + 0.3 * u * v^2",
        &["u", "v"],
    );
    let coordinates = [Coordinate::new(0, 0, 0), Coordinate::new(0, 1, 0)];
    model.add_potential("well", &[q], &energy, &coordinates).unwrap();
    let law = &model.force_fields()[0].component.law;
    let by_hand = pliant_model::Potential::new(|x: &[Dual]| {
        (x[0] * x[0] - 1.0).powi(2) * 0.25 + (-x[1].cos() + 1.0) * 2.0 + x[0] * x[1] * x[1] * 0.3
    });
    let by_hand = by_hand.over_groups(&[vec![0, 1]]);
    for seed in 0..5 {
        let x = random(seed, 2);
        let found = check::force_field(law.as_ref(), Space::Real(1), &x, &[0.0, 0.0]).unwrap();
        assert!(found.worst() < 1e-6, "{found:?}");
        let at = pliant_model::At::new(Space::Real(1), &x);
        let forces = [law.as_ref(), &by_hand].map(|law| {
            let mut f = vec![0.0; 2];
            pliant_model::ForceField::add_force(law, at, &mut f);
            f
        });
        let differs = forces[0]
            .iter()
            .zip(&forces[1])
            .any(|(a, b)| (a - b).abs() > 1e-14);
        assert!(!differs, "{forces:?}");
    }
}

#[test]
fn formulas_are_held_and_carry_masses() {
    // A pendulum from its angle: the mass on the mapped point has the inertia m l^2.
    let mut model = Model::new();
    let angle = model.add_scalars("angle", &[0.4]).unwrap();
    let bob = element(&["2 * sin(x0)", "-2 * cos(x0)", "0"], &[[0, 0, 0]]);
    let bob = model
        .add_mapped("bob", &[angle], Expressions::new(vec![bob]))
        .unwrap();
    model
        .add_mass("bob", bob, pliant_model::Mass::Uniform(0.5))
        .unwrap();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    model.add_constraint("held", bob, Level::Position).unwrap();
    let problem = Problem::new(model);
    let mut state = problem.initial_state().unwrap();
    let range = problem.node(angle).velocity_range();
    state.velocities[range.clone()].fill(3.0);
    let mut evaluation = Evaluation::new(&problem);
    evaluation.propagate(&problem, &mut state).unwrap();
    evaluation.evaluate(&problem, &state).unwrap();
    let mut force = evaluation.force().to_vec();
    evaluation.pull_back(&problem, &mut force);
    // The torque of gravity.
    assert!((force[range.start] + 0.5 * 9.81 * 2.0 * 0.4_f64.sin()).abs() < 1e-13);
    // The centripetal acceleration, towards the pivot.
    let bias = &evaluation.bias()[problem.node(bob).velocity_range()];
    let wanted = [-18.0 * 0.4_f64.sin(), 18.0 * 0.4_f64.cos(), 0.0];
    for (found, wanted) in bias.iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-12, "{bias:?}");
    }
}

#[test]
fn bad_expressions_are_refused() {
    let parents = [(Space::Real(3), 20), (Space::Rigid3, 2)];
    let many: Vec<[usize; 3]> = (0..17).map(|e| [0, e, 0]).collect();
    let short = ExpressionElement {
        coordinates: vec![],
        ..element(&["x0"], &[[0, 0, 0]])
    };
    let missing = ExpressionElement {
        coordinates: vec![Coordinate::new(0, 0, 0)],
        ..element(&["x0 + x1"], &[[0, 0, 0], [0, 0, 1]])
    };
    for (elements, words) in [
        (vec![], "the dimension"),
        (vec![element(&["x16"], &many)], "48 or fewer"),
        (vec![element(&["x0"], &[[0, 20, 0]])], "element 20"),
        (vec![element(&["x0"], &[[2, 0, 0]])], "parent 2"),
        (vec![element(&["x0"], &[[0, 0, 3]])], "4 coordinates at least"),
        (vec![element(&["x0"], &[[1, 0, 7]])], "8 coordinates at least"),
        (vec![short], "no coordinates"),
        (vec![missing], "2 coordinates for the names, found 1"),
        (
            vec![
                element(&["x0", "x0"], &[[0, 0, 0]]),
                element(&["x0"], &[[0, 0, 0]]),
            ],
            "2 expressions",
        ),
    ] {
        let error = Expressions::new(elements)
            .check("child", &parents)
            .unwrap_err()
            .to_string();
        assert!(error.contains(words) && error.contains("`child`"), "{error}");
    }
    let rotation = ExpressionCoordinates::new(parse("q", &["q"]), &[Coordinate::new(1, 0, 3)]);
    let error = rotation.check("child", &parents).unwrap_err().to_string();
    assert!(error.contains("4 coordinates at least, found 3"), "{error}");
    let error = Expression::parse("a.x + b.y", &["a.x", "a.y"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the expression \"a.x + b.y\" is wrong at byte 6: there is no coordinate `b.y`"
    );
    let pliant_model::ModelError::Expression { cause, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(
        (cause.range, cause.help.as_deref()),
        (6..9, Some("did you mean `a.y`?"))
    );
    let error = parse("sqrt(q)", &["q"]).gradient(&[0.0]).unwrap_err().to_string();
    assert!(error.contains("its slope or curvature is infinite"), "{error}");
}

#[test]
fn places_without_value_or_derivative_are_named() {
    let of = |text: &str, x: f64, is_potential: bool| {
        let mut model = Model::new();
        let a = model.add_scalars("a", &[x]).unwrap();
        let (names, coordinates) = (["a"], [Coordinate::new(0, 0, 0)]);
        if is_potential {
            model
                .add_potential("well", &[a], &parse(text, &names), &coordinates)
                .unwrap();
        } else {
            let element = ExpressionElement {
                expressions: vec![parse("a", &names), parse(text, &names)],
                coordinates: coordinates.to_vec(),
            };
            model
                .add_mapped("well", &[a], Expressions::new(vec![element]))
                .unwrap();
        }
        model.initial_state().map(drop)
    };
    for (text, x, words) in [
        (
            "sqrt(a)",
            -1.0,
            "\"sqrt(a)\" at a = -1: the value of this expression is NaN",
        ),
        (
            "1 + abs(a)",
            0.0,
            "\"1 + abs(a)\" at a = 0, in \"abs(a)\": `abs` has no derivative at zero",
        ),
        (
            "a^1.5",
            0.0,
            "\"a^1.5\" at a = 0: it has no derivative here: its slope or curvature is infinite",
        ),
        (
            "if(a > 2, a, 0)",
            2.0,
            "\"if(a > 2, a, 0)\" at a = 2, in \"if(a > 2,\": `if` switches here",
        ),
    ] {
        for is_potential in [true, false] {
            let error = of(text, x, is_potential).unwrap_err().to_string();
            let wanted = format!(
                "`well`, element 0, is not defined here: its formula has no value or no derivative, {words}"
            );
            assert!(error.starts_with(&wanted), "{error}");
            of(text, x + 10.0, is_potential).unwrap();
        }
    }
}

#[test]
fn a_refused_potential_leaves_the_model_as_it_was() {
    let mut model = Model::new();
    let a = model.add_scalars("a", &[1.0]).unwrap();
    let one = [Coordinate::new(0, 0, 0)];
    model
        .add_potential("well", &[a], &parse("a^2", &["a"]), &one)
        .unwrap();
    let mapped = model
        .add_mapped("copy", &[a], pliant_model::Identity::new(Space::Real(1), 1))
        .unwrap();
    model
        .add_force_field(
            "taken",
            mapped,
            UniformCompliance::from_stiffness(1.0),
            Treatment::Stiffness,
        )
        .unwrap();
    let error = model
        .add_potential("taken", &[a], &parse("a^2", &["a"]), &one)
        .unwrap_err();
    assert!(error.to_string().contains("`taken` is used twice"), "{error}");
    assert_eq!((model.nodes().len(), model.force_fields().len()), (3, 2));
}
