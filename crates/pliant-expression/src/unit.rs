//! Units of measurement: their factors to SI, and the dimensions that they have.

use std::fmt;

/// Exponents are kept in twelfths, so that square and cube roots of units are exact.
const WHOLE: i16 = 12;
/// Symbols of the units in which dimensions are written, in the order of their exponents.
const BASE: [&str; 4] = ["kg", "m", "s", "rad"];

/// The dimension of a number: exponents of mass, length, time and angle.
///
/// Angles count as numbers where dimensions are compared ([`agrees`](Self::agrees)), as they do in
/// SI: an arc is a radius times an angle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension([i16; 4]);

impl Dimension {
    /// The dimension of pure numbers.
    pub const NONE: Self = Self::of(0, 0, 0);
    /// The dimension of angles (rad).
    pub const ANGLE: Self = Self([0, 0, 0, WHOLE]);
    /// The dimension of lengths (m).
    pub const LENGTH: Self = Self::of(0, 1, 0);
    /// The dimension of masses (kg).
    pub const MASS: Self = Self::of(1, 0, 0);
    /// The dimension of times (s).
    pub const TIME: Self = Self::of(0, 0, 1);
    /// The dimension of forces (N).
    pub const FORCE: Self = Self::of(1, 1, -2);

    /// The dimension kg^`mass` m^`length` s^`time`.
    pub const fn of(mass: i16, length: i16, time: i16) -> Self {
        Self([mass * WHOLE, length * WHOLE, time * WHOLE, 0])
    }

    /// The dimension of a product.
    #[must_use]
    pub const fn times(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([
            a.saturating_add(e),
            b.saturating_add(f),
            c.saturating_add(g),
            d.saturating_add(h),
        ])
    }

    /// The dimension of one over it.
    #[must_use]
    pub const fn inverse(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([
            a.saturating_neg(),
            b.saturating_neg(),
            c.saturating_neg(),
            d.saturating_neg(),
        ])
    }

    /// The dimension of a power, if its exponents are twelfths of reasonable size.
    pub fn power(self, exponent: f64) -> Option<Self> {
        /// Larger exponents are none that anybody means.
        const MOST: f64 = 100.0 * WHOLE as f64;
        let mut powers = [0; 4];
        for (power, own) in powers.iter_mut().zip(self.0) {
            let wanted = f64::from(own) * exponent;
            let whole = wanted.round();
            // Negated, so that what is no number is refused, too.
            if !((wanted - whole).abs() < 1e-9 && whole.abs() <= MOST) {
                return None;
            }
            #[expect(clippy::cast_possible_truncation, reason = "a whole number of small size")]
            let whole = whole as i16;
            *power = whole;
        }
        Some(Self(powers))
    }

    /// The size (SI) of its unit where these are the units of mass, length and time (SI).
    pub fn size(self, [mass, length, time]: [f64; 3]) -> f64 {
        let power = |base: f64, twelfths: i16| match twelfths % WHOLE {
            0 => base.powi(i32::from(twelfths / WHOLE)),
            _ => base.powf(f64::from(twelfths) / f64::from(WHOLE)),
        };
        let [a, b, c, _] = self.0;
        power(mass, a) * power(length, b) * power(time, c)
    }

    /// Whether it is that of numbers or of powers of angles.
    pub fn is_number(self) -> bool {
        self.0[..3] == [0; 3]
    }

    /// Whether it is that of an angle.
    pub fn is_angle(self) -> bool {
        self == Self::ANGLE
    }

    /// Whether numbers of both may be compared and added: angles count as numbers.
    pub fn agrees(self, other: Self) -> bool {
        self.0[..3] == other.0[..3]
    }

    /// Its unit in SI: `kg m/s^2`; empty for pure numbers.
    fn symbol(self) -> String {
        let part = |sign: i16| {
            let parts = BASE.iter().zip(self.0).filter(|(_, e)| e.signum() == sign);
            let power = |(name, e): (&&str, i16)| match e.abs() {
                WHOLE => (*name).to_owned(),
                e if e % WHOLE == 0 => format!("{name}^{}", e / WHOLE),
                e => format!("{name}^({e}/{WHOLE})"),
            };
            parts.map(power).collect::<Vec<_>>()
        };
        let (above, below) = (part(1), part(-1));
        match (above.is_empty(), below.len()) {
            (_, 0) => above.join(" "),
            (true, 1) => format!("1/{}", below[0]),
            (true, _) => format!("1/({})", below.join(" ")),
            (false, 1) => format!("{}/{}", above.join(" "), below[0]),
            (false, _) => format!("{}/({})", above.join(" "), below.join(" ")),
        }
    }

    /// Its unit in SI, by the short name if it has one: `N`, `kg/m^3`; empty for pure numbers.
    pub fn unit(self) -> String {
        self.named()
            .map_or_else(|| self.symbol(), |(_, unit)| unit.to_owned())
    }

    /// Its name, and its unit; that of a dimension that differs by an angle if it has none itself.
    fn named(self) -> Option<(&'static str, &'static str)> {
        let same = NAMES.iter().find(|(of, ..)| *of == self);
        let near = || NAMES.iter().find(|(of, ..)| of.agrees(self) && !self.is_number());
        same.or_else(near).map(|(_, name, unit)| (*name, *unit))
    }
}

/// Dimensions that have names, with their units.
const NAMES: &[(Dimension, &str, &str)] = &[
    (Dimension::NONE, "a number without unit", ""),
    (Dimension::ANGLE, "an angle", "rad"),
    (Dimension::LENGTH, "a length", "m"),
    (Dimension::of(0, 2, 0), "an area", "m^2"),
    (Dimension::of(0, 3, 0), "a volume", "m^3"),
    (Dimension::MASS, "a mass", "kg"),
    (Dimension::TIME, "a time", "s"),
    (Dimension::of(0, 0, -1), "a rate", "1/s"),
    (Dimension([0, 0, -WHOLE, WHOLE]), "an angular velocity", "rad/s"),
    (Dimension::of(0, 1, -1), "a velocity", "m/s"),
    (Dimension::of(0, 1, -2), "an acceleration", "m/s^2"),
    (Dimension::FORCE, "a force", "N"),
    (Dimension::of(1, 2, -2), "a torque or an energy", "N m"),
    (Dimension::of(1, 2, -3), "a power", "W"),
    (Dimension::of(1, -1, -2), "a pressure", "Pa"),
    (Dimension::of(-1, 1, 2), "a compliance of pressure", "1/Pa"),
    (Dimension::of(1, -3, 0), "a density", "kg/m^3"),
    (Dimension::of(1, -2, 0), "a density of an area", "kg/m^2"),
    (Dimension::of(1, -1, 0), "a density of a line", "kg/m"),
    (Dimension::of(1, 2, 0), "a moment of inertia", "kg m^2"),
    (Dimension::of(1, 0, -2), "a stiffness", "N/m"),
    (Dimension::of(-1, 0, 2), "a compliance", "m/N"),
    (Dimension::of(-1, -2, 2), "a compliance of an angle", "rad/(N m)"),
    (Dimension::of(1, 0, -1), "a damping", "N s/m"),
    (Dimension::of(1, 2, -1), "a damping of an angle", "N m s/rad"),
];

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.named() {
            Some((name, "")) => f.write_str(name),
            Some((name, unit)) => write!(f, "{name} ({unit})"),
            None => write!(f, "a number in {}", self.symbol()),
        }
    }
}

/// A unit: its symbol, its size in SI, and its dimension.
type Unit = (&'static str, f64, Dimension);

const AREA: Dimension = Dimension::of(0, 2, 0);
const VOLUME: Dimension = Dimension::of(0, 3, 0);
const FREQUENCY: Dimension = Dimension::of(0, 0, -1);
const TURNING: Dimension = Dimension([0, 0, -WHOLE, WHOLE]);
const PRESSURE: Dimension = Dimension::of(1, -1, -2);
const ENERGY: Dimension = Dimension::of(1, 2, -2);
const POWER: Dimension = Dimension::of(1, 2, -3);
const TURN: f64 = std::f64::consts::TAU;
/// The pound (kg) and its weight in standard gravity (N), by their definitions.
const POUND: f64 = 0.453_592_37;
const POUND_FORCE: f64 = POUND * 9.806_65;
const INCH: f64 = 0.0254;

/// All units. Symbols are as in SI; `h` is an hour, `min` a minute, `t` a tonne.
const UNITS: &[Unit] = &[
    ("m", 1.0, Dimension::LENGTH),
    ("km", 1e3, Dimension::LENGTH),
    ("dm", 1e-1, Dimension::LENGTH),
    ("cm", 1e-2, Dimension::LENGTH),
    ("mm", 1e-3, Dimension::LENGTH),
    ("um", 1e-6, Dimension::LENGTH),
    ("µm", 1e-6, Dimension::LENGTH),
    ("nm", 1e-9, Dimension::LENGTH),
    ("in", INCH, Dimension::LENGTH),
    ("ft", 12.0 * INCH, Dimension::LENGTH),
    ("ha", 1e4, AREA),
    ("L", 1e-3, VOLUME),
    ("l", 1e-3, VOLUME),
    ("mL", 1e-6, VOLUME),
    ("ml", 1e-6, VOLUME),
    ("kg", 1.0, Dimension::MASS),
    ("g", 1e-3, Dimension::MASS),
    ("mg", 1e-6, Dimension::MASS),
    ("t", 1e3, Dimension::MASS),
    ("lb", POUND, Dimension::MASS),
    ("s", 1.0, Dimension::TIME),
    ("ms", 1e-3, Dimension::TIME),
    ("us", 1e-6, Dimension::TIME),
    ("µs", 1e-6, Dimension::TIME),
    ("ns", 1e-9, Dimension::TIME),
    ("min", 60.0, Dimension::TIME),
    ("h", 3600.0, Dimension::TIME),
    ("rad", 1.0, Dimension::ANGLE),
    ("mrad", 1e-3, Dimension::ANGLE),
    ("deg", TURN / 360.0, Dimension::ANGLE),
    ("°", TURN / 360.0, Dimension::ANGLE),
    ("turn", TURN, Dimension::ANGLE),
    ("Hz", 1.0, FREQUENCY),
    ("kHz", 1e3, FREQUENCY),
    ("rpm", TURN / 60.0, TURNING),
    ("N", 1.0, Dimension::FORCE),
    ("mN", 1e-3, Dimension::FORCE),
    ("uN", 1e-6, Dimension::FORCE),
    ("kN", 1e3, Dimension::FORCE),
    ("MN", 1e6, Dimension::FORCE),
    ("lbf", POUND_FORCE, Dimension::FORCE),
    ("Pa", 1.0, PRESSURE),
    ("hPa", 1e2, PRESSURE),
    ("kPa", 1e3, PRESSURE),
    ("MPa", 1e6, PRESSURE),
    ("GPa", 1e9, PRESSURE),
    ("bar", 1e5, PRESSURE),
    ("mbar", 1e2, PRESSURE),
    ("psi", POUND_FORCE / (INCH * INCH), PRESSURE),
    ("J", 1.0, ENERGY),
    ("mJ", 1e-3, ENERGY),
    ("kJ", 1e3, ENERGY),
    ("W", 1.0, POWER),
    ("mW", 1e-3, POWER),
    ("kW", 1e3, POWER),
    ("%", 1e-2, Dimension::NONE),
];

/// Size in SI and dimension of the unit of a symbol.
pub(crate) fn find(symbol: &str) -> Option<(f64, Dimension)> {
    let found = UNITS.iter().find(|(name, ..)| *name == symbol)?;
    Some((found.1, found.2))
}

/// The symbols of all units.
pub fn symbols() -> impl Iterator<Item = &'static str> + Clone {
    UNITS.iter().map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_written_in_their_units() {
        let newton_metres = Dimension::FORCE.times(Dimension::LENGTH);
        assert_eq!(newton_metres.unit(), "N m");
        assert_eq!(Dimension::FORCE.times(newton_metres).symbol(), "kg^2 m^3/s^4");
        assert_eq!(Dimension::of(-1, -2, 0).symbol(), "1/(kg m^2)");
        assert_eq!(Dimension::LENGTH.power(0.5).unwrap().symbol(), "m^(6/12)");
        assert_eq!(Dimension::LENGTH.power(-1.0).unwrap().symbol(), "1/m");
        assert_eq!(Dimension::FORCE.power(0.1), None);
        assert_eq!(Dimension::FORCE.power(f64::NAN), None);
        assert_eq!(Dimension::FORCE.power(1e30), None);
        assert_eq!(format!("{}", Dimension::MASS), "a mass (kg)");
    }

    #[test]
    fn symbols_are_different() {
        let all: Vec<&str> = symbols().collect();
        for (i, symbol) in all.iter().enumerate() {
            assert!(!all[..i].contains(symbol), "{symbol}");
        }
    }
}
