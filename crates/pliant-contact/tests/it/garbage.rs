//! Bad input: an error that names it, or a contact of finite numbers. Never a panic, never NaN.

use pliant_contact::{Collider, CollisionGroups, ContactError, Material, MeshKind, Placement, Shape, World};
use pliant_model::{Model, Pose};

use crate::rig::{Random, Rig, touch};

const BAD: [f64; 5] = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

#[test]
fn sizes_that_are_none() {
    for x in BAD {
        assert!(Shape::ball(x).is_err());
        assert!(Shape::capsule(x, 1.0).is_err() && Shape::capsule(1.0, x).is_err());
        assert!(Shape::cylinder(x, 1.0).is_err() && Shape::cylinder(1.0, x).is_err());
        for k in 0..3 {
            let mut half = [1.0; 3];
            half[k] = x;
            assert!(Shape::cuboid(half).is_err());
        }
        assert!(Shape::soft_points(&[0], x).is_err());
        assert!(Shape::soft_segments(&[[0, 1]], x).is_err());
        assert!(Shape::soft_triangles(&[[0, 1, 2]], x).is_err());
        assert!(Shape::height_field(&[0.0; 4], 2, [x, 1.0]).is_err());
    }
    assert_eq!(
        Shape::ball(-1.0).unwrap_err().to_string(),
        "the radius of a ball is -1, but must be positive"
    );
    assert!(Shape::half_space([0.0; 3]).is_err() && Shape::half_space([f64::NAN, 0.0, 1.0]).is_err());
    assert!(Shape::half_space([1e-300, 0.0, 0.0]).is_ok() && Shape::half_space([1e300; 3]).is_ok());
}

#[test]
fn hulls_of_too_little() {
    assert!(Shape::convex_hull(&[]).is_err());
    assert!(Shape::convex_hull(&[[0.0; 3]; 10]).is_err());
    let line: Vec<[f64; 3]> = (0..10).map(|k| [f64::from(k); 3]).collect();
    assert!(Shape::convex_hull(&line).is_err());
    let flat: Vec<[f64; 3]> = (0..10).map(|k| [f64::from(k), f64::from(k * k), 3.0]).collect();
    assert!(matches!(
        Shape::convex_hull(&flat),
        Err(ContactError::Degenerate { .. })
    ));
    assert!(
        Shape::convex_hull(&[
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, f64::NAN]
        ])
        .is_err()
    );
}

#[test]
fn hulls_of_awkward_points() {
    // Repeated points, grids with many in one plane, points nearly in the faces, tiny and huge: a
    // hull or an error.
    let mut random = Random(17);
    for case in 0..300 {
        let scale = [1.0, 1e-6, 1e6, 1e-12][case % 4];
        let mut points = Vec::new();
        for k in 0..8 + case % 40 {
            let p = random.vector(1.0);
            points.push(match case % 5 {
                0 => p,
                1 => p.map(|x| (x * 2.0).round()),
                2 => [
                    p[0].signum(),
                    p[1].signum(),
                    p[2].signum() * (1.0 + 1e-13 * f64::from(k as u32)),
                ],
                3 => [p[0], p[1], p[2] * 1e-6],
                _ => [p[0].round(), p[1], p[2].round()],
            });
        }
        points.extend_from_within(..4);
        for p in &mut points {
            *p = p.map(|x| x * scale);
        }
        let Ok(shape) = Shape::convex_hull(&points) else {
            continue;
        };
        let found = touch(
            (shape, Pose::default()),
            (
                Shape::cuboid([scale; 3]).unwrap(),
                Pose::turned([scale * 1.5, 0.0, 0.0], [1.0, 2.0, 3.0], 0.5),
            ),
            100.0 * scale,
        );
        assert!(!found.is_empty() && found.len() <= 4, "case {case}");
        assert!(
            found
                .iter()
                .all(|c| c.gap.is_finite() && c.normal.iter().all(|x| x.is_finite()))
        );
    }
}

#[test]
fn meshes_that_are_none() {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mesh = |triangles: &[[usize; 3]], kind| Shape::triangle_mesh(&corners, triangles, kind);
    assert!(mesh(&[], MeshKind::Surface).is_err());
    assert!(matches!(
        mesh(&[[0, 1, 4]], MeshKind::Surface),
        Err(ContactError::Index {
            point: 4,
            count: 4,
            ..
        })
    ));
    assert!(matches!(
        mesh(&[[0, 1, 1]], MeshKind::Surface),
        Err(ContactError::Degenerate { entry: 0, .. })
    ));
    let line = [[0.0; 3], [1.0; 3], [2.0; 3]];
    assert!(Shape::triangle_mesh(&line, &[[0, 1, 2]], MeshKind::Surface).is_err());
    let outward = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    assert!(mesh(&outward, MeshKind::Solid).is_ok());
    assert!(matches!(
        mesh(&outward[..3], MeshKind::Solid),
        Err(ContactError::Edge { .. })
    ));
    let inward = outward.map(|[a, b, c]| [a, c, b]);
    assert!(mesh(&inward, MeshKind::Solid).is_err());
    let mut mixed = outward;
    mixed[0].swap(0, 1);
    assert!(matches!(
        mesh(&mixed, MeshKind::Solid),
        Err(ContactError::Edge { .. })
    ));
    assert!(
        Shape::soft_triangles(&[[0, 1, 1]], 0.1).is_err() && Shape::soft_segments(&[[2, 2]], 0.1).is_err()
    );
    assert!(Shape::soft_points(&[], 0.1).is_err() && Shape::soft_points(&[usize::MAX], 0.1).is_err());
    assert!(Shape::height_field(&[0.0; 5], 2, [1.0; 2]).is_err());
    assert!(Shape::height_field(&[0.0; 3], 3, [1.0; 2]).is_err());
    assert!(Shape::height_field(&[], 0, [1.0; 2]).is_err());
    assert!(Shape::height_field(&[0.0, 0.0, f64::NAN, 0.0], 2, [1.0; 2]).is_err());
    assert!(Shape::compound(&[]).is_err());
    let soft = Shape::soft_points(&[0], 0.1).unwrap();
    assert!(Shape::compound(&[(Pose::default(), soft)]).is_err());
    let ball = Shape::ball(1.0).unwrap();
    assert!(
        Shape::compound(&[(
            Pose {
                rotation: [0.0; 4],
                ..Pose::default()
            },
            ball
        )])
        .is_err()
    );
}

#[test]
fn colliders_in_wrong_places() {
    let mut model = Model::new();
    let bodies = model.add_rigid_bodies("bodies", &[Pose::default()]).unwrap();
    let points = model.add_particles("points", &[[0.0; 3]; 3]).unwrap();
    let state = model.initial_state().unwrap();
    let ball = || Shape::ball(1.0).unwrap();
    let cloth = || Shape::soft_triangles(&[[0, 1, 2]], 0.1).unwrap();
    let body = |node, element| Placement::Body {
        node,
        element,
        pose: Pose::default(),
    };
    let mut world = World::new();
    let mut refused = |collider: Collider| world.add(collider).unwrap_err();
    refused(Collider::new("a", cloth(), Placement::Fixed(Pose::default())));
    refused(Collider::new("a", ball(), Placement::Points(points)));
    refused(Collider::new("a", ball(), body(bodies, 0)).with_margin(-1.0));
    refused(Collider::new("a", ball(), body(bodies, 0)).with_self_contact(1));
    refused(Collider::new("a", cloth(), Placement::Points(points)).with_self_contact(0));
    refused(Collider::new(
        "a",
        ball(),
        Placement::Fixed(Pose {
            position: [f64::NAN; 3],
            ..Pose::default()
        }),
    ));
    for (collider, message) in [
        (
            Collider::new("ball", ball(), body(points, 0)),
            "collider `ball` needs a node of rigid bodies, found `points` of points of space",
        ),
        (
            Collider::new("ball", ball(), body(bodies, 1)),
            "collider `ball` refers to element 1, but there are 1",
        ),
        (
            Collider::new(
                "cloth",
                Shape::soft_points(&[3], 0.1).unwrap(),
                Placement::Points(points),
            ),
            "collider `cloth` refers to element 3, but there are 3",
        ),
    ] {
        let mut world = World::new();
        world.add(collider).unwrap();
        let error = world
            .update(&model, &state.positions, &state.velocities, 0.1)
            .unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let other = Model::new();
    let mut world = World::new();
    world.add(Collider::new("ball", ball(), body(bodies, 0))).unwrap();
    assert!(matches!(
        world.update(&other, &[], &[], 0.1),
        Err(ContactError::Missing { what: "node", .. })
    ));
    assert!(matches!(
        world.add(Collider::new("ball", ball(), body(bodies, 0))),
        Err(ContactError::DuplicateName { .. })
    ));
}

#[test]
fn materials_out_of_range() {
    let mut world = World::new();
    for bad in [
        Material {
            friction: -0.1,
            ..Material::default()
        },
        Material {
            friction: f64::NAN,
            ..Material::default()
        },
        Material {
            restitution: 1.1,
            ..Material::default()
        },
        Material {
            compliance: -1.0,
            ..Material::default()
        },
        Material {
            relaxation_time: f64::INFINITY,
            ..Material::default()
        },
        Material {
            viscous_friction: f64::NAN,
            ..Material::default()
        },
        Material {
            viscous_friction: -1.0,
            ..Material::default()
        },
        Material {
            rolling_friction: -1.0,
            ..Material::default()
        },
        Material {
            torsional_friction: -1.0,
            ..Material::default()
        },
    ] {
        assert!(world.add_material(bad).is_err());
    }
}

#[test]
fn states_with_bad_numbers_leave_the_memory() {
    let mut rig = Rig::new(&[
        (Shape::ball(0.5).unwrap(), Pose::default()),
        (Shape::cuboid([0.5; 3]).unwrap(), Pose::at([0.9, 0.0, 0.0])),
    ]);
    rig.contacts(0.01);
    let memory = rig.world.memory().clone();
    for k in 0..14 {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut positions = rig.state.positions.clone();
            positions[k] = bad;
            assert!(
                rig.world
                    .update(&rig.model, &positions, &rig.state.velocities, 0.01)
                    .is_err()
            );
            let mut velocities = rig.state.velocities.clone();
            velocities[k % 12] = bad;
            assert!(
                rig.world
                    .update(&rig.model, &rig.state.positions, &velocities, 0.01)
                    .is_err()
            );
        }
    }
    for horizon in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(
            rig.world
                .update(&rig.model, &rig.state.positions, &rig.state.velocities, horizon)
                .is_err()
        );
    }
    assert!(
        rig.world
            .update(&rig.model, &rig.state.positions[..5], &rig.state.velocities, 0.01)
            .is_err()
    );
    assert!(
        rig.world
            .update(&rig.model, &rig.state.positions, &[], 0.01)
            .is_err()
    );
    assert_eq!(*rig.world.memory(), memory);
}

#[test]
fn coincident_deep_and_disparate_pairs_give_finite_contacts() {
    let mesh = || {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        Shape::triangle_mesh(
            &corners,
            &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            MeshKind::Solid,
        )
        .unwrap()
    };
    let shapes = |scale: f64| {
        vec![
            Shape::ball(scale).unwrap(),
            Shape::cuboid([scale; 3]).unwrap(),
            Shape::capsule(scale, scale).unwrap(),
            Shape::cylinder(scale, scale).unwrap(),
            Shape::convex_hull(&[[0.0; 3], [scale, 0.0, 0.0], [0.0, scale, 0.0], [0.0, 0.0, scale]]).unwrap(),
            mesh(),
        ]
    };
    for (big, small) in [(1.0, 1.0), (1.0, 1e-6), (1e6, 1.0), (1e-3, 1e3)] {
        for (i, a) in shapes(big).into_iter().enumerate() {
            for (j, b) in shapes(small).into_iter().enumerate() {
                for offset in [[0.0; 3], [0.25 * big, 0.1 * big, 0.0], [0.0, 0.0, big]] {
                    for speed in [0.0, 1e3, 1e12] {
                        let mut rig =
                            Rig::new(&[(a.clone(), Pose::default()), (b.clone(), Pose::at(offset))]);
                        rig.state.velocities[0] = speed;
                        rig.state.velocities[9] = speed;
                        for c in rig.contacts(0.01) {
                            let numbers =
                                c.a.point
                                    .iter()
                                    .chain(&c.b.point)
                                    .chain(&c.normal)
                                    .chain([&c.gap]);
                            assert!(
                                numbers.into_iter().all(|x| x.is_finite()),
                                "{i} {j} {offset:?} {speed} {c:?}"
                            );
                            let n = c.normal;
                            assert!(
                                (n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1.0).abs() < 1e-9,
                                "{i} {j}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_soft_surface_crumpled_to_a_point_gives_finite_contacts() {
    let mut model = Model::new();
    let node = model.add_particles("points", &[[0.1, 0.2, 0.3]; 9]).unwrap();
    let mut world = World::new();
    let triangles = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6]];
    let cloth = Shape::soft_triangles(&triangles, 0.01).unwrap();
    world
        .add(Collider::new("cloth", cloth, Placement::Points(node)).with_self_contact(1))
        .unwrap();
    let cable = Shape::soft_segments(&[[0, 1], [1, 2], [5, 6]], 0.01).unwrap();
    world
        .add(Collider::new("cable", cable, Placement::Points(node)).with_self_contact(1))
        .unwrap();
    let place = Placement::Fixed(Pose::default());
    world
        .add(Collider::new("box", Shape::cuboid([0.5; 3]).unwrap(), place))
        .unwrap();
    let state = model.initial_state().unwrap();
    let found = world
        .update(&model, &state.positions, &state.velocities, 0.01)
        .unwrap();
    assert!(!found.is_empty());
    for c in found {
        assert!(
            c.gap.is_finite() && c.normal.iter().all(|x| x.is_finite()),
            "{c:?}"
        );
    }
}

#[test]
fn groups_and_exclusions_are_obeyed() {
    let parts = [
        (Shape::ball(0.5).unwrap(), Pose::default()),
        (Shape::ball(0.5).unwrap(), Pose::at([0.9, 0.0, 0.0])),
    ];
    let mut rig = Rig::new(&parts);
    assert_eq!(rig.contacts(0.01).len(), 1);
    let ids = ["body 0", "body 1"].map(|name| rig.world.collider_named(name).unwrap());
    rig.world.exclude(ids[1], ids[0]).unwrap();
    assert!(rig.contacts(0.01).is_empty());
    let (a, b) = (
        CollisionGroups {
            membership: 1,
            filter: 2,
        },
        CollisionGroups {
            membership: 2,
            filter: 4,
        },
    );
    assert!(
        !a.meet(b)
            && a.meet(CollisionGroups { filter: 1, ..b })
            && CollisionGroups::default().meet(CollisionGroups::default())
    );
}

/// Sets of which one is lost in the rounding of the other would make parry panic.
#[test]
fn absurd_sizes_are_contacts_with_numbers_or_errors() {
    let sizes = [1e-308, 1e-160, 1e-20, 1.0, 1e20, 1e160, 1e308];
    for a in sizes {
        for b in sizes {
            let shapes = [
                Shape::cylinder(a, b),
                Shape::capsule(a, b),
                Shape::cuboid([a, b, 1.0]),
                Shape::convex_hull(&[[0.0; 3], [a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, 1.0]]),
            ];
            for shape in shapes.into_iter().flatten() {
                for other in [
                    Shape::cylinder(1.0, 1.0),
                    Shape::cylinder(b, a),
                    Shape::cuboid([1.0; 3]),
                ] {
                    let place = Pose::turned([0.3, 0.2, 0.5], [1.0, 2.0, 3.0], 0.7);
                    let list = [(shape.clone(), Pose::default()), (other.unwrap(), place)];
                    let mut rig = Rig::new(&list);
                    let found =
                        rig.world
                            .update(&rig.model, &rig.state.positions, &rig.state.velocities, 0.01);
                    for c in found.iter().flat_map(|list| list.iter()) {
                        let length = pliant_dense::Vec3::from(c.normal).norm();
                        assert!(
                            (length - 1.0).abs() < 1e-6 && c.gap.is_finite(),
                            "{a:e} {b:e}: {c:?}"
                        );
                    }
                }
            }
        }
    }
}
