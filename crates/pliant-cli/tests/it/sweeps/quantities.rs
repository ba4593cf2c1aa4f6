//! Quantities that tables are asked for.

use super::{RODS, cells, sweep};
use crate::{err, write};

/// Paths to values of one run, and texts that are no path, are refused ahead of the first job.
#[test]
fn quantities_of_one_run_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    for (path, words) in [
        ("seconds.total", "`seconds.total` differs from run to run"),
        ("seconds", "`seconds` differs from run to run"),
        ("crc32", "`crc32` differs from run to run"),
        ("work", "`work` differs from run to run"),
        ("", "the path `` is none of a quantity"),
        (".x", "the path `.x` is none of a quantity"),
    ] {
        let ran = sweep(dir.path(), &file, &["--set", "mass=1", "--result", path]);
        assert_eq!(ran.status.code(), Some(2), "{path}: {}", err(&ran));
        assert!(err(&ran).contains(words), "{path}: {}", err(&ran));
    }
    assert!(!dir.path().join("out").exists(), "nothing was begun");
}

/// A column is there once, and a list without entries is a quantity that results have.
#[test]
fn fixed_columns_may_be_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let mut more = vec!["--set", "mass=1,2"];
    for path in ["status", "warnings", "parameters", "error"] {
        more.extend(["--result", path]);
    }
    let ran = sweep(dir.path(), &file, &more);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let mut columns = cells(&dir.path().join("out/rods-sweep/table.csv"))[0].clone();
    let start = [
        "job",
        "parameters.mass",
        "status",
        "error_kind",
        "error",
        "warnings",
        "parameters.rest",
    ];
    assert_eq!(columns[..7], start);
    columns.sort();
    let count = columns.len();
    columns.dedup();
    assert_eq!(columns.len(), count);
}
