//! Cross-sections of rods.

use std::f64::consts::PI;

/// The cross-section of a rod, in the axes 1 and 2 of its frames; axis 0 is along the rod.
///
/// The shear factors of the constructors are those of Cowper (1966) at Poisson's ratio zero, which
/// is within 6 per cent of them at any other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Area `A` (m^2).
    pub area: f64,
    /// Second moments of area `I_1`, `I_2` (m^4) about axes 1 and 2.
    pub second_moments: [f64; 2],
    /// St Venant's torsion constant `J` (m^4).
    pub torsion_constant: f64,
    /// Share of the area (none) that carries shear along axes 1 and 2.
    pub shear_factors: [f64; 2],
}

impl Section {
    /// A full circle of this radius (m).
    pub fn circle(radius: f64) -> Self {
        Self::tube(0.0, radius)
    }

    /// A tube between these radii (m).
    pub fn tube(inner: f64, outer: f64) -> Self {
        let area = PI * (outer * outer - inner * inner);
        let moment = 0.25 * area * (outer * outer + inner * inner);
        let m = (inner / outer).powi(2);
        let sum = (1.0 + m) * (1.0 + m);
        Self {
            area,
            second_moments: [moment; 2],
            torsion_constant: 2.0 * moment,
            shear_factors: [6.0 * sum / (7.0 * sum + 20.0 * m); 2],
        }
    }

    /// A full rectangle of these sides (m) along axes 1 and 2.
    pub fn rectangle(sides: [f64; 2]) -> Self {
        let [a, b] = sides;
        Self {
            area: a * b,
            second_moments: [a * b.powi(3) / 12.0, b * a.powi(3) / 12.0],
            torsion_constant: rectangle_torsion(a.max(b), a.min(b)),
            shear_factors: [5.0 / 6.0; 2],
        }
    }
}

/// `J` of a rectangle, `a >= b`: `a b^3 (1/3 - 64/pi^5 b/a sum tanh(n pi a/(2 b))/n^5)` over odd
/// `n` (Timoshenko and Goodier). The terms left out add less than 1e-9 of it.
fn rectangle_torsion(a: f64, b: f64) -> f64 {
    let term = |k: usize| {
        let n = (2 * k + 1) as f64;
        (0.5 * n * PI * a / b).tanh() / n.powi(5)
    };
    let sum: f64 = (0..100).rev().map(term).sum();
    a * b.powi(3) * (1.0 / 3.0 - 64.0 / PI.powi(5) * (b / a) * sum)
}
