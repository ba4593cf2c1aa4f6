//! All numbers of a run, and what each is.

use crate::table::{Table, number, triple};
use pliant::contact::FrictionCoupling;
use pliant_run::{CertificateSummary, Energy, EnergyShare, StaticsSummary, Summary, TreatmentState};
use std::path::PathBuf;

/// Entries of the ledger that are changes, not their reasons.
pub(super) const ENERGIES: [&str; 2] = ["kinetic", "potential"];

/// Sentences of events that are printed.
const SAID: usize = 10;

/// Probes whose last values are printed.
const PROBES: usize = 8;

/// Share of the largest part of what is numerical below which a part is left out.
const NOTABLE: f64 = 1e-6;

/// Meanings of the rows of [`report`], by their names.
pub(super) const LEGEND: &[(&str, &str)] = &[
    (
        "system",
        "dofs: free numbers of the motion; rows: equations of constraints and compliant springs, with a force each",
    ),
    ("steps", "steps taken, and how many in a second of the clock"),
    ("time", "time of the scene, and of the clock"),
    (
        "per step",
        "microseconds of the clock: forces and matrices, factorisation, its use, constraints taken back, contacts, the new state, attempts that did not stand",
    ),
    ("event", "what an event of the scene says"),
    (
        "removed",
        "elements that broke, or that an event removed, and when",
    ),
    ("stopped", "the event that ended the run"),
    ("statics", "equilibria that were found, and the work"),
    ("load factor", "share of the loads of the scene along the path"),
    (
        "residual",
        "what the linear systems of a step miss, as a share of their terms",
    ),
    (
        "violation",
        "what hard constraints are off by at the ends of steps (m, rad)",
    ),
    (
        "solver",
        "the linear solver; refinements: second looks at a solution; redundant rows: constraints that others imply; entries: the size of the factor",
    ),
    (
        "processes",
        "those that share elements and linear systems, their solver, and what each solves alone",
    ),
    (
        "geometry",
        "solves beyond one per step for the change of directions under force; clamped: steps in which that was indefinite",
    ),
    (
        "stages",
        "steps of order 2 and of order 1, and how often a step was taken in halves",
    ),
    ("halvings", "steps that were taken in halves"),
    (
        "misses",
        "the certificate: what the equations of motion, hard constraints and contacts miss in the worst step; energy from nowhere as a share of the energy that moved",
    ),
    (
        "linearised",
        "what the linear step leaves out of the equations of motion",
    ),
    (
        "tangents",
        "elements whose stiffness was indefinite and projected",
    ),
    ("energy", "at the start -> at the end"),
    ("dissipated", "energy that damping forces took"),
    (
        "ledger",
        "energy by source over the run; numerical: made (+) or lost (-) by the method",
    ),
    ("numerical", "where that energy was made or lost"),
    (
        "potential",
        "energy of gravity and springs at the first and at the last equilibrium",
    ),
    ("redundant", "constraints that others imply"),
    (
        "treatment",
        "springs of treatment `Auto`: as a force in the equations of motion, or as a row with a force of its own",
    ),
    (
        "contacts",
        "points that touch or nearly do; islands: groups that share forces; the residual of their laws (m/s); overlap",
    ),
    ("momentum", "at the end"),
];

/// The result of statics: how it ended, and where stability changes.
pub(super) fn statics_rows(table: &mut Table, statics: &StaticsSummary, seconds: f64) {
    if statics.load.is_empty() {
        table.row("statics", format!("none was found, in {seconds:.2} s"));
        return;
    }
    let end = match statics.end.as_ref() {
        "points" => "the points ran out before the last load factor",
        other => other,
    };
    let counts = format!(
        "{}, {}, {} factored in {seconds:.2} s; end: {end}",
        counted(statics.load.len(), "point"),
        counted(statics.iterations.iter().sum(), "iteration"),
        counted(statics.factorisations, "tangent"),
    );
    table.row("statics", counts);
    // An equilibrium alone has the whole load.
    if let [first, .., last] = &statics.load[..] {
        let largest = statics.load.iter().fold(f64::NEG_INFINITY, |a, l| a.max(*l));
        let range = format!(
            "from {} to {}, at most {}",
            number(*first),
            number(*last),
            number(largest)
        );
        table.row("load factor", range);
    }
    let modes = match statics.negative_modes.last() {
        Some(Some(0)) => "stable".to_owned(),
        Some(Some(n)) => format!("a saddle: {n} negative modes"),
        _ => "stability not known".to_owned(),
    };
    let free = statics.free_modes.last().copied().unwrap_or(0);
    let free = if free > 0 {
        format!(", {free} free directions")
    } else {
        String::new()
    };
    table.row("at the end", format!("{modes}{free}"));
    for c in &statics.critical {
        let (before, behind) = c.negative_modes;
        let modes = format!("{before} -> {behind} negative modes");
        table.row(c.kind.clone(), format!("at {}, {modes}", number(c.load)));
    }
}

/// A count and what is counted.
pub(super) fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// The last values of probes, the first few by their names.
pub(super) fn probe_rows(table: &mut Table, summary: &Summary) {
    for (k, (name, probe)) in summary.probes.iter().take(PROBES).enumerate() {
        let value = probe.last.map_or_else(|| "no value".to_owned(), number);
        table.row(
            if k == 0 { "probes" } else { "" },
            format!("{name} = {value} at the end"),
        );
    }
    if let Some(more) = summary.probes.len().checked_sub(PROBES).filter(|n| *n > 0) {
        table.row("", format!("{more} more in `probes` of result.json"));
    }
}

/// Events that said something, and the one that stopped the run.
pub(super) fn event_rows(table: &mut Table, summary: &Summary) {
    for saying in summary.said.iter().take(SAID) {
        let (time, event) = (number(saying.time), &saying.event);
        table.row("event", format!("`{event}` at {time} s: {}", saying.text));
    }
    if summary.said.len() > SAID {
        let more = summary.said.len() - SAID;
        table.row("event", format!("{more} more in `said` of result.json"));
    }
    let gone = summary.removed.iter().filter(|(_, removed)| removed.elements > 0);
    for (name, removed) in gone {
        let what = if removed.elements == 1 {
            "element"
        } else {
            "elements"
        };
        let count = format!("{} {what} removed by `{name}`", removed.elements);
        let [first, last] = [removed.first, removed.last].map(|time| number(time.unwrap_or(f64::NAN)));
        let when = if first == last {
            format!("at {first} s")
        } else {
            format!("from {first} s to {last} s")
        };
        table.row("removed", format!("{count} {when}"));
    }
    if let Some(stop) = &summary.stopped_by {
        table.row(
            "stopped",
            format!("by `{}` at {} s", stop.event, number(stop.time)),
        );
    }
}

/// The processes of a run over several, the solver that they share, and what each solves alone.
pub(super) fn process_rows(table: &mut Table, summary: &Summary) {
    if summary.processes == 1 && summary.solved_alone.is_empty() {
        return;
    }
    table.row(
        "processes",
        format!("{}; last solved by {}", summary.processes, summary.solver),
    );
    match summary.shared_elements {
        0 => table.row("", "forces and matrices: made by each process alone"),
        count => table.row(
            "",
            format!("{count} elements of mapped nodes: shared out, each evaluated by one of them"),
        ),
    }
    for what in &summary.solved_alone {
        table.row("", format!("{what}: solved by each process alone"));
    }
}

fn step_rows(table: &mut Table, summary: &Summary) {
    let seconds = summary.seconds;
    let rate = summary.steps as f64 / seconds.total.max(1e-9);
    let length = match &summary.adaptive {
        None => number(summary.step),
        Some(a) => format!("{:.1e} to {:.1e}", a.smallest, a.largest),
    };
    table.row(
        "steps",
        format!(
            "{} of {length} s, {} steps/s",
            summary.steps,
            number(rate.round())
        ),
    );
    if let Some(a) = &summary.adaptive {
        let counts = format!(
            "{} trials rejected, {} not solved; error at most {} of what is allowed; {} events{}{}{}",
            a.rejected,
            a.failed,
            number(a.worst_error),
            a.events,
            if a.passed > 0 {
                format!(", in {} steps too many to look for", a.passed)
            } else {
                String::new()
            },
            match a.jumps {
                0 => String::new(),
                jumps => format!(
                    "; in {jumps} steps jumps left out, up to {} m or rad and {} m/s or rad/s",
                    number(a.jump_position),
                    number(a.jump_velocity)
                ),
            },
            if a.at_rest { "; at rest" } else { "" }
        );
        table.row("", counts);
    }
    event_rows(table, summary);
    table.row(
        "time",
        format!("{} s simulated in {:.2} s", number(summary.time), seconds.total),
    );
    let per_step = |s: f64| number(s / summary.steps.max(1) as f64 * 1e6);
    table.row(
        "per step",
        format!(
            "fill {}, factor {}, solve {}, stabilise {}, contacts {}, update {}, rejected {} us",
            per_step(seconds.fill),
            per_step(seconds.factor),
            per_step(seconds.solve),
            per_step(seconds.stabilise),
            per_step(seconds.contacts),
            per_step(seconds.update),
            per_step(seconds.rejected)
        ),
    );
}

/// All numbers of a run.
pub(super) fn report(summary: &Summary, files: Option<&(PathBuf, Vec<PathBuf>)>) -> Table {
    let mut table = Table::default();
    let seconds = summary.seconds;
    table.row("scene", format!("{} ({})", summary.title, summary.scene));
    table.row(
        "system",
        format!("{} dofs, {} rows", summary.sizes.dofs, summary.sizes.rows),
    );
    process_rows(&mut table, summary);
    match &summary.statics {
        Some(statics) => statics_rows(&mut table, statics, seconds.total),
        None => step_rows(&mut table, summary),
    }
    // Where there is no equilibrium nothing has a residual.
    if summary.statics.as_ref().is_none_or(|s| !s.load.is_empty()) {
        table.row(
            "residual",
            format!("{:.1e} relative at worst", summary.residual.worst),
        );
        table.row(
            "violation",
            format!(
                "{:.1e} at worst, {:.1e} at the end",
                summary.violation.worst, summary.violation.last
            ),
        );
    }
    let motion = summary.statics.is_none();
    if motion {
        motion_rows(&mut table, summary);
    } else {
        table.row("redundant", format!("at most {} rows", summary.redundant_rows));
        let (a, b) = (summary.energy_start.potential, summary.energy_end.potential);
        table.row("potential", format!("{} -> {} J", number(a), number(b)));
    }
    if !summary.treatments.is_empty() {
        let one = |(name, choice): (&String, &TreatmentState)| format!("{name}: {}", choice.treatment);
        let list: Vec<_> = summary.treatments.iter().map(one).collect();
        table.row("treatment", list.join(", "));
    }
    if let Some(c) = &summary.contacts {
        let counts = format!(
            "at most {}, {} with a force, {} slipping, in {} islands; {} iterations",
            c.most, c.most_active, c.most_slipping, c.most_islands, c.iterations
        );
        table.row("contacts", counts);
        let quality = format!(
            "residual {:.1e} at worst; overlap {:.1e} m at worst, {:.1e} at the end; {} corrections; work {} J",
            c.residual.worst,
            c.overlap.worst,
            c.overlap.last,
            c.corrections,
            number(c.work)
        );
        table.row("", quality);
        if let Some([a, b]) = &c.unsolved_by {
            let stays = format!(
                "warning: {} corrections of overlap have no solution, as of {a} and {b}: the overlap stays",
                c.unsolved
            );
            table.row("", stays);
        }
        if c.friction_coupling != FrictionCoupling::Exact {
            let law = format!(
                "friction is coupled by `{:?}`; De Saxcé's residual {:.1e} at worst",
                c.friction_coupling, c.de_saxce.worst
            );
            table.row("", law);
        }
        if c.located > 0 {
            table.row("", format!("{} impacts ended parts of steps", c.located));
        }
        if c.passed > 0 {
            let passed = format!(
                "{} rests of steps were taken with the impacts in them: bounces that get shorter without end, or parts without a solution",
                c.passed
            );
            table.row("", passed);
        }
        if c.fallbacks > 0 {
            let law = format!(
                "{} steps had no solution within the accuracy and the operations, and took `friction_fallback`; De Saxcé's residual {:.1e} at worst",
                c.fallbacks, c.de_saxce.worst
            );
            table.row("", law);
        }
        if c.most_asleep > 0 {
            let (asleep, taken) = (c.asleep, number(c.stilled));
            let sleep = format!(
                "{asleep} asleep at the end, at most {}; it took {taken} J",
                c.most_asleep
            );
            table.row("", sleep);
        }
    }
    if motion {
        table.row("momentum", format!("{} kg m/s", triple(summary.momentum)));
    }
    if let Some((dir, written)) = files {
        let names: Vec<_> = written.iter().filter_map(|f| f.file_name()?.to_str()).collect();
        let names = match names.as_slice() {
            [] => "none could be written".to_owned(),
            names => names.join(", "),
        };
        table.row("files", format!("{}: {names}", dir.display()));
    }
    for (k, warning) in summary.warnings.iter().enumerate() {
        table.row(if k == 0 { "warnings" } else { "" }, warning.clone());
    }
    table.row("status", summary.status);
    table
}

/// Lines of the certificate: equations, energy, error of a step.
fn certificate_rows(table: &mut Table, worst: &CertificateSummary) {
    table.row(
        "misses",
        format!(
            "equations {:.1e} of their terms at worst, hard rows {:.1e} m or rad, contacts and bounds {:.1e} m/s",
            worst.equations, worst.rows, worst.cones
        ),
    );
    let made = |of: &EnergyShare| match of.share {
        0.0 => "none".to_owned(),
        share => format!("{share:.1e} of what turns over (t = {} s)", number(of.time)),
    };
    let (step, dampers) = (made(&worst.gain), made(&worst.passive_gain));
    let all = made(&worst.since_start);
    table.row(
        "",
        format!(
            "energy from nowhere: in a step {step}, by friction and dampers {dampers}, since the start {all}"
        ),
    );
    if let Some(error) = worst.local_error {
        table.row(
            "",
            format!(
                "a smooth step adds an error of at most {:.1e} m or rad (too large where stiff parts ring)",
                error.position
            ),
        );
    }
}

/// Residuals and energies of the run.
fn motion_rows(table: &mut Table, summary: &Summary) {
    table.row(
        "solver",
        format!(
            "{}, {}{} refinements, at most {} redundant rows, {} factor entries, {} symbolic analyses",
            summary.solver,
            match summary.iterations {
                0 => String::new(),
                n => format!("{n} iterations, "),
            },
            summary.refinements,
            summary.redundant_rows,
            summary.work.factor_entries,
            summary.work.symbolic_analyses
        ),
    );
    table.row(
        "geometry",
        format!(
            "{} extra passes, {} steps clamped",
            summary.extra_geometry_passes, summary.clamped_steps
        ),
    );
    if summary.two_stage_steps + summary.one_stage_steps > 0 {
        table.row(
            "stages",
            format!(
                "{} steps of two, {} of one (impacts, and where two have no solution: order 1), \
                 {} halvings, {} Newton iterations, which leave an error of {:.1e} of the velocities at worst",
                summary.two_stage_steps,
                summary.one_stage_steps,
                summary.newton_halvings,
                summary.newton_iterations,
                summary.stage_velocity_error
            ),
        );
    }
    if summary.two_stage_steps + summary.one_stage_steps == 0 && summary.newton_halvings > 0 {
        table.row(
            "halvings",
            format!(
                "{} of steps that had no solution at their length",
                summary.newton_halvings
            ),
        );
    }
    if let Some(worst) = &summary.certificate {
        certificate_rows(table, worst);
    }
    if let Some(worst) = summary.linearisation.as_ref().filter(|worst| worst.share > 0.0) {
        let text = format!(
            "linear steps miss velocities of {:.2} % of the motion's at worst, t = {} s, most in {} (one \
             step in {} is measured)",
            100.0 * worst.share,
            number(worst.time),
            worst.equation,
            pliant::Tuning::default().linearisation_samples,
        );
        table.row("linearised", text);
    }
    if summary.projected_tangents > 0 {
        table.row(
            "tangents",
            format!("at most {} projected in a step", summary.projected_tangents),
        );
    }
    let (a, b) = (summary.energy_start, summary.energy_end);
    let change = |of: fn(&Energy) -> f64| format!("{} -> {}", number(of(&a)), number(of(&b)));
    table.row(
        "energy",
        format!(
            "total {} J (kinetic {}, potential {})",
            change(|e| e.total),
            change(|e| e.kinetic),
            change(|e| e.potential)
        ),
    );
    table.row(
        "dissipated",
        format!("{} J by damping forces", number(summary.dissipated)),
    );
    let moved = summary
        .ledger
        .iter()
        .filter(|e| *e.1 != 0.0 && !ENERGIES.contains(e.0));
    let mut list: Vec<_> = moved
        .map(|(name, joules)| format!("{name} {}", number(*joules)))
        .collect();
    if list.is_empty() {
        list.push("nothing".to_owned());
    }
    table.row("ledger", format!("{} (J brought in)", list.join(", ")));
    let parts = &summary.numerical;
    let largest = parts.values().fold(0.0f64, |a, p| a.max(p.abs()));
    let notable = parts
        .iter()
        .filter(|p| p.1.abs() > NOTABLE * largest && *p.0 != "undivided");
    let list: Vec<_> = notable
        .map(|(name, joules)| format!("{name} {}", number(*joules)))
        .collect();
    if !list.is_empty() {
        table.row("numerical", format!("{} (J of the ledger's)", list.join(", ")));
    }
}
