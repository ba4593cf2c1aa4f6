//! Eigenvalues of pencils against closed forms.

use pliant_solvers::eigen::{DefinitePencil, EigenError, EigenOptions, Side, Vibrations, vibration};
use pliant_solvers::{KktSystem, Variable};
use pliant_sparse::{CsrMatrix, PatternBuilder};
use std::f64::consts::PI;

/// Stiffness (N/m) and mass (kg) of the chains.
const K: f64 = 300.0;
const M: f64 = 0.2;

/// A symmetric matrix by its entries, with the whole diagonal.
pub(crate) fn lower(n: usize, entries: &[(usize, usize, f64)]) -> CsrMatrix {
    let mut pattern = PatternBuilder::new(n, n);
    (0..n).for_each(|i| pattern.insert(i, i));
    for (i, k, _) in entries {
        pattern.insert(*i.max(k), *i.min(k));
    }
    let mut out = pattern.finish().unwrap().into_matrix();
    for (i, k, value) in entries {
        let slot = out.pattern().slot(*i.max(k), *i.min(k)).unwrap();
        out.values_mut()[slot] += value;
    }
    out
}

pub(crate) fn rows(m: usize, n: usize, entries: &[(usize, usize, f64)]) -> CsrMatrix {
    let mut pattern = PatternBuilder::new(m, n);
    for (i, k, _) in entries {
        pattern.insert(*i, *k);
    }
    let mut out = pattern.finish().unwrap().into_matrix();
    for (i, k, value) in entries {
        let slot = out.pattern().slot(*i, *k).unwrap();
        out.values_mut()[slot] = *value;
    }
    out
}

pub(crate) fn system(w: CsrMatrix, j: CsrMatrix, r: CsrMatrix) -> KktSystem {
    let (n, m) = (w.pattern().rows(), j.pattern().rows());
    let mut out = KktSystem::new(
        w.pattern().clone(),
        j.pattern().clone(),
        r.pattern().clone(),
        (0..=n).collect(),
        (0..=m).collect(),
    )
    .unwrap();
    out.w = w;
    out.j = j;
    out.r = r;
    out
}

/// A diagonal mass on the pattern of `w`.
fn masses(w: &CsrMatrix, mass: impl Fn(usize) -> f64) -> CsrMatrix {
    let mut out = w.pattern().clone().into_matrix();
    for i in 0..w.pattern().rows() {
        let slot = out.pattern().slot(i, i).unwrap();
        out.values_mut()[slot] = mass(i);
    }
    out
}

/// A chain of masses and springs; the first spring holds on to a wall. Every `compliant`-th spring
/// is a row, the others are in `W`; zero for none.
fn chain(n: usize, walled: bool, compliant: usize) -> (KktSystem, CsrMatrix) {
    let (mut w, mut j, mut r) = (Vec::new(), Vec::new(), Vec::new());
    let mut m = 0;
    for spring in usize::from(!walled)..n {
        let ends = || {
            [(spring, 1.0), (spring.wrapping_sub(1), -1.0)]
                .into_iter()
                .take(1 + spring.min(1))
        };
        if compliant > 0 && spring % compliant == 0 {
            j.extend(ends().map(|(e, s)| (m, e, s)));
            r.push((m, m, 1.0 / K));
            m += 1;
        } else {
            for (a, s) in ends() {
                w.extend(ends().filter(|(b, _)| *b <= a).map(|(b, t)| (a, b, s * t * K)));
            }
        }
    }
    let w = lower(n, &w);
    let mass = masses(&w, |_| M);
    (system(w, rows(m, n, &j), lower(m, &r)), mass)
}

/// Checks values, residuals, that vectors are orthonormal by the mass, and that rows hold.
fn check(found: &Vibrations, mass: &CsrMatrix, exact: &[f64], tolerance: f64) {
    assert_eq!(found.modes.len(), exact.len());
    for (k, (mode, exact)) in found.modes.iter().zip(exact).enumerate() {
        // A zero is known to the rounding of the largest.
        let scale = if *exact == 0.0 {
            4.0 * K / M
        } else {
            exact.max(-found.shift)
        };
        assert!(
            (mode.value - exact).abs() <= tolerance * scale,
            "{k}: {} for {exact}",
            mode.value
        );
        assert!(mode.residual < 1e-10 && mode.error < 1e-8, "{k}: {mode:?}");
        assert_eq!(mode.is_free, *exact == 0.0, "{k}");
        let mut product = vec![0.0; mode.x.len()];
        mass.symmetric_add_product(1.0, &mode.x, &mut product);
        for (i, other) in found.modes.iter().enumerate() {
            let form: f64 = product.iter().zip(&other.x).map(|(a, b)| a * b).sum();
            let unit = f64::from(u8::from(i == k));
            // Vectors are right to their estimated errors, the values to the square of these.
            assert!((form - unit).abs() < 1e-6, "{i}, {k}: {form}");
        }
    }
}

/// Springs in the matrix, as rows, and both: the same frequencies `2 sqrt(k/m) sin((2j - 1) pi /
/// (4n + 2))` of a chain of `n` masses that hangs on a wall.
#[test]
fn a_chain_has_its_frequencies_whatever_its_springs_are() {
    let n = 60;
    let exact: Vec<f64> = (1..=8)
        .map(|j| 4.0 * K / M * (f64::from(2 * j - 1) * PI / f64::from(4 * n + 2)).sin().powi(2))
        .collect();
    for compliant in [0, 1, 3] {
        let (system, mass) = chain(n as usize, true, compliant);
        let found = vibration(&system, &mass, 8, EigenOptions::default()).unwrap();
        assert_eq!((found.finite, found.massless), (n as usize, 0));
        // Rounding of the stiffness, 4 k/m, beside the lowest one, times a hundred.
        check(&found, &mass, &exact, 1e-11);
    }
}

/// A chain that nothing holds has `2 sqrt(k/m) sin(j pi / (2n))`, zero first; two of them have each
/// twice, and all come out, for any number that is asked for.
#[test]
fn copies_of_an_eigenvalue_are_all_found() {
    let n = 30;
    let (one, _) = chain(n, false, 0);
    let entries: Vec<(usize, usize, f64)> = (0..n)
        .flat_map(|i| {
            one.w
                .row_entries(i)
                .map(move |(k, v)| (i, k, v))
                .collect::<Vec<_>>()
        })
        .flat_map(|(i, k, v)| [0, 1, 2].map(|copy| (i + copy * n, k + copy * n, v)))
        .collect();
    let w = lower(3 * n, &entries);
    let mass = masses(&w, |_| M);
    let system = system(w, rows(0, 3 * n, &[]), lower(0, &[]));
    for count in [1, 2, 3, 4, 9, 11] {
        let exact: Vec<f64> = (0..count)
            .map(|k| 4.0 * K / M * ((k / 3) as f64 * PI / (2 * n) as f64).sin().powi(2))
            .collect();
        let found = vibration(&system, &mass, count, EigenOptions::default()).unwrap();
        check(&found, &mass, &exact, 1e-11);
    }
}

/// A square membrane of springs: `lambda_ij` and `lambda_ji` are the same.
#[test]
fn a_symmetric_net_has_pairs() {
    let n = 14;
    let at = |i: usize, k: usize| i * n + k;
    let mut entries = Vec::new();
    for i in 0..n {
        for k in 0..n {
            entries.push((at(i, k), at(i, k), 4.0 * K));
            if i > 0 {
                entries.push((at(i, k), at(i - 1, k), -K));
            }
            if k > 0 {
                entries.push((at(i, k), at(i, k - 1), -K));
            }
        }
    }
    let w = lower(n * n, &entries);
    let mass = masses(&w, |_| M);
    let system = system(w, rows(0, n * n, &[]), lower(0, &[]));
    let s = |i: usize| (i as f64 * PI / (2 * n + 2) as f64).sin().powi(2);
    let mut exact: Vec<f64> = (1..=n)
        .flat_map(|i| (1..=n).map(move |k| 4.0 * K / M * (s(i) + s(k))))
        .collect();
    exact.sort_by(f64::total_cmp);
    let found = vibration(&system, &mass, 24, EigenOptions::default()).unwrap();
    check(&found, &mass, &exact[..24], 1e-11);
}

/// All there are, where more are asked for.
#[test]
fn all_are_found_where_there_are_fewer() {
    let (system, mass) = chain(5, true, 1);
    let found = vibration(&system, &mass, 50, EigenOptions::default()).unwrap();
    let exact: Vec<f64> = (1..=5)
        .map(|j| 4.0 * K / M * (f64::from(2 * j - 1) * PI / 22.0).sin().powi(2))
        .collect();
    check(&found, &mass, &exact, 1e-11);
    assert_eq!(found.finite, 5);
}

/// Two hard rows that say the same tie the last masses of a chain together; a third mass beside it
/// has none, and hangs on a spring; a fourth is fixed.
#[test]
fn rows_that_repeat_and_coordinates_without_mass_leave_the_finite_ones() {
    // Mass 1 on a spring to the wall; 2 and 3 tied: (M + M) on a spring of K to mass 1.
    // Coordinate 3 has no mass and a spring to mass 0, and none else: it follows.
    let w = lower(
        5,
        &[
            (0, 0, 2.0 * K),
            (1, 0, -K),
            (1, 1, K),
            (3, 3, K),
            (3, 0, -K),
            (0, 0, K),
            (4, 4, K),
            (4, 0, -K),
            (0, 0, K),
        ],
    );
    let mass = masses(&w, |i| if i == 3 { 0.0 } else { M });
    let j = rows(2, 5, &[(0, 1, 1.0), (0, 2, -1.0), (1, 1, 2.0), (1, 2, -2.0)]);
    let mut system = system(w, j, lower(2, &[]));
    system.fixed[4] = true;
    let found = vibration(&system, &mass, 10, EigenOptions::default()).unwrap();
    assert_eq!((found.finite, found.massless, found.redundant_rows), (2, 1, 1));
    // Springs of mass 0: the wall, the chain, and the fixed one; the massless one carries nothing:
    // [3K -K; -K K] x = lambda diag(M, 2M) x.
    let (a, b, c) = (2.0 * M * M, -5.0 * K * M - 2.0 * M * K, 2.0 * K * K);
    // det([3K - lM, -K; -K, K - 2lM]) = 2M^2 l^2 - 7KM l + 2K^2.
    let root = (b * b - 4.0 * a * c).sqrt();
    let exact = [(-b - root) / (2.0 * a), (-b + root) / (2.0 * a)];
    check(&found, &mass, &exact, 1e-11);
}

/// Eigenvalues on both sides of zero, with a `B` that is singular.
#[test]
fn both_sides_of_zero_are_told_apart() {
    let a = lower(
        5,
        &[(0, 0, 1.0), (1, 1, 2.0), (2, 2, 3.0), (3, 3, 4.0), (4, 4, 1.0)],
    );
    let mut b = a.clone();
    for (i, v) in [1.0, -1.0, 0.5, 0.0, -0.1].iter().enumerate() {
        let slot = b.pattern().slot(i, i).unwrap();
        b.values_mut()[slot] = *v;
    }
    let system = system(a, rows(0, 5, &[]), lower(0, &[]));
    let mut pencil = DefinitePencil::new(system, b).unwrap();
    for (side, exact) in [(Side::Positive, [1.0, 6.0]), (Side::Negative, [-2.0, -10.0])] {
        for count in [1, 2, 3] {
            let found = pencil.find(side, count, EigenOptions::default()).unwrap();
            let values: Vec<f64> = found.pairs.iter().map(|p| p.value).collect();
            assert_eq!(values.len(), count.min(2), "{values:?}");
            for (v, exact) in values.iter().zip(exact) {
                assert!((v - exact).abs() < 1e-13 * exact.abs(), "{v} for {exact}");
            }
            assert_eq!(found.complete, count > 1, "{side:?} {count}");
        }
    }
    // Between zero and t, by inertia.
    for (t, count) in [(0.5, 0), (1.5, 1), (7.0, 2), (-1.0, 0), (-3.0, 1), (-11.0, 2)] {
        assert_eq!(pencil.count(t).unwrap(), count, "{t}");
    }
}

/// Systems that make no pencil are errors that say why.
#[test]
fn what_has_no_eigenvalues_is_refused() {
    let options = EigenOptions::default();
    // Nothing holds the second coordinate, and it has no mass.
    let w = lower(2, &[(0, 0, 1.0)]);
    let mass = masses(&w, |i| [1.0, 0.0][i]);
    let free = system(w, rows(0, 2, &[]), lower(0, &[]));
    assert_eq!(
        vibration(&free, &mass, 1, options),
        Err(EigenError::Free {
            variable: Variable::Dof(1)
        })
    );
    // A massless coordinate that runs away.
    let w = lower(2, &[(0, 0, 1.0), (1, 1, -1.0)]);
    let unstable = system(w, rows(0, 2, &[]), lower(0, &[]));
    assert_eq!(
        vibration(&unstable, &mass, 1, options),
        Err(EigenError::Indefinite { negative: 1 })
    );
    // One with a mass grows at a rate: lambda = -1.
    let w = lower(2, &[(0, 0, 1.0), (1, 1, -1.0)]);
    let mass = masses(&w, |_| 1.0);
    let unstable = system(w, rows(0, 2, &[]), lower(0, &[]));
    let found = vibration(&unstable, &mass, 2, options).unwrap();
    check_values(&found, &[-1.0, 1.0]);
    let (chain, mass) = chain(60, true, 0);
    let few = EigenOptions {
        max_solves: 4,
        ..options
    };
    assert!(matches!(
        vibration(&chain, &mass, 8, few),
        Err(EigenError::NotConverged { wanted: 8, .. })
    ));
    assert_eq!(vibration(&chain, &mass, 0, options).unwrap().modes, []);
}

fn check_values(found: &Vibrations, exact: &[f64]) {
    let values: Vec<f64> = found.modes.iter().map(|m| m.value).collect();
    for (v, exact) in values.iter().zip(exact) {
        assert!((v - exact).abs() < 1e-13, "{v} for {exact}");
    }
}

/// The same to the bit, whenever and wherever.
#[test]
fn the_same_question_has_the_same_answer() {
    let (system, mass) = chain(60, true, 3);
    let find = || vibration(&system, &mass, 6, EigenOptions::default()).unwrap();
    assert_eq!(find(), find());
}

/// Laguerre's polynomial of a degree.
fn laguerre(n: usize, x: f64) -> f64 {
    let (mut before, mut now) = (0.0, 1.0);
    for k in 0..n {
        let k = k as f64;
        (before, now) = (now, ((2.0 * k + 1.0 - x) * now - k * before) / (k + 1.0));
    }
    now
}

/// The zeros of Laguerre's polynomial of a degree up to 20, of which the largest is below 67, by bisection.
fn zeros_of_laguerre(n: usize) -> Vec<f64> {
    let steps = 200_000;
    let place = |i: usize| 67.0 * i as f64 / steps as f64;
    let mut out = Vec::new();
    for i in 0..steps {
        let (mut low, mut high) = (place(i), place(i + 1));
        if laguerre(n, low) * laguerre(n, high) >= 0.0 {
            continue;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if laguerre(n, low) * laguerre(n, middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        out.push(0.5 * (low + high));
    }
    assert_eq!(out.len(), n);
    out
}

/// Masses that hang in a chain of hard links: along it they cannot move, across it the squares of the
/// frequencies are `g/l` times the zeros of Laguerre's polynomial, each in two directions. Nothing but
/// the rows holds the coordinates along the chain.
#[test]
fn a_hanging_chain_of_hard_links_has_the_zeros_of_laguerre_twice() {
    let (n, g, l) = (20, 9.81, 0.05);
    let (mut entries, mut links) = (Vec::new(), Vec::new());
    for link in 0..n {
        let stiffness = M * g * (n - link) as f64 / l;
        for axis in 0..2 {
            entries.push((3 * link + axis, 3 * link + axis, stiffness));
            if link > 0 {
                entries.push((3 * (link - 1) + axis, 3 * (link - 1) + axis, stiffness));
                entries.push((3 * link + axis, 3 * (link - 1) + axis, -stiffness));
            }
        }
        links.push((link, 3 * link + 2, -1.0));
        if link > 0 {
            links.push((link, 3 * (link - 1) + 2, 1.0));
        }
    }
    let w = lower(3 * n, &entries);
    let mass = masses(&w, |_| M);
    let system = system(w, rows(n, 3 * n, &links), lower(n, &[]));
    let exact: Vec<f64> = zeros_of_laguerre(n).iter().flat_map(|x| [g / l * x; 2]).collect();
    for count in [1, 2, 9, 10, 18, 19, 20, 39, 40, 50] {
        let found = vibration(&system, &mass, count, EigenOptions::default());
        let found = found.unwrap_or_else(|e| panic!("{count}: {e}"));
        assert_eq!((found.finite, found.massless), (2 * n, 0));
        let there = count.min(2 * n);
        assert_eq!(found.modes.len(), there);
        for (mode, exact) in found.modes.iter().zip(&exact) {
            // Rounding of the largest, 67 g/l, beside the lowest, 0.07 g/l, times a hundred.
            assert!(
                (mode.value / exact - 1.0).abs() < 1e-11,
                "{} for {exact}",
                mode.value
            );
        }
    }
}

/// A side on which there is nothing but rounding has no eigenvalues, and one with fewer than asked for
/// has these: what is pulled does not buckle.
#[test]
fn rounding_is_no_eigenvalue() {
    let n = 120;
    let diagonal: Vec<_> = (0..n).map(|i| (i, i, 1.0 + (i % 7) as f64)).collect();
    let a = lower(n, &diagonal);
    for negative in [0, 1, 2] {
        let mut b = a.clone();
        for i in 0..n {
            let slot = b.pattern().slot(i, i).unwrap();
            // The ratio: positive ones 1, 1/2, ..., and what rounding leaves of zero, of either sign.
            let ratio = match i {
                0..40 => 1.0 / (i + 1) as f64,
                40 | 41 if i < 40 + negative => -1.0 / (i - 37) as f64,
                _ => 1e-13 * ((i % 11) as f64 - 5.5),
            };
            b.values_mut()[slot] = ratio * diagonal[i].2;
        }
        let system = system(a.clone(), rows(0, n, &[]), lower(0, &[]));
        let mut pencil = DefinitePencil::new(system, b).unwrap();
        for count in [1, 3, 5] {
            let found = pencil
                .find(Side::Negative, count, EigenOptions::default())
                .unwrap();
            let values: Vec<f64> = found.pairs.iter().map(|p| p.value).collect();
            let exact = &[-3.0, -4.0][..negative.min(count)];
            assert_eq!(values.len(), exact.len(), "{values:?}");
            for (v, exact) in values.iter().zip(exact) {
                assert!((v - exact).abs() < 1e-12, "{v} for {exact}");
            }
            assert!(found.complete || negative >= count);
            assert!(found.solves < 200, "{}", found.solves);
            let found = pencil
                .find(Side::Positive, count, EigenOptions::default())
                .unwrap();
            for (k, pair) in found.pairs.iter().enumerate() {
                assert!((pair.value - (k + 1) as f64).abs() < 1e-12, "{}", pair.value);
            }
            assert_eq!((found.pairs.len(), found.complete), (count, false));
        }
    }
}
