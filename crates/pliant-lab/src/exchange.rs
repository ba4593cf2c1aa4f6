//! Problems as texts: to send a failing solve, and to keep a corpus.
//!
//! One JSON text holds everything small; matrices are in the Matrix Market format, either in texts
//! of their own (`name.W.mtx`, readable by any program for sparse matrices) or as lines within the
//! JSON. Numbers come back to the last bit; infinite and undefined ones are the strings `"inf"`,
//! `"-inf"`, `"nan"`. reference/solvers.md of the book describes every field.
//!
//! This module makes texts and reads texts; it never opens a file.
//!
//! ```
//! use pliant_solvers::KktSystem;
//! use pliant_lab::exchange::{Layout, Record, Statement};
//! let mut system = KktSystem::dense(&[2.0, 1.0, 1.0, 3.0], &[1.0, 0.0], &[0.0])?;
//! system.b[0] = 0.1;
//! let record = Record::new("stuck", system);
//! let texts = record.write(Layout::Single)?;
//! let again = Record::read(&texts.header, |name| Err(format!("no text {name}")))?;
//! let Statement::Kkt(system) = &again.statement else { panic!() };
//! assert_eq!((system.b[0], system.w.get(1, 0)), (0.1, 1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod header;
mod market;
mod number;
mod read;
mod statement;
mod write;

pub use statement::{Mixed, Statement};

use pliant_sparse::{CsrMatrix, SparseError};

/// The value of `format` in every header.
pub const FORMAT: &str = "pliant-problem";
/// The version that is written, and the latest that is read.
pub const VERSION: u32 = 1;

/// A problem and what is known of it.
#[derive(Debug)]
pub struct Record {
    /// A short name, the stem of its texts.
    pub name: String,
    /// The purpose of the problem.
    pub about: String,
    /// Where it comes from.
    pub source: String,
    /// The expected result of a solver.
    pub expected: Expected,
    /// Known answers; several where a problem is known to have several.
    pub answers: Vec<Answer>,
    /// The problem.
    pub statement: Statement,
}

/// Expected result of a solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// A solution is known to exist.
    Solvable,
    /// Hard rows contradict each other; the answer, if given, is the least-squares compromise.
    Incompatible,
    /// `W` is not positive definite on the null space of `J`: to be refused.
    Indefinite,
    /// No solution exists.
    Unsolvable,
    /// Nobody knows.
    #[default]
    Unknown,
}

/// A known answer; what is not known or not unique is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Primal unknowns of a KKT system.
    pub x: Vec<f64>,
    /// Multipliers of a KKT system.
    pub mu: Vec<f64>,
    /// Impulses of the rows with cones.
    pub r: Vec<f64>,
    /// Velocities of the rows with cones.
    pub u: Vec<f64>,
    /// How well the numbers are known, against the largest of each list.
    pub tolerance: f64,
}

/// Where the matrices go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Each into a text of its own, `<name>.<matrix>.mtx`.
    #[default]
    Separate,
    /// Into the header, as lines.
    Single,
}

/// A problem as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// JSON.
    pub header: String,
    /// Names (without directory) and texts of the matrices; empty for [`Layout::Single`].
    pub matrices: Vec<(String, String)>,
}

/// Why a text is no problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The header is not JSON, or not the JSON that is wanted.
    #[error("line {line}, column {column} of the header: {reason}")]
    Json {
        /// From one.
        line: usize,
        /// From one.
        column: usize,
        /// In the words of the parser.
        reason: String,
    },
    /// Another kind of file.
    #[error("the header has the format `{found}`, expected `{FORMAT}`")]
    Format {
        /// The format it names.
        found: String,
    },
    /// Written by a later version.
    #[error("the header has version {found}; this program reads up to {VERSION}")]
    Version {
        /// The version it names.
        found: u32,
    },
    /// A field that the kind of problem needs.
    #[error("a problem of kind `{kind}` needs the field `{field}`")]
    Missing {
        /// `kkt`, `complementarity` or `mixed`.
        kind: &'static str,
        /// Its name.
        field: &'static str,
    },
    /// A field that the kind of problem does not have.
    #[error("a problem of kind `{kind}` has no field `{field}`")]
    Superfluous {
        /// `kkt`, `complementarity` or `mixed`.
        kind: &'static str,
        /// Its name.
        field: &'static str,
    },
    /// A list of another length.
    #[error("`{field}` has {found} entries, expected {expected}")]
    Length {
        /// Which.
        field: &'static str,
        /// Wanted.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// An index outside its range.
    #[error("`{field}` names the index {index}, but there are {size}")]
    Index {
        /// Which list.
        field: &'static str,
        /// The index, from zero.
        index: usize,
        /// How many there are.
        size: usize,
    },
    /// The name of a text that leads elsewhere.
    #[error("`{name}` is not the plain name of a file beside the header")]
    Name {
        /// The name as given.
        name: String,
    },
    /// A matrix that could not be had.
    #[error("the matrix {name}: {reason}")]
    Load {
        /// Name of the text.
        name: String,
        /// In the words of who loads it.
        reason: String,
    },
    /// A text that is not Matrix Market, or contradicts itself.
    #[error("line {line} of {name}: {fault}")]
    Market {
        /// Name of the text, or of the matrix within the header.
        name: String,
        /// From one.
        line: usize,
        /// The fault.
        fault: MarketFault,
    },
    /// A matrix of another shape.
    #[error("{name} is {} x {}, expected {} x {}", .found.0, .found.1, .expected.0, .expected.1)]
    Shape {
        /// Name of the text, or of the matrix within the header.
        name: String,
        /// Rows and columns wanted.
        expected: (usize, usize),
        /// Rows and columns given.
        found: (usize, usize),
    },
    /// A matrix that is to be symmetric.
    #[error("{name} is to be symmetric, but entries ({row}, {column}) and ({column}, {row}) differ")]
    Asymmetric {
        /// Name of the text, or of the matrix within the header.
        name: String,
        /// From one.
        row: usize,
        /// From one.
        column: usize,
    },
    /// Numbers that make no KKT system.
    #[error(transparent)]
    System(#[from] pliant_solvers::SolveError),
    /// Numbers that make no complementarity problem.
    #[error(transparent)]
    Problem(#[from] pliant_solvers::complementarity::ProblemError),
    /// From the sparse kernels.
    #[error(transparent)]
    Sparse(#[from] SparseError),
}

/// Faults of a line of a Matrix Market text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MarketFault {
    /// The first line.
    #[error("`{text}` is no Matrix Market banner (`%%MatrixMarket matrix coordinate real general`)")]
    Banner {
        /// The line as given.
        text: String,
    },
    /// A word of the banner.
    #[error(
        "`{word}` matrices are not read here, only coordinate or array, real or integer, general or symmetric"
    )]
    Unsupported {
        /// The word.
        word: String,
    },
    /// The text ends before the line of sizes.
    #[error("the line of sizes is missing")]
    NoSizes,
    /// Too few or too many words on a line.
    #[error("expected {expected} numbers, found {found} words")]
    Words {
        /// Wanted.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// A size that is negative, too large, or no number.
    #[error("`{word}` is no size between 0 and 2147483646")]
    Count {
        /// The word as given.
        word: String,
    },
    /// A symmetric matrix that is not square.
    #[error("a symmetric matrix cannot be {rows} x {columns}")]
    NotSquare {
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// An index.
    #[error("`{word}` is no index between 1 and {largest}")]
    Index {
        /// The word as given.
        word: String,
        /// The largest that there is.
        largest: usize,
    },
    /// A value.
    #[error("`{word}` is no number")]
    Value {
        /// The word as given.
        word: String,
    },
    /// An upper entry of a symmetric matrix.
    #[error("entry ({row}, {column}) is above the diagonal; a symmetric matrix gives its lower triangle")]
    AboveDiagonal {
        /// From one.
        row: usize,
        /// From one.
        column: usize,
    },
    /// An entry that is given twice.
    #[error("entry ({row}, {column}) was given in line {first} already")]
    Repeated {
        /// From one.
        row: usize,
        /// From one.
        column: usize,
        /// Where it was given first, from one.
        first: usize,
    },
    /// More entries than announced.
    #[error("more than the {announced} entries that were announced")]
    TooMany {
        /// In the line of sizes.
        announced: usize,
    },
    /// Fewer entries than announced.
    #[error("the text ends after {found} of {announced} entries")]
    TooFew {
        /// In the line of sizes.
        announced: usize,
        /// Given.
        found: usize,
    },
}

impl Record {
    /// A problem of which nothing is known.
    pub fn new(name: impl Into<String>, statement: impl Into<Statement>) -> Self {
        Self {
            name: name.into(),
            about: String::new(),
            source: String::new(),
            expected: Expected::Unknown,
            answers: Vec::new(),
            statement: statement.into(),
        }
    }

    /// The texts of the problem.
    ///
    /// # Errors
    /// [`ExchangeError::Length`] if a public vector of a system does not fit it;
    /// [`ExchangeError::Name`] if matrices go into texts named after a problem whose name is no
    /// file name.
    pub fn write(&self, layout: Layout) -> Result<Texts, ExchangeError> {
        write::write(self, layout)
    }

    /// Reads a problem. `load` gives the text of a matrix by its name, which is the plain name of a
    /// file.
    ///
    /// Memory is proportional to the texts, whatever sizes they announce.
    ///
    /// # Errors
    /// Any [`ExchangeError`], with the line where there is one.
    pub fn read(
        header: &str,
        load: impl FnMut(&str) -> Result<String, String>,
    ) -> Result<Self, ExchangeError> {
        read::read(header, load)
    }
}

/// The Matrix Market text of a sparse matrix, every stored entry of it. With `symmetric` the matrix
/// is one whose lower triangle is stored.
pub fn write_matrix_market(a: &CsrMatrix, symmetric: bool) -> String {
    market::coordinate_text(a, symmetric)
}

/// Reads a Matrix Market text that is to be `rows x columns`: all of a general matrix, the lower
/// triangle of a symmetric one. `name` is for errors.
///
/// # Errors
/// [`ExchangeError::Market`], [`ExchangeError::Shape`].
pub fn read_matrix_market(
    name: &str,
    text: &str,
    rows: usize,
    columns: usize,
) -> Result<CsrMatrix, ExchangeError> {
    let matrix = market::MarketMatrix::parse(name, text)?;
    matrix.expect(name, rows, columns)?;
    matrix.stored()
}
