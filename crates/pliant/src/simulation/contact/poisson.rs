//! Impacts by Poisson's law: compression, then expansion.

use super::Contacts;
use super::laws::cone_of;
use super::solve::in_words;
use crate::Error;
use crate::contact::{Contact, Impacts};
use crate::simulation::Simulation;
use pliant_kkt::Quantity;
use pliant_solvers::complementarity::{Cone, IslandReport, Outcome, ProblemError};
use pliant_solvers::{KktSystem, SolveError};

/// Rows of the friction that belongs to the impulse of expansion which is known beforehand. They are a contact of their own: its normal row has no Jacobian but a
/// compliance `rho`, so that `0 <= rho r - rho g`, complementary to `r`, makes `r = g`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expansion {
    /// Its first row, and that of its contact, among the contact rows.
    pub(crate) row: usize,
    of: usize,
    contact: usize,
    /// Unit of its normal row (1/kg).
    pub(crate) rho: f64,
}

/// Room for an impact.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Multipliers that the solve after the impact starts from.
    start: Vec<f64>,
    cones: Vec<Option<Cone>>,
    /// Impulses of the compression, and those that the expansion has at least (N s).
    compression: Vec<f64>,
    forced: Vec<f64>,
}

/// Whether a contact is part of an impact at the start of a step, with the velocity at which it opens.
fn closes(contact: &Contact, u: f64, h: f64) -> bool {
    contact.law.compliance == 0.0 && (contact.gap <= 0.0 || contact.gap + h * u < 0.0)
}

/// What an impact that did not converge leaves for the report of the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missed {
    pub(crate) outcome: Outcome,
    pub(crate) measure: f64,
    pub(crate) natural: f64,
}

impl Contacts {
    /// First row of every contact, with the contact.
    fn with_rows(&self) -> impl Iterator<Item = (usize, usize, &Contact)> {
        let mut row = 0;
        let contacts = self.list.contacts().iter().zip(&self.rows);
        contacts.enumerate().map(move |(i, (contact, rows))| {
            let first = row;
            row += rows.count;
            (i, first, contact)
        })
    }

    /// Whether something with restitution approaches something and meets it within the step.
    pub(crate) fn hits(&self, h: f64) -> bool {
        let u = self.tail.velocity();
        self.with_rows().any(|(_, row, contact)| {
            let approach = u[row] < 0.0 && contact.gap.max(0.0) + h * u[row] < 0.0;
            contact.law.restitution > 0.0 && closes(contact, u[row], h) && approach
        })
    }

    /// Appends the rows of expansion of all contacts of an impact.
    pub(crate) fn push_expansions(
        &mut self,
        h: f64,
        base: &KktSystem,
        dofs: impl Fn(usize) -> Option<usize>,
    ) {
        let mut added = std::mem::take(&mut self.expansions);
        let u = self.tail.velocity();
        for (i, row, contact) in self.with_rows() {
            let law = &contact.law;
            if law.restitution > 0.0 && law.friction > 0.0 && closes(contact, u[row], h) {
                // The response of the lighter side is at most of this order.
                let mass = dofs(i).map_or(0.0, |d| base.w.get(d, d));
                let rho = if mass > 0.0 { 1.0 / mass } else { 1.0 };
                added.push(Expansion {
                    row: 0,
                    of: row,
                    contact: i,
                    rho,
                });
            }
        }
        for e in &mut added {
            // Where there is friction there are tangents.
            let [_, a, b] = *self.rows[e.contact].velocities() else {
                continue;
            };
            let supports = self.list.supports(e.contact);
            e.row = self
                .tail
                .push(Quantity::Velocity, &[[0.0; 3], a, b], supports)
                .start;
            self.cones
                .push(Some(cone_of(&self.list.contacts()[e.contact].law)));
        }
        self.expansions = added;
    }

    /// Right-hand sides of an impact at velocities of the moment, `u` on the closing normals and all tangents.
    fn fill_impact(&mut self, h: f64, expansion: impl Fn(usize) -> f64) {
        let mut row = 0;
        for (contact, rows) in self.list.contacts().iter().zip(&self.rows) {
            let u = self.tail.velocity()[row];
            self.tail.b[row] = if closes(contact, u, h) {
                u
            } else if contact.law.compliance > 0.0 {
                0.0
            } else {
                contact.gap / h + u
            };
            for k in row + 1..row + rows.count {
                self.tail.b[k] = self.tail.velocity()[k];
            }
            row += rows.count;
        }
        for e in &self.expansions {
            self.tail.b[e.row] = -e.rho * expansion(e.of);
        }
    }
}

impl Simulation {
    /// The impulses of the impacts at the start of the step, into `given`: a compression in which nothing approaches at its end, then an expansion with at least `e`
    /// times its normal impulses. Without forces, at the response of the step.
    pub(crate) fn impacts_by_poisson(&mut self, c: &mut Contacts) -> Result<(), Error> {
        let h = self.scheme.h;
        if self.options.contacts.impacts == Impacts::InSequence {
            return Err(Error::Contacts(ProblemError::Unsuitable {
                block: 0,
                why: "impacts in sequence are by Newton's law only",
            }));
        }
        let mut scratch = std::mem::take(&mut c.scratch);
        std::mem::swap(&mut scratch.start, &mut c.solution.mu);
        scratch.cones.clone_from(&c.cones);
        for cone in c.cones.iter_mut().flatten() {
            if let Cone::Rolling { torsion, rolling, .. } = cone {
                (*torsion, *rolling) = (0.0, 0.0);
            }
        }
        c.solver
            .set_cones(&c.cones)
            .map_err(|e| in_words(e, &self.system.model, self.motion.time))?;
        c.fill_impact(h, |_| 0.0);
        c.given.fill(0.0);
        self.solve_impact(c)?;
        scratch.compression.clear();
        scratch
            .compression
            .extend_from_slice(self.contact_impulses(&c.solution));
        let mut most = 1.0;
        let mut made = self.expand(c, &mut scratch, most)?;
        if made {
            // As with Newton's law: the largest common share that makes no energy, to 1/64.
            let mut least = 0.0;
            for _ in 0..6 {
                let share = 0.5 * (least + most);
                made = self.expand(c, &mut scratch, share)?;
                if made {
                    most = share;
                } else {
                    least = share;
                }
            }
            self.expand(c, &mut scratch, least)?;
            most = least;
        }
        c.report.restitution = most;
        std::mem::swap(&mut scratch.cones, &mut c.cones);
        c.solver
            .set_cones(&c.cones)
            .map_err(|e| in_words(e, &self.system.model, self.motion.time))?;
        std::mem::swap(&mut scratch.start, &mut c.solution.mu);
        c.scratch = scratch;
        Ok(())
    }

    /// The expansion with a share of the restitution; leaves all impulses of the impact in `given`. Whether it makes energy.
    fn expand(&mut self, c: &mut Contacts, scratch: &mut Scratch, share: f64) -> Result<bool, Error> {
        let h = self.scheme.h;
        let Scratch {
            compression, forced, ..
        } = scratch;
        forced.clear();
        forced.resize(compression.len(), 0.0);
        for (_, row, contact) in c.with_rows() {
            if closes(contact, c.tail.velocity()[row], h) {
                forced[row] = share * contact.law.restitution * compression[row];
            }
        }
        c.given.copy_from_slice(compression);
        c.given.iter_mut().zip(&*forced).for_each(|(g, f)| *g += f);
        c.fill_impact(h, |row| forced[row]);
        // The artificial rows have no Jacobian: what stands there does not act.
        self.solve_impact(c)?;
        let m = self.system.assembler.system().m();
        for (given, r) in c.given.iter_mut().zip(&c.solution.mu[m..]) {
            *given += r;
        }
        for e in &c.expansions {
            for k in 1..3 {
                c.given[e.of + k] += std::mem::take(&mut c.given[e.row + k]);
            }
            c.given[e.row] = 0.0;
        }
        c.tail.product_into(&c.solution.x, &mut c.after);
        let (mut gain, mut size) = (0.0, 0.0);
        for ((r, u), change) in c.given.iter().zip(c.tail.velocity()).zip(&c.after) {
            gain += r * (u + 0.5 * change);
            size += r.abs() * (u.abs() + (u + change).abs());
        }
        Ok(gain > self.options.contacts.tolerance.max(1e-12) * size)
    }

    /// Solves for the change of velocity since the start of the step, without forces, with what is given.
    fn solve_impact(&mut self, c: &mut Contacts) -> Result<IslandReport, Error> {
        c.extended.fill(self.system.assembler.system(), &[], &c.tail)?;
        c.extended.keep_impacts_only();
        c.extended.add_impulses(&c.tail, &c.given, 1.0);
        let Some(system) = c.extended.system() else {
            return Err(Error::Solve(SolveError::NotPrepared));
        };
        c.solution.mu.clear();
        let found = c
            .solver
            .solve(system, &mut c.solution)
            .map_err(|e| in_words(e, &self.system.model, self.motion.time))?;
        c.report.iterations += found.iterations;
        if found.outcome != Outcome::Converged {
            c.missed = Some(Missed {
                outcome: found.outcome,
                measure: found.residual.measure(),
                natural: found.residual.natural,
            });
        }
        Ok(found)
    }
}
