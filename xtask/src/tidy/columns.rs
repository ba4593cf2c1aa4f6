//! Width of comments in Rust files; `cargo xtask reflow` wraps them.

use super::Finding;
use crate::sources::Sources;
use crate::text::lines_in_literals;

/// Longer lines are an error, where they can be broken.
const MOST_COLUMNS: usize = 110;

pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources.ending(".rs") {
        let mut in_code = false;
        let in_literal = lines_in_literals(&file.text);
        for (index, line) in file.text.lines().enumerate() {
            let comment = line.trim_start().strip_prefix("//");
            let Some(text) = comment.filter(|_| !in_literal[index]) else {
                in_code = false;
                continue;
            };
            let text = text.trim_start_matches(['/', '!']).trim();
            in_code ^= text.starts_with("```");
            let columns = line.chars().count();
            if columns > MOST_COLUMNS && !in_code && !text.starts_with('|') && text.contains(' ') {
                let message = format!(
                    "a comment of {columns} columns, at most {MOST_COLUMNS}: `cargo xtask reflow` wraps it"
                );
                findings.push(Finding::problem(&file.path, index + 1, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_comments_are_found_and_code_and_tables_left() {
        let long = "word ".repeat(30);
        let text = format!(
            "/// {long}\n/// ```\n/// {long}\n/// ```\n/// | {long} |\nlet a = \"{long}\";\n    // {long}\n"
        );
        let lines: Vec<usize> = check(&Sources::of(&[("a.rs", &text)]))
            .into_iter()
            .map(|f| f.line)
            .collect();
        assert_eq!(lines, [1, 7]);
    }
}
