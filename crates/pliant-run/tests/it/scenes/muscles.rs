//! Muscles in solids.

use super::{advance, edited, finish, points, runner};
use pliant::Equilibrium;
use pliant_run::Runner;

/// Curvatures of arms, `benches/reference/muscle.py`.
const REFERENCE: &str = include_str!("../../../../../benches/reference/muscle.txt");

/// The turn (rad) of the arm for each metre at rest, between two sections in its middle, and the
/// stretch of its axis there; of corners of hexahedra.
fn bend(rest: &[[f64; 3]], x: &[[f64; 3]]) -> [f64; 2] {
    let at = |place: [f64; 3]| {
        let near = |p: &[f64; 3]| (0..3).all(|k| (p[k] - place[k]).abs() < 1e-9);
        x[rest.iter().position(near).unwrap()]
    };
    // From the lower to the upper edge, in the middle of the width where there are nodes on edges.
    let slope = |along: f64| {
        let (low, high) = (at([along, 0.015, 0.0]), at([along, 0.015, 0.03]));
        f64::atan2(low[0] - high[0], high[2] - low[2])
    };
    let (from, to) = (0.08, 0.12);
    let turn = (slope(to) - slope(from)) / (to - from);
    let axis = [from, 0.5 * (from + to), to].map(|along| at([along, 0.015, 0.015]));
    let length: f64 = axis
        .windows(2)
        .map(|pair| f64::hypot(pair[1][0] - pair[0][0], pair[1][2] - pair[0][2]))
        .sum();
    // The chords of two arcs.
    let half = 0.25 * turn * (to - from);
    [turn, length / (to - from) * half / half.sin()]
}

/// The upper muscle, held at its largest activation, bends the arm at rest as a beam of plane
/// sections does, but for saddles that sections become, and elements: 0.2 % and 0.5 % of that.
#[test]
fn an_octopus_arm_bends_as_its_fibres_pull() {
    for activation in ["0.5", "1.0"] {
        let upper = activation.parse().unwrap();
        let mut run = runner(&edited("octopus_arm", &[]), &[("upper", upper)], None);
        let rest = points(&run, "arm");
        while run.simulation().time() < 1.2 {
            advance(&mut run, 1);
        }
        run.simulation_mut()
            .find_equilibrium(&Equilibrium::default())
            .unwrap();
        let line = REFERENCE
            .lines()
            .find(|l| l.starts_with(&format!("bends {activation} ")))
            .unwrap();
        let numbers: Vec<f64> = line
            .split_whitespace()
            .skip(2)
            .map(|w| w.parse().unwrap())
            .collect();
        let [turn, axis] = bend(&rest, &points(&run, "arm"));
        println!(
            "{activation}: {turn} rad/m of {}, stretch {axis} of {}",
            numbers[1], numbers[0]
        );
        assert!((turn / numbers[1] - 1.0).abs() < 0.006, "{turn} {line}");
        // The middle of a saddle is not the mean of its width: `turn^2/2` times the square of the
        // width over 24 of it is 0.3 %, and as much as the turn misses.
        assert!((axis / numbers[0] - 1.0).abs() < 0.01, "{axis} {line}");
    }
}

/// The lower muscle bends it down at the end, and what both brought is in the balance.
#[test]
fn an_octopus_arm_curls_down_at_last() {
    let mut run = runner(&edited("octopus_arm", &[]), &[], None);
    finish(&mut run);
    let rest = points(&runner(&edited("octopus_arm", &[]), &[], None), "arm");
    let [turn, _] = bend(&rest, &points(&run, "arm"));
    println!("{turn} rad/m");
    assert!(turn < -8.0, "{turn}");
}

/// A jaw at rest is a lever on its condyles: the bite is the moment of the masseters less that of the
/// weight over its arm, and the two faces of the sockets share what is left. At the end it moves by
/// less than a hundred-millionth of its size, by which arms and forces are as good.
#[test]
fn a_jaw_bites_by_the_force_of_its_lever() {
    let mut run = runner(&edited("jaw", &[]), &[], None);
    let last = |run: &Runner, name: &str| run.summary(None).probes[name].last.unwrap();
    let mut lowest = 0.0f64;
    while !run.is_done() {
        advance(&mut run, 1);
        lowest = lowest.min(last(&run, "jaw.y"));
    }
    // It was open in between.
    assert!(lowest < -0.05, "{lowest}");
    let way = [0.015f64, 0.07, 0.015];
    let length = way.iter().map(|d| d * d).sum::<f64>().sqrt();
    let pull = 2.0 * 400.0 * 0.25;
    let [forward, up] = [pull * way[0] / length, pull * way[1] / length];
    let weight = 0.2 * 9.81;
    let bite = (0.03 * up + 0.05 * forward - 0.05 * weight) / 0.09;
    let slope = 40f64.to_radians();
    let (sum, difference) = ((up - weight - bite) / slope.cos(), forward / slope.sin());
    for (name, expected) in [
        ("bite.normal", bite),
        ("front.normal", 0.5 * (sum + difference)),
        ("back.normal", 0.5 * (sum - difference)),
    ] {
        let found = last(&run, name);
        assert!(
            (found / expected - 1.0).abs() < 1e-6,
            "{name}: {found} {expected}"
        );
    }
}
