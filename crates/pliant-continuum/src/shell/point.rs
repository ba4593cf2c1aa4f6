//! Coefficients of the strains of a shell at one point of integration.

use super::directors::{directors, on_planes};
use crate::sheet::mesh::quadrangle::{CORNERS, Frame, shape};
use crate::{ContinuumError, SheetMesh, SymmetryPlane};
use pliant_dense::rotation::{Quaternion, conjugate, rotate};
use pliant_dense::{Mat3, Vec3};

/// Numbers over two corners each.
type Pairs = [[f64; 4]; 4];

/// A point of integration of a quadrangle: its strains are of second degree in the places `x_a` of
/// the corners and in their directors `d_b = R_b D_b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Area (m^2) that it stands for.
    pub(super) area: f64,
    pub(super) nodes: [usize; 4],
    /// `m_ab` (1/m^2) of the three strains of the middle surface, `sum m_ab x_a . x_b`: symmetric.
    pub(super) membrane: [Pairs; 3],
    /// `s_ab` of the three curvatures (1/m^2) and the two shears (1/m), `sum s_ab x_a . d_b`.
    pub(super) bend: [Pairs; 5],
    /// Gradients (1/m) of the shape functions along the two axes of the point, and the functions.
    pub(super) gradients: [[f64; 2]; 4],
    pub(super) shares: [f64; 4],
    /// Directors and the axes of the point at rest, in the axes of each corner's frame.
    pub(super) directors: [[f64; 3]; 4],
    pub(super) axes: [[[f64; 3]; 2]; 4],
    /// The strains at rest, which are subtracted.
    pub(super) rest: [f64; 9],
}

/// Where the corners of a quadrangle are and how they are turned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corners {
    /// Places (m) seen from the first of them: a shift leaves no rounding.
    pub(super) x: [Vec3; 4],
    pub(super) r: [Mat3; 4],
}

/// `s x_a . y_b` over all pairs.
fn contract(s: &Pairs, products: &Pairs) -> f64 {
    let rows = s.iter().zip(products);
    rows.map(|(s, p)| (0..4).map(|b| s[b] * p[b]).sum::<f64>()).sum()
}

impl Point {
    /// The directors of the corners now.
    pub(super) fn directors(&self, at: &Corners) -> [Vec3; 4] {
        std::array::from_fn(|b| at.r[b] * Vec3::from(self.directors[b]))
    }

    /// The columns of the gradient of deformation, and the mean turned axes.
    pub(super) fn drill(&self, at: &Corners) -> [[Vec3; 2]; 2] {
        let mut out = [[Vec3::zeros(); 2]; 2];
        for a in 0..4 {
            for k in 0..2 {
                out[0][k] += self.gradients[a][k] * at.x[a];
                out[1][k] += self.shares[a] * (at.r[a] * Vec3::from(self.axes[a][k]));
            }
        }
        out
    }

    /// The nine strains.
    pub(super) fn strains(&self, at: &Corners) -> [f64; 9] {
        let d = self.directors(at);
        let gram: Pairs = at.x.map(|x| at.x.map(|y| x.dot(&y)));
        let mixed: Pairs = at.x.map(|x| d.map(|d| x.dot(&d)));
        let [f, e] = self.drill(at);
        let mut out = self.rest.map(|rest| -rest);
        for k in 0..3 {
            out[k] += contract(&self.membrane[k], &gram);
        }
        for k in 0..5 {
            out[3 + k] += contract(&self.bend[k], &mixed);
        }
        out[8] += 0.5 * (f[0].dot(&e[1]) - f[1].dot(&e[0]));
        out
    }
}

/// The points of all quadrangles of a mesh whose frames at rest are turned by `rotations`, four of
/// each; behind planes of symmetry its mirror image goes on.
pub(super) fn points(
    mesh: &SheetMesh,
    rotations: &[Quaternion],
    warp: Option<[f64; 3]>,
    fold: f64,
    planes: &[SymmetryPlane],
) -> Result<Vec<Point>, ContinuumError> {
    let mut found = Vec::with_capacity(mesh.quadrangles.len());
    for quadrangle in 0..mesh.quadrangles.len() {
        let frames = mesh.frames_of(quadrangle, warp);
        let wrong = |reason| ContinuumError::Quadrangle { quadrangle, reason };
        found.push(frames.map_err(wrong)?);
    }
    let on = on_planes(mesh, planes)?;
    let directors = directors(mesh, found.iter().map(|(x, _)| x), &on, fold);
    let mut out = Vec::with_capacity(4 * found.len());
    for ((nodes, (x, frames)), directors) in mesh.quadrangles.iter().zip(&found).zip(&directors) {
        let assumed = Assumed::new(x);
        for frame in frames {
            out.push(point(*nodes, x, frame, &assumed, directors, rotations));
        }
    }
    Ok(out)
}

fn outer(a: &[f64; 4], b: &[f64; 4], scale: f64) -> Pairs {
    std::array::from_fn(|i| std::array::from_fn(|j| scale * a[i] * b[j]))
}

fn add(out: &mut Pairs, scale: f64, what: &Pairs) {
    for (out, what) in out.iter_mut().zip(what) {
        (0..4).for_each(|k| out[k] += scale * what[k]);
    }
}

/// Strains of lines of a quadrangle, of which the assumed ones are made: of the sides at `s = 1`,
/// `s = -1` (along `r`), at `r = 1`, `r = -1` (along `s`).
struct Assumed {
    /// Strains of the middle surface at the four sides, and the shear in the middle.
    membrane: [Pairs; 5],
    /// Weights of the five in the strain of twisting the square, `(x_d . x_d - X_d . X_d)/2`.
    twist: [f64; 5],
    /// Transverse shears at the four sides.
    shear: [Pairs; 4],
}

/// The coefficients of `x_r`, `x_s` and `x_d`: `x = x_0 + r x_r + s x_s + r s x_d`.
const ALONG_R: [f64; 4] = [-0.25, 0.25, 0.25, -0.25];
const ALONG_S: [f64; 4] = [-0.25, -0.25, 0.25, 0.25];
const TWISTED: [f64; 4] = [0.25, -0.25, 0.25, -0.25];

impl Assumed {
    fn new(x: &[Vec3; 4]) -> Self {
        let of = |c: &[f64; 4]| x.iter().zip(c).map(|(x, c)| x * *c).sum::<Vec3>();
        let (along_r, along_s, twisted) = (of(&ALONG_R), of(&ALONG_S), of(&TWISTED));
        // The part of x_d in the plane of x_r and x_s, in terms of these.
        let normal = along_r.cross(&along_s);
        let size = normal.norm_squared();
        let r = twisted.dot(&along_s.cross(&normal)) / size;
        let s = twisted.dot(&normal.cross(&along_r)) / size;
        // Negative: quadrangles are convex, so that |r| + |s| < 1.
        let d = r * r + s * s - 1.0;
        let twist = [
            r * (r - 1.0) / (2.0 * d),
            r * (r + 1.0) / (2.0 * d),
            s * (s - 1.0) / (2.0 * d),
            s * (s + 1.0) / (2.0 * d),
            2.0 * r * s / d,
        ];
        let line = |main: [f64; 4], sign: f64| std::array::from_fn(|k| main[k] + sign * TWISTED[k]);
        let sides: [[f64; 4]; 4] = [
            line(ALONG_R, 1.0),
            line(ALONG_R, -1.0),
            line(ALONG_S, 1.0),
            line(ALONG_S, -1.0),
        ];
        let ends: [[f64; 4]; 4] = [
            [0.0, 0.0, 0.5, 0.5],
            [0.5, 0.5, 0.0, 0.0],
            [0.0, 0.5, 0.5, 0.0],
            [0.5, 0.0, 0.0, 0.5],
        ];
        let mut middle = outer(&ALONG_R, &ALONG_S, 0.25);
        add(&mut middle, 1.0, &outer(&ALONG_S, &ALONG_R, 0.25));
        let [a, b, c, d] = sides.map(|side| outer(&side, &side, 0.5));
        Self {
            membrane: [a, b, c, d, middle],
            twist,
            shear: std::array::from_fn(|k| outer(&sides[k], &ends[k], 1.0)),
        }
    }

    /// The strains `rr`, `ss`, `rs` of the middle surface at a place of the square (MITC4+).
    fn membrane_at(&self, [r, s]: [f64; 2]) -> [Pairs; 3] {
        let weights = [
            ([0.5 + 0.5 * s, 0.5 - 0.5 * s, 0.0, 0.0, 0.0], s * s - 1.0),
            ([0.0, 0.0, 0.5 + 0.5 * r, 0.5 - 0.5 * r, 0.0], r * r - 1.0),
            ([0.25 * r, -0.25 * r, 0.25 * s, -0.25 * s, 1.0], r * s),
        ];
        weights.map(|(own, twist)| {
            let mut out = [[0.0; 4]; 4];
            for (k, strain) in self.membrane.iter().enumerate() {
                add(&mut out, own[k] + twist * self.twist[k], strain);
            }
            out
        })
    }

    /// The transverse shears along `r` and `s` at a place of the square (MITC4).
    fn shear_at(&self, [r, s]: [f64; 2]) -> [Pairs; 2] {
        let mut out = [[[0.0; 4]; 4]; 2];
        for (out, (first, at)) in out.iter_mut().zip([(0, s), (2, r)]) {
            add(out, 0.5 + 0.5 * at, &self.shear[first]);
            add(out, 0.5 - 0.5 * at, &self.shear[first + 1]);
        }
        out
    }
}

fn point(
    nodes: [usize; 4],
    x: &[Vec3; 4],
    frame: &Frame,
    assumed: &Assumed,
    directors: &[Vec3; 4],
    rotations: &[Quaternion],
) -> Point {
    let shapes = CORNERS.map(|corner| shape(frame.at, corner));
    // Components along the axes of the point, from those along the lines of the square.
    let p = frame.axes.map(|axis| frame.dual.map(|dual| axis.dot(&dual)));
    let in_axes = |[rr, ss, rs]: &[Pairs; 3], i: usize, j: usize, scale: f64| {
        let mut out = [[0.0; 4]; 4];
        add(&mut out, scale * p[i][0] * p[j][0], rr);
        add(&mut out, scale * p[i][1] * p[j][1], ss);
        add(&mut out, scale * (p[i][0] * p[j][1] + p[i][1] * p[j][0]), rs);
        out
    };
    let slope = |k: usize| -> [f64; 4] { shapes.map(|(_, slopes)| slopes[k]) };
    let mut mixed = outer(&slope(0), &slope(1), 0.5);
    add(&mut mixed, 1.0, &outer(&slope(1), &slope(0), 0.5));
    let curvature = [
        outer(&slope(0), &slope(0), 1.0),
        outer(&slope(1), &slope(1), 1.0),
        mixed,
    ];
    let membrane = assumed.membrane_at(frame.at);
    let shear = assumed.shear_at(frame.at);
    let shear_along = |i: usize| {
        let mut out = [[0.0; 4]; 4];
        (0..2).for_each(|k| add(&mut out, p[i][k], &shear[k]));
        out
    };
    let turns = nodes.map(|node| conjugate(rotations[node]));
    let mut out = Point {
        area: frame.area,
        nodes,
        membrane: [
            in_axes(&membrane, 0, 0, 1.0),
            in_axes(&membrane, 1, 1, 1.0),
            in_axes(&membrane, 0, 1, 2.0),
        ],
        bend: [
            in_axes(&curvature, 0, 0, 1.0),
            in_axes(&curvature, 1, 1, 1.0),
            in_axes(&curvature, 0, 1, 2.0),
            shear_along(0),
            shear_along(1),
        ],
        gradients: shapes.map(|(_, [a, b])| p.map(|p| a * p[0] + b * p[1])),
        shares: shapes.map(|(share, _)| share),
        directors: std::array::from_fn(|b| rotate(turns[b], directors[b]).into()),
        axes: std::array::from_fn(|b| frame.axes.map(|axis| rotate(turns[b], axis).into())),
        rest: [0.0; 9],
    };
    let at_rest = Corners {
        x: x.map(|y| y - x[0]),
        r: nodes.map(|node| pliant_dense::rotation::matrix(rotations[node])),
    };
    out.rest = out.strains(&at_rest);
    out
}
