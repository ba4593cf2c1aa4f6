//! Every way against the dense matrix that its definition gives.

use super::*;
use crate::KktSystem;
use crate::complementarity::{BlockSparse, Cone, Delassus, DelassusChoice, DenseDelassus, SaddleDelassus};
use nalgebra::{DMatrix, DVector};
use pliant_sparse::PatternBuilder;

const CONTACTS: usize = 24;
const ROWS: usize = 3 * CONTACTS;

fn noise(k: usize) -> f64 {
    ((k * k) as f64 * 12.9898).sin()
}

/// Bodies of six variables in a row, of masses from 1 to 1000, and one contact between each and the
/// next; the last with the ground.
fn system() -> KktSystem {
    let n = 6 * CONTACTS;
    let mut w = PatternBuilder::new(n, n);
    let mut j = PatternBuilder::new(ROWS, n);
    let mut r = PatternBuilder::new(ROWS, ROWS);
    for i in 0..n {
        w.insert(i, i);
    }
    for c in 0..CONTACTS {
        j.insert_block((3 * c, 6 * c), (3, 12.min(n - 6 * c)), false);
        (0..3).for_each(|i| r.insert(3 * c + i, 3 * c + i));
    }
    let bounds: Vec<usize> = (0..=CONTACTS).map(|c| 3 * c).collect();
    let primal: Vec<usize> = (0..=CONTACTS).map(|c| 6 * c).collect();
    let patterns = (w.finish().unwrap(), j.finish().unwrap(), r.finish().unwrap());
    let mut out = KktSystem::new(patterns.0, patterns.1, patterns.2, primal, bounds).unwrap();
    for (i, w) in out.w.values_mut().iter_mut().enumerate() {
        *w = 10f64.powi((i / 6 % 4) as i32);
    }
    let values = out.j.values_mut().iter_mut().enumerate();
    values.for_each(|(k, j)| *j = noise(k + 1));
    out.r.values_mut().fill(0.01);
    out
}

fn problems() -> Vec<(Problem, Wanted, Way)> {
    let system = system();
    let rows: Vec<usize> = (0..ROWS).collect();
    let offsets: Vec<usize> = (0..=CONTACTS).map(|c| 3 * c).collect();
    let b = vec![0.0; ROWS];
    let saddle = |choice| SaddleDelassus::with(&system, &rows, &offsets, choice, 1).unwrap();
    let whole = saddle(DelassusChoice::Explicit);
    let mut a = vec![0.0; ROWS * ROWS];
    whole.block(0..ROWS, 0..ROWS, &mut a);
    let cones = || vec![Cone::Coulomb { mu: 0.5 }; CONTACTS];
    // Single entries, as they are read from a file: the rows of one contact have other columns.
    let entries = (0..ROWS * ROWS).filter(|e| a[*e] != 0.0);
    let blocks: Vec<_> = entries.map(|e| (e / ROWS, e % ROWS, vec![a[e]])).collect();
    let sparse = || BlockSparse::new(&[1; ROWS], &blocks).unwrap();
    let dense = DenseDelassus::new(&a).unwrap();
    let free = saddle(DelassusChoice::MatrixFree);
    vec![
        (
            Problem::new(dense, b.clone(), cones()).unwrap(),
            Wanted::Speed,
            Way::Dense,
        ),
        (
            Problem::new(sparse(), b.clone(), cones()).unwrap(),
            Wanted::Speed,
            Way::Entries,
        ),
        (
            Problem::new(whole, b.clone(), cones()).unwrap(),
            Wanted::Pivots,
            Way::Entries,
        ),
        (
            Problem::new(free, b.clone(), cones()).unwrap(),
            Wanted::Pivots,
            Way::Saddle,
        ),
        (
            Problem::new(sparse(), b, cones()).unwrap(),
            Wanted::Pivots,
            Way::Entries,
        ),
    ]
}

/// One solver meets problems of other patterns, and of other blocks with the same pattern:
/// `(F_r + F_u A) x = y` with `F_u = 1`, `F_r = 2` in each of its own.
#[test]
fn plans_are_those_of_the_problem() {
    let band = |width: usize| {
        let mut blocks = Vec::new();
        for i in 0..ROWS {
            for k in i.saturating_sub(width)..ROWS.min(i + width + 1) {
                blocks.push((i, k, vec![if i == k { 10.0 } else { noise(i + k) }]));
            }
        }
        BlockSparse::new(&[1; ROWS], &blocks).unwrap()
    };
    let mut jacobian = Jacobian::default();
    for (width, cone) in [
        (2, Cone::Coulomb { mu: 0.5 }),
        (4, Cone::Coulomb { mu: 0.5 }),
        (4, Cone::NonNegative),
        (2, Cone::Coulomb { mu: 0.5 }),
    ] {
        let cones = vec![cone; ROWS / cone.rows()];
        let problem = Problem::new(band(width), vec![0.0; ROWS], cones).unwrap();
        jacobian.prepare(&problem, Wanted::Speed).unwrap();
        assert_eq!(jacobian.way, Way::Entries);
        let d = cone.rows();
        let unit: Vec<f64> = (0..problem.squares())
            .map(|k| f64::from(u8::from(k % (d * d) % (d + 1) == 0)))
            .collect();
        let two: Vec<f64> = unit.iter().map(|x| 2.0 * x).collect();
        let exact: Vec<f64> = (0..ROWS).map(|k| noise(k + 3)).collect();
        let mut y = vec![0.0; ROWS];
        problem.delassus().rows_times(0..ROWS, &exact, &mut y);
        y.iter_mut().zip(&exact).for_each(|(y, x)| *y += 2.0 * x);
        assert!(jacobian.solve(&problem, &two, &unit, 0.0, &mut y));
        // Diagonally dominant: conditions of tens.
        let far = y.iter().zip(&exact).map(|(y, x)| (y - x).abs());
        assert!(far.fold(0.0, f64::max) < 1e-13, "{width} {cone:?}");
    }
}

#[test]
fn every_way_solves_the_matrix_and_knows_where_its_determinant_changes_sign() {
    let mut negative = [0, 0];
    for (problem, wanted, way) in problems() {
        let mut jacobian = Jacobian::default();
        jacobian.prepare(&problem, wanted).unwrap();
        assert_eq!(jacobian.way, way);
        assert_eq!(jacobian.has_pivots(), way != Way::Saddle);
        let a = problem.to_dense();
        let mut relation = None;
        for draw in 0..12 {
            let by = |first: usize| -> Vec<f64> {
                (0..problem.squares())
                    .map(|k| noise(first + k) + if k % 9 % 4 == 0 { 1.5 } else { 0.0 })
                    .collect()
            };
            let (by_r, by_u) = (by(1000 * draw + 7), by(1000 * draw + 577));
            let e = 0.1;
            let mut matrix = DMatrix::zeros(ROWS, ROWS);
            let mut shifted = a.clone();
            for k in 0..CONTACTS {
                (0..3).for_each(|i| shifted[(3 * k + i, 3 * k + i)] += e * problem.scale(k));
            }
            for k in 0..CONTACTS {
                let block = |x: &[f64]| DMatrix::from_row_slice(3, 3, &x[9 * k..9 * k + 9]);
                let rows = block(&by_u) * shifted.rows(3 * k, 3);
                matrix.rows_mut(3 * k, 3).copy_from(&rows);
                let mut own = matrix.view_mut((3 * k, 3 * k), (3, 3));
                own += block(&by_r);
            }
            let exact: Vec<f64> = (0..2 * ROWS).map(|k| noise(k + 3)).collect();
            let mut y = Vec::new();
            for x in exact.chunks_exact(ROWS) {
                y.extend((&matrix * DVector::from_column_slice(x)).iter());
            }
            assert!(jacobian.solve(&problem, &by_r, &by_u, e, &mut y));
            for (found, exact) in y.iter().zip(&exact) {
                // Condition numbers up to 1e5, masses among them.
                assert!((found - exact).abs() < 1e-8, "{way:?} {found} {exact}");
            }
            // By rows of the size of one, so that the product of the pivots is no overflow.
            let sign = matrix.lu().determinant() < 0.0;
            negative[usize::from(sign)] += 1;
            let same = jacobian.is_turned() == sign;
            assert_eq!(*relation.get_or_insert(same), same, "{way:?} {draw}");
            assert!(same || way == Way::Saddle, "{way:?} {draw}");
        }
    }
    assert!(negative.iter().all(|n| *n > 5), "{negative:?}");
}
