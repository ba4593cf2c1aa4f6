//! Rubber and heart muscle against stresses in closed form, and pressures of energies of the volume.

use nalgebra::Matrix3;
use pliant_continuum::{Hyperelastic, StrainEnergy, VolumeEnergy};

/// Cauchy stress of a law at a gradient.
fn cauchy(law: &Hyperelastic, f: &Matrix3<f64>) -> Matrix3<f64> {
    let rows: Vec<f64> = f.transpose().as_slice().to_vec();
    let p = Matrix3::from_row_slice(&law.stresses(&rows));
    p * f.transpose() / f.determinant()
}

/// Tension, equal tension of two axes, pure shear; and stretches of no symmetry. None changes the volume.
fn stretches() -> Vec<[f64; 3]> {
    let of = |l: f64| {
        [
            [l, l.powf(-0.5), l.powf(-0.5)],
            [l, l, 1.0 / (l * l)],
            [l, 1.0, 1.0 / l],
            [l, 1.3, 1.0 / (1.3 * l)],
        ]
    };
    [0.7, 1.2, 2.5].into_iter().flat_map(of).collect()
}

/// Rivlin (1948): without change of volume
/// `sigma_i - sigma_j = 2 (l_i^2 - l_j^2) (dW/dI1 + l_k^2 dW/dI2)`.
fn assert_rivlin(energy: StrainEnergy, slopes: impl Fn(f64, f64) -> [f64; 2]) {
    let law = Hyperelastic::new(energy, &[1.0]);
    for l in stretches() {
        let squares = l.map(|l| l * l);
        let i1: f64 = squares.iter().sum();
        let i2: f64 = squares.iter().map(|s| 1.0 / s).sum();
        let [w1, w2] = slopes(i1 - 3.0, i2 - 3.0);
        let sigma = cauchy(&law, &Matrix3::from_diagonal(&l.into()));
        for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            let exact = 2.0 * (squares[i] - squares[j]) * (w1 + squares[k] * w2);
            let found = sigma[(i, i)] - sigma[(j, j)];
            let size = (w1.abs() + w2.abs()) * (i1 + i2);
            assert!(
                (found - exact).abs() < 1e-13 * size,
                "{energy:?} {l:?}: {found} {exact}"
            );
        }
    }
}

#[test]
fn rubber_of_five_terms_is_stressed_as_rivlin_says() {
    let (c10, c01, c20, c11, c02) = (0.9, -0.2, 0.31, -0.15, 0.08);
    let energy = StrainEnergy::Polynomial {
        c10,
        c01,
        c20,
        c11,
        c02,
        bulk: 7.0,
    };
    assert_rivlin(energy, |a, b| {
        [c10 + 2.0 * c20 * a + c11 * b, c01 + c11 * a + 2.0 * c02 * b]
    });
    let c = [0.7, -0.1, 0.05, -0.02, 0.003];
    assert_rivlin(StrainEnergy::Yeoh { c, bulk: 7.0 }, |a, _| {
        let powers = (0i32..).zip(c);
        [powers.map(|(i, c)| f64::from(i + 1) * c * a.powi(i)).sum(), 0.0]
    });
}

/// Fibres, sheets and normals along turned axes.
const FIBRES: [f64; 3] = [2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0];
const SHEETS: [f64; 3] = [-1.0 / 3.0, 2.0 / 3.0, -2.0 / 3.0];

/// Costa, Holmes and McCulloch (2001) in axes of fibres, sheets and normals: the second
/// Piola-Kirchhoff stress `S_ij = C b_ij E_ij exp(Q)` pushed forward, but for a pressure.
#[test]
fn heart_muscle_is_stressed_as_costa_says() {
    let (c, stretch, shear) = (1.2, [6.0, 7.0, 3.0], [12.0, 3.5, 4.0]);
    // The second axis askew: it is made perpendicular.
    let askew = std::array::from_fn(|k| 2.0 * SHEETS[k] + FIBRES[k]);
    let energy = StrainEnergy::costa(c, stretch, shear, [FIBRES, askew], 9.0).unwrap();
    let law = Hyperelastic::new(energy, &[1.0]);
    let (fibres, sheets) = (nalgebra::Vector3::from(FIBRES), nalgebra::Vector3::from(SHEETS));
    // Columns are the axes.
    let axes = Matrix3::from_columns(&[fibres, sheets, fibres.cross(&sheets)]);
    let [ff, ss, nn] = stretch;
    let [fs, sn, nf] = shear;
    let b = Matrix3::new(ff, fs, nf, fs, ss, sn, nf, sn, nn);
    let stretched = stretches().into_iter().filter(|l| l[0] < 2.0);
    let mut along: Vec<_> = stretched.map(|l| Matrix3::from_diagonal(&l.into())).collect();
    // Simple shears of the six pairs of axes.
    for (i, j) in [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)] {
        let mut sheared = Matrix3::identity();
        sheared[(i, j)] = 0.3;
        along.push(sheared);
    }
    for own in along {
        let green = (own.transpose() * own - Matrix3::identity()) * 0.5;
        let q = b.component_mul(&green).dot(&green);
        let second = b.component_mul(&green) * (c * q.exp());
        let exact = axes * own * second * own.transpose() * axes.transpose();
        let found = cauchy(&law, &(axes * own * axes.transpose()));
        let deviator = |m: &Matrix3<f64>| m - Matrix3::identity() * (m.trace() / 3.0);
        let off = (deviator(&found) - deviator(&exact)).amax();
        assert!(off < 1e-12 * exact.amax().max(c), "{own}: {off}");
    }
}

/// Evenly expanded, `J = s^3`, a law has the stress `dU/dJ` alone: `k (J - 1)` or `k ln J/J`. In
/// small strains both have the bulk modulus `k`; Hencky's is logarithmic by itself.
#[test]
fn pressures_are_the_slopes_of_the_energies_of_the_volume() {
    let bulk = 4.0;
    let axes = [FIBRES, SHEETS];
    let hencky = StrainEnergy::Hencky { shear: 2.0, bulk };
    let laws = [
        StrainEnergy::MooneyRivlin {
            c1: 0.7,
            c2: 0.3,
            bulk,
        },
        StrainEnergy::ogden(&[[0.63, 1.3], [0.05, 5.0]], bulk).unwrap(),
        StrainEnergy::costa(1.2, [6.0, 7.0, 3.0], [12.0, 3.5, 4.0], axes, bulk).unwrap(),
        hencky,
    ];
    for energy in laws {
        for volume in [VolumeEnergy::Quadratic, VolumeEnergy::Logarithmic] {
            let law = Hyperelastic::new(energy, &[1.0]).with_volume_energy(volume);
            for s in [0.5f64, 0.9, 1.0, 1.1, 1.7] {
                let j = s.powi(3);
                let exact = match volume {
                    VolumeEnergy::Quadratic if energy != hencky => bulk * (j - 1.0),
                    _ => bulk * j.ln() / j,
                };
                let sigma = cauchy(&law, &(Matrix3::identity() * s));
                let off = (sigma - Matrix3::identity() * exact).amax();
                assert!(
                    off < 1e-13 * bulk / j,
                    "{energy:?} {volume:?} {s}: {sigma} {exact}"
                );
            }
        }
    }
}
