//! The net that engines are compared on: knots of 1 g, 5 cm apart, on springs of 10,000 N/m along
//! the sides and both diagonals of every mesh, flat and at rest, held at two corners of one side.

use pliant::prelude::*;

/// Distance of two knots (m).
const PITCH: f64 = 0.05;
/// Mass of a knot (kg).
const MASS: f64 = 0.001;
/// Compliance of a spring (m/N).
const COMPLIANCE: f64 = 1e-4;
const GRAVITY: f64 = 9.81;

/// A net in motion.
#[derive(Debug)]
pub struct MovingNet {
    /// The simulation.
    pub simulation: Simulation,
    knots: NodeId,
    lengths: NodeId,
    rest: Vec<f64>,
    /// Energy released from the plane to hanging straight down, in joules.
    pub reference_energy: f64,
}

impl MovingNet {
    /// A net of `side` times `side` knots whose springs are treated in a way.
    ///
    /// # Errors
    /// The error of the model or of the plan.
    pub fn new(side: usize, treatment: Treatment) -> Result<Self, Error> {
        let place = |i: usize| [PITCH * (i % side) as f64, PITCH * (i / side) as f64, 0.0];
        let places: Vec<_> = (0..side * side).map(place).collect();
        let mut pairs = Vec::new();
        for a in 0..side * side {
            let (right, up) = (a % side + 1 < side, a / side + 1 < side);
            let springs = [
                (right, a, a + 1),
                (up, a, a + side),
                (right && up, a, a + side + 1),
                (right && up, a + 1, a + side),
            ];
            pairs.extend(springs.into_iter().filter(|s| s.0).map(|s| (s.1, s.2)));
        }
        let distance = |(a, b): &(usize, usize)| {
            let (x, y) = (places[*a], places[*b]);
            (x[0] - y[0]).hypot(x[1] - y[1])
        };
        let rest: Vec<f64> = pairs.iter().map(distance).collect();
        let end = |i: usize| End::element(0, i);
        let ends: Vec<_> = pairs.iter().map(|(a, b)| (end(*a), end(*b))).collect();
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -GRAVITY])?;
        let knots = model.add_particles("knots", &places)?;
        model.add_mass("masses", knots, Mass::Uniform(MASS))?;
        let mapping = Distance::new(&ends).with_rest_lengths(&rest);
        let lengths = model.add_mapped("lengths", &[knots], mapping)?;
        model.add_force_field("springs", lengths, UniformCompliance::new(COMPLIANCE), treatment)?;
        for corner in [0, (side - 1) * side] {
            model.fix(knots, corner, &[true; 3])?;
        }
        Ok(Self {
            simulation: Simulation::with_options(model, Options::theta())?,
            knots,
            lengths,
            rest,
            reference_energy: 0.5 * MASS * GRAVITY * (side * side) as f64 * PITCH * (side - 1) as f64,
        })
    }

    /// The mean height of the knots (m).
    pub fn mean_height(&self) -> f64 {
        let knots = self.simulation.positions(self.knots).as_chunks::<3>().0;
        knots.iter().map(|x| x[2]).sum::<f64>() / knots.len() as f64
    }

    /// The largest strain of a spring, of either sign.
    pub fn strain(&self) -> f64 {
        let changes = self.simulation.positions(self.lengths).iter();
        changes
            .zip(&self.rest)
            .fold(0.0f64, |a, (d, l)| a.max((d / l).abs()))
    }
}
