//! Say which colliders meet: groups as bits, and single pairs that are left out.
//!
//! Of `n` balls in one place `n (n - 1) / 2` pairs touch. Two meet if each is in a group that the
//! other looks for: `m_a & f_b != 0` and `m_b & f_a != 0`.
//!
//! `cargo run --release -p pliant-contact --example who_may_touch`

use pliant_contact::{Collider, ColliderId, CollisionGroups, Placement, Shape, World};
use pliant_model::{Model, Pose};

const ROBOT: u32 = 1;
const PART: u32 = 2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names = ["upper arm", "forearm", "hand", "part", "other part"];
    let mut model = Model::new();
    let node = model.add_rigid_bodies("bodies", &[Pose::default(); 5])?;
    let state = model.initial_state()?;
    let build = |groups: &dyn Fn(usize) -> CollisionGroups| -> Result<World, Box<dyn std::error::Error>> {
        let mut world = World::new();
        for (element, name) in names.iter().enumerate() {
            let place = Placement::on_body(node, element);
            world.add(Collider::new(name, Shape::ball(0.1)?, place).with_groups(groups(element)))?;
        }
        Ok(world)
    };
    let touching = |world: &mut World| -> Result<Vec<String>, Box<dyn std::error::Error>> {
        let contacts = world.update(&model, &state.positions, &state.velocities, 0.0)?;
        let name = |id: ColliderId| names[id.index()];
        let pairs = contacts.iter().map(|c| (name(c.key.a), name(c.key.b)));
        Ok(pairs.map(|(a, b)| format!("{a} and {b}")).collect())
    };

    let mut all = build(&|_| CollisionGroups::default())?;
    assert_eq!(touching(&mut all)?.len(), 10);

    // Robots look for parts only; parts for everything.
    let mut world = build(&|k| match k {
        0..3 => CollisionGroups::new(ROBOT, PART),
        _ => CollisionGroups::new(PART, ROBOT | PART),
    })?;
    let found = touching(&mut world)?;
    println!("by groups: {found:?}");
    assert_eq!(found.len(), 3 * 2 + 1, "robot with parts, and the parts");

    // The hand holds the part: this pair is left out.
    let [hand, part] = ["hand", "part"].map(|name| world.collider_named(name));
    if let (Some(hand), Some(part)) = (hand, part) {
        world.exclude(hand, part)?;
    }
    let found = touching(&mut world)?;
    assert_eq!(found.len(), 6);
    assert!(!found.contains(&"hand and part".to_owned()));
    Ok(())
}
