//! Masses: energies, shapes, surfaces and meshes in closed form.

use crate::force_fields::{bodies, random};
use pliant_model::{
    CoupledMass, Distance, Evaluation, Mass, Model, ModelError, Pose, Problem, RigidMass, RigidPoints, Space,
    Subset, check,
};
use std::f64::consts::PI;

fn moments(m: &RigidMass) -> [f64; 3] {
    [0, 1, 2].map(|k| m.inertia[k][k])
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} is not {b}");
    }
}

/// Forces are the same to the bit without the bias of nodes that have no mass; these have it, and
/// velocities, only when asked.
#[test]
fn forces_without_the_bias_of_massless_nodes() {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let body = model.add_rigid_bodies("body", &[Pose::at([0.0; 3])]).unwrap();
    let hands = RigidPoints::new(&[(0, [0.3, 0.1, 0.0]), (0, [-0.2, 0.0, 0.4])]);
    let hands = model.add_mapped("hands", &[body], hands).unwrap();
    model.add_mass("loads", hands, Mass::Uniform(0.5)).unwrap();
    let way = model
        .add_mapped("way", &[hands], Distance::to_points(&[(0, [1.0, 2.0, 3.0])]))
        .unwrap();
    let problem = Problem::new(model);
    let mut state = problem.initial_state().unwrap();
    state.velocities[problem.node(body).velocity_range()].copy_from_slice(&[0.3, -0.2, 0.5, 1.0, 2.0, -1.5]);
    let [mut whole, mut lean] = [(); 2].map(|()| Evaluation::new(&problem));
    for evaluation in [&mut whole, &mut lean] {
        evaluation.propagate(&problem, &mut state).unwrap();
    }
    whole.evaluate(&problem, &state).unwrap();
    lean.evaluate_forces_after(&problem, &state, 0.0).unwrap();
    assert_eq!(whole.force(), lean.force());
    assert_eq!(whole.inertial_force(), lean.inertial_force());
    let (own, loaded) = (
        problem.node(way).velocity_range(),
        problem.node(hands).velocity_range(),
    );
    assert_eq!(whole.bias()[loaded.clone()], lean.bias()[loaded.clone()]);
    assert!(whole.bias()[own.start] != 0.0 && lean.bias()[own.start] == 0.0);
    lean.find_bias(&problem, &state);
    assert_eq!(whole.bias(), lean.bias());
    let mut pushed = [state.velocities.clone(), state.velocities.clone()];
    pushed.iter_mut().for_each(|u| u[own.start] = 7.0);
    whole.push_forward(&problem, &mut pushed[0]);
    whole.push_forward_to_masses(&problem, &mut pushed[1]);
    assert_eq!(pushed[0][loaded.clone()], pushed[1][loaded]);
    assert!(pushed[0][own.start] != 7.0 && pushed[1][own.start] == 7.0);
}

#[test]
fn kinetic_energy_and_momentum() {
    let tetrahedra = [[0, 1, 2, 3], [1, 2, 3, 4]];
    for seed in 0..10 {
        let points: Vec<[f64; 3]> = random(seed, 15).as_chunks::<3>().0.to_vec();
        let masses = [
            Mass::Uniform(2.0),
            Mass::PerElement(vec![1.0, 2.0, 3.0, 4.0, 5.0]),
            Mass::lumped_tetrahedra(&points, &tetrahedra, 7.0).unwrap(),
            Mass::consistent_tetrahedra(&points, &tetrahedra, 7.0).unwrap(),
            Mass::consistent_triangles(&points, &[[0, 1, 2], [2, 3, 4]], 7.0).unwrap(),
            Mass::consistent_segments(&points, &[[0, 1], [2, 3], [1, 4]], 7.0).unwrap(),
        ];
        for mass in masses {
            for n in [1, 2, 3] {
                let (x, v) = (random(seed + 1, 5 * n), random(seed + 2, 5 * n));
                let found = check::mass(&mass, Space::Real(n), &x, &v).unwrap();
                assert!(found.worst() < 1e-12, "{mass:?} {found:?}");
            }
            let points = RigidPoints::new(&[
                (0, [0.1, 0.2, 0.3]),
                (1, [0.3, -0.2, 0.1]),
                (0, [1.0, 0.0, 0.0]),
                (1, [0.0; 3]),
                (1, [0.0, 0.5, 0.0]),
            ]);
            let on = [(Space::Rigid3, 2)];
            let found = check::mapped_mass(&mass, &points, &on, &bodies(seed, 2), seed).unwrap();
            assert!(found.worst() < 1e-12, "{mass:?} {found:?}");
        }
        let rigid = Mass::Rigid(vec![
            RigidMass::cylinder(2.0, 0.1, 0.5).turned(Pose::turned([0.0; 3], [1.0, 2.0, 3.0], 1.0).rotation),
            RigidMass::cone(3.0, 0.2, 0.4),
        ]);
        let found = check::mass(&rigid, Space::Rigid3, &bodies(seed, 2), &random(seed, 12)).unwrap();
        assert!(found.worst() < 1e-12, "{found:?}");
        let one = Subset::of_elements(Space::Rigid3, &[1]);
        let body = Mass::Rigid(vec![RigidMass::cone(3.0, 0.2, 0.4)]);
        let found = check::mapped_mass(&body, &one, &[(Space::Rigid3, 2)], &bodies(seed, 2), seed);
        assert!(found.unwrap().worst() < 1e-12);
        let line = Distance::between(&[(0, 1), (1, 2)]);
        let found = check::mapped_mass(
            &Mass::Uniform(3.0),
            &line,
            &[(Space::Real(3), 3)],
            &random(seed, 9),
            seed,
        );
        assert!(found.unwrap().worst() < 1e-12);
    }
}

#[test]
fn shapes() {
    close(
        &moments(&RigidMass::cylinder(12.0, 2.0, 3.0)),
        &[21.0, 21.0, 24.0],
        1e-14,
    );
    close(
        &moments(&RigidMass::ellipsoid(5.0, [1.0, 2.0, 3.0])),
        &[13.0, 10.0, 5.0],
        1e-14,
    );
    close(
        &moments(&RigidMass::cone(80.0, 1.0, 2.0)),
        &[24.0, 24.0, 24.0],
        1e-14,
    );
    // No length: a ball; no radius to speak of: a rod.
    let ball = RigidMass::capsule(3.0, 0.7, 0.0);
    close(&moments(&ball), &moments(&RigidMass::sphere(3.0, 0.7)), 1e-14);
    close(
        &moments(&RigidMass::capsule(3.0, 1e-9, 2.0)),
        &[1.0, 1.0, 0.0],
        1e-8,
    );
    // A cylinder turned from z to x.
    let turned = RigidMass::cylinder(12.0, 2.0, 3.0)
        .turned(Pose::turned([0.0; 3], [0.0, 1.0, 0.0], PI / 2.0).rotation);
    close(&moments(&turned), &[24.0, 21.0, 21.0], 1e-14);
}

/// A surface of revolution about z through `(radius, z)` from bottom to top, the ends on the axis.
fn revolved(profile: &[(f64, f64)], around: usize) -> (Vec<[f64; 3]>, Vec<[usize; 3]>) {
    let inner = &profile[1..profile.len() - 1];
    let mut vertices = vec![[0.0, 0.0, profile[0].1], [0.0, 0.0, profile[profile.len() - 1].1]];
    for (r, z) in inner {
        for k in 0..around {
            let a = 2.0 * PI * k as f64 / around as f64;
            vertices.push([r * a.cos(), r * a.sin(), *z]);
        }
    }
    let at = |ring: usize, k: usize| 2 + ring * around + k % around;
    let mut triangles = Vec::new();
    for k in 0..around {
        triangles.push([0, at(0, k + 1), at(0, k)]);
        triangles.push([1, at(inner.len() - 1, k), at(inner.len() - 1, k + 1)]);
        for ring in 0..inner.len() - 1 {
            triangles.push([at(ring, k), at(ring, k + 1), at(ring + 1, k)]);
            triangles.push([at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)]);
        }
    }
    (vertices, triangles)
}

#[test]
fn surfaces_approach_the_shapes() {
    let arc = |n: usize, from: f64, to: f64, r: f64, z: f64| -> Vec<(f64, f64)> {
        (0..=n)
            .map(|k| from + (to - from) * k as f64 / n as f64)
            .map(|a| (r * a.cos(), z + r * a.sin()))
            .collect()
    };
    let n = 60;
    let sphere = arc(n, -PI / 2.0, PI / 2.0, 0.7, 3.0);
    let capsule = [arc(n, -PI / 2.0, 0.0, 0.5, -0.6), arc(n, 0.0, PI / 2.0, 0.5, 0.6)].concat();
    let cylinder = vec![(0.0, 1.0), (0.3, 1.0), (0.3, 3.0), (0.0, 3.0)];
    let cone = vec![(0.0, 0.0), (0.5, 0.0), (0.0, 2.0)];
    let volume = 4.0 / 3.0 * PI;
    let cases = [
        (sphere, volume * 0.343, 3.0, RigidMass::sphere(1.0, 0.7)),
        (
            capsule,
            volume * 0.125 + PI * 0.25 * 1.2,
            0.0,
            RigidMass::capsule(1.0, 0.5, 1.2),
        ),
        (cylinder, PI * 0.09 * 2.0, 2.0, RigidMass::cylinder(1.0, 0.3, 2.0)),
        (cone, PI * 0.25 * 2.0 / 3.0, 0.5, RigidMass::cone(1.0, 0.5, 2.0)),
    ];
    for (profile, volume, height, shape) in cases {
        let (vertices, triangles) = revolved(&profile, 200);
        let (body, centre) = RigidMass::from_surface(&vertices, &triangles, 10.0).unwrap();
        close(&[body.mass], &[10.0 * volume], 2e-3);
        close(&centre, &[0.0, 0.0, height], 1e-12);
        close(&moments(&body), &moments(&shape).map(|m| m * body.mass), 2e-3);
    }
}

/// A box with one corner at the origin, and its twelve triangles.
fn cuboid(size: [f64; 3], at: [f64; 3]) -> (Vec<[f64; 3]>, Vec<[usize; 3]>) {
    let corner = |k: usize| [0, 1, 2].map(|i| at[i] + if k >> i & 1 == 1 { size[i] } else { 0.0 });
    let faces = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles = faces
        .iter()
        .flat_map(|f| [[f[0], f[1], f[2]], [f[0], f[2], f[3]]])
        .collect();
    ((0..8).map(corner).collect(), triangles)
}

#[test]
fn surfaces_in_closed_form() {
    for at in [[0.0; 3], [-1.0, -1.0, -1.0], [1e3, -2e3, 5e3]] {
        let (vertices, triangles) = cuboid([1.0, 2.0, 3.0], at);
        let (body, centre) = RigidMass::from_surface(&vertices, &triangles, 2.0).unwrap();
        close(&[body.mass], &[12.0], 1e-12);
        close(&centre, &[at[0] + 0.5, at[1] + 1.0, at[2] + 1.5], 1e-12);
        let expected = RigidMass::cuboid(12.0, [1.0, 2.0, 3.0]);
        close(
            body.inertia.as_flattened(),
            expected.inertia.as_flattened(),
            1e-11,
        );
    }
    // The corner tetrahedron: volume 1/6, centre 1/4; about the centre, int x^2 = 1/160 and int
    // xy = -1/480.
    let vertices = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let (body, centre) = RigidMass::from_surface(&vertices, &triangles, 480.0).unwrap();
    close(&[body.mass], &[80.0], 1e-14);
    close(&centre, &[0.25; 3], 1e-14);
    close(
        body.inertia.as_flattened(),
        &[6.0, 1.0, 1.0, 1.0, 6.0, 1.0, 1.0, 1.0, 6.0],
        1e-13,
    );
    // 5 I + (1 1 1)^T (1 1 1) has the eigenvalues 5, 5, 8.
    let (principal, rotation) = body.principal_axes();
    close(&moments(&principal), &[5.0, 5.0, 8.0], 1e-13);
    close(
        principal.turned(rotation).inertia.as_flattened(),
        body.inertia.as_flattened(),
        1e-13,
    );
    // A cavity: the inner surface faces into the solid's hole.
    let (mut vertices, mut triangles) = cuboid([3.0; 3], [0.0; 3]);
    let (inner, faces) = cuboid([1.0; 3], [1.0; 3]);
    vertices.extend(inner);
    triangles.extend(faces.iter().map(|t| [t[0] + 8, t[2] + 8, t[1] + 8]));
    let (body, centre) = RigidMass::from_surface(&vertices, &triangles, 1.0).unwrap();
    close(&[body.mass], &[26.0], 1e-13);
    close(&centre, &[1.5; 3], 1e-13);
    close(&moments(&body), &[(27.0 * 18.0 - 2.0) / 12.0; 3], 1e-13);
    for seed in 0..20 {
        // Any inertia comes back from its principal axes.
        let q = bodies(seed, 1);
        let body = RigidMass::principal(1.0, [1.0, 2.0, 2.5]).turned([q[3], q[4], q[5], q[6]]);
        let (principal, rotation) = body.principal_axes();
        close(&moments(&principal), &[1.0, 2.0, 2.5], 1e-13);
        close(
            principal.turned(rotation).inertia.as_flattened(),
            body.inertia.as_flattened(),
            1e-13,
        );
    }
}

#[test]
fn bad_surfaces() {
    let (vertices, triangles) = cuboid([1.0; 3], [0.0; 3]);
    let says = |v: &[[f64; 3]], t: &[[usize; 3]], density: f64, words: &str| {
        let error = RigidMass::from_surface(v, t, density).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    says(&vertices, &triangles[1..], 1.0, "the surface is open");
    let inward: Vec<_> = triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
    says(&vertices, &inward, 1.0, "faces inwards");
    let mut mixed = triangles.clone();
    mixed[3].swap(0, 1);
    says(&vertices, &mixed, 1.0, "in the same direction");
    let flat: Vec<_> = vertices.iter().map(|v| [v[0], v[1], 0.0]).collect();
    says(&flat, &triangles, 1.0, "no volume");
    says(&vertices, &[], 1.0, "no volume");
    says(&vertices, &[[0, 1, 8]], 1.0, "element 8 of a node that has 8");
    says(&vertices, &[[0, 1, 1]], 1.0, "one corner twice");
    says(&vertices, &triangles, 0.0, "the density");
    says(
        &[[f64::NAN; 3]],
        &triangles,
        1.0,
        "a position of `the surface` is NaN",
    );
}

#[test]
fn meshes_in_closed_form() {
    let corner = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]];
    // Volume 1: rho V/20 (1 + delta).
    for order in [[0, 1, 2, 3], [0, 2, 1, 3]] {
        let Mass::Coupled(list) = Mass::consistent_tetrahedra(&corner, &[order], 20.0).unwrap() else {
            panic!("not coupled");
        };
        let expected: Vec<f64> = (0..16).map(|k| if k / 4 == k % 4 { 2.0 } else { 1.0 }).collect();
        assert_eq!(list[0].elements, order);
        close(&list[0].matrix, &expected, 1e-14);
    }
    let total = |mass: &Mass| match mass {
        Mass::PerElement(list) => list.iter().sum::<f64>(),
        Mass::Coupled(list) => list.iter().flat_map(|m: &CoupledMass| &m.matrix).sum(),
        _ => f64::NAN,
    };
    // The six tetrahedra of a box about its diagonal, its surface and its diagonal.
    let (points, surface) = cuboid([1.0, 2.0, 3.0], [0.3, 0.2, 0.1]);
    let tetrahedra = [
        [0, 1, 3, 7],
        [0, 3, 2, 7],
        [0, 2, 6, 7],
        [0, 6, 4, 7],
        [0, 4, 5, 7],
        [0, 5, 1, 7],
    ];
    let around = [[0, 1], [1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 7]];
    for (mass, expected) in [
        (Mass::lumped_tetrahedra(&points, &tetrahedra, 2.0), 12.0),
        (Mass::consistent_tetrahedra(&points, &tetrahedra, 2.0), 12.0),
        (Mass::lumped_triangles(&points, &surface, 2.0), 44.0),
        (Mass::consistent_triangles(&points, &surface, 2.0), 44.0),
        (Mass::lumped_segments(&points, &around, 2.0), 2.0 * 12.0),
        (Mass::consistent_segments(&points, &around, 2.0), 2.0 * 12.0),
    ] {
        close(&[total(&mass.unwrap())], &[expected], 1e-14);
    }
    // A consistent mass is exact for rigid motion: the energy of a turning box is that of its
    // inertia.
    let mass = Mass::consistent_tetrahedra(&points, &tetrahedra, 2.0).unwrap();
    let (w, centre) = ([0.4, -0.7, 0.9], [0.8, 1.2, 1.6]);
    let velocity = |p: &[f64; 3]| {
        let r = [0, 1, 2].map(|k| p[k] - centre[k]);
        [
            w[1] * r[2] - w[2] * r[1],
            w[2] * r[0] - w[0] * r[2],
            w[0] * r[1] - w[1] * r[0],
        ]
    };
    let v: Vec<f64> = points.iter().flat_map(velocity).collect();
    let mut m = Model::new();
    let node = m
        .add_independent("box", Space::Real(3), points.as_flattened(), &v)
        .unwrap();
    m.add_mass("mass", node, mass).unwrap();
    let m = Problem::new(m);
    let kinetic = m.energies(&m.initial_state().unwrap()).kinetic;
    let inertia = moments(&RigidMass::cuboid(12.0, [1.0, 2.0, 3.0]));
    close(
        &[kinetic],
        &[(0..3).map(|k| 0.5 * inertia[k] * w[k] * w[k]).sum()],
        1e-13,
    );
}

#[test]
fn bad_masses() {
    let points = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]];
    let says = |r: Result<Mass, ModelError>, words: &str| {
        let error = r.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    says(
        Mass::lumped_tetrahedra(&points, &[[0, 1, 2, 3]], 1.0),
        "element 0 of a mesh is flat",
    );
    says(
        Mass::consistent_triangles(&points, &[[0, 1, 3], [1, 2, 3]], 1.0),
        "is flat",
    );
    says(
        Mass::lumped_segments(&points, &[[0, 1], [2, 2], [3, 0]], 1.0),
        "element 1 of a mesh is flat",
    );
    says(
        Mass::lumped_segments(&points, &[[0, 1], [1, 3]], 1.0),
        "node 2 of a mesh has no mass",
    );
    says(
        Mass::consistent_segments(&points, &[[0, 4]], 1.0),
        "element 4 of a node that has 4",
    );
    says(Mass::consistent_segments(&points, &[[0, 1]], -1.0), "the density");
    says(Mass::lumped_segments(&points, &[[0, 1]], f64::NAN), "the density");
    says(
        Mass::lumped_segments(&[[f64::INFINITY; 3]; 2], &[[0, 1]], 1.0),
        "a position",
    );
    let mut m = Model::new();
    let b = m.add_rigid_bodies("body", &[Pose::default()]).unwrap();
    for bad in [
        RigidMass::cylinder(1.0, -1.0, 1.0),
        RigidMass::cylinder(1.0, 1.0, -1.0),
        RigidMass::cylinder(1.0, 0.0, 1.0),
        RigidMass::capsule(1.0, 1.0, -1.0),
        RigidMass::capsule(1.0, 0.0, 0.0),
        RigidMass::ellipsoid(1.0, [1.0, -1.0, 1.0]),
        RigidMass::cone(1.0, -1.0, 1.0),
        RigidMass::cuboid(1.0, [1.0, -1.0, 1.0]),
        RigidMass::sphere(1.0, -1.0),
        RigidMass::sphere(1.0, f64::NAN),
        RigidMass::sphere(-1.0, 1.0),
    ] {
        let error = m
            .add_mass("m", b, Mass::Rigid(vec![bad]))
            .unwrap_err()
            .to_string();
        assert!(error.contains("`m`"), "{error}");
    }
}
