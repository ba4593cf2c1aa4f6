//! Pictures of a recorded instant as pixels, drawn by the processor alone: no window, no graphics
//! card.
//!
//! They show what the player shows, in its colours and from where it first stands, without its
//! shadows, its floor, its joints and its arrows, and with nothing that the scene hides: bodies and
//! surfaces are shaded by the direction of their triangles, segments are lines, points that belong
//! to neither are dots. Every picture has the same bits on all machines whose square roots, sines
//! and arctangents have.

mod camera;
mod canvas;
mod shot;

pub use camera::Camera;
pub use shot::{Shot, Side};

use crate::recording::{Frame, Recording, Shape, Surface};
use camera::{Sight, cross, dot, plus, scaled, unit};
use canvas::{Canvas, Corner};

/// The most pixels of a picture: each takes 64 bytes while it is drawn.
pub const MAX_PIXELS: usize = 1 << 22;

/// Colours of groups and bodies, in the order of the recording: those of the player.
const PALETTE: [[f64; 3]; 8] = [
    [0.09, 0.42, 0.74],
    [0.87, 0.42, 0.10],
    [0.10, 0.58, 0.44],
    [0.76, 0.30, 0.54],
    [0.80, 0.58, 0.06],
    [0.27, 0.62, 0.82],
    [0.52, 0.40, 0.78],
    [0.48, 0.53, 0.58],
];
/// Colours of the three axes of a body without a shape.
const AXES: [[f64; 3]; 3] = [[0.88, 0.26, 0.22], [0.16, 0.64, 0.32], [0.22, 0.46, 0.92]];
/// Colours of muscles without activation, half of it, and a full one.
const ACTIVE: [[f64; 3]; 3] = [[0.55, 0.60, 0.68], [0.93, 0.55, 0.45], [0.86, 0.08, 0.10]];
/// Radii of dots in pixels of a picture of 480 rows: of points alone or at ends of lines, 1 % of the
/// picture's height, and of points between others of their group.
const ALONE: f64 = 5.0;
const BETWEEN: f64 = 2.0;
/// Direction to the light on the screen: right, up, towards the viewer.
const LIGHT: [f64; 3] = [0.36, 0.61, 0.71];

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RasterError {
    /// A picture without pixels, or with too many.
    #[error("a picture of {width} x {height} pixels: at least 1 x 1, at most {MAX_PIXELS} in all")]
    Size {
        /// Pixels of a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// A camera that looks nowhere.
    #[error("a camera at {eye:?} that looks at {target:?}: these are finite, and apart")]
    Camera {
        /// Place of the eye (m).
        eye: [f64; 3],
        /// Place in the middle of the picture (m).
        target: [f64; 3],
    },
}

/// Draws a frame of a recording: `3 * width * height` numbers, red, green and blue of each pixel,
/// row by row from the upper left.
///
/// Segments and triangles that name points which are not there, and bodies without a pose, are left
/// out.
///
/// # Errors
/// [`RasterError`] for sizes and cameras that make no picture.
pub fn draw(
    recording: &Recording,
    frame: &Frame,
    camera: &Camera,
    [width, height]: [usize; 2],
) -> Result<Vec<u8>, RasterError> {
    check_size([width, height])?;
    let canvas = Canvas::new([width, height]);
    let sight = Sight::new(camera, canvas.size())?;
    let mut painter = Painter { canvas, sight };
    painter.surfaces(recording, frame);
    painter.lines(recording, frame);
    painter.dots(recording, frame);
    painter.bodies(recording, frame);
    Ok(painter.canvas.pixels())
}

/// Refuses pictures without pixels and with too many.
fn check_size([width, height]: [usize; 2]) -> Result<(), RasterError> {
    match width.checked_mul(height) {
        Some(1..=MAX_PIXELS) => Ok(()),
        _ => Err(RasterError::Size { width, height }),
    }
}

struct Painter {
    canvas: Canvas,
    sight: Sight,
}

impl Painter {
    /// Triangles of points, such as cloths and the surfaces of solids.
    fn surfaces(&mut self, recording: &Recording, frame: &Frame) {
        for (index, triangle) in (0..).zip(&recording.triangles) {
            if frame.hidden.binary_search(&index).is_ok() {
                continue;
            }
            let corners = triangle.map(|i| frame.points.get(i as usize).copied());
            let colour = group_colour(recording, triangle[0] as usize);
            if let ([Some(a), Some(b), Some(c)], Some(colour)) = (corners, colour) {
                self.triangle([a, b, c], colour);
            }
        }
    }

    fn lines(&mut self, recording: &Recording, frame: &Frame) {
        let own = line_colours(recording, frame);
        let mut is_muscle = vec![false; own.len()];
        for line in recording.lines.iter().filter(|line| line.is_muscle) {
            let last = line.first.saturating_add(line.count).min(own.len());
            if let Some(segments) = is_muscle.get_mut(line.first..last) {
                segments.fill(true);
            }
        }
        for ((segment, own), is_muscle) in recording.segments.iter().zip(own).zip(is_muscle) {
            let width = self.canvas.unit() * if is_muscle { 4.0 } else { 1.6 };
            let ends = segment.map(|i| frame.points.get(i as usize).copied());
            let colour = own.unwrap_or_else(|| group_colour(recording, segment[0] as usize));
            if let ([Some(a), Some(b)], Some(colour)) = (ends, colour) {
                self.line([a, b], width, colour);
            }
        }
    }

    /// Points that belong to no triangle; smaller ones of those that are between others of their
    /// group, as in ropes and nets.
    fn dots(&mut self, recording: &Recording, frame: &Frame) {
        let mut group = vec![usize::MAX; frame.points.len()];
        for (k, one) in recording.groups.iter().enumerate() {
            for place in group.iter_mut().skip(one.start).take(one.count) {
                *place = k;
            }
        }
        let mut joined = vec![0; frame.points.len()];
        for [a, b] in &recording.segments {
            let [a, b] = [*a as usize, *b as usize];
            if a != b && group.get(a) == group.get(b) {
                for index in [a, b] {
                    joined.get_mut(index).into_iter().for_each(|count| *count += 1);
                }
            }
        }
        let dot = |count: &usize| if *count < 2 { ALONE } else { BETWEEN };
        let mut radius: Vec<f64> = joined.iter().map(dot).collect();
        for index in recording.triangles.iter().flatten() {
            if let Some(radius) = radius.get_mut(*index as usize) {
                *radius = 0.0;
            }
        }
        for (index, point) in frame.points.iter().enumerate().filter(|(i, _)| radius[*i] > 0.0) {
            let seen = self.sight.see(*point);
            if let (Some(corner), Some(colour)) = (self.sight.corner(seen), group_colour(recording, index)) {
                let radius = self.canvas.unit() * radius[index];
                self.canvas.disc(corner, radius, bytes(colour, 1.0));
            }
        }
    }

    fn bodies(&mut self, recording: &Recording, frame: &Frame) {
        let families = families(recording);
        let ball = Surface::ellipsoid([1.0; 3]);
        let cube = cube();
        for ((body, pose), family) in recording.bodies.iter().zip(&frame.poses).zip(families) {
            let name = self::family(&body.name);
            if recording.look.hides(name) {
                continue;
            }
            let usual = PALETTE[(recording.groups.len() + family) % PALETTE.len()];
            let colour = recording.look.colour(name).unwrap_or(usual);
            match &body.shape {
                Shape::Box { half } => self.mesh(&cube, *half, pose, colour),
                Shape::Sphere { radius } => self.mesh(&ball, [*radius; 3], pose, colour),
                Shape::Mesh(surface) => self.mesh(surface, [1.0; 3], pose, colour),
                Shape::Axes { size } => {
                    let width = 1.6 * self.canvas.unit();
                    for (k, colour) in AXES.into_iter().enumerate() {
                        let mut end = [0.0; 3];
                        end[k] = *size;
                        self.line([placed([0.0; 3], pose), placed(end, pose)], width, colour);
                    }
                }
            }
        }
    }

    /// A surface in the axes of a body, stretched along these.
    fn mesh(&mut self, surface: &Surface, stretch: [f64; 3], pose: &[f64; 7], colour: [f64; 3]) {
        let place = |v: &[f64; 3]| placed([v[0] * stretch[0], v[1] * stretch[1], v[2] * stretch[2]], pose);
        let corners: Vec<[f64; 3]> = surface.vertices.iter().map(place).collect();
        for triangle in &surface.triangles {
            let corners = triangle.map(|i| corners.get(i as usize).copied());
            if let [Some(a), Some(b), Some(c)] = corners {
                self.triangle([a, b, c], colour);
            }
        }
    }

    /// A triangle, both sides of which are seen alike.
    fn triangle(&mut self, corners: [[f64; 3]; 3], colour: [f64; 3]) {
        let seen = corners.map(|corner| self.sight.see(corner));
        let [a, b, c] = seen;
        let normal = unit(cross(plus(b, scaled(a, -1.0)), plus(c, scaled(a, -1.0))));
        let facing = if dot(normal, a) > 0.0 { -1.0 } else { 1.0 };
        let light = (facing * dot(normal, LIGHT)).max(0.0);
        let colour = bytes(colour, 0.5 + 0.5 * light);
        let visible = self.sight.clip(&seen);
        let corners: Vec<Corner> = visible.iter().filter_map(|p| self.sight.corner(*p)).collect();
        for k in 2..corners.len() {
            self.canvas
                .triangle([corners[0], corners[k - 1], corners[k]], colour);
        }
    }

    fn line(&mut self, ends: [[f64; 3]; 2], width: f64, colour: [f64; 3]) {
        let seen = ends.map(|end| self.sight.see(end));
        let visible = self.sight.clip(&seen);
        let corners: Vec<Corner> = visible.iter().filter_map(|p| self.sight.corner(*p)).collect();
        if let [a, b, ..] = corners[..] {
            self.canvas.line([a, b], width, bytes(colour, 0.85));
        }
    }
}

/// The colour of the group of a point; `None` if it is hidden.
fn group_colour(recording: &Recording, point: usize) -> Option<[f64; 3]> {
    let mut groups = recording.groups.iter().enumerate();
    let group = groups.find(|(_, g)| (g.start..g.start.saturating_add(g.count)).contains(&point));
    let Some((index, group)) = group else {
        return Some(PALETTE[0]);
    };
    let look = &recording.look;
    let colour = look.colour(&group.name).unwrap_or(PALETTE[index % PALETTE.len()]);
    (!look.hides(&group.name)).then_some(colour)
}

/// Colours of the segments that are not those of their points: of lines that have one, of muscles
/// by their activation; and none of lines that are hidden or released.
fn line_colours(recording: &Recording, frame: &Frame) -> Vec<Option<Option<[f64; 3]>>> {
    let mut colours = vec![None; recording.segments.len()];
    let mut activations = frame.activations.iter();
    for (index, line) in (0..).zip(&recording.lines) {
        let activation = if line.is_muscle { activations.next() } else { None };
        let name = family(&line.name);
        let colour = match activation {
            _ if recording.look.hides(name) || frame.released.contains(&index) => Some(None),
            Some(activation) => Some(Some(active(*activation))),
            None => recording.look.colour(name).map(Some),
        };
        let last = line.first.saturating_add(line.count).min(colours.len());
        if let Some(segments) = colours.get_mut(line.first..last) {
            segments.fill(colour);
        }
    }
    colours
}

/// The colour of a muscle.
fn active(activation: f64) -> [f64; 3] {
    let at = 2.0 * activation.clamp(0.0, 1.0);
    let [low, high] = if at < 1.0 { [0, 1] } else { [1, 2] };
    let share = at - low as f64;
    [0, 1, 2].map(|k| ACTIVE[low][k] + share * (ACTIVE[high][k] - ACTIVE[low][k]))
}

/// The families of bodies, whose names differ by a number at their end, each with a colour.
fn families(recording: &Recording) -> Vec<usize> {
    let mut names: Vec<&str> = Vec::new();
    let one = |name| {
        let family = family(name);
        names
            .iter()
            .position(|other| *other == family)
            .unwrap_or_else(|| {
                names.push(family);
                names.len() - 1
            })
    };
    recording
        .bodies
        .iter()
        .map(|body| body.name.as_str())
        .map(one)
        .collect()
}

fn family(name: &str) -> &str {
    match name.rsplit_once(' ') {
        Some((family, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => family,
        _ => name,
    }
}

/// A point of a body in world axes.
fn placed(point: [f64; 3], pose: &[f64; 7]) -> [f64; 3] {
    let norm = pose[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
    let [w, x, y, z] = [pose[3], pose[4], pose[5], pose[6]].map(|k| k / norm);
    let u = [x, y, z];
    let t = scaled(cross(u, point), 2.0);
    let turned = plus(plus(point, scaled(t, w)), cross(u, t));
    plus([pose[0], pose[1], pose[2]], turned)
}

/// A cube of half extents one.
fn cube() -> Surface {
    let corner = |k: u32| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { 1.0 } else { -1.0 });
    let faces = [
        [0, 1, 3, 2],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 3, 7, 6],
        [0, 2, 6, 4],
        [1, 3, 7, 5],
    ];
    Surface {
        vertices: (0..8).map(corner).collect(),
        triangles: faces
            .into_iter()
            .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect(),
    }
}

fn bytes(colour: [f64; 3], brightness: f64) -> [u8; 3] {
    colour.map(|x| (255.0 * (x * brightness).clamp(0.0, 1.0)).round() as u8)
}
