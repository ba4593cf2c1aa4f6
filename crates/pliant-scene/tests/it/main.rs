//! The language of scenes: mistakes as they are drawn, and what selections, included files and
//! repeats mean.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod broken;
mod includes;
mod repeats;
mod selections;

use pliant_scene::{BuiltScene, Format, SceneFile, Settings};

/// A scene out of a text of RON.
fn build(text: &str) -> BuiltScene {
    let read = SceneFile::from_text("scene.ron".as_ref(), text, Format::Ron);
    let built = read.and_then(|scene| scene.build(&Settings::default()));
    built.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Places of the elements of a node of points or bodies at the start.
fn places(scene: &BuiltScene, node: &str) -> Vec<[f64; 3]> {
    let id = scene
        .model
        .node_named(node)
        .unwrap_or_else(|| panic!("no node {node}"));
    let state = scene.model.initial_state().unwrap();
    let size = scene.model.node(id).space.position_size();
    let all = scene.model.positions(&state, id).chunks(size);
    all.map(|x| [x[0], x[1], x[2]]).collect()
}
