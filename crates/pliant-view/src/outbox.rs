//! Messages that the run has for the page: of everything the newest alone, so that nothing piles up.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A message to the page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outgoing {
    Text(String),
    Frame(Vec<u8>),
}

#[derive(Debug, Default)]
struct Slots {
    scene: Option<String>,
    state: Option<String>,
    refused: Option<String>,
    frame: Option<Vec<u8>>,
    /// The number of the frame that the page has not drawn yet.
    unseen: Option<u64>,
    /// The number of the page that all of this is for.
    page: u64,
}

/// One place for each kind of message.
#[derive(Debug, Default)]
pub(crate) struct Outbox(Mutex<Slots>);

impl Outbox {
    /// A thread that panicked has left whole messages.
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all: another page has come, to which all messages go from now on. Of two that come at
    /// once, the later one keeps it.
    pub(crate) fn begin(&self, page: u64) {
        let mut slots = self.slots();
        let page = page.max(slots.page);
        *slots = Slots {
            page,
            ..Slots::default()
        };
    }

    /// A scene, of which no frame is under way.
    pub(crate) fn put_scene(&self, text: String) {
        let mut slots = self.slots();
        slots.scene = Some(text);
        (slots.frame, slots.unseen) = (None, None);
    }

    pub(crate) fn put_state(&self, text: String) {
        self.slots().state = Some(text);
    }

    pub(crate) fn refuse(&self, text: String) {
        self.slots().refused = Some(text);
    }

    /// Whether the page has drawn all that it was sent.
    pub(crate) fn wants_frame(&self) -> bool {
        self.slots().unseen.is_none()
    }

    pub(crate) fn put_frame(&self, number: u64, frame: Vec<u8>) {
        let mut slots = self.slots();
        (slots.frame, slots.unseen) = (Some(frame), Some(number));
    }

    /// The page has drawn a frame. One that it was not sent counts for nothing.
    pub(crate) fn shown(&self, number: u64) {
        let mut slots = self.slots();
        if slots.unseen == Some(number) && slots.frame.is_none() {
            slots.unseen = None;
        }
    }

    /// The next message for a page: scenes ahead of states, states ahead of frames. There is none
    /// for a page that another one has followed, or that the run does not know yet.
    pub(crate) fn take(&self, page: u64) -> Option<Outgoing> {
        let mut slots = self.slots();
        if slots.page != page {
            return None;
        }
        let text = slots.scene.take().or_else(|| slots.state.take());
        let text = text.or_else(|| slots.refused.take());
        text.map(Outgoing::Text)
            .or_else(|| slots.frame.take().map(Outgoing::Frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_piles_up() {
        let outbox = Outbox::default();
        assert!(outbox.wants_frame());
        outbox.put_frame(1, vec![1]);
        assert!(!outbox.wants_frame());
        outbox.put_state("old".into());
        outbox.put_state("new".into());
        assert_eq!(outbox.take(0), Some(Outgoing::Text("new".into())));
        // What was not sent yet cannot have been drawn.
        outbox.shown(1);
        assert!(!outbox.wants_frame());
        assert_eq!(outbox.take(0), Some(Outgoing::Frame(vec![1])));
        assert_eq!(outbox.take(0), None);
        outbox.shown(2);
        assert!(!outbox.wants_frame());
        outbox.shown(1);
        assert!(outbox.wants_frame());
    }

    #[test]
    fn messages_are_for_the_page_that_the_run_knows_as_the_last() {
        let outbox = Outbox::default();
        outbox.begin(1);
        outbox.put_scene("of the first".into());
        outbox.begin(2);
        assert_eq!(outbox.take(2), None);
        outbox.put_scene("of the second".into());
        // A page that has come, and of which the run does not know yet, gets nothing of another's.
        assert_eq!((outbox.take(1), outbox.take(3)), (None, None));
        outbox.begin(1);
        outbox.put_scene("of the second".into());
        assert_eq!(outbox.take(2), Some(Outgoing::Text("of the second".into())));
    }
}
