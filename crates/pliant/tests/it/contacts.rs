//! Contacts and friction of points of bodies on a plane, against closed forms.

mod compliant;
mod couplings;
mod directions;
mod foundation;
mod foundation_meshes;
mod halves;
mod hertz;
mod impacts;
mod joined;
mod poisson;
mod pressure;
mod spin;
mod viscous;

use pliant::contact::*;
use pliant::kkt::Support;
use pliant::prelude::*;

/// Points of bodies (or particles) over the plane `z = 0`.
#[derive(Debug, Clone)]
struct Floor {
    /// Node, element, point in body axes.
    points: Vec<(NodeId, usize, [f64; 3])>,
    law: ContactLaw,
    /// Points that are this far away are none.
    margin: f64,
}

impl Floor {
    fn new(points: Vec<(NodeId, usize, [f64; 3])>, friction: f64) -> Self {
        Self {
            points,
            law: ContactLaw {
                friction,
                ..ContactLaw::default()
            },
            margin: 0.05,
        }
    }
}

impl ContactFinder for Floor {
    fn nodes(&self) -> Vec<NodeId> {
        self.points.iter().map(|p| p.0).collect()
    }

    fn find(
        &mut self,
        model: &Model,
        state: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<(), Error> {
        for (k, (node, element, local)) in self.points.iter().enumerate() {
            let x = model.positions(state, *node);
            let body = model.node(*node).space == Space::Rigid3;
            let (p, arm) = if body {
                let x = &x[7 * element..][..7];
                let turned = pliant::dense::rotation::rotate(
                    [x[3], x[4], x[5], x[6]],
                    pliant::dense::Vec3::from(*local),
                );
                ([x[0] + turned.x, x[1] + turned.y, x[2] + turned.z], turned.into())
            } else {
                let x = &x[3 * element..][..3];
                ([x[0], x[1], x[2]], [0.0; 3])
            };
            if p[2] > self.margin + 20.0 * horizon {
                continue;
            }
            let support = Support {
                node: *node,
                element: *element,
                weight: 1.0,
                arm,
            };
            out.push(
                Contact {
                    key: ContactKey(0, k as u64),
                    point: p,
                    normal: [0.0, 0.0, 1.0],
                    gap: p[2],
                    law: self.law,
                    sides: [0, k as u32],
                },
                [],
                [support],
            );
        }
        Ok(())
    }
}

/// The lowest point of a ball of 0.1 m over the plane `z = 0`.
#[derive(Debug)]
struct Ball(NodeId, ContactLaw);

impl ContactFinder for Ball {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }
    fn find(&mut self, m: &Model, s: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let x = m.positions(s, self.0);
        let contact = Contact {
            key: ContactKey(0, 0),
            point: [x[0], x[1], 0.0],
            normal: [0.0, 0.0, 1.0],
            gap: x[2] - 0.1,
            law: self.1,
            sides: [0, 1],
        };
        let support = Support {
            node: self.0,
            element: 0,
            weight: 1.0,
            arm: [0.0, 0.0, -0.1],
        };
        out.push(contact, [], [support]);
        Ok(())
    }
}

/// Gravity of a plane that falls along x by an angle.
fn slope(angle: f64) -> [f64; 3] {
    [9.81 * angle.sin(), 0.0, -9.81 * angle.cos()]
}

fn exactly() -> Options {
    let mut options = Options::theta();
    options.contacts.accuracy = 1e-13;
    options
}

/// A particle on the plane, on the slope of an angle, with a velocity.
fn particle(angle: f64, law: ContactLaw, position: [f64; 3], velocity: [f64; 3]) -> (Simulation, NodeId) {
    thrown(slope(angle), law, position, velocity)
}

fn thrown(
    gravity: [f64; 3],
    law: ContactLaw,
    position: [f64; 3],
    velocity: [f64; 3],
) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity(gravity).unwrap();
    let p = m.add_particles("block", &[position]).unwrap();
    m.add_mass("mass", p, Mass::Uniform(2.0)).unwrap();
    let mut s = Simulation::with_options(m, exactly()).unwrap();
    let mut state = s.state().clone();
    state.velocities.copy_from_slice(&velocity);
    s.set_state(&state).unwrap();
    let mut floor = Floor::new(vec![(p, 0, [0.0; 3])], 0.0);
    floor.law = law;
    s.set_contacts(floor).unwrap();
    (s, p)
}

fn friction(friction: f64) -> ContactLaw {
    ContactLaw {
        friction,
        ..ContactLaw::default()
    }
}

/// Case D01.
#[test]
fn a_block_sticks_below_the_angle_of_friction_and_slides_above() {
    let (h, n) = (0.01, 100);
    let critical = 0.5f64.atan();
    let (mut s, p) = particle(critical - 1e-3, friction(0.5), [0.0; 3], [0.0; 3]);
    for _ in 0..n {
        let report = s.step(h).unwrap();
        assert_eq!((report.contacts.active, report.contacts.slipping), (1, 0));
    }
    let x = s.positions(p);
    assert!(x[0].abs() < 1e-12 && x[2].abs() < 1e-12, "{x:?}");
    let force = s.contacts()[0].impulse.map(|r| r / h);
    let angle = critical - 1e-3;
    // Statics.
    assert!((force[2] - 2.0 * 9.81 * angle.cos()).abs() < 1e-11);
    assert!((force[0] + 2.0 * 9.81 * angle.sin()).abs() < 1e-11);

    let angle = critical + 1e-3;
    let (mut s, p) = particle(angle, friction(0.5), [0.0; 3], [0.0; 3]);
    for _ in 0..n {
        let report = s.step(h).unwrap();
        assert_eq!(report.contacts.slipping, 1);
    }
    let a = 9.81 * (angle.sin() - 0.5 * angle.cos());
    let expected = a * h * h * f64::from(n * (n + 1)) / 2.0;
    assert!((expected - 0.005_538_795_358_834).abs() < 1e-14);
    assert!((s.positions(p)[0] - expected).abs() < 1e-12);
}

/// Case D01, flat: `v` falls by `mu g h` per step until it is zero.
#[test]
fn a_sliding_block_stops() {
    let (mut s, p) = particle(0.0, friction(0.5), [0.0; 3], [3.0, 0.0, 0.0]);
    let mut dissipated = 0.0;
    for _ in 0..100 {
        dissipated -= s.step(0.01).unwrap().contacts.work;
    }
    assert!((s.positions(p)[0] - 0.902_464_5).abs() < 1e-12);
    assert_eq!(s.contacts()[0].state, ContactState::Sticking);
    // All of the kinetic energy went into friction: m = 2 kg, v = 3 m/s.
    assert!((dissipated - 9.0).abs() < 1e-11, "{dissipated}");
}

/// The direction of sliding is that of gravity, whatever the axes (no pyramid).
#[test]
fn sliding_is_isotropic() {
    for k in 0..24 {
        let turn = 0.27 * f64::from(k);
        let g = slope(0.6);
        let gravity = [g[0] * turn.cos(), g[0] * turn.sin(), g[2]];
        let (mut s, p) = thrown(gravity, friction(0.3), [0.0; 3], [0.0; 3]);
        for _ in 0..10 {
            s.step(0.01).unwrap();
        }
        let v = s.velocities(p);
        let expected = 10.0 * 0.01 * (g[0] + 0.3 * g[2]);
        assert!((v[0] - expected * turn.cos()).abs() < 1e-12, "{k}");
        assert!((v[1] - expected * turn.sin()).abs() < 1e-12, "{k}");
    }
}

/// Case D02.
#[test]
fn a_ball_bounces_to_the_heights_of_newtons_law() {
    let law = ContactLaw {
        restitution: 0.8,
        ..ContactLaw::default()
    };
    for h in [1e-3, 5e-4, 2.5e-4] {
        let (mut s, p) = particle(0.0, law, [0.0, 0.0, 1.0], [0.0; 3]);
        let (mut apexes, mut before) = (Vec::new(), (1.0, 0.0));
        while apexes.len() < 3 {
            s.step(h).unwrap();
            let (z, v) = (s.positions(p)[2], s.velocities(p)[2]);
            if before.1 > 0.0 && v <= 0.0 {
                apexes.push(before.0);
            }
            before = (z, v);
        }
        // The impact is taken up to a step early: an error of one step's way per bounce.
        let allowed = 3.0 * h * (2.0f64 * 9.81).sqrt();
        for (k, (apex, exact)) in apexes.iter().zip([0.64, 0.4096, 0.262_144]).enumerate() {
            let error = (apex - exact).abs();
            assert!(error < allowed * (k + 1) as f64, "h {h}, apex {k}: {error}");
        }
    }
    // Without gravity: exactly e v.
    let (mut s, p) = thrown([0.0; 3], law, [0.0, 0.0, 0.001], [0.0, 0.0, -2.0]);
    let report = s.step(0.01).unwrap();
    assert!((s.velocities(p)[2] - 1.6).abs() < 1e-14);
    assert!((report.contacts.work - (1.6f64.powi(2) - 4.0)).abs() < 1e-13);
}

/// Without restitution the open gap just closes: nothing gets through however fast, and nothing
/// stops above.
#[test]
fn a_speculative_contact_just_closes() {
    for speed in [0.3, 3.0, 2000.0] {
        let (mut s, p) = particle(0.0, friction(0.0), [0.0, 0.0, 0.02], [0.0, 0.0, -speed]);
        let mut lowest = f64::INFINITY;
        for _ in 0..20 {
            s.step(0.01).unwrap();
            lowest = lowest.min(s.positions(p)[2]);
        }
        assert!(lowest.abs() < 1e-12 * speed.max(1.0), "{speed}: {lowest}");
        assert!(s.velocities(p)[2].abs() < 1e-11);
    }
}

/// A compliant contact under a weight: `phi = -C m g`, and its damped oscillation dies out.
#[test]
fn a_compliant_contact_settles_at_its_law() {
    let law = ContactLaw {
        compliance: 1e-4,
        relaxation_time: 2e-3,
        ..ContactLaw::default()
    };
    let (mut s, p) = particle(0.0, law, [0.0; 3], [0.0; 3]);
    for _ in 0..500 {
        s.step(0.01).unwrap();
    }
    let expected = -1e-4 * 2.0 * 9.81;
    assert!((s.positions(p)[2] - expected).abs() < 1e-11);
    assert!((s.contacts()[0].impulse[2] / 0.01 - 19.62).abs() < 1e-7);
}

/// One step of a damped compliant contact in overlap: `m (v+ - v) = -m g h + r`,
/// `r = -h (phi+ + d v+)/C`, `phi+ = phi + h (beta v+ + (1 - beta) v)`.
#[test]
fn a_step_of_a_compliant_contact_is_its_implicit_law() {
    let (m, c, d, h, phi, v) = (2.0, 1e-4, 2e-3, 0.01, -1e-3, -0.5);
    for beta in [1.0, 0.5] {
        let law = ContactLaw {
            compliance: c,
            relaxation_time: d,
            ..ContactLaw::default()
        };
        let (mut s, p) = particle(0.0, law, [0.0, 0.0, phi], [0.0, 0.0, v]);
        s.options.beta = beta;
        s.step(h).unwrap();
        let pushed = m * v - m * 9.81 * h - h / c * (phi + h * (1.0 - beta) * v);
        let expected = pushed / (m + h / c * (h * beta + d));
        assert!((s.velocities(p)[2] - expected).abs() < 1e-12, "{beta}");
    }
}

/// The gap `g` closes by the positions of the step, `g + h (beta v+ + (1 - beta) v) = 0`, whatever
/// the weight of its end, as long as nothing has to come back for that: what would end above zero,
/// where `g < h (1 - beta) |v|`, stops, and is as much too deep until its overlap is taken back.
#[test]
fn a_speculative_contact_closes_by_the_positions_of_the_scheme() {
    let (h, v): (f64, f64) = (0.01, -1.0);
    for (beta, gap) in [
        (1.0, 0.002),
        (0.75, 0.004),
        (0.5, 0.006),
        (0.75, 0.002),
        (0.5, 0.002),
    ] {
        for overlap in [Overlap::Keep, ContactOptions::default().overlap] {
            let (mut s, p) = particle(0.0, friction(0.0), [0.0, 0.0, gap], [0.0, 0.0, v]);
            s.options.beta = beta;
            s.options.contacts.overlap = overlap;
            s.step(h).unwrap();
            let deep = if overlap == Overlap::Keep {
                (gap + h * (1.0 - beta) * v).min(0.0)
            } else {
                0.0
            };
            let end = (-(gap / h + (1.0 - beta) * v) / beta).min(0.0);
            let found = (s.positions(p)[2], s.velocities(p)[2]);
            assert!((found.0 - deep).abs() < 1e-14, "{beta} {gap}: {found:?}");
            assert!((found.1 - end).abs() < 1e-12, "{beta} {gap}: {found:?}");
        }
    }
}

/// A body on the floor: `contacts` in body axes.
fn body(
    angle: f64,
    mass: RigidMass,
    height: f64,
    contacts: &[[f64; 3]],
    law: ContactLaw,
    velocity: [f64; 3],
) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity(slope(angle)).unwrap();
    let pose = Pose {
        position: [0.0, 0.0, height],
        rotation: [1.0, 0.0, 0.0, 0.0],
    };
    let b = m.add_rigid_bodies("body", &[pose]).unwrap();
    m.add_mass("mass", b, Mass::Rigid(vec![mass])).unwrap();
    m.set_body_velocity(b, 0, velocity, [0.0; 3]).unwrap();
    let mut s = Simulation::with_options(m, exactly()).unwrap();
    let mut floor = Floor::new(contacts.iter().map(|c| (b, 0, *c)).collect(), 0.0);
    floor.law = law;
    s.set_contacts(floor).unwrap();
    (s, b)
}

fn box_mass(mass: f64, half: [f64; 3]) -> RigidMass {
    RigidMass::cuboid(mass, half.map(|x| 2.0 * x))
}

fn corners(a: f64, b: f64, height: f64) -> Vec<[f64; 3]> {
    vec![
        [a, b, -height],
        [-a, b, -height],
        [a, -b, -height],
        [-a, -b, -height],
    ]
}

/// Case D11: sliding down on four corners.
#[test]
fn a_box_slides_with_more_load_in_front() {
    let angle = 25f64.to_radians();
    let mass = box_mass(10.0, [0.5, 0.3, 0.2]);
    let (mut s, b) = body(angle, mass, 0.2, &corners(0.5, 0.3, 0.2), friction(0.3), [0.0; 3]);
    for _ in 0..5 {
        s.step(0.01).unwrap();
    }
    assert!((s.velocities(b)[0] - 0.073_931_066_521_37).abs() < 1e-10);
    let normal = |front: bool| -> f64 {
        let of = s
            .contacts()
            .iter()
            .filter(|c| (c.contact.point[0] > s.positions(b)[0]) == front);
        of.map(|c| c.impulse[2] / 0.01).sum()
    };
    assert!((normal(true) - 49.788_924_588_645).abs() < 1e-7);
    assert!((normal(false) - 39.119_869_319_65).abs() < 1e-7);
    let (force, torque) = s.contact_force(b, 0);
    let weight = 98.1 * angle.cos();
    for (f, expected) in force.iter().zip([-0.3 * weight, 0.0, weight]) {
        assert!((f - expected).abs() < 1e-8, "{force:?}");
    }
    // The box does not turn.
    assert!(torque.iter().all(|t| t.abs() < 1e-8), "{torque:?}");
    let along: f64 = s.contacts().iter().map(|c| c.impulse[0] / 0.01).sum();
    assert!((along + 26.672_638_172_488).abs() < 1e-7);
}

/// Case D11: tipping over the front edge at `tan(angle) = a/h_c`.
#[test]
fn a_tall_box_tips_at_the_angle_of_its_diagonal() {
    for (angle, omega) in [
        (0.4f64.atan() - 0.02, 0.0),
        (0.4f64.atan() + 0.02, 0.002_732_324_737_792),
    ] {
        let mass = box_mass(10.0, [0.2, 0.3, 0.5]);
        let (mut s, b) = body(angle, mass, 0.5, &corners(0.2, 0.3, 0.5), friction(0.8), [0.0; 3]);
        s.step(0.01).unwrap();
        let found = s.velocities(b)[4];
        assert!((found - omega).abs() < 1e-10, "{angle}: {found} {omega}");
    }
}

/// Case D08: a ball that slides comes to roll with 5/7 of its speed.
#[test]
fn a_sliding_ball_rolls() {
    let mass = RigidMass::sphere(1.0, 0.1);
    let (mut s, b) = body(0.0, mass, 0.1, &[], friction(0.2), [2.0, 0.0, 0.0]);
    s.set_contacts(Ball(b, friction(0.2))).unwrap();
    for _ in 0..100 {
        s.step(0.001).unwrap();
    }
    let (v, w) = s.world_velocity(b, 0).unwrap();
    assert!((v[0] - 1.8038).abs() < 1e-11, "{v:?}");
    assert!((w[1] - 4.905).abs() < 1e-11, "{w:?}");
    for _ in 0..300 {
        s.step(0.001).unwrap();
    }
    let (v, w) = s.world_velocity(b, 0).unwrap();
    assert!((v[0] - 10.0 / 7.0).abs() < 1e-11);
    assert!((w[1] - 100.0 / 7.0).abs() < 1e-10);
}

/// A box that begins 1 cm deep is lifted with at most the speed of recovery, and gets no velocity
/// from it.
#[test]
fn overlap_is_taken_back_without_energy() {
    let mass = box_mass(10.0, [0.5, 0.3, 0.2]);
    let (mut s, b) = body(0.0, mass, 0.19, &corners(0.5, 0.3, 0.2), friction(0.3), [0.0; 3]);
    s.options.contacts.overlap = Overlap::Correct {
        allowed: 1e-9,
        speed: 0.4,
    };
    let report = s.step(0.01).unwrap();
    assert!((s.positions(b)[2] - 0.194).abs() < 1e-12);
    assert!((report.contacts.overlap - 0.006).abs() < 1e-12);
    assert_eq!(report.contacts.corrections.count, 1);
    // 10 kg lifted by 4 mm.
    assert!((report.contacts.corrections.lifted - 10.0 * 9.81 * 0.004).abs() < 1e-9);
    let report = s.step(0.01).unwrap();
    assert!((s.positions(b)[2] - 0.198).abs() < 1e-12);
    assert_eq!(report.contacts.corrections.count, 1);
    for _ in 0..10 {
        s.step(0.01).unwrap();
        assert!(s.velocities(b).iter().all(|v| v.abs() < 1e-12));
    }
    assert!((s.positions(b)[2] - 0.2).abs() < 1e-9);
    // Kept, and by rows.
    let (mut s, b) = body(0.0, mass, 0.19, &corners(0.5, 0.3, 0.2), friction(0.3), [0.0; 3]);
    s.options.contacts.overlap = Overlap::Keep;
    s.step(0.01).unwrap();
    assert!((s.positions(b)[2] - 0.19).abs() < 1e-14);
    s.options.contacts.overlap = Overlap::Rows {
        rate: 50.0,
        speed: 0.3,
    };
    s.step(0.01).unwrap();
    // 50/s of 1 cm would be 0.5 m/s.
    assert!((s.velocities(b)[2] - 0.3).abs() < 1e-12);
}

/// Save and restore in the middle of an impact goes on bit for bit.
#[test]
fn contacts_go_on_from_a_checkpoint_bit_for_bit() {
    let law = ContactLaw {
        friction: 0.4,
        restitution: 0.3,
        viscous_friction: 0.5,
        ..ContactLaw::default()
    };
    let mass = box_mass(10.0, [0.5, 0.3, 0.2]);
    let (mut s, b) = body(0.3, mass, 0.35, &corners(0.5, 0.3, 0.2), law, [0.3, 0.2, -1.0]);
    s.options.contacts.accuracy = 1e-10;
    s.step(0.01).unwrap();
    let mut copy = None;
    for k in 0..60 {
        if k == 22 {
            copy = Some(s.checkpoint());
        }
        s.step(0.01).unwrap();
    }
    let end = s.positions(b).to_vec();
    let (mut t, _) = body(0.3, mass, 0.35, &corners(0.5, 0.3, 0.2), law, [0.3, 0.2, -1.0]);
    t.options = s.options.clone();
    let copy = copy.unwrap();
    t.restore(&copy).unwrap();
    assert_eq!(t.checkpoint(), copy);
    for _ in 22..60 {
        t.step(0.01).unwrap();
    }
    assert_eq!(t.positions(b), end);
    assert_eq!(t.contacts(), s.contacts());
}

/// Wrong output of a finder is an error, not a wrong step.
#[test]
fn contacts_that_make_no_sense_are_refused() {
    let run = |change: &dyn Fn(&mut ContactLaw)| {
        let mut law = friction(0.3);
        change(&mut law);
        let (mut s, _) = particle(0.0, law, [0.0; 3], [0.0; 3]);
        s.step(0.01).unwrap_err().to_string()
    };
    assert!(run(&|l| l.friction = -0.1).contains("the friction of a contact is -0.1"));
    assert!(run(&|l| l.friction = f64::NAN).contains("the friction of a contact is NaN"));
    assert!(run(&|l| l.restitution = 1.5).contains("the restitution of a contact is 1.5"));
    assert!(run(&|l| l.compliance = f64::INFINITY).contains("compliance"));
    assert!(run(&|l| l.relaxation_time = -1.0).contains("relaxation time"));
}

/// A finder that knows nothing of sleep lists what sleeps all the same: it is left out, also where
/// it overlaps.
#[test]
fn sleepers_of_any_finder_are_left_out() {
    for overlap in [
        Overlap::Keep,
        Overlap::Rows {
            rate: 1.0,
            speed: 1.0,
        },
        ContactOptions::default().overlap,
    ] {
        let (mut s, p) = particle(0.0, friction(0.5), [0.0, 0.0, -1e-4], [0.0; 3]);
        s.options.contacts.overlap = overlap;
        s.options.contacts.sleeping = Some(Sleeping {
            time: 0.0,
            ..Sleeping::default()
        });
        assert_eq!(s.step(1e-3).unwrap().contacts.sleep.asleep, 1);
        let held = s.positions(p).to_vec();
        for _ in 0..3 {
            let report = s.step(1e-3).unwrap();
            assert_eq!((report.contacts.count, report.contacts.corrections.count), (0, 0));
        }
        assert_eq!(s.positions(p), held);
    }
}
