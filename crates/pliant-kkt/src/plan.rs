//! Patterns and slots: the part of a system that depends on the topology only.

mod bundle;

pub(crate) use bundle::{Bundle, DependencyCoordinate, Run, Sizes, sum_of};

use crate::KktError;
use crate::jacobian::{Column, ColumnSource, Jacobians};
use pliant_model::{ComponentId, Evaluation, Groups, NodeId, NodeKind, Problem, Space, Treatment};
use pliant_solvers::KktSystem;
use pliant_sparse::{Pattern, PatternBuilder};

/// A dense symmetric block of `W`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) place: ColumnSource,
    /// First of its slots in [`Plan::slots`].
    first_slot: usize,
}

impl Site {
    fn new(place: ColumnSource) -> Self {
        Self { place, first_slot: 0 }
    }
}

/// Components attached to one node, element by element.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeSites {
    pub(crate) masses: Vec<usize>,
    pub(crate) stiffnesses: Vec<usize>,
    pub(crate) geometric: bool,
    /// Whether forces on the node, carried further up, meet geometric stiffness there.
    pub(crate) geometric_above: bool,
    /// Whether a [`Bundle`] has them; there are no sites then.
    pub(crate) bundled: bool,
    pub(crate) sites: Vec<Site>,
}

impl NodeSites {
    fn is_empty(&self) -> bool {
        !self.geometric && self.masses.is_empty() && self.stiffnesses.is_empty()
    }
}

/// A group of elements that a mass or a stiffness couples.
#[derive(Clone, Debug)]
pub(crate) struct CoupledSite {
    pub(crate) source: ComponentId,
    pub(crate) node: usize,
    pub(crate) group: usize,
    pub(crate) elements: Vec<usize>,
    pub(crate) site: Site,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) jacobians: Jacobians,
    pub(crate) nodes: Vec<NodeSites>,
    pub(crate) coupled: Vec<CoupledSite>,
    pub(crate) bundles: Vec<Bundle>,
    /// For each site, for each scalar row of its columns, for each column run up to that row: a
    /// slot of `W`.
    slots: Vec<u32>,
    /// The nodes on which something acts, and those that they hang on.
    pub(crate) acting: Vec<bool>,
}

impl Plan {
    pub(crate) fn new(
        problem: &Problem,
        evaluation: &Evaluation,
        transient: &[NodeId],
    ) -> Result<(Self, KktSystem), KktError> {
        let mut nodes = vec![NodeSites::default(); problem.nodes().len()];
        let mut groups: Vec<(ComponentId, usize, Vec<Vec<usize>>)> = Vec::new();
        for (i, a) in problem.masses().iter().enumerate() {
            match a.component.groups() {
                Groups::Each => nodes[a.node.index()].masses.push(i),
                Groups::Of(lists) => groups.push((ComponentId::Mass(i), a.node.index(), lists)),
            }
        }
        for (i, a) in problem.force_fields().iter().enumerate() {
            if problem.treatment(i) == Treatment::Stiffness {
                match a.component.law.groups() {
                    Groups::Each => nodes[a.node.index()].stiffnesses.push(i),
                    Groups::Of(lists) => groups.push((ComponentId::ForceField(i), a.node.index(), lists)),
                }
            }
        }
        for (index, node) in problem.nodes().iter().enumerate() {
            if let NodeKind::Mapped { mapping, parents, .. } = &node.kind {
                nodes[index].geometric = !mapping.is_linear();
                nodes[index].geometric_above = parents.iter().any(|p| {
                    let above = &nodes[p.index()];
                    above.geometric || above.geometric_above || problem.node(*p).space == Space::Rigid3
                });
            }
        }
        let mut bundles = bundle::plan(problem, evaluation, &nodes);
        for bundle in &bundles {
            nodes[bundle.node].bundled = true;
            bundle.hanging.iter().for_each(|h| nodes[h.node].bundled = true);
        }
        let mut wanted: Vec<bool> = nodes.iter().map(|n| !n.bundled && !n.is_empty()).collect();
        for a in problem.force_fields().iter().filter(|a| a.component.automatic) {
            wanted[a.node.index()] = true;
        }
        for group in problem.row_groups() {
            wanted[group.node.index()] = true;
        }
        for (_, node, _) in &groups {
            wanted[*node] = true;
        }
        for node in transient {
            wanted[node.index()] = true;
        }
        let acting = acting(problem, transient);
        let mut jacobians = Jacobians::plan(problem, evaluation, &wanted);

        let with_sites = |n: &NodeSites| !n.bundled && !n.is_empty();
        for (node, entry) in nodes.iter_mut().enumerate().filter(|(_, n)| with_sites(n)) {
            let elements = 0..problem.nodes()[node].count;
            entry.sites = elements
                .map(|e| Site::new(ColumnSource::Element(node, e)))
                .collect();
        }
        let mut coupled = Vec::new();
        for (source, node, lists) in groups {
            for (group, elements) in lists.into_iter().enumerate() {
                let site = Site::new(jacobians.gather(node, &elements));
                coupled.push(CoupledSite {
                    source,
                    node,
                    group,
                    elements,
                    site,
                });
            }
        }
        let elsewhere = columns_of_other_processes(problem, &nodes, &bundles, &jacobians);
        let mut sites: Vec<&mut Site> = nodes
            .iter_mut()
            .flat_map(|n| &mut n.sites)
            .chain(coupled.iter_mut().map(|c| &mut c.site))
            .chain(
                bundles
                    .iter_mut()
                    .flat_map(|b| b.runs.iter_mut().map(|r| &mut r.site)),
            )
            .collect();
        let w = response_pattern(problem, &sites, &jacobians, &elsewhere)?;
        let mut slots = Vec::new();
        for site in &mut sites {
            site.first_slot = slots.len();
            let columns = jacobians.columns_of(site.place);
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
        let (mut j, mut r) = (
            PatternBuilder::new(problem.row_count(), problem.dof_count()),
            PatternBuilder::new(problem.row_count(), problem.row_count()),
        );
        let mut row_blocks = vec![0];
        for group in problem.row_groups() {
            for e in 0..group.count {
                let first = group.first_row + e * group.size;
                for column in jacobians.columns(group.node.index(), e) {
                    j.insert_block((first, column.dof), (group.size, column.size), false);
                }
            }
            let coupled = match group.component {
                ComponentId::ForceField(i) => evaluation.groups(i),
                _ => &[],
            };
            let mut blocks: Vec<usize> = coupled.iter().map(Vec::len).collect();
            if blocks.is_empty() {
                blocks = vec![1; group.count];
            }
            let mut first = group.first_row;
            for size in blocks
                .into_iter()
                .map(|elements| elements * group.size)
                .filter(|s| *s > 0)
            {
                r.insert_block((first, first), (size, size), true);
                first += size;
                row_blocks.push(first);
            }
        }
        let mut primal_blocks = vec![0];
        for node in problem.nodes() {
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
                coupled,
                bundles,
                slots,
                acting,
            },
            system,
        ))
    }

    /// Adds the lower triangle of a dense symmetric block over the columns of a site to the values
    /// of `W`.
    pub(crate) fn add_to_response(&self, site: &Site, block: &[f64], values: &mut [f64]) {
        let columns = self.jacobians.columns_of(site.place);
        if let [Column { size: 6, .. }] = columns {
            add_triangle(&self.slots[site.first_slot..], block, values);
            return;
        }
        let width = self.jacobians.width_of(site.place);
        let mut slot = site.first_slot;
        for (a, one) in columns.iter().enumerate() {
            for i in 0..one.size {
                let row = &block[(one.at + i) * width..][..width];
                for (b, other) in columns[..=a].iter().enumerate() {
                    let size = if a == b { i + 1 } else { other.size };
                    let (values, row) = (&mut values[self.slots[slot] as usize..], &row[other.at..]);
                    match size {
                        6 => add::<6>(values, row),
                        3 => add::<3>(values, row),
                        2 => add::<2>(values, row),
                        1 => add::<1>(values, row),
                        _ => values[..size].iter_mut().zip(row).for_each(|(t, v)| *t += v),
                    }
                    slot += 1;
                }
            }
        }
    }
}

/// The nodes that are independent or on which a component or a transient row acts, and those that
/// they hang on.
fn acting(problem: &Problem, transient: &[NodeId]) -> Vec<bool> {
    let mut acting: Vec<bool> = problem.nodes().iter().map(|n| n.first_dof().is_some()).collect();
    let masses = problem.masses().iter().map(|a| a.node);
    let fields = problem.force_fields().iter().map(|a| a.node);
    let constraints = problem.constraints().iter().map(|a| a.node);
    for node in masses
        .chain(fields)
        .chain(constraints)
        .chain(transient.iter().copied())
    {
        acting[node.index()] = true;
    }
    // Parents come first in the arena.
    for (index, node) in problem.nodes().iter().enumerate().rev() {
        if let (NodeKind::Mapped { parents, .. }, true) = (&node.kind, acting[index]) {
            parents.iter().for_each(|p| acting[p.index()] = true);
        }
    }
    acting
}

/// Adds the first numbers: as many as particles have, mostly, known to the compiler.
#[inline(always)]
fn add<const SIZE: usize>(to: &mut [f64], from: &[f64]) {
    let (to, from) = (&mut to[..SIZE], &from[..SIZE]);
    for k in 0..SIZE {
        to[k] += from[k];
    }
}

/// Adds the lower triangle of a block of six, the one of a body, whose rows begin at the slots.
#[inline(always)]
fn add_triangle(slots: &[u32], block: &[f64], values: &mut [f64]) {
    let (slots, block) = (&slots[..6], &block[..36]);
    add::<1>(&mut values[slots[0] as usize..], block);
    add::<2>(&mut values[slots[1] as usize..], &block[6..]);
    add::<3>(&mut values[slots[2] as usize..], &block[12..]);
    add::<4>(&mut values[slots[3] as usize..], &block[18..]);
    add::<5>(&mut values[slots[4] as usize..], &block[24..]);
    add::<6>(&mut values[slots[5] as usize..], &block[30..]);
}

/// The columns, by first degree of freedom and size, of each site on elements that processes share
/// out, of all of them.
fn columns_of_other_processes(
    problem: &Problem,
    nodes: &[NodeSites],
    bundles: &[Bundle],
    jacobians: &Jacobians,
) -> Vec<Vec<(usize, usize)>> {
    let Some(processes) = problem.processes() else {
        return Vec::new();
    };
    let is_shared = |node: usize| problem.element_share(node).is_some();
    let of_nodes = nodes.iter().enumerate().filter(|(node, _)| is_shared(*node));
    let of_bundles = bundles.iter().filter(|bundle| is_shared(bundle.node));
    let sites = of_nodes.flat_map(|(_, entry)| &entry.sites);
    let sites = sites.chain(of_bundles.flat_map(|bundle| bundle.runs.iter().map(|run| &run.site)));
    // One site after the other: how many columns, and the two numbers of each.
    let mut own = Vec::new();
    for site in sites {
        let columns = jacobians.columns_of(site.place);
        own.push(columns.len() as f64);
        own.extend(columns.iter().flat_map(|c| [c.dof as f64, c.size as f64]));
    }
    let mut lengths = vec![0.0; processes.count()];
    lengths[processes.rank()] = own.len() as f64;
    processes.sum(&mut lengths);
    let first: f64 = lengths[..processes.rank()].iter().sum();
    let mut all = vec![0.0; lengths.iter().sum::<f64>() as usize];
    all[first as usize..][..own.len()].copy_from_slice(&own);
    processes.sum(&mut all);
    let (mut out, mut rest) = (Vec::new(), &all[..]);
    while let [count, others @ ..] = rest {
        let (columns, others) = others.split_at(2 * *count as usize);
        let pairs = columns.as_chunks::<2>().0.iter();
        out.push(pairs.map(|[dof, size]| (*dof as usize, *size as usize)).collect());
        rest = others;
    }
    out
}

/// The pattern of `W`: the diagonal block of every independent element and all pairs of columns of
/// every site, those of other processes too.
fn response_pattern(
    problem: &Problem,
    sites: &[&mut Site],
    jacobians: &Jacobians,
    elsewhere: &[Vec<(usize, usize)>],
) -> Result<Pattern, KktError> {
    let n = problem.dof_count();
    let mut w = PatternBuilder::new(n, n);
    for node in problem.nodes() {
        if let Some(first) = node.first_dof() {
            let size = node.space.velocity_size();
            for e in 0..node.count {
                w.insert_block((first + e * size, first + e * size), (size, size), true);
            }
        }
    }
    for site in sites {
        let columns = jacobians.columns_of(site.place);
        for (a, one) in columns.iter().enumerate() {
            for other in &columns[..=a] {
                w.insert_block((one.dof, other.dof), (one.size, other.size), true);
            }
        }
    }
    for columns in elsewhere {
        for (a, one) in columns.iter().enumerate() {
            for other in &columns[..=a] {
                w.insert_block((one.0, other.0), (one.1, other.1), true);
            }
        }
    }
    Ok(w.finish()?)
}
