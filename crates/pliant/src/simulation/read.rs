//! Forces in the user's terms.

use super::Simulation;
use pliant_model::{ComponentId, Treatment};

impl Simulation {
    /// The force of a component on the coordinates of its node: the multipliers of the last step for constraints and compliances,
    /// the law at the present state for stiffnesses (N, N m; on bodies, force in world axes and torque in body axes). Empty for
    /// masses.
    pub fn force(&self, component: ComponentId) -> Vec<f64> {
        if let ComponentId::ForceField(i) = component
            && self.model.force_fields()[i].component.treatment != Treatment::Compliance
        {
            let field = &self.model.force_fields()[i];
            let node = self.model.node(field.node);
            let mut force = vec![0.0; node.velocity_range().len()];
            let x = self.model.positions(&self.state, field.node);
            let v = self.model.velocities(&self.state, field.node);
            field.component.law.add_force(node.space, x, v, &mut force);
            return force;
        }
        self.reaction(component).to_vec()
    }
}
