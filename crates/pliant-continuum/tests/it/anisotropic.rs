//! Orthotropic, fibre-reinforced and exponential materials against formulas written again,
//! uniaxial and biaxial tests, and off-axis moduli.

use super::materials::{GRADIENT, tangent};
use pliant_continuum::{Elasticity, FibreFamily, Hyperelastic, LinearElastic, Orthotropic, StrainEnergy};
use pliant_model::dual::{Dual, DualNum};
use pliant_model::{ForceField, Model, Space, Treatment};

const STRAIN: Space = Space::Real(6);

fn family(k1: f64, k2: f64, dispersion: f64, direction: [f64; 3]) -> FibreFamily {
    FibreFamily {
        k1,
        k2,
        dispersion,
        direction,
    }
}

/// Energies whose stress and tangent are compared with derivatives.
pub(crate) fn energies() -> Vec<StrainEnergy> {
    let families = [
        family(1.5, 0.8, 0.0, [1.0, 2.0, -2.0]),
        family(0.7, 0.0, 0.226, [0.0, 3.0, 1.0]),
        family(0.4, 1.2, 1.0 / 3.0, [1.0, 0.0, 0.0]),
    ];
    let axes = [[1.0, 2.0, 2.0], [0.0, 1.0, -1.0]];
    let lambda = [1.0, 0.9, 0.8, 0.2, 0.3, 0.1];
    vec![
        StrainEnergy::Yeoh {
            c: [0.7, -0.1, 0.05, -0.02, 0.03],
            bulk: 5.0,
        },
        StrainEnergy::Polynomial {
            c10: 0.9,
            c01: -0.2,
            c20: 0.3,
            c11: -0.15,
            c02: 0.08,
            bulk: 5.0,
        },
        StrainEnergy::ArrudaBoyce {
            modulus: 0.7,
            limit: 1.7,
            bulk: 5.0,
        },
        StrainEnergy::VerondaWestmann {
            c1: 0.7,
            c2: 0.6,
            bulk: 5.0,
        },
        StrainEnergy::fibre_reinforced(0.9, &families, 4.0).unwrap(),
        StrainEnergy::fibre_reinforced(0.9, &families[..1], 0.0).unwrap(),
        StrainEnergy::fung_orthotropic(2.0, [1.0, 1.3, 0.6], lambda, axes, 4.0).unwrap(),
        StrainEnergy::costa(0.5, [2.0, 1.5, 0.7], [1.1, 0.4, 0.9], axes, 4.0).unwrap(),
    ]
}

/// The energies of the documentation, written again over the entries of `F` and its invariants;
/// `volume` is twice the energy of the volume of a bulk modulus of one.
pub(crate) fn density(energy: StrainEnergy, f: &[Dual], [i1, i2, j]: [Dual; 3], volume: Dual) -> Dual {
    let p = j.powf(-2.0 / 3.0);
    let (a, b) = (i1 * p, i2 * p * p);
    match energy {
        StrainEnergy::Yeoh { c, bulk } => {
            let powers = (1i32..).zip(c).map(|(i, c)| (a - 3.0).powi(i) * c);
            powers.sum::<Dual>() + volume * (0.5 * bulk)
        }
        StrainEnergy::Polynomial {
            c10,
            c01,
            c20,
            c11,
            c02,
            bulk,
        } => {
            let (a, b) = (a - 3.0, b - 3.0);
            a * c10 + b * c01 + a * a * c20 + a * b * c11 + b * b * c02 + volume * (0.5 * bulk)
        }
        StrainEnergy::ArrudaBoyce { modulus, limit, bulk } => {
            let l = limit * limit;
            let terms = (a - 3.0) * 0.5
                + (a * a - 9.0) * (1.0 / (20.0 * l))
                + (a * a * a - 27.0) * (11.0 / (1050.0 * l * l))
                + (a * a * a * a - 81.0) * (19.0 / (7000.0 * l * l * l))
                + (a * a * a * a * a - 243.0) * (519.0 / (673_750.0 * l * l * l * l));
            terms * modulus + volume * (0.5 * bulk)
        }
        StrainEnergy::VerondaWestmann { c1, c2, bulk } => {
            (((a - 3.0) * c2).exp() - 1.0) * c1 - (b - 3.0) * (0.5 * c1 * c2) + volume * (0.5 * bulk)
        }
        StrainEnergy::FibreReinforced {
            shear,
            families,
            bulk,
        } => {
            let mut sum = (a - 3.0) * (0.5 * shear) + volume * (0.5 * bulk);
            for FibreFamily {
                k1,
                k2,
                dispersion,
                direction,
            } in families.into_iter().filter(|f| f.k1 > 0.0)
            {
                let size = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
                let image = |i: usize| -> Dual { (0..3).map(|k| f[3 * i + k] * (direction[k] / size)).sum() };
                let square: Dual = (0..3).map(|i| image(i) * image(i)).sum();
                let e = (a - 3.0) * dispersion + (square * p - 1.0) * (1.0 - 3.0 * dispersion);
                if e.re > 0.0 {
                    sum += match k2 > 0.0 {
                        true => ((e * e * k2).exp() - 1.0) * (0.5 * k1 / k2),
                        false => e * e * (0.5 * k1),
                    };
                }
            }
            sum
        }
        StrainEnergy::Fung {
            coefficient,
            moduli,
            bulk,
        } => {
            let c = |i: usize, k: usize| -> Dual { (0..3).map(|a| f[3 * a + i] * f[3 * a + k]).sum() };
            let e = [
                (c(0, 0) * p - 1.0) * 0.5,
                (c(1, 1) * p - 1.0) * 0.5,
                (c(2, 2) * p - 1.0) * 0.5,
                c(0, 1) * p,
                c(1, 2) * p,
                c(2, 0) * p,
            ];
            let q: Dual = (0..36).map(|k| e[k / 6] * e[k % 6] * moduli[k / 6][k % 6]).sum();
            ((q * (1.0 / coefficient)).exp() - 1.0) * (0.5 * coefficient) + volume * (0.5 * bulk)
        }
        other => panic!("no formula for {other:?}"),
    }
}

/// Differences of the Cauchy stress of axes 1 and 2 from that of axis 3 at these stretches, whose
/// product is one.
fn differences(energy: StrainEnergy, l: [f64; 3]) -> [f64; 2] {
    let f: [f64; 9] = std::array::from_fn(|k| if k % 4 == 0 { l[k / 4] } else { 0.0 });
    let p = Hyperelastic::new(energy, &[1.0]).stresses(&f);
    let sigma = |k: usize| p[4 * k] * l[k];
    [sigma(0) - sigma(2), sigma(1) - sigma(2)]
}

fn assert_near(found: [f64; 2], exact: [f64; 2], what: &str) {
    for k in 0..2 {
        let miss = (found[k] - exact[k]).abs() / exact[k].abs().max(1.0);
        assert!(miss < 1e-13, "{what}: {found:?} {exact:?}");
    }
}

/// Equations of Holzapfel, Gasser and Ogden (2000) for a strip of two families at `+-t` from axis 1
/// in the plane of 1 and 2, without change of volume: each bears
/// `2 psi' (d (l_i^2 - l_3^2) + (1 - 3 d) l_i^2 n_i^2)` along axis `i`.
#[test]
fn a_strip_with_two_families_of_fibres_is_stretched_as_the_closed_form_says() {
    let (mu, k1, k2) = (3.0, 2.3, 0.84);
    let angle: f64 = 0.7;
    let (c, s) = (angle.cos(), angle.sin());
    for d in [0.0, 0.1, 0.226, 1.0 / 3.0] {
        let families = [
            family(k1, k2, d, [c, s, 0.0]),
            family(k1, k2, d, [2.0 * c, -2.0 * s, 0.0]),
        ];
        let energy = StrainEnergy::fibre_reinforced(mu, &families, 0.0).unwrap();
        for [l1, l2] in [[1.3, 1.1], [1.5, 0.9], [0.8, 1.4], [0.9, 0.9]] {
            let l3 = 1.0 / (l1 * l2);
            let squares = [l1 * l1, l2 * l2, l3 * l3];
            let along = squares[0] * c * c + squares[1] * s * s;
            let e = d * (squares.iter().sum::<f64>() - 3.0) + (1.0 - 3.0 * d) * (along - 1.0);
            // Fibres bear no compression.
            let slope = if e > 0.0 { k1 * e * (k2 * e * e).exp() } else { 0.0 };
            let of = |i: usize, n: f64| {
                let turned = d * (squares[i] - squares[2]) + (1.0 - 3.0 * d) * squares[i] * n * n;
                mu * (squares[i] - squares[2]) + 2.0 * 2.0 * slope * turned
            };
            let found = differences(energy, [l1, l2, l3]);
            assert_near(found, [of(0, c), of(1, s)], &format!("{d} {l1} {l2}"));
        }
    }
}

/// Along its fibres: `sigma = mu (l^2 - 1/l) + 2 k1 l^2 (l^2 - 1) exp(k2 (l^2 - 1)^2)` pulled, the
/// matrix alone pressed.
#[test]
fn fibres_bear_tension_alone() {
    let (mu, k1, k2) = (3.0, 2.3, 0.84);
    let fibre = family(k1, k2, 0.0, [0.0, 0.0, -7.0]);
    let energy = StrainEnergy::fibre_reinforced(mu, &[fibre], 0.0).unwrap();
    for l in [1.4, 1.05, 0.8] {
        let e: f64 = (l * l - 1.0f64).max(0.0);
        let exact = mu * (l * l - 1.0 / l) + 2.0 * k1 * l * l * e * (k2 * e * e).exp();
        let thin = 1.0 / f64::sqrt(l);
        let [found, other] = differences(energy, [thin, thin, l]);
        assert_near([-found, -other], [exact; 2], &l.to_string());
    }
}

/// With `E_i = (l_i^2 - 1)/2`: `S_i = exp(Q) (2 mu_i E_i + sum_j lambda_ij E_j)`,
/// `sigma_i = l_i^2 S_i - p` along the axes, which are turned: axis 1 is z, axis 2 x.
#[test]
fn a_strip_of_fung_is_stretched_as_the_closed_form_says() {
    let (c, mu, lambda) = (1.7, [0.4, 0.9, 1.3], [0.5, 0.2, 0.3, 0.11, 0.07, 0.13]);
    let axes = [[0.0, 0.0, 2.0], [3.0, 0.0, 1.0]];
    let energy = StrainEnergy::fung_orthotropic(c, mu, lambda, axes, 0.0).unwrap();
    let [l11, l22, l33, l12, l23, l31] = lambda;
    for [x, y] in [[1.3, 1.1], [1.5, 0.7], [0.8, 1.4]] {
        let z = 1.0 / (x * y);
        // Along axes 1, 2, 3 of the material.
        let e = [z, x, y].map(|l: f64| 0.5 * (l * l - 1.0));
        let s = [
            2.0 * mu[0] * e[0] + l11 * e[0] + l12 * e[1] + l31 * e[2],
            2.0 * mu[1] * e[1] + l12 * e[0] + l22 * e[1] + l23 * e[2],
            2.0 * mu[2] * e[2] + l31 * e[0] + l23 * e[1] + l33 * e[2],
        ];
        let q = (s[0] * e[0] + s[1] * e[1] + s[2] * e[2]) / c;
        let sigma: [f64; 3] = std::array::from_fn(|k| q.exp() * (2.0 * e[k] + 1.0) * s[k]);
        // The isochoric strain changes with the volume, which is a pressure.
        let found = differences(energy, [x, y, z]);
        assert_near(
            found,
            [sigma[1] - sigma[0], sigma[2] - sigma[0]],
            &format!("{x} {y}"),
        );
    }
}

/// Small shear strains: `2 c Q` of a shear `g` in the plane 12 is `(mu_1 + mu_2) g^2/2 * 2`, as
/// `A_a : e^2` sums the squares of row `a`.
#[test]
fn shears_of_fung_have_the_mean_of_two_moduli() {
    let mu = [0.4, 0.9, 1.3];
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let energy = StrainEnergy::fung_orthotropic(1.7, mu, [0.0; 6], axes, 0.0).unwrap();
    let rest: [f64; 9] = std::array::from_fn(|k| if k % 4 == 0 { 1.0 } else { 0.0 });
    let k = tangent(&Hyperelastic::new(energy, &[1.0]), GRADIENT, &rest);
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let found = k[9 * (3 * i + j) + 3 * j + i];
        assert!((found - 0.5 * (mu[i] + mu[j])).abs() < 1e-14, "{i} {j}: {found}");
    }
}

fn wood() -> Orthotropic {
    Orthotropic::along_axes([10.0, 0.8, 0.5], [0.4, 0.5, 0.02], [0.7, 0.05, 0.6])
}

/// A bar cut at the angle `t` from axis 1 in the plane of 1 and 2 has the modulus
/// `1/E = c^4/E1 + s^4/E2 + (1/G12 - 2 nu12/E1) s^2 c^2` (Lekhnitskii).
#[test]
fn a_bar_across_the_grain_has_the_modulus_of_its_angle() {
    for degrees in [0.0f64, 15.0, 30.0, 45.0, 73.0, 90.0] {
        let (s, c) = degrees.to_radians().sin_cos();
        let mut law = wood();
        // The bar is along x; the grain turns about z. Axes of any length, the second askew.
        law.axes = [[3.0 * c, 3.0 * s, 0.0], [c - 2.0 * s, s + 2.0 * c, 0.0]];
        let [e1, e2, _] = law.young;
        let shear = 1.0 / law.shear[0] - 2.0 * law.poisson[0] / e1;
        let exact = 1.0 / (c.powi(4) / e1 + s.powi(4) / e2 + shear * s * s * c * c);
        // Strains of the unit stress along x, from the moduli.
        let d = LinearElastic::varying(&[Elasticity::Orthotropic(law)], &[1.0]);
        let moduli = tangent(&d, STRAIN, &[0.0; 6]);
        let moduli = nalgebra::DMatrix::from_row_slice(6, 6, &moduli);
        let strain = moduli
            .lu()
            .solve(&nalgebra::DVector::from_vec(vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
        let found = 1.0 / strain.unwrap()[0];
        assert!((found / exact - 1.0).abs() < 1e-12, "{degrees}: {found} {exact}");
    }
}

/// Which points have which material, forwards and by compliances.
#[test]
fn every_point_has_the_law_of_its_own() {
    let mut turned = wood();
    turned.axes = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let soft = Elasticity::Isotropic {
        young: 2.0,
        poisson: 0.25,
    };
    let laws = [soft, Elasticity::Orthotropic(turned)];
    let both = LinearElastic::varying(&laws, &[0.5, 2.0]);
    let strain = [0.1, -0.2, 0.05, 0.3, -0.1, 0.2];
    let twice = [strain, strain].concat();
    let found = both.stresses(&twice);
    for (q, law) in laws.into_iter().enumerate() {
        let alone = LinearElastic::varying(&[law], &[1.0]).stresses(&strain);
        assert_eq!(found[6 * q..6 * q + 6], alone);
    }
    let energies = energies();
    let volumes = vec![1.0; energies.len()];
    let gradient = [1.1, 0.1, 0.0, 0.05, 0.95, -0.1, 0.0, 0.1, 1.05];
    let all = Hyperelastic::varying(&energies, &volumes).stresses(&gradient.repeat(energies.len()));
    for (q, energy) in energies.iter().enumerate() {
        let alone = Hyperelastic::new(*energy, &[1.0]).stresses(&gradient);
        assert_eq!(all[9 * q..9 * q + 9], alone);
    }
}

#[test]
fn checkers_agree_on_laws_that_vary() {
    let mut turned = wood();
    turned.axes = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let soft = Elasticity::Isotropic {
        young: 2.0,
        poisson: 0.25,
    };
    let law = LinearElastic::varying(&[soft, Elasticity::Orthotropic(turned)], &[0.5, 2.0]);
    let x: Vec<f64> = (0..12).map(|k| 0.01 * f64::from(k) - 0.05).collect();
    let found = pliant_model::check::force_field(&law, STRAIN, &x, &[0.0; 12]).unwrap();
    assert!(found.worst() < 1e-7, "{found:?}");
    let law = Hyperelastic::varying(&energies()[3..5], &[0.5, 2.0]);
    let gradient = [1.1, 0.1, 0.0, 0.05, 0.95, -0.1, 0.0, 0.1, 1.05];
    let x = gradient.repeat(2);
    let found = pliant_model::check::force_field(&law, GRADIENT, &x, &[0.0; 18]).unwrap();
    assert!(found.worst() < 1e-6, "{found:?}");
}

#[test]
fn what_has_no_positive_energy_is_refused_by_the_inequality() {
    let mut model = Model::new();
    let strains = model
        .add_independent("strains", STRAIN, &[0.0; 6], &[0.0; 6])
        .unwrap();
    let rest: [f64; 9] = std::array::from_fn(|k| if k % 4 == 0 { 1.0 } else { 0.0 });
    let gradients = model
        .add_independent("gradients", GRADIENT, &rest, &[0.0; 9])
        .unwrap();
    let with = |poisson: [f64; 3], axes: [[f64; 3]; 2]| Orthotropic {
        poisson,
        axes,
        ..wood()
    };
    let straight = wood().axes;
    for (law, part) in [
        (
            with([3.6, 0.5, 0.02], straight),
            "Poisson's ratio nu12 of `material` is 3.6, but must be less than sqrt(E1/E2) in size",
        ),
        (with([0.4, -1.3, 0.02], straight), "less than sqrt(E2/E3) in size"),
        (with([0.4, 0.5, 0.3], straight), "less than sqrt(E3/E1) in size"),
        (
            with([2.5, 0.9, 0.1], straight),
            "1 - nu12 nu21 - nu23 nu32 - nu31 nu13 - 2 nu21 nu32 nu13 of `material` is",
        ),
        (
            with([0.4, 0.5, 0.02], [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]]),
            "no two directions",
        ),
        (
            with([0.4, 0.5, 0.02], [[0.0; 3], [2.0, 4.0, 0.0]]),
            "no two directions",
        ),
    ] {
        let law = LinearElastic::varying(&[Elasticity::Orthotropic(law)], &[1.0]);
        let refused = model.add_force_field("material", strains, law, Treatment::Stiffness);
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(part), "{message} should say {part}");
    }
    let fibres = |family| StrainEnergy::fibre_reinforced(1.0, &[family], 1.0).unwrap();
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    for (energy, part) in [
        (fibres(family(1.0, 1.0, 0.4, [1.0, 0.0, 0.0])), "from 0 to 1/3"),
        (fibres(family(1.0, 1.0, 0.0, [0.0; 3])), "must be positive"),
        (
            fibres(family(1.0, -1.0, 0.0, [1.0, 0.0, 0.0])),
            "but must be zero or more",
        ),
        (
            StrainEnergy::fung_orthotropic(1.0, [0.1; 3], [-1.0, 1.0, 1.0, 0.0, 0.0, 0.0], axes, 1.0)
                .unwrap(),
            "negative eigenvalue",
        ),
        (
            StrainEnergy::ArrudaBoyce {
                modulus: 1.0,
                limit: 0.9,
                bulk: 1.0,
            },
            "above 1",
        ),
    ] {
        let law = Hyperelastic::new(energy, &[1.0]);
        let refused = model.add_force_field("material", gradients, law, Treatment::Stiffness);
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(part), "{message} should say {part}");
    }
    assert!(StrainEnergy::fibre_reinforced(1.0, &[], 1.0).is_err());
    let law = Hyperelastic::varying(&energies()[..2], &[1.0]);
    assert!(law.check("law", GRADIENT, 1).is_err());
}
