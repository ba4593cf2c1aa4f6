//! Length of source files: one file, one subject.

use super::Finding;
use crate::sources::Sources;

/// Longer files are an error.
const MOST_LINES: usize = 700;
/// Longer files are pointed at.
const MANY_LINES: usize = 400;

pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources.ending(".rs") {
        let lines = file.text.lines().count();
        if lines > MOST_LINES {
            findings.push(Finding::problem(
                &file.path,
                1,
                format!("{lines} lines, at most {MOST_LINES}"),
            ));
        } else if lines > MANY_LINES {
            findings.push(Finding::note(
                &file.path,
                1,
                format!("{lines} lines, over {MANY_LINES}"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_noted_and_too_long_ones_fail() {
        let [good, long, longer] = [400, 401, 701].map(|lines| "\n".repeat(lines));
        let sources = Sources::of(&[
            ("a.rs", &good),
            ("b.rs", &long),
            ("c.rs", &longer),
            ("d.md", &longer),
        ]);
        let found: Vec<_> = check(&sources)
            .into_iter()
            .map(|finding| (finding.path, finding.is_note))
            .collect();
        assert_eq!(found, [("b.rs".to_owned(), true), ("c.rs".to_owned(), false)]);
    }
}
