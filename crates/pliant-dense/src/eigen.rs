//! Eigenvalues of one small symmetric matrix, without allocation.

/// Largest size that goes by Jacobi's rotations: for larger ones there are few numbers to find and
/// many to rotate.
const JACOBI: usize = 4;
/// Steps for one eigenvalue at most; two are usual.
const MOST_STEPS: usize = 60;

/// Eigenvalues and eigenvectors of a symmetric `n x n` matrix.
///
/// `a` (row-major, `n * n`) becomes diagonal: its diagonal holds the eigenvalues, in no order. `v`
/// (`n * n`) is overwritten by the eigenvectors, one per *column* (row-major storage), orthonormal
/// to rounding; eigenvalues are right to rounding of the largest. Only symmetric input is
/// meaningful. Returns false if the input was not finite, or if QL steps do not end, which has not
/// been seen.
///
/// Up to four unknowns by cyclic Jacobi rotations; more are brought to tridiagonal form by
/// Householder's reflections and diagonalised by implicit QL steps with Wilkinson's shifts (Golub
/// and Van Loan, section 8.3), about `9 n^3` operations. Nothing is allocated.
///
/// # Panics
/// If a slice is shorter than `n * n`.
pub fn symmetric_eigen(n: usize, a: &mut [f64], v: &mut [f64]) -> bool {
    let (a, v) = (&mut a[..n * n], &mut v[..n * n]);
    v.fill(0.0);
    for i in 0..n {
        v[i * n + i] = 1.0;
    }
    if !a.iter().all(|x| x.is_finite()) {
        return false;
    }
    if n <= JACOBI {
        jacobi(n, a, v);
        return true;
    }
    tridiagonalise(n, a, v);
    let found = diagonalise(n, a, v);
    for i in 0..n {
        for k in 0..i {
            (a[i * n + k], a[k * n + i]) = (0.0, 0.0);
            v.swap(i * n + k, k * n + i);
        }
    }
    found
}

/// Jacobi's rotations until what is off the diagonal is nothing, at most 30 sweeps; converges
/// quadratically.
fn jacobi(n: usize, a: &mut [f64], v: &mut [f64]) {
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
}

/// `A <- Q^T A Q` tridiagonal, read from the lower triangle: the diagonal, and in `a[k + 1][k]`
/// what is below it. The *rows* of `v`, which is the identity, become the columns of `Q`.
///
/// The rest of column `k` keeps the tail of its reflection `I - beta w w^T`, `w = (1, tail)`; row
/// `k` of the upper triangle is scratch.
fn tridiagonalise(n: usize, a: &mut [f64], v: &mut [f64]) {
    for k in 0..n.saturating_sub(2) {
        let first = k + 1;
        let tail: f64 = (first + 1..n).map(|i| a[i * n + k].powi(2)).sum();
        let x = a[first * n + k];
        if tail == 0.0 {
            continue;
        }
        let length = (x * x + tail).sqrt();
        // Of both signs the one that adds.
        let e = if x > 0.0 { -length } else { length };
        let head = x - e;
        (first + 1..n).for_each(|i| a[i * n + k] /= head);
        let beta = -head / e;
        a[first * n + k] = 1.0;
        // p = beta A w, from the lower triangle of what is left, into row k.
        for i in first..n {
            let before: f64 = (first..=i).map(|j| a[i * n + j] * a[j * n + k]).sum();
            let after: f64 = (i + 1..n).map(|j| a[j * n + i] * a[j * n + k]).sum();
            a[k * n + i] = beta * (before + after);
        }
        // A <- A - w q^T - q w^T with q = p - (beta/2) (p . w) w.
        let dot: f64 = (first..n).map(|i| a[k * n + i] * a[i * n + k]).sum();
        (first..n).for_each(|i| a[k * n + i] -= 0.5 * beta * dot * a[i * n + k]);
        for i in first..n {
            let (w, q) = (a[i * n + k], a[k * n + i]);
            for j in first..=i {
                a[i * n + j] -= w * a[k * n + j] + q * a[j * n + k];
            }
        }
        a[first * n + k] = e;
    }
    // From the last reflection on, so that the first rows and columns are still those of the
    // identity.
    for k in (0..n.saturating_sub(2)).rev() {
        let first = k + 1;
        a[k * n + first] = 1.0;
        (first + 1..n).for_each(|i| a[k * n + i] = a[i * n + k]);
        let w = &a[k * n + first..(k + 1) * n];
        let tail: f64 = w[1..].iter().map(|x| x * x).sum();
        if tail == 0.0 {
            continue;
        }
        let beta = 2.0 / (1.0 + tail);
        for row in v.chunks_exact_mut(n).skip(first) {
            let row = &mut row[first..];
            let dot: f64 = row.iter().zip(w).map(|(x, w)| x * w).sum();
            row.iter_mut().zip(w).for_each(|(x, w)| *x -= beta * dot * w);
        }
    }
}

/// Implicit QL steps on the tridiagonal matrix of [`tridiagonalise`], which rotate the rows of `v`.
/// False if an eigenvalue is not found, which has not been seen.
fn diagonalise(n: usize, a: &mut [f64], v: &mut [f64]) -> bool {
    let largest = (0..n).fold(0.0f64, |x, i| x.max(a[i * n + i].abs()));
    let largest = (1..n).fold(largest, |x, i| x.max(a[i * n + i - 1].abs()));
    let nothing = 0.01 * f64::EPSILON * largest;
    for l in 0..n {
        for step in 0.. {
            // The first entry below the diagonal, from l on, that is nothing.
            let small = |m: &usize| {
                let size = a[m * n + m].abs() + a[(m + 1) * n + m + 1].abs();
                a[(m + 1) * n + m].abs() <= (f64::EPSILON * size).max(nothing)
            };
            let m = (l..n - 1).find(small).unwrap_or(n - 1);
            if m == l {
                break;
            }
            if step == MOST_STEPS {
                return false;
            }
            // Wilkinson's shift, of the two by two block at l.
            let (d, e) = (a[l * n + l], a[(l + 1) * n + l]);
            let half = (a[(l + 1) * n + l + 1] - d) / (2.0 * e);
            let root = half.hypot(1.0);
            let mut g = a[m * n + m] - d + e / (half + if half >= 0.0 { root } else { -root });
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0f64);
            let mut split = false;
            for i in (l..m).rev() {
                let e = a[(i + 1) * n + i];
                let (f, b) = (s * e, c * e);
                let r = f.hypot(g);
                if i + 1 < m {
                    a[(i + 2) * n + i + 1] = r;
                }
                if r == 0.0 {
                    // An eigenvalue at the shift: the matrix comes apart here.
                    a[(i + 1) * n + i + 1] -= p;
                    split = true;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = a[(i + 1) * n + i + 1] - p;
                let t = (a[i * n + i] - g) * s + 2.0 * c * b;
                p = s * t;
                a[(i + 1) * n + i + 1] = g + p;
                g = c * t - b;
                let (upper, lower) = v[i * n..(i + 2) * n].split_at_mut(n);
                for (x, y) in upper.iter_mut().zip(lower) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
            if !split {
                a[l * n + l] -= p;
                a[(l + 1) * n + l] = g;
            }
            if m + 1 < n {
                a[(m + 1) * n + m] = 0.0;
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

/// The least-squares solution of minimum norm of `A x = b` for a symmetric `n x n` matrix, into `x`;
/// eigenvalues below `threshold` times the largest in size count as zero. `a` (row-major, `n * n`) is
/// overwritten, and `v` is scratch of the same length. Cost about `9 n^3`; nothing is allocated.
///
/// # Panics
/// If a slice is too short.
pub fn solve_minimum_norm(n: usize, a: &mut [f64], v: &mut [f64], b: &[f64], threshold: f64, x: &mut [f64]) {
    symmetric_eigen(n, a, v);
    let cut = threshold * (0..n).fold(0.0f64, |m, i| m.max(a[i * n + i].abs()));
    x[..n].fill(0.0);
    for k in (0..n).filter(|k| a[k * n + k].abs() > cut) {
        let weight = (0..n).map(|i| v[i * n + k] * b[i]).sum::<f64>() / a[k * n + k];
        for i in 0..n {
            x[i] += weight * v[i * n + k];
        }
    }
}

/// Replaces the eigenvalues of the symmetric matrix `a` (row-major, `n * n`) by `map` of them:
/// `|d| d.max(0.0)` leaves its positive-semidefinite part, `f64::abs` its absolute value. `scratch`
/// needs `2 n^2` numbers. Leaves `a` alone if it is not finite.
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
        fn reconstructs_and_agrees_with_nalgebra(
            n in 1usize..14,
            rank in 0usize..14,
            blocks in 1usize..4,
            seed in prop::collection::vec(-2.0..2.0f64, 196),
        ) {
            // Sums of few outer products, of either sign, and zeros between blocks: eigenvalues
            // that are zero or alike, matrices that come apart.
            let at = |i: usize, j: usize| -> f64 {
                if i % blocks != j % blocks {
                    return 0.0;
                }
                let terms = (0..rank).map(|k| seed[14 * k + i] * seed[14 * k + j] * if k % 2 == 0 { 1.0 } else { -1.0 });
                terms.sum::<f64>()
            };
            let mut a: Vec<f64> = (0..n * n).map(|k| at(k / n, k % n)).collect();
            let original = a.clone();
            // Rounding of the size of the matrix, some hundred times.
            let bound = 6e-14 * n as f64 * original.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let mut v = vec![0.0; n * n];
            prop_assert!(symmetric_eigen(n, &mut a, &mut v));
            let mut ours: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
            let m = nalgebra::DMatrix::from_row_slice(n, n, &original);
            let mut theirs: Vec<f64> = m.clone().symmetric_eigenvalues().iter().copied().collect();
            ours.sort_by(f64::total_cmp);
            theirs.sort_by(f64::total_cmp);
            for (x, y) in ours.iter().zip(&theirs) {
                prop_assert!((x - y).abs() <= bound);
            }
            for i in 0..n {
                for j in 0..n {
                    let back: f64 = (0..n).map(|k| v[i * n + k] * a[k * n + k] * v[j * n + k]).sum();
                    prop_assert!((back - original[i * n + j]).abs() <= bound);
                    let dot: f64 = (0..n).map(|k| v[k * n + i] * v[k * n + j]).sum();
                    prop_assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-13, "{dot}");
                    prop_assert!(i == j || a[i * n + j] == 0.0 || n <= JACOBI);
                }
            }
        }
    }

    #[test]
    fn positive_part_of_an_indefinite_matrix() {
        // Eigenvalues 3 and -1 on (1,1)/sqrt2 and (1,-1)/sqrt2: the positive part is 1.5
        // everywhere.
        let mut a = [1.0, 2.0, 2.0, 1.0];
        map_eigenvalues(2, &mut a, &mut [0.0; 8], |d| d.max(0.0));
        assert!(a.iter().all(|x| (x - 1.5).abs() < 1e-15));
        // Absolute value: 3 and 1 on the same vectors.
        let mut a = [1.0, 2.0, 2.0, 1.0];
        map_eigenvalues(2, &mut a, &mut [0.0; 8], f64::abs);
        assert!((a[0] - 2.0).abs() < 1e-15 && (a[1] - 1.0).abs() < 1e-15);
    }
}
