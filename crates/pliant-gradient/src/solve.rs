//! The linear equations of a derivative: products with the exact matrix, preconditioned by the
//! factor of the symmetric KKT matrix.

use crate::GradientError;
use crate::equations::{Equations, KeptMoment};
use crate::linearised::Linearised;
use crate::symmetric::{ContactRows, Factor, Inverse, Units};
use pliant_kkt::{Assembler, GeometricStiffness, GeometricTerms, Scheme, StepInput};
use pliant_krylov::{FnOperator, GeneralMinimalResidual, KrylovSolver};
use pliant_model::{NodeId, State};
use pliant_solvers::{KktSystem, Solution, Variable};
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

/// Numbers that the units and scales of rows follow from.
#[derive(Debug, Default)]
struct OfRows {
    /// Factors of place and rate in the equation of each.
    own: Vec<[f64; 2]>,
    /// Rows that are at a bound, and their scales, as if they were not.
    held: Vec<(usize, f64)>,
}

/// A step whose symmetric matrix is factored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FactoredStep<'a> {
    pub(crate) scheme: &'a Scheme,
    /// Positions and velocities of all nodes at its start.
    pub(crate) start: &'a State,
}

/// The symmetric matrix that preconditions the equations.
#[derive(Clone, Copy)]
pub(crate) enum Matrix<'a> {
    /// That of a step.
    Step(FactoredStep<'a>),
    /// That of rest.
    Rest,
    /// Masses and elastic stiffness over a time `w` (s), `M + w^2 K`, with some of the rows.
    Elastic {
        w: f64,
        is_active: &'a dyn Fn(usize) -> bool,
    },
}

impl SolveReport {
    /// The report of two solutions.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            products: self.products + other.products,
            change: self.change.max(other.change),
        }
    }
}

impl<'a> Matrix<'a> {
    fn step(&self) -> Option<FactoredStep<'a>> {
        match self {
            Self::Step(step) => Some(*step),
            _ => None,
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
    /// Right-hand sides of the equations of the independent coordinates and of the rows, or those of
    /// the transposed equations: by velocities and by multipliers.
    pub(crate) rhs: [Vec<f64>; 2],
    /// The last answer: velocities and multipliers, or the adjoint variables of the equations of the
    /// coordinates and of the rows.
    pub(crate) answer: [Vec<f64>; 2],
    units: Units,
    /// Square roots of the diagonals of `W` and of `J D_W^-1 J^T + R`: in their units answers are
    /// square roots of energies.
    scales: [Vec<f64>; 2],
    of_rows: OfRows,
    solution: Solution,
    zero: Vec<f64>,
    /// Whether each independent coordinate is held.
    fixed: Vec<bool>,
    room: [Vec<f64>; 2],
    work: [Vec<f64>; 2],
    /// Residual, correction, and a product, of coordinates and rows one behind the other.
    flat: [Vec<f64>; 3],
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
            units: Units {
                dofs: 1.0,
                forces: 1.0,
                rows: vec![1.0; m],
            },
            scales: pair(),
            of_rows: OfRows::default(),
            solution: Solution::default(),
            zero: vec![0.0; n],
            fixed: vec![false; n],
            room: pair(),
            work: pair(),
            flat: std::array::from_fn(|_| vec![0.0; n + m]),
        })
    }

    /// Fills and factors the symmetric matrix at a moment that the equations were evaluated at: of
    /// a step, or of rest. One that is singular is an error of [`solve`](Self::solve).
    ///
    /// # Errors
    /// [`GradientError::Solve`] where there is no factor.
    pub(crate) fn place(
        &mut self,
        equations: &mut Equations,
        linearised: &Linearised,
        matrix: Matrix<'_>,
        kept: &KeptMoment,
    ) -> Result<(), GradientError> {
        let (laws, step) = (&linearised.laws, matrix.step());
        self.assembler.fixed_mut().copy_from_slice(&kept.fixed);
        self.fixed.copy_from_slice(&kept.fixed);
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
        match matrix {
            Matrix::Step(step) => self.assembler.fill(
                problem,
                evaluation,
                &step.scheme.with_geometry(geometry),
                StepInput {
                    state,
                    multipliers: &kept.multipliers,
                    impulse: &self.zero,
                    fixed_change: &self.zero,
                    motion: &[],
                },
            ),
            Matrix::Rest => self
                .assembler
                .fill_rest(problem, evaluation, state, &kept.multipliers),
            Matrix::Elastic { w, .. } => {
                let scheme = Scheme::implicit_euler(w).with_geometry(GeometricTerms::NONE);
                self.assembler
                    .fill_elastic(problem, evaluation, &scheme, state, true);
            }
        }
        let stays = |row: usize| match matrix {
            Matrix::Elastic { is_active, .. } => !is_active(row),
            _ => laws.at_bound[row],
        };
        self.of_rows.held.clear();
        for row in (0..problem.row_count()).filter(|row| stays(*row)) {
            let KktSystem { w, j, fixed, .. } = self.assembler.system();
            let terms = j.row_entries(row).filter(|(k, _)| !fixed[*k]);
            let given: f64 = terms.map(|(k, v)| v * v / w.get(k, k).abs()).sum();
            self.of_rows.held.push((row, given.sqrt()));
            self.assembler.deactivate_row(row);
        }
        // Rows that are not at a bound act both ways.
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        self.assembler.row_bounds_mut().fill(free);
        let ContactRows { tail, extended } = &mut self.behind;
        tail.clear();
        if let Some(step) = step {
            linearised.contacts.fill(tail);
            self.assembler.project(problem, step.start, tail)?;
        }
        let m = self.assembler.system().m() + tail.rows();
        for list in [
            &mut self.rhs[1],
            &mut self.answer[1],
            &mut self.units.rows,
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
        let singular = self.solver.prepare(system, !matches!(matrix, Matrix::Rest))?;
        self.solver.singular = singular.map(|variable| match variable {
            Variable::Dof(k) => equations.problem.describe_dof(k),
            Variable::Row(k) if k < equations.rows.len() => equations.problem.describe_row(k),
            Variable::Row(_) => "a contact".to_owned(),
        });
        match matrix {
            Matrix::Elastic { w, is_active } => self.take_units_of(w * w, is_active),
            _ => self.find_units(equations, linearised, step.map(|step| step.scheme)),
        }
        self.find_scales();
        Ok(())
    }

    /// The units of the equations in those of the system.
    fn find_units(&mut self, equations: &Equations, linearised: &Linearised, step: Option<&Scheme>) {
        let laws = &linearised.laws;
        self.units.forces = step.map_or(1.0, |step| step.h);
        self.units.dofs = step.map_or(1.0, |step| step.h * step.alpha);
        laws.own(&equations.problem, &mut self.of_rows.own);
        for (k, unit) in self.units.rows.iter_mut().enumerate() {
            // Contacts are written for velocities.
            let [by_place, by_rate] = self.of_rows.own.get(k).copied().unwrap_or([0.0, 1.0]);
            *unit = match step {
                // The equation of a row at its bound is that of its force.
                _ if laws.at_bound.get(k) == Some(&true) => self.units.forces.recip(),
                Some(step) => step.h * step.beta * by_place + by_rate,
                None => by_place,
            };
            if *unit == 0.0 {
                *unit = 1.0;
            }
        }
    }

    /// Takes equations of which those of the coordinates, and multipliers, are `unit` times as large in
    /// the system of an elastic matrix; rows that are not active have the equation of their multiplier.
    pub(crate) fn take_units_of(&mut self, unit: f64, is_active: &dyn Fn(usize) -> bool) {
        (self.units.dofs, self.units.forces) = (unit, unit);
        for (row, of_row) in self.units.rows.iter_mut().enumerate() {
            *of_row = if is_active(row) { 1.0 } else { unit.recip() };
        }
    }

    /// The scales of the unknowns.
    fn find_scales(&mut self) {
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
        for (row, scale) in &self.of_rows.held {
            of_rows[*row] = *scale;
        }
        for scale in of_dofs.iter_mut().chain(&mut *of_rows) {
            if *scale == 0.0 || !scale.is_finite() {
                *scale = 1.0;
            }
        }
    }

    /// Whether the last matrix was that of a minimum.
    pub(crate) fn is_minimum(&self) -> bool {
        self.solver.is_minimum()
    }

    /// The entry of the matrix on its diagonal, of an independent coordinate, or its size.
    pub(crate) fn diagonal(&self, dof: usize) -> f64 {
        self.scales[0][dof].powi(2)
    }

    /// The velocity that a unit impulse on a row gives its coordinate, about (1/kg): the diagonal of
    /// `J D_W^-1 J^T + R`.
    pub(crate) fn given_velocity(&self, row: usize) -> f64 {
        self.scales[1][row].powi(2)
    }

    /// Solves the equations, or the transposed ones, for the right-hand sides that are set, where
    /// `product` writes the product of the exact matrix, or of its transpose, with an answer. Fixed
    /// coordinates stay zero.
    ///
    /// # Errors
    /// [`GradientError::NotConverged`], [`GradientError::Singular`], [`GradientError::Solve`].
    pub(crate) fn solve(
        &mut self,
        transposed: bool,
        product: impl FnMut(&[f64], &[f64], &mut [f64], &mut [f64]),
    ) -> Result<SolveReport, GradientError> {
        if let Some(place) = &self.solver.singular {
            return Err(GradientError::Singular { place: place.clone() });
        }
        let Self {
            assembler,
            behind,
            solver,
            krylov,
            rhs,
            answer,
            units,
            scales,
            solution,
            fixed,
            room,
            work,
            flat,
            ..
        } = self;
        let n = rhs[0].len();
        let product = RefCell::new(product);
        let products = RefCell::new(0usize);
        let failed = RefCell::new(None);
        let inverse = RefCell::new(Inverse {
            assembler,
            behind,
            solver,
            solution,
            units,
            transposed,
        });
        for list in answer.iter_mut() {
            list.fill(0.0);
        }
        let [residual, correction, out] = flat;
        let buffers = RefCell::new((work, out));
        // The adjoint variables of the equations of the coordinates are `h` times those that the
        // system gives.
        let by_unit = if transposed { units.dofs.recip() } else { 1.0 };
        let scale = |k: usize| match k < n {
            true => scales[0][k] * by_unit,
            false => scales[1][k - n],
        };
        // The inverse of the symmetric matrix times the exact one, in the units of energy.
        let operator = FnOperator::new(residual.len(), |x: &[f64], y: &mut [f64]| {
            let (work, out) = &mut *buffers.borrow_mut();
            let [a, b] = &mut **work;
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
            for (k, (y, o)) in y.iter_mut().zip(&**out).enumerate() {
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
                let (_, out) = &mut *buffers.borrow_mut();
                let (a, b) = out.split_at_mut(n);
                (product.borrow_mut())(&answer[0], &answer[1], a, b);
                *products.borrow_mut() += 1;
                for (r, p) in of_dofs.iter_mut().chain(&mut *of_rows).zip(&**out) {
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
