//! A few steps of GMRES for `x + B x = b` with an operator that is nearly the identity.

/// Steps at most.
const STEPS: usize = 12;

/// The basis of Krylov's space and the Hessenberg matrix.
#[derive(Clone, Debug, Default)]
pub(super) struct Krylov {
    basis: Vec<Vec<f64>>,
    image: Vec<f64>,
}

impl Krylov {
    /// Replaces `x`, which holds `b`, by the answer, up to a residual of `tolerance |b|` or as near as a dozen steps get (Saad and Schultz 1986).
    /// `apply(x, y)` is to write `x + B x` to `y`.
    pub(super) fn solve(&mut self, x: &mut [f64], tolerance: f64, mut apply: impl FnMut(&[f64], &mut [f64])) {
        let m = x.len();
        self.basis.resize(STEPS + 1, Vec::new());
        for v in &mut self.basis {
            v.resize(m, 0.0);
        }
        self.image.resize(m, 0.0);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let start = dot(x, x).sqrt();
        if start == 0.0 || !start.is_finite() {
            return;
        }
        for (v, x) in self.basis[0].iter_mut().zip(x.iter()) {
            *v = x / start;
        }
        let mut h = [[0.0; STEPS + 1]; STEPS];
        let (mut cosine, mut sine) = ([0.0; STEPS], [0.0; STEPS]);
        let mut rhs = [0.0; STEPS + 1];
        rhs[0] = start;
        let mut count = 0;
        while count < STEPS && rhs[count].abs() > tolerance * start {
            let k = count;
            apply(&self.basis[k], &mut self.image);
            for i in 0..=k {
                h[k][i] = dot(&self.image, &self.basis[i]);
                for (w, v) in self.image.iter_mut().zip(&self.basis[i]) {
                    *w -= h[k][i] * v;
                }
            }
            let rest = dot(&self.image, &self.image).sqrt();
            for i in 0..k {
                let (a, b) = (h[k][i], h[k][i + 1]);
                h[k][i] = cosine[i] * a + sine[i] * b;
                h[k][i + 1] = cosine[i] * b - sine[i] * a;
            }
            let length = h[k][k].hypot(rest);
            if length == 0.0 || !length.is_finite() {
                break;
            }
            (cosine[k], sine[k]) = (h[k][k] / length, rest / length);
            h[k][k] = length;
            rhs[k + 1] = -sine[k] * rhs[k];
            rhs[k] *= cosine[k];
            count += 1;
            if rest == 0.0 {
                break;
            }
            for (v, w) in self.basis[k + 1].iter_mut().zip(&self.image) {
                *v = w / rest;
            }
        }
        let mut y = [0.0; STEPS];
        for k in (0..count).rev() {
            let known: f64 = (k + 1..count).map(|l| h[l][k] * y[l]).sum();
            y[k] = (rhs[k] - known) / h[k][k];
        }
        x.fill(0.0);
        for k in 0..count {
            for (x, v) in x.iter_mut().zip(&self.basis[k]) {
                *x += y[k] * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_system() {
        let a = [[1.0, 0.5, 0.0], [-0.3, 1.2, 0.1], [0.0, 0.4, 0.9]];
        let exact = [1.0, -2.0, 3.0];
        let times = |x: &[f64], y: &mut [f64]| {
            for i in 0..3 {
                y[i] = (0..3).map(|k| a[i][k] * x[k]).sum();
            }
        };
        let mut x = [0.0; 3];
        times(&exact, &mut x);
        Krylov::default().solve(&mut x, 1e-14, times);
        assert!(x.iter().zip(exact).all(|(x, e)| (x - e).abs() < 1e-13));
    }
}
