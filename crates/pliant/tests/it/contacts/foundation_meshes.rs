//! Elastic foundations of meshes that press on meshes and on distance fields.

use super::foundation::{F, contacts, half_space, plate, soft, sphere, wrench};
use pliant::collision::{
    Carrier, Collider, Contact, DistanceField, Material, MeshKind, Placement, Shape, Triangulation, World,
};
use pliant::dense::{Vec3, rotation};
use pliant::prelude::*;
use std::f64::consts::PI;

fn turned(axis: [f64; 3], position: [f64; 3]) -> Pose {
    Pose {
        position,
        rotation: rotation::exp(Vec3::from(axis)),
    }
}

fn solid(mesh: &Triangulation) -> Shape {
    Shape::triangle_mesh(&mesh.0, &mesh.1, MeshKind::Solid).unwrap()
}

/// Two bodies of one collider each, all of the compliance `F` of the pair in one of them or shared.
fn two(a: (Shape, Pose), b: (Shape, Pose)) -> (Model, World) {
    let mut m = Model::new();
    let mut world = World::new();
    // Layers of both in series.
    let half = Material {
        foundation: F / 2.0,
        ..soft()
    };
    let material = world.add_material(half).unwrap();
    for (name, (shape, pose)) in [("a", a), ("b", b)] {
        let node = m.add_rigid_bodies(name, &[pose]).unwrap();
        let place = Placement::Body {
            node,
            element: 0,
            pose: Pose::default(),
        };
        world
            .add(Collider::new(name, shape, place).with_material(material))
            .unwrap();
    }
    (m, world)
}

fn pressed(a: (Shape, Pose), b: (Shape, Pose)) -> Vec<Contact> {
    let (m, mut world) = two(a, b);
    contacts(&m, &mut world)
}

/// Force between two spheres of the radius `R` whose centres are `D` apart, with columns over
/// either: a point of one at the distance `s` from the centre of the other is `R - s` deep, and is
/// pushed along the line from that centre, whose part along the axis is `(D^2 - R^2 + s^2)/(2 D s)`
/// by the law of cosines; between `s` and `s + ds` a sphere has the area `2 pi R s ds/D`. So
/// `F = pi R/(f D^2)` times the integral of `(R - s)(D^2 - R^2 + s^2)` from `D - R` to `R`.
fn of_spheres(radius: f64, apart: f64) -> f64 {
    let (r, d) = (radius, apart);
    let c = d * d - r * r;
    // Of R c + (R s^2 - c s) - s^3.
    let primitive = |s: f64| r * c * s + r * s.powi(3) / 3.0 - c * s * s / 2.0 - s.powi(4) / 4.0;
    PI * r / (F * d * d) * (primitive(r) - primitive(d - r))
}

#[test]
fn the_closed_form_of_spheres_is_its_integral() {
    let (r, d) = (0.2, 0.38);
    let n = 100_000;
    let sum: f64 = (0..n)
        .map(|k| {
            // Of the polar angle, by the midpoint rule.
            let angle = 0.7 * (k as f64 + 0.5) / f64::from(n as u32);
            let (x, y) = (d - r * angle.cos(), r * angle.sin());
            let s = x.hypot(y);
            let area = 2.0 * PI * r * r * angle.sin() * 0.7 / f64::from(n as u32);
            (r - s).max(0.0) / F * (x / s) * area
        })
        .sum();
    assert!((of_spheres(r, d) / sum - 1.0).abs() < 1e-8, "{sum}");
}

/// Two spheres of triangles to the squares of the edges of the coarser one over the patch; opposite
/// forces on both have no torque together.
#[test]
fn two_spheres_press_as_the_closed_form_says() {
    let (radius, depth) = (0.2, 0.02);
    let apart = 2.0 * radius - depth;
    let axis = Vec3::new(0.3, -0.2, 0.9).normalize();
    let exact = of_spheres(radius, apart);
    let rim = (radius * radius - apart * apart / 4.0).sqrt();
    for (first, second, least) in [(3, 3, 3), (4, 4, 4), (5, 5, 5), (5, 4, 4), (4, 5, 4)] {
        let found = pressed(
            (
                solid(&sphere(radius, first)),
                turned([0.2, 0.1, 0.7], [0.1, 0.2, 0.3]),
            ),
            (
                solid(&sphere(radius, second)),
                turned([-0.5, 0.4, 0.1], (Vec3::new(0.1, 0.2, 0.3) + axis * apart).into()),
            ),
        );
        let (force, _) = wrench(&found, Vec3::zeros());
        let error = force.dot(&axis) / exact - 1.0;
        let beside = (force - axis * force.dot(&axis)).norm() / exact;
        let edge = 1.2 * radius / f64::from(1 << least);
        let bound = (edge / rim).powi(2);
        println!("{first} {second}: {error:.2e} {beside:.2e} of {bound:.2e}");
        assert!(
            error.abs() < bound && beside < bound,
            "{first} {second}: {error} {beside} {bound}"
        );
        for c in &found {
            let way = Vec3::from(c.b.point) - Vec3::from(c.a.point);
            let torque = way.cross(&Vec3::from(c.normal)).norm();
            assert!(torque < 1e-14 && (way.dot(&Vec3::from(c.normal)) - c.gap).abs() < 1e-14);
        }
    }
}

/// The corners and triangles of a box whose sides are cut into so many squares both ways.
fn box_mesh(half: [f64; 3], cuts: usize) -> Triangulation {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    let mut numbers = std::collections::BTreeMap::new();
    for (axis, side) in (0..3).flat_map(|axis| [(axis, 0), (axis, cuts)]) {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut number = |i: usize, j: usize| {
            let mut at = [0; 3];
            (at[axis], at[u], at[v]) = (side, i, j);
            *numbers.entry(at).or_insert_with(|| {
                points.push([0, 1, 2].map(|k| half[k] * (2.0 * at[k] as f64 / cuts as f64 - 1.0)));
                points.len() - 1
            })
        };
        for (i, j) in (0..cuts).flat_map(|i| (0..cuts).map(move |j| (i, j))) {
            let [a, b, c, d] = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| number(i, j));
            let two = match (i + j) % 2 {
                0 => [[a, b, c], [a, c, d]],
                _ => [[a, b, d], [b, c, d]],
            };
            triangles.extend(two.map(|[a, b, c]| if side == 0 { [a, c, b] } else { [a, b, c] }));
        }
    }
    (points, triangles)
}

/// Force and torque about a point on the second of two boxes by columns all over the first, by the
/// midpoint rule on its six sides: the depth is that below the nearest side of the second.
fn over_box(first: ([f64; 3], Pose), second: ([f64; 3], Pose), about: Vec3) -> (Vec3, Vec3) {
    let n = 1000;
    let place = |pose: &Pose, p: Vec3| rotation::rotate(pose.rotation, p) + Vec3::from(pose.position);
    let ((half, pose), (other, frame)) = (first, second);
    let mut sum = (Vec3::zeros(), Vec3::zeros());
    for (axis, sign) in (0..3).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]) {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let area = 4.0 * half[u] * half[v] / f64::from(n * n);
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let at = |i: i32| (2.0 * f64::from(i) + 1.0) / f64::from(n) - 1.0;
            let mut p = Vec3::zeros();
            (p[axis], p[u], p[v]) = (sign * half[axis], half[u] * at(i), half[v] * at(j));
            let x = place(&pose, p);
            let away = x - Vec3::from(frame.position);
            let local = rotation::rotate(rotation::conjugate(frame.rotation), away);
            let depths = [0, 1, 2].map(|k| other[k] - local[k].abs());
            let k = (0..3).fold(0, |k, l| if depths[l] < depths[k] { l } else { k });
            if depths[k] > 0.0 {
                let mut normal = Vec3::zeros();
                normal[k] = local[k].signum();
                let force = rotation::rotate(frame.rotation, normal) * (-depths[k] / F * area);
                sum.0 += force;
                sum.1 += (x - about).cross(&force);
            }
        }
    }
    sum
}

/// A box on a box that is tilted: forces and torques are the integrals over both surfaces, with
/// shares by the squares of the mean areas of triangles; a coarse one has next to none. The error
/// is that of the kinks of the pressure where the nearest side changes, within the squares of edges
/// over the size of the patch.
#[test]
fn a_tilted_box_has_the_force_and_the_torque_of_its_pressure() {
    let (small, large) = ([0.1, 0.08, 0.06], [0.3, 0.25, 0.2]);
    let lower = turned([0.1, -0.2, 0.3], [0.4, 0.1, -0.2]);
    let up = rotation::rotate(lower.rotation, Vec3::z());
    let tilt = rotation::multiply(rotation::exp(Vec3::new(0.05, -0.08, 0.4)), lower.rotation);
    let upper = Pose {
        position: (Vec3::from(lower.position) + up * (0.2 + 0.06 - 0.004)).into(),
        rotation: tilt,
    };
    let about = Vec3::from(upper.position);
    let (on, under) = (
        over_box((small, upper), (large, lower), about),
        over_box((large, lower), (small, upper), about),
    );
    let cell = |half: [f64; 3], n: usize| {
        let sides = half[0] * half[1] + half[1] * half[2] + half[2] * half[0];
        8.0 * sides / (12 * n * n) as f64
    };
    for (fine, coarse) in [(40, 1), (20, 60), (40, 120), (30, 180)] {
        let (s, t) = (cell(small, fine).powi(2), cell(large, coarse).powi(2));
        let share = t / (s + t);
        let exact = [
            on.0 * share - under.0 * (1.0 - share),
            on.1 * share - under.1 * (1.0 - share),
        ];
        let [a, b] = [(small, fine, upper), (large, coarse, lower)]
            .map(|(half, n, pose)| (solid(&box_mesh(half, n)), pose));
        // The second side is the lower one.
        let found = pressed(a.clone(), b.clone());
        let (force, torque) = wrench(&found, about);
        let edges = [0.2 / fine as f64, 0.6 / coarse as f64];
        let square = share * edges[0].powi(2) + (1.0 - share) * edges[1].powi(2);
        let errors = [
            (force - exact[0]).norm() / exact[0].norm(),
            (torque - exact[1]).norm() / exact[1].norm(),
        ];
        println!("{fine} {coarse}: share {share:.4}, {errors:?}");
        // Swapped, it is the same to rounding.
        let (back, other) = wrench(&pressed(b, a), about);
        assert!(
            (back + force).norm() < 1e-12 * force.norm() && (other + torque).norm() < 1e-12 * torque.norm()
        );
        // The patch is 0.1 m wide; the coarse one of (40, 1) has next to no share.
        let bound = if coarse == 1 { edges[0].powi(2) } else { square } / 0.01;
        assert!(
            errors[0] < 2.5 * bound && errors[1] < 5.0 * bound,
            "{errors:?} {bound}"
        );
    }
}

/// A sphere of triangles on a field that is level is as on a half space to rounding, on one of a
/// ball as on a ball to the error of the cubic, which goes with the third power of the spacing.
#[test]
fn columns_press_on_distance_fields() {
    let (radius, depth) = (0.2, 0.01);
    let mesh = || solid(&sphere(radius, 4));
    let pose = turned([0.2, 0.1, 0.7], [0.013, 0.021, radius - depth]);
    let level = DistanceField::sampled([-0.3, -0.3, -0.3], [0.3, 0.3, 0.3], 0.05, |p| p[2]).unwrap();
    let place = turned([0.4, -0.1, 0.2], [0.0; 3]);
    let plane = |shape: Shape| pressed((mesh(), pose), (shape, Pose::default()));
    let (exact, field) = (plane(half_space()), plane(Shape::distance_field(level)));
    let (exact, field) = (wrench(&exact, Vec3::zeros()), wrench(&field, Vec3::zeros()));
    assert!(
        (exact.0 - field.0).norm() < 1e-12 * exact.0.norm(),
        "{exact:?} {field:?}"
    );
    assert!(
        (exact.1 - field.1).norm() < 1e-12 * exact.0.norm(),
        "{exact:?} {field:?}"
    );
    let up = Vec3::new(0.1, 0.2, 0.9).normalize();
    let above = turned([0.2, 0.1, 0.7], (up * (radius + 0.15 - depth)).into());
    let ball = |shape: Shape| pressed((shape, place), (mesh(), above));
    let exact = wrench(&ball(Shape::ball(0.15).unwrap()), Vec3::zeros());
    let mut errors = Vec::new();
    for spacing in [0.02, 0.01, 0.005] {
        let distance = |p: [f64; 3]| Vec3::from(p).norm() - 0.15;
        let field = DistanceField::sampled([-0.2; 3], [0.2; 3], spacing, distance).unwrap();
        let found = ball(Shape::distance_field(field));
        let off = |c: &Contact| (c.gap - distance(c.b.point)).abs();
        errors.push(found.iter().map(off).fold(0.0, f64::max));
        // Off by no more than all of the patch by what the depths are.
        let force = (exact.0 - wrench(&found, Vec3::zeros()).0).norm();
        assert!(force < 2.5 * errors[errors.len() - 1] / depth * exact.0.norm());
    }
    println!("{errors:?}");
    let third = errors.windows(2).all(|e| e[1] < e[0] / 6.0);
    assert!(
        errors[0] < 0.02f64.powi(3) / 0.15f64.powi(2) && third,
        "{errors:?}"
    );
}

/// Ground of triangles, fine or coarse, is as a half space, however deep; beyond its rim there is
/// nothing.
#[test]
fn a_height_field_is_ground_for_columns() {
    let (radius, cuts) = (0.2, 4);
    for depth in [0.01, 0.39, 0.7] {
        let pose = turned([0.2, 0.1, 0.7], [1.0, 1.1, radius - depth]);
        let mesh = || solid(&sphere(radius, cuts));
        let exact = wrench(
            &pressed((mesh(), pose), (half_space(), Pose::default())),
            Vec3::zeros(),
        );
        let ground = Shape::height_field(&[0.0; 4], 2, [2.0, 2.0]).unwrap();
        let found = pressed((mesh(), pose), (ground, Pose::default()));
        if depth > 2.0 * radius + 0.2 {
            // Their boxes are apart.
            assert!(found.is_empty());
            continue;
        }
        let found = wrench(&found, Vec3::zeros());
        // What its four corners, none of them in the patch, have as a share.
        assert!(
            (found.0 - exact.0).norm() < 1e-8 * exact.0.norm(),
            "{found:?} {exact:?}"
        );
        assert!(
            (found.1 - exact.1).norm() < 1e-8 * exact.0.norm(),
            "{found:?} {exact:?}"
        );
    }
    let ground = || Shape::height_field(&[0.0; 4], 2, [2.0, 2.0]).unwrap();
    let beside = pressed(
        (solid(&sphere(radius, cuts)), Pose::at([-0.2, 1.0, 0.19])),
        (ground(), Pose::default()),
    );
    assert!(
        beside.iter().all(|c| c.gap >= 0.0 && c.b.point[0] > -1e-12),
        "{}",
        beside.len()
    );
}

/// A sheet without an inside has columns and none of others: on a closed mesh it is as on a box.
#[test]
fn a_sheet_presses_on_a_closed_mesh() {
    let sheet = || {
        let (points, triangles) = plate([0.2, 0.1], 8);
        Shape::triangle_mesh(&points, &triangles, MeshKind::Surface).unwrap()
    };
    let pose = turned([0.02, 0.03, 0.4], [0.01, 0.02, 0.247]);
    let exact = pressed(
        (sheet(), pose),
        (Shape::cuboid([0.25; 3]).unwrap(), Pose::default()),
    );
    let found = pressed((sheet(), pose), (solid(&box_mesh([0.25; 3], 3)), Pose::default()));
    assert_eq!(
        exact.iter().filter(|c| c.gap < 0.0).count(),
        found.iter().filter(|c| c.gap < 0.0).count()
    );
    let (exact, found) = (wrench(&exact, Vec3::zeros()), wrench(&found, Vec3::zeros()));
    assert!(
        (exact.0 - found.0).norm() < 1e-12 * exact.0.norm(),
        "{exact:?} {found:?}"
    );
    assert!(
        (exact.1 - found.1).norm() < 1e-12 * exact.0.norm(),
        "{exact:?} {found:?}"
    );
}

/// A surface over points of a node has the inside of its triangles, whichever way they face: its
/// points are columns, and others press on it where they are nearest.
#[test]
fn soft_closed_surfaces_have_an_inside() {
    let (radius, thickness) = (0.2, 0.005);
    let (points, triangles) = sphere(radius, 3);
    let pose = turned([-0.5, 0.4, 0.1], [0.0, 0.1, 0.36]);
    let rigid = || solid(&sphere(radius, 3));
    let exact = pressed((rigid(), Pose::default()), (rigid(), pose));
    let sorted = |found: &[Contact]| {
        let mut gaps: Vec<f64> = found.iter().map(|c| c.gap).collect();
        gaps.sort_by(f64::total_cmp);
        gaps
    };
    let inside_out: Vec<[usize; 3]> = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    for triangles in [triangles, inside_out] {
        let mut m = Model::new();
        let node = m.add_particles("skin", &points).unwrap();
        let body = m.add_rigid_bodies("body", &[pose]).unwrap();
        let mut world = World::new();
        let material = world.add_material(soft()).unwrap();
        let skin = Shape::soft_triangles(&triangles, thickness).unwrap();
        let place = Placement::Body {
            node: body,
            element: 0,
            pose: Pose::default(),
        };
        world
            .add(Collider::new("skin", skin, Placement::Points(node)).with_material(material))
            .unwrap();
        world.add(Collider::new("body", rigid(), place)).unwrap();
        let found = contacts(&m, &mut world);
        let (of_rigid, of_skin) = (sorted(&exact), sorted(&found));
        let deep = of_rigid.iter().filter(|gap| **gap < 0.0).count();
        assert!(deep > 40 && of_skin.len() >= deep);
        for (gap, of_skin) in of_rigid.iter().zip(&of_skin).take(deep) {
            assert!((gap - thickness - of_skin).abs() < 1e-14, "{gap} {of_skin}");
        }
        // Each is where its weights say, and columns of both have half of their areas.
        let mut columns = [0, 0];
        for c in &found {
            let Carrier::Points {
                count,
                elements,
                weights,
                ..
            } = c.a.carrier
            else {
                panic!("{c:?}");
            };
            let place: Vec3 = (0..count)
                .map(|k| Vec3::from(points[elements[k]]) * weights[k])
                .sum();
            let on = place + Vec3::from(c.normal) * thickness;
            assert!((on - Vec3::from(c.a.point)).norm() < 1e-14);
            columns[usize::from(count == 1)] += 1;
        }
        assert!(columns[0] > 20 && columns[1] > 20, "{columns:?}");
        // A sixth of the mean area of triangles at six corners.
        let mean = 4.0 * PI * radius * radius / points.len() as f64;
        assert!(
            found
                .iter()
                .all(|c| (0.5 * mean * c.material.compliance / F - 1.0).abs() < 0.3)
        );
    }
}

/// Two spheres of triangles in space that strike each other.
fn strike(friction: f64, threads: usize) -> Simulation {
    let mut m = Model::new();
    let poses = [
        turned([0.1, 0.2, 0.3], [0.0; 3]),
        turned([0.5, -0.2, 0.1], [0.1, 0.05, 0.45]),
    ];
    let node = m.add_rigid_bodies("balls", &poses).unwrap();
    let masses = [RigidMass::sphere(2.0, 0.2), RigidMass::sphere(3.0, 0.2)];
    m.add_mass("mass", node, Mass::Rigid(masses.into())).unwrap();
    m.set_body_velocity(node, 0, [0.0, 0.0, 1.0], [0.3, 0.0, 2.0])
        .unwrap();
    m.set_body_velocity(node, 1, [0.0, 0.1, -0.5], [0.0, 1.0, 0.0])
        .unwrap();
    let mut world = World::new();
    let material = Material {
        friction,
        foundation: 2e-7,
        ..Material::default()
    };
    let material = world.add_material(material).unwrap();
    for element in 0..2 {
        let place = Placement::Body {
            node,
            element,
            pose: Pose::default(),
        };
        let ball = Collider::new(&format!("ball {element}"), solid(&sphere(0.2, 3)), place);
        world.add(ball.with_material(material)).unwrap();
    }
    let mut s = Simulation::new(m).unwrap();
    s.options.tuning.solver.threads = threads;
    s.set_contacts(world).unwrap();
    s
}

/// Momentum and angular momentum about the origin of two balls of the masses 2 and 3 kg.
fn momenta(s: &Simulation, node: NodeId) -> (Vec3, Vec3) {
    let (x, v) = (s.positions(node), s.velocities(node));
    let mut sum = (Vec3::zeros(), Vec3::zeros());
    for (k, mass) in [2.0, 3.0].into_iter().enumerate() {
        let place = Vec3::from_column_slice(&x[7 * k..7 * k + 3]);
        let turn = [3, 4, 5, 6].map(|i| x[7 * k + i]);
        let linear = Vec3::from_column_slice(&v[6 * k..6 * k + 3]) * mass;
        let spin = rotation::rotate(turn, Vec3::from_column_slice(&v[6 * k + 3..6 * k + 6]));
        sum.0 += linear;
        sum.1 += place.cross(&linear) + spin * (0.4 * mass * 0.04);
    }
    sum
}

/// Forces are opposite, so that momentum stays to rounding, and angular momentum to what bodies
/// turn while a step has its directions: of the first order of its length, as energy is across an
/// impact. Friction acts on both surfaces, which are as far apart as the columns are deep. What is
/// stored in columns comes out again.
#[test]
fn meshes_that_strike_keep_their_momentum() {
    for friction in [0.0, 0.6] {
        for h in [2e-3, 1e-3, 5e-4] {
            let mut s = strike(friction, 1);
            let node = s.model().node_named("balls").unwrap();
            let before = momenta(&s, node);
            let first = s.step(h).unwrap().energies.total();
            let (mut energy, mut stored, mut turned) = (first, 0.0f64, 0.0f64);
            while s.time() < 0.12 {
                let report = s.step(h).unwrap();
                let now = report.energies.total();
                // Across an impact a step is of the first order; a mesh on a ball gains as much.
                assert!(now < energy + 0.3 * h, "{now} {energy}");
                (energy, stored) = (now, stored.max(report.contacts.stored));
                let after = momenta(&s, node);
                assert!((after.0 - before.0).norm() < 1e-11, "{after:?}");
                turned = turned.max((after.1 - before.1).norm());
                let f = [0, 1].map(|k| Vec3::from(s.contact_force(node, k).0));
                assert!((f[0] + f[1]).norm() <= 1e-12 * (1.0 + f[0].norm()));
            }
            println!("{friction} {h}: {} {stored} {turned}", first - energy);
            assert!(stored > 1.1 && s.contacts().iter().all(|c| c.contact.gap > 0.0));
            let deepest = 0.04;
            let most = 0.25 * h + friction * deepest * 0.1;
            assert!(turned < most, "{turned} {most}");
            assert!(friction > 0.0 || first - energy < 40.0 * h, "{first} {energy}");
        }
    }
}

/// The same bits on any number of threads, and from a checkpoint in the middle of an impact.
#[test]
fn meshes_strike_to_the_same_bits() {
    let mut whole = strike(0.6, 1);
    let (mut saved, mut behind) = (None, 0);
    while behind < 60 {
        let stored = whole.step(0.002).unwrap().contacts.stored;
        behind += usize::from(saved.is_some());
        if saved.is_none() && stored > 0.1 {
            saved = Some(whole.checkpoint());
        }
    }
    for threads in [1, 3] {
        let mut rest = strike(0.6, threads);
        rest.restore(saved.as_ref().unwrap()).unwrap();
        (0..60).for_each(|_| {
            rest.step(0.002).unwrap();
        });
        assert_eq!(rest.checkpoint(), whole.checkpoint());
    }
}

/// A sphere of triangles dropped on a box of triangles comes to rest with its weight, at the depth
/// of the same sphere on a half space; energy never grows, and nothing is allocated.
#[test]
fn a_mesh_comes_to_rest_on_a_mesh() {
    let rest = |ground: Shape, place: Pose| {
        let mut m = Model::new();
        m.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let b = m
            .add_rigid_bodies("ball", &[turned([0.1, 0.2, 0.3], [0.0, 0.0, 0.22])])
            .unwrap();
        m.add_mass("mass", b, Mass::Rigid(vec![RigidMass::sphere(50.0, 0.2)]))
            .unwrap();
        let mut world = World::new();
        let material = Material {
            friction: 0.5,
            relaxation_time: 0.02,
            foundation: 1e-7,
            ..Material::default()
        };
        let material = world.add_material(material).unwrap();
        world
            .add(Collider::new("ground", ground, Placement::Fixed(place)))
            .unwrap();
        let place = Placement::Body {
            node: b,
            element: 0,
            pose: Pose::default(),
        };
        world
            .add(Collider::new("ball", solid(&sphere(0.2, 3)), place).with_material(material))
            .unwrap();
        let mut s = Simulation::new(m).unwrap();
        s.set_contacts(world).unwrap();
        let mut last = f64::INFINITY;
        for _ in 0..600 {
            let now = s.step(0.005).unwrap().energies.total();
            // By what the solver of contacts leaves.
            assert!(now < last + 1e-6, "{now} {last}");
            last = now;
        }
        let weight = s.contact_force(b, 0).0[2] / (50.0 * 9.81) - 1.0;
        println!("{weight:e} {}", s.positions(b)[2]);
        assert!(weight.abs() < 1e-8, "{weight}");
        let counted = allocation_counter::measure(|| {
            for _ in 0..20 {
                s.step(0.005).unwrap();
            }
        });
        assert_eq!(counted.count_total, 0);
        s.positions(b)[2]
    };
    let on_box = rest(solid(&box_mesh([0.4, 0.4, 0.2], 1)), Pose::at([0.0, 0.0, -0.2]));
    let exact = rest(half_space(), Pose::default());
    // The corners of the box have a share of 3.4e-6, and the force goes with the square of the
    // depth.
    assert!(
        (on_box - exact).abs() < 2.5e-6 * (0.2 - exact),
        "{on_box} {exact}"
    );
}
