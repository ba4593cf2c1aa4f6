//! Solids, sheets and rods as unstructured grids with fields.

use std::io::{self, Write};

use super::{Series, array, displacements, ghosts, integers, numbers, open_file, vectors};
use crate::recording::{FieldSpec, Frame, Recording, Region, RegionKind};

pub(super) const SOLIDS: Series = Series {
    stem: "solids",
    extension: "vtu",
};
pub(super) const SHEETS: Series = Series {
    stem: "sheets",
    extension: "vtu",
};
pub(super) const RODS: Series = Series {
    stem: "rods",
    extension: "vtu",
};

/// The collection of a kind, and the array of numbers of its regions.
pub(super) fn series(kind: RegionKind) -> (&'static Series, &'static str) {
    match kind {
        RegionKind::Solid => (&SOLIDS, "solid"),
        RegionKind::Sheet => (&SHEETS, "sheet"),
        RegionKind::Rod => (&RODS, "rod"),
    }
}

pub(super) const KINDS: [RegionKind; 3] = [RegionKind::Solid, RegionKind::Sheet, RegionKind::Rod];

/// The regions of one kind as one grid, the same cells in all frames.
pub(super) struct RegionMesh<'a> {
    kind: RegionKind,
    /// Positions in [`Recording::regions`], and the regions.
    regions: Vec<(usize, &'a Region)>,
    /// Positions of all points in the first frame (m).
    start: Vec<[f64; 3]>,
    connectivity: Vec<i64>,
    offsets: Vec<i64>,
    types: Vec<u8>,
    /// Per cell, the number of its region among those of its kind.
    region: Vec<i64>,
    point_fields: Vec<FieldSpec>,
    cell_fields: Vec<FieldSpec>,
}

/// All fields that any of the regions has, once each, in order.
fn fields<'a>(lists: impl Iterator<Item = &'a Vec<FieldSpec>>) -> Vec<FieldSpec> {
    let mut all: Vec<FieldSpec> = Vec::new();
    for field in lists.flatten() {
        if !all.iter().any(|known| known.name == field.name) {
            all.push(*field);
        }
    }
    all
}

/// Whether a recording has regions of a kind, and numbers on them.
pub(super) fn has_regions(recording: &Recording, kind: RegionKind) -> bool {
    let has_frames = recording
        .frames
        .first()
        .is_some_and(|frame| !frame.regions.is_empty());
    has_frames && recording.regions.iter().any(|region| region.kind == kind)
}

impl<'a> RegionMesh<'a> {
    /// Expects a checked recording.
    pub(super) fn new(recording: &'a Recording, kind: RegionKind) -> Self {
        let regions = recording.regions.iter().enumerate();
        let regions: Vec<(usize, &Region)> = regions.filter(|(_, region)| region.kind == kind).collect();
        let mut mesh = Self {
            kind,
            start: Vec::new(),
            connectivity: Vec::new(),
            offsets: Vec::new(),
            types: Vec::new(),
            region: Vec::new(),
            point_fields: fields(regions.iter().map(|(_, region)| &region.point_fields)),
            cell_fields: fields(regions.iter().map(|(_, region)| &region.cell_fields)),
            regions,
        };
        let mut first = 0;
        for (number, (_, region)) in mesh.regions.iter().enumerate() {
            for cell in &region.cells {
                mesh.connectivity
                    .extend(cell.nodes.iter().map(|node| (first + *node as usize) as i64));
                mesh.offsets.push(mesh.connectivity.len() as i64);
                mesh.types.push(cell.kind.vtk());
                mesh.region.push(number as i64);
            }
            first += region.point_count;
        }
        mesh.start = recording
            .frames
            .first()
            .map_or_else(Vec::new, |frame| mesh.points(frame));
        mesh
    }

    /// Positions of all points (m).
    fn points(&self, frame: &Frame) -> Vec<[f64; 3]> {
        let own = |index: usize, _: &Region| {
            let region = frame.regions.get(index);
            region.map_or_else(Vec::new, |region| region.points.clone())
        };
        self.of_points(&frame.points, own)
    }

    /// Values of all points: those of the frame, or those of a region whose points are not in it.
    fn of_points<T: Copy>(&self, all: &[T], own: impl Fn(usize, &Region) -> Vec<T>) -> Vec<T> {
        let mut out = Vec::new();
        for (index, region) in &self.regions {
            match region.first_point {
                Some(first) => out.extend_from_slice(&all[first..first + region.point_count]),
                None => out.extend(own(*index, region)),
            }
        }
        out
    }

    /// Numbers of a field of all regions, at points or of cells; not a number of those that do not
    /// have it.
    fn field(&self, field: &FieldSpec, frame: &Frame, at_points: bool) -> Vec<f32> {
        let mut out = Vec::new();
        for (index, region) in &self.regions {
            let (own, count) = match at_points {
                true => (&region.point_fields, region.point_count),
                false => (&region.cell_fields, region.cells.len()),
            };
            let place = own.iter().position(|known| known.name == field.name);
            let values = frame.regions.get(*index).map(|values| match at_points {
                true => &values.point_values,
                false => &values.cell_values,
            });
            match place.zip(values).and_then(|(place, values)| values.get(place)) {
                Some(values) => out.extend_from_slice(values),
                None => out.resize(out.len() + count * field.components, f32::NAN),
            }
        }
        out
    }

    /// Expects a frame that was checked.
    pub(super) fn write(&self, frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
        open_file(out, "UnstructuredGrid")?;
        writeln!(out, "  <UnstructuredGrid>")?;
        let (points, cells) = (self.start.len(), self.types.len());
        writeln!(
            out,
            r#"    <Piece NumberOfPoints="{points}" NumberOfCells="{cells}">"#
        )?;
        let places = self.points(frame);
        writeln!(out, r#"      <PointData Vectors="displacement">"#)?;
        displacements(out, &places, &self.start)?;
        // What is hidden behind a surface of its own does not collide.
        if !frame.pressures.is_empty() {
            let none = |_: usize, region: &Region| vec![0.0; region.point_count];
            numbers(out, "contact_pressure", &self.of_points(&frame.pressures, none))?;
        }
        if !frame.contact_forces.is_empty() {
            let none = |_: usize, region: &Region| vec![[0.0; 3]; region.point_count];
            vectors(out, "contact_force", &self.of_points(&frame.contact_forces, none))?;
        }
        for field in &self.point_fields {
            singles(out, field, &self.field(field, frame, true))?;
        }
        writeln!(out, "      </PointData>\n      <CellData>")?;
        integers(out, series(self.kind).1, &self.region)?;
        for field in &self.cell_fields {
            singles(out, field, &self.field(field, frame, false))?;
        }
        if frame.regions.iter().any(|region| !region.removed.is_empty()) {
            let mut first = 0;
            let of_regions = self.regions.iter().flat_map(|(index, region)| {
                let start = first;
                first += region.cells.len();
                let removed = frame.regions.get(*index).map_or(&[][..], |frame| &frame.removed);
                removed.iter().map(move |cell| start + *cell as usize)
            });
            ghosts(out, cells, of_regions)?;
        }
        writeln!(out, "      </CellData>\n      <Points>")?;
        vectors(out, "Points", &places)?;
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

fn singles(out: &mut dyn Write, field: &FieldSpec, values: &[f32]) -> io::Result<()> {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    array(out, "Float32", field.name, field.components, &bytes)
}
