//! Impacts of balls in a row, at once and one after the other.

use super::exactly;
use pliant::contact::*;
use pliant::kkt::Support;
use pliant::prelude::*;

/// Balls in a row on a line, the first one thrown at the others. Returns their velocities after the impact, and the report of the step.
fn cradle(count: usize, e: f64, impacts: Impacts, formulation: Formulation) -> (Vec<f64>, ContactsReport) {
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
    let places: Vec<[f64; 3]> = (0..count).map(|k| [k as f64, 0.0, 0.0]).collect();
    let balls = m.add_particles("balls", &places).unwrap();
    m.add_mass("mass", balls, Mass::Uniform(2.0)).unwrap();
    let mut options = exactly();
    options.contacts.impacts = impacts;
    options.formulation = formulation;
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

/// Five equal balls: in sequence the last one flies off with the velocity of the first; together all move, by Newton's law on every contact. Both
/// keep momentum, and with `e = 1` energy.
#[test]
fn a_cradle_in_sequence_and_together() {
    for formulation in [
        Formulation::VelocityChange,
        Formulation::Velocity,
        Formulation::Acceleration,
    ] {
        let (v, report) = cradle(5, 1.0, Impacts::InSequence, formulation);
        for (v, expected) in v.iter().zip([0.0, 0.0, 0.0, 0.0, 3.0]) {
            assert!((v - expected).abs() < 1e-12, "{v}");
        }
        assert_eq!(report.impacts, 4);
        assert!(report.work.abs() < 1e-12);
        // As the elastic impact of two bodies of 2 and 8 kg.
        let (v, report) = cradle(5, 1.0, Impacts::Together, formulation);
        for (v, expected) in v.iter().zip([-1.8, 1.2, 1.2, 1.2, 1.2]) {
            assert!((v - expected).abs() < 1e-12, "{v}");
        }
        assert_eq!(report.impacts, 0);
        assert!(report.work.abs() < 1e-12);
        // Two balls with e = 1/2: v (1 -+ e)/2.
        for impacts in [Impacts::InSequence, Impacts::Together] {
            let (v, _) = cradle(2, 0.5, impacts, formulation);
            assert!((v[0] - 0.75).abs() < 1e-12 && (v[1] - 2.25).abs() < 1e-12);
        }
        // Three with e = 1/2: each ball hits the next with (1 + e)/2 of its velocity; then nothing approaches.
        let (v, _) = cradle(3, 0.5, Impacts::InSequence, formulation);
        // After 0.75, 0.5625, 1.6875 the first two approach again and part with half of that: 0.609375, 0.703125.
        for (v, expected) in v.iter().zip([0.609375, 0.703125, 1.6875]) {
            assert!((v - expected).abs() < 1e-12, "{v} {expected}");
        }
        let momentum: f64 = v.iter().sum();
        assert!((momentum - 3.0).abs() < 1e-12);
        assert!(v.windows(2).all(|w| w[1] - w[0] > -1e-9), "{v:?}");
    }
}
