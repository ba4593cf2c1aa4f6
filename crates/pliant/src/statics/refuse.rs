//! Refusals of what has no meaning at rest.

use super::{Loads, StaticMethod};
use crate::Error;
use pliant_model::{ComponentId, Level, RowLaw};
use pliant_stepper::contact::ContactOptions;
use pliant_stepper::system::System;

/// Refuses what contacts are only asked for on a way through time.
pub(crate) fn check_contacts(system: &System, options: &ContactOptions) -> Result<(), Error> {
    if system.contacts.is_some() && options.intersection_free {
        let what = "surfaces that may not pass through each other (`intersection_free`)".to_owned();
        return Err(Error::NotStatic { what });
    }
    Ok(())
}

/// Refuses what has no meaning at rest, and loads that are none. `held` are the velocities of fixed
/// coordinates.
pub(crate) fn check_loads(system: &System, held: &[f64], loads: &Loads) -> Result<(), Error> {
    let refuse = |what: String| Err(Error::NotStatic { what });
    let fixed = &system.assembler.system().fixed;
    if let Some(dof) = (0..fixed.len()).find(|i| fixed[*i] && held[*i] != 0.0) {
        return refuse(format!(
            "{}, which is fixed and moves",
            system.model.describe_dof(dof)
        ));
    }
    for group in system.model.row_groups() {
        let name = system.model.component_name(group.component);
        match group.component {
            ComponentId::Constraint(i) => match system.model.constraints()[i].component.level {
                Level::Velocity { .. } | Level::Restitution { .. } => {
                    return refuse(format!("`{name}`, which holds a velocity and no position"));
                }
                _ => {}
            },
            ComponentId::ForceField(_) => {
                let viscous = system.model.row_law(group) == RowLaw::Viscous;
                let mut rows = 0..group.size * group.count;
                if viscous && rows.any(|k| system.evaluation.is_hard(group, k)) {
                    return refuse(format!("`{name}`, which holds a velocity and no position"));
                }
            }
            ComponentId::Mass(_) => {}
        }
    }
    for component in &loads.components {
        let mut groups = system.model.row_groups().iter();
        let group = groups.find(|g| g.component == *component);
        let what = match component {
            ComponentId::Mass(_) => "a mass as a load".to_owned(),
            ComponentId::ForceField(i) if *i >= system.model.force_fields().len() => {
                "a load that is no component of the model".to_owned()
            }
            ComponentId::Constraint(i) if *i >= system.model.constraints().len() => {
                "a load that is no component of the model".to_owned()
            }
            _ => match group {
                Some(g) if system.model.motion(g).is_none() => {
                    let name = system.model.component_name(*component);
                    format!("`{name}` as a load: it is a row that no motion drives")
                }
                _ => continue,
            },
        };
        return refuse(what);
    }
    Ok(())
}

/// Refuses what methods without a factor do not take; the other methods take all.
pub(crate) fn check_method(system: &System, method: StaticMethod) -> Result<(), Error> {
    let Some(words) = method.without_factor() else {
        return Ok(());
    };
    if system.contacts.is_some() {
        let what = format!("contacts in {words}");
        return Err(Error::NotStatic { what });
    }
    check_rows_have_force(system, words)
}

/// Refuses rows whose force is no function of the positions, in a method of these words.
fn check_rows_have_force(system: &System, words: &str) -> Result<(), Error> {
    for group in system.model.row_groups() {
        let name = system.model.component_name(group.component);
        let mut rows = 0..group.size * group.count;
        let hard = match group.component {
            ComponentId::ForceField(_) => rows.any(|k| system.evaluation.is_hard(group, k)),
            _ => true,
        };
        let coupled = match group.component {
            ComponentId::ForceField(i) => (0..system.evaluation.compliance(i).len()).any(|g| {
                let c = system.evaluation.compliance(i);
                let (n, block) = (c.width(g), c.block(g));
                (0..n * n).any(|k| k / n != k % n && block[k] != 0.0)
            }),
            _ => false,
        };
        if hard || coupled {
            let kind = if hard { "hard" } else { "coupled" };
            let what = format!("the {kind} rows of `{name}` in {words}");
            return Err(Error::NotStatic { what });
        }
    }
    Ok(())
}
