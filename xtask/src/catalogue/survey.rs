//! The components in the code: their documentation, their variants, fields and functions.

use syn::spanned::Spanned;
use syn::{Attribute, Fields, FnArg, ImplItem, Item, Signature, Type, Visibility};

use crate::sources::Sources;
use crate::text::find_word;
use crate::tidy::Finding;

/// Folders of the code of components.
const FOLDERS: &[&str] = &[
    "crates/pliant-model/src/",
    "crates/pliant-continuum/src/",
    "crates/pliant-stepper/src/",
];

/// Headings of the page with the types below each; of the first two, those that implement `Mapping`
/// or have parents, and those that implement `ForceField`.
pub(super) const SECTIONS: &[(&str, &[&str])] = &[
    ("Mappings", &[]),
    ("Force fields", &[]),
    ("Constraints and rows", &["Level", "RowLaw", "Model"]),
    ("Joints", &["JointKind", "Joint", "JointAxis"]),
    ("Masses", &["Mass", "RigidMass", "CoupledMass"]),
    ("Prescribed motions", &["PrescribedMotion"]),
    ("Treatments", &["Treatment", "Gyroscopic"]),
];

/// Groups of mappings by the first word of `**Parents.**`, with their headings.
pub(super) const GROUPS: &[(&str, &str)] = &[
    ("Points", "Mappings of points"),
    ("Bodies", "Mappings of bodies"),
    ("Any", "General mappings"),
];

/// Methods of the model that make and change rows; its others are no components.
const ROW_METHODS: &[&str] = &[
    "add_constraint",
    "set_motion",
    "set_bounds",
    "fix",
    "set_rayleigh",
];

/// Symbols of units, as the documentation writes them.
const UNITS: &[&str] = &["m", "s", "kg", "N", "J", "Pa", "rad", "none", "unit"];

/// One component.
pub(super) struct Component {
    pub(super) name: String,
    /// Index into [`SECTIONS`].
    pub(super) section: usize,
    pub(super) path: String,
    line: usize,
    /// Paragraphs of its documentation.
    pub(super) doc: Vec<String>,
    /// Code and documentation of its variants, fields and functions.
    pub(super) entries: Vec<(String, String)>,
    /// Names that stand for it in scene files: its own, or those of its variants.
    pub(super) names: Vec<String>,
}

/// The components in the order of the page, and the gaps in their documentation.
pub(super) fn survey(sources: &Sources) -> (Vec<Component>, Vec<Finding>) {
    let files = sources.ending(".rs");
    let files: Vec<_> = files
        .filter(|file| FOLDERS.iter().any(|folder| file.path.starts_with(folder)))
        .collect();
    let mut parsed: Vec<(&str, Vec<Item>)> = Vec::new();
    for file in &files {
        parsed.extend(syn::parse_file(&file.text).map(|syntax| (file.path.as_str(), syntax.items)));
    }
    // Names behind `impl Mapping for` and `impl ForceField for`.
    let implemented = |of: &str| {
        let start = format!("{of} for ");
        let lines = files
            .iter()
            .flat_map(|file| file.text.lines().filter(|line| line.starts_with("impl")));
        let names =
            lines.filter_map(|line| Some(line.split_once(&start)?.1.split([' ', '<']).next()?.to_owned()));
        names.collect::<Vec<String>>()
    };
    let (mappings, laws) = (implemented("Mapping"), implemented("ForceField"));
    let (mut found, mut findings) = (Vec::new(), Vec::new());
    for (path, items) in &parsed {
        for item in items {
            let (name, attributes, visibility, at) = match item {
                Item::Struct(one) => (&one.ident, &one.attrs, &one.vis, one.ident.span()),
                Item::Enum(one) => (&one.ident, &one.attrs, &one.vis, one.ident.span()),
                Item::Fn(one) => (&one.sig.ident, &one.attrs, &one.vis, one.sig.ident.span()),
                _ => continue,
            };
            let (name, doc) = (name.to_string(), paragraphs(attributes));
            let listed = SECTIONS
                .iter()
                .position(|(_, names)| names.contains(&name.as_str()));
            let section = match listed {
                None if laws.contains(&name) => 1,
                None if mappings.contains(&name) || doc.iter().any(|p| p.starts_with("**Parents.**")) => 0,
                None => continue,
                Some(section) => section,
            };
            if is_public(visibility) {
                let (entries, names) = entries(&name, path, item, &parsed);
                let (path, line) = ((*path).to_owned(), at.start().line);
                found.push(Component {
                    name,
                    section,
                    path,
                    line,
                    doc,
                    entries,
                    names,
                });
            }
        }
    }
    let listed = SECTIONS
        .iter()
        .flat_map(|(_, names)| names.iter().map(|&name| name.to_owned()));
    for name in listed.chain(mappings).chain(laws) {
        if !found.iter().any(|one| one.name == name) {
            findings.push(lacks(
                FOLDERS[0],
                1,
                &name,
                "a public struct or enum of this name",
            ));
        }
    }
    findings.extend(found.iter().flat_map(Component::gaps));
    found.sort_by(|a, b| (a.section, a.group(), &a.name).cmp(&(b.section, b.group(), &b.name)));
    (found, findings)
}

/// Source on one line, without the spaces that only line breaks brought in.
fn code(of: &impl Spanned) -> String {
    let text = of.span().source_text().unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.replace("( ", "(").replace(", )", ")");
    text.replace(" )", ")").replace(", }", " }")
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The paragraphs of a documentation, each on one line, without examples and what follows the first
/// heading.
fn paragraphs(attributes: &[Attribute]) -> Vec<String> {
    let (mut found, mut in_example) = (vec![String::new()], false);
    let lines = attributes
        .iter()
        .filter_map(|attribute| attribute.span().source_text());
    for line in lines {
        let Some(text) = line.strip_prefix("///").map(str::trim) else {
            continue;
        };
        if text.starts_with("# ") {
            break;
        }
        in_example ^= text.starts_with("```");
        match found.last_mut() {
            Some(last) if !in_example && !text.is_empty() && !text.starts_with("```") => {
                *last += if last.is_empty() { "" } else { " " };
                *last += text;
            }
            _ => found.push(String::new()),
        }
    }
    found.retain(|paragraph| !paragraph.is_empty());
    found
}

/// Code and documentation of variants or public fields, of public functions that return the type,
/// and of the fields of structs that these take; and the names that stand for the component in
/// scene files.
fn entries(
    name: &str,
    path: &str,
    item: &Item,
    all: &[(&str, Vec<Item>)],
) -> (Vec<(String, String)>, Vec<String>) {
    let (mut found, mut names) = (Vec::new(), vec![name.to_owned()]);
    match item {
        Item::Fn(one) => found.push((call(&one.sig), "As above.".to_owned())),
        Item::Struct(one) => found.extend(fields(&one.fields, "", false)),
        Item::Enum(one) => {
            names = one
                .variants
                .iter()
                .map(|variant| variant.ident.to_string())
                .collect();
            for (variant, name) in one.variants.iter().zip(&names) {
                let unnamed = if let Fields::Unnamed(list) = &variant.fields {
                    code(list)
                } else {
                    String::new()
                };
                found.push((name.clone() + &unnamed, paragraphs(&variant.attrs).join(" ")));
                found.extend(fields(&variant.fields, &format!("{name}::"), true));
            }
        }
        _ => {}
    }
    let of_crate = |path: &str| path.split("/src/").next().map(str::to_owned);
    let same_crate = all.iter().filter(|(file, _)| of_crate(file) == of_crate(path));
    let mut taken = String::new();
    for item in same_crate.flat_map(|(_, items)| items) {
        let Item::Impl(one) = item else { continue };
        let is_it = matches!(&*one.self_ty, Type::Path(of) if of.path.segments.last().is_some_and(|last| last.ident == name));
        for item in one.items.iter().filter(|_| is_it && one.trait_.is_none()) {
            let ImplItem::Fn(function) = item else { continue };
            let wanted = match name {
                "Model" => ROW_METHODS.iter().any(|row| function.sig.ident == row),
                _ => find_word(&code(&function.sig.output), "Self").is_some(),
            };
            if wanted && is_public(&function.vis) {
                taken += &call(&function.sig);
                found.push((call(&function.sig), paragraphs(&function.attrs).join(" ")));
            }
        }
    }
    for item in all
        .iter()
        .filter(|(file, _)| *file == path)
        .flat_map(|(_, items)| items)
    {
        if let Item::Struct(one) = item
            && find_word(&taken, &one.ident.to_string()).is_some_and(|_| one.ident != name)
        {
            found.extend(fields(&one.fields, &format!("{}::", one.ident), false));
        }
    }
    (found, names)
}

/// A function as it is called: its name and its arguments without the receiver.
fn call(signature: &Signature) -> String {
    let typed = signature
        .inputs
        .iter()
        .filter(|input| matches!(input, FnArg::Typed(_)));
    format!(
        "{}({})",
        signature.ident,
        typed.map(code).collect::<Vec<_>>().join(", ")
    )
}

/// The public or all fields with names, with a prefix before these.
fn fields(fields: &Fields, prefix: &str, all: bool) -> Vec<(String, String)> {
    let wanted = fields.iter().filter(|field| all || is_public(&field.vis));
    let found = wanted.filter_map(|field| {
        let name = format!("{prefix}{}: {}", field.ident.as_ref()?, code(&field.ty));
        Some((name, paragraphs(&field.attrs).join(" ")))
    });
    found.collect()
}

fn lacks(path: &str, line: usize, name: &str, missing: &str) -> Finding {
    Finding::problem(path, line, format!("for the catalogue, `{name}` lacks {missing}"))
}

impl Component {
    /// Index into [`GROUPS`] of a mapping.
    pub(super) fn group(&self) -> Option<usize> {
        let parents = self
            .doc
            .iter()
            .find_map(|paragraph| paragraph.strip_prefix("**Parents.** "))?;
        GROUPS
            .iter()
            .position(|(word, _)| find_word(parents, word) == Some(0))
    }

    /// Paragraphs that its documentation lacks; entries without documentation, units or equation.
    fn gaps(&self) -> Vec<Finding> {
        let lacks = |name: &str, missing: &str| lacks(&self.path, self.line, name, missing);
        let has = |start: &str| {
            self.doc
                .iter()
                .any(|p| p.strip_prefix(start).is_some_and(|rest| !rest.is_empty()))
        };
        let mut found = Vec::new();
        for (is_there, missing) in [
            (
                self.doc.first().is_some_and(|first| !first.starts_with("**")),
                "a first paragraph that says what it is",
            ),
            (
                has("**Equation.** "),
                "the paragraph `**Equation.**` of its documentation",
            ),
            (has("**Use.** "), "the paragraph `**Use.**` of its documentation"),
            (
                self.section > 0 || self.group().is_some(),
                "a paragraph `**Parents.**` that begins with `Points`, `Bodies` or `Any`",
            ),
            (!self.entries.is_empty(), "a public constructor, field or variant"),
        ] {
            if !is_there {
                found.push(lacks(&self.name, missing));
            }
        }
        let is_strict = ["Level", "Gyroscopic", "Model"].contains(&self.name.as_str());
        for (code, doc) in &self.entries {
            let name = format!("{}::{code}", self.name);
            if doc.is_empty() {
                found.push(lacks(&name, "documentation"));
            } else if doc != "As above." && find_word(code, "f64").is_some() && !states_unit(doc) {
                found.push(lacks(
                    &name,
                    "the units of its numbers in parentheses, such as (m), (N s/m), (none)",
                ));
            } else if (is_strict && !code.contains("::") || code.contains("axis: usize"))
                && !states_equation(doc)
            {
                found.push(lacks(&name, "an equation in backquotes in its documentation"));
            }
        }
        found
    }
}

/// Whether a unit stands in parentheses: `(m)`, `(N s/m)`, `(1/s)`,
/// `(elements, or fixed points in m)`, `(none)`.
fn states_unit(text: &str) -> bool {
    let prose = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let groups = prose
        .split('(')
        .skip(1)
        .filter_map(|group| group.split(')').next());
    let mut words = groups.flat_map(|group| group.split(|c: char| !c.is_alphabetic()));
    words.any(|word| UNITS.contains(&word))
}

/// Whether code between backquotes holds an equation or an inequality.
fn states_equation(text: &str) -> bool {
    let mut spans = text.split('`').skip(1).step_by(2);
    spans.any(|span| {
        [" = ", " <= ", " >= ", " < ", " > "]
            .iter()
            .any(|sign| span.contains(sign))
    })
}
