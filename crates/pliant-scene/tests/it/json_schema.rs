//! The JSON Schema of scenes, against the scenes of the project.

use pliant_scene::{Format, SceneFile, Settings, as_json, json_schema};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Whether a value is right by the part of JSON Schema that schemas of scenes are written in; if
/// not, what is wrong where.
fn check(schema: &Value, all: &Value, value: &Value, place: &str) -> Result<(), String> {
    let Some(rules) = schema.as_object() else {
        return match schema {
            Value::Bool(true) => Ok(()),
            _ => Err(format!("{place} is not allowed")),
        };
    };
    for (rule, by) in rules {
        match rule.as_str() {
            "$schema" | "title" | "description" | "unit" | "$defs" => {}
            "$ref" => {
                let name = by.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                check(&all["$defs"][name], all, value, place)?;
            }
            "anyOf" => {
                let ways = by.as_array().unwrap().iter();
                let mut wrong = ways.map(|way| check(way, all, value, place));
                if !wrong.any(|way| way.is_ok()) {
                    return Err(format!("{place}: none of the ways fits {value}"));
                }
            }
            "enum" => {
                if !by.as_array().unwrap().contains(value) {
                    return Err(format!("{place}: {value} is not one of {by}"));
                }
            }
            "type" => {
                let own = match value {
                    Value::Null => "null",
                    Value::Bool(_) => "boolean",
                    Value::Number(_) => "number",
                    Value::String(_) => "string",
                    Value::Array(_) => "array",
                    Value::Object(_) => "object",
                };
                let fits = by == own || by.as_array().is_some_and(|list| list.contains(&own.into()));
                if !fits {
                    return Err(format!("{place}: {value} is not of the type {by}"));
                }
            }
            "required" => {
                for key in by.as_array().unwrap() {
                    if value.is_object() && value.get(key.as_str().unwrap()).is_none() {
                        return Err(format!("{place} has no {key}"));
                    }
                }
            }
            "minItems" | "maxItems" => {
                let count = value.as_array().map_or(0, Vec::len) as u64;
                let limit = by.as_u64().unwrap();
                if (rule == "minItems" && count < limit) || (rule == "maxItems" && count > limit) {
                    return Err(format!("{place} has {count} values"));
                }
            }
            "properties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    if let Some(rule) = by.get(key) {
                        check(rule, all, value, &format!("{place}/{key}"))?;
                    }
                }
            }
            "additionalProperties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    if rules
                        .get("properties")
                        .is_none_or(|known| known.get(key).is_none())
                    {
                        check(by, all, value, &format!("{place}/{key}"))?;
                    }
                }
            }
            "prefixItems" => {
                for (k, (rule, value)) in by
                    .as_array()
                    .unwrap()
                    .iter()
                    .zip(value.as_array().into_iter().flatten())
                    .enumerate()
                {
                    check(rule, all, value, &format!("{place}/{k}"))?;
                }
            }
            "items" => {
                let first = rules
                    .get("prefixItems")
                    .and_then(Value::as_array)
                    .map_or(0, Vec::len);
                for (k, value) in value.as_array().into_iter().flatten().enumerate().skip(first) {
                    check(by, all, value, &format!("{place}/{k}"))?;
                }
            }
            other => panic!("{other} is not checked"),
        }
    }
    Ok(())
}

fn scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|e| e == "ron" || e == "json"))
        .collect();
    all.sort();
    all
}

/// The scene with one key misspelt, for every key in it that is not a name that the scene gives.
fn misspelt(value: &Value, out: &mut Vec<Value>, put: &dyn Fn(Value) -> Value, is_free: bool) {
    match value {
        Value::Object(entries) => {
            for (key, inner) in entries {
                if !is_free {
                    let mut wrong = entries.clone();
                    let inner = wrong.remove(key).unwrap();
                    wrong.insert(format!("{key}q"), inner);
                    out.push(put(Value::Object(wrong)));
                }
                let put_in = |inner: Value| {
                    let mut all = entries.clone();
                    all.insert(key.clone(), inner);
                    put(Value::Object(all))
                };
                let names = matches!(
                    key.as_str(),
                    "parameters" | "functions" | "groups" | "repeat" | "Repeat"
                );
                misspelt(inner, out, &put_in, names);
            }
        }
        Value::Array(items) => {
            // The first of each list does for all.
            if let Some(first) = items.first() {
                let put_in = |inner: Value| {
                    let mut all = items.clone();
                    all[0] = inner;
                    put(Value::Array(all))
                };
                misspelt(first, out, &put_in, is_free);
            }
        }
        _ => {}
    }
}

#[test]
fn the_scenes_of_the_project_are_right_and_misspelt_ones_are_not() {
    let schema = json_schema();
    let all = scenes();
    assert!(all.len() > 40, "{}", all.len());
    let mut count = 0;
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        let format = match path.extension().unwrap() == "ron" {
            true => Format::Ron,
            false => Format::Json,
        };
        let value = as_json(&path, &text, format).unwrap();
        check(&schema, &schema, &value, "").unwrap_or_else(|wrong| panic!("{}: {wrong}", path.display()));
        let mut wrong = Vec::new();
        misspelt(&value, &mut wrong, &|value| value, false);
        for wrong in wrong {
            count += 1;
            assert!(
                check(&schema, &schema, &wrong, "").is_err(),
                "{}: {wrong}",
                path.display()
            );
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn keys_have_their_types_and_units() {
    let schema = json_schema();
    let scene = &schema["$defs"][schema["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap()];
    assert_eq!(scene["required"], serde_json::json!(["run", "nodes"]));
    assert_eq!(scene["additionalProperties"], false);
    let rod = &schema["$defs"]["Rod"]["properties"];
    assert_eq!(
        rod["mass"]["description"],
        "Mass of the whole. A number in kg, or with a unit in quotes."
    );
    assert_eq!(rod["mass"]["unit"], "kg");
    assert_eq!(rod["segments"]["type"], serde_json::json!(["number", "string"]));
    assert_eq!(rod["segments"]["description"], "Number of bodies.");
    assert!(rod["segments"].get("unit").is_none());
    let law = schema["$defs"]["integrator"]["anyOf"].as_array().unwrap();
    let theta = law.iter().find(|way| way["enum"][0] == "Theta").unwrap();
    assert_eq!(
        theta["description"],
        "One linear system per step, of first order."
    );
    let required = schema["$defs"]["Rod"]["required"].as_array().unwrap();
    assert!(required.contains(&"from".into()) && !required.contains(&"base".into()));
    let text = schema.to_string();
    assert!(
        !text.contains("\"\"") && text.contains("\"unit\":\"degrees\""),
        "{text}"
    );
}

/// Nearly every key and kind has a meaning, so that editors and the reference explain it.
#[test]
fn keys_and_kinds_have_meanings() {
    let schema = json_schema();
    let (mut with, mut without) = (0, Vec::new());
    for (name, part) in schema["$defs"].as_object().unwrap() {
        for (key, value) in part["properties"].as_object().into_iter().flatten() {
            match value["description"].as_str() {
                Some(text) if !text.starts_with("in ") => with += 1,
                _ => without.push(format!("{name}.{key}")),
            }
        }
    }
    // `repeat` and `$schema` are no keys of a struct, and kinds of enums hold four that are not
    // documented one by one.
    without.retain(|key| !key.ends_with(".repeat") && !key.ends_with(".$schema"));
    assert!(with > 780 && without.len() == 4, "{with} {without:?}");
}

/// Editors write the address of the schema into files of JSON: it is part of the schema, and left
/// out where the file is read, an included one too.
#[test]
fn a_scene_may_name_its_schema() {
    let text = r#"{
        "$schema": "scene.schema.json",
        "run": {"duration": 1},
        "include": [{"file": "part.json"}],
        "nodes": [{"Particles": {"name": "p", "positions": [[0, 0, 0]], "mass": 1}}]
    }"#;
    let folder = tempfile::tempdir().unwrap();
    let part = r#"{"$schema": "https://example.org/s.json", "constraints": [{"name": "held", "on": "p"}]}"#;
    std::fs::write(folder.path().join("part.json"), part).unwrap();
    let scene = SceneFile::from_text(&folder.path().join("a.json"), text, Format::Json).unwrap();
    let built = scene.build(&Settings::default()).unwrap();
    assert_eq!(built.model.initial_parameters().row_count(), 3);
    let all = json_schema();
    let value = as_json("a.json".as_ref(), text, Format::Json).unwrap();
    check(&all, &all, &value, "scene").unwrap();
    // Twice is once too often.
    let twice = text.replace("\"run\"", "\"$schema\": \"b\", \"run\"");
    let error = SceneFile::from_text(&folder.path().join("a.json"), &twice, Format::Json).unwrap_err();
    assert!(error.to_string().contains("$schema"), "{error}");
}
