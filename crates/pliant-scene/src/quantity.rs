//! Numbers of a scene with the units that they may have.

use crate::Number;
use pliant_expression::Dimension;
use serde::Deserialize;
use serde::de::Deserializer;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Deref;

/// The units that the number of a key may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Takes {
    /// The name under which readers of scenes are asked for it.
    pub(crate) name: &'static str,
    /// Its dimensions: one, or several of which other keys decide. None: that of a coordinate, or
    /// of anything, which only the node knows.
    pub dimensions: &'static [Dimension],
    /// Whether a number without unit is in degrees.
    pub in_degrees: bool,
}

/// The units that a quantity may have, as a type.
pub trait Units: Clone + Debug + PartialEq + 'static {
    /// The units.
    const TAKES: &'static Takes;
}

/// A number or an expression, and the units that it may have.
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    /// As it is written.
    pub number: Number,
    /// The units that it may have.
    pub takes: &'static Takes,
    /// The units in which it is read without one of its own, if its file says some.
    pub bases: Option<Bases>,
}

/// The units of a file: sizes in SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bases {
    /// The unit of mass (kg).
    pub mass: f64,
    /// The unit of length (m).
    pub length: f64,
    /// The unit of time (s).
    pub time: f64,
}

impl Bases {
    /// The unit of a dimension (SI).
    pub fn unit(&self, dimension: Dimension) -> f64 {
        dimension.size([self.mass, self.length, self.time])
    }
}

/// A number as it is written, with the units of its file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Written {
    pub(crate) number: Number,
    pub(crate) bases: Option<Bases>,
}

impl Amount {
    /// The same number where only these dimensions are right.
    pub(crate) fn taking(&self, takes: &'static Takes) -> Self {
        Self {
            takes,
            ..self.clone()
        }
    }
}

/// A number or an expression that may have the units `D`: `0.5`, `"20 mm"`, `"$length / 2"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity<D: Units> {
    amount: Amount,
    of: PhantomData<D>,
}

impl<D: Units> Quantity<D> {
    /// A number as it is written.
    pub fn new(number: Number) -> Self {
        Self {
            amount: Amount {
                number,
                takes: D::TAKES,
                bases: None,
            },
            of: PhantomData,
        }
    }

    /// A number of a file.
    pub(crate) fn written(written: Written) -> Self {
        let mut out = Self::new(written.number);
        out.amount.bases = written.bases;
        out
    }

    /// The number where what it is about is known to take these units, if it is read in the units
    /// of its file. What has a unit of its own is taken as it is.
    pub(crate) fn fitting(&self, takes: Option<&'static Takes>) -> Self {
        match (takes, self.bases) {
            (Some(takes), Some(_)) => self.taking(takes),
            _ => self.clone(),
        }
    }

    /// Another number of the same file and units.
    pub(crate) fn with(&self, number: Number) -> Self {
        Self::written(Written {
            number,
            bases: self.bases,
        })
    }
}

impl<D: Units> Quantity<D> {
    /// The same number where only these units are right.
    pub(crate) fn taking(&self, takes: &'static Takes) -> Self {
        Self {
            amount: self.amount.taking(takes),
            of: PhantomData,
        }
    }
}

/// A default, in SI units.
impl<D: Units> From<f64> for Quantity<D> {
    fn from(value: f64) -> Self {
        Self::new(Number::Value(value))
    }
}

impl<D: Units> Deref for Quantity<D> {
    type Target = Amount;

    fn deref(&self) -> &Amount {
        &self.amount
    }
}

impl<'de, D: Units> Deserialize<'de> for Quantity<D> {
    fn deserialize<T: Deserializer<'de>>(deserializer: T) -> Result<Self, T::Error> {
        Written::read(deserializer, D::TAKES.name).map(Self::written)
    }
}

/// Declares types of units.
macro_rules! units {
    ($($(#[doc = $doc:literal])* $name:ident = [$($dimension:expr),*];)*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name;

            impl Units for $name {
                const TAKES: &'static Takes = &Takes {
                    name: concat!("number ", stringify!($name)),
                    dimensions: &[$($dimension),*],
                    in_degrees: false,
                };
            }
        )*

        /// All of them but [`Degrees`].
        const PLAIN: &[&Takes] = &[$($name::TAKES),*];
    };
}

const LENGTH: Dimension = Dimension::LENGTH;
const TIME: Dimension = Dimension::TIME;
const FORCE: Dimension = Dimension::FORCE;
const ANGLE: Dimension = Dimension::ANGLE;
const RATE: Dimension = TIME.inverse();
const SPEED: Dimension = LENGTH.times(RATE);
const SPIN: Dimension = ANGLE.times(RATE);
const TORQUE: Dimension = FORCE.times(LENGTH);
const DAMPING: Dimension = FORCE.times(SPEED.inverse());
const ANGULAR_DAMPING: Dimension = TORQUE.times(SPIN.inverse());
const COMPLIANCE: Dimension = LENGTH.times(FORCE.inverse());
const ANGULAR_COMPLIANCE: Dimension = ANGLE.times(TORQUE.inverse());
const PRESSURE: Dimension = Dimension::of(1, -1, -2);
const INERTIA: Dimension = Dimension::of(1, 2, 0);

units! {
    /// Numbers without unit, and counts.
    Pure = [Dimension::NONE];
    /// Coordinates of any node, and what acts on them.
    Any = [];
    /// Quantities of things and what is made of them, in SI units whatever those of the file.
    Observed = [];
    /// Lengths (m).
    Length = [LENGTH];
    /// Areas (m^2).
    Area = [Dimension::of(0, 2, 0)];
    /// Volumes (m^3).
    Volume = [Dimension::of(0, 3, 0)];
    /// Masses (kg).
    Mass = [Dimension::MASS];
    /// Masses of points (kg), or of scalars that are angles (kg m^2).
    Masses = [Dimension::MASS, INERTIA];
    /// Times (s).
    Time = [TIME];
    /// Angles (rad).
    Angle = [ANGLE];
    /// Velocities (m/s).
    Velocity = [SPEED];
    /// Angular velocities (rad/s).
    Turning = [SPIN];
    /// Accelerations (m/s^2).
    Acceleration = [SPEED.times(RATE)];
    /// Rates (1/s).
    Rate = [RATE];
    /// Forces (N).
    Force = [FORCE];
    /// Torques and bending stiffnesses of sheets (N m).
    Torque = [TORQUE];
    /// Energies (J).
    Energy = [TORQUE];
    /// Pressures and moduli (Pa).
    Pressure = [PRESSURE];
    /// Compliances of matter (1/Pa).
    InversePressure = [PRESSURE.inverse()];
    /// Compliances of elastic foundations (m/Pa).
    LengthPerPressure = [LENGTH.times(PRESSURE.inverse())];
    /// Moments of inertia (kg m^2).
    Inertia = [INERTIA];
    /// Densities (kg/m^3).
    Density = [Dimension::of(1, -3, 0)];
    /// Densities of volumes, areas or lines, by what a mesh is made of (kg/m^3, kg/m^2, kg/m).
    MeshDensity = [
        Dimension::of(1, -3, 0),
        Dimension::of(1, -2, 0),
        Dimension::of(1, -1, 0)
    ];
    /// Compliances (m/N).
    Compliance = [COMPLIANCE];
    /// Stiffnesses (N/m).
    Stiffness = [COMPLIANCE.inverse()];
    /// Stiffnesses over the square of the extension (N/m^3).
    CubicStiffness = [COMPLIANCE.inverse().times(LENGTH.inverse()).times(LENGTH.inverse())];
    /// Stiffnesses of angles (N m/rad).
    AngularStiffness = [ANGULAR_COMPLIANCE.inverse()];
    /// Stiffnesses of angles over the square of the angle (N m/rad^3).
    CubicAngularStiffness = [ANGULAR_COMPLIANCE.inverse().times(ANGLE.inverse()).times(ANGLE.inverse())];
    /// Compliances of angles (rad/(N m)).
    AngularCompliance = [ANGULAR_COMPLIANCE];
    /// Compliances of lengths or of angles (m/N, rad/(N m)).
    Compliances = [COMPLIANCE, ANGULAR_COMPLIANCE];
    /// Damping (N s/m).
    Damping = [DAMPING];
    /// Damping by the square of the velocity (N s^2/m^2).
    SquareDamping = [DAMPING.times(SPEED.inverse())];
    /// Damping of angles (N m s/rad).
    AngularDamping = [ANGULAR_DAMPING];
    /// Damping of angles by the square of their velocity (N m s^2/rad^2).
    SquareAngularDamping = [ANGULAR_DAMPING.times(SPIN.inverse())];
    /// Damping of lengths or of angles (N s/m, N m s/rad).
    CoordinateDamping = [DAMPING, ANGULAR_DAMPING];
    /// Inverse velocities (s/m).
    InverseVelocity = [SPEED.inverse()];
    /// Free coordinates of joints (m, rad).
    Coordinate = [LENGTH, ANGLE];
    /// Velocities of free coordinates of joints (m/s, rad/s).
    CoordinateSpeed = [SPEED, SPIN];
    /// Forces on free coordinates of joints (N, N m).
    CoordinateForce = [FORCE, TORQUE];
}

/// Units of what acts on the coordinates of a node, which the node alone knows.
#[derive(Debug)]
pub(crate) struct Acting {
    pub(crate) coordinate: &'static Takes,
    pub(crate) force: &'static Takes,
    pub(crate) stiffness: &'static Takes,
    pub(crate) compliance: &'static Takes,
    pub(crate) damping: &'static Takes,
    pub(crate) drag: &'static Takes,
    pub(crate) cubic: &'static Takes,
}

/// Units of what acts on lengths.
pub(crate) const ON_LENGTHS: Acting = Acting {
    coordinate: Length::TAKES,
    force: Force::TAKES,
    stiffness: Stiffness::TAKES,
    compliance: Compliance::TAKES,
    damping: Damping::TAKES,
    drag: SquareDamping::TAKES,
    cubic: CubicStiffness::TAKES,
};

/// Units of what acts on angles.
pub(crate) const ON_ANGLES: Acting = Acting {
    coordinate: Angle::TAKES,
    force: Torque::TAKES,
    stiffness: AngularStiffness::TAKES,
    compliance: AngularCompliance::TAKES,
    damping: AngularDamping::TAKES,
    drag: SquareAngularDamping::TAKES,
    cubic: CubicAngularStiffness::TAKES,
};

/// Angles that are in degrees if no unit is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Degrees;

impl Units for Degrees {
    const TAKES: &'static Takes = &Takes {
        name: "number Degrees",
        dimensions: &[ANGLE],
        in_degrees: true,
    };
}

/// The units of all types of quantities.
pub(crate) fn all() -> Vec<&'static Takes> {
    PLAIN.iter().copied().chain([Degrees::TAKES]).collect()
}
