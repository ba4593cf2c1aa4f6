//! Places of pictures: what may be written over.

use crate::{BAD_SCENE, NOT_WRITTEN};
use std::path::{Path, PathBuf};

/// Why a picture cannot be written, and the exit code.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) code: u8,
}

impl Refusal {
    fn new(message: &str, help: &str, code: u8) -> Self {
        let message = format!("error: {message}\n = help: {help}");
        Self { message, code }
    }
}

/// The file to write a picture into that a path means. A link to a file stays a link, and the file
/// behind it is written. What is there and is no file (a directory, a device, a pipe) is refused,
/// and so are other endings: a slip of the hand must not replace a scene or a table.
pub(crate) fn picture_file(path: &Path, ending: &str) -> Result<PathBuf, Refusal> {
    let shown = path.display();
    let example = path.with_extension(ending);
    if path.as_os_str() == "-" {
        let message = "`-o -`: pictures are written into files, not to standard output";
        let help = format!("name a file, as in `-o picture.{ending}`");
        return Err(Refusal::new(message, &help, BAD_SCENE));
    }
    let has_ending = |path: &Path| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending));
    match (std::fs::metadata(path), std::fs::symlink_metadata(path)) {
        (Ok(there), _) if !there.is_file() => {
            let message = format!("{shown} is there and is no file: a picture does not replace it");
            let help = format!("name a file, as in `-o picture.{ending}`");
            Err(Refusal::new(&message, &help, NOT_WRITTEN))
        }
        _ if !has_ending(path) => {
            let message = format!("{shown} is no picture by its name");
            let help = format!(
                "the name of the picture ends in `.{ending}`: `-o {}`",
                example.display()
            );
            Err(Refusal::new(&message, &help, BAD_SCENE))
        }
        (Ok(_), Ok(link)) if link.is_symlink() => match path.canonicalize() {
            Ok(target) if has_ending(&target) => Ok(target),
            Ok(target) => {
                let target = target.display();
                let message = format!("{shown} is a link to {target}, which is no picture by its name");
                Err(Refusal::new(&message, "choose another name", NOT_WRITTEN))
            }
            Err(error) => {
                let message = format!("cannot follow the link {shown}: {error}");
                Err(Refusal::new(&message, "choose another name", NOT_WRITTEN))
            }
        },
        (Err(_), Ok(_)) => {
            let message = format!("{shown} is a link to a file that is not there");
            Err(Refusal::new(
                &message,
                "remove the link, or choose another name",
                NOT_WRITTEN,
            ))
        }
        _ => Ok(path.to_owned()),
    }
}

/// Refuses to make a directory of pictures where something else is.
pub(crate) fn check_folder(path: &Path) -> Result<(), Refusal> {
    if path.symlink_metadata().is_ok() && !path.is_dir() {
        let message = format!("{} is there and is no directory", path.display());
        let help = "with `--frames`, `-o` names a directory for the frames";
        return Err(Refusal::new(&message, help, NOT_WRITTEN));
    }
    Ok(())
}
