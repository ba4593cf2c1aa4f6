//! Solids against independent programs: Cook's membrane and the stiff beam
//! (`benches/reference/cook.py`, `beam.py`).

use pliant::continuum::{ElementKind, Incompressibility, MassMatrix, Mesh, Solid};
use pliant::prelude::*;

/// The last number of the line of a table that starts with these words.
fn reference(table: &str, start: &str) -> f64 {
    let line = table.lines().find(|l| l.starts_with(start)).unwrap();
    line.split_whitespace().last().unwrap().parse().unwrap()
}

/// Cook's membrane, one layer of cells thick and held along z: the rise of the middle of the loaded
/// edge.
fn cook(n: usize, solid: Solid, change: impl Fn(Mesh) -> Mesh) -> f64 {
    let mut mesh = Mesh::hexahedral_box([1.0, 1.0, 1.0], [n, n, 1]).unwrap();
    for x in &mut mesh.nodes {
        let [s, t, _] = *x;
        (x[0], x[1]) = (48.0 * s, 44.0 * s + t * (44.0 * (1.0 - s) + 16.0 * s));
    }
    let mesh = change(mesh);
    let mut model = Model::new();
    let parts = solid
        .with_density(1.0)
        .add_to(&mut model, "membrane", &mesh)
        .unwrap();
    let mut load = Vec::new();
    for (k, x) in mesh.nodes.iter().enumerate() {
        let clamped = x[0] == 0.0;
        model.fix(parts.nodes, k, &[clamped, clamped, true]).unwrap();
        // 1 in all along the edge of n cells, shared by the nodes at its two sides; elements are
        // linear there.
        if x[0] == 48.0 {
            let end = x[1] < 44.01 || x[1] > 59.99;
            load.push(AffineEntry {
                element: 0,
                coordinate: 0,
                from: Dependency::new(0, k),
                from_coordinate: 1,
                value: if end { 0.25 } else { 0.5 } / n as f64,
            });
        }
    }
    let along = model
        .add_mapped("load", &[parts.nodes], Affine::new(1, &[0.0], &load))
        .unwrap();
    model
        .add_force_field("shear", along, ConstantForce::new(&[1.0]), Treatment::Stiffness)
        .unwrap();
    let middle = mesh
        .nodes
        .iter()
        .position(|x| x[0] == 48.0 && (x[1] - 52.0).abs() < 1e-9)
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    // The lowest frequency is about 0.005 1/s: inertia is 1e-7 of stiffness, and gone after two
    // passes.
    let how = Settle {
        h: 1e6,
        tolerance: 1e-9,
        max_steps: 10,
        ..Settle::default()
    };
    simulation.settle(how).unwrap();
    simulation.model().positions(simulation.state(), parts.nodes)[3 * middle + 1] - 52.0
}

const YOUNG: f64 = 1.124_999_981_25;

#[test]
fn cooks_membrane_does_not_lock_with_volume_rows() {
    let table = include_str!("../../../../benches/reference/cook.txt");
    let exact = |poisson: &str| reference(table, &format!("{poisson} 64 "));
    let rows = |kind| move |poisson| Solid::linear(YOUNG, poisson).with_incompressibility(kind);
    let per_element = rows(Incompressibility::PerElement);
    // From the compressible to compliance exactly zero. The error of 16 cells is that of bending,
    // about 2 per cent.
    for (poisson, name) in [
        (0.3, "0.3"),
        (0.4999, "0.4999"),
        (0.499_999_9, "0.4999999"),
        (0.5, "0.4999999"),
    ] {
        let found = cook(16, per_element(poisson), |m| m);
        let error = found / exact(name) - 1.0;
        assert!(error.abs() < 0.02, "nu {poisson}: {found} {error}");
    }
    // The same elements without rows lock.
    let locked = cook(16, Solid::linear(YOUNG, 0.499_999_9), |m| m);
    assert!(locked < 0.5 * exact("0.4999999"), "{locked}");
    // Tetrahedra of four nodes, by rows per node: what is left is their stiffness in bending.
    let tetrahedra =
        |n, kind| cook(n, rows(kind)(0.499_999_9), Mesh::into_tetrahedra) / exact("0.4999999") - 1.0;
    let (coarse, fine) = (
        tetrahedra(8, Incompressibility::PerNode),
        tetrahedra(16, Incompressibility::PerNode),
    );
    assert!(
        fine.abs() < 0.2 && fine.abs() < 0.6 * coarse.abs(),
        "{coarse} {fine}"
    );
    // One row for each tetrahedron locks like no rows.
    assert!(tetrahedra(16, Incompressibility::PerElement) < -0.5);
    // Halving the cells takes the error to less than half.
    let coarse = cook(8, per_element(0.5), |m| m) - exact("0.4999999");
    let fine = cook(16, per_element(0.5), |m| m) - exact("0.4999999");
    assert!(fine.abs() < 0.5 * coarse.abs(), "{coarse} {fine}");
}

/// The beam of the reference, let go straight, at rest: mean height of the free end.
fn beam_at_rest(solid: Solid, h: f64) -> f64 {
    let mesh = Mesh::hexahedral_box([1.0, 0.1, 0.1], [39, 3, 3]).unwrap();
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let parts = solid.add_to(&mut model, "beam", &mesh).unwrap();
    let mut tip = Vec::new();
    for (k, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            model.fix(parts.nodes, k, &[true; 3]).unwrap();
        }
        if x[0] == 1.0 {
            tip.push(k);
        }
    }
    let mut simulation = crate::tools::theta(model).unwrap();
    for _ in 0..5 {
        // Ordinary steps first: all of them converge.
        assert!(simulation.step(0.01).unwrap().residual.relative < 1e-10);
    }
    let how = Settle {
        h,
        tolerance: 1e-11,
        max_steps: 100,
        ..Settle::default()
    };
    simulation.settle(how).unwrap();
    let z = |k: &usize| simulation.model().positions(simulation.state(), parts.nodes)[3 * k + 2];
    tip.iter().map(z).sum::<f64>() / tip.len() as f64
}

#[test]
fn a_beam_sags_as_it_should_however_stiff() {
    let table = include_str!("../../../../benches/reference/beam.txt");
    // `cargo xtask bench solids` does so from 1e5 on.
    for (young, name, h) in [(1e7, "1e+07", 1.0), (1e12, "1e+12", 1.0)] {
        let exact = reference(table, &format!("corotational {name} "));
        let found = beam_at_rest(Solid::corotational(young, 0.3), h);
        let error = (found - exact) / (0.05 - exact);
        assert!(error.abs() < 1e-6, "E {young}: {found} {exact} {error}");
    }
}

/// Modes of a free vibration: a clamped beam's first frequency against that of Euler and Bernoulli,
/// with quadratic elements.
#[test]
fn a_slender_beam_swings_at_its_frequency() {
    let (length, thick, young, density) = (1.0, 0.02, 1e8, 1000.0);
    let mesh = Mesh::hexahedral_box([length, thick, thick], [16, 1, 1])
        .unwrap()
        .into_quadratic();
    let mut model = Model::new();
    let solid = Solid::linear(young, 0.0)
        .with_density(density)
        .with_mass(MassMatrix::Consistent);
    let inertia = thick.powi(4) / 12.0;
    let omega = 1.875_104_068_711_961_f64.powi(2)
        * (young * inertia / (density * thick * thick * length.powi(4))).sqrt();
    // Bent like the first mode, to the first order.
    let shape = |x: f64| {
        let (k, s) = (1.875_104_068_711_961 / length, 0.734_095_513_755_6);
        (k * x).cosh() - (k * x).cos() - s * ((k * x).sinh() - (k * x).sin())
    };
    let start: Vec<[f64; 3]> = mesh
        .nodes
        .iter()
        .map(|x| [x[0], x[1], x[2] + 1e-4 * shape(x[0])])
        .collect();
    let nodes = model.add_particles("beam", &start).unwrap();
    solid.add_on(&mut model, "beam", nodes, &mesh).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            model.fix(nodes, k, &[true; 3]).unwrap();
        }
    }
    let tip = mesh.nodes.iter().position(|x| *x == [length, 0.0, 0.0]).unwrap();
    let mut simulation = Simulation::with_options(model, Options::trapezoidal()).unwrap();
    let z = |s: &Simulation| s.model().positions(s.state(), nodes)[3 * tip + 2];
    let h = std::f64::consts::TAU / omega / 200.0;
    let mut crossings = Vec::new();
    let mut last = z(&simulation);
    for step in 0..450 {
        simulation.step(h).unwrap();
        let now = z(&simulation);
        if last > 0.0 && now <= 0.0 {
            crossings.push(h * (step as f64 + last / (last - now)));
        }
        last = now;
    }
    let found = std::f64::consts::TAU / (crossings[1] - crossings[0]);
    // Shear and rotation lower it by about 2 (t/L)^2/3 = 3e-4, the trapezoidal rule by (omega
    // h)^2/12 = 8e-5; 8 elements make it 28e-4 too high, 16 a sixteenth of that.
    assert!((found / omega - 1.0).abs() < 6e-4, "{found} {omega}");
    assert_eq!(mesh.elements[0].kind, ElementKind::Hex20);
}
