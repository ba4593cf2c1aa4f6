//! Curved shells and large bending against published figures.

mod symmetry;

use super::{PLATE, place};
use pliant::continuum::{Bending, Sheet, SheetMesh};
use pliant::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// A grid of squares rolled up: `around` of them close the circle, `along` go from one rim to the
/// other, with alternating diagonals.
fn rolled(around: usize, along: usize, at: impl Fn(f64, f64) -> [f64; 3]) -> SheetMesh {
    let mut mesh = SheetMesh::default();
    for j in 0..=along {
        for i in 0..around {
            mesh.nodes
                .push(at(TAU * i as f64 / around as f64, j as f64 / along as f64));
        }
    }
    let node = |i: usize, j: usize| j * around + i % around;
    for j in 0..along {
        for i in 0..around {
            let [a, b, c, d] = [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)];
            if (i + j) % 2 == 1 {
                mesh.triangles.extend([[a, b, d], [b, c, d]]);
            } else {
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
    mesh
}

/// A part of it: this many of the squares around and along, from the first ones on.
fn part_of(whole: &SheetMesh, around: usize, [columns, rows]: [usize; 2]) -> SheetMesh {
    let inside = |n: usize| n % around <= columns && n / around <= rows;
    let mut number = vec![None; whole.nodes.len()];
    let mut out = SheetMesh::default();
    for (k, x) in whole.nodes.iter().enumerate().filter(|(k, _)| inside(*k)) {
        number[k] = Some(out.nodes.len());
        out.nodes.push(*x);
    }
    let corners = |t: &[usize; 3]| Some([number[t[0]]?, number[t[1]]?, number[t[2]]?]);
    out.triangles = whole.triangles.iter().filter_map(corners).collect();
    out
}

/// Forces on nodes that a sheet has at rest.
fn under(model: Model, nodes: NodeId, forces: &[(usize, [f64; 3])], h: f64) -> Simulation {
    let mut simulation = Simulation::new(model).unwrap();
    for (k, f) in forces {
        simulation.set_force(nodes, *k, f).unwrap();
    }
    let how = Settle {
        h,
        tolerance: 1e-11,
        max_steps: 400,
        ..Settle::default()
    };
    simulation.settle(how).unwrap();
    simulation
}

/// MacNeal and Harder (1985): a hemisphere with a hole of 18 degrees at the top, pulled and pushed
/// by forces of 2 at four points of its rim: each moves by 0.094 for small forces (0.0924 without
/// the hole).
#[test]
fn a_pinched_hemisphere_gives_way_as_published() {
    let (radius, thickness, young, poisson) = (10.0, 0.04, 6.825e7, 0.3);
    let moved = |n: usize| {
        let mesh = rolled(4 * n, n, |turn, part| {
            let rise = part * (FRAC_PI_2 - PI / 10.0);
            [
                radius * rise.cos() * turn.cos(),
                radius * rise.cos() * turn.sin(),
                radius * rise.sin(),
            ]
        });
        let mut model = Model::new();
        let parts = Sheet::isotropic(young, poisson, thickness)
            .with_bending(Bending::Shell)
            .add_to(&mut model, "shell", &mesh)
            .unwrap();
        // A hundredth of the forces, so that it stays in proportion.
        let f = 0.02;
        let forces = [
            (0, [f, 0.0, 0.0]),
            (n, [0.0, -f, 0.0]),
            (2 * n, [-f, 0.0, 0.0]),
            (3 * n, [0.0, f, 0.0]),
        ];
        let simulation = under(model, parts.nodes, &forces, 1e2);
        100.0 * (place(&simulation, parts.nodes, 0).x - radius)
    };
    let ratios = [8, 16].map(|n| moved(n) / 0.094);
    println!("pinched hemisphere, 8 and 16 cells along a quarter: {ratios:.4?} of the published 0.094");
    // From above: linear curvatures are soft. 0.093 to 0.094 are in the literature.
    assert!(
        (ratios[0] - 1.0).abs() < 0.08 && (ratios[1] - 1.0).abs() < 0.02,
        "{ratios:?}"
    );
}

/// MacNeal and Harder (1985): a cylinder between rigid diaphragms, pinched by two forces of 1 in
/// the middle: 1.8248e-5.
#[test]
fn a_pinched_cylinder_gives_way_as_published() {
    let (radius, length, thickness, young, poisson) = (300.0, 600.0, 3.0, 3e6, 0.3);
    let moved = |n: usize| {
        let mesh = rolled(4 * n, 2 * n, |turn, part| {
            [length * (part - 0.5), radius * turn.cos(), radius * turn.sin()]
        });
        let mut model = Model::new();
        let parts = Sheet::isotropic(young, poisson, thickness)
            .with_bending(Bending::Shell)
            .add_to(&mut model, "shell", &mesh)
            .unwrap();
        for i in 0..4 * n {
            model.fix(parts.nodes, i, &[false, true, true]).unwrap();
            model
                .fix(parts.nodes, 8 * n * n + i, &[false, true, true])
                .unwrap();
        }
        let middle = 4 * n * n;
        let forces = [(middle, [0.0, -1.0, 0.0]), (middle + 2 * n, [0.0, 1.0, 0.0])];
        let simulation = under(model, parts.nodes, &forces, 1e4);
        radius - place(&simulation, parts.nodes, middle).y
    };
    let ratios = [12, 24].map(|n| moved(n) / 1.8248e-5);
    println!("pinched cylinder, 12 and 24 cells along a quarter: {ratios:.3?} of the published 1.8248e-5");
    // The dent under a force is a few lengths `sqrt(R t) = 30` wide, a cell is 39 and 20: slow, and
    // from above.
    assert!(
        ratios[1] > 1.0 && ratios[1] < 1.2 && ratios[1] < ratios[0],
        "{ratios:?}"
    );
}

/// A clamped strip with a dead force across its end: Mattiasson's elastica at `P L^2/(E I) = 5`,
/// the strip at rest at once and through large rotations.
#[test]
fn a_strip_bends_like_the_elastica() {
    let ends = [8, 16].map(|n| {
        let mesh = SheetMesh::rectangle([1.0, 0.25], [n, n / 4], true);
        let held: Vec<usize> = (0..mesh.nodes.len())
            .filter(|k| mesh.nodes[*k][0] == 0.0)
            .collect();
        let mut model = Model::new();
        let parts = Sheet::isotropic(1e7, 0.0, 0.01)
            .with_bending(Bending::Shell)
            .with_clamped(&held)
            .add_to(&mut model, "strip", &mesh)
            .unwrap();
        let load = 5.0 * PLATE * 0.25 / (n / 4) as f64;
        let forces: Vec<(usize, [f64; 3])> = (0..=n / 4)
            .map(|j| {
                let share = if j == 0 || j == n / 4 { 0.5 } else { 1.0 };
                (j * (n + 1) + n, [0.0, 0.0, share * load])
            })
            .collect();
        let simulation = under(model, parts.nodes, &forces, 2.0);
        let tip = place(&simulation, parts.nodes, n);
        [1.0 - tip.x, tip.z]
    });
    println!("elastica, 8 and 16 cells: {ends:.5?}, published 0.38763, 0.71379");
    let errors = ends.map(|[x, z]| (x - 0.38763).hypot(z - 0.71379));
    assert!(errors[1] < 0.01 && errors[1] < 0.5 * errors[0], "{errors:?}");
}
