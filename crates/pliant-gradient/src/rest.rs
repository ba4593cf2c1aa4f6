//! The derivative of a state of rest.

use crate::implicit::{Implicit, OfElements, SOLVED, check_external, check_own_numbers, check_state};
use crate::kinematics::gather;
use crate::solve::{Matrix, SolveReport};
use crate::vibration::{self, CriticalLoad, VibrationMode};
use crate::{Family, GradientError, check_length};
use pliant_model::{NodeId, Problem, State};

/// A state of rest that was found.
#[derive(Clone, Copy, Debug)]
pub struct RestState<'a> {
    /// Time (s), for rows that are driven.
    pub time: f64,
    /// Positions of all nodes; velocities are not read.
    pub state: &'a State,
    /// Multipliers (N, N m), one per row.
    pub multipliers: &'a [f64],
    /// Forces from outside the model on all nodes (N, N m); empty for none.
    pub external: &'a [f64],
    /// Which independent coordinates are held.
    pub fixed: &'a [bool],
}

/// The derivative of a state of rest, stable or not, by the implicit function theorem: of positions
/// and multipliers by forces from outside and by parameters of the model.
///
/// **Equation.** `f + J^T lambda = 0`, `C lambda + phi = 0` (hard rows: `C = 0`) with the exact
/// derivative by `x` and `lambda`: `K - G` with the whole `G`, `J`, `C`. Rows at a bound keep their
/// multipliers.
///
/// **Use.** As [`StepDerivative`](crate::StepDerivative). At limit and branch points the matrix is
/// singular, and there is no derivative but that of the limit itself
/// ([`critical_load_by`](Self::critical_load_by)).
#[derive(Debug)]
pub struct RestDerivative {
    implicit: Implicit,
    /// The gradient of the last adjoint by the places of held coordinates.
    by_place: Vec<f64>,
    room: [Vec<f64>; 2],
    rows: [Vec<f64>; 2],
    /// Velocities at rest.
    still: Vec<f64>,
}

impl RestDerivative {
    /// Plans the derivative of rest of a problem.
    ///
    /// # Errors
    /// Those of [`StepDerivative::new`](crate::StepDerivative::new).
    pub fn new(problem: &Problem) -> Result<Self, GradientError> {
        let (n, m) = (problem.dof_count(), problem.row_count());
        Ok(Self {
            implicit: Implicit::new(problem, &[])?,
            by_place: vec![0.0; n],
            room: [vec![0.0; n], vec![0.0; n]],
            rows: [vec![0.0; m], vec![0.0; m]],
            still: vec![0.0; n],
        })
    }

    /// Takes a state of rest of the same problem, whose parameters may have changed: checks that it
    /// is one, linearises, and factors.
    ///
    /// # Errors
    /// Those of [`StepDerivative::place`](crate::StepDerivative::place).
    pub fn place(&mut self, problem: &Problem, rest: &RestState<'_>) -> Result<(), GradientError> {
        self.implicit.begin(problem)?;
        check_state(problem, rest.state, ["positions at rest", "velocities at rest"])?;
        let (rows, dofs) = (problem.row_count(), problem.dof_count());
        check_length("multipliers at rest", rows, rest.multipliers.len())?;
        check_length("fixed coordinates at rest", dofs, rest.fixed.len())?;
        check_external(problem, rest.external)?;
        self.rows.iter_mut().for_each(|list| list.resize(rows, 0.0));
        let Implicit {
            equations,
            linearised,
            saddle,
            kept,
            ..
        } = &mut self.implicit;
        kept.time = rest.time;
        kept.take(rest.state, rest.multipliers, rest.external, rest.fixed);
        equations.evaluate(&kept.get())?;
        linearised.place(equations, &kept.get())?;
        let bound = &linearised.laws.at_bound;
        let (place, share) = equations.worst(|k| kept.fixed[k], |k| bound[k]);
        if share > SOLVED {
            return Err(GradientError::NotSolved {
                place: place.describe(problem),
                share,
                limit: SOLVED,
            });
        }
        saddle.place(equations, linearised, Matrix::Rest, kept)?;
        self.implicit.is_placed();
        Ok(())
    }

    /// How independent coordinates (n) and multipliers (m) move where the residuals of the
    /// equations change by `dr` (N, N m; n) and `ds` (m): by a parameter
    /// ([`equations_by`](Self::equations_by)), or, as `-J^T df`, by forces.
    ///
    /// # Errors
    /// [`GradientError::NotConverged`], [`GradientError::Singular`] at limit and branch points,
    /// [`GradientError::NotReady`], [`GradientError::Length`].
    pub fn tangent(
        &mut self,
        [dr, ds]: [&[f64]; 2],
        [x, multipliers]: [&mut Vec<f64>; 2],
    ) -> Result<SolveReport, GradientError> {
        self.implicit.check_placed()?;
        let Implicit {
            equations,
            linearised,
            saddle,
            ..
        } = &mut self.implicit;
        let [r, s] = &mut saddle.rhs;
        check_length("a change of the forces", r.len(), dr.len())?;
        check_length("a change of the rows", s.len(), ds.len())?;
        r.iter_mut().zip(dr).for_each(|(r, d)| *r = -d);
        s.iter_mut().zip(ds).for_each(|(s, d)| *s = -d);
        let still = &self.still;
        let report = saddle.solve(false, |y, lambda, dr, ds| {
            linearised.apply(equations, [y, still], lambda, [dr, ds]);
        })?;
        x.clone_from(&saddle.answer[0]);
        multipliers.clone_from(&saddle.answer[1]);
        Ok(report)
    }

    /// Carries the gradient of a function by displacements of all nodes (in the order of
    /// [`State::velocities`]) to the independent coordinates (n), at the placed state.
    ///
    /// # Errors
    /// [`GradientError::NotReady`], [`GradientError::Length`].
    pub fn carry(&self, by_x: &[f64], out: &mut Vec<f64>) -> Result<(), GradientError> {
        self.implicit.check_placed()?;
        let problem = self.implicit.problem();
        let all = problem.velocity_count();
        check_length("a gradient by displacements of all nodes", all, by_x.len())?;
        let mut nodes = by_x.to_vec();
        self.implicit.equations.evaluation.pull_back(problem, &mut nodes);
        out.clear();
        out.resize(problem.dof_count(), 0.0);
        gather(problem, &nodes, out);
        Ok(())
    }

    /// Solves the adjoint equations for the gradient of a function by independent coordinates (n)
    /// and multipliers (m); its gradients by forces, places and parameters are read afterwards
    /// ([`by_force`](Self::by_force), [`by_place`](Self::by_place),
    /// [`by_parameter`](Self::by_parameter)).
    ///
    /// # Errors
    /// Those of [`tangent`](Self::tangent).
    pub fn adjoint(&mut self, [by_x, by_multipliers]: [&[f64]; 2]) -> Result<SolveReport, GradientError> {
        self.implicit.check_placed()?;
        let Implicit {
            equations,
            linearised,
            saddle,
            ..
        } = &mut self.implicit;
        let [r, s] = &mut saddle.rhs;
        check_length("a gradient by coordinates", r.len(), by_x.len())?;
        check_length("a gradient by multipliers", s.len(), by_multipliers.len())?;
        r.copy_from_slice(by_x);
        s.copy_from_slice(by_multipliers);
        let [y, u] = &mut self.room;
        let report = saddle.solve(true, |p, q, y, dl| {
            linearised.apply_transposed(equations, [p, q], [y, u, dl]);
        })?;
        self.implicit.take_adjoint();
        let Implicit {
            equations,
            linearised,
            kept,
            adjoint: [p, q],
            ..
        } = &mut self.implicit;
        linearised.apply_transposed(equations, [p, q], [&mut *y, u, &mut self.rows[1]]);
        self.by_place.clear();
        let own = by_x.iter().zip(&*y).zip(&kept.fixed);
        self.by_place
            .extend(own.map(|((by, y), fixed)| if *fixed { by - y } else { 0.0 }));
        Ok(report)
    }

    /// The gradient of the last [`adjoint`](Self::adjoint) by the places of the held coordinates (n;
    /// zero of all others).
    pub fn by_place(&self) -> &[f64] {
        &self.by_place
    }

    /// The gradient, after [`adjoint`](Self::adjoint), by forces from outside on the velocity
    /// coordinates of all nodes, in the order of [`State::velocities`].
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub fn by_force(&self, out: &mut Vec<f64>) -> Result<(), GradientError> {
        self.implicit.by_force(out)
    }

    /// The gradient, after [`adjoint`](Self::adjoint), by the inputs of all force fields, as
    /// [`StepDerivative::by_input`](crate::StepDerivative::by_input) has it.
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub fn by_input(&mut self, out: &mut Vec<f64>) -> Result<(), GradientError> {
        self.implicit.by_input(out)
    }

    /// The gradient, after [`adjoint`](Self::adjoint), by one parameter of a family of models, whose
    /// held coordinates are where their initial states have them.
    ///
    /// # Errors
    /// Those of [`StepDerivative::by_parameter`](crate::StepDerivative::by_parameter).
    pub fn by_parameter(&mut self, family: &mut Family, parameter: usize) -> Result<f64, GradientError> {
        self.implicit.check_adjoint()?;
        let [mut dr, mut ds, forces] = std::mem::take(&mut self.implicit.changes);
        let changed = self
            .implicit
            .equations_by(family, parameter, [&mut dr, &mut ds], None);
        let found = changed.map(|()| self.whole(family, parameter, [&dr, &ds]));
        self.implicit.changes = [dr, ds, forces];
        found
    }

    /// The derivative by a parameter with which the residuals change so, that by the places of held
    /// coordinates included.
    fn whole(&self, family: &Family, parameter: usize, changes: [&[f64]; 2]) -> f64 {
        let places = self.by_place.iter().zip(family.start(parameter)[0]);
        places.map(|(by, x)| by * x).sum::<f64>() - self.implicit.work(changes)
    }

    /// The gradient, after [`adjoint`](Self::adjoint), by the number that each element of a node has of
    /// its own, for all elements at once: `out` has one entry for each. The parameter of the family
    /// moves these numbers of all elements together: stiffnesses of springs, moduli of the elements of
    /// a solid, masses of particles; where they differ, as a share of each, so that a gradient by shares
    /// comes out. Returns the derivative by the parameter, which is their sum. Cost: that of one
    /// parameter, whatever the number of elements.
    ///
    /// # Errors
    /// All errors of [`by_parameter`](Self::by_parameter); [`GradientError::NotOfElements`] if the
    /// parameter moves more than what acts on the node, [`GradientError::NotBuilt`] where something
    /// couples its elements.
    pub fn by_element(
        &mut self,
        family: &mut Family,
        parameter: usize,
        node: NodeId,
        out: &mut Vec<f64>,
    ) -> Result<f64, GradientError> {
        self.implicit.check_adjoint()?;
        check_own_numbers(self.implicit.problem(), node)?;
        let [mut dr, mut ds, mut forces] = std::mem::take(&mut self.implicit.changes);
        let changed = self
            .implicit
            .equations_by(family, parameter, [&mut dr, &mut ds], Some(&mut forces));
        let found = changed.and_then(|()| {
            let whole = self.whole(family, parameter, [&dr, &ds]);
            let of = OfElements {
                parameter,
                node,
                whole,
                forces: &forces,
                rows: &ds,
                elsewhere: &[],
            };
            self.implicit.by_element(of, out).map(|()| whole)
        });
        self.implicit.changes = [dr, ds, forces];
        found
    }

    /// The change of the residuals of the placed state with one parameter, that of the places of
    /// held coordinates included, for [`tangent`](Self::tangent).
    ///
    /// # Errors
    /// Those of [`by_parameter`](Self::by_parameter).
    pub fn equations_by(
        &mut self,
        family: &mut Family,
        parameter: usize,
        [dr, ds]: [&mut Vec<f64>; 2],
    ) -> Result<(), GradientError> {
        self.implicit
            .equations_by(family, parameter, [&mut *dr, &mut *ds], None)?;
        let Implicit {
            equations,
            linearised,
            kept,
            ..
        } = &mut self.implicit;
        let [moved, on_dofs] = &mut self.room;
        let places = family.start(parameter)[0].iter().zip(&kept.fixed);
        moved.clear();
        moved.extend(places.map(|(x, fixed)| if *fixed { *x } else { 0.0 }));
        let [zero, on_rows] = &mut self.rows;
        linearised.apply(equations, [moved, &self.still], zero, [on_dofs, on_rows]);
        dr.iter_mut().zip(&*on_dofs).for_each(|(d, a)| *d += a);
        ds.iter_mut().zip(&*on_rows).for_each(|(d, a)| *d += a);
        Ok(())
    }

    /// The derivative of the eigenvalue `omega^2` (rad^2/s^2) of a mode of vibration about the placed
    /// state by one parameter, with which the state of rest moves too.
    ///
    /// **Equation.** With the matrix `A` of the equations at rest, `A z = omega^2 B z` for
    /// `z = (u, l)` and `B = (M, 0)`, and with the weights `w = (u, -l)`
    ///
    /// ```math
    /// d(omega^2) = (w^T dA z - omega^2 u^T dM u) / u^T M u
    /// ```
    ///
    /// along the change of the model, of the positions and of the multipliers together. `dA` is by
    /// central differences of fourth order of products, good to about 1e-10 of their terms.
    ///
    /// Of eigenvalues that coincide, shapes are any basis, and none of them has a derivative of its
    /// own. The mode is to be exact, found with a tolerance of 1e-10 or less: its error is that of
    /// the derivative.
    ///
    /// # Errors
    /// [`GradientError::NotSolved`] for a mode whose equations miss more than 1e-6 of their terms;
    /// those of [`tangent`](Self::tangent) and [`equations_by`](Self::equations_by).
    pub fn eigenvalue_by(
        &mut self,
        family: &mut Family,
        parameter: usize,
        mode: &VibrationMode<'_>,
    ) -> Result<f64, GradientError> {
        self.implicit.check_placed()?;
        let shape = vibration::Shape::of(&mut self.implicit, mode)?;
        let [mut dr, mut ds, mut x, mut multipliers] = [(); 4].map(|()| Vec::new());
        self.equations_by(family, parameter, [&mut dr, &mut ds])?;
        self.tangent([&dr, &ds], [&mut x, &mut multipliers])?;
        let places = family.start(parameter)[0].iter().zip(&self.implicit.kept.fixed);
        for (x, (start, fixed)) in x.iter_mut().zip(places) {
            *x = if *fixed { *start } else { *x };
        }
        shape.eigenvalue_by(&self.implicit, family, parameter, [&x, &multipliers])
    }

    /// The derivative of the load factor of a limit point, which is placed, by one parameter.
    ///
    /// **Equation.** At a limit point the equations `(r, s)` at rest have a mode `(u, l)` without
    /// stiffness, and with `w = (u, -l)`, over the load factor `q` and a parameter `p`
    ///
    /// ```math
    /// dq/dp = - w^T d(r, s)/dp / w^T d(r, s)/dq
    /// ```
    ///
    /// **Use.** A path of equilibria locates the point and has its state; the mode is the lowest one
    /// about it. The error is of the order of the distance from the limit point.
    ///
    /// # Errors
    /// [`GradientError::NotSolved`] for a mode that has stiffness there, more than 1e-6 of that of
    /// the model; [`GradientError::NotBuilt`] where the load does no work along it, as at branch
    /// points; those of [`equations_by`](Self::equations_by).
    pub fn critical_load_by(
        &mut self,
        family: &mut Family,
        parameter: usize,
        load: CriticalLoad<'_>,
        mode: &VibrationMode<'_>,
    ) -> Result<f64, GradientError> {
        self.implicit.check_placed()?;
        let shape = vibration::Shape::without_stiffness(&mut self.implicit, mode)?;
        let [mut dr, mut ds] = [Vec::new(), Vec::new()];
        let [by_load, size] = match load {
            CriticalLoad::Parameter(k) => {
                self.equations_by(family, k, [&mut dr, &mut ds])?;
                shape.work([&dr, &ds])
            }
            CriticalLoad::Force(force) => {
                self.carry(force, &mut dr)?;
                dr.iter_mut().for_each(|r| *r = -*r);
                ds.resize(self.rows[0].len(), 0.0);
                shape.work([&dr, &ds])
            }
        };
        if by_load.abs() <= SOLVED * size {
            return Err(GradientError::NotBuilt {
                what: "the critical load".to_owned(),
                why: "the load does no work along the mode: the point is a branch point, or another load's",
            });
        }
        self.equations_by(family, parameter, [&mut dr, &mut ds])?;
        let [by_parameter, _] = shape.work([&dr, &ds]);
        Ok(-by_parameter / by_load)
    }
}
