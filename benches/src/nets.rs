//! The net that engines are compared on: knots of 1 g, 5 cm apart, on springs of 10,000 N/m along
//! the sides and both diagonals of every mesh, flat and at rest, held at two corners of one side.

#[cfg(feature = "peers")]
pub mod peer;

use pliant::prelude::*;

/// Distance of two knots (m).
const PITCH: f64 = 0.05;
/// Mass of a knot (kg).
pub const MASS: f64 = 0.001;
/// Stiffness of a spring (N/m).
pub const STIFFNESS: f64 = 1e4;
/// Gravity (m/s^2), along -z.
pub const GRAVITY: f64 = 9.81;

/// The net at rest.
#[derive(Clone, Debug)]
pub struct Net {
    /// Knots per side.
    pub side: usize,
    /// Where the knots are (m), row by row.
    pub knots: Vec<[f64; 3]>,
    /// The knots that each spring joins.
    pub springs: Vec<(usize, usize)>,
    /// The length of each spring without force (m).
    pub lengths: Vec<f64>,
}

impl Net {
    /// A net of `side` times `side` knots.
    pub fn new(side: usize) -> Self {
        let place = |i: usize| [PITCH * (i % side) as f64, PITCH * (i / side) as f64, 0.0];
        let knots: Vec<_> = (0..side * side).map(place).collect();
        let mut springs = Vec::new();
        for a in 0..side * side {
            let (right, up) = (a % side + 1 < side, a / side + 1 < side);
            let of_mesh = [
                (right, a, a + 1),
                (up, a, a + side),
                (right && up, a, a + side + 1),
                (right && up, a + 1, a + side),
            ];
            springs.extend(of_mesh.into_iter().filter(|s| s.0).map(|s| (s.1, s.2)));
        }
        let length = |(a, b): &(usize, usize)| {
            let (x, y) = (knots[*a], knots[*b]);
            (x[0] - y[0]).hypot(x[1] - y[1])
        };
        let lengths = springs.iter().map(length).collect();
        Self {
            side,
            knots,
            springs,
            lengths,
        }
    }

    /// The knots that are held: two corners of one side.
    pub fn held(&self) -> [usize; 2] {
        [0, (self.side - 1) * self.side]
    }

    /// Energy released from the plane to hanging straight down, in joules.
    pub fn reference_energy(&self) -> f64 {
        0.5 * MASS * GRAVITY * self.knots.len() as f64 * PITCH * (self.side - 1) as f64
    }
}

/// A net in motion.
#[derive(Debug)]
pub struct MovingNet {
    /// The simulation.
    pub simulation: Simulation,
    /// The knots.
    pub knots: NodeId,
    lengths: NodeId,
    net: Net,
    /// Energy released from the plane to hanging straight down, in joules.
    pub reference_energy: f64,
}

impl MovingNet {
    /// A net of `side` times `side` knots whose springs are treated in a way.
    ///
    /// # Errors
    /// The error of the model or of the plan.
    pub fn new(side: usize, treatment: Treatment) -> Result<Self, Error> {
        let net = Net::new(side);
        let end = |i: usize| End::element(0, i);
        let ends: Vec<_> = net.springs.iter().map(|(a, b)| (end(*a), end(*b))).collect();
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -GRAVITY])?;
        let knots = model.add_particles("knots", &net.knots)?;
        model.add_mass("masses", knots, Mass::Uniform(MASS))?;
        let mapping = Distance::new(&ends).with_rest_lengths(&net.lengths);
        let lengths = model.add_mapped("lengths", &[knots], mapping)?;
        let law = UniformCompliance::new(1.0 / STIFFNESS);
        model.add_force_field("springs", lengths, law, treatment)?;
        for corner in net.held() {
            model.fix(knots, corner, &[true; 3])?;
        }
        Ok(Self {
            simulation: Simulation::with_options(model, Options::theta())?,
            knots,
            lengths,
            reference_energy: net.reference_energy(),
            net,
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
            .zip(&self.net.lengths)
            .fold(0.0f64, |a, (d, l)| a.max((d / l).abs()))
    }
}
