//! Contacts that bear as rows of the tangent.

use super::RestContacts;
use crate::Error;
use pliant_kkt::Assembler;
use pliant_model::{Model, State};
use pliant_solvers::KktSystem;

/// Share of the friction that a contact may use that counts as sticking in the tangent.
const STICKS: f64 = 1.0 - 1e-6;

impl RestContacts {
    /// Contacts without friction: whether they bear, by `r - w/s`; the others lose their force. A gap of `touching` (m) is none.
    pub(crate) fn take_sides(&mut self, per_length: f64, touching: f64) {
        let mut row = 0;
        for (i, own) in self.rows.iter().enumerate() {
            let contact = &self.kept.list.contacts()[i];
            let r = self.kept.force[row];
            let c = contact.law.compliance;
            let w = contact.gap + c * r;
            let w = if w.abs() <= touching { 0.0 } else { w };
            self.kept.acts[i] = if own.count > 1 {
                r > 0.0
            } else {
                r - w / (c + per_length) >= 0.0
            };
            if !self.kept.acts[i] {
                self.kept.force[row..row + own.count].fill(0.0);
            }
            row += own.count;
        }
    }

    /// What the rows of the tangent miss, as [`fill`](Self::fill) last made them.
    pub(crate) fn deficits(&self, out: &mut Vec<f64>) {
        for ((contact, acts), first) in self
            .kept
            .list
            .contacts()
            .iter()
            .zip(&self.kept.acts)
            .zip(self.firsts())
        {
            if *acts {
                out.push(contact.gap + contact.law.compliance * self.kept.force[first]);
            }
        }
    }

    /// The tangent with the rows of the contacts that bear behind those of the model: their normals, and both tangents of those that stick.
    pub(crate) fn fill(
        &mut self,
        assembler: &Assembler,
        (model, state): (&Model, &State),
    ) -> Result<(), Error> {
        self.acting.clear();
        self.acting_of.clear();
        let firsts: Vec<usize> = self.firsts().collect();
        for (i, own) in self.rows.iter().enumerate().filter(|(i, _)| self.kept.acts[*i]) {
            let contact = &self.kept.list.contacts()[i];
            let r = &self.kept.force[firsts[i]..][..own.count];
            let sticks = own.count > 1 && contact.law.used_friction(r) < STICKS;
            let axes = &own.velocities()[..if sticks { 3 } else { 1 }];
            let rows = self.acting.push_both(axes, &[], self.kept.list.supports(i));
            self.acting.r[rows.start] = contact.law.compliance;
            self.acting_of.push(firsts[i]);
        }
        if self.acting_of.is_empty() {
            return Ok(());
        }
        assembler.project(model, state, &mut self.acting)?;
        self.tangent.fill(assembler.system(), &[], &self.acting)?;
        Ok(())
    }

    /// The tangent with contacts that bear, if there are such.
    pub(crate) fn tangent(&self) -> Option<&KktSystem> {
        let bears = !self.acting_of.is_empty();
        self.tangent.system().filter(|_| bears)
    }

    /// Changes the forces of the contacts of the tangent.
    pub(crate) fn add(&mut self, change: &[f64], share: f64) {
        for (first, d) in self.acting_of.iter().zip(change) {
            self.kept.force[*first] += share * d;
        }
    }
}
