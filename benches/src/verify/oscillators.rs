//! A: one mass on a spring; the whole (alpha, beta) family. F11: pseudo-static relaxation.

use super::Checks;
use pliant::prelude::*;

/// One mass on one spring, as stiffness or compliance.
fn oscillator(
    m: f64,
    k: f64,
    d: f64,
    x: f64,
    v: f64,
    treatment: Treatment,
) -> Result<(Simulation, NodeId), Error> {
    let mut model = Model::new();
    let node = model.add_independent("mass", Space::Real(1), &[x], &[v])?;
    model.add_mass("m", node, Mass::Uniform(m))?;
    model.add_force_field(
        "spring",
        node,
        UniformCompliance::new(1.0 / k).with_relaxation_time(d),
        treatment,
    )?;
    Ok((Simulation::with_options(model, Options::theta())?, node))
}

fn state(simulation: &Simulation, node: NodeId) -> [f64; 2] {
    [simulation.positions(node)[0], simulation.velocities(node)[0]]
}

pub(super) fn run(checks: &mut Checks) -> Result<(), Error> {
    one_step_matrices(checks)?;
    energy(checks)?;
    damped(checks)?;
    hard_rows(checks)?;
    stabilisation(checks)?;
    pseudo_static(checks)
}

/// A01: the one-step matrix from two initial states, in both treatments.
fn one_step_matrices(checks: &mut Checks) -> Result<(), Error> {
    let weights = [0.25, 0.5, 0.75, 1.0];
    for alpha in weights {
        for beta in weights {
            let key = format!("U(a={alpha:?},b={beta:?})");
            for treatment in [Treatment::Stiffness, Treatment::Compliance] {
                let mut columns = Vec::new();
                for (x, v) in [(1.0, 0.0), (0.0, 1.0)] {
                    let (mut s, node) = oscillator(2.0, 30.0, 0.0, x, v, treatment)?;
                    s.options = Options {
                        alpha,
                        beta,
                        ..Options::theta()
                    };
                    s.step(0.1)?;
                    columns.push(state(&s, node));
                }
                let u = [columns[0][0], columns[1][0], columns[0][1], columns[1][1]];
                let reference = checks.references.expected("A01", &key);
                // A few hundred roundings of numbers of order one.
                checks.compare("A01", format!("{key} {treatment:?}"), &reference, &u, 1e-13);
            }
        }
    }
    Ok(())
}

/// A01: energy over 1000 steps.
fn energy(checks: &mut Checks) -> Result<(), Error> {
    for (alpha, beta, expected) in [(0.5, 0.5, 1.0), (0.5, 1.0, 0.0)] {
        for treatment in [Treatment::Stiffness, Treatment::Compliance] {
            let (mut s, _) = oscillator(2.0, 30.0, 0.0, 0.3, -0.4, treatment)?;
            s.options = Options {
                alpha,
                beta,
                ..Options::theta()
            };
            let start = s.problem().energies(s.state()).total();
            let mut end = 0.0;
            for _ in 0..1000 {
                end = s.step(0.1)?.energies.total();
            }
            let what = format!("energy ratio after 1000 steps ({alpha}, {beta}) {treatment:?}");
            checks.compare("A01", what, &[expected], &[end / start], 1e-11);
        }
    }
    Ok(())
}

/// A02: damped oscillator; one step, order, and the three ways to say the damping.
fn damped(checks: &mut Checks) -> Result<(), Error> {
    let (m, k, d, x, v) = (1.5, 60.0, 0.02, 0.3, -0.4);
    let exact = checks.references.expected("A02", "x(1)")[0];
    for (weight, order) in [(1.0, 1.0), (0.5, 2.0)] {
        let options = Options {
            alpha: weight,
            beta: weight,
            ..Options::theta()
        };
        let mut ends = Vec::new();
        for way in ["compliance", "stiffness", "dashpot"] {
            let build = || -> Result<(Simulation, NodeId), Error> {
                match way {
                    "compliance" => oscillator(m, k, d, x, v, Treatment::Compliance),
                    "stiffness" => oscillator(m, k, d, x, v, Treatment::Stiffness),
                    _ => {
                        let mut model = Model::new();
                        let node = model.add_independent("mass", Space::Real(1), &[x], &[v])?;
                        model.add_mass("m", node, Mass::Uniform(m))?;
                        let law = UniformCompliance::from_stiffness(k);
                        model.add_force_field("spring", node, law, Treatment::Stiffness)?;
                        model.add_force_field("dashpot", node, Damping::new(d * k), Treatment::Stiffness)?;
                        Ok((Simulation::with_options(model, Options::theta())?, node))
                    }
                }
            };
            let (mut s, node) = build()?;
            s.options = options.clone();
            s.step(0.01)?;
            let key = format!("one step h=.01 ({weight:?}, {weight:?})");
            let key = if checks.references.keys("A02").contains(&key) {
                key
            } else {
                key.replace(", ", ",")
            };
            checks.against("A02", &key, &state(&s, node), 1e-14);
            let mut errors = Vec::new();
            for h in [0.01, 0.005, 0.0025] {
                let (mut s, node) = build()?;
                s.options = options.clone();
                for _ in 0..(1.0f64 / h).round() as usize {
                    s.step(h)?;
                }
                errors.push((state(&s, node)[0] - exact).abs());
                if h == 0.01 {
                    ends.push(state(&s, node)[0]);
                }
            }
            checks.order(
                "A02",
                &format!("x(1), alpha = beta = {weight}, {way}"),
                order,
                &errors,
                0.15,
            );
            let key = format!("err at h=.01 ({weight:?},{weight:?})");
            let bound = 1.5 * checks.references.expected("A02", &key)[0];
            checks.at_most("A02", format!("{key} {way}"), bound, errors[0]);
        }
        // The three are the same equations: rounding over 100 steps.
        checks.compare(
            "A02",
            "compliance = stiffness = dashpot",
            &[ends[0]; 2],
            &ends[1..],
            1e-12,
        );
    }
    Ok(())
}

/// A04: hard rows carry no alpha; compliant rows do, and their limit C -> 0 is rule (37).
fn hard_rows(checks: &mut Checks) -> Result<(), Error> {
    for alpha in [1.0, 0.75, 0.5, 0.4] {
        let mut s = {
            let mut model = Model::new();
            let node = model.add_scalars("x", &[0.1])?;
            model.add_mass("m", node, Mass::Uniform(1.0))?;
            model.add_constraint("wall", node, Level::Position)?;
            Simulation::with_options(model, Options::theta())?
        };
        s.options.alpha = alpha;
        s.step(0.1)?;
        checks.compare(
            "A04",
            format!("own hard row, alpha = {alpha}"),
            &[0.0],
            &s.state().positions[..1],
            1e-15,
        );

        let (mut s, node) = oscillator(1.0, 1e18, 0.0, 0.1, 0.0, Treatment::Compliance)?;
        s.options.alpha = alpha;
        let mut found = Vec::new();
        for _ in 0..6 {
            s.step(0.1)?;
            found.push(s.positions(node)[0]);
        }
        // C = 1e-18 m/N: R is 1e-16 of the row's Delassus diagonal, amplified by up to (1-a)/a per
        // step.
        checks.against("A04", &format!("phi_1..6 alpha={alpha:?}"), &found, 1e-14);
    }
    Ok(())
}

/// F10: every way to treat one violated hard row.
fn stabilisation(checks: &mut Checks) -> Result<(), Error> {
    let build = |level: Option<Level>| -> Result<(Simulation, NodeId), Error> {
        let mut model = Model::new();
        let node = model.add_independent("x", Space::Real(1), &[0.2], &[0.5])?;
        model.add_mass("m", node, Mass::Uniform(1.0))?;
        match level {
            Some(level) => model.add_constraint("row", node, level)?,
            None => {
                model.add_force_field("row", node, UniformCompliance::new(0.01), Treatment::Compliance)?
            }
        };
        Ok((Simulation::with_options(model, Options::theta())?, node))
    };
    let two = |s: &mut Simulation, node| -> Result<Vec<f64>, Error> {
        let mut out = Vec::new();
        for _ in 0..2 {
            s.step(0.1)?;
            out.extend(state(s, node));
        }
        Ok(out)
    };
    let plain = [
        ("linearised position row (x1,v1,x2,v2)", Level::Position),
        ("Baumgarte v+=-g phi, g=2", Level::Baumgarte { rate: 2.0 }),
        (
            "velocity row alone keeps the violation",
            Level::Velocity { curvature: 0.0 },
        ),
    ];
    for (key, level) in plain {
        let (mut s, node) = build(Some(level))?;
        let found = two(&mut s, node)?;
        checks.against("F10", key, &found, 1e-15);
    }
    for key in ["pre-stabilisation", "post-stabilisation"] {
        let (mut s, node) = build(Some(Level::Position))?;
        let how = Some(Stabilisation::default());
        if key.starts_with("pre") {
            s.options.pre_stabilisation = how;
        } else {
            s.options.post_stabilisation = how;
        }
        let found = two(&mut s, node)?;
        checks.against("F10", key, &found, 1e-15);
    }
    let (mut s, node) = build(None)?;
    s.step(0.1)?;
    checks.against(
        "F10",
        "compliant row never pumps energy: implicit Euler step",
        &state(&s, node),
        1e-15,
    );
    let (mut s, node) = build(Some(Level::Position))?;
    s.options.beta = 0.5;
    s.step(0.1)?;
    // The velocity of the start contradicts the row and is projected to zero first; then
    // x0 + h (v+ + 0)/2 = 0.
    let what = "beta=1/2, linearised position row: v+ = -2 x0/h";
    checks.compare("F10", what, &[0.0, -4.0], &state(&s, node), 1e-14);
    s.step(0.1)?;
    let what = "...next step: v flips sign forever";
    checks.compare("F10", what, &[0.0, 4.0], &state(&s, node), 1e-13);
    Ok(())
}

/// F11: pseudo-static steps on three masses in a row, and one of Newton's method.
fn pseudo_static(checks: &mut Checks) -> Result<(), Error> {
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        let mut model = Model::new();
        let x = model.add_scalars("x", &[0.0; 3])?;
        model.add_mass("m", x, Mass::Uniform(2.0))?;
        let wall = (End::element(0, 0), End::Point([0.0; 3]));
        let pairs = [
            wall,
            (End::element(0, 1), End::element(0, 0)),
            (End::element(0, 2), End::element(0, 1)),
        ];
        let stretch = model.add_mapped("stretch", &[x], Difference::new(&pairs).in_dimension(1))?;
        let springs = DiagonalCompliance::new(&[1.0 / 20.0, 1.0 / 10.0, 1.0 / 15.0]);
        model.add_force_field("springs", stretch, springs, treatment)?;
        for (k, f) in [1.0, -2.0, 3.0].into_iter().enumerate() {
            let one = model.add_mapped(&format!("x{k}"), &[x], Subset::of_elements(Space::Real(1), &[k]))?;
            model.add_force_field(
                &format!("load {k}"),
                one,
                ConstantForce::new(&[f]),
                Treatment::Stiffness,
            )?;
        }
        let mut s = Simulation::with_options(model, Options::theta())?;
        let start = s.state().clone();
        for _ in 0..20 {
            s.settle_once(0.2, 0.0)?;
        }
        checks.against("F11", "x after 20 passes (K)", s.positions(x), 1e-12);
        s.settle(Settle {
            h: 10.0,
            ..Settle::default()
        })?;
        checks.against("F11", "equilibrium", s.positions(x), 1e-11);
        s.set_state(&start)?;
        let report = s.find_equilibrium(&Equilibrium::default())?;
        let key = "static Newton: one step for a linear system";
        checks.against("F11", key, s.positions(x), 1e-12);
        checks.all_equal("F11", "iterations of Newton's method", 1, &[report.iterations]);
    }
    Ok(())
}
