//! Parameters that change while a scene runs.

use super::super::{Builder, Result};
use crate::controller::Controller;
use crate::event::{Action, Events};
use crate::observable::Observables;
use crate::schema::{ActionSpec, Scene};
use crate::source::Where;
use pliant_expression::{Program, suggest};

/// Lists the parameters that events and controllers set, and those that are set from outside.
pub(in crate::assemble) fn variables(
    builder: &mut Builder<'_>,
    scene: &Scene,
    outside: &[String],
) -> Result<()> {
    for event in &scene.events {
        for action in &event.actions {
            if let ActionSpec::Set(name, _) = action {
                variable(builder, &event.name, name)?;
            }
        }
    }
    for controller in &scene.controllers {
        let (user, name) = (controller.name.as_str(), controller.sets.as_str());
        if builder.varied.iter().any(|(varied, _)| varied == name) {
            let message =
                format!("`{name}`, which `{user}` sets, is set by another controller or event, too");
            return builder.wrong(&[Where::Field(user, "sets"), Where::Name(user)], message, None);
        }
        variable(builder, user, name)?;
    }
    for name in outside {
        let value = builder.parameters.values.get(name).copied();
        let is_listed = builder.varied.iter().any(|(varied, _)| varied == name);
        if let (Some(value), false) = (value, is_listed) {
            builder.varied.push((name.clone(), value));
        }
    }
    Ok(())
}

fn variable(builder: &mut Builder<'_>, user: &str, name: &str) -> Result<()> {
    let Some(value) = builder.parameters.values.get(name).copied() else {
        let known = builder.parameters.names();
        let help = suggest::hint(name, "parameters", known)
            .or_else(|| Some("this scene has no parameters".to_owned()));
        let places = [Where::Literal(user, name), Where::Name(user)];
        return builder.wrong(&places, format!("unknown parameter `{name}`"), help);
    };
    if builder.varied.iter().all(|(varied, _)| varied != name) {
        builder.varied.push((name.to_owned(), value));
    }
    Ok(())
}

/// Refuses variables that nothing follows.
pub(super) fn check_use(
    builder: &Builder<'_>,
    found: &Observables,
    events: &Events,
    controllers: &[Controller],
) -> Result<()> {
    let inputs = builder.inputs.iter().filter_map(|input| input.varying.as_ref());
    let motions = builder.varying.iter().flat_map(|varying| &varying.programs);
    let expressions = found.expressions.iter().map(|expression| &expression.program);
    let actions = events.list.iter().flat_map(|event| &event.actions);
    let set = actions.filter_map(|action| match action {
        Action::Set(_, value) => Some(value),
        _ => None,
    });
    let laws = controllers
        .iter()
        .flat_map(|controller| controller.law.programs());
    let all = inputs.chain(motions).chain(expressions).chain(set).chain(laws);
    let programs: Vec<&Program> = all.collect();
    for (index, (name, _)) in builder.varied.iter().enumerate() {
        let place = index.saturating_add(1);
        let in_program = programs.iter().any(|program| program.depends_on(place));
        let in_condition = events
            .list
            .iter()
            .any(|event| event.when.places().any(|p| p == place));
        if !in_program && !in_condition {
            let user = builder.scene.events.iter().find(|event| {
                let sets = |action: &ActionSpec| matches!(action, ActionSpec::Set(other, _) if other == name);
                event.actions.iter().any(sets)
            });
            let controller = builder.scene.controllers.iter().find(|one| one.sets == *name);
            let controller = controller.map_or("", |one| one.name.as_str());
            let user = user.map_or(controller, |event| event.name.as_str());
            let message = format!("`{name}` is set while the scene runs, and nothing follows it");
            let help = format!("forces, targets of motions and of motors may say `\"${name}\"`");
            return builder.wrong(
                &[Where::Literal(user, name), Where::Name(user)],
                message,
                Some(help),
            );
        }
    }
    Ok(())
}
