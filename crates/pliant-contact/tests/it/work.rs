//! Memory that an update allocates once it is warm: none.

use pliant_contact::{Collider, ContactError, Placement, Shape};
use pliant_model::Pose;

use crate::rig::Rig;

use pliant_contact::{FrictionRule, Material, World};
use pliant_model::Model;

#[test]
fn a_warm_update_allocates_nothing() {
    let parts: Vec<(Shape, Pose)> = (0..40)
        .map(|k| {
            let shape = match k % 3 {
                0 => Shape::cuboid([0.5, 0.5, 0.5]),
                1 => Shape::ball(0.5),
                _ => Shape::capsule(0.3, 0.3),
            };
            (
                shape.unwrap(),
                Pose::at([
                    f64::from(k % 4),
                    f64::from(k / 4 % 4),
                    0.5 + f64::from(k / 16) * 0.95,
                ]),
            )
        })
        .collect();
    let heights: Vec<f64> = (0..100).map(|k| 0.01 * f64::from(k % 7)).collect();
    let mut rig = Rig::new(&parts);
    let ground = Shape::height_field(&heights, 10, [1.0, 1.0]).unwrap();
    rig.world
        .add(Collider::new(
            "ground",
            ground,
            Placement::Fixed(Pose::at([-2.0, -2.0, 0.0])),
        ))
        .unwrap();
    for _ in 0..3 {
        assert!(rig.contacts(0.01).len() > 50);
    }
    let Rig {
        model, world, state, ..
    } = &mut rig;
    let count = allocation_counter::measure(|| {
        world
            .update(model, &state.positions, &state.velocities, 0.01)
            .unwrap();
    });
    assert_eq!(count.count_total, 0, "{count:?}");
}

#[test]
fn a_warm_update_of_a_folded_cloth_on_a_ball_allocates_nothing() {
    let n = 12;
    let fold = |x: f64| if x > 0.55 { (1.1 - x, 0.015) } else { (x, 0.0) };
    let points: Vec<[f64; 3]> = (0..n * n)
        .map(|k| {
            let (x, z) = fold((k % n) as f64 * 0.1);
            [x, (k / n) as f64 * 0.1, z]
        })
        .collect();
    let mut triangles = Vec::new();
    for y in 0..n - 1 {
        for x in 0..n - 1 {
            let k = y * n + x;
            triangles.extend([[k, k + 1, k + n + 1], [k, k + n + 1, k + n]]);
        }
    }
    let mut model = Model::new();
    let node = model.add_particles("points", &points).unwrap();
    let mut world = World::new();
    let rough = world
        .add_material(Material {
            friction: 2.0,
            ..Material::default()
        })
        .unwrap();
    world.set_friction_rule(FrictionRule::Maximum);
    let glue = Material {
        friction: 5.0,
        ..Material::default()
    };
    world.set_pair(rough, rough, glue).unwrap();
    let cloth = Collider::new(
        "cloth",
        Shape::soft_triangles(&triangles, 0.005).unwrap(),
        Placement::Points(node),
    );
    world
        .add(cloth.with_self_contact(1).with_margin(0.01).with_material(rough))
        .unwrap();
    let place = Placement::Fixed(Pose::at([0.3, 0.5, -0.51]));
    world
        .add(Collider::new("ball", Shape::ball(0.5).unwrap(), place))
        .unwrap();
    let state = model.initial_state().unwrap();
    for _ in 0..3 {
        let found = world
            .update(&model, &state.positions, &state.velocities, 0.01)
            .unwrap();
        assert!(found.len() > 100);
        for c in found {
            let own = c.a.collider == c.b.collider;
            assert_eq!(c.material.friction, if own { 5.0 } else { 2.0 });
        }
    }
    let count = allocation_counter::measure(|| {
        world
            .update(&model, &state.positions, &state.velocities, 0.01)
            .unwrap();
    });
    assert_eq!(count.count_total, 0, "{count:?}");
}

/// A search that may take fewer tests than it needs is an error that names colliders, and the
/// names of contacts stay.
#[test]
fn a_search_of_too_many_tests_ends() {
    let parts: Vec<(Shape, Pose)> = (0..20)
        .map(|k| {
            let shape = Shape::ball(0.5).unwrap();
            (
                shape,
                Pose::at([f64::from(k % 5) * 0.9, f64::from(k / 5) * 0.9, 0.5]),
            )
        })
        .collect();
    let mut rig = Rig::new(&parts);
    let ground = Shape::height_field(&[0.0; 100], 10, [1.0, 1.0]).unwrap();
    let place = Placement::Fixed(Pose::at([-2.0, -2.0, 0.0]));
    rig.world.add(Collider::new("ground", ground, place)).unwrap();
    assert!(rig.contacts(0.01).len() > 20);
    let (names, needed) = (rig.world.memory().clone(), rig.world.tests());
    assert!(needed > 50, "{needed}");
    let Rig {
        model, world, state, ..
    } = &mut rig;
    for most in 0..needed {
        world.set_most_tests(most);
        let error = world
            .update(model, &state.positions, &state.velocities, 0.01)
            .unwrap_err();
        let ContactError::TooManyTests { count, limit, .. } = error else {
            panic!("{error}");
        };
        assert!(limit == most && count > most, "{count} of {most}");
        assert!(count <= most + 300, "{count} of {most}");
        assert_eq!(*world.memory(), names);
    }
    world.set_most_tests(2 * needed);
    world
        .update(model, &state.positions, &state.velocities, 0.01)
        .unwrap();
}
