//! Scenes of SOFA: motion as its components mean (`sofa.json`, made by `reference/sofa.py`), closed
//! forms, and what the scene says.

use crate::{imported, model, remarked, runner, scene};
use pliant_import::{Format, ImportError, Imported, Options, import_file, import_text};
use pliant_run::Runner;
use serde_json::Value;

/// Motion at steps of 1 ms by the default method of second order.
const MOTION: f64 = 2e-5;

fn reference() -> Value {
    serde_json::from_str(include_str!("sofa.json")).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn from(model: &str) -> Imported {
    imported(model, &Options::default())
}

fn from_text(parts: &str) -> Imported {
    let text = format!("<Node name=\"n\">\n{parts}\n</Node>");
    import_text(Format::Scn, "n.scn", &text, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn error(parts: &str) -> String {
    let text = format!("<Node name=\"n\">\n{parts}\n</Node>");
    import_text(Format::Scn, "n.scn", &text, &Options::default())
        .unwrap_err()
        .to_string()
}

/// A scene with another step, after a time; `watch` sees every step.
fn after(imported: &Imported, step: f64, time: f64, mut watch: impl FnMut(&Runner)) -> Runner {
    let (head, rest) = imported.scene.split_once("step: ").unwrap();
    let (_, tail) = rest.split_once(')').unwrap();
    let mut runner = runner(&format!("{head}step: {step}){tail}"));
    let steps = (time / step).round() as usize;
    for _ in 0..steps {
        runner
            .step()
            .unwrap_or_else(|e| panic!("{e}\n{}", imported.scene));
        watch(&runner);
    }
    runner
}

fn positions<'a>(runner: &'a Runner, node: &str) -> &'a [f64] {
    let simulation = runner.simulation();
    let node = simulation.model().node_named(node);
    simulation.positions(node.unwrap_or_else(|| panic!("no such node")))
}

fn compare(found: &[f64], expected: &Value, tolerance: f64) {
    let expected = expected.as_array().unwrap();
    assert_eq!(found.len(), 3 * expected.len());
    for (i, x) in found.iter().enumerate() {
        let wanted = number(&expected[i / 3][i % 3]);
        assert!((x - wanted).abs() < tolerance, "{i}: {x} instead of {wanted}");
    }
}

#[test]
fn strings_of_hard_and_soft_links_move_as_their_equations_say() {
    let expected = reference();
    let string = from("string.scn");
    let runner = after(&string, 1e-3, number(&expected["time"]), |_| ());
    compare(positions(&runner, "hard"), &expected["hard"], MOTION);
    compare(positions(&runner, "soft"), &expected["soft"], MOTION);
    assert!(
        string
            .scene
            .contains(r#"(name: "hard/links/inextensible", on: "hard/links"),"#),
        "{}",
        string.scene
    );
    assert!(
        string.scene.contains("line: (from: (0, 0, 0), to: "),
        "{}",
        string.scene
    );
    assert!(remarked(&string, "`activated=\"0\"` is not taken (") && remarked(&string, "string.scn:36"));
    assert!(remarked(&string, "solvers and their options are not taken"));
    assert_eq!(string.remarks.len(), 4, "{:?}", string.remarks);
}

#[test]
fn a_masked_pose_is_a_hinge_with_its_limits_and_damper() {
    let expected = reference();
    let mechanism = from("mechanism.scn");
    let time = number(&expected["time"]);
    let mut first = None;
    let mut largest = f64::MIN;
    after(&mechanism, 1e-3, 2.0, |runner| {
        let angle = positions(runner, "hinge.angle")[0];
        largest = largest.max(angle);
        if (runner.simulation().time() - time).abs() < 1e-9 {
            first = Some((angle, positions(runner, "rod")[7..14].to_vec()));
        }
    });
    let (angle, rod) = first.unwrap();
    let wanted = number(&expected["hinge"][0]);
    assert!((angle - wanted).abs() < MOTION, "{angle} instead of {wanted}");
    // Without the limit at 2 rad it would swing on to 2.6 rad.
    assert!(largest < 2.0 + 1e-6 && largest > 1.99, "{largest}");
    let turn = number(&expected["rod"][0]);
    let place = [-3.0 - 0.6 * turn.cos(), -0.6 * turn.sin(), 0.0];
    for (x, wanted) in rod.iter().zip(place) {
        assert!((x - wanted).abs() < MOTION, "{rod:?} instead of {place:?}");
    }
    for part in [
        r#"name: "hinge", kind: Hinge,"#,
        "limits: [(lower: -0.5, upper: 2)],",
        "dampers: [(damping: 0.3)],",
        r#"name: "ball", kind: Ball,"#,
        "law: Damping(linear: 0, angular: 1.5)",
        r#"(name: "tip/UniformMass", on: "tip", mass: 0.5),"#,
    ] {
        assert!(mechanism.scene.contains(part), "{part}\n{}", mechanism.scene);
    }
}

#[test]
fn force_fields_of_sofa_itself_move_as_their_equations_say() {
    let expected = reference();
    let fields = from("fields.scn");
    let time = number(&expected["time"]);
    let runner = after(&fields, 1e-3, time, |_| ());
    compare(positions(&runner, "net"), &expected["net"], MOTION);
    compare(positions(&runner, "pair"), &expected["pair"], MOTION);
    let held = positions(&runner, "held");
    for i in 0..2 {
        let (z, wanted) = (held[3 * i + 2], number(&expected["held"][i]));
        assert!((z - wanted).abs() < MOTION, "{z} instead of {wanted}");
    }
    assert!((held[3] - 1.0 - number(&expected["pulled"])).abs() < MOTION);
    // The force jumps in its rate where the plane is reached, within a step.
    let z = positions(&runner, "heap")[2];
    assert!((z - number(&expected["heap"])).abs() < 1e-4, "{z}");
    let runner = after(&fields, 1e-3, 1.0, |_| ());
    // At 1 m/s from 1 m it meets the stop at 0.25 m, and stays.
    for (x, wanted) in positions(&runner, "slider").iter().zip([8.0, 0.25, 0.0]) {
        assert!((x - wanted).abs() < 1e-9, "{x} instead of {wanted}");
    }
}

#[test]
fn a_bar_hangs_by_its_weight() {
    let bar = from("bar.scn");
    let text = bar.scene.replace(
        "run: (duration: 2, step: 0.01)",
        "run: (duration: 1, statics: ())",
    );
    let mut runner = runner(&text);
    runner.find_equilibria().unwrap();
    // A force per strain of E A; of half of the density below each point comes rho g L^2/(2 E).
    let density = 4.0 / (0.5 * 0.5 * 2.0);
    // Two layers of triangles with 2 Pa along y at the bottom of one pull by p L/E more.
    for (name, young, pressure) in [("hexahedra", 1000.0, 4.0), ("tetrahedra", 2000.0, 0.0)] {
        let expected = -2.0 - density * 10.0 * 4.0 / (2.0 * young) - pressure * 2.0 / young;
        let ends: Vec<f64> = positions(&runner, name)
            .chunks(3)
            .map(|p| p[1])
            .filter(|y| *y < -1.9)
            .collect();
        assert_eq!(ends.len(), 4);
        let mean = ends.iter().sum::<f64>() / 4.0;
        // Tetrahedra give the corners of an end different masses, so that it does not stay flat.
        let tolerance = if name == "hexahedra" { 1e-9 } else { 2e-3 };
        assert!(
            (mean - expected).abs() < tolerance,
            "{name}: {mean} instead of {expected}"
        );
    }
    for part in [
        r#"name: "hexahedra", shape: Box(size: (0.5, 2, 0.5), cells: (1, 4, 1)), position: (0, -2, 0)"#,
        "material: Corotational(young: 1000, poisson: 0), density: 8",
        "elements: Tetrahedra, position: (3, -2, 0)",
        "treatment: Compliance",
    ] {
        assert!(bar.scene.contains(part), "{part}\n{}", bar.scene);
    }
    assert!(remarked(&bar, "spread by volume and not by vertices"));
}

#[test]
fn friction_and_restitution_of_pairs_are_products() {
    let bumps = from("bumps.scn");
    let mut top = 0.0f64;
    let mut down = false;
    let runner = after(&bumps, 2e-3, 1.0, |runner| {
        let simulation = runner.simulation();
        let ball = simulation.model().node_named("ball").unwrap();
        let up = simulation.velocities(ball)[1] > 0.0;
        down |= up;
        if down {
            top = top.max(positions(runner, "ball")[1] - 0.25);
        }
    });
    // mu = 0.8 0.5 on 30 degrees: a way of a/2 after a second.
    let angle = std::f64::consts::FRAC_PI_6;
    let way = 5.0 * (angle.sin() - 0.4 * angle.cos());
    let start = [-0.625, 1.0825317547305484];
    let box_at = positions(&runner, "box");
    for (i, direction) in [-angle.cos(), -angle.sin()].iter().enumerate() {
        let expected = start[i] + way * direction;
        // Contacts are of first order in the step of 2 ms.
        assert!(
            (box_at[i] - expected).abs() < 2e-3,
            "{box_at:?} instead of {expected}"
        );
    }
    // e = 0.5 0.8: a drop of 1 m rises to e^2, within the way of a step.
    assert!((top - 0.16).abs() < 0.01, "{top}");
}

#[test]
fn defaults_are_those_of_sofa() {
    let one =
        from_text("<EulerSolver/><MechanicalObject template=\"Vec3d\" position=\"1 2 3\"/><UniformMass/>");
    for part in [
        "gravity: (0, -9.81, 0)",
        "step: 0.01",
        "positions: [(1, 2, 3)], mass: 1",
    ] {
        assert!(one.scene.contains(part), "{part}\n{}", one.scene);
    }
    // A tensor of 1 m^2 times the mass, and quaternions with the real part last.
    let body = from_text(
        "<EulerSolver/><MechanicalObject template=\"Rigid\" position=\"0 0 0 1 0 0 0\"/><UniformMass mass=\"3\"/>",
    );
    let part = "rotation: Quaternion(0, 1, 0, 0), mass: 3, inertia: (3, 3, 3)";
    assert!(body.scene.contains(part), "{}", body.scene);
    let tensor = from_text(
        "<EulerSolver/><MechanicalObject template=\"Rigid\"/>
         <UniformMass vertexMass=\"2 1  0.1 0.01 0  0.01 0.2 0  0 0 0.25\"/>",
    );
    let part = "mass: 2, inertia: (0.2, 0.4, 0.5), products: (0.02, 0, 0)";
    assert!(tensor.scene.contains(part), "{}", tensor.scene);
    // SOFA writes matrices with brackets; a grid is one cell.
    let tensor = from_text(
        "<EulerSolver/><MechanicalObject template=\"Rigid\"/><UniformMass mass=\"2 1 [0.1 0 0,0 0.2 0,0 0 0.25]\"/>
         <Node name=\"grid\"><RegularGridTopology/><MechanicalObject/><UniformMass/></Node>
         <Node name=\"sparse\"><SparseGrid n=\"2 2 2\"/><MechanicalObject/><UniformMass/></Node>",
    );
    assert!(
        tensor.scene.contains("mass: 2, inertia: (0.2, 0.4, 0.5)"),
        "{}",
        tensor.scene
    );
    assert!(
        tensor
            .scene
            .contains("(0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1)"),
        "{}",
        tensor.scene
    );
    assert!(!tensor.scene.contains("sparse") && remarked(&tensor, "its points are not known"));
    // Bodies at the points of a mesh; as points they are their centres.
    let mesh = from_text(
        "<EulerSolver/><StringMeshCreator name=\"m\" resolution=\"2\"/><MechanicalObject template=\"Rigid\" src=\"@m\"/>
         <UniformMass/><Node name=\"centres\"><MechanicalObject/><SubsetMapping indices=\"1\"/><UniformMass/></Node>",
    );
    assert!(
        mesh.scene.contains("(position: (1, 0, 0), mass: 1"),
        "{}",
        mesh.scene
    );
    assert!(
        mesh.scene.contains("RigidPoints(points: [(1, (0, 0, 0))])"),
        "{}",
        mesh.scene
    );
    // Hard without a number, and the first point without indices.
    let hard = from_text(
        "<EulerSolver/><MechanicalObject position=\"0 0 0  1 0 0\"/><UniformMass totalMass=\"1\"/><FixedConstraint/>
         <Node name=\"l\"><MechanicalObject template=\"Vec1\"/><EdgeSetTopologyContainer edges=\"0 1\"/>
         <DistanceMapping/><UniformCompliance/></Node>",
    );
    assert!(
        hard.scene.contains(r#"(name: "l/UniformCompliance", on: "l"),"#),
        "{}",
        hard.scene
    );
    assert!(
        hard.scene.contains("mass: 0.5") && hard.scene.contains("elements: [0]"),
        "{}",
        hard.scene
    );
}

#[test]
fn what_no_solver_moves_is_held() {
    let text = "<Node name=\"still\"><MechanicalObject position=\"0 0 0\"/></Node>
        <Node name=\"moving\"><EulerSolver/><MechanicalObject position=\"0 1 0\"/><UniformMass/></Node>";
    let both = from_text(text);
    assert!(
        both.scene.contains("(node: \"still\"),") && remarked(&both, "n.scn:2)"),
        "{}",
        both.scene
    );
    let none = from_text(&text.replace("<EulerSolver/>", ""));
    assert!(!none.scene.contains("fixed:") && remarked(&none, "no node has a solver"));
}

#[test]
fn joints_of_all_masks_become_their_kinds() {
    for (mask, kind, turn) in [
        ("1 1 1 1 1 1", "Fixed", ""),
        ("1 1 1 0 0 0", "Ball", ""),
        ("1 1 1 1 1 0", "Hinge", ""),
        ("1 0 1 1 1 1", "Slider", "Quaternion"),
        ("0 1 1 0 1 1", "Cylindrical", "Quaternion"),
        ("1 0 0 0 1 1", "Planar", "Quaternion"),
        ("1 1 0 0 0 0", "PointOnLine", ""),
        ("0 0 1 0 0 0", "PointOnPlane", ""),
        ("1 0 0 0 1 0", "JointCoordinates", ""),
    ] {
        let made = from_text(&format!(
            "<EulerSolver/><MechanicalObject template=\"Rigid\" position=\"0 0 0 0 0 0 1  1 0 0 0 0 0 1\"/>
             <RigidMass mass=\"1\" inertia=\"1 1 1\"/>
             <Node name=\"frames\"><MechanicalObject template=\"Rigid\"/>
             <AssembledRigidRigidMapping source=\"0 0.5 0 0 0 0 0 1  1 -0.5 0 0 0 0 0 1\"/>
             <Node name=\"j\"><MechanicalObject template=\"Vec6\"/><RigidJointMapping pairs=\"0 1\"/>
             <Node><MechanicalObject template=\"Vec1\"/><MaskMapping dofs=\"{mask}\"/>
             <UniformCompliance compliance=\"1e-4\"/></Node></Node></Node>"
        ));
        assert!(
            made.scene.contains(kind) && made.scene.contains(turn),
            "{mask}\n{}",
            made.scene
        );
        // Rows of the mask are rows of the model.
        let rows = mask.split(' ').filter(|m| *m == "1").count();
        let runner = runner(&made.scene);
        assert_eq!(
            pliant_run::Sizes::of(runner.simulation()).rows,
            rows,
            "{}",
            made.scene
        );
    }
}

#[test]
fn errors_point_at_what_is_wrong() {
    for (text, expected) in [
        (
            "<MechanicalObject position=\"0 x 0\"/>",
            "has `x` where a number is expected",
        ),
        (
            "<MechanicalObject position=\"0 0\"/>",
            "has 2 numbers, which are not 3 each",
        ),
        (
            "<MechanicalObject template=\"Rigid\" position=\"0 0 0 0 0 0 0\"/>",
            "a rotation of length zero",
        ),
        (
            "<MechanicalObject position=\"0 0 0\"/><FixedConstraint indices=\"1\"/>",
            "has the index 1, but there is one, 0",
        ),
        (
            "<MechanicalObject position=\"0 0 0\"/><FixedConstraint indices=\"-1\"/>",
            "where an index is expected",
        ),
        (
            "<MechanicalObject template=\"Rigid\"/><RigidMass mass=\"0\" inertia=\"1 1 1\"/>",
            "must be above zero",
        ),
        (
            "<GridMeshCreator name=\"m\" resolution=\"0 3\"/><MechanicalObject src=\"@m\"/>",
            "whole numbers from 1 on",
        ),
    ] {
        let told = error(text);
        assert!(
            told.contains(expected) && told.contains("n.scn:2:") && told.contains('^'),
            "{told}"
        );
    }
    let told = import_text(Format::Scn, "r.urdf", "<robot/>", &Options::default()).unwrap_err();
    assert!(matches!(told, ImportError::Format(_)), "{told}");
}

#[test]
fn nothing_of_masses_and_mappings_is_passed_over() {
    let masses = from_text(
        "<EulerSolver/><MechanicalObject position=\"0 0 0\"/><UniformMass mass=\"2\" rayleighMass=\"0.5\" filename=\"m\"/>",
    );
    assert!(
        masses.scene.contains("law: Damping(linear: 1)"),
        "{}",
        masses.scene
    );
    assert!(remarked(&masses, "`filename` of `UniformMass` is not taken"));
    let solid = from_text(
        "<EulerSolver/><RegularGrid n=\"2 2 2\"/><MechanicalObject/><HexahedronFEMForceField/>
         <Node><MechanicalObject position=\"@../.position\"/><IdentityMapping mapForces=\"0\" other=\"1\"/>
         <UniformMass totalMass=\"8\" rayleighMass=\"0.5\"/></Node>",
    );
    assert!(
        solid.scene.contains("density: 8") && solid.scene.contains("Damping(linear: 0.5)"),
        "{}",
        solid.scene
    );
    assert!(
        remarked(&solid, "`mapForces=\"0\"` is not taken"),
        "{:?}",
        solid.remarks
    );
    assert!(
        remarked(&solid, "`other` of `IdentityMapping` is not taken"),
        "{:?}",
        solid.remarks
    );
}

#[test]
fn links_in_circles_and_to_nothing_end() {
    let circle = from_text(
        "<MeshTopology name=\"a\" position=\"@b.position\"/><MeshTopology name=\"b\" position=\"@a.position\"/>
         <MechanicalObject name=\"s\" position=\"@s.position\"/>",
    );
    assert!(
        remarked(&circle, "leads to nothing that is taken"),
        "{:?}",
        circle.remarks
    );
    let lost = from_text("<MechanicalObject position=\"@../nowhere.position\"/><UniformMass/>");
    assert!(remarked(&lost, "its points are not known"), "{:?}", lost.remarks);
    assert!(!lost.scene.contains("Particles"));
}

#[test]
fn meshes_are_found_in_share_above_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let scenes = directory.path().join("plugins/scenes");
    let meshes = directory.path().join("share/mesh");
    std::fs::create_dir_all(&scenes).unwrap();
    std::fs::create_dir_all(&meshes).unwrap();
    // A tetrahedron of the first version of Gmsh's format, as many of SOFA's meshes are.
    let mesh = "$NOD\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$ENDNOD\n$ELM\n1\n1 4 1 1 4 1 2 3 4\n$ENDELM\n";
    std::fs::write(meshes.join("one.msh"), mesh).unwrap();
    let path = scenes.join("one.scn");
    let text =
        "<Node><EulerSolver/><MeshGmshLoader name=\"l\" filename=\"mesh/one.msh\"/><MeshTopology src=\"@l\"/>
        <MechanicalObject name=\"d\" src=\"@l\"/><UniformMass totalMass=\"1\"/>
        <TetrahedronFEMForceField youngModulus=\"10\" poissonRatio=\"0.3\"/></Node>";
    std::fs::write(&path, text).unwrap();
    let one = import_file(&path, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        one.scene.contains("File(file: \"../../share/mesh/one.msh\")"),
        "{}",
        one.scene
    );
    // 1 kg in a sixth of a cubic metre.
    assert!(one.scene.contains("density: 6"), "{}", one.scene);
    assert_eq!(one.mesh_directories.len(), 1);
    scene(&one.scene);
    assert!(model("string.scn").is_file());
}

#[test]
fn a_target_of_an_inverted_length_is_a_stop() {
    let stop = from_text(
        "<EulerSolver/><MechanicalObject name=\"d\" position=\"0 0 0  0 -1 0\"/><UniformMass/><FixedConstraint indices=\"0\"/>
         <Node name=\"length\"><MechanicalObject template=\"Vec1\"/><EdgeSetTopologyContainer edges=\"0 1\"/>
         <DistanceMapping/><UniformCompliance compliance=\"1\" isCompliance=\"0\"/>
         <Node name=\"stop\"><MechanicalObject template=\"Vec1\"/><DifferenceFromTargetMapping targets=\"0.5\" inverted=\"1\"/>
         <UniformCompliance/><UnilateralConstraint/></Node></Node>",
    );
    assert!(
        stop.scene.contains("rest: 1.5") && stop.scene.contains("bounds: (upper: 0)"),
        "{}",
        stop.scene
    );
    let runner = after(&stop, 1e-3, 1.0, |_| ());
    // Weight and spring bring it there in a third of a second.
    let y = positions(&runner, "d")[4];
    assert!((y + 1.5).abs() < 1e-9, "{y}");
}

/// Two bodies, the second 1 m from the first along x, and something in a node below the pose of the
/// second against the first on a hinge about z.
fn on_hinge(inside: &str) -> Imported {
    from_text(&format!(
        "<EulerSolver/><MechanicalObject template=\"Rigid\" position=\"0 0 0 0 0 0 1  1 0 0 0 0 0 1\"/>
         <RigidMass mass=\"1\" inertia=\"1 1 1\"/><FixedConstraint/>
         <Node name=\"frames\"><MechanicalObject template=\"Rigid\"/>
         <AssembledRigidRigidMapping source=\"0 1 0 0 0 0 0 1  1 0 0 0 0 0 0 1\"/>
         <Node name=\"j\"><MechanicalObject template=\"Vec6\"/><RigidJointMapping pairs=\"0 1\"/>
         <Node><MechanicalObject template=\"Vec1\"/><MaskMapping dofs=\"1 1 1 1 1 0\"/><UniformCompliance/></Node>
         {inside}</Node></Node>"
    ))
}

#[test]
fn controllers_of_a_hinge_are_motors_springs_and_friction() {
    let free = "<Node><MechanicalObject template=\"Vec1\"/><MaskMapping dofs=\"0 0 0 0 0 1\"/>";
    for (inside, expected) in [
        (
            "<DiagonalCompliance compliance=\"0 0 0 0 0 0.02\" isCompliance=\"0\"/>".to_owned(),
            "springs: [(compliance: 0.02)],",
        ),
        (
            format!(
                "{free}<Node><MechanicalObject template=\"Vec1\"/><DifferenceFromTargetMapping targets=\"0.3\"/>
                 <UniformCompliance compliance=\"0.01\" isCompliance=\"0\"/></Node></Node>"
            ),
            "springs: [(compliance: 0.01, rest: 0.3)],",
        ),
        (
            format!(
                "{free}<Node><MechanicalObject template=\"Vec1\"/><DifferenceFromTargetMapping targets=\"0.3\"/>
                 <UniformCompliance/></Node></Node>"
            ),
            "motors: [Position(target: 0.3)],",
        ),
        (
            format!("{free}<UniformCompliance/><VelocityConstraintValue velocities=\"2\"/></Node>"),
            "motors: [Velocity(speed: 2)],",
        ),
        (
            // An impulse of 0.05 N m s in a step of 10 ms.
            format!(
                "{free}<UniformCompliance/><VelocityConstraintValue velocities=\"0\"/>
                 <ResistanceConstraint threshold=\"0.05\"/></Node>"
            ),
            "friction: [(force: 5)],",
        ),
        (
            format!("{free}<ConstantForceField points=\"0\" forces=\"7\"/></Node>"),
            "on: \"j.angle\", law: Force([7])",
        ),
    ] {
        let made = on_hinge(&inside);
        assert!(made.scene.contains("kind: Hinge") && made.scene.contains(expected), "{expected}\n{}", made.scene);
        let mut runner = runner(&made.scene);
        runner.step().unwrap_or_else(|e| panic!("{e}\n{}", made.scene));
    }
}

#[test]
fn mappings_of_several_states_and_in_cells_are_built() {
    let made = from_text(
        "<EulerSolver/>
         <Node name=\"a\"><MechanicalObject position=\"0 0 0  1 0 0\"/><UniformMass/><FixedConstraint/></Node>
         <Node name=\"b\"><MechanicalObject position=\"2 0 0  3 0 0\"/><UniformMass/>
         <SubsetMapping/></Node>
         <Node name=\"c\"><MechanicalObject position=\"2 0 0  3 0 0\"/><UniformMass/></Node>
         <Node name=\"cube\"><RegularGrid n=\"2 2 2\" min=\"0 2 0\" max=\"1 3 1\"/><MechanicalObject/><UniformMass/>
         <Node name=\"inside\"><MechanicalObject position=\"0.5 2.5 0.5\"/><BarycentricMapping/>
         <ConstantForceField force=\"0 3 0\"/></Node></Node>
         <Node name=\"both\"><MechanicalObject/><SubsetMultiMapping input=\"@../a @../c\" indexPairs=\"0 1  1 0\"/>
         <Node name=\"gap\"><MechanicalObject template=\"Vec1\"/><EdgeSetTopologyContainer edges=\"0 1\"/><DistanceMapping/>
         <UniformCompliance compliance=\"0.1\"/></Node></Node>
         <Node name=\"lengths\"><MechanicalObject template=\"Vec1\"/><EdgeSetTopologyContainer edges=\"0 1\"/>
         <DistanceMultiMapping input=\"@../a @../c\" indexPairs=\"0 1  1 1\"/><UniformCompliance compliance=\"0.1\"/></Node>
         <Node name=\"vectors\"><MechanicalObject/><DifferenceMultiMapping input=\"@../a @../c\" pairs=\"0 0\"/>
         <DiagonalCompliance compliance=\"0.1 0.2 0.3\"/></Node>
         <Node name=\"d\"><MechanicalObject position=\"3 0 0\"/><UniformMass/></Node>
         <AttachConstraint object1=\"@d\" object2=\"@c\" indices1=\"0\" indices2=\"1\"/>",
    );
    for part in [
        r#"Mapped(name: "both", parents: ["a", "c"], mapping: Subset(elements: [1, ("c", 0)])),"#,
        r#"Mapped(name: "lengths", parents: ["a", "c"], mapping: Distance(pairs: [(1, ("c", 1))])),"#,
        r#"Mapped(name: "vectors", parents: ["c", "a"], mapping: Difference(pairs: [(0, ("a", 0))])),"#,
        "law: Diagonal([0.1, 0.2, 0.3])",
        r#"Mapped(name: "c/tie", parents: ["c", "d"], mapping: Difference(pairs: [(1, ("d", 0))])),"#,
        r#"mapping: Barycentric(cells: [[0, 1, 3, 2, 4, 5, 7, 6]], points: [(0.5, 2.5, 0.5)]"#,
    ] {
        assert!(made.scene.contains(part), "{part}\n{}", made.scene);
    }
    assert!(
        remarked(&made, "`SubsetMapping` is not taken"),
        "{:?}",
        made.remarks
    );
    let mut runner = runner(&made.scene);
    runner.step().unwrap();
    // 3 N in the middle of eight points of 1 kg that weigh 9.81 N each, by a step of 10 ms.
    let simulation = runner.simulation();
    let cube = simulation.velocities(simulation.model().node_named("cube").unwrap());
    assert!((cube[1] - 0.01 * (3.0 / 8.0 - 9.81)).abs() < 1e-12, "{cube:?}");
}
