//! Deformables of MJCF as MuJoCo has them (`flexes.json`, made by `reference/flexes.py`).

use crate::{import_mjcf, imported, remarked, runner, scene};
use pliant::dense::Vec3;
use pliant::model::NodeId;
use pliant_import::Options;
use pliant_run::Runner;
use pliant_scene::schema::Node;
use pliant_scene::{Amount, Number, OneOrMany, SceneFile};
use serde_json::Value;

/// Places (m): rounding, and the 15 digits that scenes have.
const START: f64 = 1e-12;
/// Forces relative to the largest: displacements of some millimetres of which the places have 15
/// digits, and differences of squared lengths in both programs.
const FORCE: f64 = 1e-9;
/// Motion of 0.2 s (m): the default method is of second order and has steps of 0.25 ms, the limit
/// of MuJoCo's steps of 50 and 25 microseconds is good to the square of these.
const END: f64 = 2e-6;

fn reference() -> Value {
    serde_json::from_str(include_str!("flexes.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap().iter();
    list.map(|x| x.as_f64().unwrap()).collect()
}

fn triple(value: &Value) -> Vec3 {
    Vec3::from_column_slice(&numbers(value))
}

fn node(runner: &Runner, name: &str) -> NodeId {
    let found = runner.simulation().model().node_named(name);
    found.unwrap_or_else(|| panic!("{name} is no node"))
}

fn points(runner: &Runner, node: NodeId) -> Vec<Vec3> {
    let list = runner.simulation().positions(node).as_chunks::<3>().0;
    list.iter().map(|x| Vec3::from(*x)).collect()
}

/// By flex of the reference: its name, and the node and element of each vertex that is a particle.
fn particles(name: &str, flex: &Value) -> Vec<(String, Option<usize>)> {
    let rows = flex["particles"].as_array().unwrap();
    let rides = ["flag", "net"].contains(&name);
    let mut own = 0;
    let find = |(vertex, row): (usize, &Value)| {
        let is_free = !row.is_null();
        // What hangs on the world is in the node as well, and held.
        let in_node = is_free || name == "net" && vertex == 2;
        let element = if rides { own } else { vertex };
        own += usize::from(in_node);
        let node = if rides {
            format!("{name}.free")
        } else {
            name.to_owned()
        };
        (node, is_free.then_some(element))
    };
    rows.iter().enumerate().map(find).collect()
}

fn masses(scene: &SceneFile, name: &str) -> Vec<f64> {
    let of = |node: &Node| match node {
        Node::Particles(p) if p.name == name => Some(p.clone()),
        _ => None,
    };
    let found = scene.schema().nodes.iter().find_map(of);
    let value = |amount: &Amount| match &amount.number {
        Number::Value(x) => *x,
        Number::Expression(text) => panic!("`{text}` is no number"),
    };
    let found = found.unwrap_or_else(|| panic!("{name} has no particles"));
    let count = found.positions.map_or(0, |list| list.len());
    match &found.mass {
        OneOrMany::One(mass) => vec![value(mass); count],
        OneOrMany::Many(list) => list.iter().map(|mass| value(mass)).collect(),
    }
}

#[test]
fn vertices_and_masses_are_those_of_the_reference() {
    let text = imported("flexes.xml", &Options::default()).scene;
    let (file, runner) = (scene(&text), runner(&text));
    let reference = reference();
    for (name, flex) in reference["flexes"].as_object().unwrap() {
        let found = points(&runner, node(&runner, name));
        let expected = flex["rest"].as_array().unwrap();
        assert_eq!(found.len(), expected.len(), "{name}");
        for (vertex, (found, expected)) in found.iter().zip(expected).enumerate() {
            let off = (found - triple(expected)).norm();
            assert!(off < START, "{name}: vertex {vertex} is off by {off:.1e} m");
        }
        let rows = flex["particles"].as_array().unwrap();
        for ((node, element), row) in particles(name, flex).iter().zip(rows) {
            let Some(element) = element else { continue };
            let (found, expected) = (masses(&file, node)[*element], row[0].as_f64().unwrap());
            assert!(
                (found / expected - 1.0).abs() < START,
                "{name}: {found} {expected}"
            );
        }
    }
}

/// The scene without gravity, its arm held, and steps whose first one shows the forces.
fn without_gravity() -> String {
    let text = imported("flexes.xml", &Options::default()).scene;
    let (before, rest) = text.split_once("    joints: [").unwrap();
    let (_, behind) = rest.split_once("\n    ],\n").unwrap();
    let text = format!("{before}{behind}");
    text.replace("gravity: (0, 0, -9.81)", "gravity: (0, 0, 0)")
        .replace("    fixed: [", "    fixed: [(node: \"arm\"),")
        .replace(
            "run: (duration: 2, step: 0.002)",
            "run: (duration: 1e-7, step: 1e-7, integrator: SymplecticEuler)",
        )
}

/// Forces on the particles of all flexes at the displaced places of the reference, with velocities
/// of so many times its own: by the change of the velocities in a step.
fn forces(times: f64) -> Vec<(String, Vec<Vec3>, Vec<Vec3>)> {
    const STEP: f64 = 1e-7;
    let reference = reference();
    let mut runner = runner(&without_gravity());
    let mut state = runner.simulation().state().clone();
    let mut before = Vec::new();
    for (name, flex) in reference["flexes"].as_object().unwrap() {
        let moved = flex["moved"].as_array().unwrap();
        let rows = flex["particles"].as_array().unwrap();
        for ((own, element), (row, place)) in particles(name, flex).iter().zip(rows.iter().zip(moved)) {
            let Some(element) = element else { continue };
            let node = node(&runner, own);
            let entry = runner.simulation().model().node(node);
            let (x, v) = (entry.position_range().start, entry.velocity_range().start);
            let row = numbers(row);
            for k in 0..3 {
                state.positions[x + 3 * element + k] = triple(place)[k];
                state.velocities[v + 3 * element + k] = times * row[1 + k];
            }
            before.push((name.clone(), node, *element, row));
        }
    }
    runner.simulation_mut().set_state(&state).unwrap();
    runner.simulation_mut().step(STEP).unwrap();
    let mut out: Vec<(String, Vec<Vec3>, Vec<Vec3>)> = Vec::new();
    for (name, node, element, row) in before {
        let v = &runner.simulation().velocities(node)[3 * element..3 * element + 3];
        let change = |k: usize| row[0] * (v[k] - times * row[1 + k]) / STEP;
        let found = Vec3::new(change(0), change(1), change(2));
        let expected = Vec3::from_column_slice(&row[4..7]) + times * Vec3::from_column_slice(&row[7..10]);
        if out.last().is_none_or(|last| last.0 != name) {
            out.push((name, Vec::new(), Vec::new()));
        }
        let last = out.last_mut().unwrap();
        last.1.push(found);
        last.2.push(expected);
    }
    out
}

/// With velocities forces are differences of nearly equal velocities, so that rounding is more. The
/// damping of the wire is compared by its motion in a plane: out of it, MuJoCo's hardly resists a
/// bend that turns about the wire, and ours does.
#[test]
fn forces_are_those_of_the_reference() {
    for (times, tolerance) in [(0.0, FORCE), (1.0, 1e-7)] {
        for (name, found, expected) in forces(times) {
            if name == "wire" && times != 0.0 {
                continue;
            }
            let largest = expected.iter().fold(0.0f64, |m, f| m.max(f.norm()));
            assert!(largest > 1e-3, "{name} has forces of {largest} N");
            for (vertex, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let off = (found - expected).norm() / largest;
                assert!(
                    off < tolerance,
                    "{name}, vertex {vertex}, {times}: off by {off:.1e} of {largest:.2e} N: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn deformables_fall_and_hang_as_in_the_reference() {
    let reference = reference();
    let end = &reference["end"];
    let duration = end["duration"].as_f64().unwrap();
    let text = imported("flexes.xml", &Options::default()).scene;
    let how = format!("duration: {duration}, step: 0.00025");
    let mut runner = runner(&text.replace("duration: 2, step: 0.002", &how));
    while !runner.is_done() {
        runner.step().unwrap();
    }
    for (name, expected) in end["vertices"].as_object().unwrap() {
        let found = points(&runner, node(&runner, name));
        for (vertex, (found, expected)) in found.iter().zip(expected.as_array().unwrap()).enumerate() {
            let off = (found - triple(expected)).norm();
            assert!(off < END, "{name}: vertex {vertex} is off by {off:.1e} m");
        }
    }
    let angle = runner.simulation().positions(node(&runner, "swing.angle"))[0];
    let expected = end["swing"].as_f64().unwrap();
    assert!((angle - expected).abs() < END, "{angle} {expected}");
}

/// A towel whose edges give way as much as in MuJoCo, whose impedance is the same at any length
/// here, and a cube on the ground without friction, which would remember how it fell. MuJoCo's
/// contacts give way by 0.2 micrometres.
#[test]
fn deformables_come_to_rest_as_in_the_reference() {
    const STILL: f64 = 1e-6;
    let rest = &reference()["rest"];
    assert!(rest["speed"].as_f64().unwrap() < 1e-6);
    let text = imported("soft.xml", &Options::default()).scene;
    let mut runner = runner(&text.replace("duration: 2, step: 0.0002", "duration: 4, step: 0.005"));
    while !runner.is_done() {
        runner.step().unwrap();
    }
    for name in ["towel", "cube"] {
        let found = points(&runner, node(&runner, name));
        let expected = rest["vertices"][name].as_array().unwrap();
        for (vertex, (found, expected)) in found.iter().zip(expected).enumerate() {
            let off = (found - triple(expected)).norm();
            assert!(off < STILL, "{name}: vertex {vertex} is off by {off:.1e} m");
        }
    }
}

#[test]
fn surfaces_of_deformables_collide_as_the_file_says() {
    let inside = "<flexcomp name=\"f\" count=\"3 3 1\" radius=\"0.004\"><contact friction=\"0.3\" contype=\"3\" conaffinity=\"2\"/></flexcomp>
        <flexcomp name=\"g\" dim=\"1\" count=\"3 1 1\"><contact condim=\"1\" contype=\"4\" conaffinity=\"4\" selfcollide=\"none\"/></flexcomp>
        <flexcomp name=\"h\" dim=\"3\" count=\"2 2 2\"><contact contype=\"0\" conaffinity=\"0\" selfcollide=\"none\"/></flexcomp>";
    let body = "<body name=\"i\" pos=\"0 0 1\"><joint axis=\"1 0 0\"/><geom name=\"ball\" size=\"0.01\"/><flexcomp name=\"i\" dim=\"3\" count=\"3 2 2\"><pin id=\"0\"/></flexcomp></body>";
    let made = import_mjcf(&format!("<worldbody>{inside}{body}</worldbody>")).unwrap();
    for expected in [
        "Cloth(node: \"f\", radius: 0.004, triangles: [",
        ", self_contact: 2, material: \"surface 1\", groups: [\"kind 2\"], collides_with: [\"kind 1\", \"kind 2\"]",
        "Cable(node: \"g\", radius: 0.005, segments: [(0, 1), (1, 2)], material: \"surface 2\", groups: [\"kind 3\"], collides_with: [\"kind 3\"]",
        "(name: \"surface 1\", friction: 0.3)",
        "(name: \"surface 2\", friction: 0)",
        "(\"ball\", \"i 2\"),",
        "Mapped(name: \"i 2\", parents: [\"i 2.free\", \"i 2.on i\"]",
    ] {
        assert!(made.scene.contains(expected), "{expected}\n{}", made.scene);
    }
    assert!(!made.scene.contains("node: \"h\""));
    assert!(remarked(&made, "the name `i` is used twice"));
    assert!(runner(&made.scene).step().is_ok());
}

/// A rope of two links between a hook, a weight and another rope, held by `connect` alone.
#[test]
fn vertices_are_tied_where_the_file_says() {
    let rope = |name: &str, at: &str| {
        format!(
            "<flexcomp name=\"{name}\" dim=\"1\" count=\"3 1 1\" spacing=\"0.1 1 1\" mass=\"0.3\" pos=\"{at}\" euler=\"0 90 0\"><edge stiffness=\"1000\" damping=\"5\"/><contact contype=\"0\" conaffinity=\"0\"/></flexcomp>"
        )
    };
    let weight = "<body name=\"weight\" pos=\"0 0 0.5\"><freejoint/><geom size=\"0.05\" mass=\"2\" contype=\"0\" conaffinity=\"0\"/></body>";
    let rows = "<equality><connect body1=\"a_0\" body2=\"world\" anchor=\"0 0 0\"/><connect name=\"knot\" body1=\"a_2\" body2=\"b_0\" anchor=\"0 0 0\"/><connect name=\"hook\" body1=\"weight\" body2=\"b_2\" anchor=\"0 0 0.1\"/></equality>";
    let made = import_mjcf(&format!(
        "<worldbody>{}{}{weight}</worldbody>{rows}",
        rope("a", "0 0 0.9"),
        rope("b", "0 0 0.7")
    ))
    .unwrap();
    assert!(
        made.scene.contains(
            "Mapped(name: \"a_0-world.gap\", parents: [\"a\"], mapping: Difference(pairs: [(0, (0, 0, 1))]))"
        ),
        "{}",
        made.scene
    );
    let mut runner = runner(&made.scene.replace(
        "duration: 2, step: 0.002",
        "duration: 20, step: 0.01, integrator: Theta",
    ));
    while !runner.is_done() {
        runner.step().unwrap();
    }
    let [a, b] = ["a", "b"].map(|name| points(&runner, node(&runner, name)));
    let hook = points(&runner, node(&runner, "hook.point"))[0];
    // The weights below each link, over its stiffness; masses of 0.1 kg at each vertex.
    let (mut height, mut below) = (1.0, 2.6);
    for (vertex, place) in a.iter().chain(&b[1..]).enumerate() {
        assert!(
            (place - Vec3::new(0.0, 0.0, height)).norm() < 1e-6,
            "{vertex}: {place} {height}"
        );
        below -= if vertex == 2 { 0.2 } else { 0.1 };
        height -= 0.1 + below * 9.81 / 1000.0;
    }
    assert!(
        (a[2] - b[0]).norm() < 1e-6 && (hook - b[2]).norm() < 1e-6,
        "{hook}"
    );
}

#[test]
fn vertices_start_at_the_keyframe() {
    let bodies = "<body name=\"b\" euler=\"0 0 90\"><flexcomp name=\"f\" dim=\"1\" count=\"3 1 1\" spacing=\"0.1 0.1 0.1\"><pin id=\"0\"/><edge stiffness=\"5\" damping=\"1\"/></flexcomp></body>";
    let key = "<keyframe><key name=\"home\" qpos=\"0.01 0.02 0.03 0.04 0.05 0.06\"/></keyframe>";
    let made = import_mjcf(&format!("<worldbody>{bodies}</worldbody>{key}")).unwrap();
    // Slides are along the axes of the body, and springs are at rest where the file has the points.
    for expected in [
        "positions: [(0, -0.1, 0), (-0.02, 0.01, 0.03), (-0.05, 0.14, 0.06)]",
        "Distance(pairs: [(0, 1), (1, 2)], rest: [0.1, 0.1])",
        "fixed: [\n        (node: \"f\", elements: [0]),",
    ] {
        assert!(made.scene.contains(expected), "{expected}\n{}", made.scene);
    }
    let key = key.replace("0.01 0.02", "0.01");
    let wrong = import_mjcf(&format!("<worldbody>{bodies}</worldbody>{key}")).unwrap_err();
    assert!(wrong.contains("5 numbers, and the model 6"), "{wrong}");
}

#[test]
fn what_is_not_taken_of_deformables_is_told() {
    let comp = |inside: &str| {
        let made = import_mjcf(&format!(
            "<worldbody><body name=\"b\">{inside}</body></worldbody>"
        ));
        made.unwrap_or_else(|e| panic!("{e}"))
    };
    for (inside, told) in [
        (
            "<flexcomp name=\"f\" type=\"box\" dim=\"3\" count=\"3 3 3\" dof=\"radial\"/>",
            "freedom `radial`",
        ),
        (
            "<flexcomp name=\"f\" dim=\"3\" count=\"3 3 3\" dof=\"trilinear\"/>",
            "freedom `trilinear`",
        ),
        ("<flexcomp name=\"f\" count=\"3 3 1\" rigid=\"true\"/>", "rigid"),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><pin range=\"0 8\"/></flexcomp>",
            "rigid",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><plugin plugin=\"p\"/></flexcomp>",
            "`plugin` in `flexcomp`",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><contact solref=\"0.01 1\"/></flexcomp>",
            "`solref` of `contact`",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><contact internal=\"true\"/></flexcomp>",
            "within cells",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><contact passive=\"true\"/></flexcomp>",
            "passive",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><edge equality=\"strain\"/></flexcomp>",
            "rows on strains",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><elasticity yield=\"1 1\"/></flexcomp>",
            "`yield` of `elasticity`",
        ),
        (
            "<flexcomp name=\"f\" dim=\"1\" count=\"3 1 1\"><elasticity young=\"1\"/></flexcomp>",
            "the twist of lines",
        ),
        (
            "<flexcomp name=\"f\" dim=\"1\" count=\"3 1 1\"><elasticity young=\"1\" section=\"box\"/></flexcomp>",
            "no circle",
        ),
        (
            "<flexcomp name=\"f\" dim=\"1\" type=\"circle\" count=\"5 1 1\"><elasticity young=\"1\"/></flexcomp>",
            "not straight",
        ),
        (
            "<flexcomp name=\"f\" type=\"mesh\" file=\"a.obj\"/>",
            "without its mesh",
        ),
        (
            "<composite type=\"cable\" count=\"4 1 1\"/>",
            "`composite` in `body`",
        ),
    ] {
        let made = comp(inside);
        assert!(remarked(&made, told), "{inside}: {:?}", made.remarks);
        assert!(
            made.remarks.iter().any(|r| r.to_string().contains("m.xml:2")),
            "{inside}"
        );
    }
    let skin = "<worldbody><flexcomp name=\"f\" count=\"3 3 1\"/></worldbody><deformable><skin name=\"s\"/></deformable>";
    assert!(remarked(&import_mjcf(skin).unwrap(), "`skin` in `deformable`"));
    let tied = "<worldbody><body name=\"b\"><freejoint/><geom size=\"1\"/></body><flexcomp name=\"f\" count=\"3 3 1\"/></worldbody><equality><weld body1=\"f_0\" body2=\"b\"/><connect body1=\"f_0\" body2=\"b\" anchor=\"0 0 1\"/></equality>";
    let made = import_mjcf(tied).unwrap();
    assert!(
        remarked(&made, "is welded") && remarked(&made, "beside a vertex"),
        "{:?}",
        made.remarks
    );
}

#[test]
fn wrong_deformables_are_errors_with_a_place() {
    for (inside, expected) in [
        ("<flexcomp count=\"3 3 1\"/>", "`flexcomp` has no `name`"),
        ("<flexcomp name=\"f\" type=\"gird\"/>", "did you mean `grid`"),
        ("<flexcomp name=\"f\"/>", "10 along z, and a plane has 1"),
        ("<flexcomp name=\"f\" dim=\"4\"/>", "`dim` is 4"),
        ("<flexcomp name=\"f\" count=\"3 3\"/>", "`count` has 2 numbers"),
        ("<flexcomp name=\"f\" count=\"3 -3 1\"/>", "no count"),
        ("<flexcomp name=\"f\" count=\"1 1 1\"/>", "has no cells"),
        (
            "<flexcomp name=\"f\" count=\"100000 100000 1\"/>",
            "more than 200000 points",
        ),
        (
            "<flexcomp name=\"f\" type=\"box\" dim=\"3\" count=\"3 3 1\"/>",
            "too small for a `box`",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\" spacing=\"0.1 0.001 0.1\"/>",
            "`spacing` is below twice",
        ),
        ("<flexcomp name=\"f\" count=\"3 3 1\" mass=\"0\"/>", "`mass` is 0"),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\" radius=\"0\"/>",
            "`radius` must be above zero",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><pin id=\"9\"/></flexcomp>",
            "there are 9 points",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><pin range=\"1\"/></flexcomp>",
            "no two numbers",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><pin grid=\"3 0\"/></flexcomp>",
            "outside of the grid",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><elasticity young=\"1\" elastic2d=\"both\"/></flexcomp>",
            "needs a `thickness`",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><elasticity poisson=\"0.5\"/></flexcomp>",
            "below 1/2",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><edge stiffness=\"1\"/></flexcomp>",
            "of dimension 1",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><edge equality=\"true\"/><elasticity young=\"1\" thickness=\"1\" elastic2d=\"stretch\"/></flexcomp>",
            "do not go together",
        ),
        (
            "<flexcomp name=\"f\" count=\"3 3 1\"><contact selfcollide=\"no\"/></flexcomp>",
            "`selfcollide` cannot be `no`",
        ),
        (
            "<flexcomp name=\"f\" type=\"direct\" point=\"0 0 0 1 0 0 0 1 0\" element=\"0 1 3\"/>",
            "there are 3 vertices",
        ),
        (
            "<flexcomp name=\"f\" type=\"direct\" point=\"0 0 0 1 0 0 0 1 0\" element=\"0 1 1\"/>",
            "a vertex twice",
        ),
        (
            "<flexcomp name=\"f\" type=\"direct\" point=\"0 0 0 1\" element=\"0 1 2\"/>",
            "no three numbers",
        ),
        (
            "<body name=\"f_1\"/><flexcomp name=\"f\" count=\"3 3 1\"/>",
            "which is there already",
        ),
    ] {
        let made = import_mjcf(&format!("<worldbody>{inside}</worldbody>"));
        let message = made.err().unwrap_or_else(|| panic!("{inside} is no error"));
        assert!(
            message.contains(expected) && message.contains("m.xml:2"),
            "{inside}: {message}"
        );
    }
    for (flex, expected) in [
        (
            "<flex name=\"f\" body=\"a b c\" element=\"0 1 2\"/>",
            "there is no body `c`",
        ),
        ("<flex name=\"f\" body=\"a b\" element=\"0 1 2\"/>", "2 names"),
        (
            "<flex name=\"f\" body=\"a b world\" vertex=\"0 0 0 1\" element=\"0 1 2\"/>",
            "no three numbers",
        ),
        ("<flex name=\"f\" element=\"0 1 2\"/>", "`flex` has no `body`"),
    ] {
        let bodies = "<worldbody><body name=\"a\"/><body name=\"b\"/></worldbody>";
        let message = import_mjcf(&format!("{bodies}<deformable>{flex}</deformable>")).unwrap_err();
        assert!(message.contains(expected), "{flex}: {message}");
    }
    let rows = "<worldbody/><equality><flex flex=\"g\"/></equality>";
    assert!(import_mjcf(rows).unwrap_err().contains("there is no flex `g`"));
}
