//! The scenes in this library.

use super::engine::timed;
use super::{Advance, Case, Contender, Engine, Frame, Program, Subject};
use crate::beams::{DENSITY, POISSON, YOUNG, mesh};
use crate::chain::Chain;
use crate::heaps::moment;
use crate::nets::MovingNet;
use crate::solid_sizes::clamped;
use pliant::continuum::Solid;
use pliant::prelude::*;

/// Stiffness-proportional damping of beams (s), that of every program which has it.
pub(super) const BEAM_DAMPING: f64 = 0.05;

struct Moving {
    simulation: Simulation,
    node: NodeId,
    step: f64,
}

impl Engine for Moving {
    fn advance(&mut self, steps: usize, budget: f64) -> Result<Advance, String> {
        timed(steps, budget, || {
            let taken = self.simulation.step(self.step);
            taken.map(drop).map_err(|e| e.to_string())
        })
    }

    fn frame(&self) -> Frame {
        let s = &self.simulation;
        match s.model().node(self.node).space {
            Space::Rigid3 => Frame {
                bodies: moment(s, self.node),
                ..Frame::default()
            },
            Space::Real(_) => {
                let places = s.positions(self.node).as_chunks::<3>().0.iter();
                let velocities = s.velocities(self.node).as_chunks::<3>().0.iter();
                Frame {
                    points: places.copied().zip(velocities.copied()).collect(),
                    ..Frame::default()
                }
            }
        }
    }
}

/// A simulation and the node that the judge looks at.
type Made = Result<(Simulation, NodeId), String>;

/// The setting of a name: a model in motion with options.
fn contender(
    case: &Case,
    name: &'static str,
    options: &Options,
    make: impl Fn() -> Made + 'static,
) -> Contender {
    let (step, options) = (case.step, options.clone());
    let start = move || {
        let (mut simulation, node) = make()?;
        simulation.options = options.clone();
        let moving = Moving {
            simulation,
            node,
            step,
        };
        Ok(Box::new(moving) as Box<dyn Engine>)
    };
    Contender::new(Program::Pliant, name, Box::new(start))
}

/// The settings of this library for a case: its default, which is of second order, and the linear
/// step, which takes one linear system; and what else suits the scene.
pub(super) fn contenders(case: &Case) -> Vec<Contender> {
    let (default, linear) = (Options::default(), Options::theta());
    match case.subject {
        Subject::Chain {
            links,
            last_mass,
            pose,
        } => {
            let make = move || {
                let moving = Chain::new(links, last_mass, pose).simulation();
                moving
                    .map(|c| (c.simulation, c.bodies))
                    .map_err(|e| e.to_string())
            };
            let newton = Options {
                integrator: Integrator::Nonlinear,
                ..Options::theta()
            };
            vec![
                contender(case, "SDIRK2 (default)", &default, make),
                contender(case, "linear step", &linear, make),
                contender(case, "implicit Euler, Newton", &newton, make),
            ]
        }
        Subject::Boxes(boxes) => {
            let make = move || {
                let made = boxes.heap().simulation(Options::default());
                made.map_err(|e| e.to_string())
            };
            let mut coarse = Options::theta();
            coarse.contacts.accuracy = 1e-3;
            vec![
                contender(case, "SDIRK2 (default)", &default, make),
                contender(case, "linear step", &linear, make),
                contender(case, "linear step, accuracy 1e-3", &coarse, make),
            ]
        }
        Subject::Net(side) => {
            let make = move |treatment| {
                let moving = MovingNet::new(side, treatment);
                moving
                    .map(|net| (net.simulation, net.knots))
                    .map_err(|e| e.to_string())
            };
            let stiffness = move || make(Treatment::Stiffness);
            let compliance = move || make(Treatment::Compliance);
            let momentum = Options {
                integrator: Integrator::EnergyMomentum,
                ..Options::default()
            };
            vec![
                contender(case, "SDIRK2 (default), stiffness", &default, stiffness),
                contender(case, "linear step, stiffness", &linear, stiffness),
                contender(case, "linear step, compliance", &linear, compliance),
                contender(case, "energy-momentum, stiffness", &momentum, stiffness),
            ]
        }
        Subject::Beam(cells) => {
            let make = move |solid: fn(f64, f64) -> Solid| {
                let mesh = mesh(cells).map_err(|e| e.to_string())?;
                let solid = solid(YOUNG, POISSON).with_density(DENSITY);
                clamped(&solid.with_relaxation_time(BEAM_DAMPING), &mesh).map_err(|e| e.to_string())
            };
            let green = move || make(Solid::st_venant_kirchhoff);
            let turning = move || make(Solid::corotational);
            vec![
                contender(case, "SDIRK2 (default), Green", &default, green),
                contender(case, "linear step, Green", &linear, green),
                contender(case, "linear step, corotational", &linear, turning).corotational(),
            ]
        }
    }
}
