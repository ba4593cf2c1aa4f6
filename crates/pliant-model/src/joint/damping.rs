//! Damping of the compliances of joints.

use crate::validate::{check_bound, check_not_negative};
use crate::{Field, ModelError, UniformCompliance};

/// How a compliance of a joint is damped.
///
/// **Equation.** `C lambda = -(x + d v)` with the compliance `C` and the relaxation time `d` (s):
/// `d = 2 zeta sqrt(m C)` of a damping ratio `zeta` and the mass `m` that the coordinate moves at the
/// start ([`Model::damping_ratios`](crate::Model::damping_ratios)).
///
/// **Use.** Springs and limits of joints that shall come to rest as fast as they can (`Ratio(1)`), or
/// bounce by a known share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointDamping {
    /// By the relaxation time `d` (s).
    RelaxationTime(f64),
    /// By the ratio `zeta` (none) of critical damping.
    Ratio(f64),
    /// Of limits: so that a mass without other forces leaves with the share `e` (none) of the speed
    /// with which it came, more than 0 and at most 1. A limit only pushes, so that it is left where its
    /// force vanishes: `e = exp(-2 zeta acos(zeta)/sqrt(1 - zeta^2))`, for `zeta > 1` with `acosh`
    /// and `sqrt(zeta^2 - 1)`.
    Restitution(f64),
}

impl JointDamping {
    /// The law of a coordinate with this damping and a compliance (m/N, rad/(N m)); `name` is for
    /// errors.
    pub(super) fn law(self, name: &str, compliance: f64) -> Result<UniformCompliance, ModelError> {
        let law = UniformCompliance::new(compliance);
        Ok(match self {
            Self::RelaxationTime(d) => law.with_relaxation_time(d),
            Self::Ratio(ratio) => {
                check_not_negative(name, Field::DampingRatio, ratio)?;
                law.with_damping_ratio(ratio)
            }
            Self::Restitution(e) => {
                let (bound, fits) = ("more than 0 and at most 1", e > 0.0 && e <= 1.0);
                check_bound(name, Field::Restitution, e, bound, fits)?;
                law.with_damping_ratio(ratio_of_restitution(e))
            }
        })
    }
}

/// `-ln e` of a stop that only pushes, by its damping ratio.
fn loss(ratio: f64) -> f64 {
    let square = 1.0 - ratio * ratio;
    let arc = if (1.0 - ratio).abs() < 1e-5 {
        1.0 + (1.0 - ratio) / 3.0
    } else if square > 0.0 {
        ratio.acos() / square.sqrt()
    } else {
        ratio.acosh() / (-square).sqrt()
    };
    2.0 * ratio * arc
}

/// The damping ratio whose stop leaves the share `e` of the speed, by halves of an interval: the
/// loss grows with the ratio, and is `2 ln(2 zeta)` at least for `zeta > 1`.
fn ratio_of_restitution(e: f64) -> f64 {
    let wanted = -e.ln();
    let (mut low, mut high) = (0.0, 1.0f64.max((0.5 * wanted).exp()));
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if loss(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a stop with the damping ratio `zeta` a mass comes off where `x'' = 0`. Computed by small
    /// steps of its motion, with the error of their square.
    #[test]
    fn a_mass_leaves_where_nothing_pushes() {
        for ratio in [0.1f64, 0.5, 0.9, 1.0, 1.5, 3.0] {
            let (mut x, mut v, h) = (0.0f64, -1.0f64, 1e-4);
            let pull = |x: f64, v: f64| -x - 2.0 * ratio * v;
            loop {
                let (xm, vm) = (x + 0.5 * h * v, v + 0.5 * h * pull(x, v));
                (x, v) = (x + h * vm, v + h * pull(xm, vm));
                if pull(x, v) <= 0.0 {
                    break;
                }
            }
            let e = (-loss(ratio)).exp();
            assert!((v - e).abs() < 1e-6, "{ratio}: {v} {e}");
            let found = ratio_of_restitution(e);
            // The slope of the loss is finite but for its rounding near 1.
            assert!((found - ratio).abs() < 1e-5 * ratio, "{ratio} {found}");
        }
        assert!(ratio_of_restitution(1.0) < 1e-12);
    }
}
