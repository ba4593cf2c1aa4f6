//! Muscles and ligaments.

use super::laws::{Inputs, timed, timed_list};
use super::{Builder, Result};
use crate::quantity::Pure;
use crate::schema::{
    ForceLengthCurve, ForceLengthSpec, LigamentCurve, LigamentSpec, MuscleCurves, MuscleSpec,
    MuscleTendonSpec,
};
use crate::source::Where;
use crate::{Amount, OneOrMany};
use pliant::model::{ActivationDynamics, AxialMuscle, ForceLengthMuscle, Ligament, MuscleTendon};

pub(super) fn axial(
    builder: &Builder<'_>,
    name: &str,
    spec: &MuscleSpec,
    inputs: &mut Inputs,
) -> Result<AxialMuscle> {
    let of = |number, key| builder.number(number, Where::Field(name, key));
    let law = AxialMuscle::new(
        of(&spec.force, "force")?,
        of(&spec.optimal_length, "optimal_length")?,
        of(&spec.speed, "speed")?,
    );
    let at = Where::Field(name, "activation");
    Ok(law
        .with_damping(of(&spec.damping, "damping")?)
        .with_activations(&one_or_each(builder, &spec.activation, at, inputs)?))
}

pub(super) fn with_tendon(
    builder: &Builder<'_>,
    name: &str,
    spec: &MuscleTendonSpec,
    inputs: &mut Inputs,
) -> Result<MuscleTendon> {
    let of = |number, key| builder.number(number, Where::Field(name, key));
    let new = match spec.curves {
        MuscleCurves::Thelen2003 => MuscleTendon::thelen,
        MuscleCurves::Millard2013 => MuscleTendon::millard,
    };
    let mut law = new(
        of(&spec.force, "force")?,
        of(&spec.optimal_length, "optimal_length")?,
        of(&spec.tendon_length, "tendon_length")?,
    )
    .with_pennation(of(&spec.pennation, "pennation")?)
    .with_speed(of(&spec.speed, "speed")?);
    if let Some(damping) = &spec.damping {
        law = law.with_fibre_damping(of(damping, "damping")?);
    }
    if let Some(strain) = &spec.tendon_strain {
        law = law.with_tendon_strain(of(strain, "tendon_strain")?);
    }
    if spec.rigid_tendon {
        law = law.with_rigid_tendon();
    }
    if let Some(dynamics) = &spec.dynamics {
        law = law.with_dynamics(ActivationDynamics {
            activation: of(&dynamics.activation, "activation")?,
            deactivation: of(&dynamics.deactivation, "deactivation")?,
        });
    }
    let at = Where::Field(name, "excitation");
    Ok(law.with_excitations(&one_or_each(builder, &spec.excitation, at, inputs)?))
}

pub(super) fn force_length(
    builder: &Builder<'_>,
    name: &str,
    spec: &ForceLengthSpec,
    inputs: &mut Inputs,
) -> Result<ForceLengthMuscle> {
    let of = |number: &Amount, key: &'static str| builder.number(number, Where::Field(name, key));
    let force = of(&spec.force, "force")?;
    let lengths = |optimal: &Amount, largest: &Amount| -> Result<(f64, f64)> {
        Ok((of(optimal, "optimal_length")?, of(largest, "largest_length")?))
    };
    let law = match &spec.curve {
        ForceLengthCurve::Simple(curve) => {
            let toe = of(&curve.toe, "toe")?;
            ForceLengthMuscle::simple(
                force,
                of(&curve.stiffness, "stiffness")?,
                of(&curve.rest_length, "rest_length")?,
            )
            .with_toe(toe, curve.tension_only)
        }
        ForceLengthCurve::Constant(curve) => {
            ForceLengthMuscle::constant(force, of(&curve.passive, "passive")?)
        }
        ForceLengthCurve::Linear(curve) => {
            let (optimal, largest) = lengths(&curve.optimal_length, &curve.largest_length)?;
            ForceLengthMuscle::linear(force, optimal, largest, of(&curve.passive, "passive")?)
        }
        ForceLengthCurve::Peck(curve) => {
            let (optimal, largest) = lengths(&curve.optimal_length, &curve.largest_length)?;
            let (tendon, passive) = (of(&curve.tendon, "tendon")?, of(&curve.passive, "passive")?);
            ForceLengthMuscle::peck(force, optimal, largest, tendon, passive)
        }
        ForceLengthCurve::Pai(curve) => {
            let (optimal, largest) = lengths(&curve.optimal_length, &curve.largest_length)?;
            let (tendon, passive) = (of(&curve.tendon, "tendon")?, of(&curve.passive, "passive")?);
            ForceLengthMuscle::pai(force, optimal, largest, tendon, passive)
        }
        ForceLengthCurve::Blemker(curve) => {
            let optimal = of(&curve.optimal_length, "optimal_length")?;
            let largest = match &curve.largest_length {
                Some(length) => of(length, "largest_length")?,
                None => 1.4 * optimal,
            };
            let or = |number: Option<&Amount>, key: &'static str, default| match number {
                Some(number) => of(number, key),
                None => Ok(default),
            };
            ForceLengthMuscle::blemker(force, optimal, largest).with_exponential(
                or(curve.passive.as_deref(), "passive", 0.05)?,
                or(curve.exponent.as_deref(), "exponent", 6.6)?,
            )
        }
    };
    let at = Where::Field(name, "activation");
    Ok(law
        .with_damping(of(&spec.damping, "damping")?)
        .with_activations(&one_or_each(builder, &spec.activation, at, inputs)?))
}

pub(super) fn ligament(builder: &Builder<'_>, name: &str, spec: &LigamentSpec) -> Result<Ligament> {
    let of = |number: &Amount, key: &'static str| builder.number(number, Where::Field(name, key));
    let new = match spec.curve {
        LigamentCurve::Blankevoort1991 => Ligament::new,
        LigamentCurve::Wisconsin => Ligament::wisconsin,
    };
    let mut law = new(
        of(&spec.stiffness, "stiffness")?,
        of(&spec.slack_length, "slack_length")?,
    );
    if let Some(strain) = &spec.transition_strain {
        law = law.with_transition_strain(of(strain, "transition_strain")?);
    }
    if let Some(damping) = &spec.damping {
        law = law.with_damping(of(damping, "damping")?);
    }
    Ok(law)
}

/// Activations or excitations at the start; those that depend on time are inputs.
fn one_or_each(
    builder: &Builder<'_>,
    numbers: &OneOrMany<Pure>,
    at: Where<'_>,
    inputs: &mut Inputs,
) -> Result<Vec<f64>> {
    match numbers {
        OneOrMany::One(number) => Ok(vec![timed(builder, number, at, 0, inputs)?]),
        OneOrMany::Many(list) => timed_list(builder, list, at, 0, inputs),
    }
}
