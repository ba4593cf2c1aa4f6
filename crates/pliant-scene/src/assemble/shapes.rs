//! Inertia and pictures of bodies.

use super::outlines::Outline;
use super::{Builder, Result, mesh_files, outlines};
use crate::schema::{Body, ShapeSpec};
use crate::source::Where;
use crate::{Amount, SceneError};
use pliant::model::{ModelError, RigidMass};
use pliant_output::recording::{Shape, Surface};
use std::f64::consts::PI;
use std::sync::Arc;

/// The shape and mass of a body.
pub(super) struct Solid {
    pub(super) mass: RigidMass,
    pub(super) picture: Shape,
    pub(super) outline: Outline,
    /// Its centre of mass, where `position` is that of another point.
    pub(super) centre: [f64; 3],
}

/// The matter that a body is made of.
#[derive(Clone, Copy)]
enum Matter {
    /// So much, whatever its shape (kg).
    Mass(f64),
    /// Of that density (kg/m^3).
    Density(f64),
}

impl Matter {
    /// The mass of a volume (m^3).
    fn mass(self, volume: f64) -> f64 {
        match self {
            Self::Mass(mass) => mass,
            Self::Density(density) => density * volume,
        }
    }
}

/// The mass or the density of a body, of which exactly one is given; the density may be a key of
/// its shape.
fn matter(builder: &Builder<'_>, name: &str, body: &Body) -> Result<Matter> {
    let field = |key| Where::Field(name, key);
    let of_shape = match &body.shape {
        Some(ShapeSpec::Surface(surface)) => surface.density.as_deref(),
        Some(ShapeSpec::Hull(hull)) => hull.density.as_deref(),
        _ => None,
    };
    match (&body.mass, body.density.as_deref(), of_shape) {
        (Some(mass), None, None) => Ok(Matter::Mass(builder.number(mass, field("mass"))?)),
        (None, Some(density), None) | (None, None, Some(density)) => {
            Ok(Matter::Density(builder.positive(density, field("density"))?))
        }
        _ => {
            let message = format!("a body of `{name}` needs exactly one of `mass` and `density`");
            let places = [field("density"), field("mass"), field("shape"), Where::Name(name)];
            builder.wrong(&places, message, None)
        }
    }
}

pub(super) fn solid(builder: &Builder<'_>, name: &str, body: &Body) -> Result<Solid> {
    let matter = matter(builder, name, body)?;
    let mut solid = match (&body.shape, matter) {
        (Some(ShapeSpec::Surface(surface)), _) => {
            let triangles = read_surface(builder, name, &surface.file, &surface.scale)?;
            inside(builder, name, &surface.file, triangles, matter, true)?
        }
        (Some(ShapeSpec::Hull(hull)), _) => {
            let surface = outlines::hull_surface(builder, name, hull)?;
            let mut solid = inside(builder, name, "the hull", surface, matter, hull.centred)?;
            if let Outline::Surface(surface) = &solid.outline {
                solid.outline = Outline::Hull(surface.vertices.clone());
            }
            solid
        }
        (None, Matter::Density(_)) => {
            let message = format!("a body of `{name}` has a `density` and no `shape`");
            let places = [Where::Field(name, "density"), Where::Name(name)];
            return builder.wrong(&places, message, None);
        }
        (None, Matter::Mass(mass)) => {
            let Some(moments) = &body.inertia else {
                let message = format!("a body of `{name}` has neither `shape` nor `inertia`");
                return builder.wrong(&[Where::Field(name, "bodies"), Where::Name(name)], message, None);
            };
            let moments = builder.triple(moments, Where::Field(name, "inertia"))?;
            let size = (2.0 * moments.iter().sum::<f64>() / (3.0 * mass)).sqrt();
            let size = if size.is_normal() { size } else { 1.0 };
            return Ok(Solid {
                mass: RigidMass {
                    mass,
                    inertia: tensor(builder, name, body, moments)?,
                },
                picture: Shape::Axes { size },
                outline: Outline::None,
                centre: [0.0; 3],
            });
        }
        (Some(spec), _) => shape(builder, name, spec, matter)?,
    };
    // Moments that the file gives win over those of the shape.
    if let Some(moments) = &body.inertia {
        let moments = builder.triple(moments, Where::Field(name, "inertia"))?;
        solid.mass.inertia = tensor(builder, name, body, moments)?;
    } else if body.products.is_some() {
        let message = format!("a body of `{name}` has `products` of inertia without moments");
        let help = "give it `inertia`, the moments about its axes, too".to_owned();
        return builder.wrong(
            &[Where::Field(name, "products"), Where::Name(name)],
            message,
            Some(help),
        );
    }
    Ok(solid)
}

/// The tensor of inertia of a body in its axes (kg m^2), by its moments and what the file says of
/// its products.
fn tensor(builder: &Builder<'_>, name: &str, body: &Body, moments: [f64; 3]) -> Result<[[f64; 3]; 3]> {
    let [xy, xz, yz] = match &body.products {
        Some(products) => builder.triple(products, Where::Field(name, "products"))?,
        None => [0.0; 3],
    };
    let [xx, yy, zz] = moments;
    Ok([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
}

/// A positive size of a shape.
pub(super) fn size(builder: &Builder<'_>, name: &str, number: &Amount, what: &str) -> Result<f64> {
    let value = builder.number(number, Where::Field(name, "shape"))?;
    if value > 0.0 {
        Ok(value)
    } else {
        bad_shape(builder, name, what)
    }
}

fn shape(builder: &Builder<'_>, name: &str, spec: &ShapeSpec, matter: Matter) -> Result<Solid> {
    let size = |number: &Amount, what| size(builder, name, number, what);
    let radius = |number| size(number, "the radius");
    let ball = 4.0 / 3.0 * PI;
    let (mass, picture, outline) = match spec {
        ShapeSpec::Box([x, y, z]) => {
            let edge = |number| size(number, "an edge");
            let edges = [edge(x)?, edge(y)?, edge(z)?];
            let half = edges.map(|s| 0.5 * s);
            (
                RigidMass::cuboid(matter.mass(edges.iter().product()), edges),
                Shape::Box { half },
                Outline::Box { half },
            )
        }
        ShapeSpec::Sphere(number) => {
            let radius = radius(number)?;
            (
                RigidMass::sphere(matter.mass(ball * radius.powi(3)), radius),
                Shape::Sphere { radius },
                Outline::Sphere { radius },
            )
        }
        ShapeSpec::Cylinder(spec) => {
            let (r, l) = (radius(&spec.radius)?, size(&spec.length, "the length")?);
            let outline = Outline::Cylinder { radius: r, length: l };
            let mass = matter.mass(PI * r * r * l);
            (RigidMass::cylinder(mass, r, l), outline.picture(), outline)
        }
        ShapeSpec::Capsule(spec) => {
            let (r, l) = (radius(&spec.radius)?, size(&spec.length, "the length")?);
            let outline = Outline::Capsule { radius: r, length: l };
            let mass = matter.mass(PI * r * r * l + ball * r.powi(3));
            (RigidMass::capsule(mass, r, l), outline.picture(), outline)
        }
        ShapeSpec::Ellipsoid([x, y, z]) => {
            let axis = |number| size(number, "a half axis");
            let half = [axis(x)?, axis(y)?, axis(z)?];
            (
                RigidMass::ellipsoid(matter.mass(ball * half.iter().product::<f64>()), half),
                Surface::ellipsoid(half).into(),
                Outline::Ellipsoid,
            )
        }
        ShapeSpec::Cone(spec) => {
            let (r, h) = (radius(&spec.radius)?, size(&spec.height, "the height")?);
            let profile = [[0.0, -0.25 * h], [r, -0.25 * h], [0.0, 0.75 * h]];
            (
                RigidMass::cone(matter.mass(PI * r * r * h / 3.0), r, h),
                Surface::turned(&profile).into(),
                Outline::cone(r, h),
            )
        }
        // Handled before: their volume is that inside of triangles.
        ShapeSpec::Surface(_) | ShapeSpec::Hull(_) => return bad_shape(builder, name, "the mass"),
    };
    Ok(Solid {
        mass,
        picture,
        outline,
        centre: [0.0; 3],
    })
}

/// A surface of a mesh file, in the axes of the file.
pub(super) fn read_surface(builder: &Builder<'_>, name: &str, file: &str, scale: &Amount) -> Result<Surface> {
    let mesh = mesh_files::mesh(builder, name, "file", file)?;
    let scale = builder.positive(scale, Where::Field(name, "scale"))?;
    Ok(Surface {
        vertices: mesh.vertices.iter().map(|v| v.map(|x| x * scale)).collect(),
        triangles: mesh.triangles,
    })
}

/// The solid inside a surface, its centre of mass at the origin.
fn inside(
    builder: &Builder<'_>,
    name: &str,
    what: &str,
    surface: Surface,
    matter: Matter,
    centred: bool,
) -> Result<Solid> {
    let density = match matter {
        Matter::Density(density) => density,
        Matter::Mass(_) => 1.0,
    };
    let triangles: Vec<[usize; 3]> = surface.triangles.iter().map(|t| t.map(|v| v as usize)).collect();
    let made = RigidMass::from_surface(&surface.vertices, &triangles, density);
    let (mut rigid, centre) = made.map_err(|error| surface_error(builder, name, what, error))?;
    if let Matter::Mass(mass) = matter {
        let factor = mass / rigid.mass;
        rigid.mass = mass;
        rigid.inertia = rigid.inertia.map(|row| row.map(|x| factor * x));
    }
    let move_to_centre = |v: &[f64; 3]| [0, 1, 2].map(|k| v[k] - centre[k]);
    let surface = Arc::new(Surface {
        vertices: surface.vertices.iter().map(move_to_centre).collect(),
        triangles: surface.triangles,
    });
    Ok(Solid {
        mass: rigid,
        picture: Shape::Mesh(surface.clone()),
        outline: Outline::Surface(surface),
        centre: if centred { [0.0; 3] } else { centre },
    })
}

fn surface_error(builder: &Builder<'_>, name: &str, file: &str, error: ModelError) -> SceneError {
    let places = [
        Where::Literal(name, file),
        Where::Field(name, "shape"),
        Where::Name(name),
    ];
    let message = format!("{file} of `{name}` is not the surface of a solid: {error}");
    SceneError::Model {
        diagnostic: Box::new(builder.source.about(&places, message, None)),
        source: error,
    }
}

pub(super) fn bad_shape<T>(builder: &Builder<'_>, name: &str, what: &str) -> Result<T> {
    let message = format!("{what} of the shape of `{name}` must be positive");
    builder.wrong(&[Where::Field(name, "shape"), Where::Name(name)], message, None)
}
