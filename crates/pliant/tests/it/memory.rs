//! Determinism, checkpoints, allocation.

use crate::scenes::machine;
use crate::worlds::{moving_boxes, rough};
use pliant::prelude::*;

#[test]
fn a_restored_simulation_goes_on_bit_for_bit() {
    for accept in [1, 7, 20] {
        let mut s = crate::tools::theta(machine()).unwrap();
        for _ in 0..accept {
            s.step(0.01).unwrap();
        }
        let checkpoint = s.checkpoint();
        let mut other = crate::tools::theta(machine()).unwrap();
        other.restore(&checkpoint).unwrap();
        assert_eq!(other.checkpoint(), checkpoint);
        for _ in 0..20 {
            let (a, b) = (s.step(0.01).unwrap(), other.step(0.01).unwrap());
            assert_eq!(
                (a.energies, a.dissipated, a.residual),
                (b.energies, b.dissipated, b.residual)
            );
        }
        assert_eq!(s.checkpoint(), other.checkpoint());
    }
}

#[test]
fn two_runs_are_one() {
    let run = || {
        let mut s = crate::tools::theta(machine()).unwrap();
        for _ in 0..50 {
            s.step(0.01).unwrap();
        }
        s.checkpoint()
    };
    assert_eq!(run(), run());
}

#[test]
fn no_allocation_with_or_without_stabilisation() {
    for stabilise in [false, true] {
        let how = stabilise.then(Stabilisation::default);
        let options = Options {
            pre_stabilisation: how,
            post_stabilisation: how,
            ..Options::theta()
        };
        let mut s = Simulation::with_options(machine(), options).unwrap();
        for _ in 0..3 {
            s.step(0.01).unwrap();
        }
        let found = allocation_counter::measure(|| {
            for _ in 0..5 {
                s.step(0.01).unwrap();
            }
        });
        assert_eq!(found.count_total, 0, " stabilised {stabilise}");
        assert_eq!(s.counters().solver.symbolic, 1);
    }
}

#[test]
fn freeing_a_coordinate_costs_one_analysis() {
    let mut s = crate::tools::theta(machine()).unwrap();
    let driver = s.model().node_named("driver").unwrap();
    s.step(0.01).unwrap();
    s.release(driver, 0, &[true; 3]).unwrap();
    s.step(0.01).unwrap();
    s.step(0.01).unwrap();
    assert_eq!(s.counters().solver.symbolic, 2);
    // It kept its velocity but for gravity and the spring.
    assert!((s.velocities(driver)[0] - 0.3).abs() < 1.0 && s.velocities(driver)[1] < 0.0);
    s.hold(driver, 0, &[true; 3], &[0.0, 1.0, 0.0]).unwrap();
    s.step(0.01).unwrap();
    assert_eq!(s.velocities(driver), &[0.0, 1.0, 0.0]);
}

/// The order of elimination was decided at a tiny step; restored, it must not be decided anew.
#[test]
fn a_restored_order_of_elimination() {
    let build = || {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let places: Vec<[f64; 3]> = (1..=8).map(|i| [0.1 * f64::from(i), 0.0, 0.0]).collect();
        let p = model.add_particles("p", &places).unwrap();
        model.add_mass("m", p, Mass::Uniform(0.1)).unwrap();
        let end = |i: usize| {
            if i == 0 {
                End::Point([0.0; 3])
            } else {
                End::element(0, i - 1)
            }
        };
        let pairs: Vec<_> = (0..8).map(|i| (end(i + 1), end(i))).collect();
        let d = model
            .add_mapped("d", &[p], Distance::new(&pairs).with_rest_lengths(&[0.1]))
            .unwrap();
        model
            .add_force_field("rods", d, UniformCompliance::new(1e-10), Treatment::Compliance)
            .unwrap();
        crate::tools::theta(model).unwrap()
    };
    let mut s = build();
    s.step(1e-4).unwrap();
    let mut other = build();
    other.restore(&s.checkpoint()).unwrap();
    assert_eq!(other.checkpoint(), s.checkpoint());
    for _ in 0..10 {
        s.step(0.01).unwrap();
        other.step(0.01).unwrap();
    }
    assert_eq!(s.checkpoint(), other.checkpoint());
}

#[test]
fn redundant_rows_allocate_nothing() {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let p = model.add_particles("p", &[[0.0, -1.0, 0.0]]).unwrap();
    model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
    let rods = Distance::to_points(&[(0, [0.0; 3]); 4]).with_rest_lengths(&[1.0]);
    let rods = model.add_mapped("rods", &[p], rods).unwrap();
    model.add_constraint("rods", rods, Level::Position).unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    for _ in 0..3 {
        assert_eq!(s.step(0.01).unwrap().solve.redundant_rows, 3);
    }
    let found = allocation_counter::measure(|| {
        for _ in 0..5 {
            s.step(0.01).unwrap();
        }
    });
    assert_eq!(found.count_total, 0);
}

/// Eight links that hang, hard ones or ones of a compliance, or springs.
fn hung(link: &str) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let places: Vec<[f64; 3]> = (1..=8).map(|i| [0.1 * f64::from(i), 0.0, 0.0]).collect();
    let p = model.add_particles("p", &places).unwrap();
    model.add_mass("m", p, Mass::Uniform(0.1)).unwrap();
    let mut pairs = vec![(End::Point([0.0; 3]), End::element(0, 0))];
    pairs.extend((1..8).map(|i| (End::element(0, i - 1), End::element(0, i))));
    let lengths = Distance::new(&pairs).with_rest_lengths(&[0.1]);
    let d = model.add_mapped("d", &[p], lengths).unwrap();
    let field = match link {
        "hard" => model.add_force_field("link", d, UniformCompliance::new(0.0), Treatment::Compliance),
        "compliant" => model.add_force_field("link", d, UniformCompliance::new(1e-4), Treatment::Compliance),
        _ => model.add_force_field("link", d, Spring::linear(200.0), Treatment::Stiffness),
    };
    field.unwrap();
    model
}

#[test]
fn steps_with_any_linear_solver_allocate_nothing() {
    use pliant::Preconditioner::*;
    let common = [
        LinearSolver::Direct,
        LinearSolver::krylov(KrylovMethod::Cg, Diagonal),
        LinearSolver::krylov(KrylovMethod::Cg, Blocks),
        LinearSolver::krylov(KrylovMethod::Minres, Diagonal),
        LinearSolver::krylov(KrylovMethod::Minres, Blocks),
        LinearSolver::krylov(KrylovMethod::Gmres, Blocks),
        LinearSolver::DenseCholesky,
    ];
    for link in ["hard", "compliant", "spring"] {
        let own = (link == "spring").then_some(LinearSolver::krylov(KrylovMethod::Cg, IncompleteCholesky));
        for linear in common.into_iter().chain(own) {
            let options = Options {
                linear,
                ..Options::theta()
            };
            let mut s = Simulation::with_options(hung(link), options).unwrap();
            let steps = |s: &mut Simulation| {
                for _ in 0..5 {
                    s.step(0.005).unwrap();
                }
            };
            steps(&mut s);
            let found = allocation_counter::measure(|| steps(&mut s));
            assert_eq!(found.count_total, 0, "{link} links, {linear:?}");
        }
    }
}

/// A box that tumbles over the ground until it lies: where the list of contacts changes, the system
/// is planned anew; a step well away from a change allocates nothing, however the box moves.
#[test]
fn tumbling_allocates_near_changes_of_contacts_only() {
    const SETTLED: usize = 10;
    let pose = Pose::turned([0.0, 0.0, 1.2], [0.6, 0.8, 0.0], 0.7);
    let list = [([0.5, 0.4, 0.3], 1.0, pose)];
    let (mut s, _) = moving_boxes(&list, &[[[1.0, 0.0, 0.0], [3.0, 2.0, 1.0]]], rough(0.4));
    let mut steps = Vec::new();
    for _ in 0..200 {
        let found = allocation_counter::measure(|| {
            s.step(0.01).unwrap();
        });
        let keys: Vec<_> = s.contacts().iter().map(|c| c.contact.key).collect();
        steps.push((found.count_total, keys));
    }
    let mut settled = 0;
    for (k, near) in steps.windows(SETTLED + 3).enumerate() {
        let (count, keys) = &near[SETTLED];
        if near.iter().all(|(_, other)| other == keys) {
            assert_eq!(*count, 0, "step {}", k + SETTLED);
            settled += 1;
        }
    }
    assert!(settled > 50, "{settled}");
    let kinds = steps.chunk_by(|a, b| a.1 == b.1).count();
    assert!(kinds > 3, "{kinds}");
}

/// Boxes that tumble, from a checkpoint again and again, with corrections of overlap: plans take
/// the storage of parts of the system that are no more, and block pivoting and Lemke's method, to
/// which one correction of six boxes comes, keep their own, so that only what is larger than ever
/// before allocates; and nothing shows of it.
#[test]
fn tumbling_as_before_allocates_nothing() {
    for (count, passes) in [(1, 9), (3, 9), (6, 17)] {
        let place = |k: f64| Pose::turned([0.3 * k, 0.2 * k, 1.2 + 1.1 * k], [0.6, 0.8, 0.0], 0.7 + 0.4 * k);
        let places = (0..count).map(f64::from);
        let list: Vec<_> = places.clone().map(|k| ([0.5, 0.4, 0.3], 1.0, place(k))).collect();
        let velocities: Vec<_> = places
            .map(|k| [[1.0 - k, 0.0, 0.0], [3.0, 2.0 - k, 1.0]])
            .collect();
        let (mut s, _) = moving_boxes(&list, &velocities, rough(0.4));
        s.step(0.01).unwrap();
        let start = s.checkpoint();
        let mut pass = || {
            s.restore(&start).unwrap();
            let found = allocation_counter::measure(|| {
                for _ in 0..200 {
                    s.step(0.01).unwrap();
                }
            });
            (found.count_total, s.checkpoint())
        };
        let (first, end) = pass();
        assert!(first > 1000, "{first}");
        let mut counts = Vec::new();
        for _ in 0..passes {
            let (again, other) = pass();
            assert!(other == end);
            counts.push(again);
        }
        assert!(3 * counts[0] < first, "{first}, {counts:?}");
        // Which storage a part takes depends on those before it: a few grow late.
        assert!(counts.ends_with(&[0; 3]), "{first}, {counts:?}");
    }
}
