//! Directors of shells: folds, planes of symmetry, and the signs of moments.

use pliant_continuum::{Bending, Sheet, SheetForces, SheetMesh, Shell, SymmetryPlane};
use pliant_dense::Vec3;
use pliant_dense::rotation::{exp, rotate};
use pliant_model::{Evaluation, Model, Problem};
use std::f64::consts::PI;

/// Strains of a shell whose bodies have moved and turned as their places say.
fn strains_of(shell: &Shell, mesh: &SheetMesh) -> Vec<f64> {
    let mut model = Model::new();
    let parts = shell.add_to(&mut model, "shell", mesh).unwrap();
    let mut state = model.initial_state().unwrap();
    let range = model.node(parts.frames).position_range();
    for x in state.positions[range].as_chunks_mut::<7>().0 {
        let [a, b, c] = [x[0], x[1], x[2]];
        // Symmetric about the planes across x and y.
        x[0] += 0.1 * a * (1.0 + c);
        x[1] -= 0.2 * b * (1.0 + a * a);
        x[2] += 0.3 * (a * a + b * b * c);
        let turn = Vec3::new(0.3 * b * (1.0 + a * a), 0.2 * a * (1.0 + b * b), 0.4 * a * b);
        x[3..].copy_from_slice(&exp(turn));
    }
    model.propagate(&mut state).unwrap();
    model.positions(&state, parts.strains).to_vec()
}

/// For each quadrangle, how much its strains differ from those that it has on its own.
fn joined(shell: &Shell, mesh: &SheetMesh) -> Vec<f64> {
    let mut alone = SheetMesh::default();
    for q in &mesh.quadrangles {
        let first = alone.nodes.len();
        alone.nodes.extend(q.map(|node| mesh.nodes[node]));
        alone.quadrangles.push([0, 1, 2, 3].map(|k| first + k));
    }
    let [one, two] = [mesh, &alone].map(|mesh| strains_of(shell, mesh));
    let worst = |(a, b): (&[f64], &[f64])| a.iter().zip(b).fold(0.0f64, |w, (a, b)| w.max((a - b).abs()));
    one.chunks(36).zip(two.chunks(36)).map(worst).collect()
}

/// Makes a quadrangle go round the other way.
fn turn_round(mesh: &mut SheetMesh, quadrangle: usize) {
    mesh.quadrangles[quadrangle].swap(1, 3);
}

/// Two plates between which there are 30 degrees: their normals differ by 150, or by 30 where one goes
/// round the other way. A roof of 150 degrees is smooth, its normals differ by 30.
#[test]
fn a_sharp_edge_is_a_fold_whichever_way_its_sides_go_round() {
    let shell = Shell::isotropic(1e6, 0.3, 0.01);
    for (opening, smooth) in [(PI / 6.0, false), (5.0 * PI / 6.0, true)] {
        for rounds in 0..4 {
            let mut mesh = SheetMesh::quadrangles([1.0, 1.0], [2, 1]);
            for x in &mut mesh.nodes {
                let along = 2.0 * x[0] - 1.0;
                let angle = 0.2 + if along < 0.0 { 0.0 } else { opening };
                *x = [along.abs() * angle.cos(), x[1], along.abs() * angle.sin()];
            }
            (0..2)
                .filter(|k| rounds >> k & 1 == 1)
                .for_each(|k| turn_round(&mut mesh, k));
            let found = joined(&shell, &mesh);
            println!("opening of {opening:.3}, turned round {rounds:02b}: {found:?}");
            // Rounding, or the share of a half of 30 degrees.
            assert!(
                found.iter().all(|x| if smooth { *x > 1e-2 } else { *x < 1e-14 }),
                "{found:?}"
            );
        }
    }
}

/// Tubes of six sides, whose normals differ by the limit but for rounding, have folds alone; of
/// seven, none.
#[test]
fn edges_of_regular_tubes_are_alike() {
    let shell = Shell::isotropic(1e6, 0.3, 0.01);
    for sides in [6, 7] {
        for step in 0..40 {
            let turn = 0.37 * f64::from(step);
            let mut mesh = SheetMesh::default();
            for k in 0..sides {
                let angle = turn + 2.0 * PI * k as f64 / sides as f64;
                let place = Vec3::new(angle.cos(), angle.sin(), 0.0);
                for along in [0.0, 1.5] {
                    let place = rotate(exp(Vec3::new(turn, 0.3, -turn)), place + along * Vec3::z());
                    mesh.nodes.push(place.into());
                }
                let next = (k + 1) % sides;
                mesh.quadrangles.push([2 * k, 2 * next, 2 * next + 1, 2 * k + 1]);
            }
            turn_round(&mut mesh, step as usize % sides);
            let found = joined(&shell, &mesh);
            assert!(
                found
                    .iter()
                    .all(|x| if sides == 6 { *x < 1e-13 } else { *x > 1e-3 }),
                "{sides} sides turned by {turn}: {found:?}"
            );
        }
    }
}

/// Half and a quarter of a dome have the strains of the whole: their normals on planes of symmetry
/// are those of the whole. A valley along a plane that is sharper than a fold stays one.
#[test]
fn parts_at_planes_of_symmetry_are_parts_of_the_whole() {
    let planes = [0, 1].map(|axis| SymmetryPlane { axis, at: 0.0 });
    let dome = |x: f64, y: f64| 0.5 - 0.6 * x * x - 0.4 * y * y + 0.1 * x * x * y * y;
    let valley = |x: f64, y: f64| 1.5 * x.abs() - 0.4 * y * y;
    type Height<'a> = &'a dyn Fn(f64, f64) -> f64;
    for (name, height) in [("dome", &dome as Height<'_>), ("valley", &valley)] {
        let of = |low: [f64; 2], cells: [usize; 2]| {
            let mut mesh = SheetMesh::quadrangles([1.0 - low[0], 1.0 - low[1]], cells);
            for x in &mut mesh.nodes {
                let [a, b] = [x[0] + low[0], x[1] + low[1]];
                // Off the planes not along the axes.
                let [a, b] = [a * (1.0 + 0.1 * b * b), b * (1.0 - 0.1 * a * a)];
                *x = [a, b, height(a, b)];
            }
            mesh
        };
        let whole = of([-1.0, -1.0], [6, 6]);
        let shell = Shell::isotropic(1e6, 0.3, 0.01);
        let expected = strains_of(&shell, &whole);
        let mut quarter = of([0.0, 0.0], [3, 3]);
        let half = of([0.0, -1.0], [3, 6]);
        let cases = [
            (&half, &planes[..1], [3, 0]),
            (&quarter.clone(), &planes[..], [3, 3]),
        ];
        for (mesh, planes, [right, up]) in cases {
            let found = strains_of(&shell.clone().with_symmetry(planes), mesh);
            let mut worst = 0.0f64;
            for (k, found) in found.chunks(36).enumerate() {
                let at = 36 * (6 * (k / 3 + up) + k % 3 + right);
                for (a, b) in found.iter().zip(&expected[at..]) {
                    worst = worst.max((a - b).abs());
                }
            }
            println!(
                "{name} at {} planes of symmetry: strains are off by {worst:e}",
                planes.len()
            );
            // Rounding of strains of size one over cells of a third.
            assert!(worst < 1e-13, "{worst:e}");
        }
        // The way round does not matter: drilling and curvatures turn their signs with the normal.
        let shell = shell.with_symmetry(&planes).with_warp([1.0, 0.2, 0.0]);
        let squares = |mesh: &SheetMesh| strains_of(&shell, mesh).iter().map(|x| x * x).sum::<f64>();
        let before = squares(&quarter);
        [0, 4, 5].into_iter().for_each(|k| turn_round(&mut quarter, k));
        let after = squares(&quarter);
        println!("{name}: sum of squares {before}, turned round {after}");
        assert!((after / before - 1.0).abs() < 1e-12);
    }
}

/// A strip that is bent about y to a ridge along z has a positive moment along x, of shells of
/// quadrangles and of triangles; what goes round the other way has the opposite.
#[test]
fn moments_of_ridges_are_positive() {
    let (young, t, radius) = (1e7, 0.01, 5.0);
    let exact = young * f64::powi(t, 3) / 12.0 / radius;
    let arc = |x: f64| [radius * (x / radius).sin(), radius * ((x / radius).cos() - 1.0)];
    let mut mesh = SheetMesh::quadrangles([1.0, 0.2], [20, 2]);
    (0..40).skip(20).for_each(|k| turn_round(&mut mesh, k));
    let mut model = Model::new();
    let shell = Shell::isotropic(young, 0.0, t).with_warp([1.0, 0.0, 0.0]);
    let parts = shell.add_to(&mut model, "shell", &mesh).unwrap();
    let mut cloth = SheetMesh::rectangle([1.0, 0.2], [20, 2], false);
    let sheet = Sheet::isotropic(young, 0.0, t)
        .with_bending(Bending::Shell)
        .with_warp([1.0, 0.0, 0.0]);
    let up = sheet.add_to(&mut model, "up", &cloth).unwrap();
    cloth.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let down = sheet.add_to(&mut model, "down", &cloth).unwrap();
    let model = Problem::new(model);
    let mut state = model.initial_state().unwrap();
    let range = model.node(parts.frames).position_range();
    for x in state.positions[range].as_chunks_mut::<7>().0 {
        let turn = exp(Vec3::y() * (x[0] / radius));
        [x[0], x[2]] = arc(x[0]);
        x[3..].copy_from_slice(&turn);
    }
    for nodes in [up.nodes, down.nodes] {
        let range = model.node(nodes).position_range();
        for x in state.positions[range].as_chunks_mut::<3>().0 {
            [x[0], x[2]] = arc(x[0]);
        }
    }
    let mut evaluation = Evaluation::new(&model);
    evaluation.propagate(&model, &mut state).unwrap();
    evaluation.evaluate(&model, &state).unwrap();
    let of = |node| {
        let forces = &evaluation.force()[model.node(node).velocity_range()];
        (model.positions(&state, node), forces)
    };
    let (strains, forces) = of(parts.strains);
    for (k, moment) in parts.fields(strains, forces).moment.into_iter().enumerate() {
        let sign = if k < 20 { 1.0 } else { -1.0 };
        // An element that turns by a hundredth, squared.
        assert!((sign * moment[0] / exact - 1.0).abs() < 1e-3, "{k}: {moment:?}");
        assert!(
            moment[1].abs().max(moment[2].abs()) < 1e-9 * exact,
            "{k}: {moment:?}"
        );
    }
    for (parts, sign) in [(up, 1.0), (down, -1.0)] {
        let [membrane, bending] = [parts.strains, parts.curvatures.unwrap()].map(|node| {
            let (strains, forces) = of(node);
            SheetForces { strains, forces }
        });
        let moments = parts.fields(membrane, Some(bending)).moment;
        let mean = moments.iter().map(|m| m[0]).sum::<f64>() / moments.len() as f64;
        println!("moments of triangles {mean:e}, of a cylinder {:e}", sign * exact);
        // Each angle stands for the turn at its edge; those at the two ends are none.
        assert!((0.8..1.1).contains(&(sign * mean / exact)), "{mean} {exact}");
    }
}
