//! Rows as a table, as a picture and as JSON.

use super::{Outcome, Program, Row, Scene};
use crate::orders::{Axis, Curve, Panel, curves_svg};
use serde_json::{Value, json};
use std::fmt::{self, Write as _};

/// Decades of an axis at most: what is less lies on its edge.
const DECADES: i32 = 10;

/// The rows of a scene as a Markdown table. Lengths are in metres, `dE` in shares of the energy
/// that the motion turns over.
pub fn table(scene: Scene, rows: &[Row]) -> String {
    let columns = scene.columns();
    let mut out = format!(
        "| case | h ms | program | setting | steps/s | {}",
        columns.join(" | ")
    );
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        " | |\n|---|---|---|---|---|{}---|",
        "---|".repeat(columns.len())
    );
    for row in rows.iter().filter(|r| r.case.scene() == scene) {
        let rate = row.per_step().recip();
        let measures: Vec<String> = row.measures.iter().map(|x| number(*x)).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {row} |",
            row.case.subject,
            1e3 * row.case.step,
            row.program,
            row.setting,
            if rate.is_finite() {
                digits(rate)
            } else {
                String::new()
            },
            measures.join(" | ")
        );
    }
    out
}

/// Three digits of a rate.
fn digits(x: f64) -> String {
    let above = x.log10().floor() as i32 - 2;
    if above > 0 {
        let unit = 10f64.powi(above);
        return format!("{:.0}", (x / unit).round() * unit);
    }
    format!("{x:.0$}", above.unsigned_abs() as usize)
}

/// A measure: nothing where there is none, few digits where it is an error, more near 1.
fn number(x: f64) -> String {
    match x.abs() {
        a if a.is_nan() => String::new(),
        0.0 => "0".to_owned(),
        0.01..1.0 => format!("{x:.5}"),
        1.0..100.0 => format!("{x:.3}"),
        _ => format!("{x:.1e}"),
    }
}

/// Error over time of a scene: a panel per subject, a curve per setting through its steps.
pub fn picture(scene: Scene, rows: &[Row]) -> String {
    let rows: Vec<&Row> = rows.iter().filter(|r| r.case.scene() == scene).collect();
    let label = |row: &Row| format!("{}: {}", row.program, row.setting.replace('`', ""));
    let (mut names, mut subjects) = (Vec::new(), Vec::new());
    for row in &rows {
        if !names.contains(&label(row)) && !matches!(row.outcome, Outcome::NotRun(_)) {
            names.push(label(row));
        }
        if !subjects.contains(&row.case.subject) {
            subjects.push(row.case.subject);
        }
    }
    let panels: Vec<Panel> = (subjects.iter())
        .filter_map(|subject| {
            let own = rows.iter().filter(|r| r.case.subject == *subject);
            let told = own.filter(|r| r.is_told() && r.error().is_finite());
            let told: Vec<&&Row> = told.collect();
            let column = scene.columns()[told.first()?.case.error_column()];
            let mut curves: Vec<Curve> = Vec::new();
            for row in &told {
                let name = names.iter().position(|n| *n == label(row))?;
                let point = (row.error(), row.per_step() / row.case.step);
                match curves.iter_mut().find(|c| c.name == name) {
                    Some(curve) => curve.points.push(point),
                    None => curves.push(Curve {
                        name,
                        points: vec![point],
                        joined: true,
                    }),
                }
            }
            let all = || curves.iter().flat_map(|c| &c.points);
            let across = decades(all().map(|p| p.0));
            let up = decades(all().map(|p| p.1));
            Some(Panel {
                title: subject.to_string(),
                subtitle: "time on a processor per simulated second".to_owned(),
                across: (error_name(column), across),
                up: ("s per s", up),
                curves,
            })
        })
        .collect();
    curves_svg(scene.title(), &panels, 2, &names)
}

/// A column as the name of an axis.
fn error_name(column: &'static str) -> &'static str {
    match column {
        "gap" => "largest gap of a joint (m)",
        "tip error" => "error of the tip (m)",
        "moved" => "largest motion of a cube (m)",
        _ => "error (m)",
    }
}

/// An axis around numbers; zeros are on its edge.
fn decades(numbers: impl Iterator<Item = f64>) -> Axis {
    let logs = numbers.filter(|x| *x > 0.0).map(f64::log10);
    let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| {
        (l.min(x), h.max(x))
    });
    if low > high {
        return Axis::Decades(-1, 0);
    }
    let high = high.ceil() as i32;
    let low = (low.floor() as i32).min(high - 1).max(high - DECADES);
    Axis::Decades(low, high)
}

/// All rows, with the measures by their names; numbers that are not finite are null.
pub fn json(rows: &[Row]) -> Value {
    let one = |row: &Row| {
        let columns = row.case.scene().columns();
        let measures: Vec<Value> = (columns.iter().zip(&row.measures))
            .map(|(name, x)| json!({"name": name, "value": x}))
            .collect();
        json!({
            "scene": row.case.scene().letter().to_string(),
            "case": row.case.subject.to_string(),
            "step": row.case.step,
            "program": row.program.key(),
            "setting": row.setting,
            "steps": row.steps,
            "steps_wanted": row.case.steps,
            "first_step_seconds": row.first,
            "seconds_per_step": row.per_step(),
            "measures": measures,
            "note": row.to_string(),
        })
    };
    let used: Vec<&str> = (Program::ALL.iter())
        .filter(|p| rows.iter().any(|r| r.program == **p))
        .map(|p| p.key())
        .collect();
    json!({"programs": used, "rows": rows.iter().map(one).collect::<Vec<_>>()})
}

/// A document without the two lines between which a table belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkerError(String);

impl fmt::Display for MarkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the document has no line `{}`", self.0)
    }
}

impl std::error::Error for MarkerError {}

/// A document with the table of a scene between its two markers replaced.
///
/// # Errors
/// If a marker is missing.
pub fn replace(document: &str, scene: Scene, table: &str) -> Result<String, MarkerError> {
    let marker = |word| format!("<!-- bench peers {}: {word} -->", scene.letter());
    let (begin, end) = (marker("begin"), marker("end"));
    let Some((before, rest)) = document.split_once(&begin) else {
        return Err(MarkerError(begin));
    };
    let Some((_, after)) = rest.split_once(&end) else {
        return Err(MarkerError(end));
    };
    Ok(format!("{before}{begin}\n{table}{end}{after}"))
}
