//! Dry friction of rows in proportion to the force of others.

use super::{ComponentId, Level, Model};
use crate::validate::{check_not_negative, check_positive, check_size};
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
    /// These of its rows.
    pub pressing: Vec<usize>,
    /// The lever `l_i` of each row with friction (1, or m).
    pub levers: Vec<f64>,
    /// The coefficient `mu` (none).
    pub coefficient: f64,
}

impl Model {
    /// Gives the rows of a constraint dry friction in proportion to a reaction; they must hold a
    /// velocity ([`Level::Velocity`]), and what presses must be a constraint or a compliance.
    ///
    /// # Errors
    /// [`ModelError::NotRows`], [`ModelError::Friction`], [`ModelError::Size`],
    /// [`ModelError::NotFinite`] and [`ModelError::OutOfRange`] with the name of the constraint.
    pub fn set_friction(
        &mut self,
        component: ComponentId,
        friction: ReactionFriction,
    ) -> Result<(), ModelError> {
        let name = self.component_name(component).to_owned();
        let ComponentId::Constraint(index) = component else {
            let action = "given friction";
            return Err(ModelError::NotRows { name, action });
        };
        let refused = |reason| {
            let name = name.clone();
            Err(ModelError::Friction { name, reason })
        };
        let entry = &self.constraints[index];
        if entry.component.level != (Level::Velocity { curvature: 0.0 }) {
            return refused("its rows hold more than a velocity");
        }
        let pressing = match friction.reaction {
            ComponentId::Constraint(i) => self.constraints.get(i).map(|c| c.node),
            ComponentId::ForceField(i) => self.force_fields.get(i).map(|f| f.node),
            ComponentId::Mass(_) => None,
        };
        let is_row = |rows: usize| friction.pressing.iter().all(|row| *row < rows);
        match pressing {
            Some(node) if is_row(self.node(node).velocity_range().len()) => {}
            _ => return refused("what presses has no such rows"),
        }
        if friction.reaction == component {
            return refused("its own force presses");
        }
        let rows = self.node(entry.node).velocity_range().len();
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
        self.set_initial(|model, values: &mut Parameters| values.set_bounds(model, component, none))?;
        self.constraints[index].component.friction = Some(friction);
        Ok(())
    }

    /// The friction of the rows of a component, if it follows a reaction.
    pub fn friction(&self, component: ComponentId) -> Option<&ReactionFriction> {
        match component {
            ComponentId::Constraint(i) => self.constraints[i].component.friction.as_ref(),
            _ => None,
        }
    }
}
