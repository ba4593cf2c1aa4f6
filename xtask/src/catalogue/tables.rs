//! The tables of a component: constructors, fields, variants, each with its documentation.

use super::components::Table;
use super::docs::{Doc, states_equation, states_unit};
use super::items::Item;
use super::joints;
use super::survey::Collector;
use crate::rust_text::find_word;

impl Collector<'_> {
    /// The public functions that give one, or change one that is handed over: constructors, and what is attached to coordinates.
    pub(super) fn functions(&mut self, name: &str) -> Vec<Table> {
        let mut tables = [
            ("Constructor", Vec::new()),
            ("Attached to a free coordinate", Vec::new()),
        ];
        for (path, function) in self.methods_of(name) {
            let returned = function
                .header
                .rsplit_once(") -> ")
                .map_or("", |(_, returned)| returned);
            if function.public_function().is_none() || find_word(returned, "Self").is_none() {
                continue;
            }
            let attached = function.header.contains("axis: usize");
            let row = self.row(&path, name, &function, attached);
            tables[usize::from(attached)].1.push(row);
        }
        tables
            .into_iter()
            .map(|(head, rows)| Table {
                head: vec![head, "Meaning and units"],
                rows,
            })
            .collect()
    }

    /// A row of a table: the call and its documentation, which must say the units of numbers.
    pub(super) fn row(&mut self, path: &str, of: &str, function: &Item, wants_equation: bool) -> Vec<String> {
        let doc = Doc::of(&function.doc).whole();
        let name = format!("{of}::{}", function.public_function().unwrap_or_default());
        self.check_units(path, function.line, &name, &function.header, &doc);
        if wants_equation && !states_equation(&doc) {
            self.problem(
                path,
                function.line,
                &name,
                "an equation in backticks in its documentation",
            );
        }
        vec![format!("`{}`", call(&function.header)), doc]
    }

    pub(super) fn check_units(&mut self, path: &str, line: usize, name: &str, code: &str, doc: &str) {
        if doc.is_empty() {
            self.problem(path, line, name, "documentation");
        } else if find_word(code, "f64").is_some() && !states_unit(doc) {
            self.problem(
                path,
                line,
                name,
                "the units of its numbers in parentheses, such as (m), (N s/m), (none)",
            );
        }
    }

    /// The public fields of a struct, with a prefix before their names.
    pub(super) fn fields(&mut self, file: usize, item: &Item, prefix: &str) -> Option<Table> {
        let source = &self.files[file].source;
        let path = source.path.to_owned();
        let fields = source.entries_in(&item.body);
        let mut rows = Vec::new();
        for field in fields
            .iter()
            .filter(|field| item.header.starts_with("pub ") && field.header.starts_with("pub "))
        {
            let code = field.header.trim_start_matches("pub ");
            let doc = Doc::of(&field.doc).whole();
            let name = format!("{}::{}", item.named("struct").unwrap_or_default(), code);
            self.check_units(&path, field.line, &name, code, &doc);
            rows.push(vec![format!("`{prefix}{code}`"), doc]);
        }
        let head = vec!["Field", "Meaning and units"];
        (!rows.is_empty()).then_some(Table { head, rows })
    }

    /// Structs of the same file that its constructors take: their fields.
    pub(super) fn parameter_types(&mut self, file: usize, name: &str) -> Vec<Table> {
        let methods = self.methods_of(name);
        let taken = |of: &str| {
            methods.iter().any(|(_, method)| {
                method.header.starts_with("pub ") && find_word(call(&method.header).as_str(), of).is_some()
            })
        };
        let structs: Vec<Item> = self.files[file]
            .items
            .iter()
            .filter(|item| item.named("struct").is_some_and(|of| of != name && taken(of)))
            .cloned()
            .collect();
        let mut tables = Vec::new();
        for item in structs {
            let prefix = format!("{}::", item.named("struct").unwrap_or_default());
            tables.extend(self.fields(file, &item, &prefix));
        }
        tables
    }

    /// The variants of an enum; of the kinds of joints, with what they hold and leave free.
    pub(super) fn variants(&mut self, file: usize, name: &str, entries: &[Item], strict: bool) -> Table {
        let path = self.files[file].source.path.to_owned();
        let axes = ["held_axes", "free_axes"].map(|function| self.axes_of(file, name, function));
        let with_axes = name == "JointKind";
        let mut rows = Vec::new();
        for entry in entries {
            let of = format!("{name}::{}", entry.first_word());
            let mut doc = Doc::of(&entry.doc).whole();
            let mut code = entry.header.clone();
            let source = &self.files[file].source;
            let fields: Vec<Item> = if entry.body.is_empty() {
                Vec::new()
            } else {
                source.entries_in(&entry.body)
            };
            for field in &fields {
                doc = format!("{doc} `{}`: {}", field.first_word(), Doc::of(&field.doc).whole());
            }
            if !fields.is_empty() {
                let inside = fields
                    .iter()
                    .map(|field| field.header.as_str())
                    .collect::<Vec<_>>();
                code = format!("{} {{ {} }}", entry.first_word(), inside.join(", "));
            }
            self.check_units(&path, entry.line, &of, &code, &doc);
            if strict && !states_equation(&doc) {
                self.problem(
                    &path,
                    entry.line,
                    &of,
                    "an equation in backticks in its documentation",
                );
            }
            let mut row = vec![format!("`{code}`"), doc];
            if with_axes {
                for (axes, what) in axes.iter().zip(["holds", "leaves free"]) {
                    match axes.as_ref().and_then(|axes| axes.get(entry.first_word())) {
                        Some(list) if list.is_empty() => row.push("none".to_owned()),
                        Some(list) => row.push(list.join("; ")),
                        None => self.problem(
                            &path,
                            entry.line,
                            &of,
                            &format!("what it {what}, as a list of axes"),
                        ),
                    }
                }
            }
            rows.push(row);
        }
        let mut head = vec!["Variant", "Meaning and units"];
        if with_axes {
            head.extend(["Holds at zero", "Named free coordinates"]);
        }
        Table { head, rows }
    }

    fn axes_of(&self, file: usize, name: &str, function: &str) -> Option<joints::Axes> {
        let source = &self.files[file].source;
        let of_type = |item: &&Item| item.implementation() == Some(("", name));
        let methods = self.files[file].items.iter().filter(of_type);
        let mut methods = methods.flat_map(|item| source.items_in(&item.body));
        joints::axes(
            source,
            &methods.find(|item| item.public_function() == Some(function))?,
        )
    }
}

/// A function as it is called: without `pub fn`, what it is a method of, and what it returns.
pub(super) fn call(header: &str) -> String {
    let rest = header.trim_start_matches("pub ").trim_start_matches("const ");
    let rest = rest.trim_start_matches("fn ");
    let rest = rest
        .rsplit_once(") -> ")
        .map_or_else(|| rest.to_owned(), |(call, _)| format!("{call})"));
    ["&mut self", "mut self", "&self", "self"]
        .iter()
        .fold(rest, |text, receiver| {
            text.replace(&format!("({receiver}, "), "(")
                .replace(&format!("({receiver})"), "()")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_without_visibility_receiver_and_result() {
        for (header, wanted) in [
            ("pub fn new(k: f64) -> Self", "new(k: f64)"),
            ("pub const fn at(self) -> Self", "at()"),
            ("pub fn with_b(mut self, b: f64) -> Self", "with_b(b: f64)"),
            (
                "pub fn of(f: impl Fn(&[Dual]) -> Dual + Send) -> Self",
                "of(f: impl Fn(&[Dual]) -> Dual + Send)",
            ),
            (
                "pub fn fix(&mut self, node: NodeId) -> Result<(), E>",
                "fix(node: NodeId)",
            ),
        ] {
            assert_eq!(call(header), wanted);
        }
    }
}
