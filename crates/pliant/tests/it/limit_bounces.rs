//! Limits of joints with a coefficient of restitution.

use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::prelude::*;

const G: f64 = 9.81;

fn simulate(model: Model, integrator: Integrator) -> Simulation {
    let mut options = match integrator {
        Integrator::Theta => Options::theta(),
        _ => Options::default(),
    };
    options.integrator = integrator;
    Simulation::with_options(model, options).unwrap()
}

const METHODS: [Integrator; 3] = [Integrator::Sdirk2, Integrator::Theta, Integrator::Nonlinear];

/// Without forces every bounce leaves the share `e` of the speed, to the rounding of a few steps, at
/// limits on both sides.
#[test]
fn a_cart_goes_back_and_forth() {
    for integrator in METHODS {
        let mut m = Model::new();
        let cart = m.add_rigid_bodies("cart", &[Pose::default()]).unwrap();
        m.add_mass("m", cart, Mass::Rigid(vec![RigidMass::sphere(2.0, 0.3)]))
            .unwrap();
        m.set_body_velocity(cart, 0, [0.0, 0.0, 1.0], [0.0; 3]).unwrap();
        let joint = Joint::slider(Side::World, Side::Body(cart, 0));
        let joint = joint.with_bouncing_limits(0, -0.1, 0.15, 0.8);
        let slider = m.add_joint("slider", &joint).unwrap();
        let mut s = simulate(m, integrator.clone());
        let (mut speed, mut bounces) = (1.0, 0);
        for _ in 0..150 {
            s.step(0.01).unwrap();
            let v = s.velocities(slider.coordinates[0])[0];
            let x = s.positions(slider.coordinates[0])[0];
            assert!((-0.1 - 1e-12..=0.15 + 1e-12).contains(&x), "{integrator:?} {x}");
            if v * speed < 0.0 {
                (speed, bounces) = (-0.8 * speed, bounces + 1);
            }
            assert!((v - speed).abs() < 1e-9, "{integrator:?} {bounces}: {v} {speed}");
        }
        assert!(bounces >= 4, "{integrator:?} {bounces}");
    }
}

/// An arm that falls on its stop keeps `e^2` of its energy above the stop in each bounce, `e^(2 n)` of
/// the first in `n` of them, but for what the step of a bounce does: it turns the speed `w` of its
/// start round where the arm is then, up to `h w` above the stop, and takes the new speed for the
/// way, `h e w`: no more than `tau h w (1 + e - e^2)` by the torque `tau` of the weight. Then it rests.
#[test]
fn an_arm_bounces_on_its_stop() {
    for integrator in METHODS {
        let e = 0.6f64;
        let mut m = Model::new();
        m.set_gravity([0.0, -G, 0.0]).unwrap();
        let pose = Pose::at([0.5, 0.0, 0.0]);
        let arm = m.add_rigid_bodies("arm", &[pose]).unwrap();
        let mass = RigidMass::principal(2.0, [0.01, 2.0 / 12.0, 2.0 / 12.0]);
        m.add_mass("m", arm, Mass::Rigid(vec![mass])).unwrap();
        let joint = Joint::hinge(Side::World, Side::Body(arm, 0));
        let joint = joint.with_bouncing_limits(0, -0.4, 2.0, e);
        let hinge = m.add_joint("hinge", &joint).unwrap();
        let mut s = simulate(m, integrator.clone());
        let above = |s: &Simulation| {
            let (angle, w) = (
                s.positions(hinge.coordinates[0])[0],
                s.velocities(hinge.coordinates[0])[0],
            );
            w * w / 3.0 + 2.0 * G * 0.5 * (angle.sin() + 0.4f64.sin())
        };
        // Torque of the weight at the stop, and a hundredth more beside it.
        let (h, torque) = (0.001, 1.01 * 2.0 * G * 0.5 * 0.4f64.cos());
        let (start, mut before, mut bounces, mut last) = (above(&s), above(&s), 0, 0.0f64);
        for _ in 0..4000 {
            s.step(h).unwrap();
            let w = s.velocities(hinge.coordinates[0])[0];
            if last < 0.0 && w > 0.0 && bounces < 3 {
                bounces += 1;
                let gain = above(&s) - e * e * before;
                let most = torque * h * last.abs() * (1.0 + e - e * e);
                assert!(
                    (0.0..most).contains(&gain),
                    "{integrator:?} {bounces}: {gain} {most}"
                );
                // Of three bounces these are less than a quarter.
                let whole = above(&s) / start / e.powi(2 * bounces);
                assert!((whole - 1.0).abs() < 0.25, "{integrator:?} {bounces}: {whole}");
            }
            before = above(&s);
            last = w;
        }
        assert_eq!(bounces, 3);
        let place = s.positions(hinge.coordinates[0])[0];
        assert!(
            last.abs() < 1e-9 && (place + 0.4).abs() < 1e-9,
            "{integrator:?}: {last} {place}"
        );
    }
}

/// A parallelogram of bars, three rows of which are redundant: the limit of one crank turns all of it
/// round, with `e^2` of the energy, in steps that are certified.
#[test]
fn a_loop_with_redundant_rows_bounces() {
    for integrator in METHODS {
        let mut m = Model::new();
        let turned = |p: [f64; 3]| Pose::turned(p, [0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2);
        let poses = [
            turned([0.0, 0.5, 0.0]),
            turned([2.0, 0.5, 0.0]),
            Pose::at([1.0, 1.0, 0.0]),
        ];
        let bars = m.add_rigid_bodies("bars", &poses).unwrap();
        let mass = RigidMass::principal(1.0, [0.01, 0.1, 0.1]);
        m.add_mass("m", bars, Mass::Rigid(vec![mass; 3])).unwrap();
        for k in [0, 1] {
            m.set_body_velocity(bars, k, [-0.5, 0.0, 0.0], [0.0, 0.0, 1.0])
                .unwrap();
        }
        m.set_body_velocity(bars, 2, [-1.0, 0.0, 0.0], [0.0; 3]).unwrap();
        let ground =
            |k: usize, x: f64| Joint::hinge(Side::World, Side::Body(bars, k)).at(Pose::at([x, 0.0, 0.0]));
        let left = ground(0, 0.0).with_bouncing_limits(0, -0.2, 0.2, 0.7);
        let left = m.add_joint("left", &left).unwrap();
        m.add_joint("right", &ground(1, 2.0)).unwrap();
        for (k, x) in [(0, 0.0), (1, 2.0)] {
            let pin = Joint::hinge(Side::Body(bars, k), Side::Body(bars, 2)).at(Pose::at([x, 1.0, 0.0]));
            m.add_joint(&format!("pin {k}"), &pin).unwrap();
        }
        let mut s = simulate(m, integrator.clone());
        let (mut speed, mut bounces, mut redundant) = (1.0, 0, 0);
        for _ in 0..100 {
            let report = s.step(0.01).unwrap();
            redundant = redundant.max(report.solve.redundant_rows);
            let w = s.velocities(left.coordinates[0])[0];
            if w * speed < 0.0 {
                (speed, bounces) = (-0.7 * speed, bounces + 1);
            }
            // Drift of the speed by the curvature of the way, of the order of the step.
            assert!((w - speed).abs() < 1e-2, "{integrator:?} {bounces}: {w} {speed}");
        }
        assert!(
            bounces >= 2 && redundant >= 3,
            "{integrator:?} {bounces} {redundant}"
        );
    }
}

#[test]
fn a_restitution_is_between_zero_and_one() {
    for e in [-0.1, 1.1, f64::NAN] {
        let mut m = Model::new();
        let body = m.add_rigid_bodies("body", &[Pose::default()]).unwrap();
        let joint = Joint::hinge(Side::World, Side::Body(body, 0)).with_bouncing_limits(0, -1.0, 1.0, e);
        let refused = m.add_joint("door", &joint).unwrap_err();
        assert!(refused.to_string().contains("door.lower limit 0"), "{refused}");
    }
}

/// An arm between two bounces, beside a ball whose impact on the ground is located: the short part of
/// the step in which that is taken leaves the arm alone. Its hinge took back in it what the theta
/// method had drifted, at metres per second, and the next part turned with that force: 500 J.
#[test]
fn located_impacts_leave_other_bodies_alone() {
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    let poses = [Pose::at([0.5, 0.0, 0.0]), Pose::at([0.0, 1.0, 6.0])];
    let bodies = m.add_rigid_bodies("bodies", &poses).unwrap();
    let masses = vec![
        RigidMass::cuboid(2.0, [1.0, 0.1, 0.1]),
        RigidMass::sphere(1.0, 0.1),
    ];
    m.add_mass("m", bodies, Mass::Rigid(masses)).unwrap();
    let joint = Joint::hinge(Side::World, Side::Body(bodies, 0));
    let joint = joint.with_bouncing_limits(0, -0.4, f64::INFINITY, 0.9);
    m.add_joint("hinge", &joint).unwrap();
    let mut world = World::new();
    let material = world
        .add_material(Material {
            restitution: 0.3,
            ..Material::default()
        })
        .unwrap();
    let ground = Placement::Fixed(Pose::at([0.0, -2.0, 0.0]));
    let ground = Collider::new("ground", Shape::half_space([0.0, 1.0, 0.0]).unwrap(), ground);
    world.add(ground.with_material(material)).unwrap();
    crate::worlds::add_body(&mut world, material, bodies, 1, Shape::ball(0.1).unwrap());
    let mut options = Options::theta();
    options.contacts.locate_impacts = true;
    let mut s = Simulation::with_options(m, options).unwrap();
    s.set_contacts(world).unwrap();
    let start = s.step(0.01).unwrap().energies.total();
    for k in 0..300 {
        let total = s.step(0.01).unwrap().energies.total();
        assert!(total < start + 1e-3, "{k}: {total} {start}");
    }
}

/// A weight on a slider falls on its limit, and bounces where and when it reaches it: constant
/// acceleration is exact for the method, so that heights and speeds are those of the closed form but
/// for what gravity does in the part of `2^-20` of a step in which an impact is taken: each of `n`
/// impacts leaves with so much more speed, and puts the later ones off by twice that over `g`.
#[test]
fn located_bounces_of_a_limit_are_exact_in_their_times() {
    let (height, e) = (1.0f64, 0.7f64);
    // Height and speed by the time.
    let exact = |t: f64| {
        let (mut start, mut speed) = (-(2.0 * height / G).sqrt(), (2.0 * G * height).sqrt());
        while t > start + 2.0 * speed / G {
            start += 2.0 * speed / G;
            speed *= e;
        }
        let s = t - start;
        [speed * s - 0.5 * G * s * s, speed - G * s]
    };
    for h in [0.01, 0.07] {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -G]).unwrap();
        let pose = Pose::at([0.0, 0.0, height]);
        let weight = m.add_rigid_bodies("weight", &[pose]).unwrap();
        m.add_mass("m", weight, Mass::Rigid(vec![RigidMass::sphere(2.0, 0.3)]))
            .unwrap();
        let joint = Joint::slider(Side::World, Side::Body(weight, 0));
        let joint = joint.with_bouncing_limits(0, -height, f64::INFINITY, e);
        let slider = m.add_joint("slider", &joint).unwrap();
        let mut options = Options::default();
        options.contacts.locate_impacts = true;
        let mut s = Simulation::with_options(m, options).unwrap();
        let mut located = 0;
        while s.time() < 1.9 {
            located += s.step(h).unwrap().contacts.solve.located;
            let [z, w] = exact(s.time());
            let found = [
                height + s.positions(slider.coordinates[0])[0],
                s.velocities(slider.coordinates[0])[0],
            ];
            let error = (found[0] - z).abs().max((found[1] - w).abs());
            let most = (located * (located + 1)) as f64 * G * h / f64::from(1 << 20);
            assert!(error < most + 1e-9, "{h} {}: {found:?}, {z} {w}", s.time());
        }
        assert_eq!(located, 4, "{h}");
    }
}

/// A weight that falls on its stop is turned round wherever the stop lies in the step: its energy is
/// that of the fall but for what the step of the bounce does, `h |w| g (1 + e)`, and `e^2` of it is
/// kept. Stops that the velocity at the start of a step just does not reach, and gravity does, are
/// among these places, which are half of `g h^2` apart over more than the way of a step.
#[test]
fn a_falling_weight_is_turned_round_at_any_place_of_its_stop() {
    let (h, e) = (0.01, 0.9);
    for k in 0..80 {
        let stop = -0.5 - 0.0005 * f64::from(k);
        for integrator in METHODS {
            let mut m = Model::new();
            m.set_gravity([0.0, 0.0, -G]).unwrap();
            let weight = m.add_rigid_bodies("weight", &[Pose::default()]).unwrap();
            m.add_mass("m", weight, Mass::Rigid(vec![RigidMass::sphere(1.0, 0.1)]))
                .unwrap();
            let joint = Joint::slider(Side::World, Side::Body(weight, 0));
            let joint = joint.with_bouncing_limits(0, stop, 1.0, e);
            let slider = m.add_joint("slider", &joint).unwrap().coordinates[0];
            let mut s = simulate(m, integrator.clone());
            let (mut last, mut speed) = (0.0f64, 0.0f64);
            for _ in 0..60 {
                s.step(h).unwrap();
                let now = s.velocities(slider)[0];
                if last < -1.0 && now > last + 1.0 {
                    (speed, last) = (last, now);
                    break;
                }
                last = now;
            }
            assert!(speed < -3.0, "{integrator:?} {stop}: {speed}");
            // Its own velocity at the start of the step, by the law; gravity is a step of it.
            assert!(
                (last + e * speed).abs() < 1.5 * G * h,
                "{integrator:?} {stop}: {speed} to {last}"
            );
        }
    }
}
