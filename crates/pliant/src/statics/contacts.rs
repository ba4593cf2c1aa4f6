//! Contacts at rest: what touches at a position, with which forces, and how far that is from its
//! law.
//!
//! Displacements take the part of velocities and forces that of impulses. With the gap `phi`, the
//! compliance `C` and the way `s` that the second point has slipped against the first since the
//! load began to change
//!
//! ```math
//! r in K,   w = (phi + C r_n, s),   w + mu |s| n in K*,   r . (w + mu |s| n) = 0
//! ```
//!
//! with Coulomb's cone `K`, its dual `K*`, and of contacts without friction `0 <= w_n`, `r_n >= 0`,
//! `w_n r_n = 0`.

mod find;
mod step;
mod tangent;

use crate::Error;
use pliant_dense::Vec3;
use pliant_kkt::{Assembler, Tail};
use pliant_model::{Model, State};
use pliant_stepper::contact::{ContactKey, ContactList, ContactRows};
use step::ConeStep;
use tangent::ActiveRows;

pub(crate) use find::show;

/// Contacts of the present position, and scratch.
#[derive(Debug, Default)]
pub(crate) struct RestContacts {
    kept: KeptContacts,
    rows: Vec<ContactRows>,
    tail: Tail,
    /// Active contacts, as rows of the tangent.
    active: ActiveRows,
    /// The step of the flow.
    flow: ConeStep,
    /// Contacts with friction are refused.
    frictionless: bool,
    /// Since the last step a contact with a force was not found again.
    lost: bool,
    /// Share of the last natural map.
    missed: f64,
    scratch: Vec<f64>,
    found: ContactList,
}

/// The contacts of an iterate.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptContacts {
    list: ContactList,
    /// Force in every row (N).
    force: Vec<f64>,
    /// The way slipped, in the world (m).
    slip: Vec<Vec3>,
    /// Whether it is active in Newton's method.
    acts: Vec<bool>,
}

impl KeptContacts {
    /// Which are active.
    pub(crate) fn acting(&self) -> impl Iterator<Item = ContactKey> {
        let all = self.list.contacts().iter().zip(&self.acts);
        all.filter(|(_, acts)| **acts).map(|(c, _)| c.key)
    }
}

/// How far contacts are from their law.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Miss {
    /// Largest share of the natural map in the largest force.
    pub(crate) share: f64,
    /// Largest gap of what bears, or overlap (m).
    pub(crate) violation: f64,
    /// The sides of the contact that misses most.
    pub(crate) sides: Option<[u32; 2]>,
}

impl RestContacts {
    pub(crate) fn new(frictionless: bool) -> Self {
        Self {
            frictionless,
            ..Self::default()
        }
    }

    pub(crate) fn kept(&self) -> &KeptContacts {
        &self.kept
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kept.list.is_empty()
    }

    /// Whether any contact has friction.
    pub(crate) fn has_friction(&self) -> bool {
        self.rows.iter().any(|r| r.count > 1)
    }

    /// The largest force of a row (N), in its unit.
    pub(crate) fn largest_force(&self) -> f64 {
        self.kept.force.iter().fold(0.0, |a: f64, r| a.max(r.abs()))
    }

    /// How many bear a force.
    pub(crate) fn bearing(&self) -> usize {
        self.firsts()
            .filter(|first| self.kept.force[*first] > 0.0)
            .count()
    }

    /// The first row of each contact.
    fn firsts(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().scan(0, |next, rows| {
            let first = *next;
            *next += rows.count;
            Some(first)
        })
    }

    /// Whether the finder lists other points than those that bore.
    pub(crate) fn lost(&self) -> bool {
        self.lost
    }

    /// Slip is counted from here.
    pub(crate) fn begin_increment(&mut self) {
        self.kept.slip.fill(Vec3::zeros());
    }

    /// The rows at a position, with its Jacobians.
    fn project(&mut self, assembler: &Assembler, model: &Model, state: &State) -> Result<(), Error> {
        self.tail.clear();
        for (i, rows) in self.rows.iter().enumerate() {
            self.tail
                .push_both(rows.velocities(), &[], self.kept.list.supports(i));
        }
        assembler.project(model, state, &mut self.tail)?;
        Ok(())
    }

    /// `F_1 += J^T r`, and the sizes of that, `|J|^T |r|` with the length of each force for all its
    /// rows: where the tangents lie is arbitrary.
    pub(crate) fn add_forces(&mut self, force: &mut [f64], terms: &mut [f64]) {
        self.tail.add_transpose_product(&self.kept.force, 1.0, force);
        self.scratch.clear();
        let mut row = 0;
        for own in &self.rows {
            let of = &self.kept.force[row..row + own.count];
            let length = of.iter().fold(0.0, |a: f64, r| a.hypot(*r));
            self.scratch.extend(std::iter::repeat_n(length, own.count));
            row += own.count;
        }
        self.tail.add_sizes(&self.scratch, terms);
    }

    /// The largest share of a displacement that takes no gap of a contact that does not bear below
    /// zero.
    pub(crate) fn first_touch(&mut self, x: &[f64]) -> f64 {
        self.tail.product_into(x, &mut self.scratch);
        let after = &self.scratch;
        let mut share = f64::INFINITY;
        for (i, first) in self.firsts().enumerate() {
            let gap = self.kept.list.contacts()[i].gap;
            if !self.kept.acts[i] && gap > 0.0 && after[first] < 0.0 {
                share = share.min(-gap / after[first]);
            }
        }
        share
    }

    /// The step is taken: the forces are those that it was solved with.
    pub(crate) fn accept(&mut self) {
        self.lost = false;
        let found = self.flow.forces();
        if found.len() == self.kept.force.len() {
            self.kept.force.copy_from_slice(found);
        }
    }

    /// Counts the way of a displacement of what bears; what does not has none.
    pub(crate) fn slide(&mut self, x: &[f64]) {
        self.tail.product_into(x, &mut self.scratch);
        let after = &self.scratch;
        let mut row = 0;
        for (i, own) in self.rows.iter().enumerate() {
            if self.kept.force[row] > 0.0 {
                for k in 1..own.count {
                    let unit = own.units[k];
                    self.kept.slip[i] += after[row + k] / (unit * unit) * Vec3::from(own.velocities()[k]);
                }
            } else {
                self.kept.slip[i] = Vec3::zeros();
            }
            row += own.count;
        }
    }

    /// Gap and slip in the rows of a contact, as `w`.
    fn way(&self, i: usize, first: usize, w: &mut [f64; 6]) {
        let (contact, own) = (&self.kept.list.contacts()[i], &self.rows[i]);
        w[0] = contact.gap + contact.law.compliance * self.kept.force[first];
        for k in 1..own.count {
            w[k] = self.kept.slip[i].dot(&Vec3::from(own.velocities()[k]));
        }
    }

    /// The natural maps `|r - P_K(r - (w + mu |w_t| n)/s)|` over the largest force, with `s` the
    /// length over it, beyond the rounding of gaps (m).
    pub(crate) fn miss(&mut self, largest: f64, length: f64, rounding: f64) -> Miss {
        let mut out = Miss::default();
        for (i, first) in self.firsts().enumerate() {
            let (contact, own) = (&self.kept.list.contacts()[i], &self.rows[i]);
            let s = length / largest + contact.law.compliance;
            let of = &self.kept.force[first..first + own.count];
            let (mut w, mut p) = ([0.0; 6], [0.0; 6]);
            self.way(i, first, &mut w);
            let shift = own.cone.shift(&w[..own.count]);
            for k in 0..own.count {
                p[k] = of[k] - w[k] / s;
            }
            p[0] -= shift / s;
            own.cone.project(&mut p[..own.count]);
            let natural = p.iter().zip(of).fold(0.0f64, |a, (p, r)| a.hypot(p - r));
            let share = (natural - rounding / s).max(0.0) / largest;
            if share.is_nan() || share > out.share {
                (out.share, out.sides) = (share, Some(contact.sides));
            }
            let open = if of[0] > 0.0 { w[0].abs() } else { (-w[0]).max(0.0) };
            out.violation = out.violation.max(open);
        }
        self.missed = out.share;
        out
    }
}
