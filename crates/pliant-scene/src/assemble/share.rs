//! The elements of a scene that processes share out.

use super::BuiltScene;
use crate::event::Action;
use crate::observable::{DistanceEnd, Observable};
use pliant::contact::ContactFinder;
use pliant::model::{ComponentId, ElementIndex, Model, ModelError, NodeId, Processes};
use std::sync::Arc;

impl BuiltScene {
    /// Shares the elements of solids, sheets and springs out among processes
    /// ([`Model::share_out`]), but for those of nodes that are measured, drawn as points, held or
    /// touched one by one.
    ///
    /// # Errors
    /// [`ModelError::Removal`] if elements of the scene may break or be removed; then nothing
    /// changes.
    pub fn share_out(&mut self, processes: Arc<dyn Processes>) -> Result<(), ModelError> {
        if let Some(at) = self.first_that_may_go() {
            return Err(ModelError::Removal {
                name: self.model.nodes()[at.node].name.clone(),
                reason: "the elements of the scene are shared out among processes",
            });
        }
        let mut whole = self.world.as_ref().map_or_else(Vec::new, ContactFinder::nodes);
        whole.extend(&self.picture.nodes);
        whole.extend(self.picture.bodies.iter().map(|(node, ..)| *node));
        whole.extend(self.holds.iter().map(|hold| hold.node));
        for observable in &self.observables.list {
            add_nodes(&self.model, observable, &mut whole);
        }
        self.model = std::mem::take(&mut self.model).share_out(processes, &whole);
        Ok(())
    }

    /// An element that a rule or an event may take out of the model, if there is one.
    fn first_that_may_go(&self) -> Option<ElementIndex> {
        let parts = self.events.breaking.iter().flat_map(|rule| &rule.parts);
        let of_rules = parts.filter(|part| part.count() > 0);
        let of_rules = of_rules.filter_map(|part| part.indices(&[0]).first().copied());
        let actions = self.events.list.iter().flat_map(|event| &event.actions);
        let of_events = actions.filter_map(|action| match action {
            Action::Remove(elements) => elements.iter().flatten().next().copied(),
            _ => None,
        });
        of_rules.chain(of_events).next()
    }
}

/// Adds the nodes whose elements a quantity reads one by one.
fn add_nodes(model: &Model, observable: &Observable, out: &mut Vec<NodeId>) {
    match observable {
        Observable::Position { node, .. }
        | Observable::Velocity { node, .. }
        | Observable::Speed { node, .. }
        | Observable::AngularVelocity { node, .. } => out.push(*node),
        Observable::Force { component, .. } => out.push(match *component {
            ComponentId::Mass(i) => model.masses()[i].node,
            ComponentId::ForceField(i) => model.force_fields()[i].node,
            ComponentId::Constraint(i) => model.constraints()[i].node,
        }),
        Observable::Distance(ends) => out.extend(ends.iter().filter_map(|end| match end {
            DistanceEnd::Element(node, _) => Some(*node),
            DistanceEnd::Fixed(_) => None,
        })),
        // Sums over all elements, and fields, which are brought together.
        Observable::Wrench { .. }
        | Observable::Field { .. }
        | Observable::Potential(_)
        | Observable::Contact { .. }
        | Observable::Energy(_)
        | Observable::Variable { .. }
        | Observable::Expression(_) => {}
    }
}
