//! Paths without links, and from one place to another.

use crate::SweepError;
use std::path::{Component, Path, PathBuf};

/// A path without links, as far as there is something on the way to it.
pub(crate) fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = path.ancestors().find_map(|part| {
        let real = part.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(part).ok()?))
    });
    // Of a path that is there, `join` leaves a slash at the end.
    there.unwrap_or(path).components().collect()
}

/// A file in its directory without links. The file itself may be a link: what it reads beside
/// itself is beside the link.
pub(crate) fn real_parent(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        _ => real(&path),
    }
}

/// The way from a directory to a path, both without links.
pub(crate) fn between(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return to.iter().collect();
    }
    let up = from[common..].iter().map(|_| Component::ParentDir);
    up.chain(to[common..].iter().copied()).collect()
}

/// A path as a text, with forward slashes.
pub(crate) fn unicode(path: &Path) -> Result<String, SweepError> {
    let text = path.to_str().ok_or_else(|| {
        let message = format!(
            "the path {} is no Unicode, which a manifest is made of",
            path.display()
        );
        SweepError::setting(message, None)
    })?;
    Ok(match text {
        "" => ".".to_owned(),
        text => text.replace(std::path::MAIN_SEPARATOR, "/"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_between_paths() {
        for (from, to, way) in [
            ("/a/out/s", "/a/scenes/x.ron", "../../scenes/x.ron"),
            ("/a", "/a/x.ron", "x.ron"),
            ("/a/b", "/a/b", ""),
            ("/a/b", "/", "../.."),
        ] {
            assert_eq!(
                between(Path::new(from), Path::new(to)),
                Path::new(way),
                "{from} {to}"
            );
        }
    }
}
