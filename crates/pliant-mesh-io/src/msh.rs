//! Gmsh MSH: sections, header and names; the numbers are read by `msh1`, `msh2` and
//! `msh4`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::builder::{Builder, MAX_GROUPS_PER_CELL, within};
use super::cursor::{Cursor, Encoding, place};
use super::elements::{Kind, MOST_NODES, gmsh_order};
use super::error::{MeshError, excerpt};
use super::{Mesh, msh1, msh2, msh4};

/// Reads a Gmsh mesh file of version 2.2 or 4.1, ASCII or binary of either byte order, or of
/// version 1, which has `$NOD` and `$ELM` alone.
///
/// Nodes keep the file's order; their tags need not be contiguous. Points, lines, triangles,
/// quadrangles (as two triangles) of first order and the volumes of
/// [`ElementKind`](pliant_continuum::ElementKind) are read; their physical groups become
/// [`Mesh::groups`], where groups of the same name in several dimensions are one. Version 2.2
/// repeats an element for each of its groups: that is one cell here. Sections other than
/// `$MeshFormat`, `$PhysicalNames`, `$Entities`, `$Nodes` and `$Elements` are skipped; so elements
/// on partitioned entities (`$PartitionedEntities`) are in no group.
///
/// # Errors
/// All of [`MeshError`] but those of opening the file.
pub fn parse_msh(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let mut position = 0;
    let header = match next_section(bytes, &mut position, Encoding::Text)? {
        Some(section) if section.name == b"MeshFormat" => read_header(bytes, &section)?,
        Some(section) if is_of_version_one(section.name) => {
            position = 0;
            Header {
                version: Version::One,
                encoding: Encoding::Text,
                size_bytes: 8,
            }
        }
        section => {
            let found = section.map_or_else(|| "an empty file".to_owned(), |section| excerpt(section.name));
            let place = place(bytes, 0, Encoding::Text);
            return Err(MeshError::Syntax {
                place,
                expected: "$MeshFormat".to_owned(),
                found,
            });
        }
    };
    let mut sections = Vec::new();
    while let Some(section) = next_section(bytes, &mut position, header.encoding)? {
        // The only way in which 2.2 can have nodes but no `$Nodes`: "no vertices" would be a
        // riddle.
        if section.name == b"ParametricNodes" {
            return Err(MeshError::Syntax {
                place: place(bytes, section.body.start.saturating_sub(1), header.encoding),
                expected: "$Nodes (save the mesh without parametric coordinates)".to_owned(),
                found: "$ParametricNodes".to_owned(),
            });
        }
        sections.push(section);
    }
    // Read in the order of need, whatever their order in the file.
    let mut msh = Msh {
        seen: (header.version != Version::Four).then(HashMap::new),
        ..Msh::default()
    };
    for wanted in ["PhysicalNames", "Entities", "NOD", "Nodes", "ELM", "Elements"] {
        for section in sections
            .iter()
            .filter(|section| section.name == wanted.as_bytes())
        {
            let mut cursor = Cursor::new(bytes, section.body.clone(), header.encoding, header.size_bytes);
            match (wanted, header.version) {
                ("PhysicalNames", Version::Two | Version::Four) => {
                    read_physical_names(&mut cursor, &mut msh)?;
                }
                ("Entities", Version::Four) => msh4::read_entities(&mut cursor, &mut msh)?,
                ("Nodes", Version::Four) => msh4::read_nodes(&mut cursor, &mut msh)?,
                ("Elements", Version::Four) => msh4::read_elements(&mut cursor, &mut msh)?,
                // The first version has the same lines of nodes as the second.
                ("Nodes", Version::Two) | ("NOD", Version::One) => msh2::read_nodes(&mut cursor, &mut msh)?,
                ("Elements", Version::Two) => msh2::read_elements(&mut cursor, &mut msh)?,
                ("ELM", Version::One) => msh1::read_elements(&mut cursor, &mut msh)?,
                _ => continue,
            }
            cursor.finish(wanted)?;
        }
    }
    msh.builder.finish()
}

/// No section of Gmsh has a name half as long. The bound keeps the search for the end linear in the
/// size of the file.
const LONGEST_NAME: usize = 64;

/// A section, without the lines `$Name` and `$EndName`.
struct Section<'a> {
    name: &'a [u8],
    body: std::ops::Range<usize>,
}

/// Finds the section that begins at or after `position`, and moves `position` behind it.
fn next_section<'a>(
    bytes: &'a [u8],
    position: &mut usize,
    encoding: Encoding,
) -> Result<Option<Section<'a>>, MeshError> {
    let syntax = |offset, expected: String, found| MeshError::Syntax {
        place: place(bytes, offset, encoding),
        expected,
        found,
    };
    let blanks = bytes[*position..].iter().take_while(|b| b.is_ascii_whitespace());
    let start = position.saturating_add(blanks.count());
    let rest = &bytes[start..];
    if rest.is_empty() {
        return Ok(None);
    }
    let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let name = line.strip_prefix(b"$").map(<[u8]>::trim_ascii);
    let Some(name) = name.filter(|name| (1..=LONGEST_NAME).contains(&name.len())) else {
        return Err(syntax(start, "a section as $Name".to_owned(), excerpt(line)));
    };
    let behind = start.saturating_add(line.len()).saturating_add(1);
    let body = behind.min(bytes.len());
    let end: &[u8; 4] = if is_of_version_one(name) { b"$END" } else { b"$End" };
    let mark = [end, name].concat();
    let is_end = |at: &usize| {
        let tail = &bytes[*at..];
        tail.starts_with(&mark) && tail.get(mark.len()).is_none_or(u8::is_ascii_whitespace)
    };
    let Some(end) = (body..bytes.len()).find(is_end) else {
        return Err(syntax(
            start,
            format!("a section with its end, {}", excerpt(&mark)),
            "the end of the file".to_owned(),
        ));
    };
    *position = end.saturating_add(mark.len());
    Ok(Some(Section {
        name,
        body: body..end,
    }))
}

/// Whether a section is one of version 1, which has no header.
fn is_of_version_one(name: &[u8]) -> bool {
    matches!(name, b"NOD" | b"ELM")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
    Four,
}

struct Header {
    version: Version,
    encoding: Encoding,
    size_bytes: usize,
}

/// `version file-type data-size`, and in a binary file the number one, which tells the byte order.
fn read_header(bytes: &[u8], section: &Section<'_>) -> Result<Header, MeshError> {
    let mut cursor = Cursor::new(bytes, section.body.clone(), Encoding::Text, 8);
    let word = cursor.word("the version of the format")?;
    let version = match word {
        b"2.2" => Version::Two,
        b"4.1" => Version::Four,
        _ => {
            let version = excerpt(word);
            return Err(MeshError::UnsupportedVersion {
                place: cursor.place(cursor.last),
                version,
            });
        }
    };
    let binary = match cursor.word("the file type, 0 or 1")? {
        b"0" => false,
        b"1" => true,
        word => return Err(cursor.syntax("the file type, 0 (ASCII) or 1 (binary)", excerpt(word))),
    };
    let size_bytes = match cursor.word("the data size")? {
        b"8" => 8,
        // The size of a `double` in 2.2, which has no other; of a `size_t` in 4.1.
        b"4" if version == Version::Four => 4,
        word => return Err(cursor.syntax("the data size 8 (or 4 in version 4.1)", excerpt(word))),
    };
    let mut encoding = Encoding::Text;
    if binary {
        cursor.end_of_line()?;
        cursor.encoding = Encoding::Binary { big_endian: false };
        // Read as little-endian, a big-endian one is 2^24.
        let big_endian = match cursor.int("the number 1 in the byte order of the file")? {
            1 => false,
            0x0100_0000 => true,
            other => {
                return Err(cursor.syntax("the number 1 in either byte order", other.to_string()));
            }
        };
        encoding = Encoding::Binary { big_endian };
    }
    cursor.finish("MeshFormat")?;
    Ok(Header {
        version,
        encoding,
        size_bytes,
    })
}

/// `count`, then `dimension tag "name"` per line: text in all files.
fn read_physical_names(cursor: &mut Cursor<'_>, msh: &mut Msh) -> Result<(), MeshError> {
    let count: u64 = cursor.text("the number of physical names")?;
    for _ in 0..count {
        let dimension = cursor.text("the dimension of a physical group")?;
        let tag: i64 = cursor.text("the tag of a physical group")?;
        within(msh.names.len(), "physical names")?;
        let name = cursor.quoted("a physical name in quotes")?;
        msh.names.insert((dimension, tag), name);
    }
    Ok(())
}

/// The content of the sections so far.
#[derive(Default)]
pub(super) struct Msh {
    builder: Builder,
    /// Index of each node tag.
    nodes: HashMap<i64, u32>,
    /// Physical names by dimension and tag.
    names: HashMap<(i64, i64), String>,
    /// Physical tags of the entities (4.1), by dimension and tag.
    pub(super) entities: HashMap<(i64, i64), Vec<i64>>,
    /// Groups by dimension and physical tag.
    groups: HashMap<(i64, i64), usize>,
    /// Cells by kind and sorted corners, where a file may repeat them (2.2).
    seen: Option<HashMap<(Kind, [u32; MOST_NODES]), usize>>,
}

impl Msh {
    /// Adds a node whose coordinates began at `offset`.
    pub(super) fn add_node(
        &mut self,
        cursor: &Cursor<'_>,
        offset: usize,
        tag: i64,
        position: [f64; 3],
    ) -> Result<(), MeshError> {
        if !position.iter().all(|x| x.is_finite()) {
            return Err(MeshError::NonFinite {
                place: cursor.place(offset),
                vertex: tag,
            });
        }
        let index = self.builder.vertex(position)?;
        if self.nodes.insert(tag, index).is_some() {
            return Err(MeshError::DuplicateNode {
                place: cursor.place(offset),
                tag,
            });
        }
        Ok(())
    }

    /// Groups of cells of that dimension with the given physical tags.
    pub(super) fn group_ids(
        &mut self,
        cursor: &Cursor<'_>,
        dimension: i64,
        tags: &[i64],
    ) -> Result<Vec<usize>, MeshError> {
        if tags.len() > MAX_GROUPS_PER_CELL {
            let expected = format!("at most {MAX_GROUPS_PER_CELL} physical groups of an entity");
            return Err(cursor.syntax(expected, tags.len().to_string()));
        }
        let mut ids = Vec::with_capacity(tags.len());
        for &tag in tags {
            // Zero is "none"; a minus sign says that the element is turned round in the group.
            let tag = tag.saturating_abs();
            if tag == 0 {
                continue;
            }
            let key = (dimension, tag);
            let id = match self.groups.get(&key) {
                Some(&id) => id,
                None => {
                    let unnamed = || format!("physical_{dimension}d_{tag}");
                    let name = self.names.get(&key).cloned().unwrap_or_else(unnamed);
                    let id = self.builder.group(&name)?;
                    self.groups.insert(key, id);
                    id
                }
            };
            ids.push(id);
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// Adds an element that began at `offset`, given its node tags.
    pub(super) fn add_element(
        &mut self,
        cursor: &Cursor<'_>,
        offset: usize,
        kind: Kind,
        tags: &[i64],
        groups: &[usize],
    ) -> Result<(), MeshError> {
        let mut corners = [0_u32; MOST_NODES];
        for (corner, &tag) in corners.iter_mut().zip(tags) {
            let vertices = self.builder.vertices();
            *corner = *self.nodes.get(&tag).ok_or_else(|| MeshError::BadIndex {
                place: cursor.place(offset),
                index: tag,
                vertices,
            })?;
        }
        let mut key = corners;
        // Sorted, because Gmsh turns an element round in a group that holds it with a minus sign.
        key[..kind.nodes()].sort_unstable();
        match self.seen.as_mut().map(|seen| seen.entry((kind, key))) {
            Some(Entry::Occupied(cell)) if kind != Kind::Point => {
                return self.builder.join(kind, *cell.get(), groups);
            }
            Some(Entry::Vacant(cell)) => {
                cell.insert(self.builder.next_cell(kind));
            }
            _ => {}
        }
        let nodes = &corners[..kind.nodes()];
        match kind {
            Kind::Volume(volume) => {
                let order = &gmsh_order(volume)[..kind.nodes()];
                let nodes: Vec<u32> = order.iter().map(|k| corners[*k]).collect();
                self.builder.cell(kind, &nodes, groups)
            }
            _ => self.builder.cell(kind, nodes, groups),
        }
    }
}

/// The element type just read, if it can be used.
pub(super) fn element_kind(cursor: &Cursor<'_>, number: i64) -> Result<Kind, MeshError> {
    Kind::from_number(number).map_err(|name| MeshError::UnsupportedElement {
        place: cursor.place(cursor.last),
        element: format!("{number} ({name})"),
    })
}
