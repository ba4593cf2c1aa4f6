//! Sheets against closed forms: stretch, pressure, sag, bending of plates and strips.

mod curved_quadrangles;
mod frames;
mod quadrangles;
mod shells;

use pliant::continuum::{Bending, ContinuumError, Rod, RodCurve, Section, Sheet, SheetMesh, SheetParts};
use pliant::dense::Vec3;
use pliant::prelude::*;
use std::f64::consts::PI;

/// Rest by pseudo-static steps far beyond all periods.
fn settle(model: Model, h: f64) -> Simulation {
    let mut simulation = Simulation::new(model).unwrap();
    let how = Settle {
        h,
        tolerance: 1e-9,
        max_steps: 400,
        ..Settle::default()
    };
    simulation.settle(how).unwrap();
    simulation
}

/// Moves the inner nodes of a rectangle about, so that no two triangles are alike.
fn uneven(mut mesh: SheetMesh, size: [f64; 2], by: f64) -> SheetMesh {
    let shifts = crate::tools::numbers(3, 2 * mesh.nodes.len());
    for (x, d) in mesh.nodes.iter_mut().zip(shifts.chunks(2)) {
        for k in 0..2 {
            if x[0] > 0.0 && x[0] < size[0] && x[1] > 0.0 && x[1] < size[1] {
                x[k] += by * d[k];
            }
        }
    }
    mesh
}

fn place(simulation: &Simulation, node: NodeId, element: usize) -> Vec3 {
    Vec3::from_column_slice(&simulation.positions(node)[3 * element..][..3])
}

/// The patch test: nodes of the boundary on an affine map, those inside come to it, on any mesh, as
/// a stiffness and as a compliance.
#[test]
fn uniform_strain_is_uniform_on_any_mesh() {
    let mesh = uneven(SheetMesh::rectangle([1.0, 1.0], [4, 4], true), [1.0; 2], 0.06);
    let map = |x: &[f64; 3]| [1.1 * x[0] + 0.1 * x[1], 0.95 * x[1] - 0.05 * x[0], 0.2 * x[0]];
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        let mut model = Model::new();
        let inner = |x: &[f64; 3]| x[..2].iter().all(|x| *x > 0.0 && *x < 1.0);
        let start: Vec<[f64; 3]> = mesh
            .nodes
            .iter()
            .map(|x| if inner(x) { *x } else { map(x) })
            .collect();
        let nodes = model.add_particles("sheet", &start).unwrap();
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
            assert!(miss < 1e-8, "{treatment:?}, node {k}: {miss}");
        }
    }
}

/// Pulled along the warp, free across: `f = S_1 l A`, `S_1 = E_1 (l^2 - 1)/2`, and the weft shrinks
/// by `nu` of that strain.
#[test]
fn a_strip_is_pulled_as_its_moduli_say() {
    let mesh = uneven(SheetMesh::rectangle([1.0, 0.5], [4, 2], true), [1.0, 0.5], 0.05);
    let (stretch, poisson, thickness) = (1.2, 0.3, 0.002);
    let mut model = Model::new();
    let start: Vec<[f64; 3]> = mesh.nodes.iter().map(|x| [stretch * x[0], x[1], 0.0]).collect();
    let nodes = model.add_particles("strip", &start).unwrap();
    let sheet = Sheet::orthotropic([1e-6, 2e-6, 1e-5], poisson, thickness).with_warp([2.0, 0.0, 0.0]);
    let parts = sheet.add_on(&mut model, "strip", nodes, &mesh).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        let end = x[0] == 0.0 || x[0] == 1.0;
        model.fix(nodes, k, &[end, x[1] == 0.0, true]).unwrap();
    }
    let simulation = settle(model, 1.0);
    let strain = 0.5 * (stretch * stretch - 1.0);
    for e in simulation.positions(parts.strains).as_chunks::<3>().0 {
        assert!((e[0] - strain).abs() < 1e-8 && (e[1] + poisson * strain).abs() < 1e-8 && e[2].abs() < 1e-8);
    }
    let pull: f64 = (0..mesh.nodes.len())
        .filter(|k| mesh.nodes[*k][0] == 1.0)
        .map(|k| simulation.support_force(nodes, k)[0])
        .sum();
    let exact = 1e6 * strain * stretch * thickness * 0.5;
    assert!((pull.abs() / exact - 1.0).abs() < 1e-6, "{pull} {exact}");
}

/// A ball of triangles: an icosahedron cut in four so many times.
fn ball(cuts: usize) -> SheetMesh {
    let t = 0.5 * (1.0 + 5f64.sqrt());
    let mut nodes: Vec<Vec3> = Vec::new();
    for (a, b) in [(1.0, t), (-1.0, t), (1.0, -t), (-1.0, -t)] {
        nodes.extend([Vec3::new(0.0, a, b), Vec3::new(a, b, 0.0), Vec3::new(b, 0.0, a)]);
    }
    let mut triangles = Vec::new();
    for i in 0..12 {
        for j in 0..12 {
            for k in 0..12 {
                let sides = [nodes[i] - nodes[j], nodes[j] - nodes[k], nodes[k] - nodes[i]];
                let first = i < j && i < k && j != k;
                let outside = sides[0].cross(&sides[1]).dot(&nodes[i]) > 0.0;
                if first && outside && sides.iter().all(|s| (s.norm() - 2.0).abs() < 1e-9) {
                    triangles.push([i, j, k]);
                }
            }
        }
    }
    assert_eq!(triangles.len(), 20);
    for _ in 0..cuts {
        let mut middles = std::collections::BTreeMap::new();
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let mut middle = |i: usize, j: usize| {
                *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                    nodes.push(nodes[i] + nodes[j]);
                    nodes.len() - 1
                })
            };
            let (d, e, f) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, d, f], [d, b, e], [f, e, c], [d, e, f]]);
        }
        triangles = finer;
        nodes.iter_mut().for_each(|x| *x = x.normalize());
    }
    SheetMesh {
        nodes: nodes.iter().map(|x| x.normalize().into()).collect(),
        triangles,
        ..SheetMesh::default()
    }
}

/// A balloon of radius 1 stretched by `l`: by Laplace's law `p = 2 N/l` with the tension `N = t S`,
/// `S = E/(1 - nu) (l^2 - 1)/2`.
#[test]
fn a_balloon_has_the_radius_of_its_pressure() {
    let (young, poisson, thickness, stretch) = (1e6, 0.3, 0.001, 1.2f64);
    let stress = young / (1.0 - poisson) * 0.5 * (stretch * stretch - 1.0);
    // `l S` is the force over a length and thickness at rest; the length is stretched by `l` too.
    let pressure = 2.0 * thickness * stress / stretch;
    let errors = [1, 2].map(|cuts| {
        let mesh = ball(cuts);
        let mut model = Model::new();
        let parts = Sheet::isotropic(young, poisson, thickness)
            .add_to(&mut model, "balloon", &mesh)
            .unwrap();
        let volume = model
            .add_mapped("volume", &[parts.nodes], Volume::under_surface(&mesh.triangles))
            .unwrap();
        model
            .add_force_field(
                "pressure",
                volume,
                ConstantForce::new(&[pressure]),
                Treatment::Stiffness,
            )
            .unwrap();
        let simulation = settle(model, 0.3);
        let mean = |x: &[f64]| {
            x.as_chunks::<3>()
                .0
                .iter()
                .map(|x| Vec3::from(*x).norm())
                .sum::<f64>()
        };
        let radius = mean(simulation.positions(parts.nodes)) / mesh.nodes.len() as f64;
        radius / stretch - 1.0
    });
    let order = (errors[0] / errors[1]).abs().log2();
    println!("balloon: relative errors {errors:?}, order {order:.2}");
    assert!(order > 1.8 && errors[1].abs() < 0.01, "{errors:?}");
}

/// A membrane under a small load: `w = (16 q a^2)/(pi^4 T) sum (-1)^((m+n)/2-1)/(m n (m^2 + n^2))`
/// in the middle (Timoshenko).
#[test]
fn a_membrane_sags_by_its_tension() {
    let (young, thickness, stretch, load) = (1e6, 0.001, 1.05f64, 0.1);
    // Tension: the stress of the stretch at Poisson's ratio zero.
    let tension = thickness * young * 0.5 * (stretch * stretch - 1.0);
    let mut series = 0.0;
    for m in (1..200).step_by(2) {
        for n in (1..200).step_by(2) {
            let sign = if (m + n) / 2 % 2 == 1 { 1.0 } else { -1.0 };
            series += sign / (m as f64 * n as f64 * (m * m + n * n) as f64);
        }
    }
    let exact = 16.0 * load / (PI.powi(4) * tension) * series;
    let errors = [12, 24].map(|n| {
        let mesh = SheetMesh::rectangle([1.0; 2], [n, n], true);
        let density = 1000.0;
        let mut model = Model::new();
        // Weight over the area stretched: the load.
        let surface = density * thickness / (stretch * stretch);
        model.set_gravity([0.0, 0.0, -load / surface]).unwrap();
        let parts = Sheet::isotropic(young, 0.0, thickness)
            .with_stretch(stretch)
            .add_to(&mut model, "membrane", &mesh)
            .unwrap();
        for (k, x) in mesh.nodes.iter().enumerate() {
            if x[..2].iter().any(|x| *x == 0.0 || *x == 1.0) {
                model.fix(parts.nodes, k, &[true; 3]).unwrap();
            }
        }
        let simulation = settle(model, 1e4);
        -place(&simulation, parts.nodes, mesh.nodes.len() / 2)[2] / exact - 1.0
    });
    let order = (errors[0] / errors[1]).abs().log2();
    println!("membrane: relative errors {errors:?}, order {order:.2}");
    assert!((order - 2.0).abs() < 0.15 && errors[1].abs() < 1e-3, "{errors:?}");
}

/// A strip held at one end, bent by a small force at the other: how far, over `P L^3/(3 D b)` with
/// `D = E t^3/12` at Poisson's ratio zero. It is clamped at its first nodes, or all nodes up to
/// `held` are fixed.
fn strip(mesh: &SheetMesh, length: f64, bending: Bending, held: f64) -> f64 {
    let (young, thickness, load) = (1e7, 0.01, 1e-4);
    let mut model = Model::new();
    let list: Vec<usize> = (0..mesh.nodes.len())
        .filter(|k| mesh.nodes[*k][0] <= held)
        .collect();
    let mut sheet = Sheet::isotropic(young, 0.0, thickness).with_bending(bending);
    if held == 0.0 {
        sheet = sheet.with_clamped(&list);
    }
    let SheetParts { nodes, .. } = sheet.add_to(&mut model, "strip", mesh).unwrap();
    for k in list {
        model.fix(nodes, k, &[true; 3]).unwrap();
    }
    let ends: Vec<usize> = (0..mesh.nodes.len())
        .filter(|k| mesh.nodes[*k][0] == length)
        .collect();
    let mut share = vec![0.0; ends.len()];
    for k in 1..ends.len() {
        let width = mesh.nodes[ends[k]][1] - mesh.nodes[ends[k - 1]][1];
        share[k] += 0.5 * width;
        share[k - 1] += 0.5 * width;
    }
    let mut simulation = Simulation::new(model).unwrap();
    for (k, share) in ends.iter().zip(&share) {
        simulation
            .set_force(nodes, *k, &[0.0, 0.0, load * share])
            .unwrap();
    }
    let how = Settle {
        h: 1e3,
        tolerance: 1e-10,
        max_steps: 50,
        ..Settle::default()
    };
    simulation.settle(how).unwrap();
    let rise: f64 = ends
        .iter()
        .zip(&share)
        .map(|(k, s)| s * place(&simulation, nodes, *k)[2])
        .sum();
    let width: f64 = share.iter().sum();
    let exact = load * length.powi(3) / (3.0 * young * thickness.powi(3) / 12.0);
    rise / width / exact
}

/// Equilateral triangles of edge 1 in columns across a strip.
fn lattice(columns: usize, rows: usize) -> SheetMesh {
    let mut mesh = SheetMesh::default();
    for i in 0..=columns {
        for j in 0..=rows {
            mesh.nodes
                .push([0.75f64.sqrt() * i as f64, j as f64 + 0.5 * (i % 2) as f64, 0.0]);
        }
    }
    let node = |i: usize, j: usize| i * (rows + 1) + j;
    for i in 0..columns {
        for j in 0..rows {
            let [a, b, c, d] = [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)];
            if i % 2 == 0 {
                mesh.triangles.extend([[a, b, d], [b, c, d]]);
            } else {
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
    mesh
}

const PLATE: f64 = 1e7 * 1e-6 / 12.0;

#[test]
fn strips_of_shells_bend_like_beams_on_any_mesh() {
    let grid = SheetMesh::rectangle([1.0, 0.25], [16, 4], true);
    let slanted = SheetMesh::rectangle([1.0, 0.25], [16, 4], false);
    let moved = uneven(grid.clone(), [1.0, 0.25], 0.015);
    for (name, mesh) in [("alternating", grid), ("slanted", slanted), ("uneven", moved)] {
        let ratio = strip(&mesh, 1.0, Bending::Shell, 0.0);
        println!("strip, shell, {name}: {ratio}");
        // Sixteen linear pieces of curvature, 1/(2 n^2) = 2e-3, and the loaded end across.
        assert!((ratio - 1.0).abs() < 1e-2, "{name}: {ratio}");
    }
}

/// Hinges bend like some other plate. The energy of a cell of squares of edge `a` is `D a^2/2`
/// times: with diagonals of one direction `(kx + kxy)^2 + (ky + kxy)^2 + 4 kxy^2`, which is 4/5
/// `kx^2` at its least; with alternating ones `(kx + 4 d)^2 + (ky + 4 d)^2 + 64 d^2` and a twist,
/// where `d a` is a zigzag from node to node: 5/6 `kx^2` at its least. Equilateral triangles are a
/// plate of Poisson's ratio 1/3 (Seung and Nelson 1988), 8/9.
#[test]
fn strips_of_hinges_are_softer_by_known_factors() {
    let hinges = Bending::Hinges(PLATE);
    let squares = |crossed| SheetMesh::rectangle([1.0, 0.25], [16, 4], crossed);
    let length = 16.0 * 0.75f64.sqrt();
    for (name, found, exact) in [
        (
            "diagonals of one direction",
            strip(&squares(false), 1.0, hinges, 0.0),
            5.0 / 4.0,
        ),
        (
            "alternating diagonals",
            strip(&squares(true), 1.0, hinges, 0.0),
            6.0 / 5.0,
        ),
        (
            "equilateral",
            strip(&lattice(16, 5), length, hinges, 0.0),
            9.0 / 8.0,
        ),
    ] {
        println!("strip, hinges, {name}: {found}, wide and far from its ends {exact}");
        // The clamp keeps it from bending across, free edges let it zigzag more: both are four
        // cells of sixteen.
        assert!((found / exact - 1.0).abs() < 0.035, "{name}: {found}");
    }
    // The quadratic form is the same for small angles.
    let [a, b] = [hinges, Bending::Quadratic(PLATE)].map(|b| strip(&squares(true), 1.0, b, 0.07));
    assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
}

/// Navier's series for a simply supported square plate, and Timoshenko's 0.00126 for a clamped one,
/// under a uniform load: `w = c q a^4/D`.
#[test]
fn square_plates_sag_by_their_coefficients() {
    let (young, poisson, thickness) = (1e7, 0.3, 0.01f64);
    let plate = young * thickness.powi(3) / (12.0 * (1.0 - poisson * poisson));
    let sag = |n: usize, clamped: bool| {
        let mesh = uneven(
            SheetMesh::rectangle([1.0; 2], [n, n], true),
            [1.0; 2],
            0.15 / n as f64,
        );
        let rim: Vec<usize> = (0..mesh.nodes.len())
            .filter(|k| mesh.nodes[*k][..2].iter().any(|x| *x == 0.0 || *x == 1.0))
            .collect();
        let mut sheet = Sheet::isotropic(young, poisson, thickness).with_bending(Bending::Shell);
        if clamped {
            sheet = sheet.with_clamped(&rim);
        }
        let mut model = Model::new();
        let weight = 1e-5;
        model
            .set_gravity([0.0, 0.0, -weight / (1000.0 * thickness)])
            .unwrap();
        let parts = sheet.add_to(&mut model, "plate", &mesh).unwrap();
        for k in rim {
            model.fix(parts.nodes, k, &[true; 3]).unwrap();
        }
        let simulation = settle(model, 1e3);
        let lowest = simulation
            .positions(parts.nodes)
            .as_chunks::<3>()
            .0
            .iter()
            .map(|x| -x[2]);
        lowest.fold(0.0, f64::max) * plate / weight
    };
    let mut navier = 0.0;
    for m in (1..100).step_by(2) {
        for n in (1..100).step_by(2) {
            let sign = if (m + n) / 2 % 2 == 1 { 1.0 } else { -1.0 };
            navier += 16.0 * sign / (PI.powi(6) * m as f64 * n as f64 * ((m * m + n * n) as f64).powi(2));
        }
    }
    assert!((navier - 0.004_062).abs() < 1e-6);
    for (name, exact, clamped) in [("supported", navier, false), ("clamped", 0.001_265, true)] {
        let errors = [8, 16].map(|n| sag(n, clamped) / exact - 1.0);
        let order = (errors[0] / errors[1]).abs().log2();
        println!("plate, {name}: relative errors {errors:?}, order {order:.2}");
        assert!(errors[1].abs() < 0.1 && order > 1.8, "{name}: {errors:?}");
    }
}

#[test]
fn mistakes_in_sheets_are_named() {
    let mesh = SheetMesh::rectangle([1.0; 2], [1, 1], false);
    let good = Sheet::isotropic(1e6, 0.3, 0.01);
    let bad = |sheet: Sheet, mesh: &SheetMesh, words: &str| {
        let error: ContinuumError = sheet.add_to(&mut Model::new(), "s", mesh).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    };
    bad(
        Sheet::isotropic(-1.0, 0.3, 0.01),
        &mesh,
        "the compliance of the warp is -",
    );
    bad(Sheet::isotropic(0.0, 0.3, 0.01), &mesh, "not a finite number");
    bad(Sheet::isotropic(1e6, 1.0, 0.01), &mesh, "Poisson's ratio is 1");
    bad(Sheet::isotropic(1e6, 0.3, 0.0), &mesh, "the thickness is 0");
    bad(good.clone().with_density(f64::NAN), &mesh, "the density is NaN");
    bad(good.clone().with_stretch(-1.0), &mesh, "the stretch is -1");
    bad(
        good.clone().with_clamped(&[4]),
        &mesh,
        "node 4 is clamped, but the sheet has 4 nodes",
    );
    bad(
        good.clone().with_bending(Bending::Hinges(-1.0)),
        &mesh,
        "the bending stiffness is -1",
    );
    let shell = good.clone().with_bending(Bending::Shell).with_stretch(1.1);
    bad(
        shell,
        &mesh,
        "a stretch cannot be had with the bending of a shell",
    );
    let quadratic = good
        .clone()
        .with_bending(Bending::Quadratic(1.0))
        .with_clamped(&[0]);
    bad(quadratic, &mesh, "a clamp cannot be had with quadratic bending");
    bad(
        good.clone().with_warp([0.0, 0.0, 1.0]),
        &mesh,
        "triangle 0 of the sheet: the direction of the warp is across it",
    );
    let hard = Sheet::orthotropic([0.0, 1e-6, 1e-6], 0.0, 0.01).with_treatment(Treatment::Stiffness);
    bad(hard, &mesh, "s.membrane");
    let with = |triangles: &[[usize; 3]]| SheetMesh {
        triangles: triangles.to_vec(),
        ..mesh.clone()
    };
    bad(good.clone(), &with(&[]), "no elements");
    bad(
        good.clone(),
        &with(&[[0, 1, 4]]),
        "triangle 0 of the sheet: a corner is a node",
    );
    bad(
        good.clone(),
        &with(&[[0, 1, 1]]),
        "triangle 0 of the sheet: its area is zero",
    );
    bad(
        good.clone(),
        &with(&[[0, 1, 3], [0, 1, 2]]),
        "triangle 1 of the sheet: it goes round the other way",
    );
    bad(
        good.clone(),
        &with(&[[0, 1, 3], [1, 0, 2], [0, 1, 2]]),
        "triangle 2 of the sheet: it is the third",
    );
    let mut far = mesh.clone();
    far.nodes[2][1] = f64::INFINITY;
    bad(good, &far, "a coordinate of a corner is not a finite number");
}

/// A shell on a rod in motion: nothing is allocated once it is warm, and any number of threads
/// gives the same bits.
#[test]
fn warm_steps_allocate_nothing_and_threads_do_not_matter() {
    let run = |threads: usize| {
        let mesh = SheetMesh::rectangle([1.0, 0.5], [6, 3], true);
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let sheet = Sheet::isotropic(1e6, 0.3, 0.01).with_bending(Bending::Shell);
        let nodes = sheet.add_to(&mut model, "sheet", &mesh).unwrap().nodes;
        let rod = Rod::new(Section::circle(0.01), 1e7, 0.3);
        let curve = RodCurve::straight([0.0; 3], [0.0, 0.5, 0.0], 3);
        let frames = rod.add_to(&mut model, "rod", &curve).unwrap().frames;
        model.fix(frames, 0, &[true; 6]).unwrap();
        let points: Vec<(usize, [f64; 3])> = (0..4).map(|k| (k, [0.0; 3])).collect();
        let edge = model
            .add_mapped("edge", &[frames], RigidPoints::new(&points))
            .unwrap();
        let seam: Vec<(End, End)> = (0..4)
            .map(|k| (End::element(0, k), End::element(1, 7 * k)))
            .collect();
        let seam = model
            .add_mapped("seam", &[edge, nodes], Difference::new(&seam))
            .unwrap();
        model.add_constraint("sewn", seam, Level::Position).unwrap();
        let mut options = Options::default();
        options.tuning.solver.threads = threads;
        let mut simulation = Simulation::with_options(model, options).unwrap();
        for _ in 0..3 {
            simulation.step(0.005).unwrap();
        }
        let found = allocation_counter::measure(|| {
            for _ in 0..5 {
                simulation.step(0.005).unwrap();
            }
        });
        (simulation.checkpoint(), found.count_total)
    };
    let (one, count) = run(1);
    assert_eq!(count, 0);
    assert_eq!(one, run(3).0);
}
