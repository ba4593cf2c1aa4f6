//! Smooth curves of corner pieces: quintic Bezier curves that go from one straight line to another.

/// A point of a curve and its slope there: `x`, `y`, `dy/dx`.
pub(super) type Knot = [f64; 3];

/// A quintic Bezier curve whose six control points are its start, twice a point on the tangent
/// there, twice one on the tangent of its end, and its end. Control points that coincide leave no
/// curvature at the ends, so that pieces with common tangents join with two continuous derivatives.
#[derive(Clone, Copy, Debug)]
struct Piece {
    x: [f64; 4],
    y: [f64; 4],
}

impl Piece {
    /// From one knot to another; the points on the tangents lie the share `bend` of the way to where
    /// the tangents meet.
    fn corner([x0, y0, s0]: Knot, [x1, y1, s1]: Knot, bend: f64) -> Self {
        let x = (y1 - y0 - x1 * s1 + x0 * s0) / (s0 - s1);
        let y = y1 + (x - x1) * s1;
        let between = |from: f64, to: f64| from + bend * (to - from);
        Self {
            x: [x0, between(x0, x), between(x1, x), x1],
            y: [y0, between(y0, y), between(y1, y), y1],
        }
    }

    /// A coordinate and its derivative at the parameter `u`.
    fn coordinate(p: &[f64; 4], u: f64) -> (f64, f64) {
        let w = 1.0 - u;
        let (u2, w2) = (u * u, w * w);
        let value = p[0] * w2 * w2 * w
            + p[1] * u * w2 * w * (5.0 * w + 10.0 * u)
            + p[2] * u2 * u * w * (10.0 * w + 5.0 * u)
            + p[3] * u2 * u2 * u;
        let slope = (p[1] - p[0]) * w2 * w2 + (p[2] - p[1]) * 6.0 * u2 * w2 + (p[3] - p[2]) * u2 * u2;
        (value, 5.0 * slope)
    }

    /// The parameter at a place. The control points ascend in `x` for every bend below 1, so that
    /// `x(u)` does, and a bracketed Newton iteration finds the only root.
    fn parameter(&self, x: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        let mut u = (x - self.x[0]) / (self.x[3] - self.x[0]);
        for _ in 0..60 {
            let (value, slope) = Self::coordinate(&self.x, u);
            *(if value < x { &mut low } else { &mut high }) = u;
            let mut next = u - (value - x) / slope;
            if next.is_nan() || next <= low || next >= high {
                next = 0.5 * (low + high);
            }
            let step = next - u;
            u = next;
            if step.abs() <= 2.0 * f64::EPSILON * u {
                break;
            }
        }
        u
    }

    /// The integral of `y dx` up to the parameter `u`. The integrand has degree 9 in the parameter,
    /// for which the formula of Gauss with five points is exact.
    fn area(&self, u: f64) -> f64 {
        let root = 2.0 * (10.0f64 / 7.0).sqrt();
        let weight = 13.0 * 70.0f64.sqrt();
        let (near, far) = ((5.0 - root).sqrt() / 3.0, (5.0 + root).sqrt() / 3.0);
        let (near_weight, far_weight) = ((322.0 + weight) / 900.0, (322.0 - weight) / 900.0);
        let at = |node: f64| {
            let u = 0.5 * u * (1.0 + node);
            Self::coordinate(&self.y, u).0 * Self::coordinate(&self.x, u).1
        };
        let pairs = near_weight * (at(near) + at(-near)) + far_weight * (at(far) + at(-far));
        0.5 * u * (128.0 / 225.0 * at(0.0) + pairs)
    }
}

/// Pieces in a row, and straight lines beyond both ends.
#[derive(Clone, Debug)]
pub(super) struct Curve<const PIECES: usize> {
    pieces: [Piece; PIECES],
    /// Slopes of the straight lines.
    ends: [f64; 2],
}

impl<const PIECES: usize> Curve<PIECES> {
    /// Through one knot more than there are pieces, with the curviness from 0 to 1 of each piece: 0
    /// is nearly a corner, 1 nearly no straight part.
    pub(super) fn new(knots: &[Knot], curviness: [f64; PIECES]) -> Self {
        let piece = |k: usize| Piece::corner(knots[k], knots[k + 1], 0.1 + 0.8 * curviness[k]);
        Self {
            pieces: std::array::from_fn(piece),
            ends: [knots[0][2], knots[PIECES][2]],
        }
    }

    /// The value and the slope.
    pub(super) fn at(&self, x: f64) -> (f64, f64) {
        let (first, last) = (&self.pieces[0], &self.pieces[PIECES - 1]);
        if x <= first.x[0] {
            return (first.y[0] + self.ends[0] * (x - first.x[0]), self.ends[0]);
        }
        let Some(piece) = self.pieces.iter().find(|p| x < p.x[3]) else {
            return (last.y[3] + self.ends[1] * (x - last.x[3]), self.ends[1]);
        };
        let u = piece.parameter(x);
        let ((y, dy), (_, dx)) = (Piece::coordinate(&piece.y, u), Piece::coordinate(&piece.x, u));
        (y, dy / dx)
    }

    /// The integral from the first knot.
    pub(super) fn integral(&self, x: f64) -> f64 {
        let line = |y: f64, slope: f64, d: f64| (y + 0.5 * slope * d) * d;
        let first = &self.pieces[0];
        if x <= first.x[0] {
            return line(first.y[0], self.ends[0], x - first.x[0]);
        }
        let mut sum = 0.0;
        for piece in &self.pieces {
            if x < piece.x[3] {
                return sum + piece.area(piece.parameter(x));
            }
            sum += piece.area(1.0);
        }
        let last = &self.pieces[PIECES - 1];
        sum + line(last.y[3], self.ends[1], x - last.x[3])
    }
}
