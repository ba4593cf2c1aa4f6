//! The energies of a run over time as a self-contained SVG picture.
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

/// One curve of the plot.
struct Series {
    name: &'static str,
    colour: &'static str,
    /// SVG's `stroke-dasharray`: the curves differ in more than colour.
    dash: &'static str,
    value: fn(&Sample) -> f64,
}

/// Colours of Okabe and Ito, which colour-blind readers can tell apart. The total is drawn last, on
/// top.
const SERIES: [Series; 4] = [
    Series {
        name: "kinetic",
        colour: "#0072b2",
        dash: "none",
        value: |s| s.kinetic,
    },
    Series {
        name: "potential",
        colour: "#d55e00",
        dash: "none",
        value: |s| s.potential,
    },
    Series {
        name: "dissipated",
        colour: "#009e73",
        dash: "2 4",
        value: |s| s.dissipated,
    },
    Series {
        name: "total (kinetic + potential)",
        colour: "#222222",
        dash: "8 4",
        value: |s| s.kinetic + s.potential,
    },
];

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
    let samples = &recording.samples;
    let good: Vec<bool> = samples.iter().map(is_drawable).collect();
    let drawn = || {
        samples
            .iter()
            .zip(&good)
            .filter(|(_, good)| **good)
            .map(|(sample, _)| sample)
    };
    let omitted = samples.len() - drawn().count();

    let mut svg = Picture::open(&recording.title);
    if drawn().next().is_none() {
        let message = if samples.is_empty() {
            "no samples recorded"
        } else {
            "no sample has finite numbers"
        };
        svg.text(
            (LEFT + RIGHT) / 2.0,
            (TOP + BOTTOM) / 2.0,
            "middle",
            "16",
            message,
        );
    } else {
        let time = Axis::fit(drawn().map(|s| s.time), LEFT, RIGHT, 9);
        let values = drawn().flat_map(|s| SERIES.iter().map(move |series| (series.value)(s)));
        let energy = Axis::fit_with_margin(values, BOTTOM, TOP, 7);
        svg.axes(&time, &energy);
        for series in &SERIES {
            let points = samples
                .iter()
                .zip(&good)
                .map(|(s, good)| good.then(|| (s.time, (series.value)(s))));
            let runs = lines::decimate(&points.collect::<Vec<_>>());
            svg.curve(series, &runs, &time, &energy);
        }
        svg.legend();
    }
    if omitted > 0 {
        let noun = if omitted == 1 { "sample" } else { "samples" };
        let note = format!("{omitted} of {} {noun} left out: not finite", samples.len());
        svg.text(RIGHT, HEIGHT - 16.0, "end", "13", &note);
    }
    svg.close()
}

fn is_drawable(sample: &Sample) -> bool {
    // `<=` is false for NaN.
    let drawable = |x: f64| x.abs() <= LARGEST;
    drawable(sample.time) && SERIES.iter().all(|series| drawable((series.value)(sample)))
}

/// The text of an SVG in the making. Writing to a `String` cannot fail, so the results of `write!`
/// are dropped.
struct Picture(String);

impl Picture {
    fn open(title: &str) -> Self {
        let shown: String = if title.chars().count() > LONGEST_TITLE {
            title.chars().take(LONGEST_TITLE - 1).chain(['…']).collect()
        } else {
            title.to_owned()
        };
        let heading = if shown.trim().is_empty() {
            "Energy".to_owned()
        } else {
            format!("Energy: {shown}")
        };
        let mut svg = Self(String::new());
        let _ = writeln!(
            svg.0,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" font-family=\"sans-serif\" fill=\"#222222\">\n\
             <title>{}</title>\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>",
            escape(&heading)
        );
        svg.text(LEFT, 32.0, "start", "18", &heading);
        svg
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

    fn axes(&mut self, time: &Axis, energy: &Axis) {
        let (grid, ink) = ("#dddddd", "#555555");
        let format = Format::of(&time.ticks());
        for tick in time.ticks() {
            let x = time.pixel(tick);
            self.line((x, TOP), (x, BOTTOM), grid);
            self.text(x, BOTTOM + 20.0, "middle", "13", &format.text(tick));
        }
        let format = Format::of(&energy.ticks());
        for tick in energy.ticks() {
            let y = energy.pixel(tick);
            self.line((LEFT, y), (RIGHT, y), if tick == 0.0 { "#999999" } else { grid });
            self.text(LEFT - 8.0, y + 4.5, "end", "13", &format.text(tick));
        }
        self.line((LEFT, BOTTOM), (RIGHT, BOTTOM), ink);
        self.line((LEFT, TOP), (LEFT, BOTTOM), ink);
        self.text((LEFT + RIGHT) / 2.0, BOTTOM + 44.0, "middle", "14", "time [s]");
        let middle = (TOP + BOTTOM) / 2.0;
        let _ = writeln!(
            self.0,
            "<text transform=\"translate(20 {middle:.1}) rotate(-90)\" text-anchor=\"middle\" \
             font-size=\"14\">energy [J]</text>"
        );
    }

    fn curve(&mut self, series: &Series, runs: &[Vec<(f64, f64)>], time: &Axis, energy: &Axis) {
        let (name, colour, dash) = (escape(series.name), series.colour, series.dash);
        let _ = writeln!(
            self.0,
            "<g fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-linejoin=\"round\" \
             stroke-dasharray=\"{dash}\"><title>{name}</title>"
        );
        for run in runs {
            if let [(t, e)] = run[..] {
                // A line of one point is invisible.
                let (x, y) = (time.pixel(t), energy.pixel(e));
                let _ = writeln!(
                    self.0,
                    "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"3\" fill=\"{colour}\" stroke=\"none\"/>"
                );
                continue;
            }
            self.0.push_str("<polyline points=\"");
            for &(t, e) in run {
                let _ = write!(self.0, "{:.2},{:.2} ", time.pixel(t), energy.pixel(e));
            }
            self.0.push_str("\"/>\n");
        }
        self.0.push_str("</g>\n");
    }

    /// One row between the title and the plot, where no curve can run under it.
    fn legend(&mut self) {
        let mut x = LEFT;
        for series in &SERIES {
            let (colour, dash) = (series.colour, series.dash);
            let y = 62.0;
            let end = x + 30.0;
            let _ = writeln!(
                self.0,
                "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{end:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" \
                 stroke-width=\"2.5\" stroke-dasharray=\"{dash}\"/>"
            );
            self.text(end + 8.0, y + 4.5, "start", "14", series.name);
            // An estimate of the width of the text: the viewer's font is not known here.
            x = end + 38.0 + 7.6 * series.name.len() as f64;
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
