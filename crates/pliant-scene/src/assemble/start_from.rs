//! The state of another run, from which a scene starts.

use super::{Builder, Result, mesh_files};
use crate::schema::Scene;
use crate::source::Where;
use crate::{StateFile, Warning};
use pliant::model::{Model, ModelError, State};

/// The state of the file that `start_from` names, and warnings of velocities that do not count.
pub(super) fn state(builder: &Builder<'_>, scene: &Scene) -> Result<(Option<State>, Vec<Warning>)> {
    let Some(file) = &scene.start_from else {
        return Ok((None, Vec::new()));
    };
    let places = [Where::Key("start_from")];
    let text = mesh_files::text(builder, &places, file, "state")?;
    let read = StateFile::from_text(&text).and_then(|read| read.start(&builder.model));
    match read {
        Ok(mut state) => {
            let held = hold(builder, &mut state).map_err(|e| builder.model_error(e))?;
            let warning = |name: String| {
                let message = format!(
                    "`{name}` of the state \"{file}\" is fixed from the start: its velocity does not count"
                );
                Warning(builder.source.about(&places, message, None))
            };
            Ok((Some(state), held.into_iter().map(warning).collect()))
        }
        Err(error) => {
            let message = format!("the state \"{file}\": {error}");
            builder.wrong(&places, message, error.help)
        }
    }
}

/// Gives coordinates that are held from the start the velocity of what holds them. Returns the names
/// of the nodes of which some have moved otherwise, without this.
fn hold(builder: &Builder<'_>, state: &mut State) -> std::result::Result<Vec<String>, ModelError> {
    let model: &Model = &builder.model;
    let moving = state.velocities.clone();
    let begun = model.initial_state()?;
    let fixed = model.fixed();
    for node in model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        for (is_fixed, at) in fixed[first..].iter().zip(node.velocity_range()) {
            if *is_fixed {
                state.velocities[at] = begun.velocities[at];
            }
        }
    }
    for hold in builder.holds.iter().filter(|hold| hold.from == 0.0) {
        let own = &mut state.velocities[model.node(hold.node).velocity_range()];
        let mut elements: Vec<&mut [f64]> = own.chunks_mut(hold.velocity.len().max(1)).collect();
        for element in &hold.elements {
            let Some(own) = elements.get_mut(*element) else {
                continue;
            };
            for ((v, to), held) in own.iter_mut().zip(&hold.velocity).zip(&hold.coordinates) {
                if *held {
                    *v = *to;
                }
            }
        }
    }
    let changed = |range: std::ops::Range<usize>| {
        let mut both = moving[range.clone()].iter().zip(&state.velocities[range]);
        both.any(|(was, is)| *was != 0.0 && was != is)
    };
    let nodes = model.nodes().iter().filter(|n| n.first_dof().is_some());
    let names = nodes
        .filter(|n| changed(n.velocity_range()))
        .map(|n| n.name.clone())
        .collect();
    model.propagate(state)?;
    Ok(names)
}
