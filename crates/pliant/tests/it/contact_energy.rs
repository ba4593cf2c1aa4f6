//! Energy of contacts: what corrections lift is taken from the motion of what they lift, and of
//! nothing else; nothing is pushed along its way.

use pliant::contact::*;
use pliant::kkt::Support;
use pliant::prelude::*;

/// Particles over the plane z = 0 and, all but the first, under the plane z = 1.
#[derive(Debug)]
struct Room(NodeId, ContactLaw);

impl ContactFinder for Room {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }

    fn find(&mut self, model: &Model, state: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        for (e, x) in model
            .positions(state, self.0)
            .as_chunks::<3>()
            .0
            .iter()
            .enumerate()
        {
            for (side, normal, gap) in [(0, 1.0, x[2]), (1, -1.0, 1.0 - x[2])] {
                if side == 1 && e == 0 {
                    continue;
                }
                out.push(
                    Contact {
                        key: ContactKey(e as u64, side),
                        point: *x,
                        normal: [0.0, 0.0, normal],
                        gap,
                        law: self.1,
                        sides: [0, e as u32 + 1],
                    },
                    [],
                    [Support {
                        node: self.0,
                        element: e,
                        weight: 1.0,
                        arm: [0.0; 3],
                    }],
                );
            }
        }
        Ok(())
    }
}

const MASS: f64 = 2.0;

/// Particles of 2 kg; the step takes 0.01 s, in which 0.01 m may be recovered.
fn room(positions: &[[f64; 3]], velocities: &[f64], gravity: f64) -> (Model, NodeId) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -gravity]).unwrap();
    let p = m
        .add_independent("p", Space::Real(3), positions.as_flattened(), velocities)
        .unwrap();
    m.add_mass("m", p, Mass::PerElement(vec![MASS; positions.len()]))
        .unwrap();
    (m, p)
}

fn simulation(m: Model, p: NodeId) -> Simulation {
    let mut s = crate::tools::theta(m).unwrap();
    s.set_contacts(Room(p, ContactLaw::default())).unwrap();
    s
}

/// `v^2/2 + g d` stays, of the free coordinates: one that is held keeps its velocity, and has no
/// energy to give.
#[test]
fn held_coordinates_do_not_pay() {
    let (mut m, p) = room(&[[0.0, 0.0, -0.003]], &[2.0, 1.0, 0.0], 9.81);
    m.fix(p, 0, &[true, false, false]).unwrap();
    let mut s = simulation(m, p);
    let report = s.step(0.01).unwrap().contacts;
    let lifted = MASS * 9.81 * 0.003;
    assert!(
        (report.corrections.lifted - lifted).abs() < 1e-12
            && (report.corrections.paid - lifted).abs() < 1e-12,
        "{report:?}"
    );
    let v = s.velocities(p);
    assert_eq!(v[0], 2.0);
    assert!(
        (v[1] - (1.0 - 2.0 * 9.81 * 0.003f64).sqrt()).abs() < 1e-12,
        "{v:?}"
    );
}

/// A body that a correction lets down gains and pays no energy; one lifted elsewhere pays for
/// itself.
#[test]
fn what_is_let_down_does_not_pay() {
    let up = [[0.0, 0.0, -0.003], [5.0, 0.0, 1.01]];
    let (m, p) = room(&up, &[0.0, 1.0, 0.0, 0.0, 1.0, 0.0], 9.81);
    let mut s = simulation(m, p);
    let report = s.step(0.01).unwrap().contacts;
    // The second falls by g h^2 in the step, and is let down by the rest.
    let down = 0.01 - 9.81 * 1e-4;
    assert!(
        (report.corrections.lifted - MASS * 9.81 * (0.003 - down)).abs() < 1e-9,
        "{report:?}"
    );
    assert!(
        (report.corrections.paid - MASS * 9.81 * 0.003).abs() < 1e-9,
        "{report:?}"
    );
    assert!((s.velocities(p)[4] - 1.0).abs() < 1e-12);
}

/// Springs that are rows store what a correction does against them, and have no force in the model:
/// `k d^2/2`.
#[test]
fn springs_that_are_rows_are_paid_for() {
    for treatment in [Treatment::Compliance, Treatment::Stiffness] {
        let (mut m, p) = room(&[[0.0, 0.0, -0.003]], &[0.0, 1.0, 0.0], 0.0);
        let at_rest = m
            .add_mapped(
                "stretch",
                &[p],
                Difference::new(&[(End::element(0, 0), End::Point([0.0, 0.0, -0.003]))]),
            )
            .unwrap();
        let law = DiagonalCompliance::new(&[1e9, 1e9, 1e-3]);
        m.add_force_field("spring", at_rest, law, treatment).unwrap();
        let mut s = simulation(m, p);
        let report = s.step(0.01).unwrap().contacts;
        let stored = 0.5 * 1e3 * 0.003f64.powi(2);
        assert!(
            (report.corrections.lifted - stored).abs() < 1e-6 * stored,
            "{treatment:?} {report:?}"
        );
        assert!(
            (report.corrections.paid - stored).abs() < 1e-6 * stored,
            "{treatment:?} {report:?}"
        );
        let v = s.velocities(p)[1];
        assert!(
            (v - (1.0 - 2.0 * stored / MASS).sqrt()).abs() < 1e-6,
            "{treatment:?} {v}"
        );
    }
}

/// A body that separates at the start of a step and is pulled back within it may come back as far
/// as it went, `u+ >= -u (1 - beta)/beta`; pushed earlier, it would be pushed along its way. By the
/// trapezoidal rule energy stays.
#[test]
fn what_separates_and_comes_back_is_not_pushed_along() {
    for restitution in [0.0, 0.5, 1.0] {
        let (m, p) = room(&[[0.0; 3]], &[0.0, 0.0, 0.05], 9.81);
        let mut s = Simulation::with_options(m, Options::trapezoidal()).unwrap();
        let law = ContactLaw {
            restitution,
            ..ContactLaw::default()
        };
        s.set_contacts(Room(p, law)).unwrap();
        let report = s.step(1.0 / 60.0).unwrap();
        assert!((s.velocities(p)[2] + 0.05).abs() < 1e-9 && s.positions(p)[2].abs() < 1e-9);
        assert!((report.energies.total() - 0.5 * MASS * 0.05f64.powi(2)).abs() < 1e-9);
    }
}

/// Particles connected by rows or springs pay together: one at rest is lifted at the cost of
/// another that moves, and mapped nodes follow.
#[test]
fn what_is_connected_pays_for_each_other() {
    for spring in [true, false] {
        let (mut m, p) = room(
            &[[0.0, 0.0, -0.003], [1.0, 0.0, 0.5]],
            &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
            9.81,
        );
        let ends = [(End::element(0, 0), End::element(0, 1))];
        let rest = 1f64.hypot(0.503);
        let distance = Distance::new(&ends).with_rest_lengths(&[rest]);
        let lengths = m.add_mapped("lengths", &[p], distance).unwrap();
        if spring {
            let law = UniformCompliance::new(1.0);
            m.add_force_field("spring", lengths, law, Treatment::Stiffness)
                .unwrap();
        } else {
            m.add_constraint("rod", lengths, Level::Position).unwrap();
        }
        let copy = m
            .add_mapped("copy", &[p], Identity::new(Space::Real(3), 2))
            .unwrap();
        let mut s = simulation(m, p);
        let contacts = s.step(0.01).unwrap().contacts;
        assert!(
            contacts.corrections.lifted > 0.5 * MASS * 9.81 * 0.003,
            "{spring} {contacts:?}"
        );
        assert!(
            (contacts.corrections.paid - contacts.corrections.lifted).abs()
                < 1e-9 * contacts.corrections.lifted,
            "{spring} {contacts:?}"
        );
        assert_eq!(s.velocities(copy), s.velocities(p));
    }
}

/// By how much the second of two particles is beyond the first along an axis, less a length.
fn beyond(axis: usize, length: f64) -> Affine {
    let entry = |element, value| AffineEntry {
        element: 0,
        coordinate: 0,
        from: Dependency { parent: 0, element },
        from_coordinate: axis,
        value,
    };
    Affine::new(1, &[-length], &[entry(0, -1.0), entry(1, 1.0)])
}

/// The motion of both particles of a row pays for lifting one of them, also with a row of constant
/// coefficients, which nothing but `J` knows of: two particles of one velocity along y, one of
/// which is lifted.
#[test]
fn what_a_row_connects_pays_for_each_other() {
    let (mut m, p) = room(
        &[[0.0, 0.0, -0.003], [1.0, 0.0, 0.5]],
        &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        9.81,
    );
    let difference = beyond(1, 0.0);
    let difference = m.add_mapped("difference", &[p], difference).unwrap();
    m.add_constraint("alike", difference, Level::Position).unwrap();
    let mut s = simulation(m, p);
    s.step(0.01).unwrap();
    // Both have v/2 of the one that moved, and pay m g d together: v'^2 = v^2/4 - g d. The other
    // one falls freely, which no group pays for.
    let fallen = 9.81 * 0.01;
    let required = MASS * 9.81 * 0.003;
    let kinetic = 0.5 * MASS * (2.0 * 0.25 + fallen * fallen);
    let expected = 0.5 * (1.0 - required / kinetic).sqrt();
    for v in [s.velocities(p)[1], s.velocities(p)[4]] {
        assert!((v - expected).abs() < 1e-9, "{v} {expected}");
    }
}

/// The first two particles on the last one, which is held.
#[derive(Debug)]
struct Table(NodeId);

impl ContactFinder for Table {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }

    fn find(&mut self, model: &Model, state: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let x = model.positions(state, self.0).as_chunks::<3>().0;
        let support = |element| Support {
            node: self.0,
            element,
            weight: 1.0,
            arm: [0.0; 3],
        };
        for (e, place) in x.iter().enumerate().take(2) {
            let contact = Contact {
                key: ContactKey(e as u64, 0),
                point: *place,
                normal: [0.0, 0.0, 1.0],
                gap: place[2] - x[2][2],
                law: ContactLaw::default(),
                sides: [2, e as u32],
            };
            out.push(contact, [support(2)], [support(e)]);
        }
        Ok(())
    }
}

/// Nothing is connected by what is held: of two particles on one table the one that moves pays for
/// itself, and the other has nothing.
#[test]
fn what_is_held_connects_nobody() {
    let (mut m, p) = room(
        &[[0.0, 0.0, -0.003], [1.0, 0.0, -0.003], [0.0; 3]],
        &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        9.81,
    );
    m.fix(p, 2, &[true; 3]).unwrap();
    let mut s = crate::tools::theta(m).unwrap();
    s.set_contacts(Table(p)).unwrap();
    let contacts = s.step(0.01).unwrap().contacts;
    let one = MASS * 9.81 * 0.003;
    assert!(
        (contacts.corrections.lifted - 2.0 * one).abs() < 1e-9 * one,
        "{contacts:?}"
    );
    assert!(
        (contacts.corrections.paid - one).abs() < 1e-9 * one,
        "{contacts:?}"
    );
}

/// A floor that is higher by `RISE` where x is above 1, of which nothing is known before.
#[derive(Debug)]
struct Kerb(NodeId, ContactLaw);

const RISE: f64 = 0.003;

impl ContactFinder for Kerb {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }

    fn find(&mut self, model: &Model, state: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let places = model.positions(state, self.0).as_chunks::<3>().0;
        for (element, x) in places.iter().enumerate() {
            let floor = if x[0] > 1.0 { RISE } else { 0.0 };
            let contact = Contact {
                key: ContactKey(element as u64, 0),
                point: *x,
                normal: [0.0, 0.0, 1.0],
                gap: x[2] - floor,
                law: self.1,
                sides: [0, element as u32 + 1],
            };
            let support = Support {
                node: self.0,
                element,
                weight: 1.0,
                arm: [0.0; 3],
            };
            out.push(contact, [], [support]);
        }
        Ok(())
    }
}

/// Particles that slide from just before the kerb with `speeds`, and one that hits the floor in the
/// same step with `impact`.
fn kerb(speeds: &[f64], impact: f64, friction: f64) -> (Simulation, NodeId) {
    let mut places: Vec<_> = (0..speeds.len()).map(|k| [0.9999, k as f64, 0.0]).collect();
    let mut velocities: Vec<_> = speeds.iter().flat_map(|u| [*u, 0.0, 0.0]).collect();
    places.push([-1.0, 0.0, 0.0]);
    velocities.extend([0.0, 0.0, -impact]);
    let (m, p) = room(&places, &velocities, 9.81);
    let mut s = crate::tools::theta(m).unwrap();
    let law = ContactLaw {
        friction,
        ..ContactLaw::default()
    };
    s.set_contacts(Kerb(p, law)).unwrap();
    (s, p)
}

/// Onto a kerb that it jumps at, a particle is lifted as far as its motion pays and what the step
/// lost elsewhere: energy never rises, and the rest of the overlap stays and is reported, until
/// there is something to pay with.
#[test]
fn corrections_lift_no_more_than_there_is() {
    let whole = MASS * 9.81 * RISE;
    for (impact, lost) in [(0.0, 0.0), (0.1, 0.5 * MASS * 0.01)] {
        // The second one is quick enough to pay for itself.
        let (speed, quick) = (0.1, 1.0);
        let (mut s, p) = kerb(&[speed, quick], impact, 0.0);
        let before = s.problem().energies(s.state()).total();
        let report = s.step(0.01).unwrap();
        let c = report.contacts;
        let own = 0.5 * MASS * speed * speed;
        let close = |a: f64, b: f64| (a - b).abs() < 1e-8 * whole;
        assert!(
            close(c.corrections.lifted, whole + own + lost) && close(c.corrections.paid, whole + own),
            "{c:?}"
        );
        assert!(close(c.corrections.held_back, whole - own - lost), "{c:?}");
        let height = (own + lost) / (MASS * 9.81);
        assert!((s.positions(p)[2] - height).abs() < 1e-9 && (s.positions(p)[5] - RISE).abs() < 1e-9);
        assert!((c.overlap - (RISE - height)).abs() < 1e-9, "{c:?}");
        assert!(close(report.energies.total(), before), "{impact}");
        // It stays where it is while nothing moves it, and pushes on nothing; no later step takes
        // for given what this one left.
        for _ in 0..3 {
            let report = s.step(0.01).unwrap();
            assert!((s.positions(p)[2] - height).abs() < 1e-9, "{:?}", report.contacts);
            assert!(report.energies.total() <= before + 1e-9 * whole);
        }
        // Pushed to 1 m/s, it pays for the rest.
        s.set_force(p, 0, &[200.0, 0.0, 0.0]).unwrap();
        let c = s.step(0.01).unwrap().contacts;
        assert!(c.corrections.held_back == 0.0 && c.overlap < 1e-6, "{c:?}");
        assert!((s.positions(p)[2] - RISE).abs() < 1e-9);
    }
}

/// Work of forces is there to be spent: pulled against friction at a constant speed, a particle is
/// lifted by its motion and by what friction takes in the step.
#[test]
fn corrections_are_paid_by_what_friction_takes() {
    let (speed, friction, h) = (0.1, 0.5, 0.01);
    let (mut s, p) = kerb(&[speed], 0.0, friction);
    let pull = friction * MASS * 9.81;
    s.set_force(p, 0, &[pull, 0.0, 0.0]).unwrap();
    let c = s.step(h).unwrap().contacts;
    let there = 0.5 * MASS * speed * speed + pull * h * speed;
    assert!(
        (c.corrections.lifted - there).abs() < 1e-8 * there,
        "{c:?} {there}"
    );
    assert!((s.positions(p)[2] - there / (MASS * 9.81)).abs() < 1e-9 && c.corrections.held_back > 0.0);
}

/// Once what a state was set with is taken back, the next overlap is ours again; and a state that
/// is set after that is not.
#[test]
fn only_what_was_set_is_taken_back_for_nothing() {
    let (mut s, p) = kerb(&[0.06], 0.0, 0.0);
    let mut state = s.state().clone();
    let x = s.model().node(p).position_range().start;
    (state.positions[x], state.positions[x + 2]) = (0.9991, -1e-5);
    s.set_state(&state).unwrap();
    assert_eq!(s.step(0.01).unwrap().contacts.corrections.held_back, 0.0);
    let before = s.problem().energies(s.state()).total();
    let c = s.step(0.01).unwrap().contacts;
    assert!(s.positions(p)[0] > 1.0 && c.corrections.held_back > 0.0, "{c:?}");
    assert!(s.problem().energies(s.state()).total() < before + 1e-12);
    let mut state = s.state().clone();
    state.positions[x + 2] = 0.0;
    s.set_state(&state).unwrap();
    let c = s.step(0.01).unwrap().contacts;
    assert!(
        s.positions(p)[2] > RISE - 1e-9 && c.corrections.held_back == 0.0,
        "{c:?}"
    );
}

/// Overlap that a state was set with is taken back over several steps, by the speed of recovery in
/// each, whatever that costs; also from a checkpoint in between.
#[test]
fn overlap_that_was_set_is_taken_back_for_nothing() {
    let deep = |z| {
        let (m, p) = room(&[[0.0, 0.0, z]], &[0.0; 3], 9.81);
        (simulation(m, p), p)
    };
    let (mut s, p) = deep(-0.025);
    for expected in [-0.015, -0.005, 0.0] {
        let other = s.checkpoint();
        let c = s.step(0.01).unwrap().contacts;
        assert!(
            (s.positions(p)[2] - expected).abs() < 1e-9 && c.corrections.held_back == 0.0,
            "{c:?}"
        );
        let (mut restored, _) = deep(0.5);
        restored.restore(&other).unwrap();
        restored.step(0.01).unwrap();
        assert_eq!(restored.positions(p), s.positions(p));
    }
}

/// A correction goes along with what is elastic, whatever its treatment: of two particles on a
/// spring the upper one comes with the lower by `h^2 k/(m + h^2 k)`. By masses alone the lower one
/// would go all the way, and the spring would take `k d^2/2`.
#[test]
fn springs_take_part_in_corrections() {
    let (stiffness, h) = (1e6, 0.01);
    let moved = RISE * h * h * stiffness / (MASS + h * h * stiffness);
    let stored = 0.5 * stiffness * (RISE - moved).powi(2);
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        let (mut m, p) = room(&[[0.0, 0.0, -RISE], [0.0, 0.0, 0.5]], &[0.0; 6], 0.0);
        let stretch = m.add_mapped("stretch", &[p], beyond(2, 0.5 + RISE)).unwrap();
        let law = DiagonalCompliance::new(&[1.0 / stiffness]);
        m.add_force_field("spring", stretch, law, treatment).unwrap();
        let mut s = simulation(m, p);
        let report = s.step(h).unwrap().contacts;
        let z = [2, 5].map(|k| s.positions(p)[k]);
        assert!(
            z[0].abs() < 1e-9 && (z[1] - 0.5 - moved).abs() < 1e-9,
            "{treatment:?} {z:?} {moved}"
        );
        assert!(
            (report.corrections.lifted - stored).abs() < 1e-6 * stored,
            "{treatment:?} {report:?} {stored}"
        );
    }
}

/// A ball that arrives at a compliant contact, far stiffer than the step resolves or not, with and
/// without damping: no step gains energy beyond the certificate's share, also where the first of
/// two stages stops half of it and the second would throw it back; and what the ledger has for
/// dampers and for the scheme is no more than there is, where the contact is held off by its
/// damping before it touches.
#[test]
fn arriving_at_a_compliant_contact_makes_no_energy() {
    let there_is = 0.5 * MASS * 9.0;
    for integrator in [Integrator::Sdirk2, Integrator::Theta] {
        let mut worst = [0.0f64; 2];
        for k in 0..30 {
            let gap = 1e-3 * f64::from(k);
            for compliance in [1e-9, 1.5e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 1e-3] {
                for relaxation_time in [0.0, 1e-3] {
                    let (m, p) = room(&[[0.0, 0.0, gap]], &[0.0, 0.0, -3.0], 0.0);
                    let options = Options {
                        integrator: integrator.clone(),
                        ..Options::default()
                    };
                    let mut s = Simulation::with_options(m, options).unwrap();
                    let law = ContactLaw {
                        compliance,
                        relaxation_time,
                        ..ContactLaw::default()
                    };
                    s.set_contacts(Room(p, law)).unwrap();
                    let mut energy = there_is;
                    for _ in 0..6 {
                        let report = s.step(0.01).unwrap();
                        let now = report.energies.total();
                        // The share is of what the step turns over: the motion, and what the
                        // contact takes of it.
                        let turned_over = report.certificate.energy.turnover.total();
                        worst[0] = worst[0].max((now - energy) / turned_over.max(there_is));
                        let largest = report.ledger.damping.abs().max(report.ledger.numerical.abs());
                        worst[1] = worst[1].max(largest / there_is);
                        energy = now;
                    }
                }
            }
        }
        assert!(worst[0] < 1e-3, "{}: {worst:?}", integrator.name());
        assert!(worst[1] < 1.0 + 1e-9, "{}: {worst:?}", integrator.name());
    }
}

/// A gram arrives at the floor with a kilogram above it on a hard rod, at 2 m/s: one step with an
/// impact stops both, and none makes energy. Without the rod in the response of the contact the
/// impact would be a thousandth of its impulse.
#[test]
fn a_floor_stops_what_stands_on_a_light_foot() {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let places = [[0.0, 0.0, 0.05], [0.0, 0.0, 0.55]];
    let velocities = [0.0, 0.0, -2.0, 0.0, 0.0, -2.0];
    let p = m
        .add_independent("p", Space::Real(3), places.as_flattened(), &velocities)
        .unwrap();
    m.add_mass("m", p, Mass::PerElement(vec![1e-3, 1.0])).unwrap();
    let rod = Distance::between(&[(0, 1)]).with_rest_lengths(&[0.5]);
    let rod = m.add_mapped("rod length", &[p], rod).unwrap();
    m.add_constraint("rod", rod, Level::Position).unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(Room(p, ContactLaw::default())).unwrap();
    let mut impacts = 0;
    for k in 0..20 {
        let report = s.step(0.01).unwrap();
        impacts += usize::from(report.solve.stages == 1);
        assert!(
            report.ledger.numerical + report.ledger.impacts < 1e-9,
            "{k}: {:?}",
            report.ledger
        );
    }
    // One where the gap closes in the step, one for the velocity of closing that is left.
    assert!((1..=2).contains(&impacts), "{impacts}");
    let left = s.problem().energies(s.state()).kinetic;
    assert!(left < 1e-12, "{left:e}");
}
