//! A saddle-point system with hard rows and contacts at once: two masses on a rod land on a floor.
//!
//! `W x - J^T mu = c`, `u = J x + b`: `u = 0` for the rod, Coulomb's law for the contact. The masses
//! 1 and 3 kg fall as one with 2 m/s and slide with 6 m/s; the floor takes `r_n = 4 * 2` N s,
//! friction `0.5 r_n` N s: they slide on with 5 m/s.
//!
//! `cargo run --release -p pliant-solvers --example contact_on_joints`

use pliant_solvers::complementarity::{Cone, ConicSolver, Outcome, ProblemError};
use pliant_solvers::{KktSystem, Solution};
use pliant_sparse::PatternBuilder;

fn main() -> Result<(), ProblemError> {
    // Two masses in the plane, (x, y) each; rows: the rod in x and y, then the contact of the first
    // mass, normal and tangent. A cone is a law of a block of rows: here two.
    let (masses, velocity) = ([1.0, 3.0], [6.0, -2.0]);
    let mut patterns = [(4, 4), (4, 4), (4, 4)].map(|(rows, columns)| PatternBuilder::new(rows, columns));
    for i in 0..4 {
        patterns[0].insert(i, i);
        patterns[2].insert(i, i);
    }
    for (row, column) in [(0, 0), (0, 2), (1, 1), (1, 3), (2, 1), (3, 0)] {
        patterns[1].insert(row, column);
    }
    let [w, j, r] = patterns.map(PatternBuilder::finish);
    let mut system = KktSystem::new(w?, j?, r?, vec![0, 2, 4], vec![0, 2, 4])?;
    system.w.values_mut().copy_from_slice(&[1.0, 1.0, 3.0, 3.0]);
    system
        .j
        .values_mut()
        .copy_from_slice(&[-1.0, 1.0, -1.0, 1.0, 1.0, 1.0]);
    for i in 0..4 {
        system.c[i] = masses[i / 2] * velocity[i % 2];
    }
    let mu = 0.5;
    let mut solver = ConicSolver::default();
    solver.prepare(&system, &[None, Some(Cone::PlanarCoulomb { mu })])?;
    let mut solution = Solution::default();
    let report = solver.solve(&system, &mut solution)?;
    println!(
        "{:?} by {:?}: x = {:.6?}",
        report.outcome, report.cones.method, solution.x
    );
    println!("impulses of rod and contact: {:.6?} N s", solution.mu);
    assert_eq!(report.outcome, Outcome::Converged);
    // The rod slows the second mass: 3 kg by 1 m/s along, by 2 m/s upwards.
    for (found, expected) in solution
        .x
        .iter()
        .chain(&solution.mu)
        .zip([5.0, 0.0, 5.0, 0.0, -3.0, 6.0, 8.0, -4.0])
    {
        assert!((found - expected).abs() < 1e-8, "{found} for {expected}");
    }
    Ok(())
}
