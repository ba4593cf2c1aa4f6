//! Forces, Jacobian blocks, stiffness blocks, energies and momentum of a state.

mod buffers;
pub(crate) mod chord;
mod energy;
mod fields;
mod gather;
mod geometry;
mod jacobian;
mod lists;
mod transfer;

pub use chord::ChordWork;
pub use energy::{Energies, Momentum};

use buffers::{Buffers, Kept};
use fields::write_constant_stiffness;
use jacobian::{LocalJacobian, MadeOf};
use lists::Lists;

use crate::blocks::PIECE;
use crate::mass::group_shapes;
use crate::{
    At, Blocks, ComponentId, Dependency, ForceField, Groups, Level, MappingPieces, Model, ModelError,
    NodeKind, Problem, RowGroup, RowLaw, State,
};
use pliant_threads::Threads;
use std::ops::Range;
use std::sync::Arc;

/// Scratch for evaluating one model: buffers of fixed layout, refilled without allocation.
#[derive(Debug)]
pub struct Evaluation {
    jacobians: Vec<Option<LocalJacobian>>,
    /// Dependencies of all nodes, which all evaluations of a model have in common.
    lists: Arc<Vec<Lists>>,
    geometry: Vec<Option<Blocks>>,
    kept: Vec<Kept>,
    fields: Vec<FieldBlocks>,
    force: Vec<f64>,
    inertial: Vec<f64>,
    bias: Vec<f64>,
    /// Whether some of them may be other than zero.
    has_bias: bool,
    /// Nodes whose acceleration at constant velocity can be other than zero.
    biased: Vec<bool>,
    /// Nodes that have a mass, and what they hang on.
    carries_mass: Vec<bool>,
    buffers: Buffers,
    /// The time since the internal variables were those of the state, as last evaluated (s).
    elapsed: f64,
    threads: Threads,
}

/// Blocks of one force field, and the groups they couple.
#[derive(Debug)]
struct FieldBlocks {
    /// The elements of each group; empty if every element is alone.
    lists: Vec<Vec<usize>>,
    /// For each element, its group and the first coordinate of the group on the node; compliances
    /// with groups only.
    place: Vec<(usize, usize)>,
    stiffness: Blocks,
    damping: Blocks,
    compliance: Blocks,
    row_damping: Blocks,
    /// Deformation of each coordinate of the node, once the law was treated as a compliance.
    deformation: Vec<f64>,
    /// The compliance view has damping beside the relaxation time.
    damped: bool,
    /// All damping blocks are zero, and are going to be.
    undamped: bool,
    /// The stiffness blocks are those of a law that keeps them.
    kept: bool,
    /// How many times the stiffness of the law they are, where they are not stored: the law keeps
    /// them, and they are made where they are read.
    made: Option<f64>,
}

impl FieldBlocks {
    /// Has neither stiffness nor compliance nor damping.
    fn forget(&mut self) {
        for blocks in [
            &mut self.compliance,
            &mut self.stiffness,
            &mut self.damping,
            &mut self.row_damping,
        ] {
            blocks.clear();
        }
        self.deformation.fill(0.0);
        (self.damped, self.undamped, self.kept) = (false, true, false);
        self.made = None;
    }

    /// Damping blocks of the law alone; `rate` is the damping in proportion to the stiffness that
    /// is going to be added.
    fn refill_damping(&mut self, law: &dyn ForceField, at: At<'_>, rate: f64) {
        let damped = law.is_damped() || rate > 0.0;
        // What was zero is zero.
        if damped || !self.undamped {
            self.damping.clear();
        }
        self.undamped = !damped;
        if damped {
            law.damping(at, &mut self.damping);
        }
    }

    /// `force -= s K v` for blocks `K` of its groups, on a node of elements of `size` coordinates.
    fn subtract_product(&self, blocks: &Blocks, size: usize, s: f64, v: &[f64], force: &mut [f64]) {
        for g in 0..blocks.len() {
            let alone = [g];
            let list = self.lists.get(g).map_or(&alone[..], Vec::as_slice);
            let coordinate = |k: usize| list[k / size] * size + k % size;
            let width = blocks.width(g);
            for (r, row) in blocks.block(g).chunks_exact(width.max(1)).enumerate() {
                let sum: f64 = row.iter().enumerate().map(|(c, k)| k * v[coordinate(c)]).sum();
                force[coordinate(r)] -= s * sum;
            }
        }
    }
}

impl Evaluation {
    /// Numbers at most of a stiffness block that is made where it is read
    /// ([`stiffness_block`](Self::stiffness_block)).
    pub const MOST_MADE: usize = 1024;

    /// Lays out the buffers for a model.
    pub fn new(model: &Model) -> Self {
        let lists = model.nodes().iter().map(|node| match &node.kind {
            NodeKind::Mapped { mapping, .. } => Lists::of(mapping.as_ref(), node.count),
            NodeKind::Independent { .. } => Lists::default(),
        });
        Self::with_lists(model, Arc::new(lists.collect()))
    }

    /// Lays out another evaluation of the same model, on the same threads, which shares with this
    /// one what can never change.
    pub fn another(&self, model: &Model) -> Self {
        let mut out = Self::with_lists(model, Arc::clone(&self.lists));
        out.share(&self.threads);
        out
    }

    fn with_lists(model: &Model, lists: Arc<Vec<Lists>>) -> Self {
        let mut jacobians = Vec::new();
        let mut geometry = Vec::new();
        let mut kept = Vec::new();
        let mut biased: Vec<bool> = Vec::new();
        let mut largest_unit = 0;
        for (node, lists) in model.nodes().iter().zip(&*lists) {
            let NodeKind::Mapped { mapping, parents, .. } = &node.kind else {
                jacobians.push(None);
                geometry.push(None);
                kept.push(Kept::default());
                biased.push(false);
                continue;
            };
            biased.push(!mapping.is_linear() || parents.iter().any(|p| biased[p.index()]));
            let of_parent = |d: &Dependency| model.node(parents[d.parent]).space.velocity_size();
            let width = |list: &[Dependency]| -> usize { list.iter().map(of_parent).sum() };
            let shapes = lists.iter().map(|list| match mapping.repeated() {
                Some(m) => (m, list.len()),
                None => (node.space.velocity_size(), width(list)),
            });
            let only_parent = match parents[..] {
                [parent] => Some(model.node(parent).count),
                _ => None,
            };
            jacobians.push(Some(LocalJacobian::new(
                mapping.as_ref(),
                shapes,
                lists,
                only_parent,
            )));
            let kept_size = mapping.pieces().map_or(0, MappingPieces::kept_size);
            kept.push(Kept {
                values: vec![0.0; kept_size * node.count],
                current: false,
            });
            // Of those that come in pieces it is laid out when all are asked for.
            let all = mapping.pieces().is_none();
            if all && !mapping.is_linear() {
                largest_unit = largest_unit.max(node.velocity_range().len());
            }
            geometry.push((!mapping.is_linear()).then(|| match all {
                true => Blocks::new(lists.iter().map(|l| (width(l), width(l)))),
                false => Blocks::default(),
            }));
        }
        let fields = model.force_fields().iter().map(|a| {
            let node = model.node(a.node);
            let groups = a.component.law.groups();
            let blocks = group_shapes(&groups, node.space, node.count);
            let lists = match groups {
                Groups::Each => Vec::new(),
                Groups::Of(lists) => lists,
            };
            let mut place = Vec::new();
            for (g, list) in lists.iter().enumerate() {
                let first = list.first().map_or(0, |e| e * node.space.velocity_size());
                place.extend(list.iter().map(|_| (g, first)));
            }
            FieldBlocks {
                lists,
                place,
                stiffness: blocks.clone(),
                damping: blocks.clone(),
                compliance: blocks.clone(),
                row_damping: blocks,
                deformation: Vec::new(),
                damped: false,
                undamped: false,
                kept: false,
                made: None,
            }
        });
        let mut carries_mass = vec![false; model.nodes().len()];
        for attachment in model.masses() {
            carries_mass[attachment.node.index()] = true;
        }
        // Parents come first in the arena.
        for (index, node) in model.nodes().iter().enumerate().rev() {
            if let (NodeKind::Mapped { parents, .. }, true) = (&node.kind, carries_mass[index]) {
                parents.iter().for_each(|p| carries_mass[p.index()] = true);
            }
        }
        Self {
            jacobians,
            lists,
            geometry,
            kept,
            fields: fields.collect(),
            force: vec![0.0; model.velocity_count()],
            inertial: vec![0.0; model.velocity_count()],
            bias: vec![0.0; model.velocity_count()],
            has_bias: false,
            biased,
            carries_mass,
            buffers: Buffers {
                unit: vec![0.0; largest_unit],
                ..Buffers::default()
            },
            elapsed: 0.0,
            threads: Threads::one(),
        }
    }

    /// Lets these threads share mappings and force fields that come in pieces
    /// ([`Mapping::pieces`](crate::Mapping::pieces)), and what is carried along long mappings. No
    /// bit depends on their number.
    pub fn share(&mut self, threads: &Threads) {
        self.threads = threads.clone();
        if threads.count() > 1 {
            for (jacobian, lists) in self.jacobians.iter_mut().zip(&*self.lists) {
                jacobian.iter_mut().for_each(|j| j.sort_for_threads(lists));
            }
        }
    }

    /// Dependencies of one element of a mapped node.
    pub fn dependencies(&self, node: usize, element: usize) -> &[Dependency] {
        self.lists[node].on(element)
    }

    /// Jacobian blocks of a mapped node, as [`Mapping::jacobian`](crate::Mapping::jacobian) writes
    /// them; `None` of independent nodes, and where they are made only where they are read
    /// ([`write_jacobian`](Self::write_jacobian)).
    pub fn jacobian(&self, node: usize) -> Option<&Blocks> {
        self.jacobians[node].as_ref().and_then(LocalJacobian::blocks)
    }

    /// Writes the Jacobian blocks of consecutive elements of a mapped node, one after the other, as
    /// [`Mapping::jacobian`](crate::Mapping::jacobian) does; false, and nothing written, of an
    /// independent node. Allocates nothing.
    ///
    /// # Panics
    /// If there are no such elements, or `out` is not of the size of their blocks.
    pub fn write_jacobian(
        &self,
        model: &Model,
        node: usize,
        elements: Range<usize>,
        out: &mut [f64],
    ) -> bool {
        let (NodeKind::Mapped { mapping, .. }, Some(jacobian)) =
            (&model.nodes()[node].kind, &self.jacobians[node])
        else {
            return false;
        };
        match jacobian.blocks() {
            Some(blocks) => out.copy_from_slice(blocks.run(elements)),
            None => MadeOf {
                mapping: mapping.as_ref(),
                kept: &self.kept[node].values,
            }
            .write(elements, out),
        }
        true
    }

    /// The answer of [`Mapping::repeated`](crate::Mapping::repeated) for the mapping of a node.
    pub fn repeated(&self, node: usize) -> Option<usize> {
        self.jacobians[node].as_ref().and_then(|j| j.repeated)
    }

    /// Stiffness blocks `K` of force field `i` (treated as a stiffness), one per group; `None` where
    /// they are made only where they are read ([`stiffness_block`](Self::stiffness_block)).
    pub fn stiffness(&self, i: usize) -> Option<&Blocks> {
        let field = &self.fields[i];
        field.made.is_none().then_some(&field.stiffness)
    }

    /// The stiffness block of group `g` of force field `i` (treated as a stiffness), row-major: one
    /// that is stored, or made in `room`. Allocates nothing.
    ///
    /// # Panics
    /// If there is no such group, or its block has no room: [`MOST_MADE`](Self::MOST_MADE) is enough.
    #[inline]
    pub fn stiffness_block<'a>(
        &'a self,
        model: &Problem,
        i: usize,
        g: usize,
        room: &'a mut [f64],
    ) -> &'a [f64] {
        let field = &self.fields[i];
        let Some(factor) = field.made else {
            return field.stiffness.block(g);
        };
        let width = field.stiffness.width(g);
        let block = &mut room[..width * width];
        block.fill(0.0);
        // Whether it fails does not depend on the state, and was found out.
        let _ = write_constant_stiffness(model, i, g..g + 1, block);
        if factor != 1.0 {
            block.iter_mut().for_each(|k| *k *= factor);
        }
        block
    }

    /// Damping blocks `B` of force field `i`, one per group, with the stiffness-proportional
    /// damping of the model.
    pub fn damping(&self, i: usize) -> &Blocks {
        &self.fields[i].damping
    }

    /// Whether the damping blocks of force field `i` can be other than zero.
    pub fn is_damped(&self, i: usize) -> bool {
        !self.fields[i].undamped
    }

    /// Compliance blocks `C` of force field `i` (treated as a compliance), one per group.
    pub fn compliance(&self, i: usize) -> &Blocks {
        &self.fields[i].compliance
    }

    /// Blocks `D` of force field `i` as a compliance, one per group, if it has damping beside the
    /// relaxation time.
    pub fn row_damping(&self, i: usize) -> Option<&Blocks> {
        self.fields[i].damped.then_some(&self.fields[i].row_damping)
    }

    /// The elements of each group of force field `i`; empty if every element is alone.
    pub fn groups(&self, i: usize) -> &[Vec<usize>] {
        &self.fields[i].lists
    }

    /// Deformations of force field `i` (treated as a compliance), one for each coordinate of its
    /// node.
    pub fn deformation(&self, i: usize) -> &[f64] {
        &self.fields[i].deformation
    }

    /// The group that coordinate `k` of the node of compliance `i` belongs to, and the first
    /// coordinate of that group.
    pub fn group_of(&self, i: usize, size: usize, k: usize) -> (usize, usize) {
        let e = k / size;
        self.fields[i].place.get(e).copied().unwrap_or((e, e * size))
    }

    /// Whether coordinate `k` of a row group has compliance zero: a hard row.
    pub fn is_hard(&self, group: &RowGroup, k: usize) -> bool {
        match group.component {
            ComponentId::ForceField(i) => {
                let (g, first) = self.group_of(i, group.size, k);
                let blocks = &self.fields[i].compliance;
                let width = blocks.width(g);
                blocks.block(g)[(k - first) * width..][..width]
                    .iter()
                    .all(|c| *c == 0.0)
            }
            _ => true,
        }
    }

    /// Whether coordinate `k` of a row group is held by its position: a hard row, but for dashpots
    /// and impacts, which hold velocities only, rows that relax in their own time, and rows of
    /// bounded force.
    pub fn holds_position(&self, problem: &Problem, group: &RowGroup, k: usize) -> bool {
        match group.component {
            ComponentId::ForceField(i) => {
                problem.row_law(group) != RowLaw::Viscous
                    && problem.bounds(group).is_none()
                    && self.is_hard(group, k)
                    && problem.relaxation_time(i, k) == 0.0
            }
            ComponentId::Constraint(i) => {
                let entry = &problem.constraints()[i].component;
                // A row of bounded force may slip, a driven velocity leads away from zero.
                let free = match entry.level {
                    Level::Restitution { .. } => true,
                    Level::Velocity { .. } => problem.motion(group).is_some(),
                    _ => false,
                };
                !free && problem.bounds(group).is_none()
            }
            ComponentId::Mass(_) => false,
        }
    }

    /// Forces on all nodes, each where it acts: all that is not a row, with damping and gravity.
    pub fn force(&self) -> &[f64] {
        &self.force
    }

    /// Forces on all nodes as [`force`](Self::force) has them, to be replaced for as long as a
    /// system is filled with geometric stiffness of other forces.
    pub fn force_mut(&mut self) -> &mut [f64] {
        &mut self.force
    }

    /// Adds forces from outside the model to [`force`](Self::force), on all nodes.
    pub fn add_force(&mut self, force: &[f64]) {
        for (f, g) in self.force.iter_mut().zip(force) {
            *f += g;
        }
    }

    /// Inertial forces `-M (dJ/dt) v` of mapped masses, each where it acts. (The gyroscopic torque
    /// of bodies is the stepper's.)
    pub fn inertial_force(&self) -> &[f64] {
        &self.inertial
    }

    /// `(dJ/dt) v` of all nodes: their acceleration when the independent ones have none.
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// Pushes positions and velocities down the graph and refills the Jacobians. Allocates nothing.
    ///
    /// # Errors
    /// [`ModelError::Degenerate`] where a mapping is not defined, [`ModelError::State`] for a state
    /// of another model.
    pub fn propagate(&mut self, model: &Model, state: &mut State) -> Result<(), ModelError> {
        self.propagate_among(model, state, |_| true)
    }

    /// Pushes positions and velocities down to the nodes of which `asked` is true, by their
    /// numbers, and refills the Jacobians of these. Allocates nothing. Their parents must be
    /// placed: asked for as well, or by an earlier call for this state. Positions, velocities and
    /// Jacobians of the others stay as they are.
    ///
    /// # Errors
    /// [`ModelError::Degenerate`] where one of their mappings is not defined,
    /// [`ModelError::State`] for a state of another model.
    pub fn propagate_among(
        &mut self,
        model: &Model,
        state: &mut State,
        asked: impl Fn(usize) -> bool,
    ) -> Result<(), ModelError> {
        let own = self.propagate_own(model, state, asked);
        model.agree(own)
    }

    /// Pushes positions and velocities down as [`propagate_among`](Self::propagate_among) does, and
    /// returns the errors of this process alone.
    fn propagate_own(
        &mut self,
        model: &Model,
        state: &mut State,
        asked: impl Fn(usize) -> bool,
    ) -> Result<(), ModelError> {
        let sizes = model
            .nodes()
            .last()
            .map_or((0, 0), |n| (n.position_range().end, n.velocity_range().end));
        for (what, expected, found) in [
            ("positions", sizes.0, state.positions.len()),
            ("velocities", sizes.1, state.velocities.len()),
            ("internal variables", model.internal_count(), state.internal.len()),
        ] {
            if expected != found {
                return Err(ModelError::State {
                    what,
                    expected,
                    found,
                });
            }
        }
        let independent = model.nodes().iter().filter(|n| n.first_dof().is_some());
        let is_still = independent
            .flat_map(|n| &state.velocities[n.velocity_range()])
            .all(|v| *v == 0.0);
        for (index, node) in model.nodes().iter().enumerate() {
            let NodeKind::Mapped { mapping, ranges, .. } = &node.kind else {
                continue;
            };
            let (Some(jacobian), true) = (&mut self.jacobians[index], asked(index)) else {
                continue;
            };
            // Parents come first in the arena, so their numbers lie before the child's.
            let (before, child) = state.positions.split_at_mut(node.first_position);
            let child = &mut child[..node.count * node.space.position_size()];
            let (v_before, v_child) = state.velocities.split_at_mut(node.first_velocity);
            let parents = model.parents(ranges, before, v_before);
            let lost = |cause| ModelError::Degenerate {
                name: node.name.clone(),
                cause,
                detail: mapping.explain(parents, cause),
            };
            let (threads, kept) = (&self.threads, &mut self.kept[index]);
            match mapping.pieces() {
                Some(pieces) => kept.refill(pieces, parents, node.count, threads).and_then(|()| {
                    let (elements, size) = ((0..node.count, PIECE), node.space.position_size());
                    let parents = parents.with_kept(kept.known());
                    let apply = |elements, child: &mut [f64]| pieces.apply(parents, elements, child);
                    threads.for_each_piece(elements, |e| e * size, &mut *child, apply)
                }),
                None => mapping.apply(parents, child),
            }
            .map_err(lost)?;
            let own = parents.with_child(child).with_kept(kept.known());
            jacobian.refill(mapping.as_ref(), own, threads).map_err(lost)?;
            let size = node.space.velocity_size();
            let v_child = &mut v_child[..node.count * size];
            let made_of = MadeOf {
                mapping: mapping.as_ref(),
                kept: &kept.values,
            };
            // At rest nothing is written, so that velocities which never were take no memory.
            if is_still && v_child.iter().all(|v| *v == 0.0) {
                continue;
            }
            jacobian.push(
                threads,
                &self.lists[index],
                made_of,
                |at| parents.velocity(at),
                size,
                v_child,
            );
        }
        Ok(())
    }

    /// Refills forces, bias and the stiffness, damping and compliance blocks. Call
    /// [`propagate`](Self::propagate) first. Force fields with a memory are where the state came to
    /// at once: see [`evaluate_after`](Self::evaluate_after). Allocates nothing.
    ///
    /// # Errors
    /// [`ModelError::NotInvertible`] if a stiffness became infinite.
    pub fn evaluate(&mut self, problem: &Problem, state: &State) -> Result<(), ModelError> {
        self.evaluate_after(problem, state, 0.0)
    }

    /// Evaluates where the internal variables of force fields with a memory are those of `elapsed`
    /// seconds ago. Others do not see the difference. Allocates nothing.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_after(
        &mut self,
        problem: &Problem,
        state: &State,
        elapsed: f64,
    ) -> Result<(), ModelError> {
        self.push_bias(problem, state, |_| true);
        self.evaluate_with_bias(problem, state, elapsed)
    }

    /// As [`evaluate_after`](Self::evaluate_after), but [`bias`](Self::bias) is that of nodes which
    /// inertial forces depend on alone, and zero elsewhere, until
    /// [`find_bias`](Self::find_bias): forces need no more. Allocates nothing.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_forces_after(
        &mut self,
        problem: &Problem,
        state: &State,
        elapsed: f64,
    ) -> Result<(), ModelError> {
        let needed = std::mem::take(&mut self.carries_mass);
        self.push_bias(problem, state, |node| needed[node]);
        self.carries_mass = needed;
        self.evaluate_with_bias(problem, state, elapsed)
    }

    /// Finds [`bias`](Self::bias) of all nodes, at a state that was propagated. Allocates nothing.
    pub fn find_bias(&mut self, model: &Model, state: &State) {
        self.push_bias(model, state, |_| true);
    }

    fn evaluate_with_bias(
        &mut self,
        problem: &Problem,
        state: &State,
        elapsed: f64,
    ) -> Result<(), ModelError> {
        self.elapsed = elapsed;
        self.force.fill(0.0);
        // Where no mass is mapped there never is any.
        for attachment in problem.masses() {
            let range = problem.node(attachment.node).velocity_range();
            self.inertial[range].fill(0.0);
        }
        let gravity = problem.gravity();
        for attachment in problem.masses() {
            let node = problem.node(attachment.node);
            let range = node.velocity_range();
            let (mass, size) = (&attachment.component, node.space.velocity_size());
            let force = &mut self.force[range.clone()];
            if node.space.is_spatial() && gravity != [0.0; 3] {
                mass.pairs(node.count, |m, i, _| {
                    for (f, g) in force[i * size..][..size].iter_mut().zip(gravity) {
                        *f += m * g;
                    }
                });
            }
            let v = &state.velocities[range.clone()];
            if problem.rayleigh().mass > 0.0 {
                mass.add_product(node.space, -problem.rayleigh().mass, v, force);
            }
            if node.first_dof().is_none() {
                mass.add_product(
                    node.space,
                    -1.0,
                    &self.bias[range.clone()],
                    &mut self.inertial[range.clone()],
                );
                // The spin of independent bodies is the stepper's.
                mass.add_gyroscopic(v, &mut self.inertial[range]);
            }
        }
        let mut fields = 0..problem.force_fields().len();
        problem.agree(fields.try_for_each(|i| self.evaluate_field(problem, state, i)))
    }
}
