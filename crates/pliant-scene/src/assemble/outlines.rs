//! Shapes of bodies and colliders, as collision geometry and as pictures.

use super::{Builder, Result, distance_fields, mesh_files, nodes, shapes};
use crate::schema::{HeightFieldSpec, HullSpec, OutlineSpec, PartShapeSpec};
use crate::source::Where;
use pliant::collision::{ContactError, MeshKind, Shape};
use pliant::model::Pose;
use pliant_output::recording::{Shape as Drawn, Surface};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Flat sides of a cone.
const SIDES: usize = 32;

/// The shape of a collider in axes of its own.
#[derive(Clone, Debug)]
pub(super) enum Outline {
    /// There is none.
    None,
    /// One that collision geometry does not know.
    Ellipsoid,
    Plane {
        normal: [f64; 3],
    },
    Box {
        half: [f64; 3],
    },
    Sphere {
        radius: f64,
    },
    Cylinder {
        radius: f64,
        length: f64,
    },
    Capsule {
        radius: f64,
        length: f64,
    },
    Hull(Vec<[f64; 3]>),
    Surface(Arc<Surface>),
    Sheet(Arc<Surface>),
    HeightField {
        heights: Vec<f64>,
        columns: usize,
        spacing: [f64; 2],
    },
    /// A distance field.
    Field(Shape),
    Compound(Vec<(Pose, Outline)>),
}

fn indices(surface: &Surface) -> Vec<[usize; 3]> {
    surface.triangles.iter().map(|t| t.map(|v| v as usize)).collect()
}

impl Outline {
    /// A cone about its centre of mass, its base a polygon on the circle.
    pub(super) fn cone(radius: f64, height: f64) -> Self {
        let rim = (0..SIDES).map(|k| {
            let (sin, cos) = (TAU * k as f64 / SIDES as f64).sin_cos();
            [radius * cos, radius * sin, -0.25 * height]
        });
        Self::Hull(rim.chain([[0.0, 0.0, 0.75 * height]]).collect())
    }

    /// For the collision geometry; `None` where there is no such shape.
    pub(super) fn shape(&self) -> Option<std::result::Result<Shape, ContactError>> {
        Some(match self {
            Self::None | Self::Ellipsoid => return None,
            Self::Plane { normal } => Shape::half_space(*normal),
            Self::Box { half } => Shape::cuboid(*half),
            Self::Sphere { radius } => Shape::ball(*radius),
            Self::Cylinder { radius, length } => Shape::cylinder(0.5 * length, *radius),
            Self::Capsule { radius, length } => Shape::capsule(0.5 * length, *radius),
            Self::Hull(points) => Shape::convex_hull(points),
            Self::Surface(s) => Shape::triangle_mesh(&s.vertices, &indices(s), MeshKind::Solid),
            Self::Sheet(s) => Shape::triangle_mesh(&s.vertices, &indices(s), MeshKind::Surface),
            Self::HeightField {
                heights,
                columns,
                spacing,
            } => Shape::height_field(heights, *columns, *spacing),
            Self::Field(shape) => Ok(shape.clone()),
            Self::Compound(parts) => {
                let mut shapes = Vec::new();
                for (pose, part) in parts {
                    match part.shape()? {
                        Ok(shape) => shapes.push((*pose, shape)),
                        Err(error) => return Some(Err(error)),
                    }
                }
                Shape::compound(&shapes)
            }
        })
    }

    /// Vertices and triangles that it is made of, beyond a few.
    pub(super) fn entries(&self) -> usize {
        match self {
            Self::Hull(points) => points.len(),
            Self::Surface(s) | Self::Sheet(s) => s.vertices.len().saturating_add(s.triangles.len()),
            Self::HeightField { heights, .. } => heights.len(),
            Self::Compound(parts) => parts
                .iter()
                .fold(parts.len(), |sum, (_, part)| sum.saturating_add(part.entries())),
            _ => 0,
        }
    }

    /// Its picture; empty for a plane and a compound.
    pub(super) fn picture(&self) -> Drawn {
        match self {
            Self::None | Self::Ellipsoid | Self::Plane { .. } | Self::Compound(_) => {
                Drawn::Axes { size: 0.0 }
            }
            Self::Box { half } => Drawn::Box { half: *half },
            Self::Sphere { radius } => Drawn::Sphere { radius: *radius },
            Self::Cylinder { radius: r, length: l } => {
                let profile = [[0.0, -0.5 * l], [*r, -0.5 * l], [*r, 0.5 * l], [0.0, 0.5 * l]];
                Surface::turned(&profile).into()
            }
            Self::Capsule { radius, length } => Surface::capsule(*radius, *length).into(),
            Self::Surface(s) | Self::Sheet(s) => Drawn::Mesh(s.clone()),
            Self::Hull(_) | Self::HeightField { .. } | Self::Field(_) => {
                let surface = self.shape().and_then(std::result::Result::ok);
                match surface.and_then(|s| drawn(&s)) {
                    Some(surface) => surface.into(),
                    None => Drawn::Axes { size: 0.0 },
                }
            }
        }
    }
}

/// The surface of a collision shape as one to draw, if it has one.
fn drawn(shape: &Shape) -> Option<Surface> {
    let (vertices, triangles) = shape.surface()?;
    // None of a surface with more vertices than pictures have.
    u32::try_from(vertices.len()).ok()?;
    let corner = |vertex| u32::try_from(vertex).unwrap_or_default();
    Some(Surface {
        triangles: triangles.iter().map(|t| t.map(corner)).collect(),
        vertices,
    })
}

pub(super) fn outline(builder: &Builder<'_>, name: &str, spec: &OutlineSpec) -> Result<Outline> {
    let size = |number, what| shapes::size(builder, name, number, what);
    let at = Where::Field(name, "shape");
    Ok(match spec {
        OutlineSpec::Plane(normal) => Outline::Plane {
            normal: builder.triple(normal, at)?,
        },
        OutlineSpec::Box([x, y, z]) => {
            let edge = |number| size(number, "an edge");
            let half = [edge(x)?, edge(y)?, edge(z)?].map(|s| 0.5 * s);
            Outline::Box { half }
        }
        OutlineSpec::Sphere(radius) => Outline::Sphere {
            radius: size(radius, "the radius")?,
        },
        OutlineSpec::Cylinder(spec) => Outline::Cylinder {
            radius: size(&spec.radius, "the radius")?,
            length: size(&spec.length, "the length")?,
        },
        OutlineSpec::Capsule(spec) => Outline::Capsule {
            radius: size(&spec.radius, "the radius")?,
            length: size(&spec.length, "the length")?,
        },
        OutlineSpec::Cone(spec) => Outline::cone(
            size(&spec.radius, "the radius")?,
            size(&spec.height, "the height")?,
        ),
        OutlineSpec::Hull(hull) => {
            if hull.density.is_some() || !hull.centred {
                let message = format!("the hull of the collider `{name}` has no mass");
                let help = "`density` and `centred` are for the shape of a body".to_owned();
                return builder.wrong(&[at, Where::Name(name)], message, Some(help));
            }
            Outline::Hull(hull_points(builder, name, hull)?)
        }
        OutlineSpec::Surface(spec) => {
            if spec.density.is_some() {
                let message = format!("the surface of the collider `{name}` has no `density`");
                return builder.wrong(&[at, Where::Name(name)], message, None);
            }
            Outline::Surface(shapes::read_surface(builder, name, &spec.file, &spec.scale)?.into())
        }
        OutlineSpec::Sheet(spec) => {
            Outline::Sheet(shapes::read_surface(builder, name, &spec.file, &spec.scale)?.into())
        }
        OutlineSpec::HeightField(field) => height_field(builder, name, field)?,
        OutlineSpec::DistanceField(field) => Outline::Field(distance_fields::shape(builder, name, field)?),
        OutlineSpec::Compound(parts) => Outline::Compound(part_outlines(builder, name, parts)?),
    })
}

fn height_field(builder: &Builder<'_>, name: &str, spec: &HeightFieldSpec) -> Result<Outline> {
    let at = Where::Field(name, "shape");
    let [x, y] = &spec.spacing;
    let spacing = [builder.number(x, at)?, builder.number(y, at)?];
    let columns = spec.heights.first().map_or(0, Vec::len);
    let mut heights = Vec::new();
    for (k, row) in spec.heights.iter().enumerate() {
        if row.len() != columns {
            let message = format!(
                "row {k} of the heights of `{name}` has {} numbers, the first has {columns}",
                row.len()
            );
            return builder.wrong(&[at, Where::Name(name)], message, None);
        }
        heights.extend(builder.numbers(row, at)?);
    }
    Ok(Outline::HeightField {
        heights,
        columns,
        spacing,
    })
}

fn part_outlines(builder: &Builder<'_>, name: &str, parts: &[PartShapeSpec]) -> Result<Vec<(Pose, Outline)>> {
    let mut list = Vec::new();
    for part in parts {
        if matches!(part.shape, OutlineSpec::Compound(_)) {
            let message = format!("a part of the compound `{name}` is a compound");
            return builder.wrong(&[Where::Field(name, "shape"), Where::Name(name)], message, None);
        }
        let pose = nodes::frame_pose(builder, name, part.position.as_ref(), part.rotation.as_ref())?;
        list.push((pose, outline(builder, name, &part.shape)?));
    }
    Ok(list)
}

fn hull_points(builder: &Builder<'_>, name: &str, spec: &HullSpec) -> Result<Vec<[f64; 3]>> {
    let scale = builder.positive(&spec.scale, Where::Field(name, "scale"))?;
    let at = Where::Field(name, "points");
    let points: Vec<[f64; 3]> = match (&spec.points, &spec.file) {
        (Some(points), None) => {
            // A body that is repeated has a hull each.
            mesh_files::count_entries(builder, at, points.len())?;
            let point = |p| builder.triple(p, at);
            points.iter().map(point).collect::<Result<_>>()?
        }
        (None, Some(file)) => mesh_files::mesh(builder, name, "file", file)?.vertices,
        _ => {
            let message = format!("the hull of `{name}` needs exactly one of `points` and `file`");
            return builder.wrong(&[Where::Field(name, "shape"), Where::Name(name)], message, None);
        }
    };
    Ok(points.iter().map(|p| p.map(|x| scale * x)).collect())
}

/// The surface of a convex hull.
pub(super) fn hull_surface(builder: &Builder<'_>, name: &str, spec: &HullSpec) -> Result<Surface> {
    let shape = Shape::convex_hull(&hull_points(builder, name, spec)?);
    let shape = shape.map_err(|error| builder.contact_error(name, "shape", &error))?;
    Ok(drawn(&shape).unwrap_or_default())
}
