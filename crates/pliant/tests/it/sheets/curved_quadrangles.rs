//! Bending of quadrangles: energies of curved sheets, strips, twisted and supported plates, planes
//! of symmetry.

use super::{PLATE, place, strip, uneven};
use pliant::continuum::{Bending, Sheet, SheetMesh, SymmetryPlane};
use pliant::prelude::*;
use std::f64::consts::PI;

const KINDS: [fn(f64) -> Bending; 2] = [Bending::Hinges, Bending::Quadratic];

/// The energy of bending of a sheet that is flat at rest and somewhere else now; it is clamped at
/// its first nodes.
fn energy(mesh: &SheetMesh, now: &[[f64; 3]], bending: Bending, clamped: &[usize]) -> f64 {
    let mut model = Model::new();
    let nodes = model.add_particles("sheet", now).unwrap();
    let sheet = Sheet::isotropic(1e7, 0.0, 0.01)
        .with_bending(bending)
        .with_clamped(clamped);
    let bending = sheet.add_on(&mut model, "sheet", nodes, mesh).unwrap().bending;
    Simulation::new(model).unwrap().potential(bending.unwrap())
}

/// A plate without Poisson's ratio: `D/2 (kx^2 + ky^2 + 2 kxy^2)` over its area, but for the half
/// cells at the boundary that no edge is the middle of; curvatures do not mix.
#[test]
fn evenly_curved_rectangles_have_the_energy_of_a_plate() {
    let (n, m, [a, b]) = (5, 4, [0.2, 0.15]);
    let mesh = SheetMesh::quadrangles([n as f64 * a, m as f64 * b], [n, m]);
    for k in [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.7, -1.3, 0.9],
    ] {
        // So flat that angles are slopes: squares of 1e-4.
        let [kx, ky, kxy] = k.map(|k| 1e-4 * k);
        let height = |x: f64, y: f64| 0.5 * kx * x * x + 0.5 * ky * y * y + kxy * x * y;
        let now: Vec<[f64; 3]> = mesh
            .nodes
            .iter()
            .map(|x| [x[0], x[1], height(x[0], x[1])])
            .collect();
        let parts = [
            kx * kx * ((n - 1) * m) as f64,
            ky * ky * (n * (m - 1)) as f64,
            2.0 * kxy * kxy * (n * m) as f64,
        ];
        let exact = 0.5 * PLATE * a * b * parts.iter().sum::<f64>();
        for kind in KINDS {
            let found = energy(&mesh, &now, kind(PLATE), &[]);
            assert!((found / exact - 1.0).abs() < 1e-7, "{k:?}: {found} {exact}");
        }
    }
}

/// Rolled up without stretching by the same angle at every edge, from a clamp that counts as half
/// an edge: `D b/(2 a) theta^2` at each edge of length `b` between cells of length `a`, the energy
/// of a cylinder at any angle; `2 D b/a sin^2(theta/2)` of quadratic bending.
#[test]
fn rolled_strips_have_the_energy_of_a_cylinder() {
    let (n, m, [a, b]) = (12, 2, [0.2, 0.3]);
    let mesh = SheetMesh::quadrangles([n as f64 * a, m as f64 * b], [n, m]);
    let turn = 2.0 * PI / n as f64;
    let mut line = vec![[0.0; 2]];
    for i in 0..n {
        // The first cell leaves the plane of the clamp by half of an angle.
        let (sin, cos) = (turn * (i as f64 + 0.5)).sin_cos();
        let [x, z] = line[i];
        line.push([x + a * cos, z + a * sin]);
    }
    let now: Vec<[f64; 3]> = mesh
        .nodes
        .iter()
        .map(|p| {
            let [x, z] = line[(p[0] / a).round() as usize];
            [x, p[1], z]
        })
        .collect();
    let held: Vec<usize> = (0..mesh.nodes.len())
        .filter(|k| mesh.nodes[*k][0] == 0.0)
        .collect();
    let edges = PLATE * b / a * m as f64;
    let hinges = 0.5 * edges * turn * turn * (n as f64 - 0.5);
    let quadratic = 2.0 * edges * (0.5 * turn).sin().powi(2) * (n - 1) as f64;
    let found = energy(&mesh, &now, Bending::Hinges(PLATE), &held);
    assert!((found / hinges - 1.0).abs() < 1e-12, "{found} {hinges}");
    let found = energy(&mesh, &now, Bending::Quadratic(PLATE), &[]);
    assert!((found / quadratic - 1.0).abs() < 1e-12, "{found} {quadratic}");
}

/// A strip of rectangles is a row of hinges: the trapezoidal rule for the integral of its moments,
/// `1 + 1/(2 n^2)` of the beam, however wide. Uneven ones are near it.
#[test]
fn strips_of_quadrangles_bend_like_beams() {
    for cells in [[16, 4], [16, 2], [8, 4]] {
        let mesh = SheetMesh::quadrangles([1.0, 0.25], cells);
        let found = strip(&mesh, 1.0, Bending::Hinges(PLATE), 0.0);
        let exact = 1.0 + 0.5 / (cells[0] * cells[0]) as f64;
        // Rest to 1e-10 of forces on 1e-5 m.
        assert!((found / exact - 1.0).abs() < 1e-6, "{cells:?}: {found} {exact}");
    }
    let mesh = SheetMesh::quadrangles([1.0, 0.25], [16, 4]);
    let [a, b] = KINDS.map(|kind| strip(&mesh, 1.0, kind(PLATE), 0.07));
    assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
    let moved = uneven(mesh, [1.0, 0.25], 0.01);
    let found = strip(&moved, 1.0, Bending::Hinges(PLATE), 0.0);
    println!("strip of quadrangles moved by a sixth of their side: {found}");
    assert!((found - 1.0).abs() < 0.05, "{found}");
}

/// A plate with free edges on three of its corners, and a force on the fourth: it is twisted
/// evenly, `w = P a b/(2 D)`.
#[test]
fn a_plate_is_twisted_by_a_force_on_its_corner() {
    for size in [[1.0, 1.0], [1.5, 0.6]] {
        let mesh = SheetMesh::quadrangles(size, [4, 3]);
        let corner = |x: &[f64; 3]| (0..2).all(|k| x[k] == 0.0 || x[k] == size[k]);
        for kind in KINDS {
            let mut model = Model::new();
            let sheet = Sheet::isotropic(1e7, 0.0, 0.01).with_bending(kind(PLATE));
            let nodes = sheet.add_to(&mut model, "plate", &mesh).unwrap().nodes;
            let last = mesh.nodes.len() - 1;
            for (k, x) in mesh.nodes.iter().enumerate() {
                model
                    .fix(nodes, k, &[true, true, corner(x) && k != last])
                    .unwrap();
            }
            let mut simulation = Simulation::new(model).unwrap();
            let force = 1e-6;
            simulation.set_force(nodes, last, &[0.0, 0.0, force]).unwrap();
            simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            let exact = force * size[0] * size[1] / (2.0 * PLATE);
            let found = place(&simulation, nodes, last).z / exact;
            // Deflections of 1e-6 m stretch by their square.
            assert!((found - 1.0).abs() < 1e-6, "{size:?}: {found}");
        }
    }
}

/// Navier's series for a simply supported square plate under a uniform load: `w = 0.00406 q a^4/D`
/// in the middle, whatever Poisson's ratio.
#[test]
fn a_supported_plate_of_quadrangles_sags_by_its_coefficient() {
    let weight = 1e-5;
    let mut navier = 0.0;
    for m in (1..100).step_by(2) {
        for n in (1..100).step_by(2) {
            let sign = if (m + n) / 2 % 2 == 1 { 1.0 } else { -1.0 };
            navier += 16.0 * sign / (PI.powi(6) * m as f64 * n as f64 * ((m * m + n * n) as f64).powi(2));
        }
    }
    let errors = [8, 16].map(|n: usize| {
        let mesh = SheetMesh::quadrangles([1.0; 2], [n, n]);
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -weight / (1000.0 * 0.01)]).unwrap();
        let sheet = Sheet::isotropic(1e7, 0.0, 0.01).with_bending(Bending::Hinges(PLATE));
        let nodes = sheet.add_to(&mut model, "plate", &mesh).unwrap().nodes;
        for (k, x) in mesh.nodes.iter().enumerate() {
            let rim = x[..2].iter().any(|x| *x == 0.0 || *x == 1.0);
            model.fix(nodes, k, &[true, true, rim]).unwrap();
        }
        let mut simulation = Simulation::new(model).unwrap();
        simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        -place(&simulation, nodes, mesh.nodes.len() / 2).z * PLATE / weight / navier - 1.0
    });
    let order = (errors[0] / errors[1]).log2();
    println!("supported plate of quadrangles: relative errors {errors:?}, order {order:.2}");
    assert!((order - 2.0).abs() < 0.1 && errors[1].abs() < 0.01, "{errors:?}");
}

/// Half of a strip between two clamps, ended at a plane of symmetry, sags as the whole.
#[test]
fn half_a_strip_of_quadrangles_is_the_whole() {
    let sag = |length: f64, cells: usize, half: bool| {
        let mesh = SheetMesh::quadrangles([length, 0.25], [cells, 2]);
        let held: Vec<usize> = (0..mesh.nodes.len())
            .filter(|k| mesh.nodes[*k][0] == 0.0 || !half && mesh.nodes[*k][0] == length)
            .collect();
        let mut sheet = Sheet::isotropic(1e7, 0.0, 0.01)
            .with_bending(Bending::Hinges(PLATE))
            .with_clamped(&held);
        if half {
            sheet = sheet.with_symmetry(&[SymmetryPlane { axis: 0, at: length }]);
        }
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -1e-5]).unwrap();
        let nodes = sheet.add_to(&mut model, "strip", &mesh).unwrap().nodes;
        let mut simulation = Simulation::new(model).unwrap();
        simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        place(&simulation, nodes, if half { cells } else { cells / 2 }).z
    };
    let (cells, beam) = (8, -1000.0 * 0.01 * 1e-5 / (384.0 * PLATE));
    let (whole, half) = (sag(1.0, cells, false), sag(0.5, cells / 2, true));
    // Of a beam `q L^4/(384 D)`; of a row of hinges, whose moments are summed by the trapezoidal
    // rule, `1 + 8/n^2` of it.
    let exact = beam * (1.0 + 8.0 / (cells * cells) as f64);
    assert!((whole / exact - 1.0).abs() < 1e-6, "{whole} {exact}");
    assert!((half / exact - 1.0).abs() < 1e-6, "{half} {exact}");
}
