//! Overlap at the end of a step, and positions corrected because of it.

use super::solve::{auto_options, in_words};
use super::{Contacts, check, foresee};
use crate::Error;
use crate::control::sleep;
use crate::contact::{Contact, ContactList, Overlap};
use crate::simulation::Simulation;
use pliant_kkt::{GeometricTerms, Metric, Quantity};
use pliant_model::{RowLaw, Treatment};
use pliant_solvers::complementarity::{Cone, Outcome};

/// Rounds of corrections of overlap: turning a body may bring others of its corners down.
const CORRECTIONS: usize = 5;

/// Trials to find how far a correction may go that would make energy.
const SHARES: usize = 20;

/// Energy of the compliant contacts that overlap (J).
fn stored(list: &ContactList) -> f64 {
    let closed = list.contacts().iter();
    let closed = closed.filter(|c| c.law.compliance > 0.0 && c.gap < 0.0);
    closed.map(|c| 0.5 * c.gap * c.gap / c.law.compliance).sum()
}

impl Contacts {
    /// Energy in compliant contacts at the start of the step (J).
    pub(crate) fn stored_at_start(&self) -> f64 {
        stored(&self.list)
    }

    /// Deepest overlap of the hard contacts that take part (m).
    fn deepest(&self, list: &ContactList) -> f64 {
        let hard = list.contacts().iter();
        let hard = hard.filter(|c| c.law.compliance == 0.0 && self.takes(c));
        hard.fold(0.0, |a, c| a.max(-c.gap))
    }

    /// Whether a contact is deeper than what a step recovers, or was at its first correction.
    fn has_its_share(&self, contact: &Contact, shallow: f64) -> bool {
        contact.gap < -shallow || self.recovering.binary_search(&contact.key).is_ok()
    }

    /// The state was set: what overlaps at the start of the step is none of ours.
    pub(crate) fn take_overlap_as_given(&mut self) {
        self.set_overlap = self.deepest(&self.list);
    }

    /// Remembers the contact that has the largest share `mu_i (J dx)_i` in a correction that lifted by so much, if none lifted more in the step.
    fn name_lifter(&mut self, base_rows: usize, lifted: f64) {
        let shares = self.correction.mu[base_rows..]
            .iter()
            .zip(&self.correction_tail.b);
        let hard = self.next.contacts().iter();
        let hard = hard.filter(|c| c.law.compliance == 0.0 && self.takes(c));
        let largest = shares
            .map(|(mu, b)| -mu * b)
            .zip(hard)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let (Some((_, contact)), true) = (largest, lifted > self.most_lifted) {
            self.most_lifted = lifted;
            self.report.lifted_by = Some(contact.sides);
        }
    }
}

impl Simulation {
    /// Finds the contacts at the end of the step and takes overlap back, if that is asked for.
    pub(crate) fn find_contacts_after(&mut self, h: f64) -> Result<(), Error> {
        let Some(mut c) = self.system.contacts.take() else {
            return Ok(());
        };
        if c.memory.is_empty() {
            c.finder.save(&mut c.memory);
        }
        let found = self.search_and_correct(&mut c, h);
        self.system.contacts = Some(c);
        found
    }

    fn search_and_correct(&mut self, c: &mut Contacts, h: f64) -> Result<(), Error> {
        c.margin = None;
        let overlap = |list: &ContactList| list.contacts().iter().fold(0.0f64, |a, c| a.max(-c.gap));
        let search = |c: &mut Contacts, s: &Simulation| {
            c.next.clear();
            foresee(
                &s.system.model,
                &s.motion.state,
                s.system.assembler.system(),
                h,
                &mut c.foreseen,
            );
            c.finder.find(&s.system.model, &c.foreseen, h, &mut c.next)?;
            s.system.sleep.leave_out(&s.system.assembler, &mut c.next);
            c.next.contacts().iter().try_for_each(check)
        };
        search(c, self)?;
        c.next_horizon = h;
        if let Overlap::Correct { allowed, speed } = self.options.contacts.overlap {
            let deep = |c: &Contact| c.law.compliance == 0.0 && c.gap < -allowed;
            let any = |c: &Contacts, most: f64| {
                let mut hard = c.next.contacts().iter().filter(|contact| c.takes(contact));
                hard.any(|contact| deep(contact) && (most > 0.0 || !c.has_its_share(contact, h * speed)))
            };
            let mut most = h * speed;
            c.most_lifted = 0.0;
            c.recovering.clear();
            if c.set_overlap <= allowed && any(c, most) {
                c.margin = Some(self.lost(stored(&c.next)));
            }
            while c.report.corrections < CORRECTIONS && any(c, most) {
                self.correct_overlap(c, h * speed, most)?;
                search(c, self)?;
                c.report.corrections += 1;
                // What is deeper has had its share in the first round, and is not to sink.
                most = 0.0;
            }
            c.set_overlap = c.set_overlap.min(c.deepest(&c.next));
        }
        c.report.overlap = overlap(&c.next);
        c.report.stored = stored(&c.next);
        Ok(())
    }

    /// `min |dx|^2/2` subject to `J dx = -phi` on the hard rows and `N dx >= -phi` on the hard contacts, in the metric of the step's `W` with springs that are rows where
    /// there is anything elastic, for by masses alone the light nodes of stiff things would go all the way, else of the masses; those deeper than `shallow` (m)
    /// recover by `most`. What that lifts is paid with velocity; what would cost more than motion can pay and the step lost is not lifted.
    fn correct_overlap(&mut self, c: &mut Contacts, shallow: f64, most: f64) -> Result<(), Error> {
        // At rest: the forces are those of the potential then.
        c.foreseen.positions.clone_from(&self.motion.state.positions);
        c.foreseen.velocities.clear();
        c.foreseen
            .velocities
            .resize(self.motion.state.velocities.len(), 0.0);
        c.foreseen.internal.clone_from(&self.motion.state.internal);
        self.system.evaluation.evaluate(&self.system.model, &c.foreseen)?;
        c.toll.force.clear();
        c.toll.force.extend_from_slice(self.system.evaluation.force());
        self.system
            .evaluation
            .pull_back(&self.system.model, &mut c.toll.force);
        let mut fields = self.system.model.force_fields().iter().enumerate();
        let stiff = fields.any(|(i, f)| {
            self.system.model.treatment(i) == Treatment::Stiffness
                || f.component.law.row_law() == RowLaw::Elastic
        });
        // What is compressed may have no metric with all of its geometric stiffness, and has one with the absolute value of that.
        let plain = self.options.geometry;
        let asked = (shallow, most);
        let mut metrics = [plain, plain.clamped()].into_iter().filter(|_| stiff);
        if !metrics.any(|g| self.solve_correction(c, (Metric::Elastic, g), asked).is_ok()) {
            self.solve_correction(c, (Metric::Mass, plain), asked)?;
        }
        if most > 0.0 {
            let deep = c.next.contacts().iter().filter(|c| c.gap < -shallow);
            c.recovering.extend(deep.map(|c| c.key));
            c.recovering.sort_unstable();
        }
        self.take_correction(c)
    }

    /// Finds the displacement.
    fn solve_correction(
        &mut self,
        c: &mut Contacts,
        (metric, geometry): (Metric, GeometricTerms),
        (shallow, most): (f64, f64),
    ) -> Result<(), Error> {
        self.scheme.geometry = geometry;
        self.fill_correction(metric);
        self.scheme.geometry = self.options.geometry;
        c.correction_tail.clear();
        for (i, contact) in c.next.contacts().iter().enumerate() {
            if contact.law.compliance == 0.0 && c.takes(contact) {
                let rows = c
                    .correction_tail
                    .push(Quantity::Velocity, &[contact.normal], c.next.supports(i));
                let deep = c.has_its_share(contact, shallow);
                c.correction_tail.b[rows.start] = if deep { -most } else { contact.gap };
            }
        }
        self.system
            .assembler
            .project(&self.system.model, &self.motion.state, &mut c.correction_tail)?;
        let base = self.system.assembler.system();
        c.correction_cones.clear();
        c.correction_cones.resize(base.row_blocks().len() - 1, None);
        c.correction_cones.extend(std::iter::repeat_n(
            Some(Cone::NonNegative),
            c.correction_tail.rows(),
        ));
        c.correction_system.fill(base, &[], &c.correction_tail)?;
        let Some(system) = c.correction_system.system() else {
            return Ok(());
        };
        c.correction_solver.options = auto_options(&self.options);
        c.correction_solver.only = self.options.contacts.solver;
        c.correction_solver.bounds.direct = self.options.solver;
        let words = |e| in_words(e, &self.system.model, self.motion.time);
        c.correction_solver
            .prepare(system, &c.correction_cones)
            .map_err(words)?;
        c.correction.mu.clear();
        let found = c
            .correction_solver
            .solve(system, &mut c.correction)
            .map_err(words)?;
        let last = metric == Metric::Mass && self.options.accept_failed_steps;
        if found.outcome != Outcome::Converged && !last {
            return Err(Error::CorrectionNotConverged {
                time: self.motion.time,
                residual: found.residual.measure(),
            });
        }
        Ok(())
    }

    /// Takes the displacement that was found, as far as it can be paid for.
    fn take_correction(&mut self, c: &mut Contacts) -> Result<(), Error> {
        let Some(system) = c.correction_system.system() else {
            return Ok(());
        };
        let before = self.system.model.energies(&self.motion.state).potential;
        let mut trials = 0;
        let (lifted, paid) = loop {
            for node in self.system.model.nodes() {
                let Some(first) = node.first_dof() else { continue };
                let step = &c.correction.x[first..first + node.velocity_range().len()];
                node.space
                    .retract(&mut self.motion.state.positions[node.position_range()], step);
            }
            sleep::hold_positions(&self.system, &self.start.state, &mut self.motion);
            self.system
                .evaluation
                .propagate(&self.system.model, &mut self.motion.state)?;
            let lifted = self.system.model.energies(&self.motion.state).potential - before;
            let solved = (system, &c.correction.mu[..], &c.correction.x[..]);
            let paid = self.charge(&mut c.toll, solved, lifted);
            let Some(margin) = c.margin else {
                break (lifted, paid);
            };
            let new = lifted - paid;
            let left = margin.max(0.0);
            let rounding = 1e-9 * lifted.abs() + 4.0 * f64::EPSILON * before.abs();
            // After the last trial nothing was moved at all.
            if new <= left + rounding || trials > SHARES {
                c.margin = Some(margin - new);
                break (lifted, paid);
            }
            if trials == 0 {
                c.report.held_back = c.report.held_back.max(new - left);
            }
            if trials < SHARES {
                c.toll.shorten(&mut c.correction.x, left, new);
            } else {
                c.correction.x.fill(0.0);
            }
            trials += 1;
            self.motion.state.positions.clone_from(&c.foreseen.positions);
        };
        c.report.lifted += lifted;
        c.report.paid += paid;
        self.collect(&mut c.toll, system)?;
        c.name_lifter(self.system.assembler.system().m(), lifted);
        Ok(())
    }
}
