//! Findings of the examination of a moment: directions without mass.

use pliant::prelude::*;
use pliant::{Examination, Massless};

fn examined(model: Model) -> Examination {
    Simulation::new(model).unwrap().examine(0.01).unwrap()
}

/// Two points and the masses of what is mapped from them.
fn points(mapping: impl Mapping + 'static) -> (Model, NodeId) {
    let mut model = Model::new();
    let points = model
        .add_particles("points", &[[3.0, 4.0, 0.0], [1.0, 0.0, 0.0]])
        .unwrap();
    let mapped = model.add_mapped("mapped", &[points], mapping).unwrap();
    model.add_mass("mass", mapped, Mass::Uniform(2.0)).unwrap();
    (model, points)
}

/// A mass on the middle of two points leaves their difference without: three directions, each of
/// which moves both.
#[test]
fn a_mass_on_the_middle_leaves_the_difference() {
    let middle = || {
        CentreOfMass::new(&[[0, 1]
            .map(|element| (Dependency { parent: 0, element }, 1.0))
            .to_vec()])
    };
    let (model, on) = points(middle());
    let found = examined(model).massless;
    assert_eq!(found.len(), 3);
    for (axis, massless) in found.iter().enumerate() {
        assert_eq!((massless.node, massless.others), (on, 1));
        let size: f64 = massless.direction[axis].abs();
        assert!((size - 1.0).abs() < 1e-12, "{massless:?}");
    }
    // Masses of their own, however small beside the other, are enough.
    let (mut model, on) = points(middle());
    model.add_mass("own", on, Mass::Uniform(1e-6)).unwrap();
    assert!(examined(model).massless.is_empty());
    // Of no mass at all beside the other.
    let (mut model, on) = points(middle());
    model
        .add_mass("own", on, Mass::PerElement(vec![1e-30, 1.0]))
        .unwrap();
    assert_eq!(examined(model).massless.len(), 0);
}

/// A mass on a distance leaves what is across it, and another point altogether.
#[test]
fn a_mass_on_a_distance_leaves_what_is_across() {
    let distance = || Distance::new(&[(End::element(0, 0), End::Point([0.0; 3]))]);
    let (model, on) = points(distance());
    let found = examined(model).massless;
    assert_eq!(found.len(), 5, "{found:?}");
    let of = |element: usize| found.iter().filter(move |m| m.element == element);
    assert_eq!((of(0).count(), of(1).count()), (2, 3));
    for Massless {
        node,
        direction,
        others,
        ..
    } in of(0)
    {
        assert_eq!((*node, *others), (on, 0));
        let along = 0.6 * direction[0] + 0.8 * direction[1];
        assert!(along.abs() < 1e-12, "{direction:?}");
    }
    // What hard constraints hold needs none.
    let (mut model, on) = points(distance());
    model.add_constraint("ground", on, Level::Position).unwrap();
    assert!(examined(model).massless.is_empty());
    let (mut model, on) = points(distance());
    let one = model
        .add_mapped("one", &[on], Subset::of_elements(Space::Real(3), &[1]))
        .unwrap();
    model.add_constraint("pin", one, Level::Position).unwrap();
    let found = examined(model).massless;
    assert!(
        found.len() == 2 && found.iter().all(|m| m.element == 0),
        "{found:?}"
    );
}
