//! Ropes around spheres, cylinders and ellipsoids: closed forms, derivatives, independent searches for the
//! shortest rope, moment arms.

mod anything;
mod derivatives;
mod ellipsoids;
mod strings;

use crate::body_tools::*;
use pliant_dense::{Vec3, rotation};
use pliant_model::dual::{Dual, DualNum, conjugate, rotate};
use pliant_model::{
    End, Evaluation, JointFrame, Model, ModelError, Obstacle, Pose, Rope, RopePath, Space, State, WrapSide,
    WrapSurface, WrappedPath, WrappedRope,
};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, PI};

const POINTS: Space = Space::Real(3);

fn sphere(radius: f64) -> WrapSurface {
    WrapSurface::Sphere { radius }
}

fn cylinder(radius: f64, side: WrapSide) -> WrapSurface {
    WrapSurface::Cylinder { radius, side }
}

fn ellipsoid(semi_axes: [f64; 3]) -> WrapSurface {
    WrapSurface::Ellipsoid { semi_axes }
}

fn fixed(surface: WrapSurface, pose: Pose) -> Obstacle {
    Obstacle {
        frame: JointFrame::world(pose),
        surface,
    }
}

/// The state of a mapping and its row of `J`.
fn evaluated(
    mapping: &WrappedRope,
    parents: &[(Space, usize)],
    x: &[f64],
) -> Result<(f64, Vec<f64>), ModelError> {
    let mut model = Model::new();
    let (mut nodes, mut first) = (Vec::new(), 0);
    for (k, (space, count)) in parents.iter().enumerate() {
        let size = space.position_size() * count;
        let rest = vec![0.0; space.velocity_size() * count];
        let x = &x[first..first + size];
        nodes.push(model.add_independent(&format!("parent {k}"), *space, x, &rest)?);
        first += size;
    }
    let child = model.add_mapped("rope", &nodes, mapping.clone())?;
    let mut state: State = model.initial_state()?;
    let mut evaluation = Evaluation::new(&model);
    evaluation.propagate(&model, &mut state)?;
    let row = evaluation.jacobian(child.index()).unwrap().block(0).to_vec();
    Ok((model.positions(&state, child)[0], row))
}

/// The length between two fixed points around one obstacle on a body at the origin, and the row of
/// that body.
fn around(surface: WrapSurface, p: [f64; 3], q: [f64; 3]) -> Result<(f64, Vec<f64>), ModelError> {
    let obstacle = Obstacle {
        frame: JointFrame::on(0, 0, Pose::default()),
        surface,
    };
    let path = WrappedPath::through(&[End::Point(p), End::Point(q)], 0.0).around(0, obstacle);
    let x = flat(&[Pose::default()]);
    evaluated(&WrappedRope::new(&[path]), &[(RIGID, 1)], &x)
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} {b}");
}

/// Rounding of a few operations on numbers below ten.
const ROUNDING: f64 = 4e-15;

#[test]
fn closed_forms() {
    let up = WrapSide::Over([0.0, 1.0, 0.0]);
    // A rope over a pulley: both parts hang down, half a turn between them; a tension of one pulls
    // the pulley down by two, and turns it about nothing but the axes across.
    let (length, row) = around(cylinder(0.5, up), [0.5, -3.0, 0.0], [-0.5, -4.0, 0.0]).unwrap();
    close(length, 7.0 + 0.5 * PI, ROUNDING);
    for (found, wanted) in row.iter().zip([0.0, 2.0, 0.0, 0.0, 0.0, 0.0]) {
        close(*found, wanted, ROUNDING);
    }
    // The same rope on a helix: unrolled, the way along the axis is the other side of a triangle.
    let (length, row) = around(cylinder(0.5, up), [0.5, -3.0, -1.0], [-0.5, -4.0, 2.0]).unwrap();
    let flat = 7.0 + 0.5 * PI;
    close(length, flat.hypot(3.0), ROUNDING);
    // The force along the axis is that of friction, which there is none of.
    close(row[2], 0.0, ROUNDING);
    close(row[1], 2.0 * flat / length, ROUNDING);
    // More than once around, by the right hand about the axis: from the left below over the top to
    // the right is by the left hand.
    let right = WrapSide::RightHanded([0.0, 1.0, 0.0]);
    let left = WrapSide::LeftHanded([0.0, 1.0, 0.0]);
    let (a, b) = ([3.0, -0.5, 0.0], [-4.0, -0.5, 0.0]);
    close(
        around(cylinder(0.5, left), a, b).unwrap().0,
        7.0 + PI,
        2.0 * ROUNDING,
    );
    let (a, b) = ([-3.0, 0.5, 0.0], [3.0, 0.5, 0.0]);
    close(around(cylinder(0.5, right), a, b).unwrap().0, 6.0, ROUNDING);

    // Over a sphere along a great circle: two equal tangents, an angle of 150 degrees between the
    // ends of which each tangent takes 60.
    let turn = rotation::exp(Vec3::new(0.3, -1.2, 0.7));
    let place = |angle: f64| {
        let x = Vec3::new(angle.cos(), angle.sin(), 0.0) * 2.0;
        rotation::rotate(turn, x).into()
    };
    let (length, row) = around(sphere(1.0), place(0.2), place(0.2 + 2.5 * FRAC_PI_3)).unwrap();
    close(length, 2.0 * 3f64.sqrt() + PI / 6.0, ROUNDING);
    // The sphere is pushed to its middle.
    let force = Vec3::new(row[0], row[1], row[2]);
    close(force.norm(), 2.0 * (PI / 12.0).sin(), ROUNDING);
    for torque in &row[3..] {
        close(*torque, 0.0, ROUNDING);
    }
}

#[test]
fn once_around_and_more() {
    // The first end at the angle -100 degrees from the top, turned back to it the second one comes
    // after 360 degrees and more.
    let at = |degrees: f64| {
        let a = degrees.to_radians() + FRAC_PI_2;
        [2.0 * a.cos(), 2.0 * a.sin(), 0.0]
    };
    let right = cylinder(1.0, WrapSide::RightHanded([0.0, 1.0, 0.0]));
    for (p, q) in [
        (-100.0, 100.0),
        (-200.0, 100.0),
        (-200.0, 200.0),
        (-260.0, 260.0),
        (-60.0, 260.0),
    ] {
        let angle = f64::to_radians(q - p);
        let arc = angle - 2.0 * FRAC_PI_3;
        let (length, _) = around(right, at(p), at(q)).unwrap();
        close(length, 2.0 * 3f64.sqrt() + arc, ROUNDING);
    }
    // From the other end the rope turns by the other hand.
    let left = cylinder(1.0, WrapSide::LeftHanded([0.0, 1.0, 0.0]));
    let lengths = [(right, -260.0, 170.0), (left, 170.0, -260.0)].map(|(s, p, q)| around(s, at(p), at(q)));
    let [a, b] = lengths.map(|found| found.unwrap().0);
    close(a, b, ROUNDING);
}

/// Obstacles on two bodies and in the world, between two points and a third one.
fn winding() -> WrappedPath {
    let on = |element, at: [f64; 3], turn: [f64; 3]| JointFrame::on(1, element, Pose::turned(at, turn, 0.4));
    let down = WrapSide::Over([0.0, -1.0, 0.0]);
    let up = WrapSide::Over([0.1, 1.0, 0.2]);
    let ends = [
        End::element(0, 0),
        End::element(0, 1),
        End::Point([6.9, 0.4, -0.2]),
    ];
    WrappedPath::through(&ends, 0.5)
        .around(
            0,
            Obstacle {
                frame: on(0, [1.2, -0.3, 0.1], [0.0, 0.1, 1.0]),
                surface: cylinder(0.5, up),
            },
        )
        .around(
            0,
            Obstacle {
                frame: on(1, [2.7, 0.5, 0.0], [0.2, 0.1, 1.0]),
                surface: cylinder(0.4, down),
            },
        )
        .around(1, fixed(sphere(0.45), Pose::at([5.9, -0.2, 0.1])))
        .around(
            0,
            Obstacle {
                frame: on(1, [3.9, -0.25, 0.1], [0.2, 1.0, 1.0]),
                surface: sphere(0.4),
            },
        )
}

fn near_rest(seed: u64) -> Vec<f64> {
    let n = numbers(seed, 20);
    let mut x: Vec<f64> = n[..6].iter().map(|n| 0.15 * n).collect();
    x[3] += 5.0;
    let small = |n: &[f64]| {
        Pose::turned(
            [0.1 * n[0], 0.1 * n[1], 0.1 * n[2]],
            [n[3], n[4], 1.0],
            0.03 * n[5],
        )
    };
    x.extend(flat(&[small(&n[6..12]), small(&n[12..18])]));
    x
}

#[test]
fn several_obstacles_between_two_points() {
    let parents = [(POINTS, 2), (RIGID, 2)];
    let rope = WrappedRope::new(&[winding()]);
    let mut pushed = [0; 2];
    for seed in 1..60 {
        let x = near_rest(seed);
        checked(&rope, &parents, &x, seed);
        let (_, row) = evaluated(&rope, &parents, &x).unwrap();
        for (count, row) in pushed.iter_mut().zip([&row[6..12], &row[12..18]]) {
            *count += usize::from(row.iter().any(|u| u.abs() > 0.0));
        }
    }
    assert!(pushed[0] > 50 && pushed[1] > 50, "{pushed:?}");

    // Side by side in one plane: two pulleys of the radii 1 and 0.5 at a distance of 4, over the
    // first and under the second. The crossing tangent has the length sqrt(4^2 - 1.5^2).
    let axis = |x: f64| Pose::at([x, 0.0, 0.0]);
    let over = cylinder(1.0, WrapSide::Over([0.0, 1.0, 0.0]));
    let under = cylinder(0.5, WrapSide::Over([0.0, -1.0, 0.0]));
    let ends = [End::Point([-1.0, -3.0, 0.2]), End::element(0, 0)];
    let crossed = WrappedPath::through(&ends, 0.0)
        .around(0, fixed(over, axis(0.0)))
        .around(0, fixed(under, axis(4.0)));
    let parents = [(POINTS, 1)];
    let x = [4.5, 2.0, 0.2];
    let (length, row) = evaluated(&WrappedRope::new(&[crossed]), &parents, &x).unwrap();
    let tangent = f64::sqrt(16.0 - 2.25);
    let tilt = (1.5f64 / 4.0).asin();
    // The tangent falls at the angle whose cosine is 1.5/4 from the normals of both: each pulley is
    // wrapped from level to there.
    let wrapped = FRAC_PI_2 + tilt;
    let wanted = 3.0 + wrapped * (1.0 + 0.5) + tangent + 2.0;
    close(length, wanted, 1e-14);
    // Straight up at the end.
    for (found, wanted) in row.iter().zip([0.0, 1.0, 0.0]) {
        close(*found, wanted, 1e-10);
    }
}

#[test]
fn length_and_force_are_continuous_where_the_rope_lifts_off() {
    // A point that moves up past the line on which the rope just touches.
    for surface in [
        sphere(0.5),
        ellipsoid([1.1, 0.7, 0.5]),
        cylinder(0.5, WrapSide::Shortest),
        cylinder(0.5, WrapSide::Over([0.0, 1.0, 0.0])),
        cylinder(0.5, WrapSide::RightHanded([0.0, 1.0, 0.0])),
        cylinder(0.5, WrapSide::LeftHanded([0.0, 1.0, 0.0])),
    ] {
        let at = |y: f64| around(surface, [-2.0, y, 0.3], [2.0, y, 0.3]).unwrap();
        // The sphere is left where the line is half a metre from its centre.
        let edge = match surface {
            WrapSurface::Sphere { .. } => 0.4,
            WrapSurface::Cylinder { .. } => 0.5,
            WrapSurface::Ellipsoid { semi_axes } => semi_axes[1] * 0.8,
        };
        let step = 1e-6;
        let ((below, row), (above, free)) = (at(edge - step), at(edge + step));
        assert!(row.iter().any(|u| u.abs() > 0.0), "{surface:?}");
        assert!(free.iter().all(|u| *u == 0.0), "{surface:?}");
        // The length changes by the square of the step, the force by a few times it.
        assert!((below - 4.0).abs() < 10.0 * step * step + 1e-15, "{below}");
        assert!((above - 4.0).abs() < 1e-15, "{above}");
        assert!(row.iter().all(|u| u.abs() < 5.0 * step), "{row:?}");
    }
    // Without contact all is that of the rope through the points, to the last bit.
    let (a, b) = ([0.2, 0.9, 0.1], [1.4, 1.1, -0.3]);
    let plain = Rope::new(&[RopePath::through(&[End::element(0, 0), End::Point(b)], 0.4)]);
    let ends = [End::element(0, 0), End::Point(b)];
    let wrapped = WrappedPath::through(&ends, 0.4).around(0, fixed(sphere(0.5), Pose::default()));
    let mut model = Model::new();
    let p = model.add_particles("p", &[a]).unwrap();
    let plain = model.add_mapped("plain", &[p], plain).unwrap();
    let wrapped = model
        .add_mapped("wrapped", &[p], WrappedRope::new(&[wrapped]))
        .unwrap();
    let state = model.initial_state().unwrap();
    assert_eq!(model.positions(&state, plain), model.positions(&state, wrapped));
}

/// A forearm that turns about an elbow, its triceps over a cylinder at the joint: the moment arm
/// `dL/d(angle)` is the radius while it wraps, and that of a straight line where it does not.
#[test]
fn moment_arms_of_an_elbow() {
    let (radius, origin, insertion) = (0.02, [-0.015, 0.28, 0.0], [-0.022, -0.03, 0.0]);
    let obstacle = fixed(
        cylinder(radius, WrapSide::RightHanded([-1.0, 0.0, 0.0])),
        Pose::default(),
    );
    let ends = [End::Point(origin), End::element(0, 0)];
    let rope = WrappedRope::new(&[WrappedPath::through(&ends, 0.0).around(0, obstacle)]);
    // By flexion the forearm, down at zero, turns towards +x.
    let at = |angle: f64| -> (f64, f64) {
        let q = rotation::exp(Vec3::new(0.0, 0.0, angle));
        let x = rotation::rotate(q, insertion.into());
        let (length, row) = evaluated(&rope, &[(POINTS, 1)], &[x.x, x.y, x.z]).unwrap();
        // The velocity of the insertion is that of the turn.
        (length, row[1] * x.x - row[0] * x.y)
    };
    let mut counts = [0, 0];
    for step in 0..150 {
        let angle = -0.6 + 0.02 * f64::from(step);
        let (length, arm) = at(angle);
        let h = 1e-6;
        let difference = (at(angle + h).0 - at(angle - h).0) / (2.0 * h);
        // Rounding of lengths of 0.3 over 2e-6.
        assert!((arm - difference).abs() < 1e-10, "{arm} {difference}");
        let q = rotation::exp(Vec3::new(0.0, 0.0, angle));
        let x = rotation::rotate(q, insertion.into());
        let line = x - Vec3::from(origin);
        let straight = Vec3::from(origin).cross(&line).z / line.norm();
        // Where the line passes the axis by less than the radius, it wraps.
        if straight < radius {
            close(arm, radius, 1e-14);
            assert!(length > line.norm());
            counts[0] += 1;
        } else {
            close(arm, straight, 1e-14);
            close(length, line.norm(), 1e-15);
            counts[1] += 1;
        }
    }
    assert!(counts[0] > 40 && counts[1] > 10, "{counts:?}");
}

#[test]
fn contacts_are_on_the_surfaces() {
    let rope = WrappedRope::new(&[winding()]);
    let mut model = Model::new();
    let x = near_rest(3);
    let p = model.add_independent("p", POINTS, &x[..6], &[0.0; 6]).unwrap();
    let b = model.add_independent("b", RIGID, &x[6..], &[0.0; 12]).unwrap();
    model.add_mapped("rope", &[p, b], rope.clone()).unwrap();
    let ranges = [(0, 0, POINTS), (6, 6, RIGID)];
    let v = [0.0; 18];
    let found = rope
        .contacts(0, &pliant_model::Parents::new(&x, &v, &ranges))
        .unwrap();
    let path = winding();
    // Those of the first stretch come first.
    let obstacles = [0, 1, 3, 2].map(|k| path.obstacles[k].1);
    assert_eq!(found.len(), 4);
    assert!(found.iter().filter(|c| c.is_some()).count() >= 3, "{found:?}");
    for (contact, obstacle) in found.iter().zip(obstacles) {
        let Some(contact) = contact else { continue };
        let body = obstacle.frame.on.map_or(Pose::default(), |at| {
            let n = &x[6 + 7 * at.element..][..7];
            Pose {
                position: [n[0], n[1], n[2]],
                rotation: [n[3], n[4], n[5], n[6]],
            }
        });
        let pose = obstacle.frame.at(&body);
        for point in contact {
            let back = rotation::conjugate(pose.rotation);
            let local = rotation::rotate(back, Vec3::from(*point) - Vec3::from(pose.position));
            let (distance, radius) = match obstacle.surface {
                WrapSurface::Sphere { radius } => (local.norm(), radius),
                WrapSurface::Cylinder { radius, .. } => (local.x.hypot(local.y), radius),
                WrapSurface::Ellipsoid { .. } => unreachable!(),
            };
            close(distance, radius, 1e-14);
        }
    }
}

#[test]
fn wrong_ropes_are_errors() {
    let says = |found: Result<(f64, Vec<f64>), ModelError>, words: &str| {
        let text = found.unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    };
    let (left, right) = ([-2.0, 0.0, 0.0], [2.0, 0.3, 0.0]);
    // Where they have no value.
    says(
        around(sphere(0.5), [0.3, 0.0, 0.0], right),
        "`rope`, element 0, is not defined here: an end of a stretch of the rope is not outside of a sphere that it goes around, between its points 0 and 1, which are 0.3 m",
    );
    says(
        around(sphere(0.5), left, [0.0, 0.5, 0.0]),
        "is not outside of a sphere",
    );
    let shortest = cylinder(0.5, WrapSide::Shortest);
    says(
        around(shortest, left, [0.1, 0.2, 9.0]),
        "is not outside of a cylinder",
    );
    says(around(shortest, left, [2.0, 0.0, 0.4]), "give it a side");
    says(
        around(sphere(0.5), left, [2.0, 0.0, 0.0]),
        "opposite to each other",
    );
    let up = cylinder(0.5, WrapSide::Over([0.0, 1.0, 0.0]));
    says(
        around(up, left, [0.02, -3.0, 0.0]),
        "where its way around is not unique",
    );
    assert!(around(up, left, [0.03, -3.0, 0.0]).is_ok());
    let turning = cylinder(0.5, WrapSide::RightHanded([0.0, 1.0, 0.0]));
    says(around(turning, [-2.0, 0.02, 0.0], right), "not unique");
    assert!(around(turning, [-2.0, -0.1, 0.0], right).is_ok());
    says(around(sphere(0.5), left, left), "points of the rope are the same");
    says(
        around(sphere(0.5), [f64::MAX; 3], right),
        "is not outside of a sphere",
    );

    // Where they never could have one.
    let parents = [(POINTS, 2), (RIGID, 1), (Space::Real(1), 1)];
    let of = |path: WrappedPath| refused(&WrappedRope::new(&[path]), &parents);
    let ends = [End::element(0, 0), End::element(0, 1)];
    let plain = WrappedPath::through(&ends, 1.0);
    let with = |surface| of(plain.clone().around(0, fixed(surface, Pose::default())));
    for radius in [0.0, -1.0] {
        let text = with(sphere(radius)).to_string();
        assert!(text.contains("the radius of an obstacle"), "{text}");
    }
    assert!(matches!(with(sphere(f64::NAN)), ModelError::NotFinite { .. }));
    let along = cylinder(1.0, WrapSide::Over([0.0, 0.0, 2.0]));
    assert!(matches!(with(along), ModelError::OutOfRange { .. }));
    let nowhere = cylinder(1.0, WrapSide::RightHanded([f64::NAN, 0.0, 2.0]));
    assert!(matches!(with(nowhere), ModelError::NotFinite { .. }));
    let many = (0..7).fold(plain.clone(), |path, _| {
        path.around(0, fixed(sphere(0.1), Pose::default()))
    });
    assert!(matches!(of(many), ModelError::OutOfRange { .. }));
    let beyond = plain.clone().around(1, fixed(sphere(0.1), Pose::default()));
    assert!(of(beyond).to_string().contains("no point of the rope follows"));
    let on = |parent, element| Obstacle {
        frame: JointFrame::on(parent, element, Pose::default()),
        surface: sphere(0.1),
    };
    assert!(matches!(
        of(plain.clone().around(0, on(1, 1))),
        ModelError::Element { .. }
    ));
    assert!(matches!(
        of(plain.clone().around(0, on(5, 0))),
        ModelError::Parent { .. }
    ));
    assert!(matches!(
        of(plain.clone().around(0, on(0, 0))),
        ModelError::Space { .. }
    ));
    let long = Pose {
        rotation: [2.0, 0.0, 0.0, 0.0],
        ..Pose::default()
    };
    let skewed = plain.clone().around(0, fixed(sphere(0.1), long));
    assert!(matches!(of(skewed), ModelError::OutOfRange { .. }));
    assert!(matches!(
        of(WrappedPath::through(&ends[..1], 1.0)),
        ModelError::Size { .. }
    ));
    assert!(matches!(
        of(WrappedPath::through(&ends, -1.0)),
        ModelError::OutOfRange { .. }
    ));
    let scalar = [End::element(0, 0), End::element(2, 0)];
    assert!(matches!(
        of(WrappedPath::through(&scalar, 1.0)),
        ModelError::Space { .. }
    ));
    let still = [End::Point([0.0; 3]), End::Point([1.0; 3])];
    assert!(matches!(
        of(WrappedPath::through(&still, 1.0)),
        ModelError::Degenerate { .. }
    ));
    let same = [End::element(0, 0); 2];
    assert!(matches!(
        of(WrappedPath::through(&same, 1.0)),
        ModelError::Degenerate { .. }
    ));
    // Two obstacles that are one: on no point between them the rope leaves both.
    let twice = |x: f64| {
        let both = WrappedPath::through(&ends, 0.0)
            .around(0, fixed(sphere(1.0), Pose::default()))
            .around(0, fixed(sphere(1.0), Pose::at([x, 0.0, 0.0])));
        let ends = [-2.0, 0.1, 0.0, 2.0, 0.2, 0.0];
        evaluated(&WrappedRope::new(&[both]), &[(POINTS, 2)], &ends)
    };
    says(twice(0.0), "not found");
}
