//! Rubber that relaxes, moved by the default method: free vibrations and driven ones against closed
//! forms of the standard linear solid, and the ledger of motions at large strains.

use crate::tools::order;
use pliant::continuum::{Hyperelastic, Mesh, PronySeries, PronyTerm, Solid, StrainEnergy};
use pliant::prelude::*;
use std::f64::consts::PI;

const SHEAR: f64 = 40.0;
const MASS: f64 = 0.5;
const TIME: f64 = 0.07;
const SHARE: f64 = 0.4;
const VOLUME: f64 = 0.8;

fn series(share: f64) -> PronySeries {
    PronySeries::new(&[PronyTerm::new(TIME, share)]).unwrap()
}

/// A mass on the simple shear of a point of neo-Hookean rubber, at this speed (1/s) at the start.
fn sheared(speed: f64) -> Simulation {
    let mut model = Model::new();
    let rest: [f64; 9] = std::array::from_fn(|k| f64::from(u8::from(k % 4 == 0)));
    let mut rate = [0.0; 9];
    rate[1] = speed;
    let node = model
        .add_independent("gradient", Space::Real(9), &rest, &rate)
        .unwrap();
    let held: [bool; 9] = std::array::from_fn(|k| k != 1);
    model.fix(node, 0, &held).unwrap();
    model.add_mass("mass", node, Mass::Uniform(MASS)).unwrap();
    let energy = StrainEnergy::NeoHookean {
        shear: SHEAR,
        lame: 3.0 * SHEAR,
    };
    let law = Hyperelastic::new(energy, &[VOLUME]).with_relaxation(series(SHARE));
    model
        .add_force_field("rubber", node, law, Treatment::Stiffness)
        .unwrap();
    Simulation::new(model).unwrap()
}

/// Decay (1/s) and angular frequency (rad/s) of free vibrations: of the three roots of
/// `m tau s^3 + m s^2 + k tau s + k (1 - g) = 0` one is real.
fn free() -> [f64; 2] {
    let k = SHEAR * VOLUME;
    let cubic = |s: f64| MASS * s * s * (1.0 + TIME * s) + k * TIME * s + k * (1.0 - SHARE);
    let (mut low, mut high) = (-1.0 / TIME, 0.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        match cubic(middle) < 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    // The sum of the roots is -1/tau, their product -k (1 - g)/(m tau).
    let decay = 0.5 * (1.0 / TIME + low);
    let square = -k * (1.0 - SHARE) / (MASS * TIME) / low;
    [decay, (square - decay * decay).sqrt()]
}

/// A vibration that is left when the real mode has died out goes by `x+ = a x - b x-`.
#[test]
fn free_vibrations_decay_by_the_closed_form() {
    let [decay, frequency] = free();
    let errors = [40, 80, 160].map(|n| {
        // Parts of a quarter of a cycle.
        let h = 0.5 * PI / frequency / f64::from(n);
        let mut s = sheared(1e-3);
        let mut at = Vec::new();
        for k in 0..6 * n + 4 * n {
            let report = s.step(h).unwrap();
            assert!(report.ledger.damping < 1e-13, "{k} {:?}", report.ledger);
            if k >= 6 * n - 1 && (k + 1) % n == 0 {
                at.push(s.state().positions[1]);
            }
        }
        // Two pairs of equations for a and b.
        let b = (at[2] * at[2] - at[1] * at[3]) / (at[1] * at[1] - at[0] * at[2]);
        let a = (at[2] + b * at[0]) / at[1];
        let quarter = h * f64::from(n);
        let found = -0.5 * b.ln() / quarter;
        let turned = (0.5 * a / b.sqrt()).acos() / quarter;
        [(found / decay - 1.0).abs(), (turned / frequency - 1.0).abs()]
    });
    for k in 0..2 {
        let e = errors.map(|e| e[k]);
        assert!(order([e[1], e[2]]) > 1.8 && e[2] < 1e-3, "{errors:?}");
    }
}

/// A force that swings: the way is `F/|E* - m w^2|`, and a cycle costs `pi E'' e^2 V`.
#[test]
fn a_cycle_costs_what_the_loss_modulus_says() {
    let omega = 1.3 / TIME;
    let x = omega * TIME;
    let storage = SHEAR * VOLUME * (1.0 - SHARE + SHARE * x * x / (1.0 + x * x));
    let loss = SHEAR * VOLUME * SHARE * x / (1.0 + x * x);
    let force = 1e-2;
    let amplitude = force / (storage - MASS * omega * omega).hypot(loss);
    let wanted = PI * loss * amplitude * amplitude;
    let errors = [50, 100, 200].map(|n| {
        let h = 2.0 * PI / omega / f64::from(n);
        let mut s = sheared(0.0);
        let node = s.model().node_named("gradient").unwrap();
        let (mut taken, mut worked, mut made) = (0.0, 0.0, 0.0);
        for k in 0..50 * n {
            let now = force * (omega * h * (f64::from(k) + 0.5)).sin();
            s.set_force(node, 0, &[0.0, now, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
                .unwrap();
            let ledger = s.step(h).unwrap().ledger;
            if k >= 49 * n {
                taken -= ledger.damping;
                worked += ledger.forces;
                made += ledger.numerical;
            }
        }
        assert!(made.abs() < 1e-2 * taken, "{made} {taken}");
        [(taken / wanted - 1.0).abs(), (worked / wanted - 1.0).abs()]
    });
    for k in 0..2 {
        let e = errors.map(|e| e[k]);
        assert!(order([e[1], e[2]]) > 1.8 && e[2] < 1e-3, "{errors:?}");
    }
}

fn solids() -> Vec<(&'static str, Solid)> {
    let rows = pliant::continuum::Incompressibility::PerElement;
    let mooney = |bulk| StrainEnergy::MooneyRivlin {
        c1: 350.0,
        c2: 150.0,
        bulk,
    };
    let of_shape = PronySeries::new(&[PronyTerm::of_shear(TIME, SHARE)]).unwrap();
    let of_all = |solid: Solid| solid.with_viscoelasticity(series(SHARE));
    let neo_hookean = Solid::hyperelastic(StrainEnergy::neo_hookean(3e3, 0.4));
    let ogden = StrainEnergy::ogden(&[[630.0, 1.3], [1.2, 5.0], [-10.0, -2.0]], 5e3).unwrap();
    vec![
        ("neo-Hookean", of_all(neo_hookean)),
        ("Mooney-Rivlin", of_all(Solid::hyperelastic(mooney(5e3)))),
        ("Ogden", of_all(Solid::hyperelastic(ogden))),
        (
            "rows of volume",
            Solid::hyperelastic(mooney(f64::INFINITY))
                .with_incompressibility(rows)
                .with_viscoelasticity(of_shape),
        ),
        (
            "two times",
            neo_hookean.with_viscoelasticity(
                PronySeries::new(&[PronyTerm::new(0.02, 0.3), PronyTerm::new(0.4, 0.7)]).unwrap(),
            ),
        ),
    ]
}

/// A free block, let go with velocities that strain it by a third: no step is refused, nothing
/// gives energy back, and all energy of the vibration is heat in the end.
#[test]
fn free_blocks_vibrate_until_they_rest() {
    let mesh = Mesh::hexahedral_box([0.1, 0.1, 0.2], [2, 2, 3]).unwrap();
    for (name, solid) in solids() {
        let mut model = Model::new();
        let parts = solid
            .with_density(1000.0)
            .add_to(&mut model, "block", &mesh)
            .unwrap();
        let mut s = Simulation::new(model).unwrap();
        let mut state = s.state().clone();
        let range = s.model().node(parts.nodes).velocity_range();
        let velocities = state.velocities[range].as_chunks_mut::<3>().0;
        for (v, x) in velocities.iter_mut().zip(&mesh.nodes) {
            // Stretch along the block that keeps the volume, and a bending.
            let z = x[2] - 0.1;
            *v = [-3.0 * (x[0] - 0.05), -3.0 * (x[1] - 0.05), 6.0 * z];
            v[0] += 20.0 * (z * z - 0.1 * 0.1 / 3.0);
        }
        s.set_state(&state).unwrap();
        let start = s.present_energies();
        let (mut damped, mut most) = (0.0, 0.0f64);
        let mut last = None;
        for k in 0..400 {
            let report = s.step(0.0025).unwrap_or_else(|e| panic!("{name}, step {k}: {e}"));
            let ledger = report.ledger;
            assert!(ledger.damping < 1e-12 * start.total(), "{name} {k} {ledger:?}");
            damped -= ledger.damping;
            most = most.max(report.energies.potential);
            assert!((report.dissipated - damped).abs() < 1e-12, "{name}");
            last = Some(report);
        }
        let end = last.unwrap().energies;
        // The rest is what two stages lose, at 20 steps of a vibration.
        let lost = start.total() - end.total();
        println!("{name}: {start:?} J, {most} J at most stored, {damped} J of {lost} J damped");
        assert!(most > 0.2 * start.kinetic, "{name} {most}");
        assert!(
            damped > 0.9 * lost && damped < 1.01 * lost,
            "{name} {damped} {lost}"
        );
    }
}
