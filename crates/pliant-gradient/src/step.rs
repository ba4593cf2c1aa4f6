//! The derivative of one step of the nonlinear method.

use crate::contacts::TakenContact;
use crate::equations::{Equations, KeptMoment, Unknown};
use crate::kinematics::{Retraction, gather};
use crate::linearised::Linearised;
use crate::solve::{Saddle, SolveReport};
use crate::{Family, GradientError, StateVector};
use pliant_kkt::Scheme;
use pliant_model::{NodeId, Problem, State};

/// Largest share of its terms that an equation of what is differentiated may miss.
pub(crate) const SOLVED: f64 = 1e-6;

/// Share of the largest coordinate that is moved in a step at the least velocity that others are
/// compared with.
const SLOW: f64 = 1e-6;

/// A step that was taken: its length, both ends, and what acted.
#[derive(Clone, Copy, Debug)]
pub struct TakenStep<'a> {
    /// Length (s).
    pub h: f64,
    /// Time at its start (s).
    pub time: f64,
    /// Positions and velocities of all nodes at the start.
    pub start: &'a State,
    /// The same at the end.
    pub end: &'a State,
    /// Multipliers of the step (N, N m), one per row.
    pub multipliers: &'a [f64],
    /// Forces from outside the model on all nodes (N, N m); empty for none.
    pub external: &'a [f64],
    /// Which independent coordinates are held.
    pub fixed: &'a [bool],
    /// The contacts that carried an impulse.
    pub contacts: &'a [TakenContact],
}

/// The derivative of a step of the nonlinear method with all weights at its end (implicit Euler,
/// iterated to convergence) by the implicit function theorem: of positions and velocities at the
/// end by those at the start, by forces from outside, and by parameters of the model.
///
/// **Equation.** With `z = (v+, lambda)` and the equations `R(z; x, v, p) = 0` of the step,
///
/// ```math
/// dz = -R_z^-1 (R_x dx + R_v dv + R_p dp),   dx+ = E dx + h D dv+
/// ```
///
/// where `D` and `E` are the derivatives of `x (+) h v+`. The adjoint solves the transposed system
/// once, whatever the number of inputs. `R_z` is exact: geometric stiffness with its antisymmetric
/// part, gyroscopic torque, the turning of body axes. The symmetric KKT matrix, factored once,
/// preconditions both.
///
/// **Use.** [`place`](Self::place) for a step, then [`tangent`](Self::tangent) and
/// [`adjoint`](Self::adjoint) as often as one likes. Rows that are held at a bound keep their
/// multipliers: the derivative is that of the present active set.
///
/// ```
/// use pliant_gradient::{StateVector, StepDerivative, TakenStep};
/// use pliant_model::{Mass, Model, Problem, Spring, Treatment};
/// // Implicit Euler of x'' = -4 x from (1, 0), h = 0.5: v+ = (v - h k x)/(1 + h^2 k), x+ = x + h v+.
/// let mut model = Model::new();
/// let bead = model.add_scalars("bead", &[1.0])?;
/// model.add_mass("mass", bead, Mass::Uniform(1.0))?;
/// model.add_force_field("spring", bead, Spring::linear(4.0), Treatment::Stiffness)?;
/// let problem = Problem::new(model);
/// let start = problem.initial_state()?;
/// let mut end = start.clone();
/// (end.velocities[0], end.positions[0]) = (-1.0, 0.5);
/// let mut derivative = StepDerivative::new(&problem)?;
/// derivative.place(&problem, &TakenStep {
///     h: 0.5, time: 0.0, start: &start, end: &end, multipliers: &[], external: &[], fixed: &[false],
///     contacts: &[],
/// })?;
/// let mut moved = StateVector::zeros(1);
/// derivative.tangent(&StateVector { x: vec![1.0], v: vec![0.0] }, &mut moved)?;
/// assert!((moved.v[0] + 1.0).abs() < 1e-14 && (moved.x[0] - 0.5).abs() < 1e-14);
/// # Ok::<(), pliant_gradient::GradientError>(())
/// ```
#[derive(Debug)]
pub struct StepDerivative {
    equations: Equations,
    linearised: Linearised,
    saddle: Saddle,
    touching: Vec<NodeId>,
    retraction: Retraction,
    kept: KeptMoment,
    /// Velocities of all nodes at the start.
    start_velocities: Vec<f64>,
    /// The last adjoint solution: against the equations of the independent coordinates and of the
    /// rows.
    adjoint: [Vec<f64>; 2],
    room: [Vec<f64>; 4],
    /// Numbers of zero and room, for all rows.
    rows: [Vec<f64>; 2],
    by_parameter: Vec<f64>,
}

impl StepDerivative {
    /// Plans the derivative of steps of a problem.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for what has no derivative here: laws with a memory, impacts,
    /// masses on nodes that are mapped nonlinearly; [`GradientError::Model`],
    /// [`GradientError::Plan`].
    pub fn new(problem: &Problem) -> Result<Self, GradientError> {
        Self::with_contacts(problem, &[])
    }

    /// As [`new`](Self::new), of steps with contacts on some nodes.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_contacts(problem: &Problem, touching: &[NodeId]) -> Result<Self, GradientError> {
        let equations = Equations::new(problem.clone())?;
        let (n, m) = (problem.dof_count(), problem.row_count());
        Ok(Self {
            linearised: Linearised::new(&equations),
            saddle: Saddle::new(&equations, touching)?,
            touching: touching.to_vec(),
            equations,
            retraction: Retraction::default(),
            kept: KeptMoment {
                start_velocity: vec![0.0; n],
                ..KeptMoment::default()
            },
            start_velocities: Vec::new(),
            adjoint: [vec![0.0; n], vec![0.0; m]],
            room: std::array::from_fn(|_| vec![0.0; n]),
            rows: std::array::from_fn(|_| vec![0.0; m]),
            by_parameter: Vec::new(),
        })
    }

    /// Takes a step of the same problem, whose parameters (treatments, inputs, gravity) may have
    /// changed: checks that it solves its equations, linearises them at its end, and factors.
    ///
    /// # Errors
    /// [`GradientError::NotSolved`] if the step is not a solution of the equations, whatever the
    /// reason: it was taken by another method or in parts, contacts or limits acted, it did not
    /// converge. [`GradientError::Length`], [`GradientError::Model`], [`GradientError::Solve`].
    pub fn place(&mut self, problem: &Problem, step: &TakenStep<'_>) -> Result<(), GradientError> {
        if self.equations.problem.parameters() != problem.parameters() {
            let changed = self.equations.problem.row_groups() != problem.row_groups();
            self.equations.problem.set_parameters(problem.parameters());
            if changed {
                *self = Self::with_contacts(problem, &std::mem::take(&mut self.touching))?;
            }
        }
        let n = problem.dof_count();
        for (what, expected, found) in [
            (
                "the multipliers of a step",
                problem.row_count(),
                step.multipliers.len(),
            ),
            ("the fixed coordinates of a step", n, step.fixed.len()),
            (
                "the velocities at the start of a step",
                problem.velocity_count(),
                step.start.velocities.len(),
            ),
        ] {
            check_length(what, expected, found)?;
        }
        let kept = &mut self.kept;
        gather(problem, &step.start.velocities, &mut kept.start_velocity);
        (kept.h, kept.time) = (Some(step.h), step.time + step.h);
        kept.take(step.end, step.multipliers, step.external, step.fixed);
        self.start_velocities.clone_from(&step.start.velocities);
        let contacts = &mut self.linearised.contacts;
        contacts.place(problem, step.contacts, step.h, step.start, &step.end.velocities)?;
        kept.contacts.clear();
        kept.contacts.resize(problem.velocity_count(), 0.0);
        contacts.add_forces(&mut kept.contacts);
        kept.contact_sizes.clear();
        kept.contact_sizes.resize(problem.velocity_count(), 0.0);
        contacts.add_sizes(&mut kept.contact_sizes);
        self.equations.evaluate(&kept.get())?;
        self.linearised.place(&mut self.equations, &kept.get())?;
        self.check_solved(step)?;
        let displacement = &mut self.room[0];
        gather(problem, &self.equations.state.velocities, displacement);
        displacement.iter_mut().for_each(|v| *v *= step.h);
        self.retraction.place(problem, displacement);
        let scheme = Scheme::implicit_euler(step.h);
        self.saddle.place(
            &mut self.equations,
            &self.linearised,
            Some((&scheme, step.contacts, step.start)),
            &self.kept,
        )?;
        let rows = self.saddle.rhs[1].len();
        self.rows.iter_mut().for_each(|list| list.resize(rows, 0.0));
        Ok(())
    }

    /// Whether the step is a solution of its equations, and its positions are where its velocities
    /// lead.
    fn check_solved(&mut self, step: &TakenStep<'_>) -> Result<(), GradientError> {
        let problem = &self.equations.problem;
        let bound = &self.linearised.laws.at_bound;
        let (mut place, mut share) = self.equations.worst(|k| self.kept.fixed[k], |k| bound[k]);
        let mut described = place.describe(problem);
        let largest = step.end.positions.iter().fold(0.0f64, |l, x| l.max(x.abs()));
        let moved = &mut self.room[0];
        for node in problem.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let (p, v) = (node.position_range(), node.velocity_range());
            let moved = &mut moved[..v.len()];
            node.space
                .local(&step.start.positions[p.clone()], &step.end.positions[p], moved);
            for (k, (d, u)) in moved.iter().zip(&step.end.velocities[v]).enumerate() {
                let off = (d - step.h * u).abs() / largest.max(f64::MIN_POSITIVE);
                if off > share || off.is_nan() {
                    (place, share) = (Unknown::Dof(first + k), off);
                    described = place.describe(problem);
                }
            }
        }
        let fastest = step.end.velocities.iter().chain(&step.start.velocities);
        let fastest = fastest.fold(SLOW * largest / step.h, |l, v| l.max(v.abs()));
        let by_contacts = self.linearised.contacts.missed(&step.start.velocities, fastest);
        if by_contacts > share {
            share = by_contacts;
            "a contact".clone_into(&mut described);
        }
        if share <= SOLVED {
            return Ok(());
        }
        Err(GradientError::NotSolved {
            place: described,
            share,
            limit: SOLVED,
        })
    }

    /// The length of the placed step (s).
    fn h(&self) -> f64 {
        self.kept.h.unwrap_or(1.0)
    }

    /// How positions and velocities at the end move with those at the start: `out` for the
    /// direction `from`. Returns how well its equations were solved.
    ///
    /// # Errors
    /// [`GradientError::NotConverged`], [`GradientError::Length`].
    pub fn tangent(
        &mut self,
        from: &StateVector,
        out: &mut StateVector,
    ) -> Result<SolveReport, GradientError> {
        self.tangent_of(from, None, out)
    }

    /// As [`tangent`](Self::tangent), where the equations change too: by `dr` (N, N m; n) and `ds`
    /// (m), the derivatives of the residuals along a change of parameters
    /// ([`Family`]).
    ///
    /// # Errors
    /// As [`tangent`](Self::tangent).
    pub fn tangent_of(
        &mut self,
        from: &StateVector,
        equations: Option<[&[f64]; 2]>,
        out: &mut StateVector,
    ) -> Result<SolveReport, GradientError> {
        let (n, h) = (self.kept.start_velocity.len(), self.h());
        from.check(n)?;
        let [moved, still, given, scaled] = &mut self.room;
        // The end moves with the start, its velocities held.
        moved.clone_from(&from.x);
        self.retraction.of_start(moved);
        still.fill(0.0);
        let [r, s] = &mut self.saddle.rhs;
        self.rows[0].fill(0.0);
        self.linearised
            .apply(&mut self.equations, [moved, still], &self.rows[0], [r, s]);
        // Inertia by the velocities at the start.
        self.linearised.inertia(&self.equations, &from.v, scaled);
        for (r, m) in r.iter_mut().zip(&*scaled) {
            *r -= m / h;
        }
        let start = &self.start_velocities;
        self.linearised
            .add_contacts_by_start(&self.equations, (&from.x, &from.v), start, [r, s]);
        if let Some([dr, ds]) = equations {
            r.iter_mut().zip(dr).for_each(|(r, d)| *r += d);
            s.iter_mut().zip(ds).for_each(|(s, d)| *s += d);
        }
        r.iter_mut().chain(&mut *s).for_each(|r| *r = -*r);
        let bound = &self.linearised.laws.at_bound;
        s.iter_mut()
            .zip(bound)
            .filter(|(_, b)| **b)
            .for_each(|(s, _)| *s = 0.0);
        let Self {
            saddle,
            linearised,
            equations,
            retraction,
            ..
        } = self;
        let report = saddle.solve(false, |u, lambda, dr, ds| {
            given.copy_from_slice(u);
            retraction.of_displacement(given);
            given.iter_mut().for_each(|y| *y *= h);
            linearised.apply(equations, [given, u], lambda, [dr, ds]);
        })?;
        let velocity = &saddle.answer[0];
        given.clone_from(velocity);
        retraction.of_displacement(given);
        out.x.clear();
        out.x.extend(moved.iter().zip(&*given).map(|(e, d)| e + h * d));
        out.v.clone_from(velocity);
        Ok(report)
    }

    /// The gradient of a function of the end by positions and velocities at the start: `out` for
    /// its gradient `from` at the end. What it is by everything else is read afterwards
    /// ([`by_force`](Self::by_force), [`by_parameter`](Self::by_parameter)).
    ///
    /// # Errors
    /// As [`tangent`](Self::tangent).
    pub fn adjoint(
        &mut self,
        from: &StateVector,
        out: &mut StateVector,
    ) -> Result<SolveReport, GradientError> {
        let (n, h) = (self.kept.start_velocity.len(), self.h());
        from.check(n)?;
        let [on_end, y, u, turned] = &mut self.room;
        let [r, s] = &mut self.saddle.rhs;
        on_end.clone_from(&from.x);
        self.retraction.of_displacement_transposed(on_end);
        for (r, (v, x)) in r.iter_mut().zip(from.v.iter().zip(&*on_end)) {
            *r = v + h * x;
        }
        s.fill(0.0);
        let Self {
            saddle,
            linearised,
            equations,
            retraction,
            ..
        } = self;
        let report = saddle.solve(true, |p, q, ds, dl| {
            linearised.apply_transposed(equations, [p, q], [&mut *y, &mut *u, dl]);
            turned.clone_from(y);
            retraction.of_displacement_transposed(turned);
            for (d, (u, y)) in ds.iter_mut().zip(u.iter().zip(&*turned)) {
                *d = u + h * y;
            }
        })?;
        for (kept, found) in self.adjoint.iter_mut().zip(&saddle.answer) {
            kept.clone_from(found);
        }
        let bound = &linearised.laws.at_bound;
        let rows = self.adjoint[1].iter_mut().zip(bound).filter(|(_, b)| **b);
        rows.for_each(|(q, _)| *q = 0.0);
        let [p, q] = &self.adjoint;
        linearised.apply_transposed(equations, [p, q], [y, u, &mut self.rows[1]]);
        out.x.clear();
        out.x.extend(from.x.iter().zip(&*y).map(|(f, y)| f - y));
        retraction.of_start_transposed(&mut out.x);
        linearised.inertia(equations, p, u);
        out.v.clear();
        out.v.extend(u.iter().map(|m| m / h));
        y.fill(0.0);
        u.fill(0.0);
        let start = &self.start_velocities;
        linearised.add_contacts_by_start_transposed(equations, [p, q], start, [&mut *y, &mut *u]);
        out.x.iter_mut().zip(&*y).for_each(|(x, d)| *x -= d);
        out.v.iter_mut().zip(&*u).for_each(|(v, d)| *v -= d);
        Ok(report)
    }

    /// Carries the gradient of a function of one state by displacements and velocities of all nodes
    /// (in the order of [`State::velocities`]) to the independent coordinates. The step that was
    /// placed is forgotten.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for a gradient by velocities of a node that is mapped
    /// nonlinearly; [`GradientError::Length`], [`GradientError::Model`].
    pub fn carry(
        &mut self,
        problem: &Problem,
        state: &State,
        [by_x, by_v]: [&[f64]; 2],
        out: &mut StateVector,
    ) -> Result<(), GradientError> {
        let all = problem.velocity_count();
        check_length("a gradient by displacements of all nodes", all, by_x.len())?;
        check_length("a gradient by velocities of all nodes", all, by_v.len())?;
        let Equations {
            evaluation,
            state: own,
            total,
            ..
        } = &mut self.equations;
        own.clone_from(state);
        evaluation.propagate(problem, own)?;
        let n = problem.dof_count();
        for (by, list, nonlinear) in [(by_x, &mut out.x, true), (by_v, &mut out.v, false)] {
            total.copy_from_slice(by);
            if !nonlinear {
                for (index, node) in problem.nodes().iter().enumerate() {
                    let acts = total[node.velocity_range()].iter().any(|f| *f != 0.0);
                    if acts && !crate::kinematics::is_linear(problem, index) {
                        return Err(GradientError::NotBuilt {
                            what: format!("a function of the velocities of `{}`", node.name),
                            why: "its mapping is not linear: write the function in those of its parents",
                        });
                    }
                }
            }
            evaluation.pull_back(problem, total);
            list.clear();
            list.resize(n, 0.0);
            gather(problem, total, list);
        }
        Ok(())
    }

    /// After [`adjoint`](Self::adjoint): the gradient by forces from outside on the velocity
    /// coordinates of all nodes, in the order of [`State::velocities`].
    pub fn by_force(&self, out: &mut Vec<f64>) {
        let problem = &self.equations.problem;
        out.clear();
        out.resize(problem.velocity_count(), 0.0);
        crate::kinematics::scatter(problem, &self.adjoint[0], out);
        self.equations.evaluation.push_forward(problem, out);
    }

    /// After [`adjoint`](Self::adjoint): the gradient by the inputs of all force fields, in the order
    /// of [`Parameters::inputs`](pliant_model::Parameters::inputs): by differences of their laws,
    /// good to about 1e-10; at the end of a law's range from the side that there is.
    pub fn by_input(&mut self, out: &mut Vec<f64>) {
        let mut on_nodes = std::mem::take(&mut self.by_parameter);
        self.by_force(&mut on_nodes);
        out.clear();
        let Equations {
            problem, state, law, ..
        } = &mut self.equations;
        let (multipliers, time) = (&self.kept.multipliers, self.kept.time);
        for i in 0..problem.force_fields().len() {
            for k in 0..problem.inputs(i).len() {
                let at = (&*state, &multipliers[..], time);
                let by = [&on_nodes[..], &self.adjoint[1]];
                let found = self.linearised.laws.by_input(problem, law, (i, k), at, by);
                out.push(found);
            }
        }
        self.by_parameter = on_nodes;
    }

    /// After [`adjoint`](Self::adjoint): the gradient by one parameter of a family of models, whose
    /// state at the start is held.
    ///
    /// # Errors
    /// Those of [`Family`], and [`GradientError::Model`] where another model has no value at the
    /// present positions.
    pub fn by_parameter(&mut self, family: &mut Family, parameter: usize) -> Result<f64, GradientError> {
        let [dr, ds] = [&mut self.room[0], &mut self.by_parameter];
        family.derivative(&self.equations.problem, parameter, &self.kept.get(), [dr, ds])?;
        let [p, q] = &self.adjoint;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        Ok(-dot(p, dr) - dot(q, ds))
    }

    /// The change of the residuals of the placed step with one parameter, for
    /// [`tangent_of`](Self::tangent_of).
    ///
    /// # Errors
    /// As [`by_parameter`](Self::by_parameter).
    pub fn equations_by(
        &mut self,
        family: &mut Family,
        parameter: usize,
        out: [&mut Vec<f64>; 2],
    ) -> Result<(), GradientError> {
        family.derivative(&self.equations.problem, parameter, &self.kept.get(), out)
    }
}

/// An error unless a vector has its length.
pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), GradientError> {
    match expected == found {
        true => Ok(()),
        false => Err(GradientError::Length {
            what,
            expected,
            found,
        }),
    }
}
