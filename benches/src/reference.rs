//! Access to the reference answers.

use serde_json::Value;

const TEXT: &str = include_str!("../reference/cases.json");

/// The reference answers, by case and key.
#[derive(Debug)]
pub struct References(Value);

impl References {
    /// Reads the table that is compiled in.
    ///
    /// # Panics
    /// If the table is not JSON: a defect of this repository.
    pub fn load() -> Self {
        Self(serde_json::from_str(TEXT).expect("reference/cases.json is JSON"))
    }

    /// All numbers of one expected value, flattened.
    ///
    /// # Panics
    /// If there is no such case or key: a defect of the caller.
    pub fn expected(&self, case: &str, key: &str) -> Vec<f64> {
        let found = self.case(case).and_then(|c| c["expected"].get(key));
        let mut out = Vec::new();
        flatten(
            &found.unwrap_or_else(|| panic!("case {case} has no value `{key}`"))["value"],
            &mut out,
        );
        out
    }

    /// All numbers of one input, flattened.
    ///
    /// # Panics
    /// If there is no such case or key: a defect of the caller.
    pub fn input(&self, case: &str, key: &str) -> Vec<f64> {
        let found = self.case(case).and_then(|c| c["inputs"].get(key));
        let mut out = Vec::new();
        flatten(
            found.unwrap_or_else(|| panic!("case {case} has no input `{key}`")),
            &mut out,
        );
        out
    }

    /// The keys of one case.
    pub fn keys(&self, case: &str) -> Vec<String> {
        let expected = self.case(case).and_then(|c| c["expected"].as_object());
        expected.map_or_else(Vec::new, |e| e.keys().cloned().collect())
    }

    fn case(&self, case: &str) -> Option<&Value> {
        self.0["cases"].as_array()?.iter().find(|c| c["id"] == case)
    }
}

fn flatten(value: &Value, out: &mut Vec<f64>) {
    match value {
        Value::Array(list) => list.iter().for_each(|v| flatten(v, out)),
        other => out.extend(other.as_f64()),
    }
}
