//! Contacts that stay closed, and impacts.

use super::super::contacts::Slope;
use super::super::models::*;
use super::{Orders, halves};
use pliant::collision::{Collider, Placement, Shape, World};
use pliant::contact::*;
use pliant::kkt::Support;
use pliant::prelude::*;

/// A particle that slides on a rough plane, round a spring above it: the weight on the plane and
/// the direction of friction change all the time. The force of the contact is the mean of the
/// step, as of rows.
#[test]
fn a_contact_that_slides() {
    let (mass, friction, stiffness) = (2.0, 0.3, 30.0);
    // The spring of 1 m is held a metre above the plane.
    let pull = |x: f64, y: f64| {
        let length = (x * x + y * y + 1.0).sqrt();
        stiffness * (length - 1.0) / length
    };
    let rate = |s: &[f64; 4]| {
        let (pull, v) = (pull(s[0], s[1]), s[2].hypot(s[3]));
        let drag = friction * (mass * G - pull) / v;
        let along = |x: f64, v: f64| (-pull * x - drag * v) / mass;
        [s[2], s[3], along(s[0], s[2]), along(s[1], s[3])]
    };
    let end = runge_kutta([1.0, 0.0, 0.0, 2.0], 0.5, rate);
    let weight = mass * G - pull(end[0], end[1]);
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        let run = |h: f64| {
            let mut m = Model::new();
            m.set_gravity([0.0, -G, 0.0]).unwrap();
            let p = m
                .add_independent("p", Space::Real(3), &[1.0, 0.0, 0.0], &[0.0, 0.0, 2.0])
                .unwrap();
            m.add_mass("m", p, Mass::Uniform(mass)).unwrap();
            let length = Distance::to_points(&[(0, [0.0, 1.0, 0.0])]).with_rest_lengths(&[1.0]);
            let length = m.add_mapped("length", &[p], length).unwrap();
            let law = UniformCompliance::new(1.0 / stiffness);
            m.add_force_field("spring", length, law, treatment).unwrap();
            let mut s = Simulation::new(m).unwrap();
            let law = ContactLaw {
                friction,
                ..ContactLaw::default()
            };
            s.set_contacts(Slope(p, [0.0, 1.0, 0.0], law)).unwrap();
            for _ in 0..(0.5 / h).round() as usize {
                let report = s.step(h).unwrap();
                assert_eq!((report.solve.stages, report.contacts.slipping), (2, 1));
            }
            (s, p)
        };
        let (name, steps) = (format!("{treatment:?}"), halves(0.02, 5));
        let orders = Orders::find(&steps, |h| {
            let state = run(h).0.state().clone();
            let ([x, y], [u, v]) = (
                [0, 2].map(|k| state.positions[k]),
                [0, 2].map(|k| state.velocities[k]),
            );
            vec![
                ("position", distance(&[x, y], &end[..2])),
                ("velocity", distance(&[u, v], &end[2..])),
            ]
        });
        orders.check(&name, 2.0);
        let orders = Orders::find(&steps, |h| {
            let (s, p) = run(h);
            vec![("weight", (s.contact_force(p, 0).0[1] - weight).abs())]
        });
        orders.check(&name, 1.0);
    }
}

/// A ball that rolls to and fro on a plane, by a spring at its centre: `cos(w t)` with
/// `w^2 = k/(m + I/r^2)`, and the friction `(I/r^2) w^2` of the displacement.
#[test]
fn a_contact_that_rolls() {
    let (mass, radius, stiffness, start) = (2.0, 0.1, 50.0, 0.3);
    let rolling = 0.4 * mass;
    let w = f64::sqrt(stiffness / (mass + rolling));
    let (x, v) = (start * w.cos(), -start * w * w.sin());
    let run = |h: f64| {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -G]).unwrap();
        let ball = m
            .add_rigid_bodies("ball", &[Pose::at([start, 0.0, radius])])
            .unwrap();
        let inertia = RigidMass::principal(mass, [rolling * radius * radius; 3]);
        m.add_mass("mass", ball, Mass::Rigid(vec![inertia])).unwrap();
        let centre = RigidPoints::new(&[(0, [0.0; 3])]);
        let centre = m.add_mapped("centre", &[ball], centre).unwrap();
        let travel = Mask::new(&[(0, 0)]);
        let travel = m.add_mapped("travel", &[centre], travel).unwrap();
        let law = UniformCompliance::new(1.0 / stiffness);
        m.add_force_field("spring", travel, law, Treatment::Compliance)
            .unwrap();
        let mut world = World::new();
        let ground = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
        let ground = Collider::new("ground", ground, Placement::Fixed(Pose::default()));
        world.add(ground).unwrap();
        let place = Placement::Body {
            node: ball,
            element: 0,
            pose: Pose::default(),
        };
        let shape = Shape::ball(radius).unwrap();
        world.add(Collider::new("ball", shape, place)).unwrap();
        let mut s = Simulation::new(m).unwrap();
        s.set_contacts(world).unwrap();
        for _ in 0..(1.0 / h).round() as usize {
            let report = s.step(h).unwrap();
            let contacts = report.contacts;
            assert_eq!(
                (report.solve.stages, contacts.active, contacts.slipping),
                (2, 1, 0)
            );
        }
        (s, ball)
    };
    let steps = halves(0.04, 5);
    let orders = Orders::find(&steps, |h| {
        let (s, ball) = run(h);
        vec![
            ("position", (s.positions(ball)[0] - x).abs()),
            ("velocity", (s.velocities(ball)[0] - v).abs()),
            ("spin", (s.velocities(ball)[4] - v / radius).abs()),
        ]
    });
    orders.check("ball", 2.0);
    let orders = Orders::find(&steps, |h| {
        let (s, ball) = run(h);
        let friction = rolling * w * w * x;
        vec![("friction", (s.contact_force(ball, 0).0[0] - friction).abs())]
    });
    orders.check("ball", 1.0);
}

/// The inside of a ball of 1 m about the origin, for one particle.
#[derive(Debug)]
struct Bowl(NodeId, f64);

impl ContactFinder for Bowl {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }

    fn find(&mut self, m: &Model, s: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let x = m.positions(s, self.0).as_chunks::<3>().0[0];
        let away = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let contact = Contact {
            key: ContactKey(0, 0),
            point: x,
            normal: x.map(|x| -x / away),
            gap: 1.0 - away,
            law: ContactLaw {
                friction: self.1,
                ..ContactLaw::default()
            },
            sides: [0, 1],
        };
        let support = Support {
            node: self.0,
            element: 0,
            weight: 1.0,
            arm: [0.0; 3],
        };
        out.push(contact, [], [support]);
        Ok(())
    }
}

/// A particle that slides in a bowl, smooth and rough. Contacts act along the normals that they
/// have at the start of a step, so that the path is a polygon, whose corners are impacts: order 1.
#[test]
fn a_contact_along_a_curve_has_order_one() {
    for friction in [0.0, 0.2] {
        let rate = |s: &[f64; 2]| {
            let weight = G * s[0].cos() + s[1] * s[1];
            [s[1], -G * s[0].sin() - friction * weight]
        };
        let [angle, speed] = runge_kutta([-0.8, 2.5], 0.4, rate);
        let (sin, cos) = angle.sin_cos();
        let orders = Orders::find(&halves(0.01, 5), |h| {
            let (s, c) = (-0.8f64).sin_cos();
            let mut m = Model::new();
            m.set_gravity([0.0, -G, 0.0]).unwrap();
            let v = [2.5 * c, 2.5 * s, 0.0];
            let p = m.add_independent("p", Space::Real(3), &[s, -c, 0.0], &v).unwrap();
            m.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
            let mut s = Simulation::new(m).unwrap();
            s.set_contacts(Bowl(p, friction)).unwrap();
            for _ in 0..(0.4 / h).round() as usize {
                s.step(h).unwrap();
            }
            let (x, v) = (s.positions(p), s.velocities(p));
            vec![
                ("position", distance(&x[..2], &[sin, -cos])),
                ("velocity", distance(&v[..2], &[speed * cos, speed * sin])),
            ]
        });
        orders.check(&format!("bowl, {friction}"), 1.0);
    }
}

/// A ball that falls a metre and bounces, once: parabolas before and after. The time of the impact
/// is known to a step, at three places in it: order 1, of steps as they are (those that gain energy
/// by it are halved otherwise, and the error is that of the halves).
#[test]
fn an_impact_has_order_one() {
    let fall = (2.0 / G).sqrt();
    for restitution in [0.5, 1.0] {
        for phase in [0.1, 0.4, 0.9] {
            let steps: Vec<f64> = (1..6).map(|k| fall / (f64::from(10 << k) + phase)).collect();
            let orders = Orders::find(&steps, |h| {
                let mut m = Model::new();
                m.set_gravity([0.0, -G, 0.0]).unwrap();
                let p = m
                    .add_independent("p", Space::Real(3), &[0.0, 1.0, 0.0], &[0.0; 3])
                    .unwrap();
                m.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
                let mut options = Options::default();
                options.tuning.newton.stage_halvings = 0;
                options.accuracy = Some(Accuracy::Measured);
                let mut s = Simulation::with_options(m, options).unwrap();
                let law = ContactLaw {
                    restitution,
                    ..ContactLaw::default()
                };
                s.set_contacts(Slope(p, [0.0, 1.0, 0.0], law)).unwrap();
                let (mut position, mut velocity) = (0.0f64, 0.0f64);
                // The second impact is `2 e` times the fall behind the first.
                while s.time() < fall * (1.0 + 1.6 * restitution) {
                    s.step(h).unwrap();
                    let t = s.time() - fall;
                    if t > h {
                        let v = restitution * G * fall;
                        let y = v * t - 0.5 * G * t * t;
                        position = position.max((s.positions(p)[1] - y).abs());
                        velocity = velocity.max((s.velocities(p)[1] - v + G * t).abs());
                    }
                }
                vec![("position", position), ("velocity", velocity)]
            });
            orders.check(&format!("e = {restitution}, phase {phase}"), 1.0);
        }
    }
}
