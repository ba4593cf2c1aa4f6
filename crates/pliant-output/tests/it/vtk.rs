//! ParaView files: decoded again and compared with the recording.

use std::path::PathBuf;

use pliant_output::ExportError;
use pliant_output::recording::Recording;
use pliant_output::vtk::write_vtk;

use super::{names_in, recording};

/// The bytes of base64 text.
fn decode(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("not base64: {c}"),
    };
    assert_eq!(text.len() % 4, 0);
    let mut bytes = Vec::new();
    for quad in text.as_bytes().chunks(4) {
        let digits: Vec<u32> = quad.iter().filter(|&&c| c != b'=').map(|&c| value(c)).collect();
        let word = digits
            .iter()
            .enumerate()
            .fold(0, |word, (i, digit)| word | digit << (18 - 6 * i));
        bytes.extend_from_slice(&word.to_be_bytes()[1..digits.len()]);
    }
    bytes
}

/// The data of the `nth` array of that name.
pub(super) fn array(xml: &str, kind: &str, name: &str, nth: usize) -> Vec<u8> {
    let tag = format!("<DataArray type=\"{kind}\" Name=\"{name}\" ");
    let body = xml
        .split(&tag)
        .nth(1 + nth)
        .unwrap_or_else(|| panic!("no array {name} {nth}"));
    let bytes = decode(body.split(['>', '<']).nth(1).unwrap());
    let (length, data) = bytes.split_at(8);
    assert_eq!(
        u64::from_le_bytes(length.try_into().unwrap()),
        data.len() as u64,
        "{name}"
    );
    data.to_vec()
}

pub(super) fn vectors(xml: &str, name: &str) -> Vec<[f64; 3]> {
    let bytes = array(xml, "Float64", name, 0);
    let numbers: Vec<f64> = bytes
        .chunks(8)
        .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
        .collect();
    numbers.chunks(3).map(|v| [v[0], v[1], v[2]]).collect()
}

pub(super) fn integers(xml: &str, name: &str, nth: usize) -> Vec<i64> {
    array(xml, "Int64", name, nth)
        .chunks(8)
        .map(|b| i64::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

pub(super) fn written(recording: &Recording) -> (tempfile::TempDir, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let written = write_vtk(&dir.path().join("out/vtk"), recording).unwrap();
    (dir, written.into_iter().map(|file| file.path).collect())
}

#[test]
fn particles_are_the_points_of_the_recording() {
    let recording = recording();
    let (dir, paths) = written(&recording);
    for (index, frame) in recording.frames.iter().enumerate() {
        let path = dir
            .path()
            .join(format!("out/vtk/frames/particles_000{index}.vtu"));
        assert!(paths.contains(&path));
        let xml = std::fs::read_to_string(path).unwrap();
        assert!(xml.contains("byte_order=\"LittleEndian\" header_type=\"UInt64\""));
        assert!(xml.contains("<Piece NumberOfPoints=\"7\" NumberOfCells=\"4\">"));
        assert_eq!(vectors(&xml, "Points"), frame.points);
        assert_eq!(vectors(&xml, "velocity"), frame.velocities);
        assert_eq!(integers(&xml, "node", 0), [0, 0, 0, 1, 1, 1, 1]);
        // Two segments, a triangle, and a vertex for the point that is in neither.
        assert_eq!(integers(&xml, "connectivity", 0), [0, 1, 1, 2, 3, 4, 5, 6]);
        assert_eq!(integers(&xml, "offsets", 0), [2, 4, 7, 8]);
        assert_eq!(array(&xml, "UInt8", "types", 0), [3, 3, 5, 1]);
    }
}

#[test]
fn collections_list_the_frames_with_their_times() {
    let (dir, paths) = written(&recording());
    assert_eq!(paths.len(), 6);
    assert!(paths.iter().all(|path| path.is_file()));
    for (stem, extension) in [("particles", "vtu"), ("bodies", "vtp")] {
        let xml = std::fs::read_to_string(dir.path().join(format!("out/vtk/{stem}.pvd"))).unwrap();
        for (time, index) in [("0.0", 0), ("0.25", 1)] {
            let file = format!("frames/{stem}_000{index}.{extension}");
            assert!(
                xml.contains(&format!(
                    "timestep=\"{time}\" group=\"\" part=\"0\" file=\"{file}\""
                )),
                "{xml}"
            );
        }
    }
    assert_eq!(
        names_in(&dir.path().join("out/vtk")),
        ["bodies.pvd", "frames", "particles.pvd"]
    );
}

#[test]
fn bodies_are_closed_meshes_at_their_poses() {
    let (dir, _) = written(&recording());
    let xml = std::fs::read_to_string(dir.path().join("out/vtk/frames/bodies_0000.vtp")).unwrap();
    let points = vectors(&xml, "Points");
    // 8 corners, an origin with 3 tips, 2 poles with 7 rings of 12.
    assert_eq!(points.len(), 8 + 4 + 86);
    assert!(
        xml.contains("NumberOfVerts=\"0\" NumberOfLines=\"3\" NumberOfStrips=\"0\" NumberOfPolys=\"102\"")
    );
    let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
    // The quarter turn about z takes the corner (1, 2, 3) to (-2, 1, 3); the body stands at x = 10.
    assert!(near(points[7], [8.0, 1.0, 3.0]), "{:?}", points[7]);
    assert!(
        near(points[8], [10.0, 0.0, 0.0]) && near(points[9], [10.0, 0.5, 0.0]),
        "{points:?}"
    );
    let radius = |p: &[f64; 3]| ((p[0] - 10.0).powi(2) + p[1].powi(2) + p[2].powi(2)).sqrt();
    assert!(points[12..].iter().all(|p| (radius(p) - 2.0).abs() < 1e-14));

    assert_eq!(integers(&xml, "connectivity", 0), [8, 9, 8, 10, 8, 11]);
    assert_eq!(integers(&xml, "offsets", 0), [2, 4, 6]);
    let (corners, offsets) = (integers(&xml, "connectivity", 1), integers(&xml, "offsets", 1));
    let (body, axis) = (integers(&xml, "body", 0), integers(&xml, "axis", 0));
    assert_eq!((body.len(), offsets.len()), (105, 102));
    assert_eq!((&body[..4], body[104]), (&[1, 1, 1, 0][..], 2));
    assert_eq!((&axis[..4], axis[104]), (&[0, 1, 2, -1][..], -1));
    // Closed and outward: the fans of all faces seen from the body's own centre enclose its volume.
    // With the polyhedron a bit smaller than the ball.
    let mut volumes = [0.0; 3];
    let mut start = 0;
    for (polygon, &end) in offsets.iter().enumerate() {
        let face: Vec<[f64; 3]> = corners[start..end as usize]
            .iter()
            .map(|&i| points[i as usize])
            .collect();
        for pair in face[1..].windows(2) {
            let [u, v, w] = [face[0], pair[0], pair[1]].map(|p| [p[0] - 10.0, p[1], p[2]]);
            let cross = [
                v[1] * w[2] - v[2] * w[1],
                v[2] * w[0] - v[0] * w[2],
                v[0] * w[1] - v[1] * w[0],
            ];
            let piece = (u[0] * cross[0] + u[1] * cross[1] + u[2] * cross[2]) / 6.0;
            assert!(piece > 0.0, "face {polygon} looks inward");
            volumes[body[3 + polygon] as usize] += piece;
        }
        start = end as usize;
    }
    let ball = 4.0 / 3.0 * std::f64::consts::PI * 8.0;
    assert!(
        (volumes[0] - 48.0).abs() < 1e-12 && volumes[1] == 0.0,
        "{volumes:?}"
    );
    assert!(
        volumes[2] < ball && volumes[2] > 0.88 * ball,
        "{volumes:?} {ball}"
    );
}

#[test]
fn what_is_not_there_is_not_written() {
    let mut no_bodies = recording();
    no_bodies.bodies.clear();
    no_bodies.frames.iter_mut().for_each(|frame| frame.poses.clear());
    let (dir, paths) = written(&no_bodies);
    assert_eq!(paths.len(), 3);
    assert_eq!(names_in(&dir.path().join("out/vtk")), ["frames", "particles.pvd"]);

    let mut no_points = recording();
    (no_points.segments, no_points.triangles, no_points.groups) = Default::default();
    for frame in &mut no_points.frames {
        frame.points.clear();
        frame.velocities.clear();
    }
    let (dir, _) = written(&no_points);
    assert_eq!(names_in(&dir.path().join("out/vtk")), ["bodies.pvd", "frames"]);
    let (_, paths) = written(&Recording::default());
    assert!(paths.is_empty());
}

#[test]
fn recordings_that_do_not_fit_are_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut wrong = recording();
    wrong.frames[1].velocities.pop();
    let error = write_vtk(&out, &wrong).unwrap_err();
    let expected = ExportError::WrongLength {
        frame: 1,
        what: "velocities",
        expected: 7,
        found: 6,
    };
    assert_eq!(error.to_string(), expected.to_string());
    let mut wrong = recording();
    wrong.frames[0].poses.pop();
    assert!(matches!(
        write_vtk(&out, &wrong),
        Err(ExportError::WrongLength { what: "poses", .. })
    ));
    let mut wrong = recording();
    wrong.triangles.push([0, 1, 7]);
    let error = write_vtk(&out, &wrong).unwrap_err();
    assert!(
        matches!(
            error,
            ExportError::BadIndex {
                what: "triangle",
                cell: 1,
                index: 7,
                points: 7
            }
        ),
        "{error}"
    );
    assert!(!out.exists());
}

/// Contact pressures are an array where they are known, and none where they are not; a list of
/// another length is refused.
#[test]
fn contact_pressures_are_point_data() {
    let mut recording = recording();
    let (dir, _) = written(&recording);
    let read = |dir: &tempfile::TempDir, index: usize| {
        let path = dir
            .path()
            .join(format!("out/vtk/frames/particles_000{index}.vtu"));
        std::fs::read_to_string(path).unwrap()
    };
    assert!(!read(&dir, 0).contains("contact_pressure"));
    for (k, frame) in recording.frames.iter_mut().enumerate() {
        frame.pressures = (0..7).map(|i| f64::from(i) * 1e3 + k as f64).collect();
    }
    let (dir, _) = written(&recording);
    for (k, frame) in recording.frames.iter().enumerate() {
        let bytes = array(&read(&dir, k), "Float64", "contact_pressure", 0);
        let found = bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()));
        assert_eq!(found.collect::<Vec<f64>>(), frame.pressures);
    }
    recording.frames[1].pressures.pop();
    let error = write_vtk(&dir.path().join("other"), &recording).unwrap_err();
    assert!(error.to_string().contains("contact pressures"), "{error}");
}
