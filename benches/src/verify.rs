//! The reference cases that need only this project: each is computed anew and compared with its
//! independent answer.

mod beams;
mod bodies;
mod cables;
mod complementarity;
mod contact;
mod loops;
mod oscillators;
mod solids;
mod systems;

use crate::reference::References;

/// One comparison.
#[derive(Clone, Debug)]
pub struct Row {
    /// Label of the case.
    pub case: &'static str,
    /// The quantity that was compared.
    pub what: String,
    /// The reference, its first number if it has several.
    pub reference: f64,
    /// Ours, where the difference is largest.
    pub ours: f64,
    /// Largest absolute difference.
    pub error: f64,
    /// Allowed.
    pub tolerance: f64,
}

impl Row {
    /// Whether the difference is allowed. NaN is not.
    pub fn passes(&self) -> bool {
        self.error <= self.tolerance
    }
}

/// Collects comparisons.
#[derive(Debug)]
pub struct Checks {
    references: References,
    rows: Vec<Row>,
}

impl Checks {
    /// Compares number by number; the row keeps the worst one.
    fn compare(
        &mut self,
        case: &'static str,
        what: impl Into<String>,
        reference: &[f64],
        ours: &[f64],
        tolerance: f64,
    ) {
        let mut worst = (f64::NAN, f64::NAN, -1.0);
        for (r, o) in reference.iter().zip(ours) {
            let error = (r - o).abs();
            if error > worst.2 || error.is_nan() {
                worst = (*r, *o, error);
            }
        }
        let same = reference.len() == ours.len() && !reference.is_empty();
        let error = if same { worst.2 } else { f64::NAN };
        self.rows.push(Row {
            case,
            what: what.into(),
            reference: worst.0,
            ours: worst.1,
            error,
            tolerance,
        });
    }

    /// Compares with a value of the table.
    fn against(&mut self, case: &'static str, key: &str, ours: &[f64], tolerance: f64) {
        let reference = self.references.expected(case, key);
        self.compare(case, key, &reference, ours, tolerance);
    }

    /// Checks `ours <= bound`.
    fn at_most(&mut self, case: &'static str, what: impl Into<String>, bound: f64, ours: f64) {
        let error = if ours <= bound { 0.0 } else { ours - bound };
        self.rows.push(Row {
            case,
            what: what.into(),
            reference: bound,
            ours,
            error,
            tolerance: 0.0,
        });
    }

    /// Checks that a count is the same throughout.
    fn all_equal(&mut self, case: &'static str, what: &str, expected: usize, found: &[usize]) {
        let odd = found.iter().find(|f| **f != expected).unwrap_or(&expected);
        self.compare(case, what, &[expected as f64], &[*odd as f64], 0.0);
    }

    /// Checks the order of convergence of errors at steps that halve.
    fn order(&mut self, case: &'static str, what: &str, expected: f64, errors: &[f64], tolerance: f64) {
        let last = &errors[errors.len() - 2..];
        self.compare(
            case,
            format!("order of {what}"),
            &[expected],
            &[(last[0] / last[1]).log2()],
            tolerance,
        );
    }
}

/// A group of cases: its name, and the function that runs it.
pub type Group = (&'static str, fn(&mut Checks) -> Result<(), pliant::Error>);

/// Every group, in the order of the table.
pub const GROUPS: [Group; 9] = [
    ("oscillators", oscillators::run),
    ("cables", cables::run),
    ("bodies", bodies::run),
    ("loops", loops::run),
    ("beams", beams::run),
    ("solids", solids::run),
    ("systems", systems::run),
    ("complementarity", complementarity::run),
    ("contact", contact::run),
];

/// Runs the groups whose names the predicate selects.
///
/// # Errors
/// A simulation that failed where it should not.
pub fn run(select: impl Fn(&str) -> bool) -> Result<Vec<Row>, pliant::Error> {
    let mut checks = Checks {
        references: References::load(),
        rows: Vec::new(),
    };
    for (_, run) in GROUPS.iter().filter(|(name, _)| select(name)) {
        run(&mut checks)?;
    }
    Ok(checks.rows)
}

/// Cases of the collection that are not run here.
pub const LEFT: &str = "Left: of A01 the rows with alpha = 0 or beta = 0, which are outside (0, 1]. F09 (nonlinear step) and F08 (rest past \
limit points: a truss that snaps through, by its closed form) are among the tests of the crate `pliant`; F03 is not in this collection.";

/// Euclidean distance of two points.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
