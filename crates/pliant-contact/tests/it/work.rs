//! What an update costs in memory once it is warm: nothing.

use pliant_contact::{Collider, Place, Shape};
use pliant_model::Pose;

use crate::rig::Rig;

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
            Place::Fixed(Pose::at([-2.0, -2.0, 0.0])),
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
