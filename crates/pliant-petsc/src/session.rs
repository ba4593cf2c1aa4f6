//! Begin and end of PETSc in a process.

use crate::Error;
#[cfg(feature = "petsc")]
use crate::ffi::{Library, Reduction};
#[cfg(feature = "petsc")]
use pliant_model::Processes;
#[cfg(feature = "petsc")]
use std::sync::{Arc, Mutex, PoisonError};

/// PETSc and MPI as long as it lives: begun by the first session of a process, ended with the last
/// one and the solvers that were made in the meantime. All calls are from the thread that began it.
#[derive(Debug)]
pub struct Session {
    #[cfg(feature = "petsc")]
    library: Arc<Library>,
    rank: usize,
    size: usize,
}

/// Work and memory of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Unknowns of the last system whose rows are this process's.
    pub rows: usize,
    /// Entries of the matrix in these rows.
    pub entries: usize,
    /// Unknowns of other processes in these rows: each product of the matrix with a vector receives
    /// so many numbers.
    pub received: usize,
}

#[cfg(feature = "petsc")]
impl Session {
    /// Begins PETSc and MPI, or joins the session that there is. Waits for the other processes.
    ///
    /// # Errors
    /// [`Error::Call`] where PETSc or MPI does not begin, [`Error::Ended`] after an end,
    /// [`Error::OtherThread`] while another thread has a session; [`Error::NotBuilt`] without the
    /// feature `petsc`.
    pub fn begin() -> Result<Self, Error> {
        let library = Library::begin()?;
        let (rank, size) = library.rank_and_size()?;
        Ok(Self { library, rank, size })
    }

    pub(crate) fn library(&self) -> Arc<Library> {
        Arc::clone(&self.library)
    }

    /// The processes of the session, among which a model shares its elements out
    /// ([`Model::share_out`](pliant_model::Model::share_out)). Sums are NaN on another thread than
    /// that of the session, and after its end.
    pub fn processes(&self) -> Arc<dyn Processes> {
        Arc::new(AllProcesses {
            rank: self.rank,
            count: self.size,
            room: Mutex::default(),
        })
    }

    /// Waits until all processes call it.
    ///
    /// # Errors
    /// [`Error::Call`], [`Error::OtherThread`].
    pub fn barrier(&self) -> Result<(), Error> {
        self.library.barrier()
    }

    /// The largest of a number over all processes. All must call it.
    ///
    /// # Errors
    /// [`Error::Call`], [`Error::OtherThread`].
    pub fn largest(&self, own: f64) -> Result<f64, Error> {
        let mut out = [0.0];
        self.library.reduce(Reduction::Largest, &[own], &mut out)?;
        Ok(out[0])
    }

    /// The sum of a number over all processes. All must call it.
    ///
    /// # Errors
    /// [`Error::Call`], [`Error::OtherThread`].
    pub fn sum(&self, own: f64) -> Result<f64, Error> {
        let mut out = [0.0];
        self.library.reduce(Reduction::Sum, &[own], &mut out)?;
        Ok(out[0])
    }

    /// Replaces bytes by those of the first process. All must call it.
    ///
    /// # Errors
    /// [`Error::Call`], [`Error::OtherThread`]; [`Error::TooLarge`] beyond 2 GiB.
    pub fn broadcast(&self, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let own = if self.rank == 0 { bytes.len() } else { 0 };
        // Lengths up to 2^53 are exact.
        let length = self.largest(own as f64)? as usize;
        bytes.resize(length, 0);
        match length {
            0 => Ok(()),
            _ => self.library.broadcast(bytes),
        }
    }

    /// The memory that this process holds (bytes).
    ///
    /// # Errors
    /// [`Error::Call`], [`Error::OtherThread`].
    pub fn memory(&self) -> Result<f64, Error> {
        self.library.memory()
    }

    /// Ends all processes at once with an exit code, where one of them cannot go on and the others
    /// would wait for it. It does not come back, but from another thread than that of the session.
    pub fn abort(&self, code: u8) {
        self.library.abort(code);
    }
}

/// The processes of the session of this thread.
#[cfg(feature = "petsc")]
#[derive(Debug)]
struct AllProcesses {
    rank: usize,
    count: usize,
    /// Room for the numbers of this process while they are summed.
    room: Mutex<Vec<f64>>,
}

/// Numbers that are sent together: what messages cost beside their length is nothing then.
#[cfg(feature = "petsc")]
const TOGETHER: usize = 1 << 20;

#[cfg(feature = "petsc")]
impl Processes for AllProcesses {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn sum(&self, values: &mut [f64]) {
        let library = Library::present();
        // A thread that panicked leaves numbers that are written before they are read.
        let mut own = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in values.chunks_mut(TOGETHER) {
            own.clear();
            own.extend_from_slice(piece);
            let summed = library
                .as_ref()
                .is_some_and(|library| library.reduce(Reduction::Sum, &own, piece).is_ok());
            if !summed {
                piece.fill(f64::NAN);
            }
        }
    }
}

#[cfg(not(feature = "petsc"))]
impl Session {
    /// Says that the program was built without PETSc.
    ///
    /// # Errors
    /// [`Error::NotBuilt`].
    pub fn begin() -> Result<Self, Error> {
        Err(Error::NotBuilt)
    }
}

impl Session {
    /// The number of this process, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of processes.
    pub fn size(&self) -> usize {
        self.size
    }
}
