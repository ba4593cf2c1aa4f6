//! The bow.

use super::{advance, edited, pull, runner};
use pliant_run::Runner;

const LINKS: usize = 40;

/// The linear step: it brings the drawn bow to rest.
const THETA: (&str, &str) = ("step: 0.0005,", "step: 0.0005, integrator: Theta,");

/// Force of the hand on the string, and the energy in the limbs, at rest at a draw.
fn drawn(draw: f64) -> (f64, f64) {
    let mut run = runner(&edited("bow", &[THETA]), &[("draw", draw)], Some(0.002));
    // Until shortly before the release.
    while run.simulation().time() < 1.14 {
        advance(&mut run, 1);
    }
    (
        -hand(&run),
        run.simulation()
            .problem()
            .energies(run.simulation().state())
            .potential,
    )
}

/// Force of the string on the nock, along x (N).
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

/// Without damping and with the trapezoidal rule, what the limbs lose the arrow, string and limbs
/// gain.
#[test]
fn the_release_keeps_the_energy() {
    let loss = |h: f64| {
        let edits = [THETA, ("\"draw_time\": 1.0", "\"draw_time\": 0.2")];
        let parameters = [("limb_damping", 0.0), ("string_damping", 0.0), ("hold_time", 0.1)];
        let mut run = runner(&edited("bow", &edits), &parameters, Some(h));
        // Drawn by implicit Euler, which brings it to rest.
        while run.simulation().time() < 0.3 - 0.5 * h {
            advance(&mut run, 1);
        }
        run.simulation_mut().options.alpha = 0.5;
        run.simulation_mut().options.beta = 0.5;
        let energies = |run: &Runner| run.simulation().problem().energies(run.simulation().state());
        let start = energies(&run);
        let (mut fastest, mut worst) = (0.0f64, 0.0f64);
        while run.simulation().time() < 0.32 {
            advance(&mut run, 1);
            let now = energies(&run);
            fastest = fastest.max(now.kinetic);
            worst = worst.max((now.total() - start.total()).abs());
        }
        println!("{h}: {start:?} {fastest} {worst}");
        assert!(fastest > 0.8 * start.total());
        worst / start.total()
    };
    let (coarse, fine) = (loss(2e-4), loss(1e-4));
    assert!(coarse < 0.05 && fine < 0.4 * coarse, "{coarse} {fine}");
}
