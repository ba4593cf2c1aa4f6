//! Rubber that relaxes and moves, with nothing but a scene.

use super::*;

fn scene(material: &str, more: &str) -> String {
    format!(
        "(gravity: (0, 0, -9.81), run: (duration: 1.5, step: 0.005), nodes: [Solid(name: \"band\",
            shape: Box(size: (0.03, 0.03, 0.2), cells: (1, 1, 6)), material: {material}, density: 1000,
            viscoelastic: [(time: 0.05, {more}, fix_boxes: [((-1, -1, 0.199), (1, 1, 1))])])"
    )
}

/// A band that hangs down from rest is stretched by its weight, swings and comes to rest: the run
/// ends well, without a word about its energy, and the work of the weight is heat.
#[test]
fn rubber_bands_hang_down() {
    for (material, more) in [
        ("NeoHookean(young: 2e4, poisson: 0.4)", "share: 0.5)]"),
        ("MooneyRivlin(c1: 2500, c2: 1000, bulk: 3e4)", "share: 0.5)]"),
        (
            "MooneyRivlin(c1: 2500, c2: 1000, bulk: 1e7)",
            "shear: 0.5)], incompressibility: PerElement",
        ),
    ] {
        let file = SceneFile::from_text("band.ron".as_ref(), &scene(material, more), Format::Ron).unwrap();
        let mut run = runner(&file, &[], None);
        let start = run.simulation().present_energies();
        let (mut damped, mut given) = (0.0, 0.0);
        let mut end = start;
        while !run.is_done() {
            let report = run.step().unwrap_or_else(|e| panic!("{material}: {e}"));
            damped -= report.ledger.damping;
            given += report.ledger.damping.max(0.0);
            end = report.energies;
        }
        let low = points(&run, "band").iter().map(|x| x[2]).fold(0.0, f64::min);
        let lost = start.total() - end.total();
        println!("{material}: {low} m, {damped} J of {lost} J, {given} J given back");
        assert!(
            low < -0.01 && damped > 0.97 * lost && damped < 1.001 * lost,
            "{material} {low} {damped} {lost}"
        );
        assert!(given <= 1e-12 * damped, "{material} {given} {damped}");
        let outcome = runner(&file, &[], None).run(|_| {});
        assert_eq!(outcome.summary.status, "ok", "{material}");
        assert!(
            outcome.summary.warnings.is_empty(),
            "{material} {:?}",
            outcome.summary.warnings
        );
    }
}
