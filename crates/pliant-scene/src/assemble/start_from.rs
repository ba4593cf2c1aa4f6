//! The state of another run, from which a scene starts.

use super::{Builder, Result, mesh_files};
use crate::StateFile;
use crate::schema::Scene;
use crate::source::Where;
use pliant::model::State;

/// The state of the file that `start_from` names.
pub(super) fn state(builder: &Builder<'_>, scene: &Scene) -> Result<Option<State>> {
    let Some(file) = &scene.start_from else {
        return Ok(None);
    };
    let places = [Where::Key("start_from")];
    let text = mesh_files::text(builder, &places, file, "state")?;
    let read = StateFile::from_text(&text).and_then(|read| read.start(&builder.model));
    match read {
        Ok(state) => Ok(Some(state)),
        Err(error) => {
            let message = format!("the state \"{file}\": {error}");
            builder.wrong(&places, message, error.help)
        }
    }
}
