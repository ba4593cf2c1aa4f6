//! A lock that serves those who wait in the order in which they came.
//!
//! A lock of the standard library goes to whoever asks first when it is free: again and again to
//! the thread that takes steps in a loop, while others wait.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A value that one thread uses at a time, in turns.
#[derive(Debug)]
pub(crate) struct FairLock<T> {
    turns: Mutex<Turns>,
    next: Condvar,
    /// Nobody waits for this one: the turn comes first.
    value: Mutex<T>,
}

/// Counts of turns that were drawn, and of those that are over.
#[derive(Debug, Default)]
struct Turns {
    drawn: u64,
    over: u64,
}

/// A panic while the value was used, which left it half changed.
#[derive(Debug)]
pub(crate) struct Broken;

/// The value in one's turn; when it is dropped, the next turn comes.
#[derive(Debug)]
pub(crate) struct FairGuard<'a, T> {
    // Before the turn, so that it is dropped before that ends.
    value: MutexGuard<'a, T>,
    turn: Turn<'a, T>,
}

/// A turn that has come; it is over when this is dropped.
#[derive(Debug)]
struct Turn<'a, T> {
    lock: &'a FairLock<T>,
    number: u64,
}

impl<T: Send> FairLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            turns: Mutex::default(),
            next: Condvar::new(),
            value: Mutex::new(value),
        }
    }

    /// Takes the value in its turn. If others come first, `waiting` is handed what waits for them,
    /// to call it where that holds up nobody.
    pub(crate) fn lock(&self, waiting: impl FnOnce(&(dyn Fn() + Sync))) -> Result<FairGuard<'_, T>, Broken> {
        let turn = self.turn(waiting);
        match self.value.lock() {
            Ok(value) => Ok(FairGuard { value, turn }),
            Err(_) => Err(Broken),
        }
    }

    /// Replaces the value, even one that is broken, and returns it.
    pub(crate) fn replace(&self, value: T, waiting: impl FnOnce(&(dyn Fn() + Sync))) -> T {
        let _turn = self.turn(waiting);
        let mut place = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        self.value.clear_poison();
        std::mem::replace(&mut *place, value)
    }

    /// Draws a turn and waits for it.
    fn turn(&self, waiting: impl FnOnce(&(dyn Fn() + Sync))) -> Turn<'_, T> {
        let mut turns = self.turns();
        let number = turns.drawn;
        turns.drawn += 1;
        let is_next = turns.over == number;
        drop(turns);
        if !is_next {
            waiting(&|| self.wait(number));
            // Whatever became of the call.
            self.wait(number);
        }
        Turn { lock: self, number }
    }

    fn wait(&self, number: u64) {
        let mut turns = self.turns();
        while turns.over != number {
            turns = self.next.wait(turns).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<T> FairLock<T> {
    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> FairGuard<'_, T> {
    /// Whether somebody waits for the next turn.
    pub(crate) fn is_awaited(&self) -> bool {
        self.turn.lock.turns().drawn > self.turn.number + 1
    }
}

impl<T> Deref for FairGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for FairGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let mut turns = self.lock.turns();
        turns.over = self.number + 1;
        let is_awaited = turns.drawn > turns.over;
        drop(turns);
        if is_awaited {
            self.lock.next.notify_all();
        }
    }
}
