//! Numbers of the elements of a node.

use serde::{Serialize, Serializer};
use std::ops::Index;
use std::slice::ChunksExact;

/// Rows of as many numbers each, one after another in one list: a solid has millions of elements,
/// its points of integration among them. In files they are a list of lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    width: usize,
    numbers: Vec<f64>,
}

impl Rows {
    /// Rows of `width` numbers; those that do not fill one are left out.
    pub(super) fn new(width: usize, numbers: Vec<f64>) -> Self {
        Self { width, numbers }
    }

    /// The rows in order.
    pub fn iter(&self) -> ChunksExact<'_, f64> {
        self.numbers.chunks_exact(self.width.max(1))
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All numbers, row by row.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }
}

impl Index<usize> for Rows {
    type Output = [f64];

    fn index(&self, row: usize) -> &[f64] {
        &self.numbers[row * self.width..][..self.width]
    }
}

impl<'a> IntoIterator for &'a Rows {
    type Item = &'a [f64];
    type IntoIter = ChunksExact<'a, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}
