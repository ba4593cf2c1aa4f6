//! The example of the documentation of sweeps.

use super::{cells, column, text};
use crate::{err, pliant, write};
use std::path::Path;

/// Complete elliptic integral of the first kind, by the arithmetic-geometric mean.
fn elliptic(k: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..60 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

/// The example of the documentation, as it stands there: quarters of periods by the closed form,
/// and what the steps miss of them, of second order.
#[test]
fn the_example_of_the_documentation_is_right() {
    let dir = tempfile::tempdir().unwrap();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src/reference/sweeps.md");
    let page = text(&page);
    let block = |kind: &str| {
        page.split_once(&format!("```{kind}\n"))
            .unwrap()
            .1
            .split_once("```")
            .unwrap()
            .0
    };
    write(dir.path(), "quarter.ron", block("ron"));
    write(dir.path(), "quarter.csv", block("csv"));
    let command = page
        .lines()
        .find(|line| line.starts_with("pliant sweep quarter.ron"))
        .unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let ran = pliant(dir.path(), &words);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let table = cells(&dir.path().join("out/quarter-sweep/table.csv"));
    let numbers = |name: &str| -> Vec<f64> {
        column(&table, name)
            .iter()
            .map(|cell| cell.parse().unwrap())
            .collect()
    };
    let (angles, quarters) = (numbers("parameters.angle"), numbers("parameters.quarter"));
    let (places, speeds) = (
        numbers("state.bob.positions.0.0"),
        numbers("state.bob.velocities.0.0"),
    );
    assert_eq!(angles.len(), 15);
    let mut missed = Vec::new();
    for k in 0..15 {
        let quarter = elliptic((0.5 * angles[k].to_radians()).sin()) / 9.81_f64.sqrt();
        // The closed form in the page has 16 digits.
        assert!((quarters[k] - quarter).abs() < 1e-15, "{} {quarter}", quarters[k]);
        missed.push(-places[k] / speeds[k]);
    }
    for (row, angle) in missed.chunks(3).zip([10, 45, 90, 135, 170]) {
        // Of second order, but for terms of the fourth in 1/100.
        assert!(
            (row[0] / row[1] - 4.0).abs() < 0.05 && (row[1] / row[2] - 4.0).abs() < 0.05,
            "{row:?}"
        );
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("| {angle}\u{b0} |")))
            .unwrap();
        let said: Vec<f64> = line
            .split('|')
            .filter_map(|cell| cell.trim().parse().ok())
            .collect();
        assert_eq!(said.len(), row.len(), "{line}");
        for (said, found) in said.iter().zip(row) {
            // Three digits.
            assert!((said / found - 1.0).abs() < 5e-3, "{line} {found}");
        }
    }
}
