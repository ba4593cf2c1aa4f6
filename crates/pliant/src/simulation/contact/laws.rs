//! The law of each contact: its rows, and what `R` and `b` of them are.

use super::Contacts;
use crate::contact::{Contact, ContactLaw, FrictionModel, Overlap};
use pliant_dense::Vec3;
use pliant_solvers::complementarity::Cone;

/// Two tangents that make an orthonormal frame with a unit normal, without a jump where the normal turns slowly but near one pole.
pub(crate) fn frame(normal: [f64; 3]) -> [[f64; 3]; 3] {
    let [x, y, z] = normal;
    // Duff et al., Building an orthonormal basis, revisited, 2017.
    let sign = 1f64.copysign(z);
    let a = -1.0 / (sign + z);
    let b = x * y * a;
    [
        normal,
        [1.0 + sign * x * x * a, sign * b, -sign * x],
        [b, sign + y * y * a, -y],
    ]
}

/// The rows of a contact: their axes, in units that suit its law, and that law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// The normal and two tangents, the first along the law's direction; then, where spin or rolling are resisted, the normal and two tangents again, about which angular
    /// velocities are measured.
    axes: [[f64; 3]; 6],
    /// Lengths of the axes.
    pub(crate) units: [f64; 6],
    pub(crate) count: usize,
    pub(crate) cone: Cone,
}

impl Rows {
    /// For an ellipse the tangents are in units of the coefficients, which makes its law that of a circle of one: `r_t = mu_i r'_t`, `u'_t = mu_i u_t`
    /// ([`Elliptic`](pliant_solvers::complementarity::Elliptic)). Torques and angular velocities are in units of a lever (m; zero: they are not resisted), which is to be of the
    /// size of what turns, so that all rows respond alike.
    pub(crate) fn new(contact: &Contact, lever: f64) -> Self {
        let law = &contact.law;
        let [normal, mut a, mut b] = frame(contact.normal);
        if let Some(direction) = law.direction {
            let (normal, direction) = (Vec3::from(contact.normal), Vec3::from(direction));
            let along = direction - normal * normal.dot(&direction);
            // Below, it is rounding of a direction along the normal.
            if along.norm() > 1e-9 * direction.norm() {
                let first = along.normalize();
                (a, b) = (first.into(), normal.cross(&first).into());
            }
        }
        let tangents = match law.friction_model {
            FrictionModel::Ellipse { across } if law.friction > 0.0 => [law.friction, across],
            _ => [1.0; 2],
        };
        let units = [1.0, tangents[0], tangents[1], lever, lever, lever];
        let mut axes = [normal, a, b, normal, a, b];
        for (axis, unit) in axes.iter_mut().zip(units) {
            *axis = axis.map(|x| unit * x);
        }
        let point = cone_of(law);
        Self {
            axes,
            units,
            count: match point {
                _ if lever > 0.0 => 6,
                Cone::NonNegative => 1,
                _ => 3,
            },
            cone: if lever > 0.0 {
                Cone::Rolling {
                    mu: point.friction().unwrap_or(0.0),
                    torsion: law.torsion / lever,
                    rolling: law.rolling / lever,
                }
            } else {
                point
            },
        }
    }

    /// Along which velocities are measured.
    pub(crate) fn velocities(&self) -> &[[f64; 3]] {
        &self.axes[..self.count.min(3)]
    }

    /// About which angular velocities are.
    pub(crate) fn spins(&self) -> &[[f64; 3]] {
        &self.axes[self.count.min(3)..self.count]
    }

    /// Impulses in the rows of a force and a torque (or of impulses).
    pub(crate) fn along(&self, force: Vec3, torque: Vec3) -> impl Iterator<Item = f64> {
        let (axes, units) = (&self.axes[..self.count], &self.units);
        axes.iter().zip(units).enumerate().map(move |(k, (axis, unit))| {
            let of = if k < 3 { force } else { torque };
            of.dot(&Vec3::from(*axis)) / (unit * unit)
        })
    }
}

/// The lever of a contact that resists spin or rolling and has something that turns: the shortest arm of its bodies, and no less than its arms of resistance.
pub(crate) fn lever(contact: &Contact, arms: impl Iterator<Item = [f64; 3]>) -> f64 {
    let most = contact.law.torsion.max(contact.law.rolling);
    if most == 0.0 {
        return 0.0;
    }
    let shortest = arms.map(|a| Vec3::from(a).norm()).reduce(f64::min);
    shortest.map_or(0.0, |arm| arm.max(most))
}

/// The law of the rows of the point.
pub(crate) fn cone_of(law: &ContactLaw) -> Cone {
    match law.friction_model {
        _ if law.friction == 0.0 => Cone::NonNegative,
        FrictionModel::Cone => Cone::Coulomb { mu: law.friction },
        FrictionModel::Ellipse { .. } => Cone::Coulomb { mu: 1.0 },
        FrictionModel::Pyramid { directions, outer } => {
            let half = std::f64::consts::PI / directions as f64;
            let (mu, first) = if outer {
                (law.friction / half.cos(), half)
            } else {
                (law.friction, 0.0)
            };
            Cone::Pyramid {
                mu,
                facets: directions,
                first,
            }
        }
    }
}

/// Share of the friction that its law allows, of the impulses of the three rows; 1 where it allows none.
pub(crate) fn used_friction(law: &ContactLaw, r: &[f64]) -> f64 {
    let [n, a, b] = *r else { return 1.0 };
    match cone_of(law) {
        Cone::Coulomb { mu } => a.hypot(b) / (mu * n),
        Cone::Pyramid { mu, facets, first } => {
            let half = std::f64::consts::PI / facets as f64;
            // The side that it is at.
            let side = ((b.atan2(a) - first) / (2.0 * half)).floor() + 0.5;
            let (sine, cosine) = (first + 2.0 * half * side).sin_cos();
            (a * cosine + b * sine) / (mu * half.cos() * n)
        }
        _ => 0.0,
    }
}

impl Contacts {
    /// Right-hand sides and compliances of the rows in the velocity-change form (docs/notation.md), with a share of restitution.
    pub(crate) fn fill_laws(&mut self, h: f64, beta: f64, overlap: Overlap, share: f64) {
        let mut row = 0;
        for (contact, rows) in self.list.contacts().iter().zip(&self.rows) {
            let u = self.tail.velocity()[row];
            let (gap, law) = (contact.gap, &contact.law);
            let e = share * law.restitution;
            let (b, r) = if law.compliance > 0.0 {
                let d = law.relaxation_at(gap);
                let l = h * beta + d;
                ((gap + (d + h) * u) / l, law.compliance / (h * l))
            } else if gap > 0.0 {
                // An impact within the step is taken at its start where there is a law of impact; else the gap may just close.
                let impact = e > 0.0 && gap + h * u < 0.0;
                (
                    if impact {
                        (1.0 + e) * u
                    } else {
                        (gap / h + u) / beta
                    },
                    0.0,
                )
            } else {
                let recovery = match overlap {
                    Overlap::Rows { rate, speed } => (-rate * gap).min(speed),
                    _ => 0.0,
                };
                // What separates at first may come back as far as it went: pushed any earlier, it would be pushed along its way.
                let share = if u > 0.0 {
                    (1.0 + e).max(1.0 / beta)
                } else {
                    1.0 + e
                };
                (share * u - recovery, 0.0)
            };
            self.tail.b[row] = b;
            self.tail.r[row] = r;
            for k in row + 1..row + rows.count {
                self.tail.b[k] = self.tail.velocity()[k];
                self.tail.r[k] = 0.0;
            }
            row += rows.count;
        }
        // Outside of an impact there is no friction of an expansion.
        for e in &self.expansions {
            (self.tail.b[e.row], self.tail.r[e.row]) = (0.0, e.rho);
            for k in e.row + 1..e.row + 3 {
                (self.tail.b[k], self.tail.r[k]) = (self.tail.velocity()[k], 0.0);
            }
        }
    }

    /// Energy that the impulses add to the motion without them, `r . u+ - r . A r / 2` (J), of a solution in impulses and changes of velocity. With one
    /// coefficient of restitution for all it is not positive.
    pub(crate) fn gain(&self, impulses: &[f64]) -> f64 {
        let free = self.solver.free_velocities();
        let free = &free[free.len() - impulses.len()..];
        let mut gain = 0.0;
        for (k, r) in impulses.iter().enumerate() {
            let start = self.tail.velocity()[k];
            let w = self.after[k] - start + self.tail.r[k] * r + self.tail.b[k];
            gain += r * (self.after[k] - 0.5 * (w - free[k]));
        }
        gain
    }

    /// Sum of `|r u|` that the gain is compared with.
    pub(crate) fn exchanged(&self, impulses: &[f64]) -> f64 {
        let velocities = self.tail.velocity().iter().zip(&self.after);
        let sums = impulses.iter().zip(velocities);
        sums.map(|(r, (u, v))| r.abs() * (u.abs() + v.abs())).sum()
    }
}
