//! `cargo xtask metrics`: sizes of crates, types and functions, and numbers of tests.

use crate::error::Error;
use crate::flags;
use crate::metadata::Metadata;
use crate::shapes::{Shapes, Sized, shapes};
use crate::sources::Sources;
use crate::text::code_lines;

/// Counts of one crate, or of all.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    files: usize,
    /// Lines of the files in `src/`, comments and empty ones among them.
    lines: usize,
    /// Lines with code on them, outside of tests.
    code: usize,
    /// Lines with code on them in `#[cfg(test)]` items and in `tests/`.
    test_code: usize,
    /// Functions marked `#[test]`; examples in the documentation are not counted.
    tests: usize,
}

/// Functions of more lines are counted as long.
const LONG: usize = 80;
/// Lines of each list.
const SHOWN: usize = 10;

/// Prints one line per crate and the sum, then the largest types, those in most files and the
/// longest functions.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    flags::switches("metrics", args, [])?;
    let sources = Sources::read()?;
    let mut total = Counts::default();
    println!(
        "{:<16} {:>6} {:>8} {:>8} {:>10} {:>6}",
        "crate", "files", "lines", "code", "test code", "tests"
    );
    for package in &Metadata::of_workspace()?.packages {
        let counts = count(&sources, package.folder());
        print_row(&package.name, &counts);
        total.files += counts.files;
        total.lines += counts.lines;
        total.code += counts.code;
        total.test_code += counts.test_code;
        total.tests += counts.tests;
    }
    print_row("all", &total);
    print_shapes(&shapes(&sources));
    Ok(0)
}

fn print_row(name: &str, counts: &Counts) {
    println!(
        "{name:<16} {:>6} {:>8} {:>8} {:>10} {:>6}",
        counts.files, counts.lines, counts.code, counts.test_code, counts.tests
    );
}

fn print_shapes(shapes: &Shapes) {
    println!("\nfields  type");
    print_largest(&shapes.structs);
    println!("\n files  type with functions in so many");
    let mut spread: Vec<_> = shapes
        .impls
        .iter()
        .map(|((folder, name), files)| (files.len(), folder, name))
        .collect();
    spread.sort_by_key(|(files, ..)| std::cmp::Reverse(*files));
    for (files, folder, name) in spread.iter().take(SHOWN) {
        println!("{files:>6}  {name} ({folder})");
    }
    let long = shapes.functions.iter().filter(|one| one.size > LONG).count();
    println!("\n lines  function; {long} have over {LONG}");
    print_largest(&shapes.functions);
}

fn print_largest(list: &[Sized]) {
    for Sized {
        name,
        path,
        line,
        size,
    } in list.iter().take(SHOWN)
    {
        println!("{size:>6}  {name} ({path}:{line})");
    }
}

/// Counts the Rust files below a folder.
fn count(sources: &Sources, folder: &str) -> Counts {
    let mut counts = Counts::default();
    for file in sources.ending(".rs") {
        let Some(inner) = file
            .path
            .strip_prefix(folder)
            .and_then(|path| path.strip_prefix('/'))
        else {
            continue;
        };
        counts.files += 1;
        if inner.starts_with("src/") {
            counts.lines += file.text.lines().count();
        }
        for line in code_lines(&file.text).iter().filter(|line| !line.code.is_empty()) {
            counts.tests += usize::from(line.code == "# [ test ]");
            if line.in_test || inner.starts_with("tests/") {
                counts.test_code += 1;
            } else {
                counts.code += 1;
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_tests_are_counted_apart() {
        let source = "//! Doc.\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn b() {}\n}\n";
        let sources = Sources::of(&[
            ("crates/a/src/lib.rs", source),
            ("crates/a/tests/it/main.rs", "#[test]\nfn c() {}\n"),
            ("crates/ab/src/lib.rs", source),
        ]);
        assert_eq!(
            count(&sources, "crates/a"),
            Counts {
                files: 2,
                lines: 8,
                code: 1,
                test_code: 7,
                tests: 2
            }
        );
    }
}
