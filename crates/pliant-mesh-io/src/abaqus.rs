//! Abaqus input files: nodes, elements and sets.

mod sets;

use std::collections::HashMap;

use pliant_continuum::ElementKind;

use super::Mesh;
use super::builder::{Builder, within};
use super::elements::Kind;
use super::error::{Location, MeshError, excerpt};
use super::text::{lines, number, real, syntax};
use sets::{Entry, Set, Sets};

/// Reads the mesh of an Abaqus input file: `*NODE`, `*ELEMENT`, `*NSET` and `*ELSET` of one part.
///
/// Solids (`C3D4`, `C3D5`, `C3D6`, `C3D8`, `C3D10`, `C3D15`, `C3D20` with any letters behind),
/// membranes, shells and surfaces (`S3`, `S4`, `S8R`, `STRI65`, `M3D4`, `SFM3D3`, `R3D4`, `CPS3`, ...) and
/// lines (`T3D2`, `B31`) are read. Sets of nodes and of elements become groups of their names in
/// the spelling of their first mention; capitals make no difference. What says nothing about the
/// mesh (materials, steps, surfaces) is passed over.
///
/// # Errors
/// [`MeshError::Syntax`], [`MeshError::BadIndex`], [`MeshError::UnsupportedElement`],
/// [`MeshError::DuplicateNode`], [`MeshError::Empty`] and [`MeshError::TooLarge`]. Keywords that
/// make nodes or elements of others (`*NGEN`, `*ELGEN`, ...), `*INCLUDE`, `*SYSTEM`, a second part
/// with nodes and an instance that is moved would give another mesh than the file means: they are
/// errors as well.
pub fn parse_abaqus(text: &str) -> Result<Mesh, MeshError> {
    let mut reader = Reader::default();
    // A keyword line that ends with a comma goes on.
    let mut open: Option<(usize, String)> = None;
    for (line, code) in lines(text, "**") {
        let code = code.trim();
        if let Some((first, mut start)) = open.take() {
            start.push_str(code);
            if code.ends_with(',') {
                open = Some((first, start));
            } else {
                reader.keyword(first, &start)?;
            }
        } else if !code.starts_with('*') {
            reader.data(line, code)?;
        } else if code.ends_with(',') {
            open = Some((line, code.to_owned()));
        } else {
            reader.keyword(line, code)?;
        }
    }
    if let Some((line, start)) = open {
        reader.keyword(line, &start)?;
    }
    reader.finish()
}

/// The kind of the data lines below a keyword.
#[derive(Default)]
enum Section {
    #[default]
    Other,
    Nodes(Option<usize>),
    Elements(Kind, Option<usize>),
    Set(usize, bool),
    Instance,
}

/// An element whose nodes are not looked up yet.
struct Element {
    line: usize,
    label: i64,
    kind: Kind,
    nodes: Vec<i64>,
}

#[derive(Default)]
struct Reader {
    section: Section,
    builder: Builder,
    /// Vertices by label.
    nodes: HashMap<i64, u32>,
    elements: Vec<Element>,
    /// The element that goes on in the next line.
    unfinished: bool,
    sets: Sets,
    /// Parts so far, and that which has the nodes.
    part: usize,
    part_of_nodes: Option<usize>,
}

/// The value of a parameter of a keyword; of one without a value, an empty text.
fn parameter<'a>(parameters: &[&'a str], wanted: &str) -> Option<&'a str> {
    parameters.iter().find_map(|parameter| {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let is = key.trim().eq_ignore_ascii_case(wanted);
        is.then(|| value.trim().trim_matches('"'))
    })
}

/// Keywords that make a part of the mesh which this reader would miss.
const MAKERS: [&str; 11] = [
    "*NGEN",
    "*NFILL",
    "*NMAP",
    "*NCOPY",
    "*ELGEN",
    "*ELCOPY",
    "*INCLUDE",
    "*SYSTEM",
    "*MAP",
    "*SUBSTRUCTURE PATH",
    "*ELEMENT INPUT",
];

impl Reader {
    fn keyword(&mut self, line: usize, code: &str) -> Result<(), MeshError> {
        self.end_of_element(line)?;
        let mut pieces = code.split(',');
        let keyword = pieces.next().unwrap_or_default().trim().to_ascii_uppercase();
        let parameters: Vec<&str> = pieces.collect();
        let named = |wanted| parameter(&parameters, wanted);
        self.section = match keyword.as_str() {
            "*NODE" => {
                if named("SYSTEM").is_some_and(|s| !s.eq_ignore_ascii_case("R")) {
                    return Err(syntax(line, "nodes in rectangular coordinates", Some(code)));
                }
                if *self.part_of_nodes.get_or_insert(self.part) != self.part {
                    return Err(syntax(line, "the nodes of one part", Some("those of another")));
                }
                Section::Nodes(named("NSET").map(|name| self.sets.of(name, false)))
            }
            "*ELEMENT" => {
                let kind = named("TYPE").ok_or_else(|| syntax(line, "*ELEMENT, TYPE=...", Some(code)))?;
                let kind = element_kind(kind).ok_or_else(|| MeshError::UnsupportedElement {
                    place: Location::Line(line),
                    element: excerpt(kind.as_bytes()),
                })?;
                Section::Elements(kind, named("ELSET").map(|name| self.sets.of(name, true)))
            }
            "*NSET" | "*ELSET" => {
                let name = named(&keyword[1..]);
                let name = name
                    .ok_or_else(|| syntax(line, &format!("{keyword}, {}=...", &keyword[1..]), Some(code)))?;
                if keyword == "*NSET" && named("ELSET").is_some() {
                    return Err(syntax(line, "the nodes of a set one by one", Some(code)));
                }
                let set = self.sets.of(name, keyword == "*ELSET");
                Section::Set(set, named("GENERATE").is_some())
            }
            "*PART" => {
                self.part = self.part.saturating_add(1);
                Section::Other
            }
            "*INSTANCE" => Section::Instance,
            word if MAKERS.contains(&word) => {
                return Err(syntax(line, "a mesh that is written out", Some(code)));
            }
            _ => Section::Other,
        };
        Ok(())
    }

    fn data(&mut self, line: usize, code: &str) -> Result<(), MeshError> {
        let words = || code.split(',').map(str::trim).filter(|word| !word.is_empty());
        match self.section {
            Section::Other => Ok(()),
            Section::Instance => Err(syntax(line, "an instance that is where its part is", Some(code))),
            Section::Nodes(set) => {
                let mut words = code.split(',').map(str::trim);
                let label: i64 = number(line, "the number of a node", words.next())?;
                let mut position = [0.0; 3];
                for (x, axis) in position.iter_mut().zip(["x", "y", "z"]) {
                    // Nothing between two commas is zero.
                    let word = words.next().map(|word| if word.is_empty() { "0" } else { word });
                    *x = real(line, &format!("coordinate {axis} of a node"), word)?;
                }
                let vertex = self.builder.vertex(position)?;
                if self.nodes.insert(label, vertex).is_some() {
                    let place = Location::Line(line);
                    return Err(MeshError::DuplicateNode { place, tag: label });
                }
                self.sets.add(set, line, Entry::Label(label))
            }
            Section::Elements(kind, set) => {
                let mut words = words();
                if !self.unfinished {
                    let label = number(line, "the number of an element", words.next())?;
                    within(self.elements.len(), "elements")?;
                    let nodes = Vec::with_capacity(kind.nodes());
                    self.elements.push(Element {
                        line,
                        label,
                        kind,
                        nodes,
                    });
                    self.sets.add(set, line, Entry::Label(label))?;
                    self.unfinished = true;
                }
                if let Some(element) = self.elements.last_mut() {
                    for word in words {
                        if element.nodes.len() == kind.nodes() {
                            let expected = format!("{} nodes of an element", kind.nodes());
                            return Err(syntax(line, &expected, Some("more")));
                        }
                        element
                            .nodes
                            .push(number(line, "the number of a node", Some(word))?);
                    }
                    self.unfinished = element.nodes.len() < kind.nodes();
                }
                Ok(())
            }
            Section::Set(set, true) => {
                let mut words = words();
                let first = number(line, "the first number", words.next())?;
                let last = number(line, "the last number", words.next())?;
                let step = words
                    .next()
                    .map_or(Ok(1), |word| number(line, "a step of 1 or more", Some(word)))?;
                if step < 1 || first > last {
                    return Err(syntax(line, "first, last, step in rising order", Some(code)));
                }
                self.sets.add(Some(set), line, Entry::Range(first, last, step))
            }
            Section::Set(set, false) => {
                for word in words() {
                    let entry = match word.parse() {
                        Ok(label) => Entry::Label(label),
                        Err(_) => Entry::Set(word.trim_matches('"').to_owned()),
                    };
                    self.sets.add(Some(set), line, entry)?;
                }
                Ok(())
            }
        }
    }

    fn end_of_element(&self, line: usize) -> Result<(), MeshError> {
        match (self.unfinished, self.elements.last()) {
            (
                true,
                Some(Element {
                    label, kind, nodes, ..
                }),
            ) => {
                let expected = format!("{} nodes of element {label}", kind.nodes());
                Err(syntax(line, &expected, Some(&nodes.len().to_string())))
            }
            _ => Ok(()),
        }
    }

    fn finish(mut self) -> Result<Mesh, MeshError> {
        self.end_of_element(self.elements.last().map_or(1, |e| e.line))?;
        let mut cells: HashMap<i64, (Kind, usize)> = HashMap::with_capacity(self.elements.len());
        for element in &self.elements {
            let place = Location::Line(element.line);
            let vertex = |label: &i64| {
                self.nodes.get(label).copied().ok_or(MeshError::BadIndex {
                    place,
                    index: *label,
                    vertices: self.nodes.len(),
                })
            };
            let nodes: Vec<u32> = element.nodes.iter().map(vertex).collect::<Result<_, _>>()?;
            let cell = (element.kind, self.builder.next_cell(element.kind));
            if cells.insert(element.label, cell).is_some() {
                return Err(syntax(
                    element.line,
                    "a number for each element",
                    Some(&element.label.to_string()),
                ));
            }
            self.builder.cell(element.kind, &nodes, &[])?;
        }
        let known = |set: &Set, label: i64| match set.of_elements {
            true => cells.contains_key(&label),
            false => self.nodes.contains_key(&label),
        };
        for (set, labels) in self
            .sets
            .resolve(known, cells.len().saturating_add(self.nodes.len()))?
        {
            let group = [self.builder.group(&set.name)?];
            for label in labels {
                if !set.of_elements {
                    self.builder.point(self.nodes[&label], &group)?;
                } else if let Some((kind, cell)) = cells.get(&label) {
                    self.builder.join(*kind, *cell, &group)?;
                }
            }
        }
        self.builder.finish()
    }
}

/// The kinds by what their names begin with; behind it are letters only.
fn element_kind(name: &str) -> Option<Kind> {
    const STEMS: &[(Kind, &[&str])] = &[
        (Kind::Tetrahedron, &["C3D4"]),
        (Kind::Volume(ElementKind::Pyramid5), &["C3D5"]),
        (Kind::Volume(ElementKind::Prism6), &["C3D6"]),
        (Kind::Volume(ElementKind::Hex8), &["C3D8"]),
        (Kind::Volume(ElementKind::Tet10), &["C3D10"]),
        (Kind::Volume(ElementKind::Prism15), &["C3D15"]),
        (Kind::Volume(ElementKind::Hex20), &["C3D20"]),
        (
            Kind::Triangle,
            &["S3", "STRI3", "M3D3", "SFM3D3", "R3D3", "CPS3", "CPE3", "DS3"],
        ),
        (
            Kind::Quadrangle,
            &["S4", "M3D4", "SFM3D4", "R3D4", "CPS4", "CPE4", "DS4"],
        ),
        (
            Kind::Triangle6,
            &["STRI65", "M3D6", "SFM3D6", "CPS6", "CPE6", "DS6"],
        ),
        (
            Kind::Quadrangle8,
            &["S8", "M3D8", "SFM3D8", "CPS8", "CPE8", "DS8"],
        ),
        (Kind::Quadrangle9, &["S9R5", "M3D9"]),
        (Kind::Line, &["T3D2", "B31", "CONN3D2"]),
    ];
    let name = name.to_ascii_uppercase();
    let is = |stem: &&str| {
        let behind = name.strip_prefix(stem);
        behind.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let found = STEMS.iter().find(|(_, stems)| stems.iter().any(is));
    found.map(|(kind, _)| *kind)
}
