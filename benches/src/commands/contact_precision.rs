//! Time over accuracy: `cargo xtask bench contact-scenes --precision [--sdirk2] [--steps=N]
//! [scene ...]` runs each scene with `ContactOptions::accuracy` from 1e-2 to 1e-10.
//!
//! A row has the time of the mean and of the worst step, De Saxcé's residual of the worst and of
//! the median step, the largest overlap, and the largest net force on a body or point in the last
//! step, as a share of its weight: where everything rests, the share by which forces are wrong.

use super::Ended;
use super::contact_profile::{find, names_or_quick};
use pliant::dense::Vec3;
use pliant::prelude::*;
use pliant_benches::timing::clock;
use std::process::ExitCode;

/// The accuracies that are tried.
const ACCURACIES: [f64; 7] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10];

/// Velocities of all points and centres of mass (m/s).
fn velocities(s: &Simulation, out: &mut Vec<[f64; 3]>) {
    out.clear();
    for node in s.model().nodes() {
        if node.first_dof().is_none() {
            continue;
        }
        let v = &s.state().velocities[node.velocity_range()];
        match node.space {
            Space::Rigid3 => out.extend(v.as_chunks::<6>().0.iter().map(|v| [v[0], v[1], v[2]])),
            Space::Real(3) => out.extend_from_slice(v.as_chunks::<3>().0),
            Space::Real(_) => {}
        }
    }
}

/// The largest change of a velocity in a step of length `h` (s), as a share of that by gravity.
fn unbalanced(s: &Simulation, before: &[[f64; 3]], after: &[[f64; 3]], h: f64) -> f64 {
    let weight = h * Vec3::from(s.problem().gravity()).norm();
    let changes = before.iter().zip(after);
    let largest = changes.fold(0.0f64, |most, (a, b)| {
        most.max((Vec3::from(*b) - Vec3::from(*a)).norm())
    });
    largest / weight
}

pub(super) fn run(names: &[&String], most: usize, integrator: &Integrator) -> Ended {
    println!(
        "| scene | accuracy | ms per step | slowest | De Saxcé, worst | median | overlap m | net force of the weight, at the end |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for name in names_or_quick(names) {
        for accuracy in ACCURACIES {
            let (mut scene, steps) = find(&name, integrator, Some(accuracy))?;
            let (mut times, mut residuals) = (Vec::new(), Vec::new());
            let (mut overlap, mut net) = (0.0f64, f64::NAN);
            let (mut before, mut after) = (Vec::new(), Vec::new());
            let mut note = String::new();
            for _ in 0..steps.min(most) {
                velocities(scene.simulation(), &mut before);
                let start = scene.simulation().time();
                let (time, step) = clock(|| scene.step());
                match step {
                    None => break,
                    Some(Ok(report)) => {
                        times.push(1e3 * time);
                        residuals.push(report.contacts.de_saxce);
                        overlap = overlap.max(report.contacts.overlap);
                    }
                    Some(Err(error)) => {
                        note = format!(" stopped: {error}");
                        break;
                    }
                }
                velocities(scene.simulation(), &mut after);
                let h = scene.simulation().time() - start;
                net = unbalanced(scene.simulation(), &before, &after, h);
            }
            residuals.sort_by(f64::total_cmp);
            let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
            let slowest = times.iter().fold(0.0f64, |a, t| a.max(*t));
            let at = |share: f64| match residuals.len() {
                0 => f64::NAN,
                n => residuals[((n - 1) as f64 * share) as usize],
            };
            println!(
                "| {name} | {accuracy:.0e} | {mean:.2} | {slowest:.0} | {:.0e} | {:.0e} | {overlap:.0e} | {net:.0e} |{note}",
                at(1.0),
                at(0.5),
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}
