//! Contacts that a search with predicted velocities left out, and that shapes run through at the
//! velocities that they came to have; and those that no search at the start of a step can list: a
//! body that turns brings in corners that were behind others. They are found where the step ends,
//! and stand for it at its start.

use pliant_dense::Vec3;
use pliant_model::Model;

use super::World;
use super::crossed::{self, Crossed, StraightWay};
use super::found::Found;
use super::passed::keep_passed;
use super::pieces::{Motion, Pieces, Speeds};
use super::workspace::Workspace;
use crate::{Carrier, Contact, ContactError};

/// Share of half the thickness of the thinner of two shapes by which they may get into each other
/// without being listed: they come apart again the way they came.
const SHALLOW: f64 = 0.5;

/// Share of half the thickness of the thinner of two shapes by which they may be in each other at
/// the end of a step at a place that is not listed; the next step corrects it.
const ENTERED: f64 = 0.02;

impl World {
    /// Finds what the last [`update`](Self::update) did not list and what would run into each other
    /// by more than a quarter of the thickness of the thinner one (half the radius of a ball), at
    /// its positions and velocities that are not those that it was given. If there is none, finds
    /// where solids go by more than that into each other or into surfaces, on the whole of their
    /// way, also behind the place where they meet first. The contacts count as listed from now on, and
    /// are named like new ones.
    ///
    /// Nothing is searched for if nothing is fast enough for that, or no velocity differs by
    /// enough and nothing turns by enough. Half spaces have no thickness to pass through; two
    /// surfaces without thickness may not run into each other at all.
    ///
    /// # Errors
    /// Errors of [`update`](Self::update).
    pub fn find_missed(
        &mut self,
        model: &Model,
        positions: &[f64],
        velocities: &[f64],
        horizon: f64,
    ) -> Result<&[Contact], ContactError> {
        let most = self.begin_missed(model, velocities, horizon)?;
        let most_turned = self.find_turned(horizon);
        let moved = (horizon * most.own).min(horizon * most.off + most_turned);
        if 2.0 * moved > SHALLOW * self.pieces.thinnest() {
            self.work.searched_again = true;
            self.pieces.fall = Vec3::zeros();
            self.pieces
                .place(&self.colliders, model, positions, velocities, horizon)?;
            self.broad()?;
            let mut pairs = std::mem::take(&mut self.work.broad.pairs);
            let mut passing = std::mem::take(&mut self.work.passing);
            let shallow = |(i, j): (u32, u32)| SHALLOW * self.pieces.thickness(i as usize, j as usize);
            pairs.retain(|&pair| {
                let [own, off, turned] = self.moved_by(pair, horizon);
                own.min(off + turned) > shallow(pair)
            });
            passing.clone_from(&pairs);
            pairs.retain(|&pair| self.moved_by(pair, horizon)[1] > shallow(pair));
            self.work.broad.pairs = pairs;
            let mut found = self.narrow(horizon);
            if found.is_ok() {
                self.keep_missed();
                if self.missed.is_empty() {
                    found = keep_passed(self, &passing, horizon, SHALLOW);
                }
            }
            self.work.passing = passing;
            found?;
        }
        Ok(&self.missed)
    }

    /// Finds, at positions to which the last [`update`](Self::update) has led with these velocities
    /// over the horizon, where shapes are in each other by more than a hundredth of the thickness
    /// of the thinner one and were not before, at places that are not listed. The contacts have the
    /// normal of the end, and points and gap of the start; they count as listed from now on, and
    /// are named like new ones.
    ///
    /// Nothing is searched for if everything moves too little for that, or velocities differ too
    /// little from those of the update and bodies turn too little.
    ///
    /// # Errors
    /// Errors of [`update`](Self::update).
    pub fn find_entered(
        &mut self,
        model: &Model,
        positions: &[f64],
        velocities: &[f64],
        horizon: f64,
    ) -> Result<&[Contact], ContactError> {
        let most = self.begin_missed(model, velocities, horizon)?;
        let most_turned = self.find_turned(horizon);
        let moved = (horizon * most.own).min(horizon * most.off + most_turned);
        if 2.0 * moved > ENTERED * self.pieces.least_thin() {
            self.work.searched_again = true;
            let mut end = std::mem::take(&mut self.work.end);
            let found = self.search_at_end(model, positions, velocities, horizon, &mut end);
            self.work.end = end;
            found?;
            self.pieces
                .place(&self.colliders, model, positions, velocities, horizon)?;
            self.keep_entered(horizon);
        }
        Ok(&self.missed)
    }

    /// Whether surfaces that may meet have a thickness by which they can be kept apart.
    ///
    /// # Errors
    /// [`ContactError::NoThickness`] with two that have none.
    pub fn check_thickness(&self) -> Result<(), ContactError> {
        crossed::check_thickness(self)
    }

    /// Whether no edge of a surface passes through a triangle of another one, or of the same one,
    /// that it may meet.
    ///
    /// # Errors
    /// [`ContactError::Pierced`] with two surfaces of which one does; errors of
    /// [`update`](Self::update).
    pub fn check_apart(
        &mut self,
        model: &Model,
        positions: &[f64],
        velocities: &[f64],
    ) -> Result<(), ContactError> {
        crossed::check_apart(self, model, positions, velocities)
    }

    /// Finds the places where surfaces (cloth, cables, meshes, the surfaces of solids) come
    /// together to a tenth of their thickness, or of their distance at the start if that is less,
    /// on the straight ways of their corners. If there are none, surfaces that did not pass through
    /// each other at the start of the way do not at its end.
    ///
    /// Neighbours within a surface, which share a corner, are left out, and so are points that are
    /// tied to each other. Rigid meshes are taken along the straight ways of their corners, too.
    ///
    /// # Errors
    /// Errors of [`update`](Self::update).
    pub fn find_crossed(&mut self, model: &Model, way: StraightWay<'_>) -> Result<Crossed<'_>, ContactError> {
        crossed::find_crossed(self, model, way)
    }

    /// Empties the list of contacts that were missed, and finds how fast all pieces are: the most
    /// of each. Differences are unknown where the pieces are not those of the last
    /// [`update`](Self::update) any more.
    fn begin_missed(
        &mut self,
        model: &Model,
        velocities: &[f64],
        horizon: f64,
    ) -> Result<Speeds, ContactError> {
        crate::error::not_negative("the horizon", horizon)?;
        self.missed.clear();
        let Workspace {
            speeds,
            searched_again,
            ..
        } = &mut self.work;
        self.pieces.speeds(&self.colliders, model, velocities, speeds);
        if *searched_again {
            speeds.iter_mut().for_each(|s| s.off = f64::INFINITY);
        }
        Ok(speeds.iter().copied().fold(Speeds::NONE, Speeds::max))
    }

    /// Finds what touches where the velocities lead, of the pairs that move enough for it.
    fn search_at_end(
        &mut self,
        model: &Model,
        positions: &[f64],
        velocities: &[f64],
        horizon: f64,
        [end, step]: &mut [Vec<f64>; 2],
    ) -> Result<(), ContactError> {
        end.clear();
        end.extend_from_slice(positions);
        step.clear();
        step.extend(velocities.iter().map(|v| horizon * v));
        for node in model.nodes() {
            let (x, d) = (node.position_range(), node.velocity_range());
            if let (Some(x), Some(d)) = (end.get_mut(x), step.get(d)) {
                node.space.retract(x, d);
            }
        }
        step.fill(0.0);
        self.pieces.place(&self.colliders, model, end, step, 0.0)?;
        self.broad()?;
        let mut pairs = std::mem::take(&mut self.work.broad.pairs);
        pairs.retain(|&pair| {
            let [own, off, turned] = self.moved_by(pair, horizon);
            let thin = |k: u32| self.pieces.thin(k as usize);
            own.min(off + turned) > ENTERED * thin(pair.0).min(thin(pair.1))
        });
        self.work.broad.pairs = pairs;
        self.narrow(0.0)
    }

    /// Finds by how much the points of each piece leave the straight way that their velocities
    /// begin; the most (m).
    fn find_turned(&mut self, horizon: f64) -> f64 {
        let turned = &mut self.work.turned;
        turned.clear();
        turned.extend((0..self.work.speeds.len()).map(|k| self.pieces.turned(k, horizon)));
        turned.iter().fold(0.0f64, |a, t| a.max(*t))
    }

    /// Bounds of how far two pieces come against each other within the horizon (m): by their
    /// velocities, by the differences of these to those of the last update, and by what turning
    /// adds.
    fn moved_by(&self, (i, j): (u32, u32), horizon: f64) -> [f64; 3] {
        let (speeds, turned) = (&self.work.speeds, &self.work.turned);
        let (i, j) = (i as usize, j as usize);
        let own = horizon * (speeds[i].own + speeds[j].own);
        let off = horizon * (speeds[i].off + speeds[j].off);
        [own, off, turned[i] + turned[j]]
    }

    /// Lists the contacts found at the end of the step that are deep, were not at its start, and
    /// are not listed. The pieces are at the start again.
    fn keep_entered(&mut self, horizon: f64) {
        let mut found = std::mem::take(&mut self.work.found);
        found.retain_mut(|f| {
            let pieces = &self.pieces;
            let [i, j] = f.pieces.map(|k| k as usize);
            let allowed = ENTERED * pieces.thin(i).min(pieces.thin(j));
            if f.touch.gap >= -allowed || self.is_listed(f) {
                return false;
            }
            let gap = at_start(pieces, f, horizon);
            f.horizon = horizon;
            let entered = f.touch.gap - gap < -allowed;
            f.touch.gap = gap.max(0.0);
            entered
        });
        self.work.found = found;
        self.list_found();
    }

    /// Whether a contact is in the memory.
    pub(super) fn is_listed(&self, found: &Found) -> bool {
        let (pair, unnamed) = (found.colliders.map(|c| c.0), found.unnamed(&self.pieces));
        let old = &self.memory.entries;
        let first = old.partition_point(|e| e.colliders < pair);
        let mut listed = old[first..].iter().take_while(|e| e.colliders == pair);
        listed.any(|e| unnamed.may_be(e))
    }

    /// Lists the contacts found that are deep and are not listed.
    fn keep_missed(&mut self) {
        let (pieces, old) = (&self.pieces, &self.memory.entries);
        let mut found = std::mem::take(&mut self.work.found);
        found.retain(|f| {
            let (pair, feature) = (f.colliders.map(|c| c.0), f.unnamed(pieces).feature);
            let first = old.partition_point(|e| e.colliders < pair);
            let mut listed = old[first..].iter().take_while(|e| e.colliders == pair);
            is_deep(pieces, f) && listed.all(|e| e.feature != feature)
        });
        self.work.found = found;
        self.list_found();
    }

    /// Names the contacts that were found, and lists them.
    pub(super) fn list_found(&mut self) {
        let mut found = std::mem::take(&mut self.work.found);
        found.sort_unstable_by_key(|f| (f.colliders, f.order));
        for f in &found {
            let serial = self.memory.next_serial;
            self.memory.next_serial += 1;
            let places = f.unnamed(&self.pieces);
            self.memory.entries.push(f.remembered(&places, serial, 0));
            let contact = self.contact(f, serial, 0);
            self.missed.push(contact);
        }
        if !found.is_empty() {
            let entries = &mut self.memory.entries;
            entries.sort_unstable_by_key(|e| (e.colliders, e.serial));
        }
        self.work.found = found;
    }
}

/// Whether two shapes overlap by more than they may at the end of the horizon, and get there within
/// it.
fn is_deep(pieces: &Pieces, found: &Found) -> bool {
    let [i, j] = found.pieces.map(|k| k as usize);
    let velocity = |side: usize, k: usize, point| pieces.velocity(k, &found.carried_by[side], point);
    let touch = &found.touch;
    let way = touch
        .normal
        .dot(&(velocity(1, j, touch.b) - velocity(0, i, touch.a)))
        * found.horizon;
    let allowed = SHALLOW * pieces.thickness(i, j);
    way < -allowed && touch.gap + way < -allowed
}

/// Takes the points of a contact to where the pieces are; the gap between them along its normal.
fn at_start(pieces: &Pieces, found: &mut Found, horizon: f64) -> f64 {
    let points = [found.touch.a, found.touch.b];
    let [a, b] = [0, 1].map(|side| match &found.carried_by[side] {
        Carrier::Fixed => points[side],
        Carrier::Body { local, .. } => {
            let Motion { centre, rotation, .. } = pieces.placed[found.pieces[side] as usize].motion;
            centre + rotation * Vec3::from(*local)
        }
        carrier @ Carrier::Points { .. } => {
            let velocity = pieces.velocity(found.pieces[side] as usize, carrier, points[side]);
            points[side] - velocity * horizon
        }
    });
    (found.touch.a, found.touch.b) = (a, b);
    found.touch.normal.dot(&(b - a))
}
