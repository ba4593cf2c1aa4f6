//! Robots as the readers leave them: links in a tree, what joins them, and what they collide with.

use crate::geometry::{Frame, Inertia};
use crate::xml::Spot;
use pliant_dense::Vec3;
use std::ops::Range;

/// A robot at zero coordinates.
pub(crate) struct Robot {
    pub(crate) title: String,
    /// Gravity in the world (m/s^2).
    pub(crate) gravity: [f64; 3],
    /// Length of a step (s).
    pub(crate) step: f64,
    /// Links, parents first.
    pub(crate) links: Vec<Link>,
    /// Materials of colliders.
    pub(crate) materials: Vec<Material>,
    /// Rows between coordinates of joints.
    pub(crate) gears: Vec<Gear>,
    /// Joints that close loops.
    pub(crate) closures: Vec<Closure>,
    /// Springs, limits and motors of tendons.
    pub(crate) tendons: Vec<Tendon>,
    /// Rows that hold lengths of tendons.
    pub(crate) tendon_rows: Vec<TendonRow>,
    /// Pairs of links that do not collide.
    pub(crate) apart: Vec<Apart>,
    /// Pairs of colliders that meet all the same.
    pub(crate) pairs: Vec<Pair>,
    /// Coefficients of two materials together where they are not by the rule.
    pub(crate) material_pairs: Vec<([usize; 2], Material)>,
    /// Whether what stands in the world is a part of the robot, with which its neighbours do not
    /// collide.
    pub(crate) base_is_robot: bool,
    /// The rule by which materials combine.
    pub(crate) friction_rule: Option<&'static str>,
    pub(crate) extras: Extras,
}

/// Parts that only some formats have.
#[derive(Default)]
pub(crate) struct Extras {
    pub(crate) scalars: Vec<Scalar>,
    pub(crate) curves: Vec<CurveRow>,
    pub(crate) points: Vec<Point>,
    pub(crate) sites: Vec<Site>,
    pub(crate) lines: Vec<Line>,
    pub(crate) pulls: Vec<Pull>,
    pub(crate) lifts: Vec<Lift>,
    pub(crate) particles: Vec<Particle>,
    pub(crate) flexes: Vec<Flex>,
    pub(crate) ties: Vec<Tie>,
}

/// A particle that is held at a vertex of its own kind, or at a point.
pub(crate) struct Tie {
    pub(crate) name: String,
    /// The number of the particle.
    pub(crate) particle: usize,
    pub(crate) to: Vertex,
    pub(crate) spot: Spot,
}

/// A mass point that moves freely.
pub(crate) struct Particle {
    /// The link in whose frame its place is; the world if none.
    pub(crate) parent: Option<usize>,
    pub(crate) place: Vec3,
    /// Mass in kg.
    pub(crate) mass: f64,
}

/// A deformable: points, and cells of elastic material between them.
pub(crate) struct Flex {
    pub(crate) name: String,
    pub(crate) vertices: Vec<Vertex>,
    /// Places of its vertices in the world where it is at rest.
    pub(crate) rest: Vec<Vec3>,
    /// Two, three or four vertices each.
    pub(crate) cells: Vec<Vec<usize>>,
    pub(crate) elasticity: Elasticity,
    pub(crate) edges: Edges,
    pub(crate) surface: Option<FlexSurface>,
    /// The axis along which its particles do not move, if there is one, in the frame of a link, of
    /// the world if none.
    pub(crate) flat: Option<(Option<usize>, Vec3)>,
    pub(crate) spot: Spot,
}

impl Flex {
    /// Whether its cells are lines, triangles (2) or tetrahedra (3).
    pub(crate) fn dimension(&self) -> usize {
        self.cells.first().map_or(1, |cell| cell.len().saturating_sub(1))
    }
}

/// A vertex of a deformable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Vertex {
    /// The particle of this number.
    Particle(usize),
    /// A point of a link, of the world if none, in its frame.
    On(Option<usize>, Vec3),
}

/// The material of a deformable.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Elasticity {
    /// Young's modulus in Pa, zero if there is no elasticity; Poisson's ratio.
    pub(crate) young: f64,
    pub(crate) poisson: f64,
    /// Relaxation time in s.
    pub(crate) damping: f64,
    /// Thickness of sheets, radius of lines, in m.
    pub(crate) thickness: f64,
    /// Whether sheets resist stretch, and bending.
    pub(crate) stretch: bool,
    pub(crate) bend: bool,
}

/// Springs and rows on the lengths of the edges of a deformable.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Edges {
    /// N/m, N s/m.
    pub(crate) stiffness: f64,
    pub(crate) damping: f64,
    /// Rows that hold the lengths, if there are any.
    pub(crate) rows: Option<EdgeRows>,
}

/// How rows on lengths give way, where they are not hard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeRows {
    /// Compliance per inverse mass at the edge (s^2).
    pub(crate) compliance: f64,
    /// Relaxation time in s.
    pub(crate) damping: f64,
}

/// The surface of a deformable that collides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlexSurface {
    pub(crate) radius: f64,
    pub(crate) material: usize,
    /// Type and affinity.
    pub(crate) bits: (u32, u32),
    /// Whether it collides with itself.
    pub(crate) itself: bool,
}

/// A coordinate without a joint of its own: joints follow it along curves.
pub(crate) struct Scalar {
    pub(crate) name: String,
    /// Its value at the start (m, rad), and its rate.
    pub(crate) start: f64,
    pub(crate) speed: f64,
}

/// A row `first - y(second)` that is held at zero, between coordinates of joints.
pub(crate) struct CurveRow {
    pub(crate) name: String,
    /// Names of the joints.
    pub(crate) first: String,
    pub(crate) second: String,
    pub(crate) shape: Shape1,
    pub(crate) spot: Spot,
}

/// A curve over one coordinate.
#[derive(Clone, Debug)]
pub(crate) enum Shape1 {
    /// Rising x, y and slope: cubic between them, straight beyond.
    Knots(Vec<[f64; 3]>),
    /// Coefficients, the constant first.
    Polynomial(Vec<f64>),
}

impl Shape1 {
    /// Value and slope.
    pub(crate) fn at(&self, x: f64) -> (f64, f64) {
        let knots = match self {
            Self::Polynomial(list) => {
                let next = |(sum, slope): (f64, f64), c: &f64| (sum * x + c, slope * x + sum);
                return list.iter().rev().fold((0.0, 0.0), next);
            }
            Self::Knots(knots) => knots,
        };
        let behind = knots.partition_point(|knot| knot[0] <= x);
        let before = behind.checked_sub(1).map(|i| knots[i]);
        match (before, knots.get(behind)) {
            (Some([a, y, slope]), Some([b, z, end])) => {
                let (width, u) = (b - a, x - a);
                let mean = (z - y) / width;
                let square = (3.0 * mean - 2.0 * slope - end) / width;
                let cube = (slope + end - 2.0 * mean) / (width * width);
                let value = y + u * (slope + u * (square + u * cube));
                (value, slope + u * (2.0 * square + 3.0 * u * cube))
            }
            (Some([a, y, slope]), None) => (y + (x - a) * slope, slope),
            (None, Some([b, z, end])) => (z + (x - b) * end, *end),
            (None, None) => (0.0, 0.0),
        }
    }

    /// The curve over a coordinate that is `x` times this one, with values that are `y` times
    /// these; both are not zero, and `x` is positive.
    pub(crate) fn scaled(&self, x: f64, y: f64) -> Self {
        match self {
            Self::Knots(knots) => {
                let scaled = knots.iter().map(|[a, b, slope]| [a * x, b * y, slope * y / x]);
                Self::Knots(scaled.collect())
            }
            Self::Polynomial(list) => {
                let mut power = y;
                let scaled = list.iter().map(|c| {
                    let own = c * power;
                    power /= x;
                    own
                });
                Self::Polynomial(scaled.collect())
            }
        }
    }
}

/// A point on a link that has a name.
pub(crate) struct Point {
    pub(crate) name: String,
    pub(crate) link: usize,
    /// Its place in the frame of the link.
    pub(crate) place: Vec3,
    pub(crate) spot: Spot,
}

/// A frame on a link, or in the world, that has a name.
pub(crate) struct Site {
    pub(crate) name: String,
    pub(crate) link: Option<usize>,
    /// Its place and axes in the frame of the link.
    pub(crate) frame: Frame,
    pub(crate) spot: Spot,
}

/// A line through points that are fixed in links, or in the world, and around surfaces between
/// them, and what acts along it.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(Option<usize>, Vec3)>,
    pub(crate) wraps: Vec<Wrap>,
    pub(crate) effect: Along,
    pub(crate) spot: Spot,
}

/// A surface that a line wraps around where it meets it.
pub(crate) struct Wrap {
    pub(crate) name: String,
    /// The link that the surface is fixed in, the world if none, and its frame there.
    pub(crate) link: Option<usize>,
    pub(crate) frame: Frame,
    pub(crate) surface: WrapSurface,
    /// The straight parts of the line that may wrap, by the numbers of their first points.
    pub(crate) stretches: Range<usize>,
    pub(crate) spot: Spot,
}

/// A surface in its own frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WrapSurface {
    /// A sphere of this radius (m).
    Sphere(f64),
    /// A cylinder about z of this radius (m), and the direction that lines go over if it is given.
    Cylinder { radius: f64, over: Option<Vec3> },
    /// An ellipsoid of these semi-axes (m).
    Ellipsoid(Vec3),
}

/// An effect along a line.
pub(crate) enum Along {
    /// Nothing: its length is there.
    Nothing,
    /// A pull of so many newtons per unit of the parameter of its name.
    Pull(f64),
    /// A spring: stiffness (N/m), length at rest (m), and whether it only pulls.
    Spring { stiffness: f64, rest: f64, slack: bool },
    /// A ligament: stiffness by strain (N), slack length (m), transition strain and damping (s).
    Ligament {
        stiffness: f64,
        slack_length: f64,
        transition: f64,
        damping: f64,
    },
    /// A muscle with its tendon, excited by the parameter of its name.
    Muscle(Muscle),
}

/// A muscle with its tendon.
pub(crate) struct Muscle {
    /// The curves, as scenes call them.
    pub(crate) curves: &'static str,
    /// Largest isometric force (N).
    pub(crate) force: f64,
    /// Length of the fibre at which it has that force (m).
    pub(crate) optimal_length: f64,
    /// Slack length of the tendon (m).
    pub(crate) tendon_length: f64,
    /// Angle between fibre and tendon at the optimal length (rad).
    pub(crate) pennation: f64,
    /// Largest speed of shortening, in optimal lengths per second.
    pub(crate) speed: f64,
    /// Strain of the tendon at the largest force; none of a rigid one.
    pub(crate) tendon_strain: Option<f64>,
    /// Damping of the fibre, where it is given.
    pub(crate) damping: Option<f64>,
    /// Time constants of activation and deactivation (s).
    pub(crate) dynamics: Option<[f64; 2]>,
}

/// A force or torque on a link by the parameter of its name.
pub(crate) struct Pull {
    pub(crate) name: String,
    pub(crate) link: usize,
    /// The point where a force acts, in the frame of the link; none of a torque.
    pub(crate) point: Option<Vec3>,
    /// Force or torque per unit of the parameter.
    pub(crate) vector: Vec3,
    /// Whether the vector is in the axes of the world instead of those of the link.
    pub(crate) in_world: bool,
    /// The parameter at the start.
    pub(crate) control: f64,
}

/// A constant force at the centre of mass of a link against its weight.
pub(crate) struct Lift {
    pub(crate) link: usize,
    /// Part of the weight that it takes.
    pub(crate) share: f64,
}

impl Robot {
    /// All joints of the tree.
    pub(crate) fn joints(&self) -> impl Iterator<Item = &Joint> {
        self.links.iter().flat_map(|link| match &link.attachment {
            Attachment::Joints(joints) => joints.as_slice(),
            _ => &[],
        })
    }

    /// All joints of the tree, to be changed.
    pub(crate) fn joints_mut(&mut self) -> impl Iterator<Item = &mut Joint> {
        self.links.iter_mut().flat_map(|link| match &mut link.attachment {
            Attachment::Joints(joints) => joints.as_mut_slice(),
            _ => &mut [],
        })
    }
}

/// Two links that do not collide.
#[derive(Clone, Copy)]
pub(crate) struct Apart {
    pub(crate) links: (usize, usize),
    /// Whether all links of their bodies are meant.
    pub(crate) whole_bodies: bool,
}

/// Two colliders that meet, whatever else keeps them apart.
pub(crate) struct Pair {
    /// Link and number of each.
    pub(crate) colliders: [(usize, usize); 2],
    pub(crate) spot: Spot,
}

/// A link, or a body of MJCF.
pub(crate) struct Link {
    pub(crate) name: String,
    /// The link that it is attached to; the world if none.
    pub(crate) parent: Option<usize>,
    /// Its frame in that of its parent, at zero coordinates.
    pub(crate) frame: Frame,
    pub(crate) attachment: Attachment,
    /// Its inertia in its frame; none if it has no mass.
    pub(crate) inertia: Option<Inertia>,
    pub(crate) colliders: Vec<Collider>,
    /// Velocity of its origin (m/s) and angular velocity (rad/s) at the start against its parent,
    /// in the axes of that, beside those of its joints.
    pub(crate) drift: [Vec3; 2],
    pub(crate) spot: Spot,
}

/// How a link moves against its parent.
pub(crate) enum Attachment {
    /// Not at all: it is a part of the body of its parent.
    Rigid,
    /// In all directions.
    Free,
    /// Not at all, but as a body of its own, whose coordinates the scene holds.
    Held,
    /// By joints, the one next to the parent first.
    Joints(Vec<Joint>),
}

/// The motion that a joint leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    /// Turns about its axis.
    Hinge,
    /// Slides along its axis.
    Slider,
    /// Turns about everything.
    Ball,
    /// Slides across its axis and turns about it.
    Planar,
}

/// A joint; vectors are in the frame of its link.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    pub(crate) name: String,
    pub(crate) motion: Motion,
    /// A point that it leaves where it is.
    pub(crate) anchor: Vec3,
    /// Unit vector.
    pub(crate) axis: Vec3,
    /// The coordinate at the start of the scene (m, rad).
    pub(crate) start: f64,
    /// Its rate at the start (m/s, rad/s).
    pub(crate) speed: f64,
    /// The coordinate of the scene per that of the file.
    pub(crate) scale: f64,
    /// The coordinate that the file has where the scene has zero.
    pub(crate) reference: f64,
    /// The coordinate of the file where springs over the joint are at rest.
    pub(crate) rest: f64,
    /// Whether it has no name of its own in the file, because it follows another one.
    pub(crate) follows: bool,
    pub(crate) effects: Effects,
    pub(crate) spot: Spot,
}

/// Effects on the coordinate of a joint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub(crate) lower: Option<f64>,
    pub(crate) upper: Option<f64>,
    /// A range that the file has and does not enforce.
    pub(crate) range: Option<[f64; 2]>,
    /// N m s/rad, N s/m.
    pub(crate) damping: f64,
    /// Largest dry friction (N, N m).
    pub(crate) friction: f64,
    /// Inertia of the drive (kg m^2, kg).
    pub(crate) armature: f64,
    /// Stiffness and the coordinate at rest.
    pub(crate) spring: Option<(f64, f64)>,
    pub(crate) motors: Vec<Motor>,
    /// Springs along curves, as of limits that give way.
    pub(crate) stops: Vec<Stop>,
    /// Force or torque that it applies, as a number in the scene.
    pub(crate) forces: Vec<Force>,
    /// Damping that a number in the scene sets: `gear` is that per unit.
    pub(crate) brakes: Vec<Force>,
    /// Largest force and velocity that the file allows.
    pub(crate) effort: Option<f64>,
    pub(crate) velocity: Option<f64>,
}

/// A spring along a curve.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    pub(crate) name: String,
    /// Tension (N, N m) over the coordinate, which rises.
    pub(crate) table: Vec<(f64, f64)>,
}

/// A servo of position.
#[derive(Clone, Debug)]
pub(crate) struct Motor {
    pub(crate) name: String,
    /// Stiffness (N/m, N m/rad).
    pub(crate) stiffness: f64,
    /// Damping that the servo brings with it (N s/m, N m s/rad).
    pub(crate) damping: f64,
    /// Length per coordinate: a control of the file is so many times the target.
    pub(crate) gear: f64,
    /// The coordinate that it drives to at the start.
    pub(crate) target: f64,
    /// Largest force.
    pub(crate) force: Option<f64>,
}

/// A force on a coordinate that a parameter of the scene sets.
#[derive(Clone, Debug)]
pub(crate) struct Force {
    pub(crate) name: String,
    /// Force per unit of control.
    pub(crate) gear: f64,
    /// Control at the start.
    pub(crate) control: f64,
}

/// A shape on a link, in its frame.
#[derive(Clone, Debug)]
pub(crate) struct Collider {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) frame: Frame,
    /// Index of its material.
    pub(crate) material: Option<usize>,
    /// Bits that say what it meets: type and affinity of MJCF.
    pub(crate) bits: (u32, u32),
}

/// The shape of a collider; lengths in m.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Everything below its z axis.
    Plane,
    Box([f64; 3]),
    Sphere(f64),
    Cylinder {
        radius: f64,
        length: f64,
    },
    Capsule {
        radius: f64,
        length: f64,
    },
    /// The hull of a mesh file, as the scene names it.
    Hull {
        file: String,
        scale: f64,
    },
}

/// A surface.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Material {
    pub(crate) friction: f64,
    pub(crate) torsional: f64,
    pub(crate) rolling: f64,
    /// Directions in which there is friction where it meets its like, counted with the normal: 1,
    /// from 3 on sliding, from 4 on torsion, from 6 on rolling.
    pub(crate) directions: f64,
}

impl Material {
    /// The coefficients that have an effect where it meets its like.
    pub(crate) fn effective(&self) -> [f64; 3] {
        let from = |least: f64, x: f64| if self.directions < least { 0.0 } else { x };
        [
            from(3.0, self.friction),
            from(4.0, self.torsional),
            from(6.0, self.rolling),
        ]
    }

    /// Two surfaces together by the greater of each of their numbers.
    pub(crate) fn greater(&self, other: &Self) -> Self {
        Self {
            friction: self.friction.max(other.friction),
            torsional: self.torsional.max(other.torsional),
            rolling: self.rolling.max(other.rolling),
            directions: self.directions.max(other.directions),
        }
    }
}

/// A row `first + ratio second` that keeps its value, between coordinates of joints.
pub(crate) struct Gear {
    pub(crate) name: String,
    /// Names of the joints.
    pub(crate) first: String,
    pub(crate) second: String,
    pub(crate) ratio: f64,
    pub(crate) spot: Spot,
}

/// A joint between links that the tree does not have.
pub(crate) struct Closure {
    pub(crate) name: String,
    /// The kind of joint of the scene language.
    pub(crate) kind: &'static str,
    /// Its sides: a link (the world if none) and the frame in it.
    pub(crate) a: (Option<usize>, Frame),
    pub(crate) b: (Option<usize>, Frame),
}

/// A length that coordinates of joints or the places of links make, and what acts on it.
pub(crate) struct Tendon {
    pub(crate) name: String,
    pub(crate) course: Course,
    pub(crate) effects: Effects,
    /// Lengths between which its spring has no force, if they are two.
    pub(crate) slack: Option<[f64; 2]>,
    pub(crate) spot: Spot,
}

/// The length of a tendon.
pub(crate) enum Course {
    /// A sum of coordinates of joints.
    Sum {
        /// Name of a joint, factor.
        terms: Vec<(String, f64)>,
        /// Part of its length that the coordinates of the scene do not have.
        offset: f64,
    },
    /// A sum of lines through points.
    Lines(Vec<Branch>),
}

/// A line through points that are fixed in links, or in the world.
#[derive(Clone)]
pub(crate) struct Branch {
    pub(crate) points: Vec<(Option<usize>, Vec3)>,
    /// Part of its length that counts.
    pub(crate) share: f64,
}

/// A row that holds the length of a tendon, by that of another one if there is one: what they are
/// more than at the coordinates of the file.
pub(crate) struct TendonRow {
    pub(crate) name: String,
    /// Numbers of tendons, and their lengths at the coordinates of the file.
    pub(crate) first: (usize, f64),
    pub(crate) second: Option<(usize, f64)>,
    /// Coefficients of the first over the second, the constant first.
    pub(crate) polynomial: [f64; 5],
    pub(crate) spot: Spot,
}
