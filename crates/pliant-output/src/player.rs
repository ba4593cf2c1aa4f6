//! One self-contained HTML page that plays a [`Recording`]: our own WebGL2 script, no network,
//! nothing to install.
//!
//! [`player_html`] checks the recording, packs its numbers as base64 and puts them with the script
//! and the style into one template. What the user wrote (title, names) travels as JSON with `<`,
//! `>` and `&` escaped and is shown through `textContent` only; the title also stands in the page
//! as escaped text. So no name can inject markup.
//!
//! The page understands options behind `#`, such as `#t=1.25&paused&hide=ground`, which
//! reference/scenes/results.md of the book lists. It reports in `<output id="status">` either
//! `ready frames=120 time=0.350 drawn=17` (`drawn`: points + segments + triangles + bodies, joints
//! and arrows of the last picture) or `error: ...`, and with the option `state` the numbers of the
//! picture as JSON in `<output id="state">`; `cargo xtask player` tests pages by these.
//!
//! # The data of the page
//!
//! The JSON in `<script id="data">` holds the names and these base64 texts of little-endian
//! numbers:
//!
//! | key         | numbers | layout                                                               |
//! |-------------|---------|----------------------------------------------------------------------|
//! | `times`     | f64     | one per frame                                                        |
//! | `frames`    | f32     | per frame: x, y, z of every point, then position and quaternion of every body |
//! | `activations` | f32   | per frame: one of each line that is a muscle                         |
//! | `segments`  | u32     | two point indices each                                               |
//! | `triangles` | u32     | three point indices each                                             |
//! | `arrow_starts` | u32  | per frame the first of its contact forces, then their number         |
//! | `arrows`    | f32     | point and force of each contact force                                |
//! | `mesh`      | f32     | position of each corner, over four times the largest reach, and normal |
//! | `values` of a field | u16 | per frame: the points, and the bodies if it has them, in 65,535 steps from `low` to `high`; 65,535 is no value |
//! | `times`, `values` of a table | f64 | its lines                                               |

mod check;
mod data;
mod encode;
pub mod live;
#[cfg(test)]
mod tests;

use super::atomic::{Written, write_atomically};
use super::{ExportError, base64};
use crate::recording::Recording;
use data::{Data, Forces, LookData, Motion, Things};
use encode::{escape_html, fill, script_json};
use std::path::Path;

const PAGE: &str = include_str!("player/player.html");
const STYLE: &str = include_str!("player/player.css");
/// The parts of the script that draws, in order.
const SCRIPT: [&str; 11] = [
    include_str!("player/data.js"),
    include_str!("player/things.js"),
    include_str!("player/paint.js"),
    include_str!("player/shaders.js"),
    include_str!("player/meshes.js"),
    include_str!("player/render.js"),
    include_str!("player/camera.js"),
    include_str!("player/series.js"),
    include_str!("player/strip.js"),
    include_str!("player/pick.js"),
    include_str!("player/player.js"),
];
/// The last part of the script of a page that plays what it holds.
const START: &str = include_str!("player/start.js");

/// The most bytes of frames a page carries: browsers refuse texts of more than about 512 MiB.
pub const MAX_FRAME_BYTES: usize = 256 << 20;

/// Why a recording cannot be played.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlayerError {
    /// The recording holds no frame.
    #[error("the recording of \"{title}\" holds no frame")]
    NoFrames {
        /// Title of the scene.
        title: String,
    },
    /// A frame has another number of points than the groups name.
    #[error("frame {frame} holds {found} points, expected {expected}")]
    PointCount {
        /// Index of the frame.
        frame: usize,
        /// Points of all groups.
        expected: usize,
        /// Points of this frame.
        found: usize,
    },
    /// A frame has another number of poses than there are bodies.
    #[error("frame {frame} holds {found} poses, expected {expected}, one per body")]
    PoseCount {
        /// Index of the frame.
        frame: usize,
        /// Number of bodies.
        expected: usize,
        /// Poses of this frame.
        found: usize,
    },
    /// A group of points does not start where the one before it ends.
    #[error("the points of \"{group}\" start at {found}, expected {expected}")]
    GroupStart {
        /// The user's name of the node.
        group: String,
        /// End of the group before.
        expected: usize,
        /// Start of this group.
        found: usize,
    },
    /// A coordinate of a point is not a finite number of single precision.
    #[error("frame {frame} (t = {time} s): point {point} of \"{group}\" has the coordinate {value}")]
    Point {
        /// Index of the frame.
        frame: usize,
        /// Time of the frame in seconds.
        time: f64,
        /// The user's name of the node.
        group: String,
        /// Index of the point within its group.
        point: usize,
        /// The coordinate.
        value: f64,
    },
    /// A number of a pose is not finite in single precision, or the quaternion is zero.
    #[error("frame {frame} (t = {time} s): body \"{body}\" has no valid {part}: {value:?}")]
    Pose {
        /// Index of the frame.
        frame: usize,
        /// Time of the frame in seconds.
        time: f64,
        /// The user's name of the body.
        body: String,
        /// `position` or `rotation`.
        part: &'static str,
        /// The numbers of that part.
        value: Vec<f64>,
    },
    /// An energy is not a finite number of single precision.
    #[error("frame {frame} (t = {time} s): the {energy} energy is {value}")]
    Energy {
        /// Index of the frame.
        frame: usize,
        /// Time of the frame in seconds.
        time: f64,
        /// `kinetic`, `potential` or `dissipated`.
        energy: &'static str,
        /// The energy.
        value: f64,
    },
    /// A time is not finite, or earlier than the time before.
    #[error("frame {frame} has the time {time} s, which does not follow {previous} s")]
    Time {
        /// Index of the frame.
        frame: usize,
        /// Its time in seconds.
        time: f64,
        /// Time of the frame before in seconds (its own for the first frame).
        previous: f64,
    },
    /// A segment or a triangle names a point that does not exist.
    #[error("{kind} {index} names point {point}, but there are {points} points")]
    Index {
        /// `segment` or `triangle`.
        kind: &'static str,
        /// Index of the segment or triangle.
        index: usize,
        /// The point it names.
        point: u32,
        /// Number of points.
        points: usize,
    },
    /// A line has segments that do not exist.
    #[error("the line \"{line}\" ends at segment {end}, but there are {segments} segments")]
    Line {
        /// The user's name of the line.
        line: String,
        /// The segment behind its last one.
        end: usize,
        /// Number of segments.
        segments: usize,
    },
    /// A joint is on a body that does not exist.
    #[error("the joint \"{joint}\" is on body {body}, but there are {bodies} bodies")]
    Joint {
        /// The user's name of the joint.
        joint: String,
        /// The body it names.
        body: usize,
        /// Number of bodies.
        bodies: usize,
    },
    /// A size of a body's shape is negative or not finite.
    #[error("body \"{body}\" cannot be drawn: its shape has the size {size}")]
    Shape {
        /// The user's name of the body.
        body: String,
        /// The size in metres.
        size: f64,
    },
    /// The upward direction is zero or not finite.
    #[error("the upward direction {up:?} has no direction")]
    Up {
        /// The direction given.
        up: [f64; 3],
    },
    /// The frames are too many for a page; record fewer of them.
    #[error("{frames} frames take {bytes} bytes, but a page carries {limit}: record fewer frames")]
    TooLarge {
        /// Number of frames.
        frames: usize,
        /// Bytes of all frames.
        bytes: usize,
        /// [`MAX_FRAME_BYTES`].
        limit: usize,
    },
    /// The names of the recording could not be written as JSON.
    #[error("the names of the recording could not be written: {reason}")]
    Json {
        /// The JSON writer's error.
        reason: String,
    },
}

/// The page that plays `recording`, with `up` pointing up on the screen: against gravity, of any
/// length, usually `[0.0, 1.0, 0.0]`.
///
/// Numbers are stored in single precision, so a scene more than about 1000 times its size away from
/// the origin looks coarse. Of velocities there are the speeds. A recording without
/// points and bodies gives a page with the ground only.
///
/// # Errors
///
/// [`PlayerError`] names the first frame, point, body or index that cannot be drawn.
///
/// # Cost
///
/// Some passes over the frames; the page takes about 19 bytes per point and frame, 40 per body and
/// frame, and 3 per point and frame for each further field.
pub fn player_html(recording: &Recording, up: [f64; 3]) -> Result<String, PlayerError> {
    check::recording(recording)?;
    let up = check::unit(up)?;
    let numbers = recording
        .frames
        .first()
        .map_or(0, |f| 3 * f.points.len() + 7 * f.poses.len());
    let (fields, left_out) = data::fields(recording, 4 * numbers * recording.frames.len());
    let data = Data {
        format: 2,
        title: &recording.title,
        up,
        things: Things::of(recording),
        motion: Motion::of(recording),
        forces: Forces::of(recording),
        fields,
        left_out,
        tables: data::tables(recording),
        look: LookData::of(&recording.look),
    };
    let data = script_json(&data)?;
    let title = escape_html(&recording.title);
    Ok(fill(
        PAGE,
        &[
            ("title", &title),
            ("style", STYLE),
            ("data", &data),
            ("script", &[&SCRIPT.concat(), START].concat()),
            ("policy", ""),
        ],
    ))
}

/// Little-endian numbers as base64.
fn pack(bytes: impl Iterator<Item = u8>) -> String {
    base64::encode(&bytes.collect::<Vec<u8>>())
}

/// Writes the page of [`player_html`] to `path`, whole or not at all (see [`write_atomically`]).
///
/// # Errors
///
/// [`ExportError::Player`] if it cannot be drawn; then no file was touched. [`ExportError::Io`]
/// with `path`.
pub fn write_player(path: &Path, recording: &Recording, up: [f64; 3]) -> Result<Written, ExportError> {
    let page = player_html(recording, up)?;
    write_atomically(path, |file| file.write_all(page.as_bytes()))
}
