//! Selections of elements of a node, and names for them.

use super::{Local, Quantity, Triple, one, zero};
use crate::quantity::{Length, Pure};
use crate::texts;
use serde::Deserialize;
use serde::de::value::{EnumAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, EnumAccess, IntoDeserializer, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Elements of a node: by number, by a selection, or by the name of a group.
#[derive(Clone, Debug)]
pub enum Elements<T = Quantity<Pure>> {
    /// One by one.
    List(Vec<T>),
    /// The group of that name.
    Group(String),
    /// All that a rule selects.
    Select(Box<Local<Selection>>),
}

impl<T> Default for Elements<T> {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl<T> Elements<T> {
    /// Whether it is a list without entries.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::List(list) if list.is_empty())
    }
}

/// A rule that selects elements of a node. Places are those at the start, in metres.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "elements")]
pub enum Selection {
    /// All elements.
    All,
    /// Everything between two corners, the least one first.
    Box(Triple<Length>, Triple<Length>),
    /// Everything in a ball.
    Sphere(BallSelection),
    /// Everything on one side of a plane, or near it.
    Plane(PlaneSelection),
    /// The one element that is nearest to a place; the first of several.
    Nearest(Triple<Length>),
    /// Every so many elements, by number.
    Range(RangeSelection),
    /// The points of the surface of a solid.
    Surface,
    /// The points of the open edges of a mesh of triangles.
    Rim,
    /// The points of a group of the mesh file.
    MeshGroup(#[serde(deserialize_with = "texts::plain")] String),
    /// The elements that all of these select.
    And(Vec<Elements>),
    /// The elements that any of these selects.
    Or(Vec<Elements>),
    /// The elements that this does not select.
    Not(Elements),
}

/// A ball in which elements lie.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Sphere", deny_unknown_fields)]
pub struct BallSelection {
    /// Its centre.
    pub centre: Triple<Length>,
    /// Its radius.
    pub radius: Quantity<Length>,
}

/// A plane on one side of which, or near which, elements lie.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Plane", deny_unknown_fields)]
pub struct PlaneSelection {
    /// A point of it; the origin by default.
    #[serde(default = "origin")]
    pub point: Triple<Length>,
    /// The direction across it, of any length but zero, towards the side that is selected.
    pub normal: Triple<Pure>,
    /// The largest distance from it on both sides, instead of the whole side.
    #[serde(default)]
    pub within: Option<Quantity<Length>>,
}

fn origin() -> Triple<Length> {
    [zero(), zero(), zero()]
}

/// Numbers of elements from one to another.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Range", deny_unknown_fields)]
pub struct RangeSelection {
    /// The first; 0 by default.
    #[serde(default = "zero")]
    pub from: Quantity<Pure>,
    /// The last at most; that of the node by default.
    #[serde(default)]
    pub to: Option<Quantity<Pure>>,
    /// From each to the next; 1 by default.
    #[serde(default = "one")]
    pub by: Quantity<Pure>,
}

/// Elements with a name, which is also that of a node of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "groups", deny_unknown_fields)]
pub struct GroupSpec {
    /// The node that they are of.
    pub node: String,
    /// The elements.
    pub select: Elements,
}

/// Kinds without a value, which stand as a text in JSON.
const ALONE: [&str; 3] = ["All", "Surface", "Rim"];

/// Elements as they are written.
enum Written<T> {
    List(Vec<T>),
    Group(String),
    Select(Box<Selection>),
}

struct ElementsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ElementsVisitor<T> {
    type Value = Written<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a list of elements [0, 1, ..], a selection such as `Box(..)`, or the name of a group in quotes",
        )
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if ALONE.contains(&text) {
            let kind: StrDeserializer<'_, E> = text.into_deserializer();
            return Selection::deserialize(kind).map(|kind| Written::Select(Box::new(kind)));
        }
        Ok(Written::Group(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            elements.push(element);
        }
        Ok(Written::List(elements))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, kind: A) -> Result<Self::Value, A::Error> {
        let selection = Selection::deserialize(EnumAccessDeserializer::new(kind))?;
        Ok(Written::Select(Box::new(selection)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct("elements", ElementsVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Elements<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Local { file, value } = Local::<Written<T>>::deserialize(deserializer)?;
        Ok(match value {
            Written::List(list) => Self::List(list),
            Written::Group(name) => Self::Group(name),
            Written::Select(value) => Self::Select(Box::new(Local { file, value: *value })),
        })
    }
}
