//! Strains of shells on frames: derivatives, patch tests, rigid motion.

mod directors;

use pliant_continuum::{ContinuumError, SheetMesh, Shell, ShellElastic, ShellStrain, SymmetryPlane};
use pliant_dense::Vec3;
use pliant_dense::rotation::{conjugate, exp, multiply, rotate};
use pliant_model::dual::{self, Dual};
use pliant_model::{Evaluation, Model, Problem, Space, check};
use std::f64::consts::FRAC_PI_2;

type V = [Dual; 3];

fn dot(a: &V, b: &V) -> Dual {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn combine(points: &[V; 4], weights: [f64; 4]) -> V {
    std::array::from_fn(|i| (0..4).map(|a| points[a][i] * weights[a]).sum())
}

/// Slopes of the bilinear functions of the corners at a place of the square.
fn slopes([r, s]: [f64; 2]) -> [[f64; 4]; 2] {
    [
        [s - 1.0, 1.0 - s, 1.0 + s, -1.0 - s].map(|x| x / 4.0),
        [r - 1.0, -1.0 - r, 1.0 + r, 1.0 - r].map(|x| x / 4.0),
    ]
}

fn values([r, s]: [f64; 2]) -> [f64; 4] {
    let of = |a: f64, b: f64| (1.0 + a * r) * (1.0 + b * s) / 4.0;
    [of(-1.0, -1.0), of(1.0, -1.0), of(1.0, 1.0), of(-1.0, 1.0)]
}

const CORNERS: [[f64; 2]; 4] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];

/// Strains of one warped quadrangle at rest at `rest`, from the definitions in the papers: the
/// membrane strains of Ko, Lee and Bathe (2017) with their coefficients, the shears of Dvorkin and
/// Bathe (1984).
fn by_definition(rest: &[Vec3; 4], warp: Vec3, x: &[V; 4], turned: &dyn Fn(usize, Vec3) -> V) -> Vec<Dual> {
    let old = |at: [f64; 2]| slopes(at).map(|s| (0..4).map(|a| rest[a] * s[a]).sum::<Vec3>());
    let directors: [Vec3; 4] = std::array::from_fn(|a| {
        let (next, previous) = (rest[(a + 1) % 4] - rest[a], rest[(a + 3) % 4] - rest[a]);
        next.cross(&previous).normalize()
    });
    let d: [V; 4] = std::array::from_fn(|b| turned(b, directors[b]));
    let line = |at: [f64; 2]| slopes(at).map(|s| combine(x, s));
    let stretch = |at: [f64; 2], i: usize, j: usize| dot(&line(at)[i], &line(at)[j]) * 0.5;
    let shear = |at: [f64; 2], i: usize| dot(&line(at)[i], &combine(&d, values(at)));

    // The characteristic vectors of the quadrangle at rest.
    let [xr, xs] = old([0.0, 0.0]);
    let xd = (rest[0] - rest[1] + rest[2] - rest[3]) / 4.0;
    let (rr, ss, rs) = (xr.dot(&xr), xs.dot(&xs), xr.dot(&xs));
    let det = rr * ss - rs * rs;
    let cr = (xd.dot(&xr) * ss - xd.dot(&xs) * rs) / det;
    let cs = (xd.dot(&xs) * rr - xd.dot(&xr) * rs) / det;
    let dd = cr * cr + cs * cs - 1.0;
    let a = [
        cr * (cr - 1.0) / (2.0 * dd),
        cr * (cr + 1.0) / (2.0 * dd),
        cs * (cs - 1.0) / (2.0 * dd),
        cs * (cs + 1.0) / (2.0 * dd),
        2.0 * cr * cs / dd,
    ];
    let e = [
        stretch([0.0, 1.0], 0, 0),
        stretch([0.0, -1.0], 0, 0),
        stretch([1.0, 0.0], 1, 1),
        stretch([-1.0, 0.0], 1, 1),
        stretch([0.0, 0.0], 0, 1),
    ];
    let sum = |c: [f64; 5]| (0..5).map(|k| e[k] * c[k]).sum::<Dual>();

    let mut out = Vec::new();
    for corner in CORNERS {
        let [r, s] = corner.map(|c| c / 3f64.sqrt());
        let at = [r, s];
        let membrane = [
            sum([
                (1.0 - 2.0 * a[0] + s + 2.0 * a[0] * s * s) / 2.0,
                (1.0 - 2.0 * a[1] - s + 2.0 * a[1] * s * s) / 2.0,
                a[2] * (s * s - 1.0),
                a[3] * (s * s - 1.0),
                a[4] * (s * s - 1.0),
            ]),
            sum([
                a[0] * (r * r - 1.0),
                a[1] * (r * r - 1.0),
                (1.0 - 2.0 * a[2] + r + 2.0 * a[2] * r * r) / 2.0,
                (1.0 - 2.0 * a[3] - r + 2.0 * a[3] * r * r) / 2.0,
                a[4] * (r * r - 1.0),
            ]),
            sum([
                (r + 4.0 * a[0] * r * s) / 4.0,
                (-r + 4.0 * a[1] * r * s) / 4.0,
                (s + 4.0 * a[2] * r * s) / 4.0,
                (-s + 4.0 * a[3] * r * s) / 4.0,
                1.0 + a[4] * r * s,
            ]),
        ];
        let g = line(at);
        let slope_of_d = slopes(at).map(|s| combine(&d, s));
        let bend = |i: usize, j: usize| (dot(&g[i], &slope_of_d[j]) + dot(&g[j], &slope_of_d[i])) * 0.5;
        let curvature = [bend(0, 0), bend(1, 1), bend(0, 1)];
        let shears = [
            shear([0.0, 1.0], 0) * (0.5 * (1.0 + s)) + shear([0.0, -1.0], 0) * (0.5 * (1.0 - s)),
            shear([1.0, 0.0], 1) * (0.5 * (1.0 + r)) + shear([-1.0, 0.0], 1) * (0.5 * (1.0 - r)),
        ];
        // The axes in terms of the tangents, by Cramer's rule for their metric.
        let [t, u] = old(at);
        let normal = t.cross(&u).normalize();
        let one = (warp - normal * warp.dot(&normal)).normalize();
        let axes = [one, normal.cross(&one)];
        let (tt, uu, tu) = (t.dot(&t), u.dot(&u), t.dot(&u));
        let det = tt * uu - tu * tu;
        let p = axes.map(|axis| {
            let (a, b) = (axis.dot(&t), axis.dot(&u));
            [(a * uu - b * tu) / det, (b * tt - a * tu) / det]
        });
        let in_axes = |c: &[Dual; 3], i: usize, j: usize| {
            c[0] * (p[i][0] * p[j][0])
                + c[1] * (p[i][1] * p[j][1])
                + c[2] * (p[i][0] * p[j][1] + p[i][1] * p[j][0])
        };
        for c in [&membrane, &curvature] {
            out.extend([in_axes(c, 0, 0), in_axes(c, 1, 1), in_axes(c, 0, 1) * 2.0]);
        }
        (0..2).for_each(|i| out.push(shears[0] * p[i][0] + shears[1] * p[i][1]));
        let f: [V; 2] =
            std::array::from_fn(|k| std::array::from_fn(|i| g[0][i] * p[k][0] + g[1][i] * p[k][1]));
        let mean = axes.map(|axis| combine(&std::array::from_fn(|b| turned(b, axis)), values(at)));
        out.push((dot(&f[0], &mean[1]) - dot(&f[1], &mean[0])) * 0.5);
    }
    out
}

fn warped() -> SheetMesh {
    SheetMesh {
        nodes: vec![
            [0.0, 0.0, 0.1],
            [1.0, 0.2, 0.0],
            [1.2, 1.1, 0.3],
            [-0.1, 0.8, 0.0],
        ],
        quadrangles: vec![[0, 1, 2, 3]],
        ..SheetMesh::default()
    }
}

/// Values, `J`, `G` and `(dJ/dt) v` of a warped quadrangle far from rest: 1e-12 for a few hundred
/// terms of size one.
#[test]
fn strains_of_shells_have_their_derivatives() {
    let mesh = warped();
    let warp = [1.0, 0.3, 0.2];
    let rest = [0, 1, 2, 3].map(|a| Vec3::from(mesh.nodes[a]));
    let turns = [
        [0.3, -0.2, 0.5],
        [0.1, 0.9, -0.4],
        [-1.0, 0.2, 0.3],
        [0.4, 0.4, 2.0],
    ];
    let axes = turns.map(|r| exp(0.5 * Vec3::from(r)));
    let mapping = ShellStrain::new(&mesh, &axes, Some(warp), 1.0).unwrap();
    let mut x = Vec::new();
    for (a, place) in rest.iter().enumerate() {
        let k = a as f64;
        x.extend([place.x + 0.2 * k, 0.7 * place.y - 0.1, place.z + 0.15 * k * k]);
        x.extend(multiply(exp(Vec3::new(0.4 * k, 0.7 - 0.1 * k, -0.3)), axes[a]));
    }
    let parents = [(Space::Rigid3, 4)];
    let at_rest = by_definition(
        &rest,
        warp.into(),
        &rest.map(|x| [0, 1, 2].map(|i| Dual::from(x[i]))),
        &|_, a| [0, 1, 2].map(|i| Dual::from(a[i])),
    );
    for seed in [3, 11] {
        let found = check::mapping_exactly(&mapping, &parents, &x, seed, |x| {
            let places = std::array::from_fn(|a| std::array::from_fn(|i| x[7 * a + i]));
            let turned = |b: usize, a: Vec3| {
                let own = rotate(conjugate(axes[b]), a);
                dual::rotate(&x[7 * b + 3..7 * b + 7], &[own.x, own.y, own.z].map(Dual::from))
            };
            let now = by_definition(&rest, warp.into(), &places, &turned);
            now.iter()
                .zip(&at_rest)
                .map(|(now, rest)| *now - rest.re)
                .collect()
        })
        .unwrap();
        println!("strains of shells against the definitions: {found:?}");
        assert!(found.worst() < 1e-12, "{found:?}");
    }
}

/// A strip of a quarter of a cylinder, distorted.
fn curved() -> SheetMesh {
    let mut mesh = SheetMesh::quadrangles([1.0, 1.0], [5, 3]);
    for x in &mut mesh.nodes {
        let [u, v, _] = *x;
        let (turn, along) = (FRAC_PI_2 * (u + 0.1 * v * (1.0 - u)), 2.0 * v + 0.2 * u * v);
        *x = [turn.cos(), turn.sin(), along];
    }
    mesh
}

/// Rigid motion of any size leaves strains of 1e-14: a few roundings of places of size ten over
/// elements of size 0.3, curvatures squared.
#[test]
fn rigid_motion_is_no_strain() {
    let mesh = curved();
    let mut model = Model::new();
    let parts = Shell::isotropic(1e6, 0.3, 0.01)
        .add_to(&mut model, "shell", &mesh)
        .unwrap();
    let mut state = model.initial_state().unwrap();
    for (turn, shift) in [([0.4, -2.0, 1.5], [5.0, -3.0, 8.0]), ([3.0, 0.1, 0.0], [0.0; 3])] {
        let q = exp(Vec3::from(turn));
        let range = model.node(parts.frames).position_range();
        for (x, node) in state.positions[range]
            .as_chunks_mut::<7>()
            .0
            .iter_mut()
            .zip(&mesh.nodes)
        {
            let place = rotate(q, Vec3::from(*node)) + Vec3::from(shift);
            x[..3].copy_from_slice(place.as_slice());
            x[3..].copy_from_slice(&q);
        }
        model.propagate(&mut state).unwrap();
        let strains = model.positions(&state, parts.strains);
        let worst = strains.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        println!("largest strain under rigid motion: {worst:e}");
        assert!(worst < 3e-14, "{worst:e}");
    }
}

/// Quadrangles that go round the other way than their neighbours are the same shell.
#[test]
fn the_way_round_does_not_matter() {
    let energy = |mesh: &SheetMesh| {
        let mut model = Model::new();
        let shell = Shell::isotropic(1e6, 0.3, 0.1);
        let parts = shell.add_to(&mut model, "shell", mesh).unwrap();
        let model = Problem::new(model);
        let mut state = model.initial_state().unwrap();
        let range = model.node(parts.frames).position_range();
        for x in state.positions[range].as_chunks_mut::<7>().0 {
            let place = Vec3::new(x[0], x[1], x[2]);
            x[0] += 0.1 * place.y * place.z;
            x[2] -= 0.2 * place.x * place.x;
            x[3..].copy_from_slice(&exp(0.2 * place));
        }
        let mut evaluation = Evaluation::new(&model);
        evaluation.propagate(&model, &mut state).unwrap();
        evaluation.evaluate(&model, &state).unwrap();
        let forces = &evaluation.force()[model.node(parts.strains).velocity_range()];
        let strains = model.positions(&state, parts.strains);
        -0.5 * strains.iter().zip(forces).map(|(x, f)| x * f).sum::<f64>()
    };
    let mut mesh = curved();
    let expected = energy(&mesh);
    for [_, b, _, d] in mesh.quadrangles.iter_mut().step_by(2) {
        std::mem::swap(b, d);
    }
    let found = energy(&mesh);
    println!("energy {expected}, turned round {found}");
    assert!(expected > 1.0 && (found / expected - 1.0).abs() < 1e-12);
}

/// MacNeal and Harder's patch of five quadrangles, 0.24 x 0.12, in a plane across space.
fn patch(tilt: Vec3) -> SheetMesh {
    let flat = [
        [0.0, 0.0],
        [0.24, 0.0],
        [0.24, 0.12],
        [0.0, 0.12],
        [0.04, 0.02],
        [0.18, 0.03],
        [0.16, 0.08],
        [0.08, 0.08],
    ];
    SheetMesh {
        nodes: flat
            .map(|[x, y]| rotate(exp(tilt), Vec3::new(x, y, 0.0)).into())
            .to_vec(),
        quadrangles: vec![
            [0, 1, 5, 4],
            [1, 2, 6, 5],
            [2, 3, 7, 6],
            [3, 0, 4, 7],
            [4, 5, 6, 7],
        ],
        ..SheetMesh::default()
    }
}

/// Fields of displacement and small rotation on the patch whose strains are constant and known; the
/// forces on its inner nodes by stresses of Hooke's law.
#[test]
fn patch_tests_are_passed_to_rounding() {
    let (young, poisson, t) = (1e6, 0.25, 0.01);
    let tilt = Vec3::new(0.4, -0.7, 0.2);
    let mesh = patch(tilt);
    let q = exp(tilt);
    let warp = rotate(q, Vec3::x());
    let mut model = Model::new();
    let parts = Shell::isotropic(young, poisson, t)
        .with_warp(warp.into())
        .add_to(&mut model, "patch", &mesh)
        .unwrap();
    let model = Problem::new(model);
    type FieldOf = fn(f64, f64) -> [[f64; 3]; 2];
    let cases: [(&str, FieldOf, [f64; 9], usize); 3] = [
        // u = x + y/2, v = y + x/2, as in the paper.
        (
            "membrane",
            |x, y| [[x + 0.5 * y, y + 0.5 * x, 0.0], [0.0; 3]],
            [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            6,
        ),
        // w = (x^2 + x y + y^2)/2, also as in the paper.
        (
            "bending",
            |x, y| {
                let w = 0.5 * (x * x + x * y + y * y);
                [[0.0, 0.0, w], [0.5 * x + y, -(x + 0.5 * y), 0.0]]
            },
            [0.0, 0.0, 0.0, -1.0, -1.0, -1.0, 0.0, 0.0, 0.0],
            6,
        ),
        // Constant shears need couples on the nodes: forces alone are none.
        (
            "shear",
            |x, y| [[0.0, 0.0, 0.3 * x - 0.8 * y], [0.0; 3]],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3, -0.8, 0.0],
            3,
        ),
    ];
    let mut evaluation = Evaluation::new(&model);
    for (name, field, expected, held) in cases {
        let mut state = model.initial_state().unwrap();
        let range = model.node(parts.frames).velocity_range();
        for (v, node) in state.velocities[range.clone()]
            .as_chunks_mut::<6>()
            .0
            .iter_mut()
            .zip(&mesh.nodes)
        {
            let flat = rotate(conjugate(q), Vec3::from(*node));
            let [u, turn] = field(flat.x, flat.y).map(|a| rotate(q, Vec3::from(a)));
            v[..3].copy_from_slice(u.as_slice());
            v[3..].copy_from_slice(turn.as_slice());
        }
        evaluation.propagate(&model, &mut state).unwrap();
        let rates = model.velocities(&state, parts.strains).as_chunks::<9>().0;
        let mut worst = 0.0f64;
        for rate in rates {
            for (found, expected) in rate.iter().zip(expected) {
                worst = worst.max((found - expected).abs());
            }
        }
        // Hooke's law at each point.
        let mut force = vec![0.0; model.velocity_count()];
        let strains = model.node(parts.strains).velocity_range();
        let (plane, g) = (young / (1.0 - poisson * poisson), young / (2.0 * (1.0 + poisson)));
        let mut scale = 0.0f64;
        for ((f, e), area) in force[strains]
            .as_chunks_mut::<9>()
            .0
            .iter_mut()
            .zip(rates)
            .zip(&parts.areas)
        {
            for (first, weight) in [(0, t), (3, t.powi(3) / 12.0)] {
                f[first] = area * weight * plane * (e[first] + poisson * e[first + 1]);
                f[first + 1] = area * weight * plane * (e[first + 1] + poisson * e[first]);
                f[first + 2] = area * weight * g * e[first + 2];
            }
            (6..8).for_each(|k| f[k] = area * 5.0 / 6.0 * g * t * e[k]);
            scale = f.iter().fold(scale, |a, f| a.max(f.abs()));
        }
        evaluation.pull_back(&model, &mut force);
        let nodes = force[range].as_chunks::<6>().0;
        let size = nodes[..4].iter().flatten().fold(0.0f64, |a, f| a.max(f.abs()));
        let inner = nodes[4..].iter().flat_map(|f| &f[..held]);
        let rest = inner.fold(0.0f64, |a, f| a.max(f.abs())) / size;
        println!("{name}: strains off by {worst:e}, inner forces {rest:e} of the outer ones");
        // Roundings of slopes of one over elements of 0.04; shears are stiffer than bends by
        // 12 (0.24/t)^2, that is 7e3, and so are the forces of their roundings.
        assert!(worst < 2e-13 && rest < 1e-10, "{name}: {worst:e} {rest:e}");
    }
}

/// A homogeneous gradient of any size has Green and Lagrange's strain of it, and half of its skew part.
#[test]
fn homogeneous_stretch_is_exact() {
    let mesh = patch(Vec3::zeros());
    let mut model = Model::new();
    let parts = Shell::isotropic(1e6, 0.3, 0.01)
        .with_warp([1.0, 0.0, 0.0])
        .add_to(&mut model, "patch", &mesh)
        .unwrap();
    let mut state = model.initial_state().unwrap();
    let range = model.node(parts.frames).position_range();
    for x in state.positions[range].as_chunks_mut::<7>().0 {
        let [a, b] = [x[0], x[1]];
        (x[0], x[1]) = (1.3 * a + 0.2 * b, 0.1 * a + 0.8 * b);
    }
    model.propagate(&mut state).unwrap();
    // (F^T F - I)/2 of F = ((1.3, 0.2), (0.1, 0.8)).
    let expected = [0.35, -0.16, 0.34, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5 * (0.1 - 0.2)];
    for strain in model.positions(&state, parts.strains).as_chunks::<9>().0 {
        for (k, (found, expected)) in strain.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() < 1e-13, "{k}: {strain:?}");
        }
    }
}

#[test]
fn the_section_has_its_derivatives() {
    let law = ShellElastic::new(3.0, 0.3, 0.5, &[0.2, 0.7]).with_relaxation_time(0.1);
    let x: Vec<f64> = (0..18).map(|k| (1.3 * f64::from(k)).sin()).collect();
    let v: Vec<f64> = (0..18).map(|k| (0.7 * f64::from(k)).cos()).collect();
    let found = check::force_field(&law, Space::Real(9), &x, &v).unwrap();
    println!("{found:?}");
    assert!(found.worst() < 1e-9, "{found:?}");
}

#[test]
fn shells_that_cannot_be_are_told() {
    let mut model = Model::new();
    let shell = Shell::isotropic(1e6, 0.3, 0.01);
    let mixed = SheetMesh::rectangle([1.0, 1.0], [1, 1], false);
    let text = |e: ContinuumError| e.to_string();
    let said = |r: Result<_, ContinuumError>| text(r.map(|_: pliant_continuum::ShellParts| ()).unwrap_err());
    assert_eq!(
        said(shell.add_to(&mut model, "s", &mixed)),
        "a shell on frames cannot be had with triangles: its elements are quadrangles"
    );
    assert_eq!(
        said(shell.add_to(&mut model, "s", &SheetMesh::default())),
        "the mesh has no elements"
    );
    let mut dart = warped();
    dart.nodes[2] = [0.1, 0.1, 0.0];
    assert_eq!(
        said(shell.add_to(&mut model, "s", &dart)),
        "quadrangle 0 of the sheet: its corners do not go round a convex area"
    );
    let mut lonely = warped();
    lonely.nodes.push([0.0; 3]);
    assert_eq!(
        said(shell.add_to(&mut model, "s", &lonely)),
        "node 4 of a mesh has no mass: it belongs to no element"
    );
    let bad = Shell::isotropic(1e6, 1.0, 0.01);
    assert_eq!(
        said(bad.add_to(&mut model, "s", &warped())),
        "Poisson's ratio is 1, but must be above -1 and below 1"
    );
    let folded = shell.clone().with_fold(2.0);
    assert_eq!(
        said(folded.add_to(&mut model, "s", &warped())),
        "the angle of a fold is 2, but must be from zero to a quarter turn"
    );
    assert_eq!(
        said(
            shell
                .clone()
                .with_clamped(&[7])
                .add_to(&mut model, "s", &warped())
        ),
        "node 7 is clamped, but the sheet has 4 nodes"
    );
    let plane = SymmetryPlane { axis: 2, at: 0.0 };
    let flat = SheetMesh::quadrangles([1.0, 1.0], [1, 1]);
    assert_eq!(
        said(
            shell
                .clone()
                .with_symmetry(&[plane])
                .add_to(&mut model, "s", &flat)
        ),
        "the plane of symmetry z = 0 m: the shell lies in it"
    );
    assert!(model.nodes().iter().all(|node| node.name != "s"));
}
