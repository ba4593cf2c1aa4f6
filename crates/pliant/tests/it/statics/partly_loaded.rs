//! Rods of which a part, or a kind of force, carries nothing: the forces there are rounding of the
//! others, and no share of their own size.

use super::slender::beam;
use super::*;
use pliant::continuum::{Rod, RodCurve, RodParts, Section};
use std::f64::consts::PI;

/// Most iterations that any of these may take.
const SOON: usize = 30;

/// A square rod of 1 m x 0.1 m x 0.1 m along x, clamped at its beginning, of `E I = 1`, `E A =
/// 1200` and `G A = 500` (N m², N, N), and its frames.
fn cantilever(model: &mut Model, name: &str, start: [f64; 3], n: usize) -> NodeId {
    let rod = Rod::new(Section::rectangle([0.1, 0.1]), 120_000.0, 0.0);
    let end = [start[0] + 1.0, start[1], start[2]];
    let curve = RodCurve::straight(start, end, n).with_normal([0.0, 0.0, 1.0]);
    let RodParts { frames, .. } = rod.add_to(model, name, &curve).unwrap();
    model.fix(frames, 0, &[true; 6]).unwrap();
    frames
}

/// Loads the frame of a rod across.
fn push(model: &mut Model, name: &str, frames: NodeId, frame: usize, force: f64) -> NodeId {
    let at = RigidPoints::new(&[(frame, [0.0; 3])]);
    let point = model.add_mapped(&format!("{name} point"), &[frames], at).unwrap();
    let law = ConstantForce::new(&[0.0, -force, 0.0]);
    model
        .add_force_field(name, point, law, Treatment::Stiffness)
        .unwrap();
    point
}

/// A moment at the end bends a rod to an arc of the angle `M L/(E I)`: with segments that turn by
/// equal angles, the chords of a polygon, to rounding. All forces of its rows are zero.
#[test]
fn a_moment_at_the_end_makes_an_arc() {
    for n in [3, 10, 40] {
        for moment in [1e-3, 1.0, -3.0, 2.0 * PI] {
            let mut model = Model::new();
            let frames = cantilever(&mut model, "rod", [0.0; 3], n);
            let tip = Subset::of_elements(Space::Rigid3, &[n]);
            let tip = model.add_mapped("tip", &[frames], tip).unwrap();
            model
                .add_force_field(
                    "moment",
                    tip,
                    Torque::new([0.0, 0.0, moment]),
                    Treatment::Stiffness,
                )
                .unwrap();
            let mut simulation = Simulation::new(model).unwrap();
            let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            println!("{n} segments, {moment} N m: {report:?}");
            assert!(report.iterations < SOON && report.flow_steps == 0, "{report:?}");
            let length = 1.0 / n as f64;
            let chord = |k: usize| (k as f64 + 0.5) * moment * length;
            let polygon = [
                (0..n).map(|k| length * chord(k).cos()).sum::<f64>(),
                (0..n).map(|k| length * chord(k).sin()).sum::<f64>(),
            ];
            let x = &simulation.positions(tip)[..3];
            // What is missing is at most 1e-10 of the moment.
            assert!(
                (x[0] - polygon[0]).hypot(x[1] - polygon[1]) < 1e-9,
                "{x:?}, {polygon:?}"
            );
            // The chord of a segment is the arc less a share of its angle squared over 24.
            let arc = [moment.sin() / moment, (1.0 - moment.cos()) / moment];
            let share = (moment * length).powi(2) / 20.0;
            assert!((x[0] - arc[0]).hypot(x[1] - arc[1]) <= share * arc[0].hypot(arc[1]) + 1e-9);
        }
    }
}

/// The end of a cantilever with a dead load `P` across at half its length: Reissner's (1972) rod
/// integrated by Runge and Kutta's method from the clamp, where the moment is found that leaves
/// none at the load; behind it the rod is straight.
fn end_under_a_load_in_the_middle(load: f64) -> [f64; 2] {
    let (bending, axial, shear) = (1.0, 1200.0, 500.0);
    // x, y, angle and moment by the arc length at rest.
    let rate = |[_, _, angle, moment]: [f64; 4]| {
        let (sin, cos) = f64::sin_cos(angle);
        let (stretch, slide) = (1.0 - load * sin / axial, -load * cos / shear);
        let x = stretch * cos - slide * sin;
        [x, stretch * sin + slide * cos, moment / bending, load * x]
    };
    let steps = 1000;
    let h = 0.5 / f64::from(steps);
    let at_load = |moment: f64| {
        let mut u = [0.0, 0.0, 0.0, moment];
        let moved = |u: [f64; 4], d: [f64; 4], s: f64| std::array::from_fn(|k| u[k] + s * d[k]);
        for _ in 0..steps {
            let a = rate(u);
            let b = rate(moved(u, a, 0.5 * h));
            let c = rate(moved(u, b, 0.5 * h));
            let d = rate(moved(u, c, h));
            for k in 0..4 {
                u[k] += h / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]);
            }
        }
        u
    };
    let moment = zero(|m| at_load(m)[3], -load, 0.0);
    let [x, y, angle, _] = at_load(moment);
    [x + 0.5 * angle.cos(), y + 0.5 * angle.sin()]
}

/// The half of a rod behind its load carries nothing at all, and only turns with the other.
#[test]
fn a_load_in_the_middle_leaves_the_rest_straight() {
    for load in [1e-3, 1.0, 10.0] {
        let exact = end_under_a_load_in_the_middle(load);
        let errors = [10, 20].map(|n| {
            let mut model = Model::new();
            let frames = cantilever(&mut model, "rod", [0.0; 3], n);
            push(&mut model, "load", frames, n / 2, load);
            let mut simulation = Simulation::new(model).unwrap();
            let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            println!("{n} segments, {load} N: {report:?}");
            assert!(report.is_stable() && report.iterations < SOON, "{report:?}");
            let x = &simulation.positions(frames)[7 * n..];
            assert!(x[2].abs() < 1e-12);
            (x[0] - exact[0]).hypot(x[1] - exact[1])
        });
        let order = (errors[0] / errors[1]).log2();
        println!("{load} N: end {exact:?}, errors {errors:?}, order {order:.2}");
        assert!((order - 2.0).abs() < 0.15, "{errors:?}");
    }
}

/// Parts that are connected share one rounding, others have their own: a force of 1 GN on one rod
/// does not hide what a load of 1 uN does to another.
#[test]
fn parts_apart_have_roundings_of_their_own() {
    let small = |large: Option<f64>| {
        let mut model = Model::new();
        let frames = cantilever(&mut model, "rod", [0.0; 3], 10);
        push(&mut model, "load", frames, 5, 1e-6);
        if let Some(force) = large {
            // At rest from the start, so that nothing but the rod is missing.
            let weight = model.add_particles("weight", &[[0.0, 1.0, 0.0]]).unwrap();
            let law = UniformCompliance::from_stiffness(force);
            model
                .add_force_field("bed", weight, law, Treatment::Stiffness)
                .unwrap();
            let law = ConstantForce::new(&[0.0, force, 0.0]);
            model
                .add_force_field("weight", weight, law, Treatment::Stiffness)
                .unwrap();
        }
        let mut simulation = Simulation::new(model).unwrap();
        let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        assert!(report.iterations < SOON, "{report:?}");
        simulation.positions(frames)[7 * 10 + 1]
    };
    let (alone, beside) = (small(None), small(Some(1e9)));
    assert!((beside / alone - 1.0).abs() < 1e-8, "{alone}, {beside}");
}

/// Beyond Euler's load a column that is pressed exactly along its axis stays straight, a saddle: no
/// method leaves it. With a push across of a millionth of the load it buckles.
#[test]
fn only_a_broken_symmetry_leads_from_a_saddle() {
    for (across, straight) in [(0.0, true), (1e-6, false)] {
        let (mut model, tip) = beam(10);
        load(&mut model, tip, &[-5.0, across, 0.0]);
        let mut simulation = Simulation::new(model).unwrap();
        let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        println!("{across} N across: {report:?}");
        let side = simulation.positions(tip)[1];
        if straight {
            assert_eq!((report.negative_modes, report.flow_steps), (Some(1), 0));
            assert!(side == 0.0 && report.iterations < SOON, "{report:?}");
        } else {
            assert!(report.is_stable() && side > 0.5, "{report:?}, {side}");
        }
    }
}

/// A moment of fixed direction has no potential, and what leaves the plane under one of
/// `2 pi E I/L` goes round for ever: with a push out of the plane the circle is found all the same,
/// as the saddle that it is.
#[test]
fn a_saddle_is_found_where_the_flow_finds_no_minimum() {
    let mut model = Model::new();
    let frames = cantilever(&mut model, "rod", [0.0; 3], 10);
    let tip = Subset::of_elements(Space::Rigid3, &[10]);
    let tip = model.add_mapped("tip", &[frames], tip).unwrap();
    let moment = Torque::new([0.0, 0.0, 2.0 * PI]);
    model
        .add_force_field("moment", tip, moment, Treatment::Stiffness)
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    simulation
        .set_force(frames, 10, &[0.0, 0.0, 1e-6, 0.0, 0.0, 0.0])
        .unwrap();
    let how = Equilibrium {
        max_iterations: 60,
        ..Equilibrium::default()
    };
    let report = simulation.find_equilibrium(&how).unwrap();
    println!("{report:?}");
    // A minimum was looked for first.
    assert!(report.negative_modes == Some(2) && report.flow_steps > 0);
    let x = &simulation.positions(tip)[..3];
    // One over the smallest stiffness of bending is about 1 m/N.
    assert!(x.iter().all(|x| x.abs() < 1e-5), "{x:?}");
}
