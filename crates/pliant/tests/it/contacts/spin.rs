//! Resistance to spin about the normal and to rolling.

use super::{Ball, exactly, friction};
use pliant::contact::ContactLaw;
use pliant::prelude::*;

/// A top without gyroscopic effects spins down by the torque `torsion N`, a rolling ball by `rolling N` at its radius.
#[test]
fn spin_and_rolling_are_resisted_by_torques_in_proportion_to_the_load() {
    let run = |law: ContactLaw, v: [f64; 3], w: [f64; 3], formulation| {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let pose = Pose {
            position: [0.0, 0.0, 0.1],
            rotation: [1.0, 0.0, 0.0, 0.0],
        };
        let b = m.add_rigid_bodies("ball", &[pose]).unwrap();
        let mass = Mass::Rigid(vec![RigidMass::sphere(2.0, 0.1)]);
        m.add_mass("mass", b, mass).unwrap();
        m.set_body_velocity(b, 0, v, w).unwrap();
        let mut options = exactly();
        options.formulation = formulation;
        let mut s = Simulation::with_options(m, options).unwrap();
        s.set_contacts(Ball(b, law)).unwrap();
        for _ in 0..50 {
            s.step(0.001).unwrap();
        }
        let (_, torque) = s.contact_force(b, 0);
        let reading = s.contacts()[0];
        // Of the spin row alone, where friction has no arm about the normal.
        assert!((torque[2] - reading.torque_impulse[2] / 0.001).abs() < 1e-9);
        (s.world_velocity(b, 0).unwrap(), reading)
    };
    let (m, r, n) = (2.0, 0.1, 2.0 * 9.81);
    let inertia = 0.4 * m * r * r;
    for formulation in [Formulation::VelocityChange, Formulation::Acceleration] {
        // Spin about the normal: I dw = -torsion N dt.
        let law = ContactLaw {
            torsion: 2e-4,
            ..friction(0.5)
        };
        let ((v, w), reading) = run(law, [0.0; 3], [0.0, 0.0, 30.0], formulation);
        assert!((w[2] - (30.0 - 2e-4 * n / inertia * 0.05)).abs() < 1e-9, "{w:?}");
        assert!(v.iter().all(|v| v.abs() < 1e-11));
        assert!((reading.torque_impulse[2] + 2e-4 * n * 0.001).abs() < 1e-11);
        // Enough torsion stops it, and holds it.
        let law = ContactLaw { torsion: 0.1, ..law };
        let ((_, w), _) = run(law, [0.0; 3], [0.0, 0.0, 3.0], formulation);
        assert!(w[2].abs() < 1e-11, "{w:?}");
        // Rolling in any direction: (I + m r^2) dw = -rolling N dt.
        for turn in [0.0, 0.4, 1.9] {
            let law = ContactLaw {
                rolling: 1e-3,
                ..friction(0.5)
            };
            let along: [f64; 3] = [f64::cos(turn), f64::sin(turn), 0.0];
            let w0 = [-along[1] * 20.0, along[0] * 20.0, 0.0];
            let ((v, _), _) = run(law, along.map(|x| 2.0 * x), w0, formulation);
            let expected = 2.0 - 1e-3 * n / (inertia + m * r * r) * r * 0.05;
            for k in 0..3 {
                assert!(
                    (v[k] - expected * along[k]).abs() < 1e-9,
                    "{turn}: {v:?} {expected}"
                );
            }
        }
    }
}
