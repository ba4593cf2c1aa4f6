//! The way of every body, tables as Parquet files, and what is left of them by the next run.

use crate::files::{check_set, files};
use crate::{err, pliant, write};
use std::fs;

/// Two bodies: one that is thrown and spins about its axis, one on the ground; a solid, a sheet and
/// a rod, a joint, and what is recorded: every file that a run can write.
const EVERYTHING: &str = r#"(
    gravity: (0, 0, -10), run: (duration: 0.1, step: 0.01, record_every: 5),
    nodes: [
        Bodies(name: "stone", bodies: [
            (position: (0, 0, 5), velocity: (1, 2, 3), angular_velocity: (0, 0, 4), shape: Sphere(0.1), mass: 1),
            (position: (3, 0, 0.1), shape: Sphere(0.1), mass: 1),
        ]),
        Bodies(name: "arm", bodies: [(position: (0.5, 5, 3), shape: Box(1, 0.1, 0.1), mass: 1)]),
        Solid(
            name: "bar", shape: Box(size: (1, 0.1, 0.1), cells: (2, 1, 1)), position: (0, 8, 3), density: 1000,
            material: Linear(young: 1e6, poisson: 0.3), fix: [0, 3, 6, 9],
        ),
        ElasticSheet(
            name: "cloth", shape: Rectangle(size: (1, 1), cells: (1, 1)), position: (0, 10, 3), thickness: 0.01, density: 100,
            material: Isotropic(young: 1e5, poisson: 0.3), fix: [0],
        ),
        ElasticRod(
            name: "wire", line: (from: (0, 15, 3), to: (1, 15, 3), count: 3), section: Circle(0.05), young: 1e7, poisson: 0.3,
            density: 1000, fix: [0],
        ),
    ],
    joints: [(name: "hinge", kind: Hinge, b: Body("arm", 0), at: (0, 5, 3), axis: (0, 1, 0))],
    colliders: [Fixed(name: "ground", shape: Plane(0, 0, 1)), Bodies(node: "stone")],
    record: [Joint("hinge"), Stress("bar")],
)"#;

const LITTLE: &str =
    "(run: (duration: 0.01), nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1)])";

#[test]
fn the_trajectory_has_every_body_and_goes_with_the_next_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "all.ron", EVERYTHING);
    let ran = pliant(dir.path(), &["run", &file, "--out", "out", "--trajectory"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let out = dir.path().join("out");
    check_set(&out);
    let names: Vec<String> = files(&out).into_keys().filter(|n| !n.contains('/')).collect();
    let expected = [
        ".pliant.lock",
        "bodies.pvd",
        "contacts.csv",
        "energy.csv",
        "energy.svg",
        "joints.csv",
        "manifest.json",
        "particles.pvd",
        "play.html",
        "probes.csv",
        "result.json",
        "rods.pvd",
        "sheets.pvd",
        "solids.pvd",
        "trajectory.csv",
    ];
    assert_eq!(names, expected);
    let table = fs::read_to_string(out.join("trajectory.csv")).unwrap();
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0].len(), 15);
    assert_eq!(lines[0][..3], ["time_s", "body", "x_m"]);
    // Three pictures of two stones, the arm and three bodies of the wire.
    assert_eq!(lines.len(), 1 + 3 * 6);
    let last: Vec<f64> = lines[13][2..].iter().map(|cell| cell.parse().unwrap()).collect();
    let time: f64 = lines[13][0].parse().unwrap();
    assert!(
        (time - 0.1).abs() < 1e-12 && lines[13][1] == "stone 0",
        "{:?}",
        lines[13]
    );
    let turned = 0.2f64;
    let exact = [
        0.1,
        0.2,
        5.0 + 0.3 - 0.05,
        turned.cos(),
        0.0,
        0.0,
        turned.sin(),
        1.0,
        2.0,
        2.0,
        0.0,
        0.0,
        4.0,
    ];
    for (found, exact) in last.iter().zip(exact) {
        assert!((found - exact).abs() < 1e-9, "{last:?} {exact}");
    }
    // The next run without it, of another scene, leaves nothing of the first.
    let other = write(dir.path(), "little.ron", LITTLE);
    let ran = pliant(dir.path(), &["run", &other, "--out", "out"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    check_set(&out);
    assert!(
        files(&out)
            .keys()
            .all(|name| !name.contains("solid") && !name.contains("trajectory"))
    );
}

/// Tables that are asked for beside the scene are a part of what a checkpoint is of.
#[test]
fn a_run_with_another_table_is_another_run() {
    let dir = tempfile::tempdir().unwrap();
    let bound = EVERYTHING.replace("run: (", "run: (contact_operations: 1, ");
    let failing = write(dir.path(), "failing.ron", &bound);
    let ran = pliant(
        dir.path(),
        &[
            "run",
            &failing,
            "--out",
            "out",
            "--trajectory",
            "--checkpoint-every",
            "1steps",
        ],
    );
    assert_eq!(ran.status.code(), Some(3), "{}", err(&ran));
    let ran = pliant(dir.path(), &["run", &failing, "--out", "out", "--resume"]);
    assert_eq!(ran.status.code(), Some(2), "{}", err(&ran));
    assert!(
        err(&ran).contains("the trajectory there and no trajectory here"),
        "{}",
        err(&ran)
    );
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_of_a_run_is_a_feature() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "little.ron", LITTLE);
    let ran = pliant(dir.path(), &["run", &file, "--parquet"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(err(&ran).contains("--features parquet"), "{}", err(&ran));
    assert!(!dir.path().join("out").exists());
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_tables_are_beside_the_others_and_go_with_the_next_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "all.ron", EVERYTHING);
    let ran = pliant(
        dir.path(),
        &["run", &file, "--out", "out", "--trajectory", "--parquet"],
    );
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let out = dir.path().join("out");
    check_set(&out);
    for name in ["joints", "probes", "trajectory"] {
        let bytes = fs::read(out.join(format!("{name}.parquet"))).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
        assert!(out.join(format!("{name}.csv")).is_file(), "{name}");
    }
    let ran = pliant(dir.path(), &["run", &file, "--out", "out"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    check_set(&out);
    assert!(
        files(&out)
            .keys()
            .all(|name| !name.ends_with(".parquet") && name != "trajectory.csv")
    );
}
