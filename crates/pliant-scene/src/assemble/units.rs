//! Numbers that are hardly meant in SI units: masses in grams, lengths in millimetres, moduli in
//! megapascals. They are warned of and never refused.

use super::{Builder, Result};
use crate::Warning;
use crate::source::Where;
use pliant::model::RigidMass;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The heaviest and the lightest body that nobody asks about (kg/m^3 in its shape): osmium has
/// 22,600, air 1.2.
const DENSITIES: std::ops::RangeInclusive<f64> = 1e-2..=1e5;
/// The lightest material that nobody asks about where there is gravity (kg/m^3): aerogels have a
/// few, and water has 1 in grams per cubic centimetre.
const LEAST_MATERIAL: f64 = 1.5;
/// The heaviest body that nobody asks about (kg).
const MOST_MASS: f64 = 1e6;
/// The extent of a scene (m) beside which moduli softer than rubber are taken for megapascals.
const MOST_SOFT_EXTENT: f64 = 1000.0;
/// Gravity that no place on a planet has (m/s^2).
const MOST_GRAVITY: f64 = 1000.0;
/// Gravity on the ground (m/s^2), and the extent of a scene in it that is taken for millimetres
/// (m).
const GROUND: std::ops::RangeInclusive<f64> = 9.7..=10.0;
const MOST_EXTENT: f64 = 300.0;
/// Density of stone (kg/m^3) and stiffness of rubber (Pa): heavy things are not so soft.
const STONE: f64 = 2000.0;
const RUBBER: f64 = 1e6;

/// Densities and moduli by the name of their entry, as they are read.
#[derive(Debug, Default)]
pub(super) struct Units(RefCell<BTreeMap<(String, &'static str), f64>>);

/// The keys under which bodies are kept that nothing is as heavy or light as in its shape, and those
/// that are as heavy as ships.
const BODY: &str = "mass";
const HEAVY: &str = "heavy";

impl Units {
    /// Takes notice of a number, if it has a unit that tells.
    pub(super) fn note(&self, at: Where<'_>, value: f64) {
        let Where::Field(name, key) = at else { return };
        if let Some(key) = ["density", "young"].into_iter().find(|k| *k == key) {
            self.0.borrow_mut().insert((name.to_owned(), key), value);
        }
    }

    /// Takes notice of a body whose shape gives its moments of inertia.
    pub(super) fn note_body(&self, name: &str, mass: &RigidMass) {
        let density = density(mass);
        if density.is_finite() && density > 0.0 && !DENSITIES.contains(&density) {
            let key = (name.to_owned(), BODY);
            self.0.borrow_mut().entry(key).or_insert(density);
        } else if mass.mass >= MOST_MASS {
            let key = (name.to_owned(), HEAVY);
            self.0.borrow_mut().entry(key).or_insert(mass.mass);
        }
    }
}

/// All numbers of a scene that are hardly meant.
pub(super) fn suspicions(builder: &mut Builder<'_>) -> Result<Vec<Warning>> {
    let extent = extent(builder)?;
    let mut list = Vec::new();
    let mut warn = |places: &[Where<'_>], message: String, help: &str| {
        let diagnostic = builder.source.about(places, message, Some(help.to_owned()));
        list.push(Warning(diagnostic));
    };
    let gravity = builder.model.initial_parameters().gravity();
    let size = gravity.iter().fold(0.0f64, |a, g| a.hypot(*g));
    let lightest = if size > 0.0 {
        LEAST_MATERIAL
    } else {
        *DENSITIES.start()
    };
    let numbers = builder.units.0.take();
    for ((name, key), value) in &numbers {
        let written = if *key == HEAVY { BODY } else { key };
        let places = [Where::Field(name, written), Where::Name(name)];
        let density = numbers.get(&(name.clone(), "density")).copied();
        if *key == BODY {
            let message = format!("a body of `{name}` has {value:.1e} kg/m^3 in its shape");
            warn(&places, message, "masses are in kilograms, lengths in metres");
        }
        if *key == HEAVY {
            let message = format!("a body of `{name}` weighs {value:.1e} kg");
            warn(&places, message, "masses are in kilograms, lengths in metres");
        }
        if *key == "density" && *value > 0.0 && !(lightest..=*DENSITIES.end()).contains(value) {
            let message = format!("the density of `{name}` is {value:e} kg/m^3");
            warn(
                &places,
                message,
                "densities are in kg/m^3: 1e-9 t/mm^3 are 1000, 1 g/cm^3 is 1000",
            );
        }
        if *key == "young" && *value > 0.0 && *value < RUBBER && density.is_some_and(|d| d > STONE) {
            let message = format!(
                "Young's modulus of `{name}` is {value} Pa, softer than rubber, at {} kg/m^3",
                density.unwrap_or_default()
            );
            warn(&places, message, "moduli are in Pa: 1 MPa is 1e6, 1 GPa is 1e9");
        }
    }
    let at = [Where::Key("gravity")];
    if size > MOST_GRAVITY {
        let message = format!("gravity is {size} m/s^2");
        warn(&at, message, "lengths are in metres: on the ground it is 9.81");
    }
    let soft = numbers.iter().find(|((_, key), value)| {
        *key == "young" && **value > 0.0 && **value < RUBBER && extent > MOST_SOFT_EXTENT
    });
    if let Some(((name, key), value)) = soft {
        let message = format!(
            "Young's modulus of `{name}` is {value} Pa, softer than rubber, in a scene {extent:.0} m wide"
        );
        let places = [Where::Field(name, key), Where::Name(name)];
        warn(
            &places,
            message,
            "lengths are in metres, moduli in Pa: not in millimetres and MPa",
        );
    } else if GROUND.contains(&size) && extent > MOST_EXTENT {
        let message = format!("the scene is {extent:.0} m wide, in a gravity of {size} m/s^2");
        warn(&at, message, "lengths are in metres");
    }
    Ok(list)
}

/// The diagonal of the box about all points and bodies at the start (m).
fn extent(builder: &mut Builder<'_>) -> Result<f64> {
    let state = builder
        .model
        .initial_state()
        .map_err(|e| builder.model_error(e))?;
    Ok(super::extent(&builder.model, &state))
}

/// Density of a body (kg/m^3): its mass in the solid box of its moments of inertia.
fn density(rigid: &RigidMass) -> f64 {
    let m = rigid.inertia_matrix();
    let half = 0.5 * (m[(0, 0)] + m[(1, 1)] + m[(2, 2)]);
    let edges = [0, 1, 2].map(|k| (12.0 * (half - m[(k, k)]) / rigid.mass).sqrt());
    rigid.mass / edges.iter().product::<f64>()
}
