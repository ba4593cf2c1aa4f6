//! Cases whose numbers were computed elsewhere: closed forms and dense programs in another
//! language.

use super::{Knowledge, dense, kkt, lcp};
use crate::tools::identity;
use pliant_lab::exchange::{Expected, Record};
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::Cone;

pub(super) fn add(out: &mut Vec<Record>) {
    murty(out);
    small_lcps(out);
    redundant_rows(out);
    small_systems(out);
    one_contact(out);
    legs(out);
}

/// F01.
fn murty(out: &mut Vec<Record>) {
    let source = "case F01: Murty 1978, the worst case of least-index pivoting";
    for n in [2, 5, 8, 10] {
        let u = |i: usize, k: usize| match i.cmp(&k) {
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Less => 2.0,
            std::cmp::Ordering::Greater => 0.0,
        };
        let q = vec![-1.0; n];
        let mut last = vec![0.0; n];
        last[n - 1] = 1.0;
        let a: Vec<f64> = (0..n * n).map(|l| u(l / n, l % n)).collect();
        let about = format!(
            "{} pivots by least index, the matrix is not symmetric",
            (1 << n) - 1
        );
        out.push(lcp(&format!("murty-{n}"), &about, source, (&a, &q)).impulse(&last, 1e-6));
        let product = |l: usize| (0..n).map(|k| u(l / n, k) * u(l % n, k)).sum();
        let a: Vec<f64> = (0..n * n).map(product).collect();
        let about = format!("{} pivots by least index, positive definite", (1 << n) - 1);
        // The condition of the matrix grows by 12 per two rows.
        out.push(lcp(&format!("murty-definite-{n}"), &about, source, (&a, &q)).impulse(&last, 1e-5));
    }
}

/// F02 and F05.
fn small_lcps(out: &mut Vec<Record>) {
    let source = "case F02: all complementary bases enumerated";
    let tolerance = 1e-7;
    out.push(
        lcp(
            "lcp-definite",
            "one solution; Gauss-Seidel contracts by 1/4 (case F05)",
            source,
            (&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0]),
        )
        .impulse(&[4.0 / 3.0, 7.0 / 3.0], tolerance),
    );
    out.push(
        lcp(
            "lcp-three-solutions",
            "copositive but not semidefinite: three solutions",
            source,
            (&[1.0, 2.0, 2.0, 1.0], &[-1.0, -1.0]),
        )
        .impulse(&[0.0, 1.0], tolerance)
        .impulse(&[1.0 / 3.0, 1.0 / 3.0], tolerance)
        .impulse(&[1.0, 0.0], tolerance),
    );
    out.push(
        lcp(
            "lcp-none",
            "negative definite, no solution",
            source,
            (&[-1.0, 0.0, 0.0, -1.0], &[-1.0, -1.0]),
        )
        .expect(Expected::Unsolvable),
    );
    // u1 = r2 - 1 wants r2 > 0, but u2 = r1 + 2 is never zero.
    out.push(
        lcp(
            "lcp-copositive-none",
            "indefinite, no solution; along (0, 1) the velocity grows without end",
            "by hand",
            (&[0.0, 1.0, 1.0, 0.0], &[-1.0, 2.0]),
        )
        .expect(Expected::Unsolvable),
    );
    out.push(
        lcp(
            "lcp-infeasible",
            "a rope pulled both ways: semidefinite, no solution",
            source,
            (&[1.0, -1.0, -1.0, 1.0], &[-1.0, 0.5]),
        )
        .expect(Expected::Unsolvable),
    );
    out.push(
        lcp(
            "lcp-semidefinite",
            "a rope, semidefinite, one solution",
            source,
            (&[1.0, -1.0, -1.0, 1.0], &[-1.0, 2.0]),
        )
        .impulse(&[1.0, 0.0], tolerance),
    );
    out.push(
        lcp(
            "lcp-ray",
            "Lemke's method ends on a ray although there are solutions",
            source,
            (&[-2.0, -2.0, 2.0, -2.0], &[2.0, -1.0]),
        )
        .impulse(&[0.75, 0.25], tolerance)
        .impulse(&[1.0, 0.0], tolerance),
    );
    out.push(
        lcp(
            "lcp-z-matrix",
            "a Z-matrix",
            source,
            (
                &[2.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0],
                &[-1.0, 1.0, -1.0],
            ),
        )
        .impulse(&[0.5, 0.0, 0.5], tolerance),
    );
    // r2 = 1 with u1 = 0, r1 = 2 with u2 = 0: by hand.
    out.push(
        lcp(
            "lcp-skew",
            "a skew matrix: a bimatrix game",
            source,
            (&[0.0, 1.0, -1.0, 0.0], &[-1.0, 2.0]),
        )
        .impulse(&[2.0, 1.0], tolerance),
    );
}

/// F04.
fn redundant_rows(out: &mut Vec<Record>) {
    let source = "case F04: dense pseudo-inverse";
    let w = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 4.0];
    let j = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0];
    let system = |r: &[f64], b: &[f64]| {
        let mut s = KktSystem::dense(&w, &j, r).unwrap();
        s.c.copy_from_slice(&[1.0, 0.5, 2.0]);
        s.b.copy_from_slice(b);
        s
    };
    let x = [0.042857142857142816, -0.5428571428571428, 0.34285714285714286];
    out.push(
        kkt(
            "redundant-rows",
            "two equal rows share the multiplier of least norm",
            source,
            system(&[0.0; 3], &[0.5, 0.5, 0.2]),
        )
        .solved_by(
            &x,
            &[-0.4785714285714286, -0.4785714285714286, -0.6285714285714284],
            1e-9,
        ),
    );
    let y = [-0.04285714285714293, -0.5571428571428572, 0.35714285714285715];
    out.push(
        kkt(
            "contradicting-rows",
            "two equal rows with different right-hand sides: the compromise, and a word about it",
            source,
            system(&[0.0; 3], &[0.5, 0.7, 0.2]),
        )
        .expect(Expected::Incompatible)
        .solved_by(&y, &[], 1e-9),
    );
    out.push(
        kkt(
            "nearly-hard-rows",
            "compliances of 1e-6 and 3e-6 share the multiplier inversely",
            source,
            system(&[1e-6, 3e-6, 1e-6], &[0.5, 0.5, 0.2]),
        )
        .solved_by(
            &x,
            &[-0.7178571428571429, -0.2392857142857143, -0.6285714285714284],
            1e-5,
        ),
    );
}

/// F05, F07, F10, F11.
fn small_systems(out: &mut Vec<Record>) {
    let w = [4.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 2.0];
    let mut fixed = KktSystem::dense(&w, &[], &[]).unwrap();
    fixed.fixed[1] = true;
    fixed.c.copy_from_slice(&[1.0, 2.0, 3.0]);
    out.push(
        kkt(
            "fixed-variable",
            "a fixed variable that W couples to the free ones",
            "case F07: by hand",
            fixed,
        )
        .solved_by(&[0.25, 0.0, 1.5], &[], 1e-9),
    );
    for (name, about, r, answer) in [
        (
            "position-row",
            "a hard row started off its manifold injects -phi/h",
            0.0,
            [-2.0, -2.5],
        ),
        (
            "compliant-row",
            "the same with a compliance: one step of implicit Euler",
            1.0,
            [-0.75, -1.25],
        ),
    ] {
        let mut row = KktSystem::dense(&[1.0], &[1.0], &[r]).unwrap();
        (row.c[0], row.b[0]) = (0.5, 2.0);
        let record = kkt(name, about, "case F10: by hand", row);
        out.push(record.solved_by(&answer[..1], &answer[1..], 1e-12));
    }
    let k = [30.0, -10.0, 0.0, -10.0, 25.0, -15.0, 0.0, -15.0, 15.0];
    let mut springs = KktSystem::dense(&k, &[], &[]).unwrap();
    springs.c.copy_from_slice(&[1.0, -2.0, 3.0]);
    out.push(
        kkt(
            "springs-at-rest",
            "three springs, no rows",
            "case F11: by hand",
            springs,
        )
        .solved_by(&[0.1, 0.2, 0.4], &[], 1e-9),
    );
    // x = c - J^T J c with J^T = e0 cos + e1 sin, and e3.
    let j = [0.6, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let mut projector = KktSystem::dense(&identity(4), &j, &[0.0; 2]).unwrap();
    projector.c.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
    let along = 0.6 + 1.6;
    out.push(
        kkt(
            "projector",
            "W = 1 and orthonormal rows: three eigenvalues, three iterations of MINRES",
            "case F05: by hand",
            projector,
        )
        .solved_by(
            &[1.0 - 0.6 * along, 2.0 - 0.8 * along, 3.0, 0.0],
            &[-along, -4.0],
            1e-9,
        ),
    );
}

/// D07.
fn one_contact(out: &mut Vec<Record>) {
    let source = "case D07: by the root of a scalar equation";
    let a = [2.0, 0.3, -0.4, 0.3, 1.5, 0.2, -0.4, 0.2, 1.1];
    for (name, about, b, r) in [
        ("contact-parts", "a contact that opens", [0.5, 1.0, 1.0], [0.0; 3]),
        (
            "contact-sticks",
            "a contact that sticks",
            [-1.29, -0.3, 0.385],
            [0.6, 0.1, -0.15],
        ),
        (
            "contact-slips",
            "a contact that slips, coupled inertia",
            [-1.0, 1.2, -0.7],
            [0.552810593891443, -0.17903744966628024, 0.12977488220750488],
        ),
        (
            "contact-slips-fast",
            "a contact that slips fast",
            [-0.5, -2.0, 3.0],
            [0.22730996910004506, 0.050091013426654285, -0.07588189442978405],
        ),
    ] {
        let cones = [Cone::Coulomb { mu: 0.4 }];
        out.push(dense(name, about, source, (&a, &b), &cones).impulse(&r, 1e-7));
    }
}

/// D04: heave, roll and pitch of a box on four legs, and a stack.
fn legs(out: &mut Vec<Record>) {
    let source = "case D04: by hand";
    let (m, g) = (10.0, 9.81);
    let (x, y) = ([0.5, 0.5, -0.5, -0.5], [0.3, -0.3, 0.3, -0.3]);
    // About the centre of mass at (0.1, -0.05); unit radii of gyration, which do not matter at
    // rest.
    let rows: Vec<f64> = (0..4).flat_map(|k| [1.0, y[k] + 0.05, -(x[k] - 0.1)]).collect();
    let force: Vec<f64> = (0..4)
        .map(|k| m * g / 4.0 * (1.0 + 0.1 / 0.5 * x[k].signum() - 0.05 / 0.3 * y[k].signum()))
        .collect();
    let mut bilateral = KktSystem::dense(&[m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, m], &rows, &[0.0; 4]).unwrap();
    bilateral.c[0] = -m * g;
    out.push(
        kkt(
            "four-legs",
            "a table of four legs, one too many: least norm",
            source,
            bilateral.clone(),
        )
        .solved_by(&[0.0; 3], &force, 1e-9),
    );
    let mut unilateral = bilateral;
    unilateral.bounds.fill((0.0, f64::INFINITY));
    out.push(
        kkt(
            "four-legs-unilateral",
            "the same, legs that only push",
            source,
            unilateral,
        )
        .solved_by(&[0.0; 3], &[], 1e-9),
    );
    let a: Vec<f64> = (0..16)
        .map(|l| {
            (0..3)
                .map(|d| rows[3 * (l / 4) + d] * rows[3 * (l % 4) + d])
                .sum::<f64>()
                / m
        })
        .collect();
    out.push(
        lcp(
            "four-legs-lcp",
            "the same as a linear complementarity problem: rank three of four, forces not unique",
            source,
            (&a, &[-g; 4]),
        )
        .velocity(&[0.0; 4], 1e-6),
    );
    // Three boxes of four corners: interface i carries 3 - i boxes.
    let mut a = vec![0.0; 144];
    let corner = [[0.5, 0.3], [0.5, -0.3], [-0.5, 0.3], [-0.5, -0.3]];
    for i in 0..12 {
        for k in 0..12 {
            let ([p, q], [s, t]) = (corner[i % 4], corner[k % 4]);
            let one = (1.0 + p * s + q * t) / m;
            a[12 * i + k] = match (i / 4).abs_diff(k / 4) {
                0 if i / 4 == 0 => one,
                0 => 2.0 * one,
                1 => -one,
                _ => 0.0,
            };
        }
    }
    let b: Vec<f64> = (0..12).map(|i| if i < 4 { -g } else { 0.0 }).collect();
    out.push(
        lcp(
            "stack-of-three",
            "three boxes, four corners each: rank nine of twelve",
            source,
            (&a, &b),
        )
        .velocity(&[0.0; 12], 1e-6),
    );
}
