//! Anderson's acceleration of a fixed-point iteration.

/// Differences kept.
const DEPTH: usize = 8;

/// A difference that keeps less than this share of its length beside the newer ones tells nothing
/// new.
const DEPENDENT: f64 = 1e-7;

/// Mixes the iterates of `z <- g(z)` with residuals `f`: of all combinations of the last iterates
/// it takes the one with the smallest linear model of `f` (Anderson 1965; on linear problems it is
/// GMRES, Walker and Ni 2011).
#[derive(Debug, Default)]
pub(crate) struct Anderson {
    /// Differences of residuals and of `g`, the newest last.
    residuals: Vec<Vec<f64>>,
    outputs: Vec<Vec<f64>>,
    last_residual: Vec<f64>,
    last_output: Vec<f64>,
    count: usize,
    started: bool,
    work: Vec<f64>,
}

impl Anderson {
    /// Forgets the past.
    pub(crate) fn restart(&mut self) {
        self.count = 0;
        self.started = false;
    }

    /// Replaces `g` by the mixed iterate. Cost `O(depth^2 n)`.
    pub(crate) fn mix(&mut self, f: &[f64], g: &mut [f64]) {
        for (lists, size) in [(&mut self.residuals, f.len()), (&mut self.outputs, g.len())] {
            if lists.len() < DEPTH || lists[0].capacity() < size {
                lists.clear();
                lists.resize_with(DEPTH, || Vec::with_capacity(size));
            }
        }
        if self.started {
            if self.count == DEPTH {
                self.residuals.rotate_left(1);
                self.outputs.rotate_left(1);
                self.count -= 1;
            }
            difference(f, &self.last_residual, &mut self.residuals[self.count]);
            difference(g, &self.last_output, &mut self.outputs[self.count]);
            self.count += 1;
        }
        self.started = true;
        self.last_residual.clear();
        self.last_residual.extend_from_slice(f);
        self.last_output.clear();
        self.last_output.extend_from_slice(g);
        // Gram-Schmidt from the newest difference on; the outputs take part, so that each belongs
        // to its orthogonal residual.
        self.work.clear();
        self.work.extend_from_slice(f);
        for k in (0..self.count).rev() {
            let (older, newer) = self.residuals.split_at_mut(k + 1);
            let own = &mut older[k];
            let length = dot(own, own);
            let (older_outputs, newer_outputs) = self.outputs.split_at_mut(k + 1);
            for j in 0..self.count - k - 1 {
                let size = dot(&newer[j], &newer[j]);
                if size > 0.0 {
                    let share = dot(own, &newer[j]) / size;
                    subtract(share, &newer[j], own);
                    subtract(share, &newer_outputs[j], &mut older_outputs[k]);
                }
            }
            let left = dot(own, own);
            if left <= DEPENDENT * DEPENDENT * length {
                own.fill(0.0);
                continue;
            }
            let share = dot(&self.work, own) / left;
            subtract(share, own, &mut self.work);
            subtract(share, &older_outputs[k], g);
        }
    }
}

fn difference(a: &[f64], b: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend(a.iter().zip(b).map(|(a, b)| a - b));
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn subtract(s: f64, a: &[f64], from: &mut [f64]) {
    for (x, a) in from.iter_mut().zip(a) {
        *x -= s * a;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear iteration of two unknowns that diverges alone: mixed, it ends after three steps, as
    /// GMRES does.
    #[test]
    fn a_diverging_linear_iteration_ends() {
        let matrix = [[1.5, -2.0], [2.0, 0.3]];
        let right = [1.0, -2.0];
        let mut z = [0.3, 0.1];
        let mut mixer = Anderson::default();
        for _ in 0..3 {
            let mut g: [f64; 2] =
                std::array::from_fn(|i| right[i] + matrix[i][0] * z[0] + matrix[i][1] * z[1]);
            let f = [g[0] - z[0], g[1] - z[1]];
            mixer.mix(&f, &mut g);
            z = g;
        }
        // (1 - A) z = r: -0.5 x + 2 y = 1, -2 x + 0.7 y = -2.
        let exact = [(0.7 + 4.0) / (4.0 - 0.35), (1.0 + 2.0) / (4.0 - 0.35)];
        assert!((z[0] - exact[0]).abs() + (z[1] - exact[1]).abs() < 1e-13, "{z:?}");
    }
}
