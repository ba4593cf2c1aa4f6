//! Interior points against those of another program.

use super::scenes::{incline, tower, wall};
use super::{interior, limits, near, solve};
use pliant_lab::ClarabelOracle;
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::*;

/// The same problem with a compliance, so that the impulses are unique.
fn compliant(problem: &Problem, compliance: f64) -> Problem {
    let m = problem.size();
    let mut a = vec![0.0; m * m];
    problem.delassus().block(0..m, 0..m, &mut a);
    (0..m).for_each(|i| a[i * m + i] += compliance);
    Problem::dense(&a, problem.b(), problem.cones()).unwrap()
}

fn both(problem: &Problem) -> [Vec<f64>; 2] {
    let (r, ours) = solve(&mut interior(1e-8), problem);
    let (s, theirs) = solve(&mut ClarabelOracle::new(limits(1e-7, 100)), problem);
    assert_eq!(ours.outcome, Outcome::Converged, "{ours:?}");
    assert_eq!(theirs.outcome, Outcome::Converged, "{theirs:?}");
    [r, s]
}

#[test]
fn stacks_and_a_box_that_slides() {
    for problem in [
        incline(10.0, 0.0981, 0.6, 0.3),
        tower(3, 10.0, 0.3, 0.5),
        wall(2, 2, 0.3, 0.5),
    ] {
        let [r, s] = both(&compliant(&problem, 1e-2));
        // The residual of 1e-7 is a velocity; a compliance of 1e-2 makes it an impulse 100 times
        // that.
        near(&r, &s, 1e-4);
    }
}

#[test]
fn rows_of_all_laws_in_a_saddle_point_system() {
    // Two unit masses and one that is fixed, tied x0 = x1 by a bilateral row with compliance,
    // pushed onto a floor, into a stop and a motor.
    let w = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0];
    let j = [1.0, -1.0, 0.0, 1.0, 0.0, 0.5, 0.0, 1.0, 1.0, 0.5, 0.5, 0.0];
    let mut system = KktSystem::dense(&w, &j, &[0.1; 4]).unwrap();
    system.fixed[2] = true;
    let blocks = [0, 1, 2, 3];
    let laws = [
        Cone::NonNegative,
        Cone::Box {
            lower: -0.2,
            upper: 0.3,
        },
        Cone::Free,
    ];
    for b in [[-1.0, -2.0, 0.5], [-1.0, 2.0, -0.5], [1.0, -0.01, 0.0]] {
        let a = SaddleDelassus::new(&system, &[1, 2, 3], &blocks).unwrap();
        let problem = Problem::new(a, b.to_vec(), laws.to_vec()).unwrap();
        let [r, s] = both(&problem);
        near(&r, &s, 1e-5);
        let [dense, _] = both(&compliant(&problem, 0.0));
        near(&dense, &s, 1e-5);
    }
}

#[test]
fn it_does_not_claim_what_has_no_solution() {
    let falls = Problem::dense(&[0.0], &[-1.0], &[Cone::NonNegative]).unwrap();
    let (_, report) = solve(&mut ClarabelOracle::new(limits(1e-8, 20)), &falls);
    assert_ne!(report.outcome, Outcome::Converged);
}

#[test]
fn pyramids_as_rows() {
    let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    for cone in [
        Cone::friction_box(0.3),
        Cone::Pyramid {
            mu: 0.3,
            facets: 5,
            first: 1.0,
        },
    ] {
        let problem = Problem::dense(&unit, &[-1.0, 2.0, 3.0], &[cone]).unwrap();
        let (r, ours) = solve(&mut Lemke::default(), &problem);
        let (s, theirs) = solve(&mut ClarabelOracle::new(limits(1e-7, 100)), &problem);
        assert_eq!(
            [ours.outcome, theirs.outcome],
            [Outcome::Converged; 2],
            "{ours:?} {theirs:?}"
        );
        near(&r, &s, 1e-6);
    }
}
