//! The residuals of rows by their laws, on the coordinates of their nodes.

use pliant_model::{At, Blocks, ComponentId, Level, Node, Problem, RowGroup, RowLaw, State};

/// The laws of rows, with room to evaluate them.
#[derive(Debug, Default)]
pub(crate) struct RowLaws {
    /// Compliance and damping of each force field, once its rows were evaluated.
    blocks: Vec<Option<[Blocks; 2]>>,
    deformation: Vec<f64>,
    out: Vec<f64>,
}

/// The arguments of the laws of the rows of one group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowArguments<'a> {
    /// Time (s), for rows that are driven.
    pub(crate) time: f64,
    /// Positions and velocities of their node.
    pub(crate) x: &'a [f64],
    pub(crate) v: &'a [f64],
    /// Their multipliers (N, N m).
    pub(crate) multipliers: &'a [f64],
}

impl<'a> RowArguments<'a> {
    /// The arguments that a state has for the rows on a node, with their multipliers.
    pub(crate) fn of(state: &'a State, node: &Node, multipliers: &'a [f64], time: f64) -> Self {
        Self {
            time,
            x: &state.positions[node.position_range()],
            v: &state.velocities[node.velocity_range()],
            multipliers,
        }
    }
}

impl RowLaws {
    /// Writes the residuals of the rows of one group.
    pub(crate) fn evaluate(
        &mut self,
        problem: &Problem,
        group: &RowGroup,
        at: RowArguments<'_>,
        out: &mut [f64],
    ) {
        let motion = problem.motion(group);
        let target = |k: usize| motion.map_or((0.0, 0.0), |m| m.at(k, at.time));
        let count = group.size * group.count;
        match group.component {
            ComponentId::Mass(_) => out.fill(0.0),
            ComponentId::Constraint(i) => {
                for k in 0..count {
                    let (value, rate) = target(k);
                    let (gap, u) = (at.x[k] - value, at.v[k] - rate);
                    out[k] = match problem.constraints()[i].component.level {
                        Level::Position | Level::CurvedPosition => gap,
                        Level::Velocity { .. } | Level::Restitution { .. } => u,
                        Level::Baumgarte { rate } => u + rate * gap,
                    };
                }
            }
            ComponentId::ForceField(i) => {
                let law = &problem.force_fields()[i].component.law;
                let here = At {
                    space: problem.node(group.node).space,
                    x: at.x,
                    v: at.v,
                    inputs: problem.inputs(i),
                };
                self.blocks.resize_with(problem.force_fields().len(), || None);
                let [compliance, damping] = self.blocks[i].get_or_insert_with(|| {
                    let lists = law.groups().lists(group.count);
                    let widths = lists.iter().map(|l| l.len() * group.size);
                    [0, 1].map(|_| Blocks::new(widths.clone().map(|w| (w, w))))
                });
                compliance.clear();
                law.compliance(here, compliance);
                damping.clear();
                let damped = law.row_damping(here, damping);
                self.deformation.clear();
                self.deformation.resize(count, 0.0);
                law.deformation(here, &mut self.deformation);
                let viscous = problem.row_law(group) == RowLaw::Viscous;
                // `C` times this is the strain.
                self.out.clear();
                self.out.extend_from_slice(at.multipliers);
                let mut first = 0;
                for g in 0..compliance.len() {
                    let width = compliance.width(g);
                    if damped && !viscous {
                        for (l, row) in damping.block(g).chunks_exact(width.max(1)).enumerate() {
                            let u = (0..width).map(|p| at.v[first + p] - target(first + p).1);
                            self.out[first + l] += row.iter().zip(u).map(|(d, u)| d * u).sum::<f64>();
                        }
                    }
                    first += width;
                }
                let mut first = 0;
                for g in 0..compliance.len() {
                    let width = compliance.width(g);
                    for (l, row) in compliance.block(g).chunks_exact(width.max(1)).enumerate() {
                        let k = first + l;
                        let (value, rate) = target(k);
                        let terms = row.iter().zip(&self.out[first..]);
                        let strain: f64 = terms.map(|(c, f)| c * f).sum();
                        let u = at.v[k] - rate;
                        out[k] = match viscous {
                            true => strain + u,
                            false => strain + self.deformation[k] - value + problem.relaxation_time(i, k) * u,
                        };
                    }
                    first += width;
                }
            }
        }
    }

    /// The compliance of a force field as last evaluated.
    pub(crate) fn compliance(&self, force_field: usize) -> Option<&Blocks> {
        self.blocks.get(force_field)?.as_ref().map(|[c, _]| c)
    }
}
