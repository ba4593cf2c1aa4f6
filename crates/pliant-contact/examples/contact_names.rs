//! Follow contacts from step to step by their keys, and go back to an earlier moment.
//!
//! A box slides over the ground: its four contacts keep their keys and count their age. Lifted and
//! put down again it has new ones, unless the identities of the moment before are restored.
//!
//! `cargo run --release -p pliant-contact --example contact_names`

use pliant_contact::{Collider, ContactKey, Placement, Shape, World};
use pliant_model::{Model, Pose};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut model = Model::new();
    let node = model.add_rigid_bodies("box", &[Pose::at([0.0, 0.0, 0.1])])?;
    let mut world = World::new();
    let up = Shape::half_space([0.0, 0.0, 1.0])?;
    world.add(Collider::new("ground", up, Placement::at_origin()))?;
    let place = Placement::on_body(node, 0);
    world.add(Collider::new("box", Shape::cuboid([0.1; 3])?, place))?;
    let mut state = model.initial_state()?;
    state.velocities[0] = 2.0;
    let h = 0.01;

    let mut names: Vec<ContactKey> = Vec::new();
    for step in 0..5 {
        let contacts = world.update(&model, &state.positions, &state.velocities, h)?;
        let keys: Vec<ContactKey> = contacts.iter().map(|c| c.key).collect();
        println!("step {step}: first {:?}, age {}", keys[0], contacts[0].age);
        assert!(contacts.iter().all(|c| c.age == step));
        assert!(step == 0 || keys == names, "the same names in the same order");
        names = keys;
        state.positions[0] += h * state.velocities[0];
    }
    let before = world.memory().clone();
    assert_eq!(before.entries.len(), 4);

    state.positions[2] = 1.0;
    let none = world.update(&model, &state.positions, &state.velocities, h)?;
    assert!(none.is_empty());
    state.positions[2] = 0.1;
    let again = world.update(&model, &state.positions, &state.velocities, h)?;
    println!("put down again: first {:?}", again[0].key);
    assert!(again.iter().all(|c| c.is_new() && !names.contains(&c.key)));

    world.set_memory(before)?;
    let restored = world.update(&model, &state.positions, &state.velocities, h)?;
    println!("restored: age {}", restored[0].age);
    assert!(restored.iter().map(|c| c.key).eq(names) && restored[0].age == 5);
    Ok(())
}
