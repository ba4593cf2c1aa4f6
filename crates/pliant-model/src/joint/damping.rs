//! Damping of the compliances of joints.

use crate::validate::check_not_negative;
use crate::{Field, ModelError, UniformCompliance};

/// How a compliance of a joint is damped.
///
/// **Equation.** `C lambda = -(x + d v)` with the compliance `C` and the relaxation time `d` (s):
/// `d = 2 zeta sqrt(m C)` of a damping ratio `zeta` and the mass `m` that the coordinate moves at the
/// start ([`Model::damping_ratios`](crate::Model::damping_ratios)).
///
/// **Use.** Springs of joints that shall come to rest as fast as they can (`Ratio(1)`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointDamping {
    /// By the relaxation time `d` (s).
    RelaxationTime(f64),
    /// By the ratio `zeta` (none) of critical damping.
    Ratio(f64),
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
        })
    }
}
