//! Closed rods: frequencies of a ring in its plane, Michell's instability, what is refused.

use super::*;
use std::f64::consts::{PI, TAU};

/// `E I = 1 N m^2` in all directions and `G J = 1 N m^2`, hard otherwise, of 1 kg/m, hardly any
/// rotary inertia.
fn wire() -> Rod {
    let section = Section {
        area: 1e-3,
        second_moments: [1e-9; 2],
        torsion_constant: 2e-9,
        shear_factors: [1.0; 2],
    };
    Rod::new(section, 1e9, 0.0).with_density(1e3).inextensible()
}

fn circle(n: usize, out: impl Fn(f64) -> [f64; 3]) -> RodCurve {
    let at = |i: usize| {
        let a = TAU * i as f64 / n as f64;
        let [r, _, z] = out(a);
        [(1.0 + r) * a.cos(), (1.0 + r) * a.sin(), z]
    };
    RodCurve::through(&(0..n).map(at).collect::<Vec<_>>()).closed()
}

/// The radii of the bodies times a wave with two crests around, which is the mode of the lowest
/// frequency.
fn oval(simulation: &Simulation, frames: NodeId) -> f64 {
    let poses = simulation.positions(frames).as_chunks::<7>().0;
    let n = poses.len() as f64;
    let part = |(i, x): (usize, &[f64; 7])| x[0].hypot(x[1]) * (2.0 * TAU * i as f64 / n).cos();
    poses.iter().enumerate().map(part).sum::<f64>() * 2.0 / n
}

/// Hoppe's frequencies of an inextensible ring in its plane,
/// `w^2 = (E I/(m R^4)) n^2 (n^2 - 1)^2/(n^2 + 1)`: 36/5 for two waves. A quarter of a period after
/// the start its oval is gone.
#[test]
fn a_ring_swings_at_hoppes_frequency() {
    let exact = (36.0f64 / 5.0).sqrt();
    let errors = [16, 32].map(|n| {
        let mut model = Model::new();
        let RodParts { frames, mass, .. } = wire()
            .add_to(&mut model, "ring", &circle(n, |_| [0.0; 3]))
            .unwrap();
        let total: f64 = match &model.masses()[0].component {
            Mass::Rigid(list) => list.iter().map(|m| m.mass).sum(),
            _ => f64::NAN,
        };
        // Two pi metres in chords.
        let chords = 2.0 * n as f64 * (PI / n as f64).sin();
        assert!((total / chords - 1.0).abs() < 1e-12, "{mass:?}: {total}");
        // The velocity of the mode: radial `cos 2a`, along the ring minus half of `sin 2a`, and the
        // spin that goes with both.
        for i in 0..n {
            let a = TAU * i as f64 / n as f64;
            let (out, along) = (1e-4 * (2.0 * a).cos(), -0.5e-4 * (2.0 * a).sin());
            // The rate of the tangent's angle: (along - dout/da)/R.
            let spin = along + 2e-4 * (2.0 * a).sin();
            let v = [
                out * a.cos() - along * a.sin(),
                out * a.sin() + along * a.cos(),
                0.0,
            ];
            model.set_body_velocity(frames, i, v, [0.0, 0.0, spin]).unwrap();
        }
        let mut s = Simulation::with_options(model, Options::trapezoidal()).unwrap();
        // Half a period later it passes the circle again.
        let h = PI / exact / 400.0;
        let mut last = [0.0; 2];
        while last[1] >= 0.0 {
            s.step(h).unwrap();
            last = [last[1], oval(&s, frames)];
            assert!(s.time() < 2.0 * PI / exact);
        }
        let crossing = s.time() - h * last[1] / (last[1] - last[0]);
        PI / crossing / exact - 1.0
    });
    println!("ring of 16 and 32 bodies: relative errors of the frequency {errors:?}");
    // Of second order in the bodies, with a fourth; the trapezoidal rule lacks (w h)^2/12, 5e-6.
    let limit = errors[1] - (errors[0] - errors[1]) / 3.0;
    assert!(
        (errors[0] / errors[1] - 4.0).abs() < 0.4 && limit.abs() < 2e-3,
        "{errors:?}"
    );
}

/// A closed rod that is straight without load is bent and twisted evenly, over its seam too; one
/// that is made as it is placed has no strain.
#[test]
fn a_ring_has_the_twist_of_its_curve() {
    for twist in [0.0, 2.5, 8.0] {
        let n = 24;
        let curve = circle(n, |_| [0.0; 3])
            .with_twist(twist)
            .with_normal([0.0, 0.0, 1.0]);
        let mut model = Model::new();
        let parts = wire()
            .straight_at_rest()
            .add_to(&mut model, "ring", &curve)
            .unwrap();
        let s = Simulation::new(model).unwrap();
        let strains = s.positions(parts.strains).as_chunks::<6>().0;
        assert_eq!(strains.len(), n);
        let chord = 2.0 * (PI / n as f64).sin();
        for e in strains {
            // Also of the segment that closes it: the twist is even, and so is the bend.
            let bend = e[4].hypot(e[5]) * chord;
            let size = (twist / n as f64).hypot(TAU / n as f64);
            // Turned and bent at once: rotation vectors of chords differ from both by the cube of
            // the angles.
            let shear = if twist == 0.0 { 1e-12 } else { size.powi(3) };
            assert!(e[..3].iter().all(|e| e.abs() < shear), "{e:?}");
            assert!((e[3] * chord - twist / n as f64).abs() < size.powi(3), "{e:?}");
            assert!((bend - TAU / n as f64).abs() < size.powi(3), "{e:?}");
        }
        // As it is placed it has no strain at all.
        let mut model = Model::new();
        let parts = wire().add_to(&mut model, "ring", &curve).unwrap();
        let s = Simulation::new(model).unwrap();
        assert!(s.positions(parts.strains).iter().all(|e| e.abs() < 1e-12));
    }
}

#[test]
fn rings_that_cannot_be_are_refused() {
    let bad = |points: &[[f64; 3]], wanted: &str| {
        let curve = RodCurve::through(points).closed();
        let message = wire()
            .add_to(&mut Model::new(), "r", &curve)
            .unwrap_err()
            .to_string();
        assert!(message.contains(wanted), "{message}");
    };
    bad(&[[0.0; 3], [1.0, 0.0, 0.0]], "three points");
    bad(
        &[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3]],
        "point 0 of the curve: it is where the one before is",
    );
    bad(
        &[[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]],
        "turns back on itself",
    );
}
