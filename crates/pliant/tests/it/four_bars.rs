//! N four-bar loops in a row (problem A02 of the IFToMM library of multibody benchmarks): N + 1
//! upright bars on pins, joined by N bars at their tops, 1 m and 1 kg each; the tops start with 1
//! m/s. All bars lie in one line twice in a turn, and could leave there for N more motions at first
//! order.

use pliant::prelude::*;

fn bars(
    model: &mut Model,
    name: &str,
    places: &[[f64; 3]],
    velocity: f64,
    spin: f64,
    inertia: [f64; 3],
) -> NodeId {
    let poses: Vec<Pose> = places.iter().map(|p| Pose::at(*p)).collect();
    let node = model.add_rigid_bodies(name, &poses).unwrap();
    let masses = vec![RigidMass::principal(1.0, inertia); places.len()];
    model
        .add_mass(&format!("{name} mass"), node, Mass::Rigid(masses))
        .unwrap();
    for k in 0..places.len() {
        model
            .set_body_velocity(node, k, [velocity, 0.0, 0.0], [0.0, 0.0, spin])
            .unwrap();
    }
    node
}

/// Hinges in space about z: five rows each, three too many in every loop.
pub(crate) fn row_of_loops(n: usize) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let twelfth = 1.0 / 12.0;
    let upright: Vec<[f64; 3]> = (0..=n).map(|i| [i as f64, 0.5, 0.0]).collect();
    let across: Vec<[f64; 3]> = (0..n).map(|i| [i as f64 + 0.5, 1.0, 0.0]).collect();
    let uprights = bars(
        &mut model,
        "uprights",
        &upright,
        0.5,
        -1.0,
        [twelfth, 1e-3, twelfth],
    );
    let couplers = bars(
        &mut model,
        "couplers",
        &across,
        1.0,
        0.0,
        [1e-3, twelfth, twelfth],
    );
    for i in 0..=n {
        let foot = Joint::hinge(Side::World, Side::Body(uprights, i)).at(Pose::at([i as f64, 0.0, 0.0]));
        model.add_joint(&format!("foot {i}"), &foot).unwrap();
        for (name, coupler) in [("left", i.checked_sub(1)), ("right", (i < n).then_some(i))] {
            if let Some(k) = coupler {
                let top = Joint::hinge(Side::Body(uprights, i), Side::Body(couplers, k));
                model
                    .add_joint(&format!("{name} {i}"), &top.at(Pose::at([i as f64, 1.0, 0.0])))
                    .unwrap();
            }
        }
    }
    model
}

/// How far the angle is from the exact one after a time, by RATTLE.
fn error(n: usize, h: f64, time: f64, exact: f64) -> f64 {
    let options = Options {
        integrator: Integrator::Rattle,
        ..Options::default()
    };
    let mut s = Simulation::with_options(row_of_loops(n), options).unwrap();
    let angles: Vec<NodeId> = (0..=n)
        .map(|i| s.model().node_named(&format!("foot {i}.angle")).unwrap())
        .collect();
    for _ in 0..(time / h).round() as usize {
        let report = s.step(h).unwrap();
        assert!(
            report.solve.redundant_rows >= 3 * n && report.violation < 1e-10,
            "{report:?}"
        );
    }
    let first = s.positions(angles[0])[0];
    for angle in &angles {
        let parted = (s.positions(*angle)[0] - first).abs();
        assert!(parted < 1e-6, "{parted}");
    }
    (first + exact).abs()
}

/// Five seconds, more than two turns, five passes through the line: the angle by DOP853
/// (`benches/reference/multibody.py`), to the second order of RATTLE.
#[test]
fn loops_in_a_row_come_out_of_the_line_as_they_went_in() {
    for (n, exact) in [(1, 16.945277268212), (10, 16.345907497050)] {
        let errors = [error(n, 0.02, 5.0, exact), error(n, 0.01, 5.0, exact)];
        println!("{n} loops: {errors:?}");
        assert!(
            (errors[0] / errors[1] - 4.0).abs() < 0.3 && errors[1] < 5e-3,
            "{errors:?}"
        );
    }
}

/// The forty loops of the library through the line once; 120 rows are redundant in every step.
#[test]
fn forty_loops_pass_the_line() {
    let found = error(40, 0.02, 1.0, 3.257206924910);
    println!("forty loops: {found}");
    assert!(found < 5e-3, "{found}");
}
