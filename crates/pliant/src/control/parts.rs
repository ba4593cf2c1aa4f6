//! The parts of a step that stand, in the order in which they were taken.

use super::Conditions;

/// A part that was taken at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtOnce {
    /// Its length (s).
    pub(crate) h: f64,
    /// The time at its end (s), which for halves is that of the whole.
    pub(crate) time: f64,
    pub(crate) conditions: Conditions,
}

/// The parts of the last step.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// None for a part that was not taken by one solution for the whole model: islands by
    /// themselves, or another law.
    list: Vec<Option<AtOnce>>,
}

/// How far parts had come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(usize);

impl Parts {
    /// There are none yet.
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.list.len())
    }

    /// Forgets the parts behind a mark, which do not stand.
    pub(super) fn go_back(&mut self, Mark(mark): Mark) {
        self.list.truncate(mark);
    }

    /// Adds a part that was taken at once.
    pub(super) fn add(&mut self, part: AtOnce) {
        self.list.push(Some(part));
    }

    /// Moves the end of the last part to a time (s).
    pub(super) fn end_at(&mut self, time: f64) {
        if let Some(Some(last)) = self.list.last_mut() {
            last.time = time;
        }
    }

    /// Puts one part that is not to be taken again in the place of those behind a mark.
    pub(super) fn add_other(&mut self, mark: Mark) {
        self.go_back(mark);
        self.list.push(None);
    }

    /// The parts, if there are several, each of which was taken at once.
    pub(crate) fn in_turn(&self) -> Option<Vec<AtOnce>> {
        if self.list.len() < 2 {
            return None;
        }
        self.list.iter().copied().collect()
    }
}
