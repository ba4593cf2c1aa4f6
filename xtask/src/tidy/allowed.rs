//! Files that do not yet keep a rule. `cargo xtask tidy` counts what they are let off, and refuses
//! an entry that lets off nothing.

/// Name of the check, start of the path, reason.
pub(super) const ALLOWED_FOR_NOW: &[(&str, &str, &str)] = &[
    ("words", "CHANGELOG.md", "renaming is under way"),
    ("words", "README.md", "renaming is under way"),
    ("words", "docs/decisions/", "renaming is under way"),
    ("fields", "crates/pliant/", "types are being split"),
    ("fields", "crates/pliant-contact/", "types are being split"),
    ("fields", "crates/pliant-kkt/", "types are being split"),
    (
        "fields",
        "crates/pliant-lab/src/exchange/header.rs",
        "a file header has one field per key",
    ),
    (
        "fields",
        "crates/pliant-solvers/src/complementarity/conic.rs",
        "one field per list of the rows with cones; not split yet",
    ),
    (
        "fields",
        "crates/pliant-solvers/src/complementarity/interior.rs",
        "one field per vector of the iteration; not split yet",
    ),
    (
        "fields",
        "crates/pliant-solvers/src/complementarity/shifted.rs",
        "one field per map of the shifted system; not split yet",
    ),
    (
        "fields",
        "crates/pliant-solvers/src/direct.rs",
        "one field per stage of a solve and its scratch; not split yet",
    ),
    ("spread", "crates/pliant/", "the facade is being taken apart"),
];
