//! Forces of actuators.

use super::observables;
use super::{Builder, InputCourse, Result, entries};
use crate::quantity::Acting;
use crate::schema::{ActuatorSpec, Scene};
use crate::signal::OUTPUT;
use crate::source::Where;
use pliant::model::{ConstantForce, Space, Treatment};
use pliant_expression::Program;

/// Adds the force field of each actuator that acts on a node.
pub(super) fn add_actuators<'a>(builder: &mut Builder<'a>, scene: &'a Scene) -> Result<()> {
    entries::each(builder, "actuators", &scene.actuators, add_actuator)
}

fn add_actuator(builder: &mut Builder<'_>, spec: &ActuatorSpec) -> Result<()> {
    let name = spec.name.as_str();
    let Some(on) = &spec.on else {
        return match &spec.gear {
            None => Ok(()),
            Some(_) => {
                let message = format!("the `gear` of `{name}` is of forces, and it acts `on` no node");
                builder.wrong(&[Where::Field(name, "gear"), Where::Name(name)], message, None)
            }
        };
    };
    let node = builder.node(on, name, "on")?;
    let coordinates = match builder.model.node(node).space {
        // The force at the centre of mass.
        Space::Rigid3 => 3,
        Space::Real(size) => size,
    };
    let at = Where::Field(name, "gear");
    let gear = match &spec.gear {
        Some(gear) if gear.len() != coordinates => {
            let message = format!(
                "`gear` of `{name}` has {} numbers, and forces on `{on}` have {coordinates}",
                gear.len()
            );
            return builder.wrong(&[at, Where::Name(name)], message, None);
        }
        Some(gear) => {
            let takes = Acting::on(builder, node).map(|on| on.force);
            let gear: Vec<_> = gear.iter().map(|number| number.fitting(takes)).collect();
            let turned = builder.turned(&gear, at);
            builder.numbers(turned.as_deref().unwrap_or(&gear), at)?
        }
        None if coordinates == 1 => vec![1.0],
        None => {
            let message = format!(
                "`{on}` has more coordinates than one, and `{name}` does not say along which of them it acts"
            );
            let help = "`gear` has the force along each of them at an output of 1: `gear: [0, 0, 1]`";
            let at = [Where::Field(name, "on"), Where::Name(name)];
            return builder.wrong(&at, message, Some(help.to_owned()));
        }
    };
    let output = observables::signal(builder, name, OUTPUT).unwrap_or_default();
    let start = builder.varied[output].1;
    let force: Vec<f64> = gear.iter().map(|gear| gear * start).collect();
    let added = builder
        .model
        .add_force_field(name, node, ConstantForce::new(&force), Treatment::Stiffness);
    let component = added.map_err(|e| builder.model_error(e))?;
    // The output is the only number that these programs are given by name.
    let mut free = vec![""; builder.varied.len().saturating_add(1)];
    free[output.saturating_add(1)] = OUTPUT;
    for (input, gear) in gear.iter().enumerate().filter(|(_, gear)| **gear != 0.0) {
        let text = format!("({gear:e}) * ${OUTPUT}");
        let varying = Program::parse(&text, &|_| None, &[], &free)
            .map_err(|error| builder.expression_error(&text, at, error))?;
        builder.inputs.push(InputCourse {
            component,
            input,
            program: Program::number(gear * start),
            varying: Some(varying),
        });
    }
    Ok(())
}
