//! Mappings from formulas: against those written by hand, and bad ones.

use crate::force_fields::{bodies, random};
use pliant_model::dual::{Dual, DualNum};
use pliant_model::{Dependency, Distance, Formula, Mapping, RigidPoints, Space, check};

fn at(element: usize) -> Dependency {
    Dependency::new(0, element)
}

fn distance() -> Formula {
    Formula::new(
        1,
        vec![vec![at(0), at(2)], vec![at(1), at(0)]],
        |x: &[Dual], out: &mut [Dual]| {
            let d = [x[0] - x[3], x[1] - x[4], x[2] - x[5]];
            out[0] = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
        },
    )
}

fn point() -> Formula {
    Formula::new(3, vec![vec![at(1)]], |x: &[Dual], out: &mut [Dual]| {
        let p = pliant_model::dual::rotate(&x[3..], &[0.1, -0.2, 0.3].map(Dual::from));
        for k in 0..3 {
            out[k] = x[k] + p[k];
        }
    })
}

#[test]
fn derivatives() {
    for seed in 0..10 {
        let parents = [(Space::Real(3), 3)];
        let found = check::mapping(&distance(), &parents, &random(seed, 9), seed).unwrap();
        assert!(found.worst() < 1e-6, "{found:?}");
        let found = check::mapping(&point(), &[(Space::Rigid3, 2)], &bodies(seed, 2), seed).unwrap();
        assert!(found.worst() < 1e-6, "{found:?}");
        // Mixed parents: the coordinate of a point in the axes of a body.
        let mixed = Formula::new(
            1,
            vec![vec![at(0), Dependency::new(1, 0)]],
            |x: &[Dual], out: &mut [Dual]| {
                let d = [x[7] - x[0], x[8] - x[1], x[9] - x[2]];
                out[0] = pliant_model::dual::rotate(&pliant_model::dual::conjugate(&x[3..7]), &d)[2];
            },
        );
        let x = [bodies(seed, 1), random(seed + 5, 3)].concat();
        let found = check::mapping(&mixed, &[(Space::Rigid3, 1), (Space::Real(3), 1)], &x, seed).unwrap();
        assert!(found.worst() < 1e-6, "{found:?}");
    }
}

#[test]
fn the_same_as_those_written_by_hand() {
    // Both against one formula, exactly.
    for seed in 0..5 {
        let x = random(seed, 9);
        let parents = [(Space::Real(3), 3)];
        let exact = |x: &[Dual]| {
            let pair = |a: usize, b: usize| {
                let square = |k: usize| (x[3 * a + k] - x[3 * b + k]).powi(2);
                (square(0) + square(1) + square(2)).sqrt()
            };
            vec![pair(0, 2), pair(1, 0)]
        };
        let hand = Distance::between(&[(0, 2), (1, 0)]);
        assert!(
            check::mapping_exactly(&hand, &parents, &x, seed, exact)
                .unwrap()
                .worst()
                < 1e-12
        );
        assert!(
            check::mapping_exactly(&distance(), &parents, &x, seed, exact)
                .unwrap()
                .worst()
                < 1e-12
        );
        let exact = |x: &[Dual]| {
            let p = pliant_model::dual::rotate(&x[10..], &[0.1, -0.2, 0.3].map(Dual::from));
            (0..3).map(|k| x[7 + k] + p[k]).collect()
        };
        let parents = [(Space::Rigid3, 2)];
        let (x, hand) = (bodies(seed, 2), RigidPoints::new(&[(1, [0.1, -0.2, 0.3])]));
        assert!(
            check::mapping_exactly(&hand, &parents, &x, seed, exact)
                .unwrap()
                .worst()
                < 1e-12
        );
        assert!(
            check::mapping_exactly(&point(), &parents, &x, seed, exact)
                .unwrap()
                .worst()
                < 1e-12
        );
    }
}

#[test]
fn bad_formulas() {
    let one =
        |lists: Vec<Vec<Dependency>>| Formula::new(1, lists, |x: &[Dual], out: &mut [Dual]| out[0] = x[0]);
    let parents = [(Space::Real(3), 20), (Space::Rigid3, 2)];
    let cases = [
        (
            Formula::new(0, vec![vec![at(0)]], |_: &[Dual], _: &mut [Dual]| {}),
            "the dimension",
        ),
        (
            Formula::new(49, vec![vec![at(0)]], |_: &[Dual], _: &mut [Dual]| {}),
            "48 or fewer",
        ),
        (one(vec![(0..17).map(at).collect()]), "48 or fewer"),
        (one(vec![vec![at(20)]]), "element 20"),
        (one(vec![vec![Dependency::new(2, 0)]]), "parent 2"),
        (one(vec![vec![at(1), at(1)]]), "twice"),
        (
            one(vec![vec![at(1)], vec![Dependency::new(1, 0)]]),
            "other spaces",
        ),
    ];
    for (formula, words) in cases {
        let error = formula.check("child", &parents).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("`child`"), "{error}");
    }
    // A formula without a value where the system is.
    let mut m = pliant_model::Model::new();
    let x = m.add_scalars("x", &[-1.0]).unwrap();
    let root = Formula::new(1, vec![vec![at(0)]], |x: &[Dual], out: &mut [Dual]| {
        out[0] = x[0].sqrt();
    });
    m.add_mapped("root", &[x], root).unwrap();
    let error = m.initial_state().unwrap_err().to_string();
    assert!(
        error.contains("`root`, element 0") && error.contains("no finite number"),
        "{error}"
    );
}
