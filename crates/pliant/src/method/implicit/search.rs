//! How far Newton's steps are followed.

use crate::Error;
use crate::Simulation;
use crate::report::NewtonReport;
use pliant_model::ModelError;

/// Halvings of a Newton step at most.
const SEARCHES: usize = 12;

/// Steps at most that may pass without a decrease of the merit before the line search, and by what the merit may rise in them.
const TENTATIVE: usize = 4;
const LARGEST_RISE: f64 = 1e8;

/// Share of the decrease that the merit must show (Armijo).
const DECREASE: f64 = 1e-4;

/// The best iterate so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch {
    /// Its merit.
    best: f64,
    /// Steps since that did not decrease the merit.
    tentative: usize,
    /// These did not pay: from the best iterate by line search.
    searching: bool,
}

impl Simulation {
    /// Takes Newton's step: all of it while the merit decreases or for a few steps more, since what decreases one part of the residual may
    /// increase another for an iteration; if that did not pay, from the best iterate as far as the merit decreases. False, at the best
    /// iterate, if it does not decrease at all.
    pub(crate) fn search(&mut self, watch: &mut Watch, newton: &mut NewtonReport) -> Result<bool, Error> {
        let s = &mut self.methods.implicit;
        s.accepted.clone_from(&s.end);
        s.accepted_mu.clone_from(&s.mu);
        s.accepted_contacts.clone_from(&s.contacts);
        let whole = self.go(1.0)?;
        if whole <= (1.0 - 2.0 * DECREASE) * watch.best {
            self.keep_best(watch, whole);
            return Ok(true);
        }
        if !watch.searching && watch.tentative < TENTATIVE && whole <= LARGEST_RISE * watch.best {
            watch.tentative += 1;
            return Ok(true);
        }
        if watch.tentative > 0 {
            watch.tentative = 0;
            watch.searching = true;
            self.return_to_best()?;
            return Ok(true);
        }
        let mut share = 1.0;
        for _ in 0..SEARCHES {
            newton.halvings += 1;
            share *= 0.5;
            let found = self.go(share)?;
            if found <= (1.0 - 2.0 * DECREASE * share) * watch.best {
                self.keep_best(watch, found);
                return Ok(true);
            }
        }
        self.return_to_best()?;
        Ok(false)
    }

    /// Goes a share of Newton's step from the last iterate, and returns the merit there; infinite where a mapping is not defined.
    fn go(&mut self, share: f64) -> Result<f64, Error> {
        let s = &mut self.methods.implicit;
        for ((end, old), change) in s.end.iter_mut().zip(&s.accepted).zip(&self.system.solution.x) {
            *end = old + share * change;
        }
        let rows = (&mut s.mu, &s.accepted_mu, &self.system.solution.mu);
        let contacts = (&mut s.contacts, &s.accepted_contacts, &s.new_contacts);
        for (list, old, new) in [rows, contacts] {
            for ((mu, old), new) in list.iter_mut().zip(old).zip(new) {
                *mu = if share == 1.0 {
                    *new
                } else {
                    old + share * (new - old)
                };
            }
        }
        s.whole = share == 1.0;
        match self.place().and_then(|()| self.find_residual()) {
            Ok(()) => Ok(self.merit()),
            Err(Error::Model(ModelError::Degenerate { .. })) => Ok(f64::INFINITY),
            Err(e) => Err(e),
        }
    }

    pub(crate) fn keep_best(&mut self, watch: &mut Watch, merit: f64) {
        *watch = Watch {
            best: merit,
            ..Watch::default()
        };
        let s = &mut self.methods.implicit;
        s.best.clone_from(&s.end);
        s.best_mu.clone_from(&s.mu);
        s.best_contacts.clone_from(&s.contacts);
        s.best_whole = s.whole;
    }

    pub(crate) fn return_to_best(&mut self) -> Result<(), Error> {
        let s = &mut self.methods.implicit;
        s.end.clone_from(&s.best);
        s.mu.clone_from(&s.best_mu);
        s.contacts.clone_from(&s.best_contacts);
        s.whole = s.best_whole;
        self.place()?;
        self.find_residual()
    }
}
