//! Materials of contacts.

use super::super::{Builder, Result, frames};
use super::{DEFAULT, Making};
use crate::Amount;
use crate::schema::{AxesSpec, ContactLawSpec, FrictionModelSpec, Scene};
use crate::source::Where;
use pliant::collision::{Direction, FrictionModel, Material, MaterialId};
use pliant::contact::FrictionCoupling;
use pliant::dense::Vec3;
use pliant_expression::suggest;

/// The numbers of a law of contact with their keys.
fn numbers(law: &ContactLawSpec) -> [(&'static str, &Amount); 9] {
    [
        ("friction", &law.friction),
        ("restitution", &law.restitution),
        ("compliance", &law.compliance),
        ("foundation", &law.foundation),
        ("relaxation_time", &law.relaxation_time),
        ("dissipation", &law.dissipation),
        ("viscous_friction", &law.viscous_friction),
        ("torsional_friction", &law.torsional_friction),
        ("rolling_friction", &law.rolling_friction),
    ]
}

pub(super) fn materials<'a>(builder: &Builder<'_>, scene: &'a Scene, making: &mut Making<'a>) -> Result<()> {
    for spec in &scene.materials {
        let name = spec.name.as_str();
        if making.materials.contains_key(name) {
            let message = if name == DEFAULT {
                format!("the material `{DEFAULT}` is that of colliders that name none")
            } else {
                format!("the name `{name}` is used twice among the materials")
            };
            return builder.wrong(&[Where::Name(name)], message, None);
        }
        let material = material(builder, name, &spec.law, |key| Where::Field(name, key))?;
        let added = making.world.add_material(material);
        let id = added.map_err(|e| builder.contact_error(name, "friction", &e))?;
        making.materials.insert(name, id);
    }
    for pair in &scene.material_pairs {
        let (first, second) = (pair.between.0.as_str(), pair.between.1.as_str());
        let [a, b] = [first, second].map(|name| material_named(builder, name, first, making));
        let material = material(builder, first, &pair.law, |key| Where::Used("between", key))?;
        let set = making.world.set_pair(a?, b?, material);
        set.map_err(|e| builder.contact_error(first, "friction", &e))?;
    }
    making.world.set_friction_rule(scene.friction_rule);
    Ok(())
}

fn material<'a>(
    builder: &Builder<'_>,
    name: &str,
    law: &ContactLawSpec,
    at: impl Fn(&'static str) -> Where<'a>,
) -> Result<Material> {
    let mut values = [0.0; 9];
    for (value, (key, number)) in values.iter_mut().zip(numbers(law)) {
        *value = builder.number(number, at(key))?;
        let (fine, range) = match key {
            "restitution" => ((0.0..=1.0).contains(value), "from 0 to 1"),
            _ => (*value >= 0.0, "zero or more"),
        };
        if !fine {
            let message = format!("`{key}` of the material `{name}` is {value}, but must be {range}");
            return builder.wrong(
                &[at(key), Where::Field(name, key), Where::Name(name)],
                message,
                None,
            );
        }
    }
    let [
        friction,
        restitution,
        compliance,
        foundation,
        relaxation_time,
        dissipation,
        viscous_friction,
        torsional_friction,
        rolling_friction,
    ] = values;
    let (friction_model, direction) = friction_model(builder, name, &law.friction_model, friction, &at)?;
    Ok(Material {
        friction,
        friction_model,
        direction,
        restitution,
        compliance,
        foundation,
        relaxation_time,
        dissipation,
        viscous_friction,
        torsional_friction,
        rolling_friction,
    })
}

fn friction_model<'a>(
    builder: &Builder<'_>,
    name: &str,
    spec: &FrictionModelSpec,
    friction: f64,
    at: &impl Fn(&'static str) -> Where<'a>,
) -> Result<(FrictionModel, Option<Direction>)> {
    let (model, direction, axes) = match spec {
        FrictionModelSpec::Cone => return Ok((FrictionModel::Cone, None)),
        FrictionModelSpec::Pyramid(spec) => {
            let directions = builder.whole(&spec.directions, 3, 1000, at("directions"))?;
            let outer = spec.outer;
            (
                FrictionModel::Pyramid { directions, outer },
                spec.direction.as_ref(),
                spec.axes,
            )
        }
        FrictionModelSpec::Ellipse(spec) => {
            let across = builder.number(&spec.across, at("across"))?;
            (
                FrictionModel::Ellipse { across },
                Some(&spec.direction),
                spec.axes,
            )
        }
    };
    let direction = direction
        .map(|d| match axes {
            AxesSpec::Body => builder.triple(d, at("direction")),
            AxesSpec::World => {
                let turned = builder.frame(name);
                let d = builder.triple(d, at("direction"))?;
                Ok(turned.map_or(d, |frame| frames::turn(&frame, d)))
            }
        })
        .transpose()?;
    let places = |key| [at(key), Where::Field(name, key), Where::Name(name)];
    if direction.is_some_and(|d| Vec3::from(d).amax() == 0.0) {
        let message = format!("the direction of friction of the material `{name}` is zero");
        return builder.wrong(&places("direction"), message, None);
    }
    let exact = builder.options.contacts.couplings() == [FrictionCoupling::Exact; 2];
    if !exact && matches!(model, FrictionModel::Pyramid { .. }) {
        let key = match builder.options.contacts.friction_coupling {
            FrictionCoupling::Exact => "friction_fallback",
            _ => "friction_coupling",
        };
        let message = format!("the friction pyramid of the material `{name}` is for `{key}: Exact` only");
        let help = Some("take `Cone` or `Ellipse`".to_owned());
        return builder.wrong(&places("directions"), message, help);
    }
    if let Err(error) = model.check(friction) {
        return builder.wrong(&places("across"), format!("material `{name}`: {error}"), None);
    }
    let direction = direction.map(|d| match axes {
        AxesSpec::Body => Direction::Body(d),
        AxesSpec::World => Direction::World(d),
    });
    Ok((model, direction))
}

pub(super) fn material_named(
    builder: &Builder<'_>,
    name: &str,
    user: &str,
    making: &Making<'_>,
) -> Result<MaterialId> {
    if let Some(id) = making.materials.get(name) {
        return Ok(*id);
    }
    let help = suggest::hint(name, "materials", making.materials.keys().copied());
    let places = [Where::Literal(user, name), Where::Name(user)];
    builder.wrong(&places, format!("unknown material `{name}`"), help)
}
