//! Plasticity at a point: closed forms in tension, an independent integration of the rate
//! equations, and what a step may do.

use pliant_continuum::{ElasticPlastic, Mesh, Plasticity, PronySeries, PronyTerm, Solid, StrainEnergy};
use pliant_model::{At, Blocks, ForceField, Memory, Model, Past, Space, Treatment, check};
use proptest::prelude::*;

const STRAIN: Space = Space::Real(6);
const YOUNG: f64 = 200.0;
const POISSON: f64 = 0.3;
const SHEAR: f64 = YOUNG / (2.0 * (1.0 + POISSON));
const BULK: f64 = YOUNG / (3.0 * (1.0 - 2.0 * POISSON));
const YIELD: f64 = 0.4;
const ISOTROPIC: f64 = 3.0;
const KINEMATIC: f64 = 5.0;

fn hardening() -> Plasticity {
    Plasticity::perfect(YIELD)
        .with_isotropic_hardening(ISOTROPIC)
        .with_kinematic_hardening(KINEMATIC)
}

struct Led {
    law: ElasticPlastic,
    internal: Vec<f64>,
    e: [f64; 6],
    dissipated: f64,
    /// Iterations of the last call.
    iterations: usize,
}

impl Led {
    fn new(plasticity: Plasticity) -> Self {
        Self {
            law: ElasticPlastic::isotropic(YOUNG, POISSON, plasticity, &[1.0]),
            internal: vec![0.0; 7],
            e: [0.0; 6],
            dissipated: 0.0,
            iterations: 0,
        }
    }

    /// To a strain: the stress there.
    fn go(&mut self, e: &[f64; 6]) -> Vec<f64> {
        let stress = self.law.stresses(e, &self.internal);
        let mut new = self.internal.clone();
        let past = Past {
            internal: &self.internal,
            elapsed: 0.0,
        };
        self.dissipated += self.law.advance(At::new(STRAIN, e), past, &mut new);
        (self.internal, self.e) = (new, *e);
        stress
    }

    fn tangent(&self, e: &[f64; 6]) -> nalgebra::Matrix6<f64> {
        let mut blocks = Blocks::new([(6, 6)]);
        let past = Past {
            internal: &self.internal,
            elapsed: 0.0,
        };
        Memory::stiffness(&self.law, At::new(STRAIN, e), past, &mut blocks);
        nalgebra::Matrix6::from_row_slice(blocks.block(0))
    }

    /// Pulls along x to a strain there with all other stresses zero; the stress there.
    fn pull(&mut self, along: f64) -> f64 {
        let mut e = self.e;
        e[0] = along;
        let mut misses = Vec::new();
        loop {
            let stress = self.law.stresses(&e, &self.internal);
            let missed = stress[1..].iter().fold(0.0f64, |a, s| a.max(s.abs()));
            misses.push(missed);
            if missed < 1e-13 {
                break;
            }
            assert!(misses.len() < 12, "{misses:?}");
            let k = self.tangent(&e);
            let rest = k.fixed_view::<5, 5>(1, 1).into_owned();
            let change = rest
                .lu()
                .solve(&-nalgebra::SVector::<f64, 5>::from_row_slice(&stress[1..]))
                .unwrap();
            (0..5).for_each(|i| e[1 + i] += change[i]);
        }
        self.iterations = misses.len() - 1;
        self.go(&e)[0]
    }

    fn energy(&self) -> f64 {
        Memory::energy(&self.law, At::new(STRAIN, &self.e), &self.internal)
    }
}

/// Out, back and out again in tension: slopes, the place of each yield (Bauschinger's effect), the
/// energy.
#[test]
fn tension_and_compression_follow_the_closed_form() {
    let mut led = Led::new(hardening());
    let both = ISOTROPIC + KINEMATIC;
    let slope = YOUNG * both / (YOUNG + both);
    let first = YIELD / YOUNG;
    let top = 0.02;
    let reached = YIELD + slope * (top - first);
    let plastic = (reached - YIELD) / both;
    // It yields backwards below the middle of the surface by its radius.
    let back = KINEMATIC * plastic - (YIELD + ISOTROPIC * plastic);
    let back_at = top - (reached - back) / YOUNG;
    let bottom = -0.01;
    let lowest = back + slope * (bottom - back_at);
    let mut work = 0.0;
    let mut last = (0.0, 0.0);
    // Straight in stress: the size of a step has no say, and one goes past the yield.
    for (strain, stress) in [
        (0.5 * first, 0.5 * YIELD),
        (0.01, YIELD + slope * (0.01 - first)),
        (top, reached),
        (0.5 * (top + back_at), 0.5 * (reached + back)),
        (back_at, back),
        (bottom, lowest),
    ] {
        let found = led.pull(strain);
        assert!((found - stress).abs() < 1e-12, "{strain} {found} {stress}");
        // Quadratic, from a step of many times the yield strain.
        assert!(led.iterations <= 6, "{}", led.iterations);
        // The stress is straight but for the corner.
        let area = if last.0 < first && strain > first {
            0.5 * (YIELD + last.1) * (first - last.0) + 0.5 * (YIELD + stress) * (strain - first)
        } else {
            0.5 * (stress + last.1) * (strain - last.0)
        };
        (work, last) = (work + area, (strain, stress));
    }
    assert!(
        (work - led.energy() - led.dissipated).abs() < 1e-14,
        "{work} {} {}",
        led.energy(),
        led.dissipated
    );
    let passed = ElasticPlastic::plastic_strains(&led.internal)[0];
    assert!((led.dissipated - YIELD * passed).abs() < 1e-15);
    let wanted = plastic + (back - lowest) / both;
    assert!((passed - wanted).abs() < 1e-13, "{passed} {wanted}");
}

/// Voce's law in tension: stress over plastic strain, at a strain that follows from both.
#[test]
fn hardening_saturates_as_voce_says() {
    let (rise, rate) = (0.5, 60.0);
    let mut led = Led::new(Plasticity::perfect(YIELD).with_saturation(rise, rate));
    for p in [1e-4f64, 0.01, 0.05, 0.3] {
        let stress = YIELD + rise * (1.0 - (-rate * p).exp());
        let found = led.pull(p + stress / YOUNG);
        assert!((found - stress).abs() < 1e-12, "{p} {found} {stress}");
        let stored = 0.5 * stress * stress / YOUNG + rise * (p - (1.0 - (-rate * p).exp()) / rate);
        assert!((led.energy() - stored).abs() < 1e-13, "{} {stored}", led.energy());
    }
    assert!((led.dissipated - YIELD * 0.3).abs() < 1e-13);
}

/// Rates of stress, back stress and plastic strain along a path of strain, by Runge and Kutta's
/// method in many small parts, each put back onto the surface: nothing of the return mapping.
fn integrated(path: &[[f64; 6]], parts: usize) -> ([f64; 6], f64) {
    let (mut s, mut b, mut p) = ([0.0; 6], [0.0; 6], 0.0f64);
    let square = |a: &[f64; 6]| {
        a[..3].iter().map(|x| x * x).sum::<f64>() + 2.0 * a[3..].iter().map(|x| x * x).sum::<f64>()
    };
    for pair in path.windows(2) {
        let mut rate: [f64; 6] =
            std::array::from_fn(|k| (pair[1][k] - pair[0][k]) / parts as f64 * if k < 3 { 1.0 } else { 0.5 });
        let third = (rate[0] + rate[1] + rate[2]) / 3.0;
        rate[..3].iter_mut().for_each(|r| *r -= third);
        let slopes = |s: &[f64; 6], b: &[f64; 6], p: f64| {
            let x: [f64; 6] = std::array::from_fn(|k| s[k] - b[k]);
            let size = square(&x).sqrt();
            let n = x.map(|x| if size > 0.0 { x / size } else { 0.0 });
            let into: f64 = (0..6)
                .map(|k| n[k] * rate[k] * if k < 3 { 1.0 } else { 2.0 })
                .sum();
            let at_yield = size >= (2.0f64 / 3.0).sqrt() * (YIELD + ISOTROPIC * p) * (1.0 - 1e-9);
            let flow = if at_yield && into > 0.0 {
                2.0 * SHEAR * into / (2.0 * SHEAR + 2.0 / 3.0 * (ISOTROPIC + KINEMATIC))
            } else {
                0.0
            };
            (
                std::array::from_fn::<f64, 6, _>(|k| 2.0 * SHEAR * (rate[k] - flow * n[k])),
                std::array::from_fn::<f64, 6, _>(|k| 2.0 / 3.0 * KINEMATIC * flow * n[k]),
                (2.0f64 / 3.0).sqrt() * flow,
            )
        };
        for _ in 0..parts {
            let one = slopes(&s, &b, p);
            let middle = |a: &[f64; 6], d: &[f64; 6]| std::array::from_fn::<f64, 6, _>(|k| a[k] + 0.5 * d[k]);
            let two = slopes(&middle(&s, &one.0), &middle(&b, &one.1), p + 0.5 * one.2);
            (0..6).for_each(|k| {
                s[k] += two.0[k];
                b[k] += two.1[k];
            });
            p += two.2;
            let x: [f64; 6] = std::array::from_fn(|k| s[k] - b[k]);
            let (size, radius) = (square(&x).sqrt(), (2.0f64 / 3.0).sqrt() * (YIELD + ISOTROPIC * p));
            if size > radius {
                (0..6).for_each(|k| s[k] = b[k] + x[k] * radius / size);
            }
        }
    }
    (s, p)
}

/// Tension, then torsion, then compression with torsion: stresses turn along the surface.
#[test]
fn a_path_round_corners_is_that_of_the_rate_equations() {
    let path = [
        [0.0; 6],
        [0.006, -0.002, -0.002, 0.0, 0.0, 0.0],
        [0.006, -0.002, -0.002, 0.015, 0.004, 0.0],
        [-0.004, 0.003, 0.001, 0.01, -0.006, 0.008],
    ];
    let (s, p) = integrated(&path, 100_000);
    let error = |parts: usize| {
        let mut led = Led::new(hardening());
        let mut stress = vec![0.0; 6];
        for pair in path.windows(2) {
            for i in 1..=parts {
                let t = i as f64 / parts as f64;
                stress = led.go(&std::array::from_fn(|k| {
                    pair[0][k] + t * (pair[1][k] - pair[0][k])
                }));
            }
        }
        let e = led.e;
        let pressure = BULK * (e[0] + e[1] + e[2]);
        let off = (0..6).map(|k| (stress[k] - if k < 3 { pressure } else { 0.0 } - s[k]).abs());
        off.fold((led.internal[6] - p).abs() * YOUNG, f64::max)
    };
    let errors = [50, 100, 200].map(error);
    // Implicit Euler: first order. The reference has parts of 1e-5, of second order but for the
    // corners.
    assert!(
        errors[0] / errors[1] > 1.8 && errors[1] / errors[2] > 1.8,
        "{errors:?}"
    );
    assert!(errors[2] < 0.01 * YIELD, "{errors:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tangents_are_consistent_and_dissipation_is_not_negative(
        start in prop::array::uniform6(-0.02f64..0.02), end in prop::array::uniform6(-0.02f64..0.02), voce in any::<bool>(),
    ) {
        let plasticity = if voce { hardening().with_saturation(0.3, 100.0) } else { hardening() };
        let mut led = Led::new(plasticity);
        led.go(&start);
        let past = Past { internal: &led.internal, elapsed: 1.0 };
        let found = check::memory(&led.law, STRAIN, &end, past).unwrap();
        // Relative to the moduli of 200; steps of 1e-6 on a surface of radius 2e-3: (1e-6/2e-3)^2.
        prop_assert!(found.stiffness < 1e-6 && found.symmetry < 1e-14, "{:?}", found);
        prop_assert!(found.idle == 0.0 && found.dissipated >= 0.0, "{:?}", found);
        let k = led.tangent(&end);
        prop_assert!(k.symmetric_eigenvalues().min() > 0.0);
        // The point is on its surface or inside.
        let stress = led.go(&end);
        let third = (stress[0] + stress[1] + stress[2]) / 3.0;
        let part = |k: usize| {
            let (s, own) = if k < 3 { (stress[k] - third, led.internal[k]) } else { (stress[k], 0.5 * led.internal[k]) };
            s - 2.0 / 3.0 * KINEMATIC * own
        };
        let size = ((0..3).map(|k| part(k).powi(2)).sum::<f64>() + 2.0 * (3..6).map(|k| part(k).powi(2)).sum::<f64>()).sqrt();
        let p = led.internal[6];
        let radius = YIELD + ISOTROPIC * p + if voce { 0.3 * (1.0 - (-100.0 * p).exp()) } else { 0.0 };
        prop_assert!(1.5f64.sqrt() * size <= radius * (1.0 + 1e-11), "{} {}", size, radius);
    }
}

/// Without a past it is a law that has gone straight from rest; where it does not yield, one with a
/// potential.
#[test]
fn without_a_past_it_is_the_first_step() {
    let law = ElasticPlastic::isotropic(YOUNG, POISSON, hardening(), &[0.5]);
    let small = [1e-4, 2e-4, -1e-4, 3e-4, 0.0, 1e-4];
    let found = check::force_field(&law, STRAIN, &small, &[0.0; 6]).unwrap();
    assert!(found.worst() < 1e-5, "{found:?}");
    let e = [0.01, 0.0, 0.0, 0.02, 0.0, 0.0];
    let mut f = [0.0; 6];
    ForceField::add_force(&law, At::new(STRAIN, &e).moving(&[0.0; 6]), &mut f);
    for (f, s) in f.iter().zip(law.stresses(&e, &[0.0; 7])) {
        assert_eq!(*f, -0.5 * s);
    }
}

#[test]
fn numbers_that_mean_nothing_are_refused_by_name() {
    let mut model = Model::new();
    let node = model.add_independent("e", STRAIN, &[0.0; 6], &[0.0; 6]).unwrap();
    for (plasticity, wanted) in [
        (Plasticity::perfect(0.0), "the yield stress of `steel` is 0"),
        (
            Plasticity::perfect(f64::NAN),
            "the yield stress of `steel` is NaN",
        ),
        (
            hardening().with_isotropic_hardening(-1.0),
            "the isotropic hardening of `steel` is -1",
        ),
        (
            hardening().with_kinematic_hardening(-1.0),
            "the kinematic hardening of `steel` is -1",
        ),
        (
            hardening().with_saturation(-1.0, 1.0),
            "the rise of the yield stress of `steel` is -1",
        ),
        (
            hardening().with_saturation(1.0, f64::INFINITY),
            "the rate of saturation of `steel`",
        ),
    ] {
        let law = ElasticPlastic::isotropic(YOUNG, POISSON, plasticity, &[1.0]);
        let error = model
            .add_force_field("steel", node, law, Treatment::Stiffness)
            .unwrap_err()
            .to_string();
        assert!(error.contains(wanted), "{error}");
    }
    let mesh = Mesh::hexahedral_box([1.0; 3], [1; 3]).unwrap();
    let series = PronySeries::new(&[PronyTerm::new(1.0, 0.1)]).unwrap();
    for (solid, wanted) in [
        (
            Solid::hyperelastic(StrainEnergy::neo_hookean(1.0, 0.3)).with_plasticity(hardening()),
            "a hyperelastic material",
        ),
        (
            Solid::linear(1.0, 0.3)
                .with_plasticity(hardening())
                .with_viscoelasticity(series),
            "plasticity cannot be had with viscoelasticity",
        ),
        (
            Solid::linear(1.0, 0.3)
                .with_plasticity(hardening())
                .with_treatment(Treatment::Compliance),
            "a material with a past",
        ),
    ] {
        let error = solid.add_to(&mut model, "s", &mesh).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
