//! Muscles that move, against Runge and Kutta's method with small steps.

use super::rest::laws;
use super::{LENGTH, advanced, memory, near, stored, tension};
use pliant_model::{ActivationDynamics, At, MuscleTendon, Past};

/// Tension (N), fibre (m) and activation at the end of a motion of the path under an excitation
/// that is switched on at the start and off half way.
fn run(law: &MuscleTendon, path: &dyn Fn(f64) -> f64, from: [f64; 2], end: f64, steps: usize) -> [f64; 3] {
    let h = end / steps as f64;
    let mut internal = vec![from[1], from[0]];
    for k in 1..=steps {
        let t = k as f64 * h;
        let u = if k <= steps / 2 { 0.8 } else { 0.05 };
        internal = advanced(law, path(t), u, &internal, h).0;
    }
    let tension = tension(law, path(end), 0.05, &internal, 0.0);
    [tension, internal[0], internal[1]]
}

fn compare(path: &dyn Fn(f64) -> f64, end: f64) {
    let dynamics = [ActivationDynamics::THELEN, ActivationDynamics::MILLARD];
    for ((law, reference), dynamics) in laws().into_iter().zip(dynamics) {
        let law = law.with_dynamics(dynamics);
        let from = [0.05, reference.at_rest(path(0.0), 0.05)];
        let small = 400;
        let h = end / f64::from(small);
        let mut y = from;
        for k in 0..small {
            let u = if k < small / 2 { 0.8 } else { 0.05 };
            y = reference.step(path, f64::from(k) * h, h, y, u);
        }
        let wanted = [reference.tension(path(end), y[1]), y[1], y[0]];
        let [coarse, fine] = [400, 800].map(|steps| run(&law, path, from, end, steps));
        for (k, unit) in [3500.0, 0.05, 1.0].into_iter().enumerate() {
            let error = |found: [f64; 3]| (found[k] - wanted[k]) / unit;
            let (first, second) = (error(coarse), error(fine));
            // The method has the order 1: half of the step leaves half of the error, and both
            // together an error of the order 2.
            assert!(first.abs() < 0.01, "{k}: {first}");
            assert!(
                (2.0 * second - first).abs() < 0.03 * first.abs() + 1e-6,
                "{k}: {first} {second}"
            );
        }
    }
}

#[test]
fn a_twitch_at_a_constant_length() {
    compare(&|_| 0.295, 0.16);
}

#[test]
fn a_twitch_while_the_path_moves() {
    compare(&|t: f64| 0.295 + 0.004 * (20.0 * t).sin(), 0.16);
}

/// Isokinetic: at a constant speed of the path and a constant activation the fibre has the force of
/// its speed, less what the tendon lets it keep of that.
#[test]
fn isokinetic_shortening() {
    let law = MuscleTendon::thelen(1000.0, 0.1, 0.2).with_tendon_strain(1e-5);
    for speed in [0.1, 0.4, 0.8] {
        // The largest speed is 1 m/s; the fibre passes its optimal length at the end.
        let (h, mut internal) = (1e-5, vec![0.1 + 1e-3 * speed]);
        let mut l = 0.3 + 1e-3 * speed;
        for _ in 0..100 {
            l -= h * speed;
            internal = advanced(&law, l, 1.0, &internal, h).0;
        }
        // The tendon gives way by 2e-6 m, twentieths of the way of a step.
        let wanted = (1.0 - speed) / (1.0 + 4.0 * speed);
        near(tension(&law, l, 1.0, &internal, 0.0) / 1000.0, wanted, 2e-3);
    }
}

/// With the activation dynamics alone: the equation of the implicit Euler method.
#[test]
fn the_activation_follows_the_excitation() {
    let law = MuscleTendon::thelen(1.0, 1.0, 1.0).with_dynamics(ActivationDynamics::THELEN);
    for (a, u) in [(0.0, 1.0), (0.2, 0.9), (0.9, 0.2), (1.0, 0.0), (0.4, 0.4)] {
        for h in [1e-12, 1e-3, 0.05, 3.0, 1e12] {
            let x = advanced(&law, 2.0, u, &[1.0, a], h).0[1];
            let slow = 0.5 + 1.5 * x;
            let time = if u > a { 0.015 * slow } else { 0.05 / slow };
            near((x - a) * time / (time + h), (u - x) * h / (time + h), 1e-14);
            assert!(x >= a.min(u) && x <= a.max(u));
        }
        assert_eq!(advanced(&law, 2.0, u, &[1.0, a], f64::INFINITY).0[1], u);
        assert_eq!(advanced(&law, 2.0, u, &[1.0, a], 0.0).0, [1.0, a]);
    }
    assert!(law.activations(&[1.0, 0.3, 1.0, 0.7]).eq([0.3, 0.7]));
}

/// The work of the path goes into what is stored and what is dissipated, to the first order of the
/// step; with activation dynamics its energy goes there too. No step gives anything back.
#[test]
fn energy_is_stored_or_dissipated() {
    for (law, reference) in laws() {
        for (law, from) in [
            (law.clone(), vec![reference.at_rest(0.295, 0.3)]),
            (law.with_dynamics(ActivationDynamics::MILLARD), vec![0.04, 0.1]),
        ] {
            let left = |steps: u32| {
                let h = 0.1 / f64::from(steps);
                let path = |t: f64| 0.295 + 0.003 * (60.0 * t).sin();
                let (mut internal, mut work, mut lost) = (from.clone(), 0.0, 0.0);
                let before = stored(&law, path(0.0), 0.3, &internal);
                let mut force = tension(&law, path(0.0), 0.3, &internal, 0.0);
                for k in 0..steps {
                    let t = f64::from(k) * h;
                    let (new, heat) = advanced(&law, path(t + h), 0.3, &internal, h);
                    assert!(heat >= 0.0, "{heat}");
                    let (x, past) = (
                        [path(t + h)],
                        Past {
                            internal: &internal,
                            elapsed: h,
                        },
                    );
                    work += memory(&law).brought(At::new(LENGTH, &x), past, &new);
                    internal = new;
                    let next = tension(&law, path(t + h), 0.3, &internal, 0.0);
                    work += 0.5 * (force + next) * (path(t + h) - path(t));
                    force = next;
                    lost += heat;
                }
                let kept = stored(&law, path(0.1), 0.3, &internal) - before;
                (work - kept - lost, lost.abs())
            };
            let ((coarse, scale), (fine, _)) = (left(1000), left(2000));
            assert!(coarse.abs() < 0.1 * scale, "{coarse} {scale}");
            assert!((fine / coarse - 0.5).abs() < 0.05, "{coarse} {fine}");
        }
    }
}

/// On a path that is shorter than tendon and shortest fibre nothing pulls: whatever the rounding of
/// the force there, the fibre stays in its range, the tension is zero and no more is dissipated than
/// was stored.
#[test]
fn slack_tendons_stay_slack() {
    // Lengths whose stop is rounded up and down; without pennation it is that of the curves, where
    // the force may be zero.
    for k in 1..40 {
        let optimal = 0.01 * f64::from(k);
        let (slack, force) = (2.0 * optimal, 1000.0);
        let law = [MuscleTendon::thelen, MuscleTendon::millard][k as usize % 2](force, optimal, slack);
        let law = if k % 3 == 0 { law.with_pennation(0.4) } else { law };
        let mut internal = vec![optimal];
        for step in 0..40 {
            let h = [1e-5, 1e-3, 5e-3, 0.1][step % 4];
            let (path, u) = (optimal * (1.1 - 0.01 * step as f64), [0.0, 0.5, 1.0][step % 3]);
            let before = stored(&law, path, u, &internal);
            let (next, dissipated) = advanced(&law, path, u, &internal, h);
            let released = before - stored(&law, path, u, &next);
            assert!(tension(&law, path, u, &internal, h) == 0.0, "{k} {step}");
            let way = next[0] - internal[0];
            assert!(next[0] > 0.0 && way <= 1e-15, "{k} {step}: {internal:?} {next:?}");
            // The force of the end of a step stands for its way: of first order.
            let bound = released.abs() + force * way.abs() + 1e-12 * force * optimal;
            assert!(
                dissipated >= -1e-12 && dissipated <= bound,
                "{k} {step}: {dissipated}"
            );
            internal = next;
        }
    }
}
