//! Bilinear quadrangles: their points of integration.

use super::{Flat, SheetMesh, axes};
use pliant_dense::Vec3;

/// Corners of the square that a quadrangle is the image of.
pub(crate) const CORNERS: [[f64; 2]; 4] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];

/// A place of a quadrangle at rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The place in the square.
    pub(crate) at: [f64; 2],
    /// Area (m^2) per area of the square.
    pub(crate) area: f64,
    /// Unit vectors in the tangent plane: along the warp, and a quarter turn to the left of it.
    pub(crate) axes: [Vec3; 2],
    /// Vectors (1/m) in the tangent plane whose products with the tangents are one and zero.
    pub(crate) dual: [Vec3; 2],
}

/// The shape function of a corner at a place of the square, and its derivatives.
pub(crate) fn shape([xi, eta]: [f64; 2], [a, b]: [f64; 2]) -> (f64, [f64; 2]) {
    let (one, two) = (1.0 + a * xi, 1.0 + b * eta);
    (0.25 * one * two, [0.25 * a * two, 0.25 * b * one])
}

/// The two tangents of the image at a place of the square.
pub(crate) fn tangents(x: &[Vec3; 4], at: [f64; 2]) -> [Vec3; 2] {
    let mut out = [Vec3::zeros(); 2];
    for (x, corner) in x.iter().zip(CORNERS) {
        let (_, slope) = shape(at, corner);
        (0..2).for_each(|k| out[k] += slope[k] * x);
    }
    out
}

impl SheetMesh {
    /// The four points of Gauss' rule of a quadrangle, or what is wrong with it.
    pub(super) fn points_of(
        &self,
        quadrangle: usize,
        warp: Option<[f64; 3]>,
    ) -> Result<[Flat; 4], &'static str> {
        let nodes = self.quadrangles[quadrangle];
        let (_, frames) = self.frames_of(quadrangle, warp)?;
        Ok(frames.map(|frame| {
            let mut point = Flat {
                area: frame.area,
                nodes,
                count: 4,
                shares: [0.0; 4],
                gradients: [[0.0; 2]; 4],
            };
            for (k, corner) in CORNERS.into_iter().enumerate() {
                let (share, [a, b]) = shape(frame.at, corner);
                let gradient = a * frame.dual[0] + b * frame.dual[1];
                point.shares[k] = share;
                point.gradients[k] = frame.axes.map(|axis| axis.dot(&gradient));
            }
            point
        }))
    }

    /// The corners of a quadrangle (m) and the frames of the four points of Gauss' rule, whose
    /// weights are one, or what is wrong with it.
    pub(crate) fn frames_of(
        &self,
        quadrangle: usize,
        warp: Option<[f64; 3]>,
    ) -> Result<([Vec3; 4], [Frame; 4]), &'static str> {
        let x = self.places(&self.quadrangles[quadrangle])?;
        let diagonals = (x[2] - x[0]).cross(&(x[3] - x[1]));
        for at in CORNERS {
            let [one, two] = tangents(&x, at);
            let least = 1e-12 * one.norm() * two.norm() * diagonals.norm();
            let turned = one.cross(&two).dot(&diagonals);
            // Where a corner goes in, the map of the square folds over there.
            if turned <= least || !turned.is_finite() {
                return Err("its corners do not go round a convex area");
            }
        }
        let of = |corner: [f64; 2]| {
            let at = corner.map(|c| c / 3f64.sqrt());
            let [one, two] = tangents(&x, at);
            let across = one.cross(&two);
            let area = across.norm();
            let normal = across / area;
            Ok(Frame {
                at,
                area,
                axes: axes(warp, one, normal)?,
                dual: [two.cross(&normal) / area, normal.cross(&one) / area],
            })
        };
        let [a, b, c, d] = CORNERS;
        Ok((x, [of(a)?, of(b)?, of(c)?, of(d)?]))
    }
}
