//! Every reference case: one test per group, which compares our results with independent answers.

use pliant_benches::verify;

/// Every comparison of the group holds, and these cases are among them.
fn holds(group: &str, cases: &[&str]) {
    let rows = verify::run(|name| name == group).unwrap();
    let missed: Vec<_> = rows.iter().filter(|r| !r.passes()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    for case in cases {
        assert!(rows.iter().any(|r| r.case == *case), "{case} was not run");
    }
}

macro_rules! groups {
    ($($name:ident: $cases:expr;)*) => {
        $(
            #[test]
            fn $name() {
                holds(stringify!($name), &$cases);
            }
        )*

        #[test]
        fn every_group_is_a_test() {
            assert_eq!(verify::GROUPS.map(|(name, _)| name), [$(stringify!($name)),*]);
        }
    };
}

groups! {
    oscillators: ["A01", "A02", "A04", "F10", "F11"];
    cables: ["B01", "B02", "B04", "B06"];
    bodies: ["C01", "C03", "C08", "C09"];
    loops: ["C04", "C05", "C06"];
    beams: ["E01", "E04"];
    solids: ["E02"];
    systems: ["F04", "F07"];
    complementarity: ["D07", "F01", "F02", "F05", "F06"];
    contact: ["D01", "D02", "D04", "D05", "D08", "D11"];
}
