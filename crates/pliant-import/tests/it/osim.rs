//! OpenSim models: against numbers of OpenSim (`osim.json`, made by `reference/generate_osim.py`),
//! and against what files say.

mod forces;
mod muscles;
mod wraps;

use crate::{imported, remarked, runner, scene};
use pliant::dense::rotation::matrix;
use pliant::dense::{Mat3, Vec3};
use pliant_import::{Format, ImportError, Imported, Options, import_text};
use pliant_scene::{BuiltScene, Settings};
use serde_json::Value;
use std::collections::BTreeMap;

/// Places and rotations: OpenSim assembles models with coupled coordinates to 1e-9.
const START: f64 = 1e-12;
/// Dynamics, relative: OpenSim's own assembly, and conditions below a thousand.
const DYNAMICS: f64 = 1e-9;
/// Half a second: OpenSim integrates with an accuracy of 1e-9 per step, ours is of fourth order at
/// 0.5 ms, with light bodies between axes of one joint. (At 1 ms the fast ball is off by 3e-5.)
const END: f64 = 1e-6;

fn reference() -> Value {
    serde_json::from_str(include_str!("osim.json")).unwrap()
}

fn list<const N: usize>(value: &Value) -> [f64; N] {
    let list = value.as_array().unwrap().iter();
    let list: Vec<f64> = list.map(|x| x.as_f64().unwrap()).collect();
    list.try_into().unwrap()
}

fn names(value: &Value) -> Vec<String> {
    let list = value.as_array().unwrap().iter();
    list.map(|x| x.as_str().unwrap().to_owned()).collect()
}

/// A scene without what acts in it, but for the force of that name with a control of one.
fn with_force(text: &str, force: Option<&str>) -> String {
    let mut out = String::new();
    let mut section = "";
    let mut springs = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if line.starts_with("    ") && !line.starts_with("     ") {
            section = trimmed;
        }
        if section.starts_with("joints:") {
            let of = |name: &str, joint: &str| {
                force == Some(name) && trimmed.starts_with(&format!("name: \"{joint}\""))
            };
            if trimmed.starts_with("name:") {
                springs = of("elbow_spring", "elbow_bend") || of("turn_spring", "forearm_turn");
            }
            let acts = ["springs:", "dampers:"]
                .iter()
                .any(|key| trimmed.starts_with(key));
            let bounds = ["limits:", "motors:"].iter().any(|key| trimmed.starts_with(key));
            if bounds || (acts && !springs) {
                continue;
            }
        }
        let list = ["force_fields:", "colliders:", "ignore:"]
            .iter()
            .any(|key| section.starts_with(key));
        if list
            && ["(", "Body(", "Fixed("]
                .iter()
                .any(|start| trimmed.starts_with(start))
        {
            let own = force.is_some_and(|name| trimmed.starts_with(&format!("(name: \"{name}")));
            if !own {
                continue;
            }
        }
        let line = match force {
            Some(name) if section.starts_with("parameters:") => {
                line.replace(&format!("\"{name}\": 0"), &format!("\"{name}\": 1"))
            }
            _ => line.to_owned(),
        };
        out += &line;
        out.push('\n');
    }
    out
}

/// By coordinate of the file, its place among the joints of the scene.
fn coordinates(scene: &BuiltScene) -> BTreeMap<String, (usize, usize)> {
    let mut out = BTreeMap::new();
    for (number, (name, _, handle)) in scene.joints.iter().enumerate() {
        let parts: Vec<&str> = name.split('+').collect();
        for (index, part) in parts.iter().enumerate() {
            let count = handle.coordinates.len();
            // Alone in a planar joint is the angle: what slides follows it.
            let index = if parts.len() == count {
                index
            } else {
                count.saturating_sub(1)
            };
            if count > 0 {
                out.insert((*part).to_owned(), (number, index));
            }
        }
    }
    out
}

fn check_dynamics(
    text: &str,
    file: &str,
    free: &[String],
    accelerations: &Value,
    mobility: Option<&Value>,
    tolerance: f64,
) {
    let scene = scene(text).build(&Settings::default()).unwrap();
    let known = coordinates(&scene);
    let own: Vec<(usize, String)> = free
        .iter()
        .enumerate()
        .filter(|(_, name)| known.contains_key(*name))
        .map(|(index, name)| (index, name.clone()))
        .collect();
    assert!(own.len() >= 7, "{file}: {own:?}");
    let node = |name: &String| scene.joints[known[name].0].2.coordinates[known[name].1];
    let nodes: Vec<_> = own.iter().map(|(_, name)| node(name)).collect();
    let mut runner = pliant_run::Runner::new(scene).unwrap();
    let found = runner.simulation_mut().coordinate_dynamics(&nodes, &[]).unwrap();
    // The coordinate of the scene is half of that of the file.
    let scale = |name: &str| if name == "forearm_turn" { 0.5 } else { 1.0 };
    let wanted = |name: &String| accelerations[name].as_f64().unwrap() * scale(name);
    let wanted: Vec<f64> = own.iter().map(|(_, name)| wanted(name)).collect();
    let largest = wanted.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for ((_, name), (found, wanted)) in own.iter().zip(found.accelerations.iter().zip(&wanted)) {
        let off = (found - wanted).abs();
        assert!(
            off <= tolerance * largest,
            "{file}: {name} is accelerated by {found} instead of {wanted}"
        );
    }
    let Some(mobility) = mobility else {
        return;
    };
    let entry = |i: usize, j: usize| {
        let value = mobility[own[i].0 * free.len() + own[j].0].as_f64().unwrap();
        value * scale(&own[i].1) * scale(&own[j].1)
    };
    for i in 0..own.len() {
        for j in 0..own.len() {
            let scale = (entry(i, i) * entry(j, j)).sqrt();
            let (found, wanted) = (found.mobility[i * own.len() + j], entry(i, j));
            let off = (found - wanted).abs();
            assert!(
                off <= tolerance * scale,
                "{file}: mobility {found} instead of {wanted} between {:?} and {:?}",
                own[i],
                own[j]
            );
        }
    }
}

/// The inverse of the mass matrix, and accelerations by gravity and velocities.
#[test]
fn dynamics_are_those_of_opensim() {
    for case in reference()["cases"].as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        let text = with_force(&imported(file, &Options::default()).scene, None);
        check_dynamics(
            &text,
            file,
            &names(&case["free"]),
            &case["accelerations"],
            Some(&case["mobility"]),
            DYNAMICS,
        );
    }
}

/// Accelerations with each force by itself: springs, actuators, a cord, a stop.
#[test]
fn forces_are_those_of_opensim() {
    for case in reference()["cases"].as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        let whole = imported(file, &Options::default()).scene;
        for (force, accelerations) in case["forces"].as_object().unwrap() {
            let text = with_force(&whole, Some(force));
            // The stiffness of a stop rises along a curve through sixteen points.
            let tolerance = if force == "knee_stop" { 2e-3 } else { DYNAMICS };
            check_dynamics(
                &text,
                &format!("{file}, {force}"),
                &names(&case["free"]),
                accelerations,
                None,
                tolerance,
            );
            // Without the force they are others.
            let without = with_force(&whole, None);
            assert_ne!(text, without, "{force}");
        }
    }
}

/// Nodes of the scene of bodies of the file: rotations, centres of mass, origins of welded parts.
fn check_places(simulation: &pliant::Simulation, expected: &Value, tolerance: f64, file: &str) {
    for (name, expected) in expected.as_object().unwrap() {
        let at = simulation.positions(simulation.model().node_named(name).unwrap());
        let turned =
            matrix([at[3], at[4], at[5], at[6]]) - Mat3::from_row_slice(&list::<9>(&expected["rotation"]));
        assert!(
            turned.norm() < tolerance,
            "{file}: {name} is turned by {:.1e}",
            turned.norm()
        );
        // The foot weighs with the toes.
        let key = match name.as_str() {
            "foot" => continue,
            "toes" => "origin",
            _ => "centre",
        };
        let off = Vec3::new(at[0], at[1], at[2]) - Vec3::from(list::<3>(&expected[key]));
        // Light bodies between the axes of a joint have 1e-7 of the mass of the next one.
        let tolerance = if name == "fore" {
            tolerance.max(1e-7)
        } else {
            tolerance
        };
        assert!(
            off.norm() < tolerance,
            "{file}: {name} is off by {:.1e} m",
            off.norm()
        );
    }
}

#[test]
fn bodies_start_where_those_of_opensim_do() {
    for case in reference()["cases"].as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        let runner = runner(&imported(file, &Options::default()).scene);
        check_places(runner.simulation(), &case["bodies"], START, file);
    }
}

#[test]
fn bodies_fall_as_those_of_opensim() {
    let reference = reference();
    let duration = reference["duration"].as_f64().unwrap();
    for case in reference["cases"].as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        let text = with_force(&imported(file, &Options::default()).scene, None);
        let run = text.lines().find(|line| line.trim().starts_with("run:")).unwrap();
        let text = text.replace(
            run,
            &format!("run: (duration: {duration}, step: 0.0005, integrator: Rattle4),"),
        );
        let mut runner = runner(&text);
        while !runner.is_done() {
            runner.step().unwrap();
        }
        check_places(runner.simulation(), &case["end"], END, file);
    }
}

/// A model with two slides, of which the second follows the first by a function.
fn coupled(function: &str) -> String {
    let joint = |name: &str, parent: &str| {
        format!(
            "<SliderJoint name=\"{name}_joint\"><socket_parent_frame>{parent}</socket_parent_frame>
             <socket_child_frame>/bodyset/{name}</socket_child_frame>
             <coordinates><Coordinate name=\"{name}\"><clamped>false</clamped></Coordinate></coordinates></SliderJoint>"
        )
    };
    let body =
        |name: &str| format!("<Body name=\"{name}\"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body>");
    format!(
        "<OpenSimDocument Version=\"40000\"><Model name=\"m\">
         <BodySet><objects>{}{}</objects></BodySet>
         <JointSet><objects>{}{}</objects></JointSet>
         <ConstraintSet><objects><CoordinateCouplerConstraint name=\"row\">
         <coupled_coordinates_function>{function}</coupled_coordinates_function>
         <independent_coordinate_names>a</independent_coordinate_names>
         <dependent_coordinate_name>b</dependent_coordinate_name>
         </CoordinateCouplerConstraint></objects></ConstraintSet></Model></OpenSimDocument>",
        body("a"),
        body("b"),
        joint("a", "/ground"),
        joint("b", "/ground"),
    )
}

fn import(text: &str, options: &Options) -> Result<Imported, ImportError> {
    import_text(Format::OpenSim, "m.osim", text, options)
}

fn told(text: &str) -> String {
    import(text, &Options::default()).unwrap_err().to_string()
}

/// Splines of OpenSim, within their points and beyond: a slide that follows starts at their values.
#[test]
fn splines_are_those_of_opensim() {
    for spline in reference()["splines"].as_array().unwrap() {
        let words = |key: &str| {
            let list = spline[key].as_array().unwrap().iter();
            list.map(Value::to_string).collect::<Vec<_>>().join(" ")
        };
        let function = format!(
            "<SimmSpline><x>{}</x><y>{}</y></SimmSpline>",
            words("x"),
            words("y")
        );
        let places = spline["places"].as_array().unwrap().iter();
        for (place, value) in places.zip(spline["values"].as_array().unwrap()) {
            let start = vec![("a".to_owned(), place.as_f64().unwrap())];
            let made = import(
                &coupled(&function),
                &Options {
                    start,
                    ..Options::default()
                },
            )
            .unwrap();
            let mut at = made
                .scene
                .lines()
                .filter_map(|line| line.trim().strip_prefix("// Starts at "));
            let found: f64 = at.next_back().unwrap().trim_end_matches('.').parse().unwrap();
            let value = value.as_f64().unwrap();
            // Rounding of some dozen operations on numbers of size one.
            assert!(
                (found - value).abs() < 1e-13,
                "{place}: {found} instead of {value}"
            );
        }
    }
}

#[test]
fn parts_of_a_leg_are_named_and_told() {
    let made = imported("leg.osim", &Options::default());
    for expected in [
        "gravity: (0, -9.80665, 0)",
        "name: \"forward+up+tilt\", kind: Planar",
        "name: \"hip_flexion+hip_adduction\", kind: Universal",
        "name: \"knee_angle\", kind: Planar",
        "limits: [(on: \"first_angle\", lower: -2, upper: 2)]",
        "// limits: [(on: \"angle\", lower: -2.1, upper: 0.2)],",
        "mapping: Curve(points: [(-2.1, ",
        "\"ankle_drive\": 0",
        "law: Force([\"20 * $ankle_drive\"])",
        "Mapped(name: \"soleus\", parents: [\"soleus on tibia\", \"soleus on foot\"], mapping: Rope(",
        "law: MuscleTendon(curves: Thelen2003, force: 3500, optimal_length: 0.05, tendon_length: 0.25, pennation: 0.43633231, speed: 10, tendon_strain: 0.033, dynamics: (activation: 0.015, deactivation: 0.05), excitation: \"$soleus\")",
        "Mapped(name: \"heel_marker\", parents: [\"foot\"], mapping: RigidPoints(",
        "shape: Plane(0, 1, 0)",
        "Body(name: \"heel\", body: (\"foot\", 0), shape: Sphere(0.03)",
        "friction: 0.7",
        "Mapped(name: \"toes\", parents: [\"foot\"], mapping: RigidFrames(",
    ] {
        assert!(made.scene.contains(expected), "{expected}\n{}", made.scene);
    }
    for expected in [
        "geometry of bodies is a picture only (",
        "`hip_rotation` is locked: it is held at -0.3 (",
        "contacts are hard",
        "leg.osim:",
    ] {
        assert!(remarked(&made, expected), "{expected}\n{:#?}", made.remarks);
    }
    // The leg falls onto its heel, with all that the scene has.
    let mut runner = runner(&made.scene);
    while runner.simulation().time() < 0.3 {
        runner.step().unwrap();
    }
}

/// A coordinate that an axis follows by a spline alone is a scalar of its own.
#[test]
fn coordinates_without_an_axis_of_their_own_are_scalars() {
    let axis = "<SimmSpline name=\"function\"><x>-1 0 1 2</x><y>-0.9 0.1 1 1.7</y></SimmSpline>";
    let text = format!(
        "<OpenSimDocument Version=\"40000\"><Model name=\"m\">
         <BodySet><objects><Body name=\"hand\"><mass>2</mass><mass_center>0.1 0 0</mass_center>
         <inertia>0.01 0.02 0.02 0 0 0</inertia></Body></objects></BodySet>
         <JointSet><objects><CustomJoint name=\"wrist\"><socket_parent_frame>/ground</socket_parent_frame>
         <socket_child_frame>/bodyset/hand</socket_child_frame>
         <coordinates><Coordinate name=\"deviation\"><default_value>0.4</default_value></Coordinate></coordinates>
         <SpatialTransform><TransformAxis name=\"rotation1\"><coordinates>deviation</coordinates><axis>0 0 1</axis>{axis}
         </TransformAxis></SpatialTransform></CustomJoint></objects></JointSet></Model></OpenSimDocument>"
    );
    let made = import(&text, &Options::default()).unwrap();
    assert!(
        made.scene.contains("Scalars(name: \"deviation\", values: [0.4]"),
        "{}",
        made.scene
    );
    // Whatever the coordinate, it is a pendulum about z: closed form by its angle.
    let mut runner = runner(&made.scene);
    let simulation = runner.simulation_mut();
    let at = simulation
        .positions(simulation.model().node_named("hand").unwrap())
        .to_vec();
    let angle = f64::atan2(at[1], at[0]);
    let node = simulation.model().node_named("wrist rotation1.angle").unwrap();
    let found = simulation
        .coordinate_dynamics(&[node], &[])
        .unwrap()
        .accelerations[0];
    let expected = -2.0 * 9.80665 * 0.1 * angle.cos() / (0.02 + 2.0 * 0.01);
    // The scalar has 1e-12 of the mass.
    assert!(
        (found - expected).abs() < 1e-9 * expected.abs(),
        "{found} {expected}"
    );
}

#[test]
fn followers_of_locked_coordinates_are_held() {
    let text = coupled("<PolynomialFunction><coefficients>2 0 1</coefficients></PolynomialFunction>")
        .replace(
            "<Coordinate name=\"a\">",
            "<Coordinate name=\"a\"><default_value>0.5</default_value><locked>true</locked>",
        );
    let made = import(&text, &Options::default());
    // Both are held, and a model in which nothing moves has no bodies.
    let made = made.unwrap();
    assert!(
        remarked(&made, "`a` is locked: it is held at 0.5")
            && remarked(&made, "`b` is locked: it is held at 1.5")
    );
    assert!(!made.scene.contains("Bodies("), "{}", made.scene);
}

#[test]
fn what_is_broken_is_an_error_with_its_place() {
    let leg = include_str!("../models/leg.osim");
    let arm = include_str!("../models/arm.osim");
    for (text, was, is, expected) in [
        (
            leg,
            "<mass>9</mass>",
            "<mass>nine</mass>",
            "`mass` has `nine` where a number is expected",
        ),
        (
            leg,
            "<mass>9</mass>",
            "<mass>-9</mass>",
            "`mass` is -9, which is below zero",
        ),
        (
            leg,
            "<parent_body>femur<",
            "<parent_body>femurr<",
            "did you mean `femur`?",
        ),
        (
            leg,
            "<Body name=\"tibia\">",
            "<Body name=\"femur\">",
            "the body `femur` is there twice",
        ),
        (leg, "PinJoint", "PimJoint", "joints have no kind `PimJoint`"),
        (
            leg,
            "<coordinates>knee_angle<",
            "<coordinates>knee_angel<",
            "did you mean `knee_angle`?",
        ),
        (leg, "<reverse>false<", "<reverse>true<", "is reversed"),
        (
            leg,
            "<reverse>false<",
            "<reverse>no<",
            "where it may be `true` or `false`",
        ),
        (
            leg,
            "<x>-2.1 -1.1 0.2</x>",
            "<x>-2.1 -1.1</x>",
            "2 numbers in `x` and 3 in `y`",
        ),
        (leg, "<x>-2.1 -1.1 0.2</x>", "<x>-2.1 -3 0.2</x>", "do not rise"),
        (
            leg,
            "floor heel",
            "floor hell",
            "there is no contact geometry `hell`",
        ),
        (
            leg,
            "Version=\"30000\"",
            "Version=\"10903\"",
            "before version 20000",
        ),
        (
            leg,
            "<axis>0 0 1</axis>",
            "<axis>0 0 0</axis>",
            "the axis has length zero",
        ),
        (
            leg,
            "<range>-2 2</range>",
            "<range>2 -2</range>",
            "nothing is between them",
        ),
        (
            arm,
            "/bodyset/cart<",
            "/bodyset/card<",
            "there is no frame `/bodyset/card`",
        ),
        (
            arm,
            "<socket_parent>../plate<",
            "<socket_parent>../bolt<",
            "in a circle",
        ),
        (
            arm,
            "name=\"first\"",
            "name=\"second\"",
            "the coordinate `second` is there twice",
        ),
        (
            arm,
            "<coordinate>travel<",
            "<coordinate>travels<",
            "did you mean `travel`?",
        ),
    ] {
        assert!(text.contains(was), "{was}");
        let told = told(&text.replacen(was, is, if was == "PinJoint" { 2 } else { 1 }));
        assert!(
            told.contains(expected) && told.contains("--> m.osim:"),
            "{expected}: {told}"
        );
    }
    for (text, expected) in [
        ("<OpenSimDocument Version=\"40000\"/>", "has no `Model`"),
        (
            "<OpenSimDocument Version=\"40000\"><Model/></OpenSimDocument>",
            "has no bodies",
        ),
        (
            "<OpenSimDocument><Model/></OpenSimDocument>",
            "before version 20000",
        ),
    ] {
        assert!(told(text).contains(expected), "{}", told(text));
    }
}
