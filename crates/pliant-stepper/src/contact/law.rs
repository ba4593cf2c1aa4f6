//! The law of a contact, and the rows in which it is a cone.

use super::{Contact, FrictionModel};
use pliant_dense::Vec3;
use pliant_solvers::complementarity::Cone;

/// The law of a contact with the gap `phi` (m) along the normal, its velocity `u = (u_n, u_t)`
/// (m/s) and the impulse `r` (N s).
///
/// **Equation.** Signorini: `0 <= phi`, `r_n >= 0`, `phi r_n = 0`, with compliance `C` and
/// relaxation time `d` `r_n = max(0, -h (phi + d u_n)/C)`, `d` with the part of Hunt and Crossley's
/// `dissipation`; Coulomb: `|r_t| <= mu r_n`, and `r_t = -mu r_n u_t/|u_t|` where it slips (an
/// ellipse or a polygon: the friction in it that takes most from the slip, [`FrictionModel`]); in
/// the same way for the torque about the normal, `|m_s| <= torsion r_n`, against spin, and for that
/// across, `|m_r| <= rolling r_n`, against rolling (not with a polygon); a drag `-h c u_t` in
/// addition, where it touches; Newton: `u_n+ >= -e u_n-`,
/// or Poisson ([`Restitution`](super::Restitution)).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactLaw {
    /// Coefficient of friction `mu` (none).
    pub friction: f64,
    /// How friction depends on the direction; `mu` is that along the first direction.
    pub friction_model: FrictionModel,
    /// The first direction of friction, of which the part along the surfaces counts (world, of any
    /// length); without, or along the normal, any.
    pub direction: Option<[f64; 3]>,
    /// Coefficient of restitution `e` (none), between 0 and 1; of hard contacts only.
    pub restitution: f64,
    /// Compliance `C` along the normal (m/N); zero is hard.
    pub compliance: f64,
    /// Relaxation time `d` (s): the damping of a compliant contact, `d/C` (N s/m).
    pub relaxation_time: f64,
    /// Hunt and Crossley's dissipation `a` (s/m) of a compliant contact: its relaxation time grows
    /// with the overlap, `d + a max(0, -phi)`, so that the force begins and ends at zero. It is
    /// that of the overlap at the start of the step, an error of first order.
    pub dissipation: f64,
    /// Viscous friction `c` (N s/m): a drag `-c u_t` along the surfaces beside Coulomb's friction,
    /// whatever the normal force, while the contact touches; by the slip at the end of the step.
    pub viscous_friction: f64,
    /// Torque about the normal that friction can take, per normal force (m): `2/3 mu a` for an area
    /// of contact of radius `a`.
    pub torsion: f64,
    /// Torque against rolling in any direction, per normal force (m).
    pub rolling: f64,
}

impl ContactLaw {
    /// Relaxation time (s) at a gap (m), with the part that grows with the overlap.
    pub(crate) fn relaxation_at(&self, gap: f64) -> f64 {
        self.relaxation_time + self.dissipation * (-gap).max(0.0)
    }

    /// The cone of the rows of the point.
    pub(super) fn cone(&self) -> Cone {
        match self.friction_model {
            _ if self.friction == 0.0 => Cone::NonNegative,
            FrictionModel::Cone => Cone::Coulomb { mu: self.friction },
            FrictionModel::Ellipse { .. } => Cone::Coulomb { mu: 1.0 },
            FrictionModel::Pyramid { directions, outer } => {
                let half = std::f64::consts::PI / directions as f64;
                let (mu, first) = if outer {
                    (self.friction / half.cos(), half)
                } else {
                    (self.friction, 0.0)
                };
                Cone::Pyramid {
                    mu,
                    facets: directions,
                    first,
                }
            }
        }
    }

    /// The part of the law that only [`FrictionCoupling::Exact`] has an answer to.
    pub(super) fn exact_part(&self) -> Option<&'static str> {
        match self.cone() {
            _ if self.torsion > 0.0 || self.rolling > 0.0 => Some("resistance to spin or rolling"),
            Cone::Pyramid { .. } => Some("friction pyramid"),
            _ => None,
        }
    }

    /// Share of the friction that the law allows, of the impulses of the three rows; 1 where it
    /// allows none.
    pub fn used_friction(&self, r: &[f64]) -> f64 {
        let [n, a, b] = *r else { return 1.0 };
        match self.cone() {
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
}

/// Two tangents that make an orthonormal frame with a unit normal, without a jump where the normal
/// turns slowly but near one pole.
fn frame(normal: [f64; 3]) -> [[f64; 3]; 3] {
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

/// The rows of a contact: their axes, in units that suit its law, and its cone in them.
#[derive(Clone, Copy, Debug)]
pub struct ContactRows {
    /// The normal and two tangents, the first along the law's direction; then, where spin or
    /// rolling are resisted, the normal and two tangents again, about which angular velocities are
    /// measured.
    axes: [[f64; 3]; 6],
    /// Lengths of the axes.
    pub units: [f64; 6],
    /// The number of rows: 1, 3, 4 or 6.
    pub count: usize,
    /// The cone of their impulses.
    pub cone: Cone,
    /// The shift of the normal velocity (m/s) that a [coupling](super::FrictionCoupling) of
    /// friction has in place of `mu |u_t|`; none with Coulomb's law.
    pub coupled: Option<f64>,
}

impl ContactRows {
    /// For an ellipse the tangents are in units of the coefficients, which makes its law that of a
    /// circle of one: `r_t = mu_i r'_t`, `u'_t = mu_i u_t`
    /// ([`Elliptic`](pliant_solvers::complementarity::Elliptic)). Torques and angular velocities
    /// are in units of a lever (m; zero: they are not resisted), which is to be of the size of the
    /// turning body, so that all rows respond alike.
    pub fn new(contact: &Contact, lever: f64) -> Self {
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
        let point = law.cone();
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
            coupled: None,
        }
    }

    /// The velocity (m/s) by which a coupling of friction lets the contact open as it slips at the
    /// velocities `u` of its rows, which is none of its law: that holds for `u_n` less it.
    pub(super) fn dilation(&self, u: &[f64]) -> f64 {
        self.coupled.map_or(0.0, |shift| self.cone.shift(u) - shift)
    }

    /// The two tangents (world, of unit length).
    pub fn tangents(&self) -> [[f64; 3]; 2] {
        [1, 2].map(|k| self.axes[k].map(|x| x / self.units[k]))
    }

    /// The axes along which velocities are measured.
    pub fn velocities(&self) -> &[[f64; 3]] {
        &self.axes[..self.count.min(3)]
    }

    /// The axes about which angular velocities are measured.
    pub(crate) fn spins(&self) -> &[[f64; 3]] {
        &self.axes[self.count.min(3)..self.count]
    }

    /// Impulses in the rows of a force and a torque (or of impulses).
    pub fn along(&self, force: Vec3, torque: Vec3) -> impl Iterator<Item = f64> {
        let (axes, units) = (&self.axes[..self.count], &self.units);
        axes.iter().zip(units).enumerate().map(move |(k, (axis, unit))| {
            let of = if k < 3 { force } else { torque };
            of.dot(&Vec3::from(*axis)) / (unit * unit)
        })
    }
}

/// The lever of a contact that resists spin or rolling and acts on a body: the shortest arm of its
/// bodies, and no less than its arms of resistance.
pub(super) fn lever(contact: &Contact, arms: impl Iterator<Item = [f64; 3]>) -> f64 {
    let most = contact.law.torsion.max(contact.law.rolling);
    if most == 0.0 {
        return 0.0;
    }
    let shortest = arms.map(|a| Vec3::from(a).norm()).reduce(f64::min);
    shortest.map_or(0.0, |arm| arm.max(most))
}
