//! Rigid bodies of very different masses with many more joints than they need: redundant rows
//! whose pivots rounding of the heavy and the light decides.

use crate::tools::Random;
use pliant_solvers::{BoxSolver, KktSystem, Solution, Status};
use pliant_sparse::PatternBuilder;

/// Shares by which redundant rows differ.
const APART: [f64; 4] = [0.0, 1e-9, 1e-7, 1e-6];

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Bodies of masses of 1e-3 to 1e3 kg, held to each other by joints that hold all but a rotation,
/// or all, in a pose that is a share `apart` beside them. Unknowns of a body: velocity of its
/// centre and angular velocity. The right-hand sides are those of given velocities and multipliers;
/// returns the former, too.
fn linkage(seed: u64, bodies: usize, joints: usize, apart: f64) -> (KktSystem, Vec<f64>) {
    let mut random = Random(seed);
    let mut number = || random.number();
    let (n, m) = (6 * bodies, 6 * joints);
    let centres: Vec<[f64; 3]> = (0..bodies).map(|_| [number(), number(), number()]).collect();
    let mut entries = Vec::new();
    for k in 0..joints {
        // A chain first, then joints that close loops.
        let a = if k + 1 < bodies { k } else { k % bodies };
        let b = match k + 1 < bodies {
            true => k + 1,
            false => (a + 1 + (k / bodies) % (bodies - 1)) % bodies,
        };
        let at = [number(), number(), number()];
        let free = k % 3 == 0;
        for (body, sign) in [(a, 1.0), (b, -1.0)] {
            let arm = [0, 1, 2].map(|i| at[i] - centres[body][i]);
            for i in 0..3 {
                let mut unit = [0.0; 3];
                unit[i] = 1.0;
                entries.push((6 * k + i, 6 * body + i, sign));
                // e . (w x r) = w . (r x e)
                for (d, value) in cross(arm, unit).into_iter().enumerate() {
                    let value = value + apart * number();
                    entries.push((6 * k + i, 6 * body + 3 + d, sign * value));
                }
                if !(free && i == 2) {
                    entries.push((6 * k + 3 + i, 6 * body + 3 + i, sign * (1.0 + apart * number())));
                }
            }
        }
    }
    let mut patterns = [
        PatternBuilder::new(n, n),
        PatternBuilder::new(m, n),
        PatternBuilder::new(m, m),
    ];
    (0..n).for_each(|i| patterns[0].insert(i, i));
    entries.iter().for_each(|(i, k, _)| patterns[1].insert(*i, *k));
    (0..m).for_each(|i| patterns[2].insert(i, i));
    let [w, j, r] = patterns.map(|p| p.finish().unwrap());
    let blocks = |count: usize| (0..=count).map(|k| 6 * k).collect();
    let mut system = KktSystem::new(w, j, r, blocks(bodies), blocks(joints)).unwrap();
    for (row, column, value) in entries {
        let slot = system.j.pattern().slot(row, column).unwrap();
        system.j.values_mut()[slot] += value;
    }
    for body in 0..bodies {
        let mass = 10f64.powf(3.0 * number());
        for d in 0..6 {
            system.w.values_mut()[6 * body + d] = if d < 3 { mass } else { 0.02 * mass };
        }
    }
    let velocity: Vec<f64> = (0..n).map(|_| number()).collect();
    let multipliers: Vec<f64> = (0..m).map(|_| number()).collect();
    system.j.add_product(-1.0, &velocity, &mut system.b);
    let mut force = vec![0.0; n];
    for i in 0..m {
        system
            .j
            .row_entries(i)
            .for_each(|(k, a)| force[k] += a * multipliers[i]);
    }
    for i in 0..n {
        system.c[i] = system.w.values()[i] * velocity[i] - force[i];
    }
    (system, velocity)
}

/// `W` is the masses and positive definite, so that there is one answer, whatever is redundant; a
/// solver that has seen other values before finds it, too.
#[test]
fn redundant_joints_of_heavy_and_light_bodies_are_solved() {
    let mut kept = BoxSolver::default();
    for seed in 0..200 {
        let bodies = 3 + (seed % 5) as usize;
        let joints = bodies + (seed % 7) as usize;
        let (system, velocity) = linkage(seed, bodies, joints, APART[(seed % 4) as usize]);
        let mut new = BoxSolver::default();
        for solver in [&mut new, &mut kept] {
            solver
                .prepare(&system)
                .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let mut solution = Solution::default();
            let report = solver.solve(&system, &mut solution).unwrap();
            let off = velocity
                .iter()
                .zip(&solution.x)
                .fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            // Rows that differ by less than the decision count as one, and leave that. Those that
            // are one leave 1e-9 of a heavy body's momentum, which a light one may get.
            if seed % 4 == 0 {
                let is_right = report.status == Status::Converged && off < 1e-6;
                assert!(is_right, "seed {seed}: {off:e}, {report:?}");
            } else {
                let is_told = matches!(report.status, Status::Converged | Status::Stagnated);
                assert!(is_told && off.is_finite(), "seed {seed}: {off:e}, {report:?}");
            }
        }
    }
}
