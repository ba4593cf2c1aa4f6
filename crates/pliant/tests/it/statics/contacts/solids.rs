//! Large solids at rest on others, by each linear solver.

use super::*;
use pliant::LinearSolver;
use pliant::Preconditioner::{Blocks, Multilevel};
use pliant::continuum::{Mesh, Solid};

/// Density of the beam (kg/m^3), its length, width and height (m), and the floor below it (m).
const DENSITY: f64 = 1000.0;
const SIZE: [f64; 3] = [1.0, 0.2, 0.2];
const FLOOR: f64 = -0.05;

/// A cantilever of 1,575 unknowns, so many that its factor is not made anew for each contact, that sags
/// onto a floor under gravity, which also pulls along y (m/s^2), across the beam.
fn beam_over_floor(across: f64, friction: f64, linear: LinearSolver) -> (Simulation, NodeId) {
    let mut model = Model::new();
    model.set_gravity([0.0, across, -10.0]).unwrap();
    let mesh = Mesh::hexahedral_box(SIZE, [20, 4, 4]).unwrap();
    let parts = Solid::linear(3e5, 0.3)
        .with_density(DENSITY)
        .add_to(&mut model, "beam", &mesh)
        .unwrap();
    let node = parts.nodes;
    for (i, x) in mesh.nodes.iter().enumerate() {
        if x[0] < 1e-9 {
            model.fix(node, i, &[true; 3]).unwrap();
        }
    }
    let below = mesh.nodes.iter().enumerate().filter(|(_, x)| x[2] < 1e-9);
    let balls = below.map(|(i, _)| (node, i, 0.0)).collect();
    let mut simulation = Simulation::new(model).unwrap();
    let floor = Planes::new(balls, &[([0.0, 0.0, 1.0], FLOOR)]).rough(friction);
    simulation.set_contacts(floor).unwrap();
    simulation.options.linear = linear;
    (simulation, node)
}

/// At rest floor and clamp carry the weight, no point is below the floor, what bears touches it, and
/// friction is within its cone: conditions, whatever solved for them. All linear solvers come to the
/// same rest.
#[test]
fn a_beam_sags_onto_the_floor() {
    let (weight, mu) = (10.0 * DENSITY * SIZE.iter().product::<f64>(), 0.5);
    for (across, friction) in [(0.0, 0.0), (3.0, mu)] {
        let krylov = |preconditioner| LinearSolver::krylov(KrylovMethod::Cg, preconditioner);
        let all = [
            LinearSolver::Direct,
            LinearSolver::Auto,
            krylov(Multilevel),
            krylov(Blocks),
        ];
        let mut rest: Option<Vec<f64>> = None;
        for linear in all {
            let (mut s, node) = beam_over_floor(across, friction, linear);
            let report = s.find_equilibrium(&Equilibrium::default()).unwrap();
            println!("{linear:?}: {report:?}");
            assert!(report.residual <= 1e-10 && report.contacts >= 5, "{report:?}");
            // Iterations would not see whether a system is a minimum.
            assert_eq!(report.solver, "sparse L D L^T");
            let x = s.positions(node).to_vec();
            let count = x.len() / 3;
            let mut carried = [0.0; 3];
            for i in 0..count {
                let (floor, clamp) = (s.contact_force(node, i).0, s.support_force(node, i));
                (0..3).for_each(|k| carried[k] += floor[k] + clamp[k]);
            }
            let missed = [0.0, across / 10.0 * weight, -weight].map(f64::abs);
            for (found, load) in carried.iter().zip([0.0, -missed[1], missed[2]]) {
                assert!((found - load).abs() < 1e-7 * weight, "{carried:?}");
            }
            let slip = s
                .contacts()
                .iter()
                .filter(|c| c.state == ContactState::Slipping)
                .count();
            assert_eq!(slip > 0, friction > 0.0, "{slip}");
            for c in s.contacts() {
                let [a, b, n] = c.impulse;
                // The smallest numbers of the positions, and of forces of which some are a thousandth.
                assert!(c.contact.gap > -1e-9 && n >= 0.0, "{c:?}");
                assert!(n < 1e-9 * weight || c.contact.gap < 1e-9, "{c:?}");
                assert!(a.hypot(b) <= friction * n + 1e-9 * weight, "{c:?}");
            }
            let rest = rest.get_or_insert_with(|| x.clone());
            let apart = x
                .iter()
                .zip(&*rest)
                .fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
            // The beam is 1 m long, and as soft as its weight bends it by a fifth of that.
            assert!(apart < 1e-8, "{linear:?}: {apart:e}");
        }
    }
}
