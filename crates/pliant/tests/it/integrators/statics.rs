//! Rest by steps of the nonlinear method: Newton's method for the static equations, with the
//! inertia over `h^2` as what keeps it definite.

use super::models::*;
use pliant::prelude::*;

fn statics() -> Options {
    Options {
        integrator: Integrator::Nonlinear,
        ..Options::default()
    }
}

/// A chain of 40 hard links between two points on one level (case B04: horizontal tension, sag and
/// the tension at the end of the discrete catenary).
#[test]
fn the_hanging_chain() {
    let (links, length, span) = (40, 1.5, 1.0);
    let l = length / links as f64;
    let slope = l * (1.0f64 - (span / length).powi(2)).sqrt();
    let inner: Vec<[f64; 3]> = (1..links)
        .map(|i| {
            let down = -slope * i.min(links - i) as f64;
            [span * i as f64 / links as f64, down, 0.0]
        })
        .collect();
    let mut model = Model::new();
    model.set_gravity([0.0, -G, 0.0]).unwrap();
    let nodes = model.add_particles("nodes", &inner).unwrap();
    model.add_mass("m", nodes, Mass::Uniform(l)).unwrap();
    let end = |i: usize| match i {
        0 => End::Point([0.0; 3]),
        i if i == links => End::Point([span, 0.0, 0.0]),
        i => End::element(0, i - 1),
    };
    let pairs: Vec<_> = (0..links).map(|i| (end(i + 1), end(i))).collect();
    let lengths = Distance::new(&pairs).with_rest_lengths(&[l]);
    let lengths = model.add_mapped("lengths", &[nodes], lengths).unwrap();
    let hard = model.add_constraint("hard", lengths, Level::Position).unwrap();
    let mut s = Simulation::with_options(model, statics()).unwrap();
    // Near rest by steps of a natural size, then by Newton's.
    let settle = |h, tolerance| Settle {
        h,
        tolerance,
        ..Settle::default()
    };
    s.settle(settle(0.3, 1e-2)).unwrap();
    let report = s.settle(settle(30.0, 1e-12)).unwrap();
    let sag = -s
        .positions(nodes)
        .chunks(3)
        .fold(0.0f64, |least, x| least.min(x[1]));
    assert!((sag - 0.5028357728653532).abs() < 1e-9, "{sag}");
    let tension = -s.reaction(hard)[0];
    assert!((tension - 7.784677449743643).abs() < 1e-8, "{tension}");
    // Each step divides what is left by h^2 omega^2, at least thousands.
    assert!(report.steps <= 5, "{report:?}");
}

/// A shallow truss of two springs under a load (von Mises): past the load at which it snaps through
/// there is one equilibrium, on the other side.
#[test]
fn a_truss_that_snaps_through() {
    let build = |load: f64| {
        let mut model = Model::new();
        let apex = model.add_particles("apex", &[[0.0, 0.2, 0.0]]).unwrap();
        model.add_mass("m", apex, Mass::Uniform(1.0)).unwrap();
        model.fix(apex, 0, &[true, false, true]).unwrap();
        let feet = [(0, [-1.0, 0.0, 0.0]), (0, [1.0, 0.0, 0.0])];
        let rest = (1.0f64 + 0.04).sqrt();
        let bars = Distance::to_points(&feet).with_rest_lengths(&[rest]);
        let bars = model.add_mapped("bars", &[apex], bars).unwrap();
        let law = UniformCompliance::from_stiffness(1000.0);
        model
            .add_force_field("springs", bars, law, Treatment::Stiffness)
            .unwrap();
        model
            .add_force_field(
                "load",
                apex,
                ConstantForce::new(&[0.0, -load, 0.0]),
                Treatment::Stiffness,
            )
            .unwrap();
        Simulation::with_options(model, statics()).unwrap()
    };
    // The force that holds the apex at height y, by the geometry of the two bars.
    let rest = (1.0f64 + 0.04).sqrt();
    let held = |y: f64| 2000.0 * (rest / (1.0 + y * y).sqrt() - 1.0) * y;
    let largest = (0..2000)
        .map(|k| held(0.2 * f64::from(k) / 2000.0))
        .fold(0.0, f64::max);
    for (load, above) in [
        (0.5 * largest, true),
        (0.95 * largest, true),
        (1.2 * largest, false),
    ] {
        let mut s = build(load);
        // Short enough for the inertia to outweigh the negative stiffness of the flat truss.
        s.settle(Settle {
            h: 0.1,
            tolerance: 1e-12,
            ..Settle::default()
        })
        .unwrap();
        let y = s.state().positions[1];
        assert_eq!(y > 0.0, above, "{load} {y}");
        assert!((held(y) - load).abs() < 1e-9 * largest, "{load} {y} {}", held(y));
    }
}
