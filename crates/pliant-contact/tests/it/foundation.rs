//! Columns of meshes on meshes, against distances over all triangles and winding numbers; meshes of
//! all kinds of garbage.

use pliant_contact::{
    Carrier, Collider, Contact, ContactError, DistanceField, Material, MeshKind, Placement, Shape,
    StraightWay, World,
};
use pliant_dense::{Vec3, rotation};
use pliant_model::{Model, NodeId, Pose, State};

use crate::rig::{Random, aligned, crate_mesh, crate_points, crate_triangles};

type Solid = (Vec<[f64; 3]>, Vec<[usize; 3]>);

/// Two bodies with a foundation, seen from so far that all points within reach are listed.
fn pair(shapes: [Shape; 2], poses: [Pose; 2], margin: f64) -> (Model, NodeId, World, State) {
    let mut model = Model::new();
    let bodies = model.add_rigid_bodies("bodies", &poses).unwrap();
    let mut world = World::new();
    let foundation = Material {
        foundation: 1e-8,
        ..Material::default()
    };
    let material = world.add_material(foundation).unwrap();
    for (element, shape) in shapes.into_iter().enumerate() {
        let place = Placement::Body {
            node: bodies,
            element,
            pose: Pose::default(),
        };
        let collider = Collider::new(&format!("body {element}"), shape, place).with_material(material);
        world.add(collider.with_margin(margin / 2.0)).unwrap();
    }
    let state = model.initial_state().unwrap();
    (model, bodies, world, state)
}

fn update(model: &Model, world: &mut World, state: &State) -> Vec<Contact> {
    world
        .update(model, &state.positions, &state.velocities, 0.0)
        .unwrap()
        .to_vec()
}

/// A prism over an L, which has a concave edge, with all points of its outline above each other and
/// in thirds of its height.
fn angle_iron() -> Solid {
    let outline = [
        [0.0, 0.0],
        [0.6, 0.0],
        [0.6, 0.2],
        [0.2, 0.2],
        [0.2, 0.5],
        [0.0, 0.5],
    ];
    let n = outline.len();
    let mut points = Vec::new();
    for level in 0..4 {
        points.extend(outline.map(|[x, y]| [x, y, 0.2 * f64::from(level)]));
    }
    let mut triangles = Vec::new();
    for level in 0..3 {
        for k in 0..n {
            let (a, b) = (level * n + k, level * n + (k + 1) % n);
            triangles.extend([[a, b, b + n], [a, b + n, a + n]]);
        }
    }
    // Two rectangles, cut so that the concave corner is one of theirs.
    for [a, b, c] in [[0, 1, 3], [1, 2, 3], [0, 3, 5], [3, 4, 5]] {
        triangles.extend([[a, c, b], [a + 3 * n, b + 3 * n, c + 3 * n]]);
    }
    (points, triangles)
}

/// A thin tetrahedron, whose edges and corners are sharper than a right angle.
fn spike() -> Solid {
    let points = vec![
        [-0.02, 0.0, 0.0],
        [0.04, 0.03, 0.0],
        [0.04, -0.03, 0.0],
        [0.1, 0.01, 0.8],
    ];
    (points, vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])
}

fn mesh(solid: &Solid) -> Shape {
    Shape::triangle_mesh(&solid.0, &solid.1, MeshKind::Solid).unwrap()
}

/// The distance of a point from a triangle, by its plane and its sides.
fn from_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> f64 {
    let normal = (b - a).cross(&(c - a)).normalize();
    let over = [(a, b), (b, c), (c, a)]
        .iter()
        .all(|(x, y)| normal.dot(&(y - x).cross(&(p - x))) >= 0.0);
    let side = |x: Vec3, y: Vec3| {
        let t = ((p - x).dot(&(y - x)) / (y - x).norm_squared()).clamp(0.0, 1.0);
        (p - x - (y - x) * t).norm()
    };
    match over {
        true => (p - a).dot(&normal).abs(),
        false => side(a, b).min(side(b, c)).min(side(c, a)),
    }
}

/// The part of all directions that a triangle takes up from a point (Van Oosterom and Strackee
/// 1983).
fn solid_angle(p: Vec3, corners: [Vec3; 3]) -> f64 {
    let [a, b, c] = corners.map(|x| x - p);
    let [i, j, k] = [a, b, c].map(|x| x.norm());
    let below = i * j * k + a.dot(&b) * k + b.dot(&c) * i + c.dot(&a) * j;
    2.0 * a.dot(&b.cross(&c)).atan2(below)
}

/// Distance of a point from a solid, negative where it winds about it.
fn signed((points, triangles): &Solid, pose: &Pose, p: [f64; 3]) -> f64 {
    let away = Vec3::from(p) - Vec3::from(pose.position);
    let local = rotation::rotate(rotation::conjugate(pose.rotation), away);
    let of = |t: &[usize; 3]| t.map(|k| Vec3::from(points[k]));
    let nearest = triangles.iter().map(|t| from_triangle(local, of(t)));
    let winding: f64 = triangles.iter().map(|t| solid_angle(local, of(t))).sum();
    nearest.fold(f64::INFINITY, f64::min) * if winding > 6.0 { -1.0 } else { 1.0 }
}

/// Every point of each of two solids with concave edges has its distance from all triangles of the
/// other one, with the sign of the winding number, and all points within the margin are listed.
#[test]
fn columns_have_the_distance_from_all_triangles() {
    let (first, second) = (angle_iron(), (crate_points([0.3; 3]), crate_triangles()));
    let spike = spike();
    let mut random = Random(5);
    let (mut listed, mut deep) = (0, 0);
    for case in 0..400 {
        let solids = match case % 4 {
            0 => [&first, &first],
            1 => [&first, &second],
            2 => [&second, &first],
            _ => [&spike, &first],
        };
        let poses = [random.pose(0.3), random.pose(0.3)];
        let margin = 0.05;
        let (model, _, mut world, state) = pair(solids.map(mesh), poses, margin);
        let found = update(&model, &mut world, &state);
        let mut counts = [0, 0];
        for c in &found {
            assert!(
                aligned(c) && (Vec3::from(c.normal).norm() - 1.0).abs() < 1e-12,
                "{c:?}"
            );
            // Which side is a point of its mesh and which one on the other, by the names.
            let distances = [
                signed(solids[1], &poses[1], c.a.point),
                signed(solids[0], &poses[0], c.b.point),
            ];
            let own = usize::from((distances[1] - c.gap).abs() < (distances[0] - c.gap).abs());
            assert!(
                (distances[own] - c.gap).abs() < 1e-12,
                "{case}: {distances:?} {c:?}"
            );
            counts[own] += 1;
            deep += usize::from(c.gap < -0.01);
        }
        let expected: usize = [0, 1]
            .map(|own| {
                let place = |p: &[f64; 3]| -> [f64; 3] {
                    let away = rotation::rotate(poses[own].rotation, Vec3::from(*p));
                    (away + Vec3::from(poses[own].position)).into()
                };
                let other = 1 - own;
                let within = |p: &&[f64; 3]| signed(solids[other], &poses[other], place(p)) <= margin;
                solids[own].0.iter().filter(within).count()
            })
            .iter()
            .sum();
        assert_eq!(found.len(), expected, "{case}");
        listed += found.len();
    }
    assert!(listed > 1000 && deep > 500, "{listed} {deep}");
}

/// Contacts do not depend on where bodies were when their trees were built: boxes that lie on each
/// other, whose points are as far from several triangles.
#[test]
fn trees_show_in_no_contact() {
    let boxes = || {
        [
            crate_mesh([0.2, 0.3, 0.1], MeshKind::Solid),
            crate_mesh([0.2; 3], MeshKind::Solid),
        ]
    };
    let at = Pose::turned([0.0, 0.1, 0.29], [0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2);
    let plain = |contacts: Vec<Contact>| -> Vec<Contact> {
        let named = contacts.into_iter().map(|c| Contact { age: 0, ..c });
        named.collect()
    };
    let mut random = Random(3);
    let (model, _, mut world, state) = pair(boxes(), [at, Pose::default()], 0.5);
    let expected = plain(update(&model, &mut world, &state));
    assert!(expected.len() == 16, "{}", expected.len());
    for _ in 0..20 {
        let (other, _, mut world, begin) = pair(boxes(), [random.pose(0.2), random.pose(0.2)], 0.5);
        let memory = world.memory().clone();
        update(&other, &mut world, &begin);
        world.set_memory(memory).unwrap();
        assert_eq!(plain(update(&other, &mut world, &state)), expected);
    }
}

/// Meshes that pass through themselves, closed surfaces without a volume, points at one place, and
/// numbers from tiny to huge: contacts of finite numbers.
#[test]
fn garbage_gives_finite_contacts_or_none() {
    let mut random = Random(11);
    let (corners, faces) = (crate_points([0.2; 3]), crate_triangles());
    let through: Solid = {
        let shifted = corners.iter().map(|p| [p[0] + 0.15, p[1] + 0.1, p[2] - 0.07]);
        let points = corners.iter().copied().chain(shifted).collect();
        let twice = faces.iter().flat_map(|t| [*t, t.map(|k| k + 8)]);
        (points, twice.collect())
    };
    let finite = |found: &[Contact]| {
        for c in found {
            let numbers = [c.gap, c.material.compliance].into_iter().chain(c.normal);
            let mut all = numbers.chain(c.a.point).chain(c.b.point);
            assert!(all.all(f64::is_finite) && c.material.compliance > 0.0, "{c:?}");
            assert!((Vec3::from(c.normal).norm() - 1.0).abs() < 1e-9, "{c:?}");
        }
        found.len()
    };
    let mut count = 0;
    for case in 0..200 {
        let scale = [1.0, 1e-5, 1e5, 1e-9][case % 4];
        let scaled = |solid: &Solid| -> Solid {
            let points = solid.0.iter().map(|p| p.map(|x| x * scale)).collect();
            (points, solid.1.clone())
        };
        let poses = [random.pose(0.2 * scale), random.pose(0.2 * scale)];
        let shapes = [&through, &through].map(|s| mesh(&scaled(s)));
        let (model, _, mut world, state) = pair(shapes, poses, 0.1 * scale);
        count += finite(&update(&model, &mut world, &state));
    }
    assert!(count > 1000, "{count}");
    // Over points of a node: collapsed into a plane, a line, a point, and inside out.
    for case in 0..60 {
        let flat = |p: &[f64; 3]| match case % 4 {
            0 => [p[0], p[1], 0.0],
            1 => [p[0], 0.0, 0.0],
            2 => [0.0; 3],
            _ => [-p[0], p[1], p[2]],
        };
        let points: Vec<[f64; 3]> = corners.iter().map(flat).collect();
        let mut model = Model::new();
        let node = model.add_particles("points", &points).unwrap();
        let body = model.add_rigid_bodies("body", &[random.pose(0.2)]).unwrap();
        let mut world = World::new();
        let foundation = Material {
            foundation: 1e-8,
            ..Material::default()
        };
        let material = world.add_material(foundation).unwrap();
        let soft = Shape::soft_triangles(&faces, 0.01).unwrap();
        let soft = Collider::new("soft", soft, Placement::Points(node)).with_material(material);
        world.add(soft).unwrap();
        let place = Placement::Body {
            node: body,
            element: 0,
            pose: Pose::default(),
        };
        let rigid = Collider::new("rigid", mesh(&through), place);
        world.add(rigid.with_margin(0.1)).unwrap();
        let state = model.initial_state().unwrap();
        let found = update(&model, &mut world, &state);
        finite(&found);
        for c in &found {
            let Carrier::Points { count, weights, .. } = c.a.carrier else {
                panic!("{c:?}");
            };
            let sum: f64 = weights[..count].iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{case}: {c:?}");
        }
    }
}

/// A search takes no more than it may, and rounding of places far from the origin is no depth.
#[test]
fn searches_end_and_say_so() {
    let boxes = || {
        [
            crate_mesh([0.2; 3], MeshKind::Solid),
            crate_mesh([0.2; 3], MeshKind::Solid),
        ]
    };
    let (model, _, mut world, state) = pair(boxes(), [Pose::at([0.0, 0.0, 0.3]), Pose::default()], 0.0);
    update(&model, &mut world, &state);
    let needed = world.tests();
    assert!(needed > 10);
    for most in 0..needed {
        world.set_most_tests(most);
        let found = world.update(&model, &state.positions, &state.velocities, 0.0);
        assert!(
            matches!(found, Err(ContactError::TooManyTests { .. })),
            "{most} of {needed}"
        );
    }
    let far = [Pose::at([1e6, 0.0, 0.0]), Pose::at([1e6, 0.0, 0.39])];
    let (model, _, mut world, state) = pair(boxes(), far, 1e-4);
    // Corners lie on the sides of the other, to the rounding of their places.
    let found = update(&model, &mut world, &state);
    assert!(
        found.len() == 8 && found.iter().all(|c| c.gap.abs() < 1e-9),
        "{found:?}"
    );
}

/// Surfaces that press by columns may pass through each other where others may not.
#[test]
fn pairs_with_columns_may_overlap() {
    let boxes = [
        crate_mesh([0.2; 3], MeshKind::Solid),
        crate_mesh([0.2, 0.2, 0.1], MeshKind::Solid),
    ];
    let at = [Pose::default(), Pose::at([0.03, 0.05, 0.25])];
    let (model, _, mut world, state) = pair(boxes, at, 1e-3);
    world.check_thickness().unwrap();
    world
        .check_apart(&model, &state.positions, &state.velocities)
        .unwrap();
    // A sheet from above a box into it; without a foundation it would be stopped.
    for foundation in [0.0, 1e-8] {
        let mut model = Model::new();
        let points = [[-0.05, 0.0, 0.15], [0.05, 0.0, 0.15], [0.0, 0.05, 0.15]];
        let sheet = model.add_particles("sheet", &points).unwrap();
        let mut world = World::new();
        let material = Material {
            foundation,
            ..Material::default()
        };
        let material = world.add_material(material).unwrap();
        let soft = Shape::soft_triangles(&[[0, 1, 2]], 0.01).unwrap();
        let soft = Collider::new("sheet", soft, Placement::Points(sheet)).with_material(material);
        world.add(soft).unwrap();
        let rigid = crate_mesh([0.2, 0.2, 0.1], MeshKind::Solid);
        world
            .add(Collider::new("box", rigid, Placement::Fixed(Pose::default())))
            .unwrap();
        let state = model.initial_state().unwrap();
        let down = |x: &f64| if *x == 0.15 { 0.05 } else { *x };
        let end: Vec<f64> = state.positions.iter().map(down).collect();
        let velocities: Vec<f64> = end.iter().zip(&state.positions).map(|(e, s)| e - s).collect();
        let way = StraightWay {
            start: &state.positions,
            end: &end,
            velocities: &velocities,
            horizon: 1.0,
        };
        let crossed = world.find_crossed(&model, way).unwrap();
        assert_eq!(crossed.contacts.is_empty(), foundation > 0.0);
    }
}

/// Columns keep their names while they move in the other mesh, those of either mesh though their
/// points have the same numbers.
#[test]
fn columns_keep_their_names() {
    let iron = angle_iron();
    let poses = [
        Pose::turned([0.1, 0.0, 0.5], [1.0, 2.0, 0.5], 0.4),
        Pose::default(),
    ];
    let (model, bodies, mut world, mut state) = pair([mesh(&iron), mesh(&iron)], poses, 0.4);
    // Which mesh has the column, and where it stands on it.
    let column = |c: &Contact| {
        let places = [&c.a, &c.b].map(|side| match side.carrier {
            Carrier::Body { local, .. } => Vec3::from(local),
            _ => panic!("{c:?}"),
        });
        let own = |k: usize| {
            let on = |p: &[f64; 3]| (Vec3::from(*p) - places[k]).norm() < 1e-12;
            iron.0.iter().position(on).map(|point| (k, point))
        };
        (own(0), own(1))
    };
    let mut names = std::collections::BTreeMap::new();
    let mut seen = [0, 0];
    for _ in 0..30 {
        for c in update(&model, &mut world, &state) {
            let of = column(&c);
            let kept: &mut (Option<_>, Option<_>) = names.entry(c.key).or_insert(of);
            assert!(
                kept.0 == of.0 && of.0.is_some() || kept.1 == of.1 && of.1.is_some(),
                "{kept:?} {of:?}"
            );
            seen[usize::from(of.1.is_some())] += 1;
        }
        state.positions[model.node(bodies).position_range()][2] -= 0.003;
    }
    assert!(seen.iter().all(|n| *n > 100), "{seen:?}");
}

/// Points of a soft sheet are columns on a field that is level and no distance, three times as
/// steep, as on a half space: with their weights, without others. Beyond the grid there is nothing.
#[test]
fn soft_columns_stand_on_fields() {
    let points = [
        [0.0, 0.0, -0.01],
        [0.1, 0.0, -0.02],
        [0.0, 0.1, 0.004],
        [5.0, 0.0, -0.01],
    ];
    let at = |shape: Shape| {
        let mut model = Model::new();
        let node = model.add_particles("sheet", &points).unwrap();
        let mut world = World::new();
        let foundation = Material {
            foundation: 1e-8,
            ..Material::default()
        };
        let material = world.add_material(foundation).unwrap();
        world
            .add(Collider::new("ground", shape, Placement::Fixed(Pose::default())))
            .unwrap();
        let soft = Shape::soft_triangles(&[[0, 1, 2], [0, 2, 3]], 0.005).unwrap();
        let soft = Collider::new("sheet", soft, Placement::Points(node)).with_material(material);
        world.add(soft).unwrap();
        let state = model.initial_state().unwrap();
        update(&model, &mut world, &state)
    };
    let field = DistanceField::sampled([-0.3; 3], [0.3; 3], 0.05, |p| 3.0 * p[2]).unwrap();
    let found = at(Shape::distance_field(field));
    let exact = at(Shape::half_space([0.0, 0.0, 1.0]).unwrap());
    assert_eq!((found.len(), exact.len()), (3, 4));
    for (c, e) in found.iter().zip(&exact) {
        assert!(
            (c.gap - e.gap).abs() < 1e-14 && (c.normal[2] - 1.0).abs() < 1e-14,
            "{c:?} {e:?}"
        );
        assert_eq!(c.material, e.material);
        assert_eq!(c.b.carrier, e.b.carrier);
        assert!((Vec3::from(c.b.point) - Vec3::from(e.b.point)).norm() < 1e-14);
    }
}

/// Meshes at random places in fields with waves, edges and holes: contacts of finite numbers.
#[test]
fn columns_on_any_field_are_finite() {
    let mut random = Random(23);
    let iron = angle_iron();
    let mut count = 0;
    for case in 0..60 {
        let formula = |p: [f64; 3]| match case % 3 {
            0 => p[2] - 0.1 * (9.0 * p[0]).sin() * (7.0 * p[1]).cos(),
            1 => p[0].abs().max(p[1].abs()).max(p[2].abs()) - 0.4,
            _ => (p[0].hypot(p[1]) - 0.4).hypot(p[2]) - 0.15,
        };
        let field = DistanceField::sampled([-0.8; 3], [0.8; 3], 0.08, formula).unwrap();
        let poses = [random.pose(0.4), random.pose(0.1)];
        let (model, _, mut world, state) = pair([mesh(&iron), Shape::distance_field(field)], poses, 0.02);
        let found = update(&model, &mut world, &state);
        count += found.len();
        for c in &found {
            assert!(
                aligned(c) && c.gap.is_finite() && c.gap <= 0.02 && c.gap > -0.8,
                "{c:?}"
            );
            assert!((Vec3::from(c.normal).norm() - 1.0).abs() < 1e-12 && c.material.compliance > 0.0);
        }
    }
    assert!(count > 200, "{count}");
}

/// Two boxes of twelve triangles each, whose corners are in neither: columns of their points carry
/// nothing, and they are refused.
#[test]
fn meshes_without_points_in_a_patch_are_refused() {
    let boxes = [0, 1].map(|_| crate_mesh([0.2, 0.3, 0.1], MeshKind::Solid));
    let at = [
        Pose::default(),
        Pose::turned([0.0, 0.0, 0.15], [0.0, 0.0, 1.0], 0.7),
    ];
    let (model, _, mut world, _) = pair(boxes, at, 1e-3);
    let refused = world.check_columns(&model).unwrap_err();
    let words = refused.to_string();
    let ContactError::CoarseFoundation { spacing, width, .. } = refused else {
        panic!("{words}");
    };
    // A square of twice the twelfth part of 0.88 m^2 has that side; of 0.2, 0.4 and 0.6 m the
    // width is the middle one.
    let side = (2.0 * 0.88 / 12.0f64).sqrt();
    assert!(
        (spacing - side).abs() < 1e-12 && (width - 0.4).abs() < 1e-12,
        "{words}"
    );
    assert!(
        words.contains("make the triangles of one of them smaller"),
        "{words}"
    );
}
