//! The law of a contact as equations.

use super::ContactFunction;
use crate::complementarity::Cone;
use crate::complementarity::cone::{ROWS, length, project_friction, tangential};

/// `F` of a block, and its derivatives by `r` and `u`, row by row, all with `F` in m/s; the first
/// numbers count.
#[derive(Clone, Copy, Debug)]
pub(in crate::complementarity) struct Local {
    pub(in crate::complementarity) value: [f64; ROWS],
    pub(in crate::complementarity) by_r: [f64; ROWS * ROWS],
    pub(in crate::complementarity) by_u: [f64; ROWS * ROWS],
}

impl Default for Local {
    fn default() -> Self {
        Self {
            value: [0.0; ROWS],
            by_r: [0.0; ROWS * ROWS],
            by_u: [0.0; ROWS * ROWS],
        }
    }
}

/// Signorini's law, and that of every part that a disc bounds, each with the radius that the
/// function makes of the normal. With the step `y = s r - u`:
///
/// ```math
/// F_n = s r_n - max(0, y_n),   F_i = s r_i - P(y_i),   |P| <= mu_i max(0, y_n)
/// ```
pub(in crate::complementarity) fn contact(
    function: ContactFunction,
    cone: &Cone,
    s: f64,
    r: &[f64],
    u: &[f64],
) -> Local {
    let mut out = Local::default();
    let d = r.len();
    let mut y = [0.0; ROWS];
    for i in 0..d {
        y[i] = s * r[i] - u[i];
    }
    let pressed = y[0] > 0.0;
    if pressed {
        (out.value[0], out.by_u[0]) = (u[0], 1.0);
    } else {
        (out.value[0], out.by_r[0]) = (s * r[0], s);
    }
    let own = function == ContactFunction::JeanMoreau;
    for (mu, rows) in cone.discs() {
        let radius = mu * f64::max(0.0, if own { s * r[0] } else { y[0] });
        let length = length(&y[rows.clone()]);
        for i in rows.clone() {
            if length <= radius && radius > 0.0 {
                (out.value[i], out.by_u[(d + 1) * i]) = (u[i], 1.0);
                continue;
            }
            if length == 0.0 || radius == 0.0 {
                (out.value[i], out.by_r[(d + 1) * i]) = (s * r[i], s);
                continue;
            }
            let t = y[i] / length;
            out.value[i] = s * r[i] - radius * t;
            out.by_r[d * i] = -s * mu * t;
            out.by_u[d * i] = if own { 0.0 } else { mu * t };
            for l in rows.clone() {
                let unit = f64::from(u8::from(i == l));
                let turn = radius / length * (unit - t * y[l] / length);
                out.by_r[d * i + l] = s * (unit - turn);
                out.by_u[d * i + l] = turn;
            }
        }
    }
    out
}

/// The natural map `s r - P_K(s r - u - shift n)` of a contact whose shift is known, and its
/// derivatives.
pub(super) fn shifted_friction(mu: f64, shift: f64, s: f64, r: &[f64], u: &[f64]) -> Local {
    let mut out = Local::default();
    let mut y: [f64; 3] = std::array::from_fn(|i| s * r[i] - u[i]);
    y[0] -= shift;
    let length = tangential(&y);
    let mut p = y;
    project_friction(mu, &mut p);
    let inside = p == y;
    let (n, share) = (p[0], 1.0 / (1.0 + mu * mu));
    let edge = [1.0, mu * y[1] / length, mu * y[2] / length];
    for i in 0..3 {
        out.value[i] = s * r[i] - p[i];
        for l in 0..3 {
            let unit = f64::from(u8::from(i == l));
            let slope = if inside {
                unit
            } else if n == 0.0 {
                0.0
            } else {
                let across = if i > 0 && l > 0 {
                    n * mu / length * (unit - y[i] * y[l] / (length * length))
                } else {
                    0.0
                };
                share * edge[i] * edge[l] + across
            };
            out.by_r[3 * i + l] = s * (unit - slope);
            out.by_u[3 * i + l] = slope;
        }
    }
    out
}
