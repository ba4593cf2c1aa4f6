//! The distance from a closed mesh of triangles, and on which side of it a point is.

use pliant_dense::Vec3;

use super::{DistanceField, SHAPE};
use crate::ContactError;
use crate::bvh::{Aabb, Bvh};
use crate::narrow::closest::on_triangle;
use crate::shape::all_finite;
use crate::shape::mesh::{Mesh, Sides};
use crate::shape::polytope::triangle_normal;

/// Spacings around the mesh.
const ROOM: f64 = 4.0;

/// Normals that tell inside from outside at corners, edges and faces: sums of those of the faces
/// there, at corners weighted by the angles of the faces (Bærentzen and Aanæs 2005).
struct Normals {
    faces: Vec<Vec3>,
    edges: Vec<Vec3>,
    points: Vec<Vec3>,
}

impl Normals {
    fn new(mesh: &Mesh) -> Self {
        let corners = |t: &[u32; 3]| t.map(|p| mesh.points[p as usize]);
        let faces: Vec<Vec3> = mesh
            .triangles
            .iter()
            .map(|t| triangle_normal(corners(t)))
            .collect();
        let mut points = vec![Vec3::zeros(); mesh.points.len()];
        for (t, n) in mesh.triangles.iter().zip(&faces) {
            let c = corners(t);
            for k in 0..3 {
                let (u, v) = (c[(k + 1) % 3] - c[k], c[(k + 2) % 3] - c[k]);
                points[t[k] as usize] += n * u.angle(&v);
            }
        }
        let of_edge = |e: usize| {
            mesh.faces_of_edge(e as u32)
                .iter()
                .map(|f| faces[*f as usize])
                .sum()
        };
        let edges = (0..mesh.edges.len()).map(of_edge).collect();
        Self { faces, edges, points }
    }

    /// The normal at a place on a triangle.
    fn at(&self, mesh: &Mesh, triangle: usize, weights: [f64; 3]) -> Vec3 {
        let t = mesh.triangles[triangle];
        let on = |k: usize| weights[k] > 0.0;
        let edge = |i: usize, j: usize| {
            mesh.edge_between(t[i], t[j])
                .map_or(self.faces[triangle], |e| self.edges[e as usize])
        };
        match (on(0), on(1), on(2)) {
            (true, true, false) => edge(0, 1),
            (false, true, true) => edge(1, 2),
            (true, false, true) => edge(2, 0),
            (true, false, false) => self.points[t[0] as usize],
            (false, true, false) => self.points[t[1] as usize],
            (false, false, true) => self.points[t[2] as usize],
            _ => self.faces[triangle],
        }
    }
}

pub(super) fn field(
    points: &[[f64; 3]],
    triangles: &[[usize; 3]],
    spacing: f64,
) -> Result<DistanceField, ContactError> {
    let points = all_finite("a coordinate of the mesh of a distance field", points)?;
    let mesh = Mesh::rigid(SHAPE, points, triangles, Sides::Solid)?;
    let corners = |k: usize| mesh.triangles[k].map(|p| mesh.points[p as usize]);
    let boxes: Vec<Aabb> = (0..mesh.triangles.len()).map(|k| Aabb::of(corners(k))).collect();
    let whole = boxes
        .iter()
        .fold(Aabb::EMPTY, |a, b| a.join(*b))
        .grown(ROOM * spacing);
    let mut tree = Bvh::default();
    tree.build(&boxes);
    let normals = Normals::new(&mesh);
    let stack = std::cell::RefCell::new(Vec::new());
    let distance = |p: [f64; 3]| {
        let p = Vec3::from(p);
        let nearest = |k: usize| {
            let c = corners(k);
            let w = on_triangle(p, c);
            c[0] * w[0] + c[1] * w[1] + c[2] * w[2]
        };
        let square = |k: usize| (p - nearest(k)).norm_squared();
        let Some(k) = tree.nearest(&boxes, p, &mut stack.borrow_mut(), square) else {
            return f64::NAN;
        };
        let way = p - nearest(k);
        let outside = way.dot(&normals.at(&mesh, k, on_triangle(p, corners(k)))) >= 0.0;
        if outside { way.norm() } else { -way.norm() }
    };
    DistanceField::sampled(whole.low.into(), whole.high.into(), spacing, distance)
}
