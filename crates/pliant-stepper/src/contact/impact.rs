//! Impacts before a step: one after the other, or by Poisson's law ([`poisson`]).

mod poisson;

use super::rows::RowSystem;
use super::{Base, ContactList, ContactsReport};
use crate::Error;
use pliant_solvers::complementarity::{Cone, ProblemError, solve_block};
pub(super) use poisson::{Expansion, Impact, Unconverged};

/// Share of the fastest approach at the start below which nothing approaches any more (rounding of
/// the responses).
const STILL: f64 = 1e-12;

/// Impacts at most, per contact: balls between walls may hit each other for ever, but slower and
/// slower.
const PER_CONTACT: usize = 1000;

impl RowSystem {
    /// Refuses contacts that cannot be solved alone.
    fn check_alone(&self) -> Result<(), Error> {
        let pyramid = |c: &Option<Cone>| matches!(c, Some(Cone::Pyramid { .. }));
        match self.cones.iter().position(pyramid) {
            None => Ok(()),
            Some(block) => Err(Error::Contacts(ProblemError::Unsuitable {
                block,
                why: "impacts in sequence are for friction cones and ellipses",
            })),
        }
    }

    /// Takes the impacts of hard contacts that are closed, or close within the step at the
    /// velocities of the moment, the fastest first, each alone: Newton's law along the normal and
    /// Coulomb's across. Their impulses go to `given`. False if they do not end.
    ///
    /// Every one takes energy or keeps it, for it is one contact with one coefficient.
    ///
    /// # Errors
    /// [`Error::Contacts`] for a contact that cannot be solved alone.
    pub(super) fn take_impacts_in_sequence(
        &mut self,
        base: &Base<'_>,
        list: &ContactList,
        report: &mut ContactsReport,
    ) -> Result<bool, Error> {
        self.check_alone()?;
        let (base_rows, h) = (base.system().m(), base.scheme.h);
        let mut u = self.tail.velocity().to_vec();
        let mut first_rows = Vec::with_capacity(list.len());
        let mut row = 0;
        for rows in &self.rows {
            first_rows.push(row);
            row += rows.count;
        }
        let fastest = u.iter().fold(0.0f64, |a, u| a.max(u.abs()));
        for _ in 0..PER_CONTACT * list.len() {
            let hits = |i: &usize| {
                let (contact, u) = (&list.contacts()[*i], u[first_rows[*i]]);
                contact.law.compliance == 0.0 && u < -STILL * fastest && contact.gap.max(0.0) + h * u < 0.0
            };
            let approach = |i: &usize| u[first_rows[*i]];
            let next = (0..first_rows.len()).filter(hits);
            let Some(i) = next.min_by(|i, k| approach(i).total_cmp(&approach(k))) else {
                return Ok(true);
            };
            let contact = &list.contacts()[i];
            let (row, rows) = (first_rows[i], self.rows[i].count);
            let mut b = [0.0; 6];
            b[..rows].copy_from_slice(&u[row..row + rows]);
            b[0] *= 1.0 + contact.law.restitution;
            let mut r = [0.0; 6];
            let cone = self.rows[i].cone;
            let block = self.solver.diagonal_block(base_rows + row);
            if !block.is_some_and(|a| solve_block(&cone, a, &b[..rows], &mut r[..rows])) {
                return Ok(false);
            }
            for (k, velocity) in self.solver.response(base_rows + row, &r[..rows]) {
                if let Some(u) = k.checked_sub(base_rows).and_then(|k| u.get_mut(k)) {
                    *u += velocity;
                }
            }
            for (given, r) in self.given[row..row + rows].iter_mut().zip(r) {
                *given += r;
            }
            report.solve.impacts += 1;
        }
        Ok(false)
    }
}
