//! TetGen: nodes, tetrahedra and faces in a file each.

use std::collections::HashSet;

use pliant_continuum::ElementKind;

use super::Mesh;
use super::builder::Builder;
use super::elements::Kind;
use super::error::{Location, MeshError};
use super::text::{Words, cut_off, lines, syntax};

/// The files of a TetGen mesh.
#[derive(Clone, Copy, Debug)]
pub struct TetgenFiles<'a> {
    /// The `.node` file.
    pub nodes: &'a str,
    /// The `.ele` file.
    pub elements: &'a str,
    /// The `.face` file, if there is one.
    pub faces: Option<&'a str>,
}

/// Reads a TetGen mesh: nodes, tetrahedra of 4 or 10 nodes, and faces of 3 or 6 nodes as triangles
/// of their corners.
///
/// Nodes are numbered from zero or one, as the first of them says. The first attribute of an
/// element becomes the group `region_<value>`, the marker of a face `boundary_<value>`, the marker
/// of a node `marker_<value>`; a marker of zero is none.
///
/// # Errors
/// [`MeshError::InFile`], which says in which of the files, with any other one.
pub fn parse_tetgen(files: TetgenFiles<'_>) -> Result<Mesh, MeshError> {
    let mut reader = Reader::default();
    let within = |file| {
        move |error| MeshError::InFile {
            file,
            source: Box::new(error),
        }
    };
    reader.nodes(files.nodes).map_err(within(".node"))?;
    reader.elements(files.elements).map_err(within(".ele"))?;
    if let Some(faces) = files.faces {
        reader.faces(faces).map_err(within(".face"))?;
    }
    reader.builder.finish()
}

/// Most different markers that become groups.
const MOST_MARKERS: usize = 10_000;

/// Edges of a triangle by its corners.
const SIDES: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 0]];

#[derive(Default)]
struct Reader {
    builder: Builder,
    positions: Vec<[f64; 3]>,
    /// The number of the first node.
    first: i64,
    names: HashSet<String>,
}

impl Reader {
    /// `count 3 attributes markers`, then `number x y z attributes... [marker]` per node.
    fn nodes(&mut self, text: &str) -> Result<(), MeshError> {
        let mut lines = lines(text, "#");
        let (line, header) = lines.next().ok_or_else(|| cut_off(text, "the number of nodes"))?;
        let mut words = Words::new(line, header);
        let count: u64 = words.number("the number of nodes")?;
        let dimension = words.word("the dimension 3")?;
        if dimension != "3" {
            return Err(syntax(line, "the dimension 3", Some(dimension)));
        }
        let attributes: u64 = words.number_or_zero("the number of attributes")?;
        let marked: u64 = words.number_or_zero("0 or 1 for markers")?;
        for index in 0..count {
            let expected = || format!("{count} nodes, of which {index} are there");
            let (line, code) = lines.next().ok_or_else(|| cut_off(text, &expected()))?;
            let mut words = Words::new(line, code);
            let number: i64 = words.number("the number of a node")?;
            if index == 0 {
                self.first = number.clamp(0, 1);
            }
            let wanted = self.first.saturating_add_unsigned(index);
            if number != wanted {
                let expected = match index {
                    0 => "0 or 1 as the number of the first node".to_owned(),
                    _ => format!("node {wanted}"),
                };
                return Err(syntax(line, &expected, Some(&number.to_string())));
            }
            let position = words.position()?;
            let vertex = self.builder.vertex(position)?;
            self.positions.push(position);
            for _ in 0..attributes {
                words.real("an attribute of a node")?;
            }
            if marked > 0 {
                let marker: i64 = words.number("the marker of a node")?;
                let groups = self.group(line, "marker", marker)?;
                self.builder.point(vertex, &groups)?;
            }
        }
        Ok(())
    }

    /// `count nodes-each attributes`, then `number nodes... attributes...` per tetrahedron.
    fn elements(&mut self, text: &str) -> Result<(), MeshError> {
        let mut lines = lines(text, "#");
        let (line, header) = lines
            .next()
            .ok_or_else(|| cut_off(text, "the number of tetrahedra"))?;
        let mut words = Words::new(line, header);
        let count: u64 = words.number("the number of tetrahedra")?;
        let each = words.word("the nodes of a tetrahedron, 4 or 10")?;
        let kind = match each {
            "4" => Kind::Tetrahedron,
            "10" => Kind::Volume(ElementKind::Tet10),
            _ => return Err(syntax(line, "the nodes of a tetrahedron, 4 or 10", Some(each))),
        };
        let attributes: u64 = words.number_or_zero("the number of attributes")?;
        for index in 0..count {
            let expected = || format!("{count} tetrahedra, of which {index} are there");
            let (line, code) = lines.next().ok_or_else(|| cut_off(text, &expected()))?;
            let mut words = Words::new(line, code);
            words.number::<i64>("the number of a tetrahedron")?;
            let nodes = self.cell(&mut words, kind, ElementKind::Tet10.edges())?;
            let mut groups = Vec::new();
            if attributes > 0 {
                // Written as a real number by some programs.
                let region = words.real("the region of a tetrahedron")?;
                groups = self.group(line, "region", region)?;
            }
            self.builder.cell(kind, &nodes, &groups)?;
        }
        Ok(())
    }

    /// `count markers`, then `number nodes... [marker] ...` per face; whether it has three nodes or
    /// six, its line says.
    fn faces(&mut self, text: &str) -> Result<(), MeshError> {
        let mut lines = lines(text, "#");
        let (line, header) = lines.next().ok_or_else(|| cut_off(text, "the number of faces"))?;
        let mut words = Words::new(line, header);
        let count: u64 = words.number("the number of faces")?;
        let marked: u64 = words.number_or_zero("0 or 1 for markers")?;
        for index in 0..count {
            let expected = || format!("{count} faces, of which {index} are there");
            let (line, code) = lines.next().ok_or_else(|| cut_off(text, &expected()))?;
            let length = code.split_whitespace().count();
            let of_six = if marked > 0 { 8 } else { 7 };
            let kind = if length >= of_six {
                Kind::Triangle6
            } else {
                Kind::Triangle
            };
            let mut words = Words::new(line, code);
            words.number::<i64>("the number of a face")?;
            let nodes = self.cell(&mut words, kind, &SIDES)?;
            let mut groups = Vec::new();
            if marked > 0 {
                let marker: i64 = words.number("the marker of a face")?;
                groups = self.group(line, "boundary", marker)?;
            }
            self.builder.cell(kind, &nodes, &groups)?;
        }
        Ok(())
    }

    /// The nodes of a cell. Which of those behind the corners is in the middle of which edge, their
    /// places say: TetGen puts them there.
    fn cell(&self, words: &mut Words<'_>, kind: Kind, edges: &[[usize; 2]]) -> Result<Vec<u32>, MeshError> {
        let nodes: Vec<u32> = (0..kind.nodes())
            .map(|_| self.node(words))
            .collect::<Result<_, _>>()?;
        let at = |node: u32| self.positions[node as usize];
        let corners = nodes.len().min(if kind.dimension() == 3 { 4 } else { 3 });
        let mut out = nodes[..corners].to_vec();
        if corners == nodes.len() {
            return Ok(out);
        }
        for [a, b] in edges {
            let (a, b) = (at(nodes[*a]), at(nodes[*b]));
            let far = |node: &u32| {
                let off = [0, 1, 2].map(|k| at(*node)[k] - 0.5 * (a[k] + b[k]));
                off.iter().map(|x| x * x).sum::<f64>()
            };
            let nearest = nodes[corners..].iter().min_by(|p, q| far(p).total_cmp(&far(q)));
            out.extend(nearest);
        }
        let mut each = out.clone();
        each.sort_unstable();
        each.dedup();
        if each.len() < nodes.len() {
            let expected = "a node near the middle of each edge behind the corners";
            return Err(syntax(words.line, expected, Some("others")));
        }
        Ok(out)
    }

    fn node(&self, words: &mut Words<'_>) -> Result<u32, MeshError> {
        let number: i64 = words.number("the number of a node")?;
        let index = number.checked_sub(self.first).and_then(|k| u32::try_from(k).ok());
        let vertices = self.positions.len();
        index
            .filter(|k| (*k as usize) < vertices)
            .ok_or(MeshError::BadIndex {
                place: Location::Line(words.line),
                index: number,
                vertices,
            })
    }

    /// The group of a marker; that of zero is none.
    fn group<T: ToString>(&mut self, line: usize, what: &str, marker: T) -> Result<Vec<usize>, MeshError> {
        let marker = marker.to_string();
        if marker == "0" || marker == "-0" {
            return Ok(Vec::new());
        }
        let name = format!("{what}_{marker}");
        if !self.names.contains(&name) {
            if self.names.len() == MOST_MARKERS {
                let expected = format!("at most {MOST_MARKERS} different markers and regions");
                return Err(syntax(line, &expected, Some(&name)));
            }
            self.names.insert(name.clone());
        }
        Ok(vec![self.builder.group(&name)?])
    }
}
