//! Rows with a bounded multiplier: where a row is, and by how much it misses its law.

/// Where the multiplier of a bounded row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BoundState {
    /// Between its bounds: the row holds, `w_i = 0`.
    #[default]
    Free,
    /// At its lower bound: `w_i >= 0`.
    Lower,
    /// At its upper bound: `w_i <= 0`.
    Upper,
    /// Its two bounds are equal: `w_i` of any sign.
    Both,
}

impl BoundState {
    /// The multiplier of a row in this state, if the state says so.
    pub(crate) fn value(self, (lower, upper): (f64, f64)) -> Option<f64> {
        match self {
            Self::Free => None,
            Self::Lower | Self::Both => Some(lower),
            Self::Upper => Some(upper),
        }
    }

    /// The state in which a row begins of which nothing is known: a limit without force, all others
    /// free. Most limits are not reached, and the two of one coordinate, both free, are redundant.
    pub(crate) fn first(bounds: (f64, f64)) -> Self {
        match bounds {
            (0.0, f64::INFINITY) => Self::Lower,
            (f64::NEG_INFINITY, 0.0) => Self::Upper,
            _ => Self::Free,
        }
    }

    /// The state closest to this one that the bounds allow.
    pub(crate) fn within(self, (lower, upper): (f64, f64)) -> Self {
        if lower == upper {
            return Self::Both;
        }
        match self.value((lower, upper)) {
            Some(value) if value.is_finite() && self != Self::Both => self,
            _ => Self::Free,
        }
    }
}

/// Whether row `i` is out of the matrix. An empty list stands for no such row.
#[inline]
pub(crate) fn is_held(states: &[BoundState], i: usize) -> bool {
    states.get(i).is_some_and(|s| *s != BoundState::Free)
}

/// Sets the multipliers of the held rows to their bounds; false if there is none.
pub(crate) fn put_held(states: &[BoundState], bounds: &[(f64, f64)], mu: &mut [f64]) -> bool {
    let mut any = false;
    for ((state, bounds), mu) in states.iter().zip(bounds).zip(mu) {
        if let Some(value) = state.value(*bounds) {
            *mu = value;
            any = true;
        }
    }
    any
}

/// Residual and work of the rows with bounds. For a system without finite bounds all counts are
/// zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoundsReport {
    /// Natural-map residual `max_i S_ii |mu_i - clip(mu_i - w_i/S_ii, lo_i, hi_i)|` with
    /// `w = J x + R mu + b` and `S_ii = R_ii + (J |diag(W)|^-1 J^T)_ii`: a velocity, zero only at a
    /// solution. Without bounds it is [`KktResidual::row`](crate::KktResidual::row).
    pub natural: f64,
    /// Changes of the set of rows at bounds in this solve.
    pub changes: usize,
    /// Numeric factorisations in this solve; zero if the rows at bounds are those of the last
    /// solve. (`prepare` does its own.)
    pub factorisations: usize,
    /// Rows at a bound in the answer, those with equal bounds among them.
    pub rows_at_bounds: usize,
}

/// `s |mu - clip(mu - w/s, lo, hi)|`, for `s = 0` by its limit. Without the cancellation of the
/// formula where `mu` is between the bounds.
pub(crate) fn natural(mu: f64, w: f64, (lower, upper): (f64, f64), s: f64) -> f64 {
    if mu < lower || mu > upper {
        let target = if s > 0.0 { mu - w / s } else { mu };
        return s * (mu - target.max(lower).min(upper)).abs();
    }
    let room = if w > 0.0 { mu - lower } else { upper - mu };
    if room == 0.0 {
        0.0
    } else if s > 0.0 {
        w.abs().min(s * room)
    } else {
        w.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_natural_map_vanishes_at_solutions_only() {
        let inf = f64::INFINITY;
        for (mu, w, bounds, expected) in [
            (0.5, 0.0, (0.0, 1.0), 0.0),
            (0.0, 3.0, (0.0, inf), 0.0),
            (1.0, -3.0, (0.0, 1.0), 0.0),
            (0.0, -3.0, (0.0, inf), 3.0),
            (0.0, -3.0, (0.0, 1.0), 2.0),
            (0.25, 3.0, (0.0, inf), 0.5),
            (-1.0, 0.0, (0.0, inf), 2.0),
            (3.0, 0.0, (-1.0, 1.0), 4.0),
            (7.0, -4.0, (7.0, 7.0), 0.0),
            (7.0, -4.0, (-inf, inf), 4.0),
        ] {
            assert_eq!(natural(mu, w, bounds, 2.0), expected, "{mu} {w} {bounds:?}");
        }
        assert_eq!(natural(1.0, 3.0, (0.0, 1.0), 0.0), 3.0);
        assert_eq!(natural(0.0, 3.0, (0.0, 1.0), 0.0), 0.0);
    }

    #[test]
    fn states_follow_the_bounds() {
        let inf = f64::INFINITY;
        assert_eq!(BoundState::Lower.within((-inf, 1.0)), BoundState::Free);
        assert_eq!(BoundState::Upper.within((-inf, 1.0)), BoundState::Upper);
        assert_eq!(BoundState::Upper.within((2.0, 2.0)), BoundState::Both);
        assert_eq!(BoundState::Free.within((2.0, 2.0)), BoundState::Both);
        // A row that was switched off starts free.
        assert_eq!(BoundState::Both.within((0.0, 2.0)), BoundState::Free);
    }
}
