//! Rows that are driven, bounded and damped: laws that must see the motion.

use crate::tools::{WEIGHTS, weighted, worst};
use pliant::prelude::*;

/// A nonlinear spring acts on what is left of its coordinate after the motion that drives it: the
/// same as one between the mass and a support that moves so.
#[test]
fn a_driven_nonlinear_spring_is_one_to_a_moving_support() {
    let laws = [
        Spring::saturating(50.0, 3.0).with_damping(0.7),
        Spring::stiffening(20.0, 100.0),
        Spring::table(&[(-1.0, -2.0), (0.0, 0.0), (0.5, 2.0), (2.0, 3.0)]),
    ];
    for law in laws {
        for (alpha, beta) in WEIGHTS {
            for rayleigh in [0.0, 0.01] {
                let build = |driven: bool| {
                    let mut model = Model::new();
                    let rayleigh = Rayleigh {
                        mass: 0.0,
                        stiffness: rayleigh,
                    };
                    model.set_rayleigh(rayleigh).unwrap();
                    let x = model
                        .add_independent("x", Space::Real(1), &[0.9], &[0.3])
                        .unwrap();
                    model.add_mass("m", x, Mass::Uniform(0.8)).unwrap();
                    // From 0.5 on at 0.4 per second.
                    let support = model
                        .add_independent("support", Space::Real(1), &[0.5], &[0.4])
                        .unwrap();
                    model.add_mass("n", support, Mass::Uniform(1.0)).unwrap();
                    model.fix(support, 0, &[true]).unwrap();
                    if driven {
                        let id = model
                            .add_force_field("spring", x, law.clone(), Treatment::Compliance)
                            .unwrap();
                        model
                            .set_motion(id, Some(PrescribedMotion::ramp(0.5, 0.4)))
                            .unwrap();
                    } else {
                        let pair = [(End::element(0, 0), End::element(1, 0))];
                        let gap = Difference::new(&pair).in_dimension(1);
                        let gap = model.add_mapped("gap", &[x, support], gap).unwrap();
                        model
                            .add_force_field("spring", gap, law.clone(), Treatment::Stiffness)
                            .unwrap();
                    }
                    let mut s = Simulation::with_options(model, weighted(alpha, beta)).unwrap();
                    let mut out = Vec::new();
                    let mut dissipated = 0.0;
                    for _ in 0..50 {
                        let report = s.step(0.02).unwrap();
                        dissipated = report.dissipated;
                        out.extend([s.positions(x)[0], s.velocities(x)[0], report.energies.potential]);
                    }
                    out.push(dissipated);
                    out
                };
                let found = worst(&build(true), &build(false));
                assert!(found < 1e-11, "{law:?} ({alpha}, {beta}) {rayleigh}: {found:e}");
            }
        }
    }
}

/// With damping in proportion to the stiffness a compliance that is hard along one coordinate is
/// damped along the others, and the account says so.
#[test]
fn a_partly_hard_spring_is_damped_where_it_is_soft() {
    let mut model = Model::new();
    let rayleigh = Rayleigh {
        mass: 0.0,
        stiffness: 0.03,
    };
    model.set_rayleigh(rayleigh).unwrap();
    let x = model
        .add_independent("x", Space::Real(2), &[0.0, 0.3], &[0.0, 0.0])
        .unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    let law = DiagonalCompliance::new(&[0.0, 0.05]);
    model
        .add_force_field("spring", x, law, Treatment::Compliance)
        .unwrap();
    let mut s = Simulation::with_options(model, Options::trapezoidal()).unwrap();
    for _ in 0..100 {
        let report = s.step(0.01).unwrap();
        // The trapezoid loses exactly what damping takes.
        let balance = report.energies.total() + report.dissipated - 0.5 * 20.0 * 0.09;
        assert!(balance.abs() < 1e-12, "{balance:e}");
    }
    assert!(s.step(0.01).unwrap().dissipated > 0.1);
}

/// However strong the dashpot beside a spring, the energy is that of the spring: also where the row
/// counts as stiff for it.
#[test]
fn an_overdamped_spring_stores_its_deformation() {
    let (k, c) = (1.0, 1000.0);
    for case in 0..3 {
        for driven in [false, true] {
            let mut model = Model::new();
            let x = model
                .add_independent("x", Space::Real(1), &[0.5, -0.2], &[1.0, 3.0])
                .unwrap();
            model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
            let law = FullCompliance::from_stiffness(&[k, 0.5, 0.5, 2.0]).over_elements(2);
            let law = match case {
                0 => law.with_relaxation_time(c / k),
                1 => law.with_damping(&[c, 1.0, 1.0, 2.0 * c]),
                _ => {
                    let rayleigh = Rayleigh {
                        mass: 0.0,
                        stiffness: c / k,
                    };
                    model.set_rayleigh(rayleigh).unwrap();
                    law
                }
            };
            let id = model
                .add_force_field("spring", x, law, Treatment::Compliance)
                .unwrap();
            let rate = if driven { 0.3 } else { 0.0 };
            model
                .set_motion(id, Some(PrescribedMotion::ramp(0.0, rate)))
                .unwrap();
            let mut s = crate::tools::theta(model).unwrap();
            for _ in 0..20 {
                let found = s.step(0.01).unwrap().energies.potential;
                let x = s.positions(x);
                let x = [x[0] - rate * s.time(), x[1] - rate * s.time()];
                let expected = 0.5 * (k * x[0] * x[0] + 2.0 * x[1] * x[1]) + 0.5 * x[0] * x[1];
                // The elastic force is what is left of one a thousand times as large.
                assert!(
                    (found - expected).abs() < 1e-10,
                    "case {case}: {found} {expected}"
                );
            }
        }
    }
}

/// A driven compliance stores its deformation from where it is driven, `(x - m)^2/(2 C)`, also before
/// the first step and at rest: of a spring of 0.01 m/N that is held back by 0.2 m 2 J, and nothing where
/// it came to rest.
#[test]
fn energies_of_driven_compliances_are_known_at_rest() {
    let mut model = Model::new();
    let x = model
        .add_independent("x", Space::Real(1), &[0.0], &[0.0])
        .unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    let law = UniformCompliance::new(0.01);
    let spring = model
        .add_force_field("spring", x, law, Treatment::Compliance)
        .unwrap();
    model
        .set_motion(spring, Some(PrescribedMotion::constant(&[0.2])))
        .unwrap();
    let mut s = Simulation::new(model).unwrap();
    assert!((s.present_energies().potential - 2.0).abs() < 1e-14);
    s.find_equilibrium(&Equilibrium::default()).unwrap();
    assert!((s.positions(x)[0] - 0.2).abs() < 1e-12);
    assert!(s.present_energies().potential < 1e-14);
}
