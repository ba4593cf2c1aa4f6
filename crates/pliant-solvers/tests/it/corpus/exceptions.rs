//! What solvers of the corpus are not expected to solve, with the reason beside it.

/// Pairs of problems and solvers that do not end as the others do. A `*` at the end of a name stands for any rest.
pub(super) struct Exception {
    pub(super) problems: &'static [&'static str],
    pub(super) solvers: &'static [&'static str],
    pub(super) ends: Ends,
    pub(super) reason: &'static str,
}

/// How such a pair ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// The solver says that it did not succeed, or refuses.
    Fails,
    /// Some of these pairs fail, some do not; it depends on rounding.
    Either,
    /// Not run.
    Skipped,
}

pub(super) const EXCEPTIONS: &[Exception] = &[
];

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// The exceptions for a pair, by their place in the table.
pub(super) fn of(problem: &str, solver: &str) -> Option<usize> {
    EXCEPTIONS.iter().position(|e| {
        e.problems.iter().any(|p| matches(p, problem)) && e.solvers.iter().any(|s| matches(s, solver))
    })
}
