//! Sizes of types: fields of a struct, and files over which its functions are spread.

use super::{Finding, layering};
use crate::shapes::{Shapes, crate_of};

/// Structs of library crates have at most this many fields.
const MOST_FIELDS: usize = 15;
/// The functions of a type of these crates lie in at most this many files.
const MOST_FILES: usize = 4;
const SPREAD: &[&str] = &["crates/pliant", "crates/pliant-kkt"];

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
    let wide = shapes
        .impls
        .iter()
        .filter(|((folder, _), files)| files.len() > MOST_FILES && SPREAD.contains(&folder.as_str()));
    let findings = wide.filter_map(|((_, name), files)| {
        let message = format!(
            "`impl {name}` lies in {} files, at most {MOST_FILES}",
            files.len()
        );
        Some(Finding::problem(files.first()?, 1, message))
    });
    findings.collect()
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
