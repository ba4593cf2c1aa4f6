//! Fast things: a contact before they pass, none where they miss.

use pliant_contact::{Carrier, MeshKind, Shape};
use pliant_dense::Vec3;
use pliant_model::Pose;

use crate::rig::{Rig, crate_mesh, least_gap, soft_and_ball};

const H: f64 = 1.0 / 60.0;

#[test]
fn a_bullet_meets_the_plate_before_it_tunnels() {
    let half = [0.5, 0.5, 0.001];
    let plates = [
        Shape::cuboid(half).unwrap(),
        Shape::convex_hull(&[
            [-0.5, -0.5, 0.0],
            [0.5, -0.5, 0.0],
            [0.5, 0.5, 0.0],
            [-0.5, 0.5, 0.0],
            [0.0, 0.0, -0.002],
        ])
        .unwrap(),
        crate_mesh(half, MeshKind::Solid),
        Shape::triangle_mesh(
            &[[-2.0, -2.0, 0.0], [2.0, -2.0, 0.0], [0.0, 3.0, 0.0]],
            &[[0, 1, 2]],
            MeshKind::Surface,
        )
        .unwrap(),
    ];
    for plate in plates {
        for start in [1.0, 4.0, 8.0] {
            // Oblique: aimed at (0.1, 0.2, 0).
            let v = Vec3::new(0.3, 0.0, -1.0).normalize() * 500.0;
            let from = Vec3::new(0.1, 0.2, 0.0) - v * (start / 500.0);
            let mut rig = Rig::new(&[(Shape::ball(0.005).unwrap(), Pose::at(from.into()))])
                .fixed("plate", plate.clone());
            rig.state.velocities[..3].copy_from_slice(v.as_slice());
            let found = rig.contacts(H);
            assert!(!found.is_empty(), "{start}");
            for c in &found {
                assert!(c.swept && c.normal[2] < -1.0 + 1e-9, "{c:?}");
                // The row lets it advance to the plate, and no farther.
                assert!(c.gap > 0.0 && c.gap + H * Vec3::from(c.normal).dot(&-v) < 0.0);
                assert!((c.gap - (from.z - 0.005)).abs() < 2.1e-3, "{} {}", c.gap, from.z);
            }
        }
    }
}

#[test]
fn a_bullet_that_misses_makes_no_contact() {
    let mut rig = Rig::new(&[
        (Shape::ball(0.005).unwrap(), Pose::at([0.51, 0.0, 4.0])),
        (Shape::cuboid([0.5, 0.5, 0.001]).unwrap(), Pose::default()),
    ]);
    rig.state.velocities[2] = -500.0;
    assert!(rig.contacts(H).is_empty());
    rig.state.positions[0] = 0.504;
    assert_eq!(rig.contacts(H).len(), 1);
}

#[test]
fn a_spinning_bar_meets_a_ball_beside_it() {
    // A bar of 2 m that turns by 1.5 rad in a step sweeps over a ball that its translation (none)
    // never reaches.
    let mut rig = Rig::new(&[
        (Shape::cuboid([1.0, 0.02, 0.02]).unwrap(), Pose::default()),
        (Shape::ball(0.02).unwrap(), Pose::at([0.6, 0.6, 0.0])),
    ]);
    rig.state.velocities[5] = 90.0;
    let found = rig.contacts(H);
    assert!(!found.is_empty());
    let c = found[0];
    // It strikes when it has turned by nearly an eighth: the normal is across the diagonal.
    let n = Vec3::from(c.normal);
    assert!((n.y - n.x) / 2.0_f64.sqrt() > 0.99, "{n:?}");
    // The speed of that point closes the gap at that time, and so before the end of the step.
    let speed = 90.0 * Vec3::z().cross(&Vec3::new(0.6, 0.6, 0.0)).norm();
    assert!(c.gap > 0.0 && c.gap < speed * H);
    rig.state.velocities[5] = -90.0;
    assert!(rig.contacts(H).is_empty() || least_gap(rig.world.contacts()) > 0.0);
}

#[test]
fn deep_inside_a_solid_mesh_the_nearest_side_pushes_out() {
    let mut rig = Rig::new(&[(
        Shape::cuboid([0.2, 0.2, 0.2]).unwrap(),
        Pose::at([0.0, 0.0, 0.65]),
    )])
    .fixed("crate", crate_mesh([1.0, 1.0, 0.5], MeshKind::Solid));
    let found = rig.contacts(H);
    assert_eq!(found.len(), 4);
    for c in &found {
        assert!(c.normal[2] < -1.0 + 1e-12);
        assert!((c.gap + 0.05).abs() < 1e-12);
    }
}

#[test]
fn a_box_that_slides_over_tiles_does_not_see_their_sides() {
    // At 5 m/s it advances by 83 mm a step; the next tile is 50 mm ahead, level with the one it is
    // on.
    let tile = Shape::cuboid([0.5, 0.5, 0.1]).unwrap();
    for sink in [0.0, 1e-10, -1e-6] {
        let start = Pose::at([-0.05, 0.0, 0.3 - sink]);
        let mut rig = Rig::new(&[
            (Shape::cuboid([0.2, 0.2, 0.2]).unwrap(), start),
            (tile.clone(), Pose::at([-0.3, 0.0, 0.0])),
            (tile.clone(), Pose::at([0.7, 0.0, 0.0])),
        ]);
        rig.state.velocities[0] = 5.0;
        let found = rig.contacts(H);
        assert!(found.iter().any(|c| c.b.collider.index() == 1));
        for c in found.iter().filter(|c| c.a.collider.index() == 0) {
            assert!(c.normal[2] < -1.0 + 1e-12, "{:?}", c.normal);
        }
        // Lower by more than the margins, it does.
        rig.state.positions[2] = 0.299;
        let ahead = rig.contacts(H);
        assert!(
            ahead
                .iter()
                .any(|c| c.a.collider.index() == 0 && c.normal[0] > 0.99)
        );
    }
}

#[test]
fn a_bullet_meets_a_cloth_and_a_cable() {
    for (shape, aim) in [
        (
            Shape::soft_triangles(&[[0, 1, 2], [0, 2, 3]], 0.001).unwrap(),
            [0.3, 0.1, 0.0],
        ),
        (Shape::soft_segments(&[[0, 2]], 0.002).unwrap(), [0.2, 0.201, 0.0]),
    ] {
        let points = [
            [-1.0, -1.0, 0.0],
            [1.0, -1.0, 0.0],
            [1.0, 1.0, 0.0],
            [-1.0, 1.0, 0.0],
        ];
        let (model, mut world, mut state) = soft_and_ball(shape, &points, 0.005, [aim[0], aim[1], 3.0]);
        // The soft thing rises at 20 m/s against 500 m/s.
        for k in 0..4 {
            state.velocities[3 * k + 2] = 20.0;
        }
        state.velocities[14] = -500.0;
        let found = world
            .update(&model, &state.positions, &state.velocities, H)
            .unwrap();
        assert_eq!(found.len(), 1);
        let c = found[0];
        assert!(c.swept && c.normal[2] > 0.99, "{c:?}");
        assert!((c.gap - 3.0 * c.normal[2]).abs() < 0.02 && c.gap - 520.0 * H * c.normal[2] < 0.0);
    }
}

/// A middle point with two rings of four around it, the outer ones higher and the inner ones faster
/// upwards: now a bowl, a dome when the ball meets it, whose tip it meets alone.
#[test]
fn a_sheet_that_turns_over_is_met_as_it_will_be() {
    let mut points = vec![[0.0, 0.0, -0.2]];
    for (r, z) in [(1.0, 0.0), (2.0, 0.3)] {
        points.extend([[-r, -r, z], [r, -r, z], [r, r, z], [-r, r, z]]);
    }
    let mut triangles = Vec::new();
    for k in 0..4 {
        let next = (k + 1) % 4;
        triangles.push([1 + k, 1 + next, 0]);
        triangles.push([5 + k, 5 + next, 1 + k]);
        triangles.push([5 + next, 1 + next, 1 + k]);
    }
    let sheet = Shape::soft_triangles(&triangles, 0.001).unwrap();
    let (model, mut world, mut state) = soft_and_ball(sheet, &points, 0.05, [0.0, 0.0, 3.0]);
    for (k, v) in [60.0, 15.0, 15.0, 15.0, 15.0, -50.0, -50.0, -50.0, -50.0]
        .into_iter()
        .enumerate()
    {
        state.velocities[3 * k + 2] = v;
    }
    state.velocities[29] = -300.0;
    let found = world
        .update(&model, &state.positions, &state.velocities, H)
        .unwrap();
    assert_eq!(found.len(), 1);
    let c = found[0];
    // The tip: (3.2 - 0.051) m apart, 360 m/s against each other.
    assert!(
        c.swept && c.normal[2] > 1.0 - 1e-9 && (c.gap - 3.149).abs() < 1e-3,
        "{c:?}"
    );
    let Carrier::Points { count, elements, .. } = c.a.carrier else {
        panic!("{c:?}")
    };
    assert_eq!((count, elements[0]), (1, 0));
}

/// A bar (half width 2 cm) that rises by 10 cm and turns by 0.4 rad in a step strikes a ball of 2
/// cm: the gap is what its speed at that place closes until the time of the impact, which follows
/// from `(b - v t) cos(w t) - a sin(w t) = 4 cm`.
#[test]
fn the_gap_before_a_moving_and_turning_bar_is_its_speed_times_the_time() {
    let (v, w, a, b) = (0.1 / H, 0.4 / H, 0.5, 0.25);
    let mut rig = Rig::new(&[
        (Shape::cuboid([1.0, 0.02, 0.02]).unwrap(), Pose::default()),
        (Shape::ball(0.02).unwrap(), Pose::at([a, b, 0.0])),
    ]);
    (rig.state.velocities[1], rig.state.velocities[5]) = (v, w);
    let distance = |t: f64| (b - v * t) * (w * t).cos() - a * (w * t).sin() - 0.04;
    let (mut low, mut high) = (0.0, H);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        *(if distance(middle) > 0.0 {
            &mut low
        } else {
            &mut high
        }) = middle;
    }
    let found = rig.contacts(H);
    assert_eq!(found.len(), 1);
    let n = Vec3::from(found[0].normal);
    let (sine, cosine) = (w * low).sin_cos();
    assert!((n - Vec3::new(-sine, cosine, 0.0)).norm() < 1e-3, "{n:?}");
    // On the bar, from its centre as it is then.
    let lever = Vec3::new(a, b - v * low, 0.0) - n * 0.02;
    let speed = (Vec3::new(0.0, v, 0.0) + Vec3::new(0.0, 0.0, w).cross(&lever)).dot(&n);
    // Advancement ends half a margin early, at 1e-4 m.
    assert!(
        (found[0].gap - speed * low).abs() < 1e-3,
        "{} {}",
        found[0].gap,
        speed * low
    );
}
