//! Materials against hyper-dual energies, inverses and small-strain limits.

use pliant_continuum::{
    Fibres, Fung, Hyperelastic, LinearElastic, StrainEnergy, Tangent, Viscosity, VolumeEnergy,
};
use pliant_model::dual::{Dual, DualNum};
use pliant_model::{At, Blocks, ForceField, ModelError, Potential, Space, Treatment, check};
use proptest::prelude::*;

pub(crate) const GRADIENT: Space = Space::Real(9);
const STRAIN: Space = Space::Real(6);

fn invariants(f: &[Dual]) -> (Dual, Dual, Dual) {
    let c = |i: usize, j: usize| -> Dual { (0..3).map(|a| f[3 * a + i] * f[3 * a + j]).sum() };
    let i1 = c(0, 0) + c(1, 1) + c(2, 2);
    let square: Dual = (0..9).map(|k| c(k / 3, k % 3) * c(k / 3, k % 3)).sum();
    let j = f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6])
        + f[2] * (f[3] * f[7] - f[4] * f[6]);
    (i1, (i1 * i1 - square) * 0.5, j)
}

/// The energies of the documentation, written again.
pub(crate) fn density(energy: StrainEnergy, f: &[Dual]) -> Dual {
    density_with(energy, VolumeEnergy::Quadratic, f)
}

fn density_with(energy: StrainEnergy, volume: VolumeEnergy, f: &[Dual]) -> Dual {
    let (i1, i2, j) = invariants(f);
    let volume = match volume {
        VolumeEnergy::Logarithmic => j.ln() * j.ln(),
        _ => (j - 1.0) * (j - 1.0),
    };
    match energy {
        StrainEnergy::NeoHookean { shear, lame } => {
            let log = j.ln();
            (i1 - 3.0) * (shear / 2.0) - log * shear + log * log * (lame / 2.0)
        }
        StrainEnergy::StableNeoHookean { shear, lame } => {
            let (m, l) = (4.0 / 3.0 * shear, lame + 5.0 / 6.0 * shear);
            let a = 1.0 + m / l - m / (4.0 * l);
            let rest = l / 2.0 * (1.0 - a) * (1.0 - a) - m / 2.0 * 4f64.ln();
            (i1 - 3.0) * (m / 2.0) + (j - a) * (j - a) * (l / 2.0) - (i1 + 1.0).ln() * (m / 2.0) - rest
        }
        StrainEnergy::MooneyRivlin { c1, c2, bulk } => {
            (i1 * j.powf(-2.0 / 3.0) - 3.0) * c1
                + (i2 * j.powf(-4.0 / 3.0) - 3.0) * c2
                + volume * (bulk / 2.0)
        }
        StrainEnergy::Corotational { shear, lame } => {
            // The rotation by Newton's iteration, carried on until its derivatives have converged.
            let e = super::strains::biot(f);
            let squares =
                e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + (e[3] * e[3] + e[4] * e[4] + e[5] * e[5]) * 0.5;
            let trace = e[0] + e[1] + e[2];
            squares * shear + trace * trace * (lame / 2.0)
        }
        StrainEnergy::Ogden { terms, bulk } => super::ogden::isochoric(&terms, f, j) + volume * (bulk / 2.0),
        StrainEnergy::Hencky { shear, bulk } => {
            let log = j.ln();
            super::finite_plastic::squared(f) * shear + log * log * (bulk / 2.0)
        }
        other => super::anisotropic::density(other, f, [i1, i2, j], volume),
    }
}

fn energies() -> Vec<StrainEnergy> {
    let mut all = super::anisotropic::energies();
    all.extend([
        StrainEnergy::Corotational {
            shear: 2.0,
            lame: 3.0,
        },
        StrainEnergy::NeoHookean {
            shear: 2.0,
            lame: 3.0,
        },
        StrainEnergy::StableNeoHookean {
            shear: 2.0,
            lame: 3.0,
        },
        StrainEnergy::MooneyRivlin {
            c1: 0.7,
            c2: 0.3,
            bulk: 5.0,
        },
        StrainEnergy::MooneyRivlin {
            c1: 1.0,
            c2: 0.0,
            bulk: 0.0,
        },
        StrainEnergy::ogden(&[[0.63, 1.3], [0.05, 5.0], [-0.1, -2.0]], 3.0).unwrap(),
        StrainEnergy::Hencky {
            shear: 2.0,
            bulk: 5.0,
        },
    ]);
    all
}

pub(crate) fn tangent(law: &dyn ForceField, space: Space, x: &[f64]) -> Vec<f64> {
    let n = space.velocity_size();
    let mut out = Blocks::new([(n, n)]);
    law.stiffness(At::new(space, x).with_inputs(law.inputs()), &mut out)
        .unwrap();
    out.block(0).to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn stress_and_tangent_are_derivatives_of_the_energy(seed in prop::array::uniform9(-1.0f64..1.0)) {
        let f: [f64; 9] = std::array::from_fn(|k| 0.25 * seed[k] + if k % 4 == 0 { 1.0 } else { 0.0 });
        let volume_energies = [VolumeEnergy::Quadratic, VolumeEnergy::Logarithmic];
        let all = energies().into_iter().flat_map(|e| volume_energies.map(|u| (e, u)));
        for (energy, of_volume) in all {
            let volume = 0.3;
            let law = Hyperelastic::new(energy, &[volume]).with_volume_energy(of_volume);
            let other = Potential::new(move |f: &[Dual]| density_with(energy, of_volume, f) * volume);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + a.abs());
            prop_assert!(close(law.energy(At::new(GRADIENT, &f)), other.energy(At::new(GRADIENT, &f))), "{:?}", energy);
            let (mut a, mut b) = ([0.0; 9], [0.0; 9]);
            law.add_force(At::new(GRADIENT, &f).moving(&[0.0; 9]), &mut a);
            other.add_force(At::new(GRADIENT, &f).moving(&[0.0; 9]), &mut b);
            for (a, b) in a.iter().zip(&b) {
                prop_assert!(close(*a, *b), "{:?}", energy);
            }
            for (a, b) in tangent(&law, GRADIENT, &f).iter().zip(tangent(&other, GRADIENT, &f)) {
                // Powers of J up to the fourth inverse, J above 0.2.
                prop_assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{:?} {} {}", energy, a, b);
            }
            let found = check::force_field(&law, GRADIENT, &f, &[0.0; 9]).unwrap();
            prop_assert!(found.worst() < 1e-5, "{:?} {:?}", energy, found);
        }
    }

    #[test]
    fn a_projected_tangent_is_the_positive_part(seed in prop::array::uniform9(-1.0f64..1.0)) {
        let f: [f64; 9] = std::array::from_fn(|k| 0.4 * seed[k] + if k % 4 == 0 { 0.7 } else { 0.0 });
        let law = Hyperelastic::new(StrainEnergy::StableNeoHookean { shear: 2.0, lame: 3.0 }, &[1.0]);
        let exact = nalgebra::DMatrix::from_row_slice(9, 9, &tangent(&law, GRADIENT, &f));
        let projected = law.clone().with_tangent(Tangent::PositiveSemidefinite);
        let found = nalgebra::DMatrix::from_row_slice(9, 9, &tangent(&projected, GRADIENT, &f));
        let eigen = exact.clone().symmetric_eigen();
        let positive = nalgebra::DVector::from_iterator(9, eigen.eigenvalues.iter().map(|e| e.max(0.0)));
        let expected = &eigen.eigenvectors * nalgebra::DMatrix::from_diagonal(&positive) * eigen.eigenvectors.transpose();
        prop_assert!((found - expected).amax() < 1e-12 * exact.amax());
        let negative = eigen.eigenvalues.min() < -1e-12 * eigen.eigenvalues.max();
        prop_assert_eq!(law.indefinite_points(&f), usize::from(negative));
        prop_assert_eq!(projected.projected_elements(At::new(GRADIENT, &f)), usize::from(negative));
        prop_assert_eq!(law.projected_elements(At::new(GRADIENT, &f)), 0);
    }
}

#[test]
fn energies_have_no_stress_at_rest_and_the_moduli_of_small_strains() {
    let rest = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let (young, poisson) = (10.0, 0.3);
    let shear = young / (2.0 * (1.0 + poisson));
    let bulk = young / (3.0 * (1.0 - 2.0 * poisson));
    for energy in [
        StrainEnergy::neo_hookean(young, poisson),
        StrainEnergy::stable_neo_hookean(young, poisson),
        StrainEnergy::corotational(young, poisson),
        StrainEnergy::hencky(young, poisson),
        StrainEnergy::MooneyRivlin {
            c1: 0.3 * shear,
            c2: 0.2 * shear,
            bulk,
        },
        StrainEnergy::ogden(
            &[[0.5 * shear, 3.5], [0.3 * shear, -0.5], [-0.1 * shear, -4.0]],
            bulk,
        )
        .unwrap(),
        StrainEnergy::Yeoh {
            c: [0.5 * shear, -0.3, 0.7, 0.2, -0.4],
            bulk,
        },
        StrainEnergy::Polynomial {
            c10: 0.7 * shear,
            c01: -0.2 * shear,
            c20: 0.3,
            c11: -0.2,
            c02: 0.1,
            bulk,
        },
        // `sum b_ij E_ij^2` of a change of shape is `b |E|^2`.
        StrainEnergy::costa(
            0.5,
            [4.0 * shear; 3],
            [4.0 * shear; 3],
            [[0.3, 1.0, -0.2], [1.0, 0.0, 0.5]],
            bulk,
        )
        .unwrap(),
        StrainEnergy::VerondaWestmann {
            c1: 0.1 * shear,
            c2: 10.0,
            bulk,
        },
        StrainEnergy::ArrudaBoyce {
            // The series of Arruda and Boyce at a limit of 2.
            modulus: shear
                / (1.0
                    + 3.0 / 5.0 / 4.0
                    + 99.0 / 175.0 / 16.0
                    + 513.0 / 875.0 / 64.0
                    + 42039.0 / 67375.0 / 256.0),
            limit: 2.0,
            bulk,
        },
        // The change of shape of small strains is that of `mu`.
        StrainEnergy::fung_orthotropic(
            3.0,
            [shear; 3],
            [0.0; 6],
            [[0.3, 1.0, -0.2], [1.0, 0.0, 0.5]],
            bulk,
        )
        .unwrap(),
    ] {
        let law = Hyperelastic::new(energy, &[1.0]);
        assert!(law.energy(At::new(GRADIENT, &rest)).abs() < 1e-14, "{energy:?}");
        assert!(law.stresses(&rest).iter().all(|s| s.abs() < 1e-14));
        let k = tangent(&law, GRADIENT, &rest);
        for a in 0..9 {
            for b in 0..9 {
                let d = |i: usize, j: usize| f64::from(u8::from(i == j));
                let (i, j, m, n) = (a / 3, a % 3, b / 3, b % 3);
                let lame = bulk - 2.0 / 3.0 * shear;
                let hooke = lame * d(i, j) * d(m, n) + shear * (d(i, m) * d(j, n) + d(i, n) * d(j, m));
                assert!((k[9 * a + b] - hooke).abs() < 1e-13, "{energy:?} {a} {b}");
            }
        }
    }
}

#[test]
fn an_inverted_point_has_a_force_or_is_not_a_number() {
    let inverted = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -0.2];
    let stable = Hyperelastic::new(StrainEnergy::stable_neo_hookean(1.0, 0.3), &[1.0]);
    // It pushes the third direction back.
    assert!(stable.stresses(&inverted)[8] < 0.0);
    let log = Hyperelastic::new(StrainEnergy::neo_hookean(1.0, 0.3), &[1.0]);
    assert!(log.stresses(&inverted)[8].is_nan());
}

#[test]
fn compliance_inverts_stiffness_and_the_checkers_agree() {
    let volumes = [0.3, 2.0];
    let x: Vec<f64> = (0..12).map(|k| 0.01 * f64::from(k) - 0.05).collect();
    let v: Vec<f64> = (0..12).map(|k| 0.3 - 0.1 * f64::from(k)).collect();
    for law in [
        LinearElastic::isotropic(10.0, 0.3, &volumes),
        LinearElastic::isotropic(10.0, -0.5, &volumes).with_relaxation_time(0.2),
        LinearElastic::isotropic(10.0, 0.499, &volumes),
        LinearElastic::orthotropic([10.0, 2.0, 3.0], [0.3, 0.2, 0.1], [1.0, 2.0, 3.0], &volumes),
        LinearElastic::deviatoric(3.0, &volumes),
    ] {
        let found = check::force_field(&law, STRAIN, &x, &v).unwrap();
        // Differences of step 1e-5; the inverse is conditioned like the law, 500 at most.
        assert!(found.worst() < 1e-7, "{law:?}: {found:?}");
    }
    let viscous = Viscosity::new(2.0, 5.0, &volumes);
    assert!(check::force_field(&viscous, STRAIN, &x, &v).unwrap().worst() < 1e-7);
}

/// Uniaxial stress: strains `1/E`, `-nu/E` along the axes; shear `1/G`.
#[test]
fn moduli_are_those_of_the_tests_that_define_them() {
    let law = LinearElastic::orthotropic([10.0, 2.0, 3.0], [0.3, 0.2, 0.1], [1.0, 2.0, 4.0], &[1.0]);
    let along_x = [0.1, -0.03, -0.1 / 3.0, 0.0, 0.0, 0.0];
    // nu_xz = nu_zx E_x/E_z.
    for (found, expected) in law.stresses(&along_x).iter().zip([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]) {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
    let shear = law.stresses(&[0.0, 0.0, 0.0, 0.1, 0.2, 0.3]);
    for (found, expected) in shear[3..].iter().zip([0.1, 0.4, 1.2]) {
        assert!((found - expected).abs() < 1e-15);
    }
    let law = LinearElastic::isotropic(10.0, 0.3, &[1.0]);
    for (found, expected) in law
        .stresses(&[0.1, -0.03, -0.03, 0.0, 0.0, 0.0])
        .iter()
        .zip([1.0, 0.0, 0.0])
    {
        assert!((found - expected).abs() < 1e-14);
    }
}

#[test]
fn bad_numbers_are_named() {
    let mut model = pliant_model::Model::new();
    let node = model
        .add_independent("strains", STRAIN, &[0.0; 6], &[0.0; 6])
        .unwrap();
    let mut refused = |law: LinearElastic| {
        let treatment = Treatment::Stiffness;
        model
            .add_force_field("material", node, law, treatment)
            .unwrap_err()
            .to_string()
    };
    for (law, part) in [
        (
            LinearElastic::isotropic(-1.0, 0.3, &[1.0]),
            "Young's modulus of `material` is -1",
        ),
        (
            LinearElastic::isotropic(1.0, 0.6, &[1.0]),
            "Poisson's ratio of `material` is 0.6",
        ),
        (
            LinearElastic::isotropic(f64::NAN, 0.3, &[1.0]),
            "not a finite number",
        ),
        (LinearElastic::isotropic(1.0, 0.3, &[1.0, 1.0]), "needs 1 volumes"),
        (
            LinearElastic::isotropic(1.0, 0.3, &[0.0]),
            "a volume of `material` is 0",
        ),
        (LinearElastic::isotropic(1.0, 0.5, &[1.0]), "compliance zero"),
        (
            LinearElastic::orthotropic([1.0; 3], [0.9; 3], [1.0; 3], &[1.0]),
            "too large",
        ),
        (
            LinearElastic::from_moduli(
                [
                    [1.0, 2.0, 0.0, 0.0, 0.0, 0.0],
                    [0.0; 6],
                    [0.0; 6],
                    [0.0; 6],
                    [0.0; 6],
                    [0.0; 6],
                ],
                &[1.0],
            ),
            "not symmetric",
        ),
        (
            LinearElastic::isotropic(1.0, 0.3, &[1.0]).with_relaxation_time(-1.0),
            "the relaxation time",
        ),
    ] {
        let message = refused(law);
        assert!(message.contains(part), "{message} should say {part}");
    }
    // At 1/2 it is a compliance.
    let hard = LinearElastic::isotropic(1.0, 0.5, &[1.0]);
    model
        .add_force_field("material", node, hard, Treatment::Compliance)
        .unwrap();
    let deviatoric = LinearElastic::deviatoric(1.0, &[1.0]);
    let error = model
        .add_force_field("other", node, deviatoric, Treatment::Compliance)
        .unwrap_err();
    assert!(matches!(error, ModelError::NoCompliance { .. }));
}

/// `c (exp(e . A e) - 1)/2` and the energy of fibres, written again on hyper-dual numbers.
#[test]
fn tissue_has_the_derivatives_of_its_energy() {
    let (volume, c) = (0.3, 2.0);
    let a: [[f64; 6]; 6] =
        std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 2.0 + i as f64 } else { 0.3 }));
    let fung = Fung::new(c, a, &[volume]);
    let fung_energy = Potential::new(move |e: &[Dual]| {
        let q: Dual = (0..36).map(|k| e[k / 6] * e[k % 6] * a[k / 6][k % 6]).sum();
        (q.exp() - 1.0) * (0.5 * c * volume)
    });
    let (k1, k2, active) = (3.0, 1.5, 0.7);
    let fibres = Fibres::new(k1, k2, &[[1.0, 2.0, -2.0]], &[volume]).with_active_stress(active);
    let fibres_energy = Potential::new(move |e: &[Dual]| {
        let [x, y, z] = [1.0 / 3.0, 2.0 / 3.0, -2.0 / 3.0];
        let s = e[0] * (x * x)
            + e[1] * (y * y)
            + e[2] * (z * z)
            + e[3] * (x * y)
            + e[4] * (y * z)
            + e[5] * (z * x);
        let passive = if s.re > 0.0 {
            ((s * s * (4.0 * k2)).exp() - 1.0) * (0.5 * k1 / k2)
        } else {
            Dual::from(0.0)
        };
        (passive + s * active) * volume
    });
    let cases: [(&dyn ForceField, &dyn ForceField); 2] = [(&fung, &fung_energy), (&fibres, &fibres_energy)];
    // Stretched and compressed along the fibres.
    for x in [
        [0.1, 0.2, -0.1, 0.3, -0.2, 0.1],
        [-0.1, -0.2, -0.1, 0.1, 0.2, 0.1],
    ] {
        for (law, other) in cases {
            let close = |a: f64, b: f64| (a - b).abs() < 1e-13 * (1.0 + b.abs());
            assert!(close(
                law.energy(At::new(STRAIN, &x).with_inputs(law.inputs())),
                other.energy(At::new(STRAIN, &x))
            ));
            let (mut a, mut b) = ([0.0; 6], [0.0; 6]);
            law.add_force(
                At::new(STRAIN, &x).moving(&[0.0; 6]).with_inputs(law.inputs()),
                &mut a,
            );
            other.add_force(At::new(STRAIN, &x).moving(&[0.0; 6]), &mut b);
            assert!(a.iter().zip(&b).all(|(a, b)| close(*a, *b)), "{a:?} {b:?}");
            let (a, b) = (tangent(law, STRAIN, &x), tangent(other, STRAIN, &x));
            assert!(a.iter().zip(&b).all(|(a, b)| close(*a, *b)), "{a:?} {b:?}");
        }
    }
    let mut model = pliant_model::Model::new();
    let node = model
        .add_independent("strains", STRAIN, &[0.0; 6], &[0.0; 6])
        .unwrap();
    for bad in [
        Fibres::new(-1.0, 1.0, &[[1.0, 0.0, 0.0]], &[1.0]),
        Fibres::new(1.0, 1.0, &[[0.0; 3]], &[1.0]),
        Fibres::new(1.0, 1.0, &[], &[1.0]),
        Fibres::new(1.0, f64::NAN, &[[1.0, 0.0, 0.0]], &[1.0]),
    ] {
        assert!(
            model
                .add_force_field("bad", node, bad, Treatment::Stiffness)
                .is_err()
        );
    }
    let skewed = std::array::from_fn(|i| std::array::from_fn(|j| if i < j { 1.0 } else { 0.0 }));
    for bad in [
        Fung::new(0.0, a, &[1.0]),
        Fung::new(1.0, skewed, &[1.0]),
        Fung::new(1.0, a, &[]),
    ] {
        assert!(
            model
                .add_force_field("bad", node, bad, Treatment::Stiffness)
                .is_err()
        );
    }
}

/// Rotations of a point under pressure lower its energy, however little it is pressed: along a skew
/// `W` the second derivative at `F = s I` is `-(P/s) W^2`, negative with the stress `P`. At rest
/// and pulled, none does.
#[test]
fn what_is_pressed_a_little_is_indefinite() {
    let law = Hyperelastic::new(StrainEnergy::stable_neo_hookean(1.0, 0.3), &[1.0])
        .with_tangent(Tangent::PositiveSemidefinite);
    for strain in [1e-2f64, 1e-4, 1e-6, 1e-9] {
        for (s, indefinite) in [(1.0 - strain, 1), (1.0, 0), (1.0 + strain, 0)] {
            let f: [f64; 9] = std::array::from_fn(|k| if k % 4 == 0 { s } else { 0.0 });
            assert_eq!(law.projected_elements(At::new(GRADIENT, &f)), indefinite, "{s}");
        }
    }
}

fn as_matrix(f: &[f64]) -> nalgebra::Matrix3<f64> {
    nalgebra::Matrix3::from_fn(|i, k| f[3 * i + k])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damping in proportion to the stiffness by changes of shape alone: rotations have none, and of
    /// Neo-Hooke's energy `mu/2 (I1 - 3) - mu ln J + lambda/2 (ln J)^2` the dissipation of a rate `dF`
    /// is its second derivative along a straight way of `C`, with `E' = sym(F^T dF)`,
    /// `a = tr(C^-1 E')`, `s = tr((C^-1 E')^2)`: `lambda a^2 + 2 (mu - lambda ln J) s`, where that is
    /// positive. To rounding of the moduli.
    #[test]
    fn damping_by_the_stiffness_is_of_shape_alone(
        seed in prop::array::uniform9(-1.0f64..1.0),
        rate in prop::array::uniform9(-1.0f64..1.0),
        axis in prop::array::uniform3(-1.0f64..1.0),
    ) {
        let f: [f64; 9] = std::array::from_fn(|k| 0.15 * seed[k] + if k % 4 == 0 { 1.0 } else { 0.0 });
        let (mu, lambda) = (2.0, 3.0);
        let law = Hyperelastic::new(StrainEnergy::NeoHookean { shear: mu, lame: lambda }, &[0.5]);
        let mut block = Blocks::new([(9, 9)]);
        prop_assert!(law.add_shape_damping(At::new(GRADIENT, &f), 4.0, &mut block));
        let form = |a: &[f64], b: &[f64]| {
            let k = block.block(0);
            (0..81).map(|i| a[i / 9] * k[i] * b[i % 9]).sum::<f64>()
        };
        let (at, to) = (as_matrix(&f), as_matrix(&rate));
        let turn = nalgebra::Vector3::from(axis).cross_matrix() * at;
        let turn: [f64; 9] = std::array::from_fn(|k| turn[(k / 3, k % 3)]);
        prop_assert!(form(&turn, &rate).abs() < 1e-12, "{}", form(&turn, &rate));
        let inverse = (at.transpose() * at).try_inverse().unwrap();
        let strain = at.transpose() * to;
        let part = inverse * (strain + strain.transpose()) * 0.5;
        let (j, a, s) = (at.determinant(), part.trace(), (part * part).trace());
        let shear = mu - lambda * j.ln();
        prop_assume!(shear > 0.1);
        let exact = lambda * a * a + 2.0 * shear * s;
        // Half a cubic metre, four seconds.
        prop_assert!((form(&rate, &rate) - 2.0 * exact).abs() < 1e-11 * (1.0 + exact), "{exact}");
    }
}
