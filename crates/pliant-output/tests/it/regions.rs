//! Solids, sheets and rods in ParaView files.

use pliant_output::ExportError;
use pliant_output::recording::{CellKind, FieldSpec, Recording, Region, RegionCell, RegionFrame, RegionKind};
use pliant_output::vtk::{collections, write_vtk};

use super::vtk::{array, integers, vectors, written};
use super::{names_in, recording};

const STRESS: FieldSpec = FieldSpec {
    name: "stress",
    unit: "Pa",
    components: 6,
};
const PLASTIC: FieldSpec = FieldSpec {
    name: "plastic_strain",
    unit: "",
    components: 1,
};

fn region(name: &str, kind: RegionKind, first_point: Option<usize>, cells: &[(CellKind, &[u32])]) -> Region {
    Region {
        name: name.to_owned(),
        kind,
        first_point,
        point_count: 4,
        cells: cells
            .iter()
            .map(|(kind, nodes)| RegionCell {
                kind: *kind,
                nodes: nodes.to_vec(),
            })
            .collect(),
        point_fields: Vec::new(),
        cell_fields: Vec::new(),
    }
}

/// A tetrahedron on the last four points, one whose points are hidden and that yields, and a rod of
/// two segments.
fn with_regions() -> Recording {
    let mut recording = recording();
    let cells: [(CellKind, &[u32]); 1] = [(CellKind::Tetrahedron4, &[0, 1, 2, 3])];
    let mut shown = region("shown", RegionKind::Solid, Some(3), &cells);
    shown.point_fields = vec![STRESS];
    shown.cell_fields = vec![STRESS];
    let mut hidden = region("hidden", RegionKind::Solid, None, &cells);
    hidden.point_fields = vec![STRESS, PLASTIC];
    let lines: [(CellKind, &[u32]); 2] = [(CellKind::Line, &[0, 1]), (CellKind::Line, &[1, 3])];
    let rod = region("rod", RegionKind::Rod, Some(0), &lines);
    recording.regions = vec![shown, rod, hidden];
    for (k, frame) in recording.frames.iter_mut().enumerate() {
        let ramp = |count: usize, from: f32| (0..count).map(|i| from + i as f32).collect::<Vec<f32>>();
        let shift = k as f64;
        frame.contact_forces = (0..7).map(|i| [f64::from(i), shift, 0.0]).collect();
        frame.body_contact_forces = (0..3).map(|i| [0.0, shift, f64::from(i)]).collect();
        frame.regions = vec![
            RegionFrame {
                removed: Vec::new(),
                points: Vec::new(),
                point_values: vec![ramp(24, 0.0)],
                cell_values: vec![ramp(6, 50.0)],
            },
            RegionFrame::default(),
            RegionFrame {
                removed: Vec::new(),
                points: (0..4)
                    .map(|i| [20.0 + f64::from(i), shift, 2.0 * shift])
                    .collect(),
                point_values: vec![ramp(24, 100.0), ramp(4, 0.5)],
                cell_values: Vec::new(),
            },
        ];
    }
    recording
}

fn singles(xml: &str, name: &str, nth: usize) -> Vec<f32> {
    let bytes = array(xml, "Float32", name, nth);
    bytes
        .chunks(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

#[test]
fn solids_are_volume_cells_with_fields() {
    let recording = with_regions();
    let (dir, _) = written(&recording);
    let out = dir.path().join("out/vtk");
    assert_eq!(
        names_in(&out),
        ["bodies.pvd", "frames", "particles.pvd", "rods.pvd", "solids.pvd"]
    );
    let names: Vec<&str> = collections(&recording).collect();
    assert_eq!(names, ["particles.pvd", "bodies.pvd", "solids.pvd", "rods.pvd"]);
    let xml = std::fs::read_to_string(out.join("frames/solids_0001.vtu")).unwrap();
    assert!(xml.contains("<Piece NumberOfPoints=\"8\" NumberOfCells=\"2\">"));
    assert_eq!(integers(&xml, "connectivity", 0), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(integers(&xml, "offsets", 0), [4, 8]);
    assert_eq!(array(&xml, "UInt8", "types", 0), [10, 10]);
    assert_eq!(integers(&xml, "solid", 0), [0, 1]);
    let frame = &recording.frames[1];
    let points = vectors(&xml, "Points");
    assert_eq!(points[..4], frame.points[3..]);
    assert_eq!(points[4..], frame.regions[2].points);
    // Since the first frame.
    let moved = vectors(&xml, "displacement");
    assert!((moved[0][2] + 0.25).abs() < 1e-15, "{moved:?}");
    assert_eq!(moved[7], [0.0, 1.0, 2.0]);
    let forces = vectors(&xml, "contact_force");
    assert_eq!((forces[1], forces[5]), ([4.0, 1.0, 0.0], [0.0; 3]));
    let stress = singles(&xml, "stress", 0);
    assert_eq!((stress.len(), stress[23], stress[24]), (48, 23.0, 100.0));
    // What one of the regions does not have is not a number.
    let plastic = singles(&xml, "plastic_strain", 0);
    assert!(plastic[..4].iter().all(|x| x.is_nan()));
    assert_eq!(plastic[4..], [0.5, 1.5, 2.5, 3.5]);
    let of_cells = singles(&xml, "stress", 1);
    assert_eq!(of_cells[..6], [50.0, 51.0, 52.0, 53.0, 54.0, 55.0]);
    assert!(of_cells[6..].iter().all(|x| x.is_nan()));

    let xml = std::fs::read_to_string(out.join("frames/rods_0000.vtu")).unwrap();
    assert_eq!(integers(&xml, "connectivity", 0), [0, 1, 1, 3]);
    assert_eq!(array(&xml, "UInt8", "types", 0), [3, 3]);

    let xml = std::fs::read_to_string(out.join("frames/particles_0001.vtu")).unwrap();
    assert_eq!(vectors(&xml, "contact_force"), frame.contact_forces);
    assert!((vectors(&xml, "displacement")[0][2] + 0.25).abs() < 1e-15);
    let xml = std::fs::read_to_string(out.join("frames/bodies_0001.vtp")).unwrap();
    let forces = vectors(&xml, "contact_force");
    // Three lines of the axes, six faces of the box, the ball.
    assert_eq!(
        (forces.len(), forces[0], forces[3]),
        (105, [0.0, 1.0, 1.0], [0.0, 1.0, 0.0])
    );
    assert_eq!(forces[104], [0.0, 1.0, 2.0]);
}

/// Every kind of cell with the number that VTK has for it.
#[test]
fn cells_have_the_numbers_of_vtk() {
    let kinds = [
        (CellKind::Line, 3),
        (CellKind::Triangle, 5),
        (CellKind::Quadrangle, 9),
        (CellKind::Tetrahedron4, 10),
        (CellKind::Tetrahedron10, 24),
        (CellKind::Pyramid5, 14),
        (CellKind::Pyramid13, 27),
        (CellKind::Prism6, 13),
        (CellKind::Prism15, 26),
        (CellKind::Hexahedron8, 12),
        (CellKind::Hexahedron20, 25),
        (CellKind::Hexahedron27, 29),
    ];
    assert!(kinds.iter().all(|(kind, number)| kind.vtk() == *number));
}

#[test]
fn regions_that_do_not_fit_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |change: &dyn Fn(&mut Recording)| {
        let mut recording = with_regions();
        change(&mut recording);
        write_vtk(&dir.path().join("never"), &recording).unwrap_err()
    };
    let error = refused(&|r| r.frames[1].regions[0].point_values[0].truncate(23));
    assert!(error.to_string().contains("frame 1"), "{error}");
    assert!(
        matches!(
            error,
            ExportError::WrongLength {
                expected: 24,
                found: 23,
                ..
            }
        ),
        "{error}"
    );
    let error = refused(&|r| r.frames[0].regions.truncate(2));
    assert!(
        matches!(error, ExportError::WrongLength { what: "regions", .. }),
        "{error}"
    );
    let error = refused(&|r| r.frames[0].regions[2].points.clear());
    assert!(error.to_string().contains("points of a region"), "{error}");
    let error = refused(&|r| r.regions[0].cells[0].nodes[3] = 4);
    assert!(error.to_string().contains("cell of a region 0"), "{error}");
    let error = refused(&|r| r.regions[0].first_point = Some(4));
    assert!(
        matches!(error, ExportError::BadIndex { points: 7, .. }),
        "{error}"
    );
    let error = refused(&|r| r.frames[0].contact_forces.truncate(1));
    assert!(error.to_string().contains("contact forces"), "{error}");
    let error = refused(&|r| r.frames[1].body_velocities = vec![[0.0; 3]]);
    assert!(error.to_string().contains("velocities of bodies"), "{error}");
    let error = refused(&|r| r.frames[1].angular_velocities = vec![[0.0; 3]; 4]);
    assert!(
        error.to_string().contains("angular velocities of bodies"),
        "{error}"
    );
    assert!(!dir.path().join("never").exists());
}
