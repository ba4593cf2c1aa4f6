//! The schema out of a tree of values.

use super::tree::{Content, Entry, Text};
use super::{Complaint, Loose, Tree, loose};
use crate::quantity::Bases;
use crate::texts;
use serde::de::value::{F64Deserializer, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use std::collections::BTreeSet;
use std::ops::Range;
use std::slice::Iter;

type Result<T> = std::result::Result<T, Complaint>;

impl Tree {
    fn found(&self) -> Unexpected<'_> {
        match &self.content {
            Content::Null => Unexpected::Unit,
            Content::Bool(value) => Unexpected::Bool(*value),
            Content::Number(value) => Unexpected::Float(*value),
            Content::Text(text) => Unexpected::Str(&text.raw),
            Content::Kind(..) => Unexpected::Other("a bare word"),
            Content::Empty => Unexpected::Other("empty brackets"),
            Content::Tuple(_) => Unexpected::Other("values in round brackets, (a, b, ..)"),
            Content::List(_) => Unexpected::Seq,
            Content::Record(_) | Content::Map(_) => Unexpected::Map,
        }
    }

    fn unexpected(&self, expected: &dyn Expected) -> Complaint {
        Complaint::invalid_type(self.found(), expected).at(&self.range)
    }

    /// The value in the brackets of `Kind(value)`: one value alone stands for itself.
    fn inner(&self) -> &Self {
        match &self.content {
            Content::Tuple(items) if items.len() == 1 => &items[0],
            _ => self,
        }
    }

    /// The entries of a struct of that name.
    fn entries(&self, name: &str) -> Result<Entries<'_>> {
        let list = match &self.content {
            Content::Record(entries) | Content::Map(entries) => &entries[..],
            Content::Empty => &[],
            Content::Kind(kind, Some(inner)) if kind == name => return inner.entries(name),
            _ => return Err(self.unexpected(&"keys with values, as in (key: value)")),
        };
        Ok(Entries {
            entries: list.iter(),
            last: None,
        })
    }

    fn items(&self) -> Option<&[Self]> {
        match &self.content {
            Content::Tuple(items) | Content::List(items) => Some(items),
            Content::Empty => Some(&[]),
            _ => None,
        }
    }

    /// The value as a kind, with what is in its brackets.
    fn variant(&self) -> Option<Variant<'_>> {
        let (kind, kind_range, inner) = match &self.content {
            Content::Kind(kind, inner) => (
                kind,
                self.range.start..self.range.start + kind.len(),
                inner.as_deref(),
            ),
            Content::Text(kind) => (&kind.raw, self.range.clone(), None),
            Content::Map(entries) if entries.len() == 1 => {
                let entry = &entries[0];
                (&entry.key, entry.key_range.clone(), Some(&entry.value))
            }
            _ => return None,
        };
        Some(Variant {
            kind,
            kind_range,
            inner,
            whole: &self.range,
        })
    }

    /// The closing bracket.
    fn end(&self) -> Range<usize> {
        self.range.end.saturating_sub(1)..self.range.end
    }
}

impl<'de> Deserializer<'de> for &'de Tree {
    type Error = Complaint;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let read = match &self.content {
            Content::Bool(value) => visitor.visit_bool(*value),
            Content::Number(value) => visitor.visit_f64(*value),
            Content::Text(text) => visitor.visit_str(text.as_expression()),
            Content::Tuple(items) | Content::List(items) => visitor.visit_seq(Items(items.iter())),
            _ => match self.variant() {
                Some(variant) if variant.kind.starts_with(char::is_uppercase) => visitor.visit_enum(variant),
                _ => return Err(self.unexpected(&visitor)),
            },
        };
        read.map_err(|e| e.at(&self.range))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.content {
            Content::Bool(value) => visitor.visit_bool(*value),
            _ => Err(self.unexpected(&"`true` or `false`")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.content {
            Content::Text(text) => visitor.visit_str(text.as_name()),
            _ => Err(self.unexpected(&"a text in quotes")),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.content {
            Content::Null => visitor.visit_none(),
            Content::Kind(kind, None) if kind == "None" => visitor.visit_none(),
            Content::Kind(kind, Some(inner)) if kind == "Some" => visitor.visit_some(inner.inner()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        let word = name.split(' ').next().unwrap_or_default();
        if let (Some(bases), Content::Number(_) | Content::Text(_)) = (self.bases, &self.content)
            && matches!(word, "number" | "numbers" | "function")
        {
            let read = visitor.visit_newtype_struct(InUnits { tree: self, bases });
            return read.map_err(|e| e.at(&self.range));
        }
        let is_kind = match &self.content {
            Content::Kind(..) => true,
            Content::Map(entries) => entries.len() == 1,
            _ => false,
        };
        match (loose(name), meaning(name)) {
            (Some(Loose { kinds: true }), _) if is_kind => self.deserialize_enum(name, &[], visitor),
            (Some(_), Some(meaning)) => Meant { tree: self, meaning }.deserialize_any(visitor),
            (Some(_), None) => self.deserialize_any(visitor),
            (None, None) if name == texts::LOCAL => visitor.visit_seq(WithFile { tree: self, read: 0 }),
            (None, Some(meaning)) => visitor.visit_newtype_struct(Meant { tree: self, meaning }),
            (None, None) => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.content {
            Content::List(items) => visitor
                .visit_seq(Items(items.iter()))
                .map_err(|e| e.at(&self.range)),
            _ => Err(self.unexpected(&"a list [a, b, ..]")),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        match self.items() {
            Some(items) if items.len() == len => visitor
                .visit_seq(Items(items.iter()))
                .map_err(|e| e.at(&self.range)),
            Some(items) => {
                let message = format!("expected {len} values in brackets, found {}", items.len());
                Err(Complaint::other(message).at(&self.range))
            }
            None => Err(self.unexpected(&"values in brackets, as in (a, b)")),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.content {
            Content::Map(entries) => {
                let mut known = BTreeSet::new();
                if let Some(second) = entries.iter().find(|entry| !known.insert(entry.key.as_str())) {
                    let message = format!("the name `{}` is given twice", second.key);
                    return Err(Complaint::other(message).at(&second.key_range));
                }
                let mut entries = Entries {
                    entries: entries.iter(),
                    last: None,
                };
                visitor.visit_map(&mut entries).map_err(|e| e.at(&self.range))
            }
            _ => Err(self.unexpected(&"keys in quotes with values, as in {\"key\": value}")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let mut entries = self.entries(name)?;
        let read = visitor.visit_map(&mut entries);
        read.map_err(|complaint| {
            let place = match entries.last {
                Some(key) if !complaint.is_of_missing_key() => key.clone(),
                _ => self.end(),
            };
            let complaint = complaint.at(&place);
            if name.is_empty() {
                complaint
            } else {
                complaint.inside(name)
            }
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let Some(variant) = self.variant() else {
            return Err(self.unexpected(&"a kind, as in Kind or Kind(..)"));
        };
        visitor
            .visit_enum(variant)
            .map_err(|e| e.at(&self.range).inside(name))
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct identifier ignored_any
    }
}

struct Items<'de>(Iter<'de, Tree>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Complaint;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(item) = self.0.next() else {
            return Ok(None);
        };
        seed.deserialize(item).map(Some).map_err(|e| e.at(&item.range))
    }
}

struct Entries<'de> {
    entries: Iter<'de, Entry>,
    /// The place of the last key.
    last: Option<&'de Range<usize>>,
}

impl<'de> MapAccess<'de> for &mut Entries<'de> {
    type Error = Complaint;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some(entry) = self.entries.as_slice().first() else {
            return Ok(None);
        };
        self.last = Some(&entry.key_range);
        let key: StrDeserializer<'_, Complaint> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        match self.entries.next() {
            Some(entry) => seed
                .deserialize(&entry.value)
                .map_err(|e| e.at(&entry.value.range)),
            None => Err(Complaint::other("a key has no value")),
        }
    }
}

struct Variant<'de> {
    kind: &'de str,
    kind_range: Range<usize>,
    inner: Option<&'de Tree>,
    whole: &'de Range<usize>,
}

impl<'de> Variant<'de> {
    fn inner(&self) -> Result<&'de Tree> {
        self.inner.ok_or_else(|| {
            let message = format!("`{}` needs a value in brackets", self.kind);
            Complaint::other(message).at(self.whole)
        })
    }
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Complaint;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        let kind: StrDeserializer<'_, Complaint> = self.kind.into_deserializer();
        let value = seed.deserialize(kind).map_err(|e| e.at(&self.kind_range))?;
        Ok((value, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Complaint;

    fn unit_variant(self) -> Result<()> {
        match self.inner.map(|inner| &inner.content) {
            None | Some(Content::Empty | Content::Null) => Ok(()),
            Some(_) => {
                let message = format!("`{}` has no value in brackets", self.kind);
                Err(Complaint::other(message).at(self.whole))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.inner()?.inner())
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        self.inner()?.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.inner()?.deserialize_struct("", fields, visitor)
    }
}

/// The meaning of a text, where it is more than the name of a thing or a number.
type Meaning = fn(&Text) -> &str;

/// The meaning of the texts of a type of [`crate::texts`], by its name.
fn meaning(name: &str) -> Option<Meaning> {
    match name {
        "thing" | "place" => Some(Text::as_name),
        "end" | "elements" => Some(Text::as_either),
        texts::EXPRESSION => Some(Text::as_expression),
        texts::PARAMETER => Some(Text::as_parameter),
        texts::FILE => Some(Text::as_file),
        texts::PLAIN => Some(|text| &text.raw),
        _ => None,
    }
}

/// A value whose texts have a meaning of their own: itself, or the first of two values.
struct Meant<'de> {
    tree: &'de Tree,
    meaning: Meaning,
}

impl<'de> Deserializer<'de> for Meant<'de> {
    type Error = Complaint;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let Self { tree, meaning } = self;
        match &tree.content {
            Content::Text(text) => visitor
                .visit_str(meaning(text))
                .map_err(|e: Complaint| e.at(&tree.range)),
            Content::Tuple(items) | Content::List(items) if items.len() == 2 => visitor
                .visit_seq(Pair {
                    items: items.iter(),
                    meaning: Some(meaning),
                })
                .map_err(|e| e.at(&tree.range)),
            _ => tree.deserialize_any(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.tree.content {
            Content::Text(_) => self.deserialize_any(visitor),
            _ => self.tree.deserialize_str(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Two values, of which the first has a meaning of its own.
struct Pair<'de> {
    items: Iter<'de, Tree>,
    meaning: Option<Meaning>,
}

impl<'de> SeqAccess<'de> for Pair<'de> {
    type Error = Complaint;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(tree) = self.items.next() else {
            return Ok(None);
        };
        let read = match (self.meaning.take(), &tree.content) {
            (Some(meaning), Content::Text(_)) => seed.deserialize(Meant { tree, meaning }),
            _ => seed.deserialize(tree),
        };
        read.map(Some).map_err(|e| e.at(&tree.range))
    }
}

/// The units of mass, length and time of a file, then a number or a text in it.
struct InUnits<'de> {
    tree: &'de Tree,
    bases: Bases,
}

impl<'de> Deserializer<'de> for InUnits<'de> {
    type Error = Complaint;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let Bases { mass, length, time } = self.bases;
        visitor.visit_seq(UnitsAndNumber {
            units: [mass, length, time].into_iter(),
            tree: Some(self.tree),
        })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct UnitsAndNumber<'de> {
    units: std::array::IntoIter<f64, 3>,
    tree: Option<&'de Tree>,
}

impl<'de> SeqAccess<'de> for UnitsAndNumber<'de> {
    type Error = Complaint;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if let Some(unit) = self.units.next() {
            let unit: F64Deserializer<Complaint> = unit.into_deserializer();
            return seed.deserialize(unit).map(Some);
        }
        match self.tree.take() {
            Some(tree) => seed.deserialize(tree).map(Some),
            None => Ok(None),
        }
    }
}

/// The prefix of the file of a value, then the value.
struct WithFile<'de> {
    tree: &'de Tree,
    read: usize,
}

impl<'de> SeqAccess<'de> for WithFile<'de> {
    type Error = Complaint;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        self.read += 1;
        match self.read {
            1 => {
                let prefix = self.tree.prefix.as_deref().unwrap_or_default();
                let prefix: StrDeserializer<'_, Complaint> = prefix.into_deserializer();
                seed.deserialize(prefix).map(Some)
            }
            2 => seed.deserialize(self.tree).map(Some),
            _ => Ok(None),
        }
    }
}
