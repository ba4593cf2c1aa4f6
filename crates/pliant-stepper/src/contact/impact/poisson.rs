//! Impacts by Poisson's law: compression, then expansion.

use crate::Error;
use crate::contact::rows::RowSystem;
use crate::contact::{Base, Contact, ContactList, ContactsReport, Impacts};
use pliant_kkt::Quantity;
use pliant_solvers::SolveError;
use pliant_solvers::complementarity::{Cone, Outcome, ProblemError};

/// Rows of the friction that belongs to the impulse of expansion which is known beforehand. They
/// are a contact of their own: its normal row has no Jacobian but a compliance `rho`, so that
/// `0 <= rho r - rho g`, complementary to `r`, makes `r = g`.
#[derive(Clone, Copy, Debug)]
pub(in crate::contact) struct Expansion {
    /// Its first row, and that of its contact, among the contact rows.
    pub(in crate::contact) row: usize,
    of: usize,
    contact: usize,
    /// Unit of its normal row (1/kg).
    pub(in crate::contact) rho: f64,
}

/// The impact at the start of a step by Poisson's law.
#[derive(Debug, Default)]
pub(in crate::contact) struct Impact {
    expansions: Vec<Expansion>,
    /// The impact of the step, if it did not converge.
    unconverged: Option<Unconverged>,
    /// The largest residual of the solves of the impact, and no less than they aim at.
    residual: f64,
    /// Multipliers that the solve after the impact starts from.
    start: Vec<f64>,
    /// The cones of the step: resistance to spin and rolling takes no part in the impact.
    cones: Vec<Option<Cone>>,
    /// Impulses of the compression, and those that the expansion has at least (N s).
    compression: Vec<f64>,
    forced: Vec<f64>,
}

/// Outcome of an impact that did not converge, for the report of the step.
#[derive(Clone, Copy, Debug)]
pub(in crate::contact) struct Unconverged {
    pub(in crate::contact) outcome: Outcome,
    pub(in crate::contact) measure: f64,
    pub(in crate::contact) natural: f64,
}

/// Whether a contact is part of an impact at the start of a step, with the velocity at which it
/// opens.
fn closes(contact: &Contact, u: f64, h: f64) -> bool {
    contact.law.compliance == 0.0 && (contact.gap <= 0.0 || contact.gap + h * u < 0.0)
}

/// Every contact with its first row.
fn with_rows<'a>(list: &'a ContactList, rows: &'a RowSystem) -> impl Iterator<Item = (usize, &'a Contact)> {
    let first = rows.rows.iter().scan(0, |next, own| {
        let first = *next;
        *next += own.count;
        Some(first)
    });
    first.zip(list.contacts())
}

/// Right-hand sides of an impact at velocities of the moment, `u` on the closing normals and all
/// tangents, with the impulse of expansion by the row of its contact.
fn fill_impact(
    rows: &mut RowSystem,
    list: &ContactList,
    h: f64,
    expansions: &[Expansion],
    expansion: impl Fn(usize) -> f64,
) {
    let mut row = 0;
    for (contact, own) in list.contacts().iter().zip(&rows.rows) {
        let u = rows.tail.velocity()[row];
        rows.tail.b[row] = if closes(contact, u, h) {
            u
        } else if contact.law.compliance > 0.0 {
            0.0
        } else {
            contact.gap / h + u
        };
        for k in row + 1..row + own.count {
            rows.tail.b[k] = rows.tail.velocity()[k];
        }
        row += own.count;
    }
    // A damper is part of the response, as those in `W` are; it gives no impulse of its own.
    for drag in &rows.drags.list {
        rows.tail.b[drag.row..drag.row + 2].fill(0.0);
    }
    for e in expansions {
        rows.tail.b[e.row] = -e.rho * expansion(e.of);
    }
}

/// Takes what viscous friction was in the response of an impact out of its impulses.
fn forget_drags(rows: &RowSystem, impulses: &mut [f64]) {
    for drag in &rows.drags.list {
        impulses[drag.row..drag.row + 2].fill(0.0);
    }
}

impl Impact {
    pub(in crate::contact) fn expansions(&self) -> &[Expansion] {
        &self.expansions
    }

    /// The impact of the step, if it did not converge.
    pub(in crate::contact) fn unconverged(&self) -> Option<Unconverged> {
        self.unconverged
    }

    /// A step without an impact as yet.
    pub(in crate::contact) fn forget(&mut self) {
        self.expansions.clear();
        self.unconverged = None;
    }

    /// Whether a contact with restitution approaches and closes within the step; then the rows of
    /// expansion of all contacts of the impact are behind those of the contacts.
    pub(in crate::contact) fn find_expansions(
        &mut self,
        base: &Base<'_>,
        list: &ContactList,
        rows: &mut RowSystem,
    ) -> Result<bool, Error> {
        let h = base.scheme.h;
        let u = rows.tail.velocity();
        let hits = with_rows(list, rows).any(|(row, contact)| {
            let approach = u[row] < 0.0 && contact.gap.max(0.0) + h * u[row] < 0.0;
            contact.law.restitution > 0.0 && closes(contact, u[row], h) && approach
        });
        if !hits {
            return Ok(false);
        }
        let system = base.system();
        for (i, (row, contact)) in with_rows(list, rows).enumerate() {
            let law = &contact.law;
            if law.restitution > 0.0 && law.friction > 0.0 && closes(contact, u[row], h) {
                let supports = list.supports(i).iter();
                let mut dofs = supports.flat_map(|s| base.assembler.support_dofs(s.node, s.element));
                // The response of the lighter side is at most of this order.
                let mass = dofs.find(|d| !system.fixed[*d]);
                let mass = mass.map_or(0.0, |d| system.w.get(d, d));
                let rho = if mass > 0.0 { 1.0 / mass } else { 1.0 };
                self.expansions.push(Expansion {
                    row: 0,
                    of: row,
                    contact: i,
                    rho,
                });
            }
        }
        for e in &mut self.expansions {
            // Where there is friction there are tangents.
            let [_, a, b] = *rows.rows[e.contact].velocities() else {
                continue;
            };
            let (supports, axes) = (list.supports(e.contact), [[0.0; 3], a, b]);
            e.row = rows.tail.push(Quantity::Velocity, &axes, supports).start;
            rows.cones.push(Some(list.contacts()[e.contact].law.cone()));
        }
        base.assembler
            .project(base.model, &base.motion.state, &mut rows.tail)?;
        Ok(true)
    }

    /// Finds the impulses of the impacts at the start of the step, into `given`: a compression in
    /// which nothing approaches at its end, then an expansion with at least `e` times its normal
    /// impulses. Without forces, at the response of the step.
    pub(in crate::contact) fn take_by_poisson(
        &mut self,
        base: &Base<'_>,
        list: &ContactList,
        rows: &mut RowSystem,
        report: &mut ContactsReport,
    ) -> Result<(), Error> {
        if base.options.contacts.impacts == Impacts::InSequence {
            return Err(Error::Contacts(ProblemError::Unsuitable {
                block: 0,
                why: "impacts in sequence are by Newton's law only",
            }));
        }
        self.start.clone_from(&rows.solution.mu);
        self.cones.clone_from(&rows.cones);
        for cone in rows.cones.iter_mut().flatten() {
            if let Cone::Rolling { torsion, rolling, .. } = cone {
                (*torsion, *rolling) = (0.0, 0.0);
            }
        }
        let words = |e| base.error(e);
        rows.solver.set_cones(&rows.cones).map_err(words)?;
        fill_impact(rows, list, base.scheme.h, &self.expansions, |_| 0.0);
        rows.given.fill(0.0);
        self.residual = base.options.contacts.aim();
        self.solve(base, rows, report)?;
        let m = base.system().m();
        self.compression.clear();
        self.compression.extend_from_slice(&rows.solution.mu[m..]);
        forget_drags(rows, &mut self.compression);
        let mut most = 1.0;
        if self.expand(base, list, rows, report, most)? {
            // As with Newton's law: the largest common share that makes no energy, to 1/64.
            let mut least = 0.0;
            for _ in 0..6 {
                let share = 0.5 * (least + most);
                if self.expand(base, list, rows, report, share)? {
                    most = share;
                } else {
                    least = share;
                }
            }
            self.expand(base, list, rows, report, least)?;
            most = least;
        }
        report.restitution = most;
        rows.cones.clone_from(&self.cones);
        rows.solver.set_cones(&rows.cones).map_err(words)?;
        rows.solution.mu.clone_from(&self.start);
        Ok(())
    }

    /// The expansion with a share of the restitution; leaves all impulses of the impact in `given`.
    /// Whether it makes energy.
    fn expand(
        &mut self,
        base: &Base<'_>,
        list: &ContactList,
        rows: &mut RowSystem,
        report: &mut ContactsReport,
        share: f64,
    ) -> Result<bool, Error> {
        let h = base.scheme.h;
        self.forced.clear();
        self.forced.resize(self.compression.len(), 0.0);
        for (row, contact) in with_rows(list, rows) {
            if closes(contact, rows.tail.velocity()[row], h) {
                self.forced[row] = share * contact.law.restitution * self.compression[row];
            }
        }
        rows.given.copy_from_slice(&self.compression);
        rows.given.iter_mut().zip(&self.forced).for_each(|(g, f)| *g += f);
        fill_impact(rows, list, h, &self.expansions, |row| self.forced[row]);
        // The artificial rows have no Jacobian: their impulses do not act.
        self.solve(base, rows, report)?;
        let m = base.system().m();
        for (given, r) in rows.given.iter_mut().zip(&rows.solution.mu[m..]) {
            *given += r;
        }
        let mut given = std::mem::take(&mut rows.given);
        forget_drags(rows, &mut given);
        rows.given = given;
        for e in &self.expansions {
            for k in 1..3 {
                rows.given[e.of + k] += rows.given[e.row + k];
            }
            rows.given[e.row..e.row + 3].fill(0.0);
        }
        rows.tail.product_into(&rows.solution.x, &mut rows.after);
        let (mut gain, mut size) = (0.0, 0.0);
        for ((r, u), change) in rows.given.iter().zip(rows.tail.velocity()).zip(&rows.after) {
            gain += r * (u + 0.5 * change);
            size += r.abs() * (u.abs() + (u + change).abs());
        }
        Ok(gain > self.residual.max(1e-12) * size)
    }

    /// Solves for the change of velocity since the start of the step, without forces, with what is
    /// given.
    fn solve(
        &mut self,
        base: &Base<'_>,
        rows: &mut RowSystem,
        report: &mut ContactsReport,
    ) -> Result<(), Error> {
        rows.extended.fill(base.system(), &[], &rows.tail)?;
        rows.extended.keep_impacts_only();
        rows.extended.add_impulses(&rows.tail, &rows.given, 1.0);
        let Some(system) = rows.extended.system() else {
            return Err(Error::Solve(SolveError::NotPrepared));
        };
        rows.solution.mu.clear();
        let found = rows.solver.solve(system, &mut rows.solution);
        let found = found.map_err(|e| base.error(e))?;
        report.solve.iterations += found.iterations;
        report.solve.operations += found.work;
        self.residual = self.residual.max(found.residual.measure());
        if found.outcome != Outcome::Converged {
            self.unconverged = Some(Unconverged {
                outcome: found.outcome,
                measure: found.residual.measure(),
                natural: found.residual.natural,
            });
        }
        Ok(())
    }
}
