//! ParaView files: per frame one unstructured grid of particles, one surface mesh of bodies, and
//! one grid each of solids, of sheets and of rods with their fields, and a collection of each.
//!
//! XML files of VTK 1.0 with inline base64 data (little-endian, 64-bit lengths), which ParaView 5,
//! VTK 9 and meshio read. All coordinates are world coordinates in metres.

use rayon::prelude::*;
use std::io::{self, Write};
use std::path::Path;

use super::atomic::{Written, write_atomically};
use super::base64;
use super::directory::refuse_link;
use super::{ExportError, check_topology};
use crate::recording::{Frame, Recording, RegionKind};

mod bodies;
mod regions;

use regions::{KINDS, RegionMesh, has_regions};

/// VTK's numbers of the cell types in use.
const VTK_VERTEX: u8 = 1;
const VTK_LINE: u8 = 3;
const VTK_TRIANGLE: u8 = 5;

/// Subdirectory of the frames, so that the two collections stay easy to find.
pub(crate) const FRAMES: &str = "frames";

/// Digits of the number of a frame, or more.
const LEAST_DIGITS: usize = 4;

/// Names of a collection's frames: `stem_0000.extension`.
struct Series {
    stem: &'static str,
    extension: &'static str,
}

const PARTICLES: Series = Series {
    stem: "particles",
    extension: "vtu",
};

const BODIES: Series = Series {
    stem: "bodies",
    extension: "vtp",
};

/// Writes the recording for ParaView into the directory `dir` (created if missing).
///
/// - `particles.pvd` and `frames/particles_0000.vtu`, ...: segments as lines, triangles, and a
///   vertex for each point that is in no cell; point data `displacement` since the first frame (m),
///   `velocity` (m/s), `node` (index into [`Recording::groups`], -1 outside all) and, where they
///   are known, `contact_pressure` (Pa) and `contact_force` (N).
/// - `bodies.pvd` and `frames/bodies_0000.vtp`, ...: boxes as 6 quads, spheres as 12 x 8
///   latitude-longitude meshes, axes as 3 lines; cell data `body` (index into
///   [`Recording::bodies`]), for axes `axis` (0, 1, 2; else -1) and, where something collides,
///   `contact_force` (N) of the body.
/// - `solids.pvd`, `sheets.pvd`, `rods.pvd` and `frames/solids_0000.vtu`, ...: the cells of
///   [`Recording::regions`] of each kind; point data `displacement` (m), contacts as those of
///   particles, and the fields of the regions at points; cell data `solid`, `sheet` or `rod` (the
///   number among the regions of its kind) and their fields of cells, in single precision. A field
///   that only some of the regions have is not a number on the others.
///
/// The time (s) of each frame is in the collections. A recording without points has no particle
/// files, one without bodies no body files. Each collection is written after its frames; frames of
/// an earlier, longer run in `dir` are left but not listed, unless the directory is
/// [cleared](crate::directory::ResultDirectory::clear). Returns the written files in order of
/// writing.
///
/// # Errors
/// [`ExportError::WrongLength`] or [`ExportError::BadIndex`] if a frame does not fit the topology
/// (before anything is written), [`ExportError::Link`] if `frames` is a symbolic link,
/// [`ExportError::Io`] if a file cannot be written.
pub fn write_vtk(dir: &Path, recording: &Recording) -> Result<Vec<Written>, ExportError> {
    check_topology(recording)?;
    let frames = dir.join(FRAMES);
    refuse_link(&frames)?;
    std::fs::create_dir_all(&frames).map_err(|source| ExportError::io(&frames, source))?;
    let last = recording.frames.len().saturating_sub(1);
    let digits = last.to_string().len().max(LEAST_DIGITS);
    let mut written = Vec::new();
    if has_points(recording) {
        let cells = ParticleCells::new(recording);
        let write = |frame: &Frame, out: &mut dyn Write| cells.write(frame, out);
        written.extend(write_series(dir, recording, &PARTICLES, digits, write)?);
    }
    if has_bodies(recording) {
        let mesh = bodies::BodyMesh::new(&recording.bodies);
        let write = |frame: &Frame, out: &mut dyn Write| mesh.write(frame, out);
        written.extend(write_series(dir, recording, &BODIES, digits, write)?);
    }
    for kind in KINDS.into_iter().filter(|kind| has_regions(recording, *kind)) {
        let mesh = RegionMesh::new(recording, kind);
        let series = regions::series(kind).0;
        let (mesh, frames) = (&mesh, &recording.frames);
        let write = |index: usize, out: &mut dyn Write| mesh.write(&frames[index], out);
        written.extend(write_frames(dir, recording, series, digits, write)?);
    }
    Ok(written)
}

/// Names of the collections that [`write_vtk`] writes of a recording.
pub fn collections(recording: &Recording) -> impl Iterator<Item = &'static str> + '_ {
    let particles = has_points(recording).then_some("particles.pvd");
    let bodies = has_bodies(recording).then_some("bodies.pvd");
    let regions = KINDS.into_iter().filter(|kind| has_regions(recording, *kind));
    let regions = regions.map(|kind| match kind {
        RegionKind::Solid => "solids.pvd",
        RegionKind::Sheet => "sheets.pvd",
        RegionKind::Rod => "rods.pvd",
    });
    particles.into_iter().chain(bodies).chain(regions)
}

fn has_points(recording: &Recording) -> bool {
    recording
        .frames
        .first()
        .is_some_and(|frame| !frame.points.is_empty())
}

fn has_bodies(recording: &Recording) -> bool {
    !recording.bodies.is_empty() && !recording.frames.is_empty()
}

/// Whether a file of the subdirectory has a name of a frame.
pub(crate) fn is_frame(name: &str) -> bool {
    [PARTICLES, BODIES, regions::SOLIDS, regions::SHEETS, regions::RODS]
        .iter()
        .any(|Series { stem, extension }| {
            let digits = name.strip_prefix(*stem).and_then(|n| n.strip_prefix('_'));
            let digits = digits.and_then(|n| n.strip_suffix(*extension)?.strip_suffix('.'));
            digits.is_some_and(|d| d.len() >= LEAST_DIGITS && d.bytes().all(|b| b.is_ascii_digit()))
        })
}

/// Writes one file per frame and their collection.
fn write_series(
    dir: &Path,
    recording: &Recording,
    series: &Series,
    digits: usize,
    write: impl Fn(&Frame, &mut dyn Write) -> io::Result<()> + Sync,
) -> Result<Vec<Written>, ExportError> {
    let frames = &recording.frames;
    write_frames(dir, recording, series, digits, |index, out| {
        write(&frames[index], out)
    })
}

/// Writes one file per frame, by its number, and their collection.
fn write_frames(
    dir: &Path,
    recording: &Recording,
    series: &Series,
    digits: usize,
    write: impl Fn(usize, &mut dyn Write) -> io::Result<()> + Sync,
) -> Result<Vec<Written>, ExportError> {
    let Series { stem, extension } = series;
    // Collections want forward slashes on every system.
    let name = |index: usize| format!("{FRAMES}/{stem}_{index:0digits$}.{extension}");
    let names: Vec<String> = (0..recording.frames.len()).map(name).collect();
    // Frames are independent files: encoding and syncing them side by side is what a run's end
    // waits for. The first error in the order of the frames is the one reported, whichever came
    // first.
    let results: Vec<Result<Written, ExportError>> = names
        .par_iter()
        .enumerate()
        .map(|(index, name)| write_atomically(&dir.join(name), |out| write(index, out)))
        .collect();
    let mut written = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    let collection = dir.join(format!("{stem}.pvd"));
    written.push(write_atomically(&collection, |out| {
        open_file(out, "Collection")?;
        writeln!(out, "  <Collection>")?;
        for (frame, name) in recording.frames.iter().zip(&names) {
            writeln!(
                out,
                r#"    <DataSet timestep="{:?}" group="" part="0" file="{name}"/>"#,
                frame.time
            )?;
        }
        writeln!(out, "  </Collection>\n</VTKFile>")
    })?);
    Ok(written)
}

/// The cells of the particle grids, the same in all frames.
struct ParticleCells {
    connectivity: Vec<i64>,
    /// One past the last entry of each cell in `connectivity`.
    offsets: Vec<i64>,
    types: Vec<u8>,
    /// Number of the first triangle.
    triangles: usize,
    /// Per point, index of its group.
    node: Vec<i64>,
    /// Positions in the first frame (m).
    start: Vec<[f64; 3]>,
}

impl ParticleCells {
    /// Expects a checked recording with at least one frame.
    fn new(recording: &Recording) -> Self {
        let points = recording.frames.first().map_or(0, |frame| frame.points.len());
        let mut cells = Self {
            connectivity: Vec::new(),
            offsets: Vec::new(),
            types: Vec::new(),
            triangles: 0,
            node: vec![-1; points],
            start: recording
                .frames
                .first()
                .map_or_else(Vec::new, |frame| frame.points.clone()),
        };
        let mut used = vec![false; points];
        for segment in &recording.segments {
            cells.push(VTK_LINE, segment);
            segment.iter().for_each(|&i| used[i as usize] = true);
        }
        cells.triangles = cells.types.len();
        for triangle in &recording.triangles {
            cells.push(VTK_TRIANGLE, triangle);
            triangle.iter().for_each(|&i| used[i as usize] = true);
        }
        // ParaView draws cells, not points: a free particle needs a cell of its own to be seen.
        for (point, _) in used.iter().enumerate().filter(|(_, used)| !**used) {
            cells.push_indices(VTK_VERTEX, std::iter::once(point as i64));
        }
        for (id, group) in recording.groups.iter().enumerate() {
            let start = group.start.min(points);
            let end = group.start.saturating_add(group.count).min(points);
            cells.node[start..end].fill(id as i64);
        }
        cells
    }

    fn push(&mut self, cell_type: u8, corners: &[u32]) {
        self.push_indices(cell_type, corners.iter().map(|&i| i64::from(i)));
    }

    fn push_indices(&mut self, cell_type: u8, corners: impl Iterator<Item = i64>) {
        self.connectivity.extend(corners);
        self.offsets.push(self.connectivity.len() as i64);
        self.types.push(cell_type);
    }

    fn write(&self, frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
        open_file(out, "UnstructuredGrid")?;
        writeln!(out, "  <UnstructuredGrid>")?;
        let (points, cells) = (frame.points.len(), self.types.len());
        writeln!(
            out,
            r#"    <Piece NumberOfPoints="{points}" NumberOfCells="{cells}">"#
        )?;
        writeln!(out, r#"      <PointData Vectors="velocity">"#)?;
        vectors(out, "velocity", &frame.velocities)?;
        integers(out, "node", &self.node)?;
        displacements(out, &frame.points, &self.start)?;
        if !frame.pressures.is_empty() {
            numbers(out, "contact_pressure", &frame.pressures)?;
        }
        if !frame.contact_forces.is_empty() {
            vectors(out, "contact_force", &frame.contact_forces)?;
        }
        writeln!(out, "      </PointData>")?;
        if !frame.hidden.is_empty() {
            writeln!(out, "      <CellData>")?;
            let hidden = frame
                .hidden
                .iter()
                .map(|triangle| self.triangles + *triangle as usize);
            ghosts(out, cells, hidden)?;
            writeln!(out, "      </CellData>")?;
        }
        writeln!(out, "      <Points>")?;
        vectors(out, "Points", &frame.points)?;
        writeln!(out, "      </Points>\n      <Cells>")?;
        integers(out, "connectivity", &self.connectivity)?;
        integers(out, "offsets", &self.offsets)?;
        array(out, "UInt8", "types", 1, &self.types)?;
        writeln!(
            out,
            "      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n</VTKFile>"
        )
    }
}

/// The opening lines that all files share.
fn open_file(out: &mut dyn Write, kind: &str) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(
        out,
        r#"<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#
    )
}

/// Writes one `DataArray`: the number of bytes as `u64`, then the bytes, as a single base64 stream.
fn array(out: &mut dyn Write, kind: &str, name: &str, components: usize, data: &[u8]) -> io::Result<()> {
    write!(
        out,
        r#"        <DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format="binary">"#
    )?;
    let mut bytes = (data.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(data);
    out.write_all(base64::encode(&bytes).as_bytes())?;
    writeln!(out, "</DataArray>")
}

/// Writes which of so many cells are not to be shown, as the array by which VTK knows them.
fn ghosts(out: &mut dyn Write, cells: usize, hidden: impl Iterator<Item = usize>) -> io::Result<()> {
    /// `vtkDataSetAttributes::HIDDENCELL`.
    const HIDDEN: u8 = 32;
    let mut ghosts = vec![0; cells];
    hidden
        .filter(|cell| *cell < cells)
        .for_each(|cell| ghosts[cell] = HIDDEN);
    array(out, "UInt8", "vtkGhostType", 1, &ghosts)
}

/// Writes by how much points are away from where they started, as the array `displacement`.
fn displacements(out: &mut dyn Write, places: &[[f64; 3]], start: &[[f64; 3]]) -> io::Result<()> {
    let moved = places.iter().zip(start);
    let moved: Vec<[f64; 3]> = moved
        .map(|(x, start)| std::array::from_fn(|k| x[k] - start[k]))
        .collect();
    vectors(out, "displacement", &moved)
}

fn vectors(out: &mut dyn Write, name: &str, values: &[[f64; 3]]) -> io::Result<()> {
    let bytes: Vec<u8> = values.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    array(out, "Float64", name, 3, &bytes)
}

fn numbers(out: &mut dyn Write, name: &str, values: &[f64]) -> io::Result<()> {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    array(out, "Float64", name, 1, &bytes)
}

fn integers(out: &mut dyn Write, name: &str, values: &[i64]) -> io::Result<()> {
    let bytes: Vec<u8> = values.iter().flat_map(|i| i.to_le_bytes()).collect();
    array(out, "Int64", name, 1, &bytes)
}
