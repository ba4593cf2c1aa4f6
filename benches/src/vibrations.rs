//! A clamped beam of finite elements that swings freely for many periods: what happens to its
//! energy.

use crate::orders::WINDOWS;
use crate::verify::distance;
use pliant::continuum::{Mesh, Solid};
use pliant::prelude::*;

const SIZE: [f64; 3] = [1.0, 0.1, 0.1];
const YOUNG: f64 = 1e6;
const POISSON: f64 = 0.3;

/// Nodes of a mesh and their forces (N).
type Forces = Vec<(usize, [f64; 3])>;

/// The materials, and their names in tables.
pub fn materials() -> [(&'static str, Solid); 3] {
    [
        ("linear", Solid::linear(YOUNG, POISSON)),
        ("corotational", Solid::corotational(YOUNG, POISSON)),
        ("St Venant-Kirchhoff", Solid::st_venant_kirchhoff(YOUNG, POISSON)),
    ]
}

/// The first mode of bending of the clamped beam, of its mesh and for small motions.
#[derive(Clone, Debug)]
pub struct Mode {
    mesh: Mesh,
    /// Displacements (m) of the nodes, for a tip that moves by 1 m.
    pub shape: Vec<[f64; 3]>,
    /// Masses (kg) of the nodes.
    masses: Vec<f64>,
    /// Its frequency (rad/s).
    pub omega: f64,
}

impl Mode {
    /// The mode of a beam of 1 m x 0.1 m x 0.1 m, 1 MPa, Poisson's ratio 0.3 and 1000 kg/m^3 in so
    /// many cells, clamped at `x = 0`: by inverse iteration with forces on the nodes, each time to
    /// rest.
    ///
    /// # Errors
    /// None for cells of at least one in each direction.
    pub fn first(cells: [usize; 3]) -> Result<Self, Box<dyn std::error::Error>> {
        let mesh = Mesh::hexahedral_box(SIZE, cells)?;
        let Mass::PerElement(masses) = mesh.lumped_mass(1000.0)? else {
            return Err("a lumped mass is one number per node".into());
        };
        let mut out = Self {
            shape: vec![[0.0, 0.0, 1.0]; mesh.nodes.len()],
            mesh,
            masses,
            omega: 0.0,
        };
        let (_, stiff) = &materials()[0];
        // The next mode is six times as fast: errors fall by 39 in each pass.
        for _ in 0..12 {
            let deflected = out.at_rest_under(stiff, &out.forces(1.0))?;
            let shape: Vec<[f64; 3]> = deflected
                .iter()
                .zip(&out.mesh.nodes)
                .map(|(x, at)| minus(x, at))
                .collect();
            let tip = shape.last().map_or(1.0, |u| u[2]);
            let products = out.masses.iter().zip(shape.iter().zip(&out.shape));
            let (mut mixed, mut own) = (0.0, 0.0);
            for (m, (new, old)) in products {
                mixed += m * dot(new, old);
                own += m * dot(new, new);
            }
            out.omega = (mixed / own).sqrt();
            out.shape = shape.iter().map(|u| u.map(|u| u / tip)).collect();
        }
        Ok(out)
    }

    /// Its period (s).
    pub fn period(&self) -> f64 {
        std::f64::consts::TAU / self.omega
    }

    /// Masses times the shape times this factor (1/s^2), in newtons.
    fn forces(&self, factor: f64) -> Forces {
        let of = |(k, (m, u)): (usize, (&f64, &[f64; 3]))| (k, u.map(|u| factor * m * u));
        self.masses.iter().zip(&self.shape).enumerate().map(of).collect()
    }

    fn simulation(&self, solid: &Solid) -> Result<(Simulation, NodeId), Box<dyn std::error::Error>> {
        let mut model = Model::new();
        let parts = solid.add_to(&mut model, "beam", &self.mesh)?;
        for (k, x) in self.mesh.nodes.iter().enumerate() {
            if x[0] == 0.0 {
                model.fix(parts.nodes, k, &[true; 3])?;
            }
        }
        Ok((Simulation::with_options(model, Options::theta())?, parts.nodes))
    }

    fn at_rest_under(
        &self,
        solid: &Solid,
        forces: &Forces,
    ) -> Result<Vec<[f64; 3]>, Box<dyn std::error::Error>> {
        let (mut simulation, nodes) = self.simulation(solid)?;
        for (k, force) in forces {
            simulation.set_force(nodes, *k, force)?;
        }
        simulation.find_equilibrium(&Equilibrium {
            tolerance: 1e-12,
            ..Equilibrium::default()
        })?;
        Ok(simulation.positions(nodes).as_chunks::<3>().0.to_vec())
    }

    /// A beam of this material at rest, deflected by the forces that bend a linear one into this
    /// mode with a tip at `amplitude` (m), and let go.
    ///
    /// # Errors
    /// The error of the simulation, of amplitudes beyond its length.
    pub fn let_go(&self, solid: &Solid, amplitude: f64) -> Result<Simulation, Box<dyn std::error::Error>> {
        let deflected = self.at_rest_under(solid, &self.forces(self.omega * self.omega * amplitude))?;
        let (mut simulation, _) = self.simulation(solid)?;
        let mut state = simulation.state().clone();
        state.positions[..3 * deflected.len()].copy_from_slice(deflected.as_flattened());
        simulation.set_state(&state)?;
        Ok(simulation)
    }

    /// How far the beam is (m) from where the trapezoidal rule has a linear one after so many steps
    /// of `h` from rest at `amplitude`, in the worst node: the mode times
    /// `cos(2 n atan(omega h/2))`.
    pub fn distance_from_the_mode(
        &self,
        simulation: &Simulation,
        amplitude: f64,
        h: f64,
        steps: usize,
    ) -> f64 {
        let part = amplitude * (2.0 * steps as f64 * (0.5 * self.omega * h).atan()).cos();
        let positions = simulation.state().positions.as_chunks::<3>().0;
        let nodes = positions.iter().zip(self.mesh.nodes.iter().zip(&self.shape));
        let off = nodes.map(|(x, (at, u))| {
            let wanted: [f64; 3] = std::array::from_fn(|i| at[i] + part * u[i]);
            distance(x, &wanted)
        });
        off.fold(0.0, f64::max)
    }
}

/// The energy error of a run, as shares of the energy at its start.
#[derive(Debug, Default)]
pub struct Course {
    /// The largest in each of [`WINDOWS`] equal parts of the run; of fewer if a step failed.
    pub largest: Vec<f64>,
    /// Slope per period of the line of least squares through the errors of all steps, with their
    /// sign.
    pub slope: f64,
    /// Root of the mean square of what is left of them beside that line.
    pub scatter: f64,
    /// The error that ended the run early, and after how many periods.
    pub failure: Option<(f64, Error)>,
}

/// Takes so many periods in steps of a part of a period.
pub fn swing(
    simulation: &mut Simulation,
    options: &Options,
    (period, periods, per_period): (f64, usize, usize),
) -> Course {
    simulation.options = options.clone();
    let start = simulation.problem().energies(simulation.state()).total();
    let (steps, h) = (periods * per_period, period / per_period as f64);
    let mut out = Course::default();
    let mut errors = Vec::with_capacity(steps);
    for k in 0..steps {
        match simulation.step(h) {
            Ok(report) => errors.push(report.energies.total() / start - 1.0),
            Err(error) => {
                out.failure = Some((k as f64 / per_period as f64, error));
                break;
            }
        }
    }
    let window = steps.div_ceil(WINDOWS).max(1);
    let largest = |part: &[f64]| part.iter().fold(0.0f64, |a, e| a.max(e.abs()));
    out.largest = errors.chunks(window).map(largest).collect();
    (out.slope, out.scatter) = line(&errors, per_period as f64);
    out
}

/// Slope and scatter of numbers at equal distances, so many of them per unit.
fn line(numbers: &[f64], per_unit: f64) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let time = |k: usize| (k as f64 - 0.5 * (count - 1.0)) / per_unit;
    let pairs = || numbers.iter().enumerate().map(|(k, e)| (time(k), e - mean));
    let squares: f64 = pairs().map(|(t, _)| t * t).sum();
    let slope = pairs().map(|(t, e)| t * e).sum::<f64>() / squares;
    let left: f64 = pairs().map(|(t, e)| (e - slope * t).powi(2)).sum();
    (slope, (left / count).sqrt())
}

fn minus(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn the_line_of_least_squares_is_found() {
        // A line of slope 3 per unit of four, and +-2 beside it in pairs that have no slope of
        // their own.
        let numbers: Vec<f64> = (0..400)
            .map(|k| 0.75 * f64::from(k) + [2.0, -2.0, -2.0, 2.0][k as usize % 4])
            .collect();
        let (slope, scatter) = line(&numbers, 4.0);
        assert!(
            (slope - 3.0).abs() < 1e-12 && (scatter - 2.0).abs() < 1e-12,
            "{slope} {scatter}"
        );
    }
}
