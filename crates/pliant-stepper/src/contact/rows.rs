//! Rows of the contacts behind those of the model: their Jacobians, laws and cones.

use super::cones::ConeSolver;
use super::detect::Detection;
use super::drag::{Drag, Drags};
use super::impact::Expansion;
use super::law::lever;
use super::{Base, ContactKey, ContactList, ContactMemory, ContactRows, FrictionCoupling, Overlap};
use crate::Error;
use pliant_dense::Vec3;
use pliant_kkt::{Extended, Support, Tail};
use pliant_model::{Model, Space, State};
use pliant_solvers::complementarity::Cone;
use pliant_solvers::{KktSystem, Solution};

/// The system of a step with the rows of its contacts, and its solution.
#[derive(Debug, Default)]
pub(super) struct RowSystem {
    /// Rows of the listed contacts.
    pub(super) rows: Vec<ContactRows>,
    /// Viscous friction: rows behind those of the contacts.
    pub(super) drags: Drags,
    pub(super) tail: Tail,
    pub(super) cones: Vec<Option<Cone>>,
    pub(super) extended: Extended,
    pub(super) solver: ConeSolver,
    pub(super) solution: Solution,
    /// Impulses of impacts that were taken before the step, in sequence or by Poisson's law (N s).
    pub(super) given: Vec<f64>,
    /// Whether restitution is in them.
    pub(super) bounced: bool,
    /// Velocities of the rows at the end of the step.
    pub(super) after: Vec<f64>,
}

/// The numbers of a step that the laws of contacts depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct LawOfStep {
    /// Length of the step (s).
    pub(super) h: f64,
    /// Weight of the end of the step in velocities.
    pub(super) beta: f64,
    pub(super) overlap: Overlap,
    /// Share of the coefficients of restitution that is used.
    pub(super) share: f64,
    /// Time in which gaps of contacts that bear close (s).
    pub(super) closing: f64,
}

/// The contacts of a stage, beside the listed ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfStage<'a> {
    /// Change of each gap since the start of the step (m); none if empty.
    pub(super) moved: &'a [f64],
    /// The contacts that bear whatever their gaps; none if empty.
    pub(super) active: &'a [bool],
}

impl RowSystem {
    /// Makes the axes and cones of the listed contacts.
    pub(super) fn list_rows(&mut self, model: &Model, list: &ContactList) {
        self.rows.clear();
        for (contact, supports) in list.with_supports() {
            let turns = |s: &&Support| model.node(s.node).space == Space::Rigid3;
            let arms = supports.iter().filter(turns).map(|s| s.arm);
            self.rows.push(ContactRows::new(contact, lever(contact, arms)));
        }
    }

    /// Makes the rows of the contacts and their cones, with the Jacobians of a state that the
    /// assembler was last filled with.
    pub(super) fn gather(
        &mut self,
        base: &Base<'_>,
        state: &State,
        detection: &Detection,
    ) -> Result<(), Error> {
        self.tail.clear();
        self.cones.clear();
        self.cones.resize(base.row_blocks(), None);
        for (rows, (_, supports)) in self.rows.iter().zip(detection.list().with_supports()) {
            self.tail.push_both(rows.velocities(), rows.spins(), supports);
            self.cones.push(Some(rows.cone));
        }
        self.push_drags(detection.list());
        base.assembler.project(base.model, state, &mut self.tail)?;
        self.couple(base, detection)
    }

    /// Replaces Coulomb's laws by those of the friction coupling.
    fn couple(&mut self, base: &Base<'_>, detection: &Detection) -> Result<(), Error> {
        let coupling = base.options.contacts.friction_coupling;
        if coupling == FrictionCoupling::Exact {
            return Ok(());
        }
        let u = self.tail.velocity();
        let mut row = 0;
        let cones = &mut self.cones[base.row_blocks()..];
        for ((contact, rows), law) in detection.list().contacts().iter().zip(&mut self.rows).zip(cones) {
            if let Some(part) = contact.law.exact_part() {
                let what = format!("the {part} of the contact of {}", detection.pair(contact.sides));
                return Err(Error::FrictionCoupling { coupling, what });
            }
            if let Some(Cone::Coulomb { mu }) = *law {
                let shift = match coupling {
                    FrictionCoupling::Lagged => mu * u[row + 1].hypot(u[row + 2]),
                    _ => 0.0,
                };
                *law = Some(Cone::Shifted { mu, shift });
                rows.coupled = Some(shift);
            }
            row += rows.count;
        }
        Ok(())
    }

    /// Right-hand sides and compliances of the rows in the velocity-change form (theory/step.md of the book).
    /// Outside of an impact there is no friction of its expansions.
    pub(super) fn fill_laws(
        &mut self,
        list: &ContactList,
        expansions: &[Expansion],
        step: LawOfStep,
        stage: OfStage<'_>,
    ) {
        let LawOfStep { h, beta, .. } = step;
        let mut row = 0;
        for (i, (contact, rows)) in list.contacts().iter().zip(&self.rows).enumerate() {
            let u = self.tail.velocity()[row];
            let law = &contact.law;
            let moved = stage.moved.get(i).copied().unwrap_or(0.0);
            let gap = contact.gap + moved;
            let e = step.share * law.restitution;
            let active = stage.active.get(i).is_some_and(|active| *active);
            let (b, r) = if law.compliance > 0.0 {
                let d = law.relaxation_at(gap);
                let l = h * beta + d;
                ((gap + (d + h) * u) / l, law.compliance / (h * l))
            } else if active && contact.gap > 0.0 {
                // What opened in the first stage may close in the second one.
                (u + contact.gap / step.closing + moved.max(0.0) / h, 0.0)
            } else if gap > 0.0 {
                // An impact within the step is taken at its start where there is a law of impact;
                // else the gap may just close.
                let impact = e > 0.0 && gap + h * u < 0.0;
                (
                    if impact {
                        (1.0 + e) * u
                    } else {
                        // With `beta < 1` a gap that closes in the step would turn a share of the
                        // approach round: without restitution it closes, and no more.
                        ((gap / h + u) / beta).max(u)
                    },
                    0.0,
                )
            } else {
                let recovery = match step.overlap {
                    Overlap::Rows { rate, speed } => (-rate * gap).min(speed),
                    _ => 0.0,
                };
                // A contact that separates at first may come back as far as it went: pushed any
                // earlier, it would be pushed along its way.
                let share = if u > 0.0 {
                    (1.0 + e).max(1.0 / beta)
                } else {
                    1.0 + e
                };
                (share * u - recovery, 0.0)
            };
            self.tail.b[row] = b;
            self.tail.r[row] = r;
            for k in row + 1..row + rows.count {
                self.tail.b[k] = self.tail.velocity()[k];
                self.tail.r[k] = 0.0;
            }
            row += rows.count;
        }
        self.fill_drags(list, h);
        for e in expansions {
            (self.tail.b[e.row], self.tail.r[e.row]) = (0.0, e.rho);
            for k in e.row + 1..e.row + 3 {
                (self.tail.b[k], self.tail.r[k]) = (self.tail.velocity()[k], 0.0);
            }
        }
    }

    /// The contacts at the start of the step that are `late` by their gap (m) and the velocity of
    /// their normals (m/s) there.
    pub(super) fn late_contacts(
        &self,
        list: &ContactList,
        late: impl Fn(f64, f64) -> bool,
    ) -> impl Iterator<Item = ContactKey> {
        let (velocities, mut row) = (self.tail.velocity(), 0);
        let contacts = list.contacts().iter().zip(&self.rows);
        contacts.filter_map(move |(contact, rows)| {
            let u = velocities.get(row).copied()?;
            row += rows.count;
            late(contact.gap, u).then_some(contact.key)
        })
    }

    /// Fills the system with the rows of the contacts behind those of the model, and the impulses
    /// of impacts that were taken before.
    pub(super) fn fill(&mut self, base: &Base<'_>, fixed_change: &[f64]) -> Result<(), Error> {
        self.extended.fill(base.system(), fixed_change, &self.tail)?;
        self.add_given();
        Ok(())
    }

    /// Fills the right-hand sides alone: those of the model may change from solve to solve, and the
    /// laws with the share of the restitution.
    pub(super) fn fill_right_hand_sides(&mut self, base: &Base<'_>, fixed_change: &[f64]) {
        self.extended
            .fill_right_hand_sides(base.system(), fixed_change, &self.tail);
        self.add_given();
    }

    fn add_given(&mut self) {
        if self.given.iter().any(|r| *r != 0.0) {
            self.extended.add_impulses(&self.tail, &self.given, 1.0);
        }
    }

    /// Starts the solution at the multipliers and contact forces of the last step.
    pub(super) fn start_from_last(&mut self, base: &Base<'_>, list: &ContactList, memory: &ContactMemory) {
        let h = base.scheme.h;
        let multipliers = base.motion.multipliers.iter();
        let mut start = std::mem::take(&mut self.solution.mu);
        start.clear();
        start.extend(multipliers.map(|l| l * h));
        self.extend_with_last(list, memory, h, &mut start);
        start.resize(base.system().m() + self.tail.rows(), 0.0);
        self.solution.mu = start;
    }

    /// Energy that the impulses add to the motion without them, `r . u+ - r . A r / 2` (J), of a
    /// solution in impulses and changes of velocity. With one coefficient of restitution for all it
    /// is not positive.
    pub(super) fn gain(&self, impulses: &[f64]) -> f64 {
        let free = self.solver.free_velocities();
        let free = &free[free.len() - impulses.len()..];
        let mut gain = 0.0;
        for (k, r) in impulses.iter().enumerate() {
            let start = self.tail.velocity()[k];
            let w = self.after[k] - start + self.tail.r[k] * r + self.tail.b[k];
            gain += r * (self.after[k] - 0.5 * (w - free[k]));
        }
        gain
    }

    /// Sum of `|r u|` that the gain is compared with.
    pub(super) fn exchanged(&self, impulses: &[f64]) -> f64 {
        let velocities = self.tail.velocity().iter().zip(&self.after);
        let sums = impulses.iter().zip(velocities);
        sums.map(|(r, (u, v))| r.abs() * (u.abs() + v.abs())).sum()
    }

    /// Appends the impulses in the rows of the contacts that the forces of the last step make in
    /// `h` (s); what viscous friction has of them is that of the velocities at the start.
    pub(super) fn extend_with_last(
        &self,
        list: &ContactList,
        memory: &ContactMemory,
        h: f64,
        out: &mut Vec<f64>,
    ) {
        let velocity = self.tail.velocity();
        let impulse = |drag: &Drag, k: usize| {
            -h * list.contacts()[drag.contact].law.viscous_friction * velocity[drag.row + k]
        };
        let mut drags = self.drags.list.iter().peekable();
        for (i, (contact, rows)) in list.contacts().iter().zip(&self.rows).enumerate() {
            let [x, y, z, tx, ty, tz] = memory.force(contact.key);
            let (mut force, torque) = (Vec3::new(x, y, z) * h, Vec3::new(tx, ty, tz) * h);
            if let Some(drag) = drags.next_if(|drag| drag.contact == i) {
                for (k, axis) in drag.axes.iter().enumerate() {
                    force -= impulse(drag, k) * Vec3::from(*axis);
                }
            }
            out.extend(rows.along(force, torque));
        }
        for drag in &self.drags.list {
            out.extend([0, 1].map(|k| impulse(drag, k)));
        }
    }

    /// The row of the normal of each contact.
    pub(super) fn first_rows(&self) -> impl Iterator<Item = usize> + Clone {
        self.rows.iter().scan(0, |next, own| {
            let first = *next;
            *next += own.count;
            Some(first)
        })
    }

    /// The system as last filled.
    pub(super) fn system(&self) -> Option<&KktSystem> {
        self.extended.system()
    }
}
