//! Which contacts there are at rest, and what is known of them from the position before.

use super::{KeptContacts, RestContacts};
use crate::Error;
use pliant_dense::Vec3;
use pliant_model::State;
use pliant_stepper::contact::{
    Contact, ContactKey, ContactList, ContactOptions, ContactRows, ContactsReport, Detection,
    FrictionCoupling, Solved, check, step,
};
use pliant_stepper::motion::Motion;
use pliant_stepper::system::System;

/// Least cosine between normals of a contact that is named anew.
const ALIKE: f64 = 0.9;
/// The distance at which two at one position are the same, over the size of its coordinates.
const SAME: f64 = 1e-9;
/// A slip of this share of the length of the model is none.
const NO_SLIP: f64 = 1e-9;

/// Whether two contacts of one position are the same.
fn is_twin(a: &Contact, b: &Contact) -> bool {
    let (p, q) = (Vec3::from(a.point), Vec3::from(b.point));
    let near = (p - q).norm() <= SAME * (p.amax() + q.amax());
    a.key == b.key || a.sides == b.sides && near && Vec3::from(a.normal).dot(&Vec3::from(b.normal)) > ALIKE
}

impl RestContacts {
    /// Takes the contacts of a search, with what is known of those that were there before. Whether
    /// one is new; with `more`, at the position of the last search, those not found stay.
    fn take(&mut self, more: bool) -> bool {
        let firsts: Vec<usize> = self.firsts().collect();
        let mut new = KeptContacts::default();
        if more {
            new.list.clone_from(&self.kept.list);
            for (i, contact) in self.found.contacts().iter().enumerate() {
                if !self.kept.list.contacts().iter().any(|old| is_twin(old, contact)) {
                    new.list.take(&self.found, i);
                }
            }
        } else {
            new.list.clone_from(&self.found);
        }
        let heirs = self.heirs(&new.list, &firsts);
        let mut rows = Vec::with_capacity(new.list.len());
        for (contact, heir) in new.list.contacts().iter().zip(&heirs) {
            let own = ContactRows::new(contact, 0.0);
            let (mut force, mut slip, mut acts) = (Vec3::zeros(), Vec3::zeros(), false);
            if let Some(i) = *heir {
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
        heirs.iter().any(Option::is_none)
    }

    /// The old contact that each new one goes on from: that of its key, else the nearest of those
    /// that bore and are found no more between the same two things, for points that hop from edge
    /// to edge are named anew.
    fn heirs(&mut self, new: &ContactList, firsts: &[usize]) -> Vec<Option<usize>> {
        let old = self.kept.list.contacts();
        let mut places: Vec<(ContactKey, usize)> = old.iter().enumerate().map(|(i, c)| (c.key, i)).collect();
        places.sort_unstable();
        let place = |c: &Contact| {
            let at = places.binary_search_by_key(&c.key, |p| p.0);
            at.ok().map(|at| places[at].1)
        };
        let mut heirs: Vec<Option<usize>> = new.contacts().iter().map(place).collect();
        let mut stays = vec![false; old.len()];
        heirs.iter().flatten().for_each(|i| stays[*i] = true);
        let had_force = |i: &usize| !stays[*i] && self.kept.force[firsts[*i]] > 0.0;
        let mut left: Vec<usize> = (0..old.len()).filter(had_force).collect();
        self.lost |= !left.is_empty();
        for (heir, contact) in heirs.iter_mut().zip(new.contacts()) {
            if heir.is_some() {
                continue;
            }
            let near = |i: usize| {
                let turned = Vec3::from(old[i].normal).dot(&Vec3::from(contact.normal));
                let fits = old[i].sides == contact.sides && turned > ALIKE;
                fits.then(|| (Vec3::from(old[i].point) - Vec3::from(contact.point)).norm())
            };
            let among = left
                .iter()
                .enumerate()
                .filter_map(|(at, i)| Some((near(*i)?, at)));
            if let Some((_, at)) = among.min_by(|a, b| a.0.total_cmp(&b.0)) {
                *heir = Some(left.remove(at));
            }
        }
        heirs
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
}

fn refuse(
    contact: &Contact,
    detection: &Detection,
    coupling: FrictionCoupling,
    frictionless: bool,
) -> Result<(), Error> {
    let law = &contact.law;
    let name = || format!("the contact of {}", detection.pair(contact.sides));
    let what = if law.torsion > 0.0 || law.rolling > 0.0 {
        format!("resistance to spin or rolling, as of {}", name())
    } else if law.friction > 0.0 && coupling != FrictionCoupling::Exact {
        format!("the friction of {} with another coupling than `Exact`", name())
    } else if law.friction > 0.0 && frictionless {
        format!(
            "the friction of {} along a path by arc length: it depends on the way that loads go; steps of the load have one",
            name()
        )
    } else {
        return Ok(());
    };
    Err(Error::NotStatic { what })
}

impl RestContacts {
    /// Finds what touches at a position, which must be evaluated, or may touch on a `way` from
    /// there (a displacement of the independent coordinates; none if it is empty). Whether a
    /// contact is new.
    pub(crate) fn find(
        &mut self,
        system: &mut System,
        state: &State,
        way: &[f64],
        options: &ContactOptions,
    ) -> Result<bool, Error> {
        let Some(c) = &mut system.contacts else {
            return Ok(false);
        };
        let (model, evaluation) = (&system.model, &system.evaluation);
        let displace = |velocities: &mut [f64]| {
            if way.is_empty() {
                return;
            }
            for node in model.nodes() {
                let Some(first) = node.first_dof() else { continue };
                let range = node.velocity_range();
                let of = &way[first..first + range.len()];
                velocities[range].copy_from_slice(of);
            }
            evaluation.push_forward(model, velocities);
        };
        let found = &mut self.found;
        c.detection.find_on_the_way(model, state, displace, found)?;
        for contact in found.contacts() {
            check(contact)?;
            refuse(
                contact,
                &c.detection,
                options.friction_coupling,
                self.frictionless,
            )?;
        }
        let fresh = self.take(!way.is_empty());
        if way.is_empty() || fresh {
            self.project_at(system, state)?;
        }
        Ok(fresh)
    }

    /// The rows of the contacts at a position.
    fn project_at(&mut self, system: &mut System, state: &State) -> Result<(), Error> {
        system.assembler.fill_jacobians(&system.model, &system.evaluation);
        self.project(&system.assembler, &system.model, state)
    }

    /// The contacts of a position, with the forces that they had last.
    pub(crate) fn start(
        &mut self,
        system: &mut System,
        motion: &Motion,
        options: &ContactOptions,
    ) -> Result<(), Error> {
        self.find(system, &motion.state, &[], options)?;
        if let Some(memory) = &motion.contacts {
            self.remember(&memory.forces);
        }
        Ok(())
    }

    /// Takes contacts back that belong to a position.
    pub(crate) fn go_back(
        &mut self,
        system: &mut System,
        state: &State,
        to: &KeptContacts,
    ) -> Result<(), Error> {
        self.kept.clone_from(to);
        self.rows.clear();
        let contacts = to.list.contacts().iter();
        self.rows.extend(contacts.map(|c| ContactRows::new(c, 0.0)));
        self.project_at(system, state)
    }
}

/// Sets the observation of the contacts to the equilibrium: forces as impulses over 1 s, ways of
/// slip as velocities. `length` is that of the model (m).
pub(crate) fn show(
    system: &mut System,
    motion: &mut Motion,
    t: &mut RestContacts,
    length: f64,
    options: &ContactOptions,
) {
    let Some(c) = &mut system.contacts else {
        return;
    };
    let mut report = ContactsReport {
        restitution: 1.0,
        residual: t.missed,
        de_saxce: t.missed,
        ..ContactsReport::default()
    };
    report.solve.friction_coupling = options.friction_coupling;
    report.solve.iterations = t.flow.take_iterations();
    let mut ways = Vec::with_capacity(t.kept.force.len());
    for (i, first) in t.firsts().enumerate() {
        let mut w = [0.0; 6];
        t.way(i, first, &mut w);
        w[0] = 0.0;
        ways.extend_from_slice(&w[..t.rows[i].count]);
        let contact = &t.kept.list.contacts()[i];
        report.overlap = report.overlap.max(-contact.gap);
        if contact.law.compliance > 0.0 && contact.gap < 0.0 {
            report.stored += 0.5 * contact.gap * contact.gap / contact.law.compliance;
        }
    }
    *c.observed.report_mut() = report;
    c.observed.take_as_rest(NO_SLIP * length);
    c.observed.read(&Solved {
        list: &t.kept.list,
        rows: &t.rows,
        drags: &[],
        before: t.tail.velocity(),
        after: &ways,
        impulses: &t.kept.force,
        h: 1.0,
        beta: 1.0,
    });
    c.observed.report_mut().work = 0.0;
    step::stand(system, motion, 1.0);
    step::find_again(system, [motion]);
}
