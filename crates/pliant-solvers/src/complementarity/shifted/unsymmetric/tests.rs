//! Against dense matrices that are made entry by entry from the Delassus operator.

use super::*;
use crate::complementarity::{Cone, SaddleDelassus};
use nalgebra::{DMatrix, DVector};
use pliant_sparse::PatternBuilder;

/// Four bodies of three variables in a row, three contacts between neighbours and one with the
/// ground, a hard row at the end, and the same row once more if wanted; the first contact has a
/// full block of compliance.
fn problem(redundant: bool) -> Problem {
    with_compliance(redundant, false, 0.0)
}

/// The problem with a compliance between the first two contacts if wanted, and the last row so far
/// from the one before.
fn with_compliance(redundant: bool, between: bool, apart: f64) -> Problem {
    let (n, contacts) = (12, 4);
    let m = 3 * contacts + 1 + usize::from(redundant);
    let noise = |k: usize| ((k * k) as f64 * 12.9898).sin();
    let mut w = PatternBuilder::new(n, n);
    (0..4).for_each(|b| w.insert_block((3 * b, 3 * b), (3, 3), true));
    let mut j = PatternBuilder::new(m, n);
    for c in 0..contacts {
        for i in 3 * c..3 * c + 3 {
            (0..3).for_each(|x| j.insert(i, 3 * c + x));
            (0..3)
                .filter(|_| c > 0)
                .for_each(|x| j.insert(i, 3 * (c - 1) + x));
        }
    }
    (3 * contacts..m).for_each(|i| j.insert(i, 11));
    (3 * contacts + 1..m).for_each(|i| j.insert(i, 10));
    let mut r = PatternBuilder::new(m, m);
    (0..m).for_each(|i| r.insert(i, i));
    [(1, 0), (2, 0), (2, 1)]
        .iter()
        .for_each(|(i, k)| r.insert(*i, *k));
    let mut blocks: Vec<usize> = (0..=contacts).map(|c| 3 * c).collect();
    if between {
        r.insert(3, 0);
        blocks.remove(1);
    }
    blocks.extend(3 * contacts + 1..=m);
    let patterns = [w, j, r].map(|b| b.finish().unwrap());
    let [w, j, r] = patterns;
    let mut system = KktSystem::new(w, j, r, vec![0, 3, 6, 9, 12], blocks).unwrap();
    for i in 0..n {
        for slot in system.w.pattern().row_slots(i) {
            let k = system.w.pattern().indices()[slot] as usize;
            system.w.values_mut()[slot] = if i == k {
                2.0 + noise(i).abs()
            } else {
                0.3 * noise(i + 7 * k)
            };
        }
    }
    for (k, x) in system.j.values_mut().iter_mut().enumerate() {
        *x = noise(k + 3);
    }
    for i in 3 * contacts..m {
        for (k, value) in [(11, 1.0), (10, apart)] {
            if let Some(slot) = system.j.pattern().slot(i, k) {
                system.j.values_mut()[slot] = value;
            }
        }
    }
    for (i, k, value) in [(0, 0, 0.3), (1, 1, 0.2), (2, 2, 0.4), (1, 0, 0.1), (2, 1, -0.05)] {
        let slot = system.r.pattern().slot(i, k).unwrap();
        system.r.values_mut()[slot] = value;
    }
    if let Some(slot) = system.r.pattern().slot(3, 0) {
        system.r.values_mut()[slot] = 0.05;
    }
    let rows: Vec<usize> = (0..3 * contacts).collect();
    let boundaries: Vec<usize> = (0..=contacts).map(|c| 3 * c).collect();
    let delassus = SaddleDelassus::new(&system, &rows, &boundaries).unwrap();
    let cones = vec![Cone::Coulomb { mu: 0.6 }; contacts];
    Problem::new(delassus, vec![0.0; 3 * contacts], cones).unwrap()
}

fn operator(problem: &Problem) -> DMatrix<f64> {
    let m = problem.size();
    let mut a = vec![0.0; m * m];
    problem.delassus().block(0..m, 0..m, &mut a);
    DMatrix::from_row_slice(m, m, &a)
}

fn compare(found: &[f64], matrix: &DMatrix<f64>, rhs: &[f64]) {
    let expected = matrix.clone().lu().solve(&DVector::from_row_slice(rhs)).unwrap();
    let size = expected.amax();
    for (x, y) in found.iter().zip(expected.iter()) {
        // The matrices have condition numbers of up to a few thousand.
        assert!((x - y).abs() < 1e-11 * size, "{x} instead of {y}");
    }
}

#[test]
fn the_shift_bends_the_rows_of_contacts() {
    for redundant in [false, true] {
        let problem = problem(redundant);
        let m = problem.size();
        let (mut turn, mut e, mut slope) = (vec![0.0; 9 * 4], vec![0.0; m], vec![[0.0; 2]; 4]);
        let mut turned = vec![0.0; m];
        // `T = Q S^-1` with a rotation `Q`, as the eigenvectors of the scaling are.
        for k in 0..4 {
            let q = nalgebra::Rotation3::from_euler_angles(0.3 + k as f64, 0.7, -0.2);
            for i in 0..3 {
                for l in 0..3 {
                    turn[9 * k + 3 * i + l] = q[(i, l)] / if l == 0 { 0.6 } else { 1.0 };
                }
                e[3 * k + i] = [0.02, 3.0, 0.5][i] * (1.0 + k as f64);
            }
            slope[k] = [0.6 * (k as f64).cos(), 0.6 * (k as f64).sin()];
        }
        slope[2] = [0.0; 2];
        let mut shifted = Shifted::default();
        shifted.prepare(&problem).unwrap();
        // `T^-T s`, with `T^-1 = S^2 T^T`.
        for (k, s) in slope.iter().enumerate() {
            (0..3).for_each(|l| turned[3 * k + l] = (1..3).map(|i| s[i - 1] * turn[9 * k + 3 * l + i]).sum());
        }
        assert!(shifted.factor_unsymmetric(&problem, &turn, &e, &turned));
        let rhs: Vec<f64> = (0..m).map(|i| (i as f64).cos()).collect();
        let mut x = vec![0.0; m];
        shifted.solve_unsymmetric(&rhs, &mut x);
        let (mut t, mut inverse) = (DMatrix::zeros(m, m), DMatrix::identity(m, m));
        for k in 0..4 {
            for i in 0..3 {
                for l in 0..3 {
                    t[(3 * k + i, 3 * k + l)] = turn[9 * k + 3 * i + l];
                }
            }
            inverse[(3 * k, 3 * k + 1)] = -slope[k][0];
            inverse[(3 * k, 3 * k + 2)] = -slope[k][1];
        }
        let back = t.clone().try_inverse().unwrap();
        let e = DMatrix::from_diagonal(&DVector::from_row_slice(&e));
        let matrix = &t * operator(&problem) * t.transpose() + &t * inverse * back * e;
        compare(&x, &matrix, &rhs);
    }
}

/// `(F_r + F_u (A + e D)) D^-1`, entry by entry.
fn jacobian(problem: &Problem, by_r: &[f64], by_u: &[f64], e: f64) -> DMatrix<f64> {
    let m = problem.size();
    let mut a = operator(problem);
    let [mut f_r, mut f_u, mut columns] = [(); 3].map(|()| DMatrix::zeros(m, m));
    for k in 0..4 {
        for i in 0..3 {
            a[(3 * k + i, 3 * k + i)] += e * problem.scale(k);
            columns[(3 * k + i, 3 * k + i)] = 1.0 / problem.scale(k);
            for l in 0..3 {
                f_r[(3 * k + i, 3 * k + l)] = by_r[9 * k + 3 * i + l];
                f_u[(3 * k + i, 3 * k + l)] = by_u[9 * k + 3 * i + l];
            }
        }
    }
    (f_r + f_u * a) * columns
}

/// A row that is redundant in one problem and not in the next of the same pattern, and back.
#[test]
fn redundant_rows_are_found_anew() {
    let noise = |k: usize| ((k * k) as f64 * 78.233).sin();
    let by_r: Vec<f64> = (0..36).map(noise).collect();
    let by_u: Vec<f64> = (0..36).map(|k| noise(k + 100)).collect();
    let rhs: Vec<f64> = (0..12).map(|i| f64::from(i).cos()).collect();
    let (mut shifted, mut x) = (Shifted::default(), vec![0.0; 12]);
    for apart in [0.8, 0.0, 0.8] {
        let problem = with_compliance(true, false, apart);
        shifted.prepare(&problem).unwrap();
        assert!(shifted.factor_newton(&problem, &by_r, &by_u, 0.5));
        shifted.solve_unsymmetric(&rhs, &mut x);
        compare(&x, &jacobian(&problem, &by_r, &by_u, 0.5), &rhs);
    }
}

#[test]
fn the_jacobian_of_newton_is_that_of_the_functions() {
    for redundant in [false, true] {
        let problem = problem(redundant);
        let m = problem.size();
        let noise = |k: usize| ((k * k) as f64 * 78.233).sin();
        let by_r: Vec<f64> = (0..36).map(noise).collect();
        let mut by_u: Vec<f64> = (0..36).map(|k| noise(k + 100)).collect();
        // One that is open.
        by_u[9..18].fill(0.0);
        let mut shifted = Shifted::default();
        shifted.prepare(&problem).unwrap();
        let rhs: Vec<f64> = (0..m).map(|i| (i as f64).cos()).collect();
        for e in [0.5, 1e-3] {
            assert!(shifted.factor_newton(&problem, &by_r, &by_u, e));
            let mut x = vec![0.0; m];
            shifted.solve_unsymmetric(&rhs, &mut x);
            compare(&x, &jacobian(&problem, &by_r, &by_u, e), &rhs);
        }
    }
}

/// Contacts stay unknowns, each with its own block: a compliance between two of them has no place
/// there, and is not left out in silence.
#[test]
fn a_compliance_between_contacts_is_refused() {
    for between in [false, true] {
        let problem = with_compliance(false, between, 0.0);
        let mut shifted = Shifted::default();
        shifted.prepare(&problem).unwrap();
        let of = |from: usize| {
            (from..from + 36)
                .map(|k| ((k * k) as f64 * 78.233).sin())
                .collect::<Vec<_>>()
        };
        assert_eq!(shifted.factor_newton(&problem, &of(0), &of(100), 0.5), !between);
    }
}
