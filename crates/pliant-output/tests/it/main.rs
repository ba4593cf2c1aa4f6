//! Result writers: what is in the files, and that there is never half a file.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use std::path::Path;

use pliant_output::ExportError;
use pliant_output::atomic::write_atomically;
use pliant_output::csv::{ENERGY_HEADER, TableError, read_table, write_energy_csv, write_numbers_csv};
use pliant_output::recording::{BodyTrack, Frame, LEDGER, PointGroup, Recording, Sample, Shape};

mod directory;
mod names;
mod plot;
mod raster;
mod regions;
mod vtk;

fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Six points: a cable of three, a triangle that shares none of them, and no free point; then one
/// free point more.
fn recording() -> Recording {
    let points: Vec<[f64; 3]> = (0..7)
        .map(|i| [f64::from(i), 0.1 * f64::from(i), -1.0 / 3.0])
        .collect();
    let shapes = [
        Shape::Box {
            half: [1.0, 2.0, 3.0],
        },
        Shape::Axes { size: 0.5 },
        Shape::Sphere { radius: 2.0 },
    ];
    // A quarter turn about z takes x to y.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let pose = [10.0, 0.0, 0.0, half, 0.0, 0.0, half];
    let frame = |time: f64| Frame {
        time,
        points: points.iter().map(|p| [p[0], p[1], p[2] - time]).collect(),
        velocities: points.iter().map(|p| [p[1], -1.0, 1e-300]).collect(),
        poses: vec![pose; 3],
        sample: Sample {
            time,
            ..Sample::default()
        },
        ..Frame::default()
    };
    Recording {
        title: "a \"cable\" & <friends>".to_owned(),
        groups: vec![
            PointGroup {
                name: "cable".to_owned(),
                start: 0,
                count: 3,
            },
            PointGroup {
                name: "rest".to_owned(),
                start: 3,
                count: 4,
            },
        ],
        segments: vec![[0, 1], [1, 2]],
        triangles: vec![[3, 4, 5]],
        bodies: shapes
            .into_iter()
            .map(|shape| BodyTrack {
                name: "b".to_owned(),
                shape,
            })
            .collect(),
        frames: vec![frame(0.0), frame(0.25)],
        samples: Vec::new(),
        ..Recording::default()
    }
}

#[test]
fn atomic_files_are_complete_or_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.txt");
    write_atomically(&path, |out| out.write_all(b"first")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"first");
    write_atomically(&path, |out| {
        out.write_all(&vec![b'x'; 100_000])?;
        // While the new one grows, the old one stands and a sibling grows beside it.
        assert_eq!(std::fs::read(&path)?, b"first");
        let names = names_in(dir.path());
        assert_eq!((names.len(), names[1].as_str()), (2, "result.txt"));
        assert!(
            names[0].starts_with(".result.txt.") && names[0].ends_with(".partial"),
            "{names:?}"
        );
        Ok(())
    })
    .unwrap();
    assert_eq!(std::fs::read(&path).unwrap().len(), 100_000);
    assert_eq!(names_in(dir.path()), ["result.txt"]);
}

#[test]
fn a_failed_write_leaves_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.txt");
    std::fs::write(&path, "old").unwrap();
    let error = write_atomically(&path, |out| {
        out.write_all(b"half")?;
        Err(std::io::Error::other("the disk is full"))
    })
    .unwrap_err();
    assert!(
        matches!(&error, ExportError::Io { path: named, .. } if *named == path),
        "{error}"
    );
    assert!(error.to_string().contains("result.txt") && error.to_string().contains("the disk is full"));
    let panicked = std::panic::catch_unwind(|| write_atomically(&path, |_| panic!("on purpose")));
    assert!(panicked.is_err());
    assert_eq!(names_in(dir.path()), ["result.txt"]);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");

    // The target is a directory: the rename fails, and the sibling goes.
    let occupied = dir.path().join("occupied");
    std::fs::create_dir_all(occupied.join("child")).unwrap();
    assert!(write_atomically(&occupied, |_| Ok(())).is_err());
    for path in [
        dir.path().join("missing/result.txt"),
        Path::new("/").to_path_buf(),
    ] {
        assert!(matches!(
            write_atomically(&path, |_| Ok(())),
            Err(ExportError::Io { .. })
        ));
    }
    assert_eq!(names_in(dir.path()), ["occupied", "result.txt"]);
}

#[test]
fn the_energy_table_reads_back_to_the_bit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("energy.csv");
    let values = [
        0.1,
        1.0 / 3.0,
        -0.0,
        5e-324,
        f64::MAX,
        -1e-300,
        123_456_789.123,
        f64::INFINITY,
        f64::NAN,
        f64::EPSILON,
    ];
    let mut samples = Vec::new();
    for i in 0..values.len() {
        let at = |k: usize| values[(i + k) % values.len()];
        samples.push(Sample {
            time: at(0),
            kinetic: at(1),
            potential: at(2),
            dissipated: at(3),
            residual: at(4),
            violation: at(5),
            ledger: std::array::from_fn(|k| at(6 + k)),
        });
    }
    let recording = Recording {
        samples,
        ..Recording::default()
    };
    write_energy_csv(&path, &recording).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(ENERGY_HEADER));
    assert_eq!(
        ENERGY_HEADER,
        "time_s,kinetic_J,potential_J,dissipated_J,total_J,residual,violation,forces_J,motion_J,motors_J,inputs_J,\
         damping_J,friction_J,impacts_J,corrections_J,removed_J,numerical_J,numerical_inertia_J,numerical_stiffness_J,\
         numerical_geometry_J,numerical_rows_J,numerical_undivided_J,numerical_rest_J"
    );
    let sources: Vec<String> = LEDGER.iter().map(|source| format!("{source}_J")).collect();
    assert!(ENERGY_HEADER.ends_with(&format!("violation,{}", sources.join(","))));
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    for (line, s) in lines.by_ref().zip(&recording.samples) {
        let read: Vec<f64> = line.split(',').map(|word| word.parse().unwrap()).collect();
        let total = s.kinetic + s.potential;
        let expected: Vec<f64> = [
            s.time,
            s.kinetic,
            s.potential,
            s.dissipated,
            total,
            s.residual,
            s.violation,
        ]
        .into_iter()
        .chain(s.ledger)
        .collect();
        assert_eq!(read.len(), expected.len());
        assert!(
            read.iter()
                .zip(expected.iter().copied())
                .all(|(&a, b)| same(a, b)),
            "{line}: {expected:?}"
        );
    }
    assert_eq!(text.lines().count(), 1 + values.len());
    assert!(text.ends_with('\n') && text.lines().all(|line| line.len() < 400));
}

/// Names with commas and quotes come back as they were, and numbers to the bit.
#[test]
fn a_table_is_read_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("probes.csv");
    let table = pliant_output::recording::NumberTable {
        columns: vec!["a, \"b\".x_m".to_owned(), "c_N".to_owned()],
        lines: vec![vec![0.0, 1e-300, -0.1], vec![0.1, f64::NAN, 1.0 / 3.0]],
    };
    write_numbers_csv(&path, &table).unwrap();
    let read = read_table(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(read.names, ["time_s", "a, \"b\".x_m", "c_N"]);
    assert_eq!(read.columns[0], [0.0, 0.1]);
    assert!(read.columns[1][0] == 1e-300 && read.columns[1][1].is_nan());
    assert_eq!(read.columns[2], [-0.1, 1.0 / 3.0]);
    assert_eq!(read_table(""), Err(TableError::Empty));
    let (expected, found) = (2, 1);
    let width = TableError::Width {
        line: 3,
        expected,
        found,
    };
    assert_eq!(read_table("a,b\n1,2\n3\n"), Err(width));
    assert_eq!(read_table("a,\"b\n"), Err(TableError::Quote { line: 1 }));
}
