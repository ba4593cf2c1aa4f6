//! Aggregates, prolongators and Galerkin products against their definitions, by dense matrices.

use super::aggregate::{NONE, Nodes};
use super::galerkin::Galerkin;
use super::level::{self, Block, Floor, Lower};
use super::modes::NearNullSpace;
use super::spectrum::largest_eigenvalue;
use super::transfer::Transfer;
use pliant_sparse::{CsrMatrix, PatternBuilder, SymmetricBlockMatrix, Threads};

/// Masses on a grid, with springs to all neighbours within a cell: rigid motions cost nothing but
/// for the mass, which is small.
fn net(sides: [usize; 3], mass: f64) -> (CsrMatrix, Vec<[f64; 3]>) {
    let mut places = Vec::new();
    for z in 0..sides[2] {
        for y in 0..sides[1] {
            for x in 0..sides[0] {
                let k = places.len() as f64;
                let noise = |p: f64| 0.2 * (p * k).sin();
                places.push([
                    x as f64 + noise(1.3),
                    y as f64 + noise(2.9),
                    z as f64 + noise(4.1),
                ]);
            }
        }
    }
    let n = 3 * places.len();
    let (mut dense, mut coupled) = (vec![0.0; n * n], vec![false; n * n]);
    for i in 0..n {
        dense[i * n + i] = mass;
    }
    for (i, p) in places.iter().enumerate() {
        for (j, q) in places.iter().enumerate() {
            let d: [f64; 3] = std::array::from_fn(|k| p[k] - q[k]);
            let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
            if i != j && length > 1.9 {
                continue;
            }
            for r in 0..3 {
                for c in 0..3 {
                    coupled[(3 * i + r) * n + 3 * j + c] = true;
                    if i != j {
                        let k = d[r] * d[c] / (length * length);
                        dense[(3 * i + r) * n + 3 * j + c] -= k;
                        dense[(3 * i + r) * n + 3 * i + c] += k;
                    }
                }
            }
        }
    }
    let mut builder = PatternBuilder::new(n, n);
    for i in 0..n {
        let own = (0..=i).filter(|k| coupled[i * n + k]);
        own.for_each(|k| builder.insert(i, k));
    }
    let mut a = builder.finish().unwrap().into_matrix();
    for i in 0..n {
        for slot in a.pattern().row_slots(i) {
            let k = a.pattern().indices()[slot] as usize;
            a.values_mut()[slot] = dense[i * n + k];
        }
    }
    (a, places)
}

fn lower<const B: usize>(a: &SymmetricBlockMatrix<B>) -> Lower<'_, B> {
    Lower {
        pattern: a.blocks(),
        values: a.values(),
    }
}

/// Row by row.
fn dense<const B: usize>(a: Lower<'_, B>) -> Vec<Vec<f64>> {
    let n = a.rows() * B;
    let mut out = vec![vec![0.0; n]; n];
    for i in 0..a.rows() {
        for slot in a.pattern.row_slots(i) {
            let j = a.pattern.indices()[slot] as usize;
            for r in 0..B {
                for c in 0..B {
                    out[i * B + r][j * B + c] = a.values[slot][r][c];
                    out[j * B + c][i * B + r] = a.values[slot][r][c];
                }
            }
        }
    }
    out
}

fn dense_prolongator<const B: usize, const K: usize>(t: &Transfer<B, K>) -> Vec<Vec<f64>> {
    let mut out = vec![vec![0.0; t.coarse() * K]; t.pattern.rows() * B];
    for i in 0..t.pattern.rows() {
        for slot in t.pattern.row_slots(i) {
            let j = t.pattern.indices()[slot] as usize;
            for r in 0..B {
                out[i * B + r][j * K..(j + 1) * K].copy_from_slice(&t.values[slot][r]);
            }
        }
    }
    out
}

fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let columns = b[0].len();
    let entry = |row: &[f64], j: usize| row.iter().zip(b).map(|(a, b)| a * b[j]).sum();
    a.iter()
        .map(|row| (0..columns).map(|j| entry(row, j)).collect())
        .collect()
}

fn transposed(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..a[0].len())
        .map(|j| a.iter().map(|row| row[j]).collect())
        .collect()
}

fn assert_close(a: &[Vec<f64>], b: &[Vec<f64>], tolerance: f64) {
    assert_eq!((a.len(), a[0].len()), (b.len(), b[0].len()));
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        for (j, (a, b)) in a.iter().zip(b).enumerate() {
            assert!((a - b).abs() <= tolerance, "({i}, {j}): {a} and {b}");
        }
    }
}

/// A transfer over the net, and what it was made from.
struct Made {
    a: SymmetricBlockMatrix<3>,
    inverses: Vec<Block<3, 3>>,
    transfer: Transfer<3, 6>,
    /// Near null space of both levels.
    fine: Vec<Vec<f64>>,
    coarse: Vec<Block<6, 6>>,
    omega: f64,
}

fn make(sides: [usize; 3], strength: f64) -> Made {
    let (w, places) = net(sides, 0.01);
    let a = SymmetricBlockMatrix::<3>::new(&w, &[]).unwrap();
    let squares: Vec<f64> = a
        .values()
        .iter()
        .map(|b| b.as_flattened().iter().map(|v| v * v).sum())
        .collect();
    let nodes = Nodes::new(a.blocks(), &squares, (0..=places.len() as u32).collect());
    let mut transfer = Transfer::<3, 6>::new(a.blocks(), &nodes, &nodes.aggregate(strength))
        .unwrap()
        .unwrap();
    let modes = NearNullSpace::rigid(&places).unwrap();
    let row = |i: usize| <[f64; 6]>::try_from(modes.row(i)).unwrap();
    for i in 0..places.len() {
        transfer.tentative[i] = std::array::from_fn(|r| row(3 * i + r));
    }
    let sizes = vec![[1.0; 3]; places.len()];
    let mut inverses = vec![[[0.0; 3]; 3]; places.len()];
    let floor = Floor {
        share: 0.0,
        passes: false,
    };
    assert_eq!(
        level::invert_diagonal(lower(&a), &sizes, floor, &mut inverses),
        None
    );
    let mut coarse = vec![[[0.0; 6]; 6]; transfer.coarse()];
    transfer.orthogonalise(&mut coarse);
    let omega = 0.6;
    transfer.smooth(lower(&a), &inverses, omega);
    Made {
        a,
        inverses,
        transfer,
        fine: (0..3 * places.len()).map(|i| row(i).to_vec()).collect(),
        coarse,
        omega,
    }
}

#[test]
fn the_product_is_galerkins() {
    let made = make([5, 4, 4], 0.1);
    assert!(
        made.transfer.coarse() >= 4,
        "{} aggregates",
        made.transfer.coarse()
    );
    let mut galerkin = Galerkin::new(made.a.blocks(), &made.transfer).unwrap();
    // Twice: what is left of the first product must not be in the second.
    for _ in 0..2 {
        galerkin.fill(&Threads::one(), lower(&made.a), &made.transfer);
        let found = Lower {
            pattern: &galerkin.pattern,
            values: &galerkin.values,
        };
        let p = dense_prolongator(&made.transfer);
        let expected = product(&transposed(&p), &product(&dense(lower(&made.a)), &p));
        // Entries of some units, sums of a few hundred terms.
        assert_close(&dense(found), &expected, 1e-12);
    }
}

/// Rows in pieces: for any number of threads the same bits, and `A_c y = P^T A P y`.
#[test]
fn products_in_pieces_are_the_same_for_any_number_of_threads() {
    let made = make([4, 4, 60], 0.1);
    let (a, transfer) = (lower(&made.a), &made.transfer);
    let mut galerkin = Galerkin::new(made.a.blocks(), transfer).unwrap();
    assert!(galerkin.pieces() > 1);
    galerkin.fill(&Threads::one(), a, transfer);
    let alone = galerkin.values.clone();
    for count in [2, 3] {
        galerkin.fill(&Threads::new(count).unwrap(), a, transfer);
        assert_eq!(galerkin.values, alone, "{count} threads");
    }
    let (n, coarse) = (3 * a.rows(), 6 * transfer.coarse());
    let y: Vec<f64> = (0..coarse).map(|i| (1.3 * i as f64).sin()).collect();
    let [mut py, mut apy, mut expected] = [vec![0.0; n], vec![0.0; n], vec![0.0; coarse]];
    transfer.add_prolonged(&y, &mut py);
    level::multiply(a, &py, &mut apy);
    transfer.restrict(&apy, &mut expected);
    let product = Lower {
        pattern: &galerkin.pattern,
        values: &galerkin.values,
    };
    let mut found = vec![0.0; coarse];
    level::multiply(product, &y, &mut found);
    // Entries of some units, sums of a few hundred terms.
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!((found - expected).abs() < 1e-12, "{i}: {found} and {expected}");
    }
}

#[test]
fn prolongators_are_smoothed_and_keep_what_costs_no_energy() {
    let made = make([5, 4, 4], 0.1);
    let t = &made.transfer;
    // P B_c = (I - omega D^-1 A) B, since T B_c = B: the near null space of the next level is that
    // of this one after a step of Jacobi.
    let n = made.fine.len();
    let ab = product(&dense(lower(&made.a)), &made.fine);
    let mut expected = made.fine.clone();
    for i in 0..n / 3 {
        for r in 0..3 {
            for c in 0..6 {
                let change: f64 = (0..3).map(|k| made.inverses[i][r][k] * ab[3 * i + k][c]).sum();
                expected[3 * i + r][c] -= made.omega * change;
            }
        }
    }
    let coarse: Vec<Vec<f64>> = made.coarse.iter().flatten().map(|row| row.to_vec()).collect();
    assert_close(&product(&dense_prolongator(t), &coarse), &expected, 1e-12);
    // T is orthonormal on every aggregate.
    for a in 0..t.coarse() as u32 {
        for c in 0..6 {
            for d in 0..6 {
                let rows = t.tentative.iter().zip(&t.aggregate).filter(|(_, of)| **of == a);
                let sum: f64 = rows.flat_map(|(b, _)| b.iter().map(|row| row[c] * row[d])).sum();
                let unit = f64::from(u8::from(c == d));
                assert!((sum - unit).abs() < 1e-14, "aggregate {a}, ({c}, {d}): {sum}");
            }
        }
    }
}

#[test]
fn every_node_with_strong_couplings_is_in_one_aggregate() {
    let made = make([6, 5, 3], 0.1);
    let t = &made.transfer;
    assert!(
        t.aggregate
            .iter()
            .all(|a| *a != NONE && (*a as usize) < t.coarse())
    );
    for a in 0..t.coarse() as u32 {
        assert!(t.aggregate.iter().filter(|of| **of == a).count() >= 2);
    }
}

#[test]
fn dependent_columns_of_small_aggregates_are_zero() {
    // Two nodes in one aggregate: no rotation about the line through them.
    let (w, places) = net([2, 1, 1], 0.01);
    let a = SymmetricBlockMatrix::<3>::new(&w, &[]).unwrap();
    let nodes = Nodes::new(a.blocks(), &[3.0, 1.0, 3.0], vec![0, 1, 2]);
    let mut t = Transfer::<3, 6>::new(a.blocks(), &nodes, &nodes.aggregate(0.1))
        .unwrap()
        .unwrap();
    let modes = NearNullSpace::rigid(&places).unwrap();
    for i in 0..2 {
        t.tentative[i] = std::array::from_fn(|r| modes.row(3 * i + r).try_into().unwrap());
    }
    let mut coarse = vec![[[0.0; 6]; 6]; 1];
    t.orthogonalise(&mut coarse);
    let dependent: Vec<usize> = (0..6).filter(|c| coarse[0][*c][*c] == 0.0).collect();
    assert_eq!(dependent.len(), 1, "{coarse:?}");
    for (i, block) in t.tentative.iter().enumerate() {
        for (r, row) in block.iter().enumerate() {
            assert_eq!(row[dependent[0]], 0.0);
            // And yet T B_c = B.
            for c in 0..6 {
                let sum: f64 = (0..6).map(|k| row[k] * coarse[0][k][c]).sum();
                assert!((sum - modes.row(3 * i + r)[c]).abs() < 1e-14);
            }
        }
    }
}

/// `-u''` on 200 points: eigenvalues `2 - 2 cos(k pi / 201)`, of `D^-1 A` half of them.
#[test]
fn the_largest_eigenvalue_is_met_from_below() {
    let n = 200;
    let product = |x: &[f64], y: &mut [f64]| {
        for i in 0..n {
            let left = if i > 0 { x[i - 1] } else { 0.0 };
            let right = if i + 1 < n { x[i + 1] } else { 0.0 };
            y[i] = 2.0 * x[i] - left - right;
        }
    };
    let inverse = |x: &[f64], y: &mut [f64]| (0..n).for_each(|i| y[i] = 0.5 * x[i]);
    let mut scratch = std::array::from_fn::<_, 4, _>(|_| vec![0.0; n]);
    let found = largest_eigenvalue(product, inverse, scratch.each_mut().map(|v| &mut v[..])).unwrap();
    assert!(found < 2.0 && found > 1.9, "{found}");
    let zero = |_: &[f64], y: &mut [f64]| y.fill(0.0);
    assert_eq!(
        largest_eigenvalue(zero, inverse, scratch.each_mut().map(|v| &mut v[..])),
        None
    );
}
