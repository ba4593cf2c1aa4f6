//! Performance profiles against a count by hand.

use pliant_benches::profile::{Costs, profiles, svg};

fn costs(solver: &str, costs: &[f64]) -> Costs {
    Costs {
        solver: solver.to_owned(),
        costs: costs.to_vec(),
    }
}

#[test]
fn shares_are_those_of_a_count_by_hand() {
    let never = f64::INFINITY;
    // Ratios: a 1, 2, failed, 1; b 3, 1, failed, 1 (both below the clock).
    let all = [
        costs("a", &[1.0, 4.0, never, 0.01]),
        costs("b", &[3.0, 2.0, never, 0.02]),
    ];
    let found = profiles(&all, 0.1);
    assert_eq!(found[0].ratios, [1.0, 1.0, 2.0]);
    assert_eq!(found[1].ratios, [1.0, 1.0, 3.0]);
    assert_eq!([1.0, 2.0, never].map(|f| found[0].share(f)), [0.5, 0.75, 0.75]);
    assert_eq!([1.0, 2.9, 3.0].map(|f| found[1].share(f)), [0.5, 0.5, 0.75]);
    let picture = svg(
        "title",
        &[("one".to_owned(), found.clone()), ("two".to_owned(), found)],
    );
    assert_eq!(picture.matches("<polyline").count(), 4);
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
    // Nothing at all is a picture too.
    assert!(svg("title", &[]).ends_with("</svg>\n"));
}
