//! Words that do not belong in our Rust code: unfinished work, skipped tests, printing libraries,
//! `unsafe`.

use super::{Finding, layering};
use crate::sources::{File, Sources};
use crate::text::{CodeLine, code_lines, find_word};

/// Nowhere, tests included.
const BANNED: &[(&str, &str)] = &[
    (
        "todo!",
        "unfinished: finish it, or say in the documentation what is missing",
    ),
    (
        "unimplemented!",
        "unfinished: finish it, or say in the documentation what is missing",
    ),
    ("dbg!", "left over from debugging"),
];

/// Not in library crates outside of their tests.
const PRINTING: &[&str] = &["print!", "println!", "eprint!", "eprintln!"];

/// Named, documented, tested kernel modules that may contain `unsafe`: calls of C libraries.
const UNSAFE_FILES: &[&str] = &[
    "crates/pliant-petsc/src/ffi.rs",
    "crates/pliant-petsc/src/ffi/solver.rs",
];

pub(super) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in &sources.paths {
        if path == "mod.rs" || path.ends_with("/mod.rs") {
            findings.push(Finding::problem(
                path,
                1,
                "name the file after its module: `foo.rs` beside `foo/`",
            ));
        }
    }
    for file in sources.ending(".rs") {
        check_file(file, &mut findings);
    }
    findings
}

fn check_file(file: &File, findings: &mut Vec<Finding>) {
    let silent = is_library_source(&file.path);
    for (index, CodeLine { code: line, in_test }) in code_lines(&file.text).iter().enumerate() {
        let mut found = |message: String| findings.push(Finding::problem(&file.path, index + 1, message));
        for (word, why) in BANNED {
            if find_word(line, word).is_some() {
                found(format!("`{word}`: {why}"));
            }
        }
        let ignored_on_condition =
            find_word(line, "cfg_attr").is_some() && find_word(line, "ignore").is_some();
        if line.contains("# [ ignore") || ignored_on_condition {
            found("an ignored test proves nothing: run it, or delete it".to_owned());
        }
        if find_word(line, "unsafe").is_some() && !UNSAFE_FILES.contains(&file.path.as_str()) {
            found("`unsafe` outside of the files named in xtask/src/tidy/rules.rs".to_owned());
        }
        if silent && !in_test {
            for word in PRINTING.iter().filter(|word| find_word(line, word).is_some()) {
                found(format!(
                    "`{word}` in a library: return the text, or report it as data"
                ));
            }
        }
    }
}

/// Whether the file is part of a library crate itself, not of its tests or examples.
fn is_library_source(path: &str) -> bool {
    let Some((name, inner)) = path.strip_prefix("crates/").and_then(|path| path.split_once('/')) else {
        return false;
    };
    let is_test_module = inner.ends_with("/tests.rs") || inner.contains("/tests/");
    layering::is_library(name) && inner.starts_with("src/") && !is_test_module
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
    fn unfinished_work_and_skipped_tests_are_found() {
        let text = "fn a() {\n  todo!()\n}\nfn b() { unimplemented!(\"x\") }\n\
                    #[ignore = \"slow\"]\nfn c() { dbg!(1); }\n#[cfg_attr(windows, ignore)]\n";
        assert_eq!(lines("benches/src/lib.rs", text), [2, 4, 5, 6, 7]);
    }

    #[test]
    fn strings_and_comments_may_speak_of_anything() {
        let text = "// todo!() and unsafe\nfn a() { f(\"dbg!() #[ignore] unsafe\"); }\n/// println!(\"x\")\n";
        assert!(lines("crates/pliant/src/lib.rs", text).is_empty());
    }

    #[test]
    fn unsafe_code_is_found_and_the_lint_of_that_name_is_not() {
        assert_eq!(
            lines(
                "crates/pliant/src/lib.rs",
                "#![forbid(unsafe_code)]\nfn a() { unsafe { f() } }\n"
            ),
            [2]
        );
    }

    #[test]
    fn libraries_print_in_tests_only() {
        let text = "fn a() { println!(); }\n#[cfg(test)]\nmod tests {\n  fn b() { eprintln!(); }\n}\nfn c() { eprint!(); }\n";
        assert_eq!(lines("crates/pliant-model/src/mass.rs", text), [1, 6]);
        assert!(lines("crates/pliant-model/tests/it/mass.rs", text).is_empty());
        assert!(lines("crates/pliant-model/examples/mass.rs", text).is_empty());
        assert!(lines("crates/pliant-cli/src/main.rs", text).is_empty());
    }

    #[test]
    fn mod_rs_is_refused() {
        assert_eq!(lines("crates/pliant/src/step/mod.rs", ""), [1]);
    }
}
