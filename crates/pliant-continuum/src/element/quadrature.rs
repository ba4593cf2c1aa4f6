//! Quadrature of the reference cells.

use super::ElementKind;

/// Points and weights: `sum_q w_q f(xi_q)` is the integral of `f` over a reference cell. Weights
/// are positive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quadrature {
    /// Points (no unit).
    pub points: Vec<[f64; 3]>,
    /// Weights (no unit).
    pub weights: Vec<f64>,
}

impl Quadrature {
    /// Exact for polynomials up to `degree`; of hexahedra, up to that degree in each coordinate.
    /// The centre of a tetrahedron and its four points of degree 2 (Hammer and Stroud 1956),
    /// products of Gauss's rules, and products collapsed on the tip or the edge that a cell is
    /// drawn together at. Of prisms, products of a rule of the triangle and one of Gauss. Of
    /// quadratic pyramids, from degree 2 on, exact for products of two gradients as well: degree 5
    /// in `x/(1 - z)` and in `y/(1 - z)`.
    pub(super) fn of(kind: ElementKind, degree: usize) -> Self {
        let mut out = Self::default();
        let n = degree / 2 + 1;
        match kind {
            ElementKind::Hex8 | ElementKind::Hex20 | ElementKind::Hex27 => {
                let line = gauss(n);
                for (z, wz) in &line {
                    for (y, wy) in &line {
                        for (x, wx) in &line {
                            out.push([*x, *y, *z], wx * wy * wz);
                        }
                    }
                }
            }
            ElementKind::Tet4 | ElementKind::Tet10 if degree <= 1 => out.push([0.25; 3], 1.0 / 6.0),
            ElementKind::Tet4 | ElementKind::Tet10 if degree == 2 => {
                let near = (5.0 - 5f64.sqrt()) / 20.0;
                for k in 0..4 {
                    let mut p = [near; 3];
                    if k > 0 {
                        p[k - 1] = 1.0 - 3.0 * near;
                    }
                    out.push(p, 1.0 / 24.0);
                }
            }
            ElementKind::Tet4 | ElementKind::Tet10 => {
                // x = u, y = v (1 - u), z = w (1 - u)(1 - v): two more powers of u, one of v.
                for (u, wu) in unit((degree + 3).div_ceil(2)) {
                    for (v, wv) in unit((degree + 2).div_ceil(2)) {
                        for (w, ww) in unit(n) {
                            let (a, b) = (1.0 - u, 1.0 - v);
                            out.push([u, v * a, w * a * b], wu * wv * ww * a * a * b);
                        }
                    }
                }
            }
            ElementKind::Prism6 | ElementKind::Prism15 => {
                for (z, wz) in gauss(n) {
                    for (p, w) in triangle(degree) {
                        out.push([p[0], p[1], z], w * wz);
                    }
                }
            }
            ElementKind::Pyramid5 | ElementKind::Pyramid13 => {
                // x = a (1 - z), y = b (1 - z): two more powers of z; x y/(1 - z) stays a
                // polynomial, of no higher degree in a and in b than it has in x and in y, and
                // of a lower one in 1 - z.
                let least = if kind == ElementKind::Pyramid13 && degree > 1 {
                    3
                } else {
                    2
                };
                for (z, wz) in unit((degree + 3).div_ceil(2)) {
                    let t = 1.0 - z;
                    for (b, wb) in gauss(n.max(least)) {
                        for (a, wa) in gauss(n.max(least)) {
                            out.push([a * t, b * t, z], wa * wb * wz * t * t);
                        }
                    }
                }
            }
        }
        out
    }

    fn push(&mut self, point: [f64; 3], weight: f64) {
        self.points.push(point);
        self.weights.push(weight);
    }
}

/// Points and weights of the triangle `(0 0)`, `(1 0)`, `(0 1)`.
fn triangle(degree: usize) -> Vec<([f64; 2], f64)> {
    if degree <= 2 {
        let (near, far) = (1.0 / 6.0, 2.0 / 3.0);
        return vec![([near, near], near), ([far, near], near), ([near, far], near)];
    }
    let mut out = Vec::new();
    if degree == 4 {
        // Six points (Lyness and Jespersen 1975): two orbits of three on the medians.
        let root = 10f64.sqrt();
        for sign in [1.0, -1.0] {
            let near = (8.0 - root + sign * (38.0 - 44.0 * 0.4f64.sqrt()).sqrt()) / 18.0;
            let weight = (620.0 + sign * (213_125.0 - 53_320.0 * root).sqrt()) / 7440.0;
            let far = 1.0 - 2.0 * near;
            out.extend([
                ([near, near], weight),
                ([far, near], weight),
                ([near, far], weight),
            ]);
        }
        return out;
    }
    for (u, wu) in unit((degree + 2).div_ceil(2)) {
        for (v, wv) in unit(degree / 2 + 1) {
            out.push(([u, v * (1.0 - u)], wu * wv * (1.0 - u)));
        }
    }
    out
}

/// Gauss's rule of `n` points on `0 .. 1`.
fn unit(n: usize) -> Vec<(f64, f64)> {
    gauss(n)
        .into_iter()
        .map(|(x, w)| (0.5 * (x + 1.0), 0.5 * w))
        .collect()
}

/// Gauss's rule of `n` points on `-1 .. 1`, exact to degree `2 n - 1`: zeros of Legendre's
/// polynomial by Newton's method.
fn gauss(n: usize) -> Vec<(f64, f64)> {
    let legendre = |x: f64| {
        let (mut before, mut here) = (1.0, x);
        for k in 2..=n {
            let k = k as f64;
            (before, here) = (here, ((2.0 * k - 1.0) * x * here - (k - 1.0) * before) / k);
        }
        (here, n as f64 * (x * here - before) / (x * x - 1.0))
    };
    let one = |i: usize| {
        if 2 * i + 1 == n {
            // The polynomial is odd; the derivative formula needs no more than its value there.
            let slope = legendre(0.0).1;
            return (0.0, 2.0 / (slope * slope));
        }
        let mut x = -((i as f64 + 0.75) / (n as f64 + 0.5) * std::f64::consts::PI).cos();
        for _ in 0..20 {
            let (value, slope) = legendre(x);
            x -= value / slope;
        }
        let slope = legendre(x).1;
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    if n <= 1 {
        return vec![(0.0, 2.0)];
    }
    (0..n).map(one).collect()
}
