//! The curves of Thelen (2003), with his numbers for young adults.

use super::super::muscle::erf;
use std::f64::consts::PI;

/// Width of the active force-length curve.
const WIDTH: f64 = 0.45;
/// Shape of the passive curve, and the strain at which it is 1.
const PASSIVE: (f64, f64) = (5.0, 0.6);
/// Shape of the force-velocity curve.
const SHAPE: f64 = 0.25;
/// Largest force of an active fibre that is stretched.
const STRETCHED: f64 = 1.4;
/// Share of that beyond which the curve goes on straight.
const STRAIGHT: f64 = 0.95;
/// Shape of the toe of the tendon, and the force at its end.
const TOE: (f64, f64) = (3.0, 0.33);

/// Active force over the fibre length.
pub(super) fn active(n: f64) -> (f64, f64) {
    let s = n - 1.0;
    let value = (-s * s / WIDTH).exp();
    (value, -2.0 * s / WIDTH * value)
}

/// Its integral from length zero.
pub(super) fn active_energy(n: f64) -> f64 {
    let to = |s: f64| erf(s / WIDTH.sqrt());
    0.5 * (WIDTH * PI).sqrt() * (to(n - 1.0) - to(-1.0))
}

/// Passive force over the fibre length.
pub(super) fn passive(n: f64) -> (f64, f64) {
    let (shape, strain) = PASSIVE;
    let s = n - 1.0;
    if s <= 0.0 {
        return (0.0, 0.0);
    }
    let (rate, scale) = (shape / strain, shape.exp_m1());
    ((rate * s).exp_m1() / scale, rate * (rate * s).exp() / scale)
}

/// Its integral from optimal length.
pub(super) fn passive_energy(n: f64) -> f64 {
    let (shape, strain) = PASSIVE;
    let s = (n - 1.0).max(0.0);
    let rate = shape / strain;
    ((rate * s).exp_m1() / rate - s) / shape.exp_m1()
}

/// The end of the toe, as a share of the strain at which the tendon has the largest isometric
/// force. Thelen gives it rounded, .609; this is where the slopes of both parts are the same.
fn toe_end() -> f64 {
    let (shape, force) = TOE;
    let toe = force * shape * shape.exp();
    toe / (toe + (1.0 - force) * shape.exp_m1())
}

/// Force of the tendon over its strain, as a share of that at the largest isometric force.
pub(super) fn tendon(x: f64) -> (f64, f64) {
    let ((shape, force), end) = (TOE, toe_end());
    if x <= 0.0 {
        return (0.0, 0.0);
    }
    if x < end {
        let (rate, scale) = (shape / end, force / shape.exp_m1());
        return (scale * (rate * x).exp_m1(), scale * rate * (rate * x).exp());
    }
    let slope = (1.0 - force) / (1.0 - end);
    (force + slope * (x - end), slope)
}

/// Its integral.
pub(super) fn tendon_energy(x: f64) -> f64 {
    let ((shape, force), end) = (TOE, toe_end());
    let (rate, scale) = (shape / end, force / shape.exp_m1());
    let toe = x.clamp(0.0, end);
    let straight = (x - end).max(0.0);
    let slope = (1.0 - force) / (1.0 - end);
    scale * ((rate * toe).exp_m1() / rate - toe) + (force + 0.5 * slope * straight) * straight
}

/// Force over the velocity `u`, as a share of the largest speed of shortening, which falls with the
/// activation to a quarter.
pub(super) fn velocity(u: f64, activation: f64) -> (f64, f64) {
    let speed = 0.25 + 0.75 * activation;
    let (value, slope) = of_speed(u / speed);
    (value, slope / speed)
}

fn of_speed(u: f64) -> (f64, f64) {
    if u <= -1.0 {
        // On along the tangent, where a fibre faster than this pushes.
        let slope = 1.0 / (1.0 + 1.0 / SHAPE);
        return (slope * (u + 1.0), slope);
    }
    if u <= 0.0 {
        let d = 1.0 - u / SHAPE;
        return ((1.0 + u) / d, (1.0 + 1.0 / SHAPE) / (d * d));
    }
    let (rate, rise) = (2.0 + 2.0 / SHAPE, STRETCHED - 1.0);
    let branch = |u: f64| {
        let d = rise + rate * u;
        (1.0 + rise * rate * u / d, rate * (rise / d) * (rise / d))
    };
    let last = rise * (STRAIGHT * STRETCHED - 1.0) / ((1.0 - STRAIGHT) * STRETCHED * rate);
    if u <= last {
        return branch(u);
    }
    let (value, slope) = branch(last);
    (value + slope * (u - last), slope)
}
