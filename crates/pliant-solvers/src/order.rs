//! The order of elimination, decided on the block graph.
//!
//! A hard row (`R = 0`) has a zero on the diagonal until variables it acts on have been eliminated, so minimum degree alone would
//! break down. Every hard row block is therefore *owned* by one primal block and eliminated right after it, as one vertex of
//! the graph that minimum degree sees. For a tree of bodies this is the elimination from the leaves, without fill beyond the
//! block tree. Rows that find no owner, or whose pivot vanished in an earlier factorisation, are *deferred*: they come after
//! everything else, where their pivot is an exact Schur complement, so that a zero one *is* a redundant row.

use crate::{KktSystem, SolveError};
use pliant_sparse::Graph;
use std::collections::VecDeque;

/// Vertices of the block graph: primal blocks with a free variable, then row blocks.
struct Blocks {
    /// Block of each variable.
    of_dof: Vec<usize>,
    /// Row blocks touched by each primal block are found through these: primal blocks of each row block, ascending.
    touched: Vec<Vec<usize>>,
    /// Whether a row block needs a partner.
    hard: Vec<bool>,
    /// Free variables of each primal block.
    free: Vec<usize>,
}

/// Rows whose own diagonal is below this share of their Delassus diagonal are paired like hard rows.
const NEARLY_HARD: f64 = 1e-6;

impl Blocks {
    fn new(system: &KktSystem) -> Self {
        let of = |bounds: &[usize]| -> Vec<usize> {
            bounds
                .windows(2)
                .enumerate()
                .flat_map(|(k, w)| std::iter::repeat_n(k, w[1] - w[0]))
                .collect()
        };
        let of_dof = of(system.primal_blocks());
        let count = |w: &[usize]| (w[0]..w[1]).filter(|i| !system.fixed[*i]).count();
        let free = system.primal_blocks().windows(2).map(count).collect();
        let mut touched = Vec::new();
        let mut hard = Vec::new();
        for w in system.row_blocks().windows(2) {
            let rows = w[0]..w[1];
            let mut list: Vec<usize> = rows
                .clone()
                .flat_map(|i| system.j.pattern().row(i))
                .filter(|k| !system.fixed[**k as usize])
                .map(|k| of_dof[*k as usize])
                .collect();
            list.sort_unstable();
            list.dedup();
            touched.push(list);
            hard.push(
                rows.clone()
                    .any(|i| system.r_diagonal(i) <= NEARLY_HARD * system.row_scale(i)),
            );
        }
        Self {
            of_dof,
            touched,
            hard,
            free,
        }
    }

    /// The owner of every hard row block that is not deferred: first one each, by augmenting paths, then as many as are
    /// linearly independent on the owner's own variables.
    fn owners(&self, system: &KktSystem, deferred: &[bool]) -> Vec<Option<usize>> {
        let rows = |k: usize| system.row_blocks()[k + 1] - system.row_blocks()[k];
        let mut owner: Vec<Option<usize>> = vec![None; self.hard.len()];
        let mut owned: Vec<Option<usize>> = vec![None; self.free.len()];
        let mut reached = vec![usize::MAX; self.free.len()];
        let mut from = vec![0usize; self.free.len()];
        let wanted = |k: &usize| self.hard[*k] && !deferred[*k];
        for start in (0..self.hard.len()).filter(wanted) {
            // Breadth first over alternating paths; `from[p]` is the row block that reached primal block p.
            let mut queue = VecDeque::from([start]);
            let mut end = None;
            'search: while let Some(k) = queue.pop_front() {
                let fits = |p: &&usize| self.free[**p] >= rows(k);
                for &p in self.touched[k].iter().filter(fits) {
                    if reached[p] == start {
                        continue;
                    }
                    reached[p] = start;
                    from[p] = k;
                    match owned[p] {
                        None => {
                            end = Some(p);
                            break 'search;
                        }
                        Some(other) => queue.push_back(other),
                    }
                }
            }
            let Some(mut p) = end else { continue };
            loop {
                let k = from[p];
                owned[p] = Some(k);
                match owner[k].replace(p) {
                    None => break,
                    Some(q) => p = q,
                }
            }
        }
        let mut load: Vec<Vec<usize>> = owned.into_iter().map(|k| k.into_iter().collect()).collect();
        for k in (0..self.hard.len()).filter(wanted) {
            if owner[k].is_some() {
                continue;
            }
            let candidates = self.touched[k].iter().copied();
            let best = candidates
                .filter(|p| self.independent(system, *p, &load[*p], k))
                .min_by_key(|p| load[*p].len());
            if let Some(p) = best {
                load[p].push(k);
                owner[k] = Some(p);
            }
        }
        owner
    }

    /// Whether the rows of `owned` and `k` are far from dependent on the free variables of primal block `p` alone.
    fn independent(&self, system: &KktSystem, p: usize, owned: &[usize], k: usize) -> bool {
        let first = system.primal_blocks()[p];
        let size = system.primal_blocks()[p + 1] - first;
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for block in owned.iter().copied().chain([k]) {
            for row in system.row_blocks()[block]..system.row_blocks()[block + 1] {
                let mut a: Vec<f64> = (first..first + size)
                    .map(|i| {
                        if system.fixed[i] {
                            0.0
                        } else {
                            system.j.get(row, i) / system.w_diagonal(i).abs().sqrt()
                        }
                    })
                    .collect();
                let norm = |a: &[f64]| a.iter().map(|x| x * x).sum::<f64>().sqrt();
                let before = norm(&a);
                for q in &basis {
                    let dot: f64 = q.iter().zip(&a).map(|(q, a)| q * a).sum();
                    a.iter_mut().zip(q).for_each(|(a, q)| *a -= dot * q);
                }
                let after = norm(&a);
                // A sine of 0.1 costs two digits of a pivot, which refinement gives back.
                if after <= 0.1 * before || after.is_nan() {
                    return false;
                }
                a.iter_mut().for_each(|x| *x /= after);
                basis.push(a);
            }
        }
        true
    }
}

/// An order of elimination, as a plain value: the decisions that a solver took from the first numbers it saw. Imposed on another
/// solver ([`DirectSolver::forget`](crate::DirectSolver::forget)) it makes that one's answers the same bit for bit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elimination {
    /// Eliminated unknowns: `i < n` is a variable, `n + i` a row. Fixed variables do not appear.
    pub(crate) sequence: Vec<usize>,
    /// Row blocks that come after everything else: their pivots decide the rank.
    pub(crate) deferred: Vec<bool>,
}

impl Elimination {
    /// Whether it eliminates each free variable and each row of the system once.
    pub(crate) fn fits(&self, system: &KktSystem) -> bool {
        let n = system.n();
        let mut seen: Vec<bool> = system
            .fixed
            .iter()
            .copied()
            .chain(vec![false; system.m()])
            .collect();
        let once = self
            .sequence
            .iter()
            .all(|v| seen.get_mut(*v).is_some_and(|s| !std::mem::replace(s, true)));
        once && seen.iter().all(|s| *s)
            && seen.len() == n + system.m()
            && self.deferred.len() + 1 == system.row_blocks().len()
    }
}

impl Elimination {
    /// An order in which the given row blocks are deferred, and others that find no owner.
    pub(crate) fn new(system: &KktSystem, deferred: &[bool]) -> Result<Self, SolveError> {
        let blocks = Blocks::new(system);
        let owner = blocks.owners(system, deferred);
        let deferred: Vec<bool> = (0..owner.len())
            .map(|k| deferred[k] || (blocks.hard[k] && owner[k].is_none()))
            .collect();
        let n = system.n();
        let primal = blocks.free.len();
        let mut sequence = Vec::with_capacity(n + system.m());
        for v in vertices(system, &blocks, &owner, &deferred)? {
            if v < primal {
                let bounds = &system.primal_blocks()[v..v + 2];
                sequence.extend((bounds[0]..bounds[1]).filter(|i| !system.fixed[*i]));
            } else {
                let bounds = &system.row_blocks()[v - primal..v - primal + 2];
                sequence.extend((bounds[0]..bounds[1]).map(|i| n + i));
            }
        }
        Ok(Self { sequence, deferred })
    }
}

/// Primal-primal edges of the block graph.
fn primal_edges(system: &KktSystem, blocks: &Blocks) -> impl Iterator<Item = (usize, usize)> {
    (0..system.n()).filter(|i| !system.fixed[*i]).flat_map(move |i| {
        let others = system.w.pattern().row(i).iter().map(|k| *k as usize);
        others
            .filter(|k| !system.fixed[*k])
            .map(move |k| (blocks.of_dof[i], blocks.of_dof[k]))
    })
}

/// Primal blocks, then `primal +` row blocks, in the order of elimination.
fn vertices(
    system: &KktSystem,
    blocks: &Blocks,
    owner: &[Option<usize>],
    deferred: &[bool],
) -> Result<Vec<usize>, SolveError> {
    let primal = blocks.free.len();
    let mut graph = Graph::new(primal + owner.len());
    for (a, b) in primal_edges(system, blocks) {
        graph.connect(a, b);
    }
    let mut owned: Vec<Vec<usize>> = vec![Vec::new(); primal];
    let mut incident: Vec<Vec<usize>> = vec![Vec::new(); primal];
    for (k, touched) in blocks.touched.iter().enumerate() {
        if deferred[k] {
            touched.iter().for_each(|p| incident[*p].push(k));
            continue;
        }
        let vertex = owner[k].unwrap_or(primal + k);
        touched.iter().for_each(|p| graph.connect(vertex, *p));
        if let Some(p) = owner[k] {
            owned[p].push(k);
        }
    }
    let mut out = Vec::with_capacity(primal + owner.len());
    for v in graph.minimum_degree()? {
        if v < primal {
            out.push(v);
            out.extend(owned[v].iter().map(|k| primal + k));
        } else if owner[v - primal].is_none() && !deferred[v - primal] {
            out.push(v);
        }
    }
    let mut last = Graph::new(owner.len());
    for list in &incident {
        for (i, a) in list.iter().enumerate() {
            list[..i].iter().for_each(|b| last.connect(*a, *b));
        }
    }
    out.extend(
        last.minimum_degree()?
            .into_iter()
            .filter(|k| deferred[*k])
            .map(|k| primal + k),
    );
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of `n` unit masses, row i between masses i-1 and i, row 0 to the wall; all rows hard.
    fn chain(n: usize) -> KktSystem {
        let mut w = vec![0.0; n * n];
        let mut j = vec![0.0; n * n];
        for i in 0..n {
            w[i * n + i] = 1.0;
            j[i * n + i] = 1.0;
            if i > 0 {
                j[i * n + i - 1] = -1.0;
            }
        }
        let dense = KktSystem::dense(&w, &j, &vec![0.0; n]).unwrap();
        // The dense pattern couples everything; keep only the non-zeros.
        let mut wp = pliant_sparse::PatternBuilder::new(n, n);
        let mut jp = pliant_sparse::PatternBuilder::new(n, n);
        for i in 0..n {
            wp.insert(i, i);
            jp.insert(i, i);
            if i > 0 {
                jp.insert(i, i - 1);
            }
        }
        let r = dense.r.pattern().clone();
        let all: Vec<usize> = (0..=n).collect();
        let mut s = KktSystem::new(wp.finish().unwrap(), jp.finish().unwrap(), r, all.clone(), all).unwrap();
        s.w.values_mut().fill(1.0);
        for i in 0..n {
            for k in 0..=1usize.min(i) {
                let slot = s.j.pattern().slot(i, i - k).unwrap();
                s.j.values_mut()[slot] = if k == 0 { 1.0 } else { -1.0 };
            }
        }
        s
    }

    #[test]
    fn each_hard_row_of_a_chain_follows_its_partner() {
        let s = chain(200);
        let order = Elimination::new(&s, &[false; 200]).unwrap();
        assert!(order.deferred.iter().all(|d| !d));
        assert_eq!(order.sequence.len(), 400);
        let rank = |v: usize| order.sequence.iter().position(|x| *x == v).unwrap();
        for i in 0..200 {
            assert!(rank(200 + i) > rank(i) || (i > 0 && rank(200 + i) > rank(i - 1)));
        }
    }

    #[test]
    fn a_row_too_many_is_deferred() {
        // Two hard rows on one variable cannot both follow it.
        let s = KktSystem::dense(&[1.0], &[1.0, 1.0], &[0.0, 0.0]).unwrap();
        let order = Elimination::new(&s, &[false; 2]).unwrap();
        assert_eq!(
            (order.deferred, order.sequence),
            (vec![false, true], vec![0, 1, 2])
        );
    }

    #[test]
    fn one_block_owns_as_many_rows_as_are_independent() {
        // One particle, rows along x, along x again, and along x + y.
        let (w, j) = ([1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0, 1.0, 1.0]);
        let dense = KktSystem::dense(&w, &j, &[0.0; 3]).unwrap();
        let patterns = [&dense.w, &dense.j, &dense.r].map(|a| a.pattern().clone());
        let [wp, jp, rp] = patterns;
        let mut s = KktSystem::new(wp, jp, rp, vec![0, 2], vec![0, 1, 2, 3]).unwrap();
        s.w.values_mut().copy_from_slice(dense.w.values());
        s.j.values_mut().copy_from_slice(dense.j.values());
        let order = Elimination::new(&s, &[false; 3]).unwrap();
        assert_eq!(order.deferred, [false, true, false]);
    }
}
