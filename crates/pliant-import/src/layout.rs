//! Links as bodies: which of them move together, where they are at the start, what has no mass.

use crate::geometry::{Frame, Inertia, symmetric, turn};
use crate::groups::{Group, groups};
use crate::robot::{Apart, Attachment, Course, Joint, Link, Motion, Robot, Vertex};
use crate::write::unused;
use crate::xml::Tree;
use pliant_dense::{Mat3, Vec3};
use std::collections::{HashMap, HashSet};

/// The inertia of a body that stands for a link without mass, as a share of what it carries; of its
/// mass if it can borrow none. A step does not see it: it is below the residual to which its
/// equations are solved. (Shares just above that residual cost it many iterations.)
const LIGHT: f64 = 1e-12;

/// The mass that such a body borrows from the one behind it, as a share of that one's. Between
/// heavy bodies on the ground, much less leaves contacts and limits too few digits to be solved.
const BORROWED: f64 = 1e-7;

/// The share of moments of inertia of such a body if it cannot turn, where they have no effect.
const STILL: f64 = 1e-7;

/// The bodies that the links of a robot become.
pub(crate) struct Layout {
    /// By link: the link whose body it is a part of; the world if none.
    pub(crate) owner: Vec<Option<usize>>,
    /// By link: its frame in that of its owner, or in the world.
    pub(crate) offset: Vec<Frame>,
    /// By link: its frame in the world at the start.
    pub(crate) start: Vec<Frame>,
    /// By link: velocity of its origin and angular velocity at the start, in the world.
    pub(crate) velocity: Vec<[Vec3; 2]>,
    /// By link: the inertia of its body in its frame, if it is the owner of one.
    pub(crate) inertia: Vec<Option<Inertia>>,
}

/// Puts a light body between joints of one link that are not one joint of the scene language.
pub(crate) fn split_chains(robot: &mut Robot, tree: &mut Tree) {
    let links = std::mem::take(&mut robot.links);
    // Light bodies leave their names to those that the file calls so.
    let mut taken: HashSet<String> = links.iter().map(|link| link.name.clone()).collect();
    let mut counts = HashMap::new();
    // Numbers of the links behind those that are put in.
    let mut number = Vec::with_capacity(links.len());
    let mut apart = std::mem::take(&mut robot.apart);
    for mut link in links {
        let mut parent = link.parent.map(|p| number[p]);
        let first = parent;
        if let Attachment::Joints(joints) = &mut link.attachment {
            let lengths: Vec<usize> = groups(joints).iter().map(|g| g.length).collect();
            let mut rest = std::mem::take(joints).into_iter();
            for (part, length) in lengths.iter().enumerate().take(lengths.len().saturating_sub(1)) {
                let own: Vec<Joint> = rest.by_ref().take(*length).collect();
                let name = own.iter().map(|j| j.name.as_str()).collect::<Vec<_>>().join("+");
                let name = unused(&mut taken, &mut counts, &format!("{}/{name}", link.name));
                robot.links.push(Link {
                    name,
                    parent,
                    frame: if part == 0 { link.frame } else { Frame::IDENTITY },
                    attachment: Attachment::Joints(own),
                    inertia: None,
                    colliders: Vec::new(),
                    drift: [Vec3::zeros(); 2],
                    spot: link.spot,
                });
                parent = Some(robot.links.len() - 1);
                link.frame = Frame::IDENTITY;
            }
            joints.extend(rest);
            if lengths.len() > 1 {
                let message = "several joints of one body, which are no single joint of a scene, are joined by light bodies";
                tree.remark(link.spot, message);
                robot.apart.extend(first.map(|first| Apart {
                    links: (first, robot.links.len()),
                    whole_bodies: true,
                }));
            }
        }
        link.parent = parent;
        number.push(robot.links.len());
        robot.links.push(link);
    }
    for pair in &mut apart {
        pair.links = (number[pair.links.0], number[pair.links.1]);
    }
    for (link, _) in robot.pairs.iter_mut().flat_map(|pair| &mut pair.colliders) {
        *link = number[*link];
    }
    let extras = &mut robot.extras;
    for point in &mut extras.points {
        point.link = number[point.link];
    }
    for site in &mut extras.sites {
        site.link = site.link.map(|link| number[link]);
    }
    for pull in &mut extras.pulls {
        pull.link = number[pull.link];
    }
    for lift in &mut extras.lifts {
        lift.link = number[lift.link];
    }
    for particle in &mut extras.particles {
        particle.parent = particle.parent.map(|link| number[link]);
    }
    for (link, _) in extras.flexes.iter_mut().flat_map(|flex| &mut flex.flat) {
        *link = link.map(|link| number[link]);
    }
    let ends = extras.ties.iter_mut().map(|tie| &mut tie.to);
    let vertices = extras.flexes.iter_mut().flat_map(|flex| &mut flex.vertices);
    for vertex in vertices.chain(ends) {
        if let Vertex::On(Some(link), _) = vertex {
            *link = number[*link];
        }
    }
    for line in &mut extras.lines {
        let points = line.points.iter_mut().map(|(link, _)| link);
        let surfaces = line.wraps.iter_mut().map(|wrap| &mut wrap.link);
        for link in points.chain(surfaces) {
            *link = link.map(|link| number[link]);
        }
    }
    for tendon in &mut robot.tendons {
        let Course::Lines(branches) = &mut tendon.course else {
            continue;
        };
        for (link, _) in branches.iter_mut().flat_map(|branch| &mut branch.points) {
            *link = link.map(|link| number[link]);
        }
    }
    for closure in &mut robot.closures {
        for side in [&mut closure.a.0, &mut closure.b.0] {
            *side = side.map(|link| number[link]);
        }
    }
    robot.apart.extend(apart);
}

/// The motion of a joint by its coordinate against its place at zero, in the frame of its link.
fn moved(joint: &Joint, coordinate: f64) -> Frame {
    match joint.motion {
        Motion::Slider => Frame::at(joint.axis * coordinate),
        Motion::Hinge if coordinate != 0.0 => {
            let rotation = turn(joint.axis, coordinate);
            let turned = Frame::turned(rotation);
            Frame {
                position: joint.anchor - turned.vector(joint.anchor),
                rotation,
            }
        }
        _ => Frame::IDENTITY,
    }
}

/// The motion of all joints of a link against its place at zero, by their coordinates.
fn displacement(link: &Link, coordinate: impl Fn(&Joint) -> f64) -> Frame {
    let add = |at: Frame, joint: &Joint| at.then(&moved(joint, coordinate(joint)));
    match &link.attachment {
        Attachment::Joints(joints) => joints.iter().fold(Frame::IDENTITY, add),
        _ => Frame::IDENTITY,
    }
}

/// Where links are at the start.
pub(crate) fn starts(links: &[Link]) -> Vec<Frame> {
    places(links, |joint| joint.start)
}

/// Where links are at these coordinates of joints.
pub(crate) fn places(links: &[Link], coordinate: impl Fn(&Joint) -> f64) -> Vec<Frame> {
    let mut places: Vec<Frame> = Vec::with_capacity(links.len());
    for link in links {
        let frame = link.frame.then(&displacement(link, &coordinate));
        places.push(match link.parent {
            Some(parent) => places[parent].then(&frame),
            None => frame,
        });
    }
    places
}

/// Velocities of the origins of links and angular velocities at the start, in the world.
fn velocities(links: &[Link], start: &[Frame]) -> Vec<[Vec3; 2]> {
    let mut out: Vec<[Vec3; 2]> = Vec::with_capacity(links.len());
    for (index, link) in links.iter().enumerate() {
        let outer = link.parent.map_or(Frame::IDENTITY, |p| start[p]);
        let origin = start[index].position;
        let [mut linear, mut angular] = link.drift.map(|v| outer.vector(v));
        if let Some(parent) = link.parent {
            let [v, w] = out[parent];
            linear += v + w.cross(&(origin - outer.position));
            angular += w;
        }
        let mut frame = outer.then(&link.frame);
        if let Attachment::Joints(joints) = &link.attachment {
            for joint in joints {
                let axis = frame.vector(joint.axis) * joint.speed;
                match joint.motion {
                    Motion::Slider => linear += axis,
                    Motion::Hinge => {
                        angular += axis;
                        linear += axis.cross(&(origin - frame.point(joint.anchor)));
                    }
                    Motion::Ball | Motion::Planar => {}
                }
                frame = frame.then(&moved(joint, joint.start));
            }
        }
        out.push([linear, angular]);
    }
    out
}

/// Parts links into bodies. Links that would move without mass are held where they are.
pub(crate) fn arrange(robot: &mut Robot, tree: &mut Tree) -> Layout {
    let start = starts(&robot.links);
    hold_massless(robot, tree);
    let count = robot.links.len();
    let mut layout = Layout {
        owner: Vec::with_capacity(count),
        offset: Vec::with_capacity(count),
        inertia: vec![None; count],
        velocity: velocities(&robot.links, &start),
        start,
    };
    for (index, link) in robot.links.iter().enumerate() {
        let rigid = matches!(link.attachment, Attachment::Rigid);
        let (owner, offset) = match (rigid, link.parent) {
            (false, _) => (Some(index), Frame::IDENTITY),
            (true, None) => (None, layout.start[index]),
            (true, Some(parent)) => {
                let frame = layout.offset[parent].then(&link.frame);
                (layout.owner[parent], frame)
            }
        };
        layout.owner.push(owner);
        layout.offset.push(offset);
        if let (Some(owner), Some(inertia)) = (owner, &link.inertia) {
            let seen = inertia.seen_from(&offset);
            let sum = layout.inertia[owner].map_or(seen, |so_far| so_far.with(&seen));
            layout.inertia[owner] = Some(sum);
        }
    }
    lighten(robot, tree, &mut layout);
    for (link, inertia) in robot.links.iter().zip(&mut layout.inertia) {
        if let Some(inertia) = inertia
            && let Some(message) = mend(inertia)
        {
            tree.remark(link.spot, format!("`{}` {message}", link.name));
        }
    }
    layout
}

/// Makes a tensor of inertia that of a body; says what was changed.
fn mend(inertia: &mut Inertia) -> Option<String> {
    /// Moments that are missing, as a share of the largest.
    const SMALL: f64 = 1e-6;
    /// Radius (m) of the ball that stands for a mass point.
    const POINT: f64 = 1e-3;
    let eigen = inertia.tensor.symmetric_eigen();
    let moments = eigen.eigenvalues;
    let largest = moments.max();
    if largest <= 0.0 {
        inertia.tensor = Mat3::identity() * (0.4 * inertia.mass * POINT * POINT);
        return Some("has mass and no moment of inertia: it is written as a ball of 1 mm".to_owned());
    }
    let mut mended = moments.map(|m| m.max(SMALL * largest));
    // The largest may be as much as the sum of both others; those are raised alike.
    let missing = 2.0 * largest - mended.sum();
    if missing > 1e-9 * largest {
        let which = mended.imax();
        for (index, moment) in mended.iter_mut().enumerate() {
            if index != which {
                *moment += 0.5 * missing;
            }
        }
    }
    if mended == moments {
        return None;
    }
    let turned = eigen.eigenvectors;
    inertia.tensor = symmetric(turned * Mat3::from_diagonal(&mended) * turned.transpose());
    let list = |v: Vec3| {
        v.iter()
            .map(|x| format!("{x:.4e}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    Some(format!(
        "has the inertia of no body, principal moments {} kg m^2: it is written with {}",
        list(moments),
        list(mended)
    ))
}

/// Links that would move but neither have mass nor carry any become rigid, and so do held ones
/// without mass of their own.
fn hold_massless(robot: &mut Robot, tree: &mut Tree) {
    // By link: whether anything behind it has mass, and whether its own body has.
    let mut heavy = vec![(false, false); robot.links.len()];
    for index in (0..robot.links.len()).rev() {
        let link = &mut robot.links[index];
        if link.inertia.is_some_and(|i| i.mass > 0.0) {
            heavy[index] = (true, true);
        }
        let (any, own) = heavy[index];
        let held = match link.attachment {
            Attachment::Rigid => false,
            Attachment::Held => !own,
            Attachment::Free | Attachment::Joints(_) => !any,
        };
        if held {
            let message = match &link.attachment {
                Attachment::Held => "a base without mass is a part of the world: it has no node".to_owned(),
                Attachment::Joints(joints) => {
                    let names: Vec<String> = joints.iter().map(|j| format!("`{}`", j.name)).collect();
                    format!(
                        "link `{}` has no mass, at the end of its joint: it does not move, and {} is left out",
                        link.name,
                        names.join(", ")
                    )
                }
                _ => format!("link `{}` has no mass: it does not move", link.name),
            };
            tree.remark(link.spot, message);
            link.frame = link.frame.then(&displacement(link, |joint| joint.start));
            link.attachment = Attachment::Rigid;
        }
        if let Some(parent) = link.parent {
            let rigid = matches!(link.attachment, Attachment::Rigid);
            heavy[parent].0 |= any;
            heavy[parent].1 |= rigid && own;
        }
    }
}

/// Gives bodies without mass, which carry others, a little of it.
fn lighten(robot: &Robot, tree: &mut Tree, layout: &mut Layout) {
    let mut carried: Vec<Option<Inertia>> = vec![None; robot.links.len()];
    let mut lightened = vec![false; robot.links.len()];
    let hinged = hinged(robot, layout);
    let turning = turning(&robot.links);
    for index in (0..robot.links.len()).rev() {
        let link = &robot.links[index];
        let whole = match (layout.inertia[index], carried[index]) {
            (Some(own), Some(others)) if own.mass > 0.0 => Some(own.with(&others)),
            (Some(own), None) => Some(own),
            (_, others) => others,
        };
        if let Some(whole) = whole
            && let Some(parent) = link.parent
        {
            let frame = layout.start[parent].inverse().then(&layout.start[index]);
            let seen = whole.seen_from(&frame);
            carried[parent] = Some(carried[parent].map_or(seen, |so_far| so_far.with(&seen)));
        }
        if layout.owner[index] != Some(index) || layout.inertia[index].is_some_and(|i| i.mass > 0.0) {
            continue;
        }
        let Some(others) = carried[index] else {
            continue;
        };
        // A ball whose radius of gyration is that of what it carries.
        let share = if turning[index] { LIGHT } else { STILL };
        let tensor = Mat3::identity() * (share * others.tensor.trace() / 3.0);
        let mut light = Inertia {
            mass: LIGHT * others.mass,
            centre: Vec3::zeros(),
            tensor,
        };
        if let Some(next) = hinged[index] {
            let share = if lightened[next.0] { 0.5 } else { BORROWED };
            if let Some((mass, centre)) = borrow(layout, index, next, share, 100.0 * light.mass) {
                light = Inertia { mass, centre, tensor };
            }
        }
        lightened[index] = true;
        layout.inertia[index] = Some(light);
        if !link.name.contains('/') {
            let name = &link.name;
            tree.remark(
                link.spot,
                format!(
                    "link `{name}` has no mass, but moves and carries others: it is written as a light body, of 1e-12 of what it carries, or with 1e-7 of the mass of the next body, which it takes from it at their joint"
                ),
            );
        }
    }
}

/// By link: whether it can turn. One that slides on slides from the world cannot.
fn turning(links: &[Link]) -> Vec<bool> {
    let mut out: Vec<bool> = Vec::with_capacity(links.len());
    for link in links {
        let own = match &link.attachment {
            Attachment::Rigid | Attachment::Held => false,
            Attachment::Free => true,
            Attachment::Joints(joints) => joints.iter().any(|j| j.motion != Motion::Slider),
        };
        out.push(own || link.parent.is_some_and(|p| out[p]));
    }
    out
}

/// By link: a link whose joint with its body leaves a point where it is, and this point in the
/// frame of that link.
fn hinged(robot: &Robot, layout: &Layout) -> Vec<Option<(usize, Vec3)>> {
    let mut out = vec![None; robot.links.len()];
    for (child, link) in robot.links.iter().enumerate() {
        if let Some(parent) = link.parent.and_then(|p| layout.owner[p])
            && let Some((group, _)) = groups_of(link).first()
            && matches!(
                group.kind,
                "Hinge" | "Universal" | "GimbalXyz" | "GimbalXzy" | "Ball"
            )
        {
            out[parent].get_or_insert((child, group.anchor));
        }
    }
    out
}

/// Mass that a body without mass takes from the one behind it, at a point that no motion of their
/// joint moves: there it makes no difference to which of both it belongs. Gives the mass, if it is
/// not less than the `least`, and the point in the frame of the link.
fn borrow(
    layout: &mut Layout,
    index: usize,
    (child, point): (usize, Vec3),
    share: f64,
    least: f64,
) -> Option<(f64, Vec3)> {
    let (mass, rest) = layout.inertia[child]?.without_point(share, point)?;
    if mass < least {
        return None;
    }
    layout.inertia[child] = Some(rest);
    let frame = layout.start[index].inverse().then(&layout.start[child]);
    Some((mass, frame.point(point)))
}

/// The joints of a link in groups; none if it has none.
pub(crate) fn groups_of(link: &Link) -> Vec<(Group, &[Joint])> {
    let Attachment::Joints(joints) = &link.attachment else {
        return Vec::new();
    };
    let mut rest = &joints[..];
    groups(joints)
        .into_iter()
        .map(|group| {
            let (own, behind) = rest.split_at(group.length);
            rest = behind;
            (group, own)
        })
        .collect()
}
