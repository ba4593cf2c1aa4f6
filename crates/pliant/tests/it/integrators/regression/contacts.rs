//! Contacts that stay closed, and impacts.

use super::super::contacts::Slope;
use super::super::models::*;
use super::{Orders, halves};
use crate::tools::on_point;
use crate::worlds::on_feet;
use pliant::collision::{Collider, Placement, Shape, World};
use pliant::contact::*;
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
        out.push(contact, [], [on_point(self.0)]);
        Ok(())
    }
}

/// A particle in a bowl, with this speed at this angle from its bottom (rad).
fn in_bowl(friction: f64, angle: f64, speed: f64) -> (Simulation, NodeId) {
    let (sin, cos) = angle.sin_cos();
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    let v = [speed * cos, speed * sin, 0.0];
    let p = m
        .add_independent("p", Space::Real(3), &[sin, -cos, 0.0], &v)
        .unwrap();
    m.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(Bowl(p, friction)).unwrap();
    (s, p)
}

/// Takes steps over a time, each but the first by two stages, with so many contacts that bear.
fn slide(s: &mut Simulation, h: f64, time: f64, active: usize) {
    for k in 0..(time / h).round() as usize {
        let report = s.step(h).unwrap();
        let found = (report.solve.stages, report.contacts.active);
        assert_eq!(found, (2, active), "step {k} of {h} s");
    }
}

/// A simulation whose overlap stays: that of the second order of the step is taken back by the
/// default only where it is more than a micrometre.
fn drifting(m: Model) -> Simulation {
    let mut options = Options::default();
    options.contacts.overlap = Overlap::Keep;
    Simulation::with_options(m, options).unwrap()
}

/// A particle that slides in a bowl, smooth and rough: contacts act along the normals at the ends
/// of stages.
#[test]
fn a_contact_along_a_curve() {
    for friction in [0.0, 0.2] {
        let rate = |s: &[f64; 2]| {
            let weight = G * s[0].cos() + s[1] * s[1];
            [s[1], -G * s[0].sin() - friction * weight]
        };
        let [angle, speed] = runge_kutta([-0.8, 2.5], 0.4, rate);
        let (sin, cos) = angle.sin_cos();
        let weight = G * cos + speed * speed;
        let run = |h: f64| {
            let (mut s, p) = in_bowl(friction, -0.8, 2.5);
            slide(&mut s, h, 0.4, 1);
            (s, p)
        };
        let steps = halves(0.02, 6);
        let orders = Orders::find(&steps, |h| {
            let (s, p) = run(h);
            let (x, v) = (s.positions(p), s.velocities(p));
            vec![
                ("position", distance(&x[..2], &[sin, -cos])),
                ("velocity", distance(&v[..2], &[speed * cos, speed * sin])),
            ]
        });
        orders.check(&format!("bowl, {friction}"), 2.0);
        let orders = Orders::find(&steps, |h| {
            let (s, p) = run(h);
            let ([x, y, _], _) = s.contact_force(p, 0);
            vec![("weight", (y * cos - x * sin - weight).abs())]
        });
        orders.check(&format!("bowl, {friction}"), 1.0);
    }
}

/// A frictionless bowl keeps the energy of 6.1 J but for the order of the default method, of which
/// an eighth of the step leaves a 64th; at 10 ms it loses less than a millijoule in two seconds,
/// and is off by less than a twentieth of a millimetre.
#[test]
fn a_bowl_keeps_the_energy() {
    let [angle, _] = runge_kutta([-0.8, 2.5], 2.0, |s| [s[1], -G * s[0].sin()]);
    let off = |h: f64| {
        let (mut s, p) = in_bowl(0.0, -0.8, 2.5);
        let energy = |s: &Simulation| {
            let (y, v) = (s.positions(p)[1], s.velocities(p));
            G * y + 0.5 * distance(v, &[0.0; 3]).powi(2)
        };
        let start = energy(&s);
        slide(&mut s, h, 2.0, 1);
        let place = distance(&s.positions(p)[..2], &[angle.sin(), -angle.cos()]);
        ((energy(&s) - start).abs(), place)
    };
    let (coarse, fine) = (off(0.02).0, off(0.0025).0);
    assert!(coarse < 0.05 && fine < coarse / 40.0, "{coarse} {fine}");
    let (lost, place) = off(0.01);
    assert!(lost < 1e-3 && place < 5e-5, "{lost} {place}");
}

/// A particle that falls onto a curve slides on by two stages once it has come to its direction:
/// one step for the impact, one for the turn within that, and one more where it opens in between.
#[test]
fn what_lands_on_a_curve_goes_on_by_two_stages() {
    for friction in [0.0, 0.2] {
        let (mut s, p) = in_bowl(friction, -0.8, 0.0);
        let mut state = s.state().clone();
        state.positions.iter_mut().for_each(|x| *x *= 0.9);
        s.set_state(&state).unwrap();
        let mut one = Vec::new();
        for k in 0..100 {
            let report = s.step(0.01).unwrap();
            if report.solve.stages == 1 {
                one.push(k);
            }
        }
        let (first, last) = (one[0], one[one.len() - 1]);
        assert!(one.len() <= 3 && last < first + 5, "{friction}: {one:?}");
        assert!(s.contact_force(p, 0).0[1] > 0.0);
    }
}

/// A rigid body of a ball whose centre of mass is off its centre, which rolls on a plane without
/// slip: its arm turns with it. By its angle, with `x = r q - d sin q`, `y = r - d cos q`.
#[test]
fn a_contact_whose_arm_turns() {
    let (mass, radius, off, inertia) = (2.0, 0.1, 0.06, 0.01);
    let rate = |s: &[f64; 2]| {
        let (sin, cos) = s[0].sin_cos();
        let both = mass * (radius * radius + off * off - 2.0 * radius * off * cos) + inertia;
        let pull = mass * off * sin * (radius * s[1] * s[1] + G);
        [s[1], -pull / both]
    };
    let start = [1.0, 2.0];
    let end = runge_kutta(start, 1.0, rate);
    let centre = |q: f64| [radius * q - off * q.sin(), radius - off * q.cos()];
    // The parts of the error have two signs, and cancel at 0.02 s.
    let steps = halves(0.005, 5);
    let orders = Orders::find(&steps, |h| {
        let mut m = Model::new();
        m.set_gravity([0.0, -G, 0.0]).unwrap();
        let [x, y] = centre(start[0]);
        // It rolls to the right by turning about -z; its centre of mass is below that of the ball
        // at rest.
        let pose = Pose::turned([x, y, 0.0], [0.0, 0.0, -1.0], start[0]);
        let body = m.add_rigid_bodies("body", &[pose]).unwrap();
        let (sin, cos) = start[0].sin_cos();
        let v = [(radius - off * cos) * start[1], off * sin * start[1], 0.0];
        m.set_body_velocity(body, 0, v, [0.0, 0.0, -start[1]]).unwrap();
        m.add_mass(
            "mass",
            body,
            Mass::Rigid(vec![RigidMass::principal(mass, [inertia; 3])]),
        )
        .unwrap();
        let mut world = World::new();
        let ground = Shape::half_space([0.0, 1.0, 0.0]).unwrap();
        world
            .add(Collider::new("ground", ground, Placement::Fixed(Pose::default())))
            .unwrap();
        let place = Placement::Body {
            node: body,
            element: 0,
            pose: Pose::at([0.0, off, 0.0]),
        };
        world
            .add(Collider::new("ball", Shape::ball(radius).unwrap(), place))
            .unwrap();
        let mut s = drifting(m);
        s.set_contacts(world).unwrap();
        slide(&mut s, h, 1.0, 1);
        let (x, v) = (s.positions(body), s.velocities(body));
        vec![
            ("position", distance(&x[..2], &centre(end[0]))),
            ("spin", (v[5] + end[1]).abs()),
        ]
    });
    orders.check("tumbler", 2.0);
}

/// A ball that rolls down the outside of a fixed one, without slip: `7/5 (R + r) a'' = g sin a` by
/// the angle `a` of the line of centres, and the pressure `m (g cos a - (R + r) a'^2)`.
#[test]
fn a_contact_of_two_balls() {
    let (mass, fixed, radius) = (2.0, 0.5, 0.2);
    let arm = fixed + radius;
    let start = [0.2, 0.5];
    let rate = |s: &[f64; 2]| [s[1], G * s[0].sin() / (1.4 * arm)];
    let end = runge_kutta(start, 0.4, rate);
    let place = |a: f64| [arm * a.sin(), arm * a.cos(), 0.0];
    let run = |h: f64| {
        let mut m = Model::new();
        m.set_gravity([0.0, -G, 0.0]).unwrap();
        let body = m.add_rigid_bodies("body", &[Pose::at(place(start[0]))]).unwrap();
        let inertia = RigidMass::principal(mass, [0.4 * mass * radius * radius; 3]);
        m.add_mass("mass", body, Mass::Rigid(vec![inertia])).unwrap();
        let (sin, cos) = start[0].sin_cos();
        let speed = arm * start[1];
        let spin = [0.0, 0.0, -speed / radius];
        m.set_body_velocity(body, 0, [speed * cos, -speed * sin, 0.0], spin)
            .unwrap();
        let mut world = World::new();
        let below = Placement::Fixed(Pose::default());
        let carried = Placement::Body {
            node: body,
            element: 0,
            pose: Pose::default(),
        };
        for (name, radius, place) in [("below", fixed, below), ("ball", radius, carried)] {
            let shape = Shape::ball(radius).unwrap();
            world.add(Collider::new(name, shape, place)).unwrap();
        }
        let mut s = drifting(m);
        s.set_contacts(world).unwrap();
        slide(&mut s, h, 0.4, 1);
        (s, body)
    };
    let steps = halves(0.02, 5);
    let orders = Orders::find(&steps, |h| {
        let (s, body) = run(h);
        let spin = -arm * end[1] / radius;
        vec![
            ("position", distance(&s.positions(body)[..3], &place(end[0]))),
            ("spin", (s.velocities(body)[5] - spin).abs()),
        ]
    });
    orders.check("balls", 2.0);
    let orders = Orders::find(&steps, |h| {
        let (s, body) = run(h);
        let (sin, cos) = end[0].sin_cos();
        let ([x, y, _], _) = s.contact_force(body, 0);
        let pressure = mass * (G * cos - arm * end[1] * end[1]);
        vec![("pressure", (x * sin + y * cos - pressure).abs())]
    });
    orders.check("balls", 1.0);
}

/// A disc on three feet that slides and spins on a plane: each bears a third of the weight, since
/// the centre of mass is on the plane, and rubs against its own velocity.
#[test]
fn contacts_that_slide_in_a_circle() {
    let (mass, inertia, friction, arm) = (3.0, 0.2, 0.5, 0.3);
    let feet = [0.0, 1.0, 2.0].map(|k| {
        let (sin, cos) = (k * std::f64::consts::TAU / 3.0).sin_cos();
        [arm * cos, arm * sin]
    });
    let rate = |s: &[f64; 6]| {
        let (sin, cos) = s[2].sin_cos();
        let (mut force, mut torque) = ([0.0; 2], 0.0);
        for [a, b] in feet {
            let [x, y] = [cos * a - sin * b, sin * a + cos * b];
            let u = [s[3] - s[5] * y, s[4] + s[5] * x];
            let f = u.map(|u_k| -friction * mass * G / 3.0 * u_k / u[0].hypot(u[1]));
            force = [force[0] + f[0], force[1] + f[1]];
            torque += x * f[1] - y * f[0];
        }
        let [x, y] = force.map(|f| f / mass);
        [s[3], s[4], s[5], x, y, torque / inertia]
    };
    let end = runge_kutta([0.0, 0.0, 0.0, 2.0, 0.5, 6.0], 0.3, rate);
    let orders = Orders::find(&halves(0.01, 5), |h| {
        let (mut m, body, world) = on_feet(&feet, [mass, inertia], 0.0, friction);
        m.set_body_velocity(body, 0, [2.0, 0.5, 0.0], [0.0, 0.0, 6.0])
            .unwrap();
        let mut s = drifting(m);
        s.set_contacts(world).unwrap();
        slide(&mut s, h, 0.3, 3);
        let (x, v) = (s.positions(body), s.velocities(body));
        let angle = 2.0 * x[6].atan2(x[3]);
        vec![
            ("position", distance(&x[..2], &end[..2])),
            ("angle", (angle - end[2]).abs()),
            ("velocity", distance(&v[..2], &end[3..5])),
            ("spin", (v[5] - end[5]).abs()),
        ]
    });
    orders.check("disc", 2.0);
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
