//! Measures of the states of a scene, whichever program made them.

use super::case::{beam_tip, chain_tip, net_heights};
use super::{Case, Frame, Material, Subject};
use crate::beams;
use crate::chain::{GRAVITY, LENGTH, Pose, WIDTH, end, tip};
use crate::heaps::{Heap, Moment, Motion, Piece, speed};
use crate::nets::{self, Net};
use pliant::dense::Vec3;

/// Measures of one run, kept up with its states.
///
/// Energies are relative to that of the start, over the energy that the motion turns over: from
/// the horizontal to straight down. Lengths are in metres.
#[derive(Debug)]
pub struct Judge {
    subject: Subject,
    scene: Known,
    step: f64,
    /// Energy at the start (J), and the reference energy (J).
    start: (f64, f64),
    most: f64,
    last: f64,
    rise: f64,
    end: f64,
    reach: f64,
    drift: f64,
    moved: f64,
    speed: f64,
    at: [f64; 2],
    reference: Option<[f64; 2]>,
}

/// Facts of a scene that are not in its states.
#[derive(Debug)]
enum Known {
    Chain,
    Boxes(Heap, Vec<(usize, Option<usize>)>),
    Net(Net),
    /// The end nodes, and their mean height at the start.
    Beam(Vec<usize>, f64),
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (Vec3::from(a) - Vec3::from(b)).norm()
}

impl Judge {
    /// For a case, with the law of the material that a program has.
    ///
    /// # Errors
    /// If a beam cannot be meshed.
    pub fn new(case: &Case, material: Material) -> Result<Self, String> {
        let (mut start, mut reference) = ((0.0, 1.0), None);
        let scene = match case.subject {
            Subject::Chain {
                links,
                last_mass,
                pose,
            } => {
                let height = |i: usize| (i as f64 + 0.5) * LENGTH;
                let weights = (0..links).map(|i| mass(i, links, last_mass) * GRAVITY * height(i));
                start.1 = weights.sum();
                if pose == Pose::Hang {
                    start.0 = -start.1;
                } else {
                    reference = chain_tip(links, last_mass);
                }
                Known::Chain
            }
            Subject::Boxes(boxes) => {
                let heap = boxes.heap();
                start.0 = heap.bodies.iter().map(|b| b.mass * GRAVITY * b.at[2]).sum();
                Known::Boxes(heap, boxes.supports())
            }
            Subject::Net(side) => {
                let net = Net::new(side);
                start.1 = net.reference_energy();
                reference = net_heights(side);
                Known::Net(net)
            }
            Subject::Beam(cells) => {
                let mesh = beams::mesh(cells).map_err(|e| e.to_string())?;
                let ends = beams::end_nodes(&mesh);
                let heights = ends.iter().map(|k| mesh.nodes[*k][2]);
                let height = heights.sum::<f64>() / ends.len() as f64;
                reference = beam_tip(cells, material).map(|z| [z; 2]);
                Known::Beam(ends, height)
            }
        };
        Ok(Self {
            subject: case.subject,
            scene,
            step: case.step,
            start,
            most: 0.0,
            last: 0.0,
            rise: 0.0,
            end: 0.0,
            reach: 0.0,
            drift: 0.0,
            moved: 0.0,
            speed: 0.0,
            at: [f64::NAN; 2],
            reference,
        })
    }

    /// Total energy of a state (J); kinetic energy alone of a beam.
    pub fn energy(&self, frame: &Frame) -> f64 {
        let square = |v: [f64; 3]| v.iter().map(|v| v * v).sum::<f64>();
        match (&self.scene, self.subject) {
            (Known::Chain, Subject::Chain { links, last_mass, .. }) => {
                let one = |(i, (x, _, v, w)): (usize, &Motion)| {
                    let m = mass(i, links, last_mass);
                    let (thin, long) = (2.0 * WIDTH * WIDTH, LENGTH * LENGTH + WIDTH * WIDTH);
                    let turning = thin * w[0] * w[0] + long * (w[1] * w[1] + w[2] * w[2]);
                    m * (0.5 * square(*v) + turning / 24.0 + GRAVITY * x[2])
                };
                frame.bodies.iter().enumerate().map(one).sum()
            }
            (Known::Boxes(heap, _), _) => heap.energy(&frame.bodies),
            (Known::Net(net), _) => {
                let moving: f64 = (frame.points.iter())
                    .map(|(x, v)| nets::MASS * (0.5 * square(*v) + nets::GRAVITY * x[2]))
                    .sum();
                let springs = net.springs.iter().zip(&net.lengths).map(|((a, b), length)| {
                    let now = distance(frame.points[*a].0, frame.points[*b].0);
                    0.5 * nets::STIFFNESS * (now - length).powi(2)
                });
                moving + springs.sum::<f64>()
            }
            _ => frame.points.iter().map(|(_, v)| 0.5 * square(*v)).sum(),
        }
    }

    /// Looks at the state at a time (s).
    pub fn observe(&mut self, time: f64, frame: &Frame) {
        let change = (self.energy(frame) - self.start.0) / self.start.1;
        self.rise = self.rise.max(change);
        self.end = change;
        let is = |at: f64| (time - at).abs() < 0.5 * self.step;
        let found = match &self.scene {
            Known::Chain => {
                let last = tip(&frame.bodies);
                self.reach = self.reach.max(Vec3::from(last).norm());
                if is(0.5) {
                    self.at = [last[0], last[2]];
                }
                gap(&frame.bodies)
            }
            Known::Boxes(heap, supports) => {
                self.drift = drift(&heap.bodies, &frame.bodies);
                self.moved = self.moved.max(heap.moved(&frame.bodies));
                self.speed = speed(&frame.bodies);
                let height = |k: usize| frame.bodies[k].0[2];
                let one = |(k, below): &(usize, Option<usize>)| match below {
                    Some(below) => 0.2 - (height(*k) - height(*below)),
                    None => 0.1 - height(*k),
                };
                supports.iter().map(one).fold(0.0, f64::max)
            }
            Known::Net(net) => {
                let heights = frame.points.iter().map(|p| p.0[2]).sum::<f64>();
                for (at, k) in [(0.5, 0), (1.0, 1)] {
                    if is(at) {
                        self.at[k] = heights / frame.points.len() as f64;
                    }
                }
                let strains = net.springs.iter().zip(&net.lengths).map(|((a, b), length)| {
                    (distance(frame.points[*a].0, frame.points[*b].0) / length - 1.0).abs()
                });
                strains.fold(0.0, f64::max)
            }
            Known::Beam(ends, height) => {
                let speeds = frame.points.iter().map(|(_, v)| Vec3::from(*v).norm());
                self.speed = speeds.fold(0.0, f64::max);
                let heights = ends.iter().map(|k| frame.points[*k].0[2]);
                heights.sum::<f64>() / ends.len() as f64 - height
            }
        };
        self.most = self.most.max(found);
        self.last = found;
    }

    /// The measures, by [`Scene::columns`](super::Scene::columns); NaN for what was not reached or
    /// has no reference.
    pub fn measures(&self) -> Vec<f64> {
        let [x, z] = self.reference.unwrap_or([f64::NAN; 2]);
        match self.subject {
            Subject::Chain { links, .. } => {
                let miss = (self.at[0] - x).hypot(self.at[1] - z);
                let reach = self.reach / (links as f64 * LENGTH);
                vec![self.most, self.last, reach, self.rise, self.end, miss]
            }
            Subject::Boxes(_) => vec![self.most, self.last, self.drift, self.speed, self.moved],
            Subject::Net(_) => {
                let [half, whole] = self.at;
                let errors = [(half - x).abs(), (whole - z).abs()];
                vec![self.most, self.rise, self.end, half, errors[0], whole, errors[1]]
            }
            Subject::Beam(_) => vec![self.last, (self.last - x).abs(), self.speed],
        }
    }
}

/// Mass of a link (kg).
fn mass(link: usize, links: usize, last_mass: f64) -> f64 {
    if link + 1 == links { last_mass } else { 1.0 }
}

/// Largest distance between the two points of a joint (m).
fn gap(links: &Moment) -> f64 {
    let first = links
        .first()
        .map_or(0.0, |link| Vec3::from(end(link, -1.0)).norm());
    let others = links
        .windows(2)
        .map(|two| distance(end(&two[0], 1.0), end(&two[1], -1.0)));
    others.fold(first, f64::max)
}

/// Largest horizontal way from the start (m).
fn drift(start: &[Piece], now: &Moment) -> f64 {
    let ways = start.iter().zip(now);
    ways.map(|(p, m)| (m.0[0] - p.at[0]).hypot(m.0[1] - p.at[1]))
        .fold(0.0, f64::max)
}
