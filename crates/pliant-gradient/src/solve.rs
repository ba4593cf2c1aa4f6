//! The linear equations of a derivative: products with the exact matrix, preconditioned by the
//! factor of the symmetric KKT matrix.

use crate::GradientError;
use crate::contacts::TakenContact;
use crate::equations::{Equations, KeptMoment};
use crate::linearised::Linearised;
use pliant_kkt::{Assembler, Extended, GeometricStiffness, GeometricTerms, Scheme, StepInput, Tail};
use pliant_krylov::{FnOperator, GeneralMinimalResidual, KrylovSolver};
use pliant_model::{NodeId, State};
use pliant_solvers::{DirectSolver, KktSystem, Solution, SolveError, StationarySolver, Variable};
use std::cell::RefCell;

/// Largest last change of the answer, as a share of it, by its kinds.
const CONVERGED: f64 = 1e-11;
/// Correction, as a share of the answer, behind which there is none.
const SETTLED: f64 = 1e-13;
/// Share of the answer that iterations are asked for.
const ROUNDING: f64 = 1e-14;
/// Corrections at most, and iterations for each.
const ROUNDS: usize = 8;
const ITERATIONS: usize = 300;
/// Ratio of one correction to the last one up to which the symmetric matrix is as good as the exact
/// one.
const GOOD: f64 = 1e-4;

/// How the linear equations of a derivative were solved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// Products with the exact matrix.
    pub products: usize,
    /// The last change of the answer, as a share of it: the larger one of velocities (or
    /// displacements) and of multipliers.
    pub change: f64,
}

/// The factor of the symmetric matrix.
#[derive(Debug, Default)]
struct Factor {
    /// Of minima, with redundant rows.
    direct: DirectSolver,
    /// Of whatever is stationary.
    stationary: StationarySolver,
    is_minimum: bool,
    right: [Vec<f64>; 2],
}

impl Factor {
    /// Factors a system; one that is no minimum with pivots chosen for stability.
    /// Returns an unknown without a pivot, if the system is singular.
    fn prepare(&mut self, system: &KktSystem, may_be_minimum: bool) -> Result<Option<Variable>, SolveError> {
        self.is_minimum = may_be_minimum && self.direct.prepare(system).is_ok();
        if self.is_minimum {
            return Ok(None);
        }
        let kind = self.stationary.prepare(system)?;
        let unpivoted = self.stationary.unpivoted(system);
        Ok(unpivoted.filter(|_| kind.zero > 0))
    }

    fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<(), SolveError> {
        if self.is_minimum {
            return self.direct.solve(system, solution).map(drop);
        }
        let [c, b] = &mut self.right;
        c.clone_from(&system.c);
        b.clone_from(&system.b);
        self.stationary.solve(system, c, b, solution).map(drop)
    }
}

/// Rows of contacts behind those of the model, and the system with them.
#[derive(Debug, Default)]
struct ContactRows {
    tail: Tail,
    extended: Extended,
}

impl ContactRows {
    /// The system with the rows of contacts, if there are any.
    fn system<'a>(&'a self, base: &'a KktSystem) -> &'a KktSystem {
        match self.tail.rows() {
            0 => base,
            _ => self.extended.system().unwrap_or(base),
        }
    }
}

/// The saddle-point system of a derivative and its factor.
#[derive(Debug)]
pub(crate) struct Saddle {
    assembler: Assembler,
    behind: ContactRows,
    solver: Factor,
    krylov: GeneralMinimalResidual,
    /// Right-hand sides: of the equations of the independent coordinates and of the rows; of the
    /// transposed equations, of velocities and multipliers.
    pub(crate) rhs: [Vec<f64>; 2],
    /// The last answer: velocities and multipliers; of the transposed equations, what multiplies
    /// those of the coordinates and of the rows.
    pub(crate) answer: [Vec<f64>; 2],
    /// Factor of the equations of the coordinates in units of the system, and of each row.
    unit: f64,
    row_units: Vec<f64>,
    /// Square roots of the diagonals of `W` and of `J D_W^-1 J^T + R`: in their units answers are
    /// square roots of energies.
    scales: [Vec<f64>; 2],
    own: Vec<[f64; 2]>,
    solution: Solution,
    zero: Vec<f64>,
    room: [Vec<f64>; 2],
    work: [Vec<f64>; 2],
    flat: [Vec<f64>; 2],
}

impl Saddle {
    /// Plans the system of equations, with contacts of some nodes.
    ///
    /// # Errors
    /// [`GradientError::Plan`] if it is too large.
    pub(crate) fn new(equations: &Equations, touching: &[NodeId]) -> Result<Self, GradientError> {
        let (n, m) = (equations.problem.dof_count(), equations.problem.row_count());
        let pair = || [vec![0.0; n], vec![0.0; m]];
        Ok(Self {
            assembler: Assembler::with_transient(&equations.problem, &equations.evaluation, touching)?,
            behind: ContactRows::default(),
            solver: Factor::default(),
            krylov: GeneralMinimalResidual::default(),
            rhs: pair(),
            answer: pair(),
            unit: 1.0,
            row_units: vec![1.0; m],
            scales: pair(),
            own: Vec::new(),
            solution: Solution::default(),
            zero: vec![0.0; n],
            room: pair(),
            work: pair(),
            flat: [vec![0.0; n + m], vec![0.0; n + m]],
        })
    }

    /// Fills and factors the symmetric matrix at a moment that the equations were evaluated at: of
    /// a step of a scheme with its contacts and its start, or of rest.
    ///
    /// # Errors
    /// [`GradientError::Solve`] where there is no factor.
    pub(crate) fn place(
        &mut self,
        equations: &mut Equations,
        linearised: &Linearised,
        scheme: Option<(&Scheme, &[TakenContact], &State)>,
        kept: &KeptMoment,
    ) -> Result<(), GradientError> {
        let laws = &linearised.laws;
        self.assembler.fixed_mut().copy_from_slice(&kept.fixed);
        let geometry = GeometricTerms {
            forces: GeometricStiffness::Full,
            multipliers: GeometricStiffness::Full,
        };
        let Equations {
            problem,
            evaluation,
            state,
            ..
        } = &mut *equations;
        match scheme {
            Some((scheme, ..)) => self.assembler.fill(
                problem,
                evaluation,
                &scheme.with_geometry(geometry),
                StepInput {
                    state,
                    multipliers: &kept.multipliers,
                    impulse: &self.zero,
                    fixed_change: &self.zero,
                    motion: &[],
                },
            ),
            None => self
                .assembler
                .fill_rest(problem, evaluation, state, &kept.multipliers),
        }
        for (row, _) in laws.at_bound.iter().enumerate().filter(|(_, b)| **b) {
            self.assembler.deactivate_row(row);
        }
        // Rows that are not at a bound act both ways.
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        self.assembler.row_bounds_mut().fill(free);
        let ContactRows { tail, extended } = &mut self.behind;
        tail.clear();
        if let Some((_, contacts, start)) = scheme {
            linearised.contacts.fill(contacts, tail);
            self.assembler.project(problem, start, tail)?;
        }
        let m = self.assembler.system().m() + tail.rows();
        for list in [
            &mut self.rhs[1],
            &mut self.answer[1],
            &mut self.row_units,
            &mut self.scales[1],
            &mut self.room[1],
            &mut self.work[1],
        ] {
            list.clear();
            list.resize(m, 0.0);
        }
        for list in &mut self.flat {
            list.clear();
            list.resize(self.zero.len() + m, 0.0);
        }
        let system = match tail.rows() {
            0 => self.assembler.system(),
            _ => extended.fill(self.assembler.system(), &[], tail)?,
        };
        let singular = self.solver.prepare(system, scheme.is_some())?;
        if let Some(variable) = singular {
            let place = match variable {
                Variable::Dof(k) => equations.problem.describe_dof(k),
                Variable::Row(k) if k < equations.rows.len() => equations.problem.describe_row(k),
                Variable::Row(_) => "a contact".to_owned(),
            };
            return Err(GradientError::Singular { place });
        }
        self.find_units(equations, linearised, scheme.map(|(s, ..)| s.h));
        Ok(())
    }

    /// The units of the equations in those of the system, and the scales of the unknowns.
    fn find_units(&mut self, equations: &Equations, linearised: &Linearised, h: Option<f64>) {
        let laws = &linearised.laws;
        self.unit = h.unwrap_or(1.0);
        laws.own(&equations.problem, &mut self.own);
        for (k, unit) in self.row_units.iter_mut().enumerate() {
            // Contacts are written for velocities.
            let [by_place, by_rate] = self.own.get(k).copied().unwrap_or([0.0, 1.0]);
            *unit = match h {
                _ if laws.at_bound.get(k) == Some(&true) => 1.0,
                Some(h) => h * by_place + by_rate,
                None => by_place,
            };
            if *unit == 0.0 {
                *unit = 1.0;
            }
        }
        let KktSystem { w, j, r, fixed, .. } = self.behind.system(self.assembler.system());
        let [of_dofs, of_rows] = &mut self.scales;
        for (i, scale) in of_dofs.iter_mut().enumerate() {
            *scale = w.get(i, i).abs().sqrt();
        }
        for (i, scale) in of_rows.iter_mut().enumerate() {
            let terms = j.row_entries(i).filter(|(k, _)| !fixed[*k] && of_dofs[*k] > 0.0);
            let sum: f64 = terms.map(|(k, v)| (v / of_dofs[k]).powi(2)).sum();
            *scale = (sum + r.get(i, i).abs()).sqrt();
        }
        for scale in of_dofs.iter_mut().chain(&mut *of_rows) {
            if *scale == 0.0 || !scale.is_finite() {
                *scale = 1.0;
            }
        }
    }

    /// Solves the equations, or the transposed ones, for the right-hand sides that are set, where
    /// `product` writes the product of the exact matrix, or of its transpose, with an answer. Fixed
    /// coordinates stay zero.
    ///
    /// # Errors
    /// [`GradientError::NotConverged`], [`GradientError::Solve`].
    pub(crate) fn solve(
        &mut self,
        transposed: bool,
        product: impl FnMut(&[f64], &[f64], &mut [f64], &mut [f64]),
    ) -> Result<SolveReport, GradientError> {
        let Self {
            assembler,
            behind,
            solver,
            krylov,
            rhs,
            answer,
            unit,
            row_units,
            scales,
            solution,
            room,
            work,
            flat,
            ..
        } = self;
        let n = rhs[0].len();
        let fixed = assembler.system().fixed.clone();
        let product = RefCell::new(product);
        let products = RefCell::new(0usize);
        let failed = RefCell::new(None);
        let inverse = RefCell::new(Inverse {
            assembler,
            behind,
            solver,
            solution,
            unit: *unit,
            row_units,
            transposed,
        });
        for list in answer.iter_mut() {
            list.fill(0.0);
        }
        let [residual, correction] = flat;
        let work = RefCell::new(work);
        // What multiplies the equations of the coordinates is `h` times what the system gives.
        let by_unit = if transposed { unit.recip() } else { 1.0 };
        let scale = |k: usize| match k < n {
            true => scales[0][k] * by_unit,
            false => scales[1][k - n],
        };
        // The inverse of the symmetric matrix times the exact one, in the units of energy.
        let operator = FnOperator::new(residual.len(), |x: &[f64], y: &mut [f64]| {
            let mut work = work.borrow_mut();
            let [a, b] = &mut **work;
            let mut out = vec![0.0; x.len()];
            for (k, (a, x)) in a.iter_mut().zip(x).enumerate() {
                *a = if fixed[k] { 0.0 } else { x / scale(k) };
            }
            // Multipliers of the transposed equations are in the units of rows.
            for (k, (b, x)) in b.iter_mut().zip(&x[n..]).enumerate() {
                *b = x / scale(n + k);
            }
            let (of_dofs, of_rows) = out.split_at_mut(n);
            inverse.borrow().answer_of_system(b);
            (product.borrow_mut())(a, b, of_dofs, of_rows);
            *products.borrow_mut() += 1;
            if let Err(e) = inverse.borrow_mut().apply(of_dofs, of_rows) {
                failed.borrow_mut().get_or_insert(e);
            }
            inverse.borrow().answer_in_system(of_rows);
            for (k, (y, o)) in y.iter_mut().zip(&out).enumerate() {
                *y = match k < n {
                    true if fixed[k] => x[k],
                    _ => o * scale(k),
                };
            }
        });
        let mut report = SolveReport {
            products: 0,
            change: f64::INFINITY,
        };
        let largest = |list: &mut dyn Iterator<Item = f64>| list.fold(0.0f64, |l, x| l.max(x.abs()));
        let (mut size, mut last) = (0.0, 0.0);
        for round in 0..ROUNDS {
            let [of_dofs, of_rows] = &mut *room;
            of_dofs.clone_from(&rhs[0]);
            of_rows.clone_from(&rhs[1]);
            if round > 0 {
                let mut out = vec![0.0; residual.len()];
                let (a, b) = out.split_at_mut(n);
                (product.borrow_mut())(&answer[0], &answer[1], a, b);
                *products.borrow_mut() += 1;
                for (r, p) in of_dofs.iter_mut().chain(&mut *of_rows).zip(&out) {
                    *r -= p;
                }
            }
            inverse.borrow_mut().apply(of_dofs, of_rows)?;
            inverse.borrow().answer_in_system(of_rows);
            for (k, r) in residual.iter_mut().enumerate() {
                *r = match k < n {
                    true if fixed[k] => 0.0,
                    true => of_dofs[k] * scale(k),
                    false => of_rows[k - n] * scale(k),
                };
            }
            // The correction that the symmetric matrix gives, where it is as good as the exact one;
            // else by iterations from there.
            let given = largest(&mut residual.iter().copied());
            correction.copy_from_slice(residual);
            let is_last = given <= SETTLED * size;
            if round > 0 && !is_last && given > GOOD * last {
                krylov.options_mut().tolerance = (ROUNDING * size / given).max(ROUNDING);
                krylov.options_mut().max_iterations = ITERATIONS;
                krylov.solve(&operator, residual, correction)?;
                if let Some(e) = failed.borrow_mut().take() {
                    return Err(GradientError::Solve(e));
                }
            }
            last = largest(&mut correction.iter().copied());
            for (k, c) in correction.iter_mut().enumerate() {
                *c /= scale(k);
            }
            let (by_dofs, by_rows) = correction.split_at_mut(n);
            inverse.borrow().answer_of_system(by_rows);
            for (list, by) in answer.iter_mut().zip([&*by_dofs, &*by_rows]) {
                list.iter_mut().zip(by).for_each(|(x, c)| *x += c);
            }
            let of_rows = &mut room[1];
            of_rows.clone_from(&answer[1]);
            inverse.borrow().answer_in_system(of_rows);
            let all = answer[0].iter().chain(&*of_rows).enumerate();
            size = largest(&mut all.map(|(k, x)| x * scale(k)));
            report.change = if size == 0.0 { 0.0 } else { last / size };
            if is_last && round > 0 || size == 0.0 {
                break;
            }
        }
        report.products = *products.borrow();
        if report.change <= CONVERGED {
            return Ok(report);
        }
        Err(GradientError::NotConverged {
            change: report.change,
            limit: CONVERGED,
        })
    }
}

/// The inverse of the symmetric matrix in the units of the equations.
///
/// With `K` the symmetric matrix of the system, whose unknowns are velocities and impulses
/// `h lambda`, the matrix of the equations is nearly `diag(1/h, -u) K diag(1, h)` with the unit `u`
/// of each row, and the transposed one `diag(1, h) K diag(1/h, -u)`.
struct Inverse<'a> {
    assembler: &'a mut Assembler,
    behind: &'a mut ContactRows,
    solver: &'a mut Factor,
    solution: &'a mut Solution,
    unit: f64,
    row_units: &'a [f64],
    transposed: bool,
}

impl Inverse<'_> {
    /// Takes the second part of an answer from the units of the system to its own: multipliers from
    /// impulses, or what multiplies rows.
    fn answer_of_system(&self, rows: &mut [f64]) {
        for (x, unit) in rows.iter_mut().zip(self.row_units) {
            *x /= if self.transposed { -unit } else { self.unit };
        }
    }

    /// The way back.
    fn answer_in_system(&self, rows: &mut [f64]) {
        for (x, unit) in rows.iter_mut().zip(self.row_units) {
            *x *= if self.transposed { -unit } else { self.unit };
        }
    }

    /// Replaces right-hand sides by the answer of the symmetric matrix.
    fn apply(&mut self, of_dofs: &mut [f64], of_rows: &mut [f64]) -> Result<(), SolveError> {
        let c = self.assembler.right_hand_side_mut();
        let scale = if self.transposed { 1.0 } else { self.unit };
        c.iter_mut().zip(&*of_dofs).for_each(|(c, r)| *c = scale * r);
        let b = self.assembler.row_right_hand_side_mut();
        let all = b.iter_mut().chain(&mut self.behind.tail.b);
        for ((b, r), unit) in all.zip(&*of_rows).zip(self.row_units) {
            *b = match self.transposed {
                true => r / self.unit,
                false => -r / unit,
            };
        }
        let base = self.assembler.system();
        let ContactRows { tail, extended } = &mut *self.behind;
        if tail.rows() > 0 {
            extended.fill_right_hand_sides(base, &[], tail);
        }
        let system = self.behind.system(base);
        self.solver.solve(system, self.solution)?;
        let scale = if self.transposed { self.unit } else { 1.0 };
        let x = of_dofs.iter_mut().zip(&self.solution.x);
        x.for_each(|(r, x)| *r = scale * x);
        of_rows.copy_from_slice(&self.solution.mu);
        self.answer_of_system(of_rows);
        Ok(())
    }
}
