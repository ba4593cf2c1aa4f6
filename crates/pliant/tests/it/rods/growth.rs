//! Rods and springs that are longer without load than they were: heat and growth, winches.

use super::*;

/// The area of the bar (m^2).
const AREA: f64 = 1.2e-4;

/// A bar of 1 m, flat so that it bends one way first, of which these bodies do not move.
fn bar(n: usize, treatment: Treatment, held: &[usize]) -> (Model, RodParts) {
    let section = Section::rectangle([0.012, 0.01]);
    let rod = Rod::new(section, 1e7, 0.25).with_treatment(treatment);
    let curve = RodCurve::straight([0.0; 3], [1.0, 0.0, 0.0], n).with_normal([0.0, 0.0, 1.0]);
    let mut model = Model::new();
    let parts = rod.add_to(&mut model, "bar", &curve).unwrap();
    for body in held {
        model.fix(parts.frames, *body, &[true; 6]).unwrap();
    }
    (model, parts)
}

/// A heated bar between walls pushes with `E A g` and buckles where that is Euler's load of two
/// clamped ends, `g = 4 pi^2 I/(A L^2)`, for both directions of bending.
#[test]
fn a_bar_that_grows_between_walls_buckles() {
    let exact = [0.01f64, 0.012].map(|t| 4.0 * std::f64::consts::PI.powi(2) * t * t / 12.0);
    let found = [16, 32].map(|n| {
        let (mut model, parts) = bar(n, Treatment::Compliance, &[0, n]);
        let share = PrescribedMotion::constant(&[1.2 * exact[1]]);
        model
            .set_motion(parts.elasticity, Some(parts.growth(&share)))
            .unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        let how = Continuation {
            loads: Loads {
                components: vec![parts.elasticity],
                ..Loads::default()
            },
            ..Continuation::default()
        };
        let mut worst = 0.0f64;
        let path = simulation
            .follow(&how, |s, point| {
                let push = s.reaction(parts.elasticity)[0] / parts.lengths[0];
                worst = worst.max((push - 1e7 * AREA * point.load * 1.2 * exact[1]).abs());
                true
            })
            .unwrap();
        // Straight all the way: forces are linear in the growth.
        assert!(worst < 1e-9 * 1e7 * AREA * exact[1], "{worst:e}");
        let critical: Vec<f64> = path.critical.iter().map(|c| 1.2 * exact[1] * c.load).collect();
        assert_eq!(critical.len(), 2, "{critical:?}");
        critical
    });
    for k in 0..2 {
        let errors = found.each_ref().map(|f| f[k] / exact[k] - 1.0);
        println!(
            "grown bar, direction {k}: {found:?} for {}, errors {errors:?}",
            exact[k]
        );
        // Of second order in the segments towards what shear takes off, P/(k G A) = 3 g and the
        // shortening itself.
        let limit = errors[1] - (errors[0] - errors[1]) / 3.0;
        assert!((limit.abs()) < 4.0 * exact[k] + 1e-3, "{errors:?}, {limit}");
        assert!(errors[1].abs() < 0.02 && errors[0].abs() < 0.05, "{errors:?}");
    }
}

/// The energy of a growing bar between walls, `E A L g^2/2`, is the work of its growth; a free one
/// is longer by it and stores nothing.
#[test]
fn growth_does_the_work() {
    let rate = 1e-3;
    let (mut model, parts) = bar(4, Treatment::Compliance, &[0, 4]);
    let growth = parts.growth(&PrescribedMotion::ramp(0.0, rate));
    model.set_motion(parts.elasticity, Some(growth)).unwrap();
    let mut s = Simulation::with_options(model, Options::trapezoidal()).unwrap();
    let (mut work, mut left) = (0.0, 0.0f64);
    for _ in 0..20 {
        let ledger = s.step(0.01).unwrap().ledger;
        work += ledger.motion;
        left = left.max((ledger.kinetic + ledger.potential - ledger.brought_in() - ledger.numerical).abs());
    }
    let stored = 0.5 * 1e7 * AREA * (rate * s.time()).powi(2);
    // Rounding of forces of 2e3 N, which have grown to 0.4 N.
    assert!(
        (work / stored - 1.0).abs() < 1e-10 && left < 1e-14,
        "{work} {stored} {left:e}"
    );

    let (mut model, parts) = bar(4, Treatment::Compliance, &[0]);
    let growth = parts.growth(&PrescribedMotion::constant(&[0.1]));
    model.set_motion(parts.elasticity, Some(growth)).unwrap();
    let mut s = Simulation::new(model).unwrap();
    s.find_equilibrium(&Equilibrium::default()).unwrap();
    let tip = s.positions(parts.frames)[7 * 4];
    assert!((tip - 1.1).abs() < 1e-9, "{tip}");
}

/// As stiffnesses its strains are not driven, which is said.
#[test]
fn growth_of_a_stiffness_is_refused() {
    let (mut model, parts) = bar(4, Treatment::Stiffness, &[0]);
    let growth = parts.growth(&PrescribedMotion::constant(&[0.1]));
    let error = model.set_motion(parts.elasticity, Some(growth)).unwrap_err();
    assert!(error.to_string().contains("bar.elasticity"), "{error}");
}

/// A winch lets a load down at a steady rate `r` by the rest length of its spring, as a stiffness
/// and as a compliance, two-sided or a rope: the load follows, the spring carries its weight, and
/// each step takes `m g r h` from it, which the ledger calls that of an input.
#[test]
fn a_winch_of_a_spring_hoists_its_load() {
    let (mass, k, g) = (2.0, 300.0, 9.81);
    let start = 0.5;
    for rate in [0.3, -0.3] {
        for (law, treatment) in [
            (Spring::linear(k), Treatment::Stiffness),
            (Spring::linear(k), Treatment::Compliance),
            (Spring::tension_only(k), Treatment::Stiffness),
        ] {
            let mut model = Model::new();
            model.set_gravity([0.0, 0.0, -g]).unwrap();
            let sag = mass * g / k;
            let from = [0.0, 0.0, -start - sag];
            let load = model
                .add_independent("load", Space::Real(3), &from, &[0.0, 0.0, -rate])
                .unwrap();
            model.add_mass("m", load, Mass::Uniform(mass)).unwrap();
            let length = Distance::to_points(&[(0, [0.0; 3])]);
            let length = model.add_mapped("length", &[load], length).unwrap();
            let spring = model
                .add_force_field("rope", length, law.clone().with_rest(start), treatment)
                .unwrap();
            let mut s = Simulation::with_options(model, Options::trapezoidal()).unwrap();
            let h = 0.01;
            for i in 0..100 {
                // In the middle of the step, where the trapezoidal rule has its forces.
                s.set_input(spring, 0, start + rate * (s.time() + 0.5 * h))
                    .unwrap();
                let ledger = s.step(h).unwrap().ledger;
                let left = ledger.kinetic + ledger.potential - ledger.brought_in() - ledger.numerical;
                assert!(left.abs() < 1e-12, "{left:e}");
                if i > 0 {
                    let found = ledger.inputs / (mass * g * rate * h) + 1.0;
                    assert!(found.abs() < 1e-9, "{treatment:?} {rate}: {found:e}");
                }
                let z = s.positions(load)[2];
                let exact = from[2] - rate * s.time();
                assert!((z - exact).abs() < 1e-12, "{treatment:?} {rate}: {z} {exact}");
            }
        }
    }
}
