//! Errors in mesh files.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A place in a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// A line of a text file, counted from one.
    Line(usize),
    /// A byte of a binary file, counted from zero.
    Byte(usize),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(offset) => write!(f, "byte {offset}"),
        }
    }
}

/// Why a mesh could not be read.
#[non_exhaustive]
#[derive(thiserror::Error)]
pub enum MeshError {
    /// The file is missing or unreadable.
    #[error("cannot read mesh {path}: {source}", path = path.display())]
    Io {
        /// The file meant.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The extension names no format that can be read.
    #[error(
        "{path}: unknown mesh file extension \"{extension}\"; supported: {supported}",
        path = path.display(),
        supported = super::MESH_EXTENSIONS.join(", ")
    )]
    UnknownExtension {
        /// The file meant.
        path: PathBuf,
        /// Its extension in lower case, empty if it has none.
        extension: String,
    },
    /// The file does not follow its format.
    #[error("{place}: expected {expected}, found {found}")]
    Syntax {
        /// The place.
        place: Location,
        /// The content that the format wants there.
        expected: String,
        /// The content that is there.
        found: String,
    },
    /// A cell names a vertex that the file does not have.
    #[error("{place}: a cell names vertex {index}, but the file has {vertices} vertices")]
    BadIndex {
        /// The place.
        place: Location,
        /// The vertex as written: an index or relative index (OBJ), or the number of a node.
        index: i64,
        /// Number of vertices of the file; for a relative index, of those before it.
        vertices: usize,
    },
    /// A coordinate is not a finite number.
    #[error("{place}: vertex {vertex} has a coordinate that is not finite")]
    NonFinite {
        /// The place.
        place: Location,
        /// The vertex in the file's own numbers: from one (OBJ, STL), from zero (PLY, VTK), or the
        /// number of the node.
        vertex: i64,
    },
    /// Two nodes have the same tag.
    #[error("{place}: a second node with the tag {tag}")]
    DuplicateNode {
        /// The place of the second one.
        place: Location,
        /// The tag.
        tag: i64,
    },
    /// The file has no vertices.
    #[error("the mesh has no vertices")]
    Empty,
    /// A version of the MSH format that this reader does not know.
    #[error("{place}: MSH version {version} is not supported (2.2 and 4.1 are)")]
    UnsupportedVersion {
        /// The place.
        place: Location,
        /// The version as written.
        version: String,
    },
    /// A kind of element that this reader does not take.
    #[error(
        "{place}: elements of type {element} are not supported \
         (points, lines, triangles and quadrangles of first and second order are, tetrahedra of 4 and 10 nodes, pyramids of 5 \
         and 13, prisms of 6 and 15, hexahedra of 8, 20 and 27)"
    )]
    UnsupportedElement {
        /// The place.
        place: Location,
        /// The type as the format names it, as `29 (20-node tetrahedron)`.
        element: String,
    },
    /// Something is wrong with one file of a mesh that has several.
    #[error("{file} file, {source}")]
    InFile {
        /// Its extension with the dot.
        file: &'static str,
        /// The error.
        source: Box<MeshError>,
    },
    /// More than a reader takes.
    #[error("the mesh has more than {most} {what}")]
    TooLarge {
        /// The kind of what there is too much of, in words.
        what: &'static str,
        /// The most of it.
        most: usize,
    },
}

/// The sentence: a `main` that returns the error prints it.
impl std::fmt::Debug for MeshError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl MeshError {
    /// Whether the message names the file.
    pub fn names_file(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::UnknownExtension { .. })
    }
}

/// The message of a reader of XML, which may have names from the file in it, short enough for one
/// of ours.
pub(super) fn clipped(message: &str) -> String {
    const LONGEST: usize = 160;
    let shown: String = message.chars().take(LONGEST).collect();
    let dots = if message.chars().count() > LONGEST {
        "..."
    } else {
        ""
    };
    format!("{shown}{dots}")
}

/// A piece of the file, short enough for a message.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST)]);
    let shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    let dots = if text.chars().count() > LONGEST { "..." } else { "" };
    format!("\"{shown}{dots}\"")
}
