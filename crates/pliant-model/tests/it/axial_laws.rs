//! Ligaments and muscles of a force by length: derivatives, and numbers worked out by hand.

use super::force_fields::{close, energy, force, passes};
use pliant_model::{At, Blocks, ForceField, ForceLengthMuscle, Ligament, Space};

const S: Space = Space::Real(1);

/// The integral of the tension at rest from `a` to `b` by Simpson's rule between the points where
/// the curve bends, which are given with the ends.
fn work(law: &dyn ForceField, points: &[f64]) -> f64 {
    let tension = |l: f64| -force(law, S, &[l], &[0.0])[0];
    let n = 200;
    let part = |w: &[f64]| {
        let h = (w[1] - w[0]) / f64::from(n);
        // Just inside: at the ends a tension may jump.
        let at = |k: i32| tension(w[0] + h * (f64::from(k).clamp(1e-9, f64::from(n) - 1e-9)));
        let sum: f64 = (0..=n)
            .map(|k| f64::from(if k == 0 || k == n { 1 } else { 2 + 2 * (k % 2) }) * at(k))
            .sum();
        sum * h / 3.0
    };
    points.windows(2).map(part).sum()
}

/// Energies are the integrals of tensions: to 1e-8, Simpson's error of smooth parts in 200 pieces
/// and the nudge of its ends.
fn stores_its_work(law: &dyn ForceField, points: &[f64]) {
    let (first, last) = (points[0], points[points.len() - 1]);
    let stored = energy(law, S, &[last]) - energy(law, S, &[first]);
    let done = work(law, points);
    assert!(
        (stored - done).abs() <= 1e-8 * done.abs().max(1.0),
        "{law:?}: stores {stored}, takes {done}"
    );
}

#[test]
fn ligaments() {
    // Slack at .05 m, the toe ends at .053 m.
    let law = |d: f64| Ligament::new(2000.0, 0.05).with_damping(d);
    let knee = |d: f64| {
        Ligament::wisconsin(2000.0, 0.05)
            .with_transition_strain(0.06)
            .with_damping(d)
    };
    for l in [0.01, 0.049, 0.0513, 0.0529, 0.0532, 0.08] {
        for v in [-0.2, -0.01, 0.01, 0.3] {
            passes(&law(0.003), S, &[l, 0.06], &[v, 0.1]);
            passes(&knee(0.003), S, &[l, 0.06], &[v, 0.1]);
            passes(
                &Ligament::new(2000.0, 0.05).with_transition_strain(0.0),
                S,
                &[l],
                &[v],
            );
        }
    }
    // Strains of .03 and .1 at rest: k .03^2/.12 and k (.1 - .03).
    let still = |l: f64| force(&law(0.003), S, &[l], &[0.0])[0];
    close(&[still(0.0515), still(0.055)], &[-15.0, -140.0]);
    close(&[still(0.05), still(0.04)], &[0.0, 0.0]);
    // A rate of strain of 2/s has k d u = 2000 * .003 * 2 = 12 N while it lengthens, and none back.
    let moving = |law: &Ligament, l: f64, v: f64| force(law, S, &[l], &[v])[0];
    close(&[moving(&law(0.003), 0.055, 0.1)], &[-152.0]);
    close(&[moving(&law(0.003), 0.055, -0.1)], &[-140.0]);
    close(&[moving(&law(0.003), 0.049, 0.1)], &[0.0]);
    // That of Wisconsin has them both ways, but does not push.
    close(&[moving(&knee(0.003), 0.055, 0.1)], &[-152.0]);
    close(&[moving(&knee(0.003), 0.055, -0.1)], &[-128.0]);
    close(&[moving(&knee(0.003), 0.0515, -0.5)], &[0.0]);
    // Where it would push, nothing of it changes.
    let (mut k, mut b) = (Blocks::new([(1, 1)]), Blocks::new([(1, 1)]));
    let at = At::new(S, &[0.0515]).moving(&[-0.5]);
    knee(0.003).stiffness(at, &mut k).unwrap();
    knee(0.003).damping(at, &mut b);
    assert_eq!((k.block(0)[0], b.block(0)[0]), (0.0, 0.0));
    // k l_0 (e_t^2/6 + ((.1 - .03)^2 - .03^2)/2) up to a strain of .1.
    let stored = 100.0 * (0.0006 + 0.5 * (0.0049 - 0.0009));
    close(&[energy(&law(0.0), S, &[0.055])], &[stored]);
    stores_its_work(&law(0.0), &[0.04, 0.05, 0.053, 0.07]);
    // The published default of the toe.
    assert_eq!(
        Ligament::new(1.0, 1.0),
        Ligament::new(1.0, 1.0).with_transition_strain(0.06)
    );
    assert_eq!(
        Ligament::wisconsin(1.0, 1.0),
        Ligament::wisconsin(1.0, 1.0).with_transition_strain(0.03)
    );
}

#[test]
fn muscles_of_a_force_by_length() {
    // Optimal length .1 m, largest .15 m, half of it tendon: the fibre is as long as l - .05.
    let peck = ForceLengthMuscle::peck(40.0, 0.1, 0.15, 0.5, 0.2);
    let pai = ForceLengthMuscle::pai(40.0, 0.1, 0.15, 0.5, 0.2);
    let linear = ForceLengthMuscle::linear(40.0, 0.1, 0.15, 0.2);
    let constant = ForceLengthMuscle::constant(40.0, 0.2);
    let simple = ForceLengthMuscle::simple(40.0, 300.0, 0.1);
    let toed = simple.clone().with_toe(0.02, false);
    let slack = simple.clone().with_toe(0.02, true);
    let blemker = ForceLengthMuscle::blemker(40.0, 0.1, 0.14);
    let all = [&peck, &pai, &linear, &constant, &simple, &toed, &slack, &blemker];
    // Places off the ends of their parts: .1 (twice), .075, .125, .15; .04, .06, .14, .16.
    let ends = [
        0.03, 0.04, 0.06, 0.075, 0.08, 0.1, 0.12, 0.125, 0.14, 0.15, 0.16, 0.2,
    ];
    for law in all {
        for a in [0.0, 0.4, 1.0] {
            let law = law.clone().with_activations(&[a]).with_damping(3.0);
            for l in [0.02, 0.05, 0.07, 0.085, 0.093, 0.108, 0.122, 0.133, 0.152, 0.18] {
                for v in [-0.3, 0.2] {
                    passes(&law, S, &[l], &[v]);
                }
            }
            stores_its_work(&law, &ends);
        }
    }
    let pull = |law: &ForceLengthMuscle, a: f64, l: f64| {
        -force(&law.clone().with_activations(&[a]), S, &[l], &[0.0])[0]
    };
    // A raised cosine: all at the optimal length, half a quarter of the fibre off it, none at the
    // ends; the passive share is half there at .125 m.
    close(&[pull(&peck, 1.0, 0.1), pull(&peck, 0.5, 0.1)], &[40.0, 20.0]);
    close(
        &[pull(&peck, 1.0, 0.0875), pull(&pai, 1.0, 0.0875)],
        &[20.0, 20.0],
    );
    close(&[pull(&peck, 1.0, 0.125), pull(&pai, 1.0, 0.125)], &[4.0, 44.0]);
    close(&[pull(&peck, 1.0, 0.2), pull(&pai, 1.0, 0.2)], &[8.0, 48.0]);
    close(
        &[pull(&linear, 0.5, 0.125), pull(&linear, 0.5, 0.09)],
        &[14.0, 0.0],
    );
    close(
        &[pull(&constant, 0.5, 0.01), pull(&constant, 0.0, 3.0)],
        &[28.0, 8.0],
    );
    // A spring of 300 N/m that pushes below .1 m; over a toe of .02 m it lags by half of it.
    close(
        &[pull(&simple, 0.5, 0.13), pull(&simple, 0.0, 0.09)],
        &[29.0, -3.0],
    );
    close(&[pull(&toed, 0.0, 0.13), pull(&toed, 0.0, 0.09)], &[6.0, -0.75]);
    close(&[pull(&slack, 0.0, 0.13), pull(&slack, 1.0, 0.09)], &[6.0, 40.0]);
    // Blemker's parabolas at stretches of .5, .8 and 1.5; exponentials at 1.2, and at 1.6 the
    // tangent from 1.4.
    let passive = |s: f64| 40.0 * 0.05 * ((6.6 * (s - 1.0)).exp() - 1.0);
    close(
        &[pull(&blemker, 1.0, 0.05), pull(&blemker, 1.0, 0.08)],
        &[3.6, 33.6],
    );
    close(&[pull(&blemker, 0.0, 0.12)], &[passive(1.2)]);
    close(&[pull(&blemker, 1.0, 0.15) - pull(&blemker, 0.0, 0.15)], &[3.6]);
    let tangent = 40.0 * 0.05 * 6.6 * (6.6f64 * 0.4).exp() * 0.2;
    close(&[pull(&blemker, 0.0, 0.16)], &[passive(1.4) + tangent]);
    close(
        &[pull(&blemker.clone().with_exponential(0.1, 3.0), 0.0, 0.12)],
        &[4.0 * (0.6f64.exp() - 1.0)],
    );
    // The dashpot, and an activation for each.
    let two = peck.clone().with_activations(&[0.25, 0.75]).with_damping(2.0);
    close(&force(&two, S, &[0.1, 0.1], &[0.5, -0.5]), &[-11.0, -29.0]);
}
