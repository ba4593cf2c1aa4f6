//! The schema of scenes as a JSON Schema (2020-12), made of the types that read scenes.
//!
//! A scene is read again and again from a source that has whatever it is asked for, and notes what
//! that is: the keys of every struct, whether it can be without them, and every kind of an enum. So
//! the description cannot differ from what is read. The meanings of keys and kinds are their
//! documentation.

mod meaning;
mod trace;
mod write;

use crate::schema::Scene;
use serde::Deserialize;
use serde_json::Value;
use std::cell::RefCell;
use trace::{Found, Notes, Source};

/// More readings than this are needed by no schema; it bounds the loop.
const MOST: usize = 100_000;

/// Returns the JSON Schema of scenes.
pub fn json_schema() -> Value {
    let notes = RefCell::new(Notes::default());
    let root = RefCell::new(Found::default());
    for _ in 0..MOST {
        notes.borrow_mut().begin();
        root.replace(Found::default());
        // What fails is noted as well: a key that cannot be missing.
        let read = Scene::deserialize(Source::new(&notes, &root));
        notes.borrow_mut().end(read.is_ok());
        if read.is_ok() && root.borrow().is_complete {
            break;
        }
    }
    write::schema(&notes.into_inner(), &root.into_inner().shape)
}
