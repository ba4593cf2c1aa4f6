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
    if arguments.markdown {
        print(&page(&schema, parts));
        return 0;
    }
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
        "\n`pliant components NAME` shows the keys of one of them, with their units and meanings.\n",
    );
    text
}

/// Everything that may stand in a scene as a page of Markdown, from the keys of the scene to those
/// of its parts.
fn page(schema: &Value, parts: &Map<String, Value>) -> String {
    let mut text = HEAD.to_owned();
    for name in reached(schema, parts) {
        let part = &parts[name];
        let title = match Some(name) == target(schema) {
            true => "The scene".to_owned(),
            false => format!("`{name}`"),
        };
        text += &format!("\n<a id=\"{}\"></a>\n\n## {title}\n\n", anchor(name));
        text += match part["properties"].is_object() {
            true => "| key | value | meaning |\n|---|---|---|\n",
            false => "| kind | with | meaning |\n|---|---|---|\n",
        };
        for entry in entries(part) {
            let form = match entry.is_required {
                true => format!("{}, required", linked(&entry.form)),
                false => linked(&entry.form),
            };
            let meaning = entry.meaning.replace('|', "\\|");
            text += &format!("| `{}` | {form} | {meaning} |\n", entry.name);
        }
    }
    text
}

/// The first lines of that page.
const HEAD: &str = "# All keys of scenes

Every key and every kind with its meaning, written by `pliant components --markdown` from the types that read scenes; the pages before this one explain how they belong together.

- A *number* may be an expression in quotes or have a unit in quotes; the unit given here is that of a bare number.
- A value in code type is a part with keys or kinds of its own, to which it links. Equal names that read different keys are told apart by a number (`law_2`), which is not written in scenes.
";

/// The anchor of a part: names may differ in the size of their letters alone.
fn anchor(name: &str) -> String {
    format!("key-{name}")
}

/// A form in words with the parts that it names as links.
fn linked(form: &str) -> String {
    let mut text = String::new();
    for (k, piece) in form.split('`').enumerate() {
        match k % 2 {
            0 => text.push_str(piece),
            _ => text.push_str(&format!("[`{piece}`](#{})", anchor(piece))),
        }
    }
    text.replace('|', "\\|")
}

/// The names of all parts in the order in which a reader meets them: breadth first.
fn reached<'a>(schema: &'a Value, parts: &'a Map<String, Value>) -> Vec<&'a str> {
    let mut found: Vec<&str> = target(schema).into_iter().collect();
    let mut next = 0;
    while let Some(part) = found.get(next).and_then(|name| parts.get(*name)) {
        next += 1;
        let mut named = Vec::new();
        targets(part, &mut named);
        for name in named {
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

/// All parts that a value refers to, in order.
fn targets<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    found.extend(target(value));
    match value {
        Value::Object(of) => of.values().for_each(|value| targets(value, found)),
        Value::Array(of) => of.iter().for_each(|value| targets(value, found)),
        _ => {}
    }
}

/// A key or a kind.
struct Entry<'a> {
    name: &'a str,
    is_required: bool,
    form: String,
    meaning: &'a str,
}

/// The keys or the kinds of a part.
fn entries(part: &Value) -> Vec<Entry<'_>> {
    let required: Vec<&str> = part["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let keys = part["properties"].as_object().into_iter().flatten();
    let mut found: Vec<Entry<'_>> = keys
        .map(|(name, value)| Entry {
            name,
            is_required: required.contains(&name.as_str()),
            form: worded(value),
            meaning: meaning(value),
        })
        .collect();
    for way in part["anyOf"].as_array().into_iter().flatten() {
        let alone = way["enum"].as_array().into_iter().flatten();
        found.extend(alone.filter_map(Value::as_str).map(|name| Entry {
            name,
            is_required: false,
            form: String::new(),
            meaning: meaning(way),
        }));
        let held = way["properties"].as_object().into_iter().flatten();
        found.extend(held.map(|(name, value)| Entry {
            name,
            is_required: false,
            form: worded(value),
            meaning: meaning(value),
        }));
    }
    found
}

/// The meaning of a key or a kind, without the unit that stands behind it.
fn meaning(value: &Value) -> &str {
    let text = value["description"].as_str().unwrap_or_default();
    match value["unit"].is_string() {
        true => text
            .rsplit_once(" A number in ")
            .map_or("", |(meaning, _)| meaning),
        false => text,
    }
}

/// The description of everything of that name: kinds of choices, and what has keys.
fn described(parts: &Map<String, Value>, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (choice, part) in parts {
        for way in part["anyOf"].as_array().into_iter().flatten() {
            let alone = way["enum"].as_array().into_iter().flatten();
            if alone.into_iter().any(|kind| kind == name) {
                let meaning = indented(meaning(way));
                found.push(format!(
                    "{name}, a kind of `{choice}`: without a value\n{meaning}"
                ));
            }
            if let Some(held) = way["properties"].get(name) {
                let head = format!("{name}, a kind of `{choice}`");
                found.push(match target(held).and_then(|id| parts.get(id)) {
                    Some(part) if part["properties"].is_object() => {
                        format!("{head}:\n{}{}", indented(meaning(held)), keys(part))
                    }
                    _ => format!("{head}: {}\n{}", worded(held), indented(meaning(held))),
                });
            }
        }
    }
    let has_kinds = !found.is_empty();
    // Parts of one name are told apart by a number.
    for (own, part) in parts.iter().filter(|(own, _)| is_called(own, name)) {
        let kinds = kinds(part);
        if part["properties"].is_object() && !has_kinds {
            found.push(format!("{own}:\n{}", keys(part)));
        } else if !kinds.is_empty() {
            found.push(format!("{own}, one of:\n{}", keys(part)));
        }
    }
    found
}

/// Whether a part has this name, or this name and a number.
fn is_called(part: &str, name: &str) -> bool {
    let rest = part.strip_prefix(name);
    let number = rest.and_then(|rest| rest.strip_prefix('_'));
    rest == Some("") || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Columns of a terminal that meanings are wrapped at.
const WIDTH: usize = 96;

/// A line for each key or kind, its meaning below it.
fn keys(part: &Value) -> String {
    let entries = entries(part);
    let rows: Vec<[String; 3]> = entries
        .iter()
        .map(|entry| {
            let must = match entry.is_required {
                true => "required",
                false => "",
            };
            [format!("  {}", entry.name), must.to_owned(), entry.form.clone()]
        })
        .collect();
    let mut text = String::new();
    for (line, entry) in columns(&rows).lines().zip(&entries) {
        text += &format!("{}\n{}", line.trim_end(), indented(entry.meaning));
    }
    text
}

/// A text in lines that are indented.
fn indented(text: &str) -> String {
    let (mut out, mut line) = (String::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH - 6 {
            out += &format!("      {line}\n");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    match line.is_empty() {
        true => out,
        false => out + &format!("      {line}\n"),
    }
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
        Value::Array(_) | Value::String(_) => match value["unit"].as_str() {
            Some(unit) => format!("number in {unit}"),
            None => "number".to_owned(),
        },
        _ => "anything".to_owned(),
    }
}
