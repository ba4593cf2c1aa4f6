//! Distance fields against closed forms: spheres, planes, tori, boxes.

use pliant_contact::{
    Carrier, Collider, Contact, ContactError, DistanceField, MeshKind, Placement, Shape, World,
};
use pliant_dense::Vec3;
use pliant_model::{Model, Pose};

use crate::rig::{Random, Rig, aligned, crate_mesh, crate_points, crate_triangles, least_gap, touch};

/// A field of a function about the origin, in a cube with this half length.
fn about(half: f64, spacing: f64, f: impl Fn(Vec3) -> f64) -> DistanceField {
    // Off the middle, so that nothing is symmetric about the grid.
    let low = [
        -half - 0.31 * spacing,
        -half - 0.17 * spacing,
        -half - 0.43 * spacing,
    ];
    DistanceField::sampled(low, [half; 3], spacing, |p| f(p.into())).unwrap()
}

fn sphere(radius: f64, spacing: f64) -> DistanceField {
    about(radius + 4.0 * spacing, spacing, |p| p.norm() - radius)
}

fn torus(big: f64, small: f64, spacing: f64) -> DistanceField {
    about(big + small + 4.0 * spacing, spacing, |p| {
        (p.xy().norm() - big).hypot(p.z) - small
    })
}

fn shape(field: DistanceField) -> Shape {
    Shape::distance_field(field)
}

/// The least of the orders between three errors at spacings that halve.
fn order(errors: [f64; 3]) -> f64 {
    (errors[0] / errors[1]).log2().min((errors[1] / errors[2]).log2())
}

fn check(contacts: &[Contact]) {
    for c in contacts {
        assert!(c.swept || aligned(c), "{c:?}");
        assert!((Vec3::from(c.normal).norm() - 1.0).abs() < 1e-12);
    }
}

/// The values have errors of third order in the spacing or better, the gradients of second.
#[test]
fn values_and_gradients_converge() {
    let spacings = [0.1, 0.05, 0.025];
    let errors = spacings.map(|h| {
        let field = sphere(1.0, h);
        let mut random = Random(5);
        let mut worst = [0.0_f64; 2];
        for _ in 0..2000 {
            let n = Vec3::from(random.vector(1.0)).normalize();
            let p = n * (1.0 + h * (2.0 * random.next() - 1.0));
            let (value, slope) = field.at(p.into()).unwrap();
            worst[0] = worst[0].max((value - (p.norm() - 1.0)).abs());
            worst[1] = worst[1].max((Vec3::from(slope) - n).norm());
        }
        worst
    });
    assert!(order(errors.map(|e| e[0])) > 2.7, "{errors:?}");
    assert!(order(errors.map(|e| e[1])) > 1.8, "{errors:?}");
    assert!(errors[2][0] < 2e-6 && errors[2][1] < 2e-4, "{errors:?}");
}

/// The gradient is that of the values, by differences, also across cells and at the sides.
#[test]
fn gradients_are_those_of_the_values() {
    let field = torus(1.0, 0.4, 0.13);
    let mut random = Random(9);
    for case in 0..500 {
        let mut p = random.vector(1.4);
        if case % 5 == 0 {
            p[case % 3] = 1.4 + 4.0 * 0.13 - 1e-3;
        }
        let slope = field.at(p).unwrap().1;
        for k in 0..3 {
            let value = |d: f64| {
                let mut q = p;
                q[k] += d;
                field.at(q).unwrap().0
            };
            let difference = (value(1e-5) - value(-1e-5)) / 2e-5;
            assert!((difference - slope[k]).abs() < 1e-6, "{p:?} {k}");
        }
    }
    assert!(field.at([10.0, 0.0, 0.0]).is_none() && field.at([f64::NAN; 3]).is_none());
}

/// Gaps and normals of balls, planes, boxes and another sphere at a sphere in any direction: third
/// order in the spacing.
#[test]
fn a_sphere_meets_everything_with_an_error_of_third_order() {
    let others: [(&str, Shape, f64); 6] = [
        ("ball", Shape::ball(0.3).unwrap(), 0.3),
        ("huge ball", Shape::ball(30.0).unwrap(), 30.0),
        ("box", Shape::cuboid([3.0, 3.0, 0.5]).unwrap(), 0.5),
        ("capsule", Shape::capsule(2.0, 0.2).unwrap(), 0.2),
        ("cylinder", Shape::cylinder(2.0, 0.7).unwrap(), 0.7),
        ("half space", Shape::half_space([0.0, 0.0, 1.0]).unwrap(), 0.0),
    ];
    for (name, other, reach) in others {
        for depth in [0.02, -0.02] {
            let errors = [0.1, 0.05, 0.025].map(|h| {
                let field = shape(sphere(1.0, h));
                let mut random = Random(3);
                let mut worst = 0.0_f64;
                for _ in 0..40 {
                    // The other as it is, with the sphere turned above it.
                    let turn = random.pose(0.0);
                    let lying = matches!(name, "capsule" | "cylinder");
                    let up = if lying { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
                    let place = up.map(|x| x * (1.0 + reach + depth));
                    let pose = Pose {
                        position: place,
                        ..turn
                    };
                    let found = touch((field.clone(), pose), (other.clone(), Pose::default()), 0.05);
                    check(&found);
                    assert!(!found.is_empty(), "{name} {h} {depth}");
                    worst = worst.max((least_gap(&found) - depth).abs());
                    for c in &found {
                        let off = Vec3::from(c.normal) + Vec3::from(up);
                        assert!(off.norm() < 3.0 * h * h + 1e-9, "{name} {h} {depth} {c:?}");
                    }
                }
                worst
            });
            assert!(order(errors) > 2.4, "{name} {depth}: {errors:?}");
            assert!(errors[2] < 4e-6, "{name} {depth}: {errors:?}");
        }
    }
}

/// Two spheres, both fields.
#[test]
fn two_spheres_have_the_gap_of_their_centres() {
    let errors = [0.1, 0.05, 0.025].map(|h| {
        let (a, b) = (shape(sphere(1.0, h)), shape(sphere(0.5, 0.6 * h)));
        let mut random = Random(11);
        let mut worst = 0.0_f64;
        for k in 0..20 {
            let n = Vec3::from(random.vector(1.0)).normalize();
            let depth = if k % 2 == 0 { 0.01 } else { -0.01 };
            let place = Pose {
                position: (n * (1.5 + depth)).into(),
                ..random.pose(0.0)
            };
            let found = touch((a.clone(), Pose::default()), (b.clone(), place), 0.03);
            check(&found);
            assert!(!found.is_empty());
            worst = worst.max((least_gap(&found) - depth).abs());
        }
        worst
    });
    assert!(order(errors) > 2.4 && errors[2] < 2e-5, "{errors:?}");
}

/// A plane is exact, whatever the gradient of the function.
#[test]
fn a_plane_is_exact_for_every_shape() {
    let n = Vec3::new(0.2, -0.3, 1.0).normalize();
    for factor in [1.0, 0.3, 5.0] {
        let field = shape(about(2.0, 0.25, |p| factor * n.dot(&p)));
        let half = Vec3::new(0.3, 0.2, 0.4);
        let turned = Pose::turned([0.0; 3], [1.0, 2.0, -0.5], 0.7);
        let turn = pliant_dense::rotation::matrix(turned.rotation);
        let reach: f64 = (0..3).map(|k| half[k] * (turn.tr_mul(&n))[k].abs()).sum();
        let axis = turn.column(2).dot(&n).abs();
        let rim = 0.4 * axis + 0.2 * (1.0 - axis * axis).sqrt();
        let crate_mesh = crate_mesh(half.into(), MeshKind::Solid);
        for (name, other, reach) in [
            ("box", Shape::cuboid(half.into()).unwrap(), reach),
            ("mesh", crate_mesh, reach),
            ("ball", Shape::ball(0.3).unwrap(), 0.3),
            ("capsule", Shape::capsule(0.4, 0.2).unwrap(), 0.4 * axis + 0.2),
            ("cylinder", Shape::cylinder(0.4, 0.2).unwrap(), rim),
        ] {
            for depth in [1e-2, 0.0, -1e-2] {
                let pose = Pose {
                    position: (n * (reach + depth)).into(),
                    ..turned
                };
                let found = touch((field.clone(), Pose::default()), (other.clone(), pose), 0.03);
                check(&found);
                assert!(
                    (least_gap(&found) - depth).abs() < 1e-12,
                    "{name} {depth} {found:?}"
                );
                assert!((Vec3::from(found[0].normal) - n).norm() < 1e-12);
            }
        }
    }
}

/// A box lies flat on its four corners, and so does a box of a field on a plane, nearly.
#[test]
fn flat_things_lie_on_their_corners() {
    let ground = shape(about(1.0, 0.1, |p| p.z));
    let lying = (Shape::cuboid([0.3, 0.2, 0.1]).unwrap(), Pose::at([0.0, 0.0, 0.1]));
    let found = touch((ground, Pose::default()), lying, 0.01);
    assert_eq!(found.len(), 4);
    for c in &found {
        let p = c.a.point;
        assert!((p[0].abs() - 0.3).abs() < 1e-12 && (p[1].abs() - 0.2).abs() < 1e-12);
        assert!(c.gap.abs() < 1e-12);
    }
    let spacing = 0.02;
    let (points, triangles) = (crate_points([0.3, 0.2, 0.1]), crate_triangles());
    let crate_field = DistanceField::from_mesh(&points, &triangles, spacing).unwrap();
    for floor in [
        Shape::half_space([0.0, 0.0, 1.0]).unwrap(),
        Shape::cuboid([1.0, 1.0, 1.0]).unwrap(),
        shape(about(1.0, 0.07, |p| p.z)),
    ] {
        let below = if floor.surface().is_some_and(|s| s.0.len() == 8) {
            -1.0
        } else {
            0.0
        };
        let crate_field = (shape(crate_field.clone()), Pose::at([0.0, 0.0, 0.1]));
        let found = touch(crate_field, (floor, Pose::at([0.0, 0.0, below])), 0.01);
        assert_eq!(found.len(), 4, "{found:#?}");
        for c in &found {
            let p = c.a.point;
            // Beside the edges the cubic overshoots by up to a fifth of a spacing, all around
            // alike.
            assert!(c.gap.abs() < 0.25 * spacing, "{c:?}");
            assert!((c.gap - found[0].gap).abs() < 1e-2 * spacing, "{c:?}");
            assert!((c.normal[2] + 1.0).abs() < 1e-3, "{c:?}");
            assert!((p[0].abs() - 0.3).abs() < 2.0 * spacing, "{c:?}");
            assert!((p[1].abs() - 0.2).abs() < 2.0 * spacing, "{c:?}");
        }
    }
}

/// A ball goes through the hole of a torus that it fits in, and lies on one that it does not.
#[test]
fn a_ball_fits_through_a_hole_or_rests_on_it() {
    let (big, small) = (1.0, 0.3);
    let field = shape(torus(big, small, 0.05));
    let thin = touch(
        (field.clone(), Pose::default()),
        (Shape::ball(0.5).unwrap(), Pose::default()),
        0.1,
    );
    assert!(thin.is_empty(), "{thin:?}");
    // The centre of a ball of radius r that touches all around is at z^2 = (r + small)^2 - big^2.
    let r = 0.9_f64;
    let z = ((r + small).powi(2) - big * big).sqrt();
    let on = touch(
        (field.clone(), Pose::default()),
        (Shape::ball(r).unwrap(), Pose::at([0.0, 0.0, z])),
        0.01,
    );
    assert!(on.len() >= 3, "{on:?}");
    for c in &on {
        assert!(c.gap.abs() < 1e-4, "{c:?}");
        assert!((c.normal[2] - z / (r + small)).abs() < 1e-3, "{c:?}");
    }
    // They hold it from all sides.
    for k in 0..8 {
        let (sin, cos) = (f64::from(k) * 0.785).sin_cos();
        assert!(on.iter().any(|c| c.normal[0] * cos + c.normal[1] * sin > 0.2));
    }
    // A bar across the tube: the lowest place is inside an edge or a face of it.
    for turn in [0.0, std::f64::consts::FRAC_PI_4] {
        let reach = 0.1 * (f64::cos(turn) + f64::sin(turn));
        let pose = Pose::turned([0.0, 0.0, small + reach - 1e-3], [1.0, 0.0, 0.0], turn);
        let found = touch(
            (field.clone(), Pose::default()),
            (Shape::cuboid([2.0, 0.1, 0.1]).unwrap(), pose),
            0.01,
        );
        check(&found);
        assert!((least_gap(&found) + 1e-3).abs() < 1e-4, "{turn} {found:?}");
        for side in [-1.0, 1.0] {
            let there = |c: &&Contact| (c.a.point[0] - side * big).abs() < 0.05;
            assert!(found.iter().any(|c| there(&c)), "{turn} {found:?}");
        }
    }
}

/// The distance from a closed mesh of a box is that of the box, inside and outside.
#[test]
fn a_mesh_gives_the_distance_of_its_solid() {
    let half = Vec3::new(0.5, 0.4, 0.3);
    let (points, triangles) = (crate_points(half.into()), crate_triangles());
    let field = DistanceField::from_mesh(&points, &triangles, 0.05).unwrap();
    let exact = |p: Vec3| {
        let q = p.abs() - half;
        q.sup(&Vec3::zeros()).norm() + q.max().min(0.0)
    };
    // At the points of the grid, to rounding.
    let [nx, ny, nz] = field.counts();
    let mut at_points = 0;
    for k in 0..nx * ny * nz {
        let at = [k % nx, k / nx % ny, k / nx / ny];
        let place = |axis: usize| -half[axis] - 4.0 * 0.05 + 0.05 * at[axis] as f64;
        let p = [0, 1, 2].map(place);
        if let Some((value, _)) = field.at(p) {
            assert!((value - exact(p.into())).abs() < 1e-12, "{p:?} {value}");
            at_points += 1;
        }
    }
    assert!(at_points > 1000);
    let inside = touch(
        (shape(field), Pose::default()),
        (Shape::ball(0.05).unwrap(), Pose::at([0.1, -0.05, 0.22])),
        0.01,
    );
    assert_eq!(inside.len(), 1);
    assert!((inside[0].gap + 0.08 + 0.05).abs() < 1e-9 && (inside[0].normal[2] - 1.0).abs() < 1e-9);
}

/// A ball whose centre is inside matter is pushed out the shortest way and by nothing beyond it;
/// one whose centre is between two slabs touches both.
#[test]
fn a_ball_inside_matter_is_pushed_out_one_way() {
    let slabs = shape(about(1.0, 0.05, |p| p.z.min((p.z - 0.45).abs() - 0.15)));
    let at = |z: f64| {
        let ball = (Shape::ball(0.4).unwrap(), Pose::at([0.1, -0.2, z]));
        touch((slabs.clone(), Pose::default()), ball, 0.01)
    };
    let inside = at(-0.02);
    assert_eq!(inside.len(), 1, "{inside:?}");
    assert!((inside[0].gap + 0.42).abs() < 1e-9 && inside[0].normal[2] > 0.999);
    let between = at(0.1);
    assert_eq!(between.len(), 2, "{between:?}");
    for (sign, gap) in [(1.0, -0.3), (-1.0, -0.2)] {
        let like = |c: &Contact| (c.gap - gap).abs() < 1e-9 && c.normal[2] * sign > 0.999;
        assert!(between.iter().any(like), "{between:?}");
    }
}

/// Everything that is fast meets a thin plate of a field before it passes, and misses it beside.
#[test]
fn a_bullet_meets_a_plate_before_it_tunnels() {
    let h = 1.0 / 60.0;
    let plate = {
        let (points, triangles) = (crate_points([0.5, 0.5, 0.02]), crate_triangles());
        shape(DistanceField::from_mesh(&points, &triangles, 0.01).unwrap())
    };
    let half = [0.01, 0.02, 0.03];
    let bullets = [
        Shape::ball(0.01).unwrap(),
        Shape::cuboid(half).unwrap(),
        Shape::cylinder(0.02, 0.01).unwrap(),
        Shape::capsule(0.02, 0.01).unwrap(),
        crate_mesh(half, MeshKind::Solid),
        shape(sphere(0.02, 0.004)),
    ];
    for (k, bullet) in bullets.into_iter().enumerate() {
        for start in [0.5, 1.7, 4.0] {
            let v = Vec3::new(0.3, 0.0, -1.0).normalize() * 400.0;
            let from = Vec3::new(0.1, 0.2, 0.02) - v * (start / 400.0);
            let place = Pose::at(from.into());
            let mut rig = Rig::new(&[(bullet.clone(), place)]).fixed("plate", plate.clone());
            rig.state.velocities[..3].copy_from_slice(v.as_slice());
            let found = rig.contacts(h);
            assert!(!found.is_empty(), "{k} {start}");
            for c in &found {
                check(&[*c]);
                assert!(c.swept && c.normal[2] < -0.999, "{k} {start} {c:?}");
                assert!((c.gap - (from.z - 0.02)).abs() < 0.04, "{k} {start} {c:?}");
            }
            rig.state.positions[0] += 0.7;
            assert!(rig.contacts(h).is_empty(), "{k} {start}");
        }
    }
}

/// A cloth and points that fall fast meet it, too.
#[test]
fn soft_things_meet_a_field() {
    let dome = || shape(sphere(0.5, 0.05));
    for speed in [0.0, 60.0] {
        let n = 7;
        let z = 0.51 + speed / 120.0;
        let points: Vec<[f64; 3]> = (0..n * n)
            .map(|k| [(k % n) as f64 * 0.05 - 0.14, (k / n) as f64 * 0.05 - 0.16, z])
            .collect();
        let mut triangles = Vec::new();
        for y in 0..n - 1 {
            for x in 0..n - 1 {
                let k = y * n + x;
                triangles.extend([[k, k + 1, k + n + 1], [k, k + n + 1, k + n]]);
            }
        }
        let segments: Vec<[usize; 2]> = (0..n - 1).map(|k| [3 * n + k, 3 * n + k + 1]).collect();
        for soft in [
            Shape::soft_triangles(&triangles, 0.01).unwrap(),
            Shape::soft_segments(&segments, 0.01).unwrap(),
            Shape::soft_points(&(0..n * n).collect::<Vec<_>>(), 0.01).unwrap(),
        ] {
            let mut model = Model::new();
            let node = model.add_particles("points", &points).unwrap();
            let mut world = World::new();
            let place = Placement::Points(node);
            world
                .add(Collider::new("soft", soft, place).with_margin(0.02))
                .unwrap();
            let fixed = Placement::Fixed(Pose::default());
            world.add(Collider::new("dome", dome(), fixed)).unwrap();
            let mut state = model.initial_state().unwrap();
            state.velocities.chunks_exact_mut(3).for_each(|v| v[2] = -speed);
            let found = world.update(&model, &state.positions, &state.velocities, 1.0 / 60.0);
            let found = found.unwrap().to_vec();
            check(&found);
            // The highest point of the dome is below an edge or face; points are beside it.
            assert!((least_gap(&found) - (z - 0.51)).abs() < 5e-3, "{found:#?}");
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
                let on: Vec3 = (0..count)
                    .map(|k| Vec3::from(points[elements[k]]) * weights[k])
                    .sum();
                let surface = on + Vec3::from(c.normal) * 0.01;
                assert!((surface - Vec3::from(c.a.point)).norm() < 1e-6, "{c:?}");
            }
        }
    }
}

/// Rolling and sliding over a field keep the keys.
#[test]
fn rolling_and_sliding_keep_the_keys() {
    let ground = |spacing: f64| shape(about(2.0, spacing, |p| p.z));
    let keys = |list: &[Contact]| list.iter().map(|c| c.key.serial).collect::<Vec<_>>();
    let bowl = shape(about(2.0, 0.1, |p| 3.0 - (p - Vec3::new(0.0, 0.0, 3.0)).norm()));
    let round = shape(sphere(0.2, 0.02));
    for (floor, thing, count, z) in [
        (ground(0.1), Shape::ball(0.2).unwrap(), 1, 0.2),
        (ground(0.1), Shape::cuboid([0.2, 0.15, 0.2]).unwrap(), 4, 0.2),
        (bowl, Shape::ball(0.2).unwrap(), 1, 0.2),
        (Shape::half_space([0.0, 0.0, 1.0]).unwrap(), round.clone(), 1, 0.2),
        (ground(0.13), round, 1, 0.2),
    ] {
        let mut rig = Rig::new(&[(thing, Pose::at([-0.4, -0.1, z]))]).fixed("floor", floor);
        rig.state.velocities[..3].copy_from_slice(&[0.6, 0.3, 0.0]);
        rig.state.velocities[5] = 2.0;
        let mut first = Vec::new();
        for step in 0..60 {
            let now = rig.contacts(1.0 / 60.0);
            if step == 0 {
                first = keys(&now);
                assert_eq!(first.len(), count);
            }
            assert_eq!(keys(&now), first, "{step} {now:#?}");
            rig.advance(1.0 / 60.0);
        }
    }
}

/// A warm search allocates nothing, and finds the same bits.
#[test]
fn a_warm_update_with_fields_allocates_nothing() {
    let parts = [
        (Shape::ball(0.2).unwrap(), Pose::at([0.0, 0.0, 0.2])),
        (Shape::cuboid([0.2; 3]).unwrap(), Pose::at([1.0, 0.0, 0.2])),
        (Shape::cylinder(0.2, 0.2).unwrap(), Pose::at([-1.0, 0.0, 0.2])),
        (crate_mesh([0.2; 3], MeshKind::Solid), Pose::at([0.0, 1.0, 0.2])),
        (shape(sphere(0.2, 0.05)), Pose::at([0.0, -1.0, 0.2])),
        (shape(sphere(0.2, 0.05)), Pose::at([0.05, -1.0, 0.59])),
        (Shape::ball(0.1).unwrap(), Pose::at([1.5, 1.0, 3.0])),
    ];
    let mut rig = Rig::new(&parts).fixed("ground", shape(about(2.0, 0.1, |p| p.z)));
    rig.state.velocities[6 * 6 + 2] = -300.0;
    let first = rig.contacts(0.01);
    assert!(first.len() > 10 && first.iter().any(|c| c.swept));
    let second = rig.contacts(0.01);
    for (a, b) in first.iter().zip(&second) {
        assert_eq!((a.gap, a.normal, a.key), (b.gap, b.normal, b.key));
    }
    rig.contacts(0.01);
    let Rig {
        model, world, state, ..
    } = &mut rig;
    let count = allocation_counter::measure(|| {
        world
            .update(model, &state.positions, &state.velocities, 0.01)
            .unwrap();
    });
    assert_eq!(count.count_total, 0, "{count:?}");
}

/// Bad grids are errors that say what is wrong.
#[test]
fn bad_fields_are_errors() {
    let good: Vec<f64> = (0..64).map(|k| f64::from(k % 4) - 1.5).collect();
    let new = |counts, spacing, origin, values: &[f64]| {
        DistanceField::new(counts, spacing, origin, values.to_vec()).map(|_| ())
    };
    assert!(new([4; 3], [1.0; 3], [0.0; 3], &good).is_ok());
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        for k in 0..3 {
            let mut spacing = [1.0; 3];
            spacing[k] = bad;
            assert!(new([4; 3], spacing, [0.0; 3], &good).is_err());
        }
        assert!(DistanceField::sampled([-1.0; 3], [1.0; 3], bad, |p| p[2]).is_err());
        assert!(DistanceField::from_mesh(&crate_points([1.0; 3]), &crate_triangles(), bad).is_err());
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200] {
        let mut values = good.clone();
        values[7] = bad;
        assert!(new([4; 3], [1.0; 3], [0.0; 3], &values).is_err());
        assert!(new([4; 3], [1.0; 3], [bad; 3], &good).is_err());
        assert!(DistanceField::sampled([bad; 3], [1.0; 3], 0.1, |p| p[2]).is_err());
        assert!(DistanceField::sampled([-1.0; 3], [bad; 3], 0.1, |p| p[2]).is_err());
        assert!(DistanceField::sampled([-1.0; 3], [1.0; 3], 0.5, |_| bad).is_err());
    }
    let text = |result: Result<(), ContactError>| result.unwrap_err().to_string();
    assert_eq!(
        text(new([4, 3, 4], [1.0; 3], [0.0; 3], &good)),
        "a distance field needs at least 4 points of its grid along each axis, found 3"
    );
    assert_eq!(
        text(new([4; 3], [1.0; 3], [0.0; 3], &good[1..])),
        "a distance field needs 64 values, found 63"
    );
    assert_eq!(
        text(new([4; 3], [1.0; 3], [0.0; 3], &[1.0; 64])),
        "a distance field has no negative value: there is no matter in its grid"
    );
    assert!(text(new([4; 3], [1.0; 3], [0.0; 3], &[-1.0; 64])).contains("negative values only"));
    assert!(text(new([usize::MAX; 3], [1.0; 3], [0.0; 3], &good)).contains("more than"));
    assert!(new([4; 3], [1.0; 3], [1e12; 3], &good).is_err());
    let many = DistanceField::sampled([-1.0; 3], [1.0; 3], 1e-6, |p| p[2]).map(|_| ());
    assert!(text(many).contains("more than 33554432 values"));
    let open = DistanceField::from_mesh(&crate_points([1.0; 3]), &crate_triangles()[1..], 0.1);
    assert!(matches!(open, Err(ContactError::Edge { .. })));
    let inward: Vec<[usize; 3]> = crate_triangles().iter().map(|t| [t[0], t[2], t[1]]).collect();
    assert!(DistanceField::from_mesh(&crate_points([1.0; 3]), &inward, 0.1).is_err());
    assert!(DistanceField::from_mesh(&[], &[], 0.1).is_err());
}

/// Fields of noise, of jumps and of steep slopes against everything, anywhere and fast: contacts of
/// finite numbers.
#[test]
fn wild_fields_give_finite_contacts() {
    let mut random = Random(29);
    for case in 0..120 {
        let scale = [1.0, 1e-6, 1e6, 1e-3][case % 4];
        let steep = [1.0, 1e-8, 1e8, 1e60][case / 4 % 4];
        let values: Vec<f64> = (0..216)
            .map(|k| {
                let x = random.next() - 0.5;
                steep * [x, x.signum(), (x * 4.0).round(), f64::from(k % 6) - 2.5][case % 3 + case / 100]
            })
            .collect();
        let Ok(field) = DistanceField::new([6; 3], [0.4 * scale; 3], [-scale; 3], values) else {
            continue;
        };
        let field = shape(field);
        let others = [
            Shape::ball(scale).unwrap(),
            Shape::cuboid([scale; 3]).unwrap(),
            Shape::capsule(scale, 0.1 * scale).unwrap(),
            Shape::cylinder(scale, 0.5 * scale).unwrap(),
            crate_mesh([scale; 3], MeshKind::Solid),
            crate_mesh([scale; 3], MeshKind::Surface),
            Shape::half_space([0.0, 0.0, 1.0]).unwrap(),
            field.clone(),
        ];
        let other = others[case / 3 % others.len()].clone();
        for speed in [0.0, 1.0, 1e4] {
            let pose = random.pose(scale);
            let mut rig = Rig::new(&[(field.clone(), Pose::default()), (other.clone(), pose)]);
            rig.state.velocities.fill(speed * scale);
            rig.state.velocities[7] = -speed * scale;
            for c in rig.contacts(0.01) {
                let numbers = c.a.point.iter().chain(&c.b.point).chain([&c.gap]);
                assert!(numbers.into_iter().all(|x| x.is_finite()), "{case} {c:?}");
                assert!((Vec3::from(c.normal).norm() - 1.0).abs() < 1e-9, "{case} {c:?}");
            }
        }
    }
}
