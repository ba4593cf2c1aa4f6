//! The laws of the blocks, and projections.

use super::ProblemError;

/// The law between impulse `r` (N s) and velocity `u` (m/s) of one block of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cone {
    /// One bilateral row: `u = 0`, any `r`.
    Free,
    /// One unilateral row: `0 <= r`, `u >= 0`, `r u = 0`.
    NonNegative,
    /// One row of bounded impulse: `lower <= r <= upper`; `u = 0` between, `u >= 0` at the lower bound, `u <= 0` at the upper.
    Box {
        /// Least impulse, N s; may be minus infinity.
        lower: f64,
        /// Largest impulse, N s; may be infinity.
        upper: f64,
    },
    /// Contact in space, three rows, the normal first: `0 <= u_n`, `r_n >= 0`, `u_n r_n = 0`, `|r_t| <= mu r_n`, and
    /// `r_t = -mu r_n u_t/|u_t|` where it slips.
    Coulomb {
        /// Coefficient of friction, without unit, `0 <= mu < infinity`.
        mu: f64,
    },
    /// Contact in the plane, two rows, the normal first: the law of [`Cone::Coulomb`] with one tangent.
    PlanarCoulomb {
        /// Coefficient of friction, without unit, `0 <= mu < infinity`.
        mu: f64,
    },
}

impl Cone {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Free | Self::NonNegative | Self::Box { .. } => 1,
            Self::Coulomb { .. } => 3,
            Self::PlanarCoulomb { .. } => 2,
        }
    }

    /// The coefficient of friction of a contact.
    pub fn friction(&self) -> Option<f64> {
        match self {
            Self::Coulomb { mu } | Self::PlanarCoulomb { mu } => Some(*mu),
            _ => None,
        }
    }

    /// Least and largest impulse of a block of one row; `None` for a contact with friction.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Free => Some((f64::NEG_INFINITY, f64::INFINITY)),
            Self::NonNegative => Some((0.0, f64::INFINITY)),
            Self::Box { lower, upper } => Some((lower, upper)),
            Self::Coulomb { .. } | Self::PlanarCoulomb { .. } => None,
        }
    }

    pub(crate) fn check(&self, block: usize) -> Result<(), ProblemError> {
        if let Some(mu) = self.friction() {
            // NaN fails every comparison.
            return if (0.0..f64::INFINITY).contains(&mu) {
                Ok(())
            } else {
                Err(ProblemError::Friction { block, mu })
            };
        }
        match self.bounds() {
            Some((lower, upper))
                if !(lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY) =>
            {
                Err(ProblemError::Bounds { block, lower, upper })
            }
            _ => Ok(()),
        }
    }

    /// Replaces `r` by the nearest admissible impulse, in the Euclidean norm of the block.
    ///
    /// # Panics
    /// If `r` is shorter than [`rows`](Self::rows).
    pub fn project(&self, r: &mut [f64]) {
        match *self {
            Self::Free => {}
            Self::NonNegative => r[0] = r[0].max(0.0),
            Self::Box { lower, upper } => r[0] = r[0].max(lower).min(upper),
            Self::Coulomb { mu } => project_friction(mu, &mut r[..3]),
            Self::PlanarCoulomb { mu } => project_friction(mu, &mut r[..2]),
        }
    }
}

/// Euclidean length of the tangential part, without overflow for one or two tangents.
pub(crate) fn tangential(v: &[f64]) -> f64 {
    match v {
        [_, a] => a.abs(),
        [_, a, b] => a.hypot(*b),
        _ => 0.0,
    }
}

/// Replaces `r`, normal first, by its projection on `K = {|r_t| <= mu r_n}`. Cost: one root.
pub fn project_friction(mu: f64, r: &mut [f64]) {
    let t = tangential(r);
    if r[0] >= 0.0 && t <= mu * r[0] {
        return;
    }
    if mu * t <= -r[0] {
        r.fill(0.0);
        return;
    }
    // For mu = 0 the second test leaves r_n > 0 only.
    let normal = (r[0] + mu * t) / (1.0 + mu * mu);
    let share = mu * normal / t;
    r[0] = normal;
    for x in &mut r[1..] {
        *x *= share;
    }
}

/// Replaces `u`, normal first, by its projection on the dual cone `K* = {mu |u_t| <= u_n}`, by Moreau's `P_K*(u) = u + P_K(-u)`.
pub fn project_dual(mu: f64, u: &mut [f64]) {
    let mut polar = [0.0; 3];
    let polar = &mut polar[..u.len()];
    for (p, u) in polar.iter_mut().zip(u.iter()) {
        *p = -u;
    }
    project_friction(mu, polar);
    for (u, p) in u.iter_mut().zip(polar) {
        *u += *p;
    }
}
