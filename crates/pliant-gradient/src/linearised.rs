//! The equations, linearised at a moment: products with their derivative and its transpose, without
//! a matrix.

use crate::GradientError;
use crate::StateVector;
use crate::acceleration::{AccelerationVariation, curved_nodes};
use crate::contacts::{ContactChange, Contacts, EndVelocities, EquationWeights, StartDirection, StepEnds};
use crate::deformed::DeformedNodes;
use crate::equations::{Equations, KeptMoment, Moment};
use crate::geometry::{add_geometry, add_geometry_transposed, place_geometry};
use crate::kinematics::{VelocityVariation, gather, is_linear, scatter};
use crate::laws::{InputPlace, LawMoment, Laws};
use crate::row_law::RowLaws;
use pliant_dense::{Mat3, skew, vec3};
use pliant_model::{Blocks, Evaluation, Problem, Space, State};

/// The compliances of the rows at the end of a step, as last evaluated.
#[derive(Clone, Copy)]
pub(crate) struct EndCompliance<'a> {
    pub(crate) laws: &'a Laws,
    pub(crate) room: &'a RowLaws,
}

/// The share of a gradient by inputs that is added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputShare<'a> {
    pub(crate) share: f64,
    /// The force fields that it is of, with the forces of their laws although they are rows; none
    /// for all force fields as the equations have them.
    pub(crate) as_forces: Option<&'a [bool]>,
}

impl InputShare<'_> {
    /// All of it.
    pub(crate) const WHOLE: Self = Self {
        share: 1.0,
        as_forces: None,
    };
}

/// The derivative of the residuals `r` and `s` ([`Equations`]) at a moment, by the displacements
/// `y` and the velocities `u` of the independent coordinates at the end, and the multipliers.
///
/// **Equation.**
///
/// ```math
/// dr = M du/h + d(w x I w) - (K_x y + K_v u_nodes) - J^T dlambda - G y
/// ds = s_x J y + s_v (J u + d(J v)/dx y) + C dlambda
/// ```
///
/// where masses on nodes that are mapped nonlinearly have `m da` of [`AccelerationVariation`] in the
/// place of `M du/h`, with the blocks `K_x`, `K_v`, `s_x`, `s_v` of the laws on their nodes, and `G`
/// of all mappings under the total forces, whole. A product costs about two passes over all mappings.
#[derive(Debug)]
pub(crate) struct Linearised {
    pub(crate) laws: Laws,
    /// Contacts of a step, whose rows are behind those of the model.
    pub(crate) contacts: Contacts,
    /// `G` of each mapped node under the forces that act through it; none of linear mappings.
    pub(crate) geometry: Vec<Option<Blocks>>,
    pub(crate) variation: VelocityVariation,
    /// Nodes whose velocities count whatever their laws depend on.
    pub(crate) moving: Vec<usize>,
    /// How accelerations of nodes that are mapped nonlinearly change, if these carry masses.
    accelerations: Option<Box<AccelerationVariation>>,
    /// Whether each node hangs on a nonlinear mapping.
    hangs_curved: Vec<bool>,
    /// The nodes whose velocities count, as the variation was planned for, and at present.
    counted: [Vec<bool>; 2],
    /// Inverse of the time that differences of velocities are divided by, and rate of damping in
    /// proportion to mass (1/s); none at rest.
    gains: Option<[f64; 2]>,
    /// On all nodes: displacements, velocities, forces, and changes of velocity.
    pub(crate) nodes: [Vec<f64>; 4],
    /// How the deformations of some nodes move, which their laws are taken at.
    pub(crate) deformed: Option<DeformedNodes>,
}

impl Linearised {
    /// Plans the derivative of equations.
    pub(crate) fn new(equations: &Equations) -> Self {
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        let nodes = problem.nodes().len();
        let shapes = |index: usize| {
            let bends = !is_linear(problem, index);
            bends.then(|| evaluation.geometric_shapes(problem, index))
        };
        Self {
            laws: Laws::new(problem, evaluation),
            contacts: Contacts::default(),
            geometry: (0..nodes).map(shapes).collect(),
            variation: VelocityVariation::default(),
            moving: Vec::new(),
            accelerations: AccelerationVariation::plan(problem, evaluation).map(Box::new),
            hangs_curved: curved_nodes(problem),
            counted: Default::default(),
            gains: None,
            nodes: std::array::from_fn(|_| vec![0.0; problem.velocity_count()]),
            deformed: None,
        }
    }

    /// Linearises at the moment that the equations were evaluated at.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] where a law has no finite derivative.
    pub(crate) fn place(&mut self, equations: &mut Equations, at: &Moment<'_>) -> Result<(), GradientError> {
        let gain = at.kinetics.span().map_or(0.0, f64::recip);
        let rate = equations.problem.rayleigh().mass;
        self.gains = at.kinetics.moves().then_some([gain, rate]);
        let Equations {
            problem,
            evaluation,
            state,
            mapped,
            total,
            law,
            law_forces,
            ..
        } = equations;
        let placed = mapped.or(state);
        let of = LawMoment {
            state,
            multipliers: at.multipliers,
            law_forces,
            time: at.time,
            moves: at.kinetics.moves(),
        };
        self.laws.evaluate(problem, evaluation, law, of);
        if let Some(name) = self.laws.not_finite(problem) {
            return Err(GradientError::NotBuilt {
                what: format!("the force of `{name}`"),
                why: "it is not finite near its present coordinates",
            });
        }
        place_geometry(problem, evaluation, placed, total, &mut self.geometry);
        let [planned, counted] = &mut self.counted;
        self.laws.on_velocities(problem, counted);
        self.moving.iter().for_each(|node| counted[*node] = true);
        let accelerated = self.accelerations.as_deref().filter(|_| self.gains.is_some());
        let masses = accelerated.map_or(&[][..], AccelerationVariation::nodes);
        masses.iter().for_each(|node| counted[*node] = true);
        if let Some(deformed) = &mut self.deformed {
            let v = &state.velocities;
            deformed
                .turns
                .place_nodes(problem, &deformed.nodes, v, deformed.reach);
        }
        if planned != counted {
            self.variation = VelocityVariation::plan(problem, evaluation, counted);
            planned.clone_from(counted);
        }
        let v = &state.velocities;
        self.variation.evaluate(problem, evaluation, placed, v);
        if let (Some(accelerations), true) = (&mut self.accelerations, at.kinetics.moves()) {
            accelerations.evaluate(problem, evaluation, placed, |a| {
                a.fill(0.0);
                let Some(span) = at.kinetics.span() else { return };
                scatter(problem, at.start_velocity, a);
                for node in problem.nodes().iter().filter(|node| node.first_dof().is_some()) {
                    let range = node.velocity_range();
                    let ends = a[range.clone()].iter_mut().zip(&v[range]);
                    ends.for_each(|(a, end)| *a = (end - *a) / span);
                }
            })?;
        }
        Ok(())
    }

    /// Finds the geometric stiffness of other total forces at the same moment.
    pub(crate) fn place_geometry(&mut self, equations: &mut Equations) {
        let Equations {
            problem,
            evaluation,
            state,
            total,
            ..
        } = equations;
        place_geometry(problem, evaluation, state, total, &mut self.geometry);
    }

    /// Writes `dr` (n) and `ds` (m) for displacements and velocities of the independent coordinates
    /// (n) and changes of the multipliers (m); of contacts behind those of the model.
    pub(crate) fn apply(
        &mut self,
        equations: &mut Equations,
        [y, u]: [&[f64]; 2],
        multipliers: &[f64],
        [dr, ds]: [&mut [f64]; 2],
    ) {
        let Equations {
            problem,
            evaluation,
            state,
            law,
            ..
        } = equations;
        push(problem, evaluation, [y, u], &mut self.nodes, &mut self.variation);
        let [ys, us, forces, _] = &mut self.nodes;
        let seen = match &mut self.deformed {
            Some(deformed) => deformed.see(problem, [ys, us]),
            None => &ys[..],
        };
        forces.fill(0.0);
        self.laws.add_forces([seen, us], forces);
        if let Some([gain, rate]) = self.gains {
            if let Some(accelerations) = &mut self.accelerations {
                scatter(problem, u, &mut accelerations.change);
                accelerations.change.iter_mut().for_each(|a| *a *= gain);
                accelerations.apply(problem, evaluation, [ys, us]);
            }
            for mass in problem.masses() {
                let node = problem.node(mass.node);
                let range = node.velocity_range();
                let along_curves = self
                    .accelerations
                    .as_deref()
                    .filter(|_| self.hangs_curved[mass.node.index()]);
                let rate = if along_curves.is_some() { rate } else { gain + rate };
                let of = &mut forces[range.clone()];
                mass.component
                    .add_product(node.space, -rate, &us[range.clone()], of);
                if let Some(accelerations) = along_curves {
                    let change = &accelerations.change[range];
                    mass.component.add_product(node.space, -1.0, change, of);
                }
            }
            each_spin(problem, &state.velocities, |at, gyroscopic| {
                let torque = gyroscopic * vec3(us, at);
                (0..3).for_each(|k| forces[at + k] -= torque[k]);
            });
        }
        for group in problem.row_groups() {
            let first = problem.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                forces[first + k] += multipliers[group.first_row + k];
            }
        }
        add_geometry(problem, evaluation, &self.geometry, ys, forces);
        let (own, of_contacts) = multipliers.split_at(problem.row_count());
        let (ds, on_contacts) = ds.split_at_mut(problem.row_count());
        self.contacts.apply(us, of_contacts, forces, on_contacts);
        evaluation.pull_back(problem, forces);
        gather(problem, forces, dr);
        dr.iter_mut().for_each(|r| *r = -*r);
        self.laws.rows(problem, law, [seen, us], own, ds);
    }

    /// Adds `share` times the gradient by the inputs of all force fields, in their order: with
    /// weights of the forces on all nodes, and of the rows (m).
    pub(crate) fn add_by_inputs(
        &mut self,
        equations: &mut Equations,
        kept: &KeptMoment,
        by: [&[f64]; 2],
        InputShare { share, as_forces }: InputShare<'_>,
        out: &mut [f64],
    ) {
        let Equations {
            problem,
            state,
            law,
            law_forces,
            ..
        } = equations;
        let at = LawMoment {
            state,
            multipliers: &kept.multipliers,
            law_forces,
            time: kept.time,
            moves: kept.kinetics.moves(),
        };
        let mut all = out.iter_mut();
        for force_field in 0..problem.force_fields().len() {
            let wanted = as_forces.is_none_or(|list| list[force_field]);
            for (input, out) in (0..problem.inputs(force_field).len()).zip(&mut all) {
                if !wanted {
                    continue;
                }
                let place = InputPlace {
                    force_field,
                    input,
                    as_forces: as_forces.is_some(),
                };
                *out += share * self.laws.by_input(problem, law, place, at, by);
            }
        }
    }

    /// The work `u^T K u` that the laws alone, without the geometric stiffness of their forces, do
    /// along displacements `u` of the independent coordinates (n).
    pub(crate) fn work_of_laws(&mut self, equations: &Equations, u: &[f64]) -> f64 {
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        let [ys, us, forces, ..] = &mut self.nodes;
        scatter(problem, u, ys);
        evaluation.push_forward(problem, ys);
        us.fill(0.0);
        forces.fill(0.0);
        self.laws.add_forces([ys, us], forces);
        -forces.iter().zip(&*ys).map(|(f, y)| f * y).sum::<f64>()
    }

    /// Adds to `dr` (n) and `ds` (m, contacts behind) the changes of the contacts' forces and
    /// equations along a direction of the state at the start of the step, where all nodes have the
    /// velocities `start`.
    pub(crate) fn add_contacts_by_start(
        &mut self,
        equations: &Equations,
        from: &StateVector,
        start: &[f64],
        [dr, ds]: [&mut [f64]; 2],
    ) {
        if self.contacts.rows() == 0 {
            return;
        }
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        let [vs, on_dofs, forces, ..] = &mut self.nodes;
        scatter(problem, &from.v, vs);
        evaluation.push_forward(problem, vs);
        forces.fill(0.0);
        let ends = EndVelocities {
            start,
            end: &equations.state.velocities,
        };
        let direction = StartDirection {
            x: &from.x,
            u: &from.v,
            v: vs,
        };
        let out = &mut ds[problem.row_count()..];
        self.contacts.by_start(direction, ends, forces, out);
        evaluation.pull_back(problem, forces);
        gather(problem, forces, on_dofs);
        dr.iter_mut().zip(&*on_dofs).for_each(|(r, f)| *r -= f);
    }

    /// Adds what a change of the contacts makes of the equations (n; m, contacts behind), the state
    /// at the start of the step held.
    pub(crate) fn add_contacts_by_change(
        &mut self,
        equations: &Equations,
        change: ContactChange<'_>,
        start: &State,
        [dr, ds]: [&mut [f64]; 2],
    ) {
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        let [_, on_dofs, forces, ..] = &mut self.nodes;
        forces.fill(0.0);
        let ends = StepEnds {
            start,
            end: &equations.state.velocities,
        };
        let out = &mut ds[problem.row_count()..];
        self.contacts.by_change(problem, change, ends, forces, out);
        evaluation.pull_back(problem, forces);
        gather(problem, forces, on_dofs);
        dr.iter_mut().zip(&*on_dofs).for_each(|(r, f)| *r -= f);
    }

    /// Adds the transposed product: weights `p` (n) and `q` (m, contacts behind) of the equations
    /// against displacements and velocities of the independent coordinates at the start (n).
    pub(crate) fn add_contacts_by_start_transposed(
        &mut self,
        equations: &Equations,
        [p, q]: [&[f64]; 2],
        start: &[f64],
        [x, v]: [&mut [f64]; 2],
    ) {
        if self.contacts.rows() == 0 {
            return;
        }
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        let [vs, on_dofs, forces, ..] = &mut self.nodes;
        scatter(problem, p, forces);
        evaluation.push_forward(problem, forces);
        forces.iter_mut().for_each(|f| *f = -*f);
        vs.fill(0.0);
        let ends = EndVelocities {
            start,
            end: &equations.state.velocities,
        };
        let weights = EquationWeights {
            forces,
            rows: &q[problem.row_count()..],
        };
        self.contacts.by_start_transposed(weights, ends, [x, &mut *v], vs);
        evaluation.pull_back(problem, vs);
        gather(problem, vs, on_dofs);
        v.iter_mut().zip(&*on_dofs).for_each(|(v, d)| *v += d);
    }

    /// Writes `M v` of the independent coordinates (n).
    pub(crate) fn inertia(&mut self, equations: &Equations, v: &[f64], out: &mut [f64]) {
        let (problem, [us, _, forces, ..]) = (&equations.problem, &mut self.nodes);
        scatter(problem, v, us);
        equations.evaluation.push_forward_to_masses(problem, us);
        forces.fill(0.0);
        for mass in problem.masses() {
            let node = problem.node(mass.node);
            let range = node.velocity_range();
            mass.component
                .add_product(node.space, 1.0, &us[range.clone()], &mut forces[range]);
        }
        equations.evaluation.pull_back(problem, forces);
        gather(problem, forces, out);
    }

    /// Writes the transposed product: weights `p` (n) of `dr` and `q` (m) of `ds` against
    /// displacements and velocities of the independent coordinates (n) and multipliers (m).
    pub(crate) fn apply_transposed(
        &mut self,
        equations: &mut Equations,
        [p, q]: [&[f64]; 2],
        [y, u, multipliers]: [&mut [f64]; 3],
    ) {
        let Equations {
            problem,
            evaluation,
            state,
            law,
            ..
        } = equations;
        let [ys, us, forces, _] = &mut self.nodes;
        scatter(problem, p, forces);
        evaluation.push_forward(problem, forces);
        forces.iter_mut().for_each(|f| *f = -*f);
        ys.fill(0.0);
        us.fill(0.0);
        let mut deformed = self.deformed.as_mut();
        let seen = match &mut deformed {
            Some(deformed) => {
                deformed.seen.fill(0.0);
                &mut deformed.seen
            }
            None => &mut *ys,
        };
        let (q, on_contacts) = q.split_at(problem.row_count());
        let (multipliers, of_contacts) = multipliers.split_at_mut(problem.row_count());
        self.laws
            .rows_transposed(problem, law, q, [&mut *seen, &mut *us], multipliers);
        self.contacts
            .apply_transposed(forces, on_contacts, us, of_contacts);
        for group in problem.row_groups() {
            let first = problem.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                multipliers[group.first_row + k] += forces[first + k];
            }
        }
        self.laws.add_forces_transposed(forces, [seen, us]);
        if let Some(deformed) = deformed {
            deformed.see_transposed(problem, [ys, us]);
        }
        if let Some([gain, rate]) = self.gains {
            if let Some(accelerations) = &mut self.accelerations {
                accelerations.change.fill(0.0);
            }
            for mass in problem.masses() {
                let node = problem.node(mass.node);
                let range = node.velocity_range();
                let weights = &forces[range.clone()];
                let along_curves = self.accelerations.as_deref_mut();
                let along_curves = along_curves.filter(|_| self.hangs_curved[mass.node.index()]);
                let rate = if along_curves.is_some() { rate } else { gain + rate };
                mass.component
                    .add_product(node.space, -rate, weights, &mut us[range.clone()]);
                if let Some(accelerations) = along_curves {
                    let change = &mut accelerations.change[range];
                    mass.component.add_product(node.space, -1.0, weights, change);
                }
            }
            if let Some(accelerations) = &mut self.accelerations {
                accelerations.apply_transposed(problem, evaluation, [ys, us]);
                for node in problem.nodes().iter().filter(|node| node.first_dof().is_some()) {
                    let range = node.velocity_range();
                    let weights = us[range.clone()].iter_mut().zip(&accelerations.change[range]);
                    weights.for_each(|(u, a)| *u += gain * a);
                }
            }
            each_spin(problem, &state.velocities, |at, gyroscopic| {
                let torque = gyroscopic.transpose() * vec3(forces, at);
                (0..3).for_each(|k| us[at + k] -= torque[k]);
            });
        }
        add_geometry_transposed(problem, evaluation, &self.geometry, forces, ys);
        self.pull_back(equations, [y, u]);
    }

    /// The compliances of the rows, where the equations were linearised.
    pub(crate) fn compliance<'a>(&'a self, equations: &'a Equations) -> EndCompliance<'a> {
        EndCompliance {
            laws: &self.laws,
            room: &equations.law,
        }
    }

    /// Finds how all nodes move and change their velocities with the independent coordinates (n).
    pub(crate) fn push(&mut self, equations: &Equations, moved: [&[f64]; 2]) {
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        push(problem, evaluation, moved, &mut self.nodes, &mut self.variation);
    }

    /// Finds how all nodes move with displacements of the independent coordinates (n), and how their
    /// velocities turn with these.
    pub(crate) fn push_displacement(&mut self, equations: &Equations, y: &[f64]) {
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        let [ys, us, ..] = &mut self.nodes;
        scatter(problem, y, ys);
        evaluation.push_forward(problem, ys);
        us.fill(0.0);
        if !self.variation.is_empty() {
            self.variation.apply(problem, evaluation, ys, us);
        }
    }

    /// Carries the weights of displacements and velocities of all nodes that stand in the first two
    /// vectors on these to the independent coordinates (n).
    pub(crate) fn pull_back_nodes(&mut self, equations: &Equations, out: [&mut [f64]; 2]) {
        self.pull_back(equations, out);
    }

    /// Takes a change of what deformations begin at, on all nodes, for the next products.
    pub(crate) fn begin_at(&mut self, begin: &[f64]) {
        if let Some(deformed) = &mut self.deformed {
            deformed.begin.copy_from_slice(begin);
        }
    }

    /// Holds where deformations begin in the next products.
    pub(crate) fn begin_still(&mut self) {
        if let Some(deformed) = &mut self.deformed {
            deformed.begin.fill(0.0);
        }
    }

    /// Finds how laws see the nodes move that were pushed last.
    pub(crate) fn see(&mut self, equations: &Equations) {
        let [ys, us, ..] = &self.nodes;
        if let Some(deformed) = &mut self.deformed {
            deformed.see(&equations.problem, [ys, us]);
        }
    }

    /// The displacements that laws saw last, and the velocities.
    pub(crate) fn seen(&self) -> [&[f64]; 2] {
        let [ys, us, ..] = &self.nodes;
        [self.deformed.as_ref().map_or(ys, |deformed| &deformed.seen), us]
    }

    /// How all nodes moved and changed their velocities in the last product.
    pub(crate) fn moved(&self) -> [&[f64]; 2] {
        let [ys, us, ..] = &self.nodes;
        [ys, us]
    }

    /// Writes what weights of displacements and velocities of all nodes are on the independent
    /// coordinates (n), which `fill` adds to zeros.
    pub(crate) fn pull_back_of(
        &mut self,
        equations: &Equations,
        fill: impl FnOnce([&mut [f64]; 2]),
        out: [&mut [f64]; 2],
    ) {
        let [ys, us, ..] = &mut self.nodes;
        ys.fill(0.0);
        us.fill(0.0);
        fill([ys, us]);
        self.pull_back(equations, out);
    }

    /// Writes what weights of the displacements that laws see, of velocities and of displacements of
    /// all nodes are on the independent coordinates (n).
    pub(crate) fn pull_back_seen(
        &mut self,
        equations: &Equations,
        [seen, velocities, moved]: [&[f64]; 3],
        out: [&mut [f64]; 2],
    ) {
        let [ys, us, ..] = &mut self.nodes;
        ys.copy_from_slice(moved);
        us.copy_from_slice(velocities);
        match &mut self.deformed {
            Some(deformed) => {
                deformed.seen.copy_from_slice(seen);
                deformed.see_transposed(&equations.problem, [ys, us]);
            }
            None => ys.iter_mut().zip(seen).for_each(|(y, s)| *y += s),
        }
        self.pull_back(equations, out);
    }

    /// Carries weights of displacements and velocities of all nodes to the independent coordinates.
    fn pull_back(&mut self, equations: &Equations, [y, u]: [&mut [f64]; 2]) {
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        let [ys, us, _, curved] = &mut self.nodes;
        if !self.variation.is_empty() {
            curved.copy_from_slice(us);
            self.variation.apply_transposed(problem, evaluation, curved, ys);
        }
        evaluation.pull_back(problem, ys);
        gather(problem, ys, y);
        evaluation.pull_back(problem, us);
        gather(problem, us, u);
    }
}

/// Writes how all nodes move and change their velocities with the independent coordinates: to the first
/// two of four vectors on all nodes.
fn push(
    problem: &Problem,
    evaluation: &Evaluation,
    [y, u]: [&[f64]; 2],
    [ys, us, _, curved]: &mut [Vec<f64>; 4],
    variation: &mut VelocityVariation,
) {
    scatter(problem, y, ys);
    evaluation.push_forward(problem, ys);
    scatter(problem, u, us);
    evaluation.push_forward(problem, us);
    if !variation.is_empty() {
        variation.apply(problem, evaluation, ys, curved);
        us.iter_mut().zip(&*curved).for_each(|(u, b)| *u += b);
    }
}

/// Visits the rotations of all bodies with a mass, independent and mapped ones: their place among the
/// velocities of all nodes, and the derivative of `w x I w` by `w`.
fn each_spin(problem: &Problem, velocities: &[f64], mut f: impl FnMut(usize, Mat3)) {
    for mass in problem.masses() {
        let node = problem.node(mass.node);
        if node.space != Space::Rigid3 {
            continue;
        }
        for e in 0..node.count {
            let Some(rigid) = mass.component.rigid(e) else {
                continue;
            };
            let at = node.first_velocity + 6 * e + 3;
            let (w, inertia) = (vec3(velocities, at), rigid.inertia_matrix());
            f(at, skew(w) * inertia - skew(inertia * w));
        }
    }
}
