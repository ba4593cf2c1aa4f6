//! XML files as trees of elements that know their places.
//!
//! The tree is a flat list, read without recursion: nesting costs no stack, and has a limit all the
//! same. Document types are refused, and with them entities.

use crate::error::ImportError;
use crate::remark::Remarks;
use pliant_scene::{Diagnostic, SourceSpan};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// The largest file, in bytes: 64 MiB, as of scenes.
pub(crate) const LARGEST_FILE: u64 = 64 << 20;
/// The deepest nesting of elements.
pub(crate) const DEEPEST: usize = 256;
/// The most elements of all files together.
pub(crate) const MOST_ELEMENTS: usize = 1_000_000;

/// The most attributes of an element. Formats have some thirty.
pub(crate) const MOST_ATTRIBUTES: usize = 200;

/// Advice about a file of xacro.
pub(crate) const XACRO: &str = "files of xacro must be expanded first: `xacro robot.urdf.xacro > robot.urdf`";

/// The most guesses of what was meant by unknown names.
const MOST_GUESSES: usize = 10_000;

/// Attributes of which one that is given leaves out the others of a class: all turn a frame.
pub(crate) const TURNS: [&str; 5] = ["quat", "axisangle", "xyaxes", "zaxis", "euler"];

/// A stretch of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spot {
    file: usize,
    start: usize,
    end: usize,
}

/// An attribute and where its value stands.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) spot: Spot,
}

/// An element. Its place is that of the start of its tag.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) tag: String,
    attributes: Vec<Attribute>,
    /// Attributes of its class, where it has none of that name itself. One list for all elements
    /// of a tag and a class: copies could be many.
    defaults: Option<Rc<[Attribute]>>,
    /// The text inside, if there is any, with the tag as its name.
    pub(crate) text: Option<Attribute>,
    pub(crate) children: Vec<usize>,
    pub(crate) spot: Spot,
}

struct File {
    name: String,
    text: String,
    lines: Vec<usize>,
}

/// The files of an import, their elements and the remarks about them.
#[derive(Default)]
pub(crate) struct Tree {
    files: Vec<File>,
    pub(crate) elements: Vec<Element>,
    remarks: Remarks,
    /// Lists of defaults that `expect` has seen, and against how many known names.
    expected: HashSet<(*const Attribute, usize)>,
    /// Remarks of `expect` with their guesses, by those without them and how many names are known:
    /// to guess takes long.
    guesses: HashMap<(String, usize), String>,
}

type Result<T> = std::result::Result<T, ImportError>;

impl Tree {
    /// Reads a text; `name` is for messages. The result is its first element.
    pub(crate) fn read(&mut self, name: &str, text: &str) -> Result<usize> {
        // Windows editors begin files with this mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file = self.files.len();
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        self.files.push(File {
            name: name.to_owned(),
            text: text.to_owned(),
            lines: std::iter::once(0).chain(ends).collect(),
        });
        self.check_size(file)?;
        let left = MOST_ELEMENTS - self.elements.len().min(MOST_ELEMENTS);
        let options = roxmltree::ParsingOptions {
            allow_dtd: false,
            // Texts and comments are nodes as well.
            nodes_limit: u32::try_from(4 * left + 16).unwrap_or(u32::MAX),
            ..roxmltree::ParsingOptions::default()
        };
        let loose = crate::osim::well_formed(text);
        let document =
            match roxmltree::Document::parse_with_options(loose.as_deref().unwrap_or(text), options) {
                Ok(document) => document,
                Err(error) => return Err(self.broken(file, &error)),
            };
        let root = self.elements.len();
        let mut index = HashMap::new();
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            if self.elements.len() >= MOST_ELEMENTS {
                let spot = Spot {
                    file,
                    start: node.range().start,
                    end: node.range().start,
                };
                return Err(self.syntax(spot, format!("more than {MOST_ELEMENTS} elements"), None));
            }
            let number = self.elements.len();
            index.insert(node.id(), number);
            self.elements.push(element(file, &node));
            if let Some(parent) = node.parent_element().and_then(|p| index.get(&p.id())) {
                self.elements[*parent].children.push(number);
            }
        }
        Ok(root)
    }

    /// Refuses what is nested too deep or has too many attributes, before anything that might
    /// recurse or compare them in pairs sees it.
    fn check_size(&self, file: usize) -> Result<()> {
        let bytes = self.files[file].text.as_bytes();
        let (mut depth, mut at) = (0usize, 0);
        while at < bytes.len() {
            let rest = &bytes[at..];
            let skip = |end: &[u8]| {
                let found = rest.windows(end.len()).position(|w| w == end);
                found.map_or(rest.len(), |i| i + end.len())
            };
            at += if rest.starts_with(b"<!--") {
                skip(b"-->")
            } else if rest.starts_with(b"<![CDATA[") {
                skip(b"]]>")
            } else if rest.starts_with(b"<?") {
                skip(b"?>")
            } else if rest.starts_with(b"</") {
                depth = depth.saturating_sub(1);
                2
            } else if rest[0] == b'<' && !rest.starts_with(b"<!") {
                let (length, attributes) = tag_length(rest);
                let spot = Spot {
                    file,
                    start: at,
                    end: at + length,
                };
                if attributes > MOST_ATTRIBUTES {
                    let message = format!("an element has more than {MOST_ATTRIBUTES} attributes");
                    return Err(self.syntax(spot, message, None));
                }
                if !rest[..length].ends_with(b"/>") {
                    depth += 1;
                }
                if depth > DEEPEST {
                    let message = format!("elements are nested more than {DEEPEST} deep");
                    return Err(self.syntax(spot, message, None));
                }
                length
            } else {
                1
            };
        }
        Ok(())
    }

    fn broken(&self, file: usize, error: &roxmltree::Error) -> ImportError {
        let position = error.pos();
        let row = (position.row as usize).saturating_sub(1);
        let File { text, lines, .. } = &self.files[file];
        let start = lines.get(row).copied().unwrap_or(text.len());
        let column = (position.col as usize).saturating_sub(1);
        let at = text[start..]
            .char_indices()
            .nth(column)
            .map_or(text.len(), |(i, _)| start + i);
        // The place is drawn, so that it need not be told as well.
        let told = error.to_string();
        let told = told.strip_suffix(&format!(" at {position}")).unwrap_or(&told);
        let help = match error {
            roxmltree::Error::DtdDetected => {
                Some("document types, and the entities that they define, are not read")
            }
            roxmltree::Error::UnknownNamespace(prefix, _) if prefix == "xacro" => Some(XACRO),
            _ => None,
        };
        let help = help.map(str::to_owned);
        self.syntax(
            Spot {
                file,
                start: at,
                end: at,
            },
            format!("this is no XML: {told}"),
            help,
        )
    }

    pub(crate) fn diagnostic(&self, spot: Spot, message: String, help: Option<String>) -> Box<Diagnostic> {
        let (name, text) = match self.files.get(spot.file) {
            Some(file) => (file.name.as_str(), file.text.as_str()),
            None => ("", ""),
        };
        Box::new(Diagnostic {
            message,
            file: name.to_owned(),
            place: Some(SourceSpan::of(text, spot.start..spot.end)),
            help,
            notes: Vec::new(),
        })
    }

    /// An error about what is no XML, or beyond a limit.
    pub(crate) fn syntax(&self, spot: Spot, message: String, help: Option<String>) -> ImportError {
        ImportError::Syntax(self.diagnostic(spot, message, help))
    }

    /// Whether the name of an element begins with this prefix and a colon in its file.
    pub(crate) fn has_prefix(&self, of: usize, prefix: &str) -> bool {
        let spot = self.elements[of].spot;
        let text = self
            .files
            .get(spot.file)
            .and_then(|file| file.text.get(spot.start..));
        let name = text.and_then(|text| text.strip_prefix('<')?.strip_prefix(prefix));
        name.is_some_and(|rest| rest.starts_with(':'))
    }

    /// An error about a place.
    pub(crate) fn wrong<T>(&self, spot: Spot, message: String, help: Option<String>) -> Result<T> {
        Err(ImportError::Value(self.diagnostic(spot, message, help)))
    }

    /// File and line of a place.
    pub(crate) fn place(&self, spot: Spot) -> (String, usize) {
        let Some(file) = self.files.get(spot.file) else {
            return (String::new(), 0);
        };
        (
            file.name.clone(),
            file.lines.partition_point(|start| *start <= spot.start),
        )
    }

    /// Takes a remark about a place.
    pub(crate) fn remark(&mut self, spot: Spot, message: impl Into<String>) {
        let place = self.place(spot);
        self.remarks.add(Some(place), message.into());
    }

    /// Takes a remark about the whole import.
    pub(crate) fn remark_all(&mut self, message: impl Into<String>) {
        self.remarks.add(None, message.into());
    }

    pub(crate) fn take_remarks(&mut self) -> Remarks {
        std::mem::take(&mut self.remarks)
    }

    /// The children of that tag.
    pub(crate) fn all(&self, of: usize, tag: &str) -> Vec<usize> {
        let children = self.elements[of].children.iter();
        children
            .copied()
            .filter(|c| self.elements[*c].tag == tag)
            .collect()
    }

    /// The first child of that tag.
    pub(crate) fn child(&self, of: usize, tag: &str) -> Option<usize> {
        self.all(of, tag).first().copied()
    }

    pub(crate) fn attribute(&self, of: usize, name: &str) -> Option<&Attribute> {
        let element = &self.elements[of];
        let own = element.attributes.iter().find(|a| a.name == name);
        own.or_else(|| element.inherited().find(|a| a.name == name))
    }

    /// Attributes that stand in the element itself.
    pub(crate) fn own_attributes(&self, of: usize) -> &[Attribute] {
        &self.elements[of].attributes
    }

    /// Adds an element that nothing has inside yet.
    pub(crate) fn add_element(&mut self, tag: &str, spot: Spot) -> usize {
        self.elements.push(Element {
            tag: tag.to_owned(),
            attributes: Vec::new(),
            defaults: None,
            text: None,
            children: Vec::new(),
            spot,
        });
        self.elements.len() - 1
    }

    /// Adds a copy of an element that nothing has inside yet; those inside it are the same.
    pub(crate) fn copy_element(&mut self, of: usize) -> usize {
        self.elements.push(self.elements[of].clone());
        self.elements.len() - 1
    }

    /// Changes attributes that an element has itself.
    pub(crate) fn rename(&mut self, of: usize, change: impl FnMut(&mut Attribute)) {
        self.elements[of].attributes.iter_mut().for_each(change);
    }

    /// How many elements stand in sections of that tag, with those inside of them.
    pub(crate) fn elements_in(&self, of: usize, section: &str) -> usize {
        let sections = self.all(of, section);
        let parts = sections.iter().flat_map(|s| &self.elements[*s].children);
        parts.map(|part| 1 + self.elements[*part].children.len()).sum()
    }

    /// Adds an attribute to an element.
    pub(crate) fn add_attribute(&mut self, of: usize, attribute: Attribute) {
        self.elements[of].attributes.push(attribute);
    }

    /// Gives an element the attributes of a class.
    pub(crate) fn inherit(&mut self, of: usize, defaults: Rc<[Attribute]>) {
        self.elements[of].defaults = Some(defaults);
    }

    /// Leaves out an attribute that an element has itself.
    pub(crate) fn forget(&mut self, of: usize, name: &str) {
        self.elements[of].attributes.retain(|a| a.name != name);
    }

    /// The value of an attribute.
    pub(crate) fn value(&self, of: usize, name: &str) -> Option<&str> {
        self.attribute(of, name).map(|a| a.value.as_str())
    }

    /// The value of an attribute that must be there.
    pub(crate) fn needed(&self, of: usize, name: &str) -> Result<&Attribute> {
        match self.attribute(of, name) {
            Some(attribute) => Ok(attribute),
            None => {
                let Element { tag, spot, .. } = &self.elements[of];
                self.wrong(*spot, format!("`{tag}` has no `{name}`"), None)
            }
        }
    }

    /// Numbers of an attribute, as many as there are; infinite ones are allowed if `infinite`.
    pub(crate) fn parse(&self, attribute: &Attribute, infinite: bool) -> Result<Vec<f64>> {
        let mut numbers = Vec::new();
        for word in attribute.value.split_whitespace() {
            match word.parse::<f64>() {
                Ok(x) if x.is_finite() || (infinite && !x.is_nan()) => numbers.push(x),
                _ => {
                    let message = format!("`{}` has `{word}` where a number is expected", attribute.name);
                    let help = attribute.value.contains("${").then(|| XACRO.to_owned());
                    return self.wrong(attribute.spot, message, help);
                }
            }
        }
        Ok(numbers)
    }

    /// All numbers of an attribute, if it is there.
    pub(crate) fn list(&self, of: usize, name: &str) -> Result<Option<Vec<f64>>> {
        match self.attribute(of, name) {
            Some(attribute) => self.parse(attribute, false).map(Some),
            None => Ok(None),
        }
    }

    /// Exactly `N` numbers of an attribute, if it is there.
    pub(crate) fn numbers<const N: usize>(&self, of: usize, name: &str) -> Result<Option<[f64; N]>> {
        self.so_many(of, name, false)
    }

    /// Exactly `N` numbers of an attribute, if it is there, that may be infinite.
    pub(crate) fn infinite_numbers<const N: usize>(&self, of: usize, name: &str) -> Result<Option<[f64; N]>> {
        self.so_many(of, name, true)
    }

    fn so_many<const N: usize>(&self, of: usize, name: &str, infinite: bool) -> Result<Option<[f64; N]>> {
        let Some(attribute) = self.attribute(of, name) else {
            return Ok(None);
        };
        let list = self.parse(attribute, infinite)?;
        match <[f64; N]>::try_from(list) {
            Ok(numbers) => Ok(Some(numbers)),
            Err(list) => {
                let (expected, found) = (count(N), list.len());
                let message = format!("`{name}` has {found} numbers where {expected} expected");
                self.wrong(attribute.spot, message, None)
            }
        }
    }

    /// A number of an attribute, if it is there.
    pub(crate) fn number(&self, of: usize, name: &str) -> Result<Option<f64>> {
        Ok(self.numbers::<1>(of, name)?.map(|[x]| x))
    }

    /// A number that may be infinite.
    pub(crate) fn bound(&self, of: usize, name: &str) -> Result<Option<f64>> {
        match self.attribute(of, name) {
            Some(attribute) if attribute.value.split_whitespace().count() == 1 => {
                Ok(self.parse(attribute, true)?.first().copied())
            }
            _ => self.number(of, name),
        }
    }

    /// A number that must not be negative.
    pub(crate) fn not_negative(&self, of: usize, name: &str) -> Result<Option<f64>> {
        let number = self.number(of, name)?;
        if let (Some(x), Some(attribute)) = (number, self.attribute(of, name))
            && x < 0.0
        {
            return self.wrong(
                attribute.spot,
                format!("`{name}` is {x}, which is below zero"),
                None,
            );
        }
        Ok(number)
    }

    /// Remarks on attributes and children that the reader does not know.
    pub(crate) fn expect(&mut self, of: usize, attributes: &[&str], children: &[&str]) {
        let element = &self.elements[of];
        // What a class says, many elements have from the same place: it is told once.
        let inherited = element.defaults.as_deref().unwrap_or_default();
        let key = (inherited.as_ptr(), attributes.len());
        let inherited = match inherited.is_empty() || !self.expected.insert(key) {
            true => &[],
            false => inherited,
        };
        let all = element.attributes.iter().chain(inherited);
        let names = all
            .filter(|a| !attributes.contains(&a.name.as_str()))
            .map(|a| ("of", attributes, a.name.clone(), a.spot));
        let inside = element.children.iter().map(|child| &self.elements[*child]);
        let tags = inside
            .filter(|child| !children.contains(&child.tag.as_str()))
            .map(|child| ("in", children, child.tag.clone(), child.spot));
        let unknown: Vec<_> = names.chain(tags).collect();
        for (how, known, name, spot) in unknown {
            let message = format!("`{name}` {how} `{}` is not taken", self.elements[of].tag);
            let message = self.guess(message, &name, known);
            self.remark(spot, message);
        }
    }

    /// A remark with a guess of what was meant, if there is one.
    fn guess(&mut self, message: String, wanted: &str, known: &[&str]) -> String {
        let key = (message, known.len());
        if let Some(whole) = self.guesses.get(&key) {
            return whole.clone();
        }
        if self.guesses.len() >= MOST_GUESSES {
            return key.0;
        }
        let whole = match pliant_scene::hint(wanted, "", known.iter().copied()) {
            Some(hint) if hint.starts_with("did you mean") => format!("{}; {hint}", key.0),
            _ => key.0.clone(),
        };
        self.guesses.insert(key, whole.clone());
        whole
    }
}

impl Element {
    /// Attributes of its class that count.
    fn inherited(&self) -> impl Iterator<Item = &Attribute> {
        let turned = self.attributes.iter().any(|a| TURNS.contains(&a.name.as_str()));
        let defaults = self.defaults.as_deref().unwrap_or_default().iter();
        defaults.filter(move |a| !turned || !TURNS.contains(&a.name.as_str()))
    }
}

/// A count and its verb.
fn count(n: usize) -> String {
    if n == 1 {
        "1 is".to_owned()
    } else {
        format!("{n} are")
    }
}

fn element(file: usize, node: &roxmltree::Node<'_, '_>) -> Element {
    let start = node.range().start;
    let tag = node.tag_name().name();
    let spot = |range: Range<usize>| Spot {
        file,
        start: range.start,
        end: range.end,
    };
    Element {
        tag: tag.to_owned(),
        attributes: node
            .attributes()
            .map(|a| Attribute {
                name: a.name().to_owned(),
                value: a.value().to_owned(),
                spot: spot(a.range_value()),
            })
            .collect(),
        defaults: None,
        text: text(node).map(|(value, range)| Attribute {
            name: tag.to_owned(),
            value,
            spot: spot(range),
        }),
        children: Vec::new(),
        spot: spot(start..start + 1 + tag.len()),
    }
}

/// The first text of an element that is not empty, without spaces around it, and where it stands.
fn text(node: &roxmltree::Node<'_, '_>) -> Option<(String, Range<usize>)> {
    let parts = node.children().filter(roxmltree::Node::is_text);
    let mut parts = parts.filter_map(|part| Some((part.text()?, part.range())));
    let (whole, range) = parts.find(|(text, _)| !text.trim().is_empty())?;
    let value = whole.trim();
    let start = range.start + (whole.len() - whole.trim_start().len());
    // References such as `&lt;` are longer in the file than what they stand for.
    let end = (start + value.len()).min(range.end);
    Some((value.to_owned(), start.min(end)..end))
}

/// Bytes of a tag up to its `>`, which may stand in quotes before, and how many attributes it has.
fn tag_length(bytes: &[u8]) -> (usize, usize) {
    let (mut quote, mut attributes) = (None, 0);
    for (at, byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return (at + 1, attributes),
            (None, b'=') => attributes += 1,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(q), b) if q == *b => quote = None,
            _ => {}
        }
    }
    (bytes.len(), attributes)
}
