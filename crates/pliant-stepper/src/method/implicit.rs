//! Steps by an [`ImplicitMethod`](crate::ImplicitMethod): Newton's method on the equations of the
//! step, watched by a merit of their residual.
//!
//! Unknown are the velocities `v+` and the multipliers `lambda`. With the relations of the method,
//! `w` its weight and the weight `w_r` of each row (1 for most methods) the equations are
//!
//! ```math
//! w (M a - f)(x+, v+) + (1 - w) (M a - f)(x, v) - sum_r (w_r J+ + (1 - w_r) J)_r^T lambda_r = 0
//! C lambda + w_r (phi + d dphi/dt + C D dphi/dt)+ + (1 - w_r) (phi + d dphi/dt + C D dphi/dt) = 0    or    phi+ = 0
//! ```
//!
//! In units of velocity they are the system that the theta method fills, for a step `1/g` with
//! weights `w` and `k g`, made at the iterate. It is symmetric: the derivative of gyroscopic
//! torques, of the masses of mapped nodes and the unsymmetric part of the geometric stiffness are
//! left out, which costs iterations, not accuracy.

mod anderson;
mod chord;
mod contraction;
mod deformations;
mod energy_momentum;
mod lift;
mod line_search;
mod linearisation;
mod loads;
mod method;
mod newton;
mod projection;
mod residual;
mod sdirk;

pub(crate) use anderson::Anderson;
pub(crate) use energy_momentum::EnergyMomentum;
pub(crate) use linearisation::LinearisationMeasure;
pub(crate) use method::Implicit;
pub(crate) use sdirk::{Sdirk2, take_part};

use crate::Error;
use crate::contact::ContactIterate;
use crate::contact::step::Way;
use crate::integrator::Relation;
use crate::method::sizes::{Missed, TermSizes};
use crate::motion::{Motion, clone_into_buffers};
use crate::system::System;
use chord::Chord;
use contraction::Contraction;
use deformations::Deformations;
use loads::Loads;
use pliant_kkt::Scheme;
use pliant_model::State;
use pliant_solvers::Solution;
use pliant_sparse::CsrMatrix;

/// Memory of an integrator from step to step.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IntegratorMemory {
    /// The method it belongs to; empty before any.
    pub method: String,
    /// Length of the last step (s), `None` before the first.
    pub previous: Option<f64>,
    /// Length of the one before that (s), `None` before the second.
    #[cfg_attr(feature = "serde", serde(default))]
    pub before: Option<f64>,
    /// Its vectors, one after the other.
    pub vectors: Vec<f64>,
}

impl IntegratorMemory {
    /// Forgets everything: the next step is the first.
    pub fn forget(&mut self) {
        self.method.clear();
        self.previous = None;
        self.before = None;
        self.vectors.clear();
    }
}

clone_into_buffers!(IntegratorMemory {
    method,
    previous,
    before,
    vectors,
});

/// Room for implicit steps.
#[derive(Debug, Default)]
pub(crate) struct NewtonWorkspace {
    relation: Relation,
    iterate: Iterate,
    /// Multipliers of the rows at the iterate (N, N m).
    multipliers: Vec<f64>,
    /// The last iterate that was accepted, and the best one.
    accepted: Iterate,
    best: Iterate,
    equations: StartEquations,
    residual: Residual,
    /// Impulses of the contacts as last solved for.
    contact_impulses: Vec<f64>,
    displacement: Vec<f64>,
    /// Accelerations of the independent coordinates.
    rate: Vec<f64>,
    nodal: Nodal,
    mixing: Mixing,
    /// `W_ii` of the first iterate: what a residual impulse is divided by in the merit.
    inertia: Vec<f64>,
    sizes: TermSizes,
    loads: Loads,
}

/// Mixes the steps of kept matrices, and watches how they shrink.
#[derive(Debug, Default)]
struct Mixing {
    mixer: Anderson,
    contraction: Contraction,
    /// The iterate that a step leads to: velocities, impulses of rows, impulses of contacts, loads.
    output: Vec<f64>,
    /// Whether the present step was mixed with others, so that contacts do not hold their laws.
    leaves_laws: bool,
}

impl Mixing {
    /// Replaces a step, a change of velocity and the impulses of rows, and the forces beside it,
    /// impulses of contacts and loads, by the mixed ones; `anew` if it is of other matrices than
    /// the last one. What the matrices leave out is so found from the steps, as GMRES would.
    fn mix(&mut self, anew: bool, velocity: &[f64], step: &mut Solution, beside: [&mut [f64]; 2]) {
        if anew {
            self.mixer.restart();
        }
        let output = &mut self.output;
        output.clear();
        output.extend(velocity.iter().zip(&step.x).map(|(v, x)| v + x));
        output.extend_from_slice(&step.mu);
        for forces in &beside {
            output.extend_from_slice(forces);
        }
        self.mixer.mix(&step.x, output);
        let (ends, mut rest) = output.split_at(velocity.len());
        for ((x, end), v) in step.x.iter_mut().zip(ends).zip(velocity) {
            *x = end - v;
        }
        let [contacts, loads] = beside;
        for forces in [&mut step.mu[..], contacts, loads] {
            let (own, others) = rest.split_at(forces.len());
            forces.copy_from_slice(own);
            rest = others;
        }
    }
}

/// Vectors on all nodes.
#[derive(Debug, Default)]
struct Nodal {
    /// Accelerations.
    acceleration: Vec<f64>,
    /// Forces, then the part that they lack.
    force: Vec<f64>,
}

/// An iterate of Newton's method.
#[derive(Debug, Default)]
struct Iterate {
    /// Velocities of the independent coordinates at the end of the step.
    velocity: Vec<f64>,
    /// Impulses `lambda/g` of the rows, and of the contacts.
    mu: Vec<f64>,
    contacts: Vec<f64>,
    /// Whether the iterate came by a whole Newton step: then the contacts are as solved for.
    whole: bool,
}

/// The equations of the start of the step: velocities of the independent coordinates and forces on
/// them, masses, Jacobian, deformations of the rows.
#[derive(Debug, Default)]
struct StartEquations {
    /// First of the three coordinates of each rotation.
    rotations: Vec<usize>,
    /// Time since it, for force fields with a memory (s).
    elapsed: f64,
    velocity: Vec<f64>,
    /// Velocities of the independent coordinates in which the laws of contacts are written: those
    /// of the start of the step, also where a stage begins elsewhere.
    law_velocity: Vec<f64>,
    mass: Option<CsrMatrix>,
    jacobian: Option<CsrMatrix>,
    force: Vec<f64>,
    deficit: Vec<f64>,
    /// Start and scratch of equations along a chord.
    chord: Chord,
}

/// The parts of the equations that an iterate misses: impulses, deformations, and those as
/// velocities.
#[derive(Debug, Default)]
struct Residual {
    primal: Vec<f64>,
    deficit: Vec<f64>,
    row_velocity: Vec<f64>,
}

impl Residual {
    /// The parts of the equations that an iterate misses.
    fn missed<'a>(&'a self, iterate: &'a Iterate) -> Missed<'a> {
        Missed {
            primal: &self.primal,
            mu: &iterate.mu,
            row_velocity: &self.row_velocity,
        }
    }
}

impl NewtonWorkspace {
    /// Room for numbers of all nodes, between residuals.
    fn room(&mut self) -> &mut Vec<f64> {
        &mut self.nodal.force
    }

    /// The iterate, as contacts see it.
    fn contact_iterate(&self) -> ContactIterate<'_> {
        ContactIterate {
            start: &self.equations.law_velocity,
            end: &self.iterate.velocity,
            mu: &self.iterate.mu,
            impulses: &self.iterate.contacts,
        }
    }
}

/// Newton's method on the equations of one step, or of one stage of it.
struct Iteration<'a> {
    system: &'a mut System,
    start: &'a Motion,
    end: &'a mut Motion,
    /// The scheme whose matrices are those of the equations: a step `1/g` with weights `w` and
    /// `k g`.
    scheme: &'a Scheme,
    work: &'a mut NewtonWorkspace,
    origin: Origin<'a>,
    /// Whether the step is taken in halves if the iteration fails. If not, it says which rows
    /// contradict each other, if that is why.
    or_halves: bool,
}

/// Where the displacements of the iterates begin, and when these are good.
#[derive(Clone, Copy)]
struct Origin<'a> {
    /// The positions.
    state: &'a State,
    /// Velocities of fixed coordinates at the end (m/s, rad/s).
    held: &'a [f64],
    expected: Expected<'a>,
    /// Deformations that are integrated beside the positions, if any are.
    deformations: Option<&'a Deformations>,
    forces: ForcesAlong,
    /// The share of its terms that an equation may miss.
    tolerance: f64,
    /// The share that iterations go on to, where they can.
    goal: Goal,
    /// Whether they go on from there to where rounding ends it: what is left would add up, in energy
    /// and momentum, or be in derivatives of steps.
    polishes: bool,
    factor: Factor,
    /// The way on which contacts are looked for that were missed, once the first iteration has
    /// found where it leads.
    way: Option<Way>,
    /// Whether the iteration ends, without a solution, where its first step shows an impact.
    ends_at_impact: bool,
}

/// Expectations of the first iterate.
#[derive(Clone, Copy)]
struct Expected<'a> {
    /// Accelerations of free coordinates (m/s^2, rad/s^2); empty if nothing is known.
    accelerations: &'a [f64],
    /// Multipliers of the rows (N, N m).
    multipliers: &'a [f64],
}

/// The forces in the equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ForcesAlong {
    /// The mean of those at both ends, by the weights.
    Ends,
    /// Mean forces along the chord between both ends.
    Chord,
}

/// When the matrices of the iteration are made and factored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    /// At every iterate.
    EveryIteration,
    /// Where the last ones do not serve: their residual decreases slowly.
    Kept,
}

impl<'a> Origin<'a> {
    /// That of a whole step from a motion: nothing is integrated beside the positions, and nothing
    /// is expected but the last multipliers.
    fn of_step(start: &'a Motion, h: f64, tolerance: f64) -> Self {
        Self {
            state: &start.state,
            held: &start.controls.held,
            expected: Expected {
                accelerations: &[],
                multipliers: &start.multipliers,
            },
            deformations: None,
            forces: ForcesAlong::Ends,
            tolerance,
            goal: Goal::Tolerance,
            polishes: false,
            factor: Factor::EveryIteration,
            way: Some(Way { ahead: h, horizon: h }),
            ends_at_impact: false,
        }
    }

    /// The share of its terms that an equation may miss when the iteration ends, from the one at
    /// its start.
    fn goal(&self, first: f64) -> f64 {
        match self.goal {
            Goal::Tolerance => self.tolerance,
            Goal::ThirdOrder { least, .. } => (0.01 * first.powf(1.5)).max(least).min(self.tolerance),
        }
    }
}

/// The share of its terms that an equation misses when the iteration ends.
#[derive(Clone, Copy, Debug)]
enum Goal {
    /// That of the tolerance.
    Tolerance,
    /// A hundredth of the power 3/2 of what is missed at first, but no less than this. From
    /// expected accelerations that is of second order in the step, so that the error of the
    /// iteration has the third order of a step, and is a fraction of it.
    ThirdOrder {
        /// The least share of its terms that is asked for.
        least: f64,
        /// The share of its velocities that the iteration may leave as error in them.
        share: f64,
        /// The same where no step lessens what is missed any more.
        most: f64,
    },
}

impl Iteration<'_> {
    /// The first iterate: the velocities of the start, and what the expected accelerations add;
    /// those of fixed coordinates at the end, the last multipliers.
    fn guess(&mut self) -> Result<(), Error> {
        let gain = self.work.relation.acceleration_gain;
        let s = &mut *self.work;
        s.iterate.velocity.clone_from(&s.equations.velocity);
        for (end, change) in s
            .iterate
            .velocity
            .iter_mut()
            .zip(&self.system.scratch.fixed_change)
        {
            *end += change;
        }
        let (fixed, expected) = (&self.system.assembler.system().fixed, self.origin.expected);
        for ((end, a), fixed) in s
            .iterate
            .velocity
            .iter_mut()
            .zip(expected.accelerations)
            .zip(fixed)
        {
            if !fixed {
                *end += a / gain;
            }
        }
        s.iterate.mu.clear();
        s.iterate.mu.extend(expected.multipliers.iter().map(|l| l / gain));
        s.iterate.whole = false;
        self.place()
    }

    /// Puts the state where the velocities of the iterate lead. Nodes on which nothing acts follow
    /// at the end of the iteration.
    fn place(&mut self) -> Result<(), Error> {
        let s = &mut *self.work;
        s.displacement.clone_from(&s.relation.displacement);
        for (d, v) in s.displacement.iter_mut().zip(&s.iterate.velocity) {
            *d += s.relation.displacement_gain * v;
        }
        let Origin {
            state: from,
            held,
            deformations,
            forces,
            ..
        } = self.origin;
        let state = &mut self.end.state;
        let displacement = match forces {
            ForcesAlong::Ends => &s.displacement,
            ForcesAlong::Chord => {
                let moved = &mut s.equations.chord.moved;
                chord::write_rotations(&self.system.model, &s.displacement, moved);
                moved
            }
        };
        self.system
            .place_independent(from, &s.iterate.velocity, displacement, Some(held), state);
        self.system.propagate_acting(self.end)?;
        if let Some(deformations) = deformations {
            let reach = s.relation.displacement_gain;
            deformations.put(&self.system.model, reach, &mut self.end.state);
        }
        Ok(())
    }
}

impl NewtonWorkspace {
    /// Multipliers of the rows, and the forces that held the fixed coordinates: the residual there.
    fn read_forces(&self, system: &System, end: &mut Motion) {
        let gain = self.relation.acceleration_gain;
        for (lambda, mu) in end.multipliers.iter_mut().zip(&self.iterate.mu) {
            *lambda = gain * mu;
        }
        let fixed = &system.assembler.system().fixed;
        for ((support, primal), fixed) in end.supports.iter_mut().zip(&self.residual.primal).zip(fixed) {
            *support = if *fixed { gain * primal } else { 0.0 };
        }
        system.sleep.forget_supports(&end.sleep, &mut end.supports);
    }
}
