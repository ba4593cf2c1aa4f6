//! The block pattern of a Schur complement and of the rows that it is made of.

use crate::block::{BlockPattern, PatternWorkspace};
use crate::{SparseError, SymbolicWorkspace, fill};

/// The block pattern of `[L_N; S]` for rows `N` below a factored matrix `K`, and what it costs.
///
/// A row of `L_N` is a forward substitution whose right-hand side has few blocks: it is felt on the
/// paths from these to the root of the elimination tree of `K` and nowhere else (Gilbert,
/// Predicting structure in sparse matrix computations, SIAM J. Matrix Anal. Appl. 15 (1994)).
#[derive(Clone, Debug, Default)]
pub struct ComplementPattern {
    /// First of each block of rows, and their number.
    pub(super) bounds: Vec<usize>,
    /// Block columns of each block row of `L_N`, ascending.
    pub(super) offsets: Vec<usize>,
    pub(super) columns: Vec<u32>,
    /// Block rows of each block column of `L_N`, ascending.
    pub(super) row_offsets: Vec<usize>,
    pub(super) rows: Vec<u32>,
    /// Block columns of each block row of the lower triangle of `S`, ascending, with the diagonal.
    pub(super) own_offsets: Vec<usize>,
    own: Vec<u32>,
    pub(super) updates: usize,
    flops: usize,
}

/// Offsets and lists from pairs `(list, entry)`, each list ascending without repetition. The pairs
/// are scratch afterwards.
fn lists(count: usize, pairs: &mut Vec<(u32, u32)>, offsets: &mut Vec<usize>, list: &mut Vec<u32>) {
    pairs.sort_unstable();
    pairs.dedup();
    fill(offsets, count + 1, 0);
    for (list, _) in &*pairs {
        offsets[*list as usize + 1] += 1;
    }
    for k in 0..count {
        offsets[k + 1] += offsets[k];
    }
    list.clear();
    list.extend(pairs.iter().map(|(_, entry)| *entry));
}

impl ComplementPattern {
    /// The pattern for the row blocks `bounds[k]..bounds[k + 1]` below a matrix `K` of the given
    /// pattern: `couplings` are pairs of a row block and a vertex of `K`, `own` pairs of row
    /// blocks. Cost: the number of updates, times a logarithm.
    ///
    /// # Errors
    /// [`SparseError::Size`] if the bounds do not ascend from 0, or a pair is outside.
    pub fn new(
        bounds: &[usize],
        inner: &BlockPattern,
        couplings: &[(u32, u32)],
        own: &[(u32, u32)],
    ) -> Result<Self, SparseError> {
        let mut out = Self::default();
        out.refill(bounds, inner, couplings, own, &mut SymbolicWorkspace::default())?;
        Ok(out)
    }

    /// Makes it that of other rows, as [`new`](Self::new) does. Allocates only for larger ones than
    /// ever before. After an error it is of no use.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn refill(
        &mut self,
        bounds: &[usize],
        inner: &BlockPattern,
        couplings: &[(u32, u32)],
        own: &[(u32, u32)],
        work: &mut SymbolicWorkspace,
    ) -> Result<(), SparseError> {
        let size = |what, expected, found| SparseError::Size {
            what,
            expected,
            found,
        };
        if bounds.first() != Some(&0) || bounds.windows(2).any(|w| w[0] >= w[1]) {
            return Err(size("ascending block bounds", 1, bounds.len()));
        }
        let blocks = bounds.len() - 1;
        for (i, j) in couplings {
            if *i as usize >= blocks || *j as usize >= inner.len() {
                return Err(size("couplings of rows and vertices", blocks, *i as usize));
            }
        }
        if let Some((i, k)) = own.iter().find(|(i, k)| (*i).max(*k) as usize >= blocks) {
            return Err(size("couplings of rows", blocks, (*i).max(*k) as usize));
        }
        self.bounds.clear();
        self.bounds.extend_from_slice(bounds);
        self.reach(inner, couplings, &mut work.blocks);
        self.couple(inner, own, &mut work.blocks);
        Ok(())
    }

    /// The pattern of `L_N`.
    fn reach(&mut self, inner: &BlockPattern, couplings: &[(u32, u32)], work: &mut PatternWorkspace) {
        let PatternWorkspace {
            seen,
            pairs,
            offsets,
            list,
            reached,
            ..
        } = work;
        let blocks = self.len();
        pairs.clear();
        pairs.extend_from_slice(couplings);
        lists(blocks, pairs, offsets, list);
        reached.clear();
        fill(seen, inner.len(), usize::MAX);
        for i in 0..blocks {
            for j in &list[offsets[i]..offsets[i + 1]] {
                // The parent is the first block below the diagonal.
                let mut up = Some(*j);
                while let Some(j) = up.filter(|j| seen[*j as usize] != i) {
                    seen[j as usize] = i;
                    reached.push((i as u32, j));
                    up = inner.column(j as usize).first().copied();
                }
            }
        }
        pairs.clear();
        pairs.extend(reached.iter().map(|(i, j)| (*j, *i)));
        lists(inner.len(), pairs, &mut self.row_offsets, &mut self.rows);
        lists(blocks, reached, &mut self.offsets, &mut self.columns);
    }

    /// The pattern of `S`, and what all costs.
    fn couple(&mut self, inner: &BlockPattern, own: &[(u32, u32)], work: &mut PatternWorkspace) {
        let PatternWorkspace {
            seen,
            pairs,
            offsets: direct_offsets,
            list: direct,
            ..
        } = work;
        let blocks = self.len();
        pairs.clear();
        pairs.extend(own.iter().map(|(i, k)| (*i.max(k), *i.min(k))));
        pairs.extend((0..blocks as u32).map(|i| (i, i)));
        lists(blocks, pairs, direct_offsets, direct);
        let Self {
            bounds,
            offsets,
            columns,
            row_offsets,
            rows,
            own_offsets,
            own,
            updates,
            flops,
        } = self;
        own.clear();
        own_offsets.clear();
        own_offsets.push(0);
        (*updates, *flops) = (0, 0);
        let size = |i: usize| bounds[i + 1] - bounds[i];
        fill(seen, blocks, usize::MAX);
        for i in 0..blocks {
            let start = own.len();
            let mut see = |k: u32, own: &mut Vec<u32>| {
                if std::mem::replace(&mut seen[k as usize], i) != i {
                    own.push(k);
                }
            };
            direct[direct_offsets[i]..direct_offsets[i + 1]]
                .iter()
                .for_each(|k| see(*k, own));
            for j in columns[offsets[i]..offsets[i + 1]].iter().map(|j| *j as usize) {
                let (width, mut across) = (inner.block_size(j), 0);
                for k in inner.column(j) {
                    across += inner.block_size(*k as usize);
                    *updates += 1;
                }
                for k in rows[row_offsets[j]..row_offsets[j + 1]]
                    .iter()
                    .take_while(|k| **k as usize <= i)
                {
                    across += size(*k as usize);
                    *updates += 1;
                    see(*k, own);
                }
                *flops += size(i) * width * (width + 1 + 2 * across);
            }
            own[start..].sort_unstable();
            own_offsets.push(own.len());
        }
    }

    /// Number of row blocks.
    pub(super) fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    pub(super) fn height(&self, i: usize) -> usize {
        self.bounds[i + 1] - self.bounds[i]
    }

    /// Block updates of one computation.
    pub fn updates(&self) -> usize {
        self.updates
    }

    /// Floating-point operations of one computation.
    pub fn flops(&self) -> usize {
        self.flops
    }

    /// Row blocks that row block `i` is coupled with in `S`, up to itself, ascending.
    pub fn own(&self, i: usize) -> &[u32] {
        &self.own[self.own_offsets[i]..self.own_offsets[i + 1]]
    }
}
