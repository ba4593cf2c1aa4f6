//! Viscous friction of contacts against closed forms: `m v' = -n c v` of `n` points of contact.

use super::{Floor, friction, slope};
use crate::tools::order;
use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::contact::*;
use pliant::prelude::*;

const MASS: f64 = 2.0;
const DRAG: f64 = 3.0;

fn viscous(mu: f64) -> ContactLaw {
    ContactLaw {
        viscous_friction: DRAG,
        ..friction(mu)
    }
}

/// A particle on the plane, or above it, by the default method or another.
fn slider(
    options: Options,
    law: ContactLaw,
    gravity: [f64; 3],
    height: f64,
    speed: f64,
) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity(gravity).unwrap();
    let state = ([0.0, 0.0, height], [speed, 0.0, 0.0]);
    let p = m
        .add_independent("p", Space::Real(3), &state.0, &state.1)
        .unwrap();
    m.add_mass("mass", p, Mass::Uniform(MASS)).unwrap();
    let mut s = Simulation::with_options(m, options).unwrap();
    let mut floor = Floor::new(vec![(p, 0, [0.0; 3])], 0.0);
    floor.law = law;
    s.set_contacts(floor).unwrap();
    (s, p)
}

/// Orders of the default method and of the theta method, whose contacts are of the end of the step.
fn methods() -> [(Options, f64); 3] {
    [
        (Options::default(), 2.0),
        (Options::theta(), 1.0),
        (Options::trapezoidal(), 1.0),
    ]
}

/// Without Coulomb's friction, hard and compliant: `v = v0 exp(-c t/m)`, and the ledger has what is
/// lost, all of it as friction and never a gain.
#[test]
fn a_block_slows_down_exponentially() {
    let g = 9.81;
    for compliance in [0.0, 1e-4] {
        let law = ContactLaw {
            compliance,
            relaxation_time: 2e-3,
            ..viscous(0.0)
        };
        for (options, expected) in methods() {
            let mut errors = Vec::new();
            for steps in [20, 40, 80] {
                let depth = -compliance * MASS * g;
                let (mut s, p) = slider(options.clone(), law, [0.0, 0.0, -g], depth, 4.0);
                let (h, mut ledger) = (0.8 / f64::from(steps), Ledger::default());
                for _ in 0..steps {
                    let before = s.velocities(p)[0];
                    let report = s.step(h).unwrap();
                    assert!(report.ledger.friction < 0.0, "{:?}", report.ledger);
                    ledger += report.ledger;
                    // The force that is read is the drag.
                    let r = s.contacts()[0].impulse;
                    let change = MASS * (s.velocities(p)[0] - before);
                    assert!((r[0] - change).abs() < 1e-12, "{} {change}", r[0]);
                }
                let end = s.velocities(p)[0];
                let exact = 4.0 * (-DRAG * 0.8 / MASS).exp();
                errors.push(end - exact);
                let lost = 0.5 * MASS * (16.0 - end * end);
                let booked = ledger.friction + ledger.numerical + ledger.damping + ledger.impacts;
                assert!((booked + lost).abs() < 1e-9 * lost, "{ledger:?} {lost}");
                // What the method has of it is of its order.
                let numerical = ledger.numerical.abs() / lost;
                assert!(numerical < if expected == 2.0 { 0.01 } else { 0.1 }, "{ledger:?}");
            }
            println!("compliance {compliance}: {errors:?}");
            for pair in errors.windows(2) {
                let found = order([pair[0].abs(), pair[1].abs()]);
                assert!((found - expected).abs() < 0.15, "{found}: {errors:?}");
            }
        }
    }
}

/// With Coulomb's friction, `v' = -mu g - c v/m`: `v = (v0 + v1) exp(-c t/m) - v1` with
/// `v1 = mu m g/c`, until it is at rest, where it stays; the whole way is
/// `(m/c) (v0 - v1 ln(1 + v0/v1))`.
#[test]
fn a_block_with_both_frictions_stops_and_stays() {
    let (mu, g, v0) = (0.2, 9.81, 4.0);
    let v1 = mu * MASS * g / DRAG;
    let way = MASS / DRAG * (v0 - v1 * (1.0 + v0 / v1).ln());
    let stops = MASS / DRAG * (1.0 + v0 / v1).ln();
    for (options, expected) in methods() {
        let mut errors = Vec::new();
        for steps in [50, 100, 200] {
            let (mut s, p) = slider(options.clone(), viscous(mu), [0.0, 0.0, -g], 0.0, v0);
            let h = 0.5 / f64::from(steps);
            for _ in 0..steps {
                s.step(h).unwrap();
            }
            let exact = (v0 + v1) * (-DRAG * 0.5 / MASS).exp() - v1;
            errors.push(s.velocities(p)[0] - exact);
            while s.time() < 1.5 * stops {
                s.step(h).unwrap();
            }
            let rest = s.positions(p)[0];
            for _ in 0..10 {
                s.step(h).unwrap();
            }
            // The last step before rest ends up to h after the moment of rest, by a way of g h^2.
            assert!((rest - way).abs() < 4.0 * h.powf(expected), "{rest} {way} {h}");
            assert!((s.positions(p)[0] - rest).abs() < 1e-12 && s.velocities(p)[0].abs() < 1e-12);
            assert_eq!(s.contacts()[0].state, ContactState::Sticking);
        }
        println!("{errors:?}");
        for pair in errors.windows(2) {
            let found = order([pair[0].abs(), pair[1].abs()]);
            assert!((found - expected).abs() < 0.15, "{found}: {errors:?}");
        }
    }
}

/// On a slope without Coulomb's friction it ends with `m g sin(a)/(n c)`, also a body on four
/// corners, whose torque of drag the normal forces take: whatever the step.
#[test]
fn a_block_on_a_slope_has_a_terminal_velocity() {
    let angle = 0.3f64;
    let expected = MASS * 9.81 * angle.sin() / DRAG;
    for (options, _) in methods() {
        let (mut s, p) = slider(options, viscous(0.0), slope(angle), 0.0, 0.0);
        for _ in 0..300 {
            s.step(0.1).unwrap();
        }
        let v = s.velocities(p)[0];
        assert!((v / expected - 1.0).abs() < 1e-12, "{v} {expected}");
    }
    let mut world = World::new();
    let material = Material {
        friction: 0.0,
        viscous_friction: DRAG,
        ..Material::default()
    };
    let slick = world
        .add_material(Material {
            friction: 0.0,
            ..Material::default()
        })
        .unwrap();
    let viscous = world.add_material(material).unwrap();
    let ground = Shape::half_space([angle.sin(), 0.0, angle.cos()]).unwrap();
    let turn = [(0.5 * angle).cos(), 0.0, (0.5 * angle).sin(), 0.0];
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let up = [0.1 * angle.sin(), 0.0, 0.1 * angle.cos()];
    let pose = Pose {
        position: up,
        rotation: turn,
    };
    let c = m.add_rigid_bodies("box", &[pose]).unwrap();
    let mass = RigidMass::cuboid(MASS, [1.0, 0.6, 0.2]);
    m.add_mass("mass", c, Mass::Rigid(vec![mass])).unwrap();
    let ground = Collider::new("ground", ground, Placement::Fixed(Pose::default())).with_material(slick);
    world.add(ground).unwrap();
    let shape = Shape::cuboid([0.5, 0.3, 0.1]).unwrap();
    let place = Placement::Body {
        node: c,
        element: 0,
        pose: Pose::default(),
    };
    world
        .add(Collider::new("box", shape, place).with_material(viscous))
        .unwrap();
    let mut t = Simulation::new(m).unwrap();
    t.set_contacts(world).unwrap();
    for _ in 0..300 {
        t.step(0.02).unwrap();
    }
    let v = t.velocities(c);
    let along = v[0] * angle.cos() - v[2] * angle.sin();
    // The pair has the drag of the material that has more of it.
    assert!(
        (along / (0.25 * expected) - 1.0).abs() < 1e-9,
        "{along} {expected}"
    );
}

/// Nothing slows down that flies over the plane, or is at it but not pressed on; nor does what is
/// thrown up from it.
#[test]
fn nothing_is_dragged_that_does_not_touch() {
    for (options, _) in methods() {
        for height in [0.0, 1e-3] {
            let (mut s, p) = slider(options.clone(), viscous(0.0), [0.0; 3], height, 4.0);
            for _ in 0..20 {
                s.step(0.01).unwrap();
                assert_eq!(s.contacts().len(), 1);
                assert_eq!((s.velocities(p)[0], s.contacts()[0].impulse), (4.0, [0.0; 3]));
            }
        }
        // It falls freely until it lands.
        let (mut s, p) = slider(options.clone(), viscous(0.0), [0.0, 0.0, -9.81], 0.02, 4.0);
        while s.time() < 0.05 {
            s.step(0.005).unwrap();
            assert_eq!(s.velocities(p)[0], 4.0);
        }
        // Thrown up from the plane.
        let mut state = s.state().clone();
        state.positions[2] = 0.0;
        state.velocities.copy_from_slice(&[4.0, 0.0, 1.0]);
        s.set_state(&state).unwrap();
        for _ in 0..20 {
            s.step(0.005).unwrap();
            assert_eq!(s.velocities(p)[0], 4.0);
        }
    }
}

/// A drag of any size in steps of any length takes energy, and stops the block at once where it is
/// large.
#[test]
fn no_drag_makes_energy() {
    for (options, _) in methods() {
        for drag in [1e-300, 1e-3, 1.0, 1e6, 1e12] {
            let law = ContactLaw {
                viscous_friction: drag,
                ..friction(0.1)
            };
            let (mut s, p) = slider(options.clone(), law, [0.0, 0.0, -9.81], 0.0, 4.0);
            let mut last = 0.5 * MASS * 16.0;
            for _ in 0..20 {
                let report = s.step(0.1).unwrap();
                let now = report.energies.total();
                // Once it rests there is rounding of what it had.
                let friction = report.ledger.friction;
                assert!(
                    now <= last + 1e-12 && friction <= 1e-15,
                    "{now} {last} {friction}"
                );
                last = now;
            }
            assert!(
                drag < 1e3 || s.velocities(p)[0].abs() < 1e-6,
                "{}",
                s.velocities(p)[0]
            );
        }
    }
}

/// A ball that bounces along a viscous floor comes back as its law of impact says; its drag goes
/// on.
#[test]
fn impacts_leave_the_drag_a_damper() {
    for restitution in [Restitution::Newton, Restitution::Poisson] {
        for impacts in [Impacts::Together, Impacts::InSequence] {
            if (restitution, impacts) == (Restitution::Poisson, Impacts::InSequence) {
                continue;
            }
            let law = ContactLaw {
                restitution: 0.5,
                ..viscous(0.1)
            };
            let mut options = Options::theta();
            options.contacts.restitution = restitution;
            options.contacts.impacts = impacts;
            let (mut s, p) = slider(options, law, [0.0, 0.0, -9.81], 0.05, 4.0);
            let (mut before, mut last, mut bounces) = (4.0, f64::INFINITY, 0);
            for _ in 0..200 {
                let down = s.velocities(p)[2];
                let report = s.step(0.005).unwrap();
                let (v, now) = (s.velocities(p), report.energies.total());
                assert!(v[0] <= before + 1e-12 && v[0] > 0.0, "{v:?}");
                assert!(
                    now <= last + 1e-12 && report.ledger.friction <= 1e-15,
                    "{now} {last}"
                );
                if v[2] > 0.1 && down < 0.0 {
                    // The weight of the step is in one of the two.
                    assert!((v[2] + 0.5 * down).abs() < 9.82 * 0.005, "{} {down}", v[2]);
                    bounces += 1;
                }
                (before, last) = (v[0], now);
            }
            assert!(bounces >= 2, "{bounces}");
            // It rests on the floor at the end and slows down by both frictions.
            let k = DRAG / MASS;
            let v = s.velocities(p)[0];
            s.step(0.001).unwrap();
            let rate = (s.velocities(p)[0] - v) / 0.001;
            // Of first order.
            assert!((rate / (-0.1 * 9.81 - k * v) - 1.0).abs() < 3e-3, "{rate}");
        }
    }
}

/// The points of a soft thing each have their drag.
#[test]
fn a_cloth_slides_by_the_drag_of_its_points() {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let places: Vec<[f64; 3]> = (0..9)
        .map(|k| [0.1 * f64::from(k % 3), 0.1 * f64::from(k / 3), 0.01])
        .collect();
    let velocities = [1.0, 0.0, 0.0].repeat(9);
    let p = m
        .add_independent("cloth", Space::Real(3), places.as_flattened(), &velocities)
        .unwrap();
    m.add_mass("mass", p, Mass::Uniform(MASS)).unwrap();
    let mut world = World::new();
    let material = Material {
        friction: 0.0,
        viscous_friction: DRAG,
        ..Material::default()
    };
    let material = world.add_material(material).unwrap();
    let ground = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let ground = Collider::new("ground", ground, Placement::Fixed(Pose::default()));
    world.add(ground.with_material(material)).unwrap();
    let triangles: Vec<[usize; 3]> = (0..4)
        .map(|k| 3 * (k / 2) + k % 2)
        .flat_map(|a| [[a, a + 1, a + 4], [a, a + 4, a + 3]])
        .collect();
    let cloth = Shape::soft_triangles(&triangles, 0.01).unwrap();
    let cloth = Collider::new("cloth", cloth, Placement::Points(p));
    world.add(cloth.with_material(material)).unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    for _ in 0..40 {
        s.step(0.01).unwrap();
    }
    // Nothing connects the points: each has its own mass and its own drag. Of order 2.
    let exact = (-DRAG * 0.4 / MASS).exp();
    for v in s.velocities(p).chunks(3) {
        assert!((v[0] / exact - 1.0).abs() < 1e-4, "{v:?} {exact}");
    }
}

/// Neither a negative nor an infinite drag, nor one that is no number.
#[test]
fn drags_that_make_no_sense_are_refused() {
    for drag in [-1.0, f64::NAN, f64::INFINITY] {
        let law = ContactLaw {
            viscous_friction: drag,
            ..friction(0.0)
        };
        let (mut s, _) = slider(Options::default(), law, [0.0, 0.0, -9.81], 0.0, 1.0);
        let error = s.step(0.01).unwrap_err().to_string();
        assert!(error.contains("the viscous friction of a contact"), "{error}");
    }
}

/// Does what a damper on the block would, which is in the dynamics, to the residual at which
/// Newton's method ends (1e-9).
#[test]
fn a_drag_is_a_damper() {
    for (options, _) in methods() {
        for drag in [0.1, 3.0, 20.0] {
            let law = ContactLaw {
                viscous_friction: drag,
                ..friction(0.0)
            };
            let (mut s, p) = slider(options.clone(), law, [0.0, 0.0, -9.81], 0.0, 4.0);
            let mut m = Model::new();
            let q = m
                .add_independent("q", Space::Real(3), &[0.0; 3], &[4.0, 0.0, 0.0])
                .unwrap();
            m.add_mass("mass", q, Mass::Uniform(MASS)).unwrap();
            m.add_force_field("damper", q, Damping::new(drag), Treatment::Stiffness)
                .unwrap();
            // The law of a contact is that of the end of the step, whatever the weights.
            let weights = match options.integrator {
                Integrator::Sdirk2 => options.clone(),
                _ => Options::theta(),
            };
            let mut t = Simulation::with_options(m, weights).unwrap();
            for _ in 0..10 {
                let (a, b) = (s.step(0.01).unwrap(), t.step(0.01).unwrap());
                let (v, w) = (s.velocities(p)[0], t.velocities(q)[0]);
                assert!((v - w).abs() < 1e-9, "{v} {w}");
                if options.integrator == Integrator::Sdirk2 {
                    let (a, b) = (a.ledger.friction, b.ledger.damping);
                    assert!((a - b).abs() < 1e-9, "{a} {b}");
                }
            }
        }
    }
}

/// A block that is pressed on otherwise than by its weight has its drag from the second step on, by
/// its force: then implicit Euler of `m v' = -c v`.
#[test]
fn a_contact_that_another_force_presses_on_touches_by_its_force() {
    let (mut s, p) = slider(Options::theta(), viscous(0.0), [0.0; 3], 0.0, 4.0);
    s.set_force(p, 0, &[0.0, 0.0, -5.0]).unwrap();
    let h = 0.01;
    for k in 0..30 {
        s.step(h).unwrap();
        let exact = 4.0 / (1.0 + h * DRAG / MASS).powi(k);
        assert!((s.velocities(p)[0] - exact).abs() < 1e-12, "{k}");
    }
}

/// Warm steps allocate nothing, whether contacts touch by their force or are looked at for it.
#[test]
fn a_dragged_block_allocates_nothing() {
    for (options, _) in methods() {
        for mu in [0.0, 0.1] {
            let (mut s, _) = slider(options.clone(), viscous(mu), [0.0, 0.0, -9.81], 0.0, 4.0);
            for _ in 0..5 {
                s.step(0.01).unwrap();
            }
            let counted = allocation_counter::measure(|| {
                for _ in 0..20 {
                    s.step(0.01).unwrap();
                }
            });
            assert_eq!(counted.count_total, 0);
        }
    }
}

/// The lagged coupling of friction has the same drag: the closed form to the first order of a step
/// of 10 ms, `h (mu g + c v0/m)/2` of a velocity and as much again for the first step. (With the
/// associated law the block leaves the plane as it begins to slip, and has neither friction then.)
#[test]
fn lagged_friction_has_the_drag() {
    let (mu, g, v0) = (0.2, 9.81, 4.0);
    let v1 = mu * MASS * g / DRAG;
    let exact = (v0 + v1) * (-DRAG * 0.3 / MASS).exp() - v1;
    let mut options = Options::theta();
    options.contacts.friction_coupling = FrictionCoupling::Lagged;
    let (mut s, p) = slider(options, viscous(mu), [0.0, 0.0, -g], 0.0, v0);
    for _ in 0..30 {
        s.step(0.01).unwrap();
    }
    let v = s.velocities(p)[0];
    assert!(
        (v - exact).abs() < 0.01 * (mu * g + DRAG * v0 / MASS),
        "{v} {exact}"
    );
}
