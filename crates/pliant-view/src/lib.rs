//! Scenes that run while they are watched and touched.
//!
//! [`View::start`] runs a scene on a thread of its own and serves one page on the loopback
//! interface: the player of `pliant-output`, fed by a websocket. The page plays, pauses, steps and
//! restarts the run, sets its parameters, and pulls at what moves; the scene is read again when one
//! of its files changes. Nothing but the page and its socket is served, and neither without the
//! token in the address.
//!
//! reference/view.md of the book describes the protocol. The crate computes no mechanics of its own.

mod files;
mod http;
mod outbox;
mod protocol;
mod server;
mod session;

pub use server::{View, ViewError};
pub use session::SceneSource;

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
