//! A model in parts: each process evaluates and assembles its elements, and no other.

mod motion;
mod residual;
mod system;

use crate::ffi::{Library, Reduction, index};
use crate::session::Share;
use crate::{Error, Session};
use pliant_kkt::{Assembler, Scheme, StepInput};
use pliant_model::{ComponentId, Evaluation, Level, Problem, RowLaw, Space, State};
use std::ops::Range;
use std::sync::Arc;
use system::System;

/// A model in parts, one on each process of a [`Session`].
///
/// Each part is a model of its own: nodes, mappings, masses, force fields and rows of the elements
/// of this process, over all independent coordinates that these elements depend on. With the
/// selection `P_p` of these coordinates among those of the whole model,
///
/// ```math
/// W = sum_p P_p^T W_p P_p,   c = sum_p P_p^T c_p,   J = [J_1 P_1; J_2 P_2; ...],   R = diag(R_1, R_2, ...)
/// ```
///
/// so that mappings, force fields and the assembler run unchanged on each part, PETSc adds up what
/// several parts have in common, and rows belong to one part each. A mass, a force or a row stands
/// in one part; a coordinate may be fixed, and must then be so in every part that has it.
///
/// **Numbers.** The independent coordinates of the whole model are numbered so that each process
/// owns a range, in the order of the processes; a part lists the numbers of its coordinates in the
/// order of its model.
///
/// **Memory and cost** are those of a part, and of its share of the linear system. A product
/// receives [`Share::received`] numbers.
///
/// Taken are points and bodies with stiffnesses, compliances and hard rows, at rest
/// ([`find_rest`](Self::find_rest)) and in motion ([`step_nonlinear`](Self::step_nonlinear); points
/// without rows also by [`step`](Self::step)); not contacts, rows of bounded force, prescribed
/// motions and materials with a past, which are [`Error::NotInParts`].
#[derive(Debug)]
pub struct SpreadModel {
    problem: Problem,
    state: State,
    evaluation: Evaluation,
    assembler: Assembler,
    multipliers: Vec<f64>,
    places: Places,
    system: Option<System>,
    scratch: Scratch,
    start: State,
    library: Arc<Library>,
}

/// Where the unknowns of the part are among those of the whole.
#[derive(Debug)]
struct Places {
    /// Unknowns of the part: coordinates, then rows.
    unknowns: Vec<i32>,
    /// Unknowns of this process.
    own: Range<usize>,
    /// Number of unknowns of the whole model, and of its rows.
    total: usize,
    rows: usize,
}

#[derive(Debug, Default)]
struct Scratch {
    /// Forces that are missing, sizes of their terms, those of one component, and accelerations, on
    /// all nodes.
    node: Vec<f64>,
    terms: Vec<f64>,
    field: Vec<f64>,
    acceleration: Vec<f64>,
    /// Forces that are missing and sizes, right-hand side and change, of the unknowns of the part.
    missing: Vec<f64>,
    sizes: Vec<f64>,
    right: Vec<f64>,
    change: Vec<f64>,
    /// No impulse on any coordinate.
    impulse: Vec<f64>,
    /// Velocities at the start of a step, and of the iterate, of the coordinates of the part.
    velocity: Vec<f64>,
    iterate: Vec<f64>,
    /// Deficits of the rows of the part, these as velocities, impulses, and multipliers at the start
    /// of a step.
    deficit: Vec<f64>,
    row_velocity: Vec<f64>,
    mu: Vec<f64>,
    start_multipliers: Vec<f64>,
}

/// The end of a solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpreadReport {
    /// Iterations of Newton's method; 0 of a linear step.
    pub newton_iterations: usize,
    /// Iterations of conjugate gradients, all together; 0 with a factor.
    pub iterations: usize,
    /// The residual without unit. At rest and after a nonlinear step it is the norm of the forces
    /// that are left over the norm of their terms; after a linear step that of the linear system,
    /// `|b - A z|` over `|b| + |diag(A) z|`.
    pub residual: f64,
    /// The largest miss of a row without unit: at rest a deformation over the largest coordinate,
    /// after a nonlinear step, beyond the rounding of positions, a velocity over the largest one.
    pub rows: f64,
}

impl SpreadModel {
    /// Plans the part of this process: a model, and the numbers of its independent coordinates
    /// among those of the whole, of which this process owns `own`. Collective.
    ///
    /// # Errors
    /// [`Error::NotInParts`], [`Error::Size`] for a list of another length, numbers that no process
    /// owns or a coordinate that is fixed in some parts alone; [`Error::Model`], [`Error::Plan`],
    /// [`Error::Call`].
    pub fn new(
        session: &Session,
        problem: Problem,
        coordinates: &[usize],
        own: usize,
    ) -> Result<Self, Error> {
        let library = session.library();
        let plan = || {
            refuse(&problem)?;
            let mut evaluation = Evaluation::new(&problem);
            let mut state = problem.initial_state()?;
            evaluation.propagate(&problem, &mut state)?;
            evaluation.evaluate(&problem, &state)?;
            let assembler = Assembler::new(&problem, &evaluation)?;
            Ok((evaluation, state, assembler))
        };
        let (evaluation, state, assembler) = together(&library, plan())?;
        let places = Places::new(&library, &problem, coordinates, own)?;
        let (n, m) = (problem.dof_count(), problem.row_count());
        let out = Self {
            state,
            evaluation,
            assembler,
            multipliers: vec![0.0; m],
            places,
            system: None,
            scratch: Scratch {
                node: vec![0.0; problem.velocity_count()],
                terms: vec![0.0; problem.velocity_count()],
                field: vec![0.0; problem.velocity_count()],
                acceleration: vec![0.0; problem.velocity_count()],
                missing: vec![0.0; n + m],
                sizes: vec![0.0; n + m],
                right: vec![0.0; n + m],
                change: vec![0.0; n + m],
                impulse: vec![0.0; n],
                velocity: vec![0.0; n],
                iterate: vec![0.0; n],
                deficit: vec![0.0; m],
                row_velocity: vec![0.0; m],
                mu: vec![0.0; m],
                start_multipliers: vec![0.0; m],
            },
            start: State::default(),
            problem,
            library,
        };
        Ok(out)
    }

    /// Positions and velocities of the nodes of this part.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The model of this part.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Work and memory of this process, once a system was solved.
    pub fn share(&self) -> Option<Share> {
        self.system.as_ref().map(|system| system.share)
    }

    /// Goes to rest by Newton's method with whole steps: from a start so near that it converges.
    /// At the end the norm of the forces that are missing, rows included, is at most `tolerance`
    /// times that of their terms, and rows miss at most `tolerance` times the largest coordinate.
    /// Collective.
    ///
    /// # Errors
    /// [`Error::NoRest`] after `most` iterations, [`Error::NotSolved`], [`Error::Model`],
    /// [`Error::Call`].
    pub fn find_rest(&mut self, tolerance: f64, most: usize) -> Result<SpreadReport, Error> {
        let mut report = SpreadReport::default();
        loop {
            let (force, deficit) = self.find_rest_residual()?;
            (report.residual, report.rows) = (force, deficit);
            if force <= tolerance && deficit <= tolerance {
                return Ok(report);
            }
            // A NaN ends here as well.
            if report.newton_iterations == most || force.is_nan() {
                return Err(Error::NoRest {
                    iterations: report.newton_iterations,
                    residual: force.max(deficit),
                });
            }
            let Self {
                problem,
                evaluation,
                assembler,
                state,
                multipliers,
                ..
            } = self;
            assembler.fill_rest(problem, evaluation, state, multipliers);
            let (n, scratch) = (self.problem.dof_count(), &mut self.scratch);
            scratch.right[..n].copy_from_slice(&scratch.missing[..n]);
            scratch.right[n..].copy_from_slice(&scratch.deficit);
            let (iterations, _) = self.solve()?;
            report.iterations += iterations;
            report.newton_iterations += 1;
            self.displace(1.0)?;
            for (lambda, change) in self.multipliers.iter_mut().zip(&self.scratch.change[n..]) {
                *lambda += change;
            }
        }
    }

    /// One linear step of implicit Euler of length `h` (s), that of the theta method with weights
    /// 1: `W dv = c`, `x+ = x + h v+`. Points without rows. Collective.
    ///
    /// # Errors
    /// [`Error::NotInParts`], [`Error::NotSolved`], [`Error::Model`], [`Error::Call`].
    pub fn step(&mut self, h: f64) -> Result<SpreadReport, Error> {
        let rigid = self.problem.nodes().iter().find(|n| n.space == Space::Rigid3);
        let what = match (rigid, self.places.rows) {
            (Some(node), _) => Some(format!("the motion of bodies, `{}`", node.name)),
            (None, 1..) => Some("rows in motion".to_owned()),
            (None, 0) => None,
        };
        let taken = what.map_or(Ok(()), |what| Err(Error::NotInParts { what }));
        together(&self.library, taken)?;
        let scheme = Scheme::implicit_euler(h);
        check_step(h)?;
        let Self {
            problem,
            evaluation,
            assembler,
            state,
            multipliers,
            scratch,
            ..
        } = self;
        let evaluated = evaluation.evaluate_after(problem, state, h);
        together(&self.library, evaluated.map_err(Error::Model))?;
        let input = StepInput {
            state,
            multipliers,
            impulse: &scratch.impulse,
            fixed_change: &[],
            motion: &[],
        };
        assembler.fill(problem, evaluation, &scheme, input);
        let system = assembler.system();
        scratch.right.copy_from_slice(&system.c);
        let (iterations, residual) = self.solve()?;
        let (nodes, change) = (self.problem.nodes(), &mut self.scratch.change);
        for node in nodes {
            let Some(first) = node.first_dof() else { continue };
            for (k, at) in node.velocity_range().enumerate() {
                self.state.velocities[at] += change[first + k];
                change[first + k] = self.state.velocities[at];
            }
        }
        self.displace(h)?;
        Ok(SpreadReport {
            newton_iterations: 0,
            iterations,
            residual,
            rows: 0.0,
        })
    }

    /// Moves the independent coordinates by a share of the answer, and what hangs on them.
    fn displace(&mut self, share: f64) -> Result<(), Error> {
        let change = &mut self.scratch.change;
        change[..self.problem.dof_count()]
            .iter_mut()
            .for_each(|d| *d *= share);
        for node in self.problem.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let step = &change[first..first + node.velocity_range().len()];
            node.space
                .retract(&mut self.state.positions[node.position_range()], step);
        }
        let placed = self.evaluation.propagate(&self.problem, &mut self.state);
        together(&self.library, placed.map_err(Error::Model))
    }

    /// The linear system, planned at the first call. Collective.
    fn system(&mut self) -> Result<&mut System, Error> {
        let system = match self.system.take() {
            Some(system) => system,
            None => System::new(
                &self.library,
                &self.problem,
                &self.state,
                &self.assembler,
                &self.places,
            )?,
        };
        Ok(self.system.insert(system))
    }

    /// Solves the system as filled for the right-hand side in the scratch; the answer is the change
    /// of this part. Returns iterations and residual.
    fn solve(&mut self) -> Result<(usize, f64), Error> {
        let right = std::mem::take(&mut self.scratch.right);
        let mut change = std::mem::take(&mut self.scratch.change);
        self.system()?;
        let (Some(system), assembler) = (&mut self.system, &self.assembler) else {
            return Err(Error::Ended);
        };
        let solved = system.solve(assembler, &right, &mut change);
        (self.scratch.right, self.scratch.change) = (right, change);
        solved
    }
}

/// Ends on all processes alike where one of them has an error: none waits for another. Collective.
fn together<T>(library: &Library, own: Result<T, Error>) -> Result<T, Error> {
    let mut worst = [0.0];
    library.reduce(
        Reduction::Largest,
        &[f64::from(u8::from(own.is_err()))],
        &mut worst,
    )?;
    match worst[0] > 0.0 {
        true => own.and(Err(Error::OtherPart)),
        false => own,
    }
}

/// Refuses a step that has no length.
fn check_step(h: f64) -> Result<(), Error> {
    match h > 0.0 && h.is_finite() {
        true => Ok(()),
        false => Err(Error::Step { h }),
    }
}

/// Refuses what parts cannot have.
fn refuse(problem: &Problem) -> Result<(), Error> {
    let not = |what: String| Err(Error::NotInParts { what });
    if let Some(name) = problem.first_memory() {
        return not(format!("materials with a past, `{name}`"));
    }
    for group in problem.row_groups() {
        let name = problem.component_name(group.component);
        if problem.bounds(group).is_some() {
            return not(format!("rows of bounded force, `{name}`"));
        }
        if let ComponentId::Constraint(i) = group.component
            && let Level::Restitution { .. } = problem.constraints()[i].component.level
        {
            return not(format!("rows of impacts, `{name}`"));
        }
        if problem.motion(group).is_some() {
            return not(format!("prescribed motions, `{name}`"));
        }
        if problem.row_law(group) == RowLaw::Viscous {
            return not(format!("dashpots as rows, `{name}`"));
        }
    }
    Ok(())
}

impl Places {
    /// Numbers all unknowns so that each process has its coordinates, then the rows of its part.
    /// Collective.
    fn new(library: &Library, problem: &Problem, coordinates: &[usize], own: usize) -> Result<Self, Error> {
        let (n, m) = (problem.dof_count(), problem.row_count());
        let (rank, size) = library.rank_and_size()?;
        let mut mine = vec![0.0; 2 * size];
        (mine[rank], mine[size + rank]) = (own as f64, m as f64);
        let mut all = vec![0.0; 2 * size];
        library.reduce(Reduction::Sum, &mine, &mut all)?;
        // Ends of the coordinates of each process, and of its rows.
        let ends = |counts: &[f64]| -> Vec<usize> {
            let mut sum = 0;
            let count = counts.iter().map(|c| {
                sum += *c as usize;
                sum
            });
            count.collect()
        };
        let (dof_ends, row_ends) = (ends(&all[..size]), ends(&all[size..]));
        let (dofs, rows) = (dof_ends[size - 1], row_ends[size - 1]);
        index("unknowns", dofs + rows)?;
        let wrong = |what, expected, found| Error::Size {
            what,
            expected,
            found,
        };
        // All processes come to the same end.
        let beyond = coordinates.iter().filter(|i| **i >= dofs).count();
        let bad = [f64::from(u8::from(coordinates.len() != n)), beyond as f64];
        let mut worst = [0.0; 2];
        library.reduce(Reduction::Largest, &bad, &mut worst)?;
        if worst[0] > 0.0 {
            return Err(wrong(
                "numbers of coordinates of every part",
                n,
                coordinates.len(),
            ));
        }
        if worst[1] > 0.0 {
            return Err(wrong("numbers of coordinates that no process owns", 0, beyond));
        }
        let row_start = |rank: usize| if rank == 0 { 0 } else { row_ends[rank - 1] };
        let dof_start = |rank: usize| if rank == 0 { 0 } else { dof_ends[rank - 1] };
        let mut unknowns: Vec<i32> = Vec::with_capacity(n + m);
        for i in coordinates {
            let owner = dof_ends.partition_point(|end| end <= i);
            unknowns.push((i + row_start(owner)) as i32);
        }
        let first_row = dof_ends[rank] + row_start(rank);
        unknowns.extend((0..m).map(|k| (first_row + k) as i32));
        Ok(Self {
            unknowns,
            own: dof_start(rank) + row_start(rank)..dof_ends[rank] + row_ends[rank],
            total: dofs + rows,
            rows,
        })
    }
}
