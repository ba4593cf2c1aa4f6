//! The bow.

use super::{advance, edited, pull, runner};
use pliant_scene::runner::Runner;

const LINKS: usize = 40;

/// Force of the hand on the string, and the energy in the limbs, at rest at a draw.
fn drawn(draw: f64) -> (f64, f64) {
    let mut run = runner(&edited("bow", &[]), &[("draw", draw)], Some(0.002));
    // Until shortly before the release.
    while run.simulation().time() < 1.14 {
        advance(&mut run, 1);
    }
    (-hand(&run), run.simulation().model().energies(run.simulation().state()).potential)
}

/// What the string pulls the nock with, along x.
fn hand(run: &Runner) -> f64 {
    let pairs: Vec<_> = (0..LINKS).map(|i| (i, i + 1)).collect();
    -pull(run, "string", &pairs, LINKS / 2)[0]
}

/// Virtual work: the force is the derivative of the energy.
#[test]
fn the_draw_force_is_the_derivative_of_the_energy() {
    let d = 0.005;
    let (force, _) = drawn(0.5);
    let ((_, less), (_, more)) = (drawn(0.5 - d), drawn(0.5 + d));
    let slope = (more - less) / (2.0 * d);
    println!("{force} {slope}");
    assert!(force.abs() > 50.0);
    assert!((force.abs() - slope).abs() < 1e-3 * slope, "{force} {slope}");
}

/// Without damping and with the trapezoidal rule, what the limbs lose the arrow, string and limbs gain.
#[test]
fn the_release_keeps_the_energy() {
    let loss = |step: &str| {
        let edits = [("step: 0.0005,", &*format!("step: {step}, alpha: 0.5, beta: 0.5,")), ("\"draw_time\": 1.0", "\"draw_time\": 0.2")];
        let parameters = [("limb_damping", 0.0), ("string_damping", 0.0), ("hold_time", 0.02)];
        let mut run = runner(&edited("bow", &edits), &parameters, None);
        while run.simulation().time() < 0.22 {
            advance(&mut run, 1);
        }
        let energies = |run: &Runner| run.simulation().model().energies(run.simulation().state());
        let start = energies(&run);
        let (mut fastest, mut worst) = (0.0f64, 0.0f64);
        while run.simulation().time() < 0.24 {
            advance(&mut run, 1);
            let now = energies(&run);
            fastest = fastest.max(now.kinetic);
            worst = worst.max((now.total() - start.total()).abs());
        }
        println!("{step}: {start:?} {fastest} {worst}");
        assert!(fastest > 0.8 * start.total());
        worst / start.total()
    };
    let (coarse, fine) = (loss("2e-4"), loss("1e-4"));
    assert!(coarse < 0.05 && fine < 0.4 * coarse, "{coarse} {fine}");
}
