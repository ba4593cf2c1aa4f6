//! The JSON text: its fields, and what is checked of any.

use super::number::{Real, numbers, reals};
use super::{Answer, ExchangeError, Expected};
use pliant_solvers::complementarity::Cone;
use serde::{Deserialize, Serialize};

/// The header as it is read: what is missing or too much is found out by kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) kind: Kind,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) about: String,
    #[serde(default)]
    pub(super) source: String,
    #[serde(default)]
    pub(super) expected: Ends,
    #[serde(default)]
    pub(super) answers: Vec<Known>,
    #[serde(rename = "W")]
    pub(super) w: Option<Matrix>,
    #[serde(rename = "J")]
    pub(super) j: Option<Matrix>,
    #[serde(rename = "R")]
    pub(super) r: Option<Matrix>,
    pub(super) c: Option<Vec<Real>>,
    #[serde(rename = "A")]
    pub(super) a: Option<Matrix>,
    pub(super) b: Option<Vec<Real>>,
    pub(super) blocks: Option<Vec<usize>>,
    pub(super) row_blocks: Option<Vec<usize>>,
    pub(super) fixed: Option<Vec<usize>>,
    pub(super) b_rounding: Option<Vec<Real>>,
    pub(super) bounds: Option<Vec<(Real, Real)>>,
    #[serde(rename = "N")]
    pub(super) n: Option<Matrix>,
    #[serde(rename = "R_N")]
    pub(super) r_n: Option<Vec<Real>>,
    #[serde(rename = "b_N")]
    pub(super) b_n: Option<Vec<Real>>,
    pub(super) cones: Option<Vec<Law>>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Kkt,
    Complementarity,
    Mixed,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ends {
    Solvable,
    Incompatible,
    Indefinite,
    Unsolvable,
    #[default]
    Unknown,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    x: Vec<Real>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mu: Vec<Real>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    r: Vec<Real>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    u: Vec<Real>,
    tolerance: f64,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Matrix {
    File(String),
    Lines(Vec<String>),
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Law {
    Free,
    Nonnegative,
    Box(Real, Real),
    Coulomb(Real),
    /// Coefficient, shift.
    Shifted(Real, Real),
    Planar(Real),
    /// Coefficient at the corners, number of sides, angle of the first corner.
    Pyramid(Real, usize, Real),
    /// Coefficients of friction, spin and rolling.
    Rolling(Real, Real, Real),
}

impl From<Cone> for Law {
    fn from(cone: Cone) -> Self {
        match cone {
            Cone::Free => Self::Free,
            Cone::NonNegative => Self::Nonnegative,
            Cone::Box { lower, upper } => Self::Box(Real(lower), Real(upper)),
            Cone::Coulomb { mu } => Self::Coulomb(Real(mu)),
            Cone::Shifted { mu, shift } => Self::Shifted(Real(mu), Real(shift)),
            Cone::PlanarCoulomb { mu } => Self::Planar(Real(mu)),
            Cone::Rolling { mu, torsion, rolling } => Self::Rolling(Real(mu), Real(torsion), Real(rolling)),
            Cone::Pyramid { mu, facets, first } => Self::Pyramid(Real(mu), facets, Real(first)),
        }
    }
}

impl From<Law> for Cone {
    fn from(law: Law) -> Self {
        match law {
            Law::Free => Self::Free,
            Law::Nonnegative => Self::NonNegative,
            Law::Box(lower, upper) => Self::Box {
                lower: lower.0,
                upper: upper.0,
            },
            Law::Coulomb(mu) => Self::Coulomb { mu: mu.0 },
            Law::Shifted(mu, shift) => Self::Shifted {
                mu: mu.0,
                shift: shift.0,
            },
            Law::Planar(mu) => Self::PlanarCoulomb { mu: mu.0 },
            Law::Rolling(mu, torsion, rolling) => Self::Rolling {
                mu: mu.0,
                torsion: torsion.0,
                rolling: rolling.0,
            },
            Law::Pyramid(mu, facets, first) => Self::Pyramid {
                mu: mu.0,
                facets,
                first: first.0,
            },
        }
    }
}

impl From<&Answer> for Known {
    fn from(a: &Answer) -> Self {
        Self {
            x: reals(&a.x),
            mu: reals(&a.mu),
            r: reals(&a.r),
            u: reals(&a.u),
            tolerance: a.tolerance,
        }
    }
}

impl From<Known> for Answer {
    fn from(k: Known) -> Self {
        Self {
            x: numbers(k.x),
            mu: numbers(k.mu),
            r: numbers(k.r),
            u: numbers(k.u),
            tolerance: k.tolerance,
        }
    }
}

impl From<Expected> for Ends {
    fn from(e: Expected) -> Self {
        match e {
            Expected::Solvable => Self::Solvable,
            Expected::Incompatible => Self::Incompatible,
            Expected::Indefinite => Self::Indefinite,
            Expected::Unsolvable => Self::Unsolvable,
            Expected::Unknown => Self::Unknown,
        }
    }
}

impl From<Ends> for Expected {
    fn from(e: Ends) -> Self {
        match e {
            Ends::Solvable => Self::Solvable,
            Ends::Incompatible => Self::Incompatible,
            Ends::Indefinite => Self::Indefinite,
            Ends::Unsolvable => Self::Unsolvable,
            Ends::Unknown => Self::Unknown,
        }
    }
}

pub(super) fn json(error: serde_json::Error) -> ExchangeError {
    let reason = error.to_string();
    // The position is told apart, so that it is not told twice.
    let reason = match reason.rfind(" at line ") {
        Some(end) => reason[..end].to_owned(),
        None => reason,
    };
    ExchangeError::Json {
        line: error.line(),
        column: error.column(),
        reason,
    }
}

pub(super) fn length(field: &'static str, expected: usize, found: usize) -> Result<(), ExchangeError> {
    if expected == found {
        Ok(())
    } else {
        Err(ExchangeError::Length {
            field,
            expected,
            found,
        })
    }
}

/// Whether a name stays in its directory, on any system.
pub(super) fn check_name(name: &str) -> Result<(), ExchangeError> {
    let plain = !name.is_empty()
        && !name.starts_with('.')
        && !name.contains(['/', '\\', ':'])
        && !name.chars().any(char::is_control);
    if plain {
        Ok(())
    } else {
        Err(ExchangeError::Name {
            name: name.to_owned(),
        })
    }
}
