//! Factorisations after few changes: the bits of whole ones, at a part of the work.

use crate::delassus_forms::net;
use crate::tools::{Random, chain};
use pliant_solvers::{
    BoundState, BoxOptions, BoxSolver, DirectOptions, DirectSolver, KktSystem, Solution, Status,
};

fn direct(small_update: bool) -> DirectSolver {
    DirectSolver::new(DirectOptions {
        small_update,
        ..DirectOptions::default()
    })
}

fn with_sides(mut system: KktSystem, random: &mut Random) -> KktSystem {
    system.c = random.numbers(system.n());
    system.b = random.numbers(system.m());
    system
}

/// Compares a step by a solver that looks for changes and by one that does not: the bits, and the
/// block columns that the former eliminated.
fn step(looking: &mut DirectSolver, whole: &mut DirectSolver, system: &KktSystem) -> usize {
    let before = looking.counters().columns;
    let mut answers = Vec::new();
    for solver in [looking, whole] {
        let mut solution = Solution::default();
        solver.prepare(system).unwrap();
        let report = solver.solve(system, &mut solution).unwrap();
        assert_eq!(report.status, Status::Converged);
        answers.push((solution, report, solver.counters().columns));
    }
    assert_eq!(answers[0].0, answers[1].0);
    assert_eq!(answers[0].1, answers[1].1);
    answers[0].2 - before
}

#[test]
fn a_small_update_gives_the_bits_of_a_whole_factorisation_for_a_part_of_it() {
    let mut random = Random(21);
    let bodies = 300;
    let (s, _) = chain(&mut random, bodies, 4);
    let mut s = with_sides(s, &mut random);
    let (mut looking, mut whole) = (direct(true), direct(false));
    let all = step(&mut looking, &mut whole, &s);
    // A block per body, joint and contact.
    assert_eq!(all, 2 * bodies - 1 + 4);
    assert_eq!(step(&mut looking, &mut whole, &s), 0, "nothing changed");
    let mut fewest = all;
    for round in 0..40 {
        match round % 4 {
            0 => {
                let slots = s.w.pattern().row_slots(random.below(s.n()));
                s.w.values_mut()[slots.end - 1] += 0.5;
            }
            1 => {
                let slots = s.j.pattern().row_slots(random.below(s.m()));
                s.j.values_mut()[slots.start] += 0.25;
            }
            2 => {
                let slots = s.r.pattern().row_slots(s.m() - 1 - random.below(12));
                s.r.values_mut()[slots.end - 1] += 0.25;
            }
            // More than pays.
            _ => s.w.values_mut().iter_mut().for_each(|v| *v *= 1.125),
        }
        let columns = step(&mut looking, &mut whole, &s);
        fewest = fewest.min(columns);
        assert!(columns <= all);
        if round % 4 == 3 {
            assert_eq!(columns, all);
        }
    }
    // Somewhere in 30 changes one is near the root of the tree: a twentieth of it or less.
    assert!(20 * fewest <= all, "{fewest} of {all}");
    assert!(looking.counters().columns < whole.counters().columns);
}

#[test]
fn other_factors_and_failures_in_between_do_no_harm() {
    let mut random = Random(22);
    let (s, _) = net(&mut random, 30, 3);
    let mut fronts = with_sides(s, &mut random);
    let (mut looking, mut whole) = (direct(true), direct(false));
    assert_eq!(step(&mut looking, &mut whole, &fronts), 0);
    fronts.w.values_mut()[0] += 1.0;
    assert_eq!(step(&mut looking, &mut whole, &fronts), 0);
    // A failure in between: on the diagonal, and beside it.
    let beside = (0..fronts.n())
        .map(|i| fronts.w.pattern().row_slots(i))
        .find(|slots| slots.len() > 1)
        .map(|slots| slots.start)
        .unwrap();
    for (at, bad) in [(0, f64::NAN), (0, -8.0), (beside, f64::NAN)] {
        let good = std::mem::replace(&mut fronts.w.values_mut()[at], bad);
        assert!(looking.prepare(&fronts).is_err());
        fronts.w.values_mut()[at] = good;
        assert_eq!(step(&mut looking, &mut whole, &fronts), 0);
    }
    let (s, _) = chain(&mut random, 40, 2);
    let mut s = with_sides(s, &mut random);
    let all = step(&mut looking, &mut whole, &s);
    // On the diagonal a NaN is found before the factorisation, beside it by one, which leaves
    // nothing to build on.
    for (at, bad, least, most) in [
        (0, f64::NAN, 0, 0),
        (0, -8.0, 0, 2 * all),
        (1, f64::NAN, all, all),
    ] {
        let good = std::mem::replace(&mut s.w.values_mut()[at], bad);
        assert!(looking.prepare(&s).is_err());
        s.w.values_mut()[at] = good;
        let columns = step(&mut looking, &mut whole, &s);
        assert!((least..=most).contains(&columns), "{columns}");
    }
}

/// A factor by fronts is kept where not a bit of its system changed, and none that is not so small:
/// in each part, in what is held, and in how rows are judged.
#[test]
fn a_factor_by_fronts_is_kept_where_nothing_changed() {
    let mut random = Random(27);
    let (s, _) = net(&mut random, 30, 3);
    let mut s = with_sides(s, &mut random);
    let (mut looking, mut whole) = (direct(true), direct(false));
    let mut factored = |s: &KktSystem, threshold: f64| {
        let before = looking.counters().numeric;
        looking.options.rank_threshold = threshold;
        whole.options.rank_threshold = threshold;
        step(&mut looking, &mut whole, s);
        looking.counters().numeric - before
    };
    assert_eq!(factored(&s, 1e-10), 1);
    assert_eq!(factored(&s, 1e-10), 0);
    // Sides are no part of the matrix.
    s.c = random.numbers(s.n());
    assert_eq!(factored(&s, 1e-10), 0);
    let up = |x: &mut f64| *x = x.next_up();
    for change in [
        &mut |s: &mut KktSystem| up(s.w.values_mut().last_mut().unwrap()),
        &mut |s: &mut KktSystem| up(s.j.values_mut().last_mut().unwrap()),
        &mut |s: &mut KktSystem| up(s.r.values_mut().last_mut().unwrap()),
        &mut |s: &mut KktSystem| s.fixed[3] = true,
    ] as [&mut dyn FnMut(&mut KktSystem); 4]
    {
        change(&mut s);
        assert!(factored(&s, 1e-10) >= 1);
        assert_eq!(factored(&s, 1e-10), 0);
    }
    assert!(factored(&s, 1e-11) >= 1);
    assert_eq!(factored(&s, 1e-11), 0);
}

#[test]
fn a_warm_change_allocates_nothing() {
    let mut random = Random(23);
    let (s, _) = chain(&mut random, 60, 3);
    let mut s = with_sides(s, &mut random);
    let (mut solver, mut solution) = (direct(true), Solution::default());
    for round in 0..3 {
        s.w.values_mut()[0] += 0.5;
        let counted = allocation_counter::measure(|| {
            solver.prepare(&s).unwrap();
            solver.solve(&s, &mut solution).unwrap();
        });
        assert!(round < 1 || counted.count_total == 0, "{counted:?}");
    }
}

#[test]
fn rows_that_come_and_go_cost_a_part_of_the_factor() {
    let mut random = Random(24);
    let (bodies, contacts) = (400, 30);
    let (s, rows) = chain(&mut random, bodies, contacts);
    let mut s = with_sides(s, &mut random);
    for row in rows.iter().step_by(3) {
        s.bounds[*row] = (0.0, f64::INFINITY);
    }
    let (mut solver, mut solution) = (BoxSolver::new(BoxOptions::default()), Solution::default());
    solver.prepare(&s).unwrap();
    solver.solve(&s, &mut solution).unwrap();
    let (warm, all) = (solver.counters(), 2 * bodies - 1 + contacts);
    assert!(warm.numeric > 1);
    // One contact at a time lets go or closes.
    for k in 0..6 {
        let row = rows[15 * k];
        s.b[row] = if solver.active_set()[row] == BoundState::Free {
            5.0
        } else {
            -5.0
        };
        solver.prepare(&s).unwrap();
        let report = solver.solve(&s, &mut solution).unwrap();
        assert_eq!(report.status, Status::Converged);
        assert!(report.bounds.changes > 0);
        // The bits of a solver that has seen nothing before but the set it starts from.
        let mut fresh = BoxSolver::new(BoxOptions::default());
        fresh.forget(solver.elimination());
        fresh.impose_active_set(solver.active_set());
        let mut again = Solution::default();
        fresh.prepare(&s).unwrap();
        fresh.solve(&s, &mut again).unwrap();
        assert_eq!(solution, again);
    }
    let after = solver.counters();
    let (factored, columns) = (after.numeric - warm.numeric, after.columns - warm.columns);
    assert!(
        2 * columns < factored * all,
        "{columns} of {factored} times {all}"
    );
}
