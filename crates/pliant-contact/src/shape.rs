//! Shapes: what a collider looks like in its own axes.

pub(crate) mod distance_field;
pub(crate) mod mesh;
pub(crate) mod polytope;

use std::sync::Arc;

use pliant_dense::{Vec3, rotation};
use pliant_model::Pose;

use crate::ContactError;
use crate::error::{above_zero, finite, positive};
use distance_field::DistanceField;
use mesh::{Mesh, Sides};
use polytope::Polytope;

/// The shape of a collider: immutable, checked when made, cheap to clone.
///
/// Lengths in metres, in the axes of the shape. The *soft* shapes are lists of points of a node;
/// the node says where they are.
#[derive(Clone, Debug)]
pub struct Shape {
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Everything on the far side of the plane through the origin from this unit normal.
    HalfSpace(Vec3),
    /// A polytope and all within `radius` of it.
    Convex { polytope: Arc<Polytope>, radius: f64 },
    /// Round about z.
    Cylinder { half: f64, radius: f64 },
    /// Triangles with points of their own.
    Mesh(Arc<Mesh>),
    /// Points, segments or triangles over the points of a node.
    Soft(Arc<Mesh>),
    /// Where a field is negative.
    Field(Arc<DistanceField>),
    /// Several of the above but soft ones and compounds.
    Compound(Arc<Vec<(Pose, Kind)>>),
}

/// Points (m), and triangles over them.
pub type Triangulation = (Vec<[f64; 3]>, Vec<[usize; 3]>);

/// Which side of a triangle mesh is matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshKind {
    /// Closed, its triangles counter-clockwise seen from outside: what is inside is pushed out.
    Solid,
    /// A sheet without thickness: what touches it stays on the side it is on.
    Surface,
}

impl Shape {
    /// The half space below the plane through the origin with this outward normal (any length but
    /// zero).
    ///
    /// # Errors
    /// [`ContactError`] if the normal is zero or not finite.
    pub fn half_space(normal: [f64; 3]) -> Result<Self, ContactError> {
        let normal = numbers("a component of the normal of a half space", normal)?;
        let scale = above_zero("the length of the normal of a half space", normal.amax())?;
        Ok(Kind::HalfSpace((normal / scale).normalize()).into())
    }

    /// A ball of this radius (m).
    ///
    /// # Errors
    /// [`ContactError`] if the radius is not a positive number.
    pub fn ball(radius: f64) -> Result<Self, ContactError> {
        let radius = positive("the radius of a ball", radius)?;
        Ok(Kind::Convex {
            polytope: Arc::new(Polytope::point()),
            radius,
        }
        .into())
    }

    /// A box of these half lengths (m) along its axes.
    ///
    /// # Errors
    /// [`ContactError`] if one is not a positive number.
    pub fn cuboid(half_extents: [f64; 3]) -> Result<Self, ContactError> {
        for half in half_extents {
            positive("a half extent of a box", half)?;
        }
        Ok(sharp(Polytope::cuboid(half_extents.into())).into())
    }

    /// All within `radius` (m) of the segment of length `2 half_length` (m) along z.
    ///
    /// # Errors
    /// [`ContactError`] if a length is not a positive number.
    pub fn capsule(half_length: f64, radius: f64) -> Result<Self, ContactError> {
        let half = positive("the half length of a capsule", half_length)?;
        let radius = positive("the radius of a capsule", radius)?;
        Ok(Kind::Convex {
            polytope: Arc::new(Polytope::segment(half)),
            radius,
        }
        .into())
    }

    /// A cylinder of length `2 half_length` (m) along z and this radius (m).
    ///
    /// # Errors
    /// [`ContactError`] if a length is not a positive number.
    pub fn cylinder(half_length: f64, radius: f64) -> Result<Self, ContactError> {
        let half = positive("the half length of a cylinder", half_length)?;
        let radius = positive("the radius of a cylinder", radius)?;
        Ok(Kind::Cylinder { half, radius }.into())
    }

    /// The convex hull of points (m).
    ///
    /// # Errors
    /// [`ContactError`] if there are fewer than four, one is not finite, or they lie in a plane to
    /// 1e-7 of their extent.
    pub fn convex_hull(points: &[[f64; 3]]) -> Result<Self, ContactError> {
        if points.len() < 4 {
            return Err(ContactError::TooFew {
                shape: "a convex hull",
                what: "points",
                needed: 4,
                found: points.len(),
            });
        }
        Ok(sharp(Polytope::hull(&all_finite(
            "a coordinate of a convex hull",
            points,
        )?)?)
        .into())
    }

    /// Triangles over points (m), counter-clockwise seen from outside.
    ///
    /// # Errors
    /// [`ContactError`] if it is empty, an index or a number is bad, a triangle has no area, or a
    /// solid is not closed, not consistently oriented, or inside out.
    pub fn triangle_mesh(
        points: &[[f64; 3]],
        triangles: &[[usize; 3]],
        kind: MeshKind,
    ) -> Result<Self, ContactError> {
        let sides = match kind {
            MeshKind::Solid => Sides::Solid,
            MeshKind::Surface => Sides::Two,
        };
        let points = all_finite("a coordinate of a triangle mesh", points)?;
        Ok(Kind::Mesh(Arc::new(Mesh::rigid(
            "a triangle mesh",
            points,
            triangles,
            sides,
        )?))
        .into())
    }

    /// The ground under heights (m) on a grid of `columns` points along x and as many rows along y
    /// as the list gives, `spacing` (m) apart, the first at the origin, x first. Each cell is cut
    /// in two along the diagonal from its lowest x and y. Matter is below.
    ///
    /// # Errors
    /// [`ContactError`] if there are fewer than two rows or columns, or a number is bad.
    pub fn height_field(heights: &[f64], columns: usize, spacing: [f64; 2]) -> Result<Self, ContactError> {
        let shape = "a height field";
        let too_few = |what, found| ContactError::TooFew {
            shape,
            what,
            needed: 2,
            found,
        };
        if columns < 2 {
            return Err(too_few("columns", columns));
        }
        let rows = heights.len() / columns;
        if rows < 2 {
            return Err(too_few("rows", rows));
        }
        if rows * columns != heights.len() {
            return Err(ContactError::Size {
                shape,
                what: "heights",
                expected: rows * columns,
                found: heights.len(),
            });
        }
        for step in spacing {
            positive("the spacing of a height field", step)?;
        }
        for h in heights {
            finite("a height of a height field", *h)?;
        }
        let place = |(k, h): (usize, &f64)| {
            Vec3::new(
                (k % columns) as f64 * spacing[0],
                (k / columns) as f64 * spacing[1],
                *h,
            )
        };
        let points = heights.iter().enumerate().map(place).collect();
        let mut triangles = Vec::with_capacity(2 * (rows - 1) * (columns - 1));
        for row in 0..rows - 1 {
            for column in 0..columns - 1 {
                let k = row * columns + column;
                triangles.push([k, k + 1, k + columns + 1]);
                triangles.push([k, k + columns + 1, k + columns]);
            }
        }
        Ok(Kind::Mesh(Arc::new(Mesh::rigid(shape, points, &triangles, Sides::One)?)).into())
    }

    /// Everything where a distance field is negative.
    pub fn distance_field(field: DistanceField) -> Self {
        Kind::Field(Arc::new(field)).into()
    }

    /// Several shapes that move as one, each at its pose. Parts of parts are taken over.
    ///
    /// # Errors
    /// [`ContactError`] if there are none, a pose is bad, or a part is soft.
    pub fn compound(parts: &[(Pose, Self)]) -> Result<Self, ContactError> {
        if parts.is_empty() {
            return Err(ContactError::TooFew {
                shape: "a compound",
                what: "parts",
                needed: 1,
                found: 0,
            });
        }
        let mut flat = Vec::new();
        for (pose, shape) in parts {
            let pose = check_pose("a compound", *pose)?;
            match &shape.kind {
                Kind::Soft(_) => {
                    return Err(ContactError::Placement {
                        name: "a compound".into(),
                        reason: "a soft shape cannot be part of a rigid one",
                    });
                }
                Kind::Compound(inner) => {
                    flat.extend(
                        inner
                            .iter()
                            .map(|(inner, kind)| (compose(&pose, inner), kind.clone())),
                    );
                }
                kind => flat.push((pose, kind.clone())),
            }
        }
        Ok(Kind::Compound(Arc::new(flat)).into())
    }

    /// The surface of a hull, a box, a triangle mesh, a height field or a distance field, to be
    /// drawn or to give a mass: its points (m), and triangles counter-clockwise seen from outside;
    /// `None` of other shapes. That of a distance field has a point in each cell that it passes.
    pub fn surface(&self) -> Option<Triangulation> {
        let plain = |points: &[Vec3]| points.iter().map(|p| (*p).into()).collect();
        match &self.kind {
            Kind::Convex { polytope, radius } if *radius == 0.0 => {
                let fan = |face: &Vec<u32>| -> Vec<[usize; 3]> {
                    let corner = |k: usize| face[k] as usize;
                    (2..face.len())
                        .map(|k| [corner(0), corner(k - 1), corner(k)])
                        .collect()
                };
                Some((
                    plain(&polytope.points),
                    polytope.faces.iter().flat_map(fan).collect(),
                ))
            }
            Kind::Mesh(mesh) => {
                let triangles = mesh.triangles.iter().map(|t| t.map(|p| p as usize));
                Some((plain(&mesh.points), triangles.collect()))
            }
            Kind::Field(field) => {
                let triangles = field.triangles.iter().map(|t| t.map(|p| p as usize));
                Some((plain(&field.samples), triangles.collect()))
            }
            _ => None,
        }
    }

    /// The segments of a soft shape and the edges of its triangles, each by its two points of the
    /// node, the lower one first; none of other shapes.
    pub fn edges(&self) -> &[[u32; 2]] {
        match &self.kind {
            Kind::Soft(mesh) => &mesh.edges,
            _ => &[],
        }
    }

    /// Balls of this radius (m) about points of a node, given by their indices.
    ///
    /// # Errors
    /// [`ContactError`] if there are none or the radius is not a positive number.
    pub fn soft_points(points: &[usize], radius: f64) -> Result<Self, ContactError> {
        Ok(Kind::Soft(Arc::new(Mesh::soft("soft points", &[], &[], points, radius)?)).into())
    }

    /// A cable: all within `radius` (m) of segments between points of a node.
    ///
    /// # Errors
    /// [`ContactError`] if there are none, a segment joins a point with itself, or the radius is
    /// not a positive number.
    pub fn soft_segments(segments: &[[usize; 2]], radius: f64) -> Result<Self, ContactError> {
        Ok(Kind::Soft(Arc::new(Mesh::soft("a cable", &[], segments, &[], radius)?)).into())
    }

    /// A cloth or the skin of a soft body: all within `radius` (m, half the thickness) of triangles
    /// over points of a node.
    ///
    /// # Errors
    /// [`ContactError`] if there are none, a triangle names a point twice, or the radius is not a
    /// positive number.
    pub fn soft_triangles(triangles: &[[usize; 3]], radius: f64) -> Result<Self, ContactError> {
        Ok(Kind::Soft(Arc::new(Mesh::soft(
            "a soft surface",
            triangles,
            &[],
            &[],
            radius,
        )?))
        .into())
    }
}

impl From<Kind> for Shape {
    fn from(kind: Kind) -> Self {
        Self { kind }
    }
}

fn sharp(polytope: Polytope) -> Kind {
    Kind::Convex {
        polytope: Arc::new(polytope),
        radius: 0.0,
    }
}

fn numbers(what: &'static str, values: [f64; 3]) -> Result<Vec3, ContactError> {
    for value in values {
        finite(what, value)?;
    }
    Ok(values.into())
}

pub(crate) fn all_finite(what: &'static str, points: &[[f64; 3]]) -> Result<Vec<Vec3>, ContactError> {
    points.iter().map(|p| numbers(what, *p)).collect()
}

/// A pose with finite numbers and a unit quaternion.
pub(crate) fn check_pose(name: &str, pose: Pose) -> Result<Pose, ContactError> {
    numbers("a coordinate of a pose", pose.position)?;
    for value in pose.rotation {
        finite("a component of the quaternion of a pose", value)?;
    }
    let rotation = rotation::normalize(pose.rotation)
        .ok_or_else(|| ContactError::ZeroQuaternion { name: name.into() })?;
    Ok(Pose { rotation, ..pose })
}

/// The pose `inner` given in the axes of `outer`.
fn compose(outer: &Pose, inner: &Pose) -> Pose {
    let place = Vec3::from(outer.position) + rotation::rotate(outer.rotation, inner.position.into());
    Pose {
        position: place.into(),
        rotation: rotation::multiply(outer.rotation, inner.rotation),
    }
}
