//! Contacts whose sides hard rows and fixed coordinates drive into each other, as a motor without a
//! limit of its force drives a hand into a table.

use super::project::fill;
use crate::Error;
use crate::contact::{Contact, ContactList, look_ahead};
use crate::motion::Motion;
use crate::observe::with_others;
use crate::system::System;
use pliant_kkt::{Quantity, Tail};
use pliant_solvers::{DirectSolver, Solution, Status};
use std::collections::BTreeSet;

/// The share of its velocity that an impulse still gives a contact which no impulse opens: rounding
/// of the solve.
const ROUNDING: f64 = 1e-9;

/// Rows with less than this share of the largest impulse have no part in it.
const PART: f64 = 1e-6;

/// The error of a contact that would close within a step of length `h` (s) from a motion, and that
/// no impulse opens because of hard rows; `None` if there is none. For steps that failed: a search
/// for contacts, an evaluation, two factors, and two solutions for each contact that closes.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined, those of the search and of the linear solver.
pub fn find_driven(system: &mut System, motion: &Motion, h: f64) -> Result<Option<Error>, Error> {
    let mut list = ContactList::default();
    look_ahead(system, motion, h, &mut list)?;
    if list.is_empty() || system.model.row_count() == 0 {
        return Ok(None);
    }
    system.set_row_motion(motion.time, motion.time);
    system.evaluate(motion, 0.0)?;
    fill(system, motion, |_, _, _| false);
    let mut normals = Tail::default();
    for (i, contact) in list.contacts().iter().enumerate() {
        normals.push(Quantity::Velocity, &[contact.normal], list.supports(i));
    }
    system
        .assembler
        .project(&system.model, &motion.state, &mut normals)?;
    let approach = normals.velocity().to_vec();
    let tolerance = system.options.contacts.aim();
    let closing = list.contacts().iter().zip(&approach).enumerate();
    let closing: Vec<usize> = closing
        .filter(|(_, (contact, u))| is_closing(contact, **u, h, tolerance))
        .map(|(i, _)| i)
        .collect();
    let Some(held) = Answers::of(system, &normals, &closing, motion.time)? else {
        return Ok(None);
    };
    for row in 0..system.model.row_count() {
        system.assembler.deactivate_row(row);
    }
    let Some(free) = Answers::of(system, &normals, &closing, motion.time)? else {
        return Ok(None);
    };
    let is_held = |k: &usize| held.velocities[*k] <= ROUNDING * free.velocities[*k];
    let worst = (0..closing.len())
        .filter(is_held)
        .min_by(|a, b| approach[closing[*a]].total_cmp(&approach[closing[*b]]));
    Ok(worst.and_then(|k| {
        let i = closing[k];
        let detection = &system.contacts.as_ref()?.detection;
        Some(Error::DrivenContact {
            contact: detection.pair(list.contacts()[i].sides),
            rows: of_rows(system, &held.impulses[k])?,
            time: motion.time,
            speed: -approach[i],
        })
    }))
}

/// Whether a hard contact closes within the time `h` (s) at the velocity `u` (m/s) of its gap.
fn is_closing(contact: &Contact, u: f64, h: f64, tolerance: f64) -> bool {
    contact.law.compliance == 0.0 && u < -tolerance && contact.gap + h * u < 0.0
}

/// Answers of the filled system to unit impulses along normals.
struct Answers {
    /// Velocity of each normal (m/s).
    velocities: Vec<f64>,
    /// Impulses of the rows (N s, N m s).
    impulses: Vec<Vec<f64>>,
}

impl Answers {
    /// Solves for the normals of some contacts; `None` if the system has no solution.
    fn of(system: &System, normals: &Tail, contacts: &[usize], time: f64) -> Result<Option<Self>, Error> {
        let in_words = |e| Error::from_solver(e, &system.model, time);
        let mut solver = DirectSolver::new(system.corrections.direct.options);
        let mut kkt = system.assembler.system().clone();
        kkt.b.fill(0.0);
        solver.prepare(&kkt).map_err(in_words)?;
        let (mut solution, mut rates) = (Solution::default(), Vec::new());
        let mut unit = vec![0.0; normals.rows()];
        let mut out = Self {
            velocities: Vec::with_capacity(contacts.len()),
            impulses: Vec::with_capacity(contacts.len()),
        };
        for i in contacts {
            kkt.c.fill(0.0);
            unit[*i] = 1.0;
            normals.add_transpose_product(&unit, 1.0, &mut kkt.c);
            unit[*i] = 0.0;
            let solved = solver.solve(&kkt, &mut solution).map_err(in_words)?;
            if solved.status != Status::Converged {
                return Ok(None);
            }
            normals.product_into(&solution.x, &mut rates);
            out.velocities.push(rates[*i]);
            out.impulses.push(solution.mu.clone());
        }
        Ok(Some(out))
    }
}

/// The rows that hold a contact in words: a driven one that has a part in it if there is one, and
/// how many components more do.
fn of_rows(system: &System, impulses: &[f64]) -> Option<String> {
    let largest = impulses.iter().fold(0.0f64, |a, r| a.max(r.abs()));
    let has_part = |row: &usize| impulses[*row].abs() > PART * largest;
    let rows: Vec<usize> = (0..impulses.len()).filter(has_part).collect();
    let driven: BTreeSet<usize> = system
        .model
        .row_groups()
        .iter()
        .filter(|group| system.model.motion(group).is_some())
        .flat_map(|group| group.first_row..group.first_row + group.size * group.count)
        .collect();
    let first = rows.iter().max_by(|a, b| {
        let is_driven = |row: &usize| driven.contains(row);
        let by_impulse = impulses[**a].abs().total_cmp(&impulses[**b].abs());
        is_driven(a).cmp(&is_driven(b)).then(by_impulse)
    })?;
    Some(with_others(&system.model, *first, &rows))
}
