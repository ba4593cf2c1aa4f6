//! The only calls of PETSc and MPI: declarations, and owners of their objects with safe methods.
//!
//! Safety, for all of the module:
//!
//! - **Declarations** are those of the headers of PETSc 3.18 with real numbers of double precision
//!   and indices of 32 bits, and of Open MPI, whose handles are pointers; the build script refuses
//!   other ones.
//! - **Life.** Every owner holds the [`Library`], which is initialised as long as one is alive, so
//!   that handles are valid in all methods and destroyed before PETSc ends.
//! - **Threads.** PETSc and MPI are initialised for calls from one thread. Every method asks
//!   [`Library::enter`], which refuses other threads; an owner that is dropped on another thread
//!   leaks its object. Owners may therefore be sent and shared.
//! - **Lengths.** Slices are as long as PETSc reads or writes; methods compare before they call.
//! - **Collective** calls wait for the other processes. That is no matter of memory.

mod solver;

pub(crate) use solver::{Pivots, Solver};

use crate::Error;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::ThreadId;

type Handle = *mut c_void;
type Code = c_int;
type Int = c_int;

#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

// SAFETY: see the head of the module.
unsafe extern "C" {
    static PETSC_COMM_WORLD: Handle;
    static ompi_mpi_comm_self: Opaque;
    static ompi_mpi_double: Opaque;
    static ompi_mpi_byte: Opaque;
    static ompi_mpi_op_sum: Opaque;
    static ompi_mpi_op_max: Opaque;
    static ompi_mpi_op_min: Opaque;

    fn PetscInitializeNoArguments() -> Code;
    fn PetscFinalize() -> Code;
    fn PetscOptionsSetValue(options: Handle, name: *const c_char, value: *const c_char) -> Code;
    fn PetscErrorMessage(code: c_int, text: *mut *const c_char, specific: *mut *mut c_char) -> Code;
    fn PetscPushErrorHandler(handler: *const c_void, context: *mut c_void) -> Code;
    fn PetscReturnErrorHandler();
    fn PetscMemoryGetCurrentUsage(bytes: *mut f64) -> Code;

    fn MPI_Comm_rank(comm: Handle, rank: *mut c_int) -> c_int;
    fn MPI_Comm_size(comm: Handle, size: *mut c_int) -> c_int;
    fn MPI_Barrier(comm: Handle) -> c_int;
    fn MPI_Bcast(
        buffer: *mut c_void,
        count: c_int,
        datatype: *const Opaque,
        root: c_int,
        comm: Handle,
    ) -> c_int;
    fn MPI_Abort(comm: Handle, code: c_int) -> c_int;
    fn MPI_Allreduce(
        from: *const c_void,
        to: *mut c_void,
        count: c_int,
        datatype: *const Opaque,
        op: *const Opaque,
        comm: Handle,
    ) -> c_int;

    fn MatCreate(comm: Handle, out: *mut Handle) -> Code;
    fn MatDestroy(mat: *mut Handle) -> Code;
    fn MatSetSizes(mat: Handle, local_rows: Int, local_columns: Int, rows: Int, columns: Int) -> Code;
    fn MatSetType(mat: Handle, name: *const c_char) -> Code;
    fn MatSetBlockSize(mat: Handle, size: Int) -> Code;
    fn MatSetOption(mat: Handle, option: c_int, value: c_int) -> Code;
    fn MatSetPreallocationCOO(mat: Handle, count: isize, rows: *mut Int, columns: *mut Int) -> Code;
    fn MatSetValuesCOO(mat: Handle, values: *const f64, mode: c_int) -> Code;
    fn MatCreateVecs(mat: Handle, right: *mut Handle, left: *mut Handle) -> Code;
    fn MatGetDiagonal(mat: Handle, out: Handle) -> Code;
    fn MatDiagonalScale(mat: Handle, rows: Handle, columns: Handle) -> Code;
    fn MatMult(mat: Handle, x: Handle, y: Handle) -> Code;
    fn MatSetNearNullSpace(mat: Handle, space: Handle) -> Code;
    fn MatNullSpaceCreate(
        comm: Handle,
        constant: c_int,
        count: Int,
        vectors: *const Handle,
        out: *mut Handle,
    ) -> Code;
    fn MatNullSpaceDestroy(space: *mut Handle) -> Code;
    fn MatMumpsSetIcntl(mat: Handle, index: Int, value: Int) -> Code;
    fn MatMumpsSetCntl(mat: Handle, index: Int, value: f64) -> Code;
    fn MatMumpsGetInfog(mat: Handle, index: Int, value: *mut Int) -> Code;

    fn VecDestroy(vec: *mut Handle) -> Code;
    fn VecGetLocalSize(vec: Handle, size: *mut Int) -> Code;
    fn VecGetArray(vec: Handle, values: *mut *mut f64) -> Code;
    fn VecRestoreArray(vec: Handle, values: *mut *mut f64) -> Code;
    fn VecSet(vec: Handle, value: f64) -> Code;
    fn VecNorm(vec: Handle, kind: c_int, value: *mut f64) -> Code;
    fn VecCreateSeq(comm: Handle, size: Int, out: *mut Handle) -> Code;
    fn ISCreateGeneral(comm: Handle, size: Int, indices: *const Int, mode: c_int, out: *mut Handle) -> Code;
    fn ISDestroy(is: *mut Handle) -> Code;
    fn VecScatterCreate(from: Handle, at: Handle, to: Handle, at_to: Handle, out: *mut Handle) -> Code;
    fn VecScatterCreateToAll(from: Handle, scatter: *mut Handle, to: *mut Handle) -> Code;
    fn VecScatterBegin(scatter: Handle, from: Handle, to: Handle, insert: c_int, mode: c_int) -> Code;
    fn VecScatterEnd(scatter: Handle, from: Handle, to: Handle, insert: c_int, mode: c_int) -> Code;
    fn VecScatterDestroy(scatter: *mut Handle) -> Code;

    fn KSPCreate(comm: Handle, out: *mut Handle) -> Code;
    fn KSPDestroy(ksp: *mut Handle) -> Code;
    fn KSPSetType(ksp: Handle, name: *const c_char) -> Code;
    fn KSPGetPC(ksp: Handle, pc: *mut Handle) -> Code;
    fn KSPSetOperators(ksp: Handle, a: Handle, p: Handle) -> Code;
    fn KSPSetTolerances(ksp: Handle, relative: f64, absolute: f64, divergence: f64, most: Int) -> Code;
    fn KSPSetNormType(ksp: Handle, norm: c_int) -> Code;
    fn KSPSetFromOptions(ksp: Handle) -> Code;
    fn KSPSetUp(ksp: Handle) -> Code;
    fn KSPSolve(ksp: Handle, b: Handle, x: Handle) -> Code;
    fn KSPGetConvergedReason(ksp: Handle, reason: *mut c_int) -> Code;
    fn KSPGetIterationNumber(ksp: Handle, count: *mut Int) -> Code;
    fn PCSetType(pc: Handle, name: *const c_char) -> Code;
    fn PCFactorSetMatSolverType(pc: Handle, name: *const c_char) -> Code;
    fn PCFactorSetUpMatSolverType(pc: Handle) -> Code;
    fn PCFactorGetMatrix(pc: Handle, mat: *mut Handle) -> Code;
    fn PCGetFailedReason(pc: Handle, reason: *mut c_int) -> Code;
}

const INSERT_VALUES: c_int = 1;
const ADD_VALUES: c_int = 2;
const MAT_SYMMETRIC: c_int = 1;
const SCATTER_FORWARD: c_int = 0;
const SCATTER_REVERSE: c_int = 1;
const NORM_2: c_int = 1;
const PETSC_COPY_VALUES: c_int = 0;
const KSP_NORM_UNPRECONDITIONED: c_int = 2;

/// Whether PETSc was begun in this process, and the library as long as something holds it.
static BEGUN: AtomicBool = AtomicBool::new(false);
static ALIVE: Mutex<Weak<Library>> = Mutex::new(Weak::new());

fn check(call: &'static str, code: Code) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    let mut text = null();
    // SAFETY: PETSc writes a pointer to a constant text, or null; the second pointer may be null.
    let known = unsafe { PetscErrorMessage(code, &mut text, null_mut()) } == 0 && !text.is_null();
    let message = match known {
        // SAFETY: a text of PETSc ends with zero and lives as long as the program.
        true => unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .trim()
            .to_owned(),
        false => "an unknown error".to_owned(),
    };
    Err(Error::Call { call, code, message })
}

/// `count` as an index of PETSc.
pub(crate) fn index(what: &'static str, count: usize) -> Result<Int, Error> {
    Int::try_from(count).map_err(|_| Error::TooLarge { what, count })
}

fn same_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    match expected == found {
        true => Ok(()),
        false => Err(Error::Size {
            what,
            expected,
            found,
        }),
    }
}

/// How numbers of all processes become one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reduction {
    Sum,
    Least,
    Largest,
}

/// PETSc and MPI, initialised.
#[derive(Debug)]
pub(crate) struct Library {
    thread: ThreadId,
}

impl Library {
    /// Begins PETSc, or joins what has begun and has not ended.
    pub(crate) fn begin() -> Result<Arc<Self>, Error> {
        let mut alive = ALIVE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = alive.upgrade() {
            library.enter()?;
            return Ok(library);
        }
        if BEGUN.swap(true, Ordering::SeqCst) {
            return Err(Error::Ended);
        }
        // SAFETY: the first calls, once in the process; the texts are constant and end with zero,
        // and the database of options may be null, which is the global one. Signals stay with the
        // program, and errors come back as codes.
        unsafe {
            let name = c"-no_signal_handler".as_ptr();
            check(
                "PetscOptionsSetValue",
                PetscOptionsSetValue(null_mut(), name, c"true".as_ptr()),
            )?;
            check("PetscInitialize", PetscInitializeNoArguments())?;
            let handler = PetscReturnErrorHandler as *const () as *const c_void;
            check(
                "PetscPushErrorHandler",
                PetscPushErrorHandler(handler, null_mut()),
            )?;
        }
        let library = Arc::new(Self {
            thread: std::thread::current().id(),
        });
        *alive = Arc::downgrade(&library);
        Ok(library)
    }

    /// The library that has begun on this thread, if one has.
    pub(crate) fn present() -> Option<Arc<Self>> {
        let alive = ALIVE.lock().unwrap_or_else(PoisonError::into_inner);
        alive.upgrade().filter(|library| library.enter().is_ok())
    }

    /// Refuses threads that may not call.
    fn enter(&self) -> Result<(), Error> {
        match std::thread::current().id() == self.thread {
            true => Ok(()),
            false => Err(Error::OtherThread),
        }
    }

    fn communicator(&self) -> Result<Handle, Error> {
        self.enter()?;
        // SAFETY: PETSc has written it when it was initialised, and nobody writes it later.
        Ok(unsafe { PETSC_COMM_WORLD })
    }

    /// Number of this process and of all processes.
    pub(crate) fn rank_and_size(&self) -> Result<(usize, usize), Error> {
        let comm = self.communicator()?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI writes one number each.
        unsafe {
            check("MPI_Comm_rank", MPI_Comm_rank(comm, &mut rank))?;
            check("MPI_Comm_size", MPI_Comm_size(comm, &mut size))?;
        }
        Ok((rank as usize, size as usize))
    }

    /// Waits until all processes are here.
    pub(crate) fn barrier(&self) -> Result<(), Error> {
        // SAFETY: a communicator that is alive.
        check("MPI_Barrier", unsafe { MPI_Barrier(self.communicator()?) })
    }

    /// Ends all processes with a code; does not come back.
    pub(crate) fn abort(&self, code: u8) {
        if let Ok(comm) = self.communicator() {
            // SAFETY: a communicator that is alive.
            unsafe { MPI_Abort(comm, code.into()) };
        }
    }

    /// Numbers of all processes, one by one in `out`.
    pub(crate) fn reduce(&self, how: Reduction, own: &[f64], out: &mut [f64]) -> Result<(), Error> {
        let comm = self.communicator()?;
        same_length("reduced numbers", own.len(), out.len())?;
        let count = index("reduced numbers", own.len())?;
        let op = match how {
            Reduction::Sum => &raw const ompi_mpi_op_sum,
            Reduction::Least => &raw const ompi_mpi_op_min,
            Reduction::Largest => &raw const ompi_mpi_op_max,
        };
        let (from, to) = (own.as_ptr().cast(), out.as_mut_ptr().cast());
        // SAFETY: both buffers have `count` numbers of double precision and do not overlap.
        check("MPI_Allreduce", unsafe {
            MPI_Allreduce(from, to, count, &raw const ompi_mpi_double, op, comm)
        })
    }

    /// The bytes of the first process, in the buffers of all.
    pub(crate) fn broadcast(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let comm = self.communicator()?;
        let count = index("bytes", bytes.len())?;
        // SAFETY: a buffer of `count` bytes.
        check("MPI_Bcast", unsafe {
            MPI_Bcast(
                bytes.as_mut_ptr().cast(),
                count,
                &raw const ompi_mpi_byte,
                0,
                comm,
            )
        })
    }

    /// Memory that this process holds (bytes).
    pub(crate) fn memory(&self) -> Result<f64, Error> {
        self.enter()?;
        let mut bytes = 0.0;
        // SAFETY: PETSc writes one number.
        check("PetscMemoryGetCurrentUsage", unsafe {
            PetscMemoryGetCurrentUsage(&mut bytes)
        })?;
        Ok(bytes)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The others wait for what this process was about to do, and PETSc's end waits for
            // them.
            self.abort(101);
        }
        if self.enter().is_ok() {
            // SAFETY: nothing holds the library any more, so that no object of PETSc is left.
            unsafe { PetscFinalize() };
        }
    }
}

/// An object of PETSc and how it is destroyed.
#[derive(Debug)]
struct Owner {
    handle: Handle,
    destroy: unsafe extern "C" fn(*mut Handle) -> Code,
    library: Arc<Library>,
}

// SAFETY: the handle is used and destroyed on the thread of the library alone: all methods ask
// `Library::enter` first, and so does `drop`.
unsafe impl Send for Owner {}

// SAFETY: as above: of all threads that share an owner, one alone comes to the handle.
unsafe impl Sync for Owner {}

impl Owner {
    /// The handle, on the thread of the library.
    fn get(&self) -> Result<Handle, Error> {
        self.library.enter()?;
        Ok(self.handle)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if self.library.enter().is_ok() {
            // SAFETY: the handle is alive, of the kind that `destroy` is for, and not used again.
            unsafe { (self.destroy)(&mut self.handle) };
        }
    }
}

/// A vector that is spread over the processes, or one of this process alone.
#[derive(Debug)]
pub(crate) struct Vector(Owner);

impl Vector {
    /// Calls a function with the numbers of this process.
    pub(crate) fn with<T>(&mut self, function: impl FnOnce(&mut [f64]) -> T) -> Result<T, Error> {
        let handle = self.0.get()?;
        let (mut size, mut values) = (0, null_mut());
        // SAFETY: PETSc writes a number and a pointer to as many numbers, which are this process's
        // until they are restored.
        unsafe {
            check("VecGetLocalSize", VecGetLocalSize(handle, &mut size))?;
            check("VecGetArray", VecGetArray(handle, &mut values))?;
        }
        let out = match values.is_null() || size <= 0 {
            true => function(&mut []),
            // SAFETY: as above; `&mut self` keeps others from them.
            false => function(unsafe { std::slice::from_raw_parts_mut(values, size as usize) }),
        };
        // SAFETY: the pointer that PETSc gave.
        check("VecRestoreArray", unsafe { VecRestoreArray(handle, &mut values) })?;
        Ok(out)
    }
}

impl Vector {
    /// The Euclidean norm over all processes. Collective.
    pub(crate) fn norm(&self) -> Result<f64, Error> {
        let mut norm = 0.0;
        // SAFETY: PETSc writes one number.
        check("VecNorm", unsafe { VecNorm(self.0.get()?, NORM_2, &mut norm) })?;
        Ok(norm)
    }

    /// Sets all numbers to zero.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        // SAFETY: a vector that is alive.
        check("VecSet", unsafe { VecSet(self.0.get()?, 0.0) })
    }
}

/// A square sparse matrix whose rows are spread over the processes.
#[derive(Debug)]
pub(crate) struct Matrix {
    owner: Owner,
    /// Entries that this process gives.
    entries: usize,
}

impl Matrix {
    /// A symmetric matrix of zeros with given places of this process's entries, by row and column
    /// of the whole matrix; entries of one place are added up, also of several processes. Of
    /// `rows_here` rows on this process. Collective.
    pub(crate) fn new(
        library: &Arc<Library>,
        rows_here: usize,
        block: usize,
        mut rows: Vec<Int>,
        mut columns: Vec<Int>,
    ) -> Result<Self, Error> {
        let comm = library.communicator()?;
        same_length("columns of entries", rows.len(), columns.len())?;
        let entries = rows.len();
        let (here, block) = (index("rows", rows_here)?, index("rows of a block", block)?);
        let count = isize::try_from(entries).map_err(|_| Error::TooLarge {
            what: "entries",
            count: entries,
        })?;
        let mut handle = null_mut();
        // SAFETY: PETSc writes the handle.
        check("MatCreate", unsafe { MatCreate(comm, &mut handle) })?;
        let owner = Owner {
            handle,
            destroy: MatDestroy,
            library: Arc::clone(library),
        };
        const DETERMINE: Int = -1;
        // SAFETY: a matrix that is alive; both lists of indices have `count` numbers, which PETSc
        // may change.
        unsafe {
            check(
                "MatSetSizes",
                MatSetSizes(handle, here, here, DETERMINE, DETERMINE),
            )?;
            check("MatSetType", MatSetType(handle, c"aij".as_ptr()))?;
            check("MatSetBlockSize", MatSetBlockSize(handle, block))?;
            let (rows, columns) = (rows.as_mut_ptr(), columns.as_mut_ptr());
            check(
                "MatSetPreallocationCOO",
                MatSetPreallocationCOO(handle, count, rows, columns),
            )?;
            check("MatSetOption", MatSetOption(handle, MAT_SYMMETRIC, 1))?;
        }
        Ok(Self { owner, entries })
    }

    /// Replaces the values by those of all processes, in the order of the places. Collective.
    pub(crate) fn set(&mut self, values: &[f64]) -> Result<(), Error> {
        let handle = self.owner.get()?;
        same_length("values of entries", self.entries, values.len())?;
        // SAFETY: as many values as places.
        check("MatSetValuesCOO", unsafe {
            MatSetValuesCOO(handle, values.as_ptr(), INSERT_VALUES)
        })?;
        // SAFETY: a matrix that is alive. (New values take the mark away.)
        check("MatSetOption", unsafe { MatSetOption(handle, MAT_SYMMETRIC, 1) })
    }

    /// Multiplies rows and columns by the numbers of a vector. Collective.
    pub(crate) fn scale(&mut self, by: &Vector) -> Result<(), Error> {
        let (handle, by) = (self.owner.get()?, by.0.get()?);
        // SAFETY: handles that are alive; PETSc compares the sizes and writes to the matrix alone.
        unsafe {
            check("MatDiagonalScale", MatDiagonalScale(handle, by, by))?;
            check("MatSetOption", MatSetOption(handle, MAT_SYMMETRIC, 1))
        }
    }

    /// A vector of zeros, spread as the rows are. Collective.
    pub(crate) fn vector(&self) -> Result<Vector, Error> {
        let mut vector = null_mut();
        // SAFETY: PETSc writes one handle; the other pointer may be null.
        check("MatCreateVecs", unsafe {
            MatCreateVecs(self.owner.get()?, &mut vector, null_mut())
        })?;
        Ok(Vector(Owner {
            handle: vector,
            destroy: VecDestroy,
            library: Arc::clone(&self.owner.library),
        }))
    }

    /// `y = A x`. Collective.
    pub(crate) fn multiply(&self, x: &Vector, y: &mut Vector) -> Result<(), Error> {
        // SAFETY: handles that are alive; PETSc compares the sizes, and `x` is not `y`.
        check("MatMult", unsafe {
            MatMult(self.owner.get()?, x.0.get()?, y.0.get()?)
        })
    }

    /// Writes the diagonal. Collective.
    pub(crate) fn diagonal(&self, out: &mut Vector) -> Result<(), Error> {
        // SAFETY: handles that are alive; PETSc compares the sizes.
        check("MatGetDiagonal", unsafe {
            MatGetDiagonal(self.owner.get()?, out.0.get()?)
        })
    }

    /// Tells vectors that the matrix takes to almost nothing; they must be orthonormal. Collective.
    pub(crate) fn set_near_null_space(&mut self, vectors: &[Vector]) -> Result<(), Error> {
        let handle = self.owner.get()?;
        let comm = self.owner.library.communicator()?;
        let list: Vec<Handle> = vectors.iter().map(|v| v.0.handle).collect();
        let count = index("vectors", list.len())?;
        let mut space = null_mut();
        // SAFETY: `count` handles that are alive; PETSc holds them itself from here on, and the
        // matrix the space.
        unsafe {
            check(
                "MatNullSpaceCreate",
                MatNullSpaceCreate(comm, 0, count, list.as_ptr(), &mut space),
            )?;
            let set = check("MatSetNearNullSpace", MatSetNearNullSpace(handle, space));
            check("MatNullSpaceDestroy", MatNullSpaceDestroy(&mut space))?;
            set
        }
    }
}

/// Brings a whole vector to every process.
#[derive(Debug)]
pub(crate) struct Gather {
    scatter: Owner,
    all: Vector,
}

impl Gather {
    /// For vectors that are spread as this one. Collective.
    pub(crate) fn new(vector: &Vector) -> Result<Self, Error> {
        let (mut scatter, mut all) = (null_mut(), null_mut());
        // SAFETY: PETSc writes two handles.
        check("VecScatterCreateToAll", unsafe {
            VecScatterCreateToAll(vector.0.get()?, &mut scatter, &mut all)
        })?;
        let own = |handle, destroy| Owner {
            handle,
            destroy,
            library: Arc::clone(&vector.0.library),
        };
        Ok(Self {
            scatter: own(scatter, VecScatterDestroy),
            all: Vector(own(all, VecDestroy)),
        })
    }

    /// Calls a function with the whole vector. Collective.
    pub(crate) fn with<T>(
        &mut self,
        from: &Vector,
        function: impl FnOnce(&mut [f64]) -> T,
    ) -> Result<T, Error> {
        let (scatter, from, to) = (self.scatter.get()?, from.0.get()?, self.all.0.get()?);
        // SAFETY: handles that are alive, and the vectors that the scatter is for.
        unsafe {
            let begun = VecScatterBegin(scatter, from, to, INSERT_VALUES, SCATTER_FORWARD);
            check("VecScatterBegin", begun)?;
            let ended = VecScatterEnd(scatter, from, to, INSERT_VALUES, SCATTER_FORWARD);
            check("VecScatterEnd", ended)?;
        }
        self.all.with(function)
    }
}

/// Places of a vector over the processes at which this process works, each once, whosever they are.
#[derive(Debug)]
pub(crate) struct Halo {
    scatter: Owner,
    local: Vector,
}

impl Halo {
    /// For vectors that are spread as this one. Collective.
    pub(crate) fn new(vector: &Vector, places: &[Int]) -> Result<Self, Error> {
        let library = &vector.0.library;
        let from = vector.0.get()?;
        let count = index("places", places.len())?;
        let alone = (&raw const ompi_mpi_comm_self).cast_mut().cast();
        let own = |handle, destroy| Owner {
            handle,
            destroy,
            library: Arc::clone(library),
        };
        let (mut local, mut at, mut scatter) = (null_mut(), null_mut(), null_mut());
        // SAFETY: PETSc writes handles and copies `count` indices; no set of places of the local
        // vector stands for all of it.
        unsafe {
            check("VecCreateSeq", VecCreateSeq(alone, count, &mut local))?;
            let local = Vector(own(local, VecDestroy));
            let made = ISCreateGeneral(alone, count, places.as_ptr(), PETSC_COPY_VALUES, &mut at);
            check("ISCreateGeneral", made)?;
            let at = own(at, ISDestroy);
            let made = VecScatterCreate(from, at.handle, local.0.handle, null_mut(), &mut scatter);
            check("VecScatterCreate", made)?;
            Ok(Self {
                scatter: own(scatter, VecScatterDestroy),
                local,
            })
        }
    }

    fn pass(&self, from: Handle, to: Handle, insert: c_int, mode: c_int) -> Result<(), Error> {
        let scatter = self.scatter.get()?;
        // SAFETY: handles that are alive, and the vectors that the scatter is for.
        unsafe {
            check(
                "VecScatterBegin",
                VecScatterBegin(scatter, from, to, insert, mode),
            )?;
            check("VecScatterEnd", VecScatterEnd(scatter, from, to, insert, mode))
        }
    }

    /// The numbers at the places. Collective.
    pub(crate) fn read(&mut self, from: &Vector, out: &mut [f64]) -> Result<(), Error> {
        self.pass(from.0.get()?, self.local.0.get()?, INSERT_VALUES, SCATTER_FORWARD)?;
        self.local.with(|local| {
            same_length("numbers at places", local.len(), out.len())?;
            out.copy_from_slice(local);
            Ok(())
        })?
    }

    /// Adds numbers to those at the places, of all processes. Collective.
    pub(crate) fn add(&mut self, numbers: &[f64], to: &mut Vector) -> Result<(), Error> {
        self.local.with(|local| {
            same_length("numbers at places", local.len(), numbers.len())?;
            local.copy_from_slice(numbers);
            Ok::<(), Error>(())
        })??;
        self.pass(self.local.0.get()?, to.0.get()?, ADD_VALUES, SCATTER_REVERSE)
    }
}
