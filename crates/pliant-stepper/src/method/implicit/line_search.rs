//! The line search of Newton's method: how far an iterate is from solving its equations, by the
//! merit of the search and by the relative residual that decides, and how far it goes.

use super::{Iteration, NewtonWorkspace};
use crate::Error;
use crate::contact::step;
use crate::method::sizes::{Beside, IterateVelocities, row_miss};
use crate::motion::Motion;
use crate::report::NewtonReport;
use crate::system::{System, friction};
use pliant_model::ModelError;
use pliant_solvers::KktResidual;

/// Halvings of a Newton step at most.
const SEARCHES: usize = 12;

/// Steps at most that may pass without a decrease of the merit before the line search, and by what
/// the merit may rise in them.
const TENTATIVE: usize = 4;
const LARGEST_RISE: f64 = 1e8;
/// Steps and rise where springs have deformations of their own: a step that turns a spring of
/// stiffness `k` leaves its force off by `k` times the square of the step, and the next step mends
/// that.
const TENTATIVE_WITH_SPRINGS: usize = 12;
const LARGEST_RISE_WITH_SPRINGS: f64 = 1e16;

/// Share of the decrease that the merit must show (Armijo).
const DECREASE: f64 = 1e-4;

/// The best iterate so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch {
    /// Its merit.
    best: f64,
    /// Steps since that did not decrease the merit.
    tentative: usize,
    /// Whether whole steps did not pay, so that the line search goes on from the best iterate.
    searching: bool,
}

impl Iteration<'_> {
    /// Takes the weights of the merit from the filled system.
    pub(crate) fn weigh(&mut self) {
        let system = self.system.assembler.system();
        let inertia = &mut self.work.inertia;
        inertia.clear();
        inertia.extend((0..system.n()).map(|i| system.w_diagonal(i).abs()));
    }

    /// Sum of the squares of what the equations lack as velocities: impulses over `W_ii`, rows over
    /// the displacement gain; of rows of bounded force by the natural map, contacts too.
    pub(crate) fn merit(&mut self) -> f64 {
        self.find_row_velocities();
        let s = &*self.work;
        let system = self.system.assembler.system();
        let mut sum = 0.0;
        for ((p, w), fixed) in s.residual.primal.iter().zip(&s.inertia).zip(&system.fixed) {
            if !fixed && *w > 0.0 {
                sum += (p / w) * (p / w);
            }
        }
        for row in 0..system.m() {
            let r = row_miss(system, row, s.residual.missed(&s.iterate));
            sum += r * r;
        }
        sum + step::merit(self.system, self.work.contact_iterate())
    }

    /// Finds the residual of each row, as a velocity, and the bounds of friction by the forces that
    /// the iterate has.
    fn find_row_velocities(&mut self) {
        let s = &mut *self.work;
        self.system.assembler.velocities_of_deficits(
            &self.system.model,
            &self.system.evaluation,
            self.scheme,
            &s.residual.deficit,
            &mut s.residual.row_velocity,
        );
        friction::follow(self.system, &s.iterate.mu, &s.residual.row_velocity);
    }

    /// The residual of the iterate in the terms of [`KktResidual`], with the matrices filled there.
    /// Measures the residual of each equation, less the rounding of the positions that it is made
    /// of, as a share of the size of its terms: `|W| u + |J^T| |mu|` and `|J| u + |R mu|` with the
    /// velocities `u = |v+| + |v| + |a|/g` of each coordinate.
    pub(crate) fn measure(&mut self) -> KktResidual {
        self.find_row_velocities();
        // Beside contacts, rows of bounded force are solved with them, to their residual as a share
        // of the largest velocity without impulses.
        let contacts = step::listed(self.system);
        let beside = contacts.map(|c| Beside {
            tolerances: (self.origin.tolerance / c.reached(&self.system.options)).min(1.0),
            free_velocity: c.largest_free_velocity(),
        });
        find_speeds(self.system, self.end, self.work);
        let s = &mut *self.work;
        let missed = s.residual.missed(&s.iterate);
        let tolerance = self.origin.tolerance;
        s.sizes.measure(
            self.system.assembler.system(),
            missed,
            tolerance,
            beside,
            |terms| {
                if let Some(c) = contacts {
                    c.add_sizes(&s.iterate.contacts, terms);
                }
            },
        )
    }

    /// The energy of the velocities that the residual asks for, equation by equation (J).
    pub(super) fn missed_energy(&mut self) -> f64 {
        self.find_row_velocities();
        find_speeds(self.system, self.end, self.work);
        let s = &mut *self.work;
        let missed = s.residual.missed(&s.iterate);
        s.sizes.missed_energy(self.system.assembler.system(), missed)
    }

    /// Takes Newton's step: all of it while the merit decreases or for a few steps more, since what
    /// decreases one part of the residual may increase another for an iteration; if that did not
    /// pay, from the best iterate as far as the merit decreases. False, at the best iterate, if it
    /// does not decrease at all.
    pub(crate) fn search(&mut self, watch: &mut Watch, newton: &mut NewtonReport) -> Result<bool, Error> {
        let s = &mut *self.work;
        s.accepted.velocity.clone_from(&s.iterate.velocity);
        s.accepted.mu.clone_from(&s.iterate.mu);
        s.accepted.contacts.clone_from(&s.iterate.contacts);
        let whole = self.go(1.0)?;
        if whole <= (1.0 - 2.0 * DECREASE) * watch.best {
            self.keep_best(watch, whole);
            return Ok(true);
        }
        let (tentative, rise) = match self.origin.deformations {
            Some(_) => (TENTATIVE_WITH_SPRINGS, LARGEST_RISE_WITH_SPRINGS),
            None => (TENTATIVE, LARGEST_RISE),
        };
        if !watch.searching && watch.tentative < tentative && whole <= rise * watch.best {
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

    /// Takes a step by a shifted matrix, from which the search begins anew: where the matrix is
    /// indefinite the equations may be missed by less than on the way to where they hold. False,
    /// at the last iterate, where a mapping is not defined.
    pub(super) fn leave(&mut self, watch: &mut Watch) -> Result<bool, Error> {
        let s = &mut *self.work;
        s.accepted.velocity.clone_from(&s.iterate.velocity);
        s.accepted.mu.clone_from(&s.iterate.mu);
        s.accepted.contacts.clone_from(&s.iterate.contacts);
        let merit = self.go(1.0)?;
        if merit.is_finite() {
            self.keep_best(watch, merit);
            return Ok(true);
        }
        self.return_to_best()?;
        Ok(false)
    }

    /// Goes a share of Newton's step from the last iterate, and returns the merit there; infinite
    /// where a mapping is not defined.
    pub(super) fn go(&mut self, share: f64) -> Result<f64, Error> {
        let s = &mut *self.work;
        for ((end, old), change) in s
            .iterate
            .velocity
            .iter_mut()
            .zip(&s.accepted.velocity)
            .zip(&self.system.solution.x)
        {
            *end = old + share * change;
        }
        let rows = (&mut s.iterate.mu, &s.accepted.mu, &self.system.solution.mu);
        let contacts = (&mut s.iterate.contacts, &s.accepted.contacts, &s.contact_impulses);
        for (list, old, new) in [rows, contacts] {
            for ((mu, old), new) in list.iter_mut().zip(old).zip(new) {
                *mu = if share == 1.0 {
                    *new
                } else {
                    old + share * (new - old)
                };
            }
        }
        s.iterate.whole = share == 1.0 && !s.mixing.leaves_laws;
        s.loads.take_share(share);
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
        let s = &mut *self.work;
        s.best.velocity.clone_from(&s.iterate.velocity);
        s.best.mu.clone_from(&s.iterate.mu);
        s.best.contacts.clone_from(&s.iterate.contacts);
        s.best.whole = s.iterate.whole;
    }

    pub(crate) fn return_to_best(&mut self) -> Result<(), Error> {
        let s = &mut *self.work;
        s.iterate.velocity.clone_from(&s.best.velocity);
        s.iterate.mu.clone_from(&s.best.mu);
        s.iterate.contacts.clone_from(&s.best.contacts);
        s.iterate.whole = s.best.whole;
        self.place()?;
        self.find_residual()
    }
}

/// Finds the velocities that the terms of the equations are made of, at an iterate.
fn find_speeds(system: &System, end: &Motion, s: &mut NewtonWorkspace) {
    let velocities = IterateVelocities {
        start: &s.equations.velocity,
        end: &s.iterate.velocity,
        acceleration: &s.relation.acceleration,
        acceleration_gain: s.relation.acceleration_gain,
        displacement_gain: s.relation.displacement_gain,
    };
    s.sizes.find_speeds(&system.model, &end.state, velocities);
}
