//! `pliant view`.

use crate::arguments::{Scene, View as Arguments};
use crate::{BAD_SCENE, FAILED, complain, interrupt, print};
use pliant_scene::SceneError;
use pliant_view::{SceneSource, View, ViewError};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often it is looked whether a signal has come.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

pub(crate) fn view(arguments: &Arguments) -> u8 {
    let stop = interrupt::requested(true, interrupt::RUN);
    if let Err(error) = check(arguments) {
        complain(&error.to_string());
        if is_hopeless(&error) {
            return BAD_SCENE;
        }
    }
    let scene: Scene = arguments.scene.clone();
    let source = SceneSource {
        path: scene.path.clone(),
        settings: scene.settings(Some(&arguments.timing), arguments.threads),
        load: Box::new(move || scene.load()),
    };
    let view = match View::start(source, arguments.port) {
        Ok(view) => view,
        Err(error) => {
            let is_argument = arguments.port != 0 && matches!(error, ViewError::Port { .. });
            if !is_argument {
                complain(&format!("error: {error}"));
                return FAILED;
            }
            complain(&format!(
                "error: {error}\n = help: `--port` takes another one; without it, any that is free is taken"
            ));
            return BAD_SCENE;
        }
    };
    print(&format!("{}\nCtrl-C ends it\n", view.url()));
    if !arguments.no_open {
        open(view.url());
    }
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(BETWEEN_LOOKS);
    }
    0
}

/// Reads the scene; with values beside it, builds it with them.
fn check(arguments: &Arguments) -> Result<(), SceneError> {
    let file = arguments.scene.load()?;
    let settings = arguments
        .scene
        .settings(Some(&arguments.timing), arguments.threads);
    let is_given = !settings.parameters.is_empty()
        || settings.step.is_some()
        || settings.duration.is_some()
        || settings.integrator.is_some();
    match is_given {
        true => file.build(&settings).map(drop),
        false => Ok(()),
    }
}

/// Whether no change of the scene can mend it: the command is wrong.
fn is_hopeless(error: &SceneError) -> bool {
    matches!(
        error,
        SceneError::Read { .. } | SceneError::Extension { .. } | SceneError::Setting { .. }
    )
}

/// Opens the page in the browser of the desktop, if there is one; the address is printed anyhow.
fn open(url: &str) {
    let (program, first): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(first).arg(url);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Reaped with this program; browsers that stay in the foreground live on.
    let _ = command.spawn();
}
