//! Deformations that a step integrates beside its positions: how they come from its stages, and how
//! laws see them move.

use crate::GradientError;
use crate::equations::Equations;
use crate::kinematics::Retraction;
use pliant_model::{ComponentId, Evaluation, Level, NodeKind, Problem, RowLaw, State};

/// How the deformations of some nodes move at the end of a stage.
///
/// **Equation.** With `e = e^ (+) w J v`, and `D` and `E` as of [`Retraction`],
///
/// ```math
/// de = w D d(J v) + E de^
/// ```
#[derive(Debug)]
pub(crate) struct DeformedNodes {
    /// The nodes.
    pub(crate) nodes: Vec<usize>,
    /// `w` (s).
    pub(crate) reach: f64,
    pub(crate) turns: Retraction,
    /// On all nodes: the change of what the stage begins at, for the next products, and what the
    /// last transposed product had against it.
    pub(crate) begin: Vec<f64>,
    pub(crate) on_begin: Vec<f64>,
    /// Displacements of all nodes as their laws see them, or what stands against these.
    pub(crate) seen: Vec<f64>,
}

impl DeformedNodes {
    pub(crate) fn new(problem: &Problem, nodes: Vec<usize>) -> Self {
        let zeros = || vec![0.0; problem.velocity_count()];
        Self {
            nodes,
            reach: 0.0,
            turns: Retraction::default(),
            begin: zeros(),
            on_begin: zeros(),
            seen: zeros(),
        }
    }

    /// The displacements that laws see where all nodes move by `ys` and change their velocities by
    /// `us`.
    pub(crate) fn see(&mut self, problem: &Problem, [ys, us]: [&[f64]; 2]) -> &[f64] {
        self.seen.copy_from_slice(ys);
        let Self {
            nodes,
            reach,
            turns,
            begin,
            on_begin,
            seen,
        } = self;
        on_begin.copy_from_slice(begin);
        turns.of_start(on_begin);
        for node in nodes.iter().map(|index| &problem.nodes()[*index]) {
            for k in node.velocity_range() {
                seen[k] = *reach * us[k];
            }
        }
        turns.of_displacement(seen);
        for node in nodes.iter().map(|index| &problem.nodes()[*index]) {
            for k in node.velocity_range() {
                seen[k] += on_begin[k];
            }
        }
        seen
    }

    /// Takes what stands against the displacements that laws see to displacements and velocities of
    /// all nodes, and to what the stage begins at.
    pub(crate) fn see_transposed(&mut self, problem: &Problem, [ys, us]: [&mut [f64]; 2]) {
        let Self {
            nodes,
            reach,
            turns,
            on_begin,
            seen,
            ..
        } = self;
        on_begin.fill(0.0);
        let mut rest = nodes.iter().peekable();
        for (index, node) in problem.nodes().iter().enumerate() {
            let range = node.velocity_range();
            match rest.next_if(|listed| **listed == index) {
                Some(_) => on_begin[range.clone()].copy_from_slice(&seen[range]),
                None => {
                    for k in range {
                        ys[k] += seen[k];
                    }
                }
            }
        }
        turns.of_displacement_transposed(seen);
        turns.of_start_transposed(on_begin);
        for node in nodes.iter().map(|index| &problem.nodes()[*index]) {
            for k in node.velocity_range() {
                us[k] += *reach * seen[k];
            }
        }
    }
}

/// The mapped nodes on which something acts: those with deformations.
pub(crate) fn deformed_nodes(problem: &Problem) -> Vec<usize> {
    let mut listed = vec![false; problem.nodes().len()];
    let fields = problem.force_fields().iter().map(|f| f.node);
    for node in fields.chain(problem.constraints().iter().map(|c| c.node)) {
        let is_mapped = matches!(problem.node(node).kind, NodeKind::Mapped { .. });
        listed[node.index()] |= is_mapped;
    }
    (0..listed.len()).filter(|index| listed[*index]).collect()
}

/// The part of a row in the projection that ends a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowPart {
    /// No part.
    Free,
    /// Its deformation agrees with the integrated one.
    Elastic,
    /// Held by its position, and by the velocity of that.
    Hard,
    /// Held by a velocity alone.
    Rate,
}

/// Where the deformation of a row begins a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// Where it is.
    Placed,
    /// Where it is held.
    Held,
    /// The share `g` of its gap away from there, of which it is brought back the rest between both
    /// stages: a row of bounded force on both sides.
    Returning,
}

/// A row: where it begins a step, and its part in the projection that ends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowOfStep {
    pub(crate) begins: Beginning,
    pub(crate) part: RowPart,
}

/// A step as its rows see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepOfRows<'a> {
    /// Positions of all nodes at its start and at the end of its last stage, where mappings lead, and
    /// the times (s).
    pub(crate) ends: [&'a State; 2],
    pub(crate) times: [f64; 2],
    /// Multipliers of both stages (N, N m).
    pub(crate) multipliers: [&'a [f64]; 2],
    /// `g`.
    pub(crate) gain: f64,
}

/// Share of a bound within which a multiplier is at it, as in the steps.
const AT_BOUND: f64 = 1e-12;

/// Finds the part of each row in a step.
///
/// # Errors
/// [`GradientError::NotBuilt`] for hard rows that hold one side, and are beyond it without bearing.
pub(crate) fn rows_of_step(
    problem: &Problem,
    evaluation: &Evaluation,
    step: StepOfRows<'_>,
    out: &mut Vec<RowOfStep>,
) -> Result<(), GradientError> {
    out.clear();
    for group in problem.row_groups() {
        let (motion, bounds) = (problem.motion(group), problem.bounds(group));
        for k in 0..group.size * group.count {
            let (is_hard, law) = (evaluation.is_hard(group, k), problem.row_law(group));
            let (at_place, at_rate, is_soft) = match group.component {
                ComponentId::Constraint(i) => {
                    let level = problem.constraints()[i].component.level;
                    let at_place = matches!(level, Level::Position | Level::CurvedPosition);
                    (at_place, matches!(level, Level::Velocity { .. }), false)
                }
                ComponentId::ForceField(i) => (
                    is_hard && law != RowLaw::Viscous && problem.relaxation_time(i, k) == 0.0,
                    law == RowLaw::Viscous && is_hard,
                    law == RowLaw::Elastic && !is_hard,
                ),
                ComponentId::Mass(_) => (false, false, false),
            };
            let Some(bounds) = bounds else {
                let part = match () {
                    () if at_rate => RowPart::Rate,
                    () if at_place || evaluation.holds_position(problem, group, k) => RowPart::Hard,
                    () if is_soft => RowPart::Elastic,
                    () => RowPart::Free,
                };
                let begins = if at_place {
                    Beginning::Held
                } else {
                    Beginning::Placed
                };
                out.push(RowOfStep { begins, part });
                continue;
            };
            let row = group.first_row + k;
            let x = problem.node(group.node).first_position + k;
            let [start, end] = [0, 1].map(|i| {
                let value = motion.map_or(0.0, |m| m.at(k, step.times[i]).0);
                step.ends[i].positions[x] - value
            });
            let [first, last] = step.multipliers.map(|list| list[row]);
            // A bound that is not finite is no number there, and never met.
            let is_at = |force: f64| {
                let (lower, upper) = bounds;
                force <= lower + AT_BOUND * lower.abs() || force >= upper - AT_BOUND * upper.abs()
            };
            let inside = !is_at((1.0 - step.gain) * first + step.gain * last);
            let one_sided = (bounds.0 == 0.0) != (bounds.1 == 0.0);
            let open = |gap: f64| if bounds.0 == 0.0 { gap > 0.0 } else { gap < 0.0 };
            let begins = match (at_place, one_sided) {
                (true, true) if !open(start) => Beginning::Held,
                (true, false) => Beginning::Returning,
                _ => Beginning::Placed,
            };
            if at_place && one_sided && !inside && !open(end) && end != 0.0 {
                return Err(GradientError::NotBuilt {
                    what: format!(
                        "a step of SDIRK2 that ends beyond {} without its force",
                        problem.describe_row(row)
                    ),
                    why: "it comes back behind the step: take `Integrator::Nonlinear`",
                });
            }
            let part = match () {
                () if at_rate && !is_at(last) => RowPart::Rate,
                () if inside && (is_soft || at_place) => RowPart::Elastic,
                () => RowPart::Free,
            };
            out.push(RowOfStep { begins, part });
        }
    }
    Ok(())
}

/// A stage that deformations were integrated over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leg<'a> {
    /// Positions and velocities of the independent nodes at its end.
    pub(crate) end: &'a State,
    /// The time that its velocities act for (s), and the time of its end (s).
    pub(crate) dt: f64,
    pub(crate) time: f64,
}

/// The way of deformations: from a state over stages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeformationPath<'a> {
    pub(crate) nodes: &'a [usize],
    pub(crate) rows: &'a [RowOfStep],
    /// Positions of the independent nodes at the start of the step, and the time (s).
    pub(crate) start: &'a State,
    pub(crate) time: f64,
    /// `g`.
    pub(crate) gain: f64,
}

/// Deformations on their way.
#[derive(Debug, Default)]
pub(crate) struct PathEnd {
    /// Positions of all nodes, of which those of nodes with deformations count.
    pub(crate) positions: Vec<f64>,
    /// The values that driven rows are held at, integrated.
    targets: Vec<f64>,
    /// By how much they are above the values at the time of the last leg.
    pub(crate) ahead: Vec<f64>,
    state: State,
    moved: Vec<f64>,
    /// Positions that come back between both stages, and by how much.
    returning: Vec<(usize, f64)>,
}

impl PathEnd {
    /// Walks the legs of a path with the mappings of `equations`, whose evaluation is of the last
    /// leg then.
    ///
    /// # Errors
    /// [`GradientError::Model`] where a mapping is not defined.
    pub(crate) fn walk(
        &mut self,
        equations: &mut Equations,
        path: DeformationPath<'_>,
        legs: &[Leg<'_>],
    ) -> Result<(), GradientError> {
        let Equations {
            problem, evaluation, ..
        } = equations;
        self.state.clone_from(path.start);
        evaluation.propagate(problem, &mut self.state)?;
        self.positions.clone_from(&self.state.positions);
        self.targets.clear();
        self.targets.resize(problem.row_count(), 0.0);
        self.returning.clear();
        for group in problem.row_groups() {
            let first = problem.node(group.node).first_position;
            let motion = problem.motion(group);
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                let value = motion.map_or(0.0, |m| m.at(k, path.time).0);
                self.targets[row] = value;
                if !path.nodes.contains(&group.node.index()) {
                    continue;
                }
                let x = &mut self.positions[first + k];
                match path.rows[row].begins {
                    Beginning::Placed => {}
                    Beginning::Held => *x = value,
                    Beginning::Returning => {
                        let gap = *x - value;
                        *x = value + path.gain * gap;
                        self.returning.push((first + k, (1.0 - path.gain) * gap));
                    }
                }
            }
        }
        for (at, leg) in legs.iter().enumerate() {
            if at > 0 {
                self.returning
                    .iter()
                    .for_each(|(x, left)| self.positions[*x] += left);
            }
            self.state.clone_from(leg.end);
            evaluation.propagate(problem, &mut self.state)?;
            for node in path.nodes.iter().map(|index| &problem.nodes()[*index]) {
                let velocities = &self.state.velocities[node.velocity_range()];
                self.moved.clear();
                self.moved.extend(velocities.iter().map(|v| leg.dt * v));
                let at = &mut self.positions[node.position_range()];
                node.space.retract(at, &self.moved);
            }
            self.ahead.clear();
            self.ahead.resize(self.targets.len(), 0.0);
            for group in problem.row_groups() {
                let Some(motion) = problem.motion(group) else {
                    continue;
                };
                for k in 0..group.size * group.count {
                    let row = group.first_row + k;
                    let (value, rate) = motion.at(k, leg.time);
                    self.targets[row] += leg.dt * rate;
                    self.ahead[row] = self.targets[row] - value;
                }
            }
        }
        // Other nodes are where their mappings lead.
        for (index, node) in problem.nodes().iter().enumerate() {
            if !path.nodes.contains(&index) {
                let range = node.position_range();
                self.positions[range.clone()].copy_from_slice(&self.state.positions[range]);
            }
        }
        Ok(())
    }
}
