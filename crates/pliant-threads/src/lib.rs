//! Threads that kernels may share: a value that the caller owns, never a global.
//!
//! Holds one type, [`Threads`], on which the crates of kernels and of models stand alike. It knows
//! no matrix and no mechanics.
//!
//! ```
//! use pliant_threads::Threads;
//! let threads = Threads::new(2)?;
//! let mut values = [1.0, 2.0, 3.0];
//! threads.for_each(&mut values, |x| *x *= 2.0);
//! assert_eq!((threads.count(), values), (2, [2.0, 4.0, 6.0]));
//! # Ok::<(), pliant_threads::ThreadsError>(())
//! ```

use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Threads that factorisations and solves may share. Cheap to clone; the default is the caller's
/// own thread alone.
///
/// No result depends on their number: work is cut into the same pieces, and sums are taken in the
/// same order, for any. A process that was forked has none of the threads of the process before it:
/// there all is done by the caller's own.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    pool: Option<Arc<Pool>>,
}

/// Threads, and the process that started them.
#[derive(Debug)]
struct Pool {
    process: u32,
    threads: rayon::ThreadPool,
}

/// The system did not start as many threads as were wanted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot start {count} threads: {reason}")]
pub struct ThreadsError {
    /// The number that was wanted.
    pub count: usize,
    /// The reason, in the words of the system.
    pub reason: String,
}

/// Values that are cleared at a time.
const PIECE: usize = 1 << 18;

impl Threads {
    /// The caller's own thread.
    pub fn one() -> Self {
        Self::default()
    }

    /// A number of threads, started now and stopped with the last clone; up to one means the
    /// caller's own.
    ///
    /// # Errors
    /// [`ThreadsError`] if the system refuses to start them.
    pub fn new(count: usize) -> Result<Self, ThreadsError> {
        if count <= 1 {
            return Ok(Self::one());
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .build()
            .map_err(|e| ThreadsError {
                count,
                reason: e.to_string(),
            })?;
        Ok(Self {
            pool: Some(Arc::new(Pool {
                process: std::process::id(),
                threads: pool,
            })),
        })
    }

    /// Their number.
    pub fn count(&self) -> usize {
        self.pool
            .as_ref()
            .map_or(1, |pool| pool.threads.current_num_threads())
    }

    /// The threads of this process.
    fn pool(&self) -> Option<&rayon::ThreadPool> {
        let pool = self.pool.as_ref()?;
        (pool.process == std::process::id()).then_some(&pool.threads)
    }

    /// Runs a function that calls [`Self::join`].
    pub fn run<T: Send>(&self, what: impl FnOnce() -> T + Send) -> T {
        match self.pool() {
            Some(pool) => pool.install(what),
            None => what(),
        }
    }

    /// Applies a function to every item, several at the same time if there are threads.
    pub fn for_each<T: Send>(&self, items: &mut [T], what: impl Fn(&mut T) + Sync + Send) {
        match self.pool() {
            Some(pool) if items.len() > 1 => pool.install(|| items.par_iter_mut().for_each(what)),
            _ => items.iter_mut().for_each(what),
        }
    }

    /// Cuts the values of some items, one after the other, into pieces of at most so many items,
    /// and applies a function to every piece, several at the same time if there are threads.
    /// `start` says where the values of an item begin.
    ///
    /// # Errors
    /// Of the pieces that have one, that of the first.
    ///
    /// # Panics
    /// If there are fewer values than `start` says.
    pub fn for_each_piece<T: Send, E: Send>(
        &self,
        (items, most): (Range<usize>, usize),
        start: impl Fn(usize) -> usize + Sync,
        values: &mut [T],
        what: impl Fn(Range<usize>, &mut [T]) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        if self.pool().is_none() || items.len() <= most {
            return what(items, values);
        }
        self.run(|| self.pieces(items, most.max(1), &start, values, &what))
    }

    fn pieces<T: Send, E: Send>(
        &self,
        items: Range<usize>,
        most: usize,
        start: &(impl Fn(usize) -> usize + Sync),
        values: &mut [T],
        what: &(impl Fn(Range<usize>, &mut [T]) -> Result<(), E> + Sync),
    ) -> Result<(), E> {
        if items.len() <= most {
            return what(items, values);
        }
        let middle = items.start + items.len() / 2;
        let (left, right) = values.split_at_mut(start(middle) - start(items.start));
        let (first, second) = self.join(
            || self.pieces(items.start..middle, most, start, left, what),
            || self.pieces(middle..items.end, most, start, right, what),
        );
        first.and(second)
    }

    /// Sets all to zero.
    pub fn zero(&self, values: &mut [f64]) {
        match values.len() {
            ..=PIECE => values.fill(0.0),
            _ => self.run(|| self.zero_in_pieces(values)),
        }
    }

    fn zero_in_pieces(&self, values: &mut [f64]) {
        if values.len() <= PIECE {
            values.fill(0.0);
            return;
        }
        let (left, right) = values.split_at_mut(values.len() / 2);
        self.join(|| self.zero_in_pieces(left), || self.zero_in_pieces(right));
    }

    /// Does both, at the same time if there are threads.
    pub fn join<A: Send, B: Send>(
        &self,
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match self.pool() {
            Some(_) => rayon::join(a, b),
            None => {
                let a = a();
                (a, b())
            }
        }
    }
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items of one, two, three ... values: every piece gets its own, and the first error by order
    /// is told, whoever is done first.
    #[test]
    fn pieces_are_cut_where_items_begin_and_the_first_error_is_told() {
        let start = |item: usize| item * (item + 1) / 2;
        for count in [1, 2, 3] {
            let threads = Threads::new(count).expect("threads");
            let mut values = vec![0; start(100) - start(3)];
            let told: Result<(), usize> =
                threads.for_each_piece((3..100, 7), start, &mut values, |items, values| {
                    let mut rest = values;
                    for item in items.clone() {
                        let (own, after) = rest.split_at_mut(item + 1);
                        own.fill(item);
                        rest = after;
                    }
                    assert!(rest.is_empty());
                    if items.end > 60 { Err(items.start) } else { Ok(()) }
                });
            let expected = (3..100).flat_map(|item| std::iter::repeat_n(item, item + 1));
            assert!(values.iter().copied().eq(expected));
            let first = told.expect_err("pieces beyond 60");
            assert!(first <= 60, "{first}");
        }
    }
}
