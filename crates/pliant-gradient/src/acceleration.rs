//! How accelerations of mapped nodes change with positions and velocities: what the inertia of
//! masses on nodes that are mapped nonlinearly depends on.

use crate::GradientError;
use crate::kinematics::{is_linear, places};
use pliant_dense::vec3;
use pliant_model::{Blocks, Evaluation, Model, Node, NodeKind, Space, State};

/// Steps of differences of curvatures along the motion, as the longest way of a node (m, rad), the
/// longest first: that is taken on which differences of second and of fourth order agree.
const WAYS: [f64; 6] = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9];

/// Share of the largest entry by which they may differ: the error of those of fourth order is the
/// square of that of second order.
const AGREE: f64 = 1e-5;

/// Roundings of curvatures, over the step, that differences may be apart by.
const ROUNDINGS: f64 = 1000.0;

/// Places of differences over the step, and weights of those of fourth and of second order.
const DIFFERENCES: [(f64, [f64; 2]); 4] = [
    (-2.0, [1.0 / 12.0, 0.0]),
    (-1.0, [-8.0 / 12.0, -0.5]),
    (1.0, [8.0 / 12.0, 0.5]),
    (2.0, [-1.0 / 12.0, 0.0]),
];

/// Whether each node hangs on independent ones by mappings of which one is not linear.
pub(crate) fn curved_nodes(model: &Model) -> Vec<bool> {
    let mut curved = vec![false; model.nodes().len()];
    for (index, node) in model.nodes().iter().enumerate() {
        if let NodeKind::Mapped { parents, .. } = &node.kind {
            curved[index] = !is_linear(model, index) || parents.iter().any(|p| curved[p.index()]);
        }
    }
    curved
}

/// The name of the first mass on such a node.
pub(crate) fn first_curved_mass(model: &Model) -> Option<&str> {
    let curved = curved_nodes(model);
    let found = model.masses().iter().find(|mass| curved[mass.node.index()]);
    found.map(|mass| mass.name.as_str())
}

/// The derivative of the accelerations of mapped nodes that carry masses.
///
/// **Equation.** With the velocities `v` and accelerations `a` of the parents of a mapping,
/// `a_child = J a + T(v) v` where `T(v) y = d(J v)/dx y`, so that
///
/// ```math
/// da_child = J da + [T(a) + D(v)] y + T(v) u + T(u) v,   D(v) y = d(T(v) v)/dx y
/// ```
///
/// for displacements `y` and changes `u` of the velocities of the parents. `T` is made of the whole
/// geometric stiffness of unit forces, and third derivatives of a mapping commute but for
/// turns of bodies: `D(v) y = d/ds T_(x (+) s v)(v) y + T(v) (y x v)`, a derivative along the motion
/// alone, by differences of fourth order.
#[derive(Debug)]
pub(crate) struct AccelerationVariation {
    /// The mapped nodes with such masses, and the mapped ones that they hang on, parents first.
    nodes: Vec<usize>,
    /// The derivatives of each node with a nonlinear mapping.
    bends: Vec<Option<Bend>>,
    /// Whether each node is one of these, or an independent one that they hang on.
    is_needed: Vec<bool>,
    unit: Vec<f64>,
    acceleration: Vec<f64>,
    /// Changes of accelerations of all nodes, or weights of them.
    pub(crate) change: Vec<f64>,
    moved: State,
    way: Vec<f64>,
    row: RowRoom,
}

/// Room for the Jacobian of one element.
#[derive(Debug, Default)]
struct RowRoom {
    /// The Jacobian block, and the numbers that repeat in it.
    element: [Vec<f64>; 2],
    /// The velocity coordinates of what it hangs on.
    places: Vec<usize>,
}

/// The derivative of the acceleration of one coordinate of a mapped node.
#[derive(Clone, Copy)]
struct Row<'a> {
    /// The coordinate, among the velocity coordinates of all nodes.
    at: usize,
    /// Coordinates of what it hangs on.
    places: &'a [usize],
    /// By the accelerations of these.
    jacobian: &'a [f64],
    /// By their displacements and velocities; empty where the mapping is linear.
    by: [&'a [f64]; 2],
}

/// The derivative of the accelerations of one mapping, beside `J da`.
#[derive(Debug)]
struct Bend {
    /// Room for the geometric stiffness of a unit force.
    curvature: Blocks,
    /// By displacements and by velocities, a row for each coordinate of an element.
    by: [Blocks; 2],
    /// Differences of fourth and of second order of what displacements change along the motion.
    along: [Blocks; 2],
}

impl AccelerationVariation {
    /// Plans the derivative for the masses of a model; none where these hang on linear mappings.
    pub(crate) fn plan(model: &Model, evaluation: &Evaluation) -> Option<Self> {
        let curved = curved_nodes(model);
        let mut needed = vec![false; model.nodes().len()];
        for mass in model.masses().iter().filter(|mass| curved[mass.node.index()]) {
            needed[mass.node.index()] = true;
        }
        if !needed.contains(&true) {
            return None;
        }
        for (index, node) in model.nodes().iter().enumerate().rev() {
            if let (NodeKind::Mapped { parents, .. }, true) = (&node.kind, needed[index]) {
                parents.iter().for_each(|p| needed[p.index()] = true);
            }
        }
        let is_mapped = |index: &usize| model.nodes()[*index].first_dof().is_none();
        let all = 0..model.nodes().len();
        let nodes: Vec<usize> = all
            .clone()
            .filter(|index| needed[*index])
            .filter(is_mapped)
            .collect();
        let bend = |index: usize| {
            let bends = nodes.contains(&index) && !is_linear(model, index);
            bends.then(|| {
                let curvature = evaluation.geometric_shapes(model, index);
                let size = model.nodes()[index].space.velocity_size();
                let shapes = || (0..curvature.len()).map(|e| (size, curvature.width(e)));
                Bend {
                    by: [Blocks::new(shapes()), Blocks::new(shapes())],
                    along: [Blocks::new(shapes()), Blocks::new(shapes())],
                    curvature,
                }
            })
        };
        let numbers = model.velocity_count();
        Some(Self {
            bends: all.map(bend).collect(),
            nodes,
            is_needed: needed,
            unit: vec![0.0; numbers],
            acceleration: vec![0.0; numbers],
            change: vec![0.0; numbers],
            moved: State::default(),
            way: Vec::new(),
            row: RowRoom::default(),
        })
    }

    /// The mapped nodes that it is of, parents first.
    pub(crate) fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    /// Evaluates it at a state that was evaluated, for accelerations of the independent nodes, which
    /// `acceleration` writes among the velocity coordinates of all nodes.
    ///
    /// # Errors
    /// [`GradientError::Model`] where a mapping is not defined close to the state,
    /// [`GradientError::NotBuilt`] for one that has no smooth curvature there.
    pub(crate) fn evaluate(
        &mut self,
        model: &Model,
        evaluation: &mut Evaluation,
        state: &State,
        acceleration: impl FnOnce(&mut [f64]),
    ) -> Result<(), GradientError> {
        acceleration(&mut self.acceleration);
        evaluation.push_forward(model, &mut self.acceleration);
        for (a, bias) in self.acceleration.iter_mut().zip(evaluation.bias()) {
            *a += bias;
        }
        let v = &state.velocities;
        for index in 0..self.bends.len() {
            self.add_curvature(model, evaluation, state, index, v, None);
        }
        let speeds = independent(model, &self.is_needed).flat_map(|node| &v[node.velocity_range()]);
        let fastest = speeds.fold(0.0f64, |most, v| most.max(v.abs()));
        // Slower ones than that have accelerations along curves that are nothing.
        if fastest * fastest < f64::MIN_POSITIVE {
            return Ok(());
        }
        let mut last = Ok(None);
        for way in WAYS {
            last = self.differ(model, evaluation, state, way / fastest);
            if let Ok(None) = last {
                break;
            }
        }
        // The Jacobians of the state again.
        self.moved.clone_from(state);
        evaluation.propagate_among(model, &mut self.moved, |index| self.is_needed[index])?;
        if let Some(index) = last? {
            return Err(GradientError::NotBuilt {
                what: format!("the inertia of what hangs on `{}`", model.nodes()[index].name),
                why: "its mapping bends too sharply close by",
            });
        }
        for Bend { by, along, .. } in self.bends.iter_mut().flatten() {
            for e in 0..along[0].len() {
                let sums = by[0].block_mut(e).iter_mut().zip(along[0].block(e));
                sums.for_each(|(sum, term)| *sum += term);
            }
        }
        Ok(())
    }

    /// Takes the differences along the motion by a step of time (s); a node of which those of both
    /// orders do not agree, if there is one.
    fn differ(
        &mut self,
        model: &Model,
        evaluation: &mut Evaluation,
        state: &State,
        step: f64,
    ) -> Result<Option<usize>, GradientError> {
        let v = &state.velocities;
        for Bend { along, .. } in self.bends.iter_mut().flatten() {
            for blocks in along {
                (0..blocks.len()).for_each(|e| blocks.block_mut(e).fill(0.0));
            }
        }
        for (place, weights) in DIFFERENCES {
            self.moved.clone_from(state);
            for node in independent(model, &self.is_needed) {
                let (size, range) = (node.space.velocity_size(), node.velocity_range());
                let positions = &mut self.moved.positions[node.position_range()];
                let each = positions.chunks_exact_mut(node.space.position_size());
                for (x, v) in each.zip(v[range].chunks_exact(size)) {
                    self.way.clear();
                    self.way.extend(v.iter().map(|v| place * step * v));
                    node.space.retract(x, &self.way);
                }
            }
            evaluation.propagate_among(model, &mut self.moved, |index| self.is_needed[index])?;
            let moved = std::mem::take(&mut self.moved);
            for index in 0..self.bends.len() {
                let weights = weights.map(|weight| weight / step);
                self.add_curvature(model, evaluation, &moved, index, v, Some(weights));
            }
            self.moved = moved;
        }
        let disagrees = |bend: &Bend| {
            let Bend { by, along, .. } = bend;
            let all = 0..along[0].len();
            let size = |blocks: &Blocks| {
                let entries = all.clone().flat_map(|e| blocks.block(e));
                entries.fold(0.0f64, |a, x| a.max(x.abs()))
            };
            let rounding = ROUNDINGS * f64::EPSILON * size(&by[1]) / step;
            let largest = size(&along[0]).max(size(&by[0]));
            let pairs = all
                .clone()
                .flat_map(|e| along[0].block(e).iter().zip(along[1].block(e)));
            let apart = pairs.fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
            // Differences that are no numbers disagree.
            let agrees = apart <= AGREE * largest + rounding;
            !agrees
        };
        let found = |bend: &Option<Bend>| bend.as_ref().is_some_and(disagrees);
        Ok(self.bends.iter().position(found))
    }

    /// Adds what the curvatures of a node at a state give: with weights, to both differences along the
    /// motion, without them all others, in the place of what there was.
    fn add_curvature(
        &mut self,
        model: &Model,
        evaluation: &mut Evaluation,
        state: &State,
        index: usize,
        v: &[f64],
        weights: Option<[f64; 2]>,
    ) {
        let Some(Bend { curvature, by, along }) = &mut self.bends[index] else {
            return;
        };
        let node = &model.nodes()[index];
        let size = node.space.velocity_size();
        let [by_position, by_velocity] = by;
        for i in 0..size {
            let unit = &mut self.unit[node.velocity_range()];
            unit.fill(0.0);
            unit.iter_mut().skip(i).step_by(size).for_each(|f| *f = 1.0);
            evaluation.write_force_derivative(model, state, index, &self.unit, curvature);
            self.unit[node.velocity_range()].fill(0.0);
            for e in 0..node.count {
                let width = curvature.width(e);
                let own = i * width..(i + 1) * width;
                let [on_positions, on_velocities] = [&mut *by_position, &mut *by_velocity]
                    .map(|blocks| &mut blocks.block_mut(e)[own.clone()]);
                let places = places(model, evaluation, index, e);
                let rows = curvature.block(e).chunks_exact(width.max(1)).zip(places.clone());
                if let Some(weights) = weights {
                    for (row, a) in rows {
                        for (blocks, weight) in along.iter_mut().zip(weights) {
                            let sums = blocks.block_mut(e)[own.clone()].iter_mut().zip(row);
                            sums.for_each(|(d, g)| *d += weight * v[a] * g);
                        }
                    }
                    continue;
                }
                on_positions.fill(0.0);
                on_velocities.fill(0.0);
                for (k, (row, a)) in rows.enumerate() {
                    for (c, g) in row.iter().enumerate() {
                        on_positions[c] += self.acceleration[a] * g;
                        on_velocities[c] += v[a] * g;
                    }
                    let turned: f64 = row.iter().zip(places.clone()).map(|(g, c)| g * v[c]).sum();
                    let [second, _] = &mut self.row.element;
                    second.resize(width, 0.0);
                    second[k] = turned;
                }
                add_turns(model, evaluation, [index, e], v, on_velocities, on_positions);
                let second = on_velocities.iter_mut().zip(&self.row.element[0]);
                second.for_each(|(b, t)| *b += t);
            }
        }
    }

    /// Writes the change of the accelerations of all nodes, of which [`change`](Self::change) has
    /// that of the independent ones, for displacements and changes of velocity of all nodes.
    pub(crate) fn apply(&mut self, model: &Model, evaluation: &Evaluation, [ys, us]: [&[f64]; 2]) {
        let Self {
            nodes,
            bends,
            change,
            row: room,
            ..
        } = self;
        for index in nodes {
            room.each(model, evaluation, *index, bends[*index].as_ref(), |row| {
                let along = |terms: &[f64], of: &[f64]| -> f64 {
                    terms.iter().zip(row.places).map(|(t, k)| t * of[*k]).sum()
                };
                let [by_position, by_velocity] = row.by;
                change[row.at] =
                    along(row.jacobian, change) + along(by_position, ys) + along(by_velocity, us);
            });
        }
    }

    /// Adds the transpose: weights of the changes of accelerations, which
    /// [`change`](Self::change) has of all nodes and are carried to the independent ones there, become
    /// weights of displacements and velocities of the nodes, each where it acts.
    pub(crate) fn apply_transposed(
        &mut self,
        model: &Model,
        evaluation: &Evaluation,
        [ys, us]: [&mut [f64]; 2],
    ) {
        let Self {
            nodes,
            bends,
            change,
            row: room,
            ..
        } = self;
        for index in nodes.iter().rev() {
            room.each(model, evaluation, *index, bends[*index].as_ref(), |row| {
                let weight = change[row.at];
                let add = |terms: &[f64], to: &mut [f64]| {
                    let pairs = terms.iter().zip(row.places);
                    pairs.for_each(|(t, k)| to[*k] += t * weight);
                };
                let [by_position, by_velocity] = row.by;
                add(row.jacobian, change);
                add(by_position, ys);
                add(by_velocity, us);
            });
        }
    }
}

impl RowRoom {
    /// Visits the derivatives of the accelerations of all coordinates of a node.
    fn each(
        &mut self,
        model: &Model,
        evaluation: &Evaluation,
        index: usize,
        bend: Option<&Bend>,
        mut f: impl FnMut(Row<'_>),
    ) {
        let node = &model.nodes()[index];
        let size = node.space.velocity_size();
        for e in 0..node.count {
            self.places.clear();
            self.places.extend(places(model, evaluation, index, e));
            let [jacobian, numbers] = &mut self.element;
            evaluation.write_whole_jacobian(model, index, e, [&mut *jacobian, numbers]);
            let width = (jacobian.len() / size).max(1);
            for (i, jacobian) in jacobian.chunks_exact(width).enumerate() {
                let own = i * width..(i + 1) * width;
                let by = bend.map_or([&[][..]; 2], |bend| {
                    bend.by.each_ref().map(|blocks| &blocks.block(e)[own.clone()])
                });
                f(Row {
                    at: node.first_velocity + e * size + i,
                    places: &self.places,
                    jacobian,
                    by,
                });
            }
        }
    }
}

/// The independent nodes among those that are needed.
fn independent<'a>(model: &'a Model, is_needed: &'a [bool]) -> impl Iterator<Item = &'a Node> {
    let nodes = model.nodes().iter().zip(is_needed);
    nodes
        .filter(|(node, needed)| **needed && node.first_dof().is_some())
        .map(|(node, _)| node)
}

/// Adds `T(v) (y x v)` of the bodies that an element hangs on to a row of its derivative by
/// displacements `y`, from the row of `T(v)`.
fn add_turns(
    model: &Model,
    evaluation: &Evaluation,
    [index, element]: [usize; 2],
    v: &[f64],
    turned: &[f64],
    out: &mut [f64],
) {
    let NodeKind::Mapped { ranges, .. } = &model.nodes()[index].kind else {
        return;
    };
    let mut at = 0;
    for d in evaluation.dependencies(index, element) {
        let (_, first, space) = ranges[d.parent];
        let size = space.velocity_size();
        if space == Space::Rigid3 {
            let spin = vec3(v, first + d.element * size + 3);
            let weight = spin.cross(&vec3(turned, at + 3));
            (0..3).for_each(|k| out[at + 3 + k] += weight[k]);
        }
        at += size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_dense::Vec3;
    use pliant_model::{Distance, Mass};
    use std::error::Error;

    /// A mass on the distance `r` of a particle from a point, in sizes from a metre to a hundredth of a
    /// millimetre: with the direction `n`, `r'' = (v^2 - (n . v)^2)/r + n . a`, and its derivative by
    /// hand.
    #[test]
    fn a_distance_accelerates_as_its_formula_says() -> Result<(), Box<dyn Error>> {
        for size in [1.0, 1e-3, 1e-5] {
            let [x, v, a] =
                [[0.6, -0.3, 0.5], [0.7, 0.4, -0.2], [-0.5, 0.9, 0.3]].map(|x| size * Vec3::from(x));
            let [y, u, da] = [[0.2, 0.5, -0.4], [-0.3, 0.1, 0.8], [0.4, -0.6, 0.7]].map(Vec3::from);
            let mut model = Model::new();
            let point = model.add_particles("point", &[x.into()])?;
            model.set_velocity(point, 0, &[true; 3], v.as_slice())?;
            let length = model.add_mapped("length", &[point], Distance::to_points(&[(0, [0.0; 3])]))?;
            model.add_mass("mass", length, Mass::Uniform(1.0))?;
            let problem = pliant_model::Problem::new(model);
            let mut evaluation = Evaluation::new(&problem);
            let mut state = problem.initial_state()?;
            evaluation.propagate(&problem, &mut state)?;
            evaluation.evaluate(&problem, &state)?;
            let mut found = AccelerationVariation::plan(&problem, &evaluation).ok_or("no such mass")?;
            found.evaluate(&problem, &mut evaluation, &state, |all| {
                all.fill(0.0);
                all[..3].copy_from_slice(a.as_slice());
            })?;
            let (r, n) = (x.norm(), x / x.norm());
            let dn = (y - n * n.dot(&y)) / r;
            let across = v.dot(&v) - n.dot(&v).powi(2);
            let turned = 2.0 * v.dot(&u) - 2.0 * n.dot(&v) * (dn.dot(&v) + n.dot(&u));
            let expected = turned / r - across / (r * r) * n.dot(&y) + dn.dot(&a) + n.dot(&da);
            found.change.fill(0.0);
            found.change[..3].copy_from_slice(da.as_slice());
            let nodes = [y, u].map(|d| [d.x, d.y, d.z, 0.0]);
            found.apply(&problem, &evaluation, [&nodes[0], &nodes[1]]);
            let got = found.change[3];
            // Steps of a thousandth of the size: errors of fourth order, and rounding over the step.
            assert!(
                (got - expected).abs() < 1e-8 * expected.abs(),
                "{size}: {got} {expected}"
            );
        }
        Ok(())
    }
}
