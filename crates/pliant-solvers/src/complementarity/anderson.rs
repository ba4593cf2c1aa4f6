//! Anderson's acceleration of a fixed-point iteration.

/// Most columns that are kept.
pub(crate) const DEEPEST: usize = 20;
/// A column counts only if this share of its square is not in the span of the newer ones.
const DEPENDENT: f64 = 1e-12;
/// Growth of the residual after which an extrapolation is taken back.
const GROWTH: f64 = 2.0;

/// Extrapolates `x <- G(x)` from the last few steps (Anderson 1965; Walker and Ni 2011): with
/// `f = G(x) - x` and the changes `dF`, `dG` of `f` and `G` over the steps, the next `x` is
/// `G(x) - dG gamma`, where `gamma` minimises `|f - dF gamma|`. An `x` whose residual is more than
/// twice that of the last one taken is given back for the plain step before it. Cost `O(m depth)`
/// per step; nothing is allocated after the first use of a size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Anderson {
    df: Vec<Vec<f64>>,
    dg: Vec<Vec<f64>>,
    f: Vec<f64>,
    last_f: Vec<f64>,
    last_g: Vec<f64>,
    /// Columns in use, and steps since the start or the last fall.
    count: usize,
    steps: usize,
    /// Square of the last residual that was taken.
    level: f64,
    /// Whether `x` was extrapolated.
    bold: bool,
}

impl Anderson {
    /// Forgets all steps.
    pub(crate) fn start(&mut self, size: usize, depth: usize) {
        for columns in [&mut self.df, &mut self.dg] {
            columns.resize(depth.min(DEEPEST), Vec::new());
            columns.iter_mut().for_each(|c| c.resize(size, 0.0));
        }
        for v in [&mut self.f, &mut self.last_f, &mut self.last_g] {
            v.clear();
            v.resize(size, 0.0);
        }
        (self.count, self.steps, self.level, self.bold) = (0, 0, f64::INFINITY, false);
    }

    /// Replaces `x` by the next one, where `g = G(x)`; lengths are measured with positive weights.
    /// False if it went back.
    pub(crate) fn step(&mut self, x: &mut [f64], g: &[f64], weights: &[f64]) -> bool {
        let dot = |a: &[f64], b: &[f64]| -> f64 { (0..a.len()).map(|i| weights[i] * a[i] * b[i]).sum() };
        for ((f, g), x) in self.f.iter_mut().zip(g).zip(x.iter()) {
            *f = g - x;
        }
        let level = dot(&self.f, &self.f);
        // NaN is no progress either.
        if self.bold && (level.is_nan() || level > GROWTH * GROWTH * self.level) {
            x.copy_from_slice(&self.last_g);
            (self.count, self.steps, self.bold) = (0, 0, false);
            return false;
        }
        self.level = level;
        let depth = self.df.len();
        if self.steps > 0 && depth > 0 {
            let at = (self.steps - 1) % depth;
            for i in 0..g.len() {
                self.df[at][i] = self.f[i] - self.last_f[i];
                self.dg[at][i] = g[i] - self.last_g[i];
            }
            self.count = (self.count + 1).min(depth);
        }
        self.steps += 1;
        self.last_f.copy_from_slice(&self.f);
        self.last_g.copy_from_slice(g);
        x.copy_from_slice(g);
        // Cholesky of the normal equations, the newest column first.
        let column = |k: usize| (self.steps - 2 - k) % depth;
        let mut l = [[0.0; DEEPEST]; DEEPEST];
        let mut gamma = [0.0; DEEPEST];
        for i in 0..self.count {
            let own = &self.df[column(i)];
            for k in 0..i {
                let known: f64 = (0..k).map(|p| l[i][p] * l[k][p]).sum();
                l[i][k] = if l[k][k] > 0.0 {
                    (dot(own, &self.df[column(k)]) - known) / l[k][k]
                } else {
                    0.0
                };
            }
            let square = dot(own, own);
            let rest = square - l[i][..i].iter().map(|x| x * x).sum::<f64>();
            if rest > DEPENDENT * square {
                l[i][i] = rest.sqrt();
                let known: f64 = (0..i).map(|p| l[i][p] * gamma[p]).sum();
                gamma[i] = (dot(own, &self.f) - known) / l[i][i];
            }
        }
        for i in (0..self.count).rev().filter(|i| l[*i][*i] > 0.0) {
            let known: f64 = (i + 1..self.count).map(|p| l[p][i] * gamma[p]).sum();
            gamma[i] = (gamma[i] - known) / l[i][i];
        }
        let usable = gamma[..self.count].iter().all(|x| x.is_finite());
        self.bold = usable && self.count > 0;
        if usable {
            for (k, gamma) in gamma[..self.count].iter().enumerate() {
                for (x, d) in x.iter_mut().zip(&self.dg[column(k)]) {
                    *x -= gamma * d;
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `G(x) = B x + c` with a spectral radius of 0.97, and the solution.
    fn map(x: &[f64]) -> [f64; 3] {
        let b = [[0.9, 0.1, 0.0], [0.1, 0.8, -0.1], [0.0, -0.1, 0.5]];
        let exact = [1.0, -2.0, 3.0];
        std::array::from_fn(|i| exact[i] + (0..3).map(|k| b[i][k] * (x[k] - exact[k])).sum::<f64>())
    }

    #[test]
    fn a_linear_map_takes_as_many_steps_as_unknowns() {
        for depth in [0, 3, 5] {
            let (mut anderson, mut x) = (Anderson::default(), [0.0; 3]);
            anderson.start(3, depth);
            for _ in 0..5 {
                let g = map(&x);
                assert!(anderson.step(&mut x, &g, &[1.0, 2.0, 0.5]));
            }
            let miss = (0..3)
                .map(|k| (x[k] - [1.0, -2.0, 3.0][k]).abs())
                .fold(0.0, f64::max);
            assert_eq!(miss < 1e-9, depth > 0, "{depth} {miss}");
        }
    }

    #[test]
    fn an_extrapolation_that_is_worse_is_taken_back() {
        let (mut anderson, mut x) = (Anderson::default(), [4.0]);
        anderson.start(1, 1);
        assert!(anderson.step(&mut x, &[3.0], &[1.0]));
        assert!(anderson.step(&mut x, &[2.5], &[1.0]));
        // Half the step, twice the distance: x = 2.5 - (-0.5)/( 0.5) (-0.5) = 2.
        assert_eq!(x, [2.0]);
        assert!(!anderson.step(&mut x, &[7.0], &[1.0]));
        assert_eq!(x, [2.5]);
    }
}
