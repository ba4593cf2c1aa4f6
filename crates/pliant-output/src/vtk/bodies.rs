//! Rigid bodies as surface meshes in world coordinates.

use std::f64::consts::PI;
use std::io::{self, Write};

use super::{integers, open_file, vectors};
use crate::recording::{BodyTrack, Frame, Shape, Surface};

/// Meridians and parallels of a sphere.
const MERIDIANS: usize = 12;
const PARALLELS: usize = 8;

/// Corners of the faces of a box, outward; corner `i` is at `+half` on axis `k` if bit `k` of `i`
/// is set.
const BOX_FACES: [[usize; 4]; 6] = [
    [0, 4, 6, 2],
    [1, 3, 7, 5],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 2, 3, 1],
    [4, 5, 7, 6],
];

/// Cells of one kind (lines or polygons) with their data.
#[derive(Default)]
struct Cells {
    connectivity: Vec<i64>,
    offsets: Vec<i64>,
    body: Vec<i64>,
    axis: Vec<i64>,
}

impl Cells {
    fn push(&mut self, first: usize, corners: &[usize], body: usize, axis: i64) {
        self.connectivity
            .extend(corners.iter().map(|&corner| (first + corner) as i64));
        self.offsets.push(self.connectivity.len() as i64);
        self.body.push(body as i64);
        self.axis.push(axis);
    }

    fn write(&self, out: &mut dyn Write, tag: &str) -> io::Result<()> {
        writeln!(out, "      <{tag}>")?;
        integers(out, "connectivity", &self.connectivity)?;
        integers(out, "offsets", &self.offsets)?;
        writeln!(out, "      </{tag}>")
    }
}

/// All bodies in body axes: only the poses differ between frames.
pub(super) struct BodyMesh {
    /// Points in the axes of their body \[m\].
    points: Vec<[f64; 3]>,
    /// Per point, the body that carries it.
    carrier: Vec<usize>,
    lines: Cells,
    polygons: Cells,
}

impl BodyMesh {
    pub(super) fn new(bodies: &[BodyTrack]) -> Self {
        let (points, carrier) = (Vec::new(), Vec::new());
        let mut mesh = Self {
            points,
            carrier,
            lines: Cells::default(),
            polygons: Cells::default(),
        };
        for (index, body) in bodies.iter().enumerate() {
            match &body.shape {
                Shape::Box { half } => mesh.add_box(index, *half),
                Shape::Sphere { radius } => mesh.add_sphere(index, *radius),
                Shape::Axes { size } => mesh.add_axes(index, *size),
                Shape::Mesh(surface) => mesh.add_surface(index, surface),
            }
            mesh.carrier.resize(mesh.points.len(), index);
        }
        mesh
    }

    fn add_box(&mut self, body: usize, half: [f64; 3]) {
        let first = self.points.len();
        for corner in 0..8 {
            self.points.push(std::array::from_fn(|k| {
                if corner >> k & 1 == 1 { half[k] } else { -half[k] }
            }));
        }
        for face in &BOX_FACES {
            self.polygons.push(first, face, body, -1);
        }
    }

    /// Two poles and `PARALLELS - 1` rings; triangles at the poles, quads between.
    fn add_sphere(&mut self, body: usize, radius: f64) {
        let first = self.points.len();
        self.points.push([0.0, 0.0, radius]);
        self.points.push([0.0, 0.0, -radius]);
        for ring in 1..PARALLELS {
            let polar = PI * ring as f64 / PARALLELS as f64;
            for meridian in 0..MERIDIANS {
                let azimuth = 2.0 * PI * meridian as f64 / MERIDIANS as f64;
                let (x, y) = (polar.sin() * azimuth.cos(), polar.sin() * azimuth.sin());
                self.points.push([radius * x, radius * y, radius * polar.cos()]);
            }
        }
        let at = |ring: usize, meridian: usize| 2 + (ring - 1) * MERIDIANS + meridian % MERIDIANS;
        for m in 0..MERIDIANS {
            self.polygons.push(first, &[0, at(1, m), at(1, m + 1)], body, -1);
            for ring in 1..PARALLELS - 1 {
                let quad = [at(ring, m), at(ring + 1, m), at(ring + 1, m + 1), at(ring, m + 1)];
                self.polygons.push(first, &quad, body, -1);
            }
            self.polygons.push(
                first,
                &[1, at(PARALLELS - 1, m + 1), at(PARALLELS - 1, m)],
                body,
                -1,
            );
        }
    }

    /// Triangles with a corner that does not exist are left out.
    fn add_surface(&mut self, body: usize, surface: &Surface) {
        let first = self.points.len();
        self.points.extend_from_slice(&surface.vertices);
        for triangle in &surface.triangles {
            let corners = triangle.map(|v| v as usize);
            if corners.iter().all(|v| *v < surface.vertices.len()) {
                self.polygons.push(first, &corners, body, -1);
            }
        }
    }

    fn add_axes(&mut self, body: usize, size: f64) {
        let first = self.points.len();
        self.points.push([0.0; 3]);
        for axis in 0..3 {
            self.points
                .push(std::array::from_fn(|k| if k == axis { size } else { 0.0 }));
            self.lines.push(first, &[0, axis + 1], body, axis as i64);
        }
    }

    /// Expects as many poses in the frame as bodies.
    pub(super) fn write(&self, frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
        let placed: Vec<[f64; 3]> = self
            .points
            .iter()
            .zip(&self.carrier)
            .map(|(p, &body)| place(&frame.poses[body], *p))
            .collect();
        let (points, lines, polygons) = (placed.len(), self.lines.body.len(), self.polygons.body.len());
        open_file(out, "PolyData")?;
        writeln!(out, "  <PolyData>")?;
        writeln!(
            out,
            "    <Piece NumberOfPoints=\"{points}\" NumberOfVerts=\"0\" NumberOfLines=\"{lines}\" \
             NumberOfStrips=\"0\" NumberOfPolys=\"{polygons}\">"
        )?;
        // VTK numbers the cells of a PolyData lines first, then polygons.
        writeln!(out, r#"      <CellData Scalars="body">"#)?;
        integers(
            out,
            "body",
            &[self.lines.body.as_slice(), &self.polygons.body].concat(),
        )?;
        integers(
            out,
            "axis",
            &[self.lines.axis.as_slice(), &self.polygons.axis].concat(),
        )?;
        if !frame.body_contact_forces.is_empty() {
            let of = |body: &i64| frame.body_contact_forces[*body as usize];
            let bodies = self.lines.body.iter().chain(&self.polygons.body);
            vectors(out, "contact_force", &bodies.map(of).collect::<Vec<_>>())?;
        }
        writeln!(out, "      </CellData>\n      <Points>")?;
        vectors(out, "Points", &placed)?;
        writeln!(out, "      </Points>")?;
        self.lines.write(out, "Lines")?;
        self.polygons.write(out, "Polys")?;
        writeln!(out, "    </Piece>\n  </PolyData>\n</VTKFile>")
    }
}

/// Takes the body-fixed point `p` \[m\] to world coordinates: `x + p + 2 w (q x p) + 2 q x (q x p)`
/// for the pose `(x, w, q)`, the quaternion being of unit length.
fn place(pose: &[f64; 7], p: [f64; 3]) -> [f64; 3] {
    let [x, y, z, w, qx, qy, qz] = *pose;
    let q = [qx, qy, qz];
    let t = cross(q, p);
    let tt = cross(q, t);
    let origin = [x, y, z];
    std::array::from_fn(|k| origin[k] + p[k] + 2.0 * (w * t[k] + tt[k]))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
