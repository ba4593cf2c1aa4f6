//! Closed loops of hinges: rows that are redundant by geometry, with a null space in closed form.

use pliant_solvers::{DirectSolver, KktSystem, Solution, SolveReport, Status};
use pliant_sparse::PatternBuilder;

const LENGTH: f64 = 0.1;

/// A loop of `links` bodies of 1 kg, a regular polygon in the plane z = 0 on hinges about z.
/// Unknowns of a body: velocity of the centre in world axes, angular velocity in body axes. Rows of
/// hinge k, between bodies k - 1 and k: the three parts of the relative velocity of the joint, and
/// its relative angular velocity about x and y of the world. `b = J v`, so that every row agrees;
/// `c` is a weight along y.
struct Loop {
    system: KktSystem,
    /// Positions of the joints.
    joints: Vec<[f64; 2]>,
}

fn number(i: usize) -> f64 {
    (1.7 * (i as f64) + 0.3 * (i as f64).sqrt()).sin()
}

impl Loop {
    fn new(links: usize) -> Self {
        let turn = |k: usize| std::f64::consts::TAU * (k % links) as f64 / links as f64;
        // Radius of the inscribed circle, on which the centres lie.
        let apothem = 0.5 * LENGTH / (std::f64::consts::PI / links as f64).tan();
        let at_joint = |k: usize, along: f64| {
            let (s, c) = turn(k).sin_cos();
            [along * c + apothem * s, along * s - apothem * c]
        };
        let (n, m) = (6 * links, 5 * links);
        let mut entries = Vec::new();
        let mut w = PatternBuilder::new(n, n);
        let mut r = PatternBuilder::new(m, m);
        (0..n).for_each(|i| w.insert(i, i));
        (0..m).for_each(|i| r.insert(i, i));
        for k in 0..links {
            for (body, along, sign) in [
                ((k + links - 1) % links, 0.5 * LENGTH, -1.0),
                (k, -0.5 * LENGTH, 1.0),
            ] {
                let (s, c) = turn(body).sin_cos();
                let (x, y) = (along * c, along * s);
                // Q = turn about z; omega in world axes is (c w0 - s w1, s w0 + c w1, w2); the
                // joint moves with v + omega x p.
                let rows: [&[(usize, f64)]; 5] = [
                    &[(0, 1.0), (5, -y)],
                    &[(1, 1.0), (5, x)],
                    &[(2, 1.0), (3, c * y - s * x), (4, -s * y - c * x)],
                    &[(3, c), (4, -s)],
                    &[(3, s), (4, c)],
                ];
                for (i, row) in rows.iter().enumerate() {
                    // Zeros of this pose are part of the pattern.
                    entries.extend((3..6).map(|d| (5 * k + i, 6 * body + d, 0.0)));
                    entries.extend(row.iter().map(|(d, a)| (5 * k + i, 6 * body + d, sign * a)));
                }
            }
        }
        let mut j = PatternBuilder::new(m, n);
        for (row, column, _) in &entries {
            j.insert(*row, *column);
        }
        let blocks = |step: usize| (0..=links).map(|k| step * k).collect();
        let [w, j, r] = [w, j, r].map(|p| p.finish().unwrap());
        let mut system = KktSystem::new(w, j, r, blocks(6), blocks(5)).unwrap();
        for (row, column, value) in entries {
            let slot = system.j.pattern().slot(row, column).unwrap();
            system.j.values_mut()[slot] += value;
        }
        let mass = [1.0, 1.0, 1.0, 7e-5, 8.7e-4, 8.7e-4];
        for (i, w) in system.w.values_mut().iter_mut().enumerate() {
            *w = mass[i % 6];
        }
        let velocity: Vec<f64> = (0..n).map(|i| 0.01 * number(i)).collect();
        system.j.add_product(1.0, &velocity, &mut system.b);
        for k in 0..links {
            system.c[6 * k + 1] = -0.0981;
        }
        let joints = (0..links).map(|k| at_joint(k, -0.5 * LENGTH)).collect();
        Self { system, joints }
    }
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0f64, |a, x| a.max(x.abs()))
}

impl Loop {
    /// The multipliers that exert no force: a wrench that every hinge hands on unchanged, of a
    /// force along z and moments about x and y.
    fn idle(&self) -> [Vec<f64>; 3] {
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|[force, about_x, about_y]| {
            let hinge = |p: &[f64; 2]| [0.0, 0.0, force, about_x - p[1] * force, about_y + p[0] * force];
            self.joints.iter().flat_map(hinge).collect()
        })
    }

    /// The same loop with other roundings: `(f W) x - (f J)^T mu = c` and `f J x + f b = 0`.
    fn times(mut self, factor: f64) -> Self {
        for values in [
            self.system.w.values_mut(),
            self.system.j.values_mut(),
            &mut self.system.b,
        ] {
            values.iter_mut().for_each(|v| *v *= factor);
        }
        self
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn solve(solver: &mut DirectSolver, system: &KktSystem) -> (Solution, SolveReport) {
    let mut solution = Solution::default();
    solver.prepare(system).unwrap();
    let report = solver.solve(system, &mut solution).unwrap();
    (solution, report)
}

#[test]
fn a_wrench_around_the_loop_exerts_no_force() {
    let ring = Loop::new(60);
    for idle in ring.idle() {
        let mut force = vec![0.0; ring.system.n()];
        ring.system.j.add_transpose_product(1.0, &idle, &mut force);
        // Arms of at most a metre times a unit force: a few roundings.
        assert!(largest(&force) < 1e-15, "{:e}", largest(&force));
    }
}

#[test]
fn every_row_of_a_loop_holds_and_the_multipliers_are_the_shortest() {
    // Roundings grow with the third power of the loop; what is left of them is that of two
    // refinements.
    for (links, tolerance) in [(100, 1e-14), (500, 1e-13), (1000, 1e-12), (2000, 1e-12)] {
        for round in [0, 3] {
            let ring = Loop::new(links).times(1.0 + f64::from(round) / 1024.0);
            let mut solver = DirectSolver::default();
            let (solution, report) = solve(&mut solver, &ring.system);
            assert_eq!((report.status, report.redundant_rows), (Status::Converged, 3));
            // As given, without what the solver may have taken out of b.
            let mut rows = ring.system.b.clone();
            ring.system.j.add_product(1.0, &solution.x, &mut rows);
            let largest_rhs = largest(&ring.system.c).max(largest(&ring.system.b));
            assert!(
                largest(&rows) <= tolerance * largest_rhs,
                "{links} links: {:e}",
                largest(&rows)
            );
            for idle in ring.idle() {
                let share =
                    dot(&solution.mu, &idle) / (dot(&idle, &idle) * dot(&solution.mu, &solution.mu)).sqrt();
                assert!(share.abs() < 1e-10, "{links} links: {share:e}");
            }
            // Once to find the redundant rows, once with them at the end, once without those on
            // suspicion.
            assert!(solver.counters().numeric <= 3, "{:?}", solver.counters());
        }
    }
}

#[test]
fn loops_of_thousands_have_three_rows_too_many_whatever_the_rounding() {
    for links in [4000, 10_000] {
        for round in [1, 4, 6] {
            let ring = Loop::new(links).times(1.0 + f64::from(round) / 1024.0);
            let (solution, report) = solve(&mut DirectSolver::default(), &ring.system);
            assert_eq!(
                (report.status, report.redundant_rows),
                (Status::Converged, 3),
                "{links}, {round}"
            );
            assert_eq!(report.inertia, (6 * links, 5 * links - 3));
            // Weight and momentum of a step: multipliers of newton seconds, not of roundings'
            // reciprocals.
            assert!(largest(&solution.mu) < 1.0, "{:e}", largest(&solution.mu));
        }
    }
}

#[test]
fn chains_between_two_junctions_go_first_and_fill_no_more_than_they_must() {
    // Three chains of 20 bodies of two unknowns between bodies 0 and 1, a hard row along every edge
    // and one to the ground.
    let (chains, long) = (3, 20);
    let bodies = 2 + chains * long;
    let mut edges = Vec::new();
    for chain in 0..chains {
        let at = |k: usize| match k {
            0 => 0,
            k if k == long + 1 => 1,
            k => 2 + chain * long + k - 1,
        };
        edges.extend((0..=long).map(|k| (at(k), at(k + 1))));
    }
    let (n, m) = (2 * bodies, edges.len());
    let mut dense_j = vec![0.0; m * n];
    for (row, (a, b)) in edges.iter().enumerate() {
        for d in 0..2 {
            dense_j[row * n + 2 * a + d] = 1.0 + 0.3 * number(2 * row + d);
            dense_j[row * n + 2 * b + d] = -1.0 + 0.3 * number(5 * row + d);
        }
    }
    let pattern = |rows: usize, columns: usize, at: &dyn Fn(usize, usize) -> bool| {
        let mut builder = PatternBuilder::new(rows, columns);
        for (i, k) in (0..rows).flat_map(|i| (0..columns).map(move |k| (i, k))) {
            if at(i, k) {
                builder.insert(i, k);
            }
        }
        builder.finish().unwrap()
    };
    let w = pattern(n, n, &|i, k| i == k);
    let j = pattern(m, n, &|i, k| dense_j[i * n + k] != 0.0);
    let r = pattern(m, m, &|i, k| i == k);
    let mut system = KktSystem::new(w, j, r, (0..=n).step_by(2).collect(), (0..=m).collect()).unwrap();
    system.w.values_mut().fill(1.0);
    let entries = dense_j.iter().filter(|a| **a != 0.0);
    system
        .j
        .values_mut()
        .iter_mut()
        .zip(entries)
        .for_each(|(to, from)| *to = *from);
    (0..n).for_each(|i| system.c[i] = number(i));
    (0..m).for_each(|i| system.b[i] = number(3 * i));
    let mut solver = DirectSolver::default();
    let (solution, report) = solve(&mut solver, &system);
    assert_eq!((report.status, report.inertia), (Status::Converged, (n, m)));
    // x = c + J^T mu with J J^T mu = -(b + J c), by dense elimination.
    let row = |i: usize| &dense_j[i * n..(i + 1) * n];
    let mut a = nalgebra::DMatrix::from_fn(m, m, |i, k| dot(row(i), row(k)));
    let rhs = nalgebra::DVector::from_fn(m, |i, _| -(system.b[i] + dot(row(i), &system.c)));
    a = a.lu().try_inverse().unwrap();
    for (found, exact) in solution.mu.iter().zip((a * rhs).iter()) {
        // Condition of J J^T, about 1e3.
        assert!((found - exact).abs() < 1e-11, "{found} {exact}");
    }
    // A body, its row, and what two neighbours leave behind: at most 3 + 3 (2 + 2) with a block of
    // 3 and two of 2 below.
    let entries = solver.counters().factor_entries;
    assert!(entries <= bodies * (6 + 3 * 6), "{entries}");
}
