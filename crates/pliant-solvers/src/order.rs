//! The order of elimination, decided on the block graph.
//!
//! A hard row (`R = 0`) has a zero on the diagonal until one of its variables has been eliminated, so minimum degree alone
//! would break down. Two orders:
//!
//! - *paired*: every hard row block is matched with one primal block and eliminated right after it, as one vertex. For
//!   a tree of bodies this is the elimination from the leaves, without fill beyond the block tree.
//! - *primal first*: all variables and soft rows by minimum degree, then the hard rows by minimum degree of their own
//!   coupling. More fill, but every hard pivot is then an exact Schur complement pivot, so a zero one *is* a redundant row.

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

    /// Matches every hard row block with a primal block of its own that has room for its rows: augmenting paths, first
    /// come first served. `None` if there is no such matching.
    fn pair(&self, system: &KktSystem) -> Option<Vec<Option<usize>>> {
        let rows = |k: usize| system.row_blocks()[k + 1] - system.row_blocks()[k];
        let mut owner: Vec<Option<usize>> = vec![None; self.free.len()];
        let mut partner: Vec<Option<usize>> = vec![None; self.hard.len()];
        let mut reached = vec![usize::MAX; self.free.len()];
        let mut from = vec![0usize; self.free.len()];
        for start in (0..self.hard.len()).filter(|k| self.hard[*k]) {
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
                    match owner[p] {
                        None => {
                            end = Some(p);
                            break 'search;
                        }
                        Some(other) => queue.push_back(other),
                    }
                }
            }
            let mut p = end?;
            loop {
                let k = from[p];
                owner[p] = Some(k);
                match partner[k].replace(p) {
                    None => break,
                    Some(q) => p = q,
                }
            }
        }
        Some(owner)
    }
}

/// The unknowns that are eliminated, in order: `i < n` is a variable, `n + i` a row. Fixed variables do not appear.
pub(crate) struct Order {
    pub(crate) sequence: Vec<usize>,
    /// Whether hard rows come after all variables, so that dropped pivots decide the rank.
    pub(crate) primal_first: bool,
}

impl Order {
    pub(crate) fn new(system: &KktSystem, primal_first: bool) -> Result<Self, SolveError> {
        let blocks = Blocks::new(system);
        let owner = if primal_first { None } else { blocks.pair(system) };
        let (vertices, primal_first) = match owner {
            Some(owner) => (paired(system, &blocks, &owner)?, false),
            None => (primal_then_rows(system, &blocks)?, true),
        };
        let n = system.n();
        let primal = blocks.free.len();
        let mut sequence = Vec::with_capacity(n + system.m());
        for v in vertices {
            if v < primal {
                let bounds = &system.primal_blocks()[v..v + 2];
                sequence.extend((bounds[0]..bounds[1]).filter(|i| !system.fixed[*i]));
            } else {
                let bounds = &system.row_blocks()[v - primal..v - primal + 2];
                sequence.extend((bounds[0]..bounds[1]).map(|i| n + i));
            }
        }
        Ok(Self {
            sequence,
            primal_first,
        })
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

fn paired(system: &KktSystem, blocks: &Blocks, owner: &[Option<usize>]) -> Result<Vec<usize>, SolveError> {
    let primal = blocks.free.len();
    // Vertex of a row block: its partner's, or its own.
    let mut vertex: Vec<usize> = (primal..primal + blocks.hard.len()).collect();
    for (p, k) in owner.iter().enumerate() {
        if let Some(k) = k {
            vertex[*k] = p;
        }
    }
    let mut graph = Graph::new(primal + blocks.hard.len());
    for (a, b) in primal_edges(system, blocks) {
        graph.connect(a, b);
    }
    for (k, touched) in blocks.touched.iter().enumerate() {
        for p in touched {
            graph.connect(vertex[k], *p);
        }
    }
    let order = graph.minimum_degree()?;
    let mut out = Vec::with_capacity(order.len());
    for v in order {
        if v < primal {
            out.push(v);
            out.extend(owner[v].map(|k| primal + k));
        } else if vertex[v - primal] == v {
            out.push(v);
        }
    }
    Ok(out)
}

fn primal_then_rows(system: &KktSystem, blocks: &Blocks) -> Result<Vec<usize>, SolveError> {
    let primal = blocks.free.len();
    let mut first = Graph::new(primal + blocks.hard.len());
    for (a, b) in primal_edges(system, blocks) {
        first.connect(a, b);
    }
    let mut incident: Vec<Vec<usize>> = vec![Vec::new(); primal];
    for (k, touched) in blocks.touched.iter().enumerate() {
        for p in touched {
            if blocks.hard[k] {
                incident[*p].push(k);
            } else {
                first.connect(primal + k, *p);
            }
        }
    }
    let mut second = Graph::new(blocks.hard.len());
    for list in &incident {
        for (i, a) in list.iter().enumerate() {
            for b in &list[..i] {
                second.connect(*a, *b);
            }
        }
    }
    let soft = |v: &usize| *v < primal || !blocks.hard[*v - primal];
    let mut out: Vec<usize> = first.minimum_degree()?.into_iter().filter(soft).collect();
    out.extend(
        second
            .minimum_degree()?
            .into_iter()
            .filter(|k| blocks.hard[*k])
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
        let order = Order::new(&s, false).unwrap();
        assert!(!order.primal_first);
        assert_eq!(order.sequence.len(), 400);
        let rank = |v: usize| order.sequence.iter().position(|x| *x == v).unwrap();
        for i in 0..200 {
            assert!(rank(200 + i) > rank(i) || (i > 0 && rank(200 + i) > rank(i - 1)));
        }
    }

    #[test]
    fn one_row_too_many_goes_primal_first() {
        // Two hard rows on one variable cannot both have a partner.
        let s = KktSystem::dense(&[1.0], &[1.0, 1.0], &[0.0, 0.0]).unwrap();
        let order = Order::new(&s, false).unwrap();
        assert!(order.primal_first);
        assert_eq!(order.sequence[0], 0);
    }
}
