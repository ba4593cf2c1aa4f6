//! `pliant info`: what is in a file.

mod model;
mod results;

use crate::arguments::Info;
use crate::page::Page;
use crate::{BAD_SCENE, complain};
use pliant_mesh_io::{LARGEST_FILE, MESH_EXTENSIONS, read_mesh_within};
use pliant_scene::hint;
use serde_json::json;
use std::path::Path;

/// A complaint, ready for the terminal.
type Complaint = String;

/// Extensions of the files that `pliant import` makes scenes of.
const IMPORTED: [&str; 4] = ["urdf", "xml", "osim", "scn"];
/// The largest table that is read, in bytes: 1 GiB.
const LARGEST_TABLE: u64 = 1 << 30;

pub(crate) fn info(arguments: &Info) -> u8 {
    let mut page = Page::default();
    match describe(arguments, &mut page) {
        Ok(()) => {
            page.print(arguments.json);
            0
        }
        Err(complaint) => {
            complain(&complaint);
            BAD_SCENE
        }
    }
}

/// An error with help.
fn error(message: &str, help: Option<&str>) -> Complaint {
    let help = help.map_or_else(String::new, |help| format!("\n = help: {help}"));
    format!("error: {message}{help}")
}

/// The extension of a file in small letters.
fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_lowercase()
}

fn describe(arguments: &Info, page: &mut Page) -> Result<(), Complaint> {
    let path = arguments.path.as_path();
    if path.is_dir() {
        only_of_scenes(arguments)?;
        return results::of_directory(path, page);
    }
    if !path.is_file() {
        return Err(missing(path));
    }
    let extension = extension(path);
    let is_scene = extension == "ron" || extension == "json";
    if !is_scene {
        only_of_scenes(arguments)?;
    }
    match extension.as_str() {
        "json" => match results::json_of(path)? {
            Some(file) => {
                only_of_scenes(arguments)?;
                results::of_json(path, &file, page)
            }
            None => model::of_scene(arguments, page),
        },
        "ron" => model::of_scene(arguments, page),
        "csv" => results::of_table(path, page),
        extension if IMPORTED.contains(&extension) => model::of_import(path, page),
        extension if MESH_EXTENSIONS.contains(&extension) => of_mesh(arguments, page),
        extension => {
            let mut known = vec!["ron", "json", "csv"];
            known.extend(IMPORTED);
            known.extend(MESH_EXTENSIONS);
            let help = hint(extension, "extensions", known.iter().copied());
            let message = format!("nothing is known of what is in {} by its name", path.display());
            Err(error(&message, help.as_deref()))
        }
    }
}

/// Refuses arguments that are of scenes alone, where the file is none.
fn only_of_scenes(arguments: &Info) -> Result<(), Complaint> {
    let path = arguments.path.display();
    if !arguments.set.is_empty() {
        let message = format!("--set gives parameters of scenes, and {path} is none");
        return Err(error(&message, None));
    }
    if arguments.spectrum {
        let message = format!("--spectrum is of scenes, and {path} is none");
        return Err(error(&message, None));
    }
    Ok(())
}

/// The complaint about a file that is not there, with one of a similar name beside it.
fn missing(path: &Path) -> Complaint {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let beside: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    let mut beside: Vec<&str> = beside.iter().map(String::as_str).collect();
    beside.sort_unstable();
    let help = hint(&name, "files there", beside.iter().copied());
    error(&format!("there is no {}", path.display()), help.as_deref())
}

fn of_mesh(arguments: &Info, page: &mut Page) -> Result<(), Complaint> {
    let path = &arguments.path;
    let most = arguments.bounds.max_file_size;
    let most = most.map_or(LARGEST_FILE, crate::arguments::mebibytes);
    let mesh = read_mesh_within(path, most)
        .map_err(|e| error(&format!("cannot read the mesh {}: {e}", path.display()), None))?;
    page.say("mesh", path.display().to_string());
    page.add("vertices", mesh.vertices.len().to_string(), mesh.vertices.len());
    page.count("edges", mesh.edges.len());
    page.count("triangles", mesh.triangles.len());
    page.count("tetrahedra", mesh.tetrahedra.len());
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for cell in &mesh.volumes {
        let kind = cell.kind.name().to_owned();
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    let words: Vec<String> = kinds
        .iter()
        .map(|(kind, count)| format!("{count} x {kind}"))
        .collect();
    if !words.is_empty() {
        let counts = kinds.iter().map(|(kind, count)| (kind.clone(), json!(count)));
        page.add(
            "other cells",
            words.join(", "),
            serde_json::Value::Object(counts.collect()),
        );
    }
    let groups: Vec<&str> = mesh.groups.iter().map(|group| group.name.as_str()).collect();
    if !groups.is_empty() {
        page.add("groups", groups.join(", "), json!(groups));
    }
    add_box(mesh.vertices.iter(), "the file's unit", page);
    Ok(())
}

/// Adds the box about points, in a unit, if there is a point.
fn add_box<'a>(points: impl Iterator<Item = &'a [f64; 3]>, unit: &str, page: &mut Page) {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for x in points {
        for k in 0..3 {
            (low[k], high[k]) = (low[k].min(x[k]), high[k].max(x[k]));
        }
    }
    if low[0] <= high[0] {
        let [a, b] = [low, high].map(crate::table::triple);
        page.add(
            "box",
            format!("{a} to {b} in {unit}"),
            json!({"low": low, "high": high}),
        );
    }
}
