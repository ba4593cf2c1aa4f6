//! Rows of masses: springs, a heavy cable, a taut bead.

use super::{advance, edited, points, reaction, runner};
use std::f64::consts::PI;

/// The trapezoidal rule moves a mode of frequency `omega` exactly as a cosine of frequency
/// `2/h atan(h omega/2)`.
#[test]
fn spring_chain_swings_in_its_slowest_mode() {
    let (n, k, m, h, amplitude): (usize, f64, f64, f64, f64) = (20, 100.0, 0.1, 0.01, 0.1);
    let omega = 2.0 * (k / m).sqrt() * (PI / (2.0 * (2 * n + 1) as f64)).sin();
    let discrete = 2.0 / h * (h * omega / 2.0).atan();
    let mut run = runner(&edited("spring_chain", &[]), &[], None);
    for steps in [1, 99, 400] {
        advance(&mut run, steps);
        let phase = (discrete * run.simulation().time()).cos();
        for (i, x) in points(&run, "masses").iter().enumerate() {
            let j = (i + 1) as f64;
            let expected = 0.1 * j + 0.1 * amplitude * (j * PI / (2 * n + 1) as f64).sin() * phase;
            assert!(
                (x[0] - expected).abs() < 1e-12,
                "mass {i} after {steps}: {} {expected}",
                x[0]
            );
        }
    }
}

/// Largest distance of a particle from the line through both ends of the cable, in metres.
fn sag(points: &[[f64; 3]]) -> f64 {
    let (first, last) = (points[0], points[points.len() - 1]);
    let along: [f64; 3] = std::array::from_fn(|k| last[k] - first[k]);
    let length = along.iter().map(|c| c * c).sum::<f64>().sqrt();
    let distance = |x: &[f64; 3]| {
        let d: [f64; 3] = std::array::from_fn(|k| x[k] - first[k]);
        let s = d.iter().zip(&along).map(|(a, b)| a * b).sum::<f64>() / (length * length);
        (0..3).map(|k| (d[k] - s * along[k]).powi(2)).sum::<f64>().sqrt()
    };
    points.iter().map(distance).fold(0.0, f64::max)
}

/// A heavy pendulum at an angle of at most 0.1 pulls with its weight within two per cent, link by
/// link.
#[test]
fn heavy_cable_hangs_by_the_weight_below() {
    let mut run = runner(&edited("heavy_cable", &[]), &[], None);
    while !run.is_done() {
        let report = run.step().unwrap();
        assert!(report.violation < 1e-6);
        assert!(sag(&points(&run, "cable")) < 0.01);
    }
    for (link, lambda) in reaction(&run, "cable.tension").iter().enumerate() {
        let below = 9.81 * (1e4 + 99.0 - link as f64);
        assert!(
            (-lambda / below - 1.0).abs() < 0.02,
            "link {link}: {lambda} {below}"
        );
    }
}

/// The same scene without geometric stiffness: the sideways motion of the links is explicit there.
#[test]
fn heavy_cable_jitters_without_geometric_stiffness() {
    let mut run = runner(
        &edited(
            "heavy_cable",
            &[(
                "step: 0.01",
                "step: 0.01, integrator: Theta, geometric_stiffness: None",
            )],
        ),
        &[],
        None,
    );
    let mut worst = 0.0f64;
    for _ in 0..200 {
        if run.step().is_err() {
            return;
        }
        worst = worst.max(sag(&points(&run, "cable")));
    }
    assert!(worst > 0.5, "{worst}");
}

/// Reference: implicit Euler for `m y'' = -2 T y / l` at `h omega = 10`, by hand.
#[test]
fn taut_bead_comes_to_rest_in_one_step() {
    let mut run = runner(&edited("taut_bead", &[]), &[], None);
    let reference = [
        9.900990099010006e-11,
        -9.704930889128518e-11,
        -2.902064542303668e-12,
    ];
    for expected in reference {
        advance(&mut run, 1);
        let y = points(&run, "bead")[0][1];
        assert!((y - expected).abs() < 1e-6 * expected.abs(), "{y} {expected}");
    }
}

#[test]
fn taut_bead_explodes_without_geometric_stiffness() {
    let edit = ("geometric_stiffness: Full", "geometric_stiffness: None");
    let mut run = runner(&edited("taut_bead", &[edit]), &[], None);
    advance(&mut run, 1);
    let before = points(&run, "bead")[0][1];
    advance(&mut run, 1);
    let growth = points(&run, "bead")[0][1] / before;
    // The sideways force is explicit: y[n+1] = (2 - (h omega)^2) y[n] - y[n-1], from rest -99 and
    // 9701 times the start.
    assert!((growth + 9701.0 / 99.0).abs() < 1e-3, "{growth}");
}
