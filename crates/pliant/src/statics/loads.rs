//! The loads that a load factor scales.

use super::Loads;
use crate::Error;
use pliant_model::{ComponentId, Problem};

/// The scaled loads of a model.
#[derive(Debug)]
pub(crate) struct ScaledLoads {
    /// Gravity at factor 1 (m/s^2).
    gravity: [f64; 3],
    scales_gravity: bool,
    scales_forces: bool,
    /// Force fields whose force is scaled.
    fields: Vec<usize>,
    /// Of each row, whether its motion is scaled.
    driven: Vec<bool>,
}

impl ScaledLoads {
    pub(crate) fn new(model: &Problem, loads: &Loads) -> Self {
        let mut fields = Vec::new();
        let mut driven = vec![false; model.row_count()];
        for component in &loads.components {
            let group = model.row_groups().iter().find(|g| g.component == *component);
            match (group, component) {
                (Some(g), _) => driven[g.first_row..g.first_row + g.size * g.count].fill(true),
                // Named twice it is one load all the same.
                (None, ComponentId::ForceField(i)) if !fields.contains(i) => fields.push(*i),
                _ => {}
            }
        }
        Self {
            gravity: model.gravity(),
            scales_gravity: loads.gravity,
            scales_forces: loads.forces,
            fields,
            driven,
        }
    }

    /// Gives the model the gravity of a load factor.
    pub(crate) fn impose(&self, factor: f64, model: &mut Problem) -> Result<(), Error> {
        if self.scales_gravity {
            model.set_gravity(self.gravity.map(|g| g * factor))?;
        }
        Ok(())
    }

    /// Makes the loads of the model whole again.
    pub(crate) fn restore(&self, model: &mut Problem) -> Result<(), Error> {
        Ok(model.set_gravity(self.gravity)?)
    }

    /// The share of the forces from outside.
    pub(crate) fn of_forces(&self, factor: f64) -> f64 {
        if self.scales_forces { factor } else { 1.0 }
    }

    /// Force fields whose force is scaled.
    pub(crate) fn fields(&self) -> &[usize] {
        &self.fields
    }

    /// Whether the motion of a row is scaled.
    pub(crate) fn drives(&self, row: usize) -> bool {
        self.driven[row]
    }
}
