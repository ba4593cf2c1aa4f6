//! The work of the geometric stiffness.

use super::{Case, MODES, SEEDS, build, full_w};
use pliant_kkt::GeometricTerms;

/// The work of the geometric stiffness is that of the matrix which it added,
/// `-u^T (W - W_0) u/beta`, whatever part or share of it was taken, and of which forces.
#[test]
fn the_work_of_geometry_is_that_of_what_was_added() {
    for seed in SEEDS {
        let mut case = Case::new(seed, true);
        let none = case.scheme(0.3, 0.7, 0.6, GeometricTerms::NONE);
        let plain = full_w(&case.assemble(&none));
        for (k, forces) in MODES.into_iter().enumerate() {
            for multipliers in [forces, MODES[(k + 1) % 6]] {
                let geometry = GeometricTerms { forces, multipliers };
                let scheme = case.scheme(0.3, 0.7, 0.6, geometry);
                let mut assembler = case.fill_on(&scheme, 1);
                let m = &case.built.model;
                let w = full_w(assembler.system());
                let n = m.dof_count();
                let u = build::numbers(seed + 5, n);
                let mut velocity = vec![0.0; m.velocity_count()];
                for node in m.nodes() {
                    if let Some(first) = node.first_dof() {
                        let range = node.velocity_range();
                        let own = &u[first..first + range.len()];
                        velocity[range].copy_from_slice(own);
                    }
                }
                case.evaluation.push_forward(m, &mut velocity);
                let found = assembler.geometry_work(m, &mut case.evaluation, &scheme, &case.state, &velocity);
                let (mut expected, mut size) = (0.0, 0.0);
                for i in 0..n {
                    for j in 0..n {
                        let at = i * n + j;
                        expected -= u[i] * (w[at] - plain[at]) * u[j] / 0.6;
                        size += (u[i] * w[at] * u[j]).abs();
                    }
                }
                // Eigenvalues that are filtered agree as far as their iteration goes.
                assert!(
                    (found - expected).abs() <= 1e-12 * size,
                    "{geometry:?}: {found} {expected}"
                );
                assert_eq!(found == 0.0, geometry == GeometricTerms::NONE);
            }
        }
    }
}
