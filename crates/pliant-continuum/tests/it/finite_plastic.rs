//! Plasticity at finite strains at a point: closed forms, an independent integration of the rate
//! equations, hyper-dual incremental energies, and what rotations and many steps must not change.

use super::materials::GRADIENT;
use pliant_continuum::{HenckyPlastic, Hyperelastic, Plasticity, StrainEnergy};
use pliant_model::dual::{Dual, DualNum};
use pliant_model::{At, Blocks, ForceField, Memory, Model, Past, Potential, Treatment, check};
use proptest::prelude::*;

/// By `benches/reference/finite_plastic.py`.
const REFERENCE: &str = include_str!("../../../../benches/reference/finite_plastic.txt");

/// The steel of the necking bar (GPa).
const YOUNG: f64 = 206.9;
const POISSON: f64 = 0.29;
const SHEAR: f64 = YOUNG / (2.0 * (1.0 + POISSON));
const BULK: f64 = YOUNG / (3.0 * (1.0 - 2.0 * POISSON));
const YIELD: f64 = 0.45;
const LINEAR: f64 = 0.12924;
const VOCE: [f64; 2] = [0.265, 16.93];

const REST: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

fn steel() -> Plasticity {
    Plasticity::perfect(YIELD)
        .with_isotropic_hardening(LINEAR)
        .with_saturation(VOCE[0], VOCE[1])
}

type Matrix = nalgebra::Matrix3<f64>;

fn matrix(f: &[f64]) -> Matrix {
    Matrix::from_row_slice(f)
}

fn list(m: &Matrix) -> [f64; 9] {
    std::array::from_fn(|k| m[(k / 3, k % 3)])
}

struct Led {
    law: HenckyPlastic,
    internal: Vec<f64>,
    f: [f64; 9],
    stress: Vec<f64>,
    dissipated: f64,
    work: f64,
}

impl Led {
    fn new() -> Self {
        Self {
            law: HenckyPlastic::isotropic(YOUNG, POISSON, steel(), &[1.0]),
            internal: HenckyPlastic::fresh(1),
            f: REST,
            stress: vec![0.0; 9],
            dissipated: 0.0,
            work: 0.0,
        }
    }

    fn past(&self) -> Past<'_> {
        Past {
            internal: &self.internal,
            elapsed: 1.0,
        }
    }

    /// To a gradient; what was dissipated on the way.
    fn go(&mut self, f: &[f64; 9]) -> f64 {
        let stress = self.law.stresses(f, &self.internal);
        let mut new = self.internal.clone();
        let dissipated = self.law.advance(At::new(GRADIENT, f), self.past(), &mut new);
        for k in 0..9 {
            self.work += 0.5 * (stress[k] + self.stress[k]) * (f[k] - self.f[k]);
        }
        self.dissipated += dissipated;
        (self.internal, self.f, self.stress) = (new, *f, stress);
        dissipated
    }

    /// Straight to a gradient in so many steps.
    fn straight(&mut self, f: &[f64; 9], steps: usize) {
        let start = self.f;
        for i in 1..=steps {
            let t = i as f64 / steps as f64;
            self.go(&std::array::from_fn(|k| start[k] + t * (f[k] - start[k])));
        }
    }

    fn passed(&self) -> f64 {
        HenckyPlastic::passed(&self.internal).next().unwrap()
    }

    fn energy(&self) -> f64 {
        Memory::energy(&self.law, At::new(GRADIENT, &self.f), &self.internal)
    }

    fn inverse_plastic(&self) -> Matrix {
        let [a, b, c, d, e, f] = self.internal[..6].try_into().unwrap();
        Matrix::new(a, d, f, d, b, e, f, e, c)
    }
}

/// Corners of a path of the reference: gradients, stresses, plastic strain.
fn path(name: &str) -> Vec<([f64; 9], [f64; 9], f64)> {
    let lines = REFERENCE.lines().filter(|line| line.starts_with(name));
    let numbers = |line: &str| -> Vec<f64> {
        line.split(' ')
            .skip(2)
            .map(|word| word.parse().unwrap())
            .collect()
    };
    let corner = |n: Vec<f64>| (n[..9].try_into().unwrap(), n[9..18].try_into().unwrap(), n[18]);
    lines.map(|line| corner(numbers(line))).collect()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs()))
}

/// Uniaxial tension up to a stretch of 7.4, each in one step: directions of stress stay with the
/// metal, and the return is exact.
#[test]
fn tension_follows_the_closed_form_in_one_step() {
    let corners = path("tension");
    assert_eq!(corners.len(), 4);
    for (f, stress, p) in corners {
        let mut led = Led::new();
        led.go(&f);
        // Gradients of twelve digits, times moduli of 200.
        assert!(apart(&led.stress, &stress) < 3e-9, "{p}: {:?}", led.stress);
        assert!((led.passed() - p).abs() < 1e-10, "{} {p}", led.passed());
    }
}

/// Simple shear with unloading, yield backwards and loading again, and a path on which all turns:
/// the method is of first order, and what two steps extrapolate to is of second.
#[test]
fn paths_are_those_of_the_rate_equations() {
    for (name, count) in [("shear", 4), ("mixed", 3)] {
        let corners = path(name);
        assert_eq!(corners.len(), count);
        let found = |steps: usize| -> Vec<f64> {
            let mut led = Led::new();
            let mut all = Vec::new();
            for (f, ..) in &corners {
                led.straight(f, steps);
                all.extend(led.stress.iter().copied());
                all.push(led.passed());
            }
            all
        };
        let wanted: Vec<f64> = corners
            .iter()
            .flat_map(|(_, stress, p)| stress.iter().copied().chain([*p]))
            .collect();
        let runs = [250, 500, 1000, 2000].map(found);
        let errors = runs.each_ref().map(|run| apart(run, &wanted));
        let better: Vec<f64> = runs[3].iter().zip(&runs[2]).map(|(a, b)| 2.0 * a - b).collect();
        let extrapolated = apart(&better, &wanted);
        println!("{name}: {errors:?}, extrapolated {extrapolated:e}");
        for pair in errors.windows(2) {
            assert!(pair[0] / pair[1] > 1.7, "{name}: {errors:?}");
        }
        // Of stresses of half a GPa and plastic strains of two. Corners and yields lie within steps,
        // so that a little of first order is left.
        assert!(errors[3] < 5e-4, "{name}: {errors:?}");
        assert!(
            extrapolated < 0.1 * errors[3],
            "{name}: {extrapolated:e} {errors:?}"
        );
    }
}

/// A superposed rotation turns the stress, and nothing else.
#[test]
fn rotations_turn_the_stress_alone() {
    let (mut led, mut turned) = (Led::new(), Led::new());
    let axis = nalgebra::Vector3::new(1.0, -2.0, 0.5).normalize();
    for i in 1..=200 {
        let t = 0.01 * f64::from(i);
        let f = Matrix::new(
            1.0 + 0.4 * t,
            t,
            0.0,
            0.1 * t,
            1.0 - 0.15 * t,
            0.0,
            0.2 * t * t,
            0.0,
            1.0,
        );
        let q = nalgebra::Rotation3::new(axis * (3.0 * t)).into_inner();
        led.go(&list(&f));
        turned.go(&list(&(q * f)));
        // Roundings of gradients, times moduli of 200.
        let wanted = list(&(q * matrix(&led.stress)));
        assert!(apart(&turned.stress, &wanted) < 1e-11, "{t}");
        assert!(apart(&turned.internal, &led.internal) < 1e-12, "{t}");
    }
    assert!(led.passed() > 1.0 && turned.dissipated - led.dissipated < 1e-12);
}

/// Sheared round and round by ten thousand steps, to a plastic strain of thirty: the plastic part
/// has kept its volume.
#[test]
fn plastic_flow_keeps_the_volume() {
    let mut led = Led::new();
    let mut worst = 0.0f64;
    for i in 0..10_000 {
        let t = 0.01 * f64::from(i);
        let f = Matrix::new(
            1.0,
            0.6 * t.sin(),
            0.3 * (1.3 * t).cos() - 0.3,
            0.0,
            1.0,
            0.4 * (0.7 * t).sin(),
            0.0,
            0.0,
            1.0,
        );
        assert!(led.go(&list(&f)) >= 0.0);
        worst = worst.max((led.inverse_plastic().determinant() - 1.0).abs());
    }
    println!("plastic strain {}, volume off by {worst:e}", led.passed());
    assert!(led.passed() > 30.0, "{}", led.passed());
    // Roundings of a determinant of numbers up to ten.
    assert!(worst < 2e-14, "{worst:e}");
}

/// The work of the stress is stored or becomes heat, the better the smaller the steps; no step
/// gives heat back.
#[test]
fn work_is_stored_or_dissipated() {
    let corners = path("mixed");
    let missed = [500, 1000, 2000].map(|steps| {
        let mut led = Led::new();
        for (f, ..) in &corners {
            led.straight(f, steps);
        }
        assert!((led.dissipated - YIELD * led.passed()).abs() < 1e-12);
        (led.work - led.energy() - led.dissipated) / led.dissipated
    });
    println!("work that is missed, over heat: {missed:?}");
    assert!(missed[2].abs() < 1e-2);
    assert!(
        missed[0] / missed[1] > 1.7 && missed[1] / missed[2] > 1.7,
        "{missed:?}"
    );
}

/// `sum_i e_i^2` of the logarithms of stretches without their mean: `ln C` by the series about half
/// of its trace, without eigenvalues.
pub(crate) fn squared(f: &[Dual]) -> Dual {
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
    // Without the logarithm of the middle, which all directions have.
    let mut log = vec![Dual::from(0.0); 9];
    let mut power = x.clone();
    for k in 1..1500 {
        let sign = if k % 2 == 0 { -1.0 } else { 1.0 };
        log.iter_mut()
            .zip(&power)
            .for_each(|(l, p)| *l += *p * (sign / f64::from(k)));
        power = product(&power, &x);
    }
    let trace = log[0] + log[4] + log[8];
    let square: Dual = log.iter().map(|l| *l * *l).sum();
    (square - trace * trace / 3.0) * 0.25
}

/// The incremental energy of a step (Ortiz and Stainier 1999), the least over the plastic strain
/// that passes: stored and dissipated. Its root is followed by Newton's method on hyper-dual
/// numbers.
fn incremental(f: &[Dual], internal: &[f64]) -> Dual {
    let [a, b, c, d, e, g] = internal[..6].try_into().unwrap();
    // A root that is not that of Cholesky.
    let eigen = Matrix::new(a, d, g, d, b, e, g, e, c).symmetric_eigen();
    let root = eigen.eigenvectors * Matrix::from_diagonal(&eigen.eigenvalues.map(f64::sqrt));
    let trial: Vec<Dual> = (0..9)
        .map(|k| (0..3).map(|m| f[k / 3 * 3 + m] * root[(m, k % 3)]).sum())
        .collect();
    let square = squared(&trial);
    let j = f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6])
        + f[2] * (f[3] * f[7] - f[4] * f[6]);
    let log = j.ln();
    let volume = log * log * (0.5 * BULK);
    let p = internal[6];
    let stored = |p: Dual| {
        let left = -(-p * VOCE[1]).exp() + 1.0;
        p * p * (0.5 * LINEAR) + (p - left / VOCE[1]) * VOCE[0]
    };
    let first = stored(Dual::from(p));
    if 1.5f64.sqrt() * 2.0 * SHEAR * square.re.max(0.0).sqrt()
        <= YIELD + LINEAR * p + VOCE[0] * (1.0 - (-VOCE[1] * p).exp())
    {
        return square * SHEAR + volume + first;
    }
    // sqrt(2/3) |e|, the equivalent strain of the trial.
    let strain = (square * (2.0 / 3.0)).sqrt();
    let mut passed = Dual::from(0.0);
    for _ in 0..30 {
        let left = (-(passed + p) * VOCE[1]).exp();
        let yields = (passed + p) * LINEAR + YIELD + (-left + 1.0) * VOCE[0];
        let slope = left * (VOCE[0] * VOCE[1]) + LINEAR;
        passed += ((strain - passed) * (3.0 * SHEAR) - yields) / (slope + 3.0 * SHEAR);
    }
    let elastic = strain - passed;
    elastic * elastic * (1.5 * SHEAR) + volume + stored(passed + p) + passed * YIELD
}

/// Stress and tangent of a step against the derivatives of its incremental energy, relative to the
/// largest modulus.
fn off_the_energy(led: &Led, f: &[f64; 9]) -> [f64; 2] {
    let internal = led.internal.clone();
    let other = Potential::new(move |f: &[Dual]| incremental(f, &internal));
    let mut force = [0.0; 9];
    other.add_force(At::new(GRADIENT, f).moving(&[0.0; 9]), &mut force);
    let (mut k, mut own) = (Blocks::new([(9, 9)]), Blocks::new([(9, 9)]));
    other.stiffness(At::new(GRADIENT, f), &mut k).unwrap();
    Memory::stiffness(&led.law, At::new(GRADIENT, f), led.past(), &mut own);
    let size = k.block(0).iter().fold(0.0, |m: f64, k| m.max(k.abs()));
    let stress = led
        .law
        .stresses(f, &led.internal)
        .iter()
        .map(|s| -s)
        .collect::<Vec<_>>();
    [
        apart(&stress, &force) / size,
        apart(own.block(0), k.block(0)) / size,
    ]
}

/// Elastic and plastic steps, from rest and after flow, where stretches of the trial are all
/// different, where two or all are equal, and where they nearly are.
#[test]
fn equal_stretches_are_nothing_special() {
    let turn = |axis: [f64; 3], angle: f64| {
        nalgebra::Rotation3::new(nalgebra::Vector3::from(axis).normalize() * angle).into_inner()
    };
    let turned = |s: [f64; 3]| {
        turn([1.0, 2.0, -1.0], 0.8)
            * Matrix::from_diagonal(&s.into())
            * turn([0.3, -1.0, 0.5], 1.9).transpose()
    };
    let mut after = Led::new();
    after.straight(&list(&turned([1.3, 0.8, 0.95])), 5);
    for led in [Led::new(), after] {
        // Behind the plastic part, so that the trial has these stretches.
        let back = led
            .inverse_plastic()
            .cholesky()
            .unwrap()
            .l()
            .try_inverse()
            .unwrap();
        for (s, yields) in [
            ([1.0, 1.0, 1.0], false),
            ([1.01, 1.01, 1.01], false),
            ([1.001, 1.001, 0.9995], false),
            ([1.001, 1.001 + 1e-9, 0.9995], false),
            ([1.2, 1.2, 0.7], true),
            ([1.2, 1.2 + 1e-13, 0.7], true),
            ([1.2, 1.2 + 1e-8, 0.7], true),
            ([0.8, 1.3, 1.3 - 1e-5], true),
            ([1.5, 1.0, 0.6], true),
        ] {
            let f = list(&(turned(s) * back));
            let mut there = Led {
                internal: led.internal.clone(),
                f,
                ..Led::new()
            };
            let [stress, tangent] = off_the_energy(&led, &f);
            // Roundings of the series.
            assert!(stress < 1e-12 && tangent < 1e-11, "{s:?}: {stress:e} {tangent:e}");
            assert_eq!(there.go(&f) > 0.0, yields, "{s:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn steps_are_those_of_the_incremental_energy(
        start in prop::array::uniform9(-0.3f64..0.3), end in prop::array::uniform9(-0.3f64..0.3),
    ) {
        let mut led = Led::new();
        led.straight(&std::array::from_fn(|k| REST[k] + start[k]), 3);
        let f: [f64; 9] = std::array::from_fn(|k| REST[k] + end[k]);
        prop_assume!(matrix(&f).determinant() > 0.2);
        let [stress, tangent] = off_the_energy(&led, &f);
        prop_assert!(stress < 1e-11 && tangent < 1e-10, "{stress:e} {tangent:e}");
        let found = check::memory(&led.law, GRADIENT, &f, led.past()).unwrap();
        // Differences of steps of 1e-6, of flows of 1e-2 and more.
        prop_assert!(found.stiffness < 1e-7 && found.symmetry < 1e-13, "{:?}", found);
        prop_assert!(found.idle == 0.0 && found.dissipated >= 0.0, "{:?}", found);
        // The point is on its surface or inside.
        led.go(&f);
        let tau = matrix(&led.stress) * matrix(&f).transpose();
        let deviator = tau - Matrix::identity() * (tau.trace() / 3.0);
        let p = led.passed();
        let radius = YIELD + LINEAR * p + VOCE[0] * (1.0 - (-VOCE[1] * p).exp());
        prop_assert!(1.5f64.sqrt() * deviator.norm() <= radius * (1.0 + 1e-9));
    }
}

/// Without a past it is a law that has gone straight from rest; where it does not yield, Hencky's.
#[test]
fn without_a_past_it_is_the_first_step() {
    let law = HenckyPlastic::isotropic(YOUNG, POISSON, steel(), &[0.5]);
    let small = [1.0001, 2e-4, -1e-4, 3e-4, 0.9999, 0.0, 0.0, 1e-4, 1.0002];
    let found = check::force_field(&law, GRADIENT, &small, &[0.0; 9]).unwrap();
    assert!(found.worst() < 1e-5, "{found:?}");
    let elastic = Hyperelastic::new(StrainEnergy::hencky(YOUNG, POISSON), &[0.5]);
    assert!(
        apart(
            &elastic.stresses(&small),
            &law.stresses(&small, &HenckyPlastic::fresh(1))
        ) < 1e-12
    );
    let large = [1.2, 0.0, 0.0, 0.3, 0.9, 0.0, 0.0, 0.0, 1.0];
    let mut f = [0.0; 9];
    ForceField::add_force(&law, At::new(GRADIENT, &large).moving(&[0.0; 9]), &mut f);
    for (f, s) in f.iter().zip(law.stresses(&large, &HenckyPlastic::fresh(1))) {
        assert_eq!(*f, -0.5 * s);
    }
}

/// Hencky's bar in tension: `P = E ln(l)/l`, to a stretch of three.
#[test]
fn henckys_bar_has_a_logarithm() {
    let law = Hyperelastic::new(StrainEnergy::hencky(YOUNG, POISSON), &[1.0]);
    for along in [0.4f64, 1.1, 3.0] {
        let across = along.powf(-POISSON);
        let f = [along, 0.0, 0.0, 0.0, across, 0.0, 0.0, 0.0, across];
        let stress = law.stresses(&f);
        assert!((stress[0] - YOUNG * along.ln() / along).abs() < 1e-12 * YOUNG);
        assert!(stress[1..].iter().all(|s| s.abs() < 1e-12 * YOUNG), "{stress:?}");
    }
}

/// An element that is inside out has no stress, and keeps what it remembers.
#[test]
fn an_inverted_point_is_not_a_number() {
    let mut led = Led::new();
    led.straight(&[1.3, 0.2, 0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 0.9], 3);
    let internal = led.internal.clone();
    assert!(led.go(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -0.2]).is_nan());
    assert!(led.stress.iter().all(|s| s.is_nan()) && led.internal == internal);
}

#[test]
fn numbers_that_mean_nothing_are_refused_by_name() {
    let mut model = Model::new();
    let node = model.add_independent("f", GRADIENT, &REST, &[0.0; 9]).unwrap();
    for (poisson, plasticity, wanted) in [
        (0.3, Plasticity::perfect(0.0), "the yield stress of `steel` is 0"),
        (0.5, steel(), "the bulk modulus of `steel` is inf"),
        (0.6, steel(), "the bulk modulus of `steel` is -"),
        (
            0.3,
            steel().with_kinematic_hardening(1.0),
            "the kinematic hardening of `steel` is 1, but must be zero at finite strains",
        ),
    ] {
        let law = HenckyPlastic::isotropic(YOUNG, poisson, plasticity, &[1.0]);
        let error = model
            .add_force_field("steel", node, law, Treatment::Stiffness)
            .unwrap_err()
            .to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
