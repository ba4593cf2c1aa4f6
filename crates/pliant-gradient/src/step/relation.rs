//! The relations of implicit Euler and of BDF2 between velocities, accelerations and places.

/// The relations of a step, with its memory `v_b` and `d_b` of the one before:
///
/// ```math
/// a = (v+ - v^)/H,   x+ = x (+) (H v+ + c d_b),   v^ = p v + q v_b
/// ```
///
/// BDF2 has `H = h (1 + r)/(1 + 2 r)` for the ratio `r` of a step to the one before, implicit Euler
/// `H = h` and nothing of what was before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relation {
    /// `H` (s).
    pub(super) reach: f64,
    /// `p`.
    pub(super) by_velocity: f64,
    /// `q`.
    pub(super) by_before: f64,
    /// `c`.
    pub(super) by_displacement: f64,
}

impl Relation {
    /// The relation of a step of length `h` (s) behind one of length `before`, if BDF2 remembers one.
    pub(super) fn of(h: f64, before: Option<f64>) -> Self {
        // r = 0 is implicit Euler.
        let r = before.map_or(0.0, |before| h / before);
        let end = (1.0 + 2.0 * r) / (1.0 + r);
        let first = r * r / (1.0 + r) / end;
        Self {
            reach: h / end,
            by_velocity: (1.0 + r) / end,
            by_before: -first,
            by_displacement: first,
        }
    }
}
