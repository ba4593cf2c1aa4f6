//! A cable of light links with a huge weight at its end: 100 links of 0.1 m and 1 kg, a weight up
//! to 1e9 times as heavy, steps of 0.1 s to 0.01 s.
//!
//! Sideways the hanging cable is a string of beads: `M y'' = -K y` with the tension of each link
//! over its length in `K`. Its modes are found here by bisection with Sturm's sequence and inverse
//! iteration; of the steps, the factor by which a mode is multiplied is known.

use pliant::prelude::*;

const G: f64 = 9.81;
const LINKS: usize = 100;
const LENGTH: f64 = 0.1;

/// The weights below and the steps of the problem.
const RATIOS: [f64; 3] = [1e3, 1e6, 1e9];
const STEPS: [f64; 3] = [0.1, 1.0 / 60.0, 0.01];

fn mass(i: usize, ratio: f64) -> f64 {
    if i + 1 == LINKS { ratio } else { 1.0 }
}

/// Weight below the upper end of each link (N).
fn tensions(ratio: f64) -> Vec<f64> {
    let mut below = 0.0;
    let mut out: Vec<f64> = (0..LINKS)
        .rev()
        .map(|i| {
            below += G * mass(i, ratio);
            below
        })
        .collect();
    out.reverse();
    out
}

/// The cable with its beads at `x`, hanging from the origin.
fn cable(ratio: f64, x: &[f64]) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -G, 0.0]).unwrap();
    let (mut before, mut height) = (0.0, 0.0);
    let places: Vec<[f64; 3]> = x
        .iter()
        .map(|x| {
            height -= (LENGTH * LENGTH - (x - before) * (x - before)).sqrt();
            before = *x;
            [*x, height, 0.0]
        })
        .collect();
    let beads = model.add_particles("beads", &places).unwrap();
    let masses = (0..LINKS).map(|i| mass(i, ratio)).collect();
    model.add_mass("m", beads, Mass::PerElement(masses)).unwrap();
    let end = |i: usize| match i {
        0 => End::Point([0.0; 3]),
        i => End::element(0, i - 1),
    };
    let pairs: Vec<_> = (0..LINKS).map(|i| (end(i + 1), end(i))).collect();
    let lengths = Distance::new(&pairs).with_rest_lengths(&[LENGTH]);
    let lengths = model.add_mapped("lengths", &[beads], lengths).unwrap();
    model.add_constraint("links", lengths, Level::Position).unwrap();
    model
}

/// `K - s M` of the beads: diagonal and the entries beside it.
fn shifted(ratio: f64, s: f64) -> (Vec<f64>, Vec<f64>) {
    let t = tensions(ratio);
    let diagonal = (0..LINKS)
        .map(|i| (t[i] + t.get(i + 1).unwrap_or(&0.0)) / LENGTH - s * mass(i, ratio))
        .collect();
    (diagonal, t[1..].iter().map(|t| -t / LENGTH).collect())
}

/// Square of the frequency of the mode with so many below it.
fn frequency_squared(ratio: f64, mode: usize) -> f64 {
    let below = |s: f64| {
        let (diagonal, beside) = shifted(ratio, s);
        let mut pivot = diagonal[0];
        let mut count = usize::from(pivot < 0.0);
        for i in 1..LINKS {
            pivot = diagonal[i] - beside[i - 1] * beside[i - 1] / pivot;
            count += usize::from(pivot < 0.0);
        }
        count
    };
    let (mut low, mut high) = (0.0, 1.0);
    while below(high) <= mode {
        (low, high) = (high, 4.0 * high);
    }
    while high - low > 4.0 * f64::EPSILON * high {
        let middle = 0.5 * (low + high);
        if below(middle) > mode {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

/// Its shape, the largest entry 1: inverse iteration beside the eigenvalue.
fn shape(ratio: f64, squared: f64) -> Vec<f64> {
    let (diagonal, beside) = shifted(ratio, squared * (1.0 - 1e-9));
    let mut y: Vec<f64> = (0..LINKS).map(|i| 1.0 + 0.3 * (i as f64).sin()).collect();
    for _ in 0..6 {
        for (i, y) in y.iter_mut().enumerate() {
            *y *= mass(i, ratio);
        }
        let mut pivots = diagonal.clone();
        for i in 1..LINKS {
            let share = beside[i - 1] / pivots[i - 1];
            pivots[i] -= share * beside[i - 1];
            y[i] -= share * y[i - 1];
        }
        for i in (0..LINKS).rev() {
            let next = if i + 1 < LINKS { beside[i] * y[i + 1] } else { 0.0 };
            y[i] = (y[i] - next) / pivots[i];
        }
        let largest = y
            .iter()
            .fold(0.0f64, |a, y| if y.abs() > a.abs() { *y } else { a });
        y.iter_mut().for_each(|y| *y /= largest);
    }
    y
}

/// The part of the mode in the places of the beads.
fn part(ratio: f64, shape: &[f64], places: &[f64]) -> f64 {
    let product = |other: &dyn Fn(usize) -> f64| -> f64 {
        (0..LINKS).map(|i| mass(i, ratio) * shape[i] * other(i)).sum()
    };
    product(&|i| places[3 * i]) / product(&|i| shape[i])
}

/// Exact factor per step of the size of a mode, and its angle per step (rad).
fn factor(omega: f64, h: f64, integrator: &Integrator) -> (f64, f64) {
    let w = h * omega;
    match integrator {
        Integrator::Theta => (1.0 / (1.0 + w * w).sqrt(), w.atan()),
        _ => (1.0, 2.0 * (0.5 * w).atan()),
    }
}

/// Error of a run of twenty steps from the shape of a mode: the part of the mode as a share of its
/// start, the tensions as shares of the weights below.
fn misses(ratio: f64, mode: usize, size: f64, h: f64, integrator: Integrator) -> [f64; 2] {
    let squared = frequency_squared(ratio, mode);
    let (omega, shape) = (squared.sqrt(), shape(ratio, squared));
    let start: Vec<f64> = shape.iter().map(|y| size * y).collect();
    let weight = if integrator == Integrator::Theta { 1.0 } else { 0.5 };
    let (rho, angle) = factor(omega, h, &integrator);
    let options = Options {
        integrator,
        alpha: weight,
        beta: weight,
        ..Options::theta()
    };
    let mut s = Simulation::with_options(cable(ratio, &start), options).unwrap();
    let weights = tensions(ratio);
    let mut worst = [0.0f64; 2];
    for n in 1..=20 {
        s.step(h).unwrap();
        let expected = rho.powi(n) * (angle * f64::from(n)).cos();
        let found = part(ratio, &shape, &s.state().positions) / size;
        worst[0] = worst[0].max((found - expected).abs());
        for (lambda, weight) in s.multipliers().iter().zip(&weights) {
            worst[1] = worst[1].max((-lambda / weight - 1.0).abs());
        }
    }
    println!(
        "{ratio:.0e} mode {mode} h omega {:.2e}: mode {:.1e}, tensions {:.1e}",
        h * omega,
        worst[0],
        worst[1]
    );
    worst
}

/// Modes of the hanging cable let go at rest, by implicit Euler in one linear system per step:
/// frequency and decay are those of the scheme in every step, whether it is a tenth of a radian or
/// 60,000 of them, and tensions are the weights below. The first step knows no tensions and takes
/// those of a solve without geometric stiffness, whose error is of second order in the size and
/// grows with the tension: so small are the sizes. Beside it there is the rounding of the tip,
/// 1e-18 m.
#[test]
fn modes_have_the_frequency_and_the_decay_of_implicit_euler() {
    for ratio in RATIOS {
        for (mode, size) in [(0, 1e-6), (1, 1e-6), (4, 1e-6), (99, 1e-8)] {
            for h in STEPS {
                let size = size * (1e3 / ratio).sqrt();
                let [of_mode, of_tensions] = misses(ratio, mode, size, h, Integrator::Theta);
                assert!(
                    of_mode < 1e-6 && of_tensions < 1e-6,
                    "{ratio} {mode} {h}: {of_mode} {of_tensions}"
                );
            }
        }
    }
}

/// The trapezoidal rule by Newton's method neither damps nor tires; what it misses is its
/// tolerance, 1e-11 of the terms of each equation, which adds up.
#[test]
fn modes_have_the_frequency_of_the_trapezoidal_rule() {
    for (mode, size) in [(0, 1e-6), (1, 1e-6), (4, 1e-6), (99, 1e-8)] {
        for h in STEPS {
            let [of_mode, of_tensions] = misses(RATIOS[0], mode, size, h, Integrator::Nonlinear);
            assert!(
                of_mode < 1e-5 && of_tensions < 1e-6,
                "{mode} {h}: {of_mode} {of_tensions}"
            );
        }
    }
}

/// RATTLE is explicit sideways: where `h omega` of the fastest mode is below 2, its angle per step
/// is `2 asin(h omega/2)`.
#[test]
fn rattle_has_its_own_frequency() {
    let ratio = 1e3;
    let fastest = frequency_squared(ratio, LINKS - 1).sqrt();
    let squared = frequency_squared(ratio, 1);
    let (omega, shape) = (squared.sqrt(), shape(ratio, squared));
    let start: Vec<f64> = shape.iter().map(|y| 1e-6 * y).collect();
    let options = Options {
        integrator: Integrator::Rattle,
        ..Options::theta()
    };
    let mut s = Simulation::with_options(cable(ratio, &start), options).unwrap();
    let h = 1.5 / fastest;
    let angle = 2.0 * (0.5 * h * omega).asin();
    for n in 1..=500 {
        s.step(h).unwrap();
        let found = part(ratio, &shape, &s.state().positions) / 1e-6;
        let expected = (angle * f64::from(n)).cos();
        assert!((found - expected).abs() < 1e-6, "{n}: {found} {expected}");
    }
}

/// Let go at an angle of 0.3, straight: for ten seconds no step adds energy, joints stay closed,
/// and the cable straight.
#[test]
fn swings_stay_stable() {
    for ratio in RATIOS {
        for h in STEPS {
            let start: Vec<f64> = (1..=LINKS).map(|i| LENGTH * i as f64 * 0.3f64.sin()).collect();
            let mut s = crate::tools::theta(cable(ratio, &start)).unwrap();
            let scale = ratio * G * 10.0 * (1.0 - 0.3f64.cos());
            let mut energy = s.problem().energies(s.state()).total();
            let (mut rise, mut gap, mut bend) = (f64::NEG_INFINITY, 0.0f64, 0.0f64);
            for _ in 0..(10.0 / h).round() as usize {
                let report = s.step(h).unwrap();
                rise = rise.max((report.energies.total() - energy) / scale);
                energy = report.energies.total();
                gap = gap.max(report.violation);
                let x = s.state().positions.as_chunks::<3>().0;
                let [end_x, end_y, _] = x[LINKS - 1];
                let across = |p: &[f64; 3]| (p[0] * end_y - p[1] * end_x).abs() / end_x.hypot(end_y);
                bend = x[..LINKS].iter().map(across).fold(bend, f64::max);
            }
            // Second order in the step; the beads are left behind by their share of the mass.
            assert!(
                rise <= 0.0 && gap < 1e-2 * h * h && bend < 40.0 / ratio,
                "{ratio} {h}: {rise} {gap} {bend}"
            );
            println!("{ratio:.0e} h {h:.4}: rise {rise:.1e}, gap {gap:.1e} m, bend {bend:.1e} m");
        }
    }
}
