//! SDIRK2 from soft to hard, and the time that methods take for an error: tables and pictures.

use pliant::Error;
use pliant::prelude::Treatment;
use pliant_benches::orders::stiffness::{CHAINS, Pair, STEP};
use pliant_benches::orders::work::{SCENES, Scene, TIME, Work};
use pliant_benches::orders::{Axis, Curve, Panel, curves_svg, methods};

const TREATMENTS: [(Treatment, &str); 2] = [
    (Treatment::Stiffness, "stiffness"),
    (Treatment::Compliance, "compliance"),
];

/// Prints errors and orders of SDIRK2 over the fastest frequency times the step, and draws them.
pub(super) fn stiffness() -> Result<String, Error> {
    let (mut errors, mut orders) = (Vec::new(), Vec::new());
    for chain in CHAINS {
        println!("{}: largest error in 1 s (m)\n", chain.name);
        let per = "h = 10 ms | 5 ms | order";
        println!("| h omega | stiffness: {per} | compliance: {per} |\n|---|---|---|---|---|---|---|");
        let mut found = [Vec::new(), Vec::new()];
        for k in 0..=16 {
            let product = 10f64.powf(f64::from(k) / 4.0 - 1.0);
            print!("| {product:.3} |");
            for (pairs, (treatment, _)) in found.iter_mut().zip(TREATMENTS) {
                let pair = chain.errors(product, treatment)?;
                let [coarse, fine] = pair.errors;
                print!(" {coarse:.1e} | {fine:.1e} | {:.2} |", pair.order());
                pairs.push(pair);
            }
            println!();
        }
        println!();
        // Points over the line of the other treatment.
        let curve = |name: usize, pairs: &[Pair], of: &dyn Fn(&Pair) -> f64| Curve {
            name,
            points: pairs.iter().map(|p| (p.product, of(p))).collect(),
            joined: name < 2,
        };
        let panel = |up, curves| Panel {
            title: chain.name.to_owned(),
            subtitle: format!("steps of {} ms and {} ms, 1 s", 1e3 * STEP, 5e2 * STEP),
            across: ("h omega at 10 ms", Axis::Decades(-1, 3)),
            up,
            curves,
        };
        let at = |i: usize, k: usize| curve(2 * i + k, &found[i], &move |p| p.errors[k]);
        errors.push(panel(
            ("error (m)", Axis::Decades(-7, 0)),
            vec![at(0, 0), at(0, 1), at(1, 0), at(1, 1)],
        ));
        let order = |i: usize| curve(2 * i, &found[i], &Pair::order);
        orders.push(panel(("order", Axis::Units(0, 4)), vec![order(0), order(1)]));
    }
    let names: Vec<String> = TREATMENTS
        .iter()
        .flat_map(|(_, name)| [10, 5].map(|h| format!("{name}, h = {h} ms")))
        .collect();
    errors.extend(orders);
    Ok(curves_svg(
        "SDIRK2 from soft to hard: errors, and the order between both steps",
        &errors,
        CHAINS.len(),
        &names,
    ))
}

/// MuJoCo 4.0 on the chain of ten, of another run: minimal coordinates with RK4 at 10 ms and at
/// 1 ms, and its hardest equality constraints with the integrator `discrete` at both; seconds per
/// simulated second, error of the tip (m).
const MUJOCO: [(&str, [(f64, f64); 2]); 2] = [
    (
        "MuJoCo, tree, RK4 (another run)",
        [(100.0 / 39.0e3, 1e-3), (1000.0 / 39.5e3, 1e-7)],
    ),
    (
        "MuJoCo, connect, discrete (another run)",
        [(100.0 / 39.2e3, 2e-2), (1000.0 / 39.5e3, 3e-3)],
    ),
];

/// Prints time and error of all methods on chains, beside Rapier where it is compiled in, and draws
/// them.
pub(super) fn work(peers: bool) -> Result<String, Error> {
    let mut names: Vec<String> = methods()
        .iter()
        .filter(|m| m.rows)
        .map(|m| m.name.to_owned())
        .collect();
    if peers {
        names.push(rapier_name());
    }
    names.extend(MUJOCO.iter().map(|(name, _)| (*name).to_owned()));
    let mut panels = Vec::new();
    for scene in SCENES {
        println!(
            "{}: error of the tip at {TIME} s (m), seconds per simulated second\n",
            scene.name
        );
        println!("| method | step, ms | parts | error | seconds per second |\n|---|---|---|---|---|");
        let mut all = scene.methods()?;
        if peers {
            all.extend(rapier(&scene));
        }
        for work in &all {
            show(work);
        }
        summarise(&scene, &all);
        let index = |name: &str| names.iter().position(|n| n == name);
        let mut curves: Vec<Curve> = (all.iter())
            .filter_map(|work| {
                Some(Curve {
                    name: index(&work.name)?,
                    points: work.runs.iter().map(|r| (r.error, r.seconds)).collect(),
                    joined: true,
                })
            })
            .collect();
        if scene.links == 10 {
            curves.extend(MUJOCO.iter().filter_map(|(name, points)| {
                Some(Curve {
                    name: index(name)?,
                    points: points.map(|(seconds, error)| (error, seconds)).to_vec(),
                    joined: false,
                })
            }));
        }
        panels.push(Panel {
            title: scene.name.to_owned(),
            subtitle: format!("time on the clock over the error of the tip at {TIME} s"),
            across: ("error (m)", Axis::Decades(-7, 0)),
            up: ("s per s", Axis::Decades(-3, 1)),
            curves,
        });
    }
    Ok(curves_svg("Work for precision", &panels, 2, &names))
}

fn show(work: &Work) {
    for run in &work.runs {
        println!(
            "| {} | {:.3} | {} | {:.1e} | {:.2e} |",
            work.name,
            1e3 * run.step,
            run.parts,
            run.error,
            run.seconds
        );
    }
}

/// Seconds per simulated second within each power of ten, between the runs on both sides of it.
fn summarise(scene: &Scene, all: &[Work]) {
    println!(
        "\n| {}, within | 1e-1 m | 1e-2 | 1e-3 | 1e-4 | 1e-5 | 1e-6 |",
        scene.name
    );
    println!("|---|---|---|---|---|---|---|");
    for work in all {
        let within = (1..=6).map(|k| {
            let bound = 10f64.powi(-k);
            // The cheapest run that stays within it, as do all with shorter steps.
            let last_beyond = work.runs.iter().rposition(|r| r.error > bound);
            let rest = &work.runs[last_beyond.map_or(0, |i| i + 1)..];
            let least = rest.iter().map(|r| r.seconds).fold(f64::INFINITY, f64::min);
            match least.is_finite() {
                true => format!("{least:.1e}"),
                false => String::new(),
            }
        });
        println!("| {} | {} |", work.name, within.collect::<Vec<_>>().join(" | "));
    }
    println!();
}

#[cfg(feature = "peers")]
fn rapier(scene: &Scene) -> Vec<Work> {
    vec![scene.rapier()]
}

#[cfg(not(feature = "peers"))]
fn rapier(_: &Scene) -> Vec<Work> {
    Vec::new()
}

fn rapier_name() -> String {
    "Rapier, steps of 10 ms in parts".to_owned()
}
