//! Names of users in tables.

use pliant_output::csv::{write_contacts_csv, write_numbers_csv};
use pliant_output::recording::{ContactLine, ContactPhase, ContactTable, NumberTable, Recording};

/// A spreadsheet takes no name for a formula; numbers are as they were.
#[test]
fn names_like_formulas_are_text() {
    let names = ["=1+1", "+a", "-a", "@a", "\ta", "\ra", "a=1", "a;b", "=\"x\",y"];
    let cells = [
        "\"'=1+1\"",
        "\"'+a\"",
        "\"'-a\"",
        "\"'@a\"",
        "\"'\ta\"",
        "\"'\ra\"",
        "a=1",
        "\"a;b\"",
        "\"'=\"\"x\"\",y\"",
    ];
    let line = |side: u32| ContactLine {
        time: 0.5,
        sides: [side, side],
        point: [-1.0; 3],
        normal: [0.0, 0.0, 1.0],
        gap: -0.25,
        force: [0.0; 3],
        torque: [0.0; 3],
        velocity: [0.0; 3],
        state: ContactPhase::Open,
    };
    let recording = Recording {
        joints: NumberTable {
            columns: names.map(str::to_owned).to_vec(),
            lines: vec![vec![-1.0; 1 + names.len()]],
        },
        contacts: ContactTable {
            names: names.map(str::to_owned).to_vec(),
            lines: (0..names.len() as u32).map(line).collect(),
            left_out: 0,
        },
        ..Recording::default()
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("joints.csv");
    write_numbers_csv(&path, &recording.joints).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let numbers = vec!["-1.0"; 1 + names.len()].join(",");
    assert_eq!(text, format!("time_s,{}\n{numbers}\n", cells.join(",")));
    let path = dir.path().join("contacts.csv");
    write_contacts_csv(&path, &recording).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    for cell in cells {
        let begin = format!("\n0.5,{cell},{cell},-1.0,-1.0,-1.0,0.0,0.0,1.0,-0.25,");
        assert!(text.contains(&begin), "{cell}: {text}");
    }
}
