//! Parts that are no more, whose storage the next ones take.

use super::part::Part;

/// Retired parts with cones and without, by the powers of two of what they have room for, the last
/// one first. They have forgotten what they solved: which one is taken shows in no result.
#[derive(Debug, Default)]
pub(super) struct Retired([Vec<Vec<Part>>; 2]);

/// The power of two that is not below a size.
fn class(size: usize) -> usize {
    size.next_power_of_two().trailing_zeros() as usize
}

impl Retired {
    /// Puts a part away.
    pub(super) fn put(&mut self, mut part: Part) {
        part.forget();
        let kind = &mut self.0[usize::from(part.is_conic())];
        // All of a class have room for what is taken from it.
        let class = class(part.room() + 1).saturating_sub(1);
        if kind.len() <= class {
            kind.resize_with(class + 1, Vec::new);
        }
        kind[class].push(part);
    }

    /// Storage for a part of so many variables and rows: the least that is large enough, else the
    /// largest, else new.
    pub(super) fn take(&mut self, conic: bool, size: usize) -> Part {
        let kind = &mut self.0[usize::from(conic)];
        let middle = class(size).min(kind.len());
        let (small, large) = kind.split_at_mut(middle);
        let mut order = large.iter_mut().chain(small.iter_mut().rev());
        order.find_map(Vec::pop).unwrap_or_default()
    }
}
