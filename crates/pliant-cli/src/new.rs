//! `pliant new`: scenes to begin with.

use crate::arguments::New;
use crate::table::columns;
use crate::{BAD_SCENE, NOT_WRITTEN, complain, print, write_whole};
use std::path::{Path, PathBuf};

/// A shipped scene that needs no other file.
struct Template {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

/// The template of a shipped scene, of which `cargo xtask gen` keeps a copy here.
macro_rules! template {
    ($name:literal, $about:literal) => {
        Template {
            name: $name,
            about: $about,
            text: include_str!(concat!("../templates/", $name, ".ron")),
        }
    };
}

/// From the simplest on.
const TEMPLATES: [Template; 14] = [
    template!("pendulum", "a particle on a rod"),
    template!("double_pendulum", "two particles on rods"),
    template!("slider_crank", "a crank that drives a slider"),
    template!("stack", "boxes that touch"),
    template!("incline", "a block on a slope, with friction"),
    template!("servo_arm", "a robot arm with servos"),
    template!("gripper", "jaws that lift a box by friction"),
    template!("quadruped", "a robot that trots"),
    template!("trebuchet", "events and probes"),
    template!("crane", "a rope over a pulley, and a winch"),
    template!("beam", "a cantilever of bodies and springs"),
    template!("solid_beam", "finite elements"),
    template!("curtain", "cloth"),
    template!("snap_through", "equilibria over a load"),
];

pub(crate) fn new(arguments: &New) -> u8 {
    let Some(name) = &arguments.template else {
        print(&list());
        return 0;
    };
    let Some(template) = TEMPLATES.iter().find(|t| t.name == name) else {
        complain(&format!(
            "error: there is no template `{name}`\n{}",
            list().trim_end()
        ));
        return BAD_SCENE;
    };
    let path = arguments
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{name}.ron")));
    if path.extension().is_none_or(|e| e != "ron") {
        complain(&format!(
            "error: {} is not a scene by its name\n = help: it ends in `.ron`",
            path.display()
        ));
        return BAD_SCENE;
    }
    match write(&path, template) {
        Ok(()) => {
            print(&format!(
                "written: {0}\nrun it:  pliant run {0}\n",
                path.display()
            ));
            0
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            complain(&format!(
                "error: {} is there already\n = help: `-o` takes another name",
                path.display()
            ));
            NOT_WRITTEN
        }
        Err(error) => {
            complain(&format!("error: cannot write {}: {error}", path.display()));
            NOT_WRITTEN
        }
    }
}

/// Writes the whole scene or none, and over no file; its comments name the file.
fn write(path: &Path, template: &Template) -> std::io::Result<()> {
    let shipped = format!("scenes/{}.ron", template.name);
    let text = template.text.replace(&shipped, &path.display().to_string());
    if path.symlink_metadata().is_ok() {
        return Err(std::io::ErrorKind::AlreadyExists.into());
    }
    write_whole(path, &text)
}

/// The templates, a line for each.
fn list() -> String {
    let rows: Vec<[String; 2]> = TEMPLATES
        .iter()
        .map(|t| [t.name.to_owned(), t.about.to_owned()])
        .collect();
    format!("{}\npliant new NAME writes NAME.ron\n", columns(&rows))
}
