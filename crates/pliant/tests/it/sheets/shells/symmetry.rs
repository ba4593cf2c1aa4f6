//! Parts of shells and solids at planes of symmetry against the whole.

use super::*;
use pliant::continuum::{ContinuumError, Mesh, Solid, SymmetryPlane};

fn plane(axis: usize, at: f64) -> SymmetryPlane {
    SymmetryPlane { axis, at }
}

/// The dents under the forces on a whole and on its part, in which patterns of triangles are mirror
/// images too: the same to what rest and rounding leave.
fn same(name: &str, whole: f64, part: f64) {
    println!("{name}: {whole:.9e} of the whole, {part:.9e} of the part");
    assert!((part / whole - 1.0).abs() < 1e-6, "{name}: {whole} {part}");
}

/// The pinched hemisphere at forces where it is far from its place at rest, and a quarter of it
/// under half of two of them.
#[test]
fn a_quarter_of_a_hemisphere_is_the_whole() {
    let (radius, n) = (10.0, 4);
    let whole = rolled(4 * n, n, |turn, part| {
        let rise = part * (FRAC_PI_2 - PI / 10.0);
        [
            radius * rise.cos() * turn.cos(),
            radius * rise.cos() * turn.sin(),
            radius * rise.sin(),
        ]
    });
    let quarter = part_of(&whole, 4 * n, [n, n]);
    for bending in [Bending::Shell, Bending::Hinges(400.0)] {
        let sheet = Sheet::isotropic(6.825e7, 0.3, 0.04).with_bending(bending);
        let moved = |sheet: &Sheet, mesh: &SheetMesh, forces: &[(usize, [f64; 3])]| {
            let mut model = Model::new();
            let nodes = sheet.add_to(&mut model, "shell", mesh).unwrap().nodes;
            // Held in the planes too, the whole cannot turn about: forces inwards are on the wrong
            // side of it. Nothing acts along z.
            for (k, x) in mesh.nodes.iter().enumerate() {
                model
                    .fix(nodes, k, &[x[0].abs() < 1e-9, x[1].abs() < 1e-9, k == 0])
                    .unwrap();
            }
            let mut simulation = Simulation::new(model).unwrap();
            for (k, f) in forces {
                simulation.set_force(nodes, *k, f).unwrap();
            }
            simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            [
                place(&simulation, nodes, 0).x - radius,
                place(&simulation, nodes, n).y - radius,
            ]
        };
        let f = 5.0;
        let forces = [
            (0, [f, 0.0, 0.0]),
            (n, [0.0, -f, 0.0]),
            (2 * n, [-f, 0.0, 0.0]),
            (3 * n, [0.0, f, 0.0]),
        ];
        let halves = [(0, [0.5 * f, 0.0, 0.0]), (n, [0.0, -0.5 * f, 0.0])];
        let cut = sheet.clone().with_symmetry(&[plane(0, 0.0), plane(1, 0.0)]);
        let (whole, part) = (moved(&sheet, &whole, &forces), moved(&cut, &quarter, &halves));
        for k in 0..2 {
            same(&format!("hemisphere, {bending:?}"), whole[k], part[k]);
        }
        // Several times its thickness of 0.04, and less than without the normals held.
        let softer = moved(&sheet, &quarter, &halves);
        println!("normals free: {:.6e}", softer[0]);
        assert!(
            whole[0] > 0.1 && softer[0] > 1.05 * whole[0],
            "{whole:?} {softer:?}"
        );
    }
}

/// An eighth of the pinched cylinder between diaphragms.
#[test]
fn an_eighth_of_a_cylinder_is_the_whole() {
    let (radius, length, n) = (300.0, 600.0, 6);
    let whole = rolled(4 * n, 2 * n, |turn, part| {
        [length * (part - 0.5), radius * turn.cos(), radius * turn.sin()]
    });
    let eighth = part_of(&whole, 4 * n, [n, n]);
    let sheet = Sheet::isotropic(3e6, 0.3, 3.0).with_bending(Bending::Shell);
    let dent = |sheet: &Sheet, mesh: &SheetMesh, forces: &[(usize, [f64; 3])]| {
        let mut model = Model::new();
        let parts = sheet.add_to(&mut model, "shell", mesh).unwrap();
        for (k, x) in mesh.nodes.iter().enumerate() {
            if x[0].abs() == 0.5 * length {
                model.fix(parts.nodes, k, &[false, true, true]).unwrap();
            }
        }
        let simulation = under(model, parts.nodes, forces, 1e4);
        radius - place(&simulation, parts.nodes, forces[0].0).y
    };
    let middle = 4 * n * n;
    let both = [(middle, [0.0, -1.0, 0.0]), (middle + 2 * n, [0.0, 1.0, 0.0])];
    // In two planes: a quarter of the force.
    let share = [(n * (n + 1), [0.0, -0.25, 0.0])];
    let cut = sheet
        .clone()
        .with_symmetry(&[plane(0, 0.0), plane(1, 0.0), plane(2, 0.0)]);
    same(
        "cylinder",
        dent(&sheet, &whole, &both),
        dent(&cut, &eighth, &share),
    );
}

/// A block of rubber that is pressed down in the middle of its top, and a quarter of it.
#[test]
fn a_quarter_of_a_solid_is_the_whole() {
    let depth = |size: f64, cells: usize, planes: &[SymmetryPlane], force: f64| {
        let mut mesh = Mesh::hexahedral_box([size, size, 1.0], [cells, cells, 2]).unwrap();
        mesh.nodes
            .iter_mut()
            .for_each(|x| (0..2).for_each(|k| x[k] -= 1.0));
        let mut model = Model::new();
        let solid = Solid::st_venant_kirchhoff(1e5, 0.3);
        let nodes = solid.add_to(&mut model, "block", &mesh).unwrap().nodes;
        let mut held = 0;
        for plane in planes {
            held += plane.hold(&mut model, nodes, &mesh.nodes).unwrap().len();
        }
        assert_eq!(held, planes.len() * (cells + 1) * 3);
        let at = |x: [f64; 3]| mesh.nodes.iter().position(|n| *n == x).unwrap();
        for (k, x) in mesh.nodes.iter().enumerate() {
            if x[2] == 0.0 {
                model.fix(nodes, k, &[true; 3]).unwrap();
            }
        }
        let top = at([0.0, 0.0, 1.0]);
        let mut simulation = Simulation::new(model).unwrap();
        simulation.set_force(nodes, top, &[0.0, 0.0, -force]).unwrap();
        simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        1.0 - place(&simulation, nodes, top).z
    };
    let planes = [plane(0, 0.0), plane(1, 0.0)];
    let (whole, part) = (depth(2.0, 4, &[], 8e3), depth(1.0, 2, &planes, 2e3));
    assert!(whole > 0.05);
    assert!((part / whole - 1.0).abs() < 1e-9, "{whole} {part}");
}

#[test]
fn planes_that_no_mesh_ends_at_are_refused() {
    let mesh = SheetMesh::rectangle([1.0, 1.0], [2, 2], true);
    let good = Sheet::isotropic(1e6, 0.3, 0.01).with_bending(Bending::Shell);
    let bad = |sheet: &Sheet, planes: &[SymmetryPlane]| -> ContinuumError {
        sheet
            .clone()
            .with_symmetry(planes)
            .add_to(&mut Model::new(), "s", &mesh)
            .unwrap_err()
    };
    for (axis, at, wanted) in [
        (
            0,
            0.5,
            "the plane of symmetry x = 0.5 m: nodes are on both sides of it",
        ),
        (1, -0.1, "the plane of symmetry y = -0.1 m: no node is on it"),
        (2, 0.0, "the plane of symmetry z = 0 m: the sheet lies in it"),
        (3, 0.0, "it must be across axis 0, 1 or 2"),
        (0, f64::NAN, "the place of a plane of symmetry is NaN"),
    ] {
        let message = bad(&good, &[plane(axis, at)]).to_string();
        assert!(message.contains(wanted), "{message}");
    }
    let quadratic = good.with_bending(Bending::Quadratic(1.0));
    let message = bad(&quadratic, &[plane(0, 0.0)]).to_string();
    assert!(message.contains("a plane of symmetry cannot be had with quadratic bending"));
}
