//! Mesh readers: Gmsh MSH (1, 2.2 and 4.1), VTK (legacy, VTU, VTP), Abaqus and TetGen for volumes
//! and surfaces; Wavefront OBJ, STL, PLY, OFF and GTS for surfaces. Text and binary, where a format has both.
//!
//! A [`Mesh`] is what a file says, with no unit conversion: coordinates are in the file's unit of
//! length. The readers take anything a user can feed them: they never panic, never reserve memory
//! for more than the file can hold, and refuse files beyond [`LARGEST_FILE`], meshes beyond
//! [`MOST_ENTRIES`], and data that unpack to more.

#![deny(
    clippy::arithmetic_side_effects,
    reason = "counts and offsets are those of a file, which may hold any number"
)]

use pliant_continuum::{Element, ElementKind};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

mod abaqus;
mod builder;
mod cursor;
mod elements;
mod error;
mod file;
mod gts;
mod msh;
mod msh1;
mod msh2;
mod msh4;
mod obj;
mod off;
mod ply;
mod stl;
mod tetgen;
mod text;
mod vtk;

pub use abaqus::parse_abaqus;
pub use error::{Location, MeshError};
pub use file::read_file;
pub use gts::parse_gts;
pub use msh::parse_msh;
pub use obj::parse_obj;
pub use off::parse_off;
pub use ply::parse_ply;
pub use stl::parse_stl;
pub use tetgen::{TetgenFiles, parse_tetgen};
pub use vtk::{parse_vtk, parse_vtk_xml};

/// The file name extensions that [`read_mesh`] knows.
pub const MESH_EXTENSIONS: [&str; 12] = [
    "obj", "msh", "vtk", "vtu", "vtp", "inp", "node", "ele", "stl", "ply", "off", "gts",
];

/// The largest file that [`read_mesh`] reads, in bytes: 256 MiB.
pub const LARGEST_FILE: u64 = 256 << 20;

/// The most entries of a mesh: vertices, cells, and places of these in groups, all together. A few
/// bytes of a file can stand for many of them.
pub const MOST_ENTRIES: usize = 5_000_000;

/// The most numbers of all arrays of a VTK file together. The sizes of arrays are said ahead of
/// them, and compressed ones take a thousandth of that: more is refused before it is unpacked.
pub const MOST_NUMBERS: usize = 1 << 25;

/// A volume cell that is no linear tetrahedron, with its nodes in the order of [`ElementKind`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeCell {
    /// The kind.
    pub kind: ElementKind,
    /// Indices into [`Mesh::vertices`].
    pub nodes: Vec<u32>,
}

/// A mesh of points, lines, triangles, tetrahedra and other volumes. All indices count from zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Positions, in the file's unit of length and in the file's order; also those in no cell.
    pub vertices: Vec<[f64; 3]>,
    /// Line cells; a polyline is one edge per piece.
    pub edges: Vec<[u32; 2]>,
    /// Triangle cells; a polygon of `n` sides is a fan of `n - 2` triangles about its first corner.
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedron cells.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Other volume cells.
    pub volumes: Vec<VolumeCell>,
    /// Named groups that have at least one cell, in order of first mention.
    pub groups: Vec<MeshGroup>,
    /// Sides of triangles that the fan of a polygon made up, as pairs (triangle, side): side `k`
    /// goes from corner `k` to corner `(k + 1) % 3`. They are not edges of the file. Empty for a
    /// mesh of triangles.
    pub diagonals: Vec<[u32; 2]>,
}

/// A named set of cells: a physical group of Gmsh, a group or object of Wavefront, a set of Abaqus,
/// a value of a whole number that VTK has for each cell, a region or marker of TetGen, a solid of
/// STL. Its lists are sorted and have each index once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeshGroup {
    /// The name in the file; `physical_<dimension>d_<tag>` for a physical group without a name,
    /// `<array>_<value>` for whole numbers of cells.
    pub name: String,
    /// Point cells, as indices into [`Mesh::vertices`].
    pub vertices: Vec<u32>,
    /// Indices into [`Mesh::edges`].
    pub edges: Vec<u32>,
    /// Indices into [`Mesh::triangles`].
    pub triangles: Vec<u32>,
    /// Indices into [`Mesh::tetrahedra`].
    pub tetrahedra: Vec<u32>,
    /// Indices into [`Mesh::volumes`].
    pub volumes: Vec<u32>,
}

impl Mesh {
    /// All distinct edges: line cells, sides of polygons as in the file, and the edges of each
    /// tetrahedron and volume, from corner to corner.
    ///
    /// Each edge has its smaller index first; the list is sorted. Diagonals of split polygons are
    /// left out (unless another cell has the same edge), and so are edges from a vertex to itself.
    /// Cost: `O(n log n)` in the number of cells.
    pub fn unique_edges(&self) -> Vec<[u32; 2]> {
        const SIDES: [(usize, usize); 6] = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)];
        let diagonals: HashSet<[u32; 2]> = self.diagonals.iter().copied().collect();
        let mut edges = self.edges.clone();
        for (index, triangle) in self.triangles.iter().enumerate() {
            for (side, &(a, b)) in SIDES[..3].iter().enumerate() {
                if !diagonals.contains(&[index as u32, side as u32]) {
                    edges.push([triangle[a], triangle[b]]);
                }
            }
        }
        for tetrahedron in &self.tetrahedra {
            edges.extend(SIDES.iter().map(|&(a, b)| [tetrahedron[a], tetrahedron[b]]));
        }
        for cell in &self.volumes {
            let corner = |k: &usize| cell.nodes.get(*k).copied();
            let sides = cell.kind.edges().iter();
            edges.extend(sides.filter_map(|[a, b]| Some([corner(a)?, corner(b)?])));
        }
        edges.retain(|[a, b]| a != b);
        for edge in &mut edges {
            edge.sort_unstable();
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Triangles and quadrangles, as far as they are those of the file: polygons of more sides stay
    /// cut into triangles.
    pub fn faces(&self) -> (Vec<[u32; 3]>, Vec<[u32; 4]>) {
        let diagonals: HashSet<[u32; 2]> = self.diagonals.iter().copied().collect();
        // Sides of a triangle that its polygon does not have: a quadrangle is one with its last,
        // then one with its first.
        let inner = |t: usize| [0, 1, 2].map(|side| diagonals.contains(&[t as u32, side]));
        let (mut triangles, mut quadrangles) = (Vec::new(), Vec::new());
        let mut rest = self.triangles.iter().enumerate().peekable();
        while let Some((t, [a, b, c])) = rest.next() {
            let next = rest.next_if(|(next, _)| {
                inner(t) == [false, false, true] && inner(*next) == [true, false, false]
            });
            match next {
                Some((_, [.., d])) => quadrangles.push([*a, *b, *c, *d]),
                None => triangles.push([*a, *b, *c]),
            }
        }
        (triangles, quadrangles)
    }

    /// The group of the given name.
    pub fn group(&self, name: &str) -> Option<&MeshGroup> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// All vertices of the cells of `group`, sorted, each once.
    ///
    /// Indices of `group` that this mesh does not have are skipped.
    pub fn group_vertices(&self, group: &MeshGroup) -> Vec<u32> {
        let mut found: BTreeSet<u32> = group
            .vertices
            .iter()
            .copied()
            .filter(|&v| (v as usize) < self.vertices.len())
            .collect();
        found.extend(
            group
                .edges
                .iter()
                .filter_map(|&i| self.edges.get(i as usize))
                .flatten(),
        );
        found.extend(
            group
                .triangles
                .iter()
                .filter_map(|&i| self.triangles.get(i as usize))
                .flatten(),
        );
        found.extend(
            group
                .tetrahedra
                .iter()
                .filter_map(|&i| self.tetrahedra.get(i as usize))
                .flatten(),
        );
        found.extend(
            group
                .volumes
                .iter()
                .filter_map(|&i| self.volumes.get(i as usize))
                .flat_map(|cell| &cell.nodes),
        );
        found.into_iter().collect()
    }

    /// The cells of these groups alone, with the vertices that they have and the diagonals of the
    /// polygons among them. All groups stay, as the vertices and the volumes of theirs that are
    /// left.
    pub fn selection(&self, chosen: &[&MeshGroup]) -> Self {
        fn pick<T: Clone>(from: &[T], lists: Vec<&Vec<u32>>) -> Vec<T> {
            let which: BTreeSet<u32> = lists.into_iter().flatten().copied().collect();
            which
                .iter()
                .filter_map(|i| from.get(*i as usize).cloned())
                .collect()
        }
        let mut out = Self {
            edges: pick(&self.edges, chosen.iter().map(|g| &g.edges).collect()),
            triangles: pick(&self.triangles, chosen.iter().map(|g| &g.triangles).collect()),
            tetrahedra: pick(&self.tetrahedra, chosen.iter().map(|g| &g.tetrahedra).collect()),
            volumes: pick(&self.volumes, chosen.iter().map(|g| &g.volumes).collect()),
            ..Self::default()
        };
        let kept: BTreeSet<u32> = chosen.iter().flat_map(|g| g.triangles.iter().copied()).collect();
        let places: BTreeMap<u32, u32> = kept.into_iter().zip(0..).collect();
        let diagonals = self.diagonals.iter();
        out.diagonals = diagonals
            .filter_map(|[t, side]| Some([*places.get(t)?, *side]))
            .collect();
        let used: BTreeSet<u32> = chosen.iter().flat_map(|g| self.group_vertices(g)).collect();
        let mut number = vec![None; self.vertices.len()];
        for (new, old) in used.iter().enumerate() {
            out.vertices.push(self.vertices[*old as usize]);
            number[*old as usize] = Some(new as u32);
        }
        let lists = out.edges.iter_mut().map(|c| &mut c[..]);
        let lists = lists.chain(out.triangles.iter_mut().map(|c| &mut c[..]));
        let lists = lists.chain(out.tetrahedra.iter_mut().map(|c| &mut c[..]));
        let lists = lists.chain(out.volumes.iter_mut().map(|c| &mut c.nodes[..]));
        for vertex in lists.flatten() {
            // Every vertex of a chosen cell is in use.
            *vertex = number[*vertex as usize].unwrap_or_default();
        }
        let renumbered = |count: usize, of: fn(&MeshGroup) -> &Vec<u32>| -> BTreeMap<u32, u32> {
            let all = chosen.iter().flat_map(|g| of(g).iter().copied());
            let kept: BTreeSet<u32> = all.filter(|i| (*i as usize) < count).collect();
            kept.into_iter().zip(0..).collect()
        };
        let tetrahedra = renumbered(self.tetrahedra.len(), |g| &g.tetrahedra);
        let volumes = renumbered(self.volumes.len(), |g| &g.volumes);
        let left = |cells: &[u32], places: &BTreeMap<u32, u32>| -> Vec<u32> {
            cells.iter().filter_map(|i| places.get(i).copied()).collect()
        };
        out.groups = self
            .groups
            .iter()
            .map(|group| MeshGroup {
                name: group.name.clone(),
                tetrahedra: left(&group.tetrahedra, &tetrahedra),
                volumes: left(&group.volumes, &volumes),
                vertices: self
                    .group_vertices(group)
                    .iter()
                    .filter_map(|v| number[*v as usize])
                    .collect(),
                ..MeshGroup::default()
            })
            .collect();
        out
    }

    /// The volumes as a mesh of finite elements, tetrahedra first, with all vertices times `scale`,
    /// in m.
    pub fn solid(&self, scale: f64) -> pliant_continuum::Mesh {
        let indices = |nodes: &[u32]| nodes.iter().map(|n| *n as usize).collect::<Vec<_>>();
        let tetrahedra = self.tetrahedra.iter();
        let tetrahedra = tetrahedra.map(|t| Element::new(ElementKind::Tet4, &indices(t)));
        let others = self
            .volumes
            .iter()
            .map(|c| Element::new(c.kind, &indices(&c.nodes)));
        pliant_continuum::Mesh {
            nodes: self.vertices.iter().map(|x| x.map(|x| x * scale)).collect(),
            elements: tetrahedra.chain(others).collect(),
        }
    }
}

/// Reads a mesh file of at most [`LARGEST_FILE`] bytes in the format that its extension names, see
/// [`MESH_EXTENSIONS`] (upper or lower case).
///
/// A TetGen mesh has several files: of `x.ele` or `x.node`, both are read, and `x.face` if it is
/// there.
///
/// # Errors
/// [`MeshError::UnknownExtension`], [`MeshError::Io`] if a file cannot be read, is no regular file
/// or is too large, and the errors of the `parse_` function of the format, which do not name the
/// file.
pub fn read_mesh(path: &Path) -> Result<Mesh, MeshError> {
    read_mesh_within(path, LARGEST_FILE)
}

/// Reads a mesh as [`read_mesh`] does, from files of at most `most` bytes each.
///
/// # Errors
/// [`MeshError`], for the same reasons as those of [`read_mesh`].
pub fn read_mesh_within(path: &Path, most: u64) -> Result<Mesh, MeshError> {
    let read = |path: &Path| {
        read_file(path, most).map_err(|source| MeshError::Io {
            path: path.to_path_buf(),
            source,
        })
    };
    // Names and comments in some 8-bit encoding must not make the geometry unreadable.
    let text = |bytes: Vec<u8>| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    let extension = extension(path);
    // The format is settled before the file is opened: a wrong extension is the clearer complaint
    // of the two.
    match extension.as_str() {
        "obj" => parse_obj(&text(read(path)?)),
        "msh" => parse_msh(&read(path)?),
        "vtk" => parse_vtk(&read(path)?),
        "vtu" | "vtp" => parse_vtk_xml(&read(path)?),
        "inp" => parse_abaqus(&text(read(path)?)),
        "stl" => parse_stl(&read(path)?),
        "ply" => parse_ply(&read(path)?),
        "off" => parse_off(&text(read(path)?)),
        "gts" => parse_gts(&text(read(path)?)),
        "node" | "ele" => {
            let [nodes, elements, faces] = tetgen_files(path);
            let faces = if faces.exists() {
                Some(text(read(&faces)?))
            } else {
                None
            };
            parse_tetgen(TetgenFiles {
                nodes: &text(read(&nodes)?),
                elements: &text(read(&elements)?),
                faces: faces.as_deref(),
            })
        }
        _ => Err(MeshError::UnknownExtension {
            path: path.to_path_buf(),
            extension,
        }),
    }
}

/// The files that [`read_mesh`] reads for a path, where they are there: one, but three of TetGen.
pub fn mesh_files(path: &Path) -> Vec<PathBuf> {
    match extension(path).as_str() {
        "node" | "ele" => tetgen_files(path).into(),
        _ => vec![path.to_path_buf()],
    }
}

fn tetgen_files(path: &Path) -> [PathBuf; 3] {
    ["node", "ele", "face"].map(|extension| path.with_extension(extension))
}

/// The extension in lower case; empty if there is none.
fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_ascii_lowercase()
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
