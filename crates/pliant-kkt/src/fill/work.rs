//! The work that the geometric stiffness of a step does.

use super::Step;
use super::geometry::{GeometricLoad, bodies, form};
use super::response::{ElementBlocks, Elements, Response};
use crate::plan::Plan;
use pliant_model::{ElementIndex, Evaluation, NodeKind};

impl Response {
    /// `h^2 alpha u^T G u` of the last fill, with the velocities `u` of all nodes.
    pub(super) fn geometry_work(
        &mut self,
        plan: &Plan,
        evaluation: &mut Evaluation,
        step: Step<'_>,
        velocity: &[f64],
    ) -> f64 {
        let problem = step.problem;
        let modes = step.scheme.geometry;
        // Two origins are evaluated one after the other; of a single one all blocks are still
        // there.
        let again = modes.origins().count() > 1;
        // Of elements that all processes have, and of those that they share out.
        let (mut form, mut shared) = (0.0, 0.0);
        for origin in modes.origins() {
            let geometry = self.loads.geometry(plan, step, origin);
            if again {
                for index in 0..step.problem.nodes().len() {
                    geometry.evaluate(evaluation, index);
                }
                for bundle in 0..plan.bundles.len() {
                    self.runs
                        .find_hanging_geometry(plan, evaluation, bundle, Some(&geometry));
                }
            }
            form += geometry.bodies_form(&mut self.blocks, velocity);
            for (of, form) in [(Elements::Whole, &mut form), (Elements::Shared, &mut shared)] {
                *form += geometry.elements_form(evaluation, of, &mut self.blocks, velocity);
                *form += self.runs.geometry_form(evaluation, geometry, of, velocity);
            }
        }
        if problem.processes().is_some() {
            form += problem.sum_over_processes(shared);
        }
        // Without any it is zero, not minus zero.
        0.0 - form
    }
}

impl GeometricLoad<'_> {
    /// `-h^2 alpha u^T G u` of the angular accelerations of bodies.
    fn bodies_form(&self, blocks: &mut ElementBlocks, velocity: &[f64]) -> f64 {
        let gain = self.step.geometric_gain();
        let mut sum = 0.0;
        for body in bodies(self.step.problem) {
            if self.inertial_block(&body, blocks) {
                sum += gain * form(&blocks.sources, &velocity[body.at..body.at + 3]);
            }
        }
        sum
    }

    /// `-h^2 alpha u^T G u` of these elements of mapped nodes that are not bundled, whose blocks are
    /// evaluated.
    fn elements_form(
        &self,
        evaluation: &Evaluation,
        of: Elements,
        blocks: &mut ElementBlocks,
        velocity: &[f64],
    ) -> f64 {
        let mut sum = 0.0;
        for (index, node) in self.step.problem.nodes().iter().enumerate() {
            let NodeKind::Mapped { ranges, .. } = &node.kind else {
                continue;
            };
            if !self.acts_on(index) || !of.has(self.step.problem, index) {
                continue;
            }
            for e in 0..node.count {
                let at = ElementIndex {
                    node: index,
                    element: e,
                };
                let Some(scale) = self.taken_element(evaluation, at, blocks) else {
                    continue;
                };
                let mut row = 0;
                for d in evaluation.dependencies(index, e) {
                    let (_, first, space) = ranges[d.parent];
                    let size = space.velocity_size();
                    let own = &velocity[first + d.element * size..][..size];
                    blocks.product[row..row + size].copy_from_slice(own);
                    row += size;
                }
                sum += scale * form(&blocks.sources, &blocks.product[..self.height(at)]);
            }
        }
        sum
    }
}
