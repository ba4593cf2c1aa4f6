//! Viscous friction of contacts: dampers along the tangents of those that touch.
//!
//! **Equation.** A contact that touches has the impulse `r_v = -h c u_t+` beside that of Coulomb's
//! friction, with `c` (N s/m) and the slip `u_t+` (m/s) at the end of the step, of SDIRK2 at that
//! of each stage of length `h` (s). As rows behind those of all contacts that is
//! `J_t dv + r_v/(h c) + u_t = 0`, without bounds. `r_v . u_t+ <= 0` whatever the step.
//!
//! A contact touches in a step if it had a force over the last one. One that had none does where it
//! is closed, to rounding, and is pressed on: a hard one by its velocities and the weight of what
//! has coordinates of its own, a compliant one by what its spring and its damper would be with
//! these. So a contact that begins to bear otherwise, or ends to, has its drag a step late: an
//! error of the first order in the length of that step, `h c u_t/m`, of a velocity, once.

use super::detect::predict;
use super::rows::RowSystem;
use super::{Base, Contact, ContactList, ContactMemory, ContactRows};
use crate::Error;
use pliant_kkt::{Quantity, Tail};
use pliant_model::State;

/// Gap (m), for coordinates of up to a metre, and share of a velocity below which there is none:
/// rounding of the geometry.
const ROUNDING: f64 = 1e-12;

/// The rows of the viscous friction of one contact.
#[derive(Clone, Copy, Debug)]
pub struct Drag {
    /// The contact, by its number in the list.
    pub contact: usize,
    /// The first of its two rows, among those of the contacts.
    pub row: usize,
    /// The two tangents along which it acts (world, of unit length).
    pub axes: [[f64; 3]; 2],
}

/// The contacts with viscous friction that touch in a step.
#[derive(Debug, Default)]
pub(super) struct Drags {
    pub(super) list: Vec<Drag>,
    /// The velocities at the end of the step, as far as they are known before it.
    predicted: State,
    /// Rows of the contacts that had no force, in which their velocities are measured.
    probe: Tail,
    probed: Vec<usize>,
}

/// Whether a contact that had no force over the last step is pressed on in one of `h` (s), at the
/// expected velocities `u` of its normal and its tangents.
fn is_pressed(contact: &Contact, u: &[f64], h: f64) -> bool {
    let law = &contact.law;
    if law.compliance > 0.0 {
        return contact.gap + (law.relaxation_at(contact.gap) + h) * u[0] < 0.0;
    }
    let size = contact.point.iter().fold(1.0f64, |a, x| a.max(x.abs()));
    let fastest = u.iter().fold(0.0f64, |a, u| a.max(u.abs()));
    contact.gap <= ROUNDING * size && u[0] < -ROUNDING * fastest
}

impl Drags {
    /// Finds the contacts that touch. Contacts without viscous friction cost a comparison each.
    pub(super) fn find(
        &mut self,
        base: &Base<'_>,
        list: &ContactList,
        rows: &[ContactRows],
        memory: &ContactMemory,
    ) -> Result<(), Error> {
        let h = base.scheme.h;
        self.list.clear();
        self.probed.clear();
        self.probe.clear();
        for (i, ((contact, supports), own)) in list.with_supports().zip(rows).enumerate() {
            if contact.law.viscous_friction == 0.0 {
                continue;
            }
            let axes = own.tangents();
            if memory.had_force(contact.key) {
                let (contact, row) = (i, 0);
                self.list.push(Drag { contact, row, axes });
            } else {
                let [a, b] = axes;
                let axes = [contact.normal, a, b];
                self.probe.push(Quantity::Velocity, &axes, supports);
                self.probed.push(i);
            }
        }
        if self.probed.is_empty() {
            return Ok(());
        }
        predict(
            base.model,
            &base.motion.state,
            base.system(),
            h,
            &mut self.predicted,
        );
        let (assembler, model) = (base.assembler, base.model);
        assembler.project(model, &self.predicted, &mut self.probe)?;
        for (contact, u) in self.probed.iter().zip(self.probe.velocity().chunks(3)) {
            if is_pressed(&list.contacts()[*contact], u, h) {
                let (contact, row, axes) = (*contact, 0, rows[*contact].tangents());
                self.list.push(Drag { contact, row, axes });
            }
        }
        self.list.sort_unstable_by_key(|d| d.contact);
        Ok(())
    }
}

impl RowSystem {
    /// Finds the contacts whose viscous friction acts in the step.
    pub(super) fn find_drags(
        &mut self,
        base: &Base<'_>,
        list: &ContactList,
        memory: &ContactMemory,
    ) -> Result<(), Error> {
        self.drags.find(base, list, &self.rows, memory)
    }

    /// Adds the rows of viscous friction behind those of the contacts.
    pub(super) fn push_drags(&mut self, list: &ContactList) {
        for drag in &mut self.drags.list {
            drag.axes = self.rows[drag.contact].tangents();
            let supports = list.supports(drag.contact);
            drag.row = self.tail.push(Quantity::Velocity, &drag.axes, supports).start;
            self.cones.push(None);
        }
    }

    /// Fills the laws of viscous friction for a step or a stage of length `h` (s).
    pub(super) fn fill_drags(&mut self, list: &ContactList, h: f64) {
        for drag in &self.drags.list {
            let c = list.contacts()[drag.contact].law.viscous_friction;
            for k in drag.row..drag.row + 2 {
                self.tail.b[k] = self.tail.velocity()[k];
                // The least drag that there is in numbers; of nothing the inverse is infinite.
                self.tail.r[k] = (h * c).recip().min(f64::MAX);
            }
        }
    }
}
