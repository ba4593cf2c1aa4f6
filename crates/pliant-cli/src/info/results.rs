//! Facts about results of runs.

use super::{Complaint, LARGEST_TABLE, error};
use crate::page::Page;
use crate::table::{number, short};
use pliant_mesh_io::read_file;
use pliant_output::csv::read_table;
use pliant_scene::StateFile;
use serde_json::{Value, json};
use std::path::Path;

/// The largest `result.json` that is read, in bytes: 256 MiB.
const LARGEST: u64 = 256 << 20;
/// Probes whose last values are printed.
const PROBES: usize = 8;
const RESULT: &str = "result.json";
const MANIFEST: &str = "manifest.json";

fn text_of(path: &Path, most: u64) -> Result<String, Complaint> {
    let cannot = |why: &dyn std::fmt::Display| error(&format!("cannot read {}: {why}", path.display()), None);
    let bytes = read_file(path, most).map_err(|e| cannot(&e))?;
    String::from_utf8(bytes).map_err(|_| cannot(&"it is not UTF-8 text"))
}

/// The content of a file in JSON if it is one of results; scenes are none.
pub(super) fn json_of(path: &Path) -> Result<Option<Value>, Complaint> {
    let text = text_of(path, LARGEST)?;
    let value: Option<Value> = serde_json::from_str(&text).ok();
    Ok(value.filter(|value| is_result(value) || is_manifest(value) || is_state(value)))
}

fn is_result(value: &Value) -> bool {
    ["pliant", "status", "energy_end"]
        .iter()
        .all(|key| value.get(key).is_some())
}

fn is_state(value: &Value) -> bool {
    value.get("pliant_state").is_some()
}

fn is_manifest(value: &Value) -> bool {
    value["format"]
        .as_str()
        .is_some_and(|format| format.starts_with("pliant-manifest"))
}

/// Describes the directory of a run.
pub(super) fn of_directory(path: &Path, page: &mut Page) -> Result<(), Complaint> {
    let file = path.join(RESULT);
    if !file.is_file() {
        let message = format!("there is no run in {}", path.display());
        let help = "`pliant run SCENE --out DIR` writes one, with result.json and manifest.json";
        return Err(error(&message, Some(help)));
    }
    match json_of(&file)? {
        Some(value) => of_json(&file, &value, page),
        None => Err(error(&format!("{} is no result of a run", file.display()), None)),
    }
}

/// Describes a result or a manifest, with what is beside it.
pub(super) fn of_json(path: &Path, value: &Value, page: &mut Page) -> Result<(), Complaint> {
    if is_manifest(value) {
        page.say("manifest", path.display().to_string());
        say(page, "scene", &value["scene"]);
        say(page, "pliant", &value["pliant"]);
        say(page, "status", &value["status"]);
        add_files(value, page);
        return Ok(());
    }
    if is_state(value) {
        let read = StateFile::from_text(&value.to_string());
        let state = read.map_err(|e| error(&format!("{}: {e}", path.display()), None))?;
        page.say("state", path.display().to_string());
        page.say("scene", state.scene.clone());
        page.add("time", format!("{} s", number(state.time)), state.time);
        let nodes: Vec<_> = state.nodes().collect();
        let words: Vec<String> = nodes
            .iter()
            .map(|(name, count)| format!("{name} ({count})"))
            .collect();
        page.add(
            "nodes",
            format!("{}: {}", nodes.len(), words.join(", ")),
            json!(nodes),
        );
        return Ok(());
    }
    add_result(value, page);
    let manifest = path.with_file_name(MANIFEST);
    if manifest.is_file()
        && let Some(value) = json_of(&manifest)?.filter(is_manifest)
    {
        add_files(&value, page);
    }
    Ok(())
}

/// Adds a text, if there is one.
fn say(page: &mut Page, name: &'static str, value: &Value) {
    if let Some(text) = value.as_str() {
        page.say(name, text);
    }
}

/// Adds a number with its unit, if there is one.
fn measure(page: &mut Page, name: &'static str, value: &Value, unit: &str) {
    if let Some(x) = value.as_f64() {
        page.add(name, format!("{} {unit}", number(x)), x);
    }
}

fn add_result(value: &Value, page: &mut Page) {
    for name in ["scene", "title", "pliant", "status", "error"] {
        say(page, name, &value[name]);
    }
    let warnings: Vec<&str> = value["warnings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !warnings.is_empty() {
        page.add("warnings", warnings.join("; "), json!(warnings));
    }
    let parameters = value["parameters"].as_object().into_iter().flatten();
    let parameters: Vec<String> = parameters
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if !parameters.is_empty() {
        page.add("parameters", parameters.join(", "), value["parameters"].clone());
    }
    measure(page, "time", &value["time"], "s simulated");
    measure(page, "duration", &value["duration"], "s planned");
    if let Some(steps) = value["steps"].as_u64() {
        page.add("steps", format!("{steps} of {} s", value["step"]), steps);
    }
    say(page, "solver", &value["solver"]);
    if let (Some(wall), Some(time)) = (value["seconds"]["total"].as_f64(), value["time"].as_f64()) {
        let words = format!(
            "{} s of the clock, {} simulated seconds in each",
            short(wall),
            short(time / wall)
        );
        page.add("clock", words, wall);
    }
    let sizes = &value["sizes"];
    if let (Some(dofs), Some(rows)) = (sizes["dofs"].as_u64(), sizes["rows"].as_u64()) {
        page.add("dofs", dofs.to_string(), dofs);
        page.add("rows", rows.to_string(), rows);
    }
    measure(page, "energy at the start", &value["energy_start"]["total"], "J");
    measure(page, "energy at the end", &value["energy_end"]["total"], "J");
    measure(page, "dissipated", &value["dissipated"], "J");
    measure(
        page,
        "worst violation",
        &value["violation"]["worst"],
        "m or rad, of hard constraints",
    );
    if let Some(most) = value["contacts"]["most_active"].as_u64() {
        page.add("contacts", format!("at most {most} at once"), most);
    }
    for (name, what) in [("joints", "joints"), ("probes", "probes"), ("events", "events")] {
        let count = value[what].as_object().map_or(0, serde_json::Map::len);
        page.count(name, count);
    }
    let probes = value["probes"].as_object().into_iter().flatten();
    let last: Vec<(&String, f64)> = probes
        .filter_map(|(name, probe)| Some((name, probe["last"].as_f64()?)))
        .collect();
    if !last.is_empty() {
        let words = last
            .iter()
            .take(PROBES)
            .map(|(name, x)| format!("{name} = {}", number(*x)));
        let more = match last.len().saturating_sub(PROBES) {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        let words = format!("{}{more}", words.collect::<Vec<_>>().join(", "));
        let all: serde_json::Map<String, Value> =
            last.iter().map(|(n, x)| ((*n).clone(), json!(x))).collect();
        page.add("probes at the end", words, Value::Object(all));
    }
}

/// Adds the files of a manifest.
fn add_files(manifest: &Value, page: &mut Page) {
    let files: Vec<&Value> = manifest["files"].as_array().into_iter().flatten().collect();
    let bytes: u64 = files.iter().filter_map(|file| file["bytes"].as_u64()).sum();
    let names: Vec<&str> = files.iter().filter_map(|file| file["name"].as_str()).collect();
    let own: Vec<&str> = names.iter().copied().filter(|name| !name.contains('/')).collect();
    let words = format!(
        "{} in {:.1} MB: {}{}",
        names.len(),
        1e-6 * bytes as f64,
        own.join(", "),
        if own.len() < names.len() {
            ", and those of ParaView in frames/"
        } else {
            ""
        }
    );
    page.add("files", words, json!(names));
    let unwritten: Vec<&str> = manifest["unwritten"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !unwritten.is_empty() {
        page.add("not written", unwritten.join(", "), json!(unwritten));
    }
}

/// Describes a table: of energies, joints, probes, or the way of bodies.
pub(super) fn of_table(path: &Path, page: &mut Page) -> Result<(), Complaint> {
    let text = text_of(path, LARGEST_TABLE)?;
    let table = read_table(&text).map_err(|e| error(&format!("{}: {e}", path.display()), None))?;
    page.say("table", path.display().to_string());
    let lines = table.columns.first().map_or(0, Vec::len);
    page.add("lines", lines.to_string(), lines);
    if let (Some(name), Some(times)) = (table.names.first(), table.columns.first())
        && name.starts_with("time")
        && let (Some(first), Some(last)) = (times.first(), times.last())
    {
        let words = format!("{} to {} s", number(*first), number(*last));
        page.add("time", words, json!([first, last]));
    }
    page.add("columns", table.names.join(", "), json!(table.names));
    Ok(())
}
