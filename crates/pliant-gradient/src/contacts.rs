//! Contacts of a step on their converged branches: open, sticking, slipping.
//!
//! **Equation.** A contact of the nonlinear step acts along the axes and at the places that it has
//! at the start of the step, with the rows `u = J_c(x) v+` of the normal and two tangents and the
//! impulse `r`:
//!
//! ```math
//! M (v+ - v)/h - ... - J_c(x)^T r/h = 0
//! u_n + g(x)/h = 0  (open at the start)   u_n + e u_n(v) = 0  (an impact)
//! u_n + e u_n(v) + rate g(x) = 0  (closed; the rate at which overlap is taken back, or zero)
//! u_n + g(x)/(h + d) + C r_n/(h (h + d)) = 0  (compliant)
//! u_t = 0  (sticking)   r_t + mu r_n u_t/|u_t| = 0  (slipping)
//! ```
//!
//! With a weight `beta` of the end in velocities there is the gap at the end of the step in place
//! of `g + h u_n`, which is `g + h (beta u_n + (1 - beta) u_n(v))`: an open contact closes by that,
//! or has `u_n = 0` where the velocity at the start would be more than enough; a closed one that
//! separates at first comes back as far as it went, `u_n + (1/beta - 1) u_n(v) = 0`, unless `e` is
//! more than that.
//!
//! Contacts without an impulse have no equation: the derivative is that of the present branches,
//! one-sided where one of them is about to change. A [smoothed law](smoothed) has no branches.

mod kinematics;
mod law;
mod smoothed;
mod staged;

use crate::kinematics::is_linear;
use crate::taken::{
    ContactBranch, ContactIdentity, ContactMove, ContactNumbers, ContactPlace, ContactSample, StepWeights,
    TakenContact, TakenStep,
};
use crate::{GradientError, check_index, check_length};
use kinematics::{Column, ContactJacobian, ContactKinematics, frame};
use law::{NormalFactors, NormalLaw};
use pliant_dense::Vec3;
use pliant_kkt::{Support, Tail};
use pliant_model::{Model, NodeKind, Space, State};
use smoothed::Barrier;
pub(crate) use staged::{MovingContact, NormalVelocity};
use std::ops::Range;

/// Share of the fastest velocity up to which a normal does not move.
const STILL: f64 = 1e-9;

/// A contact with the derivative of its equations.
#[derive(Clone, Debug)]
struct LinearisedContact {
    /// Number of rows: 1 or 3, and the first among those of all contacts.
    count: usize,
    first: usize,
    axes: [[f64; 3]; 3],
    /// Its Jacobian, and how it moves, among those of all contacts.
    columns: Range<usize>,
    moves: Range<usize>,
    /// The elements that it acts on, among those of all contacts.
    supports: Range<usize>,
    branch: ContactBranch,
    law: ContactNumbers,
    share: f64,
    /// Impulse in the rows (N s).
    r: [f64; 3],
    /// Velocities of the rows at the end (m/s).
    u: [f64; 3],
    normal: NormalFactors,
    gap: f64,
    /// The share of the change of its gap between the stages of a step that its gap has.
    moved_share: f64,
    /// The barrier of a smoothed law, which has no branch.
    barrier: Option<Barrier>,
}

/// Derivatives of a contact by one independent coordinate.
#[derive(Clone, Debug)]
struct LinearisedMove {
    dof: usize,
    /// Whether by the velocity of the coordinate.
    by_velocity: bool,
    /// Derivative of the Jacobian, among the columns of all contacts.
    columns: Range<usize>,
    gap: f64,
}

/// A direction of the state at the start of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartDirection<'a> {
    /// Displacements and velocities of the independent coordinates (n).
    pub(crate) x: &'a [f64],
    pub(crate) u: &'a [f64],
    /// Velocities of all nodes.
    pub(crate) v: &'a [f64],
}

/// Velocities of all nodes at both ends of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndVelocities<'a> {
    pub(crate) start: &'a [f64],
    pub(crate) end: &'a [f64],
}

/// The start of a step, and the velocities of all nodes at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepEnds<'a> {
    pub(crate) start: &'a State,
    pub(crate) end: &'a [f64],
}

/// The step that contacts are of: its length (s), its start, and the velocities of all nodes at its
/// end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactStart<'a> {
    h: f64,
    weights: StepWeights,
    start: &'a State,
    end: &'a [f64],
    /// The energy of the barrier of smoothed laws (J), if they are.
    smoothing: Option<f64>,
}

impl<'a> ContactStart<'a> {
    pub(crate) fn of(step: &TakenStep<'a>) -> Self {
        Self {
            h: step.h,
            weights: step.weights,
            start: step.start,
            end: &step.end.velocities,
            smoothing: None,
        }
    }

    /// That of a stage of a length (s) whose contacts are expected at a state, with the velocities of all
    /// nodes at its end.
    pub(crate) fn of_stage(reach: f64, expected: &'a State, end: &'a [f64]) -> Self {
        Self {
            h: reach,
            weights: StepWeights::END,
            start: expected,
            end,
            smoothing: None,
        }
    }

    /// With laws that a barrier of this energy (J) smoothes.
    pub(crate) fn smoothed(self, energy: f64) -> Self {
        Self {
            smoothing: Some(energy),
            ..self
        }
    }
}

/// Weights of the equations, as an adjoint has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EquationWeights<'a> {
    /// Weights of the equations of motion: one for the force on each velocity coordinate of all
    /// nodes.
    pub(crate) forces: &'a [f64],
    /// Weights of the equations of the contacts, one for each of their rows.
    pub(crate) rows: &'a [f64],
}

/// The contacts of a step, linearised.
#[derive(Debug, Default)]
pub(crate) struct Contacts {
    list: Vec<LinearisedContact>,
    moves: Vec<LinearisedMove>,
    columns: Vec<Column>,
    supports: Vec<Support>,
    identities: Vec<ContactIdentity>,
    h: f64,
    weights: StepWeights,
}

/// Changes of the equations of contacts that do not come from the state at the start of the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactChange<'a> {
    /// How each contact moves.
    pub(crate) contacts: &'a [ContactSample],
    /// How the velocities of all nodes move at both ends, their independent coordinates held.
    pub(crate) velocities: EndVelocities<'a>,
}

impl Contacts {
    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.list.last().map_or(0, |c| c.first + c.count)
    }

    /// Number of contacts.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Their identities.
    pub(crate) fn identities(&self) -> &[ContactIdentity] {
        &self.identities
    }

    /// The elements that a contact acts on.
    pub(crate) fn supports(&self, contact: usize) -> &[Support] {
        &self.supports[self.list[contact].supports.clone()]
    }

    /// A contact as the step had it.
    pub(crate) fn sample(&self, contact: usize) -> ContactSample {
        let own = &self.list[contact];
        ContactSample {
            place: ContactPlace {
                normal: own.axes[0],
                gap: own.gap,
                supports: self.supports(contact).to_vec(),
            },
            law: own.law,
        }
    }

    /// The law of a contact.
    pub(crate) fn law(&self, contact: usize) -> &ContactNumbers {
        &self.list[contact].law
    }

    fn jacobian(&self, columns: &Range<usize>) -> ContactJacobian<'_> {
        ContactJacobian {
            columns: &self.columns[columns.clone()],
        }
    }

    /// Takes the contacts of a step.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for contacts of elements that are mapped nonlinearly.
    pub(crate) fn place<'a>(
        &mut self,
        model: &Model,
        contacts: impl IntoIterator<Item = &'a TakenContact>,
        step: ContactStart<'_>,
    ) -> Result<(), GradientError> {
        let ContactStart {
            h,
            weights,
            start,
            end,
            smoothing,
        } = step;
        self.clear();
        (self.h, self.weights) = (h, weights);
        let velocities = start.velocities.iter().chain(end);
        let still = STILL * velocities.fold(0.0f64, |l, v| l.max(v.abs()));
        for contact in contacts {
            let place = &contact.place;
            let law = contact.law;
            let is_frictionless = match smoothing {
                Some(_) => law.friction == 0.0,
                None => contact.branch == ContactBranch::Frictionless,
            };
            let count = if is_frictionless { 1 } else { 3 };
            let axes = frame(Vec3::from(place.normal));
            let kinematics = ContactKinematics {
                model,
                start,
                axes,
                count,
            };
            let [columns, moves] = self.push_rows(&kinematics, place, &contact.moves)?;
            let rows = ContactJacobian {
                columns: &self.columns[columns.clone()],
            };
            let impulse = Vec3::from(contact.impulse);
            let before = rows.times(&start.velocities)[0];
            let first_support = self.supports.len();
            self.supports.extend_from_slice(&place.supports);
            self.identities.push(contact.identity);
            self.list.push(LinearisedContact {
                count,
                first: self.rows(),
                axes: axes.map(Into::into),
                u: rows.times(end),
                r: std::array::from_fn(|i| if i < count { axes[i].dot(&impulse) } else { 0.0 }),
                moves,
                columns,
                supports: first_support..self.supports.len(),
                branch: contact.branch,
                law,
                share: contact.share,
                normal: NormalFactors::of(contact, [h, weights.beta], [before, still]),
                gap: place.gap,
                moved_share: 0.0,
                barrier: smoothing.map(Barrier::of),
            });
        }
        Ok(())
    }

    /// Adds the columns of a contact, and the derivatives of these; the ranges of both.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for contacts of elements that are mapped nonlinearly.
    fn push_rows(
        &mut self,
        kinematics: &ContactKinematics<'_>,
        place: &ContactPlace,
        moves: &[ContactMove],
    ) -> Result<[Range<usize>; 2], GradientError> {
        let model = kinematics.model;
        for s in &place.supports {
            check_support(model, s)?;
        }
        for moved in moves {
            check_index(
                "coordinate that a contact moves with",
                moved.dof,
                model.dof_count(),
            )?;
            let (expected, found) = (place.supports.len(), moved.by.supports.len());
            check_length("supports of the derivative of a contact", expected, found)?;
        }
        let columns = kinematics.rows(&place.supports, &mut self.columns);
        let first = self.moves.len();
        for m in moves {
            // A velocity turns no axes.
            let turned = (!m.by_velocity).then_some(m.dof);
            let columns = kinematics.derivative(&place.supports, &m.by, turned, &mut self.columns);
            self.moves.push(LinearisedMove {
                dof: m.dof,
                by_velocity: m.by_velocity,
                columns,
                gap: m.by.gap,
            });
        }
        Ok([columns, first..self.moves.len()])
    }

    /// Forgets all contacts.
    fn clear(&mut self) {
        self.list.clear();
        self.moves.clear();
        self.columns.clear();
        self.supports.clear();
        self.identities.clear();
    }

    /// The force of a unit impulse over the step (1/s), as the equations of motion at the end have
    /// it, whose own weight it does not have.
    fn per_impulse(&self) -> f64 {
        (self.h * self.weights.alpha).recip()
    }

    /// Adds the forces of all contacts on all nodes, over the weight of the end.
    pub(crate) fn add_forces(&self, out: &mut [f64]) {
        let per_impulse = self.per_impulse();
        for c in &self.list {
            self.jacobian(&c.columns)
                .add_transposed(c.r.map(|r| r * per_impulse), out);
        }
    }

    /// Adds the sizes of the terms that [`add_forces`](Self::add_forces) sums.
    pub(crate) fn add_sizes(&self, out: &mut [f64]) {
        let per_impulse = self.per_impulse();
        let all = self.list.iter().flat_map(|c| {
            let rows = self.jacobian(&c.columns);
            rows.columns.iter().map(move |column| (c, column))
        });
        for (c, (at, column)) in all {
            let terms = column.iter().zip(c.r);
            out[*at] += terms.map(|(a, r)| (a * r * per_impulse).abs()).sum::<f64>();
        }
    }

    /// The largest share of a velocity, or of the friction, that the equations of a contact miss,
    /// with the velocities of all nodes at the start. The velocity is the fastest one, or that
    /// which the impulse of the contact gives (`given` by a unit impulse on a row), from which
    /// those at rest are the remainder.
    pub(crate) fn missed(&self, start: &[f64], fastest: f64, given: impl Fn(usize) -> f64) -> f64 {
        let mut worst = 0.0f64;
        for c in &self.list {
            let before = self.jacobian(&c.columns).times(start)[0];
            let fastest = fastest.max(given(c.first) * c.r[0].abs());
            let normal = c.gap_velocity(before);
            if let Some([normal, across @ ..]) = c.smoothed_residual(before) {
                let fastest = fastest.max(c.gap_velocity(before).abs());
                let own = normal.abs().max(across[0].hypot(across[1])).max(c.off_path());
                worst = worst.max(own / fastest);
                continue;
            }
            worst = worst.max(normal.abs() / fastest);
            match c.branch {
                ContactBranch::Frictionless => {}
                ContactBranch::Sticking => worst = worst.max(c.u[1].hypot(c.u[2]) / fastest),
                ContactBranch::Slipping => {
                    let mu = c.law.friction;
                    let speed = c.u[1].hypot(c.u[2]);
                    let off = [1, 2].map(|i| c.r[i] + mu * c.r[0] * c.u[i] / speed);
                    worst = worst.max(off[0].hypot(off[1]) / (mu * c.r[0]).abs());
                }
            }
        }
        if worst.is_nan() { f64::INFINITY } else { worst }
    }

    /// Whether the velocity of each normal at the start, with those of all nodes there, is none
    /// beside the fastest one where its law turns it round on one side of that alone.
    pub(crate) fn at_turn<'a>(&'a self, start: &'a [f64], fastest: f64) -> impl Iterator<Item = bool> + 'a {
        self.list.iter().map(move |c| {
            let before = self.jacobian(&c.columns).times(start)[0];
            c.turns_back(self.weights.beta) && before.abs() <= STILL * fastest
        })
    }

    /// Makes the rows of the preconditioner: those that slip have none.
    pub(crate) fn fill(&self, tail: &mut Tail) {
        tail.clear();
        for c in &self.list {
            let mut axes = c.axes;
            let (slips, by_friction) = match (c.cone_path(), c.branch) {
                (Some(path), _) => path.preconditioner(),
                (None, ContactBranch::Slipping) if c.barrier.is_none() => (true, 1.0),
                _ => (false, 0.0),
            };
            // How stiff friction is across the slip is left to the iterations.
            if slips {
                (axes[1], axes[2]) = ([0.0; 3], [0.0; 3]);
            }
            let supports = &self.supports[c.supports.clone()];
            let rows = tail.push_both(&axes[..c.count], &[], supports);
            tail.r[rows.start] = c.by_normal_force();
            if c.count == 3 {
                (tail.r[rows.start + 1], tail.r[rows.start + 2]) = (by_friction, by_friction);
            }
        }
    }

    /// Adds the forces of changes `l` of the contacts' forces (N, by rows) to all nodes, and writes
    /// the changes of their equations for changes of the velocities of all nodes.
    pub(crate) fn apply(&self, u: &[f64], l: &[f64], forces: &mut [f64], out: &mut [f64]) {
        for c in &self.list {
            let own = c.first..c.first + c.count;
            let mut dr = [0.0; 3];
            dr[..c.count].copy_from_slice(&l[own.clone()]);
            let rows = self.jacobian(&c.columns);
            rows.add_transposed(dr.map(|d| d / self.weights.alpha), forces);
            let found = c.equations(rows.times(u), dr.map(|d| d * self.h));
            out[own].copy_from_slice(&found[..c.count]);
        }
    }

    /// Adds the transpose: forces `f` on all nodes and weights `q` of the contacts' equations
    /// against velocities of all nodes; writes what they are against the forces of contacts.
    pub(crate) fn apply_transposed(&self, f: &[f64], q: &[f64], u: &mut [f64], out: &mut [f64]) {
        for c in &self.list {
            let own = c.first..c.first + c.count;
            let mut on_rows = [0.0; 3];
            on_rows[..c.count].copy_from_slice(&q[own.clone()]);
            let (by_u, by_r) = c.equations_transposed(on_rows);
            let rows = self.jacobian(&c.columns);
            rows.add_transposed(by_u, u);
            let by_forces = rows.times(f);
            for (k, out) in out[own].iter_mut().enumerate() {
                *out = by_forces[k] / self.weights.alpha + self.h * by_r[k];
            }
        }
    }

    /// Adds what a direction of the state at the start makes of the forces on all nodes, and writes
    /// what it makes of the contacts' equations.
    pub(crate) fn by_start(
        &self,
        direction: StartDirection<'_>,
        ends: EndVelocities<'_>,
        forces: &mut [f64],
        out: &mut [f64],
    ) {
        let per_impulse = self.per_impulse();
        for c in &self.list {
            let own = c.first..c.first + c.count;
            let mut du = [0.0; 3];
            let mut direct = c.normal.by_start * self.jacobian(&c.columns).times(direction.v)[0];
            for moved in &self.moves[c.moves.clone()] {
                let by = match moved.by_velocity {
                    true => direction.u[moved.dof],
                    false => direction.x[moved.dof],
                };
                if by == 0.0 {
                    continue;
                }
                let rows = self.jacobian(&moved.columns);
                rows.add_transposed(c.r.map(|r| by * r * per_impulse), forces);
                let end = rows.times(ends.end);
                (0..3).for_each(|i| du[i] += by * end[i]);
                direct += by * (c.normal.by_gap * moved.gap + c.normal.by_start * rows.times(ends.start)[0]);
            }
            let mut found = c.equations(du, [0.0; 3]);
            found[0] += direct;
            out[own].copy_from_slice(&found[..c.count]);
        }
    }

    /// Adds what a change of the contacts, the state at the start held, makes of the forces on all
    /// nodes, and writes what it makes of their equations.
    pub(crate) fn by_change(
        &mut self,
        model: &Model,
        change: ContactChange<'_>,
        ends: StepEnds<'_>,
        forces: &mut [f64],
        out: &mut [f64],
    ) {
        let (kept, per_impulse) = (self.columns.len(), self.per_impulse());
        for (c, by) in self.list.iter().zip(change.contacts) {
            let own = c.first..c.first + c.count;
            let kinematics = ContactKinematics {
                model,
                start: ends.start,
                axes: c.axes.map(Vec3::from),
                count: c.count,
            };
            let columns = kinematics.derivative(
                &self.supports[c.supports.clone()],
                &by.place,
                None,
                &mut self.columns,
            );
            let rows = ContactJacobian {
                columns: &self.columns[c.columns.clone()],
            };
            let moved = ContactJacobian {
                columns: &self.columns[columns],
            };
            moved.add_transposed(c.r.map(|r| r * per_impulse), forces);
            let pairs = moved
                .times(ends.end)
                .into_iter()
                .zip(rows.times(change.velocities.end));
            let mut du = [0.0; 3];
            du.iter_mut().zip(pairs).for_each(|(du, (a, b))| *du = a + b);
            let mut found = c.equations(du, [0.0; 3]);
            let before = rows.times(&ends.start.velocities)[0];
            let before_by = moved.times(&ends.start.velocities)[0] + rows.times(change.velocities.start)[0];
            let [by_gap, by_force, by_start] = c.factors_by(self.h, self.weights.beta, &by.law);
            found[0] += c.normal.by_gap * by.place.gap + by_gap * c.gap + by_force * c.r[0];
            found[0] += c.normal.by_start * before_by + by_start * before;
            let by_friction = c.by_friction_limit();
            (0..2).for_each(|i| found[1 + i] += by.law.friction * c.r[0] * by_friction[i]);
            out[own].copy_from_slice(&found[..c.count]);
            self.columns.truncate(kept);
        }
    }

    /// Adds what a longer step makes of their equations, all forces and the velocities of all nodes
    /// at the start held.
    pub(crate) fn by_length(&self, start: &[f64], out: &mut [f64]) {
        let beta = self.weights.beta;
        for c in &self.list {
            out[c.first] += match c.normal.law {
                // u_n + (g + h (1 - beta) u_n(v) + C l)/(h beta + d), with the force l.
                NormalLaw::Compliant => {
                    let reach = self.h * beta + c.law.relaxation;
                    let before = (1.0 - beta) * self.jacobian(&c.columns).times(start)[0];
                    let way = c.gap + self.h * before + c.law.compliance * c.r[0] / self.h;
                    before / reach - beta * way / (reach * reach)
                }
                // u_n + g/(h beta) + (1/beta - 1) u_n(v).
                NormalLaw::Closes => -c.gap / (self.h * self.h * beta),
                NormalLaw::Bounces | NormalLaw::Closed => 0.0,
            };
        }
    }

    /// Whether the place of one depends on velocities at the start.
    pub(crate) fn are_predicted(&self) -> bool {
        self.moves.iter().any(|moved| moved.by_velocity)
    }

    /// Adds the transpose: weights of the equations against displacements and velocities of the
    /// independent coordinates (n), and velocities of all nodes, at the start.
    pub(crate) fn by_start_transposed(
        &self,
        weights: EquationWeights<'_>,
        ends: EndVelocities<'_>,
        [x, u]: [&mut [f64]; 2],
        v: &mut [f64],
    ) {
        let per_impulse = self.per_impulse();
        for c in &self.list {
            let mut on_rows = [0.0; 3];
            on_rows[..c.count].copy_from_slice(&weights.rows[c.first..c.first + c.count]);
            let (by_u, _) = c.equations_transposed(on_rows);
            for moved in &self.moves[c.moves.clone()] {
                let rows = self.jacobian(&moved.columns);
                let pushed = rows.times(weights.forces);
                let force: f64 = pushed.iter().zip(c.r).map(|(a, r)| a * r * per_impulse).sum();
                let end: f64 = rows.times(ends.end).iter().zip(by_u).map(|(a, b)| a * b).sum();
                let direct = c.normal.by_gap * moved.gap + c.normal.by_start * rows.times(ends.start)[0];
                let out = if moved.by_velocity { &mut *u } else { &mut *x };
                out[moved.dof] += force + end + on_rows[0] * direct;
            }
            self.jacobian(&c.columns)
                .add_transposed([c.normal.by_start * on_rows[0], 0.0, 0.0], v);
        }
    }
}

/// Refuses supports that there are not, and those whose velocities depend on the positions at the
/// end.
fn check_support(model: &Model, s: &Support) -> Result<(), GradientError> {
    let mut index = s.node.index();
    check_index("node of a contact", index, model.nodes().len())?;
    let node = &model.nodes()[index];
    check_index("element of a contact", s.element, node.count)?;
    if !matches!(node.space, Space::Rigid3 | Space::Real(3)) {
        return Err(GradientError::NotBuilt {
            what: format!("contacts of `{}`", node.name),
            why: "it is made neither of bodies nor of points of space",
        });
    }
    loop {
        let node = &model.nodes()[index];
        match &node.kind {
            NodeKind::Independent { .. } => return Ok(()),
            NodeKind::Mapped { parents, .. } if is_linear(model, index) && parents.len() == 1 => {
                index = parents[0].index();
            }
            NodeKind::Mapped { .. } => {
                return Err(GradientError::NotBuilt {
                    what: format!("contacts of `{}`", node.name),
                    why: "it is not independent, nor mapped linearly from one node that is",
                });
            }
        }
    }
}
