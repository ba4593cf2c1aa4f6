//! Limits and ropes: what starts beyond them comes back by a displacement that is no velocity, and
//! what arrives at them does not bounce, whatever the weights and the length of the step.

use pliant::contact::*;
use pliant::kkt::Support;
use pliant::prelude::*;

const MASS: f64 = 2.0;
const G: f64 = 9.81;

/// Methods and weights that take bounded rows.
fn methods() -> impl Iterator<Item = Options> {
    let weights = [(1.0, 1.0), (0.5, 0.5), (0.7, 0.6)];
    let methods = [Integrator::Theta, Integrator::Nonlinear];
    methods.into_iter().flat_map(move |integrator| {
        let integrator = integrator.clone();
        weights.map(|(alpha, beta)| Options {
            integrator: integrator.clone(),
            alpha,
            beta,
            ..Options::default()
        })
    })
}

/// The default and the linear step, each with the standard choices.
fn both() -> [Options; 2] {
    [Options::default(), Options::theta()]
}

/// A slider on the vertical at `x` with the velocity `v`, and its limit below, at zero.
fn slider(x: f64, v: f64, gravity: f64, options: Options) -> (Simulation, NodeId) {
    let mut m = Model::new();
    let p = m.add_independent("p", Space::Real(1), &[x], &[v]).unwrap();
    m.add_mass("m", p, Mass::Uniform(MASS)).unwrap();
    m.add_force_field(
        "weight",
        p,
        ConstantForce::new(&[-MASS * gravity]),
        Treatment::Stiffness,
    )
    .unwrap();
    let limit = m.add_constraint("limit", p, Level::Position).unwrap();
    m.set_bounds(limit, 0.0, f64::INFINITY).unwrap();
    (Simulation::with_options(m, options).unwrap(), p)
}

/// A particle at `x` with the velocity `v` on a rope from the origin.
fn rope(x: [f64; 3], v: [f64; 3], length: f64, options: Options) -> (Simulation, NodeId) {
    let (m, p) = rope_model(x, v, length);
    (Simulation::with_options(m, options).unwrap(), p)
}

/// The model of [`rope`].
fn rope_model(x: [f64; 3], v: [f64; 3], length: f64) -> (Model, NodeId) {
    let mut m = Model::new();
    let p = m.add_independent("p", Space::Real(3), &x, &v).unwrap();
    m.add_mass("m", p, Mass::Uniform(MASS)).unwrap();
    let d = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[length]);
    let d = m.add_mapped("d", &[p], d).unwrap();
    let rope = m.add_constraint("rope", d, Level::Position).unwrap();
    m.set_bounds(rope, f64::NEG_INFINITY, 0.0).unwrap();
    (m, p)
}

/// Half a metre beyond its limit at 1 m/s: there after half a second, without a joule on the way.
#[test]
fn a_slider_beyond_its_limit_comes_back_without_energy() {
    for options in methods() {
        for h in [0.01, 0.001, 1e-4] {
            let (mut s, p) = slider(-0.5, 0.0, 0.0, options.clone());
            let steps = (0.5 / h + 3.0) as usize;
            for k in 1..=steps {
                let report = s.step(h).unwrap();
                let name = format!("{} {} {h} {k}", options.integrator.name(), options.beta);
                assert_eq!(report.energies.kinetic, 0.0, "{name}");
                assert!(report.ledger.entries().iter().all(|e| e.1 == 0.0), "{name}");
                let exact = (h * k as f64 - 0.5).min(0.0);
                assert!((s.positions(p)[0] - exact).abs() < 1e-12, "{name}");
            }
        }
    }
}

/// Against gravity it hangs at its limit's force while it rises at the speed that is asked for; the
/// ledger has what that lifts, `m g d` in all.
#[test]
fn what_recovery_lifts_is_booked() {
    for options in methods() {
        for (h, speed) in [(0.01, 1.0), (0.005, 0.4), (0.001, 1.0)] {
            let mut options = options.clone();
            options.contacts.overlap = Overlap::Correct { allowed: 1e-9, speed };
            let (mut s, p) = slider(-0.2, 0.0, G, options);
            let mut lifted = 0.0;
            let steps = (0.2 / (speed * h)).round() as usize;
            for k in 1..=steps + 2 {
                let report = s.step(h).unwrap();
                assert!(s.velocities(p)[0].abs() < 1e-14, "{h} {speed} {k}");
                assert!((s.multipliers()[0] - MASS * G).abs() < 1e-10);
                let exact = (speed * h * k as f64 - 0.2).min(0.0);
                assert!((s.positions(p)[0] - exact).abs() < 1e-12, "{h} {speed} {k}");
                lifted += report.ledger.corrections;
                assert_eq!(report.ledger.corrections, report.contacts.corrections.lifted);
                assert!(report.ledger.impacts.abs() < 1e-12 && report.ledger.numerical.abs() < 1e-12);
            }
            assert!((lifted - MASS * G * 0.2).abs() < 1e-10, "{lifted}");
        }
    }
}

/// A rope that is too short pulls nobody: at rest there is no energy, and of what moves across it
/// none is gained while the rope is reeled in by half.
#[test]
fn a_rope_that_is_too_short_gives_no_energy() {
    for options in methods() {
        for h in [0.01, 0.001] {
            let (mut s, p) = rope([0.6, 0.8, 0.0], [0.0; 3], 0.5, options.clone());
            for _ in 0..(0.5 / h) as usize + 3 {
                let report = s.step(h).unwrap();
                assert_eq!(report.energies.kinetic, 0.0);
            }
            let [x, y, _] = s.positions(p) else { unreachable!() };
            assert!((x - 0.3).abs() < 1e-9 && (y - 0.4).abs() < 1e-9, "{x} {y}");

            let (mut s, p) = rope([1.0, 0.0, 0.0], [0.0, 0.5, 0.0], 0.5, options.clone());
            let mut energy = 0.5 * MASS * 0.25;
            for _ in 0..(1.0 / h) as usize {
                let report = s.step(h).unwrap();
                // The velocity that takes curvature back comes and goes by a share (h v/l)^2.
                assert!(report.energies.kinetic < energy * (1.0 + h * h), "{h}");
                energy = energy.min(report.energies.kinetic);
            }
            let l = s.positions(p)[0].hypot(s.positions(p)[1]);
            assert!((l - 0.5).abs() < h * h, "{l}");
        }
    }
}

/// A fall of half a metre ends at rest: the limit takes `m g d`, with what the scheme takes and
/// corrections give.
#[test]
fn a_fall_onto_a_limit_ends_there() {
    for options in methods() {
        for h in [0.0125, 0.01, 0.007, 0.005, 0.003, 0.0013] {
            let (mut s, p) = slider(0.5, 0.0, G, options.clone());
            let name = format!("{} {} {h}", options.integrator.name(), options.beta);
            let mut brought = 0.0;
            let mut elapsed = 0.0;
            while elapsed < 0.5 {
                let report = s.step(h).unwrap();
                elapsed += h;
                brought += report.ledger.impacts + report.ledger.corrections + report.ledger.numerical;
                // By sqrt(2 d/g) = 0.319 s it has arrived.
                assert!(
                    elapsed < 0.36 || report.energies.kinetic < 1e-12,
                    "{name} {elapsed}"
                );
                assert!(s.velocities(p)[0] < 1e-9, "{name} {elapsed}: it bounces");
            }
            assert!(s.positions(p)[0].abs() < 1e-6, "{name}: {:?}", s.positions(p));
            assert!((brought + MASS * G * 0.5).abs() < 1e-5, "{name}: {brought}");
            assert!((s.multipliers()[0] - MASS * G).abs() < 1e-9, "{name}");
        }
    }
}

/// While it stays taut, a rope is a rod to the bit with implicit Euler: what the curvature of the
/// motion leaves beyond comes back by the row of the next step.
#[test]
fn a_taut_rope_is_a_rod() {
    for integrator in [Integrator::Theta, Integrator::Nonlinear] {
        let swing = |bounded: bool| {
            let mut m = Model::new();
            m.set_gravity([0.0, -G, 0.0]).unwrap();
            let p = m.add_particles("p", &[[0.8, -0.6, 0.0]]).unwrap();
            m.add_mass("m", p, Mass::Uniform(MASS)).unwrap();
            let d = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
            let d = m.add_mapped("d", &[p], d).unwrap();
            let row = m.add_constraint("rope", d, Level::Position).unwrap();
            if bounded {
                m.set_bounds(row, f64::NEG_INFINITY, 0.0).unwrap();
            }
            let options = Options {
                integrator: integrator.clone(),
                ..Options::default()
            };
            let mut s = Simulation::with_options(m, options).unwrap();
            let mut way = Vec::new();
            for _ in 0..150 {
                let report = s.step(0.01).unwrap();
                assert_eq!(report.contacts.corrections.count, 0);
                way.extend_from_slice(s.positions(p));
            }
            way
        };
        for (a, b) in swing(true).iter().zip(&swing(false)) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}

/// A limit that is set behind a spring at rest: recovery brings in what the spring stores.
#[test]
fn recovery_against_a_spring_is_booked() {
    for options in both() {
        let (stiffness, far) = (300.0, 0.1);
        for treatment in [Treatment::Stiffness, Treatment::Compliance] {
            let mut m = Model::new();
            let p = m.add_scalars("p", &[0.0]).unwrap();
            m.add_mass("m", p, Mass::Uniform(MASS)).unwrap();
            let spring = UniformCompliance::from_stiffness(stiffness);
            m.add_force_field("spring", p, spring, treatment).unwrap();
            let limit = m.add_constraint("limit", p, Level::Position).unwrap();
            m.set_motion(limit, Some(PrescribedMotion::constant(&[far])))
                .unwrap();
            m.set_bounds(limit, 0.0, f64::INFINITY).unwrap();
            let mut s = Simulation::with_options(m, options.clone()).unwrap();
            let mut brought = 0.0;
            for _ in 0..13 {
                let report = s.step(0.01).unwrap();
                assert!(report.energies.kinetic < 1e-20, "{report:?}");
                brought += report.ledger.corrections;
            }
            assert!((s.positions(p)[0] - far).abs() < 1e-12);
            assert!((brought - 0.5 * stiffness * far * far).abs() < 1e-10, "{brought}");
        }
    }
}

/// A recovery that is interrupted goes on to the bit.
#[test]
fn a_recovery_goes_on_from_a_checkpoint() {
    for options in both() {
        let (mut s, p) = slider(-0.5, 0.0, G, options.clone());
        for _ in 0..7 {
            s.step(0.01).unwrap();
        }
        let middle = s.checkpoint();
        let finish = |s: &mut Simulation| {
            for _ in 0..50 {
                s.step(0.01).unwrap();
            }
            (s.positions(p)[0], s.checkpoint())
        };
        let once = finish(&mut s);
        let (mut other, _) = slider(-0.5, 0.0, G, options);
        other.restore(&middle).unwrap();
        assert_eq!(once, finish(&mut other));
        assert!(once.0.abs() < 1e-9);
    }
}

/// Where overlap is kept a limit keeps what is beyond, and where rows take it back they give the
/// velocity that was asked for.
#[test]
fn limits_follow_the_treatment_of_overlap() {
    for standard in both() {
        let with = |overlap| {
            let mut options = standard.clone();
            options.contacts.overlap = overlap;
            let (mut s, p) = slider(-0.5, 0.0, G, options);
            s.step(0.01).unwrap();
            (s.positions(p)[0], s.velocities(p)[0])
        };
        assert_eq!(with(Overlap::Keep), (-0.5, 0.0));
        let rows = Overlap::Rows {
            rate: 10.0,
            speed: 2.0,
        };
        let (x, v) = with(rows);
        assert!((v - 2.0).abs() < 1e-12 && (x + 0.48).abs() < 1e-12, "{x} {v}");
    }
}

/// Particle 1 on particle 0, along z.
#[derive(Debug)]
struct Stack(NodeId);

impl ContactFinder for Stack {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }

    fn find(&mut self, model: &Model, state: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let x = model.positions(state, self.0);
        let support = |element| Support {
            node: self.0,
            element,
            weight: 1.0,
            arm: [0.0; 3],
        };
        let contact = Contact {
            key: ContactKey(0, 0),
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
            gap: x[5] - x[2],
            law: ContactLaw::default(),
            sides: [0, 1],
        };
        out.push(contact, [support(0)], [support(1)]);
        Ok(())
    }
}

/// Overlap of two particles of which the lower one stands at its limit, or near it: the upper one
/// makes all of the way that is left, where both would make half of it.
#[test]
fn corrections_of_overlap_stop_at_limits() {
    for options in both() {
        for (room, down) in [(0.0, 0.0), (0.002, 0.002), (1.0, 0.003)] {
            let mut m = Model::new();
            let heights = [0.0, 0.0, room, 0.0, 0.0, room - 0.006];
            let p = m
                .add_independent("p", Space::Real(3), &heights, &[0.0; 6])
                .unwrap();
            m.add_mass("m", p, Mass::Uniform(MASS)).unwrap();
            let d = Distance::to_points(&[(0, [0.0, 0.0, -1.0])]).with_rest_lengths(&[1.0]);
            let d = m.add_mapped("d", &[p], d).unwrap();
            let limit = m.add_constraint("limit", d, Level::Position).unwrap();
            m.set_bounds(limit, 0.0, f64::INFINITY).unwrap();
            let mut s = Simulation::with_options(m, options.clone()).unwrap();
            s.set_contacts(Stack(p)).unwrap();
            let report = s.step(0.01).unwrap();
            let (low, high) = (s.positions(p)[2], s.positions(p)[5]);
            assert!(
                (low - (room - down)).abs() < 1e-9 && (high - low).abs() < 1e-9,
                "{room}: {low} {high}"
            );
            assert_eq!(
                (report.contacts.corrections.unsolved, report.energies.kinetic),
                (0, 0.0)
            );
        }
    }
}

/// A body that hangs from two ropes of which one starts too short, under a limit that it starts
/// beyond: all come back at once, and it ends at rest where they hold.
#[test]
fn several_rows_come_back_together() {
    for integrator in [Integrator::Theta, Integrator::Nonlinear, Integrator::Sdirk2] {
        let mut m = Model::new();
        m.set_gravity([0.0, -G, 0.0]).unwrap();
        let p = m.add_particles("p", &[[0.0, -1.2, 0.0]]).unwrap();
        m.add_mass("m", p, Mass::Uniform(MASS)).unwrap();
        let anchors = [(0, [-0.6, 0.0, 0.0]), (0, [0.6, 0.0, 0.0]), (0, [0.0, 2.0, 0.0])];
        let d = Distance::to_points(&anchors).with_rest_lengths(&[1.0, 1.0, 3.1]);
        let d = m.add_mapped("d", &[p], d).unwrap();
        let ropes = m.add_constraint("ropes", d, Level::Position).unwrap();
        m.set_bounds(ropes, f64::NEG_INFINITY, 0.0).unwrap();
        let options = Options {
            integrator,
            ..Options::default()
        };
        let mut s = Simulation::with_options(m, options).unwrap();
        let mut energy = -MASS * G * 1.2;
        let mut brought = 0.0;
        for _ in 0..60 {
            let report = s.step(0.01).unwrap();
            brought += report.ledger.corrections;
            assert!(report.energies.kinetic < 1e-12, "{report:?}");
            energy = report.energies.total();
        }
        let x = s.positions(p);
        assert!(x[0].abs() < 1e-9 && (x[1] + 0.8).abs() < 1e-6, "{x:?}");
        // 0.8 below, both ropes carry half of the weight over 0.8; the third is slack.
        for (found, exact) in s
            .multipliers()
            .iter()
            .zip([-0.625 * MASS * G, -0.625 * MASS * G, 0.0])
        {
            assert!((found - exact).abs() < 1e-4, "{:?}", s.multipliers());
        }
        assert!((energy - MASS * G * x[1]).abs() < 1e-9);
        assert!((brought - MASS * G * (x[1] + 1.2)).abs() < 1e-9, "{brought}");
    }
}

/// Free fall from (0.7, 0, 0) onto a rope of a metre, which takes the velocity along itself at
/// `t = (2 sqrt(0.51)/g)^(1/2)`: what is left swings as a pendulum, by two stages in every step but
/// that of the impact, and so keeps its energy. The swing after it is of order 2, the impact of
/// order 1 in what it takes.
#[test]
fn a_rope_that_stops_a_fall_swings_on_by_two_stages() {
    let depth = 0.51f64.sqrt();
    let along = (2.0 * G * depth).sqrt() * depth;
    let taken = 0.5 * MASS * along * along;
    let mut missing = Vec::new();
    for h in [0.01, 0.005] {
        let mut m = rope_model([0.7, 0.0, 0.0], [0.0; 3], 1.0).0;
        m.set_gravity([0.0, 0.0, -G]).unwrap();
        let mut sim = Simulation::new(m).unwrap();
        let mut ledger = Ledger::default();
        let (mut single, mut swing) = (0, 0.0);
        while sim.time() < 3.0 - 0.5 * h {
            let report = sim.step(h).unwrap();
            single += usize::from(report.solve.stages == 1);
            ledger += report.ledger;
            if sim.time() > 0.5 {
                swing += report.ledger.numerical;
            }
        }
        assert_eq!(single, 1, "steps of {h} s by one stage");
        // Of the 13.7 J that swing, at 3 rad/s: a share of (w h)^3/100 in each of 250 steps.
        assert!(swing.abs() < 1e-3 * (h / 0.01f64).powi(2), "{swing} J at {h} s");
        missing.push(-ledger.impacts / taken - 1.0);
    }
    // An impact falls anywhere in its step, at a velocity that is off by up to `g h` of 3.7 m/s.
    assert!(missing.iter().all(|m| m.abs() < 0.06), "{missing:?}");
}
