//! `pliant components`: what may stand in a scene, out of its JSON Schema.

use crate::arguments::Components;
use crate::table::columns;
use crate::{BAD_SCENE, complain, print};
use pliant_scene::{hint, json_schema};
use serde_json::{Map, Value};

pub(crate) fn components(arguments: &Components) -> u8 {
    let schema = json_schema();
    let Some(parts) = schema["$defs"].as_object() else {
        return 0;
    };
    let Some(name) = &arguments.name else {
        print(&list(parts));
        return 0;
    };
    let found = described(parts, name);
    if found.is_empty() {
        let mut known: Vec<&str> = parts.values().flat_map(kinds).collect();
        known.extend(parts.keys().map(String::as_str));
        known.sort_unstable();
        known.dedup();
        let help = hint(name, "components", known.iter().copied());
        let help = help.map_or_else(String::new, |help| format!("\n = help: {help}"));
        complain(&format!("error: nothing in a scene is called `{name}`{help}"));
        return BAD_SCENE;
    }
    print(&found.join("\n"));
    0
}

/// Names of the kinds of a choice.
fn kinds(part: &Value) -> Vec<&str> {
    let ways = part["anyOf"].as_array().into_iter().flatten();
    let mut names = Vec::new();
    for way in ways {
        names.extend(
            way["enum"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str),
        );
        names.extend(
            way["properties"]
                .as_object()
                .into_iter()
                .flat_map(Map::keys)
                .map(String::as_str),
        );
    }
    names
}

/// All choices with their kinds.
fn list(parts: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (name, part) in parts {
        let kinds = kinds(part);
        if !kinds.is_empty() {
            text.push_str(&format!("{name}: {}\n", kinds.join(", ")));
        }
    }
    text.push_str(
        "\n`pliant components NAME` shows the keys of one of them; the book has what they mean, under Reference.\n",
    );
    text
}

/// The description of everything of that name: kinds of choices, and what has keys.
fn described(parts: &Map<String, Value>, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (choice, part) in parts {
        for way in part["anyOf"].as_array().into_iter().flatten() {
            let alone = way["enum"].as_array().into_iter().flatten();
            if alone.into_iter().any(|kind| kind == name) {
                found.push(format!("{name}, a kind of `{choice}`: without a value\n"));
            }
            if let Some(held) = way["properties"].get(name) {
                let head = format!("{name}, a kind of `{choice}`");
                found.push(match target(held).and_then(|id| parts.get(id)) {
                    Some(part) if part["properties"].is_object() => format!("{head}:\n{}", keys(part)),
                    _ => format!("{head}: {}\n", worded(held)),
                });
            }
        }
    }
    if let Some(part) = parts.get(name) {
        let kinds = kinds(part);
        if part["properties"].is_object() && found.is_empty() {
            found.push(format!("{name}:\n{}", keys(part)));
        } else if !kinds.is_empty() {
            found.push(format!("{name}: one of {}\n", kinds.join(", ")));
        }
    }
    found
}

/// A line for each key.
fn keys(part: &Value) -> String {
    let required: Vec<&str> = part["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let rows: Vec<[String; 3]> = part["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| {
            let must = match required.contains(&key.as_str()) {
                true => "required",
                false => "",
            };
            [format!("  {key}"), must.to_owned(), worded(value)]
        })
        .collect();
    columns(&rows)
}

/// The part that a value refers to.
fn target(value: &Value) -> Option<&str> {
    value["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// The form of a value in words.
fn worded(value: &Value) -> String {
    if let Some(id) = target(value) {
        return format!("`{id}`");
    }
    if let Some(ways) = value["anyOf"].as_array() {
        let mut words: Vec<String> = ways.iter().map(worded).collect();
        words.dedup();
        return words.join(" or ");
    }
    match &value["type"] {
        Value::String(kind) if kind == "array" => match (&value["items"], value["prefixItems"].as_array()) {
            (_, Some(items)) => {
                let items: Vec<String> = items.iter().map(worded).collect();
                format!("({})", items.join(", "))
            }
            // What may be repeated is said once, of all lists.
            (items, None) => match items["anyOf"].as_array().map(Vec::as_slice) {
                Some([item, repeated]) if repeated["properties"]["Repeat"].is_object() => {
                    format!("list of {}", worded(item))
                }
                _ => format!("list of {}", worded(items)),
            },
        },
        Value::String(kind) if kind == "object" => {
            let entry = &value["additionalProperties"];
            match entry.is_object() {
                true => format!("names with {}", worded(entry)),
                false => "keys".to_owned(),
            }
        }
        Value::String(kind) if kind == "string" => "text".to_owned(),
        Value::String(kind) if kind == "boolean" => "true or false".to_owned(),
        Value::Array(_) | Value::String(_) => match value["description"].as_str() {
            Some(units) => format!("number {}", units.split(',').next().unwrap_or(units)),
            None => "number".to_owned(),
        },
        _ => "anything".to_owned(),
    }
}
