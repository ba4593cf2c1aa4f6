//! Points that have names, and lines through points of bodies.

use super::ModelReader;
use super::frames::Place;
use super::properties::{name, objects};
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::robot::{Along, Line, Point, Wrap};
use pliant_dense::Vec3;

type Result<T> = std::result::Result<T, ImportError>;

/// The most points of a rope of a scene.
const MOST_POINTS: usize = 1000;

/// Points in links, or in the world, and surfaces that a line wraps around between them.
#[derive(Default)]
pub(super) struct Course {
    pub(super) points: Vec<(Option<usize>, Vec3)>,
    pub(super) wraps: Vec<Wrap>,
}

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

/// The course of a `GeometryPath`, or why scenes do not have it, in words that follow "path".
pub(super) fn read_path(
    reader: &mut ModelReader<'_>,
    of: usize,
) -> Result<std::result::Result<Course, String>> {
    let Some(path) = reader.tree.child(of, "GeometryPath") else {
        return Ok(Err("is not there".to_owned()));
    };
    let mut points = Vec::new();
    for point in objects(reader.tree, path, "PathPointSet") {
        let kind = &reader.tree.elements[point].tag;
        if kind != "PathPoint" {
            return Ok(Err(format!("has a `{kind}`")));
        }
        let own = reader.tree.value(of, "name").unwrap_or_default();
        let Some(place) = read_place(reader, point, &format!("/forceset/{own}"))? else {
            return Ok(Err("has a point in no body".to_owned()));
        };
        let (link, frame) = reader.in_link(&place);
        points.push((link, frame.position));
    }
    if points.len() < 2 {
        return Ok(Err("has fewer than two points".to_owned()));
    }
    let wraps = super::wraps::read_wraps(reader, path, points.len())?;
    Ok(wraps
        .map(|wraps| Course { points, wraps })
        .map_err(|kind| format!("wraps around a `{kind}`")))
}

/// A line and what acts along it.
pub(super) fn add_line(reader: &mut ModelReader<'_>, of: usize, name: String, course: Course, effect: Along) {
    let spot = reader.spot(of);
    let Course { points, wraps } = course;
    for (count, how, what) in [
        (points.len(), "through", "points"),
        (wraps.len(), "around", "surfaces"),
    ] {
        if count > MOST_POINTS {
            let message = format!("a line {how} more than {MOST_POINTS} {what} is not taken");
            reader.tree.remark(spot, message);
            return;
        }
    }
    reader.robot.extras.lines.push(Line {
        name,
        points,
        wraps,
        effect,
        spot,
    });
}
