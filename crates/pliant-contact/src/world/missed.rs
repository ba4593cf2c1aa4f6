//! Contacts that a search with predicted velocities left out, and that shapes run through at the
//! velocities that they came to have.

use pliant_model::Model;

use super::World;
use super::found::Found;
use super::pieces::Pieces;
use crate::{Contact, ContactError};

/// Share of half the thickness of the thinner of two shapes by which they may get into each other
/// without being listed: they come apart again the way they came.
const SHALLOW: f64 = 0.5;

impl World {
    /// Finds what the last [`update`](Self::update) did not list and what would run into each other
    /// by more than a quarter of the thickness of the thinner one (half the radius of a ball), at
    /// its positions and velocities that are not those that it was given. The contacts count as
    /// listed from now on, and are named like new ones.
    ///
    /// Nothing is searched for if no velocity differs by enough for that. Half spaces have no
    /// thickness to pass through; two surfaces without thickness may not run into each other at
    /// all.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn find_missed(
        &mut self,
        model: &Model,
        positions: &[f64],
        velocities: &[f64],
        horizon: f64,
    ) -> Result<&[Contact], ContactError> {
        crate::error::not_negative("the horizon", horizon)?;
        self.missed.clear();
        let mut deviations = std::mem::take(&mut self.work.deviations);
        let known = self
            .pieces
            .deviations(&self.colliders, model, velocities, &mut deviations);
        let most = deviations.iter().fold(0.0f64, |a, d| a.max(*d));
        self.work.deviations = deviations;
        let known = known && !self.work.searched_again;
        if !known || 2.0 * horizon * most > SHALLOW * self.pieces.thinnest() {
            self.work.searched_again = true;
            self.pieces
                .place(&self.colliders, model, positions, velocities, horizon)?;
            self.broad()?;
            let (pieces, of) = (&self.pieces, &self.work.deviations);
            self.work.broad.pairs.retain(|&(i, j)| {
                let (i, j) = (i as usize, j as usize);
                let depth = horizon * (of[i] + of[j]);
                !known || depth > SHALLOW * pieces.thickness(i, j)
            });
            self.narrow(horizon)?;
            self.keep_missed();
        }
        Ok(&self.missed)
    }

    /// Of the contacts found, names those that are deep and that are not listed.
    fn keep_missed(&mut self) {
        let (pieces, old) = (&self.pieces, &self.memory.entries);
        let mut found = std::mem::take(&mut self.work.found);
        found.retain(|f| {
            let (pair, feature) = (f.colliders.map(|c| c.0), f.unnamed(pieces).feature);
            let first = old.partition_point(|e| e.colliders < pair);
            let mut listed = old[first..].iter().take_while(|e| e.colliders == pair);
            is_deep(pieces, f) && listed.all(|e| e.feature != feature)
        });
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
