//! Impacts of balls in a row, at once and one after the other.

use super::{Floor, exactly};
use pliant::contact::*;
use pliant::kkt::Support;
use pliant::model::Side;
use pliant::prelude::*;

/// Balls in a row on a line, the first one thrown at the others. Returns their velocities after the
/// impact, and the report of the step.
fn cradle(row: (usize, f64), e: f64, impacts: Impacts) -> (Vec<f64>, ContactsReport) {
    cradle_with(row, e, |options| {
        options.contacts.impacts = impacts;
    })
}

pub(super) fn cradle_with(
    (count, apart): (usize, f64),
    e: f64,
    change: impl Fn(&mut Options),
) -> (Vec<f64>, ContactsReport) {
    #[derive(Debug)]
    struct Row(NodeId, usize, f64);
    impl ContactFinder for Row {
        fn nodes(&self) -> Vec<NodeId> {
            vec![self.0]
        }
        fn find(&mut self, m: &Model, s: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
            let x = m.positions(s, self.0);
            for k in 1..self.1 {
                let contact = Contact {
                    key: ContactKey(0, k as u64),
                    point: [x[3 * k] - 0.5, 0.0, 0.0],
                    normal: [1.0, 0.0, 0.0],
                    gap: x[3 * k] - x[3 * k - 3] - 1.0,
                    law: ContactLaw {
                        restitution: self.2,
                        ..ContactLaw::default()
                    },
                    sides: [k as u32 - 1, k as u32],
                };
                let support = |element| Support {
                    node: self.0,
                    element,
                    weight: 1.0,
                    arm: [0.0; 3],
                };
                out.push(contact, [support(k - 1)], [support(k)]);
            }
            Ok(())
        }
    }
    let mut m = Model::new();
    let places: Vec<[f64; 3]> = (0..count).map(|k| [k as f64 * (1.0 + apart), 0.0, 0.0]).collect();
    let balls = m.add_particles("balls", &places).unwrap();
    m.add_mass("mass", balls, Mass::Uniform(2.0)).unwrap();
    let mut options = exactly();
    change(&mut options);
    let mut s = Simulation::with_options(m, options).unwrap();
    let mut state = s.state().clone();
    state.velocities[0] = 3.0;
    s.set_state(&state).unwrap();
    s.set_contacts(Row(balls, count, e)).unwrap();
    let report = s.step(0.001).unwrap();
    (
        s.velocities(balls).iter().step_by(3).copied().collect(),
        report.contacts,
    )
}

/// SDIRK2 takes the impacts of a sequence as the linear step has them, and the step with all of its
/// account: momentum, energy, the count of impacts, one stage.
#[test]
fn a_cradle_in_sequence_by_two_stages() {
    let by = |integrator: Integrator| {
        cradle_with((5, 0.0), 1.0, |options| {
            options.integrator = integrator.clone();
            options.contacts.impacts = Impacts::InSequence;
        })
    };
    let (v, report) = by(Integrator::Sdirk2);
    for (v, expected) in v.iter().zip([0.0, 0.0, 0.0, 0.0, 3.0]) {
        assert!((v - expected).abs() < 1e-12, "{v}");
    }
    assert_eq!(report, by(Integrator::Theta).1);
}

/// Five equal balls: in sequence the last one flies off with the velocity of the first; together
/// all move, by Newton's law on every contact. Both keep momentum, and with `e = 1` energy.
#[test]
fn a_cradle_in_sequence_and_together() {
    let (v, report) = cradle((5, 0.0), 1.0, Impacts::InSequence);
    for (v, expected) in v.iter().zip([0.0, 0.0, 0.0, 0.0, 3.0]) {
        assert!((v - expected).abs() < 1e-12, "{v}");
    }
    assert_eq!(report.solve.impacts, 4);
    assert!(report.work.abs() < 1e-12);
    // As the elastic impact of two bodies of 2 and 8 kg.
    let (v, report) = cradle((5, 0.0), 1.0, Impacts::Together);
    for (v, expected) in v.iter().zip([-1.8, 1.2, 1.2, 1.2, 1.2]) {
        assert!((v - expected).abs() < 1e-12, "{v}");
    }
    assert_eq!(report.solve.impacts, 0);
    assert!(report.work.abs() < 1e-12);
    // Two balls with e = 1/2: v (1 -+ e)/2.
    for impacts in [Impacts::InSequence, Impacts::Together] {
        let (v, _) = cradle((2, 0.0), 0.5, impacts);
        assert!((v[0] - 0.75).abs() < 1e-12 && (v[1] - 2.25).abs() < 1e-12);
    }
    // Three with e = 1/2: each ball hits the next with (1 + e)/2 of its velocity; then nothing
    // approaches.
    let (v, _) = cradle((3, 0.0), 0.5, Impacts::InSequence);
    // After 0.75, 0.5625, 1.6875 the first two approach again and part with half of that: 0.609375,
    // 0.703125.
    for (v, expected) in v.iter().zip([0.609375, 0.703125, 1.6875]) {
        assert!((v - expected).abs() < 1e-12, "{v} {expected}");
    }
    let momentum: f64 = v.iter().sum();
    assert!((momentum - 3.0).abs() < 1e-12);
    assert!(v.windows(2).all(|w| w[1] - w[0] > -1e-9), "{v:?}");
}

/// A gap that does not close within the step has no impact in it.
#[test]
fn balls_that_are_apart_strike_when_they_meet() {
    for (apart, impacts) in [(0.01, 0), (0.002, 1)] {
        // 3 mm in the step.
        let (v, report) = cradle((2, apart), 1.0, Impacts::InSequence);
        assert_eq!(report.solve.impacts, impacts, "{apart}");
        assert!((v[1] - 3.0 * impacts as f64).abs() < 1e-12);
    }
}

/// A bar that strikes with one end, `e = 1`, while the other leaves with `e = 0`: clamping that one
/// would make energy, `r_2 u_2/2` of it. A smaller share of restitution makes none, and not much
/// less than it could be.
#[test]
fn different_restitution_at_once_makes_no_energy() {
    /// Two points of a bar over the plane `z = 0`, and their coefficients.
    #[derive(Debug)]
    struct Bar(NodeId, [f64; 2]);
    impl ContactFinder for Bar {
        fn nodes(&self) -> Vec<NodeId> {
            vec![self.0]
        }
        fn find(&mut self, _: &Model, _: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
            for (k, e) in self.1.into_iter().enumerate() {
                let arm = [if k == 0 { -1.0 } else { 1.0 }, 0.0, 0.0];
                let contact = Contact {
                    key: ContactKey(0, k as u64),
                    point: arm,
                    normal: [0.0, 0.0, 1.0],
                    gap: 0.0,
                    law: ContactLaw {
                        restitution: e,
                        ..ContactLaw::default()
                    },
                    sides: [0, 1],
                };
                let support = Support {
                    node: self.0,
                    element: 0,
                    weight: 1.0,
                    arm,
                };
                out.push(contact, [], [support]);
            }
            Ok(())
        }
    }
    // u_1 = -1, u_2 = 0.2 at the ends at -1 and 1 m; I = 0.4 kg m^2 < m a^2, so that a blow at one
    // end turns the other down.
    let (u1, u2, m, inertia) = (-1.0, 0.2, 1.0, 0.4);
    let (p, q): (f64, f64) = (1.0 / m + 1.0 / inertia, 1.0 / m - 1.0 / inertia);
    let run = |e: [f64; 2], integrator: Integrator| {
        let mut model = Model::new();
        let node = model.add_rigid_bodies("bar", &[Pose::default()]).unwrap();
        let mass = RigidMass::principal(m, [inertia; 3]);
        model.add_mass("mass", node, Mass::Rigid(vec![mass])).unwrap();
        // u = v - omega_y x.
        let (v, omega) = (0.5 * (u1 + u2), 0.5 * (u1 - u2));
        model
            .set_body_velocity(node, 0, [0.0, 0.0, v], [0.0, omega, 0.0])
            .unwrap();
        let mut s = Simulation::with_options(
            model,
            Options {
                integrator,
                ..exactly()
            },
        )
        .unwrap();
        s.set_contacts(Bar(node, e)).unwrap();
        s.step(1e-3).unwrap().contacts
    };
    // Equal coefficients need no help: T+ - T = (1 - e) r . u/2.
    for integrator in [Integrator::Theta, Integrator::Nonlinear] {
        assert_eq!(run([0.5, 0.5], integrator).restitution, 1.0);
    }
    // At a share t both ends are active: u_1+ = t, u_2+ = 0, and the gain is (r_1 (t - 1) + r_2
    // u_2)/2.
    let gain = |t: f64| {
        let det = p * p - q * q;
        let (d1, d2) = (t - u1, -u2);
        let (r1, r2) = ((p * d1 - q * d2) / det, (p * d2 - q * d1) / det);
        0.5 * (r1 * (t + u1) + r2 * u2)
    };
    assert!(gain(1.0) > 0.01);
    for integrator in [Integrator::Theta, Integrator::Nonlinear] {
        let found = run([1.0, 0.0], integrator);
        assert!(found.restitution < 1.0 && found.work <= 1e-12, "{found:?}");
        assert!((found.work - gain(found.restitution)).abs() < 1e-12);
        // By bisection to 1/64.
        assert!(gain(found.restitution + 1.0 / 64.0) > 0.0);
    }
}

/// A bead falls on the floor along a straight wire, at 30 degrees to it. The floor throws it back
/// along the wire by `r (sin - mu cos)`, friction being against that: beyond `mu = tan` no impulse
/// does, Newton's law has no solution with any restitution, and the bead stops. Below it the bead
/// bounces as ever.
#[test]
fn friction_jams_a_bead_that_a_wire_guides() {
    let (sin, cos) = (30.0f64.to_radians().sin(), 30.0f64.to_radians().cos());
    let (e, fall) = (0.5, 2.0);
    for (integrator, friction) in [Integrator::Theta, Integrator::Nonlinear, Integrator::Sdirk2]
        .into_iter()
        .flat_map(|method| [0.5, 0.8].map(|friction| (method.clone(), friction)))
    {
        let mut m = Model::new();
        let bead = m.add_rigid_bodies("bead", &[Pose::default()]).unwrap();
        let mass = RigidMass::principal(1.3, [1.0; 3]);
        m.add_mass("mass", bead, Mass::Rigid(vec![mass])).unwrap();
        m.set_body_velocity(bead, 0, [-fall * cos, 0.0, -fall * sin], [0.0; 3])
            .unwrap();
        // The z axis of the joint along the wire.
        let along = Pose::turned([0.0; 3], [0.0, 1.0, 0.0], 60.0f64.to_radians());
        let wire = Joint::point_on_line(Side::World, Side::Body(bead, 0)).at(along);
        m.add_joint("wire", &wire).unwrap();
        let options = Options {
            integrator: integrator.clone(),
            ..Options::default()
        };
        let mut s = Simulation::with_options(m, options).unwrap();
        let mut floor = Floor::new(vec![(bead, 0, [0.0; 3])], 0.0);
        (floor.law.friction, floor.law.restitution) = (friction, e);
        s.set_contacts(floor).unwrap();
        let report = s.step(1e-3).unwrap();
        let v = &s.velocities(bead)[..3];
        let up = if friction < sin / cos { e * fall } else { 0.0 };
        let expected = [up * cos, 0.0, up * sin];
        let off = v
            .iter()
            .zip(expected)
            .fold(0.0f64, |a, (v, x)| a.max((v - x).abs()));
        assert!(off < 1e-7, "{integrator:?} {friction}: {v:?} {expected:?}");
        let share = if up > 0.0 { 1.0 } else { 0.0 };
        assert_eq!(report.contacts.restitution, share, "{integrator:?} {friction}");
    }
}
