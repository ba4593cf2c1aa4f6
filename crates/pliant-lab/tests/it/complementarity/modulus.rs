//! Modulus-based splitting.

use super::scenes::{tower, wall};
use super::{UNILATERAL, gauss_seidel, lcp, limits, modulus, near, solve};
use pliant_solvers::complementarity::*;

#[test]
fn one_row_at_a_time_it_is_gauss_seidel_if_omega_is_the_diagonal() {
    let a = [2.0, 1.0, 0.5, 1.0, 3.0, -1.0, 0.5, -1.0, 4.0];
    let problem = lcp(&a, &[-5.0, -6.0, 2.0]);
    for sweeps in [1, 2, 5] {
        let mut one = ModulusSplitting::new(ModulusSplittingOptions {
            limits: limits(0.0, sweeps),
            depth: 0,
            shift: 1.0,
        });
        let mut two = GaussSeidel::new(GaussSeidelOptions {
            limits: limits(0.0, sweeps),
            check_every: 1,
            ..GaussSeidelOptions::default()
        });
        let r = solve(&mut one, &problem).0;
        // From no impulse z = -b/a: a step of Jacobi.
        let mut s = [2.5, 2.0, 0.0];
        two.solve(&problem, &mut s).unwrap();
        near(&r, &s, 1e-14);
    }
}

#[test]
fn one_step_of_a_contact_by_hand() {
    // A = I, omega = 1: z = -(b + s n), r = P_K(z), s = |b_t + r_t|. With b = (-2, 3, 0), mu = 1,
    // from r = 0, s = 3: z = (-1, -3, 0), r = (1, -1, 0), s = 2. The three turns of a sweep: z =
    // (0, -3, 0), r = (1.5, -1.5, 0), s = 1.5; z_n = 0.5, r_n = 1.75, s = 1.25; z_n = 0.75.
    let a = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let problem = Problem::dense(&a, &[-2.0, 3.0, 0.0], &[Cone::Coulomb { mu: 1.0 }]).unwrap();
    let mut solver = ModulusSplitting::new(ModulusSplittingOptions {
        limits: limits(0.0, 1),
        depth: 0,
        shift: 1.0,
    });
    let (r, _) = solve(&mut solver, &problem);
    near(&r, &[1.875, -1.875, 0.0], 1e-14);
    let (r, report) = solve(&mut modulus(1e-12, 8), &problem);
    assert_eq!(report.outcome, Outcome::Converged);
    near(&r, &[2.0, -2.0, 0.0], 1e-11);
}

#[test]
fn acceleration_saves_most_of_the_sweeps() {
    // Measured: 783 sweeps instead of 11855, and 55 instead of 273; Gauss-Seidel 11877 and 279.
    for problem in [tower(6, 10.0, 0.3, 0.5), wall(3, 3, 0.3, 0.5)] {
        let (_, fast) = solve(&mut modulus(1e-8, 8), &problem);
        let (_, plain) = solve(&mut modulus(1e-8, 0), &problem);
        let (_, sweeps) = solve(&mut gauss_seidel(1e-8, 1.0, false), &problem);
        assert_eq!(fast.outcome, Outcome::Converged, "{fast:?}");
        assert!(
            2 * fast.iterations < plain.iterations.min(sweeps.iterations),
            "{fast:?} {plain:?}"
        );
    }
}

#[test]
fn any_shift_leads_to_the_same_answer() {
    let problem = Problem::dense(
        &[2.0, 0.5, 0.5, 1.0],
        &[-1.0, -2.0],
        &[
            UNILATERAL,
            Cone::Box {
                lower: -1.0,
                upper: 0.5,
            },
        ],
    )
    .unwrap();
    // The second is at its upper bound: 2 r = 1 - 0.25.
    for shift in [0.1, 1.0, 10.0] {
        let mut solver = ModulusSplitting::new(ModulusSplittingOptions {
            limits: limits(1e-12, 1000),
            depth: 4,
            shift,
        });
        let (r, report) = solve(&mut solver, &problem);
        assert_eq!(report.outcome, Outcome::Converged);
        near(&r, &[0.375, 0.5], 1e-11);
    }
}
