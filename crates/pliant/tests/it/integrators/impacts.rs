//! Impacts that two stages have to tell from forces, on bodies that give way under them.

use super::models::*;
use crate::worlds::on_feet;
use pliant::prelude::*;

/// A body on a foot far beside and below its centre, whose moment of inertia is small: the foot
/// sticks, so that the normal impulse alone would change its velocity by 25 times what both
/// impulses together do, and an impulse that only its own response tells from a force is taken for
/// one. The energy that an impact without a rebound takes is `u . A^-1 u/2` with the velocity `u`
/// of the foot and its Delassus operator `A = 1/m + (r x)^T (r x)/I`, whether the foot is on the
/// ground already, comes to it in the first stage, or in the second.
#[test]
fn the_impact_of_a_foot_that_gives_way() {
    let (mass, inertia, arm, height) = (1.0, 0.004, 0.5, 0.52);
    let (speed, h) = (2.0, 1e-5);
    let [normal, across, both] = [arm * arm, height * height, arm * height].map(|product| product / inertia);
    let [normal, across] = [normal, across].map(|a| a + 1.0 / mass);
    let expected = 0.5 * speed * speed * across / (normal * across - both * both);
    // Steps of free flight before the foot is on the ground.
    for flight in [0.0, 1.2, 1.6] {
        let (mut m, body, world) = on_feet(&[[arm, 0.0]], [mass, inertia], height, 2.0);
        m.set_gravity([0.0; 3]).unwrap();
        m.set_body_velocity(body, 0, [0.0, 0.0, -speed], [0.0; 3])
            .unwrap();
        let mut s = Simulation::with_options(m, with(Integrator::Sdirk2)).unwrap();
        s.set_contacts(world).unwrap();
        let mut state = s.state().clone();
        state.positions[2] += flight * speed * h;
        s.set_state(&state).unwrap();
        let mut ledger = Ledger::default();
        for _ in 0..4 {
            ledger += s.step(h).unwrap().ledger;
        }
        // The body turns by some 3 mrad in these steps.
        let error = (ledger.impacts + ledger.friction + expected).abs();
        assert!(error < 0.01 * expected, "{flight}: {ledger:?} against {expected}");
        assert!(ledger.numerical.abs() < 0.01 * expected, "{flight}: {ledger:?}");
        assert!(
            (ledger.kinetic + expected).abs() < 0.01 * expected,
            "{flight}: {ledger:?}"
        );
    }
}
