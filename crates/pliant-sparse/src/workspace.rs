//! Storage that is kept and filled again.

use crate::block::PatternWorkspace;
use crate::front::TreeWorkspace;
use crate::graph::GraphWorkspace;

/// Scratch of orderings and symbolic factorisations, for all that are made one after another. Kept,
/// so that only larger ones than ever before allocate. No result depends on what is in it.
#[derive(Debug, Default)]
pub struct SymbolicWorkspace {
    pub(crate) graph: GraphWorkspace,
    pub(crate) fronts: TreeWorkspace,
    pub(crate) blocks: PatternWorkspace,
}

/// Makes a list one of so many equal entries. Allocates only beyond its capacity.
pub(crate) fn fill<T: Clone>(list: &mut Vec<T>, length: usize, value: T) {
    list.clear();
    list.resize(length, value);
}

/// As [`fill`] with zeros, for long lists: where they are new, their memory comes as zeros from the
/// system when it is first used.
pub(crate) fn zeros(list: &mut Vec<f64>, length: usize) {
    if list.capacity() < length {
        *list = vec![0.0; length];
    } else {
        fill(list, length, 0.0);
    }
}

#[cfg(test)]
mod tests;
