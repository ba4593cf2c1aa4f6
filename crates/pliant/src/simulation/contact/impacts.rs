//! Impacts one after the other.

use super::Contacts;
use crate::Error;
use pliant_solvers::complementarity::{Cone, ProblemError, solve_block};

/// Share of the fastest approach at the start below which nothing approaches any more (rounding of the responses).
const STILL: f64 = 1e-12;

/// Impacts at most, per contact: balls between walls may hit each other for ever, but slower and slower.
const PER_CONTACT: usize = 1000;

impl Contacts {
    /// Whether a contact has restitution.
    pub(crate) fn bounces(&self) -> bool {
        self.list.contacts().iter().any(|c| c.law.restitution > 0.0)
    }

    /// Whether every contact can be solved alone.
    pub(crate) fn check_alone(&self) -> Result<(), Error> {
        let pyramid = |c: &Option<Cone>| matches!(c, Some(Cone::Pyramid { .. }));
        match self.cones.iter().position(pyramid) {
            None => Ok(()),
            Some(block) => Err(Error::Contacts(ProblemError::Unsuitable {
                block,
                why: "impacts in sequence are for friction cones and ellipses",
            })),
        }
    }

    /// Takes the impacts of hard contacts that are closed, or close within the step at the velocities of the moment, the fastest first, each alone: Newton's
    /// law along the normal and Coulomb's across. Their impulses go to `given`. False if they do not end.
    ///
    /// Every one takes energy or keeps it, for it is one contact with one coefficient.
    pub(crate) fn impacts_in_sequence(&mut self, base_rows: usize, h: f64) -> bool {
        let mut u = self.tail.velocity().to_vec();
        let mut first_rows = Vec::with_capacity(self.list.len());
        let mut row = 0;
        for rows in &self.rows {
            first_rows.push(row);
            row += rows.count;
        }
        let fastest = u.iter().fold(0.0f64, |a, u| a.max(u.abs()));
        for _ in 0..PER_CONTACT * self.list.len() {
            let hits = |i: &usize| {
                let (contact, u) = (&self.list.contacts()[*i], u[first_rows[*i]]);
                contact.law.compliance == 0.0 && u < -STILL * fastest && contact.gap.max(0.0) + h * u < 0.0
            };
            let approach = |i: &usize| u[first_rows[*i]];
            let next = (0..first_rows.len()).filter(hits);
            let Some(i) = next.min_by(|i, k| approach(i).total_cmp(&approach(k))) else {
                return true;
            };
            let contact = &self.list.contacts()[i];
            let (row, rows) = (first_rows[i], self.rows[i].count);
            let mut b = [0.0; 6];
            b[..rows].copy_from_slice(&u[row..row + rows]);
            b[0] *= 1.0 + contact.law.restitution;
            let mut r = [0.0; 6];
            let cone = self.rows[i].cone;
            let block = self.solver.diagonal_block(base_rows + row);
            if !block.is_some_and(|a| solve_block(&cone, a, &b[..rows], &mut r[..rows])) {
                return false;
            }
            for (k, velocity) in self.solver.response(base_rows + row, &r[..rows]) {
                if let Some(u) = k.checked_sub(base_rows).and_then(|k| u.get_mut(k)) {
                    *u += velocity;
                }
            }
            for (given, r) in self.given[row..row + rows].iter_mut().zip(r) {
                *given += r;
            }
            self.report.impacts += 1;
        }
        false
    }
}
