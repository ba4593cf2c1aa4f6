//! Sizes of types: fields of a struct, and files over which its functions are spread.

use super::{Finding, layering};
use crate::shapes::{Shapes, crate_of};

/// Structs of library crates have at most this many fields.
const MOST_FIELDS: usize = 15;
/// The functions of a type lie in at most this many files.
const MOST_FILES: usize = 4;

pub(super) fn fields(shapes: &Shapes) -> Vec<Finding> {
    let is_library = |path: &str| layering::is_library(crate_of(path).trim_start_matches("crates/"));
    let large = shapes
        .structs
        .iter()
        .filter(|one| one.size > MOST_FIELDS && is_library(&one.path));
    let findings = large.map(|one| {
        let message = format!("`{}` has {} fields, at most {MOST_FIELDS}", one.name, one.size);
        Finding::problem(&one.path, one.line, message)
    });
    findings.collect()
}

pub(super) fn spread(shapes: &Shapes) -> Vec<Finding> {
    let mut findings = Vec::new();
    for ((folder, name), files) in &shapes.impls {
        // Of several types of one name, those declared beside their functions are at home there.
        let declaring = shapes.declared.iter().filter(|(declared, path, _)| {
            declared == name && crate_of(path) == folder && files.contains(path)
        });
        let count = files.len() + 1 - declaring.count().max(1);
        if let (true, Some(first)) = (count > MOST_FILES, files.first()) {
            let message = format!("`impl {name}` lies in {count} files, at most {MOST_FILES}");
            findings.push(Finding::problem(first, 1, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::shapes;
    use crate::sources::Sources;

    #[test]
    fn large_types_and_spread_ones_are_found() {
        let large = format!(
            "struct A {{\n{}}}\n",
            (0..16).map(|k| format!("    x{k}: f64,\n")).collect::<String>()
        );
        let impls: Vec<(String, &str)> = (0..5)
            .map(|k| (format!("crates/pliant/src/f{k}.rs"), "impl A {}\n"))
            .collect();
        let mut files: Vec<(&str, &str)> = impls.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        files.push(("crates/pliant/src/a.rs", &large));
        files.push(("crates/pliant-cli/src/a.rs", &large));
        let shapes = shapes(&Sources::of(&files));
        let found = fields(&shapes);
        assert_eq!(
            found,
            [Finding::problem(
                "crates/pliant/src/a.rs",
                1,
                "`A` has 16 fields, at most 15"
            )]
        );
        let spread_over = |path: &str, text: &str| {
            let paths: Vec<String> = (0..5).map(|k| format!("crates/a/src/{path}{k}.rs")).collect();
            let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), text)).collect();
            spread(&crate::shapes::shapes(&Sources::of(&files)))
        };
        assert_eq!(spread_over("one", "struct B;\nimpl B {}\n"), []);
        assert_eq!(spread_over("two", "impl B {}\n").len(), 1);
        let found = spread(&shapes);
        assert_eq!(
            found,
            [Finding::problem(
                "crates/pliant/src/f0.rs",
                1,
                "`impl A` lies in 5 files, at most 4"
            )]
        );
    }
}
