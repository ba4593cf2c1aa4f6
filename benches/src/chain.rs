//! The chain that engines are compared on: identical boxes on ball joints, the last one heavy.
//!
//! N boxes of 0.1 x 0.02 x 0.02 m (long axis local x) and 1 kg; the last has `last_mass` kg. Ball
//! joints join the world origin to (-0.05, 0, 0) of the first and (+0.05, 0, 0) of each to (-0.05,
//! 0, 0) of the next. Gravity 9.81 m/s^2 along -z.

#[cfg(feature = "peers")]
pub mod peer;

use crate::heaps::{Moment, Motion};
use pliant::dense::{Vec3, rotation};
use pliant::prelude::*;

/// Length of a link in metres.
pub const LENGTH: f64 = 0.1;
/// Gravity (m/s^2), along -z.
pub const GRAVITY: f64 = 9.81;
/// Width and height of a link in metres.
pub const WIDTH: f64 = 0.02;

/// How the chain starts, at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pose {
    /// Straight along +x.
    Swing,
    /// Straight down.
    Hang,
}

/// Parameters of the scene.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// Number of links.
    pub links: usize,
    /// Mass of the last link in kilograms.
    pub last_mass: f64,
    /// Start.
    pub pose: Pose,
    /// How the joints are kept.
    pub level: Level,
}

/// How well a chain held.
#[derive(Clone, Copy, Debug)]
pub struct Quality {
    /// Largest distance between the two points of a joint after any step, in metres.
    pub gap: f64,
    /// Largest rise of the energy in one step, relative to the reference energy; negative if it
    /// always fell.
    pub rise: f64,
    /// Linear solves per step.
    pub solves: f64,
    /// Share of steps with clamped geometric stiffness.
    pub clamped: f64,
}

/// A chain in motion.
#[derive(Debug)]
pub struct MovingChain {
    /// The simulation.
    pub simulation: Simulation,
    /// The links.
    pub bodies: NodeId,
    /// Differences of the joints' two points.
    pub joints: NodeId,
    /// The joints.
    pub constraint: ComponentId,
    /// Energy released from the horizontal to straight down, in joules.
    pub reference_energy: f64,
}

impl Chain {
    /// The measured chain: second-order rows.
    pub fn new(links: usize, last_mass: f64, pose: Pose) -> Self {
        Self {
            links,
            last_mass,
            pose,
            level: Level::CurvedPosition,
        }
    }

    /// Takes steps of 0.01 s and watches joints and energy.
    ///
    /// # Errors
    /// The error of the simulation.
    pub fn hold(&self, steps: usize, options: &Options) -> Result<Quality, Error> {
        let mut c = self.simulation()?;
        c.simulation.options = options.clone();
        let mut energy = c.simulation.problem().energies(c.simulation.state()).total();
        let mut out = Quality {
            gap: 0.0,
            rise: f64::NEG_INFINITY,
            solves: 0.0,
            clamped: 0.0,
        };
        for _ in 0..steps {
            let report = c.simulation.step(0.01)?;
            out.gap = out.gap.max(c.gap());
            out.rise = out
                .rise
                .max((report.energies.total() - energy) / c.reference_energy);
            out.solves += report.solve.geometry_passes as f64 / steps as f64;
            out.clamped += f64::from(u8::from(report.solve.geometry_clamped)) / steps as f64;
            energy = report.energies.total();
        }
        Ok(out)
    }

    /// Builds the scene.
    ///
    /// # Errors
    /// The error of the model or of the plan.
    pub fn simulation(&self) -> Result<MovingChain, Error> {
        let n = self.links;
        let poses: Vec<_> = (0..n)
            .map(|i| {
                let s = LENGTH * (i as f64 + 0.5);
                match self.pose {
                    Pose::Swing => pliant::model::Pose::at([s, 0.0, 0.0]),
                    // A quarter turn about y takes x to -z.
                    Pose::Hang => pliant::model::Pose::turned(
                        [0.0, 0.0, -s],
                        [0.0, 1.0, 0.0],
                        std::f64::consts::FRAC_PI_2,
                    ),
                }
            })
            .collect();
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -GRAVITY])?;
        let bodies = model.add_rigid_bodies("links", &poses)?;
        let mass = |i: usize| if i + 1 == n { self.last_mass } else { 1.0 };
        let boxes = (0..n)
            .map(|i| RigidMass::cuboid(mass(i), [LENGTH, WIDTH, WIDTH]))
            .collect();
        model.add_mass("link masses", bodies, Mass::Rigid(boxes))?;
        let half = LENGTH / 2.0;
        let ends: Vec<_> = (0..n)
            .flat_map(|i| [(i, [-half, 0.0, 0.0]), (i, [half, 0.0, 0.0])])
            .take(2 * n - 1)
            .collect();
        let points = model.add_mapped("joint points", &[bodies], RigidPoints::new(&ends))?;
        let pairs: Vec<_> = (0..n)
            .map(|i| {
                let other = if i == 0 {
                    End::Point([0.0; 3])
                } else {
                    End::element(0, 2 * i - 1)
                };
                (End::element(0, 2 * i), other)
            })
            .collect();
        let joints = model.add_mapped("joints", &[points], Difference::new(&pairs))?;
        let constraint = model.add_constraint("ball joints", joints, self.level)?;
        let reference_energy = (0..n)
            .map(|i| mass(i) * GRAVITY * (i as f64 + 0.5) * LENGTH)
            .sum();
        Ok(MovingChain {
            simulation: Simulation::with_options(model, Options::theta())?,
            bodies,
            joints,
            constraint,
            reference_energy,
        })
    }
}

impl MovingChain {
    /// Largest distance between the two points of a joint in metres.
    pub fn gap(&self) -> f64 {
        let gaps = self.simulation.positions(self.joints).as_chunks::<3>().0.iter();
        gaps.map(|d| d.iter().map(|x| x * x).sum::<f64>().sqrt())
            .fold(0.0, f64::max)
    }

    /// The free end of the last link.
    pub fn tip(&self) -> [f64; 3] {
        tip(&crate::heaps::moment(&self.simulation, self.bodies))
    }
}

/// The free end of the last link of a chain, whoever moved it.
pub fn tip(links: &Moment) -> [f64; 3] {
    links.last().map_or([0.0; 3], |link| end(link, 1.0))
}

/// One end of a link, that towards +x (`side` 1) or -x (-1) of its own axes.
pub fn end(link: &Motion, side: f64) -> [f64; 3] {
    let arm = Vec3::new(side * 0.5 * LENGTH, 0.0, 0.0);
    (Vec3::from(link.0) + rotation::rotate(link.1, arm)).into()
}
