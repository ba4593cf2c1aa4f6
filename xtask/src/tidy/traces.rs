//! Traces of one machine: paths of its folders, and package registries or mirrors that only it can
//! reach.

use super::Finding;
use crate::sources::Sources;

/// Cargo's own record of where packages come from.
const EXEMPT: &[&str] = &["Cargo.lock"];

/// Folders of a particular machine. (Each is split, here and below, so that this file passes its
/// own check.)
const FOLDERS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/tm", "p/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
];

/// Package registries, and the settings that redirect to one.
const REGISTRIES: &[&str] = &[
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("npm", "js.org"),
    concat!("npm", "js.com"),
    concat!("ruby", "gems.org"),
    concat!("proxy.go", "lang.org"),
    concat!("sparse+", "http"),
    concat!("replace", "-with"),
    concat!("index", "-url"),
];

pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources
        .files
        .iter()
        .filter(|file| !EXEMPT.contains(&file.path.as_str()))
    {
        for (index, line) in file.text.lines().enumerate() {
            for folder in FOLDERS.iter().filter(|folder| has_absolute(line, folder)) {
                let message = format!("`{folder}` is a folder of one machine: write a relative path");
                findings.push(Finding::problem(&file.path, index + 1, message));
            }
            for host in REGISTRIES.iter().filter(|host| line.contains(*host)) {
                let message =
                    format!("`{host}`: which registry serves the packages is the user's configuration");
                findings.push(Finding::problem(&file.path, index + 1, message));
            }
        }
    }
    findings
}

/// Whether the folder stands in the line as the start of a path, not in the middle of one.
fn has_absolute(line: &str, folder: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | ')' | '~');
    line.match_indices(folder)
        .any(|(at, _)| !line[..at].chars().next_back().is_some_and(continues))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Sources::of(&[(path, text)]))
            .into_iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn folders_of_a_machine_are_found_and_parts_of_paths_are_not() {
        for folder in FOLDERS {
            assert_eq!(lines("a.md", &format!("x\nsee `{folder}a`\n")), [2], "{folder}");
            assert!(
                lines("a.md", &format!("see `docs{folder}a`\n")).is_empty(),
                "{folder}"
            );
        }
    }

    #[test]
    fn registries_are_found_except_in_the_lock_file() {
        for host in REGISTRIES {
            assert_eq!(lines(".cargo/config.toml", &format!("# {host}\n")), [1], "{host}");
            assert!(lines("Cargo.lock", &format!("# {host}\n")).is_empty(), "{host}");
        }
    }
}
