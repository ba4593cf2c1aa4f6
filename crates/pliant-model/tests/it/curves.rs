//! Scalars along curves: against the cubic that they are, a spline in closed form, and differences.

use pliant_model::dual::Dual;
use pliant_model::{Curve, Dependency, Mapping, Model, Space, check};

const SCALARS: [(Space, usize); 1] = [(Space::Real(1), 2)];

fn both() -> [Dependency; 2] {
    [Dependency::new(0, 0), Dependency::new(0, 1)]
}

/// Values of a curve at two places.
fn values(curve: Curve, x: [f64; 2]) -> [f64; 2] {
    let mut model = Model::new();
    let parent = model.add_independent("x", Space::Real(1), &x, &[0.0; 2]).unwrap();
    let child = model.add_mapped("y", &[parent], curve).unwrap();
    let state = model.initial_state().unwrap();
    let found = model.positions(&state, child);
    [found[0], found[1]]
}

/// A cubic with the slopes of its knots is that cubic, between any knots; so are its derivatives.
#[test]
fn knots_of_a_cubic_are_the_cubic() {
    let cubic = |x: f64| 0.3 - 0.7 * x + 1.1 * x * x - 0.4 * x * x * x;
    let slope = |x: f64| -0.7 + 2.2 * x - 1.2 * x * x;
    let points: Vec<_> = [-1.0, -0.3, 0.4, 2.0].map(|x| (x, cubic(x))).into();
    let slopes = [-1.0, -0.3, 0.4, 2.0].map(slope);
    let curve = Curve::with_slopes(&both(), &points, &slopes);
    let polynomial = Curve::polynomial(&both(), &[0.3, -0.7, 1.1, -0.4]);
    for x in [[-0.9, -0.31], [0.1, 0.39], [0.41, 1.9]] {
        for mapping in [&curve, &polynomial] {
            let formula = |x: &[Dual]| {
                let y = |x: Dual| (x * x * x) * -0.4 + x * x * 1.1 + x * -0.7 + 0.3;
                vec![y(x[0]), y(x[1])]
            };
            let found = check::mapping_exactly(mapping, &SCALARS, &x, 3, formula).unwrap();
            // Rounding of a dozen operations on numbers of size one.
            assert!(found.worst() < 1e-13, "{mapping:?} at {x:?}: {found:?}");
        }
    }
}

/// The natural spline through (0, 0), (1, 1), (2, 0) is `1.5 x - 0.5 x^3` up to the middle, and
/// goes on straight with the slope 1.5 at both ends.
#[test]
fn the_natural_spline_is_that_of_the_textbook() {
    let curve = || Curve::through(&both(), &[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]);
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    let inside = values(curve(), [0.5, 1.7]);
    near(inside[0], 0.75 - 0.0625);
    near(inside[1], 0.45 - 0.0135);
    let outside = values(curve(), [-2.0, 3.0]);
    near(outside[0], -3.0);
    near(outside[1], -1.5);
    // Two points are a line, one is constant.
    let line = values(Curve::through(&both(), &[(0.0, 1.0), (2.0, 2.0)]), [1.0, 4.0]);
    near(line[0], 1.5);
    near(line[1], 3.0);
    near(
        values(Curve::through(&both(), &[(0.5, 7.0)]), [-1.0, 9.0])[1],
        7.0,
    );
    for x in [[0.4, 1.6], [-0.5, 2.5]] {
        let found = check::mapping(&curve(), &SCALARS, &x, 5).unwrap();
        // Central differences of step 1e-5, as of the other mappings.
        assert!(found.worst() < 1e-6, "{found:?}");
    }
}

#[test]
fn what_is_no_curve_is_an_error() {
    let says = |curve: Curve, words: &str| {
        let error = curve.check("cam", &SCALARS).unwrap_err().to_string();
        assert!(error.contains("cam") && error.contains(words), "{error}");
    };
    says(Curve::through(&both(), &[]), "it has no points");
    says(Curve::through(&both(), &[(1.0, 0.0), (1.0, 2.0)]), "do not rise");
    says(
        Curve::through(&both(), &[(f64::NAN, 0.0)]),
        "a point of the curve",
    );
    says(
        Curve::with_slopes(&both(), &[(0.0, 0.0), (1.0, 1.0)], &[1.0]),
        "a point of the curve",
    );
    says(Curve::polynomial(&both(), &[f64::INFINITY]), "a coefficient");
    let points = [(Space::Real(3), 2)];
    let error = Curve::polynomial(&both(), &[1.0]).check("cam", &points);
    assert!(error.unwrap_err().to_string().contains("scalars"));
}
