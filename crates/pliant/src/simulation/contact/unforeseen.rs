//! Contacts that nobody foresaw: what is held does not fall, and what is hit stops, so things may meet that a search with the velocities of free fall
//! left out. Before a step stands it is looked at with the velocities that it has come to; where things went through each other it is taken again, with those contacts.

use super::{Contacts, check};
use crate::Error;
use crate::simulation::Simulation;
use pliant_model::{Model, Space, State};

/// So often a step is taken again.
const MOST_SEARCHES: usize = 10;

/// The start of a step, with velocities by which everything came to its end; bodies turn with the angular velocity of the end.
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
            }
        } else {
            for ((v, a), b) in velocities.iter_mut().zip(from).zip(to) {
                *v = (b - a) / h;
            }
        }
    }
}

impl Contacts {
    /// A step begins, with the contacts that were found for it.
    pub(crate) fn foresee_nothing(&mut self) {
        (self.searches, self.unforeseen_count) = (0, 0);
    }

    /// Takes the contacts that nobody foresaw into those of the step, which is to be taken again; whether it may be.
    pub(crate) fn take_unforeseen(&mut self) -> bool {
        if self.searches == MOST_SEARCHES {
            return false;
        }
        self.searches += 1;
        for i in 0..self.unforeseen.len() {
            self.list.take(&self.unforeseen, i);
        }
        self.unforeseen_count += self.unforeseen.len();
        self.unforeseen.clear();
        true
    }
}

impl Simulation {
    /// Whether things went through each other in the step that has just been made, and that nobody foresaw.
    pub(crate) fn look_again(&mut self, h: f64) -> Result<(), Error> {
        let Some(mut c) = self.system.contacts.take() else {
            return Ok(());
        };
        let found = self.look_for_unforeseen(&mut c, h);
        self.system.contacts = Some(c);
        found
    }

    fn look_for_unforeseen(&mut self, c: &mut Contacts, h: f64) -> Result<(), Error> {
        if self.options.accept_failed_steps && c.searches == MOST_SEARCHES {
            return Ok(());
        }
        if c.memory.is_empty() {
            c.finder.save(&mut c.memory);
        }
        on_the_way(
            &self.system.model,
            &self.start.state,
            &self.motion.state,
            h,
            &mut c.foreseen,
        );
        c.unforeseen.clear();
        c.finder
            .find_unforeseen(&self.system.model, &c.foreseen, h, &mut c.unforeseen)?;
        let (sleep, assembler) = (&self.system.sleep, &self.system.assembler);
        sleep.leave_out(assembler, &mut c.unforeseen);
        c.unforeseen.contacts().iter().try_for_each(check)?;
        let Some(first) = c.unforeseen.contacts().first() else {
            return Ok(());
        };
        // The memory of before does not know them.
        c.found_in_step = true;
        let [a, b] = first.sides.map(|s| c.finder.name(s));
        Err(Error::ContactsNotForeseen {
            contact: format!("{a} and {b}"),
            time: self.motion.time,
            searches: MOST_SEARCHES,
        })
    }
}
