//! Muscles.

use super::laws::{Inputs, timed, timed_list};
use super::{Builder, Result};
use crate::OneOrMany;
use crate::quantity::Pure;
use crate::schema::{MuscleCurves, MuscleSpec, MuscleTendonSpec};
use crate::source::Where;
use pliant::model::{ActivationDynamics, AxialMuscle, MuscleTendon};

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
