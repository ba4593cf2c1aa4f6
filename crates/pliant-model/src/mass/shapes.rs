//! Inertia of simple homogeneous solids.

use super::RigidMass;
use pliant_dense::Mat3;
use pliant_dense::rotation::{self, Quaternion};

/// A dimension, or not a number: the check of the model refuses the inertia then.
fn size(x: f64) -> f64 {
    if x >= 0.0 { x } else { f64::NAN }
}

impl RigidMass {
    /// A homogeneous box of mass `mass` (kg) with the given edge lengths (m).
    pub fn cuboid(mass: f64, edges: [f64; 3]) -> Self {
        let [a, b, c] = edges.map(|s| size(s) * s);
        Self::principal(mass, [b + c, a + c, a + b].map(|s| mass / 12.0 * s))
    }

    /// A homogeneous ball of mass `mass` (kg) and radius `radius` (m).
    pub fn sphere(mass: f64, radius: f64) -> Self {
        Self::principal(mass, [0.4 * mass * radius * size(radius); 3])
    }

    /// A homogeneous ellipsoid of mass `mass` (kg) with the given half axes (m).
    pub fn ellipsoid(mass: f64, half_axes: [f64; 3]) -> Self {
        let [a, b, c] = half_axes.map(|s| size(s) * s);
        Self::principal(mass, [b + c, a + c, a + b].map(|s| 0.2 * mass * s))
    }

    /// A homogeneous solid cylinder of mass `mass` (kg), radius and length (m), its axis along `z`.
    pub fn cylinder(mass: f64, radius: f64, length: f64) -> Self {
        let (rr, ll) = (size(radius) * radius, size(length) * length);
        let across = mass * (rr / 4.0 + ll / 12.0);
        Self::principal(mass, [across, across, mass * rr / 2.0])
    }

    /// A homogeneous capsule of mass `mass` (kg) and radius (m), its axis along `z`; `length` (m)
    /// is that between the centres of its half balls.
    pub fn capsule(mass: f64, radius: f64, length: f64) -> Self {
        let (r, l) = (size(radius), size(length));
        // Volumes of the two parts are as l and 4/3 r.
        let middle = mass * l / (l + 4.0 / 3.0 * r);
        let ends = mass - middle;
        let across =
            middle * (r * r / 4.0 + l * l / 12.0) + ends * (0.4 * r * r + 0.25 * l * l + 0.375 * l * r);
        let along = middle * r * r / 2.0 + ends * 0.4 * r * r;
        Self::principal(mass, [across, across, along])
    }

    /// A homogeneous solid cone of mass `mass` (kg), radius of the base and height (m), its axis
    /// along `z`; its centre of mass is at a quarter of the height.
    pub fn cone(mass: f64, radius: f64, height: f64) -> Self {
        let (rr, hh) = (size(radius) * radius, size(height) * height);
        let across = mass * (0.15 * rr + 0.0375 * hh);
        Self::principal(mass, [across, across, 0.3 * mass * rr])
    }

    /// The same body in axes against which it is turned by `rotation`, a unit quaternion:
    /// `R I R^T`. A quarter turn about `y` takes the axis of a cylinder from `z` to `x`.
    #[must_use]
    pub fn turned(&self, rotation: Quaternion) -> Self {
        let r = rotation::matrix(rotation);
        self.with_inertia(r * self.inertia_matrix() * r.transpose())
    }

    /// The principal moments about the centre of mass, as a body in its principal axes, by
    /// increasing moment, and the rotation from these axes to the present ones:
    /// `body.turned(rotation)` gives the body back.
    pub fn principal_axes(&self) -> (Self, Quaternion) {
        let eigen = self.inertia_matrix().symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_by(|a, b| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]));
        let [x, y, _] = order.map(|k| eigen.eigenvectors.column(k).into_owned());
        let axes = Mat3::from_columns(&[x, y, x.cross(&y)]);
        let moments = order.map(|k| eigen.eigenvalues[k]);
        (Self::principal(self.mass, moments), rotation::quaternion(&axes))
    }

    pub(super) fn with_inertia(&self, inertia: Mat3) -> Self {
        let entry = |i: usize, j: usize| 0.5 * (inertia[(i, j)] + inertia[(j, i)]);
        Self {
            mass: self.mass,
            inertia: [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j))),
        }
    }
}
