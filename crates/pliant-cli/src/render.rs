//! `pliant render`.

use crate::arguments::Render;
use crate::picture::{Refusal, check_folder, picture_file};
use crate::progress::Watch;
use crate::run::code_of;
use crate::table::number;
use crate::{BAD_SCENE, INTERRUPTED, NOT_WRITTEN, complain, interrupt, print};
use pliant_run::render::{MAX_PIXELS, MOST_FRAMES, RenderError, Rendering};
use pliant_run::{Outcome, Runner};
use pliant_scene::SceneError;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// The most moments that are kept for one picture.
const MOST_KEPT: usize = 2000;

pub(crate) fn render(arguments: &Render) -> u8 {
    // Ahead of the run, which may take long.
    let place = match place(arguments) {
        Ok(place) => place,
        Err(refusal) => {
            complain(&refusal.message);
            return refusal.code;
        }
    };
    let stop = interrupt::requested(arguments.quiet, interrupt::RUN);
    let (runner, rendering) = match prepare(arguments) {
        Ok(prepared) => prepared,
        Err(error) => {
            complain(&error.to_string());
            return BAD_SCENE;
        }
    };
    let end = arguments.time.unwrap_or(f64::INFINITY);
    let mut watch = Watch::new(arguments.quiet, runner.steps_planned());
    let outcome = runner.run_while(|progress| {
        watch.step(&progress);
        // One picture needs no more of the motion.
        match stop.load(Ordering::Relaxed) || progress.report.time > end {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    watch.end();
    let mut code = outcome.error.as_ref().map_or(0, code_of);
    if stop.load(Ordering::Relaxed) {
        code = INTERRUPTED;
    }
    match draw(arguments, &rendering, &outcome, &place) {
        Ok(sentence) if !arguments.quiet => print(&sentence),
        Ok(_) => {}
        Err(error) => {
            complain(&format!("error: {error}"));
            code = if code == 0 { NOT_WRITTEN } else { code };
        }
    }
    if let Some(error) = &outcome.error {
        complain(&format!("error: {error}"));
    }
    code
}

/// The scene in its initial state, with as many pictures recorded as the frames need.
fn prepare(arguments: &Render) -> Result<(Runner, Rendering), SceneError> {
    let wrong = |message: String, help: Option<String>| SceneError::Setting { message, help };
    let Render { fps, speed, time, .. } = arguments;
    for (name, value) in [("fps", fps), ("speed", speed)] {
        if !(*value > 0.0 && value.is_finite()) {
            return Err(wrong(
                format!("--{name} is {value}, but must be positive and finite"),
                None,
            ));
        }
    }
    if let Some(time) = time.filter(|time| !(*time >= 0.0 && time.is_finite())) {
        return Err(wrong(
            format!("--time is {time}, but must be zero or later"),
            None,
        ));
    }
    let rendering = Rendering {
        size: arguments.size,
        view: arguments.view.clone(),
    };
    let [width, height] = rendering.size;
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 || pixels > MAX_PIXELS as u64 {
        let message = format!("--size is {width}x{height}: at least 1x1, at most {MAX_PIXELS} pixels in all");
        return Err(wrong(message, None));
    }
    let scene = arguments.scene.load()?;
    let mut built = scene.build(
        &arguments
            .scene
            .settings(Some(&arguments.timing), arguments.threads),
    )?;
    arguments.timing.check(&built)?;
    if let Err(views) = rendering.viewpoint(&built.picture.look) {
        let message = format!(
            "there is no view `{}`",
            arguments.view.as_deref().unwrap_or_default()
        );
        let help = format!(
            "views: {}; or two different places, of the eye and of what it looks at: X,Y,Z,X,Y,Z",
            views.join(", ")
        );
        return Err(wrong(message, Some(help)));
    }
    let between = speed / fps;
    if built.statics.is_none() {
        if let Some(time) = time.filter(|time| *time > built.plan.duration) {
            let message = format!("--time is {time}, but the run ends at {} s", built.plan.duration);
            return Err(wrong(message, Some("`--duration` makes it longer".to_owned())));
        }
        let frames = built.plan.duration / between;
        if arguments.frames && frames > MOST_FRAMES as f64 {
            let help = "take a smaller `--fps`, or a larger `--speed`".to_owned();
            return Err(wrong(
                format!("{frames:.0} frames, more than {MOST_FRAMES}"),
                Some(help),
            ));
        }
        // No fewer pictures than frames; one at a time of its own is between the two next to it.
        let every = (between / built.plan.step).clamp(1.0, 1e9) as usize;
        let every = match time {
            Some(_) => built.plan.steps.div_ceil(MOST_KEPT).max(1),
            None => every,
        };
        built.plan.record_every = built.plan.record_every.min(every);
    }
    Ok((Runner::new(built)?.with_room()?, rendering))
}

/// Where pictures go.
struct Destination {
    /// The path by which the user calls it, for messages.
    path: PathBuf,
    /// The file or directory itself.
    target: PathBuf,
}

/// The file of the picture, or the directory of the frames, which may be written.
fn place(arguments: &Render) -> Result<Destination, Refusal> {
    let stem = arguments.scene.path.file_stem().unwrap_or_default();
    let given = arguments.output.clone();
    if arguments.frames {
        let mut folder = stem.to_owned();
        folder.push("-frames");
        let path = given.unwrap_or_else(|| Path::new("out").join(folder));
        check_folder(&path)?;
        let target = path.clone();
        return Ok(Destination { path, target });
    }
    let default = || {
        let mut file = stem.to_owned();
        file.push(".png");
        PathBuf::from(file)
    };
    let path = given.unwrap_or_else(default);
    let target = picture_file(&path, "png")?;
    Ok(Destination { path, target })
}

/// Draws what is asked for; a sentence on what to do with it.
fn draw(
    arguments: &Render,
    rendering: &Rendering,
    outcome: &Outcome,
    place: &Destination,
) -> Result<String, RenderError> {
    let Destination { path, target } = place;
    if !arguments.frames {
        let time = rendering.picture(outcome, arguments.time.unwrap_or(f64::INFINITY), target)?;
        return Ok(format!("{}: t = {} s\n", path.display(), number(time)));
    }
    let count = rendering.frames(outcome, arguments.speed / arguments.fps, target)?;
    let stem = arguments.scene.path.file_stem().unwrap_or_default();
    Ok(format!(
        "{count} frames in {folder}; a video of them:\n  ffmpeg -framerate {} -i {} -pix_fmt yuv420p {}.mp4\n",
        arguments.fps,
        path.join("frame-%05d.png").display(),
        stem.to_string_lossy(),
        folder = path.display(),
    ))
}
