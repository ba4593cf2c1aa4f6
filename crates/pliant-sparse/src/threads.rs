//! How many threads a kernel may use: a value that the caller owns, never a global.

use crate::SparseError;
use rayon::prelude::*;
use std::sync::Arc;

/// Threads that factorisations and solves may share. Cheap to clone; the default is the caller's own thread alone.
///
/// No result depends on their number: work is cut into the same pieces, and sums are taken in the same order, for any.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    pool: Option<Arc<rayon::ThreadPool>>,
}

/// Values that are cleared at a time.
const PIECE: usize = 1 << 18;

impl Threads {
    /// The caller's own thread.
    pub fn one() -> Self {
        Self::default()
    }

    /// So many threads, started now and stopped with the last clone; up to one means the caller's own.
    ///
    /// # Errors
    /// [`SparseError::Threads`] if the system refuses to start them.
    pub fn new(count: usize) -> Result<Self, SparseError> {
        if count <= 1 {
            return Ok(Self::one());
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .build()
            .map_err(|e| SparseError::Threads {
                count,
                reason: e.to_string(),
            })?;
        Ok(Self {
            pool: Some(Arc::new(pool)),
        })
    }

    /// Their number.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs something that calls [`Self::join`].
    pub(crate) fn run<T: Send>(&self, what: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(what),
            None => what(),
        }
    }

    /// Does something to every item, several at the same time if there are threads.
    pub fn for_each<T: Send>(&self, items: &mut [T], what: impl Fn(&mut T) + Sync + Send) {
        match &self.pool {
            Some(pool) => pool.install(|| items.par_iter_mut().for_each(what)),
            None => items.iter_mut().for_each(what),
        }
    }

    /// Sets all to zero.
    pub(crate) fn zero(&self, values: &mut [f64]) {
        self.run(|| self.zero_in_pieces(values));
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
    pub(crate) fn join<A: Send, B: Send>(
        &self,
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match self.pool {
            Some(_) => rayon::join(a, b),
            None => {
                let a = a();
                (a, b())
            }
        }
    }
}
