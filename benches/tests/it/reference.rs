//! Every reference case, as a test.

use pliant_benches::verify;

#[test]
fn every_reference_case_holds() {
    let rows = verify::run().unwrap();
    let missed: Vec<_> = rows.iter().filter(|r| !r.passes()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let cases = [
        "A01", "A02", "A04", "B01", "B02", "B04", "B06", "C01", "C03", "C08", "C09", "D01", "D02", "D04",
        "D05", "D07", "D08", "D11", "F01", "F02", "F04", "F05", "F06", "F07", "F10", "F11",
    ];
    for case in cases {
        assert!(rows.iter().any(|r| r.case == case), "{case} was not run");
    }
}
