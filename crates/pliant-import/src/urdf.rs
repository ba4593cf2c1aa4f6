//! URDF: links with inertia and collision shapes, joined by joints.

use crate::error::ImportError;
use crate::geometry::{Frame, Inertia, roll_pitch_yaw};
use crate::meshes::Meshes;
use crate::options::Options;
use crate::robot::{Apart, Attachment, Collider, Effects, Extras, Gear, Joint, Link, Motion, Robot, Shape};
use crate::xml::{Tree, XACRO};
use pliant_dense::{Mat3, Vec3};
use pliant_scene::hint;
use std::collections::{HashMap, VecDeque};

type Result<T> = std::result::Result<T, ImportError>;

/// Gravity of URDF files, which say nothing of it.
const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];
/// Length of a step (s).
const STEP: f64 = 0.005;

/// A joint as the file has it.
struct Edge {
    element: usize,
    name: String,
    parent: usize,
    child: usize,
}

/// Reads the robot whose element this is.
pub(crate) fn robot(tree: &mut Tree, root: usize, options: &Options, meshes: &mut Meshes) -> Result<Robot> {
    if let Some(of) = (root..tree.elements.len()).find(|of| tree.has_prefix(*of, "xacro")) {
        let element = &tree.elements[of];
        let message = format!("`xacro:{}` is no part of URDF", element.tag);
        return tree.wrong(element.spot, message, Some(XACRO.to_owned()));
    }
    let children = ["link", "joint", "material", "transmission", "gazebo"];
    tree.expect(root, &["name", "version"], &children);
    for (tag, why) in [
        ("material", "`material` is a colour"),
        (
            "transmission",
            "`transmission` is not taken: motors of a scene act on joints",
        ),
        ("gazebo", "`gazebo` is of another program"),
    ] {
        for element in tree.all(root, tag) {
            tree.remark(tree.elements[element].spot, why);
        }
    }
    let elements = tree.all(root, "link");
    let Some(first) = elements.first() else {
        return tree.wrong(
            tree.elements[root].spot,
            "the robot has no `link`".to_owned(),
            None,
        );
    };
    let first = *first;
    let names = named(tree, &elements)?;
    let edges = edges(tree, root, &names)?;
    let base = base(tree, &elements, &edges)?;
    let mut robot = Robot {
        title: tree.value(root, "name").unwrap_or("robot").to_owned(),
        gravity: GRAVITY,
        step: STEP,
        links: Vec::new(),
        materials: Vec::new(),
        gears: Vec::new(),
        closures: Vec::new(),
        tendons: Vec::new(),
        tendon_rows: Vec::new(),
        pairs: Vec::new(),
        material_pairs: Vec::new(),
        apart: Vec::new(),
        base_is_robot: true,
        friction_rule: None,
        extras: Extras::default(),
    };
    let base_name = tree.value(elements[base], "name").unwrap_or_default().to_owned();
    let spot = tree.elements[elements[base]].spot;
    tree.remark(
        spot,
        if options.floating {
            format!("the base `{base_name}` floats")
        } else {
            format!("the base `{base_name}` is held in the world (--floating lets it move)")
        },
    );
    let gravity = GRAVITY.map(|x| x.to_string()).join(", ");
    tree.remark(
        tree.elements[first].spot,
        format!("gravity is ({gravity}) m/s^2: z is up"),
    );
    assemble(tree, &elements, &edges, base, options, meshes, &mut robot)?;
    Ok(robot)
}

/// Numbers of the links by their names.
fn named(tree: &Tree, elements: &[usize]) -> Result<HashMap<String, usize>> {
    let mut names = HashMap::new();
    for (index, element) in elements.iter().enumerate() {
        let name = tree.needed(*element, "name")?;
        if names.insert(name.value.clone(), index).is_some() {
            return tree.wrong(
                name.spot,
                format!("the link `{}` is there twice", name.value),
                None,
            );
        }
    }
    Ok(names)
}

fn edges(tree: &Tree, root: usize, names: &HashMap<String, usize>) -> Result<Vec<Edge>> {
    let mut list: Vec<&str> = names.keys().map(String::as_str).collect();
    list.sort_unstable();
    let end = |joint: usize, tag: &str| -> Result<usize> {
        let Some(element) = tree.child(joint, tag) else {
            return tree.wrong(
                tree.elements[joint].spot,
                format!("the joint has no `{tag}`"),
                None,
            );
        };
        let link = tree.needed(element, "link")?;
        match names.get(&link.value) {
            Some(index) => Ok(*index),
            None => {
                let help = hint(&link.value, "links", list.iter().copied());
                tree.wrong(link.spot, format!("there is no link `{}`", link.value), help)
            }
        }
    };
    let mut known = HashMap::new();
    let mut edges = Vec::new();
    for element in tree.all(root, "joint") {
        let name = tree.needed(element, "name")?;
        if known.insert(name.value.clone(), ()).is_some() {
            return tree.wrong(
                name.spot,
                format!("the joint `{}` is there twice", name.value),
                None,
            );
        }
        edges.push(Edge {
            element,
            name: name.value.clone(),
            parent: end(element, "parent")?,
            child: end(element, "child")?,
        });
    }
    Ok(edges)
}

/// The link that is nobody's child; all others must be a child once.
fn base(tree: &Tree, elements: &[usize], edges: &[Edge]) -> Result<usize> {
    let mut parents = vec![None; elements.len()];
    for edge in edges {
        if let Some(first) = parents[edge.child].replace(edge.name.as_str()) {
            let name = tree.value(elements[edge.child], "name").unwrap_or_default();
            let message = format!(
                "the link `{name}` is the child of two joints, `{first}` and `{}`",
                edge.name
            );
            let help = "URDF has trees only: loops are joints of the scene".to_owned();
            return tree.wrong(tree.elements[edge.element].spot, message, Some(help));
        }
    }
    let mut bases = (0..elements.len()).filter(|i| parents[*i].is_none());
    let name = |i: usize| tree.value(elements[i], "name").unwrap_or_default();
    let Some(base) = bases.next() else {
        let message = "every link is the child of a joint: the joints make a loop".to_owned();
        return tree.wrong(tree.elements[elements[0]].spot, message, None);
    };
    if let Some(other) = bases.next() {
        let message = format!(
            "no joint holds the links `{}` and `{}`: a robot has one base",
            name(base),
            name(other)
        );
        return tree.wrong(tree.elements[elements[other]].spot, message, None);
    }
    Ok(base)
}

/// Links, parents first, and what joins them.
fn assemble(
    tree: &mut Tree,
    elements: &[usize],
    edges: &[Edge],
    base: usize,
    options: &Options,
    meshes: &mut Meshes,
    robot: &mut Robot,
) -> Result<()> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); elements.len()];
    for (index, edge) in edges.iter().enumerate() {
        children[edge.parent].push(index);
    }
    let attachment = if options.floating {
        Attachment::Free
    } else {
        Attachment::Held
    };
    let mut open = VecDeque::from([(base, None, Frame::at(options.position.into()), attachment)]);
    let mut reached = vec![false; elements.len()];
    while let Some((index, parent, frame, attachment)) = open.pop_front() {
        reached[index] = true;
        let number = robot.links.len();
        let moving = matches!(attachment, Attachment::Joints(_));
        robot.links.push(link(tree, elements[index], meshes)?);
        let made = &mut robot.links[number];
        (made.parent, made.frame, made.attachment) = (parent, frame, attachment);
        if let Some(parent) = parent
            && moving
        {
            robot.apart.push(Apart {
                links: (parent, number),
                whole_bodies: true,
            });
        }
        for edge in &children[index] {
            let edge = &edges[*edge];
            let (frame, attachment) = joint(tree, edge, robot)?;
            open.push_back((edge.child, Some(number), frame, attachment));
        }
    }
    if let Some(lost) = reached.iter().position(|r| !r) {
        let message = "this link hangs in a loop of joints, apart from the base".to_owned();
        return tree.wrong(tree.elements[elements[lost]].spot, message, None);
    }
    Ok(())
}

/// Remarks on children of tags of which only the first counts.
fn once(tree: &mut Tree, of: usize, tags: &[&str]) {
    for tag in tags {
        for other in tree.all(of, tag).into_iter().skip(1) {
            let message = format!("a second `{tag}` of one `{}` is not taken", tree.elements[of].tag);
            tree.remark(tree.elements[other].spot, message);
        }
    }
}

/// Remarks on children of a joint that its type has no use for, unless they are all zero.
fn useless(tree: &mut Tree, joint: usize, kind: &str, tags: &[&str]) {
    let zero = |value: &str| value.split_whitespace().all(|x| x.parse() == Ok(0.0));
    for tag in tags {
        if let Some(element) = tree.child(joint, tag)
            && !tree.own_attributes(element).iter().all(|a| zero(&a.value))
        {
            let spot = tree.elements[element].spot;
            tree.remark(spot, format!("`{tag}` of a {kind} joint is not taken"));
        }
    }
}

/// The frame of an `origin`; none if there is none.
fn origin(tree: &mut Tree, of: usize) -> Result<Frame> {
    let Some(element) = tree.child(of, "origin") else {
        return Ok(Frame::IDENTITY);
    };
    tree.expect(element, &["xyz", "rpy"], &[]);
    let position = tree.numbers::<3>(element, "xyz")?.unwrap_or_default();
    let angles = tree.numbers::<3>(element, "rpy")?.unwrap_or_default();
    Ok(Frame {
        position: position.into(),
        rotation: roll_pitch_yaw(angles),
    })
}

fn link(tree: &mut Tree, element: usize, meshes: &mut Meshes) -> Result<Link> {
    tree.expect(element, &["name"], &["inertial", "visual", "collision"]);
    once(tree, element, &["inertial"]);
    let name = tree.needed(element, "name")?.value.clone();
    for visual in tree.all(element, "visual") {
        tree.remark(tree.elements[visual].spot, "`visual` is a picture only");
    }
    let mut colliders = Vec::new();
    for collision in tree.all(element, "collision") {
        colliders.extend(collider(tree, collision, &name, meshes)?);
    }
    Ok(Link {
        parent: None,
        frame: Frame::IDENTITY,
        attachment: Attachment::Rigid,
        inertia: inertia(tree, element)?,
        colliders,
        drift: [Vec3::zeros(); 2],
        spot: tree.elements[element].spot,
        name,
    })
}

fn inertia(tree: &mut Tree, link: usize) -> Result<Option<Inertia>> {
    let Some(element) = tree.child(link, "inertial") else {
        return Ok(None);
    };
    let spot = tree.elements[element].spot;
    tree.expect(element, &[], &["origin", "mass", "inertia"]);
    once(tree, element, &["origin", "mass", "inertia"]);
    let frame = origin(tree, element)?;
    let mass = match tree.child(element, "mass") {
        Some(mass) => {
            tree.expect(mass, &["value"], &[]);
            tree.needed(mass, "value")?;
            tree.not_negative(mass, "value")?.unwrap_or_default()
        }
        None => 0.0,
    };
    let mut tensor = Mat3::zeros();
    if let Some(of) = tree.child(element, "inertia") {
        tree.expect(of, &["ixx", "ixy", "ixz", "iyy", "iyz", "izz"], &[]);
        for (name, row, column) in [
            ("ixx", 0, 0),
            ("iyy", 1, 1),
            ("izz", 2, 2),
            ("ixy", 0, 1),
            ("ixz", 0, 2),
            ("iyz", 1, 2),
        ] {
            // A product that is left out is zero; a moment is not.
            if row == column {
                tree.needed(of, name)?;
            }
            let entry = tree.number(of, name)?.unwrap_or_default();
            tensor[(row, column)] = entry;
            tensor[(column, row)] = entry;
        }
    }
    if mass == 0.0 {
        let what = if tensor == Mat3::zeros() {
            ""
        } else {
            " but moments of inertia, which no body has"
        };
        tree.remark(spot, format!("`inertial` has no mass{what}: it is left out"));
        return Ok(None);
    }
    let own = Inertia {
        mass,
        centre: Vec3::zeros(),
        tensor,
    };
    Ok(Some(own.seen_from(&frame)))
}

fn collider(tree: &mut Tree, element: usize, link: &str, meshes: &mut Meshes) -> Result<Option<Collider>> {
    tree.expect(element, &["name"], &["origin", "geometry"]);
    once(tree, element, &["origin", "geometry"]);
    let frame = origin(tree, element)?;
    let spot = tree.elements[element].spot;
    let Some(geometry) = tree.child(element, "geometry") else {
        return tree.wrong(spot, "`collision` has no `geometry`".to_owned(), None);
    };
    tree.expect(geometry, &[], &["box", "sphere", "cylinder", "capsule", "mesh"]);
    let Some(shape) = tree.elements[geometry].children.first().copied() else {
        tree.remark(spot, "`geometry` is empty: there is nothing to collide with");
        return Ok(None);
    };
    let shapes = tree.elements[geometry].children.clone();
    for other in shapes.into_iter().skip(1) {
        let spot = tree.elements[other].spot;
        tree.remark(spot, "a second shape of one `geometry` is not taken");
    }
    let tag = tree.elements[shape].tag.clone();
    let shape = match tag.as_str() {
        "box" => {
            tree.expect(shape, &["size"], &[]);
            tree.needed(shape, "size")?;
            let size = tree.numbers::<3>(shape, "size")?.unwrap_or_default();
            positive(tree, shape, &size)?.then_some(Shape::Box(size))
        }
        "sphere" => {
            tree.expect(shape, &["radius"], &[]);
            tree.needed(shape, "radius")?;
            let radius = tree.number(shape, "radius")?.unwrap_or_default();
            positive(tree, shape, &[radius])?.then_some(Shape::Sphere(radius))
        }
        "cylinder" | "capsule" => {
            tree.expect(shape, &["radius", "length"], &[]);
            tree.needed(shape, "radius")?;
            tree.needed(shape, "length")?;
            let radius = tree.number(shape, "radius")?.unwrap_or_default();
            let length = tree.number(shape, "length")?.unwrap_or_default();
            let made = if tag == "cylinder" {
                Shape::Cylinder { radius, length }
            } else {
                Shape::Capsule { radius, length }
            };
            positive(tree, shape, &[radius, length])?.then_some(made)
        }
        "mesh" => mesh(tree, shape, meshes)?,
        // Remarked on by `expect`.
        _ => None,
    };
    let name = tree
        .value(element, "name")
        .filter(|n| !n.is_empty())
        .unwrap_or(link)
        .to_owned();
    Ok(shape.map(|shape| Collider {
        name,
        shape,
        frame,
        material: None,
        bits: (1, 1),
    }))
}

/// Whether all sizes are positive; a remark if one is zero, an error if one is less.
fn positive(tree: &mut Tree, shape: usize, sizes: &[f64]) -> Result<bool> {
    let spot = tree.elements[shape].spot;
    let tag = tree.elements[shape].tag.clone();
    if sizes.iter().any(|x| *x < 0.0) {
        return tree.wrong(spot, format!("`{tag}` has a negative size"), None);
    }
    if sizes.contains(&0.0) {
        tree.remark(spot, format!("`{tag}` has a size of zero: it does not collide"));
        return Ok(false);
    }
    Ok(true)
}

fn mesh(tree: &mut Tree, element: usize, meshes: &mut Meshes) -> Result<Option<Shape>> {
    tree.expect(element, &["filename", "scale"], &[]);
    let file = tree.needed(element, "filename")?.clone();
    // Some exporters write one number.
    let scale = match tree.list(element, "scale")?.as_deref() {
        None => [1.0; 3],
        Some([s]) => [*s; 3],
        Some([x, y, z]) => [*x, *y, *z],
        Some(_) => return tree.numbers::<3>(element, "scale").map(|_| None),
    };
    Ok(meshes.hull(tree, file.spot, &file.value, scale))
}

/// The frame of a joint in its parent, and how it lets its child move.
fn joint(tree: &mut Tree, edge: &Edge, robot: &mut Robot) -> Result<(Frame, Attachment)> {
    let element = edge.element;
    let spot = tree.elements[element].spot;
    let children = ["origin", "parent", "child", "axis", "limit", "dynamics", "mimic"];
    tree.expect(element, &["name", "type"], &children);
    once(tree, element, &children);
    for tag in ["parent", "child"] {
        if let Some(end) = tree.child(element, tag) {
            tree.expect(end, &["link"], &[]);
        }
    }
    let frame = origin(tree, element)?;
    let kind = tree.needed(element, "type")?.clone();
    let motion = match kind.value.as_str() {
        "fixed" => {
            useless(tree, element, "fixed", &["limit", "dynamics", "mimic"]);
            return Ok((frame, Attachment::Rigid));
        }
        "floating" => {
            useless(tree, element, "floating", &["axis", "limit", "dynamics", "mimic"]);
            return Ok((frame, Attachment::Free));
        }
        "revolute" | "continuous" => Motion::Hinge,
        "prismatic" => Motion::Slider,
        "planar" => Motion::Planar,
        other => {
            let kinds = [
                "fixed",
                "revolute",
                "continuous",
                "prismatic",
                "floating",
                "planar",
            ];
            let help = hint(other, "types", kinds);
            return tree.wrong(kind.spot, format!("joints have no type `{other}`"), help);
        }
    };
    let mut joint = Joint {
        name: edge.name.clone(),
        motion,
        anchor: Vec3::zeros(),
        axis: axis(tree, element)?,
        start: 0.0,
        speed: 0.0,
        scale: 1.0,
        reference: 0.0,
        rest: 0.0,
        follows: false,
        effects: effects(tree, element, &kind.value)?,
        spot,
    };
    if let Some(mimic) = tree.child(element, "mimic") {
        tree.expect(mimic, &["joint", "multiplier", "offset"], &[]);
        let other = tree.needed(mimic, "joint")?.value.clone();
        let ratio = tree.number(mimic, "multiplier")?.unwrap_or(1.0);
        joint.start = tree.number(mimic, "offset")?.unwrap_or_default();
        robot.gears.push(Gear {
            name: format!("{}.mimic", edge.name),
            first: edge.name.clone(),
            second: other,
            ratio: -ratio,
            spot: tree.elements[mimic].spot,
        });
    }
    Ok((frame, Attachment::Joints(vec![joint])))
}

fn axis(tree: &mut Tree, joint: usize) -> Result<Vec3> {
    let Some(element) = tree.child(joint, "axis") else {
        return Ok(Vec3::x());
    };
    tree.expect(element, &["xyz"], &[]);
    let given: Vec3 = tree
        .numbers::<3>(element, "xyz")?
        .unwrap_or([1.0, 0.0, 0.0])
        .into();
    let size = given.amax();
    if size == 0.0 {
        return tree.wrong(
            tree.elements[element].spot,
            "the axis has length zero".to_owned(),
            None,
        );
    }
    Ok((given / size).normalize())
}

fn effects(tree: &mut Tree, joint: usize, kind: &str) -> Result<Effects> {
    let mut effects = Effects::default();
    match tree.child(joint, "limit") {
        Some(limit) => limits(tree, limit, kind, &mut effects)?,
        None if kind == "revolute" || kind == "prismatic" => {
            let message = format!("a {kind} joint without `limit` has no limits");
            tree.remark(tree.elements[joint].spot, message);
        }
        None => {}
    }
    if let Some(dynamics) = tree.child(joint, "dynamics") {
        tree.expect(dynamics, &["damping", "friction"], &[]);
        effects.damping = tree.not_negative(dynamics, "damping")?.unwrap_or_default();
        effects.friction = tree.not_negative(dynamics, "friction")?.unwrap_or_default();
    }
    Ok(effects)
}

/// Limits of the coordinate of a joint, and what the file says of its drive.
fn limits(tree: &mut Tree, limit: usize, kind: &str, effects: &mut Effects) -> Result<()> {
    tree.expect(limit, &["lower", "upper", "effort", "velocity"], &[]);
    let spot = tree.elements[limit].spot;
    let finite = |x: Option<f64>| x.filter(|x| x.is_finite());
    let (lower, upper) = (tree.bound(limit, "lower")?, tree.bound(limit, "upper")?);
    if kind == "revolute" || kind == "prismatic" {
        if (lower, upper) == (None, None) {
            let message =
                "a `limit` without `lower` and `upper` holds its joint at zero: the format has zero for both";
            tree.remark(spot, message);
        }
        let (lower, upper) = (lower.unwrap_or_default(), upper.unwrap_or_default());
        if lower > upper {
            let message = format!("the limits are {lower} and {upper}: nothing is between them");
            return tree.wrong(spot, message, None);
        }
        (effects.lower, effects.upper) = (finite(Some(lower)), finite(Some(upper)));
    } else if [lower, upper].into_iter().flatten().any(|x| x != 0.0) {
        tree.remark(
            spot,
            format!("`lower` and `upper` of a {kind} joint are not taken"),
        );
    }
    let effort = finite(tree.bound(limit, "effort")?).filter(|x| *x > 0.0);
    let velocity = finite(tree.bound(limit, "velocity")?).filter(|x| *x > 0.0);
    if kind == "planar" || effort.is_none() {
        if effort.is_some() {
            tree.remark(spot, "`effort` of a planar joint is not taken");
        }
        if velocity.is_some() {
            let message = "`velocity` without `effort`, or of a planar joint, is not taken";
            tree.remark(spot, message);
        }
        return Ok(());
    }
    (effects.effort, effects.velocity) = (effort, velocity);
    let message = "`effort` and `velocity` bound drives, of which there are none: a motor with this force is a comment of the joint";
    tree.remark(spot, message);
    Ok(())
}
