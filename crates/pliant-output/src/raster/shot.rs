//! A camera over a whole motion: it stands still, or moves along with a thing.

use super::camera::{axes, plus, scaled, spheres};
use super::{Camera, family};
use crate::recording::{Frame, Recording, Viewpoint};

/// Frames of a motion that a fitted camera looks at, at most.
const MOST_FRAMES: usize = 200;
/// The share of the largest way of all from which on something moves.
const MOVES: f64 = 1e-3;
/// The height of the view from above (rad), just below the zenith, at which no side of a picture is
/// up.
const ABOVE: f64 = 1.55;

/// A camera over a whole motion.
#[derive(Clone, Debug)]
pub struct Shot {
    camera: Camera,
    /// The thing that it moves along with, and where that is at the start.
    follow: Option<(String, [f64; 3])>,
}

/// A side of a scene, as the player names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// From the negative end of the y axis, where z is up.
    Front,
    /// From the positive end of the x axis, where z is up.
    Right,
    /// From above, a little from the front.
    Top,
}

impl Side {
    /// The direction to the viewer, in a scene of these axes.
    fn direction(self, [right, up, back]: [[f64; 3]; 3]) -> [f64; 3] {
        match self {
            Self::Front => back,
            Self::Right => right,
            Self::Top => plus(scaled(back, ABOVE.cos()), scaled(up, ABOVE.sin())),
        }
    }
}

impl Shot {
    /// A camera that sees all that moves over the frames of a recording, in pictures of this width
    /// over height; everything if nothing moves, or if there is one frame.
    pub fn fitted(recording: &Recording, up: [f64; 3], aspect: f64) -> Self {
        let moves = moving(recording);
        Self {
            camera: seeing(recording, up, aspect, |item| moves[item], |_| [0.0; 3]),
            follow: None,
        }
    }

    /// A camera that sees all that is shown over the frames of a recording, from this side of the
    /// scene; from where the motion is seen best if none is given.
    pub fn of_all(recording: &Recording, side: Option<Side>, up: [f64; 3], aspect: f64) -> Self {
        let names = names(recording);
        let shown = |item: usize| !recording.look.hides(names[item]);
        let from = side.map(|side| side.direction(axes(up)));
        Self {
            camera: seeing_from(recording, from, up, aspect, shown, |_| [0.0; 3]),
            follow: None,
        }
    }

    /// The camera of a scene; of one that only follows a thing, fitted to what that thing is.
    pub fn of(recording: &Recording, view: &Viewpoint, up: [f64; 3], aspect: f64) -> Self {
        let first = recording.frames.first();
        let start = |name: &str| {
            first
                .and_then(|frame| middle(recording, frame, name))
                .unwrap_or([0.0; 3])
        };
        let follow = view.follow.as_deref().map(|name| (name.to_owned(), start(name)));
        let camera = match (view.eye_and_target, &follow) {
            (Some([eye, target]), _) => Camera { eye, target, up },
            (None, Some((name, start))) => {
                let names = names(recording);
                let anchor = |frame: &Frame| {
                    let now = middle(recording, frame, name).unwrap_or(*start);
                    plus(now, scaled(*start, -1.0))
                };
                seeing(recording, up, aspect, |item| names[item] == *name, anchor)
            }
            (None, None) => return Self::fitted(recording, up, aspect),
        };
        Self { camera, follow }
    }

    /// The camera at a frame.
    pub fn at(&self, recording: &Recording, frame: &Frame) -> Camera {
        let Some((name, start)) = &self.follow else {
            return self.camera;
        };
        let now = middle(recording, frame, name).unwrap_or(*start);
        let way = plus(now, scaled(*start, -1.0));
        Camera {
            eye: plus(self.camera.eye, way),
            target: plus(self.camera.target, way),
            up: self.camera.up,
        }
    }
}

/// Names of the things that points and then bodies belong to.
fn names(recording: &Recording) -> Vec<&str> {
    let groups = recording.groups.iter();
    let points = groups.flat_map(|group| std::iter::repeat_n(group.name.as_str(), group.count));
    points
        .chain(recording.bodies.iter().map(|body| family(&body.name)))
        .collect()
}

/// Positions of the points and then of the bodies.
fn places(frame: &Frame) -> impl Iterator<Item = [f64; 3]> {
    let bodies = frame.poses.iter().map(|pose| [pose[0], pose[1], pose[2]]);
    frame.points.iter().copied().chain(bodies)
}

/// The mean position of a thing.
fn middle(recording: &Recording, frame: &Frame, name: &str) -> Option<[f64; 3]> {
    let own = names(recording)
        .into_iter()
        .zip(places(frame))
        .filter(|(of, _)| *of == name);
    let (sum, count) = own.fold(([0.0; 3], 0.0), |(sum, count), (_, p)| {
        (plus(sum, p), count + 1.0)
    });
    (count > 0.0).then(|| scaled(sum, 1.0 / count))
}

/// Which points and bodies move, with the other ends of their lines and the other corners of their
/// triangles, and are not hidden; all of
/// these if none does.
fn moving(recording: &Recording) -> Vec<bool> {
    let shown: Vec<bool> = names(recording)
        .iter()
        .map(|name| !recording.look.hides(name))
        .collect();
    let Some((first, rest)) = recording.frames.split_first() else {
        return shown;
    };
    let start: Vec<_> = places(first)
        .zip(&first.poses_of_all())
        .map(|(p, q)| (p, *q))
        .collect();
    let mut ways = vec![0.0f64; shown.len()];
    for frame in rest {
        let now = places(frame).zip(frame.poses_of_all());
        for ((way, (from, turn)), (p, q)) in ways.iter_mut().zip(&start).zip(now) {
            let away = plus(p, scaled(*from, -1.0));
            // A turn counts as much as a way of so many metres.
            let cosine: f64 = turn.iter().zip(&q).map(|(a, b)| a * b).sum();
            let turned = (1.0 - cosine * cosine).max(0.0).sqrt();
            *way = way.max(away.iter().fold(turned, |norm: f64, x| norm.hypot(*x)));
        }
    }
    let most = ways
        .iter()
        .zip(&shown)
        .filter(|(_, shown)| **shown)
        .fold(0.0f64, |m, (w, _)| m.max(*w));
    let mut moves: Vec<bool> = ways
        .iter()
        .zip(&shown)
        .map(|(w, shown)| *shown && *w > MOVES * most)
        .collect();
    if most <= 0.0 {
        return shown;
    }
    let alone = moves.clone();
    let segments = recording.segments.iter().map(<[u32; 2]>::as_slice);
    let triangles = recording.triangles.iter().map(<[u32; 3]>::as_slice);
    for corners in segments.chain(triangles) {
        if corners.iter().any(|i| alone.get(*i as usize) == Some(&true)) {
            for i in corners {
                if let Some(moves) = moves.get_mut(*i as usize) {
                    *moves = true;
                }
            }
        }
    }
    moves
}

/// The camera that sees the items for which this holds over the whole motion, each frame moved back
/// by its anchor.
fn seeing(
    recording: &Recording,
    up: [f64; 3],
    aspect: f64,
    has: impl Fn(usize) -> bool,
    anchor: impl Fn(&Frame) -> [f64; 3],
) -> Camera {
    seeing_from(recording, None, up, aspect, has, anchor)
}

/// A camera that has all wanted places in its picture, looking from a direction if one is given.
fn seeing_from(
    recording: &Recording,
    from: Option<[f64; 3]>,
    up: [f64; 3],
    aspect: f64,
    has: impl Fn(usize) -> bool,
    anchor: impl Fn(&Frame) -> [f64; 3],
) -> Camera {
    let skip = recording.frames.len().div_ceil(MOST_FRAMES).max(1);
    let mut all = Vec::new();
    for frame in recording
        .frames
        .iter()
        .step_by(skip)
        .chain(recording.frames.last())
    {
        let away = scaled(anchor(frame), -1.0);
        let own = spheres(recording, frame).into_iter().enumerate();
        let own = own.filter(|(item, _)| has(*item));
        all.extend(own.map(|(_, (p, r))| (plus(p, away), r)));
    }
    Camera::of_spheres(&all, axes(up), from, aspect)
}

impl Frame {
    /// Quaternions of the points, which do not turn, and then of the bodies.
    fn poses_of_all(&self) -> Vec<[f64; 4]> {
        let points = std::iter::repeat_n([1.0, 0.0, 0.0, 0.0], self.points.len());
        let bodies = self.poses.iter().map(|pose| [pose[3], pose[4], pose[5], pose[6]]);
        points.chain(bodies).collect()
    }
}
