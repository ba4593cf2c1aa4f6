//! Eigenvalues of one small symmetric matrix, without allocation.

/// Eigenvalues and eigenvectors of a symmetric `n x n` matrix by cyclic Jacobi rotations.
///
/// `a` (row-major, `n * n`) becomes diagonal: its diagonal holds the eigenvalues. `v` (`n * n`) is overwritten by the
/// eigenvectors, one per *column* (row-major storage), orthonormal to rounding. Only symmetric input is meaningful.
/// Cost about `10 n^3` for the sizes used here (`n <= 12`); converges quadratically, at most 30 sweeps. Returns false
/// if the input was not finite.
///
/// # Panics
/// If a slice is shorter than `n * n`.
pub fn symmetric_eigen(n: usize, a: &mut [f64], v: &mut [f64]) -> bool {
    v[..n * n].fill(0.0);
    for i in 0..n {
        v[i * n + i] = 1.0;
    }
    if !a[..n * n].iter().all(|x| x.is_finite()) {
        return false;
    }
    for _ in 0..30 {
        let off: f64 = (0..n)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| a[i * n + j].powi(2))
            .sum();
        let diagonal: f64 = (0..n).map(|i| a[i * n + i].powi(2)).sum();
        if off <= 1e-34 * diagonal || off == 0.0 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(n, a, v, p, q);
            }
        }
    }
    true
}

/// One Jacobi rotation that annihilates `a[p][q]`.
fn rotate(n: usize, a: &mut [f64], v: &mut [f64], p: usize, q: usize) {
    let apq = a[p * n + q];
    if apq == 0.0 {
        return;
    }
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
    for k in 0..n {
        let (x, y) = (v[k * n + p], v[k * n + q]);
        v[k * n + p] = c * x - s * y;
        v[k * n + q] = s * x + c * y;
    }
}

/// Replaces the eigenvalues of the symmetric matrix `a` (row-major, `n * n`) by `map` of them: `|d| d.max(0.0)` leaves its
/// positive-semidefinite part, `f64::abs` its absolute value. `scratch` needs `2 n^2` numbers. Leaves `a` alone if it is not
/// finite.
///
/// # Panics
/// If a slice is too short.
pub fn map_eigenvalues(n: usize, a: &mut [f64], scratch: &mut [f64], map: impl Fn(f64) -> f64) {
    let (d, v) = scratch.split_at_mut(n * n);
    d.copy_from_slice(&a[..n * n]);
    if !symmetric_eigen(n, d, v) {
        return;
    }
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] = (0..n)
                .map(|k| v[i * n + k] * map(d[k * n + k]) * v[j * n + k])
                .sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reconstructs_and_agrees_with_nalgebra(n in 1usize..9, seed in prop::collection::vec(-2.0..2.0f64, 81)) {
            let at = |i: usize, j: usize| seed[i.min(j) * 9 + i.max(j)];
            let mut a: Vec<f64> = (0..n * n).map(|k| at(k / n, k % n)).collect();
            let original = a.clone();
            let mut v = vec![0.0; n * n];
            prop_assert!(symmetric_eigen(n, &mut a, &mut v));
            let mut ours: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
            let m = nalgebra::DMatrix::from_row_slice(n, n, &original);
            let mut theirs: Vec<f64> = m.clone().symmetric_eigenvalues().iter().copied().collect();
            ours.sort_by(f64::total_cmp);
            theirs.sort_by(f64::total_cmp);
            for (x, y) in ours.iter().zip(&theirs) {
                prop_assert!((x - y).abs() < 1e-12);
            }
            for i in 0..n {
                for j in 0..n {
                    let back: f64 = (0..n).map(|k| v[i * n + k] * a[k * n + k] * v[j * n + k]).sum();
                    prop_assert!((back - original[i * n + j]).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn positive_part_of_an_indefinite_matrix() {
        // Eigenvalues 3 and -1 on (1,1)/sqrt2 and (1,-1)/sqrt2: the positive part is 1.5 everywhere.
        let mut a = [1.0, 2.0, 2.0, 1.0];
        map_eigenvalues(2, &mut a, &mut [0.0; 8], |d| d.max(0.0));
        assert!(a.iter().all(|x| (x - 1.5).abs() < 1e-15));
        // Absolute value: 3 and 1 on the same vectors.
        let mut a = [1.0, 2.0, 2.0, 1.0];
        map_eigenvalues(2, &mut a, &mut [0.0; 8], f64::abs);
        assert!((a[0] - 2.0).abs() < 1e-15 && (a[1] - 1.0).abs() < 1e-15);
    }
}
