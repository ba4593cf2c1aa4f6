//! The text files of the project, read once.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::process;

/// One text file: its path relative to the workspace root, with `/` between folders, and its
/// contents.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The project's files: those that git tracks or would track.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Text files, in the order of their paths.
    pub(crate) files: Vec<File>,
    /// Every path, that of binary files included, in order.
    pub(crate) paths: Vec<String>,
}

impl Sources {
    /// Reads every file of the workspace that git does not ignore.
    pub(crate) fn read() -> Result<Sources, Error> {
        let root = process::workspace_root()?;
        let mut paths = match listed_by_git(&root) {
            Some(paths) => paths,
            None => walk(&root)?,
        };
        paths.sort();
        paths.dedup();
        paths.retain(|path| root.join(path).is_file());
        let mut files = Vec::new();
        for path in &paths {
            let full = root.join(path);
            let bytes = std::fs::read(&full).map_err(|source| Error::File { path: full, source })?;
            if let Ok(text) = String::from_utf8(bytes)
                && !text.contains('\0')
            {
                files.push(File {
                    path: path.clone(),
                    text,
                });
            }
        }
        Ok(Sources { files, paths })
    }

    /// The text of one file.
    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        let place = self
            .files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()?;
        Some(&self.files[place].text)
    }

    /// The text files whose name ends so.
    pub(crate) fn ending(&self, suffix: &str) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| file.path.ends_with(suffix))
    }

    /// Whether a file or a folder has this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        path.is_empty()
            || self
                .paths
                .iter()
                .any(|known| known == path || known.starts_with(&folder))
    }
}

#[cfg(test)]
impl Sources {
    /// A synthetic project.
    pub(crate) fn of(files: &[(&str, &str)]) -> Sources {
        let mut files: Vec<File> = files
            .iter()
            .map(|(path, text)| File {
                path: (*path).to_owned(),
                text: (*text).to_owned(),
            })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let paths = files.iter().map(|file| file.path.clone()).collect();
        Sources { files, paths }
    }
}

/// Tracked files and new files that are not ignored; `None` outside of a git repository or without
/// git.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let mut command = Command::new("git");
    command
        .current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listing = String::from_utf8(process::capture(command).ok()?).ok()?;
    let paths: Vec<String> = listing
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    (!paths.is_empty()).then_some(paths)
}

/// Every file below the root, without build products and version control.
fn walk(root: &Path) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let full = root.join(&folder);
        let failed = |source| Error::File {
            path: full.clone(),
            source,
        };
        for entry in std::fs::read_dir(&full).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = folder.join(entry.file_name());
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir()
                && !["target", ".git", "out"]
                    .iter()
                    .any(|skipped| path == Path::new(skipped))
            {
                folders.push(path);
            } else if kind.is_file() {
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_found_with_and_without_git() {
        let here = "xtask/src/sources.rs";
        assert!(Sources::read().unwrap().get(here).is_some());
        assert!(
            walk(&process::workspace_root().unwrap())
                .unwrap()
                .iter()
                .any(|path| path == here)
        );
    }

    #[test]
    fn folders_and_files_are_known_by_their_whole_name() {
        let sources = Sources::of(&[("docs/notation.md", "")]);
        assert!(sources.has("docs/notation.md") && sources.has("docs") && sources.has("docs/"));
        assert!(!sources.has("doc") && !sources.has("docs/not"));
    }
}
