//! Dry friction of rows in proportion to the force of others.

use super::{ComponentId, Level, Model};
use crate::validate::{check_bound, check_not_negative, check_positive, check_size};
use crate::{Field, ModelError, Parameters};

/// Dry friction of the rows of one constraint, at most in proportion to the force of rows of
/// another component.
///
/// **Equation.** With the force `R` of the rows that press (N), the multipliers `lambda_i` of the
/// rows with friction, their velocities `w_i`, levers `l_i` and the coefficient `mu`,
///
/// ```math
/// sum_i (lambda_i/l_i)^2 <= (mu |R|)^2,    lambda_i/l_i = -mu |R| l_i w_i/sqrt(sum_k (l_k w_k)^2) where that is not zero
/// ```
///
/// so that of all forces within the bound friction is the one that takes most power from the
/// motion. The lever is one for a row that slides and the radius of the pin (m) for one that turns:
/// `l_i w_i` is a part of the velocity with which surfaces slide. `R` is that of the same step.
#[derive(Clone, Debug, PartialEq)]
pub struct ReactionFriction {
    /// The component whose rows press.
    pub reaction: ComponentId,
    /// Numbers of those rows among its own.
    pub pressing: Vec<usize>,
    /// The lever `l_i` of each row with friction (1, or m).
    pub levers: Vec<f64>,
    /// The coefficient `mu` (none).
    pub coefficient: f64,
}

/// Gives the rows of a constraint friction in proportion to a reaction ([`Model::set_friction`]).
pub(super) fn give(
    model: &mut Model,
    component: ComponentId,
    friction: ReactionFriction,
) -> Result<(), ModelError> {
    let name = model.component_name(component).to_owned();
    let ComponentId::Constraint(index) = component else {
        let action = "given friction";
        return Err(ModelError::NotRows { name, action });
    };
    let refused = |reason| {
        let name = name.clone();
        Err(ModelError::Friction { name, reason })
    };
    let entry = &model.constraints[index];
    if entry.component.level != (Level::Velocity { curvature: 0.0 }) {
        return refused("its rows hold more than a velocity");
    }
    let pressing = match friction.reaction {
        ComponentId::Constraint(i) => model.constraints.get(i).map(|c| c.node),
        ComponentId::ForceField(i) => model.force_fields.get(i).map(|f| f.node),
        ComponentId::Mass(_) => None,
    };
    let is_row = |rows: usize| friction.pressing.iter().all(|row| *row < rows);
    match pressing {
        Some(node) if is_row(model.node(node).velocity_range().len()) => {}
        _ => return refused("what presses has no such rows"),
    }
    if friction.reaction == component {
        return refused("its own force presses");
    }
    let rows = model.node(entry.node).velocity_range().len();
    check_size(
        &name,
        Field::Levers,
        "rows with friction",
        rows,
        friction.levers.len(),
    )?;
    for lever in &friction.levers {
        check_positive(&name, Field::Levers, *lever)?;
    }
    check_not_negative(&name, Field::Friction, friction.coefficient)?;
    let none = (f64::NEG_INFINITY, f64::INFINITY);
    model.set_initial(|model, values: &mut Parameters| values.set_bounds(model, component, none))?;
    model.constraints[index].component.friction = Some(friction);
    Ok(())
}

/// Gives the rows of a constraint a restitution ([`Model::set_restitution`]).
pub(super) fn give_restitution(
    model: &mut Model,
    component: ComponentId,
    coefficient: f64,
) -> Result<(), ModelError> {
    let name = model.component_name(component).to_owned();
    let ComponentId::Constraint(index) = component else {
        let action = "given a restitution";
        return Err(ModelError::NotRows { name, action });
    };
    let level = model.constraints[index].component.level;
    if !matches!(level, Level::Position | Level::CurvedPosition) {
        let reason = "its rows hold no positions, which alone bounce";
        return Err(ModelError::Restitution { name, reason });
    }
    let fits = (0.0..=1.0).contains(&coefficient);
    check_bound(&name, Field::Restitution, coefficient, "between 0 and 1", fits)?;
    model.constraints[index].component.restitution = coefficient;
    Ok(())
}
