//! B: pendulums, the hanging chain, the taut bead.

use super::{Checks, distance};
use pliant::prelude::*;

const NO_GEOMETRY: GeometricTerms = GeometricTerms {
    forces: GeometricStiffness::Full,
    multipliers: GeometricStiffness::None,
};

pub(super) fn run(checks: &mut Checks) -> Result<(), Error> {
    pendulum(checks)?;
    double_pendulum(checks)?;
    catenary(checks)?;
    taut_bead(checks)
}

fn build_pendulum(options: Options) -> Result<(Simulation, NodeId), Error> {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0])?;
    let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]])?;
    model.add_mass("m", bob, Mass::Uniform(1.0))?;
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rod = model.add_mapped("rod", &[bob], length)?;
    model.add_constraint("hard", rod, Level::Position)?;
    Ok((Simulation::with_options(model, options)?, bob))
}

/// B01: position rows at J_k, and velocity rows with projection; exact scheme states, order, error,
/// drift.
fn pendulum(checks: &mut Checks) -> Result<(), Error> {
    let post = Stabilisation {
        tolerance: 1e-14,
        ..Stabilisation::default()
    };
    let ways = [
        (
            "pos",
            Options {
                geometry: NO_GEOMETRY,
                ..Options::theta()
            },
        ),
        (
            "vel+proj",
            Options {
                geometry: NO_GEOMETRY,
                post_stabilisation: Some(post),
                ..Options::theta()
            },
        ),
    ];
    let exact = checks.references.expected("B01", "(x,y)(1.0)");
    for (way, options) in ways {
        let mut errors = Vec::new();
        let mut drifts = Vec::new();
        for h in [0.01, 0.005, 0.0025] {
            let (mut s, bob) = build_pendulum(options.clone())?;
            let mut drift = 0.0f64;
            for _ in 0..(1.0f64 / h).round() as usize {
                drift = drift.max(s.step(h)?.violation);
            }
            let (x, v) = (s.positions(bob), s.velocities(bob));
            if h == 0.01 {
                let key = format!("scheme state (x,v) after 100 steps h=.01, {way}");
                checks.against("B01", &key, &[x[0], x[1], v[0], v[1]], 1e-9);
            }
            errors.push(distance(&x[..2], &exact));
            drifts.push(drift);
        }
        checks.order("B01", &format!("x(1), {way}"), 1.0, &errors, 0.15);
        let bound = checks
            .references
            .expected("B01", &format!("reference err(h=.01,.005,.0025) {way}"));
        for (e, b) in errors.iter().zip(bound) {
            checks.at_most("B01", format!("error at t = 1, {way}"), 1.5 * b, *e);
        }
        if way == "pos" {
            checks.order("B01", "drift of position rows", 2.0, &drifts, 0.1);
        }
    }
    Ok(())
}

/// B02: double pendulum, exact scheme state with multipliers, order, error.
fn double_pendulum(checks: &mut Checks) -> Result<(), Error> {
    let exact = checks.references.expected("B02", "(x1,y1,x2,y2)(0.5)");
    let bounds = checks
        .references
        .expected("B02", "reference err at t=.5, h=.004,.002,.001");
    let mut errors = Vec::new();
    for h in [0.004, 0.002, 0.001] {
        let angle = std::f64::consts::FRAC_PI_3;
        let second = [1.0 + 0.7 * angle.sin(), -0.7 * angle.cos(), 0.0];
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0])?;
        let bobs = model.add_particles("bobs", &[[1.0, 0.0, 0.0], second])?;
        model.add_mass("m", bobs, Mass::PerElement(vec![1.0, 2.0]))?;
        let pairs = [
            (End::element(0, 0), End::Point([0.0; 3])),
            (End::element(0, 1), End::element(0, 0)),
        ];
        let rods = model.add_mapped(
            "rods",
            &[bobs],
            Distance::new(&pairs).with_rest_lengths(&[1.0, 0.7]),
        )?;
        let hard = model.add_constraint("hard", rods, Level::Position)?;
        let mut s = Simulation::with_options(
            model,
            Options {
                geometry: NO_GEOMETRY,
                ..Options::theta()
            },
        )?;
        for _ in 0..(0.5f64 / h).round() as usize {
            s.step(h)?;
        }
        let (x, v) = (s.positions(bobs), s.velocities(bobs));
        let place = [x[0], x[1], x[3], x[4]];
        if h == 0.004 {
            let l = s.reaction(hard);
            let found = [x[0], x[1], x[3], x[4], v[0], v[1], v[3], v[4], l[0], l[1]];
            checks.against(
                "B02",
                "scheme state q,v,lambda after 125 steps h=.004",
                &found,
                1e-8,
            );
        }
        errors.push(distance(&place, &exact));
    }
    checks.order("B02", "(x1, x2)(0.5)", 1.0, &errors, 0.15);
    for (e, b) in errors.iter().zip(bounds) {
        checks.at_most("B02", "error at t = 0.5", 1.5 * b, *e);
    }
    Ok(())
}

/// B04: the hanging chain at rest, by pseudo-static steps with geometric stiffness, and by the
/// equations of rest.
fn catenary(checks: &mut Checks) -> Result<(), Error> {
    let (links, length, span) = (40, 1.5, 1.0);
    let l = length / links as f64;
    // A V of the right length to start from.
    let slope = l * (1.0f64 - (span / length).powi(2)).sqrt();
    let inner: Vec<[f64; 3]> = (1..links)
        .map(|i| {
            [
                span * i as f64 / links as f64,
                -slope * i.min(links - i) as f64,
                0.0,
            ]
        })
        .collect();
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0])?;
    let nodes = model.add_particles("nodes", &inner)?;
    model.add_mass("m", nodes, Mass::Uniform(l))?;
    let end = |i: usize| match i {
        0 => End::Point([0.0; 3]),
        i if i == links => End::Point([span, 0.0, 0.0]),
        i => End::element(0, i - 1),
    };
    let pairs: Vec<_> = (0..links).map(|i| (end(i + 1), end(i))).collect();
    let lengths = model.add_mapped("lengths", &[nodes], Distance::new(&pairs).with_rest_lengths(&[l]))?;
    let hard = model.add_constraint("hard", lengths, Level::Position)?;
    let mut s = Simulation::with_options(model, Options::theta())?;
    let start = s.state().clone();
    s.settle(Settle {
        h: 0.3,
        tolerance: 1e-13,
        ..Settle::default()
    })?;
    hangs(checks, &s, (nodes, hard));
    s.set_state(&start)?;
    let how = Equilibrium {
        tolerance: 1e-12,
        ..Equilibrium::default()
    };
    let report = s.find_equilibrium(&how)?;
    hangs(checks, &s, (nodes, hard));
    // Hanging is stable but for the chain's swing out of its plane, which is held by its weight
    // too.
    let modes = report.negative_modes.unwrap_or(usize::MAX);
    checks.all_equal("B04", "negative modes", 0, &[modes]);
    Ok(())
}

fn hangs(checks: &mut Checks, s: &Simulation, (nodes, hard): (NodeId, ComponentId)) {
    let y: Vec<f64> = s
        .positions(nodes)
        .as_chunks::<3>()
        .0
        .iter()
        .map(|p| p[1])
        .collect();
    let tensions: Vec<f64> = s.reaction(hard).iter().map(|l| -l).collect();
    checks.against("B04", "node y", &y, 1e-9);
    checks.against("B04", "link tensions (-lambda)", &tensions, 1e-8);
    let sag = -y.iter().copied().fold(0.0, f64::min);
    checks.against("B04", "discrete sag", &[sag], 1e-9);
    checks.against("B04", "discrete T_1 (end link)", &tensions[..1], 1e-8);
}

/// B06: a bead on a taut wire: explicit transverse limit without, implicit Euler with geometric
/// stiffness.
fn taut_bead(checks: &mut Checks) -> Result<(), Error> {
    let limit = checks.references.expected("B06", "omega_t, h_limit")[1];
    let build = |multipliers| -> Result<(Simulation, NodeId), Error> {
        let mut model = Model::new();
        let bead = model.add_particles("bead", &[[0.0, 1e-8, 0.0]])?;
        model.add_mass("m", bead, Mass::Uniform(1e-3))?;
        let ends = [(0, [-1.0, 0.0, 0.0]), (0, [1.0, 0.0, 0.0])];
        let wires = model.add_mapped(
            "wires",
            &[bead],
            Distance::to_points(&ends).with_rest_lengths(&[0.99999]),
        )?;
        model.add_force_field(
            "springs",
            wires,
            UniformCompliance::from_stiffness(1e7),
            Treatment::Compliance,
        )?;
        let geometry = GeometricTerms {
            multipliers,
            ..GeometricTerms::default()
        };
        Ok((
            Simulation::with_options(
                model,
                Options {
                    geometry,
                    ..Options::theta()
                },
            )?,
            bead,
        ))
    };
    for factor in [0.9, 1.1, 5.0] {
        let (mut s, bead) = build(GeometricStiffness::Full)?;
        let mut found = Vec::new();
        for _ in 0..12 {
            s.step(factor * limit)?;
            found.push(s.positions(bead)[1]);
        }
        let key = format!("y sequence with G(lambda_k), h={factor:?}*limit (implicit Euler decay)");
        let first = checks.references.expected("B06", &key);
        checks.against("B06", &key, &found, 1e-11);
        // The values are below the case's absolute tolerance: compare the first six relatively too.
        // The tension, a difference of lengths 1e-5, carries a rounding of about 1e-11.
        let ratios: Vec<f64> = found.iter().zip(&first).take(6).map(|(a, b)| a / b).collect();
        checks.compare("B06", format!("{key}, ratios"), &[1.0; 6], &ratios, 1e-7);
    }
    for factor in [1.1, 5.0] {
        let (mut s, bead) = build(GeometricStiffness::None)?;
        let mut y = vec![s.positions(bead)[1]];
        for _ in 0..8 {
            s.step(factor * limit)?;
            y.push(s.positions(bead)[1]);
            if y[y.len() - 1].abs() > 1e-3 {
                break;
            }
        }
        // Of the two modes the growing one is left after a few steps; nonlinear terms are y^2 of
        // the half length.
        let n = y.len() - if factor > 2.0 { 2 } else { 1 };
        let growth = (y[n] / y[n - 1]).abs();
        let key = format!("growth factor per step, h={factor:?}*limit, no G");
        let expected = checks.references.expected("B06", &key)[0];
        checks.compare("B06", key, &[1.0], &[growth / expected], 1e-3);
    }
    Ok(())
}
