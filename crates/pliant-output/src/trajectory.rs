//! The way of every body: a line for each body and recorded instant.

use std::path::Path;

use super::ExportError;
use super::atomic::{Written, write_atomically};
use super::csv::quoted;
use crate::recording::Recording;

/// Names of the columns: velocities are those of the centre of mass, angular ones in world axes.
pub const COLUMNS: [&str; 15] = [
    "time_s", "body", "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz", "vx_m/s", "vy_m/s", "vz_m/s", "wx_rad/s",
    "wy_rad/s", "wz_rad/s",
];

/// Whether a recording has angular velocities of bodies, as it has where their trajectory is asked for.
pub fn has_trajectory(recording: &Recording) -> bool {
    let first = recording.frames.first();
    first.is_some_and(|frame| !frame.angular_velocities.is_empty())
}

/// The lines: time, name of the body, and the numbers of the other columns.
pub(crate) fn lines(recording: &Recording) -> impl Iterator<Item = (f64, &str, [f64; 13])> {
    recording.frames.iter().flat_map(move |frame| {
        let bodies = recording
            .bodies
            .iter()
            .zip(&frame.poses)
            .zip(&frame.body_velocities)
            .zip(&frame.angular_velocities);
        bodies.map(|(((body, pose), linear), angular)| {
            let mut numbers = [0.0; 13];
            numbers[..7].copy_from_slice(pose);
            numbers[7..10].copy_from_slice(linear);
            numbers[10..].copy_from_slice(angular);
            (frame.time, body.name.as_str(), numbers)
        })
    })
}

/// Writes the trajectory as comma-separated values, numbers and names as in the other tables.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn write_trajectory_csv(path: &Path, recording: &Recording) -> Result<Written, ExportError> {
    write_atomically(path, |out| {
        writeln!(out, "{}", COLUMNS.join(","))?;
        for (time, name, numbers) in lines(recording) {
            write!(out, "{time:?},{}", quoted(name))?;
            for number in numbers {
                write!(out, ",{number:?}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    })
}
