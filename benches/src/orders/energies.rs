//! Energy errors over a run, as a picture.

use super::picture::{decades, line, style, text};
use std::fmt::Write;

/// One method at one step.
#[derive(Clone, Debug)]
pub struct Course {
    /// Method and step.
    pub name: String,
    /// The largest error in equal parts of the run, as shares of the energy that the motion turns
    /// over.
    pub errors: Vec<f64>,
}

const PANEL: (f64, f64) = (420.0, 280.0);
const LEFT: f64 = 70.0;
const TOP: f64 = 64.0;
const GAP: f64 = 70.0;
const LEGEND: f64 = 320.0;

/// One panel per motion, one line per method and step; all panels have the same methods in the same
/// order, and the same powers of ten from bottom to top.
pub fn energies_svg(periods: f64, panels: &[(&str, Vec<Course>)], range: (f64, f64)) -> String {
    let end = LEFT + panels.len() as f64 * (PANEL.0 + GAP);
    let (full, total) = (end + LEGEND, TOP + PANEL.1 + 50.0);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{full:.0}\" height=\"{total:.0}\" viewBox=\"0 0 {full:.0} {total:.0}\" \
         role=\"img\" font-family=\"sans-serif\" fill=\"#222222\">\n<title>Energy errors</title>\n\
         <rect width=\"{full:.0}\" height=\"{total:.0}\" fill=\"#ffffff\"/>"
    );
    text(
        &mut out,
        (LEFT, 26.0),
        16,
        &format!("Energy error over {periods} periods"),
    );
    for (k, (name, courses)) in panels.iter().enumerate() {
        panel(
            &mut out,
            LEFT + k as f64 * (PANEL.0 + GAP),
            (periods, range),
            name,
            courses,
        );
    }
    let courses = panels.first().map_or(&[][..], |p| &p.1);
    for (i, course) in courses.iter().enumerate() {
        let y = TOP + 12.0 + 20.0 * i as f64;
        line(&mut out, [(end - 30.0, y), (end - 2.0, y)].into_iter(), style(i));
        text(&mut out, (end + 4.0, y + 4.0), 12, &course.name);
    }
    out.push_str("</svg>\n");
    out
}

fn panel(out: &mut String, left: f64, (periods, range): (f64, (f64, f64)), name: &str, courses: &[Course]) {
    let (width, height) = PANEL;
    let up = |e: f64| {
        let share = (e.log10() - range.0) / (range.1 - range.0);
        TOP + height * (1.0 - share.clamp(0.0, 1.0))
    };
    text(out, (left, TOP - 12.0), 12, name);
    decades(out, range, (left, width), up);
    for quarter in 0..=4 {
        let x = left + width * f64::from(quarter) / 4.0;
        line(
            out,
            [(x, TOP), (x, TOP + height)].into_iter(),
            ("#eeeeee", "none"),
        );
        let label = format!("{}", periods * f64::from(quarter) / 4.0);
        text(out, (x - 8.0, TOP + height + 16.0), 10, &label);
    }
    for (i, course) in courses.iter().enumerate() {
        let count = course.errors.len() as f64;
        let points = course.errors.iter().enumerate().filter(|(_, e)| **e > 0.0);
        let places = points.map(|(k, e)| (left + width * (k as f64 + 0.5) / count, up(*e)));
        line(out, places, style(i));
    }
}
