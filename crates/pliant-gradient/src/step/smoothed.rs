//! Steps with smoothed contacts: their solution near a step that was taken.

use super::StepDerivative;
use super::forwards::{Way, solve_forwards};
use crate::GradientError;
use crate::contacts::ContactStart;
use crate::equations::{Equations, Unknown};
use crate::implicit::Implicit;
use crate::kinematics::{gather, scatter};
use crate::taken::{ActiveSet, StepWeights, TakenContact, TakenStep};
use pliant_model::{Problem, State};

/// Share of its terms that an equation misses at a solution, where rounding lets it.
const GOAL: f64 = 1e-13;
/// Iterations at most.
const ITERATIONS: usize = 100;
/// Share of its terms from which iterations end that do not improve them any more.
const ROUNDED: f64 = 1e-9;
/// Share of the largest coordinate that a gap of none is rounded to.
const NO_GAP: f64 = 1e-14;
/// Largest last change of a direction, as a share of it, with which iterations go on.
const DIRECTED: f64 = 1e-5;
/// Share of an iteration below which the barriers cut it short, and the number of such iterations,
/// one after the other, at which another start is taken.
const CUT_SHORT: f64 = 0.2;
const MOST_CUT: usize = 5;
/// The energies to start at, as multiples of the one that is wanted, and the ratio of one to the
/// next lower one, where the equations miss this share of their terms at most.
const HIGHER: [f64; 5] = [1.0, 1e2, 1e4, 1e6, 1e8];
const LOWER: f64 = 10.0;
const NEAR_PATH: f64 = 1e-3;

impl StepDerivative {
    /// Takes a step as [`place`](Self::place) does, and places the derivative of the step with
    /// smoothed contacts from the same start, which has no branches: Signorini's and Coulomb's laws
    /// are on their central path at the energy `kappa` (J),
    ///
    /// ```math
    /// (g + h u_n) f_n = kappa,   (mu r_n, r_t) o (zeta, u_t) = (kappa, 0)
    /// ```
    ///
    /// so that contacts push before they touch, as `near` ones do that carried nothing in the step,
    /// and friction is viscous below the speed `kappa/(mu r_n)`. Which contacts are impacts is that
    /// of the step, and so are rows at a bound. The end of the smoothed step ([`end`](Self::end))
    /// is found by Newton's method from that of the step.
    ///
    /// # Errors
    /// All errors of [`place`](Self::place), [`GradientError::Smoothing`] for an energy that is not
    /// positive, [`GradientError::NotSmoothed`] if the smoothed step is not found.
    pub fn place_smoothed(
        &mut self,
        problem: &Problem,
        step: &TakenStep<'_>,
        near: &[TakenContact],
        energy: f64,
    ) -> Result<(), GradientError> {
        if !(energy > 0.0 && energy.is_finite()) {
            return Err(GradientError::Smoothing { energy });
        }
        let is_free = step.contacts.is_empty() && near.is_empty();
        if step.before.is_some() && !is_free {
            return Err(GradientError::NotBuilt {
                what: "contacts in steps of BDF2".to_owned(),
                why: "their laws are written for implicit Euler",
            });
        }
        if step.stages.is_some() && !is_free {
            return Err(GradientError::NotBuilt {
                what: "smoothed contacts in steps of SDIRK2".to_owned(),
                why: "their path is written for implicit Euler: take `Integrator::Nonlinear`",
            });
        }
        if step.weights != StepWeights::END && !is_free {
            return Err(GradientError::NotBuilt {
                what: "smoothed contacts in steps with weights".to_owned(),
                why: "their path is written for implicit Euler: take `alpha` and `beta` of 1",
            });
        }
        self.place(problem, step)?;
        if is_free {
            return Ok(());
        }
        self.implicit.unplace();
        self.implicit.linearised.laws.bounds_stay = true;
        let found = self.find_smoothed(problem, step, near, energy);
        self.implicit.linearised.laws.bounds_stay = false;
        found?;
        let Implicit {
            equations,
            linearised,
            kept,
            ..
        } = &self.implicit;
        if let Some(row) = linearised
            .laws
            .beyond_bound(&equations.problem, &kept.multipliers)
        {
            return Err(GradientError::NotBuilt {
                what: format!("the smoothed step with {}", equations.problem.describe_row(row)),
                why: "its force is beyond its bound there, at which the step itself has it not",
            });
        }
        let largest = step.start.positions.iter().fold(0.0f64, |l, x| l.max(x.abs()));
        let is_at_gap = |c: &&TakenContact| c.law.compliance == 0.0 && c.place.gap.abs() <= NO_GAP * largest;
        self.active = ActiveSet {
            rows_at_bounds: self.rows_at_bounds(),
            smoothed: step.contacts.len() + near.len(),
            at_change: step.contacts.iter().chain(near).filter(is_at_gap).count(),
            ..ActiveSet::default()
        };
        self.is_placed();
        Ok(())
    }

    /// Finds the smoothed step: from the step itself, or by the central path from a higher energy.
    fn find_smoothed(
        &mut self,
        problem: &Problem,
        step: &TakenStep<'_>,
        near: &[TakenContact],
        energy: f64,
    ) -> Result<(), GradientError> {
        let mut found = Ok(None);
        for higher in HIGHER {
            let first = higher * energy;
            let contacts = step.contacts.iter().chain(near);
            let start = ContactStart::of(step).smoothed(first);
            self.begin(problem, step)?;
            self.implicit
                .linearised
                .contacts
                .place(problem, contacts, start)?;
            self.start_smoothed(step)?;
            // An iterate may leave the places where the model is defined.
            found = self.solve_smoothed(step, [first, energy]);
            if matches!(found, Ok(None)) {
                break;
            }
        }
        match found? {
            None => Ok(()),
            Some((place, share)) => Err(GradientError::NotSmoothed {
                energy,
                place: self.describe(place),
                share,
            }),
        }
    }

    /// Positions and velocities of all nodes at the end of the step that is placed: of the smoothed
    /// one after [`place_smoothed`](Self::place_smoothed).
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub fn end(&self) -> Result<&State, GradientError> {
        self.implicit.check_placed()?;
        Ok(&self.implicit.kept.end)
    }

    /// Puts the contacts on their central paths, with the impulses of the step.
    fn start_smoothed(&mut self, step: &TakenStep<'_>) -> Result<(), GradientError> {
        // What an impulse gives is known from a factor, whatever the slacks are.
        self.linearise(step.start)?;
        let rows = self.implicit.equations.rows.len();
        let Implicit {
            linearised, saddle, ..
        } = &mut self.implicit;
        linearised
            .contacts
            .start_smoothed(&step.start.velocities, |row| saddle.given_velocity(rows + row));
        Ok(())
    }

    /// Newton's method for the smoothed step, from the step itself: at its own energy, or at a
    /// higher one from which the path leads down to it. Returns whether it was found; else the
    /// equation that misses most, and its share.
    fn solve_smoothed(
        &mut self,
        step: &TakenStep<'_>,
        [mut present, energy]: [f64; 2],
    ) -> Result<Option<(Option<Unknown>, f64)>, GradientError> {
        let (mut best, mut cut) = (f64::INFINITY, 0);
        let mut missed = (None, f64::INFINITY);
        for _ in 0..ITERATIONS {
            self.linearise(step.start)?;
            missed = self.missed(step);
            let share = missed.1;
            if present > energy {
                if share <= NEAR_PATH {
                    present = (present / LOWER).max(energy);
                    self.implicit.linearised.contacts.set_energy(present);
                }
            } else if share <= GOAL || share <= ROUNDED && share > 0.25 * best {
                return Ok(None);
            } else {
                best = best.min(share);
            }
            let taken = self.improve_smoothed(step)?;
            cut = if taken < CUT_SHORT { cut + 1 } else { 0 };
            if cut > MOST_CUT {
                break;
            }
        }
        Ok(Some(missed))
    }

    /// Takes a step of Newton's method from the equations as they are linearised, as long as the
    /// barriers let it be. Returns the share of it that is.
    fn improve_smoothed(&mut self, step: &TakenStep<'_>) -> Result<f64, GradientError> {
        let relation = self.relation;
        let Implicit {
            equations,
            linearised,
            saddle,
            ..
        } = &mut self.implicit;
        let rows = equations.rows.len();
        let [r, s] = &mut saddle.rhs;
        r.copy_from_slice(&equations.primal);
        let (own, of_contacts) = s.split_at_mut(rows);
        own.copy_from_slice(&equations.rows);
        linearised.laws.clear_at_bounds(own);
        let contacts = &mut linearised.contacts;
        contacts.smoothed_residuals(&step.start.velocities, of_contacts);
        let [moved, velocity, ..] = &mut self.room;
        let way = Way {
            retraction: &self.retraction,
            reach: relation.reach,
        };
        match solve_forwards(&mut self.implicit, &mut self.start_equations, way, moved) {
            // Newton's method comes as near with a direction that is nearly right.
            Ok(_) => {}
            Err(GradientError::NotConverged { change, .. }) if change <= DIRECTED => {}
            Err(e) => return Err(e),
        }
        let Implicit {
            equations,
            linearised,
            saddle,
            kept,
            ..
        } = &mut self.implicit;
        let Equations {
            problem, evaluation, ..
        } = equations;
        let [by_velocity, by_force] = &saddle.answer;
        // Contacts that are mapped are so linearly.
        let changes = &mut kept.contacts;
        scatter(problem, by_velocity, changes);
        evaluation.push_forward(problem, changes);
        let share = linearised.contacts.inside(changes, &by_force[rows..]);
        linearised.contacts.advance(share, changes, &by_force[rows..]);
        for (l, by) in kept.multipliers.iter_mut().zip(by_force) {
            *l += share * by;
        }
        gather(problem, &kept.end.velocities, velocity);
        for (v, by) in velocity.iter_mut().zip(by_velocity) {
            *v += share * by;
        }
        scatter(problem, velocity, &mut kept.end.velocities);
        let ways = moved.iter_mut().zip(&*velocity).zip(&self.ahead);
        ways.for_each(|((d, v), ahead)| *d = relation.reach * v + ahead);
        for node in problem.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let positions = &mut kept.end.positions[node.position_range()];
            positions.copy_from_slice(&step.start.positions[node.position_range()]);
            let size = node.velocity_range().len();
            node.space.retract(positions, &moved[first..first + size]);
        }
        evaluation.propagate(problem, &mut kept.end)?;
        linearised.contacts.set_end(&kept.end.velocities);
        Ok(share)
    }
}
