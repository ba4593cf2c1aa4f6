//! Mass properties, places and motion of the models as MuJoCo has them.

use crate::{import_mjcf, imported, runner, scene};
use pliant::dense::rotation::matrix;
use pliant::dense::{Mat3, Vec3};
use pliant_import::{Imported, Options};
use pliant_run::Runner;
use pliant_scene::schema::{Body, Node, Rotation, Triple};
use pliant_scene::{Amount, Number, SceneFile, Settings, Units};
use serde_json::Value;

/// Places and tensors: rounding of some dozen operations, and the 15 digits that scenes have.
const START: f64 = 1e-12;
/// Motion of half a second: both methods are of fourth order, MuJoCo's at 0.1 ms and ours at 1 ms.
const END: f64 = 1e-8;
/// Motion with drives, which the method of fourth order does not take: the default is of second
/// order, and has 0.25 ms.
const END_OF_DRIVES: f64 = 1e-6;

/// Places at rest (m): MuJoCo's limits, rows and contacts give way, by 2 µm here, and its dry
/// friction creeps by 3 µm.
const REST: f64 = 1e-5;

pub(crate) fn reference() -> Value {
    serde_json::from_str(include_str!("reference.json")).unwrap()
}

pub(crate) fn list<const N: usize>(value: &Value) -> [f64; N] {
    let list: Vec<f64> = value
        .as_array()
        .unwrap()
        .iter()
        .map(|x| x.as_f64().unwrap())
        .collect();
    list.try_into().unwrap()
}

pub(crate) fn rows(value: &Value) -> Mat3 {
    Mat3::from_row_slice(&list::<9>(value))
}

fn number(amount: &Amount) -> f64 {
    match &amount.number {
        Number::Value(x) => *x,
        Number::Expression(text) => panic!("`{text}` is no number"),
    }
}

fn vector(triple: Option<&Triple<impl Units>>) -> Vec3 {
    triple.map_or_else(Vec3::zeros, |t| {
        Vec3::new(number(&t[0]), number(&t[1]), number(&t[2]))
    })
}

pub(crate) fn options(case: &Value) -> Options {
    let starts = case["start"].as_object().unwrap();
    Options {
        floating: case["floating"].as_bool().unwrap(),
        start: starts
            .iter()
            .map(|(n, x)| (n.clone(), x.as_f64().unwrap()))
            .collect(),
        self_collision: true,
        ..Options::default()
    }
}

#[test]
fn bodies_are_those_of_the_reference() {
    let reference = reference();
    for case in reference["cases"].as_array().unwrap() {
        let text = imported(case["file"].as_str().unwrap(), &options(case)).scene;
        check_bodies(&text, &case["bodies"]);
    }
}

#[test]
fn motion_is_that_of_the_reference() {
    let reference = reference();
    let duration = reference["duration"].as_f64().unwrap();
    for case in reference["cases"].as_array().unwrap() {
        let text = imported(case["file"].as_str().unwrap(), &options(case)).scene;
        let run = text.lines().find(|line| line.trim().starts_with("run:")).unwrap();
        let (how, tolerance) = match text.contains(".armature") {
            true => ("step: 0.00025", END_OF_DRIVES),
            false => ("step: 0.001, integrator: Rattle4", END),
        };
        let file = scene(&text);
        let text = text.replace(run, &format!("run: (duration: {duration}, {how}),"));
        // That method takes no limits; the coordinates stay within them, and nothing touches.
        let dropped = ["limits:", "Body(name", "Fixed(name", "(\""];
        let lines = text
            .lines()
            .filter(|line| !dropped.iter().any(|d| line.trim().starts_with(d)));
        let mut runner = runner(&lines.collect::<Vec<_>>().join("\n"));
        while !runner.is_done() {
            runner.step().unwrap();
        }
        let simulation = runner.simulation();
        for (name, expected) in case["end"].as_object().unwrap() {
            let node = |name| simulation.model().node_named(name).unwrap();
            let at = simulation.positions(node(name));
            let (mut mass, mut moment) = (0.0, Vec3::zeros());
            for (part, body) in parts(&file, name) {
                let at = simulation.positions(node(part));
                mass += mass_of(body);
                moment += Vec3::new(at[0], at[1], at[2]) * mass_of(body);
            }
            let off = moment / mass - Vec3::from(list::<3>(&expected["centre"]));
            assert!(
                off.norm() < tolerance,
                "{}: {name} is off by {:.1e} m",
                case["file"],
                off.norm()
            );
            let turned = matrix([at[3], at[4], at[5], at[6]]) - rows(&expected["rotation"]);
            assert!(
                turned.norm() < tolerance,
                "{}: {name} is turned by {:.1e}",
                case["file"],
                turned.norm()
            );
        }
    }
}

/// A model of the tests after six seconds, in which its bodies came to rest where the reference has
/// them.
pub(crate) fn at_rest(file: &str) -> Runner {
    let made = imported(file, &Options::default());
    let mut runner = runner(
        &made
            .scene
            .replace("duration: 2, step: 0.002", "duration: 6, step: 0.005"),
    );
    while !runner.is_done() {
        runner.step().unwrap();
    }
    let expected = &reference()["still"][file];
    assert!(expected["speed"].as_f64().unwrap() < 1e-6);
    let simulation = runner.simulation();
    for (name, centre) in expected["centres"].as_object().unwrap() {
        let found = simulation.positions(simulation.model().node_named(name).unwrap());
        for (found, expected) in found.iter().zip(list::<3>(centre)) {
            assert!((found - expected).abs() < REST, "{name}: {found} {expected}");
        }
    }
    runner
}

/// Accelerations of hinges and slides by unit forces along them, the inverse of the mass matrix,
/// and by gravity and springs, without drives and contacts.
#[test]
fn dynamics_are_those_of_the_reference() {
    let mut count = 0;
    for case in reference()["cases"].as_array().unwrap() {
        let text = imported(case["file"].as_str().unwrap(), &options(case)).scene;
        let scene = scene(&text).build(&Settings::default()).unwrap();
        let expected = &case["dynamics"];
        let names = expected["joints"].as_array().unwrap();
        // Several joints of one body are one joint here, with another name.
        let joint = |place: usize| {
            let name = names[place].as_str().unwrap();
            let found = scene.joints.iter().find(|(own, ..)| own == name)?;
            Some((place, found.2.clone()))
        };
        let joints: Vec<_> = (0..names.len()).filter_map(joint).collect();
        let nodes: Vec<_> = joints.iter().map(|(_, handle)| handle.coordinates[0]).collect();
        let motors: Vec<_> = joints
            .iter()
            .flat_map(|(_, handle)| handle.motors.clone())
            .collect();
        let mut runner = Runner::new(scene).unwrap();
        let simulation = runner.simulation_mut();
        let found = simulation.coordinate_dynamics(&nodes, &motors).unwrap();
        let check = |what: &str, found: f64, expected: &Value, scale: f64| {
            let expected = expected.as_f64().unwrap();
            // Systems whose conditions are below a thousand.
            let close = (found - expected).abs() <= 1e3 * START * scale.max(expected.abs());
            assert!(close, "{}: {what} {found} instead of {expected}", case["file"]);
        };
        for (i, (row, _)) in joints.iter().enumerate() {
            // Some drives are written as springs and forces, which are not left out.
            let driven = ["drives.xml", "winch.xml", "spokes.xml"];
            if !driven.iter().any(|file| case["file"] == *file) {
                check(
                    "acceleration",
                    found.accelerations[i],
                    &expected["accelerations"][row],
                    1.0,
                );
            }
            for (j, (column, _)) in joints.iter().enumerate() {
                let diagonal = found.mobility[i * joints.len() + i];
                let at = row * names.len() + column;
                check(
                    "mobility",
                    found.mobility[i * joints.len() + j],
                    &expected["mobility"][at],
                    diagonal,
                );
            }
        }
        count += joints.len();
    }
    assert!(count >= 18, "{count} joints are compared");
}

/// Forces and torques at sites, and dampers that a control sets, with the controls of a keyframe:
/// the boom turns so fast that the default method takes steps of 50 microseconds.
#[test]
fn driven_bodies_move_as_in_the_reference() {
    let made = imported("thrust.xml", &Options::default());
    let how = "duration: 0.3, step: 0.00005";
    let mut runner = runner(&made.scene.replace("duration: 2, step: 0.002", how));
    while !runner.is_done() {
        runner.step().unwrap();
    }
    let simulation = runner.simulation();
    let expected = &reference()["driven"]["thrust.xml"];
    assert_eq!(expected.as_object().unwrap().len(), 4);
    for (name, body) in expected.as_object().unwrap() {
        let at = simulation.positions(simulation.model().node_named(name).unwrap());
        let off = Vec3::new(at[0], at[1], at[2]) - Vec3::from(list::<3>(&body["centre"]));
        let turned = matrix([at[3], at[4], at[5], at[6]]) - rows(&body["rotation"]);
        assert!(
            off.norm() < END_OF_DRIVES,
            "{name} is off by {:.1e} m",
            off.norm()
        );
        assert!(
            turned.norm() < END_OF_DRIVES,
            "{name} is turned by {:.1e}",
            turned.norm()
        );
    }
}

/// A body of the file in a scene: mass, centre of mass, tensor about it and rotation.
struct Whole {
    mass: f64,
    centre: Vec3,
    tensor: Mat3,
    rotation: Mat3,
}

/// The names of the bodies of a scene that are one of the file: its own, and the light ones of its
/// hinges, which borrow 1e-7 of its mass. Others have 1e-12 in addition.
fn parts<'a>(scene: &'a SceneFile, name: &'a str) -> impl Iterator<Item = (&'a str, &'a Body)> {
    let is_part = move |own: &str| {
        own.strip_prefix(name)
            .is_some_and(|r| r.is_empty() || r.starts_with('/'))
    };
    let bodies = scene.schema().nodes.iter().filter_map(move |node| match node {
        Node::Bodies(bodies) if is_part(&bodies.name) => Some((bodies.name.as_str(), &bodies.bodies[0])),
        _ => None,
    });
    let largest = bodies.clone().map(|(_, body)| mass_of(body)).fold(0.0, f64::max);
    bodies.filter(move |(_, body)| mass_of(body) > 1e-10 * largest)
}

fn mass_of(body: &Body) -> f64 {
    body.mass.as_ref().map_or(0.0, |mass| number(mass))
}

/// A body of the file with what its light ones borrow from it.
fn whole(scene: &SceneFile, name: &str) -> Whole {
    let found: Vec<_> = parts(scene, name).collect();
    let (_, own) = found
        .iter()
        .find(|(part, _)| *part == name)
        .unwrap_or_else(|| panic!("{name} is not there"));
    let rotation = match &own.rotation {
        None => Mat3::identity(),
        Some(Rotation::Quaternion(q)) => matrix(q.each_ref().map(|part| number(part))),
        Some(Rotation::Axis(_)) => panic!("imports write quaternions"),
    };
    let mass: f64 = found.iter().map(|(_, body)| mass_of(body)).sum();
    let mut moment = Vec3::zeros();
    for (_, body) in &found {
        moment += vector(body.position.as_ref()) * mass_of(body);
    }
    let centre: Vec3 = moment / mass;
    let mut tensor = Mat3::zeros();
    for (part, body) in &found {
        let offset = vector(body.position.as_ref()) - centre;
        tensor += (Mat3::identity() * offset.norm_squared() - offset * offset.transpose()) * mass_of(body);
        // Tensors of light bodies are 1e-12 of those of others.
        if *part == name {
            let [x, y, z] = [0, 1, 2].map(|i| vector(body.inertia.as_ref())[i]);
            let [xy, xz, yz] = [0, 1, 2].map(|i| vector(body.products.as_ref())[i]);
            tensor += rotation * Mat3::new(x, xy, xz, xy, y, yz, xz, yz, z) * rotation.transpose();
        }
    }
    Whole {
        mass,
        centre,
        tensor,
        rotation,
    }
}

/// Checks bodies of a scene against those of the reference.
fn check_bodies(text: &str, expected: &Value) {
    let scene = scene(text);
    for (name, expected) in expected.as_object().unwrap() {
        let found = whole(&scene, name);
        let mass = expected["mass"].as_f64().unwrap();
        assert!(
            (found.mass / mass - 1.0).abs() < START,
            "{name}: {}\n{text}",
            found.mass
        );
        let wanted = rows(&expected["inertia"]);
        assert!(
            (found.tensor - wanted).norm() < START * wanted.norm(),
            "{name}: {} {wanted}\n{text}",
            found.tensor
        );
        let off = found.centre - Vec3::from(list::<3>(&expected["centre"]));
        assert!(off.norm() < START, "{name}: {off}\n{text}");
        assert!(
            (found.rotation - rows(&expected["rotation"])).norm() < START,
            "{name}\n{text}"
        );
    }
}

/// Hips of three hinges hit the ground with limits: bodies between hinges that have so little mass
/// that contacts lose their digits end this within a few steps.
#[test]
fn hips_of_three_hinges_hit_the_ground() {
    let mut runner = runner(&imported("legs.xml", &Options::default()).scene);
    while runner.simulation().time() < 0.5 {
        runner.step().unwrap();
    }
    let simulation = runner.simulation();
    let pelvis = simulation.positions(simulation.model().node_named("pelvis").unwrap());
    // Free fall would be 0.28 m below the ground.
    assert!(pelvis[2] > 0.09, "{pelvis:?}");
}

/// A slide from the world that carries three hinges, with much damping and dry friction: the body
/// between cannot turn, and with next to no moments of inertia no first step is found.
#[test]
fn a_forearm_slides_and_turns_with_friction() {
    let mut runner = runner(&imported("wrist.xml", &Options::default()).scene);
    while runner.simulation().time() < 0.05 {
        runner.step().unwrap();
    }
}

fn mjcf(parts: &str) -> Imported {
    import_mjcf(parts).unwrap_or_else(|e| panic!("{e}"))
}

/// Masses by `inertiafromgeom`, `boundmass`, `boundinertia` and `settotalmass`.
#[test]
fn masses_are_those_of_the_reference() {
    for case in reference()["masses"].as_array().unwrap() {
        check_bodies(&mjcf(case["text"].as_str().unwrap()).scene, &case["bodies"]);
    }
}

/// The number behind a key of a scene; zero if it is not there.
fn behind(text: &str, key: &str) -> f64 {
    let Some((_, rest)) = text.split_once(key) else {
        return 0.0;
    };
    let end = rest.find(|c: char| !"0123456789.e+-".contains(c));
    rest[..end.unwrap_or(rest.len())].parse().unwrap()
}

/// Gains, stiffnesses and dampings of actuators, most of them from classes of defaults: all kinds
/// share one set of them.
#[test]
fn actuators_are_those_of_the_reference() {
    for case in reference()["actuators"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let scene = mjcf(text).scene;
        let [gear, gain, stiffness, damping] =
            ["gear", "gain", "stiffness", "damping"].map(|key| case[key].as_f64().unwrap());
        let expected = [gain * gear, stiffness * gear * gear, damping * gear * gear];
        let found = match scene.contains("motors: [Position(") {
            true => {
                let stiffness = 1.0 / behind(&scene, "compliance: ");
                // A servo's gain is its stiffness, by its gear.
                let damping = stiffness * behind(&scene, "relaxation_time: ");
                [stiffness / gear, stiffness, damping]
            }
            false => [behind(&scene, "law: Force([\""), 0.0, behind(&scene, "damping: ")],
        };
        for (found, expected) in found.iter().zip(expected) {
            // Rounding of a quotient.
            let close = (found - expected).abs() <= 1e-14 * expected.abs();
            assert!(close, "{text}: {found} instead of {expected}\n{scene}");
        }
    }
}
