//! `pliant check`.

use crate::arguments::Check;
use crate::table::Table;
use crate::{BAD_SCENE, complain};
use pliant_run::{Runner, Sizes};
use pliant_scene::{SceneError, StaticsPlan};

pub(crate) fn check(arguments: &Check) -> u8 {
    match table(arguments) {
        Ok(table) => {
            table.print();
            0
        }
        Err(error) => {
            complain(&error.to_string());
            BAD_SCENE
        }
    }
}

fn table(arguments: &Check) -> Result<Table, SceneError> {
    let scene = arguments.scene.load()?;
    let built = scene.build(&arguments.scene.settings(None))?;
    let (title, plan, parameters) = (built.title.clone(), built.plan, built.parameters.clone());
    let statics = built.statics.clone();
    let included: Vec<String> = built.included.iter().map(|file| file.name.clone()).collect();
    let mut runner = Runner::new(built)?;
    // Ahead of what the first step is refused for: they may tell why.
    let start = runner.warnings().len();
    runner.warnings().iter().for_each(|w| complain(&w.to_string()));
    runner.check()?;
    let told = &runner.warnings()[start..];
    told.iter().for_each(|w| complain(&w.to_string()));
    let Sizes {
        nodes,
        dofs,
        fixed,
        rows,
        w_entries,
        j_entries,
    } = Sizes::of(runner.simulation());
    let mut table = Table::default();
    table.row("scene", title);
    let list: Vec<String> = parameters
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if !list.is_empty() {
        table.row("parameters", list.join(", "));
    }
    if !included.is_empty() {
        table.row("includes", included.join(", "));
    }
    table.row("nodes", nodes.to_string());
    table.row("dofs", format!("{dofs}, {fixed} fixed at the start"));
    table.row("rows", rows.to_string());
    let gravity = runner.simulation().problem().gravity();
    table.row("gravity", describe_gravity(gravity));
    table.row(
        "entries",
        format!("{w_entries} of W (lower triangle), {j_entries} of J"),
    );
    let run = match &statics {
        None => match &plan.adaptive {
            None => format!(
                "{} steps of {} s to t = {} s",
                plan.steps, plan.step, plan.duration
            ),
            Some(how) => format!(
                "steps of {} to {} s, which choose their length, to t = {} s",
                how.smallest, how.largest, plan.duration
            ),
        },
        Some(StaticsPlan::Equilibrium(how)) => format!("an equilibrium ({:?})", how.method),
        Some(StaticsPlan::Path(how)) => format!(
            "equilibria over the load factor from {} to {}, at most {} points",
            how.start, how.end, how.max_points
        ),
    };
    table.row("run", run);
    let good = match runner.warnings().len() {
        0 => "the scene is good".to_owned(),
        1 => "the scene can be run, with 1 warning".to_owned(),
        n => format!("the scene can be run, with {n} warnings"),
    };
    table.row("status", good);
    Ok(table)
}

/// Gravity (m/s^2) in words; without it, what a scene that lost its `gravity` would show late.
fn describe_gravity(gravity: [f64; 3]) -> String {
    match gravity {
        [0.0, 0.0, 0.0] => "none: nothing has weight".to_owned(),
        [x, y, z] => format!("({x}, {y}, {z}) m/s^2"),
    }
}
