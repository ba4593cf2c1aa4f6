//! Beams of rods and of solids against the beams of Euler, Bernoulli, Rayleigh and Timoshenko.

use super::{check, frequencies, modes};
use crate::mixed_solids::{Slab, cut};
use pliant::continuum::{ElementKind, MassMatrix, Mesh, Rod, RodCurve, RodParts, Section, Solid};
use pliant::prelude::*;
use std::f64::consts::PI;

/// `beta L` of `cos cosh = -1`, clamped and free, and of `cos cosh = 1`, free.
const CLAMPED: [f64; 3] = [
    1.875_104_068_711_961,
    4.694_091_132_974_175,
    7.854_757_438_237_613,
];
const FREE: [f64; 3] = [
    4.730_040_744_862_704,
    7.853_204_624_095_838,
    10.995_607_838_001_671,
];

const YOUNG: f64 = 2.1e11;
const DENSITY: f64 = 7800.0;

fn straight(n: usize, length: f64) -> RodCurve {
    RodCurve::straight([0.0; 3], [length, 0.0, 0.0], n).with_normal([0.0, 0.0, 1.0])
}

/// A slender rod of 1 m: radii of gyration 2 mm and 3 mm.
fn slender(treatment: Treatment) -> (Rod, [f64; 2]) {
    let area = 1e-4;
    let radii: [f64; 2] = [2e-3, 3e-3];
    let section = Section {
        area,
        second_moments: radii.map(|r| area * r * r),
        torsion_constant: 1e-9,
        shear_factors: [0.85; 2],
    };
    let rod = Rod::new(section, YOUNG, 0.3).with_density(DENSITY);
    let rod = rod.with_treatment(treatment);
    (rod, radii)
}

/// Clamped and free: the order is two, and what is left with many segments is what Timoshenko's
/// beam is softer than Euler's and Bernoulli's: `omega/omega_E - 1 = O((beta r)^2)`, about 5e-4 of
/// the third mode of the thicker side.
#[test]
fn rods_have_the_frequencies_of_beams() {
    for treatment in [Treatment::Compliance, Treatment::Stiffness] {
        let (rod, radii) = slender(treatment);
        let euler = |beta: f64, r: f64| beta * beta * r * (YOUNG / DENSITY).sqrt();
        let of = |n: usize, clamped: bool| {
            let mut model = Model::new();
            let RodParts { frames, .. } = rod.add_to(&mut model, "rod", &straight(n, 1.0)).unwrap();
            if clamped {
                model.fix(frames, 0, &[true; 6]).unwrap();
            }
            modes(model, if clamped { 4 } else { 9 })
        };
        // Both sides bend: 2 mm and 3 mm alternate in the first four.
        let clamped = |found: &Modes| frequencies(found);
        let exact = [
            euler(CLAMPED[0], radii[0]),
            euler(CLAMPED[0], radii[1]),
            euler(CLAMPED[1], radii[0]),
            euler(CLAMPED[1], radii[1]),
        ];
        let found = [16, 32, 64].map(|n| clamped(&of(n, true)));
        for k in 0..4 {
            let difference = |i: usize| (found[i][k] - found[i + 1][k]) / exact[k];
            let order = (difference(0) / difference(1)).abs().log2();
            let limit = found[2][k] + (found[2][k] - found[1][k]) / 3.0;
            println!(
                "{treatment:?} {k}: {:?} of {}, order {order:.2}",
                found.each_ref().map(|f| f[k]),
                exact[k]
            );
            assert!((order - 2.0).abs() < 0.1, "{k}: {order}");
            assert!((limit / exact[k] - 1.0).abs() < 1e-3, "{k}: {limit} {}", exact[k]);
        }
        // Nothing holds it: six free modes, then the same.
        let found = of(40, false);
        let kinds: Vec<bool> = found.modes.iter().map(|m| m.kind == ModeKind::Free).collect();
        assert_eq!(kinds, [[true; 6].as_slice(), &[false; 3]].concat());
        let exact = [
            euler(FREE[0], radii[0]),
            euler(FREE[0], radii[1]),
            euler(FREE[1], radii[0]),
        ];
        check(&frequencies(&found)[6..], &exact, 4e-3);
    }
}

/// A thick beam on two supports, for which Timoshenko's equation has the closed form `E I k^4 - rho
/// A w^2 - rho I (1 + E/(kappa G)) k^2 w^2 + rho^2 I/(kappa G) w^4 = 0`, `k = j pi/L`.
#[test]
fn a_thick_rod_is_timoshenkos_beam() {
    let (length, area, factor) = (1.0, 0.01, 5.0 / 6.0);
    let second = 1e-4 / 12.0;
    let section = Section {
        area,
        second_moments: [second; 2],
        torsion_constant: 0.141e-4,
        shear_factors: [factor; 2],
    };
    let rod = Rod::new(section, YOUNG, 0.3).with_density(DENSITY);
    let shear = YOUNG / 2.6;
    let exact = [1.0, 2.0, 3.0].map(|j| {
        let k: f64 = j * PI / length;
        let (e, r) = (YOUNG / DENSITY, second / area);
        // w^4 r/(kappa G/rho) - w^2 (1 + r (1 + E/(kappa G)) k^2) + E/rho r k^4 = 0.
        let a = r / (factor * shear / DENSITY);
        let b = 1.0 + r * (1.0 + YOUNG / (factor * shear)) * k * k;
        let c = e * r * k.powi(4);
        // Without cancellation.
        (2.0 * c / (b + (b * b - 4.0 * a * c).sqrt())).sqrt()
    });
    let of = |n: usize| {
        let mut model = Model::new();
        let RodParts { frames, .. } = rod.add_to(&mut model, "rod", &straight(n, length)).unwrap();
        // In the plane of x and y: axis 1 is z.
        for k in 0..=n {
            let (first, end) = (k == 0, k == 0 || k == n);
            model
                .fix(frames, k, &[first, end, true, true, false, true])
                .unwrap();
        }
        let found = modes(model, 6);
        // Along, it moves x alone.
        let bends = found.modes.iter().filter(|m| m.effective_masses()[0] < 1e-6);
        bends.map(Mode::angular_frequency).take(3).collect::<Vec<f64>>()
    };
    let errors = [20, 40].map(|n| {
        let found = of(n);
        [0, 1, 2].map(|k| found[k] / exact[k] - 1.0)
    });
    for k in 0..3 {
        let order = (errors[0][k] / errors[1][k]).log2();
        println!("{k}: errors {:?}, order {order:.2}", errors.map(|e| e[k]));
        assert!(
            (order - 2.0).abs() < 0.1 && errors[1][k].abs() < 5e-3,
            "{errors:?}"
        );
    }
}

/// How a bar is held.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    /// Not at all.
    Free,
    /// At `x = 0`.
    Clamped,
}

/// A square bar of solids without contraction across.
fn bar(length: f64, cells: usize, kind: ElementKind, held: Held) -> (Model, NodeId, usize) {
    let mesh = Mesh::hexahedral_box([length, 0.1, 0.1], [cells, 1, 1]).unwrap();
    let mesh = match kind {
        ElementKind::Hex20 => mesh.into_quadratic(),
        ElementKind::Prism15 => cut(&mesh, &[Slab::Prisms]).into_quadratic(),
        ElementKind::Pyramid13 => cut(&mesh, &[Slab::Pyramids]).into_quadratic(),
        _ => mesh,
    };
    assert!(mesh.elements.iter().all(|e| e.kind == kind));
    let mut model = Model::new();
    let parts = Solid::linear(YOUNG, 0.0)
        .with_density(DENSITY)
        .with_mass(MassMatrix::Consistent)
        .add_to(&mut model, "bar", &mesh)
        .unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        if held == Held::Clamped && x[0] == 0.0 {
            model.fix(parts.nodes, k, &[true; 3]).unwrap();
        }
    }
    (model, parts.nodes, mesh.nodes.len())
}

/// Along, a bar without contraction is exactly the bar of one dimension: `pi/(2L) sqrt(E/rho)`
/// clamped and `pi/L sqrt(E/rho)` free. Eigenvalues of elements of order `p` with consistent masses
/// are too high by `h^(2p)`: orders two and four.
#[test]
fn solids_vibrate_along_to_the_order_of_their_elements() {
    let speed = (YOUNG / DENSITY).sqrt();
    for (held, exact) in [(Held::Clamped, 0.5 * PI * speed), (Held::Free, PI * speed)] {
        for (kind, order, cells) in [
            (ElementKind::Hex8, 2.0, [4, 8]),
            (ElementKind::Hex20, 4.0, [2, 4]),
            (ElementKind::Prism15, 4.0, [2, 4]),
            (ElementKind::Pyramid13, 4.0, [2, 4]),
        ] {
            let errors = cells.map(|n| {
                let (mut model, nodes, count) = bar(1.0, n, kind, held);
                for k in 0..count {
                    model.fix(nodes, k, &[false, true, true]).unwrap();
                }
                let found = modes(model, 2);
                let first = found.modes.iter().find(|m| m.kind == ModeKind::Vibration);
                first.unwrap().angular_frequency() / exact - 1.0
            });
            let found = (errors[0] / errors[1]).log2();
            println!("{held:?}, {kind:?}: errors {errors:?}, order {found:.2}");
            assert!((found - order).abs() < 0.25 && errors[1] > 0.0, "{errors:?}");
        }
    }
}

/// Timoshenko's cantilever as a system of first order: its solutions of unit moment and unit force
/// at the clamped end are integrated to the free one (Runge and Kutta), where the determinant of
/// moment and force is zero at a frequency.
fn timoshenko_cantilever(omega: f64, length: f64, [area, second, shear]: [f64; 3]) -> f64 {
    // State: w, psi, moment, force; w' = psi + q/s, psi' = m/(E I), m' = -q - rho I w^2 psi,
    // q' = -rho A w^2 w.
    let o = DENSITY * omega * omega;
    let slope = |y: [f64; 4]| {
        [
            y[1] + y[3] / shear,
            y[2] / (YOUNG * second),
            -y[3] - o * second * y[1],
            -o * area * y[0],
        ]
    };
    let steps = 2000;
    let h = length / f64::from(steps);
    let go = |mut y: [f64; 4]| {
        for _ in 0..steps {
            let along = |k: [f64; 4], s: f64| std::array::from_fn(|i| y[i] + s * k[i]);
            let a = slope(y);
            let b = slope(along(a, 0.5 * h));
            let c = slope(along(b, 0.5 * h));
            let d = slope(along(c, h));
            y = std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
        }
        y
    };
    let (p, q) = (go([0.0, 0.0, 1.0, 0.0]), go([0.0, 0.0, 0.0, 1.0]));
    p[2] * q[3] - p[3] * q[2]
}

/// The root between two bounds, by bisection.
fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let sign = f(low).signum();
    assert!(f(high).signum() != sign);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(middle).signum() == sign {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// A square cantilever of quadratic solids is Timoshenko's beam (Cowper's factor 5/6 without
/// contraction), in both directions alike. The corners of the clamped end take a part of the fourth
/// order.
#[test]
fn a_solid_cantilever_bends_as_timoshenkos_beam() {
    let length = 1.5;
    let (area, second) = (0.01, 1e-4 / 12.0);
    let numbers = [area, second, 5.0 / 6.0 * 0.5 * YOUNG * area];
    let euler = (CLAMPED[0] / length).powi(2) * (YOUNG * second / (DENSITY * area)).sqrt();
    let exact = root(
        |w| timoshenko_cantilever(w, length, numbers),
        0.8 * euler,
        1.05 * euler,
    );
    for kind in [ElementKind::Prism15, ElementKind::Pyramid13] {
        let found = frequencies(&modes(bar(length, 24, kind, Held::Clamped).0, 2));
        println!("{kind:?}: {found:?} of {exact}");
        // Prisms are cut in one direction only, so the two bend each for itself.
        for found in &found[..2] {
            assert!((found / exact - 1.0).abs() < 1e-3, "{kind:?} {found} {exact}");
        }
    }
    let found = [6, 12, 24].map(|n| {
        let found = frequencies(&modes(bar(length, n, ElementKind::Hex20, Held::Clamped).0, 2));
        // The same in both directions, but for the rounding of a stiffness that is 1e9 times as
        // large as what the first mode feels.
        assert!((found[0] / found[1] - 1.0).abs() < 1e-7, "{found:?}");
        found[0]
    });
    let order = ((found[0] - found[1]) / (found[1] - found[2])).log2();
    println!("Euler {euler}, Timoshenko {exact}, found {found:?}, order {order:.2}");
    assert!((found[2] / exact - 1.0).abs() < 1e-3, "{found:?} {exact}");
    assert!(order > 3.0, "{order}");
}

/// Six free modes and pairs of bending of a square bar that nothing holds.
#[test]
fn a_free_solid_has_six_free_modes_and_pairs() {
    let found = modes(bar(2.0, 12, ElementKind::Hex20, Held::Free).0, 10);
    let free = found.modes.iter().filter(|m| m.kind == ModeKind::Free).count();
    assert_eq!(free, 6);
    let w = frequencies(&found);
    assert!(
        (w[6] / w[7] - 1.0).abs() < 1e-8 && (w[8] / w[9] - 1.0).abs() < 1e-8,
        "{w:?}"
    );
    // Euler's and Bernoulli's beam less what shear and rotary inertia take, of the first bend:
    // 1 - (r beta)^2 (1 + E/(kappa G)) / 2 to the size of that.
    let radius: f64 = 0.1 / 12.0_f64.sqrt();
    let beta = FREE[0] / 2.0;
    let euler = beta * beta * radius * (YOUNG / DENSITY).sqrt();
    let missing = 1.0 - w[6] / euler;
    let of_order = 0.5 * (radius * beta).powi(2) * (1.0 + 2.4);
    assert!(
        missing > 0.3 * of_order && missing < 1.5 * of_order,
        "{missing} {of_order}"
    );
}
