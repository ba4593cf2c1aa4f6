//! Materials of surfaces, and what two of them make together.
//!
//! Friction by a rule, here the geometric mean `sqrt(a b)`; the greater restitution; compliances in
//! series, `a + b`. A pair may be given a material of its own.
//!
//! `cargo run --release -p pliant-contact --example friction_of_pairs`

use pliant_contact::{Collider, FrictionRule, Material, Placement, Shape, World};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rubber = Material {
        compliance: 1e-5,
        ..Material::hard(0.9, 0.6)
    };
    let ice = Material::hard(0.04, 0.1);
    let mut world = World::new();
    let [rubber_id, ice_id] = [world.add_material(rubber)?, world.add_material(ice)?];
    let mut collider = |name: &str, material| -> Result<_, Box<dyn std::error::Error>> {
        let place = Placement::at_origin();
        Ok(world.add(Collider::new(name, Shape::ball(0.1)?, place).with_material(material))?)
    };
    let [tyre, heel] = [collider("tyre", rubber_id)?, collider("heel", rubber_id)?];
    let lake = collider("lake", ice_id)?;

    for (rule, expected) in [
        (FrictionRule::GeometricMean, (0.9f64 * 0.04).sqrt()),
        (FrictionRule::Minimum, 0.04),
        (FrictionRule::Maximum, 0.9),
        (FrictionRule::Product, 0.9 * 0.04),
        (FrictionRule::Mean, 0.47),
    ] {
        world.set_friction_rule(rule);
        let pair = world.pair_material(tyre, lake);
        println!("{rule:?}: friction {:.4} of rubber on ice", pair.friction);
        assert!((pair.friction - expected).abs() < 1e-15);
        assert_eq!((pair.restitution, pair.compliance), (0.6, 1e-5));
    }
    world.set_friction_rule(FrictionRule::default());
    let same = world.pair_material(tyre, heel);
    assert!((same.friction - 0.9).abs() < 1e-15 && same.compliance == 2e-5);

    // Measured for this pair: no rule.
    world.set_pair(rubber_id, ice_id, Material::hard(0.15, 0.0))?;
    assert_eq!(world.pair_material(lake, tyre).friction, 0.15);

    if let Err(refused) = world.add_material(Material::hard(-0.1, 0.0)) {
        println!("refused: {refused}");
    }
    assert_eq!(world.materials().len(), 3, "the default one and two");
    Ok(())
}
