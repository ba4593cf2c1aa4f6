//! Systems with bounded rows.

use super::linear::plant;
use super::{Knowledge, OWN, kkt};
use crate::tools::{INF, Random, definite, identity};
use pliant_lab::exchange::Record;
use pliant_solvers::KktSystem;

pub(super) fn add(out: &mut Vec<Record>) {
    // A mass of 2 pushed by 3 per step against a motor of at most 1: it moves by (3 - 1)/2.
    let mut motor = KktSystem::dense(&[2.0], &[1.0], &[0.0]).unwrap();
    motor.c[0] = 3.0;
    motor.bounds[0] = (-1.0, 1.0);
    let record = kkt("motor-too-weak", "a motor at its limit", OWN, motor.clone());
    out.push(record.solved_by(&[1.0], &[-1.0], 1e-12));
    motor.bounds[0] = (-5.0, 5.0);
    let record = kkt("motor-strong", "a motor that holds", OWN, motor);
    out.push(record.solved_by(&[0.0], &[-3.0], 1e-12));

    let mut stop = KktSystem::dense(&identity(2), &[1.0, 0.0, 0.0, 1.0], &[0.0; 2]).unwrap();
    stop.c.copy_from_slice(&[-1.0, 2.0]);
    stop.bounds.fill((0.0, INF));
    let record = kkt("two-stops", "one stop works, one is left", OWN, stop.clone());
    out.push(record.solved_by(&[0.0, 2.0], &[1.0, 0.0], 1e-12));
    stop.bounds.fill((0.0, 0.0));
    let record = kkt(
        "rows-off",
        "rows that are switched off: both bounds zero",
        OWN,
        stop,
    );
    out.push(record.solved_by(&[-1.0, 2.0], &[0.0, 0.0], 1e-12));

    // Two motors of different speeds on one mass: 1 wants x = 1 with up to 2, the other x = -1 with
    // up to 1.
    let mut fight = KktSystem::dense(&[1.0], &[1.0, 1.0], &[0.0; 2]).unwrap();
    fight.b.copy_from_slice(&[-1.0, 1.0]);
    fight.bounds.copy_from_slice(&[(-2.0, 2.0), (-1.0, 1.0)]);
    let record = kkt(
        "motors-fight",
        "two motors of different speeds: the stronger one wins",
        OWN,
        fight,
    );
    out.push(record.solved_by(&[1.0], &[2.0, -1.0], 1e-9));

    // Dry friction twice on the same coordinate: less than both can hold.
    let mut dry = KktSystem::dense(&[1.0], &[1.0, 1.0], &[0.0; 2]).unwrap();
    dry.c[0] = 1.5;
    dry.bounds.fill((-1.0, 1.0));
    let record = kkt(
        "friction-twice",
        "two equal rows share a load below their limits",
        OWN,
        dry.clone(),
    );
    out.push(record.solved_by(&[0.0], &[], 1e-9));
    dry.c[0] = 3.0;
    let record = kkt("friction-twice-slips", "the same beyond their limits", OWN, dry);
    out.push(record.solved_by(&[1.0], &[-1.0, -1.0], 1e-9));

    for (name, about, n, m, seed) in [
        (
            "bounds-10",
            "random bounded rows with a planted answer",
            12,
            10,
            20,
        ),
        ("bounds-30", "the same, more rows", 40, 30, 21),
        ("bounds-compliant", "the same, compliant rows", 20, 24, 22),
    ] {
        let mut random = Random(seed);
        let r = if name == "bounds-compliant" { 0.1 } else { 0.0 };
        let (w, j) = (definite(&mut random, n), random.numbers(m * n));
        let mut s = KktSystem::dense(&w, &j, &vec![r; m]).unwrap();
        let x = random.numbers(n);
        let mut mu = Vec::new();
        let mut miss = Vec::new();
        for i in 0..m {
            let size = 0.1 + random.number().abs();
            let (bounds, own, velocity) = match random.below(4) {
                0 => ((-size, size), size, -random.number().abs()),
                1 => ((-size, size), -size, random.number().abs()),
                2 => ((0.0, INF), size, 0.0),
                _ => ((-2.0 * size, 2.0 * size), 0.3 * size, 0.0),
            };
            s.bounds[i] = bounds;
            mu.push(own);
            miss.push(velocity);
        }
        plant(&mut s, &x, &mu);
        for (b, w) in s.b.iter_mut().zip(&miss) {
            *b += w;
        }
        out.push(kkt(name, about, OWN, s).solved_by(&x, &mu, 1e-8));
    }
}
