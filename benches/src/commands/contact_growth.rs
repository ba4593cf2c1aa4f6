//! How the time of a step grows with the number of bodies: `cargo xtask bench contact-scenes
//! --growth [--peers] [--sdirk2]`.
//!
//! Pyramids at rest, behind their first step, and balls that fall into a box; the exponent is that
//! of the line through the logarithms, by least squares.

use super::Ended;
use super::contact_scenes::H;
use pliant::prelude::*;
use pliant_benches::heaps::Heap;
use pliant_benches::timing::clock;
use std::process::ExitCode;

/// A family of heaps: its members, and the steps of 1/60 s that are taken of each.
struct Family {
    name: &'static str,
    make: fn(usize) -> Heap,
    sizes: &'static [usize],
    steps: usize,
}

const FAMILIES: [Family; 2] = [
    Family {
        name: "pyramids",
        make: Heap::pyramid,
        sizes: &[4, 6, 9, 14, 20, 32, 45],
        steps: 20,
    },
    Family {
        name: "heaps of balls",
        make: Heap::balls,
        sizes: &[25, 50, 100, 200],
        steps: 60,
    },
];

/// Milliseconds of a step on the average, behind the first one.
fn mean(steps: usize, mut step: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    step()?;
    let mut sum = 0.0;
    for _ in 1..steps {
        let (time, taken) = clock(&mut step);
        taken?;
        sum += time;
    }
    Ok(1e3 * sum / (steps - 1) as f64)
}

fn ours(heap: &Heap, steps: usize, integrator: &Integrator) -> Result<f64, Error> {
    let options = Options {
        integrator: integrator.clone(),
        ..Options::theta()
    };
    let (mut simulation, _) = heap.simulation(options)?;
    mean(steps, || simulation.step(H).map(drop))
}

#[cfg(feature = "peers")]
fn rapier(heap: &Heap, steps: usize) -> Result<Option<f64>, Error> {
    use pliant_benches::heaps::peer::{Peer, Setting};
    let setting = Setting {
        name: "default",
        steps: 1,
        iterations: 4,
        stiffer: None,
    };
    let mut peer = Peer::new(heap, setting, H);
    mean(steps, || {
        peer.advance();
        Ok(())
    })
    .map(Some)
}

#[cfg(not(feature = "peers"))]
fn rapier(_: &Heap, _: usize) -> Result<Option<f64>, Error> {
    Ok(None)
}

/// The exponent of a power law through `(n, t)`.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(n, t)| (n.ln(), t.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / logs.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>();
    sum(&|p| (p.0 - x) * (p.1 - y)) / sum(&|p| (p.0 - x).powi(2))
}

pub(super) fn run(integrator: &Integrator) -> Ended {
    println!("| family | bodies | pliant, ms per step | rapier, default |");
    println!("|---|---|---|---|");
    for family in FAMILIES {
        let [mut own, mut theirs] = [Vec::new(), Vec::new()];
        for size in family.sizes {
            let heap = (family.make)(*size);
            let bodies = heap.bodies.len();
            let time = ours(&heap, family.steps, integrator)?;
            own.push((bodies as f64, time));
            let peer = rapier(&heap, family.steps)?;
            theirs.extend(peer.map(|t| (bodies as f64, t)));
            let peer = peer.map_or_else(String::new, |t| format!("{t:.3}"));
            println!("| {} | {bodies} | {time:.3} | {peer} |", family.name);
        }
        let of = |points: &[(f64, f64)]| match points {
            [] => String::new(),
            points => format!("{:.2}", exponent(points)),
        };
        println!("| {} | exponent | {} | {} |", family.name, of(&own), of(&theirs));
    }
    Ok(ExitCode::SUCCESS)
}
