//! What depends on the topology only: patterns and slots.

use crate::KktError;
use crate::jacobian::Jacobians;
use pliant_model::{Evaluation, Model, NodeKind, Treatment};
use pliant_solvers::KktSystem;
use pliant_sparse::{Pattern, PatternBuilder};

/// Blocks that one element of one node contributes to `W`.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) node: usize,
    pub(crate) element: usize,
    /// First of its slots in [`Plan::slots`].
    first_slot: usize,
}

/// What is attached to one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeSites {
    pub(crate) masses: Vec<usize>,
    pub(crate) stiffnesses: Vec<usize>,
    pub(crate) geometric: bool,
    pub(crate) sites: Vec<Site>,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) jacobians: Jacobians,
    pub(crate) nodes: Vec<NodeSites>,
    /// For each site, for each scalar row of its columns, for each column run up to that row: a slot of `W`.
    slots: Vec<u32>,
}

impl Plan {
    pub(crate) fn new(model: &Model, evaluation: &Evaluation) -> Result<(Self, KktSystem), KktError> {
        let mut nodes = vec![NodeSites::default(); model.nodes().len()];
        for (i, a) in model.masses().iter().enumerate() {
            nodes[a.node.index()].masses.push(i);
        }
        for (i, a) in model.force_fields().iter().enumerate() {
            if a.component.treatment == Treatment::Stiffness {
                nodes[a.node.index()].stiffnesses.push(i);
            }
        }
        for (index, node) in model.nodes().iter().enumerate() {
            if let NodeKind::Mapped { mapping, .. } = &node.kind {
                nodes[index].geometric = !mapping.is_linear();
            }
        }
        let mut wanted: Vec<bool> = nodes
            .iter()
            .map(|n| n.geometric || !n.masses.is_empty() || !n.stiffnesses.is_empty())
            .collect();
        for group in model.row_groups() {
            wanted[group.node.index()] = true;
        }
        let jacobians = Jacobians::plan(model, evaluation, &wanted);

        let w = response_pattern(model, &nodes, &jacobians)?;
        let mut slots = Vec::new();
        for (node, entry) in nodes.iter_mut().enumerate() {
            if !entry.geometric && entry.masses.is_empty() && entry.stiffnesses.is_empty() {
                continue;
            }
            for element in 0..model.nodes()[node].count {
                entry.sites.push(Site {
                    node,
                    element,
                    first_slot: slots.len(),
                });
                let columns = jacobians.columns(node, element);
                for (a, one) in columns.iter().enumerate() {
                    for i in 0..one.size {
                        for other in &columns[..=a] {
                            let slot = w.slot(one.dof + i, other.dof);
                            // The pattern was made from the same columns.
                            slots.push(slot.map_or(u32::MAX, |s| s as u32));
                        }
                    }
                }
            }
        }
        let (mut j, mut r) = (
            PatternBuilder::new(model.row_count(), model.dof_count()),
            PatternBuilder::new(model.row_count(), model.row_count()),
        );
        let mut row_blocks = vec![0];
        for group in model.row_groups() {
            for e in 0..group.count {
                let first = group.first_row + e * group.size;
                for column in jacobians.columns(group.node.index(), e) {
                    j.insert_block((first, column.dof), (group.size, column.size), false);
                }
                r.insert_block((first, first), (group.size, group.size), true);
                row_blocks.push(first + group.size);
            }
        }
        let mut primal_blocks = vec![0];
        for node in model.nodes() {
            if let Some(first) = node.first_dof() {
                let size = node.space.velocity_size();
                primal_blocks.extend((1..=node.count).map(|e| first + e * size));
            }
        }
        let system = KktSystem::new(w, j.finish()?, r.finish()?, primal_blocks, row_blocks)?;
        Ok((
            Self {
                jacobians,
                nodes,
                slots,
            },
            system,
        ))
    }

    /// Adds the lower triangle of a dense symmetric block over the columns of a site to the values of `W`.
    pub(crate) fn add_to_response(&self, site: &Site, block: &[f64], values: &mut [f64]) {
        let columns = self.jacobians.columns(site.node, site.element);
        let width = self.jacobians.width(site.node, site.element);
        let mut slot = site.first_slot;
        for (a, one) in columns.iter().enumerate() {
            for i in 0..one.size {
                let row = &block[(one.at + i) * width..][..width];
                for (b, other) in columns[..=a].iter().enumerate() {
                    let size = if a == b { i + 1 } else { other.size };
                    let target = &mut values[self.slots[slot] as usize..][..size];
                    for (t, v) in target.iter_mut().zip(&row[other.at..]) {
                        *t += v;
                    }
                    slot += 1;
                }
            }
        }
    }
}

/// The pattern of `W`: the diagonal block of every independent element and all pairs of columns of every site.
fn response_pattern(model: &Model, nodes: &[NodeSites], jacobians: &Jacobians) -> Result<Pattern, KktError> {
    let n = model.dof_count();
    let mut w = PatternBuilder::new(n, n);
    for node in model.nodes() {
        if let Some(first) = node.first_dof() {
            let size = node.space.velocity_size();
            for e in 0..node.count {
                w.insert_block((first + e * size, first + e * size), (size, size), true);
            }
        }
    }
    for (node, entry) in nodes.iter().enumerate() {
        if !entry.geometric && entry.masses.is_empty() && entry.stiffnesses.is_empty() {
            continue;
        }
        for e in 0..model.nodes()[node].count {
            let columns = jacobians.columns(node, e);
            for (a, one) in columns.iter().enumerate() {
                for other in &columns[..=a] {
                    w.insert_block((one.dof, other.dof), (one.size, other.size), true);
                }
            }
        }
    }
    Ok(w.finish()?)
}
