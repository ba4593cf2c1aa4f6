//! The spectrum of KKT matrices in closed form.

use crate::eigen::{lower, rows, system};
use pliant_solvers::eigen::{EigenOptions, spectrum};
use pliant_solvers::{KktSystem, Variable};
use std::f64::consts::PI;

/// Points of a mass `a` in a line, or in a ring, with a row of the compliance `c` for the difference
/// of each two neighbours.
fn chain(n: usize, is_ring: bool, a: f64, c: f64) -> KktSystem {
    let m = if is_ring { n } else { n - 1 };
    let diagonal =
        |size: usize, value: f64| lower(size, &(0..size).map(|i| (i, i, value)).collect::<Vec<_>>());
    let differences = (0..m).flat_map(|i| [(i, i, -1.0), (i, (i + 1) % n, 1.0)]);
    let j = rows(m, n, &differences.collect::<Vec<_>>());
    system(diagonal(n, a), j, diagonal(m, c))
}

/// The eigenvalues of [`chain`]: of `J J^T` the eigenvalue `s` gives the roots of
/// `x^2 - (a - c) x - (a c + s) = 0`, and `a` is one where `J` has a null space.
fn known(n: usize, is_ring: bool, a: f64, c: f64) -> Vec<f64> {
    let mut all = vec![a];
    for k in 1..n {
        let angle = if is_ring { 2.0 * PI } else { PI } * k as f64 / n as f64;
        let s = 4.0 * (0.5 * angle).sin().powi(2);
        let root = (0.25 * (a + c).powi(2) + s).sqrt();
        all.extend([0.5 * (a - c) + root, -(a * c + s) / (0.5 * (a - c) + root)]);
    }
    if is_ring {
        all.push(-c);
    }
    all.sort_by(f64::total_cmp);
    all
}

/// The smallest and the largest magnitude that are not zero.
fn ends(all: &[f64]) -> [f64; 2] {
    let sizes = all.iter().map(|v| v.abs()).filter(|v| *v > 1e-14);
    let least = sizes.clone().fold(f64::INFINITY, f64::min);
    [least, sizes.fold(0.0, f64::max)]
}

#[test]
fn chains_have_their_eigenvalues() {
    let options = EigenOptions {
        tolerance: 1e-3,
        ..EigenOptions::default()
    };
    for (n, is_ring, c) in [
        (40, false, 0.0),
        (40, false, 0.3),
        (40, true, 0.0),
        (40, true, 1e-3),
        // More than are found all.
        (600, false, 0.0),
        (600, true, 0.0),
        (5000, false, 1e-2),
    ] {
        let chain = chain(n, is_ring, 2.0, c);
        let spectrum = spectrum(&chain, options).unwrap();
        let all = known(n, is_ring, 2.0, c);
        let redundant = usize::from(is_ring && c == 0.0);
        assert_eq!(spectrum.zero, redundant, "{n}");
        assert_eq!(spectrum.positive, n);
        assert_eq!(spectrum.negative, chain.m() - redundant);
        // All eigenvalues are right to rounding, of the largest. Of others an eigenvalue is as near as
        // the tolerance, and the next ones of a long chain are nearer than that.
        let tolerance = if spectrum.all.is_some() { 1e-11 } else { 1.1e-3 };
        let extremes = [&spectrum.weakest, &spectrum.strongest].map(|e| e.clone().unwrap());
        for (found, known) in extremes.iter().zip(ends(&all)) {
            let off = found.value.abs() / known - 1.0;
            assert!(off.abs() < tolerance, "{n} {is_ring} {c}: {found:?} {known}");
            assert!(found.error <= tolerance * known);
            assert!(found.share > 0.0 && found.share <= 1.0 + 1e-12);
        }
        let [least, most] = ends(&all);
        assert!((spectrum.condition() * least / most - 1.0).abs() < 2.0 * tolerance);
        if let Some(every) = &spectrum.all {
            let off = every.iter().zip(&all).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) < 1e-13);
        }
    }
}

/// Directions of unknowns that are zero to rounding are no redundant rows: they are the weakest, in
/// small matrices and in large ones.
#[test]
fn directions_that_are_lost_are_not_redundant_rows() {
    for n in [20, 700] {
        let mut chain = chain(n, false, 1.0, 0.0);
        // The last two points are as light as rounding, and the row between them leaves one way.
        for i in [n - 2, n - 1] {
            let slot = chain.w.pattern().slot(i, i).unwrap();
            chain.w.values_mut()[slot] = 1e-17;
        }
        let slot = chain.j.pattern().slot(n - 3, n - 2).unwrap();
        chain.j.values_mut()[slot] = 0.0;
        let options = EigenOptions {
            tolerance: 1e-3,
            ..EigenOptions::default()
        };
        let found = spectrum(&chain, options).unwrap();
        assert_eq!((found.zero, found.lost), (0, 1), "{n}");
        assert_eq!((found.positive, found.negative), (n - 1, n - 1));
        let Variable::Dof(at) = found.weakest.clone().unwrap().variable else {
            panic!("{found:?}");
        };
        assert!(at >= n - 2, "{at}");
        assert!(found.condition() > 1e12, "{}", found.condition());
    }
}

/// Held variables are not in the matrix, and the weakest direction is named.
#[test]
fn the_weakest_unknown_is_named() {
    let mut system = KktSystem::dense(&[4.0, 0.0, 0.0, 0.0, 1e-6, 0.0, 0.0, 0.0, 9.0], &[], &[]).unwrap();
    system.fixed[2] = true;
    let found = spectrum(&system, EigenOptions::default()).unwrap();
    assert_eq!(
        (found.positive, found.negative, found.zero, found.lost),
        (2, 0, 0, 0)
    );
    assert!((found.condition() / 4e6 - 1.0).abs() < 1e-12);
    let weakest = found.weakest.clone().unwrap();
    assert_eq!((weakest.variable, weakest.share), (Variable::Dof(1), 1.0));
    let empty = KktSystem::dense(&[], &[], &[]).unwrap();
    assert_eq!(
        spectrum(&empty, EigenOptions::default()).unwrap().condition(),
        1.0
    );
}
