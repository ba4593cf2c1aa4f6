//! A line whose beginning is bent: the toe of ligaments.

/// The integral from zero, the value and the slope at `x` of `x^2/(2 t)` up to `t` and `x - t/2`
/// beyond it, for `x` and `t` of zero or more. The slope rises from 0 to 1 over the toe `t`.
pub(super) fn toe(x: f64, t: f64) -> [f64; 3] {
    if x < t {
        [x * x * x / (6.0 * t), 0.5 * x * x / t, x / t]
    } else {
        [0.5 * x * (x - t) + t * t / 6.0, x - 0.5 * t, 1.0]
    }
}
