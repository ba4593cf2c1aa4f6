//! Performance profiles (Dolan and More 2002): for each solver, the share of problems that it
//! solves within a factor of the best.

use std::fmt::Write;

/// The cost of each problem for one solver, in any unit; infinite where it failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Name of the solver.
    pub solver: String,
    /// One per problem.
    pub costs: Vec<f64>,
}

/// One solver's curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Name of the solver.
    pub solver: String,
    /// Ratios to the best solver of a problem, ascending, of the problems that were solved.
    pub ratios: Vec<f64>,
    /// Number of all problems.
    pub problems: usize,
}

impl Profile {
    /// The share of problems that are solved within this factor of the best.
    pub fn share(&self, factor: f64) -> f64 {
        let solved = self.ratios.partition_point(|r| *r <= factor);
        solved as f64 / self.problems.max(1) as f64
    }
}

/// The profiles of all solvers. Costs below `least` count as `least`: nobody cares who is first
/// there, and clocks do not know.
pub fn profiles(all: &[Costs], least: f64) -> Vec<Profile> {
    let problems = all.iter().map(|c| c.costs.len()).min().unwrap_or(0);
    let cost = |c: &Costs, p: usize| c.costs[p].max(least);
    let best = |p: usize| all.iter().map(|c| cost(c, p)).fold(f64::INFINITY, f64::min);
    let one = |c: &Costs| {
        let solved = (0..problems).filter(|p| c.costs[*p].is_finite());
        let mut ratios: Vec<f64> = solved.map(|p| cost(c, p) / best(p)).collect();
        ratios.sort_by(f64::total_cmp);
        Profile {
            solver: c.solver.clone(),
            ratios,
            problems,
        }
    };
    all.iter().map(one).collect()
}

const PANEL: (f64, f64) = (300.0, 260.0);
const LEFT: f64 = 56.0;
const TOP: f64 = 64.0;
const GAP: f64 = 36.0;
const LEGEND: f64 = 200.0;
/// Factors up to this one are shown.
const LARGEST: f64 = 1024.0;

/// Colours that differ in lightness too, after Okabe and Ito, and dashes where they come again.
const COLOURS: [&str; 8] = [
    "#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d1f",
];

/// The picture of several panels, each with a title and the profiles of the same solvers in the
/// same order.
pub fn svg(title: &str, panels: &[(String, Vec<Profile>)]) -> String {
    let (width, height) = PANEL;
    let full = LEFT + panels.len() as f64 * (width + GAP) + LEGEND;
    let total = TOP + height + 60.0;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{full:.0}\" height=\"{total:.0}\" viewBox=\"0 0 {full:.0} {total:.0}\" \
         role=\"img\" font-family=\"sans-serif\" fill=\"#222222\">\n<title>{title}</title>\n\
         <rect width=\"{full:.0}\" height=\"{total:.0}\" fill=\"#ffffff\"/>"
    );
    text(&mut out, (LEFT, 26.0), "start", 16, title);
    for (k, (name, profiles)) in panels.iter().enumerate() {
        let left = LEFT + k as f64 * (width + GAP);
        panel(&mut out, left, name, profiles, k == 0);
    }
    let profiles = panels.first().map_or(&[][..], |(_, p)| p);
    let x = LEFT + panels.len() as f64 * (width + GAP);
    for (i, profile) in profiles.iter().enumerate() {
        let y = TOP + 12.0 + 20.0 * i as f64;
        let (colour, dash) = style(i);
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-dasharray=\"{dash}\"/>",
            x + 28.0
        );
        text(&mut out, (x + 34.0, y + 4.0), "start", 12, &profile.solver);
    }
    out.push_str("</svg>\n");
    out
}

fn style(i: usize) -> (&'static str, &'static str) {
    let dashes = ["none", "6 3", "2 2"];
    (
        COLOURS[i % COLOURS.len()],
        dashes[i / COLOURS.len() % dashes.len()],
    )
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, size: usize, words: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{words}</text>"
    );
}

fn panel(out: &mut String, left: f64, name: &str, profiles: &[Profile], first: bool) {
    let (width, height) = PANEL;
    let x = |factor: f64| left + width * factor.log2() / LARGEST.log2();
    let y = |share: f64| TOP + height * (1.0 - share);
    text(out, (left + width / 2.0, TOP - 10.0), "middle", 13, name);
    for power in [0, 2, 4, 6, 8, 10] {
        let factor = f64::from(1 << power);
        let at = x(factor);
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" y1=\"{TOP:.1}\" x2=\"{at:.1}\" y2=\"{:.1}\" stroke=\"#dddddd\"/>",
            TOP + height
        );
        text(out, (at, TOP + height + 18.0), "middle", 12, &format!("{factor}"));
    }
    for tenths in [0, 2, 4, 6, 8, 10] {
        let share = f64::from(tenths) / 10.0;
        let at = y(share);
        let _ = writeln!(
            out,
            "<line x1=\"{left:.1}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>",
            left + width
        );
        if first {
            text(
                out,
                (left - 8.0, at + 4.0),
                "end",
                12,
                &format!("{} %", 10 * tenths),
            );
        }
    }
    text(
        out,
        (left + width / 2.0, TOP + height + 40.0),
        "middle",
        12,
        "factor of the best",
    );
    for (i, profile) in profiles.iter().enumerate() {
        let (colour, dash) = style(i);
        let mut points = format!("{:.1},{:.1} ", x(1.0), y(profile.share(1.0)));
        for ratio in profile.ratios.iter().filter(|r| **r > 1.0 && **r <= LARGEST) {
            let below = profile.ratios.partition_point(|r| r < ratio) as f64 / profile.problems as f64;
            let _ = write!(points, "{:.1},{:.1} ", x(*ratio), y(below));
            let _ = write!(points, "{:.1},{:.1} ", x(*ratio), y(profile.share(*ratio)));
        }
        let _ = write!(points, "{:.1},{:.1}", x(LARGEST), y(profile.share(LARGEST)));
        let _ = writeln!(
            out,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dash}\"/>"
        );
    }
}
