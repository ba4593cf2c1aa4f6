//! Convex polytopes: boxes, hulls, and the flat ones (point, segment, triangle).

use pliant_dense::Vec3;

use crate::ContactError;

/// Corners, faces and edges of a convex body. A point has no edges, a segment no faces, a triangle
/// two faces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Polytope {
    /// Corners in the axes of the shape (m).
    pub(crate) points: Vec<Vec3>,
    /// The corners round each face, counter-clockwise seen from outside.
    pub(crate) faces: Vec<Vec<u32>>,
    /// Unit outward normal of each face.
    pub(crate) normals: Vec<Vec3>,
    /// The ends of each edge, once.
    pub(crate) edges: Vec<[u32; 2]>,
    /// One edge of each direction.
    pub(crate) directions: Vec<[u32; 2]>,
}

impl Polytope {
    pub(crate) fn point() -> Self {
        Self {
            points: vec![Vec3::zeros()],
            ..Self::default()
        }
    }

    /// A segment along z of length `2 half`.
    pub(crate) fn segment(half: f64) -> Self {
        Self {
            points: vec![Vec3::new(0.0, 0.0, -half), Vec3::new(0.0, 0.0, half)],
            edges: vec![[0, 1]],
            directions: vec![[0, 1]],
            ..Self::default()
        }
    }

    /// A triangle with two sides; its normals are those of its corners.
    pub(crate) fn triangle(points: [Vec3; 3]) -> Self {
        let normal = triangle_normal(points);
        Self {
            points: points.to_vec(),
            faces: vec![vec![0, 1, 2], vec![0, 2, 1]],
            normals: vec![normal, -normal],
            edges: vec![[0, 1], [1, 2], [2, 0]],
            directions: vec![[0, 1], [1, 2], [2, 0]],
        }
    }

    pub(crate) fn cuboid(half: Vec3) -> Self {
        let corner = |k: usize| {
            let side = |axis: usize| {
                if k >> axis & 1 == 1 {
                    half[axis]
                } else {
                    -half[axis]
                }
            };
            Vec3::new(side(0), side(1), side(2))
        };
        Self {
            points: (0..8).map(corner).collect(),
            faces: vec![
                vec![0, 4, 6, 2],
                vec![1, 3, 7, 5],
                vec![0, 1, 5, 4],
                vec![2, 6, 7, 3],
                vec![0, 2, 3, 1],
                vec![4, 5, 7, 6],
            ],
            normals: vec![
                -Vec3::x(),
                Vec3::x(),
                -Vec3::y(),
                Vec3::y(),
                -Vec3::z(),
                Vec3::z(),
            ],
            edges: vec![
                [0, 1],
                [2, 3],
                [4, 5],
                [6, 7],
                [0, 2],
                [1, 3],
                [4, 6],
                [5, 7],
                [0, 4],
                [1, 5],
                [2, 6],
                [3, 7],
            ],
            directions: vec![[0, 1], [0, 2], [0, 4]],
        }
    }

    /// The convex hull of points that do not lie in a plane; triangles in one plane are joined to
    /// one face.
    pub(crate) fn hull(given: &[Vec3]) -> Result<Self, ContactError> {
        let flat = || ContactError::Degenerate {
            shape: "a convex hull",
            what: "the set of points",
            entry: 0,
            reason: "its points lie in a plane, or nearly",
        };
        let (low, high) = bounds(given);
        let size = (high - low).amax();
        let middle = (low + high) / 2.0;
        if !(size > 0.0 && size.is_finite()) {
            return Err(flat());
        }
        let scaled: Vec<Vec3> = given.iter().map(|p| (p - middle) / size).collect();
        let (points, triangles) = thick(&scaled)
            .then(|| crate::parry::hull(&scaled))
            .flatten()
            .ok_or_else(flat)?;
        let mut polytope = join_coplanar(points, &triangles).ok_or_else(flat)?;
        for p in &mut polytope.points {
            *p = *p * size + middle;
        }
        Ok(polytope)
    }
}

/// The unit normal of a triangle, zero if it has no area.
pub(crate) fn triangle_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    let normal = (b - a).cross(&(c - a));
    let length = normal.norm();
    if length > 0.0 {
        normal / length
    } else {
        Vec3::zeros()
    }
}

/// The corners of the box about points.
pub(crate) fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let start = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    points
        .iter()
        .fold(start, |(low, high), p| (low.inf(p), high.sup(p)))
}

/// Whether points scaled to unit size extend in three directions.
fn thick(points: &[Vec3]) -> bool {
    let Some(&a) = points.first() else { return false };
    let farthest = |measure: &dyn Fn(&Vec3) -> f64| {
        points.iter().fold((0.0, a), |best, p| {
            if measure(p) > best.0 {
                (measure(p), *p)
            } else {
                best
            }
        })
    };
    let (_, b) = farthest(&|p| (p - a).norm());
    let along = b - a;
    let (area, c) = farthest(&|p| (p - a).cross(&along).norm());
    if area < 1e-7 {
        return false;
    }
    let normal = along.cross(&(c - a)).normalize();
    farthest(&|p| (p - a).dot(&normal).abs()).0 > 1e-7
}

/// A polytope of the triangles of a hull.
fn join_coplanar(points: Vec<Vec3>, triangles: &[[u32; 3]]) -> Option<Polytope> {
    let corner = |t: &[u32; 3]| t.map(|i| points[i as usize]);
    let normals: Vec<Vec3> = triangles.iter().map(|t| triangle_normal(corner(t))).collect();
    // The triangle on the other side of each directed edge.
    let mut sides: Vec<(u32, u32, usize)> = Vec::new();
    for (k, t) in triangles.iter().enumerate() {
        sides.extend((0..3).map(|i| (t[i], t[(i + 1) % 3], k)));
    }
    sides.sort_unstable();
    let across = |a: u32, b: u32| {
        let at = sides.partition_point(|s| (s.0, s.1) < (b, a));
        sides.get(at).filter(|s| (s.0, s.1) == (b, a)).map(|s| s.2)
    };
    // Flat to 1e-10 of the size of the hull, measured by the corners and not by the normals of
    // slivers.
    let coplanar = |seed: usize, t: usize| {
        let [a, ..] = corner(&triangles[seed]);
        corner(&triangles[t])
            .iter()
            .all(|p| (p - a).dot(&normals[seed]).abs() < 1e-10)
    };
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    let area = |k: usize| {
        let [a, b, c] = corner(&triangles[k]);
        (b - a).cross(&(c - a)).norm()
    };
    order.sort_by(|&i, &j| area(j).total_cmp(&area(i)).then(i.cmp(&j)));
    let mut face_of = vec![usize::MAX; triangles.len()];
    let mut polytope = Polytope {
        points: points.clone(),
        ..Polytope::default()
    };
    for &seed in &order {
        if face_of[seed] != usize::MAX {
            continue;
        }
        let face = polytope.faces.len();
        face_of[seed] = face;
        let mut open = vec![seed];
        let mut border: Vec<[u32; 2]> = Vec::new();
        while let Some(t) = open.pop() {
            for i in 0..3 {
                let (a, b) = (triangles[t][i], triangles[t][(i + 1) % 3]);
                let other = across(a, b)?;
                if face_of[other] == usize::MAX && coplanar(seed, other) {
                    face_of[other] = face;
                    open.push(other);
                }
            }
        }
        for (_, triangle) in triangles.iter().enumerate().filter(|(t, _)| face_of[*t] == face) {
            for i in 0..3 {
                let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
                if face_of[across(a, b)?] != face {
                    border.push([a, b]);
                }
            }
        }
        let mut loop_points = vec![border.first()?[0]];
        while loop_points.len() < border.len() {
            let last = *loop_points.last()?;
            loop_points.push(border.iter().find(|e| e[0] == last)?[1]);
        }
        polytope.faces.push(loop_points);
        polytope.normals.push(normals[seed]);
    }
    if normals.iter().any(|n| *n == Vec3::zeros()) && polytope.faces.len() < 4 {
        return None;
    }
    for face in &polytope.faces {
        for (k, &a) in face.iter().enumerate() {
            let b = face[(k + 1) % face.len()];
            if a < b {
                polytope.edges.push([a, b]);
            }
        }
    }
    polytope.edges.sort_unstable();
    let direction = |e: &[u32; 2]| (points[e[1] as usize] - points[e[0] as usize]).normalize();
    for edge in &polytope.edges {
        let d = direction(edge);
        if !polytope
            .directions
            .iter()
            .any(|other| direction(other).cross(&d).norm() < 1e-9)
        {
            polytope.directions.push(*edge);
        }
    }
    Some(polytope)
}
