//! Projected tangents are reported: in the report of a step, and of an equilibrium, which does not
//! know then whether it is stable.

use pliant::continuum::{Hyperelastic, Mesh, PronySeries, PronyTerm, Solid, StrainEnergy, Tangent};
use pliant::prelude::*;

/// A column of rubber between two plates that are pressed together to this share of its height, the
/// middle of it free.
fn pressed(tangent: Tangent, share: f64, relaxing: bool, options: Options) -> (Simulation, NodeId) {
    let mesh = Mesh::hexahedral_box([1.0; 3], [1, 1, 2]).unwrap();
    let mut solid = Solid::hyperelastic(StrainEnergy::stable_neo_hookean(1e6, 0.3)).with_tangent(tangent);
    if relaxing {
        let series = PronySeries::new(&[PronyTerm::new(0.1, 0.3)]).unwrap();
        solid = solid.with_viscoelasticity(series);
    }
    let mut model = Model::new();
    let parts = solid.add_to(&mut model, "rubber", &mesh).unwrap();
    for (node, x) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[2] != 0.5) {
        assert!(x[2] == 0.0 || x[2] == 1.0);
        model.fix(parts.nodes, node, &[true; 3]).unwrap();
    }
    let mut s = Simulation::with_options(model, options).unwrap();
    let mut state = s.state().clone();
    let range = s.model().node(parts.nodes).position_range();
    state.positions[range]
        .iter_mut()
        .skip(2)
        .step_by(3)
        .for_each(|z| *z *= share);
    s.set_state(&state).unwrap();
    (s, parts.gradients)
}

/// Points whose exact tangent is indefinite.
fn indefinite(s: &Simulation, gradients: NodeId) -> usize {
    let law = Hyperelastic::new(StrainEnergy::stable_neo_hookean(1e6, 0.3), &[]);
    law.indefinite_points(s.positions(gradients))
}

#[test]
fn steps_say_how_many_tangents_they_projected() {
    for integrator in [Integrator::Theta, Integrator::Nonlinear] {
        let options = || Options {
            integrator: integrator.clone(),
            ..Options::default()
        };
        let (mut s, gradients) = pressed(Tangent::PositiveSemidefinite, 0.4, false, options());
        let mut most = 0;
        for _ in 0..5 {
            let before = indefinite(&s, gradients);
            let report = s.step(1e-3).unwrap();
            let after = indefinite(&s, gradients);
            let at = if integrator == Integrator::Theta {
                before
            } else {
                after
            };
            assert_eq!(report.solve.projected_tangents, at);
            most = most.max(at);
        }
        assert!(most >= 8, "{most}");
        let (mut s, _) = pressed(Tangent::PositiveSemidefinite, 1.0, false, options());
        assert_eq!(s.step(1e-3).unwrap().solve.projected_tangents, 0);
        let (mut s, _) = pressed(Tangent::PositiveSemidefinite, 0.4, true, options());
        assert!(s.step(1e-3).unwrap().solve.projected_tangents > 0);
        let (mut s, _) = pressed(Tangent::Exact, 0.4, false, options());
        assert_eq!(s.step(1e-5).unwrap().solve.projected_tangents, 0);
    }
}

#[test]
fn equilibria_with_projected_tangents_do_not_say_that_they_are_stable() {
    let (mut s, gradients) = pressed(Tangent::PositiveSemidefinite, 0.4, false, Options::default());
    let found = s.find_equilibrium(&Equilibrium::default()).unwrap();
    assert_eq!(found.projected_tangents, indefinite(&s, gradients));
    assert!(found.projected_tangents > 0 && found.residual < 1e-9, "{found:?}");
    assert_eq!((found.negative_modes, found.is_stable()), (None, false));
    let loads = Loads {
        gravity: true,
        ..Loads::default()
    };
    let how = Continuation {
        loads,
        ..Continuation::default()
    };
    let error = s.follow(&how, |_, _| true).unwrap_err().to_string();
    assert!(error.contains("projected"), "{error}");
    let (mut s, _) = pressed(Tangent::PositiveSemidefinite, 1.0, false, Options::default());
    let found = s.find_equilibrium(&Equilibrium::default()).unwrap();
    assert_eq!((found.projected_tangents, found.negative_modes), (0, Some(0)));
}
