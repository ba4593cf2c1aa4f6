//! Inertia of the solid inside a closed triangulated surface.

use super::{RigidMass, meshes::check_mesh};
use crate::ModelError;
use pliant_dense::{Mat3, Vec3};
use std::collections::BTreeMap;

impl RigidMass {
    /// The solid of density `density` (kg/m^3) inside a closed surface of triangles whose corners,
    /// seen from outside, run anticlockwise; vertices in m. Also gives its centre of mass in the
    /// axes of the vertices. The inertia is about that centre and in those axes; see
    /// [`principal_axes`](Self::principal_axes). Exact for the polyhedron (integrals over the
    /// tetrahedra between the triangles and a common point).
    ///
    /// # Errors
    /// [`ModelError::Element`] for a corner that does not exist; [`ModelError::Shape`] for a
    /// triangle at an edge that not exactly two triangles share in opposite directions, a surface
    /// that faces inwards, or one that encloses no volume; [`ModelError::NotFinite`],
    /// [`ModelError::OutOfRange`] for a vertex or the density.
    pub fn from_surface(
        vertices: &[[f64; 3]],
        triangles: &[[usize; 3]],
        density: f64,
    ) -> Result<(Self, [f64; 3]), ModelError> {
        check_mesh("the surface", vertices, triangles, density)?;
        check_closed(triangles)?;
        // A point near the middle keeps the cancellation small.
        let used = || triangles.iter().flatten().map(|v| Vec3::from(vertices[*v]));
        let middle = used().sum::<Vec3>() / (3 * triangles.len()).max(1) as f64;
        let size = used().map(|v| (v - middle).norm()).fold(0.0, f64::max);
        let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
        for triangle in triangles {
            let [a, b, c] = triangle.map(|v| Vec3::from(vertices[v]) - middle);
            let part = a.dot(&b.cross(&c)) / 6.0;
            let sum = a + b + c;
            volume += part;
            first += part / 4.0 * sum;
            let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
            second += part / 20.0 * (squares + sum * sum.transpose());
        }
        let error = |reason| {
            Err(ModelError::Shape {
                what: "triangle",
                element: 0,
                reason,
            })
        };
        if volume.is_nan() || volume.abs() <= 1e-12 * size.powi(3) {
            return error("belongs to a surface that encloses no volume");
        }
        if volume < 0.0 {
            return error("belongs to a surface that faces inwards");
        }
        let centre = first / volume;
        let second = (second - centre * centre.transpose() * volume) * density;
        let mass = Self::principal(density * volume, [0.0; 3]);
        let body = mass.with_inertia(Mat3::identity() * second.trace() - second);
        Ok((body, (middle + centre).into()))
    }
}

/// Checks that every edge is used once each way.
fn check_closed(triangles: &[[usize; 3]]) -> Result<(), ModelError> {
    let mut edges = BTreeMap::new();
    let around = |t: &[usize; 3]| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])];
    for (element, triangle) in triangles.iter().enumerate() {
        for edge in around(triangle) {
            if edge.0 == edge.1 {
                return Err(ModelError::Shape {
                    what: "triangle",
                    element,
                    reason: "has one corner twice",
                });
            }
            if edges.insert(edge, element).is_some() {
                return Err(ModelError::Shape {
                    what: "triangle",
                    element,
                    reason: "runs along an edge in the same direction as another",
                });
            }
        }
    }
    match edges.iter().find(|((a, b), _)| !edges.contains_key(&(*b, *a))) {
        Some((_, element)) => Err(ModelError::Shape {
            what: "triangle",
            element: *element,
            reason: "has an edge that no other triangle shares: the surface is open",
        }),
        None => Ok(()),
    }
}
