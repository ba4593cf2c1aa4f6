//! The derivative of one step of the nonlinear method ([`by`]: its gradients by everything but the
//! state; [`length`]: by its length).

mod by;
mod forwards;
mod length;
mod relation;
mod smoothed;
mod start;

use crate::contact_family::ContactChanges;
use crate::contacts::ContactStart;
use crate::equations::{Kinetics, Unknown};
use crate::implicit::{Implicit, SOLVED, check_external, check_state};
use crate::kinematics::{Retraction, gather};
use crate::solve::{FactoredStep, Matrix, SolveReport};
use crate::staged::StagedStep;
use crate::taken::{ActiveSet, StepWeights, TakenStep};
use crate::{GradientError, StateVector, check_length};
use forwards::{Way, solve_forwards};
use pliant_model::{NodeId, Problem, Space, State};
use relation::{Relation, check_weights};
use start::StartPart;

/// Share of the largest coordinate that is moved in a step at the least velocity that others are
/// compared with.
const SLOW: f64 = 1e-6;

/// The derivative of a step of the nonlinear method, iterated to convergence (implicit Euler, the
/// trapezoidal rule, or other [weights](crate::StepWeights)), of BDF2, or of SDIRK2
/// ([its equations](crate::TakenStages)), by the implicit function theorem: of positions and
/// velocities at the end by those at the start, by forces from outside, and by parameters of the
/// model.
///
/// **Equation.** With `z = (v+, lambda)` and the equations `R(z; x, v, p) = 0` of the step,
///
/// ```math
/// dz = -R_z^-1 (R_x dx + R_v dv + R_p dp),   dx+ = E dx + h D (beta dv+ + (1 - beta) dv)
/// ```
///
/// where `D` and `E` are the derivatives of the end by a displacement and by the start, and `beta`
/// is 1 of implicit Euler; BDF2 has `H` for `h`, and its predictor
/// ([`tangent_after`](Self::tangent_after)). The adjoint solves the transposed system once,
/// whatever the number of inputs. `R_z` is exact: geometric stiffness with its antisymmetric part,
/// gyroscopic torque, the turning of body axes. The symmetric KKT matrix, factored once,
/// preconditions both.
///
/// **Use.** [`place`](Self::place) for a step, then [`tangent`](Self::tangent) and
/// [`adjoint`](Self::adjoint) as often as one likes. Rows that are held at a bound keep their
/// multipliers: the derivative is that of the present active set.
///
/// ```
/// use pliant_gradient::{StateVector, StepDerivative, StepWeights, TakenStep};
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
///     contacts: &[], before: None, weights: StepWeights::END, stages: None,
/// })?;
/// let mut moved = StateVector::zeros(1);
/// derivative.tangent(&StateVector { x: vec![1.0], v: vec![0.0] }, &mut moved)?;
/// assert!((moved.v[0] + 1.0).abs() < 1e-14 && (moved.x[0] - 0.5).abs() < 1e-14);
/// # Ok::<(), pliant_gradient::GradientError>(())
/// ```
#[derive(Debug)]
pub struct StepDerivative {
    implicit: Implicit,
    retraction: Retraction,
    relation: Relation,
    /// The share of the displacement that the start and the step before give (n).
    ahead: Vec<f64>,
    start_equations: StartPart,
    /// No direction of the memory, and room for one that is not wanted.
    still: StateVector,
    unused: StateVector,
    active: ActiveSet,
    /// Positions and velocities of all nodes at the start, and the length of the step (s).
    start: State,
    h: f64,
    changes: ContactChanges,
    room: [Vec<f64>; 4],
    /// Changes of multipliers that are zero, and room for those of the transposed product.
    rows: [Vec<f64>; 2],
    /// Changes of forces at the start.
    elsewhere: Vec<f64>,
    staged: Staged,
}

/// The derivative of steps of two stages, once there was one.
#[derive(Debug, Default)]
struct Staged {
    made: Option<Box<StagedStep>>,
    /// Whether the step that was placed last is one.
    is_placed: bool,
}

impl Staged {
    /// That of the step that was placed last, if it is one of stages.
    fn placed(&mut self) -> Option<&mut StagedStep> {
        self.made.as_deref_mut().filter(|_| self.is_placed)
    }
}

impl StepDerivative {
    /// Plans the derivative of steps of a problem.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for what has no derivative here: laws with a memory, impacts;
    /// [`GradientError::Model`], [`GradientError::Plan`].
    pub fn new(problem: &Problem) -> Result<Self, GradientError> {
        Self::with_contacts(problem, &[])
    }

    /// Plans the derivative of steps with contacts on some nodes.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn with_contacts(problem: &Problem, touching: &[NodeId]) -> Result<Self, GradientError> {
        let (n, m) = (problem.dof_count(), problem.row_count());
        Ok(Self {
            implicit: Implicit::new(problem, touching)?,
            retraction: Retraction::default(),
            relation: Relation::of(1.0, StepWeights::END, None),
            ahead: vec![0.0; n],
            start_equations: StartPart::default(),
            still: StateVector::zeros(n),
            unused: StateVector::zeros(n),
            active: ActiveSet::default(),
            start: State::default(),
            h: 1.0,
            changes: ContactChanges::default(),
            room: std::array::from_fn(|_| vec![0.0; n]),
            rows: std::array::from_fn(|_| vec![0.0; m]),
            elsewhere: Vec::new(),
            staged: Staged::default(),
        })
    }

    /// Takes a step of the same problem, whose parameters (treatments, inputs, gravity) may have
    /// changed: checks that it solves its equations, linearises them at its end, and factors.
    ///
    /// # Errors
    /// [`GradientError::NotSolved`] if the step is not a solution of the equations, whatever the
    /// reason: it was taken by another method or in parts, contacts or limits acted, it did not
    /// converge. [`GradientError::NotBuilt`] for contacts in steps of BDF2, for contacts that are not those
    /// of its stages in a step of SDIRK2, and for masses on nodes that are mapped nonlinearly in the latter;
    /// [`GradientError::Length`], [`GradientError::Structure`], [`GradientError::Model`],
    /// [`GradientError::Solve`].
    pub fn place(&mut self, problem: &Problem, step: &TakenStep<'_>) -> Result<(), GradientError> {
        self.begin(problem, step)?;
        if step.stages.is_some() {
            return self.place_staged(problem, step);
        }
        if step.contacts.iter().any(|contact| contact.stage.is_some()) {
            return Err(GradientError::NotBuilt {
                what: "contacts of stages in a whole step".to_owned(),
                why: "it has those of its start",
            });
        }
        let contacts = &mut self.implicit.linearised.contacts;
        contacts.place(problem, step.contacts, ContactStart::of(step))?;
        self.linearise(step.start)?;
        self.check_solved(step)?;
        let of_contacts = ActiveSet::of(step.contacts);
        let contacts = &self.implicit.linearised.contacts;
        let at_turn = contacts.at_turn(&step.start.velocities, self.fastest(step));
        let turns = step.contacts.iter().zip(at_turn);
        self.active = ActiveSet {
            rows_at_bounds: self.rows_at_bounds(),
            at_change: of_contacts.at_change + turns.filter(|(c, turns)| *turns && !c.at_change).count(),
            ..of_contacts
        };
        self.is_placed();
        Ok(())
    }

    /// Takes a step of two stages.
    fn place_staged(&mut self, problem: &Problem, step: &TakenStep<'_>) -> Result<(), GradientError> {
        let staged = match &mut self.staged.made {
            Some(staged) => staged,
            none => {
                let touching = &self.implicit.touching;
                none.insert(Box::new(StagedStep::new(problem, touching)?))
            }
        };
        staged.place(problem, step)?;
        self.active = ActiveSet {
            rows_at_bounds: staged.rows_at_bounds(),
            ..ActiveSet::of(step.contacts)
        };
        self.staged.is_placed = true;
        self.implicit.is_placed();
        Ok(())
    }

    /// Refuses weights of the end of a step that [`place`](Self::place) refuses.
    ///
    /// # Errors
    /// [`GradientError::Weights`] for weights that are none; [`GradientError::NotBuilt`] for limits
    /// and ropes where `beta` is below 1, and for masses on nodes that are mapped nonlinearly where a
    /// weight is.
    pub fn check_weights(&self, weights: StepWeights) -> Result<(), GradientError> {
        check_weights(&self.implicit.equations, weights)
    }

    /// Takes the ends of a step and what acted in it.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for contacts in a step of BDF2; [`GradientError::Length`],
    /// [`GradientError::Structure`].
    fn begin(&mut self, problem: &Problem, step: &TakenStep<'_>) -> Result<(), GradientError> {
        self.staged.is_placed = false;
        self.implicit.begin(problem)?;
        for (state, of) in [
            (
                step.start,
                [
                    "positions at the start of a step",
                    "velocities at the start of a step",
                ],
            ),
            (
                step.end,
                [
                    "positions at the end of a step",
                    "velocities at the end of a step",
                ],
            ),
        ] {
            check_state(problem, state, of)?;
        }
        let (rows, dofs) = (problem.row_count(), problem.dof_count());
        check_length("multipliers of a step", rows, step.multipliers.len())?;
        check_length("fixed coordinates of a step", dofs, step.fixed.len())?;
        check_external(problem, step.external)?;
        check_weights(&self.implicit.equations, step.weights)?;
        if step.before.is_some() && step.weights != StepWeights::END {
            return Err(GradientError::NotBuilt {
                what: "a step of BDF2 with weights".to_owned(),
                why: "its equations are those of its end",
            });
        }
        self.start_equations.place(problem, step)?;
        self.relation = Relation::of(step.h, step.weights, step.before.map(|before| before.h));
        let relation = self.relation;
        let kept = &mut self.implicit.kept;
        gather(problem, &step.start.velocities, &mut kept.start_velocity);
        for (ahead, v) in self.ahead.iter_mut().zip(&kept.start_velocity) {
            *ahead = relation.ahead_by_velocity * v;
        }
        if let Some(before) = &step.before {
            if !step.contacts.is_empty() {
                return Err(GradientError::NotBuilt {
                    what: "contacts in steps of BDF2".to_owned(),
                    why: "their laws are written for implicit Euler",
                });
            }
            check_length("velocities of the step before", dofs, before.velocities.len())?;
            check_length(
                "the displacement of the step before",
                dofs,
                before.displacement.len(),
            )?;
            for (v, b) in kept.start_velocity.iter_mut().zip(before.velocities) {
                *v = relation.by_velocity * *v + relation.by_before * b;
            }
            for (ahead, d) in self.ahead.iter_mut().zip(before.displacement) {
                *ahead = relation.by_displacement * d;
            }
        }
        let span = relation.inertia_span();
        (kept.kinetics, kept.time) = (Kinetics::Accelerated { span }, step.time + step.h);
        kept.take(step.end, step.multipliers, step.external, step.fixed);
        if let Some(start) = self.start_equations.active() {
            start.write_beside(&mut kept.beside);
        }
        self.start.clone_from(step.start);
        self.h = step.h;
        Ok(())
    }

    /// Linearises the equations at the end that is taken, with the contacts that are, and factors.
    ///
    /// # Errors
    /// [`GradientError::Model`], [`GradientError::NotBuilt`] where a law has no finite derivative,
    /// [`GradientError::Solve`].
    fn linearise(&mut self, start: &State) -> Result<(), GradientError> {
        let Implicit {
            equations,
            linearised,
            saddle,
            kept,
            ..
        } = &mut self.implicit;
        for list in [&mut kept.contacts, &mut kept.contact_sizes] {
            list.clear();
            list.resize(equations.problem.velocity_count(), 0.0);
        }
        linearised.contacts.add_forces(&mut kept.contacts);
        linearised.contacts.add_sizes(&mut kept.contact_sizes);
        equations.evaluate(&kept.get())?;
        linearised.place(equations, &kept.get())?;
        if let Some(start) = self.start_equations.active() {
            start.add_residuals(equations);
        }
        let displacement = &mut self.room[0];
        gather(&equations.problem, &kept.end.velocities, displacement);
        for (v, ahead) in displacement.iter_mut().zip(&self.ahead) {
            *v = self.relation.reach * *v + ahead;
        }
        self.retraction.place(&equations.problem, displacement);
        let factored = FactoredStep {
            scheme: &self.relation.scheme(),
            start,
        };
        saddle.place(equations, linearised, Matrix::Step(factored), kept)
    }

    /// The equations are solved where they are linearised.
    fn is_placed(&mut self) {
        let rows = self.implicit.saddle.rhs[1].len();
        self.rows.iter_mut().for_each(|list| list.resize(rows, 0.0));
        self.implicit.is_placed();
    }

    /// Number of rows that a bound holds.
    fn rows_at_bounds(&self) -> usize {
        let bounds = &self.implicit.linearised.laws.at_bound;
        bounds.iter().filter(|b| **b).count()
    }

    /// The branches of the step that was placed last.
    pub fn active_set(&self) -> ActiveSet {
        self.active
    }

    /// Whether the step is a solution of its equations, and its positions are where its velocities
    /// lead.
    fn check_solved(&mut self, step: &TakenStep<'_>) -> Result<(), GradientError> {
        let (mut place, mut share) = self.missed(step);
        let problem = &self.implicit.equations.problem;
        for node in problem.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let (p, v) = (node.position_range(), node.velocity_range());
            let moved = &mut self.room[0][..v.len()];
            node.space.local(
                &step.start.positions[p.clone()],
                &step.end.positions[p.clone()],
                moved,
            );
            let (places, size) = (&step.end.positions[p], node.space.velocity_size());
            for (k, (d, u)) in moved.iter().zip(&step.end.velocities[v]).enumerate() {
                let way = self.relation.reach * u + self.ahead[first + k];
                let scale = coordinate_scale(node.space, places, [k / size, k % size]);
                let off = (d - way).abs() / scale.max(d.abs()).max(f64::MIN_POSITIVE);
                if off > share || off.is_nan() {
                    (place, share) = (Some(Unknown::Dof(first + k)), off);
                }
            }
        }
        match share <= SOLVED {
            true => Ok(()),
            false => Err(self.not_solved(place, share)),
        }
    }

    /// The largest velocity that others are compared with.
    fn fastest(&self, step: &TakenStep<'_>) -> f64 {
        let end = &self.implicit.kept.end;
        let largest = end.positions.iter().fold(0.0f64, |l, x| l.max(x.abs()));
        let all = end.velocities.iter().chain(&step.start.velocities);
        all.fold(SLOW * largest / step.h, |l, v| l.max(v.abs()))
    }

    /// The equation that misses the largest share of its terms, and that share: of a contact, if of
    /// no unknown of the model.
    fn missed(&self, step: &TakenStep<'_>) -> (Option<Unknown>, f64) {
        let Implicit {
            equations,
            linearised,
            kept,
            saddle,
            ..
        } = &self.implicit;
        let bound = &linearised.laws.at_bound;
        let (place, share) = equations.worst(|k| kept.fixed[k], |k| bound[k]);
        let fastest = self.fastest(step);
        let given = |row: usize| saddle.given_velocity(equations.rows.len() + row);
        let by_contacts = linearised.contacts.missed(&step.start.velocities, fastest, given);
        match by_contacts > share {
            true => (None, by_contacts),
            false => (Some(place), share),
        }
    }

    fn not_solved(&self, place: Option<Unknown>, share: f64) -> GradientError {
        GradientError::NotSolved {
            place: self.describe(place),
            share,
            limit: SOLVED,
        }
    }

    /// The name of an unknown, or of a contact.
    fn describe(&self, place: Option<Unknown>) -> String {
        let problem = &self.implicit.equations.problem;
        place.map_or_else(|| "a contact".to_owned(), |place| place.describe(problem))
    }

    /// How positions and velocities at the end move with those at the start: `out` for the
    /// direction `from`; the memory of BDF2 and SDIRK2 is held. Returns how well its equations were solved.
    ///
    /// # Errors
    /// [`GradientError::NotConverged`], [`GradientError::NotReady`], [`GradientError::Length`].
    pub fn tangent(
        &mut self,
        from: &StateVector,
        out: &mut StateVector,
    ) -> Result<SolveReport, GradientError> {
        self.tangent_of(from, None, out)
    }

    /// How the end moves with the start, as [`tangent`](Self::tangent) says, where the equations
    /// change too: by `dr` (N, N m; n) and `ds` (m), the derivatives of the residuals along a
    /// change of parameters ([`equations_by`](Self::equations_by)).
    ///
    /// # Errors
    /// Those of [`tangent`](Self::tangent).
    pub fn tangent_of(
        &mut self,
        from: &StateVector,
        changes: Option<[&[f64]; 2]>,
        out: &mut StateVector,
    ) -> Result<SolveReport, GradientError> {
        let still = std::mem::take(&mut self.still);
        let mut unused = std::mem::take(&mut self.unused);
        let found = self.tangent_after([from, &still], changes, [out, &mut unused]);
        (self.still, self.unused) = (still, unused);
        found
    }

    /// How the end and the memory of a step of BDF2 or SDIRK2 move with its start and with the memory of
    /// the one before, as [`tangent_of`](Self::tangent_of) says. The second vector of each pair is of
    /// the memory: of BDF2 of the displacement, and of the velocities at the start of that step; of SDIRK2,
    /// whose contacts are expected by it, of the accelerations of its second stage, and of how much these
    /// are above those of its first ([`TakenStages`](crate::TakenStages)).
    ///
    /// # Errors
    /// Those of [`tangent`](Self::tangent).
    pub fn tangent_after(
        &mut self,
        [from, before]: [&StateVector; 2],
        changes: Option<[&[f64]; 2]>,
        [out, memory]: [&mut StateVector; 2],
    ) -> Result<SolveReport, GradientError> {
        self.implicit.check_placed()?;
        if let Some(staged) = self.staged.placed() {
            return staged.tangent([from, before], changes, [out, memory]);
        }
        let relation = self.relation;
        let (reach, span) = (relation.reach, relation.inertia_span());
        let Implicit {
            equations,
            linearised,
            saddle,
            ..
        } = &mut self.implicit;
        let retraction = &self.retraction;
        from.check(equations.problem.dof_count())?;
        before.check(equations.problem.dof_count())?;
        let [moved, still, given, scaled] = &mut self.room;
        // The end moves with the start and what was before, its velocities held.
        moved.clone_from(&from.x);
        retraction.of_start(moved);
        for (g, (v, d)) in given.iter_mut().zip(from.v.iter().zip(&before.x)) {
            *g = relation.ahead_by_velocity * v + relation.by_displacement * d;
        }
        retraction.of_displacement(given);
        moved.iter_mut().zip(&*given).for_each(|(m, g)| *m += g);
        still.fill(0.0);
        let [r, s] = &mut saddle.rhs;
        linearised.apply(equations, [moved, still], &self.rows[0], [r, s]);
        // Inertia by the velocities at the start and before.
        for (g, (v, b)) in given.iter_mut().zip(from.v.iter().zip(&before.v)) {
            *g = relation.by_velocity * v + relation.by_before * b;
        }
        linearised.inertia(equations, given, scaled);
        r.iter_mut().zip(&*scaled).for_each(|(r, m)| *r -= m / span);
        if let Some(start) = self.start_equations.active_mut() {
            start.add_by_start(
                linearised.compliance(equations),
                [&from.x, &from.v],
                [&mut *r, &mut *s],
            );
        }
        linearised.add_contacts_by_start(equations, from, &self.start.velocities, [r, s]);
        if let Some([dr, ds]) = changes {
            check_length("a change of the forces", r.len(), dr.len())?;
            check_length("a change of the rows", s.len(), ds.len())?;
            r.iter_mut().zip(dr).for_each(|(r, d)| *r += d);
            s.iter_mut().zip(ds).for_each(|(s, d)| *s += d);
        }
        let way = Way { retraction, reach };
        let report = solve_forwards(&mut self.implicit, &mut self.start_equations, way, given)?;
        let saddle = &self.implicit.saddle;
        let velocity = &saddle.answer[0];
        given.clone_from(velocity);
        retraction.of_displacement(given);
        out.x.clear();
        out.x
            .extend(moved.iter().zip(&*given).map(|(e, d)| e + reach * d));
        out.v.clone_from(velocity);
        memory.v.clone_from(&from.v);
        memory.x.clear();
        let ways = velocity.iter().zip(&before.x);
        memory
            .x
            .extend(ways.map(|(v, d)| reach * v + relation.by_displacement * d));
        let starts = memory.x.iter_mut().zip(&from.v);
        starts.for_each(|(x, v)| *x += relation.ahead_by_velocity * v);
        Ok(report)
    }

    /// The gradient of a function of the end by positions and velocities at the start: `out` for
    /// its gradient `from` at the end. Its gradients by everything else are read afterwards
    /// ([`by_force`](Self::by_force), [`by_input`](Self::by_input),
    /// [`by_parameter`](Self::by_parameter)).
    ///
    /// # Errors
    /// Those of [`tangent`](Self::tangent).
    pub fn adjoint(
        &mut self,
        from: &StateVector,
        out: &mut StateVector,
    ) -> Result<SolveReport, GradientError> {
        let still = std::mem::take(&mut self.still);
        let mut unused = std::mem::take(&mut self.unused);
        let found = self.adjoint_after([from, &still], [out, &mut unused]);
        (self.still, self.unused) = (still, unused);
        found
    }

    /// The gradient of a function of the end and the memory of a step of BDF2 or SDIRK2 by its start and by
    /// the memory of the one before, as [`adjoint`](Self::adjoint) says; the second vector of each
    /// pair is of the memory, as in [`tangent_after`](Self::tangent_after).
    ///
    /// # Errors
    /// Those of [`tangent`](Self::tangent).
    pub fn adjoint_after(
        &mut self,
        [from, memory]: [&StateVector; 2],
        [out, before]: [&mut StateVector; 2],
    ) -> Result<SolveReport, GradientError> {
        self.implicit.check_placed()?;
        if let Some(staged) = self.staged.placed() {
            let report = staged.adjoint([from, memory], [out, before])?;
            self.implicit.has_adjoint();
            return Ok(report);
        }
        let relation = self.relation;
        let (reach, span) = (relation.reach, relation.inertia_span());
        let start_equations = &mut self.start_equations;
        let Implicit {
            equations,
            linearised,
            saddle,
            ..
        } = &mut self.implicit;
        let retraction = &self.retraction;
        from.check(equations.problem.dof_count())?;
        memory.check(equations.problem.dof_count())?;
        let [on_end, y, u, turned] = &mut self.room;
        let [r, s] = &mut saddle.rhs;
        on_end.clone_from(&from.x);
        retraction.of_displacement_transposed(on_end);
        let ends = from.v.iter().zip(on_end.iter().zip(&memory.x));
        for (r, (v, (x, d))) in r.iter_mut().zip(ends) {
            *r = v + reach * (x + d);
        }
        s.fill(0.0);
        let report = saddle.solve(true, |p, q, ds, dl| {
            linearised.apply_transposed(equations, [p, q], [&mut *y, &mut *u, &mut *dl]);
            if let Some(start) = start_equations.active_mut() {
                start.add_transposed_by_multipliers(linearised.compliance(equations), [p, q], dl);
            }
            turned.clone_from(y);
            retraction.of_displacement_transposed(turned);
            for (d, (u, y)) in ds.iter_mut().zip(u.iter().zip(&*turned)) {
                *d = u + reach * y;
            }
        })?;
        self.implicit.take_adjoint();
        let Implicit {
            equations,
            linearised,
            adjoint: [p, q],
            ..
        } = &mut self.implicit;
        linearised.apply_transposed(equations, [p, q], [y, u, &mut self.rows[1]]);
        out.x.clear();
        out.x.extend(from.x.iter().zip(&*y).map(|(f, y)| f - y));
        // By the displacement, of which the step before gave a share.
        turned.clone_from(&out.x);
        retraction.of_displacement_transposed(turned);
        before.x.clear();
        let ways = turned.iter().zip(&memory.x);
        before
            .x
            .extend(ways.map(|(t, d)| relation.by_displacement * (t + d)));
        let ways = turned.iter().zip(&memory.x);
        out.v.clear();
        out.v
            .extend(ways.map(|(t, d)| relation.ahead_by_velocity * (t + d)));
        retraction.of_start_transposed(&mut out.x);
        linearised.inertia(equations, p, u);
        for (v, (m, b)) in out.v.iter_mut().zip(u.iter().zip(&memory.v)) {
            *v += relation.by_velocity * m / span + b;
        }
        before.v.clear();
        before.v.extend(u.iter().map(|m| relation.by_before * m / span));
        if let Some(start) = start_equations.active_mut() {
            let end = linearised.compliance(equations);
            start.subtract_transposed_by_start(end, [p, q], [&mut out.x, &mut out.v]);
        }
        y.fill(0.0);
        u.fill(0.0);
        let start = &self.start.velocities;
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
        by: [&[f64]; 2],
        out: &mut StateVector,
    ) -> Result<(), GradientError> {
        check_state(problem, state, ["positions of a state", "velocities of a state"])?;
        self.implicit.carry(problem, state, by, out)
    }
}

/// The size of the numbers that a coordinate of an element is rounded with: the largest of its
/// positions, of bodies that of the place for translations, and one radian for rotations.
fn coordinate_scale(space: Space, positions: &[f64], [element, coordinate]: [usize; 2]) -> f64 {
    let own = &positions[element * space.position_size()..][..space.position_size()];
    let own = match space {
        Space::Rigid3 if coordinate >= 3 => return 1.0,
        Space::Rigid3 => &own[..3],
        _ => own,
    };
    own.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}
