//! Parameters that change while a scene runs.

use super::super::{Builder, Result};
use crate::event::{Action, Events};
use crate::observable::Observables;
use crate::schema::{ActionSpec, Scene};
use crate::signal::{COMMAND, OUTPUT, READING};
use crate::source::Where;
use pliant_expression::{Program, suggest};

/// The variable of a signal, by its place: `$encoder.reading`.
pub(in crate::assemble) fn signal(builder: &Builder<'_>, name: &str, key: &str) -> Option<usize> {
    let is_it = |varied: &str| {
        let rest = varied.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        rest == Some(key)
    };
    let signals = builder.varied.iter().enumerate().skip(builder.varied_parameters);
    let mut found = signals.filter(|(_, (varied, _))| is_it(varied));
    found.next().map(|(index, _)| index)
}

/// Lists the signals of sensors and actuators, behind all parameters that change.
pub(in crate::assemble) fn signals(builder: &mut Builder<'_>, scene: &Scene) -> Result<()> {
    builder.varied_parameters = builder.varied.len();
    let sensors = scene.sensors.iter();
    let sensors = sensors.map(|spec| ("sensors", spec.name.as_str(), &[READING][..], None));
    let actuators = scene.actuators.iter().map(|spec| {
        let signals = &[COMMAND, OUTPUT][..];
        ("actuators", spec.name.as_str(), signals, Some(&spec.start))
    });
    for (list, name, signals, start) in sensors.chain(actuators) {
        if scene.run.statics.is_some() {
            let message = format!("`{list}` are of motion, and `statics` has none");
            return builder.wrong(&[Where::Name(name)], message, None);
        }
        for key in signals {
            let whole = format!("{name}.{key}");
            if builder.varied.iter().any(|(varied, _)| *varied == whole) {
                let message = format!("the name `{name}` is used twice in `{list}`");
                return builder.wrong(&[Where::Name(name)], message, None);
            }
            if builder.parameters.values.contains_key(&whole) {
                let message = format!("`${whole}` is a parameter, and would be the {key} of `{name}`, too");
                return builder.wrong(&[Where::Name(name)], message, None);
            }
            let value = match start {
                Some(start) if *key == OUTPUT => builder.number(start, Where::Field(name, "start"))?,
                _ => 0.0,
            };
            builder.varied.push((whole, value));
        }
    }
    Ok(())
}

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
    laws: &[&Program],
) -> Result<()> {
    let inputs = builder.inputs.iter().filter_map(|input| input.varying.as_ref());
    let motions = builder.varying.iter().flat_map(|varying| &varying.programs);
    let expressions = found.expressions.iter().map(|expression| &expression.program);
    let actions = events.list.iter().flat_map(|event| &event.actions);
    let set = actions.filter_map(|action| match action {
        Action::Set(_, value) => Some(value),
        _ => None,
    });
    let laws = laws.iter().copied();
    let all = inputs.chain(motions).chain(expressions).chain(set).chain(laws);
    let programs: Vec<&Program> = all.collect();
    let is_used = |index: usize| {
        let place = index.saturating_add(1);
        let mut conditions = events.list.iter();
        programs.iter().any(|program| program.depends_on(place))
            || conditions.any(|event| event.when.places().any(|p| p == place))
    };
    for spec in builder.scene.actuators.iter().filter(|spec| spec.on.is_none()) {
        let name = spec.name.as_str();
        if !signal(builder, name, OUTPUT).is_some_and(is_used) {
            let message = format!("`{name}` acts on no node, and nothing follows its output");
            let help = format!(
                "forces, targets of motions and of motors may say `\"${name}.{OUTPUT}\"`; `on` has a node that it pushes"
            );
            return builder.wrong(&[Where::Name(name)], message, Some(help));
        }
    }
    let parameters = builder.varied.iter().take(builder.varied_parameters);
    for (index, (name, _)) in parameters.enumerate() {
        if !is_used(index) {
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
