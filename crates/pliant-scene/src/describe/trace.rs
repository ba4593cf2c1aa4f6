//! A source that has whatever it is asked for, and notes what that is.

use crate::notation::loose;
use crate::schema::Selection;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use std::any::type_name;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// The form of a value.
#[derive(Clone, Debug, Default)]
pub(super) enum Shape {
    #[default]
    Anything,
    Bool,
    Number,
    Text,
    /// A value that is written in more than one way, by its name.
    Loose(&'static str),
    List(Box<Self>),
    Tuple(Vec<Self>),
    Map(Box<Self>),
    /// A struct or an enum, by its place in the notes.
    Named(String),
}

/// The findings about a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) shape: Shape,
    /// Whether nothing in it is left to find.
    pub(super) is_complete: bool,
}

/// A struct: its keys, their forms, and whether they can be missing.
#[derive(Debug, Default)]
pub(super) struct Struct {
    pub(super) keys: Vec<(&'static str, Found, Option<bool>)>,
}

/// An enum: its kinds, and what they hold; nothing if they stand alone.
#[derive(Debug, Default)]
pub(super) struct Enum {
    pub(super) kinds: Vec<(&'static str, Option<Shape>)>,
    is_complete: Vec<bool>,
}

/// All that was found.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) structs: BTreeMap<String, Struct>,
    pub(super) enums: BTreeMap<String, Enum>,
    /// Names of structs and enums in files.
    pub(super) names: BTreeMap<String, &'static str>,
    /// The structs and enums that are being read: values may hold values of their own kind.
    open: Vec<String>,
    /// The key that is left out in this reading, by its struct and its number.
    missing: Option<(String, usize)>,
}

impl Notes {
    /// Begins a reading.
    pub(super) fn begin(&mut self) {
        self.open.clear();
        self.missing = None;
    }

    /// Ends a reading. If it failed, the key that was left out cannot be missing.
    pub(super) fn end(&mut self, is_read: bool) {
        if let (false, Some((id, key))) = (is_read, self.missing.take())
            && let Some((.., can_miss)) = self.structs.get_mut(&id).and_then(|of| of.keys.get_mut(key))
        {
            *can_miss = Some(false);
        }
    }
}

/// Why a reading ended.
#[derive(Debug)]
pub(super) struct Failed(String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

impl Error for Failed {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// A source of one value.
#[derive(Clone, Copy)]
pub(super) struct Source<'n> {
    notes: &'n RefCell<Notes>,
    found: &'n RefCell<Found>,
}

type Result<T> = std::result::Result<T, Failed>;

impl<'n> Source<'n> {
    pub(super) fn new(notes: &'n RefCell<Notes>, found: &'n RefCell<Found>) -> Self {
        Self { notes, found }
    }

    fn note(&self, shape: Shape, is_complete: bool) {
        self.found.replace(Found { shape, is_complete });
    }

    /// The value that a seed reads of a source, and what was found of it.
    fn read<'de, T: DeserializeSeed<'de>>(notes: &RefCell<Notes>, seed: T) -> Result<(T::Value, Found)> {
        let found = RefCell::new(Found::default());
        let value = seed.deserialize(Source::new(notes, &found))?;
        Ok((value, found.into_inner()))
    }

    /// Opens a struct or an enum. Nothing if it is open already.
    fn open<V>(&self, name: &'static str) -> (String, bool) {
        let id = type_name::<V>().to_owned();
        let mut notes = self.notes.borrow_mut();
        notes.names.insert(id.clone(), name);
        let is_new = !notes.open.contains(&id);
        notes.open.push(id.clone());
        (id, is_new)
    }
}

macro_rules! plain {
    ($($method:ident => $shape:ident, $visit:ident($value:expr);)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                self.note(Shape::$shape, true);
                visitor.$visit($value)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Source<'_> {
    type Error = Failed;

    plain! {
        deserialize_any => Anything, visit_f64(1.0);
        deserialize_bool => Bool, visit_bool(true);
        deserialize_f64 => Number, visit_f64(1.0);
        deserialize_f32 => Number, visit_f64(1.0);
        deserialize_u64 => Number, visit_u64(1);
        deserialize_u32 => Number, visit_u64(1);
        deserialize_i64 => Number, visit_i64(1);
        deserialize_str => Text, visit_str("x");
        deserialize_string => Text, visit_str("x");
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        if loose(name).is_none() {
            return visitor.visit_newtype_struct(self);
        }
        let mut is_complete = true;
        if name == "elements" {
            is_complete = Source::read(self.notes, PhantomData::<Selection>)?.1.is_complete;
        }
        self.note(Shape::Loose(name), is_complete);
        match name {
            "place" | "thing" | "elements" => visitor.visit_str("x"),
            _ => visitor.visit_f64(1.0),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let mut items = Items::of(self.notes, 1);
        let value = visitor.visit_seq(&mut items)?;
        let item = items.found.pop().unwrap_or_default();
        self.note(Shape::List(Box::new(item.shape)), item.is_complete);
        Ok(value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        let mut items = Items::of(self.notes, len);
        let value = visitor.visit_seq(&mut items)?;
        let is_complete = items.found.iter().all(|found| found.is_complete);
        let shapes = items.found.into_iter().map(|found| found.shape);
        self.note(Shape::Tuple(shapes.collect()), is_complete);
        Ok(value)
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
        let mut entries = Entries::of(self.notes, &["x"]);
        let value = visitor.visit_map(&mut entries)?;
        let entry = entries.found.pop().map(|(_, found)| found).unwrap_or_default();
        self.note(Shape::Map(Box::new(entry.shape)), entry.is_complete);
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let (id, is_new) = self.open::<V>(name);
        let left_out = {
            let mut notes = self.notes.borrow_mut();
            let key = |key: &&'static str| (*key, Found::default(), None);
            let of = notes.structs.entry(id.clone()).or_insert_with(|| Struct {
                keys: fields.iter().map(key).collect(),
            });
            let unknown = of.keys.iter().position(|(.., can_miss)| can_miss.is_none());
            let left_out = unknown.filter(|_| is_new && notes.missing.is_none());
            if let Some(key) = left_out {
                notes.missing = Some((id.clone(), key));
            }
            left_out
        };
        let mut entries = Entries::of(self.notes, fields);
        entries.left_out = left_out;
        let read = visitor.visit_map(&mut entries);
        let mut notes = self.notes.borrow_mut();
        let value = read?;
        notes.open.pop();
        if left_out.is_some() {
            notes.missing = None;
        }
        let mut is_complete = true;
        if let Some(of) = notes.structs.get_mut(&id) {
            if let Some((.., can_miss)) = left_out.and_then(|key| of.keys.get_mut(key)) {
                *can_miss = Some(true);
            }
            for (key, found) in entries.found {
                if let Some(known) = of.keys.get_mut(key).filter(|_| is_new) {
                    known.1 = found;
                }
            }
            let is_known =
                |(_, found, can_miss): &(_, Found, Option<bool>)| found.is_complete && can_miss.is_some();
            is_complete = !is_new || of.keys.iter().all(is_known);
        }
        drop(notes);
        self.note(Shape::Named(id), is_complete);
        Ok(value)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let (id, is_new) = self.open::<V>(name);
        let index = {
            let mut notes = self.notes.borrow_mut();
            let of = notes.enums.entry(id.clone()).or_insert_with(|| Enum {
                kinds: variants.iter().map(|kind| (*kind, None)).collect(),
                is_complete: vec![false; variants.len()],
            });
            let left = of.is_complete.iter().position(|done| !done);
            left.filter(|_| is_new).unwrap_or(0)
        };
        let kind = Kind {
            notes: self.notes,
            name: variants.get(index).copied().unwrap_or_default(),
            found: RefCell::new(None),
        };
        let value = visitor.visit_enum(&kind)?;
        let mut notes = self.notes.borrow_mut();
        notes.open.pop();
        let mut is_complete = true;
        if let Some(of) = notes.enums.get_mut(&id).filter(|_| is_new) {
            let found = kind.found.into_inner();
            of.is_complete[index] = found.as_ref().is_none_or(|found| found.is_complete);
            of.kinds[index].1 = found.map(|found| found.shape);
            is_complete = of.is_complete.iter().all(|done| *done);
        }
        drop(notes);
        self.note(Shape::Named(id), is_complete);
        Ok(value)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u128 char bytes byte_buf unit unit_struct identifier ignored_any
    }
}

/// So many values.
struct Items<'n> {
    notes: &'n RefCell<Notes>,
    left: usize,
    found: Vec<Found>,
}

impl<'n> Items<'n> {
    fn of(notes: &'n RefCell<Notes>, left: usize) -> Self {
        let found = Vec::new();
        Self { notes, left, found }
    }
}

impl<'de> SeqAccess<'de> for &mut Items<'_> {
    type Error = Failed;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let (value, found) = Source::read(self.notes, seed)?;
        self.found.push(found);
        Ok(Some(value))
    }
}

/// Values of keys.
struct Entries<'n> {
    notes: &'n RefCell<Notes>,
    keys: &'n [&'static str],
    next: usize,
    left_out: Option<usize>,
    found: Vec<(usize, Found)>,
}

impl<'n> Entries<'n> {
    fn of(notes: &'n RefCell<Notes>, keys: &'n [&'static str]) -> Self {
        Self {
            notes,
            keys,
            next: 0,
            left_out: None,
            found: Vec::new(),
        }
    }
}

impl<'de> MapAccess<'de> for &mut Entries<'_> {
    type Error = Failed;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if self.left_out == Some(self.next) {
            self.next += 1;
        }
        let Some(key) = self.keys.get(self.next) else {
            return Ok(None);
        };
        let key: StrDeserializer<'_, Failed> = (*key).into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let (value, found) = Source::read(self.notes, seed)?;
        self.found.push((self.next, found));
        self.next += 1;
        Ok(value)
    }
}

/// A kind of an enum.
struct Kind<'n> {
    notes: &'n RefCell<Notes>,
    name: &'static str,
    found: RefCell<Option<Found>>,
}

impl<'de> EnumAccess<'de> for &Kind<'_> {
    type Error = Failed;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self)> {
        let kind: StrDeserializer<'_, Failed> = self.name.into_deserializer();
        Ok((seed.deserialize(kind)?, self))
    }
}

impl<'de> VariantAccess<'de> for &Kind<'_> {
    type Error = Failed;

    fn unit_variant(self) -> Result<()> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        let (value, found) = Source::read(self.notes, seed)?;
        self.found.replace(Some(found));
        Ok(value)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        let found = RefCell::new(Found::default());
        let value = Source::new(self.notes, &found).deserialize_tuple(len, visitor)?;
        self.found.replace(Some(found.into_inner()));
        Ok(value)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let found = RefCell::new(Found::default());
        let value = Source::new(self.notes, &found).deserialize_struct("", fields, visitor)?;
        self.found.replace(Some(found.into_inner()));
        Ok(value)
    }
}
