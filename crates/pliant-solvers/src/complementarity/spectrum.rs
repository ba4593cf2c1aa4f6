//! Largest eigenvalue of the scaled operator.

use super::Problem;

/// `D^-1` of the blocks' scales, one number per row.
pub(crate) fn inverse_scales(problem: &Problem, out: &mut Vec<f64>) {
    out.clear();
    for k in 0..problem.blocks() {
        let s = 1.0 / problem.scale(k);
        out.extend(problem.rows(k).map(|_| s));
    }
}

/// Estimate from below of the largest eigenvalue of `D^-1/2 A D^-1/2`, by 20 steps of the power
/// method on `D^-1 A` from a fixed start. At least 1e-3.
pub(crate) fn largest_eigenvalue(
    problem: &Problem,
    inverse: &[f64],
    x: &mut Vec<f64>,
    y: &mut Vec<f64>,
) -> f64 {
    let m = problem.size();
    x.clear();
    // No symmetry of a scene is orthogonal to these numbers.
    x.extend((0..m).map(|i| 1.0 + 0.5 * ((i as f64) * 0.754_877_666).fract()));
    y.clear();
    y.resize(m, 0.0);
    let mut value = 0.0f64;
    for _ in 0..20 {
        let size = x.iter().zip(inverse).map(|(x, d)| x * x / d).sum::<f64>().sqrt();
        if size == 0.0 || !size.is_finite() {
            break;
        }
        for x in x.iter_mut() {
            *x /= size;
        }
        problem.delassus().rows_times(0..m, x, y);
        let quotient: f64 = x.iter().zip(y.iter()).map(|(x, y)| x * y).sum();
        value = value.max(quotient);
        for i in 0..m {
            x[i] = y[i] * inverse[i];
        }
    }
    if value.is_finite() { value.max(1e-3) } else { 1.0 }
}

/// `r <- P_K(r - step D^-1 g)` block by block.
pub(crate) fn projected_step(problem: &Problem, r: &mut [f64], g: &[f64], inverse: &[f64], step: f64) {
    for i in 0..r.len() {
        r[i] -= step * inverse[i] * g[i];
    }
    problem.project(r);
}

/// Adds De Saxcé's shift `mu |u_t|` to the normal velocities.
pub(crate) fn add_shift(problem: &Problem, u: &mut [f64]) {
    for (k, cone) in problem.cones().iter().enumerate() {
        let rows = problem.rows(k);
        let shift = cone.shift(&u[rows.clone()]);
        u[rows.start] += shift;
    }
}
