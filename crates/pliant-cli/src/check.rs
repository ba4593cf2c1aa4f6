//! `pliant check`.

use crate::arguments::{Check, Threads};
use crate::page::Page;
use crate::{BAD_SCENE, complain};
use pliant_run::{Runner, Sizes};
use pliant_scene::{BuiltScene, Diagnostic, RunPlan, SceneError, StaticsPlan};
use serde_json::{Value, json};

pub(crate) fn check(arguments: &Check) -> u8 {
    let mut page = Page::default();
    let mut said = Said::default();
    let refused = examine(arguments, &mut page, &mut said).err();
    let warnings = said.warnings.len();
    let is_refused = refused.is_some() || arguments.strict && warnings > 0;
    let status = match (&refused, warnings) {
        (Some(_), _) => "the scene cannot be run".to_owned(),
        (None, 0) => "the scene is good".to_owned(),
        (None, 1) => "the scene can be run, with 1 warning".to_owned(),
        (None, n) => format!("the scene can be run, with {n} warnings"),
    };
    if arguments.json {
        page.tell("good", !is_refused);
        page.tell("status", status);
        page.tell("error", refused.as_ref().map_or(Value::Null, of_error));
        page.tell("warnings", said.warnings);
        page.tell("notes", said.notes);
        page.print(true);
    } else {
        said.drawn.iter().for_each(|text| complain(text));
        match &refused {
            Some(error) => complain(&error.to_string()),
            None => {
                page.say("status", status);
                page.print(false);
            }
        }
        if arguments.strict && refused.is_none() && warnings > 0 {
            complain("error: with --strict a warning is an error");
        }
    }
    if is_refused { BAD_SCENE } else { 0 }
}

/// Sentences about a scene.
#[derive(Default)]
struct Said {
    warnings: Vec<Value>,
    notes: Vec<Value>,
    /// All of them as they are drawn.
    drawn: Vec<String>,
}

/// A complaint for programs: its place counts lines and columns from one.
fn of_diagnostic(diagnostic: &Diagnostic) -> Value {
    let place = diagnostic.place.as_ref();
    json!({
        "message": diagnostic.message,
        "file": diagnostic.file,
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "help": diagnostic.help,
        "notes": diagnostic.notes,
    })
}

/// An error for programs.
pub(crate) fn of_error(error: &SceneError) -> Value {
    match error.diagnostic() {
        Some(diagnostic) => of_diagnostic(diagnostic),
        None => {
            let text = error.to_string();
            json!({"message": text.strip_prefix("error: ").unwrap_or(&text)})
        }
    }
}

/// Reads, builds and tries a scene.
fn examine(arguments: &Check, page: &mut Page, said: &mut Said) -> Result<(), SceneError> {
    let scene = arguments.scene.load()?;
    let built = scene.build(&arguments.scene.settings(None, Threads::default()))?;
    describe(&built, page);
    let mut runner = Runner::new(built)?.with_room()?;
    let Sizes {
        nodes,
        dofs,
        fixed,
        rows,
        w_entries,
        j_entries,
    } = Sizes::of(runner.simulation());
    page.add("nodes", nodes.to_string(), nodes);
    page.add("dofs", format!("{dofs}, {fixed} fixed at the start"), dofs);
    page.tell("fixed", fixed);
    page.add("rows", rows.to_string(), rows);
    let gravity = runner.simulation().problem().gravity();
    page.add("gravity", describe_gravity(gravity), gravity.to_vec());
    page.add(
        "entries",
        format!("{w_entries} of W (lower triangle), {j_entries} of J"),
        json!({"w": w_entries, "j": j_entries}),
    );
    let found = runner.inspect();
    for warning in runner.warnings() {
        said.warnings.push(of_diagnostic(&warning.0));
        said.drawn.push(warning.to_string());
    }
    for note in &found.notes {
        said.notes.push(of_diagnostic(&note.0));
        said.drawn.push(note.to_string());
    }
    found.refusal.map_or(Ok(()), Err)
}

/// Adds what the file says of itself, and how it is run.
pub(crate) fn describe(built: &BuiltScene, page: &mut Page) {
    page.say("scene", &built.title);
    let parameters = &built.parameters;
    let list: Vec<String> = parameters
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if !list.is_empty() {
        page.add("parameters", list.join(", "), json!(parameters));
    }
    let included: Vec<&str> = built.included.iter().map(|file| file.name.as_str()).collect();
    if !included.is_empty() {
        page.add("includes", included.join(", "), json!(included));
    }
    page.say("run", describe_run(&built.plan, built.statics.as_ref()));
}

/// How a scene is run, in words.
fn describe_run(plan: &RunPlan, statics: Option<&StaticsPlan>) -> String {
    match (statics, &plan.adaptive) {
        (None, None) => format!(
            "{} steps of {} s to t = {} s",
            plan.steps, plan.step, plan.duration
        ),
        (None, Some(how)) => format!(
            "steps of {} to {} s, which choose their length, to t = {} s",
            how.smallest, how.largest, plan.duration
        ),
        (Some(StaticsPlan::Equilibrium(how)), _) => format!("an equilibrium ({:?})", how.method),
        (Some(StaticsPlan::Path(how)), _) => format!(
            "equilibria over the load factor from {} to {}, at most {} points",
            how.start, how.end, how.max_points
        ),
    }
}

/// Gravity (m/s^2) in words; without it, what a scene that lost its `gravity` would show late.
pub(crate) fn describe_gravity(gravity: [f64; 3]) -> String {
    match gravity {
        [0.0, 0.0, 0.0] => "none: nothing has weight".to_owned(),
        [x, y, z] => format!("({x}, {y}, {z}) m/s^2"),
    }
}
