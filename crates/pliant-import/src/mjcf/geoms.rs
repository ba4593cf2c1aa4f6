//! Geoms: what they weigh and what they collide with.

use super::Reader;
use super::settings::PLACE;
use crate::error::ImportError;
use crate::geometry::{Frame, Inertia, from_z};
use crate::robot::{Collider, Material, Shape};
use crate::xml::{Spot, Tree};
use pliant_dense::{Mat3, Vec3};
use pliant_mesh_io::Mesh;
use std::collections::HashMap;
use std::f64::consts::PI;

type Result<T> = std::result::Result<T, ImportError>;

/// Density of geoms that name none (kg/m^3).
const DENSITY: f64 = 1000.0;
const KNOWN: [&str; 15] = [
    "name",
    "class",
    "type",
    "size",
    "fromto",
    "mass",
    "density",
    "friction",
    "condim",
    "contype",
    "conaffinity",
    "mesh",
    "rgba",
    "material",
    "group",
];

/// Different materials of geoms.
#[derive(Default)]
pub(super) struct Materials {
    pub(super) list: Vec<Material>,
    /// Their numbers, by the bits of what they say.
    numbers: HashMap<[u64; 4], usize>,
    /// The most directions of friction of any surface.
    most: f64,
}

impl Materials {
    /// None yet, for surfaces of a file.
    pub(super) fn of_file(tree: &Tree, root: usize) -> Self {
        let mut most = 0.0f64;
        let mut open = vec![root];
        while let Some(of) = open.pop() {
            let element = &tree.elements[of];
            if matches!(element.tag.as_str(), "geom" | "contact" | "flex" | "flexcomp") {
                // Wrong words are told where the element is read.
                most = most.max(tree.number(of, "condim").ok().flatten().unwrap_or(3.0));
            }
            open.extend(
                element
                    .children
                    .iter()
                    .filter(|c| tree.elements[**c].tag != "default"),
            );
        }
        Self {
            most,
            ..Self::default()
        }
    }
}

/// The directions of friction of a geom, a pair or a deformable, with the normal.
pub(super) fn directions(tree: &Tree, of: usize) -> Result<f64> {
    let Some(x) = tree.number(of, "condim")? else {
        return Ok(3.0);
    };
    if ![1.0, 3.0, 4.0, 6.0].contains(&x) {
        let message = format!("`condim` is {x}, and may be 1, 3, 4 or 6");
        return tree.wrong(tree.needed(of, "condim")?.spot, message, None);
    }
    Ok(x)
}

/// A geom in the frame of its body.
pub(super) struct Geom {
    pub(super) inertia: Option<Inertia>,
    pub(super) collider: Option<Collider>,
}

/// A shape of a geom in its own axes: its volume, and its tensor per mass.
struct Solid {
    shape: Option<Shape>,
    volume: f64,
    centre: Vec3,
    per_mass: Mat3,
}

impl Reader<'_> {
    pub(super) fn geom(&mut self, of: usize, outer: &Frame, body: &str) -> Result<Geom> {
        self.tree.expect(of, &[&KNOWN[..], &PLACE].concat(), &[]);
        let spot = self.tree.elements[of].spot;
        directions(self.tree, of)?;
        let (size, mut frame) = self.size_and_frame(of)?;
        let kind = self.tree.value(of, "type").map(str::to_owned);
        // A geom with a mesh is one of that type, or a primitive fitted to it: a sphere by default.
        let mesh = self.tree.attribute(of, "mesh").cloned();
        let kind = kind.unwrap_or_else(|| "sphere".to_owned());
        frame = outer.then(&frame);
        if mesh.is_some() && kind != "mesh" {
            self.tree.remark(
                spot,
                "a primitive that is fitted to a mesh is left out, with its mass; `type=\"mesh\"` is the mesh itself",
            );
            return Ok(Geom {
                inertia: None,
                collider: None,
            });
        }
        let Some(solid) = self.solid(of, &kind, &size)? else {
            return Ok(Geom {
                inertia: None,
                collider: None,
            });
        };
        let mass = match self.tree.not_negative(of, "mass")? {
            Some(mass) => mass,
            None => self.tree.not_negative(of, "density")?.unwrap_or(DENSITY) * solid.volume,
        };
        let group = self.tree.number(of, "group")?.unwrap_or_default();
        let [first, last] = self.settings.heavy_groups;
        let heavy = (first..=last).contains(&group);
        let inertia = (heavy && mass > 0.0 && solid.volume > 0.0).then(|| {
            let own = Inertia {
                mass,
                centre: solid.centre,
                tensor: solid.per_mass * mass,
            };
            own.seen_from(&frame)
        });
        let collider = self.collider(of, solid.shape, frame, body)?;
        Ok(Geom { inertia, collider })
    }

    /// Sizes and frame of a geom or a site; of one between two points, from these.
    pub(super) fn size_and_frame(&mut self, of: usize) -> Result<(Vec<f64>, Frame)> {
        let mut size = self.tree.list(of, "size")?.unwrap_or_default();
        let mut frame = self.settings.frame(self.tree, of)?;
        if let Some([a, b, c, d, e, f]) = self.tree.numbers::<6>(of, "fromto")? {
            let (from, to) = (Vec3::new(a, b, c), Vec3::new(d, e, f));
            let length = (from - to).norm();
            if length == 0.0 {
                let spot = self.tree.needed(of, "fromto")?.spot;
                return self
                    .tree
                    .wrong(spot, "both points of `fromto` are the same".to_owned(), None);
            }
            frame = Frame {
                position: (from + to) * 0.5,
                rotation: from_z((from - to) / length),
            };
            let radius = size.first().copied().unwrap_or_default();
            size = match self.tree.value(of, "type") {
                Some("box" | "ellipsoid") => vec![radius, radius, 0.5 * length],
                _ => vec![radius, 0.5 * length],
            };
        }
        Ok((size, frame))
    }

    fn solid(&mut self, of: usize, kind: &str, size: &[f64]) -> Result<Option<Solid>> {
        let spot = self.tree.elements[of].spot;
        let needed = match kind {
            "sphere" => 1,
            "capsule" | "cylinder" => 2,
            "box" | "ellipsoid" => 3,
            "plane" => {
                return Ok(Some(Solid {
                    shape: Some(Shape::Plane),
                    volume: 0.0,
                    centre: Vec3::zeros(),
                    per_mass: Mat3::zeros(),
                }));
            }
            "mesh" => return self.mesh_solid(of),
            "hfield" | "sdf" => {
                self.tree
                    .remark(spot, format!("a geom of type `{kind}` is not taken"));
                return Ok(None);
            }
            other => {
                let kinds = [
                    "sphere",
                    "capsule",
                    "cylinder",
                    "box",
                    "ellipsoid",
                    "plane",
                    "mesh",
                    "hfield",
                    "sdf",
                ];
                let help = pliant_scene::hint(other, "types", kinds);
                let spot = self.tree.attribute(of, "type").map_or(spot, |a| a.spot);
                return self
                    .tree
                    .wrong(spot, format!("geoms have no type `{other}`"), help);
            }
        };
        if size.len() < needed || size[..needed].iter().any(|s| *s <= 0.0) {
            let message = format!("a `{kind}` has {needed} sizes above zero");
            let spot = self.tree.attribute(of, "size").map_or(spot, |a| a.spot);
            return self.tree.wrong(spot, message, None);
        }
        let solid = primitive(kind, size);
        if solid.shape.is_none() {
            self.tree
                .remark(spot, "an ellipsoid weighs, but does not collide");
        }
        Ok(Some(solid))
    }

    fn mesh_solid(&mut self, of: usize) -> Result<Option<Solid>> {
        let name = self.tree.needed(of, "mesh")?.clone();
        let Some(asset) = self.assets.get(&name.value).cloned() else {
            let mut names: Vec<&str> = self.assets.keys().map(String::as_str).collect();
            names.sort_unstable();
            let help = pliant_scene::hint(&name.value, "meshes", names);
            return self
                .tree
                .wrong(name.spot, format!("there is no mesh `{}`", name.value), help);
        };
        let Some((file, file_spot)) = asset.file else {
            self.tree
                .remark(name.spot, "a mesh without a file is not taken, nor its mass");
            return Ok(None);
        };
        let colliding = self.bits(of)? != (0, 0) || self.is_paired(of);
        let Some((_, mesh)) = self.meshes.read(self.tree, file_spot, &file) else {
            if self.weighs(of)? {
                let message = "the mass of a geom whose mesh is not read is not taken either";
                self.tree.remark(name.spot, message);
            }
            return Ok(None);
        };
        let shape = if colliding {
            self.meshes.hull(self.tree, file_spot, &file, asset.scale)
        } else {
            None
        };
        let Some((volume, centre, per_mass)) = volume(&mesh, asset.scale, asset.exact) else {
            if self.tree.attribute(of, "mass").is_some() || !self.has_inertial {
                self.tree
                    .remark(name.spot, "a mesh that encloses no volume has no mass");
            }
            return Ok(Some(Solid {
                shape,
                volume: 0.0,
                centre: Vec3::zeros(),
                per_mass: Mat3::zeros(),
            }));
        };
        Ok(Some(Solid {
            shape,
            volume,
            centre,
            per_mass,
        }))
    }

    /// Whether the mass of a geom counts, as far as the file says.
    fn weighs(&self, of: usize) -> Result<bool> {
        let given = self.settings.from_geoms.unwrap_or(!self.has_inertial);
        let mass = match self.tree.not_negative(of, "mass")? {
            Some(mass) => mass,
            None => self.tree.not_negative(of, "density")?.unwrap_or(DENSITY),
        };
        let group = self.tree.number(of, "group")?.unwrap_or_default();
        let [first, last] = self.settings.heavy_groups;
        Ok(given && mass > 0.0 && (first..=last).contains(&group))
    }

    /// Whether a pair names a geom.
    fn is_paired(&self, of: usize) -> bool {
        self.geoms.is_paired(self.tree.value(of, "name"))
    }

    /// Type and affinity of a geom.
    pub(super) fn bits(&self, of: usize) -> Result<(u32, u32)> {
        let bit = |key: &str| -> Result<u32> {
            let Some(x) = self.tree.number(of, key)? else {
                return Ok(1);
            };
            // Negative ones are the bits of a signed number, as -1 all of them.
            if x.fract() != 0.0 || !(f64::from(i32::MIN)..=f64::from(u32::MAX)).contains(&x) {
                let message = format!("`{key}` is {x}, and may be a whole number of 32 bits");
                return self.tree.wrong(self.tree.needed(of, key)?.spot, message, None);
            }
            Ok(x as i64 as u32)
        };
        Ok((bit("contype")?, bit("conaffinity")?))
    }

    fn collider(
        &mut self,
        of: usize,
        shape: Option<Shape>,
        frame: Frame,
        body: &str,
    ) -> Result<Option<Collider>> {
        let bits = self.bits(of)?;
        let Some(shape) = shape else {
            return Ok(None);
        };
        if (bits == (0, 0) && !self.is_paired(of)) || !self.settings.contacts {
            self.tree.remark(
                self.tree.elements[of].spot,
                "a geom that collides with nothing is a picture only",
            );
            return Ok(None);
        }
        let name = self
            .tree
            .value(of, "name")
            .filter(|n| !n.is_empty())
            .unwrap_or(body)
            .to_owned();
        let material = self.material(of)?;
        Ok(Some(Collider {
            name,
            shape,
            frame,
            material: Some(material),
            bits,
        }))
    }

    /// The number of the material of a geom.
    pub(super) fn material(&mut self, of: usize) -> Result<usize> {
        let given = self.tree.list(of, "friction")?.unwrap_or_default();
        if let Some(x) = given.iter().find(|x| **x < 0.0) {
            let spot = self.tree.needed(of, "friction")?.spot;
            return self
                .tree
                .wrong(spot, format!("`friction` is {x}, which is below zero"), None);
        }
        let entry = |i: usize, default: f64| given.get(i).copied().unwrap_or(default);
        let directions = directions(self.tree, of)?;
        let Materials { list, numbers, most } = &mut self.materials;
        // What no two surfaces of the model ask for makes no difference between them.
        let asked = |least: f64, x: f64| if *most < least { 0.0 } else { x };
        let material = Material {
            friction: asked(3.0, entry(0, 1.0)),
            torsional: asked(4.0, entry(1, 0.005)),
            rolling: asked(6.0, entry(2, 0.0001)),
            directions,
        };
        let numbers_of = [
            material.friction,
            material.torsional,
            material.rolling,
            material.directions,
        ];
        let bits = numbers_of.map(f64::to_bits);
        Ok(*numbers.entry(bits).or_insert_with(|| {
            list.push(material);
            list.len() - 1
        }))
    }

    /// A place for remarks of an element.
    pub(super) fn spot(&self, of: usize) -> Spot {
        self.tree.elements[of].spot
    }
}

fn diagonal(x: f64, y: f64, z: f64) -> Mat3 {
    Mat3::from_diagonal(&Vec3::new(x, y, z))
}

/// A primitive by its sizes, which are radii and half lengths.
fn primitive(kind: &str, size: &[f64]) -> Solid {
    let (shape, volume, per_mass) = match (kind, size) {
        ("sphere", [r, ..]) => {
            let i = 0.4 * r * r;
            (
                Some(Shape::Sphere(*r)),
                4.0 / 3.0 * PI * r.powi(3),
                diagonal(i, i, i),
            )
        }
        ("cylinder", [r, half, ..]) => {
            let (length, across) = (2.0 * half, (3.0 * r * r + 4.0 * half * half) / 12.0);
            let shape = Shape::Cylinder { radius: *r, length };
            (
                Some(shape),
                PI * r * r * length,
                diagonal(across, across, 0.5 * r * r),
            )
        }
        ("capsule", [r, half, ..]) => {
            let length = 2.0 * half;
            // The share of the cylinder; the half balls are the rest, their centres of mass 3/8 r
            // beyond its ends.
            let ends = 4.0 / 3.0 * r;
            let (middle, balls) = (length / (length + ends), ends / (length + ends));
            let along = 0.5 * middle * r * r + 0.4 * balls * r * r;
            let across = middle * (3.0 * r * r + length * length) / 12.0
                + balls * (0.4 * r * r + 0.25 * length * length + 0.375 * length * r);
            let shape = Shape::Capsule { radius: *r, length };
            (
                Some(shape),
                PI * r * r * (length + ends),
                diagonal(across, across, along),
            )
        }
        ("ellipsoid", [a, b, c, ..]) => {
            let (a2, b2, c2) = (a * a, b * b, c * c);
            let tensor = diagonal((b2 + c2) / 5.0, (a2 + c2) / 5.0, (a2 + b2) / 5.0);
            (None, 4.0 / 3.0 * PI * a * b * c, tensor)
        }
        (_, [a, b, c, ..]) => {
            let (a2, b2, c2) = (a * a, b * b, c * c);
            let tensor = diagonal((b2 + c2) / 3.0, (a2 + c2) / 3.0, (a2 + b2) / 3.0);
            (
                Some(Shape::Box([2.0 * a, 2.0 * b, 2.0 * c])),
                8.0 * a * b * c,
                tensor,
            )
        }
        _ => (None, 0.0, Mat3::zeros()),
    };
    Solid {
        shape,
        volume,
        centre: Vec3::zeros(),
        per_mass,
    }
}

/// Volume, centre and tensor per mass of what the triangles of a mesh enclose; none if that is
/// nothing. With `exact`, triangles count by their side; else every tetrahedron between a triangle
/// and the middle counts as it is, which is MuJoCo's default and too much for what is not convex.
fn volume(mesh: &Mesh, scale: [f64; 3], exact: bool) -> Option<(f64, Vec3, Mat3)> {
    let scale = Vec3::from(scale);
    let corner = |i: u32| -> Option<Vec3> {
        let place = mesh.vertices.get(i as usize)?;
        Some(Vec3::from(*place).component_mul(&scale))
    };
    let corners = |t: &[u32; 3]| Some([corner(t[0])?, corner(t[1])?, corner(t[2])?]);
    let faces: Vec<[Vec3; 3]> = mesh.triangles.iter().filter_map(corners).collect();
    let (mut area, mut middle) = (0.0f64, Vec3::zeros());
    for [a, b, c] in &faces {
        let part = 0.5 * (b - a).cross(&(c - a)).norm();
        area += part;
        middle += (a + b + c) * (part / 3.0);
    }
    if !area.is_normal() {
        return None;
    }
    let about = |from: Vec3| {
        let (mut volume, mut first, mut second) = (0.0f64, Vec3::zeros(), Mat3::zeros());
        for face in &faces {
            let [a, b, c] = face.map(|p| p - from);
            let signed = a.dot(&b.cross(&c)) / 6.0;
            let part = if exact { signed } else { signed.abs() };
            let sum = a + b + c;
            volume += part;
            first += sum * (part / 4.0);
            second += (sum * sum.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose())
                * (part / 20.0);
        }
        (volume, first, second)
    };
    let middle = middle / area;
    let (volume, first, _) = about(middle);
    if !volume.is_normal() {
        return None;
    }
    let centre = middle + first / volume;
    // What counts of tetrahedra that turn back depends on the point they meet in: both volume and
    // tensor are those about the centre of mass that the surface's middle led to.
    let (volume, _, second) = about(centre);
    if !volume.is_normal() {
        return None;
    }
    // Triangles that face inwards enclose as much, with all signs turned.
    let second = second / volume;
    Some((volume.abs(), centre, Mat3::identity() * second.trace() - second))
}
