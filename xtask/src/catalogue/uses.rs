//! Where components are used: scenes, examples, reference cases, tests.

use super::components::Component;
use super::items::Source;
use crate::rust_text::{code_only, find_word};
use crate::sources::Sources;

/// Links of one kind of place at most.
const MOST: usize = 3;

/// Where scene files are read, and the enum there that has their names of laws.
const READER: (&str, &str) = ("crates/pliant-scene/src/", "Law::");

/// A file in which components are used.
#[derive(Debug)]
struct Place {
    path: String,
    code: String,
}

/// The files that use components, by kind.
#[derive(Debug)]
pub(super) struct Places {
    kinds: Vec<(&'static str, Vec<Place>)>,
    /// Names of laws in scene files, with the code that makes them.
    laws: Vec<(String, String)>,
}

impl Places {
    pub(super) fn of(sources: &Sources) -> Self {
        let is_example = |path: &str| path.ends_with(".rs") && path.split('/').any(|part| part == "examples");
        let is_bench = |path: &str| path.ends_with(".rs") && path.starts_with("benches/src/");
        let is_reference = |path: &str| is_bench(path) && path.contains("/verify");
        let is_timed = |path: &str| is_bench(path) && !path.contains("/verify");
        let is_test =
            |path: &str| path.ends_with(".rs") && path.starts_with("crates/") && path.contains("/tests/");
        let is_scene = |path: &str| path.ends_with(".ron") && path.starts_with("scenes/");
        let list = |wanted: &dyn Fn(&str) -> bool| {
            let files = sources.files.iter().filter(|file| wanted(&file.path));
            files
                .map(|file| Place {
                    path: file.path.clone(),
                    code: code_only(&file.text),
                })
                .collect()
        };
        Self {
            kinds: vec![
                ("scenes", list(&is_scene)),
                ("examples", list(&is_example)),
                ("reference cases", list(&is_reference)),
                ("timed scenes", list(&is_timed)),
                ("tests", list(&is_test)),
            ],
            laws: laws(sources),
        }
    }

    /// The files that use the component: of each kind those few that do so most often, in the order of their paths.
    pub(super) fn using(&self, component: &Component) -> Vec<(&'static str, Vec<&str>)> {
        let names = self.names_in_scenes(component);
        let mut found = Vec::new();
        for (kind, places) in &self.kinds {
            let counted = places
                .iter()
                .map(|place| (place.uses(component, &names), place.path.as_str()));
            let mut counted: Vec<(usize, &str)> = counted.filter(|(count, _)| *count > 0).collect();
            counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            let mut paths: Vec<&str> = counted.into_iter().map(|(_, path)| path).take(MOST).collect();
            paths.sort_unstable();
            if !paths.is_empty() {
                found.push((*kind, paths));
            }
        }
        found
    }

    /// The names that the component, or its variants, have in scene files.
    fn names_in_scenes<'a>(&'a self, component: &'a Component) -> Vec<&'a str> {
        let call = format!("{}::", component.name);
        let made = self
            .laws
            .iter()
            .filter(|(_, code)| find_word(code, &call).is_some());
        let mut names: Vec<&str> = made.map(|(name, _)| name.as_str()).collect();
        names.extend(component.variants.iter().map(String::as_str));
        if component.variants.is_empty() {
            names.push(&component.name);
        }
        names
    }
}

impl Place {
    /// On how many lines the component is used.
    fn uses(&self, component: &Component, names: &[&str]) -> usize {
        let name = &component.name;
        let is_used = |line: &&str| {
            if self.path.ends_with(".ron") {
                names.iter().any(|name| in_scene(line, component, name))
            } else if component.is_function {
                find_word(line, &format!("{name}(")).is_some()
            } else if component.methods.is_empty() {
                let forms = [format!("{name}::"), format!("{name} {{")];
                forms
                    .iter()
                    .any(|form| find_word(line, form).is_some_and(|at| !line[..at].ends_with("::")))
            } else {
                let mut methods = component.methods.iter();
                methods.any(|method| line.contains(&format!(".{method}(")))
            }
        };
        self.code.lines().filter(is_used).count()
    }
}

/// The arms that make laws out of what scene files say: the name there, and the code.
fn laws(sources: &Sources) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for file in sources
        .ending(".rs")
        .filter(|file| file.path.starts_with(READER.0))
    {
        let source = Source::new(&file.path, &file.text);
        for (name, code) in source.arms(READER.1) {
            found.push((name.to_owned(), code.to_owned()));
        }
    }
    found
}

/// Whether the line of a scene says this name where such a component stands.
fn in_scene(line: &str, component: &Component, name: &str) -> bool {
    let Some(key) = component.key_in_scenes() else {
        return false;
    };
    line.match_indices(key).any(|(at, _)| {
        let rest = line[at + key.len()..].trim_start();
        rest.strip_prefix(name)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}
