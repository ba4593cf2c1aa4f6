//! SDIRK2 on springs from soft to nearly hard: errors at a step and at half of it, over the fastest
//! frequency times the step.
//!
//! A straight chain of equal particles on springs is let go at rest beside its hanging position.
//! Each spring is as long as the tension at the start asks, `l + C T_i`, `T_i` that of rods that
//! cannot stretch: so the fast vibrations, which no long step follows, start with an amplitude of
//! the order `C^2`, and the motion is smooth at any stiffness. The fastest of them, of a chain that
//! is fixed at one end, has the frequency `2 sqrt(k/m) sin(pi (2 n - 1)/(2 (2 n + 1)))` (rad/s).

use crate::verify::distance;
use pliant::prelude::*;

const GRAVITY: f64 = 9.81;

/// The step (s); the other is half of it.
pub const STEP: f64 = 0.01;

/// Times at which errors are taken (s).
const SAMPLES: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// A chain of particles on springs.
#[derive(Clone, Copy, Debug)]
pub struct Springs {
    /// Its name in tables.
    pub name: &'static str,
    count: usize,
    /// Mass of each particle (kg).
    mass: f64,
    /// Length of each spring at rest (m).
    length: f64,
    /// Angle from hanging at the start (rad).
    angle: f64,
    /// Stiffness of each spring (N/m).
    stiffness: f64,
}

/// Errors of one treatment at one stiffness.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The fastest frequency times the step.
    pub product: f64,
    /// Largest distance of a particle from where it is to be, at the step and at half of it (m).
    pub errors: [f64; 2],
}

impl Pair {
    /// The order that both errors show.
    pub fn order(&self) -> f64 {
        (self.errors[0] / self.errors[1]).log2()
    }
}

/// The chains of the table, without their stiffness.
pub const CHAINS: [Springs; 3] = [
    Springs {
        name: "pendulum of 1 kg on a spring of 1 m, from the horizontal",
        count: 1,
        mass: 1.0,
        length: 1.0,
        angle: std::f64::consts::FRAC_PI_2,
        stiffness: f64::NAN,
    },
    Springs {
        name: "ten particles of 0.1 kg on springs of 0.1 m, from 0.5 rad",
        count: 10,
        mass: 0.1,
        length: 0.1,
        angle: 0.5,
        stiffness: f64::NAN,
    },
    Springs {
        name: "ten particles of 0.1 kg on springs of 0.1 m, from 1 rad",
        count: 10,
        mass: 0.1,
        length: 0.1,
        angle: 1.0,
        stiffness: f64::NAN,
    },
];

impl Springs {
    /// This chain with springs so stiff that its fastest frequency times [`STEP`] is `product`.
    #[must_use]
    pub fn with_product(self, product: f64) -> Self {
        let n = self.count as f64;
        let sine = (std::f64::consts::FRAC_PI_2 * (2.0 * n - 1.0) / (2.0 * n + 1.0)).sin();
        let root = product / STEP / (2.0 * sine);
        Self {
            stiffness: self.mass * root * root,
            ..self
        }
    }

    /// Errors of SDIRK2 at the step and at half of it.
    ///
    /// # Errors
    /// The error of the simulation.
    pub fn errors(self, product: f64, treatment: Treatment) -> Result<Pair, Error> {
        let chain = self.with_product(product);
        let exact = chain.reference(product / STEP);
        let mut errors = [0.0f64; 2];
        for (error, h) in errors.iter_mut().zip([STEP, 0.5 * STEP]) {
            let mut s = chain.simulation(treatment)?;
            for (time, wanted) in SAMPLES.iter().zip(&exact) {
                while s.time() < time - 0.5 * h {
                    s.step(h)?;
                }
                let found = s.state().positions.as_chunks::<3>().0;
                for (x, y) in found.iter().zip(wanted) {
                    *error = error.max(distance(&x[..2], y));
                }
            }
        }
        Ok(Pair { product, errors })
    }

    /// Places at the start.
    fn places(&self) -> Vec<[f64; 2]> {
        let (sin, cos) = self.angle.sin_cos();
        let mut along = 0.0;
        (0..self.count)
            .map(|i| {
                let tension = self.mass * GRAVITY * cos * (self.count - i) as f64;
                along += self.length + tension / self.stiffness;
                [along * sin, -along * cos]
            })
            .collect()
    }

    fn simulation(&self, treatment: Treatment) -> Result<Simulation, Error> {
        let mut model = Model::new();
        model.set_gravity([0.0, -GRAVITY, 0.0])?;
        let places: Vec<[f64; 3]> = self.places().iter().map(|[x, y]| [*x, *y, 0.0]).collect();
        let node = model.add_particles("particles", &places)?;
        model.add_mass("masses", node, Mass::Uniform(self.mass))?;
        let end = |i: usize| match i {
            0 => End::Point([0.0; 3]),
            _ => End::element(0, i - 1),
        };
        let pairs: Vec<_> = (0..self.count).map(|i| (end(i + 1), end(i))).collect();
        let lengths = Distance::new(&pairs).with_rest_lengths(&[self.length]);
        let lengths = model.add_mapped("lengths", &[node], lengths)?;
        let law = UniformCompliance::new(self.stiffness.recip());
        model.add_force_field("springs", lengths, law, treatment)?;
        Simulation::new(model)
    }

    /// Places at all [`SAMPLES`]: the classical Runge-Kutta method on Newton's equations in
    /// Cartesian coordinates, with steps of a tenth of the fastest vibration's `1/omega`, and of
    /// 0.1 ms at most.
    fn reference(&self, frequency: f64) -> Vec<Vec<[f64; 2]>> {
        let n = self.count;
        let mut x: Vec<f64> = self.places().concat();
        x.resize(4 * n, 0.0);
        let most = 1e-4f64.min(0.1 / frequency);
        let steps = (SAMPLES[0] / most).ceil() as usize;
        let h = SAMPLES[0] / steps as f64;
        let mut rates = [(); 4].map(|()| vec![0.0; 4 * n]);
        let mut at = x.clone();
        let mut out = Vec::new();
        for _ in SAMPLES {
            for _ in 0..steps {
                for (k, share) in [0.0, 0.5, 0.5, 1.0].into_iter().enumerate() {
                    at.clone_from(&x);
                    if k > 0 {
                        let before = at.iter_mut().zip(&rates[k - 1]);
                        before.for_each(|(a, r)| *a += share * h * r);
                    }
                    self.rate(&at, &mut rates[k]);
                }
                let [a, b, c, d] = &rates;
                for (i, x) in x.iter_mut().enumerate() {
                    *x += h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]);
                }
            }
            out.push(x[..2 * n].as_chunks::<2>().0.to_vec());
        }
        out
    }

    /// Velocities and accelerations of places and velocities.
    fn rate(&self, x: &[f64], rate: &mut [f64]) {
        let n = self.count;
        rate[..2 * n].copy_from_slice(&x[2 * n..]);
        for i in 0..n {
            rate[2 * n + 2 * i] = 0.0;
            rate[2 * n + 2 * i + 1] = -GRAVITY;
        }
        for i in 0..n {
            let from = if i == 0 {
                [0.0; 2]
            } else {
                [x[2 * i - 2], x[2 * i - 1]]
            };
            let along = [x[2 * i] - from[0], x[2 * i + 1] - from[1]];
            let now = along[0].hypot(along[1]);
            let share = self.stiffness * (now - self.length) / (now * self.mass);
            for (k, d) in along.iter().enumerate() {
                rate[2 * n + 2 * i + k] -= share * d;
                if i > 0 {
                    rate[2 * n + 2 * i - 2 + k] += share * d;
                }
            }
        }
    }
}
