//! A file that is included at a place moves there as it moves by itself.

use pliant_run::Runner;
use pliant_scene::{SceneFile, Settings};
use std::path::Path;

/// A finger of points, bodies, a cable, joints, springs, forces and contacts, in axes of its own;
/// it weighs along its own axes by forces, for the gravity of a file is not taken.
const PART: &str = r#"(
    parameters: {"g": -9.81},
    run: (duration: 0.3, step: 0.005),
    nodes: [
        Bodies(name: "arm", bodies: [
            (position: (0.1, 0, 0), rotation: Axis(around: (0, 0, 1), degrees: 30), shape: Box(0.2, 0.04, 0.04), mass: 0.5, velocity: (0, 0.1, 0)),
            (position: (0.3, 0, 0), shape: Box(0.2, 0.04, 0.04), mass: 0.5, angular_velocity: (1, 2, 3)),
        ]),
        Particles(name: "beads", positions: [(0, 0.5, 0), (0.1, 0.5, 0)], velocities: [(0, 0, 0.3), (0.2, 0, 0)], mass: 0.1),
        Cable(name: "line", from: (0, 1, 0), to: (0.5, 1, 0.2), links: 4, link_mass: 0.02, compliance: 1e-3),
        Mapped(name: "rod", parents: ["beads"], mapping: Distance(pairs: [(0, (0, 0.8, 0)), (0, 1)])),
        Mapped(name: "height", parents: ["beads"], mapping: Projection(points: [(1, (0, 1, 0))], offset: -0.5)),
        Mapped(name: "off", parents: ["beads"], mapping: Difference(pairs: [(1, (0.1, 0.5, 0.1))])),
    ],
    joints: [
        (name: "root", kind: Hinge, b: Body("arm", 0), at: (0, 0, 0), axis: (0, 1, 1)),
        (name: "elbow", kind: Ball, a: Body("arm", 0), b: Body("arm", 1), at: (0.2, 0, 0)),
        (name: "slot", kind: PointOnPlane, a: Frame(position: (0.4, 0, 0)), b: Frame(body: ("arm", 1), position: (0.1, 0, 0)), compliance: 1e-4),
    ],
    groups: {"second": (node: "line", select: And([Plane(point: (0.01, 0, 0), normal: (1, 0, 0)), Sphere(centre: (0, 1, 0), radius: 0.2)]))},
    force_fields: [
        (name: "weight of the arm", on: "arm", law: Force([0, "0.5 * $g", "sin(20 * $t)"])),
        (name: "twist", on: "arm", law: Torque([0.01, 0, "0.02 * $t"])),
        (name: "weight", on: "beads", law: Force([0, "0.1 * $g", 0])),
        (name: "weight of the line", on: "line", law: Force([0, "0.02 * $g", 0])),
        (name: "side", on: "second", law: Force([0, 0, 0.3])),
        (name: "spring", on: "height", law: Stiffness(20)),
        (name: "rubber", on: "off", law: Stiffness(5)),
    ],
    constraints: [(name: "rods", on: "rod")],
    colliders: [
        Fixed(name: "table", shape: Box(1, 0.02, 1), position: (0, 0.42, 0), rotation: Axis(around: (0, 0, 1), degrees: -10)),
        Points(node: "beads", radius: 0.02),
    ],
    record: [Distance(name: "reach", between: (("beads", 1), (0, 0, 0)))],
)"#;

/// The end of a run of a file: places of all points and bodies by their names.
fn end(path: &Path) -> Vec<(String, [f64; 3])> {
    let scene = SceneFile::load(path).and_then(|scene| scene.build(&Settings::default()));
    let mut runner = Runner::new(scene.unwrap_or_else(|error| panic!("{error}"))).unwrap();
    for _ in 0..60 {
        runner.step().unwrap();
    }
    let simulation = runner.simulation();
    let mut found = Vec::new();
    for name in ["arm", "beads", "line", "second"] {
        let model = simulation.model();
        let node = model
            .node_named(name)
            .or_else(|| model.node_named(&format!("a.{name}")))
            .unwrap();
        let size = model.node(node).space.position_size();
        for (element, x) in simulation.positions(node).chunks(size).enumerate() {
            found.push((format!("{name}[{element}]"), [x[0], x[1], x[2]]));
        }
    }
    found
}

#[test]
fn a_file_at_a_place_moves_as_it_does_by_itself() {
    let directory = std::env::temp_dir().join(format!("pliant-posed-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let scene = r#"(
        run: (duration: 0.3, step: 0.005),
        include: [(file: "part.ron", name: "a", position: (1, -2, 0.5), rotation: Axis(around: (1, 2, 3), degrees: 100))],
        nodes: [],
    )"#;
    std::fs::write(directory.join("part.ron"), PART).unwrap();
    std::fs::write(directory.join("scene.ron"), scene).unwrap();
    let (alone, placed) = (
        end(&directory.join("part.ron")),
        end(&directory.join("scene.ron")),
    );
    std::fs::remove_dir_all(&directory).unwrap();
    // Rodrigues' formula, not the quaternions of the program.
    let axis = [1.0, 2.0, 3.0].map(|c: f64| c / 14f64.sqrt());
    let (sin, cos) = 100f64.to_radians().sin_cos();
    let turned = |x: [f64; 3]| {
        let along: f64 = (0..3).map(|k| axis[k] * x[k]).sum();
        let cross = |k: usize| axis[(k + 1) % 3] * x[(k + 2) % 3] - axis[(k + 2) % 3] * x[(k + 1) % 3];
        let put = |k: usize| cos * x[k] + sin * cross(k) + (1.0 - cos) * along * axis[k];
        [put(0) + 1.0, put(1) - 2.0, put(2) + 0.5]
    };
    let mut moved: f64 = 0.0;
    for ((name, x), (_, y)) in alone.iter().zip(&placed) {
        let expected = turned(*x);
        let off = (0..3).map(|k| (y[k] - expected[k]).abs()).fold(0.0, f64::max);
        // The iterations of a step end at residuals of 1e-5 and less of its terms.
        assert!(off < 2e-6, "{name}: {y:?}, expected {expected:?}");
        moved = moved.max(x[1].abs());
    }
    assert_eq!(alone.len(), placed.len());
    assert!(moved > 0.1);
}
