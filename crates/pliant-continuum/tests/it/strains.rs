//! Strains against formulas on hyper-dual numbers, closed forms and finite differences.

use pliant_continuum::{CorotationalStrain, GreenLagrange, SmallStrain, VolumeRatio};
use pliant_model::dual::Dual;
use pliant_model::{Mapping, Model, Space, check};
use proptest::prelude::*;

fn gradient(seed: [f64; 9], size: f64) -> [f64; 9] {
    std::array::from_fn(|k| size * seed[k] + if k % 4 == 0 { 1.0 } else { 0.0 })
}

fn product(a: &[Dual], b: &[Dual]) -> Vec<Dual> {
    (0..9)
        .map(|k| (0..3).map(|m| a[k / 3 * 3 + m] * b[3 * m + k % 3]).sum())
        .collect()
}

fn transposed(a: &[Dual]) -> Vec<Dual> {
    (0..9).map(|k| a[k % 3 * 3 + k / 3]).collect()
}

fn determinant(f: &[Dual]) -> Dual {
    f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6])
        + f[2] * (f[3] * f[7] - f[4] * f[6])
}

fn inverse(f: &[Dual]) -> Vec<Dual> {
    let d = determinant(f);
    let minor = |i: usize, j: usize| {
        let (a, b) = ((i + 1) % 3, (i + 2) % 3);
        let (c, e) = ((j + 1) % 3, (j + 2) % 3);
        f[3 * a + c] * f[3 * b + e] - f[3 * a + e] * f[3 * b + c]
    };
    (0..9).map(|k| minor(k % 3, k / 3) / d).collect()
}

fn six(e: &[Dual], shift: f64) -> Vec<Dual> {
    vec![
        e[0] - shift,
        e[4] - shift,
        e[8] - shift,
        e[1] + e[3],
        e[5] + e[7],
        e[6] + e[2],
    ]
}

/// `U - I` by Newton's iteration for the rotation, carried far beyond convergence so that the
/// derivatives converge too.
pub(crate) fn biot(f: &[Dual]) -> Vec<Dual> {
    let mut r = f.to_vec();
    for _ in 0..40 {
        let t = transposed(&inverse(&r));
        r = r.iter().zip(&t).map(|(a, b)| (*a + *b) * 0.5).collect();
    }
    let u = product(&transposed(&r), f);
    let t = transposed(&u);
    let u: Vec<Dual> = u.iter().zip(&t).map(|(a, b)| (*a + *b) * 0.5).collect();
    six(&u, 1.0)
}

fn green(f: &[Dual]) -> Vec<Dual> {
    let c = product(&transposed(f), f);
    let e: Vec<Dual> = c.iter().map(|c| *c * 0.5).collect();
    six(&e, 0.5)
}

fn small(f: &[Dual]) -> Vec<Dual> {
    let t = transposed(f);
    let e: Vec<Dual> = f.iter().zip(&t).map(|(a, b)| (*a + *b) * 0.5).collect();
    six(&e, 1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_derivative_is_that_of_the_formula(seed in prop::array::uniform9(-1.0f64..1.0)) {
        let f = gradient(seed, 0.25);
        let parents = [(Space::Real(9), 1)];
        let exactly = |worst: f64| worst < 1e-12;
        prop_assert!(exactly(check::mapping_exactly(&SmallStrain::new(1), &parents, &f, 1, small).unwrap().worst()));
        prop_assert!(exactly(check::mapping_exactly(&GreenLagrange::new(1), &parents, &f, 2, green).unwrap().worst()));
        let ratio = |f: &[Dual]| vec![determinant(f) - 1.0];
        prop_assert!(exactly(check::mapping_exactly(&VolumeRatio::new(1), &parents, &f, 3, ratio).unwrap().worst()));
        let found = check::mapping_exactly(&CorotationalStrain::new(1), &parents, &f, 4, biot).unwrap();
        // The sums of two stretches are above 1.
        prop_assert!(found.worst() < 1e-11, "{:?}", found);
    }

    /// Also far from rest and inside out, where there is no iteration to compare with.
    #[test]
    fn corotational_strains_have_their_derivatives_everywhere(seed in prop::array::uniform9(-1.0f64..1.0)) {
        let parents = [(Space::Real(9), 1)];
        // Differences of step 1e-5, third derivatives of size one over the smallest sum of
        // stretches to the third.
        if let Ok(found) = check::mapping(&CorotationalStrain::new(1), &parents, &seed, 5) {
            let f = nalgebra::Matrix3::from_row_slice(&seed);
            let s = f.singular_values();
            let least = s[1] + s[2] * f.determinant().signum();
            if least > 0.2 {
                prop_assert!(found.worst() < 1e-5, "{:?} {:?}", found, least);
            }
        }
    }

    #[test]
    fn strains_do_not_feel_rotations(
        seed in prop::array::uniform9(-1.0f64..1.0),
        turn in prop::array::uniform3(-3.0f64..3.0),
    ) {
        let f = nalgebra::Matrix3::from_row_slice(&gradient(seed, 0.2));
        let q = nalgebra::Rotation3::new(nalgebra::Vector3::from(turn)).into_inner();
        let value = |mapping: Box<dyn Mapping>, f: &nalgebra::Matrix3<f64>| {
            let mut model = Model::new();
            let rows: Vec<f64> = f.transpose().as_slice().to_vec();
            let parent = model.add_independent("f", Space::Real(9), &rows, &[0.0; 9]).unwrap();
            let child = model.add_boxed_mapped("e", &[parent], mapping).unwrap();
            let state = model.initial_state().unwrap();
            model.positions(&state, child).to_vec()
        };
        let (one, two) = (value(Box::new(CorotationalStrain::new(1)), &f), value(Box::new(CorotationalStrain::new(1)), &(q * f)));
        for (a, b) in one.iter().zip(&two) {
            prop_assert!((a - b).abs() < 1e-14);
        }
        // U is the square root of F^T F.
        let u = nalgebra::Matrix3::new(one[0], 0.5 * one[3], 0.5 * one[5], 0.5 * one[3], one[1], 0.5 * one[4], 0.5 * one[5], 0.5 * one[4], one[2])
            + nalgebra::Matrix3::identity();
        prop_assert!((u * u - f.transpose() * f).norm() < 1e-13);
        let (one, two) = (value(Box::new(GreenLagrange::new(1)), &f), value(Box::new(GreenLagrange::new(1)), &(q * f)));
        for (a, b) in one.iter().zip(&two) {
            prop_assert!((a - b).abs() < 1e-14);
        }
    }
}

#[test]
fn inverted_gradients_have_a_proper_rotation_and_degenerate_ones_are_named() {
    let value = |f: [f64; 9]| {
        let mut model = Model::new();
        let parent = model.add_independent("f", Space::Real(9), &f, &[0.0; 9]).unwrap();
        let child = model
            .add_mapped("e", &[parent], CorotationalStrain::new(1))
            .unwrap();
        model
            .initial_state()
            .map(|state| model.positions(&state, child).to_vec())
    };
    // Flattened beyond zero along z: the rotation is none, the stretch negative.
    let e = value([1.0, 0.0, 0.0, 0.0, 1.2, 0.0, 0.0, 0.0, -0.5]).unwrap();
    for (a, b) in e.iter().zip([0.0, 0.2, -1.5, 0.0, 0.0, 0.0]) {
        assert!((a - b).abs() < 1e-14, "{e:?}");
    }
    for degenerate in [[0.0; 9], [1.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, -0.5]] {
        let error = value(degenerate).unwrap_err().to_string();
        assert!(error.contains("`e`, element 0"), "{error}");
    }
}
