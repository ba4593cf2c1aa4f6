//! Coordinates that are connected, and the largest force among them.

use super::workspace::Metric;
use pliant_solvers::KktSystem;

/// For each free coordinate, the largest of the `terms` of all those that rows and stiffnesses
/// connect it with, as the size of a force on itself (N, N m): a torque counts as a force at the
/// length of the model. Zero at fixed coordinates, which connect nothing.
///
/// Forces that hang together come out of one linear solve, whose rounding is that of the largest:
/// the forces in a part of a rod that carries nothing are rounding of those in the part that does.
/// Cost `O(nnz)`, nearly.
pub(crate) fn largest_forces(system: &KktSystem, metric: &Metric, terms: &[f64]) -> Vec<f64> {
    let mut parts = Parts::new(system.n());
    for i in 0..system.n() {
        parts.join(system, system.w.pattern().row(i));
    }
    for row in 0..system.m() {
        parts.join(system, system.j.pattern().row(row));
    }
    let free = |i: &usize| !system.fixed[*i];
    let mut largest = vec![0.0f64; system.n()];
    for i in (0..system.n()).filter(free) {
        let part = parts.of(i);
        largest[part] = largest[part].max(terms[i] / metric.inverse_length[i]);
    }
    let mut out = vec![0.0; system.n()];
    for i in (0..system.n()).filter(free) {
        out[i] = largest[parts.of(i)] * metric.inverse_length[i];
    }
    out
}

/// A forest in which every tree is a part.
#[derive(Debug)]
struct Parts {
    above: Vec<usize>,
}

impl Parts {
    /// All alone.
    fn new(n: usize) -> Self {
        Self {
            above: (0..n).collect(),
        }
    }

    /// The coordinate that stands for the part of `i`.
    fn of(&mut self, mut i: usize) -> usize {
        while self.above[i] != i {
            self.above[i] = self.above[self.above[i]];
            i = self.above[i];
        }
        i
    }

    /// Makes one part of those of all free coordinates of an equation.
    fn join(&mut self, system: &KktSystem, coordinates: &[u32]) {
        let free = coordinates.iter().map(|k| *k as usize);
        let mut free = free.filter(|k| !system.fixed[*k]);
        let Some(first) = free.next() else { return };
        for k in free {
            let (a, b) = (self.of(first), self.of(k));
            // The lowest stands for all.
            self.above[a.max(b)] = a.min(b);
        }
    }
}
