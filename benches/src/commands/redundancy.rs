//! The cost of redundant rows: four-bars in space, whose hinges hold more than they need, with hard
//! rows beside the same with compliance.

use super::Ended;
use pliant::prelude::*;
use pliant_benches::redundancy::{Arrangement, Cost, FourBars, dynamics, statics};
use std::process::ExitCode;

/// Times that each is measured.
const TIMES: usize = 31;

pub(super) fn run(arguments: &[String]) -> Ended {
    let times = if arguments.iter().any(|a| a == "--quick") {
        5
    } else {
        TIMES
    };
    println!(
        "Four-bars of hinges in space, C = 0 beside C = 1e-9; medians of {times}, in turn, one thread.\n\n\
         | | loops | redundant rows | iterations | C = 0, ms | C = 1e-9, ms | ratio |\n|---|---|---|---|---|---|---|"
    );
    for arrangement in [Arrangement::Apart, Arrangement::InARow] {
        let place = match arrangement {
            Arrangement::Apart => "apart",
            Arrangement::InARow => "in a row",
        };
        for count in [1, 10, 40] {
            let hard = FourBars {
                count,
                arrangement,
                compliance: 0.0,
                angle: 0.5,
            };
            let soft = FourBars {
                compliance: 1e-9,
                ..hard
            };
            show("rest", place, count, statics([hard, soft], times)?);
            let found = dynamics([hard, soft], &Options::theta(), times)?;
            show("step", place, count, found);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show(what: &str, place: &str, count: usize, [hard, soft]: [Cost; 2]) {
    println!(
        "| {what}, {place} | {count} | {} | {} | {:.3} | {:.3} | {:.2} |",
        hard.redundant,
        hard.iterations,
        1e3 * hard.time,
        1e3 * soft.time,
        hard.time / soft.time
    );
}
