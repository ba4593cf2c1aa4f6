//! The programs of the README and of the book in Rust, compiled and run with the tests.

/// A module for each page, whose documentation it is.
macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!(concat!("../../", $path))]
            mod $name {}
        )*

        /// The pages.
        #[cfg(test)]
        const PAGES: &[&str] = &[$($path,)*];
    };
}

pages! {
    readme: "README.md",
    start: "docs/book/src/start.md",
    rapier: "docs/book/src/from/rapier.md",
    guide_own: "docs/book/src/guide/own.md",
    guide_rust: "docs/book/src/guide/rust.md",
    reference_gradients: "docs/book/src/reference/gradients.md",
    reference_solvers: "docs/book/src/reference/solvers.md",
}

#[cfg(test)]
mod tests {
    use super::PAGES;
    use std::path::{Path, PathBuf};

    /// The pages in a folder and below it.
    fn pages(folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).expect("the book is in the repository") {
            let path = entry.expect("its folders can be listed").path();
            match path.is_dir() {
                true => found.extend(pages(&path)),
                false => found.extend(path.extension().is_some_and(|e| e == "md").then_some(path)),
            }
        }
        found
    }

    #[test]
    fn every_page_with_a_program_is_listed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut found = vec!["README.md".to_owned()];
        for path in pages(&root.join("docs/book/src")) {
            if std::fs::read_to_string(&path)
                .expect("a page is text")
                .contains("```rust")
            {
                let path = path.strip_prefix(&root).expect("pages are below the root");
                found.push(path.to_str().expect("names of pages are text").replace('\\', "/"));
            }
        }
        found.sort();
        let mut listed: Vec<_> = PAGES.to_vec();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }
}
