//! Numbers in JSON, which knows neither infinity nor NaN.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number, or one of the strings `inf`, `-inf`, `nan`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Real(pub(super) f64);

pub(super) fn reals(values: &[f64]) -> Vec<Real> {
    values.iter().copied().map(Real).collect()
}

pub(super) fn numbers(values: Vec<Real>) -> Vec<f64> {
    values.into_iter().map(|x| x.0).collect()
}

impl Serialize for Real {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() => serializer.serialize_f64(x),
            x if x.is_nan() => serializer.serialize_str("nan"),
            x if x > 0.0 => serializer.serialize_str("inf"),
            _ => serializer.serialize_str("-inf"),
        }
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Real;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, \"inf\", \"-inf\" or \"nan\"")
            }

            fn visit_f64<E: Error>(self, x: f64) -> Result<Real, E> {
                Ok(Real(x))
            }

            fn visit_i64<E: Error>(self, x: i64) -> Result<Real, E> {
                Ok(Real(x as f64))
            }

            fn visit_u64<E: Error>(self, x: u64) -> Result<Real, E> {
                Ok(Real(x as f64))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Real, E> {
                match text {
                    "inf" => Ok(Real(f64::INFINITY)),
                    "-inf" => Ok(Real(f64::NEG_INFINITY)),
                    "nan" => Ok(Real(f64::NAN)),
                    other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}
