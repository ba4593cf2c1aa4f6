//! Sizes of types and functions in the sources of the crates, tests left out.

use std::collections::{BTreeMap, BTreeSet};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Fields, ImplItemFn, ItemEnum, ItemFn, ItemImpl, ItemMod, ItemStruct, ItemUnion,
    Signature, TraitItemFn, Type,
};

use crate::sources::Sources;

/// A type or a function, and its number of fields or lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sized {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) size: usize,
}

/// Types, functions and implementations in the sources.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    /// Structs by their number of fields.
    pub(crate) structs: Vec<Sized>,
    /// Functions by their number of lines, from the signature to the closing brace.
    pub(crate) functions: Vec<Sized>,
    /// Types declared by `struct`, `enum` or `union`, with the line.
    pub(crate) declared: Vec<(String, String, usize)>,
    /// Files with an inherent `impl` of a type, by the folder of the crate and the name of the
    /// type.
    pub(crate) impls: BTreeMap<(String, String), BTreeSet<String>>,
    path: String,
}

/// The shapes in `crates/*/src`.
pub(crate) fn shapes(sources: &Sources) -> Shapes {
    let mut shapes = Shapes::default();
    for file in sources.ending(".rs") {
        let in_crate = file.path.starts_with("crates/") && file.path.contains("/src/");
        if let (true, Ok(syntax)) = (in_crate, syn::parse_file(&file.text)) {
            shapes.path.clone_from(&file.path);
            shapes.visit_file(&syntax);
        }
    }
    shapes.structs.sort_by_key(|one| std::cmp::Reverse(one.size));
    shapes.functions.sort_by_key(|one| std::cmp::Reverse(one.size));
    shapes
}

/// The folder of the crate of a file: `crates/pliant`.
pub(crate) fn crate_of(path: &str) -> &str {
    path.split("/src/").next().unwrap_or(path)
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.span().source_text().unwrap_or_default();
        text.starts_with("#[cfg(test)") || text.starts_with("#[cfg(all(test")
    })
}

impl Shapes {
    fn function(&mut self, signature: &Signature, block: &Block) {
        let (first, last) = (signature.span().start().line, block.span().end().line);
        self.functions.push(Sized {
            name: signature.ident.to_string(),
            path: self.path.clone(),
            line: first,
            size: last + 1 - first,
        });
    }

    fn declare(&mut self, name: &syn::Ident) {
        let line = name.span().start().line;
        self.declared.push((name.to_string(), self.path.clone(), line));
    }

    fn fields(&mut self, name: &syn::Ident, fields: &Fields) {
        self.structs.push(Sized {
            name: name.to_string(),
            path: self.path.clone(),
            line: name.span().start().line,
            size: fields.len(),
        });
    }
}

impl<'ast> Visit<'ast> for Shapes {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.declare(&item.ident);
        self.fields(&item.ident, &item.fields);
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.declare(&item.ident);
    }

    fn visit_item_union(&mut self, item: &'ast ItemUnion) {
        self.declare(&item.ident);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if let (None, Type::Path(of)) = (&item.trait_, &*item.self_ty)
            && let Some(name) = of.path.segments.last()
        {
            let key = (crate_of(&self.path).to_owned(), name.ident.to_string());
            self.impls.entry(key).or_default().insert(self.path.clone());
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lines_and_files_are_counted_without_tests() {
        let one = "pub struct A {\n    x: f64,\n    y: f64,\n}\nimpl A {\n    fn f() {\n        g();\n    }\n}\nimpl Clone for A {}\n\
            #[cfg(test)]\nmod tests {\n    struct B(u8);\n}\n";
        let sources = Sources::of(&[
            ("crates/a/src/lib.rs", one),
            ("crates/a/src/more.rs", "impl super::A {}\nstruct C(u8);\n"),
            ("crates/a/tests/it/main.rs", "struct D;\n"),
        ]);
        let shapes = shapes(&sources);
        let sizes: Vec<_> = shapes
            .structs
            .iter()
            .map(|s| (s.name.as_str(), s.size, s.line))
            .collect();
        assert_eq!(sizes, [("A", 2, 1), ("C", 1, 2)]);
        assert_eq!((shapes.functions[0].size, shapes.functions[0].line), (3, 6));
        assert_eq!(shapes.impls.values().next().map(BTreeSet::len), Some(2));
        assert_eq!(shapes.declared.len(), 2);
    }
}
