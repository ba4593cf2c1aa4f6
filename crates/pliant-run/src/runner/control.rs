//! Sensors, controllers and actuators at the starts of steps.

use super::actuators::Actuators;
use super::controllers::Controllers;
use super::sensors::Sensors;
use pliant_scene::BuiltScene;

/// All that measures and acts at the starts of steps.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) sensors: Sensors,
    pub(super) controllers: Controllers,
    pub(super) actuators: Actuators,
}

impl Control {
    /// That of a scene, which is left without.
    pub(super) fn new(scene: &mut BuiltScene) -> Self {
        Self {
            sensors: Sensors::new(std::mem::take(&mut scene.sensors)),
            controllers: Controllers::new(std::mem::take(&mut scene.controllers)),
            actuators: Actuators::new(std::mem::take(&mut scene.actuators)),
        }
    }

    /// Whether there is anything to do ahead of the next step, after so many.
    pub(super) fn is_due(&self, steps: usize) -> bool {
        let mut controllers = 0..self.controllers.count();
        !self.actuators.is_empty()
            || self.sensors.are_due(steps)
            || controllers.any(|index| self.controllers.is_due(index, steps))
    }
}
