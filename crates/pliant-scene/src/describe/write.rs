//! The findings about a schema as JSON.

use super::meaning::Meanings;
use super::trace::{Enum, Notes, Shape};
use crate::quantity;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The JSON Schema of a value, with all that it is made of.
pub(super) fn schema(notes: &Notes, root: &Shape) -> Value {
    let names = names(notes);
    let writer = Writer {
        names: &names,
        meanings: Meanings::new(),
    };
    let listed = listed(notes);
    let mut parts = Map::new();
    for (id, of) in &notes.structs {
        let keys = of.keys.iter();
        let mut properties: Map<String, Value> = keys
            .clone()
            .map(|(key, found, _)| {
                let value = writer.value(&found.shape);
                ((*key).to_owned(), described(value, writer.meanings.of(id, key)))
            })
            .collect();
        if listed.contains(id) {
            let count = json!({"type": ["number", "string", "object"]});
            properties.entry("repeat").or_insert(count);
        }
        let required: Vec<&str> = keys
            .filter(|(.., can_miss)| *can_miss == Some(false))
            .map(|(key, ..)| *key)
            .collect();
        let one = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        parts.insert(writer.name(id), one);
    }
    for (id, of) in &notes.enums {
        let ways = writer.kinds(id, of);
        parts.insert(writer.name(id), json!({"anyOf": ways}));
    }
    let root = writer.value(root);
    let top = root["$ref"].as_str().and_then(|at| at.rsplit('/').next());
    if let Some(top) = top.and_then(|name| parts.get_mut(name)) {
        // The key by which editors find this schema, which readers leave out.
        top["properties"]["$schema"] = json!({"type": "string"});
    }
    let mut all = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scene of Pliant",
    });
    if let (Value::Object(all), Value::Object(root)) = (&mut all, root) {
        all.extend(root);
        all.insert("$defs".into(), Value::Object(parts));
    }
    all
}

/// Names of structs and enums in the schema: those of their types, with a number behind equal ones.
fn names(notes: &Notes) -> BTreeMap<String, String> {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for (id, name) in &notes.names {
        let name = match name.is_empty() {
            true => "keys".to_owned(),
            false => name.replace(' ', "_"),
        };
        let number = count.entry(name.clone()).and_modify(|n| *n += 1).or_insert(1);
        let own = match number {
            1 => name,
            number => format!("{name}_{number}"),
        };
        names.insert(id.clone(), own);
    }
    names
}

/// The structs that are entries of lists, or what a kind in a list holds: they may be repeated.
fn listed(notes: &Notes) -> BTreeSet<String> {
    let keys = notes.structs.values().flat_map(|of| &of.keys);
    let held = notes.enums.values().flat_map(|of| &of.kinds);
    let shapes = keys
        .map(|(_, found, _)| &found.shape)
        .chain(held.filter_map(|(_, held)| held.as_ref()));
    let mut out = BTreeSet::new();
    for shape in shapes {
        let Shape::List(item) = shape else { continue };
        let Shape::Named(id) = &**item else { continue };
        match notes.enums.get(id) {
            None => out.extend([id.clone()]),
            Some(of) => out.extend(of.kinds.iter().filter_map(|(_, held)| match held {
                Some(Shape::Named(id)) => Some(id.clone()),
                _ => None,
            })),
        }
    }
    out
}

/// The value with its meaning; behind it the unit, which is that of a number alone.
fn described(mut value: Value, meaning: Option<&str>) -> Value {
    if let (Some(meaning), Value::Object(value)) = (meaning, &mut value) {
        let meaning = match value.get("description").and_then(Value::as_str) {
            Some(unit) => format!("{meaning} A number {unit}."),
            None => meaning.to_owned(),
        };
        value.insert("description".into(), json!(meaning));
    }
    value
}

struct Writer<'a> {
    names: &'a BTreeMap<String, String>,
    meanings: Meanings,
}

impl Writer<'_> {
    fn name(&self, id: &str) -> String {
        self.names.get(id).cloned().unwrap_or_default()
    }

    /// The ways to write an enum: each kind that is documented, the others together.
    fn kinds(&self, id: &str, of: &Enum) -> Vec<Value> {
        let mut ways = Vec::new();
        let mut others = Vec::new();
        for (kind, held) in &of.kinds {
            let meaning = self.meanings.of(id, kind);
            match held {
                None if meaning.is_some() => ways.push(described(json!({"enum": [kind]}), meaning)),
                None => others.push(*kind),
                Some(held) => ways.push(json!({
                    "type": "object",
                    "properties": {*kind: described(self.value(held), meaning)},
                    "required": [kind],
                    "additionalProperties": false,
                })),
            }
        }
        if !others.is_empty() {
            ways.insert(0, json!({"enum": others}));
        }
        ways
    }

    fn value(&self, shape: &Shape) -> Value {
        match shape {
            Shape::Anything => json!({}),
            Shape::Bool => json!({"type": "boolean"}),
            Shape::Number => json!({"type": "number"}),
            Shape::Text => json!({"type": "string"}),
            Shape::Loose(name) => self.loose(name),
            Shape::List(item) => {
                let item = self.value(item);
                let repeated = json!({
                    "type": "object",
                    "properties": {"Repeat": {"type": "array", "prefixItems": [{}, item], "items": false, "minItems": 2}},
                    "required": ["Repeat"],
                    "additionalProperties": false,
                });
                json!({"type": "array", "items": {"anyOf": [item, repeated]}})
            }
            Shape::Tuple(items) => {
                let all: Vec<Value> = items.iter().map(|item| self.value(item)).collect();
                json!({"type": "array", "prefixItems": all, "items": false, "minItems": items.len()})
            }
            Shape::Map(entry) => json!({"type": "object", "additionalProperties": self.value(entry)}),
            Shape::Named(id) => json!({"$ref": format!("#/$defs/{}", self.name(id))}),
        }
    }

    /// A value that is written in more than one way.
    fn loose(&self, name: &str) -> Value {
        let number = json!({"type": ["number", "string"]});
        let numbers = json!({"type": "array", "items": number});
        let list = |least: usize, most: usize| json!({"type": "array", "items": number, "minItems": least, "maxItems": most});
        match name {
            "number" => number,
            "numbers" => json!({"anyOf": [number, numbers]}),
            "end" => json!({"anyOf": [number, list(2, 3)]}),
            "place" => json!({"anyOf": [{"type": "string"}, list(2, 3)]}),
            "thing" => json!({"anyOf": [{"type": "string"}, list(2, 2)]}),
            "elements" => {
                let element = json!({"anyOf": [number, list(2, 3)]});
                let mut ways = vec![
                    json!({"type": "string"}),
                    json!({"type": "array", "items": element}),
                ];
                let rule = self.names.values().find(|name| *name == "elements");
                ways.extend(rule.map(|rule| json!({"$ref": format!("#/$defs/{rule}")})));
                json!({"anyOf": ways})
            }
            "function" => {
                let entry = json!({"anyOf": [number, list(2, 2)]});
                let file = self.names.values().find(|name| *name == "function");
                let mut ways = vec![number.clone(), json!({"type": "array", "items": entry})];
                ways.extend(file.map(|file| json!({"$ref": format!("#/$defs/{file}")})));
                json!({"anyOf": ways})
            }
            // With its units behind it.
            name => {
                let takes = quantity::all().into_iter().find(|takes| takes.name == name);
                let units: Vec<String> = takes
                    .iter()
                    .flat_map(|takes| takes.dimensions)
                    .map(|dimension| dimension.unit())
                    .filter(|unit| !unit.is_empty())
                    .collect();
                let mut one = json!({"type": ["number", "string"]});
                if let (false, Value::Object(one)) = (units.is_empty(), &mut one) {
                    let unit = match takes.is_some_and(|takes| takes.in_degrees) {
                        true => "degrees".to_owned(),
                        false => units.join(" or "),
                    };
                    let description = format!("in {unit}, or with a unit in quotes");
                    one.insert("description".into(), json!(description));
                    // An annotation, which validators pass over.
                    one.insert("unit".into(), json!(unit));
                }
                one
            }
        }
    }
}
