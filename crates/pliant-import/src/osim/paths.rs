//! Points that have names, and lines through points of bodies.

use super::ModelReader;
use super::frames::Place;
use super::properties::{name, objects};
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::robot::{Along, Line, Point};
use pliant_dense::Vec3;

type Result<T> = std::result::Result<T, ImportError>;

/// The most points of a rope of a scene.
const MOST_POINTS: usize = 1000;

/// Points in links, or in the world.
type Course = Vec<(Option<usize>, Vec3)>;

/// A point of a marker or a path: `location` in a frame.
fn read_place(reader: &ModelReader<'_>, of: usize, owner: &str) -> Result<Option<Place>> {
    let inside = Frame::at(
        reader
            .tree
            .numbers::<3>(of, "location")?
            .unwrap_or_default()
            .into(),
    );
    if let Some(body) = reader.tree.attribute(of, "body") {
        return reader.in_body(body, inside).map(Some);
    }
    match reader.socket(of, "parent_frame") {
        Some(socket) => {
            let (body, frame) = reader.resolve(owner, &socket)?;
            Ok(Some((body, frame.then(&inside))))
        }
        None => Ok(None),
    }
}

pub(super) fn read_markers(reader: &mut ModelReader<'_>, model: usize) -> Result<()> {
    for of in objects(reader.tree, model, "MarkerSet") {
        let known = ["name", "body", "location", "fixed", "socket_parent_frame"];
        reader.tree.expect(of, &known, &["connectors"]);
        let spot = reader.spot(of);
        let name = name(reader.tree, of).unwrap_or_else(|| "marker".to_owned());
        match read_place(reader, of, &format!("/markerset/{name}"))?.map(|place| reader.in_link(&place)) {
            Some((Some(link), frame)) => {
                let place = frame.position;
                reader.robot.extras.points.push(Point {
                    name,
                    link,
                    place,
                    spot,
                });
            }
            _ => reader.tree.remark(spot, "markers in the ground are not taken"),
        }
    }
    Ok(())
}

/// The points of a `GeometryPath`; none if some of them move, or it wraps around something.
pub(super) fn read_path(reader: &mut ModelReader<'_>, of: usize) -> Result<Option<Course>> {
    let Some(path) = reader.tree.child(of, "GeometryPath") else {
        return Ok(None);
    };
    if !objects(reader.tree, path, "PathWrapSet").is_empty() {
        return Ok(None);
    }
    let mut points = Vec::new();
    for point in objects(reader.tree, path, "PathPointSet") {
        if reader.tree.elements[point].tag != "PathPoint" {
            return Ok(None);
        }
        let own = reader.tree.value(of, "name").unwrap_or_default();
        let Some(place) = read_place(reader, point, &format!("/forceset/{own}"))? else {
            return Ok(None);
        };
        let (link, frame) = reader.in_link(&place);
        points.push((link, frame.position));
    }
    Ok((points.len() > 1).then_some(points))
}

/// A line and what acts along it.
pub(super) fn add_line(reader: &mut ModelReader<'_>, of: usize, name: String, points: Course, effect: Along) {
    let spot = reader.spot(of);
    if points.len() > MOST_POINTS {
        let message = format!("a line through more than {MOST_POINTS} points is not taken");
        reader.tree.remark(spot, message);
        return;
    }
    reader.robot.extras.lines.push(Line {
        name,
        points,
        effect,
        spot,
    });
}
