//! Whether files have changed.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The time and the size of a file; none if it is not there.
type Look = Option<(Option<SystemTime>, u64)>;

fn look(path: &Path) -> Look {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok(), meta.len()))
}

/// Files that are looked at again and again.
#[derive(Debug, Default)]
pub(crate) struct Files {
    known: Vec<(PathBuf, Look)>,
    /// How they were when they had changed, at the look before this one.
    changed: Option<Vec<Look>>,
}

impl Files {
    /// Watches these from now on, as they are now.
    pub(crate) fn watch(&mut self, mut paths: Vec<PathBuf>) {
        paths.sort();
        paths.dedup();
        self.known = paths
            .into_iter()
            .map(|path| (look(&path), path))
            .map(|(l, p)| (p, l))
            .collect();
        self.changed = None;
    }

    /// Says whether one of them has changed since it was watched, and none since the last look: what
    /// is being written is left until it is.
    pub(crate) fn have_changed(&mut self) -> bool {
        let now: Vec<Look> = self.known.iter().map(|(path, _)| look(path)).collect();
        let differ = now.iter().zip(&self.known).any(|(now, (_, then))| now != then);
        if differ && self.changed.as_ref() == Some(&now) {
            return true;
        }
        self.changed = differ.then_some(now);
        false
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.known.iter().map(|(path, _)| path)
    }
}

/// The scene files in the directory of a scene: one of them may be what it includes and cannot be
/// read.
pub(crate) fn beside(scene: &Path) -> Vec<PathBuf> {
    let folder = match scene.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let is_scene = |path: &PathBuf| path.extension().is_some_and(|e| e == "ron" || e == "json");
    paths.filter(is_scene).take(1000).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_once_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ron");
        std::fs::write(&path, "one").unwrap();
        let mut files = Files::default();
        files.watch(vec![
            path.clone(),
            path.clone(),
            folder.path().join("missing.ron"),
        ]);
        assert_eq!(files.paths().count(), 2);
        assert!(!files.have_changed() && !files.have_changed());
        std::fs::write(&path, "longer").unwrap();
        assert!(!files.have_changed());
        std::fs::write(&path, "longer still").unwrap();
        assert!(!files.have_changed());
        assert!(files.have_changed());
        std::fs::remove_file(&path).unwrap();
        files.watch(vec![path.clone()]);
        assert!(!files.have_changed());
        std::fs::write(&path, "back").unwrap();
        assert!(!files.have_changed());
        assert!(files.have_changed());
    }
}
