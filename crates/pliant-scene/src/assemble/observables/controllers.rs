//! Controllers out of the schema.

use super::super::Result;
use super::Room;
use crate::controller::{ControlLaw, Controller};
use crate::schema::{ControlLawSpec, ControllerSpec};
use crate::source::Where;

impl Room<'_, '_> {
    /// All controllers of the scene.
    pub(super) fn controllers(&mut self) -> Result<Vec<Controller>> {
        let builder = self.builder;
        let scene = builder.scene;
        if let (Some(first), true) = (scene.controllers.first(), scene.run.statics.is_some()) {
            let message = "`controllers` are of motion, and `statics` has none".to_owned();
            return builder.wrong(&[Where::Name(&first.name)], message, None);
        }
        let mut list: Vec<Controller> = Vec::new();
        for spec in &scene.controllers {
            if list.iter().any(|other| other.name == spec.name) {
                let message = format!("the name `{}` is used twice in `controllers`", spec.name);
                return builder.wrong(&[Where::Name(&spec.name)], message, None);
            }
            list.push(self.controller(spec)?);
        }
        Ok(list)
    }

    fn controller(&mut self, spec: &ControllerSpec) -> Result<Controller> {
        let builder = self.builder;
        let name = spec.name.as_str();
        let field = |key| Where::Field(name, key);
        let every = match &spec.every {
            Some(number) => builder.whole(number, 1, usize::MAX, field("every"))?,
            None => 1,
        };
        let limits = self.limits(name, spec.limits.as_ref())?;
        let law = match &spec.law {
            ControlLawSpec::Feedback(number) => ControlLaw::Feedback(self.program(number, field("law"))?),
            ControlLawSpec::Pid(pid) => ControlLaw::Pid {
                error: self.program(&pid.error, field("error"))?,
                rate: match &pid.rate {
                    Some(rate) => Some(self.program(rate, field("rate"))?),
                    None => None,
                },
                gains: [
                    builder.number(&pid.p, field("p"))?,
                    builder.number(&pid.i, field("i"))?,
                    builder.number(&pid.d, field("d"))?,
                ],
            },
        };
        let variable = builder.varied.iter().position(|(varied, _)| *varied == spec.sets);
        Ok(Controller {
            name: name.to_owned(),
            // All that controllers set is there.
            variable: variable.unwrap_or_default(),
            law,
            every,
            limits,
        })
    }
}
