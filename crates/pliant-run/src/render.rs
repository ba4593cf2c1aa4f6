//! Pictures of a run as PNG files: one, or the frames of a video.

use crate::Outcome;
use pliant_output::ExportError;
use pliant_output::png::write_png;
pub use pliant_output::raster::{MAX_PIXELS, RasterError};
use pliant_output::raster::{Shot, Side, draw};
use pliant_output::recording::{Frame, Look, Recording, Viewpoint};
use std::path::{Path, PathBuf};

/// The most frames of a video.
pub const MOST_FRAMES: usize = 100_000;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// No picture can be drawn.
    #[error(transparent)]
    Draw(#[from] RasterError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] ExportError),
}

/// Where pictures are seen from, and how large they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendering {
    /// Width and height (px).
    pub size: [u32; 2],
    /// The view: the name of one of the scene, `scene`, `moving`, `all`, `front`, `side`, `top` as in
    /// the player, or two places `X,Y,Z,X,Y,Z` (m),
    /// of the eye and in the middle of the picture; the camera of the scene, or `moving`, if none
    /// is given.
    pub view: Option<String>,
}

impl Rendering {
    /// Finds the view among those of a scene.
    ///
    /// # Errors
    /// The views that there are, if it is none of them.
    pub fn viewpoint(&self, look: &Look) -> Result<Viewpoint, Vec<String>> {
        let scene = || look.camera.clone().unwrap_or_default();
        let Some(text) = &self.view else {
            return Ok(scene());
        };
        if let Some((_, view)) = look.views.iter().find(|(name, _)| name == text) {
            return Ok(view.clone());
        }
        match (text.as_str(), places(text)) {
            ("scene", _) if look.camera.is_some() => Ok(scene()),
            ("moving", _) => Ok(Viewpoint::default()),
            (name, _) if sides(name).is_some() => Ok(Viewpoint::default()),
            (_, Some([eye, target])) if eye != target => Ok(Viewpoint {
                eye_and_target: Some([eye, target]),
                follow: None,
            }),
            _ => {
                let views = look.views.iter().map(|(name, _)| name.clone());
                let scene = look.camera.as_ref().map(|_| "scene".to_owned());
                let player = ["moving", "all", "front", "side", "top"].map(str::to_owned);
                Err(views.chain(scene).chain(player).collect())
            }
        }
    }

    fn shot(&self, outcome: &Outcome) -> Shot {
        let recording = &outcome.recording;
        let [width, height] = self.size.map(f64::from);
        let named = |name: &str| recording.look.views.iter().any(|(view, _)| view == name);
        if let Some(side) = self.view.as_deref().filter(|name| !named(name)).and_then(sides) {
            return Shot::of_all(recording, side, outcome.up, width / height);
        }
        let view = self.viewpoint(&recording.look).unwrap_or_default();
        Shot::of(recording, &view, outcome.up, width / height)
    }

    fn write(
        &self,
        path: &Path,
        recording: &Recording,
        frame: &Frame,
        shot: &Shot,
    ) -> Result<(), RenderError> {
        let camera = shot.at(recording, frame);
        let pixels = draw(recording, frame, &camera, self.size.map(|side| side as usize))?;
        write_png(path, &pixels, self.size)?;
        Ok(())
    }

    /// Draws the moment at a time (s), or the last one before it; returns its time. Views that the
    /// scene has not are those of its camera.
    ///
    /// # Errors
    /// [`RenderError`] for a size or a camera that makes no picture, and for a file that cannot be
    /// written.
    pub fn picture(&self, outcome: &Outcome, time: f64, path: &Path) -> Result<f64, RenderError> {
        let recording = &outcome.recording;
        let frame = at(recording, time);
        self.write(path, recording, &frame, &self.shot(outcome))?;
        Ok(frame.time)
    }

    /// Draws the moments from the start to the end, `between` (s) one after the other, as
    /// `frame-00000.png` and so on into a directory, which is made if it is missing. Frames of an
    /// earlier video there are removed. Returns the number of frames, at most [`MOST_FRAMES`].
    ///
    /// # Errors
    /// As of [`picture`](Self::picture).
    pub fn frames(&self, outcome: &Outcome, between: f64, folder: &Path) -> Result<usize, RenderError> {
        let recording = &outcome.recording;
        clear(folder)?;
        let [first, last] = [recording.frames.first(), recording.frames.last()]
            .map(|frame| frame.map_or(0.0, |frame| frame.time));
        // A hair before the end is the end.
        let count = ((last - first) / between + 1e-6).floor().max(0.0) as usize + 1;
        let count = count.min(MOST_FRAMES);
        let shot = self.shot(outcome);
        for k in 0..count {
            let frame = at(recording, first + k as f64 * between);
            let path = folder.join(format!("frame-{k:05}.png"));
            self.write(&path, recording, &frame, &shot)?;
        }
        Ok(count)
    }
}

/// The side that a view of the player sees everything from, or none of its own.
fn sides(view: &str) -> Option<Option<Side>> {
    match view {
        "all" => Some(None),
        "front" => Some(Some(Side::Front)),
        "side" => Some(Some(Side::Right)),
        "top" => Some(Some(Side::Top)),
        _ => None,
    }
}

/// Six finite numbers: the places of the eye and of what it looks at.
fn places(text: &str) -> Option<[[f64; 3]; 2]> {
    let numbers = text
        .split(',')
        .map(|x| x.trim().parse::<f64>().ok().filter(|x| x.is_finite()));
    let numbers: [f64; 6] = numbers.collect::<Option<Vec<_>>>()?.try_into().ok()?;
    let [a, b, c, d, e, f] = numbers;
    Some([[a, b, c], [d, e, f]])
}

/// The frame at a time, between those that were recorded.
fn at(recording: &Recording, time: f64) -> Frame {
    let frames = &recording.frames;
    let after = frames.partition_point(|frame| frame.time <= time);
    let before = &frames[after.saturating_sub(1)];
    match frames.get(after) {
        Some(next) if after > 0 => before.towards(next, (time - before.time) / (next.time - before.time)),
        _ => before.clone(),
    }
}

/// Makes the directory, and removes the frames of an earlier video from it.
fn clear(folder: &Path) -> Result<(), ExportError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ExportError::Io { path, source }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        let path: PathBuf = entry.map_err(failed(folder))?.path();
        let is_frame = path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| {
                let digits = name
                    .strip_prefix("frame-")
                    .and_then(|rest| rest.strip_suffix(".png"));
                digits.is_some_and(|d| d.len() == 5 && d.bytes().all(|b| b.is_ascii_digit()))
            });
        if is_frame {
            std::fs::remove_file(&path).map_err(failed(&path))?;
        }
    }
    Ok(())
}
