//! The book: every page in the table of contents, every scene in the gallery, no long prose.

use super::Finding;
use crate::markdown::{join, links, prose};
use crate::sources::Sources;

const PAGES: &str = "docs/book/src/";
const CONTENTS: &str = "docs/book/src/SUMMARY.md";
const GALLERY: &str = "docs/book/src/gallery.md";
/// Words of prose that a document has at most, those of tables and code apart. The reference and
/// the list of what is cited may have more.
const WORDS: usize = 3000;
const LONG: &[&str] = &["docs/book/src/reference/", "docs/book/src/theory/references.md"];

pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    let linked_from = |page: &str| -> Vec<String> {
        let links = sources.get(page).map(links).unwrap_or_default();
        let targets = links.iter().filter_map(|(_, link)| join(page, link));
        targets.collect()
    };
    let (contents, gallery) = (linked_from(CONTENTS), linked_from(GALLERY));
    for file in sources.ending(".md") {
        if file.path.starts_with(PAGES) && file.path != CONTENTS && !contents.contains(&file.path) {
            let message = format!("is not in {CONTENTS}");
            findings.push(Finding::problem(&file.path, 1, message));
        }
        let words = words_of_prose(&file.text);
        if words > WORDS && !LONG.iter().any(|long| file.path.starts_with(long)) {
            let message = format!("has {words} words of prose, at most {WORDS}");
            findings.push(Finding::problem(&file.path, 1, message));
        }
    }
    let is_shown = |path: &str| {
        let name = path.strip_prefix("scenes/").unwrap_or_default();
        name.ends_with(".ron") && (!name.contains('/') || name.starts_with("everyday/"))
    };
    for path in sources.paths.iter().filter(|path| is_shown(path)) {
        if !gallery.contains(path) {
            let message = format!("does not show the scene `{path}`");
            findings.push(Finding::problem(GALLERY, 1, message));
        }
    }
    findings
}

/// The number of words outside of code and tables.
fn words_of_prose(text: &str) -> usize {
    let lines = prose(text).into_iter().map(|(_, line)| line);
    lines
        .filter(|line| !line.trim_start().starts_with('|'))
        .map(|line| line.split_whitespace().count())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_scenes_and_words_are_counted() {
        let long = "word ".repeat(WORDS + 1);
        let table = format!("| {long} |\n```text\n{long}\n```\n");
        let files = [
            (
                CONTENTS,
                "[a](a.md) [r](reference/r.md) [t](t.md) [g](gallery.md)\n",
            ),
            (GALLERY, "[bow](../../../scenes/bow.ron)\n"),
            ("docs/book/src/a.md", "short\n"),
            ("docs/book/src/b.md", "short\n"),
            ("docs/book/src/reference/r.md", &long),
            ("docs/book/src/t.md", &table),
            ("docs/long.md", &long),
            ("scenes/bow.ron", "()"),
            ("scenes/everyday/car.ron", "()"),
            ("scenes/parts/wheel.ron", "()"),
        ];
        let found: Vec<_> = check(&Sources::of(&files))
            .into_iter()
            .map(|finding| format!("{}: {}", finding.path, finding.message))
            .collect();
        assert_eq!(
            found,
            [
                "docs/book/src/b.md: is not in docs/book/src/SUMMARY.md",
                "docs/long.md: has 3001 words of prose, at most 3000",
                "docs/book/src/gallery.md: does not show the scene `scenes/everyday/car.ron`",
            ]
        );
    }
}
