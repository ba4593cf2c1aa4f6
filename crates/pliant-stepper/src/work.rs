//! The work that a step may take, by counts, and the parts of a step that are counted.

use std::fmt;

/// Counts beyond which a part of a step is given up as endless
/// ([`Error::TooMuchWork`](crate::Error::TooMuchWork)). They are counts and no times, so that
/// answers do not depend on the machine; none is shared with another step, or with another half of
/// a step that is halved. Large models may need more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkLimits {
    /// Operations of the solvers of the contacts of a step: products with the Delassus operator
    /// count twice its entries, factorisations as their pattern says. 1.5e11 by default; the scenes
    /// of the project take up to 1.5e10 (`bowl`, of all others `bowl` with 14 balls most, 2.2e8).
    pub contact_operations: u64,
    /// Operations of the corrections of its overlap, counted alike. 2e9 by default; the scenes of
    /// the project take up to 1.6e7.
    pub correction_operations: u64,
    /// Tests of one search for contacts: of pairs of parts of colliders, of pairs of their
    /// elements, and of new contacts against remembered ones. 2e7 by default; the scenes of the
    /// project take up to 1e4.
    pub contact_tests: u64,
    /// Factorisations of the system of a step: by Newton's method, where rows of bounded force
    /// change sides, by corrections of positions. 5,000 by default; the scenes of the project take
    /// up to 12.
    pub factorisations: usize,
}

impl Default for WorkLimits {
    fn default() -> Self {
        Self {
            contact_operations: 150_000_000_000,
            correction_operations: 2_000_000_000,
            contact_tests: 20_000_000,
            factorisations: 5_000,
        }
    }
}

/// A part of a step whose work is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkPart {
    /// The search for contacts.
    Detection,
    /// The solve of the contacts of a step.
    Contacts,
    /// The correction of overlap.
    Overlap,
    /// The iteration of a method that solves nonlinear equations.
    Newton,
    /// The correction of positions onto the hard constraints.
    Stabilisation,
    /// Rows of bounded force that change sides.
    ActiveSet,
}

impl WorkPart {
    /// The unit that it is counted in.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Detection => "tests",
            Self::Contacts | Self::Overlap => "operations",
            Self::Newton | Self::Stabilisation | Self::ActiveSet => "factorisations",
        }
    }

    /// The key of a scene's `run` that limits it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Detection => "contact_tests",
            Self::Contacts => "contact_operations",
            Self::Overlap => "correction_operations",
            Self::Newton | Self::Stabilisation | Self::ActiveSet => "factorisations",
        }
    }

    /// A way out that is not the limit.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::Detection => "take shorter steps: what moves far in a step is near to everything",
            Self::Contacts => "take shorter steps, or let less touch at once",
            Self::Overlap => "do not let them overlap at the start, or take shorter steps",
            Self::Newton => "take shorter steps, or fewer iterations",
            Self::Stabilisation => "take shorter steps, or look for constraints that contradict each other",
            Self::ActiveSet => "take shorter steps, or look for motors that work against each other",
        }
    }
}

impl fmt::Display for WorkPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Detection => "the search for contacts between",
            Self::Contacts => "the solve of the contacts of",
            Self::Overlap => "the correction of the overlap of",
            Self::Newton => "Newton's method for",
            Self::Stabilisation => "the correction of the hard rows of",
            Self::ActiveSet => "the search for the forces at their bounds of",
        })
    }
}

/// A count for readers: long ones by their power of ten.
pub(crate) fn in_words(count: u64) -> String {
    match count {
        0..1_000_000 => count.to_string(),
        _ => format!("{count:e}"),
    }
}
