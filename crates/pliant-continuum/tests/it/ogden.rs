//! Ogden's energy against power series on hyper-dual numbers, closed forms of rubber, and Mooney
//! and Rivlin's.

use super::materials::{GRADIENT, density, tangent};
use pliant_continuum::{Hyperelastic, StrainEnergy};
use pliant_model::dual::{Dual, DualNum};
use pliant_model::{At, ForceField, Potential, Treatment, check};
use proptest::prelude::*;

/// Treloar's rubber (Ogden 1972): `mu_p` (Pa), `alpha_p` (none).
pub(crate) const TRELOAR: [[f64; 2]; 3] = [[6.3e5, 1.3], [1.2e3, 5.0], [-1e4, -2.0]];

fn ogden(terms: &[[f64; 2]], bulk: f64) -> StrainEnergy {
    StrainEnergy::ogden(terms, bulk).unwrap()
}

/// `sum_p mu_p/alpha_p (tr C^(alpha_p/2) J^(-alpha_p/3) - 3)`, the powers of `C` by the binomial
/// series about half of its trace, which no eigenvalue is farther from than zero is: without
/// eigenvalues and directions, so that equal ones are nothing special.
pub(crate) fn isochoric(terms: &[[f64; 2]], f: &[Dual], j: Dual) -> Dual {
    let product = |a: &[Dual], b: &[Dual]| -> Vec<Dual> {
        let of = |k: usize| (0..3).map(|m| a[k / 3 * 3 + m] * b[3 * m + k % 3]).sum();
        (0..9).map(of).collect()
    };
    let transposed: Vec<Dual> = (0..9).map(|k| f[k % 3 * 3 + k / 3]).collect();
    let c = product(&transposed, f);
    let middle = 0.5 * (c[0] + c[4] + c[8]).re;
    let x: Vec<Dual> = (0..9)
        .map(|k| c[k] / middle - if k % 4 == 0 { 1.0 } else { 0.0 })
        .collect();
    let mut traces = Vec::new();
    let mut power = x.clone();
    while traces.len() < 800 {
        traces.push(power[0] + power[4] + power[8]);
        power = product(&power, &x);
    }
    let there = terms.iter().filter(|[mu, _]| *mu != 0.0);
    there
        .map(|[mu, alpha]| {
            let mut binomial = 1.0;
            let mut sum = Dual::from(3.0);
            for (k, trace) in traces.iter().enumerate() {
                binomial *= (0.5 * alpha - k as f64) / (k + 1) as f64;
                sum += *trace * binomial;
            }
            (sum * middle.powf(0.5 * alpha) * j.powf(-alpha / 3.0) - 3.0) * (mu / alpha)
        })
        .sum()
}

/// Force and tangent of one point, against the series; the largest differences relative to the
/// largest number.
fn off_the_series(energy: StrainEnergy, f: &[f64; 9]) -> (f64, f64) {
    let law = Hyperelastic::new(energy, &[1.0]);
    let other = Potential::new(move |f: &[Dual]| density(energy, f));
    let (mut a, mut b) = ([0.0; 9], [0.0; 9]);
    law.add_force(At::new(GRADIENT, f).moving(&[0.0; 9]), &mut a);
    other.add_force(At::new(GRADIENT, f).moving(&[0.0; 9]), &mut b);
    let k = tangent(&other, GRADIENT, f);
    let size = k.iter().fold(0.0, |m: f64, k| m.max(k.abs()));
    let off = |a: &[f64], b: &[f64]| {
        let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        apart.fold(0.0, f64::max) / size
    };
    (off(&a, &b), off(&tangent(&law, GRADIENT, f), &k))
}

fn rotation(axis: [f64; 3], angle: f64) -> nalgebra::Matrix3<f64> {
    nalgebra::Rotation3::new(nalgebra::Vector3::from(axis).normalize() * angle).into_inner()
}

/// `Q diag(s) R^T`, rows first.
fn turned(s: [f64; 3]) -> [f64; 9] {
    let f = rotation([1.0, 2.0, -1.0], 0.8)
        * nalgebra::Matrix3::from_diagonal(&s.into())
        * rotation([0.3, -1.0, 0.5], 1.9).transpose();
    std::array::from_fn(|k| f[(k / 3, k % 3)])
}

/// Two stretches equal, three equal, and apart by so little that differences of eigenvalues have
/// few digits or none.
#[test]
fn equal_and_nearly_equal_stretches_lose_no_digits() {
    let energies = [
        ogden(&TRELOAR, 1e6),
        ogden(&[[1.0, -7.3], [3.0, 0.4]], 2.0),
        ogden(&[[-2.0, -1.0], [0.5, 9.0]], 0.0),
    ];
    for energy in energies {
        for gap in [0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3] {
            for s in [
                [1.3, 1.3 + gap, 0.7],
                [0.8, 1.5 + gap, 1.5],
                [1.1, 1.1 - gap, 1.1 + gap],
                [1.0, 1.0 + gap, 1.0 - gap],
            ] {
                let (force, tangent) = off_the_series(energy, &turned(s));
                // Rounding of sums of a few tens of numbers, of powers up to the ninth and of the
                // series.
                assert!(
                    force < 2e-14 && tangent < 2e-13,
                    "{energy:?} {s:?}: {force:e} {tangent:e}"
                );
            }
            // Without rotations the directions are the axes, and eigenvalues may be equal to the
            // last bit.
            let (force, tangent) = off_the_series(energy, &[1.2, 0.0, 0.0, 0.0, 1.2, gap, 0.0, 0.0, 0.9]);
            assert!(force < 2e-14 && tangent < 2e-13, "{energy:?} {gap}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn exponents_two_and_minus_two_are_mooney_and_rivlins(seed in prop::array::uniform9(-1.0f64..1.0)) {
        let f: [f64; 9] = std::array::from_fn(|k| 0.3 * seed[k] + if k % 4 == 0 { 1.0 } else { 0.0 });
        let (c1, c2, bulk) = (0.7, 0.3, 5.0);
        for (one, two) in [
            (ogden(&[[2.0 * c1, 2.0], [-2.0 * c2, -2.0]], bulk), StrainEnergy::MooneyRivlin { c1, c2, bulk }),
            // The isochoric neo-Hookean energy.
            (ogden(&[[2.0 * c1, 2.0]], 0.0), StrainEnergy::MooneyRivlin { c1, c2: 0.0, bulk: 0.0 }),
        ] {
            let [one, two] = [one, two].map(|energy| Hyperelastic::new(energy, &[0.3]));
            // Sums of numbers of size 1 to 100: J is above 0.02, and its inverse powers reach the
            // fourth.
            let close = |a: f64, b: f64, size: f64| (a - b).abs() < 1e-11 * (1.0 + size);
            let (a, b) = (one.energy(At::new(GRADIENT, &f)), two.energy(At::new(GRADIENT, &f)));
            prop_assert!(close(a, b, b.abs()), "{} {}", a, b);
            let lists = [
                (one.stresses(&f), two.stresses(&f)),
                (tangent(&one, GRADIENT, &f), tangent(&two, GRADIENT, &f)),
            ];
            for (a, b) in lists {
                let size = b.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
                prop_assert!(a.iter().zip(&b).all(|(a, b)| close(*a, *b, size)), "{:?} {:?}", a, b);
            }
        }
    }

    #[test]
    fn large_stretches_have_the_derivatives_of_differences(seed in prop::array::uniform9(-1.0f64..1.0), s in 1.0f64..6.0) {
        let f = nalgebra::Matrix3::from_diagonal(&[s, 1.0, 1.0 / s].into()) + 0.1 / s * nalgebra::Matrix3::from_row_slice(&seed);
        let f: [f64; 9] = std::array::from_fn(|k| f[(k / 3, k % 3)]);
        let law = Hyperelastic::new(ogden(&TRELOAR.map(|[mu, alpha]| [mu / 1e6, alpha]), 1.0), &[0.3]);
        let found = check::force_field(&law, GRADIENT, &f, &[0.0; 9]).unwrap();
        // Differences of step 1e-5 where the smallest stretch is above 0.1.
        prop_assert!(found.worst() < 1e-5, "{:?}", found);
    }
}

/// Nominal stresses of incompressible rubber (Ogden 1972):
/// `sum_p mu_p (l^(alpha_p - 1) - l^(-1 - m alpha_p))` with `m = 1/2` of simple tension, `2` of
/// equal tension along two axes, `1` of pure shear.
#[test]
fn rubber_is_stressed_as_ogden_says() {
    let law = Hyperelastic::new(ogden(&TRELOAR, 0.0), &[1.0]);
    for l in [0.4, 0.9, 1.0, 1.001, 1.5, 2.0, 3.0, 5.0, 7.0f64] {
        for (m, stretches) in [
            (0.5, [l, l.powf(-0.5), l.powf(-0.5)]),
            (2.0, [l, l, l.powi(-2)]),
            (1.0, [l, 1.0, 1.0 / l]),
        ] {
            let mut f = [0.0; 9];
            for k in 0..3 {
                f[4 * k] = stretches[k];
            }
            let p = law.stresses(&f);
            // The pressure that frees the third direction of stress.
            let found = p[0] - p[8] * stretches[2] / stretches[0];
            let of = |[mu, alpha]: [f64; 2]| mu * (l.powf(alpha - 1.0) - l.powf(-1.0 - m * alpha));
            let expected: f64 = TRELOAR.into_iter().map(of).sum();
            let size: f64 = TRELOAR
                .into_iter()
                .map(|[mu, alpha]| (mu * l.powf(-1.0 - m * alpha)).abs() + (mu * l.powf(alpha)).abs())
                .sum();
            // Rounding of the powers.
            assert!(
                (found - expected).abs() < 1e-14 * size,
                "{m} {l}: {found} {expected}"
            );
        }
    }
}

/// `sum_p mu_p alpha_p/2` = 4.225e5 Pa, by the tangent at rest: `d P_12/d F_12`.
#[test]
fn the_shear_modulus_of_treloars_rubber() {
    let law = Hyperelastic::new(ogden(&TRELOAR, 0.0), &[1.0]);
    let k = tangent(&law, GRADIENT, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    assert!((k[10] - 4.225e5).abs() < 1e-9, "{}", k[10]);
}

#[test]
fn what_is_wrong_with_ogdens_numbers_is_named() {
    let mut model = pliant_model::Model::new();
    let rest = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let node = model.add_independent("f", GRADIENT, &rest, &[0.0; 9]).unwrap();
    for (terms, bulk, part) in [
        (&[[1.0, 0.0]][..], 1.0, "an exponent of Ogden's terms"),
        (&[[f64::NAN, 2.0]], 1.0, "a modulus of Ogden's terms"),
        (
            &[[1.0, 2.0], [0.0, f64::INFINITY]],
            1.0,
            "an exponent of Ogden's terms",
        ),
        (
            &[[1.0, 2.0], [3.0, -2.0]],
            1.0,
            "the shear modulus of small strains",
        ),
        (&[[1.0, 2.0]], -1.0, "the bulk modulus"),
    ] {
        let law = Hyperelastic::new(ogden(terms, bulk), &[1.0]);
        let error = model.add_force_field("material", node, law, Treatment::Stiffness);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("`material`"), "{error}");
    }
    for count in [0, 7] {
        let error = StrainEnergy::ogden(&vec![[1.0, 2.0]; count], 1.0).unwrap_err();
        assert!(error.to_string().contains("from 1 to 6"), "{error}");
    }
}

/// As of Mooney and Rivlin's material; where two directions are inside out the volume is positive,
/// and there is a force.
#[test]
fn inverted_points_are_not_numbers() {
    let law = Hyperelastic::new(ogden(&TRELOAR, 1e6), &[1.0]);
    let diagonal = |s: [f64; 3]| [s[0], 0.0, 0.0, 0.0, s[1], 0.0, 0.0, 0.0, s[2]];
    for s in [[1.0, 1.0, -0.2], [1.0, 1.0, 0.0], [1.0, f64::NAN, 1.0]] {
        let f = diagonal(s);
        assert!(law.energy(At::new(GRADIENT, &f)).is_nan() && law.stresses(&f).iter().all(|s| s.is_nan()));
        assert!(tangent(&law, GRADIENT, &f).iter().all(|k| k.is_nan()));
    }
    let (turned, straight) = (
        law.stresses(&diagonal([1.2, -0.8, -0.7])),
        law.stresses(&diagonal([1.2, 0.8, 0.7])),
    );
    for (k, sign) in [(0, 1.0), (4, -1.0), (8, -1.0)] {
        assert_eq!(turned[k], sign * straight[k]);
    }
}
