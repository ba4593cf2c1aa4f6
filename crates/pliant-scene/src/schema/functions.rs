//! Functions of time out of files.

use crate::texts;
use serde::Deserialize;

/// The curve through the points of a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "function")]
pub enum FunctionSpec {
    /// Straight lines, constant beyond both ends.
    Table(TableSpec),
    /// A cubic spline, constant beyond both ends.
    Spline(SplineSpec),
}

shared! {
    /// Two columns of a file of comma-separated values.
    pub struct ColumnsSpec as columns {
        /// The file, relative to the scene file.
        #[serde(deserialize_with = "texts::file")]
        pub file: String,
        /// The heading of the column of times.
        #[serde(deserialize_with = "texts::plain")]
        pub time: String,
        /// The heading of the column of values.
        #[serde(deserialize_with = "texts::plain")]
        pub column: String,
        /// The unit of times in the file, such as `ms`; seconds by default.
        #[serde(default, deserialize_with = "texts::maybe_plain")]
        pub time_unit: Option<String>,
        /// The unit of values in the file, such as `deg`; that of SI by default.
        #[serde(default, deserialize_with = "texts::maybe_plain")]
        pub unit: Option<String>,
    }

    /// Straight lines through the points of two columns.
    #[serde(rename = "Table")]
    pub struct TableSpec {}

    /// A cubic spline through the points of two columns.
    #[serde(rename = "Spline")]
    pub struct SplineSpec {
        /// The condition that makes the curve.
        #[serde(default)]
        pub shape: SplineShape,
    }
}

/// The condition that makes a cubic spline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "shape")]
pub enum SplineShape {
    /// Continuous curvature, none at both ends.
    #[default]
    Natural,
    /// Continuous curvature, with third derivatives that are continuous at the second point and the
    /// last but one, too.
    NotAKnot,
    /// Continuous curvature, and the same at both ends, which must have one value; it repeats.
    Periodic,
    /// Without hills and valleys between the points: the slope alone is continuous.
    Monotone,
}
