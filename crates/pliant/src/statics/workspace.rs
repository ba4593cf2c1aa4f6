//! The setting of a search for rest, and its workspace.

use super::Loads;
use super::contacts::{KeptContacts, RestContacts};
use super::loads::ScaledLoads;
use super::solver::RestSolver;
use crate::EquilibriumReport;
use crate::{Error, Options};
use pliant_model::{LeanState, Model, Problem, Space, State};
use pliant_solvers::{Kind, Solution, Variable};
use pliant_stepper::motion::Motion;
use pliant_stepper::system::System;

/// The system whose equations of rest are solved, and the motion whose positions are their
/// unknowns.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) system: &'a mut System,
    pub(crate) motion: &'a mut Motion,
    pub(crate) options: &'a Options,
}

/// A search for rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) loads: &'a Loads,
    pub(crate) tolerance: f64,
    /// Friction has no meaning, as along an arc length.
    pub(crate) frictionless: bool,
}

/// Values of one search.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) loads: ScaledLoads,
    pub(crate) metric: Metric,
    pub(crate) unknowns: Unknowns,
    pub(crate) residual: Residual,
    pub(crate) contacts: RestContacts,
    pub(crate) linear: Linear,
    pub(crate) progress: Progress,
    /// Time (s) since the memory of materials was that of the state: without end for what is at rest,
    /// none for what is faster than they are.
    pub(crate) elapsed: f64,
    /// Energy that materials with a past dissipated on the way (J), and their scratch.
    pub(crate) dissipated: f64,
    pub(crate) internal: Vec<f64>,
}

/// The unknowns beside the positions, which are those of the motion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unknowns {
    /// Multipliers (N, N m).
    pub(crate) lambda: Vec<f64>,
    /// Of each row of bounded force -1 and 1 at its bounds, 0 if it acts; dashpots are always away.
    pub(crate) sides: Vec<i8>,
    /// The load factor.
    pub(crate) factor: f64,
}

/// The residual of the equations of rest.
#[derive(Debug)]
pub(crate) struct Residual {
    /// `F_1` on the independent coordinates.
    pub(crate) force: Vec<f64>,
    /// `F_2` of the rows, then of the contacts that are active.
    pub(crate) deficit: Vec<f64>,
    /// The size of the terms of `F_1`.
    pub(crate) terms: Vec<f64>,
    /// Scratch: forces or terms of all nodes, and forces of one force field.
    pub(crate) of_nodes: Vec<f64>,
    pub(crate) field_force: Vec<f64>,
}

/// The length that displacements are measured in: that of the model for positions, 1 for angles and
/// other coordinates.
#[derive(Debug)]
pub(crate) struct Metric {
    /// One over the unit of each independent coordinate.
    pub(crate) inverse_length: Vec<f64>,
    /// Length of the model (m).
    pub(crate) length: f64,
}

/// The linear systems of a search.
#[derive(Debug, Default)]
pub(crate) struct Linear {
    pub(crate) solver: RestSolver,
    /// The inertia of the tangent as last factored.
    pub(crate) kind: Kind,
    pub(crate) step: Solution,
    pub(crate) other: Solution,
    pub(crate) displacement: Vec<f64>,
}

/// How far a search is.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) report: EquilibriumReport,
    /// The least residual so far, and what it was of.
    pub(crate) best: f64,
    pub(crate) worst: Option<Worst>,
    pub(crate) tolerance: f64,
    /// Iterations at most.
    pub(crate) most: usize,
}

/// An iterate to go back to.
#[derive(Clone, Debug)]
pub(crate) struct Iterate {
    pub(crate) state: LeanState,
    pub(crate) unknowns: Unknowns,
    pub(crate) contacts: KeptContacts,
}

/// The equation with the largest residual.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Worst {
    Variable(Variable),
    /// By its sides.
    Contact([u32; 2]),
}

impl Workspace {
    /// For a search whose factors are shared by so many threads.
    pub(crate) fn new(model: &Problem, motion: &Motion, search: &Search<'_>, threads: usize) -> Self {
        let (n, m, all) = (model.dof_count(), model.row_count(), model.velocity_count());
        Self {
            loads: ScaledLoads::new(model, search.loads),
            metric: Metric::new(model, &motion.state),
            unknowns: Unknowns {
                lambda: motion.multipliers.clone(),
                sides: vec![0; m],
                factor: 1.0,
            },
            residual: Residual {
                force: vec![0.0; n],
                deficit: vec![0.0; m],
                terms: vec![0.0; n],
                of_nodes: vec![0.0; all],
                field_force: Vec::new(),
            },
            contacts: RestContacts::new(search.frictionless),
            linear: Linear {
                solver: RestSolver::with_threads(threads),
                ..Linear::default()
            },
            progress: Progress {
                report: EquilibriumReport::default(),
                best: f64::INFINITY,
                worst: None,
                tolerance: search.tolerance,
                most: usize::MAX,
            },
            elapsed: f64::INFINITY,
            dissipated: 0.0,
            internal: Vec::new(),
        }
    }

    /// The present iterate, with the state of the motion.
    pub(crate) fn iterate(&self, at: &Setting<'_>) -> Iterate {
        Iterate {
            state: LeanState::of(&at.system.model, &at.motion.state),
            unknowns: self.unknowns.clone(),
            contacts: self.contacts.kept().clone(),
        }
    }

    /// Whether rows and contacts are at the sides that they have there.
    pub(crate) fn has_sides_of(&self, other: &Iterate) -> bool {
        self.unknowns.sides == other.unknowns.sides
            && self.contacts.kept().acting().eq(other.contacts.acting())
    }

    /// The largest force that is known, 1 N without any.
    pub(crate) fn largest_force(&self) -> f64 {
        let multipliers = self.unknowns.lambda.iter();
        let largest = multipliers.fold(0.0f64, |a, l| a.max(l.abs()));
        let largest = self.residual.terms.iter().fold(largest, |a, f| a.max(*f));
        if largest > 0.0 { largest } else { 1.0 }
    }

    /// Changes the load factor.
    pub(crate) fn set_load_factor(&mut self, factor: f64, model: &mut Problem) -> Result<(), Error> {
        self.unknowns.factor = factor;
        self.loads.impose(factor, model)
    }
}

impl Metric {
    fn new(model: &Model, state: &State) -> Self {
        let length = length_of(model, state);
        let mut inverse_length = vec![1.0; model.dof_count()];
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let size = node.space.velocity_size();
            let places = if node.space.is_spatial() { size.min(3) } else { 0 };
            for e in 0..node.count {
                inverse_length[first + e * size..][..places].fill(length.recip());
            }
        }
        Self {
            inverse_length,
            length,
        }
    }

    /// Length of a displacement: root of the sum of squares, positions in lengths of the model.
    pub(crate) fn norm(&self, x: &[f64]) -> f64 {
        let terms = x.iter().zip(&self.inverse_length);
        terms.map(|(x, s)| (x * s) * (x * s)).sum::<f64>().sqrt()
    }

    /// Its largest coordinate.
    pub(crate) fn largest(&self, x: &[f64]) -> f64 {
        let terms = x.iter().zip(&self.inverse_length);
        terms.fold(0.0f64, |a, (x, s)| a.max((x * s).abs()))
    }

    /// The largest difference of a coordinate of an independent node, places in lengths of the
    /// model.
    pub(crate) fn distance(&self, model: &Model, to: &[f64], from: &LeanState) -> f64 {
        let mut largest = 0.0f64;
        for (node, from) in from.nodes(model).filter(|(n, _)| n.first_dof().is_some()) {
            let size = node.space.position_size();
            let places = if node.space.is_spatial() { size.min(3) } else { 0 };
            let pairs = to[node.position_range()].iter().zip(from);
            for (k, (a, b)) in pairs.enumerate() {
                let unit = if k % size < places { self.length } else { 1.0 };
                largest = largest.max((a - b).abs() / unit);
            }
        }
        largest
    }
}

/// Largest extent of all places of the independent nodes (m), 1 if there is only one.
fn length_of(model: &Model, state: &State) -> f64 {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    // What is mapped may be a difference or a strain, which has no place.
    for node in model.nodes().iter().filter(|n| n.first_dof().is_some()) {
        let size = match node.space {
            Space::Real(n @ (2 | 3)) => n,
            Space::Rigid3 => 7,
            Space::Real(_) => continue,
        };
        for x in state.positions[node.position_range()].chunks_exact(size) {
            for (k, x) in x.iter().take(3).enumerate() {
                low[k] = low[k].min(*x);
                high[k] = high[k].max(*x);
            }
        }
    }
    let extents = low.iter().zip(high).map(|(l, h)| h - l);
    let largest = extents.fold(0.0f64, f64::max);
    if largest > 0.0 { largest } else { 1.0 }
}
