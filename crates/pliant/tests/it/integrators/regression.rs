//! Orders of the default method by regression: the slope of the line of least squares through the
//! logarithms of errors over those of steps, against answers from elsewhere.
//!
//! An order is a slope within 0.15: over these rows of halved steps terms of the next order are a
//! tenth of the error at the coarsest step, which turns the line by a twentieth, and a method of
//! one order less is off by 1.

mod contacts;

use super::models::*;
use pliant::continuum::{PronySeries, PronyTerm, Relaxing};
use pliant::prelude::*;

/// The errors of a run with a step, each with what is compared.
type Errors = Vec<(&'static str, f64)>;

/// Slopes of errors over steps.
struct Orders(Vec<(&'static str, f64, Vec<f64>)>);

impl Orders {
    fn find(steps: &[f64], errors: impl FnMut(f64) -> Errors) -> Self {
        let all: Vec<Errors> = steps.iter().copied().map(errors).collect();
        let of = |i: usize| {
            let own: Vec<f64> = all.iter().map(|e| e[i].1).collect();
            (all[0][i].0, slope(steps, &own), own)
        };
        Self((0..all[0].len()).map(of).collect())
    }

    /// Each within 0.15 of an order.
    fn check(&self, name: &str, wanted: f64) {
        for (what, found, errors) in &self.0 {
            assert!(
                (found - wanted).abs() < 0.15,
                "{name}, {what}: order {found}, {errors:?}"
            );
        }
    }
}

/// Slope of the line of least squares.
fn slope(steps: &[f64], errors: &[f64]) -> f64 {
    let count = steps.len() as f64;
    let mean = |all: &[f64]| all.iter().map(|x| x.ln()).sum::<f64>() / count;
    let (x, y) = (mean(steps), mean(errors));
    let both = steps.iter().zip(errors);
    let product: f64 = both.map(|(h, e)| (h.ln() - x) * (e.ln() - y)).sum();
    product / steps.iter().map(|h| (h.ln() - x).powi(2)).sum::<f64>()
}

fn halves(coarsest: f64, count: i32) -> Vec<f64> {
    (0..count).map(|k| coarsest * 0.5f64.powi(k)).collect()
}

/// A pendulum on a hard rod, from the horizontal: by its angle from hanging. The multiplier is the
/// mean force of the step: at its middle the tension `3 m g cos` of the rod to second order, at its
/// end to first.
#[test]
fn a_hard_rod() {
    let angle = |time: f64| {
        let start = [std::f64::consts::FRAC_PI_2, 0.0];
        runge_kutta(start, time, |s| [s[1], -G * s[0].sin()])
    };
    let [end, rate] = angle(1.0);
    let (sin, cos) = end.sin_cos();
    let run = |h: f64| taken(pendulum(), Options::default(), h, 1.0);
    let steps = halves(0.02, 6);
    let orders = Orders::find(&steps, |h| {
        let s = run(h);
        let middle = 3.0 * G * angle(1.0 - 0.5 * h)[0].cos();
        vec![
            ("position", distance(&s.state().positions[..2], &[sin, -cos])),
            (
                "velocity",
                distance(&s.state().velocities[..2], &[rate * cos, rate * sin]),
            ),
            ("mean tension", (s.multipliers()[0] + middle).abs()),
        ]
    });
    orders.check("pendulum", 2.0);
    let tension = |h: f64| vec![("tension", (run(h).multipliers()[0] + 3.0 * G * cos).abs())];
    Orders::find(&steps, tension).check("pendulum", 1.0);
}

/// Three particles of 1, 2 and 3 kg on hard rods of 1, 0.7 and 0.5 m.
const MASSES: [f64; 3] = [1.0, 2.0, 3.0];
const RODS: [f64; 3] = [1.0, 0.7, 0.5];
/// Angles of the rods from hanging at the start, at rest (rad).
const ANGLES: [f64; 3] = [1.2, 0.6, 1.5];

fn three_rods() -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -G, 0.0]).unwrap();
    let mut at = [0.0; 3];
    let places: Vec<[f64; 3]> = (RODS.iter().zip(ANGLES))
        .map(|(l, a)| {
            at = [at[0] + l * a.sin(), at[1] - l * a.cos(), 0.0];
            at
        })
        .collect();
    let p = model.add_particles("p", &places).unwrap();
    model.add_mass("m", p, Mass::PerElement(MASSES.to_vec())).unwrap();
    let pairs = [
        (End::element(0, 0), End::Point([0.0; 3])),
        (End::element(0, 1), End::element(0, 0)),
        (End::element(0, 2), End::element(0, 1)),
    ];
    let lengths = Distance::new(&pairs).with_rest_lengths(&RODS);
    let lengths = model.add_mapped("lengths", &[p], lengths).unwrap();
    model.add_constraint("rods", lengths, Level::Position).unwrap();
    model
}

/// Angular accelerations of the three rods: Lagrange's equations, solved by elimination.
fn accelerations(s: &[f64; 6]) -> [f64; 3] {
    let below = |i: usize| MASSES[i..].iter().sum::<f64>();
    let mut rows = [[0.0; 4]; 3];
    for (i, row) in rows.iter_mut().enumerate() {
        row[3] = -below(i) * RODS[i] * G * s[i].sin();
        for j in 0..3 {
            let shared = below(i.max(j)) * RODS[i] * RODS[j];
            row[j] = shared * (s[i] - s[j]).cos();
            row[3] -= shared * (s[i] - s[j]).sin() * s[3 + j] * s[3 + j];
        }
    }
    for i in 0..3 {
        let pivot = rows[i];
        for row in &mut rows[i + 1..] {
            let share = row[i] / pivot[i];
            row.iter_mut().zip(pivot).for_each(|(x, p)| *x -= share * p);
        }
    }
    let mut out = [0.0; 3];
    for i in (0..3).rev() {
        let known: f64 = (i + 1..3).map(|j| rows[i][j] * out[j]).sum();
        out[i] = (rows[i][3] - known) / rows[i][i];
    }
    out
}

/// A chain of three hard rods; tensions from the accelerations of the masses below each.
#[test]
fn three_hard_rods() {
    let start = std::array::from_fn(|i| if i < 3 { ANGLES[i] } else { 0.0 });
    let rate = |s: &[f64; 6]| {
        let a = accelerations(s);
        [s[3], s[4], s[5], a[0], a[1], a[2]]
    };
    let end = runge_kutta(start, 0.5, rate);
    let turning = accelerations(&end);
    let (mut x, mut v, mut forces) = (Vec::new(), Vec::new(), Vec::new());
    let (mut place, mut velocity, mut acceleration) = ([0.0; 2], [0.0; 2], [0.0, G]);
    for i in 0..3 {
        let (l, w, (sin, cos)) = (RODS[i], end[3 + i], end[i].sin_cos());
        place = [place[0] + l * sin, place[1] - l * cos];
        velocity = [velocity[0] + l * w * cos, velocity[1] + l * w * sin];
        acceleration = [
            acceleration[0] + l * (turning[i] * cos - w * w * sin),
            acceleration[1] + l * (turning[i] * sin + w * w * cos),
        ];
        x.extend([place[0], place[1], 0.0]);
        v.extend([velocity[0], velocity[1], 0.0]);
        forces.push(acceleration.map(|a| a * MASSES[i]));
    }
    let tensions: Vec<f64> = (0..3)
        .map(|i| {
            let pull = [0, 1].map(|k| forces[i..].iter().map(|f| f[k]).sum::<f64>());
            pull[0].hypot(pull[1])
        })
        .collect();
    let run = |h: f64| taken(three_rods(), Options::default(), h, 0.5);
    let steps = halves(0.01, 5);
    let orders = Orders::find(&steps, |h| {
        let s = run(h);
        vec![
            ("positions", distance(&s.state().positions, &x)),
            ("velocities", distance(&s.state().velocities, &v)),
        ]
    });
    orders.check("three rods", 2.0);
    let orders = Orders::find(&steps, |h| {
        let found: Vec<f64> = run(h).multipliers().iter().map(|t| -t).collect();
        vec![("tensions", distance(&found, &tensions))]
    });
    orders.check("three rods", 1.0);
}

/// Times and shares of what relaxes.
const TERMS: [(f64, f64); 2] = [(0.05, 0.3), (0.6, 0.4)];

/// A particle of 1 kg on a spring of 1 m that relaxes, from the horizontal at rest: soft, and so
/// stiff that a step is many of its periods. What is there of fast vibrations is small, since the
/// tension begins without a jump. The unknowns of the independent answer are those of
/// the particle and the strains of the springs of both Maxwell branches.
#[test]
fn a_material_with_a_memory() {
    // At 1e10 N/m strains are 3e-9, and the answer is that of the hard rod.
    for stiffness in [2e2, 1e4, 1e6, 1e10] {
        let slow = 1.0 - TERMS.iter().map(|t| t.1).sum::<f64>();
        let rate = |s: &[f64; 6]| {
            let length = s[0].hypot(s[1]);
            let speed = (s[0] * s[2] + s[1] * s[3]) / length;
            let [(first, a), (second, b)] = TERMS;
            let strain = slow * (length - 1.0) + a * s[4] + b * s[5];
            let pull = -stiffness * strain / length;
            [
                s[2],
                s[3],
                pull * s[0],
                pull * s[1] - G,
                speed - s[4] / first,
                speed - s[5] / second,
            ]
        };
        let end = match stiffness > 1e8 {
            true => {
                let start = [std::f64::consts::FRAC_PI_2, 0.0];
                let [angle, w] = runge_kutta(start, 1.0, |s| [s[1], -G * s[0].sin()]);
                let (sin, cos) = angle.sin_cos();
                [sin, -cos, w * cos, w * sin]
            }
            false => {
                let end = runge_kutta([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0, rate);
                std::array::from_fn(|i| end[i])
            }
        };
        let orders = Orders::find(&halves(0.01, 5), |h| {
            let mut m = Model::new();
            m.set_gravity([0.0, -G, 0.0]).unwrap();
            let bob = m.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
            m.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
            let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
            let length = m.add_mapped("length", &[bob], length).unwrap();
            let series = PronySeries::new(&TERMS.map(|(time, share)| PronyTerm::new(time, share)));
            let law = Relaxing::springs(1, &[stiffness], series.unwrap()).unwrap();
            m.add_force_field("spring", length, law, Treatment::Stiffness)
                .unwrap();
            let s = taken(m, Options::default(), h, 1.0);
            vec![
                ("position", distance(&s.state().positions[..2], &end[..2])),
                ("velocity", distance(&s.state().velocities[..2], &end[2..])),
            ]
        });
        orders.check(&format!("{stiffness:e} N/m"), 2.0);
    }
}
