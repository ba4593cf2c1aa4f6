//! The Delassus operator of contacts between bodies that nothing else connects: through the
//! velocities of the bodies, never formed unless its entries are asked for.

use super::ABSENT;
use crate::KktSystem;
use crate::complementarity::cone::ROWS;
use crate::complementarity::{BlockSparse, Delassus};
use pliant_sparse::PatternBuilder;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Rows from which products through the bodies are quicker than entries, with what these take to be
/// made.
const LARGE: usize = 300;

/// `A r = N (M^-1 N^T r) + R r`, with `M` in blocks of a body each and no rows but those of the
/// operator. A product costs 4 operations for each number of `N`, 36 of a contact of two bodies,
/// and a sweep over the blocks as much; with the entries of `A` it costs 2 for each of these, 9 for
/// every contact of both bodies.
#[derive(Debug, Default)]
pub(in crate::complementarity) struct Bodies {
    /// Boundaries of the blocks of rows.
    blocks: Vec<usize>,
    /// Where the links of each block start.
    first: Vec<usize>,
    links: Vec<Link>,
    /// Where each value of `J` goes in `N`; [`ABSENT`] those of fixed coordinates.
    places: Vec<u32>,
    /// `N` of each link, row by row, and `N M^-1`.
    n: Vec<f64>,
    t: Vec<f64>,
    /// `R` of each block, row by row, and where it starts.
    r: Vec<f64>,
    squares: Vec<usize>,
    /// Whether any of it is not zero.
    is_compliant: bool,
    /// `M^-1` of each primal block, row by row, and where it starts.
    inverse: Vec<f64>,
    starts: Vec<usize>,
    /// Scratch of products, which have `&self`: who comes second waits.
    velocities: Mutex<Vec<f64>>,
    /// The entries, once they were asked for; none where they would not fit.
    entries: OnceLock<Option<BlockSparse>>,
}

/// A block of rows on a body.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Primal block.
    body: usize,
    dof: usize,
    size: usize,
    /// Where its numbers start.
    at: usize,
}

/// Whether an operator of all rows of a system is large, and no rows and no masses connect bodies
/// otherwise.
pub(super) fn applies(system: &KktSystem, rows: &[usize], blocks: &[usize]) -> bool {
    if rows.len() < LARGE || rows.len() != system.m() || !rows.is_sorted() {
        return false;
    }
    let bodies = system.primal_blocks().windows(2);
    let apart = bodies.flat_map(|w| (w[0]..w[1]).map(|i| (w[0], i)));
    let is_apart = |(first, i): (usize, usize)| {
        let mut others = system.w.pattern().row(i).iter().map(|k| *k as usize);
        others.all(|k| k >= first || system.fixed[k]) || system.fixed[i]
    };
    let compliances = blocks.windows(2).flat_map(|w| (w[0]..w[1]).map(|i| (w[0], i)));
    let is_own = |(first, i): (usize, usize)| {
        let mut others = system.r.pattern().row(i).iter().map(|k| *k as usize);
        others.all(|k| k >= first)
    };
    blocks.windows(2).all(|w| w[1] - w[0] <= ROWS)
        && apart.into_iter().all(is_apart)
        && compliances.into_iter().all(is_own)
}

impl Bodies {
    /// Plans the operator of a pattern to which it [`applies`]; the values are to be
    /// [computed](Self::compute) then. Allocates only for larger ones than ever before.
    pub(super) fn refill(&mut self, system: &KktSystem, blocks: &[usize]) {
        self.blocks.clear();
        self.blocks.extend_from_slice(blocks);
        self.first.clear();
        self.links.clear();
        let bodies = system.primal_blocks();
        let mut at = 0;
        for w in blocks.windows(2) {
            self.first.push(self.links.len());
            let from = self.links.len();
            for column in (w[0]..w[1]).flat_map(|i| system.j.pattern().row(i)) {
                let column = *column as usize;
                let body = bodies.partition_point(|first| *first <= column) - 1;
                let (dof, size) = (bodies[body], bodies[body + 1] - bodies[body]);
                if self.links[from..].iter().all(|link| link.body != body) {
                    self.links.push(Link { body, dof, size, at });
                    at += (w[1] - w[0]) * size;
                }
            }
        }
        self.first.push(self.links.len());
        self.places.clear();
        for (k, w) in blocks.windows(2).enumerate() {
            let links = &self.links[self.first[k]..self.first[k + 1]];
            for (i, row) in (w[0]..w[1]).enumerate() {
                self.places
                    .extend(system.j.pattern().row(row).iter().map(|column| {
                        let column = *column as usize;
                        let own = |l: &&Link| column >= l.dof && column < l.dof + l.size;
                        let link = links.iter().find(own).filter(|_| !system.fixed[column]);
                        link.map_or(ABSENT, |l| (l.at + i * l.size + column - l.dof) as u32)
                    }));
            }
        }
        for (starts, bounds) in [(&mut self.squares, blocks), (&mut self.starts, bodies)] {
            starts.clear();
            starts.push(0);
            for w in bounds.windows(2) {
                starts.push(starts[starts.len() - 1] + (w[1] - w[0]).pow(2));
            }
        }
        for (list, length) in [
            (&mut self.n, at),
            (&mut self.t, at),
            (&mut self.r, self.squares[self.squares.len() - 1]),
            (&mut self.inverse, self.starts[self.starts.len() - 1]),
        ] {
            list.clear();
            list.resize(length, 0.0);
        }
        let mut velocities = self.velocities.lock().unwrap_or_else(PoisonError::into_inner);
        velocities.clear();
        velocities.resize(system.n(), 0.0);
    }

    /// Takes the values of a system of the pattern. False if a mass is not positive definite.
    pub(super) fn compute(&mut self, system: &KktSystem) -> bool {
        self.entries.take();
        for (body, w) in system.primal_blocks().windows(2).enumerate() {
            let size = w[1] - w[0];
            let inverse = &mut self.inverse[self.starts[body]..self.starts[body + 1]];
            let is_free = |i: usize| !system.fixed[w[0] + i];
            for i in 0..size {
                for k in 0..size {
                    inverse[i * size + k] = if i == k && !is_free(i) { 1.0 } else { 0.0 };
                }
                for (k, value) in system.w.row_entries(w[0] + i) {
                    if k >= w[0] && is_free(i) && is_free(k - w[0]) {
                        inverse[i * size + k - w[0]] = value;
                        inverse[(k - w[0]) * size + i] = value;
                    }
                }
            }
            if !invert(inverse, size) {
                return false;
            }
        }
        for (place, value) in self.places.iter().zip(system.j.values()) {
            if *place != ABSENT {
                self.n[*place as usize] = *value;
            }
        }
        for k in 0..self.blocks.len() - 1 {
            let rows = self.blocks[k]..self.blocks[k + 1];
            let links = &self.links[self.first[k]..self.first[k + 1]];
            for link in links {
                let inverse = &self.inverse[self.starts[link.body]..self.starts[link.body + 1]];
                let end = link.at + rows.len() * link.size;
                let (n, t) = (&self.n[link.at..end], &mut self.t[link.at..end]);
                for (n, t) in n.chunks_exact(link.size).zip(t.chunks_exact_mut(link.size)) {
                    for (t, line) in t.iter_mut().zip(inverse.chunks_exact(link.size)) {
                        *t = dot(line, n);
                    }
                }
            }
            let d = rows.len();
            let r = &mut self.r[self.squares[k]..self.squares[k + 1]];
            r.fill(0.0);
            for (i, row) in rows.clone().enumerate() {
                for (column, value) in system.r.row_entries(row) {
                    r[i * d + column - rows.start] = value;
                    r[(column - rows.start) * d + i] = value;
                }
            }
        }
        self.is_compliant = self.r.iter().any(|r| *r != 0.0);
        true
    }

    /// Rows of a block.
    fn rows(&self, k: usize) -> Range<usize> {
        self.blocks[k]..self.blocks[k + 1]
    }

    fn links(&self, k: usize) -> &[Link] {
        &self.links[self.first[k]..self.first[k + 1]]
    }

    /// Operations of a product or a sweep.
    pub(super) fn cost(&self) -> u64 {
        4 * self.n.len() as u64
    }

    /// `M^-1 N^T r`, behind a lock: the velocities that impulses give to the bodies.
    pub(in crate::complementarity) fn response(&self, r: &[f64]) -> MutexGuard<'_, Vec<f64>> {
        // Scratch has no meaning between calls.
        let mut v = self.velocities.lock().unwrap_or_else(PoisonError::into_inner);
        v.fill(0.0);
        for k in 0..self.blocks.len() - 1 {
            self.add(k, &r[self.rows(k)], &mut v);
        }
        v
    }

    /// Adds what impulses of a block make of the velocities of the bodies.
    pub(in crate::complementarity) fn add(&self, k: usize, r: &[f64], v: &mut [f64]) {
        for link in self.links(k) {
            let v = &mut v[link.dof..link.dof + link.size];
            let t = &self.t[link.at..link.at + r.len() * link.size];
            for (t, r) in t.chunks_exact(link.size).zip(r) {
                v.iter_mut().zip(t).for_each(|(v, t)| *v += t * r);
            }
        }
    }

    /// The velocities of the rows of a block, at velocities of the bodies and impulses of the
    /// block.
    pub(in crate::complementarity) fn velocity(&self, k: usize, r: &[f64], v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for link in self.links(k) {
            let v = &v[link.dof..link.dof + link.size];
            let n = &self.n[link.at..link.at + out.len() * link.size];
            for (out, n) in out.iter_mut().zip(n.chunks_exact(link.size)) {
                *out += dot(n, v);
            }
        }
        if self.is_compliant {
            let own = &self.r[self.squares[k]..self.squares[k + 1]];
            for (out, line) in out.iter_mut().zip(own.chunks_exact(r.len())) {
                *out += dot(line, r);
            }
        }
    }

    /// `A r` of all rows.
    pub(super) fn product(&self, r: &[f64], out: &mut [f64]) {
        let v = self.response(r);
        for k in 0..self.blocks.len() - 1 {
            let rows = self.rows(k);
            self.velocity(k, &r[rows.clone()], &v, &mut out[rows]);
        }
    }

    /// The block of the operator in a block of rows and one of columns, which it adds to `out`.
    fn add_block(&self, k: usize, l: usize, out: &mut [f64]) {
        let (rows, columns) = (self.rows(k).len(), self.rows(l).len());
        for a in self.links(k) {
            for b in self.links(l).iter().filter(|b| b.body == a.body) {
                for i in 0..rows {
                    let n = &self.n[a.at + i * a.size..][..a.size];
                    for j in 0..columns {
                        out[i * columns + j] += dot(n, &self.t[b.at + j * b.size..][..b.size]);
                    }
                }
            }
        }
        if k == l {
            let own = &self.r[self.squares[k]..self.squares[k + 1]];
            out.iter_mut().zip(own).for_each(|(out, r)| *out += r);
        }
    }

    /// The block of the diagonal with these rows; false if there is none.
    pub(super) fn diagonal(&self, rows: &Range<usize>, out: &mut [f64]) -> bool {
        let k = self.blocks.partition_point(|first| *first < rows.start);
        let is_one = k + 1 < self.blocks.len() && self.rows(k) == *rows;
        if is_one {
            let d = rows.len();
            let out = &mut out[..d * d];
            out.copy_from_slice(&self.r[self.squares[k]..self.squares[k + 1]]);
            for link in self.links(k) {
                let end = link.at + d * link.size;
                let (n, t) = (&self.n[link.at..end], &self.t[link.at..end]);
                for (n, out) in n.chunks_exact(link.size).zip(out.chunks_exact_mut(d)) {
                    for (out, t) in out.iter_mut().zip(t.chunks_exact(link.size)) {
                        *out += dot(n, t);
                    }
                }
            }
        }
        is_one
    }

    /// The operator by its entries, made when it is first asked for; `None` if a matrix cannot have
    /// so many.
    pub(super) fn entries(&self) -> Option<&BlockSparse> {
        let entries = self.entries.get_or_init(|| {
            let blocks = self.blocks.len() - 1;
            let mut on_body: Vec<Vec<usize>> = vec![Vec::new(); self.starts.len() - 1];
            for k in 0..blocks {
                self.links(k).iter().for_each(|link| on_body[link.body].push(k));
            }
            let others = |k: usize| {
                let mut others: Vec<usize> = self
                    .links(k)
                    .iter()
                    .flat_map(|l| on_body[l.body].clone())
                    .collect();
                others.push(k);
                others.sort_unstable();
                others.dedup();
                others
            };
            let m = self.blocks[blocks];
            let mut builder = PatternBuilder::new(m, m);
            for k in 0..blocks {
                for l in others(k) {
                    let (rows, columns) = (self.rows(k), self.rows(l));
                    builder.insert_block((rows.start, columns.start), (rows.len(), columns.len()), false);
                }
            }
            let mut matrix = builder.finish().ok()?.into_matrix();
            for k in 0..blocks {
                for l in others(k) {
                    let (rows, columns) = (self.rows(k), self.rows(l));
                    let mut block = [0.0; ROWS * ROWS];
                    self.add_block(k, l, &mut block[..rows.len() * columns.len()]);
                    for (i, row) in rows.enumerate() {
                        if let Some(slot) = matrix.pattern().slot(row, columns.start) {
                            let line = &block[i * columns.len()..][..columns.len()];
                            matrix.values_mut()[slot..slot + columns.len()].copy_from_slice(line);
                        }
                    }
                }
            }
            Some(BlockSparse::from_matrix(matrix))
        });
        entries.as_ref()
    }

    /// `A r` of some rows. By the entries once there are any: who asked for them may want
    /// velocities that are small beside the terms they are made of, to whose rounding both ways
    /// differ.
    pub(super) fn rows_times(&self, rows: Range<usize>, r: &[f64], out: &mut [f64]) {
        if let Some(Some(entries)) = self.entries.get() {
            return entries.rows_times(rows, r, out);
        }
        if rows.start == 0 && rows.end == r.len() {
            return self.product(r, out);
        }
        let v = self.response(r);
        let mut block = [0.0; ROWS];
        for k in self.blocks_of(&rows) {
            let own = self.rows(k);
            self.velocity(k, &r[own.clone()], &v, &mut block[..own.len()]);
            for (i, u) in own.zip(block).filter(|(i, _)| rows.contains(i)) {
                out[i - rows.start] = u;
            }
        }
    }

    /// The blocks that have some of these rows.
    fn blocks_of(&self, rows: &Range<usize>) -> Range<usize> {
        let first = self.blocks.partition_point(|start| *start <= rows.start).max(1) - 1;
        let end = self.blocks.partition_point(|start| *start < rows.end);
        first..end.min(self.blocks.len() - 1)
    }

    /// Entries of some rows and columns.
    pub(super) fn block(&self, rows: Range<usize>, columns: Range<usize>, out: &mut [f64]) {
        if rows == columns && self.diagonal(&rows, out) {
            return;
        }
        let mut block = [0.0; ROWS * ROWS];
        for k in self.blocks_of(&rows) {
            for l in self.blocks_of(&columns) {
                let (a, b) = (self.rows(k), self.rows(l));
                let block = &mut block[..a.len() * b.len()];
                block.fill(0.0);
                self.add_block(k, l, block);
                for (i, line) in a
                    .zip(block.chunks_exact(b.len()))
                    .filter(|(i, _)| rows.contains(i))
                {
                    for (j, entry) in b.clone().zip(line).filter(|(j, _)| columns.contains(j)) {
                        out[(i - rows.start) * columns.len() + j - columns.start] = *entry;
                    }
                }
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Inverts a symmetric positive definite matrix in place. False if it is none.
fn invert(a: &mut [f64], n: usize) -> bool {
    // Gauss and Jordan without exchanges, which symmetric definite matrices do not need.
    for k in 0..n {
        let pivot = a[k * n + k];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        a[k * n + k] = 1.0;
        (0..n).for_each(|j| a[k * n + j] /= pivot);
        for i in (0..n).filter(|i| *i != k) {
            let factor = a[i * n + k];
            if factor != 0.0 {
                a[i * n + k] = 0.0;
                (0..n).for_each(|j| a[i * n + j] -= factor * a[k * n + j]);
            }
        }
    }
    true
}
