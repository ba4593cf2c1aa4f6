//! Products with `W` that is never assembled.

use super::element::{add_product, add_symmetric};
use super::geometry::{GeometricLoad, bodies, takes_shares};
use super::response::{ElementBlocks, Response};
use super::{Assembler, Step, StepInput};
use crate::Scheme;
use crate::plan::Plan;
use pliant_model::{ComponentId, ElementIndex, Evaluation, NodeKind, Problem, State, Treatment};
use pliant_sparse::{LinearOperator, Threads};
use std::cell::RefCell;
use std::convert::Infallible;

/// Elements of a node between two looks at the threads.
const PIECE: usize = 512;

/// Terms of products with `W` beside the evaluation: `-h^2 alpha G`, element by element, as much as
/// the modes take of it.
#[derive(Debug, Default)]
pub(super) struct Products {
    blocks: Vec<f64>,
    elements: Vec<Element>,
    /// As [`Scratch`] has it.
    scratch: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Element {
    /// Where its block begins.
    first: usize,
    on: On,
}

/// The coordinates that a block of geometric stiffness acts on.
#[derive(Clone, Copy, Debug)]
enum On {
    /// Coordinates of all nodes, `size` of them from `first` on.
    Own { first: usize, size: usize },
    /// The parents of an element of a mapped node.
    Parents { node: usize, element: usize },
}

impl Products {
    fn push(&mut self, on: On, block: impl Iterator<Item = f64>) {
        let first = self.blocks.len();
        self.elements.push(Element { first, on });
        self.blocks.extend(block);
    }

    /// Collects the geometric stiffness of a step.
    fn gather(&mut self, plan: &Plan, response: &mut Response, evaluation: &mut Evaluation, step: Step<'_>) {
        self.blocks.clear();
        self.elements.clear();
        let Response {
            loads, blocks, runs, ..
        } = response;
        for origin in step.scheme.geometry.origins() {
            let geometry = loads.geometry(plan, step, origin);
            for body in bodies(step.problem) {
                if geometry.inertial_block(&body, blocks) {
                    let on = On::Own {
                        first: body.at,
                        size: 3,
                    };
                    let gain = step.geometric_gain();
                    self.push(on, blocks.sources[..9].iter().map(|b| gain * b));
                }
            }
            self.gather_elements(&geometry, blocks, evaluation);
            runs.visit_geometry(evaluation, geometry, |(first, size), block| {
                self.push(On::Own { first, size }, block.iter().copied());
            });
        }
    }

    /// Appends that of the elements of mapped nodes that are not bundled.
    fn gather_elements(
        &mut self,
        geometry: &GeometricLoad<'_>,
        blocks: &mut ElementBlocks,
        evaluation: &mut Evaluation,
    ) {
        for (node, entry) in geometry.step.problem.nodes().iter().enumerate() {
            let mapped = matches!(entry.kind, NodeKind::Mapped { .. });
            if !mapped || !geometry.evaluate(evaluation, node) {
                continue;
            }
            for element in 0..entry.count {
                let at = ElementIndex { node, element };
                if let Some(scale) = geometry.taken_element(evaluation, at, blocks) {
                    let height = geometry.height(at);
                    let block = blocks.sources[..height * height].iter();
                    self.push(On::Parents { node, element }, block.map(|b| scale * b));
                }
            }
        }
    }
}

/// `W` of a step as an operator, `P W P + I - P` where `P` takes the fixed coordinates out, as
/// `pliant_krylov::SymmetricOperator` has it of an assembled matrix: velocities are carried down
/// the graph, forces back.
///
/// **Equation.** `W x = J^T (M + h alpha B + h^2 alpha beta (K - G)) J x` with the Jacobians `J` of
/// the nodes, which are never multiplied with each other. Cost: two operations per number of every
/// Jacobian, twice, and of every block of mass, stiffness, damping and geometric stiffness. No bit
/// depends on threads.
pub struct ResponseOperator<'a> {
    problem: &'a Problem,
    evaluation: &'a Evaluation,
    scheme: &'a Scheme,
    fixed: &'a [bool],
    threads: &'a Threads,
    blocks: &'a [f64],
    elements: &'a [Element],
    scratch: RefCell<&'a mut [f64]>,
}

impl std::fmt::Debug for ResponseOperator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseOperator")
            .field("size", &self.fixed.len())
            .finish_non_exhaustive()
    }
}

/// Velocities and forces of all nodes, and of the elements of one group.
struct Scratch<'a> {
    u: &'a mut [f64],
    f: &'a mut [f64],
    own: &'a mut [f64],
}

/// The terms that are wanted.
#[derive(Clone, Copy)]
enum Of {
    /// `W`.
    Response,
    /// `-h^2 alpha (K - G)`.
    Change,
}

impl Assembler {
    /// `W` of a step for products, without filling it. `evaluation` must be up to date with
    /// `state`; `multipliers` are those that the geometric stiffness of rows is made of, one per
    /// row. Allocates nothing once it is warm. Cost: forces on all nodes and geometric stiffness,
    /// of which there is none where mappings are linear.
    pub fn response<'a>(
        &'a mut self,
        problem: &'a Problem,
        evaluation: &'a mut Evaluation,
        scheme: &'a Scheme,
        state: &'a State,
        multipliers: &[f64],
    ) -> ResponseOperator<'a> {
        let modes = scheme.geometry;
        // How much is taken is seen on the degrees of freedom.
        if takes_shares(modes.forces) || takes_shares(modes.multipliers) {
            self.plan.jacobians.fill(problem, evaluation);
        }
        let step = Step {
            problem,
            scheme,
            state,
        };
        self.gather_loads(step, evaluation, multipliers);
        let products = &mut self.products;
        products.gather(&self.plan, &mut self.response, evaluation, step);
        if products.scratch.is_empty() {
            let fields = problem.force_fields().iter().enumerate();
            let widths = fields.map(|(i, field)| {
                let groups = evaluation.groups(i).iter().map(Vec::len).max();
                groups.unwrap_or(0) * problem.node(field.node).space.velocity_size()
            });
            let all = 2 * (problem.velocity_count() + widths.max().unwrap_or(0));
            products.scratch.resize(all, 0.0);
        }
        ResponseOperator {
            problem,
            evaluation,
            scheme,
            fixed: &self.system.fixed,
            threads: self.response.runs.threads(),
            blocks: &products.blocks,
            elements: &products.elements,
            scratch: RefCell::new(&mut products.scratch),
        }
    }
}

impl ResponseOperator<'_> {
    /// `c` of the step in the change of velocity: `h f - h^2 alpha (K - G) v`, carried to the
    /// independent coordinates, the impulse and what fixed coordinates change.
    ///
    /// # Panics
    /// If `out` is not of length n, or an input is shorter than it should be.
    pub fn right_hand_side(&self, input: StepInput<'_>, out: &mut [f64]) {
        let h = self.scheme.h;
        let mut scratch = self.scratch.borrow_mut();
        let mut scratch = self.split(&mut scratch);
        let forces = self.evaluation.force().iter();
        for ((f, a), b) in scratch
            .f
            .iter_mut()
            .zip(forces)
            .zip(self.evaluation.inertial_force())
        {
            *f = h * (a + b);
        }
        if input.fixed_change.iter().any(|d| *d != 0.0) {
            self.carry_down(|k| -input.fixed_change[k], scratch.u);
            self.add_terms(Of::Response, &mut scratch);
        }
        scratch.u.copy_from_slice(&input.state.velocities);
        self.add_terms(Of::Change, &mut scratch);
        self.evaluation.pull_back(self.problem, scratch.f);
        self.to_independent(scratch.f, out);
        out.iter_mut().zip(input.impulse).for_each(|(c, p)| *c += p);
    }

    fn split<'s>(&self, all: &'s mut [f64]) -> Scratch<'s> {
        let (u, rest) = all.split_at_mut(self.problem.velocity_count());
        let (f, own) = rest.split_at_mut(self.problem.velocity_count());
        Scratch { u, f, own }
    }

    /// Velocities of all nodes from those of the independent coordinates.
    fn carry_down(&self, of: impl Fn(usize) -> f64, u: &mut [f64]) {
        for node in self.problem.nodes() {
            let Some(first) = node.first_dof() else { continue };
            for (k, u) in u[node.velocity_range()].iter_mut().enumerate() {
                *u = of(first + k);
            }
        }
        self.evaluation.push_forward(self.problem, u);
    }

    fn to_independent(&self, f: &[f64], out: &mut [f64]) {
        for node in self.problem.nodes() {
            if let Some(first) = node.first_dof() {
                let from = node.velocity_range();
                out[first..first + from.len()].copy_from_slice(&f[from]);
            }
        }
    }

    /// Adds what the terms of all nodes make of the velocities `u` of all nodes to their forces
    /// `f`.
    fn add_terms(&self, of: Of, scratch: &mut Scratch<'_>) {
        let Scheme { h, alpha, beta, .. } = *self.scheme;
        if let Of::Response = of {
            let gain = 1.0 + h * alpha * self.problem.rayleigh().mass;
            for mass in self.problem.masses() {
                let node = self.problem.node(mass.node);
                let range = node.velocity_range();
                let (u, f) = (&scratch.u[range.clone()], &mut scratch.f[range]);
                mass.component.add_product(node.space, gain, u, f);
            }
        }
        for i in 0..self.problem.force_fields().len() {
            self.add_field(of, i, scratch);
        }
        let gain = match of {
            Of::Response => beta,
            Of::Change => -1.0,
        };
        for element in self.elements {
            self.add_geometry(element, gain, scratch.u, scratch.f);
        }
    }

    /// Of one force field.
    fn add_field(&self, of: Of, i: usize, scratch: &mut Scratch<'_>) {
        let field = &self.problem.force_fields()[i];
        if self.problem.treatment(i) != Treatment::Stiffness {
            return;
        }
        let (h, beta) = (self.scheme.h, self.scheme.beta);
        let alpha = self.scheme.alpha_of(ComponentId::ForceField(i));
        let (gain, damping) = match of {
            Of::Response => (h * h * alpha * beta, self.evaluation.is_damped(i)),
            Of::Change => (-h * h * alpha, false),
        };
        let dampers = self.evaluation.damping(i);
        let node = self.problem.node(field.node);
        let (size, range) = (node.space.velocity_size(), node.velocity_range());
        let (u, f) = (&scratch.u[range.clone()], &mut scratch.f[range]);
        let add = |g: usize, room: &mut [f64], u: &[f64], f: &mut [f64]| {
            add_symmetric(
                self.evaluation.stiffness_block(self.problem, i, g, room),
                gain,
                u,
                f,
            );
            if damping {
                add_symmetric(dampers.block(g), h * alpha, u, f);
            }
        };
        let groups = self.evaluation.groups(i);
        if groups.is_empty() {
            let pieces = (0..node.count, PIECE);
            let Ok(()) = self.threads.for_each_piece(
                pieces,
                |e| e * size,
                f,
                |elements, f| {
                    let mut room = [0.0; Evaluation::MOST_MADE];
                    for (e, f) in elements.zip(f.chunks_exact_mut(size)) {
                        add(e, &mut room, &u[e * size..][..size], f);
                    }
                    Ok::<(), Infallible>(())
                },
            );
            return;
        }
        let mut room = [0.0; Evaluation::MOST_MADE];
        for (g, elements) in groups.iter().enumerate() {
            let width = elements.len() * size;
            let (own, sum) = scratch.own[..2 * width].split_at_mut(width);
            for (e, own) in elements.iter().zip(own.chunks_exact_mut(size)) {
                own.copy_from_slice(&u[e * size..][..size]);
            }
            sum.fill(0.0);
            add(g, &mut room, own, sum);
            for (e, sum) in elements.iter().zip(sum.chunks_exact(size)) {
                f[e * size..][..size]
                    .iter_mut()
                    .zip(sum)
                    .for_each(|(f, s)| *f += s);
            }
        }
    }

    /// Of one block of geometric stiffness.
    fn add_geometry(&self, element: &Element, gain: f64, u: &[f64], f: &mut [f64]) {
        let block = &self.blocks[element.first..];
        match element.on {
            On::Own { first, size } => {
                let range = first..first + size;
                add_product(&block[..size * size], gain, &u[range.clone()], &mut f[range]);
            }
            On::Parents { node, element } => {
                let NodeKind::Mapped { ranges, .. } = &self.problem.nodes()[node].kind else {
                    return;
                };
                let list = self.evaluation.dependencies(node, element);
                let runs = || {
                    list.iter().map(|d| {
                        let (_, first, space) = ranges[d.parent];
                        let size = space.velocity_size();
                        first + d.element * size..first + (d.element + 1) * size
                    })
                };
                let height: usize = runs().map(|r| r.len()).sum();
                let rows = block.chunks_exact(height.max(1));
                for (row, k) in rows.zip(runs().flatten()) {
                    let terms = row.iter().zip(runs().flatten());
                    f[k] += gain * terms.map(|(b, k)| b * u[k]).sum::<f64>();
                }
            }
        }
    }
}

impl LinearOperator for ResponseOperator<'_> {
    fn size(&self) -> usize {
        self.fixed.len()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let mut scratch = self.scratch.borrow_mut();
        let mut scratch = self.split(&mut scratch);
        self.carry_down(|k| if self.fixed[k] { 0.0 } else { x[k] }, scratch.u);
        scratch.f.fill(0.0);
        self.add_terms(Of::Response, &mut scratch);
        self.evaluation.pull_back(self.problem, scratch.f);
        self.to_independent(scratch.f, y);
        for ((y, x), _) in y.iter_mut().zip(x).zip(self.fixed).filter(|(_, fixed)| **fixed) {
            *y = *x;
        }
    }
}
