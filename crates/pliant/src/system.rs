//! The system of a step: evaluation, assembly, factors, contact rows, and their scratch.

use crate::Error;
use crate::contact::Contacts;
use crate::motion::{Controls, Motion};
use crate::report::Counters;
use crate::simulation::sleep::Sleep;
use crate::simulation::treatment::group_of_field;
use pliant_kkt::{Assembler, RowMotion};
use pliant_model::{Evaluation, Model};
use pliant_solvers::{BoxSolver, DirectSolver, Solution};

/// The only owner of evaluation, assembler, contact rows and factors. Nothing here decides the motion but through its arguments: what
/// a step remembers is in [`Motion`](crate::Motion).
#[derive(Debug)]
pub(crate) struct System {
    pub(crate) model: Model,
    pub(crate) evaluation: Evaluation,
    pub(crate) assembler: Assembler,
    pub(crate) solver: BoxSolver,
    /// The solver of position corrections and accelerations, which have other rows.
    pub(crate) corrector: DirectSolver,
    pub(crate) solution: Solution,
    /// The solution of a position correction.
    pub(crate) correction: Solution,
    /// The change of velocity and the impulses of all rows.
    pub(crate) change: Solution,
    pub(crate) rows: RowForces,
    /// The motion that each row is held at over the present step; empty if none is driven.
    pub(crate) row_motion: Vec<RowMotion>,
    pub(crate) scratch: Scratch,
    pub(crate) contacts: Option<Box<Contacts>>,
    pub(crate) sleep: Sleep,
    pub(crate) counters: Counters,
}

/// Forces of the rows by their laws.
#[derive(Debug, Default)]
pub(crate) struct RowForces {
    /// Of each row, its force by its law.
    pub(crate) law_force: Vec<f64>,
    /// Rows whose compliance is so large that their force is that of their law.
    pub(crate) soft: Vec<bool>,
    /// Rows whose law gives no force.
    pub(crate) undetermined: Vec<bool>,
    /// The rows of each force field that has any.
    pub(crate) group_of_field: Vec<Option<usize>>,
}

/// Buffers without meaning between two calls.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Gyroscopic impulses on the independent coordinates (N s, N m s).
    pub(crate) impulse: Vec<f64>,
    pub(crate) displacement: Vec<f64>,
    /// Changes of velocity that held coordinates make over the step.
    pub(crate) fixed_change: Vec<f64>,
    /// Right-hand side of the linearly implicit gyroscopic torque, and its last iterate.
    pub(crate) right_hand_side: Vec<f64>,
    pub(crate) previous_change: Vec<f64>,
    /// Coordinates of one node, twice.
    pub(crate) shifted: Vec<f64>,
    pub(crate) mass_scratch: Vec<f64>,
    /// Multipliers that the geometric stiffness of the present solve is made of.
    pub(crate) lag_for_step: Vec<f64>,
}

impl System {
    /// Plans the system of a model at its initial state.
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined, [`Error::Plan`] if the system is too large.
    pub(crate) fn new(model: Model) -> Result<Self, Error> {
        let mut evaluation = Evaluation::new(&model);
        let mut state = model.initial_state()?;
        evaluation.propagate(&model, &mut state)?;
        evaluation.evaluate(&model, &state)?;
        let assembler = Assembler::new(&model, &evaluation)?;
        let (rows, dofs) = (model.row_count(), model.dof_count());
        let nodes = model.nodes().iter();
        let largest = nodes.map(|n| n.position_range().len().max(n.velocity_range().len()));
        let room = 2 * largest.max().unwrap_or(0);
        Ok(Self {
            evaluation,
            assembler,
            solver: BoxSolver::default(),
            corrector: DirectSolver::default(),
            solution: Solution::default(),
            correction: Solution::default(),
            change: Solution::default(),
            rows: RowForces {
                law_force: vec![0.0; rows],
                soft: vec![true; rows],
                undetermined: Vec::new(),
                group_of_field: group_of_field(&model),
            },
            row_motion: Vec::new(),
            scratch: Scratch {
                impulse: vec![0.0; dofs],
                displacement: vec![0.0; dofs],
                fixed_change: vec![0.0; dofs],
                shifted: vec![0.0; room],
                mass_scratch: vec![0.0; room],
                lag_for_step: vec![0.0; rows],
                ..Scratch::default()
            },
            contacts: None,
            sleep: Sleep::default(),
            counters: Counters {
                plans: 1,
                ..Counters::default()
            },
            model,
        })
    }

    /// The motion of the model at its initial state, at time zero.
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined.
    pub(crate) fn initial_motion(&mut self) -> Result<Motion, Error> {
        let model = &self.model;
        let mut state = model.initial_state()?;
        self.evaluation.propagate(model, &mut state)?;
        let (rows, dofs) = (model.row_count(), model.dof_count());
        Ok(Motion {
            state,
            multipliers: vec![0.0; rows],
            lagged: vec![0.0; rows],
            fresh: true,
            supports: vec![0.0; dofs],
            controls: Controls {
                fixed: self.assembler.system().fixed.clone(),
                held: vec![0.0; dofs],
                external: vec![0.0; model.velocity_count()],
                inputs: Vec::new(),
            },
            ..Motion::default()
        })
    }
}
