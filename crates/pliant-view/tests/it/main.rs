//! Views of scenes, from the other end of their sockets.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but not in their helpers"
)]

mod page;
mod runs;
mod strangers;

/// A stone that falls.
pub(crate) const STONE: &str = r#"(
    title: "Stone",
    parameters: {"mass": 2.0, "height": 1.0},
    gravity: (0, -10, 0),
    run: (duration: 0.5, step: 0.01),
    nodes: [Particles(name: "stone", positions: [(0, "$height", 0)], mass: "$mass")],
)"#;
