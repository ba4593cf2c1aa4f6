//! `pliant gradient`.

use crate::arguments::Gradient as Arguments;
use crate::page::Page;
use crate::run::code_of;
use crate::table::{number, numbers};
use crate::{BAD_SCENE, FAILED, complain};
use pliant::gradient::{ActiveSet, GradientError, TrajectoryError};
use pliant::model::{Model, Space};
use pliant_run::rollout::{Quantity, Rollout, RolloutError};
use pliant_scene::{SceneError, hint};
use serde_json::{Value, json};
use std::ops::Range;

/// The most elements of a node that are all taken where none is named: each number of them takes a
/// pass over the whole run.
const MOST_ELEMENTS: usize = 100;

/// Prints derivatives of places at the end of a scene by its parameters; returns the exit code.
pub(crate) fn gradient(arguments: &Arguments) -> u8 {
    match find(arguments) {
        Ok(found) => {
            found.print(arguments.json);
            0
        }
        Err(error) => {
            let text = error.to_string();
            let has_place = matches!(&error, RolloutError::Scene(_));
            complain(&if has_place { text } else { format!("error: {text}") });
            match &error {
                RolloutError::Trajectory(TrajectoryError::Step(error)) => code_of(error),
                RolloutError::Trajectory(TrajectoryError::Gradient(GradientError::Smoothing { .. })) => {
                    BAD_SCENE
                }
                RolloutError::Trajectory(TrajectoryError::Gradient(_)) => FAILED,
                _ => BAD_SCENE,
            }
        }
    }
}

/// Numbers at the end, and their derivatives by the parameters.
struct Found {
    page: Page,
    parameters: Vec<(String, f64)>,
    /// Names of the numbers, their values, and their derivatives by each parameter.
    numbers: Vec<(String, f64, Vec<f64>)>,
}

fn find(arguments: &Arguments) -> Result<Found, RolloutError> {
    let scene = arguments.scene.load()?;
    let settings = arguments
        .scene
        .settings(Some(&arguments.timing), arguments.threads);
    let built = scene.build(&settings)?;
    arguments.timing.check(&built)?;
    let parameters = chosen(&built.parameters, &arguments.by)?;
    let quantity = match arguments.velocities {
        true => Quantity::Velocities,
        false => Quantity::Positions,
    };
    let mut outputs = Vec::new();
    let mut columns = Vec::new();
    let mut width = 0;
    for wanted in &arguments.of {
        let places = Elements::of(&built.model, wanted)?;
        for element in places.elements.clone() {
            let all = names(&built.model, &places, element, quantity);
            let first = width + element * all.len();
            columns.extend(all.into_iter().enumerate().map(|(k, name)| (first + k, name)));
        }
        width += places.count * size_of(&built.model, &places, quantity);
        outputs.push((places.node, quantity));
    }
    let (title, end) = (built.title.clone(), built.plan.steps as f64 * built.plan.step);
    let (steps, values): (usize, Vec<f64>) = (built.plan.steps, parameters.iter().map(|p| p.1).collect());
    drop(built);
    let varied: Vec<String> = parameters.iter().map(|p| p.0.clone()).collect();
    let build = move |values: &[f64]| {
        let mut settings = settings.clone();
        let all = varied.iter().cloned().zip(values.iter().map(|v| (*v).into()));
        settings.parameters.retain(|(name, _)| !varied.contains(name));
        settings.parameters.extend(all);
        scene.build(&settings)
    };
    let outputs: Vec<(&str, Quantity)> = outputs.iter().map(|(name, q)| (name.as_str(), *q)).collect();
    let mut rollout = Rollout::new(Box::new(build), &values, &outputs, None)?;
    if let Some(energy) = arguments.smoothing {
        rollout = rollout.with_smoothing(energy)?;
    }
    let mut page = Page::default();
    page.say("scene", title);
    page.add("end", format!("{} s, {steps} steps", number(end)), end);
    let (mut found, mut active, mut away) = (Vec::new(), ActiveSet::default(), 0.0f64);
    for (column, name) in columns {
        let mut by = vec![0.0; (steps + 1) * rollout.columns()];
        let entry = steps * rollout.columns() + column;
        by[entry] = 1.0;
        let gradient = rollout.gradient(&values, &by)?;
        (active, away) = (gradient.report.active, gradient.report.smoothed_away);
        found.push((name, gradient.values[entry], gradient.parameters));
    }
    tell_contacts(&mut page, active, away);
    Ok(Found {
        page,
        parameters,
        numbers: found,
    })
}

/// Says which branches of contacts and rows the derivatives are on, if there are any.
fn tell_contacts(page: &mut Page, active: ActiveSet, away: f64) {
    for (name, count) in [
        ("contacts that stick", active.sticking),
        ("contacts that slip", active.slipping),
        ("contacts without friction", active.frictionless),
        ("contacts that are smoothed", active.smoothed),
        ("rows at a bound", active.rows_at_bounds),
    ] {
        match count {
            0 => page.tell(name, 0),
            _ => page.add(name, format!("{count}, over all steps"), count),
        }
    }
    match active.at_change {
        0 => page.tell("one-sided", 0),
        n => page.add(
            "one-sided",
            format!("{n} contacts where another branch begins, over all steps"),
            n,
        ),
    }
    if away > 0.0 {
        page.add(
            "smoothed away",
            format!("{} m/s or rad/s, at most in a step", number(away)),
            away,
        );
    }
}

/// The parameters of these names, or all, with their values.
fn chosen(
    all: &std::collections::BTreeMap<String, f64>,
    names: &[String],
) -> Result<Vec<(String, f64)>, SceneError> {
    let refuse = |message, help| Err(SceneError::Setting { message, help });
    if all.is_empty() {
        let help = "write `parameters: {\"length\": 0.6}` and `\"$length\"` where it stands";
        return refuse("the scene has no parameters".to_owned(), Some(help.to_owned()));
    }
    let mut out = Vec::new();
    let wanted: Vec<&String> = match names {
        [] => all.keys().collect(),
        names => names.iter().collect(),
    };
    for name in wanted {
        if out.iter().any(|(other, _)| other == name) {
            let help = format!("write it once: `--by {}`", unique(names).join(","));
            return refuse(format!("`--by` names the parameter `{name}` twice"), Some(help));
        }
        match all.get(name) {
            Some(value) => out.push((name.clone(), *value)),
            None => {
                return refuse(
                    format!("the scene has no parameter `{name}`"),
                    hint(name, "parameters", all.keys().map(String::as_str)),
                );
            }
        }
    }
    Ok(out)
}

/// The names, each at its first place alone.
fn unique(names: &[String]) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for name in names {
        if !out.contains(&name.as_str()) {
            out.push(name);
        }
    }
    out
}

/// Elements of a node.
struct Elements {
    node: String,
    elements: Range<usize>,
    /// How many the node has.
    count: usize,
}

impl Elements {
    /// The element that `NODE[ELEMENT]` names, or all those of `NODE`.
    fn of(model: &Model, text: &str) -> Result<Self, SceneError> {
        let refuse = |message, help| Err(SceneError::Setting { message, help });
        let whole = model.node_named(text).map(|id| (text, id, None));
        let bracket = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
        let part = bracket.and_then(|(name, number)| Some((name, model.node_named(name)?, Some(number))));
        let Some((name, id, number)) = whole.or(part) else {
            let name = bracket.map_or(text, |(name, _)| name);
            let all = model.nodes().iter().map(|node| node.name.as_str());
            return refuse(
                format!("the scene has no node `{name}`"),
                hint(name, "nodes", all),
            );
        };
        let count = model.node(id).count;
        let elements = match number {
            None if count <= MOST_ELEMENTS => Some(0..count),
            None => None,
            Some(number) => number.parse().ok().filter(|k| *k < count).map(|k| k..k + 1),
        };
        match elements {
            Some(elements) => Ok(Self {
                node: name.to_owned(),
                elements,
                count,
            }),
            None => refuse(
                format!("`{name}` has {count} elements"),
                Some(format!(
                    "write one of `{name}[0]` to `{name}[{}]`",
                    count.saturating_sub(1)
                )),
            ),
        }
    }
}

/// The number of numbers of an element.
fn size_of(model: &Model, places: &Elements, quantity: Quantity) -> usize {
    let space = model.node_named(&places.node).map(|id| model.node(id).space);
    let space = space.unwrap_or(Space::Real(1));
    match quantity {
        Quantity::Positions => space.position_size(),
        Quantity::Velocities => space.velocity_size(),
    }
}

/// Names of the numbers of an element.
fn names(model: &Model, places: &Elements, element: usize, quantity: Quantity) -> Vec<String> {
    let space = model.node_named(&places.node).map(|id| model.node(id).space);
    let space = space.unwrap_or(Space::Real(1));
    let size = size_of(model, places, quantity);
    let known: &[&str] = match (space, quantity) {
        (Space::Rigid3, Quantity::Positions) => &["x", "y", "z", "qw", "qx", "qy", "qz"],
        (Space::Rigid3, Quantity::Velocities) => &["vx", "vy", "vz", "wx", "wy", "wz"],
        (Space::Real(3), Quantity::Positions) => &["x", "y", "z"],
        (Space::Real(3), Quantity::Velocities) => &["vx", "vy", "vz"],
        _ => &[],
    };
    let own = match places.count {
        1 => places.node.clone(),
        _ => format!("{}[{element}]", places.node),
    };
    let name = |k: usize| match known.get(k) {
        Some(known) => format!("{own}.{known}"),
        None if size == 1 => own.clone(),
        None => format!("{own}.{k}"),
    };
    (0..size).map(name).collect()
}

impl Found {
    fn print(mut self, as_json: bool) {
        let gradient = |by: &[f64]| -> Value {
            let pairs = self.parameters.iter().zip(by);
            pairs
                .map(|((name, _), by)| (name.clone(), json!(by)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let all = self
            .numbers
            .iter()
            .map(|(name, value, by)| json!({"of": name, "value": value, "by": gradient(by)}));
        let gradients: Value = all.collect();
        let values = self
            .parameters
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)));
        let values: serde_json::Map<String, Value> = values.collect();
        self.page.tell("parameters", values);
        self.page.tell("gradients", gradients);
        self.page.print(as_json);
        if as_json {
            return;
        }
        let mut head = vec!["at the end".to_owned(), "value".to_owned()];
        head.extend(self.parameters.iter().map(|(name, _)| format!("by {name}")));
        let mut now = vec!["parameters".to_owned(), String::new()];
        now.extend(self.parameters.iter().map(|(_, value)| number(*value)));
        let mut rows = vec![head, now];
        for (name, value, by) in &self.numbers {
            let mut row = vec![name.clone(), number(*value)];
            row.extend(by.iter().map(|by| number(*by)));
            rows.push(row);
        }
        crate::print(&numbers(&rows));
    }
}
