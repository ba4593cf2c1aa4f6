//! What has no meaning at rest.

use super::super::Simulation;
use crate::Error;
use crate::statics::Loads;
use pliant_model::{ComponentId, Level, RowLaw};

impl Simulation {
    pub(crate) fn refuse_what_is_not_static(&self, loads: &Loads) -> Result<(), Error> {
        let refuse = |what: String| Err(Error::NotStatic { what });
        let fixed = &self.system.assembler.system().fixed;
        if let Some(dof) = (0..fixed.len()).find(|i| fixed[*i] && self.motion.controls.held[*i] != 0.0) {
            return refuse(format!(
                "{}, which is fixed and moves",
                self.system.model.describe_dof(dof)
            ));
        }
        for group in self.system.model.row_groups() {
            let name = self.system.model.component_name(group.component);
            match group.component {
                ComponentId::Constraint(i) => match self.system.model.constraints()[i].component.level {
                    Level::Velocity { .. } | Level::Restitution { .. } => {
                        return refuse(format!("`{name}`, which holds a velocity and no position"));
                    }
                    _ => {}
                },
                ComponentId::ForceField(_) => {
                    let viscous = self.system.model.row_law(group) == RowLaw::Viscous;
                    let mut rows = 0..group.size * group.count;
                    if viscous && rows.any(|k| self.system.evaluation.is_hard(group, k)) {
                        return refuse(format!("`{name}`, which holds a velocity and no position"));
                    }
                }
                ComponentId::Mass(_) => {}
            }
        }
        for component in &loads.components {
            let group = self
                .system
                .model
                .row_groups()
                .iter()
                .find(|g| g.component == *component);
            let what = match component {
                ComponentId::Mass(_) => "a mass as a load".to_owned(),
                ComponentId::ForceField(i) if *i >= self.system.model.force_fields().len() => {
                    "a load that is no component of the model".to_owned()
                }
                ComponentId::Constraint(i) if *i >= self.system.model.constraints().len() => {
                    "a load that is no component of the model".to_owned()
                }
                _ => match group {
                    Some(g) if self.system.model.motion(g).is_none() => {
                        let name = self.system.model.component_name(*component);
                        format!("`{name}` as a load: it is a row that no motion drives")
                    }
                    _ => continue,
                },
            };
            return refuse(what);
        }
        Ok(())
    }
}
