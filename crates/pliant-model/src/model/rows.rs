//! What may change in a finished model: treatments, motions, bounds, inputs; and the list of its rows.

use super::build::check_finite;
use super::{ComponentId, Model, NodeId, Rayleigh, RowGroup, Treatment};
use crate::{ModelError, Motion};

impl Model {
    /// Chooses the treatment of a force field added as [`Treatment::Auto`]; says whether that changed it.
    ///
    /// # Panics
    /// If there is no such force field.
    pub fn choose_treatment(&mut self, force_field: usize, treatment: Treatment) -> bool {
        let entry = &mut self.force_fields[force_field].component;
        if !entry.automatic || treatment == Treatment::Auto || entry.treatment == treatment {
            return false;
        }
        entry.treatment = treatment;
        self.list_rows();
        true
    }

    /// Sets damping in proportion to all masses and stiffnesses: `B = a M + b K`, with the rate `a` (1/s) and the time `b` (s).
    ///
    /// # Errors
    /// [`ModelError::NotFinite`], [`ModelError::OutOfRange`].
    pub fn set_rayleigh(&mut self, rayleigh: Rayleigh) -> Result<(), ModelError> {
        let name = "Rayleigh damping";
        crate::force_field::check_not_negative(name, "the mass-proportional rate", rayleigh.mass)?;
        crate::force_field::check_not_negative(name, "the stiffness-proportional time", rayleigh.stiffness)?;
        self.rayleigh = rayleigh;
        Ok(())
    }

    /// Drives a hard constraint or a compliance: its coordinates are held at the motion instead of at zero, `phi(x) = g(t)`.
    ///
    /// # Errors
    /// [`ModelError::Size`], [`ModelError::NotFinite`], [`ModelError::NotRows`].
    pub fn set_motion(&mut self, component: ComponentId, motion: Option<Motion>) -> Result<(), ModelError> {
        let node = self.rows_of(component, "driven")?;
        let name = self.component_name(component).to_owned();
        if let Some(motion) = &motion {
            motion.check(&name, self.node(node).velocity_range().len())?;
        }
        match component {
            ComponentId::ForceField(i) => self.force_fields[i].component.motion = motion,
            ComponentId::Constraint(i) => self.constraints[i].component.motion = motion,
            ComponentId::Mass(_) => {}
        }
        Ok(())
    }

    /// Bounds the force of each row of a hard constraint or a compliance (N, N m), `lower <= lambda <= upper`: a motor that gives no more,
    /// dry friction, a limit. At a bound the row is let go in that direction.
    ///
    /// # Errors
    /// [`ModelError::Bounds`] if `lower > upper` or one is NaN, [`ModelError::NotRows`].
    pub fn set_bounds(&mut self, component: ComponentId, lower: f64, upper: f64) -> Result<(), ModelError> {
        self.rows_of(component, "given bounds")?;
        if lower.is_nan()
            || upper.is_nan()
            || lower > upper
            || lower == f64::INFINITY
            || upper == f64::NEG_INFINITY
        {
            let name = self.component_name(component).to_owned();
            return Err(ModelError::Bounds { name, lower, upper });
        }
        let bounds = Some((lower, upper));
        match component {
            ComponentId::ForceField(i) => self.force_fields[i].component.bounds = bounds,
            ComponentId::Constraint(i) => self.constraints[i].component.bounds = bounds,
            ComponentId::Mass(_) => {}
        }
        Ok(())
    }

    /// Sets an input of a force field, such as an activation.
    ///
    /// # Errors
    /// [`ModelError::NotRows`] for other components, [`ModelError::Size`] if there is no such input, [`ModelError::NotFinite`],
    /// or what the force field says of the value; it then keeps the old one.
    pub fn set_input(&mut self, component: ComponentId, input: usize, value: f64) -> Result<(), ModelError> {
        let name = self.component_name(component).to_owned();
        check_finite(&name, "an input", &[value])?;
        let ComponentId::ForceField(i) = component else {
            return Err(ModelError::NotRows {
                name,
                action: "given an input",
            });
        };
        let node = self.node(self.force_fields[i].node);
        let (space, count) = (node.space, node.count);
        let law = &mut self.force_fields[i].component.law;
        let found = law.inputs().len();
        let Some(old) = law.inputs_mut().get_mut(input) else {
            return Err(ModelError::Size {
                name,
                what: "inputs at least",
                expected: input + 1,
                found,
            });
        };
        let before = std::mem::replace(old, value);
        if let Err(error) = law.check(&name, space, count) {
            law.inputs_mut()[input] = before;
            return Err(error);
        }
        Ok(())
    }

    /// The node of a component that has rows.
    fn rows_of(&self, component: ComponentId, action: &'static str) -> Result<NodeId, ModelError> {
        match component {
            ComponentId::Constraint(i) => Ok(self.constraints[i].node),
            ComponentId::ForceField(i)
                if self.force_fields[i].component.treatment == Treatment::Compliance
                    && !self.force_fields[i].component.automatic =>
            {
                Ok(self.force_fields[i].node)
            }
            _ => Err(ModelError::NotRows {
                name: self.component_name(component).into(),
                action,
            }),
        }
    }

    /// Lists the rows of all constraints and compliances anew.
    pub(super) fn list_rows(&mut self) {
        self.groups.clear();
        self.rows = 0;
        for k in 0..self.row_order.len() {
            self.list_rows_of(self.row_order[k]);
        }
    }

    /// Adds the rows of one component, if it has any, to the list.
    pub(super) fn list_rows_of(&mut self, component: ComponentId) {
        let node = match component {
            ComponentId::ForceField(i)
                if self.force_fields[i].component.treatment == Treatment::Compliance =>
            {
                self.force_fields[i].node
            }
            ComponentId::Constraint(i) => self.constraints[i].node,
            _ => return,
        };
        let target = &self.nodes[node.0];
        let (size, count) = (target.space.velocity_size(), target.count);
        self.groups.push(RowGroup {
            component,
            node,
            first_row: self.rows,
            size,
            count,
        });
        self.rows += size * count;
    }
}
