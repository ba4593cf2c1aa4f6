//! Decisions of the direct solver by a threshold: systems small enough to solve by hand, on both
//! sides of it.

use crate::tools::identity;
use pliant_solvers::{DirectOptions, DirectSolver, KktSystem, Solution, SolveError, SolveReport, Status};

fn solve_with(options: DirectOptions, system: &KktSystem) -> (Solution, SolveReport) {
    let mut solver = DirectSolver::new(options);
    let mut solution = Solution::default();
    solver.prepare(system).unwrap();
    let report = solver.solve(system, &mut solution).unwrap();
    (solution, report)
}

fn solve(system: &KktSystem) -> (Solution, SolveReport) {
    solve_with(DirectOptions::default(), system)
}

/// Two hard rows `(1, 1)` and `(1 + s, 1)` on masses 1 and `light`, satisfied by `x`.
fn nearly_parallel(s: f64, light: f64, x: [f64; 2]) -> KktSystem {
    let mut out = KktSystem::dense(&[1.0, 0.0, 0.0, light], &[1.0, 1.0, 1.0 + s, 1.0], &[0.0; 2]).unwrap();
    out.b.copy_from_slice(&[-x[0] - x[1], -(1.0 + s) * x[0] - x[1]]);
    out
}

/// The second pivot is about `s^2 light` of its Delassus diagonal `1 / light`: below the rank
/// threshold because the second mass is light, not because the rows are one. Their difference
/// exerts the share `s / (2 + s)` of its terms on the first mass, which says so.
#[test]
fn a_light_mass_does_not_make_rows_redundant() {
    for light in [1e-8, 1e-10] {
        let (found, report) = solve(&nearly_parallel(2e-2, light, [1.0, 2.0]));
        assert_eq!(
            (report.status, report.redundant_rows),
            (Status::Converged, 0),
            "{light:e}"
        );
        // Roundings of the Delassus diagonal, refined once, over the difference of the rows.
        let off = (found.x[0] - 1.0).abs().max((found.x[1] - 2.0).abs());
        assert!(off < 1e-6, "{light:e}: {off:e}");
    }
}

/// Rows are one by a share of 1e-4: a combination of rows that exerts less than a thousandth of its
/// terms counts as one that exerts none. Also where the pivot is below the roundings of its terms,
/// whatever the share.
#[test]
fn rows_that_differ_by_less_than_the_decision_are_one() {
    for (s, light) in [(2e-4, 1e-3), (2e-2, 5e-13)] {
        let (found, report) = solve(&nearly_parallel(s, light, [0.0, 2.0]));
        assert_eq!(
            (report.status, report.redundant_rows),
            (Status::Converged, 1),
            "{s:e}"
        );
        // Of what satisfies one row, that of least energy; the other is off by s of its small first
        // part.
        assert!((found.x[0] + found.x[1] - 2.0).abs() < 1e-6, "{:?}", found.x);
    }
}

/// Two compliant rows on one mass share an impulse inversely to their compliances, as long as these
/// are not lost in the roundings of the Delassus operator: below 1e-12 of its diagonal they count
/// as hard, and hard rows share equally.
#[test]
fn tiny_compliances_share_or_are_none() {
    for (r, redundant, share) in [(2e-11, 0, 3.0), (1e-13, 1, 1.0)] {
        let mut s = KktSystem::dense(&[1.0], &[1.0, 1.0], &[r, 3.0 * r]).unwrap();
        s.b.fill(-1.0);
        let (found, report) = solve(&s);
        assert_eq!(
            (report.status, report.redundant_rows),
            (Status::Converged, redundant),
            "{r:e}"
        );
        // x = mu_0 + mu_1 = 1 but for r; a rounding of x over r moves the share.
        assert!((found.x[0] - 1.0).abs() < 1e-10 && (found.mu[0] + found.mu[1] - 1.0).abs() < 1e-10);
        let off = (found.mu[0] / found.mu[1] - share).abs();
        assert!(off < 1e-3, "{r:e}: {:?}", found.mu);
    }
}

/// The pivot of the second variable is `d` of its diagonal: more than a few roundings, or no more
/// than that.
#[test]
fn a_variable_is_singular_below_a_few_roundings() {
    let stiff = |d: f64| KktSystem::dense(&[1.0, 1.0, 1.0, 1.0 + d], &[], &[]).unwrap();
    let mut fine = stiff(1e-14);
    // W (3, 4).
    fine.c.copy_from_slice(&[7.0, 3.0 + 4.0 * (1.0 + 1e-14)]);
    let (found, report) = solve(&fine);
    assert_eq!(report.status, Status::Converged);
    // The sum is stiff, the difference known to a rounding of it over d.
    assert!((found.x[0] + found.x[1] - 7.0).abs() < 1e-13 && (found.x[0] - 3.0).abs() < 0.5);
    let error = DirectSolver::default().prepare(&stiff(f64::EPSILON)).unwrap_err();
    assert!(
        matches!(error, SolveError::NotPositiveDefinite { dof: 1, .. }),
        "{error:?}"
    );
}

/// Rows on one mass, with their `b`.
fn on_one_mass(b: &[f64], c: f64) -> KktSystem {
    let m = b.len();
    let mut s = KktSystem::dense(&[1.0], &vec![1.0; m], &vec![0.0; m]).unwrap();
    s.b.copy_from_slice(b);
    s.c[0] = c;
    s
}

#[test]
fn the_row_that_contradicts_most_is_named() {
    for odd in 0..3 {
        let mut b = [1.0; 3];
        b[odd] = 2.0;
        let (_, report) = solve(&on_one_mass(&b, 0.0));
        // Least squares: 2/3 for the odd row, 1/3 for the others.
        let Status::Incompatible { row, violation } = report.status else {
            panic!("{report:?}");
        };
        assert!(
            row == odd && (violation - 2.0 / 3.0).abs() < 1e-14,
            "{row} {violation}"
        );
    }
}

/// Two rows that differ by 1e-8 m/s agree where a velocity of 1 m/s is about, at rest they do not,
/// unless `b` is known to be off by as much.
#[test]
fn rows_agree_up_to_what_b_is_known_to() {
    let status = |c: f64, rounding: f64| {
        let mut s = on_one_mass(&[1e-8, 0.0], c);
        s.b_rounding.fill(rounding);
        solve(&s).1.status
    };
    assert_eq!(status(1.0, 0.0), Status::Converged);
    assert_eq!(status(0.0, 1e-7), Status::Converged);
    assert!(matches!(status(0.0, 0.0), Status::Incompatible { .. }));
    assert!(matches!(status(0.0, 1e-10), Status::Incompatible { .. }));
}

/// Two hard rows that want 0 and 0.06 m/s, beside a third, all but hard, that wants 5 m/s and
/// pushes with 5e6 N s: that its multiplier could make a velocity of 5e6 m/s is no reason to call
/// 0.06 m/s nothing.
#[test]
fn huge_multipliers_do_not_hide_a_contradiction() {
    let mut s = KktSystem::dense(&[1.0], &[1.0; 3], &[0.0, 0.0, 1e-6]).unwrap();
    s.b.copy_from_slice(&[0.0, -0.06, -5.0]);
    let (_, report) = solve(&s);
    let Status::Incompatible { violation, .. } = report.status else {
        panic!("{report:?}");
    };
    // Least squares: half of it each.
    assert!((violation - 0.03).abs() < 1e-9, "{violation}");
}

/// Rows `(3, 1)`, `(1, 7)` and their sum, with `b` for a velocity that is not representable: what
/// roundings make of it is no contradiction even for those who allow none.
#[test]
fn roundings_do_not_contradict() {
    let mut s = KktSystem::dense(&identity(2), &[3.0, 1.0, 1.0, 7.0, 4.0, 8.0], &[0.0; 3]).unwrap();
    let options = DirectOptions {
        incompatibility: 0.0,
        ..DirectOptions::default()
    };
    for k in 1..20 {
        let x = [0.1 * f64::from(k), 0.7];
        s.b.copy_from_slice(&[-3.0 * x[0] - x[1], -x[0] - 7.0 * x[1], -4.0 * x[0] - 8.0 * x[1]]);
        let (found, report) = solve_with(options, &s);
        assert_eq!(
            (report.status, report.redundant_rows),
            (Status::Converged, 1),
            "{k}"
        );
        assert!((found.x[0] - x[0]).abs() < 1e-14 && (found.x[1] - x[1]).abs() < 1e-14);
    }
}
