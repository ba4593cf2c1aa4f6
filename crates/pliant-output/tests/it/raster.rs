//! Pictures against perspective by hand: areas, sides, horizons.

use pliant_output::raster::{Camera, MAX_PIXELS, RasterError, Shot, draw};
use pliant_output::recording::{BodyTrack, Frame, LineTrack, PointGroup, Recording, Shape, Viewpoint};
use std::f64::consts::PI;

const PAPER: [u8; 3] = [0xf5, 0xf6, 0xf8];
/// Half the vertical angle of view.
const HALF: f64 = 17.0 * PI / 180.0;

/// Bodies without turns, and points of one group.
fn scene(bodies: &[(Shape, [f64; 3])], points: &[[f64; 3]]) -> (Recording, Frame) {
    let track = |(k, (shape, _)): (usize, &(Shape, [f64; 3]))| BodyTrack {
        name: ["red", "green", "blue"][k].to_owned(),
        shape: shape.clone(),
    };
    let recording = Recording {
        groups: vec![PointGroup {
            name: "points".to_owned(),
            start: 0,
            count: points.len(),
        }],
        bodies: bodies.iter().enumerate().map(track).collect(),
        ..Recording::default()
    };
    let pose = |(_, p): &(Shape, [f64; 3])| [p[0], p[1], p[2], 1.0, 0.0, 0.0, 0.0];
    let frame = Frame {
        time: 0.0,
        points: points.to_vec(),
        velocities: vec![[0.0; 3]; points.len()],
        poses: bodies.iter().map(pose).collect(),
        ..Frame::default()
    };
    (recording, frame)
}

/// From ten metres along z, y upwards.
fn camera() -> Camera {
    Camera {
        eye: [0.0, 0.0, 10.0],
        target: [0.0; 3],
        up: [0.0, 1.0, 0.0],
    }
}

struct Picture {
    pixels: Vec<u8>,
    size: [usize; 2],
}

impl Picture {
    fn of((recording, frame): &(Recording, Frame), camera: &Camera, size: [usize; 2]) -> Self {
        let pixels = draw(recording, frame, camera, size).unwrap();
        assert_eq!(pixels.len(), 3 * size[0] * size[1]);
        Self { pixels, size }
    }

    fn at(&self, column: usize, row: usize) -> [u8; 3] {
        let place = 3 * (row * self.size[0] + column);
        [self.pixels[place], self.pixels[place + 1], self.pixels[place + 2]]
    }

    /// Columns and rows of all that is drawn.
    fn drawn(&self) -> Vec<[usize; 2]> {
        let places = (0..self.size[1]).flat_map(|row| (0..self.size[0]).map(move |column| [column, row]));
        places
            .filter(|[column, row]| self.at(*column, *row) != PAPER)
            .collect()
    }
}

#[test]
fn a_box_is_as_large_as_its_face_in_perspective() {
    let (w, h) = (400, 300);
    let shape = Shape::Box {
        half: [1.0, 0.5, 0.25],
    };
    let picture = Picture::of(&scene(&[(shape, [0.0; 3])], &[]), &camera(), [w, h]);
    // The face towards the viewer is at 9.75 m and hides all else.
    let pixels = |metres: f64| 0.5 * h as f64 * metres / 9.75 / HALF.tan();
    let (across, along) = (pixels(1.0), pixels(0.5));
    let drawn = picture.drawn();
    let least = drawn.iter().map(|p| p[0]).min().unwrap() as f64;
    let most = drawn.iter().map(|p| p[0] + 1).max().unwrap() as f64;
    // To the pixels at the edges.
    assert!(
        (most - least - 2.0 * across).abs() <= 2.0,
        "{least} {most} {across}"
    );
    assert!((0.5 * (most + least) - 0.5 * w as f64).abs() <= 0.5);
    let area = 4.0 * across * along;
    assert!((drawn.len() as f64 - area).abs() < 2.0 * (across + along) + 4.0);
}

#[test]
fn a_ball_is_the_cone_that_touches_it() {
    let h = 400;
    let picture = Picture::of(
        &scene(&[(Shape::Sphere { radius: 2.0 }, [0.0; 3])], &[]),
        &camera(),
        [h, h],
    );
    let radius = 0.5 * h as f64 * (2.0f64 / 10.0).asin().tan() / HALF.tan();
    let share = picture.drawn().len() as f64 / (PI * radius * radius);
    // It is drawn by 24 meridians and 12 parallels, inside of the ball: a polygon of 24 corners has
    // 0.989 of its circle, and edge pixels are drawn in part.
    assert!((0.97..1.02).contains(&share), "{share}");
}

#[test]
fn what_is_nearer_hides_what_is_behind_it() {
    let cube = |half| Shape::Box { half: [half; 3] };
    let size = [200, 200];
    let behind = Picture::of(&scene(&[(cube(1.0), [0.0, 0.0, -2.0])], &[]), &camera(), size);
    for order in [[0.0, 3.0], [3.0, 0.0]] {
        let both = [
            (cube(0.4), [0.0, 0.0, order[0]]),
            (cube(0.4), [0.0, 0.0, order[1]]),
        ];
        let picture = Picture::of(&scene(&both, &[]), &camera(), size);
        let front = usize::from(order[1] > order[0]);
        let alone = Picture::of(&scene(&both[..1], &[]), &camera(), size);
        assert_eq!(picture.at(100, 100) == alone.at(100, 100), front == 0);
    }
    assert_ne!(behind.at(100, 100), PAPER);
}

#[test]
fn up_and_right_are_where_they_should_be() {
    let size = [200, 100];
    for (point, right, up) in [([1.0, 0.5, 0.0], true, true), ([-1.0, -0.5, 0.0], false, false)] {
        let picture = Picture::of(&scene(&[], &[point]), &camera(), size);
        let drawn = picture.drawn();
        assert!(!drawn.is_empty());
        assert!(drawn.iter().all(|[x, y]| (*x >= 100) == right && (*y < 50) == up));
    }
}

#[test]
fn a_floor_below_the_eye_ends_at_the_horizon() {
    let shape = Shape::Box {
        half: [1e5, 0.5, 1e5],
    };
    let eye = Camera {
        eye: [0.0, 1.0, 0.0],
        target: [0.0, 1.0, -1.0],
        up: [0.0, 1.0, 0.0],
    };
    let picture = Picture::of(&scene(&[(shape, [0.0, -0.5, 0.0])], &[]), &eye, [80, 60]);
    for row in 0..60 {
        for column in 0..80 {
            // The edge at 1e5 m is 1e-3 pixels below the horizon.
            assert_eq!(picture.at(column, row) == PAPER, row < 30, "{column} {row}");
        }
    }
}

#[test]
fn lines_join_their_ends_and_surfaces_have_two_sides() {
    let (mut recording, frame) = scene(&[], &[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0]]);
    recording.segments = vec![[0, 2]];
    let picture = Picture::of(&(recording.clone(), frame.clone()), &camera(), [200, 200]);
    let scale = 100.0 / 10.0 / HALF.tan();
    for share in [-0.9, -0.3, 0.4, 0.8] {
        let place = |sign: f64| (100.0 + sign * share * scale) as usize;
        assert_ne!(picture.at(place(1.0), place(-1.0)), PAPER);
    }
    recording.segments.clear();
    for triangle in [[0, 1, 2], [0, 2, 1]] {
        recording.triangles = vec![triangle];
        let picture = Picture::of(&(recording.clone(), frame.clone()), &camera(), [200, 200]);
        let area = 2.0 * scale * scale;
        let drawn = picture.drawn().len() as f64;
        assert!((drawn - area).abs() < 7.0 * scale, "{drawn} {area}");
    }
}

#[test]
fn a_fitted_camera_has_everything_in_the_picture_and_not_far_away() {
    let [w, h] = [300, 200];
    let bodies = [
        (Shape::Sphere { radius: 1.0 }, [30.0, 0.0, 5.0]),
        (
            Shape::Box {
                half: [2.0, 0.3, 0.3],
            },
            [-12.0, 4.0, -7.0],
        ),
    ];
    let scene = scene(&bodies, &[[5.0, 9.0, 2.0]]);
    for up in [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]] {
        let camera = Camera::fitted(&scene.0, &scene.1, up, w as f64 / h as f64);
        let drawn = Picture::of(&scene, &camera, [w, h]).drawn();
        let edge = |[x, y]: &[usize; 2]| *x == 0 || *y == 0 || *x == w - 1 || *y == h - 1;
        assert!(!drawn.iter().any(edge));
        let extent = |k: usize| {
            let all = drawn.iter().map(|p| p[k]);
            (all.clone().max().unwrap() - all.min().unwrap()) as f64
        };
        assert!(extent(0) > 0.7 * w as f64 || extent(1) > 0.7 * h as f64);
    }
}

#[test]
fn garbage_is_refused_or_left_out() {
    let mut scene = scene(&[(Shape::Sphere { radius: 1.0 }, [0.0; 3])], &[[0.0; 3]]);
    for size in [[0, 10], [10, 0], [usize::MAX, 2], [MAX_PIXELS, 2]] {
        let error = draw(&scene.0, &scene.1, &camera(), size).unwrap_err();
        assert!(matches!(error, RasterError::Size { .. }));
    }
    for eye in [[0.0; 3], [f64::NAN, 0.0, 0.0], [f64::INFINITY, 0.0, 0.0]] {
        let camera = Camera { eye, ..camera() };
        let error = draw(&scene.0, &scene.1, &camera, [4, 4]).unwrap_err();
        assert!(matches!(error, RasterError::Camera { .. }));
    }
    // Along the vertical, and with numbers that are none.
    let above = Camera {
        eye: [0.0, 10.0, 0.0],
        ..camera()
    };
    assert!(!Picture::of(&scene, &above, [40, 40]).drawn().is_empty());
    scene.0.segments = vec![[0, 7]];
    scene.0.triangles = vec![[0, 1, 2]];
    scene.1.points = vec![[f64::NAN; 3], [1e300; 3], [f64::INFINITY, 0.0, 0.0]];
    scene.1.poses = vec![[f64::NAN; 7]];
    assert!(Picture::of(&scene, &camera(), [40, 40]).drawn().is_empty());
    let fitted = Camera::fitted(&scene.0, &scene.1, [0.0; 3], 1.0);
    assert!(draw(&scene.0, &scene.1, &fitted, [4, 4]).is_err());
    let nothing = (
        Recording::default(),
        Frame {
            points: vec![],
            poses: vec![],
            ..scene.1
        },
    );
    let camera = Camera::fitted(&nothing.0, &nothing.1, [0.0, 0.0, 1.0], 1.0);
    assert!(Picture::of(&nothing, &camera, [4, 4]).drawn().is_empty());
}

/// A pixel of a lit thing has the hue of its colour.
fn has_hue(pixel: [u8; 3], colour: [f64; 3]) -> bool {
    let pixel = pixel.map(f64::from);
    let dot = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(pixel, colour) / (dot(pixel, pixel) * dot(colour, colour)).sqrt() > 0.995
}

/// Things have the colours of the scene, muscles that of their activation, and what is hidden or
/// released is not there.
#[test]
fn the_look_of_the_scene_is_kept() {
    let ball = Shape::Sphere { radius: 0.5 };
    let points = [
        [-1.0, 1.0, 0.0],
        [1.0, 1.0, 0.0],
        [-1.0, -1.0, 0.0],
        [1.0, -1.0, 0.0],
    ];
    let (mut recording, mut frame) = scene(&[(ball, [0.0; 3])], &points);
    recording.segments = vec![[0, 1], [2, 3]];
    let line = |name: &str, first, is_muscle| LineTrack {
        name: name.into(),
        first,
        count: 1,
        is_muscle,
    };
    recording.lines = vec![line("rope", 0, false), line("biceps", 1, true)];
    frame.activations = vec![0.5];
    let body = recording.bodies[0].name.clone();
    recording.look.colours = vec![(body.clone(), [1.0, 0.0, 0.5]), ("rope".into(), [0.0, 1.0, 0.0])];
    let size = [200, 200];
    // One metre is this many pixels at the distance of the camera.
    let metre = 100.0 / (10.0 * HALF.tan());
    let row = |y: f64| (100.0 - metre * y) as usize;
    let look = |recording: &Recording, frame: &Frame| {
        Picture::of(&(recording.clone(), frame.clone()), &camera(), size)
    };
    let picture = look(&recording, &frame);
    let ball = picture.at(100, 100);
    assert!(has_hue(ball, [1.0, 0.0, 0.5]), "{ball:?}");
    // A line is thinner than two pixels, and its edges are half of the paper.
    let rope = picture.at(100, row(1.0));
    assert!(rope[1] > rope[0] + 80 && rope[1] > rope[2] + 80, "{rope:?}");
    let muscle = picture.at(100, row(-1.0));
    assert!(has_hue(muscle, [0.93, 0.55, 0.45]), "{muscle:?}");
    recording.look.hidden = vec![body];
    frame.released = vec![0];
    let picture = look(&recording, &frame);
    assert_eq!([picture.at(100, 100), picture.at(100, row(1.0))], [PAPER; 2]);
    assert_ne!(picture.at(100, row(-1.0)), PAPER);
}

/// A camera that follows a thing keeps it where it is on the picture; one that is fitted sees the
/// way of what moves and leaves out what stands far away.
#[test]
fn shots_follow_and_fit_what_moves() {
    let ball = || Shape::Sphere { radius: 0.2 };
    let (mut recording, first) = scene(&[(ball(), [0.0; 3]), (ball(), [500.0, 0.0, 0.0])], &[]);
    let mut last = first.clone();
    last.time = 1.0;
    last.poses[0][0] = 30.0;
    recording.frames = vec![first, last];
    let up = [0.0, 1.0, 0.0];
    let name = recording.bodies[0].name.clone();
    let view = Viewpoint {
        eye_and_target: Some([[0.0, 0.0, 10.0], [0.0; 3]]),
        follow: Some(name),
    };
    let shot = Shot::of(&recording, &view, up, 1.0);
    for frame in &recording.frames {
        let scene = (recording.clone(), frame.clone());
        let picture = Picture::of(&scene, &shot.at(&recording, frame), [100, 100]);
        assert_ne!(picture.at(50, 50), PAPER, "t = {}", frame.time);
    }
    let fitted = Shot::fitted(&recording, up, 1.0);
    for frame in &recording.frames {
        let camera = fitted.at(&recording, frame);
        assert!(camera.target[0] > 5.0 && camera.target[0] < 25.0, "{camera:?}");
        let picture = Picture::of(&(recording.clone(), frame.clone()), &camera, [400, 400]);
        assert!(!picture.drawn().is_empty());
    }
}

/// A triangle of which one corner moves a little is in the picture with the two that are held.
#[test]
fn a_fitted_shot_has_the_held_corners_of_what_moves() {
    let corners = [[0.0; 3], [0.0, 4.0, 0.0], [4.0, 0.0, 0.0]];
    let (mut recording, first) = scene(&[], &corners);
    recording.segments.clear();
    recording.triangles = vec![[0, 1, 2]];
    let mut last = first.clone();
    last.time = 1.0;
    last.points[2][2] = 0.1;
    recording.frames = vec![first, last];
    let camera = Shot::fitted(&recording, [0.0, 0.0, 1.0], 1.0).at(&recording, &recording.frames[0]);
    let away = |p: &[f64; 3]| (0..3).fold(0.0, |norm: f64, k| norm.hypot(p[k] - camera.target[k]));
    assert!(corners.iter().map(away).fold(0.0, f64::max) < 3.5, "{camera:?}");
}

/// Half-way between two frames: the middle of the way, and half of a turn of 90 degrees, also where
/// the second quaternion has the other sign.
#[test]
fn frames_between_two_are_half_way() {
    let (_, mut first) = scene(&[(Shape::Sphere { radius: 1.0 }, [0.0; 3])], &[[0.0; 3]]);
    let mut next = first.clone();
    next.time = 0.5;
    next.points[0] = [2.0, -4.0, 6.0];
    let half = std::f64::consts::FRAC_1_SQRT_2;
    first.poses[0] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    for sign in [1.0, -1.0] {
        next.poses[0] = [4.0, 0.0, 0.0, sign * half, 0.0, 0.0, sign * half];
        let middle = first.towards(&next, 0.5);
        assert_eq!((middle.time, middle.points[0]), (0.25, [1.0, -2.0, 3.0]));
        let angle = PI / 8.0;
        let expected = [2.0, 0.0, 0.0, angle.cos(), 0.0, 0.0, angle.sin()];
        let error = (0..7)
            .map(|k| (middle.poses[0][k] - expected[k]).abs())
            .fold(0.0, f64::max);
        assert!(error < 1e-15, "{:?}", middle.poses[0]);
    }
}
