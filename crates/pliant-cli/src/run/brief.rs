//! A run in a few lines: what went wrong, how long it took, where the energy went, how right it is.

use super::details::{ENERGIES, event_rows, probe_rows, process_rows, statics_rows};
use crate::table::{Table, number, short};
use pliant_run::{ContactSummary, Summary};
use std::path::PathBuf;

/// Sources whose share of the energy that moved is less than this are left out.
const NOTABLE: f64 = 1e-3;

/// The lines of a run: `files` are its directory and what was written.
pub(super) fn report(summary: &Summary, files: Option<&(PathBuf, Vec<PathBuf>)>) -> Table {
    let mut table = Table::default();
    table.row("scene", format!("{} ({})", summary.title, summary.scene));
    for warning in &summary.warnings {
        table.row("warning", warning.clone());
    }
    if let Some((c, [a, b])) = summary
        .contacts
        .as_ref()
        .and_then(|c| Some((c, c.unsolved_by.as_ref()?)))
    {
        let stays = format!(
            "{} corrections of overlap have no solution, as of {a} and {b}: it stays",
            c.unsolved
        );
        table.row("warning", stays);
    }
    match &summary.statics {
        Some(statics) => statics_rows(&mut table, statics, summary.seconds.total),
        None => {
            event_rows(&mut table, summary);
            table.row("simulated", simulated(summary));
            table.row("energy", energy(summary));
        }
    }
    process_rows(&mut table, summary);
    if let Some(text) = accuracy(summary) {
        table.row("accuracy", text);
    }
    if let Some(contacts) = summary.contacts.as_ref().filter(|c| c.most_active > 0) {
        contact_rows(&mut table, contacts, summary.statics.is_some());
    }
    probe_rows(&mut table, summary);
    if let Some((directory, written)) = files {
        // Without an equilibrium there is nothing to see but the start.
        let is_found = summary.statics.as_ref().is_none_or(|s| !s.load.is_empty());
        let player = written.iter().find(|f| is_found && f.ends_with("play.html"));
        table.row(
            "results",
            match (player, written.len()) {
                (Some(_), _) => format!("open {} in a browser", directory.join("play.html").display()),
                (None, 0) => "none could be written".to_owned(),
                (None, _) => format!("{}", directory.display()),
            },
        );
    }
    table.row("status", summary.status);
    table
}

/// Time of the scene and of the clock, and the steps.
fn simulated(summary: &Summary) -> String {
    let (time, clock) = (summary.time, summary.seconds.total);
    let pace = short(time / clock.max(1e-9));
    let counted = match summary.steps {
        1 => "1 step".to_owned(),
        n => format!("{n} steps"),
    };
    let steps = match &summary.adaptive {
        None => format!("{counted} of {} s", number(summary.step)),
        Some(a) => format!("{counted} of {} to {} s", short(a.smallest), short(a.largest)),
    };
    let halves = match summary.newton_halvings {
        0 => String::new(),
        1 => ", halved once".to_owned(),
        n => format!(", halved {n} times"),
    };
    format!(
        "{} s in {} s, {pace} times real time; {steps}{halves}",
        number(time),
        short(clock)
    )
}

/// Energy at both ends, and what brought it in and took it out in between.
fn energy(summary: &Summary) -> String {
    let entry = |name: &str| summary.ledger.get(name).copied().unwrap_or(0.0);
    let (start, end) = (summary.energy_start.total, summary.energy_end.total);
    let moved = summary.turned_over;
    let sources = summary
        .ledger
        .iter()
        .filter(|e| !ENERGIES.contains(e.0) && *e.0 != "numerical");
    let mut parts = Vec::new();
    for (name, joules) in sources.filter(|e| e.1.abs() > NOTABLE * moved) {
        let verb = if *joules > 0.0 { "brought" } else { "took" };
        parts.push(format!("{name} {verb} {} J", short(joules.abs())));
    }
    let numerical = entry("numerical");
    if numerical != 0.0 {
        let verb = if numerical > 0.0 { "made" } else { "lost" };
        let share = match moved > 0.0 {
            true => format!(", {} % of what moved", short(100.0 * numerical.abs() / moved)),
            false => String::new(),
        };
        parts.push(format!("the method {verb} {} J{share}", short(numerical.abs())));
    }
    let parts = match parts.is_empty() {
        true => String::new(),
        false => format!("; {}", parts.join(", ")),
    };
    format!(
        "{} J at the start, {} J at the end{parts}",
        short(start),
        short(end)
    )
}

/// The errors of the worst step; none where no step was taken.
fn accuracy(summary: &Summary) -> Option<String> {
    let found = summary.statics.as_ref().is_none_or(|s| !s.load.is_empty());
    if summary.steps == 0 || !found {
        return None;
    }
    let mut parts = Vec::new();
    // Solvers of contacts measure their laws instead, and some answers are exact.
    let equations = summary
        .certificate
        .map_or(summary.residual.worst, |c| c.equations);
    if equations != 0.0 {
        parts.push(format!("equations solved to {} of their terms", short(equations)));
    }
    if summary.sizes.rows > 0 {
        parts.push(format!(
            "hard constraints off by {} m or rad at most",
            short(summary.violation.worst)
        ));
    }
    if let Some(error) = summary.certificate.and_then(|c| c.local_error) {
        parts.push(format!(
            "a step off by {} m or rad at most",
            short(error.position)
        ));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Contacts, and what is to be known about their law.
fn contact_rows(table: &mut Table, c: &ContactSummary, at_rest: bool) {
    let unit = if at_rest { "of the largest force" } else { "m/s" };
    let mut parts = vec![format!(
        "at most {} at a time, {} that slipped; laws met to {} {unit}, overlap {} m at most",
        c.most_active,
        c.most_slipping,
        short(c.residual.worst),
        short(c.overlap.worst)
    )];
    if c.fallbacks > 0 {
        parts.push(format!(
            "{} steps by `friction_fallback`, not by Coulomb's law",
            c.fallbacks
        ));
    }
    table.row("contacts", parts.join("; "));
}
