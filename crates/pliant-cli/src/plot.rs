//! `pliant plot`: columns of a table of results as curves.

use crate::arguments::Plot as Arguments;
use crate::picture::picture_file;
use crate::{BAD_SCENE, NOT_WRITTEN, complain, print};
use pliant_output::atomic::write_atomically;
use pliant_output::csv::{ReadTable, read_table};
use pliant_output::plot::{MOST_CURVES, Plot, plots_svg};
use pliant_scene::hint;
use std::path::{Path, PathBuf};

/// Tables of a run that are drawn if none is named, the first that there is.
const TABLES: [&str; 3] = ["probes.csv", "joints.csv", "energy.csv"];
/// Columns of `energy.csv` that are drawn if none is named.
const ENERGIES: [&str; 3] = ["kinetic_J", "potential_J", "total_J"];
/// Largest table, in bytes.
const LARGEST: u64 = 1 << 30;

/// A sentence about a mistake, and help.
struct Mistake {
    message: String,
    help: Option<String>,
}

impl Mistake {
    fn new(message: String) -> Self {
        Self { message, help: None }
    }
}

pub(crate) fn plot(arguments: &Arguments) -> u8 {
    let found = find_table(&arguments.results)
        .and_then(|path| Ok((read(&path)?, path)))
        .and_then(|(table, path)| match arguments.list {
            true => Ok((listed(&table), None)),
            false => Ok((draw(arguments, &table, &path)?, Some(path))),
        });
    let (text, table) = match found {
        Ok(found) => found,
        Err(Mistake { message, help }) => {
            let help = help.map_or_else(String::new, |help| format!("\n = help: {help}"));
            complain(&format!("error: {message}{help}"));
            return BAD_SCENE;
        }
    };
    let Some(table) = table else {
        print(&text);
        return 0;
    };
    let path = arguments
        .output
        .clone()
        .unwrap_or_else(|| table.with_file_name("plot.svg"));
    let file = match picture_file(&path, "svg") {
        Ok(file) => file,
        Err(refusal) => {
            complain(&refusal.message);
            return refusal.code;
        }
    };
    match write_atomically(&file, |out| out.write_all(text.as_bytes())) {
        Ok(_) => {
            print(&format!("written: {}\n", path.display()));
            0
        }
        Err(error) => {
            complain(&format!("error: {error}"));
            NOT_WRITTEN
        }
    }
}

/// The table that a path means: itself, or one of those in the directory.
fn find_table(path: &Path) -> Result<PathBuf, Mistake> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let tables = TABLES.map(|name| path.join(name));
    let found = tables.into_iter().find(|table| table.is_file());
    found.ok_or_else(|| Mistake {
        message: format!("there is no table of a run in {}", path.display()),
        help: Some(
            "`record` of a scene makes one; `pliant run` without `--only-result` writes it".to_owned(),
        ),
    })
}

fn read(path: &Path) -> Result<ReadTable, Mistake> {
    let cannot = |why: &dyn std::fmt::Display| Mistake::new(format!("cannot read {}: {why}", path.display()));
    let size = std::fs::metadata(path).map_err(|e| cannot(&e))?;
    if !size.is_file() {
        return Err(cannot(&"it is no file"));
    }
    if size.len() > LARGEST {
        return Err(cannot(&"it has more than 1 GiB"));
    }
    let text = std::fs::read_to_string(path).map_err(|e| cannot(&e))?;
    read_table(&text).map_err(|e| cannot(&e))
}

/// Names of columns, one in a line.
fn listed(table: &ReadTable) -> String {
    table.names.iter().map(|name| format!("{name}\n")).collect()
}

/// A name of a column and its unit: what is behind the last underscore, if it can be one.
fn parts(name: &str) -> (&str, &str) {
    match name.rsplit_once('_') {
        Some((rest, unit)) if !unit.is_empty() && !unit.contains(['.', '[']) => (rest, unit),
        _ => (name, ""),
    }
}

/// The columns that a word of the user means.
fn meant(table: &ReadTable, word: &str) -> Result<Vec<usize>, Mistake> {
    let fits = |name: &str| match word.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == word || parts(name).0 == word,
    };
    let found: Vec<usize> = (0..table.names.len())
        .filter(|k| fits(&table.names[*k]))
        .collect();
    if found.is_empty() {
        let names = table.names.iter().map(|name| parts(name).0);
        return Err(Mistake {
            message: format!("there is no column `{word}`"),
            help: hint(word, "columns", names),
        });
    }
    Ok(found)
}

/// The picture: a plot for each unit.
fn draw(arguments: &Arguments, table: &ReadTable, path: &Path) -> Result<String, Mistake> {
    let over = match &arguments.over {
        None => first_axis(table),
        Some(word) => match meant(table, word)?[..] {
            [one] => one,
            _ => {
                return Err(Mistake::new(format!(
                    "`{word}` is several columns, and there is one axis"
                )));
            }
        },
    };
    let mut chosen = Vec::new();
    for word in &arguments.columns {
        chosen.extend(meant(table, word)?);
    }
    if arguments.columns.is_empty() && table.names.iter().any(|name| name == ENERGIES[0]) {
        chosen.extend((0..table.names.len()).filter(|k| ENERGIES.contains(&&*table.names[*k])));
    } else if arguments.columns.is_empty() {
        chosen.extend((first_axis(table)..table.names.len()).filter(|k| *k != over));
    }
    let rows = table.columns.first().map_or(0, Vec::len);
    if rows == 0 {
        let message = format!("{} has names of columns and no line of numbers", path.display());
        return Err(Mistake::new(message));
    }
    let is_text = |k: &usize| table.words[*k].is_some();
    if arguments.columns.is_empty() && !chosen.iter().all(is_text) {
        chosen.retain(|k| !is_text(k));
    }
    if let Some(k) = chosen.iter().chain([&over]).find(|k| is_text(k)) {
        let (name, word) = (
            parts(&table.names[*k]).0,
            table.words[*k].as_deref().unwrap_or(""),
        );
        return Err(Mistake {
            message: format!("the column `{name}` is text, such as `{word}`, and cannot be drawn"),
            help: Some("name columns of numbers; `--list` shows all columns".to_owned()),
        });
    }
    let mut units: Vec<&str> = Vec::new();
    for k in &chosen {
        let unit = parts(&table.names[*k]).1;
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    let mut plots = Vec::new();
    for unit in units {
        let of_unit: Vec<usize> = chosen
            .iter()
            .copied()
            .filter(|k| parts(&table.names[*k]).1 == unit)
            .collect();
        if of_unit.len() > MOST_CURVES {
            let count = of_unit.len();
            return Err(Mistake {
                message: format!(
                    "{count} columns have the unit `{unit}`, and a plot has at most {MOST_CURVES} curves"
                ),
                help: Some("name those that are meant; `--list` shows all".to_owned()),
            });
        }
        plots.push(Plot {
            title: String::new(),
            axes: [with_brackets(&table.names[over]), format!("[{unit}]")],
            names: of_unit
                .iter()
                .map(|k| parts(&table.names[*k]).0.to_owned())
                .collect(),
            over: table.columns[over].clone(),
            values: of_unit.iter().map(|k| table.columns[*k].clone()).collect(),
        });
    }
    if plots.is_empty() {
        return Err(Mistake::new(format!("{} has one column only", path.display())));
    }
    let title = path.display().to_string();
    plots[0].title.clone_from(&title);
    Ok(plots_svg(&title, &plots))
}

/// The column that others are drawn over: the first one, but the load of `path.csv`, whose first
/// column is a number of points.
fn first_axis(table: &ReadTable) -> usize {
    match table.names.get(..2) {
        Some([point, load]) if point == "point" && load == "load" => 1,
        _ => 0,
    }
}

/// The name of an axis with its unit in brackets.
fn with_brackets(name: &str) -> String {
    match parts(name) {
        (name, "") => name.to_owned(),
        (name, unit) => format!("{name} [{unit}]"),
    }
}
