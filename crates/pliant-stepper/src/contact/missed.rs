//! Contacts that the search missed: a held body does not fall, and one that is hit stops, so
//! contacts may close that a search with the velocities of free fall left out. Before a step stands
//! its way is searched with the velocities that it has come to; where bodies went through each
//! other it is taken again, with those contacts.

use super::check;
use super::detect::{Detection, Search};
use crate::Error;
use crate::Motion;
use pliant_dense::{Vec3, rotation, vec3};
use pliant_model::{Model, Space, State};
use std::f64::consts::TAU;

/// Searches at the first iterates of one step at most that may find missed contacts.
const MOST_EARLY: usize = 5;
/// Searches for missed contacts after one step at most.
const MOST_SEARCHES: usize = 10;
/// Number of searches after which the end of the step is not searched any more: what shapes overlap
/// there then, the next step corrects.
const MOST_AT_END: usize = 4;

/// The start of a step, with velocities by which everything came within `h` (s) to its end, or to
/// an iterate: bodies turn evenly, by as many full turns as the angular velocity there says.
fn on_the_way(model: &Model, start: &State, end: &State, h: f64, out: &mut State) {
    out.positions.clone_from(&start.positions);
    out.velocities.clone_from(&end.velocities);
    for node in model.nodes().iter().filter(|n| n.space.is_spatial()) {
        let (from, to) = (
            &start.positions[node.position_range()],
            &end.positions[node.position_range()],
        );
        let velocities = &mut out.velocities[node.velocity_range()];
        if node.space == Space::Rigid3 {
            let poses = from.as_chunks::<7>().0.iter().zip(to.as_chunks::<7>().0);
            for ((a, b), v) in poses.zip(velocities.as_chunks_mut::<6>().0) {
                for k in 0..3 {
                    v[k] = (b[k] - a[k]) / h;
                }
                let turn = way_turned(a, b, vec3(v, 3) * h) / h;
                v[3..].copy_from_slice(turn.as_slice());
            }
        } else {
            for ((v, a), b) in velocities.iter_mut().zip(from).zip(to) {
                *v = (b - a) / h;
            }
        }
    }
}

/// The rotation vector, in body axes, from one pose to another: of all that lead there the one
/// nearest to `guess` along its axis.
fn way_turned(from: &[f64; 7], to: &[f64; 7], guess: Vec3) -> Vec3 {
    let q = |x: &[f64; 7]| [x[3], x[4], x[5], x[6]];
    let turn = rotation::log(rotation::multiply(rotation::conjugate(q(from)), q(to)));
    let Some(axis) = turn.try_normalize(0.0).or_else(|| guess.try_normalize(0.0)) else {
        return turn;
    };
    let turns = ((guess.dot(&axis) - turn.norm()) / TAU).round();
    turn + axis * (turns * TAU)
}

/// The time that an iterate of a step stands for, and the horizon of the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// Time from the start of the step to the iterate (s).
    pub(crate) ahead: f64,
    /// Length of the step (s), through which all goes on with the mean velocities until then.
    pub(crate) horizon: f64,
}

impl Detection {
    /// A step begins, with the contacts that are found for it.
    pub(crate) fn begin(&mut self) {
        let missed = &mut self.missed;
        (missed.searches, missed.early, missed.count) = (0, 0, 0);
    }

    /// Whether the step was tried before, with fewer contacts.
    pub(super) fn is_taken_again(&self) -> bool {
        self.missed.searches + self.missed.early > 0
    }

    /// Takes the missed contacts into those of the step, which is to be taken again; whether it may
    /// be.
    pub(crate) fn take_missed(&mut self) -> bool {
        let missed = &mut self.missed;
        if missed.searches == MOST_SEARCHES {
            return false;
        }
        match missed.is_early {
            true => missed.early += 1,
            false => missed.searches += 1,
        }
        for i in 0..missed.list.len() {
            self.list.take(&missed.list, i);
        }
        missed.count += missed.list.len();
        missed.list.clear();
        true
    }

    /// Looks for contacts that the search missed and that bodies went through on the way from the
    /// start of the step to its end, whose state `search` has.
    ///
    /// # Errors
    /// [`Error::ContactsMissed`] if there are any, unless the step is to be taken as it is
    /// (`accept_failed`); those of the finder.
    pub(super) fn look_for_missed(
        &mut self,
        search: Search<'_>,
        start: &Motion,
        h: f64,
        accept_failed: bool,
    ) -> Result<(), Error> {
        if accept_failed && self.missed.searches == MOST_SEARCHES {
            return Ok(());
        }
        let way = Way { ahead: h, horizon: h };
        let ends = self.missed.searches < MOST_AT_END;
        self.missed.is_early = false;
        self.find_missed(search, start, way, ends)
    }

    /// Looks for such contacts on the way to an iterate of the step, which `search` has: once known
    /// there, they cost one iteration, and not all that are needed without them. What it leaves
    /// out, the search behind the step finds.
    ///
    /// # Errors
    /// [`Error::ContactsMissed`] if there are any; those of the finder.
    pub(super) fn look_for_missed_early(
        &mut self,
        search: Search<'_>,
        start: &Motion,
        way: Way,
    ) -> Result<(), Error> {
        if self.missed.early == MOST_EARLY {
            return Ok(());
        }
        self.missed.is_early = true;
        self.find_missed(search, start, way, true)
    }

    /// Looks for surfaces that pass through each other on the straight way of their corners from
    /// the start of the step to its end, which `search` has.
    ///
    /// # Errors
    /// [`Error::ContactsMissed`] if a contact would have held them apart that was not listed, else
    /// [`Error::SurfacesCross`]; those of the finder.
    pub(super) fn look_for_crossed(
        &mut self,
        search: Search<'_>,
        start: &Motion,
        h: f64,
    ) -> Result<(), Error> {
        let Self { source, missed, .. } = self;
        on_the_way(search.model, &start.state, search.state, h, &mut source.predicted);
        missed.list.clear();
        missed.is_early = false;
        source.searched = true;
        let (finder, way) = (source.finder.as_mut(), &source.predicted);
        let listed = finder.find_crossed(search.model, way, search.state, h, &mut missed.list)?;
        search.sleep.leave_out(search.assembler, &mut missed.list);
        match (missed.list.contacts().is_empty(), listed) {
            (true, None) => Ok(()),
            (true, Some(sides)) => Err(Error::SurfacesCross {
                contact: self.pair(sides),
                time: start.time,
            }),
            (false, _) => self.refuse_missed(start.time),
        }
    }

    /// Looks for contacts on the way to where `search` is; `ends` if also there.
    fn find_missed(&mut self, search: Search<'_>, start: &Motion, way: Way, ends: bool) -> Result<(), Error> {
        let Self { source, missed, .. } = self;
        let h = way.horizon;
        on_the_way(
            search.model,
            &start.state,
            search.state,
            way.ahead,
            &mut source.predicted,
        );
        missed.list.clear();
        source.searched = true;
        source
            .finder
            .find_missed(search.model, &source.predicted, h, &mut missed.list)?;
        if missed.list.contacts().is_empty() && ends {
            source
                .finder
                .find_entered(search.model, &source.predicted, h, &mut missed.list)?;
        }
        search.sleep.leave_out(search.assembler, &mut missed.list);
        self.refuse_missed(start.time)
    }

    /// Says that there are contacts that were missed, if there are any, in the step from this time
    /// (s).
    fn refuse_missed(&mut self, time: f64) -> Result<(), Error> {
        let missed = &self.missed;
        missed.list.contacts().iter().try_for_each(check)?;
        let Some(first) = missed.list.contacts().first().copied() else {
            return Ok(());
        };
        // The memory of before does not know them.
        self.found_in_step = true;
        // A step that is taken again shows its error to no one, and allocates no name for it.
        let contact = if missed.searches == MOST_SEARCHES {
            self.pair(first.sides)
        } else {
            String::new()
        };
        Err(Error::ContactsMissed {
            contact,
            time,
            searches: MOST_SEARCHES,
        })
    }
}
