//! Fibres of muscles against tables of another program, closed forms, and their formulas written
//! again on hyper-dual numbers.

use super::materials::{GRADIENT, tangent};
use pliant_continuum::{MuscleFibres, MuscleLaw, Tangent};
use pliant_model::dual::{Dual, DualNum};
use pliant_model::{At, Blocks, ForceField, Model, Potential, Treatment};

/// Energies and stresses over stretch, as `muscle.py` has them by numpy and scipy.
const REFERENCE: &str = include_str!("../../../../benches/reference/muscle.txt");

const GENERIC: MuscleLaw = MuscleLaw::Generic {
    stress: 3e4,
    passive: 2e3,
    exponent: 6.6,
    straight: 1.4,
};

/// Fibres that need several panels of their integral.
const STEEP: MuscleLaw = MuscleLaw::Generic {
    stress: 3e4,
    passive: 2.0,
    exponent: 60.0,
    straight: 1.3,
};

const BLEMKER: MuscleLaw = MuscleLaw::Blemker {
    stress: 3e5,
    optimal: 1.1,
    passive: 0.05,
    exponent: 6.6,
    straight: 1.5,
    along: 0.0,
    across: 0.0,
};

const FULL: MuscleLaw = MuscleLaw::Blemker {
    stress: 3e5,
    optimal: 1.1,
    passive: 0.05,
    exponent: 6.6,
    straight: 1.5,
    along: 4e4,
    across: 7e4,
};

fn at<'a>(law: &'a MuscleFibres, f: &'a [f64]) -> At<'a> {
    At::new(GRADIENT, f)
        .moving(&[0.0; 18][..f.len()])
        .with_inputs(law.inputs())
}

/// First Piola-Kirchhoff stress of one point of the volume one.
fn stress(law: &MuscleFibres, f: &[f64; 9]) -> [f64; 9] {
    let mut force = [0.0; 9];
    law.add_force(at(law, f), &mut force);
    force.map(|f| -f)
}

fn fibres(law: MuscleLaw, direction: [f64; 3], activation: f64) -> MuscleFibres {
    MuscleFibres::new(law, &[direction], &[1.0]).with_activation(activation)
}

/// The tolerances are those of the digits of the table, 13 of them, and of energies where `w`
/// passes through zero.
#[test]
fn energy_and_stress_over_stretch_are_those_of_the_table() {
    let mut count = 0;
    for line in REFERENCE.lines().filter(|line| line.starts_with("tension")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let law = match words[1] {
            "generic" => GENERIC,
            "steep" => STEEP,
            _ => BLEMKER,
        };
        let numbers: Vec<f64> = words[2..].iter().map(|w| w.parse().unwrap()).collect();
        let [a, l, energy, sigma] = numbers[..] else {
            panic!("{line}");
        };
        let law = fibres(law, [0.0, 2.0, 0.0], a);
        let thin = 1.0 / l.sqrt();
        let f = [thin, 0.0, 0.0, 0.0, l, 0.0, 0.0, 0.0, thin];
        let found = law.energy(at(&law, &f));
        // Densities are about a tenth of the largest stress.
        assert!(
            (found - energy).abs() < 2e-12 * energy.abs() + 1e-10,
            "{line}: {found}"
        );
        let p = stress(&law, &f);
        let found = p[4] * l - p[0] * thin;
        assert!(
            (found - sigma).abs() < 2e-12 * sigma.abs() + 1e-9,
            "{line}: {found}"
        );
        count += 1;
    }
    assert_eq!(count, 99);
}

/// Tensions of the documentation, written again.
fn tension(law: MuscleLaw, l: Dual, a: f64) -> Dual {
    let passive = |s: Dual, p: f64, k: f64, last: f64| {
        if s.re <= 0.0 {
            Dual::from(0.0)
        } else if s.re < last {
            ((s * k).exp() - 1.0) * p
        } else {
            (s - last) * (p * k * (k * last).exp()) + p * ((k * last).exp() - 1.0)
        }
    };
    match law {
        MuscleLaw::Generic {
            stress,
            passive: p,
            exponent,
            straight,
        } => passive(l - 1.0, p, exponent, straight - 1.0) / l + a * stress,
        MuscleLaw::Blemker {
            stress,
            optimal,
            passive: p,
            exponent,
            straight,
            ..
        } => {
            let u = l / optimal;
            let t = if u.re < 1.0 { -u + 1.0 } else { u - 1.0 };
            let f = match t.re {
                t if t > 0.6 => Dual::from(0.0),
                t if t > 0.4 => (Dual::from(0.6) - if u.re < 1.0 { -u + 1.0 } else { u - 1.0 }).powi(2) * 9.0,
                _ => -t * t * 4.0 + 1.0,
            };
            (passive(u - 1.0, p, exponent, straight / optimal - 1.0) + f * a) * (stress / optimal)
        }
        other => panic!("no formula for {other:?}"),
    }
}

/// The energy whose derivative is the tension; its value is that of the derivative over `ln l` by
/// Simpson's rule between the kinks.
fn energy(law: MuscleLaw, l: Dual, a: f64) -> Dual {
    let t = tension(law, l, a);
    Dual::new(
        integral(law, l.re, a),
        t.re * l.eps1,
        t.re * l.eps2,
        t.re * l.eps1eps2 + t.eps1 * l.eps2,
    )
}

fn integral(law: MuscleLaw, l: f64, a: f64) -> f64 {
    let (start, kinks) = match law {
        MuscleLaw::Generic { straight, .. } => (1.0, vec![1.0, straight]),
        MuscleLaw::Blemker {
            optimal, straight, ..
        } => {
            let of_curve = [0.4, 0.6, 1.0, 1.4, 1.6].map(|u| u * optimal);
            (optimal, [&of_curve[..], &[straight]].concat())
        }
        other => panic!("no formula for {other:?}"),
    };
    let (low, high) = (f64::min(start, l), f64::max(start, l));
    let mut ends: Vec<f64> = kinks.into_iter().filter(|k| (low..high).contains(k)).collect();
    ends.extend([low, high]);
    ends.sort_by(f64::total_cmp);
    let value = |l: f64| tension(law, Dual::from(l), a).re;
    let mut sum = 0.0;
    for pair in ends.windows(2) {
        let h = (pair[1] - pair[0]) / 400.0;
        for k in 0..400 {
            // Inside of the piece, at whose ends the formulas change.
            let x = pair[0] + h * (f64::from(k) + 1e-12);
            sum += h / 6.0 * (value(x) + 4.0 * value(x + 0.5 * h) + value(x + h * (1.0 - 2e-12)));
        }
    }
    sum.copysign(l - start)
}

/// The energy of the documentation over the entries of `F`.
fn density(law: MuscleLaw, direction: [f64; 3], a: f64, f: &[Dual]) -> Dual {
    let size = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    let n = direction.map(|x| x / size);
    let [p, q, r] = [0, 1, 2].map(|i| [f[3 * i], f[3 * i + 1], f[3 * i + 2]]);
    let j = p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0])
        + p[2] * (q[0] * r[1] - q[1] * r[0]);
    let scale = j.powf(-2.0 / 3.0);
    let c = |i: usize, k: usize| (p[i] * p[k] + q[i] * q[k] + r[i] * r[k]) * scale;
    let image: [Dual; 3] = std::array::from_fn(|i| c(i, 0) * n[0] + c(i, 1) * n[1] + c(i, 2) * n[2]);
    let i4 = image[0] * n[0] + image[1] * n[1] + image[2] * n[2];
    let mut out = energy(law, i4.sqrt(), a);
    if let MuscleLaw::Blemker { along, across, .. } = law
        && across > 0.0
    {
        let i1 = c(0, 0) + c(1, 1) + c(2, 2);
        let i5 = image[0] * image[0] + image[1] * image[1] + image[2] * image[2];
        let omega = (i1 * i4 - i5) / (i4.sqrt() * 2.0);
        let b2 = (omega + (omega * omega - 1.0).sqrt()).ln();
        out += (i5 / (i4 * i4) - 1.0) * along + b2 * b2 * across;
    }
    out
}

/// Gradients whose fibres along (1, 2, -2) are in every piece of the laws, with shears below and
/// above where the square of arcosh is a series.
fn gradients() -> Vec<[f64; 9]> {
    let n = [1.0 / 3.0, 2.0 / 3.0, -2.0 / 3.0];
    let mut all = Vec::new();
    for l in [0.5, 0.62, 0.8, 1.05, 1.3, 1.45, 1.6, 1.72, 2.1] {
        for shear in [0.05, 0.4, 1.3] {
            let mut f: [f64; 9] =
                std::array::from_fn(|k| if k % 4 == 0 { 1.0 } else { 0.0 } + (l - 1.0) * n[k / 3] * n[k % 3]);
            f[1] += shear;
            f[3] -= 0.2 * shear;
            f[5] += 0.5 * shear;
            f[6] -= 0.1 * shear;
            all.push(f);
        }
    }
    all
}

/// Rounding of a few hundred operations, of which those of `omega - 1` lose a digit where it is
/// small; of energies the error of Simpson's rule, whose derivatives are formulas.
#[test]
fn stress_and_tangent_are_derivatives_of_the_energy() {
    let direction = [1.0, 2.0, -2.0];
    for law in [GENERIC, BLEMKER, FULL] {
        for (a, f) in [0.0, 0.3, 1.0]
            .into_iter()
            .flat_map(|a| gradients().into_iter().map(move |f| (a, f)))
        {
            let own = fibres(law, direction, a);
            let other = Potential::new(move |f: &[Dual]| density(law, direction, a, f));
            let still = At::new(GRADIENT, &f).moving(&[0.0; 9]);
            let (found, exact) = (own.energy(at(&own, &f)), other.energy(still));
            assert!(
                (found - exact).abs() < 1e-9 * (1e4 + exact.abs()),
                "{law:?} {f:?}: {found} {exact}"
            );
            let found = stress(&own, &f);
            let mut exact = [0.0; 9];
            other.add_force(still, &mut exact);
            let size = exact.iter().fold(1e4, |a: f64, x| a.max(x.abs()));
            for (p, f) in found.iter().zip(&exact) {
                assert!((p + f).abs() < 1e-12 * size, "{law:?} {p} {f}");
            }
            let (found, exact) = (tangent(&own, GRADIENT, &f), tangent(&other, GRADIENT, &f));
            let size = exact.iter().fold(1e4, |a: f64, x| a.max(x.abs()));
            for (k, exact) in found.iter().zip(&exact) {
                assert!((k - exact).abs() < 1e-11 * size, "{law:?} {k} {exact}");
            }
        }
    }
}

#[test]
fn the_checker_agrees() {
    let volumes = [0.5, 0.0, 2.0];
    let directions = [[1.0, 2.0, -2.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]];
    let law = MuscleFibres::varying(&[FULL, GENERIC, GENERIC], &directions, &volumes).with_activation(0.7);
    let f = [1.1, 0.1, 0.0, 0.05, 0.95, -0.1, 0.0, 0.1, 1.05];
    let found = pliant_model::check::force_field(&law, GRADIENT, &f.repeat(3), &[0.0; 27]).unwrap();
    // Differences of stresses of 1e5 Pa.
    assert!(found.worst() < 1e-6, "{found:?}");
}

/// A shear `k` along the fibres stores `G1 k^2`; one across them `4 G2 arsinh(k/2)^2`, where
/// `cosh B2 = 1 + k^2/2`; each moves the other not at all. Both are half moduli at small strains.
#[test]
fn shears_along_and_across_fibres_are_closed_forms() {
    let (along, across) = (4e4, 7e4);
    let law = fibres(FULL, [1.0, 0.0, 0.0], 0.0);
    for k in [1e-3, 0.1, 0.69, 0.72, 1.5] {
        let slide = [1.0, k, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let found = law.energy(at(&law, &slide)) - law.energy(at(&law, &IDENTITY));
        // What rounding of `omega - 1` makes of the modulus across.
        assert!((found - along * k * k).abs() < 1e-10, "{k}: {found}");
        assert!((stress(&law, &slide)[1] - 2.0 * along * k).abs() < 1e-9 * along * k);
        let slide = [1.0, 0.0, 0.0, 0.0, 1.0, k, 0.0, 0.0, 1.0];
        let found = law.energy(at(&law, &slide)) - law.energy(at(&law, &IDENTITY));
        let half = f64::asinh(0.5 * k);
        assert!((found - 4.0 * across * half * half).abs() < 1e-10, "{k}: {found}");
        let exact = 4.0 * across * half / (1.0 + 0.25 * k * k).sqrt();
        assert!((stress(&law, &slide)[5] - exact).abs() < 1e-9 * exact);
    }
    let rest = tangent(&law, GRADIENT, &IDENTITY);
    for (entry, modulus) in [(1, along), (5, across)] {
        assert!((rest[10 * entry] - 2.0 * modulus).abs() < 1e-10 * modulus);
    }
}

const IDENTITY: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

fn product(a: &[f64], b: &[f64]) -> [f64; 9] {
    std::array::from_fn(|k| (0..3).map(|i| a[3 * (k / 3) + i] * b[3 * i + k % 3]).sum())
}

/// `w(Q F) = w(F)` and `P(Q F) = Q P(F)` to rounding.
#[test]
fn rotations_turn_stresses_and_store_nothing() {
    let (s, c) = 0.7f64.sin_cos();
    let turn = product(
        &[c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0],
        &[1.0, 0.0, 0.0, 0.0, 0.6, -0.8, 0.0, 0.8, 0.6],
    );
    for law in [GENERIC, FULL] {
        let law = fibres(law, [1.0, 2.0, -2.0], 0.6);
        for f in gradients() {
            let turned = product(&turn, &f);
            let (before, after) = (law.energy(at(&law, &f)), law.energy(at(&law, &turned)));
            assert!((before - after).abs() < 1e-12 * (1e4 + before.abs()));
            let (expected, found) = (product(&turn, &stress(&law, &f)), stress(&law, &turned));
            let size = expected.iter().fold(1e4, |a: f64, x| a.max(x.abs()));
            assert!(
                expected
                    .iter()
                    .zip(&found)
                    .all(|(a, b)| (a - b).abs() < 1e-12 * size)
            );
        }
    }
}

/// Next to the length of rest and to that of the largest force, where the energy vanishes and the
/// stress does not, a rotation or the least of displacements gives the mean of both stresses: rounding
/// of the energy is no work.
#[test]
fn the_force_of_a_chord_is_that_of_the_stress_for_small_displacements() {
    let (s, c) = 0.1f64.sin_cos();
    let turn = [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0];
    for law in [GENERIC, FULL] {
        let law = fibres(law, [1.0, 2.0, -2.0], 1.0);
        let n = [1.0 / 3.0, 2.0 / 3.0, -2.0 / 3.0];
        for l in [1.0, 1.0 + 1e-9, 1.01, 1.1, 1.4, 1.4 + 1e-9] {
            let f: [f64; 9] = std::array::from_fn(|k| IDENTITY[k] + (l - 1.0) * n[k / 3] * n[k % 3]);
            for d in [0.0, 1e-14, 1e-12, 1e-10] {
                let near: [f64; 9] = std::array::from_fn(|k| f[k] + d * (k as f64 - 3.0));
                for (end, turn) in [(near, IDENTITY), (product(&turn, &near), turn)] {
                    let mut force = [0.0; 9];
                    law.add_chord_force([at(&law, &f), at(&law, &end)], &mut [0.0; 45], &mut force);
                    let turned = product(&turn, &stress(&law, &f));
                    let expected = stress(&law, &f);
                    for k in 0..9 {
                        let mean = 0.5 * (expected[k] + turned[k]);
                        // Stiffness times the displacement, and rounding.
                        let scale = expected.iter().fold(1e5, |a: f64, x| a.max(x.abs()));
                        let off = (force[k].abs() - mean.abs()).abs();
                        assert!(off < scale * (100.0 * d + 1e-11), "{l} {d}: {} {mean}", force[k]);
                    }
                }
            }
        }
    }
}

/// The mean stress of a displacement does the work of the energy, and no torque: `P Fm^T` is
/// symmetric with the mean `Fm`.
#[test]
fn the_force_of_a_chord_keeps_energy_and_angular_momentum() {
    for law in [GENERIC, FULL] {
        let law = fibres(law, [1.0, 2.0, -2.0], 0.6);
        let all = gradients();
        let n = [1.0 / 3.0, 2.0 / 3.0, -2.0 / 3.0];
        let stretched =
            |l: f64| -> [f64; 9] { std::array::from_fn(|k| IDENTITY[k] + (l - 1.0) * n[k / 3] * n[k % 3]) };
        // Small ones across kinks, too: of a slack fibre, of the passive curve and of the active one.
        let near = [0.9999, 1.0001, 1.0999, 1.101, 1.539, 1.541].map(stretched);
        for (start, end) in all
            .iter()
            .zip(&all[4..])
            .chain(near.iter().zip(&near[1..]).step_by(2))
        {
            let mut force = [0.0; 9];
            law.add_chord_force([at(&law, start), at(&law, end)], &mut [0.0; 45], &mut force);
            let work: f64 = (0..9).map(|k| force[k] * (end[k] - start[k])).sum();
            let lost = law.energy(at(&law, start)) - law.energy(at(&law, end));
            assert!((work - lost).abs() < 1e-11 * lost.abs() + 1e-10, "{work} {lost}");
            let mean: [f64; 9] = std::array::from_fn(|k| 0.5 * (start[k] + end[k]));
            let across: [f64; 9] = std::array::from_fn(|k| mean[3 * (k % 3) + k / 3]);
            let t = product(&force, &across);
            let size = t.iter().fold(1e4, |a: f64, x| a.max(x.abs()));
            assert!(
                [(1, 3), (2, 6), (5, 7)]
                    .iter()
                    .all(|(i, j)| (t[*i] - t[*j]).abs() < 1e-12 * size)
            );
        }
    }
}

#[test]
fn an_indefinite_tangent_is_projected_where_it_is_asked_for() {
    let f = [0.7, 0.2, 0.0, -0.1, 1.2, 0.1, 0.0, 0.0, 1.1];
    let both = f.repeat(2);
    let exact = MuscleFibres::new(FULL, &[[1.0, 0.0, 0.0]], &[0.0, 2.0]).with_activation(1.0);
    let moved = exact.clone().with_tangent(Tangent::PositiveSemidefinite);
    let eigenvalues = |law: &MuscleFibres| {
        let mut out = Blocks::new([(9, 9), (9, 9)]);
        law.stiffness(at(law, &both), &mut out).unwrap();
        assert!(out.block(0).iter().all(|k| *k == 0.0));
        let matrix = nalgebra::DMatrix::from_row_slice(9, 9, out.block(1));
        let values = matrix.symmetric_eigenvalues();
        (values.min(), values.max())
    };
    let ((low, high), (least, most)) = (eigenvalues(&exact), eigenvalues(&moved));
    assert!(low < -0.01 * high, "{low} {high}");
    assert!(least > -1e-12 * most && (most / high - 1.0).abs() < 1e-12);
    assert_eq!(exact.projected_elements(at(&exact, &both)), 0);
    assert_eq!(moved.projected_elements(at(&moved, &both)), 1);
}

/// Points without fibres have no force, and some points alone have those of all.
#[test]
fn some_points_alone_are_those_of_all() {
    let directions = [[1.0, 2.0, -2.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]];
    let law =
        MuscleFibres::varying(&[FULL, GENERIC, BLEMKER], &directions, &[0.5, 0.0, 2.0]).with_activation(0.4);
    let f = [1.1, 0.1, 0.0, 0.05, 0.95, -0.1, 0.0, 0.1, 1.05];
    let all = f.repeat(3);
    let mut force = [0.0; 27];
    law.add_force(
        At::new(GRADIENT, &all).moving(&[0.0; 27]).with_inputs(&[0.4]),
        &mut force,
    );
    assert!(force[9..18].iter().all(|f| *f == 0.0) && force[0] != 0.0 && force[18] != 0.0);
    let part = law.restrict(GRADIENT, 1..3).unwrap();
    let mut own = [0.0; 18];
    let two = At::new(GRADIENT, &all[..18])
        .moving(&[0.0; 18])
        .with_inputs(part.inputs());
    part.add_force(two, &mut own);
    assert_eq!(own, force[9..]);
}

#[test]
fn what_is_no_muscle_is_refused_by_name() {
    let mut model = Model::new();
    let node = model
        .add_independent("gradients", GRADIENT, &IDENTITY, &[0.0; 9])
        .unwrap();
    let generic = |stress, passive, exponent, straight| MuscleLaw::Generic {
        stress,
        passive,
        exponent,
        straight,
    };
    let x = [1.0, 0.0, 0.0];
    let one = |law| MuscleFibres::new(law, &[x], &[1.0]);
    let MuscleLaw::Blemker { stress, passive, .. } = BLEMKER else {
        unreachable!();
    };
    let blemker = |optimal, straight, along, across| MuscleLaw::Blemker {
        stress,
        optimal,
        passive,
        exponent: 6.6,
        straight,
        along,
        across,
    };
    for (law, words) in [
        (
            one(generic(-1.0, 1.0, 1.0, 1.4)),
            "the largest active stress of the fibres of `m` is -1",
        ),
        (
            one(generic(1.0, f64::NAN, 1.0, 1.4)),
            "the stiffness of the fibres of `m`",
        ),
        (
            one(generic(1.0, 1.0, -2.0, 1.4)),
            "the exponent of the fibres of `m` is -2",
        ),
        (
            one(generic(1.0, 1.0, 1.0, 0.9)),
            "the stretch of straight fibres of `m` is 0.9, but must be 1 or more",
        ),
        (
            one(generic(1.0, 1.0, 1e3, 2.0)),
            "the stiffness of straight fibres of `m`",
        ),
        (one(blemker(0.0, 1.4, 0.0, 0.0)), "the optimal stretch of `m`"),
        (one(blemker(1.5, 1.4, 0.0, 0.0)), "the optimal stretch or more"),
        (
            one(blemker(1.0, 1.4, -1.0, 0.0)),
            "the shear modulus along the fibres of `m`",
        ),
        (
            one(blemker(1.0, 1.4, 0.0, f64::INFINITY)),
            "the shear modulus across the fibres of `m`",
        ),
        (
            MuscleFibres::new(GENERIC, &[[0.0; 3]], &[1.0]),
            "the length of a direction of `m`",
        ),
        (
            MuscleFibres::new(GENERIC, &[], &[1.0]),
            "directions, one for each quadrature point",
        ),
        (MuscleFibres::new(GENERIC, &[x], &[-1.0]), "a volume of `m`"),
        (
            MuscleFibres::new(GENERIC, &[x], &[1.0; 2]),
            "volumes, one for each quadrature point",
        ),
        (
            MuscleFibres::varying(&[], &[x], &[1.0]),
            "laws of fibres, one for each quadrature point",
        ),
        (
            one(GENERIC).with_activation(1.1),
            "an activation of `m` is 1.1, but must be between 0 and 1",
        ),
        (one(GENERIC).with_activation(f64::NAN), "an activation of `m`"),
    ] {
        let found = model
            .add_force_field("m", node, law, Treatment::Stiffness)
            .unwrap_err()
            .to_string();
        assert!(found.contains(words), "{words}: {found}");
    }
    let id = model
        .add_force_field("m", node, one(GENERIC), Treatment::Stiffness)
        .unwrap();
    assert!(model.set_input(id, 0, -0.1).is_err());
    model.set_input(id, 0, 1.0).unwrap();
}

/// Damping in proportion to the stiffness of fibres that pull has nothing of their stress: what turns as
/// one is not damped, and what stretches along them is.
#[test]
fn damping_by_the_stiffness_of_fibres_takes_nothing_from_rotations() {
    let f = [1.1, 0.2, 0.0, -0.1, 1.2, 0.1, 0.0, 0.05, 0.9];
    for law in [GENERIC, BLEMKER] {
        let law = fibres(law, [0.0, 1.0, 0.0], 0.7);
        let mut block = Blocks::new([(9, 9)]);
        assert!(law.add_shape_damping(at(&law, &f), 1.0, &mut block));
        let product = |v: &[f64; 9]| -> [f64; 9] {
            std::array::from_fn(|i| (0..9).map(|k| block.block(0)[9 * i + k] * v[k]).sum())
        };
        let size = block.block(0).iter().fold(0.0f64, |a, k| a.max(k.abs()));
        assert!(size > 0.0);
        for axis in 0..3 {
            // dF = w x F.
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut turn = [0.0; 9];
            for k in 0..3 {
                turn[3 * u + k] = -f[3 * v + k];
                turn[3 * v + k] = f[3 * u + k];
            }
            assert!(
                product(&turn).iter().all(|x| x.abs() < 1e-12 * size),
                "{:?}",
                product(&turn)
            );
        }
    }
}
