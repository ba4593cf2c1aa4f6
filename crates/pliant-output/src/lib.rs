//! Recorded motions, and the files that are written of them: ParaView collections, tables, plots
//! and a page that plays.
//!
//! Every file is written beside its final place and renamed when complete (see [`atomic`]), so that
//! an interrupted run leaves no half of one. The files of a run are a set of their own (see
//! [`directory`]). The writers read nothing but the recording, check it first, and return an
//! [`ExportError`] that names the frame or cell that is wrong.
//!
//! With the feature `parquet`, off by default, tables are written as Parquet files, too.
#![cfg_attr(docsrs, feature(doc_cfg))]

use std::io;
use std::path::{Path, PathBuf};

use recording::Recording;

pub mod atomic;
mod base64;
pub mod csv;
pub mod directory;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod player;
pub mod plot;
pub mod png;
pub mod raster;
pub mod recording;
pub mod sealed;
pub mod trajectory;
pub mod vtk;

/// Why a result could not be written.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The operating system refused a file operation.
    #[error("cannot write {path}: {source}", path = path.display())]
    Io {
        /// The file or directory meant.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another run has the directory.
    #[error("another run is writing into {path}: wait for its end, or choose another directory", path = path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// A symbolic link is where a directory or a lock should be: what it leads to may be somebody
    /// else's.
    #[error(
        "cannot write {path}: it is a link to {target}, and results are not written through links; name the directory itself",
        path = path.display(),
        target = target.display()
    )]
    Link {
        /// The link.
        path: PathBuf,
        /// Its target.
        target: PathBuf,
    },
    /// The manifest is a file of another program, or was changed.
    #[error(
        "cannot write {path}: the one that is there was not written by this version of Pliant; remove it, or choose another directory",
        path = path.display()
    )]
    NoManifest {
        /// The file.
        path: PathBuf,
    },
    /// A frame does not hold as many entries as the recording needs.
    #[error("frame {frame} of the recording has {found} {what}, expected {expected}")]
    WrongLength {
        /// Index of the frame, from zero.
        frame: usize,
        /// Which of its lists.
        what: &'static str,
        /// Entries needed.
        expected: usize,
        /// Entries present.
        found: usize,
    },
    /// The recording cannot be drawn by the player.
    #[error("cannot make the page of the player: {0}")]
    Player(#[from] player::PlayerError),
    /// A segment or triangle names a point that does not exist.
    #[error("{what} {cell} of the recording names point {index}, but there are {points} points")]
    BadIndex {
        /// `"segment"`, `"triangle"` or `"cell of a region"`.
        what: &'static str,
        /// Index of the cell, from zero.
        cell: usize,
        /// The point it names.
        index: u32,
        /// Number of points of a frame.
        points: usize,
    },
}

impl ExportError {
    /// An error of the system about a file.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_path_buf(),
            source,
        }
    }
}

/// Checks that the cells of regions name points that there are, and the regions points of frames.
fn check_regions(recording: &Recording, points: usize) -> Result<(), ExportError> {
    for region in &recording.regions {
        let wrong = |cell: usize, index: u32, points: usize| ExportError::BadIndex {
            what: "cell of a region",
            cell,
            index,
            points,
        };
        if let Some(first) = region.first_point
            && first.saturating_add(region.point_count) > points
        {
            return Err(wrong(0, u32::try_from(first).unwrap_or(u32::MAX), points));
        }
        for (number, cell) in region.cells.iter().enumerate() {
            let beyond = cell
                .nodes
                .iter()
                .find(|node| **node as usize >= region.point_count);
            if let Some(node) = beyond {
                return Err(wrong(number, *node, region.point_count));
            }
        }
    }
    Ok(())
}

/// Checks that all frames fit the fixed topology, so that the writers can index without asking
/// again.
///
/// # Errors
/// [`ExportError::WrongLength`] or [`ExportError::BadIndex`], for the first misfit.
fn check_topology(recording: &Recording) -> Result<(), ExportError> {
    let Some(first) = recording.frames.first() else {
        return Ok(());
    };
    let points = first.points.len();
    for (index, frame) in recording.frames.iter().enumerate() {
        let pressures = match frame.pressures.len() {
            0 => points,
            found => found,
        };
        let known = |found: usize, expected: usize| if found == 0 { expected } else { found };
        let bodies = recording.bodies.len();
        let forces = known(frame.contact_forces.len(), points);
        let body_forces = known(frame.body_contact_forces.len(), bodies);
        let regions = known(frame.regions.len(), recording.regions.len());
        let moving = known(frame.body_velocities.len(), bodies);
        // Colliders that are drawn have none.
        let turning = frame.angular_velocities.len();
        let lists = [
            ("contact pressures", points, pressures),
            ("contact forces", points, forces),
            ("contact forces on bodies", bodies, body_forces),
            ("velocities of bodies", bodies, moving),
            ("angular velocities of bodies", turning.min(bodies), turning),
            ("regions", recording.regions.len(), regions),
            ("points", points, frame.points.len()),
            ("velocities", points, frame.velocities.len()),
            ("poses", recording.bodies.len(), frame.poses.len()),
        ];
        for (what, expected, found) in lists {
            if found != expected {
                return Err(ExportError::WrongLength {
                    frame: index,
                    what,
                    expected,
                    found,
                });
            }
        }
        let misfits = recording.regions.iter().zip(&frame.regions);
        if let Some((what, expected, found)) = misfits.filter_map(|(r, f)| r.misfit(f)).next() {
            return Err(ExportError::WrongLength {
                frame: index,
                what,
                expected,
                found,
            });
        }
    }
    check_regions(recording, points)?;
    let segments = recording.segments.iter().map(<[u32; 2]>::as_slice).enumerate();
    let triangles = recording.triangles.iter().map(<[u32; 3]>::as_slice).enumerate();
    let cells = segments
        .map(|(i, c)| ("segment", i, c))
        .chain(triangles.map(|(i, c)| ("triangle", i, c)));
    for (what, cell, corners) in cells {
        for &index in corners {
            if index as usize >= points {
                return Err(ExportError::BadIndex {
                    what,
                    cell,
                    index,
                    points,
                });
            }
        }
    }
    Ok(())
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
