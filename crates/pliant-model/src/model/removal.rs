//! Elements that are taken out of a model while it moves.

use super::{ComponentId, ElementIndex, Model, NodeKind};
use crate::{At, ModelError, Parameters, Problem, RowLaw, State, Treatment};
use std::sync::Arc;

/// Says of each element of a node whether it is gone; none is where the list is empty.
type Gone = Vec<bool>;

fn refused(name: &str, reason: &'static str) -> ModelError {
    ModelError::Removal {
        name: name.to_owned(),
        reason,
    }
}

/// The model without some elements of its mapped nodes, which are taken out as
/// [`Problem::remove_elements`] says; and which elements of each node are gone then, those that
/// hang on others that are gone included.
fn without(model: &Model, list: &[ElementIndex]) -> Result<(Model, Vec<Gone>), ModelError> {
    if model.shared.is_some() {
        return Err(refused(
            "the model",
            "its elements are shared out among processes",
        ));
    }
    let mut gone = vec![Gone::new(); model.nodes.len()];
    for at in list {
        let Some(node) = model.nodes.get(at.node) else {
            return Err(ModelError::UnknownNode {
                name: "the list of elements to remove".into(),
                node: at.node,
            });
        };
        if at.element >= node.count {
            return Err(ModelError::Element {
                name: node.name.clone(),
                element: at.element,
                count: node.count,
            });
        }
        let of_node = &mut gone[at.node];
        of_node.resize(node.count, false);
        of_node[at.element] = true;
    }
    let mut nodes = model.nodes.clone();
    for (index, node) in nodes.iter_mut().enumerate() {
        if gone[index].is_empty() {
            continue;
        }
        let name = &node.name;
        let NodeKind::Mapped { mapping, .. } = &mut node.kind else {
            return Err(refused(name, "its elements are degrees of freedom"));
        };
        let without = mapping.without(&gone[index]);
        *mapping = without
            .ok_or_else(|| refused(name, "its mapping has no value at rest"))?
            .into();
    }
    spread(model, &mut gone)?;
    Ok((with_nodes(model, nodes), gone))
}

/// Asks whether elements may be taken out of a problem of this model, with the values that its
/// parameters begin with ([`Problem::remove_elements`]).
///
/// # Errors
/// The errors of [`Problem::remove_elements`].
pub fn check_removal(model: &Model, list: &[ElementIndex]) -> Result<(), ModelError> {
    let (_, gone) = without(model, list)?;
    check_components(model, model.initial_parameters(), &gone)
}

/// Marks elements that hang on elements that are gone.
fn spread(model: &Model, gone: &mut [Gone]) -> Result<(), ModelError> {
    let acts = |index: usize| {
        let fields = model.force_fields.iter().map(|f| f.node);
        let mut nodes = fields.chain(model.constraints.iter().map(|c| c.node));
        nodes.any(|node| node.0 == index)
    };
    let mut list = Vec::new();
    for (index, node) in model.nodes.iter().enumerate() {
        let NodeKind::Mapped { mapping, parents, .. } = &node.kind else {
            continue;
        };
        if parents.iter().all(|p| gone[p.0].is_empty()) {
            continue;
        }
        for element in 0..node.count {
            list.clear();
            mapping.dependencies(element, &mut list);
            let is_gone = |at: &crate::Dependency| {
                let of_parent = &gone[parents[at.parent].0];
                of_parent.get(at.element).copied().unwrap_or(false)
            };
            let count = list.iter().filter(|at| is_gone(at)).count();
            if count > 0 && count < list.len() && acts(index) {
                return Err(refused(
                    &node.name,
                    "it hangs on elements that go and on others that stay",
                ));
            }
            if count > 0 && count == list.len() {
                gone[index].resize(node.count, false);
                gone[index][element] = true;
            }
        }
    }
    Ok(())
}

/// A copy with these nodes.
fn with_nodes(model: &Model, nodes: Vec<super::Node>) -> Model {
    Model {
        nodes,
        node_names: model.node_names.clone(),
        component_names: model.component_names.clone(),
        masses: model.masses.clone(),
        force_fields: model.force_fields.clone(),
        constraints: model.constraints.clone(),
        row_order: model.row_order.clone(),
        joined: model.joined.clone(),
        initial: model.initial.clone(),
        rayleigh: model.rayleigh,
        fixed: model.fixed.clone(),
        positions: model.positions,
        velocities: model.velocities,
        internal: model.internal,
        shared: None,
    }
}

impl Problem {
    /// The elements that are out of the model, in order.
    pub fn removed_elements(&self) -> &[ElementIndex] {
        &self.removed
    }

    /// Whether an element of a node is out of the model, by
    /// [`remove_elements`](Self::remove_elements) or with what it hangs on.
    pub fn is_gone(&self, at: ElementIndex) -> bool {
        let of_node = self.gone.get(at.node).map_or(&[][..], Vec::as_slice);
        of_node.get(at.element).copied().unwrap_or(false)
    }

    /// Takes exactly the elements of a list out of the model, until they are left out of another
    /// list: strains, lengths, angles and gradients of deformation, as
    /// [`Mapping::without`](crate::Mapping::without) can. They stay at rest from then on and depend
    /// on nothing, and so does what hangs on them alone: forces, stiffness and energy of laws on
    /// them are gone, and patterns of matrices are those of a model that never had them. Nodes,
    /// masses, rows and all numbers of elements stay. Says whether that changed anything; the state
    /// is to be brought along by [`bring_to_rest`](Self::bring_to_rest) then. Cost: a copy of the
    /// mappings that lose elements, and a pass over what hangs on them.
    ///
    /// # Errors
    /// [`ModelError::Removal`] where elements cannot be taken out: degrees of freedom, mappings
    /// without a value at rest, hard rows on them (released ones apart), driven rows, laws with
    /// inputs, elements that hang on others that stay; [`ModelError::Element`] and
    /// [`ModelError::UnknownNode`] for what the model does not have. Then nothing changes.
    pub fn remove_elements(&mut self, list: &[ElementIndex]) -> Result<bool, ModelError> {
        let mut list = list.to_vec();
        list.sort_unstable();
        list.dedup();
        if list == self.removed {
            return Ok(false);
        }
        if list.is_empty() {
            self.model = Arc::clone(&self.whole);
            self.gone.clear();
        } else {
            let (model, gone) = without(&self.whole, &list)?;
            check_components(&self.whole, self.parameters(), &gone)?;
            self.model = Arc::new(model);
            self.gone = gone;
        }
        self.removed = list;
        Ok(true)
    }

    /// Brings a state to where elements that are gone stay at rest: their coordinates, and the
    /// internal variables of laws with a memory on them, as of a law that begins there. Call it
    /// after [`remove_elements`](Self::remove_elements).
    ///
    /// # Errors
    /// [`ModelError::State`] if the state belongs to another model, and
    /// [`ModelError::Degenerate`] where a mapping is not defined.
    pub fn bring_to_rest(&self, state: &mut State) -> Result<(), ModelError> {
        for (index, node) in self.nodes().iter().enumerate() {
            let size = node.space.position_size();
            for element in 0..node.count {
                if self.is_gone(ElementIndex { node: index, element }) {
                    // Mappings of several branches begin at the one nearest to rest.
                    state.positions[node.first_position + element * size..][..size].fill(0.0);
                }
            }
        }
        crate::Evaluation::new(self).propagate(self, state)?;
        for field in self.force_fields() {
            let entry = &field.component;
            let (Some(memory), node) = (entry.law.memory(), self.node(field.node)) else {
                continue;
            };
            let of_node = self.gone.get(field.node.0).map_or(&[][..], Vec::as_slice);
            if !of_node.contains(&true) {
                continue;
            }
            let mut fresh = vec![0.0; entry.internal.len()];
            memory.begin(node.space, &state.positions[node.position_range()], &mut fresh);
            // Variables of an element follow each other, as many for each.
            let size = fresh.len() / node.count;
            let own = &mut state.internal[entry.internal.clone()];
            for element in (0..node.count).filter(|e| of_node[*e]) {
                let place = element * size..(element + 1) * size;
                own[place.clone()].copy_from_slice(&fresh[place]);
            }
        }
        Ok(())
    }
}

/// Refuses components that would not be at rest on elements that are gone.
fn check_components(model: &Model, parameters: &Parameters, gone: &[Gone]) -> Result<(), ModelError> {
    for (i, constraint) in model.constraints().iter().enumerate() {
        let id = ComponentId::Constraint(i);
        if gone[constraint.node.0].contains(&true) && !parameters.is_released(id) {
            return Err(refused(&constraint.name, "it is a hard constraint on them"));
        }
    }
    for (i, field) in model.force_fields().iter().enumerate() {
        let id = ComponentId::ForceField(i);
        let of_node = &gone[field.node.0];
        if !of_node.contains(&true) || parameters.is_released(id) {
            continue;
        }
        let law = &field.component.law;
        if !law.inputs().is_empty() {
            return Err(refused(&field.name, "its law has inputs"));
        }
        let is_open = field.component.automatic;
        if parameters.treatment(i) != Treatment::Compliance && !is_open || law.row_law() == RowLaw::None {
            continue;
        }
        if parameters.is_driven(id) {
            return Err(refused(&field.name, "its rows are driven"));
        }
        let space = model.node(field.node).space;
        let x = vec![0.0; of_node.len() * space.position_size()];
        let groups = law.groups();
        let mut blocks = crate::mass::group_shapes(&groups, space, of_node.len());
        law.compliance(At::new(space, &x), &mut blocks);
        let size = space.velocity_size();
        for (g, elements) in groups.lists(of_node.len()).iter().enumerate() {
            let (block, width) = (blocks.block(g), blocks.width(g));
            let hard = |(k, e): (usize, &usize)| {
                of_node[*e] && (k * size..(k + 1) * size).any(|c| block[c * width + c] == 0.0)
            };
            if elements.iter().enumerate().any(hard) {
                return Err(refused(
                    &field.name,
                    "its rows are hard: give them a compliance, or release it as a whole",
                ));
            }
        }
    }
    Ok(())
}
