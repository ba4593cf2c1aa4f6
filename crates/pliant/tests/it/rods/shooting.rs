//! Rods by another road: the differential equations of Simo's rod, integrated from the loaded tip
//! and shot at the clamp. It shares nothing with the library but the numbers of the stiffness.

use pliant::dense::{Mat3, Vec3, skew};

/// A cantilever with a dead force at its tip.
pub(crate) struct Cantilever {
    pub length: f64,
    /// `E A`, two `k G A`, `G J`, two `E I`.
    pub stiffness: [f64; 6],
    /// Curvature at rest.
    pub curvature: Vec3,
    /// Axes of the section at the clamp.
    pub clamp: Mat3,
    pub force: Vec3,
}

/// Placement, axes and moment along the rod.
type Along = (Vec3, Mat3, Vec3);

/// A rotation by Rodrigues' formula.
fn turn(r: Vec3) -> Mat3 {
    let angle = r.norm();
    if angle == 0.0 {
        return Mat3::identity();
    }
    let k = skew(r / angle);
    Mat3::identity() + k * angle.sin() + k * k * (1.0 - angle.cos())
}

impl Cantilever {
    /// `r' = Q (e_0 + N^-1 Q^T n)`, `Q' = Q [kappa]` with `kappa = kappa_0 + M^-1 Q^T m`,
    /// `m' = -r' x n`; `n` is the force of the tip.
    fn slope(&self, (_, q, m): &Along) -> Along {
        let s = self.stiffness;
        let (n, m_body) = (q.transpose() * self.force, q.transpose() * m);
        let stretch = Vec3::x() + n.component_div(&Vec3::new(s[0], s[1], s[2]));
        let kappa = self.curvature + m_body.component_div(&Vec3::new(s[3], s[4], s[5]));
        let tangent = q * stretch;
        (tangent, q * skew(kappa), -tangent.cross(&self.force))
    }

    /// From the tip, whose axes are these, back to the clamp by Runge and Kutta's method.
    fn back(&self, tip: Mat3, steps: usize) -> Along {
        let h = -self.length / steps as f64;
        let mut x: Along = (Vec3::zeros(), tip, Vec3::zeros());
        let go = |x: &Along, k: &Along, s: f64| (x.0 + k.0 * s, x.1 + k.1 * s, x.2 + k.2 * s);
        for _ in 0..steps {
            let a = self.slope(&x);
            let b = self.slope(&go(&x, &a, 0.5 * h));
            let c = self.slope(&go(&x, &b, 0.5 * h));
            let d = self.slope(&go(&x, &c, h));
            for (k, s) in [(a, 1.0), (b, 2.0), (c, 2.0), (d, 1.0)] {
                x = go(&x, &k, s * h / 6.0);
            }
        }
        x
    }

    /// Where the tip is from the clamp: Newton's method for the three numbers of its axes, in ten
    /// stages of the load.
    pub(crate) fn tip(&self, steps: usize) -> Vec3 {
        let mut tip = self.clamp * turn(self.curvature * self.length);
        let force = self.force;
        for stage in 1..=10 {
            let part = Self {
                force: force * (0.1 * f64::from(stage)),
                ..*self
            };
            for _ in 0..12 {
                let miss = |q: Mat3| {
                    let e = self.clamp.transpose() * part.back(q, steps).1;
                    0.5 * Vec3::new(
                        e[(2, 1)] - e[(1, 2)],
                        e[(0, 2)] - e[(2, 0)],
                        e[(1, 0)] - e[(0, 1)],
                    )
                };
                let (now, d) = (miss(tip), 1e-6);
                let column = |k: usize| {
                    let e = Vec3::ith(k, d);
                    (miss(turn(e) * tip) - miss(turn(-e) * tip)) / (2.0 * d)
                };
                let slope = Mat3::from_columns(&[column(0), column(1), column(2)]);
                tip = turn(-slope.lu().solve(&now).unwrap()) * tip;
                if now.norm() < 1e-13 {
                    break;
                }
            }
        }
        -self.back(tip, steps).0
    }
}
