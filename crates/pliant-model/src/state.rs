//! The values that change: positions and velocities of all nodes, and what force fields remember.

/// Positions and velocities of every node, independent and mapped, in the order of the nodes, and
/// the internal variables of force fields with a past. A plain value: clone it to make a
/// checkpoint. Mapped parts follow from the independent ones by
/// [`Model::propagate`](crate::Model::propagate).
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Positions, [`Space::position_size`](crate::Space::position_size) per element.
    pub positions: Vec<f64>,
    /// Velocities, [`Space::velocity_size`](crate::Space::velocity_size) per element.
    pub velocities: Vec<f64>,
    /// Internal variables of all force fields that have a [`Memory`](crate::Memory), in the order
    /// of the force fields.
    pub internal: Vec<f64>,
}

// By hand, because the derived `clone_from` allocates anew instead of reusing the buffers.
impl Clone for State {
    fn clone(&self) -> Self {
        Self {
            positions: self.positions.clone(),
            velocities: self.velocities.clone(),
            internal: self.internal.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.positions.clone_from(&source.positions);
        self.velocities.clone_from(&source.velocities);
        self.internal.clone_from(&source.internal);
    }
}
