//! Curves over time as a self-contained SVG picture: the energies of a run, or columns of its tables.
//!
//! A white ground and dark ink whatever the viewer's theme, no scripts, no fonts of its own. The
//! file stays small: each line has at most about 1500 points, chosen so that peaks survive.

use std::fmt::Write as _;
use std::path::Path;

use self::scale::{Axis, Format};
use super::ExportError;
use super::atomic::{Written, write_atomically};
use crate::recording::{Recording, Sample};

mod lines;
mod scale;

/// Size of the picture and place of the plot in it, in SVG's pixels.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 540.0;
const LEFT: f64 = 100.0;
const RIGHT: f64 = 936.0;
const TOP: f64 = 86.0;
const BOTTOM: f64 = 478.0;

/// Longest title shown, in characters.
const LONGEST_TITLE: usize = 80;

/// Largest number drawn: the difference of two such is still finite, with room for a margin.
const LARGEST: f64 = 1e300;

/// The number of a sample that a curve shows.
type Reading = fn(&Sample) -> f64;

/// The colour of a curve, and SVG's `stroke-dasharray`: curves differ in more than colour.
type Stroke = (&'static str, &'static str);

/// Names and strokes of the energies. The total is drawn last, on top.
const ENERGIES: [(&str, Stroke, Reading); 4] = [
    ("kinetic", ("#0072b2", "none"), |s| s.kinetic),
    ("potential", ("#d55e00", "none"), |s| s.potential),
    ("dissipated", ("#009e73", "2 4"), |s| s.dissipated),
    ("total (kinetic + potential)", ("#222222", "8 4"), |s| {
        s.kinetic + s.potential
    }),
];

/// Colours of Okabe and Ito, which colour-blind readers can tell apart, twice.
const STROKES: [Stroke; MOST_CURVES] = [
    ("#0072b2", "none"),
    ("#d55e00", "none"),
    ("#009e73", "none"),
    ("#cc79a7", "none"),
    ("#222222", "8 4"),
    ("#0072b2", "2 4"),
    ("#d55e00", "2 4"),
    ("#009e73", "2 4"),
];

/// Most curves of one plot.
pub const MOST_CURVES: usize = 8;

/// Curves over a common axis, one plot of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Title above it.
    pub title: String,
    /// Names of the two axes, with their units.
    pub axes: [String; 2],
    /// Names of the curves.
    pub names: Vec<String>,
    /// The place of each point along the axis.
    pub over: Vec<f64>,
    /// The values of each curve, as many as there are places.
    pub values: Vec<Vec<f64>>,
}

/// One curve of a plot, cut where points are left out.
struct Curve<'a> {
    name: &'a str,
    stroke: Stroke,
    runs: Vec<Vec<(f64, f64)>>,
}

/// Plots kinetic, potential, dissipated and total (kinetic plus potential) energy (J) over time
/// (s), as SVG.
///
/// A sample with a number that is not finite (or above 1e300 in size) is left out: the curves have
/// a gap there, and the picture says how many samples that were. Without samples, it says so.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written.
pub fn write_energy_svg(path: &Path, recording: &Recording) -> Result<Written, ExportError> {
    let picture = energy_svg(recording);
    write_atomically(path, |out| out.write_all(picture.as_bytes()))
}

/// The text of the picture that [`write_energy_svg`] writes.
pub fn energy_svg(recording: &Recording) -> String {
    let title = shortened(&recording.title);
    let heading = match title.trim().is_empty() {
        true => "Energy".to_owned(),
        false => format!("Energy: {title}"),
    };
    let samples = &recording.samples;
    let good = |s: &Sample| is_drawable(s.time) && ENERGIES.iter().all(|e| is_drawable(e.2(s)));
    let curves = ENERGIES.map(|(name, stroke, value)| Curve {
        name,
        stroke,
        runs: lines::decimate(
            &samples
                .iter()
                .map(|s| good(s).then(|| (s.time, value(s))))
                .collect::<Vec<_>>(),
        ),
    });
    let omitted = samples.iter().filter(|s| !good(s)).count();
    let mut svg = Picture::open(&heading, 1);
    svg.plot(
        &heading,
        ["time [s]", "energy [J]"],
        &curves,
        [samples.len(), omitted],
    );
    svg.close()
}

/// Plots, one below the other, as one SVG picture. A point of a curve that is not finite (or above
/// 1e300 in size) is left out: the curve has a gap there, and the plot says how many points that
/// were. Curves beyond [`MOST_CURVES`] of a plot are not drawn.
pub fn plots_svg(title: &str, plots: &[Plot]) -> String {
    let mut svg = Picture::open(&shortened(title), plots.len().max(1));
    for (k, plot) in plots.iter().enumerate() {
        let mut omitted = 0;
        let mut runs = |values: &[f64]| {
            let points = plot.over.iter().zip(values);
            let points = points.map(|(x, y)| (is_drawable(*x) && is_drawable(*y)).then_some((*x, *y)));
            let points: Vec<_> = points.collect();
            omitted += points.iter().filter(|p| p.is_none()).count();
            lines::decimate(&points)
        };
        let named = plot.names.iter().zip(&plot.values).zip(STROKES);
        let curves: Vec<Curve<'_>> = named
            .map(|((name, values), stroke)| Curve {
                name,
                stroke,
                runs: runs(values),
            })
            .collect();
        let points = plot.over.len() * curves.len();
        svg.open_part(k);
        let axes = [plot.axes[0].as_str(), plot.axes[1].as_str()];
        svg.plot(&shortened(&plot.title), axes, &curves, [points, omitted]);
        svg.close_part();
    }
    svg.close()
}

/// A title of at most [`LONGEST_TITLE`] characters.
fn shortened(title: &str) -> String {
    match title.chars().count() > LONGEST_TITLE {
        true => title.chars().take(LONGEST_TITLE - 1).chain(['…']).collect(),
        false => title.to_owned(),
    }
}

/// Whether a number has a place in a plot; a NaN has none.
fn is_drawable(x: f64) -> bool {
    x.abs() <= LARGEST
}

/// The text of an SVG in the making. Writing to a `String` cannot fail, so the results of `write!`
/// are dropped.
struct Picture(String);

impl Picture {
    /// A picture with room for so many plots, one below the other.
    fn open(heading: &str, plots: usize) -> Self {
        let mut svg = Self(String::new());
        let height = HEIGHT * plots as f64;
        let _ = writeln!(
            svg.0,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" font-family=\"sans-serif\" fill=\"#222222\">\n\
             <title>{}</title>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>",
            escape(heading)
        );
        svg
    }

    /// Begins the part of the plot of this number.
    fn open_part(&mut self, plot: usize) {
        let down = HEIGHT * plot as f64;
        let _ = writeln!(self.0, "<g transform=\"translate(0 {down})\">");
    }

    fn close_part(&mut self) {
        self.0.push_str("</g>\n");
    }

    /// A heading, axes, curves and their legend, and how many of so many points are left out.
    fn plot(&mut self, heading: &str, axes: [&str; 2], curves: &[Curve<'_>], [points, omitted]: [usize; 2]) {
        self.text(LEFT, 32.0, "start", "18", heading);
        let all = || curves.iter().flat_map(|c| c.runs.iter().flatten());
        if all().next().is_none() {
            let message = match points {
                0 => "no samples recorded",
                _ => "no sample has finite numbers",
            };
            let (x, y) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
            self.text(x, y, "middle", "16", message);
        } else {
            let across = Axis::fit(all().map(|p| p.0), LEFT, RIGHT, 9);
            let upwards = Axis::fit_with_margin(all().map(|p| p.1), BOTTOM, TOP, 7);
            self.axes(&across, &upwards, axes);
            for curve in curves {
                self.curve(curve, &across, &upwards);
            }
            self.legend(curves);
        }
        if omitted > 0 {
            let noun = if points == 1 { "sample" } else { "samples" };
            let note = format!("{omitted} of {points} {noun} left out: not finite");
            self.text(RIGHT, HEIGHT - 16.0, "end", "13", &note);
        }
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, size: &str, text: &str) {
        let text = escape(text);
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{text}</text>"
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = writeln!(
            self.0,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{stroke}\"/>"
        );
    }

    fn axes(&mut self, across: &Axis, upwards: &Axis, names: [&str; 2]) {
        let (grid, ink) = ("#dddddd", "#555555");
        let format = Format::of(&across.ticks());
        for tick in across.ticks() {
            let x = across.pixel(tick);
            self.line((x, TOP), (x, BOTTOM), grid);
            self.text(x, BOTTOM + 20.0, "middle", "13", &format.text(tick));
        }
        let format = Format::of(&upwards.ticks());
        for tick in upwards.ticks() {
            let y = upwards.pixel(tick);
            self.line((LEFT, y), (RIGHT, y), if tick == 0.0 { "#999999" } else { grid });
            self.text(LEFT - 8.0, y + 4.5, "end", "13", &format.text(tick));
        }
        self.line((LEFT, BOTTOM), (RIGHT, BOTTOM), ink);
        self.line((LEFT, TOP), (LEFT, BOTTOM), ink);
        self.text((LEFT + RIGHT) / 2.0, BOTTOM + 44.0, "middle", "14", names[0]);
        let middle = (TOP + BOTTOM) / 2.0;
        let _ = writeln!(
            self.0,
            "<text transform=\"translate(20 {middle:.1}) rotate(-90)\" text-anchor=\"middle\" \
             font-size=\"14\">{}</text>",
            escape(names[1])
        );
    }

    fn curve(&mut self, curve: &Curve<'_>, across: &Axis, upwards: &Axis) {
        let (name, (colour, dash)) = (escape(curve.name), curve.stroke);
        let _ = writeln!(
            self.0,
            "<g fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-linejoin=\"round\" \
             stroke-dasharray=\"{dash}\"><title>{name}</title>"
        );
        for run in &curve.runs {
            if let [(t, e)] = run[..] {
                // A line of one point is invisible.
                let (x, y) = (across.pixel(t), upwards.pixel(e));
                let _ = writeln!(
                    self.0,
                    "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"3\" fill=\"{colour}\" stroke=\"none\"/>"
                );
                continue;
            }
            self.0.push_str("<polyline points=\"");
            for &(t, e) in run {
                let _ = write!(self.0, "{:.2},{:.2} ", across.pixel(t), upwards.pixel(e));
            }
            self.0.push_str("\"/>\n");
        }
        self.0.push_str("</g>\n");
    }

    /// One row between the title and the plot, where no curve can run under it.
    fn legend(&mut self, curves: &[Curve<'_>]) {
        let mut x = LEFT;
        for curve in curves {
            let (colour, dash) = curve.stroke;
            let y = 62.0;
            let end = x + 30.0;
            let _ = writeln!(
                self.0,
                "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{end:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" \
                 stroke-width=\"2.5\" stroke-dasharray=\"{dash}\"/>"
            );
            self.text(end + 8.0, y + 4.5, "start", "14", curve.name);
            // An estimate of the width of the text: the viewer's font is not known here.
            x = end + 38.0 + 7.6 * curve.name.chars().count() as f64;
        }
    }

    fn close(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

/// Text as XML content: markup characters as entities, control characters, which XML forbids, as
/// blanks.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
