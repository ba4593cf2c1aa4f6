//! Dense matrices, rows first.

use pliant_model::{Dependency, Evaluation, NodeKind, Problem};

/// `J` of the velocities of all nodes over the independent ones, composed of the local blocks.
pub(super) struct Dense {
    n: usize,
    all: usize,
    pub(super) j: Vec<f64>,
}

impl Dense {
    pub(super) fn new(m: &Problem, evaluation: &Evaluation) -> Self {
        let (n, all) = (m.dof_count(), m.velocity_count());
        let mut j = vec![0.0; all * n];
        for (index, node) in m.nodes().iter().enumerate() {
            let size = node.space.velocity_size();
            match &node.kind {
                NodeKind::Independent { first_dof, .. } => {
                    for (k, row) in node.velocity_range().enumerate() {
                        j[row * n + first_dof + k] = 1.0;
                    }
                }
                NodeKind::Mapped { parents, .. } => {
                    let repeated = evaluation.repeated(index);
                    for e in 0..node.count {
                        let mut column = 0;
                        let list = evaluation.dependencies(index, e);
                        let size_of = |at: &Dependency| m.node(parents[at.parent]).space.velocity_size();
                        let (height, wide) = match repeated {
                            None => (size, list.iter().map(size_of).sum()),
                            Some(m) => (m, list.len()),
                        };
                        let mut block = vec![0.0; height * wide];
                        assert!(evaluation.write_jacobian(m, index, e..e + 1, &mut block));
                        for (d, at) in list.iter().enumerate() {
                            let parent = m.node(parents[at.parent]);
                            let width = parent.space.velocity_size();
                            for i in 0..size {
                                for k in 0..width {
                                    let a = match repeated {
                                        None => block[i * wide + column + k],
                                        Some(m) if i / m == k => block[i % m * wide + d],
                                        Some(_) => 0.0,
                                    };
                                    let from = parent.first_velocity + at.element * width + k;
                                    for dof in 0..n {
                                        j[(node.first_velocity + e * size + i) * n + dof] +=
                                            a * j[from * n + dof];
                                    }
                                }
                            }
                            column += width;
                        }
                    }
                }
            }
        }
        Self { n, all, j }
    }

    /// `J^T A J`.
    pub(super) fn congruence(&self, a: &[f64]) -> Vec<f64> {
        let (n, all) = (self.n, self.all);
        let mut aj = vec![0.0; all * n];
        for i in 0..all {
            for k in (0..all).filter(|k| a[i * all + k] != 0.0) {
                for dof in 0..n {
                    aj[i * n + dof] += a[i * all + k] * self.j[k * n + dof];
                }
            }
        }
        let mut out = vec![0.0; n * n];
        for i in 0..all {
            for r in 0..n {
                for c in 0..n {
                    out[r * n + c] += self.j[i * n + r] * aj[i * n + c];
                }
            }
        }
        out
    }

    /// `J^T f`.
    pub(super) fn transposed(&self, f: &[f64]) -> Vec<f64> {
        (0..self.n)
            .map(|dof| (0..self.all).map(|i| self.j[i * self.n + dof] * f[i]).sum())
            .collect()
    }
}

/// `A B`.
pub(super) fn product(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..n * n)
        .map(|k| (0..n).map(|l| a[k / n * n + l] * b[l * n + k % n]).sum())
        .collect()
}

/// The symmetric part.
pub(super) fn symmetric(n: usize, a: &[f64]) -> Vec<f64> {
    (0..n * n).map(|k| 0.5 * (a[k] + a[k % n * n + k / n])).collect()
}

/// `A^-1 B` by Gauss and Jordan, with partial pivoting.
pub(super) fn solve(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let columns = b.len() / n;
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    for p in 0..n {
        let pivot = (p..n)
            .max_by(|i, j| a[i * n + p].abs().total_cmp(&a[j * n + p].abs()))
            .unwrap();
        (0..n).for_each(|k| a.swap(p * n + k, pivot * n + k));
        (0..columns).for_each(|k| b.swap(p * columns + k, pivot * columns + k));
        let scale = a[p * n + p];
        (0..n).for_each(|k| a[p * n + k] /= scale);
        (0..columns).for_each(|k| b[p * columns + k] /= scale);
        for i in (0..n).filter(|i| *i != p) {
            let factor = a[i * n + p];
            (0..n).for_each(|k| a[i * n + k] -= factor * a[p * n + k]);
            (0..columns).for_each(|k| b[i * columns + k] -= factor * b[p * columns + k]);
        }
    }
    b
}

/// Asserts that two lists agree within `tolerance` of their largest entry.
pub(super) fn close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(
            (a - b).abs() <= tolerance * size,
            "{what}, entry {k}: {a} instead of {b}, off by {:e} of {size:e}",
            a - b
        );
    }
}
