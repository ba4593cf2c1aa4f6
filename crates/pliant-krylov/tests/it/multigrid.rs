//! Smoothed aggregation: iterations against refinement, symmetry, refills, garbage.

use crate::elastic::{Brick, chain, membrane};
use crate::tools::{Random, close};
use pliant_krylov::{
    ConjugateGradient, IterativeMethod, IterativeOptions, IterativePreconditioner, IterativeSolver,
    KktKrylov, KktKrylovOptions, KktMethod, KrylovOptions, KrylovSolver, KrylovStatus, MultigridOptions,
    NearNullSpace, Preconditioner, PrimalPreconditioner, RigidNode, SmoothedAggregation,
};
use pliant_solvers::{DirectSolver, KktSolver, KktSystem, Solution, SolveError, Status, Variable};
use pliant_sparse::{CsrMatrix, PatternBuilder};

fn levels_of(brick: &Brick, system: &KktSystem) -> SmoothedAggregation {
    let modes = NearNullSpace::rigid(&brick.places()).unwrap();
    let (w, fixed, blocks) = (&system.w, &system.fixed, system.primal_blocks());
    SmoothedAggregation::new(w, fixed, blocks, &modes, MultigridOptions::default()).unwrap()
}

/// Iterations of conjugate gradients to a relative residual of 1e-8.
fn iterations(m: &SmoothedAggregation, system: &KktSystem) -> usize {
    let free = system.c.iter().zip(&system.fixed);
    let b: Vec<f64> = free.map(|(c, fixed)| if *fixed { 0.0 } else { *c }).collect();
    let mut x = vec![0.0; b.len()];
    let mut cg = ConjugateGradient::new(KrylovOptions {
        tolerance: 1e-8,
        ..KrylovOptions::default()
    });
    let report = cg.solve_with(m.matrix(), m, &b, &mut x).unwrap();
    assert_eq!(report.status, KrylovStatus::Converged, "{report:?}");
    report.iterations
}

fn of_brick(brick: &Brick) -> usize {
    let system = brick.system();
    iterations(&levels_of(brick, &system), &system)
}

/// Theory: a bound that does not depend on the number of unknowns for two levels, and one that
/// grows with the number of levels for more (Vaněk, Brezina and Mandel 2001). So: two iterations more
/// at most from 3,000 to 81,000 unknowns, from two levels to four, where block Jacobi takes three
/// times as many.
#[test]
fn iterations_hardly_grow_with_refinement() {
    for (what, mass, held, most) in [
        ("statics", 0.0, true, 15),
        ("steps of a floating body", 1.0, false, 14),
        ("short steps", 1e4, false, 5),
    ] {
        let counts = [9, 19, 29].map(|cells| {
            of_brick(&Brick {
                mass,
                held,
                ..Brick::cube(cells)
            })
        });
        assert!(
            counts[2] <= counts[0] + 3 && counts[2] <= most,
            "{what}: {counts:?}"
        );
    }
}

/// A slender body: bending, whose rotations the coarse levels have to know.
#[test]
fn beams_bend_in_few_iterations_with_rotations_and_in_many_without() {
    let beam = |k: usize| Brick {
        cells: [40 * k, 4 * k, 4 * k],
        sides: [1.0 / (4 * k) as f64; 3],
        ..Brick::cube(1)
    };
    let counts = [1, 2].map(|k| of_brick(&beam(k)));
    assert!(counts.iter().all(|c| *c <= 20), "{counts:?}");
    let (brick, system) = (beam(2), beam(2).system());
    let modes = NearNullSpace::components(system.primal_blocks());
    assert_eq!((modes.count(), modes.order()), (3, system.n()));
    let (w, fixed, blocks) = (&system.w, &system.fixed, system.primal_blocks());
    let m = SmoothedAggregation::new(w, fixed, blocks, &modes, MultigridOptions::default()).unwrap();
    let without = iterations(&m, &system);
    assert!(
        without > 2 * counts[1],
        "{without} without rotations, {counts:?} with"
    );
    let report = levels_of(&brick, &system).report();
    assert!(report.factored && report.levels.len() >= 3, "{report:?}");
    assert!(report.operator_complexity() < 1.3, "{report:?}");
}

#[test]
fn membranes_of_springs_of_any_size() {
    let counts = [20, 40, 80].map(|side| {
        let (system, places) = membrane(side);
        let modes = NearNullSpace::rigid(&places).unwrap();
        let (w, fixed, blocks) = (&system.w, &system.fixed, system.primal_blocks());
        let m = SmoothedAggregation::new(w, fixed, blocks, &modes, MultigridOptions::default()).unwrap();
        iterations(&m, &system)
    });
    // Sweeps alone take as many iterations as there are springs along a side.
    assert!(counts[2] <= 40 && counts[2] <= 2 * counts[0], "{counts:?}");
}

#[test]
fn the_rigid_motions_of_bodies_cost_no_energy() {
    let (system, nodes) = chain(30);
    let modes = NearNullSpace::rigid_nodes(nodes.iter().copied()).unwrap();
    for c in 0..6 {
        let x: Vec<f64> = (0..system.n()).map(|i| modes.row(i)[c]).collect();
        let mut y = vec![0.0; system.n()];
        system.w.symmetric_add_product(1.0, &x, &mut y);
        // Velocities of up to 15, rounded a dozen times.
        assert!(y.iter().all(|v| v.abs() < 1e-13), "motion {c}: {y:?}");
    }
}

#[test]
fn chains_of_bodies_at_steps_and_at_rest() {
    for mass in [1e-4, 1.0] {
        let counts = [60, 240, 960].map(|count| {
            let (mut system, nodes) = chain(count);
            for i in 0..system.n() {
                let slot = system.w.pattern().slot(i, i).unwrap();
                system.w.values_mut()[slot] += mass;
                system.c[i] = (i as f64).sin();
            }
            let modes = NearNullSpace::rigid_nodes(nodes.iter().copied()).unwrap();
            let (w, blocks) = (&system.w, system.primal_blocks());
            let m = SmoothedAggregation::new(w, &[], blocks, &modes, MultigridOptions::default()).unwrap();
            iterations(&m, &system)
        });
        // Aggregates of three bodies: a chain is as stiff as a beam, its coarse levels not quite.
        assert!(
            counts[2] <= 30 && counts[2] <= 2 * counts[0],
            "{mass}: {counts:?}"
        );
    }
}

fn solver(method: IterativeMethod) -> IterativeSolver {
    IterativeSolver::new(IterativeOptions {
        method,
        preconditioner: IterativePreconditioner::Multilevel,
        tolerance: 1e-8,
        max_iterations: 200,
    })
}

/// The Schur complement of a stable pair is bounded by the mass matrix of the pressures at any
/// refinement; iterations settle with the constants of the pair.
#[test]
fn nearly_incompressible_solids_of_any_size() {
    for (mass, held, most) in [
        (0.0, true, 66),
        (1.0, false, 58),
        (1e2, true, 36),
        (1e6, true, 20),
    ] {
        for poisson in [0.499, 0.5] {
            let counts = [8, 16].map(|cells| {
                let brick = Brick {
                    mass,
                    held,
                    poisson,
                    patch: 2,
                    ..Brick::cube(cells)
                };
                let system = brick.system();
                let mut solver = solver(IterativeMethod::Minres);
                solver.set_near_null_space(&NearNullSpace::rigid(&brick.places()).unwrap());
                solver.prepare(&system).unwrap();
                let mut solution = Solution::default();
                let report = solver.solve(&system, &mut solution).unwrap();
                assert_eq!(report.status, Status::Converged, "{report:?}");
                report.iterations
            });
            let fine = counts[1] <= most && 2 * counts[1] <= 3 * counts[0].max(10);
            assert!(fine, "mass {mass}, Poisson's ratio {poisson}: {counts:?}");
        }
    }
}

fn direct(system: &KktSystem) -> Solution {
    let (mut solver, mut solution) = (DirectSolver::default(), Solution::default());
    solver.prepare(system).unwrap();
    solver.solve(system, &mut solution).unwrap();
    solution
}

#[test]
fn answers_are_those_of_the_direct_solver() {
    let bricks = [(0, 0.3, 0.0), (2, 0.499, 0.0), (2, 0.5, 10.0)];
    for (patch, poisson, mass) in bricks {
        let brick = Brick {
            patch,
            poisson,
            mass,
            ..Brick::cube(6)
        };
        let system = brick.system();
        let exact = direct(&system);
        let mut solver = solver(match patch {
            0 => IterativeMethod::Cg,
            _ => IterativeMethod::Minres,
        });
        solver.options.tolerance = 1e-12;
        // Without the motions too, by components.
        for told in [false, true] {
            if told {
                solver.set_near_null_space(&NearNullSpace::rigid(&brick.places()).unwrap());
            }
            solver.prepare(&system).unwrap();
            let mut solution = Solution::default();
            let report = solver.solve(&system, &mut solution).unwrap();
            assert_eq!(report.status, Status::Converged, "{report:?}");
            // Conditions of some thousand.
            close(&solution.x, &exact.x, 1e-8);
            close(&solution.mu, &exact.mu, 1e-8);
        }
    }
}

/// Ten points of a floating body pinned by 30 hard rows.
fn pinned(cells: usize) -> (Brick, KktSystem) {
    let brick = Brick {
        mass: 1.0,
        held: false,
        ..Brick::cube(cells)
    };
    let plain = brick.system();
    let n = plain.n();
    let (mut j, mut r) = (PatternBuilder::new(30, n), PatternBuilder::new(30, 30));
    for row in 0..30 {
        let node = (row / 3) * (brick.nodes() - 1) / 9;
        j.insert(row, 3 * node + row % 3);
        r.insert(row, row);
    }
    let mut out = KktSystem::new(
        plain.w.pattern().clone(),
        j.finish().unwrap(),
        r.finish().unwrap(),
        plain.primal_blocks().to_vec(),
        (0..=10).map(|k| 3 * k).collect(),
    )
    .unwrap();
    out.w.values_mut().copy_from_slice(plain.w.values());
    out.j.values_mut().fill(1.0);
    out.c.copy_from_slice(&plain.c);
    out.b
        .iter_mut()
        .enumerate()
        .for_each(|(i, b)| *b = 1e-3 * (i as f64).cos());
    (brick, out)
}

#[test]
fn few_hard_rows_take_few_iterations_more() {
    let counts = [8, 16].map(|cells| {
        let (brick, system) = pinned(cells);
        let mut solver = solver(IterativeMethod::Cg);
        solver.set_near_null_space(&NearNullSpace::rigid(&brick.places()).unwrap());
        solver.prepare(&system).unwrap();
        let mut solution = Solution::default();
        let report = solver.solve(&system, &mut solution).unwrap();
        assert_eq!(report.status, Status::Converged, "{report:?}");
        if cells == 8 {
            close(&solution.x, &direct(&system).x, 1e-5);
        }
        report.iterations
    });
    // Two for each iteration on W alone, and some for every motion that the pins hold: what a point
    // gives way to a force grows without bound with refinement, but in its own row alone.
    assert!(counts[1] <= counts[0] && counts[0] <= 95, "{counts:?}");
}

#[test]
fn compliant_rows_are_condensed_into_what_has_the_levels() {
    let brick = Brick {
        patch: 2,
        poisson: 0.3,
        ..Brick::cube(8)
    };
    let system = brick.system();
    let mut krylov = KktKrylov::new(KktKrylovOptions {
        method: KktMethod::PrimalPcg,
        preconditioner: PrimalPreconditioner::Multilevel,
        ..KktKrylovOptions::default()
    });
    krylov.set_near_null_space(&NearNullSpace::rigid(&brick.places()).unwrap());
    krylov.prepare(&system).unwrap();
    let mut solution = Solution::default();
    let report = krylov.solve(&system, &mut solution).unwrap();
    assert_eq!(report.status, KrylovStatus::Converged);
    assert!(report.iterations <= 30, "{report:?}");
    let exact = direct(&system);
    close(&solution.x, &exact.x, 1e-6);
    close(&solution.mu, &exact.mu, 1e-6);
    assert!(krylov.levels().is_some_and(|l| l.levels.len() >= 2));
}

#[test]
fn a_cycle_is_symmetric_and_positive_definite() {
    let flat = Brick {
        cells: [9, 7, 5],
        ..Brick::cube(8)
    };
    check_cycle(&levels_of(&flat, &flat.system()));
    // Levels enough for two cycles on the coarse ones.
    let long = Brick {
        cells: [29, 7, 7],
        ..Brick::cube(8)
    };
    let (system, modes) = (long.system(), NearNullSpace::rigid(&long.places()).unwrap());
    let options = MultigridOptions {
        coarsest: 12,
        ..MultigridOptions::default()
    };
    let (w, fixed, blocks) = (&system.w, &system.fixed, system.primal_blocks());
    let m = SmoothedAggregation::new(w, fixed, blocks, &modes, options).unwrap();
    assert!(m.report().levels.len() >= 4, "{:?}", m.report());
    check_cycle(&m);
}

/// Checks that a cycle is symmetric, positive definite, and no larger than the inverse.
fn check_cycle(m: &SmoothedAggregation) {
    let mut random = Random(3);
    let n = m.size();
    for _ in 0..10 {
        let (v, w) = (random.numbers(n), random.numbers(n));
        let (mut mv, mut mw) = (vec![0.0; n], vec![0.0; n]);
        m.apply(&v, &mut mv);
        m.apply(&w, &mut mw);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (left, right) = (dot(&v, &mw), dot(&w, &mv));
        let size = (dot(&v, &mv) * dot(&w, &mw)).sqrt();
        assert!(dot(&v, &mv) > 0.0 && dot(&w, &mw) > 0.0);
        assert!((left - right).abs() < 1e-13 * size, "{left} and {right}");
        // As an approximation of the inverse from above, to which V-cycles with convergent sweeps
        // are known to lead: v^T M^-1 A M^-1 v <= v^T M^-1 v.
        let mut amv = vec![0.0; n];
        m.matrix().apply(&mv, &mut amv);
        assert!(dot(&mv, &amv) <= (1.0 + 1e-12) * dot(&v, &mv));
    }
}

#[test]
fn a_refill_finds_the_bits_of_a_plan_and_allocates_nothing() {
    let brick = Brick::cube(9);
    let (mut system, modes) = (brick.system(), NearNullSpace::rigid(&brick.places()).unwrap());
    let first = levels_of(&brick, &system);
    let mut m = levels_of(&brick, &system);
    let n = system.n();
    let answer = |m: &SmoothedAggregation| {
        let (r, mut z) = (Random(5).numbers(n), vec![0.0; n]);
        m.apply(&r, &mut z);
        z
    };
    let before = answer(&first);
    // Other values, the same couplings: masses.
    for i in 0..n {
        let slot = system.w.pattern().slot(i, i).unwrap();
        system.w.values_mut()[slot] *= 1.1;
    }
    let mut z = vec![0.0; n];
    let counted = allocation_counter::measure(|| {
        m.update(&system.w, &system.fixed, &modes).unwrap();
        m.apply(&before, &mut z);
    });
    assert_eq!(counted.count_total, 0);
    assert_ne!(answer(&m), before);
    assert_eq!(answer(&m), answer(&levels_of(&brick, &system)));
    let system = brick.system();
    m.update(&system.w, &system.fixed, &modes).unwrap();
    assert_eq!(answer(&m), before);
}

/// A solver that planned with a matrix of hardly any coupling, and one of stretched cells, has the
/// bits of one that never saw them: what a run does after a checkpoint.
#[test]
fn solvers_have_no_memory_of_other_values() {
    let brick = Brick::cube(9);
    let system = brick.system();
    let modes = NearNullSpace::rigid(&brick.places()).unwrap();
    let mut heavy = brick.system();
    for i in 0..heavy.n() {
        let slot = heavy.w.pattern().slot(i, i).unwrap();
        heavy.w.values_mut()[slot] *= if i % 7 < 3 { 1e3 } else { 1.5 };
    }
    let solve = |solver: &mut IterativeSolver| {
        let mut solution = Solution::default();
        solver.prepare(&system).unwrap();
        solver.solve(&system, &mut solution).unwrap();
        solution.x
    };
    let mut fresh = solver(IterativeMethod::Cg);
    fresh.set_near_null_space(&modes);
    let mut used = solver(IterativeMethod::Cg);
    used.set_near_null_space(&modes);
    used.prepare(&heavy).unwrap();
    assert_eq!(solve(&mut used), solve(&mut fresh));
}

#[test]
fn warm_steps_allocate_nothing() {
    for (patch, method) in [
        (0, IterativeMethod::Cg),
        (2, IterativeMethod::Cg),
        (2, IterativeMethod::Minres),
    ] {
        let brick = Brick {
            patch,
            mass: 1.0,
            poisson: 0.49,
            ..Brick::cube(6)
        };
        let mut system = brick.system();
        let modes = NearNullSpace::rigid(&brick.places()).unwrap();
        let mut solver = solver(method);
        let mut solution = Solution::default();
        solver.set_near_null_space(&modes);
        solver.prepare(&system).unwrap();
        solver.solve(&system, &mut solution).unwrap();
        system.w.values_mut().iter_mut().for_each(|v| *v *= 1.5);
        system.c[100] += 1.0;
        let counted = allocation_counter::measure(|| {
            solver.set_near_null_space(&modes);
            solver.prepare(&system).unwrap();
            let report = solver.solve(&system, &mut solution).unwrap();
            assert!(report.iterations > 0 && report.status == Status::Converged);
        });
        assert_eq!(counted.count_total, 0, "{patch} {method:?}");
    }
}

#[test]
fn what_is_not_positive_definite_is_said() {
    let brick = Brick::cube(6);
    let modes = NearNullSpace::rigid(&brick.places()).unwrap();
    // A block of the diagonal.
    let mut system = brick.system();
    let slot = system.w.pattern().slot(403, 403).unwrap();
    system.w.values_mut()[slot] *= -1.0;
    let mut solver = solver(IterativeMethod::Cg);
    solver.set_near_null_space(&modes);
    assert!(matches!(
        solver.prepare(&system),
        Err(SolveError::NotPositiveDefinite { dof: 403, .. })
    ));
    // All blocks are positive definite, yet smooth motions have less than no energy.
    let mut system = brick.system();
    system.fixed.fill(false);
    for i in 0..system.n() {
        let slot = system.w.pattern().slot(i, i).unwrap();
        system.w.values_mut()[slot] -= 1e-3;
    }
    let found = solver.prepare(&system);
    assert!(
        matches!(found, Err(SolveError::NotPositiveDefinite { .. })),
        "{found:?}"
    );
    // The next system is none the worse for it.
    let system = brick.system();
    solver.prepare(&system).unwrap();
    let report = solver.solve(&system, &mut Solution::default()).unwrap();
    assert_eq!(report.status, Status::Converged);
    let mut bad = brick.system();
    bad.w.values_mut()[slot] = f64::NAN;
    let variable = Variable::Dof(403);
    assert_eq!(solver.prepare(&bad), Err(SolveError::NotFinite { variable }));
    let (w, fixed, blocks) = (&bad.w, &bad.fixed, bad.primal_blocks());
    let found = SmoothedAggregation::new(w, fixed, blocks, &modes, MultigridOptions::default());
    assert!(matches!(found, Err(SolveError::NotFinite { .. })));
}

#[test]
fn a_body_held_nowhere_without_mass_is_solved_up_to_its_rigid_motions() {
    let brick = Brick {
        held: false,
        ..Brick::cube(8)
    };
    let mut system = brick.system();
    let modes = NearNullSpace::rigid(&brick.places()).unwrap();
    // Forces in balance: the stiffness times some displacement.
    let moved = Random(9).numbers(system.n());
    system.c.fill(0.0);
    let KktSystem { w, c, .. } = &mut system;
    w.symmetric_add_product(1.0, &moved, c);
    let mut solver = solver(IterativeMethod::Cg);
    solver.set_near_null_space(&modes);
    solver.prepare(&system).unwrap();
    let mut solution = Solution::default();
    let report = solver.solve(&system, &mut solution).unwrap();
    assert_eq!(report.status, Status::Converged, "{report:?}");
    assert!(report.iterations <= 20, "{report:?}");
    assert!(
        solver.levels().is_some_and(|l| l.passed >= 6),
        "{:?}",
        solver.levels()
    );
}

#[test]
fn garbage_is_refused_in_words() {
    let brick = Brick::cube(3);
    let system = brick.system();
    let n = system.n();
    let (w, fixed, blocks) = (&system.w, &system.fixed[..], system.primal_blocks());
    let modes = NearNullSpace::rigid(&brick.places()).unwrap();
    let size = |what, expected, found| SolveError::Size {
        what,
        expected,
        found,
    };
    let options = MultigridOptions::default();
    let make = |w, fixed, blocks, modes, options| {
        SmoothedAggregation::new(w, fixed, blocks, modes, options)
            .map(|_| ())
            .unwrap_err()
    };
    let short = NearNullSpace::rigid(&brick.places()[1..]).unwrap();
    assert_eq!(
        make(w, fixed, blocks, &short, options),
        size("near null space", n, n - 3)
    );
    assert_eq!(
        make(w, &fixed[1..], blocks, &modes, options),
        size("fixed mask", n, n - 1)
    );
    assert_eq!(make(w, fixed, &[0, 3], &modes, options), size("blocks", n, 3));
    let wild = MultigridOptions {
        strength: 1.0,
        ..options
    };
    assert!(matches!(
        make(w, fixed, blocks, &modes, wild),
        SolveError::Parameter { .. }
    ));
    let mut solver = solver(IterativeMethod::Cg);
    solver.set_near_null_space(&short);
    assert_eq!(solver.prepare(&system), Err(size("near null space", n, n - 3)));
    solver.set_near_null_space(&modes);
    assert_eq!(solver.prepare(&system), Ok(()));
    solver.options.method = IterativeMethod::Gmres;
    assert!(matches!(
        solver.prepare(&system),
        Err(SolveError::Unsupported { .. })
    ));
    for count in [0, 7] {
        let found = NearNullSpace::new(count, vec![1.0; 42]);
        assert!(matches!(found, Err(SolveError::Parameter { .. })), "{count}");
    }
    assert!(matches!(
        NearNullSpace::new(4, vec![1.0; 6]),
        Err(SolveError::Size { .. })
    ));
    let nan = NearNullSpace::rigid(&[[0.0; 3], [f64::NAN; 3]]);
    assert!(matches!(nan, Err(SolveError::NotFinite { .. })));
}

fn diagonal(values: &[f64]) -> CsrMatrix {
    let mut builder = PatternBuilder::new(values.len(), values.len());
    (0..values.len()).for_each(|i| builder.insert(i, i));
    let mut out = builder.finish().unwrap().into_matrix();
    out.values_mut().copy_from_slice(values);
    out
}

/// Nothing at all, nothing coupled, single nodes with rotations, vectors of zeros.
#[test]
fn the_smallest_matrices() {
    let options = MultigridOptions::default();
    let empty = NearNullSpace::components(&[0]);
    let m = SmoothedAggregation::new(&diagonal(&[]), &[], &[0], &empty, options).unwrap();
    m.apply(&[], &mut []);
    assert_eq!(m.size(), 0);
    let single = NearNullSpace::rigid(&[[1.0, 2.0, 3.0]]).unwrap();
    let a = diagonal(&[2.0, 4.0, 8.0]);
    let m = SmoothedAggregation::new(&a, &[false, true, false], &[0, 3], &single, options).unwrap();
    let mut z = [0.0; 3];
    m.apply(&[2.0, 4.0, 4.0], &mut z);
    close(&z, &[1.0, 4.0, 0.5], 1e-15);
    // All is fixed.
    let brick = Brick::cube(3);
    let mut system = brick.system();
    system.fixed.fill(true);
    let m = levels_of(&brick, &system);
    let (r, mut z) = (Random(1).numbers(system.n()), vec![0.0; system.n()]);
    m.apply(&r, &mut z);
    close(&z, &r, 1e-15);
    // A near null space that says nothing leaves the sweeps.
    let system = brick.system();
    let nothing = NearNullSpace::new(6, vec![0.0; 6 * system.n()]).unwrap();
    let (w, fixed, blocks) = (&system.w, &system.fixed, system.primal_blocks());
    let m = SmoothedAggregation::new(w, fixed, blocks, &nothing, options).unwrap();
    assert!(iterations(&m, &system) < 60);
    // One vector, and blocks that are none.
    let string = {
        let mut builder = PatternBuilder::new(100, 100);
        (0..100).for_each(|i| builder.insert(i, i));
        (1..100).for_each(|i| builder.insert(i, i - 1));
        let mut out = builder.finish().unwrap().into_matrix();
        for i in 0..100 {
            for slot in out.pattern().row_slots(i) {
                let own = out.pattern().indices()[slot] as usize == i;
                out.values_mut()[slot] = if own { 2.0 } else { -1.0 };
            }
        }
        out
    };
    for blocks in [(0..=100).collect::<Vec<_>>(), vec![0, 1, 5, 93, 100]] {
        let modes = NearNullSpace::new(1, vec![1.0; 100]).unwrap();
        let m = SmoothedAggregation::new(&string, &[], &blocks, &modes, options).unwrap();
        let mut x = vec![0.0; 100];
        let report = ConjugateGradient::default().solve_with(m.matrix(), &m, &[1.0; 100], &mut x);
        assert_eq!(report.unwrap().status, KrylovStatus::Converged);
        // u = i (101 - i) / 2 for -u'' = 1.
        let exact: Vec<f64> = (1..=100).map(|i| 0.5 * f64::from(i * (101 - i))).collect();
        close(&x, &exact, 1e-7);
    }
}

/// Sweeps reduce no error along the long sides of stretched elements, so that aggregates must not
/// reach along them: with their places told, beams take as many iterations as those of cubes. (Numbers
/// of all levels: the next has six vectors for nine nodes of three unknowns, and fewer nodes at ends.)
#[test]
fn stretched_elements_take_no_more_iterations_where_places_are_told() {
    let solve = |sides: [f64; 3], cells: [usize; 3], told: bool| {
        let brick = Brick {
            cells,
            sides,
            ..Brick::cube(1)
        };
        let (places, system) = (brick.places(), brick.system());
        let mut modes = NearNullSpace::rigid(&places).unwrap();
        if told {
            modes
                .set_reference(places.iter().map(|x| RigidNode::Point(*x)))
                .unwrap();
        }
        let mut solver = solver(IterativeMethod::Cg);
        solver.options.tolerance = 1e-12;
        solver.set_near_null_space(&modes);
        solver.prepare(&system).unwrap();
        let mut solution = Solution::default();
        let report = solver.solve(&system, &mut solution).unwrap();
        assert_eq!(report.status, Status::Converged, "{report:?}");
        (report.iterations, solver.levels().unwrap().operator_complexity())
    };
    let (cubes, _) = solve([1.0; 3], [16; 3], true);
    for stretch in [2.0, 4.0, 10.0] {
        let (without, _) = solve([stretch, 1.0, 1.0], [12, 12, 12], false);
        let (with, complexity) = solve([stretch, 1.0, 1.0], [12, 12, 12], true);
        assert!(
            with <= cubes + 3 && 2 * without > 3 * with && complexity < 2.5,
            "{stretch}: {with} of {without}, complexity {complexity}"
        );
    }
    // Lines of three nodes would not shrink a level: plates have the aggregates of the pattern.
    let (_, complexity) = solve([4.0, 4.0, 1.0], [12, 12, 10], true);
    assert!(complexity < 1.3, "{complexity}");
}

#[test]
fn reference_places_are_checked_and_count_on_their_own() {
    let mut modes = NearNullSpace::rigid(&[[0.0; 3], [1.0, 0.0, 0.0]]).unwrap();
    let nodes = |x: f64| [RigidNode::Other(2), RigidNode::Point([x, 0.0, 0.0])].into_iter();
    assert!(!modes.has_reference());
    modes.set_reference(nodes(1.0)).unwrap();
    assert!(modes.has_reference());
    let lost = modes.set_reference(nodes(f64::NAN));
    let at = Variable::Dof(2);
    assert_eq!(lost, Err(SolveError::NotFinite { variable: at }));
}

/// Each level of a slender beam is a beam, whose bending the levels below solve ever worse by one
/// cycle; a second one on them, which are small, leaves little of it.
#[test]
fn slender_beams_take_few_iterations_more() {
    let count = |long: usize| {
        let brick = Brick {
            cells: [long, 5, 5],
            sides: [1.0; 3],
            ..Brick::cube(1)
        };
        let system = brick.system();
        let mut solver = solver(IterativeMethod::Cg);
        let places = brick.places();
        let mut modes = NearNullSpace::rigid(&places).unwrap();
        modes
            .set_reference(places.iter().map(|x| RigidNode::Point(*x)))
            .unwrap();
        solver.set_near_null_space(&modes);
        solver.prepare(&system).unwrap();
        let report = solver.solve(&system, &mut Solution::default()).unwrap();
        assert_eq!(report.status, Status::Converged, "{report:?}");
        report.iterations
    };
    let counts = [100, 600].map(count);
    // 24 with one cycle.
    assert!(counts[1] <= counts[0] + 5 && counts[1] <= 20, "{counts:?}");
}
