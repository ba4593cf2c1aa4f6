//! Steps whose contacts do not converge, taken in halves.

use pliant::contact::*;
use pliant::kkt::Support;
use pliant::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const H: f64 = 0.01;

/// A finder that remembers how many names it has given, and whose searches are counted.
#[derive(Debug)]
struct Named {
    trap: Trap,
    names: u64,
    searches: Arc<AtomicUsize>,
}

impl ContactFinder for Named {
    fn nodes(&self) -> Vec<NodeId> {
        self.trap.nodes()
    }

    fn find(&mut self, m: &Model, s: &State, h: f64, out: &mut ContactList) -> Result<(), Error> {
        self.searches.fetch_add(1, Ordering::Relaxed);
        self.names += 1;
        self.trap.find(m, s, h, out)
    }

    fn save(&self, out: &mut Vec<u64>) {
        out.push(self.names);
    }

    fn restore(&mut self, memory: &[u64]) -> Result<(), Error> {
        self.names = memory[0];
        Ok(())
    }
}

/// The first step finds its contacts at its start, and fails. The finder forgets what it named
/// then, so the first half finds them anew; the second goes on from the end of the first.
#[test]
fn a_half_does_not_go_on_with_names_that_are_forgotten() {
    let (mut s, particles) = trap(0.004, 1);
    let searches = Arc::new(AtomicUsize::new(0));
    let trap = Trap {
        particles,
        open: 0.004,
    };
    s.set_contacts(Named {
        trap,
        names: 0,
        searches: Arc::clone(&searches),
    })
    .unwrap();
    assert_eq!(s.step(H).unwrap().contacts.solve.halvings, 1);
    // Of the start and the end of the step, of those of its first half, of the end of the second.
    assert_eq!(searches.load(Ordering::Relaxed), 5);
}

/// The first of two particles falls towards `z = 0` with 1 m/s, whatever pushes it; there is a
/// floor until the second, which flies with 1 m/s, is at `x = open`.
#[derive(Debug)]
struct Trap {
    particles: NodeId,
    open: f64,
}

impl ContactFinder for Trap {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.particles]
    }

    fn find(&mut self, m: &Model, s: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let x = m.positions(s, self.particles);
        if x[3] < self.open {
            let contact = Contact {
                key: ContactKey(0, 0),
                point: [x[0], x[1], 0.0],
                normal: [0.0, 0.0, 1.0],
                gap: x[2],
                law: ContactLaw::default(),
                sides: [0, 1],
            };
            let support = Support {
                node: self.particles,
                element: 0,
                weight: 1.0,
                arm: [0.0; 3],
            };
            out.push(contact, [], [support]);
        }
        Ok(())
    }
}

/// The first particle 7.5 mm above the floor: it would be through it after a step, not after half
/// of one.
fn trap(open: f64, halvings: usize) -> (Simulation, NodeId) {
    let mut model = Model::new();
    let start = [[0.0, 0.0, 0.0075], [0.0, 1.0, 0.0]];
    let particles = model.add_particles("particles", &start).unwrap();
    model.add_mass("mass", particles, Mass::Uniform(1.0)).unwrap();
    let mut options = Options::theta();
    options.contacts.halvings = halvings;
    options.contacts.overlap = Overlap::Keep;
    let mut s = Simulation::with_options(model, options).unwrap();
    let mut state = s.state().clone();
    state.velocities.copy_from_slice(&[0.0, 0.0, -1.0, 1.0, 0.0, 0.0]);
    s.set_state(&state).unwrap();
    s.hold(particles, 0, &[true, false, true], &[0.0, 0.0, -1.0])
        .unwrap();
    s.set_contacts(Trap { particles, open }).unwrap();
    (s, particles)
}

#[test]
fn a_step_is_what_its_halves_are() {
    let (mut s, particles) = trap(0.004, 0);
    let before = s.checkpoint();
    let error = s.step(H).unwrap_err();
    let Error::ContactsNotConverged { remedy, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(
        remedy.as_deref(),
        Some("steps of 0.001 s have a solution (tried)")
    );
    let after = s.checkpoint();
    assert_eq!((after.time, &after.state), (before.time, &before.state));
    // The problem to be looked at is that of the step, which closes 10 of 7.5 mm, and none of what
    // was tried behind it.
    let problem = s.contact_problem().unwrap();
    assert_eq!(problem.size(), 1);
    assert!((problem.b()[0] + 0.25).abs() < 1e-12, "{:?}", problem.b());

    let (mut halves, other) = trap(0.004, 1);
    let report = halves.step(H).unwrap();
    assert_eq!((report.contacts.solve.halvings, report.h, report.time), (1, H, H));
    assert_eq!(report.counters.steps, 2);
    for _ in 0..2 {
        let one = s.step(0.5 * H).unwrap();
        assert_eq!(one.contacts.solve.halvings, 0);
    }
    assert_eq!(s.positions(particles), halves.positions(other));
    assert_eq!(s.velocities(particles), halves.velocities(other));
    // Uniform motion: 10 mm each.
    assert!((halves.positions(other)[3] - 0.01).abs() < 1e-15);
    assert!((halves.positions(other)[2] + 0.0025).abs() < 1e-15);
}

#[test]
fn a_half_that_fails_takes_the_step_back() {
    // The floor opens in the last eighth only, where the particle is through it: no half of a half
    // helps.
    let (mut s, _) = trap(0.009, 3);
    let before = s.checkpoint();
    let error = s.step(H).unwrap_err();
    assert!(matches!(error, Error::ContactsNotConverged { .. }), "{error}");
    let after = s.checkpoint();
    assert_eq!((after.time, &after.state), (before.time, &before.state));
    // What failed can be looked at and sent to others, until the next step is tried.
    assert!(s.contact_problem().is_some_and(|p| p.size() == 1));

    s.options.contacts.halvings = 21;
    let error = s.step(H).unwrap_err();
    assert!(error.to_string().contains("halvings"), "{error}");
}

/// A trap that makes the step fail and its halves not; a particle that slides and overlaps by 1 mm;
/// one whose fall nobody predicts; and a pendulum.
#[derive(Debug)]
struct Busy(Trap);

impl Busy {
    fn push(&self, e: usize, x: &[f64], out: &mut ContactList) {
        let law = ContactLaw {
            friction: 0.5,
            ..ContactLaw::default()
        };
        let contact = Contact {
            key: ContactKey(0, e as u64),
            point: [x[3 * e], x[3 * e + 1], 0.0],
            normal: [0.0, 0.0, 1.0],
            gap: x[3 * e + 2],
            law,
            sides: [0, e as u32],
        };
        let support = Support {
            node: self.0.particles,
            element: e,
            weight: 1.0,
            arm: [0.0; 3],
        };
        out.push(contact, [], [support]);
    }
}

impl ContactFinder for Busy {
    fn nodes(&self) -> Vec<NodeId> {
        self.0.nodes()
    }

    fn find(&mut self, m: &Model, s: &State, h: f64, out: &mut ContactList) -> Result<(), Error> {
        self.0.find(m, s, h, out)?;
        let x = m.positions(s, self.0.particles);
        self.push(2, x, out);
        if x[11] < 1e-3 {
            self.push(3, x, out);
        }
        Ok(())
    }

    fn find_missed(&mut self, m: &Model, s: &State, h: f64, out: &mut ContactList) -> Result<(), Error> {
        let (x, v) = (
            m.positions(s, self.0.particles),
            m.velocities(s, self.0.particles),
        );
        if x[11] + h * v[11] < -1e-9 {
            self.push(3, x, out);
        }
        Ok(())
    }
}

fn busy(halvings: usize) -> (Simulation, NodeId) {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let start = [
        [0.0, 0.0, 0.0075],
        [0.0, 1.0, 0.0],
        [0.0, 2.0, -0.001],
        [0.0, 3.0, 0.02],
        [0.6, 4.0, -0.8],
    ];
    let particles = model.add_particles("particles", &start).unwrap();
    model.add_mass("mass", particles, Mass::Uniform(1.0)).unwrap();
    let rod = [(End::element(0, 4), End::Point([0.0, 4.0, 0.0]))];
    let length = model
        .add_mapped(
            "length",
            &[particles],
            Distance::new(&rod).with_rest_lengths(&[1.0]),
        )
        .unwrap();
    model.add_constraint("rod", length, Level::Position).unwrap();
    let mut options = Options::theta();
    options.contacts.halvings = halvings;
    let mut s = Simulation::with_options(model, options).unwrap();
    let mut state = s.state().clone();
    state.velocities[..3].copy_from_slice(&[0.0, 0.0, -1.0]);
    state.velocities[3..6].copy_from_slice(&[1.0, 0.0, 0.0]);
    state.velocities[6..9].copy_from_slice(&[0.0, 1.0, 0.0]);
    state.velocities[9..12].copy_from_slice(&[0.0, 0.0, -5.0]);
    state.velocities[12..15].copy_from_slice(&[4.0, 0.0, 3.0]);
    s.set_state(&state).unwrap();
    s.hold(particles, 0, &[true, false, true], &[0.0, 0.0, -1.0])
        .unwrap();
    let open = 0.004;
    s.set_contacts(Busy(Trap { particles, open })).unwrap();
    (s, particles)
}

/// The report of a step in halves is that of both: sums, and the larger residual. The step that
/// failed has left nothing behind.
#[test]
fn a_report_of_halves_is_that_of_both() {
    let (mut halves, particles) = busy(1);
    let whole = halves.step(H).unwrap();
    assert_eq!(whole.contacts.solve.halvings, 1);
    let (mut after_failure, _) = busy(0);
    after_failure.step(H).unwrap_err();
    let (mut fresh, _) = busy(0);
    let both = [fresh.step(0.5 * H).unwrap(), fresh.step(0.5 * H).unwrap()];
    for _ in 0..2 {
        after_failure.step(0.5 * H).unwrap();
    }
    for s in [&halves, &after_failure] {
        assert_eq!(s.positions(particles), fresh.positions(particles));
        assert_eq!(s.velocities(particles), fresh.velocities(particles));
    }
    type Part = fn(&StepReport) -> f64;
    let sums: [(&str, Part); 8] = [
        ("iterations", |r| r.contacts.solve.iterations as f64),
        ("missed", |r| r.contacts.missed as f64),
        ("corrections", |r| r.contacts.corrections.count as f64),
        ("lifted", |r| r.contacts.corrections.lifted),
        ("paid", |r| r.contacts.corrections.paid),
        ("work", |r| r.contacts.work),
        ("friction", |r| r.ledger.friction),
        ("numerical", |r| r.ledger.numerical),
    ];
    for (name, part) in sums {
        let [first, second] = [&both[0], &both[1]].map(part);
        assert!(first != 0.0, "{name}: a sum of nothing");
        assert_eq!(part(&whole), first + second, "{name}");
    }
    let largest: [(&str, Part); 2] = [
        ("residual", |r| r.contacts.residual),
        ("de Saxcé's", |r| r.contacts.de_saxce),
    ];
    for (name, part) in largest {
        let [first, second] = [&both[0], &both[1]].map(part);
        assert_eq!(part(&whole), first.max(second), "{name}");
    }
    // The particle that overlapped.
    assert_eq!(both[0].contacts.corrections.lifted_by, Some([0, 2]));
    assert_eq!(whole.contacts.corrections.lifted_by, Some([0, 2]));
}
