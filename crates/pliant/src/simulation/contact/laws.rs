//! The law of each contact: what `R` and `b` of its rows are, and what bounds its spin.

use super::Contacts;
use crate::contact::{Contact, Overlap};
use pliant_solvers::complementarity::Cone;

/// Two tangents that make an orthonormal frame with a unit normal, without a jump where the normal turns slowly but near one pole.
pub(super) fn frame(normal: [f64; 3]) -> [[f64; 3]; 3] {
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

/// Rows of the point, then those of the spin.
pub(super) fn rows_of(contact: &Contact) -> (usize, usize) {
    let law = &contact.law;
    let spin = usize::from(law.torsion > 0.0) + 2 * usize::from(law.rolling > 0.0);
    (if law.friction > 0.0 { 3 } else { 1 }, spin)
}

/// A row whose impulse is bounded by that of a contact's normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpinRow {
    /// Its row block, and its row and that of the normal among the contact rows.
    pub(super) block: usize,
    pub(super) row: usize,
    pub(super) normal: usize,
    /// Torque per force (m).
    pub(super) arm: f64,
    pub(super) axis: [f64; 3],
    pub(super) contact: usize,
}

impl Contacts {
    /// Right-hand sides and compliances of the rows in the velocity-change form (docs/notation.md), with a share of restitution.
    pub(super) fn fill_laws(&mut self, h: f64, beta: f64, overlap: Overlap, share: f64) {
        let mut row = 0;
        for contact in self.list.contacts() {
            let u = self.tail.velocity()[row];
            let (gap, law) = (contact.gap, &contact.law);
            let e = share * law.restitution;
            let (b, r) = if law.compliance > 0.0 {
                let l = h * beta + law.relaxation_time;
                (
                    (gap + (law.relaxation_time + h) * u) / l,
                    law.compliance / (h * l),
                )
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
            let (rows, spin) = rows_of(contact);
            for k in 1..rows + spin {
                self.tail.b[row + k] = self.tail.velocity()[row + k];
                self.tail.r[row + k] = 0.0;
            }
            row += rows + spin;
        }
    }

    /// Bounds the spin rows by the normal impulses of the solution; returns by how much of the largest bound one was off.
    pub(super) fn bound_spins(&mut self, base_rows: usize) -> f64 {
        let impulses = &self.solution.mu[base_rows..];
        let (mut change, mut size) = (0.0f64, 0.0f64);
        for s in &self.spins {
            let bound = s.arm * impulses[s.normal].max(0.0);
            if let Some(Cone::Box { upper, .. }) = self.cones[s.block] {
                change = change.max((bound - upper).abs());
                size = size.max(bound).max(upper);
            }
            self.cones[s.block] = Some(Cone::Box {
                lower: -bound,
                upper: bound,
            });
        }
        if size > 0.0 { change / size } else { 0.0 }
    }

    /// Energy that the impulses add to the motion without them, `r . u+ - r . A r / 2` (J), of a solution in impulses and changes of velocity. With one
    /// coefficient of restitution for all it is not positive. `free` are velocities in the problem's unit times `unit`.
    pub(super) fn gain(&self, impulses: &[f64], unit: f64) -> f64 {
        let free = self.solver.free_velocities();
        let free = &free[free.len() - impulses.len()..];
        let mut gain = 0.0;
        for (k, r) in impulses.iter().enumerate() {
            let start = self.tail.velocity()[k];
            let w = self.after[k] - start + self.tail.r[k] * r + self.tail.b[k];
            gain += r * (self.after[k] - 0.5 * (w - unit * free[k]));
        }
        gain
    }

    /// Sum of `|r u|` that the gain is compared with.
    pub(super) fn exchanged(&self, impulses: &[f64]) -> f64 {
        let velocities = self.tail.velocity().iter().zip(&self.after);
        let sums = impulses.iter().zip(velocities);
        sums.map(|(r, (u, v))| r.abs() * (u.abs() + v.abs())).sum()
    }
}
