//! Buffers of searches; no result depends on what is in them.

use super::pieces::Speeds;
use super::{cast, crossed, fields, found, sheets};
use crate::bvh::{Aabb, Bvh};
use crate::memory::{Matching, Unnamed};
use crate::narrow::{Scratch, Touch, clip::Corner};
use crate::{ContactMemory, Remembered};
use found::Found;

/// Buffers; their contents mean nothing between calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    pub(super) broad: Broad,
    pub(super) narrow: Narrow,
    pub(super) sheets: sheets::SheetWorkspace,
    pub(super) crossing: crossed::CrossingWorkspace,
    pub(super) fields: fields::FieldWorkspace,
    pub(super) naming: Naming,
    pub(super) found: Vec<Found>,
    /// The memory, while contacts are looked for that it is not to know.
    pub(super) kept: ContactMemory,
    /// Nodes of a tree that a search has yet to visit.
    pub(super) stack: Vec<u32>,
    /// How fast the points of each piece are where contacts are looked for that were missed, and by
    /// how much they leave the straight way (m).
    pub(super) speeds: Vec<Speeds>,
    pub(super) turned: Vec<f64>,
    /// Pairs of pieces that are fast enough to pass through each other.
    pub(super) passing: Vec<(u32, u32)>,
    /// Positions where a step ends, and the way there.
    pub(super) end: [Vec<f64>; 2],
    /// The pieces do not have the velocities of the last update any more, nor those of the memory.
    pub(super) searched_again: bool,
    /// Tests of the present search.
    pub(super) tests: Tests,
}

/// Tests of pairs, counted: of pieces, of their elements, of new contacts and remembered ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tests {
    pub(super) count: u64,
    pub(super) most: u64,
}

impl Default for Tests {
    fn default() -> Self {
        Self {
            count: 0,
            most: u64::MAX,
        }
    }
}

impl Tests {
    /// Counts so many more; whether there may be as many.
    pub(super) fn add(&mut self, more: usize) -> bool {
        self.count = self.count.saturating_add(more as u64);
        self.count <= self.most
    }
}

/// The search for pairs of pieces that may meet.
#[derive(Clone, Debug, Default)]
pub(super) struct Broad {
    /// Boxes of all pieces but half spaces, and their pieces.
    pub(super) boxes: Vec<Aabb>,
    pub(super) boxed: Vec<u32>,
    pub(super) tree: Bvh,
    /// Pairs of pieces, sorted.
    pub(super) pairs: Vec<(u32, u32)>,
}

/// The touches of one pair of pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct Narrow {
    /// Elements of a sheet that are near.
    pub(super) near: Vec<u32>,
    pub(super) touches: Vec<Touch>,
    /// Touches that are still to be sorted.
    pub(super) rest: Vec<Touch>,
    /// Spot, order, and where on the sheet.
    pub(super) soft: Vec<(u64, usize, Touch, found::Weights)>,
    /// Time of the impact, touch, feature.
    pub(super) swept: Vec<(f64, Touch, [u64; 2])>,
    pub(super) scratch: Scratch,
    pub(super) corners: Vec<Corner>,
    pub(super) moved: [cast::Moved; 2],
}

/// The search for the names of contacts.
#[derive(Clone, Debug, Default)]
pub(super) struct Naming {
    pub(super) unnamed: Vec<Unnamed>,
    pub(super) matching: Matching,
    pub(super) remembered: Vec<Remembered>,
}
