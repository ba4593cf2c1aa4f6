//! Solids whose mesh is a file, and surfaces that ride in solids.

use super::{advance, edited, points, runner};
use pliant_scene::{SceneFile, Settings};

/// A mesh file with one tetrahedron inside out, a node of no element and a named group.
#[test]
fn a_mesh_file_is_checked_and_repaired_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 7 \"clamp\"\n$EndPhysicalNames\n\
                $Nodes\n6\n9 5 5 5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n\
                $Elements\n3\n1 2 2 7 1 1 2 3\n2 4 2 0 1 2 1 3 4\n3 4 2 0 1 2 3 4 5\n$EndElements\n";
    std::fs::write(dir.path().join("a.msh"), mesh).unwrap();
    let scene = dir.path().join("a.ron");
    let text = |repair: &str| {
        format!(
            "(gravity: (0, 0, -9.81), run: (duration: 0.1, step: 0.01), nodes: [Solid(name: \"s\", {repair}
                shape: File(file: \"a.msh\"), material: Linear(young: 1e6, poisson: 0.3), density: 1000, fix_groups: [\"clamp\"])])"
        )
    };
    let load = |repair: &str| {
        std::fs::write(&scene, text(repair)).unwrap();
        SceneFile::load(&scene).unwrap()
    };
    let error = load("").build(&Settings::default()).unwrap_err().to_string();
    assert!(
        error.contains("element 0 is inside out") && error.contains("`repair: true`"),
        "{error}"
    );
    let mut run = runner(&load("repair: true,"), &[], None);
    let start = points(&run, "s");
    assert_eq!(start.len(), 5);
    advance(&mut run, 10);
    let end = points(&run, "s");
    // The clamped face stays, the rest sinks.
    assert_eq!(start[..3], end[..3]);
    assert!(end[3][2] < start[3][2]);
}

/// Two unit cubes side by side in one file, as an element set each: the weight of the one that is
/// taken is held where it is clamped.
#[test]
fn groups_of_a_file_are_taken_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let mut deck = "*NODE\n".to_owned();
    for i in 0..12 {
        // Three squares of four nodes, one above the other.
        let (x, y) = ([0, 1, 1, 0][i % 4], [0, 0, 1, 1][i % 4]);
        deck += &format!("{}, {x}, {y}, {}\n", i + 1, i / 4);
    }
    deck += "*ELEMENT, TYPE=C3D8, ELSET=lower\n1,1,2,3,4,5,6,7,8\n*ELEMENT, TYPE=C3D8, ELSET=upper\n2,5,6,7,8,9,10,11,12\n\
             *NSET, NSET=clamp\n1,2,3,4,9,10,11,12\n";
    std::fs::write(dir.path().join("a.inp"), deck).unwrap();
    let scene = dir.path().join("a.ron");
    let load = |groups: &str| {
        let text = format!(
            "(gravity: (0, 0, -9.81), run: (duration: 1, step: 0.1), nodes: [Solid(name: \"s\",
                shape: File(file: \"a.inp\", scale: 0.5, groups: [{groups}]), material: Linear(young: 1e6, poisson: 0),
                density: 1000, relaxation_time: 0.1, fix_groups: [\"clamp\"])])"
        );
        std::fs::write(&scene, text).unwrap();
        SceneFile::load(&scene).unwrap()
    };
    for (groups, bottom) in [("\"upper\"", 0.5), ("\"lower\"", 0.0)] {
        let run = runner(&load(groups), &[], None);
        let x = points(&run, "s");
        assert_eq!(x.len(), 8);
        let low = x.iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
        assert_eq!(low, bottom, "{groups}");
    }
    let mut run = runner(&load("\"upper\""), &[], None);
    advance(&mut run, 200);
    // Hanging from its upper face without Poisson's effect: half of its weight, m g/2, on E A/L.
    let sag = 0.5 * (1000.0 * 0.125 * 9.81) / (1e6 * 0.25 / 0.5);
    let low = points(&run, "s")
        .iter()
        .map(|x| x[2])
        .fold(f64::INFINITY, f64::min);
    assert!((low - (0.5 - sag)).abs() < 1e-9, "{low} {sag}");
    let both = runner(&load("\"lower\", \"upper\""), &[], None);
    assert_eq!(points(&both, "s").len(), 12);
    let error = load("\"uper\"")
        .build(&Settings::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no group `uper`") && error.contains("upper"),
        "{error}"
    );
}

/// Until it lands, every point of the surface falls like the nodes: after `n` steps
/// `n (n + 1)/2 h^2 g`. At rest the floor carries the weight of the hexahedra.
#[test]
fn a_bunny_falls_and_is_carried_by_the_floor() {
    let mut run = runner(&edited("soft_bunny", &[]), &[], None);
    let start = points(&run, "skin");
    assert_eq!(start.len(), 1418);
    let file = include_str!("../../../../../scenes/meshes/bunny.ply");
    let vertices = file.lines().skip_while(|l| *l != "end_header").skip(1);
    for (x, line) in start.iter().zip(vertices) {
        let wanted: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        for k in 0..3 {
            let raised = if k == 2 { 0.1 } else { 0.0 };
            // Newton's iteration for the place in a hexahedron stops at 1e-14 of its size or
            // rounding.
            assert!((x[k] - wanted[k] - raised).abs() < 1e-13, "{x:?} {wanted:?}");
        }
    }
    advance(&mut run, 12);
    let fallen = 0.5 * (12.0 * 0.01f64).powi(2) * 9.81;
    for (x, x0) in points(&run, "skin").iter().zip(&start) {
        assert!((x0[2] - x[2] - fallen).abs() < 1e-12, "{x0:?} {x:?}");
    }
    while !run.is_done() {
        let report = run.step().unwrap();
        assert!(report.contacts.residual <= 1e-8);
    }
    // It sits on its feet, sunk by no more than the correction of overlap allows.
    let low = points(&run, "skin")
        .iter()
        .map(|x| x[2])
        .fold(f64::INFINITY, f64::min);
    assert!((low - 0.002).abs() < 1e-4, "{low}");
    let carried: f64 = run
        .simulation()
        .contacts()
        .iter()
        .map(|c| c.impulse[2] / 0.01)
        .sum();
    let elements = include_str!("../../../../../scenes/meshes/bunny.inp")
        .lines()
        .rev()
        .take_while(|l| !l.starts_with('*'));
    let weight = 9.81 * 150.0 * 0.06f64.powi(3) * elements.count() as f64;
    // What is left of the bouncing after 1.5 s.
    assert!((carried - weight).abs() < 1e-3 * weight, "{carried} {weight}");
    // What is drawn is the surface alone.
    assert_eq!(run.finish(None).recording.triangles.len(), 2 * 1416);
}

#[test]
fn a_surface_must_fit_into_its_solid() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("t.obj"),
        "v 0.1 0.1 0.1\nv 0.9 0.1 0.1\nv 0.1 0.9 1.2\nf 1 2 3\n",
    )
    .unwrap();
    std::fs::write(dir.path().join("l.obj"), "v 0.1 0.1 0.1\nv 0.9 0.1 0.1\nl 1 2\n").unwrap();
    let build = |more: &str, part: &str| {
        let text = format!(
            "(run: (duration: 0.1), nodes: [Solid(name: \"s\", shape: Box(size: (1, 1, 1), cells: (1, 1, 1)), {more}
                material: Linear(young: 1e6, poisson: 0.3), density: 1000), EmbeddedSurface(name: \"t\", {part})])"
        );
        let scene = dir.path().join("s.ron");
        std::fs::write(&scene, text).unwrap();
        SceneFile::load(&scene).and_then(|s| s.build(&Settings::default()))
    };
    let good = "solid: \"s\", shape: (file: \"t.obj\")";
    for (more, part, wanted) in [
        ("", "solid: \"q\", shape: (file: \"t.obj\")", "no solid `q`"),
        (
            "",
            "solid: \"s\", shape: (file: \"l.obj\")",
            "l.obj has no triangles",
        ),
        ("", good, "point 2 lies 0.19999999999999996 m outside"),
        ("elements: Quadratic,", good, "`s` has other elements than"),
    ] {
        let error = build(more, part).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error} instead of {wanted}");
    }
    let part = format!("{good}, outside: Extrapolate");
    assert!(build("", &part).is_ok() && build("elements: Tetrahedra,", &part).is_ok());
    let part = format!("{good}, position: (0, 0, -0.05), rotation: Axis(around: (1, 1, 1), degrees: 120)");
    assert!(build("", &part).unwrap_err().to_string().contains("outside"));
}

/// Columns of a rigid mesh and of the surface of a solid bear the weight of what lies on both, 0.5
/// kg, and the ground that of both, with 200 kg/m^3 of 0.24 x 0.2 x 0.06 m more. The pressure on
/// either side of the patch adds up to it, too.
#[test]
fn a_bunny_rests_on_a_cushion() {
    let mut run = runner(&edited("bunny_on_cushion", &[]), &[], None);
    for _ in 0..60 {
        let report = run.step().unwrap_or_else(|e| panic!("{e}"));
        assert!(report.contacts.residual <= 1e-8);
    }
    let s = run.simulation();
    let node = s.model().node_named("bunny").unwrap();
    let (force, _) = s.contact_force(node, 0);
    let weight = 0.5 * 9.81;
    assert!((force[2] / weight - 1.0).abs() < 1e-5, "{force:?}");
    assert!(force[0].hypot(force[1]) < 1e-5 * weight, "{force:?}");
    let whole = weight + 200.0 * 0.24 * 0.2 * 0.06 * 9.81;
    // Sides in the order of the colliders: ground, cushion, wood.
    let (mut ground, mut normal) = (0.0, 0.0);
    for reading in s.contacts() {
        let n = reading.contact.normal;
        let along: f64 = (0..3).map(|k| n[k] * reading.impulse[k]).sum();
        if reading.contact.sides == [0, 1] {
            ground += reading.impulse[2] / s.contact_step();
        } else {
            assert_eq!(reading.contact.sides, [1, 2]);
            normal += along / s.contact_step();
        }
    }
    assert!((ground / whole - 1.0).abs() < 1e-5, "{ground} {whole}");
    let area = s.contact_area(2).unwrap().unwrap();
    let pressure = s.contact_pressure(2).unwrap();
    let sum: f64 = pressure.iter().zip(area.areas()).map(|(p, a)| p * a).sum();
    // More than the weight: not all of the patch is level.
    assert!(
        (sum / normal - 1.0).abs() < 1e-9 && sum > weight,
        "{sum} {normal}"
    );
    assert!(pressure.iter().filter(|p| **p > 0.0).count() > 50);
}
