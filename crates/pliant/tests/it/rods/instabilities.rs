//! Where straight, twisted and closed rods buckle: the load at which the slowest rate of the linear
//! motion about them is zero.
//!
//! A pseudo-static step of length `h` multiplies a mode of the rate `w^2` by `1/(1 + h^2 w^2)`:
//! measured below and above the threshold, it says where `w^2` is zero.

use super::slender;
use pliant::continuum::{Rod, RodCurve, RodParts, Section};
use pliant::dense::vec3;
use pliant::prelude::*;
use std::f64::consts::{PI, SQRT_2, TAU};

/// Size (m, m/s) of the bend that is put in, with lengths of 1 m.
const SMALL: f64 = 1e-6;

/// `h^2 w^2` of the slowest motion, from the sizes of two steps after it is alone.
fn rate(model: Model, h: f64, size: impl Fn(&Simulation) -> f64) -> f64 {
    let options = Options {
        tuning: Tuning {
            clamp_geometry: false,
            ..Tuning::default()
        },
        ..Options::default()
    };
    let mut simulation = Simulation::with_options(model, options).unwrap();
    let mut sizes = [0.0; 2];
    for _ in 0..16 {
        simulation.settle_once(h, 0.0).unwrap();
        sizes = [sizes[1], size(&simulation)];
        // Still linear, and far above rounding.
        assert!(sizes[1] > 1e-12 && sizes[1] < 1e-4, "{sizes:?}");
    }
    sizes[0] / sizes[1] - 1.0
}

/// The load of rate zero: by a straight line through one per cent below and above the expected one,
/// then by one through a thousandth about that.
fn threshold(expected: f64, rate: impl Fn(f64) -> f64) -> f64 {
    [1e-2, 1e-3].into_iter().fold(expected, |middle, span| {
        let (low, high) = ((1.0 - span) * middle, (1.0 + span) * middle);
        let (a, b) = (rate(low), rate(high));
        assert!(a > b, "{a} {b}");
        low + (high - low) * a / (a - b)
    })
}

/// The errors at two numbers of segments, of which the second is twice the first.
fn converges(name: &str, exact: f64, found: [f64; 2], largest: f64) {
    let errors = found.map(|f| f / exact - 1.0);
    let order = (errors[0] / errors[1]).abs().log2();
    println!("{name}: exact {exact:.6}, found {found:.6?}, relative errors {errors:?}, order {order:.2}");
    assert!(
        (order - 2.0).abs() < 0.2 && errors[1].abs() < largest,
        "{name}: {errors:?}"
    );
}

/// Largest distance of a body from the line of axis 0.
fn bend(simulation: &Simulation, frames: NodeId) -> f64 {
    let poses = simulation.positions(frames).as_chunks::<7>().0;
    poses.iter().map(|x| x[1].hypot(x[2])).fold(0.0, f64::max)
}

fn straight(n: usize) -> RodCurve {
    RodCurve::straight([0.0; 3], [1.0, 0.0, 0.0], n)
}

/// Pushes one body across; what is too fast for the step is gone after a few.
fn push(model: &mut Model, frames: NodeId, body: usize) {
    model
        .set_body_velocity(frames, body, [0.0, SMALL, 0.0], [0.0; 3])
        .unwrap();
}

/// Euler: `pi^2 E I/(4 L^2)` for a clamped column with a free end.
#[test]
fn a_column_buckles_at_eulers_load() {
    let column = |n: usize, load: f64| {
        let mut model = Model::new();
        let RodParts { frames, .. } = slender()
            .straight_at_rest()
            .add_to(&mut model, "column", &straight(n))
            .unwrap();
        model.fix(frames, 0, &[true; 6]).unwrap();
        push(&mut model, frames, n);
        let tip = RigidPoints::new(&[(n, [0.0; 3])]);
        let tip = model.add_mapped("tip", &[frames], tip).unwrap();
        model
            .add_force_field(
                "load",
                tip,
                ConstantForce::new(&[-load, 0.0, 0.0]),
                Treatment::Stiffness,
            )
            .unwrap();
        // Unloaded, w^2 is 1.875^4 E I/(m L^3) = 1.2 1/s^2.
        rate(model, 2.8, |s| bend(s, frames))
    };
    let exact = 0.25 * PI * PI;
    let found = [8, 16].map(|n| threshold(exact, |p| column(n, p)));
    converges("Euler's column", exact, found, 2e-3);
    // The chain of n segments has a closed form of its own, with sides in the mean direction of
    // their ends.
    for (n, found) in [(8.0, found[0]), (16.0, found[1])] {
        let chain = 4.0 * n * n * (0.25 * PI / n).tan().powi(2);
        assert!((found / chain - 1.0).abs() < 1e-5, "{n}: {found} {chain}");
    }
}

/// A rod clamped at both ends, free to shorten, turned at one: `tan(M L/(2 E I)) = M L/(2 E I)`
/// (Love, section 272), `M L/(E I) = 8.98682`.
#[test]
fn a_twisted_rod_writhes_at_its_threshold() {
    let rod = |n: usize, twist: f64| {
        let curve = straight(n).with_twist(twist);
        let mut model = Model::new();
        let RodParts { frames, .. } = slender()
            .straight_at_rest()
            .add_to(&mut model, "rod", &curve)
            .unwrap();
        model.fix(frames, 0, &[true; 6]).unwrap();
        model
            .fix(frames, n, &[false, true, true, true, true, true])
            .unwrap();
        push(&mut model, frames, n / 2);
        // Untwisted, w^2 is 4.73^4 E I/(m L^3) = 50 1/s^2.
        rate(model, 0.5, |s| bend(s, frames))
    };
    // E I = G J = 1 N m^2: the moment is the angle.
    let exact = 2.0 * 4.493_409_457_909_064;
    let found = [16, 32].map(|n| threshold(exact, |angle| rod(n, angle)));
    converges("clamped twisted rod", exact, found, 5e-3);
}

/// A closed ring of a straight rod leaves its plane at the twist `2 pi sqrt(3) E I/(G J)` (Michell
/// 1889).
#[test]
fn a_twisted_ring_leaves_its_plane_at_michells_twist() {
    let ring = |n: usize, twist: f64| {
        let at = |i: usize| TAU * i as f64 / n as f64;
        let place = |i: usize| [at(i).cos(), at(i).sin(), SMALL * (2.0 * at(i)).cos()];
        let curve = RodCurve::through(&(0..n).map(place).collect::<Vec<_>>());
        let mut model = Model::new();
        let section = Section {
            area: 10.0,
            second_moments: [1e-3; 2],
            torsion_constant: 2e-3,
            shear_factors: [1.0; 2],
        };
        // E I = G J = 1 N m^2.
        let rod = Rod::new(section, 1e3, 0.0).with_density(1.0).inextensible();
        let curve = curve.closed().with_twist(twist);
        let parts = rod.straight_at_rest().add_to(&mut model, "ring", &curve).unwrap();
        let bodies = parts.frames;
        // Its part with two waves around: by symmetry that goes its own way, and rigid motions stay
        // out of it.
        rate(model, 1.5, |s| {
            let poses = s.positions(bodies).as_chunks::<7>().0;
            let part = |f: fn(f64) -> f64| -> f64 {
                poses
                    .iter()
                    .enumerate()
                    .map(|(i, x)| vec3(x, 0).z * f(2.0 * at(i)))
                    .sum()
            };
            part(f64::cos).hypot(part(f64::sin)) * SQRT_2 / n as f64
        })
    };
    let exact = TAU * 3f64.sqrt();
    let found = [24, 48].map(|n| threshold(exact, |twist| ring(n, twist)));
    converges("Michell's ring", exact, found, 5e-3);
}
