//! Scenes of metals that yield, at small and at finite strains.

use super::{advance, edited as scene_edited, points, runner};

/// Taylor's bar: its length and foot at the end, which others have on fine meshes: 21.42 to 21.44 mm
/// (runs of the elements of Foulk et al. 2021), and a radius of 7.22 mm (Foulk et al.) or 7.12 mm
/// (Simo 1992). The shipped mesh has two elements through the radius.
#[test]
fn taylors_bar_becomes_as_short_as_that_of_others() {
    let mut run = runner(&scene_edited("taylor_bar", &[]), &[], None);
    let start = points(&run, "rod");
    let foot: Vec<usize> = (0..start.len()).filter(|k| start[*k][2] < 1e-9).collect();
    while !run.is_done() {
        run.step().unwrap();
    }
    let points = points(&run, "rod");
    // The wall has come up by 227 m/s in 80 microseconds; within the first step it gets its speed.
    let wall = points[foot[0]][2];
    assert!((wall - 227.0 * 8e-5).abs() < 227.0 * 1e-6, "{wall}");
    assert!(foot.iter().all(|k| (points[*k][2] - wall).abs() < 1e-12));
    let length = points.iter().fold(0.0, |a: f64, x| a.max(x[2])) - wall;
    let radius = foot.iter().map(|k| points[*k][0].hypot(points[*k][1]));
    let radius = radius.fold(0.0, f64::max);
    println!("Taylor's bar: length {length} m, foot {radius} m");
    // The mesh is coarse, and the wall gets its speed within the first of 80 steps.
    assert!((length / 0.02143 - 1.0).abs() < 0.02, "{length}");
    assert!((radius / 0.00717 - 1.0).abs() < 0.03, "{radius}");
}

/// A wire without hardening becomes a plastic hinge at its clamp, and springs back by what its
/// force bends elastically.
#[test]
fn a_paper_clip_stays_deflected() {
    let mut run = runner(&scene_edited("paper_clip", &[]), &[], None);
    let tip = |run: &pliant_run::Runner| points(run, "wire")[38][2] - 5e-4;
    advance(&mut run, 42);
    assert!((tip(&run) + 0.004).abs() < 1e-12, "{}", tip(&run));
    let force: f64 = [38, 51]
        .map(|k| {
            let simulation = run.simulation();
            let node = simulation.model().node_named("wire").unwrap();
            simulation.support_force(node, k)[2]
        })
        .iter()
        .sum();
    advance(&mut run, 36);
    // The hinge of a free section, and of one that cannot grow narrow; the wire turns by 0.2, which
    // shortens the lever by 2 %.
    let hinge = 4e8 * 1e-9 / (4.0 * 0.03);
    let sprung = tip(&run) + 0.004;
    println!("paper clip: force {force} N, springs back by {sprung} m");
    assert!(
        -force > hinge && -force < 1.02 * 2.0 / 3.0f64.sqrt() * hinge,
        "{force} {hinge}"
    );
    // What is elastic: F L^3/(3 E I), by a wire that is bent and clamped in width too.
    let elastic = -force * 0.03f64.powi(3) / (3.0 * 2e11 * 1e-12 / 12.0);
    assert!((sprung - elastic).abs() < 0.05 * elastic, "{sprung} {elastic}");
    // And there it stays.
    let before = tip(&run);
    advance(&mut run, 2);
    assert!((tip(&run) - before).abs() < 1e-9, "{} {before}", tip(&run));
}
