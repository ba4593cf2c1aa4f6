//! Friction that depends on the direction: ellipses and pyramids.

use super::{slope, thrown};
use pliant::contact::*;
use pliant::prelude::*;

const H: f64 = 0.01;
const MU: f64 = 0.5;

/// Power that friction takes from a particle that slides at an angle, relative:
/// `-u . r_t/(|u| mu r_n)`, and the angle between friction and the opposite of the slip.
fn of_slip(model: FrictionModel, direction: Option<[f64; 3]>, angle: f64) -> (f64, f64) {
    let (sine, cosine) = angle.sin_cos();
    let law = ContactLaw {
        friction: MU,
        friction_model: model,
        direction,
        ..ContactLaw::default()
    };
    // So fast that a step does not turn it.
    let (mut s, _) = thrown([0.0, 0.0, -9.81], law, [0.0; 3], [1e9 * cosine, 1e9 * sine, 0.0]);
    s.step(H).unwrap();
    let [x, y, normal] = s.contacts()[0].impulse;
    let taken = -(cosine * x + sine * y) / (MU * normal);
    (taken, (cosine * y - sine * x).atan2(-(cosine * x + sine * y)))
}

/// The exact cone takes `mu` in all directions. A pyramid of `n` directions takes `mu cos(d)` or,
/// around the circle, `mu cos(d)/cos(pi/n)`, with the angle `d` to the next corner: for four
/// directions 0.707 and 1.414 at the worst, and its friction is up to 45 degrees aside.
#[test]
fn pyramids_have_their_known_errors() {
    let first = [3.0, 0.0, 1.0];
    for degrees in [0.0, 10.0, 30.0, 44.0, 45.0, 50.0, 80.0, 200.0f64] {
        let angle = degrees.to_radians();
        let (taken, aside) = of_slip(FrictionModel::Cone, None, angle);
        assert!(
            (taken - 1.0).abs() < 1e-9 && aside.abs() < 1e-9,
            "{degrees}: {taken} {aside}"
        );
        for directions in [3, 4, 8] {
            for outer in [false, true] {
                let half = std::f64::consts::PI / directions as f64;
                let model = FrictionModel::Pyramid { directions, outer };
                let (taken, aside) = of_slip(model, Some(first), angle);
                // Friction is at the corner next to the opposite of the slip.
                let corner = if outer { half } else { 0.0 };
                let turned = angle + std::f64::consts::PI - corner;
                let off = (turned / (2.0 * half)).round() * 2.0 * half - turned;
                let expected = off.cos() / if outer { half.cos() } else { 1.0 };
                assert!(
                    (taken - expected).abs() < 1e-7,
                    "{degrees} {model:?}: {taken} {expected}"
                );
                // Half way between two corners either is right, and all between.
                if (off.abs() - half).abs() > 1e-6 {
                    assert!(
                        (aside.abs() - off.abs()).abs() < 1e-7,
                        "{degrees} {model:?}: {aside} {off}"
                    );
                }
            }
        }
    }
    let worst = |outer, angle: f64| {
        let model = FrictionModel::Pyramid { directions: 4, outer };
        of_slip(model, Some(first), angle.to_radians()).0
    };
    assert!(
        (worst(false, 45.0) - 0.5f64.sqrt()).abs() < 1e-7 && (worst(true, 45.0) - 2f64.sqrt()).abs() < 1e-7
    );
}

/// On a slope along a side of the outer pyramid, or a corner of the inner one, all is as with the
/// cone; what holds is told from what slides.
#[test]
fn pyramids_tell_sticking_from_slipping() {
    for outer in [false, true] {
        let model = FrictionModel::Pyramid { directions: 4, outer };
        let law = ContactLaw {
            friction: MU,
            friction_model: model,
            direction: Some([1.0, 0.0, 0.0]),
            ..ContactLaw::default()
        };
        for (tangent, expected) in [(0.45, ContactState::Sticking), (0.55, ContactState::Slipping)] {
            let angle = f64::atan(tangent);
            let (mut s, node) = thrown(slope(angle), law, [0.0; 3], [0.0; 3]);
            for _ in 0..5 {
                s.step(H).unwrap();
            }
            assert_eq!(s.contacts()[0].state, expected);
            let slid = 0.05 * 9.81 * (angle.sin() - MU * angle.cos()).max(0.0);
            assert!((s.velocities(node)[0] - slid).abs() < 1e-9);
        }
    }
}

/// Friction `-mu_i^2 u_i r_n/|(mu_1 u_1, mu_2 u_2)|` takes most of all in the ellipse. A block at
/// rest on a slope slides off in a straight line, and `g_t = -friction/m + a`, with `a` along the
/// slip, is one equation for its angle.
#[test]
fn a_block_slides_aside_on_a_grain() {
    let (along, across) = (0.6, 0.2);
    for (grain, tilt) in [
        (0.0, 35.0),
        (20.0, 35.0),
        (65.0, 40.0),
        (110.0, 25.0),
        (90.0, 60.0f64),
    ] {
        let (grain, tilt) = (f64::to_radians(grain), tilt.to_radians());
        let law = ContactLaw {
            friction: along,
            friction_model: FrictionModel::Ellipse { across },
            direction: Some([grain.cos(), grain.sin(), 0.3]),
            ..ContactLaw::default()
        };
        let (mut s, node) = thrown(slope(tilt), law, [0.0; 3], [0.0; 3]);
        for _ in 0..10 {
            s.step(H).unwrap();
        }
        let [x, y] = [s.velocities(node)[0], s.velocities(node)[1]];
        let found = y.atan2(x);
        // Gravity along and across the grain.
        let g = [9.81 * tilt.sin() * grain.cos(), -9.81 * tilt.sin() * grain.sin()];
        let normal = 9.81 * tilt.cos();
        let acceleration = |t: f64| {
            let scaled = (along * t.cos()).hypot(across * t.sin());
            [
                g[0] - normal * along * along * t.cos() / scaled,
                g[1] - normal * across * across * t.sin() / scaled,
            ]
        };
        // The angle from the grain at which the acceleration is along the slip.
        let off = |t: f64| acceleration(t)[1] * t.cos() - acceleration(t)[0] * t.sin();
        let start = g[1].atan2(g[0]);
        let (mut low, mut high) = (start - 1.5, start + 1.5);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if off(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let a = acceleration(low);
        let length = a[0] * low.cos() + a[1] * low.sin();
        if length <= 0.0 {
            continue;
        }
        let turned = found - grain - low;
        assert!(turned.sin().abs() < 1e-9 && turned.cos() > 0.0, "{found} {low}");
        assert!((x.hypot(y) - 0.1 * length).abs() < 1e-9, "{x} {y} {length}");
        // The ellipse is met exactly, and slip is read in the world's units.
        let reading = s.contacts()[0];
        assert_eq!(reading.state, ContactState::Slipping);
        assert!((reading.velocity[0] - x).abs() < 1e-12 && (reading.velocity[1] - y).abs() < 1e-12);
        let r = reading.impulse;
        let on = [
            (r[0] * grain.cos() + r[1] * grain.sin()) / along,
            (r[1] * grain.cos() - r[0] * grain.sin()) / across,
        ];
        assert!((on[0].hypot(on[1]) / r[2] - 1.0).abs() < 1e-9);
    }
}

/// Along the grain it holds to `tan(a) = 0.6`, across to 0.2; between, in the ellipse.
#[test]
fn a_grain_holds_within_its_ellipse() {
    let (along, across) = (0.6f64, 0.2f64);
    for degrees in [0.0, 15.0, 45.0, 80.0, 90.0f64] {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let limit = 1.0 / (cosine / along).hypot(sine / across);
        for (share, holds) in [(0.999, true), (1.001, false)] {
            let law = ContactLaw {
                friction: along,
                friction_model: FrictionModel::Ellipse { across },
                direction: Some([cosine, sine, 0.0]),
                ..ContactLaw::default()
            };
            let (mut s, node) = thrown(slope((share * limit).atan()), law, [0.0; 3], [0.0; 3]);
            for _ in 0..5 {
                s.step(H).unwrap();
            }
            let moved = s.positions(node)[0].hypot(s.positions(node)[1]);
            assert_eq!(moved < 1e-12, holds, "{degrees} {share}: {moved:e}");
            let state = s.contacts()[0].state;
            assert_eq!(state == ContactState::Sticking, holds, "{degrees} {share}");
        }
    }
}

/// A block with a grain of its own: turned by a quarter, it slides across where it held along.
#[test]
fn a_grain_turns_with_its_body() {
    use pliant::collision::*;
    for (quarter, slides) in [(0.0, false), (std::f64::consts::FRAC_PI_2, true)] {
        let mut m = Model::new();
        m.set_gravity(slope(0.4f64.atan())).unwrap();
        let pose = Pose::turned([0.0, 0.0, 0.1], [0.0, 0.0, 1.0], quarter);
        let node = m.add_rigid_bodies("block", &[pose]).unwrap();
        m.add_mass(
            "mass",
            node,
            Mass::Rigid(vec![RigidMass::cuboid(1.0, [0.6, 0.6, 0.2])]),
        )
        .unwrap();
        let mut world = World::new();
        let smooth = Material {
            friction: 1.0,
            ..Material::default()
        };
        let grained = Material {
            friction: 0.6,
            friction_model: FrictionModel::Ellipse { across: 0.2 },
            direction: Some(Direction::Body([1.0, 0.0, 0.0])),
            ..Material::default()
        };
        world.set_friction_rule(FrictionRule::Product);
        let [smooth, grained] = [smooth, grained].map(|m| world.add_material(m).unwrap());
        let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
        let ground = Collider::new("ground", plane, Placement::Fixed(Pose::default()));
        world.add(ground.with_material(smooth)).unwrap();
        let place = Placement::Body {
            node,
            element: 0,
            pose: Pose::default(),
        };
        let block = Collider::new("block", Shape::cuboid([0.3, 0.3, 0.1]).unwrap(), place);
        world.add(block.with_material(grained)).unwrap();
        let mut s = crate::tools::theta(m).unwrap();
        s.set_contacts(world).unwrap();
        for _ in 0..10 {
            s.step(H).unwrap();
        }
        let angle = 0.4f64.atan();
        let expected = if slides {
            0.1 * 9.81 * (angle.sin() - 0.2 * angle.cos())
        } else {
            0.0
        };
        let v = s.velocities(node)[0];
        assert!((v - expected).abs() < 1e-6, "{v} {expected}");
    }
}

#[test]
fn laws_of_directions_are_checked() {
    let wrong = [
        FrictionModel::Pyramid {
            directions: 2,
            outer: false,
        },
        FrictionModel::Ellipse { across: 0.0 },
        FrictionModel::Ellipse { across: f64::NAN },
    ];
    for friction_model in wrong {
        let law = ContactLaw {
            friction: MU,
            friction_model,
            ..ContactLaw::default()
        };
        let (mut s, _) = thrown([0.0, 0.0, -9.81], law, [0.0; 3], [0.0; 3]);
        assert!(
            matches!(s.step(H), Err(Error::Collision(_))),
            "{friction_model:?}"
        );
    }
    let law = ContactLaw {
        friction: MU,
        direction: Some([f64::NAN; 3]),
        ..ContactLaw::default()
    };
    let (mut s, _) = thrown([0.0, 0.0, -9.81], law, [0.0; 3], [0.0; 3]);
    assert!(matches!(s.step(H), Err(Error::OutOfRange { .. })));
}
