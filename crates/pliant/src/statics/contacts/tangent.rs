//! Contacts that are active, as rows of the tangent.

use super::RestContacts;
use crate::Error;
use pliant_kkt::{Extended, Tail};
use pliant_model::State;
use pliant_solvers::KktSystem;
use pliant_stepper::system::System;

/// Rows of the contacts that are active, behind those of the model.
#[derive(Debug, Default)]
pub(crate) struct ActiveRows {
    tail: Tail,
    /// The first row of each of them among those of all contacts.
    firsts: Vec<usize>,
    system: Extended,
}

/// Share of the friction that a contact may use that counts as sticking in the tangent.
const STICKS: f64 = 1.0 - 1e-6;

impl RestContacts {
    /// Contacts without friction: whether they are active, by `r - w/s`; the others lose their
    /// force. A gap of `touching` (m) is none.
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

    /// Appends what the rows of the tangent miss, as [`fill`](Self::fill) last made them.
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

    /// The tangent with the rows of the contacts that are active behind those of the model: their
    /// normals, and both tangents of those that stick.
    pub(crate) fn fill(&mut self, system: &System, state: &State) -> Result<(), Error> {
        let firsts: Vec<usize> = self.firsts().collect();
        let active = &mut self.active;
        active.tail.clear();
        active.firsts.clear();
        for (i, own) in self.rows.iter().enumerate().filter(|(i, _)| self.kept.acts[*i]) {
            let contact = &self.kept.list.contacts()[i];
            let r = &self.kept.force[firsts[i]..][..own.count];
            let sticks = own.count > 1 && contact.law.used_friction(r) < STICKS;
            let axes = &own.velocities()[..if sticks { 3 } else { 1 }];
            let rows = active.tail.push_both(axes, &[], self.kept.list.supports(i));
            active.tail.r[rows.start] = contact.law.compliance;
            active.firsts.push(firsts[i]);
        }
        if active.firsts.is_empty() {
            return Ok(());
        }
        let (model, assembler) = (&system.model, &system.assembler);
        assembler.project(model, state, &mut active.tail)?;
        active.system.fill(assembler.system(), &[], &active.tail)?;
        Ok(())
    }

    /// The tangent with contacts that are active, if there are such.
    pub(crate) fn tangent(&self) -> Option<&KktSystem> {
        let any = !self.active.firsts.is_empty();
        self.active.system.system().filter(|_| any)
    }

    /// Changes the forces of the contacts of the tangent.
    pub(crate) fn add(&mut self, change: &[f64], share: f64) {
        for (first, d) in self.active.firsts.iter().zip(change) {
            self.kept.force[*first] += share * d;
        }
    }
}
