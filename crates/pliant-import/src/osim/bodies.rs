//! Bodies and their inertia.

use super::ModelReader;
use super::properties::{name, objects};
use super::wraps::read_objects;
use crate::error::ImportError;
use crate::geometry::{Frame, Inertia};
use crate::xml::Spot;
use pliant_dense::{Mat3, Vec3};

type Result<T> = std::result::Result<T, ImportError>;

/// A body of the file.
pub(super) struct Body {
    pub(super) name: String,
    pub(super) element: usize,
    pub(super) inertia: Option<Inertia>,
    pub(super) spot: Spot,
}

const PROPERTIES: [&str; 9] = [
    "name",
    "mass",
    "mass_center",
    "inertia",
    "inertia_xx",
    "inertia_yy",
    "inertia_zz",
    "inertia_xy",
    "inertia_xz",
];
/// Parts that are pictures.
pub(super) const PICTURES: [&str; 6] = [
    "VisibleObject",
    "attached_geometry",
    "FrameGeometry",
    "frame_geometry",
    "Appearance",
    "GeometrySet",
];

pub(super) fn read_bodies(reader: &mut ModelReader<'_>, model: usize) -> Result<()> {
    for of in objects(reader.tree, model, "BodySet") {
        let spot = reader.tree.elements[of].spot;
        if reader.tree.elements[of].tag != "Body" {
            let message = format!("`{}` in `BodySet` is not taken", reader.tree.elements[of].tag);
            reader.tree.remark(spot, message);
            continue;
        }
        let Some(name) = name(reader.tree, of) else {
            return reader.tree.wrong(spot, "the body has no name".to_owned(), None);
        };
        pictures(reader, of);
        if name == "ground" {
            read_objects(reader, of, &(None, Frame::IDENTITY))?;
            continue;
        }
        let known = [&PROPERTIES[..], &["inertia_yz"]].concat();
        let parts = [&PICTURES[..], &["Joint", "WrapObjectSet", "components"]].concat();
        reader.tree.expect(of, &known, &parts);
        let body = Body {
            inertia: read_inertia(reader, of, &name)?,
            element: of,
            spot,
            name: name.clone(),
        };
        if reader.numbers.insert(name.clone(), reader.bodies.len()).is_some() {
            let spot = reader.tree.needed(of, "name")?.spot;
            return reader
                .tree
                .wrong(spot, format!("the body `{name}` is there twice"), None);
        }
        reader.bodies.push(body);
        let place = (Some(reader.bodies.len() - 1), Frame::IDENTITY);
        read_objects(reader, of, &place)?;
    }
    for ground in reader.tree.all(model, "Ground") {
        pictures(reader, ground);
        read_objects(reader, ground, &(None, Frame::IDENTITY))?;
    }
    Ok(())
}

/// Remarks on pictures of a body.
fn pictures(reader: &mut ModelReader<'_>, of: usize) {
    for tag in PICTURES {
        if let Some(child) = reader.tree.child(of, tag) {
            let spot = reader.tree.elements[child].spot;
            reader.tree.remark(spot, "geometry of bodies is a picture only");
        }
    }
}

fn read_inertia(reader: &mut ModelReader<'_>, of: usize, name: &str) -> Result<Option<Inertia>> {
    let mass = reader.tree.not_negative(of, "mass")?.unwrap_or_default();
    let centre = reader.tree.numbers::<3>(of, "mass_center")?.unwrap_or_default();
    let [xx, yy, zz, xy, xz, yz] = match reader.tree.numbers::<6>(of, "inertia")? {
        Some(list) => list,
        None => {
            let entry = |key: &str| {
                reader
                    .tree
                    .number(of, &format!("inertia_{key}"))
                    .map(Option::unwrap_or_default)
            };
            [
                entry("xx")?,
                entry("yy")?,
                entry("zz")?,
                entry("xy")?,
                entry("xz")?,
                entry("yz")?,
            ]
        }
    };
    let tensor = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    if mass == 0.0 {
        if tensor != Mat3::zeros() {
            let spot = reader.tree.elements[of].spot;
            let message =
                format!("`{name}` has moments of inertia and no mass, which no body has: it has neither");
            reader.tree.remark(spot, message);
        }
        return Ok(None);
    }
    Ok(Some(Inertia {
        mass,
        centre: Vec3::from(centre),
        tensor,
    }))
}
