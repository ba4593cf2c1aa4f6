//! Errors over steps, both logarithmic, as a picture.

use super::{Table, methods};
use std::fmt::Write;

const PANEL: (f64, f64) = (300.0, 260.0);
const LEFT: f64 = 70.0;
const TOP: f64 = 64.0;
const GAP: f64 = 62.0;
const LEGEND: f64 = 250.0;
const DECADES: (f64, f64) = (-13.0, 1.0);

/// Colours that differ in lightness too, after Okabe and Ito, and dashes where they come again.
const COLOURS: [&str; 8] = [
    "#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d1f",
];

/// One panel per problem, one line per method, with slopes 1, 2 and 4 in grey.
pub fn svg(title: &str, tables: &[Table]) -> String {
    let full = LEFT + tables.len() as f64 * (PANEL.0 + GAP) + LEGEND;
    let total = TOP + PANEL.1 + 60.0;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{full:.0}\" height=\"{total:.0}\" viewBox=\"0 0 {full:.0} {total:.0}\" \
         role=\"img\" font-family=\"sans-serif\" fill=\"#222222\">\n<title>{title}</title>\n\
         <rect width=\"{full:.0}\" height=\"{total:.0}\" fill=\"#ffffff\"/>"
    );
    text(&mut out, (LEFT, 26.0), 16, &format!("Error over step: {title}"));
    for (k, table) in tables.iter().enumerate() {
        panel(&mut out, LEFT + k as f64 * (PANEL.0 + GAP), table);
    }
    let x = LEFT + tables.len() as f64 * (PANEL.0 + GAP) - 20.0;
    for (i, method) in methods().iter().enumerate() {
        let y = TOP + 12.0 + 20.0 * i as f64;
        line(&mut out, [(x, y), (x + 28.0, y)].into_iter(), style(i));
        text(&mut out, (x + 34.0, y + 4.0), 12, method.name);
    }
    out.push_str("</svg>\n");
    out
}

pub(super) fn style(i: usize) -> (&'static str, &'static str) {
    (
        COLOURS[i % COLOURS.len()],
        if i < COLOURS.len() { "none" } else { "6 3" },
    )
}

fn panel(out: &mut String, left: f64, table: &Table) {
    let (width, height) = PANEL;
    let (least, most) = table
        .steps
        .iter()
        .fold((f64::INFINITY, 0.0f64), |(a, b), h| (a.min(*h), b.max(*h)));
    let across = |h: f64| left + width * (h / least).log10() / (most / least).log10();
    let up = |e: f64| {
        let share = (e.log10() - DECADES.0) / (DECADES.1 - DECADES.0);
        TOP + height * (1.0 - share.clamp(0.0, 1.0))
    };
    let (title, rest) = table.problem.split_once(',').unwrap_or((table.problem, ""));
    text(out, (left, TOP - 22.0), 12, title);
    text(out, (left, TOP - 8.0), 10, rest.trim());
    decades(out, DECADES, (left, width), up);
    for h in &table.steps {
        let x = across(*h);
        line(
            out,
            [(x, TOP), (x, TOP + height)].into_iter(),
            ("#eeeeee", "none"),
        );
        text(
            out,
            (x - 14.0, TOP + height + 16.0),
            10,
            &format!("{:.2} ms", h * 1e3),
        );
    }
    for order in [1.0, 2.0, 4.0] {
        let ends = [most, least].map(|h| (across(h), up(0.3 * (h / most).powf(order))));
        line(out, ends.into_iter(), ("#bbbbbb", "2 3"));
    }
    let names = methods();
    for errors in &table.errors {
        let Some(i) = names.iter().position(|m| m.name == errors.method) else {
            continue;
        };
        let points = table.steps.iter().zip(&errors.errors);
        let points = points.filter(|(_, e)| e.is_finite() && **e > 0.0);
        line(out, points.map(|(h, e)| (across(*h), up(*e))), style(i));
    }
}

/// A line across a panel and a label for every other power of ten between two; `up` says how high.
pub(super) fn decades(
    out: &mut String,
    range: (f64, f64),
    (left, width): (f64, f64),
    up: impl Fn(f64) -> f64,
) {
    for decade in (range.0 as i32..=range.1 as i32).step_by(2) {
        let y = up(10f64.powi(decade));
        let ends = [(left, y), (left + width, y)];
        line(out, ends.into_iter(), ("#dddddd", "none"));
        text(out, (left - 40.0, y + 4.0), 10, &format!("1e{decade}"));
    }
}

pub(super) fn line(out: &mut String, points: impl Iterator<Item = (f64, f64)>, (colour, dash): (&str, &str)) {
    let list: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-dasharray=\"{dash}\"/>",
        list.join(" ")
    );
}

pub(super) fn text(out: &mut String, (x, y): (f64, f64), size: usize, words: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\">{words}</text>"
    );
}
