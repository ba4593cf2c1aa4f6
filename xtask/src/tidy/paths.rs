//! Files, tests and benchmarks named in the documents: a name that is gone misleads more than one
//! that was never given.

use super::Finding;
use crate::markdown;
use crate::sources::Sources;
use crate::text::find_word;

/// Code spans that start so are meant as paths of the repository.
const FOLDERS: &[&str] = &["crates/", "xtask/", "benches/", "docs/"];
/// Code spans that end so are meant as paths of the repository, or as the ends of such.
const ENDINGS: &[&str] = &[".rs", ".ron", ".py", ".md"];
/// Where the names of benchmarks stand.
const BENCHMARKS: &str = "benches/src/commands.rs";

pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    // The history of the project speaks of what is gone.
    for file in sources.ending(".md").filter(|file| file.path != "CHANGELOG.md") {
        for (number, line) in markdown::prose(&file.text) {
            for span in line.split('`').skip(1).step_by(2) {
                let message = missing_path(span, sources).or_else(|| missing_name(span, sources));
                findings.extend(message.map(|message| Finding::problem(&file.path, number, message)));
            }
        }
    }
    findings
}

/// The message about a path that is gone.
fn missing_path(span: &str, sources: &Sources) -> Option<String> {
    let is_path = span
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let is_whole = FOLDERS.iter().any(|folder| span.starts_with(folder));
    let is_end = ENDINGS
        .iter()
        .any(|ending| span.len() > ending.len() && span.ends_with(ending));
    let end = format!("/{span}");
    let is_known = sources.has(span) || !is_whole && sources.paths.iter().any(|path| path.ends_with(&end));
    (is_path && (is_whole || is_end) && !is_known).then(|| format!("no file or folder `{span}`"))
}

/// The message about a test or a benchmark that is gone, by the command that runs it.
fn missing_name(span: &str, sources: &Sources) -> Option<String> {
    let words: Vec<&str> = span.split_whitespace().collect();
    let (is_known, name) = match words[..] {
        ["cargo", "test", "-p", package, "--test", target, name, ..] => {
            let folder = format!("crates/{package}/tests/{target}/");
            let mut lines = sources
                .ending(".rs")
                .filter(|file| file.path.starts_with(&folder))
                .flat_map(|file| file.text.lines());
            let is_named = |line: &str, kind: &str| {
                line.trim()
                    .strip_prefix(kind)
                    .is_some_and(|rest| rest.contains(name))
            };
            (
                lines.any(|line| is_named(line, "fn ") || is_named(line, "mod ")),
                name,
            )
        }
        ["cargo", "xtask", "bench", name, ..] if name.starts_with(char::is_lowercase) => {
            let names = sources.get(BENCHMARKS).unwrap_or_default();
            (find_word(names, &format!("\"{name}\"")).is_some(), name)
        }
        _ => return None,
    };
    (!is_known).then(|| format!("no test or benchmark `{name}` for `{span}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tests_and_benchmarks_that_are_gone_are_found() {
        let text = "See `docs/` and `docs/a.md`.\nNot `crates/gone/` nor `crates/*`, nor `docs/b c`, nor `x`.\n\
            `it/main.rs`, `gone.rs`, `.rs`\n`cargo test -p a --test it falls` `cargo test -p a --test it flies`\n\
            `cargo xtask bench solids --quick` `cargo xtask bench gone` `cargo xtask bench NAME`\n";
        let sources = Sources::of(&[
            ("README.md", text),
            ("docs/a.md", ""),
            ("CHANGELOG.md", text),
            ("crates/a/tests/it/main.rs", "#[test]\nfn a_ball_falls() {}\n"),
            (BENCHMARKS, "command(\"solids\", run)\n"),
        ]);
        let found = check(&sources);
        let lines: Vec<usize> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [2, 3, 4, 5], "{found:?}");
        assert_eq!(found[0].message, "no file or folder `crates/gone/`");
        assert!(
            found[3].message.starts_with("no test or benchmark `gone`"),
            "{found:?}"
        );
    }
}
