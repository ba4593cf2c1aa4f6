//! Shape functions of every kind through one table of terms.

use super::ElementKind;
use nalgebra::DMatrix;

/// One term of the space of an element: `x^a y^b z^c`, of pyramids also `x^a y^b/(1 - z)`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Term {
    Monomial([i32; 3]),
    /// `x^a y^b/(1 - z)` with `a + b >= 2`; zero at the tip, which it tends to inside the pyramid.
    OverTip([i32; 2]),
}

impl Term {
    fn value(self, [x, y, z]: [f64; 3]) -> f64 {
        match self {
            Self::Monomial([a, b, c]) => x.powi(a) * y.powi(b) * z.powi(c),
            Self::OverTip(_) if z == 1.0 => 0.0,
            Self::OverTip([a, b]) => x.powi(a) * y.powi(b) / (1.0 - z),
        }
    }

    fn gradient(self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        // d(x^n)/dx, which is zero for n = 0 also where x is.
        let slope = |x: f64, n: i32| if n == 0 { 0.0 } else { f64::from(n) * x.powi(n - 1) };
        match self {
            Self::Monomial(e) => {
                let p = [x, y, z];
                std::array::from_fn(|k| {
                    (0..3)
                        .map(|i| {
                            if i == k {
                                slope(p[i], e[i])
                            } else {
                                p[i].powi(e[i])
                            }
                        })
                        .product()
                })
            }
            // That of x y/(1 - z) tends to no limit there, only to bounds; those of higher powers
            // to zero.
            Self::OverTip(_) if z == 1.0 => [0.0; 3],
            Self::OverTip([a, b]) => {
                let t = 1.0 - z;
                let (u, v) = (x.powi(a), y.powi(b));
                [slope(x, a) * v / t, u * slope(y, b) / t, u * v / (t * t)]
            }
        }
    }
}

/// The terms of a kind, as many as it has nodes.
fn terms(kind: ElementKind) -> Vec<Term> {
    let mut out = Vec::new();
    for c in 0..3 {
        for b in 0..3 {
            for a in 0..3 {
                let e: [i32; 3] = [a, b, c];
                let (sum, largest) = (a + b + c, a.max(b).max(c));
                let squares = e.iter().filter(|e| **e == 2).count();
                let belongs = match kind {
                    ElementKind::Tet4 | ElementKind::Pyramid5 => sum <= 1,
                    ElementKind::Tet10 | ElementKind::Pyramid13 => sum <= 2,
                    ElementKind::Prism6 => a + b <= 1 && c <= 1,
                    // Quadratic in the triangle times linear, and the other way round.
                    ElementKind::Prism15 => a + b <= 2 && sum <= 3,
                    ElementKind::Hex8 => largest <= 1,
                    ElementKind::Hex20 => squares <= 1,
                    ElementKind::Hex27 => true,
                };
                if belongs {
                    out.push(Term::Monomial(e));
                }
            }
        }
    }
    let over_tip: &[[i32; 2]] = match kind {
        ElementKind::Pyramid5 => &[[1, 1]],
        // On the sides, y = 1 - z and the like, they are x, x^2 and x y: quadratic there; on the
        // base, with x y, those of a quadrangle of eight nodes.
        ElementKind::Pyramid13 => &[[1, 1], [2, 1], [1, 2]],
        _ => &[],
    };
    out.extend(over_tip.iter().map(|e| Term::OverTip(*e)));
    out
}

/// Shape functions `N_a` of one kind: one at their node, zero at the others.
///
/// `N_a(xi) = sum_k c_ka t_k(xi)` over the terms `t_k` of the kind, where `c` is the inverse of the
/// matrix `t_k(xi_a)` of the terms at the nodes. Made once per kind: `O(n^3)` for `n` nodes.
#[derive(Clone, Debug)]
pub struct ShapeFunctions {
    kind: ElementKind,
    terms: Vec<Term>,
    /// Coefficient of term `k` in the function of node `a`, at `k n + a`.
    coefficients: Vec<f64>,
}

/// Values and gradients of all shape functions at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeValues {
    /// `N_a` (no unit).
    pub values: Vec<f64>,
    /// `dN_a/dxi` (no unit).
    pub gradients: Vec<[f64; 3]>,
}

impl ShapeFunctions {
    /// The functions of a kind.
    pub fn new(kind: ElementKind) -> Self {
        let (terms, nodes) = (terms(kind), kind.reference_nodes());
        let n = nodes.len();
        let at_nodes = DMatrix::from_fn(n, n, |a, k| terms[k].value(nodes[a]));
        // The nodes of every kind determine its space, which the tests show of all kinds.
        let inverse = at_nodes
            .try_inverse()
            .unwrap_or_else(|| DMatrix::from_element(n, n, f64::NAN));
        Self {
            kind,
            terms,
            coefficients: (0..n * n).map(|i| inverse[(i / n, i % n)]).collect(),
        }
    }

    /// The kind.
    pub fn kind(&self) -> ElementKind {
        self.kind
    }

    /// All functions at a point of the reference cell.
    pub fn at(&self, xi: [f64; 3]) -> ShapeValues {
        let n = self.terms.len();
        let mut out = ShapeValues {
            values: vec![0.0; n],
            gradients: vec![[0.0; 3]; n],
        };
        for (k, term) in self.terms.iter().enumerate() {
            let (value, gradient) = (term.value(xi), term.gradient(xi));
            for a in 0..n {
                let c = self.coefficients[k * n + a];
                out.values[a] += c * value;
                for i in 0..3 {
                    out.gradients[a][i] += c * gradient[i];
                }
            }
        }
        out
    }
}
