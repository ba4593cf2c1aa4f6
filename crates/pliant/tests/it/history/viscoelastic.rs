//! Viscoelastic materials: methods, ledger, checkpoints, statics, solids.

use crate::tools::order;
use pliant::continuum::{Mesh, PronySeries, PronyTerm, Solid, StrainEnergy, Viscoelastic};
use pliant::prelude::*;

const SHEAR: f64 = 50.0;
const MASS: f64 = 0.7;
const FORCE: f64 = 4.0;
const SPEED: f64 = 0.8;
const TERMS: [(f64, f64); 2] = [(0.05, 0.3), (0.6, 0.4)];

fn series() -> PronySeries {
    PronySeries::new(&TERMS.map(|(time, share)| PronyTerm::of_shear(time, share))).unwrap()
}

/// A mass on one shear strain, which a force pulls; the other five are held.
fn oscillator() -> Model {
    oscillator_on(SHEAR, SPEED, |_, strain| strain)
}

/// The oscillator of a modulus (Pa) and a velocity at the start (m/s), with its material on a node
/// that a function makes of the one of the mass.
fn oscillator_on(shear: f64, speed: f64, of: impl Fn(&mut Model, NodeId) -> NodeId) -> Model {
    let mut model = Model::new();
    let node = model
        .add_independent(
            "strain",
            Space::Real(6),
            &[0.0; 6],
            &[0.0, 0.0, 0.0, speed, 0.0, 0.0],
        )
        .unwrap();
    model
        .fix(node, 0, &[true, true, true, false, true, true])
        .unwrap();
    model.add_mass("mass", node, Mass::Uniform(MASS)).unwrap();
    let law = Viscoelastic::deviatoric(shear, series(), &[1.0]);
    let strain = of(&mut model, node);
    model
        .add_force_field("gel", strain, law, Treatment::Stiffness)
        .unwrap();
    let load = ConstantForce::new(&[0.0, 0.0, 0.0, FORCE, 0.0, 0.0]);
    model
        .add_force_field("load", node, load, Treatment::Stiffness)
        .unwrap();
    model
}

/// Strain and rate at a time by Runge and Kutta's method on the equations with the strains of the
/// springs as unknowns: errors of 1e-13.
fn exact(time: f64) -> [f64; 2] {
    let n = 4000;
    let h = time / n as f64;
    let rate = |y: [f64; 4]| {
        let slow = 1.0 - TERMS.iter().map(|t| t.1).sum::<f64>();
        let stress = SHEAR * (slow * y[0] + TERMS[0].1 * y[2] + TERMS[1].1 * y[3]);
        [
            y[1],
            (FORCE - stress) / MASS,
            y[1] - y[2] / TERMS[0].0,
            y[1] - y[3] / TERMS[1].0,
        ]
    };
    let along = |y: [f64; 4], k: [f64; 4], s: f64| std::array::from_fn(|i| y[i] + s * k[i]);
    let mut y = [0.0, SPEED, 0.0, 0.0];
    for _ in 0..n {
        let a = rate(y);
        let b = rate(along(y, a, 0.5 * h));
        let c = rate(along(y, b, 0.5 * h));
        let d = rate(along(y, c, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    [y[0], y[1]]
}

fn at(s: &Simulation) -> [f64; 2] {
    [s.state().positions[3], s.state().velocities[3]]
}

fn taken(options: &Options, h: f64, steps: usize) -> Simulation {
    let mut s = Simulation::with_options(oscillator(), options.clone()).unwrap();
    for _ in 0..steps {
        s.step(h).unwrap();
    }
    s
}

fn weights(integrator: Integrator, weight: f64) -> Options {
    Options {
        integrator,
        alpha: weight,
        beta: weight,
        ..Options::default()
    }
}

fn methods() -> Vec<(Options, f64)> {
    vec![
        (weights(Integrator::Theta, 1.0), 1.0),
        (weights(Integrator::Theta, 0.5), 2.0),
        (weights(Integrator::Nonlinear, 1.0), 1.0),
        (weights(Integrator::Nonlinear, 0.5), 2.0),
        (weights(Integrator::generalised_alpha(0.8), 1.0), 2.0),
        (weights(Integrator::generalised_alpha(0.0), 1.0), 2.0),
        (weights(Integrator::newmark(0.25, 0.5), 1.0), 2.0),
        (weights(Integrator::bdf2(), 1.0), 2.0),
        (weights(Integrator::Sdirk2, 1.0), 2.0),
    ]
}

#[test]
fn every_method_keeps_its_order() {
    let reference = exact(1.0);
    for (options, wanted) in methods() {
        let error = |n: usize| {
            let found = at(&taken(&options, 1.0 / n as f64, n));
            (found[0] - reference[0]).hypot(0.1 * (found[1] - reference[1]))
        };
        let errors = [error(400), error(800)];
        // At these steps terms of the next order are a hundredth.
        assert!(
            (order(errors) - wanted).abs() < 0.05,
            "{}: {errors:?}",
            options.integrator.name()
        );
        assert!(errors[0] < if wanted == 2.0 { 2e-4 } else { 4e-3 }, "{errors:?}");
    }
}

/// On a mapped node SDIRK2 integrates the deformation beside the positions, and a projection brings
/// both together again, which has to see the same relaxation as the stages. A copy of the strain is
/// the strain: soft, and so stiff that the load creeps. (Against closed forms the strain is tested
/// above.)
#[test]
fn sdirk2_moves_a_copy_of_a_strain_like_the_strain() {
    let copy = |model: &mut Model, node| {
        let copy = Identity::new(Space::Real(6), 1);
        model.add_mapped("copy", &[node], copy).unwrap()
    };
    for (shear, speed) in [(SHEAR, SPEED), (1e7, 0.0)] {
        let strain = |model: Model| {
            let options = weights(Integrator::Sdirk2, 1.0);
            let mut s = Simulation::with_options(model, options).unwrap();
            for _ in 0..100 {
                s.step(0.01).unwrap();
            }
            at(&s)[0]
        };
        let plain = strain(oscillator_on(shear, speed, |_, strain| strain));
        let mapped = strain(oscillator_on(shear, speed, copy));
        // The tolerance of Newton's method, a hundred times.
        assert!(
            (mapped / plain - 1.0).abs() < 1e-7,
            "{shear}: {mapped:e} {plain:e}"
        );
    }
}

/// The force is affine in the strain at the end: the theta method solves the equations of the
/// nonlinear one.
#[test]
fn the_linear_step_is_the_nonlinear_one() {
    for weight in [1.0, 0.5, 0.7] {
        let wanted = at(&taken(&weights(Integrator::Nonlinear, weight), 0.02, 50));
        let mut options = weights(Integrator::Theta, weight);
        options.tuning.linearisation_samples = 1;
        let mut last = taken(&options, 0.02, 50);
        let found = at(&last);
        for (a, b) in found.iter().zip(wanted) {
            // Newton's tolerance, fifty times.
            assert!((a - b).abs() < 1e-9, "{weight} {a} {b}");
        }
        // It says so itself: the miss is rounding.
        let missed = last.step(0.02).unwrap().solve.linearisation.unwrap();
        assert!(missed.share < 1e-12, "{weight} {missed:?}");
    }
}

/// Work of the force becomes kinetic and stored energy and heat. The work of the mean of two
/// stresses differs from that of a stress along the step by third order.
#[test]
fn the_ledger_closes_to_second_order() {
    for integrator in [Integrator::Theta, Integrator::Nonlinear] {
        let numerical = |n: usize| {
            let mut s = Simulation::with_options(oscillator(), weights(integrator.clone(), 0.5)).unwrap();
            let (mut sum, mut heat, mut last) = (Ledger::default(), 0.0, 0.0);
            let mut report = None;
            for _ in 0..n {
                let r = s.step(1.0 / n as f64).unwrap();
                sum += r.ledger;
                assert!(r.ledger.damping < 0.0 && r.dissipated > last, "{r:?}");
                (heat, last) = (heat - r.ledger.damping, r.dissipated);
                report = Some(r);
            }
            let report = report.unwrap();
            assert!((report.dissipated - heat).abs() < 1e-14);
            // A dead load has a potential of its own.
            let start = 0.5 * MASS * SPEED * SPEED;
            let whole = report.energies.total() + heat - start;
            assert!((whole - sum.numerical).abs() < 1e-13, "{whole} {sum:?}");
            (whole.abs(), heat)
        };
        let ((coarse, heat), (fine, _)) = (numerical(200), numerical(400));
        assert!((order([coarse, fine]) - 2.0).abs() < 0.05, "{coarse} {fine}");
        // Of half of all energy that there is.
        assert!(heat > 0.1 && fine < 1e-4 * heat, "{fine} {heat}");
    }
}

#[test]
fn checkpoints_trials_and_failures_take_the_past_along() {
    for (options, _) in methods() {
        let mut s = taken(&options, 0.01, 20);
        let checkpoint = s.checkpoint();
        assert_eq!(checkpoint.state.internal.len(), 18);
        let mut other = Simulation::with_options(oscillator(), options.clone()).unwrap();
        other.restore(&checkpoint).unwrap();
        assert_eq!(other.checkpoint(), checkpoint);
        for h in [0.01, 0.03, 0.002] {
            assert_eq!(s.step(h).unwrap().ledger, other.step(h).unwrap().ledger);
        }
        assert_eq!(s.state(), other.state());
        // A step that is not taken.
        let before = s.checkpoint();
        assert!(s.step(f64::NAN).is_err());
        let mut wrong = before.clone();
        wrong.state.internal[3] = f64::NAN;
        let error = s.restore(&wrong).unwrap_err().to_string();
        assert!(error.contains("`gel`"), "{error}");
        wrong.state.internal.pop();
        assert!(s.restore(&wrong).is_err());
        assert_eq!(s.checkpoint(), before);
        // The state as it is leaves the past as it is.
        let state = s.state().clone();
        s.set_state(&state).unwrap();
        assert_eq!(*s.state(), state);
    }
}

/// A trial that is rejected leaves no trace: the step that stands is two halves from where it
/// started.
#[test]
fn steps_that_choose_their_length_forget_their_trials() {
    let reference = exact(1.0);
    let how = Adaptive {
        position: 1e-5,
        velocity: 1e-4,
        first: 0.1,
        ..Adaptive::default()
    };
    for options in [
        weights(Integrator::Theta, 0.5),
        weights(Integrator::generalised_alpha(0.8), 1.0),
    ] {
        let mut s = Simulation::with_options(oscillator(), options.clone()).unwrap();
        let mut by_hand = Simulation::with_options(oscillator(), options).unwrap();
        let mut rejected = 0;
        while s.time() < 1.0 {
            let report = s.step_adaptively(&how, 1.0).unwrap();
            rejected += report.rejected;
            by_hand.step(0.5 * report.step.h).unwrap();
            by_hand.step(0.5 * report.step.h).unwrap();
            assert_eq!(s.state(), by_hand.state());
        }
        assert!(rejected > 0);
        let error = (at(&s)[0] - reference[0]).abs();
        assert!(error < 1e-4, "{error}");
    }
}

#[test]
fn statics_has_what_never_relaxes_and_forgets() {
    let mut s = taken(&weights(Integrator::Theta, 1.0), 0.01, 10);
    let slow = SHEAR * (1.0 - 0.7);
    let stored = s.state().internal.clone();
    s.find_equilibrium(&Equilibrium::default()).unwrap();
    assert!(
        (at(&s)[0] - FORCE / slow).abs() < 1e-9 * FORCE / slow,
        "{:?}",
        at(&s)
    );
    assert_ne!(stored, s.state().internal);
    // The springs have relaxed, so that it stays at rest.
    assert_eq!(&s.state().internal[6..], &[0.0; 12]);
    let x = at(&s)[0];
    for _ in 0..5 {
        s.step(0.1).unwrap();
    }
    assert!((at(&s)[0] - x).abs() < 1e-9, "{} {x}", at(&s)[0]);
    let load = s.model().component_named("load").unwrap();
    let path = Continuation {
        loads: Loads {
            components: vec![load],
            ..Loads::default()
        },
        end: 2.0,
        ..Continuation::default()
    };
    let mut seen = Vec::new();
    s.follow(&path, |s, point| {
        seen.push((point.load, at(s)[0]));
        true
    })
    .unwrap();
    for (load, x) in seen {
        assert!((x - load * FORCE / slow).abs() < 1e-8, "{load} {x}");
    }
}

#[test]
fn what_cannot_remember_says_so() {
    for integrator in [
        Integrator::Rattle,
        Integrator::Rattle4,
        Integrator::SymplecticEuler,
        Integrator::RungeKutta4,
    ] {
        let name = integrator.name().to_owned();
        let mut s = Simulation::with_options(oscillator(), weights(integrator, 1.0)).unwrap();
        let before = s.checkpoint();
        let error = s.step(0.01).unwrap_err();
        assert!(matches!(error, Error::Memory { .. }), "{error}");
        let error = error.to_string();
        assert!(error.contains("`gel`") && error.contains(&name), "{error}");
        assert_eq!(s.checkpoint(), before);
    }
    let mut model = oscillator();
    model
        .set_rayleigh(Rayleigh {
            mass: 0.0,
            stiffness: 0.1,
        })
        .unwrap();
    let error = Simulation::new(model)
        .unwrap()
        .step(0.01)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`gel`") && error.contains("in proportion to the stiffness"),
        "{error}"
    );
    let mut options = Options::default();
    options.contacts.sleeping = Some(pliant::contact::Sleeping::default());
    let mut s = Simulation::with_options(oscillator(), options).unwrap();
    let error = s.step(0.01).unwrap_err().to_string();
    assert!(error.contains("sleeping does not take `gel`"), "{error}");
}

#[test]
fn warm_steps_allocate_nothing() {
    for (options, _) in methods() {
        let mut s = taken(&options, 0.01, 3);
        let found = allocation_counter::measure(|| {
            for _ in 0..5 {
                s.step(0.01).unwrap();
            }
        });
        assert_eq!(found.count_total, 0, "{}", options.integrator.name());
    }
}

/// A bar held at one end, with a load on the other that comes at once: it creeps by the ratio of
/// the standard linear solid, at any mesh and shape, by the correspondence of viscoelastic and
/// elastic problems.
fn creep_of(solid: Solid, integrator: Integrator, n: usize) -> f64 {
    let (share, time) = (0.5, 1.0);
    let mesh = Mesh::hexahedral_box([1.0, 0.2, 0.2], [4, 1, 1]).unwrap();
    let build = |solid: Solid| {
        let mut model = Model::new();
        let parts = solid
            .with_density(1e-16)
            .add_to(&mut model, "bar", &mesh)
            .unwrap();
        for (k, _) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] == 0.0) {
            model.fix(parts.nodes, k, &[true; 3]).unwrap();
        }
        let options = Options {
            integrator: integrator.clone(),
            ..Options::default()
        };
        let mut s = Simulation::with_options(model, options).unwrap();
        for (k, _) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] == 1.0) {
            s.set_force(parts.nodes, k, &[0.0, 0.0, -1e-5]).unwrap();
        }
        s
    };
    let tip = |s: &Simulation| {
        let last = mesh.nodes.len() - 1;
        s.state().positions[3 * last + 2] - mesh.nodes[last][2]
    };
    let mut elastic = build(solid);
    elastic.find_equilibrium(&Equilibrium::default()).unwrap();
    let fast = tip(&elastic);
    let series = PronySeries::new(&[PronyTerm::new(time, share)]).unwrap();
    let mut s = build(solid.with_viscoelasticity(series));
    // At once, as far as the material knows; without inertia, as far as the bar knows.
    for _ in 0..12 {
        s.step(1e-8).unwrap();
    }
    let mut worst = 0.0f64;
    for k in 0..=n {
        let t = 2.0 * k as f64 / n as f64;
        if k > 0 {
            s.step(2.0 / n as f64).unwrap();
        }
        let ratio = 1.0 / (1.0 - share) - (1.0 / (1.0 - share) - 1.0) * (-t * (1.0 - share) / time).exp();
        worst = worst.max((tip(&s) / fast - ratio).abs());
    }
    s.find_equilibrium(&Equilibrium::default()).unwrap();
    // What an equilibrium leaves of so small a load; the deflection over the thickness, squared, is
    // less.
    assert!((tip(&s) / fast - 2.0).abs() < 2e-5, "{}", tip(&s) / fast);
    worst
}

#[test]
fn bars_creep_as_the_standard_linear_solid() {
    for (solid, integrator) in [
        (Solid::linear(1e3, 0.3), Integrator::Theta),
        (Solid::corotational(1e3, 0.3), Integrator::Theta),
        (Solid::corotational(1e3, 0.3), Integrator::Nonlinear),
        (Solid::st_venant_kirchhoff(1e3, 0.3), Integrator::Theta),
        (
            Solid::hyperelastic(StrainEnergy::neo_hookean(1e3, 0.3)),
            Integrator::Theta,
        ),
    ] {
        let errors = [50, 100].map(|n| creep_of(solid, integrator.clone(), n));
        // Strains that are straight over a step are of second order; what is not linear in a
        // deflection of 5e-4 of the thickness is left at first order by the theta method.
        let second = solid != Solid::linear(1e3, 0.3) || (order(errors) - 2.0).abs() < 0.1;
        assert!(second && errors[1] < 1e-5, "{solid:?} {integrator:?} {errors:?}");
    }
}

/// Volume rows do not relax, the shape does.
#[test]
fn a_block_with_volume_rows_relaxes_in_shape() {
    let mesh = Mesh::hexahedral_box([1.0; 3], [1; 3]).unwrap();
    let series = PronySeries::new(&[PronyTerm::of_shear(1.0, 0.5)]).unwrap();
    let solid = Solid::linear(3.0, 0.5)
        .with_density(1e-6)
        .with_incompressibility(pliant::continuum::Incompressibility::PerElement)
        .with_viscoelasticity(series);
    let mut model = Model::new();
    let parts = solid.add_to(&mut model, "gel", &mesh).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        model
            .fix(
                parts.nodes,
                k,
                &[x[0] == 0.0 || x[0] == 1.0, x[1] == 0.0, x[2] == 0.0],
            )
            .unwrap();
    }
    let mut s = crate::tools::theta(model).unwrap();
    let mut state = s.state().clone();
    for x in state.positions[..3 * mesh.nodes.len()].chunks_exact_mut(3) {
        (x[0], x[1], x[2]) = (1.01 * x[0], 0.995 * x[1], 0.995 * x[2]);
    }
    s.set_state(&state).unwrap();
    let force = |s: &Simulation| -> f64 {
        let right = (0..mesh.nodes.len()).filter(|k| mesh.nodes[*k][0] == 1.0);
        right.map(|k| s.support_force(parts.nodes, k)[0]).sum()
    };
    let mut t = 0.0f64;
    for h in [1e-3, 0.5, 1.0, 0.3] {
        s.step(h).unwrap();
        t += h;
        // Young's modulus of what does not change its volume is three times the shear modulus.
        let wanted = 3.0 * (1.0 - 0.5 * (1.0 - (-t).exp())) * 0.01;
        assert!((force(&s) - wanted).abs() < 1e-9, "{t} {} {wanted}", force(&s));
    }
    let error = Solid::linear(3.0, 0.5)
        .with_incompressibility(pliant::continuum::Incompressibility::PerElement)
        .with_viscoelasticity(PronySeries::new(&[PronyTerm::new(1.0, 0.5)]).unwrap())
        .add_to(&mut Model::new(), "gel", &mesh)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("share of bulk") && error.contains("gel"),
        "{error}"
    );
}
