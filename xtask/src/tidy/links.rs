//! Relative links of the Markdown documents: the file exists, and so does the heading.

use super::Finding;
use crate::markdown::{anchors, join, links};
use crate::sources::{File, Sources};

pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources.ending(".md") {
        for (line, target) in links(&file.text) {
            if let Err(message) = resolve(file, &target, sources) {
                findings.push(Finding::problem(
                    &file.path,
                    line,
                    format!("link `{target}`: {message}"),
                ));
            }
        }
    }
    findings
}

/// Whether the target of a link in this file exists.
fn resolve(file: &File, target: &str, sources: &Sources) -> Result<(), String> {
    let has_scheme = target
        .split_once(':')
        .is_some_and(|(scheme, _)| scheme.chars().all(char::is_alphanumeric));
    if has_scheme {
        return Ok(());
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    if path.starts_with('/') {
        return Err("write it relative to this file".to_owned());
    }
    let path = match path {
        "" => file.path.clone(),
        path => join(&file.path, &path.replace("%20", " ")).ok_or("leads out of the repository")?,
    };
    if !sources.has(&path) {
        return Err(format!("no file `{path}`"));
    }
    match sources.get(&path) {
        Some(text) if !anchor.is_empty() && path.ends_with(".md") => {
            let known = anchors(text).iter().any(|known| known == anchor);
            if known {
                Ok(())
            } else {
                Err(format!("no heading `#{anchor}` in `{path}`"))
            }
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(readme: &str) -> Vec<String> {
        let notation =
            "# Notation\n\n## The `KKT` system, stated\n\n## Signs\n## Signs\n<a id=\"here\"></a>\n";
        let sources = Sources::of(&[
            ("docs/README.md", readme),
            ("docs/notation.md", notation),
            ("LICENSE", "x"),
        ]);
        check(&sources)
            .into_iter()
            .map(|finding| format!("{}: {}", finding.line, finding.message))
            .collect()
    }

    #[test]
    fn good_links_pass() {
        let readme = "# Title\n[a](notation.md) [b](../LICENSE \"title\") [c](#title) [d](https://example.org/x)\n\
                      [e](notation.md#the-kkt-system-stated) [f](notation.md#signs-1) [g](notation.md#here)\n\
                      [h](..) ![i](<../LICENSE>)\n[ref]: notation.md\n[^1]: a note, not a target\n";
        assert_eq!(messages(readme), [""; 0]);
    }

    #[test]
    fn code_and_mathematics_are_not_links() {
        let readme = "`a[i](x)` and $f[i](x)$\n```rust\na[i](x)\n```\n```math\nJ[i](x)\n```\n$$\nJ[i](x)\n$$\n$$ J[i](x) $$\n\
                      ````text\n```\nJ[i](x)\n```\n````\n```` ```math ```` is not a fence\n";
        assert_eq!(messages(readme), [""; 0]);
    }

    #[test]
    fn broken_links_are_found() {
        let readme = "[a](missing.md)\n\n[b](notation.md#nowhere)\n[c](../../up.md) [d](/LICENSE)\n[e]: gone.md\n[f](#no)\n";
        let found = messages(readme);
        assert_eq!(found.len(), 6, "{found:?}");
        assert!(found[0].starts_with("1: link `missing.md`: no file"), "{found:?}");
        assert!(
            found[1].starts_with("3: link `notation.md#nowhere`: no heading"),
            "{found:?}"
        );
        assert!(
            found[2].contains("out of the repository") && found[3].contains("relative"),
            "{found:?}"
        );
    }
}
