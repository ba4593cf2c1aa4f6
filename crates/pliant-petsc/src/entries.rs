//! The entries of `[W -J^T; -J -R]` that a process gives.

use pliant_solvers::KktSystem;
use pliant_sparse::Pattern;

/// Entries of a system: the place of each among the values of `W`, then of `J`, then of `R`, in this
/// order, and the values as last taken. Fixed variables have the size of their diagonal and nothing else: its
/// sign, as of a sheet under compression that is held in its plane, is that of no motion.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    w: Vec<u32>,
    j: Vec<u32>,
    r: Vec<u32>,
    /// The entries of fixed variables.
    held: Vec<u32>,
    values: Vec<f64>,
}

/// Rows and columns of entries in the matrix of all processes, in their order.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) rows: Vec<i32>,
    pub(crate) columns: Vec<i32>,
}

impl Entries {
    /// The entries of a system, on both sides of the diagonal, for which `place` has a row and a
    /// column in the matrix of all processes.
    pub(crate) fn of(
        system: &KktSystem,
        place: impl Fn(usize, usize) -> Option<(i32, i32)>,
    ) -> (Self, Places) {
        let (n, m, fixed) = (system.n(), system.m(), &system.fixed);
        let (mut out, mut places) = (Self::default(), Places::default());
        let mut add = |(i, k): (usize, usize), slot: usize, sources: &mut Vec<u32>| {
            let sides = [(i, k), (k, i)];
            let count = if i == k { 1 } else { 2 };
            for (row, column) in sides[..count].iter().filter_map(|(i, k)| place(*i, *k)) {
                places.rows.push(row);
                places.columns.push(column);
                sources.push(slot as u32);
            }
        };
        for i in 0..n {
            for (slot, k) in slots(system.w.pattern(), i) {
                if i == k || !fixed[i] && !fixed[k] {
                    let first = out.w.len();
                    add((i, k), slot, &mut out.w);
                    if fixed[i] {
                        out.held.extend((first..out.w.len()).map(|entry| entry as u32));
                    }
                }
            }
        }
        for i in 0..m {
            for (slot, k) in slots(system.j.pattern(), i).filter(|(_, k)| !fixed[*k]) {
                add((n + i, k), slot, &mut out.j);
            }
        }
        for i in 0..m {
            for (slot, k) in slots(system.r.pattern(), i) {
                add((n + i, n + k), slot, &mut out.r);
            }
        }
        out.values = vec![0.0; places.rows.len()];
        (out, places)
    }

    /// The values of a system of that shape.
    pub(crate) fn of_values(&mut self, system: &KktSystem) -> &[f64] {
        let parts = [
            (&self.w, system.w.values(), 1.0),
            (&self.j, system.j.values(), -1.0),
            (&self.r, system.r.values(), -1.0),
        ];
        let entries = parts
            .into_iter()
            .flat_map(|(slots, values, sign)| slots.iter().map(move |slot| sign * values[*slot as usize]));
        for (value, entry) in self.values.iter_mut().zip(entries) {
            *value = entry;
        }
        for entry in &self.held {
            let value = &mut self.values[*entry as usize];
            *value = if *value == 0.0 { 1.0 } else { value.abs() };
        }
        &self.values
    }
}

/// The slots of a row with their columns.
fn slots(pattern: &Pattern, i: usize) -> impl Iterator<Item = (usize, usize)> {
    pattern
        .row_slots(i)
        .zip(pattern.row(i).iter().map(|k| *k as usize))
}

/// How many of the columns are none of a process's own rows, each counted once.
pub(crate) fn count_received(columns: &[i32], own: &std::ops::Range<usize>) -> usize {
    let mut others: Vec<i32> = columns.to_vec();
    others.retain(|k| !own.contains(&(*k as usize)));
    others.sort_unstable();
    others.dedup();
    others.len()
}
