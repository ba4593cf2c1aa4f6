//! The beam in tetrahedra that other programs are measured with, and the parts of its steps.

use pliant::continuum::Solid;
use pliant_benches::beams;
use pliant_benches::solid_sizes::clamped;
use pliant_benches::timing::clock;
use std::error::Error;

/// Prints the table of a cantilever of 1.0 x 0.1 x 0.1 m along x under its weight, 1e7 Pa, 0.3 and
/// 1000 kg/m^3, in `cx x cy x cy` cubes of six tetrahedra each, clamped at x = 0, with lumped
/// masses: 500 steps of 0.01 s from rest on `threads` threads, with the seconds that the stepping
/// thread was not waiting for a processor. The parts are means over all steps but the first, which
/// plans the factor.
pub(super) fn table(threads: usize) -> Result<(), Box<dyn Error>> {
    println!(
        "| nodes | tetrahedra | steps/s | ms per step | evaluate | fill | factor | solve | other | tip (m) |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for cells in [[10, 2], [20, 4], [40, 8]] {
        let mesh = beams::mesh(cells)?;
        let (mut simulation, nodes) = clamped(&Solid::corotational(beams::YOUNG, beams::POISSON), &mesh)?;
        simulation.options.tuning.solver.threads = threads;
        let (mut all, mut parts) = (0.0, [0.0; 5]);
        for step in 0..500 {
            let (seconds, report) = clock(|| simulation.step(0.01));
            let t = report?.timings;
            all += seconds;
            if step > 0 {
                let other = t.total() - t.update - t.fill - t.factor - t.solve;
                let times = [t.update, t.fill, t.factor, t.solve, other];
                for (part, time) in parts.iter_mut().zip(times) {
                    *part += time.as_secs_f64();
                }
            }
        }
        let now = simulation.positions(nodes).as_chunks::<3>().0;
        let ends = beams::end_nodes(&mesh);
        let tip = ends.iter().map(|k| now[*k][2]).sum::<f64>() / ends.len() as f64 - 0.05;
        let parts = parts.map(|p| format!("{:.2}", 1e3 * p / 499.0)).join(" | ");
        println!(
            "| {} | {} | {:.1} | {:.2} | {parts} | {tip:.6} |",
            mesh.nodes.len(),
            mesh.elements.len(),
            500.0 / all,
            1e3 * all / 500.0
        );
    }
    Ok(())
}
