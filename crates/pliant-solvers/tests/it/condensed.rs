//! Systems with cones whose bilateral part is solved by any linear solver, against those by factors.

use crate::islands::{Link, contact, hard, limited, mixed, options, system};
use crate::tools::Random;
use pliant_solvers::complementarity::*;
use pliant_solvers::{
    BoxOptions, BoxSolver, CondensedBounds, DenseCholesky, DirectSolver, KktMemory, KktSolver, KktSystem,
    Solution, SolveError, SolveReport, Status, Variable,
};
use pliant_sparse::PatternBuilder;

fn condensed() -> CondensedIslands {
    let mut out = CondensedIslands::default();
    out.islands.options = options();
    out
}

/// The answer by factors of the whole.
fn by_factors(s: &KktSystem, cones: &[Option<Cone>]) -> Solution {
    let mut solver = IslandSolver::new(options(), BoxOptions::default());
    solver.prepare(s, cones).unwrap();
    let mut solution = Solution::default();
    let found = solver.solve(s, &mut solution).unwrap();
    assert_eq!(found.outcome, Outcome::Converged);
    solution
}

/// Velocities of both are the same, and multipliers where compliance makes them unique.
fn assert_same(a: &Solution, b: &Solution, tolerance: f64, what: &str) {
    for (x, y) in a.x.iter().zip(&b.x).chain(a.mu.iter().zip(&b.mu)) {
        assert!((x - y).abs() < tolerance, "{what}: {x} {y}");
    }
}

/// Velocities are the same where impulses may be shared in another way.
fn assert_same_velocities(a: &Solution, b: &Solution) {
    for (x, y) in a.x.iter().zip(&b.x) {
        assert!((x - y).abs() < 1e-9, "{x} {y}");
    }
}

/// A factor whose answers are off by so much of themselves.
#[derive(Debug, Default)]
struct Coarse {
    factor: DirectSolver,
    off: f64,
    solves: usize,
}

impl KktSolver for Coarse {
    fn name(&self) -> &'static str {
        "a coarse factor"
    }

    fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.factor.prepare(system)
    }

    fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        let report = self.factor.solve(system, solution)?;
        self.solves += 1;
        let mut random = Random(self.solves as u64);
        let values = solution.x.iter_mut().chain(&mut solution.mu);
        values.for_each(|v| *v *= 1.0 + self.off * random.number());
        Ok(report)
    }

    fn impose(&mut self, _: &KktMemory) {}
}

#[test]
fn any_linear_solver_gives_the_answer_of_factors() {
    for seed in 1..20 {
        let (mut s, cones) = system(seed, 10, &mixed());
        s.fixed[27..30].fill(true);
        let expected = by_factors(&s, &cones);
        let mut direct = DirectSolver::default();
        let mut dense = DenseCholesky::default();
        let mut coarse = Coarse {
            off: 1e-3,
            ..Coarse::default()
        };
        let linear: [&mut dyn KktSolver; 3] = [&mut direct, &mut dense, &mut coarse];
        for linear in linear {
            let mut solver = condensed();
            let mut solution = Solution::default();
            solver.prepare(linear, &s, &cones).unwrap();
            let found = solver.solve(linear, &s, &mut solution).unwrap();
            let what = format!("{seed}, {}", linear.name());
            assert_eq!(found.outcome, Outcome::Converged, "{what}");
            assert_eq!(found.linear.status, Status::Converged, "{what}");
            // The compliances are down to 1e-5, which makes impulses less certain than velocities.
            assert_same(&solution, &expected, 1e-6, &what);
            // The two heaps do not know of each other.
            assert_eq!(found.islands, 2, "{what}");
            for (row, u) in solver.velocities() {
                let terms = s.j.row_entries(row).filter(|(k, _)| !s.fixed[*k]);
                let own = s.b[row] + s.r_diagonal(row) * solution.mu[row];
                let expected = terms.fold(own, |sum, (k, a)| sum + a * solution.x[k]);
                assert!((u - expected).abs() < 1e-12, "{what}: {u} {expected}");
            }
        }
    }
}

/// Limits that are far from their bounds, that bear, and that others drive to them.
#[test]
fn limits_have_the_forces_that_factors_find() {
    for seed in 1..40 {
        let (s, cones) = limited(seed);
        let expected = by_factors(&s, &cones);
        let (mut solver, mut linear) = (condensed(), DirectSolver::default());
        let mut solution = Solution::default();
        solver.prepare(&mut linear, &s, &cones).unwrap();
        let found = solver.solve(&mut linear, &s, &mut solution).unwrap();
        assert_eq!(found.outcome, Outcome::Converged, "{seed}");
        // Velocities are up to a hundred.
        assert_same(&solution, &expected, 1e-5, &seed.to_string());
    }
}

/// One solve leaves no trace in the next, limits that are far from their bounds among it.
#[test]
fn a_used_solver_has_the_bits_of_a_new_one() {
    for seed in 1..20 {
        let (s, cones) = limited(seed);
        let (mut used, mut linear) = (condensed(), DirectSolver::default());
        let (mut other, _) = limited(seed + 100);
        other.b.iter_mut().for_each(|b| *b = -*b);
        used.prepare(&mut linear, &other, &cones).unwrap();
        used.solve(&mut linear, &other, &mut Solution::default()).unwrap();
        // Another step begins.
        used.islands.begin();
        used.prepare(&mut linear, &s, &cones).unwrap();
        let mut new = condensed();
        new.prepare(&mut linear, &s, &cones).unwrap();
        assert!(!new.islands.idle_rows().is_empty(), "{seed}");
        assert_eq!(used.islands.idle_rows(), new.islands.idle_rows(), "{seed}");
        let [mut a, mut b] = [(); 2].map(|()| Solution::default());
        let first = used.solve(&mut linear, &s, &mut a).unwrap();
        let second = new.solve(&mut linear, &s, &mut b).unwrap();
        assert_eq!((first, a), (second, b), "{seed}");
    }
}

/// A linear solver that finds nothing is no answer.
#[test]
fn a_linear_solver_that_fails_is_told() {
    let (s, cones) = system(3, 10, &mixed());
    let (mut solver, mut linear) = (condensed(), Coarse::default());
    solver.prepare(&mut linear, &s, &cones).unwrap();
    linear.off = 1.0;
    let found = solver.solve(&mut linear, &s, &mut Solution::default()).unwrap();
    assert_ne!(found.outcome, Outcome::Converged);
    assert_eq!(found.linear.status, Status::Stagnated);
    assert!(found.linear.residual.relative > 1e-9);
    // Two contacts at the same places share their impulses somehow; velocities are the same.
    let (mut s, mut cones) = system(3, 4, &[contact(0, 1), contact(1, 2), contact(1, 2), hard(2, 3)]);
    s.r.values_mut().fill(0.0);
    for row in 3..6 {
        let (from, to) = (s.j.pattern().row_slots(row), s.j.pattern().row_slots(row + 3));
        let values = s.j.values()[from].to_vec();
        s.j.values_mut()[to].copy_from_slice(&values);
        s.b[row + 3] = s.b[row];
    }
    let expected = by_factors(&s, &cones);
    let (mut solver, mut linear) = (condensed(), Coarse::default());
    linear.off = 1e-6;
    solver.prepare(&mut linear, &s, &cones).unwrap();
    let mut solution = Solution::default();
    let found = solver.solve(&mut linear, &s, &mut solution).unwrap();
    assert_eq!(found.outcome, Outcome::Converged);
    assert_same_velocities(&solution, &expected);

    // Other laws, and other matrices.
    cones
        .iter_mut()
        .flatten()
        .for_each(|cone| *cone = Cone::Coulomb { mu: 0.1 });
    solver.set_cones(&cones).unwrap();
    solver.solve(&mut linear, &s, &mut solution).unwrap();
    let expected = by_factors(&s, &cones);
    assert_same_velocities(&solution, &expected);
    s.w.values_mut().iter_mut().for_each(|w| *w *= 2.0);
    solver.prepare(&mut linear, &s, &cones).unwrap();
    solver.solve(&mut linear, &s, &mut solution).unwrap();
    let expected = by_factors(&s, &cones);
    assert_same_velocities(&solution, &expected);
}

/// Responses that are far off: the answer is right all the same, or is told to be none.
#[test]
fn wrong_responses_give_no_wrong_answers() {
    let (mut solved, mut told) = (0, 0);
    for seed in 1..40 {
        let (s, cones) = system(seed, 10, &mixed());
        let expected = by_factors(&s, &cones);
        let mut linear = Coarse {
            off: 2.0,
            ..Coarse::default()
        };
        let mut solver = condensed();
        solver.prepare(&mut linear, &s, &cones).unwrap();
        linear.off = 0.0;
        let mut solution = Solution::default();
        let found = solver.solve(&mut linear, &s, &mut solution).unwrap();
        assert_eq!(found.linear.status, Status::Converged, "{seed}");
        if found.outcome == Outcome::Converged {
            assert_same(&solution, &expected, 1e-6, &seed.to_string());
            solved += 1;
        } else {
            assert!(found.residual.measure() > 1e-12, "{seed}");
            told += 1;
        }
    }
    assert!(told > 5, "{solved} {told}");
}

/// One body of two unknowns, one block of three rows whose compliance couples them; the second row
/// has a bound.
fn coupled(seed: u64) -> KktSystem {
    let mut random = Random(seed);
    let [mut w, mut j, mut r] = [(2, 2), (3, 2), (3, 3)].map(|(a, b)| PatternBuilder::new(a, b));
    w.insert_block((0, 0), (2, 2), true);
    j.insert_block((0, 0), (3, 2), false);
    r.insert_block((0, 0), (3, 3), true);
    let patterns = [w, j, r].map(|b| b.finish().unwrap());
    let [w, j, r] = patterns;
    let mut s = KktSystem::new(w, j, r, vec![0, 2], vec![0, 3]).unwrap();
    s.w.values_mut().copy_from_slice(&[2.0, 0.3, 1.5]);
    s.j.values_mut().iter_mut().for_each(|v| *v = random.number());
    s.r.values_mut()
        .copy_from_slice(&[0.5, 0.2, 0.6, -0.1, 0.15, 0.4]);
    s.b.iter_mut().chain(&mut s.c).for_each(|v| *v = random.number());
    s.bounds[1] = (-0.05, 0.05);
    s
}

/// A bounded row that shares a coupled compliance with bilateral ones, against the conditions
/// themselves.
#[test]
fn compliance_couples_bounded_and_bilateral_rows() {
    let (mut at_bound, mut inside) = (0, 0);
    for seed in 1..40 {
        let s = coupled(seed);
        let (mut solver, mut linear) = (condensed(), DirectSolver::default());
        let mut found = Solution::default();
        solver.prepare(&mut linear, &s, &[None]).unwrap();
        let report = solver.solve(&mut linear, &s, &mut found).unwrap();
        assert_eq!(report.outcome, Outcome::Converged, "{seed}");
        let entry = |i: usize, k: usize| s.r.get(i.max(k), i.min(k));
        let velocity = |i: usize| {
            let compliant: f64 = (0..3).map(|k| entry(i, k) * found.mu[k]).sum();
            s.j.row_entries(i)
                .fold(s.b[i] + compliant, |sum, (k, a)| sum + a * found.x[k])
        };
        assert!(velocity(0).abs() < 1e-10 && velocity(2).abs() < 1e-10, "{seed}");
        let (mu, w) = (found.mu[1], velocity(1));
        match mu.abs() >= 0.05 {
            true => {
                assert!(
                    (mu.abs() - 0.05).abs() < 1e-12 && mu * w < 1e-12,
                    "{seed}: {mu} {w}"
                );
                at_bound += 1;
            }
            false => {
                assert!(w.abs() < 1e-10, "{seed}: {w}");
                inside += 1;
            }
        }
    }
    assert!(at_bound > 5 && inside > 0, "{at_bound} {inside}");
}

#[test]
fn what_is_not_solved_is_refused_by_name() {
    let m = 4001;
    let mut s = KktSystem::dense(&[1.0], &vec![1.0; m], &vec![1.0; m]).unwrap();
    let cones = vec![Some(Cone::NonNegative); m];
    let (mut solver, mut linear) = (condensed(), DirectSolver::default());
    let refused = solver.prepare(&mut linear, &s, &cones);
    assert!(
        format!("{refused:?}").contains("more than 4,000 rows"),
        "{refused:?}"
    );
    let solved = solver.solve(&mut linear, &s, &mut Solution::default());
    assert!(format!("{solved:?}").contains("not prepared"), "{solved:?}");
    // The second bilateral row, which is the third of the whole.
    s = KktSystem::dense(&[1.0], &[1.0; 3], &[1.0, 1.0, -1.0]).unwrap();
    let cones = [None, Some(Cone::NonNegative), None];
    let refused = solver.prepare(&mut linear, &s, &cones);
    let row = ProblemError::Bilateral(SolveError::NegativeCompliance { row: 2, value: -1.0 });
    assert_eq!(refused, Err(row));
    // A row with a cone, behind a bilateral one.
    s = KktSystem::dense(&[1.0], &[1.0; 3], &[1.0; 3]).unwrap();
    solver.prepare(&mut linear, &s, &cones).unwrap();
    s.b[1] = f64::NAN;
    let refused = solver.solve(&mut linear, &s, &mut Solution::default());
    let variable = Variable::Row(1);
    assert_eq!(refused, Err(SolveError::NotFinite { variable }.into()));
}

/// Rows of bounded force beside any solver of bilateral ones, by an active set and by sweeps.
#[test]
fn bounded_rows_stand_beside_any_linear_solver() {
    let chain = |k: usize| Link {
        bounds: [(0.0, f64::INFINITY), (-0.1, 0.1)][k % 2],
        ..hard(k, k + 1)
    };
    let links: Vec<Link> = (0..8).flat_map(|k| [chain(k), hard(k, k + 1)]).collect();
    let mut at_bounds = 0;
    for seed in 1..20 {
        let (s, _) = system(seed, 9, &links);
        let mut expected = Solution::default();
        let mut active_set = BoxSolver::default();
        active_set.prepare(&s).unwrap();
        let by_factors = active_set.solve(&s, &mut expected).unwrap();
        for only in [None, Some(Method::GaussSeidel)] {
            let mut solver = CondensedBounds::new(Coarse {
                off: 1e-4,
                ..Coarse::default()
            });
            solver.only = only;
            let mut solution = Solution::default();
            KktSolver::prepare(&mut solver, &s).unwrap();
            let found = KktSolver::solve(&mut solver, &s, &mut solution).unwrap();
            assert_eq!(found.status, Status::Converged, "{seed}");
            assert!(found.bounds.natural < 1e-8, "{seed}: {:?}", found.bounds);
            assert_eq!(
                found.bounds.rows_at_bounds, by_factors.bounds.rows_at_bounds,
                "{seed}"
            );
            // A share of 1e-9 of velocities of order one, through compliances down to 1e-4.
            assert_same(&solution, &expected, 1e-5, &seed.to_string());
            at_bounds += found.bounds.rows_at_bounds;
        }
    }
    assert!(at_bounds > 20, "{at_bounds}");
}
