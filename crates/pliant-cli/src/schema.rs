//! `pliant schema`: the JSON Schema of scenes.

use crate::{FAILED, complain, print};
use pliant_scene::json_schema;

/// Prints the schema.
pub(crate) fn schema() -> u8 {
    match serde_json::to_string_pretty(&json_schema()) {
        Ok(text) => {
            print(&format!("{text}\n"));
            0
        }
        Err(error) => {
            complain(&format!("error: {error}"));
            FAILED
        }
    }
}
