//! What there is in the code, and what its documentation lacks.

use super::components::{Component, GROUPS, Section, Table};
use super::docs::Doc;
use super::items::{Item, Source};
use super::tables::call;
use crate::rust_text::find_word;
use crate::sources::Sources;
use crate::tidy::Finding;

/// Where the code of components is.
const FOLDERS: &[&str] = &[
    "crates/pliant-model/src/",
    "crates/pliant-continuum/src/",
    "crates/pliant/src/",
];

/// Traits whose implementations are components.
const TRAITS: &[(&str, Section)] = &[
    ("Mapping", Section::Mappings),
    ("ForceField", Section::ForceFields),
];

/// Types that are components for themselves, and whether each of their variants must state an equation.
const TYPES: &[(&str, Section, bool)] = &[
    ("Level", Section::Rows, true),
    ("RowLaw", Section::Rows, false),
    ("JointKind", Section::Joints, false),
    ("Joint", Section::Joints, false),
    ("JointAxis", Section::Joints, false),
    ("Mass", Section::Masses, false),
    ("RigidMass", Section::Masses, false),
    ("CoupledMass", Section::Masses, false),
    ("Motion", Section::Motions, false),
    ("Treatment", Section::Treatments, false),
    ("Gyroscopic", Section::Treatments, true),
];

/// The type whose methods make and change rows.
const MODEL: &str = "Model";

/// Those of its methods.
const ROW_METHODS: &[&str] = &[
    "add_constraint",
    "set_motion",
    "set_bounds",
    "fix",
    "set_rayleigh",
];

/// A file with its items.
pub(super) struct Parsed<'a> {
    pub(super) source: Source<'a>,
    pub(super) items: Vec<Item>,
}

/// The components as the code has them, and what their documentation lacks.
pub(super) fn survey(sources: &Sources) -> (Vec<Component>, Vec<Finding>) {
    let files = sources
        .ending(".rs")
        .filter(|file| FOLDERS.iter().any(|folder| file.path.starts_with(folder)));
    let files = files.map(|file| {
        let source = Source::new(&file.path, &file.text);
        let items = flat(&source, source.items());
        Parsed { source, items }
    });
    let mut collector = Collector {
        files: files.collect(),
        components: Vec::new(),
        findings: Vec::new(),
    };
    let mut wanted = collector.implementations();
    wanted.extend(
        TYPES
            .iter()
            .map(|(name, section, strict)| ((*name).to_owned(), *section, *strict)),
    );
    for (name, section, strict) in &wanted {
        collector.add_type(name, *section, *strict);
    }
    collector.add_functions();
    collector.add_row_methods();
    (collector.components, collector.findings)
}

/// What is being collected.
pub(super) struct Collector<'a> {
    pub(super) files: Vec<Parsed<'a>>,
    components: Vec<Component>,
    findings: Vec<Finding>,
}

/// Items of modules written inside of the file are items of the file.
fn flat(source: &Source<'_>, items: Vec<Item>) -> Vec<Item> {
    let mut found = Vec::new();
    for item in items {
        if item.named("mod").is_some() && !item.body.is_empty() {
            found.extend(flat(source, source.items_in(&item.body)));
        } else {
            found.push(item);
        }
    }
    found
}

impl Collector<'_> {
    /// Types that implement one of the traits, alphabetically: by themselves or through a macro of the same file.
    fn implementations(&self) -> Vec<(String, Section, bool)> {
        let mut found = Vec::new();
        for file in &self.files {
            for item in &file.items {
                if let Some((of, target)) = item.implementation()
                    && let Some((_, section)) = TRAITS.iter().find(|(name, _)| *name == of)
                {
                    found.push((target.to_owned(), *section, false));
                }
                let Some(name) = item.header.strip_prefix("macro_rules! ") else {
                    continue;
                };
                let code = file.source.code(&item.body);
                for (of, section) in TRAITS {
                    if code.contains(&format!("impl {of} for $")) {
                        let call = format!("{}!(", name.trim());
                        let calls = file
                            .items
                            .iter()
                            .filter_map(|item| item.header.strip_prefix(&call));
                        let targets = calls.map(|rest| rest.split([',', ')']).next().unwrap_or(rest));
                        found.extend(targets.map(|target| (target.trim().to_owned(), *section, false)));
                    }
                }
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.dedup();
        found
    }

    pub(super) fn problem(&mut self, path: &str, line: usize, name: &str, missing: &str) {
        let message = format!("for the catalogue, `{name}` lacks {missing}");
        self.findings.push(Finding::problem(path, line, message));
    }

    /// Adds a struct or an enum.
    fn add_type(&mut self, name: &str, section: Section, strict: bool) {
        let place = self.files.iter().enumerate().find_map(|(k, file)| {
            let is_it = |item: &&Item| {
                item.header.starts_with("pub ")
                    && [item.named("struct"), item.named("enum")].contains(&Some(name))
            };
            file.items.iter().find(is_it).map(|item| (k, item.clone()))
        });
        let Some((file, item)) = place else {
            self.problem(FOLDERS[0], 1, name, "a public struct or enum of this name");
            return;
        };
        let path = self.files[file].source.path.to_owned();
        let doc = Doc::of(&item.doc);
        self.check_doc(&path, &item, name, section, &doc);
        let mut tables = Vec::new();
        let mut variants = Vec::new();
        if item.named("enum").is_some() {
            let entries = self.files[file].source.entries_in(&item.body);
            variants = entries
                .iter()
                .map(|entry| entry.first_word().to_owned())
                .collect();
            tables.push(self.variants(file, name, &entries, strict));
        } else {
            tables.extend(self.fields(file, &item, ""));
        }
        tables.extend(self.functions(name));
        tables.extend(self.parameter_types(file, name));
        tables.retain(|table| !table.rows.is_empty());
        if tables.is_empty() {
            self.problem(&path, item.line, name, "a public constructor, field or variant");
        }
        self.components.push(Component {
            name: name.to_owned(),
            section,
            path,
            doc,
            tables,
            is_function: false,
            methods: Vec::new(),
            variants,
        });
    }

    fn check_doc(&mut self, path: &str, item: &Item, name: &str, section: Section, doc: &Doc) {
        if doc.summary().is_none() {
            self.problem(path, item.line, name, "a first paragraph that says what it is");
        }
        for label in ["Equation", "Use"] {
            if doc.labelled(label).is_none() {
                self.problem(
                    path,
                    item.line,
                    name,
                    &format!("the paragraph `**{label}.**` of its documentation"),
                );
            }
        }
        let parents = doc.labelled("Parents").unwrap_or_default();
        if section == Section::Mappings && !GROUPS.iter().any(|(word, _)| find_word(parents, word) == Some(0))
        {
            let missing = "the paragraph `**Parents.**`, whose first word is `Points`, `Bodies` or `Any`";
            self.problem(path, item.line, name, missing);
        }
    }

    /// The functions of a type, in the order of their files.
    pub(super) fn methods_of(&self, name: &str) -> Vec<(String, Item)> {
        let mut found = Vec::new();
        for file in &self.files {
            for item in file
                .items
                .iter()
                .filter(|item| item.implementation() == Some(("", name)))
            {
                let methods = file.source.items_in(&item.body);
                found.extend(
                    methods
                        .into_iter()
                        .map(|method| (file.source.path.to_owned(), method)),
                );
            }
        }
        found
    }

    /// Public functions that return a component and describe an equation of their own.
    fn add_functions(&mut self) {
        let is_known = |returned: &str| {
            self.components
                .iter()
                .find(|component| find_word(returned, &component.name).is_some())
                .map(|component| component.section)
        };
        let mut found = Vec::new();
        for file in &self.files {
            for item in file.items.iter().filter(|item| item.public_function().is_some()) {
                let returned = item
                    .header
                    .rsplit_once(") -> ")
                    .map_or("", |(_, returned)| returned);
                found.extend(
                    is_known(returned).map(|section| (file.source.path.to_owned(), item.clone(), section)),
                );
            }
        }
        for (path, item, section) in found {
            let name = item.public_function().unwrap_or_default().to_owned();
            let doc = Doc::of(&item.doc);
            self.check_doc(&path, &item, &name, section, &doc);
            self.check_units(&path, item.line, &name, &item.header, &doc.whole());
            let rows = vec![vec![
                format!("`{}`", call(&item.header)),
                doc.notes().collect::<Vec<_>>().join(" "),
            ]];
            let table = Table {
                head: vec!["Function", "Meaning and units"],
                rows,
            };
            self.components.push(Component {
                name,
                section,
                path,
                doc,
                tables: vec![table],
                is_function: true,
                methods: Vec::new(),
                variants: Vec::new(),
            });
        }
    }

    /// What the model does to rows and coordinates: chosen methods of it.
    fn add_row_methods(&mut self) {
        let find = |file: &Parsed<'_>| {
            let item = file
                .items
                .iter()
                .find(|item| item.named("struct") == Some(MODEL))?;
            Some((file.source.path.to_owned(), item.clone()))
        };
        let Some((path, item)) = self.files.iter().find_map(find) else {
            self.problem(FOLDERS[0], 1, MODEL, "a public struct of this name");
            return;
        };
        let doc = Doc::of(&item.doc);
        self.check_doc(&path, &item, MODEL, Section::Rows, &doc);
        let methods = self.methods_of(MODEL);
        let mut rows = Vec::new();
        for name in ROW_METHODS {
            match methods
                .iter()
                .find(|(_, method)| method.public_function() == Some(name))
            {
                Some((path, method)) => rows.push(self.row(path, MODEL, method, true)),
                None => self.problem(&path, item.line, MODEL, &format!("the method `{name}`")),
            }
        }
        let head = vec!["Method", "Meaning and units"];
        self.components.push(Component {
            name: MODEL.to_owned(),
            section: Section::Rows,
            path,
            doc,
            tables: vec![Table { head, rows }],
            is_function: false,
            methods: ROW_METHODS.iter().map(|name| (*name).to_owned()).collect(),
            variants: Vec::new(),
        });
    }
}
