//! Quantities of a result by their paths: `energy_end.total`, `state.bob.positions.0.1`.

use crate::SweepError;
use serde_json::Value;
use std::collections::BTreeMap;

/// A value of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// None: `null`, or nothing of that name.
    #[default]
    Missing,
    /// Yes or no.
    Truth(bool),
    /// A count.
    Count(i64),
    /// A number.
    Number(f64),
    /// A word or a sentence.
    Text(String),
}

impl Cell {
    /// The cell of a value that is no list and no object.
    fn of(value: &Value) -> Self {
        match value {
            Value::Bool(truth) => Self::Truth(*truth),
            Value::Number(number) => match number.as_i64() {
                Some(count) => Self::Count(count),
                None => number.as_f64().map_or(Self::Missing, Self::Number),
            },
            Value::String(text) => Self::Text(text.clone()),
            _ => Self::Missing,
        }
    }
}

/// The value at a path: keys of objects and, from zero, places in lists, joined by dots. Keys may
/// have dots themselves; the longest that fits is taken first.
pub fn find<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    if path.is_empty() {
        return Some(value);
    }
    match value {
        Value::Object(map) => {
            let ends = path.match_indices('.').map(|(end, _)| end).chain([path.len()]);
            let mut ends: Vec<usize> = ends.collect();
            ends.reverse();
            ends.into_iter().find_map(|end| {
                let rest = path[end..].strip_prefix('.');
                let inner = map.get(&path[..end])?;
                match rest {
                    Some("") => None,
                    rest => find(inner, rest.unwrap_or("")),
                }
            })
        }
        Value::Array(list) => {
            let (head, rest) = path.split_once('.').unwrap_or((path, ""));
            find(list.get(head.parse::<usize>().ok()?)?, rest)
        }
        _ => None,
    }
}

/// First keys of what is there of each run alone: in a table that held them, two sweeps of the same
/// jobs would differ.
pub(crate) const OF_ONE_RUN: [&str; 3] = ["work", "seconds", "crc32"];

/// Checks that paths are those of quantities that a table can have.
///
/// # Errors
/// [`SweepError::Setting`] for an empty path, and for what differs from run to run.
pub fn check_paths(paths: &[String]) -> Result<(), SweepError> {
    match paths.iter().find_map(|path| flaw_of(path)) {
        None => Ok(()),
        Some(flaw) => Err(SweepError::setting(flaw, Some(HELP.to_owned()))),
    }
}

const HELP: &str = "as in `--result energy_end.total`; the seconds of each job are in times.csv";

/// A sentence about why a path is none of a quantity that a table can have.
pub(crate) fn flaw_of(path: &str) -> Option<String> {
    let first = path.split('.').next().unwrap_or_default();
    if first.is_empty() {
        return Some(format!(
            "the path `{}` is none of a quantity",
            path.escape_debug()
        ));
    }
    let shown = path.escape_debug();
    OF_ONE_RUN
        .contains(&first)
        .then(|| format!("`{shown}` differs from run to run, and the table does not"))
}

/// Whether two values are the same, numbers to the bit.
pub(crate) fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// Treatment of lists where values are flattened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// All in them is added, by its place.
    Entered,
    /// Nothing of them is added.
    LeftOut,
}

/// Adds all that a value holds, by path.
pub fn flatten(value: &Value, path: &str, lists: Lists, into: &mut BTreeMap<String, Cell>) {
    let join = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                flatten(value, &join(key), lists, into);
            }
        }
        Value::Array(list) if lists == Lists::Entered => {
            for (index, value) in list.iter().enumerate() {
                flatten(value, &join(&index.to_string()), lists, into);
            }
        }
        Value::Array(_) => {}
        value => {
            into.insert(path.to_owned(), Cell::of(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn paths_lead_to_values_whatever_their_names() {
        let value = json!({"a": {"b": [1, {"c": 2.5}], "b.0": 3, "": 4}, "a.b": {"x": true}});
        for (path, expected) in [
            ("a.b.1.c", Some(json!(2.5))),
            // The longer name comes first, and the shorter one where that leads nowhere.
            ("a.b.0", Some(json!(3))),
            ("a.b.x", Some(json!(true))),
            ("a.b.2", None),
            ("a.b.-1", None),
            ("a.c", None),
            ("a.b.1.c.d", None),
            ("b", None),
        ] {
            assert_eq!(find(&value, path), expected.as_ref(), "{path}");
        }
    }

    #[test]
    fn scalars_are_flattened_and_lists_if_asked_for() {
        let value = json!({"a": {"b": 1, "c": null}, "d": [1.5, "x"], "e": false});
        let of = |lists| {
            let mut cells = BTreeMap::new();
            flatten(&value, "", lists, &mut cells);
            cells.into_iter().collect::<Vec<_>>()
        };
        let text = |name: &str, cell| (name.to_owned(), cell);
        let scalars = [
            text("a.b", Cell::Count(1)),
            text("a.c", Cell::Missing),
            text("e", Cell::Truth(false)),
        ];
        assert_eq!(of(Lists::LeftOut), scalars);
        let mut all = scalars.to_vec();
        all.insert(2, text("d.0", Cell::Number(1.5)));
        all.insert(3, text("d.1", Cell::Text("x".into())));
        assert_eq!(of(Lists::Entered), all);
    }

    proptest! {
        /// Every path that flattening names leads to that value, where no name has a dot.
        #[test]
        fn flattened_paths_are_found(keys in prop::collection::vec("[a-c]{1,2}", 1..6), number in -9i64..9) {
            let mut value = json!(number);
            for (depth, key) in keys.iter().enumerate() {
                value = if depth % 2 == 0 { json!({key: value}) } else { json!([0, value]) };
            }
            let mut cells = BTreeMap::new();
            flatten(&value, "", Lists::Entered, &mut cells);
            for (path, cell) in cells {
                prop_assert_eq!(Cell::of(find(&value, &path).unwrap()), cell);
            }
        }
    }
}
