//! Viscoelastic laws at a point against closed forms of the generalised Maxwell model.

use super::materials::GRADIENT;
use pliant_continuum::{Hyperelastic, PronySeries, PronyTerm, Solid, StrainEnergy, Tangent, Viscoelastic};
use pliant_model::{At, ForceField, Memory, Model, ModelError, Past, Space, check};
use proptest::prelude::*;
use std::f64::consts::PI;

const STRAIN: Space = Space::Real(6);
const YOUNG: f64 = 10.0;
const POISSON: f64 = 0.3;
const SHEAR: f64 = YOUNG / (2.0 * (1.0 + POISSON));
const BULK: f64 = YOUNG / (3.0 * (1.0 - 2.0 * POISSON));

fn series() -> PronySeries {
    PronySeries::new(&[
        PronyTerm {
            time: 0.2,
            shear: 0.3,
            bulk: 0.1,
        },
        PronyTerm {
            time: 3.0,
            shear: 0.4,
            bulk: 0.2,
        },
    ])
    .unwrap()
}

/// A law with its internal variables, led along strains.
pub(crate) struct Led<'a> {
    law: &'a dyn Memory,
    space: Space,
    pub(crate) internal: Vec<f64>,
    pub(crate) dissipated: f64,
}

impl<'a> Led<'a> {
    pub(crate) fn new(law: &'a dyn Memory, space: Space, x: &[f64]) -> Self {
        let count = x.len() / space.position_size();
        let mut internal = vec![0.0; law.size(count)];
        law.begin(space, x, &mut internal);
        Self {
            law,
            space,
            internal,
            dissipated: 0.0,
        }
    }

    /// To a place, `elapsed` seconds later; the force there before the variables are moved on.
    pub(crate) fn go(&mut self, x: &[f64], elapsed: f64) -> Vec<f64> {
        let mut force = vec![0.0; x.len()];
        let mut new = self.internal.clone();
        let past = Past {
            internal: &self.internal,
            elapsed,
        };
        self.law.add_force(At::new(self.space, x), past, &mut force);
        self.dissipated += self.law.advance(At::new(self.space, x), past, &mut new);
        self.internal = new;
        force
    }

    pub(crate) fn energy(&self, x: &[f64]) -> f64 {
        self.law.energy(At::new(self.space, x), &self.internal)
    }
}

fn relaxed(t: f64, share: fn(&PronyTerm) -> f64) -> f64 {
    let of = |term: &PronyTerm| share(term) * (1.0 - (-t / term.time).exp());
    1.0 - series().terms().iter().map(of).sum::<f64>()
}

/// A strain that comes at once, of shape and of volume; the steps after it differ in length.
#[test]
fn stresses_relax_by_the_series() {
    let law = Viscoelastic::isotropic(YOUNG, POISSON, series(), &[0.5]);
    let mut led = Led::new(&law, STRAIN, &[0.0; 6]);
    let e = [0.01, 0.01, 0.01, 0.03, 0.0, 0.0];
    led.go(&e, 0.0);
    let mut t = 0.0;
    for h in [0.0, 0.01, 0.5, 1e-3, 2.0, 0.1, 10.0, 1e-9] {
        t += h;
        let f = led.go(&e, h);
        let (pressure, shear) = (
            3.0 * BULK * relaxed(t, |t| t.bulk) * 0.01,
            SHEAR * relaxed(t, |t| t.shear) * 0.03,
        );
        // Exponentials of parts of a time: rounding.
        assert!((-f[0] / 0.5 - pressure).abs() < 1e-14, "{t} {f:?} {pressure}");
        assert!((-f[3] / 0.5 - shear).abs() < 1e-14, "{t} {f:?} {shear}");
    }
    // All that the branches stored is lost in the end, and what is left is the energy of the law
    // without a past.
    led.go(&e, f64::INFINITY);
    let fast = 0.25 * (9.0 * BULK * 1e-4 + SHEAR * 9e-4);
    let slow = ForceField::energy(&law, At::new(STRAIN, &e));
    assert!((led.energy(&e) - slow).abs() < 1e-16, "{} {slow}", led.energy(&e));
    assert!(
        (led.dissipated - (fast - slow)).abs() < 1e-15,
        "{} {}",
        led.dissipated,
        fast - slow
    );
}

/// A strain that grows evenly: the closed form, with steps of any length, and the ledger closes
/// exactly.
#[test]
fn an_even_strain_is_exact() {
    let law = Viscoelastic::isotropic(YOUNG, POISSON, series(), &[1.0]);
    let mut led = Led::new(&law, STRAIN, &[0.0; 6]);
    let (mut t, rate) = (0.0, 0.1);
    for h in [0.3, 1e-4, 0.05, 4.0, 0.7] {
        t += h;
        let f = led.go(&[0.0, 0.0, 0.0, rate * t, 0.0, 0.0], h);
        let branch = |b: &PronyTerm| SHEAR * b.shear * b.time * (1.0 - (-t / b.time).exp());
        let terms = series();
        let stress = rate * (SHEAR * 0.3 * t + terms.terms().iter().map(branch).sum::<f64>());
        assert!(
            (-f[3] - stress).abs() < 1e-14 * stress.max(0.1),
            "{t} {f:?} {stress}"
        );
    }
    // The work is the integral of that stress.
    let branch = |b: &PronyTerm| SHEAR * b.shear * b.time * (t - b.time * (1.0 - (-t / b.time).exp()));
    let work = rate * rate * (0.5 * SHEAR * 0.3 * t * t + series().terms().iter().map(branch).sum::<f64>());
    let stored = led.energy(&[0.0, 0.0, 0.0, rate * t, 0.0, 0.0]);
    assert!(
        (work - stored - led.dissipated).abs() < 1e-13,
        "{work} {stored} {}",
        led.dissipated
    );
}

/// Dissipation of the dashpots, where the closed form is replaced by its sum and around that,
/// against Simpson's rule in many parts.
#[test]
fn dissipation_is_the_integral_over_the_step() {
    let law = |time: f64| {
        let series = PronySeries::new(&[PronyTerm::of_shear(time, 0.5)]).unwrap();
        Viscoelastic::deviatoric(2.0, series, &[1.0])
    };
    for time in [1e5, 10.0, 2.1, 1.9, 0.3, 0.02] {
        let law = law(time);
        let mut led = Led::new(&law, STRAIN, &[0.0; 6]);
        led.go(&[0.0, 0.0, 0.0, 0.7, 0.0, 0.0], 0.0);
        led.go(&[0.0, 0.0, 0.0, -0.4, 0.0, 0.0], 1.0);
        let spring = |t: f64| 0.7 * (-t / time).exp() - 1.1 * time * (1.0 - (-t / time).exp());
        let power = |t: f64| spring(t) * spring(t) / time;
        let n = 20_000;
        let at = |k: usize| {
            power(k as f64 / n as f64)
                * if k == 0 || k == n {
                    1.0
                } else {
                    2.0 + 2.0 * (k % 2) as f64
                }
        };
        let integral = (0..=n).map(at).sum::<f64>() / (3.0 * n as f64);
        // Simpson's rule of parts of 1/400 of the shortest time: 1e-12.
        assert!(
            (led.dissipated - integral).abs() < 1e-10 * integral,
            "{time} {} {integral}",
            led.dissipated
        );
    }
}

/// Storage and loss modulus, and the energy of a cycle.
#[test]
fn a_sinusoid_shows_the_complex_modulus() {
    let law = Viscoelastic::isotropic(YOUNG, POISSON, series(), &[2.0]);
    let (omega, amplitude) = (1.7, 0.02);
    let of = |term: fn(f64) -> f64| {
        let sum = series();
        let terms = sum.terms().iter().map(|b| b.shear * term(omega * b.time));
        terms.sum::<f64>()
    };
    let storage = SHEAR * (0.3 + of(|x| x * x / (1.0 + x * x)));
    let loss = SHEAR * of(|x| x / (1.0 + x * x));
    let mut errors = Vec::new();
    for n in [100, 200, 400] {
        let h = 2.0 * PI / omega / n as f64;
        let mut led = Led::new(&law, STRAIN, &[0.0; 6]);
        let mut shear = |k: usize| {
            let phase = omega * h * k as f64;
            let strain = amplitude * phase.sin();
            (
                phase,
                strain,
                -led.go(&[0.0, 0.0, 0.0, strain, 0.0, 0.0], h)[3] / 2.0,
            )
        };
        // Ten cycles: of the start exp(-12) is left.
        let start = (1..=10 * n).fold((0.0, 0.0, 0.0), |_, k| shear(k));
        let (mut in_phase, mut across, mut work, mut last) = (0.0, 0.0, 0.0, start);
        for k in 10 * n + 1..=11 * n {
            let now = shear(k);
            in_phase += 2.0 / n as f64 * now.2 * now.0.sin() / amplitude;
            across += 2.0 / n as f64 * now.2 * now.0.cos() / amplitude;
            work += 2.0 * 0.5 * (now.2 + last.2) * (now.1 - last.1);
            last = now;
        }
        let before = led.dissipated;
        for k in 11 * n + 1..=12 * n {
            let strain = amplitude * (omega * h * k as f64).sin();
            led.go(&[0.0, 0.0, 0.0, strain, 0.0, 0.0], h);
        }
        let cycle = PI * loss * amplitude * amplitude * 2.0;
        errors.push([
            (in_phase - storage) / storage,
            (across - loss) / loss,
            (work - cycle) / cycle,
            (led.dissipated - before - cycle) / cycle,
        ]);
    }
    for pair in errors.windows(2) {
        for (coarse, fine) in pair[0].iter().zip(&pair[1]) {
            // Straight pieces of a sinusoid: second order, with what the start leaves.
            assert!((coarse / fine - 4.0).abs() < 0.1, "{errors:?}");
        }
    }
    assert!(errors[2].iter().all(|e| e.abs() < 1e-4), "{errors:?}");
}

/// A stress that comes at once and stays: Young's modulus relaxes by one term, and the strain
/// creeps as that of the standard linear solid.
#[test]
fn the_standard_linear_solid_creeps() {
    let (share, time, stress) = (0.6, 0.5, 0.3);
    let series = PronySeries::new(&[PronyTerm::new(time, share)]).unwrap();
    let law = Viscoelastic::isotropic(YOUNG, POISSON, series, &[1.0]);
    let (slow, retardation) = (YOUNG * (1.0 - share), time / (1.0 - share));
    let creep = |t: f64| stress * (1.0 / slow - (1.0 / slow - 1.0 / YOUNG) * (-t / retardation).exp());
    let mut errors = Vec::new();
    for n in [10, 20, 40] {
        let h = 1.0 / n as f64;
        let mut led = Led::new(&law, STRAIN, &[0.0; 6]);
        let mut e = [0.0; 6];
        let mut worst = 0.0f64;
        for k in 0..=n {
            let elapsed = if k == 0 { 0.0 } else { h };
            // The force is affine in the strain: one step of Newton's method.
            let past = Past {
                internal: &led.internal,
                elapsed,
            };
            let mut tangent = pliant_model::Blocks::new([(6, 6)]);
            Memory::stiffness(&law, At::new(STRAIN, &e), past, &mut tangent);
            let mut missing = [stress, 0.0, 0.0, 0.0, 0.0, 0.0];
            Memory::add_force(&law, At::new(STRAIN, &e), past, &mut missing);
            let k_inverse = nalgebra::Matrix6::from_row_slice(tangent.block(0))
                .try_inverse()
                .unwrap();
            let change = k_inverse * nalgebra::Vector6::from_row_slice(&missing);
            (0..6).for_each(|i| e[i] += change[i]);
            led.go(&e, elapsed);
            worst = worst.max((e[0] - creep(h * k as f64)).abs());
            assert!((e[1] + POISSON * e[0]).abs() < 1e-15, "{e:?}");
        }
        errors.push(worst / creep(1.0));
    }
    // Strains that are straight over a step: second order.
    assert!(
        errors[0] / errors[1] > 3.8 && errors[1] / errors[2] > 3.9,
        "{errors:?}"
    );
    assert!(errors[2] < 1e-4, "{errors:?}");
}

fn energies() -> [StrainEnergy; 3] {
    [
        StrainEnergy::neo_hookean(YOUNG, POISSON),
        StrainEnergy::MooneyRivlin {
            c1: 0.7,
            c2: 0.3,
            bulk: 5.0,
        },
        StrainEnergy::ogden(&[[0.63, 1.3], [0.05, 5.0], [-0.1, -2.0]], 3.0).unwrap(),
    ]
}

fn even() -> PronySeries {
    PronySeries::new(&[PronyTerm::new(0.2, 0.3), PronyTerm::new(3.0, 0.4)]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn tangents_are_derivatives_of_the_force_at_the_end(
        start in prop::array::uniform9(-0.2f64..0.2), end in prop::array::uniform9(-0.2f64..0.2), h in 1e-3f64..10.0,
    ) {
        let law = Viscoelastic::isotropic(YOUNG, POISSON, series(), &[0.3]);
        let mut led = Led::new(&law, STRAIN, &[0.0; 6]);
        led.go(&start[..6], h);
        let past = Past { internal: &led.internal, elapsed: h };
        let found = check::memory(&law, STRAIN, &end[..6], past).unwrap();
        prop_assert!(found.stiffness < 1e-8 && found.symmetry == 0.0 && found.idle == 0.0, "{:?}", found);
        prop_assert!(found.dissipated >= 0.0, "{:?}", found);
        let f = |x: &[f64; 9]| -> [f64; 9] { std::array::from_fn(|k| x[k] + f64::from(u8::from(k % 4 == 0))) };
        for energy in energies() {
            let law = Hyperelastic::new(energy, &[0.3]).with_relaxation(even());
            let mut led = Led::new(&law, GRADIENT, &f(&[0.0; 9]));
            led.go(&f(&start), h);
            let past = Past { internal: &led.internal, elapsed: h };
            let found = check::memory(&law, GRADIENT, &f(&end), past).unwrap();
            prop_assert!(found.stiffness < 1e-6 && found.symmetry < 1e-12 && found.idle == 0.0, "{:?}", found);
        }
    }

    /// The stress of a stretch that comes at once and turns with the body falls off evenly,
    /// whatever the energy.
    #[test]
    fn stresses_of_rubber_relax_by_the_series_and_turn_with_it(seed in prop::array::uniform9(-0.2f64..0.2), angle in -3.0f64..3.0) {
        let rest: [f64; 9] = std::array::from_fn(|k| f64::from(u8::from(k % 4 == 0)));
        let stretch: [f64; 9] = std::array::from_fn(|k| rest[k] + seed[k]);
        let (s, c) = angle.sin_cos();
        let r = nalgebra::Matrix3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0);
        let turned = r * nalgebra::Matrix3::from_row_slice(&stretch);
        let turned: [f64; 9] = std::array::from_fn(|k| turned[(k / 3, k % 3)]);
        for energy in energies() {
            let fast = Hyperelastic::new(energy, &[1.0]);
            let law = fast.clone().with_relaxation(even());
            let mut led = Led::new(&law, GRADIENT, &rest);
            led.go(&stretch, 0.0);
            let mut t = 0.0;
            for h in [0.1, 0.7, 2.0] {
                t += h;
                let f = led.go(&turned, h);
                let share = 1.0 - 0.3 * (1.0 - (-t / 0.2f64).exp()) - 0.4 * (1.0 - (-t / 3.0f64).exp());
                for (f, p) in f.iter().zip(fast.stresses(&turned)) {
                    prop_assert!((f + share * p).abs() < 1e-12, "{:?}", energy);
                }
            }
            // At rest for ever the law without a past is left, with its tangent.
            let mut left = [0.0; 9];
            ForceField::add_force(&law, At::new(GRADIENT, &turned).moving(&[0.0; 9]), &mut left);
            for (f, g) in led.go(&turned, f64::INFINITY).iter().zip(left) {
                prop_assert!((f - g).abs() < 1e-13);
            }
            let found = check::force_field(&law, GRADIENT, &turned, &[0.0; 9]).unwrap();
            prop_assert!(found.worst() < 1e-5, "{:?} {:?}", energy, found);
        }
    }
}

/// Small strains of rubber are those of the linear law, up to the square of the strain.
#[test]
fn rubber_at_small_strains_is_the_linear_law() {
    let linear = Viscoelastic::isotropic(YOUNG, POISSON, even(), &[1.0]);
    let rubber = Hyperelastic::new(StrainEnergy::neo_hookean(YOUNG, POISSON), &[1.0]).with_relaxation(even());
    let size = 1e-6;
    let rest: [f64; 9] = std::array::from_fn(|k| f64::from(u8::from(k % 4 == 0)));
    let mut a = Led::new(&linear, STRAIN, &[0.0; 6]);
    let mut b = Led::new(&rubber, GRADIENT, &rest);
    for (k, h) in [0.1, 0.4, 0.02, 2.0].into_iter().enumerate() {
        let g = |i: usize| size * ((3 * k + i) as f64).sin();
        let x: [f64; 9] = std::array::from_fn(|i| rest[i] + g(i));
        let e = [
            x[0] - 1.0,
            x[4] - 1.0,
            x[8] - 1.0,
            x[1] + x[3],
            x[5] + x[7],
            x[2] + x[6],
        ];
        let (a, b) = (a.go(&e, h), b.go(&x, h));
        for (a, b) in a.iter().zip([b[0], b[4], b[8], b[1], b[5], b[2]]) {
            assert!((a - b).abs() < 20.0 * YOUNG * size * size, "{a} {b}");
        }
    }
}

/// An indefinite tangent is projected with all that belongs to it.
#[test]
fn a_projected_tangent_has_no_negative_eigenvalue() {
    let law = Hyperelastic::new(StrainEnergy::stable_neo_hookean(YOUNG, POISSON), &[1.0])
        .with_relaxation(even())
        .with_tangent(Tangent::PositiveSemidefinite);
    let rest: [f64; 9] = std::array::from_fn(|k| f64::from(u8::from(k % 4 == 0)));
    let mut squeezed = rest;
    squeezed[0] = 0.4;
    let mut led = Led::new(&law, GRADIENT, &rest);
    led.go(&squeezed, 0.01);
    let past = Past {
        internal: &led.internal,
        elapsed: 0.1,
    };
    let mut blocks = pliant_model::Blocks::new([(9, 9)]);
    Memory::stiffness(&law, At::new(GRADIENT, &squeezed), past, &mut blocks);
    let k = nalgebra::SMatrix::<f64, 9, 9>::from_row_slice(blocks.block(0));
    let values = k.symmetric_eigenvalues();
    assert!(values.min() > -1e-12 * values.max(), "{values}");
    let exact =
        Hyperelastic::new(StrainEnergy::stable_neo_hookean(YOUNG, POISSON), &[1.0]).with_relaxation(even());
    let mut blocks = pliant_model::Blocks::new([(9, 9)]);
    Memory::stiffness(&exact, At::new(GRADIENT, &squeezed), past, &mut blocks);
    let k = nalgebra::SMatrix::<f64, 9, 9>::from_row_slice(blocks.block(0));
    assert!(k.symmetric_eigenvalues().min() < -0.1);
    assert_eq!(
        Memory::projected_elements(&law, At::new(GRADIENT, &squeezed), past),
        1
    );
    assert_eq!(
        Memory::projected_elements(&law, At::new(GRADIENT, &rest), past),
        0
    );
    assert_eq!(
        Memory::projected_elements(&exact, At::new(GRADIENT, &squeezed), past),
        0
    );
}

#[test]
fn numbers_that_mean_nothing_are_refused_by_name() {
    let mut model = Model::new();
    let node = model.add_independent("e", STRAIN, &[0.0; 6], &[0.0; 6]).unwrap();
    let mut add = |terms: &[PronyTerm]| {
        let law = Viscoelastic::isotropic(1.0, 0.3, PronySeries::new(terms).unwrap(), &[1.0]);
        let found = model.add_force_field("clay", node, law, pliant_model::Treatment::Stiffness);
        found.map_err(|e| e.to_string()).unwrap_err()
    };
    for (terms, wanted) in [
        (
            &[PronyTerm::new(0.0, 0.1)][..],
            "a relaxation time of the Prony series of `clay` is 0",
        ),
        (&[PronyTerm::new(f64::NAN, 0.1)], "not a finite number"),
        (
            &[PronyTerm::new(1.0, -0.1)],
            "a share of shear in the Prony series of `clay` is -0.1",
        ),
        (
            &[PronyTerm::of_shear(1.0, 0.6), PronyTerm::of_shear(2.0, 0.6)],
            "leaves of the shear modulus of `clay`",
        ),
    ] {
        let error = add(terms);
        assert!(error.contains(wanted), "{error}");
    }
    assert!(PronySeries::new(&[]).is_err());
    assert!(PronySeries::new(&[PronyTerm::new(1.0, 0.01); 13]).is_err());
    let series = PronySeries::new(&[PronyTerm::of_shear(1.0, 0.5)]).unwrap();
    let law = Hyperelastic::new(StrainEnergy::neo_hookean(1.0, 0.3), &[1.0]).with_relaxation(series);
    let error = law.check("gum", GRADIENT, 1).unwrap_err().to_string();
    assert!(
        error.contains("a share of bulk") && error.contains("`gum`"),
        "{error}"
    );
    let law = Viscoelastic::isotropic(1.0, 0.3, series, &[1.0]);
    let found = model.add_force_field("clay", node, law, pliant_model::Treatment::Compliance);
    assert!(matches!(found, Err(ModelError::NoCompliance { .. })));
    let solid = Solid::corotational(1.0, 0.3)
        .with_viscoelasticity(series)
        .with_relaxation_time(0.1);
    let mesh = pliant_continuum::Mesh::hexahedral_box([1.0; 3], [1; 3]).unwrap();
    let error = solid.add_to(&mut model, "s", &mesh).unwrap_err().to_string();
    assert!(error.contains("a material with a past"), "{error}");
}
