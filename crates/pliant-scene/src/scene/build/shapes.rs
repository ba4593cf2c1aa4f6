//! Inertia and pictures of bodies.

use super::{Builder, Result};
use crate::recording::{Shape, Surface};
use crate::scene::schema::{Body, ShapeSpec, SurfaceSpec};
use crate::scene::source::Where;
use crate::scene::{Number, SceneError};
use pliant::model::{ModelError, RigidMass};

impl Builder<'_> {
    pub(super) fn inertia(&self, name: &str, body: &Body) -> Result<(RigidMass, Shape)> {
        let at = Where::Field(name, "mass");
        let mass = match &body.mass {
            Some(mass) => Some(self.number(mass, at)?),
            None => None,
        };
        if let Some(ShapeSpec::Surface(surface)) = &body.shape {
            let (rigid, shape) = self.surface(name, surface, mass)?;
            return Ok((self.with_moments(name, body, rigid)?, shape));
        }
        let Some(mass) = mass else {
            let message = format!("missing key `mass` in a body of `{name}`");
            return self.wrong(&[Where::Field(name, "bodies"), Where::Thing(name)], message, None);
        };
        let Some(spec) = &body.shape else {
            let Some(moments) = &body.inertia else {
                let message = format!("a body of `{name}` has neither `shape` nor `inertia`");
                return self.wrong(&[Where::Field(name, "bodies"), Where::Thing(name)], message, None);
            };
            let moments = self.triple(moments, Where::Field(name, "inertia"))?;
            let size = (2.0 * moments.iter().sum::<f64>() / (3.0 * mass)).sqrt();
            let size = if size.is_normal() { size } else { 1.0 };
            return Ok((RigidMass::principal(mass, moments), Shape::Axes { size }));
        };
        let (rigid, shape) = self.shape(name, spec, mass)?;
        Ok((self.with_moments(name, body, rigid)?, shape))
    }

    /// Moments that the file gives win over those of the shape.
    fn with_moments(&self, name: &str, body: &Body, rigid: RigidMass) -> Result<RigidMass> {
        match &body.inertia {
            Some(moments) => {
                let moments = self.triple(moments, Where::Field(name, "inertia"))?;
                Ok(RigidMass::principal(rigid.mass, moments))
            }
            None => Ok(rigid),
        }
    }

    fn shape(&self, name: &str, spec: &ShapeSpec, mass: f64) -> Result<(RigidMass, Shape)> {
        let size = |number: &Number, what| {
            let value = self.number(number, Where::Field(name, "shape"))?;
            if value > 0.0 {
                Ok(value)
            } else {
                self.bad_shape(name, what)
            }
        };
        let radius = |number| size(number, "the radius");
        Ok(match spec {
            ShapeSpec::Box([x, y, z]) => {
                let edge = |number| size(number, "an edge");
                let edges = [edge(x)?, edge(y)?, edge(z)?];
                let half = edges.map(|s| 0.5 * s);
                (RigidMass::cuboid(mass, edges), Shape::Box { half })
            }
            ShapeSpec::Sphere(number) => {
                let radius = radius(number)?;
                (RigidMass::sphere(mass, radius), Shape::Sphere { radius })
            }
            ShapeSpec::Cylinder(spec) => {
                let (r, l) = (radius(&spec.radius)?, size(&spec.length, "the length")?);
                let profile = [[0.0, -0.5 * l], [r, -0.5 * l], [r, 0.5 * l], [0.0, 0.5 * l]];
                (RigidMass::cylinder(mass, r, l), Surface::turned(&profile).into())
            }
            ShapeSpec::Capsule(spec) => {
                let (r, l) = (radius(&spec.radius)?, size(&spec.length, "the length")?);
                (RigidMass::capsule(mass, r, l), Surface::capsule(r, l).into())
            }
            ShapeSpec::Ellipsoid([x, y, z]) => {
                let axis = |number| size(number, "a half axis");
                let half = [axis(x)?, axis(y)?, axis(z)?];
                (RigidMass::ellipsoid(mass, half), Surface::ellipsoid(half).into())
            }
            ShapeSpec::Cone(spec) => {
                let (r, h) = (radius(&spec.radius)?, size(&spec.height, "the height")?);
                let profile = [[0.0, -0.25 * h], [r, -0.25 * h], [0.0, 0.75 * h]];
                (RigidMass::cone(mass, r, h), Surface::turned(&profile).into())
            }
            // Handled before, as it may have no mass of its own.
            ShapeSpec::Surface(surface) => self.surface(name, surface, Some(mass))?,
        })
    }

    /// The solid inside a mesh, its centre of mass at the origin.
    fn surface(&self, name: &str, spec: &SurfaceSpec, mass: Option<f64>) -> Result<(RigidMass, Shape)> {
        let field = |key| Where::Field(name, key);
        let mesh = self.mesh(name, "file", &spec.file)?;
        let scale = self.positive(&spec.scale, field("scale"))?;
        let density = match (&spec.density, mass) {
            (Some(density), None) => self.positive(density, field("density"))?,
            (None, Some(_)) => 1.0,
            _ => {
                let message = format!("a body of `{name}` needs exactly one of `mass` and `density`");
                return self.wrong(
                    &[field("density"), field("shape"), Where::Thing(name)],
                    message,
                    None,
                );
            }
        };
        let vertices: Vec<[f64; 3]> = mesh.vertices.iter().map(|v| v.map(|x| x * scale)).collect();
        let triangles: Vec<[usize; 3]> = mesh.triangles.iter().map(|t| t.map(|v| v as usize)).collect();
        let made = RigidMass::from_surface(&vertices, &triangles, density);
        let (mut rigid, centre) = made.map_err(|error| self.surface_error(name, &spec.file, error))?;
        if let Some(mass) = mass {
            let factor = mass / rigid.mass;
            rigid.mass = mass;
            rigid.inertia = rigid.inertia.map(|row| row.map(|x| factor * x));
        }
        let surface = Surface {
            vertices: vertices
                .iter()
                .map(|v| [0, 1, 2].map(|k| v[k] - centre[k]))
                .collect(),
            triangles: mesh.triangles,
        };
        Ok((rigid, surface.into()))
    }

    fn surface_error(&self, name: &str, file: &str, error: ModelError) -> SceneError {
        let places = [
            Where::Literal(name, file),
            Where::Field(name, "shape"),
            Where::Thing(name),
        ];
        let message = format!("{file} of `{name}` is not the surface of a solid: {error}");
        SceneError::Model {
            diagnostic: Box::new(self.source.about(&places, message, None)),
            source: error,
        }
    }

    fn bad_shape<T>(&self, name: &str, what: &str) -> Result<T> {
        let message = format!("{what} of the shape of a body of `{name}` must be positive");
        self.wrong(&[Where::Field(name, "shape"), Where::Thing(name)], message, None)
    }
}
