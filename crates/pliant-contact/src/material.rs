//! Materials of surfaces, and of pairs of them.

use crate::error::not_negative;
use crate::{ContactError, Direction, FrictionModel};

/// The surface of a collider, and also what two surfaces make together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Coefficient of Coulomb friction (none), zero or more.
    pub friction: f64,
    /// How friction depends on the direction.
    pub friction_model: FrictionModel,
    /// The first direction of friction; without one, any on the surface.
    pub direction: Option<Direction>,
    /// Coefficient of restitution (none), from 0 to 1.
    pub restitution: f64,
    /// Compliance of the contact along its normal (m/N), zero for a hard one.
    pub compliance: f64,
    /// Compliance of an elastic foundation (m/Pa): depth per pressure of the points of a mesh of
    /// triangles, each over its share of the area; the thickness of a layer over its modulus. In
    /// series with `compliance`; none if zero.
    pub foundation: f64,
    /// Relaxation time of a compliant contact (s).
    pub relaxation_time: f64,
    /// Hunt and Crossley's dissipation of a compliant contact (s/m): its relaxation time grows by
    /// this times the overlap.
    pub dissipation: f64,
    /// Viscous friction (N s/m per point of contact): a drag along the surfaces in proportion to
    /// the slip, beside Coulomb's friction, while they touch.
    pub viscous_friction: f64,
    /// Friction against spin about the normal: torque per normal force (m).
    pub torsional_friction: f64,
    /// Friction against rolling: torque per normal force (m).
    pub rolling_friction: f64,
}

impl Default for Material {
    /// Hard, friction 0.5, no restitution.
    fn default() -> Self {
        Self {
            friction: 0.5,
            friction_model: FrictionModel::Cone,
            direction: None,
            restitution: 0.0,
            compliance: 0.0,
            foundation: 0.0,
            relaxation_time: 0.0,
            dissipation: 0.0,
            viscous_friction: 0.0,
            torsional_friction: 0.0,
            rolling_friction: 0.0,
        }
    }
}

/// How the coefficients of friction of two materials make one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "friction_rule")
)]
pub enum FrictionRule {
    /// `sqrt(a b)`: what is smooth against anything is smooth, and a pair of equals has their
    /// coefficient.
    #[default]
    GeometricMean,
    /// `min(a, b)`.
    Minimum,
    /// `max(a, b)`.
    Maximum,
    /// `a b`.
    Product,
    /// `(a + b) / 2`.
    Mean,
}

impl Material {
    /// Hard, with these coefficients of friction and of restitution (none).
    pub fn hard(friction: f64, restitution: f64) -> Self {
        Self {
            friction,
            restitution,
            ..Self::default()
        }
    }

    /// Whether the directions of a pair are those of this one and not of the other.
    pub(crate) fn leads(&self, other: &Self) -> bool {
        self.friction_model.rank() >= other.friction_model.rank()
    }

    /// Checks the ranges.
    pub(crate) fn check(self) -> Result<Self, ContactError> {
        not_negative("the friction of a material", self.friction)?;
        self.friction_model.check(self.friction)?;
        self.direction.map_or(Ok(()), |d| d.check())?;
        not_negative("the compliance of a material", self.compliance)?;
        not_negative("the foundation of a material", self.foundation)?;
        not_negative("the relaxation time of a material", self.relaxation_time)?;
        not_negative("the dissipation of a material", self.dissipation)?;
        not_negative("the viscous friction of a material", self.viscous_friction)?;
        not_negative("the torsional friction of a material", self.torsional_friction)?;
        not_negative("the rolling friction of a material", self.rolling_friction)?;
        if not_negative("the restitution of a material", self.restitution)? > 1.0 {
            let (what, bound) = ("the restitution of a material", "between 0 and 1");
            return Err(ContactError::OutOfRange {
                what,
                value: self.restitution,
                bound,
            });
        }
        Ok(self)
    }

    /// The material of a pair of surfaces: friction by the rule, along and across, in the model and
    /// the direction of the one that has an ellipse, else a pyramid, of this one if both have; the
    /// greater restitution; the sums of the compliances and of the foundations (springs in series);
    /// the greatest of the rest.
    pub fn with(&self, other: &Self, rule: FrictionRule) -> Self {
        let combine = |a: f64, b: f64| match rule {
            FrictionRule::GeometricMean => (a * b).sqrt(),
            FrictionRule::Minimum => a.min(b),
            FrictionRule::Maximum => a.max(b),
            FrictionRule::Product => a * b,
            FrictionRule::Mean => (a + b) / 2.0,
        };
        let across = |m: &Self| m.friction_model.across(m.friction);
        let leader = if self.leads(other) { self } else { other };
        Self {
            friction: combine(self.friction, other.friction),
            friction_model: match leader.friction_model {
                FrictionModel::Ellipse { .. } => FrictionModel::Ellipse {
                    across: combine(across(self), across(other)),
                },
                model => model,
            },
            direction: leader.direction,
            restitution: self.restitution.max(other.restitution),
            compliance: self.compliance + other.compliance,
            foundation: self.foundation + other.foundation,
            relaxation_time: self.relaxation_time.max(other.relaxation_time),
            dissipation: self.dissipation.max(other.dissipation),
            viscous_friction: self.viscous_friction.max(other.viscous_friction),
            torsional_friction: self.torsional_friction.max(other.torsional_friction),
            rolling_friction: self.rolling_friction.max(other.rolling_friction),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hard_material_has_two_numbers() {
        let made = Material::hard(0.3, 0.7);
        assert_eq!((made.friction, made.restitution), (0.3, 0.7));
        assert_eq!(made.with(&made, FrictionRule::Mean), made);
        assert_eq!(Material::hard(0.5, 0.0), Material::default());
        assert!(Material::hard(-0.1, 0.0).check().is_err() && Material::hard(0.0, 1.1).check().is_err());
    }

    #[test]
    fn pairs_follow_the_stated_rules() {
        let a = Material {
            friction: 0.9,
            friction_model: FrictionModel::Ellipse { across: 0.1 },
            direction: Some(Direction::Body([1.0, 0.0, 0.0])),
            restitution: 0.2,
            compliance: 1e-6,
            foundation: 1e-9,
            relaxation_time: 0.1,
            dissipation: 0.2,
            viscous_friction: 0.7,
            torsional_friction: 1e-3,
            rolling_friction: 0.0,
        };
        let b = Material {
            friction: 0.4,
            friction_model: FrictionModel::Pyramid {
                directions: 4,
                outer: true,
            },
            direction: None,
            restitution: 0.5,
            compliance: 2e-6,
            foundation: 3e-9,
            relaxation_time: 0.0,
            dissipation: 0.3,
            viscous_friction: 0.4,
            torsional_friction: 0.0,
            rolling_friction: 2e-3,
        };
        let expected = [
            (FrictionRule::GeometricMean, 0.6, 0.2),
            (FrictionRule::Minimum, 0.4, 0.1),
            (FrictionRule::Maximum, 0.9, 0.4),
            (FrictionRule::Product, 0.36, 0.04),
            (FrictionRule::Mean, 0.65, 0.25),
        ];
        for (rule, friction, across) in expected {
            for (x, y) in [(a, b), (b, a)] {
                let pair = x.with(&y, rule);
                assert!((pair.friction - friction).abs() < 1e-15);
                let found = pair.friction_model.across(f64::NAN);
                assert!((found - across).abs() < 1e-15, "{found} {across}");
                assert_eq!(pair.direction, a.direction);
                assert!((pair.compliance - 3e-6).abs() < 1e-20);
                assert!((pair.foundation - 4e-9).abs() < 1e-23);
                assert_eq!((pair.restitution, pair.relaxation_time), (0.5, 0.1));
                assert_eq!((pair.dissipation, pair.viscous_friction), (0.3, 0.7));
                assert_eq!((pair.torsional_friction, pair.rolling_friction), (1e-3, 2e-3));
            }
        }
    }
}
