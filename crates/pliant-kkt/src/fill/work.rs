//! The work that the geometric stiffness of a step does.

use super::Assembler;
use super::geometry::{bodies, form};
use crate::Scheme;
use crate::scheme::GeometricOrigin;
use pliant_model::{ElementIndex, Evaluation, NodeKind, Problem, State};

impl Assembler {
    /// The energy that the geometric stiffness of the last fill took from the motion (J): the work
    /// of its impulse `h^2 alpha G u` by the velocities `u` with which positions moved,
    /// `h^2 alpha u^T G u`, negative where it damps. Every element has the share of it that its
    /// mode took. `velocity` has `u` of all nodes, mapped ones by the Jacobians of the fill;
    /// `evaluation` and `state` are as they were at the fill, and so is the scheme. Cost: as much
    /// as filling it. Allocates nothing.
    ///
    /// # Panics
    /// If `velocity` is shorter than
    /// [`Model::velocity_count`](pliant_model::Model::velocity_count).
    pub fn geometry_work(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        scheme: &Scheme,
        state: &State,
        velocity: &[f64],
    ) -> f64 {
        let modes = scheme.geometry;
        // Two origins are evaluated one after the other; of a single one all blocks are still
        // there.
        let again = modes.origins().count() > 1;
        let mut form = 0.0;
        for origin in modes.origins() {
            if again {
                self.evaluate_all_geometry(problem, evaluation, state, origin);
            }
            form += self.bodies_form(problem, scheme, origin, velocity);
            form += self.elements_form(problem, evaluation, scheme, origin, velocity);
            form += self.bundles_geometry_form(problem, evaluation, scheme, state, origin, velocity);
        }
        // Without any it is zero, not minus zero.
        0.0 - form
    }

    /// `-h^2 alpha u^T G u` of the angular accelerations of bodies.
    fn bodies_form(
        &mut self,
        problem: &Problem,
        scheme: &Scheme,
        origin: GeometricOrigin,
        velocity: &[f64],
    ) -> f64 {
        let gain = scheme.h * scheme.h * scheme.alpha;
        let mut sum = 0.0;
        for body in bodies(problem) {
            if self.inertial_block(scheme, origin, &body) {
                sum += gain * form(&self.geometry, &velocity[body.at..body.at + 3]);
            }
        }
        sum
    }

    /// Evaluates `G` of all mapped nodes under the forces of one origin.
    fn evaluate_all_geometry(
        &mut self,
        problem: &Problem,
        evaluation: &mut Evaluation,
        state: &State,
        origin: GeometricOrigin,
    ) {
        for index in 0..problem.nodes().len() {
            self.evaluate_geometry(problem, evaluation, state, index, origin);
        }
        for bundle in 0..self.plan.bundles.len() {
            self.find_hanging_geometry(problem, evaluation, state, bundle, Some(origin));
        }
    }

    /// `-h^2 alpha u^T G u` of the elements of mapped nodes that are not bundled, whose blocks are
    /// evaluated.
    fn elements_form(
        &mut self,
        problem: &Problem,
        evaluation: &Evaluation,
        scheme: &Scheme,
        origin: GeometricOrigin,
        velocity: &[f64],
    ) -> f64 {
        let mut sum = 0.0;
        for (index, node) in problem.nodes().iter().enumerate() {
            let NodeKind::Mapped { ranges, .. } = &node.kind else {
                continue;
            };
            if !self.has_geometry(problem, index, origin) {
                continue;
            }
            for e in 0..node.count {
                let at = ElementIndex {
                    node: index,
                    element: e,
                };
                let Some(scale) = self.taken_element(evaluation, scheme, origin.mode, at) else {
                    continue;
                };
                let height = self.height(at);
                let mut row = 0;
                for d in evaluation.dependencies(index, e) {
                    let (_, first, space) = ranges[d.parent];
                    let size = space.velocity_size();
                    let own = &velocity[first + d.element * size..][..size];
                    self.product[row..row + size].copy_from_slice(own);
                    row += size;
                }
                sum += scale * form(&self.geometry, &self.product[..height]);
            }
        }
        sum
    }
}
