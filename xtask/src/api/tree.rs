//! The modules of a crate, with the public items in each and the implementations of all of them.

use std::collections::BTreeMap;

use syn::spanned::Spanned;
use syn::{Attribute, Fields, ImplItem, ItemImpl, TraitItem, Type, UseTree, Visibility};

use super::join;
use crate::sources::Sources;

/// One public item of a module, or a module.
#[derive(Debug)]
pub(super) enum Item {
    Module {
        name: String,
        is_public: bool,
    },
    /// A `pub use`: the path, and the name that it has here; `*` for all names.
    Use {
        path: Vec<String>,
        name: String,
    },
    /// Anything else, by its name and the lines about it, without the path before them.
    Named {
        name: String,
        lines: Vec<String>,
    },
}

/// A crate as its sources say it.
#[derive(Debug, Default)]
pub(super) struct Crate {
    modules: BTreeMap<String, Vec<Item>>,
    /// Lines about methods and traits, by the name of their type.
    pub(super) implementations: BTreeMap<String, Vec<String>>,
}

impl Crate {
    /// Reads the files of a crate, from `lib.rs` in its folder.
    pub(super) fn read(folder: &str, sources: &Sources) -> Self {
        let mut found = Self::default();
        for file in sources.ending(".rs") {
            let Some(inner) = file.path.strip_prefix(&format!("{folder}/")) else {
                continue;
            };
            let module = match inner.trim_end_matches(".rs") {
                "lib" => String::new(),
                path => path.replace('/', "::"),
            };
            if let Ok(syntax) = syn::parse_file(&file.text) {
                found.add(&module, syntax.items);
            }
        }
        found
    }

    /// The public items of a module, and its modules.
    pub(super) fn items(&self, module: &str) -> &[Item] {
        self.modules.get(module).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_module(&self, path: &str) -> bool {
        self.modules.contains_key(path)
    }

    /// The path in the crate of one that stands in a module; `None` for those of other crates.
    pub(super) fn resolve(&self, module: &str, path: &[String]) -> Option<String> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => String::new(),
            "self" => module.to_owned(),
            "super" => module
                .rsplit_once("::")
                .map_or("", |(parent, _)| parent)
                .to_owned(),
            name if self.is_module(&join(module, name)) => join(module, name),
            // An item beside the `use`, which may be a variant's enum.
            name if self
                .items(module)
                .iter()
                .any(|item| matches!(item, Item::Named { name: n, .. } if n == name)) =>
            {
                join(module, name)
            }
            _ => return None,
        };
        let rest = rest.iter().filter(|name| *name != "*");
        Some(rest.fold(start, |path, name| join(&path, name)))
    }

    fn add(&mut self, module: &str, items: Vec<syn::Item>) {
        let mut found = Vec::new();
        for item in items {
            self.item(module, item, &mut found);
        }
        self.modules.entry(module.to_owned()).or_default().extend(found);
    }

    fn item(&mut self, module: &str, item: syn::Item, found: &mut Vec<Item>) {
        let mut named =
            |visibility: &Visibility, name: &syn::Ident, attributes: &[Attribute], lines: Vec<String>| {
                if is_public(visibility) && !is_test(attributes) {
                    let name = name.to_string();
                    found.push(Item::Named { name, lines });
                }
            };
        match item {
            syn::Item::Mod(item) if !is_test(&item.attrs) => {
                let name = item.ident.to_string();
                if let Some((_, items)) = item.content {
                    self.add(&join(module, &name), items);
                }
                let is_public = is_public(&item.vis);
                found.push(Item::Module { name, is_public });
            }
            syn::Item::Use(item) if is_public(&item.vis) => uses(&item.tree, &mut Vec::new(), found),
            syn::Item::Fn(item) => named(
                &item.vis,
                &item.sig.ident,
                &item.attrs,
                vec![format!(": {}", text(&item.sig))],
            ),
            syn::Item::Const(item) => named(
                &item.vis,
                &item.ident,
                &item.attrs,
                vec![format!(": const {}", text(&item.ty))],
            ),
            syn::Item::Static(item) => named(
                &item.vis,
                &item.ident,
                &item.attrs,
                vec![format!(": static {}", text(&item.ty))],
            ),
            syn::Item::Type(item) => named(
                &item.vis,
                &item.ident,
                &item.attrs,
                vec![format!("{}: type {}", text(&item.generics), text(&item.ty))],
            ),
            syn::Item::Struct(item) => named(&item.vis, &item.ident, &item.attrs, structure(&item)),
            syn::Item::Enum(item) => named(&item.vis, &item.ident, &item.attrs, choice(&item)),
            syn::Item::Trait(item) => named(&item.vis, &item.ident, &item.attrs, contract(&item)),
            syn::Item::Impl(item) if !is_test(&item.attrs) => self.implementation(&item),
            _ => {}
        }
    }

    fn implementation(&mut self, item: &ItemImpl) {
        let Type::Path(of) = &*item.self_ty else {
            return;
        };
        let Some(name) = of.path.segments.last() else {
            return;
        };
        let lines = self.implementations.entry(name.ident.to_string()).or_default();
        if let Some((of, _)) = &item.trait_ {
            lines.push(format!(": {}", text(of)));
            return;
        }
        for inner in &item.items {
            match inner {
                ImplItem::Fn(one) if is_public(&one.vis) && !is_test(&one.attrs) => {
                    lines.push(format!("::{}: {}", one.sig.ident, text(&one.sig)));
                }
                ImplItem::Const(one) if is_public(&one.vis) => {
                    lines.push(format!("::{}: const {}", one.ident, text(&one.ty)));
                }
                _ => {}
            }
        }
    }
}

/// The names that a `pub use` brings.
fn uses(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<Item>) {
    match tree {
        UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            uses(&inner.tree, path, found);
            path.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|inner| uses(inner, path, found)),
        UseTree::Name(name) => export(path, &name.ident, &name.ident, found),
        UseTree::Rename(name) => export(path, &name.ident, &name.rename, found),
        UseTree::Glob(_) => {
            let path = path.iter().cloned().chain(["*".to_owned()]).collect();
            let name = "*".to_owned();
            found.push(Item::Use { path, name });
        }
    }
}

fn export(path: &[String], of: &syn::Ident, name: &syn::Ident, found: &mut Vec<Item>) {
    let (mut path, of, name) = (path.to_vec(), of.to_string(), name.to_string());
    // `a::{self}` is the module `a`.
    let name = match (of.as_str(), path.last()) {
        ("self", Some(module)) if name == "self" => module.clone(),
        ("self", _) => name,
        _ => {
            path.push(of);
            name
        }
    };
    found.push(Item::Use { path, name });
}

/// A struct: its public fields, and whether users can write it down.
fn structure(item: &syn::ItemStruct) -> Vec<String> {
    let mut head = format!("{}: struct", text(&item.generics));
    if has(&item.attrs, "non_exhaustive") {
        head += ", non-exhaustive";
    }
    let mut lines = Vec::new();
    for (place, field) in item.fields.iter().enumerate() {
        if is_public(&field.vis) {
            let name = field
                .ident
                .as_ref()
                .map_or_else(|| place.to_string(), ToString::to_string);
            lines.push(format!(".{name}: {}", text(&field.ty)));
        }
    }
    if lines.len() < item.fields.len() {
        head += ", with private fields";
    }
    lines.push(head);
    lines.extend(derived(&item.attrs));
    lines
}

/// An enum and its variants.
fn choice(item: &syn::ItemEnum) -> Vec<String> {
    let mut head = format!("{}: enum", text(&item.generics));
    if has(&item.attrs, "non_exhaustive") {
        head += ", non-exhaustive";
    }
    let mut lines = vec![head];
    for variant in &item.variants {
        let of: Vec<String> = variant
            .fields
            .iter()
            .map(|field| match &field.ident {
                Some(name) => format!("{name}: {}", text(&field.ty)),
                None => text(&field.ty),
            })
            .collect();
        let of = of.join(", ");
        lines.push(match &variant.fields {
            Fields::Unit => format!("::{}", variant.ident),
            Fields::Unnamed(_) => format!("::{}({of})", variant.ident),
            Fields::Named(_) => format!("::{} {{ {of} }}", variant.ident),
        });
    }
    lines.extend(derived(&item.attrs));
    lines
}

/// A trait and what it takes and provides.
fn contract(item: &syn::ItemTrait) -> Vec<String> {
    let bounds: Vec<String> = item.supertraits.iter().map(text).collect();
    let colon = if bounds.is_empty() { "" } else { ": " };
    let head = format!(
        ": trait {}{}{colon}{}",
        item.ident,
        text(&item.generics),
        bounds.join(" + ")
    );
    let mut lines = vec![head];
    for inner in &item.items {
        match inner {
            TraitItem::Fn(one) => {
                let provided = if one.default.is_some() { ", provided" } else { "" };
                lines.push(format!("::{}: {}{provided}", one.sig.ident, text(&one.sig)));
            }
            TraitItem::Type(one) => lines.push(format!("::{}: type", one.ident)),
            TraitItem::Const(one) => lines.push(format!("::{}: const {}", one.ident, text(&one.ty))),
            _ => {}
        }
    }
    lines
}

/// The traits that a type derives, one by one.
fn derived(attributes: &[Attribute]) -> Vec<String> {
    let lists = attributes.iter().map(text);
    let lists: Vec<String> = lists.filter(|text| text.contains("derive(")).collect();
    let mut lines = Vec::new();
    for list in &lists {
        let inner = list.split_once("derive(").map_or("", |(_, rest)| rest);
        let inner = inner.split(')').next().unwrap_or_default();
        let names = inner.split(',').map(str::trim).filter(|name| !name.is_empty());
        lines.extend(names.map(|name| format!(": {}", name.rsplit("::").next().unwrap_or(name))));
    }
    lines
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

fn is_test(attributes: &[Attribute]) -> bool {
    let texts = attributes.iter().map(text);
    let mut conditions = texts.filter(|text| text.starts_with("#[cfg("));
    conditions.any(|text| text.contains("(test") || text.contains("(doctest"))
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The source of a part in one line, without the commas at the ends of lists.
fn text(part: &impl Spanned) -> String {
    let source = part.span().source_text().unwrap_or_default();
    let words: Vec<&str> = source
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//"))
        .flat_map(str::split_whitespace)
        .collect();
    let mut line = words.join(" ");
    for (wide, narrow) in [("( ", "("), (", )", ")"), (" )", ")"), ("< ", "<"), (", >", ">")] {
        line = line.replace(wide, narrow);
    }
    line
}
