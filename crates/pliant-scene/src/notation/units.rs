//! The units that a file says for its numbers.

use super::{Complaint, Tree};
use crate::quantity::Bases;
use crate::schema::UnitsSpec;
use pliant_expression::{Dimension, Program};
use serde::Deserialize;

/// The key of the units.
const KEY: &str = "units";
/// Dimensions of the keys in it.
const KEYS: [(&str, Dimension); 4] = [
    ("mass", Dimension::MASS),
    ("length", Dimension::LENGTH),
    ("time", Dimension::TIME),
    ("force", Dimension::FORCE),
];

impl Tree {
    /// Gives the numbers of a file the units that it says.
    pub(crate) fn take_units(&mut self) -> Result<(), Complaint> {
        let Some(entry) = self.entry(KEY) else {
            return Ok(());
        };
        let spec = UnitsSpec::deserialize(&entry.value)?;
        let mut sizes = [None; 4];
        let texts = [&spec.mass, &spec.length, &spec.time, &spec.force];
        for ((size, text), (key, dimension)) in sizes.iter_mut().zip(texts).zip(KEYS) {
            if let Some(text) = text {
                let read = unit(text, dimension);
                *size = Some(read.map_err(|complaint| complaint.at(&entry.value.place_of(key)))?);
            }
        }
        let [mass, length, time, force] = sizes;
        let (length, time) = (length.unwrap_or(1.0), time.unwrap_or(1.0));
        let mass = match (mass, force) {
            (None, Some(force)) => force * time * time / length,
            (mass, None) => mass.unwrap_or(1.0),
            (Some(mass), Some(force)) => {
                let made = Dimension::FORCE.size([mass, length, time]);
                if (made / force - 1.0).abs() > 1e-9 {
                    let [made, force] = [made, force].map(short);
                    let message = format!(
                        "the units of mass, length and time make one of force of {made} N, and `force` is {force} N"
                    );
                    let complaint = Complaint::other(message).at(&entry.value.place_of("force"));
                    return Err(complaint.with_help("leave `mass` or `force` out"));
                }
                mass
            }
        };
        let bases = Bases { mass, length, time };
        if [mass, length, time].iter().any(|unit| *unit != 1.0) {
            self.reckon_in(bases);
        }
        Ok(())
    }
}

/// A number in six digits.
fn short(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// The size of a unit (SI) that is written alone.
fn unit(text: &str, dimension: Dimension) -> Result<f64, Complaint> {
    let read = Program::parse(&format!("1 {text}"), &|_| None, &[], &[]);
    let read = read.and_then(|program| Ok((program.value(0.0)?, program.dimension())));
    match read {
        Ok((size, Some(found))) if found == dimension && size > 0.0 => Ok(size),
        Ok((_, Some(found))) => {
            let message = format!("\"{text}\" is the unit of {found}, and needed is {dimension}");
            Err(Complaint::other(message))
        }
        Ok((_, None)) => Err(Complaint::other(format!("\"{text}\" is no unit"))),
        Err(error) => {
            let complaint = Complaint::other(format!("\"{text}\" is no unit"));
            Err(match error.help {
                Some(help) => complaint.with_help(&help),
                None => complaint,
            })
        }
    }
}
