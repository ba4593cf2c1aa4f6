//! A model in parts: each process evaluates and assembles its elements, and no other.

use crate::ffi::{Halo, Library, Matrix, Reduction, Solver, Vector, index};
use crate::session::Share;
use crate::{Error, Session};
use pliant_kkt::{Assembler, Scheme, StepInput};
use pliant_model::{ComponentId, Evaluation, Problem, RowGroup, RowLaw, Space, State, Treatment};
use std::ops::Range;
use std::sync::Arc;

/// Unknowns of the whole model from which systems without rows are solved by conjugate gradients.
const MULTIGRID_FROM: usize = 30_000;
/// Residual of a linear system, over the size of its terms, beyond which it is not solved.
const SOLVED: f64 = 1e-10;
/// Share that a pass of conjugate gradients leaves.
const PASS: f64 = 1e-6;
const MOST_PASSES: usize = 8;
const MOST_ITERATIONS: usize = 2000;

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
/// Taken are points and bodies at rest ([`find_rest`](Self::find_rest)) and points in motion
/// ([`step`](Self::step)), with stiffnesses, compliances and hard rows; not contacts, rows of bounded
/// force, prescribed motions and materials with a past, which are [`Error::NotInParts`].
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

/// The linear system of all parts. Objects of PETSc are destroyed in this order.
#[derive(Debug)]
struct System {
    solver: Solver,
    iterates: bool,
    halo: Halo,
    right: Vector,
    answer: Vector,
    residual: Vector,
    correction: Vector,
    matrix: Matrix,
    sources: Sources,
    values: Vec<f64>,
    share: Share,
}

/// Slots of `W`, `J` and `R` in the order of the entries of the matrix.
#[derive(Debug, Default)]
struct Sources {
    w: Vec<u32>,
    j: Vec<u32>,
    r: Vec<u32>,
}

#[derive(Debug, Default)]
struct Scratch {
    node: Vec<f64>,
    terms: Vec<f64>,
    field: Vec<f64>,
    right: Vec<f64>,
    change: Vec<f64>,
    impulse: Vec<f64>,
}

/// The end of a solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpreadReport {
    /// Iterations of Newton's method; 0 of a step.
    pub newton_iterations: usize,
    /// Iterations of conjugate gradients, all together; 0 with a factor.
    pub iterations: usize,
    /// Of rest, what forces miss in the norm over that of their terms; of a step, the residual of the
    /// linear system `|b - A z|` over the size of its terms, `|b| + |diag(A) z|`.
    pub residual: f64,
}

impl SpreadModel {
    /// Plans the part of this process: a model, and the numbers of its independent coordinates among
    /// those of the whole, of which this process owns `own`. Collective.
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
        refuse(&problem)?;
        let mut evaluation = Evaluation::new(&problem);
        let mut state = problem.initial_state()?;
        evaluation.propagate(&problem, &mut state)?;
        evaluation.evaluate(&problem, &state)?;
        let assembler = Assembler::new(&problem, &evaluation)?;
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
                right: vec![0.0; n + m],
                change: vec![0.0; n + m],
                impulse: vec![0.0; n],
            },
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
            report.residual = force;
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
            let (iterations, _) = self.solve()?;
            report.iterations += iterations;
            report.newton_iterations += 1;
            self.displace(1.0)?;
            let n = self.problem.dof_count();
            for (lambda, change) in self.multipliers.iter_mut().zip(&self.scratch.change[n..]) {
                *lambda += change;
            }
        }
    }

    /// One linear step of implicit Euler of length `h` (s), that of the theta method with weights 1:
    /// `W dv = c`, `x+ = x + h v+`. Points without rows. Collective.
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
        if let Some(what) = what {
            return Err(Error::NotInParts { what });
        }
        let scheme = Scheme::implicit_euler(h);
        let Self {
            problem,
            evaluation,
            assembler,
            state,
            multipliers,
            scratch,
            ..
        } = self;
        evaluation.evaluate_after(problem, state, h)?;
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
        self.evaluation.propagate(&self.problem, &mut self.state)?;
        Ok(())
    }

    /// The missing forces and the deficits of the rows as right-hand side, and their sizes over
    /// those of their terms.
    fn find_rest_residual(&mut self) -> Result<(f64, f64), Error> {
        let Self {
            problem,
            evaluation,
            state,
            multipliers,
            scratch,
            assembler,
            ..
        } = self;
        evaluation.evaluate_after(problem, state, f64::INFINITY)?;
        let (n, m) = (problem.dof_count(), problem.row_count());
        scratch.node.copy_from_slice(evaluation.force());
        scratch.terms.fill(0.0);
        for mass in problem.masses() {
            let range = problem.node(mass.node).velocity_range();
            for at in range {
                scratch.terms[at] += scratch.node[at].abs();
            }
        }
        for (i, field) in problem.force_fields().iter().enumerate() {
            if problem.treatment(i) == Treatment::Compliance {
                continue;
            }
            let range = problem.node(field.node).velocity_range();
            let own = &mut scratch.field[..range.len()];
            own.fill(0.0);
            problem.add_field_force(state, i, f64::INFINITY, own);
            for (t, f) in scratch.terms[range].iter_mut().zip(own) {
                *t += f.abs();
            }
        }
        let mut worst = 0.0f64;
        for group in problem.row_groups() {
            let first = problem.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                let lambda = multipliers[group.first_row + k];
                scratch.node[first + k] += lambda;
                scratch.terms[first + k] += lambda.abs();
            }
            worst = worst.max(deficits(
                problem,
                evaluation,
                state,
                group,
                multipliers,
                &mut scratch.right[n..],
            ));
        }
        evaluation.pull_back(problem, &mut scratch.node);
        evaluation.pull_back_sizes(problem, &mut scratch.terms);
        let fixed = &assembler.system().fixed;
        // Of the sizes, which the whole has to add up too.
        let mut sizes = vec![0.0; n + m];
        for node in problem.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, at) in node.velocity_range().enumerate() {
                let dof = first + k;
                let free = f64::from(u8::from(!fixed[dof]));
                scratch.right[dof] = free * scratch.node[at];
                sizes[dof] = free * scratch.terms[at];
            }
        }
        let reach = state.positions.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let mut largest = [0.0; 2];
        self.library
            .reduce(Reduction::Largest, &[worst, reach], &mut largest)?;
        let mut right = std::mem::take(&mut self.scratch.right);
        // Rows have deficits of other units, which are measured apart.
        let rows: Vec<f64> = right[n..].to_vec();
        right[n..].fill(0.0);
        let system = self.system()?;
        system.right.clear()?;
        system.halo.add(&right, &mut system.right)?;
        let missing = system.right.norm()?;
        system.residual.clear()?;
        system.halo.add(&sizes, &mut system.residual)?;
        let terms = system.residual.norm()?;
        right[n..].copy_from_slice(&rows);
        self.scratch.right = right;
        let share = if missing == 0.0 { 0.0 } else { missing / terms };
        let deficit = if largest[0] == 0.0 {
            0.0
        } else {
            largest[0] / largest[1]
        };
        Ok((share, deficit))
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
        if problem.motion(group).is_some() {
            return not(format!("prescribed motions, `{name}`"));
        }
        if problem.row_law(group) == RowLaw::Viscous {
            return not(format!("dashpots as rows, `{name}`"));
        }
    }
    Ok(())
}

/// The deficits of the rows of a group at rest, `phi + C lambda`. Returns the largest.
fn deficits(
    problem: &Problem,
    evaluation: &Evaluation,
    state: &State,
    group: &RowGroup,
    multipliers: &[f64],
    out: &mut [f64],
) -> f64 {
    let first_position = problem.node(group.node).first_position;
    let mut largest = 0.0f64;
    for k in 0..group.size * group.count {
        let row = group.first_row + k;
        out[row] = match group.component {
            ComponentId::ForceField(i) if !evaluation.is_hard(group, k) => {
                let compliance = evaluation.compliance(i);
                let (g, first) = evaluation.group_of(i, group.size, k);
                let n = compliance.width(g);
                let c = &compliance.block(g)[(k - first) * n..][..n];
                let lambda = &multipliers[group.first_row + first..];
                let strain: f64 = c.iter().zip(lambda).map(|(c, l)| c * l).sum();
                strain + evaluation.deformation(i)[k]
            }
            _ => state.positions[first_position + k],
        };
        largest = largest.max(out[row].abs());
    }
    largest
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

impl System {
    /// Plans the matrix of all parts and its solver. Collective.
    fn new(
        library: &Arc<Library>,
        problem: &Problem,
        state: &State,
        assembler: &Assembler,
        places: &Places,
    ) -> Result<Self, Error> {
        let kkt = assembler.system();
        let n = kkt.n();
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        let mut sources = Sources::default();
        let mut add = |i: usize, k: usize, slot: usize, slots: &mut Vec<u32>| {
            let (i, k) = (places.unknowns[i], places.unknowns[k]);
            rows.push(i);
            columns.push(k);
            slots.push(slot as u32);
            if i != k {
                rows.push(k);
                columns.push(i);
                slots.push(slot as u32);
            }
        };
        let fixed = &kkt.fixed;
        for i in 0..n {
            for (slot, k) in kkt.w.pattern().row_slots(i).zip(kkt.w.pattern().row(i)) {
                let k = *k as usize;
                if i == k || !fixed[i] && !fixed[k] {
                    add(i, k, slot, &mut sources.w);
                }
            }
        }
        for i in 0..kkt.m() {
            for (slot, k) in kkt.j.pattern().row_slots(i).zip(kkt.j.pattern().row(i)) {
                if !fixed[*k as usize] {
                    add(n + i, *k as usize, slot, &mut sources.j);
                }
            }
            for (slot, k) in kkt.r.pattern().row_slots(i).zip(kkt.r.pattern().row(i)) {
                add(n + i, n + *k as usize, slot, &mut sources.r);
            }
        }
        let points = |node: &pliant_model::Node| node.first_dof().is_none() || node.space == Space::Real(3);
        let own_block = match places.rows == 0 && problem.nodes().iter().all(points) {
            true => 3.0,
            false => 1.0,
        };
        let mut block = [0.0];
        library.reduce(Reduction::Least, &[own_block], &mut block)?;
        let mut others: Vec<i32> = places.unknowns.clone();
        others.retain(|k| !places.own.contains(&(*k as usize)));
        others.sort_unstable();
        others.dedup();
        let share = Share {
            rows: places.own.len(),
            entries: rows.len(),
            received: others.len(),
        };
        let entries = rows.len();
        let mut matrix = Matrix::new(library, places.own.len(), block[0] as usize, rows, columns)?;
        let (right, answer) = (matrix.vector()?, matrix.vector()?);
        let mut halo = Halo::new(&right, &places.unknowns)?;
        let mut correction = matrix.vector()?;
        check_fixed(library, fixed, kkt.m(), &mut halo, &mut correction)?;
        let iterates = places.rows == 0 && places.total >= MULTIGRID_FROM;
        let solver = if iterates {
            let motions = rigid_motions(library, problem, state, &matrix, &mut halo)?;
            matrix.set_near_null_space(&motions)?;
            Solver::multigrid(&matrix)?
        } else {
            Solver::factor(&matrix)?
        };
        Ok(Self {
            solver,
            iterates,
            halo,
            residual: matrix.vector()?,
            right,
            answer,
            correction,
            matrix,
            sources,
            values: vec![0.0; entries],
            share,
        })
    }

    /// Adds up the parts and solves. Collective.
    fn solve(
        &mut self,
        assembler: &Assembler,
        right: &[f64],
        change: &mut [f64],
    ) -> Result<(usize, f64), Error> {
        let kkt = assembler.system();
        let parts = [
            (&self.sources.w, kkt.w.values(), 1.0),
            (&self.sources.j, kkt.j.values(), -1.0),
            (&self.sources.r, kkt.r.values(), -1.0),
        ];
        let entries = parts
            .into_iter()
            .flat_map(|(slots, values, sign)| slots.iter().map(move |slot| sign * values[*slot as usize]));
        for (value, entry) in self.values.iter_mut().zip(entries) {
            *value = entry;
        }
        self.matrix.set(&self.values)?;
        self.solver.prepare(&self.matrix)?;
        if self.solver.has_failed()? {
            return Err(Error::NotSolved { residual: f64::NAN });
        }
        // Fixed coordinates keep their diagonal and stay.
        let mut free = right.to_vec();
        for (c, fixed) in free.iter_mut().zip(&kkt.fixed) {
            if *fixed {
                *c = 0.0;
            }
        }
        self.right.clear()?;
        self.halo.add(&free, &mut self.right)?;
        let size = self.right.norm()?;
        self.answer.clear()?;
        let (mut iterations, mut residual) = (0, if size == 0.0 { 0.0 } else { 1.0 });
        for _ in 0..MOST_PASSES {
            if residual <= SOLVED {
                break;
            }
            self.find_residual()?;
            let (more, went_on) =
                self.solver
                    .solve(PASS, MOST_ITERATIONS, &self.residual, &mut self.correction)?;
            iterations += more;
            if !went_on {
                return Err(Error::NotSolved { residual });
            }
            let correction = self.correction.with(|d| d.to_vec())?;
            self.answer
                .with(|z| z.iter_mut().zip(&correction).for_each(|(z, d)| *z += d))?;
            self.find_residual()?;
            residual = self.residual.norm()? / (size + self.diagonal_terms()?);
        }
        // A NaN is no solution.
        if !(residual <= SOLVED) {
            return Err(Error::NotSolved { residual });
        }
        self.halo.read(&self.answer, change)?;
        Ok((if self.iterates { iterations } else { 0 }, residual))
    }

    /// The norm of the terms on the diagonal, `A_ii z_i`.
    fn diagonal_terms(&mut self) -> Result<f64, Error> {
        self.matrix.diagonal(&mut self.correction)?;
        let answer = &mut self.answer;
        self.correction
            .with(|d| answer.with(|z| d.iter_mut().zip(&*z).for_each(|(d, z)| *d *= z)))??;
        self.correction.norm()
    }

    /// `r = b - A z`.
    fn find_residual(&mut self) -> Result<(), Error> {
        self.matrix.multiply(&self.answer, &mut self.residual)?;
        let right = &mut self.right;
        self.residual
            .with(|r| right.with(|b| r.iter_mut().zip(&*b).for_each(|(r, b)| *r = b - *r)))?
    }
}

/// Refuses coordinates that are fixed in some of the parts that have them. Collective.
fn check_fixed(
    library: &Library,
    fixed: &[bool],
    rows: usize,
    halo: &mut Halo,
    scratch: &mut Vector,
) -> Result<(), Error> {
    let own = |value: &dyn Fn(bool) -> f64| -> Vec<f64> {
        let of_dofs = fixed.iter().map(|f| value(*f));
        of_dofs.chain(std::iter::repeat_n(0.0, rows)).collect()
    };
    let mut sums = [vec![0.0; fixed.len() + rows], vec![0.0; fixed.len() + rows]];
    for (sum, value) in sums
        .iter_mut()
        .zip([&(|f| f64::from(u8::from(f))) as &dyn Fn(bool) -> f64, &|_| 1.0])
    {
        scratch.clear()?;
        halo.add(&own(value), scratch)?;
        halo.read(scratch, sum)?;
    }
    let [fixed_by, all] = sums;
    let apart = fixed_by
        .iter()
        .zip(&all)
        .filter(|(f, a)| **f != 0.0 && f != a)
        .count();
    let mut worst = [0.0];
    library.reduce(Reduction::Largest, &[apart as f64], &mut worst)?;
    match worst[0] > 0.0 {
        true => Err(Error::Size {
            what: "coordinates that are fixed in some parts and free in others, a list",
            expected: 0,
            found: worst[0] as usize,
        }),
        false => Ok(()),
    }
}

/// The motions of points as a rigid body over the processes, orthonormal; none where something
/// other than points moves. Collective.
fn rigid_motions(
    library: &Library,
    problem: &Problem,
    state: &State,
    matrix: &Matrix,
    halo: &mut Halo,
) -> Result<Vec<Vector>, Error> {
    let independent = || problem.nodes().iter().filter(|node| node.first_dof().is_some());
    let others = independent().filter(|node| node.space != Space::Real(3)).count();
    let mut points: Vec<[f64; 3]> = Vec::new();
    for node in independent() {
        let places = state.positions[node.position_range()].chunks_exact(3);
        points.extend(places.map(|x| [x[0], x[1], x[2]]));
    }
    // A point of several parts counts as often as it has parts: any point near the middle will do.
    let mut sums = [points.len() as f64, 0.0, 0.0, 0.0, others as f64];
    for point in &points {
        (0..3).for_each(|k| sums[k + 1] += point[k]);
    }
    let mut all = [0.0; 5];
    library.reduce(Reduction::Sum, &sums, &mut all)?;
    if all[4] > 0.0 || all[0] == 0.0 {
        return Ok(Vec::new());
    }
    let middle = [1, 2, 3].map(|k| all[k] / all[0]);
    let velocity = |motion: usize, point: &[f64; 3]| -> [f64; 3] {
        let [x, y, z] = [0, 1, 2].map(|k| point[k] - middle[k]);
        match motion {
            0 => [1.0, 0.0, 0.0],
            1 => [0.0, 1.0, 0.0],
            2 => [0.0, 0.0, 1.0],
            3 => [0.0, -z, y],
            4 => [z, 0.0, -x],
            _ => [-y, x, 0.0],
        }
    };
    let mut vector = matrix.vector()?;
    let mut spread = |values: &[f64]| -> Result<Vec<f64>, Error> {
        vector.clear()?;
        halo.add(values, &mut vector)?;
        vector.with(|own| own.to_vec())
    };
    let parts_of = spread(&vec![1.0; 3 * points.len()])?;
    let mut columns = Vec::new();
    for motion in 0..6 {
        let values: Vec<f64> = points.iter().flat_map(|x| velocity(motion, x)).collect();
        let mut column = spread(&values)?;
        column
            .iter_mut()
            .zip(&parts_of)
            .for_each(|(v, parts)| *v /= parts);
        columns.push(column);
    }
    let dot = |a: &[f64], b: &[f64]| -> Result<f64, Error> {
        let own: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        let mut out = [0.0];
        library.reduce(Reduction::Sum, &[own], &mut out)?;
        Ok(out[0])
    };
    let mut kept: Vec<Vec<f64>> = Vec::new();
    for mut column in columns {
        let length = dot(&column, &column)?.sqrt();
        // Twice is enough: what rounding left of the first time, the second takes.
        for _ in 0..2 {
            for other in &kept {
                let part = dot(&column, other)?;
                column.iter_mut().zip(other).for_each(|(a, b)| *a -= part * b);
            }
        }
        let left = dot(&column, &column)?.sqrt();
        if left > 1e-8 * length {
            column.iter_mut().for_each(|a| *a /= left);
            kept.push(column);
        }
    }
    let one = |column: &Vec<f64>| {
        let mut vector = matrix.vector()?;
        vector.with(|own| own.copy_from_slice(column))?;
        Ok(vector)
    };
    kept.iter().map(one).collect()
}
