//! Tools of tests in several files: numbers, comparisons, small dense algebra independent of the
//! library, a floor.

use pliant::contact::*;
use pliant::kkt::Support;
use pliant::prelude::*;
use std::sync::Arc;

/// A particle over the plane `z = 0`.
#[derive(Debug)]
pub(crate) struct Floor(pub(crate) NodeId, pub(crate) ContactLaw);

impl ContactFinder for Floor {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }

    fn find(&mut self, m: &Model, s: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let x = m.positions(s, self.0);
        let contact = Contact {
            key: ContactKey(0, 0),
            point: [x[0], x[1], 0.0],
            normal: [0.0, 0.0, 1.0],
            gap: x[2],
            law: self.1,
            sides: [0, 1],
        };
        out.push(contact, [], [on_point(self.0)]);
        Ok(())
    }
}

/// The first point of a node, which a contact acts on.
pub(crate) fn on_point(node: NodeId) -> Support {
    Support {
        node,
        element: 0,
        weight: 1.0,
        arm: [0.0; 3],
    }
}

/// Deterministic numbers between -1 and 1.
pub(crate) fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut s = seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..16).for_each(|_| {
        next();
    });
    (0..count).map(|_| next()).collect()
}

/// A symmetric positive-definite matrix, rows first.
pub(crate) fn definite(seed: u64, n: usize, diagonal: f64) -> Vec<f64> {
    let a = numbers(seed, n * n);
    let mut out = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            out[i * n + j] = (0..n).map(|k| a[i * n + k] * a[j * n + k]).sum::<f64>();
        }
        out[i * n + i] += diagonal;
    }
    out
}

/// Solves `A X = B` of `columns` right-hand sides by Gauss elimination with partial pivoting.
pub(crate) fn solve(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let columns = b.len() / n;
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    for p in 0..n {
        let pivot = (p..n)
            .max_by(|i, j| a[i * n + p].abs().total_cmp(&a[j * n + p].abs()))
            .unwrap();
        (0..n).for_each(|k| a.swap(p * n + k, pivot * n + k));
        (0..columns).for_each(|k| b.swap(p * columns + k, pivot * columns + k));
        for i in p + 1..n {
            let factor = a[i * n + p] / a[p * n + p];
            (p..n).for_each(|k| a[i * n + k] -= factor * a[p * n + k]);
            (0..columns).for_each(|k| b[i * columns + k] -= factor * b[p * columns + k]);
        }
    }
    for p in (0..n).rev() {
        for c in 0..columns {
            let sum: f64 = (p + 1..n).map(|k| a[p * n + k] * b[k * columns + c]).sum();
            b[p * columns + c] = (b[p * columns + c] - sum) / a[p * n + p];
        }
    }
    b
}

/// `A B` of square matrices.
pub(crate) fn product(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let at = |k: usize| (0..n).map(|l| a[k / n * n + l] * b[l * n + k % n]).sum();
    (0..n * n).map(at).collect()
}

/// Largest difference, relative to the largest number (or to one, if that is larger).
pub(crate) fn worst(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = a.iter().fold(1.0f64, |s, x| s.max(x.abs()));
    let found = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    found.fold(0.0, |s, x| if x.is_nan() { f64::INFINITY } else { s.max(x) }) / size
}

/// Positions, velocities and multipliers after some steps.
pub(crate) fn run(model: Model, options: Options, h: f64, steps: usize) -> (Vec<f64>, Vec<f64>) {
    let mut s = Simulation::with_options(model, options).unwrap();
    for _ in 0..steps {
        s.step(h).unwrap();
    }
    let state = s.state();
    (
        state.positions.iter().chain(&state.velocities).copied().collect(),
        s.multipliers().to_vec(),
    )
}

/// The theta method with these weights.
pub(crate) fn weighted(alpha: f64, beta: f64) -> Options {
    Options {
        alpha,
        beta,
        ..Options::theta()
    }
}

/// A method, with both weights of this size if it has any.
pub(crate) fn of_weight(integrator: Integrator, weight: f64) -> Options {
    let weights = if integrator.capabilities().weights {
        weighted(weight, weight)
    } else {
        Options::default()
    };
    Options {
        integrator,
        ..weights
    }
}

/// A simulation by the theta method, for tests of its formulas.
pub(crate) fn theta(model: impl Into<Arc<Model>>) -> Result<Simulation, Error> {
    Simulation::with_options(model, Options::theta())
}

/// Order of convergence from the errors at a step and at half of it.
pub(crate) fn order(errors: [f64; 2]) -> f64 {
    (errors[0] / errors[1]).log2()
}

pub(crate) const WEIGHTS: [(f64, f64); 5] = [(1.0, 1.0), (0.5, 0.5), (0.5, 1.0), (1.0, 0.5), (0.7, 0.6)];
