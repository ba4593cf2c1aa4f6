//! The table of a sweep: a row for each job, and nothing in it that differs from run to run.

use crate::SweepError;
use crate::execute::{Failure, FailureKind};
use crate::manifest::Manifest;
use crate::quantities::{Cell, Lists, OF_ONE_RUN, find, flatten, flaw_of};
use crate::result::{Found, look};
use pliant_output::atomic::write_atomically;
use pliant_output::csv::quoted;
use pliant_scene::hint;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;

/// Keys of a result that are no quantities: they are the same for all jobs, in columns of their
/// own, or lists under words. [`OF_ONE_RUN`] are left out, too.
const LEFT_OUT: [&str; 11] = [
    "schema",
    "pliant",
    "scene",
    "title",
    "status",
    "error",
    "error_kind",
    "warnings",
    "inputs",
    "parameters",
    "state",
];

/// Columns ahead of the parameters and behind them.
const HEAD: [&str; 1] = ["job"];
const STATE: [&str; 4] = ["status", "error_kind", "error", "warnings"];

/// A table with as many cells in each row as there are columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// How many jobs ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs that went through.
    pub ok: usize,
    /// Runs that failed, and jobs that were begun and left no result, but for those interrupted.
    pub failed: usize,
    /// Jobs that were interrupted.
    pub interrupted: usize,
    /// Jobs that have a result, of a run that went through or of one that failed.
    pub with_result: usize,
    /// Jobs that were not run.
    pub missing: usize,
}

/// The results of a sweep.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The table.
    pub table: Table,
    /// The seconds of each job that has a result.
    pub seconds: Table,
    /// How many jobs ended how.
    pub counts: Counts,
    /// Names of jobs that failed, with why, in the order of the table.
    pub failed: Vec<(String, String)>,
    /// Paths that were asked for and are in no result, and what may be meant.
    pub unknown: Vec<(String, Option<String>)>,
}

/// Collects the results of all jobs from their directories. `failures` are those of jobs without
/// one.
pub fn collect(directory: &Path, manifest: &Manifest, failures: &BTreeMap<usize, Failure>) -> Results {
    let mut results = Results::default();
    results.seconds.columns.push("job".to_owned());
    let mut rows = Vec::new();
    let mut first = None;
    for (index, job) in manifest.jobs.iter().enumerate() {
        let found = look(directory, job);
        let mut state = [const { Cell::Missing }; STATE.len()];
        let mut quantities = Quantities::default();
        match (&found, failures.get(&index)) {
            (Found::Complete(result), _) => {
                state = state_of(result);
                quantities = Quantities::of(result, &manifest.quantities);
                results.count_result(&job.id, result);
                results.add_seconds(&job.id, result);
                first.get_or_insert_with(|| result.clone());
            }
            (Found::Missing(_), Some(failure)) => {
                let words = ["failed", failure.kind.word(), &failure.message];
                for (cell, word) in state.iter_mut().zip(words) {
                    *cell = Cell::Text(word.to_owned());
                }
                results.count_failure(&job.id, failure);
            }
            (Found::Missing(_), None) => {
                state[0] = Cell::Text("missing".to_owned());
                results.counts.missing += 1;
            }
        }
        rows.push((state, quantities));
    }
    if let Some(first) = first {
        results.unknown = unknown(&manifest.quantities, &rows, &first);
    }
    results.table = assemble(manifest, rows);
    results
}

impl Results {
    fn count_result(&mut self, job: &str, result: &Value) {
        self.counts.with_result += 1;
        match result["error"].as_str() {
            None => self.counts.ok += 1,
            Some(error) => {
                self.counts.failed += 1;
                self.failed.push((job.to_owned(), error.to_owned()));
            }
        }
    }

    fn count_failure(&mut self, job: &str, failure: &Failure) {
        if failure.kind == FailureKind::Interrupted {
            self.counts.interrupted += 1;
            return;
        }
        self.counts.failed += 1;
        self.failed.push((job.to_owned(), failure.message.clone()));
    }

    fn add_seconds(&mut self, job: &str, result: &Value) {
        let mut cells = BTreeMap::new();
        flatten(&result["seconds"], "", Lists::LeftOut, &mut cells);
        if self.seconds.rows.is_empty() {
            self.seconds.columns.extend(cells.keys().cloned());
        }
        let names = self.seconds.columns.iter().skip(1);
        let numbers = names.map(|name| cells.get(name).cloned().unwrap_or_default());
        let row = [Cell::Text(job.to_owned())].into_iter().chain(numbers);
        self.seconds.rows.push(row.collect());
    }
}

fn state_of(result: &Value) -> [Cell; STATE.len()] {
    let text = |key: &str| {
        result[key]
            .as_str()
            .map_or(Cell::Missing, |text| Cell::Text(text.to_owned()))
    };
    let warnings = result["warnings"].as_array().map_or(0, Vec::len);
    let warnings = i64::try_from(warnings).map_or(Cell::Missing, Cell::Count);
    [text("status"), text("error_kind"), text("error"), warnings]
}

/// The quantities of a result, by path.
#[derive(Clone, Debug, Default)]
struct Quantities {
    /// For each path that was asked for, what is there; nothing if it leads nowhere.
    chosen: Vec<Option<BTreeMap<String, Cell>>>,
    /// All numbers and words that are in no list.
    all: BTreeMap<String, Cell>,
}

impl Quantities {
    fn of(result: &Value, paths: &[String]) -> Self {
        let mut all = BTreeMap::new();
        for (key, value) in result.as_object().into_iter().flatten() {
            if !LEFT_OUT.contains(&key.as_str()) && !OF_ONE_RUN.contains(&key.as_str()) {
                flatten(value, key, Lists::LeftOut, &mut all);
            }
        }
        let chosen = paths.iter().map(|path| {
            let mut cells = BTreeMap::new();
            flatten(find(result, path)?, path, Lists::Entered, &mut cells);
            Some(cells)
        });
        let chosen = chosen.collect();
        Self { chosen, all }
    }
}

type Row = ([Cell; STATE.len()], Quantities);

/// The paths that were asked for and lead nowhere in any result, with what may be meant of all that
/// the first result has.
fn unknown(paths: &[String], rows: &[Row], first: &Value) -> Vec<(String, Option<String>)> {
    let leads_nowhere = |k: usize| {
        rows.iter()
            .all(|row| row.1.chosen.get(k).is_none_or(Option::is_none))
    };
    let missing: Vec<&String> = paths
        .iter()
        .enumerate()
        .filter_map(|(k, path)| leads_nowhere(k).then_some(path))
        .collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let mut known = BTreeMap::new();
    flatten(first, "", Lists::Entered, &mut known);
    known.retain(|path, _| flaw_of(path).is_none());
    let nearest = |path: &str| hint(path, "quantities", known.keys().map(String::as_str));
    missing
        .into_iter()
        .map(|path| (path.clone(), nearest(path)))
        .collect()
}

/// The order of columns: the job, its parameters, how it ended, what was asked for, the rest by
/// name. It depends on no order in time.
fn assemble(manifest: &Manifest, rows: Vec<Row>) -> Table {
    let parameters = manifest
        .parameters
        .iter()
        .map(|name| format!("parameters.{name}"));
    let words = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let fixed: Vec<String> = words(&HEAD)
        .into_iter()
        .chain(parameters)
        .chain(words(&STATE))
        .collect();
    let mut taken: BTreeSet<String> = fixed.iter().cloned().collect();
    let mut chosen: Vec<String> = Vec::new();
    for (k, path) in manifest.quantities.iter().enumerate() {
        let names: BTreeSet<&String> = rows
            .iter()
            .filter_map(|row| row.1.chosen.get(k)?.as_ref())
            .flat_map(|c| c.keys())
            .collect();
        let mut names: Vec<String> = names.into_iter().cloned().collect();
        names.sort_by(|a, b| natural(a).cmp(&natural(b)));
        if names.is_empty() {
            names.push(path.clone());
        }
        names.retain(|name| taken.insert(name.clone()));
        chosen.extend(names);
    }
    let there = rows
        .iter()
        .flat_map(|row| &row.1.all)
        .filter(|(_, cell)| **cell != Cell::Missing);
    let rest: BTreeSet<&String> = there.map(|(name, _)| name).collect();
    let rest = rest.into_iter().filter(|name| !taken.contains(*name)).cloned();
    let quantities: Vec<String> = chosen.iter().cloned().chain(rest).collect();
    let columns = fixed.into_iter().chain(quantities.iter().cloned()).collect();
    let rows = manifest.jobs.iter().zip(rows).map(|(job, (state, cells))| {
        let value = |name: &String| {
            job.parameters
                .get(name)
                .map_or(Cell::Missing, |v| Cell::Number(*v))
        };
        let of = |name: &String| {
            let chosen = cells.chosen.iter().flatten().find_map(|c| c.get(name));
            chosen
                .or_else(|| cells.all.get(name))
                .cloned()
                .unwrap_or_default()
        };
        let head = [Cell::Text(job.id.clone())];
        let row = head
            .into_iter()
            .chain(manifest.parameters.iter().map(value))
            .chain(state);
        row.chain(quantities.iter().map(of)).collect()
    });
    Table {
        rows: rows.collect(),
        columns,
    }
}

/// A path with its numbers as numbers, so that element 10 comes behind element 9.
fn natural(path: &str) -> Vec<(Option<usize>, &str)> {
    path.split('.').map(|part| (part.parse().ok(), part)).collect()
}

impl Table {
    /// Writes comma-separated values: the names of the columns in the first line, lines that end
    /// with a line feed, numbers as the shortest decimals that read back to the same bits, nothing
    /// for what is missing. Names and sentences are quoted as in all tables of Pliant.
    ///
    /// # Errors
    /// [`SweepError::Write`].
    pub fn write_csv(&self, path: &Path) -> Result<(), SweepError> {
        write_atomically(path, |out| {
            let names: Vec<_> = self.columns.iter().map(|name| quoted(name)).collect();
            writeln!(out, "{}", names.join(","))?;
            self.rows.iter().try_for_each(|row| write_row(out, row))
        })?;
        Ok(())
    }
}

fn write_row(out: &mut dyn Write, row: &[Cell]) -> io::Result<()> {
    for (k, cell) in row.iter().enumerate() {
        if k > 0 {
            out.write_all(b",")?;
        }
        match cell {
            Cell::Missing => {}
            Cell::Truth(truth) => write!(out, "{truth}")?,
            Cell::Count(count) => write!(out, "{count}")?,
            Cell::Number(number) => write!(out, "{number:?}")?,
            Cell::Text(text) => out.write_all(quoted(text).as_bytes())?,
        }
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Job;
    use serde_json::json;

    /// A column that is there anyway is there once, and an empty list is no unknown path.
    #[test]
    fn columns_are_there_once() {
        let job = Job {
            id: "1".to_owned(),
            parameters: BTreeMap::from([("k".to_owned(), 0.5)]),
            ..Job::default()
        };
        let manifest = Manifest {
            parameters: vec!["k".to_owned()],
            quantities: ["status", "warnings", "parameters", "error", "none"]
                .map(str::to_owned)
                .to_vec(),
            jobs: vec![job],
            ..Manifest::default()
        };
        let result = json!({"status": "ok", "warnings": [], "parameters": {"k": 0.5, "l": 2.0},
            "error": null, "steps": 1});
        let rows = vec![(state_of(&result), Quantities::of(&result, &manifest.quantities))];
        let lost = unknown(&manifest.quantities, &rows, &result);
        assert_eq!(lost.iter().map(|l| l.0.as_str()).collect::<Vec<_>>(), ["none"]);
        let columns = [
            "job",
            "parameters.k",
            "status",
            "error_kind",
            "error",
            "warnings",
            "parameters.l",
            "none",
            "steps",
        ];
        assert_eq!(assemble(&manifest, rows).columns, columns);
    }

    #[test]
    fn columns_have_an_order_of_their_own() {
        let job = |id: &str| Job {
            id: id.to_owned(),
            parameters: BTreeMap::from([("k".to_owned(), 0.5)]),
            ..Job::default()
        };
        let manifest = Manifest {
            parameters: vec!["k".to_owned()],
            quantities: vec!["state.p".to_owned(), "b.y".to_owned(), "none".to_owned()],
            jobs: vec![job("1"), job("2"), job("3")],
            ..Manifest::default()
        };
        let list: Vec<f64> = (0..11).map(f64::from).collect();
        let whole = json!({"status": "ok", "steps": 3, "b": {"y": 1.5, "x": null}, "state": {"p": list},
            "warnings": ["a, \"b\""], "seconds": {"total": 1.0}, "error": null});
        let failed = json!({"status": "failed", "error": "=no, step", "error_kind": "numerical", "steps": 1,
            "a": true, "warnings": []});
        let quantities = |result| Quantities::of(result, &manifest.quantities);
        let rows = vec![
            (state_of(&whole), quantities(&whole)),
            (state_of(&failed), quantities(&failed)),
            ([const { Cell::Missing }; 4], Quantities::default()),
        ];
        let lost = unknown(&manifest.quantities, &rows, &whole);
        assert_eq!(
            lost.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(),
            ["none"]
        );
        let table = assemble(&manifest, rows);
        let dir = tempfile::tempdir().unwrap();
        table.write_csv(&dir.path().join("t.csv")).unwrap();
        let text = std::fs::read_to_string(dir.path().join("t.csv")).unwrap();
        let elements: Vec<String> = (0..11).map(|k| format!("state.p.{k}")).collect();
        let values: Vec<String> = (0..11).map(|k| format!("{k}.0")).collect();
        let expected = format!(
            "job,parameters.k,status,error_kind,error,warnings,{},b.y,none,a,steps\n\
             1,0.5,ok,,,1,{},1.5,,,3\n\
             2,0.5,failed,numerical,\"'=no, step\",0,{},,,true,1\n\
             3,0.5,,,,,{},,,,\n",
            elements.join(","),
            values.join(","),
            ",".repeat(10),
            ",".repeat(10),
        );
        assert_eq!(text, expected);
    }
}
