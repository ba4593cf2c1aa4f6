//! Scaled blocks of a system into the storage of a factor by blocks: a block lies there as a whole,
//! so that one place and the scales of its rows and columns, in registers, say all.

use super::plan::ABSENT;
use crate::KktSystem;
use pliant_sparse::CsrMatrix;

/// Most rows and columns of a tile.
const MOST: usize = 6;

/// How the entries of a tile lie in the storage, one beside the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Column by column, or row by row.
    ByColumns,
    ByRows,
    /// The lower triangle of a square, column by column, and its diagonal alone.
    Triangle,
    Diagonal,
    /// Anywhere: rows whose entries have a place each.
    Scattered,
}

/// The matrix that a tile is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    W,
    J,
    R,
}

/// A dense block of a matrix of a system.
#[derive(Clone, Copy, Debug)]
struct Tile {
    part: Part,
    shape: Shape,
    rows: u8,
    columns: u8,
    /// First row and column.
    row: u32,
    column: u32,
    /// How many entries of a row go before it, and where it lies in the storage.
    offset: u32,
    slot: u32,
}

/// Tiles of all matrices of a system, in lists.
#[derive(Debug, Default)]
pub(super) struct Tiles {
    list: Vec<Tile>,
    /// Where each list ends.
    ends: Vec<u32>,
}

/// Places of entries: of rows and columns the blocks of the factor, and of each entry the slot.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) system: &'a KktSystem,
    /// Block of each unknown that is not fixed.
    pub(super) block_of: &'a [u32],
    /// Of the entries of W, J and R.
    pub(super) slots: [&'a [u32]; 3],
}

/// Scales of all unknowns.
#[derive(Clone, Copy)]
pub(super) struct Scales<'a> {
    /// Of the variables, then of the rows.
    pub(super) all: &'a [f64],
    /// How many of them are of variables.
    pub(super) variables: usize,
}

impl Part {
    fn of(self, system: &KktSystem) -> &CsrMatrix {
        match self {
            Self::W => &system.w,
            Self::J => &system.j,
            Self::R => &system.r,
        }
    }

    /// Whether rows are those of constraints, and whether columns are.
    fn of_constraints(self) -> (bool, bool) {
        (self != Self::W, self == Self::R)
    }
}

impl Tiles {
    /// Has no lists.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.ends.clear();
    }

    /// Adds the list of the tiles that the rows from `first` to `last` are made of, where `i < n`
    /// is a row of `W`, `n + i` one of `J` and `R`. Cost: a pass over their entries.
    pub(super) fn push(&mut self, places: Places<'_>, first: usize, last: usize) {
        let n = places.system.n();
        let mut start = first;
        while start < last {
            let same = |row: &usize| places.block_of[*row] == places.block_of[start];
            let end = start + (start..last.min(start + MOST)).take_while(same).count().max(1);
            if start < n {
                self.push_rows(places, Part::W, start, end);
            } else {
                self.push_rows(places, Part::J, start - n, end - n);
                self.push_rows(places, Part::R, start - n, end - n);
            }
            start = end;
        }
        self.ends.push(self.list.len() as u32);
    }

    /// The tiles of some rows of one block.
    fn push_rows(&mut self, places: Places<'_>, part: Part, start: usize, end: usize) {
        let before = self.list.len();
        if self.find_tiles(places, part, start, end).is_none() {
            self.list.truncate(before);
            self.list.push(Tile {
                part,
                shape: Shape::Scattered,
                rows: (end - start) as u8,
                columns: 0,
                row: start as u32,
                column: 0,
                offset: 0,
                slot: 0,
            });
        }
    }

    /// Finds dense tiles that rows are made of; none if they are not.
    fn find_tiles(&mut self, places: Places<'_>, part: Part, start: usize, end: usize) -> Option<()> {
        let pattern = part.of(places.system).pattern();
        let slots = places.slots[part as usize];
        let rows = end - start;
        let columns = pattern.row(start);
        let (_, of_constraints) = part.of_constraints();
        let first = if of_constraints { places.system.n() } else { 0 };
        let block = |column: u32| places.block_of[first + column as usize];
        let slot = |r: usize, entry: usize| slots[pattern.row_slots(start + r).start + entry];
        if part == Part::R && (0..rows).all(|r| pattern.row(start + r) == [(start + r) as u32]) {
            let corner = slot(0, 0);
            let on_diagonal = |r: usize| slot(r, 0) as usize == corner as usize + r * (rows + 1);
            if corner == ABSENT || !(0..rows).all(on_diagonal) {
                return None;
            }
            self.list.push(Tile {
                part,
                shape: Shape::Diagonal,
                rows: rows as u8,
                columns: rows as u8,
                row: start as u32,
                column: start as u32,
                offset: 0,
                slot: corner,
            });
            return Some(());
        }
        // Of a symmetric matrix the last columns are the lower triangle of the block itself.
        let own = usize::from(part != Part::J);
        let others = columns.len().checked_sub(own)?;
        for r in 0..rows {
            let row = pattern.row(start + r);
            let ends_with_triangle = || {
                row[others..]
                    .iter()
                    .enumerate()
                    .all(|(k, column)| *column as usize == start + k)
            };
            let is_alike = row.len() == others + own * (r + 1) && row[..others] == columns[..others];
            if !is_alike || own == 1 && !ends_with_triangle() {
                return None;
            }
        }
        let mut offset = 0;
        while offset < others {
            let follows = |k: &usize| {
                let column = columns[offset + k];
                column as usize == columns[offset] as usize + k && block(column) == block(columns[offset])
            };
            let count = (0..MOST.min(others - offset)).take_while(follows).count();
            let lies = |place: fn([usize; 2], usize, usize) -> usize| {
                let at = |r: usize, k: usize| slot(r, offset + k) as usize;
                let mut all = (0..rows).flat_map(|r| (0..count).map(move |k| (r, k)));
                all.all(|(r, k)| at(r, k) == at(0, 0) + place([rows, count], r, k))
            };
            let shape = if lies(|[rows, _], r, k| k * rows + r) {
                Shape::ByColumns
            } else if lies(|[_, columns], r, k| r * columns + k) {
                Shape::ByRows
            } else {
                return None;
            };
            if count != 3 && count != 6 {
                return None;
            }
            self.list.push(Tile {
                part,
                shape,
                rows: rows as u8,
                columns: count as u8,
                row: start as u32,
                column: columns[offset],
                offset: offset as u32,
                slot: slot(0, offset),
            });
            offset += count;
        }
        if own == 1 {
            let corner = slot(0, others);
            if corner == ABSENT {
                return None;
            }
            let mut all = (0..rows).flat_map(|r| (0..=r).map(move |k| (r, k)));
            if !all.all(|(r, k)| slot(r, others + k) as usize == corner as usize + k * rows + r) {
                return None;
            }
            self.list.push(Tile {
                part,
                shape: Shape::Triangle,
                rows: rows as u8,
                columns: rows as u8,
                row: start as u32,
                column: start as u32,
                offset: others as u32,
                slot: corner,
            });
        }
        Some(())
    }

    /// How many of the tiles are rows whose entries lie anywhere, and how many there are.
    #[cfg(test)]
    pub(super) fn scattered(&self) -> (usize, usize) {
        let scattered = self.list.iter().filter(|tile| tile.shape == Shape::Scattered);
        (scattered.count(), self.list.len())
    }

    /// Writes the tiles of one list to their places.
    ///
    /// # Panics
    /// If there is no such list, or the storage is shorter than that of the places.
    #[inline(always)]
    pub(super) fn write(&self, list: usize, places: Places<'_>, scales: Scales<'_>, target: &mut [f64]) {
        let first = list.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        for tile in &self.list[first..self.ends[list] as usize] {
            tile.write(places, scales, target);
        }
    }
}

/// Calls a kernel for the rows and columns of a tile.
macro_rules! by_rows {
    ($tile:expr, $kernel:ident, $columns:literal, ($($argument:expr),*)) => {
        match $tile.rows {
            1 => $kernel::<1, $columns>($($argument),*),
            2 => $kernel::<2, $columns>($($argument),*),
            3 => $kernel::<3, $columns>($($argument),*),
            4 => $kernel::<4, $columns>($($argument),*),
            5 => $kernel::<5, $columns>($($argument),*),
            _ => $kernel::<6, $columns>($($argument),*),
        }
    };
}

impl Tile {
    #[inline(always)]
    fn write(&self, places: Places<'_>, scales: Scales<'_>, target: &mut [f64]) {
        let matrix = self.part.of(places.system);
        let (rows, columns) = self.part.of_constraints();
        let of = |constraints: bool, at: u32| {
            let first = if constraints { scales.variables } else { 0 };
            &scales.all[first + at as usize..]
        };
        let block = Block {
            offsets: &matrix.pattern().offsets()[self.row as usize..],
            offset: self.offset as usize,
            values: matrix.values(),
            // The rows of constraints enter with a minus sign.
            sign: if rows { -1.0 } else { 1.0 },
            rows: of(rows, self.row),
            columns: of(columns, self.column),
        };
        match (self.shape, self.columns) {
            (Shape::Scattered, _) => self.scatter(places, scales, target),
            (shape, columns) => {
                let target = &mut target[self.slot as usize..];
                match (shape, columns) {
                    (Shape::ByColumns, 3) => by_rows!(self, by_columns, 3, (block, target)),
                    (Shape::ByColumns, _) => by_rows!(self, by_columns, 6, (block, target)),
                    (Shape::ByRows, 3) => by_rows!(self, by_rows_of, 3, (block, target)),
                    (Shape::ByRows, _) => by_rows!(self, by_rows_of, 6, (block, target)),
                    (Shape::Diagonal, _) => by_rows!(self, diagonal, 0, (block, target)),
                    _ => by_rows!(self, triangle, 0, (block, target)),
                }
            }
        }
    }

    /// Writes entries that lie anywhere.
    fn scatter(&self, places: Places<'_>, scales: Scales<'_>, target: &mut [f64]) {
        let matrix = self.part.of(places.system);
        let (rows, columns) = self.part.of_constraints();
        let [first_row, first_column] =
            [rows, columns].map(|constraints| if constraints { scales.variables } else { 0 });
        for i in self.row as usize..self.row as usize + usize::from(self.rows) {
            let scale = scales.all[first_row + i];
            let scale = if rows { -scale } else { scale };
            let own = matrix.pattern().row_slots(i);
            let entries = matrix.row_entries(i).zip(&places.slots[self.part as usize][own]);
            for ((column, value), slot) in entries {
                // No storage reaches up to the slot of an entry without a place.
                if let Some(target) = target.get_mut(*slot as usize) {
                    *target = scale * value * scales.all[first_column + column];
                }
            }
        }
    }
}

/// Entries of a tile with the scales of its rows and columns.
#[derive(Clone, Copy)]
struct Block<'a> {
    /// Where its rows start among the values, and how many entries go before it in each.
    offsets: &'a [u32],
    offset: usize,
    values: &'a [f64],
    sign: f64,
    rows: &'a [f64],
    columns: &'a [f64],
}

impl<'a> Block<'a> {
    /// The first entries of a row.
    #[inline(always)]
    fn row(&self, r: usize) -> &'a [f64] {
        &self.values[self.offsets[r] as usize + self.offset..]
    }

    /// The scales of the rows.
    #[inline(always)]
    fn scales<const R: usize>(&self) -> [f64; R] {
        let rows = &self.rows[..R];
        std::array::from_fn(|r| self.sign * rows[r])
    }
}

// What is eliminated next is read by registers of several entries, which wait for what was written
// one by one: columns are written as a whole.

#[inline(always)]
fn by_columns<const R: usize, const C: usize>(block: Block<'_>, target: &mut [f64]) {
    let (columns, target) = (&block.columns[..C], &mut target.as_chunks_mut::<R>().0[..C]);
    let scales = block.scales::<R>();
    let rows: [&[f64; C]; R] = std::array::from_fn(|r| &block.row(r).as_chunks().0[0]);
    for k in 0..C {
        target[k] = std::array::from_fn(|r| scales[r] * rows[r][k] * columns[k]);
    }
}

#[inline(always)]
fn by_rows_of<const R: usize, const C: usize>(block: Block<'_>, target: &mut [f64]) {
    let (columns, target) = (&block.columns[..C], &mut target.as_chunks_mut::<C>().0[..R]);
    let scales = block.scales::<R>();
    for r in 0..R {
        let row: &[f64; C] = &block.row(r).as_chunks().0[0];
        target[r] = std::array::from_fn(|k| scales[r] * row[k] * columns[k]);
    }
}

/// The part above the diagonal, which nothing reads, becomes zero.
#[inline(always)]
fn triangle<const R: usize, const C: usize>(block: Block<'_>, target: &mut [f64]) {
    let (columns, target) = (&block.columns[..R], &mut target.as_chunks_mut::<R>().0[..R]);
    let scales = block.scales::<R>();
    let rows: [&[f64]; R] = std::array::from_fn(|r| &block.row(r)[..r + 1]);
    for k in 0..R {
        let entry = |r: usize| {
            if r < k {
                0.0
            } else {
                scales[r] * rows[r][k] * columns[k]
            }
        };
        target[k] = std::array::from_fn(entry);
    }
}

#[inline(always)]
fn diagonal<const R: usize, const C: usize>(block: Block<'_>, target: &mut [f64]) {
    let (columns, target) = (&block.columns[..R], &mut target.as_chunks_mut::<R>().0[..R]);
    let scales = block.scales::<R>();
    for r in 0..R {
        target[r][r] = scales[r] * block.row(r)[0] * columns[r];
    }
}
