//! Lines through points of bodies, and what acts along them.

use super::Writer;
use super::tendons::SAME;
use super::wraps::{self, Obstacle};
use crate::geometry::Frame;
use crate::numbers::{number, position, text, tuple};
use crate::robot::{Along, Line, Muscle};
use pliant_dense::Vec3;
use std::collections::HashMap;

/// A point of a line in the frame of its link, in the world if none.
type End = (Option<usize>, Vec3);

/// Points of a line in the bodies that have them, in the world if none.
pub(super) type Course = Vec<(Option<usize>, Frame)>;

/// Lines through points, and what acts along them.
pub(super) fn write_lines(writer: &mut Writer<'_>) {
    let robot = writer.robot;
    for line in &robot.extras.lines {
        let Line {
            name,
            points,
            effect,
            spot,
            ..
        } = line;
        let points = match line.wraps.is_empty() {
            true => without_repeats(writer, points),
            // Surfaces know the points between which they are by their numbers.
            false => points.clone(),
        };
        let course = course(writer, &points);
        let obstacles = wraps::obstacles(writer, line, &course);
        let moves = |obstacle: &Obstacle| obstacle.owner != course[0].0;
        if is_still(&course) && !obstacles.iter().any(moves) {
            let message = "a line that stays in one body has no effect, and is left out";
            writer.tree.remark(*spot, message);
            continue;
        }
        if points
            .windows(2)
            .any(|pair| is_same_place(writer, &pair[0], &pair[1]))
        {
            let message = format!(
                "`{name}` is not taken: two neighbours of its points are at one place at the start, between which it has no direction"
            );
            writer.tree.remark(*spot, message);
            continue;
        }
        let line = writer.name(name);
        match obstacles.is_empty() {
            true => write_ropes(writer, &line, &line, &[course]),
            false => write_wrapped_rope(writer, &line, course, &obstacles),
        }
        act_along(writer, &line, name, effect);
    }
}

/// Whether two points are at one place at the start.
fn is_same_place(writer: &Writer<'_>, first: &End, second: &End) -> bool {
    let place = |(link, place): &End| match link {
        Some(link) => writer.layout.start[*link].point(*place),
        None => *place,
    };
    (place(first) - place(second)).norm() <= SAME
}

/// Points of a line without those that are where the ones before them are, in the same body.
fn without_repeats(writer: &Writer<'_>, points: &[End]) -> Vec<End> {
    let owner = |(link, _): &End| link.and_then(|link| writer.layout.owner[link]);
    let mut out: Vec<End> = Vec::with_capacity(points.len());
    for point in points {
        let again = |last: &End| owner(last) == owner(point) && is_same_place(writer, last, point);
        if !out.last().is_some_and(again) {
            out.push(*point);
        }
    }
    out
}

/// Points of links in the bodies of these.
pub(super) fn course(writer: &Writer<'_>, points: &[(Option<usize>, Vec3)]) -> Course {
    let points = points.iter();
    let points = points.map(|(link, place)| writer.in_body(*link, &Frame::at(*place)));
    points.collect()
}

/// Whether all points of a line are in one body.
pub(super) fn is_still(course: &Course) -> bool {
    course.windows(2).all(|pair| pair[0].0 == pair[1].0)
}

/// Writes the node of ropes through these points, with a node of points on each body, which are
/// named by what the ropes are of.
pub(super) fn write_ropes(writer: &mut Writer<'_>, node: &str, of: &str, courses: &[Course]) {
    let (parents, ropes) = write_points(writer, of, courses);
    let ropes: Vec<String> = ropes
        .iter()
        .map(|ends| format!("(points: [{}], rest: 0)", ends.join(", ")))
        .collect();
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: Rope(ropes: [{}])),",
        text(node),
        parents.join(", "),
        ropes.join(", ")
    ));
}

/// Writes the node of a rope that wraps around obstacles.
fn write_wrapped_rope(writer: &mut Writer<'_>, node: &str, course: Course, obstacles: &[Obstacle]) {
    let (mut parents, ropes) = write_points(writer, node, &[course]);
    for owner in obstacles.iter().filter_map(|obstacle| obstacle.owner) {
        let body = text(&writer.links[owner]);
        if !parents.contains(&body) {
            parents.push(body);
        }
    }
    let ends: Vec<String> = ropes.into_iter().flatten().collect();
    let obstacles: Vec<String> = obstacles
        .iter()
        .map(|obstacle| obstacle.text(&writer.links))
        .collect();
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: WrappedRope(ropes: [(points: [{}], obstacles: [{}], rest: 0)])),",
        text(node),
        parents.join(", "),
        ends.join(", "),
        obstacles.join(", ")
    ));
}

/// Writes a node of points on each body: the names of these nodes, and the points of each course.
fn write_points(writer: &mut Writer<'_>, of: &str, courses: &[Course]) -> (Vec<String>, Vec<Vec<String>>) {
    // The points of each body are a node, in the order in which the lines come by.
    let mut nodes: Vec<(usize, String, Vec<String>)> = Vec::new();
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let mut ropes = Vec::with_capacity(courses.len());
    for course in courses {
        let mut ends = Vec::with_capacity(course.len());
        for (owner, frame) in course {
            let place = tuple(&position(frame.position));
            let Some(owner) = owner else {
                ends.push(place);
                continue;
            };
            let next = nodes.len();
            let index = *numbers.entry(*owner).or_insert(next);
            if index == next {
                let name = writer.name(&format!("{of} on {}", writer.links[*owner]));
                nodes.push((*owner, name, Vec::new()));
            }
            let (_, node, places) = &mut nodes[index];
            ends.push(format!("({}, {})", text(node), places.len()));
            places.push(format!("(0, {place})"));
        }
        ropes.push(ends);
    }
    for (owner, node, places) in &nodes {
        writer.tendons.push(format!(
            "Mapped(name: {}, parents: [{}], mapping: RigidPoints(points: [{}])),",
            text(node),
            text(&writer.links[*owner]),
            places.join(", ")
        ));
    }
    let parents = nodes.iter().map(|(_, node, _)| text(node)).collect();
    (parents, ropes)
}

fn act_along(writer: &mut Writer<'_>, line: &str, name: &str, effect: &Along) {
    match effect {
        Along::Nothing => {}
        Along::Pull(gear) => {
            let parameter = writer.parameter(name, 0.0);
            let law = format!("Force([\"{} * ${parameter}\"])", number(-gear));
            writer.force(&format!("{line}.pull"), line, &law);
        }
        Along::Spring {
            stiffness,
            rest,
            slack,
        } => {
            let kind = if *slack { "TensionOnly" } else { "Linear" };
            let law = format!(
                "Spring(curve: {kind}({}), rest: {})",
                number(*stiffness),
                number(*rest)
            );
            writer.force(&format!("{line}.spring"), line, &law);
        }
        Along::Ligament {
            stiffness,
            slack_length,
            transition,
            damping,
        } => {
            let law = format!(
                "Ligament(stiffness: {}, slack_length: {}, transition_strain: {}, damping: {})",
                number(*stiffness),
                number(*slack_length),
                number(*transition),
                number(*damping)
            );
            writer.force(&format!("{line}.ligament"), line, &law);
        }
        Along::Muscle(muscle) => {
            let excitation = writer.parameter(name, 0.0);
            writer.force(&format!("{line}.muscle"), line, &law_of(muscle, &excitation));
        }
    }
}

/// The law of a muscle, as scenes have it.
fn law_of(muscle: &Muscle, excitation: &str) -> String {
    let mut keys = vec![
        format!("curves: {}", muscle.curves),
        format!("force: {}", number(muscle.force)),
        format!("optimal_length: {}", number(muscle.optimal_length)),
        format!("tendon_length: {}", number(muscle.tendon_length)),
        format!("pennation: {}", number(muscle.pennation)),
        format!("speed: {}", number(muscle.speed)),
    ];
    if let Some(damping) = muscle.damping {
        keys.push(format!("damping: {}", number(damping)));
    }
    keys.push(match muscle.tendon_strain {
        Some(strain) => format!("tendon_strain: {}", number(strain)),
        None => "rigid_tendon: true".to_owned(),
    });
    if let Some([rise, fall]) = muscle.dynamics {
        let (rise, fall) = (number(rise), number(fall));
        keys.push(format!("dynamics: (activation: {rise}, deactivation: {fall})"));
    }
    keys.push(format!("excitation: \"${excitation}\""));
    format!("MuscleTendon({})", keys.join(", "))
}
