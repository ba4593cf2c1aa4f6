//! Resistance to spin about the normal and to rolling.

use super::{Ball, exactly, friction};
use pliant::contact::{ContactLaw, FrictionModel, Restitution};
use pliant::prelude::*;

/// A top without gyroscopic effects spins down by the torque `torsion N`, a rolling ball by
/// `rolling N` at its radius.
#[test]
fn spin_and_rolling_are_resisted_by_torques_in_proportion_to_the_load() {
    let run = |law: ContactLaw, v: [f64; 3], w: [f64; 3]| {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let pose = Pose {
            position: [0.0, 0.0, 0.1],
            rotation: [1.0, 0.0, 0.0, 0.0],
        };
        let b = m.add_rigid_bodies("ball", &[pose]).unwrap();
        let mass = Mass::Rigid(vec![RigidMass::sphere(2.0, 0.1)]);
        m.add_mass("mass", b, mass).unwrap();
        m.set_body_velocity(b, 0, v, w).unwrap();
        let mut s = Simulation::with_options(m, exactly()).unwrap();
        s.set_contacts(Ball(b, law)).unwrap();
        for _ in 0..50 {
            s.step(0.001).unwrap();
        }
        let (_, torque) = s.contact_force(b, 0);
        let reading = s.contacts()[0];
        // Of the spin row alone, where friction has no arm about the normal.
        assert!((torque[2] - reading.torque_impulse[2] / 0.001).abs() < 1e-9);
        (s.world_velocity(b, 0).unwrap(), reading)
    };
    let (m, r, n) = (2.0, 0.1, 2.0 * 9.81);
    let inertia = 0.4 * m * r * r;
    // Spin about the normal: I dw = -torsion N dt.
    let law = ContactLaw {
        torsion: 2e-4,
        ..friction(0.5)
    };
    let ((v, w), reading) = run(law, [0.0; 3], [0.0, 0.0, 30.0]);
    assert!((w[2] - (30.0 - 2e-4 * n / inertia * 0.05)).abs() < 1e-9, "{w:?}");
    assert!(v.iter().all(|v| v.abs() < 1e-11));
    assert!((reading.torque_impulse[2] + 2e-4 * n * 0.001).abs() < 1e-11);
    // Enough torsion stops it, and holds it.
    let law = ContactLaw { torsion: 0.1, ..law };
    let ((_, w), _) = run(law, [0.0; 3], [0.0, 0.0, 3.0]);
    assert!(w[2].abs() < 1e-11, "{w:?}");
    // Rolling in any direction: (I + m r^2) dw = -rolling N dt.
    for turn in [0.0, 0.4, 1.9] {
        let law = ContactLaw {
            rolling: 1e-3,
            ..friction(0.5)
        };
        let along: [f64; 3] = [f64::cos(turn), f64::sin(turn), 0.0];
        let w0 = [-along[1] * 20.0, along[0] * 20.0, 0.0];
        let ((v, _), _) = run(law, along.map(|x| 2.0 * x), w0);
        let expected = 2.0 - 1e-3 * n / (inertia + m * r * r) * r * 0.05;
        for k in 0..3 {
            assert!(
                (v[k] - expected * along[k]).abs() < 1e-9,
                "{turn}: {v:?} {expected}"
            );
        }
    }
}

/// A ball of 2 kg and 0.1 m on a slope, in exact steps.
fn ball(angle: f64, law: ContactLaw, v: [f64; 3], w: [f64; 3]) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity(super::slope(angle)).unwrap();
    let pose = Pose {
        position: [0.0, 0.0, 0.1],
        rotation: [1.0, 0.0, 0.0, 0.0],
    };
    let b = m.add_rigid_bodies("ball", &[pose]).unwrap();
    let mass = Mass::Rigid(vec![RigidMass::sphere(2.0, 0.1)]);
    m.add_mass("mass", b, mass).unwrap();
    m.set_body_velocity(b, 0, v, w).unwrap();
    let mut s = Simulation::with_options(m, exactly()).unwrap();
    s.set_contacts(Ball(b, law)).unwrap();
    (s, b)
}

/// A rolling ball comes to rest after `v^2/(2 a)`, `a = (5/7) g rolling/R`, and stays.
#[test]
fn a_rolling_ball_comes_to_rest() {
    let law = ContactLaw {
        rolling: 2e-3,
        torsion: 1e-4,
        ..friction(0.3)
    };
    let (mut s, b) = ball(0.0, law, [0.3, 0.4, 0.0], [-4.0, 3.0, 0.0]);
    let a = 9.81 * 2e-3 / 0.1 / 1.4;
    let time = 0.5 / a;
    let (h, mut energy) = (1e-3, f64::INFINITY);
    while s.time() < time - h {
        let report = s.step(h).unwrap();
        assert!(report.energies.total() < energy);
        energy = report.energies.total();
        // Decelerated evenly, along its way, while it rolls.
        let (v, w) = s.world_velocity(b, 0).unwrap();
        let speed = 0.5 - a * s.time();
        for (found, exact) in [
            (v[0], 0.6 * speed),
            (v[1], 0.8 * speed),
            (w[0], -8.0 * speed),
            (w[1], 6.0 * speed),
        ] {
            assert!((found - exact).abs() < 1e-9, "{} {v:?} {w:?}", s.time());
        }
    }
    s.step(h).unwrap();
    s.step(h).unwrap();
    let rest = s.pose(b, 0).unwrap().position;
    // The way of implicit Euler is off by half a step.
    let way = rest[0].hypot(rest[1]);
    assert!((way - 0.25 / (2.0 * a)).abs() < 0.5 * h, "{way}");
    assert!((rest[1] * 3.0 - rest[0] * 4.0).abs() < 1e-9);
    for _ in 0..100 {
        s.step(h).unwrap();
    }
    let (v, w) = s.world_velocity(b, 0).unwrap();
    assert!(v.iter().chain(&w).all(|x| x.abs() < 1e-10), "{v:?} {w:?}");
    assert!((s.pose(b, 0).unwrap().position[0] - rest[0]).abs() < 1e-11);
}

/// A spinning ball stops after `I w/(torsion N)`.
#[test]
fn a_spinning_ball_stops_in_its_time() {
    let law = ContactLaw {
        torsion: 1e-3,
        ..friction(0.3)
    };
    let (mut s, b) = ball(0.0, law, [0.0; 3], [0.0, 0.0, 20.0]);
    // I w/(torsion N) = 0.4 R^2 20/(1e-3 9.81) = 8.15 s.
    let time = 0.4 * 0.01 * 20.0 / (1e-3 * 9.81);
    let h = 0.01;
    while s.time() < time - h {
        s.step(h).unwrap();
        let (_, w) = s.world_velocity(b, 0).unwrap();
        assert!((w[2] - 20.0 * (1.0 - s.time() / time)).abs() < 1e-8, "{w:?}");
    }
    for _ in 0..3 {
        s.step(h).unwrap();
    }
    assert!(s.world_velocity(b, 0).unwrap().1[2].abs() < 1e-12);
}

/// On a slope it rolls from `tan(angle) = rolling/R` on, with `a = (5/7) g (sin - cos rolling/R)`.
#[test]
fn a_ball_begins_to_roll_at_its_angle() {
    let law = ContactLaw {
        rolling: 5e-3,
        ..friction(0.5)
    };
    let limit = (5e-3f64 / 0.1).atan();
    for share in [0.0, 0.5, 0.999, 1.001, 1.5] {
        let angle = share * limit;
        let (mut s, b) = ball(angle, law, [0.0; 3], [0.0; 3]);
        for _ in 0..100 {
            s.step(0.01).unwrap();
        }
        let a = 9.81 * (angle.sin() - angle.cos() * 0.05) / 1.4;
        let (v, _) = s.world_velocity(b, 0).unwrap();
        assert!((v[0] - a.max(0.0)).abs() < 1e-9, "{share}: {v:?} {a}");
    }
    // Without friction to hold it, it slides, and resistance keeps it from turning at all.
    let angle = 0.2f64;
    let (mut s, b) = ball(angle, ContactLaw { friction: 0.0, ..law }, [0.0; 3], [0.0; 3]);
    for _ in 0..10 {
        s.step(0.01).unwrap();
    }
    let (v, w) = s.world_velocity(b, 0).unwrap();
    assert!(
        (v[0] - 0.1 * 9.81 * angle.sin()).abs() < 1e-11 && w == [0.0; 3],
        "{v:?} {w:?}"
    );
}

/// Sliding, rolling and spinning at once have no preferred direction.
#[test]
fn all_at_once_is_isotropic() {
    let law = ContactLaw {
        torsion: 2e-3,
        rolling: 5e-3,
        ..friction(0.3)
    };
    let run = |turn: f64| {
        let (sine, cosine) = turn.sin_cos();
        let turned = |x: f64, y: f64, z: f64| [cosine * x - sine * y, sine * x + cosine * y, z];
        let (mut s, b) = ball(0.0, law, turned(1.0, 0.2, 0.0), turned(3.0, -2.0, 10.0));
        let (mut energy, mut work) = (f64::INFINITY, 0.0);
        for _ in 0..100 {
            let report = s.step(0.002).unwrap();
            assert!(report.energies.total() < energy && report.contacts.work < 0.0);
            energy = report.energies.total();
            work += report.contacts.work;
        }
        let (v, w) = s.world_velocity(b, 0).unwrap();
        let back = |v: [f64; 3]| [cosine * v[0] + sine * v[1], cosine * v[1] - sine * v[0], v[2]];
        // The work of impulses is what the kinetic energy has lost: 1/2 m v^2 + 1/2 I w^2 on a
        // level plane.
        let kinetic = |v: [f64; 3], w: [f64; 3]| {
            let square = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>();
            square(v) + 0.5 * 0.4 * 0.02 * square(w)
        };
        let start = kinetic([1.0, 0.2, 0.0], [3.0, -2.0, 10.0]);
        assert!((start + work - kinetic(v, w)).abs() < 1e-9, "{work}");
        (back(v), back(w))
    };
    let (v, w) = run(0.0);
    // It still moves.
    assert!(v[0] > 0.1 && w[2] > 1.0, "{v:?} {w:?}");
    for turn in [0.3, 1.0, 2.5] {
        let (a, b) = run(turn);
        for k in 0..3 {
            assert!(
                (a[k] - v[k]).abs() < 1e-9 && (b[k] - w[k]).abs() < 1e-8,
                "{turn}: {a:?} {b:?}"
            );
        }
    }
}

/// A polygon of sliding friction has no torques beside it.
#[test]
fn a_polygon_with_torques_is_refused() {
    let law = ContactLaw {
        friction_model: FrictionModel::Pyramid {
            directions: 4,
            outer: false,
        },
        rolling: 1e-3,
        ..friction(0.3)
    };
    let (mut s, _) = ball(0.0, law, [0.0; 3], [0.0; 3]);
    let error = s.step(0.01).unwrap_err().to_string();
    assert!(error.contains("polygon"), "{error}");
}

/// An impact by Newton's law takes spin in proportion to its normal impulse; one by Poisson's law
/// leaves it.
#[test]
fn impacts_take_spin_by_newtons_law_only() {
    let law = ContactLaw {
        torsion: 1e-3,
        restitution: 0.5,
        ..friction(0.3)
    };
    let taken = 1e-3 * 2.0 * 1.5 / (0.4 * 2.0 * 0.01);
    for (restitution, loss) in [(Restitution::Newton, taken), (Restitution::Poisson, 0.0)] {
        let (mut s, b) = ball(0.0, law, [0.0, 0.0, -1.0], [0.0, 0.0, 10.0]);
        s.options.contacts.restitution = restitution;
        // Gravity adds 1e-6 of the impulse in a step of 1e-7 s.
        s.step(1e-7).unwrap();
        let (v, w) = s.world_velocity(b, 0).unwrap();
        assert!((v[2] - 0.5).abs() < 1e-5, "{restitution:?} {v:?}");
        assert!((10.0 - w[2] - loss).abs() < 1e-5, "{restitution:?} {w:?}");
    }
}
