//! A muscle along its line: Hill's model without tendon.

use crate::validate::{check_bound, check_not_negative, check_one_or_each, check_positive, check_space};
use crate::{At, Blocks, Field, ForceField, ModelError, NotInvertible, Space};
use std::f64::consts::PI;

/// Width `w` of the active force-length curve (Thelen 2003).
const WIDTH: f64 = 0.45;
/// Shape `A` of the force-velocity curve (Thelen 2003).
const SHAPE: f64 = 0.25;
/// Largest force of an active muscle that is stretched, in `f_max` (Thelen 2003, young adults).
const STRETCHED: f64 = 1.4;
/// Shape `k` of the passive curve (Thelen 2003).
const PASSIVE_SHAPE: f64 = 5.0;
/// Strain `e` at which the passive force is `f_max` (Thelen 2003, young adults).
const PASSIVE_STRAIN: f64 = 0.6;

/// A muscle without tendon along its line, on its full length `l` (m): a
/// [`Distance`](crate::Distance) without rest length.
///
/// **Equation.** `f = -f_max (a F_L F_V + F_P) - b v`, with `s = l/l_opt - 1`,
/// `u = v/(l_opt v_max)` and `v` positive when it lengthens: active force-length
/// `F_L = exp(-s^2/w)`; passive, for `s > 0`, `F_P = (e^y - 1 - y)/(e^k - 1 - k)` with `y = k s/e`;
/// force-velocity `F_V = (1 + u)/(1 - u/A)` for `u <= 0` (Hill's hyperbola) and
/// `1 + (F - 1) u/(u + c)` for `u > 0`, with `c = (F - 1)/(1 + 1/A)` so that the slope is
/// continuous. `w = 0.45`, `A = 0.25`, `F = 1.4`, `k = 5`, `e = 0.6` are those of Thelen (2003),
/// after Zajac (1989); other than there the passive curve starts with slope zero and the
/// lengthening branch with the slope of the hyperbola. Faster than `v_max` the hyperbola goes on:
/// the active part then pushes, by at most `A f_max`. The energy is that of `f` at `v = 0`; what
/// `F_V` takes away is dissipated, so that `B = -df/dv >= 0`. `K = -df/dl` at `v = 0`, and is
/// negative where the active force falls with length. The activations `a` are its inputs.
///
/// **Use.** Skeletal muscle and pneumatic or artificial ones of the same shape.
#[derive(Clone, Debug, PartialEq)]
pub struct AxialMuscle {
    force: f64,
    length: f64,
    speed: f64,
    damping: f64,
    activations: Vec<f64>,
}

impl AxialMuscle {
    /// Largest isometric force `f_max` (N), optimal length `l_opt` (m) and largest speed of
    /// shortening `v_max` (optimal lengths per second; 10 is common); all positive. Activations
    /// zero.
    pub fn new(force: f64, optimal_length: f64, speed: f64) -> Self {
        Self {
            force,
            length: optimal_length,
            speed,
            damping: 0.0,
            activations: vec![0.0],
        }
    }

    /// Sets the activations `a` (none), between 0 and 1: one for each element of the node, or one
    /// for all. Set outside that range while the model is simulated, the model refuses it; the
    /// formula itself does not clamp.
    #[must_use]
    pub fn with_activations(mut self, activations: &[f64]) -> Self {
        self.activations = activations.to_vec();
        self
    }

    /// Adds viscous damping `b` (N s/m), zero or more.
    #[must_use]
    pub fn with_damping(mut self, b: f64) -> Self {
        self.damping = b;
        self
    }

    fn strain(&self, l: f64) -> f64 {
        l / self.length - 1.0
    }

    fn rate(&self, v: f64) -> f64 {
        v / (self.length * self.speed)
    }
}

/// Checks that activations are between 0 and 1; `name` is for errors.
pub(super) fn check_activations(name: &str, activations: &[f64]) -> Result<(), ModelError> {
    activations.iter().enumerate().try_for_each(|(k, a)| {
        let fits = (0.0..=1.0).contains(a);
        check_bound(name, Field::Activations, *a, "between 0 and 1", fits)
            .map_err(|e| e.at(k, activations.len()))
    })
}

/// The activation of an element.
pub(super) fn activation(inputs: &[f64], e: usize) -> f64 {
    match inputs {
        [one] => *one,
        list => list[e],
    }
}

/// `F_L` and its slope.
fn active(s: f64) -> (f64, f64) {
    let value = (-s * s / WIDTH).exp();
    (value, -2.0 * s / WIDTH * value)
}

/// The integral of `F_P` from optimal length, `F_P` itself and its slope.
fn passive(s: f64) -> (f64, f64, f64) {
    if s <= 0.0 {
        return (0.0, 0.0, 0.0);
    }
    let rate = PASSIVE_SHAPE / PASSIVE_STRAIN;
    let y = rate * s;
    let scale = (PASSIVE_SHAPE.exp_m1() - PASSIVE_SHAPE).recip();
    // Small y: the differences of the exponential and its first terms cancel.
    let (second, third) = if y < 0.1 {
        let mut term = y * y / 2.0;
        let (mut second, mut third) = (term, 0.0);
        for n in 3..14 {
            term *= y / f64::from(n);
            second += term;
            third += term;
        }
        (second, third)
    } else {
        (y.exp_m1() - y, y.exp_m1() - y - 0.5 * y * y)
    };
    (scale * third / rate, scale * second, scale * rate * y.exp_m1())
}

/// `F_V` and its slope.
fn force_velocity(u: f64) -> (f64, f64) {
    if u <= 0.0 {
        let d = 1.0 - u / SHAPE;
        ((1.0 + u) / d, (1.0 + 1.0 / SHAPE) / (d * d))
    } else {
        let c = (STRETCHED - 1.0) / (1.0 + 1.0 / SHAPE);
        let d = u + c;
        (1.0 + (STRETCHED - 1.0) * u / d, (STRETCHED - 1.0) * (c / d) / d)
    }
}

/// The error function, by its series of positive terms (Abramowitz and Stegun 7.1.6).
pub(super) fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    // Beyond n = x^2 the terms fall; 200 of them are ample up to x = 6.
    for n in 1..200 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
        if sum + term == sum {
            break;
        }
    }
    2.0 / PI.sqrt() * (-x * x).exp() * sum
}

impl ForceField for AxialMuscle {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_space(name, "scalars (lengths)", space, space == Space::Real(1))?;
        check_positive(name, Field::LargestForce, self.force)?;
        check_positive(name, Field::OptimalLength, self.length)?;
        check_positive(name, Field::LargestSpeed, self.speed)?;
        check_not_negative(name, Field::Damping, self.damping)?;
        let found = self.activations.len();
        check_one_or_each(name, Field::Activations, "activations", count, found)
    }

    fn energy(&self, At { x, inputs, .. }: At<'_>) -> f64 {
        let of = |(e, l): (usize, &f64)| {
            let s = self.strain(*l);
            let active = 0.5 * (WIDTH * PI).sqrt() * erf(s / WIDTH.sqrt());
            activation(inputs, e) * active + passive(s).0
        };
        self.force * self.length * x.iter().enumerate().map(of).sum::<f64>()
    }

    fn add_force(&self, At { x, v, inputs, .. }: At<'_>, f: &mut [f64]) {
        for (e, f) in f.iter_mut().enumerate() {
            let s = self.strain(x[e]);
            let contraction = activation(inputs, e) * active(s).0 * force_velocity(self.rate(v[e])).0;
            *f -= self.force * (contraction + passive(s).1) + self.damping * v[e];
        }
    }

    fn stiffness(&self, At { x, inputs, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        out.set_diagonal(|e| {
            let s = self.strain(x[e]);
            self.force / self.length * (activation(inputs, e) * active(s).1 + passive(s).2)
        });
        Ok(())
    }

    fn damping(&self, At { x, v, inputs, .. }: At<'_>, out: &mut Blocks) {
        out.set_diagonal(|e| {
            let slope = force_velocity(self.rate(v[e])).1 * self.rate(1.0);
            self.force * activation(inputs, e) * active(self.strain(x[e])).0 * slope + self.damping
        });
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn inputs(&self) -> &[f64] {
        &self.activations
    }

    fn check_inputs(&self, name: &str, inputs: &[f64]) -> Result<(), ModelError> {
        check_activations(name, inputs)
    }
}
