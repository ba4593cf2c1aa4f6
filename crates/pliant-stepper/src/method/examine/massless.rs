//! Directions without mass: the null space of the mass matrix.

use pliant_model::{Model, NodeId};
use pliant_solvers::KktSystem;
use std::collections::{BTreeMap, BTreeSet};

/// Coupled coordinates up to which their common mass matrix is examined; of more than these, which
/// meshes have, no direction but single coordinates.
const MOST: usize = 256;
/// Share of its own mass that a coordinate has beside others, below which it has none.
const NO_MASS: f64 = 1e-11;
/// Share of the largest mass or moment of inertia of all, below which a coordinate has none.
const NOTHING: f64 = 1e-20;
/// Share of a direction below which a coordinate has no part in it.
const PART: f64 = 1e-6;

/// A direction in which something moves without any mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Massless {
    /// The independent node.
    pub node: NodeId,
    /// Its element; if the direction moves several, the one that it moves most.
    pub element: usize,
    /// The direction in the velocities of the element (bodies: angular ones in body axes), the
    /// largest number of which is 1.
    pub direction: Vec<f64>,
    /// How many elements more it moves.
    pub others: usize,
}

/// The directions without mass that no active hard row holds. Cost: a pass over the matrices, and a
/// small dense factor for all coordinates whose masses are coupled.
pub(super) fn find_massless(kkt: &KktSystem, model: &Model) -> Vec<Massless> {
    let mut blocks = Vec::new();
    let own = |i: usize| kkt.w.get(i, i);
    let least = NOTHING * (0..kkt.n()).map(own).fold(0.0, f64::max);
    for dofs in coupled(kkt, |i| own(i) <= least) {
        let vectors = match dofs[..] {
            [dof] if own(dof) > least => continue,
            [_] => vec![vec![1.0]],
            _ if dofs.len() > MOST => continue,
            _ => null_vectors_of(kkt, &dofs),
        };
        if !vectors.is_empty() {
            blocks.push((dofs, vectors));
        }
    }
    if blocks.is_empty() {
        return Vec::new();
    }
    let rows = rows_by_dof(kkt);
    let free = blocks.iter().flat_map(|(dofs, vectors)| {
        let free = not_held(kkt, &rows, dofs, vectors);
        free.into_iter().filter_map(|v| in_words_of(model, dofs, &v))
    });
    free.collect()
}

/// Free coordinates in sets whose masses are coupled, in ascending order of the first; those of no
/// mass are alone.
fn coupled(kkt: &KktSystem, has_none: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let n = kkt.n();
    let mut first: Vec<usize> = (0..n).collect();
    let root = |first: &mut [usize], mut k: usize| {
        while first[k] != k {
            first[k] = first[first[k]];
            k = first[k];
        }
        k
    };
    for i in (0..n).filter(|i| !kkt.fixed[*i] && !has_none(*i)) {
        for (k, w) in kkt.w.row_entries(i) {
            if w != 0.0 && k != i && !kkt.fixed[k] && !has_none(k) {
                let [a, b] = [root(&mut first, i), root(&mut first, k)];
                first[a.max(b)] = a.min(b);
            }
        }
    }
    let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for i in (0..n).filter(|i| !kkt.fixed[*i]) {
        sets.entry(root(&mut first, i)).or_default().push(i);
    }
    sets.into_values().collect()
}

/// Directions of coupled coordinates in which these have no mass.
fn null_vectors_of(kkt: &KktSystem, dofs: &[usize]) -> Vec<Vec<f64>> {
    let n = dofs.len();
    let scales: Vec<f64> = dofs.iter().map(|i| kkt.w.get(*i, *i).max(0.0).sqrt()).collect();
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for k in 0..=i {
            let scale = scales[i] * scales[k];
            let w = kkt.w.get(dofs[i].max(dofs[k]), dofs[i].min(dofs[k]));
            let w = if scale > 0.0 { w / scale } else { 0.0 };
            (a[i * n + k], a[k * n + i]) = (w, w);
        }
    }
    let mut vectors = null_vectors(&a, n);
    for vector in &mut vectors {
        for (x, scale) in vector.iter_mut().zip(&scales) {
            *x = if *scale > 0.0 { *x / scale } else { *x };
        }
        let largest = vector.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        vector.iter_mut().for_each(|x| *x /= largest);
    }
    vectors
}

/// The null space of a symmetric positive-semidefinite matrix, n x n with a diagonal of ones and
/// zeros, by Cholesky's factor with pivots: `x_f = 1` for a coordinate that is left over, and
/// `x = -A_PP^-1 A_Pf` for those that have been eliminated.
fn null_vectors(a: &[f64], n: usize) -> Vec<Vec<f64>> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut l = vec![0.0; n * n];
    let mut left: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    let mut rank = 0;
    while rank < n {
        let (mut best, mut size) = (rank, f64::NEG_INFINITY);
        for (at, i) in order.iter().enumerate().skip(rank) {
            if left[*i] > size {
                (best, size) = (at, left[*i]);
            }
        }
        if size <= NO_MASS {
            break;
        }
        order.swap(rank, best);
        let p = order[rank];
        let root = size.sqrt();
        l[p * n + rank] = root;
        for i in order[rank + 1..].iter().copied() {
            let known: f64 = (0..rank).map(|k| l[i * n + k] * l[p * n + k]).sum();
            let entry = (a[i * n + p] - known) / root;
            l[i * n + rank] = entry;
            left[i] -= entry * entry;
        }
        rank += 1;
    }
    let vector = |f: usize| {
        let mut x = vec![0.0; n];
        x[f] = 1.0;
        for k in (0..rank).rev() {
            let known: f64 = (k + 1..rank).map(|j| l[order[j] * n + k] * x[order[j]]).sum();
            x[order[k]] = -(l[f * n + k] + known) / l[order[k] * n + k];
        }
        x
    };
    order[rank..].iter().map(|f| vector(*f)).collect()
}

/// The active rows of each coordinate.
fn rows_by_dof(kkt: &KktSystem) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); kkt.n()];
    for row in 0..kkt.m() {
        for (k, j) in kkt.j.row_entries(row) {
            if j != 0.0 {
                rows[k].push(row);
            }
        }
    }
    rows
}

/// The combinations of directions that move no row.
fn not_held(kkt: &KktSystem, rows: &[Vec<usize>], dofs: &[usize], vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let touched: BTreeSet<usize> = dofs.iter().flat_map(|dof| &rows[*dof]).copied().collect();
    let count = vectors.len();
    let mut gram = vec![0.0; count * count];
    for row in touched {
        let mut size = 0.0f64;
        let mut moved = vec![0.0; count];
        for (dof, j) in kkt.j.row_entries(row) {
            size = size.max(j.abs());
            if let Ok(at) = dofs.binary_search(&dof) {
                moved.iter_mut().zip(vectors).for_each(|(m, v)| *m += j * v[at]);
            }
        }
        for a in 0..count {
            for b in 0..count {
                gram[a * count + b] += moved[a] * moved[b] / (size * size);
            }
        }
    }
    let combine = |weights: Vec<f64>| {
        let mut sum = vec![0.0; dofs.len()];
        for (weight, vector) in weights.iter().zip(vectors) {
            sum.iter_mut().zip(vector).for_each(|(s, x)| *s += weight * x);
        }
        sum
    };
    null_vectors(&gram, count).into_iter().map(combine).collect()
}

/// A direction as that of the element that it moves most.
fn in_words_of(model: &Model, dofs: &[usize], vector: &[f64]) -> Option<Massless> {
    let mut elements: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    let largest = vector.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    for (dof, x) in dofs.iter().zip(vector) {
        if x.abs() <= PART * largest {
            continue;
        }
        let mut nodes = model.nodes().iter();
        let index = nodes.rposition(|n| n.first_dof().is_some_and(|f| f <= *dof && n.count > 0))?;
        let node = &model.nodes()[index];
        let size = node.space.velocity_size();
        let at = dof - node.first_dof()?;
        let direction = elements
            .entry((index, at / size))
            .or_insert_with(|| vec![0.0; size]);
        direction[at % size] = x / largest;
    }
    let size = |v: &[f64]| v.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    let others = elements.len().checked_sub(1)?;
    let most = elements.into_iter().max_by(|a, b| {
        let sizes = size(&a.1).total_cmp(&size(&b.1));
        // Of equal ones the first.
        sizes.then(b.0.cmp(&a.0))
    });
    let ((index, element), direction) = most?;
    Some(Massless {
        node: model.node_named(&model.nodes()[index].name)?,
        element,
        direction,
        others,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A = B^T B` of rank 2 with 4 columns: what is found is 2 vectors that `A` turns to zero, also
    /// where rounding leaves something of pivots that are zero.
    #[test]
    fn null_spaces_of_dense_matrices() {
        let turned = |angle: f64, height: f64| [angle.cos(), height * angle.sin()];
        let others = (0..20).map(|k| {
            let angle = 0.1 * f64::from(k);
            [(0.3, 1.0), (1.1, 0.7), (2.0, 1.3), (2.9, 0.9)].map(|(a, height)| turned(a + angle, height))
        });
        let first = [[0.6, 0.8], [0.8, -0.6], [0.0, 1.0], [0.6, 0.8]];
        for b in std::iter::once(first).chain(others) {
            let a: Vec<f64> = (0..16)
                .map(|at| b[at / 4][0] * b[at % 4][0] + b[at / 4][1] * b[at % 4][1])
                .collect();
            let found = null_vectors(&a, 4);
            assert_eq!(found.len(), 2);
            for vector in &found {
                assert!(vector.contains(&1.0));
                for i in 0..4 {
                    let image: f64 = (0..4).map(|k| a[4 * i + k] * vector[k]).sum();
                    assert!(image.abs() < 1e-14, "{vector:?}");
                }
            }
        }
        assert!(null_vectors(&[1.0, 0.5, 0.5, 1.0], 2).is_empty());
    }

    /// Combinations of rows that share some are one group; gaps along them are what is apart.
    #[test]
    fn combinations_that_share_rows_are_together() {
        let half = 0.5f64.sqrt();
        let vectors = vec![
            vec![(0, half), (1, -half)],
            vec![(4, half), (5, -half)],
            vec![(1, 0.6), (2, 0.8)],
        ];
        let mut gaps = vec![Some(super::super::Gap::Position(0.0)); 6];
        gaps[4] = Some(super::super::Gap::Position(0.5));
        let groups = super::super::grouped(&vectors, &gaps);
        assert_eq!(groups.len(), 2);
        assert_eq!((groups[0].redundant, &groups[0].rows[..]), (2, &[0, 1, 2][..]));
        assert_eq!(groups[1].rows, [4, 5]);
        // Two rows that are 0.5 apart miss a compromise by 0.25 each.
        assert!((groups[1].apart[0].1 - 0.25).abs() < 1e-15);
        assert!((groups[1].apart[1].1 + 0.25).abs() < 1e-15);
        assert!(groups[0].apart.iter().all(|(_, miss)| *miss == 0.0));
    }
}
