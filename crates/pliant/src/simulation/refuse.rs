//! What an integrator does not take.

use super::Simulation;
use crate::contact::{Impacts, Restitution};
use crate::{Error, Integrator};
use pliant_model::{ComponentId, Level, NodeId, NodeKind, RowLaw};

impl Simulation {
    /// Refuses what the integrator of the options has no answer to.
    pub(super) fn refuse_what_does_not_fit(&self) -> Result<(), Error> {
        let integrator = &self.options.integrator;
        self.refuse_memory()?;
        if *integrator == Integrator::Linear {
            return Ok(());
        }
        if self.system.contacts.is_some() {
            if *integrator != Integrator::Nonlinear {
                return Err(self.refused("contacts".to_owned()));
            }
            self.refuse_impacts()?;
        }
        if self.options.contacts.sleeping.is_some() {
            return Err(self.refused("sleeping".to_owned()));
        }
        if self.options.pre_stabilisation.is_some() || self.options.post_stabilisation.is_some() {
            let what = "stabilisation (its rows hold positions at the end of the step)";
            return Err(self.refused(what.to_owned()));
        }
        match integrator {
            Integrator::Nonlinear => self.refuse_own_alpha(),
            Integrator::Implicit(method) => {
                if let Some((component, _)) = self.options.own_alpha.first() {
                    let name = self.system.model.component_name(*component);
                    return Err(self.refused(format!("an alpha of its own of `{name}`")));
                }
                if method.needs_acceleration() {
                    self.refuse_bounds()?;
                }
                Ok(())
            }
            _ => self.refuse_in_explicit_steps(),
        }
    }

    /// What has no answer to materials with a past.
    fn refuse_memory(&self) -> Result<(), Error> {
        let Some(name) = self.system.model.first_memory() else {
            return Ok(());
        };
        let what = match self.options.integrator {
            Integrator::Linear | Integrator::Nonlinear | Integrator::Implicit(_) => {
                if self.options.contacts.sleeping.is_some() {
                    "sleeping"
                } else if self.system.model.rayleigh().stiffness > 0.0 {
                    "damping in proportion to the stiffness of the model"
                } else {
                    return Ok(());
                }
            }
            _ => self.options.integrator.name(),
        };
        Err(Error::Memory {
            name: name.to_owned(),
            what: what.to_owned(),
        })
    }

    pub(super) fn refused(&self, what: String) -> Error {
        Error::Unsupported {
            integrator: self.options.integrator.name().to_owned(),
            what,
        }
    }

    /// The forces of stiffnesses enter the two ends of a nonlinear step together.
    fn refuse_own_alpha(&self) -> Result<(), Error> {
        let rows = self.system.model.row_groups();
        let of_stiffness = |c: &ComponentId| !rows.iter().any(|g| g.component == *c);
        match self.options.own_alpha.iter().find(|(c, _)| of_stiffness(c)) {
            Some((component, _)) => {
                let name = self.system.model.component_name(*component);
                Err(self.refused(format!("an alpha of its own of `{name}`, which is a stiffness")))
            }
            None => Ok(()),
        }
    }

    fn refuse_bounds(&self) -> Result<(), Error> {
        let bounded = |g: &&pliant_model::RowGroup| self.system.model.bounds(g).is_some();
        match self.system.model.row_groups().iter().find(bounded) {
            Some(group) => {
                let name = self.system.model.component_name(group.component);
                Err(self.refused(format!("the bounded forces of `{name}`")))
            }
            None => Ok(()),
        }
    }

    /// Explicit methods take hard rows (RATTLE, at the level of positions) or none; forces by their laws; masses that do not depend on the
    /// configuration.
    fn refuse_in_explicit_steps(&self) -> Result<(), Error> {
        self.refuse_bounds()?;
        let rattle = self.options.integrator.rattle_parts().is_some();
        for group in self.system.model.row_groups() {
            let name = self.system.model.component_name(group.component);
            match group.component {
                ComponentId::Constraint(i) => {
                    let level = self.system.model.constraints()[i].component.level;
                    if !rattle {
                        return Err(self.refused(format!("the hard rows of `{name}`")));
                    }
                    if !matches!(level, Level::Position | Level::CurvedPosition) {
                        return Err(
                            self.refused(format!("`{name}`, which is not held at the level of positions"))
                        );
                    }
                }
                ComponentId::ForceField(i) => {
                    let law = &self.system.model.force_fields()[i].component.law;
                    let damped =
                        law.row_law() == RowLaw::Viscous || self.system.evaluation.row_damping(i).is_some();
                    for k in 0..group.size * group.count {
                        let hard = self.system.evaluation.is_hard(group, k);
                        if hard && !rattle {
                            return Err(self.refused(format!("the hard rows of `{name}`")));
                        }
                        if rattle && (damped || self.system.model.relaxation_time(i, k) > 0.0) {
                            let what =
                                format!("the damping of `{name}`, unless it is treated as a stiffness");
                            return Err(self.refused(what));
                        }
                        if !hard && self.system.rows.undetermined[group.first_row + k] {
                            let what = format!("`{name}`, whose coupled rows are hard in part");
                            return Err(self.refused(what));
                        }
                    }
                }
                ComponentId::Mass(_) => {}
            }
        }
        if !rattle {
            return Ok(());
        }
        for attachment in self.system.model.masses() {
            if self.is_curved(attachment.node) {
                let name = &attachment.name;
                let what = format!("the mass `{name}` on a nonlinear mapping");
                return Err(self.refused(what));
            }
        }
        Ok(())
    }

    /// Whether a mapping above a node is nonlinear.
    fn is_curved(&self, node: NodeId) -> bool {
        match &self.system.model.node(node).kind {
            NodeKind::Mapped { mapping, parents, .. } => {
                !mapping.is_linear() || parents.iter().any(|p| self.is_curved(*p))
            }
            NodeKind::Independent { .. } => false,
        }
    }

    /// Where the nonlinear step has no answer to what contacts are asked for.
    fn refuse_impacts(&self) -> Result<(), Error> {
        let options = &self.options.contacts;
        if options.restitution == Restitution::Poisson {
            return Err(self.refused("Poisson's law of impacts".to_owned()));
        }
        if options.impacts == Impacts::InSequence {
            return Err(self.refused("impacts in sequence".to_owned()));
        }
        Ok(())
    }
}
