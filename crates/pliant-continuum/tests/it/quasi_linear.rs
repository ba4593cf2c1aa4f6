//! Energy and heat of quasi-linear viscoelasticity at a point, against closed forms and against the
//! work of its forces.

use super::materials::GRADIENT;
use super::viscoelastic::Led;
use pliant_continuum::{FibreFamily, Hyperelastic, PronySeries, PronyTerm, StrainEnergy};
use pliant_model::{At, ForceField, Memory, Past};
use std::f64::consts::PI;

type Matrix = nalgebra::Matrix3<f64>;

const TIME: f64 = 0.4;

fn series(share: f64, bulk: f64) -> PronySeries {
    let terms = [(TIME, share), (3.0, 0.3 * share)].map(|(time, shear)| PronyTerm {
        time,
        shear,
        bulk: bulk * shear,
    });
    PronySeries::new(&terms).unwrap()
}

/// Energies with a part of the volume, and such that leave it to others.
fn energies() -> Vec<(StrainEnergy, f64)> {
    let family = FibreFamily {
        k1: 2.0,
        k2: 0.5,
        dispersion: 0.1,
        direction: [1.0, 0.5, 0.0],
    };
    let families = [
        family,
        FibreFamily {
            direction: [1.0, -0.5, 0.2],
            ..family
        },
    ];
    let fibres = |bulk| StrainEnergy::fibre_reinforced(1.5, &families, bulk).unwrap();
    let mooney = |bulk| StrainEnergy::MooneyRivlin {
        c1: 0.7,
        c2: 0.3,
        bulk,
    };
    let ogden = |bulk| StrainEnergy::ogden(&[[0.63, 1.3], [0.05, 5.0], [-0.1, -2.0]], bulk).unwrap();
    let costa = |bulk| {
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        StrainEnergy::costa(0.5, [6.0, 5.0, 7.0], [4.0, 3.0, 5.0], axes, bulk).unwrap()
    };
    vec![
        (StrainEnergy::neo_hookean(10.0, 0.3), 1.0),
        (StrainEnergy::stable_neo_hookean(10.0, 0.3), 1.0),
        (StrainEnergy::corotational(10.0, 0.3), 1.0),
        (mooney(20.0), 1.0),
        (ogden(15.0), 1.0),
        (fibres(30.0), 1.0),
        (costa(20.0), 1.0),
        (
            StrainEnergy::Hencky {
                shear: 3.0,
                bulk: 9.0,
            },
            1.0,
        ),
        (mooney(0.0), 0.0),
        (ogden(0.0), 0.0),
        (fibres(0.0), 0.0),
        (costa(0.0), 0.0),
        (
            StrainEnergy::Hencky {
                shear: 3.0,
                bulk: 0.0,
            },
            0.0,
        ),
    ]
}

fn law(energy: StrainEnergy, share: f64, bulk: f64) -> Hyperelastic {
    let law = Hyperelastic::new(energy, &[0.7]).with_relaxation(series(share, bulk));
    law.check("gum", GRADIENT, 1).unwrap();
    law
}

fn rows(f: &Matrix) -> [f64; 9] {
    std::array::from_fn(|k| f[(k / 3, k % 3)])
}

/// A smooth way of the gradient: large strains that nearly keep the volume, with rotations.
fn way(t: f64) -> [f64; 9] {
    let sine = |a: f64, w: f64| a * (w * t).sin();
    let stretch = Matrix::new(
        sine(0.3, 1.7),
        sine(0.2, 2.9),
        sine(0.1, 1.1),
        0.0,
        sine(-0.15, 1.7),
        sine(0.15, 2.3),
        sine(0.1, 0.7),
        0.0,
        sine(-0.12, 1.7),
    );
    let f = stretch.exp();
    let volume = 1.0 + sine(0.01, 3.1);
    let turn = nalgebra::Rotation3::from_euler_angles(sine(0.8, 0.9), t, 0.0);
    rows(&(turn.matrix() * f * (volume / f.determinant()).cbrt()))
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Work of the forces along the way, energies at both ends and heat, with steps of a length.
fn balance(law: &Hyperelastic, steps: usize, time: f64) -> [f64; 3] {
    let h = time / steps as f64;
    let mut led = Led::new(law, GRADIENT, &way(0.0));
    let start = led.energy(&way(0.0));
    let (mut work, mut last) = (0.0, None);
    for k in 1..=steps {
        let (from, to) = (way(h * (k - 1) as f64), way(h * k as f64));
        let force = led.go(&to, h);
        let change: Vec<f64> = to.iter().zip(&from).map(|(a, b)| a - b).collect();
        let before: Vec<f64> = last.unwrap_or_else(|| vec![0.0; 9]);
        work -= 0.5 * (product(&force, &change) + product(&before, &change));
        last = Some(force);
    }
    [work, led.energy(&way(time)) - start, led.dissipated]
}

/// Work becomes energy and heat, whatever the energy, and each step makes heat.
#[test]
fn work_is_energy_and_heat() {
    for (energy, bulk) in energies() {
        let law = law(energy, 0.6, bulk);
        let errors = [200, 400, 800].map(|n| {
            let [work, stored, heat] = balance(&law, n, 4.0);
            assert!(heat > 0.1, "{energy:?} {work} {stored} {heat}");
            (work - stored - heat) / heat
        });
        let ratio = errors[1] / errors[2];
        assert!(
            errors[2].abs() < 1e-3 && (ratio > 3.5 || errors[2].abs() < 1e-6),
            "{energy:?} {errors:?}"
        );
        // Every step makes heat.
        let mut led = Led::new(&law, GRADIENT, &way(0.0));
        for k in 1..400 {
            let before = led.dissipated;
            led.go(&way(0.01 * f64::from(k)), 0.01);
            assert!(
                led.dissipated > before,
                "{energy:?} {k} {} {before}",
                led.dissipated
            );
        }
    }
}

/// The force of fast motion is the derivative of the energy, from any past.
#[test]
fn the_force_of_fast_motion_is_the_derivative_of_the_energy() {
    for (energy, bulk) in energies() {
        let law = law(energy, 0.6, bulk);
        let mut led = Led::new(&law, GRADIENT, &way(0.0));
        for k in 1..20 {
            led.go(&way(0.05 * f64::from(k)), 0.05);
        }
        // Somewhere else, at once.
        let x = way(2.2);
        let past = Past {
            internal: &led.internal,
            elapsed: 0.0,
        };
        let mut force = [0.0; 9];
        Memory::add_force(&law, At::new(GRADIENT, &x), past, &mut force);
        for k in 0..9 {
            let energy_at = |d: f64| {
                let mut x = x;
                x[k] += d;
                led.energy(&x)
            };
            let slope = (energy_at(1e-5) - energy_at(-1e-5)) / 2e-5;
            assert!(
                (slope + force[k]).abs() < 1e-7,
                "{energy:?} {k} {slope} {force:?}"
            );
        }
    }
}

/// A strain that comes at once stores all of the energy; at rest for ever that of the law without a
/// past is left, and the difference is heat.
#[test]
fn a_strain_that_comes_at_once_and_stays() {
    for (energy, bulk) in energies() {
        let law = law(energy, 0.6, bulk);
        let rest = rows(&Matrix::identity());
        let x = way(1.0);
        let left = ForceField::energy(&law, At::new(GRADIENT, &x));
        let whole = left / (1.0 - 1.3 * 0.6);
        for parts in [1, 7] {
            let mut led = Led::new(&law, GRADIENT, &rest);
            led.go(&x, 0.0);
            let fast = led.energy(&x);
            assert!((fast - whole).abs() < 1e-13, "{energy:?} {fast} {whole}");
            assert_eq!(led.dissipated, 0.0);
            let mut before = fast;
            for _ in 0..parts {
                led.go(&x, 0.3);
                let now = led.energy(&x);
                assert!(now < before && now > left, "{energy:?} {now} {before}");
                before = now;
            }
            led.go(&x, f64::INFINITY);
            let slow = led.energy(&x);
            assert!((slow - left).abs() < 1e-13, "{energy:?} {slow} {left}");
            let heat = led.dissipated;
            assert!((heat - (whole - left)).abs() < 1e-12, "{energy:?} {heat}");
        }
    }
}

/// The strain of the dashpot of neo-Hookean rubber without a part of the volume has a closed form:
/// `C_v^-1` is `(1 - r) I + r (tr C/3) C^-1`, of determinant one, after a share `r` of the stress of
/// a strain of determinant one has relaxed.
#[test]
fn energy_of_relaxing_neo_hookean_rubber() {
    let shear = 1.4;
    let energy = StrainEnergy::MooneyRivlin {
        c1: 0.5 * shear,
        c2: 0.0,
        bulk: 0.0,
    };
    let terms = [PronyTerm::of_shear(TIME, 0.5)];
    let law = Hyperelastic::new(energy, &[1.0]).with_relaxation(PronySeries::new(&terms).unwrap());
    let f = Matrix::new(1.5, 0.3, 0.0, 0.0, 0.9, 0.2, -0.1, 0.0, 0.8);
    let f = f / f.determinant().cbrt();
    let c = f.transpose() * f;
    let (one, back) = (Matrix::identity(), c.try_inverse().unwrap());
    let mut led = Led::new(&law, GRADIENT, &rows(&one));
    led.go(&rows(&f), 0.0);
    let mut time = 0.0f64;
    for h in [0.01, 0.3, 0.5, 2.0] {
        led.go(&rows(&f), h);
        time += h;
        let r = 1.0 - (-time / TIME).exp();
        let inverse = one * (1.0 - r) + back * (r * c.trace() / 3.0);
        let viscous = inverse.try_inverse().unwrap();
        let viscous = viscous / viscous.determinant().cbrt();
        let density = |c: &Matrix| 0.5 * shear * (c.trace() - 3.0);
        let stress = (one - back * (c.trace() / 3.0)) * (shear * r);
        let of_branch = density(&c) - density(&viscous) - 0.5 * stress.dot(&(c - viscous));
        let wanted = 0.5 * density(&c) + 0.5 * of_branch;
        let found = led.energy(&rows(&f));
        assert!((found - wanted).abs() < 1e-10, "{time} {found} {wanted}");
    }
}

/// Heat of a cycle of a small strain, and of a small strain about a large one, against the closed
/// forms `pi E'' e^2 V` with the modulus of the strain there.
#[test]
fn a_cycle_makes_the_heat_of_the_loss_modulus() {
    let (shear, lame, share) = (2.0, 5.0, 0.5);
    let energy = StrainEnergy::NeoHookean { shear, lame };
    let terms = [PronyTerm::new(TIME, share)];
    let law = Hyperelastic::new(energy, &[0.7]).with_relaxation(PronySeries::new(&terms).unwrap());
    let (omega, amplitude) = (1.7, 1e-4);
    // S = mu + (l ln s - mu)/s^2 of a stretch s without change across, E = (s^2 - 1)/2. Beyond
    // `l (1 - 2 ln s) + 2 mu = 0` the energy is not convex: a cycle then gives energy, by so much.
    for (stretch, gives) in [(1.0f64, false), (1.3, false), (0.7, false), (2.8, true)] {
        let modulus = (lame * (1.0 - 2.0 * stretch.ln()) + 2.0 * shear) / stretch.powi(4);
        assert_eq!(modulus < 0.0, gives);
        let x = omega * TIME;
        let loss = share * modulus * x / (1.0 + x * x);
        let wanted = 0.7 * PI * loss * (stretch * amplitude).powi(2);
        let f = |a: f64| {
            rows(&Matrix::from_diagonal(&nalgebra::Vector3::new(
                stretch + a,
                1.0,
                1.0,
            )))
        };
        let errors = [100, 200].map(|n| {
            let h = 2.0 * PI / omega / f64::from(n);
            let mut led = Led::new(&law, GRADIENT, &f(0.0));
            let at = |k: i32| f(amplitude * (omega * h * f64::from(k)).sin());
            (1..=8 * n).for_each(|k| drop(led.go(&at(k), h)));
            let (before, stored) = (led.dissipated, led.energy(&at(8 * n)));
            for k in 8 * n + 1..=9 * n {
                let last = led.dissipated;
                led.go(&at(k), h);
                let sign = if gives { -1.0 } else { 1.0 };
                assert!(sign * (led.dissipated - last) > -1e-17, "{stretch} {k}");
            }
            assert!((led.energy(&at(9 * n)) - stored).abs() < 1e-3 * wanted.abs());
            (led.dissipated - before) / wanted - 1.0
        });
        // Straight pieces of a sinusoid: second order, and the square of the amplitude.
        assert!((errors[0] / errors[1] - 4.0).abs() < 0.3, "{stretch} {errors:?}");
        assert!(errors[1].abs() < 1e-3, "{stretch} {errors:?}");
    }
}
