//! Scaled entries of a matrix into the storage of a factor by blocks, run by run: entries of a row
//! whose columns follow each other lie there at equal distances.

use super::plan::ABSENT;
use pliant_sparse::Pattern;

/// Most entries of a run.
const MOST: usize = 6;

/// Entries of a row of the matrix in columns that follow each other.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The first of their values in the matrix, their first column, the first place in the storage.
    value: u32,
    column: u32,
    slot: u32,
    /// How many there are, and how far from each other in the storage.
    count: u16,
    stride: u16,
}

/// The runs of all rows of a matrix; entries without a place are in none.
#[derive(Debug, Default)]
pub(super) struct Runs {
    list: Vec<Run>,
    /// Where the runs of each row start; one more than there are rows.
    starts: Vec<u32>,
}

impl Runs {
    /// Has no rows.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.starts.clear();
    }

    /// Makes them those of a pattern with a place for every entry. Allocates only for larger ones
    /// than ever before. Cost: a pass over the entries.
    pub(super) fn refill(&mut self, pattern: &Pattern, slots: &[u32]) {
        self.clear();
        self.starts.push(0);
        for i in 0..pattern.rows() {
            let first = self.list.len();
            let entries = pattern.row_slots(i).zip(pattern.row(i));
            for (value, column) in entries.filter(|(value, _)| slots[*value] != ABSENT) {
                let slot = slots[value];
                let joined = self.list[first..].last_mut().is_some_and(|run| run.join(*column, slot));
                if !joined {
                    self.list.push(Run {
                        value: value as u32,
                        column: *column,
                        slot,
                        count: 1,
                        stride: 1,
                    });
                }
            }
            self.starts.push(self.list.len() as u32);
        }
    }

    /// The runs of a row.
    #[inline(always)]
    fn of_row(&self, i: usize) -> &[Run] {
        &self.list[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Writes the entries of row `i` of a matrix with the given values to their places, times the
    /// scale of the row and that of their column.
    ///
    /// # Panics
    /// If the storage is shorter than that of the places, or the matrix another one.
    #[inline(always)]
    pub(super) fn write_row(&self, i: usize, values: &[f64], scale: f64, scales: &[f64], target: &mut [f64]) {
        for run in self.of_row(i) {
            let values = &values[run.value as usize..];
            let scales = &scales[run.column as usize..];
            let target = &mut target[run.slot as usize..];
            match (run.count, run.stride) {
                (6, 1) => write_next::<6>(values, scale, scales, target),
                (3, 1) => write_next::<3>(values, scale, scales, target),
                (1, _) => write::<1>(values, scale, scales, 1, target),
                (2, stride) => write::<2>(values, scale, scales, stride, target),
                (3, stride) => write::<3>(values, scale, scales, stride, target),
                (4, stride) => write::<4>(values, scale, scales, stride, target),
                (5, stride) => write::<5>(values, scale, scales, stride, target),
                (_, stride) => write::<6>(values, scale, scales, stride, target),
            }
        }
    }
}

impl Run {
    /// Takes the next entry of the row, if it continues the run.
    fn join(&mut self, column: u32, slot: u32) -> bool {
        let count = u32::from(self.count);
        let follows = self.count < MOST as u16 && column == self.column + count;
        let stride = match (self.count, slot.checked_sub(self.slot)) {
            (1, Some(stride)) => u16::try_from(stride).ok().filter(|stride| *stride > 0),
            (_, Some(reach)) if reach == count * u32::from(self.stride) => Some(self.stride),
            _ => None,
        };
        let Some(stride) = stride.filter(|_| follows) else {
            return false;
        };
        (self.count, self.stride) = (self.count + 1, stride);
        true
    }
}

/// Entries that lie beside each other.
#[inline(always)]
fn write_next<const N: usize>(values: &[f64], scale: f64, scales: &[f64], target: &mut [f64]) {
    let (values, scales, target) = (&values[..N], &scales[..N], &mut target[..N]);
    for k in 0..N {
        target[k] = scale * values[k] * scales[k];
    }
}

/// Entries at equal distances.
#[inline(always)]
fn write<const N: usize>(values: &[f64], scale: f64, scales: &[f64], stride: u16, target: &mut [f64]) {
    let (values, scales) = (&values[..N], &scales[..N]);
    let target = &mut target[..(N - 1) * usize::from(stride) + 1];
    for k in 0..N {
        target[k * usize::from(stride)] = scale * values[k] * scales[k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_sparse::PatternBuilder;

    #[test]
    fn every_entry_comes_to_its_place_whatever_the_order_of_the_places() {
        let mut builder = PatternBuilder::new(3, 16);
        for (row, columns) in [
            (0, &[0, 1, 2, 3, 4, 5, 6, 7][..]),
            (1, &[2, 3, 5, 7, 8, 9, 10, 11, 12]),
            (2, &[0, 1, 2, 13, 14, 15]),
        ] {
            columns.iter().for_each(|column| builder.insert(row, *column));
        }
        let pattern = builder.finish().unwrap();
        let count = pattern.len();
        let values: Vec<f64> = (0..count).map(|k| 1.0 + k as f64).collect();
        let scales: Vec<f64> = (0..16).map(|k| 2.0f64.powi(k % 5)).collect();
        // Beside each other, six apart, backwards, mixed; and some of them absent.
        let places: [fn(usize) -> u32; 6] = [
            |k| k as u32,
            |k| 6 * k as u32,
            |k| 200 - k as u32,
            |k| (k as u32 * 31) % 101,
            |k| if k % 4 == 1 { ABSENT } else { 3 * k as u32 },
            |k| if k < 4 { k as u32 } else { 10 + 100_000 * k as u32 },
        ];
        for place in places {
            let slots: Vec<u32> = (0..count).map(place).collect();
            let mut runs = Runs::default();
            runs.refill(&pattern, &slots);
            let size = slots.iter().filter(|s| **s != ABSENT).max().map_or(0, |s| *s as usize + 1);
            let (mut found, mut expected) = (vec![0.0; size], vec![0.0; size]);
            for i in 0..3 {
                let scale = [0.5, -4.0, 8.0][i];
                runs.write_row(i, &values, scale, &scales, &mut found);
                for (k, column) in pattern.row_slots(i).zip(pattern.row(i)) {
                    if slots[k] != ABSENT {
                        expected[slots[k] as usize] = scale * values[k] * scales[*column as usize];
                    }
                }
            }
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn rows_of_blocks_are_single_runs() {
        let mut builder = PatternBuilder::new(2, 12);
        builder.insert_block((0, 0), (2, 12), false);
        let pattern = builder.finish().unwrap();
        let slots: Vec<u32> = (0..24).map(|k| if k < 12 { 3 * k } else { 100 + k }).collect();
        let mut runs = Runs::default();
        runs.refill(&pattern, &slots);
        assert_eq!(runs.list.len(), 4);
        assert!(runs.list.iter().all(|run| usize::from(run.count) == MOST));
    }
}
