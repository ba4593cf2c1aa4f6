//! Scratch for the vectors of the null space that a factor shows.

/// The columns of a matrix that one of its columns depends on, and scratch for finding them; kept,
/// so that only the first call and larger ones allocate.
#[derive(Clone, Debug, Default)]
pub struct Dependence {
    /// A vector of the order of the matrix, zero between calls.
    pub(crate) values: Vec<f64>,
    /// Whether a block of it is not zero; never between calls.
    pub(crate) marks: Vec<bool>,
    /// Blocks or fronts with entries.
    pub(crate) blocks: Vec<u32>,
    pub(crate) entries: Vec<(u32, f64)>,
    /// Entries that a front sees, by their rows in it.
    pub(crate) seen: Vec<(u32, f64)>,
}

impl Dependence {
    /// Room for a vector of an order, in so many blocks.
    pub(crate) fn begin(&mut self, size: usize, blocks: usize) {
        if self.values.len() < size {
            self.values.resize(size, 0.0);
            self.entries.reserve(size);
            self.seen.reserve(size);
        }
        if self.marks.len() < blocks {
            self.marks.resize(blocks, false);
            self.blocks.reserve(blocks);
        }
        self.entries.clear();
        self.blocks.clear();
    }

    /// Unknowns and entries, in descending order of elimination by blocks.
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        self.entries.iter().map(|(i, value)| (*i as usize, *value))
    }
}
