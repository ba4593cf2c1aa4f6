//! Curves over logarithmic axes, in panels beside and below each other, as a picture.

use super::picture::{line, style, text};
use std::fmt::Write;

/// A curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The look of it, and its line in the legend: an index of the names of the picture.
    pub name: usize,
    /// Its points; what is not finite is left out.
    pub points: Vec<(f64, f64)>,
    /// Whether its points are joined by lines.
    pub joined: bool,
}

/// An axis.
#[derive(Clone, Copy, Debug)]
pub enum Axis {
    /// Powers of ten, from one to another.
    Decades(i32, i32),
    /// Equal parts of 1, from one number to another.
    Units(i32, i32),
}

impl Axis {
    /// How far along the axis a number is, as a share of it.
    fn share(self, x: f64) -> f64 {
        let along = |x: f64, from: i32, to: i32| (x - f64::from(from)) / f64::from(to - from);
        match self {
            Self::Decades(from, to) => along(x.log10(), from, to),
            Self::Units(from, to) => along(x, from, to),
        }
    }

    /// The marks, with their labels.
    fn marks(self) -> Vec<(f64, String)> {
        match self {
            Self::Decades(from, to) => (from..=to).map(|k| (10f64.powi(k), format!("1e{k}"))).collect(),
            Self::Units(from, to) => (from..=to).map(|k| (f64::from(k), k.to_string())).collect(),
        }
    }
}

/// A panel: two lines above it, axes with their names, curves.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Above the panel.
    pub title: String,
    /// Between title and panel, smaller.
    pub subtitle: String,
    /// Name and marks of the axis to the right.
    pub across: (&'static str, Axis),
    /// Name and marks of the axis to the top.
    pub up: (&'static str, Axis),
    /// The curves.
    pub curves: Vec<Curve>,
}

const SIZE: (f64, f64) = (340.0, 250.0);
const LEFT: f64 = 80.0;
const TOP: f64 = 84.0;
const GAP: (f64, f64) = (76.0, 96.0);

/// The picture: panels row by row, and a legend to the right of them.
pub fn curves_svg(title: &str, panels: &[Panel], columns: usize, names: &[String]) -> String {
    let rows = panels.len().div_ceil(columns.max(1));
    let end = LEFT + columns as f64 * (SIZE.0 + GAP.0);
    let (full, total) = (end + 300.0, TOP + rows as f64 * (SIZE.1 + GAP.1));
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{full:.0}\" height=\"{total:.0}\" viewBox=\"0 0 {full:.0} {total:.0}\" \
         role=\"img\" font-family=\"sans-serif\" fill=\"#222222\">\n<title>{title}</title>\n\
         <rect width=\"{full:.0}\" height=\"{total:.0}\" fill=\"#ffffff\"/>"
    );
    text(&mut out, (LEFT, 28.0), 16, title);
    for (k, panel) in panels.iter().enumerate() {
        let left = LEFT + (k % columns) as f64 * (SIZE.0 + GAP.0);
        let top = TOP + (k / columns) as f64 * (SIZE.1 + GAP.1);
        draw(&mut out, (left, top), panel);
    }
    for (i, name) in names.iter().enumerate() {
        let y = TOP + 12.0 + 20.0 * i as f64;
        let mut curves = panels.iter().flat_map(|p| &p.curves);
        if curves.any(|c| c.name == i && c.joined) {
            line(&mut out, [(end - 30.0, y), (end - 2.0, y)].into_iter(), style(i));
        }
        dot(&mut out, (end - 16.0, y), i);
        text(&mut out, (end + 4.0, y + 4.0), 12, name);
    }
    out.push_str("</svg>\n");
    out
}

fn draw(out: &mut String, (left, top): (f64, f64), panel: &Panel) {
    let (width, height) = SIZE;
    let across = |x: f64| left + width * panel.across.1.share(x).clamp(0.0, 1.0);
    let up = |y: f64| top + height * (1.0 - panel.up.1.share(y).clamp(0.0, 1.0));
    text(out, (left, top - 22.0), 12, &panel.title);
    text(out, (left, top - 8.0), 10, &panel.subtitle);
    for (x, label) in panel.across.1.marks() {
        let x = across(x);
        let ends = [(x, top), (x, top + height)];
        line(out, ends.into_iter(), ("#dddddd", "none"));
        text(out, (x - 10.0, top + height + 14.0), 10, &label);
    }
    for (y, label) in panel.up.1.marks() {
        let y = up(y);
        let ends = [(left, y), (left + width, y)];
        line(out, ends.into_iter(), ("#dddddd", "none"));
        text(out, (left - 32.0, y + 4.0), 10, &label);
    }
    text(
        out,
        (
            left + width - 6.0 * panel.across.0.len() as f64,
            top + height + 30.0,
        ),
        11,
        panel.across.0,
    );
    text(out, (left - 74.0, top - 22.0), 11, panel.up.0);
    for curve in &panel.curves {
        let points = curve
            .points
            .iter()
            .filter(|(x, y)| x.is_finite() && y.is_finite());
        let places: Vec<_> = points.map(|(x, y)| (across(*x), up(*y))).collect();
        if curve.joined {
            line(out, places.iter().copied(), style(curve.name));
        }
        for place in places {
            dot(out, place, curve.name);
        }
    }
}

/// A point of the curve of a name: a ring where its colour comes again.
fn dot(out: &mut String, (x, y): (f64, f64), name: usize) {
    let (colour, dash) = style(name);
    let inside = if dash == "none" { colour } else { "#ffffff" };
    let _ = writeln!(
        out,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.8\" fill=\"{inside}\" stroke=\"{colour}\" stroke-width=\"1.2\"/>"
    );
}
