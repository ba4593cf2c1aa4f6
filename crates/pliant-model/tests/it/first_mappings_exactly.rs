//! The oldest mappings against formulas on hyper-dual numbers, to rounding.

use crate::body_tools::{flat, poses};
use pliant_model::dual::{Dual, DualNum, conjugate, log, multiply, rotate};
use pliant_model::{
    Affine, AffineEntry, Dependency, Difference, Distance, End, Identity, Mapping, RelativeRotation,
    RigidPoints, Space, Subset, check,
};

fn exact<M: Mapping + Clone + 'static>(
    mapping: &M,
    parents: &[(Space, usize)],
    x: &[f64],
    formula: impl Fn(&[Dual]) -> Vec<Dual>,
) {
    let found = check::mapping_exactly(mapping, parents, x, 5, formula).unwrap();
    assert!(found.worst() < 1e-12, "{mapping:?}: {found:?}");
}

fn length(d: &[Dual]) -> Dual {
    d.iter().fold(Dual::from(0.0), |sum, d| sum + *d * *d).sqrt()
}

#[test]
fn points() {
    let x = [0.3, -1.2, 0.7, 2.0, 0.1, -0.4, 0.9, 0.8, -1.5];
    let parents = [(Space::Real(3), 2), (Space::Real(3), 1)];
    let ends = [
        (End::element(0, 0), End::element(1, 0)),
        (End::Point([1.0, 1.0, 1.0]), End::element(0, 1)),
    ];
    let difference = |x: &[Dual]| -> Vec<Dual> {
        let one = (0..3).map(|k| x[k] - x[6 + k]);
        one.chain((0..3).map(|k| -x[3 + k] + 1.0)).collect()
    };
    exact(&Difference::new(&ends), &parents, &x, difference);
    exact(
        &Distance::new(&ends).with_rest_lengths(&[0.5, 0.2]),
        &parents,
        &x,
        |x| {
            let d = difference(x);
            vec![length(&d[..3]) - 0.5, length(&d[3..]) - 0.2]
        },
    );
    exact(
        &Subset::of_parents(Space::Real(3), &[Dependency::new(1, 0), Dependency::new(0, 0)]),
        &parents,
        &x,
        |x| [&x[6..], &x[..3]].concat(),
    );
    exact(
        &Identity::new(Space::Real(3), 3),
        &[(Space::Real(3), 3)],
        &x,
        <[Dual]>::to_vec,
    );
    let entry = |element, parent, from_coordinate, value| AffineEntry {
        element,
        coordinate: 0,
        from: Dependency::new(parent, 0),
        from_coordinate,
        value,
    };
    let entries = [entry(0, 0, 1, 2.0), entry(0, 1, 2, -3.0), entry(1, 0, 0, 0.5)];
    exact(&Affine::new(1, &[0.1, 0.2], &entries), &parents, &x, |x| {
        vec![x[1] * 2.0 - x[8] * 3.0 + 0.1, x[0] * 0.5 + 0.2]
    });
}

#[test]
fn bodies() {
    for seed in 1..20 {
        let bodies = poses(seed, 2);
        let x = flat(&bodies);
        let parents = [(Space::Rigid3, 2)];
        let r = [0.3, -0.2, 0.7];
        exact(&RigidPoints::new(&[(1, r)]), &parents, &x, |x| {
            let turned = rotate(&x[10..14], &r.map(Dual::from));
            (0..3).map(|k| x[7 + k] + turned[k]).collect()
        });
        exact(&RelativeRotation::new(&[(0, 1)]), &parents, &x, |x| {
            log(&multiply(&conjugate(&x[3..7]), &x[10..14])).to_vec()
        });
    }
}
