//! Contacts at rest: what touches at a position, with which forces, and how far that is from its law.
//!
//! Displacements take the part of velocities and forces that of impulses. With the gap `phi`, the compliance `C` and the way `s` that the second point has slipped
//! against the first since the load began to change
//!
//! ```math
//! r in K,   w = (phi + C r_n, s),   w + mu |s| n in K*,   r . (w + mu |s| n) = 0
//! ```
//!
//! with Coulomb's cone `K`, its dual `K*`, and of contacts without friction `0 <= w_n`, `r_n >= 0`, `w_n r_n = 0`.

use super::laws::{Rows, used_friction};
use super::{Contacts, check};
use crate::contact::{Contact, ContactKey, ContactList, FrictionCoupling};
use crate::simulation::Simulation;
use crate::{Error, Options};
use pliant_dense::Vec3;
use pliant_kkt::{Assembler, Extended, Formulation, Tail};
use pliant_model::{Model, State};
use pliant_solvers::complementarity::{AutoOptions, Cone, IslandSolver, Outcome, ProblemError};
use pliant_solvers::{KktSystem, Solution};

/// Measure that the solver of a step is asked for, relative to the displacements that there are without contacts.
const ASKED: f64 = 1e-12;
/// Share of the friction that a contact may use that counts as sticking in the tangent.
const STICKS: f64 = 1.0 - 1e-6;
/// A slip of this share of the length of the model is none.
const NO_SLIP: f64 = 1e-9;

/// Contacts of the present position, and scratch.
#[derive(Debug, Default)]
pub(in crate::simulation) struct RestContacts {
    kept: KeptContacts,
    rows: Vec<Rows>,
    tail: Tail,
    cones: Vec<Option<Cone>>,
    /// Rows that bear, for the tangent: how many each contact has, and the contact of each.
    acting: Tail,
    acting_of: Vec<usize>,
    tangent: Extended,
    /// Of a step of the flow.
    step: Extended,
    solver: IslandSolver,
    solution: Solution,
    /// Forces that it found, until the step is taken.
    solved: Vec<f64>,
    /// Share of the last natural map, and iterations of the solver so far.
    missed: f64,
    iterations: usize,
    scratch: Vec<f64>,
    found: ContactList,
}

/// What a position is gone back to with.
#[derive(Clone, Debug, Default)]
pub(in crate::simulation) struct KeptContacts {
    list: ContactList,
    /// Force in every row (N).
    force: Vec<f64>,
    /// The way slipped, in the world (m).
    slip: Vec<Vec3>,
    /// Whether it bears in Newton's method.
    acts: Vec<bool>,
}

impl KeptContacts {
    /// Which bear.
    pub(in crate::simulation) fn acting(&self) -> impl Iterator<Item = ContactKey> {
        let all = self.list.contacts().iter().zip(&self.acts);
        all.filter(|(_, acts)| **acts).map(|(c, _)| c.key)
    }
}

/// How far contacts are from their law.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::simulation) struct Miss {
    /// Largest share of the natural map in the largest force.
    pub(in crate::simulation) share: f64,
    /// Largest gap of what bears, or overlap (m).
    pub(in crate::simulation) violation: f64,
    /// The sides of the contact that misses most.
    pub(in crate::simulation) sides: Option<[u32; 2]>,
}

impl RestContacts {
    pub(in crate::simulation) fn kept(&self) -> &KeptContacts {
        &self.kept
    }

    pub(in crate::simulation) fn is_empty(&self) -> bool {
        self.kept.list.is_empty()
    }

    /// Whether any contact has friction.
    pub(in crate::simulation) fn rubs(&self) -> bool {
        self.rows.iter().any(|r| r.count > 1)
    }

    /// The largest force of a row (N), in its unit.
    pub(in crate::simulation) fn largest_force(&self) -> f64 {
        self.kept.force.iter().fold(0.0, |a: f64, r| a.max(r.abs()))
    }

    /// How many bear a force.
    pub(in crate::simulation) fn bearing(&self) -> usize {
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

    /// Slip is counted from here.
    pub(in crate::simulation) fn begin_increment(&mut self) {
        self.kept.slip.fill(Vec3::zeros());
    }

    /// Takes the contacts of a search, with what is known of those that were there before. Whether one is new; with `more` those not found stay.
    fn take(&mut self, more: bool) -> bool {
        let old = self.kept.list.contacts();
        let mut places: Vec<(ContactKey, usize)> = old.iter().enumerate().map(|(i, c)| (c.key, i)).collect();
        places.sort_unstable();
        let firsts: Vec<usize> = self.firsts().collect();
        let place = |key: ContactKey| {
            let at = places.binary_search_by_key(&key, |p| p.0);
            at.ok().map(|at| places[at].1)
        };
        let mut new = KeptContacts::default();
        if more {
            new.list.copy(&self.kept.list);
        }
        let mut fresh = false;
        for (i, contact) in self.found.contacts().iter().enumerate() {
            let known = place(contact.key).is_some();
            fresh |= !known;
            if !(more && known) {
                new.list.take(&self.found, i);
            }
        }
        let mut rows = Vec::with_capacity(new.list.len());
        for contact in new.list.contacts() {
            let own = Rows::new(contact, 0.0);
            let (mut force, mut slip, mut acts) = (Vec3::zeros(), Vec3::zeros(), false);
            if let Some(i) = place(contact.key) {
                let of = &self.kept.force[firsts[i]..][..self.rows[i].count];
                for (r, axis) in of.iter().zip(self.rows[i].velocities()) {
                    force += *r * Vec3::from(*axis);
                }
                (slip, acts) = (self.kept.slip[i], self.kept.acts[i]);
            }
            new.force.extend(own.along(force, Vec3::zeros()));
            new.slip.push(slip);
            new.acts.push(acts);
            rows.push(own);
        }
        (self.kept, self.rows) = (new, rows);
        fresh
    }

    /// Forces known by the keys of their contacts, from the last step or equilibrium.
    fn remember(&mut self, forces: &[(ContactKey, [f64; 6])]) {
        let mut row = 0;
        for (contact, own) in self.kept.list.contacts().iter().zip(&self.rows) {
            let at = forces.binary_search_by_key(&contact.key, |f| f.0);
            let [x, y, z, ..] = at.map_or([0.0; 6], |at| forces[at].1);
            let along = own.along(Vec3::new(x, y, z), Vec3::zeros());
            self.kept.force[row..row + own.count]
                .iter_mut()
                .zip(along)
                .for_each(|(to, r)| *to = r);
            row += own.count;
        }
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

    /// `F_1 += J^T r`, and the sizes of that, `|J|^T |r|` with the length of each force for all its rows: where the tangents lie is arbitrary.
    pub(in crate::simulation) fn add_forces(&mut self, force: &mut [f64], terms: &mut [f64]) {
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

    /// Contacts without friction: whether they bear, by `r - w/s`; the others lose their force. A gap of `touching` (m) is none.
    pub(in crate::simulation) fn take_sides(&mut self, per_length: f64, touching: f64) {
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
    pub(in crate::simulation) fn deficits(&self, out: &mut Vec<f64>) {
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
    pub(in crate::simulation) fn fill(
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
            let sticks = own.count > 1 && used_friction(&contact.law, r) < STICKS;
            let axes = &own.velocities()[..if sticks { 3 } else { 1 }];
            let rows = self.acting.push_both(axes, &[], self.kept.list.supports(i));
            self.acting.r[rows.start] = contact.law.compliance;
            self.acting_of.push(firsts[i]);
        }
        if self.acting_of.is_empty() {
            return Ok(());
        }
        assembler.project(model, state, &mut self.acting)?;
        let form = (Formulation::VelocityChange, 1.0);
        self.tangent
            .fill(assembler.system(), (model, state), form, &[], &self.acting)?;
        Ok(())
    }

    /// The tangent with contacts that bear, if there are such.
    pub(in crate::simulation) fn tangent(&self) -> Option<&KktSystem> {
        let bears = !self.acting_of.is_empty();
        self.tangent.system().filter(|_| bears)
    }

    /// Changes the forces of the contacts of the tangent.
    pub(in crate::simulation) fn add(&mut self, change: &[f64], share: f64) {
        for (first, d) in self.acting_of.iter().zip(change) {
            self.kept.force[*first] += share * d;
        }
    }

    /// The largest share of a displacement that takes no gap of a contact that does not bear below zero.
    pub(in crate::simulation) fn first_touch(&mut self, x: &[f64]) -> f64 {
        let mut after = std::mem::take(&mut self.scratch);
        self.tail.product_into(x, &mut after);
        let mut share = f64::INFINITY;
        for (i, first) in self.firsts().enumerate() {
            let gap = self.kept.list.contacts()[i].gap;
            if !self.kept.acts[i] && gap > 0.0 && after[first] < 0.0 {
                share = share.min(-gap / after[first]);
            }
        }
        self.scratch = after;
        share
    }

    /// The step is taken: the forces are those that it was solved with.
    pub(in crate::simulation) fn accept(&mut self) {
        if self.solved.len() == self.kept.force.len() {
            self.kept.force.copy_from_slice(&self.solved);
        }
    }

    /// Counts the way of a displacement of what bears; what does not has none.
    pub(in crate::simulation) fn slide(&mut self, x: &[f64]) {
        let mut after = std::mem::take(&mut self.scratch);
        self.tail.product_into(x, &mut after);
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
        self.scratch = after;
    }

    /// Gap and slip in the rows of a contact, as `w`.
    fn way(&self, i: usize, first: usize, w: &mut [f64; 6]) {
        let (contact, own) = (&self.kept.list.contacts()[i], &self.rows[i]);
        w[0] = contact.gap + contact.law.compliance * self.kept.force[first];
        for k in 1..own.count {
            w[k] = self.kept.slip[i].dot(&Vec3::from(own.velocities()[k]));
        }
    }

    /// The natural maps `|r - P_K(r - (w + mu |w_t| n)/s)|` over the largest force, with `s` the length over it, beyond the rounding of gaps (m).
    pub(in crate::simulation) fn miss(&mut self, largest: f64, length: f64, rounding: f64) -> Miss {
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

    /// One linear step with all cones, of a system whose `W` resists everything: `force` and `deficit` are what the equations miss at present, all contacts included. The whole
    /// forces of the contacts are kept for [`accept`](Self::accept), the changes of the model's go into `out`. `None` if the solver found no answer to it.
    pub(in crate::simulation) fn solve_step(
        &mut self,
        (assembler, model, state): (&mut Assembler, &Model, &State),
        (force, deficit): (&[f64], &[f64]),
        (options, auto): (&Options, AutoOptions),
        out: &mut Solution,
    ) -> Result<Option<f64>, Error> {
        let m = assembler.system().m();
        self.tail.b.fill(0.0);
        self.tail.r.fill(0.0);
        let firsts: Vec<usize> = self.firsts().collect();
        for (i, first) in firsts.iter().enumerate() {
            let contact = &self.kept.list.contacts()[i];
            let mut w = [0.0; 6];
            self.way(i, *first, &mut w);
            self.tail.b[*first..][..self.rows[i].count].copy_from_slice(&w[..self.rows[i].count]);
            self.tail.b[*first] = contact.gap;
            self.tail.r[*first] = contact.law.compliance;
        }
        assembler.set_right_hand_sides(force, &deficit[..m]);
        let blocks = assembler.system().row_blocks().len() - 1;
        self.cones.clear();
        self.cones.resize(blocks, None);
        self.cones.extend(self.rows.iter().map(|r| Some(r.cone)));
        let form = (Formulation::VelocityChange, 1.0);
        self.step
            .fill(assembler.system(), (model, state), form, &[], &self.tail)?;
        self.step.add_impulses(&self.tail, &self.kept.force, -1.0);
        let Some(system) = self.step.system() else {
            return Ok(None);
        };
        self.solver.options = auto;
        self.solver.options.limits.tolerance = ASKED;
        self.solver.only = options.contacts.solver;
        self.solver.bounds = options.bounds;
        self.solver.bounds.direct = options.solver;
        let solved = self.solver.prepare(system, &self.cones).and_then(|()| {
            self.solution.mu.clear();
            self.solution.mu.resize(m, 0.0);
            self.solution.mu.extend_from_slice(&self.kept.force);
            self.solver.solve(system, &mut self.solution)
        });
        let found = match solved {
            Ok(found) => found,
            // A system that is not definite yet: more resistance makes it so.
            Err(ProblemError::Bilateral(_)) => return Ok(None),
            Err(e) => return Err(Error::Contacts(e)),
        };
        self.iterations += found.iterations;
        let measure = found.residual.measure();
        if found.outcome != Outcome::Converged && !(measure <= options.contacts.tolerance) {
            return Ok(None);
        }
        out.x.clone_from(&self.solution.x);
        out.mu.clear();
        out.mu.extend_from_slice(&self.solution.mu[..m]);
        self.solved.clear();
        self.solved.extend_from_slice(&self.solution.mu[m..]);
        let free = self.solver.free_velocities();
        Ok(Some(free[m..].iter().fold(0.0, |a: f64, v| a.max(v.abs()))))
    }
}

fn refuse(
    contact: &Contact,
    c: &Contacts,
    coupling: FrictionCoupling,
    steps_only: bool,
) -> Result<(), Error> {
    let law = &contact.law;
    let name = || {
        let [a, b] = contact.sides.map(|s| c.finder.name(s));
        format!("the contact of {a} and {b}")
    };
    let what = if law.torsion > 0.0 || law.rolling > 0.0 {
        format!("resistance to spin or rolling, as of {}", name())
    } else if law.friction > 0.0 && coupling != FrictionCoupling::Exact {
        format!("the friction of {} with another coupling than `Exact`", name())
    } else if law.friction > 0.0 && steps_only {
        format!(
            "the friction of {} along a path by arc length: it depends on the way that loads go; steps of the load have one",
            name()
        )
    } else {
        return Ok(());
    };
    Err(Error::NotStatic { what })
}

impl Simulation {
    /// Finds what touches at the present position, which must be evaluated, or may touch on a `way` from there (a displacement of the independent coordinates; none if it is empty). Whether a
    /// contact is new. By arc length friction is refused.
    pub(in crate::simulation) fn find_rest_contacts(
        &mut self,
        t: &mut RestContacts,
        way: &[f64],
        by_arc_length: bool,
    ) -> Result<bool, Error> {
        let Some(mut c) = self.contacts.take() else {
            return Ok(false);
        };
        let found = self.find_rest_contacts_of(&mut c, t, way, by_arc_length);
        self.contacts = Some(c);
        found
    }

    fn find_rest_contacts_of(
        &mut self,
        c: &mut Contacts,
        t: &mut RestContacts,
        way: &[f64],
        by_arc_length: bool,
    ) -> Result<bool, Error> {
        c.foreseen.clone_from(&self.state);
        c.foreseen.velocities.fill(0.0);
        if !way.is_empty() {
            for node in self.model.nodes() {
                let Some(first) = node.first_dof() else { continue };
                let range = node.velocity_range();
                let of = &way[first..first + range.len()];
                c.foreseen.velocities[range].copy_from_slice(of);
            }
            self.evaluation
                .push_forward(&self.model, &mut c.foreseen.velocities);
        }
        t.found.clear();
        c.finder.find(&self.model, &c.foreseen, 1.0, &mut t.found)?;
        let coupling = self.options.contacts.friction_coupling;
        for contact in t.found.contacts() {
            check(contact)?;
            refuse(contact, c, coupling, by_arc_length)?;
        }
        let fresh = t.take(!way.is_empty());
        if way.is_empty() || fresh {
            self.project_rest_contacts(t)?;
        }
        Ok(fresh)
    }

    /// The rows of the contacts at the present position.
    fn project_rest_contacts(&mut self, t: &mut RestContacts) -> Result<(), Error> {
        self.assembler.fill_jacobians(&self.evaluation);
        t.project(&self.assembler, &self.model, &self.state)
    }

    /// The contacts of the present position, with the forces that they had last.
    pub(in crate::simulation) fn start_rest_contacts(
        &mut self,
        t: &mut RestContacts,
        by_arc_length: bool,
    ) -> Result<(), Error> {
        self.find_rest_contacts(t, &[], by_arc_length)?;
        if let Some(c) = &self.contacts {
            t.remember(&c.forces);
        }
        Ok(())
    }

    /// Takes contacts back that belong to the present position.
    pub(in crate::simulation) fn return_rest_contacts(
        &mut self,
        t: &mut RestContacts,
        to: &KeptContacts,
    ) -> Result<(), Error> {
        if self.contacts.is_none() {
            return Ok(());
        }
        t.kept.clone_from(to);
        t.rows.clear();
        t.rows
            .extend(to.list.contacts().iter().map(|c| Rows::new(c, 0.0)));
        self.project_rest_contacts(t)
    }

    /// What is read of the contacts is that of the equilibrium: forces as impulses over 1 s, ways of slip as velocities.
    pub(in crate::simulation) fn show_rest_contacts(&mut self, t: &mut RestContacts, length: f64) {
        let Some(c) = &mut self.contacts else { return };
        c.list.copy(&t.kept.list);
        c.rows.clone_from(&t.rows);
        c.tail.clone_from(&t.tail);
        c.report = crate::contact::ContactsReport {
            friction_coupling: self.options.contacts.friction_coupling,
            restitution: 1.0,
            residual: t.missed,
            de_saxce: t.missed,
            iterations: std::mem::take(&mut t.iterations),
            ..crate::contact::ContactsReport::default()
        };
        c.after.clear();
        for (i, first) in t.firsts().enumerate() {
            let mut w = [0.0; 6];
            t.way(i, first, &mut w);
            w[0] = 0.0;
            c.after.extend_from_slice(&w[..t.rows[i].count]);
            let gap = t.kept.list.contacts()[i].gap;
            c.report.overlap = c.report.overlap.max(-gap);
            let law = &t.kept.list.contacts()[i].law;
            if law.compliance > 0.0 && gap < 0.0 {
                c.report.stored += 0.5 * gap * gap / law.compliance;
            }
        }
        c.noise = NO_SLIP * length;
        c.read(&t.kept.force, 1.0, 1.0);
        c.report.work = 0.0;
        c.stand(1.0);
        c.next_horizon = 0.0;
        c.horizon = None;
    }
}
