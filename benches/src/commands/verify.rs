//! Prints every reference case: case, reference, ours, error, tolerance. Exit status 1 if one is
//! missed.

use super::Ended;
use pliant_benches::verify;
use std::io::Write as _;
use std::process::ExitCode;

pub(super) fn run(arguments: &[String]) -> Ended {
    let rows = verify::run(|_| true).map_err(|e| format!("a reference case could not be run: {e}"))?;
    let all = arguments.iter().any(|a| a == "--all");
    let _ = writeln!(
        std::io::stdout(),
        "{:5} {:>22} {:>22} {:>10} {:>10}       what",
        "case",
        "reference",
        "ours",
        "error",
        "tolerance"
    );
    let mut missed = 0;
    let mut hidden = 0;
    let mut last = "";
    let mut shown = 0;
    for row in &rows {
        missed += usize::from(!row.passes());
        shown = if row.case == last { shown + 1 } else { 0 };
        last = row.case;
        // The grid of A01 has a hundred rows; a dozen show what they look like.
        if row.passes() && shown >= 12 && !all {
            hidden += 1;
            continue;
        }
        let verdict = if row.passes() { "ok  " } else { "MISS" };
        let _ = writeln!(
            std::io::stdout(),
            "{:5} {:22.15e} {:22.15e} {:10.2e} {:10.2e}  {verdict} {}",
            row.case,
            row.reference,
            row.ours,
            row.error,
            row.tolerance,
            row.what
        );
    }
    if hidden > 0 {
        let _ = writeln!(
            std::io::stdout(),
            "... and {hidden} more that pass (--all prints them)"
        );
    }
    let _ = writeln!(std::io::stdout(), "{}", verify::LEFT);
    let _ = writeln!(std::io::stdout(), "{} comparisons, {missed} missed", rows.len());
    Ok(ExitCode::from(u8::from(missed > 0)))
}
