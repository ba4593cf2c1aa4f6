//! Derivatives allocate with their first step, and no more.

use super::contacts::body;
use super::masses::body_of_points;
use super::stages::two_stages;
use super::steps::{beam, chain, net};
use super::{direction, options};
use crate::four_bars::row_of_loops;
use crate::worlds::rough;
use pliant::collision::*;
use pliant::continuum::Solid;
use pliant::gradient::*;
use pliant::prelude::*;

/// Allocations of placing a step and of both modes, once they are warm.
fn allocations(simulation: &mut Simulation) -> [u64; 4] {
    let mut derivative = simulation.step_derivative().unwrap();
    let mut contacts = Vec::new();
    let (from, mut out) = (direction(simulation, 3), StateVector::default());
    let mut lists = [Vec::new(), Vec::new()];
    let mut counts = [0; 4];
    for _ in 0..4 {
        simulation.step(0.01).unwrap();
        simulation.last_contacts(&mut contacts).unwrap();
        let step = simulation.last_step(&contacts).unwrap();
        let count = |work: &mut dyn FnMut()| allocation_counter::measure(work).count_total;
        counts = [
            count(&mut || derivative.place(simulation.problem(), &step).unwrap()),
            count(&mut || {
                derivative.tangent(&from, &mut out).unwrap();
            }),
            count(&mut || {
                derivative.adjoint(&from, &mut out).unwrap();
            }),
            count(&mut || {
                let [by_force, by_input] = &mut lists;
                derivative.by_force(by_force).unwrap();
                derivative.by_input(by_input).unwrap();
            }),
        ];
    }
    counts
}

/// A ball on the ground that moves and turns.
fn ball(speeds: [[f64; 3]; 2]) -> Simulation {
    let shape = Shape::ball(0.1).unwrap();
    body(shape, 0.1, Pose::at([0.0, 0.0, 0.1]), speeds, rough(0.3)).0
}

#[test]
fn warm_derivatives_of_masses_that_turn_allocate_nothing() {
    let mut simulation = Simulation::with_options(body_of_points(0.1), options()).unwrap();
    assert_eq!(allocations(&mut simulation), [0; 4]);
}

#[test]
fn warm_derivatives_allocate_nothing() {
    for (what, model) in [
        ("net", net(Treatment::Stiffness, 0.3)),
        ("compliant net", net(Treatment::Compliance, 0.3)),
        ("chain", chain(5)),
        ("loops", row_of_loops(2)),
        ("beam", beam(&Solid::corotational(1e5, 0.3))),
        (
            "compliant beam",
            beam(&Solid::corotational(1e5, 0.3).with_treatment(Treatment::Compliance)),
        ),
    ] {
        // By implicit Euler and by the trapezoidal rule.
        let mut simulation = Simulation::with_options(model, options()).unwrap();
        for weight in [1.0, 0.5] {
            (simulation.options.alpha, simulation.options.beta) = (weight, weight);
            assert_eq!(allocations(&mut simulation), [0; 4], "{what}, {weight}");
        }
        simulation.options = two_stages();
        assert_eq!(allocations(&mut simulation), [0; 4], "{what}, SDIRK2");
    }
}

/// Also through contacts that slip and stick, that open and close.
#[test]
fn warm_derivatives_of_contacts_allocate_nothing() {
    for (what, mut simulation) in [
        ("slips", ball([[1.0, 0.3, 0.0], [0.0, 0.0, 3.0]])),
        ("rolls", ball([[1.0, 0.0, 0.0], [0.0, 10.0, 0.0]])),
    ] {
        assert_eq!(allocations(&mut simulation), [0; 4], "{what}");
        assert_eq!(simulation.contacts().len(), 1, "{what}");
    }
}
