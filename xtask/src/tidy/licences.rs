//! Licences of everything that is linked or used to build: each package offers one that we accept.

use super::Finding;
use crate::metadata::Metadata;

const ACCEPTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// Where findings point: the file that pins the packages.
const LOCK_FILE: &str = "Cargo.lock";

pub(super) fn check(everything: &Metadata) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &everything.packages {
        let complaint = match package.license.as_deref() {
            None => "states no licence".to_owned(),
            Some(expression) => match is_accepted(expression) {
                Some(true) => continue,
                Some(false) => {
                    format!("offers only `{expression}`, which is not in xtask/src/tidy/licences.rs")
                }
                None => format!("states the licence `{expression}`, which is not an SPDX expression"),
            },
        };
        findings.push(Finding::problem(
            LOCK_FILE,
            1,
            format!("{} {} {complaint}", package.name, package.version),
        ));
    }
    findings
}

/// Whether an SPDX expression can be satisfied with accepted licences; `None` if it cannot be read.
///
/// Grammar: `either = both {("OR" | "/") both}`, `both = one {"AND" one}`,
/// `one = "(" either ")" | id ["WITH" id]`.
fn is_accepted(expression: &str) -> Option<bool> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let accepted = either(&mut rest)?;
    rest.is_empty().then_some(accepted)
}

fn either(rest: &mut &[&str]) -> Option<bool> {
    let mut accepted = both(rest)?;
    while take(rest, "OR") {
        accepted |= both(rest)?;
    }
    Some(accepted)
}

fn both(rest: &mut &[&str]) -> Option<bool> {
    let mut accepted = one(rest)?;
    while take(rest, "AND") {
        accepted &= one(rest)?;
    }
    Some(accepted)
}

fn one(rest: &mut &[&str]) -> Option<bool> {
    if take(rest, "(") {
        let accepted = either(rest)?;
        return take(rest, ")").then_some(accepted);
    }
    let id = identifier(rest)?;
    if take(rest, "WITH") {
        let exception = identifier(rest)?;
        return Some(ACCEPTED.contains(&format!("{id} WITH {exception}").as_str()));
    }
    Some(ACCEPTED.contains(&id))
}

fn identifier<'a>(rest: &mut &[&'a str]) -> Option<&'a str> {
    let (&word, others) = rest.split_first()?;
    if matches!(word, "OR" | "AND" | "WITH" | "(" | ")") {
        return None;
    }
    *rest = others;
    Some(word)
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    match rest.split_first() {
        Some((first, others)) if *first == word => {
            *rest = others;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Package;
    use std::path::PathBuf;

    #[test]
    fn expressions_with_an_accepted_alternative_pass() {
        for good in [
            "MIT",
            "Unlicense/MIT",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-3.0-only AND MIT OR Zlib",
        ] {
            assert_eq!(is_accepted(good), Some(true), "{good}");
        }
    }

    #[test]
    fn copyleft_only_and_unknown_terms_fail() {
        for bad in [
            "GPL-3.0-or-later",
            "AGPL-3.0",
            "LGPL-2.1-only",
            "MIT AND GPL-2.0-only",
            "(GPL-2.0-only OR LGPL-3.0-only) AND MIT",
            "GPL-2.0-only WITH Classpath-exception-2.0",
        ] {
            assert_eq!(is_accepted(bad), Some(false), "{bad}");
        }
        for unreadable in ["", "MIT OR", "(MIT", "MIT)", "MIT Apache-2.0", "AND"] {
            assert_eq!(is_accepted(unreadable), None, "{unreadable}");
        }
    }

    #[test]
    fn the_list_for_cargo_deny_is_the_same() {
        let text = include_str!("../../../deny.toml");
        let list = text.split("allow = [").nth(1).unwrap_or_default();
        let list = list.split(']').next().unwrap_or_default();
        let allowed: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        assert_eq!(allowed, ACCEPTED);
    }

    #[test]
    fn findings_name_the_package() {
        let package = |name: &str, license: Option<&str>| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            ..Package::default()
        };
        let packages = vec![
            package("a", Some("MIT")),
            package("b", None),
            package("c", Some("GPL-3.0-only")),
        ];
        let findings = check(&Metadata {
            packages,
            target_folder: PathBuf::new(),
        });
        assert_eq!(findings.len(), 2);
        assert!(findings[0].message.starts_with("b 1.0.0 states no licence"));
        assert!(
            findings[1]
                .message
                .starts_with("c 1.0.0 offers only `GPL-3.0-only`")
        );
    }
}
