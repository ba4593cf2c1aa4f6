//! The laws of the blocks, and projections.

use super::ProblemError;
use std::f64::consts::TAU;
use std::ops::Range;

/// Most rows of a block.
pub(crate) const ROWS: usize = 6;

/// The most sides of a friction pyramid: each is a column of a linear problem.
const MOST_FACETS: usize = 1000;

/// The law between impulse `r` (N s) and velocity `u` (m/s) of one block of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cone {
    /// One bilateral row: `u = 0`, any `r`.
    Free,
    /// One unilateral row: `0 <= r`, `u >= 0`, `r u = 0`.
    NonNegative,
    /// One row of bounded impulse: `lower <= r <= upper`; `u = 0` between, `u >= 0` at the lower
    /// bound, `u <= 0` at the upper.
    Box {
        /// Least impulse, N s; may be minus infinity.
        lower: f64,
        /// Largest impulse, N s; may be infinity.
        upper: f64,
    },
    /// Contact in space, three rows, the normal first: `0 <= u_n`, `r_n >= 0`, `u_n r_n = 0`,
    /// `|r_t| <= mu r_n`, and `r_t = -mu r_n u_t/|u_t|` where it slips.
    Coulomb {
        /// Coefficient of friction, without unit, `0 <= mu < infinity`.
        mu: f64,
    },
    /// Contact in space, three rows, the normal first, with a shift that is known: `u + s n` in the
    /// dual cone `K*`, `r` in `K = {|r_t| <= mu r_n}`, `r . (u + s n) = 0`. With De Saxcé's
    /// `s = mu |u_t|` that is [`Cone::Coulomb`]; with any other it has the same friction, but where
    /// it slips it opens with `u_n = mu |u_t| - s`: with `s = 0` it is the *associated* law. For a
    /// semidefinite `A` the problem is a convex cone program.
    Shifted {
        /// Coefficient of friction, without unit, `0 <= mu < infinity`.
        mu: f64,
        /// `s`, m/s, `0 <= s < infinity`.
        shift: f64,
    },
    /// Contact in the plane, two rows, the normal first: the law of [`Cone::Coulomb`] with one
    /// tangent.
    PlanarCoulomb {
        /// Coefficient of friction, without unit, `0 <= mu < infinity`.
        mu: f64,
    },
    /// Contact in space, three rows, the normal first, with friction bounded by a regular polygon
    /// in place of the circle: `r_t` in `mu r_n P`, where `P` has the corners
    /// `d_l = (cos, sin)(first + 2 pi l/facets)`. The friction is the one in the polygon that takes
    /// most from the slip, `-u_t . r_t = s r_n` with `s = mu max_l (-d_l . u_t)`; so it is not
    /// opposite to the slip as a rule. [`Cone::friction_box`] has its sides at `mu`, not its
    /// corners. Only some solvers take it; others say [`ProblemError::Pyramid`].
    Pyramid {
        /// Coefficient of friction at the corners, without unit, `0 <= mu < infinity`.
        mu: f64,
        /// Number of sides, from three to 1000.
        facets: usize,
        /// Angle of the first corner from the first tangent, rad.
        first: f64,
    },
    /// Contact in space with resistance to spin and rolling, six rows: the normal, two tangents,
    /// the torque about the normal and the two across it, with the relative angular velocity `w`
    /// for `u` (all moments and angular velocities in units of one length `l`: `r_s = m_s/l` in N
    /// s, `u_s = l w_s` in m/s, so that the diagonal of `A` is of one size). Each part is bounded
    /// by the same normal impulse and opposes its own slip:
    ///
    /// ```math
    /// 0 <= u_n, r_n >= 0, u_n r_n = 0,   |r_i| <= mu_i r_n,   r_i = -mu_i r_n u_i/|u_i| where it slips,   i = t, s, r
    /// ```
    ///
    /// In the form of De Saxcé: `u + (sum mu_i |u_i|) n` in the dual of `K = {|r_i| <= mu_i r_n}`,
    /// orthogonal to `r` in `K`.
    Rolling {
        /// Coefficient of friction, without unit, `0 <= mu < infinity`.
        mu: f64,
        /// Arm of the resistance to spin in units of `l`, at least 0 and finite.
        torsion: f64,
        /// Arm of the resistance to rolling in units of `l`, at least 0 and finite.
        rolling: f64,
    },
}

impl Cone {
    /// Rows of the largest cone.
    pub const MOST_ROWS: usize = ROWS;

    /// The polygon `|r_1| <= mu r_n`, `|r_2| <= mu r_n`: a [`Cone::Pyramid`] of four sides with the
    /// corners between the tangents, at `sqrt(2) mu`.
    pub fn friction_box(mu: f64) -> Self {
        Self::Pyramid {
            mu: std::f64::consts::SQRT_2 * mu,
            facets: 4,
            first: std::f64::consts::FRAC_PI_4,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Free | Self::NonNegative | Self::Box { .. } => 1,
            Self::Coulomb { .. } | Self::Shifted { .. } | Self::Pyramid { .. } => 3,
            Self::PlanarCoulomb { .. } => 2,
            Self::Rolling { .. } => ROWS,
        }
    }

    /// Friction as parts of the impulse, each bounded by its coefficient times the normal impulse:
    /// coefficients and rows. Parts that a law does not have are empty.
    pub fn discs(&self) -> [(f64, Range<usize>); 3] {
        match *self {
            Self::Coulomb { mu } | Self::Shifted { mu, .. } => [(mu, 1..3), (0.0, 3..3), (0.0, 3..3)],
            Self::PlanarCoulomb { mu } => [(mu, 1..2), (0.0, 2..2), (0.0, 2..2)],
            Self::Rolling { mu, torsion, rolling } => [(mu, 1..3), (torsion, 3..4), (rolling, 4..6)],
            _ => [(0.0, 1..1), (0.0, 1..1), (0.0, 1..1)],
        }
    }

    /// The coefficient of friction of a contact with the circular cone and nothing else.
    pub fn friction(&self) -> Option<f64> {
        match self {
            Self::Coulomb { mu } | Self::Shifted { mu, .. } | Self::PlanarCoulomb { mu } => Some(*mu),
            _ => None,
        }
    }

    /// Least and largest impulse of a block of one row; `None` for a contact with friction.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Free => Some((f64::NEG_INFINITY, f64::INFINITY)),
            Self::NonNegative => Some((0.0, f64::INFINITY)),
            Self::Box { lower, upper } => Some((lower, upper)),
            Self::Coulomb { .. }
            | Self::Shifted { .. }
            | Self::PlanarCoulomb { .. }
            | Self::Pyramid { .. }
            | Self::Rolling { .. } => None,
        }
    }

    /// The law with the shift of its own slip in place of one that is known.
    pub fn exact(&self) -> Self {
        match *self {
            Self::Shifted { mu, .. } => Self::Coulomb { mu },
            other => other,
        }
    }

    /// Whether the law is that of a convex program for a semidefinite `A`: no shift depends on the
    /// velocity.
    pub fn is_convex(&self) -> bool {
        match self {
            Self::Free | Self::NonNegative | Self::Box { .. } | Self::Shifted { .. } => true,
            Self::Pyramid { mu, .. } => *mu == 0.0,
            Self::Coulomb { .. } | Self::PlanarCoulomb { .. } | Self::Rolling { .. } => {
                self.discs().iter().all(|(mu, _)| *mu == 0.0)
            }
        }
    }

    /// The shift of the normal velocity that makes the law one of complementarity: De Saxcé's
    /// `mu |u_t|`, its sum over the parts of [`Cone::Rolling`], or that of the polygon; zero
    /// without friction, m/s.
    ///
    /// # Panics
    /// If `u` is shorter than [`rows`](Self::rows).
    pub fn shift(&self, u: &[f64]) -> f64 {
        match *self {
            Self::Coulomb { .. } | Self::PlanarCoulomb { .. } | Self::Rolling { .. } => {
                self.discs().into_iter().map(|(mu, i)| mu * length(&u[i])).sum()
            }
            Self::Shifted { shift, .. } => shift,
            Self::Pyramid { mu, facets, first } => {
                let side = TAU / facets as f64;
                let nearest = (((-u[2]).atan2(-u[1]) - first) / side).round();
                let (sine, cosine) = (first + side * nearest).sin_cos();
                -mu * (cosine * u[1] + sine * u[2])
            }
            _ => 0.0,
        }
    }

    pub(crate) fn check(&self, block: usize) -> Result<(), ProblemError> {
        if let Self::Pyramid { mu, facets, first } = *self {
            let option = |what, value| Err(ProblemError::Option { what, value });
            return match () {
                () if !(0.0..f64::INFINITY).contains(&mu) => Err(ProblemError::Friction { block, mu }),
                () if facets < 3 => option("the number of facets, at least three,", facets as f64),
                () if facets > MOST_FACETS => option("the number of facets, at most 1000,", facets as f64),
                () if !first.is_finite() => option("the angle of the first corner", first),
                () => Ok(()),
            };
        }
        if let Self::Shifted { shift, .. } = *self
            && !(0.0..f64::INFINITY).contains(&shift)
        {
            let what = "the shift of a contact, not negative and finite,";
            return Err(ProblemError::Option { what, value: shift });
        }
        // NaN fails every comparison.
        let wrong = self
            .discs()
            .into_iter()
            .find(|(mu, _)| !(0.0..f64::INFINITY).contains(mu));
        if let Some((mu, _)) = wrong {
            return Err(ProblemError::Friction { block, mu });
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
            Self::Coulomb { mu } | Self::Shifted { mu, .. } => project_friction(mu, &mut r[..3]),
            Self::PlanarCoulomb { mu } => project_friction(mu, &mut r[..2]),
            Self::Pyramid { mu, facets, first } => project_pyramid(mu, facets, first, &mut r[..3]),
            Self::Rolling { .. } => project_discs(&self.discs(), &mut r[..ROWS]),
        }
    }
}

/// Euclidean length, without overflow and underflow; zero of no numbers.
pub(crate) fn length(v: &[f64]) -> f64 {
    let squares = v.iter().map(|x| x * x).sum::<f64>();
    // `hypot` takes many times as long as a root.
    if squares.is_normal() {
        squares.sqrt()
    } else if v.iter().all(|x| *x == 0.0) {
        0.0
    } else {
        v.iter().fold(0.0f64, |a, x| a.hypot(*x))
    }
}

/// Euclidean length of the tangential part.
pub(crate) fn tangential(v: &[f64]) -> f64 {
    length(v.get(1..).unwrap_or_default())
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

/// Replaces `r` by its projection on `|r_i| <= mu_i r_n`. With the parts `i` that are on their
/// bounds,
///
/// ```math
/// p_n = (r_n + sum_i mu_i |r_i|)/(1 + sum_i mu_i^2),   p_i = mu_i p_n r_i/|r_i|
/// ```
///
/// Those are found from all of them: a part that is within its bound held the normal back, and
/// without it no other one gets nearer to its own.
fn project_discs(discs: &[(f64, Range<usize>); 3], r: &mut [f64]) {
    let sizes = [0, 1, 2].map(|i: usize| length(&r[discs[i].1.clone()]));
    let mut bound = [true; 3];
    let mut normal = r[0];
    for _ in 0..=discs.len() {
        let (mut sum, mut weight) = (r[0], 1.0);
        for i in (0..3).filter(|i| bound[*i]) {
            sum += discs[i].0 * sizes[i];
            weight += discs[i].0 * discs[i].0;
        }
        normal = (sum / weight).max(0.0);
        let still = [0, 1, 2].map(|i: usize| bound[i] && sizes[i] > discs[i].0 * normal);
        if still == bound {
            break;
        }
        bound = still;
    }
    r[0] = normal;
    for (i, (mu, rows)) in discs.iter().enumerate() {
        if bound[i] {
            let share = mu * normal / sizes[i];
            r[rows.clone()].iter_mut().for_each(|x| *x *= share);
        }
    }
}

/// Replaces `r` by its projection on the pyramid with the edges `(1, mu d_l)`. It is in the sector
/// of the polygon in which `r_t` is, by symmetry: on the side between its two edges, on one of
/// these, or the tip.
fn project_pyramid(mu: f64, facets: usize, first: f64, r: &mut [f64]) {
    let side = TAU / facets as f64;
    let sector = ((r[2].atan2(r[1]) - first) / side).floor();
    let edge = |l: f64| {
        let (sine, cosine) = (first + side * (sector + l)).sin_cos();
        [1.0, mu * cosine, mu * sine]
    };
    let (sine, cosine) = (first + side * (sector + 0.5)).sin_cos();
    if cosine * r[1] + sine * r[2] <= mu * (0.5 * side).cos() * r[0] {
        return;
    }
    let edges = [edge(0.0), edge(1.0)];
    let dot = |a: &[f64; 3], b: &[f64]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    // Least squares of r = alpha a + beta b.
    let (square, across) = (1.0 + mu * mu, dot(&edges[0], &edges[1]));
    let (p, q) = (dot(&edges[0], r), dot(&edges[1], r));
    let (alpha, beta) = (square * p - across * q, square * q - across * p);
    let weights = if mu > 0.0 && alpha >= 0.0 && beta >= 0.0 {
        let d = (square - across) * (square + across);
        [alpha / d, beta / d]
    } else if p >= q {
        [p.max(0.0) / square, 0.0]
    } else {
        [0.0, q.max(0.0) / square]
    };
    for i in 0..3 {
        r[i] = weights[0] * edges[0][i] + weights[1] * edges[1][i];
    }
}

/// Replaces `u`, normal first, by its projection on the dual cone `K* = {mu |u_t| <= u_n}`, by
/// Moreau's `P_K*(u) = u + P_K(-u)`.
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
