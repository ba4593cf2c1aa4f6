//! Elements of mapped nodes shared out among processes.

mod agreement;

use super::{ComponentId, Model, NodeId, NodeKind};
use crate::{Dependency, ForceField, Mapping, ModelError, Space, State, Treatment};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Fewest elements of a node for each process that are shared out.
const LEAST: usize = 4;

/// Processes that evaluate one model together, each some of the elements.
pub trait Processes: Debug + Send + Sync {
    /// The number of this process, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn count(&self) -> usize;

    /// Replaces numbers by their sums over all processes, which are the same bits on each of them;
    /// NaN where they cannot be had. All processes call it, with as many numbers.
    fn sum(&self, values: &mut [f64]);
}

/// The elements of a mapping that are left to a process, for [`Mapping::restrict`].
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    /// Elements of the child.
    pub elements: &'a Range<usize>,
    /// Elements of each parent: all of them, but where that is shared out as well.
    pub parents: &'a [Range<usize>],
}

impl Kept<'_> {
    /// A dependency with the number that its element has among those that are left.
    pub fn renumber(&self, at: Dependency) -> Dependency {
        Dependency::new(at.parent, at.element - self.parents[at.parent].start)
    }
}

/// The place of the elements of a node that this process evaluates among those of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementShare {
    /// The first of them.
    pub first: usize,
    /// How many elements all processes have.
    pub total: usize,
}

/// The shares of a model whose elements are shared out.
#[derive(Debug)]
pub(crate) struct SharedElements {
    processes: Arc<dyn Processes>,
    /// The share of each node; `None` where this process has all elements.
    shares: Vec<Option<ElementShare>>,
    /// Velocities of the independent nodes that shared ones hang on.
    seams: Vec<Range<usize>>,
    /// Room for the numbers of the seams.
    room: Mutex<Vec<f64>>,
}

impl SharedElements {
    /// Has `add` add what the elements of this process do to numbers of all nodes, of independent
    /// ones nothing else, and completes the independent ones by the other processes'.
    fn complete<const N: usize>(&self, mut lists: [&mut [f64]; N], add: impl FnOnce([&mut [f64]; N])) {
        // A thread that panicked leaves numbers that are written before they are read.
        let mut whole = self
            .room
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        whole.clear();
        for list in &mut lists {
            for seam in &self.seams {
                whole.extend_from_slice(&list[seam.clone()]);
                list[seam.clone()].fill(0.0);
            }
        }
        add(lists.each_mut().map(|list| &mut **list));
        let mut rest = &whole[..];
        for list in &mut lists {
            for seam in &self.seams {
                let own = &mut list[seam.clone()];
                self.processes.sum(own);
                let (first, others) = rest.split_at(own.len());
                own.iter_mut().zip(first).for_each(|(v, w)| *v += w);
                rest = others;
            }
        }
    }
}

/// A mapping or a force field that has some of the elements.
#[derive(Debug, Default)]
struct Restricted {
    mapping: Option<Box<dyn Mapping>>,
    laws: Vec<(usize, Box<dyn ForceField>)>,
}

impl Model {
    /// Shares the elements of mapped nodes out among processes, so that each evaluates, and adds to
    /// the matrices, its own alone.
    ///
    /// ```math
    /// f = f_0 + sum_p J_p^T f_p,   W = W_0 + sum_p J_p^T (K_p - G_p) J_p
    /// ```
    ///
    /// over the elements of each process `p`, beside the terms `f_0`, `W_0` of what is whole (`W` of
    /// rest; that of a step has masses and gains). The independent coordinates with their masses,
    /// rows and what these act on stay whole on every process, and so do the sums, which an
    /// [`Evaluation`](crate::Evaluation) and the assembler complete wherever a force arrives at
    /// independent coordinates and wherever `W` is filled: whoever goes on with them finds the same
    /// bits on all processes, and takes the same steps.
    ///
    /// Shared out are nodes that hang, over others of this kind, on independent ones alone, where
    /// all on them and below are mappings and stiffnesses that can be
    /// [restricted](Mapping::restrict): the strains of solids and sheets, springs. A node in
    /// `whole`, with rows, masses or laws with a memory stays whole, and with it all that it
    /// hangs on or that hangs on it. The elements of a process follow each other, and positions,
    /// velocities and forces of such a node are theirs alone
    /// ([`gather_elements`](Self::gather_elements) has all). With one process nothing changes. Cost:
    /// a pass over all elements, and a copy of the part that stays.
    pub fn share_out(mut self, processes: Arc<dyn Processes>, whole: &[NodeId]) -> Self {
        if processes.count() < 2 || self.shared.is_some() {
            return self;
        }
        let mut can = vec![true; self.nodes.len()];
        for id in whole {
            can[id.0] = false;
        }
        let mut cuts = vec![Vec::new(); self.nodes.len()];
        let mut restricted: Vec<Restricted> = Vec::new();
        restricted.resize_with(self.nodes.len(), Restricted::default);
        self.refuse_whole(&mut can);
        // What can be cut, parents first; whether all around it can, until nothing changes.
        for index in 0..self.nodes.len() {
            can[index] = can[index] && self.cut(index, &can, &mut cuts, processes.count());
        }
        loop {
            let before = can.clone();
            self.refuse_with_others(&mut can);
            for (index, node) in restricted.iter_mut().enumerate() {
                if can[index] && node.mapping.is_none() {
                    can[index] = self.restrict(index, &can, &cuts, processes.rank(), node);
                }
            }
            self.refuse_with_others(&mut can);
            if can == before {
                break;
            }
        }
        if !can.contains(&true) {
            return self;
        }
        self.install(&can, &cuts, restricted, processes);
        self
    }

    /// Refuses nodes that are independent or have masses, rows, or laws that may become rows.
    fn refuse_whole(&self, can: &mut [bool]) {
        for (can, node) in can.iter_mut().zip(&self.nodes) {
            *can &= node.first_dof().is_none();
        }
        for mass in &self.masses {
            can[mass.node.0] = false;
        }
        for constraint in &self.constraints {
            can[constraint.node.0] = false;
        }
        for (i, field) in self.force_fields.iter().enumerate() {
            let entry = &field.component;
            let stiff = self.initial.treatment(i) == Treatment::Stiffness && !entry.automatic;
            can[field.node.0] &= stiff && entry.law.memory().is_none() && entry.law.has_potential();
        }
    }

    /// Refuses nodes beside which something that they hang on, or that hangs on them, is refused.
    fn refuse_with_others(&self, can: &mut [bool]) {
        loop {
            let before = can.to_vec();
            for (index, node) in self.nodes.iter().enumerate() {
                let NodeKind::Mapped { parents, .. } = &node.kind else {
                    continue;
                };
                let is_mapped = |p: &NodeId| self.nodes[p.0].first_dof().is_none();
                can[index] &= parents.iter().all(|p| can[p.0] || !is_mapped(p));
                if !can[index] {
                    parents.iter().for_each(|p| can[p.0] = false);
                }
            }
            if before == can {
                return;
            }
        }
    }

    /// Cuts the elements of a node where those of its parents are cut, or else in even parts, so
    /// that elements which follow each other with the same dependencies stay together. Whether that
    /// can be.
    fn cut(&self, index: usize, can: &[bool], cuts: &mut [Vec<usize>], parts: usize) -> bool {
        let node = &self.nodes[index];
        let NodeKind::Mapped { mapping, parents, .. } = &node.kind else {
            return false;
        };
        let on = |element: usize| {
            let mut list = Vec::new();
            mapping.dependencies(element, &mut list);
            list
        };
        let mut own = vec![0];
        if parents.iter().any(|p| can[p.0]) {
            let part_of = |element: usize| {
                let mut part = None;
                for at in on(element) {
                    let parent = parents[at.parent].0;
                    if can[parent] {
                        let found = cuts[parent].partition_point(|end| *end <= at.element) - 1;
                        if part.is_some_and(|part| part != found) {
                            return None;
                        }
                        part = Some(found);
                    }
                }
                part
            };
            for element in 0..node.count {
                match part_of(element) {
                    Some(part) if part + 1 == own.len() => {}
                    // The first element of the next part.
                    Some(part) if part == own.len() && element > 0 => own.push(element),
                    _ => return false,
                }
            }
            if own.len() != parts {
                return false;
            }
        } else {
            if node.count < LEAST * parts {
                return false;
            }
            for part in 1..parts {
                let mut at = (node.count * part / parts).max(own[part - 1] + 1);
                while at < node.count && on(at) == on(at - 1) {
                    at += 1;
                }
                if at >= node.count {
                    return false;
                }
                own.push(at);
            }
        }
        own.push(node.count);
        cuts[index] = own;
        true
    }

    /// Makes the mapping and the laws of the elements of one process; whether there are any.
    fn restrict(
        &self,
        index: usize,
        can: &[bool],
        cuts: &[Vec<usize>],
        rank: usize,
        out: &mut Restricted,
    ) -> bool {
        let (space, kind) = (self.nodes[index].space, &self.nodes[index].kind);
        let NodeKind::Mapped { mapping, parents, .. } = kind else {
            return false;
        };
        let of_part = |cuts: &[usize]| cuts[rank]..cuts[rank + 1];
        let elements = of_part(&cuts[index]);
        let of_parent = |p: &NodeId| match can[p.0] {
            true => of_part(&cuts[p.0]),
            false => 0..self.nodes[p.0].count,
        };
        let of_parents: Vec<_> = parents.iter().map(of_parent).collect();
        let kept = Kept {
            elements: &elements,
            parents: &of_parents,
        };
        out.mapping = mapping.restrict(kept);
        out.laws.clear();
        let fields = self.force_fields.iter().enumerate();
        for (i, field) in fields.filter(|(_, field)| field.node.0 == index) {
            match field.component.law.restrict(space, elements.clone()) {
                Some(law) => out.laws.push((i, law)),
                None => out.mapping = None,
            }
        }
        out.mapping.is_some()
    }

    /// Puts what was restricted in the place of what is whole, and numbers all nodes anew.
    fn install(
        &mut self,
        can: &[bool],
        cuts: &[Vec<usize>],
        restricted: Vec<Restricted>,
        processes: Arc<dyn Processes>,
    ) {
        let rank = processes.rank();
        let mut shares = vec![None; self.nodes.len()];
        for (index, own) in restricted.into_iter().enumerate() {
            let (true, Some(mine)) = (can[index], own.mapping) else {
                continue;
            };
            let node = &mut self.nodes[index];
            if let NodeKind::Mapped { mapping, .. } = &mut node.kind {
                *mapping = Arc::from(mine);
            }
            shares[index] = Some(ElementShare {
                first: cuts[index][rank],
                total: node.count,
            });
            node.count = cuts[index][rank + 1] - cuts[index][rank];
            for (i, law) in own.laws {
                self.force_fields[i].component.law = Arc::from(law);
            }
        }
        (self.positions, self.velocities) = (0, 0);
        let mut begins: Vec<(usize, usize, Space)> = Vec::with_capacity(self.nodes.len());
        let mut seams = vec![false; self.nodes.len()];
        for (index, node) in self.nodes.iter_mut().enumerate() {
            (node.first_position, node.first_velocity) = (self.positions, self.velocities);
            self.positions += node.count * node.space.position_size();
            self.velocities += node.count * node.space.velocity_size();
            begins.push((node.first_position, node.first_velocity, node.space));
            if let NodeKind::Mapped { parents, ranges, .. } = &mut node.kind {
                for (range, parent) in ranges.iter_mut().zip(&*parents) {
                    *range = begins[parent.0];
                    seams[parent.0] |= shares[index].is_some() && shares[parent.0].is_none();
                }
            }
        }
        let seams = self.nodes.iter().zip(seams).filter(|(_, is_seam)| *is_seam);
        self.shared = Some(SharedElements {
            processes,
            seams: seams.map(|(node, _)| node.velocity_range()).collect(),
            shares,
            room: Mutex::default(),
        });
    }

    /// The share of a node in its elements that this process has, by its number; `None` where that
    /// is all of them.
    pub fn element_share(&self, node: usize) -> Option<ElementShare> {
        self.shared.as_ref().and_then(|shared| shared.shares[node])
    }

    /// The elements that processes share out, of all nodes: those of this process, and of all.
    pub fn shared_elements(&self) -> Option<[usize; 2]> {
        let shared = self.shared.as_ref()?;
        let nodes = self.nodes.iter().zip(&shared.shares);
        Some(nodes.fold([0, 0], |[own, all], (node, share)| match share {
            Some(share) => [own + node.count, all + share.total],
            None => [own, all],
        }))
    }

    /// The processes among which elements are shared out.
    pub fn processes(&self) -> Option<&dyn Processes> {
        self.shared.as_ref().map(|shared| &*shared.processes)
    }

    /// The sum over all processes of a number of the elements of each, which are shared out.
    pub fn sum_over_processes(&self, own: f64) -> f64 {
        let mut sum = [own];
        if let Some(shared) = &self.shared {
            shared.processes.sum(&mut sum);
        }
        sum[0]
    }

    /// Numbers of all elements of a node, `size` for each, out of those of the elements of each
    /// process. All processes call it.
    ///
    /// # Panics
    /// If there are not as many numbers as this process has.
    pub fn gather_elements(&self, node: NodeId, size: usize, own: &[f64]) -> Vec<f64> {
        assert_eq!(own.len(), self.nodes[node.0].count * size);
        let (Some(shared), Some(share)) = (&self.shared, self.element_share(node.0)) else {
            return own.to_vec();
        };
        let mut all = vec![0.0; share.total * size];
        all[share.first * size..][..own.len()].copy_from_slice(own);
        shared.processes.sum(&mut all);
        all
    }

    /// Has `add` add what the shared elements of this process do to numbers of all nodes, in one or
    /// several lists, and completes those of independent nodes by the other processes' elements.
    /// Where no elements are shared out it adds nothing.
    pub fn complete<const N: usize>(&self, lists: [&mut [f64]; N], add: impl FnOnce([&mut [f64]; N])) {
        if let Some(shared) = &self.shared {
            shared.complete(lists, add);
        }
    }

    /// A state as one of the model whose elements nobody shares out: places of the elements of
    /// other processes are zero. They follow from independent coordinates.
    pub fn widen_state(&self, state: &State) -> State {
        State {
            positions: self.widen(&state.positions, Space::position_size),
            velocities: self.widen_velocities(&state.velocities),
            internal: state.internal.clone(),
        }
    }

    /// Velocities, or forces, of all nodes, widened as [`widen_state`](Self::widen_state) does;
    /// none if there are none.
    pub fn widen_velocities(&self, own: &[f64]) -> Vec<f64> {
        self.widen(own, Space::velocity_size)
    }

    /// The part of this process in a state of the model whose elements nobody shares out; one that
    /// has another size than that is returned as it is.
    pub fn narrow_state(&self, state: &State) -> State {
        State {
            positions: self.narrow(&state.positions, Space::position_size),
            velocities: self.narrow_velocities(&state.velocities),
            internal: state.internal.clone(),
        }
    }

    /// The part of this process in velocities, or forces, of all nodes, as
    /// [`narrow_state`](Self::narrow_state) has it.
    pub fn narrow_velocities(&self, whole: &[f64]) -> Vec<f64> {
        self.narrow(whole, Space::velocity_size)
    }

    /// Counts of numbers of each node in the model that nobody shares out: of elements before those
    /// of this process, of its own, and of those after them.
    fn widths(&self, size: impl Fn(Space) -> usize) -> impl Iterator<Item = [usize; 3]> {
        self.nodes.iter().enumerate().map(move |(index, node)| {
            let size = size(node.space);
            let share = self.element_share(index);
            let (first, total) = share.map_or((0, node.count), |share| (share.first, share.total));
            [first, node.count, total - first - node.count].map(|elements| elements * size)
        })
    }

    fn widen(&self, own: &[f64], size: impl Fn(Space) -> usize) -> Vec<f64> {
        if own.is_empty() {
            return Vec::new();
        }
        let (mut out, mut rest) = (Vec::new(), own);
        for [before, own, after] in self.widths(size) {
            out.resize(out.len() + before, 0.0);
            let (mine, others) = rest.split_at(own);
            out.extend_from_slice(mine);
            out.resize(out.len() + after, 0.0);
            rest = others;
        }
        out
    }

    fn narrow(&self, whole: &[f64], size: impl Fn(Space) -> usize + Copy) -> Vec<f64> {
        let all: usize = self.widths(size).flatten().sum();
        if whole.len() != all {
            return whole.to_vec();
        }
        let (mut out, mut rest) = (Vec::new(), whole);
        for [before, own, after] in self.widths(size) {
            out.extend_from_slice(&rest[before..before + own]);
            rest = &rest[before + own + after..];
        }
        out
    }

    /// Ends with an error on all processes where one of them has one, whose element has its number
    /// among those of all.
    pub(crate) fn agree(&self, own: Result<(), ModelError>) -> Result<(), ModelError> {
        match &self.shared {
            Some(shared) => shared.agree(own.map_err(|error| self.number_among_all(error))),
            None => own,
        }
    }

    /// Replaces the number of an element in an error by that among the elements of all processes.
    fn number_among_all(&self, mut error: ModelError) -> ModelError {
        let (node, element) = match &mut error {
            ModelError::Degenerate { name, cause, .. } => (self.node_named(name), &mut cause.element),
            ModelError::NotInvertible { name, element } => match self.component_named(name) {
                Some(ComponentId::ForceField(i)) => (Some(self.force_fields[i].node), element),
                _ => return error,
            },
            _ => return error,
        };
        if let Some(share) = node.and_then(|node| self.element_share(node.0)) {
            *element += share.first;
        }
        error
    }
}
