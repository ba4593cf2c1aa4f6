//! Derivatives of single laws by central differences of high order: for those that do not give
//! them.

/// Steps of a derivative, as shares of the scale of the coordinate.
const STEPS: [f64; 6] = [4e-2, 2e-2, 1e-2, 5e-3, 2.5e-3, 1.25e-3];

/// Room for [`derivative`].
#[derive(Debug, Default)]
pub(crate) struct Differences {
    ends: [Vec<f64>; 2],
    rows: [Vec<f64>; STEPS.len()],
    error: Vec<f64>,
}

impl Differences {
    /// Writes `df/dt` at `t = 0` of a function of `out.len()` values, smooth on the scale `scale`
    /// of `t`, by central differences of shrinking steps extrapolated to zero (Ridders 1982): of
    /// each value the extrapolation that changes least, to about `1e-11` of the function. A
    /// function that is not finite at one of the steps has the others.
    pub(crate) fn derivative(&mut self, scale: f64, out: &mut [f64], mut f: impl FnMut(f64, &mut [f64])) {
        let n = out.len();
        self.error.clear();
        self.error.resize(n, f64::INFINITY);
        out.fill(f64::NAN);
        let mut first = 0;
        for k in 0..STEPS.len() {
            let step = STEPS[k] * scale;
            for (end, sign) in self.ends.iter_mut().zip([1.0, -1.0]) {
                end.clear();
                end.resize(n, 0.0);
                f(sign * step, end);
            }
            let (before, rest) = self.rows.split_at_mut(k);
            let row = &mut rest[0];
            // The tableau of one step: the difference, then its extrapolations with those before.
            row.clear();
            row.resize(n * (k + 1), 0.0);
            let [plus, minus] = &self.ends;
            for (i, (p, m)) in plus.iter().zip(minus).enumerate() {
                row[i] = (p - m) / (2.0 * step);
            }
            if row[..n].iter().any(|d| !d.is_finite()) {
                first = k + 1;
                continue;
            }
            let Some(last) = before.last().filter(|_| k > first) else {
                out.copy_from_slice(&row[..n]);
                continue;
            };
            let mut weight = 1.0;
            for order in 1..=k - first {
                weight *= 4.0;
                for i in 0..n {
                    let (finer, coarser) = (row[(order - 1) * n + i], last[(order - 1) * n + i]);
                    let better = finer + (finer - coarser) / (weight - 1.0);
                    row[order * n + i] = better;
                    let change = (better - finer).abs().max((better - coarser).abs());
                    if change <= self.error[i] {
                        self.error[i] = change;
                        out[i] = better;
                    }
                }
            }
        }
    }

    /// Writes `df/dt` at `t = 0` from the side of the sign of `scale` alone, by differences of third
    /// order, which are exact for cubics.
    pub(crate) fn one_sided(&mut self, scale: f64, out: &mut [f64], mut f: impl FnMut(f64, &mut [f64])) {
        const WEIGHTS: [f64; 4] = [-11.0 / 6.0, 3.0, -1.5, 1.0 / 3.0];
        let step = scale * STEPS[STEPS.len() - 1];
        out.fill(0.0);
        let [end, _] = &mut self.ends;
        for (k, weight) in WEIGHTS.iter().enumerate() {
            end.clear();
            end.resize(out.len(), 0.0);
            f(k as f64 * step, end);
            out.iter_mut()
                .zip(&*end)
                .for_each(|(o, e)| *o += weight / step * e);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Functions whose derivatives are known, of unit scale and of small ones, and one that ends
    /// close by.
    #[test]
    fn derivatives_are_exact_to_ten_digits() {
        let mut differences = Differences::default();
        let mut out = [0.0; 3];
        differences.derivative(1.0, &mut out, |t, y| {
            y.copy_from_slice(&[(1.0 + t).sin(), (2.0 * t).exp(), (0.05 + t).ln()]);
        });
        let expected = [1f64.cos(), 2.0, 1.0 / 0.05];
        // The last has its next singularity at the scale of the first steps.
        for ((found, expected), most) in out.iter().zip(expected).zip([1e-11, 1e-11, 1e-6]) {
            assert!((found / expected - 1.0).abs() < most, "{found} {expected}");
        }
        let mut slope = [0.0];
        for side in [1.0, -1.0] {
            differences.one_sided(side, &mut slope, |t, y| y[0] = 2.0 * t + t * t * t - 1.0);
            assert!((slope[0] - 2.0).abs() < 1e-11, "{}", slope[0]);
        }
        differences.derivative(1e-3, &mut out[..1], |t, y| y[0] = (1e3 * t).cos() + 1e3 * t);
        assert!((out[0] / 1e3 - 1.0).abs() < 1e-11, "{}", out[0]);
    }
}
