//! Membranes of quadrangles: the patch test, Cook's membrane, mass, and what is refused.

use super::{place, settle, uneven};
use pliant::continuum::{Bending, Sheet, SheetMesh};
use pliant::dense::Vec3;
use pliant::prelude::*;

/// Quadrangles of a square, no two alike; with `mixed`, every third is cut into triangles.
fn patch(mixed: bool) -> SheetMesh {
    let mut mesh = uneven(SheetMesh::quadrangles([1.0, 1.0], [4, 4]), [1.0; 2], 0.06);
    if mixed {
        let (cut, whole): (Vec<_>, Vec<_>) =
            mesh.quadrangles.iter().enumerate().partition(|(k, _)| k % 3 == 0);
        mesh.triangles = cut
            .iter()
            .flat_map(|(_, [a, b, c, d])| [[*a, *b, *d], [*b, *c, *d]])
            .collect();
        mesh.quadrangles = whole.into_iter().map(|(_, q)| *q).collect();
    }
    mesh
}

/// The patch test: nodes of the boundary on an affine map, those inside come to it, with triangles
/// between them too, as a stiffness and as a compliance.
#[test]
fn uniform_strain_is_uniform_on_uneven_quadrangles() {
    let map = |x: &[f64; 3]| [1.1 * x[0] + 0.1 * x[1], 0.95 * x[1] - 0.05 * x[0], 0.2 * x[0]];
    for (mixed, treatment) in [
        (false, Treatment::Stiffness),
        (true, Treatment::Stiffness),
        (true, Treatment::Compliance),
    ] {
        let mesh = patch(mixed);
        let inner = |x: &[f64; 3]| x[..2].iter().all(|x| *x > 0.0 && *x < 1.0);
        let start = mesh.nodes.iter().map(|x| if inner(x) { *x } else { map(x) });
        let mut model = Model::new();
        let nodes = model.add_particles("sheet", &start.collect::<Vec<_>>()).unwrap();
        let sheet = Sheet::orthotropic([1e-6, 3e-6, 1e-5], 0.2, 0.01)
            .with_warp([1.0, 0.0, 0.0])
            .with_treatment(treatment);
        sheet.add_on(&mut model, "sheet", nodes, &mesh).unwrap();
        for (k, x) in mesh.nodes.iter().enumerate() {
            if !inner(x) {
                model.fix(nodes, k, &[true; 3]).unwrap();
            }
        }
        let simulation = settle(model, 1.0);
        for (k, x) in mesh.nodes.iter().enumerate() {
            let miss = (place(&simulation, nodes, k) - Vec3::from(map(x))).norm();
            assert!(miss < 1e-8, "{mixed} {treatment:?}, node {k}: {miss}");
        }
    }
}

/// The rise of the middle of the loaded edge of Cook's membrane for a load of 1, in proportion to
/// that of a small one.
fn cook(n: usize, sheet: &Sheet) -> f64 {
    let mut mesh = SheetMesh::quadrangles([1.0, 1.0], [n, n]);
    for x in &mut mesh.nodes {
        let [s, t, _] = *x;
        (x[0], x[1]) = (48.0 * s, 44.0 * s + t * (44.0 * (1.0 - s) + 16.0 * s));
    }
    let mut model = Model::new();
    let nodes = sheet.add_to(&mut model, "membrane", &mesh).unwrap().nodes;
    for (k, x) in mesh.nodes.iter().enumerate() {
        let clamped = x[0] == 0.0;
        model.fix(nodes, k, &[clamped, clamped, true]).unwrap();
    }
    let mut simulation = Simulation::new(model).unwrap();
    let load = 1e-6;
    for j in 0..=n {
        let share = if j == 0 || j == n { 0.5 } else { 1.0 } / n as f64;
        simulation
            .set_force(nodes, j * (n + 1) + n, &[0.0, share * load, 0.0])
            .unwrap();
    }
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    (place(&simulation, nodes, n / 2 * (n + 1) + n).y - 52.0) / load
}

/// Plane stress, `E = 1`, `nu = 1/3`: the rises of bilinear elements are published (Bergan and
/// Felippa 1985 and many after them print 11.85, 18.30, 22.08, 23.43; more digits from
/// `benches/reference/quadrangles.py`), on the way to 23.96.
#[test]
fn cooks_membrane_is_that_of_bilinear_elements() {
    let sheet = Sheet::isotropic(1.0, 1.0 / 3.0, 1.0);
    for (n, exact) in [(2, 11.845180), (4, 18.299166), (8, 22.079183), (16, 23.430411)] {
        let found = cook(n, &sheet);
        println!("Cook's membrane of {n} x {n} quadrangles: {found:.5}, published {exact:.2}");
        // The strains of a load of 1 are about one: those of the millionth are linear to a
        // millionth.
        assert!((found / exact - 1.0).abs() < 5e-6, "{n}: {found} {exact}");
    }
}

/// Plane strain: the sheet of `E/(1 - nu^2)` and `nu/(1 - nu)` comes to what quadrilaterals of nine
/// nodes say (`benches/reference/cook.py`).
#[test]
fn cooks_membrane_in_plane_strain_converges() {
    let (young, poisson) = (1.124_999_981_25, 0.3);
    let table = include_str!("../../../../../benches/reference/cook.txt");
    let line = table.lines().find(|l| l.starts_with("0.3 64 ")).unwrap();
    let exact: f64 = line.split_whitespace().last().unwrap().parse().unwrap();
    let sheet = Sheet::isotropic(young / (1.0 - poisson * poisson), poisson / (1.0 - poisson), 1.0);
    let errors = [8, 16, 32].map(|n| 1.0 - cook(n, &sheet) / exact);
    println!(
        "Cook's membrane in plane strain, 8, 16, 32 quadrangles along a side: too stiff by {errors:.4?}"
    );
    // Of second order but for the corner at the clamp, where stresses have no bound.
    for pair in errors.windows(2) {
        assert!(pair[1] > 0.0 && pair[0] / pair[1] > 3.0, "{errors:?}");
    }
    assert!(errors[2] < 0.01, "{errors:?}");
}

/// The mass is that of the area, and its centre that of the area, on flat quadrangles of any shape;
/// a stretched sheet has that of its rest.
#[test]
fn mass_is_where_the_area_is() {
    let mesh = patch(true);
    for stretch in [1.0, 1.5] {
        let mut model = Model::new();
        let sheet = Sheet::isotropic(1.0, 0.0, 0.01)
            .with_density(200.0)
            .with_stretch(stretch);
        let parts = sheet.add_to(&mut model, "s", &mesh).unwrap();
        let area: f64 = parts.areas.iter().sum();
        assert!((area * stretch * stretch - 1.0).abs() < 1e-14, "{area}");
        let simulation = Simulation::new(model).unwrap();
        let mass = &simulation.model().masses()[0].component;
        let weights: Vec<f64> = (0..mesh.nodes.len()).map(|k| mass.of(k)).collect();
        let total = 2.0 / (stretch * stretch);
        assert!((weights.iter().sum::<f64>() / total - 1.0).abs() < 1e-14);
        for k in 0..2 {
            let moment: f64 = weights.iter().zip(&mesh.nodes).map(|(m, x)| m * x[k]).sum();
            // Exact for linear functions: a bilinear one times the area's density is quadratic.
            assert!((moment / total - 0.5).abs() < 1e-14, "{moment}");
        }
    }
}

#[test]
fn what_no_membrane_of_quadrangles_can_be_is_refused() {
    let mesh = SheetMesh::quadrangles([1.0, 1.0], [1, 1]);
    let bad = |sheet: Sheet, mesh: &SheetMesh, wanted: &str| {
        let message = sheet
            .add_to(&mut Model::new(), "s", mesh)
            .unwrap_err()
            .to_string();
        assert!(message.contains(wanted), "{message} instead of {wanted}");
    };
    let good = Sheet::isotropic(1e6, 0.3, 0.01);
    bad(
        good.clone().with_bending(Bending::Shell),
        &mesh,
        "the bending of a shell cannot be had with quadrangles",
    );
    let mut turned = SheetMesh::quadrangles([2.0, 1.0], [2, 1]);
    turned.quadrangles[1].reverse();
    let hinged = good.clone().with_bending(Bending::Hinges(1.0));
    bad(
        hinged,
        &turned,
        "quadrangle 1 of the sheet: it goes round the other way",
    );
    // Without bending it does not matter.
    good.add_to(&mut Model::new(), "s", &turned).unwrap();
    let with = |corners: [usize; 4]| SheetMesh {
        quadrangles: vec![corners],
        ..mesh.clone()
    };
    bad(
        good.clone(),
        &with([0, 1, 3, 4]),
        "quadrangle 0 of the sheet: a corner is a node",
    );
    // Crossed, and with two corners in one place.
    for corners in [[0, 1, 2, 3], [0, 1, 3, 3], [0, 1, 1, 2]] {
        bad(
            good.clone(),
            &with(corners),
            "quadrangle 0 of the sheet: its corners do not go round",
        );
    }
    let mut dart = mesh.clone();
    dart.nodes[3] = [0.4, 0.4, 0.0];
    bad(good.clone(), &dart, "its corners do not go round a convex area");
    let mut far = mesh.clone();
    far.nodes[2][1] = f64::NAN;
    bad(
        good.clone(),
        &far,
        "a coordinate of a corner is not a finite number",
    );
    bad(
        good.clone().with_warp([0.0, 0.0, 1.0]),
        &mesh,
        "quadrangle 0 of the sheet: the direction of the warp is across it",
    );
    let mut lonely = mesh.clone();
    lonely.nodes.push([5.0; 3]);
    bad(good, &lonely, "belongs to no element");
}
