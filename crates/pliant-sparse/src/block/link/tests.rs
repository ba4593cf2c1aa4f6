//! Columns with one block below, of every size, against the dense factor; and the filling on the
//! way.

use crate::block::tests::Problem;
use crate::ldlt::DROPPED;
use crate::{BlockPattern, BlockSymbolic, FactorReport, PivotRule};

/// Two blocks of every pair of sizes, with a threshold that drops the pivots below it: `L` and `D`
/// to rounding, counts exactly.
#[test]
fn links_of_every_size_are_those_of_the_dense_factor() {
    for (p, q) in (1..=7).flat_map(|p| (1..=7).map(move |q| (p, q))) {
        for weak in [None, Some(0), Some(p - 1), Some(p)] {
            let mut problem = Problem::new(&[p, q, q], &[(0, 1), (1, 2)], (7 * p + q) as u64);
            // A diagonal entry that elimination cannot lift above the threshold of 2: it is small,
            // and so are the others of its row.
            if let Some(i) = weak {
                for slot in problem.a.pattern().row_slots(i) {
                    problem.a.values_mut()[slot] *= 0.01;
                }
            }
            let threshold = 2.0;
            let symbolic =
                BlockSymbolic::new(BlockPattern::new(&problem.bounds, &problem.graph).unwrap()).unwrap();
            let mut factor = symbolic.allocate();
            problem.fill(&symbolic, &mut factor);
            let report = factor.factor(&symbolic, PivotRule::Drop { threshold }).unwrap();
            let (l, d) = problem.dense(threshold);
            let count = |what: &dyn Fn(&f64) -> bool| d.iter().filter(|d| what(d)).count();
            let expected = FactorReport {
                positive: count(&|d| *d > 0.0 && *d != DROPPED),
                negative: count(&|d| *d < 0.0),
                dropped: count(&|d| *d == DROPPED),
            };
            assert_eq!(report, expected, "{p} {q} {weak:?}");
            assert_eq!(report.dropped, usize::from(weak.is_some()), "{p} {q} {weak:?}");
            for i in 0..symbolic.size() {
                // Some dozens of roundings of numbers up to 25.
                assert!(
                    (factor.pivots()[i] - d[i]).abs() <= 1e-13 * d[i].abs(),
                    "{p} {q} {i}"
                );
                for j in 0..i {
                    if let Some(slot) = symbolic.slot(i, j) {
                        let own = factor.values_mut()[slot];
                        assert!((own - l[i][j]).abs() < 1e-13, "{p} {q} ({i}, {j})");
                    }
                }
            }
        }
    }
}

/// Each column and those that it updates are cleared and filled just before its turn, a chain that
/// branches: the bits of filling first.
#[test]
fn filled_on_the_way_is_filled_before() {
    let sizes = [6, 3, 6, 5, 2, 1, 6, 4, 6, 7];
    let edges = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 8),
        (4, 5),
        (5, 8),
        (6, 7),
        (7, 9),
        (8, 9),
    ];
    let problem = Problem::new(&sizes, &edges, 11);
    let pattern = BlockPattern::new(&problem.bounds, &problem.graph).unwrap();
    let symbolic = BlockSymbolic::new(pattern).unwrap();
    let rule = PivotRule::Keep;
    let mut before = symbolic.allocate();
    problem.fill(&symbolic, &mut before);
    let expected = before.factor(&symbolic, rule).unwrap();
    let mut source = symbolic.allocate();
    problem.fill(&symbolic, &mut source);
    let mut factor = symbolic.allocate();
    // What is left of another matrix.
    factor.values_mut().fill(f64::NAN);
    let mut done = vec![false; sizes.len()];
    let report = factor.factor_as_filled(&symbolic, rule, |k, values| {
        let below = symbolic.pattern().column(k).iter().map(|i| *i as usize);
        for column in below.chain([k]) {
            if !std::mem::replace(&mut done[column], true) {
                let own = symbolic.column_values(column);
                values[own.clone()].copy_from_slice(&source.values_mut()[own]);
            }
        }
        Ok::<(), crate::SparseError>(())
    });
    assert_eq!(report.unwrap(), expected);
    assert_eq!(factor.pivots(), before.pivots());
    let mut x: Vec<f64> = (0..symbolic.size()).map(|i| (i as f64).sin()).collect();
    let mut y = x.clone();
    factor.solve_in_place(&symbolic, &mut x);
    before.solve_in_place(&symbolic, &mut y);
    assert_eq!(x, y);
}

#[test]
fn an_error_of_the_filling_comes_back_and_leaves_no_factor() {
    let problem = Problem::new(&[6, 3], &[(0, 1)], 5);
    let pattern = BlockPattern::new(&problem.bounds, &problem.graph).unwrap();
    let symbolic = BlockSymbolic::new(pattern).unwrap();
    let mut factor = symbolic.allocate();
    problem.fill(&symbolic, &mut factor);
    factor.factor(&symbolic, PivotRule::Keep).unwrap();
    let wrong = crate::SparseError::NoColumn {
        column: 9,
        columns: 2,
    };
    let found = factor.factor_as_filled(&symbolic, PivotRule::Keep, |k, _| {
        if k == 1 { Err(wrong.clone()) } else { Ok(()) }
    });
    assert_eq!(found, Err(wrong));
    assert_eq!(
        factor.reopen(&symbolic, &[0]),
        Err(crate::SparseError::NotFactored)
    );
}
