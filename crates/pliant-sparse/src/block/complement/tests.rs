//! The Schur complement against Gaussian elimination, entry by entry, and itself on more threads.

use super::*;
use crate::block::tests::{Problem, entries_of};
use crate::{Graph, PivotRule};
use proptest::prelude::*;

/// The first `inner` vertices of a problem as `K`, the others as rows below it.
struct Split {
    inner: BlockSymbolic,
    factor: BlockFactor,
    symbolic: ComplementSymbolic,
    complement: Complement,
}

impl Split {
    fn new(problem: &Problem, inner: usize) -> Self {
        let bounds = &problem.bounds;
        let mut graph = Graph::new(inner);
        let (mut couplings, mut own) = (Vec::new(), Vec::new());
        let (offsets, neighbours) = problem.graph.adjacency().unwrap();
        for i in 0..bounds.len() - 1 {
            for j in &neighbours[offsets[i] as usize..offsets[i + 1] as usize] {
                let j = *j as usize;
                match (i < inner, j < inner) {
                    (true, true) => graph.connect(i, j),
                    (false, true) => couplings.push(((i - inner) as u32, j as u32)),
                    (false, false) => own.push(((i - inner) as u32, (j - inner) as u32)),
                    (true, false) => {}
                }
            }
        }
        let first = bounds[inner];
        let pattern = BlockPattern::new(&bounds[..=inner], &graph).unwrap();
        let below: Vec<usize> = bounds[inner..].iter().map(|b| b - first).collect();
        let outer = ComplementPattern::new(&below, &pattern, &couplings, &own).unwrap();
        let symbolic = ComplementSymbolic::new(&pattern, outer).unwrap();
        let inner = BlockSymbolic::new(pattern).unwrap();
        let (mut factor, mut complement) = (inner.allocate(), symbolic.allocate());
        for i in 0..problem.a.pattern().rows() {
            for slot in problem.a.pattern().row_slots(i) {
                let j = problem.a.pattern().indices()[slot] as usize;
                let (rows, square) = complement.parts_mut();
                let to = if i < first {
                    &mut factor.values_mut()[inner.slot(i, j).unwrap()]
                } else if j < first {
                    &mut rows[symbolic.slot(&inner, i - first, j).unwrap()]
                } else {
                    &mut square[symbolic.own_slot(i - first, j - first).unwrap()]
                };
                *to = problem.a.values()[slot];
            }
        }
        factor.factor(&inner, PivotRule::Keep).unwrap();
        Self {
            inner,
            factor,
            symbolic,
            complement,
        }
    }

    fn compute(&mut self, threads: &Threads) -> Result<(), SparseError> {
        let factor = (&self.inner, &self.factor);
        self.complement.compute(factor, &self.symbolic, threads)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn rows_below_a_factor_leave_the_schur_complement(
        sizes in prop::collection::vec(1usize..9, 2..9), seed in any::<u64>(),
        edges in prop::collection::vec((0usize..9, 0usize..9), 0..25), share in 0.0..1.0f64
    ) {
        let blocks = sizes.len();
        let edges: Vec<_> = edges.iter().map(|(a, b)| (a % blocks, b % blocks)).collect();
        let problem = Problem::new(&sizes, &edges, seed);
        let inner = (share * blocks as f64) as usize;
        let mut split = Split::new(&problem, inner);
        split.compute(&Threads::one()).unwrap();
        let (n, first) = (problem.a.pattern().rows(), problem.bounds[inner]);
        let mut dense = entries_of(&problem.a);
        for k in 0..first {
            for i in k + 1..n {
                let l = dense[i * n + k] / dense[k * n + k];
                for j in k + 1..n {
                    dense[i * n + j] -= l * dense[k * n + j];
                }
            }
        }
        for i in first..n {
            for k in first..=i {
                let slot = split.symbolic.own_slot(i - first, k - first);
                let found = slot.map_or(0.0, |at| split.complement.own()[at]);
                // Diagonally dominant: roundings of the diagonal.
                prop_assert!((found - dense[i * n + k]).abs() < 1e-12 * n as f64, "{} {}", found, dense[i * n + k]);
            }
        }
    }
}

/// A chain of bodies, and rows that touch two neighbours each.
fn long() -> Problem {
    let (bodies, rows) = (40, 120);
    let mut sizes = vec![6; bodies];
    sizes.extend((0..rows).map(|k| [3, 1, 3, 7][k % 4]));
    let mut edges: Vec<_> = (1..bodies).map(|k| (k - 1, k)).collect();
    for k in 0..rows {
        edges.extend([0, 1].map(|next| (bodies + k, (7 * k + next) % bodies)));
    }
    edges.push((bodies, bodies + 5));
    Problem::new(&sizes, &edges, 3)
}

#[test]
fn threads_do_not_change_a_bit() {
    let problem = long();
    let mut one = Split::new(&problem, 40);
    // Enough for several pieces of both kinds.
    assert!(one.complement.rows.len() > 8 * PIECE && one.complement.own.len() > 8 * PIECE);
    one.compute(&Threads::one()).unwrap();
    for threads in [2, 3] {
        let mut other = Split::new(&problem, 40);
        other.compute(&Threads::new(threads).unwrap()).unwrap();
        assert_eq!(one.complement.own, other.complement.own);
        assert_eq!(one.complement.rows, other.complement.rows);
    }
}

#[test]
fn rows_are_felt_on_the_way_to_the_root_only() {
    // Two chains 0-1-2 and 3-4; row 0 touches the middle of the first, row 1 the end of the first
    // and the start of the second.
    let problem = Problem::new(
        &[6, 6, 6, 6, 6, 1, 2],
        &[(0, 1), (1, 2), (3, 4), (1, 5), (2, 6), (3, 6)],
        1,
    );
    let split = Split::new(&problem, 5);
    let pattern = split.symbolic.pattern();
    let columns = |i: usize| &pattern.columns[pattern.offsets[i]..pattern.offsets[i + 1]];
    assert_eq!((columns(0), columns(1)), (&[1, 2][..], &[2, 3, 4][..]));
    assert_eq!((pattern.own(0), pattern.own(1)), (&[0][..], &[0, 1][..]));
    // Row 0: block 1 updates 2 and itself, 2 itself. Row 1: 2 both rows; 3 block 4 and itself; 4
    // itself.
    assert_eq!(pattern.updates(), 3 + 5);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let inner = BlockPattern::new(&[0, 2], &Graph::new(1)).unwrap();
    for bounds in [vec![], vec![1, 2], vec![0, 2, 2]] {
        assert!(ComplementPattern::new(&bounds, &inner, &[], &[]).is_err());
    }
    for (couplings, own) in [
        (vec![(1, 0)], vec![]),
        (vec![(0, 1)], vec![]),
        (vec![], vec![(0, 1)]),
    ] {
        assert!(ComplementPattern::new(&[0, 1], &inner, &couplings, &own).is_err());
    }
    let mut split = Split::new(&long(), 40);
    split.factor.clear();
    assert_eq!(split.compute(&Threads::one()), Err(SparseError::NotFactored));
    let mut other = Split::new(&Problem::new(&[2, 1], &[(0, 1)], 1), 1);
    std::mem::swap(&mut other.complement, &mut split.complement);
    assert!(matches!(
        other.compute(&Threads::one()),
        Err(SparseError::Size { .. })
    ));
    assert!(other.symbolic.slot(&other.inner, 1, 0).is_none() && other.symbolic.own_slot(0, 1).is_none());
}
