//! `cargo xtask api`: the public items of the libraries as texts in `docs/api/`, so that a change
//! of them is seen where it is made.
//!
//! Read from the sources, not from the compiler: items that are reachable from the root of a crate
//! by public modules and by `pub use`, with their signatures, public fields, variants, methods and
//! implemented traits. Items of other crates are listed by their paths. `tidy` compares the files.

mod tree;

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::sources::Sources;
use crate::tidy::Finding;
use crate::{flags, process};
use tree::{Crate, Item};

/// The crates whose items are listed.
const CRATES: [&str; 7] = [
    "pliant",
    "pliant-contact",
    "pliant-continuum",
    "pliant-model",
    "pliant-solvers",
    "pliant-sparse",
    "pliant-stepper",
];

/// Writes the files.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    flags::switches("api", args, [])?;
    let (root, sources) = (process::workspace_root()?, Sources::read()?);
    for name in CRATES {
        let path = root.join(path(name));
        let text = page(name, &sources);
        println!("{name}: {} lines", text.lines().count());
        let folder = root.join("docs/api");
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
        written.map_err(|source| Error::File { path, source })?;
    }
    Ok(0)
}

/// The first line of each file that differs from what the sources say.
pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in CRATES {
        let (path, wanted) = (path(name), page(name, sources));
        let known = sources.get(&path).unwrap_or_default();
        if known == wanted {
            continue;
        }
        let same = known.lines().zip(wanted.lines()).take_while(|(a, b)| a == b);
        let line = same.count() + 1;
        let message =
            "the public items are others: `cargo xtask api` writes them, and the changelog tells users";
        findings.push(Finding::problem(&path, line, message));
    }
    findings
}

fn path(name: &str) -> String {
    format!("docs/api/{name}.txt")
}

/// The list of one crate, in the order of the paths.
fn page(name: &str, sources: &Sources) -> String {
    let crate_ = Crate::read(&format!("crates/{name}/src"), sources);
    let root = name.replace('-', "_");
    let mut lister = Lister {
        crate_: &crate_,
        lines: BTreeSet::new(),
        places: BTreeMap::new(),
        seen: BTreeSet::new(),
    };
    lister.module("", &root);
    lister.implementations();
    lister.lines.into_iter().map(|line| line + "\n").collect()
}

struct Lister<'a> {
    crate_: &'a Crate,
    lines: BTreeSet<String>,
    /// The shortest public path of each type, by its name in the crate.
    places: BTreeMap<String, String>,
    /// Modules with the paths under which they were listed.
    seen: BTreeSet<(String, String)>,
}

impl Lister<'_> {
    /// Lists the public items of a module of the crate under a public path.
    fn module(&mut self, module: &str, public: &str) {
        if !self.seen.insert((module.to_owned(), public.to_owned())) {
            return;
        }
        let crate_ = self.crate_;
        for item in crate_.items(module) {
            match item {
                Item::Module {
                    name,
                    is_public: true,
                } => {
                    self.module(&join(module, name), &format!("{public}::{name}"));
                }
                Item::Use { path, name } => self.export(module, path, name, public),
                Item::Named { name, lines } => self.item(name, lines, public, name),
                Item::Module { .. } => {}
            }
        }
    }

    /// Lists an item under a name.
    fn item(&mut self, own: &str, lines: &[String], public: &str, name: &str) {
        let place = format!("{public}::{name}");
        for line in lines {
            self.lines.insert(format!("{place}{line}"));
        }
        let known = self.places.entry(own.to_owned()).or_insert_with(|| place.clone());
        if (place.len(), &place) < (known.len(), &*known) {
            *known = place;
        }
    }

    /// Lists the target of a `pub use`; `*` is everything of a module.
    fn export(&mut self, module: &str, path: &[String], name: &str, public: &str) {
        let Some(target) = self.crate_.resolve(module, path) else {
            self.lines
                .insert(format!("{public}::{name} = {}", path.join("::")));
            return;
        };
        if name == "*" {
            return self.module(&target, public);
        }
        if self.crate_.is_module(&target) {
            return self.module(&target, &format!("{public}::{name}"));
        }
        let (parent, own) = target.rsplit_once("::").unwrap_or(("", &target));
        let crate_ = self.crate_;
        for item in crate_.items(parent) {
            match item {
                Item::Named { name: found, lines } if found == own => self.item(own, lines, public, name),
                Item::Use { path, name: found } if found == own => self.export(parent, path, name, public),
                _ => {}
            }
        }
    }

    /// Lists public methods and traits of the types that are listed.
    fn implementations(&mut self) {
        for (of, lines) in &self.crate_.implementations {
            if let Some(place) = self.places.get(of) {
                self.lines
                    .extend(lines.iter().map(|line| format!("{place}{line}")));
            }
        }
    }
}

/// The path of a module in another one.
fn join(module: &str, name: &str) -> String {
    match module {
        "" => name.to_owned(),
        _ => format!("{module}::{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reachable_items_are_listed_with_their_signatures() {
        let root = "mod hidden;\npub mod open;\npub use hidden::{Cart as Wagon, deep::Deep};\npub use other::Thing;\n\
            fn private() {}\n#[cfg(test)]\npub mod tests {}\npub(crate) fn own() {}\n";
        let hidden = "pub mod deep;\n/// A cart.\n#[derive(Clone, Debug)]\n#[non_exhaustive]\npub struct Cart {\n    \
            /// Mass (kg).\n    pub mass: f64,\n    name: String,\n}\nimpl Cart {\n    pub fn pull(\n        &self,\n        \
            force: f64,\n    ) -> f64 {\n        force / self.mass\n    }\n    fn private(&self) {}\n}\n\
            impl From<f64> for Cart {\n    fn from(mass: f64) -> Self { todo() }\n}\npub struct Unreachable;\n";
        let sources = Sources::of(&[
            ("crates/pliant/src/lib.rs", root),
            ("crates/pliant/src/hidden.rs", hidden),
            (
                "crates/pliant/src/hidden/deep.rs",
                "pub enum Deep { A, B { x: f64 } }\n",
            ),
            (
                "crates/pliant/src/open.rs",
                "pub trait Pull {\n    fn pull(&self) -> f64;\n    fn twice(&self) -> f64 { 2.0 }\n}\n\
                 pub const G: f64 = 9.81;\n",
            ),
        ]);
        let wanted = "\
            pliant::Deep::A\n\
            pliant::Deep::B { x: f64 }\n\
            pliant::Deep: enum\n\
            pliant::Thing = other::Thing\n\
            pliant::Wagon.mass: f64\n\
            pliant::Wagon: Clone\n\
            pliant::Wagon: Debug\n\
            pliant::Wagon: From<f64>\n\
            pliant::Wagon: struct, non-exhaustive, with private fields\n\
            pliant::Wagon::pull: fn pull(&self, force: f64) -> f64\n\
            pliant::open::G: const f64\n\
            pliant::open::Pull::pull: fn pull(&self) -> f64\n\
            pliant::open::Pull::twice: fn twice(&self) -> f64, provided\n\
            pliant::open::Pull: trait Pull\n";
        let (mut found, mut expected): (Vec<_>, Vec<_>) = (
            page("pliant", &sources).lines().map(str::to_owned).collect(),
            wanted.lines().map(str::to_owned).collect(),
        );
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_changed_item_is_found() {
        let before = Sources::of(&[("crates/pliant/src/lib.rs", "pub fn a() {}\npub fn b(x: f64) {}\n")]);
        let page = page("pliant", &before);
        let now = "pub fn a() {}\npub fn b(x: f32) {}\n";
        let now = Sources::of(&[("crates/pliant/src/lib.rs", now), ("docs/api/pliant.txt", &page)]);
        let found = check(&now);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].to_string().starts_with("docs/api/pliant.txt:2: "),
            "{found:?}"
        );
    }
}
