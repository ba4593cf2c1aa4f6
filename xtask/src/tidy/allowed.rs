//! Files that do not yet keep a rule. `cargo xtask tidy` counts what they are let off, and refuses
//! an entry that lets off nothing.

/// Name of the check, start of the path, reason.
pub(super) const ALLOWED_FOR_NOW: &[(&str, &str, &str)] = &[
    ("words", "crates/pliant-solvers/", "renaming is under way"),
    ("words", "CHANGELOG.md", "renaming is under way"),
    ("words", "README.md", "renaming is under way"),
    ("words", "docs/decisions/", "renaming is under way"),
    (
        "openings",
        "crates/pliant-dense/",
        "documentation is being rewritten",
    ),
    (
        "openings",
        "crates/pliant-solvers/",
        "documentation is being rewritten",
    ),
    (
        "openings",
        "crates/pliant-sparse/",
        "documentation is being rewritten",
    ),
    ("fields", "crates/pliant/", "types are being split"),
    ("fields", "crates/pliant-contact/", "types are being split"),
    ("fields", "crates/pliant-kkt/", "types are being split"),
    ("fields", "crates/pliant-solvers/", "types are being split"),
    ("spread", "crates/pliant/", "the facade is being taken apart"),
];
