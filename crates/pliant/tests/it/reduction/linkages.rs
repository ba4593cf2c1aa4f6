//! Linkages with a reduced coupler.

use super::*;

/// A linkage whose coupler is the beam, from P to Q: a crank of 0.4 m and a rocker of 0.75 m on the
/// ground, let go. Returns the places of what stands for the coupler's ends, and of its middle.
fn linkage(model: &mut Model, ends: NodeId) {
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let (middle, side) = (SIDES[0] / 2.0, SIDES[1] / 2.0);
    let bar = |from: [f64; 2], to: [f64; 2]| {
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let pose = Pose::turned(
            [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0, side],
            [0.0, 0.0, 1.0],
            dy.atan2(dx),
        );
        (pose, RigidMass::cuboid(1.0, [dx.hypot(dy), 0.04, 0.04]))
    };
    let grounds = [[0.0, middle - 0.4], [0.75, middle - 0.7]];
    let pins = [[0.0, middle], [LENGTH, middle]];
    let bars = [0, 1].map(|k| bar(grounds[k], pins[k]));
    let bodies = model.add_rigid_bodies("bars", &bars.map(|b| b.0)).unwrap();
    model
        .add_mass("bars mass", bodies, Mass::Rigid(bars.map(|b| b.1).to_vec()))
        .unwrap();
    for k in 0..2 {
        let at = |p: [f64; 2]| Pose::at([p[0], p[1], side]);
        let foot = Joint::hinge(Side::World, Side::Body(bodies, k)).at(at(grounds[k]));
        model.add_joint(&format!("foot {k}"), &foot).unwrap();
        let pin = Joint::hinge(Side::Body(bodies, k), Side::Body(ends, k)).at(at(pins[k]));
        model.add_joint(&format!("pin {k}"), &pin).unwrap();
    }
}

/// The motion of a linkage: the angle of the crank, and the deflection of the middle of the coupler
/// from the line between its ends.
fn motion_of(model: Model, points: NodeId, mesh: &Mesh, step: f64) -> Vec<[f64; 2]> {
    let middle = mesh
        .nodes
        .iter()
        .position(|p| (p[0] - LENGTH / 2.0).abs() < 1e-9 && p[1].abs() < 1e-9 && p[2].abs() < 1e-9);
    let corner = |x: f64| {
        mesh.nodes
            .iter()
            .position(|p| (p[0] - x).abs() < 1e-9 && p[1].abs() < 1e-9 && p[2].abs() < 1e-9)
    };
    let [m, a, b] = [middle, corner(0.0), corner(LENGTH)].map(Option::unwrap);
    let mut simulation = Simulation::new(model).unwrap();
    let steps = (0.5 / step).round() as usize;
    let mut out = Vec::new();
    for _ in 0..steps {
        simulation.step(step).unwrap();
        let place = |n: usize| [0, 1].map(|k| simulation.positions(points)[3 * n + k]);
        let (a, b, m) = (place(a), place(b), place(m));
        let along = [b[0] - a[0], b[1] - a[1]];
        let size = along[0].hypot(along[1]);
        let off = ((m[1] - a[1]) * along[0] - (m[0] - a[0]) * along[1]) / size;
        out.push([a[0], off]);
    }
    out
}

/// Rigid links on a coupler that bends by some 2 mm: the reduced body moves as the finite elements
/// do to 1 %, both its ends and its deflection, which a rigid coupler has not. What is missed is of
/// second order, the softening by the force along the coupler, in proportion to the deflection:
/// eight times as soft it is 3 %.
#[test]
fn a_four_bar_with_a_reduced_coupler_moves_as_that_of_finite_elements() {
    let law = Solid::corotational(8e8, 0.3)
        .with_density(DENSITY)
        .with_mass(MassMatrix::Consistent);
    let mesh = Mesh::hexahedral_box([LENGTH, SIDES[0], SIDES[1]], [8, 1, 1])
        .unwrap()
        .into_quadratic();
    let step = 2.5e-3;
    let full = {
        let mut model = Model::new();
        let (plates, points) = plated(&mut model, &mesh, &law);
        linkage(&mut model, plates);
        motion_of(model, points, &mesh, step)
    };
    let body = {
        let mut model = Model::new();
        let parts = law.add_to(&mut model, "beam", &mesh).unwrap();
        let nodes = parts.nodes;
        (reduced(model, ends(nodes, &mesh), 8), nodes)
    };
    let found = {
        let mut model = Model::new();
        let parts = body.0.add_to(&mut model, "beam", Pose::default(), 0.0).unwrap();
        let points = body.0.add_node(&mut model, "points", &parts, body.1).unwrap();
        linkage(&mut model, parts.interfaces);
        motion_of(model, points, &mesh, step)
    };
    let range = |of: usize| {
        let values = full.iter().map(|m| m[of]);
        values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min)
    };
    for of in 0..2 {
        let worst = full
            .iter()
            .zip(&found)
            .map(|(a, b)| (a[of] - b[of]).abs())
            .fold(0.0, f64::max);
        println!(
            "{of}: of {:e} m off by {worst:e}, {:.3} %",
            range(of),
            100.0 * worst / range(of)
        );
    }
    assert!(range(1) > 1.5e-3 * LENGTH);
    for of in 0..2 {
        for (a, b) in full.iter().zip(&found) {
            assert!((a[of] - b[of]).abs() < 0.01 * range(of));
        }
    }
}

/// The linkage hangs at rest, stable, by any number of modes of its coupler: more of them change the
/// place of the crank by less than a thousandth of the sag.
#[test]
fn a_four_bar_with_a_reduced_coupler_comes_to_rest() {
    let law = Solid::corotational(8e8, 0.3)
        .with_density(DENSITY)
        .with_mass(MassMatrix::Consistent);
    let mesh = Mesh::hexahedral_box([LENGTH, SIDES[0], SIDES[1]], [8, 2, 2])
        .unwrap()
        .into_quadratic();
    let mut places = Vec::new();
    for count in [8, 9, 10, 12] {
        let mut model = Model::new();
        let parts = law.add_to(&mut model, "beam", &mesh).unwrap();
        let body = reduced(model, ends(parts.nodes, &mesh), count);
        let mut model = Model::new();
        let parts = body.add_to(&mut model, "beam", Pose::default(), 0.0).unwrap();
        linkage(&mut model, parts.interfaces);
        let mut simulation = Simulation::new(model).unwrap();
        // It swings far to its rest, past unstable ones, and what stops on the way says so.
        let too_few = Equilibrium {
            max_iterations: 400,
            ..Equilibrium::default()
        };
        let words = simulation.find_equilibrium(&too_few).unwrap_err().to_string();
        assert!(!words.contains("nothing"), "{words}");
        println!("{words}");
        let enough = Equilibrium {
            max_iterations: 10_000,
            ..Equilibrium::default()
        };
        let report = simulation.find_equilibrium(&enough);
        println!("{count}: {report:?}");
        let report = report.unwrap_or_else(|e| panic!("{count} modes: {e}"));
        assert_eq!(report.negative_modes, Some(0));
        places.push(simulation.positions(parts.interfaces)[1]);
    }
    println!("{places:?}");
    assert!(places.iter().all(|y| (y - places[0]).abs() < 1e-5), "{places:?}");
}

/// A beam of square section that a joint clamps at an end: its bending modes are pairs, all of them are
/// found however many are asked for, and they are those of the finite elements, clamped, to what is cut
/// off.
#[test]
fn a_clamped_reduced_beam_of_square_section_has_pairs_of_modes() {
    let mesh = Mesh::hexahedral_box([LENGTH, 0.1, 0.1], [10, 2, 2]).unwrap();
    let law = Solid::corotational(1e9, 0.3).with_density(1000.0);
    let lowest = |model: Model, count: usize| {
        let how = ModeOptions {
            count,
            ..ModeOptions::default()
        };
        let found = Simulation::new(model).unwrap().modes(&how);
        let found = found.unwrap_or_else(|e| panic!("{count}: {e}"));
        (
            found.modes.iter().map(Mode::frequency).collect::<Vec<_>>(),
            found.all,
        )
    };
    let full = {
        let mut model = Model::new();
        let points = law.add_to(&mut model, "beam", &mesh).unwrap().nodes;
        for k in end(&mesh, 0.0) {
            model.fix(points, k, &[true; 3]).unwrap();
        }
        lowest(model, 4).0
    };
    let mut model = Model::new();
    let parts = law.add_to(&mut model, "beam", &mesh).unwrap();
    let body = reduced(model, ends(parts.nodes, &mesh), 5);
    for count in [1, 2, 3, 4, 6] {
        let mut model = Model::new();
        let parts = body.add_to(&mut model, "beam", Pose::default(), 0.0).unwrap();
        let clamp = Joint::fixed(Side::World, Side::Body(parts.interfaces, 0));
        model.add_joint("clamp", &clamp).unwrap();
        let (found, all) = lowest(model, count);
        println!("{found:?} of {full:?}");
        // Six of the free end, and the five modes.
        assert_eq!((all, found.len()), (11, count.min(11)));
        for (k, f) in found.iter().enumerate().take(4) {
            // The end is rigid, and the modes are cut off: both stiffen.
            assert!(
                f / full[k] > 1.0 - 1e-9 && f / full[k] < 1.05,
                "{k}: {f} for {}",
                full[k]
            );
        }
        for pair in found.chunks_exact(2).take(2).filter(|_| count >= 4) {
            assert!((pair[0] / pair[1] - 1.0).abs() < 1e-6, "{pair:?}");
        }
    }
}

/// A linkage with a reduced coupler goes on from a checkpoint to the bit, on any number of threads,
/// and its account of energies closes: what it loses is what damping and the method took.
#[test]
fn steps_of_reduced_bodies_are_the_same_to_the_bit() {
    let body = beam_of(4, 4);
    let begin = |threads: usize| {
        let mut model = Model::new();
        let parts = body.add_to(&mut model, "beam", Pose::default(), 0.02).unwrap();
        linkage(&mut model, parts.interfaces);
        let mut simulation = Simulation::new(model).unwrap();
        simulation.options.tuning.solver.threads = threads;
        simulation
    };
    let mut simulation = begin(1);
    let first = simulation.problem().energies(simulation.state());
    let (mut account, mut numerical) = (0.0, 0.0);
    let mut checkpoint = None;
    let mut last = first;
    for step in 0..60 {
        let report = simulation.step(2e-3).unwrap();
        account += report.ledger.brought_in() + report.ledger.numerical;
        numerical += report.ledger.numerical.abs();
        last = report.energies;
        if step == 30 {
            checkpoint = Some(simulation.checkpoint());
        }
    }
    let change = last.kinetic + last.potential - first.kinetic - first.potential;
    assert!(
        (change - account).abs() < 1e-9 * last.kinetic,
        "{change} {account}"
    );
    println!("{account} J, {numerical} J by the method, of {} J", last.kinetic);
    assert!(last.kinetic > 0.05 && change < 0.0 && numerical < 0.01 * last.kinetic);
    let mut begun = begin(1);
    for _ in 0..3 {
        begun.step(2e-3).unwrap();
    }
    let found = allocation_counter::measure(|| {
        begun.step(2e-3).unwrap();
    });
    assert_eq!(found.count_total, 0);
    let mut again = begin(3);
    again.restore(&checkpoint.unwrap()).unwrap();
    for _ in 31..60 {
        again.step(2e-3).unwrap();
    }
    let bits = |s: &Simulation| {
        s.state()
            .positions
            .iter()
            .map(|x| x.to_bits())
            .collect::<Vec<_>>()
    };
    assert_eq!(bits(&simulation), bits(&again));
}
