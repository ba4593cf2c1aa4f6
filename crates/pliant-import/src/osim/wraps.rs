//! Surfaces that paths wrap around: those of frames, and which of them a path names.

use super::ModelReader;
use super::bodies::PICTURES;
use super::frames::Place;
use super::properties::{name, objects, switched_on};
use crate::error::ImportError;
use crate::robot::{Wrap, WrapSurface};
use crate::xml::Spot;
use pliant_dense::Vec3;
use std::ops::Range;

type Result<T> = std::result::Result<T, ImportError>;

/// A surface of the file.
pub(super) struct WrapObject {
    name: String,
    kind: String,
    place: Place,
    /// None if scenes do not have it.
    surface: Option<WrapSurface>,
    active: bool,
    /// Remarks for where a path wraps around it.
    notes: Vec<String>,
    spot: Spot,
}

/// Properties of all surfaces.
const COMMON: [&str; 6] = [
    "name",
    "active",
    "quadrant",
    "xyz_body_rotation",
    "translation",
    "display_preference",
];

/// The smallest semi-axis of an ellipsoid of a scene, as a part of the largest.
const THINNEST: f64 = 1e-3;

/// Reads the surfaces of a body, the ground or a frame, which is at this place.
pub(super) fn read_objects(reader: &mut ModelReader<'_>, of: usize, place: &Place) -> Result<()> {
    for object in objects(reader.tree, of, "WrapObjectSet") {
        let frame = reader.place(object, "translation", "xyz_body_rotation")?;
        let kind = reader.tree.elements[object].tag.clone();
        let mut notes = Vec::new();
        let surface = match kind.as_str() {
            "WrapSphere" => Some(read_sphere(reader, object, &mut notes)?),
            "WrapCylinder" => Some(read_cylinder(reader, object, &mut notes)?),
            "WrapEllipsoid" => Some(read_ellipsoid(reader, object, &mut notes)?),
            _ => None,
        };
        let object = WrapObject {
            name: name(reader.tree, object).unwrap_or_default(),
            place: (place.0, place.1.then(&frame)),
            active: switched_on(reader.tree, object, "active")?,
            spot: reader.spot(object),
            surface,
            kind,
            notes,
        };
        reader.wraps.push(object);
    }
    Ok(())
}

fn read_sphere(reader: &mut ModelReader<'_>, of: usize, notes: &mut Vec<String>) -> Result<WrapSurface> {
    reader
        .tree
        .expect(of, &[&COMMON[..], &["radius"]].concat(), &PICTURES);
    if quadrant(reader, of)?.is_some() {
        notes.push("`quadrant` of a `WrapSphere` is not taken: the path goes the shorter way".to_owned());
    }
    Ok(WrapSurface::Sphere(read_radius(reader, of)?))
}

fn read_cylinder(reader: &mut ModelReader<'_>, of: usize, notes: &mut Vec<String>) -> Result<WrapSurface> {
    reader
        .tree
        .expect(of, &[&COMMON[..], &["radius", "length"]].concat(), &PICTURES);
    notes.push("a `WrapCylinder` has no ends in scenes: its `length` is not taken".to_owned());
    let over = match quadrant(reader, of)? {
        Some(direction) if direction.z != 0.0 => {
            let message =
                "`quadrant` of a `WrapCylinder` along its axis is not taken: the path goes the shorter way";
            notes.push(message.to_owned());
            None
        }
        Some(direction) => {
            let message = "`quadrant` of a `WrapCylinder` is the side that the path goes over; \
                where its points beside the cylinder come to be on one side of the plane of this direction \
                and the axis, it may go another way than in OpenSim";
            notes.push(message.to_owned());
            Some(direction)
        }
        None => None,
    };
    let radius = read_radius(reader, of)?;
    Ok(WrapSurface::Cylinder { radius, over })
}

fn read_ellipsoid(reader: &mut ModelReader<'_>, of: usize, notes: &mut Vec<String>) -> Result<WrapSurface> {
    reader
        .tree
        .expect(of, &[&COMMON[..], &["dimensions"]].concat(), &PICTURES);
    let message =
        "around a `WrapEllipsoid` the path is the shortest, which the `method`s of OpenSim come near to";
    notes.push(message.to_owned());
    if quadrant(reader, of)?.is_some() {
        let message = "`quadrant` of a `WrapEllipsoid` is not taken: the path goes the shortest way";
        notes.push(message.to_owned());
    }
    let spot = reader.tree.needed(of, "dimensions")?.spot;
    let axes = Vec3::from(reader.tree.numbers::<3>(of, "dimensions")?.unwrap_or_default());
    if axes.min() > 0.0 && axes.min() >= THINNEST * axes.max() {
        return Ok(WrapSurface::Ellipsoid(axes));
    }
    let message = format!(
        "`dimensions` are not all above zero and at least a thousandth of the largest, {}",
        axes.max()
    );
    reader.tree.wrong(spot, message, None)
}

fn read_radius(reader: &ModelReader<'_>, of: usize) -> Result<f64> {
    let spot = reader.tree.needed(of, "radius")?.spot;
    let radius = reader.tree.number(of, "radius")?.unwrap_or_default();
    if radius > 0.0 {
        return Ok(radius);
    }
    let message = format!("`radius` is {radius}, which is not above zero");
    reader.tree.wrong(spot, message, None)
}

/// The direction of the half on which paths wrap, none if it is all of the surface.
fn quadrant(reader: &ModelReader<'_>, of: usize) -> Result<Option<Vec3>> {
    let Some(attribute) = reader.tree.attribute(of, "quadrant") else {
        return Ok(None);
    };
    let (sign, axis) = match attribute.value.strip_prefix('-') {
        Some(axis) => (-1.0, axis),
        None => (1.0, attribute.value.trim_start_matches('+')),
    };
    match axis {
        "x" => Ok(Some(Vec3::x() * sign)),
        "y" => Ok(Some(Vec3::y() * sign)),
        "z" => Ok(Some(Vec3::z() * sign)),
        "all" if sign > 0.0 => Ok(None),
        _ => {
            let message = format!(
                "`quadrant` is `{}` where it may be `all`, `x`, `-x`, `y`, `-y`, `z` or `-z`",
                attribute.value
            );
            reader.tree.wrong(attribute.spot, message, None)
        }
    }
}

/// The surfaces that a `GeometryPath` through so many points wraps around; the kind of one that
/// scenes do not have, if there is one.
pub(super) fn read_wraps(
    reader: &mut ModelReader<'_>,
    path: usize,
    points: usize,
) -> Result<std::result::Result<Vec<Wrap>, String>> {
    let mut wraps = Vec::new();
    for of in objects(reader.tree, path, "PathWrapSet") {
        reader
            .tree
            .expect(of, &["name", "wrap_object", "method", "range"], &[]);
        let wanted = reader.tree.needed(of, "wrap_object")?;
        let Some(object) = reader.wraps.iter().find(|object| object.name == wanted.value) else {
            let names = reader.wraps.iter().map(|object| object.name.as_str());
            let help = pliant_scene::hint(&wanted.value, "wrap objects", names);
            let message = format!("there is no wrap object `{}`", wanted.value);
            return reader.tree.wrong(wanted.spot, message, help);
        };
        if !object.active {
            let message = "a wrap object that is switched off (`active`) is not taken";
            reader.tree.remark(object.spot, message);
            continue;
        }
        let Some(surface) = object.surface else {
            return Ok(Err(object.kind.clone()));
        };
        for note in &object.notes {
            reader.tree.remark(object.spot, note.clone());
        }
        let (link, frame) = reader.in_link(&object.place);
        let name = object.name.clone();
        let (stretches, spot) = (range(reader, of, points)?, reader.spot(of));
        if stretches.is_empty() {
            let message = "a `PathWrap` whose `range` holds no two points in a row is not taken";
            reader.tree.remark(spot, message);
            continue;
        }
        wraps.push(Wrap {
            name,
            link,
            frame,
            surface,
            stretches,
            spot,
        });
    }
    Ok(Ok(wraps))
}

/// The `range` of a `PathWrap`, as numbers of the points that begin the straight parts within. The
/// file counts points from one; below it means all.
fn range(reader: &ModelReader<'_>, of: usize, points: usize) -> Result<Range<usize>> {
    let Some([first, last]) = reader.tree.numbers::<2>(of, "range")? else {
        return Ok(0..points - 1);
    };
    let spot = reader.tree.needed(of, "range")?.spot;
    let number = |x: f64, all: usize| {
        if x.fract() != 0.0 {
            let message = format!("`range` has {x} where a whole number is expected");
            return reader.tree.wrong(spot, message, None);
        }
        if x > points as f64 {
            let message = format!("`range` names point {x} of a path of {points} points");
            return reader.tree.wrong(spot, message, None);
        }
        // Whole, and not above the number of points.
        Ok(if x < 1.0 { all } else { x as usize })
    };
    Ok(number(first, 1)? - 1..number(last, points)? - 1)
}
