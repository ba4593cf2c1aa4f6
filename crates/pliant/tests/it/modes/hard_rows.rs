//! Modes that hard rows hold in part: complete for any number that is asked for.

use super::{check, frequencies, modes};
use pliant::continuum::{Incompressibility, Mesh, Solid};
use pliant::prelude::*;
use std::sync::Arc;

/// A block that keeps its volume, cell by cell, on a wall: 18 free nodes of 3 coordinates and 8 rows.
/// However many modes are asked for, they are the first ones of all 46, and keep the volume.
#[test]
fn an_incompressible_block_has_all_of_its_modes() {
    let mesh = Mesh::hexahedral_box([1.0, 0.8, 0.9], [2, 2, 2]).unwrap();
    let solid = Solid::corotational(1e6, 0.5)
        .with_density(1000.0)
        .with_incompressibility(Incompressibility::PerElement);
    let mut model = Model::new();
    let parts = solid.add_to(&mut model, "block", &mesh).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        model.fix(parts.nodes, k, &[x[0] == 0.0; 3]).unwrap();
    }
    let model = Arc::new(model);
    let all = modes(Arc::clone(&model), 60);
    assert_eq!((all.all, all.modes.len(), all.redundant_rows), (46, 46, 0));
    let exact = frequencies(&all);
    for count in [1, 3, 4, 8, 20, 30, 40, 45] {
        check(
            &frequencies(&modes(Arc::clone(&model), count)),
            &exact[..count],
            1e-9,
        );
    }
    // The shapes keep the volume: what flows through the faces of a cell is nothing, on the whole block too.
    for mode in &all.modes {
        let shape = mode.shape(&model, parts.nodes);
        let mut volume = 0.0;
        for (k, x) in mesh.nodes.iter().enumerate() {
            let at = |axis: usize, side: f64| x[axis] == side;
            let sides = [1.0, 0.8, 0.9];
            for axis in 0..3 {
                let across = [0, 1, 2].into_iter().filter(|a| *a != axis);
                // A quarter of the faces around the node, by the trapezoidal rule.
                let area: f64 = across
                    .map(|a| {
                        let edge = at(a, 0.0) || at(a, sides[a]);
                        sides[a] / if edge { 4.0 } else { 2.0 }
                    })
                    .product();
                let sign = f64::from(u8::from(at(axis, sides[axis]))) - f64::from(u8::from(at(axis, 0.0)));
                volume += sign * area * shape[3 * k + axis];
            }
        }
        let largest = shape.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        assert!(volume.abs() < 1e-10 * largest, "{volume:e}");
    }
}
