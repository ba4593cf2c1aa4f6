//! Quantities that are measured while a scene runs.

use super::Local;
use crate::quantity::{Length, Observed, Pure, Written};
use crate::{Number, Quantity};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use std::fmt;

/// A quantity that is recorded over the run.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "record")]
pub enum ProbeSpec {
    /// Places of points and bodies, values of scalars.
    Position(OfSpec),
    /// Their velocities.
    Velocity(OfSpec),
    /// Orientations of bodies, as quaternions.
    Orientation(OfSpec),
    /// Angular velocities of bodies, in world axes.
    AngularVelocity(OfSpec),
    /// The free coordinates of a joint, with their rates.
    Joint(String),
    /// Forces of a constraint, force field, motor or gear; force and torque of a whole joint.
    Force(OfSpec),
    /// The largest equivalent stress of a solid or sheet; the stress at one of the points of a
    /// solid, of an element of a sheet.
    Stress(OfSpec),
    /// The strain at one of the points of a solid, of an element of a sheet.
    Strain(OfSpec),
    /// Forces and moments in the sections of an elastic rod.
    Section(OfSpec),
    /// Stress and strain where a place is at the start.
    Gauge(GaugeSpec),
    /// The distance of two points or bodies, or of one and a fixed point.
    Distance(DistanceProbeSpec),
    /// The forces between two colliders.
    Contact(ContactProbeSpec),
    /// The reading of a sensor.
    Sensor(String),
    /// The command and the output of an actuator.
    Actuator(String),
    /// An energy of everything.
    Energy(EnergySpec),
    /// A number that is made of others.
    Expression(ExpressionSpec),
}

/// An energy of everything.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "Energy", rename_all = "lowercase")]
pub enum EnergySpec {
    /// Of motion.
    Kinetic,
    /// Of gravity, springs and compliant contacts.
    Potential,
    /// Both.
    Total,
}

/// Stress and strain at one place of a thing.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Gauge", deny_unknown_fields)]
pub struct GaugeSpec {
    /// Its name, also in expressions.
    pub name: String,
    /// A solid, sheet or elastic rod.
    pub on: String,
    /// The place (m): the nearest point, element or segment at the start is meant.
    pub at: Local<[Quantity<Length>; 3]>,
}

/// The distance of two things.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Distance", deny_unknown_fields)]
pub struct DistanceProbeSpec {
    /// Its name, also in expressions.
    pub name: String,
    /// The two ends.
    pub between: (PlaceSpec, PlaceSpec),
}

/// The forces between two colliders.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Contact", deny_unknown_fields)]
pub struct ContactProbeSpec {
    /// Its name, also in expressions.
    pub name: String,
    /// The two colliders, or lists of colliders that have one name.
    pub between: (String, String),
}

/// A number that is made of others.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Expression", deny_unknown_fields)]
pub struct ExpressionSpec {
    /// Its name, also in other expressions.
    pub name: String,
    /// The expression over quantities, parameters and the time `$t`.
    pub value: Quantity<Observed>,
}

/// A thing, `"box"`, or one of its elements, `("box", 2)`.
#[derive(Clone, Debug, PartialEq)]
pub struct OfSpec {
    /// The name of the thing.
    pub name: String,
    /// The number of the element; all of them without it.
    pub element: Option<Quantity<Pure>>,
}

/// An end of a distance: `"box"`, `("box", 2)`, or a fixed point `(x, y, z)`.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaceSpec {
    /// A point or body.
    Of(OfSpec),
    /// A point that does not move (m).
    Point(Local<[Quantity<Length>; 3]>),
}

/// Accepts a text, or a list that begins with one; with `POINTS` also three numbers.
struct Places<const POINTS: bool>;

impl<'de, const POINTS: bool> Visitor<'de> for Places<POINTS> {
    type Value = PlaceSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name in quotes, or one of its elements `(\"name\", 0)`")?;
        f.write_str(if POINTS { ", or a point `(x, y, z)`" } else { "" })
    }

    fn visit_str<E>(self, name: &str) -> Result<PlaceSpec, E> {
        Ok(PlaceSpec::Of(OfSpec {
            name: name.to_owned(),
            element: None,
        }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<PlaceSpec, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element::<Written>()? {
            numbers.push(number);
        }
        match <[Written; 3]>::try_from(numbers) {
            Ok(point) if POINTS => Ok(PlaceSpec::Point(Local {
                file: String::new(),
                value: point.map(Quantity::written),
            })),
            Ok(_) => Err(A::Error::invalid_length(3, &self)),
            Err(numbers) => match <[Written; 2]>::try_from(numbers) {
                Ok(
                    [
                        Written {
                            number: Number::Expression(name),
                            ..
                        },
                        element,
                    ],
                ) => Ok(PlaceSpec::Of(OfSpec {
                    name,
                    element: Some(Quantity::written(element)),
                })),
                Ok(_) => Err(A::Error::invalid_length(2, &self)),
                Err(numbers) => Err(A::Error::invalid_length(numbers.len(), &self)),
            },
        }
    }
}

struct AnyPlace(PlaceSpec);

impl<'de> Deserialize<'de> for AnyPlace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let place = deserializer.deserialize_newtype_struct("place", Places::<true>)?;
        Ok(Self(place))
    }
}

impl<'de> Deserialize<'de> for PlaceSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Local { file, value } = Local::<AnyPlace>::deserialize(deserializer)?;
        Ok(match value.0 {
            Self::Point(point) => Self::Point(Local { file, ..point }),
            of => of,
        })
    }
}

impl<'de> Deserialize<'de> for OfSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_newtype_struct("thing", Places::<false>)? {
            PlaceSpec::Of(of) => Ok(of),
            PlaceSpec::Point(_) => Err(D::Error::custom("expected the name of a thing")),
        }
    }
}
