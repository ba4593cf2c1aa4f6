//! The elements of a scene that processes share out.

use super::BuiltScene;
use crate::observable::{DistanceEnd, Observable};
use pliant::contact::ContactFinder;
use pliant::model::{ComponentId, Model, NodeId, Processes};
use std::sync::Arc;

impl BuiltScene {
    /// Shares the elements of solids, sheets and springs out among processes
    /// ([`Model::share_out`]), but for those of nodes that are measured, drawn as points, held or
    /// touched one by one.
    pub fn share_out(&mut self, processes: Arc<dyn Processes>) {
        let mut whole = self.world.as_ref().map_or_else(Vec::new, ContactFinder::nodes);
        whole.extend(&self.picture.nodes);
        whole.extend(self.picture.bodies.iter().map(|(node, ..)| *node));
        whole.extend(self.holds.iter().map(|hold| hold.node));
        for observable in &self.observables.list {
            add_nodes(&self.model, observable, &mut whole);
        }
        self.model = std::mem::take(&mut self.model).share_out(processes, &whole);
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
