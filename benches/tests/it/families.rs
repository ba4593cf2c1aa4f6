//! The families of the solver benchmarks are what they say they are.

use pliant::solvers::complementarity::{Auto, Cone, Outcome, Problem, SaddleDelassus, Solver};
use pliant::solvers::{DirectSolver, KktSystem, Solution, SolveReport, Status};
use pliant_benches::families::links::{Pose, chain, closed_loop};
use pliant_benches::families::solid::Solid;
use pliant_benches::families::stacks::Stack;
use pliant_benches::families::{STEP, assembled, assembled_rhs, net, noise};

fn solve(system: &KktSystem) -> (Solution, SolveReport) {
    let mut solver = DirectSolver::default();
    let mut solution = Solution::default();
    solver.prepare(system).unwrap();
    let report = solver.solve(system, &mut solution).unwrap();
    assert_eq!(report.status, Status::Converged, "{report:?}");
    (solution, report)
}

fn largest(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().fold(0.0, |a, x| a.max(x.abs()))
}

/// Largest difference relative to the largest number.
fn off(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    largest(a.iter().zip(b).map(|(a, b)| a - b)) / largest(a.iter().copied())
}

/// `W x` less a diagonal `m x`, by `h^2`: the stiffness that a system holds.
fn stiffness_times(system: &KktSystem, mass: &[f64], x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    system.w.symmetric_add_product(1.0, x, &mut out);
    for (i, out) in out.iter_mut().enumerate() {
        *out = (*out - mass[i] * x[i]) / (STEP * STEP);
    }
    out
}

#[test]
fn noise_is_centred_and_bounded() {
    let mean = (0..10_000).map(noise).sum::<f64>() / 1e4;
    // Standard deviation of the mean of uniform numbers: 0.003.
    assert!(mean.abs() < 0.012, "{mean}");
    assert!((0..10_000).all(|i| noise(i).abs() <= 0.5));
}

#[test]
fn chains_have_the_size_they_say_and_are_solved() {
    for pose in [Pose::Turned, Pose::Straight] {
        for compliance in [0.0, 1e-8] {
            let system = chain(20, compliance, pose).unwrap();
            assert_eq!((system.n(), system.m()), (120, 80));
            assert_eq!(
                (system.primal_blocks().len(), system.row_blocks().len()),
                (21, 21)
            );
            let (_, report) = solve(&system);
            assert_eq!((report.inertia, report.redundant_rows), ((120, 80), 0));
        }
    }
    let entries = |pose| chain(20, 0.0, pose).unwrap().w.values().len();
    assert_eq!((entries(Pose::Turned), entries(Pose::Straight)), (20 * 21, 120));
}

#[test]
fn a_chain_that_moves_as_one_body_violates_no_joint() {
    // Angular velocity o about the ground joint of a straight chain: v = o x p, and every joint
    // stays closed.
    let system = chain(6, 0.0, Pose::Straight).unwrap();
    let spin = [0.3, -0.2, 0.5];
    let mut x = vec![0.0; 36];
    for (k, x) in x.chunks_exact_mut(6).enumerate() {
        let p = 0.1 * (k as f64 + 0.5);
        x.copy_from_slice(&[0.0, spin[2] * p, -spin[1] * p, spin[0], spin[1], spin[2]]);
    }
    let mut rows = vec![0.0; system.m()];
    system.j.add_product(1.0, &x, &mut rows);
    assert!(largest(rows) < 1e-16);
}

#[test]
fn long_loops_have_three_rows_too_many_as_well() {
    // Rounding grows with the loop: from a few hundred links on it leaves the redundant rows pivots
    // of either sign above the threshold.
    for links in [100, 200, 350, 500, 700, 1000, 2000] {
        let (solution, report) = solve(&closed_loop(links, 0.0).unwrap());
        assert_eq!(report.redundant_rows, 3, "{links} links");
        assert!(report.residual.relative < 1e-12, "{links} links: {report:?}");
        // Weight and velocities of 0.01 m/s over a step, for each of them: multipliers do not drift
        // along the null space.
        let largest = largest(solution.mu.iter().copied());
        assert!(largest < 0.1 * links as f64, "{links} links: {largest:e}");
    }
}

#[test]
fn a_long_loop_keeps_its_rank_whatever_the_rounding() {
    let system = closed_loop(1000, 0.0).unwrap();
    let mut solver = DirectSolver::default();
    let mut solution = Solution::default();
    for round in 0..12 {
        let mut system = system.clone();
        let factor = 1.0 + f64::from(round) / 1024.0;
        system.w.values_mut().iter_mut().for_each(|v| *v *= factor);
        system.j.values_mut().iter_mut().for_each(|v| *v *= factor);
        system.b.iter_mut().for_each(|v| *v *= factor);
        solver.prepare(&system).unwrap();
        let report = solver.solve(&system, &mut solution).unwrap();
        assert_eq!(
            (report.status, report.redundant_rows),
            (Status::Converged, 3),
            "{round}"
        );
    }
}

#[test]
fn the_closed_loop_has_three_rows_too_many() {
    let system = closed_loop(12, 0.0).unwrap();
    assert_eq!((system.n(), system.m()), (72, 60));
    let (solution, report) = solve(&system);
    assert_eq!(report.redundant_rows, 3);
    // Redundancy must not show in the multipliers: the loop weighs 12 kg, its momentum in a step is
    // 1.2 N s.
    assert!(largest(solution.mu) < 100.0);
}

#[test]
fn nets_give_the_same_step_by_stiffness_and_by_compliance() {
    let side = 9;
    let (stiff, soft) = (net::stiffness(side).unwrap(), net::compliance(side).unwrap());
    assert_eq!((stiff.n(), stiff.m()), (3 * 81 - 12, 0));
    assert_eq!((soft.n(), soft.m()), (stiff.n(), 4 * 81 - 6 * side + 2));
    // Condition numbers are below h^2 k / m times the greatest count of springs: 1e3 roundings.
    assert!(off(&solve(&stiff).0.x, &solve(&soft).0.x) < 1e-12);
}

#[test]
fn solids_give_the_same_step_by_stiffness_and_by_compliance() {
    for solid in [Solid::cube(300), Solid::beam(600)] {
        let (stiff, soft) = (solid.stiffness().unwrap(), solid.compliance().unwrap());
        assert_eq!((stiff.n(), stiff.m()), (3 * solid.nodes(), 0));
        assert_eq!((soft.n(), soft.m()), (3 * solid.nodes(), 6 * solid.elements()));
        // Condition about h^2 E / (rho a^2) = 1e2.
        assert!(off(&solve(&stiff).0.x, &solve(&soft).0.x) < 1e-12);
    }
}

#[test]
fn sizes_are_near_what_is_asked() {
    for dofs in [3_000, 30_000] {
        for solid in [Solid::cube(dofs), Solid::beam(dofs)] {
            let found = 3 * solid.nodes();
            assert!(found.abs_diff(dofs) < dofs / 10, "{found} for {dofs}");
        }
    }
}

#[test]
fn the_stiffness_of_a_solid_knows_rigid_motions_and_uniform_strain() {
    let solid = Solid::new([3, 2, 2], 0.1);
    let system = solid.stiffness().unwrap();
    // 0.3 x 0.2 x 0.2 m, up to the moves of the nodes.
    assert!((solid.volume() - 0.012).abs() < 0.002, "{}", solid.volume());
    let mass = diagonal_mass(&solid);
    assert!((mass.iter().sum::<f64>() / 3.0 - 1000.0 * solid.volume()).abs() < 1e-10);
    let motion = |v: &dyn Fn([f64; 3]) -> [f64; 3]| -> Vec<f64> {
        solid.places().iter().flat_map(|p| v(*p)).collect()
    };
    let scale = largest(stiffness_times(
        &system,
        &mass,
        &motion(&|p| [p[0] * p[1], 0.0, 0.0]),
    ));
    for rigid in [
        motion(&|_| [1.0, 0.0, 0.0]),
        motion(&|_| [0.0, 0.0, 1.0]),
        motion(&|p| [-p[1], p[0], 0.0]),
        motion(&|p| [0.0, -p[2], p[1]]),
    ] {
        let force = largest(stiffness_times(&system, &mass, &rigid));
        // W is known to 1e-16; the mass is a hundredth of it.
        assert!(force < 1e-10 * scale, "{force:e} of {scale:e}");
    }
    // Uniform strain e along x stores (lambda + 2 mu) e^2 V / 2, of which twice is v . K v.
    let stretch = motion(&|p| [p[0], 0.0, 0.0]);
    let force = stiffness_times(&system, &mass, &stretch);
    let work: f64 = force.iter().zip(&stretch).map(|(f, v)| f * v).sum();
    let modulus = 1e6 * 0.7 / (1.3 * 0.4);
    assert!((work / (modulus * solid.volume()) - 1.0).abs() < 1e-11);
}

/// The mass of the compliance form, which has nothing else in `W`.
fn diagonal_mass(solid: &Solid) -> Vec<f64> {
    solid.compliance().unwrap().w.values().to_vec()
}

#[test]
fn rows_of_nearly_constant_volume_are_one_for_twenty_elements() {
    let solid = Solid::cube(400);
    let system = solid.incompressible().unwrap();
    assert_eq!(system.m(), (solid.elements() + 10) / 20);
    let mut rate = vec![0.0; system.m()];
    let dilation: Vec<f64> = solid.places().iter().flatten().copied().collect();
    system.j.add_product(1.0, &dilation, &mut rate);
    // The divergence of v = p is 3 everywhere.
    assert!(rate.iter().all(|r| (r - 3.0).abs() < 1e-13));
    let (solution, _) = solve(&system);
    let mut rate = vec![0.0; system.m()];
    system.j.add_product(1.0, &solution.x, &mut rate);
    assert!(largest(rate) < 1e-6);
}

#[test]
fn the_assembled_matrix_is_that_of_the_system() {
    let mut system = chain(5, 1e-8, Pose::Turned).unwrap();
    let solid = Solid::cube(81).incompressible().unwrap();
    system.b[3] = 0.25;
    for system in [system, solid] {
        let (n, whole) = (system.n(), assembled(&system).unwrap());
        let solution = solve(&system).0;
        let mut residual = assembled_rhs(&system);
        let z = [solution.x.as_slice(), &solution.mu].concat();
        whole.symmetric_add_product(-1.0, &z, &mut residual);
        let scale = largest(assembled_rhs(&system));
        assert!(largest(residual) < 1e-9 * scale);
        assert_eq!(whole.get(n, 0), -system.j.get(0, 0));
        assert_eq!(whole.get(n, n), -system.r.get(0, 0));
        assert!((0..n).all(|i| whole.get(i, i) == system.w_diagonal(i)));
    }
}

/// `A r` of a stack.
fn times(problem: &Problem, r: &[f64]) -> Vec<f64> {
    let mut u = vec![0.0; r.len()];
    problem.delassus().rows_times(0..r.len(), r, &mut u);
    u
}

#[test]
fn stacks_have_their_contacts_and_a_symmetric_operator() {
    let tower = Stack::tower(10, 1000.0).problem(0.5, 0.0).unwrap();
    let wall = Stack::wall(4).pushed().problem(0.5, 1e-7).unwrap();
    assert_eq!((tower.blocks(), wall.blocks()), (40, 4 * 4 + 4 * 3 * 7));
    for problem in [tower, wall] {
        assert!(problem.cones().iter().all(|c| *c == Cone::Coulomb { mu: 0.5 }));
        let (r, s): (Vec<f64>, Vec<f64>) = (0..problem.size()).map(|i| (noise(i), noise(7 * i + 1))).unzip();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (ars, asr) = (dot(&times(&problem, &r), &s), dot(&times(&problem, &s), &r));
        assert!((ars - asr).abs() < 1e-13 * ars.abs().max(dot(&times(&problem, &r), &r)));
    }
}

#[test]
fn the_weight_of_a_tower_is_carried() {
    // Bottom contacts carry h g times all masses: 1 + 10 + 100 kg.
    let problem = Stack::tower(3, 100.0).problem(0.5, 0.0).unwrap();
    let mut r = vec![0.0; problem.size()];
    let report = Auto::default().solve(&problem, &mut r).unwrap();
    assert_eq!(report.outcome, Outcome::Converged);
    let carried: f64 = (0..4).map(|k| r[3 * k]).sum();
    assert!((carried / (STEP * 9.81 * 111.0) - 1.0).abs() < 1e-6, "{carried}");
}

/// The operator that was written entry by entry, and the one that the solvers make of the
/// saddle-point system.
#[test]
fn both_forms_of_a_stack_are_one() {
    for stack in [Stack::tower(5, 100.0), Stack::wall(3).pushed()] {
        let (system, problem) = (stack.system(1e-7).unwrap(), stack.problem(0.5, 1e-7).unwrap());
        let rows: Vec<usize> = (0..problem.size()).collect();
        let blocks: Vec<usize> = (0..=problem.size()).step_by(3).collect();
        let condensed = SaddleDelassus::new(&system, &rows, &blocks).unwrap();
        let condensed = Problem::new(condensed, problem.b().to_vec(), problem.cones().to_vec()).unwrap();
        let r: Vec<f64> = (0..problem.size()).map(noise).collect();
        assert!(off(&times(&problem, &r), &times(&condensed, &r)) < 1e-13);
        // b = J M^-1 c.
        let v: Vec<f64> = (0..system.n())
            .map(|i| system.c[i] / system.w.get(i, i))
            .collect();
        let mut b = vec![0.0; system.m()];
        system.j.add_product(1.0, &v, &mut b);
        assert!(off(problem.b(), &b) < 1e-14);
    }
}
