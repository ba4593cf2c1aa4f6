//! Independent parts of a system, against the whole.

use crate::tools::{INF, Random};
use pliant_solvers::complementarity::*;
use pliant_solvers::{BoxOptions, KktSystem, Solution, SolveError, Status};
use pliant_sparse::PatternBuilder;

/// A row between two bodies, or one and itself.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub(crate) bodies: [usize; 2],
    pub(crate) cone: Option<Cone>,
    pub(crate) bounds: (f64, f64),
}

pub(crate) fn hard(a: usize, b: usize) -> Link {
    Link {
        bodies: [a, b],
        cone: None,
        bounds: (-INF, INF),
    }
}

pub(crate) fn contact(a: usize, b: usize) -> Link {
    Link {
        cone: Some(Cone::Coulomb { mu: 0.4 }),
        ..hard(a, b)
    }
}

/// Bodies of three unknowns with random numbers; every link is a row block of one row, or of three
/// if it is a contact.
pub(crate) fn system(seed: u64, bodies: usize, links: &[Link]) -> (KktSystem, Vec<Option<Cone>>) {
    let mut random = Random(seed);
    let n = 3 * bodies;
    let mut blocks = vec![0];
    for l in links {
        blocks.push(blocks[blocks.len() - 1] + l.cone.map_or(1, |c| c.rows()));
    }
    let m = blocks[blocks.len() - 1];
    let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
    for k in 0..bodies {
        w.insert_block((3 * k, 3 * k), (3, 3), true);
    }
    for (l, rows) in links.iter().zip(blocks.windows(2)) {
        for b in l.bodies {
            j.insert_block((rows[0], 3 * b), (rows[1] - rows[0], 3), false);
        }
        (rows[0]..rows[1]).for_each(|i| r.insert(i, i));
    }
    let finish = |b: PatternBuilder| b.finish().unwrap();
    let primal = (0..=bodies).map(|k| 3 * k).collect();
    let mut s = KktSystem::new(finish(w), finish(j), finish(r), primal, blocks.clone()).unwrap();
    for i in 0..n {
        for slot in s.w.pattern().row_slots(i) {
            let own = s.w.pattern().indices()[slot] as usize == i;
            s.w.values_mut()[slot] = if own { 2.0 } else { 0.3 * random.number() };
        }
        s.c[i] = random.number();
    }
    s.j.values_mut().iter_mut().for_each(|v| *v = random.number());
    s.r.values_mut()
        .iter_mut()
        .for_each(|v| *v = 0.01 * random.number().abs());
    s.b.iter_mut().for_each(|v| *v = 0.3 * random.number());
    for (l, rows) in links.iter().zip(blocks.windows(2)) {
        s.bounds[rows[0]..rows[1]].fill(l.bounds);
    }
    (s, links.iter().map(|l| l.cone).collect())
}

pub(crate) fn options() -> AutoOptions {
    AutoOptions {
        limits: Limits {
            tolerance: 1e-12,
            ..Limits::default()
        },
        ..AutoOptions::default()
    }
}

fn islands() -> IslandSolver {
    IslandSolver::new(options(), BoxOptions::default())
}

/// Two heaps, a chain without contacts, a motor of limited force, a body alone; body 9 is fixed and
/// touches both heaps.
pub(crate) fn mixed() -> Vec<Link> {
    let motor = Link {
        bounds: (-0.05, 0.05),
        ..hard(5, 6)
    };
    vec![
        contact(0, 1),
        contact(7, 8),
        hard(4, 5),
        hard(1, 2),
        motor,
        contact(1, 9),
        contact(8, 9),
        contact(2, 0),
    ]
}

#[test]
fn parts_have_the_solution_of_the_whole() {
    for seed in 1..20 {
        let (mut s, cones) = system(seed, 10, &mixed());
        s.fixed[27..30].fill(true);
        let mut whole = ConicSolver::new(options(), BoxOptions::default().direct);
        whole.prepare(&s, &cones).unwrap();
        let mut expected = Solution::default();
        let found = whole.solve(&s, &mut expected).unwrap();
        assert_eq!(found.outcome, Outcome::Converged, "{seed}");
        let mut parts = islands();
        parts.prepare(&s, &cones).unwrap();
        let mut solution = Solution::default();
        let report = parts.solve(&s, &mut solution).unwrap();
        assert_eq!(report.outcome, Outcome::Converged, "{seed}");
        assert_eq!(report.linear.status, Status::Converged);
        assert!(report.residual.measure() <= 1e-12);
        assert_eq!((report.islands, parts.islands()), (2, 2));
        // Both are solved to 1e-12 of velocities of order one; A is as well conditioned as its
        // compliances let it be, and velocities do not depend on it.
        for (x, y) in solution.x.iter().zip(&expected.x) {
            assert!((x - y).abs() < 1e-9, "{seed}: {x} {y}");
        }
        // From the answer nothing is left to do.
        let again = parts.solve(&s, &mut solution).unwrap();
        assert_eq!((again.iterations, again.settled), (0, 2));
    }
}

/// A limit whose force has one sign, of two bodies.
fn limit(a: usize, b: usize, bounds: (f64, f64)) -> Link {
    Link { bounds, ..hard(a, b) }
}

/// Two bodies in contact with limits that are far away, one that bears, and one that is far from
/// its bound before the solve and is driven to it.
pub(crate) fn limited(seed: u64) -> (KktSystem, Vec<Option<Cone>>) {
    let links = [
        contact(0, 1),
        limit(0, 2, (0.0, INF)),
        limit(1, 2, (-INF, 0.0)),
        limit(0, 1, (0.0, INF)),
        limit(2, 0, (0.0, INF)),
        hard(1, 2),
    ];
    let (mut s, cones) = system(seed, 3, &links);
    // Rows 3, 4 open at 50 m/s; row 5 closes at 1 m/s.
    (s.b[3], s.b[4], s.b[5]) = (50.0, -50.0, -1.0);
    // Row 6 opens at 20 m/s without the hard row 7, which drives its bodies apart at 100 m/s.
    (s.b[6], s.b[7]) = (20.0, 100.0);
    (s, cones)
}

/// Limits that are far away are left out, and the solution is that of all rows all the same: also
/// where others drive one of them to its bound, which nothing shows before the solve.
#[test]
fn limits_far_away_are_left_out_of_the_solve_and_not_of_the_answer() {
    let (mut driven, mut left_out) = (0, 0);
    for seed in 1..40 {
        let (s, cones) = limited(seed);
        let mut whole = ConicSolver::new(options(), BoxOptions::default().direct);
        whole.prepare(&s, &cones).unwrap();
        let mut expected = Solution::default();
        let found = whole.solve(&s, &mut expected).unwrap();
        assert_eq!(found.outcome, Outcome::Converged, "{seed}");
        let mut parts = islands();
        parts.prepare(&s, &cones).unwrap();
        assert_eq!(parts.idle_rows(), [3, 4, 6], "{seed}");
        let mut solution = Solution::default();
        let report = parts.solve(&s, &mut solution).unwrap();
        assert_eq!(report.outcome, Outcome::Converged, "{seed}");
        // As for parts: both are solved to 1e-12, here of velocities up to a hundred.
        for (x, y) in solution.x.iter().zip(&expected.x) {
            assert!((x - y).abs() < 1e-7, "{seed}: {x} {y}");
        }
        let idle = parts.idle_rows();
        for row in idle.iter().map(|row| *row as usize) {
            assert!(solution.mu[row] == 0.0 && expected.mu[row].abs() < 1e-9, "{seed}");
        }
        driven += 3 - idle.len();
        left_out += idle.len();
        // What was found wrong is not guessed again in the solves of the same step.
        let idle = idle.to_vec();
        let partitions = parts.partitions();
        parts.prepare(&s, &cones).unwrap();
        parts.solve(&s, &mut solution).unwrap();
        assert_eq!((parts.idle_rows(), parts.partitions()), (&idle[..], partitions));
    }
    // Both happen: rows that are driven to their bounds, and rows that stay out.
    assert!(driven > 5 && left_out > 40, "{driven} {left_out}");
}

/// Another step guesses anew, so that what was solved before shows in no result.
#[test]
fn another_step_guesses_anew_which_limits_are_far_away() {
    for seed in 1..20 {
        let (s, cones) = limited(seed);
        let mut fresh = islands();
        fresh.prepare(&s, &cones).unwrap();
        let mut expected = Solution::default();
        fresh.solve(&s, &mut expected).unwrap();
        let mut used = islands();
        let (mut other, _) = limited(seed);
        other.b[4] = 0.1;
        let mut solution = Solution::default();
        used.prepare(&other, &cones).unwrap();
        used.solve(&other, &mut solution).unwrap();
        used.begin();
        used.prepare(&s, &cones).unwrap();
        let mut solution = Solution::default();
        used.solve(&s, &mut solution).unwrap();
        assert_eq!(used.idle_rows(), fresh.idle_rows(), "{seed}");
        assert_eq!(solution, expected, "{seed}");
    }
}

/// Free velocities are those without the impulses of the cones: of the bilateral part alone.
#[test]
fn free_velocities_are_without_impulses_of_cones() {
    let (mut s, cones) = system(3, 10, &mixed());
    s.fixed[27..30].fill(true);
    let mut parts = islands();
    parts.prepare(&s, &cones).unwrap();
    parts.solve(&s, &mut Solution::default()).unwrap();
    // The first contact: bodies 0 and 1, body 1 is held to body 2 by one row. A system with that
    // row alone.
    let (mut alone, _) = system(3, 10, &mixed());
    alone.fixed[27..30].fill(true);
    for k in (0..cones.len()).filter(|k| cones[*k].is_some()) {
        let rows = s.row_blocks()[k]..s.row_blocks()[k + 1];
        alone.bounds[rows].fill((0.0, 0.0));
    }
    let mut solver = pliant_solvers::BoxSolver::default();
    solver.prepare(&alone).unwrap();
    let mut free = Solution::default();
    solver.solve(&alone, &mut free).unwrap();
    for k in (0..cones.len()).filter(|k| cones[*k].is_some()) {
        for row in s.row_blocks()[k]..s.row_blocks()[k + 1] {
            let expected: f64 = (0..30).map(|i| s.j.get(row, i) * free.x[i]).sum::<f64>() + s.b[row];
            let found = parts.free_velocities()[row];
            assert!((found - expected).abs() < 1e-12, "{row}: {found} {expected}");
        }
    }
}

/// A change of one island leaves the plans of the others, and the answers do not depend on what was
/// solved before.
#[test]
fn a_new_contact_is_the_business_of_its_island() {
    let few = mixed();
    let mut more = mixed();
    more.push(contact(7, 3));
    let (mut a, cones_a) = system(5, 10, &few);
    let (mut b, cones_b) = system(5, 10, &more);
    a.fixed[27..30].fill(true);
    b.fixed[27..30].fill(true);
    let mut changing = islands();
    let run = |solver: &mut IslandSolver, s: &KktSystem, cones: &[Option<Cone>]| {
        solver.prepare(s, cones).unwrap();
        let mut solution = Solution::default();
        solver.solve(s, &mut solution).unwrap();
        (solution, solver.partitions())
    };
    assert_eq!(run(&mut changing, &a, &cones_a).1, 1);
    assert_eq!(run(&mut changing, &a, &cones_a).1, 1);
    let (found, partitions) = run(&mut changing, &b, &cones_b);
    assert_eq!(partitions, 2);
    let (fresh, _) = run(&mut islands(), &b, &cones_b);
    assert_eq!(found, fresh);
    let (back, partitions) = run(&mut changing, &a, &cones_a);
    assert_eq!((back, partitions), (run(&mut islands(), &a, &cones_a).0, 3));
}

/// Twelve bodies: contacts and hard rows of ten of them come and go at random, the last two keep
/// theirs.
fn stages() -> Vec<(KktSystem, Vec<Option<Cone>>)> {
    let mut random = Random(11);
    let mut pick = |count: usize| (0.5 * (random.number() + 1.0) * count as f64) as usize % count;
    let mut link = || {
        let (a, b) = (pick(10), pick(10));
        if pick(4) == 0 {
            hard(a, (a + 1) % 10)
        } else {
            contact(a, b)
        }
    };
    let mut stage = |seed: u64| {
        let mut links: Vec<Link> = (0..1 + seed % 9).map(|_| link()).collect();
        links.push(contact(10, 11));
        system(seed, 12, &links)
    };
    (1..40).map(&mut stage).collect()
}

/// The storage of parts that are no more is used again: answers have the bits of a new solver that
/// got the memory.
#[test]
fn the_storage_of_retired_parts_shows_in_no_result() {
    let run = |solver: &mut IslandSolver, s: &KktSystem, cones: &[Option<Cone>]| {
        solver.prepare(s, cones).unwrap();
        let mut solution = Solution::default();
        let report = solver.solve(s, &mut solution).unwrap();
        (
            solution,
            report,
            solver.free_velocities().to_vec(),
            solver.memory(),
        )
    };
    let mut changing = islands();
    for _ in 0..2 {
        for (k, (s, cones)) in stages().iter().enumerate() {
            let mut fresh = islands();
            fresh.impose(&changing.memory());
            let found = run(&mut changing, s, cones);
            assert_eq!(found, run(&mut fresh, s, cones), "stage {k}");
        }
    }
    assert!(changing.kept() > 20, "{}", changing.kept());
}

/// Contacts that come and go as they did before allocate nothing, once every storage has been as
/// large as it ever gets.
#[test]
fn contacts_that_came_before_allocate_nothing() {
    let stages = stages();
    let mut solver = islands();
    let (mut solution, mut memory) = (Solution::default(), IslandMemory::default());
    let mut pass = || {
        let mut count = 0;
        for (s, cones) in &stages {
            solution.mu.clear();
            let found = allocation_counter::measure(|| {
                solver.prepare(s, cones).unwrap();
                solver.solve(s, &mut solution).unwrap();
                solver.record(&mut memory);
            });
            count += found.count_total;
        }
        count
    };
    // Which storage a part takes depends on those before it: not every one has been as large as it
    // gets after the first pass, and a few grow much later.
    let counts: Vec<u64> = (0..12).map(|_| pass()).collect();
    assert!(counts[0] > 1000 && 5 * counts[1] < counts[0], "{counts:?}");
    assert!(100 * counts[6..].iter().sum::<u64>() < counts[0], "{counts:?}");
}

/// Older and remembered parts are found without a search: one comparison per part, however many
/// there are.
#[test]
fn old_parts_are_found_at_once() {
    let pairs = 200;
    let apart: Vec<Link> = (0..pairs).map(|k| contact(2 * k, 2 * k + 1)).collect();
    let mut more = apart.clone();
    more.push(contact(100, 102));
    let (few, few_cones) = system(5, 2 * pairs, &apart);
    let (many, many_cones) = system(5, 2 * pairs, &more);
    let mut solver = islands();
    let counts = |s: &IslandSolver| (s.islands(), s.comparisons(), s.kept());
    solver.prepare(&few, &few_cones).unwrap();
    assert_eq!(counts(&solver), (pairs, 0, 0));
    // Two islands become one, which begins where one of them began but is another.
    solver.prepare(&many, &many_cones).unwrap();
    assert_eq!(counts(&solver), (pairs - 1, pairs - 1, pairs - 2));
    let memory = solver.memory();
    solver.impose(&memory);
    solver.prepare(&many, &many_cones).unwrap();
    assert_eq!(counts(&solver), (pairs - 1, 2 * (pairs - 1), 2 * pairs - 3));
}

/// New numbers in the laws need no new plan, nor, between solves, a new factor.
#[test]
fn laws_may_change_their_numbers() {
    let (mut s, cones) = system(5, 10, &mixed());
    s.fixed[27..30].fill(true);
    let slippery: Vec<Option<Cone>> = cones
        .iter()
        .map(|c| c.map(|_| Cone::Coulomb { mu: 0.01 }))
        .collect();
    let fresh = |cones: &[Option<Cone>]| {
        let mut solver = islands();
        solver.prepare(&s, cones).unwrap();
        let mut solution = Solution::default();
        solver.solve(&s, &mut solution).unwrap();
        solution
    };
    let mut solver = islands();
    solver.prepare(&s, &cones).unwrap();
    let mut solution = Solution::default();
    solver.solve(&s, &mut solution).unwrap();
    assert_ne!(solution, fresh(&slippery));
    for by_prepare in [false, true] {
        if by_prepare {
            solver.prepare(&s, &slippery).unwrap();
        } else {
            solver.set_cones(&slippery).unwrap();
        }
        solution.mu.clear();
        solver.solve(&s, &mut solution).unwrap();
        assert_eq!(solution, fresh(&slippery));
        solver.set_cones(&cones).unwrap();
    }
    assert_eq!(solver.partitions(), 1);
    let mut other = cones.clone();
    other[0] = Some(Cone::NonNegative);
    assert!(solver.set_cones(&other).is_err());
}

/// Parts are solved side by side, with the same bits.
#[test]
fn threads_do_not_change_a_bit() {
    let (mut s, cones) = system(5, 10, &mixed());
    s.fixed[27..30].fill(true);
    let run = |threads: usize| {
        let mut bounds = BoxOptions::default();
        bounds.direct.threads = threads;
        let mut solver = IslandSolver::new(options(), bounds);
        solver.prepare(&s, &cones).unwrap();
        let mut solution = Solution::default();
        let report = solver.solve(&s, &mut solution).unwrap();
        (solution, report, solver.free_velocities().to_vec())
    };
    let one = run(1);
    for threads in [2, 3] {
        assert_eq!(run(threads), one);
    }
    let mut solver = islands();
    solver.bounds.direct.threads = 1_000_000;
    assert!(solver.prepare(&s, &cones).is_err());
}

/// Errors in a part are told in the numbers of the whole.
#[test]
fn errors_name_variables_and_rows_of_the_whole() {
    let (good, cones) = system(1, 10, &mixed());
    let prepare = |s: &KktSystem| islands().prepare(s, &cones).unwrap_err();
    let mut s = good.clone();
    let slot = s.w.pattern().slot(24, 24).unwrap();
    s.w.values_mut()[slot] = -1.0;
    let found = prepare(&s);
    assert!(
        matches!(found, ProblemError::Bilateral(SolveError::NotPositiveDefinite { dof, .. }) if (24..27).contains(&dof)),
        "{found:?}"
    );
    let mut s = good.clone();
    let row = s.row_blocks()[3];
    let slot = s.r.pattern().slot(row, row).unwrap();
    s.r.values_mut()[slot] = -1.0;
    let found = prepare(&s);
    assert!(
        matches!(found, ProblemError::Bilateral(SolveError::NegativeCompliance { row: r, .. }) if r == row),
        "{found:?}"
    );
    let mut solver = islands();
    let unprepared = solver.solve(&good, &mut Solution::default()).unwrap_err();
    assert!(matches!(
        unprepared,
        ProblemError::Bilateral(SolveError::NotPrepared)
    ));
    assert!(matches!(
        solver.prepare(&good, &cones[1..]).unwrap_err(),
        ProblemError::Size { .. }
    ));
}

/// Systems of nothing, without cones, and with a contact between fixed things.
#[test]
fn odd_systems_are_solved_too() {
    let (empty, none) = system(1, 0, &[]);
    let mut solver = islands();
    solver.prepare(&empty, &none).unwrap();
    let mut solution = Solution::default();
    let report = solver.solve(&empty, &mut solution).unwrap();
    assert_eq!((report.outcome, report.islands), (Outcome::Converged, 0));
    let (s, cones) = system(1, 3, &[hard(0, 1)]);
    solver.prepare(&s, &cones).unwrap();
    let report = solver.solve(&s, &mut solution).unwrap();
    assert_eq!((report.linear.status, report.islands), (Status::Converged, 0));
    let (mut s, cones) = system(1, 3, &[contact(0, 1), contact(1, 2)]);
    s.fixed[..6].fill(true);
    for i in 0..6 {
        let slot = s.r.pattern().slot(i, i).unwrap();
        s.r.values_mut()[slot] = 0.5;
    }
    solver.prepare(&s, &cones).unwrap();
    solution.mu.clear();
    let report = solver.solve(&s, &mut solution).unwrap();
    assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
    assert!(solution.x[..6].iter().all(|x| *x == 0.0));
}
